/* renormalise.c - training of volumes: the output of a normalisation is not kept for the backward pass.
 *
 * A normalisation needs its input, with means and variances, for its own gradient, and whoever reads its
 * output forward most often reads it backward, too: two tensors of each layer would wait.  The output, and
 * an activation behind it, follow by a pass over memory from the input, which waits anyhow; the pass is
 * little beside a convolution:
 *
 *     x = conv(..)   y = instance_norm(x)   z = leaky_relu(y)   a = conv(z)   ...   da/dw = f(z, ..)
 *     x = conv(..)   y = instance_norm(x)   z = leaky_relu(y)   a = conv(z)   ...   y', z' = .., f(z', ..)
 *
 * Readers that stand close together share a tensor that was made again.  The same kernels with the same
 * operands give the same bits.  Images keep their tensors: a budget decides (recompute.c).  With
 * --no-recompute all do.
 *
 * Requires: the complete graph, in order.  Provides: Node.again, new nodes and values.
 */
#include "ir/ops.h"
#include "ir/plan.h"
#include "passes/passes.h"

enum { CLOSE = 12 }; /* nodes from one reader to the next */

typedef struct {
    Graph *g;
    int forward;   /* nodes in front of the backward pass */
    ValueId *now;  /* per value: its life at this moment, */
    int *last;     /*   and the node that read it last; -1: none so far */
    int nvalue;    /* as the graph was */
    NodeId *order; /* of the nodes, new ones among them */
    int count;
} Renormalise;

static bool is_activation(const Node *node) {
    return has_trait(node, TRAIT_AGAIN) && op_table[node->op].attributes != ATTRIBUTES_NORM;
}

static bool normalises(const Node *node) {
    return has_trait(node, TRAIT_AGAIN) && op_table[node->op].attributes == ATTRIBUTES_NORM;
}

static const Node *producer_of(const Graph *g, ValueId v) {
    return g->value[v].producer < 0 ? NULL : &g->node[g->value[v].producer];
}

/* Is V of a volume what a normalisation made, or an activation behind it? */
static bool can_be_made_again(const Graph *g, ValueId v) {
    const Value *value = &g->value[v];
    if (value->class != CLASS_ACTIVATION || value->shape.rank <= AXES || shape_extent(value->shape, 0) == 1)
        return false;
    const Node *node = producer_of(g, v);
    if (node != NULL && is_activation(node))
        node = producer_of(g, node->in[0]);
    return node != NULL && normalises(node);
}

/* The first node that makes a gradient. */
static int forward_nodes(const Graph *g) {
    int i = 0;
    while (i < g->nnode && (g->node[i].nout == 0 || g->node[i].out[0] < 0 ||
                            g->value[g->node[i].out[0]].class != CLASS_ACTIVATION_GRADIENT))
        i++;
    return i;
}

/* Runs NODE again, on IN. */
static ValueId run_again(Renormalise *r, NodeId node, ValueId in) {
    Graph *g = r->g;
    Node again = g->node[node];
    ValueId *all = NEW_ARRAY(g->pool, ValueId, again.nin);
    for (int k = 0; k < again.nin; k++)
        all[k] = k == 0 ? in : again.in[k];
    const ValueId out = value_new(g, g->value[again.out[0]]);
    again.again = true;
    const NodeId new = node_new(g, again, all, &out);
    PUSH(g->pool, r->order, r->count, new);
    return out;
}

static ValueId make_again(Renormalise *r, ValueId v) {
    const NodeId last = r->g->value[v].producer;
    const Node *node = &r->g->node[last];
    if (!is_activation(node))
        return run_again(r, last, node->in[0]);
    const NodeId first = r->g->value[node->in[0]].producer;
    return run_again(r, last, run_again(r, first, r->g->node[first].in[0]));
}

/* V as it is when node I reads it. */
static ValueId as_of_now(Renormalise *r, int i, ValueId v) {
    if (v < 0 || v >= r->nvalue || !can_be_made_again(r->g, v))
        return v;
    if (i >= r->forward && i - r->last[v] > CLOSE)
        r->now[v] = make_again(r, v);
    r->last[v] = i;
    return r->now[v];
}

/* The operand of the new node; a concat has its segments anew. */
static ValueId operand_now(Renormalise *r, int i, ValueId v) {
    Graph *g = r->g;
    if (v < 0 || g->value[v].nsegments == 0)
        return as_of_now(r, i, v);
    const Value concat = g->value[v];
    ValueId *segment = NEW_ARRAY(g->pool, ValueId, concat.nsegments);
    bool moved = false;
    for (int p = 0; p < concat.nsegments; p++) {
        segment[p] = as_of_now(r, i, concat.segment[p]);
        moved |= segment[p] != concat.segment[p];
    }
    return moved ? value_concat_like(g, segment, concat.nsegments, concat) : v;
}

void renormalise(Program *program) {
    Graph *g = program->graph;
    const int nnode = g->nnode;
    if (program->kind != PROGRAM_TRAIN || program->options->no_recompute)
        return;
    Renormalise r = {.g = g,
                     .forward = forward_nodes(g),
                     .now = NEW_ARRAY(g->pool, ValueId, g->nvalue),
                     .last = NEW_ARRAY(g->pool, int, g->nvalue),
                     .nvalue = g->nvalue};
    for (ValueId v = 0; v < r.nvalue; v++)
        r.now[v] = v;
    for (int i = 0; i < nnode; i++) {
        const int nin = g->node[i].nin;
        ValueId *in = NEW_ARRAY(g->pool, ValueId, nin);
        for (int k = 0; k < nin; k++)
            in[k] = operand_now(&r, i, g->node[i].in[k]);
        g->node[i].in = in;
        PUSH(g->pool, r.order, r.count, i);
    }
    graph_order(g, r.order);
}
