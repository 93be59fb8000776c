/* norm_dgrad.c - gradient of a normalisation by its input; LEAKY: dy is by what a leaky ReLU behind made,
 * with slopes that are weights, if LEARNT. */
#include "norms.c"

#define KERNEL norm_dgrad
#define AT_RUN_TIME RING, H, W, C, GROUPS
#include "../example.h"

/* BEGIN */
/* Numbers that all points of vector v of a sample, or of the batch, share. */
typedef struct {
    Normal normal;
    Vector factor, slope, product, below, weight;
} KERNEL_Shared;

INLINE KERNEL_Shared KERNEL_shared(int i, int v, const real *mean, const real *variance, const real *w,
                                   const real *sums, const real *b, const real *slopes) {
    SIZES;
    const long set = BATCH ? 0 : i * MEAN.sample, sum = BATCH ? 0 : i * SUMS.sample;
    KERNEL_Shared s = {.normal = normal_of(mean + set, variance + set, AFFINE ? w : NULL, AFFINE ? b : NULL,
                                           v, C, GROUPS, EPSILON),
                       .factor = inverse_deviation(of_groups(variance + set, v, C, GROUPS), EPSILON),
                       .slope = of_groups(sums + sum, v, C, GROUPS),
                       .below = slopes_of(LEARNT ? slopes : NULL, SHARED, SLOPE, C, v),
                       .weight = AFFINE ? bias_vector(w, C, v) : (Vector){0} + 1};
    s.product = of_groups(sums + sum + GROUPS, v, C, GROUPS) * s.factor;
    return s;
}

INLINE void KERNEL_row(stored *to, const stored *from, const stored *gradients, int v, KERNEL_Shared s) {
    SIZES;
    for (int p = 0; p < W; p++) {
        const Vector at = load_some(from + p * X.block, lanes(&X, v)), apart = at - s.normal.centre;
        Vector gradient = load_some(gradients + p * DY.block, lanes(&DY, v));
        if (LEAKY)
            gradient = through_leaky(normalised(s.normal, at), gradient, s.below, !LEARNT && SLOPE == 0);
        store_some(to + p * DX.block, (gradient * s.weight - s.slope - apart * s.product) * s.factor,
                   lanes(&DX, v));
    }
}

UNUSED static void KERNEL(int n, Rows rows, stored *dx, const stored *x, const stored *dy, const real *mean,
                          const real *variance, const real *w, const real *sums, const real *b,
                          const real *slopes) {
    SIZES;
    KERNEL_Shared shared = {0};
    long known = -1; /* the sample and vector that it is of */
#pragma omp for collapse(3) schedule(static)
    for (int i = 0; i < n; i++)
        for (int v = 0; v < vectors(&DX); v++)
            for (int r = rows.begin; r < rows.end; r++) {
                const Point row = {i, r / H, r % H, 0};
                if ((long)i * vectors(&DX) + v != known) {
                    shared = KERNEL_shared(i, v, mean, variance, w, sums, b, slopes);
                    known = (long)i * vectors(&DX) + v;
                }
                KERNEL_row(dx + vector_at(&DX, v, row), x + vector_at(&X, v, row),
                           dy + vector_at(&DY, v, row), v, shared);
            }
}
/* END */
