/* decompress.c - a tensor out of its codes, as unet/groups.h says. */
#include "coded.c"

#define KERNEL decompress
#include "../example.h"

/* BEGIN */
UNUSED static void KERNEL(int n, Rows rows, stored *y, const uint8_t *codes) {
    SIZES;
#pragma omp for collapse(2) schedule(static)
    for (int i = 0; i < n; i++)
        for (int c = 0; c < stored_channels(&Y); c++)
            for (int r = rows.begin; r < rows.end; r++)
                for (int p = 0; p < W; p++) {
                    const uint8_t *const row = codes + element(&CODES, i, 0, r / H, r % H, 0);
                    const uint8_t *const group = coded_group(row, CODE_BITS, W, c, p);
                    const int code = coded_number(group, CODE_BITS, c, p);
                    store(y, element(&Y, i, c, r / H, r % H, p),
                          c < C && code >= ZEROS ? coded_value(group, code - ZEROS) : 0);
                }
}
/* END */
