/* ops.h - the operator table (ops.def) as the passes see it. */
#ifndef OPS_H
#define OPS_H

#include "build.h"
#include "ir.h"

typedef struct Autodiff Autodiff;   /* autodiff.h */
typedef struct Constants Constants; /* emit.h */

/* Appends the nodes that compute the gradients by the inputs of NODE, given those by its outputs (DOUT, -1:
 * none flows).  Fills DIN, one per input (-1: none is wanted or none exists); the gradient of a whole is a
 * whole. */
typedef void GradientRule(Autodiff *ad, const Node *node, const ValueId *dout, ValueId *din);

/* Floating point operations of one sample, or of the whole node when it does not work per sample. */
typedef int64_t FlopsRule(const Graph *g, const Node *node);

/* How far beyond the points of input number INPUT its reader reaches, in points, per axis. */
typedef void ReachRule(const Graph *g, const Node *node, int input, int64_t before[AXES],
                       int64_t after[AXES]);

/* Gives the constants that the templates of the operator name. */
typedef void SizesRule(Constants *c, const Node *node);

/* Gives a node what a target's kernel needs beside its operands: nodes in front of it, scratch behind its
 * outputs. */
struct PlanOptions;
typedef void PrepareRule(Graph *g, Node *node, int64_t batch, const struct PlanOptions *options);

/* Marks what PyTorch keeps for the backward pass of NODE. */
typedef struct Eager Eager; /* report_eager.c */
typedef void EagerRule(Eager *e, const Node *node);

typedef struct {
    const char *name;
    const char *signature;
    BuildRule *build;
    GradientRule *gradient;
    FlopsRule *flops;
    ReachRule *reach;
    int in_place;
    SizesRule *sizes;
    PrepareRule *cpu, *cuda;
    EagerRule *eager;
} OpRow;

extern const OpRow op_table[OPS];

/* op_update.c: in the gradients of all parameters, input 1 of NODE. */
int64_t gradient_numbers(const Graph *g, const Node *node);

/* The operator a user calls NAME, or OPS. */
Op op_by_name(const char *name);

#define OP(id, name, signature, build, gradient, flops, reach, in_place, sizes, cpu, cuda, eager)          \
    GradientRule gradient_##gradient;                                                                      \
    FlopsRule flops_##flops;                                                                               \
    ReachRule reach_##reach;                                                                               \
    SizesRule sizes_##sizes;                                                                               \
    PrepareRule cpu_##cpu;                                                                                 \
    PrepareRule cuda_##cuda;                                                                               \
    EagerRule eager_##eager;
#include "ops.def"
#undef OP

#endif
