/* labels.c - what losses over classes share: logits of a few points, side by side in a vector, and their
 * softmax. */
#include "squares.c"

/* BEGIN */
#include <math.h>

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

/* LANES points: their logits, class by class, and exp(x_k - maximum), whose sum is 1 + rest. */
typedef struct {
    Vector logit[256], power[256];
    Vector maximum, rest;
} Points;

/* The labels of these points; beyond `count` they count nowhere. */
INLINE void labels_of(uint8_t *label, Classified by, Point at, int count) {
    const uint8_t *t = by.t + offset_of(by.t_layout, 0, at);
    for (int k = 0; k < LANES; k++)
        label[k] = k < count ? t[k * by.t_layout->block] : 255;
}

INLINE int counts(Classified by, uint8_t label) {
    return label < by.classes && label != by.ignore;
}

/* Lane by lane the class that counts there, or -1. */
INLINE Bits counted_classes(Classified by, const uint8_t *label) {
    int32_t class[LANES];
    Bits result;
    for (int k = 0; k < LANES; k++)
        class[k] = counts(by, label[k]) ? label[k] : -1;
    memcpy(&result, class, sizeof result);
    return result;
}

/* The logits of the first `count` of LANES points from `at` on; 0 behind them. */
INLINE void load_points(Points *p, Classified by, Point at, int count) {
    const Layout *l = by.x_layout;
    const int one = by.channels == 1;
    p->logit[0] = (Vector){0};
    if (l->block < BLOCK)
        load_narrow(p->logit + one, by.x + offset_of(l, 0, at), l->block, count);
    for (int c = 0; l->block == BLOCK && c < by.channels; c += LANES)
        load_square(p->logit + one + c, by.x + vector_at(l, c / LANES, at), count);
}

/* log(1 + x) for x >= 0: 1 + x is 2^e * m with m from sqrt(1/2) to sqrt(2), log(m) = 2 artanh((m - 1) / (m
 * + 1)) by its series, and what 1 + x was rounded by is added. The relative error is at most 1.8e-7; a NaN
 * stays one. */
INLINE Vector vector_log1p(Vector x) {
    const Vector u = 1 + x, lost = (x - (u - 1)) / u;
    const Words root = (Words){0} + 0x3f3504f3u, from = (Words)u - root; /* of 1/2 */
    const Vector m = (Vector)((from & 0x7fffffu) + root),
                 e = __builtin_convertvector((Bits)from >> 23, Vector);
    const Vector s = (m - 1) / (m + 1), z = s * s;
    Vector sum = (Vector){0} + 1.0f / 9;
    sum = sum * z + 1.0f / 7;
    sum = sum * z + 1.0f / 5;
    sum = sum * z + 1.0f / 3;
    const Vector low = e * 0x1.7f7d1cp-20f + lost; /* ln(2) in two parts, the first exact times e */
    return e * 0x1.62e4p-1f + (2 * s + (2 * s * z * sum + low));
}

/* exp(x_k - maximum); `rest` leaves out one class that has the maximum. */
INLINE void softmax(Points *p, int classes) {
    Vector most = p->logit[0], sum = {0}, ties = {0};
    for (int k = 1; k < classes; k++)
        most = vector_maximum(most, p->logit[k]);
    for (int k = 0; k < classes; k++) {
        const Bits below = p->logit[k] < most;
        p->power[k] = vector_exp(p->logit[k] - most);
        sum += (Vector)((Bits)p->power[k] & below);
        ties += (Vector)((Bits)((Vector){0} + 1) & ~below);
    }
    p->maximum = most;
    p->rest = sum + (ties - 1);
}

INLINE double weight_of(Classified by, int k) {
    return by.class_weight == NULL ? 1 : by.class_weight[k];
}

INLINE double power_of(double base, double exponent) {
    return exponent == 0 ? 1 : exponent == 1 ? base : exponent == 2 ? base * base : pow(base, exponent);
}

/* The weight in a focal loss of a point whose -log(softmax) is `loss`, and the slope of the product of both
 * by `loss`. */
INLINE double focus_of(double loss, double gamma) {
    return power_of(-expm1(-loss), gamma);
}

INLINE double focus_slope(double loss, double gamma) {
    const double missing = -expm1(-loss);
    if (gamma == 0)
        return 1;
    return missing > 0 ? power_of(missing, gamma - 1) * (missing + gamma * loss * exp(-loss)) : 0;
}

/* The weights of `count` points from `at` on in the map. */
INLINE void map_of(double *weight, Classified by, Point at, int count) {
    const long first = by.map == NULL ? 0 : offset_of(by.map_layout, 0, at);
    for (int k = 0; k < count; k++)
        weight[k] = by.map == NULL ? 1
                                   : (double)load_either(by.map_staged, by.map,
                                                         first + (long)k * by.map_layout->block, 1)[0];
}

/* -log(softmax) of each lane's class: maximum and logit are subtracted first, for their difference is exact
 * where the loss is small. */
INLINE Vector losses_of(const Points *p, int classes, Bits class) {
    Vector logit = p->logit[0];
    for (int k = 1; k < classes; k++)
        logit = vector_choose(class == k, p->logit[k], logit);
    return vector_log1p(p->rest) + (p->maximum - logit);
}

/* The sum over all classes of what they weigh times -log(softmax). */
INLINE Vector all_losses(const Points *p, Classified by) {
    const Vector level = vector_log1p(p->rest);
    Vector all = {0};
    for (int k = 0; k < by.classes; k++)
        all += (real)weight_of(by, k) * (level + (p->maximum - p->logit[k]));
    return all;
}

/* The amount that each point adds to the sum, of its loss and, smoothed, of the losses of all classes; 0 if
 * it does not count. */
INLINE void terms_of(double *term, const Points *p, Classified by, const uint8_t *label) {
    const Vector losses = losses_of(p, by.classes, counted_classes(by, label));
    const Vector all = by.smoothing > 0 ? all_losses(p, by) : (Vector){0};
    for (int k = 0; k < LANES; k++) {
        const double loss = (double)losses[k];
        term[k] = 0;
        if (counts(by, label[k]))
            term[k] = (1 - by.smoothing) * weight_of(by, label[k]) * focus_of(loss, by.gamma) * loss +
                      by.smoothing / by.classes * (double)all[k];
    }
}

/* The sum over the first `width` points of a row. */
INLINE double classes_of_row(Classified by, Point at, int width) {
    double sum = 0;
    for (; at.w < width; at.w += LANES) {
        const int count = min_int(LANES, width - at.w);
        uint8_t label[LANES];
        double weight[LANES], term[LANES];
        Points p;
        labels_of(label, by, at, count);
        map_of(weight, by, at, count);
        load_points(&p, by, at, count);
        softmax(&p, by.classes);
        terms_of(term, &p, by, label);
        for (int k = 0; k < count; k++)
            sum += weight[k] * term[k];
    }
    return sum;
}

/* The sum of each row of a range, as far as it is valid, into `scratch`, which has all rows of all samples.
 */
INLINE void classes_sum(int n, Rows rows, double *scratch, Classified by, const int32_t (*valid)[3]) {
    const int height = by.size[1];
#pragma omp for collapse(2) schedule(static)
    for (int i = 0; i < n; i++)
        for (int r = rows.begin; r < rows.end; r++) {
            const Point at = {i, r / height, r % height, 0};
            const int32_t *size = valid ? valid[i] : by.size;
            scratch[(long)i * by.size[0] * height + r] =
                at.d < size[0] && at.h < size[1] ? classes_of_row(by, at, size[2]) : 0;
        }
}

/* The slopes of `count` points: of class k factor * (own + alike * (all weights)) * softmax_k, less what
 * the class and the smoothing have of it. */
INLINE void slopes_of_points(Points *p, Classified by, const uint8_t *label, const double *factor,
                             int count) {
    const double alike = by.smoothing / by.classes;
    const Bits class = counted_classes(by, label);
    Vector weight = {0}, scale = {0}, smooth = {0};
    double all = 0;
    for (int k = 0; k < by.classes; k++)
        all += weight_of(by, k);
    for (int k = 0; k < count; k++)
        if (counts(by, label[k])) {
            const double loss = log1p((double)p->rest[k]) + (double)(p->maximum[k] - p->logit[label[k]][k]);
            const double own = (1 - by.smoothing) * weight_of(by, label[k]) * focus_slope(loss, by.gamma);
            weight[k] = (real)(factor[k] * own);
            smooth[k] = (real)(factor[k] * alike);
            scale[k] = (real)(factor[k] * (own + alike * all));
        }
    scale /= 1 + p->rest;
    for (int k = 0; k < by.classes; k++) {
        const Vector slope = scale * p->power[k] - smooth * (real)weight_of(by, k);
        p->power[k] = slope - (Vector)((Bits)weight & (class == k));
    }
}

/* Puts them where the gradients of `count` points begin; channels that pad a block are 0. */
INLINE void store_points(Points *p, stored *dx, const Layout *l, int channels, Point at, int count) {
    const int one = channels == 1;
    for (int c = channels; c < l->blocks * l->block; c++)
        p->power[one + c] = (Vector){0};
    if (l->block < BLOCK)
        store_narrow(p->power + one, dx + offset_of(l, 0, at), l->block, count);
    for (int c = 0; l->block == BLOCK && c < l->blocks * BLOCK; c += LANES)
        store_square(p->power + one + c, dx + vector_at(l, c / LANES, at), count);
}

/* The slopes of a range of rows; the sum that was counted may be 0: then nothing has a slope. */
INLINE void class_slopes_store(int n, Rows rows, stored *dx, const Layout *layout, Classified by,
                               double weight, double counted) {
    const double factor = counted > 0 ? weight / counted : 0;
#pragma omp for collapse(2) schedule(static)
    for (int i = 0; i < n; i++)
        for (int r = rows.begin; r < rows.end; r++)
            for (int w = 0; w < by.size[2]; w += LANES) {
                const Point at = {i, r / by.size[1], r % by.size[1], w};
                const int count = min_int(LANES, by.size[2] - w);
                uint8_t label[LANES];
                double of_point[LANES];
                Points p;
                labels_of(label, by, at, count);
                load_points(&p, by, at, count);
                softmax(&p, by.classes);
                map_of(of_point, by, at, count);
                for (int k = 0; k < count; k++)
                    of_point[k] *= factor;
                slopes_of_points(&p, by, label, of_point, count);
                store_points(&p, dx, layout, by.channels, at, count);
            }
}

/* The result, from the sums of rows, once the last are there: so that divided by the samples it is their
 * mean over what was counted. */
INLINE void classes_mean(int n, int total, Rows rows, double *result, const double *scratch, Classified by,
                         double counted, int accumulate) {
    const int all = by.size[0] * by.size[1];
    if (rows.begin == rows.end || rows.end < all)
        return;
#pragma omp single
    {
        double sum = accumulate ? *result : 0;
        for (int i = 0; i < n; i++) {
            double of_sample = 0;
            for (int r = 0; r < all; r++)
                of_sample += scratch[(long)i * all + r];
            sum += counted > 0 ? of_sample * (total / counted) : 0;
        }
        *result = sum;
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
INLINE double overlap_under(Overlap o, Ratio ratio) {
    return ratio.under_both * o.both + ratio.under_predicted * o.predicted + ratio.under_truly * o.truly +
           ratio.epsilon;
}

INLINE double overlap_ratio(Overlap o, Ratio ratio) {
    const double under = overlap_under(o, ratio);
    return under > 0 ? (ratio.over_both * o.both + ratio.smooth) / under : 0;
}

/* The sums of the batch, or of a sample. */
INLINE const Overlap *overlaps_at(const double *sums, int sample, Ratio ratio) {
    return (const void *)(sums + (ratio.batch ? 0 : sample * ratio.sample));
}

INLINE Overlap overlap_sum(Overlap a, Overlap b) {
    return (Overlap){a.both + b.both, a.predicted + b.predicted, a.truly + b.truly};
}

/* The sums of all classes that count together. */
INLINE Overlap overlap_joint(const Overlap *sums, int first, int classes) {
    Overlap all = {0, 0, 0};
    for (int k = first; k < classes; k++)
        all = overlap_sum(all, sums[k]);
    return all;
}

INLINE double overlap_mean(const Overlap *sums, int classes, Ratio ratio) {
    double mean = 0;
    if (ratio.joint)
        return overlap_ratio(overlap_joint(sums, ratio.first, classes), ratio);
    for (int k = ratio.first; k < classes; k++)
        mean += overlap_ratio(sums[k], ratio) / (classes - ratio.first);
    return mean;
}

/* The sums of the first `width` points of a row. */
INLINE void overlaps_of_row(Overlap *sum, Classified by, Point at, int width, int squared) {
    for (int k = 0; k < by.classes; k++)
        sum[k] = (Overlap){0, 0, 0};
    for (; at.w < width; at.w += LANES) {
        const int count = min_int(LANES, width - at.w);
        uint8_t label[LANES];
        Points p;
        labels_of(label, by, at, count);
        load_points(&p, by, at, count);
        softmax(&p, by.classes);
        for (int k = 0; k < by.classes; k++) {
            const Vector share = p.power[k] / (1 + p.rest);
            for (int lane = 0; lane < count; lane++)
                if (counts(by, label[lane])) {
                    sum[k].predicted += (double)(squared ? share * share : share)[lane];
                    sum[k].both += label[lane] == k ? (double)share[lane] : 0;
                    sum[k].truly += label[lane] == k;
                }
        }
    }
}

/* The sums of a range of rows, into `scratch`, which has all rows of all samples. */
INLINE void overlaps_sum(int n, Rows rows, Overlap *scratch, Classified by, const int32_t (*valid)[3],
                         Ratio ratio) {
    const int all = by.size[0] * by.size[1];
#pragma omp for collapse(2) schedule(static)
    for (int i = 0; i < n; i++)
        for (int r = rows.begin; r < rows.end; r++) {
            const Point at = {i, r / by.size[1], r % by.size[1], 0};
            const int32_t *size = valid ? valid[i] : by.size;
            overlaps_of_row(scratch + ((long)i * all + r) * by.classes, by, at,
                            at.d < size[0] && at.h < size[1] ? size[2] : 0, ratio.squared);
        }
}

/* Once the last are there: their sums in order, of the batch or of each sample, and the loss. */
INLINE void overlap_loss(int n, Rows rows, double *result, double *sums, const Overlap *scratch,
                         Classified by, Ratio ratio, int accumulate) {
    const int all = by.size[0] * by.size[1];
    if (rows.begin == rows.end || rows.end < all)
        return;
#pragma omp single
    {
        const long together = ratio.batch ? (long)n * all : all; /* rows */
        double loss = accumulate ? *result : 0;
        for (int i = 0; i < (ratio.batch ? 1 : n); i++) {
            Overlap *sum = (void *)(sums + i * ratio.sample);
            const Overlap *of_rows = scratch + i * together * by.classes;
            for (int k = 0; k < by.classes; k++) {
                sum[k] = (Overlap){0, 0, 0};
                for (long r = 0; r < together; r++)
                    sum[k] = overlap_sum(sum[k], of_rows[r * by.classes + k]);
            }
            loss += (ratio.batch ? n : 1) * (1 - overlap_mean(sum, by.classes, ratio));
        }
        *result = loss;
    }
}

/* The slope by softmax of class k at any point is alike[k], times 2 * softmax where it is squared; own[k]
 * more at a point of the class. */
typedef struct {
    double alike[256], own[256];
} OverlapSlopes;

INLINE void overlap_slopes(OverlapSlopes *slopes, const Overlap *sums, int classes, Ratio ratio,
                           double weight) {
    const Overlap all = overlap_joint(sums, ratio.first, classes);
    for (int k = 0; k < classes; k++) {
        const Overlap o = ratio.joint ? all : sums[k];
        const double under = overlap_under(o, ratio), quotient = overlap_ratio(o, ratio);
        const double factor = k >= ratio.first && under > 0
                                  ? weight / (under * (ratio.joint ? 1 : classes - ratio.first))
                                  : 0;
        slopes->alike[k] = factor * quotient * ratio.under_predicted;
        slopes->own[k] = factor * (quotient * ratio.under_both - ratio.over_both);
    }
}

/* The slopes of `count` points. */
INLINE void overlap_slopes_of_points(Points *p, Classified by, const uint8_t *label, int count,
                                     const OverlapSlopes *slopes, int squared) {
    Vector mean = {0};
    for (int k = 0; k < by.classes; k++) {
        p->power[k] /= 1 + p->rest;
        Vector slope = (Vector){0} + (real)slopes->alike[k];
        if (squared)
            slope *= 2 * p->power[k];
        for (int lane = 0; lane < count; lane++)
            slope[lane] += label[lane] == k ? (real)slopes->own[k] : 0;
        p->logit[k] = slope;
        mean += p->power[k] * slope;
    }
    for (int k = 0; k < by.classes; k++) {
        p->power[k] *= p->logit[k] - mean;
        for (int lane = 0; lane < count; lane++)
            p->power[k][lane] = counts(by, label[lane]) ? p->power[k][lane] : 0;
    }
}

/* `weight`: of `total` samples, of whose batches this is one. */
INLINE void overlap_slopes_store(int n, int total, Rows rows, stored *dx, const Layout *layout,
                                 Classified by, const double *sums, Ratio ratio, double weight) {
#pragma omp for collapse(2) schedule(static)
    for (int i = 0; i < n; i++)
        for (int r = rows.begin; r < rows.end; r++) {
            OverlapSlopes slopes;
            overlap_slopes(&slopes, overlaps_at(sums, i, ratio), by.classes, ratio,
                           ratio.batch ? weight * ((double)n / total) : weight / total);
            for (int w = 0; w < by.size[2]; w += LANES) {
                const Point at = {i, r / by.size[1], r % by.size[1], w};
                const int count = min_int(LANES, by.size[2] - w);
                uint8_t label[LANES];
                Points p;
                labels_of(label, by, at, count);
                load_points(&p, by, at, count);
                softmax(&p, by.classes);
                overlap_slopes_of_points(&p, by, label, count, &slopes, ratio.squared);
                store_points(&p, dx, layout, by.channels, at, count);
            }
        }
}

/* ---- the hardest points ---- */

/* Which points count: those whose class has less than `threshold` of softmax, but at least `least`, or, if
 * that is -1, the share `share` of all points, those with the least. */
typedef struct {
    double threshold, share, least;
} Hard;

INLINE double kept_at_least(Hard hard, double all) {
    return hard.least >= 0 ? hard.least : floor(hard.share * all + 0.5);
}

/* Points count whose term -log(softmax) is above this limit, of `counted` points; `bound` is the term of
 * the last one that is wanted in any case. */
INLINE double hard_limit(Hard hard, double counted, double wanted, double bound) {
    const double by_threshold = -log(hard.threshold);
    return wanted >= counted ? -0.5 : wanted > 0 && bound < by_threshold ? bound : by_threshold;
}

/* Finds the rank-th largest of terms from 0 on, digit by digit of its bits: counts, in parts, the next
 * digits of terms that begin as it does. */
enum { SELECTION_PARTS = 16, DIGITS = 256 };
typedef struct {
    uint32_t count[SELECTION_PARTS][DIGITS];
    uint32_t begins;
    double rank;
} Selection;

INLINE uint32_t bits_of_term(real term) {
    const float x = (float)term;
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits & 0x7fffffff;
}

/* Counts a part of the `points` terms of each sample. */
INLINE void count_digits(Selection *s, int part, int shift, const real *terms, int n, long points,
                         long sample) {
    memset(s->count[part], 0, sizeof s->count[part]);
    for (int i = 0; i < n; i++)
        for (long k = points * part / SELECTION_PARTS; k < points * (part + 1) / SELECTION_PARTS; k++) {
            const real term = terms[i * sample + k];
            const uint32_t bits = bits_of_term(term);
            if (!(term < 0) && (bits >> shift) / DIGITS == s->begins)
                s->count[part][bits >> shift & (DIGITS - 1)]++;
        }
}

INLINE void choose_digit(Selection *s) {
    int digit = DIGITS;
    double count;
    do {
        count = 0;
        digit--;
        for (int part = 0; part < SELECTION_PARTS; part++)
            count += s->count[part][digit];
        s->rank -= count;
    } while (s->rank > 0 && digit > 0);
    s->rank += count;
    s->begins = s->begins * DIGITS + (uint32_t)digit;
}

INLINE double largest_term(Selection *s, const real *terms, int n, long points, long sample, double rank) {
#pragma omp single
    {
        s->begins = 0;
        s->rank = rank;
    }
    for (int shift = 24; shift >= 0; shift -= 8) {
#pragma omp for schedule(static)
        for (int part = 0; part < SELECTION_PARTS; part++)
            count_digits(s, part, shift, terms, n, points, sample);
#pragma omp single
        choose_digit(s);
    }
    float found;
    memcpy(&found, &s->begins, sizeof found);
    return (double)found;
}

/* The terms of a row, -1 where a point does not count; returns how many do. */
INLINE double terms_store(real *terms, Classified by, Point at, int width) {
    double counted = 0;
    for (; at.w < by.size[2]; at.w += LANES) {
        const int count = min_int(LANES, by.size[2] - at.w);
        uint8_t label[LANES];
        double term[LANES];
        Points p;
        labels_of(label, by, at, count);
        load_points(&p, by, at, count);
        softmax(&p, by.classes);
        terms_of(term, &p, by, label);
        for (int k = 0; k < count; k++) {
            const int counts_here = at.w + k < width && counts(by, label[k]);
            terms[at.w + k] = counts_here ? (real)term[k] : -1;
            counted += counts_here;
        }
    }
    return counted;
}

INLINE double sum_of(const double *of_rows, long rows) {
    double sum = 0;
    for (long r = 0; r < rows; r++)
        sum += of_rows[r];
    return sum;
}

/* Sum and number of the terms of a row that are above the limit. */
INLINE void kept_of_row(double *sum, double *kept, const real *terms, int width, double limit) {
    *sum = *kept = 0;
    for (int w = 0; w < width; w++)
        if (!((double)terms[w] <= limit)) {
            *sum += (double)terms[w];
            ++*kept;
        }
}

/* Scratch of the loss: a selection, and for each row the points that count there, the sum of those kept,
 * their number. */
INLINE double *counts_in(double *scratch) {
    return scratch + sizeof(Selection) / sizeof *scratch;
}

/* The terms of a range of rows. */
INLINE void hard_terms(int n, Rows rows, real *terms, long sample, double *scratch, Classified by,
                       const int32_t (*valid)[3]) {
    const int all = by.size[0] * by.size[1], width = by.size[2];
#pragma omp for collapse(2) schedule(static)
    for (int i = 0; i < n; i++)
        for (int r = rows.begin; r < rows.end; r++) {
            const Point at = {i, r / by.size[1], r % by.size[1], 0};
            const int32_t *size = valid ? valid[i] : by.size;
            counts_in(scratch)[(long)i * all + r] =
                terms_store(terms + i * sample + (long)r * width, by, at,
                            at.d < size[0] && at.h < size[1] ? size[2] : 0);
        }
}

/* Once the last are there: the mean of the terms of points that count; of no points 0. `bounds`: the limit,
 * and what the sum is divided by. */
INLINE void hard_loss(int n, Rows range, double *result, double *bounds, const real *terms, long sample,
                      double *scratch, Classified by, const int32_t (*valid)[3], Hard hard,
                      int accumulate) {
    const int rows = by.size[0] * by.size[1], width = by.size[2];
    double *counted = counts_in(scratch), *sum = counted + (long)n * rows, *kept = sum + (long)n * rows,
           all = 0, bound = 0;
    if (range.begin == range.end || range.end < rows)
        return;
    for (int i = 0; i < n; i++)
        all += (double)(valid ? valid[i] : by.size)[0] * (valid ? valid[i] : by.size)[1] *
               (valid ? valid[i] : by.size)[2];
    const double points = sum_of(counted, (long)n * rows), wanted = kept_at_least(hard, all);
    if (wanted > 0 && wanted < points)
        bound = largest_term((void *)scratch, terms, n, (long)rows * width, sample, wanted);
    const double limit = hard_limit(hard, points, wanted, bound);
#pragma omp for collapse(2) schedule(static)
    for (int i = 0; i < n; i++)
        for (int r = 0; r < rows; r++)
            kept_of_row(&sum[(long)i * rows + r], &kept[(long)i * rows + r],
                        terms + i * sample + (long)r * width, width, limit);
#pragma omp single
    {
        bounds[0] = limit;
        bounds[1] = sum_of(kept, (long)n * rows) + 1e-5 * all;
        *result = (accumulate ? *result : 0) + n * (sum_of(sum, (long)n * rows) / bounds[1]);
    }
}

INLINE void hard_slopes_store(int n, int total, Rows rows, stored *dx, const Layout *layout, Classified by,
                              const double *bounds, const real *terms, long sample, double weight) {
#pragma omp for collapse(2) schedule(static)
    for (int i = 0; i < n; i++)
        for (int r = rows.begin; r < rows.end; r++)
            for (int w = 0; w < by.size[2]; w += LANES) {
                const Point at = {i, r / by.size[1], r % by.size[1], w};
                const real *term = terms + i * sample + (long)r * by.size[2] + w;
                const int count = min_int(LANES, by.size[2] - w);
                uint8_t label[LANES];
                double of_point[LANES];
                Points p;
                labels_of(label, by, at, count);
                load_points(&p, by, at, count);
                softmax(&p, by.classes);
                for (int k = 0; k < count; k++)
                    of_point[k] =
                        (double)term[k] <= bounds[0] ? 0 : weight * ((double)n / total) / bounds[1];
                slopes_of_points(&p, by, label, of_point, count);
                store_points(&p, dx, layout, by.channels, at, count);
            }
}

/* ---- Lovasz extensions ---- */

/* The Jaccard loss of a class of `truly` points, when the first `taken` points are wrong, and `hits` of
 * them are of the class. */
INLINE double jaccard_of(double truly, double taken, double hits) {
    return taken > 0 ? 1 - (truly - hits) / (truly + taken - hits) : 0;
}

/* How wrong a point is of class k, where its share or, of one channel, its logit is given. */
INLINE double error_of(double given, int is_class, int one) {
    const double error = one ? 1 - (is_class ? given : -given) : is_class ? 1 - given : given;
    return error > 0 ? error : 0;
}

/* The slope of the error by the logit or softmax. */
INLINE double error_slope(double error, int is_class, int one) {
    return one && !(error > 0) ? 0 : is_class ? -1 : 1;
}

/* Points in the order of their errors: sorted by the digits of their bits, the last first, in parts that
 * follow each other. Behind the struct lie the errors and the numbers of all points, twice. */
typedef struct {
    int64_t place[SELECTION_PARTS][DIGITS];
    double hits[SELECTION_PARTS], loss[SELECTION_PARTS];
    double truly, all, present;
} Sorting;

INLINE uint32_t digit_of(uint32_t error, int shift) {
    return DIGITS - 1 - (error >> shift & (DIGITS - 1));
}

/* From `from` to `to`, each `count` errors and `count` numbers; equal digits keep their order. */
INLINE void sort_by_digit(Sorting *s, const uint32_t *from, uint32_t *to, long count, int shift) {
#pragma omp for schedule(static)
    for (int part = 0; part < SELECTION_PARTS; part++) {
        memset(s->place[part], 0, sizeof s->place[part]);
        for (long k = count * part / SELECTION_PARTS; k < count * (part + 1) / SELECTION_PARTS; k++)
            s->place[part][digit_of(from[k], shift)]++;
    }
#pragma omp single
    {
        int64_t place = 0;
        for (int digit = 0; digit < DIGITS; digit++)
            for (int part = 0; part < SELECTION_PARTS; part++) {
                const int64_t these = s->place[part][digit];
                s->place[part][digit] = place;
                place += these;
            }
    }
#pragma omp for schedule(static)
    for (int part = 0; part < SELECTION_PARTS; part++)
        for (long k = count * part / SELECTION_PARTS; k < count * (part + 1) / SELECTION_PARTS; k++) {
            const int64_t place = s->place[part][digit_of(from[k], shift)]++;
            to[place] = from[k];
            to[count + place] = from[count + k];
        }
}

/* The points of all samples, as slopes and labels have them. */
typedef struct {
    Classified by;
    const int32_t (*valid)[3];
    long points, sample; /* of a sample, and from one to the next */
} Sorted;

INLINE int label_of(Sorted of, long point) {
    const int i = (int)(point / of.points), *size = of.by.size;
    const int w = (int)(point % size[2]), h = (int)(point / size[2] % size[1]),
              d = (int)(point % of.points / size[2] / size[1]);
    const int32_t *valid = of.valid ? of.valid[i] : of.by.size;
    const uint8_t label = of.by.t[offset_of(of.by.t_layout, 0, (Point){i, d, h, w})];
    return d < valid[0] && h < valid[1] && w < valid[2] && counts(of.by, label) ? label : -1;
}

/* Softmax of each class, or the logit of one channel, where slopes will be. */
INLINE void store_given(real *slopes, int n, Sorted of) {
    const Classified by = of.by;
#pragma omp for collapse(2) schedule(static)
    for (int i = 0; i < n; i++)
        for (int r = 0; r < by.size[0] * by.size[1]; r++)
            for (int w = 0; w < by.size[2]; w += LANES) {
                const int count = min_int(LANES, by.size[2] - w), one = by.channels == 1;
                real *to = slopes + i * of.sample + (long)r * by.size[2] + w;
                Points p;
                load_points(&p, by, (Point){i, r / by.size[1], r % by.size[1], w}, count);
                softmax(&p, by.classes);
                for (int c = 0; c < by.channels; c++)
                    for (int k = 0; k < count; k++)
                        to[c * of.points + k] = one ? p.logit[1][k] : p.power[c][k] / (1 + p.rest[k]);
            }
}

/* Errors of class `class`, in the order of the points, and how many are of it. */
INLINE void store_errors(Sorting *s, uint32_t *errors, const real *given, long count, Sorted of,
                         int class) {
#pragma omp for schedule(static)
    for (int part = 0; part < SELECTION_PARTS; part++) {
        s->hits[part] = 0;
        for (long k = count * part / SELECTION_PARTS; k < count * (part + 1) / SELECTION_PARTS; k++) {
            const int label = label_of(of, k);
            const real its = given[k / of.points * of.sample + k % of.points];
            errors[k] =
                label < 0 ? 0
                          : bits_of_term((real)error_of((double)its, label == class, of.by.channels == 1));
            errors[count + k] = (uint32_t)k;
            s->hits[part] += label == class;
        }
    }
#pragma omp single
    {
        s->truly = 0;
        for (int part = 0; part < SELECTION_PARTS; part++)
            s->truly += s->hits[part];
    }
}

/* The slopes of sorted points, and in s->loss what each part adds. */
INLINE void store_lovasz(Sorting *s, const uint32_t *errors, real *slopes, long count, Sorted of,
                         int class) {
    const int one = of.by.channels == 1;
#pragma omp for schedule(static)
    for (int part = 0; part < SELECTION_PARTS; part++) {
        s->hits[part] = 0;
        for (long k = count * part / SELECTION_PARTS; k < count * (part + 1) / SELECTION_PARTS; k++)
            s->hits[part] += label_of(of, errors[count + k]) == class;
    }
#pragma omp for schedule(static)
    for (int part = 0; part < SELECTION_PARTS; part++) {
        double hits = 0, loss = 0;
        for (int before = 0; before < part; before++)
            hits += s->hits[before];
        for (long k = count * part / SELECTION_PARTS; k < count * (part + 1) / SELECTION_PARTS; k++) {
            const long point = errors[count + k];
            const int label = label_of(of, point), is_class = label == class;
            float error;
            memcpy(&error, &errors[k], sizeof error);
            const double step = jaccard_of(s->truly, (double)k + 1, hits + is_class) -
                                jaccard_of(s->truly, (double)k, hits);
            const int counts_here = label >= 0 && (one || s->truly > 0);
            slopes[point / of.points * of.sample + point % of.points] =
                (real)(counts_here ? step * error_slope((double)error, is_class, one) : 0);
            loss += counts_here ? step * (double)error : 0;
            hits += is_class;
        }
        s->loss[part] = loss;
    }
}

INLINE void lovasz_of_batch(int n, double *result, double *present, real *slopes, long sample, Sorting *s,
                            Classified by, const int32_t (*valid)[3], int accumulate) {
    const Sorted of = {by, valid, (long)by.size[0] * by.size[1] * by.size[2], sample};
    const long count = n * of.points;
    uint32_t *errors = (void *)(s + 1), *others = errors + 2 * count;
    store_given(slopes, n, of);
#pragma omp single
    s->all = s->present = 0;
    for (int k = by.channels == 1; k < by.classes; k++) {
        real *plane = slopes + (by.channels == 1 ? 0 : k * of.points);
        store_errors(s, errors, plane, count, of, k);
        for (int shift = 0; shift < 32; shift += 16) {
            sort_by_digit(s, errors, others, count, shift);
            sort_by_digit(s, others, errors, count, shift + 8);
        }
        store_lovasz(s, errors, plane, count, of, k);
#pragma omp single
        {
            s->present += s->truly > 0 || by.channels == 1;
            for (int part = 0; part < SELECTION_PARTS; part++)
                s->all += s->loss[part];
        }
    }
#pragma omp single
    {
        *present = s->present;
        *result = (accumulate ? *result : 0) + (s->present > 0 ? n * s->all / s->present : 0);
    }
}

INLINE void lovasz_slopes_store(int n, int total, Rows rows, stored *dx, const Layout *layout,
                                Classified by, double present, const real *slopes, long sample,
                                double weight) {
    const long points = (long)by.size[0] * by.size[1] * by.size[2];
    const real factor = (real)(present > 0 ? weight * ((double)n / total) / present : 0);
#pragma omp for collapse(2) schedule(static)
    for (int i = 0; i < n; i++)
        for (int r = rows.begin; r < rows.end; r++)
            for (int w = 0; w < by.size[2]; w += LANES) {
                const Point at = {i, r / by.size[1], r % by.size[1], w};
                const real *given = slopes + i * sample + (long)r * by.size[2] + w;
                const int count = min_int(LANES, by.size[2] - w);
                Points p;
                Vector mean = {0};
                load_points(&p, by, at, count);
                softmax(&p, by.classes);
                for (int k = by.channels == 1; k < by.classes; k++) {
                    p.logit[k] =
                        factor * load_some_real(given + (by.channels == 1 ? 0 : k * points), count);
                    p.power[k] /= 1 + p.rest;
                    mean += p.power[k] * p.logit[k];
                }
                for (int k = by.channels == 1; k < by.classes; k++)
                    p.power[k] = by.channels == 1 ? p.logit[k] : p.power[k] * (p.logit[k] - mean);
                store_points(&p, dx, layout, by.channels, at, count);
            }
}
/* END */
