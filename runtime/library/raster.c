/* raster.c - a decoded picture in memory, and the rows of a window sampled from it. */
#include "raster.h"
#include "unet/layout.h"

#include <math.h>

/* Whether padding is a value, and not what the picture shows elsewhere. */
static bool is_filled(const View *view) {
    return view->window->pad == UNET_PAD_VALUE || view->window->pad == UNET_PAD_ZERO;
}

/* Returns the point that sampling reads for POSITION. */
static int32_t inside(const View *view, int64_t position, int32_t size) {
    if (position >= 0 && position < size) {
        return (int32_t)position;
    }
    return unet_pad_index(is_filled(view) ? UNET_PAD_REPLICATE : UNET_PAD_REFLECT, position, size);
}

/* Rounded down; the sizes of files are far from the limits. */
static int64_t whole_part(double position) {
    const int64_t whole = (int64_t)position;
    return whole - ((double)whole > position);
}

/* Points lie on a line if nothing bends. */
void raster_place(const View *view, int32_t y, int32_t width, double (*from)[2]) {
    const double multiple = view->multiple;
    const bool straight = view->warp->grid == 0;
    double first[2], next[2];
    for (int32_t x = 0; x < width; x++) {
        const double at[2] = {(y + 0.5) / multiple, (x + 0.5) / multiple};
        if (x == 0 || (straight && x == 1) || !straight) {
            warp_place(view->warp, at, x == 0 ? first : next);
        }
        for (int axis = 0; axis < 2; axis++) {
            const double placed = x == 0     ? first[axis]
                                  : straight ? first[axis] + x * (next[axis] - first[axis])
                                             : next[axis];
            from[x][axis] = placed * multiple;
        }
    }
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

/* A place so near a point that it must be meant, off by rounding, is that point: turns and mirrors stay
 * exact where a picture has several points for one of the window's. */
static double snapped(double position) {
    const double near = (double)whole_part(position + 0.5);
    return position - near < 1e-9 && near - position < 1e-9 ? near : position;
}

static void sample_picture(const Raster *raster, const View *view, const double from[2], int32_t width,
                           float *to) {
    const UnetRowFormat *format = &raster->format;
    const int32_t bits = format->bits;
    const float one = unet_row_one(format);
    const int32_t size[2] = {raster->height, format->width};
    const size_t number = (size_t)unet_number_bytes(format), point = number * (size_t)format->stored;
    int32_t near[2][2];
    double share[2];
    for (int axis = 0; axis < 2; axis++) {
        const double centre = snapped(from[axis] - 0.5);
        const int64_t whole = whole_part(centre);
        share[axis] = centre - (double)whole;
        near[axis][0] = inside(view, whole, size[axis]);
        near[axis][1] = share[axis] > 0 ? inside(view, whole + 1, size[axis]) : near[axis][0];
    }
    const uint8_t *row[2];
    for (int i = 0; i < 2; i++) {
        row[i] = raster->rows + (size_t)(near[0][i] - raster->first) * unet_row_bytes(format);
    }
    const size_t left = (size_t)near[1][0] * point, right = (size_t)near[1][1] * point;
    for (int32_t c = 0; c < format->channels; c++) {
        double value[2];
        const size_t channel = c < format->stored ? (size_t)c * number : 0;
        for (int i = 0; i < 2; i++) {
            const double a = unet_stored_number(bits, row[i] + left + channel),
                         b = unet_stored_number(bits, row[i] + right + channel);
            value[i] = a + share[1] * (b - a);
        }
        to[(ptrdiff_t)c * width] = (float)(value[0] + share[0] * (value[1] - value[0])) / one;
    }
}

static float nearest_class(const Raster *raster, const View *view, const double from[2]) {
    const UnetRowFormat *format = &raster->format;
    const int32_t y = inside(view, whole_part(from[0]), raster->height),
                  x = inside(view, whole_part(from[1]), format->width);
    const size_t point = (size_t)(x * format->stored) * (size_t)unet_number_bytes(format);
    return unet_class_number(format,
                             raster->rows + (size_t)(y - raster->first) * unet_row_bytes(format) + point);
}

void raster_sample(const Raster *raster, const View *view, const double (*from)[2], int32_t width,
                   float *row) {
    for (int32_t x = 0; x < width; x++) {
        if (raster->format.classes) {
            row[x] = nearest_class(raster, view, from[x]);
        } else {
            sample_picture(raster, view, from[x], width, row + x);
        }
    }
}

void raster_map(const View *view, const double (*from)[2], int32_t width, int32_t *map) {
    const bool filled = is_filled(view);
    const double size[2] = {(double)view->window->file[0] * view->multiple,
                            (double)view->window->file[1] * view->multiple};
    for (int32_t x = 0; x < width; x++) {
        const double y = from[x][0], along = from[x][1];
        const bool beside = y < 0 || along < 0 || y >= size[0] || along >= size[1];
        map[x] = filled && beside ? -1 : x;
    }
}
