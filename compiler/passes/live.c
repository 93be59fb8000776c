/* live.c - from which step to which are the bytes of a buffer needed?
 *
 *          step   0    1    2    3    4
 *     x           w----r
 *     enc1             w----r---------r      a skip connection lives long
 *     h                     w----r
 *
 * Steps are numbered by their place in the tree, in pre-order.  A buffer lives from the first step that
 * touches it to the last, these included; buffers that share bytes live as one, and a region as long as its
 * slices.  A buffer that a loop touches and that also lives outside of the loop lives through all of the
 * loop.  A buffer that a loop over bands touches does so in any case, for its rows are made in one
 * iteration and read in another; but not scratch in which nothing stays, nor weights that each iteration
 * packs, nor a ring in which no row stays.  A buffer that a section, or a chain, touches lives through all
 * of it: its steps may run at once.  A buffer that outlives a step lives through all of its program.
 *
 * Requires: buffers, rings.  Provides: first and last of the buffers of each program.
 */
#include "base/size_math.h"
#include "ir/ops.h"
#include "passes/passes.h"

#include <limits.h>

typedef struct {
    Plan *plan;
    const Program *program;
    const Step **packed_in; /* per node that packs weights in each iteration of a loop: this loop */
} Live;

static void extend(Buffer *b, int position) {
    if (position < b->first)
        b->first = position;
    if (position > b->last)
        b->last = position;
}

/* All that buffer B needs to be alive: what it shares bytes with, the region it lies in. */
static void needed_at(const Live *l, int b, int position) {
    Buffer *all = l->plan->buffer;
    extend(&all[b], position);
    if (all[b].same >= 0)
        extend(&all[all[b].same], position);
    if (all[b].slice >= 0)
        extend(&all[all[b].slice], position);
}

/* Numbers the steps from POSITION on; returns the position behind them. */
static int walk(const Live *l, const Step *step, int nstep, int position) {
    const Graph *g = l->program->graph;
    for (int i = 0; i < nstep; i++) {
        const int here = position++;
        if (step[i].node < 0) {
            position = walk(l, step[i].body, step[i].nbody, position);
            continue;
        }
        for (Touch t = node_touches(g, &g->node[step[i].node]); touch_next(&t);)
            if (l->program->buffer_of[t.value] >= 0)
                needed_at(l, l->program->buffer_of[t.value], here);
    }
    return position;
}

/* All that the steps STEP[0..COUNT), which form a section or a chain, touch lives from POSITION on through
 * the last. */
static void stretch_section(const Live *l, const Step *step, int count, int position) {
    const Graph *g = l->program->graph;
    for (int i = 0; i < count; i++)
        for (Touch t = node_touches(g, &g->node[step[i].node]); touch_next(&t);)
            if (l->program->buffer_of[t.value] >= 0) {
                needed_at(l, l->program->buffer_of[t.value], position);
                needed_at(l, l->program->buffer_of[t.value], position + count - 1);
            }
}

static int stretch_sections(const Live *l, const Step *step, int nstep, int position) {
    for (int i = 0, count; i < nstep; i += count) {
        count = section_steps(step + i, nstep - i);
        count = count > 0 ? count : chain_steps(step + i, nstep - i);
        if (step[i].node < 0) {
            position = stretch_sections(l, step[i].body, step[i].nbody, position + 1);
            continue;
        }
        if (count > 1)
            stretch_section(l, step + i, count, position);
        position += count;
    }
    return position;
}

static void note_packers(const Live *l, const Step *loop) {
    for (int i = 0; i < loop->nbody; i++)
        if (loop->body[i].node >= 0 && loop->body[i].rows == 0)
            l->packed_in[loop->body[i].node] = loop;
}

/* Weights that each iteration of LOOP packs before it reads them. */
static bool packed_in(const Live *l, const Step *loop, ValueId v) {
    const Value *value = &l->program->graph->value[v];
    return !value->per_sample && value->producer >= 0 && l->packed_in[value->producer] == loop;
}

/* All that STEP touches and that must live through the loop LOOP, which goes from FIRST to LAST. */
static void stretch_over(const Live *l, const Step *step, const Step *loop, int first, int last) {
    const Graph *g = l->program->graph;
    for (int i = 0; step->node < 0 && i < step->nbody; i++)
        stretch_over(l, &step->body[i], loop, first, last);
    if (step->node < 0)
        return;
    for (Touch t = node_touches(g, &g->node[step->node]); touch_next(&t);) {
        const int b = l->program->buffer_of[t.value];
        if (b < 0)
            continue;
        const Buffer *buffer = &l->plan->buffer[b];
        const bool inside = buffer->first >= first && buffer->last <= last;
        const bool kept = t.stays && !buffer->fleeting;
        const bool between = loop->axis == AXIS_BANDS && kept && !packed_in(l, loop, t.value);
        if (inside && !between)
            continue;
        needed_at(l, b, first);
        needed_at(l, b, last);
    }
}

/* Inner loops first: what lives through one may so come to live outside of it. */
static int stretch(const Live *l, const Step *step, int nstep, int position) {
    for (int i = 0; i < nstep; i++) {
        const int first = position++;
        if (step[i].node >= 0)
            continue;
        position = stretch(l, step[i].body, step[i].nbody, position);
        note_packers(l, &step[i]);
        stretch_over(l, &step[i], &step[i], first, position - 1);
    }
    return position;
}

void live(Plan *plan) {
    for (int b = 0; b < plan->nbuffer; b++)
        if (plan->buffer[b].program >= 0) {
            plan->buffer[b].first = plan->buffer[b].lifetime == LIFETIME_LOADED ? 0 : INT_MAX;
            plan->buffer[b].last = -1;
        }
    for (const Program *p = program_of(plan, 0); p != NULL; p = program_of(plan, (int)p->kind + 1)) {
        const Live l = {plan, p, NEW_ARRAY(plan->pool, const Step *, p->graph->nnode)};
        walk(&l, p->step, p->nstep, 0);
        stretch_sections(&l, p->step, p->nstep, 0);
        const int end = stretch(&l, p->step, p->nstep, 0);
        for (int b = 0; b < plan->nbuffer; b++)
            if (plan->buffer[b].program == (int)p->kind && plan->buffer[b].lifetime == LIFETIME_PROGRAM)
                plan->buffer[b].first = 0, plan->buffer[b].last = end - 1;
    }
}

Alive alive_in(const Plan *plan, const Program *program) {
    const int steps = step_count(program->step, program->nstep);
    Alive a = {NEW_ARRAY(plan->pool, int64_t, steps), NEW_ARRAY(plan->pool, int64_t, steps), 0};
    int64_t *gone = NEW_ARRAY(plan->pool, int64_t, steps + 1), bytes = 0; /* in front of a position */
    for (int i = 0; i < plan->nbuffer; i++) {
        const Buffer *b = &plan->buffer[i];
        if (b->program != (int)program->kind || b->same >= 0 || b->slice >= 0)
            continue;
        a.born[b->first] = size_sum(a.born[b->first], b->bytes);
        gone[b->last + 1] = size_sum(gone[b->last + 1], b->bytes);
    }
    for (int t = 0; t < steps; t++) {
        bytes = size_sum(bytes - gone[t], a.born[t]);
        a.bytes[t] = bytes;
        a.most = bytes > a.most ? bytes : a.most;
    }
    return a;
}
