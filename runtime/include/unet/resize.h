/* resize.h - pictures made smaller or larger, row by row.
 *
 * Numbers are weighed by a triangle that is as wide as two points of the smaller picture, so that a smaller
 * picture has no aliases: this is `Image.resize(..., BILINEAR)` of Pillow, and `resize(..., BILINEAR,
 * antialias=True)` of torchvision.  Numbers of 8 bits come out as Pillow has them, to the bit: first along
 * each row, rounded, then along the columns, rounded again.  Floats are weighed in double and rounded to
 * float after either direction.  Classes take the nearest point.
 *
 * Rows come in from the first to the last, and go out likewise.  Memory is a few rows of the result.
 *
 *     while (unet_resize_wants(resize))
 *         unet_resize_push(resize, next row of the picture);
 *     unet_resize_pull(resize, row of the result);
 */
#ifndef UNET_RESIZE_H
#define UNET_RESIZE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "unet/model.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct {
    int32_t from[2], to[2]; /* height and width, all at least 1 */
    int32_t channels;       /* side by side at each point */
    int32_t bits;           /* of a number: 8; 16, the high byte first; 32, floats of this machine */
    bool nearest;           /* points are copied, of any kind of numbers */
} UnetResizeShape;

typedef struct UnetResize UnetResize;

/* The memory that it takes; 0: more than can be counted. */
size_t unet_resize_bytes(const UnetResizeShape *shape);
/* In MEMORY of so many bytes, aligned to 64, which the caller frees. */
UnetResize *unet_resize_at(void *memory, const UnetResizeShape *shape);

/* Whether the next row of the result needs another row of the picture; false behind the last. */
bool unet_resize_wants(const UnetResize *resize);
void unet_resize_push(UnetResize *resize, const void *row);
/* The next row of the result, for which nothing is wanted any more. */
void unet_resize_pull(UnetResize *resize, void *row);
/* COUNT rows of the result are not asked for. */
void unet_resize_skip(UnetResize *resize, int32_t count);

/* The size that a picture of SIZE (height, width) gets when it is read in this WAY: its own, if the way
 * does not resize.  Sides that follow from the other one are rounded, and are at least 1. */
void unet_resized(const UnetImageWay *way, const int32_t size[2], int32_t resized[2]);

#ifdef __cplusplus
}
#endif

#endif
