/* max_pool_marks.c - max_pool over windows of 2x2 points, which writes down what its gradient asks of x. */
#include "marks.c"

#define KERNEL max_pool_marks
#define AT_RUN_TIME H, W
#include "../example.h"

/* BEGIN */
#include <math.h>

/* Vector v of window o. */
INLINE void KERNEL_window(stored *y, uint8_t *argmax, const stored *x, int v, Point o) {
    SIZES;
    Vector maximum = (Vector){0} - INFINITY, best = maximum;
    Bits choice = {0}, passes = {0};
    for (int tap = 0; tap < TAPS; tap++) {
        const Vector here = load_some(x + vector_at(&X, v, tap_of(o, tap)), lanes(&X, v));
        const Bits more = (here > best) | (here != here);
        maximum = vector_maximum(maximum, here);
        best = vector_choose(more, here, best);
        choice = (tap & more) | (choice & ~more);
        passes |= (PASSES << tap) & (here > 0);
    }
    store_some(y + vector_at(&Y, v, o), maximum, lanes(&Y, v));
    store_marks(argmax + vector_at(&ARGMAX, v, o), choice | passes, lanes(&ARGMAX, v));
}

UNUSED static void KERNEL(int n, Rows rows, stored *restrict y, uint8_t *restrict argmax, const stored *x) {
    SIZES;
    const int parts = Y.block == BLOCK ? PARTS : 1;
#pragma omp for collapse(3) schedule(static)
    for (int i = 0; i < n; i++)
        for (int first = 0; first < vectors(&Y); first += parts)
            for (int r = rows.begin; r < rows.end; r++)
                for (int q = 0; q < W * parts; q++)
                    KERNEL_window(y, argmax, x, first + q % parts, (Point){i, r / H, r % H, q / parts});
}
/* END */
