/* pixel_shuffle.c - FOLD * FOLD channels of a point become as many points of one channel. */
#include "prologue.c"

#define KERNEL pixel_shuffle
#include "../example.h"

/* BEGIN */
UNUSED static void KERNEL(int n, Rows rows, stored *restrict y, const stored *x) {
    SIZES;
#pragma omp for collapse(3) schedule(static)
    for (int i = 0; i < n; i++)
        for (int block = 0; block < Y.blocks; block++)
            for (int h = rows.begin; h < rows.end; h++)
                for (int q = 0; q < W * Y.block; q++) {
                    const int c = block * Y.block + q % Y.block, p = q / Y.block,
                              from = (c * FOLD + h % FOLD) * FOLD + p % FOLD;
                    const Point at = {i, 0, h, p}, there = {i, 0, h / FOLD, p / FOLD};
                    y[offset_of(&Y, block, at) + q % Y.block] =
                        c < C ? x[offset_of(&X, from / X.block, there) + from % X.block] : (stored){0};
                }
}
/* END */
