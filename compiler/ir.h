/* ir.h - the vocabulary of the compiler: shapes, values, nodes, graphs, models.
 *
 * One graph holds forward, backward and update alike: after autodiff a gradient is a node like any other,
 * so no later pass knows the word "backward".  Prototypes are grouped by the file that defines them, in
 * the order of the pipeline.
 */
#ifndef IR_H
#define IR_H

#include "diag.h"
#include "memory.h"
#include "place.h"
#include <stdbool.h>
#include <stdint.h>

typedef int ValueId; /* index in Graph.value; -1: none */
typedef int NodeId;  /* index in Graph.node; -1: none */

/* ---- values ---- */

typedef enum { TYPE_F32, TYPE_F64, TYPE_U8, TYPE_U16, TYPE_I32, TYPE_BF16, TYPE_F16, TYPE_UNORM8 } Type;

typedef enum {
    CLASS_PARAMETER,
    CLASS_PARAMETER_GRADIENT,
    CLASS_ACTIVATION,
    CLASS_ACTIVATION_GRADIENT,
    CLASS_STATE, /* of the optimiser */
    CLASS_RUNNING_STATISTIC,
    CLASS_BATCH_STATISTIC,
    CLASS_WORKSPACE,
    CLASS_STAGING, /* a batch of an input or target, as the loader leaves it */
    CLASS_METRIC,  /* one double: a loss or a metric */
    CLASSES
} Class;

enum { MAX_RANK = 5, AXES = 3 };

/* Without the batch.  A feature map is (channels, height, width) or (channels, depth, height, width), a
 * vector (channels), a weight as in PyTorch, such as (out, in, height, width). */
typedef struct {
    int rank;
    int64_t dim[MAX_RANK];
} Shape;

typedef enum { INIT_ZEROS, INIT_ONES, INIT_UNIFORM, INIT_HE_NORMAL } Init;

typedef struct {
    const char *name; /* a parameter: its name in the state dict; else what it is called in the plan */
    Class class;
    Type type;
    Shape shape;
    bool per_sample; /* the batch is an axis of it */
    Place place;
    NodeId producer; /* -1: parameter, staging, state */
    int input;       /* staging: index in Model.input; else -1 */

    /* A whole: the channels of several values read as one (a concat).  It has no bytes of its own; its
     * parts are leaves, stored apart, so that each can live and die by itself. */
    int nparts;
    const ValueId *part;

    /* A parameter's initial values. */
    Init init;
    double bound; /* uniform: in [-bound, bound); he_normal: the standard deviation */
} Value;

/* ---- nodes ---- */

typedef enum {
#define OP(id, ...) OP_##id,
#include "ops.def"
#undef OP
    OPS
} Op;

/* A sliding window over the last three axes; an image has depth 1 with kernel 1, stride 1, no padding. */
typedef struct {
    int64_t kernel[AXES], stride[AXES], dilation[AXES];
    int64_t before[AXES], after[AXES]; /* padding in front and behind */
} Window;

typedef enum { OPTIMIZER_SGD, OPTIMIZER_ADAM, OPTIMIZER_ADAMW } OptimizerKind;

typedef struct {
    OptimizerKind kind;
    double learning_rate, beta1, beta2, epsilon, weight_decay;
    double momentum, dampening;
    bool nesterov;
} Optimizer;

/* Only the members that the operator's row names are meaningful. */
typedef struct {
    Window window;         /* convolutions and pools */
    bool relu;             /* a convolution that ends in max(., 0) */
    bool mask;             /* gradients: see templates/README.md */
    bool accumulate;       /* adds to what is there: to input 2, or, a sum over the batch, to its outputs */
    int64_t first;         /* gradient by one part of a whole: its first channel, */
    int64_t channels;      /*   of that many in the whole */
    int64_t bands;         /* reductions: in how many parts a sample is summed, fixed by the target */
    ValueId of_in, of_out; /* packed weights: the tensors between which they will be used, */
    Op of;                 /*   and by which operator */
    int64_t packed_at;     /* reader of weights packed with others: its first element there */
    int64_t tap_bits;      /* max pools: for the tap at which a maximum was found, 0: it is not kept */
    double weight;         /* losses: factor in the sum that is minimised */
    Optimizer optimizer;   /* sgd, adam */
} Attributes;

/* Through which calls and loop turns a node came to be, innermost first; for notes in messages. */
typedef struct Via {
    const struct Via *outer;
    Place place;
    const char *text; /* "in `context`, called on line 61", "in turn i = 4 of the loop on line 12" */
    bool is_call;
} Via;

typedef struct {
    Op op;
    int nin, nout;
    ValueId *in, *out; /* -1 in `in`: an optional operand that is absent (a bias) */
    Attributes a;
    const char *name; /* "enc1.0", "max_pool" */
    Place place;
    const Via *via;
} Node;

typedef struct {
    Pool *pool;
    Value *value;
    int nvalue;
    Node *node;
    int nnode;
} Graph;

/* ---- what the file says (lower.c fills it) ---- */

typedef enum { KIND_IMAGE, KIND_VOLUME, KIND_LABELS, KIND_INDEX } Kind;

typedef struct {
    const char *name;
    Kind kind;
    bool is_target;
    ValueId value; /* of class CLASS_STAGING */
    int classes, ignore;
    Place place, size_place; /* size_place: where its sizes are written, line 0 if nowhere */
} Input;

typedef struct {
    const char *name;
    ValueId value;
    Place place;
} Output;

/* A loss or metric: VALUE is the one-double result of its node. */
typedef struct {
    const char *text; /* as written: "mse(denoised, clean)" */
    ValueId value;
    bool is_loss;
    double weight; /* of a loss */
    Place place;
} Result;

typedef enum {
    SOURCE_FILES,
    SOURCE_NAME,
    SOURCE_NUMBER,
    SOURCE_GAUSSIAN,
    SOURCE_UNIFORM,
    SOURCE_ADD,
    SOURCE_SUB,
    SOURCE_MUL,
    SOURCE_DIV
} SourceOp;

typedef struct {
    SourceOp op;
    const char *text; /* pattern or name */
    double value, high;
    Place place;
} SourceTerm; /* postfix; the same as UnetSourceTerm */

typedef struct {
    const char *name;
    int input; /* index in Model.input, or -1 */
    int channels;
    SourceTerm *term;
    int nterm;
    Place place;
} Source;

typedef enum { TRANSFORM_CROP, TRANSFORM_FLIP } TransformOp;
typedef enum { PAD_NONE, PAD_VALUE, PAD_REFLECT, PAD_REPLICATE, PAD_ZERO } Pad;

typedef struct {
    TransformOp op;
    bool random;
    Pad pad;
    double pad_value;
    unsigned axes; /* flip: bit 0 depth, 1 height, 2 width */
    double p;
    Place place;
} Transform;

typedef struct {
    bool present;
    Place place;
    Source *source;
    int nsource;
    Transform *transform;
    int ntransform;
    double holdout;
    int64_t holdout_seed;
    bool shuffle;
    int threads;
} DataSection;

typedef enum { UNIT_EPOCHS, UNIT_STEPS } Unit;

typedef struct {
    bool present;
    Place place;
    Optimizer optimizer;
    const char *optimizer_text;
    int64_t batch;
    Place batch_place;
    int64_t duration;
    Unit duration_unit;
    int64_t steps_per_epoch;
    bool drop_tail;
    int64_t save_every;
    Unit save_unit;
    int save_keep;
    int64_t seed;
    int64_t memory; /* bytes, 0: no budget */
    Place memory_place;
    Type precision; /* of activations and their gradients, unless the command line says another */
    const char *pretrained;
} TrainSection;

typedef struct {
    bool present;
    Place place;
    int64_t every;
    Unit every_unit;
    int64_t size[AXES]; /* 0: the input's */
    int64_t batch;
} EvalSection;

typedef struct {
    int64_t size[AXES];
    int64_t batch;
    Pad pad;
} PredictSection;

typedef struct {
    Pool *pool;
    Diag *diag;
    const char *name;   /* file name without folder and suffix, as a C name */
    const char *source; /* file name without folder */
    const char *text;   /* the whole source */
    Graph *graph;       /* forward: everything the file says, in order */
    Input *input;
    int ninput;
    Output *output;
    int noutput;
    Result *result;
    int nresult;
    DataSection data, eval_data;
    TrainSection train;
    EvalSection eval;
    PredictSection predict;

    const ValueId *gradient_of; /* autodiff.c: per value of the forward graph the gradient by it, or -1 */
    int ngradient_of;
} Model;

/* ---- graph.c: build and walk ---- */

Graph *graph_new(Pool *pool);
ValueId value_new(Graph *g, Value value);
/* Appends a node; its outputs must exist already and get it as their producer. */
NodeId node_new(Graph *g, Node node, const ValueId *in, const ValueId *out);
/* Drops the nodes that do not stay, in place. */
void graph_compact(Graph *g, const bool *stays);
/* One value out of several along the channels, without copying; wholes among them are flattened. */
ValueId value_whole(Graph *g, const ValueId *part, int nparts, const char *name, Place place);
/* A whole of exactly these leaves, -1 among them allowed, otherwise like LIKE. */
ValueId value_parts(Graph *g, const ValueId *part, int nparts, Value like);
/* V itself, or, when V is a whole, a copy of it in one piece (for operators that cannot read parts). */
ValueId value_joined(Graph *g, ValueId v, Place place);
/* Where the file itself, outside of any block, calls for this node: the line a memory report points at. */
Place node_line(const Node *node);
/* Is output K of NODE a sum over the batch to which the node, being in a loop over samples, adds? */
bool node_adds_to(const Graph *g, const Node *node, int k);
/* The leaves of V: its parts, or V itself. */
int value_leaves(const Graph *g, const ValueId *v, const ValueId **leaf);

int64_t shape_elements(Shape s); /* saturates at INT64_MAX */
int64_t shape_channels(Shape s);
int64_t shape_extent(Shape s, int axis); /* axis 0 depth, 1 height, 2 width of a feature map; 1 if absent */
bool shape_equal(Shape a, Shape b);
const char *shape_text(Pool *pool, Shape s); /* "16 x 256 x 256" */
const char *class_text(Class c);
const char *type_text(Type t);
int type_bytes(Type t);

#endif
