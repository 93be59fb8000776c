/* dataset_fingerprint.c - what `normalize "ct"` measures: of all voxels of the training volumes that are of
 * a class above 0, the percentiles 0.5 and 99.5, mean and deviation of each channel.
 *
 * All voxels count, where nnU-Net draws a share of them.  A percentile lies between two numbers of certain
 * ranks, which are found exactly: numbers are counted by the upper half of their bits, and numbers that
 * share it with a wanted one by the lower half, too, so two passes do without a sorted copy.
 */
#include "dataset_parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { HALF = 1 << 16, RANKS = 4 };

typedef struct {
    int64_t high[HALF];       /* numbers of each upper half */
    int64_t low[RANKS][HALF]; /* for the upper half of each rank, a count of each lower half */
    int32_t wanted[RANKS];    /* upper halves; -1: none */
    int64_t count;
    double origin, sum, squares; /* of distances to the first number */
} Fingerprint;

/* Bits of a float that are ordered as floats are. */
static uint32_t ordered(float number) {
    uint32_t bits;
    memcpy(&bits, &number, sizeof bits);
    return (bits >> 31) != 0 ? ~bits : bits | 0x80000000u;
}

static float unordered(uint32_t bits) {
    float number;
    bits = (bits >> 31) != 0 ? bits & 0x7fffffffu : ~bits;
    memcpy(&number, &bits, sizeof number);
    return number;
}

static void count_high(Fingerprint *of, float number) {
    if (of->count == 0) {
        of->origin = (double)number;
    }
    const double away = (double)number - of->origin;
    of->high[ordered(number) >> 16]++;
    of->sum += away;
    of->squares += away * away;
    of->count++;
}

static void count_low(Fingerprint *of, float number) {
    const uint32_t bits = ordered(number);
    for (int rank = 0; rank < RANKS; rank++) {
        if (of->wanted[rank] == (int32_t)(bits >> 16)) {
            of->low[rank][bits & (HALF - 1)]++;
        }
    }
}

/* Calls COUNT for each voxel of SERIES of a sample that is of a class above 0; LABELS: their series. */
static UnetStatus visit(const UnetDataset *dataset, const Sample *sample, int32_t series, int32_t labels,
                        float *row, void (*count)(Fingerprint *, float), Fingerprint *of,
                        UnetError *error) {
    const int32_t *size = sample->volume[series].info.size;
    float *class = row + size[2];
    UnetStatus status = UNET_OK;
    for (int32_t line = 0; line < size[0] * size[1] && status == UNET_OK; line++) {
        unet_voxels_row(&sample->volume[series], line / size[1], line % size[1], 0, size[2], row);
        unet_voxels_row(&sample->volume[labels], line / size[1], line % size[1], 0, size[2], class);
        status = dataset_to_classes(dataset, sample, labels, class, size[2], error);
        for (int32_t x = 0; x < size[2] && status == UNET_OK; x++) {
            if (class[x] > 0 && class[x] < UNET_IGNORED) {
                count(of, row[x]);
            }
        }
    }
    return status;
}

static UnetStatus visit_all(const UnetDataset *dataset, int32_t series, int32_t labels,
                            void (*count)(Fingerprint *, float), Fingerprint *of, UnetError *error) {
    int32_t widest = 1;
    for (int32_t i = 0; i < dataset->nsample; i++) {
        widest = dataset->sample[i].size[1] > widest ? dataset->sample[i].size[1] : widest;
    }
    float *row = malloc(2 * (size_t)widest * sizeof *row);
    if (row == NULL)
        return unet_fail(error, UNET_TOO_SMALL, "not enough memory to measure the data");
    UnetStatus status = UNET_OK;
    for (int32_t i = 0; i < dataset->nsample && status == UNET_OK; i++) {
        status = visit(dataset, &dataset->sample[i], series, labels, row, count, of, error);
    }
    free(row);
    return status;
}

/* The part of COUNTS in which number RANK lies, which counts from the first of that part afterwards. */
static int32_t find(const int64_t *counts, int64_t *rank) {
    int32_t i = 0;
    while (i < HALF - 1 && *rank >= counts[i]) {
        *rank -= counts[i++];
    }
    return i;
}

/* Ranks below and above both percentiles, and how far these lie between them. */
static void choose_ranks(int64_t count, int64_t rank[RANKS], double between[2]) {
    static const double percentile[2] = {0.5, 99.5};
    for (int i = 0; i < 2; i++) {
        const double place = percentile[i] / 100 * (double)(count - 1);
        rank[2 * i] = (int64_t)floor(place);
        rank[2 * i + 1] = rank[2 * i] + 1 < count ? rank[2 * i] + 1 : rank[2 * i];
        between[i] = place - floor(place);
    }
}

static UnetStatus measure_channel(const UnetDataset *dataset, int32_t series, int32_t labels,
                                  Fingerprint *of, UnetNormal *normal, int32_t c, UnetError *error) {
    int64_t rank[RANKS];
    double between[2], number[RANKS];
    UnetStatus status = visit_all(dataset, series, labels, count_high, of, error);
    if (status != UNET_OK) {
        return status;
    }
    if (of->count == 0) {
        return unet_fail(error, UNET_IO,
                         "`normalize \"ct\"` measures voxels of a class above 0, and the training data has "
                         "none");
    }
    choose_ranks(of->count, rank, between);
    for (int i = 0; i < RANKS; i++) {
        of->wanted[i] = find(of->high, &rank[i]);
    }
    status = visit_all(dataset, series, labels, count_low, of, error);
    for (int i = 0; i < RANKS; i++) {
        const uint32_t low = (uint32_t)find(of->low[i], &rank[i]);
        number[i] = (double)unordered((uint32_t)of->wanted[i] << 16 | low);
    }
    const double mean = of->sum / (double)of->count;
    const double variance = of->squares / (double)of->count - mean * mean;
    normal->mean[c] = of->origin + mean;
    normal->deviation[c] = fmax(variance > 0 ? sqrt(variance) : 0, 1e-8);
    normal->low[c] = number[0] + between[0] * (number[1] - number[0]);
    normal->high[c] = number[2] + between[1] * (number[3] - number[2]);
    return status;
}

UnetStatus dataset_measure_foreground(const UnetDataset *dataset, int32_t source, UnetNormal *normal,
                                      UnetError *error) {
    const int32_t first = dataset->scale[source].first_series;
    const int32_t labels = dataset_series_of_labels(dataset);
    if (labels < 0 || !dataset->volumes) {
        return unet_fail(error, UNET_BUG, "there are no volumes of labels to measure by");
    }
    *normal = (UnetNormal){.clips = true};
    for (int32_t c = 0; c < dataset->source[source].channels; c++) {
        Fingerprint *of = calloc(1, sizeof *of);
        if (of == NULL) {
            return unet_fail(error, UNET_TOO_SMALL, "not enough memory to measure the data");
        }
        UnetStatus status = measure_channel(dataset, first + c, labels, of, normal, c, error);
        free(of);
        if (status != UNET_OK) {
            return status;
        }
    }
    return UNET_OK;
}
