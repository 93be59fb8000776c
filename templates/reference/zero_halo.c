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

/* A ring has a line of memory for each row, for rows of the halo above and below, too. */
UNUSED static void KERNEL_line(stored *y, int i, int block, int r) {
    SIZES;
    const long first = element(&Y, i, block * Y.block, 0, r, 0), line = first - Y.origin % Y.row;
    const long points = inside(r, H) ? (long)W * Y.block : 0;
    KERNEL_zero(y, line, first);
    KERNEL_zero(y, first + points, line + Y.row);
}

UNUSED static void KERNEL_ring(Rows rows, stored *y, int i, int block) {
    SIZES;
    const int above = rows.begin == 0 ? ABOVE : 0, below = rows.end == H ? BELOW : 0;
    for (int r = rows.begin - above; r < rows.end + below; r++)
        KERNEL_line(y, i, block, r);
}

UNUSED static void KERNEL(int n, Rows rows, stored *y) {
    SIZES;
    if (rows.begin >= rows.end)
        return;
#pragma omp for collapse(2) schedule(static)
    for (int i = 0; i < n; i++)
        for (int block = 0; block < Y.blocks; block++) {
            if (Y.ring > 0)
                KERNEL_ring(rows, y, i, block);
            for (int r = rows.begin; Y.ring == 0 && r < rows.end; r++) {
                const int c = block * Y.block;
                KERNEL_zero(y, halo_boundary(&Y, i, block, r, D, H), element(&Y, i, c, r / H, r % H, 0));
                KERNEL_zero(y, element(&Y, i, c, r / H, r % H, W),
                            halo_boundary(&Y, i, block, r + 1, D, H));
            }
        }
}
/* END */
