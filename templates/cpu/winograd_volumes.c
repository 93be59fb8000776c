/* winograd_volumes.c - functions that the kernels for 3x3x3 windows by Winograd's method share.
 *
 * Such a window is a sum of windows of one plane: at each frequency the sum runs over the planes that it
 * meets, and over the channels of each, and only then goes back. So a plane of the input is mapped once for
 * all planes of the output that read it.  Planes beside the input are zeros.
 *
 * A sum has this one order, wherever its tile is computed, and a gradient by weights one order of parts:
 * no bit depends on threads. These kernels compute all rows in one call. */
#include "winograd_gradients.c"

/* BEGIN */
/* ---- convolutions --------------------------------------------------------------------------------------
 */

/* The tiles of a sample that are computed at a time: from number `first` on of each plane, of the planes
 * from `depth` on.  As many planes of x as these meet lie one behind the other, each with `tiles` tiles, so
 * that the same tile of the next plane, and of the next tap, is so far behind.  If planes are computed one
 * by one, the planes of x form a ring instead. */
typedef struct {
    int sample, first, tiles, depth, planes;
} Part;

INLINE int tiles_of_plane(Grid g) {
    return tiles_along(g.height + g.phase) * g.columns;
}

/* The planes of x that are mapped for a part: the last of them alone where the others are there. */
INLINE Rows planes_mapped(const Winograd *c, Part p, int others) {
    const int begin = p.depth - c->front, end = begin + p.planes + c->taps - 1;
    return (Rows){others ? end - 1 : begin, end};
}

/* The place of plane q of x among the planes of a part. */
INLINE long plane_place(const Winograd *c, Part p, int most_planes, int q) {
    const int ring = most_planes > 1 ? q - (p.depth - c->front) : (q + c->taps) % c->taps;
    return (long)ring * p.tiles * BLOCK;
}

/* Maps block `number` of the tiles [from, end) of plane q of x; there may be no such plane. */
UNUSED static void plane_map(const Winograd *c, Part p, int number, int q, int from, int end, Frequency *to,
                             long frequency, int paired) {
    Grid g = c->grid;
    g.rows = g.rows / g.depth * c->planes;
    const long tile = ((long)p.sample * c->planes + q) * tiles_of_plane(g);
    if (q >= 0 && q < c->planes)
        channels_map(c, g, number, tile + from, tile + end, to, frequency, paired);
    else
        for (int f = 0; f < FREQUENCIES; f++)
            memset(to + f * frequency, 0, (size_t)((end - from) * BLOCK) * sizeof *to);
}

/* Finds the planes of a part that its taps meet. */
INLINE void taps_place(const Winograd *c, Part p, int most_planes, long *tap) {
    for (int k = 0; k < c->taps; k++)
        tap[k] = plane_place(c, p, most_planes, p.depth - c->front + k);
}

enum {
    MOST_PLANES = 3, /* that a window has */
    MOST_ROWS = 16,  /* of two columns of registers */
};

INLINE int whole_tiles(int tiles) {
    return (tiles + 2 * ROWS - 1) / (2 * ROWS) * (2 * ROWS);
}

/* Tiles for which a part takes memory. */
INLINE int part_tiles(int tiles, int planes) {
    return tiles * planes + MOST_ROWS;
}

/* A part of one plane that a thread computes by itself. */
INLINE void own_plane(const Winograd *c, Part p, int others, Frequency *from, Strides in, real *to,
                      Strides out, int size) {
    const long plane = ((long)p.sample * c->grid.depth + p.depth) * tiles_of_plane(c->grid) + p.first;
    const Rows mapped = planes_mapped(c, p, others);
    long tap[MOST_PLANES];
    for (int q = mapped.begin; q < mapped.end; q++)
        for (int b = 0; b < channel_blocks(c); b++)
            plane_map(c, p, b, q, p.first, p.first + p.tiles,
                      from + b * in.block + (q + c->taps) % c->taps * (long)size * BLOCK, in.frequency, 0);
    for (int k = 0; k < c->taps; k++)
        tap[k] = (p.depth - c->front + k + c->taps) % c->taps * (long)size * BLOCK;
    for (int v = 0; v < vectors(c->to); v += 2) {
        for (int f = 0; f < FREQUENCIES; f++)
            frequency_products(c, f, v, to, out, from, in, tap, size);
        for (int k = v; k < min_int(v + 2, vectors(c->to)); k++)
            vector_finish(c, k, plane, plane + p.tiles,
                          to + (k / PARTS - v / PARTS) * out.block + k % PARTS * LANES, out.frequency);
    }
}

/* winograd_blocks(): the tiles of a block wander through the planes. */
UNUSED static void winograd_columns(const Winograd *c, real *scratch, int most) {
    enum { COLUMN = 16 }; /* planes, before which those in front are mapped anew */
    const int size = block_tiles(most), all = tiles_of_plane(c->grid);
    const Strides in = frequency_strides(most * c->taps, channel_blocks(c), FREQUENCY_GAP),
                  out = frequency_strides(most, min_int(2, c->to->blocks), SUM_GAP);
    real *slot = scratch + omp_get_thread_num() * (planes_size(in) + FREQUENCIES * out.frequency);
#pragma omp for collapse(3) schedule(static)
    for (int i = 0; i < c->samples; i++)
        for (int first = 0; first < all; first += size)
            for (int d = 0; d < c->grid.depth; d += COLUMN)
                for (int k = d; k < min_int(d + COLUMN, c->grid.depth); k++) {
                    const Part p = {i, first, min_int(size, all - first), k, 1};
                    own_plane(c, p, k > d, (Frequency *)slot, in, slot + planes_size(in), out, size);
                }
}

/* A part that all threads compute. */
INLINE void shared_part(const Winograd *c, Part p, int most_planes, Frequency *from, Strides in, real *to,
                        Strides out) {
    const long plane = ((long)p.sample * c->grid.depth + p.depth) * tiles_of_plane(c->grid) + p.first;
    const Rows mapped = planes_mapped(c, p, p.depth > 0 && most_planes == 1);
    const int blocks = channel_blocks(c);
    long tap[MOST_PLANES];
    taps_place(c, p, most_planes, tap);
#pragma omp for collapse(3) schedule(static)
    for (int b = 0; b < blocks; b++)
        for (int q = mapped.begin; q < mapped.end; q++)
            for (int t = 0; t < p.tiles; t += RUN)
                plane_map(c, p, b, q, p.first + t, p.first + min_int(t + RUN, p.tiles),
                          from + b * in.block + plane_place(c, p, most_planes, q) + t * BLOCK, in.frequency,
                          0);
#pragma omp for collapse(2) schedule(static)
    for (int f = 0; f < FREQUENCIES; f++)
        for (int v = 0; v < vectors(c->to); v += 2)
            frequency_products(c, f, v, to + v / PARTS * out.block, out, from, in, tap,
                               whole_tiles(p.planes * p.tiles));
#pragma omp for collapse(3) schedule(static)
    for (int v = 0; v < vectors(c->to); v++)
        for (int d = 0; d < p.planes; d++)
            for (int t = 0; t < p.tiles; t += RUN) {
                const long at = plane + (long)d * tiles_of_plane(c->grid) + t;
                vector_finish(c, v, at, at + min_int(RUN, p.tiles - t),
                              to + v / PARTS * out.block + v % PARTS * LANES +
                                  ((long)d * p.tiles + t) * BLOCK,
                              out.frequency);
            }
}

/* winograd_groups(): at most `most` tiles of so many planes at a time. */
UNUSED static void winograd_parts(const Winograd *c, real *scratch, int most, int planes) {
    const int all = tiles_of_plane(c->grid), tiles = min_int(most, all), depth = c->grid.depth;
    const Strides in = frequency_strides(part_tiles(tiles, planes + c->taps - 1), channel_blocks(c),
                                         FREQUENCY_GAP),
                  out = frequency_strides(part_tiles(tiles, planes), c->to->blocks, SUM_GAP);
    for (int i = 0; i < c->samples; i++)
        for (int first = 0; first < all; first += tiles)
            for (int d = 0; d < depth; d += planes) {
                const Part p = {i, first, min_int(tiles, all - first), d, min_int(planes, depth - d)};
                shared_part(c, p, planes, (Frequency *)scratch, in, scratch + planes_size(in), out);
            }
}

/* ---- gradients by weights ------------------------------------------------------------------------------
 */

/* The frequencies of a part. */
UNUSED static void part_map(const Gradients *g, const Winograd *c, Part p, int most_planes) {
    const Rows mapped = planes_mapped(c, p, p.depth > 0 && most_planes == 1);
    const long all = tiles_of_plane(g->grid),
               plane = ((long)p.sample * g->grid.depth + p.depth) * all + p.first;
#pragma omp for collapse(3) schedule(static) nowait
    for (int b = 0; b < g->blocks; b++)
        for (int q = mapped.begin; q < mapped.end; q++)
            for (int t = 0; t < p.tiles; t += RUN)
                plane_map(c, p, b, q, p.first + t, p.first + min_int(t + RUN, p.tiles),
                          g->in + b * g->in_strides.block + plane_place(c, p, most_planes, q) + t * BLOCK,
                          g->in_strides.frequency, 1);
#pragma omp for collapse(3) schedule(static)
    for (int v = 0; v < vectors(g->to); v++)
        for (int d = 0; d < p.planes; d++)
            for (int t = 0; t < p.tiles; t += PAIR)
                tile_of_gradient(g, v, plane + d * all + t, (long)d * p.tiles + t);
}

/* Sums over all tiles of sample i: at most `most` of so many planes at a time. */
UNUSED static void winograd_part_gradients(const Gradients *g, int i, int most, int planes) {
    const Winograd c = {.x = g->x,
                        .from = g->from,
                        .grid = g->grid,
                        .window = g->window,
                        .taps = g->taps,
                        .front = g->front,
                        .planes = g->planes};
    const int all = tiles_of_plane(g->grid), tiles = min_int(most, all), depth = g->grid.depth;
    const int join = (long)all * depth > LONGEST_CHAIN ? AT_ONCE : ONE_BY_ONE;
    for (int first = 0; first < all; first += tiles)
        for (int d = 0; d < depth; d += planes) {
            const Part p = {i, first, min_int(tiles, all - first), d, min_int(planes, depth - d)};
            long tap[MOST_PLANES];
            taps_place(&c, p, planes, tap);
            part_map(g, &c, p, planes);
            gradients_multiply(g, tap, p.tiles * p.planes, first + d == 0 ? ALONE : join);
        }
}
/* END */
