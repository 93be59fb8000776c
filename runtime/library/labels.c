/* labels.c - counts the labels of a batch, before its step. */
#include "unet/model.h"

#include <string.h>

static int32_t least(int32_t a, int32_t b) {
    return a < b ? a : b;
}

/* Labels of a row that are STEP bytes apart.  Neighbours are mostly of one class, so eight are looked at
 * together. */
static void count_row(const uint8_t *labels, int32_t count, int64_t step,
                      int64_t points[UNET_IGNORED + 1]) {
    enum { TOGETHER = sizeof(uint64_t) };
    int32_t w = 0;
    for (; step == 1 && w + TOGETHER <= count; w += TOGETHER) {
        uint64_t eight;
        memcpy(&eight, labels + w, sizeof eight);
        if (eight == labels[w] * UINT64_C(0x0101010101010101))
            points[labels[w]] += TOGETHER;
        else
            for (int k = 0; k < TOGETHER; k++)
                points[labels[w + k]]++;
    }
    for (; w < count; w++)
        points[labels[w * step]]++;
}

void unet_count_points(const UnetLayout *l, const void *input, int32_t n, const int32_t valid[3],
                       int64_t points[UNET_IGNORED + 1]) {
    const uint8_t *labels = (const uint8_t *)input + l->origin + n * l->sample;
    for (int32_t d = 0; d < least(valid[0], l->size[0]); d++)
        for (int32_t h = 0; h < least(valid[1], l->size[1]); h++)
            count_row(labels + d * l->depth + h * l->row, least(valid[2], l->size[2]), l->block, points);
}

static bool is_class(double number, int32_t classes) {
    return number >= -0.5 && number < (double)classes - 0.5;
}

/* Returns how many numbers of a row round to a class; they are so many elements apart. */
static int64_t count_numbers(const UnetLabelCount *count, const void *input, int64_t at, int32_t width) {
    int64_t found = 0;
    for (int32_t w = 0; w < width; w++, at += count->layout.block)
        found += is_class(count->number_bytes == sizeof(double) ? ((const double *)input)[at]
                                                                : ((const float *)input)[at],
                          count->classes);
    return found;
}

/* Returns the sum of COUNT, whose input has numbers, over the samples from STEP->first to LAST. */
static double sum_numbers(const UnetLabelCount *count, const UnetStep *step, int32_t last) {
    const UnetLayout *l = &count->layout;
    int64_t points = 0;
    for (int32_t n = step->first; n < last; n++) {
        const int32_t *valid = step->valid != NULL ? step->valid[n] : l->size;
        for (int32_t d = 0; d < least(valid[0], l->size[0]); d++)
            for (int32_t h = 0; h < least(valid[1], l->size[1]); h++)
                points += count_numbers(count, step->inputs[count->input],
                                        l->origin + n * l->sample + d * l->depth + h * l->row,
                                        least(valid[2], l->size[2]));
    }
    if (step->team != NULL)
        step->team->add(step->team, &points, 1);
    return (double)points;
}

void unet_count_labels(const UnetLabelCount *count, int32_t ncount, const UnetStep *step, double *sum) {
    const int32_t last = step->last > 0 ? step->last : step->n;
    for (int32_t i = 0; i < ncount; i++) {
        if (count[i].weight == NULL) {
            sum[i] = sum_numbers(&count[i], step, last);
            continue;
        }
        int64_t points[UNET_IGNORED + 1] = {0};
        for (int32_t n = step->first; n < last; n++)
            unet_count_points(&count[i].layout, step->inputs[count[i].input], n,
                              step->valid != NULL ? step->valid[n] : count[i].layout.size, points);
        if (step->team != NULL)
            step->team->add(step->team, points, count[i].classes);
        sum[i] = 0;
        for (int32_t k = 0; k < count[i].classes; k++)
            sum[i] += count[i].weight[k] * (double)points[k];
    }
}
