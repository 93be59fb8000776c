/* simple_denoiser_cast.c - a tensor out of an image as the loader left it.
 *
 * Made by unetc from simple_denoiser.unet (00438fdc504441cc) with: --size=64x64
 * Do not edit: change the .unet file and compile again. */
#ifdef KERNEL /* the body, which the rest includes once for each set of sizes */
void KERNEL()(const simple_denoiser_cast_sizes *sizes, int n, Rows rows, stored *restrict y, const void *x) {
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

/* cast with simple_denoiser_cast_sizes_0 */
#define KERNEL(part) simple_denoiser_cast_0##part
#define SIZES \
    enum { X_STAGED = 3 }; \
    UNUSED const int H = sizes->H, W = sizes->W; \
    UNUSED const Layout Y = LAYOUT_OF(sizes->Y, 3, 0), X = LAYOUT_OF(sizes->X, 3, 0)
#include "simple_denoiser_cast.c"

#endif
