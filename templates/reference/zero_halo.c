/* zero_halo.c - zeroes what lies around and between the points of a tensor. */
#include "prologue.c"

#define KERNEL zero_halo
#include "../example.h"

/* BEGIN */
/* The halo of a row is the rest of its line in memory. The halo above the first row of a plane and in front
 * of the first plane belongs to the row behind it, that below the last to the row before it. */
UNUSED static void KERNEL_zero(stored *y, long from, long to) {
    for (; from < to; from++)
        store(y, from, 0);
}

UNUSED static void KERNEL(int n, Rows rows, stored *y) {
    SIZES;
#pragma omp for collapse(2) schedule(static)
    for (int i = 0; i < n; i++)
        for (int block = 0; block < Y.blocks; block++)
            for (int r = rows.begin; r < rows.end; r++) {
                const int c = block * Y.block;
                KERNEL_zero(y, halo_boundary(&Y, i, block, r, D, H), element(&Y, i, c, r / H, r % H, 0));
                KERNEL_zero(y, element(&Y, i, c, r / H, r % H, W),
                            halo_boundary(&Y, i, block, r + 1, D, H));
            }
}
/* END */
