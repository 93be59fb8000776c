/* max_pool_grad.cu - gradient of a maximum over windows: it goes to the first maximum of each.
 *
 * Where windows do not overlap, a thread takes one window and all points up to the next; else it takes one
 * point and asks every window over it. */
#include "prologue.cuh"

#define KERNEL max_pool_grad
#include "../example_cuda.h"

/* BEGIN */
/* The taps of a window at which its first maximum is, one for each lane. */
struct KERNEL_Taps {
    int lane[LANES];
};

DEVICE KERNEL_Taps KERNEL_chosen(const stored *__restrict__ x, Place o) {
    SIZES;
    constexpr Grid in = {ID, IH, IW, X.block / LANES};
    KERNEL_Taps chosen;
    Vector best = filled(0);
    for (int l = 0; l < LANES; l++)
        chosen.lane[l] = -1;
    for (int kd = 0; kd < KD; kd++)
        for (int kh = 0; kh < KH; kh++)
            for (int kw = 0; kw < KW; kw++) {
                const Place p = {o.n, o.d * SD - PD + kd, o.h * SH - PH + kh, o.w * SW - PW + kw, o.column};
                if (!inside(in, p))
                    continue;
                const Vector here = load_vector(x, index(in, p));
                for (int l = 0; l < LANES; l++)
                    if (chosen.lane[l] < 0 || here.lane[l] > best.lane[l] || here.lane[l] != here.lane[l]) {
                        best.lane[l] = here.lane[l];
                        chosen.lane[l] = (kd * KH + kh) * KW + kw;
                    }
            }
    return chosen;
}

/* Adds dy of window o where it chose this tap. */
DEVICE void KERNEL_add(Vector *sum, KERNEL_Taps chosen, int tap, Vector dy) {
    for (int l = 0; l < LANES; l++)
        if (chosen.lane[l] == tap)
            sum->lane[l] += dy.lane[l];
}

/* Writes vector i of the gradient, of which `sum` came through the windows. */
DEVICE void KERNEL_finish(stored *dx, const stored *__restrict__ x, const stored *a, unsigned i,
                          Vector total) {
    SIZES;
    if (ACCUMULATE)
        total = sum(total, load_vector(a, i));
    if (MASK)
        total = masked(total, load_vector(x, i));
    store_vector(dx, i, total);
}

static __global__ void KERNEL_cells(stored *dx, const stored *__restrict__ x, const stored *__restrict__ dy,
                                    const stored *a) {
    SIZES;
    constexpr Grid in = {ID, IH, IW, X.block / LANES}, out = {D, H, W, DY.block / LANES};
    constexpr Grid cells = {(ID + PD + SD - 1) / SD, (IH + PH + SH - 1) / SH, (IW + PW + SW - 1) / SW,
                            in.columns};
    const unsigned i = thread_index();
    if (i >= vectors(N, cells))
        return;
    const Place o = place(cells, i);
    const bool window = inside(out, o);
    KERNEL_Taps chosen = {};
    Vector gradient = filled(0);
    if (window) {
        chosen = KERNEL_chosen(x, o);
        gradient = load_vector(dy, index(out, o));
    }
    for (int kd = 0; kd < SD; kd++)
        for (int kh = 0; kh < SH; kh++)
            for (int kw = 0; kw < SW; kw++) {
                const Place p = {o.n, o.d * SD - PD + kd, o.h * SH - PH + kh, o.w * SW - PW + kw, o.column};
                if (!inside(in, p))
                    continue;
                Vector total = filled(0);
                if (window && kd < KD && kh < KH && kw < KW)
                    KERNEL_add(&total, chosen, (kd * KH + kh) * KW + kw, gradient);
                KERNEL_finish(dx, x, a, index(in, p), total);
            }
}

/* The windows over a point, in ascending order. */
static __global__ void KERNEL_points(stored *dx, const stored *__restrict__ x,
                                     const stored *__restrict__ dy, const stored *a) {
    SIZES;
    constexpr Grid in = {ID, IH, IW, X.block / LANES}, out = {D, H, W, DY.block / LANES};
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
                KERNEL_add(&total, KERNEL_chosen(x, o), (kd * KH + kh) * KW + kw,
                           load_vector(dy, index(out, o)));
            }
    KERNEL_finish(dx, x, a, i, total);
}

LAUNCHER void KERNEL(UnetLaunch at, stored *dx, const stored *x, const stored *dy, const stored *a) {
    SIZES;
    constexpr unsigned points = vectors(N, {ID, IH, IW, X.block / LANES});
    constexpr unsigned cells = vectors(
        N, {(ID + PD + SD - 1) / SD, (IH + PH + SH - 1) / SH, (IW + PW + SW - 1) / SW, X.block / LANES});
    if (KD <= SD && KH <= SH && KW <= SW)
        LAUNCH(at, KERNEL_cells, blocks_for(cells), dx, x, dy, a);
    else
        LAUNCH(at, KERNEL_points, blocks_for(points), dx, x, dy, a);
}
/* END */
