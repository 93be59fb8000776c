/* normalize_grad.c - gradient of channels divided by the length of their group, or by the root of the mean
 * of its squares. */
#include "prologue.c"

#define KERNEL normalize_grad
#include "../example.h"

/* BEGIN */
/* The numbers of a group: the gradient is (dy - x along) / length. */
typedef struct {
    double length, along;
} KERNEL_Group;

/* The numbers of the group that begins with channel `first`.  One that is shorter than EPSILON has a
 * constant factor. */
UNUSED static KERNEL_Group KERNEL_group(const stored *x, const stored *dy, int i, int first, int d, int h,
                                        int p) {
    SIZES;
    const int each = C / GROUPS;
    double square = 0, product = 0;
    for (int c = first; c < first + each; c++) {
        const double v = (double)load(x, element(&X, i, c, d, h, p));
        square += v * v;
        product += v * (double)load(dy, element(&DY, i, c, d, h, p));
    }
    if (RMS)
        return (KERNEL_Group){sqrt(square / each + EPSILON), product / each / (square / each + EPSILON)};
    return sqrt(square) < EPSILON ? (KERNEL_Group){EPSILON, 0}
                                  : (KERNEL_Group){sqrt(square), product / square};
}

UNUSED static void KERNEL_point(stored *dx, const stored *x, const stored *dy, int i, int d, int h, int p) {
    SIZES;
    KERNEL_Group group = {1, 0};
    for (int c = 0; c < stored_channels(&DX); c++) {
        if (c < C && c % (C / GROUPS) == 0)
            group = KERNEL_group(x, dy, i, c, d, h, p);
        const double v = c < C ? (double)load(x, element(&X, i, c, d, h, p)) : 0,
                     slope = c < C ? (double)load(dy, element(&DY, i, c, d, h, p)) : 0;
        store(dx, element(&DX, i, c, d, h, p), (real)((slope - v * group.along) / group.length));
    }
}

UNUSED static void KERNEL(int n, Rows rows, stored *dx, const stored *x, const stored *dy) {
    SIZES;
#pragma omp for collapse(2) schedule(static)
    for (int i = 0; i < n; i++)
        for (int r = rows.begin; r < rows.end; r++)
            for (int p = 0; p < W; p++)
                KERNEL_point(dx, x, dy, i, r / H, r % H, p);
}
/* END */
