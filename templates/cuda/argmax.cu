/* argmax.cu - the channel that has the maximum; of one channel 1 where it is above 0.5. */
#include "prologue.cuh"

#define KERNEL argmax
#include "../example_cuda.h"

/* BEGIN */
static __global__ void KERNEL_points(Range range, uint8_t *y, const stored *__restrict__ x) {
    SIZES;
    const unsigned i = vector_index(range);
    if (i == NO_VECTOR)
        return;
    const stored *from = x + (long)place({D, H, W, 1, X.ring}, i) * X.block;
    real most = load(from, 0);
    int best = C == 1 && most > 0.5f;
    for (int c = 1; c < C; c++) {
        const real here = load(from, c);
        if (here > most || (here != here && most == most)) {
            most = here;
            best = c;
        }
    }
    y[place({D, H, W, 1, Y.ring}, i)] = (uint8_t)best;
}

LAUNCHER void KERNEL(UnetLaunch at, Rows rows, uint8_t *y, const stored *x) {
    SIZES;
    LAUNCH_RANGE(at, KERNEL_points, range_of(N, {D, H, W, 1}, rows), y, x);
}
/* END */
