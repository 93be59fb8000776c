/* max_pool_grad.cu - gradient of a maximum over windows: it goes to the first maximum of each.
 *
 * Where that is, max_pool has written down (TAP_BITS), or it is found again in x. Where windows do not
 * overlap, a thread takes one window and all points up to the next; else it takes one point and asks every
 * window over it. */
#include "prologue.cuh"

#define KERNEL max_pool_grad
#include "../example_cuda.h"

/* BEGIN */
/* What a window hands down, and to which of its taps. */
struct KERNEL_Share {
    Vector gradient;
    Taps tap;
};

/* Where x is not read, the mask is that of the maximum: no other point gets anything. */
DEVICE KERNEL_Share KERNEL_share(const stored *__restrict__ x, const stored *__restrict__ dy,
                                 const stored *__restrict__ y, const uint8_t *__restrict__ taps, Place o) {
    SIZES;
    static_assert(TAP_BITS == 0 || !(MASK && ACCUMULATE), "the mask of what is added needs x");
    constexpr Grid in = {ID, IH, IW, DX.block / LANES}, out = {D, H, W, DY.block / LANES};
    constexpr Window window = {KD, KH, KW, SD, SH, SW, PD, PH, PW};
    const unsigned i = index(out, o);
    KERNEL_Share share;
    share.gradient = load_vector(dy, i);
    if (TAP_BITS > 0 && MASK)
        share.gradient = masked(share.gradient, load_vector(y, i));
    share.tap = TAP_BITS > 0 ? load_taps<TAP_BITS>(taps, i) : window_maximum(x, in, window, o).tap;
    return share;
}

/* Adds what the window hands down to this tap. */
DEVICE void KERNEL_add(Vector *sum, KERNEL_Share share, int tap) {
    for (int l = 0; l < LANES; l++)
        if (share.tap.lane[l] == tap)
            sum->lane[l] += share.gradient.lane[l];
}

/* Writes vector i of the gradient, of which `total` came through the windows. */
DEVICE void KERNEL_finish(stored *dx, const stored *__restrict__ x, const stored *a, unsigned i,
                          Vector total) {
    SIZES;
    if (ACCUMULATE)
        total = sum(total, load_vector(a, i));
    if (TAP_BITS == 0 && MASK)
        total = masked(total, load_vector(x, i));
    store_vector(dx, i, total);
}

static __global__ void KERNEL_cells(stored *dx, const stored *__restrict__ x, const stored *__restrict__ dy,
                                    const stored *a, const stored *__restrict__ y,
                                    const uint8_t *__restrict__ taps) {
    SIZES;
    constexpr Grid in = {ID, IH, IW, DX.block / LANES}, out = {D, H, W, DY.block / LANES};
    constexpr Grid cells = {(ID + PD + SD - 1) / SD, (IH + PH + SH - 1) / SH, (IW + PW + SW - 1) / SW,
                            in.columns};
    constexpr Window window = {KD, KH, KW, SD, SH, SW, PD, PH, PW};
    const unsigned i = thread_index();
    if (i >= vectors(N, cells))
        return;
    const Place o = place(cells, i);
    const bool is_window = inside(out, o);
    KERNEL_Share share = {};
    if (is_window)
        share = KERNEL_share(x, dy, y, taps, o);
    for (int kd = 0; kd < SD; kd++)
        for (int kh = 0; kh < SH; kh++)
            for (int kw = 0; kw < SW; kw++) {
                const Place p = under(window, o, kd, kh, kw);
                if (!inside(in, p))
                    continue;
                Vector total = filled(0);
                if (is_window && kd < KD && kh < KH && kw < KW)
                    KERNEL_add(&total, share, tap_number(window, kd, kh, kw));
                KERNEL_finish(dx, x, a, index(in, p), total);
            }
}

/* The windows over a point, in ascending order. */
static __global__ void KERNEL_points(stored *dx, const stored *__restrict__ x,
                                     const stored *__restrict__ dy, const stored *a,
                                     const stored *__restrict__ y, const uint8_t *__restrict__ taps) {
    SIZES;
    constexpr Grid in = {ID, IH, IW, DX.block / LANES}, out = {D, H, W, DY.block / LANES};
    constexpr Window window = {KD, KH, KW, SD, SH, SW, PD, PH, PW};
    const unsigned i = thread_index();
    if (i >= vectors(N, in))
        return;
    const Place p = place(in, i);
    Vector total = filled(0);
    for (int kd = KD - 1; kd >= 0; kd--)
        for (int kh = KH - 1; kh >= 0; kh--)
            for (int kw = KW - 1; kw >= 0; kw--) {
                const int d = p.d + PD - kd, h = p.h + PH - kh, w = p.w + PW - kw;
                const Place o = {p.n, d / SD, h / SH, w / SW, p.column};
                if (d < 0 || h < 0 || w < 0 || d % SD || h % SH || w % SW || !inside(out, o))
                    continue;
                KERNEL_add(&total, KERNEL_share(x, dy, y, taps, o), tap_number(window, kd, kh, kw));
            }
    KERNEL_finish(dx, x, a, i, total);
}

LAUNCHER void KERNEL(UnetLaunch at, stored *dx, const stored *x, const stored *dy, const stored *a,
                     const stored *y, const uint8_t *taps) {
    SIZES;
    constexpr unsigned points = vectors(N, {ID, IH, IW, DX.block / LANES});
    constexpr unsigned cells = vectors(
        N, {(ID + PD + SD - 1) / SD, (IH + PH + SH - 1) / SH, (IW + PW + SW - 1) / SW, DX.block / LANES});
    if (KD <= SD && KH <= SH && KW <= SW)
        LAUNCH(at, KERNEL_cells, blocks_for(cells), dx, x, dy, a, y, taps);
    else
        LAUNCH(at, KERNEL_points, blocks_for(points), dx, x, dy, a, y, taps);
}
/* END */
