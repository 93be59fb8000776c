/* build.h - between lower.c, which evaluates calls, and build.c, which knows the operators. */
#ifndef BUILD_H
#define BUILD_H

#include "ir.h"

typedef struct Call Call; /* one call of an operator, its arguments bound to the names of the signature */

/* A build rule appends the nodes of one call and returns the resulting value, or -1 after reporting why
 * not. */
typedef ValueId BuildRule(Call *call);

#define OP(id, name, signature, build, ...) BuildRule build_##build;
#include "ops.def"
#undef OP

#endif
