/* softmax.c - exp(x) divided by its sum over the channels of the point; a NaN makes all of them NaN. */
#include "prologue.c"

#define KERNEL softmax
#include "../example.h"

/* BEGIN */
UNUSED static double KERNEL_value(const stored *x, int i, int c, int d, int h, int p) {
    SIZES;
    return (double)load(x, element(&X, i, c, d, h, p));
}

UNUSED static double KERNEL_largest(const stored *x, int i, int d, int h, int p) {
    SIZES;
    double largest = KERNEL_value(x, i, 0, d, h, p);
    for (int c = 1; c < C; c++) {
        const double here = KERNEL_value(x, i, c, d, h, p);
        largest = here > largest || here != here ? here : largest;
    }
    return largest;
}

UNUSED static void KERNEL(int n, Rows rows, stored *y, const stored *x) {
    SIZES;
#pragma omp for collapse(2) schedule(static)
    for (int i = 0; i < n; i++)
        for (int r = rows.begin; r < rows.end; r++)
            for (int p = 0; p < W; p++) {
                const double largest = KERNEL_largest(x, i, r / H, r % H, p);
                double sum = 0;
                for (int c = 0; c < C; c++)
                    sum += exp(KERNEL_value(x, i, c, r / H, r % H, p) - largest);
                for (int c = 0; c < stored_channels(&Y); c++)
                    store(y, element(&Y, i, c, r / H, r % H, p),
                          c < C ? (real)(exp(KERNEL_value(x, i, c, r / H, r % H, p) - largest) / sum) : 0);
            }
}
/* END */
