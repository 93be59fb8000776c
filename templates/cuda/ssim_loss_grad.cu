/* ssim_loss_grad.cu - gradient of ssim_loss by the prediction; zero for samples that do not count. */
#include "similarity.cuh"

#define KERNEL ssim_loss_grad
#include "../example_cuda.h"

/* BEGIN */
static __global__ void KERNEL_tiles(stored *__restrict__ dp, const void *__restrict__ p,
                                    const void *__restrict__ t, const double *scale,
                                    const UnetControl *control, Rows rows) {
    SIZES;
    constexpr Compared by = {{D, H, W, 1, DP.ring}, C, P.block, T.block, P.ring, T.ring};
    store_similarity_slopes<P_STAGED, T_STAGED>(dp, DP.block, p, t, control, by,
                                                WEIGHT * (SCALED ? scale[LOSS_SCALE] : 1), RANGE, rows);
}

LAUNCHER void KERNEL(UnetLaunch at, Rows rows, stored *dp, const void *p, const void *t,
                     const double *scale) {
    SIZES;
    const Tiles tiles = tiles_of(rows, {D, H, W, 1}, DP.block);
    if (rows.begin < rows.end)
        LAUNCH_BLOCKS(at, KERNEL_tiles, N * tiles.rows * tiles.columns * tiles.channels, dp, p, t, scale,
                      at.control, rows);
}
/* END */
