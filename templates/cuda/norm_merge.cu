/* norm_merge.cu - merges the numbers of all samples of a step: means of means, and variances.
 *
 * Samples of a group are joined one behind the other, groups two and two.  Processes gather the numbers of
 * all groups, and each joins them, so that the result does not depend on who has which samples. */
#include "prologue.cuh"

#define KERNEL norm_merge
#include "../example_cuda.h"

/* BEGIN */
/* A mean and the squares about it, of na samples, take in the numbers of nb samples behind them. */
DEVICE void KERNEL_join(double *a, double na, const double *b, double nb) {
    const double apart = b[0] - a[0], share = nb / (na + nb);
    a[0] += apart * share;
    a[1] += b[1] + apart * apart * na * share;
}

/* Joins the samples of one group of this process, one sample behind the other. */
static __global__ void KERNEL_samples(double *groups, const real *__restrict__ means,
                                      const real *__restrict__ variances, const UnetControl *control) {
    SIZES;
    const int i = thread_index(), k = i % NUMBERS, begin = i / NUMBERS * GROUP;
    const int left = control->last - control->first - begin;
    double all[2] = {0, 0};
    if (i >= RANKS * NUMBERS || left <= 0)
        return;
    for (int n = 0; n < GROUP && n < left; n++) {
        const long at = (begin + n) * MEANS.sample + k;
        const double one[2] = {means[at], VARIANCES ? variances[at] : 0};
        KERNEL_join(all, n, one, 1);
    }
    double *to = groups + ((long)((control->first + begin) / GROUP) * NUMBERS + k) * 2;
    to[0] = all[0];
    to[1] = all[1];
}

/* All groups, which are joined two and two. */
static __global__ void KERNEL_groups(real *__restrict__ mean, real *__restrict__ variance, double *groups,
                                     const UnetControl *control) {
    SIZES;
    const int k = thread_index(), n = control->n;
    if (k >= NUMBERS)
        return;
    for (int apart = GROUP; apart < n; apart *= 2)
        for (int i = 0; i + apart < n; i += 2 * apart) {
            double *a = groups + ((long)(i / GROUP) * NUMBERS + k) * 2;
            const double *b = groups + ((long)((i + apart) / GROUP) * NUMBERS + k) * 2;
            KERNEL_join(a, apart, b, n - i - apart < apart ? n - i - apart : apart);
        }
    mean[k] = (real)groups[2 * k];
    if (VARIANCES)
        variance[k] = (real)(groups[2 * k + 1] / n);
}

LAUNCHER void KERNEL(UnetLaunch at, real *mean, real *variance, double *groups, const real *means,
                     const real *variances) {
    SIZES;
    static_assert(SCRATCH / (int)sizeof(double) >= RANKS * NUMBERS * 2, "two numbers of each group");
    LAUNCH(at, KERNEL_samples, blocks_for(RANKS * NUMBERS), groups, means, variances, at.control);
    unet_cuda_gather_ranks(at, (float *)groups,
                           (int64_t)RANKS * NUMBERS * 2 * (int64_t)(sizeof(double) / sizeof(float)));
    LAUNCH(at, KERNEL_groups, blocks_for(NUMBERS), mean, variance, groups, at.control);
}
/* END */
