/* softmax.c - exp(x) divided by its sum over the channels of the point in each of GROUPS groups; a NaN
 * makes all of a group NaN. */
#include "channel_groups.c"

#define KERNEL softmax
#include "../example.h"

/* BEGIN */
/* The maximum of a group, which is subtracted so that nothing overflows, and the sum; for each channel of a
 * vector in the second type. */
typedef struct {
    real largest, total;
} KERNEL_Group;

typedef struct {
    Vector largest, total;
} KERNEL_Groups;

/* The numbers of the group that begins with channel FIRST. */
INLINE KERNEL_Group KERNEL_group(const stored *x, Point at, int first) {
    SIZES;
    const int end = first + C / GROUPS;
    real largest = -INFINITY;
    for (int v = first / LANES; v * LANES < end; v++) {
        const Vector here = load_some(x + vector_at(&X, v, at), lanes(&X, v));
        for (int lane = max_int(0, first - v * LANES); lane < min_int(LANES, end - v * LANES); lane++)
            largest = here[lane] > largest || here[lane] != here[lane] ? here[lane] : largest;
    }
    Vector sum = {0};
    for (int v = first / LANES; v * LANES < end; v++)
        sum += lanes_between(vector_exp(load_some(x + vector_at(&X, v, at), lanes(&X, v)) - largest),
                             first - v * LANES, end - v * LANES);
    return (KERNEL_Group){largest, sum_of_lanes(sum)};
}

/* The numbers of vector V.  `last` holds the numbers of the vector before it, whose last group goes on. */
INLINE KERNEL_Groups KERNEL_groups(KERNEL_Groups last, const stored *x, Point at, int v) {
    SIZES;
    enum { EACH = C / GROUPS };
    const int step = group_step(C, EACH);
    real largest[LANES], total[LANES];
    KERNEL_Group group = {last.largest[LANES - 1], last.total[LANES - 1]};
    for (int k = 0; k < LANES; k++) {
        const int c = v * LANES + k;
        if (k % step == 0 && c < C && c % EACH == 0)
            group = KERNEL_group(x, at, c);
        largest[k] = group.largest;
        total[k] = group.total;
    }
    return (KERNEL_Groups){load_real(largest), load_real(total)};
}

UNUSED static void KERNEL(int n, Rows rows, stored *y, const stored *x) {
    SIZES;
#pragma omp for collapse(2) schedule(static)
    for (int i = 0; i < n; i++)
        for (int r = rows.begin; r < rows.end; r++)
            for (int w = 0; w < W; w++) {
                const Point at = {i, r / H, r % H, w};
                KERNEL_Groups g = {{0}, {0}};
                for (int v = 0; v < vectors(&Y); v++) {
                    g = KERNEL_groups(g, x, at, v);
                    const Vector share =
                        vector_exp(load_some(x + vector_at(&X, v, at), lanes(&X, v)) - g.largest) / g.total;
                    store_some(y + vector_at(&Y, v, at), first_lanes(share, C - v * LANES), lanes(&Y, v));
                }
            }
}
/* END */
