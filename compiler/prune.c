/* prune.c - keeps what a program's results need.
 *
 * Training needs the losses and metrics, evaluation the same, prediction the outputs; a node stays only if
 * something that stays reads what it computes.  When the graph is complete, a last node, `return`, reads
 * the results: it stands for the caller, who looks at them after the step.
 *
 * prune: requires the graph as lowered.  close_graph: requires all other nodes.
 */
#include "plan.h"

static void keep(const Graph *g, bool *needed, ValueId v) {
    const ValueId *leaf;
    int n = value_leaves(g, &v, &leaf);
    for (int p = 0; p < n; p++)
        needed[leaf[p]] = true;
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

void prune(Program *program) {
    Graph *g = program->graph;
    ValueId *result;
    int n = results(program, &result);
    bool *needed = NEW_ARRAY(g->pool, bool, g->nvalue), *stays = NEW_ARRAY(g->pool, bool, g->nnode);
    for (int i = 0; i < n; i++)
        keep(g, needed, result[i]);
    for (int i = g->nnode - 1; i >= 0; i--) {
        const Node *node = &g->node[i];
        for (int k = 0; k < node->nout; k++)
            stays[i] |= needed[node->out[k]];
        for (int k = 0; stays[i] && k < node->nin; k++)
            keep(g, needed, node->in[k]);
    }
    graph_compact(g, stays);
}

void close_graph(Program *program) {
    ValueId *result;
    int n = results(program, &result);
    node_new(program->graph, (Node){.op = OP_RETURN, .nin = n, .name = "return"}, result, NULL);
}
