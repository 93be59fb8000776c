/* add.c - sum of two tensors, or, PARAMETERS, of two gradients of a parameter. */
#include "prologue.c"

#define KERNEL add
#include "../example.h"

/* BEGIN */
UNUSED static void KERNEL(int n, Rows rows, void *y, const void *a, const void *b) {
    SIZES;
#pragma omp for collapse(2) schedule(static)
    for (int i = 0; i < n; i++)
        for (int c = 0; c < stored_channels(&Y); c++)
            for (int r = rows.begin; r < rows.end; r++)
                for (int p = 0; p < W; p++) {
                    real sum = c < C ? load_either(PARAMETERS, a, element(&A, i, c, r / H, r % H, p)) +
                                           load_either(PARAMETERS, b, element(&B, i, c, r / H, r % H, p))
                                     : 0;
                    if (PARAMETERS)
                        ((real *)y)[element(&Y, i, c, r / H, r % H, p)] = sum;
                    else
                        store(y, element(&Y, i, c, r / H, r % H, p), sum);
                }
}
/* END */
