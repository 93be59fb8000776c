/* norm_dgrad.c - gradient of a normalisation by its input; LEAKY: dy is by what a leaky ReLU behind made,
 * with slopes that are weights, if LEARNT. */
#include "norms.c"

#define KERNEL norm_dgrad
#define AT_RUN_TIME H, W, C, GROUPS
#include "../example.h"

/* BEGIN */
UNUSED static void KERNEL(int n, Rows rows, stored *dx, const stored *x, const stored *dy, const real *mean,
                          const real *variance, const real *w, const real *sums, const real *b,
                          const real *slopes) {
    SIZES;
#pragma omp for collapse(3) schedule(static)
    for (int i = 0; i < n; i++)
        for (int v = 0; v < vectors(&DX); v++)
            for (int r = rows.begin; r < rows.end; r++) {
                const Point row = {i, r / H, r % H, 0};
                const long set = BATCH ? 0 : i * MEAN.sample, sum = BATCH ? 0 : i * SUMS.sample;
                const Normal normal = normal_of(mean + set, variance + set, AFFINE ? w : NULL,
                                                AFFINE ? b : NULL, v, C, GROUPS, EPSILON);
                const Vector factor = inverse_deviation(of_groups(variance + set, v, C, GROUPS), EPSILON);
                const Vector slope = of_groups(sums + sum, v, C, GROUPS);
                const Vector product = of_groups(sums + sum + GROUPS, v, C, GROUPS) * factor;
                const Vector below = slopes_of(LEARNT ? slopes : NULL, SHARED, SLOPE, C, v);
                const Vector weight = AFFINE ? bias_vector(w, C, v) : (Vector){0} + 1;
                const stored *from = x + vector_at(&X, v, row), *gradients = dy + vector_at(&DY, v, row);
                stored *to = dx + vector_at(&DX, v, row);
                for (int p = 0; p < W; p++) {
                    const Vector at = load_some(from + p * X.block, lanes(&X, v));
                    const Vector apart = at - normal.centre;
                    Vector gradient = load_some(gradients + p * DY.block, lanes(&DY, v));
                    if (LEAKY)
                        gradient =
                            through_leaky(normalised(normal, at), gradient, below, !LEARNT && SLOPE == 0);
                    store_some(to + p * DX.block, (gradient * weight - slope - apart * product) * factor,
                               lanes(&DX, v));
                }
            }
}
/* END */
