/* ops.h - the operator table (ops.def) as the passes see it.
 *
 * Each column that another room knows more about is read there, by a macro of its own over the same rows:
 * front/operators.c takes `build`, search/eager.c takes `eager`.
 */
#ifndef OPS_H
#define OPS_H

#include "ir/graph.h"

typedef struct Autodiff Autodiff;   /* ir/rule_gradient.h */
typedef struct Constants Constants; /* ir/rule_constants.h */
typedef struct Fuse Fuse;           /* ir/rule_fuse.h */

/* Facts that passes need to know of an operator beside its operands. */
enum {
    TRAIT_DOWN = 1,           /* its window's stride makes a feature map smaller, */
    TRAIT_UP = 2,             /*   or larger */
    TRAIT_MEASURES = 4,       /* reads inputs and targets as the loader left them */
    TRAIT_MORE_IS_BETTER = 8, /* a metric that cannot be a loss */
    TRAIT_SCALED = 16,  /* gradients begin here: multiplied by its input `scale`, the scale of the loss */
    TRAIT_UPDATES = 32, /* the optimiser's step */
    TRAIT_OF_RUNTIME = 64,     /* no kernel: the runtime does it before or after the steps, */
    TRAIT_LOADS = 128,         /*   before them */
    TRAIT_ENDS_SUMS = 256,     /* reads sums over all rows: comes behind a loop over bands */
    TRAIT_WEIGHTS = 512,       /* a call of it may have weights, so it has a name in the state dict */
    TRAIT_WHOLE_BATCH = 1024,  /* its results depend on all samples of the batch at once */
    TRAIT_OF_TRAINING = 2048,  /* elsewhere its output is its input */
    TRAIT_CLASSES = 4096,      /* chooses a class at each point */
    TRAIT_IN_ITERATION = 8192, /* of a loop over samples, though it is not per sample */
    TRAIT_AGAIN = 16384,       /* of volumes it runs again for the backward pass (passes/renormalise.c) */
    TRAIT_OF_RANKS = 32768,    /* training by ranks has it (passes/groups.c) */
    TRAIT_MERGES = 65536,      /* waits for all samples of a step, in all processes */
    TRAIT_CALLS = 131072,      /* a way to call another operator: no node has it */
};

/* Appends the nodes that compute the gradients by the inputs of NODE, given those by its outputs (DOUT, -1:
 * none flows).  Fills DIN, one per input (-1: none is wanted or none exists); the gradient of a concat is a
 * concat. */
typedef void GradientRule(Autodiff *ad, const Node *node, const ValueId *dout, ValueId *din);

/* Floating point operations of one sample, or of the whole node when it does not work per sample. */
typedef int64_t FlopsRule(const Graph *g, const Node *node);

/* How far beyond the points of input number INPUT its reader reaches, in points, per axis. */
typedef void HaloRule(const Graph *g, const Node *node, int input, int64_t before[AXES],
                      int64_t after[AXES]);

/* The rows of input number INPUT that the rows OUT of the first output are computed from; some may lie
 * outside of the tensor.  That is along axis 1; along axis 2 of an image they are columns. */
typedef RowRange RowsRule(const Graph *g, const Node *node, int input, int axis, RowRange out);

/* Gives the constants that the templates of the operator name. */
typedef void ConstantsRule(Constants *c, const Node *node);

/* Joins NODE with another if one kernel can do both. */
typedef void FuseRule(Fuse *f, Node *node);

typedef struct {
    const char *name;
    const char *signature;
    const char *operands; /* parsed in Graph.operands */
    AttributesKind attributes;
    unsigned traits;
    GradientRule *gradient;
    FlopsRule *flops;
    HaloRule *halo;
    RowsRule *rows;
    ConstantsRule *constants;
    FuseRule *fuse;
} OpRow;

extern const OpRow op_table[OPS];
/* kernels.def: the kernel is an instance of this template; NULL: it has a template of its own. */
extern const char *const shared_kernel[OPS];

/* The operator a user calls NAME, or OPS. */
Op op_by_name(const char *name);
bool has_trait(const Node *node, unsigned trait);
/* The first node of G that sees the whole batch, so that there is no loop over samples; or NULL. */
const Node *whole_batch_node(const Graph *g);
/* Returns the first node with TRAIT_MERGES, or NULL: no sample waits for another group. */
const Node *merging_node(const Graph *g);
/* The first of the optimiser's COUNT nodes, which stand side by side (passes/parts.c); -1: there is none.
 */
NodeId first_update(const Graph *g, int *count);
/* Does a step read all gradients before the first parameter is updated: their norm, a scale of losses? */
bool updates_wait(const Graph *g);
/* "conv", "conv + max_pool": all that NODE does. */
const char *node_operator(Pool *pool, const Node *node);
/* The rows of a feature map: depth * height. */
int64_t shape_rows(Shape shape);
/* These, along axis 1; along another its extent. */
int64_t points_along(Shape shape, int axis);
/* Can NODE compute a range of rows, by the kernel that the target has chosen? */
bool computes_rows(const Node *node);
/* The tensor whose rows such a range counts: the first output, or, of sums over rows, an input.  -1: none.
 */
ValueId rows_value(const Graph *g, const Node *node);
/* Does NODE sum over rows? */
bool sums_rows(const Graph *g, const Node *node);

/* op_map.c: the function of an operator that has no numbers of its own. */
UnetFunction plain_function(Op op);

/* op_norm.c: the numbers of a channel that NODE sums over the points: mean and squares, or the sums of dy,
 * of products with x and, if slopes are learnt, of products below zero. */
int norm_numbers(const Node *node);

/* op_runtime.c: the runtime loads V into the arena, in front of the steps; */
void load_value(Graph *g, ValueId v);
/*   and each input that one of NODE[0..NNODE) reads; */
void load_inputs(Graph *g, const Node *node, int nnode);
/*   it takes V out of the arena, behind them. */
void store_value(Graph *g, ValueId v);

/* op_scale.c: the rows of the table of an `embedding` whose numbers an operator makes; else 0. */
int64_t named_rows(const Graph *g, const Node *node);

/* op_attention.c: the points of MAP, of queries or keys, in a window; */
int64_t attention_window_points(const Node *node, Shape map);
/*   the extent of the windows into which NODE cuts a map, or 1: extents of the map are multiples of it. */
int64_t window_multiple(const Node *node, int axis);

/* op_compress.c: the shape of a tensor X in codes of so many bits, which are bytes (unet/groups.h); */
Shape compressed_shape(Shape x, int64_t bits);
/*   a node in the name of PRODUCER that makes CODES of X, or X of CODES; */
NodeId compress_new(Graph *g, const Node *producer, Attributes a, ValueId x, ValueId codes);
NodeId decompress_new(Graph *g, const Node *producer, Attributes a, ValueId codes, ValueId x);
/*   NODE, the gradient of an activation that asks for the signs of its first input, by CODES of that; */
Node by_signs(Graph *g, Node node, Attributes a, ValueId codes);
/*   does NODE make codes; */
bool makes_codes(const Node *node);
/*   is each output of NODE zero where it is not positive? */
bool makes_zeros(const Node *node);

/* op_update.c: in the gradients of all parameters, input 1 of NODE. */
int64_t gradient_elements(const Graph *g, const Node *node);
/* Does the optimiser shrink this parameter? */
bool weight_decays(const Optimizer *o, const Value *parameter);
/* May the state of PARAMETER be in codes (unet/codes.h), and so many bytes of codes and of maxima, which
 * are REAL? */
bool may_be_coded(const Value *parameter);
int64_t coded_bytes(const Value *parameter, Type real);
/* Averaged weights are a state, too; they are whole everywhere, for evaluation reads them. */
bool is_average(const Operand *state);

#define OP(id, name, signature, build, operands, attributes, traits, gradient, flops, halo, rows,          \
           constants, fuse, eager)                                                                         \
    GradientRule gradient_##gradient;                                                                      \
    FlopsRule flops_##flops;                                                                               \
    HaloRule halo_##halo;                                                                                  \
    RowsRule rows_##rows;                                                                                  \
    ConstantsRule constants_##constants;                                                                   \
    FuseRule fuse_##fuse;
#include "ir/ops.def"
#undef OP

#endif
