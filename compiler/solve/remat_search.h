/* remat_search.h - one search for schedules: simulated annealing over sequences of operations. */
#ifndef REMAT_SEARCH_H
#define REMAT_SEARCH_H

#include "solve/remat_front.h"

/* Runs differ by the capacity at which they begin. */
enum { REMAT_RUNS = 12 };

typedef struct RematSearch RematSearch;

/* Begins a search for AIM.  Its caller decides on the effort.  All orders that it meets go to FRONT.
 * Searches of different NUMBER draw different random numbers. */
RematSearch *remat_search_new(Pool *pool, const RematGraph *graph, const RematAim *aim, RematFront *front,
                              int number);

/* Anneals from the capacity of the given order down to capacities that no order fits. */
void remat_search_descend(RematSearch *search, int64_t effort);

/* Anneals from the first capacity of run number R down to the least and back, with so much EFFORT at each
 * capacity.  Does nothing if many runs before found nothing. */
void remat_search_run(RematSearch *search, int r, int64_t effort);

/* Returns the number of capacities that runs BEGIN to END visit. */
int64_t remat_search_rounds(const RematSearch *search, int begin, int end);

/* Starts from orders of the front, until so much EFFORT is spent or many starts found nothing.  CHEAPLY:
 * half of the starts are at capacities at which little is computed again. */
void remat_search_improve(RematSearch *search, int64_t effort, bool cheaply);

/* Returns the effort of one start from an order so long. */
int64_t remat_search_start(int length);

/* Returns the effort so far. */
int64_t remat_search_effort(const RematSearch *search);

#endif
