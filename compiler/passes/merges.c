/* merges.c - a body of steps becomes several loops over samples, where all samples are merged on the way.
 *
 * A synchronised batch_norm (front/synchronise.c) reads statistics of all samples of a step.  All groups of
 * samples come to it before any goes on, so the body is cut there:
 *
 *     loop { load, conv, statistics } | merge | loop { norm, conv, statistics } | merge | ...
 *
 * At the end of each loop stand the steps that end the sums of the loop.  A tensor that several loops touch
 * is held for all samples of the process, and a kernel is handed the samples of the iteration; a tensor
 * that one loop alone touches holds the samples of an iteration and no others.
 *
 * Requires: the steps of one iteration, layouts for all samples of the process.
 * Provides: the loops; program->held, layouts of tensors that are not held.
 */
#include "ir/ops.h"
#include "passes/bands.h"
#include "passes/passes.h"

/* Loops are numbered. */
typedef struct {
    Program *program;
    int *first, *last; /* per value: the loops in which steps touch it; of no loop: -1 */
    const NodeId *end; /* what ends sums: */
    int nend, *end_in; /*   in which loop */
} Loops;

/* The sums of groups of different values have a buffer in common. */
static bool tells_loop(const Touch *t) {
    return !has_trait(t->node, TRAIT_OF_RANKS) || t->number == 0;
}

static void touch_in(Loops *l, NodeId id, int loop) {
    const Graph *g = l->program->graph;
    for (Touch t = node_touches(g, &g->node[id]); touch_next(&t);) {
        if (!tells_loop(&t))
            continue;
        if (l->first[t.value] < 0)
            l->first[t.value] = loop;
        l->last[t.value] = loop > l->last[t.value] ? loop : l->last[t.value];
    }
}

/* The loop behind which all is there that NODE ends. */
static int loop_of_end(const Loops *l, const Node *node) {
    int loop = 0;
    for (Touch t = node_touches(l->program->graph, node); touch_next(&t);)
        if (tells_loop(&t) && l->last[t.value] > loop)
            loop = l->last[t.value];
    return loop;
}

static void find_touched(Loops *l, const Step *step, int nstep) {
    const Graph *g = l->program->graph;
    int loop = 0;
    for (ValueId v = 0; v < g->nvalue; v++)
        l->first[v] = l->last[v] = -1;
    for (int i = 0; i < nstep; i++) {
        const bool merges = has_trait(&g->node[step[i].node], TRAIT_MERGES);
        touch_in(l, step[i].node, merges ? ++loop : loop);
    }
    for (int i = 0; i < l->nend; i++) {
        l->end_in[i] = loop_of_end(l, &g->node[l->end[i]]);
        touch_in(l, l->end[i], l->end_in[i]);
    }
}

/* The next samples replace a tensor that is no sum and belongs to some samples alone.  They also replace
 * sums of a whole batch, which are the sums of a group: losses stand behind all norms of the forward pass,
 * and their gradients in front of all of the backward pass. */
static void check_groups(const Graph *g, const Loops *l) {
    for (int i = 0; i < g->nnode; i++) {
        const Node *node = &g->node[i];
        const bool replaces = has_samples(g, node) && !has_trait(node, TRAIT_MERGES),
                   whole = has_trait(node, TRAIT_WHOLE_BATCH);
        for (Touch t = node_touches(g, node); replaces && touch_next(&t);)
            CHECK(!t.is_output || t.operand->access == ACCESS_SUM ||
                  (g->value[t.value].per_sample && !whole) || l->first[t.value] == l->last[t.value]);
    }
}

static void hold_samples(const Loops *l) {
    Program *program = l->program;
    const Graph *g = program->graph;
    bool *held = NEW_ARRAY(g->pool, bool, g->nvalue);
    for (ValueId v = 0; v < g->nvalue; v++) {
        const bool elsewhere =
            g->value[v].class == CLASS_STAGING && g->value[v].input >= 0 && !program->target->stages;
        if (!g->value[v].per_sample || g->value[v].nsegments > 0 || elsewhere)
            continue;
        held[v] = l->first[v] != l->last[v];
        if (!held[v])
            program->target->lay_out(&g->value[v], program->micro_batch, &program->layout[v]);
    }
    program->held = held;
}

/* Appends the loop of that number, of BODY and what ends its sums. */
static void add_loop(const Loops *l, Step *body, int nbody, int loop, Step **step, int *nstep) {
    Program *program = l->program;
    Step *bands;
    for (int i = 0; i < l->nend; i++)
        if (l->end_in[i] == loop)
            PUSH(program->graph->pool, body, nbody, ((Step){.node = l->end[i]}));
    nbody = loop_over_bands(program, body, nbody, &bands);
    if (nbody > 0)
        PUSH(program->graph->pool, *step, *nstep, loop_over_samples(program, bands, nbody));
}

int cut_at_merges(Program *program, const NodeId *end, int nend, const Step *step, int nstep, Step **cut) {
    const Graph *g = program->graph;
    Loops l = {.program = program,
               .first = NEW_ARRAY(g->pool, int, g->nvalue),
               .last = NEW_ARRAY(g->pool, int, g->nvalue),
               .end = end,
               .nend = nend,
               .end_in = NEW_ARRAY(g->pool, int, nend)};
    Step *body = NULL;
    int count = 0, nbody = 0, loop = 0;
    find_touched(&l, step, nstep);
    check_groups(g, &l);
    hold_samples(&l);
    *cut = NULL;
    for (int i = 0; i < nstep; i++) {
        if (!has_trait(&g->node[step[i].node], TRAIT_MERGES)) {
            PUSH(g->pool, body, nbody, step[i]);
            continue;
        }
        add_loop(&l, body, nbody, loop++, cut, &count);
        PUSH(g->pool, *cut, count, step[i]);
        body = NULL;
        nbody = 0;
    }
    add_loop(&l, body, nbody, loop, cut, &count);
    return count;
}
