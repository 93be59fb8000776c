/* avg_pool.cu - mean over windows; padding counts as zeros, which the mean includes (PyTorch's
 * count_include_pad), or, INSIDE, it does not count. */
#include "prologue.cuh"

#define KERNEL avg_pool
#include "../example_cuda.h"

/* BEGIN */
static __global__ void KERNEL_windows(Range range, stored *__restrict__ y, const stored *__restrict__ x) {
    SIZES;
    constexpr Grid in = {ID, IH, IW, X.block / LANES, X.ring}, out = {D, H, W, Y.block / LANES, Y.ring};
    constexpr Window window = {KD, KH, KW, SD, SH, SW, PD, PH, PW};
    const unsigned i = vector_index(range);
    if (i == NO_VECTOR)
        return;
    const Point o = point_at(out, i);
    Vector total = filled(0);
    int count = 0;
    for (int kd = 0; kd < KD; kd++)
        for (int kh = 0; kh < KH; kh++)
            for (int kw = 0; kw < KW; kw++) {
                const Point p = under(window, o, kd, kh, kw);
                if (!inside(in, p))
                    continue;
                total = sum(total, load_vector(x, index(in, p)));
                count++;
            }
    store_vector(y, place(out, i), divided(total, INSIDE ? count : KD * KH * KW));
}

LAUNCHER void KERNEL(UnetLaunch at, Rows rows, stored *y, const stored *x) {
    SIZES;
    LAUNCH_RANGE(at, KERNEL_windows, range_of(N, {D, H, W, Y.block / LANES}, rows), y, x);
}
/* END */
