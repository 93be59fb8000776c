/* border_weight.h - weights of points near the borders between cells, as U-Net 2015 trains with. */
#ifndef UNET_BORDER_WEIGHT_H
#define UNET_BORDER_WEIGHT_H

#include "unet/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct {
    double w0, sigma; /* the factor of the second term below; its reach, in points, above 0 */
} BorderWeight;

/* Working memory for an image of HEIGHT x WIDTH; false when the size overflows. */
UNET_MUST_USE bool border_weight_bytes(int32_t height, int32_t width, size_t *bytes);

/* The map of Ronneberger, Fischer, Brox 2015, equation 2, from the class of each point, row by row:
 *
 *     w(x) = w_c(x) + w0 exp(-(d1(x) + d2(x))^2 / (2 sigma^2))
 *
 * w_c balances the classes: the mean count of a class that is there, over the count of the class of x.  d1
 * and d2 are the distances to the nearest cell and to the second nearest; points of class 0, the
 * background, have the term; cells count that are at most 6 sigma of rows and of columns away.  A cell is
 * all points of one class above 0 that touch along rows and columns.  A point of no class (UNET_IGNORED)
 * has weight 0.
 *
 * SCRATCH: border_weight_bytes(), aligned as malloc aligns.  Time: points of background times 24 sigma. */
void border_weight(const BorderWeight *by, int32_t height, int32_t width, const uint8_t *classes,
                   void *scratch, float *weight);

#endif
