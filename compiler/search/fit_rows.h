/* fit_rows.h - for each amount of memory the largest batch or size: the answers that `unetc fit` prints. */
#ifndef FIT_ROWS_H
#define FIT_ROWS_H

#include "search/fit.h"

typedef struct {
    int64_t memory;
    bool found;
    FitTrial best, next; /* not found: the smallest, and nothing */
    bool found_loops;
    FitTrial loops; /* the largest batch when samples may be trained a few at a time */
} FitRow;

/* The largest batch or size for the budget of the question, or, when it has none, for each usual card;
 * returns how many rows.  TRAINS: the batches train, and a row tells the largest with loops
 * over samples as well, where --micro-batches allows them; unless that is wanted IN_FULL, of its trial only
 * the batch is right. */
int fit_rows(Pool *pool, const FitQuestion *question, FitMax max, bool trains, bool in_full, FitRow **row);

#endif
