/* border_grad.c - gradient of a tensor with points around it: the sum over the copies of each point. */
#include "borders.c"

#define KERNEL border_grad
#include "../example.h"

/* BEGIN */
/* The sum of the copies in one row; the point itself comes first. */
INLINE Vector KERNEL_row(Rows rows, const stored *dy, int v, Point at, int w) {
    SIZES;
    (void)rows; /* H may be made of it */
    Vector sum = {0};
    for (int k = 0; k < BORDER_COPIES; k++) {
        at.w = border_copy(BORDER_W, k, w, IW, BEFORE_W, W);
        if (at.w >= 0)
            sum += load_some(dy + vector_at(&DY, v, at), lanes(&DY, v));
    }
    return sum;
}

INLINE Vector KERNEL_sum(Rows rows, const stored *dy, int v, Point of) {
    SIZES;
    (void)rows; /* H may be made of it */
    Vector sum = {0};
    for (int k = 0; k < BORDER_COPIES * BORDER_COPIES; k++) {
        const Point at = {of.n, border_copy(BORDER_D, k / BORDER_COPIES, of.d, ID, BEFORE_D, D),
                          border_copy(BORDER_H, k % BORDER_COPIES, of.h, IH, BEFORE_H, H), 0};
        if (at.d >= 0 && at.h >= 0)
            sum += KERNEL_row(rows, dy, v, at, of.w);
    }
    return sum;
}

UNUSED static void KERNEL(int n, Rows rows, stored *restrict dx, const stored *dy) {
    SIZES;
    const int parts = DX.block == BLOCK ? PARTS : 1;
#pragma omp for collapse(3) schedule(static)
    for (int i = 0; i < n; i++)
        for (int first = 0; first < vectors(&DX); first += parts)
            for (int r = rows.begin; r < rows.end; r++)
                for (int q = 0; q < IW * parts; q++) {
                    const Point at = {i, r / IH, r % IH, q / parts};
                    const int v = first + q % parts;
                    store_some(dx + vector_at(&DX, v, at), KERNEL_sum(rows, dy, v, at), lanes(&DX, v));
                }
}
/* END */
