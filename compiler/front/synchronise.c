/* synchronise.c - `batch_norm(sync = true)`: statistics of all samples of a step, whoever has them.
 *
 * With `ranks` the samples of a step are cut into groups, and a batch_norm sees the samples of one group,
 * as it would see a batch.  Synchronised, it takes statistics of each sample, and `norm_merge` merges them
 * over all samples, of other processes, too:
 *
 *     mean, variance = batch_statistics(x)     ->     means, variances = norm_statistics(x)
 *                                                     mean, variance = norm_merge(means, variances)
 *
 * Without `ranks` a batch is one group, and there is nothing to do.
 *
 * Requires: the graph of training as lowered, the number of ranks.  Provides: NormAttributes.sync where
 * there are groups, and nowhere else.
 */
#include "front/lower_state.h"
#include "ir/ops.h"

static bool is_synchronised(const Node *node) {
    return node->a.kind == ATTRIBUTES_NORM && node->a.norm.sync;
}

static ValueId of_each_sample(Graph *g, ValueId statistic) {
    Value value = g->value[statistic];
    value.name = pool_text(g->pool, "%s of samples", value.name);
    value.per_sample = true;
    return value_new(g, value);
}

/* Node I takes statistics of each sample; returns the node that merges them. */
static NodeId merge_statistics(Graph *g, NodeId i) {
    const Node *node = &g->node[i];
    const ValueId merged[] = {node->out[0], node->out[1], -1}; /* the target's scratch */
    const ValueId in[] = {of_each_sample(g, merged[0]), of_each_sample(g, merged[1])};
    const ValueId out[] = {in[0], in[1], -1};
    Node statistics = *node, merge = *node;
    statistics.op = OP_NORM_STATISTICS;
    statistics.out = (ValueId *)out;
    merge.op = OP_NORM_MERGE;
    merge.nin = 2;
    node_replace(g, &g->node[i], statistics);
    return node_new(g, merge, in, merged);
}

static void synchronise(Graph *g) {
    const int before = g->nnode;
    NodeId *merge = NEW_ARRAY(g->pool, NodeId, before);
    for (int i = 0; i < before; i++) {
        if (is_synchronised(&g->node[i]))
            g->node[i].a.norm.batch = false;
        merge[i] = is_synchronised(&g->node[i]) && g->node[i].op == OP_BATCH_STATISTICS
                       ? merge_statistics(g, i)
                       : -1;
    }
    NodeId *order = NEW_ARRAY(g->pool, NodeId, g->nnode);
    int n = 0;
    for (int i = 0; i < before; i++) {
        order[n++] = i;
        if (merge[i] >= 0)
            order[n++] = merge[i];
    }
    graph_order(g, order);
}

/* ---- what does not go together ---- */

static bool report_accumulation(Lower *l, const Node *norm) {
    diag_begin(l->diag, ERROR, "U0417", norm->span, "`sync = true` does not go with `accumulate`");
    diag_also(l->diag, l->model->train.accumulate_span, "a step is %lld batches here",
              (long long)l->model->train.accumulate);
    diag_note(l->diag,
              "with `ranks` the samples of a step are cut into groups, and a group belongs to no batch");
    diag_help(l->diag, "write a larger `batch` and no `accumulate`, or leave out `sync = true`");
    diag_end(l->diag);
    return false;
}

static bool report_local(Lower *l, const Node *norm, const Node *local) {
    diag_begin(l->diag, ERROR, "U0417", local->span, "this `batch_norm` needs `sync = true`, too");
    diag_also(l->diag, norm->span, "this one is synchronised");
    diag_note(
        l->diag,
        "one that is not has statistics of each group of samples, which are gone once all groups wait "
        "for the synchronised one");
    diag_help(l->diag, "write `sync = true` in all of them, or in none");
    diag_end(l->diag);
    return false;
}

static bool go_together(Lower *l, const Node *norm) {
    const Graph *g = l->graph;
    if (l->model->train.accumulate > 1)
        return report_accumulation(l, norm);
    for (int i = 0; i < g->nnode; i++)
        if (g->node[i].op == OP_BATCH_STATISTICS && !g->node[i].a.norm.sync)
            return report_local(l, norm, &g->node[i]);
    return true;
}

void synchronise_norms(Lower *l) {
    Graph *g = l->graph;
    const Node *first = NULL;
    for (int i = 0; i < g->nnode; i++) {
        if (l->model->train.ranks == 1 && g->node[i].a.kind == ATTRIBUTES_NORM)
            g->node[i].a.norm.sync = false;
        if (first == NULL && is_synchronised(&g->node[i]))
            first = &g->node[i];
    }
    if (first != NULL && go_together(l, first))
        synchronise(g);
}
