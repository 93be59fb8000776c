/* resize_grad.c - gradient of a map of another size: a point collects from the points that are made of it.
 */
#include "resizing.c"

#define KERNEL resize_grad
#define AT_RUN_TIME ID, IH, IW, D, H, W
#include "../example.h"

/* BEGIN */
/* Points of a row of y whose shares are computed once, for all rows. */
enum { KERNEL_TOGETHER = 32 };

/* Vector v of the gradient of point p: over the points of y that are made of it. */
INLINE Vector KERNEL_point(const stored *dy, int v, Point p) {
    SIZES;
    const Positions in_d = {STEP_D, OFFSET_D, UNIT_D, ID, LINEAR, ZERO};
    const Positions in_h = {STEP_H, OFFSET_H, UNIT_H, IH, LINEAR, ZERO};
    const Positions in_w = {STEP_W, OFFSET_W, UNIT_W, IW, LINEAR, ZERO};
    const Rows d = readers_of(in_d, p.d, D), h = readers_of(in_h, p.h, H), w = readers_of(in_w, p.w, W);
    Vector sum = {0};
    for (int first = w.begin; first < w.end; first += KERNEL_TOGETHER) {
        const int count = min_int(KERNEL_TOGETHER, w.end - first);
        real share[KERNEL_TOGETHER];
        for (int k = 0; k < count; k++)
            share[k] = share_in(in_w, p.w, first + k);
        for (int od = d.begin; od < d.end; od++)
            for (int oh = h.begin; oh < h.end; oh++) {
                const stored *row = dy + vector_at(&DY, v, (Point){p.n, od, oh, first});
                Vector of_row = {0};
                for (int k = 0; k < count; k++)
                    of_row += share[k] * load_some(row + k * DY.block, lanes(&DY, v));
                sum += share_in(in_d, p.d, od) * share_in(in_h, p.h, oh) * of_row;
            }
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
                    Point p = {i, r / IH, r % IH, q / parts};
                    int v = first + q % parts;
                    store_some(dx + vector_at(&DX, v, p), KERNEL_point(dy, v, p), lanes(&DX, v));
                }
}
/* END */
