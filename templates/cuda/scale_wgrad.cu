/* scale_wgrad.cu - gradients of a factor and a bias for each channel, or, if SHARED, of one factor for all;
 * BELOW_ZERO: of factors where x is not positive. A block sums over all points of all samples for one
 * vector of channels, or for all. */
#include "prologue.cuh"

#define KERNEL scale_wgrad
#include "../example_cuda.h"

/* BEGIN */
static __global__ void KERNEL_columns(real *dw, real *db, const stored *__restrict__ x,
                                      const stored *__restrict__ dy) {
    SIZES;
    constexpr int columns = X.block / LANES;
    constexpr unsigned each = SHARED ? 1 : columns, count = (unsigned)N * D * H * W * columns / each;
    Vector products = filled(0), slopes = filled(0);
    for (unsigned p = threadIdx.x; p < count; p += THREADS) {
        const unsigned at = p * each + blockIdx.x;
        const Vector here = load_vector(x, at), gradient = load_vector(dy, at);
        for (int l = 0; l < LANES; l++)
            products.lane[l] += BELOW_ZERO && here.lane[l] > 0 ? 0 : here.lane[l] * gradient.lane[l];
        slopes = sum(slopes, gradient);
    }
    products = block_vector_sum(products);
    if (BIAS) {
        __syncthreads();
        slopes = block_vector_sum(slopes);
    }
    if (threadIdx.x != 0)
        return;
    real total = 0;
    for (int l = 0; l < LANES; l++) {
        const int c = blockIdx.x * LANES + l;
        total += products.lane[l];
        if (!SHARED && c < C)
            dw[c] = (ACCUMULATE ? dw[c] : 0) + products.lane[l];
        if (BIAS && c < C)
            db[c] = (ACCUMULATE ? db[c] : 0) + slopes.lane[l];
    }
    if (SHARED)
        dw[0] = (ACCUMULATE ? dw[0] : 0) + total;
}

LAUNCHER void KERNEL(UnetLaunch at, real *dw, real *db, double *, const stored *x, const stored *dy) {
    SIZES;
    LAUNCH_BLOCKS(at, KERNEL_columns, SHARED ? 1 : X.block / LANES, dw, db, x, dy);
}
/* END */
