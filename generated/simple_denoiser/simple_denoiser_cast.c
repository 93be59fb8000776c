/* simple_denoiser_cast.c - a tensor out of an image as the loader left it.
 *
 * Made by unetc from simple_denoiser.unet (00438fdc504441cc) with: --size=64x64
 * Do not edit: change the .unet file and compile again. */
#ifdef KERNEL /* the body, which the rest includes once for each set of sizes */
void KERNEL()(int n, Rows rows, stored *restrict y, const void *x) {
    SIZES;
#pragma omp for collapse(3) schedule(static)
    for (int i = 0; i < n; i++)
        for (int block = 0; block < Y.blocks; block++)
            for (int r = rows.begin; r < rows.end; r++) {
                const Point row = {i, r / H, r % H, 0};
                for (int at = 0, left = W * Y.block; left > 0; at += LANES, left -= LANES)
                    store_some(y + offset_of(&Y, block, row) + at,
                               load_either(X_STAGED, x, offset_of(&X, block, row) + at, left), left);
            }
}
#undef KERNEL
#undef SIZES
#else
#include "simple_denoiser_plan.h"

/* cast: noisy cast of train, noisy cast of train, noisy cast of eval: noisy[n,3,64,64]
    -> noisy cast[n,3,64,64] */
#define KERNEL(part) simple_denoiser_cast_0##part
#define SIZES \
    enum { H = 64, W = 64, X_STAGED = 3 }; \
    UNUSED static const Layout Y = {3, 3, 1, 201, 13072, 13068, 13068, 198, 0}, \
        X = {3, 3, 1, 0, 12288, 12288, 12288, 192, 0}
#include "simple_denoiser_cast.c"

#endif
