/* eager.c - what a framework that runs operator by operator keeps for the backward pass.
 *
 * The rules are PyTorch's: a convolution keeps its input, a ReLU its output, a pool its input and an index
 * of eight bytes for each output, a loss both its operands; a concatenation is a copy.  Each tensor counts
 * once, however many operators keep it; parameters and gradients are left out.
 */
#include "ir/ops.h"
#include "base/memory.h"
#include "base/size_math.h"
#include "search/advice.h"

enum { BYTES_AN_INDEX = 8 };

typedef struct {
    const Graph *graph;
    bool *kept;       /* per value */
    int64_t elements, /* of the tensors that are kept, for one sample */
        indices;
    bool overflow;
} Eager;

typedef void EagerRule(Eager *e, const Node *node);

static void add_elements(Eager *e, ValueId v, int64_t *sum) {
    e->overflow |= __builtin_add_overflow(*sum, shape_elements(e->graph->value[v].shape), sum);
}

static void keep(Eager *e, ValueId v) {
    if (e->kept[v])
        return;
    e->kept[v] = true;
    add_elements(e, v, &e->elements);
}

/* ---- the rules, one for each that ops.def names ---- */

static void eager_none(Eager *e, const Node *node) {
    (void)e, (void)node;
}

static void eager_input(Eager *e, const Node *node) {
    keep(e, node->in[0]);
}

/* A factor that nobody learns has no gradient, so its operand is not kept. */
static void eager_scale(Eager *e, const Node *node) {
    if (e->graph->value[node->in[1]].class == CLASS_PARAMETER)
        keep(e, node->in[0]);
}

static void eager_output(Eager *e, const Node *node) {
    keep(e, node->out[0]);
}

static void eager_operands(Eager *e, const Node *node) {
    for (int k = 0; k < node->nin; k++)
        if (node->in[k] >= 0)
            keep(e, node->in[k]);
}

/* Its kernels keep no softmax, and so little beside these that it does not count. */
static void eager_attention(Eager *e, const Node *node) {
    eager_operands(e, node);
    keep(e, node->out[0]);
}

/* PyTorch normalises copies of queries and keys, whose product it multiplies with the values. */
static void eager_channel_attention(Eager *e, const Node *node) {
    eager_operands(e, node);
    for (int k = 0; k < 2 && node->a.attention.normalize; k++)
        add_elements(e, node->in[k], &e->elements);
}

/* PyTorch keeps the logarithm of the softmax. */
static void eager_vocabulary(Eager *e, const Node *node) {
    enum { X, W = 2 };
    const Shape x = e->graph->value[node->in[X]].shape, w = e->graph->value[node->in[W]].shape;
    keep(e, node->in[X]);
    e->overflow |= __builtin_add_overflow(e->elements, size_product(shape_elements(x) / x.dim[0], w.dim[0]),
                                          &e->elements);
}

static void eager_pool(Eager *e, const Node *node) {
    keep(e, node->in[0]);
    add_elements(e, node->out[0], &e->indices);
}

static EagerRule *const eager_rule[OPS] = {
#define OP(id, name, signature, build, operands, attributes, traits, gradient, flops, halo, rows,          \
           constants, fuse, eager)                                                                         \
    [OP_##id] = eager_##eager,
#include "ir/ops.def"
#undef OP
};

/* ---- the sum ---- */

static void need(const Graph *g, ValueId v, bool *needed) {
    const ValueId *segment;
    int n = value_segments(g, &v, &segment);
    for (int p = 0; p < n; p++)
        if (g->value[segment[p]].producer >= 0)
            needed[g->value[segment[p]].producer] = true;
}

int64_t eager_bytes(const Model *model, Type stored) {
    const Graph *g = model->graph;
    Eager e = {.graph = g, .kept = NEW_ARRAY(model->pool, bool, g->nvalue)};
    bool *needed = NEW_ARRAY(model->pool, bool, g->nnode); /* for a loss */
    for (int i = 0; i < model->nresult; i++)
        if (model->result[i].is_loss)
            need(g, model->result[i].value, needed);
    for (int i = g->nnode - 1; i >= 0; i--) {
        if (!needed[i])
            continue;
        for (int k = 0; k < g->node[i].nin; k++)
            need(g, g->node[i].in[k], needed);
        eager_rule[g->node[i].op](&e, &g->node[i]);
    }
    int64_t bytes, more;
    bool overflow = e.overflow || __builtin_mul_overflow(e.elements, (int64_t)type_bytes(stored), &bytes) ||
                    __builtin_mul_overflow(e.indices, BYTES_AN_INDEX, &more) ||
                    __builtin_add_overflow(bytes, more, &bytes) ||
                    __builtin_mul_overflow(bytes, model->train.batch, &bytes);
    return overflow ? -1 : bytes;
}
