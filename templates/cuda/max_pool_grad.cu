/* max_pool_grad.cu - gradient of a maximum over windows: it goes to the first maximum of each;
 * with SUM_BANDS, also sums over bands of windows, which lie side by side then.
 *
 * max_pool has written down its place (ARGMAX_BITS), and which taps are above zero, or x is read.  If
 * windows do not overlap, a thread takes one window and all points up to the next; else it takes one point
 * and asks every window over it. */
#include "prologue.cuh"

#define KERNEL max_pool_grad
#include "../example_cuda.h"

/* BEGIN */
/* The gradient that a window hands down, and its tap. */
struct KERNEL_Share {
    Vector gradient;
    Argmax argmax;
};

/* If x is not read, the mask belongs to the maximum: no other point gets anything but the summand. */
DEVICE KERNEL_Share KERNEL_share(const stored *__restrict__ x, const stored *__restrict__ dy,
                                 const stored *__restrict__ y, const uint8_t *__restrict__ argmax,
                                 Point o) {
    SIZES;
    constexpr bool marks = keeps_marks(ARGMAX_BITS, KD * KH * KW);
    static_assert(ARGMAX_BITS == 0 || marks || !(MASK && ACCUMULATE), "the mask of what is added needs x");
    constexpr int columns = DX.block / LANES;
    constexpr Grid in = {ID, IH, IW, columns, X.ring}, out = {D, H, W, columns, DY.ring},
                   maxima = {D, H, W, columns, Y.ring}, kept = {D, H, W, columns, ARGMAX.ring};
    constexpr Window window = {KD, KH, KW, SD, SH, SW, PD, PH, PW, LD, LH, LW};
    KERNEL_Share share;
    share.gradient = load_vector(dy, index(out, o));
    if (ARGMAX_BITS > 0 && MASK && !marks)
        share.gradient = masked(share.gradient, load_vector(y, index(maxima, o)));
    share.argmax = ARGMAX_BITS > 0 ? load_argmax<ARGMAX_BITS>(argmax, index(kept, o))
                                   : window_maximum(x, in, window, o).argmax;
    return share;
}

/* Adds what the window hands down to this tap. */
DEVICE void KERNEL_add(Vector *sum, KERNEL_Share share, int tap) {
    SIZES;
    constexpr int bits = keeps_marks(ARGMAX_BITS, KD * KH * KW) ? 3 : -1;
    for (int l = 0; l < LANES; l++)
        if ((share.argmax.lane[l] & bits) == tap)
            sum->lane[l] += share.gradient.lane[l];
}

/* Writes the gradient of point p, the tap of a window with this argmax; `total` of it came through the
 * windows. Returns the gradient. */
DEVICE Vector KERNEL_finish(stored *dx, const stored *__restrict__ x, const stored *a, Point p,
                            Vector total, Argmax argmax, int tap) {
    SIZES;
    constexpr int columns = DX.block / LANES;
    constexpr Grid to = {ID, IH, IW, columns, DX.ring}, in = {ID, IH, IW, columns, X.ring},
                   added = {ID, IH, IW, columns, A.ring};
    if (ACCUMULATE)
        total = sum(total, load_vector(a, index(added, p)));
    if (ARGMAX_BITS == 0 && MASK)
        total = masked(total, load_vector(x, index(in, p)));
    for (int l = 0; l < LANES && MASK && keeps_marks(ARGMAX_BITS, KD * KH * KW); l++)
        if ((argmax.lane[l] & 16 << tap) == 0)
            total.lane[l] = 0;
    store_vector(dx, index(to, p), total);
    return as_stored(total);
}

/* All points of cell o that lie in a range of rows; returns the sum of their gradients. */
DEVICE Vector KERNEL_cell(Point o, Rows rows, stored *dx, const stored *__restrict__ x,
                          const stored *__restrict__ dy, const stored *a, const stored *__restrict__ y,
                          const uint8_t *__restrict__ argmax) {
    SIZES;
    constexpr Grid in = {ID, IH, IW, DX.block / LANES}, out = {D, H, W, DY.block / LANES};
    constexpr Window window = {KD, KH, KW, SD, SH, SW, PD, PH, PW, LD, LH, LW};
    const bool is_window = inside(out, o);
    Vector all = filled(0);
    KERNEL_Share share = {};
    if (is_window)
        share = KERNEL_share(x, dy, y, argmax, o);
    for (int kd = 0; kd < SD; kd++)
        for (int kh = 0; kh < SH; kh++)
            for (int kw = 0; kw < SW; kw++) {
                const Point p = under(window, o, kd, kh, kw);
                if (!inside(in, p) || !inside(rows, in, p))
                    continue;
                Vector total = filled(0);
                if (is_window && kd < KD && kh < KH && kw < KW)
                    KERNEL_add(&total, share, tap_number(window, kd, kh, kw));
                all = sum(all,
                          KERNEL_finish(dx, x, a, p, total, share.argmax, tap_number(window, kd, kh, kw)));
            }
    return all;
}

static __global__ void KERNEL_cells(Range range, Rows rows, stored *dx, const stored *__restrict__ x,
                                    const stored *__restrict__ dy, const stored *a,
                                    const stored *__restrict__ y, const uint8_t *__restrict__ argmax) {
    SIZES;
    constexpr Grid in = {ID, IH, IW, DX.block / LANES};
    constexpr Window window = {KD, KH, KW, SD, SH, SW, PD, PH, PW, LD, LH, LW};
    const unsigned i = vector_index(range);
    if (i != NO_VECTOR)
        KERNEL_cell(point_at(cells_of(window, in), i), rows, dx, x, dy, a, y, argmax);
}

/* All cells, and sums over bands of them.  With 8 lanes 64 registers do not suffice on sm_80. */
static __global__ void __launch_bounds__(THREADS, LANES > 4 ? 3 : 4)
    KERNEL_sums(stored *dx, real *__restrict__ sums, const stored *__restrict__ x,
                const stored *__restrict__ dy, const stored *a, const stored *__restrict__ y,
                const uint8_t *__restrict__ argmax) {
    SIZES;
    constexpr int columns = DX.block / LANES;
    constexpr Grid in = {ID, IH, IW, columns};
    constexpr Window window = {KD, KH, KW, SD, SH, SW, PD, PH, PW, LD, LH, LW};
    sum_over_points<columns>(sums, vectors(N, cells_of(window, in)) / columns,
                             [=](unsigned cell, int column) {
                                 const Point o = point_at(cells_of(window, in), cell * columns + column);
                                 return KERNEL_cell(o, {0, ID * IH}, dx, x, dy, a, y, argmax);
                             });
}

static __global__ void KERNEL_points(Range range, stored *dx, const stored *__restrict__ x,
                                     const stored *__restrict__ dy, const stored *a,
                                     const stored *__restrict__ y, const uint8_t *__restrict__ argmax) {
    SIZES;
    constexpr Grid in = {ID, IH, IW, DX.block / LANES}, out = {D, H, W, DY.block / LANES};
    constexpr Window window = {KD, KH, KW, SD, SH, SW, PD, PH, PW, LD, LH, LW};
    const unsigned i = vector_index(range);
    if (i == NO_VECTOR)
        return;
    const Point p = point_at(in, i);
    Vector total = filled(0);
    each_window_over(p, window, out,
                     [&](Point o, int tap) { KERNEL_add(&total, KERNEL_share(x, dy, y, argmax, o), tap); });
    KERNEL_finish(dx, x, a, p, total, Argmax{}, 0);
}

LAUNCHER void KERNEL(UnetLaunch at, Rows rows, stored *dx, real *sums, const stored *x, const stored *dy,
                     const stored *a, const stored *y, const uint8_t *argmax) {
    SIZES;
    constexpr int columns = DX.block / LANES;
    constexpr Grid in = {ID, IH, IW, columns};
    constexpr Window window = {KD, KH, KW, SD, SH, SW, PD, PH, PW, LD, LH, LW};
    if (SUM_BANDS > 0)
        LAUNCH_BLOCKS(at, KERNEL_sums, (sum_grid<columns, SUM_BANDS>()), dx, sums, x, dy, a, y, argmax);
    else if (LD * LH * LW == 1 && KD <= SD && KH <= SH && KW <= SW)
        LAUNCH_RANGE(at, KERNEL_cells, range_of(N, cells_of(window, in), cell_rows(window, in, rows)), rows,
                     dx, x, dy, a, y, argmax);
    else
        LAUNCH_RANGE(at, KERNEL_points, range_of(N, in, rows), dx, x, dy, a, y, argmax);
}
/* END */
