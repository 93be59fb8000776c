/* attention_grad.c - gradients of attention by queries, keys and values.
 *
 * Two loops make the softmax once more, each for a block of points and all others.  The first goes over the
 * queries; it leaves the sums of dy * y, which all slopes of a row have less.  The second goes over the
 * keys.  So each sum has one place and one order. */
#include "attentions.c"

#define KERNEL attention_grad
#include "../example.h"

/* BEGIN */
typedef struct {
    const stored *q, *k, *v, *y, *dy;
    const real *lse;
    real *sums; /* of dy * y, for each head and query */
} KERNEL_Operands;

/* A block has its points in lanes, with two gradients, and other points in rows.  Each query has two
 * numbers, and each pair of points a share and a slope. */
typedef struct {
    real *first, *second, *d_first, *d_second, *row, *other_row;
    real lse[BLOCK_POINTS], sum[BLOCK_POINTS];
    real share[BLOCK_POINTS * BLOCK_POINTS], slope[BLOCK_POINTS * BLOCK_POINTS];
} KERNEL_Block;

INLINE long KERNEL_elements(void) {
    SIZES;
    return 3L * BLOCK_POINTS * (C / HEADS + CV / HEADS);
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
    memset(s->d_first, 0, (of_q + of_v) * sizeof *s->d_first); /* and d_second */
}

/* A tensor of the size of q, or of k, with the channels of q, or of v. */
INLINE Head KERNEL_asking(const Layout *l, int g, int channels) {
    SIZES;
    return (Head){l, QUERIES, H, W, g * (channels / HEADS), channels / HEADS};
}

INLINE Head KERNEL_answering(const Layout *l, int g, int channels) {
    SIZES;
    return (Head){l, KEYS, IH, IW, g * (channels / HEADS), channels / HEADS};
}

/* The numbers of the queries of a block.  Beyond the last one no key has a share. */
INLINE void KERNEL_numbers(KERNEL_Block *s, const KERNEL_Operands *of, int n, int g, int first) {
    SIZES;
    for (int i = 0; i < BLOCK_POINTS; i++) {
        const long at = (long)g * QUERIES + first + i;
        const int there = first + i < QUERIES;
        s->lse[i] = there ? of->lse[n * LSE.sample + at] : INFINITY;
        s->sum[i] = there ? of->sums[(long)n * HEADS * QUERIES + at] : 0;
    }
}

/* Leaves the sums of dy * y of a block, which has no second gradient yet. */
INLINE void KERNEL_sums(KERNEL_Block *s, const KERNEL_Operands *of, int n, int g, int first) {
    SIZES;
    const Head y = KERNEL_asking(&Y, g, CV);
    head_load(s->d_second, of->y, &y, n, first);
    for (int i = 0; i < BLOCK_POINTS && first + i < QUERIES; i++) {
        real sum = 0;
        for (int c = 0; c < CV / HEADS; c++)
            sum += s->other_row[i * (CV / HEADS) + c] * s->d_second[i * (CV / HEADS) + c];
        of->sums[((long)n * HEADS + g) * QUERIES + first + i] = sum;
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

INLINE void KERNEL_by_query(KERNEL_Block *s, stored *dq, const KERNEL_Operands *of, int n, int g,
                            int first) {
    SIZES;
    const Head q = KERNEL_asking(&QUERY, g, C), dy = KERNEL_asking(&DY, g, CV),
               to = KERNEL_asking(&DQ, g, C), k = KERNEL_answering(&KEY, g, C),
               v = KERNEL_answering(&VALUE, g, CV);
    head_load(s->row, of->q, &q, n, first);
    head_load(s->other_row, of->dy, &dy, n, first);
    turn(s->first, s->row, C / HEADS, (real)TIMES);
    turn(s->second, s->other_row, CV / HEADS, 1);
    KERNEL_sums(s, of, n, g, first);
    KERNEL_numbers(s, of, n, g, first);
    for (int at = 0; at < (CAUSAL ? min_int(KEYS, first + BLOCK_POINTS) : KEYS); at += BLOCK_POINTS) {
        head_load(s->row, of->k, &k, n, at);
        head_load(s->other_row, of->v, &v, n, at);
        multiply_points(s->share, s->row, s->first, C / HEADS);
        multiply_points(s->slope, s->other_row, s->second, CV / HEADS);
        if (hides(at, first, KEYS, CAUSAL))
            hide(s->share, at, first, KEYS, CAUSAL, 0);
        KERNEL_slopes(s, 0);
        add_points(s->d_first, s->row, s->slope, C / HEADS);
    }
    turn_back(s->row, s->d_first, C / HEADS, (real)TIMES);
    head_store(dq, s->row, &to, n, first);
}

INLINE void KERNEL_by_key(KERNEL_Block *s, stored *dk, stored *dv, const KERNEL_Operands *of, int n, int g,
                          int first) {
    SIZES;
    const Head q = KERNEL_asking(&QUERY, g, C), dy = KERNEL_asking(&DY, g, CV),
               k = KERNEL_answering(&KEY, g, C), v = KERNEL_answering(&VALUE, g, CV),
               to_k = KERNEL_answering(&DK, g, C), to_v = KERNEL_answering(&DV, g, CV);
    head_load(s->row, of->k, &k, n, first);
    head_load(s->other_row, of->v, &v, n, first);
    turn(s->first, s->row, C / HEADS, (real)TIMES);
    turn(s->second, s->other_row, CV / HEADS, 1);
    for (int at = CAUSAL ? first : 0; at < QUERIES; at += BLOCK_POINTS) {
        head_load(s->row, of->q, &q, n, at);
        head_load(s->other_row, of->dy, &dy, n, at);
        KERNEL_numbers(s, of, n, g, at);
        multiply_points(s->share, s->row, s->first, C / HEADS);
        multiply_points(s->slope, s->other_row, s->second, CV / HEADS);
        if (hides(at, first, QUERIES, CAUSAL))
            hide(s->share, at, first, QUERIES, CAUSAL, 1);
        KERNEL_slopes(s, 1);
        add_points(s->d_first, s->row, s->slope, C / HEADS);
        add_points(s->d_second, s->other_row, s->share, CV / HEADS);
    }
    turn_back(s->row, s->d_first, C / HEADS, (real)TIMES);
    turn_back(s->other_row, s->d_second, CV / HEADS, 1);
    head_store(dk, s->row, &to_k, n, first);
    head_store(dv, s->other_row, &to_v, n, first);
}

UNUSED static void KERNEL(int n, stored *restrict dq, stored *restrict dk, stored *restrict dv,
                          real *scratch, const stored *q, const stored *k, const stored *v, const stored *y,
                          const real *lse, const stored *dy) {
    SIZES;
    const int of_queries = (QUERIES + BLOCK_POINTS - 1) / BLOCK_POINTS, queries = n * HEADS * of_queries;
    const int of_keys = (KEYS + BLOCK_POINTS - 1) / BLOCK_POINTS, keys = n * HEADS * of_keys;
    const KERNEL_Operands of = {q, k, v, y, dy, lse, scratch + SLOTS * KERNEL_elements()};
#pragma omp for schedule(static)
    for (int task = 0; task < queries; task++) {
        const int head = task / of_queries, first = task % of_queries * BLOCK_POINTS;
        KERNEL_Block s;
        KERNEL_begin(&s, slot_of(scratch, KERNEL_elements(), SLOTS, queries, task));
        KERNEL_by_query(&s, dq, &of, head / HEADS, head % HEADS, first);
    }
#pragma omp for schedule(static)
    for (int task = 0; task < keys; task++) {
        const int head = task / of_keys, first = task % of_keys * BLOCK_POINTS;
        KERNEL_Block s;
        KERNEL_begin(&s, slot_of(scratch, KERNEL_elements(), SLOTS, keys, task));
        KERNEL_by_key(&s, dk, dv, &of, head / HEADS, head % HEADS, first);
    }
}
/* END */
