/* embed.h - a model inside a program of one's own, on one buffer that the caller owns.
 *
 * NAME.h, which unetc writes beside the model, has three of these functions with the inputs and outputs of
 * the model by their names; call those, and the others as they are:
 *
 *     tiny_unet_init(buffer, sizeof buffer, threads, seed, &error)         initial weights
 *     unet_embed_load(buffer, "tiny_unet.best.safetensors", &error)        trained ones
 *     tiny_unet_forward(buffer, noisy, denoised, &error)
 *     tiny_unet_train_step(buffer, n, noisy, clean, rate, &loss, &error)
 *     unet_embed_save(buffer, "tiny_unet.safetensors", &error)
 *     unet_embed_checkpoint(buffer, "tiny_unet.checkpoint.safetensors", &error)
 *
 * The buffer holds all that lasts, so a program may have several of them, of one model or of several, and
 * use them at the same time; one buffer serves one caller at a time.  It stays where it is.  Forward and
 * train steps allocate nothing; nothing is ever printed.
 *
 * Tensors are dense: float [channels][height][width] of an image, [channels][depth][height][width] of a
 * volume, one sample behind the other, as PyTorch has them.  Pictures have numbers from 0 to 1; the
 * functions do the `normalize` of the model's file.  Labels have a byte for each point: its class, or
 * UNET_IGNORED.  The model was compiled for certain sizes, and tensors have these.
 *
 * A library of `unetc --shared --target=cuda` also takes inputs and outputs in the memory of its GPU: the
 * host copies none of these.  A call waits for all that was begun on the GPU before.  The host reads labels
 * that a loss counts.
 */
#ifndef UNET_EMBED_H
#define UNET_EMBED_H

#include <stddef.h>
#include <stdint.h>

#include "unet/model.h"
#include "unet/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Words of NAME.h in C and in C++. */
#ifdef __cplusplus
#define UNET_EXTERN extern "C"
#define UNET_ASSERT static_assert
#else
#define UNET_EXTERN extern
#define UNET_ASSERT _Static_assert
#endif

enum { UNET_BUFFER_HEAD = 2048, UNET_BUFFER_ALIGN = 64 };

/* Bytes of a buffer for the model: NAME_BUFFER_BYTES. */
int64_t unet_embed_bytes(const UnetModel *model);

/* Makes BUFFER, of so many BYTES and aligned to UNET_BUFFER_ALIGN, ready, with the weights that `train`
 * starts with for this SEED.  MODELS: one model compiled for several sets of instructions, best first; the
 * first that this processor runs is taken.  THREADS: 0 for as many as there are processors; results do not
 * depend on it.
 * UNET_USAGE: the buffer is too small or not aligned; UNET_TOO_SMALL: this processor, or device, will not
 * do.
 */
UNET_MUST_USE UnetStatus unet_embed_init(const UnetModel *const *models, int32_t nmodels, void *buffer,
                                         size_t bytes, int32_t threads, uint64_t seed, UnetError *error);

/* Gives a device back, if there is one; the buffer is the caller's. */
void unet_embed_close(void *buffer);

/* Weights of a safetensors file that has every tensor of the model, all values finite; and such a file.
 * If loading fails, some of the weights may come from the file: load others before you go on. */
UNET_MUST_USE UnetStatus unet_embed_load(void *buffer, const char *path, UnetError *error);
UNET_MUST_USE UnetStatus unet_embed_save(void *buffer, const char *path, UnetError *error);

/* The same with the optimiser's state, its steps and its seed: from such a file training goes on, bit for
 * bit.  `train --resume=FILE` of the model's program goes on from it, too, and `resume` from a checkpoint
 * of that program.  UNET_DIVERGED: a weight is not finite, and nothing is written. */
UNET_MUST_USE UnetStatus unet_embed_checkpoint(void *buffer, const char *path, UnetError *error);
UNET_MUST_USE UnetStatus unet_embed_resume(void *buffer, const char *path, UnetError *error);

/* The steps that the optimiser has taken; -1: the buffer is not ready. */
int64_t unet_embed_steps(const void *buffer);

/* Copies of the weights, one for each of UnetModel.parameter: dense, of the type UnetModel.real.  NULL:
 * this one is not wanted, or stays as it is.  `get` gives the weights that evaluation and prediction use.
 * `set` gives both training and these their values; UNET_USAGE: one is not finite, and nothing was changed.
 */
UNET_MUST_USE UnetStatus unet_embed_get(void *buffer, void *const *values, UnetError *error);
UNET_MUST_USE UnetStatus unet_embed_set(void *buffer, const void *const *values, UnetError *error);

/* One sample.  INPUTS: one per UnetModel.inputs, NULL for inputs that prediction does not read; OUTPUTS:
 * one per UnetModel.outputs, NULL for outputs that are not wanted. */
UNET_MUST_USE UnetStatus unet_embed_forward(void *buffer, const void *const *inputs, void *const *outputs,
                                            UnetError *error);

/* N samples, 1 to the batch; *LOSS, if LOSS is not NULL: the loss before the step, as a mean over the
 * samples.  A loss that is not finite is no error here. */
UNET_MUST_USE UnetStatus unet_embed_train_step(void *buffer, int32_t n, const void *const *inputs,
                                               double learning_rate, double *loss, UnetError *error);

/* N samples, 1 to the batch of evaluation.  Adds what was measured to SUMS, unet_embed_sums() numbers:
 * the numbers of each of UnetModel.results behind each other, NaN where evaluation does not measure it.
 * BEFORE: how many samples were measured before, by which the evaluation of a diffusion draws its noise. */
UNET_MUST_USE UnetStatus unet_embed_evaluate(void *buffer, int32_t n, const void *const *inputs,
                                             int64_t before, double *sums, UnetError *error);
int64_t unet_embed_sums(const UnetModel *model);

/* The value of UnetModel.results[I] from the SUMS over so many SAMPLES; NaN: it was not measured, or no
 * point of its classes was there. */
double unet_embed_value(const UnetModel *model, int32_t i, const double *sums, int64_t samples);

#ifdef __cplusplus
}
#endif

#endif
