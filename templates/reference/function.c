/* function.c - a function of each number. Channels that pad a block stay zero. */
#include "functions.c"

#define KERNEL function
#include "../example.h"

/* BEGIN */
UNUSED static void KERNEL(int n, Rows rows, stored *y, const stored *x) {
    SIZES;
#pragma omp for collapse(2) schedule(static)
    for (int i = 0; i < n; i++)
        for (int c = 0; c < stored_channels(&Y); c++)
            for (int r = rows.begin; r < rows.end; r++)
                for (int p = 0; p < W; p++) {
                    const double v = c < C ? (double)load(x, element(&X, i, c, r / H, r % H, p)) : 0;
                    const double value = function_value(WHICH, v, FIRST_NUMBER, SECOND_NUMBER);
                    store(y, element(&Y, i, c, r / H, r % H, p), c < C ? (real)value : 0);
                }
}
/* END */
