/* max_unpool_grad.cu - gradient of what was brought to the maxima of windows of x: from there it comes
 * back. max_pool has written down where they are (ARGMAX_BITS), or they are found again in x. */
#include "prologue.cuh"

#define KERNEL max_unpool_grad
#include "../example_cuda.h"

/* BEGIN */
static __global__ void KERNEL_windows(Range range, stored *__restrict__ dx, const stored *__restrict__ x,
                                      const stored *__restrict__ dy, const uint8_t *__restrict__ argmax) {
    SIZES;
    constexpr int columns = DX.block / LANES;
    constexpr Grid in = {ID, IH, IW, columns, X.ring}, from = {ID, IH, IW, columns, DY.ring},
                   out = {D, H, W, columns, DX.ring}, kept = {D, H, W, columns, ARGMAX.ring};
    constexpr Window window = {KD, KH, KW, SD, SH, SW, PD, PH, PW};
    const unsigned i = vector_index(range);
    if (i == NO_VECTOR)
        return;
    const Point o = point_at(out, i);
    const Argmax chosen = ARGMAX_BITS > 0 ? load_argmax<ARGMAX_BITS>(argmax, index(kept, o))
                                          : window_maximum(x, in, window, o).argmax;
    Vector gradient = filled(0);
    for (int kd = 0; kd < KD; kd++)
        for (int kh = 0; kh < KH; kh++)
            for (int kw = 0; kw < KW; kw++) {
                const Point p = under(window, o, kd, kh, kw);
                if (!inside(in, p))
                    continue;
                const Vector here = load_vector(dy, index(from, p));
                for (int l = 0; l < LANES; l++)
                    if (chosen.lane[l] == tap_number(window, kd, kh, kw))
                        gradient.lane[l] = here.lane[l];
            }
    store_vector(dx, index(out, o), gradient);
}

LAUNCHER void KERNEL(UnetLaunch at, Rows rows, stored *dx, const stored *x, const stored *dy,
                     const uint8_t *argmax) {
    SIZES;
    LAUNCH_RANGE(at, KERNEL_windows, range_of(N, {D, H, W, DX.block / LANES}, rows), dx, x, dy, argmax);
}
/* END */
