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

/* What is kept of a plan that was tried. */
typedef struct {
    bool legal; /* the file has no errors under these options */
    bool fits;
    int64_t batch, size[AXES]; /* of the first program; axes that the file does not have are 0 */
    int64_t arena, beside;
    int64_t flops, recompute_flops;
    int64_t micro_batches;
    int64_t candidate; /* the batch, or the value of a `let`, if that was what varied */
} FitTrial;

FitTrial fit_try(const FitQuestion *question);

/* The largest batch, or size of the same aspect ratio, that fits; every smaller one does too.  The search
 * begins at FROM, which is known to fit, or, where that is NULL, at the smallest.  Returns false if not
 * even that fits: BEST is then the smallest.  NEXT (or NULL) receives the one above BEST, not legal if
 * there is none. */
bool fit_largest_batch(const FitQuestion *question, const FitTrial *from, FitTrial *best, FitTrial *next);
bool fit_largest_size(const FitQuestion *question, const FitTrial *from, FitTrial *best, FitTrial *next);

/* The largest smaller value of a `let` at the top of the file that sets how wide the network is: with
 * fewer, there are as many operators and fewer parameters.  False if there is none, or nothing smaller
 * fits. */
bool fit_smaller_width(Pool *pool, const FitQuestion *question, const char **name, FitTrial *best);

/* "512x768" */
const char *fit_size_text(Pool *pool, const int64_t size[AXES]);
/* By how much each axis is smaller in the smallest feature map: sizes are multiples of it. */
void fit_multiples(const Graph *graph, int64_t by[AXES]);

#endif
