/* placement.h - offsets for buffers whose lifetimes are known.
 *
 * The problem is two-dimensional packing with fixed time intervals (offline dynamic storage allocation).
 * The lower bound is the largest number of bytes alive at one time; see placement.c for the search that
 * meets it.
 */
#ifndef PLACEMENT_H
#define PLACEMENT_H

#include "memory.h"
#include <stdbool.h>
#include <stdint.h>

typedef struct {
    int64_t size;    /* bytes, a multiple of the alignment of the problem */
    int first, last; /* alive in [first, last) */
    int64_t offset;  /* the answer; given beforehand if `fixed` */
    bool fixed;
} PlaceBuffer;

typedef struct {
    int64_t arena;       /* the end of the highest buffer */
    int64_t lower_bound; /* the maximum over time of the bytes alive */
    int64_t effort;      /* search nodes visited: a count, so that results do not depend on the clock */
} PlaceResult;

/* Chooses offsets, multiples of ALIGN, so that no two buffers alive at one time overlap, with an arena as
 * small as can be found: the lower bound first, then a fallback that always answers.  CAPACITY > 0: any
 * arena of at most that many bytes will do; returns false if none was found (offsets are then those of the
 * best arena). Deterministic: the same problem has the same answer.  Buffers of size 0 get offset 0. */
bool place_buffers(Pool *pool, PlaceBuffer *buffer, int count, int64_t align, int64_t capacity,
                   PlaceResult *result);

#endif
