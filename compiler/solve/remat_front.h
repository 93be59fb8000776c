/* remat_front.h - the cheapest orders that a search has met, one for each of many amounts of memory.
 *
 * The amounts depend on the problem alone.  So whatever the capacity that was asked for, the same orders
 * compete, and with more of it only more of them do.
 */
#ifndef REMAT_FRONT_H
#define REMAT_FRONT_H

#include "solve/remat_order.h"

/* The operations of an order, which is the best at several limits, as a rule. */
typedef struct RematSequence {
    int uses, room;
    int *operation;
    struct RematSequence *next; /* in the list of unused sequences */
} RematSequence;

/* The memory of a front and of its copies. */
typedef struct {
    Pool *pool;
    RematSequence *unused;
} RematKeep;

/* The totals of an order, and its operations. */
typedef struct {
    int length; /* 0: there is none */
    RematTotals totals;
    RematSequence *sequence;
} RematKept;

typedef struct RematFront {
    RematKeep *keep;
    int per_mille; /* between two limits */
    int count;
    int64_t *limit;   /* rising */
    RematKept *order; /* per limit: the cheapest that needs no more */
    RematKept least;  /* the order that needs least */
    int64_t changes;
    struct RematFront
        *early; /* the front at the end of a brief search, or the orders met before; or NULL */
} RematFront;

/* For limits from LEAST to MOST, about PER_MILLE apart. */
RematFront *remat_front(Pool *pool, int64_t least, int64_t most, int per_mille);

/* FRONT as it is now. */
RematFront *remat_front_copy(const RematFront *front);

void remat_front_add(RematFront *front, const RematOrder *order);
/* Adds an order of another front that has the same `keep`. */
void remat_front_add_kept(RematFront *front, const RematKept *kept);
/* Adds all orders of OTHER, which may have another `keep`. */
void remat_front_learn(RematFront *front, const RematFront *other);

/* The number of the cheapest order within CAPACITY, or -1. */
int remat_front_within(const RematFront *front, int64_t capacity);

#endif
