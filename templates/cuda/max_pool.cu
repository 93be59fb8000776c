/* max_pool.cu - maximum over windows, and, where their gradient will ask for it, where each was found. */
#include "prologue.cuh"

#define KERNEL max_pool
#include "../example_cuda.h"

/* BEGIN */
static __global__ void KERNEL_windows(stored *__restrict__ y, uint8_t *__restrict__ taps,
                                      const stored *__restrict__ x) {
    SIZES;
    constexpr Grid in = {ID, IH, IW, X.block / LANES}, out = {D, H, W, Y.block / LANES};
    constexpr Window window = {KD, KH, KW, SD, SH, SW, PD, PH, PW};
    const unsigned i = thread_index();
    if (i >= vectors(N, out))
        return;
    const Maximum maximum = window_maximum(x, in, window, place(out, i));
    store_vector(y, i, maximum.value);
    if (TAP_BITS > 0)
        store_taps<TAP_BITS>(taps, i, maximum.tap);
}

LAUNCHER void KERNEL(UnetLaunch at, stored *y, uint8_t *taps, const stored *x) {
    SIZES;
    LAUNCH(at, KERNEL_windows, blocks_for(vectors(N, {D, H, W, Y.block / LANES})), y, taps, x);
}
/* END */
