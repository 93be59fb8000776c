/* adaptive_avg_pool_grad.c - gradient of means over parts of the image: a point collects from the parts
 * that hold it. */
#include "parts.c"

#define KERNEL adaptive_avg_pool_grad
#define AT_RUN_TIME D, H, W, ID, IH, IW
#include "../example.h"

/* BEGIN */
UNUSED static void KERNEL(int n, stored *restrict dx, const stored *dy) {
    SIZES;
#pragma omp for collapse(3) schedule(static)
    for (int i = 0; i < n; i++)
        for (int v = 0; v < vectors(&DX); v++)
            for (int r = 0; r < ID * IH; r++)
                for (int p = 0; p < IW; p++) {
                    const Rows d = parts_with(r / IH, D, ID), h = parts_with(r % IH, H, IH),
                               w = parts_with(p, W, IW);
                    Vector sum = {0};
                    for (int od = d.begin; od < d.end; od++)
                        for (int oh = h.begin; oh < h.end; oh++)
                            for (int ow = w.begin; ow < w.end; ow++) {
                                const Vector all = load_some(dy + vector_at(&DY, v, (Point){i, od, oh, ow}),
                                                             lanes(&DY, v));
                                sum += all / ((real)part_points(od, D, ID) * (real)part_points(oh, H, IH) *
                                              (real)part_points(ow, W, IW));
                            }
                    store_some(dx + vector_at(&DX, v, (Point){i, r / IH, r % IH, p}), sum, lanes(&DX, v));
                }
}
/* END */
