/* simple_denoiser_zero_halo.c - zeroes what lies around and between the points of a tensor.
 *
 * Made by unetc from simple_denoiser.unet (00438fdc504441cc) with: --size=64x64
 * Do not edit: change the .unet file and compile again. */
#ifdef KERNEL /* the body, which the rest includes once for each set of sizes */
void KERNEL()(int n, Rows rows, stored *y) {
    SIZES;
    const Halo halo = {D, H, W, ABOVE, BELOW};
    if (Y.ring == 0)
        halo_zero(n, rows, y, &Y, halo);
    else if (rows.begin < rows.end)
        halo_zero_ring(n, rows, y, &Y, halo);
}
#undef KERNEL
#undef SIZES
#else
#include "simple_denoiser_plan.h"

/* zero_halo: noisy cast of train, mse of train, noisy cast of train, 2 more: -> noisy cast[n,3,64,64] */
#define KERNEL(part) simple_denoiser_zero_halo_0##part
#define SIZES \
    enum { D = 1, H = 64, W = 64, ABOVE = 0, BELOW = 0 }; \
    UNUSED static const Layout Y = {3, 3, 1, 201, 13072, 13068, 13068, 198, 0}
#include "simple_denoiser_zero_halo.c"

/* zero_halo: net.0 of train, net.2 of train, net.4 of train, 8 more: -> net.1[n,64,64,64] */
#define KERNEL(part) simple_denoiser_zero_halo_1##part
#define SIZES \
    enum { D = 1, H = 64, W = 64, ABOVE = 0, BELOW = 0 }; \
    UNUSED static const Layout Y = {64, 16, 4, 1072, 278784, 69696, 69696, 1056, 0}
#include "simple_denoiser_zero_halo.c"

#endif
