/* psnr.c - peak signal to noise ratio, for a peak of 1. */
#include "prologue.c"

#define KERNEL psnr
#include "../example.h"

/* BEGIN */
UNUSED static double KERNEL_sample(const void *p, const void *t, int i, const int *size) {
    SIZES;
    double sum = 0;
    for (int c = 0; c < C; c++)
        for (int d = 0; d < size[0]; d++)
            for (int h = 0; h < size[1]; h++)
                for (int v = 0; v < size[2]; v++) {
                    double a = (double)load_either(P_STAGED, p, element(&P, i, c, d, h, v)),
                           b = (double)load_either(T_STAGED, t, element(&T, i, c, d, h, v));
                    double difference = between(0, 1, a) - between(0, 1, b);
                    sum += difference * difference;
                }
    double mean = sum / ((double)C * size[0] * size[1] * size[2]);
    return between(0, 100, -10 * log10(mean));
}

UNUSED static void KERNEL(int n, double *result, double *scratch, const void *p, const void *t,
                          const int32_t (*valid)[3]) {
    SIZES;
#pragma omp for schedule(static)
    for (int i = 0; i < n; i++)
        scratch[i] = KERNEL_sample(p, t, i, valid ? valid[i] : (const int[]){D, H, W});
#pragma omp single
    {
        if (!ACCUMULATE)
            *result = 0;
        for (int i = 0; i < n; i++)
            *result += scratch[i];
    }
}
/* END */
