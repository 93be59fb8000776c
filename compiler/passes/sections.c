/* sections.c - steps that one launch can do stand side by side.
 *
 *     pack enc1, conv, pack enc2, conv    ->    [pack enc1 | pack enc2], conv, conv
 *     wgrad, unpack dec1, wgrad, unpack   ->    wgrad, wgrad, [unpack dec1 | unpack enc1]
 *
 * Packing the filters of a layer, or unpacking their gradient, is so little work that its launch costs
 * more. A target's rows say what one launch does together (KernelRow.together).  Such steps
 * become a section, each a branch of its own: in the first place where all that they read is there, or, if
 * there is no such place, in the last one in front of all readers of their results.
 *
 * A tensor that waits longer lives longer.  So steps are moved only if that leaves the most bytes alive as
 * they are; the steps nearest to the section move first.  A step that computes again stays where its result
 * is needed.  Steps in loops over bands of rows stay as well.
 *
 * Requires: live.  Provides: another order of the steps, sections, first and last of all buffers anew.
 */
#include "ir/ops.h"
#include "ir/target.h"
#include "ir/verify.h"
#include "passes/passes.h"

#include <string.h>

/* Steps that one launch can do in a list of steps: those with these numbers, in their order. */
typedef struct {
    Plan *plan;
    Program *program;
    Step *step;
    int nstep, *member, count;
    bool up; /* they go to the first of them, not to the last */
    int sections;
} Gather;

/* ---- what may change places ---- */

/* Per buffer: how near the step is that wrote it, and the one that touched it, on the way to a step; -1:
 * none. */
typedef struct {
    int *written, *touched;
} Seen;

static int root_buffer(const Gather *g, ValueId v) {
    const int b = g->program->buffer_of[v];
    return b >= 0 && g->plan->buffer[b].same >= 0 ? g->plan->buffer[b].same : b;
}

/* STEP is number I on the way. */
static void see(const Gather *g, Seen *seen, const Step *step, int i) {
    for (int k = 0; step->node < 0 && k < step->nbody; k++)
        see(g, seen, &step->body[k], i);
    if (step->node < 0)
        return;
    for (Touch t = node_touches(g->program->graph, &g->program->graph->node[step->node]); touch_next(&t);) {
        const int b = root_buffer(g, t.value);
        if (b >= 0)
            seen->touched[b] = i;
        if (b >= 0 && t.writes)
            seen->written[b] = i;
    }
}

/* The nearest of the steps seen that wrote what NODE touches, or touched what it writes; -1: none did. */
static int nearest(const Gather *g, const Seen *seen, const Node *node) {
    int found = -1;
    for (Touch t = node_touches(g->program->graph, node); touch_next(&t);) {
        const int b = root_buffer(g, t.value);
        const int at = b < 0 ? -1 : t.writes ? seen->touched[b] : seen->written[b];
        found = at > found ? at : found;
    }
    return found;
}

/* Can one launch do NODE together with the nodes of OP that are found? */
static bool goes_with(const Gather *g, const Node *node, Op op) {
    const KernelRow *row = &g->plan->target->kernel[node->op];
    if (row->together != op)
        return false;
    const Node *first = g->count == 0 ? node : &g->program->graph->node[g->step[g->member[0]].node];
    return !row->of_same || (node->nin == first->nin &&
                             memcmp(node->in, first->in, (size_t)node->nin * sizeof *node->in) == 0);
}

/* Finds the steps that go with OP and can go up to the first of them, or, going through the list from its
 * end, down to the last. */
static void find_members(Gather *g, Op op) {
    const Graph *graph = g->program->graph;
    Seen seen = {NEW_ARRAY(g->plan->pool, int, g->plan->nbuffer),
                 NEW_ARRAY(g->plan->pool, int, g->plan->nbuffer)};
    for (int b = 0; b < g->plan->nbuffer; b++)
        seen.written[b] = seen.touched[b] = -1;
    int goal = -1;
    g->count = 0;
    for (int i = 0; i < g->nstep; i++) {
        const int number = g->up ? i : g->nstep - 1 - i;
        const Step *step = &g->step[number];
        const Node *node = step->node < 0 ? NULL : &graph->node[step->node];
        if (node != NULL && !step->recompute && goes_with(g, node, op)) {
            goal = goal < 0 ? i : goal;
            if (goal == i || nearest(g, &seen, node) < goal)
                g->member[g->count++] = number;
        }
        see(g, &seen, step, i);
    }
}

/* ---- the section ---- */

/* Members are listed from the place to which they go on. */
static void arrange(Gather *g, const Step *before) {
    bool *moves = NEW_ARRAY(g->plan->pool, bool, g->nstep);
    for (int k = 0; k < g->count; k++)
        moves[g->member[k]] = true;
    int out = 0;
    for (int i = 0; i < g->nstep; i++) {
        for (int k = 0; i == g->member[0] && k < g->count; k++) {
            g->step[out] = before[g->member[g->up ? k : g->count - 1 - k]];
            g->step[out].section = g->sections;
            g->step[out++].branch = k + 1;
        }
        if (!moves[i])
            g->step[out++] = before[i];
    }
}

/* Makes a section of the members, or of as many as leave the most bytes alive as they are. */
static void make_section(Gather *g) {
    Step *before = NEW_ARRAY(g->plan->pool, Step, g->nstep);
    memcpy(before, g->step, (size_t)g->nstep * sizeof *before);
    const int64_t most = alive_in(g->plan, g->program).most;
    g->sections++;
    for (; g->count > 1; g->count -= (g->count + 3) / 4) { /* without the farthest quarter */
        arrange(g, before);
        live(g->plan);
        if (alive_in(g->plan, g->program).most <= most)
            return;
        memcpy(g->step, before, (size_t)g->nstep * sizeof *before);
    }
    live(g->plan);
}

static void gather_operator(Gather *g, Op op) {
    for (int way = 0; way < 2; way++) {
        g->up = way == 0;
        find_members(g, op);
        if (g->count > 1) {
            make_section(g);
            return;
        }
    }
}

static void gather_steps(Gather *g, Step *step, int nstep) {
    for (int i = 0; i < nstep; i++)
        if (step[i].node < 0 && step[i].axis == AXIS_SAMPLES)
            gather_steps(g, step[i].body, step[i].nbody);
    g->step = step;
    g->nstep = nstep;
    g->member = NEW_ARRAY(g->plan->pool, int, nstep);
    for (Op op = 0; op < OPS; op++)
        if (op > 0 && g->plan->target->kernel[op].together == op)
            gather_operator(g, op);
}

void sections(Plan *plan) {
    for (Program *p = next_program(plan, 0); p != NULL; p = next_program(plan, (int)p->kind + 1)) {
        Gather g = {.plan = plan, .program = p};
        gather_steps(&g, p->step, p->nonce);
        gather_steps(&g, p->step + p->nonce, p->nstep - p->nonce);
        NodeId *order;
        const Step **loop;
        const int count = schedule_nodes(p->graph->pool, p, &order, &loop);
        verify_graph(p->graph, "sections", order, count);
    }
}
