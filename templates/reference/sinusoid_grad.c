/* sinusoid_grad.c - gradient of sines and cosines by the number. */
#include "prologue.c"

#define KERNEL sinusoid_grad
#include "../example.h"

/* BEGIN */
#include <math.h>

UNUSED static double KERNEL_slope(real number, int c) {
    SIZES;
    const real frequency = (real)VALUES[c % (C / 2)], angle = number * frequency;
    return (double)frequency * ((c < C / 2) != COSINES_FIRST ? cos((double)angle) : -sin((double)angle));
}

UNUSED static void KERNEL(int n, Rows rows, stored *dx, const void *x, const stored *dy) {
    SIZES;
#pragma omp for collapse(2) schedule(static)
    for (int i = 0; i < n; i++)
        for (int r = rows.begin; r < rows.end; r++)
            for (int p = 0; p < W; p++) {
                const real number = load_either(X_STAGED, x, element(&X, i, 0, r / H, r % H, p));
                double sum = 0;
                for (int c = 0; c < C; c++)
                    sum += (double)load(dy, element(&DY, i, c, r / H, r % H, p)) * KERNEL_slope(number, c);
                for (int c = 0; c < stored_channels(&DX); c++)
                    store(dx, element(&DX, i, c, r / H, r % H, p), c == 0 ? (real)sum : 0);
            }
}
/* END */
