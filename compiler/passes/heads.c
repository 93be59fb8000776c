/* heads.c - brings together what is done with enlarged logits.
 *
 * A segmentation network makes its logits at a fraction of the size of the image and enlarges them.
 * Enlarged they are the largest tensor by far, and with several heads there are several; losses, classes
 * and metrics read each point of them once, and so do the gradients.  So all that reads them comes to stand
 * right behind what enlarges them, gradients included, for these need no other:
 *
 *     resize, ..., argmax, cross_entropy, miou, ..., cross_entropy_grad, ..., resize_grad
 *     resize, argmax, cross_entropy, miou, cross_entropy_grad, resize_grad, ...
 *
 * and in a loop over bands (bands.c) a few rows of all that is large are there at a time.  Where somebody
 * else reads enlarged logits, such as a loss that needs sums of the batch first, the order stays.
 *
 * Requires: the nodes of a program, before the target prepares them.  Provides: their order; Node.head.
 */
#include "ir/ops.h"
#include "passes/bands.h"
#include "passes/passes.h"

typedef struct {
    const Program *program;
    int *head;     /* per node: the number of its head, or 0 */
    int *of_value; /* per value: the head that makes it, or 0 */
    int count;     /* of heads */
} Heads;

/* Makes one image of one that has fewer points, without weights. */
static bool enlarges(const Heads *h, const Node *node) {
    const Graph *g = h->program->graph;
    if (node->nin != 1 || node->nout != 1 || !computes_bands(h->program, node))
        return false;
    const Value *in = &g->value[node->in[0]], *out = &g->value[node->out[0]];
    return in->per_sample && in->nsegments == 0 && shape_elements(out->shape) > shape_elements(in->shape);
}

/* Can node I stand behind node FIRST, in its head: does it read what the head makes, and all else of what
 * it reads is there by then? */
static bool belongs(const Heads *h, int first, int i) {
    const Graph *g = h->program->graph;
    bool reads = false;
    for (Touch t = node_touches(g, &g->node[i]); touch_next(&t);) {
        const Value *value = &g->value[t.value];
        if (t.is_output)
            continue;
        if (value->class == CLASS_PARAMETER || value->class == CLASS_RUNNING_STATISTIC)
            return false;
        if (h->of_value[t.value] == h->count)
            reads = true;
        else if (value->producer > first)
            return false;
    }
    return reads && h->head[i] == 0 && computes_bands(h->program, &g->node[i]);
}

static void add(Heads *h, int i) {
    const Graph *g = h->program->graph;
    h->head[i] = h->count;
    for (Touch t = node_touches(g, &g->node[i]); touch_next(&t);)
        if (t.is_output)
            h->of_value[t.value] = h->count;
}

/* Does a loss or a metric stand in the head, or are classes chosen in it, and does it alone read what node
 * FIRST makes? */
static bool is_worth_it(const Heads *h, int first) {
    const Graph *g = h->program->graph;
    const ValueId large = g->node[first].out[0];
    bool measures = false;
    for (int i = first; i < g->nnode; i++) {
        for (Touch t = node_touches(g, &g->node[i]); touch_next(&t);)
            if (!t.is_output && t.value == large && h->head[i] != h->count)
                return false;
        if (h->head[i] == h->count)
            measures |= has_trait(&g->node[i], TRAIT_MEASURES) || has_trait(&g->node[i], TRAIT_CLASSES);
    }
    return measures;
}

static void find_head(Heads *h, int first) {
    const Graph *g = h->program->graph;
    h->count++;
    add(h, first);
    for (int i = first + 1; i < g->nnode; i++)
        if (belongs(h, first, i))
            add(h, i);
    if (is_worth_it(h, first))
        return;
    for (int i = first; i < g->nnode; i++)
        h->head[i] = h->head[i] == h->count ? 0 : h->head[i];
    for (ValueId v = 0; v < g->nvalue; v++)
        h->of_value[v] = h->of_value[v] == h->count ? 0 : h->of_value[v];
    h->count--;
}

void bring_heads_together(Program *program) {
    Graph *g = program->graph;
    Heads h = {program, NEW_ARRAY(g->pool, int, g->nnode), NEW_ARRAY(g->pool, int, g->nvalue), 0};
    for (int i = 0; i < g->nnode; i++)
        if (h.head[i] == 0 && enlarges(&h, &g->node[i]))
            find_head(&h, i);
    NodeId *order = NULL;
    int count = 0;
    bool *placed = NEW_ARRAY(g->pool, bool, h.count + 1);
    for (int i = 0; i < g->nnode; i++) {
        g->node[i].head = h.head[i];
        if (h.head[i] == 0)
            PUSH(g->pool, order, count, i);
        for (int k = i; h.head[i] > 0 && !placed[h.head[i]] && k < g->nnode; k++)
            if (h.head[k] == h.head[i])
                PUSH(g->pool, order, count, k);
        placed[h.head[i]] = true;
    }
    graph_order(g, order);
}
