/* zero_halo.c - zeroes what lies around and between the points of a tensor. */
#include "prologue.c"

#define KERNEL zero_halo
#define AT_RUN_TIME RING, D, H, W, ABOVE, BELOW
#include "../example.h"

/* BEGIN */
UNUSED static void KERNEL(int n, Rows rows, stored *y) {
    SIZES;
    const Halo halo = {D, H, W, ABOVE, BELOW};
    if (Y.ring == 0)
        halo_zero(n, rows, y, &Y, halo);
    else if (rows.begin < rows.end)
        halo_zero_ring(n, rows, y, &Y, halo);
}
/* END */
