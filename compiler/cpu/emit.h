/* emit.h - the files generated for the cpu target. */
#ifndef CPU_EMIT_H
#define CPU_EMIT_H

#include "emit/sources.h"

void emit_cpu(const Plan *plan, Sources *sources);

#endif
