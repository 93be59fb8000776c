/* point_softmax.c - exp(x) divided by its sum over all points of the channel; a NaN makes all of them NaN.
 */
#include "prologue.c"

#define KERNEL point_softmax
#include "../example.h"

/* BEGIN */
UNUSED static double KERNEL_value(const stored *x, int i, int c, int point) {
    SIZES;
    return (double)load(x, element(&X, i, c, point / W / H, point / W % H, point % W));
}

UNUSED static void KERNEL_channel(stored *y, const stored *x, int i, int c) {
    SIZES;
    const int points = c < C ? D * H * W : 0;
    double largest = -INFINITY, sum = 0;
    for (int point = 0; point < points; point++) {
        const double here = KERNEL_value(x, i, c, point);
        largest = here > largest || here != here ? here : largest;
    }
    for (int point = 0; point < points; point++)
        sum += exp(KERNEL_value(x, i, c, point) - largest);
    for (int point = 0; point < D * H * W; point++)
        store(y, element(&Y, i, c, point / W / H, point / W % H, point % W),
              c < C ? (real)(exp(KERNEL_value(x, i, c, point) - largest) / sum) : 0);
}

UNUSED static void KERNEL(int n, stored *y, const stored *x) {
    SIZES;
#pragma omp for collapse(2) schedule(static)
    for (int i = 0; i < n; i++)
        for (int c = 0; c < stored_channels(&Y); c++)
            KERNEL_channel(y, x, i, c);
}
/* END */
