/* heads.c - brings together all steps that read enlarged logits.
 *
 * A segmentation network makes its logits at a fraction of the size of the image and enlarges them.
 * Enlarged logits are the largest tensor by far, and each head has some.  Losses, classes and metrics read
 * each point of them once, and so do the gradients.  So all readers, gradients included, move right behind
 * the step that enlarges the logits:
 *
 *     resize, ..., argmax, cross_entropy, miou, ..., cross_entropy_grad, ..., resize_grad
 *     resize, argmax, cross_entropy, miou, cross_entropy_grad, resize_grad, ...
 *
 * A loop over bands (bands.c) then holds only a few rows of each large tensor at a time.
 *
 * The gradient of a loss that sees all points first, such as dice, comes in a second sweep.  There the
 * logits are enlarged once more, and with it stand all gradients that are added to it:
 *
 *     resize, argmax, dice_loss, miou, ..., resize, cross_entropy_grad, dice_loss_grad, add, resize_grad
 *
 * If another operator reads enlarged logits, such as a loss that sorts the points, the order stays.
 *
 * Requires: the nodes of a program, before the target prepares them.  Provides: their order; Node.head, a
 * number for each sweep; nodes that compute again, with values of their own.
 */
#include "base/diag.h"
#include "ir/ops.h"
#include "passes/bands.h"
#include "passes/passes.h"

typedef struct {
    int first;    /* the node in whose place it stands */
    int before;   /* the sweep whose images it may have again, or 0 */
    NodeId *node; /* the nodes of the head, in their order */
    int count;
} Sweep;

typedef struct {
    const Program *program;
    int nnode, nvalue; /* without nodes and values that compute again */
    int *sweep;        /* per node: the number of its sweep, or 0 */
    int *of_value;     /* per value: the sweep that makes it, or 0 */
    NodeId *reader;    /* the readers of all values, one value behind the other, */
    int *reader_end;   /*   per value: one behind its last */
    bool *waits;       /* per node: it does not stand in the first sweep that is being made */
    NodeId *near; /* a heap, the lowest first, of nodes that may stand in the sweep that is being made */
    int nnear;
    Sweep *list; /* by their numbers */
    int count;   /* of sweeps */
    /* The nodes that a second sweep computes again, and the values that it needs; set within repeat() only.
     */
    bool *again, *wanted; /* per node; per value */
    ValueId *now;         /* per value */
} Heads;

/* Makes one image of one that has fewer points, without weights. */
static bool enlarges(const Heads *h, const Node *node) {
    const Graph *g = h->program->graph;
    if (node->nin != 1 || node->in[0] < 0 || node->nout != 1 || !computes_bands(h->program, node))
        return false;
    const Value *in = &g->value[node->in[0]], *out = &g->value[node->out[0]];
    return in->per_sample && in->nsegments == 0 && shape_elements(out->shape) > shape_elements(in->shape);
}

/* Is V an image that the sweep makes, or can make again? */
static bool has_image(const Heads *h, int sweep, ValueId v) {
    const int of = h->of_value[v];
    return of > 0 && (of == sweep || of == h->list[sweep].before) && has_rows(&h->program->graph->value[v]);
}

/* Can node I stand in the sweep: does it read an image of it, and all else of what it reads is there by
 * then? */
static bool belongs(const Heads *h, int sweep, int i) {
    const Graph *g = h->program->graph;
    const Node *node = &g->node[i];
    bool reads = false;
    for (Touch t = node_touches(g, node); touch_next(&t);) {
        const Value *value = &g->value[t.value];
        if (t.is_output)
            continue;
        if (value->class == CLASS_PARAMETER || value->class == CLASS_RUNNING_STATISTIC)
            return false;
        if (has_image(h, sweep, t.value) && node->in[t.number] == t.value)
            reads = true;
        else if (value->producer > h->list[sweep].first)
            return false;
    }
    return reads && computes_bands(h->program, node);
}

static int readers_begin(const Heads *h, ValueId v) {
    return v == 0 ? 0 : h->reader_end[v - 1];
}

/* Does a node outside of both sweeps read V? */
static bool read_outside(const Heads *h, ValueId v, int sweep, int other) {
    for (int k = readers_begin(h, v); k < h->reader_end[v]; k++)
        if (h->sweep[h->reader[k]] != sweep && h->sweep[h->reader[k]] != other)
            return true;
    return false;
}

/* ---- nodes that read an image of a sweep ---- */

static void swap(NodeId *a, NodeId *b) {
    const NodeId before = *a;
    *a = *b;
    *b = before;
}

static void push_near(Heads *h, NodeId i) {
    PUSH(h->program->graph->pool, h->near, h->nnear, i);
    for (int k = h->nnear - 1; k > 0 && h->near[k] < h->near[(k - 1) / 2]; k = (k - 1) / 2)
        swap(&h->near[k], &h->near[(k - 1) / 2]);
}

/* Takes the lowest. */
static NodeId pop_near(Heads *h) {
    const NodeId lowest = h->near[0];
    h->near[0] = h->near[--h->nnear];
    for (int k = 0, low = 1; low < h->nnear; k = low, low = 2 * k + 1) {
        if (low + 1 < h->nnear && h->near[low + 1] < h->near[low])
            low++;
        if (h->near[k] <= h->near[low])
            break;
        swap(&h->near[k], &h->near[low]);
    }
    return lowest;
}

/* Pushes the readers of node I's results that stand behind it. */
static void push_readers(Heads *h, NodeId i) {
    const Graph *g = h->program->graph;
    for (Touch t = node_touches(g, &g->node[i]); touch_next(&t);)
        for (int k = readers_begin(h, t.value); t.is_output && k < h->reader_end[t.value]; k++)
            if (h->reader[k] > i)
                push_near(h, h->reader[k]);
}

/* ---- making a sweep ---- */

static int begin_sweep(Heads *h, int first, int before) {
    const Sweep sweep = {.first = first, .before = before};
    int count = h->count + 1;
    PUSH(h->program->graph->pool, h->list, count, sweep);
    return ++h->count;
}

static void set_sweep(Heads *h, int i, int sweep) {
    const Graph *g = h->program->graph;
    h->sweep[i] = sweep;
    for (Touch t = node_touches(g, &g->node[i]); touch_next(&t);)
        if (t.is_output)
            h->of_value[t.value] = sweep;
}

static void put(Heads *h, int i, int sweep) {
    Sweep *s = &h->list[sweep];
    set_sweep(h, i, sweep);
    PUSH(h->program->graph->pool, s->node, s->count, i);
    push_readers(h, i);
}

/* Gathers nodes in their order.  Each node that is gathered makes its readers candidates. */
static void gather(Heads *h, int sweep) {
    while (h->nnear > 0) {
        const NodeId i = pop_near(h);
        if (h->sweep[i] == 0 && !h->waits[i] && belongs(h, sweep, i))
            put(h, i, sweep);
    }
}

static void scatter(Heads *h, int sweep) {
    for (int k = 0; k < h->list[sweep].count; k++)
        set_sweep(h, h->list[sweep].node[k], 0);
    h->list[sweep].node = NULL;
    h->list[sweep].count = 0;
}

/* Finds a node of the sweep, not its first, that makes a gradient for readers outside of the sweep, with
 * more rows than the logits have before they are enlarged.  The gradient would be held as a whole.  Returns
 * -1 if there is none. */
static int find_gradient(const Heads *h, int sweep) {
    const Graph *g = h->program->graph;
    const Sweep *s = &h->list[sweep];
    const int64_t rows = shape_rows(g->value[g->node[s->first].in[0]].shape);
    for (int k = 1; k < s->count; k++)
        for (Touch t = node_touches(g, &g->node[s->node[k]]); touch_next(&t);) {
            const Value *value = &g->value[t.value];
            if (t.is_output && value->class == CLASS_ACTIVATION_GRADIENT && has_rows(value) &&
                shape_rows(value->shape) > rows && read_outside(h, t.value, sweep, sweep))
                return s->node[k];
        }
    return -1;
}

/* The sweep that begins with node FIRST. */
static int make_sweep(Heads *h, int first) {
    const int sweep = begin_sweep(h, first, 0);
    NodeId *late = NULL;
    int nlate = 0;
    put(h, first, sweep);
    gather(h, sweep);
    for (int i = find_gradient(h, sweep); i >= 0; i = find_gradient(h, sweep)) {
        h->waits[i] = true;
        PUSH(h->program->graph->pool, late, nlate, i);
        scatter(h, sweep);
        put(h, first, sweep);
        gather(h, sweep);
    }
    for (int k = 0; k < nlate; k++)
        h->waits[late[k]] = false;
    return sweep;
}

/* The one behind it, of what could not stand there; returns SWEEP if there is none. */
static int make_second(Heads *h, int sweep) {
    const int second = begin_sweep(h, 0, sweep);
    for (int k = 0; k < h->list[sweep].count; k++)
        push_readers(h, h->list[sweep].node[k]);
    while (h->nnear > 0) {
        const NodeId i = pop_near(h);
        h->list[second].first = i;
        if (h->sweep[i] == 0 && belongs(h, second, i)) {
            put(h, i, second);
            gather(h, second);
            return second;
        }
    }
    h->count--;
    return sweep;
}

static bool measures(const Heads *h, int sweep) {
    const Node *node = h->program->graph->node;
    const Sweep *s = &h->list[sweep];
    for (int k = 0; k < s->count; k++)
        if (has_trait(&node[s->node[k]], TRAIT_MEASURES) || has_trait(&node[s->node[k]], TRAIT_CLASSES))
            return true;
    return false;
}

/* Returns whether a loss, a metric or a choice of classes is in the sweeps, and nothing else reads the
 * enlarged tensor of either. */
static bool is_worth_it(const Heads *h, int sweep, int second) {
    const Graph *g = h->program->graph;
    const ValueId large = g->node[h->list[sweep].first].out[0];
    bool first_reads = false;
    for (int k = readers_begin(h, large); k < h->reader_end[large]; k++)
        first_reads |= h->sweep[h->reader[k]] == sweep;
    return (measures(h, sweep) || measures(h, second)) && first_reads &&
           !read_outside(h, large, sweep, second);
}

static void find_head(Heads *h, int first) {
    const int before = h->count, sweep = make_sweep(h, first), second = make_second(h, sweep);
    if (is_worth_it(h, sweep, second))
        return;
    scatter(h, second);
    scatter(h, sweep);
    h->count = before;
}

/* ---- their order ---- */

/* The nodes of two sweeps in their order; returns how many. */
static int merge_sweeps(Pool *pool, const Sweep *a, const Sweep *b, NodeId **node) {
    int count = 0;
    *node = NEW_ARRAY(pool, NodeId, a->count + b->count);
    for (int i = 0, k = 0; i < a->count || k < b->count;)
        (*node)[count++] =
            k == b->count || (i < a->count && a->node[i] < b->node[k]) ? a->node[i++] : b->node[k++];
    return count;
}

/* Marks the nodes that sweep SECOND computes again, because it reads a tensor that the sweep before does
 * not hold as a whole.  NODE[0..COUNT) are the nodes of both sweeps. */
static void mark_again(Heads *h, int second, const NodeId *node, int count) {
    const Graph *g = h->program->graph;
    const int sweep = h->list[second].before;
    for (int k = count - 1; k >= 0; k--) {
        const NodeId i = node[k];
        for (Touch t = node_touches(g, &g->node[i]); h->sweep[i] == sweep && touch_next(&t);)
            h->again[i] |= t.is_output && h->wanted[t.value] && has_rows(&g->value[t.value]) &&
                           !read_outside(h, t.value, sweep, second);
        for (Touch t = node_touches(g, &g->node[i]); touch_next(&t);) {
            CHECK(!h->again[i] || !t.is_output || has_rows(&g->value[t.value]));
            h->wanted[t.value] |= !t.is_output && (h->again[i] || h->sweep[i] == second);
        }
    }
}

/* Has NODE read h->now[V] in the place of V, where there is such a value. */
static void read_now(const Heads *h, Graph *g, Node *node) {
    for (int k = 0; k < node->nin; k++)
        if (node->in[k] >= 0 && node->in[k] < h->nvalue && h->now[node->in[k]] >= 0)
            node_set_input(g, node, k, h->now[node->in[k]]);
}

/* A copy of NODE for sweep SECOND, with values of its own. */
static NodeId compute_again(const Heads *h, Graph *g, Node copy, int second) {
    ValueId *out = NEW_ARRAY(g->pool, ValueId, copy.nout);
    copy.head = second;
    for (int k = 0; k < copy.nout; k++) {
        out[k] = copy.out[k] < 0 ? -1 : value_new(g, g->value[copy.out[k]]);
        if (out[k] >= 0)
            h->now[copy.out[k]] = out[k];
    }
    read_now(h, g, &copy);
    return node_new(g, copy, copy.in, out);
}

/* Puts copies of what sweep SECOND needs again into its place, for it to read; appends them to ORDER. */
static void repeat(Heads *h, int second, NodeId **order, int *count) {
    Graph *g = h->program->graph;
    NodeId *node;
    const int nnode = merge_sweeps(g->pool, &h->list[h->list[second].before], &h->list[second], &node);
    mark_again(h, second, node, nnode);
    for (int k = 0; k < nnode; k++)
        for (Touch t = node_touches(g, &g->node[node[k]]); touch_next(&t);)
            h->wanted[t.value] = false;
    for (int k = 0; k < nnode; k++) {
        if (h->sweep[node[k]] == second)
            read_now(h, g, &g->node[node[k]]);
        if (h->again[node[k]])
            PUSH(g->pool, *order, *count, compute_again(h, g, g->node[node[k]], second));
    }
    for (int k = 0; k < nnode; k++) {
        h->again[node[k]] = false;
        for (int i = 0; i < g->node[node[k]].nout; i++)
            if (g->node[node[k]].out[i] >= 0)
                h->now[g->node[node[k]].out[i]] = -1;
    }
}

static Heads heads_new(const Program *program) {
    const Graph *g = program->graph;
    const int nnode = g->nnode;
    Heads h = {.program = program,
               .nnode = nnode,
               .nvalue = g->nvalue,
               .sweep = NEW_ARRAY(g->pool, int, nnode),
               .of_value = NEW_ARRAY(g->pool, int, g->nvalue),
               .reader_end = count_readers(g),
               .waits = NEW_ARRAY(g->pool, bool, nnode),
               .again = NEW_ARRAY(g->pool, bool, nnode),
               .wanted = NEW_ARRAY(g->pool, bool, g->nvalue),
               .now = NEW_ARRAY(g->pool, ValueId, g->nvalue)};
    int none = 0, readers = 0;
    PUSH(g->pool, h.list, none, ((Sweep){0}));
    for (ValueId v = 0; v < g->nvalue; v++) { /* while they are listed, each ends where it begins */
        const int count = h.reader_end[v];
        h.reader_end[v] = readers;
        readers += count;
        h.now[v] = -1;
    }
    h.reader = NEW_ARRAY(g->pool, NodeId, readers);
    for (int i = 0; i < nnode; i++)
        for (Touch t = node_touches(g, &g->node[i]); touch_next(&t);)
            if (!t.is_output)
                h.reader[h.reader_end[t.value]++] = i;
    return h;
}

void bring_heads_together(Program *program) {
    Graph *g = program->graph;
    const int nnode = g->nnode;
    Heads h = heads_new(program);
    for (int i = 0; i < nnode; i++)
        if (h.sweep[i] == 0 && enlarges(&h, &g->node[i]))
            find_head(&h, i);
    NodeId *order = NULL;
    int count = 0;
    for (int i = 0; i < nnode; i++) {
        const int sweep = h.sweep[i];
        g->node[i].head = sweep;
        if (sweep == 0)
            PUSH(g->pool, order, count, i);
        if (sweep == 0 || h.list[sweep].first != i)
            continue;
        if (h.list[sweep].before > 0 &&
            head_loops(program, g->node[h.list[h.list[sweep].before].first].out[0]))
            repeat(&h, sweep, &order, &count);
        for (int k = 0; k < h.list[sweep].count; k++)
            PUSH(g->pool, order, count, h.list[sweep].node[k]);
    }
    graph_order(g, order);
}
