/* ops.h - the operator table (ops.def) as the passes see it. */
#ifndef OPS_H
#define OPS_H

#include "build.h"
#include "ir.h"

typedef struct Emission Emission;

/* DOUT: gradients of the outputs (-1: none flows).  Fills DIN, one per input, with the gradients (-1: none);
 * the gradient of a whole is a whole. */
typedef void GradientRule(Graph *g, const Node *node, const ValueId *dout, ValueId *din);
typedef int64_t FlopsRule(const Graph *g, const Node *node);
/* Writes the constants and layouts that the kernel's template names. */
typedef void SizesRule(Emission *e, const Node *node);

typedef struct {
    const char *name;
    const char *signature;
    BuildRule *build;
    GradientRule *gradient;
    FlopsRule *flops;
    int in_place;
    SizesRule *sizes;
} OpRow;

extern const OpRow op_table[OPS];

/* The operator a user calls NAME, or OPS. */
Op op_by_name(const char *name);

#endif
