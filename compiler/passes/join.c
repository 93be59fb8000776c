/* join.c - two steps become one, where one kernel does both in one pass over memory.
 *
 *     conv of enc1.2, max_pool of enc1.2   ->   conv + max_pool of enc1.2
 *
 * The target says which kernels can do both (KernelRow.join).  Other than in fuse.c both results are kept,
 * so the pass runs when all is planned but the places: either of the two may be computed again.  A joined
 * step is a node of its own, in no graph before; the two may run elsewhere as they are.
 *
 * It needs the memory of both at once.  So a pair is joined only where that leaves the most bytes alive as
 * they are, and never in a loop over bands, where steps stay behind each other.
 *
 * Requires: live.  Provides: shorter schedules, first and last of all buffers anew.
 */
#include "base/size_math.h"
#include "ir/ops.h"
#include "ir/verify.h"
#include "passes/passes.h"

typedef struct {
    Program *program;
    Alive alive;
} Join;

/* Makes STEP[0] do what STEP[1] does, too, if it can; it stands at POSITION. */
static bool join_pair(Join *j, Step *step, int position) {
    Program *program = j->program;
    Graph *g = program->graph;
    if (step[0].node < 0 || step[1].node < 0 || step[0].recompute != step[1].recompute)
        return false;
    const Node *first = &g->node[step[0].node], *second = &g->node[step[1].node];
    JoinRule *rule = program->target->kernel[second->op].join;
    if (rule == NULL || size_sum(j->alive.bytes[position], j->alive.born[position + 1]) > j->alive.most)
        return false;
    Node joined = *first;
    if (!rule(g, first, second, &joined))
        return false;
    joined.also = op_table[second->op].name;
    step[0].node = g->nnode;
    PUSH(g->pool, g->node, g->nnode, joined); /* values keep their producers, which reports name */
    return true;
}

/* Joins pairs of STEP[0..NSTEP), the first of them at POSITION; returns how many steps these are now. */
static int join_steps(Join *j, Step *step, int nstep, int position) {
    int kept = 0;
    for (int i = 0; i < nstep; i++) {
        const int first = position;
        position += 1 + (step[i].node < 0 ? step_count(step[i].body, step[i].nbody) : 0);
        if (step[i].node < 0 && step[i].axis == AXIS_SAMPLES)
            step[i].nbody = join_steps(j, step[i].body, step[i].nbody, first + 1);
        step[kept] = step[i];
        if (i + 1 < nstep && join_pair(j, &step[i], first)) {
            step[kept] = step[i++];
            position++;
        }
        kept++;
    }
    return kept;
}

void join(Plan *plan) {
    for (Program *p = next_program(plan, 0); p != NULL; p = next_program(plan, (int)p->kind + 1)) {
        Join j = {p, alive_in(plan, p)};
        const int once = p->nonce;
        p->nstep = once + join_steps(&j, p->step + once, p->nstep - once, once);
        NodeId *order;
        const Step **loop;
        const int count = schedule_nodes(p->graph->pool, p, &order, &loop);
        verify_graph(p->graph, "join", order, count);
    }
    live(plan);
}
