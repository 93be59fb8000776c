/* other_norms.c - ways to train without statistics of the whole batch, each planned.
 *
 * A `batch_norm` in training sees the whole batch at once, so there is no loop over samples and no band of
 * rows.  Smaller batches, the running statistics, or another normalisation in its place change the
 * mathematics, so nobody but the user chooses them.  A plan under each says how much memory each would
 * save.
 *
 * Requires: a plan of training, and the question that it answers.
 * Provides: the line of the first such normalisation, and a trial for each way.
 */
#include "search/other_norms.h"
#include "ir/ops.h"
#include "base/threads.h"

#include <limits.h>

/* Finds the first normalisation by statistics of the whole batch. */
static const Node *batch_statistics(const Graph *g) {
    for (int i = 0; i < g->nnode; i++)
        if (g->node[i].a.kind == ATTRIBUTES_NORM && has_trait(&g->node[i], TRAIT_WHOLE_BATCH))
            return &g->node[i];
    return NULL;
}

static void add(OtherNorms *norms, const char *option, const char *meaning, FitQuestion question) {
    norms->way[norms->count++] = (OtherNorm){.question = question, .option = option, .meaning = meaning};
}

/* One sample at a time, as many as a step has now.  With `ranks` each process has groups of its own. */
static void add_accumulation(Pool *pool, OtherNorms *norms, const Model *train, FitQuestion question) {
    const long long samples = train->train.batch;
    if (samples == train->train.accumulate || train->train.ranks > 1)
        return;
    question.lower.batch = 1;
    question.lower.accumulate = samples;
    add(norms, pool_text(pool, "--batch=1 --accumulate=%lld", samples), "statistics of each sample",
        question);
}

static void add_normalisation(OtherNorms *norms, BatchNorm way, const char *option, const char *meaning,
                              FitQuestion question) {
    question.lower.batch_norm = way;
    add(norms, option, meaning, question);
}

OtherNorms other_norms(Pool *pool, const Plan *plan, const FitQuestion *asked) {
    const Program *train = &plan->program[PROGRAM_TRAIN];
    const Node *norm = train->model == NULL ? NULL : batch_statistics(train->graph);
    OtherNorms norms = {.budget = plan->budget > 0 ? plan->budget : plan->arena / 2};
    FitQuestion question = *asked;
    if (norm == NULL)
        return norms;
    norms.line = node_line(norm);
    question.options.effort = 0;
    question.options.budget = norms.budget;
    if (plan->budget == 0)
        add(&norms, "as it is", "statistics of the batch", question);
    add_accumulation(pool, &norms, train->model, question);
    add_normalisation(&norms, BATCH_NORM_GROUP, "--batch-norm=group", "`group_norm` in its place",
                      question);
    add_normalisation(&norms, BATCH_NORM_INSTANCE, "--batch-norm=instance", "`instance_norm` in its place",
                      question);
    add_normalisation(&norms, BATCH_NORM_RUNNING, "--batch-norm=running",
                      "`statistics = \"running\"`, which stay as they are", question);
    return norms;
}

/* A brief search may miss a plan that a longer one finds. */
static void *try_one(void *item) {
    OtherNorm *way = item;
    if (!fit_as_asked(&way->question, &way->trial))
        way->trial = fit_try(&way->question);
    return NULL;
}

void try_other_norms(OtherNorms *norms, const Plan *plan) {
    in_threads(try_one, norms->way, sizeof *norms->way, norms->count, plan_is_large(plan) ? 1 : INT_MAX);
}
