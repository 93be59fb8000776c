/* costs.h - how long the CPU's kernels take. */
#ifndef CPU_COSTS_H
#define CPU_COSTS_H

#include "ir/plan.h"

/* Picoseconds that NODE takes for one micro-batch, by costs.def. */
int64_t cpu_picoseconds(const Program *program, const Node *node);

#endif
