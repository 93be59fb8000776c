/* graph.h - the vocabulary of the compiler: shapes, values, nodes, graphs.
 *
 * One graph holds forward, backward and update alike: after autodiff a gradient is a node like any other,
 * so no later pass knows the word "backward".
 */
#ifndef GRAPH_H
#define GRAPH_H

#include "base/memory.h"
#include "base/span.h"
#include "ir/operands.h"
#include "unet/functions.h"
#include "unet/groups.h"
#include <stdbool.h>
#include <stdint.h>

typedef int ValueId; /* index in Graph.value; -1: none */
typedef int NodeId;  /* index in Graph.node; -1: none */

/* ---- values ---- */

typedef enum { TYPE_F32, TYPE_F64, TYPE_U8, TYPE_BF16, TYPE_F16, TYPE_UNORM8, TYPE_UNORM16 } Type;

typedef enum {
    CLASS_PARAMETER,
    CLASS_PARAMETER_GRADIENT,
    CLASS_ACTIVATION,
    CLASS_ACTIVATION_GRADIENT,
    CLASS_STATE, /* of the optimiser */
    CLASS_RUNNING_STATISTIC,
    CLASS_BATCH_STATISTIC, /* mean and variance of a normalisation, and sums of their gradients; numbers
                              that a loss leaves for its gradient */
    CLASS_WORKSPACE,
    CLASS_STAGING, /* a batch of an input or target, as the loader leaves it */
    CLASS_METRIC,  /* one double: a loss or a metric; or a matrix of them */
    CLASSES
} Class;

enum { MAX_RANK = 5, AXES = 3 };
enum { SIGNAL_RANK = 2, IMAGE_RANK = 3, VOLUME_RANK = 4 }; /* of a feature map */

/* Without the batch.  A feature map is (channels, length), (channels, height, width) or (channels, depth,
 * height, width), a vector (channels), a weight as in PyTorch, such as (out, in, height, width). */
typedef struct {
    int rank;
    int64_t dim[MAX_RANK];
} Shape;

typedef enum { INIT_ZEROS, INIT_ONES, INIT_UNIFORM, INIT_HE_NORMAL, INIT_CONSTANT } Init;

typedef struct {
    const char *name; /* a parameter: its name in the state dict; else what it is called in the plan */
    Class class;
    Type type;
    Shape shape;
    bool per_sample; /* the batch is an axis of it */
    Span span;
    NodeId producer; /* -1: parameter, staging, state */
    int input;       /* staging: index in Model.input; else -1 */

    /* A concat: the channels of several values read as one.  It has no bytes of its own; its segments are
     * stored apart, so that each can live and die by itself. */
    int nsegments;
    const ValueId *segment;

    bool frozen; /* a parameter that is not trained: it has no gradient */

    /* A parameter's initial values. */
    Init init;
    double bound; /* uniform: in [-bound, bound); he_normal: the standard deviation */
} Value;

/* A range of rows; a row is one of the depth * height rows of a sample, in order. */
typedef struct {
    int64_t begin, end;
} RowRange;

/* ---- nodes ---- */

typedef enum {
#define OP(id, ...) OP_##id,
#include "ir/ops.def"
#undef OP
    OPS
} Op;

/* A sliding window over three axes.  A map that lacks an axis has extent 1 there, kernel 1, stride 1, no
 * padding: an image has no depth, a signal has a width alone. */
typedef struct {
    int64_t kernel[AXES], stride[AXES], dilation[AXES];
    int64_t before[AXES], after[AXES]; /* padding in front and behind */
} Window;

typedef enum { OPTIMIZER_SGD, OPTIMIZER_ADAM, OPTIMIZER_ADAMW, OPTIMIZER_RMSPROP } OptimizerKind;

typedef struct {
    OptimizerKind kind;
    double learning_rate, beta1, beta2, epsilon, weight_decay;
    double momentum, dampening, alpha;
    bool nesterov, amsgrad, centered;
    bool spares_vectors; /* biases and the like, which have one axis, do not decay */
} Optimizer;

/* Convolutions, their gradients, and what packs weights for them. */
typedef struct {
    Window window;
    int64_t groups;        /* of channels, where they are convolved each by itself */
    bool relu;             /* ends in max(., 0) */
    bool mask, adds;       /* gradients: see templates/README.md */
    int64_t channel_begin; /* gradient by one segment of a concat: its first channel, */
    int64_t channels;      /*   of that many in the concat */
    int64_t bands;   /* gradients: in how many parts a bias is summed, fixed by the target; 0: elsewhere */
    bool sums_bias;  /*   with `sums`: there is a bias */
    int64_t tiles;   /* computed in blocks of so many tiles by Winograd's method; 0: directly */
    bool own_blocks; /*   each thread has blocks of its own */
    int64_t planes;  /*   so many planes at a time */
    int64_t phase;   /*   rows of the first tiles that lie above the first row: 0 to 3 */
    ValueId pack_x, pack_y; /* packed weights, ended sums: the tensors that the window joins, */
    Op pack_for;            /*   and the operator that uses or made them */
    int64_t packed_begin;   /* reader of weights packed with others: its first element there */
} ConvAttributes;

typedef struct {
    Window window;
    bool mask, adds;     /* gradient: masked by x; added to input `a` */
    int64_t argmax_bits; /* for the tap at which a maximum was found, 0: it is not kept */
    int64_t sum_bands;   /* gradient: with `sums`, in so many parts; 0: without */
    bool inside;         /* of avg_pool: padding does not count */
} PoolAttributes;

/* Losses by overlap: 1 - (over_both * both + smooth) / (under_both * both + under_predicted * predicted +
 * under_truly * truly + epsilon).  `predicted` is the sum of the predictions, `truly` the number of points
 * of the class, `both` the sum of the predictions at these points. */
typedef struct {
    double over_both, under_both, under_predicted, under_truly, smooth, epsilon;
    bool background; /* class 0 counts, too */
    bool batch;      /* sums are over the batch, not over each sample */
    bool squared;    /* predictions in `predicted` are squared */
    bool joint;      /* sums of all classes, instead of the mean of what it is for each class */
} OverlapAttributes;

/* Which points a loss of the hardest points counts: those whose class has less than THRESHOLD of softmax,
 * but at least LEAST, or, if that is -1, SHARE of all. */
typedef struct {
    double threshold, share, least;
} HardAttributes;

/* Attributes of losses and metrics that compare with classes. */
typedef struct {
    int64_t classes;
    int64_t ignore;             /* the class of points that count nowhere, besides IGNORED; -1: none */
    const double *class_weight; /* NULL: all weigh 1 */
    bool weighs_points;         /* the mean is by the weights of the points, not by their number */
    int64_t class;              /* metrics of one class: which; else 0 */
    bool counts_pairs;          /* a metric of classes, which needs no sum over the labels */
    bool sums_itself;           /* a loss over classes that needs none either */
    bool numbers;               /* the target has the numbers of classes as it has any numbers; negative
                                   ones count nowhere */
    OverlapAttributes overlap;
    HardAttributes hard;
    double smoothing; /* share of a point's weight that all classes have alike */
    double gamma;     /* focal: points count less by this power of 1 - softmax */
} LabelAttributes;

enum { SSIM_WINDOW = 11 }; /* points along an axis */

typedef struct {
    double weight; /* factor in the sum that is minimised */
    int64_t bands; /* in how many parts a sample is summed, fixed by the target; of a gradient: with `sums`,
                      in so many parts; 0: without */
    const LabelAttributes *labels; /* NULL: it compares numbers */
    double epsilon;                /* charbonnier: where it turns from square to absolute */
    double beta;                   /* smooth_l1: the same */
    double range;                  /* ssim: between the darkest and the brightest there can be */
} LossAttributes;

/* Normalisations over a sample or the batch, what they compute beforehand, and their gradients. */
typedef struct {
    double epsilon, momentum;
    int64_t groups;  /* of channels, each with a mean and a variance of its own */
    bool root_mean;  /* normalize: by the root of the mean square of a group, not by its length */
    bool batch;      /* over all samples, not over each */
    bool sync;       /* batch statistics are merged over all groups of samples */
    int64_t points;  /* of a sample that a mean of the batch is over */
    bool transposed; /* norm_fold: the weights belong to an upconv */
    int64_t bands;   /* in how many parts the rows of a sample are summed, fixed by the target */
    bool leaky;      /* a leaky ReLU follows: y is its output, and in gradients dy is by its output; */
    double slope;    /*   it has this slope, 0 for a ReLU, unless it has an operand of learnt slopes */
} NormAttributes;

typedef struct {
    int64_t heads;
    double scale;                      /* of the products */
    bool causal;                       /* a query sees no key behind its own point */
    int64_t window[AXES], shift[AXES]; /* of the map rolled by -shift; 0 points: the map is one window */
    int64_t slots;  /* parts of scratch, each for one block at a time, fixed by the target; */
    int64_t bands;  /*   parts of a head that are summed by themselves, too */
    bool normalize; /* over channels: channels have the length 1; */
    bool linear;    /*   products weigh as they are, without a softmax */
    int64_t
        pairs; /* keys of a window, if the bias has a point for each pair of a query and a key; else 0 */
} AttentionAttributes;

/* The last convolution with a loss, see op_head.c. */
typedef struct {
    double weight; /* of the loss */
    bool absolute; /* the loss is l1, not mse */
    bool mask;     /* the gradient by x is masked by x */
} HeadAttributes;

typedef enum {
    ATTRIBUTES_NONE,
    ATTRIBUTES_CONV,
    ATTRIBUTES_POOL,
    ATTRIBUTES_SLICE,
    ATTRIBUTES_PART,
    ATTRIBUTES_LOSS,
    ATTRIBUTES_NORM,
    ATTRIBUTES_HEAD,
    ATTRIBUTES_REDUCTION,
    ATTRIBUTES_UPDATE,
    ATTRIBUTES_MAP,
    ATTRIBUTES_RESIZE,
    ATTRIBUTES_AFFINE,
    ATTRIBUTES_DROPOUT,
    ATTRIBUTES_DIFFUSION,
    ATTRIBUTES_VALUES,
    ATTRIBUTES_ATTENTION,
    ATTRIBUTES_REARRANGE,
    ATTRIBUTES_COMPRESS
} AttributesKind;

/* Which points of x the points of y are made of: point o of an axis lies at (o * step + offset) / unit of
 * x. */
typedef struct {
    int64_t step[AXES], offset[AXES], unit[AXES];
    bool linear;             /* between the two points beside it; else it is the point below */
    bool zero;               /* what lies beyond the ends of x is zero; else it is as the end */
    UnetBorder border[AXES]; /* of a border alone */
    double number;
} ResizeAttributes;

enum { MAX_PARTS_OF_AXES = 12 };

/* A part of an axis, which has EXTENT elements: in x X_STEP elements of axis X_AXIS apart, in y likewise.
 * Axis 0 has the channels; the others are depth, height and width. */
typedef struct {
    int64_t extent, x_step, y_step;
    int x_axis, y_axis;
} AxisPart;

typedef struct {
    int count;
    AxisPart part[MAX_PARTS_OF_AXES];
    int64_t multiple[AXES]; /* depth, height and width of x are multiples of these */
    bool mixes; /* points of an axis leave the axis: then the extents of y follow from several of x */
} Rearrangement;

/* KIND is the kind in the operator's row. */
typedef struct {
    AttributesKind kind;
    union {
        ConvAttributes conv;
        PoolAttributes pool;
        LossAttributes loss;
        NormAttributes norm;
        HeadAttributes head;
        AttentionAttributes attention;
        struct {
            int64_t channel_begin;
        } slice;
        struct {
            int64_t begin; /* group_sum: where in a row of `levels` the sums have their place */
        } part;
        struct {
            int64_t bands;
            double limit; /* gradient_norm: that it may have */
        } reduction;
        struct {
            double parameter, second; /* numbers that an operator on points has: a slope, bounds */
            UnetFunction function;
        } map;
        ResizeAttributes resize;
        const Rearrangement *rearrange;
        struct {
            double factor, term;
        } affine;
        struct {
            const double *value; /* a number for each channel, or a frequency for each pair of them */
            int count;
            bool cosines_first; /* of the two halves of the channels */
        } values;
        struct {
            const double *kept; /* at each time, the square of what a picture is multiplied with, */
            int times;          /*   so many */
            const double *root; /* diffuse_time: makes this number of the time; NULL: the time itself */
            UnetDiffused makes;
            bool evaluates; /* draws the same for every seed and step */
        } diffusion;
        struct {
            double rate;
            int64_t number; /* tells the operators of a file apart: each has random numbers of its own */
        } dropout;
        struct {
            int64_t bits;         /* of a code */
            UnetGroupSigns signs; /* how the sign of a number is kept */
            double slope;         /* sign_grad: of numbers that are not above zero */
            int64_t number; /* tells the tensors in codes apart, which have random numbers of their own */
        } compress;
        struct {
            Optimizer optimizer;
            double clip;    /* each gradient lies between -clip and clip; 0: anywhere */
            double average; /* how much of the averaged weights a step keeps; 0: there are none */
        } update;
    };
} Attributes;

/* Through which calls and loop iterations a node came to be, innermost first; for notes in messages. */
typedef struct Via {
    const struct Via *outer;
    Span span;
    const char *text; /* "in `context`, called on line 61", "in iteration i = 4 of the loop on line 12" */
    bool is_call;
} Via;

typedef struct {
    Op op;
    int nin, nout;
    ValueId *in, *out; /* -1: an optional operand that is absent (a bias) */
    Attributes a;
    bool accumulates; /* in a loop over samples: adds to its sums */
    bool
        ends_group; /* in a loop over samples: runs behind the last ones of a group (Program.group) alone */
    bool keeps_sums;   /* in a loop over bands: its scratch holds sums, which the next band goes on with */
    int head;          /* the sweep over a head that it is part of (passes/heads.c), or 0 */
    bool again;        /* computes what was computed before */
    bool whole_rows;   /* the target's kernel for it computes all rows at once, */
    int64_t tile_rows; /*   or ranges that begin at multiples of so many; 0: any */
    const char *template; /* the target's kernel for it, where there are several; NULL: see KernelRow */
    const char *also;     /* the operator that its kernel does besides (passes/join.c), or NULL */
    const char *method; /* how its kernel computes, for people: "Winograd", "direct: transposed", or NULL */
    const void *chosen; /* what the target chose for its kernel; only the target knows what it is */
    const char *name;   /* "enc1.0", "max_pool" */
    Span span;
    const Via *via;
} Node;

typedef struct {
    Pool *pool;
    const Operands *operands; /* per operator, from its row */
    Value *value;
    int nvalue;
    Node *node;
    int nnode;
} Graph;

/* ---- graph.c: build and walk ---- */

Graph *graph_new(Pool *pool);
/* A copy of GRAPH that passes may rewrite: it shares names, attributes and concats' segments with GRAPH. */
Graph *graph_copy(Pool *pool, const Graph *graph);
ValueId value_new(Graph *g, Value value);
/* Appends a node; its outputs must exist already and get it as their producer. */
NodeId node_new(Graph *g, Node node, const ValueId *in, const ValueId *out);
/* Puts NEW in the place of NODE. */
void node_replace(Graph *g, Node *node, Node new);
/* Drops the nodes that do not stay, in place. */
void graph_compact(Graph *g, const bool *stays);
/* Puts the nodes into the order ORDER, which has each once. */
void graph_order(Graph *g, const NodeId *order);
/* One value out of several along the channels, without copying; concats among them are flattened. */
ValueId value_concat(Graph *g, const ValueId *part, int count, const char *name, Span span);
/* A concat of exactly these segments, -1 among them allowed, otherwise like LIKE. */
ValueId value_concat_like(Graph *g, const ValueId *segment, int count, Value like);
/* V itself, or, when V is a concat, a copy of it in one piece (for operators that cannot read segments). */
ValueId value_joined(Graph *g, ValueId v, Span span);
/* The segments of V: of a concat all, otherwise V itself; of -1 none. */
int value_segments(const Graph *g, const ValueId *v, const ValueId **segment);
/* Returns the place outside of any block at which the file calls for this node: a memory report points at
 * it. */
Span node_line(const Node *node);
/* The window of a convolution or a pool, else NULL. */
const Window *node_window(const Node *node);
/* KD * KH * KW */
int64_t window_taps(const Window *window);
/* A value of ELEMENTS numbers for the use of NODE: scratch, or packed weights; "enc1.0 WHAT" in the plan.
 */
ValueId workspace_new(Graph *g, const Node *node, const char *what, Type type, int64_t elements);
/* Puts input or output number K, or one more, in place of what NODE had; the node's own arrays are not
 * changed. */
void node_set_input(Graph *g, Node *node, int k, ValueId v);
void node_set_output(Graph *g, Node *node, int k, ValueId v);
void node_add_input(Graph *g, Node *node, ValueId v);
void node_add_output(Graph *g, Node *node, ValueId v);
/* Does NODE read or update V, in one of its segments? */
bool node_reads(const Graph *g, const Node *node, ValueId v);
/* How many nodes read each value. */
int *count_readers(const Graph *g);

/* A walk over all that a node touches, outputs first, concats segment by segment:
 *     for (Touch t = node_touches(g, node); touch_next(&t);)
 *         if (t.reads) ... t.value ... */
typedef struct {
    ValueId value;          /* a segment, never a concat, never absent */
    const Operand *operand; /* what the row says of it */
    bool is_output;
    int number;  /* of the operand among the outputs, or the inputs */
    int segment; /* its number in the operand */
    bool reads, writes;
    bool stays; /* it is no scratch, or such that a band of rows leaves something there for the next */
    const Graph *graph; /* where the walk is */
    const Node *node;
    int next, next_segment;
} Touch;

Touch node_touches(const Graph *g, const Node *node);
bool touch_next(Touch *t);

/* graph_print.c: a line for each node. */
struct Text;
void graph_print(const Graph *g, struct Text *out);
void node_print(const Graph *g, NodeId node, struct Text *out);

int64_t shape_elements(Shape s); /* saturates at INT64_MAX */
int64_t shape_channels(Shape s);
int64_t shape_extent(Shape s, int axis); /* axis 0 depth, 1 height, 2 width of a feature map; 1 if absent */
bool shape_equal(Shape a, Shape b);
const char *shape_text(Pool *pool, Shape s); /* "16 x 256 x 256" */
const char *class_text(Class c);
const char *type_text(Type t);
/* "UNET_F32": the type in generated code (UnetType of unet/model.h). */
const char *type_constant(Type t);
int type_bytes(Type t);

#endif
