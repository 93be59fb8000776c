/* embedding_wgrad.cu - gradient of a table of rows: each row has the sum over the points that read it, in
 * their order. */
#include "prologue.cuh"

#define KERNEL embedding_wgrad
#include "../example_cuda.h"

/* BEGIN */
/* The row that point I of all samples reads. */
DEVICE long KERNEL_row(const void *x, unsigned i) {
    SIZES;
    const real number = load_channels<X_STAGED>(x, X.block, 1, i, 0).lane[0], nearest = number + 0.5f;
    return nearest >= (real)(COUNT - 1) ? COUNT - 1 : nearest > 0 ? (long)nearest : 0;
}

static __global__ void KERNEL_zeros(real *__restrict__ dw) {
    SIZES;
    const long i = (long)blockIdx.x * THREADS + threadIdx.x;
    if (i < (long)COUNT * C)
        dw[i] = 0;
}

/* A thread has a vector of channels of a point.  The first point that reads a row adds up the row, in the
 * order of the points, so no two threads add to one number. */
static __global__ void KERNEL_vectors(real *__restrict__ dw, const void *__restrict__ x,
                                      const stored *__restrict__ dy) {
    SIZES;
    constexpr unsigned columns = DY.block / LANES, points = (unsigned)N * D * H * W;
    const unsigned i = blockIdx.x * THREADS + threadIdx.x, point = i / columns, column = i % columns;
    if (point >= points)
        return;
    if (i == 0)
        zero_padding(dw + (long)COUNT * C, slice_padding((long)COUNT * C));
    const long row = KERNEL_row(x, point);
    for (unsigned before = 0; before < point; before++)
        if (KERNEL_row(x, before) == row)
            return;
    Vector total = load_vector(dy, i);
    for (unsigned p = point + 1; p < points; p++)
        if (KERNEL_row(x, p) == row)
            total = sum(total, load_vector(dy, p * columns + column));
    for (int l = 0; l < LANES && (int)column * LANES + l < C; l++)
        dw[row * C + (int)column * LANES + l] += total.lane[l];
}

LAUNCHER void KERNEL(UnetLaunch at, real *dw, const void *x, const stored *dy) {
    SIZES;
    if (!ACCUMULATE)
        LAUNCH_BLOCKS(at, KERNEL_zeros, blocks_for((long)COUNT * C), dw);
    LAUNCH_BLOCKS(at, KERNEL_vectors, blocks_for((long)N * D * H * W * (DY.block / LANES)), dw, x, dy);
}
/* END */
