/* micro_batch.c - how many samples to train at a time.
 *
 * If loops are free, a loop over single samples costs next to nothing once a sample is enough work, and
 * needs that many times less memory; if a sample is less work, threads would wait for each other.  A file
 * that says `accumulate` has no more samples at a time than its batch.  If an operator sees the whole
 * batch, the batch stays together: there is no loop, or, with `accumulate`, one over batches.  With `ranks`
 * the sums of each group of samples begin anew, and iterations are parts of a group, all of one length.
 *
 * Requires: the complete graph.  Provides: program->micro_batch, program->group.
 */
#include "base/size_math.h"
#include "ir/ops.h"
#include "passes/passes.h"

/* So many that a mean kernel has enough to do, in iterations of equal length. */
static int64_t enough_samples(const Program *program) {
    const int64_t enough = 96 << 20; /* FLOPs in the mean kernel of an iteration */
    int64_t flops = 0;
    for (int i = 0; i < program->graph->nnode; i++)
        flops = work_sum(flops, 1, node_flops(program, &program->graph->node[i]));
    int64_t mean = flops / (program->graph->nnode + 1) + 1, samples = (enough - 1) / mean + 1;
    if (samples >= program->batch)
        return program->batch;
    return iterations(program->batch, iterations(program->batch, samples));
}

static void choose(Program *program) {
    const int64_t chosen = program->choices->micro_batch, asked = program->options->micro_batches;
    program->micro_batch = 1; /* what node_flops() counts below */
    if (program->kind != PROGRAM_TRAIN || asked == 1 || whole_batch_node(program->graph) != NULL)
        program->micro_batch = program->batch;
    else if (chosen > 0)
        program->micro_batch = chosen < program->batch ? chosen : program->batch;
    else if (asked > 1)
        program->micro_batch = iterations(program->batch, asked);
    else if (has_bands(program) && program->target->rings)
        program->micro_batch = 1; /* or gradients of weights stay out of loops over bands */
    else
        program->micro_batch = program->target->loops_are_free ? enough_samples(program) : program->batch;
}

void choose_micro_batch(Program *program) {
    choose(program);
    const TrainSection *train = &program->model->train;
    const int64_t most = samples_together(train);
    if (program->kind != PROGRAM_TRAIN)
        return;
    if (program->micro_batch > most)
        program->micro_batch = most;
    program->group = train->ranks > 1 ? iterations(program->batch, train->ranks) : 0;
    while (program->group > 0 && program->group % program->micro_batch != 0)
        program->micro_batch--;
}
