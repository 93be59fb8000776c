/* l1.c - mean absolute error. */
#include "prologue.c"

#define KERNEL l1
#include "../example.h"

/* BEGIN */
/* Sum over the rows [from, to) of channel block `block`, as far as they are valid. */
UNUSED static double KERNEL_rows(const void *p, const void *t, int i, int from, int to,
                                 const int32_t *size) {
    SIZES;
    double sum = 0;
    for (int r = from; r < to; r++) {
        Place at = {i, r / H, r % H, 0};
        if (at.d >= size[0] || at.h >= size[1])
            continue;
        for (int c = 0; c < C; c++) {
            const long a = point(&P, c / P.block, at) + c % P.block;
            const long b = point(&T, c / T.block, at) + c % T.block;
            for (int v = 0; v < size[2]; v++) {
                double difference = (double)number(P_STAGED, p, a + v * P.block) -
                                    (double)number(T_STAGED, t, b + v * T.block);
                sum += fabs(difference);
            }
        }
    }
    return sum;
}

UNUSED static void KERNEL(int n, double *result, double *scratch, const void *p, const void *t,
                          const int32_t (*valid)[3]) {
    SIZES;
    static const int32_t whole[3] = {D, H, W};
#pragma omp for collapse(2) schedule(static)
    for (int i = 0; i < n; i++)
        for (int band = 0; band < BANDS; band++)
            scratch[i * BANDS + band] =
                KERNEL_rows(p, t, i, band_start(D * H, BANDS, band), band_start(D * H, BANDS, band + 1),
                            valid ? valid[i] : whole);
#pragma omp single
    {
        double total = ACCUMULATE ? *result : 0;
        for (int i = 0; i < n; i++) {
            const int32_t *size = valid ? valid[i] : whole;
            double sum = 0;
            for (int band = 0; band < BANDS; band++)
                sum += scratch[i * BANDS + band];
            double mean = sum / ((double)C * size[0] * size[1] * size[2]);
            total += mean;
        }
        *result = total;
    }
}
/* END */
