/* raster.h - a decoded picture in memory, and the rows of a window sampled from it; private to the runtime.
 */
#ifndef UNET_RASTER_H
#define UNET_RASTER_H

#include "unet/image.h"
#include "warp.h"
#include "window.h"

typedef struct {
    UnetRowFormat format;
    const uint8_t *rows; /* decoded: rows FIRST and those behind it */
    int32_t first;
    int32_t height; /* of the picture */
} Raster;

/* How a window lies in pictures that have MULTIPLE points for one of WINDOW's. */
typedef struct {
    const Warp *warp;
    const FileWindow *window;
    int32_t multiple;
} View;

/* The rows that sampling reads of a picture of HEIGHT: [*begin, *end). */
void raster_rows(const View *view, int32_t height, int32_t *begin, int32_t *end);

/* FROM[x][axis]: where in such pictures point X of row Y of the window comes from. */
void raster_place(const View *view, int32_t y, int32_t width, double (*from)[2]);

/* The row of the window that lies at FROM, planar, WIDTH points: pictures between their four nearest
 * points, classes as the nearest has them.  Beside the picture they go on by reflection, or as its edge
 * where the padding is a value. */
void raster_sample(const Raster *raster, const View *view, const double (*from)[2], int32_t width,
                   float *row);

/* MAP[x]: x, or -1 where point X lies beside the picture and the padding is a value. */
void raster_map(const View *view, const double (*from)[2], int32_t width, int32_t *map);

#endif
