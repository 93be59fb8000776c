/* ssim_loss.c - 1 less the mean structural similarity of the windows of two images. */
#include "similarity.c"

#define KERNEL ssim_loss
#include "../example.h"

/* BEGIN */
UNUSED static void KERNEL(int n, Rows rows, double *result, double *scratch, const void *p, const void *t,
                          const int32_t (*valid)[3]) {
    SIZES;
    const Compared by = {{p, &P, P_STAGED}, {t, &T, T_STAGED}, C, {D, H, W}};
    similarities_sum(n, rows, scratch, by, valid, RANGE);
    means_sum(n, rows, result, scratch, by, valid, REACH, ssim_loss_of_mean, ACCUMULATE);
}
/* END */
