/* labels.c - what losses over classes share: softmax of the logits of a point, in double, and their sums.
 */
#include "prologue.c"

/* BEGIN */
/* ---- losses over classes -------------------------------------------------------------------------- */

/* Logits of `channels` channels, compared with labels, in so many classes; for two classes logits may have
 * one channel, of class 1: then class 0 has the logit 0. `ignore` is a class that counts nowhere, or
 * -1. */
typedef struct {
    const stored *x;
    const uint8_t *t;
    const Layout *x_layout, *t_layout;
    int channels, classes, ignore, size[3];
    const double *class_weight; /* NULL: all weigh 1 */
    double smoothing;           /* the share of a point's weight that all classes have alike */
    double gamma;    /* points count less by this power of what their class lacks of 1; 0: alike */
    const void *map; /* of one channel: what each point weighs besides; NULL: 1 */
    const Layout *map_layout;
    int map_staged;
} Classified;

/* The class of a point, or -1: it counts nowhere. */
UNUSED static int label_at(Classified by, int n, int d, int h, int w) {
    const int label = by.t[element(by.t_layout, n, 0, d, h, w)];
    return label < by.classes && label != by.ignore ? label : -1;
}

UNUSED static double logit_at(Classified by, int n, int k, int d, int h, int w) {
    if (by.channels == 1 && k == 0)
        return 0;
    return (double)load(by.x, element(by.x_layout, n, by.channels == 1 ? 0 : k, d, h, w));
}

/* The logarithm of the sum of the exponentials of all logits. */
UNUSED static double level_at(Classified by, int n, int d, int h, int w) {
    int most = 0;
    double rest = 0;
    for (int k = 1; k < by.classes; k++)
        if (logit_at(by, n, k, d, h, w) > logit_at(by, n, most, d, h, w))
            most = k;
    for (int k = 0; k < by.classes; k++)
        rest += k == most ? 0 : exp(logit_at(by, n, k, d, h, w) - logit_at(by, n, most, d, h, w));
    return log1p(rest) + logit_at(by, n, most, d, h, w);
}

UNUSED static double weight_of(Classified by, int k) {
    return by.class_weight == NULL ? 1 : by.class_weight[k];
}

UNUSED static double power_of(double base, double exponent) {
    return exponent == 0 ? 1 : exponent == 1 ? base : exponent == 2 ? base * base : pow(base, exponent);
}

/* The weight in a focal loss of a point whose -log(softmax) is `loss`, and the slope of the product of both
 * by `loss`. */
UNUSED static double focus_of(double loss, double gamma) {
    return power_of(-expm1(-loss), gamma);
}

UNUSED static double focus_slope(double loss, double gamma) {
    const double missing = -expm1(-loss);
    if (gamma == 0)
        return 1;
    return missing > 0 ? power_of(missing, gamma - 1) * (missing + gamma * loss * exp(-loss)) : 0;
}

/* The weight of the point in the map. */
UNUSED static double mapped(Classified by, int n, int d, int h, int w) {
    return by.map == NULL
               ? 1
               : (double)load_either(by.map_staged, by.map, element(by.map_layout, n, 0, d, h, w));
}

UNUSED static double class_term(Classified by, int n, int d, int h, int w) {
    const int label = label_at(by, n, d, h, w);
    if (label < 0)
        return 0;
    const double level = level_at(by, n, d, h, w), loss = level - logit_at(by, n, label, d, h, w);
    double sum = (1 - by.smoothing) * weight_of(by, label) * focus_of(loss, by.gamma) * loss;
    for (int k = 0; by.smoothing > 0 && k < by.classes; k++)
        sum += by.smoothing / by.classes * weight_of(by, k) * (level - logit_at(by, n, k, d, h, w));
    return sum * mapped(by, n, d, h, w);
}

/* The gradient of a point by logit K. */
UNUSED static double class_slope(Classified by, int n, int k, int d, int h, int w) {
    const int label = label_at(by, n, d, h, w);
    if (label < 0)
        return 0;
    const double level = level_at(by, n, d, h, w), softmax = exp(logit_at(by, n, k, d, h, w) - level);
    const double focus = focus_slope(level - logit_at(by, n, label, d, h, w), by.gamma);
    const double own = (1 - by.smoothing) * weight_of(by, label) * focus, alike = by.smoothing / by.classes;
    double all = 0;
    for (int i = 0; i < by.classes; i++)
        all += weight_of(by, i);
    return mapped(by, n, d, h, w) *
           ((own + alike * all) * softmax - (k == label ? own : 0) - alike * weight_of(by, k));
}

/* The sum of each row of a range, as far as it is valid, into `scratch`, which has all rows of all samples.
 */
UNUSED static void classes_sum(int n, Rows rows, double *scratch, Classified by,
                               const int32_t (*valid)[3]) {
#pragma omp for schedule(static)
    for (int i = 0; i < n; i++)
        for (int r = rows.begin; r < rows.end; r++) {
            const int32_t *size = valid ? valid[i] : by.size;
            const int d = r / by.size[1], h = r % by.size[1];
            double sum = 0;
            for (int w = 0; w < size[2] && d < size[0] && h < size[1]; w++)
                sum += class_term(by, i, d, h, w);
            scratch[(long)i * by.size[0] * by.size[1] + r] = sum;
        }
}

/* The result, from these, once the last rows are there: so that divided by the samples it is their mean
 * over what was counted. */
UNUSED static void classes_mean(int n, int total, Rows rows, double *result, const double *scratch,
                                Classified by, double counted, int accumulate) {
    const int all = by.size[0] * by.size[1];
    if (rows.begin == rows.end || rows.end < all)
        return;
#pragma omp single
    {
        if (!accumulate)
            *result = 0;
        for (int i = 0; i < n; i++) {
            double sum = 0;
            for (int r = 0; r < all; r++)
                sum += scratch[(long)i * all + r];
            *result += counted > 0 ? sum * (total / counted) : 0;
        }
    }
}

/* The gradients of a range of rows; the sum that was counted may be 0: then nothing has a slope. */
UNUSED static void class_slopes_store(int n, Rows rows, stored *dx, const Layout *layout, Classified by,
                                      double weight, double counted) {
    const double factor = counted > 0 ? weight / counted : 0;
#pragma omp for collapse(2) schedule(static)
    for (int i = 0; i < n; i++)
        for (int c = 0; c < stored_channels(layout); c++)
            for (int r = rows.begin; r < rows.end; r++)
                for (int w = 0; w < by.size[2]; w++) {
                    const int d = r / by.size[1], h = r % by.size[1], k = by.channels == 1 ? 1 : c;
                    const double slope = c < by.channels ? class_slope(by, i, k, d, h, w) : 0;
                    store(dx, element(layout, i, c, d, h, w), (real)(factor * slope));
                }
}

/* ---- overlaps ---- */

/* Sums over the points that count, for each class: softmax at points of the class; softmax; the points. */
typedef struct {
    double both, predicted, truly;
} Overlap;

/* A loss divides these sums: for each class from `first` on, or for all of them together, and for the
 * batch, or for each sample; the loss is 1 less the mean of the quotients.  Squared: `predicted` sums the
 * squares of softmax. */
typedef struct {
    double over_both, under_both, under_predicted, under_truly, smooth, epsilon;
    int first, squared, joint, batch;
    long sample; /* from the sums of a sample to the sums of the next, in doubles */
} Ratio;

/* The quotient of class k: its numerator over its denominator. */
UNUSED static double overlap_under(Overlap o, Ratio ratio) {
    return ratio.under_both * o.both + ratio.under_predicted * o.predicted + ratio.under_truly * o.truly +
           ratio.epsilon;
}

UNUSED static double overlap_ratio(Overlap o, Ratio ratio) {
    const double under = overlap_under(o, ratio);
    return under > 0 ? (ratio.over_both * o.both + ratio.smooth) / under : 0;
}

/* The sums of the batch, or of a sample. */
UNUSED static const Overlap *overlaps_at(const double *sums, int sample, Ratio ratio) {
    return (const void *)(sums + (ratio.batch ? 0 : sample * ratio.sample));
}

UNUSED static double softmax_at(Classified by, int n, int k, int d, int h, int w) {
    return exp(logit_at(by, n, k, d, h, w) - level_at(by, n, d, h, w));
}

UNUSED static Overlap overlap_sum(Overlap a, Overlap b) {
    return (Overlap){a.both + b.both, a.predicted + b.predicted, a.truly + b.truly};
}

/* The sums of class K of row R of a sample. */
UNUSED static Overlap overlap_of_row(int k, int n, int r, Classified by, const int32_t *size, int squared) {
    const int d = r / by.size[1], h = r % by.size[1];
    Overlap sum = {0, 0, 0};
    for (int w = 0; w < size[2] && d < size[0] && h < size[1]; w++) {
        const int label = label_at(by, n, d, h, w);
        const double share = label < 0 ? 0 : softmax_at(by, n, k, d, h, w);
        sum.both += label == k ? share : 0;
        sum.predicted += squared ? share * share : share;
        sum.truly += label == k;
    }
    return sum;
}

/* The sums of all classes that count together. */
UNUSED static Overlap overlap_joint(const Overlap *sums, int first, int classes) {
    Overlap all = {0, 0, 0};
    for (int k = first; k < classes; k++)
        all = overlap_sum(all, sums[k]);
    return all;
}

UNUSED static double overlap_mean(const Overlap *sums, int classes, Ratio ratio) {
    double mean = 0;
    if (ratio.joint)
        return overlap_ratio(overlap_joint(sums, ratio.first, classes), ratio);
    for (int k = ratio.first; k < classes; k++)
        mean += overlap_ratio(sums[k], ratio) / (classes - ratio.first);
    return mean;
}

/* The sums of a range of rows, into SCRATCH, which has all rows of all samples; the loss once the last are
 * there. */
UNUSED static void overlap_loss(int n, Rows rows, double *result, double *sums, Overlap *scratch,
                                Classified by, const int32_t (*valid)[3], Ratio ratio, int accumulate) {
    const int all = by.size[0] * by.size[1];
#pragma omp single
    for (int i = 0; i < n; i++)
        for (int r = rows.begin; r < rows.end; r++)
            for (int k = 0; k < by.classes; k++)
                scratch[((long)i * all + r) * by.classes + k] =
                    overlap_of_row(k, i, r, by, valid ? valid[i] : by.size, ratio.squared);
    if (rows.begin == rows.end || rows.end < all)
        return;
#pragma omp single
    {
        if (!accumulate)
            *result = 0;
        for (int i = 0; i < n; i++) {
            Overlap *sum = (void *)(sums + (ratio.batch ? 0 : i * ratio.sample));
            for (int k = 0; k < by.classes; k++) {
                if (!ratio.batch || i == 0)
                    sum[k] = (Overlap){0, 0, 0};
                for (int r = 0; r < all; r++)
                    sum[k] = overlap_sum(sum[k], scratch[((long)i * all + r) * by.classes + k]);
            }
            if (!ratio.batch || i == n - 1)
                *result += (ratio.batch ? n : 1) * (1 - overlap_mean(sum, by.classes, ratio));
        }
    }
}

/* The slope of the loss by softmax of class K, which is SHARE, at a point of class LABEL. */
UNUSED static double overlap_slope(const Overlap *sums, int k, double share, int label, int classes,
                                   Ratio ratio) {
    const Overlap o = ratio.joint ? overlap_joint(sums, ratio.first, classes) : sums[k];
    const double under = overlap_under(o, ratio), quotient = overlap_ratio(o, ratio);
    const double by_under =
        ratio.under_predicted * (ratio.squared ? 2 * share : 1) + (label == k ? ratio.under_both : 0);
    if (k < ratio.first || under <= 0)
        return 0;
    return (quotient * by_under - (label == k ? ratio.over_both : 0)) /
           (under * (ratio.joint ? 1 : classes - ratio.first));
}

/* `weight`: of `total` samples, of whose batches this is one. */
UNUSED static void overlap_slopes_store(int n, int total, Rows rows, stored *dx, const Layout *layout,
                                        Classified by, const double *sums, Ratio ratio, double weight) {
    const double factor = ratio.batch ? weight * ((double)n / total) : weight / total;
#pragma omp for collapse(2) schedule(static)
    for (int i = 0; i < n; i++)
        for (int c = 0; c < stored_channels(layout); c++)
            for (int r = rows.begin; r < rows.end; r++)
                for (int w = 0; w < by.size[2]; w++) {
                    const int d = r / by.size[1], h = r % by.size[1], k = by.channels == 1 ? 1 : c;
                    const int label = label_at(by, i, d, h, w);
                    double slope = 0;
                    for (int j = 0; j < by.classes && label >= 0 && c < by.channels; j++) {
                        const double share = softmax_at(by, i, j, d, h, w);
                        slope +=
                            overlap_slope(overlaps_at(sums, i, ratio), j, share, label, by.classes, ratio) *
                            share * ((j == k) - softmax_at(by, i, k, d, h, w));
                    }
                    store(dx, element(layout, i, c, d, h, w), (real)(factor * slope));
                }
}

/* ---- the hardest points ---- */

/* Which points count: those whose class has less than `threshold` of softmax, but at least `least`, or, if
 * that is -1, the share `share` of all points, those with the least. */
typedef struct {
    double threshold, share, least;
} Hard;

UNUSED static double kept_at_least(Hard hard, double all) {
    return hard.least >= 0 ? hard.least : floor(hard.share * all + 0.5);
}

/* Points count whose term -log(softmax) is above this limit, of `counted` points; `bound` is the term of
 * the last one that is wanted in any case. */
UNUSED static double hard_limit(Hard hard, double counted, double wanted, double bound) {
    const double by_threshold = -log(hard.threshold);
    return wanted >= counted ? -0.5 : wanted > 0 && bound < by_threshold ? bound : by_threshold;
}

/* The RANK-th largest of N * POINTS terms from 0 on, bit by bit; terms below 0 are of points that do not
 * count. */
UNUSED static double largest_term(const real *terms, int n, long points, long sample, double rank) {
    uint64_t found = 0;
    double value;
    for (int bit = 62; bit >= 0; bit--) {
        const uint64_t tried = found | (uint64_t)1 << bit;
        double count = 0;
        for (int i = 0; i < n; i++)
            for (long k = 0; k < points; k++) {
                uint64_t key;
                value = (double)terms[i * sample + k];
                memcpy(&key, &value, sizeof key);
                count += !(value < 0) && (key & UINT64_MAX >> 1) >= tried;
            }
        if (count >= rank)
            found = tried;
    }
    memcpy(&value, &found, sizeof value);
    return value;
}

/* The terms of a range of rows, -1 where a point does not count. */
UNUSED static void hard_terms(int n, Rows rows, real *terms, long sample, Classified by,
                              const int32_t (*valid)[3]) {
#pragma omp for collapse(2) schedule(static)
    for (int i = 0; i < n; i++)
        for (int r = rows.begin; r < rows.end; r++)
            for (int w = 0; w < by.size[2]; w++) {
                const int32_t *size = valid ? valid[i] : by.size;
                const int d = r / by.size[1], h = r % by.size[1];
                const int counts =
                    d < size[0] && h < size[1] && w < size[2] && label_at(by, i, d, h, w) >= 0;
                terms[i * sample + (long)r * by.size[2] + w] =
                    counts ? (real)class_term(by, i, d, h, w) : -1;
            }
}

/* Once the last are there: the mean of the terms of points that count; of no points 0. BOUNDS: the limit,
 * and what the sum is divided by. */
UNUSED static void hard_loss(int n, Rows rows, double *result, double *bounds, const real *terms,
                             long sample, Classified by, const int32_t (*valid)[3], Hard hard,
                             int accumulate) {
    const long points = (long)by.size[0] * by.size[1] * by.size[2];
    if (rows.begin == rows.end || rows.end < by.size[0] * by.size[1])
        return;
#pragma omp single
    {
        double all = 0, counted = 0, sum = 0, kept = 0;
        for (int i = 0; i < n; i++) {
            const int32_t *size = valid ? valid[i] : by.size;
            all += (double)size[0] * size[1] * size[2];
            for (long k = 0; k < points; k++)
                counted += !((double)terms[i * sample + k] < 0);
        }
        const double wanted = kept_at_least(hard, all);
        bounds[0] =
            hard_limit(hard, counted, wanted,
                       wanted > 0 && wanted < counted ? largest_term(terms, n, points, sample, wanted) : 0);
        for (int i = 0; i < n; i++)
            for (long k = 0; k < points; k++)
                if (!((double)terms[i * sample + k] <= bounds[0])) {
                    sum += (double)terms[i * sample + k];
                    kept++;
                }
        bounds[1] = kept + 1e-5 * all;
        *result = (accumulate ? *result : 0) + n * (sum / bounds[1]);
    }
}

UNUSED static void hard_slopes_store(int n, int total, Rows rows, stored *dx, const Layout *layout,
                                     Classified by, const double *bounds, const real *terms, long sample,
                                     double weight) {
#pragma omp for collapse(2) schedule(static)
    for (int i = 0; i < n; i++)
        for (int c = 0; c < stored_channels(layout); c++)
            for (int r = rows.begin; r < rows.end; r++)
                for (int w = 0; w < by.size[2]; w++) {
                    const int d = r / by.size[1], h = r % by.size[1], k = by.channels == 1 ? 1 : c;
                    const int kept = !((double)terms[i * sample + (long)r * by.size[2] + w] <= bounds[0]);
                    const double slope = kept && c < by.channels ? class_slope(by, i, k, d, h, w) : 0;
                    store(dx, element(layout, i, c, d, h, w),
                          (real)(weight * ((double)n / total) / bounds[1] * slope));
                }
}

/* ---- Lovasz extensions ---- */

/* The Jaccard loss of a class of `truly` points, when the first `taken` points are wrong, and `hits` of
 * them are of the class. */
UNUSED static double jaccard_of(double truly, double taken, double hits) {
    return taken > 0 ? 1 - (truly - hits) / (truly + taken - hits) : 0;
}

/* How wrong a point is of class k, where its share or, of one channel, its logit is given. */
UNUSED static double error_of(double given, int is_class, int one) {
    const double error = one ? 1 - (is_class ? given : -given) : is_class ? 1 - given : given;
    return error > 0 ? error : 0;
}

/* The slope of the error by the logit or softmax. */
UNUSED static double error_slope(double error, int is_class, int one) {
    return one && !(error > 0) ? 0 : is_class ? -1 : 1;
}

/* A point of all, class K of it: its label, and its logit or softmax. */
UNUSED static int label_of(Classified by, const int32_t *size, int n, long k) {
    const int w = (int)(k % by.size[2]), h = (int)(k / by.size[2] % by.size[1]),
              d = (int)(k / by.size[2] / by.size[1]);
    return d < size[0] && h < size[1] && w < size[2] ? label_at(by, n, d, h, w) : -1;
}

UNUSED static real given_at(Classified by, int n, int class, long k) {
    const int w = (int)(k % by.size[2]), h = (int)(k / by.size[2] % by.size[1]),
              d = (int)(k / by.size[2] / by.size[1]);
    return (real)(by.channels == 1 ? logit_at(by, n, 1, d, h, w) : softmax_at(by, n, class, d, h, w));
}

/* The slopes and the loss of class CLASS: they follow from the number of points before each point in the
 * order of errors (the first of equal ones), and from how many of these are of the class. */
UNUSED static double lovasz_of_class(int n, real *slopes, long sample, Classified by,
                                     const int32_t (*valid)[3], int class, double *truly) {
    const long points = (long)by.size[0] * by.size[1] * by.size[2];
    const int one = by.channels == 1;
    double loss = 0;
    *truly = 0;
    for (int i = 0; i < n; i++)
        for (long k = 0; k < points; k++)
            *truly += label_of(by, valid ? valid[i] : by.size, i, k) == class;
    for (int i = 0; i < n; i++)
        for (long k = 0; k < points; k++) {
            const int label = label_of(by, valid ? valid[i] : by.size, i, k);
            const real error = (real)error_of((double)given_at(by, i, class, k), label == class, one);
            double before = 0, hits = 0;
            for (int j = 0; j < n && label >= 0; j++)
                for (long m = 0; m < points; m++) {
                    const int other = label_of(by, valid ? valid[j] : by.size, j, m);
                    const real its =
                        other < 0 ? 0
                                  : (real)error_of((double)given_at(by, j, class, m), other == class, one);
                    const int first = its > error || (its == error && (j < i || (j == i && m < k)));
                    before += first;
                    hits += first && other == class;
                }
            const double step =
                jaccard_of(*truly, before + 1, hits + (label == class)) - jaccard_of(*truly, before, hits);
            const int counts = label >= 0 && (one || *truly > 0);
            slopes[i * sample + (one ? 0 : class) * points + k] =
                (real)(counts ? step * error_slope((double)error, label == class, one) : 0);
            loss += counts ? step * (double)error : 0;
        }
    return loss;
}

UNUSED static void lovasz_of_batch(int n, double *result, double *present, real *slopes, long sample,
                                   Classified by, const int32_t (*valid)[3], int accumulate) {
#pragma omp single
    {
        double loss = 0, found = 0;
        for (int k = by.channels == 1; k < by.classes; k++) {
            double truly;
            loss += lovasz_of_class(n, slopes, sample, by, valid, k, &truly);
            found += truly > 0 || by.channels == 1;
        }
        *present = found;
        *result = (accumulate ? *result : 0) + (found > 0 ? n * loss / found : 0);
    }
}

UNUSED static void lovasz_slopes_store(int n, int total, Rows rows, stored *dx, const Layout *layout,
                                       Classified by, double present, const real *slopes, long sample,
                                       double weight) {
    const long points = (long)by.size[0] * by.size[1] * by.size[2];
#pragma omp for collapse(2) schedule(static)
    for (int i = 0; i < n; i++)
        for (int c = 0; c < stored_channels(layout); c++)
            for (int r = rows.begin; r < rows.end; r++)
                for (int w = 0; w < by.size[2]; w++) {
                    const int d = r / by.size[1], h = r % by.size[1];
                    const real *given = slopes + i * sample + (long)r * by.size[2] + w;
                    double slope = c < by.channels && by.channels == 1 ? (double)given[0] : 0;
                    for (int j = 0; j < by.classes && c < by.channels && by.channels > 1; j++)
                        slope += (double)given[j * points] * softmax_at(by, i, j, d, h, w) *
                                 ((j == c) - softmax_at(by, i, c, d, h, w));
                    store(dx, element(layout, i, c, d, h, w),
                          (real)(present > 0 ? weight * ((double)n / total) / present * slope : 0));
                }
}
/* END */
