/* winograd_rings.c - Winograd's method range by range, where each operand is a ring: its results have the
 * bits of one call over whole tensors.
 *
 * A ring is as short as the longest range allows.  Before each range all that it holds becomes NaN, then
 * the rows that the range needs come in: so a kernel that reads a row that has left, or one too many,
 * shows. Random images, paddings, ranges and all four phases; convolutions with bias, ReLU or mask, whose
 * windows run either way, with maxima of 2x2 points where the phase is even, and gradients of weights. */
#include "../../templates/cpu/winograd_gradients.c"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { SIDE_HALO = 2, TAPS = 9, MOST_THREADS = 3, SEGMENTS = 2, CASES = 40 };

/* A tensor of one sample, or, if its layout is a ring, some rows of it. */
typedef struct {
    Layout layout;
    int height;
    stored *at;
} Tensor;

static uint32_t state = 1;
static int failures;

static int up_to(int most) {
    state = state * 1664525u + 1013904223u;
    return (int)((state >> 8) % (uint32_t)(most + 1));
}

static void *fresh(size_t bytes) {
    void *p = NULL;
    if (posix_memalign(&p, 64, bytes) != 0)
        abort();
    return memset(p, 0xFF, bytes); /* NaN in every type */
}

static real *numbers(long count) {
    real *p = fresh((size_t)count * sizeof *p);
    for (long i = 0; i < count; i++)
        p[i] = (real)up_to(1 << 16) / (1 << 15) - 1;
    return p;
}

/* ---- tensors ---------------------------------------------------------------------------------------- */

static size_t bytes_of(const Tensor *t) {
    return (size_t)t->layout.sample * sizeof *t->at;
}

/* RING: 0, or so many rows. There is no halo above and below: these kernels need none. */
static Tensor tensor_new(int channels, int height, int width, int ring) {
    const int blocks = (channels + BLOCK - 1) / BLOCK;
    const long row = (width + 2 * SIDE_HALO) * BLOCK, plane = row * (ring > 0 ? ring : height);
    Tensor t = {.height = height,
                .layout = {.channels = channels,
                           .block = BLOCK,
                           .blocks = blocks,
                           .origin = SIDE_HALO * BLOCK,
                           .sample = plane * blocks,
                           .plane = plane,
                           .depth = plane,
                           .row = row,
                           .ring = ring}};
    t.at = fresh(bytes_of(&t));
    return t;
}

static stored *row_of(const Tensor *t, int block, int h) {
    return t->at + offset_of(&t->layout, block, (Point){0, 0, h, -SIDE_HALO});
}

static size_t row_bytes(const Tensor *t) {
    return (size_t)t->layout.row * sizeof *t->at;
}

static Tensor some_tensor(int channels, int height, int width) {
    Tensor t = tensor_new(channels, height, width, 0);
    memset(t.at, 0, bytes_of(&t));
    for (int b = 0; b < t.layout.blocks; b++)
        for (int h = 0; h < height; h++)
            for (int at = 0; at < width * BLOCK; at += LANES) {
                Vector v;
                for (int i = 0; i < LANES; i++)
                    v[i] = (real)up_to(1 << 16) / (1 << 15) - 1;
                store(row_of(&t, b, h) + SIDE_HALO * BLOCK + at, v);
            }
    return t;
}

/* The rows [begin, end) of a whole tensor, as far as it has them, and nothing else. */
static void ring_fill(Tensor *ring, const Tensor *whole, int begin, int end) {
    memset(ring->at, 0xFF, bytes_of(ring));
    for (int b = 0; b < whole->layout.blocks; b++)
        for (int h = max_int(begin, 0); h < min_int(end, whole->height); h++)
            memcpy(row_of(ring, b, h), row_of(whole, b, h), row_bytes(whole));
}

/* ---- a case ----------------------------------------------------------------------------------------- */

/* An image of height x width points and one of y, which windows that begin `top` above their point make. */
typedef struct {
    int height, width, top, left, in_height, in_width, channels[SEGMENTS], phase, most;
    int range; /* tile rows of a range, at most */
} Case;

static Case some_case(void) {
    static const int padding[][2] = {{1, 1}, {0, 0}, {2, 0}, {0, 1}, {2, 2}};
    const int large = up_to(7) == 0; /* so many tiles that their sums are no one chain */
    Case c = {.height = 3 + (large ? 60 : 0) + up_to(20), .width = 3 + (large ? 290 : 0) + up_to(40)};
    const int *vertical = padding[up_to(4)], *horizontal = padding[up_to(4)];
    c.top = vertical[0], c.left = horizontal[0];
    c.in_height = c.height + 2 - vertical[0] - vertical[1];
    c.in_width = c.width + 2 - horizontal[0] - horizontal[1];
    c.channels[0] = BLOCK * (1 + up_to(1)), c.channels[1] = BLOCK - up_to(3);
    c.phase = up_to(TILE - 1);
    c.most = up_to(1) ? 64 : 32;
    c.range = 1 + up_to(3);
    return c;
}

/* The end of a range that begins at a row. */
static int range_end(const Case *c, int begin) {
    const int first = (begin + c->phase) / TILE, end = (first + 1 + up_to(c->range - 1)) * TILE - c->phase;
    return min_int(end, c->height);
}

static void same(const Case *c, const char *what, const void *got, const void *want, size_t bytes) {
    if (memcmp(got, want, bytes) == 0)
        return;
    failures++;
    printf("FAILED %s: %d x %d from %d x %d, window %d above, phase %d\n", what, c->height, c->width,
           c->in_height, c->in_width, c->top, c->phase);
}

/* The segments of x: whole, and as rings of different lengths. */
typedef struct {
    Tensor whole[SEGMENTS], ring[SEGMENTS];
    Layout whole_layout[SEGMENTS], ring_layout[SEGMENTS];
    const stored *at[SEGMENTS], *in_ring[SEGMENTS];
    int stored;
} Input;

static Input input_new(const Case *c) {
    Input x = {.stored = 0};
    for (int s = 0; s < SEGMENTS; s++) {
        x.whole[s] = some_tensor(c->channels[s], c->in_height, c->in_width);
        x.ring[s] = tensor_new(c->channels[s], c->in_height, c->in_width, c->range * TILE + 2 + s);
        x.whole_layout[s] = x.whole[s].layout, x.ring_layout[s] = x.ring[s].layout;
        x.at[s] = x.whole[s].at, x.in_ring[s] = x.ring[s].at;
        x.stored += x.whole[s].layout.blocks * BLOCK;
    }
    return x;
}

/* Fills the rows of x that the rows [begin, end) of y meet. */
static void input_fill(Input *x, const Case *c, int begin, int end) {
    for (int s = 0; s < SEGMENTS; s++)
        ring_fill(&x->ring[s], &x->whole[s], begin - c->top, end + 2 - c->top);
}

static void input_free(Input *x) {
    for (int s = 0; s < SEGMENTS; s++)
        free(x->whole[s].at), free(x->ring[s].at);
}

/* ---- convolutions ----------------------------------------------------------------------------------- */

static void compute(const Winograd *c, int own_blocks, int most, int threads) {
    const Strides in = frequency_strides(most, channel_blocks(c), FREQUENCY_GAP),
                  out = frequency_strides(most, c->to->blocks, SUM_GAP);
    real *scratch =
        fresh((size_t)(MOST_THREADS * (planes_size(in) + FREQUENCIES * out.frequency)) * sizeof *scratch);
#pragma omp parallel num_threads(threads)
    if (own_blocks)
        winograd_blocks(c, scratch, most);
    else
        winograd_groups(c, scratch, most);
    free(scratch);
}

/* The maxima of each 2x2 points of y, in the order of max_pool.c. */
static Tensor pooled_tensor(const Tensor *y, int width) {
    Tensor pooled = tensor_new(y->layout.channels, y->height / 2, width / 2, 0);
    for (int v = 0; v < vectors(&y->layout); v++)
        for (int h = 0; h < y->height / 2; h++)
            for (int w = 0; w < width / 2; w++) {
                Vector best = (Vector){0} - INFINITY;
                for (int k = 0; k < 4; k++) {
                    const Point at = {0, 0, 2 * h + k / 2, 2 * w + k % 2};
                    best = vector_maximum(best, load(y->at + vector_at(&y->layout, v, at)));
                }
                store(pooled.at + vector_at(&pooled.layout, v, (Point){0, 0, h, w}), best);
            }
    return pooled;
}

/* Checks stored maxima, which change no bit of y. */
static void check_pooled(const Case *c, const Winograd *whole, const Tensor *y, const Tensor *want,
                         int own_blocks) {
    Tensor again = tensor_new(y->layout.channels, c->height, c->width, 0),
           pooled = tensor_new(y->layout.channels, want->height, c->width / 2, 0);
    Winograd both = *whole;
    both.y = again.at, both.pooled = pooled.at, both.pooled_layout = &pooled.layout;
    compute(&both, own_blocks, c->most, 1 + up_to(MOST_THREADS - 1));
    same(c, "convolution beside maxima", again.at, y->at, bytes_of(y));
    same(c, "maxima", pooled.at, want->at, bytes_of(want));
    free(again.at), free(pooled.at);
}

/* Range by range what `whole` made of whole tensors; a range has the maxima of its rows. */
static void check_ranges(const Case *c, const Winograd *whole, Input *x, const Tensor *y,
                         const Tensor *mask, const Tensor *pooled, int own_blocks) {
    const int rows = c->range * TILE;
    Tensor ring = tensor_new(y->layout.channels, c->height, c->width, rows),
           want = tensor_new(y->layout.channels, c->height, c->width, rows),
           mask_ring = tensor_new(y->layout.channels, c->height, c->width, rows + 1),
           maxima = tensor_new(y->layout.channels, pooled->height, c->width / 2, rows / 2),
           want_maxima = tensor_new(y->layout.channels, pooled->height, c->width / 2, rows / 2);
    for (int begin = 0, end; begin < c->height; begin = end) {
        end = range_end(c, begin);
        input_fill(x, c, begin, end);
        ring_fill(&mask_ring, mask, begin, end);
        memset(ring.at, 0xFF, bytes_of(&ring));
        Winograd part = *whole;
        part.grid = grid(1, c->height, c->width, c->phase, (Rows){begin, end});
        part.x = x->in_ring, part.from = x->ring_layout;
        part.to = &ring.layout, part.y = ring.at;
        part.mask = whole->mask == NULL ? NULL : mask_ring.at, part.mask_layout = &mask_ring.layout;
        part.pooled = c->phase % 2 == 0 ? maxima.at : NULL, part.pooled_layout = &maxima.layout;
        memset(maxima.at, 0xFF, bytes_of(&maxima));
        compute(&part, own_blocks, c->most, 1 + up_to(MOST_THREADS - 1));
        ring_fill(&want, y, begin, end);
        same(c, "convolution", ring.at, want.at, bytes_of(&want));
        ring_fill(&want_maxima, pooled, begin / 2, end / 2);
        if (part.pooled)
            same(c, "maxima of a range", maxima.at, want_maxima.at, bytes_of(&maxima));
    }
    free(ring.at), free(want.at), free(mask_ring.at), free(maxima.at), free(want_maxima.at);
}

static void check_convolution(const Case *c, int masked, int flipped, int own_blocks) {
    const int channels = 2 * BLOCK;
    Input x = input_new(c);
    Tensor y = tensor_new(channels, c->height, c->width, 0),
           mask = some_tensor(channels, c->height, c->width);
    const int lanes = vectors(&y.layout);
    const long frequencies = FREQUENCIES * weights_stride(x.stored, lanes, FREQUENCY_GAP);
    real *w = numbers((long)channels * x.stored * TAPS), *bias = numbers(channels);
    Frequency *weights = fresh((size_t)frequencies * sizeof *weights);
    const Dense dense = {
        .w = w, .lane = x.stored * TAPS, .channel = TAPS, .lanes = channels, .flipped = flipped};
#pragma omp parallel num_threads(MOST_THREADS)
    winograd_weights(weights, dense, lanes, x.whole_layout, SEGMENTS, 1);
    const Winograd whole = {.x = x.at,
                            .from = x.whole_layout,
                            .segments = SEGMENTS,
                            .weights = weights,
                            .bias = masked ? NULL : bias,
                            .mask = masked ? mask.at : NULL,
                            .mask_layout = &mask.layout,
                            .to = &y.layout,
                            .y = y.at,
                            .relu = !masked,
                            .channels = channels,
                            .grid = grid(1, c->height, c->width, c->phase, (Rows){0, c->height}),
                            .samples = 1,
                            .window = {c->in_height, c->top, c->left}};
    compute(&whole, own_blocks, c->most, 1);
    Tensor pooled = pooled_tensor(&y, c->width);
    if (c->phase % 2 == 0)
        check_pooled(c, &whole, &y, &pooled, !own_blocks);
    check_ranges(c, &whole, &x, &y, &mask, &pooled, own_blocks);
    check_ranges(c, &whole, &x, &y, &mask, &pooled, !own_blocks);
    input_free(&x);
    free(y.at), free(mask.at), free(pooled.at), free(w), free(bias), free(weights);
}

/* ---- gradients of weights --------------------------------------------------------------------------- */

/* The scratch of a gradient, and how much of it is its result. */
typedef struct {
    real *at;
    long elements, result;
} Scratch;

static Gradients gradients_new(const Case *c, const Input *x, const Tensor *dy, Scratch *scratch) {
    const Strides in = frequency_strides(c->most, x->stored / BLOCK, FREQUENCY_GAP),
                  out = frequency_strides(c->most, dy->layout.blocks, FREQUENCY_GAP);
    const int all = vectors(&dy->layout);
    const long sums = frequency_sums(x->stored / BLOCK, 1, &dy->layout, 1);
    scratch->result = (long)all * LANES * (x->stored * TAPS + 1);
    scratch->elements = planes_size(in) + planes_size(out) + out.frequency + sums + scratch->result;
    scratch->at = fresh((size_t)scratch->elements * sizeof *scratch->at);
    real *of_dy = scratch->at + planes_size(in);
    return (Gradients){.x = x->at,
                       .dy = dy->at,
                       .from = x->whole_layout,
                       .to = &dy->layout,
                       .blocks = x->stored / BLOCK,
                       .bias = 1,
                       .grid = paired_grid(1, c->height, c->width, c->phase, (Rows){0, c->height}),
                       .window = {c->in_height, c->top, c->left},
                       .in_strides = in,
                       .out_strides = out,
                       .in = (Frequency *)scratch->at,
                       .out = (Frequency *)of_dy,
                       .tile_sums = of_dy + planes_size(out),
                       .sums = of_dy + planes_size(out) + out.frequency,
                       .total = scratch->at + scratch->elements - scratch->result};
}

static void check_gradient(const Case *c) {
    Input x = input_new(c);
    Tensor dy = some_tensor(2 * BLOCK, c->height, c->width),
           ring = tensor_new(2 * BLOCK, c->height, c->width, c->range * TILE);
    Scratch of_whole, of_parts;
    const Gradients whole = gradients_new(c, &x, &dy, &of_whole);
    Gradients part = gradients_new(c, &x, &dy, &of_parts);
#pragma omp parallel num_threads(1)
    {
        winograd_gradients(&whole, 0, c->most);
        gradients_finish(&whole, 0);
    }
    part.x = x.in_ring, part.from = x.ring_layout;
    part.dy = ring.at, part.to = &ring.layout;
    for (int begin = 0, end; begin < c->height; begin = end) {
        end = range_end(c, begin);
        input_fill(&x, c, begin, end);
        ring_fill(&ring, &dy, begin, end);
        part.grid = paired_grid(1, c->height, c->width, c->phase, (Rows){begin, end});
#pragma omp parallel num_threads(1 + begin % MOST_THREADS)
        winograd_gradients(&part, 0, c->most);
    }
#pragma omp parallel num_threads(1)
    gradients_finish(&part, 0);
    same(c, "gradient of weights", part.total, whole.total, (size_t)of_whole.result * sizeof *whole.total);
    input_free(&x);
    free(dy.at), free(ring.at), free(of_whole.at), free(of_parts.at);
}

int main(void) {
    for (int i = 0; i < CASES; i++) {
        const Case c = some_case();
        check_convolution(&c, i & 1, i >> 1 & 1, i >> 2 & 1);
        check_gradient(&c);
    }
    printf("%d cases in rings, %d failures\n", CASES, failures);
    return failures > 0;
}
