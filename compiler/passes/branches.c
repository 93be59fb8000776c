/* branches.c - a step that nobody waits for soon runs in a stream of its own, beside steps that others
 * need.
 *
 *     wgrad dec1, dgrad dec1, wgrad enc1, ...   ->   [wgrad dec1 || dgrad dec1], [wgrad enc1 || ...
 *
 * The gradient of a layer's weights is not needed before the optimiser's step, but the gradient of its
 * input is needed at once.  A device that has room for both may compute them at the same time.  Which steps
 * run beside others a target's rows say (KernelRow.beside).  With the steps behind it, as far as these
 * neither write what it touches nor touch what it writes, such a step becomes a section of two branches: a
 * fork in front of it, a join behind.
 *
 * Buffers that a section touches live through all of it.  So branches are made only where that leaves the
 * most bytes alive as they are, or raises them by no more than the budget has left: of the steps behind,
 * the farthest are left out, or all.  Order, kernels and results are the same as in the plan without
 * branches.
 *
 * Requires: live, sections.  Provides: sections whose branches have streams; first and last of all buffers
 * anew.
 */
#include "base/size_math.h"
#include "ir/ops.h"
#include "ir/target.h"
#include "passes/passes.h"

enum { WAITED_FOR = 1, BESIDE = 2 }; /* branches */

typedef struct {
    Plan *plan;
    const Program *program;
    int sections;
    int64_t most; /* bytes that may be alive */
} Fork;

static int root_buffer(const Fork *f, ValueId v) {
    const int b = f->program->buffer_of[v];
    return b >= 0 && f->plan->buffer[b].same >= 0 ? f->plan->buffer[b].same : b;
}

/* Does neither write what the other touches? */
static bool independent(const Fork *f, const Node *one, const Node *other) {
    const Graph *g = f->program->graph;
    for (Touch s = node_touches(g, one); touch_next(&s);)
        for (Touch t = node_touches(g, other); touch_next(&t);)
            if ((s.writes || t.writes) && root_buffer(f, s.value) >= 0 &&
                root_buffer(f, s.value) == root_buffer(f, t.value))
                return false;
    return true;
}

static bool runs_beside(const Fork *f, const Step *step) {
    return step->node >= 0 && step->section == 0 &&
           f->plan->target->kernel[f->program->graph->node[step->node].op].beside;
}

/* Does NODE need what stands before it to be through, for the runtime, or for other processes? */
static bool ends_branches(const Node *node) {
    return has_trait(node, TRAIT_OF_RUNTIME) || has_trait(node, TRAIT_OF_RANKS);
}

/* How many of STEP[0..NSTEP) may run while the steps BESIDE[0..COUNT) do. */
static int steps_meanwhile(const Fork *f, const Step *beside, int count, const Step *step, int nstep) {
    const Graph *g = f->program->graph;
    int n = 0;
    for (; n < nstep && step[n].node >= 0 && step[n].section == 0 && !runs_beside(f, &step[n]); n++) {
        const Node *node = &g->node[step[n].node];
        for (int i = 0; i < count; i++)
            if (ends_branches(node) || !independent(f, &g->node[beside[i].node], node))
                return n;
    }
    return n;
}

/* The first COUNT of the steps form the one branch, those behind them the other; SECTION 0: none does. */
static void set_section(Step *step, int count, int nstep, int section) {
    for (int i = 0; i < nstep; i++) {
        step[i].section = section;
        step[i].branch = section == 0 ? 0 : i < count ? BESIDE : WAITED_FOR;
        step[i].streams = section != 0;
    }
}

/* So many of STEP[0..NSTEP), or fewer, that no chain is cut. */
static int whole_chains(const Step *step, int count, int nstep) {
    while (count > 0 && count < nstep && step[count].chained)
        count--;
    return count;
}

/* Lets STEP[0..COUNT) run beside as many of the MEANWHILE steps behind them as leave no more bytes alive
 * than there may be; returns how many these are. */
static int fork_beside(Fork *f, Step *step, int count, int meanwhile, int nstep) {
    f->sections++;
    for (int n = meanwhile; n > 0; n /= 2) {
        n = whole_chains(step + count, n, nstep - count);
        if (n == 0)
            break;
        set_section(step, count, count + n, f->sections);
        live(f->plan);
        if (alive_in(f->plan, f->program).most <= f->most)
            return n;
        set_section(step, count, count + n, 0);
    }
    live(f->plan);
    return 0;
}

static void fork_steps(Fork *f, Step *step, int nstep) {
    for (int i = 0, count; i < nstep; i += count) {
        count = 1;
        if (step[i].node < 0 && step[i].axis == AXIS_SAMPLES)
            fork_steps(f, step[i].body, step[i].nbody);
        if (!runs_beside(f, &step[i]))
            continue;
        while (i + count < nstep && runs_beside(f, &step[i + count]))
            count++;
        const int meanwhile = steps_meanwhile(f, &step[i], count, &step[i + count], nstep - i - count);
        count += fork_beside(f, &step[i], count, meanwhile, nstep - i);
    }
}

static int most_sections(const Step *step, int nstep) {
    int most = 0;
    for (int i = 0; i < nstep; i++) {
        const int inside = step[i].node < 0 ? most_sections(step[i].body, step[i].nbody) : step[i].section;
        most = inside > most ? inside : most;
    }
    return most;
}

void branches(Plan *plan) {
    for (Program *p = next_program(plan, 0); p != NULL; p = next_program(plan, (int)p->kind + 1)) {
        Fork f = {plan, p, most_sections(p->step, p->nstep),
                  size_sum(alive_in(plan, p).most, plan->choices.branch_bytes)};
        fork_steps(&f, p->step + p->nonce, p->nstep - p->nonce);
    }
}
