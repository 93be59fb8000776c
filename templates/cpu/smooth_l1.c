/* smooth_l1.c - mean of |p - t| - BETA / 2, or, below BETA, of (p - t)^2 / (2 BETA). */
#include "losses.c"

#define KERNEL smooth_l1
#define AT_RUN_TIME D, H, W
#include "../example.h"

/* BEGIN */
INLINE double KERNEL_term(double difference, double beta) {
    const double size = fabs(difference);
    return size < beta ? size * size / (2 * beta) : size - beta / 2;
}

UNUSED static void KERNEL(int n, Rows rows, double *result, double *scratch, const void *p, const void *t,
                          const int32_t (*valid)[3]) {
    SIZES;
    const Compared by = {{p, &P, P_STAGED}, {t, &T, T_STAGED}, C, {D, H, W}};
    terms_sum(n, rows, scratch, by, valid, KERNEL_term, BETA, 0);
    means_sum(n, rows, result, scratch, by, valid, 0, mean_itself, ACCUMULATE);
}
/* END */
