/* pack.h - offsets for buffers whose lifetimes are known.
 *
 * The problem is two-dimensional packing with fixed time intervals (offline dynamic storage allocation).
 * No arena is smaller than the largest number of bytes alive at one time.  pack.c says how this bound is
 * met.
 */
#ifndef PACK_H
#define PACK_H

#include "base/memory.h"
#include <stdbool.h>
#include <stdint.h>

typedef struct {
    int64_t size;    /* bytes, a multiple of the alignment of the problem */
    int first, last; /* alive in [first, last) */
    int64_t offset;  /* the answer; if `fixed`, the caller gives it */
    bool fixed;
} PackBuffer;

typedef struct {
    int64_t arena;       /* the end of the highest buffer */
    int64_t lower_bound; /* the maximum over time of the bytes alive */
    int64_t effort;      /* search nodes visited */
} PackResult;

/* The arena that is looked for, in bytes: the smallest, where all is 0. */
typedef struct {
    int64_t capacity; /* any arena of so many will do */
    int64_t enough;   /* the search ends early at an arena of so many, and looks for none in vain that needs
                         more: the arena that it finds there, it finds without this, too */
    bool brief;       /* a quarter of the effort: nobody uses the offsets, only the size of the arena */
    int64_t known; /* this problem had an arena of so many as its answer: nothing better is there to find */
} PackAim;

/* Chooses offsets, multiples of ALIGN, at which no two buffers alive at one time overlap.  Always writes
 * the best offsets it found; returns false if their arena is above the capacity.  Buffers of size 0 get
 * offset 0. Deterministic: effort is counted, not timed, so the same problem has the same answer. */
bool pack_buffers(Pool *pool, PackBuffer *buffer, int count, int64_t align, PackAim aim,
                  PackResult *result);

#endif
