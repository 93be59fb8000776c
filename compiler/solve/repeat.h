/* repeat.h - which operations a loop over bands of rows runs again.
 *
 * In such a loop a tensor takes memory for the rows from its first reader to its last one.  If the forward
 * pass reads a tensor at once, and the backward pass much later, it costs few rows twice when it is made
 * again just before:
 *
 *     enc1 = conv(x)   ...   d = f(enc1)   ...   g = h(enc1)                   100 rows of enc1
 *     enc1 = conv(x)   ...   d = f(enc1)   ...   enc1' = conv(x), g = h(enc1')  10 rows, and 10 more
 *
 * The first activation of each level of a U-Net is such a tensor, for it comes from an input or a pooled
 * tensor that is kept in any case.  Then the tensors made of it are.
 *
 * How far operations lag behind each other is told in positions.  A row of the tallest tensor has
 * REPEAT_POSITIONS, and a row of a tensor half as high twice as many.
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

/* Returns the given order; `next` leads to schedules that need less and cost more.  Each repeats all that
 * the one before does, and one move more.  `peak` is an estimate, which counts the rows of rings.  POOL
 * owns the schedules.  The result depends on PROBLEM alone. */
RematSchedule *repeat_in_bands(Pool *pool, const RepeatProblem *problem);

#endif
