/* remat_order.h - a sequence of operations: what it needs and costs, and what a change makes of that. */
#ifndef REMAT_ORDER_H
#define REMAT_ORDER_H

#include "solve/remat_graph.h"

/* Sums over operations in a row. */
typedef struct {
    int64_t cost, peak;
    double excess; /* the sum over them of the bytes beyond the capacity */
} RematTotals;

/* A moment of a sequence that was measured: number k is in front of position k. */
typedef struct {
    RematTotals before, behind;
    int64_t bytes;  /* alive now */
    int64_t during; /* and while the next operation runs */
    int turns;      /* from the end of the sequence to here */
    uint64_t key;   /* of the tensors that are alive */
} RematMoment;

typedef struct {
    int length, room; /* operations that there are, and may be */
    int *operation;
    int *first; /* per operation: its first position */
    RematTotals totals;
    RematMoment *moment;  /* one more than operations */
    int *turn;            /* from the end on: a tensor that comes to life, or whose life is over */
    int stride, records;  /* a record is taken of the first moment, and about every so many turns: */
    bool *record;         /*   per tensor, whether it is alive, */
    int *recorded;        /*   and after how many turns that is */
    bool *alive, *marked; /* scratch: per tensor, per operation; the latter is false between calls */
} RematOrder;

/* Room for the longest; empty. */
RematOrder remat_order(Pool *pool, const RematGraph *graph);

/* TO gets the operations of FROM, and nothing else. */
void remat_copy_operations(RematOrder *to, const RematOrder *from);

/* Fills in all but the operations.  Occurrences that nobody reads are dropped where the operation occurs
 * elsewhere.  Returns false if something is read before it is written. */
bool remat_measure(const RematGraph *graph, int64_t capacity, RematOrder *order);

/* The totals that remat_measure() would find for ORDER, without what else it does.  KNOWN is an order that
 * it has measured: the more the two have in common, the less is looked at. */
bool remat_measure_change(const RematGraph *graph, int64_t capacity, const RematOrder *known,
                          RematOrder *order);

/* Per tensor: is it ALIVE at number MOMENT of MEASURED? */
void remat_find_alive(const RematGraph *graph, const RematOrder *measured, int moment, bool *alive);

#endif
