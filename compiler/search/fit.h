/* fit.h - what would fit: one file planned under other batches and sizes. */
#ifndef FIT_H
#define FIT_H

#include "search/budget_search.h"

enum { FIT_MAX_BATCH = 1 << 20, FIT_MAX_EXTENT = 1 << 24 };

/* The file, and the options of the command line or others in their place. */
typedef struct {
    const Ast *file;
    LowerOptions lower;
    Options options; /* .budget bounds the arena */
    Choices fixed;   /* see plan_file() */
    int64_t card;    /* not 0: bounds the arena and what lies beside it, in place of the budget */
} FitQuestion;

typedef enum { FIT_BATCH, FIT_SIZE } FitMax;

/* The figures that are kept of a plan that was tried. */
typedef struct {
    bool legal; /* the file has no errors under these options */
    bool fits;
    int64_t batch, size[AXES]; /* of the first program; axes that the file does not have are 0 */
    int64_t arena, beside;
    int64_t flops, recompute_flops;
    int64_t micro_batches;
    bool in_bands;     /* of rows */
    bool large;        /* a plan takes so much memory of the compiler that there should be one at a time */
    bool brief;        /* by a brief search: the plan that is made in the end may cost less */
    int64_t candidate; /* of what varied: the batch, the value of a `let`, a number of the size */
} FitTrial;

/* The number that --batch replaces: in a step of parts (`accumulate`), the samples of one part. */
int64_t asked_batch(const Program *program);

FitTrial fit_try(const FitQuestion *question);

/* The largest batch, or size of the same aspect ratio, that fits; every smaller one does too.  The search
 * begins at FROM, which is known to fit, or, where that is NULL, at the smallest.  Returns false if not
 * even that fits: BEST is then the smallest.  NEXT (or NULL) receives the one above BEST, not legal if
 * there is none. */
bool fit_largest_batch(const FitQuestion *question, const FitTrial *from, FitTrial *best, FitTrial *next);
bool fit_largest_size(const FitQuestion *question, const FitTrial *from, FitTrial *best, FitTrial *next);

/* fit_try(), in brief. */
bool fit_as_asked(const FitQuestion *question, FitTrial *best);

/* About the largest batch or size below the one of the question, which is known to fail as REFUSED did:
 * a batch or size that is a thirtieth larger, or two steps, does not fit or is hard to find. Sizes go down
 * to a quarter of the extents.  If not even the smallest fits, BEST is that.  Its plan is sought for in
 * brief. */
bool fit_smaller_batch(const FitQuestion *question, const FitTrial *refused, FitTrial *best);
bool fit_smaller_size(const FitQuestion *question, const FitTrial *refused, FitTrial *best);

/* A size below DEAR, an answer of fit_smaller_size(), at most so many per cent of whose work is computed
 * again: about the largest. */
bool fit_cheaper_size(const FitQuestion *question, const FitTrial *dear, double most, FitTrial *best);

/* The work of a step that is done again, in per cent. */
double fit_extra_work(const FitTrial *trial);

/* A `let` at the top of the file that sets how wide the network is: with half of its VALUE there are as
 * many operators and fewer parameters.  NULL if there is none. */
const char *fit_width(Pool *pool, const FitQuestion *question, int64_t *value);
/* Its largest value below VALUE that fits. */
bool fit_smaller_width(Pool *pool, const FitQuestion *question, const char *name, int64_t value,
                       const FitTrial *refused, FitTrial *best);

/* "512x768" */
const char *fit_size_text(Pool *pool, const int64_t size[AXES]);
/* By how much each axis is smaller in the smallest feature map: sizes are multiples of it.  Returns false,
 * with multiples of 1, where points leave their axis (`rearrange`): then only trying a size tells if it
 * will do. */
bool fit_multiples(const Graph *graph, int64_t by[AXES]);

#endif
