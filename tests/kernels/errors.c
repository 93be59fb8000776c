/* errors.c - how far results of Winograd's method are from exact ones, beside results of a direct
 * convolution.
 *
 * For several numbers of channels: a convolution, its gradient by the input (windows that run backwards)
 * and by the weights, on inputs as a ReLU leaves them, of images and of volumes, whose windows are 3x3x3;
 * the gradient by the weights of large ones, too, whose points are summed. Prints the root of the mean
 * square of the errors over the root of the results', both against sums in double. Exit code 1 above 3e-6,
 * or, with factors of bf16, above 1.2e-2. For these:
 *
 *     cc -O2 -march=native -fopenmp -DUNET_FAST_PRODUCTS tests/kernels/errors.c -lm
 */
#include "../../templates/cpu/winograd_volumes.c"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { MOST_TILES = 64, AT_ONCE_PLANES = 2, SAMPLES = 300 };

typedef struct {
    int ci, co, side, deep; /* images, or, with more than one of these, volumes of so many */
    int planes, taps;       /*   of a window; points of one */
    Layout x, y;
    stored *in, *out; /* of x, with its halo; of y or, the gradient by weights, of its gradient */
    real *w;          /* dense [co][ci][planes][3][3] */
} Net;

static void *zeros(size_t bytes) {
    const size_t whole = (bytes + 63) / 64 * 64;
    void *p = aligned_alloc(64, whole);
    if (p == NULL)
        abort();
    return memset(p, 0, whole);
}

static Layout layout_of(int channels, int side, int deep) {
    const long row = (side + 2) * BLOCK, depth = (side + 2) * row, plane = deep * depth;
    return (Layout){.channels = channels,
                    .block = BLOCK,
                    .blocks = channels / BLOCK,
                    .origin = row + BLOCK,
                    .sample = plane * (channels / BLOCK),
                    .plane = plane,
                    .depth = depth,
                    .row = row};
}

static long place(const Layout *l, int c, int d, int h, int w) {
    return offset_of(l, c / BLOCK, (Point){0, d, h, w}) + c % BLOCK;
}

static int points(const Net *n) {
    return n->deep * n->side * n->side;
}

/* The place of point P of channel C. */
static long place_of(const Net *n, const Layout *l, int c, int p) {
    return place(l, c, p / (n->side * n->side), p / n->side % n->side, p % n->side);
}

/* The number of channel C that tap TAP of a window around point P meets; beside the volume, a 0. */
static real met(const Net *n, int c, int p, int tap) {
    const int d = p / (n->side * n->side) + tap / 9 - n->planes / 2;
    if (d < 0 || d >= n->deep)
        return 0;
    return n->in[place(&n->x, c, d, p / n->side % n->side + tap / 3 % 3 - 1, p % n->side + tap % 3 - 1)];
}

/* From -1 to 1, the same in every run. */
static real number(uint32_t *state) {
    *state = *state * 1664525u + 1013904223u;
    return (real)((int32_t)*state >> 8) / (1 << 23);
}

static Net net_new(int ci, int co, int side, int deep) {
    const int planes = deep > 1 ? 3 : 1;
    Net n = {.ci = ci,
             .co = co,
             .side = side,
             .deep = deep,
             .planes = planes,
             .taps = 9 * planes,
             .x = layout_of(ci, side, deep),
             .y = layout_of(co, side, deep)};
    uint32_t state = 1;
    n.in = zeros((size_t)n.x.sample * sizeof *n.in);
    n.out = zeros((size_t)n.y.sample * sizeof *n.out);
    n.w = zeros((size_t)(ci * co * n.taps) * sizeof *n.w);
    for (int c = 0; c < ci; c++)
        for (int p = 0; p < points(&n); p++)
            n.in[place_of(&n, &n.x, c, p)] = (stored)fmaxf(number(&state), 0);
    for (int c = 0; c < co; c++)
        for (int p = 0; p < points(&n); p++)
            n.out[place_of(&n, &n.y, c, p)] = (stored)number(&state);
    for (int i = 0; i < ci * co * n.taps; i++)
        n.w[i] = number(&state);
    return n;
}

static void net_free(Net *n) {
    free(n->in);
    free(n->out);
    free(n->w);
}

/* ---- sums of squares --------------------------------------------------------------------------------- */

typedef struct {
    double direct, winograd, result;
} Errors;

static void add(Errors *e, double exact, double direct, double winograd) {
    e->direct += (direct - exact) * (direct - exact);
    e->winograd += (winograd - exact) * (winograd - exact);
    e->result += exact * exact;
}

/* ---- convolutions, the windows backwards or not ------------------------------------------------------ */

/* Tiles for which there is memory: of an image, or of all planes that are computed at a time. */
static int tiles_held(const Net *n, int more) {
    return n->deep > 1 ? part_tiles(MOST_TILES, AT_ONCE_PLANES + more) : MOST_TILES;
}

static Errors convolution(Net *n, int flipped) {
    const Strides in = frequency_strides(tiles_held(n, n->planes - 1), n->ci / BLOCK, FREQUENCY_GAP),
                  out = frequency_strides(tiles_held(n, 0), n->co / BLOCK, SUM_GAP);
    const int all = vectors(&n->y), side = n->side, deep = n->deep;
    const stored *const x[] = {n->in};
    stored *y = zeros((size_t)n->y.sample * sizeof *y);
    real *scratch = zeros((size_t)(FREQUENCIES * (in.frequency + out.frequency)) * sizeof *scratch);
    Frequency *weights =
        zeros((size_t)(FREQUENCIES * weights_stride((long)n->planes * n->ci, all, FREQUENCY_GAP)) *
              sizeof *weights);
    const Dense dense = {
        .w = n->w, .lane = n->ci * n->taps, .channel = n->taps, .lanes = n->co, .flipped = flipped};
    const Winograd c = {.x = x,
                        .from = &n->x,
                        .segments = 1,
                        .weights = weights,
                        .to = &n->y,
                        .y = y,
                        .channels = n->co,
                        .grid = grid(deep, side, side, 0, (Rows){0, deep * side}),
                        .samples = 1,
                        .window = {side, 1, 1},
                        .taps = deep > 1 ? n->planes : 0,
                        .front = n->planes / 2,
                        .planes = deep};
#pragma omp parallel num_threads(1)
    {
        winograd_weights(weights, dense, all, &n->x, 1, n->planes);
        if (deep > 1)
            winograd_parts(&c, scratch, MOST_TILES, AT_ONCE_PLANES);
        else
            winograd_groups(&c, scratch, MOST_TILES);
    }
    Errors e = {0, 0, 0};
    uint32_t state = 2;
    for (int k = 0; k < SAMPLES; k++) {
        const int co = (int)(fabsf(number(&state)) * (float)n->co) % n->co,
                  p = (int)(fabsf(number(&state)) * (float)points(n)) % points(n);
        double exact = 0;
        real direct = 0;
        for (int i = 0; i < n->ci * n->taps; i++) {
            const int ci = i / n->taps, tap = i % n->taps;
            const real a = met(n, ci, p, tap),
                       w = n->w[(co * n->ci + ci) * n->taps + (flipped ? n->taps - 1 - tap : tap)];
            exact += (double)a * w;
            direct = fmaf(a, w, direct);
        }
        add(&e, exact, direct, y[place_of(n, &n->y, co, p)]);
    }
    free(y);
    free(scratch);
    free(weights);
    return e;
}

/* ---- the gradient by the weights --------------------------------------------------------------------- */

static Errors gradient(Net *n) {
    const Strides in = frequency_strides(tiles_held(n, n->planes - 1), n->ci / BLOCK, FREQUENCY_GAP),
                  out = frequency_strides(tiles_held(n, 0), n->co / BLOCK, FREQUENCY_GAP);
    const int all = vectors(&n->y), side = n->side, deep = n->deep;
    const stored *const x[] = {n->in};
    const long sums = FREQUENCIES * weights_stride((long)n->planes * n->ci, all, SUM_GAP);
    Gradients g = {.x = x,
                   .dy = n->out,
                   .from = &n->x,
                   .to = &n->y,
                   .blocks = n->ci / BLOCK,
                   .grid = paired_grid(deep, side, side, 0, (Rows){0, deep * side}),
                   .window = {side, 1, 1},
                   .taps = deep > 1 ? n->planes : 0,
                   .front = n->planes / 2,
                   .planes = deep,
                   .in_strides = in,
                   .out_strides = out,
                   .in = zeros((size_t)(FREQUENCIES * in.frequency) * sizeof(Frequency)),
                   .out = zeros((size_t)(FREQUENCIES * out.frequency) * sizeof(Frequency)),
                   .tile_sums = zeros((size_t)out.frequency * sizeof(real)),
                   .sums = zeros((size_t)sums * sizeof(real)),
                   .total = zeros((size_t)(n->ci * n->co * n->taps) * sizeof(real))};
#pragma omp parallel num_threads(1)
    {
        if (deep > 1)
            winograd_part_gradients(&g, 0, MOST_TILES, AT_ONCE_PLANES);
        else
            winograd_gradients(&g, 0, MOST_TILES);
        gradients_finish(&g, 0);
    }
    Errors e = {0, 0, 0};
    uint32_t state = 3;
    for (int k = 0; k < SAMPLES; k++) {
        const int co = (int)(fabsf(number(&state)) * (float)n->co) % n->co,
                  ci = (int)(fabsf(number(&state)) * (float)n->ci) % n->ci, tap = k % n->taps;
        double exact = 0;
        real direct = 0;
        for (int p = 0; p < points(n); p++) {
            const real a = met(n, ci, p, tap), dy = n->out[place_of(n, &n->y, co, p)];
            exact += (double)a * dy;
            direct = fmaf(a, dy, direct);
        }
        add(&e, exact, direct,
            g.total[((long)(co / LANES) * n->ci * n->taps + ci * n->taps + tap) * LANES + co % LANES]);
    }
    free(g.in);
    free(g.out);
    free(g.tile_sums);
    free(g.sums);
    free(g.total);
    return e;
}

/* ---- the table --------------------------------------------------------------------------------------- */

/* Returns whether the error is small enough. */
static int told(const char *what, const Net *n, Errors e) {
    const double direct = sqrt(e.direct / e.result), winograd = sqrt(e.winograd / e.result),
                 most = PAIR > 1 ? 1.2e-2 : 3e-6;
    printf("%-24s %4d channels, %2d x %3d x %3d   direct %.1e   winograd %.1e\n", what, n->ci, n->deep,
           n->side, n->side, direct, winograd);
    return winograd <= most;
}

/* Returns whether all errors are small enough. */
static int all_told(int channels, int side, int deep) {
    Net n = net_new(channels, channels, side, deep);
    int good = told("convolution", &n, convolution(&n, 0));
    good &= told("gradient by the input", &n, convolution(&n, 1));
    good &= told("gradient by the weights", &n, gradient(&n));
    net_free(&n);
    return good;
}

int main(void) {
    static const int channels[] = {16, 64, 256, 512}, sides[] = {128, 132, 512};
    int good = 1;
    for (size_t k = 0; k < sizeof channels / sizeof *channels; k++)
        good &= all_told(channels[k], 16, 1);
    for (size_t k = 0; k < sizeof sides / sizeof *sides; k++) {
        Net n = net_new(32, 32, sides[k], 1);
        good &= told("gradient by the weights", &n, gradient(&n));
        net_free(&n);
    }
    good &= all_told(32, 16, 7);
    good &= all_told(320, 8, 4);
    good &= all_told(32, 64, 48);
    return good ? 0 : 1;
}
