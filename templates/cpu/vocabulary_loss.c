/* vocabulary_loss.c - cross entropy of `linear(x, classes)` and the number of a class at each point; or the
 * share of points that are right. */
#include "vocabulary.c"

#define KERNEL vocabulary_loss
#include "../example.h"

/* BEGIN */
#include <math.h>

/* Numbers of the points of a part: for each group the largest logit and the sum of exp(logit - largest),
 * and the logit of the class of the point. */
typedef struct {
    real *largest, *sum, *own;
} KERNEL_Found;

INLINE KERNEL_Found KERNEL_found(Listed list) {
    return (KERNEL_Found){list.more, list.more + CLASS_GROUPS * PART_POINTS,
                          list.more + 2 * CLASS_GROUPS * PART_POINTS};
}

/* Adds the logits of COUNT classes to the numbers of LANES points. */
INLINE void KERNEL_add(real *largest, real *sum, const real *logits, int count) {
    const Vector before = load_real(largest);
    Vector most = before;
    for (int j = 0; j < count; j++) {
        const Vector logit = load_real(logits + j * PART_POINTS);
        most = vector_choose(logit > most, logit, most);
    }
    Vector total = load_real(sum) * vector_exp(before - most);
    for (int j = 0; j < count; j++)
        total += vector_exp(load_real(logits + j * PART_POINTS) - most);
    store_real(largest, most);
    store_real(sum, total);
}

NOINLINE void KERNEL_group(Listed list, const Vocabulary *by, long part, int group) {
    const int points = points_of_part(list, part);
    const KERNEL_Found found = KERNEL_found(list);
    real *const logits = list.logits + (long)group * SOME_CLASSES * PART_POINTS,
                *const largest = found.largest + group * PART_POINTS,
                *const sum = found.sum + group * PART_POINTS;
    for (int k = 0; k < PART_POINTS; k += LANES) {
        store_real(largest + k, (Vector){0} - INFINITY);
        store_real(sum + k, (Vector){0});
    }
    for (long first = group_begin(by, group); first < group_begin(by, group + 1); first += SOME_CLASSES) {
        const int count = classes_from(by, group, first);
        make_logits(logits, list, by, first, count);
        for (int k = 0; k < points; k += LANES)
            KERNEL_add(largest + k, sum + k, logits + k, count);
        for (int k = 0; k < points; k++) {
            const long j = list.class[part + k] - first;
            if (j >= 0 && j < count)
                found.own[k] = logits[j * PART_POINTS + k];
        }
    }
}

/* The largest logit of point K of a part. */
INLINE double KERNEL_largest(KERNEL_Found found, int k) {
    double most = -INFINITY;
    for (int group = 0; group < CLASS_GROUPS; group++)
        most = fmax(most, (double)found.largest[group * PART_POINTS + k]);
    return most;
}

/* The logarithm of the sum over all groups of that point. */
INLINE double KERNEL_level(KERNEL_Found found, int k) {
    const double most = KERNEL_largest(found, k);
    double sum = 0;
    for (int group = 0; group < CLASS_GROUPS; group++) {
        const double part = (double)found.sum[group * PART_POINTS + k];
        sum += part == 0 ? 0 : part * exp((double)found.largest[group * PART_POINTS + k] - most);
    }
    return most + log(sum);
}

/* The term of point K of a part, and the number that the gradient reads.  RIGHT: 1 if no logit is larger
 * than its own. */
INLINE double KERNEL_term(Listed list, const Vocabulary *by, real *lse, long part, int k) {
    SIZES;
    const KERNEL_Found found = KERNEL_found(list);
    if (RIGHT)
        return (double)found.own[k] >= KERNEL_largest(found, k);
    const double level = KERNEL_level(found, k);
    const int64_t point = list.point[part + k];
    if (LEARNT)
        lse[point / by->points * LSE.sample + point % by->points] = (real)level;
    return level - (double)found.own[k];
}

UNUSED static void KERNEL(int n, int total, double *result, real *lse, void *scratch, const stored *x,
                          const void *t, const real *w, const real *b, double counted) {
    SIZES;
    const Vocabulary by = {x, t, w, BIAS ? b : NULL, &X, &T, T_STAGED, C, W, D * H * W, CLASSES};
    const long points = (long)n * by.points;
    const Listed list = listed(scratch, points, C);
#pragma omp single
    {
        list_points(list, &by, points);
        *result = ACCUMULATE ? *result : 0;
        for (long point = 0; LEARNT && point < points; point++)
            lse[point / by.points * LSE.sample + point % by.points] = 0;
    }
    for (long part = 0; part < *list.count; part += PART_POINTS) {
#pragma omp for schedule(static)
        for (int k = 0; k < PART_POINTS; k++)
            copy_point(list, &by, part, k);
#pragma omp for schedule(static)
        for (int group = 0; group < CLASS_GROUPS; group++)
            KERNEL_group(list, &by, part, group);
#pragma omp single
        for (int k = 0; k < points_of_part(list, part); k++)
            *result += KERNEL_term(list, &by, lse, part, k) * (total / counted);
    }
}
/* END */
