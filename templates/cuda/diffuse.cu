/* diffuse.cu - a tensor x with normal noise e, or what a network is asked to tell of both.  At the time t
 * of the sample, a = VALUES[t]; in the order of UnetDiffused:
 *
 *     sqrt(a) x + sqrt(1 - a) e,     e,     sqrt(a) e - sqrt(1 - a) x
 */
#include "draws.cuh"

#define KERNEL diffuse
#include "../example_cuda.h"

/* BEGIN */
#include <unet/functions.h>

/* The factors of x and e. */
struct KERNEL_Factors {
    real picture, noise;
};

DEVICE KERNEL_Factors KERNEL_factors(int time) {
    SIZES;
    constexpr int makes = WHICH;
    const real kept = (real)sqrt(VALUES[time]), added = (real)sqrt(1 - VALUES[time]);
    if (makes == UNET_DIFFUSED_NOISE)
        return {0, 1};
    return makes == UNET_DIFFUSED_PICTURE ? KERNEL_Factors{kept, added} : KERNEL_Factors{-added, kept};
}

/* A vector that is stored as tensors are, or as the loader leaves it. */
DEVICE void KERNEL_store(void *y, unsigned point, int column, Vector v) {
    SIZES;
    if constexpr (Y_STAGED)
        for (int l = 0; l < LANES && column * LANES + l < Y.block; l++)
            static_cast<real *>(y)[(long)point * Y.block + column * LANES + l] = v.lane[l];
    else
        store_vector(static_cast<stored *>(y), point * (Y.block / LANES) + column, v);
}

static __global__ void KERNEL_vectors(Range range, const UnetControl *control, void *__restrict__ y,
                                      const void *__restrict__ x) {
    SIZES;
    constexpr int makes = WHICH, columns = (Y.block + LANES - 1) / LANES;
    constexpr Grid to = {D, H, W, 1, Y.ring}, from = {D, H, W, 1, X.ring};
    const unsigned i = vector_index(range);
    if (i == NO_VECTOR)
        return;
    const Point o = point_at({D, H, W, columns}, i);
    const KERNEL_Factors by =
        KERNEL_factors(draws_below(draws_diffusion(control, NUMBER, o.n, EVALUATION), COUNT));
    const uint32_t point = draws_at(draws_diffusion(control, NUMBER + 1, o.n, EVALUATION),
                                    (uint32_t)((o.d * H + o.h) * W + o.w));
    Vector v = filled(0);
    if (makes != UNET_DIFFUSED_NOISE)
        v = load_channels<X_STAGED>(x, X.block, C, place(from, i / columns), o.column);
    for (int l = 0; l < LANES; l++) {
        const int c = o.column * LANES + l;
        v.lane[l] = c < C ? by.picture * v.lane[l] + by.noise * draws_normal(point, c) : 0;
    }
    KERNEL_store(y, place(to, i / columns), o.column, v);
}

LAUNCHER void KERNEL(UnetLaunch at, Rows rows, void *y, const void *x) {
    SIZES;
    LAUNCH_RANGE(at, KERNEL_vectors, range_of(N, {D, H, W, (Y.block + LANES - 1) / LANES}, rows),
                 at.control, y, x);
}
/* END */
