/* psnr.c - peak signal to noise ratio, for a peak of 1. */
#include "prologue.c"

#define KERNEL psnr
#include "../example.h"

/* BEGIN */
UNUSED static double KERNEL_term(double p, double t, double epsilon) {
    (void)epsilon;
    const double difference = clamp(p, 0, 1) - clamp(t, 0, 1);
    return difference * difference;
}

UNUSED static double KERNEL_of_mean(double mean) {
    return clamp(-10 * log10(mean), 0, 100);
}

UNUSED static void KERNEL(int n, Rows rows, double *result, double *scratch, const void *p, const void *t,
                          const int32_t (*valid)[3]) {
    SIZES;
    const Compared by = {{p, &P, P_STAGED}, {t, &T, T_STAGED}, C, {D, H, W}};
    terms_sum(n, rows, scratch, by, valid, KERNEL_term, 0);
    means_sum(n, rows, result, scratch, by, valid, 0, KERNEL_of_mean, ACCUMULATE);
}
/* END */
