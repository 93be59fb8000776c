/* dataset_intensity.c - what changes the numbers of the voxels of a window, once all of it is there: noise,
 * blur, brightness, contrast, low resolution and gamma, as nnU-Net computes them, on numbers that are
 * normalised already.
 *
 * Chance decides for each sample and each line of the file's transforms, for all channels alike; then each
 * channel has a factor or an exponent of its own.  A factor from LOW to HIGH lies half of the time below 1
 * and else above.  The random numbers follow from the seed, the epoch and the sample.
 */
#include "dataset_reading.h"
#include "unet/layout.h"

#include <math.h>
#include <string.h>

/* An input of the sample, and the transform that it undergoes. */
typedef struct {
    const Reading *at;
    const UnetTransform *transform;
    const UnetLayout *layout;
    void *base;
    float *row; /* all channels */
    UnetKey key;
} Change;

/* The numbers that a key draws: chances, then numbers of each channel, then noise. */
enum { FIRST_CHANCE, SECOND_CHANCE, SIGMA, OF_CHANNELS = 8, A_CHANNEL = 8, NOISE = 1 << 16 };

/* All values of a channel. */
typedef struct {
    double mean, deviation; /* the latter of n - 1 */
    float least, most;
} Range;

static void load(const Change *c, int32_t line) {
    unet_layout_load_row(c->layout, c->base, c->at->n, line / c->layout->size[1], line % c->layout->size[1],
                         c->row);
}

static void store(const Change *c, int32_t line) {
    unet_layout_store_row(c->layout, c->base, c->at->n, line / c->layout->size[1],
                          line % c->layout->size[1], c->row, c->layout->size[2], NULL, NULL);
}

static int32_t lines(const Change *c) {
    return c->layout->size[0] * c->layout->size[1];
}

static Range range_of(const Change *c, int32_t channel) {
    Range range = {.least = INFINITY, .most = -INFINITY};
    double sum = 0, squares = 0;
    const int32_t width = c->layout->size[2];
    for (int32_t line = 0; line < lines(c); line++) {
        load(c, line);
        for (int32_t x = 0; x < width; x++) {
            const float value = c->row[channel * width + x];
            sum += (double)value;
            squares += (double)value * (double)value;
            range.least = value < range.least ? value : range.least;
            range.most = value > range.most ? value : range.most;
        }
    }
    const double count = (double)lines(c) * width;
    range.mean = sum / count;
    const double spread = squares - sum * range.mean;
    range.deviation = count > 1 && spread > 0 ? sqrt(spread / (count - 1)) : 0;
    return range;
}

/* From LOW to 1 or from 1 to HIGH, either half of the time, where 1 lies between them. */
static double draw_around_one(const Change *c, int32_t channel, uint64_t what, double low, double high) {
    const uint64_t index = OF_CHANNELS + (uint64_t)channel * A_CHANNEL + 2 * what;
    const double side = unet_random_uniform(&c->key, index), part = unet_random_uniform(&c->key, index + 1);
    const bool below = low < 1 && (side < 0.5 || high <= 1);
    const double from = below ? low : fmax(low, 1), to = below ? fmin(high, 1) : high;
    return from + part * (to - from);
}

/* ---- transforms ------------------------------------------------------------------------------- */

/* SIGMA times normal numbers, from number FIRST of the key on, to COUNT values. */
static void add_normal(const Change *c, float sigma, uint64_t first, float *value, int32_t count) {
    enum { PIECE = 64 };
    float noise[PIECE];
    for (int32_t x = 0; x < count; x += PIECE) {
        const int32_t piece = count - x < PIECE ? count - x : PIECE;
        unet_random_normal(&c->key, first + (uint64_t)x, (size_t)piece, noise);
        for (int32_t i = 0; i < piece; i++) {
            value[x + i] += sigma * noise[i];
        }
    }
}

static void add_noise(const Change *c) {
    const float sigma = (float)(c->transform->amount[0] * unet_random_uniform(&c->key, SIGMA));
    const int32_t width = c->layout->size[2];
    for (int32_t line = 0; line < lines(c); line++) {
        load(c, line);
        for (int32_t k = 0; k < c->layout->channels; k++) {
            const int64_t row = (int64_t)k * lines(c) + line;
            add_normal(c, sigma, NOISE + (uint64_t)row * (uint64_t)width, c->row + k * width, width);
        }
        store(c, line);
    }
}

/* Each value v of CHANNEL becomes factor * (v - middle) + middle, between LEAST and MOST. */
static void stretch(const Change *c, int32_t channel, float factor, float middle, float least, float most) {
    const int32_t width = c->layout->size[2];
    for (int32_t line = 0; line < lines(c); line++) {
        load(c, line);
        for (float *v = c->row + channel * width; v < c->row + (channel + 1) * width; v++) {
            const float value = (*v - middle) * factor + middle;
            *v = value < least ? least : value > most ? most : value;
        }
        store(c, line);
    }
}

static void change_light(const Change *c) {
    const double *amount = c->transform->amount;
    const double p = c->transform->p, first = unet_random_uniform(&c->key, FIRST_CHANCE),
                 second = unet_random_uniform(&c->key, SECOND_CHANCE);
    const bool brighter = amount[0] > 0 && first < p;
    const bool steeper = amount[1] > 0 && second < p;
    for (int32_t k = 0; k < c->layout->channels && brighter; k++) {
        const double factor = draw_around_one(c, k, 0, 1 - amount[0], 1 + amount[0]);
        stretch(c, k, (float)factor, 0, -INFINITY, INFINITY);
    }
    for (int32_t k = 0; k < c->layout->channels && steeper; k++) {
        const Range range = range_of(c, k);
        const double factor = draw_around_one(c, k, 1, 1 - amount[1], 1 + amount[1]);
        stretch(c, k, (float)factor, (float)range.mean, range.least, range.most);
    }
}

/* Values between the least and the most, as shares of that, to the power of a number; then mean and
 * deviation are what they were. Inverted it is done to the values with their sign turned. */
static void change_gamma(const Change *c, int32_t channel) {
    const float sign = c->transform->amount[2] > 0 ? -1.0f : 1.0f;
    const double power = draw_around_one(c, channel, 0, c->transform->amount[0], c->transform->amount[1]);
    const Range before = range_of(c, channel);
    const double least = sign > 0 ? (double)before.least : -(double)before.most,
                 width = fmax((double)before.most - (double)before.least, 1e-7);
    const int32_t row = c->layout->size[2];
    for (int32_t line = 0; line < lines(c); line++) {
        load(c, line);
        for (float *v = c->row + channel * row; v < c->row + (channel + 1) * row; v++) {
            const double share = ((double)(sign * *v) - least) / width;
            *v = sign * (float)(pow(share > 0 ? share : 0, power) * width + least);
        }
        store(c, line);
    }
    const Range after = range_of(c, channel);
    const double factor = before.deviation / fmax(after.deviation, 1e-7);
    for (int32_t line = 0; line < lines(c); line++) {
        load(c, line);
        for (float *v = c->row + channel * row; v < c->row + (channel + 1) * row; v++) {
            *v = (float)(((double)*v - after.mean) * factor + before.mean);
        }
        store(c, line);
    }
}

/* ---- blur ------------------------------------------------------------------------------------- */

enum { MOST_TAPS = 2 * (3 * VOLUME_MOST_BLUR) + 1 };

/* Weights of a Gaussian over the odd number that is nearest to 6 SIGMA + 1/2; returns that. */
static int32_t gaussian(double sigma, float tap[MOST_TAPS]) {
    const int32_t taps = 2 * (int32_t)((6 * sigma + 0.5) / 2) + 1;
    const int32_t middle = taps / 2;
    double weight[MOST_TAPS], sum = 0;
    for (int32_t i = 0; i < taps; i++) {
        const double far = (i - middle) / sigma;
        weight[i] = exp(-far * far / 2);
        sum += weight[i];
    }
    for (int32_t i = 0; i < taps; i++) {
        tap[i] = (float)(weight[i] / sum);
    }
    return taps;
}

/* Along rows: ROW becomes what its neighbours, reflected at the ends, make of it; BEFORE has room for it.
 */
static void blur_row(const float *tap, int32_t taps, int32_t width, float *row, float *before) {
    memcpy(before, row, (size_t)width * sizeof *row);
    for (int32_t x = 0; x < width; x++) {
        float sum = 0;
        for (int32_t t = 0; t < taps; t++) {
            sum += tap[t] * before[unet_pad_index(UNET_PAD_REFLECT, x + t - taps / 2, width)];
        }
        row[x] = sum;
    }
}

/* A channel of COUNT rows, FIRST and every STEP-th behind it, into the plane, which is returned. */
static const float *load_plane(const Change *c, int32_t channel, int32_t first, int32_t step,
                               int32_t count) {
    const int32_t width = c->layout->size[2];
    float *plane = c->at->scratch.plane;
    for (int32_t i = 0; i < count; i++) {
        load(c, first + i * step);
        memcpy(plane + (size_t)i * (size_t)width, c->row + channel * width, (size_t)width * sizeof *plane);
    }
    return plane;
}

/* The same across COUNT rows, FIRST and every STEP-th behind it. */
static void blur_across(const Change *c, int32_t channel, const float *tap, int32_t taps, int32_t first,
                        int32_t step, int32_t count) {
    const int32_t width = c->layout->size[2];
    const float *before = load_plane(c, channel, first, step, count);
    for (int32_t i = 0; i < count; i++) {
        load(c, first + i * step);
        float *row = c->row + channel * width;
        memset(row, 0, (size_t)width * sizeof *row);
        for (int32_t t = 0; t < taps; t++) {
            const int32_t from = unet_pad_index(UNET_PAD_REFLECT, i + t - taps / 2, count);
            for (int32_t x = 0; x < width; x++) {
                row[x] += tap[t] * before[(size_t)from * (size_t)width + (size_t)x];
            }
        }
        store(c, first + i * step);
    }
}

/* A standard deviation for each axis. */
static void blur_channel(const Change *c, int32_t channel) {
    const int32_t *size = c->layout->size;
    const double *amount = c->transform->amount;
    for (int axis = 0; axis < 3; axis++) {
        const uint64_t index = OF_CHANNELS + (uint64_t)channel * A_CHANNEL + 1 + (uint64_t)axis;
        const double sigma = amount[0] + (amount[1] - amount[0]) * unet_random_uniform(&c->key, index);
        float tap[MOST_TAPS];
        const int32_t taps = sigma > 0 ? gaussian(sigma, tap) : 1;
        for (int32_t k = 0; k < size[1] && axis == 0 && taps > 1; k++) {
            blur_across(c, channel, tap, taps, k, size[1], size[0]);
        }
        for (int32_t k = 0; k < size[0] && axis == 1 && taps > 1; k++) {
            blur_across(c, channel, tap, taps, k * size[1], 1, size[1]);
        }
        for (int32_t line = 0; line < lines(c) && axis == 2 && taps > 1; line++) {
            load(c, line);
            blur_row(tap, taps, size[2], c->row + channel * size[2], c->at->scratch.plane);
            store(c, line);
        }
    }
}

/* ---- low resolution --------------------------------------------------------------------------- */

/* A point of an axis that goes down to FEWER points and back up lies between the points that two of the
 * fewer were taken from, PART of the way.  Down: the nearest, by the middles of the points; up: linear. */
typedef struct {
    int32_t from[2];
    float part;
} Between;

static Between between(int32_t i, int32_t count, int32_t fewer) {
    const double place = fmax((i + 0.5) * fewer / count - 0.5, 0);
    const int32_t low = (int32_t)place;
    Between at = {.part = (float)(place - low)};
    for (int k = 0; k < 2; k++) {
        const int64_t of = low + k < fewer ? low + k : fewer - 1;
        at.from[k] = (int32_t)((2 * of + 1) * count / (2 * fewer));
    }
    return at;
}

static void coarsen_row(int32_t width, int32_t fewer, float *row, float *before) {
    memcpy(before, row, (size_t)width * sizeof *row);
    for (int32_t x = 0; x < width; x++) {
        const Between at = between(x, width, fewer);
        row[x] = (1 - at.part) * before[at.from[0]] + at.part * before[at.from[1]];
    }
}

/* Across COUNT rows, FIRST and every STEP-th behind it. */
static void coarsen_across(const Change *c, int32_t channel, int32_t fewer, int32_t first, int32_t step,
                           int32_t count) {
    const int32_t width = c->layout->size[2];
    const float *before = load_plane(c, channel, first, step, count);
    for (int32_t i = 0; i < count; i++) {
        const Between at = between(i, count, fewer);
        const float *low = before + (size_t)at.from[0] * (size_t)width,
                    *high = before + (size_t)at.from[1] * (size_t)width;
        load(c, first + i * step);
        for (int32_t x = 0; x < width; x++) {
            c->row[channel * width + x] = (1 - at.part) * low[x] + at.part * high[x];
        }
        store(c, first + i * step);
    }
}

/* One factor for all axes. */
static void coarsen_channel(const Change *c, int32_t channel) {
    const int32_t *size = c->layout->size;
    const double *amount = c->transform->amount;
    const uint64_t index = OF_CHANNELS + (uint64_t)channel * A_CHANNEL + 1;
    const double factor = amount[0] + (amount[1] - amount[0]) * unet_random_uniform(&c->key, index);
    for (int axis = 0; axis < 3; axis++) {
        const double points = fmax(nearbyint(size[axis] * factor), 1);
        const int32_t fewer = (c->transform->axes >> axis & 1) != 0 ? (int32_t)points : size[axis];
        for (int32_t k = 0; k < size[1] && axis == 0 && fewer < size[0]; k++) {
            coarsen_across(c, channel, fewer, k, size[1], size[0]);
        }
        for (int32_t k = 0; k < size[0] && axis == 1 && fewer < size[1]; k++) {
            coarsen_across(c, channel, fewer, k * size[1], 1, size[1]);
        }
        for (int32_t line = 0; line < lines(c) && axis == 2 && fewer < size[2]; line++) {
            load(c, line);
            coarsen_row(size[2], fewer, c->row + channel * size[2], c->at->scratch.plane);
            store(c, line);
        }
    }
}

/* ---- what changes channels half of the time --------------------------------------------------- */

static void change_some(const Change *c, void (*change)(const Change *, int32_t)) {
    for (int32_t k = 0; k < c->layout->channels; k++) {
        if (unet_random_uniform(&c->key, OF_CHANNELS + (uint64_t)k * A_CHANNEL) < 0.5) {
            change(c, k);
        }
    }
}

bool volume_plan_scratch(UnetDataset *dataset) {
    ScratchPlan *plan = &dataset->scratch;
    const int32_t height = dataset->base[0], depth = dataset->base[2];
    bool mixes = false;
    for (int32_t i = 0; i < dataset->ntransform; i++) {
        const UnetTransformOp op = dataset->transform[i].op;
        mixes |= op == UNET_DO_BLUR || op == UNET_DO_LOW_RESOLUTION;
    }
    const size_t rows = dataset->volumes && mixes ? (size_t)(height > depth ? height : depth) : 0;
    return scratch_reserve(plan, &plan->plane, rows * (size_t)dataset->widest[1], sizeof(float));
}

/* ---- all of them ------------------------------------------------------------------------------ */

static void apply(const Change *c) {
    if (c->transform->op == UNET_DO_DISTORT) { /* each change has its probability */
        change_light(c);
        return;
    }
    if (unet_random_uniform(&c->key, FIRST_CHANCE) >= c->transform->p) {
        return;
    }
    if (c->transform->op == UNET_DO_NOISE) {
        add_noise(c);
    } else if (c->transform->op == UNET_DO_BLUR) {
        change_some(c, blur_channel);
    } else if (c->transform->op == UNET_DO_LOW_RESOLUTION) {
        change_some(c, coarsen_channel);
    }
    for (int32_t k = 0; k < c->layout->channels && c->transform->op == UNET_DO_GAMMA; k++) {
        change_gamma(c, k);
    }
}

void volume_change(const Reading *at) {
    const UnetDataset *dataset = at->dataset;
    for (int32_t s = 0; s < dataset->nsource && dataset->purpose == UNET_TRAINING; s++) {
        const int32_t input = dataset->source[s].input;
        if (input < 0 || at->inputs[input] == NULL || dataset->model->inputs[input].is_target ||
            dataset->model->inputs[input].kind != UNET_VOLUME) {
            continue;
        }
        for (int32_t i = 0; i < dataset->ntransform; i++) {
            Change c = {.at = at,
                        .transform = &dataset->transform[i],
                        .layout = &dataset->program->inputs[input],
                        .base = at->inputs[input],
                        .row = at->scratch.normal,
                        .key = at->key};
            c.key.stream = UNET_STREAM_TRANSFORM + (uint32_t)i;
            apply(&c);
        }
    }
}
