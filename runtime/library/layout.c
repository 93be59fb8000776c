/* layout.c - moving rows of points between plain memory and a tensor in a program's layout. */
#include "unet/layout.h"
#include "number.h"

#include <math.h>
#include <string.h>

size_t unet_type_bytes(UnetType type) {
    switch (type) {
    case UNET_F32:
        return 4;
    case UNET_F64:
        return 8;
    case UNET_BF16:
    case UNET_F16:
    case UNET_UNORM16:
        return 2;
    case UNET_U8:
    case UNET_UNORM8:
        return 1;
    }
    return 0;
}

/* Element (n, c, d, h, 0); the points of the row follow at distances of layout->block. */
static int64_t row_start(const UnetLayout *layout, int32_t n, int32_t c, int32_t d, int32_t h) {
    if (layout->ring > 0)
        h %= layout->ring;
    return layout->origin + n * layout->sample + c / layout->block * layout->plane + d * layout->depth +
           h * layout->row + c % layout->block;
}

static float load(UnetType type, const void *base, int64_t at) {
    switch (type) {
    case UNET_F32:
        return ((const float *)base)[at];
    case UNET_F64:
        return (float)((const double *)base)[at];
    case UNET_U8:
        return (float)((const uint8_t *)base)[at];
    case UNET_BF16:
        return float_of_bits((uint32_t)((const uint16_t *)base)[at] << 16);
    case UNET_F16:
        return half_value(((const uint16_t *)base)[at]);
    case UNET_UNORM8:
        return (float)((const uint8_t *)base)[at] / 255.0f;
    case UNET_UNORM16:
        return (float)((const uint16_t *)base)[at] / 65535.0f;
    }
    return 0;
}

/* COUNT floats, APART from each other, to places TO_APART: most numbers come and go so. */
static void copy_floats(const float *from, int64_t apart, int32_t count, float *to, int64_t to_apart) {
    for (int64_t x = 0; x < count; x++) {
        to[x * to_apart] = from[x * apart];
    }
}

void unet_layout_load_row(const UnetLayout *layout, const void *base, int32_t n, int32_t d, int32_t h,
                          float *row) {
    int32_t width = layout->size[2];
    for (int32_t c = 0; c < layout->channels; c++) {
        int64_t at = row_start(layout, n, c, d, h);
        if (layout->type == UNET_F32) {
            copy_floats((const float *)base + at, layout->block, width, row + (int64_t)c * width, 1);
            continue;
        }
        for (int32_t x = 0; x < width; x++, at += layout->block) {
            row[(int64_t)c * width + x] = load(layout->type, base, at);
        }
    }
}

/* The nearest n of n / MOST; a NaN is 0. */
static uint16_t unorm(float value, float most) {
    float scaled = most * value;
    return scaled >= most ? (uint16_t)most : scaled > 0.0f ? (uint16_t)lroundf(scaled) : 0;
}

static void store(UnetType type, void *base, int64_t at, float value) {
    switch (type) {
    case UNET_F32:
        ((float *)base)[at] = value;
        break;
    case UNET_F64:
        ((double *)base)[at] = (double)value;
        break;
    case UNET_U8:
        ((uint8_t *)base)[at] = (uint8_t)value;
        break;
    case UNET_UNORM8:
        ((uint8_t *)base)[at] = (uint8_t)unorm(value, 255.0f);
        break;
    case UNET_UNORM16:
        ((uint16_t *)base)[at] = unorm(value, 65535.0f);
        break;
    case UNET_BF16: /* the loader leaves f32: a program rounds to its own storage type */
    case UNET_F16:
        break;
    }
}

void unet_layout_store_row(const UnetLayout *layout, void *base, int32_t n, int32_t d, int32_t h,
                           const float *row, int64_t stride, const int32_t *from, const float *fill) {
    for (int32_t c = 0; c < layout->channels; c++) {
        int64_t at = row_start(layout, n, c, d, h);
        const float *channel = row + c * stride, beside = fill != NULL ? fill[c] : 0;
        if (layout->type == UNET_F32 && from == NULL) {
            copy_floats(channel, 1, layout->size[2], (float *)base + at, layout->block);
            continue;
        }
        for (int32_t x = 0; x < layout->size[2]; x++, at += layout->block) {
            const int32_t source = from == NULL ? x : from[x];
            store(layout->type, base, at, source < 0 ? beside : channel[source]);
        }
    }
}

int32_t unet_band_end(const UnetBand *band, int64_t b, int32_t units) {
    const int64_t end = (b + 1) * band->rows - band->lag, height = (int64_t)units * band->of_unit;
    return (int32_t)(end < 0 ? 0 : end > height ? height : end);
}

static int32_t reflect(int64_t position, int32_t size) {
    int64_t period = size > 1 ? 2 * ((int64_t)size - 1) : 1;
    int64_t phase = position % period;
    if (phase < 0) {
        phase += period;
    }
    return (int32_t)(phase < size ? phase : period - phase);
}

int32_t unet_pad_index(UnetPad pad, int64_t position, int32_t size) {
    if (position >= 0 && position < size) {
        return (int32_t)position;
    }
    switch (pad) {
    case UNET_PAD_REFLECT:
        return reflect(position, size);
    case UNET_PAD_REPLICATE:
        return position < 0 ? 0 : size - 1;
    case UNET_PAD_NONE:
    case UNET_PAD_VALUE:
    case UNET_PAD_ZERO:
    case UNET_PAD_MEAN:
        break;
    }
    return -1;
}
