/* normalize.c - each of GROUPS groups of the channels of a point divided by its length, or, RMS, by the
 * root of the mean of its squares. */
#include "prologue.c"

#define KERNEL normalize
#include "../example.h"

/* BEGIN */
/* The length of the group of a channel, or the root of the mean of its squares; a NaN stays one. */
UNUSED static double KERNEL_length(const stored *x, int i, int c, int d, int h, int p) {
    SIZES;
    const int each = C / GROUPS, first = c / each * each;
    double sum = 0;
    for (int k = first; k < first + each; k++) {
        const double v = (double)load(x, element(&X, i, k, d, h, p));
        sum += v * v;
    }
    const double length = sqrt(sum);
    return RMS ? sqrt(sum / each + EPSILON) : length < EPSILON ? EPSILON : length;
}

/* In place: a group is divided when its length is known. */
UNUSED static void KERNEL_point(stored *y, const stored *x, int i, int d, int h, int p) {
    SIZES;
    double length = 1;
    for (int c = 0; c < stored_channels(&Y); c++) {
        if (c < C && c % (C / GROUPS) == 0)
            length = KERNEL_length(x, i, c, d, h, p);
        store(y, element(&Y, i, c, d, h, p),
              c < C ? (real)((double)load(x, element(&X, i, c, d, h, p)) / length) : 0);
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
