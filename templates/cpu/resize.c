/* resize.c - a map of another size: of each point the nearest one, or the mean of those around it; or x
 * with an edge taken away or added. */
#include "resizing.c"

#define KERNEL resize
#define AT_RUN_TIME RING, ID, IH, IW, H, W
#include "../example.h"

/* BEGIN */
/* The beginning of row h of plane d of x, or NULL: the row lies beyond x and is zero. */
INLINE const stored *KERNEL_begin(const stored *x, int v, int sample, int d, int h) {
    SIZES;
    const int beyond = ZERO && (d < 0 || d >= ID || h < 0 || h >= IH);
    return beyond ? NULL : x + vector_at(&X, v, (Point){sample, d, h, 0});
}

INLINE Vector KERNEL_load(const stored *row, int v, int w) {
    SIZES;
    return ZERO && (row == NULL || w < 0 || w >= IW) ? (Vector){0}
                                                     : load_some(row + w * X.block, lanes(&X, v));
}

/* Vector v of a point of y in a row of x. */
INLINE Vector KERNEL_point(const stored *row, int v, Made w) {
    SIZES;
    const Vector first = KERNEL_load(row, v, w.first);
    return LINEAR ? mixed(first, KERNEL_load(row, v, w.second), w.share) : first;
}

/* The same between two rows of a plane. */
INLINE Vector KERNEL_between(const stored *const *row, int v, Made h, Made w) {
    SIZES;
    const Vector first = KERNEL_point(row[0], v, w);
    return LINEAR ? mixed(first, KERNEL_point(row[1], v, w), h.share) : first;
}

INLINE void KERNEL_row(stored *y, const stored *x, int v, Point o, Made d, Made h) {
    SIZES;
    const stored *const upper[] = {KERNEL_begin(x, v, o.n, d.first, h.first),
                                   KERNEL_begin(x, v, o.n, d.first, h.second)};
    const stored *const lower[] = {KERNEL_begin(x, v, o.n, d.second, h.first),
                                   KERNEL_begin(x, v, o.n, d.second, h.second)};
    stored *to = y + vector_at(&Y, v, o);
    for (int p = 0; p < W; p++, to += Y.block) {
        const Made w = made_of((Positions){STEP_W, OFFSET_W, UNIT_W, IW, LINEAR, ZERO}, p);
        const Vector first = KERNEL_between(upper, v, h, w);
        store_some(to, FLAT ? first : mixed(first, KERNEL_between(lower, v, h, w), d.share), lanes(&Y, v));
    }
}

UNUSED static void KERNEL(int n, Rows rows, stored *restrict y, const stored *x) {
    SIZES;
#pragma omp for collapse(3) schedule(static)
    for (int i = 0; i < n; i++)
        for (int v = 0; v < vectors(&Y); v++)
            for (int r = rows.begin; r < rows.end; r++) {
                const Made d = made_of((Positions){STEP_D, OFFSET_D, UNIT_D, ID, LINEAR, ZERO}, r / H);
                const Made h = made_of((Positions){STEP_H, OFFSET_H, UNIT_H, IH, LINEAR, ZERO}, r % H);
                KERNEL_row(y, x, v, (Point){i, r / H, r % H, 0}, d, h);
            }
}
/* END */
