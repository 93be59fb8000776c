/* sign_grad.c - the gradient of a ReLU, or of a leaky one with SLOPE, by the signs of y, which waits in
 * codes (unet/groups.h). */
#include "coded.c"

#define KERNEL sign_grad
#include "../example.h"

/* BEGIN */
UNUSED static void KERNEL(int n, Rows rows, stored *dx, const uint8_t *codes, const stored *dy) {
    SIZES;
#pragma omp for collapse(2) schedule(static)
    for (int i = 0; i < n; i++)
        for (int c = 0; c < stored_channels(&DX); c++)
            for (int r = rows.begin; r < rows.end; r++)
                for (int p = 0; p < W; p++) {
                    const uint8_t *const row = codes + element(&CODES, i, 0, r / H, r % H, 0);
                    const uint8_t *const group = coded_group(row, CODE_BITS, W, c, p);
                    const int code = coded_number(group, CODE_BITS, c, p),
                              above = ZEROS ? code > 0 : coded_value(group, code) > 0;
                    const real gradient = load(dy, element(&DY, i, c, r / H, r % H, p)),
                               below = SLOPE == 0 ? 0 : gradient * (real)SLOPE;
                    store(dx, element(&DX, i, c, r / H, r % H, p), above ? gradient : below);
                }
}
/* END */
