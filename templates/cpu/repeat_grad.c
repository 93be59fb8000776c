/* repeat_grad.c - gradient of a tensor that was repeated: sums over what it was repeated along, in the
 * order of planes, rows, points and channels. */
#include "prologue.c"

#define KERNEL repeat_grad
#include "../example.h"

/* BEGIN */
/* The sum of vectors [begin, end) of dy over one row, of all its points, or of one. */
INLINE Vector KERNEL_row(Rows rows, const stored *dy, Point p, int begin, int end) {
    SIZES;
    (void)rows; /* BH may be made of it */
    const int first = BW == 1 ? 0 : p.w, last = BW == 1 ? W : p.w + 1;
    Vector sum = {0};
    for (p.w = first; p.w < last; p.w++)
        for (int v = begin; v < end; v++)
            sum += load_some(dy + vector_at(&DY, v, p), lanes(&DY, v));
    return sum;
}

/* All that vector v of point p of dx was repeated along. */
INLINE Vector KERNEL_sum(Rows rows, const stored *dy, int v, Point p) {
    SIZES;
    const int joins = CB == 1 && C > 1, begin = joins ? 0 : v, end = joins ? vectors(&DY) : v + 1;
    const int plane = BD == 1 ? 0 : p.d, planes = BD == 1 ? D : p.d + 1;
    const int line = BH == 1 ? 0 : p.h, lines = BH == 1 ? H : p.h + 1;
    Vector total = {0};
    for (p.d = plane; p.d < planes; p.d++)
        for (p.h = line; p.h < lines; p.h++)
            total += KERNEL_row(rows, dy, p, begin, end);
    if (!joins)
        return total;
    real sum = 0;
    for (int lane = 0; lane < LANES; lane++)
        sum += total[lane];
    return (Vector){sum};
}

UNUSED static void KERNEL(int n, Rows rows, stored *restrict dx, const stored *dy) {
    SIZES;
#pragma omp for collapse(3) schedule(static)
    for (int i = 0; i < n; i++)
        for (int v = 0; v < vectors(&DX); v++)
            for (int r = rows.begin; r < rows.end; r++)
                for (int w = 0; w < BW; w++) {
                    const Point at = {i, r / BH, r % BH, w};
                    store_some(dx + vector_at(&DX, v, at), KERNEL_sum(rows, dy, v, at), lanes(&DX, v));
                }
}
/* END */
