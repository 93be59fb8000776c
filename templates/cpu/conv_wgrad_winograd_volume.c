/* conv_wgrad_winograd_volume.c - gradients of a convolution with a 3x3x3 window by its weights and its
 * bias, by Winograd's method: as conv_wgrad_winograd.c, of all rows. */
#include "winograd_volumes.c"

#define KERNEL conv_wgrad_winograd_volume
#define AT_RUN_TIME RING, TILES, PLANES, BIAS, ACCUMULATE, SEGMENTS, CI, CO, KD, ID, IH, D, H, W, PHASE
#define X_IS_SEGMENTS
#include "../example.h"

/* BEGIN */
UNUSED static void KERNEL(int n, Rows rows, real *restrict dw, real *restrict db, real *restrict scratch,
                          real *restrict sums, const stored *const *x, const stored *dy) {
    SIZES;
    const int brings = sums == NULL, ends = brings && rows.end == D * H;
    if (rows.begin == rows.end)
        return;
    const int blocks = (int)(stored_channels(X, SEGMENTS) / BLOCK);
    const Grid tiles = paired_grid(D, H, W, PHASE, rows);
    const int at_once = min_int(TILES, tiles_of_plane(tiles));
    const Strides in = frequency_strides(part_tiles(at_once, PLANES + KD - 1), blocks, FREQUENCY_GAP),
                  out = frequency_strides(part_tiles(at_once, PLANES), DY.blocks, FREQUENCY_GAP);
    Gradients g = {.x = x,
                   .dy = dy,
                   .from = X,
                   .to = &DY,
                   .blocks = blocks,
                   .bias = BIAS,
                   .grid = tiles,
                   .window = {IH, PH, PW},
                   .taps = KD,
                   .front = PD,
                   .planes = ID,
                   .in_strides = in,
                   .out_strides = out};
    real *dy_frequencies = scratch + planes_size(in);
    g.in = (Frequency *)scratch;
    g.out = (Frequency *)dy_frequencies;
    g.tile_sums = dy_frequencies + planes_size(out);
    g.sums = brings ? g.tile_sums + out.frequency : sums;
    g.total = g.sums + frequency_sums(blocks, KD, &DY, BIAS);
    if (ACCUMULATE && ends)
        weights_gather(g.total, dw, BIAS ? db : NULL, X, SEGMENTS, &DY, KD * 9, CI * KD * 9, KD * 9, 1);
    for (int i = 0; i < n; i++) {
        winograd_part_gradients(&g, i, TILES, PLANES);
        if (ends)
            gradients_finish(&g, ACCUMULATE || i > 0);
    }
    if (ends)
        weights_spread(dw, BIAS ? db : NULL, g.total, X, SEGMENTS, CO, KD * 9, CI * KD * 9, KD * 9, 1);
}
/* END */
