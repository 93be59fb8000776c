/* simple_denoiser_psnr.c - peak signal to noise ratio, for a peak of 1.
 *
 * Made by unetc from simple_denoiser.unet (00438fdc504441cc) with: --size=64x64
 * Do not edit: change the .unet file and compile again. */
#ifdef KERNEL /* the body, which the rest includes once for each set of sizes */
#include <math.h>

INLINE double KERNEL(_term)(double p, double t) {
    const double difference = clamp(p, 0, 1) - clamp(t, 0, 1);
    return difference * difference;
}

INLINE double KERNEL(_of_mean)(double mean) {
    return clamp(-10 * log10(mean), 0, 100);
}

void KERNEL()(int n, Rows rows, double *result, double *scratch, const void *p, const void *t,
                          const int32_t (*valid)[3]) {
    SIZES;
    const Compared by = {{p, &P, P_STAGED}, {t, &T, T_STAGED}, C, {D, H, W}};
    terms_sum(n, rows, scratch, by, valid, KERNEL(_term));
    means_sum(n, rows, result, scratch, by, valid, KERNEL(_of_mean), ACCUMULATE);
}
#undef KERNEL
#undef SIZES
#else
#include "simple_denoiser_plan.h"

/* psnr: psnr of train: net.6[n,3,64,64] clean[n,3,64,64] -> psnr[1] psnr scratch[64] */
#define KERNEL(part) simple_denoiser_psnr_0##part
#define SIZES \
    enum { C = 3, D = 1, H = 64, W = 64, P_STAGED = 0, T_STAGED = 1, ACCUMULATE = 1 }; \
    UNUSED static const Layout P = {3, 3, 1, 0, 12288, 12288, 12288, 192, 0}, \
        T = {3, 3, 1, 0, 12288, 12288, 12288, 192, 0}
#include "simple_denoiser_psnr.c"

#endif
