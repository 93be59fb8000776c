/* max_pool.cu - maximum over windows; padding counts as -infinity, a NaN as more than any number. */
#include "prologue.cuh"

#define KERNEL max_pool
#include "../example_cuda.h"

/* BEGIN */
static __global__ void KERNEL_windows(stored *__restrict__ y, const stored *__restrict__ x) {
    SIZES;
    constexpr Grid in = {ID, IH, IW, X.block / LANES}, out = {D, H, W, Y.block / LANES};
    const unsigned i = thread_index();
    if (i >= vectors(N, out))
        return;
    const Place o = place(out, i);
    Vector best = filled(-INFINITY);
    for (int kd = 0; kd < KD; kd++)
        for (int kh = 0; kh < KH; kh++)
            for (int kw = 0; kw < KW; kw++) {
                const Place p = {o.n, o.d * SD - PD + kd, o.h * SH - PH + kh, o.w * SW - PW + kw, o.column};
                if (!inside(in, p))
                    continue;
                const Vector here = load_vector(x, index(in, p));
                for (int l = 0; l < LANES; l++)
                    if (here.lane[l] > best.lane[l] || here.lane[l] != here.lane[l])
                        best.lane[l] = here.lane[l];
            }
    store_vector(y, i, best);
}

LAUNCHER void KERNEL(UnetLaunch at, stored *y, const stored *x) {
    SIZES;
    LAUNCH(at, KERNEL_windows, blocks_for(vectors(N, {D, H, W, Y.block / LANES})), y, x);
}
/* END */
