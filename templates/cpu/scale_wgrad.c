/* scale_wgrad.c - gradients of a factor and a bias for each channel, or, if SHARED, of one factor for all;
 * BELOW_ZERO: of factors where x is not positive. Either may be absent. Sums over a row, then over the rows
 * of a sample in double, if SHARED, over channels, then over samples. */
#include "norms.c"

#define KERNEL scale_wgrad
#define AT_RUN_TIME RING, C, D, H, W
#include "../example.h"

/* BEGIN */
/* The sums of vector v of sample i: of dy x, and of dy. */
INLINE void KERNEL_sums(int i, double sum[2][LANES], const stored *x, const stored *dy, int v) {
    SIZES;
    for (int r = 0; r < D * H; r++) {
        const Point row = {i, r / H, r % H, 0};
        const stored *at = x + vector_at(&X, v, row), *slope = dy + vector_at(&DY, v, row);
        Vector products = {0}, slopes = {0};
        for (int p = 0; p < W; p++) {
            const Vector here = load_some(at + p * X.block, lanes(&X, v));
            const Vector gradient = load_some(slope + p * DY.block, lanes(&DY, v));
            const Vector product = here * gradient;
            products += BELOW_ZERO ? vector_choose(here > 0, (Vector){0}, product) : product;
            slopes += gradient;
        }
        add_lanes(sum[0], products);
        add_lanes(sum[1], slopes);
    }
}

INLINE void KERNEL_sample(int i, real *dw, real *db, double *scratch, const stored *x, const stored *dy) {
    SIZES;
    const int more = ACCUMULATE || i > 0;
#pragma omp for schedule(static)
    for (int v = 0; v < vectors(&X); v++) {
        double sum[2][LANES] = {{0}};
        KERNEL_sums(i, sum, x, dy, v);
        for (int k = 0; k < LANES && v * LANES + k < C; k++) {
            const int c = v * LANES + k;
            if (SHARED)
                scratch[c] = sum[0][k];
            else if (dw != NULL)
                dw[c] = (more ? dw[c] : 0) + (real)sum[0][k];
            if (BIAS)
                db[c] = (more ? db[c] : 0) + (real)sum[1][k];
        }
    }
#pragma omp for schedule(static)
    for (int one = 0; one < SHARED; one++) {
        double total = 0;
        for (int c = 0; c < C; c++)
            total += scratch[c];
        dw[0] = (more ? dw[0] : 0) + (real)total;
    }
}

UNUSED static void KERNEL(int n, real *dw, real *db, double *scratch, const stored *x, const stored *dy) {
    SIZES;
    for (int i = 0; i < n; i++)
        KERNEL_sample(i, dw, db, scratch, x, dy);
}
/* END */
