/* live.c - from which step to which are the bytes of a buffer needed?
 *
 *          step   0    1    2    3    4
 *     x           w----r
 *     enc1             w----r---------r      a skip connection lives long
 *     h                     w----r
 *
 * Steps are numbered by their place in the tree, in pre-order.  A buffer lives from the first step that
 * touches it to the last, these included; buffers that share bytes live as one, and a region as long as its
 * slices.  What outlives a step lives through all of its program.
 *
 * Requires: buffers.  Provides: first and last of the buffers of one program, and of the persistent ones.
 */
#include "plan.h"

#include <limits.h>

typedef struct {
    Plan *plan;
    const Program *program;
    int position;
} Walk;

static void touch(Buffer *b, int position) {
    if (position < b->first)
        b->first = position;
    if (position > b->last)
        b->last = position;
}

/* Everything that V needs to be alive: its leaves, what they share bytes with, the regions they lie in. */
static void touch_leaves(Walk *w, ValueId v, int position) {
    const ValueId *leaf;
    int n = value_leaves(w->program->graph, &v, &leaf);
    for (int p = 0; p < n; p++) {
        int b = w->program->buffer_of[leaf[p]];
        if (b < 0)
            continue;
        touch(&w->plan->buffer[b], position);
        if (w->plan->buffer[b].same >= 0)
            touch(&w->plan->buffer[w->plan->buffer[b].same], position);
        if (w->plan->buffer[b].slice >= 0)
            touch(&w->plan->buffer[w->plan->buffer[b].slice], position);
    }
}

static void walk(Walk *w, const Step *step, int nstep) {
    const Graph *g = w->program->graph;
    for (int i = 0; i < nstep; i++) {
        int position = w->position++;
        if (step[i].node < 0) {
            walk(w, step[i].body, step[i].nbody);
            continue;
        }
        const Node *node = &g->node[step[i].node];
        for (int k = 0; k < node->nin; k++)
            touch_leaves(w, node->in[k], position);
        for (int k = 0; k < node->nout; k++)
            touch_leaves(w, node->out[k], position);
    }
}

/* A loop from FIRST to LAST: what it touches and what also lives outside of it lives through all of it. */
static void stretch(Walk *w, const Step *loop, int first, int last) {
    const Graph *g = w->program->graph;
    for (int i = 0; i < loop->nbody; i++) {
        const Node *node = &g->node[loop->body[i].node];
        for (int k = 0; k < node->nin + node->nout; k++) {
            const ValueId *operand = k < node->nin ? &node->in[k] : &node->out[k - node->nin], *leaf;
            int n = value_leaves(g, operand, &leaf);
            for (int p = 0; p < n; p++) {
                int b = w->program->buffer_of[leaf[p]];
                if (b < 0 || (w->plan->buffer[b].first >= first && w->plan->buffer[b].last <= last))
                    continue;
                touch_leaves(w, leaf[p], first);
                touch_leaves(w, leaf[p], last);
            }
        }
    }
}

void live(Plan *plan, Program *program) {
    for (int b = 0; b < plan->nbuffer; b++)
        if (plan->buffer[b].program == (int)program->kind)
            plan->buffer[b].first = INT_MAX, plan->buffer[b].last = -1;
    Walk w = {plan, program, 0};
    walk(&w, program->step, program->nstep);
    for (int i = 0, position = 0; i < program->nstep; i++) {
        int inside =
            program->step[i].node < 0 ? step_count(program->step[i].body, program->step[i].nbody) : 0;
        if (inside > 0)
            stretch(&w, &program->step[i], position, position + inside);
        position += 1 + inside;
    }
    for (int b = 0; b < plan->nbuffer; b++)
        if (plan->buffer[b].program == (int)program->kind && plan->buffer[b].lifetime == LIFETIME_PROGRAM)
            plan->buffer[b].first = 0, plan->buffer[b].last = w.position - 1;
}
