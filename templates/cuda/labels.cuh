/* labels.cuh - what losses over classes share: softmax of the logits of a point, and sums, in double. */
#include "prologue.cuh"

/* BEGIN */
#define DEVICE_MEMBER __device__ __forceinline__

/* ---- losses over classes ------------------------------------------------------------------------------
 */

/* Logits of `channels` channels, of `x_block` that are stored, compared with labels, a byte for each point,
 * in so many classes; for two classes logits may have one channel, of class 1: then class 0 has the logit
 * 0. `ignore` is a class that counts nowhere, or -1. */
struct Classified {
    Grid points; /* columns: 1 */
    int channels, x_block, x_ring, t_ring, classes, ignore;
    const double *class_weight; /* NULL: all weigh 1 */
    double smoothing;           /* the share of a point's weight that all classes have alike */
    double gamma;    /* points count less by this power of what their class lacks of 1; 0: alike */
    const void *map; /* of one channel: what each point weighs besides; nullptr: 1 */
    int map_block, map_ring, map_staged;

    /* The place of point `point`, counted over all samples, in a tensor that is a ring of so many rows. */
    DEVICE_MEMBER unsigned at(int ring, unsigned point) const {
        return place({points.d, points.h, points.w, 1, ring}, point);
    }
    DEVICE_MEMBER double weight(int k) const { return class_weight == nullptr ? 1 : class_weight[k]; }
};

/* The class of a point, or -1: it counts nowhere. */
DEVICE int label_at(const uint8_t *t, Classified by, unsigned point) {
    const int label = t[by.at(by.t_ring, point)];
    return label < by.classes && label != by.ignore ? label : -1;
}

/* The weight of a point in the map. */
DEVICE double mapped(Classified by, unsigned point) {
    const unsigned at = by.at(by.map_ring, point);
    return by.map == nullptr    ? 1
           : by.map_staged == 2 ? load_channels<2>(by.map, by.map_block, 1, at, 0).lane[0]
           : by.map_staged == 1 ? load_channels<1>(by.map, by.map_block, 1, at, 0).lane[0]
                                : load_channels<0>(by.map, by.map_block, 1, at, 0).lane[0];
}

/* The type in which exponentials of logits are computed.  Logits of 16 bits have 11 digits of 24 at most,
 * and many devices take a double's exponential for 64 of a float's. */
template <int BYTES> struct Exponent { typedef double type; };
template <> struct Exponent<2> { typedef float type; };
typedef Exponent<sizeof(stored)>::type exponent;

/* The logits of a point. */
struct Logits {
    const stored *x;
    int one; /* there is one channel */

    DEVICE_MEMBER exponent at(int k) const { return one ? (k == 0 ? 0 : load(x, 0)) : load(x, k); }
};

DEVICE Logits logits_at(const stored *x, Classified by, unsigned point) {
    return {x + (long)by.at(by.x_ring, point) * by.x_block, by.channels == 1};
}

/* The logarithm of the sum of the exponentials of all logits. */
DEVICE double level_of(Logits logits, int classes) {
    int most = 0;
    exponent rest = 0;
    for (int k = 1; k < classes; k++)
        if (logits.at(k) > logits.at(most))
            most = k;
    for (int k = 0; k < classes; k++)
        rest += k == most ? 0 : exp(logits.at(k) - logits.at(most));
    return (double)log1p(rest) + logits.at(most);
}

/* The share of a class by softmax, from the level of all logits. */
DEVICE double share_of(double logit, double level) {
    return exp((exponent)(logit - level));
}

DEVICE double power_of(double base, double exponent) {
    return exponent == 0 ? 1 : exponent == 1 ? base : exponent == 2 ? base * base : pow(base, exponent);
}

/* The weight in a focal loss of a point whose -log(softmax) is `loss`, and the slope of the product of both
 * by `loss`. */
DEVICE double focus_of(double loss, double gamma) {
    return power_of(-expm1(-loss), gamma);
}

DEVICE double focus_slope(double loss, double gamma) {
    const double missing = -expm1(-loss);
    if (gamma == 0)
        return 1;
    return missing > 0 ? power_of(missing, gamma - 1) * (missing + gamma * loss * exp(-loss)) : 0;
}

/* The amount that a point adds to the sum: -log(softmax) of its class, and, smoothed, of all classes. */
DEVICE double class_term(Logits logits, Classified by, int label) {
    const double level = level_of(logits, by.classes), loss = level - logits.at(label);
    double sum = (1 - by.smoothing) * by.weight(label) * focus_of(loss, by.gamma) * loss;
    for (int k = 0; by.smoothing > 0 && k < by.classes; k++)
        sum += by.smoothing / by.classes * by.weight(k) * (level - logits.at(k));
    return sum;
}

/* For a block each: sums over the `wanted` ones of the `bands` of the points of every sample, as far as
 * they are valid. */
DEVICE void sum_classes(double *scratch, const stored *x, const uint8_t *t, const UnetControl *control,
                        Classified by, unsigned bands, Rows wanted) {
    const unsigned count = wanted.end - wanted.begin, all = vectors(1, by.points);
    const unsigned sample = blockIdx.x / count, band = wanted.begin + blockIdx.x % count;
    const int32_t *size = valid_size(control, sample);
    double total = 0;
    for (unsigned i = part_start(all, bands, band) + threadIdx.x; i < part_start(all, bands, band + 1);
         i += THREADS) {
        const unsigned point = sample * all + i;
        const int label = inside(size, point_at(by.points, i)) ? label_at(t, by, point) : -1;
        if (label >= 0)
            total += mapped(by, point) * class_term(logits_at(x, by, point), by, label);
    }
    total = block_sum(total);
    if (threadIdx.x == 0)
        scratch[(long)sample * bands + band] = total;
}

/* One thread adds the bands of each sample in order; divided by the samples of the batch the result is
 * their mean over what was counted of the labels. */
template <int N, int BANDS, int ACCUMULATE, int COUNTED>
static __global__ void unet_sum_counted(double *result, const double *scratch, const UnetControl *control) {
    const double counted = control->labelled[COUNTED];
    if (threadIdx.x > 0)
        return;
    double total = ACCUMULATE ? *result : 0;
    for (int i = 0; i < N; i++) {
        double sum = 0;
        for (int band = 0; band < BANDS; band++)
            sum += scratch[(long)i * BANDS + band];
        total += is_valid(control, i) && counted > 0 ? sum * (control->n / counted) : 0;
    }
    *result = total;
}

/* The slopes of point i of a range, into all its stored channels; 0 where it counts nowhere. */
DEVICE void store_class_slopes(stored *dx, int dx_ring, const stored *x, const uint8_t *t,
                               const UnetControl *control, Classified by, unsigned point, double factor) {
    const int label = is_valid(control, point / vectors(1, by.points)) ? label_at(t, by, point) : -1;
    const Logits logits = logits_at(x, by, point);
    stored *to = dx + (long)by.at(dx_ring, point) * by.x_block;
    const double level = label < 0 ? 0 : level_of(logits, by.classes),
                 focus = label < 0 ? 0 : focus_slope(level - logits.at(label), by.gamma),
                 weight = label < 0 ? 0 : factor * mapped(by, point),
                 own = (1 - by.smoothing) * focus * (label < 0 ? 0 : by.weight(label)),
                 alike = by.smoothing / by.classes;
    double all = 0;
    for (int k = 0; by.smoothing > 0 && k < by.classes; k++)
        all += by.weight(k);
    for (int c = 0; c < by.x_block; c++) {
        const int k = by.channels == 1 ? 1 : c;
        double slope = 0;
        if (label >= 0 && c < by.channels)
            slope = (own + alike * all) * share_of(logits.at(k), level) - (k == label ? own : 0) -
                    alike * by.weight(k);
        store(to, c, (real)(weight * slope));
    }
}

/* ---- overlaps ---- */

/* Sums over the points that count, for each class: softmax at points of the class; softmax; the points. */
struct Overlap {
    double both, predicted, truly;
};
enum { BOTH, PREDICTED, TRULY, OVERLAPS };

/* A loss divides these sums: for each class from `first` on, or for all of them together, and for the
 * batch, or for each sample; the loss is 1 less the mean of the quotients.  Squared: `predicted` sums the
 * squares of softmax. */
struct Ratio {
    double over_both, under_both, under_predicted, under_truly, smooth, epsilon;
    int first, squared, joint, batch;
    long sample; /* from the sums of a sample to the sums of the next, in doubles */
};

/* The quotient of class k: its numerator over its denominator. */
DEVICE double overlap_under(Overlap o, Ratio ratio) {
    return ratio.under_both * o.both + ratio.under_predicted * o.predicted + ratio.under_truly * o.truly +
           ratio.epsilon;
}

DEVICE double overlap_ratio(Overlap o, Ratio ratio) {
    const double under = overlap_under(o, ratio);
    return under > 0 ? (ratio.over_both * o.both + ratio.smooth) / under : 0;
}

/* For a block each: one of the sums of one class, over one `wanted` band of the `bands` of the points of a
 * sample. */
DEVICE void sum_overlap(double *scratch, const stored *x, const uint8_t *t, const UnetControl *control,
                        Classified by, unsigned bands, Rows wanted, int squared) {
    const unsigned all = vectors(1, by.points), count = wanted.end - wanted.begin;
    const unsigned sample = blockIdx.x / count, band = wanted.begin + blockIdx.x % count;
    const int k = blockIdx.y / OVERLAPS, which = blockIdx.y % OVERLAPS;
    const int32_t *size = valid_size(control, sample);
    double total = 0;
    for (unsigned i = part_start(all, bands, band) + threadIdx.x;
         is_valid(control, sample) && i < part_start(all, bands, band + 1); i += THREADS) {
        const unsigned point = sample * all + i;
        const int label = inside(size, point_at(by.points, i)) ? label_at(t, by, point) : -1;
        const Logits logits = logits_at(x, by, point);
        if (label < 0 || (which != PREDICTED && label != k))
            continue;
        const double share = which == TRULY ? 1 : share_of(logits.at(k), level_of(logits, by.classes));
        total += squared && which == PREDICTED ? share * share : share;
    }
    total = block_sum(total);
    if (threadIdx.x == 0)
        scratch[((long)sample * bands + band) * gridDim.y + blockIdx.y] = total;
}

/* The sums of all classes that count together. */
DEVICE Overlap overlap_joint(const Overlap *sums, int first, int classes) {
    Overlap all = {0, 0, 0};
    for (int k = first; k < classes; k++)
        all = {all.both + sums[k].both, all.predicted + sums[k].predicted, all.truly + sums[k].truly};
    return all;
}

DEVICE double overlap_mean(const Overlap *sums, int classes, Ratio ratio) {
    double mean = 0;
    if (ratio.joint)
        return overlap_ratio(overlap_joint(sums, ratio.first, classes), ratio);
    for (int k = ratio.first; k < classes; k++)
        mean += overlap_ratio(sums[k], ratio) / (classes - ratio.first);
    return mean;
}

/* A block makes the sums, of the batch or of each sample: each thread one of them, of its parts in order.
 * Then one thread makes the loss. */
template <int N, int BANDS, int CLASSES, int ACCUMULATE>
static __global__ void unet_end_overlap(double *result, double *sums, const double *from,
                                        const UnetControl *control, Ratio ratio) {
    constexpr int EACH = CLASSES * OVERLAPS;
    const int samples = ratio.batch ? 1 : N, parts = ratio.batch ? N * BANDS : BANDS;
    for (int s = threadIdx.x; s < samples * EACH; s += THREADS) {
        const double *part = from + (long)(s / EACH) * parts * EACH + s % EACH;
        double *own = sums + s / EACH * ratio.sample + s % EACH;
        double total = 0;
        for (int k = 0; k < parts; k++)
            total += part[(long)k * EACH];
        *own = total;
    }
    __syncthreads();
    if (threadIdx.x > 0)
        return;
    double loss = ACCUMULATE ? *result : 0;
    for (int i = 0; i < samples; i++) {
        const Overlap *own = reinterpret_cast<const Overlap *>(sums + i * ratio.sample);
        if (ratio.batch || is_valid(control, i))
            loss += (ratio.batch ? samples_of(control, N) : 1) * (1 - overlap_mean(own, CLASSES, ratio));
    }
    *result = loss;
}

/* The slope of the loss by softmax of class k, which is `share`, at a point of class `label`. */
DEVICE double overlap_slope(const Overlap *sums, int k, double share, int label, int classes, Ratio ratio) {
    const Overlap o = ratio.joint ? overlap_joint(sums, ratio.first, classes) : sums[k];
    const double under = overlap_under(o, ratio);
    const double by_under =
        ratio.under_predicted * (ratio.squared ? 2 * share : 1) + (label == k ? ratio.under_both : 0);
    if (k < ratio.first || under <= 0)
        return 0;
    return (overlap_ratio(o, ratio) * by_under - (label == k ? ratio.over_both : 0)) /
           (under * (ratio.joint ? 1 : classes - ratio.first));
}

DEVICE void store_overlap_slopes(stored *dx, int dx_ring, const stored *x, const uint8_t *t,
                                 const UnetControl *control, Classified by, unsigned point,
                                 const double *all, Ratio ratio, double weight) {
    const unsigned sample = point / vectors(1, by.points);
    const Overlap *sums =
        reinterpret_cast<const Overlap *>(all + (ratio.batch ? 0 : sample * ratio.sample));
    const int label = is_valid(control, sample) ? label_at(t, by, point) : -1;
    const Logits logits = logits_at(x, by, point);
    stored *to = dx + (long)by.at(dx_ring, point) * by.x_block;
    const double level = label < 0 ? 0 : level_of(logits, by.classes),
                 factor = ratio.batch ? weight : weight / control->n;
    double mean = 0;
    for (int k = 0; label >= 0 && k < by.classes; k++) {
        const double share = share_of(logits.at(k), level);
        mean += share * overlap_slope(sums, k, share, label, by.classes, ratio);
    }
    for (int c = 0; c < by.x_block; c++) {
        const int k = by.channels == 1 ? 1 : c;
        double slope = 0;
        if (label >= 0 && c < by.channels) {
            const double share = share_of(logits.at(k), level);
            slope = share * (overlap_slope(sums, k, share, label, by.classes, ratio) - mean);
        }
        store(to, c, (real)(factor * slope));
    }
}

/* ---- the hardest points ---- */

/* Which points count: those whose class has less than `threshold` of softmax, but at least `least`, or, if
 * that is -1, the share `share` of all points, those with the least. */
struct Hard {
    double threshold, share, least;
};

DEVICE double kept_at_least(Hard hard, double all) {
    return hard.least >= 0 ? hard.least : floor(hard.share * all + 0.5);
}

/* Points count whose term -log(softmax) is above this limit, of `counted` points; `bound` is the term of
 * the last one that is wanted in any case. */
DEVICE double hard_limit(Hard hard, double counted, double wanted, double bound) {
    const double by_threshold = -log(hard.threshold);
    return wanted >= counted ? -0.5 : wanted > 0 && bound < by_threshold ? bound : by_threshold;
}

/* Finds the rank-th largest of terms from 0 on, digit by digit of its bits: counts the next digits of terms
 * that begin as it does. Counts are whole numbers, whose sum has no order. */
enum { DIGITS = 256 };
struct Selection {
    double count[DIGITS], begins, rank, counted, all;
};

/* The place of the term of point i of all samples. */
DEVICE long term_at(unsigned i, unsigned points, long sample) {
    return i / points * sample + i % points;
}

[[maybe_unused]] static __global__ void unet_begin_selection(double *scratch) {
    Selection *s = reinterpret_cast<Selection *>(scratch);
    if (threadIdx.x < DIGITS)
        s->count[threadIdx.x] = 0;
    if (threadIdx.x == 0)
        s->begins = s->rank = s->counted = s->all = 0;
}

/* The term of point i, -1 where it does not count. */
DEVICE void store_term(real *terms, long sample, const stored *x, const uint8_t *t,
                       const UnetControl *control, Classified by, unsigned i) {
    const unsigned points = vectors(1, by.points);
    const bool here = is_valid(control, i / points) &&
                      inside(valid_size(control, i / points), point_at(by.points, i % points));
    const int label = here ? label_at(t, by, i) : -1;
    terms[term_at(i, points, sample)] = label < 0 ? -1 : (real)class_term(logits_at(x, by, i), by, label);
}

/* The points that are image, in all samples. */
DEVICE double all_points(const UnetControl *control, Grid points, int samples) {
    double all = 0;
    for (int i = 0; i < samples && is_valid(control, i); i++) {
        const int32_t *size = valid_size(control, i); /* in training larger than any image */
        all += (double)(size[0] < points.d ? size[0] : points.d) *
               (size[1] < points.h ? size[1] : points.h) * (size[2] < points.w ? size[2] : points.w);
    }
    return all;
}

/* One block calls this, and its thread 0 decides.  With the first digit all terms are counted. */
template <int N>
DEVICE void choose_digit(Selection *s, const UnetControl *control, Grid points, Hard hard, int shift) {
    SHARED(double, count, [DIGITS]);
    count[threadIdx.x] = s->count[threadIdx.x];
    s->count[threadIdx.x] = 0;
    __syncthreads();
    if (threadIdx.x > 0)
        return;
    double rank = s->rank;
    int digit = DIGITS;
    if (shift == 24) {
        double counted = 0;
        for (int k = 0; k < DIGITS; k++)
            counted += count[k];
        s->counted = counted;
        s->all = all_points(control, points, N);
        rank = kept_at_least(hard, s->all);
    }
    do
        rank -= count[--digit];
    while (rank > 0 && digit > 0);
    s->rank = rank + count[digit];
    s->begins = s->begins * DIGITS + digit;
}

/* How many of the terms have which digit at `shift`; the last block to come chooses one.  Blocks count for
 * themselves first, and there are few of them, for many terms begin alike, and additions to one number wait
 * for each other. */
template <int N>
static __global__ void unet_find_digit(double *scratch, const real *terms, Grid points, long sample,
                                       const UnetControl *control, Hard hard, int shift,
                                       uint32_t *arrived) {
    static_assert((int)DIGITS == (int)THREADS, "a digit for each thread");
    Selection *s = reinterpret_cast<Selection *>(scratch);
    SHARED(uint32_t, found, [DIGITS]);
    found[threadIdx.x] = 0;
    __syncthreads();
    for (unsigned i = thread_index(); i < vectors(N, points); i += gridDim.x * THREADS) {
        const real term = terms[term_at(i, vectors(1, points), sample)];
        uint32_t bits;
        memcpy(&bits, &term, sizeof bits);
        bits &= 0x7fffffff;
        if (!(term < 0) && (bits >> shift) / DIGITS == (uint32_t)s->begins)
            atomicAdd(&found[bits >> shift & (DIGITS - 1)], (uint32_t)1);
    }
    __syncthreads();
    if (found[threadIdx.x] > 0)
        atomicAdd(&s->count[threadIdx.x], (double)found[threadIdx.x]);
    if (is_last_block(arrived))
        choose_digit<N>(s, control, points, hard, shift);
}

DEVICE double selected_limit(const Selection *s, Hard hard) {
    const uint32_t bits = (uint32_t)s->begins;
    float bound;
    memcpy(&bound, &bits, sizeof bound);
    return hard_limit(hard, s->counted, kept_at_least(hard, s->all), bound);
}

/* One thread adds the parts in order. Bounds: the limit, and what the sum is divided by. */
template <int N>
DEVICE void end_hard(double *result, double *bounds, const double *scratch, int parts, bool adds,
                     const UnetControl *control, Hard hard) {
    const Selection *s = reinterpret_cast<const Selection *>(scratch);
    const double *part = scratch + sizeof(Selection) / sizeof *scratch;
    double sum = 0, kept = 0;
    for (int i = 0; i < parts; i++) {
        sum += part[2 * i];
        kept += part[2 * i + 1];
    }
    bounds[0] = selected_limit(s, hard);
    bounds[1] = kept + 1e-5 * s->all;
    *result = (adds ? *result : 0) + (s->all > 0 ? samples_of(control, N) * (sum / bounds[1]) : 0);
}

/* For a block each: sum and number of the terms above the limit, of the bands of all terms.  The last
 * block to come ends the sums. */
template <int N, int ACCUMULATE>
static __global__ void unet_sum_hard(double *result, double *bounds, double *scratch, const real *terms,
                                     unsigned points, long sample, const UnetControl *control, Hard hard,
                                     uint32_t *arrived) {
    const Selection *s = reinterpret_cast<const Selection *>(scratch);
    double *to = scratch + sizeof(Selection) / sizeof *scratch + blockIdx.x * gridDim.y + blockIdx.y;
    const double limit = selected_limit(s, hard);
    double total = 0;
    for (unsigned i = part_start(N * points, gridDim.x, blockIdx.x) + threadIdx.x;
         i < part_start(N * points, gridDim.x, blockIdx.x + 1); i += THREADS) {
        const double term = terms[term_at(i, points, sample)];
        if (!(term <= limit))
            total += blockIdx.y == 0 ? term : 1;
    }
    total = block_sum(total);
    if (threadIdx.x == 0)
        *to = total;
    if (is_last_block(arrived) && threadIdx.x == 0)
        end_hard<N>(result, bounds, scratch, (int)gridDim.x, ACCUMULATE, control, hard);
}

/* ---- Lovasz extensions ---- */

/* The Jaccard loss of a class of `truly` points, when the first `taken` points are wrong, and `hits` of
 * them are of the class. */
DEVICE double jaccard_of(double truly, double taken, double hits) {
    return taken > 0 ? 1 - (truly - hits) / (truly + taken - hits) : 0;
}

/* How wrong a point is of class k, where its share or, of one channel, its logit is given. */
DEVICE double error_of(double given, int is_class, int one) {
    const double error = one ? 1 - (is_class ? given : -given) : is_class ? 1 - given : given;
    return error > 0 ? error : 0;
}

/* The slope of the error by the logit or softmax. */
DEVICE double error_slope(double error, int is_class, int one) {
    return one && !(error > 0) ? 0 : is_class ? -1 : 1;
}

/* Points in the order of their errors: sorted by the digits of their bits, the last first, in parts that
 * follow each other, one for each thread. Behind the struct lie the errors and the numbers of all points,
 * twice. */
enum { SORTING_PARTS = 2048, SORTING_DIGITS = 16 };
struct Sorting {
    double loss[SORTING_PARTS], truly, all, present;
    uint32_t place[SORTING_DIGITS][SORTING_PARTS], hits[SORTING_PARTS];
};
static_assert(SORTING_PARTS % THREADS == 0, "all threads of a block scan equally many parts");

/* The sum of OWN over the threads of the block in front of this thread. */
DEVICE uint32_t block_before(uint32_t own) {
    SHARED(uint32_t, sum, [THREADS]);
    sum[threadIdx.x] = own;
    for (int distance = 1; distance < THREADS; distance *= 2) {
        __syncthreads();
        const uint32_t left = (int)threadIdx.x >= distance ? sum[threadIdx.x - distance] : 0;
        __syncthreads();
        sum[threadIdx.x] += left;
    }
    return sum[threadIdx.x] - own;
}

/* By one block: each of COUNT numbers becomes the sum of the numbers in front of it. Returns the sum of
 * those up to this thread's last. */
DEVICE uint32_t scan(uint32_t *number, int count) {
    const int each = count / THREADS;
    uint32_t *own = number + threadIdx.x * each, sum = 0;
#pragma unroll 8
    for (int i = 0; i < each; i++)
        sum += own[i];
    sum = block_before(sum);
    for (int i = 0; i < each; i++) {
        const uint32_t these = own[i];
        own[i] = sum;
        sum += these;
    }
    return sum;
}

/* The points of all samples, as slopes and labels have them. */
struct Sorted {
    Classified by;
    const uint8_t *t;
    const UnetControl *control;
    unsigned count, points;
    long sample;
    DEVICE_MEMBER int label(unsigned point) const {
        const bool there = is_valid(control, point / points) &&
                           inside(valid_size(control, point / points), point_at(by.points, point % points));
        return there ? label_at(t, by, point) : -1;
    }
};

DEVICE int digit_of(uint32_t error, int shift) {
    return SORTING_DIGITS - 1 - (error >> shift & (SORTING_DIGITS - 1));
}

[[maybe_unused]] static __global__ void unet_begin_sorting(double *scratch) {
    Sorting *s = reinterpret_cast<Sorting *>(scratch);
    if (threadIdx.x == 0)
        s->all = s->present = 0;
}

[[maybe_unused]] static __global__ void unet_count_places(double *scratch, const uint32_t *from,
                                                          unsigned count, int shift) {
    Sorting *s = reinterpret_cast<Sorting *>(scratch);
    const unsigned part = thread_index();
    SHARED(uint32_t, of_digit, [SORTING_DIGITS][THREADS]); /* each thread has a column */
    if (part >= SORTING_PARTS)
        return;
    for (int digit = 0; digit < SORTING_DIGITS; digit++)
        of_digit[digit][threadIdx.x] = 0;
    for (unsigned k = part_start(count, SORTING_PARTS, part);
         k < part_start(count, SORTING_PARTS, part + 1); k++)
        of_digit[digit_of(from[k], shift)][threadIdx.x]++;
    for (int digit = 0; digit < SORTING_DIGITS; digit++)
        s->place[digit][part] = of_digit[digit][threadIdx.x];
}

/* One block. */
[[maybe_unused]] static __global__ void unet_sum_places(double *scratch) {
    Sorting *s = reinterpret_cast<Sorting *>(scratch);
    (void)scan(s->place[0], SORTING_DIGITS * SORTING_PARTS);
}

[[maybe_unused]] static __global__ void unet_move_places(double *scratch, const uint32_t *from,
                                                         uint32_t *to, unsigned count, int shift) {
    const Sorting *s = reinterpret_cast<const Sorting *>(scratch);
    const unsigned part = thread_index();
    SHARED(uint32_t, next, [SORTING_DIGITS][THREADS]); /* each thread has a column */
    if (part >= SORTING_PARTS)
        return;
    for (int digit = 0; digit < SORTING_DIGITS; digit++)
        next[digit][threadIdx.x] = s->place[digit][part];
    for (unsigned k = part_start(count, SORTING_PARTS, part);
         k < part_start(count, SORTING_PARTS, part + 1); k++) {
        const uint32_t place = next[digit_of(from[k], shift)][threadIdx.x]++;
        to[place] = from[k];
        to[count + place] = from[count + k];
    }
}

/* Softmax of each class, or the logit of one channel, where slopes will be. */
DEVICE void store_given(real *slopes, const stored *x, Sorted of, unsigned i) {
    if (i >= of.count)
        return;
    real *to = slopes + term_at(i, of.points, of.sample);
    const Logits logits = logits_at(x, of.by, i);
    const double level = level_of(logits, of.by.classes);
    for (int c = 0; c < of.by.channels; c++)
        to[(long)c * of.points] =
            (real)(of.by.channels == 1 ? logits.at(1) : share_of(logits.at(c), level));
}

/* The error of point i by class k. */
DEVICE void store_error(uint32_t *errors, const real *given, Sorted of, int k, unsigned i) {
    if (i >= of.count)
        return;
    const int label = of.label(i);
    const float error = label < 0 ? 0
                                  : (float)error_of(given[term_at(i, of.points, of.sample)], label == k,
                                                    of.by.channels == 1);
    memcpy(&errors[i], &error, sizeof error);
    errors[of.count + i] = i;
}

/* How many of the sorted points of a part are of class k. */
DEVICE void count_hits(double *scratch, const uint32_t *errors, Sorted of, int k, unsigned part) {
    Sorting *s = reinterpret_cast<Sorting *>(scratch);
    if (part >= SORTING_PARTS)
        return;
    uint32_t hits = 0;
    for (unsigned i = part_start(of.count, SORTING_PARTS, part);
         i < part_start(of.count, SORTING_PARTS, part + 1); i++)
        hits += of.label(errors[of.count + i]) == k;
    s->hits[part] = hits;
}

/* One block: how many there are before each part, and of all. */
[[maybe_unused]] static __global__ void unet_sum_hits(double *scratch) {
    Sorting *s = reinterpret_cast<Sorting *>(scratch);
    const uint32_t hits = scan(s->hits, SORTING_PARTS);
    if (threadIdx.x == THREADS - 1)
        s->truly = hits;
}

/* The slopes of sorted points, and in s->loss what each part adds. */
DEVICE void store_lovasz(double *scratch, const uint32_t *errors, real *slopes, Sorted of, int k,
                         unsigned part) {
    Sorting *s = reinterpret_cast<Sorting *>(scratch);
    const int one = of.by.channels == 1;
    if (part >= SORTING_PARTS)
        return;
    double hits = s->hits[part], loss = 0;
    for (unsigned i = part_start(of.count, SORTING_PARTS, part);
         i < part_start(of.count, SORTING_PARTS, part + 1); i++) {
        const unsigned point = errors[of.count + i];
        const int label = of.label(point), is_class = label == k;
        float error;
        memcpy(&error, &errors[i], sizeof error);
        const double step = jaccard_of(s->truly, i + 1.0, hits + is_class) - jaccard_of(s->truly, i, hits);
        const int counts = label >= 0 && (one || s->truly > 0);
        slopes[term_at(point, of.points, of.sample)] =
            (real)(counts ? step * error_slope(error, is_class, one) : 0);
        loss += counts ? step * error : 0;
        hits += is_class;
    }
    s->loss[part] = loss;
}

/* One block adds the parts of a class. */
template <int ONE> static __global__ void unet_end_class(double *scratch) {
    Sorting *s = reinterpret_cast<Sorting *>(scratch);
    double loss = 0;
    for (int part = threadIdx.x; part < SORTING_PARTS; part += THREADS)
        loss += s->loss[part];
    loss = block_sum(loss);
    if (threadIdx.x > 0)
        return;
    s->present += s->truly > 0 || ONE;
    s->all += loss;
}

template <int N, int ACCUMULATE>
static __global__ void unet_end_lovasz(double *result, double *present, const double *scratch,
                                       const UnetControl *control) {
    const Sorting *s = reinterpret_cast<const Sorting *>(scratch);
    if (threadIdx.x > 0)
        return;
    *present = s->present;
    *result =
        (ACCUMULATE ? *result : 0) + (s->present > 0 ? samples_of(control, N) * s->all / s->present : 0);
}

DEVICE void store_lovasz_slopes(stored *dx, int dx_ring, const stored *x, const UnetControl *control,
                                Classified by, unsigned point, double present, const real *slopes,
                                long sample, double weight) {
    const unsigned points = vectors(1, by.points);
    const bool there = is_valid(control, point / points) && present > 0;
    const Logits logits = logits_at(x, by, point);
    const real *given = slopes + term_at(point, points, sample);
    stored *to = dx + (long)by.at(dx_ring, point) * by.x_block;
    const double level = there ? level_of(logits, by.classes) : 0;
    double mean = 0;
    for (int k = 0; k < by.channels && by.channels > 1 && there; k++)
        mean += share_of(logits.at(k), level) * given[(long)k * points];
    for (int c = 0; c < by.x_block; c++) {
        double slope = 0;
        if (there && c < by.channels)
            slope = by.channels == 1 ? (double)given[0]
                                     : share_of(logits.at(c), level) * (given[(long)c * points] - mean);
        store(to, c, (real)(there ? weight / present * slope : 0));
    }
}
/* END */
