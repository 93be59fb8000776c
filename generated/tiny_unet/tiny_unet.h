/* tiny_unet.h - the model tiny_unet as a library
 *
 * Made by unetc from tiny_unet.unet (16d462818c889222) with: --size=64x64 --kernels=reference
 * Do not edit: change the .unet file and compile again.
 *
 * unet/embed.h tells of the functions below, unet/model.h of tiny_unet_model, on which programs run that
 * bring an arena of their own. */
#ifndef UNETC_TINY_UNET_H
#define UNETC_TINY_UNET_H

#include <unet/embed.h>

#define TINY_UNET_ARENA_BYTES 21563840LL     /* all the memory its steps use; the caller provides it */
#define TINY_UNET_ARENA_ALIGN 64
#define TINY_UNET_PERSISTENT_BYTES 5784960LL /* at the front: what lives from step to step */
#define TINY_UNET_TRAIN_BYTES 21563840LL
#define TINY_UNET_EVAL_BYTES 6621312LL
#define TINY_UNET_PREDICT_BYTES 6621312LL
#define TINY_UNET_BUDGET_BYTES 21563840LL   /* what the plan was allowed */

UNET_ASSERT(TINY_UNET_ARENA_BYTES <= TINY_UNET_BUDGET_BYTES, "the arena is within its budget");

UNET_EXTERN const UnetModel tiny_unet_model;

/* Inside a program of yours:
 * forward takes input_noisy[3][64][64] and makes output_denoised[3][64][64]
 * train_step takes n of each of input_noisy[3][64][64], target_clean[3][64][64] */
#define TINY_UNET_BUFFER_BYTES 21861632LL /* aligned to UNET_BUFFER_ALIGN */
#define TINY_UNET_HEIGHT 64
#define TINY_UNET_WIDTH 64
#define TINY_UNET_BATCH 6
#define TINY_UNET_LEARNING_RATE 0.0005

static inline UnetStatus tiny_unet_init(void *buffer, size_t bytes, int threads, uint64_t seed, UnetError *error) {
    const UnetModel *const models[] = {&tiny_unet_model};
    return unet_embed_init(models, (int32_t)(sizeof models / sizeof *models), buffer, bytes, threads, seed, error);
}

static inline UnetStatus tiny_unet_forward(void *buffer, const float *input_noisy, float *output_denoised, UnetError *error) {
    const void *const inputs[] = {input_noisy, NULL};
    void *const outputs[] = {output_denoised};
    return unet_embed_forward(buffer, inputs, outputs, error);
}

static inline UnetStatus tiny_unet_train_step(void *buffer, int n, const float *input_noisy, const float *target_clean, double learning_rate, double *loss, UnetError *error) {
    const void *const inputs[] = {input_noisy, target_clean};
    return unet_embed_train_step(buffer, n, inputs, learning_rate, loss, error);
}

#endif
