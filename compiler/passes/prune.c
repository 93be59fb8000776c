/* prune.c - keeps what a program's results need.
 *
 * Training needs the losses and metrics, evaluation the same, prediction the outputs; a node stays if
 * something that stays reads what it computes, or if it updates storage that outlives the program (a
 * running statistic), which the next program reads.  When the graph is complete, a last node, `return`,
 * reads the results: it stands for the caller, who looks at them after the step.  If the runtime passes
 * rows, each output has a node of its own.  Nodes for training alone, such as dropout, go from the other
 * programs: whoever reads their output reads their input.  If windows go through a volume, the blended
 * tensor is the output (passes/windows.c).
 *
 * prune: requires the graph as lowered.  close_graph: requires all other nodes.
 */
#include "ir/ops.h"
#include "passes/passes.h"

static void keep(const Graph *g, bool *needed, ValueId v) {
    const ValueId *segment;
    int n = value_segments(g, &v, &segment);
    for (int p = 0; p < n; p++)
        needed[segment[p]] = true;
}

static int results(const Program *program, ValueId **result) {
    const Model *model = program->model;
    bool predict = program->kind == PROGRAM_PREDICT;
    int n = predict ? model->noutput : model->nresult;
    *result = NEW_ARRAY(model->pool, ValueId, n);
    for (int i = 0; i < n; i++)
        (*result)[i] = predict ? model->output[i].value : model->result[i].value;
    return n;
}

/* Does something needed, or something that outlives the program, change? */
static bool is_needed(const Graph *g, const Node *node, const bool *needed) {
    for (Touch t = node_touches(g, node); touch_next(&t);)
        if (t.writes && (needed[t.value] || t.operand->access == ACCESS_UPDATE))
            return true;
    return false;
}

/* ---- what only training does ---- */

/* The tensor that V stands for outside of training. */
static ValueId without_training(const Graph *g, ValueId v) {
    while (v >= 0 && g->value[v].producer >= 0 &&
           has_trait(&g->node[g->value[v].producer], TRAIT_OF_TRAINING))
        v = g->node[g->value[v].producer].in[0];
    return v;
}

/* Lets all readers, concats and results do without the nodes of training. */
static void drop_training(Program *program) {
    Graph *g = program->graph;
    Model *model = program->model;
    for (ValueId v = 0; v < g->nvalue; v++) {
        Value *value = &g->value[v];
        ValueId *segment = NEW_ARRAY(g->pool, ValueId, value->nsegments);
        for (int p = 0; p < value->nsegments; p++)
            segment[p] = without_training(g, value->segment[p]);
        value->segment = segment;
    }
    for (int i = 0; i < g->nnode; i++)
        for (int k = 0; k < g->node[i].nin; k++)
            g->node[i].in[k] = without_training(g, g->node[i].in[k]);
    for (int i = 0; i < model->noutput; i++)
        model->output[i].value = without_training(g, model->output[i].value);
}

void prune(Program *program) {
    Graph *g = program->graph;
    if (program->kind != PROGRAM_TRAIN)
        drop_training(program);
    blend_windows(program);
    ValueId *result;
    int n = results(program, &result);
    bool *needed = NEW_ARRAY(g->pool, bool, g->nvalue), *stays = NEW_ARRAY(g->pool, bool, g->nnode);
    for (int i = 0; i < n; i++)
        keep(g, needed, result[i]);
    for (int i = g->nnode - 1; i >= 0; i--) {
        stays[i] = is_needed(g, &g->node[i], needed);
        for (int k = 0; stays[i] && k < g->node[i].nin; k++)
            keep(g, needed, g->node[i].in[k]);
    }
    graph_compact(g, stays);
}

void close_graph(Program *program) {
    ValueId *result;
    const int n = results(program, &result), count = n + (program->gradient_norm >= 0);
    ValueId *returned = NEW_ARRAY(program->graph->pool, ValueId, count);
    for (int i = 0; i < count; i++)
        returned[i] = i < n ? result[i] : program->gradient_norm;
    for (int i = 0; passes_rows(program) && i < n; i++)
        store_value(program->graph, result[i]);
    if (!passes_rows(program))
        node_new(program->graph, (Node){.op = OP_RETURN, .nin = count, .name = "return"}, returned, NULL);
}
