/* placement_search.h - the complete search behind place_buffers(). */
#ifndef PLACEMENT_SEARCH_H
#define PLACEMENT_SEARCH_H

#include "memory.h"
#include <stdbool.h>
#include <stdint.h>

/* A buffer in units of the alignment, alive in [first, last), of positive size. */
typedef struct {
    int64_t size, offset;
    int first, last;
    bool fixed;
} PlaceBox;

typedef enum { SEARCH_FOUND, SEARCH_IMPOSSIBLE, SEARCH_GAVE_UP } SearchAnswer;

/* Looks for offsets below CAPACITY, which is at least the lower bound, and writes them into BOX if it finds
 * them.  Gives up when *EFFORT, to which every node of the search adds one, passes LIMIT. */
SearchAnswer place_search(Pool *pool, PlaceBox *box, int count, int64_t capacity, int64_t limit,
                          int64_t *effort);

#endif
