/* simple_denoiser.h - the model simple_denoiser as a library
 *
 * Made by unetc from simple_denoiser.unet (00438fdc504441cc) with: --target=cuda --precision=bf16 --size=64x64
 * Do not edit: change the .unet file and compile again.
 *
 * unet/embed.h tells of the functions below, unet/model.h of simple_denoiser_model, and unet/device.h of its device,
 * which takes the arena on the GPU. */
#ifndef UNETC_SIMPLE_DENOISER_H
#define UNETC_SIMPLE_DENOISER_H

#include <unet/embed.h>

#define SIMPLE_DENOISER_ARENA_BYTES 48917760LL     /* all the memory its steps use; the device provides it */
#define SIMPLE_DENOISER_ARENA_ALIGN 256
#define SIMPLE_DENOISER_PERSISTENT_BYTES 929280LL /* at the front: what lives from step to step */
#define SIMPLE_DENOISER_TRAIN_BYTES 48917760LL
#define SIMPLE_DENOISER_EVAL_BYTES 35672064LL
#define SIMPLE_DENOISER_PREDICT_BYTES 35699456LL
#define SIMPLE_DENOISER_BUDGET_BYTES 48917760LL   /* what the plan was allowed */

UNET_ASSERT(SIMPLE_DENOISER_ARENA_BYTES <= SIMPLE_DENOISER_BUDGET_BYTES, "the arena is within its budget");

UNET_EXTERN const UnetModel simple_denoiser_model;

/* Inside a program of yours:
 * forward takes input_noisy[3][64][64] and makes output_denoised[3][64][64]
 * train_step takes n of each of input_noisy[3][64][64], target_clean[3][64][64] */
#define SIMPLE_DENOISER_BUFFER_BYTES 49707072LL /* aligned to UNET_BUFFER_ALIGN */
#define SIMPLE_DENOISER_HEIGHT 64
#define SIMPLE_DENOISER_WIDTH 64
#define SIMPLE_DENOISER_BATCH 6
#define SIMPLE_DENOISER_LEARNING_RATE 0.0005

static inline UnetStatus simple_denoiser_init(void *buffer, size_t bytes, int threads, uint64_t seed, UnetError *error) {
    const UnetModel *const models[] = {&simple_denoiser_model};
    return unet_embed_init(models, (int32_t)(sizeof models / sizeof *models), buffer, bytes, threads, seed, error);
}

static inline UnetStatus simple_denoiser_forward(void *buffer, const float *input_noisy, float *output_denoised, UnetError *error) {
    const void *const inputs[] = {input_noisy, NULL};
    void *const outputs[] = {output_denoised};
    return unet_embed_forward(buffer, inputs, outputs, error);
}

static inline UnetStatus simple_denoiser_train_step(void *buffer, int n, const float *input_noisy, const float *target_clean, double learning_rate, double *loss, UnetError *error) {
    const void *const inputs[] = {input_noisy, target_clean};
    return unet_embed_train_step(buffer, n, inputs, learning_rate, loss, error);
}

#endif
