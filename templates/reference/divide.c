/* divide.c - quotient of two tensors. Channels that pad a block stay zero. */
#include "prologue.c"

#define KERNEL divide
#include "../example.h"

/* BEGIN */
UNUSED static void KERNEL(int n, Rows rows, stored *y, const stored *a, const stored *b) {
    SIZES;
#pragma omp for collapse(2) schedule(static)
    for (int i = 0; i < n; i++)
        for (int c = 0; c < stored_channels(&Y); c++)
            for (int r = rows.begin; r < rows.end; r++)
                for (int p = 0; p < W; p++)
                    store(y, element(&Y, i, c, r / H, r % H, p),
                          c < C ? load(a, element(&A, i, c, r / H, r % H, p)) /
                                      load(b, element(&B, i, c, r / H, r % H, p))
                                : 0);
}
/* END */
