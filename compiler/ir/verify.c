/* verify.c - holds a graph against the rows of its operators, after every pass.
 *
 * The laws:
 *     operands    as many as the row has, absent only where it says optional, concats only where it says so
 *     attributes  of the kind that the row names
 *     order       what a node reads was computed by a node in front of it, or by none
 *     producers   a value's producer is the last node that has it as an output
 *     sums        are no tensors with samples; scratch is workspace and read by nobody
 *     updates     are of parameters, the optimiser's state or running statistics, which no node produces:
 *                 they are neither computed nor summed; once updated, a parameter is read by no node
 *                 that does not update it, too
 *
 * Requires: nothing.  Provides: nothing; calls BUG().  Time is linear in the size of the graph.
 */
#include "ir/verify.h"
#include "base/diag.h"
#include "ir/ops.h"

typedef struct {
    const Graph *g;
    const char *pass;
    const Node *node;
    int at;        /* the node's position in the order, from 1 */
    int *made;     /* per value: the first position at which it was computed, or 0 */
    bool *scratch; /* per value */
    bool *updated; /* per value: a parameter that a node in front updated */
} Verify;

#define BROKEN(v, ...)                                                                                     \
    bug_at(__FILE__, __LINE__, "graph after %s: %s `%s`: %s", (v)->pass, op_table[(v)->node->op].name,     \
           (v)->node->name, pool_text((v)->g->pool, __VA_ARGS__))

static void verify_operand(const Verify *v, const Operand *operand, ValueId id) {
    const Graph *g = v->g;
    if (id < -1 || id >= g->nvalue)
        BROKEN(v, "operand `%.*s` is no value", operand->length, operand->name);
    if (id < 0 && !operand->optional)
        BROKEN(v, "operand `%.*s` is absent", operand->length, operand->name);
    if (id >= 0 && g->value[id].nsegments > 0 && !operand->segments && !operand->region)
        BROKEN(v, "operand `%.*s` is a concat", operand->length, operand->name);
}

static void verify_operands(const Verify *v) {
    const Operands *row = &v->g->operands[v->node->op];
    const Node *node = v->node;
    if (node->nout > row->nout || (node->nin > row->nin && !row->variadic))
        BROKEN(v, "%d outputs and %d inputs are more than its row has", node->nout, node->nin);
    for (int k = 0; k < row->nout; k++)
        verify_operand(v, &row->out[k], k < node->nout ? node->out[k] : -1);
    for (int k = 0; k < row->nin && !row->variadic; k++)
        verify_operand(v, &row->in[k], k < node->nin ? node->in[k] : -1);
    if (node->a.kind != op_table[node->op].attributes)
        BROKEN(v, "its attributes are of another kind (%d)", (int)node->a.kind);
}

static bool persists(Class c) {
    return c == CLASS_PARAMETER || c == CLASS_STATE || c == CLASS_RUNNING_STATISTIC;
}

static void verify_input(const Verify *v, const Touch *t) {
    const Value *value = &v->g->value[t->value];
    if (value->producer >= 0 && (v->made[t->value] == 0 || v->made[t->value] == v->at))
        BROKEN(v, "it reads `%s`, which is computed further down", value->name);
    if (v->scratch[t->value])
        BROKEN(v, "it reads `%s`, the scratch of another node", value->name);
    const bool updates = t->operand->access == ACCESS_UPDATE;
    if (v->updated[t->value] && !updates)
        BROKEN(v, "it reads `%s`, which was updated already", value->name);
    v->updated[t->value] |= updates && value->class == CLASS_PARAMETER;
    if (t->operand->access == ACCESS_UPDATE && (!persists(value->class) || value->producer >= 0))
        BROKEN(v, "it updates `%s`, which does not outlive the step", value->name);
}

static void verify_output(const Verify *v, const Touch *t) {
    const Value *value = &v->g->value[t->value];
    const bool scratch = t->operand->access == ACCESS_SCRATCH;
    if (persists(value->class))
        BROKEN(v, "it computes `%s`, which outlives the step and may only be updated", value->name);
    if (value->producer < 0)
        BROKEN(v, "its output `%s` has no producer", value->name);
    if (t->operand->access == ACCESS_SUM && value->per_sample && !sums_rows(v->g, v->node))
        BROKEN(v, "its sum `%s` has samples", value->name);
    if (scratch && value->class != CLASS_WORKSPACE)
        BROKEN(v, "its scratch `%s` is no workspace", value->name);
    if (v->made[t->value] == 0)
        v->made[t->value] = v->at;
    v->scratch[t->value] = scratch;
}

void verify_graph(const Graph *g, const char *pass, const NodeId *order, int count) {
    Pool *pool = pool_part(g->pool);
    Verify v = {.g = g,
                .pass = pass,
                .made = NEW_ARRAY(pool, int, g->nvalue),
                .scratch = NEW_ARRAY(pool, bool, g->nvalue),
                .updated = NEW_ARRAY(pool, bool, g->nvalue)};
    for (int i = 0; i < (order == NULL ? g->nnode : count); i++) {
        v.node = &g->node[order == NULL ? i : order[i]];
        v.at = i + 1;
        verify_operands(&v);
        for (Touch t = node_touches(g, v.node); touch_next(&t);)
            (t.is_output ? verify_output : verify_input)(&v, &t);
    }
    pool_free(pool);
}
