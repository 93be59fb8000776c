/* sinusoid.c - sines and cosines of a number at each point. */
#include "prologue.c"

#define KERNEL sinusoid
#include "../example.h"

/* BEGIN */
#include <math.h>

/* The frequencies are rounded as the numbers are. */
UNUSED static real KERNEL_wave(real number, int c) {
    SIZES;
    const real angle = number * (real)VALUES[c % (C / 2)];
    return (real)((c < C / 2) != COSINES_FIRST ? sin((double)angle) : cos((double)angle));
}

UNUSED static void KERNEL(int n, Rows rows, stored *y, const void *x) {
    SIZES;
#pragma omp for collapse(2) schedule(static)
    for (int i = 0; i < n; i++)
        for (int c = 0; c < stored_channels(&Y); c++)
            for (int r = rows.begin; r < rows.end; r++)
                for (int p = 0; p < W; p++) {
                    const real number = load_either(X_STAGED, x, element(&X, i, 0, r / H, r % H, p));
                    store(y, element(&Y, i, c, r / H, r % H, p), c < C ? KERNEL_wave(number, c) : 0);
                }
}
/* END */
