/* image_memory.h - the memory that decoders take, and use again for the next image; private to the runtime.
 *
 * Blocks have sizes of a few classes, so that blocks of one image fit the next, which is seldom of just
 * the same length; a large block serves for less, too, and makes room for a larger one.  Blocks that are
 * given back stay with their owner, one thread, until the thread is done. */
#ifndef UNET_IMAGE_MEMORY_H
#define UNET_IMAGE_MEMORY_H

#include "unet/image.h"

/* At least BYTES, aligned to 64, or NULL; of a MEMORY that is NULL, for this time only. */
void *image_memory_take(UnetImageMemory *memory, size_t bytes);
void *image_memory_take_zeroed(UnetImageMemory *memory, size_t bytes);
/* BLOCK came from image_memory_take() of the same MEMORY, or is NULL. */
void image_memory_give(UnetImageMemory *memory, void *block);

/* The memory that a format keeps from image to image, and the function that ends it. */
typedef struct {
    void *object;
    void (*destroy)(void *object);
} ImageKept;

/* The kept part of MEMORY, which is not NULL; empty at first. */
ImageKept *image_memory_kept(UnetImageMemory *memory);

#endif
