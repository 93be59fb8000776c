/* emit_halo.h - the one call that no row of the operator table stands for: what zeroes the halo of an
 * output. */
#ifndef CPU_EMIT_HALO_H
#define CPU_EMIT_HALO_H

#include "emit/emit.h"

/* Writes zeros around an output V of NODE, whose readers look beyond its border. */
void cpu_emit_zero_halo(Emitter *e, const Program *program, const Node *node, ValueId v);

#endif
