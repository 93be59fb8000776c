/* class_metrics.c - metrics of classes, from how often each true class met each predicted one.
 *
 * The counts are of all points that were measured, whatever the batches, so a metric is one of the whole
 * data set.  A class that stands neither in the labels nor in a prediction has no value, and counts in no
 * mean.
 */
#include "unet/class_metrics.h"

#include <math.h>
#include <string.h>

/* The points of one class where it is right; where it is true; where it is predicted. */
typedef struct {
    double both, truly, predicted;
} OfClass;

static OfClass of_class(int32_t classes, const double *pairs, int32_t k) {
    OfClass of = {.both = pairs[k * classes + k]};
    for (int32_t i = 0; i < classes; i++) {
        of.truly += pairs[k * classes + i];
        of.predicted += pairs[i * classes + k];
    }
    return of;
}

static double ratio(double part, double whole) {
    return whole > 0 ? part / whole : NAN;
}

static double accuracy(int32_t classes, const double *pairs) {
    double right = 0, all = 0;
    for (int32_t k = 0; k < classes; k++) {
        const OfClass of = of_class(classes, pairs, k);
        right += of.both;
        all += of.truly;
    }
    return ratio(right, all);
}

static double iou(int32_t classes, const double *pairs, int32_t k) {
    const OfClass of = of_class(classes, pairs, k);
    return ratio(of.both, of.truly + of.predicted - of.both);
}

static double mean_iou(int32_t classes, const double *pairs) {
    double sum = 0, count = 0;
    for (int32_t k = 0; k < classes; k++) {
        const double value = iou(classes, pairs, k);
        sum += isnan(value) ? 0 : value;
        count += !isnan(value);
    }
    return ratio(sum, count);
}

double unet_class_metric(const UnetResult *result, const double *pairs) {
    const OfClass of = of_class(result->classes, pairs, result->of_class);
    if (strcmp(result->metric, "accuracy") == 0)
        return accuracy(result->classes, pairs);
    if (strcmp(result->metric, "miou") == 0)
        return mean_iou(result->classes, pairs);
    if (strcmp(result->metric, "iou") == 0)
        return iou(result->classes, pairs, result->of_class);
    if (strcmp(result->metric, "dice") == 0)
        return ratio(2 * of.both, of.truly + of.predicted);
    return ratio(of.both, strcmp(result->metric, "precision") == 0 ? of.predicted : of.truly);
}
