/* costs.h - how long a step takes on a card, as far as data sheets tell. */
#ifndef CUDA_COSTS_H
#define CUDA_COSTS_H

#include "ir/plan.h"

/* Picoseconds of NODE for one micro-batch, without what each launch costs. */
int64_t cuda_picoseconds(const Program *program, const Node *node);

#endif
