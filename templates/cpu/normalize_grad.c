/* normalize_grad.c - gradient of channels divided by the length of their group, or by the root of the mean
 * of its squares. */
#include "channel_groups.c"

#define KERNEL normalize_grad
#include "../example.h"

/* BEGIN */
/* The gradient is `slope` times dy less `along` times x, for a group; or for each channel of a vector. */
typedef struct {
    real slope, along;
} KERNEL_Group;

typedef struct {
    Vector slope, along;
} KERNEL_Groups;

/* The numbers of the group that begins with channel FIRST.  One that is shorter than EPSILON has a constant
 * factor. */
INLINE KERNEL_Group KERNEL_group(const stored *x, const stored *dy, Point at, int first) {
    SIZES;
    const int end = first + C / GROUPS;
    Vector squares = {0}, products = {0};
    for (int v = first / LANES; v * LANES < end; v++) {
        const Vector here = lanes_between(load_some(x + vector_at(&X, v, at), lanes(&X, v)),
                                          first - v * LANES, end - v * LANES);
        squares += here * here;
        products += here * load_some(dy + vector_at(&DY, v, at), lanes(&DY, v));
    }
    const real square = sum_of_lanes(squares), product = sum_of_lanes(products), length = sqrtf(square);
    if (!RMS && length < (real)EPSILON)
        return (KERNEL_Group){1 / (real)EPSILON, 0};
    const real mean = square / (C / GROUPS) + (real)EPSILON, slope = 1 / (RMS ? sqrtf(mean) : length);
    return (KERNEL_Group){slope, RMS ? slope * product / (C / GROUPS) / mean : slope * product / square};
}

/* The numbers of vector V.  `last` holds the numbers of the vector before it, whose last group goes on. */
INLINE KERNEL_Groups KERNEL_groups(KERNEL_Groups last, const stored *x, const stored *dy, Point at, int v) {
    SIZES;
    enum { EACH = C / GROUPS };
    const int step = group_step(C, EACH);
    real slope[LANES], along[LANES];
    KERNEL_Group group = {last.slope[LANES - 1], last.along[LANES - 1]};
    for (int k = 0; k < LANES; k++) {
        const int c = v * LANES + k;
        if (k % step == 0 && c < C && c % EACH == 0)
            group = KERNEL_group(x, dy, at, c);
        slope[k] = group.slope;
        along[k] = group.along;
    }
    return (KERNEL_Groups){load_real(slope), load_real(along)};
}

UNUSED static void KERNEL(int n, Rows rows, stored *dx, const stored *x, const stored *dy) {
    SIZES;
#pragma omp for collapse(2) schedule(static)
    for (int i = 0; i < n; i++)
        for (int r = rows.begin; r < rows.end; r++)
            for (int w = 0; w < W; w++) {
                const Point at = {i, r / H, r % H, w};
                KERNEL_Groups g = {{0}, {0}};
                for (int v = 0; v < vectors(&DX); v++) {
                    g = KERNEL_groups(g, x, dy, at, v);
                    const Vector gradient = load_some(dy + vector_at(&DY, v, at), lanes(&DY, v)) * g.slope -
                                            load_some(x + vector_at(&X, v, at), lanes(&X, v)) * g.along;
                    store_some(dx + vector_at(&DX, v, at), first_lanes(gradient, C - v * LANES),
                               lanes(&DX, v));
                }
            }
}
/* END */
