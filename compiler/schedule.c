/* schedule.c - the order of the steps.
 *
 * Keeps the order of the graph: the order in which the file says things, then the backward pass.  Where
 * training works on a few samples at a time, the schedule has a loop (loops.c).
 *
 * Requires: the graph in its final form.  Provides: program->step.
 */
#include "ops.h"
#include "plan.h"

void schedule(Program *program) {
    if (program->micro < program->batch) {
        loop_over_samples(program);
        return;
    }
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

static int list_nodes(const Step *step, int nstep, bool in_loop, NodeId *node, bool *loop) {
    int n = 0;
    for (int i = 0; i < nstep; i++) {
        if (step[i].node < 0) {
            n += list_nodes(step[i].body, step[i].nbody, true, node + n, loop + n);
            continue;
        }
        node[n] = step[i].node;
        loop[n++] = in_loop;
    }
    return n;
}

int schedule_nodes(const Program *program, NodeId **node, bool **in_loop) {
    int most = step_count(program->step, program->nstep);
    *node = NEW_ARRAY(program->graph->pool, NodeId, most);
    *in_loop = NEW_ARRAY(program->graph->pool, bool, most);
    return list_nodes(program->step, program->nstep, false, *node, *in_loop);
}

const Step *step_at(const Step *step, int nstep, int position) {
    for (int i = 0; i < nstep; i++) {
        int inside = step[i].node < 0 ? step_count(step[i].body, step[i].nbody) : 0;
        if (position == 0)
            return &step[i];
        if (position <= inside)
            return step_at(step[i].body, step[i].nbody, position - 1);
        position -= 1 + inside;
    }
    BUG("the schedule has no step at that position");
}

int64_t node_flops(const Program *program, const Node *node) {
    int64_t flops = op_table[node->op].flops(program->graph, node), all;
    bool per_sample =
        node->op != OP_RETURN && node->nin > 0 && program->graph->value[node->in[0]].per_sample;
    if (__builtin_mul_overflow(flops, per_sample ? program->micro : 1, &all))
        return INT64_MAX;
    return all;
}
