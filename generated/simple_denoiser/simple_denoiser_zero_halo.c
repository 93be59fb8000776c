/* simple_denoiser_zero_halo.c - zeroes what lies around and between the points of a tensor.
 *
 * Made by unetc from simple_denoiser.unet (00438fdc504441cc) with: --size=64x64
 * Do not edit: change the .unet file and compile again. */
#ifdef KERNEL /* the body, which the rest includes once for each set of sizes */
void KERNEL()(const simple_denoiser_zero_halo_sizes *sizes, int n, Rows rows, stored *y) {
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

/* zero_halo with simple_denoiser_zero_halo_sizes_0 */
#define KERNEL(part) simple_denoiser_zero_halo_0##part
#define SIZES \
    UNUSED const int D = sizes->D, H = sizes->H, W = sizes->W, ABOVE = sizes->ABOVE, BELOW = sizes->BELOW; \
    UNUSED const Layout Y = LAYOUT_OF(sizes->Y, 3, sizes->Y.ring)
#include "simple_denoiser_zero_halo.c"

/* zero_halo with simple_denoiser_zero_halo_sizes_1 */
#define KERNEL(part) simple_denoiser_zero_halo_1##part
#define SIZES \
    UNUSED const int D = sizes->D, H = sizes->H, W = sizes->W, ABOVE = sizes->ABOVE, BELOW = sizes->BELOW; \
    UNUSED const Layout Y = LAYOUT_OF(sizes->Y, 16, sizes->Y.ring)
#include "simple_denoiser_zero_halo.c"

#endif
