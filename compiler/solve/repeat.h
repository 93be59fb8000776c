/* repeat.h - which operations a loop over bands of rows runs again.
 *
 * There a tensor takes memory for the rows from its first reader to its last one. One that the forward pass
 * reads at once, and the backward pass much later, costs few rows twice if it is made again just before:
 * the first activation of each level of a U-Net, from an input or a pooled tensor, which are kept in any
 * case.
 */
#ifndef REPEAT_H
#define REPEAT_H

#include "solve/remat.h"

/* Repeats those that save most bytes for their cost, which are at most PERMILLE of all; maybe none.  POOL
 * owns the schedule; its `peak` is that of whole tensors. */
const RematSchedule *repeat_in_bands(Pool *pool, const RematProblem *problem, int64_t permille);

#endif
