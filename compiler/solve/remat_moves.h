/* remat_moves.h - how the search changes a sequence of operations. */
#ifndef REMAT_MOVES_H
#define REMAT_MOVES_H

#include "solve/remat_order.h"

typedef struct {
    const RematGraph *graph;
    uint64_t random;     /* the state of the generator */
    const int *repeated; /* positions in the order at which an operation occurs that has occurred before */
    int nrepeated;
    const RematOrder *measured; /* the order that is changed, as it was before */
    bool *needed;               /* scratch: per tensor */
    bool *marked;               /* scratch: per operation; false between calls */
    bool certain; /* nothing is left to chance: what a recomputed operation reads is recomputed if it is
                     dead */
} RematMoves;

/* Changes ORDER at random; returns false if the move is not possible.  An operation may then read a tensor
 * before it is written: remat_measure() tells. */
bool remat_move(RematMoves *moves, RematOrder *order);

/* Frees TENSOR behind position WIDE of the measured order, where it is alive, and recomputes it in front of
 * its next reader; false if WIDE touches it or nothing came of it. */
bool remat_drop(RematMoves *moves, RematOrder *order, int wide, int tensor);

double remat_random(RematMoves *moves); /* in (0, 1] */

#endif
