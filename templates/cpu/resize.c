/* resize.c - a map of another size: of each point the nearest one, or the mean of those around it; or x
 * with an edge taken away or added. */
#include "resizing.c"

#define KERNEL resize
#define AT_RUN_TIME ID, IH, IW, H, W
#include "../example.h"

/* BEGIN */
INLINE Vector KERNEL_load(Rows rows, const stored *x, int v, Point p) {
    SIZES;
    (void)rows; /* IH may be made of it */
    const int beyond = p.d < 0 || p.d >= ID || p.h < 0 || p.h >= IH || p.w < 0 || p.w >= IW;
    return ZERO && beyond ? (Vector){0} : load_some(x + vector_at(&X, v, p), lanes(&X, v));
}

/* Vector v of a point of y in row h of plane d of x. */
INLINE Vector KERNEL_row(Rows rows, const stored *x, int v, Point p, Made w) {
    SIZES;
    p.w = w.first;
    const Vector first = KERNEL_load(rows, x, v, p);
    p.w = w.second;
    return LINEAR ? mixed(first, KERNEL_load(rows, x, v, p), w.share) : first;
}

INLINE Vector KERNEL_plane(Rows rows, const stored *x, int v, Point p, Made h, Made w) {
    SIZES;
    p.h = h.first;
    const Vector first = KERNEL_row(rows, x, v, p, w);
    p.h = h.second;
    return LINEAR ? mixed(first, KERNEL_row(rows, x, v, p, w), h.share) : first;
}

INLINE Vector KERNEL_point(Rows rows, const stored *x, int v, int sample, Made d, Made h, Made w) {
    SIZES;
    const Vector first = KERNEL_plane(rows, x, v, (Point){sample, d.first, 0, 0}, h, w);
    return LINEAR && ID > 1
               ? mixed(first, KERNEL_plane(rows, x, v, (Point){sample, d.second, 0, 0}, h, w), d.share)
               : first;
}

UNUSED static void KERNEL(int n, Rows rows, stored *restrict y, const stored *x) {
    SIZES;
    const int parts = Y.block == BLOCK ? PARTS : 1;
#pragma omp for collapse(3) schedule(static)
    for (int i = 0; i < n; i++)
        for (int first = 0; first < vectors(&Y); first += parts)
            for (int r = rows.begin; r < rows.end; r++) {
                const Made d = made_of((Positions){STEP_D, OFFSET_D, UNIT_D, ID, LINEAR, ZERO}, r / H);
                const Made h = made_of((Positions){STEP_H, OFFSET_H, UNIT_H, IH, LINEAR, ZERO}, r % H);
                for (int q = 0; q < W * parts; q++) {
                    const Point o = {i, r / H, r % H, q / parts};
                    const Made w = made_of((Positions){STEP_W, OFFSET_W, UNIT_W, IW, LINEAR, ZERO}, o.w);
                    const int v = first + q % parts;
                    store_some(y + vector_at(&Y, v, o), KERNEL_point(rows, x, v, i, d, h, w), lanes(&Y, v));
                }
            }
}
/* END */
