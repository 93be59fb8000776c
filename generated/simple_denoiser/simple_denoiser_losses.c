/* simple_denoiser_losses.c - mse, psnr, mse_grad
 *
 * Made by unetc from simple_denoiser.unet (00438fdc504441cc) with: --size=64x64
 * Do not edit: change the .unet file and compile again. */
#ifdef KERNEL /* the body, which the rest includes once for each set of sizes */

/* mse - mean squared error. */
#ifdef MSE
void KERNEL()(const simple_denoiser_mse_sizes *sizes, int n, Rows rows, double *result, double *scratch, const void *p, const void *t,
                          const int32_t (*valid)[3]) {
    SIZES;
    const Compared by = {{p, &P, P_STAGED}, {t, &T, T_STAGED}, C, {D, H, W}};
    terms_sum(n, rows, scratch, by, valid, squared, 0, 0);
    means_sum(n, rows, result, scratch, by, valid, 0, mean_itself, ACCUMULATE);
}
#undef MSE
#endif

/* psnr - peak signal to noise ratio, for a peak of 1. */
#ifdef PSNR
void KERNEL()(const simple_denoiser_psnr_sizes *sizes, int n, Rows rows, double *result, double *scratch, const void *p, const void *t,
                          const int32_t (*valid)[3]) {
    SIZES;
    const Compared by = {{p, &P, P_STAGED}, {t, &T, T_STAGED}, C, {D, H, W}};
    terms_sum(n, rows, scratch, by, valid, squared, 0, 1);
    means_sum(n, rows, result, scratch, by, valid, 0, psnr_of_mean, ACCUMULATE);
}
#undef PSNR
#endif

/* mse_grad - gradient of the mean squared error by the prediction. */
#ifdef MSE_GRAD
void KERNEL()(const simple_denoiser_mse_grad_sizes *sizes, int n, int total, Rows rows, stored *dp, const void *p, const void *t,
                          const double *scale) {
    SIZES;
    const Compared by = {{p, &P, P_STAGED}, {t, &T, T_STAGED}, C, {D, H, W}};
    const double weight = 2 * WEIGHT * (SCALED ? scale[LOSS_SCALE] : 1);
    slopes_store(n, total, rows, dp, &DP, by, weight, slope_of_square, 0);
}
#undef MSE_GRAD
#endif
#undef KERNEL
#undef SIZES
#else
#include "simple_denoiser_plan.h"
#include "simple_denoiser_losses.h"

/* mse with simple_denoiser_mse_sizes_0 */
#define MSE
#define KERNEL(part) simple_denoiser_mse_0##part
#define SIZES \
    enum { C = 3, P_STAGED = 0, T_STAGED = 3, ACCUMULATE = 1 }; \
    UNUSED const int D = sizes->D, H = sizes->H, W = sizes->W; \
    UNUSED const Layout P = LAYOUT_OF(sizes->P, 3, 0), T = LAYOUT_OF(sizes->T, 3, 0)
#include "simple_denoiser_losses.c"

/* mse with simple_denoiser_mse_sizes_1 */
#define MSE
#define KERNEL(part) simple_denoiser_mse_1##part
#define SIZES \
    enum { C = 3, P_STAGED = 0, T_STAGED = 3, ACCUMULATE = 0 }; \
    UNUSED const int D = sizes->D, H = sizes->H, W = sizes->W; \
    UNUSED const Layout P = LAYOUT_OF(sizes->P, 3, 0), T = LAYOUT_OF(sizes->T, 3, 0)
#include "simple_denoiser_losses.c"

/* psnr with simple_denoiser_psnr_sizes_0 */
#define PSNR
#define KERNEL(part) simple_denoiser_psnr_0##part
#define SIZES \
    enum { C = 3, P_STAGED = 0, T_STAGED = 3, ACCUMULATE = 1 }; \
    UNUSED const int D = sizes->D, H = sizes->H, W = sizes->W; \
    UNUSED const Layout P = LAYOUT_OF(sizes->P, 3, 0), T = LAYOUT_OF(sizes->T, 3, 0)
#include "simple_denoiser_losses.c"

/* psnr with simple_denoiser_psnr_sizes_1 */
#define PSNR
#define KERNEL(part) simple_denoiser_psnr_1##part
#define SIZES \
    enum { C = 3, P_STAGED = 0, T_STAGED = 3, ACCUMULATE = 0 }; \
    UNUSED const int D = sizes->D, H = sizes->H, W = sizes->W; \
    UNUSED const Layout P = LAYOUT_OF(sizes->P, 3, 0), T = LAYOUT_OF(sizes->T, 3, 0)
#include "simple_denoiser_losses.c"

/* mse_grad with simple_denoiser_mse_grad_sizes_0 */
#define MSE_GRAD
#define KERNEL(part) simple_denoiser_mse_grad_0##part
#define SIZES \
    enum { C = 3, P_STAGED = 0, T_STAGED = 3, SCALED = 0 }; \
    UNUSED const int D = sizes->D, H = sizes->H, W = sizes->W; \
    UNUSED static const double WEIGHT = 1; \
    UNUSED const Layout P = LAYOUT_OF(sizes->P, 3, 0), T = LAYOUT_OF(sizes->T, 3, 0), \
        DP = LAYOUT_OF(sizes->DP, 3, 0)
#include "simple_denoiser_losses.c"

#endif
