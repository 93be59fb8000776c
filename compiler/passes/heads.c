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
 * and in a loop over bands (bands.c) a few rows of all that is large are there at a time.
 *
 * The gradient of a loss that sees all points first, such as dice, comes in a second sweep.  There the
 * logits are enlarged once more, and with it stand all gradients that are added to it:
 *
 *     resize, argmax, dice_loss, miou, ..., resize, cross_entropy_grad, dice_loss_grad, add, resize_grad
 *
 * Where somebody else reads enlarged logits, such as a loss that sorts the points, the order stays.
 *
 * Requires: the nodes of a program, before the target prepares them.  Provides: their order; Node.head, a
 * number for each sweep; nodes that compute again, with values of their own.
 */
#include "base/diag.h"
#include "ir/ops.h"
#include "passes/bands.h"
#include "passes/passes.h"

typedef struct {
    int first;  /* the node in whose place it stands */
    int before; /* the sweep whose images it may have again, or 0 */
} Sweep;

typedef struct {
    const Program *program;
    int nnode;     /* without those that compute again */
    int *sweep;    /* per node: the number of its sweep, or 0 */
    int *of_value; /* per value: the sweep that makes it, or 0 */
    bool *waits;   /* per node: it does not stand in the first sweep that is being made */
    Sweep *list;   /* by their numbers */
    int count;     /* of sweeps */
} Heads;

/* Makes one image of one that has fewer points, without weights. */
static bool enlarges(const Heads *h, const Node *node) {
    const Graph *g = h->program->graph;
    if (node->nin != 1 || node->nout != 1 || !computes_bands(h->program, node))
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

/* Does a node outside of both sweeps read V? */
static bool read_outside(const Heads *h, ValueId v, int sweep, int other) {
    const Graph *g = h->program->graph;
    for (int i = g->value[v].producer + 1; i < h->nnode; i++)
        if (h->sweep[i] != sweep && h->sweep[i] != other && node_reads(g, &g->node[i], v))
            return true;
    return false;
}

/* ---- making a sweep ---- */

static int begin_sweep(Heads *h, int first, int before) {
    const Sweep sweep = {first, before};
    int count = h->count + 1;
    PUSH(h->program->graph->pool, h->list, count, sweep);
    return ++h->count;
}

static void put(Heads *h, int i, int sweep) {
    const Graph *g = h->program->graph;
    h->sweep[i] = sweep;
    for (Touch t = node_touches(g, &g->node[i]); touch_next(&t);)
        if (t.is_output)
            h->of_value[t.value] = sweep;
}

static void gather(Heads *h, int sweep) {
    for (int i = h->list[sweep].first; i < h->nnode; i++)
        if (h->sweep[i] == 0 && !h->waits[i] && belongs(h, sweep, i))
            put(h, i, sweep);
}

static void scatter(Heads *h, int sweep) {
    for (int i = 0; i < h->nnode; i++)
        if (h->sweep[i] == sweep)
            put(h, i, 0);
}

/* A node of the sweep behind the first that makes a gradient with as many rows as what is enlarged, which
 * others read: it would be there as a whole.  -1: there is none. */
static int find_gradient(const Heads *h, int sweep) {
    const Graph *g = h->program->graph;
    const Node *first = &g->node[h->list[sweep].first];
    const int64_t rows = shape_rows(g->value[first->in[0]].shape);
    for (int i = h->list[sweep].first + 1; i < h->nnode; i++)
        for (Touch t = node_touches(g, &g->node[i]); h->sweep[i] == sweep && touch_next(&t);) {
            const Value *value = &g->value[t.value];
            if (t.is_output && value->class == CLASS_ACTIVATION_GRADIENT && has_rows(value) &&
                shape_rows(value->shape) > rows && read_outside(h, t.value, sweep, sweep))
                return i;
        }
    return -1;
}

/* The sweep that begins with node FIRST. */
static int make_sweep(Heads *h, int first) {
    const int sweep = begin_sweep(h, first, 0);
    for (int i = 0; i < h->nnode; i++)
        h->waits[i] = false;
    put(h, first, sweep);
    gather(h, sweep);
    for (int late = find_gradient(h, sweep); late >= 0; late = find_gradient(h, sweep)) {
        h->waits[late] = true;
        scatter(h, sweep);
        put(h, first, sweep);
        gather(h, sweep);
    }
    return sweep;
}

/* The one behind it, of what could not stand there; returns SWEEP if there is none. */
static int make_second(Heads *h, int sweep) {
    const int second = begin_sweep(h, 0, sweep);
    for (int i = 0; i < h->nnode; i++)
        h->waits[i] = false;
    for (int i = h->list[sweep].first + 1; i < h->nnode; i++) {
        h->list[second].first = i;
        if (h->sweep[i] == 0 && belongs(h, second, i)) {
            gather(h, second);
            return second;
        }
    }
    h->count--;
    return sweep;
}

/* Does a loss or a metric stand in the sweeps, or are classes chosen there, and do they alone read what is
 * enlarged, each of them? */
static bool is_worth_it(const Heads *h, int sweep, int second) {
    const Graph *g = h->program->graph;
    const ValueId large = g->node[h->list[sweep].first].out[0];
    bool measures = false, first_reads = false;
    for (int i = h->list[sweep].first; i < h->nnode; i++) {
        if (h->sweep[i] == sweep || h->sweep[i] == second)
            measures |= has_trait(&g->node[i], TRAIT_MEASURES) || has_trait(&g->node[i], TRAIT_CLASSES);
        first_reads |= h->sweep[i] == sweep && node_reads(g, &g->node[i], large);
    }
    return measures && first_reads && !read_outside(h, large, sweep, second);
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

/* Per node: does sweep SECOND compute it again, because it reads an image of it that is not there as a
 * whole for others? */
static bool *find_repeated(const Heads *h, int second) {
    const Graph *g = h->program->graph;
    const int sweep = h->list[second].before;
    bool *again = NEW_ARRAY(g->pool, bool, h->nnode), *wanted = NEW_ARRAY(g->pool, bool, g->nvalue);
    for (int i = h->nnode - 1; i >= 0; i--) {
        for (Touch t = node_touches(g, &g->node[i]); h->sweep[i] == sweep && touch_next(&t);)
            again[i] |= t.is_output && wanted[t.value] && has_rows(&g->value[t.value]) &&
                        !read_outside(h, t.value, sweep, second);
        for (Touch t = node_touches(g, &g->node[i]); touch_next(&t);) {
            CHECK(!again[i] || !t.is_output || has_rows(&g->value[t.value]));
            wanted[t.value] |= !t.is_output && (again[i] || h->sweep[i] == second);
        }
    }
    return again;
}

/* Has NODE read NOW[V] in the place of V, where there is such a value. */
static void read_now(Graph *g, Node *node, const ValueId *now, int nvalue) {
    for (int k = 0; k < node->nin; k++)
        if (node->in[k] >= 0 && node->in[k] < nvalue && now[node->in[k]] >= 0)
            node_set_input(g, node, k, now[node->in[k]]);
}

/* Puts copies of what sweep SECOND needs again into its place, for it to read; appends them to ORDER. */
static void repeat(const Heads *h, int second, NodeId **order, int *count) {
    Graph *g = h->program->graph;
    const int nvalue = g->nvalue;
    const bool *again = find_repeated(h, second);
    ValueId *now = NEW_ARRAY(g->pool, ValueId, nvalue);
    for (ValueId v = 0; v < nvalue; v++)
        now[v] = -1;
    for (int i = 0; i < h->nnode; i++) {
        if (h->sweep[i] == second)
            read_now(g, &g->node[i], now, nvalue);
        if (!again[i])
            continue;
        Node copy = g->node[i];
        copy.head = second;
        ValueId *out = NEW_ARRAY(g->pool, ValueId, copy.nout);
        for (int k = 0; k < copy.nout; k++) {
            out[k] = copy.out[k] < 0 ? -1 : value_new(g, g->value[copy.out[k]]);
            if (out[k] >= 0)
                now[copy.out[k]] = out[k];
        }
        read_now(g, &copy, now, nvalue);
        PUSH(g->pool, *order, *count, node_new(g, copy, copy.in, out));
    }
}

void bring_heads_together(Program *program) {
    Graph *g = program->graph;
    const int nnode = g->nnode;
    Heads h = {.program = program,
               .nnode = nnode,
               .sweep = NEW_ARRAY(g->pool, int, nnode),
               .of_value = NEW_ARRAY(g->pool, int, g->nvalue),
               .waits = NEW_ARRAY(g->pool, bool, nnode)};
    int none = 0;
    PUSH(g->pool, h.list, none, ((Sweep){0}));
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
        for (int k = i; k < nnode; k++)
            if (h.sweep[k] == sweep)
                PUSH(g->pool, order, count, k);
    }
    graph_order(g, order);
}
