/* labels.c - counts the labels of a batch, before its step. */
#include "unet/model.h"

static int32_t least(int32_t a, int32_t b) {
    return a < b ? a : b;
}

/* Points of each class in the valid part of sample N. */
static void count_sample(const UnetLabelCount *count, const UnetStep *step, int32_t n,
                         int64_t points[UNET_IGNORED + 1]) {
    const UnetLayout *l = &count->layout;
    const uint8_t *labels = (const uint8_t *)step->inputs[count->input] + l->origin + n * l->sample;
    const int32_t *valid = step->valid != NULL ? step->valid[n] : l->size;
    for (int32_t d = 0; d < least(valid[0], l->size[0]); d++)
        for (int32_t h = 0; h < least(valid[1], l->size[1]); h++)
            for (int32_t w = 0; w < least(valid[2], l->size[2]); w++)
                points[labels[d * l->depth + h * l->row + w * l->block]]++;
}

void unet_count_labels(const UnetLabelCount *count, int32_t ncount, const UnetStep *step, double *sum) {
    const int32_t last = step->last > 0 ? step->last : step->n;
    for (int32_t i = 0; i < ncount; i++) {
        int64_t points[UNET_IGNORED + 1] = {0};
        for (int32_t n = step->first; n < last; n++)
            count_sample(&count[i], step, n, points);
        if (step->team != NULL)
            step->team->add(step->team, points, count[i].classes);
        sum[i] = 0;
        for (int32_t k = 0; k < count[i].classes; k++)
            sum[i] += count[i].weight[k] * (double)points[k];
    }
}
