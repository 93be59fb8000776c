/* layout.h - moving rows of points between plain memory and a tensor in a program's layout.
 *
 * A plain row is planar: CHANNELS times WIDTH floats, channel after channel.  The layout may be of float,
 * double or bytes; BASE points at its first byte (origin and halo are the layout's business). */
#ifndef UNET_LAYOUT_H
#define UNET_LAYOUT_H

#include "unet/model.h"

/* Row (D, H) of sample N, all channels, as floats; ROW has channels * size[2] elements. */
void unet_layout_load_row(const UnetLayout *layout, const void *base, int32_t n, int32_t d, int32_t h,
                          float *row);

/* The reverse: point x is ROW[c * stride + from[x]], or FILL[c] where from[x] < 0 (FILL NULL: 0); FROM
 * NULL: ROW[c * stride + x].  Halo and padding channels are not touched: the caller zeroes the tensor once.
 */
void unet_layout_store_row(const UnetLayout *layout, void *base, int32_t n, int32_t d, int32_t h,
                           const float *row, int64_t stride, const int32_t *from, const float *fill);

/* The row behind the last of band B of a tensor, of an image of so many UNITS (UnetBand). */
int32_t unet_band_end(const UnetBand *band, int64_t b, int32_t units);

/* The origin of point POSITION of a line of padded points: the index of the point among the SIZE real ones,
 * or -1 for a constant (UNET_PAD_VALUE, UNET_PAD_ZERO, UNET_PAD_MEAN).  POSITION counts from the
 * first real point and may be negative; reflection does not repeat the border and goes on for any distance.
 */
int32_t unet_pad_index(UnetPad pad, int64_t position, int32_t size);

#endif
