/* sizes.c - sizes of packed weights, scratch and bands of the kernels in templates/cpu/. */
#include "cpu/sizes.h"
#include "base/size_math.h"

enum { BLOCK = 16 };

static int64_t blocks(int64_t channels) {
    return channels / BLOCK + (channels % BLOCK != 0);
}

static bool multiply(int64_t a, int64_t b, int64_t *out) {
    return !__builtin_mul_overflow(a, b, out);
}

bool cpu_packed_elements(int64_t summed, int64_t lanes, int64_t taps, int64_t *out) {
    return multiply(blocks(lanes), BLOCK, out) && multiply(*out, summed, out) && multiply(*out, taps, out);
}

/* A vector of output channels for each input channel and tap, and one for the bias. */
bool cpu_wgrad_sums_elements(const CpuConv *conv, int64_t *out) {
    int64_t depth;
    return multiply(conv->in, conv->taps, &depth) && !__builtin_add_overflow(depth, 1, &depth) &&
           multiply(blocks(conv->out), BLOCK, out) && multiply(*out, depth, out);
}

/* ---- Winograd's method ---- */

enum { FREQUENCIES = 36, POINTS = 16 /* of a tile */, GAP = BLOCK /* elements between frequencies */ };

static int64_t channels_stored(int64_t channels) {
    return blocks(channels) * BLOCK;
}

/* The most tiles of a plane, whatever the phase and the threads' registers. */
static int64_t tiles_of_plane(const CpuConv *conv) {
    enum { SIDE = 4, MOST_PHASE = 3 };
    const int64_t columns = (conv->width + SIDE - 1) / SIDE;
    return (conv->height + MOST_PHASE + SIDE - 1) / SIDE * (columns + columns % 2);
}

/* Planes of few tiles are computed together. */
static bool has_small_planes(const CpuConv *conv) {
    return conv->planes > 1 && conv->height * conv->width < 64 * POINTS;
}

/* A thread's block lies in its second cache, and there are enough of them for many threads. */
bool cpu_winograd_own_blocks(const CpuConv *conv) {
    return conv->in <= 128 && conv->points >= 256 * POINTS && !has_small_planes(conv);
}

int64_t cpu_winograd_tiles(const CpuConv *conv) {
    return cpu_winograd_own_blocks(conv) ? 16 : 64;
}

/* The planes of a part of a volume that make about so many tiles. */
static int64_t planes_for(const CpuConv *conv, int64_t tiles) {
    if (!has_small_planes(conv))
        return 1;
    const int64_t planes = (tiles - 1) / tiles_of_plane(conv) + 1;
    return planes < conv->depth ? planes : conv->depth;
}

int64_t cpu_winograd_planes(const CpuConv *conv) {
    return planes_for(conv, 128);
}

/* Tiles of a part of so many planes, at most `tiles` of each: part_tiles() of the kernels. */
static int64_t part_tiles(const CpuConv *conv, int64_t tiles, int64_t planes) {
    enum { MOST_ROWS = 16 };
    const int64_t all = tiles_of_plane(conv);
    return (tiles < all ? tiles : all) * planes + MOST_ROWS;
}

/* Frequencies of TILES tiles of so many channels. */
static bool frequencies(int64_t tiles, int64_t channels, int64_t *out) {
    return multiply(channels_stored(channels), tiles, out) && !__builtin_add_overflow(*out, GAP, out) &&
           multiply(*out, FREQUENCIES, out);
}

/* The frequencies of x, and of two blocks of y or of all. */
bool cpu_winograd_elements(const CpuConv *conv, int64_t threads, int64_t *out) {
    const bool own = cpu_winograd_own_blocks(conv);
    const int64_t tiles = cpu_winograd_tiles(conv);
    const int64_t channels = own && conv->out > 2 * BLOCK ? 2 * BLOCK : conv->out;
    const int64_t planes = cpu_winograd_planes(conv), met = planes + conv->planes - 1;
    const bool in_parts = conv->planes > 1 && !own;
    int64_t y;
    return frequencies(in_parts ? part_tiles(conv, tiles, met) : tiles * met, conv->in, out) &&
           frequencies(in_parts ? part_tiles(conv, tiles, planes) : tiles, channels, &y) &&
           !__builtin_add_overflow(*out, y, out) && multiply(*out, own ? threads : 1, out);
}

/* So few that they lie in a cache; where there are many sums, which pass once for each block, more. */
int64_t cpu_winograd_wgrad_tiles(const CpuConv *conv) {
    enum { MANY = 128 };
    return conv->in <= MANY || conv->out <= MANY ? 64 : 128;
}

int64_t cpu_winograd_wgrad_planes(const CpuConv *conv) {
    return planes_for(conv, cpu_winograd_wgrad_tiles(conv));
}

bool cpu_winograd_weights(int64_t summed, int64_t lanes, int64_t planes, int64_t *out) {
    int64_t gaps = FREQUENCIES * GAP;
    return cpu_packed_elements(summed, lanes, FREQUENCIES * planes, out) &&
           !__builtin_add_overflow(*out, gaps, out);
}

/* Frequencies of x; of dy, with a sum. */
bool cpu_winograd_wgrad_mapped(const CpuConv *conv, int64_t *out) {
    const int64_t most = cpu_winograd_wgrad_tiles(conv), planes = cpu_winograd_wgrad_planes(conv);
    const bool in_parts = conv->planes > 1;
    int64_t y;
    return frequencies(in_parts ? part_tiles(conv, most, planes + conv->planes - 1) : most, conv->in,
                       out) &&
           frequencies(in_parts ? part_tiles(conv, most, planes) : most, conv->out, &y) &&
           !__builtin_add_overflow(*out, y, out) && !__builtin_add_overflow(*out, y / FREQUENCIES, out);
}

/* The products, and a sum for the bias. */
bool cpu_winograd_wgrad_sums(const CpuConv *conv, int64_t *out) {
    return cpu_winograd_weights(channels_stored(conv->in), conv->out, conv->planes, out) &&
           !__builtin_add_overflow(*out, channels_stored(conv->out), out);
}

bool cpu_winograd_wgrad_ordered(const CpuConv *conv, int64_t *out) {
    return cpu_packed_elements(channels_stored(conv->in), conv->out, 9 * conv->planes, out) &&
           !__builtin_add_overflow(*out, channels_stored(conv->out), out);
}

/* For each piece of a row and each channel of p all of x; for the bias a vector. */
bool cpu_head_sums_elements(int64_t in, int64_t out, int64_t width, int64_t rows, int64_t *elements) {
    enum { PIXELS = 128 };
    return multiply((width - 1) / PIXELS + 1, out, elements) &&
           multiply(*elements, channels_stored(in), elements) &&
           !__builtin_add_overflow(*elements, BLOCK, elements) && multiply(*elements, rows, elements);
}

/* See templates/cpu/vocabulary.c. */
bool cpu_vocabulary_elements(int64_t points, int64_t channels, bool gradient, int64_t *out) {
    enum { PART_POINTS = 128, SOME_CLASSES = 64, CLASS_GROUPS = 16, REALS = 2, LINE = 8 };
    const int64_t list = size_product(REALS, size_rounded(size_sum(1, size_product(2, points)), LINE)),
                  row = size_rounded(channels, BLOCK), rows = size_product(PART_POINTS, row),
                  found = (2 * CLASS_GROUPS + 1) * PART_POINTS;
    const int64_t blocks = size_sum(size_product(2, rows), CLASS_GROUPS * SOME_CLASSES * PART_POINTS);
    *out = size_sum(size_sum(list, blocks), gradient ? size_product(CLASS_GROUPS, rows) : found);
    return *out < INT64_MAX;
}

bool cpu_loss_scratch_elements(int64_t batch, int64_t rows, int64_t *out) {
    return multiply(batch, rows, out);
}

/* ---- attention ---- */

enum { BLOCK_POINTS = 32 }; /* of templates/cpu/attentions.c */

static int64_t point_blocks(int64_t points) {
    return points / BLOCK_POINTS + (points % BLOCK_POINTS != 0);
}

int64_t cpu_attention_slots(int64_t heads, int64_t points, int64_t threads) {
    int64_t blocks;
    return multiply(heads, point_blocks(points), &blocks) && blocks < threads ? blocks : threads;
}

int64_t cpu_attention_bands(int64_t windows, int64_t points) {
    enum { MOST = 16 };
    int64_t blocks;
    return multiply(windows, point_blocks(points), &blocks) && blocks < MOST ? blocks : MOST;
}

/* Blocks of so many numbers a point for each channel of a head, and a bias in whole blocks. */
static bool attention_blocks(const CpuAttention *of, int64_t numbers, int64_t *out) {
    int64_t bias;
    return !__builtin_add_overflow(of->of_q, of->of_v, out) &&
           multiply(*out, numbers * BLOCK_POINTS, out) &&
           multiply(point_blocks(of->bias), BLOCK_POINTS, &bias) &&
           !__builtin_add_overflow(*out, bias, out) && multiply(*out, of->slots, out);
}

bool cpu_attention_elements(const CpuAttention *of, int64_t *out) {
    return attention_blocks(of, 2, out);
}

bool cpu_attention_grad_elements(const CpuAttention *of, int64_t sums, int64_t *out) {
    return attention_blocks(of, 3, out) && !__builtin_add_overflow(*out, sums, out);
}

/* As templates/cpu/channel_tables.c counts them. */
static bool table_elements(int64_t rows, int64_t columns, int64_t *out) {
    int64_t beside;
    return multiply(point_blocks(columns), BLOCK_POINTS, &columns) && multiply(rows, columns, out) &&
           multiply(point_blocks(rows), BLOCK_POINTS, &rows) &&
           !__builtin_add_overflow(rows, columns, &beside) && !__builtin_add_overflow(*out, beside, out);
}

/* A band has enough points that the tables of all bands take at most a quarter of the bytes of q. */
int64_t cpu_channel_attention_bands(int64_t points, int64_t of_q, int64_t of_k) {
    enum { BAND_POINTS = 1024, MOST = 64, PART = 4 };
    int64_t table, elements;
    if (!table_elements(of_q, of_k, &table) || !multiply(points, of_q, &elements))
        return 1;
    const int64_t by_points = points / BAND_POINTS < MOST ? points / BAND_POINTS : MOST,
                  bands = elements / PART / table < by_points ? elements / PART / table : by_points;
    return bands < 1 ? 1 : bands;
}

bool cpu_channel_attention_elements(const CpuChannelAttention *of, int64_t *out) {
    enum { TABLES = 2, NUMBERS = 4 };
    int64_t table, blocks;
    return table_elements(of->of_q, of->of_k, &table) && multiply(table, of->bands + TABLES, out) &&
           multiply(*out, of->heads, out) &&
           multiply(of->of_q + point_blocks(of->of_k) * BLOCK_POINTS, NUMBERS * BLOCK_POINTS, &blocks) &&
           multiply(blocks, of->slots, &blocks) && !__builtin_add_overflow(*out, blocks, out);
}
