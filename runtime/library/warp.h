/* warp.h - where the points of a window come from when transforms scale, turn or bend the picture; private
 * to the runtime.
 *
 * Positions are measured from the corner of a picture in points, so the centre of point i is at i + 0.5.  A
 * position of the window goes back through the transforms, the last one first:
 *
 *     window --outer--> bent picture --bend--> --inner--> file
 *
 * All that lies on either side of the bend is one affine map.  Axes: 0 height, 1 width. */
#ifndef UNET_WARP_H
#define UNET_WARP_H

#include "unet/model.h"
#include "unet/rng.h"

enum { WARP_MOST_GRID = 16 };

typedef struct {
    double m[2][2], b[2];
} Affine;

typedef struct {
    Affine outer, inner;
    int32_t grid;     /* displacements along each axis; 0: nothing is bent */
    double canvas[2]; /* what they span */
    float shift[2][WARP_MOST_GRID * WARP_MOST_GRID];
} Warp;

/* Whether a transform does more than cut and mirror. */
bool warp_needed(const UnetTransform *transform, int32_t count);

/* Draws from KEY (whose stream is replaced) for a file of this size; the window has SIZE. */
void warp_draw(Warp *warp, const UnetTransform *transform, int32_t count, const int32_t file[2],
               const int32_t size[2], const UnetKey *key);

/* The position in the file of position AT of the window. */
void warp_place(const Warp *warp, const double at[2], double from[2]);

/* The positions along AXIS of all files that a window of SIZE may show: [*low, *high). */
void warp_range(const Warp *warp, const int32_t size[2], int axis, double *low, double *high);

/* The most rows that lie in such a range, whatever is drawn. */
double warp_most_rows(const UnetTransform *transform, int32_t count, const int32_t size[2]);

/* The least size that a picture of FILE has when it is cut. */
void warp_least_size(const UnetTransform *transform, int32_t count, const int32_t file[2],
                     int32_t least[2]);

#endif
