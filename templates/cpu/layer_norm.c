/* layer_norm.c - normalisation by mean and variance of the channels of a point. */
#include "norms.c"

#define KERNEL layer_norm
#include "../example.h"

/* BEGIN */
INLINE real KERNEL_total(Vector v) {
    real part[LANES], total = 0;
    store_real(part, v);
    for (int k = 0; k < LANES; k++)
        total += part[k];
    return total;
}

/* Mean and variance of a point. */
INLINE void KERNEL_statistics(const stored *x, Point at, real *mean, real *variance) {
    SIZES;
    Vector sum = {0}, squares = {0};
    for (int v = 0; v < vectors(&X); v++)
        sum += load_some(x + vector_at(&X, v, at), lanes(&X, v));
    *mean = KERNEL_total(sum) / C;
    for (int v = 0; v < vectors(&X); v++) {
        const Vector from_mean =
            first_lanes(load_some(x + vector_at(&X, v, at), lanes(&X, v)) - *mean, C - v * LANES);
        squares += from_mean * from_mean;
    }
    *variance = KERNEL_total(squares) / C;
}

UNUSED static void KERNEL(int n, Rows rows, stored *y, const stored *x) {
    SIZES;
#pragma omp for collapse(2) schedule(static)
    for (int i = 0; i < n; i++)
        for (int r = rows.begin; r < rows.end; r++)
            for (int w = 0; w < W; w++) {
                const Point at = {i, r / H, r % H, w};
                real mean, variance;
                KERNEL_statistics(x, at, &mean, &variance);
                const real factor = 1 / sqrtf(variance + (real)EPSILON);
                for (int v = 0; v < vectors(&Y); v++) {
                    const Vector z = (load_some(x + vector_at(&X, v, at), lanes(&X, v)) - mean) * factor;
                    store_some(y + vector_at(&Y, v, at), first_lanes(z, C - v * LANES), lanes(&Y, v));
                }
            }
}
/* END */
