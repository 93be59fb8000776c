/* colour.c - transforms that change the colours of a window: brightness, contrast, saturation and hue as
 * Pillow and torchvision define them, gamma, Gaussian blur and noise. */
#include "colour.h"
#include "unet/layout.h"

#include <math.h>

static size_t points(const Picture *picture) {
    return (size_t)picture->height * (size_t)picture->width;
}

static bool has(const UnetTransform *transform, int32_t count, UnetTransformOp a, UnetTransformOp b) {
    for (int32_t i = 0; i < count; i++) {
        if (transform[i].op == a || transform[i].op == b) {
            return true;
        }
    }
    return false;
}

bool colour_changes(const UnetTransform *transform, int32_t count) {
    return has(transform, count, UNET_DO_DISTORT, UNET_DO_GAMMA);
}

bool colour_degrades(const UnetTransform *transform, int32_t count) {
    return has(transform, count, UNET_DO_BLUR, UNET_DO_NOISE);
}

static float unit(float value) {
    return value < 0 ? 0 : value > 1 ? 1 : value;
}

/* ---- distort ---------------------------------------------------------------------------------- */

/* Returns the brightness of point I; the brightness of a grey picture is its value. */
static float grey(const Picture *picture, size_t i) {
    const float *v = picture->value;
    const size_t plane = points(picture);
    return picture->channels == 3 ? 0.299f * v[i] + 0.587f * v[i + plane] + 0.114f * v[i + 2 * plane]
                                  : v[i];
}

/* Every value goes away from OTHER by FACTOR. */
static void blend(const Picture *picture, float factor, float other) {
    const size_t count = (size_t)picture->channels * points(picture);
    for (size_t i = 0; i < count; i++) {
        picture->value[i] = unit(other + factor * (picture->value[i] - other));
    }
}

static void change_brightness(const Picture *picture, float factor) {
    blend(picture, factor, 0);
}

static void change_contrast(const Picture *picture, float factor) {
    double sum = 0;
    size_t count = 0;
    for (size_t i = 0; i < points(picture); i++) {
        const double value = (double)grey(picture, i);
        sum += isnan(value) ? 0 : value; /* a missing number: dataset_missing.c */
        count += isnan(value) ? 0 : 1;
    }
    blend(picture, factor, count > 0 ? (float)(sum / (double)count) : 0);
}

static void change_saturation(const Picture *picture, float factor) {
    const size_t plane = points(picture);
    for (size_t i = 0; i < plane && picture->channels == 3; i++) {
        float other = grey(picture, i);
        for (size_t c = 0; c < 3; c++) {
            float *value = &picture->value[c * plane + i];
            *value = unit(other + factor * (*value - other));
        }
    }
}

/* How much of colour C a pure hue H, in 0..6 from red over green, lacks. */
static float lack(float h, int c) {
    static const float offset[] = {5, 3, 1};
    float k = fmodf(offset[c] + h, 6);
    return unit(fminf(k, 4 - k));
}

/* Turns the hue of every point by so many sixths of a circle. */
static void change_hue(const Picture *picture, float sixths) {
    const size_t plane = points(picture);
    for (size_t i = 0; i < plane && picture->channels == 3; i++) {
        float *v = picture->value + i, r = v[0], g = v[plane], b = v[2 * plane];
        float most = fmaxf(r, fmaxf(g, b)), range = most - fminf(r, fminf(g, b));
        if (!(range > 0) || isnan(r + g + b)) {
            continue;
        }
        float h = most == r ? (g - b) / range : most == g ? 2 + (b - r) / range : 4 + (r - g) / range;
        h = fmodf(h + sixths + 12, 6);
        for (int c = 0; c < 3; c++) {
            v[(size_t)c * plane] = most - range * lack(h, c);
        }
    }
}

static void distort(const UnetTransform *does, const UnetKey *key, const Picture *picture) {
    static void (*const change[])(const Picture *, float) = {change_brightness, change_contrast,
                                                             change_saturation, change_hue};
    int order[] = {0, 1, 2, 3};
    for (int i = 0; i < 3; i++) {
        int other = i + (int)unet_random_below(key, (uint64_t)i, 4 - i), kept = order[i];
        order[i] = order[other];
        order[other] = kept;
    }
    for (int i = 0; i < 4; i++) {
        const int kind = order[i];
        const double most = does->amount[kind];
        const double by = most * (2 * unet_random_uniform(key, 4 + (uint64_t)kind) - 1);
        if (most <= 0 || unet_random_uniform(key, 8 + (uint64_t)kind) >= does->p) {
            continue;
        }
        change[kind](picture, (float)(kind == 3 ? by / 60 : fmax(1 + by, 0)));
    }
}

/* ---- gamma ------------------------------------------------------------------------------------ */

static double draw_between(const UnetTransform *does, const UnetKey *key) {
    return does->amount[0] + (does->amount[1] - does->amount[0]) * unet_random_uniform(key, 1);
}

static void change_gamma(const UnetTransform *does, const UnetKey *key, const Picture *picture) {
    const float exponent = (float)draw_between(does, key);
    const size_t count = (size_t)picture->channels * points(picture);
    for (size_t i = 0; i < count; i++) {
        picture->value[i] = powf(unit(picture->value[i]), exponent);
    }
}

void colour_change(const UnetTransform *transform, int32_t count, const UnetKey *key,
                   const Picture *picture) {
    for (int32_t i = 0; i < count; i++) {
        UnetKey own = *key;
        own.stream = UNET_STREAM_TRANSFORM + (uint32_t)i;
        if (transform[i].op == UNET_DO_DISTORT) {
            distort(&transform[i], &own, picture);
        } else if (transform[i].op == UNET_DO_GAMMA && unet_random_uniform(&own, 0) < transform[i].p) {
            change_gamma(&transform[i], &own, picture);
        }
    }
}

/* ---- blur and noise --------------------------------------------------------------------------- */

/* A line of the longer side, reflected for as much at both ends, and the weights of a blur as wide. */
size_t colour_lines(int32_t height, int32_t width) {
    return 4 * (size_t)(height > width ? height : width) + 2;
}

/* COUNT points, STRIDE apart; WEIGHT of the middle and RADIUS others on one side. */
static void blur_line(float *value, int32_t count, size_t stride, const float *weight, int32_t radius,
                      float *line) {
    float *middle = line + radius;
    for (int32_t i = 0; i < count; i++) {
        middle[i] = value[(size_t)i * stride];
    }
    for (int32_t i = 1; i <= radius; i++) {
        middle[-i] = middle[unet_pad_index(UNET_PAD_REFLECT, -i, count)];
        middle[count - 1 + i] = middle[unet_pad_index(UNET_PAD_REFLECT, count - 1 + i, count)];
    }
    for (int32_t i = 0; i < count; i++) {
        float sum = weight[0] * middle[i];
        for (int32_t k = 1; k <= radius; k++) {
            sum += weight[k] * (middle[i - k] + middle[i + k]);
        }
        value[(size_t)i * stride] = sum;
    }
}

static void blur(const UnetTransform *does, const UnetKey *key, const Picture *picture, float *lines) {
    const int32_t longest = picture->height > picture->width ? picture->height : picture->width;
    const double sigma = draw_between(does, key);
    const size_t width = (size_t)picture->width;
    float *weight = lines + 3 * (size_t)longest;
    if (sigma <= 0) {
        return;
    }
    const int32_t radius = (int32_t)fmin(ceil(3 * sigma), longest);
    double sum = 1;
    for (int32_t k = 1; k <= radius; k++) {
        sum += 2 * exp(-0.5 * k * k / (sigma * sigma));
    }
    for (int32_t k = 0; k <= radius; k++) {
        weight[k] = (float)(exp(-0.5 * k * k / (sigma * sigma)) / sum);
    }
    for (int32_t c = 0; c < picture->channels; c++) {
        float *plane = picture->value + (size_t)c * points(picture);
        for (int32_t y = 0; y < picture->height; y++) {
            blur_line(plane + (size_t)y * width, picture->width, 1, weight, radius, lines);
        }
        for (size_t x = 0; x < width; x++) {
            blur_line(plane + x, picture->height, width, weight, radius, lines);
        }
    }
}

/* Inputs have noise of their own. */
static void add_noise(const UnetTransform *does, const UnetKey *key, int32_t input,
                      const Picture *picture) {
    enum { BLOCK = 64 };
    const float deviation = (float)(does->amount[0] * unet_random_uniform(key, 1));
    const size_t count = (size_t)picture->channels * points(picture);
    for (size_t i = 0; i < count; i += BLOCK) {
        float noise[BLOCK];
        size_t here = count - i < BLOCK ? count - i : BLOCK;
        unet_random_normal(key, ((uint64_t)input << 28) + 4 + i, here, noise);
        for (size_t k = 0; k < here; k++) {
            picture->value[i + k] += deviation * noise[k];
        }
    }
}

void colour_degrade(const UnetTransform *transform, int32_t count, const UnetKey *key, int32_t input,
                    const Picture *picture, float *lines) {
    for (int32_t i = 0; i < count; i++) {
        UnetKey own = *key;
        own.stream = UNET_STREAM_TRANSFORM + (uint32_t)i;
        bool runs = unet_random_uniform(&own, 0) < transform[i].p;
        if (runs && transform[i].op == UNET_DO_BLUR) {
            blur(&transform[i], &own, picture, lines);
        } else if (runs && transform[i].op == UNET_DO_NOISE) {
            add_noise(&transform[i], &own, input, picture);
        }
    }
}
