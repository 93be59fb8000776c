/* norm_merge.c - merges the numbers of all samples of a step: means of means, and variances.
 *
 * Samples of a group are joined one behind the other, groups two and two.  Processes gather the numbers of
 * all groups, and each joins them, so that the result does not depend on who has which samples. */
#include "prologue.c"

#define KERNEL norm_merge
#define AT_RUN_TIME RING, NUMBERS, GROUP, RANKS
#include "../example.h"

/* BEGIN */
/* A mean and the squares about it, of na samples, take in the numbers of nb samples behind them. */
UNUSED static void KERNEL_join(double *a, double na, const double *b, double nb) {
    const double apart = b[0] - a[0], share = nb / (na + nb);
    a[0] += apart * share;
    a[1] += b[1] + apart * apart * na * share;
}

/* Number k of the samples from `begin` on, one behind the other. */
UNUSED static void KERNEL_samples(double *to, int begin, int end, int k, const real *means,
                                  const real *variances) {
    SIZES;
    to[0] = to[1] = 0;
    for (int i = begin; i < end; i++) {
        const long at = i * MEANS.sample + k;
        const double one[2] = {(double)means[at], VARIANCES ? (double)variances[at] : 0};
        KERNEL_join(to, i - begin, one, 1);
    }
}

/* Number k of all groups, which are joined two and two; n samples in all. */
UNUSED static void KERNEL_groups(double *groups, int n, int k) {
    SIZES;
    for (int apart = GROUP; apart < n; apart *= 2)
        for (int i = 0; i + apart < n; i += 2 * apart) {
            double *a = groups + ((long)(i / GROUP) * NUMBERS + k) * 2;
            const double *b = groups + ((long)((i + apart) / GROUP) * NUMBERS + k) * 2;
            KERNEL_join(a, apart, b, n - i - apart < apart ? n - i - apart : apart);
        }
}

/* This process has the samples [first, last) of n. */
UNUSED static void KERNEL(void (*gather)(void *, void *, int64_t), void *team, int first, int last, int n,
                          real *mean, real *variance, double *groups, const real *means,
                          const real *variances) {
    SIZES;
#pragma omp for schedule(static)
    for (int k = 0; k < NUMBERS; k++)
        for (int i = first; i < last; i += GROUP)
            KERNEL_samples(groups + ((long)(i / GROUP) * NUMBERS + k) * 2, i - first,
                           (i + GROUP < last ? i + GROUP : last) - first, k, means, variances);
    if (gather != NULL) {
#pragma omp master
        gather(team, groups, (int64_t)RANKS * NUMBERS * 2 * (int64_t)(sizeof(double) / sizeof(real)));
#pragma omp barrier
    }
#pragma omp for schedule(static)
    for (int k = 0; k < NUMBERS; k++) {
        KERNEL_groups(groups, n, k);
        mean[k] = (real)groups[2 * k];
        if (VARIANCES)
            variance[k] = (real)(groups[2 * k + 1] / n);
    }
}
/* END */
