/* zero_halo.c - zeroes what lies around and between the points of a tensor. */
#include "prologue.c"

#define KERNEL zero_halo
#include "../example.h"

/* BEGIN */
/* Rows of points lie in ascending order; what is not a row is halo. */
UNUSED static void KERNEL(int n, stored *y) {
    SIZES;
#pragma omp for schedule(static)
    for (int i = 0; i < n; i++) {
        long end_of_row = i * Y.sample;
        for (int c = 0; c < stored_channels(&Y); c += Y.block)
            for (int d = 0; d < D; d++)
                for (int h = 0; h < H; h++) {
                    for (long at = end_of_row; at < element(&Y, i, c, d, h, 0); at++)
                        store(y, at, 0);
                    end_of_row = element(&Y, i, c, d, h, W);
                }
        for (long at = end_of_row; at < (i + 1) * Y.sample; at++)
            store(y, at, 0);
    }
}
/* END */
