/* concat.c - one tensor out of segments. */
#include "prologue.c"

#define KERNEL concat
#define X_IS_SEGMENTS
#include "../example.h"

/* BEGIN */
UNUSED static void KERNEL(int n, Rows rows, stored *restrict y, const stored *const *x) {
    SIZES;
    for (int s = 0, first = 0; s < SEGMENTS; first += X[s].channels, s++) {
        /* the last segment also writes the channels that pad the last block */
        const int end = s + 1 < SEGMENTS ? X[s].channels : Y.blocks * Y.block - first;
#pragma omp for collapse(3) schedule(static) nowait
        for (int i = 0; i < n; i++)
            for (int c = 0; c < end; c++)
                for (int r = rows.begin; r < rows.end; r++)
                    for (int p = 0; p < W; p++) {
                        Point at = {i, r / H, r % H, p};
                        int to = first + c;
                        y[offset_of(&Y, to / Y.block, at) + to % Y.block] =
                            c < X[s].channels ? x[s][offset_of(&X[s], c / X[s].block, at) + c % X[s].block]
                                              : (stored){0};
                    }
    }
#pragma omp barrier
}
/* END */
