/* max_pool.cu - maximum over windows, and, where their gradient will ask for it, where each was found. */
#include "prologue.cuh"

#define KERNEL max_pool
#include "../example_cuda.h"

/* BEGIN */
/* Adds to each lane of the argmax which taps are above zero. */
DEVICE void KERNEL_mark(const stored *__restrict__ x, Grid in, Window window, Point o, Argmax *argmax) {
    for (int tap = 0; tap < 4; tap++) {
        const Vector here = load_vector(x, index(in, under(window, o, 0, tap / 2, tap % 2)));
        for (int l = 0; l < LANES; l++)
            if (here.lane[l] > 0)
                argmax->lane[l] |= 16 << tap;
    }
}

static __global__ void KERNEL_windows(Range range, stored *__restrict__ y, uint8_t *__restrict__ argmax,
                                      const stored *__restrict__ x) {
    SIZES;
    constexpr Grid in = {ID, IH, IW, X.block / LANES, X.ring}, out = {D, H, W, Y.block / LANES, Y.ring},
                   kept = {D, H, W, Y.block / LANES, ARGMAX.ring};
    constexpr Window window = {KD, KH, KW, SD, SH, SW, PD, PH, PW, LD, LH, LW};
    const unsigned i = vector_index(range);
    if (i == NO_VECTOR)
        return;
    Maximum maximum = window_maximum(x, in, window, point_at(out, i));
    if (keeps_marks(ARGMAX_BITS, KD * KH * KW))
        KERNEL_mark(x, in, window, point_at(out, i), &maximum.argmax);
    store_vector(y, place(out, i), maximum.value);
    if (ARGMAX_BITS > 0)
        store_argmax<ARGMAX_BITS>(argmax, place(kept, i), maximum.argmax);
}

LAUNCHER void KERNEL(UnetLaunch at, Rows rows, stored *y, uint8_t *argmax, const stored *x) {
    SIZES;
    LAUNCH_RANGE(at, KERNEL_windows, range_of(N, {D, H, W, Y.block / LANES}, rows), y, argmax, x);
}
/* END */
