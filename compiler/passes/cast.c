/* cast.c - inputs in the type in which activations are stored.
 *
 * If the loader leaves another type than activations have, a `cast` copies an input into their type for its
 * readers.  Losses, metrics and the gradients of losses read the loader's own numbers, so that no target is
 * rounded once more.  If the next inputs come while a step runs, there
 * is such a copy in any case: the gradient of the first layer reads its input at the very end.
 *
 * If inputs lie in the arena, all readers share the copy.  If a slot of the ring holds the input all the
 * time, each reader has a copy of its own right in front of it: it costs little time, and no bytes
 * between the first layer and its gradient.
 *
 * Requires: the types of values, the complete graph.  Provides: the same graph with `cast` nodes.
 */
#include "ir/ops.h"
#include "passes/passes.h"

typedef struct {
    Graph *g;
    ValueId *copy; /* per value of the old graph: the copy that is read in its place */
    int *reader;   /* per value of the old graph: the number of the reader that made the copy, or 0 */
    int now;       /* the number of the readers that share copies, from 1 */
    Type stored;
    bool always; /* of whatever type */
} Cast;

static ValueId as_stored(Cast *c, ValueId v) {
    Graph *g = c->g;
    if (v < 0 || g->value[v].class != CLASS_STAGING || (g->value[v].type == c->stored && !c->always))
        return v;
    if (c->reader[v] != c->now) {
        Value value = g->value[v];
        value.class = CLASS_ACTIVATION;
        value.type = c->stored;
        value.name = pool_text(g->pool, "%s cast", value.name);
        c->copy[v] = value_new(g, value);
        c->reader[v] = c->now;
        node_new(g, (Node){.op = OP_CAST, .nin = 1, .nout = 1, .name = value.name, .span = value.span}, &v,
                 &c->copy[v]);
    }
    return c->copy[v];
}

static ValueId concat_as_stored(Cast *c, ValueId v) {
    const Value concat = c->g->value[v];
    ValueId *segment = NEW_ARRAY(c->g->pool, ValueId, concat.nsegments);
    bool moved = false;
    for (int p = 0; p < concat.nsegments; p++) {
        segment[p] = as_stored(c, concat.segment[p]);
        moved |= segment[p] != concat.segment[p];
    }
    return moved ? value_concat_like(c->g, segment, concat.nsegments, concat) : v;
}

static void cast_operands(Cast *c, Node *node) {
    ValueId *in = NEW_ARRAY(c->g->pool, ValueId, node->nin);
    for (int k = 0; k < node->nin; k++) {
        bool concat = node->in[k] >= 0 && c->g->value[node->in[k]].nsegments > 0;
        in[k] = concat ? concat_as_stored(c, node->in[k]) : as_stored(c, node->in[k]);
    }
    node->in = in;
}

/* Walks the old list of nodes and appends each, with the casts it needs in front, to a new one. */
void cast_inputs(Program *program) {
    Graph *g = program->graph;
    Cast c = {.g = g,
              .copy = NEW_ARRAY(g->pool, ValueId, g->nvalue),
              .reader = NEW_ARRAY(g->pool, int, g->nvalue),
              .now = 1,
              .stored = program->options->stored,
              .always = program->prefetches};
    const Node *old = g->node;
    int n = g->nnode;
    g->node = NULL;
    g->nnode = 0;
    for (int i = 0; i < n; i++) {
        Node node = old[i];
        if (!has_trait(&node, TRAIT_MEASURES)) {
            cast_operands(&c, &node);
            c.now += !program->target->stages;
        }
        node_new(g, node, node.in, node.out);
    }
    pool_drop(g->pool, old);
}
