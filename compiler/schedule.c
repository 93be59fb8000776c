/* schedule.c - the order of the steps.
 *
 * Keeps the order of the graph: the order in which the file says things, then the backward pass.  This is
 * where recomputation and loops over samples are chosen; the result is a tree for that reason.
 *
 * Requires: the graph in its final form.  Provides: program->step.
 */
#include "ops.h"
#include "plan.h"

void schedule(Program *program) {
    program->nstep = program->graph->nnode;
    program->step = NEW_ARRAY(program->graph->pool, Step, program->nstep);
    for (int i = 0; i < program->nstep; i++)
        program->step[i] = (Step){.node = i};
}

int step_count(const Step *step, int nstep) {
    int count = nstep;
    for (int i = 0; i < nstep; i++)
        if (step[i].node < 0)
            count += step_count(step[i].body, step[i].nbody);
    return count;
}

int64_t node_flops(const Program *program, const Node *node) {
    int64_t flops = op_table[node->op].flops(program->graph, node), all;
    bool per_sample =
        node->op != OP_RETURN && node->nin > 0 && program->graph->value[node->in[0]].per_sample;
    if (__builtin_mul_overflow(flops, per_sample ? program->batch : 1, &all))
        return INT64_MAX;
    return all;
}
