/* normalize.c - each of GROUPS groups of the channels of a point divided by its length, or, RMS, by the
 * root of the mean of its squares. */
#include "channel_groups.c"

#define KERNEL normalize
#include "../example.h"

/* BEGIN */
/* The factor of the group that begins with channel FIRST.  A NaN stays one. */
INLINE real KERNEL_factor(const stored *x, Point at, int first) {
    SIZES;
    const int end = first + C / GROUPS;
    Vector squares = {0};
    for (int v = first / LANES; v * LANES < end; v++) {
        const Vector here = lanes_between(load_some(x + vector_at(&X, v, at), lanes(&X, v)),
                                          first - v * LANES, end - v * LANES);
        squares += here * here;
    }
    const real sum = sum_of_lanes(squares), length = sqrtf(sum);
    return 1 / (RMS                      ? sqrtf(sum / (C / GROUPS) + (real)EPSILON)
                : length < (real)EPSILON ? (real)EPSILON
                                         : length);
}

/* The factors of vector V.  `last` holds the factors of the vector before it, whose last group goes on. */
INLINE Vector KERNEL_factors(Vector last, const stored *x, Point at, int v) {
    SIZES;
    enum { EACH = C / GROUPS };
    const int step = group_step(C, EACH);
    real part[LANES], factor = last[LANES - 1];
    for (int k = 0; k < LANES; k++) {
        const int c = v * LANES + k;
        if (k % step == 0 && c < C && c % EACH == 0)
            factor = KERNEL_factor(x, at, c);
        part[k] = factor;
    }
    return load_real(part);
}

UNUSED static void KERNEL(int n, Rows rows, stored *y, const stored *x) {
    SIZES;
#pragma omp for collapse(2) schedule(static)
    for (int i = 0; i < n; i++)
        for (int r = rows.begin; r < rows.end; r++)
            for (int w = 0; w < W; w++) {
                const Point at = {i, r / H, r % H, w};
                Vector factors = {0};
                for (int v = 0; v < vectors(&Y); v++) {
                    factors = KERNEL_factors(factors, x, at, v);
                    const Vector z = load_some(x + vector_at(&X, v, at), lanes(&X, v)) * factors;
                    store_some(y + vector_at(&Y, v, at), first_lanes(z, C - v * LANES), lanes(&Y, v));
                }
            }
}
/* END */
