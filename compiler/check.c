/* check.c - an independent judge of the plan.
 *
 * It knows nothing of lifetimes and searches nothing: it plays each program through, step by step, and
 * keeps for every buffer whether the bytes at its offset still hold what was last written to it.  A write
 * makes every other buffer that overlaps it worthless; a read of a worthless buffer breaks the plan.  It
 * shares no code with the passes that made the plan, and every plan is judged before anything is emitted.
 *
 * Requires: a complete plan.  Provides: nothing; calls BUG() naming the broken law.
 */
#include "plan.h"

typedef struct {
    const Plan *plan;
    const Program *program;
    bool *holds; /* per buffer: its bytes are what was written to it */
} Judge;

static bool overlap(const Buffer *a, const Buffer *b) {
    return a->offset < b->offset + b->bytes && b->offset < a->offset + a->bytes;
}

static void law_of_bounds(const Plan *plan) {
    for (int i = 0; i < plan->nbuffer; i++) {
        const Buffer *b = &plan->buffer[i];
        int64_t end = b->program < 0 ? plan->persistent : plan->program[b->program].extent;
        if (b->offset < 0 || b->bytes < 0 || b->offset > end - b->bytes)
            BUG("plan: `%s` lies outside the arena", b->name);
        if (b->offset % (b->slice < 0 ? plan->target->align : plan->target->slice_align) != 0)
            BUG("plan: `%s` is not aligned", b->name);
        if (b->program >= 0 && b->bytes > 0 && b->offset < plan->persistent)
            BUG("plan: `%s` lies on what must survive", b->name);
    }
}

static void law_of_regions(const Plan *plan) {
    for (int i = 0; i < plan->nbuffer; i++)
        for (int k = 0; k < i; k++) {
            const Buffer *a = &plan->buffer[i], *b = &plan->buffer[k];
            bool parent = a->slice == k || b->slice == i;
            if (a->program < 0 && b->program < 0 && !parent && overlap(a, b))
                BUG("plan: `%s` and `%s` both persist and overlap", a->name, b->name);
        }
}

static void read_leaf(const Judge *j, const Node *node, ValueId v) {
    int b = v < 0 ? -1 : j->program->buffer_of[v];
    if (b >= 0 && !j->holds[b])
        BUG("plan: %s: `%s` reads `%s` after its bytes were overwritten, or before they were written",
            j->program->name, node->name, j->plan->buffer[b].name);
}

static void write_leaf(Judge *j, const Node *node, ValueId v) {
    int b = v < 0 ? -1 : j->program->buffer_of[v];
    if (b < 0)
        return;
    for (int i = 0; i < j->plan->nbuffer; i++) {
        const Buffer *other = &j->plan->buffer[i];
        bool alive = other->program < 0 || other->program == (int)j->program->kind;
        if (i == b || !alive || !j->holds[i] || !overlap(&j->plan->buffer[b], other))
            continue;
        if (other->lifetime != LIFETIME_STEP)
            BUG("plan: `%s` overwrites `%s`", node->name, other->name);
        j->holds[i] = false;
    }
    j->holds[b] = true;
}

/* Two outputs of one node, or an output and an input that it does not replace, must lie apart. */
static void law_of_operands(const Judge *j, const Node *node) {
    const Graph *g = j->program->graph;
    for (int o = 0; o < node->nout; o++) {
        int b = node->out[o] < 0 ? -1 : j->program->buffer_of[node->out[o]];
        for (int k = 0; b >= 0 && k < o; k++) {
            int other = node->out[k] < 0 ? -1 : j->program->buffer_of[node->out[k]];
            if (other >= 0 && overlap(&j->plan->buffer[b], &j->plan->buffer[other]))
                BUG("plan: `%s`: two outputs overlap", node->name);
        }
        for (int k = 0; b >= 0 && k < node->nin; k++) {
            const ValueId *leaf;
            int n = value_leaves(g, &node->in[k], &leaf);
            for (int p = 0; p < n; p++) {
                int in = j->program->buffer_of[leaf[p]];
                bool shared = in >= 0 && j->plan->buffer[b].same >= 0 &&
                              j->plan->buffer[b].offset == j->plan->buffer[in].offset;
                if (in >= 0 && !shared && overlap(&j->plan->buffer[b], &j->plan->buffer[in]))
                    BUG("plan: `%s` writes over its own input `%s`", node->name, j->plan->buffer[in].name);
            }
        }
    }
}

static void play_node(Judge *j, const Node *node) {
    const Graph *g = j->program->graph;
    for (int k = 0; k < node->nin; k++) {
        const ValueId *leaf;
        int n = value_leaves(g, &node->in[k], &leaf);
        for (int p = 0; p < n; p++)
            read_leaf(j, node, leaf[p]);
    }
    for (int k = 0; k < node->nout; k++)
        if (node_adds_to(g, node, k))
            read_leaf(j, node, node->out[k]);
    law_of_operands(j, node);
    for (int k = 0; k < node->nout; k++)
        write_leaf(j, node, node->out[k]);
}

/* A loop is played twice: its second turn must find what the first one found. */
static void play(Judge *j, const Step *step, int nstep) {
    for (int i = 0; i < nstep; i++) {
        if (step[i].node >= 0) {
            play_node(j, &j->program->graph->node[step[i].node]);
            continue;
        }
        play(j, step[i].body, step[i].nbody);
        play(j, step[i].body, step[i].nbody);
    }
}

void check_plan(const Plan *plan) {
    law_of_bounds(plan);
    law_of_regions(plan);
    for (int k = 0; k < PROGRAMS; k++) {
        if (plan->program[k].model == NULL)
            continue;
        Judge j = {plan, &plan->program[k], NEW_ARRAY(plan->pool, bool, plan->nbuffer)};
        for (int b = 0; b < plan->nbuffer; b++)
            j.holds[b] = plan->buffer[b].program < 0 ||
                         (plan->buffer[b].program == k && plan->buffer[b].lifetime == LIFETIME_PROGRAM);
        play(&j, j.program->step, j.program->nstep);
    }
}
