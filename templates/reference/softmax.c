/* softmax.c - exp(x) divided by its sum over the channels of the point in each of GROUPS groups; a NaN
 * makes all of a group NaN. */
#include "prologue.c"

#define KERNEL softmax
#include "../example.h"

/* BEGIN */
UNUSED static double KERNEL_value(const stored *x, int i, int c, int d, int h, int p) {
    SIZES;
    return (double)load(x, element(&X, i, c, d, h, p));
}

/* The maximum of the group that begins with channel `first`. */
UNUSED static double KERNEL_largest(const stored *x, int i, int first, int d, int h, int p) {
    SIZES;
    double largest = KERNEL_value(x, i, first, d, h, p);
    for (int c = first + 1; c < first + C / GROUPS; c++) {
        const double here = KERNEL_value(x, i, c, d, h, p);
        largest = here > largest || here != here ? here : largest;
    }
    return largest;
}

/* In place: a group is divided when its sum is known. */
UNUSED static void KERNEL_point(stored *y, const stored *x, int i, int d, int h, int p) {
    SIZES;
    const int each = C / GROUPS;
    double largest = 0, sum = 1;
    for (int c = 0; c < stored_channels(&Y); c++) {
        if (c < C && c % each == 0) {
            largest = KERNEL_largest(x, i, c, d, h, p);
            sum = 0;
            for (int k = c; k < c + each; k++)
                sum += exp(KERNEL_value(x, i, k, d, h, p) - largest);
        }
        store(y, element(&Y, i, c, d, h, p),
              c < C ? (real)(exp(KERNEL_value(x, i, c, d, h, p) - largest) / sum) : 0);
    }
}

UNUSED static void KERNEL(int n, Rows rows, stored *y, const stored *x) {
    SIZES;
#pragma omp for collapse(2) schedule(static)
    for (int i = 0; i < n; i++)
        for (int r = rows.begin; r < rows.end; r++)
            for (int p = 0; p < W; p++)
                KERNEL_point(y, x, i, r / H, r % H, p);
}
/* END */
