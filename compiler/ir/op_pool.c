/* op_pool.c - max and average pooling. */
#include "base/size_math.h"
#include "ir/rule_gradient.h"
#include "ir/rule_constants.h"
#include "ir/ops.h"
#include "ir/plan.h"
#include "ir/pools.h"

#include <string.h>

/* The place of the maximum is found again from x, which most often is alive as a skip connection anyway; a
 * target may do better. */
void gradient_max_pool(Autodiff *ad, const Node *node, const ValueId *dout, ValueId *din) {
    const ValueId in[3] = {node->in[0], dout[0], -1};
    din[0] = gradient_value(ad, node->in[0]);
    gradient_node(ad, node, OP_MAX_POOL_GRAD,
                  (Attributes){.kind = ATTRIBUTES_POOL, .pool.window = node->a.pool.window}, in, 3, &din[0],
                  1);
}

/* Each point of x goes where the maximum of its window of `like` is, and its gradient comes from there. */
void gradient_max_unpool(Autodiff *ad, const Node *node, const ValueId *dout, ValueId *din) {
    const ValueId in[] = {node->in[0], dout[0]};
    din[1] = gradient_value(ad, node->in[1]);
    gradient_node(ad, node, OP_MAX_UNPOOL_GRAD,
                  (Attributes){.kind = ATTRIBUTES_POOL, .pool.window = node->a.pool.window}, in, 2, &din[1],
                  1);
}

/* Each point of a window has the same share: neither x nor y need be kept. */
void gradient_avg_pool(Autodiff *ad, const Node *node, const ValueId *dout, ValueId *din) {
    din[0] = gradient_value(ad, node->in[0]);
    gradient_node(ad, node, OP_AVG_POOL_GRAD, node->a, dout, 1, &din[0], 1);
}

static bool same_window(const Window *a, const Window *b) {
    return memcmp(a, b, sizeof *a) == 0;
}

NodeId pool_of(const Graph *g, const Node *node) {
    NodeId id = g->nnode - 1;
    while (id >= 0 && (g->node[id].op != OP_MAX_POOL || g->node[id].in[0] != node->in[0] ||
                       !same_window(&g->node[id].a.pool.window, &node->a.pool.window)))
        id--;
    return id;
}

bool has_windows_of_four(const Graph *g, const Node *node, ValueId x, ValueId y) {
    const Window *w = &node->a.pool.window;
    bool fits = true;
    for (int k = 0; k < AXES; k++) {
        const int64_t size = k == 0 ? 1 : 2;
        fits &= w->kernel[k] == size && w->stride[k] == size && w->dilation[k] == 1 && w->before[k] == 0 &&
                shape_extent(g->value[x].shape, k) / size == shape_extent(g->value[y].shape, k);
    }
    return fits;
}

bool knows_maxima(const Graph *g, const Node *node) {
    return node->op == OP_MAX_POOL_GRAD && has_windows_of_four(g, node, node->out[0], node->in[1]);
}

bool has_cells(const Graph *g, const Node *node, ValueId x, ValueId y) {
    bool even = true;
    for (int k = 1; k < AXES; k++)
        even &= shape_extent(g->value[x].shape, k) % 2 == 0;
    return even && has_windows_of_four(g, node, x, y);
}

ValueId keep_argmax(Graph *g, NodeId pool, int64_t channels, int bits) {
    Node *node = &g->node[pool];
    if (node->nout > 1 && node->out[1] >= 0)
        return node->out[1];
    Value argmax = g->value[node->out[0]];
    argmax.name = pool_text(g->pool, "%s argmax", argmax.name);
    argmax.shape.dim[0] = channels;
    argmax.type = TYPE_U8;
    node->a.pool.argmax_bits = bits;
    const ValueId v = value_new(g, argmax);
    g->value[v].producer = pool;
    if (node->nout > 1)
        node->out[1] = v;
    else
        node_add_output(g, node, v);
    return v;
}

/* The rows of an image that its windows number OUT cover. */
RowRange rows_window(const Graph *g, const Node *node, int input, int axis, RowRange out) {
    const Window *w = node_window(node);
    (void)g, (void)input;
    return (RowRange){out.begin * w->stride[axis] - w->before[axis],
                      (out.end - 1) * w->stride[axis] - w->before[axis] +
                          (w->kernel[axis] - 1) * w->dilation[axis] + 1};
}

/* The windows that hold one of the rows OUT of an image. */
RowRange rows_pooled(const Graph *g, const Node *node, int input, int axis, RowRange out) {
    const Window *w = node_window(node);
    (void)g, (void)input;
    const int64_t reach = (w->kernel[axis] - 1) * w->dilation[axis];
    return (RowRange){size_floor_quotient(out.begin + w->before[axis] - reach - 1, w->stride[axis]) + 1,
                      size_floor_quotient(out.end - 1 + w->before[axis], w->stride[axis]) + 1};
}

/* The pooled tensor is read where these windows lie, for their maximum, and where it masks; a summand,
 * where it is added. */
RowRange rows_pool_grad(const Graph *g, const Node *node, int input, int axis, RowRange out) {
    const RowRange pooled = rows_pooled(g, node, input, axis, out);
    if (input != 0)
        return input == 2 ? out : pooled;
    const RowRange x = rows_window(g, node, input, axis, pooled);
    const bool wider = node->a.pool.mask;
    return (RowRange){wider && out.begin < x.begin ? out.begin : x.begin,
                      wider && out.end > x.end ? out.end : x.end};
}

/* Both inputs of max_unpool_grad have the rows of the pooled tensor; the codes of maxima have the rows of
 * the windows. */
RowRange rows_unpooled(const Graph *g, const Node *node, int input, int axis, RowRange out) {
    return input == 2 ? out : rows_window(g, node, input, axis, out);
}

/* A comparison or an addition for each point of each window. */
static int64_t windows_flops(const Graph *g, const Node *node, ValueId pooled) {
    return size_product(window_taps(&node->a.pool.window), shape_elements(g->value[pooled].shape));
}

int64_t flops_pool(const Graph *g, const Node *node) {
    return windows_flops(g, node, node->out[0]);
}

int64_t flops_pool_grad(const Graph *g, const Node *node) {
    return windows_flops(g, node, node->in[1]);
}

int64_t flops_max_unpool_grad(const Graph *g, const Node *node) {
    return windows_flops(g, node, node->out[0]);
}

int64_t flops_avg_pool_grad(const Graph *g, const Node *node) {
    return windows_flops(g, node, node->in[0]);
}

/* Do the windows of Y cover X, each point once, and nothing else? */
static bool windows_tile(const Graph *g, const Window *w, ValueId x, ValueId y) {
    bool tile = true;
    for (int k = 0; k < AXES; k++)
        tile &= w->kernel[k] == w->stride[k] && w->dilation[k] == 1 && w->before[k] == 0 &&
                shape_extent(g->value[y].shape, k) * w->kernel[k] == shape_extent(g->value[x].shape, k);
    return tile;
}

/* X and Y: like the input and the output of the pool. */
static void pool_constants(Constants *c, const Node *node, ValueId x, ValueId y) {
    static const char *const name[4][AXES] = {
        {"KD", "KH", "KW"}, {"SD", "SH", "SW"}, {"PD", "PH", "PW"}, {"LD", "LH", "LW"}};
    const Window *w = &node->a.pool.window;
    constant_channels(c, "C", x);
    constant_extents(c, "I", x);
    constant_extents(c, "", y);
    constant(c, "ARGMAX_BITS", node->a.pool.argmax_bits);
    constant(c, "INSIDE", node->a.pool.inside);
    constant(c, "EXACT", windows_tile(constants_graph(c), w, x, y));
    call_rows(c, node->out[0]);
    for (int k = 0; k < AXES; k++) {
        constant(c, name[0][k], w->kernel[k]);
        constant(c, name[1][k], w->stride[k]);
        constant(c, name[2][k], w->before[k]);
        constant(c, name[3][k], w->dilation[k]);
    }
}

/* Number K of COUNT operands, or OTHER where it is absent. */
static ValueId operand_or(const ValueId *operand, int count, int k, ValueId other) {
    return k < count && operand[k] >= 0 ? operand[k] : other;
}

void constants_pool(Constants *c, const Node *node) {
    const ValueId y = node->out[0];
    pool_constants(c, node, node->in[0], y);
    constant_layout(c, "Y", y);
    constant_layout(c, "X", node->in[0]);
    constant_layout(c, "ARGMAX", operand_or(node->out, node->nout, 1, y));
}

void constants_pool_grad(Constants *c, const Node *node) {
    pool_constants(c, node, node->out[0], node->in[1]);
    constant(c, "ACCUMULATE", node->a.pool.adds);
    constant(c, "SUM_BANDS", node->a.pool.sum_bands);
    constant(c, "MASK", node->a.pool.mask);
    const ValueId dx = node->out[0], dy = node->in[1];
    constant_layout(c, "DX", dx);
    constant_layout(c, "X", operand_or(node->in, node->nin, 0, dx));
    constant_layout(c, "DY", dy);
    constant_layout(c, "A", operand_or(node->in, node->nin, 2, dx));
    constant_layout(c, "Y", operand_or(node->in, node->nin, 3, dy));
    constant_layout(c, "ARGMAX", operand_or(node->in, node->nin, 4, dy));
}

void constants_avg_pool_grad(Constants *c, const Node *node) {
    pool_constants(c, node, node->out[0], node->in[0]);
    constant_layout(c, "DX", node->out[0]);
    constant_layout(c, "DY", node->in[0]);
}

void constants_max_unpool_grad(Constants *c, const Node *node) {
    const ValueId dx = node->out[0], dy = node->in[1];
    pool_constants(c, node, dy, dx);
    constant_layout(c, "DX", dx);
    constant_layout(c, "DY", dy);
    constant_layout(c, "X", operand_or(node->in, node->nin, 0, dy));
    constant_layout(c, "ARGMAX", operand_or(node->in, node->nin, 2, dx));
}
