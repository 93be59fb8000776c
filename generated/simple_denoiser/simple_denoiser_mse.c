/* simple_denoiser_mse.c - mean squared error.
 *
 * Made by unetc from simple_denoiser.unet (00438fdc504441cc) with: --size=64x64
 * Do not edit: change the .unet file and compile again. */
#ifdef KERNEL /* the body, which the rest includes once for each set of sizes */
void KERNEL()(int n, Rows rows, double *result, double *scratch, const void *p, const void *t,
                          const int32_t (*valid)[3]) {
    SIZES;
    const Compared by = {{p, &P, P_STAGED}, {t, &T, T_STAGED}, C, {D, H, W}};
    terms_sum(n, rows, scratch, by, valid, squared, 0);
    means_sum(n, rows, result, scratch, by, valid, mean_itself, ACCUMULATE);
}
#undef KERNEL
#undef SIZES
#else
#include "simple_denoiser_plan.h"
#include "simple_denoiser_losses.h"

/* mse: mse of train: net.6[n,3,64,64] clean[n,3,64,64] -> mse[1] mse scratch[64] */
#define KERNEL(part) simple_denoiser_mse_0##part
#define SIZES \
    enum { C = 3, D = 1, H = 64, W = 64, P_STAGED = 0, T_STAGED = 1, ACCUMULATE = 1 }; \
    UNUSED static const Layout P = {3, 3, 1, 0, 12288, 12288, 12288, 192, 0}, \
        T = {3, 3, 1, 0, 12288, 12288, 12288, 192, 0}
#include "simple_denoiser_mse.c"

#endif
