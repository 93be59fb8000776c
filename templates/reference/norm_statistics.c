/* norm_statistics.c - mean and variance of each of GROUPS groups of channels, of each sample, or, if BATCH,
 * over all. */
#include "prologue.c"

#define KERNEL norm_statistics
#include "../example.h"

/* BEGIN */
/* The sum of (x - centre)^power over the group's points of the samples. */
UNUSED static double KERNEL_sum(const stored *x, int first, int end, int g, double centre, int power) {
    SIZES;
    double sum = 0;
    for (int i = first; i < end; i++)
        for (int c = g * (C / GROUPS); c < (g + 1) * (C / GROUPS); c++)
            for (int d = 0; d < D; d++)
                for (int h = 0; h < H; h++)
                    for (int p = 0; p < W; p++) {
                        const double v = (double)load(x, element(&X, i, c, d, h, p)) - centre;
                        sum += power == 2 ? v * v : v;
                    }
    return sum;
}

UNUSED static void KERNEL(int n, real *mean, real *variance, double *scratch, const stored *x) {
    SIZES;
    (void)scratch;
#pragma omp for schedule(static)
    for (int s = 0; s < (BATCH ? 1 : n) * GROUPS; s++) {
        const int set = s / GROUPS, g = s % GROUPS, end = BATCH ? n : set + 1;
        const double count = (double)(end - set) * (C / GROUPS) * D * H * W;
        const double centre = KERNEL_sum(x, set, end, g, 0, 1) / count;
        mean[set * MEAN.sample + g] = (real)centre;
        variance[set * MEAN.sample + g] = (real)(KERNEL_sum(x, set, end, g, centre, 2) / count);
    }
}
/* END */
