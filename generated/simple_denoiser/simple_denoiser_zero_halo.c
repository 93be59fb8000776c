/* simple_denoiser_zero_halo.c - zeroes what lies around and between the points of a tensor.
 *
 * Made by unetc from simple_denoiser.unet (00438fdc504441cc) with: --size=64x64
 * Do not edit: change the .unet file and compile again. */
#ifdef KERNEL /* the body, which the rest includes once for each set of sizes */
/* A ring has a line of memory for each row, those of the halo above and below among them. */
INLINE void KERNEL(_ring)(int n, Rows rows, stored *y) {
    SIZES;
    const int first = rows.begin == 0 ? -ABOVE : rows.begin, last = rows.end == H ? H + BELOW : rows.end;
    const long left = Y.origin % Y.row;
#pragma omp for collapse(3) schedule(static)
    for (int i = 0; i < n; i++)
        for (int block = 0; block < Y.blocks; block++)
            for (int r = first; r < last; r++) {
                stored *line = y + offset_of(&Y, block, (Point){i, 0, r, 0}) - left;
                const long points = r >= 0 && r < H ? (long)W * Y.block : 0;
                memset(line, 0, (size_t)left * sizeof *y);
                memset(line + left + points, 0, (size_t)(Y.row - left - points) * sizeof *y);
            }
}

/* Points of a row lie side by side: the halo is what lies before the first row, between two rows and behind
 * the last. */
void KERNEL()(int n, Rows rows, stored *y) {
    SIZES;
    if (Y.ring > 0) {
        if (rows.begin < rows.end)
            KERNEL(_ring)(n, rows, y);
        return;
    }
#pragma omp for collapse(3) schedule(static)
    for (int i = 0; i < n; i++)
        for (int block = 0; block < Y.blocks; block++)
            for (int r = rows.begin; r <= rows.end; r++) {
                const Point before = {i, (r - 1) / H, (r - 1) % H, W}, here = {i, r / H, r % H, 0};
                const long from =
                    r > rows.begin ? offset_of(&Y, block, before) : halo_boundary(&Y, i, block, r, D, H);
                const long to =
                    r < rows.end ? offset_of(&Y, block, here) : halo_boundary(&Y, i, block, r, D, H);
                memset(y + from, 0, (size_t)(to - from) * sizeof *y);
            }
}
#undef KERNEL
#undef SIZES
#else
#include "simple_denoiser_plan.h"

/* zero_halo: net.0 of train, net.2 of train, net.4 of train, 5 more: -> net.1[n,64,64,64] */
#define KERNEL(part) simple_denoiser_zero_halo_0##part
#define SIZES \
    enum { D = 1, H = 64, W = 64, ABOVE = 0, BELOW = 0 }; \
    UNUSED static const Layout Y = {64, 16, 4, 1072, 278784, 69696, 69696, 1056, 0}
#include "simple_denoiser_zero_halo.c"

/* zero_halo: mse of train: -> d net.6[n,3,64,64] */
#define KERNEL(part) simple_denoiser_zero_halo_1##part
#define SIZES \
    enum { D = 1, H = 64, W = 64, ABOVE = 0, BELOW = 0 }; \
    UNUSED static const Layout Y = {3, 3, 1, 201, 13072, 13068, 13068, 198, 0}
#include "simple_denoiser_zero_halo.c"

#endif
