/* graph.c - build and walk the graph. */
#include "base/diag.h"
#include "ir/graph.h"
#include "base/size_math.h"
#include "ir/ops.h"

#include <string.h>

Graph *graph_new(Pool *pool) {
    Graph *g = NEW(pool, Graph);
    g->pool = pool;
    Operands *operands = NEW_ARRAY(pool, Operands, OPS);
    for (Op op = 0; op < OPS; op++)
        operands[op] = operands_parse(op_table[op].operands);
    g->operands = operands;
    return g;
}

ValueId value_new(Graph *g, Value value) {
    value.producer = -1;
    if (value.class != CLASS_STAGING)
        value.input = -1;
    PUSH(g->pool, g->value, g->nvalue, value);
    return g->nvalue - 1;
}

static ValueId *copy_ids(Pool *pool, const ValueId *id, int count) {
    ValueId *copy = NEW_ARRAY(pool, ValueId, count);
    if (count > 0)
        memcpy(copy, id, (size_t)count * sizeof *id);
    return copy;
}

static void set_producer(Graph *g, NodeId id) {
    const Node *node = &g->node[id];
    for (int k = 0; k < node->nout; k++)
        if (node->out[k] >= 0)
            g->value[node->out[k]].producer = id;
}

NodeId node_new(Graph *g, Node node, const ValueId *in, const ValueId *out) {
    node.in = copy_ids(g->pool, in, node.nin);
    node.out = copy_ids(g->pool, out, node.nout);
    PUSH(g->pool, g->node, g->nnode, node);
    set_producer(g, g->nnode - 1);
    return g->nnode - 1;
}

Graph *graph_copy(Pool *pool, const Graph *graph) {
    Graph *copy = NEW(pool, Graph);
    *copy = *graph;
    copy->pool = pool;
    copy->value = pool_list(pool, graph->value, graph->nvalue, sizeof *graph->value);
    copy->node = pool_list(pool, graph->node, graph->nnode, sizeof *graph->node);
    for (int i = 0; i < copy->nnode; i++) {
        Node *node = &copy->node[i];
        node->in = copy_ids(pool, node->in, node->nin);
        node->out = copy_ids(pool, node->out, node->nout);
    }
    return copy;
}

void node_replace(Graph *g, Node *node, Node new) {
    new.in = copy_ids(g->pool, new.in, new.nin);
    new.out = copy_ids(g->pool, new.out, new.nout);
    *node = new;
    set_producer(g, (NodeId)(node - g->node));
}

void graph_compact(Graph *g, const bool *stays) {
    int kept = 0;
    for (ValueId v = 0; v < g->nvalue; v++)
        g->value[v].producer = -1;
    for (int i = 0; i < g->nnode; i++) {
        if (!stays[i])
            continue;
        g->node[kept] = g->node[i];
        set_producer(g, kept++);
    }
    g->nnode = kept;
}

void graph_order(Graph *g, const NodeId *order) {
    Pool *scratch = pool_part(g->pool);
    Node *node = NEW_ARRAY(scratch, Node, g->nnode);
    for (int i = 0; i < g->nnode; i++)
        node[i] = g->node[order[i]];
    for (int i = 0; i < g->nnode; i++) {
        g->node[i] = node[i];
        set_producer(g, i);
    }
    pool_free(scratch);
}

Span node_line(const Node *node) {
    Span span = node->span;
    for (const Via *via = node->via; via != NULL; via = via->outer)
        if (via->is_call)
            span = via->span;
    return span;
}

int value_segments(const Graph *g, const ValueId *v, const ValueId **segment) {
    if (*v < 0) {
        *segment = v;
        return 0;
    }
    const Value *value = &g->value[*v];
    *segment = value->nsegments > 0 ? value->segment : v;
    return value->nsegments > 0 ? value->nsegments : 1;
}

ValueId value_concat(Graph *g, const ValueId *part, int count, const char *name, Span span) {
    ValueId *flat = NULL;
    int nflat = 0;
    int64_t channels = 0;
    for (int i = 0; i < count; i++) {
        const ValueId *segment;
        int n = value_segments(g, &part[i], &segment);
        for (int k = 0; k < n; k++) {
            PUSH(g->pool, flat, nflat, segment[k]);
            channels += shape_channels(g->value[segment[k]].shape);
        }
    }
    CHECK(nflat > 0);
    Value concat = g->value[flat[0]];
    concat.shape.dim[0] = channels;
    concat.name = name;
    concat.span = span;
    concat.nsegments = nflat;
    concat.segment = flat;
    concat.class =
        CLASS_ACTIVATION; /* the first segment may be an input of the program; the concat is not */
    return value_new(g, concat);
}

ValueId value_concat_like(Graph *g, const ValueId *segment, int count, Value like) {
    like.nsegments = count;
    like.segment = copy_ids(g->pool, segment, count);
    return value_new(g, like);
}

ValueId value_joined(Graph *g, ValueId v, Span span) {
    if (g->value[v].nsegments == 0)
        return v;
    Value joined = g->value[v];
    joined.nsegments = 0;
    joined.segment = NULL;
    joined.class = CLASS_ACTIVATION; /* the first segment may be an input of the program, the copy is not */
    joined.span = span;
    ValueId out = value_new(g, joined);
    node_new(g, (Node){.op = OP_CONCAT, .nin = 1, .nout = 1, .name = joined.name, .span = span}, &v, &out);
    return out;
}

/* ---- nodes ---- */

const Window *node_window(const Node *node) {
    if (node->a.kind == ATTRIBUTES_CONV)
        return &node->a.conv.window;
    return node->a.kind == ATTRIBUTES_POOL ? &node->a.pool.window : NULL;
}

int64_t window_taps(const Window *window) {
    return size_product(size_product(window->kernel[0], window->kernel[1]), window->kernel[2]);
}

ValueId workspace_new(Graph *g, const Node *node, const char *what, Type type, int64_t elements) {
    return value_new(g, (Value){.name = pool_text(g->pool, "%s %s", node->name, what),
                                .class = CLASS_WORKSPACE,
                                .type = type,
                                .shape = {.rank = 1, .dim = {elements}},
                                .span = node->span});
}

static ValueId *longer(Graph *g, const ValueId *id, int count, ValueId last) {
    ValueId *list = NEW_ARRAY(g->pool, ValueId, count + 1);
    if (count > 0)
        memcpy(list, id, (size_t)count * sizeof *id);
    list[count] = last;
    return list;
}

void node_set_input(Graph *g, Node *node, int k, ValueId v) {
    node->in = copy_ids(g->pool, node->in, node->nin);
    node->in[k] = v;
}

void node_set_output(Graph *g, Node *node, int k, ValueId v) {
    node->out = copy_ids(g->pool, node->out, node->nout);
    node->out[k] = v;
}

void node_add_input(Graph *g, Node *node, ValueId v) {
    node->in = longer(g, node->in, node->nin, v);
    node->nin++;
}

void node_add_output(Graph *g, Node *node, ValueId v) {
    node->out = longer(g, node->out, node->nout, v);
    node->nout++;
}

bool node_reads(const Graph *g, const Node *node, ValueId v) {
    for (Touch t = node_touches(g, node); touch_next(&t);)
        if (!t.is_output && t.value == v)
            return true;
    return false;
}

int *count_readers(const Graph *g) {
    int *readers = NEW_ARRAY(g->pool, int, g->nvalue);
    for (int i = 0; i < g->nnode; i++)
        for (Touch t = node_touches(g, &g->node[i]); touch_next(&t);)
            readers[t.value] += !t.is_output;
    return readers;
}

/* ---- the walk over operands ---- */

Touch node_touches(const Graph *g, const Node *node) {
    return (Touch){.graph = g, .node = node};
}

/* The operand that the walk stands at; more inputs than the row has are like its last. */
static const Operand *operand_at(const Touch *t) {
    const Operands *row = &t->graph->operands[t->node->op];
    if (t->is_output)
        return &row->out[t->number];
    return &row->in[t->number < row->nin ? t->number : row->nin - 1];
}

static bool scratch_stays(const Touch *t) {
    return t->operand->stays && (t->node->keeps_sums || !t->operand->may_stay);
}

bool touch_next(Touch *t) {
    const Node *node = t->node;
    for (; t->next < node->nout + node->nin; t->next++, t->next_segment = 0) {
        t->is_output = t->next < node->nout;
        t->number = t->is_output ? t->next : t->next - node->nout;
        const ValueId *segment;
        int n =
            value_segments(t->graph, t->is_output ? &node->out[t->number] : &node->in[t->number], &segment);
        while (t->next_segment < n && segment[t->next_segment] < 0)
            t->next_segment++;
        if (t->next_segment >= n)
            continue;
        t->operand = operand_at(t);
        t->segment = t->next_segment++;
        t->value = segment[t->segment];
        t->reads = !t->is_output || (node->accumulates && t->operand->access == ACCESS_SUM);
        t->writes = t->is_output || t->operand->access == ACCESS_UPDATE;
        t->stays = t->operand->access != ACCESS_SCRATCH || scratch_stays(t);
        return true;
    }
    return false;
}

/* ---- shapes and names ---- */

int64_t shape_elements(Shape s) {
    int64_t elements = 1;
    for (int i = 0; i < s.rank; i++)
        if (__builtin_mul_overflow(elements, s.dim[i], &elements))
            return INT64_MAX;
    return elements;
}

int64_t shape_channels(Shape s) {
    return s.dim[0];
}

int64_t shape_extent(Shape s, int axis) {
    int index = s.rank - AXES + axis; /* axes are the last dimensions; dimension 0 holds the channels */
    return index >= 1 ? s.dim[index] : 1;
}

bool shape_equal(Shape a, Shape b) {
    if (a.rank != b.rank)
        return false;
    for (int i = 0; i < a.rank; i++)
        if (a.dim[i] != b.dim[i])
            return false;
    return true;
}

const char *shape_text(Pool *pool, Shape s) {
    const char *text = "";
    for (int i = 0; i < s.rank; i++)
        text = pool_text(pool, "%s%s%lld", text, i > 0 ? " x " : "", (long long)s.dim[i]);
    return text;
}

const char *class_text(Class c) {
    static const char *const text[CLASSES] = {
        [CLASS_PARAMETER] = "parameter",   [CLASS_PARAMETER_GRADIENT] = "parameter_gradient",
        [CLASS_ACTIVATION] = "activation", [CLASS_ACTIVATION_GRADIENT] = "activation_gradient",
        [CLASS_STATE] = "state",           [CLASS_RUNNING_STATISTIC] = "running_statistic",
        [CLASS_WORKSPACE] = "workspace",   [CLASS_STAGING] = "staging",
        [CLASS_METRIC] = "metric",         [CLASS_BATCH_STATISTIC] = "batch_statistic",
    };
    return text[c];
}

/* ---- types ---- */

static const struct {
    const char *text, *constant;
    int bytes;
} type_table[] = {
    [TYPE_F32] = {"f32", "UNET_F32", 4},
    [TYPE_F64] = {"f64", "UNET_F64", 8},
    [TYPE_U8] = {"u8", "UNET_U8", 1},
    [TYPE_BF16] = {"bf16", "UNET_BF16", 2},
    [TYPE_F16] = {"f16", "UNET_F16", 2},
    [TYPE_UNORM8] = {"unorm8", "UNET_UNORM8", 1},
    [TYPE_UNORM16] = {"unorm16", "UNET_UNORM16", 2},
};

const char *type_text(Type t) {
    return type_table[t].text;
}

const char *type_constant(Type t) {
    return type_table[t].constant;
}

int type_bytes(Type t) {
    return type_table[t].bytes;
}
