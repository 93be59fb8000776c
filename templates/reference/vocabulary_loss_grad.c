/* vocabulary_loss_grad.c - gradients of the loss of a language model by the channels of its points, and by
 * the table of classes and its bias. */
#include "vocabulary.c"

#define KERNEL vocabulary_loss_grad
#include "../example.h"

/* BEGIN */
/* The slopes of the loss by all logits of a point. */
UNUSED static void KERNEL_slopes(const Vocabulary *by, double *slope, const real *lse, long point,
                                 double factor) {
    SIZES;
    const long class = class_of_point(by, point);
    const double level = (double)lse[point / by->points * LSE.sample + point % by->points];
    for (long j = 0; j < CLASSES; j++)
        slope[j] =
            class < 0 ? 0 : factor * (exp(logit_of_class(by, point, j) - level) - (j == class ? 1 : 0));
}

UNUSED static void KERNEL_point(const Vocabulary *by, stored *dx, const double *slope, long point) {
    SIZES;
    const int i = (int)(point / by->points), at = (int)(point % by->points);
    for (int c = 0; c < stored_channels(&DX); c++) {
        double sum = 0;
        for (long j = 0; c < C && j < CLASSES; j++)
            sum += slope[j] * (double)by->w[j * C + c];
        store(dx, element(&DX, i, c, 0, at / W, at % W), (real)sum);
    }
}

/* The row of class J, of all points. */
UNUSED static void KERNEL_class(const Vocabulary *by, long points, real *dw, real *db, const double *slopes,
                                long j) {
    SIZES;
    for (int c = 0; BY_WEIGHT && c < C; c++) {
        double sum = ACCUMULATE ? (double)dw[j * C + c] : 0;
        for (long point = 0; point < points; point++) {
            const int i = (int)(point / by->points), at = (int)(point % by->points);
            sum += slopes[point * CLASSES + j] * (double)load(by->x, element(&X, i, c, 0, at / W, at % W));
        }
        dw[j * C + c] = (real)sum;
    }
    double sum = BY_BIAS && ACCUMULATE ? (double)db[j] : 0;
    for (long point = 0; point < points; point++)
        sum += slopes[point * CLASSES + j];
    if (BY_BIAS)
        db[j] = (real)sum;
}

UNUSED static void KERNEL(int n, stored *dx, real *dw, real *db, double *scratch, const stored *x,
                          const void *t, const real *lse, const real *w, const real *b, const double *scale,
                          double counted) {
    SIZES;
    const Vocabulary by = {x, t, w, b, X, T, T_STAGED, C, W, D * H * W, CLASSES};
    const double factor = counted > 0 ? WEIGHT * (SCALED ? scale[LOSS_SCALE] : 1) / counted : 0;
#pragma omp for schedule(static)
    for (long point = 0; point < (long)n * by.points; point++)
        KERNEL_slopes(&by, scratch + point * CLASSES, lse, point, factor);
#pragma omp for schedule(static)
    for (long point = 0; point < (long)n * by.points; point++)
        if (BY_INPUT)
            KERNEL_point(&by, dx, scratch + point * CLASSES, point);
#pragma omp for schedule(static)
    for (long j = 0; j < CLASSES; j++)
        KERNEL_class(&by, (long)n * by.points, dw, db, scratch, j);
}
/* END */
