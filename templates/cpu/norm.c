/* norm.c - normalisation by given means and variances, of each of GROUPS groups of channels: of each
 * sample, or, if BATCH, for all samples the same; LEAKY: with a leaky ReLU behind it, with slopes that are
 * weights, if LEARNT. */
#include "norms.c"

#define KERNEL norm
#define AT_RUN_TIME RING, H, W, C, GROUPS
#include "../example.h"

/* BEGIN */
INLINE Vector KERNEL_activated(Vector v, Vector slopes) {
    SIZES;
    return !LEAKY ? v : !LEARNT && SLOPE == 0 ? vector_relu(v) : vector_choose(v > 0, v, slopes * v);
}

UNUSED static void KERNEL(int n, Rows rows, stored *y, const stored *x, const real *mean,
                          const real *variance, const real *w, const real *b, const real *slopes) {
    SIZES;
    Normal normal = {0};
    Vector below = {0};
    long known = -1; /* the sample and vector that these are of */
#pragma omp for collapse(3) schedule(static)
    for (int i = 0; i < n; i++)
        for (int v = 0; v < vectors(&Y); v++)
            for (int r = rows.begin; r < rows.end; r++) {
                const Point row = {i, r / H, r % H, 0};
                const long set = BATCH ? 0 : i * MEAN.sample, number = (long)i * vectors(&Y) + v;
                if (number != known) {
                    normal = normal_of(mean + set, variance + set, AFFINE ? w : NULL, AFFINE ? b : NULL, v,
                                       C, GROUPS, EPSILON);
                    below = slopes_of(LEARNT ? slopes : NULL, SHARED, SLOPE, C, v);
                    known = number;
                }
                stored *to = y + vector_at(&Y, v, row);
                const stored *from = x + vector_at(&X, v, row);
                for (int p = 0; p < W; p++)
                    store_some(to + p * Y.block,
                               KERNEL_activated(
                                   normalised(normal, load_some(from + p * X.block, lanes(&X, v))), below),
                               lanes(&Y, v));
            }
}
/* END */
