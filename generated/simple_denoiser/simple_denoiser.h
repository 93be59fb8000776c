/* simple_denoiser.h - the model simple_denoiser as a library
 *
 * Made by unetc from simple_denoiser.unet (00438fdc504441cc) with: --size=64x64
 * Do not edit: change the .unet file and compile again.
 *
 * Draw initial weights with unet_parameters_init (unet/parameters.h), or load them; then run
 * simple_denoiser_model.train->run, ...eval->run or ...predict->run on an arena of yours, as unet/model.h says.
 * A program with `prepare` needs that called before, on the same arena, and again where unet/model.h says so.
 * One arena serves one caller at a time; nothing else is shared, so several models, or several arenas, work
 * side by side in one process. */
#ifndef SIMPLE_DENOISER_H
#define SIMPLE_DENOISER_H

#include <unet/model.h>

#define SIMPLE_DENOISER_ARENA_BYTES 11730816LL     /* all the memory its steps use; the caller provides it */
#define SIMPLE_DENOISER_ARENA_ALIGN 64
#define SIMPLE_DENOISER_PERSISTENT_BYTES 928704LL /* at the front: what lives from step to step */
#define SIMPLE_DENOISER_TRAIN_BYTES 11730816LL
#define SIMPLE_DENOISER_PREDICT_BYTES 7999680LL
#define SIMPLE_DENOISER_BUDGET_BYTES 11730816LL   /* what the plan was allowed */

_Static_assert(SIMPLE_DENOISER_ARENA_BYTES <= SIMPLE_DENOISER_BUDGET_BYTES, "the arena is within its budget");

extern const UnetModel simple_denoiser_model;

#endif
