/* psnr_loss.c - 10 log10 of the mean square error of each sample: its PSNR with the sign turned round. */
#include "losses.c"

#define KERNEL psnr_loss
#define AT_RUN_TIME D, H, W
#include "../example.h"

/* BEGIN */
INLINE double KERNEL_of_mean(double mean) {
    return log10(mean + 1e-8) / 0.1; /* some instances would fuse a product with the sum behind it */
}

UNUSED static void KERNEL(int n, double *result, double *errors, double *scratch, const void *p,
                          const void *t, const int32_t (*valid)[3]) {
    SIZES;
    const Compared by = {{p, &P, P_STAGED}, {t, &T, T_STAGED}, C, {D, H, W}};
    const Rows all = {.begin = 0, .end = D * H};
    terms_sum(n, all, scratch, by, valid, squared, 0, 0);
    means_sum(n, all, result, scratch, by, valid, 0, KERNEL_of_mean, ACCUMULATE);
#pragma omp single
    for (int i = 0; i < n; i++)
        errors[i * ERRORS.sample] = mean_of_sample(i, scratch, by, valid, 0) + 1e-8;
}
/* END */
