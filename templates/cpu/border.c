/* border.c - x with points around it: a number, its own points once more, or in the other direction. */
#include "borders.c"

#define KERNEL border
#include "../example.h"

/* BEGIN */
UNUSED static void KERNEL(int n, Rows rows, stored *restrict y, const stored *x) {
    SIZES;
    const int parts = Y.block == BLOCK ? PARTS : 1;
#pragma omp for collapse(3) schedule(static)
    for (int i = 0; i < n; i++)
        for (int first = 0; first < vectors(&Y); first += parts)
            for (int r = rows.begin; r < rows.end; r++) {
                Point from = {i, border_source(BORDER_D, r / H - BEFORE_D, ID),
                              border_source(BORDER_H, r % H - BEFORE_H, IH), 0};
                for (int q = 0; q < W * parts; q++) {
                    const Point to = {i, r / H, r % H, q / parts};
                    const int v = first + q % parts;
                    from.w = border_source(BORDER_W, to.w - BEFORE_W, IW);
                    const Vector beyond = first_lanes((Vector){0} + (real)BEYOND, C - v * LANES);
                    const Vector values = from.d < 0 || from.h < 0 || from.w < 0
                                              ? beyond
                                              : load_some(x + vector_at(&X, v, from), lanes(&X, v));
                    store_some(y + vector_at(&Y, v, to), values, lanes(&Y, v));
                }
            }
}
/* END */
