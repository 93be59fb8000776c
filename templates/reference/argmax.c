/* argmax.c - the channel that has the maximum; of one channel 1 where it is above 0.5. */
#include "prologue.c"

#define KERNEL argmax
#include "../example.h"

/* BEGIN */
UNUSED static void KERNEL(int n, Rows rows, uint8_t *y, const stored *x) {
    SIZES;
#pragma omp for schedule(static)
    for (int i = 0; i < n; i++)
        for (int r = rows.begin; r < rows.end; r++)
            for (int w = 0; w < W; w++) {
                const int d = r / H, h = r % H;
                real most = load(x, element(&X, i, 0, d, h, w));
                int best = C == 1 && most > 0.5;
                for (int c = 1; c < C; c++) {
                    const real here = load(x, element(&X, i, c, d, h, w));
                    if (here > most || (here != here && most == most)) {
                        most = here;
                        best = c;
                    }
                }
                y[element(&Y, i, 0, d, h, w)] = (uint8_t)best;
            }
}
/* END */
