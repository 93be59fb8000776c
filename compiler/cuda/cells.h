/* cells.h - transposed convolutions by a kernel of ours (templates/cuda/upconv_cells.cu), not by cuDNN. */
#ifndef CUDA_CELLS_H
#define CUDA_CELLS_H

#include "ir/plan.h"

/* Whether that kernel computes NODE, a transposed convolution: it can, and --upconv or the model says so.
 */
bool cuda_makes_cells(const Program *program, const Node *node);

#endif
