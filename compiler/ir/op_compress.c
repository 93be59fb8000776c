/* op_compress.c - activations in codes, and back (unet/groups.h). */
#include "base/size_math.h"
#include "ir/ops.h"
#include "ir/rule_constants.h"

/* A row of codes has the groups of the first 16 channels, then of the next ones. */
Shape compressed_shape(Shape x, int64_t bits) {
    const int64_t groups = size_product(UNET_GROUPS_ALONG(x.dim[0]), UNET_GROUPS_ALONG(x.dim[x.rank - 1]));
    x.dim[0] = 1;
    x.dim[x.rank - 1] = size_product(groups, UNET_GROUP_BYTES(bits));
    return x;
}

static NodeId codes_new(Graph *g, Op op, const Node *producer, Attributes a, ValueId in, ValueId out) {
    const Node node = {.op = op,
                       .nin = 1,
                       .nout = 1,
                       .a = a,
                       .name = producer->name,
                       .span = producer->span,
                       .via = producer->via};
    return node_new(g, node, &in, &out);
}

NodeId compress_new(Graph *g, const Node *producer, Attributes a, ValueId x, ValueId codes) {
    return codes_new(g, OP_COMPRESS, producer, a, x, codes);
}

NodeId decompress_new(Graph *g, const Node *producer, Attributes a, ValueId codes, ValueId x) {
    return codes_new(g, OP_DECOMPRESS, producer, a, codes, x);
}

Node by_signs(Graph *g, Node node, Attributes a, ValueId codes) {
    a.compress.slope = node.a.kind == ATTRIBUTES_MAP ? node.a.map.parameter : 0;
    node.op = OP_SIGN_GRAD;
    node.a = a;
    node_set_input(g, &node, 0, codes);
    return node;
}

bool makes_codes(const Node *node) {
    return node->op == OP_COMPRESS;
}

bool makes_zeros(const Node *node) {
    return node->op == OP_RELU;
}

/* Random numbers that follow from a point take about so many operations. */
int64_t flops_compress(const Graph *g, const Node *node) {
    enum { FLOPS = 20 };
    return size_product(FLOPS, shape_elements(g->value[node->in[0]].shape));
}

int64_t flops_decompress(const Graph *g, const Node *node) {
    enum { FLOPS = 3 };
    return size_product(FLOPS, shape_elements(g->value[node->out[0]].shape));
}

static void group_constants(Constants *c, const Node *node, ValueId tensor) {
    constant_channels(c, "C", tensor);
    constant_extents(c, "", tensor);
    constant(c, "CODE_BITS", node->a.compress.bits);
    constant(c, "ZEROS", node->a.compress.signs == UNET_GROUP_ZEROS);
    constant(c, "SIGNED", node->a.compress.signs == UNET_GROUP_SIGNS);
    call_rows(c, tensor);
}

/* The numbers of dropout, of diffusions and of codes are apart. */
void constants_compress(Constants *c, const Node *node) {
    enum { FIRST_NUMBER = 1 << 29 };
    group_constants(c, node, node->in[0]);
    constant_layout(c, "X", node->in[0]);
    constant_layout(c, "CODES", node->out[0]);
    constant(c, "NUMBER", FIRST_NUMBER + node->a.compress.number);
    call_arguments(c, "n, start, step->step, step->seed", "");
}

void constants_decompress(Constants *c, const Node *node) {
    group_constants(c, node, node->out[0]);
    constant_layout(c, "Y", node->out[0]);
    constant_layout(c, "CODES", node->in[0]);
}

void constants_sign_grad(Constants *c, const Node *node) {
    group_constants(c, node, node->out[0]);
    constant_layout(c, "DX", node->out[0]);
    constant_layout(c, "CODES", node->in[0]);
    constant_layout(c, "DY", node->in[1]);
    constant_real(c, "SLOPE", node->a.compress.slope);
}
