/* remat_order.h - a sequence of operations: what it needs and costs, and what a change makes of that. */
#ifndef REMAT_ORDER_H
#define REMAT_ORDER_H

#include "solve/remat_graph.h"

/* Of some operations in a row. */
typedef struct {
    int64_t cost, peak;
    double excess; /* the sum over them of the bytes beyond the capacity */
} RematTotals;

/* A moment of a sequence that was measured: number k is in front of position k. */
typedef struct {
    RematTotals before, behind;
    int64_t bytes;  /* alive now */
    int64_t during; /* and while the next operation runs */
} RematMoment;

typedef struct {
    int length, room; /* operations that there are, and may be */
    int *operation;
    int *first; /* per operation: its first position */
    RematTotals totals;
    RematMoment *moment; /* one more than operations */
    bool *alive;         /* per moment, per tensor; and room for one moment more */
} RematOrder;

/* Room for the longest; empty. */
RematOrder remat_order(Pool *pool, const RematGraph *graph);

/* Fills in all but the operations.  Occurrences that nobody reads are dropped where the operation occurs
 * elsewhere.  Returns false if something is read before it is written. */
bool remat_measure(const RematGraph *graph, int64_t capacity, RematOrder *order);

/* The totals that remat_measure() would find for ORDER, without what else it does.  KNOWN is an order that
 * it has measured: the more the two have in common, the less is looked at. */
bool remat_measure_change(const RematGraph *graph, int64_t capacity, const RematOrder *known,
                          RematOrder *order);

static inline bool remat_is_alive(const RematGraph *graph, const RematOrder *measured, int moment,
                                  int tensor) {
    return measured->alive[(size_t)moment * (size_t)graph->ntensor + (size_t)tensor];
}

#endif
