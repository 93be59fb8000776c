/* kernels.h - one case: an operator, or two that fuse, on operands of some sizes, and the ways in which it
 * is computed. instances.c writes the table. */
#ifndef KERNELS_H
#define KERNELS_H

#include "reference_kernels.h" /* instances.c writes it: types, how tensors lie in memory */

#include <unet/model.h>

/* ---- operands ---- */

/* The uses of operands by the rows of the operators: GIVEN is only read, UPDATED read and written, COMPUTED
 * a result, INNER one that the second operator reads: whether it is there when both are done in one is
 * their business. */
typedef enum { GIVEN, UPDATED, COMPUTED, INNER } Use;

/* TENSOR: of `stored`, for each sample; STAGED: the same of `real`, as the loader leaves it; BYTES,
 * SHORTS: of n / 255, n / 65535; LABELS: of bytes; NUMBERS: `real`; VECTORS: of `real`, one for each
 * sample; EACH: alike, of doubles. */
typedef enum { TENSOR, STAGED, BYTES, SHORTS, LABELS, NUMBERS, DOUBLES, VECTORS, EACH } Kind;

typedef struct {
    const char *name;
    Use use;
    Kind kind;
    Layout layout; /* with samples */
    int size[3];
    long elements;
    int place; /* of that operand it may take the place; -1: of none */
} Argument;

/* ---- calls ---- */

typedef struct {
    const UnetStep *step;
    int n;                     /* samples */
    const int32_t (*valid)[3]; /* or NULL */
    Rows rows;                 /* that are computed; end < 0: all */
    int first;                 /* sample of the batch */
} Call;

/* Calls the kernels; AT: the operands, and behind them what the kernels need beside. */
typedef void Run(const Call *call, void *const *at);

static inline Rows rows_of(const Call *call, int all) {
    return call->rows.end < 0 ? (Rows){0, all} : call->rows;
}

/* Words that the compiler writes into calls. */
#define AT(type, number) ((type *)at[number])
#define band_rows(band, rows, lag, all) rows_of(call, all)
#define TOLD(call)                                                                                         \
    const UnetStep *const step = (call)->step;                                                             \
    const int n = (call)->n, start = (call)->first;                                                        \
    const int32_t(*const valid)[3] = (call)->valid;                                                        \
    static const double labelled[] = {37.5};                                                               \
    (void)step, (void)n, (void)start, (void)valid, (void)labelled, (void)at

enum { MAX_OPERANDS = 16, MAX_BESIDE = 8 };

/* The same on operands that are rings of rows, range by range. */
typedef struct {
    Run *run;                         /* NULL: it cannot be */
    Run *zero_halo;                   /* of operand 0, or NULL */
    int band;                         /* rows in a range, */
    int bands;                        /*   and how many ranges make up all of them */
    int above, below;                 /* rows of the halo of operand 0 */
    const Layout *layout;             /* per operand */
    const Rows (*need)[MAX_OPERANDS]; /* per range: the rows of each operand that are touched */
} Rings;

/* The rows of a range that a kernel computes, 0: it computes none, and the rows where ranges may begin: row
 * tile * k - phase of a plane, which has `height`. */
typedef struct {
    int rows, height, tile, phase;
} Ranges;

typedef struct {
    Run *run;      /* NULL: it is not computed in this way */
    Ranges ranges; /* of one operator */
    int nbeside;
    long beside[MAX_BESIDE]; /* bytes of packed weights, scratch and the like */
    Rings rings;
} Side;

/* ---- cases ---- */

/* The numbers of operands: from -1 to 1; few different ones, so that maxima tie and some are exactly
 * zero; from -120 to 120; above zero; anything that has as many bits. */
typedef enum { FINE, COARSE, WIDE, POSITIVE, ANY } Values;

/* How near fast kernels come to the reference: the same bits; sums in another order; the same, where a
 * double is a sum of floats, too; relative to each result. */
typedef enum { EXACT, SUMS, OF_FLOATS, RELATIVE } Nearness;

/* FUSED: one kernel for the two operators of the case; ADDS: adds to the sums; HALO: zeroes the halo of
 * operand 0. */
enum { REFERENCE, FAST, FUSED, ADDS, REFERENCE_HALO, FAST_HALO, SIDES };

typedef struct {
    const char *name; /* every parameter, for the report of a failure */
    Values values;
    Nearness nearness;
    int counts;  /* not all points of a sample count (Call.valid) */
    int steps;   /* of an optimiser; 0: it is none */
    int samples; /* in the batch */
    int whole;   /* its results belong to the whole batch: results of one sample are others */
    int noperand;
    Argument operand[MAX_OPERANDS];
    Side side[SIDES];
} Case;

extern const Case cases[];
extern const int case_count;

#endif
