/* remat_search.h - one search for schedules: simulated annealing over sequences of operations. */
#ifndef REMAT_SEARCH_H
#define REMAT_SEARCH_H

#include "solve/remat_front.h"

/* Runs differ by the capacity at which they begin. */
enum { REMAT_RUNS = 12 };

typedef struct RematSearch RematSearch;

/* A search for what AIM says, whose effort is its caller's to give.  What it meets goes to FRONT.  Searches
 * of different NUMBER draw different random numbers. */
RematSearch *remat_search_new(Pool *pool, const RematGraph *graph, const RematAim *aim, RematFront *front,
                              int number);

/* From where the given order fits down to where nothing fits any more. */
void remat_search_descend(RematSearch *search, int64_t effort);

/* Down from where run number R begins to the least capacity, and back; nothing if that is in vain.  A
 * round, of which a run has one for each capacity, has so much EFFORT. */
void remat_search_run(RematSearch *search, int r, int64_t effort);

/* The rounds of all runs. */
int64_t remat_search_rounds(const RematSearch *search);

/* Makes orders of the front better, until so much EFFORT is spent or many starts found nothing.  CHEAPLY:
 * those at which little is computed again, too. */
void remat_search_improve(RematSearch *search, int64_t effort, bool cheaply);

/* The effort of one start of that, of an order so long. */
int64_t remat_search_start(int length);

/* The effort so far. */
int64_t remat_search_effort(const RematSearch *search);

#endif
