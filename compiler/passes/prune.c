/* prune.c - keeps what a program's results need.
 *
 * Training needs the losses and metrics, evaluation the same, prediction the outputs; a node stays if
 * something that stays reads what it computes, or if it updates storage that outlives the program (a
 * running statistic), which the next program reads.  When the graph is complete, a last node, `return`,
 * reads the results: it stands for the caller, who looks at them after the step.  Where the runtime passes
 * rows, each output has a node of its own.
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

void prune(Program *program) {
    Graph *g = program->graph;
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
    const int n = results(program, &result);
    for (int i = 0; passes_rows(program) && i < n; i++)
        store_value(program->graph, result[i]);
    if (!passes_rows(program))
        node_new(program->graph, (Node){.op = OP_RETURN, .nin = n, .name = "return"}, result, NULL);
}
