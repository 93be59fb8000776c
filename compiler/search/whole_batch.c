/* whole_batch.c - wishes that a file cannot have if an operator sees the whole batch, as batch_norm does in
 * training, or a loss of sums over all its points; and the operator that ends bands of rows because it sees
 * the whole image.  In a step of several batches (`accumulate`), such an operator sees each by itself.
 *
 * Requires: the graph of training as lowered.  Provides: errors of the file.
 */
#include "search/whole_batch.h"
#include "ir/ops.h"
#include "ir/target.h"
#include "pipeline.h"

/* The call in the file: NODE itself, the operator that reads its result, or, for a gradient, the operator
 * in its place. */
static const char *called(const Graph *g, const Node *node) {
    if (op_table[node->op].signature != NULL)
        return op_table[node->op].name;
    for (int i = 0; i < g->nnode; i++)
        if (op_table[g->node[i].op].signature != NULL && node_reads(g, &g->node[i], node->out[0]))
            return op_table[g->node[i].op].name;
    for (int i = 0; i < g->nnode; i++)
        if (op_table[g->node[i].op].signature != NULL && g->node[i].span.line == node->span.line &&
            g->node[i].span.column == node->span.column)
            return op_table[g->node[i].op].name;
    return op_table[node->op].name;
}

/* A loss of sums over all points, as dice_loss; others are statistics. */
static bool is_loss(const Node *node) {
    return node->a.kind == ATTRIBUTES_LOSS;
}

static int64_t batch_of(const Model *train) {
    return samples_together(&train->train);
}

static bool report_parts(Diag *diag, const Model *train, const Node *node, int parts) {
    const char *name = called(train->graph, node);
    const bool loss = is_loss(node);
    diag_begin(diag, ERROR, "U0705", node->span,
               "`%s` sees the whole batch: --micro-batches=%d would change it", name, parts);
    if (node_line(node).line != node->span.line)
        diag_also(diag, node_line(node), "called here");
    diag_note(diag, "%s are taken over %lld samples; over fewer, they and the result differ",
              loss ? "its sums" : "its mean and variance", (long long)batch_of(train));
    diag_help(diag, "leave the option out: what does not fit is computed a second time");
    if (loss && node->a.loss.labels != NULL && node->a.loss.labels->overlap.batch)
        diag_help(diag, "or sum each sample by itself, with `batch = false`");
    if (!loss)
        diag_help(diag, "or normalise each sample by itself, with `instance_norm` or `group_norm`");
    diag_end(diag);
    return false;
}

static bool report_one_value(Diag *diag, const Model *train, const Node *node) {
    const Graph *g = train->graph;
    const int64_t ranks = train->train.ranks;
    diag_begin(diag, ERROR, "U0411", node->span, "`%s` would see one value per channel", called(g, node));
    diag_label(diag, "batch 1, %s", shape_text(g->pool, g->value[node->in[0]].shape));
    if (node_line(node).line != node->span.line)
        diag_also(diag, node_line(node), "called here");
    if (ranks > 1)
        diag_note(diag, "with `ranks %lld` it sees the samples of one of as many parts of the batch",
                  (long long)ranks);
    diag_help(diag, "train with `batch %lld` or more, or use `group_norm` here",
              2 * (long long)ranks_batch_unit(&train->train));
    diag_end(diag);
    return false;
}

/* With `ranks`: each group has statistics of its own. */
static void warn_of_one_sample(Diag *diag, const Model *train, const Node *node) {
    const char *name = called(train->graph, node);
    const int64_t ranks = train->train.ranks;
    diag_begin(diag, WARNING, "U0416", node->span, "`%s` sees one sample at a time", name);
    if (node_line(node).line != node->span.line)
        diag_also(diag, node_line(node), "called here");
    diag_note(
        diag,
        "`ranks %lld` cuts the %lld samples of a step into as many groups, each with statistics of its own",
        (long long)ranks, (long long)train->train.batch);
    diag_help(diag, "train with `batch %lld` or more, or with fewer ranks, or use `group_norm` here",
              2 * (long long)ranks_batch_unit(&train->train));
    if (train->train.accumulate == 1)
        diag_help(diag, "or write `batch_norm(sync = true)`: its statistics are those of the whole batch");
    diag_end(diag);
}

SweepEnd sweep_end(const Plan *plan) {
    const Program *program = program_of(plan, 0);
    bool uneven = false;
    const Node *node = program->target->rings ? band_end(program, &uneven) : NULL;
    return node == NULL ? (SweepEnd){.name = ""}
                        : (SweepEnd){called(program->graph, node),
                                     uneven ? "makes no whole number of rows of a band"
                                            : "takes the whole image at once",
                                     node_line(node)};
}

/* A synchronised batch_norm, NODE, is there. */
static bool report_bands(Diag *diag, const Node *node) {
    diag_begin(diag, ERROR, "U0418", node->span, "`sync = true` does not go with --bands");
    if (node_line(node).line != node->span.line)
        diag_also(diag, node_line(node), "called here");
    diag_note(diag,
              "all samples of a step wait for each other at each normalisation, and a loop over bands of "
              "rows has one sample at a time");
    diag_help(diag, "leave the option out: what does not fit is computed a second time");
    diag_end(diag);
    return false;
}

bool suits_whole_batch(Diag *diag, const Options *options, const Model *train) {
    const Graph *g = train->graph;
    if (merging_node(g) != NULL && options->bands > 1)
        return report_bands(diag, merging_node(g));
    const Node *first = whole_batch_node(g);
    const int64_t batch = batch_of(train), parts = options->micro_batches;
    if (first != NULL && parts > 1 && iterations(train->train.batch, parts) < batch)
        return report_parts(diag, train, first, options->micro_batches);
    for (int i = 0; i < g->nnode; i++) {
        const Node *node = &g->node[i];
        if (has_trait(node, TRAIT_WHOLE_BATCH) && !is_loss(node) && batch == 1 &&
            shape_elements(g->value[node->in[0]].shape) == shape_channels(g->value[node->in[0]].shape))
            return report_one_value(diag, train, node);
    }
    if (first != NULL && !is_loss(first) && batch == 1 && train->train.ranks > 1)
        warn_of_one_sample(diag, train, first);
    return true;
}
