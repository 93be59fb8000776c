/* remat.h - which tensors to compute again instead of keeping them, so that a step fits into a number of bytes.
 *
 * An operation reads tensors and writes tensors.  A schedule is a sequence of operations in which some occur more
 * than once; each occurrence begins a new life of the tensors it writes, and a life ends with its last reader
 * before the next one.  Sought is the schedule of least cost whose bytes alive never exceed a capacity.
 */
#ifndef REMAT_H
#define REMAT_H

#include "memory.h"
#include <stdbool.h>
#include <stdint.h>

typedef struct {
    int nread, nwrite;
    const int *read, *write; /* tensors */
    int64_t cost;            /* of running it once */
    int64_t scratch;         /* bytes it needs only while it runs */
    bool repeatable;         /* may run again: what it writes depends on what it reads alone */
    int in_place;            /* index in `read`: the first output may take that tensor's bytes if it dies here; -1 */
} RematOperation;

typedef struct {
    int noperation, ntensor;
    const RematOperation *operation; /* in an order in which they can run */
    const int64_t *bytes;            /* per tensor */
    const bool *kept;                /* per tensor: alive from its first write to the end (results) */
    const int64_t *deadline;         /* NULL, or reserved */
} RematProblem;

typedef struct {
    int length;
    const int *operation;     /* in order; a repeated one occurs several times */
    int64_t peak;             /* the most bytes alive at one time, as remat_peak() counts */
    int64_t cost;             /* of all occurrences */
    int64_t base_cost;        /* of each operation once */
    int64_t cost_lower_bound; /* no schedule within the capacity is cheaper */
    int64_t peak_lower_bound; /* no schedule at all needs less: the widest single operation */
    int64_t effort;           /* search moves: a count, so that results do not depend on the clock */
} RematSchedule;

/* Finds a schedule whose peak is at most CAPACITY.  EFFORT bounds the search (0: a default).  Returns false if none
 * was found; SCHEDULE is then the one of least peak that was seen.  Deterministic. */
bool remat_schedule(Pool *pool, const RematProblem *problem, int64_t capacity, int64_t effort,
                    RematSchedule *schedule);

/* The most bytes alive at one time when the operations run in this order; -1 if one reads what is not there. */
int64_t remat_peak(const RematProblem *problem, const int *operation, int length);

#endif
