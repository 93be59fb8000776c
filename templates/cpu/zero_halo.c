/* zero_halo.c - zeroes what lies around and between the points of a tensor. */
#include "prologue.c"

#define KERNEL zero_halo
#include "../example.h"

/* BEGIN */
/* Points of a row lie side by side: the halo is what lies before the first row, between two rows and behind
 * the last. */
UNUSED static void KERNEL(int n, Rows rows, stored *y) {
    SIZES;
#pragma omp for collapse(3) schedule(static)
    for (int i = 0; i < n; i++)
        for (int block = 0; block < Y.blocks; block++)
            for (int r = rows.begin; r <= rows.end; r++) {
                const Point before = {i, (r - 1) / H, (r - 1) % H, W}, here = {i, r / H, r % H, 0};
                const long from =
                    r > rows.begin ? offset_of(&Y, block, before) : halo_boundary(&Y, i, block, r, D, H);
                const long to =
                    r < rows.end ? offset_of(&Y, block, here) : halo_boundary(&Y, i, block, r, D, H);
                memset(y + from, 0, (size_t)(to - from) * sizeof *y);
            }
}
/* END */
