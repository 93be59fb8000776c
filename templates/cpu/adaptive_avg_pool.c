/* adaptive_avg_pool.c - means over parts of the image, as many as y has points, which together make up all
 * of it and may overlap by a point. */
#include "parts.c"

#define KERNEL adaptive_avg_pool
#define AT_RUN_TIME D, H, W, ID, IH, IW
#include "../example.h"

/* BEGIN */
UNUSED static void KERNEL(int n, stored *restrict y, const stored *x) {
    SIZES;
#pragma omp for collapse(2) schedule(static)
    for (int i = 0; i < n; i++)
        for (int v = 0; v < vectors(&Y); v++)
            for (int q = 0; q < D * H * W; q++) {
                const Point o = {i, q / W / H, q / W % H, q % W};
                const Rows d = part_of(o.d, D, ID), h = part_of(o.h, H, IH), w = part_of(o.w, W, IW);
                Vector total = {0};
                for (int id = d.begin; id < d.end; id++)
                    for (int ih = h.begin; ih < h.end; ih++) {
                        Vector sum = {0};
                        for (int iw = w.begin; iw < w.end; iw++)
                            sum += load_some(x + vector_at(&X, v, (Point){i, id, ih, iw}), lanes(&X, v));
                        total += sum;
                    }
                const real count =
                    (real)(d.end - d.begin) * (real)(h.end - h.begin) * (real)(w.end - w.begin);
                store_some(y + vector_at(&Y, v, o), total / count, lanes(&Y, v));
            }
}
/* END */
