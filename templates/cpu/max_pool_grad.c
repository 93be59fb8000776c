/* max_pool_grad.c - gradient of a maximum over windows: it goes to the first maximum of each.
 *
 * A point collects from the windows that hold it, in the order of the windows; each window's choice is
 * found again from x. */
#include "prologue.c"

#define KERNEL max_pool_grad
#define AT_RUN_TIME D, H, W, ID, IH, IW
#include "../example.h"

/* BEGIN */
#include <math.h>

/* The taps of window o along an axis that meet points of the input. */
INLINE Rows KERNEL_taps(int o, int taps, int stride, int padding, int dilation, int extent) {
    SIZES;
    return EXACT ? (Rows){0, taps}
                 : (Rows){tap_behind(padding - o * stride, dilation),
                          min_int(taps, tap_behind(extent + padding - o * stride, dilation))};
}

/* The number of the tap that window o chose, in each channel. */
INLINE Bits KERNEL_choice(Rows rows, const stored *x, int v, Point o) {
    SIZES;
    (void)rows; /* heights may be made of it */
    const Rows d = KERNEL_taps(o.d, KD, SD, PD, LD, ID), h = KERNEL_taps(o.h, KH, SH, PH, LH, IH),
               w = KERNEL_taps(o.w, KW, SW, PW, LW, IW);
    Vector best = (Vector){0} - INFINITY;
    Bits choice = (Bits){0} + (d.begin * KH + h.begin) * KW + w.begin;
    for (int kd = d.begin; kd < d.end; kd++)
        for (int kh = h.begin; kh < h.end; kh++)
            for (int kw = w.begin; kw < w.end; kw++) {
                Point i = {o.n, o.d * SD - PD + kd * LD, o.h * SH - PH + kh * LH, o.w * SW - PW + kw * LW};
                Vector here = load_some(x + vector_at(&X, v, i), lanes(&X, v));
                Bits more = (here > best) | (here != here);
                best = vector_choose(more, here, best);
                choice = (((kd * KH + kh) * KW + kw) & more) | (choice & ~more);
            }
    return choice;
}

/* Vector v of point p, from the sum over its windows. */
INLINE void KERNEL_finish(stored *dx, const stored *x, const stored *a, int v, Point p, Vector sum) {
    SIZES;
    if (ACCUMULATE)
        sum += load_some(a + vector_at(&A, v, p), lanes(&A, v));
    if (MASK)
        sum = vector_mask(sum, load_some(x + vector_at(&X, v, p), lanes(&X, v)));
    store_some(dx + vector_at(&DX, v, p), sum, lanes(&DX, v));
}

/* The points of window o that lie in the rows, where each point has one window. */
INLINE void KERNEL_window(Rows rows, stored *dx, const stored *x, const stored *dy, const stored *a, int v,
                          Point o) {
    SIZES;
    const Bits choice = KERNEL_choice(rows, x, v, o);
    const Vector gradient = load_some(dy + vector_at(&DY, v, o), lanes(&DY, v));
    for (int kd = 0; kd < KD; kd++)
        for (int kh = 0; kh < KH; kh++)
            for (int kw = 0; kw < KW; kw++) {
                Point p = {o.n, o.d * KD + kd, o.h * KH + kh, o.w * KW + kw};
                if (p.d * IH + p.h < rows.begin || p.d * IH + p.h >= rows.end)
                    continue;
                Bits chosen = choice == (kd * KH + kh) * KW + kw;
                KERNEL_finish(dx, x, a, v, p, (Vector){0} + (Vector)((Bits)gradient & chosen));
            }
}

/* Vector v of the sum over the windows of point p. */
INLINE Vector KERNEL_point(Rows rows, const stored *x, const stored *dy, int v, Point p) {
    SIZES;
    (void)rows;
    Vector sum = {0};
    for (int kd = KD - 1; kd >= 0; kd--)
        for (int kh = KH - 1; kh >= 0; kh--)
            for (int kw = KW - 1; kw >= 0; kw--) {
                Point o = {p.n, window_at(p.d, kd * LD, SD, PD, D), window_at(p.h, kh * LH, SH, PH, H),
                           window_at(p.w, kw * LW, SW, PW, W)};
                if (o.d < 0 || o.h < 0 || o.w < 0)
                    continue;
                Bits chosen = KERNEL_choice(rows, x, v, o) == (kd * KH + kh) * KW + kw;
                Vector gradient = load_some(dy + vector_at(&DY, v, o), lanes(&DY, v));
                sum += (Vector)((Bits)gradient & chosen);
            }
    return sum;
}

/* The rows of windows over rows of points, for windows that are one plane deep; else all of their planes.
 */
INLINE Rows KERNEL_rows(Rows rows) {
    SIZES;
    const int first = rows.begin, last = rows.end - 1;
    if (first <= last) {
        rows.end = last / IH / KD * H + (KD == 1 ? last % IH / KH : H - 1) + 1;
        rows.begin = first / IH / KD * H + (KD == 1 ? first % IH / KH : 0);
    }
    return rows;
}

UNUSED static void KERNEL(int n, Rows rows, stored *dx, const stored *x, const stored *dy,
                          const stored *a) {
    SIZES;
    const int height = EXACT ? H : IH, width = EXACT ? W : IW;
    const Rows items = EXACT ? KERNEL_rows(rows) : rows;
    const int parts = DX.block == BLOCK ? PARTS : 1;
#pragma omp for collapse(3) schedule(static)
    for (int i = 0; i < n; i++)
        for (int first = 0; first < vectors(&DX); first += parts)
            for (int r = items.begin; r < items.end; r++)
                for (int q = 0; q < width * parts; q++) {
                    Point at = {i, r / height, r % height, q / parts};
                    int v = first + q % parts;
                    if (EXACT)
                        KERNEL_window(rows, dx, x, dy, a, v, at);
                    else
                        KERNEL_finish(dx, x, a, v, at, KERNEL_point(rows, x, dy, v, at));
                }
}
/* END */
