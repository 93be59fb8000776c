/* nodes.c - one rule for each operator that a file calls: which nodes of ONNX it becomes.
 *
 * requires   the names of all values
 * provides   nodes of opset 17, in an order in which each tensor is made before it is read
 */
#include "onnx/nodes.h"
#include "onnx/fields.h"

#include <math.h>
#include <string.h>

/* ---- a node on its way ---- */

typedef struct {
    OnnxGraph *o;
    Text message; /* a NodeProto */
} OnnxNode;

static OnnxNode begin(OnnxGraph *o, const char *type) {
    OnnxNode n = {o, text_new(o->pool)};
    message_text(&n.message, NODE_OP_TYPE, type);
    return n;
}

static void reads(OnnxNode *n, const char *name) {
    message_text(&n->message, NODE_INPUT, name);
}

/* Input K of NODE; nothing where it is absent. */
static void reads_input(OnnxNode *n, const Node *node, int k) {
    if (k < node->nin && node->in[k] >= 0)
        reads(n, n->o->name[node->in[k]]);
}

/* The node ends: it writes NAME, and is called like it. */
static bool writes(OnnxNode *n, const char *name) {
    message_text(&n->message, NODE_OUTPUT, name);
    message_text(&n->message, NODE_NAME, name);
    message_nested(&n->o->message, GRAPH_NODE, &n->message);
    return true;
}

static bool writes_output(OnnxNode *n, const Node *node) {
    return writes(n, n->o->name[node->out[0]]);
}

/* A tensor between the nodes that one operator becomes. */
static const char *between(OnnxGraph *o, const Node *node) {
    return pool_text(o->pool, "%s/%d", o->name[node->out[0]], ++o->more);
}

/* ---- attributes ---- */

static Text attribute(const OnnxNode *n, const char *name, int type) {
    Text a = text_new(n->o->pool);
    message_text(&a, ATTRIBUTE_NAME, name);
    message_integer(&a, ATTRIBUTE_TYPE, type);
    return a;
}

static void integer(OnnxNode *n, const char *name, int64_t value) {
    Text a = attribute(n, name, IS_INTEGER);
    message_integer(&a, ATTRIBUTE_INTEGER, value);
    message_nested(&n->message, NODE_ATTRIBUTE, &a);
}

static void integers(OnnxNode *n, const char *name, const int64_t *value, int count) {
    Text a = attribute(n, name, IS_INTEGERS);
    message_integers(&a, ATTRIBUTE_INTEGERS, value, count);
    message_nested(&n->message, NODE_ATTRIBUTE, &a);
}

static void real(OnnxNode *n, const char *name, double value) {
    Text a = attribute(n, name, IS_FLOAT);
    message_float(&a, ATTRIBUTE_FLOAT, (float)value);
    message_nested(&n->message, NODE_ATTRIBUTE, &a);
}

static void text(OnnxNode *n, const char *name, const char *value) {
    Text a = attribute(n, name, IS_TEXT);
    message_text(&a, ATTRIBUTE_TEXT, value);
    message_nested(&n->message, NODE_ATTRIBUTE, &a);
}

/* ---- tensors that are in ONNX alone ---- */

static const char *constant_of(OnnxGraph *o, int type, const int64_t *dim, int rank, const void *values,
                               size_t bytes) {
    const char *name = pool_text(o->pool, "constant/%d", ++o->more);
    Text tensor = text_new(o->pool);
    message_integers(&tensor, TENSOR_DIMS, dim, rank);
    message_integer(&tensor, TENSOR_TYPE, type);
    message_text(&tensor, TENSOR_NAME, name);
    message_bytes(&tensor, TENSOR_RAW_DATA, values, bytes);
    message_nested(&o->message, GRAPH_INITIALIZER, &tensor);
    return name;
}

static const char *list(OnnxGraph *o, const int64_t *value, int count) {
    const int64_t dim = count;
    return constant_of(o, ELEMENT_INT64, &dim, 1, value, (size_t)count * sizeof *value);
}

/* COUNT times the same number; of -1 the number itself, which has no axis. */
static const char *numbers(OnnxGraph *o, double value, int64_t count) {
    const size_t n = count < 0 ? 1 : (size_t)count;
    float *values = NEW_ARRAY(o->pool, float, n);
    for (size_t i = 0; i < n; i++)
        values[i] = (float)value;
    return constant_of(o, ELEMENT_FLOAT, &count, count >= 0, values, n * sizeof *values);
}

/* ---- windows and shapes ---- */

/* The axes of a window that the feature map has.  Padding behind may be negative if a transposed
 * convolution has output_padding; returns then true, with that in MORE. */
static bool window(OnnxNode *n, const Window *w, int axes, int64_t more[AXES]) {
    const int first = AXES - axes;
    int64_t pads[2 * AXES];
    bool any = false;
    for (int k = 0; k < axes; k++) {
        const int64_t after = w->after[first + k];
        pads[k] = w->before[first + k];
        pads[axes + k] = after < 0 ? 0 : after;
        more[k] = after < 0 ? -after : 0;
        any |= after < 0;
    }
    integers(n, "kernel_shape", w->kernel + first, axes);
    integers(n, "strides", w->stride + first, axes);
    integers(n, "pads", pads, 2 * axes);
    return any;
}

static Shape shape_of(const OnnxGraph *o, ValueId v) {
    return o->graph->value[v].shape;
}

static int axes_of(const OnnxGraph *o, const Node *node) {
    return o->graph->value[node->out[0]].shape.rank - 1;
}

/* ---- the operators ---- */

/* Returns false where the operator has no form, as it is here. */
typedef bool Rule(OnnxGraph *o, const Node *node);

static bool convolution(OnnxGraph *o, const Node *node, const char *type, int64_t groups) {
    const int axes = axes_of(o, node);
    const Window *w = node_window(node);
    int64_t more[AXES];
    OnnxNode n = begin(o, type);
    for (int k = 0; k < node->nin; k++)
        reads_input(&n, node, k);
    if (window(&n, w, axes, more))
        integers(&n, "output_padding", more, axes);
    integers(&n, "dilations", w->dilation + AXES - axes, axes);
    integer(&n, "group", groups);
    return writes_output(&n, node);
}

/* The weights of a convolution are (out, in of a group, ...), as in ONNX, */
static bool conv(OnnxGraph *o, const Node *node) {
    return convolution(o, node, "Conv",
                       shape_channels(shape_of(o, node->in[0])) / shape_of(o, node->in[1]).dim[1]);
}

/* and the weights of a transposed one (in, out of a group, ...). */
static bool upconv(OnnxGraph *o, const Node *node) {
    const int64_t out = shape_channels(shape_of(o, node->out[0]));
    return convolution(o, node, "ConvTranspose", out / shape_of(o, node->in[1]).dim[1]);
}

static bool pool(OnnxGraph *o, const Node *node, OnnxNode *n) {
    int64_t more[AXES];
    reads_input(n, node, 0);
    return !window(n, node_window(node), axes_of(o, node), more) && writes_output(n, node);
}

static bool max_pool(OnnxGraph *o, const Node *node) {
    const int axes = axes_of(o, node);
    OnnxNode n = begin(o, "MaxPool");
    integers(&n, "dilations", node_window(node)->dilation + AXES - axes, axes);
    return pool(o, node, &n);
}

static bool avg_pool(OnnxGraph *o, const Node *node) {
    OnnxNode n = begin(o, "AveragePool");
    integer(&n, "count_include_pad", !node->a.pool.inside);
    return pool(o, node, &n);
}

/* The means over OUT parts of an axis of IN points, as a matrix; TURNED: of IN rows. */
static const char *means(OnnxGraph *o, int64_t in, int64_t out, bool turned) {
    const int64_t dim[] = {turned ? in : out, turned ? out : in};
    float *share = NEW_ARRAY(o->pool, float, in *out);
    for (int64_t k = 0; k < out; k++) {
        const int64_t first = k * in / out, end = ((k + 1) * in + out - 1) / out;
        for (int64_t i = first; i < end; i++)
            share[turned ? i * out + k : k * in + i] = 1 / (float)(end - first);
    }
    return constant_of(o, ELEMENT_FLOAT, dim, 2, share, (size_t)(in * out) * sizeof *share);
}

/* Parts of several sizes, which overlap: rows, then columns. */
static bool uneven_avg_pool(OnnxGraph *o, const Node *node) {
    const Shape x = shape_of(o, node->in[0]), y = shape_of(o, node->out[0]);
    const char *rows = between(o, node);
    if (axes_of(o, node) != 2)
        return false;
    OnnxNode by_row = begin(o, "MatMul"), by_column = begin(o, "MatMul");
    reads(&by_row, means(o, x.dim[1], y.dim[1], false));
    reads_input(&by_row, node, 0);
    (void)writes(&by_row, rows);
    reads(&by_column, rows);
    reads(&by_column, means(o, x.dim[2], y.dim[2], true));
    return writes_output(&by_column, node);
}

static bool adaptive_avg_pool(OnnxGraph *o, const Node *node) {
    const Shape x = shape_of(o, node->in[0]), y = shape_of(o, node->out[0]);
    int64_t part[AXES];
    OnnxNode n = begin(o, "AveragePool");
    for (int k = 1; k < x.rank; k++) {
        part[k - 1] = x.dim[k] / y.dim[k];
        if (x.dim[k] % y.dim[k] != 0)
            return uneven_avg_pool(o, node);
    }
    reads_input(&n, node, 0);
    integers(&n, "kernel_shape", part, x.rank - 1);
    integers(&n, "strides", part, x.rank - 1);
    return writes_output(&n, node);
}

/* From all inputs to the output, without attributes. */
static bool same(OnnxGraph *o, const Node *node, const char *type) {
    OnnxNode n = begin(o, type);
    for (int k = 0; k < node->nin; k++)
        reads_input(&n, node, k);
    return writes_output(&n, node);
}

static bool relu(OnnxGraph *o, const Node *node) {
    return same(o, node, "Relu");
}

static bool sigmoid(OnnxGraph *o, const Node *node) {
    return same(o, node, "Sigmoid");
}

static bool add(OnnxGraph *o, const Node *node) {
    return same(o, node, "Add");
}

static bool subtract(OnnxGraph *o, const Node *node) {
    return same(o, node, "Sub");
}

static bool multiply(OnnxGraph *o, const Node *node) {
    return same(o, node, "Mul");
}

static bool divide(OnnxGraph *o, const Node *node) {
    return same(o, node, "Div");
}

static bool maximum(OnnxGraph *o, const Node *node) {
    return same(o, node, node->a.map.parameter > 0 ? "Max" : "Min");
}

/* The joined segments of its one input, as they are. */
static bool concat(OnnxGraph *o, const Node *node) {
    return same(o, node, "Identity");
}

static bool leaky_relu(OnnxGraph *o, const Node *node) {
    OnnxNode n = begin(o, "LeakyRelu");
    reads_input(&n, node, 0);
    real(&n, "alpha", node->a.map.parameter);
    return writes_output(&n, node);
}

static bool silu(OnnxGraph *o, const Node *node) {
    const char *gate = between(o, node);
    OnnxNode sigmoid_node = begin(o, "Sigmoid"), product = begin(o, "Mul");
    reads_input(&sigmoid_node, node, 0);
    (void)writes(&sigmoid_node, gate);
    reads_input(&product, node, 0);
    reads(&product, gate);
    return writes_output(&product, node);
}

static bool tanh_of(OnnxGraph *o, const Node *node) {
    return same(o, node, "Tanh");
}

static bool elu(OnnxGraph *o, const Node *node) {
    OnnxNode n = begin(o, "Elu");
    reads_input(&n, node, 0);
    real(&n, "alpha", node->a.map.parameter);
    return writes_output(&n, node);
}

static bool selu(OnnxGraph *o, const Node *node) {
    OnnxNode n = begin(o, "Selu");
    reads_input(&n, node, 0);
    real(&n, "alpha", node->a.map.parameter);
    real(&n, "gamma", node->a.map.second);
    return writes_output(&n, node);
}

/* ONNX has these functions without numbers. */
static bool function(OnnxGraph *o, const Node *node) {
    static const char *const type[] = {[UNET_FUNCTION_SQRT] = "Sqrt",
                                       [UNET_FUNCTION_EXP] = "Exp",
                                       [UNET_FUNCTION_LOG] = "Log",
                                       [UNET_FUNCTION_SIN] = "Sin",
                                       [UNET_FUNCTION_COS] = "Cos",
                                       [UNET_FUNCTION_ABS] = "Abs",
                                       [UNET_FUNCTION_RECIPROCAL] = "Reciprocal"};
    return same(o, node, type[node->a.map.function]);
}

/* 0.5 x (1 + erf(x / sqrt(2))) */
static bool gelu(OnnxGraph *o, const Node *node) {
    static const char *const type[] = {"Mul", "Erf", "Add", "Mul"};
    const double number[] = {0.70710678118654752440, 0, 1, 0.5};
    const char *x = o->name[node->in[0]], *last = x;
    for (int k = 0; k < 4; k++) {
        const char *next = between(o, node);
        OnnxNode n = begin(o, type[k]);
        reads(&n, last);
        if (number[k] != 0)
            reads(&n, numbers(o, number[k], -1));
        (void)writes(&n, next);
        last = next;
    }
    OnnxNode product = begin(o, "Mul");
    reads(&product, x);
    reads(&product, last);
    return writes_output(&product, node);
}

/* Outside of training it does nothing. */
static bool dropout(OnnxGraph *o, const Node *node) {
    return same(o, node, "Identity");
}

/* One channel has the classes 0 and 1. */
static bool argmax(OnnxGraph *o, const Node *node) {
    const bool one = shape_channels(shape_of(o, node->in[0])) == 1;
    const char *above = between(o, node);
    OnnxNode n = begin(o, one ? "Greater" : "ArgMax"), cast = begin(o, "Cast");
    reads_input(&n, node, 0);
    if (one)
        reads(&n, numbers(o, 0.5, -1));
    else
        integer(&n, "axis", 1);
    (void)writes(&n, above);
    reads(&cast, above);
    integer(&cast, "to", ELEMENT_UINT8);
    return writes_output(&cast, node);
}

static bool affine(OnnxGraph *o, const Node *node) {
    const char *product = between(o, node);
    OnnxNode times = begin(o, "Mul"), plus = begin(o, "Add");
    reads_input(&times, node, 0);
    reads(&times, numbers(o, node->a.affine.factor, -1));
    (void)writes(&times, product);
    reads(&plus, product);
    reads(&plus, numbers(o, node->a.affine.term, -1));
    return writes_output(&plus, node);
}

static bool over_channels(OnnxGraph *o, const Node *node, const char *type) {
    static const int64_t channels[] = {1};
    OnnxNode n = begin(o, type);
    reads_input(&n, node, 0);
    integers(&n, "axes", channels, 1);
    return writes_output(&n, node);
}

static bool channel_mean(OnnxGraph *o, const Node *node) {
    return over_channels(o, node, "ReduceMean");
}

static bool channel_max(OnnxGraph *o, const Node *node) {
    return over_channels(o, node, "ReduceMax");
}

/* COUNT axes from FIRST on, from BEGIN to END. */
static bool part(OnnxGraph *o, const Node *node, int first, int count, const int64_t *start,
                 const int64_t *end) {
    int64_t axis[AXES + 1];
    OnnxNode n = begin(o, "Slice");
    for (int k = 0; k < count; k++)
        axis[k] = first + k;
    reads_input(&n, node, 0);
    reads(&n, list(o, start, count));
    reads(&n, list(o, end, count));
    reads(&n, list(o, axis, count));
    return writes_output(&n, node);
}

static bool slice(OnnxGraph *o, const Node *node) {
    const int64_t start = node->a.slice.channel_begin,
                  end = start + shape_channels(shape_of(o, node->out[0]));
    return part(o, node, 1, 1, &start, &end);
}

/* ---- of another size ---- */

/* The numbers of the points of x that the OUT points of y along an axis copy.  The first point of y lies
 * OFFSET points behind the first point of x. */
static const char *sources(OnnxGraph *o, UnetBorder border, int64_t offset, int64_t extent, int64_t out) {
    int64_t *point = NEW_ARRAY(o->pool, int64_t, out);
    for (int64_t k = 0; k < out; k++) {
        const int64_t at = k + offset;
        const int64_t beyond = border == UNET_BORDER_WRAP ? (at < 0 ? at + extent : at - extent)
                                                          : (at < 0 ? -at : 2 * (extent - 1) - at);
        point[k] = border == UNET_BORDER_FLIP ? extent - 1 - at : at >= 0 && at < extent ? at : beyond;
    }
    return list(o, point, (int)out);
}

/* The same number on all sides. */
static bool surround(OnnxGraph *o, const Node *node) {
    enum { ALL = 2 + AXES };
    const Shape x = shape_of(o, node->in[0]), y = shape_of(o, node->out[0]);
    const int axes = x.rank - 1;
    int64_t pads[2 * ALL] = {0};
    for (int k = 0; k < axes; k++) {
        const int64_t offset = node->a.resize.offset[AXES - axes + k];
        pads[2 + k] = -offset;
        pads[2 + axes + 2 + k] = y.dim[1 + k] - x.dim[1 + k] + offset;
    }
    OnnxNode n = begin(o, "Pad");
    reads_input(&n, node, 0);
    reads(&n, list(o, pads, 2 * (2 + axes)));
    reads(&n, numbers(o, node->a.resize.number, -1));
    text(&n, "mode", "constant");
    return writes_output(&n, node);
}

/* Along each axis y gathers points of x. */
static bool border(OnnxGraph *o, const Node *node) {
    const ResizeAttributes *a = &node->a.resize;
    const Shape x = shape_of(o, node->in[0]), y = shape_of(o, node->out[0]);
    const char *last = o->name[node->in[0]];
    bool numbered = true;
    for (int k = 1; k < x.rank; k++)
        numbered &= a->border[AXES - x.rank + k] == UNET_BORDER_NUMBER;
    for (int k = 1; !numbered && k < x.rank; k++) {
        const int axis = AXES - x.rank + k;
        if (a->border[axis] == UNET_BORDER_NUMBER)
            continue;
        const char *next = between(o, node),
                   *from = sources(o, a->border[axis], a->offset[axis], x.dim[k], y.dim[k]);
        OnnxNode n = begin(o, "Gather");
        reads(&n, last);
        reads(&n, from);
        integer(&n, "axis", k + 1);
        (void)writes(&n, next);
        last = next;
    }
    if (numbered)
        return surround(o, node);
    OnnxNode n = begin(o, "Identity");
    reads(&n, last);
    return writes_output(&n, node);
}

/* The OFFSET of a crop lies in x; a pad begins with as many points in front of x, and OFFSET is negative.
 */
static bool match(OnnxGraph *o, const Node *node) {
    enum { ALL = 2 + AXES };
    const Shape x = shape_of(o, node->in[0]), y = shape_of(o, node->out[0]);
    const ResizeAttributes *a = &node->a.resize;
    const int axes = x.rank - 1;
    int64_t end[AXES], pads[2 * ALL] = {0};
    const int64_t *start = a->offset + AXES - axes;
    bool larger = false;
    for (int k = 0; k < axes; k++) {
        end[k] = start[k] + y.dim[1 + k];
        pads[2 + k] = -start[k];
        pads[2 + axes + 2 + k] = end[k] - x.dim[1 + k];
        larger |= y.dim[1 + k] > x.dim[1 + k];
    }
    if (!larger)
        return part(o, node, 2, axes, start, end);
    OnnxNode n = begin(o, "Pad");
    reads_input(&n, node, 0);
    reads(&n, list(o, pads, 2 * (2 + axes)));
    text(&n, "mode", a->zero ? "constant" : "edge");
    return writes_output(&n, node);
}

/* Between points all places are alike if there is one point alone. */
static bool any_place(const ResizeAttributes *a, Shape x, int axis) {
    return a->linear && x.dim[axis] == 1;
}

/* How ONNX calls the places of the points: see op_resize.c. */
static const char *places(const ResizeAttributes *a, Shape x, Shape y) {
    bool from_begin = true, centred = true, corners = true;
    for (int k = 1; k < x.rank; k++) {
        const int i = AXES - x.rank + k;
        const int64_t step = a->step[i], unit = a->unit[i], offset = a->offset[i];
        if (any_place(a, x, k))
            continue;
        from_begin &= offset == 0;
        centred &= 2 * offset == (a->linear ? step - unit : step);
        corners &= offset == 0 && (y.dim[k] == 1 || step * (y.dim[k] - 1) == unit * (x.dim[k] - 1));
    }
    return a->linear ? (centred   ? "half_pixel"
                        : corners ? "align_corners"
                                  : NULL)
                     : (from_begin ? "asymmetric"
                        : centred  ? "half_pixel"
                                   : NULL);
}

/* How many times as large; rounded up where the size would else come out one too small. */
static float scale_of(int64_t to, int64_t from, int64_t in, int64_t out) {
    const float scale = (float)to / (float)from;
    return floor((double)scale * (double)in) < (double)out ? nextafterf(scale, INFINITY) : scale;
}

/* ONNX works out the size and which points are nearest from a float: are they ours?  The size in floats, or
 * in doubles. */
static bool agrees(const ResizeAttributes *a, int i, float scale, int64_t in, int64_t out) {
    bool same_points =
        (int64_t)floorf(scale * (float)in) == out && (int64_t)floor((double)scale * (double)in) == out;
    const float centre = a->offset[i] == 0 ? 0 : 0.5F;
    for (int64_t k = 0; k < out && !a->linear; k++)
        same_points &=
            (int64_t)floorf(((float)k + centre) / scale) == (k * a->step[i] + a->offset[i]) / a->unit[i];
    return same_points;
}

static bool resize(OnnxGraph *o, const Node *node) {
    const ResizeAttributes *a = &node->a.resize;
    const Shape x = shape_of(o, node->in[0]), y = shape_of(o, node->out[0]);
    const char *where = places(a, x, y);
    float scale[MAX_RANK + 1] = {1, 1};
    if (where == NULL)
        return false;
    for (int k = 1; k < x.rank; k++) {
        const int i = AXES - x.rank + k;
        const bool corners = strcmp(where, "align_corners") == 0 || any_place(a, x, k);
        scale[k + 1] = corners ? scale_of(y.dim[k], x.dim[k], x.dim[k], y.dim[k])
                               : scale_of(a->unit[i], a->step[i], x.dim[k], y.dim[k]);
        if (!agrees(a, i, scale[k + 1], x.dim[k], y.dim[k]))
            return false;
    }
    OnnxNode n = begin(o, "Resize");
    reads_input(&n, node, 0);
    reads(&n, "");
    const int64_t axes = x.rank + 1;
    reads(&n, constant_of(o, ELEMENT_FLOAT, &axes, 1, scale, (size_t)axes * sizeof *scale));
    text(&n, "mode", a->linear ? "linear" : "nearest");
    text(&n, "coordinate_transformation_mode", where);
    if (!a->linear)
        text(&n, "nearest_mode", strcmp(where, "asymmetric") == 0 ? "floor" : "round_prefer_ceil");
    return writes_output(&n, node);
}

/* PyTorch's order of channels, which ONNX calls CRD. */
static bool pixel_shuffle(OnnxGraph *o, const Node *node) {
    OnnxNode n = begin(o, "DepthToSpace");
    reads_input(&n, node, 0);
    integer(&n, "blocksize", (int64_t)node->a.map.parameter);
    text(&n, "mode", "CRD");
    return axes_of(o, node) == 2 && writes_output(&n, node);
}

/* FROM in another shape, as TO. */
static const char *reshaped(OnnxGraph *o, const char *from, const char *to, const int64_t *shape,
                            int rank) {
    OnnxNode n = begin(o, "Reshape");
    reads(&n, from);
    reads(&n, list(o, shape, rank));
    (void)writes(&n, to);
    return to;
}

static const char *transposed(OnnxGraph *o, const Node *node, const char *x, const int64_t *order,
                              int axes) {
    const char *result = between(o, node);
    OnnxNode n = begin(o, "Transpose");
    reads(&n, x);
    integers(&n, "perm", order, axes);
    (void)writes(&n, result);
    return result;
}

/* Columns and rows of a block become channels. */
static bool pixel_unshuffle(OnnxGraph *o, const Node *node) {
    static const int64_t order[] = {0, 1, 3, 5, 2, 4};
    const Shape x = shape_of(o, node->in[0]), y = shape_of(o, node->out[0]);
    const int64_t r = (int64_t)node->a.map.parameter;
    if (axes_of(o, node) != 2)
        return false;
    const int64_t blocks[] = {0, x.dim[0], y.dim[1], r, y.dim[2], r},
                  whole[] = {0, y.dim[0], y.dim[1], y.dim[2]};
    const char *apart = reshaped(o, o->name[node->in[0]], between(o, node), blocks, 6);
    const char *moved = between(o, node);
    OnnxNode n = begin(o, "Transpose");
    reads(&n, apart);
    integers(&n, "perm", order, 6);
    (void)writes(&n, moved);
    (void)reshaped(o, moved, o->name[node->out[0]], whole, 4);
    return true;
}

/* Returns the place of part I of x among the parts of y. */
static int place_in_result(const Rearrangement *r, int i) {
    const AxisPart *part = &r->part[i];
    int place = 0;
    for (int k = 0; k < r->count; k++) {
        const AxisPart *other = &r->part[k];
        const bool same = other->y_axis == part->y_axis,
                   outer = other->y_step > part->y_step || (other->y_step == part->y_step && k < i);
        place += other->y_axis < part->y_axis || (same && outer);
    }
    return place;
}

/* Each part of the axes becomes an axis; the axes take the order of y; then they are joined.  An axis of y
 * that ends with a part of one element may have this part elsewhere, which moves nothing. */
static bool rearrange(OnnxGraph *o, const Node *node) {
    enum { MOST = MAX_PARTS_OF_AXES + 1 };
    const Rearrangement *r = node->a.rearrange;
    const Shape y = shape_of(o, node->out[0]);
    int64_t apart[MOST] = {0}, order[MOST] = {0}, whole[MAX_RANK + 1] = {0};
    for (int i = 0; i < r->count; i++) {
        apart[i + 1] = r->part[i].extent;
        order[place_in_result(r, i) + 1] = i + 1;
    }
    for (int k = 0; k < y.rank; k++)
        whole[k + 1] = y.dim[k];
    const char *parts = reshaped(o, o->name[node->in[0]], between(o, node), apart, r->count + 1);
    (void)reshaped(o, transposed(o, node, parts, order, r->count + 1), o->name[node->out[0]], whole,
                   y.rank + 1);
    return true;
}

/* ---- normalisations ---- */

enum { MEAN = 1, VARIANCE, SCALE, SHIFT }; /* their inputs, behind x */

/* Input K, or, where there is none, COUNT times OTHERWISE. */
static void reads_weights(OnnxNode *n, const Node *node, int k, double otherwise, int64_t count) {
    const bool given = k < node->nin && node->in[k] >= 0;
    reads(n, given ? n->o->name[node->in[k]] : numbers(n->o, otherwise, count));
}

static bool batch_norm(OnnxGraph *o, const Node *node) {
    const int64_t channels = shape_channels(shape_of(o, node->out[0]));
    OnnxNode n = begin(o, "BatchNormalization");
    reads_input(&n, node, 0);
    reads_weights(&n, node, SCALE, 1, channels);
    reads_weights(&n, node, SHIFT, 0, channels);
    reads_input(&n, node, MEAN);
    reads_input(&n, node, VARIANCE);
    real(&n, "epsilon", node->a.norm.epsilon);
    return writes_output(&n, node);
}

/* ONNX works out the statistics of a sample itself. */
static bool norm_statistics(OnnxGraph *o, const Node *node) {
    (void)o;
    return node->op == OP_NORM_STATISTICS;
}

static bool instance_norm(OnnxGraph *o, const Node *node) {
    const int64_t channels = shape_channels(shape_of(o, node->out[0]));
    OnnxNode n = begin(o, "InstanceNormalization");
    reads_input(&n, node, 0);
    reads_weights(&n, node, SCALE, 1, channels);
    reads_weights(&n, node, SHIFT, 0, channels);
    real(&n, "epsilon", node->a.norm.epsilon);
    return writes_output(&n, node);
}

/* A weight of each channel, to be broadcast over its points. */
static const char *of_channels(OnnxGraph *o, const Node *node, int k) {
    const Shape y = shape_of(o, node->out[0]);
    int64_t shape[MAX_RANK + 1];
    for (int i = 0; i <= y.rank; i++)
        shape[i] = i == 1 ? y.dim[0] : 1;
    return reshaped(o, o->name[node->in[k]], between(o, node), shape, y.rank + 1);
}

/* Each group as one channel, normalised, and taken apart again. */
static bool group_norm(OnnxGraph *o, const Node *node) {
    const Shape y = shape_of(o, node->out[0]);
    const bool affine_too = SHIFT < node->nin && node->in[SCALE] >= 0;
    int64_t whole[MAX_RANK + 1] = {0};
    const int64_t grouped[] = {0, node->a.norm.groups, -1};
    for (int k = 0; k < y.rank; k++)
        whole[k + 1] = y.dim[k];
    const char *groups = reshaped(o, o->name[node->in[0]], between(o, node), grouped, 3);
    const char *normal = between(o, node), *scaled = between(o, node);
    OnnxNode n = begin(o, "InstanceNormalization");
    reads(&n, groups);
    reads(&n, numbers(o, 1, node->a.norm.groups));
    reads(&n, numbers(o, 0, node->a.norm.groups));
    real(&n, "epsilon", node->a.norm.epsilon);
    (void)writes(&n, normal);
    if (!affine_too) {
        (void)reshaped(o, normal, o->name[node->out[0]], whole, y.rank + 1);
        return true;
    }
    const char *apart = reshaped(o, normal, between(o, node), whole, y.rank + 1);
    const char *scale = of_channels(o, node, SCALE), *shift = of_channels(o, node, SHIFT);
    OnnxNode times = begin(o, "Mul"), plus = begin(o, "Add");
    reads(&times, apart);
    reads(&times, scale);
    (void)writes(&times, scaled);
    reads(&plus, scaled);
    reads(&plus, shift);
    return writes_output(&plus, node);
}

/* ---- a weight of each channel, and what normalises across channels ---- */

enum { FACTOR = 1, SUMMAND }; /* inputs of a scale, behind x */

/* Input K, or one number for all channels. */
static const char *weight_of(OnnxGraph *o, const Node *node, int k) {
    static const int64_t ones[MAX_RANK + 1] = {1, 1, 1, 1, 1};
    const int rank = shape_of(o, node->out[0]).rank + 1;
    return shape_elements(shape_of(o, node->in[k])) > 1
               ? of_channels(o, node, k)
               : reshaped(o, o->name[node->in[k]], between(o, node), ones, rank);
}

static bool scale(OnnxGraph *o, const Node *node) {
    const bool shifts = SUMMAND < node->nin && node->in[SUMMAND] >= 0;
    const char *factor = weight_of(o, node, FACTOR), *scaled = between(o, node);
    OnnxNode times = begin(o, "Mul");
    reads_input(&times, node, 0);
    reads(&times, factor);
    if (!shifts)
        return writes_output(&times, node);
    (void)writes(&times, scaled);
    const char *summand = weight_of(o, node, SUMMAND);
    OnnxNode plus = begin(o, "Add");
    reads(&plus, scaled);
    reads(&plus, summand);
    return writes_output(&plus, node);
}

static bool prelu(OnnxGraph *o, const Node *node) {
    const char *slope = weight_of(o, node, FACTOR);
    OnnxNode n = begin(o, "PRelu");
    reads_input(&n, node, 0);
    reads(&n, slope);
    return writes_output(&n, node);
}

/* The result of an operator on A and, unless it is NULL, B. */
static const char *result_of(OnnxGraph *o, const Node *node, const char *type, const char *a,
                             const char *b) {
    const char *result = between(o, node);
    OnnxNode n = begin(o, type);
    reads(&n, a);
    if (b != NULL)
        reads(&n, b);
    (void)writes(&n, result);
    return result;
}

static const char *mean_over_channels(OnnxGraph *o, const Node *node, const char *x) {
    static const int64_t channels[] = {1};
    const char *mean = between(o, node);
    OnnxNode n = begin(o, "ReduceMean");
    reads(&n, x);
    integers(&n, "axes", channels, 1);
    (void)writes(&n, mean);
    return mean;
}

/* ONNX's own normalises the last axes, not the axis of channels. */
static bool layer_norm(OnnxGraph *o, const Node *node) {
    const char *x = o->name[node->in[0]];
    const char *from_mean = result_of(o, node, "Sub", x, mean_over_channels(o, node, x));
    const char *squares = result_of(o, node, "Mul", from_mean, from_mean);
    const char *variance = mean_over_channels(o, node, squares);
    const char *square = result_of(o, node, "Add", variance, numbers(o, node->a.norm.epsilon, -1));
    const char *deviation = result_of(o, node, "Sqrt", square, NULL);
    OnnxNode n = begin(o, "Div");
    reads(&n, from_mean);
    reads(&n, deviation);
    return writes_output(&n, node);
}

/* The axes sample, group, channel of the group, point. */
static const char *groups_of_input(OnnxGraph *o, const Node *node) {
    const Shape x = shape_of(o, node->in[0]);
    const int64_t groups = node->a.norm.groups,
                  shape[] = {0, groups, x.dim[0] / groups, shape_elements(x) / x.dim[0]};
    return reshaped(o, o->name[node->in[0]], between(o, node), shape, 4);
}

/* X with the axes of the output. */
static bool writes_reshaped(OnnxGraph *o, const Node *node, const char *x) {
    const Shape y = shape_of(o, node->out[0]);
    int64_t shape[MAX_RANK + 1] = {0};
    for (int k = 0; k < y.rank; k++)
        shape[k + 1] = y.dim[k];
    (void)reshaped(o, x, o->name[node->out[0]], shape, y.rank + 1);
    return true;
}

static bool softmax(OnnxGraph *o, const Node *node) {
    if (node->a.norm.groups > 1) {
        const char *groups = groups_of_input(o, node), *shares = between(o, node);
        OnnxNode n = begin(o, "Softmax");
        reads(&n, groups);
        integer(&n, "axis", 2);
        (void)writes(&n, shares);
        return writes_reshaped(o, node, shares);
    }
    OnnxNode n = begin(o, "Softmax");
    reads_input(&n, node, 0);
    integer(&n, "axis", 1);
    return writes_output(&n, node);
}

static bool point_softmax(OnnxGraph *o, const Node *node) {
    const Shape x = shape_of(o, node->in[0]);
    const int64_t flat[] = {0, x.dim[0], shape_elements(x) / x.dim[0]};
    const char *points = reshaped(o, o->name[node->in[0]], between(o, node), flat, 3),
               *shares = between(o, node);
    OnnxNode n = begin(o, "Softmax");
    reads(&n, points);
    integer(&n, "axis", 2);
    (void)writes(&n, shares);
    return writes_reshaped(o, node, shares);
}

/* Squares are added, or their mean is taken; a length is EPSILON at least. */
static bool normalize(OnnxGraph *o, const Node *node) {
    static const int64_t channels[] = {2};
    const bool root_mean = node->a.norm.root_mean;
    const char *epsilon = numbers(o, node->a.norm.epsilon, -1), *groups = groups_of_input(o, node),
               *summed = root_mean ? result_of(o, node, "Mul", groups, groups) : groups,
               *length = between(o, node);
    OnnxNode n = begin(o, root_mean ? "ReduceMean" : "ReduceL2");
    reads(&n, summed);
    integers(&n, "axes", channels, 1);
    (void)writes(&n, length);
    length = result_of(o, node, root_mean ? "Add" : "Max", length, epsilon);
    if (root_mean)
        length = result_of(o, node, "Sqrt", length, NULL);
    return writes_reshaped(o, node, result_of(o, node, "Div", groups, length));
}

/* ---- attention ---- */

/* Input K with an axis for the heads and one for all points. */
static const char *heads_of(OnnxGraph *o, const Node *node, int k) {
    const Shape x = shape_of(o, node->in[k]);
    const int64_t heads = node->a.attention.heads,
                  shape[] = {0, heads, x.dim[0] / heads, shape_elements(x) / x.dim[0]};
    return reshaped(o, o->name[node->in[k]], between(o, node), shape, 4);
}

/* -infinity below the diagonal of a table with a row for each key and a column for each query. */
static const char *hidden_keys(OnnxGraph *o, const Node *node, int64_t points) {
    static const int64_t one[] = {1, 1, 1, 1}, below = -1;
    static const float least = -INFINITY;
    const int64_t shape[] = {1, 1, points, points};
    const char *name = between(o, node);
    OnnxNode n = begin(o, "Trilu");
    reads(&n, result_of(o, node, "Expand", constant_of(o, ELEMENT_FLOAT, one, 4, &least, sizeof least),
                        list(o, shape, 4)));
    reads(&n, constant_of(o, ELEMENT_INT64, NULL, 0, &below, sizeof below));
    integer(&n, "upper", 0);
    (void)writes(&n, name);
    return name;
}

/* The bias of each pair of points, where there are no windows: rows are keys, columns are queries. */
static const char *bias_of_map(OnnxGraph *o, const Node *node) {
    enum { BIAS = 3 };
    static const int64_t turned[] = {0, 1, 3, 2};
    const AttentionAttributes *a = &node->a.attention;
    const int64_t pairs = shape_elements(shape_of(o, node->in[BIAS])) / a->heads,
                  shape[] = {0, a->heads, pairs / a->pairs, a->pairs};
    return transposed(o, node, reshaped(o, o->name[node->in[BIAS]], between(o, node), shape, 4), turned, 4);
}

/* The shares that each query has of all keys. */
static const char *shares_of_keys(OnnxGraph *o, const Node *node, const char *queries, const char *keys) {
    static const int64_t turned[] = {0, 1, 3, 2};
    enum { BIAS = 3 };
    const Shape k = shape_of(o, node->in[1]);
    const char *key_rows = transposed(o, node, keys, turned, 4), *shares = between(o, node);
    OnnxNode softmax_node = begin(o, "Softmax");
    const char *products = result_of(o, node, "Mul", result_of(o, node, "MatMul", key_rows, queries),
                                     numbers(o, node->a.attention.scale, -1));
    if (node->in[BIAS] >= 0)
        products = result_of(o, node, "Add", products, bias_of_map(o, node));
    if (node->a.attention.causal)
        products = result_of(o, node, "Add", products,
                             hidden_keys(o, node, shape_elements(k) / shape_channels(k)));
    reads(&softmax_node, products);
    integer(&softmax_node, "axis", 2);
    (void)writes(&softmax_node, shares);
    return shares;
}

/* ---- attention in windows: tensors have the axes sample, head, window, and two of matrices ---- */

typedef struct {
    int64_t map[AXES], window[AXES], count[AXES], shift[AXES];
    int64_t windows, points; /* of a window */
} Windows;

static Windows windows_of(const OnnxGraph *o, const Node *node) {
    const Shape q = shape_of(o, node->in[0]);
    Windows w = {.points = attention_window_points(node, q)};
    w.windows = shape_elements(q) / q.dim[0] / w.points;
    for (int axis = 0; axis < AXES; axis++) {
        w.map[axis] = shape_extent(q, axis);
        w.window[axis] = node->a.attention.window[axis];
        w.count[axis] = w.map[axis] / w.window[axis];
        w.shift[axis] = node->a.attention.shift[axis];
    }
    return w;
}

/* Numbers go row by row through a box of these extents: along an axis number I lies here. */
static int64_t coordinate(const int64_t *extent, int64_t i, int axis) {
    for (int k = AXES - 1; k > axis; k--)
        i /= extent[k];
    return i % extent[axis];
}

/* Point I of all windows, on the rolled map. */
static int64_t rolled(const Windows *w, int64_t i, int axis) {
    return coordinate(w->count, i / w->points, axis) * w->window[axis] +
           coordinate(w->window, i % w->points, axis);
}

/* The points of the map, window by window; or, for each point of the map, its place among these. */
static int64_t *point_order(const OnnxGraph *o, const Windows *w, bool back) {
    const int64_t count = w->windows * w->points;
    int64_t *order = NEW_ARRAY(o->pool, int64_t, count);
    for (int64_t i = 0; i < count; i++) {
        int64_t point = 0;
        for (int axis = 0; axis < AXES; axis++)
            point = point * w->map[axis] + (rolled(w, i, axis) + w->shift[axis]) % w->map[axis];
        order[back ? point : i] = back ? i : point;
    }
    return order;
}

static const char *gathered(OnnxGraph *o, const Node *node, const char *x, int axis, const char *from) {
    const char *result = between(o, node);
    OnnxNode n = begin(o, "Gather");
    reads(&n, x);
    reads(&n, from);
    integer(&n, "axis", axis);
    (void)writes(&n, result);
    return result;
}

static const char *integers_of(OnnxGraph *o, const int64_t *value, const int64_t *dim, int rank) {
    int64_t count = 1;
    for (int k = 0; k < rank; k++)
        count *= dim[k];
    return constant_of(o, ELEMENT_INT64, dim, rank, value, (size_t)count * sizeof *value);
}

static const int64_t points_first[] = {0, 1, 3, 2, 4}, points_last[] = {0, 1, 2, 4, 3};

/* Input K of each window as a matrix with a column for each point. */
static const char *windows_of_input(OnnxGraph *o, const Node *node, int k, const Windows *w) {
    const int64_t dim[] = {w->windows, w->points};
    const char *order = integers_of(o, point_order(o, w, false), dim, 2);
    return transposed(o, node, gathered(o, node, heads_of(o, node, k), 3, order), points_first, 5);
}

/* The number that the difference of two points of a window has in a bias of differences. */
static int64_t number_of_difference(const Windows *w, int64_t query, int64_t key) {
    int64_t number = 0;
    for (int axis = 0; axis < AXES; axis++)
        number = number * (2 * w->window[axis] - 1) + coordinate(w->window, query, axis) -
                 coordinate(w->window, key, axis) + w->window[axis] - 1;
    return number;
}

/* The bias of each pair of points of a window: rows are keys, columns are queries. */
static const char *bias_of_pairs(OnnxGraph *o, const Node *node, const Windows *w) {
    enum { BIAS = 3 };
    const int64_t heads = node->a.attention.heads,
                  shape[] = {0, heads, shape_elements(shape_of(o, node->in[BIAS])) / heads},
                  dim[] = {1, w->points, w->points};
    int64_t *number = NEW_ARRAY(o->pool, int64_t, w->points * w->points);
    for (int64_t i = 0; i < w->points * w->points; i++) {
        const int64_t key = i / w->points, query = i % w->points;
        number[i] =
            node->a.attention.pairs > 0 ? query * w->points + key : number_of_difference(w, query, key);
    }
    const char *flat = reshaped(o, o->name[node->in[BIAS]], between(o, node), shape, 3);
    return gathered(o, node, flat, 2, integers_of(o, number, dim, 3));
}

/* PRODUCTS, or -infinity where the former ends of the map lie between the two points. */
static const char *same_sides(OnnxGraph *o, const Node *node, const char *products, const Windows *w) {
    const int64_t rows[] = {1, 1, w->windows, w->points, 1}, columns[] = {1, 1, w->windows, 1, w->points};
    int64_t *side = NEW_ARRAY(o->pool, int64_t, w->windows * w->points);
    for (int64_t i = 0; i < w->windows * w->points; i++)
        for (int axis = 0; axis < AXES; axis++)
            side[i] = 2 * side[i] + (rolled(w, i, axis) >= w->map[axis] - w->shift[axis]);
    const char *seen = result_of(o, node, "Equal", integers_of(o, side, rows, 5),
                                 integers_of(o, side, columns, 5)),
               *result = between(o, node);
    OnnxNode n = begin(o, "Where");
    reads(&n, seen);
    reads(&n, products);
    reads(&n, numbers(o, -INFINITY, -1));
    (void)writes(&n, result);
    return result;
}

/* The mean of the values of each window, for each query of the window. */
static const char *means_in_windows(OnnxGraph *o, const Node *node, const Windows *w) {
    enum { Q, K, V, BIAS };
    const char *key_rows = transposed(o, node, windows_of_input(o, node, K, w), points_last, 5),
               *shares = between(o, node);
    const char *products =
        result_of(o, node, "Mul", result_of(o, node, "MatMul", key_rows, windows_of_input(o, node, Q, w)),
                  numbers(o, node->a.attention.scale, -1));
    if (node->in[BIAS] >= 0)
        products = result_of(o, node, "Add", products, bias_of_pairs(o, node, w));
    if (w->shift[0] + w->shift[1] + w->shift[2] > 0)
        products = same_sides(o, node, products, w);
    OnnxNode n = begin(o, "Softmax");
    reads(&n, products);
    integer(&n, "axis", 3);
    (void)writes(&n, shares);
    return result_of(o, node, "MatMul", windows_of_input(o, node, V, w), shares);
}

/* The same on the map. */
static const char *means_on_map(OnnxGraph *o, const Node *node) {
    const Windows w = windows_of(o, node);
    const int64_t heads = node->a.attention.heads,
                  shape[] = {0, heads, shape_of(o, node->out[0]).dim[0] / heads, w.windows * w.points};
    const char *apart = transposed(o, node, means_in_windows(o, node, &w), points_first, 5);
    return gathered(o, node, reshaped(o, apart, between(o, node), shape, 4), 3,
                    integers_of(o, point_order(o, &w, true), &shape[3], 1));
}

static const char *means_of_map(OnnxGraph *o, const Node *node) {
    enum { Q, K, V };
    const char *shares = shares_of_keys(o, node, heads_of(o, node, Q), heads_of(o, node, K));
    return result_of(o, node, "MatMul", heads_of(o, node, V), shares);
}

static bool attention(OnnxGraph *o, const Node *node) {
    const Shape y = shape_of(o, node->out[0]);
    int64_t whole[MAX_RANK + 1] = {0};
    for (int k = 0; k < y.rank; k++)
        whole[k + 1] = y.dim[k];
    const bool windowed = node->a.attention.window[0] > 0;
    (void)reshaped(o, windowed ? means_on_map(o, node) : means_of_map(o, node), o->name[node->out[0]],
                   whole, y.rank + 1);
    return true;
}

/* ---- attention over channels ---- */

/* Input K with an axis for the heads and one for all points, each channel by its length if asked for. */
static const char *channels_of_heads(OnnxGraph *o, const Node *node, int k) {
    static const float least = 1e-12F;
    static const int64_t points = 3;
    const char *x = heads_of(o, node, k);
    if (!node->a.attention.normalize)
        return x;
    const char *length = between(o, node), *at_least = between(o, node);
    OnnxNode n = begin(o, "ReduceL2");
    reads(&n, x);
    integers(&n, "axes", &points, 1);
    (void)writes(&n, length);
    OnnxNode bound = begin(o, "Max");
    reads(&bound, length);
    reads(&bound, constant_of(o, ELEMENT_FLOAT, NULL, 0, &least, sizeof least));
    (void)writes(&bound, at_least);
    return result_of(o, node, "Div", x, at_least);
}

static bool channel_attention(OnnxGraph *o, const Node *node) {
    enum { Q, K, V, TEMPERATURE };
    static const int64_t turned[] = {0, 1, 3, 2};
    const AttentionAttributes *a = &node->a.attention;
    const int64_t by_head[] = {0, a->heads, 1, 1};
    const char *products = result_of(o, node, "MatMul", channels_of_heads(o, node, Q),
                                     transposed(o, node, channels_of_heads(o, node, K), turned, 4));
    products = result_of(o, node, "Mul", products, numbers(o, a->scale, -1));
    if (node->in[TEMPERATURE] >= 0)
        products = result_of(o, node, "Mul", products,
                             reshaped(o, o->name[node->in[TEMPERATURE]], between(o, node), by_head, 4));
    if (!a->linear) {
        const char *shares = between(o, node);
        OnnxNode n = begin(o, "Softmax");
        reads(&n, products);
        integer(&n, "axis", 3);
        (void)writes(&n, shares);
        products = shares;
    }
    return writes_reshaped(o, node, result_of(o, node, "MatMul", products, heads_of(o, node, V)));
}

/* By as many of each channel, row and column as y has and x lacks. */
static bool repeat(OnnxGraph *o, const Node *node) {
    const Shape y = shape_of(o, node->out[0]);
    int64_t shape[MAX_RANK + 1] = {1};
    for (int k = 0; k < y.rank; k++)
        shape[k + 1] = y.dim[k];
    OnnxNode n = begin(o, "Expand");
    reads_input(&n, node, 0);
    reads(&n, list(o, shape, y.rank + 1));
    return writes_output(&n, node);
}

/* FROM of one sample as the first input has samples. */
static bool for_each_sample(OnnxGraph *o, const Node *node, const char *from) {
    static const int64_t first = 0, end = 1;
    const Shape y = shape_of(o, node->out[0]);
    ValueId input = 0;
    while (o->graph->value[input].class != CLASS_STAGING || o->name[input] == NULL)
        input++;
    const char *count = between(o, node), *shape = between(o, node);
    const char *sizes = result_of(o, node, "Shape", o->name[input], NULL);
    OnnxNode samples = begin(o, "Slice"), joined = begin(o, "Concat"), n = begin(o, "Expand");
    reads(&samples, sizes);
    reads(&samples, list(o, &first, 1));
    reads(&samples, list(o, &end, 1));
    (void)writes(&samples, count);
    reads(&joined, count);
    reads(&joined, list(o, y.dim, y.rank));
    integer(&joined, "axis", 0);
    (void)writes(&joined, shape);
    reads(&n, from);
    reads(&n, shape);
    return writes_output(&n, node);
}

/* A table has a row for each point, and, as the weight of a linear map, axes of one behind its own. */
static bool parameter(OnnxGraph *o, const Node *node) {
    static const int64_t turned[] = {1, 0, 2, 3, 4};
    const Shape y = shape_of(o, node->out[0]);
    const char *w = o->name[node->in[0]];
    int64_t one[MAX_RANK + 1] = {1};
    for (int k = 0; k < y.rank; k++)
        one[k + 1] = y.dim[k];
    if (shape_of(o, node->in[0]).rank == 2)
        w = transposed(o, node, w, turned, y.rank + 1);
    return for_each_sample(o, node, reshaped(o, w, between(o, node), one, y.rank + 1));
}

static bool constant(OnnxGraph *o, const Node *node) {
    const Shape y = shape_of(o, node->out[0]);
    const int64_t one[MAX_RANK + 1] = {1, y.dim[0], 1, 1, 1};
    float *values = NEW_ARRAY(o->pool, float, y.dim[0]);
    for (int i = 0; i < node->a.values.count; i++)
        values[i] = (float)node->a.values.value[i];
    return for_each_sample(
        o, node, constant_of(o, ELEMENT_FLOAT, one, y.rank + 1, values, (size_t)y.dim[0] * sizeof *values));
}

/* ---- functions that ONNX makes of others ---- */

/* Between two numbers; NULL: no bound. */
static const char *clamped(OnnxGraph *o, const char *x, const char *low, const char *high,
                           const char *name) {
    OnnxNode n = begin(o, "Clip");
    reads(&n, x);
    reads(&n, low == NULL ? "" : low);
    if (high != NULL)
        reads(&n, high);
    (void)writes(&n, name);
    return name;
}

/* Whole numbers choose rows of the table; the channels of a row become the channels of a map. */
static bool embedding(OnnxGraph *o, const Node *node) {
    const Shape y = shape_of(o, node->out[0]);
    const double last = (double)(shape_of(o, node->in[1]).dim[0] - 1);
    int64_t order[MAX_RANK + 2], whole[MAX_RANK + 1] = {0};
    for (int k = 0; k < y.rank; k++)
        whole[k + 1] = y.dim[k];
    for (int k = 0; k <= y.rank + 1; k++)
        order[k] = k == 1 ? y.rank + 1 : k == y.rank + 1 ? 1 : k;
    const char *nearest = result_of(o, node, "Add", o->name[node->in[0]], numbers(o, 0.5, -1));
    nearest = clamped(o, nearest, numbers(o, 0, -1), numbers(o, last, -1), between(o, node));
    const char *row = between(o, node);
    OnnxNode n = begin(o, "Cast");
    reads(&n, nearest);
    integer(&n, "to", ELEMENT_INT64);
    (void)writes(&n, row);
    const char *rows =
        transposed(o, node, gathered(o, node, o->name[node->in[1]], 0, row), order, y.rank + 2);
    (void)reshaped(o, rows, o->name[node->out[0]], whole, y.rank + 1);
    return true;
}

static bool clamp(OnnxGraph *o, const Node *node) {
    const double first = node->a.map.parameter, second = node->a.map.second;
    const UnetFunction f = node->a.map.function;
    const char *low =
        f == UNET_FUNCTION_AT_MOST ? NULL : numbers(o, f == UNET_FUNCTION_RELU6 ? 0 : first, -1);
    const char *high = f == UNET_FUNCTION_AT_LEAST ? NULL
                       : f == UNET_FUNCTION_RELU6
                           ? numbers(o, 6, -1)
                           : numbers(o, f == UNET_FUNCTION_AT_MOST ? first : second, -1);
    (void)clamped(o, o->name[node->in[0]], low, high, o->name[node->out[0]]);
    return true;
}

/* The last of several nodes: A and B make what NODE writes. */
static bool ends_with(OnnxGraph *o, const Node *node, const char *type, const char *a, const char *b) {
    OnnxNode n = begin(o, type);
    reads(&n, a);
    reads(&n, b);
    return writes_output(&n, node);
}

static bool square(OnnxGraph *o, const Node *node) {
    return ends_with(o, node, "Mul", o->name[node->in[0]], o->name[node->in[0]]);
}

/* Six times hard_sigmoid. */
static const char *hard_gate(OnnxGraph *o, const Node *node) {
    const char *shifted = result_of(o, node, "Add", o->name[node->in[0]], numbers(o, 3, -1));
    return clamped(o, shifted, numbers(o, 0, -1), numbers(o, 6, -1), between(o, node));
}

static bool hard_sigmoid(OnnxGraph *o, const Node *node) {
    return ends_with(o, node, "Div", hard_gate(o, node), numbers(o, 6, -1));
}

static bool hard_swish(OnnxGraph *o, const Node *node) {
    const char *gated = result_of(o, node, "Mul", o->name[node->in[0]], hard_gate(o, node));
    return ends_with(o, node, "Div", gated, numbers(o, 6, -1));
}

/* ONNX's own has no threshold, above which it is x. */
static bool softplus(OnnxGraph *o, const Node *node) {
    const char *x = o->name[node->in[0]], *beta = numbers(o, node->a.map.parameter, -1);
    const char *scaled = result_of(o, node, "Mul", x, beta);
    const char *above = result_of(o, node, "Greater", scaled, numbers(o, node->a.map.second, -1));
    const char *soft = result_of(o, node, "Div", result_of(o, node, "Softplus", scaled, NULL), beta);
    OnnxNode n = begin(o, "Where");
    reads(&n, above);
    reads(&n, x);
    reads(&n, soft);
    return writes_output(&n, node);
}

static bool mish(OnnxGraph *o, const Node *node) {
    const char *x = o->name[node->in[0]], *above = result_of(o, node, "Softplus", x, NULL);
    return ends_with(o, node, "Mul", x, result_of(o, node, "Tanh", above, NULL));
}

/* x times the sigmoid of twice the argument of the hyperbolic tangent. */
static bool gelu_tanh(OnnxGraph *o, const Node *node) {
    const char *x = o->name[node->in[0]], *one = numbers(o, 1, -1);
    const char *square_of = result_of(o, node, "Mul", x, x);
    const char *share = result_of(o, node, "Mul", square_of, numbers(o, 0.044715, -1));
    const char *factor = result_of(o, node, "Add", share, one);
    const char *argument =
        result_of(o, node, "Mul", result_of(o, node, "Mul", x, factor), numbers(o, 1.5957691216057308, -1));
    return ends_with(o, node, "Mul", x, result_of(o, node, "Sigmoid", argument, NULL));
}

static bool sinusoid(OnnxGraph *o, const Node *node) {
    const int half = node->a.values.count, rank = shape_of(o, node->in[0]).rank;
    const int64_t dim[MAX_RANK] = {half, 1, 1, 1, 1};
    float *frequency = NEW_ARRAY(o->pool, float, half);
    for (int i = 0; i < half; i++)
        frequency[i] = (float)node->a.values.value[i];
    const char *frequencies =
        constant_of(o, ELEMENT_FLOAT, dim, rank, frequency, (size_t)half * sizeof *frequency);
    const char *angles = result_of(o, node, "Mul", frequencies, o->name[node->in[0]]);
    const char *waves[] = {result_of(o, node, "Sin", angles, NULL),
                           result_of(o, node, "Cos", angles, NULL)};
    OnnxNode n = begin(o, "Concat");
    reads(&n, waves[node->a.values.cosines_first]);
    reads(&n, waves[!node->a.values.cosines_first]);
    integer(&n, "axis", 1);
    return writes_output(&n, node);
}

/* The pool once more, for its indices. */
static bool max_unpool(OnnxGraph *o, const Node *node) {
    const Window *w = &node->a.pool.window;
    const Shape y = shape_of(o, node->out[0]);
    const char *maxima = between(o, node), *indices = between(o, node);
    int64_t more[AXES];
    OnnxNode pool_node = begin(o, "MaxPool"), n = begin(o, "MaxUnpool");
    reads_input(&pool_node, node, 0);
    (void)window(&pool_node, w, y.rank - 1, more);
    message_text(&pool_node.message, NODE_OUTPUT, maxima);
    (void)writes(&pool_node, indices);
    reads_input(&n, node, 1);
    reads(&n, indices);
    reads(&n, result_of(o, node, "Shape", o->name[node->in[0]], NULL));
    (void)window(&n, w, y.rank - 1, more);
    return writes_output(&n, node);
}

/* ---- the table ---- */

/* Operators that only losses, gradients and passes make have no rule. */
static Rule *const rules[OPS] = {
    [OP_CONV] = conv,
    [OP_CONV_GROUPS] = conv,
    [OP_UPCONV] = upconv,
    [OP_UPCONV_GROUPS] = upconv,
    [OP_RELU] = relu,
    [OP_LEAKY_RELU] = leaky_relu,
    [OP_SIGMOID] = sigmoid,
    [OP_TANH] = tanh_of,
    [OP_ELU] = elu,
    [OP_GELU] = gelu,
    [OP_GELU_TANH] = gelu_tanh,
    [OP_SELU] = selu,
    [OP_MISH] = mish,
    [OP_SOFTPLUS] = softplus,
    [OP_RELU6] = clamp,
    [OP_HARD_SIGMOID] = hard_sigmoid,
    [OP_HARD_SWISH] = hard_swish,
    [OP_CLAMP] = clamp,
    [OP_SQRT] = function,
    [OP_EXP] = function,
    [OP_LOG] = function,
    [OP_SIN] = function,
    [OP_COS] = function,
    [OP_ABS] = function,
    [OP_SQUARE] = square,
    [OP_RECIPROCAL] = function,
    [OP_SOFTMAX] = softmax,
    [OP_POINT_SOFTMAX] = point_softmax,
    [OP_ARGMAX] = argmax,
    [OP_DROPOUT] = dropout,
    [OP_DROPOUT_CHANNELS] = dropout,
    [OP_PIXEL_SHUFFLE] = pixel_shuffle,
    [OP_REARRANGE] = rearrange,
    [OP_PIXEL_UNSHUFFLE] = pixel_unshuffle,
    [OP_SILU] = silu,
    [OP_ATTENTION] = attention,
    [OP_CHANNEL_ATTENTION] = channel_attention,
    [OP_SCALE] = scale,
    [OP_PRELU] = prelu,
    [OP_LAYER_NORM] = layer_norm,
    [OP_NORMALIZE] = normalize,
    [OP_MAX_UNPOOL] = max_unpool,
    [OP_MAX_POOL] = max_pool,
    [OP_AVG_POOL] = avg_pool,
    [OP_ADAPTIVE_AVG_POOL] = adaptive_avg_pool,
    [OP_CHANNEL_MEAN] = channel_mean,
    [OP_CHANNEL_MAX] = channel_max,
    [OP_RESIZE] = resize,
    [OP_MATCH] = match,
    [OP_BORDER] = border,
    [OP_BATCH_NORM] = batch_norm,
    [OP_INSTANCE_NORM] = instance_norm,
    [OP_GROUP_NORM] = group_norm,
    [OP_NORM_STATISTICS] = norm_statistics,
    [OP_CONCAT] = concat,
    [OP_ADD] = add,
    [OP_SUBTRACT] = subtract,
    [OP_MULTIPLY] = multiply,
    [OP_DIVIDE] = divide,
    [OP_MAXIMUM] = maximum,
    [OP_MINIMUM] = maximum,
    [OP_REPEAT] = repeat,
    [OP_PARAMETER] = parameter,
    [OP_CONSTANT] = constant,
    [OP_EMBEDDING] = embedding,
    [OP_SINUSOID] = sinusoid,
    [OP_AFFINE] = affine,
    [OP_SLICE] = slice,
};

void onnx_join(OnnxGraph *o, ValueId v) {
    const Value *value = &o->graph->value[v];
    if (value->nsegments == 0 || o->joined[v])
        return;
    OnnxNode n = begin(o, "Concat");
    for (int k = 0; k < value->nsegments; k++)
        reads(&n, o->name[value->segment[k]]);
    integer(&n, "axis", 1);
    (void)writes(&n, o->name[v]);
    o->joined[v] = true;
}

bool onnx_node(OnnxGraph *o, const Node *node) {
    for (int k = 0; k < node->nin; k++)
        if (node->in[k] >= 0)
            onnx_join(o, node->in[k]);
    return rules[node->op] != NULL && rules[node->op](o, node);
}

void onnx_rename(OnnxGraph *o, const char *from, const char *to) {
    OnnxNode n = begin(o, "Identity");
    reads(&n, from);
    (void)writes(&n, to);
}
