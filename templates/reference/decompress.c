/* decompress.c - a tensor out of its codes, as unet/groups.h says. */
#include "prologue.c"

#define KERNEL decompress
#include "../example.h"

/* BEGIN */
#include <unet/groups.h>

/* The number of channel c, point p of a group. */
UNUSED static real KERNEL_number(const uint8_t *group, int c, int p) {
    SIZES;
    const int apart = 2 * CODE_BITS, byte = group[UNET_GROUP_HEAD + p % apart * 16 + c],
              code = byte >> p / apart * CODE_BITS & UNET_GROUP_TOP(CODE_BITS);
    float low, step;
    memcpy(&low, group, sizeof low);
    memcpy(&step, group + sizeof low, sizeof step);
    return code < ZEROS ? 0 : (real)low + (real)step * (real)(code - ZEROS);
}

UNUSED static void KERNEL(int n, Rows rows, stored *y, const uint8_t *codes) {
    SIZES;
    const int columns = UNET_GROUPS_ALONG(W);
#pragma omp for collapse(2) schedule(static)
    for (int i = 0; i < n; i++)
        for (int c = 0; c < stored_channels(&Y); c++)
            for (int r = rows.begin; r < rows.end; r++)
                for (int p = 0; p < W; p++) {
                    const long group = c / 16 * columns + p / 16;
                    const uint8_t *const at = codes + element(&CODES, i, 0, r / H, r % H, 0) +
                                              group * UNET_GROUP_BYTES(CODE_BITS);
                    store(y, element(&Y, i, c, r / H, r % H, p),
                          c < C ? KERNEL_number(at, c % 16, p % 16) : 0);
                }
}
/* END */
