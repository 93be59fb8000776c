/* relu_grad.c - gradient of a ReLU, from its output. */
#include "prologue.c"

#define KERNEL relu_grad
#include "../example.h"

/* BEGIN */
UNUSED static void KERNEL(int n, stored *dx, const stored *y, const stored *dy) {
    SIZES;
#pragma omp for collapse(2) schedule(static)
    for (int i = 0; i < n; i++)
        for (int c = 0; c < stored_channels(&DX); c++)
            for (int d = 0; d < D; d++)
                for (int h = 0; h < H; h++)
                    for (int p = 0; p < W; p++) {
                        int passes = c < C && load(y, element(&Y, i, c, d, h, p)) > 0;
                        store(dx, element(&DX, i, c, d, h, p),
                              passes ? load(dy, element(&DY, i, c, d, h, p)) : 0);
                    }
}
/* END */
