/* operators.h - between lower_call.c, which evaluates calls, and operators.c, which builds their nodes. */
#ifndef OPERATORS_H
#define OPERATORS_H

#include "ir/model.h"

typedef struct Call Call; /* one call of an operator, its arguments bound to the names of the signature */

/* A build rule appends the nodes of one call and returns the resulting value, or -1 after reporting why
 * not. */
typedef ValueId BuildRule(Call *call);

#define OP(id, name, signature, build, ...) BuildRule build_##build;
#include "ir/ops.def"
#undef OP

/* The column `build` of the operator table: how each operator is built from its call. */
extern BuildRule *const build_rules[OPS];

#endif
