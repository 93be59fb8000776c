/* zero_halo.c - zeroes what lies around and between the points of a tensor. */
#include "prologue.c"

#define KERNEL zero_halo
#include "../example.h"

/* BEGIN */
/* Rows of points lie in ascending order; what is not a row is halo: here the part before each row, and
 * behind the last. */
UNUSED static void KERNEL(int n, stored *y) {
    SIZES;
    enum { ROWS_OF_PLANE = D * H };
    const int rows = Y.blocks * ROWS_OF_PLANE;
#pragma omp for collapse(2) schedule(static)
    for (int i = 0; i < n; i++)
        for (int r = 0; r <= rows; r++) {
            const int q = r - 1;
            Place here = {i, r % ROWS_OF_PLANE / H, r % H, 0},
                  before = {i, q % ROWS_OF_PLANE / H, q % H, W};
            long from = r > 0 ? point(&Y, q / ROWS_OF_PLANE, before) : i * Y.sample;
            long to = r < rows ? point(&Y, r / ROWS_OF_PLANE, here) : (i + 1) * Y.sample;
            memset(y + from, 0, (size_t)(to - from) * sizeof *y);
        }
}
/* END */
