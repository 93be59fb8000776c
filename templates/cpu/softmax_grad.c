/* softmax_grad.c - gradient of a softmax over the channels of each group, from its output. */
#include "channel_groups.c"

#define KERNEL softmax_grad
#include "../example.h"

/* BEGIN */
/* The sum of y dy over the group that begins with channel FIRST. */
INLINE real KERNEL_total(const stored *y, const stored *dy, Point at, int first) {
    SIZES;
    const int end = first + C / GROUPS;
    Vector sum = {0};
    for (int v = first / LANES; v * LANES < end; v++)
        sum += lanes_between(load_some(y + vector_at(&Y, v, at), lanes(&Y, v)) *
                                 load_some(dy + vector_at(&DY, v, at), lanes(&DY, v)),
                             first - v * LANES, end - v * LANES);
    return sum_of_lanes(sum);
}

/* The sums of vector V.  `last` holds the sums of the vector before it, whose last group goes on. */
INLINE Vector KERNEL_totals(Vector last, const stored *y, const stored *dy, Point at, int v) {
    SIZES;
    enum { EACH = C / GROUPS };
    const int step = group_step(C, EACH);
    real part[LANES], total = last[LANES - 1];
    for (int k = 0; k < LANES; k++) {
        const int c = v * LANES + k;
        if (k % step == 0 && c < C && c % EACH == 0)
            total = KERNEL_total(y, dy, at, c);
        part[k] = total;
    }
    return load_real(part);
}

UNUSED static void KERNEL(int n, Rows rows, stored *dx, const stored *y, const stored *dy) {
    SIZES;
#pragma omp for collapse(2) schedule(static)
    for (int i = 0; i < n; i++)
        for (int r = rows.begin; r < rows.end; r++)
            for (int w = 0; w < W; w++) {
                const Point at = {i, r / H, r % H, w};
                Vector totals = {0};
                for (int v = 0; v < vectors(&DX); v++) {
                    totals = KERNEL_totals(totals, y, dy, at, v);
                    const Vector gradient = load_some(dy + vector_at(&DY, v, at), lanes(&DY, v)) - totals;
                    const Vector product = load_some(y + vector_at(&Y, v, at), lanes(&Y, v)) * gradient;
                    store_some(dx + vector_at(&DX, v, at), first_lanes(product, C - v * LANES),
                               lanes(&DX, v));
                }
            }
}
/* END */
