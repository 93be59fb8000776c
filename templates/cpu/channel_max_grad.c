/* channel_max_grad.c - gradient of a maximum over the channels: it goes to the first that has it, or to the
 * first NaN. */
#include "prologue.c"

#define KERNEL channel_max_grad
#define AT_RUN_TIME H, W
#include "../example.h"

/* BEGIN */
/* The channel of the maximum of a point. */
INLINE int KERNEL_channel(const stored *x, Point at) {
    SIZES;
    real best = 0;
    int channel = -1;
    for (int v = 0; v < vectors(&X); v++) {
        const Vector here = load_some(x + vector_at(&X, v, at), lanes(&X, v));
        for (int lane = 0; lane < min_int(LANES, C - v * LANES); lane++)
            if (channel < 0 || here[lane] > best || (here[lane] != here[lane] && best == best)) {
                best = here[lane];
                channel = v * LANES + lane;
            }
    }
    return channel;
}

UNUSED static void KERNEL(int n, Rows rows, stored *restrict dx, const stored *x, const stored *dy) {
    SIZES;
#pragma omp for collapse(2) schedule(static)
    for (int i = 0; i < n; i++)
        for (int r = rows.begin; r < rows.end; r++)
            for (int w = 0; w < W; w++) {
                const Point at = {i, r / H, r % H, w};
                const int channel = KERNEL_channel(x, at);
                const real gradient = load_some(dy + vector_at(&DY, 0, at), 1)[0];
                for (int v = 0; v < vectors(&DX); v++) {
                    Vector here = {0};
                    if (channel / LANES == v)
                        here[channel % LANES] = gradient;
                    store_some(dx + vector_at(&DX, v, at), here, lanes(&DX, v));
                }
            }
}
/* END */
