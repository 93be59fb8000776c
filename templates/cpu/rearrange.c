/* rearrange.c - the elements of x in another order: parts of its axes are parts of the axes of y.
 *
 * SPLIT has five numbers for each part: the axis of y, and how far apart its elements lie there; its
 * extent; the axis of x, and how far apart they lie there. */
#include "prologue.c"

#define KERNEL rearrange
#include "../example.h"

/* BEGIN */
/* Channel, depth, height and width. */
typedef struct {
    int axis[4];
} KERNEL_Place;

/* Moves a place of x by all that place AT of an axis of y says. */
INLINE KERNEL_Place KERNEL_moved(KERNEL_Place from, int axis, int at) {
    SIZES;
    for (int s = 0; s < SPLITS; s++)
        if (SPLIT[5 * s] == axis)
            from.axis[SPLIT[5 * s + 3]] +=
                at / (int)SPLIT[5 * s + 1] % (int)SPLIT[5 * s + 2] * (int)SPLIT[5 * s + 4];
    return from;
}

UNUSED static void KERNEL(int n, Rows rows, stored *restrict y, const stored *x) {
    SIZES;
#pragma omp for collapse(3) schedule(static)
    for (int i = 0; i < n; i++)
        for (int block = 0; block < Y.blocks; block++)
            for (int r = rows.begin; r < rows.end; r++) {
                const KERNEL_Place row =
                    KERNEL_moved(KERNEL_moved((KERNEL_Place){{0}}, 1, r / H), 2, r % H);
                for (int w = 0; w < W; w++) {
                    const KERNEL_Place point = KERNEL_moved(row, 3, w);
                    stored *to = y + offset_of(&Y, block, (Point){i, r / H, r % H, w});
                    for (int l = 0; l < Y.block; l++) {
                        const int c = block * Y.block + l;
                        const KERNEL_Place from = KERNEL_moved(point, 0, c < C ? c : 0);
                        const Point there = {i, from.axis[1], from.axis[2], from.axis[3]};
                        to[l] =
                            c < C ? x[offset_of(&X, from.axis[0] / X.block, there) + from.axis[0] % X.block]
                                  : (stored){0};
                    }
                }
            }
}
/* END */
