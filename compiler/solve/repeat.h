/* repeat.h - which operations a loop over bands of rows runs again.
 *
 * There a tensor takes memory for the rows from its first reader to its last one. One that the forward pass
 * reads at once, and the backward pass much later, costs few rows twice if it is made again just before:
 *
 *     enc1 = conv(x)   ...   d = f(enc1)   ...   g = h(enc1)                   100 rows of enc1
 *     enc1 = conv(x)   ...   d = f(enc1)   ...   enc1' = conv(x), g = h(enc1')  10 rows, and 10 more
 *
 * So it is with the first activation of each level of a U-Net, which comes from an input or a pooled tensor
 * that is kept in any case, and then with what is made of that.
 *
 * How far operations lag behind each other is told in positions, of which a row of the tallest tensor has
 * REPEAT_POSITIONS, and one of a tensor half as high twice as many.
 */
#ifndef REPEAT_H
#define REPEAT_H

#include "solve/remat.h"

enum { REPEAT_POSITIONS = 64 };

/* Beyond those positions that it computes, an operation reads so many of a tensor. */
typedef struct {
    int64_t above, below;
} RepeatWindow;

/* How an operation goes over rows. */
typedef struct {
    int loop;                   /* the loop over bands that it is in, -1: none */
    int64_t pitch;              /* in a loop: it lags by a multiple of so many positions */
    const RepeatWindow *window; /* in a loop: per tensor that it reads */
} RepeatRows;

typedef struct {
    const RematProblem *problem;
    const RepeatRows *rows; /* per operation */
    int64_t height;         /* positions of a whole tensor, */
    int64_t band;           /*   and of a band */
} RepeatProblem;

/* The given order; behind it, `next` leads to those that need less and cost more: each runs again what the
 * one before does, and beside it what then saves most bytes for its cost. `peak` is an estimate: where a
 * tensor is a ring, it counts the rows of that.  POOL owns the schedules.  Deterministic. */
RematSchedule *repeat_in_bands(Pool *pool, const RepeatProblem *problem);

#endif
