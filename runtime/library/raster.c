/* raster.c - a decoded picture in memory, and the rows of a window sampled from it. */
#include "raster.h"
#include "unet/layout.h"

#include <math.h>

/* Where sampling reads what lies at POSITION. */
static int32_t inside(const View *view, int64_t position, int32_t size) {
    UnetPad pad = view->window->pad == UNET_PAD_VALUE || view->window->pad == UNET_PAD_ZERO
                      ? UNET_PAD_REPLICATE
                      : UNET_PAD_REFLECT;
    return unet_pad_index(pad, position, size);
}

/* The position in the picture of point X of row Y. */
static void place(const View *view, int32_t y, int32_t x, double from[2]) {
    const double multiple = view->multiple;
    const double at[2] = {(y + 0.5) / multiple, (x + 0.5) / multiple};
    warp_place(view->warp, at, from);
    from[0] *= multiple;
    from[1] *= multiple;
}

/* ---- rows that are read ----------------------------------------------------------------------- */

/* The range of the reflections of a range; both in whole points, the ends included. */
static void reflect_range(const View *view, int32_t size, int64_t low, int64_t high, int32_t *begin,
                          int32_t *end) {
    if (high - low >= size - 1) {
        *begin = 0;
        *end = size;
        return;
    }
    int32_t least = size, most = -1;
    for (int64_t i = low; i <= high; i++) {
        int32_t index = inside(view, i, size);
        least = index < least ? index : least;
        most = index > most ? index : most;
    }
    *begin = least;
    *end = most + 1;
}

void raster_rows(const View *view, int32_t height, int32_t *begin, int32_t *end) {
    double low, high;
    warp_range(view->warp, view->window->size, 0, &low, &high);
    reflect_range(view, height, (int64_t)floor(low * view->multiple - 0.5),
                  (int64_t)floor(high * view->multiple - 0.5) + 1, begin, end);
}

/* ---- sampling --------------------------------------------------------------------------------- */

static double number_at(const Raster *raster, int32_t y, int32_t x, int32_t c) {
    const UnetRowFormat *format = &raster->format;
    size_t bytes = (size_t)(format->bits / 8);
    const uint8_t *at = raster->rows + (size_t)(y - raster->first) * unet_row_bytes(format) +
                        ((size_t)x * (size_t)format->stored + (size_t)c) * bytes;
    return bytes == 1 ? at[0] : at[0] << 8 | at[1];
}

static double between(const Raster *raster, const int32_t y[2], const int32_t x[2], int32_t c,
                      const double share[2]) {
    double row[2];
    for (int i = 0; i < 2; i++) {
        double left = number_at(raster, y[i], x[0], c), right = number_at(raster, y[i], x[1], c);
        row[i] = left + share[1] * (right - left);
    }
    return row[0] + share[0] * (row[1] - row[0]);
}

/* A place so near a point that it must be meant, off by rounding, is that point: whole turns and mirrors
 * stay exact where a picture has several points for one of the window's. */
static double snapped(double position) {
    return fabs(position - round(position)) < 1e-9 ? round(position) : position;
}

static void sample_picture(const Raster *raster, const View *view, const double from[2], int32_t width,
                           float *to) {
    const UnetRowFormat *format = &raster->format;
    const double one = format->bits == 8 ? 255 : 65535;
    const int32_t size[2] = {raster->height, format->width};
    int32_t near[2][2];
    double share[2];
    for (int axis = 0; axis < 2; axis++) {
        double centre = snapped(from[axis] - 0.5), whole = floor(centre);
        share[axis] = centre - whole;
        near[axis][0] = inside(view, (int64_t)whole, size[axis]);
        near[axis][1] = share[axis] > 0 ? inside(view, (int64_t)whole + 1, size[axis]) : near[axis][0];
    }
    for (int32_t c = 0; c < format->channels; c++) {
        if (c < format->stored) {
            to[(ptrdiff_t)c * width] = (float)between(raster, near[0], near[1], c, share) / (float)one;
        } else {
            to[(ptrdiff_t)c * width] = to[0];
        }
    }
}

void raster_sample(const Raster *raster, const View *view, int32_t y, int32_t width, float *row) {
    for (int32_t x = 0; x < width; x++) {
        double from[2];
        place(view, y, x, from);
        if (raster->format.classes) {
            row[x] = (float)number_at(raster, inside(view, (int64_t)floor(from[0]), raster->height),
                                      inside(view, (int64_t)floor(from[1]), raster->format.width), 0);
        } else {
            sample_picture(raster, view, from, width, row + x);
        }
    }
}

void raster_map(const View *view, int32_t y, int32_t width, int32_t *map) {
    const Window *window = view->window;
    for (int32_t x = 0; x < width; x++) {
        double from[2];
        bool beside = false;
        map[x] = x;
        if (window->pad != UNET_PAD_VALUE && window->pad != UNET_PAD_ZERO) {
            continue;
        }
        place(view, y, x, from);
        for (int axis = 0; axis < 2; axis++) {
            beside |= from[axis] < 0 || from[axis] >= (double)window->file[axis] * view->multiple;
        }
        map[x] = beside ? -1 : x;
    }
}
