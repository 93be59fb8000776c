/* sign_grad.c - the gradient of a ReLU, or of a leaky one with SLOPE, by the signs of y, which waits in
 * codes (unet/groups.h). */
#include "prologue.c"

#define KERNEL sign_grad
#include "../example.h"

/* BEGIN */
#include <unet/groups.h>

/* Is the number of channel c, point p of a group above zero? */
UNUSED static int KERNEL_above(const uint8_t *group, int c, int p) {
    SIZES;
    const int apart = 2 * CODE_BITS, byte = group[UNET_GROUP_HEAD + p % apart * 16 + c],
              code = byte >> p / apart * CODE_BITS & UNET_GROUP_TOP(CODE_BITS);
    float low, step;
    memcpy(&low, group, sizeof low);
    memcpy(&step, group + sizeof low, sizeof step);
    return ZEROS ? code > 0 : (real)low + (real)step * (real)code > 0;
}

UNUSED static void KERNEL(int n, Rows rows, stored *dx, const uint8_t *codes, const stored *dy) {
    SIZES;
    const int columns = UNET_GROUPS_ALONG(W);
#pragma omp for collapse(2) schedule(static)
    for (int i = 0; i < n; i++)
        for (int c = 0; c < stored_channels(&DX); c++)
            for (int r = rows.begin; r < rows.end; r++)
                for (int p = 0; p < W; p++) {
                    const long group = c / 16 * columns + p / 16;
                    const uint8_t *const at = codes + element(&CODES, i, 0, r / H, r % H, 0) +
                                              group * UNET_GROUP_BYTES(CODE_BITS);
                    const real gradient = load(dy, element(&DY, i, c, r / H, r % H, p)),
                               below = SLOPE == 0 ? 0 : gradient * (real)SLOPE;
                    store(dx, element(&DX, i, c, r / H, r % H, p),
                          KERNEL_above(at, c % 16, p % 16) ? gradient : below);
                }
}
/* END */
