/* dataset_measure.c - the mean and deviation of the inputs that are normalised by measured numbers.
 *
 * All points of all files of the training samples count alike, before any transform; the sources
 * have the noise of an epoch of their own, so that the result depends on the data alone.  Sums are taken of
 * the distance to the first value, in double, and lose nothing that matters.
 */
#include "dataset_reading.h"
#include "size_math.h"

#include <math.h>
#include <stdlib.h>

/* Sums over the points of one input. */
typedef struct {
    double origin[UNET_MOST_NORMALIZED], sum[UNET_MOST_NORMALIZED], squares[UNET_MOST_NORMALIZED];
    int64_t count[UNET_MOST_NORMALIZED];
} Sums;

static bool is_measured(const UnetDataset *dataset, int32_t source) {
    const int32_t input = dataset->source[source].input;
    return input >= 0 && dataset->model->inputs[input].normalizing == UNET_NORMALIZED_AS_MEASURED;
}

static bool is_ct(const UnetDataset *dataset, int32_t source) {
    const int32_t input = dataset->source[source].input;
    return input >= 0 && dataset->model->inputs[input].normalizing == UNET_NORMALIZED_CT;
}

static void add_row(Sums *sums, const float *value, int32_t channels, size_t count) {
    for (int32_t c = 0; c < channels; c++) {
        const float *channel = value + (size_t)c * count;
        for (size_t i = 0; i < count; i++) {
            if (isnan(channel[i])) {
                continue; /* a missing number has no value */
            }
            if (sums->count[c]++ == 0) {
                sums->origin[c] = (double)channel[i];
            }
            const double away = (double)channel[i] - sums->origin[c];
            sums->sum[c] += away;
            sums->squares[c] += away * away;
        }
    }
}

/* A channel of one value only has the deviation 1: there is nothing to scale. */
static void finish(const Sums *sums, int32_t channels, UnetNormal *normal) {
    for (int32_t c = 0; c < channels; c++) {
        const double count = sums->count[c] > 0 ? (double)sums->count[c] : 1, mean = sums->sum[c] / count;
        const double variance = sums->squares[c] / count - mean * mean;
        normal->mean[c] = sums->origin[c] + mean;
        normal->deviation[c] = variance > 1e-14 ? sqrt(variance) : 1;
    }
}

/* Plans whole rows of the largest files instead of rows of a window. */
static bool plan_whole(UnetDataset *whole) {
    whole->warps = false;
    for (int32_t i = 0; i < whole->nsample; i++) {
        for (int axis = 0; axis < 2; axis++) {
            const int32_t size = whole->sample[i].size[axis];
            for (int32_t s = 0; s < whole->nsource; s++) {
                size_t points;
                if (!checked_mul((size_t)size, (size_t)whole->scale[s].multiple, &points) ||
                    points > INT32_MAX) {
                    return false;
                }
                whole->widest[axis] =
                    (int32_t)points > whole->widest[axis] ? (int32_t)points : whole->widest[axis];
            }
        }
    }
    return dataset_plan_scratch(whole);
}

static UnetStatus measure_slice(Reading *at, int32_t index, Sums *sums) {
    UnetStatus status = UNET_OK;
    for (at->row = 0; at->row < at->size[0] && status == UNET_OK; at->row++) {
        for (int32_t s = 0; s <= index && status == UNET_OK; s++) {
            status = reading_reads(at, s) ? reading_evaluate(at, s) : UNET_OK;
        }
        if (status == UNET_OK) {
            add_row(sums, at->scratch.value + (size_t)index * at->scratch.operand_row,
                    at->dataset->source[index].channels, (size_t)at->size[1]);
        }
    }
    return status;
}

/* All rows of the files of a sample that are read together with source INDEX. */
static UnetStatus measure_pass(Reading *at, int32_t index, Sums *sums) {
    at->multiple = at->dataset->scale[index].multiple;
    for (int axis = 0; axis < 2; axis++) {
        at->size[axis] = at->sample->size[axis] * at->multiple;
        at->begin[axis] = 0;
        at->end[axis] = at->size[axis];
    }
    UnetStatus status = reading_open(at);
    for (at->slice = 0; at->slice < at->sample->size[2] && status == UNET_OK; at->slice++) {
        status = measure_slice(at, index, sums);
    }
    reading_close(at);
    return status;
}

static UnetStatus measure_source(const UnetDataset *whole, int32_t index, char *scratch, Sums *sums,
                                 UnetError *error) {
    UnetStatus status = UNET_OK;
    for (int32_t i = 0; i < whole->nsample && status == UNET_OK; i++) {
        const Sample *sample = &whole->sample[i];
        Reading at = {.dataset = whole,
                      .sample = sample,
                      .scratch = scratch_at(&whole->scratch, scratch),
                      .key = {.epoch = UNET_EVALUATION_EPOCH, .sample = (uint32_t)sample->stem},
                      .error = error};
        status = measure_pass(&at, index, sums);
    }
    return status;
}

UnetStatus unet_dataset_measure(const UnetDataset *dataset, UnetNormal *normal, UnetError *error) {
    UnetDataset whole = *dataset;
    UnetStatus status = UNET_OK;
    if (!plan_whole(&whole)) {
        return unet_fail(error, UNET_TOO_SMALL, "the files are too large to be measured");
    }
    char *scratch = aligned_alloc(64, (whole.scratch.bytes + 63) / 64 * 64);
    if (scratch == NULL) {
        return unet_fail(error, UNET_TOO_SMALL, "not enough memory to measure the data");
    }
    for (int32_t s = 0; s < whole.nsource && status == UNET_OK; s++) {
        if (is_measured(&whole, s)) {
            Sums sums = {.count = {0}};
            status = measure_source(&whole, s, scratch, &sums, error);
            finish(&sums, whole.source[s].channels, &normal[whole.source[s].input]);
        } else if (is_ct(&whole, s)) {
            status = dataset_measure_foreground(dataset, s, &normal[whole.source[s].input], error);
        }
    }
    free(scratch);
    return status;
}
