/* emit.h - the files generated for the cuda target. */
#ifndef CUDA_EMIT_H
#define CUDA_EMIT_H

#include "emit/sources.h"

void emit_cuda(const Plan *plan, Sources *sources);

#endif
