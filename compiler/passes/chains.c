/* chains.c - neighbours that work point by point become one launch.
 *
 *     batch_norm, dropout, add, prelu   ->   [batch_norm, dropout, add, prelu]
 *
 * A thread that has made a point of one tensor goes on with the same point of the next one, which so needs
 * no launch of its own and finds the numbers where the thread has them.  Each kernel computes what it does
 * alone, to the same bits.  A target's rows say which kernels do so (KernelRow.chaining): they write a
 * tensor, and of each other tensor of its shape they read no other point.
 *
 * Points do not wait for each other.  So a step is chained only if what it reads of the steps in front of
 * it has the shape of the chain, and all that a chain touches lives through all of it.  A step is chained
 * only where no more bytes are alive than there are without chains, and never in a loop over bands of rows.
 *
 * Requires: live.  Provides: Step.chained, first and last of all buffers anew.
 */
#include "base/size_math.h"
#include "ir/ops.h"
#include "ir/target.h"
#include "passes/passes.h"

enum { MOST = 8 }; /* steps of a chain: their operands are arguments of one kernel */

typedef struct {
    const Plan *plan;
    const Program *program;
    Alive alive;
} Chains;

static const Node *node_of(const Chains *c, const Step *step) {
    return &c->program->graph->node[step->node];
}

static Chaining chaining_of(const Chains *c, const Step *step) {
    const bool alone = step->node < 0 || step->section > 0 || node_of(c, step)->nout == 0;
    const ValueId result = alone ? -1 : node_of(c, step)->out[0];
    return result < 0 || !c->program->graph->value[result].per_sample
               ? CHAINS_NOT
               : c->plan->target->kernel[node_of(c, step)->op].chaining;
}

static int root_buffer(const Chains *c, ValueId v) {
    const int b = c->program->buffer_of[v];
    return b >= 0 && c->plan->buffer[b].same >= 0 ? c->plan->buffer[b].same : b;
}

/* Have both the same points, in the same places? */
static bool same_points(const Chains *c, ValueId a, ValueId b) {
    const Value *value = c->program->graph->value;
    return value[a].type == value[b].type && shape_equal(value[a].shape, value[b].shape) &&
           same_layout(&c->program->layout[a], &c->program->layout[b]);
}

/* Do ONE and OTHER mean the same points by all bytes that one of them writes and both touch? */
static bool point_by_point(const Chains *c, const Node *one, const Node *other) {
    const Graph *g = c->program->graph;
    for (Touch s = node_touches(g, one); touch_next(&s);)
        for (Touch t = node_touches(g, other); touch_next(&t);)
            if ((s.writes || t.writes) && root_buffer(c, s.value) >= 0 &&
                root_buffer(c, s.value) == root_buffer(c, t.value) && !same_points(c, s.value, t.value))
                return false;
    return true;
}

/* Can STEP[COUNT] be chained to STEP[0..COUNT)? */
static bool goes_on(const Chains *c, const Step *step, int count) {
    if (chaining_of(c, &step[count]) != CHAINS)
        return false;
    const Node *node = node_of(c, &step[count]);
    bool fits = same_points(c, node_of(c, &step[0])->out[0], node->out[0]);
    for (int k = 0; k < count && fits; k++)
        fits = point_by_point(c, node_of(c, &step[k]), node);
    return fits;
}

/* Chains STEP[0..NSTEP), the first of them at POSITION. */
static void chain_steps_of(const Chains *c, Step *step, int nstep, int position) {
    for (int i = 0, count; i < nstep; i += count) {
        count = 1;
        if (step[i].node < 0) {
            if (step[i].axis == AXIS_SAMPLES)
                chain_steps_of(c, step[i].body, step[i].nbody, position + 1);
            position += 1 + step_count(step[i].body, step[i].nbody);
            continue;
        }
        int64_t bytes = c->alive.bytes[position];
        while (chaining_of(c, &step[i]) != CHAINS_NOT && count < MOST && i + count < nstep &&
               goes_on(c, &step[i], count)) {
            bytes = size_sum(bytes, c->alive.born[position + count]);
            if (bytes > c->alive.most)
                break;
            step[i + count++].chained = true;
        }
        position += count;
    }
}

void chains(Plan *plan) {
    for (Program *p = next_program(plan, 0); p != NULL; p = next_program(plan, (int)p->kind + 1)) {
        const Chains c = {plan, p, alive_in(plan, p)};
        chain_steps_of(&c, p->step, p->nstep, 0);
    }
    live(plan);
}
