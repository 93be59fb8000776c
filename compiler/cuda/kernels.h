/* kernels.h - what a GPU's kernels need beside their operands. */
#ifndef CUDA_KERNELS_H
#define CUDA_KERNELS_H

#include "ir/target.h"

extern const KernelRow cuda_kernels[OPS];

extern const struct BuildStep cuda_build; /* build.c */

/* Appends what brings the inputs into the arena, before NODE[0..NNODE), all nodes so far. */
void cuda_begin(Program *program, const Node *node, int nnode);

#endif
