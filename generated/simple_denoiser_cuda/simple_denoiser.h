/* simple_denoiser.h - the model simple_denoiser as a library
 *
 * Made by unetc from simple_denoiser.unet (00438fdc504441cc) with: --target=cuda --precision=bf16 --size=64x64
 * Do not edit: change the .unet file and compile again.
 *
 * Draw initial weights with unet_parameters_init (unet/parameters.h), or load them; then open
 * simple_denoiser_model.device, which takes the arena on the GPU, push the weights to it, and begin
 * and end steps of simple_denoiser_model.train, ...eval or ...predict, as unet/device.h says.
 * One arena serves one caller at a time; nothing else is shared, so several models, or several arenas, work
 * side by side in one process. */
#ifndef SIMPLE_DENOISER_H
#define SIMPLE_DENOISER_H

#include <unet/model.h>

#define SIMPLE_DENOISER_ARENA_BYTES 49107456LL     /* all the memory its steps use; the device provides it */
#define SIMPLE_DENOISER_ARENA_ALIGN 256
#define SIMPLE_DENOISER_PERSISTENT_BYTES 929280LL /* at the front: what lives from step to step */
#define SIMPLE_DENOISER_TRAIN_BYTES 49107456LL
#define SIMPLE_DENOISER_PREDICT_BYTES 35699456LL
#define SIMPLE_DENOISER_BUDGET_BYTES 49107456LL   /* what the plan was allowed */

_Static_assert(SIMPLE_DENOISER_ARENA_BYTES <= SIMPLE_DENOISER_BUDGET_BYTES, "the arena is within its budget");

extern const UnetModel simple_denoiser_model;

#endif
