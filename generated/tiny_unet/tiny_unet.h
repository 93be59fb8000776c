/* tiny_unet.h - the model tiny_unet as a library
 *
 * Made by unetc from tiny_unet.unet (16d462818c889222) with: --size=64x64 --kernels=reference
 * Do not edit: change the .unet file and compile again.
 *
 * Draw initial weights with unet_parameters_init (unet/parameters.h), or load them; then run
 * tiny_unet_model.train->run, ...eval->run or ...predict->run on an arena of yours, as unet/model.h says.
 * A program with `prepare` needs that called before, on the same arena, and again where unet/model.h says so.
 * One arena serves one caller at a time; nothing else is shared, so several models, or several arenas, work
 * side by side in one process. */
#ifndef TINY_UNET_H
#define TINY_UNET_H

#include <unet/model.h>

#define TINY_UNET_ARENA_BYTES 26016384LL     /* all the memory its steps use; the caller provides it */
#define TINY_UNET_ARENA_ALIGN 64
#define TINY_UNET_PERSISTENT_BYTES 5784960LL /* at the front: what lives from step to step */
#define TINY_UNET_TRAIN_BYTES 26016384LL
#define TINY_UNET_PREDICT_BYTES 6621312LL
#define TINY_UNET_BUDGET_BYTES 26016384LL   /* what the plan was allowed */

_Static_assert(TINY_UNET_ARENA_BYTES <= TINY_UNET_BUDGET_BYTES, "the arena is within its budget");

extern const UnetModel tiny_unet_model;

#endif
