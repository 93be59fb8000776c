/* smooth_l1.c - mean of |p - t| - BETA / 2, or, below BETA, of (p - t)^2 / (2 BETA). */
#include "prologue.c"

#define KERNEL smooth_l1
#include "../example.h"

/* BEGIN */
UNUSED static double KERNEL_term(double p, double t, double beta) {
    const double difference = fabs(p - t);
    return difference < beta ? difference * difference / (2 * beta) : difference - beta / 2;
}

UNUSED static void KERNEL(int n, Rows rows, double *result, double *scratch, const void *p, const void *t,
                          const int32_t (*valid)[3]) {
    SIZES;
    const Compared by = {{p, &P, P_STAGED}, {t, &T, T_STAGED}, C, {D, H, W}};
    terms_sum(n, rows, scratch, by, valid, KERNEL_term, BETA);
    means_sum(n, rows, result, scratch, by, valid, 0, mean_itself, ACCUMULATE);
}
/* END */
