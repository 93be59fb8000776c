/* confusion.c - how often each pair of a true and a predicted class meets: counts[true][predicted]. */
#include "prologue.c"

#define KERNEL confusion
#define AT_RUN_TIME D, H, W
#include "../example.h"

/* BEGIN */
/* Neighbours are mostly alike: each run of them is added at once. Counts are whole numbers, whose sum has
 * no order. */
INLINE void KERNEL_row(double *counts, const uint8_t *p, const uint8_t *t, int width) {
    SIZES;
    int run = 0;
    for (int w = 0; w < width; w++) {
        const int label = t[w * T.block], predicted = p[w * P.block];
        run++;
        if (w + 1 < width && t[(w + 1) * T.block] == label && p[(w + 1) * P.block] == predicted)
            continue;
        if (label < CLASSES && label != IGNORE) {
            double *count = counts + label * CLASSES + predicted;
#pragma omp atomic
            *count += run;
        }
        run = 0;
    }
}

UNUSED static void KERNEL(int n, Rows rows, double *counts, const uint8_t *p, const uint8_t *t,
                          const int32_t (*valid)[3]) {
    SIZES;
    const int32_t all[3] = {D, H, W};
    if (rows.begin == 0 && !ACCUMULATE) {
#pragma omp single
        memset(counts, 0, CLASSES * CLASSES * sizeof *counts);
    }
#pragma omp for collapse(2) schedule(static)
    for (int i = 0; i < n; i++)
        for (int r = rows.begin; r < rows.end; r++) {
            const int32_t *size = valid ? valid[i] : all;
            const Point at = {i, r / H, r % H, 0};
            if (at.d < size[0] && at.h < size[1])
                KERNEL_row(counts, p + offset_of(&P, 0, at), t + offset_of(&T, 0, at), size[2]);
        }
}
/* END */
