/* vocabulary_loss_grad.c - gradients of the loss of a language model by the channels of its points, and by
 * the table of classes and its bias. */
#include "vocabulary.c"

#define KERNEL vocabulary_loss_grad
#include "../example.h"

/* BEGIN */
/* The sums by the channels of the points of a part: rows of a group. */
INLINE real *KERNEL_sums(Listed list, int group) {
    SIZES;
    return list.more + (long)group * PART_POINTS * row_elements(C);
}

/* Turns logits into slopes, which are zero for points behind the last. */
NOINLINE void KERNEL_slopes(real *logits, Listed list, const Vocabulary *by, const real *lse, long part,
                            long first, int count, real factor) {
    SIZES;
    real level[PART_POINTS] = {0}, factors[PART_POINTS] = {0};
    const int points = points_of_part(list, part);
    for (int k = 0; k < points; k++) {
        const int64_t point = list.point[part + k];
        level[k] = lse[point / by->points * LSE.sample + point % by->points];
        factors[k] = factor;
    }
    for (int j = 0; j < count; j++)
        for (int k = 0; k < PART_POINTS; k += LANES) {
            real *const at = logits + j * PART_POINTS + k;
            const Vector below = load_real(at) - load_real(level + k);
            store_real(at,
                       vector_exp(vector_choose(below < 0, below, (Vector){0})) * load_real(factors + k));
        }
    for (int k = 0; k < points; k++) {
        const long j = list.class[part + k] - first;
        if (j >= 0 && j < count)
            logits[j * PART_POINTS + k] -= factor;
    }
}

/* Adds the slopes of some classes to the rows of the table, and to the bias. */
NOINLINE void KERNEL_weights(real *dw, real *db, const real *slopes, Listed list, int points, int count) {
    SIZES;
    if (BY_WEIGHT)
        add_all((Products){dw, slopes, list.rows, C, PART_POINTS, 1, row_elements(C), points, 1}, count, C);
    for (int j = 0; BY_BIAS && j < count; j++)
        for (int k = 0; k < points; k++)
            db[j] += slopes[j * PART_POINTS + k];
}

NOINLINE void KERNEL_group(real *dw, real *db, Listed list, const Vocabulary *by, const real *lse,
                           long part, int group, real factor) {
    SIZES;
    real *const slopes = list.logits + (long)group * SOME_CLASSES * PART_POINTS, *const sums = KERNEL_sums(
                                                                                     list, group);
    const int points = points_of_part(list, part);
    if (BY_INPUT)
        memset(sums, 0, PART_POINTS * (size_t)row_elements(C) * sizeof *sums);
    for (long first = group_begin(by, group); first < group_begin(by, group + 1); first += SOME_CLASSES) {
        const int count = classes_from(by, group, first);
        make_logits(slopes, list, by, first, count);
        KERNEL_slopes(slopes, list, by, lse, part, first, count, factor);
        KERNEL_weights(dw + first * C, db + first, slopes, list, points, count);
        if (BY_INPUT)
            add_all(
                (Products){sums, slopes, by->w + first * C, row_elements(C), 1, PART_POINTS, C, count, 1},
                points, C);
    }
}

/* Stores the gradient of point K of a part. */
NOINLINE void KERNEL_point(stored *dx, Listed list, const Vocabulary *by, long part, int k) {
    SIZES;
    for (int v = 0; v < vectors(&DX); v++) {
        Vector sum = {0};
        for (int group = 0; group < CLASS_GROUPS; group++)
            sum += load_real(KERNEL_sums(list, group) + k * row_elements(C) + v * LANES);
        store_some(dx + vector_at(&DX, v, point_of(by, list.point[part + k])), sum, lanes(&DX, v));
    }
}

/* Zeroes the gradient of all points, for points that do not count have none. */
INLINE void KERNEL_begin(stored *dx, real *dw, real *db, const Vocabulary *by, long points) {
    SIZES;
#pragma omp for schedule(static)
    for (long point = 0; point < points; point++)
        for (int v = 0; BY_INPUT && v < vectors(&DX); v++)
            store_some(dx + vector_at(&DX, v, point_of(by, point)), (Vector){0}, lanes(&DX, v));
#pragma omp for schedule(static)
    for (long j = 0; j < CLASSES; j++) {
        if (BY_WEIGHT && !ACCUMULATE)
            memset(dw + j * C, 0, (size_t)C * sizeof *dw);
        if (BY_BIAS && !ACCUMULATE)
            db[j] = 0;
    }
}

UNUSED static void KERNEL(int n, stored *dx, real *dw, real *db, void *scratch, const stored *x,
                          const void *t, const real *lse, const real *w, const real *b, const double *scale,
                          double counted) {
    SIZES;
    const Vocabulary by = {x, t, w, BIAS ? b : NULL, &X, &T, T_STAGED, C, W, D * H * W, CLASSES};
    const long points = (long)n * by.points;
    const Listed list = listed(scratch, points, C);
    const real factor = (real)(counted > 0 ? WEIGHT * (SCALED ? scale[LOSS_SCALE] : 1) / counted : 0);
    KERNEL_begin(dx, dw, db, &by, points);
#pragma omp single
    list_points(list, &by, points);
    for (long part = 0; part < *list.count; part += PART_POINTS) {
#pragma omp for schedule(static)
        for (int k = 0; k < PART_POINTS; k++)
            copy_point(list, &by, part, k);
#pragma omp for schedule(static)
        for (int group = 0; group < CLASS_GROUPS; group++)
            KERNEL_group(dw, db, list, &by, lse, part, group, factor);
#pragma omp for schedule(static)
        for (int k = 0; k < points_of_part(list, part); k++)
            if (BY_INPUT)
                KERNEL_point(dx, list, &by, part, k);
    }
}
/* END */
