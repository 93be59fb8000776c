/* attention_grad.c - gradients of attention by queries, keys, values and the bias.
 *
 * Two loops make the softmax once more, each for a block of points and all others.  The first goes over the
 * queries; it leaves the sums of dy * y, which all slopes of a row have less.  The second goes over the
 * keys.  So each sum has one place and one order.  The first loop also sums the slopes by the bias.  For a
 * bias of differences of points it does so in bands of blocks, which a last loop adds up.  For a bias of
 * pairs it goes over the same queries of all windows, one window after another. */
#include "attentions.c"

#define KERNEL attention_grad
#include "../example.h"

/* BEGIN */
typedef struct {
    const stored *q, *k, *v, *y, *dy, *b;
    const real *lse;
    real *sums;    /* of dy * y, for each head and query; */
    real *by_bias; /*   of slopes, for each head, band and point of the bias */
} KERNEL_Operands;

/* A block has its points in lanes, with two gradients, and other points in rows.  Each query has two
 * numbers, and each pair of points a share and a slope. */
typedef struct {
    real *first, *second, *d_first, *d_second, *row, *other_row, *bias;
    Places rows, lanes;
    real lse[BLOCK_POINTS], sum[BLOCK_POINTS];
    real share[BLOCK_POINTS * BLOCK_POINTS], slope[BLOCK_POINTS * BLOCK_POINTS];
} KERNEL_Block;

INLINE Windows KERNEL_windows_of_q(void) {
    SIZES;
    return (Windows){
        {D, H, W}, {QUERY_D, QUERY_H, QUERY_W}, {SHIFT_D, SHIFT_H, SHIFT_W}, {BD, BH, BW}, PAIRS};
}

INLINE Windows KERNEL_windows_of_k(void) {
    SIZES;
    return (Windows){{ID, IH, IW}, {KEY_D, KEY_H, KEY_W}, {SHIFT_D, SHIFT_H, SHIFT_W}, {BD, BH, BW}, PAIRS};
}

INLINE long KERNEL_bias_points(void) {
    SIZES;
    const Windows windows = KERNEL_windows_of_q();
    return BIAS ? bias_points(&windows) : 0;
}

INLINE long KERNEL_elements(void) {
    SIZES;
    const Windows windows = KERNEL_windows_of_q();
    return 3L * BLOCK_POINTS * (C / HEADS + CV / HEADS) + (BIAS ? bias_elements(&windows) : 0);
}

INLINE void KERNEL_begin(KERNEL_Block *s, real *slot) {
    SIZES;
    const int of_q = BLOCK_POINTS * (C / HEADS), of_v = BLOCK_POINTS * (CV / HEADS);
    s->first = slot;
    s->second = s->first + of_q;
    s->row = s->second + of_v;
    s->other_row = s->row + of_q;
    s->d_first = s->other_row + of_v;
    s->d_second = s->d_first + of_q;
    s->bias = s->d_second + of_v;
    memset(s->d_first, 0, (of_q + of_v) * sizeof *s->d_first); /* and d_second */
}

/* A tensor of the size of q, or of k, with the channels of q, or of v. */
INLINE Head KERNEL_asking(const Layout *l, Part at, int channels) {
    SIZES;
    return (Head){l,         KERNEL_windows_of_q(),     QUERIES,
                  at.window, at.g * (channels / HEADS), channels / HEADS};
}

INLINE Head KERNEL_answering(const Layout *l, Part at, int channels) {
    SIZES;
    return (Head){l, KERNEL_windows_of_k(), KEYS, at.window, at.g * (channels / HEADS), channels / HEADS};
}

/* The numbers of the queries of a block.  Beyond the last one no key has a share. */
INLINE void KERNEL_numbers(KERNEL_Block *s, const KERNEL_Operands *of, Part at) {
    SIZES;
    for (int i = 0; i < BLOCK_POINTS; i++) {
        const long row = ((long)at.g * WINDOWS + at.window) * QUERIES + at.first + i;
        const int there = at.first + i < QUERIES;
        s->lse[i] = there ? of->lse[at.n * LSE.sample + row] : INFINITY;
        s->sum[i] = there ? of->sums[(long)at.n * HEADS * WINDOWS * QUERIES + row] : 0;
    }
}

/* Leaves the sums of dy * y of a block, which has no second gradient yet. */
INLINE void KERNEL_sums(KERNEL_Block *s, const KERNEL_Operands *of, Part at) {
    SIZES;
    const Head y = KERNEL_asking(&Y, at, CV);
    const long row = (((long)at.n * HEADS + at.g) * WINDOWS + at.window) * QUERIES + at.first;
    head_load(s->d_second, of->y, &y, at.n, at.first);
    for (int i = 0; i < BLOCK_POINTS && at.first + i < QUERIES; i++) {
        real sum = 0;
        for (int c = 0; c < CV / HEADS; c++)
            sum += s->other_row[i * (CV / HEADS) + c] * s->d_second[i * (CV / HEADS) + c];
        of->sums[row + i] = sum;
    }
}

/* Makes shares of products, and slopes of the gradients by shares.  The numbers of a query belong to a
 * lane, or, if `row_asks`, to a row. */
INLINE void KERNEL_slopes(KERNEL_Block *s, int row_asks) {
    for (int r = 0; r < BLOCK_POINTS; r++)
        for (int lane = 0; lane < BLOCK_POINTS; lane += LANES) {
            real *const share = s->share + r * BLOCK_POINTS + lane;
            real *const slope = s->slope + r * BLOCK_POINTS + lane;
            const Vector lse = row_asks ? (Vector){0} + s->lse[r] : load_real(s->lse + lane);
            const Vector sum = row_asks ? (Vector){0} + s->sum[r] : load_real(s->sum + lane);
            const Vector p = vector_exp(load_real(share) - lse);
            store_real(share, p);
            store_real(slope, p * (load_real(slope) - sum));
        }
}

/* The bias of the head, and where the points of its lanes are. */
INLINE void KERNEL_begin_places(KERNEL_Block *s, const KERNEL_Operands *of, const Head *lanes, Part at) {
    SIZES;
    if (BIAS || is_rolled(&lanes->windows))
        find_places(&s->lanes, lanes, at.first);
    if (BIAS)
        bias_load(s->bias, of->b, &B, &lanes->windows, at.n, at.g);
}

/* Adds the bias to products with the points of `rows` from `first` on, and hides what no query sees. */
INLINE void KERNEL_see(KERNEL_Block *s, const stored *b, const Head *rows, int first, Part at,
                       int row_asks) {
    SIZES;
    const Windows *const windows = &rows->windows, of_q = KERNEL_windows_of_q();
    const int first_lane = at.first;
    if (BIAS || is_rolled(windows))
        find_places(&s->rows, rows, first);
    if (PAIRS > 0)
        add_pairs(s->share, b, &B, &of_q, at.n, at.g, first, first_lane, row_asks);
    else if (BIAS)
        add_bias(s->share, s->bias, windows, &s->rows, &s->lanes, row_asks);
    if (is_rolled(windows))
        hide_other_sides(s->share, &s->rows, &s->lanes);
    if (hides(first, first_lane, rows->points, CAUSAL))
        hide(s->share, first, first_lane, rows->points, CAUSAL, row_asks);
}

/* Adds the slopes by the bias to `by_bias`, too. */
INLINE void KERNEL_by_query(KERNEL_Block *s, stored *dq, real *by_bias, const KERNEL_Operands *of,
                            Part at) {
    SIZES;
    const Head q = KERNEL_asking(&QUERY, at, C), dy = KERNEL_asking(&DY, at, CV),
               to = KERNEL_asking(&DQ, at, C), k = KERNEL_answering(&KEY, at, C),
               v = KERNEL_answering(&VALUE, at, CV);
    head_load(s->row, of->q, &q, at.n, at.first);
    head_load(s->other_row, of->dy, &dy, at.n, at.first);
    turn(s->first, s->row, C / HEADS, (real)TIMES);
    turn(s->second, s->other_row, CV / HEADS, 1);
    KERNEL_sums(s, of, at);
    KERNEL_numbers(s, of, at);
    KERNEL_begin_places(s, of, &q, at);
    const int end = CAUSAL ? min_int(KEYS, at.first + BLOCK_POINTS) : KEYS;
    for (int first = 0; first < end; first += BLOCK_POINTS) {
        head_load(s->row, of->k, &k, at.n, first);
        head_load(s->other_row, of->v, &v, at.n, first);
        multiply_points(s->share, s->row, s->first, C / HEADS);
        multiply_points(s->slope, s->other_row, s->second, CV / HEADS);
        KERNEL_see(s, of->b, &k, first, at, 0);
        KERNEL_slopes(s, 0);
        const int keys = min_int(KEYS - first, BLOCK_POINTS),
                  queries = min_int(QUERIES - at.first, BLOCK_POINTS);
        if (PAIRS > 0)
            sum_pairs(by_bias, s->slope, &q.windows, first, at.first, keys, queries);
        else if (BIAS)
            sum_slopes(by_bias, s->slope, &q.windows, &s->rows, &s->lanes, keys, queries);
        add_points(s->d_first, s->row, s->slope, C / HEADS);
    }
    turn_back(s->row, s->d_first, C / HEADS, (real)TIMES);
    head_store(dq, s->row, &to, at.n, at.first);
}

INLINE void KERNEL_by_key(KERNEL_Block *s, stored *dk, stored *dv, const KERNEL_Operands *of, Part at) {
    SIZES;
    const Head q = KERNEL_asking(&QUERY, at, C), dy = KERNEL_asking(&DY, at, CV),
               k = KERNEL_answering(&KEY, at, C), v = KERNEL_answering(&VALUE, at, CV),
               to_k = KERNEL_answering(&DK, at, C), to_v = KERNEL_answering(&DV, at, CV);
    head_load(s->row, of->k, &k, at.n, at.first);
    head_load(s->other_row, of->v, &v, at.n, at.first);
    turn(s->first, s->row, C / HEADS, (real)TIMES);
    turn(s->second, s->other_row, CV / HEADS, 1);
    KERNEL_begin_places(s, of, &k, at);
    for (int first = CAUSAL ? at.first : 0; first < QUERIES; first += BLOCK_POINTS) {
        head_load(s->row, of->q, &q, at.n, first);
        head_load(s->other_row, of->dy, &dy, at.n, first);
        KERNEL_numbers(s, of, (Part){at.n, at.g, at.window, first});
        multiply_points(s->share, s->row, s->first, C / HEADS);
        multiply_points(s->slope, s->other_row, s->second, CV / HEADS);
        KERNEL_see(s, of->b, &q, first, at, 1);
        KERNEL_slopes(s, 1);
        add_points(s->d_first, s->row, s->slope, C / HEADS);
        add_points(s->d_second, s->other_row, s->share, CV / HEADS);
    }
    turn_back(s->row, s->d_first, C / HEADS, (real)TIMES);
    turn_back(s->other_row, s->d_second, CV / HEADS, 1);
    head_store(dk, s->row, &to_k, at.n, at.first);
    head_store(dv, s->other_row, &to_v, at.n, at.first);
}

/* Heads are channels; channels that only pad become zero. */
INLINE void KERNEL_sum_bands(stored *db, const real *by_bias, int n, int number) {
    SIZES;
    const Windows windows = KERNEL_windows_of_q();
    for (int v = 0; v < vectors(&DB); v++) {
        Vector sum = {0};
        for (int g = v * LANES; g < min_int(HEADS, (v + 1) * LANES); g++)
            for (int band = 0; band < BANDS; band++)
                sum[g % LANES] +=
                    by_bias[(((long)n * HEADS + g) * BANDS + band) * KERNEL_bias_points() + number];
        store_some(db + vector_at(&DB, v, point_of_bias(&windows, n, number)), sum, lanes(&DB, v));
    }
}

/* The blocks of a band of queries, one after another. */
INLINE void KERNEL_band(stored *dq, real *slot, const KERNEL_Operands *of, int head, int band, int bands) {
    SIZES;
    const int blocks = (QUERIES + BLOCK_POINTS - 1) / BLOCK_POINTS, all = WINDOWS * blocks;
    real *const by_bias = of->by_bias + ((long)head * bands + band) * KERNEL_bias_points();
    if (BIAS)
        memset(by_bias, 0, (size_t)KERNEL_bias_points() * sizeof *by_bias);
    for (int block = (int)((long)all * band / bands); block < (int)((long)all * (band + 1) / bands);
         block++) {
        KERNEL_Block s;
        KERNEL_begin(&s, slot);
        KERNEL_by_query(&s, dq, by_bias, of, part_of(head * all + block, HEADS, WINDOWS, blocks));
    }
}

/* The same block of each window.  No other task adds to the rows that the queries have in `by_bias`. */
INLINE void KERNEL_block_of_windows(stored *dq, real *slot, const KERNEL_Operands *of, int head,
                                    int block) {
    SIZES;
    const int first = block * BLOCK_POINTS;
    real *const by_bias = of->by_bias + (long)head * KERNEL_bias_points();
    memset(by_bias + (long)first * PAIRS, 0,
           (size_t)min_int(QUERIES - first, BLOCK_POINTS) * PAIRS * sizeof *by_bias);
    for (int window = 0; window < WINDOWS; window++) {
        KERNEL_Block s;
        KERNEL_begin(&s, slot);
        KERNEL_by_query(&s, dq, by_bias, of, (Part){head / HEADS, head % HEADS, window, first});
    }
}

UNUSED static void KERNEL(int n, stored *restrict dq, stored *restrict dk, stored *restrict dv,
                          stored *restrict db, real *scratch, const stored *q, const stored *k,
                          const stored *v, const stored *y, const real *lse, const stored *dy,
                          const stored *b) {
    SIZES;
    const int of_queries = (QUERIES + BLOCK_POINTS - 1) / BLOCK_POINTS,
              bands = PAIRS > 0 ? of_queries
                      : BIAS    ? BANDS
                                : WINDOWS * of_queries,
              queries = n * HEADS * bands;
    const int of_keys = (KEYS + BLOCK_POINTS - 1) / BLOCK_POINTS, keys = n * HEADS * WINDOWS * of_keys;
    real *const sums = scratch + SLOTS * KERNEL_elements();
    const KERNEL_Operands of = {q, k, v, y, dy, b, lse, sums, sums + (long)n * HEADS * WINDOWS * QUERIES};
#pragma omp for schedule(static)
    for (int task = 0; task < queries; task++) {
        real *const slot = slot_of(scratch, KERNEL_elements(), SLOTS, queries, task);
        if (PAIRS > 0)
            KERNEL_block_of_windows(dq, slot, &of, task / bands, task % bands);
        else
            KERNEL_band(dq, slot, &of, task / bands, task % bands, bands);
    }
#pragma omp for schedule(static)
    for (int task = 0; task < keys; task++) {
        KERNEL_Block s;
        KERNEL_begin(&s, slot_of(scratch, KERNEL_elements(), SLOTS, keys, task));
        KERNEL_by_key(&s, dk, dv, &of, part_of(task, HEADS, WINDOWS, of_keys));
    }
    if (!BIAS || db == NULL)
        return;
#pragma omp for schedule(static)
    for (long task = 0; task < n * KERNEL_bias_points(); task++)
        KERNEL_sum_bands(db, of.by_bias, (int)(task / KERNEL_bias_points()),
                         (int)(task % KERNEL_bias_points()));
}
/* END */
