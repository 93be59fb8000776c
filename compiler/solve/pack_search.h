/* pack_search.h - the search behind pack_buffers(). */
#ifndef PACK_SEARCH_H
#define PACK_SEARCH_H

#include "base/memory.h"
#include <stdbool.h>
#include <stdint.h>

/* A buffer in units of the alignment, alive in [first, last), of positive size. */
typedef struct {
    int64_t size, offset;
    int first, last;
    bool fixed;
} PackBox;

typedef enum { SEARCH_FOUND, SEARCH_IMPOSSIBLE, SEARCH_GAVE_UP } SearchAnswer;

/* How far searches may go, counted so that no result depends on a clock. */
typedef struct {
    int64_t nodes; /* visited so far */
    int64_t work;  /* left: a look at a set of boxes and of sections takes their numbers from it */
} SearchEffort;

/* Looks for offsets at which every box ends at or below CAPACITY, and writes them into BOX if it finds
 * them. Fixed boxes do not overlap.  All sums of sizes stay below 2^62.  Gives up after LIMIT nodes, or
 * when no work is left. */
SearchAnswer pack_search(Pool *pool, PackBox *box, int count, int64_t capacity, int64_t limit,
                         SearchEffort *effort);

#endif
