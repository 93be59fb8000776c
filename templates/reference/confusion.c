/* confusion.c - how often each pair of a true and a predicted class meets: counts[true][predicted]. */
#include "prologue.c"

#define KERNEL confusion
#include "../example.h"

/* BEGIN */
UNUSED static void KERNEL(int n, Rows rows, double *counts, const uint8_t *p, const uint8_t *t,
                          const int32_t (*valid)[3]) {
    SIZES;
    const int32_t all[3] = {D, H, W};
#pragma omp single
    {
        for (int k = 0; k < CLASSES * CLASSES && rows.begin == 0 && !ACCUMULATE; k++)
            counts[k] = 0;
        for (int i = 0; i < n; i++)
            for (int r = rows.begin; r < rows.end; r++)
                for (int w = 0; w < W; w++) {
                    const int32_t *size = valid ? valid[i] : all;
                    const int d = r / H, h = r % H, label = t[element(&T, i, 0, d, h, w)];
                    if (d < size[0] && h < size[1] && w < size[2] && label < CLASSES && label != IGNORE)
                        counts[label * CLASSES + p[element(&P, i, 0, d, h, w)]]++;
                }
    }
}
/* END */
