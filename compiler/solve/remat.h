/* remat.h - rematerialisation: which tensors to compute again instead of keeping them.
 *
 * An operation reads tensors and writes tensors.  A schedule is a sequence of operations in which each
 * occurs once and some occur again; each occurrence begins a new life of the tensors it writes, and a life
 * ends with its last reader before the next one.  While an operation runs, everything it reads, everything
 * it writes and everything that is still needed later is alive.
 *
 * Find the cheapest schedule whose live bytes never exceed the capacity.  It may reorder the operations.
 */
#ifndef REMAT_H
#define REMAT_H

#include "base/memory.h"
#include <stdbool.h>
#include <stdint.h>

typedef struct {
    int nread, nwrite;
    const int *read, *write; /* tensors; each has one writer or none, which stands before its readers */
    int64_t cost;            /* of running it once */
    int64_t scratch;         /* bytes it needs only while it runs */
    bool repeatable;         /* may run again: what it writes depends on what it reads alone */
    int in_place;     /* index in `read`: the first output takes that tensor's bytes if they suffice and the
                         tensor dies here; -1 */
    const char *name; /* for people */
} RematOperation;

typedef struct {
    int noperation, ntensor;
    int nforward; /* the number of operations of the forward pass, which come first: for people */
    const RematOperation *operation; /* in an order in which they can run */
    const int64_t *bytes;            /* per tensor; one that no operation writes counts nothing */
    const bool *kept;                /* per tensor: alive from its first write to the end; NULL: none is */
} RematProblem;

/* If the bytes or the costs add up to more than this, peak and cost are INT64_MAX: nothing fits. */
#define REMAT_MAX_TOTAL (INT64_C(1) << 60)

typedef struct RematSchedule {
    int length;
    const int *operation;       /* in order; a repeated one occurs several times */
    int64_t peak;               /* the largest number of bytes alive at one time, as remat_peak() counts */
    int64_t cost;               /* of all occurrences */
    int64_t base_cost;          /* of every operation once */
    int64_t cost_lower_bound;   /* no schedule within the capacity is cheaper */
    int64_t peak_lower_bound;   /* no schedule at all needs less */
    int64_t effort;             /* of the search: counted, so that results do not depend on the clock */
    struct RematSchedule *next; /* the next schedule in the row of all that were found, or NULL */
    struct RematSchedule *beyond; /* set in the first schedule, if it is within the capacity: a row of
                                     schedules that need more and cost less, by rising peaks, or NULL */
} RematSchedule;

/* Answers that several threads may ask for: see remat_memo.h. */
typedef struct RematMemo RematMemo;

typedef struct {
    int64_t capacity;
    int64_t of_use; /* no schedule that needs more is of any use; 0 or less: all are */
    int64_t effort; /* bounds the search; 0: a default of about two seconds on two threads, */
    int64_t times;  /*   so many times; 0: once */
    bool any;       /* return the first schedule that fits, whatever it costs */
    bool brief;     /* end early: the schedule may cost some more, and there is no bound on costs */
    bool full;      /* do not end early, though nothing can fit */
    /* FULL: a problem that the answer serves, or NULL.  Its schedules are of use within OF_USE.  If nothing
     * comes near that, the search only looks for what needs least. */
    const RematProblem *serves;
    /* A problem of the same operations with other bytes and costs, or NULL.  Its schedules are measured in
     * this problem in place of a search.  So one search serves all problems of about the same proportions,
     * and all capacities of one problem. */
    const RematProblem *typical;
    bool closely;    /* where none of that fits, but nearly does, search here, too */
    RematMemo *memo; /* where that is looked up, or NULL */
} RematQuestion;

/* Finds the cheapest schedule whose peak is within the capacity: the given order if it fits, else by a
 * search that is the same for every capacity.  `next` leads to other schedules within the capacity, by
 * rising cost; the schedule of the least peak is among them.  Returns false if no schedule fits.  SCHEDULE
 * is then the one of the least peak, and `next` leads to schedules that need more.  POOL owns the
 * schedules.  The result depends on the arguments alone, not on the clock or the number of processors. */
bool remat_schedule(Pool *pool, const RematProblem *problem, const RematQuestion *question,
                    RematSchedule *schedule);

/* Returns a copy of PROBLEM without names, and a copy of SCHEDULE without the row behind it.  The copies do
 * not point into the originals. */
RematProblem *remat_problem_copy(Pool *pool, const RematProblem *problem);
RematSchedule *remat_schedule_copy(Pool *pool, const RematSchedule *schedule);

/* Returns a row of all schedules that a full search keeps.  BRIEF: the search is the one for any schedule
 * that fits, and goes on to its end.  TIMES: as in a question. */
const RematSchedule *remat_schedules(Pool *pool, const RematProblem *problem, bool brief, int64_t times);

/* Returns whether A and B have the same operations on the same tensors; AMOUNTS: with the same bytes and
 * costs. */
bool remat_alike(const RematProblem *a, const RematProblem *b, bool amounts);

/* No schedule within CAPACITY is cheaper; INT64_MAX: there is none. */
int64_t remat_cost_lower_bound(Pool *pool, const RematProblem *problem, int64_t capacity);

/* Returns the peak, the largest number of bytes alive at one time, of the operations in this order; -1 if
 * an operation reads a tensor before it is written. */
int64_t remat_peak(Pool *pool, const RematProblem *problem, const int *operation, int length);

#endif
