/* max_pool_grad_marks.c - max_pool_grad by what max_pool_marks wrote down: x is not read, nor is y.  A last
 * row or column may lie in no window; then nothing is masked. */
#include "marks.c"

#define KERNEL max_pool_grad_marks
#include "../example.h"

/* BEGIN */
/* Windows, and one more where a row or column lies in none. */
#define ALL_H ((IH + 1) / 2)
#define ALL_W ((IW + 1) / 2)

/* Vector v of the points of window o that lie in the rows. */
INLINE void KERNEL_window(Rows rows, stored *dx, const stored *dy, const stored *a, const uint8_t *argmax,
                          int v, Point o) {
    SIZES;
    const int is_window = o.h < H && o.w < W;
    const Bits marks =
        is_window ? load_marks(argmax + vector_at(&ARGMAX, v, o), lanes(&ARGMAX, v)) : (Bits){0};
    const Vector gradient = is_window ? load_some(dy + vector_at(&DY, v, o), lanes(&DY, v)) : (Vector){0};
    for (int tap = 0; tap < TAPS; tap++) {
        const Point p = tap_of(o, tap);
        if (p.h >= IH || p.w >= IW || p.d * IH + p.h < rows.begin || p.d * IH + p.h >= rows.end)
            continue;
        const Bits chosen = (marks & TAP_BITS) == tap, passes = (marks & (PASSES << tap)) != 0;
        Vector sum = (Vector){0} + (Vector)((Bits)gradient & chosen);
        if (ACCUMULATE)
            sum += load_some(a + vector_at(&A, v, p), lanes(&A, v));
        if (MASK)
            sum = (Vector)((Bits)sum & passes);
        store_some(dx + vector_at(&DX, v, p), sum, lanes(&DX, v));
    }
}

/* The rows of windows over rows of points. */
INLINE Rows KERNEL_rows(Rows rows) {
    SIZES;
    const int first = rows.begin, last = rows.end - 1;
    if (first <= last) {
        rows.end = last / IH * ALL_H + last % IH / 2 + 1;
        rows.begin = first / IH * ALL_H + first % IH / 2;
    }
    return rows;
}

UNUSED static void KERNEL(int n, Rows rows, stored *dx, const stored *x, const stored *dy, const stored *a,
                          const stored *y, const uint8_t *argmax) {
    SIZES;
    (void)x, (void)y;
    const Rows windows = KERNEL_rows(rows);
    const int parts = DX.block == BLOCK ? PARTS : 1;
#pragma omp for collapse(3) schedule(static)
    for (int i = 0; i < n; i++)
        for (int first = 0; first < vectors(&DX); first += parts)
            for (int r = windows.begin; r < windows.end; r++)
                for (int q = 0; q < ALL_W * parts; q++)
                    KERNEL_window(rows, dx, dy, a, argmax, first + q % parts,
                                  (Point){i, r / ALL_H, r % ALL_H, q / parts});
}
#undef ALL_H
#undef ALL_W
/* END */
