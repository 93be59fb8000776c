/* kernels.h - what the CPU's kernels need beside their operands. */
#ifndef CPU_KERNELS_H
#define CPU_KERNELS_H

#include "ir/target.h"

/* Channels of a feature map are stored in blocks of so many; an image of few is stored as it is. */
enum { CPU_BLOCK = 16, CPU_NARROW = 4 };

/* Nodes in front of all others. */
void cpu_begin(Program *program, const Node *node, int nnode);

extern const KernelRow cpu_kernels[OPS];

#endif
