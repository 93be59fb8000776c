/* ops.c - the operator table, made from ops.def. */
#include "ir/ops.h"

#include <string.h>

const OpRow op_table[OPS] = {
#define OP(id, name, signature, build, operands, attributes, traits, gradient, flops, halo, rows,          \
           constants, fuse, eager)                                                                         \
    [OP_##id] = {                                                                                          \
        name,          signature,   operands,    ATTRIBUTES_##attributes, traits,     gradient_##gradient, \
        flops_##flops, halo_##halo, rows_##rows, constants_##constants,   fuse_##fuse},
#include "ir/ops.def"
#undef OP
};

const char *const shared_kernel[OPS] = {
#define KERNEL(id, kernel) [OP_##id] = (kernel),
#include "ir/kernels.def"
#undef KERNEL
};

Op op_by_name(const char *name) {
    Op op = 0;
    while (op < OPS && (op_table[op].signature == NULL || strcmp(op_table[op].name, name) != 0))
        op++;
    return op;
}

bool has_trait(const Node *node, unsigned trait) {
    return (op_table[node->op].traits & trait) != 0;
}

static const Node *node_with(const Graph *g, unsigned trait) {
    for (int i = 0; i < g->nnode; i++)
        if (has_trait(&g->node[i], trait))
            return &g->node[i];
    return NULL;
}

const Node *whole_batch_node(const Graph *g) {
    return node_with(g, TRAIT_WHOLE_BATCH);
}

const Node *merging_node(const Graph *g) {
    return node_with(g, TRAIT_MERGES);
}

bool updates_wait(const Graph *g) {
    int count;
    const NodeId first = first_update(g, &count);
    const Node *update = first < 0 ? NULL : &g->node[first];
    const Operands *row = first < 0 ? NULL : &g->operands[update->op];
    return first >= 0 &&
           (update->in[input_named(row, "norm")] >= 0 || update->in[input_named(row, "scale")] >= 0);
}

NodeId first_update(const Graph *g, int *count) {
    NodeId first = -1;
    *count = 0;
    for (NodeId i = g->nnode - 1; i >= 0; i--)
        if (has_trait(&g->node[i], TRAIT_UPDATES)) {
            first = i;
            ++*count;
        }
    return first;
}

bool computes_rows(const Node *node) {
    return op_table[node->op].rows != rows_whole && !node->whole_rows;
}

const char *node_operator(Pool *pool, const Node *node) {
    const char *name = op_table[node->op].name;
    return node->also == NULL ? name : pool_text(pool, "%s + %s", name, node->also);
}

/* ---- rules of operators that have none ---- */

void gradient_none(Autodiff *ad, const Node *node, const ValueId *dout, ValueId *din) {
    (void)ad, (void)node, (void)dout, (void)din;
}

int64_t flops_none(const Graph *g, const Node *node) {
    (void)g, (void)node;
    return 0;
}

void halo_none(const Graph *g, const Node *node, int input, int64_t before[AXES], int64_t after[AXES]) {
    (void)g, (void)node, (void)input, (void)before, (void)after;
}

void constants_none(Constants *c, const Node *node) {
    (void)c, (void)node;
}

void fuse_none(Fuse *f, Node *node) {
    (void)f, (void)node;
}

/* ---- rows ---- */

int64_t shape_rows(Shape shape) {
    return shape_extent(shape, 0) * shape_extent(shape, 1);
}

int64_t points_along(Shape shape, int axis) {
    return axis == 1 ? shape_rows(shape) : shape_extent(shape, axis);
}

static ValueId summed_value(const Graph *g, const Node *node) {
    const Operands *o = &g->operands[node->op];
    for (int k = 0; k < o->nin && k < node->nin; k++)
        if (o->in[k].gives_rows)
            return node->in[k];
    return -1;
}

ValueId rows_value(const Graph *g, const Node *node) {
    const ValueId summed = summed_value(g, node);
    return summed >= 0 ? summed : node->nout > 0 ? node->out[0] : -1;
}

bool sums_rows(const Graph *g, const Node *node) {
    return summed_value(g, node) >= 0 && computes_rows(node);
}

RowRange rows_whole(const Graph *g, const Node *node, int input, int axis, RowRange out) {
    (void)out;
    return (RowRange){0, points_along(g->value[node->in[input]].shape, axis)};
}

RowRange rows_same(const Graph *g, const Node *node, int input, int axis, RowRange out) {
    (void)g, (void)node, (void)input, (void)axis;
    return out;
}
