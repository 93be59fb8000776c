/* l1.c - mean absolute error. */
#include "losses.c"

#define KERNEL l1
#define AT_RUN_TIME D, H, W
#include "../example.h"

/* BEGIN */
UNUSED static void KERNEL(int n, Rows rows, double *result, double *scratch, const void *p, const void *t,
                          const int32_t (*valid)[3]) {
    SIZES;
    const Compared by = {{p, &P, P_STAGED}, {t, &T, T_STAGED}, C, {D, H, W}};
    terms_sum(n, rows, scratch, by, valid, absolute, 0, 0);
    means_sum(n, rows, result, scratch, by, valid, 0, mean_itself, ACCUMULATE);
}
/* END */
