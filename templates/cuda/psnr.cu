/* psnr.cu - peak signal to noise ratio, for a peak of 1. */
#include "prologue.cuh"

#define KERNEL psnr
#include "../example_cuda.h"

/* BEGIN */
struct KERNEL_decibels {
    DEVICE double of(double mean) { return between(0, 100, -10 * log10(mean)); }
};

/* The sum over one band of the points of one sample, as far as they are valid. Padding channels add
 * nothing. */
static __global__ void KERNEL_bands(double *scratch, const void *p, const void *t,
                                    const UnetControl *control) {
    SIZES;
    constexpr Grid points = {D, H, W, 1};
    const unsigned sample = blockIdx.x / BANDS, band = blockIdx.x % BANDS;
    const unsigned last = part_start(vectors(1, points), BANDS, band + 1);
    const int32_t *size = valid_size(control, sample);
    double total = 0;
    for (unsigned i = part_start(vectors(1, points), BANDS, band) + threadIdx.x; i < last; i += THREADS) {
        if (!inside(size, place(points, i)))
            continue;
        const unsigned point = sample * vectors(1, points) + i;
        for (int column = 0; column * LANES < C; column++) {
            const Vector a = load_channels<P_STAGED>(p, P.block, C, point, column);
            const Vector b = load_channels<T_STAGED>(t, T.block, C, point, column);
            for (int l = 0; l < LANES; l++) {
                const double difference = between(0, 1, a.lane[l]) - between(0, 1, b.lane[l]);
                total += difference * difference;
            }
        }
    }
    total = block_sum(total);
    if (threadIdx.x == 0)
        scratch[blockIdx.x] = total;
}

LAUNCHER void KERNEL(UnetLaunch at, double *result, double *scratch, const void *p, const void *t) {
    SIZES;
    constexpr auto kernel = sum_samples<KERNEL_decibels, N, BANDS, ACCUMULATE>;
    LAUNCH_BLOCKS(at, KERNEL_bands, N * BANDS, scratch, p, t, at.control);
    LAUNCH_BLOCKS(at, kernel, 1, result, scratch, at.control, C);
}
/* END */
