/* constant.c - numbers of the file, one for each channel. */
#include "prologue.c"

#define KERNEL constant
#include "../example.h"

/* BEGIN */
UNUSED static void KERNEL(int n, stored *y) {
    SIZES;
#pragma omp for schedule(static)
    for (int i = 0; i < n; i++)
        for (int v = 0; v < vectors(&Y); v++) {
            Vector values = {0};
            for (int lane = 0; lane < LANES && v * LANES + lane < C; lane++)
                values[lane] = (real)VALUES[v * LANES + lane];
            store_some(y + vector_at(&Y, v, (Point){i, 0, 0, 0}), values, lanes(&Y, v));
        }
}
/* END */
