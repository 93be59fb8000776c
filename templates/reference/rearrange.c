/* rearrange.c - the elements of x in another order: SPLITS parts of its axes are parts of the axes of y. */
#include "prologue.c"

#define KERNEL rearrange
#include "../example.h"

/* BEGIN */
UNUSED static void KERNEL(int n, Rows rows, stored *y, const stored *x) {
    SIZES;
#pragma omp for collapse(2) schedule(static)
    for (int i = 0; i < n; i++)
        for (int c = 0; c < stored_channels(&Y); c++)
            for (int r = rows.begin; r < rows.end; r++)
                for (int w = 0; w < W; w++) {
                    /* channel, depth, height and width; a split is {axis of y, step in y, extent, axis of
                     * x, step in x} */
                    const long to[4] = {c < C ? c : 0, r / H, r % H, w};
                    long from[4] = {0, 0, 0, 0};
                    for (int s = 0; s < SPLITS; s++) {
                        const long *split = SPLIT + 5 * s;
                        from[split[3]] += to[split[0]] / split[1] % split[2] * split[4];
                    }
                    store(y, element(&Y, i, c, r / H, r % H, w),
                          c < C ? load(x, element(&X, i, (int)from[0], (int)from[1], (int)from[2],
                                                  (int)from[3]))
                                : 0);
                }
}
/* END */
