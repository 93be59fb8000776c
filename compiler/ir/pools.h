/* pools.h - what a max_pool writes down for its gradient. */
#ifndef POOLS_H
#define POOLS_H

#include "ir/graph.h"

/* The max_pool that has the window and the input of NODE, which takes part in its gradient or undoes it; or
 * -1. */
NodeId pool_of(const Graph *g, const Node *node);
/* Bits of a byte that tells of a window of 2x2 points where its maximum is, and, from bit 4 on, which of
 * its points are above zero. */
enum { MARK_BITS = 8 };
/* NODE pools X to Y, or is the gradient of that: do its windows, of 2x2 points, lie side by side and cover
 * all of X? */
bool has_cells(const Graph *g, const Node *node, ValueId x, ValueId y);
/* The same, or all of X but for a last row, a last column or both? */
bool has_windows_of_four(const Graph *g, const Node *node, ValueId x, ValueId y);
/* Does NODE know where the maxima of a pool were, if that has windows of four?  Then it need not read the
 * pool's input. */
bool knows_maxima(const Graph *g, const Node *node);
/* Has POOL keep the taps at which it finds its maxima as an output: so many BITS for each, in so many
 * bytes, CHANNELS, for each window. */
ValueId keep_argmax(Graph *g, NodeId pool, int64_t channels, int bits);

#endif
