/* graph.c - build and walk the graph. */
#include "ir.h"

#include <string.h>

Graph *graph_new(Pool *pool) {
    Graph *g = NEW(pool, Graph);
    g->pool = pool;
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

NodeId node_new(Graph *g, Node node, const ValueId *in, const ValueId *out) {
    node.in = copy_ids(g->pool, in, node.nin);
    node.out = copy_ids(g->pool, out, node.nout);
    PUSH(g->pool, g->node, g->nnode, node);
    for (int i = 0; i < node.nout; i++)
        if (out[i] >= 0)
            g->value[out[i]].producer = g->nnode - 1;
    return g->nnode - 1;
}

void graph_compact(Graph *g, const bool *stays) {
    int kept = 0;
    for (ValueId v = 0; v < g->nvalue; v++)
        g->value[v].producer = -1;
    for (int i = 0; i < g->nnode; i++) {
        if (!stays[i])
            continue;
        g->node[kept] = g->node[i];
        for (int k = 0; k < g->node[kept].nout; k++)
            if (g->node[kept].out[k] >= 0)
                g->value[g->node[kept].out[k]].producer = kept;
        kept++;
    }
    g->nnode = kept;
}

Place node_line(const Node *node) {
    Place place = node->place;
    for (const Via *via = node->via; via != NULL; via = via->outer)
        if (via->is_call)
            place = via->place;
    return place;
}

bool node_adds_to(const Graph *g, const Node *node, int k) {
    ValueId v = node->out[k];
    return node->a.accumulate && v >= 0 && !g->value[v].per_sample && g->value[v].class != CLASS_WORKSPACE;
}

int value_leaves(const Graph *g, const ValueId *v, const ValueId **leaf) {
    if (*v < 0) {
        *leaf = v;
        return 0;
    }
    const Value *value = &g->value[*v];
    *leaf = value->nparts > 0 ? value->part : v;
    return value->nparts > 0 ? value->nparts : 1;
}

ValueId value_whole(Graph *g, const ValueId *part, int nparts, const char *name, Place place) {
    ValueId *flat = NULL;
    int nflat = 0;
    int64_t channels = 0;
    for (int i = 0; i < nparts; i++) {
        const ValueId *leaf;
        int nleaf = value_leaves(g, &part[i], &leaf);
        for (int k = 0; k < nleaf; k++) {
            PUSH(g->pool, flat, nflat, leaf[k]);
            channels += shape_channels(g->value[leaf[k]].shape);
        }
    }
    CHECK(nflat > 0);
    Value whole = g->value[flat[0]];
    whole.shape.dim[0] = channels;
    whole.name = name;
    whole.place = place;
    whole.nparts = nflat;
    whole.part = flat;
    whole.class = CLASS_ACTIVATION; /* the first part may be an input of the program; the whole is not */
    return value_new(g, whole);
}

ValueId value_parts(Graph *g, const ValueId *part, int nparts, Value like) {
    like.nparts = nparts;
    like.part = copy_ids(g->pool, part, nparts);
    return value_new(g, like);
}

ValueId value_joined(Graph *g, ValueId v, Place place) {
    if (g->value[v].nparts == 0)
        return v;
    Value joined = g->value[v];
    joined.nparts = 0;
    joined.part = NULL;
    joined.class = CLASS_ACTIVATION; /* the first part may be an input of the program, the copy is not */
    joined.place = place;
    ValueId out = value_new(g, joined);
    node_new(g, (Node){.op = OP_CONCAT, .nin = 1, .nout = 1, .name = joined.name, .place = place}, &v,
             &out);
    return out;
}

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
        [CLASS_PARAMETER] = "parameter",
        [CLASS_PARAMETER_GRADIENT] = "parameter_gradient",
        [CLASS_ACTIVATION] = "activation",
        [CLASS_ACTIVATION_GRADIENT] = "activation_gradient",
        [CLASS_STATE] = "state",
        [CLASS_RUNNING_STATISTIC] = "running_statistic",
        [CLASS_BATCH_STATISTIC] = "batch_statistic",
        [CLASS_WORKSPACE] = "workspace",
        [CLASS_STAGING] = "staging",
        [CLASS_METRIC] = "metric",
    };
    return text[c];
}

const char *type_text(Type t) {
    static const char *const text[] = {"f32", "f64", "u8", "u16", "i32", "bf16", "f16", "unorm8"};
    return text[t];
}

int type_bytes(Type t) {
    static const int bytes[] = {4, 8, 1, 2, 4, 2, 2, 1};
    return bytes[t];
}
