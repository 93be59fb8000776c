/* wrapper.h - what stands in front of all names where a network was saved inside of something else; private
 * to the runtime.
 *
 * PyTorch puts the names of wrapping modules first: "module." of data parallelism, "_orig_mod." of compiled
 * modules, "model." of a trainer's.  Such words, each with its dot, are known; others are part of a name.
 */
#ifndef UNET_WRAPPER_H
#define UNET_WRAPPER_H

#include "unet/parameters.h"

enum { WRAPPER_BYTES = 128 }; /* longest prefix, final zero included */

/* The prefix with which most of the model's names are in FILE; of several the shortest: "" where nothing is
 * wrapped, or nothing fits. */
void wrapper_of(const UnetModel *model, const UnetSafetensors *file, char prefix[WRAPPER_BYTES]);

#endif
