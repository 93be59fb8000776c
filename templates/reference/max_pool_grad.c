/* max_pool_grad.c - gradient of a maximum over windows: it goes to the first maximum of each. */
#include "prologue.c"

#define KERNEL max_pool_grad
#include "../example.h"

/* BEGIN */
/* Whether the first maximum of window (d, h, p) is at point (id, ih, iw): earlier ones are less, none is
 * more. */
UNUSED static int KERNEL_chosen(const stored *x, int i, int c, const int *window, const int *point) {
    SIZES;
    int chosen[3] = {-1, -1, -1};
    real maximum = 0;
    for (int kd = 0; kd < KD; kd++)
        for (int kh = 0; kh < KH; kh++)
            for (int kw = 0; kw < KW; kw++) {
                int id = window[0] * SD - PD + kd * LD, ih = window[1] * SH - PH + kh * LH,
                    iw = window[2] * SW - PW + kw * LW;
                if (!inside(id, ID) || !inside(ih, IH) || !inside(iw, IW))
                    continue;
                real v = load(x, element(&X, i, c, id, ih, iw));
                if (chosen[0] < 0 || v > maximum || v != v) {
                    maximum = v;
                    chosen[0] = id, chosen[1] = ih, chosen[2] = iw;
                }
            }
    return chosen[0] == point[0] && chosen[1] == point[1] && chosen[2] == point[2];
}

/* Sum over the windows that chose the point, in the order of the windows. */
UNUSED static real KERNEL_point(const stored *x, const stored *dy, int i, int c, const int *point) {
    SIZES;
    real sum = 0;
    for (int kd = KD - 1; kd >= 0; kd--)
        for (int kh = KH - 1; kh >= 0; kh--)
            for (int kw = KW - 1; kw >= 0; kw--) {
                int window[3] = {window_at(point[0], kd, SD, LD, PD, D),
                                 window_at(point[1], kh, SH, LH, PH, H),
                                 window_at(point[2], kw, SW, LW, PW, W)};
                if (window[0] >= 0 && window[1] >= 0 && window[2] >= 0 &&
                    KERNEL_chosen(x, i, c, window, point))
                    sum += load(dy, element(&DY, i, c, window[0], window[1], window[2]));
            }
    return sum;
}

UNUSED static void KERNEL(int n, Rows rows, stored *dx, const stored *x, const stored *dy,
                          const stored *a) {
    SIZES;
#pragma omp for collapse(2) schedule(static)
    for (int i = 0; i < n; i++)
        for (int c = 0; c < stored_channels(&DX); c++)
            for (int r = rows.begin; r < rows.end; r++)
                for (int p = 0; p < IW; p++) {
                    real sum = c < C ? KERNEL_point(x, dy, i, c, (const int[]){r / IH, r % IH, p}) : 0;
                    if (ACCUMULATE && c < C)
                        sum += load(a, element(&A, i, c, r / IH, r % IH, p));
                    if (MASK && c < C && !(load(x, element(&X, i, c, r / IH, r % IH, p)) > 0))
                        sum = 0;
                    store(dx, element(&DX, i, c, r / IH, r % IH, p), sum);
                }
}
/* END */
