/* remat.h - which tensors to compute again instead of keeping them, so that a step fits into a number of
 * bytes.
 *
 * An operation reads tensors and writes tensors.  A schedule is a sequence of operations in which each
 * occurs once and some occur again; each occurrence begins a new life of the tensors it writes, and a life
 * ends with its last reader before the next one.  While an operation runs, everything it reads, everything
 * it writes and everything that is still needed later is alive.  Sought is the schedule of least cost whose
 * bytes alive never exceed a capacity; it may order the operations anew.
 */
#ifndef REMAT_H
#define REMAT_H

#include "memory.h"
#include <stdbool.h>
#include <stdint.h>

typedef struct {
    int nread, nwrite;
    const int *read, *write; /* tensors; one is written by at most one operation, before it is read */
    int64_t cost;            /* of running it once */
    int64_t scratch;         /* bytes it needs only while it runs */
    bool repeatable;         /* may run again: what it writes depends on what it reads alone */
    int in_place;     /* index in `read`: the first output takes that tensor's bytes if they suffice and the
                         tensor dies here; -1 */
    const char *name; /* for people */
} RematOperation;

typedef struct {
    int noperation, ntensor;
    int nforward;                    /* the first so many are the forward pass: for people */
    const RematOperation *operation; /* in an order in which they can run */
    const int64_t *bytes;            /* per tensor; nothing is counted for one that no operation writes */
    const bool *kept;                /* per tensor: alive from its first write to the end; NULL: none is */
} RematProblem;

/* Of a problem whose bytes or costs add up to more, peak and cost are INT64_MAX: it fits nowhere. */
#define REMAT_LARGEST_TOTAL (INT64_C(1) << 60)

typedef struct RematSchedule {
    int length;
    const int *operation;     /* in order; a repeated one occurs several times */
    int64_t peak;             /* the most bytes alive at one time, as remat_peak() counts */
    int64_t cost;             /* of all occurrences */
    int64_t base_cost;        /* of each operation once */
    int64_t cost_lower_bound; /* no schedule within the capacity is cheaper */
    int64_t peak_lower_bound; /* no schedule at all needs less */
    int64_t effort;           /* of the search: a count, so that results do not depend on the clock */
    const struct RematSchedule *other; /* another one, which may pack better, or NULL */
} RematSchedule;

typedef struct {
    int64_t capacity;
    int64_t effort; /* bounds the search; 0: a default of less than a second */
    bool any;       /* the first schedule that fits will do, however dear */
} RematQuestion;

/* Finds a schedule whose peak is at most the capacity: at once if the given order has that, else by a
 * search. Returns false if none was found; SCHEDULE is then the one of least peak that was found.
 * Deterministic. */
bool remat_schedule(Pool *pool, const RematProblem *problem, const RematQuestion *question,
                    RematSchedule *schedule);

/* No schedule of at most CAPACITY bytes is cheaper. */
int64_t remat_cost_lower_bound(Pool *pool, const RematProblem *problem, int64_t capacity);

/* The most bytes alive at one time when the operations run in this order; -1 if one reads what is not
 * there. */
int64_t remat_peak(Pool *pool, const RematProblem *problem, const int *operation, int length);

#endif
