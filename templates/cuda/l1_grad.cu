/* l1_grad.cu - gradient of the mean absolute error by the prediction; zero for samples that do not count.
 */
#include "prologue.cuh"

#define KERNEL l1_grad
#include "../example_cuda.h"

/* BEGIN */
static __global__ void KERNEL_vectors(stored *__restrict__ dp, const void *__restrict__ p,
                                      const void *__restrict__ t, const double *scale,
                                      const UnetControl *control) {
    SIZES;
    constexpr Grid points = {D, H, W, 1};
    constexpr int columns = DP.block / LANES;
    const unsigned i = thread_index(), point = i / columns;
    if (i >= vectors(N, points) * columns)
        return;
    Vector gradient = filled(0);
    if (is_valid(control, point / vectors(1, points))) {
        const double factor =
            WEIGHT * (SCALED ? scale[LOSS_SCALE] : 1) / (control->n * ((double)C * D * H * W));
        const Vector a = load_channels<P_STAGED>(p, P.block, C, point, i % columns);
        const Vector b = load_channels<T_STAGED>(t, T.block, C, point, i % columns);
        for (int l = 0; l < LANES; l++) {
            const double difference = (double)a.lane[l] - (double)b.lane[l];
            gradient.lane[l] = (real)(factor * ((difference > 0) - (difference < 0)));
        }
    }
    store_vector(dp, i, gradient);
}

LAUNCHER void KERNEL(UnetLaunch at, stored *dp, const void *p, const void *t, const double *scale) {
    SIZES;
    LAUNCH(at, KERNEL_vectors, blocks_for(vectors(N, {D, H, W, DP.block / LANES})), dp, p, t, scale,
           at.control);
}
/* END */
