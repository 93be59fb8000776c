/* schedule.c - the order of the steps.
 *
 * A gradient is a sum over samples, so a batch can be worked through in a loop of micro-batches that add up
 * what they compute.  What depends on parameters alone is done once, in front of the loop; the optimiser's
 * step comes behind it; everything that has samples is its body, and needs memory for one micro-batch only:
 *
 *     pack weights, zero the sums | loop { load, forward, backward, add } | update, return
 *
 * Samples are added in the same order as in a whole batch, so the result is the same to the last bit.
 * Without a loop, the order is that of the graph: that in which the file says things, then the backward
 * pass.  In both cases what does not fit is computed again (recompute.c).
 *
 * Requires: storage.  Provides: program->step, a tree; marks nodes that accumulate.
 */
#include "checked.h"
#include "ops.h"
#include "plan.h"

typedef enum { PART_BEFORE, PART_LOAD, PART_BODY, PART_AFTER, PARTS } Part;

typedef struct {
    NodeId *node[PARTS];
    int count[PARTS];
} Split;

/* ---- what comes before, in and after the loop ---- */

static bool has_samples(const Graph *g, const Node *node) {
    for (int k = 0; k < node->nin; k++)
        if (node->in[k] >= 0 && g->value[node->in[k]].per_sample)
            return true;
    for (int k = 0; k < node->nout; k++)
        if (node->out[k] >= 0 && g->value[node->out[k]].per_sample)
            return true;
    return false;
}

/* Does NODE read something that the loop, or what comes after it, computes? */
static bool reads_results(const Graph *g, const Node *node, const Part *part) {
    for (int k = 0; k < node->nin; k++) {
        const ValueId *leaf;
        int n = value_leaves(g, &node->in[k], &leaf);
        for (int p = 0; p < n; p++)
            if (g->value[leaf[p]].producer >= 0 && part[g->value[leaf[p]].producer] != PART_BEFORE)
                return true;
    }
    return false;
}

static Part part_of(const Graph *g, const Node *node, const Part *part) {
    if (node->op == OP_RETURN)
        return PART_AFTER;
    if (has_samples(g, node))
        return node->op == OP_LOAD ? PART_LOAD : PART_BODY;
    return reads_results(g, node, part) ? PART_AFTER : PART_BEFORE;
}

/* Without a loop, weights are packed just before they are used; what is loaded is there before anything
 * else. */
static Split split(const Program *program, bool loop) {
    const Graph *g = program->graph;
    Split s = {0};
    Part *part = NEW_ARRAY(g->pool, Part, g->nnode);
    for (int i = 0; i < g->nnode; i++) {
        part[i] = part_of(g, &g->node[i], part);
        bool packs = part[i] == PART_BEFORE && g->node[i].op != OP_LOAD;
        Part where = packs && !loop ? PART_BODY : part[i];
        PUSH(g->pool, s.node[where], s.count[where], i);
    }
    return s;
}

/* ---- the loop ---- */

/* Sums over the batch, written in the loop and needed behind it: they start from zero. */
static void zero_sums(Graph *g, Split *s) {
    for (int i = 0; i < s->count[PART_BODY]; i++) {
        NodeId body = s->node[PART_BODY][i];
        for (int k = 0; k < g->node[body].nout; k++) {
            ValueId v = g->node[body].out[k];
            if (v < 0 || g->value[v].per_sample || g->value[v].class == CLASS_WORKSPACE)
                continue;
            g->node[body].a.accumulate = true; /* such a node has no per-sample outputs */
            Node zero = {
                .op = OP_ZERO, .nout = 1, .name = g->node[body].name, .place = g->node[body].place};
            zero.via = g->node[body].via;
            NodeId id = node_new(g, zero, NULL, &v);
            g->value[v].producer = body;
            PUSH(g->pool, s->node[PART_BEFORE], s->count[PART_BEFORE], id);
        }
    }
}

/* ---- memory outside of what recompute.c decides on ---- */

static int64_t written_bytes(const Program *program, const NodeId *node, int count) {
    const Graph *g = program->graph;
    int64_t bytes = 0;
    for (int i = 0; i < count; i++)
        for (int k = 0; k < g->node[node[i]].nout; k++) {
            ValueId v = g->node[node[i]].out[k];
            if (g->value[v].class != CLASS_PARAMETER_GRADIENT)
                bytes = size_sum(bytes, program->storage[v].bytes);
        }
    return bytes;
}

static int64_t outside_bytes(const Program *program, const Split *s) {
    const Graph *g = program->graph;
    int64_t bytes = size_sum(written_bytes(program, s->node[PART_BEFORE], s->count[PART_BEFORE]),
                             written_bytes(program, s->node[PART_LOAD], s->count[PART_LOAD]));
    for (ValueId v = 0; v < g->nvalue; v++)
        if (g->value[v].nparts == 0 &&
            (g->value[v].class == CLASS_PARAMETER || g->value[v].class == CLASS_STATE ||
             g->value[v].class == CLASS_PARAMETER_GRADIENT))
            bytes = size_sum(bytes, program->storage[v].bytes);
    return bytes;
}

/* ---- the tree ---- */

static void add_steps(Program *program, Step **step, int *count, const NodeId *node, int n) {
    for (int i = 0; i < n; i++)
        PUSH(program->graph->pool, *step, *count, (Step){.node = node[i]});
}

/* What a turn does: loads its samples, then the body. */
static int turn_steps(Program *program, const PlanOptions *options, const Split *s, Step **step) {
    const NodeId *node = s->node[PART_BODY];
    int n = s->count[PART_BODY], count = 0, nbody = 0;
    *step = NULL;
    add_steps(program, step, &count, s->node[PART_LOAD], s->count[PART_LOAD]);
    if (program->kind != PROGRAM_TRAIN || options->capacity == 0) {
        add_steps(program, step, &count, node, n);
        return count;
    }
    Step *body;
    program->remat_outside = outside_bytes(program, s);
    nbody = recompute(program, options, node, n, options->capacity - program->remat_outside, &body);
    for (int i = 0; i < nbody; i++)
        PUSH(program->graph->pool, *step, count, body[i]);
    return count;
}

int64_t turns_of(const Program *program) {
    return (program->batch + program->micro - 1) / program->micro;
}

void schedule(Program *program, const PlanOptions *options) {
    Pool *pool = program->graph->pool;
    bool loop = program->micro < program->batch;
    Split s = split(program, loop);
    if (loop)
        zero_sums(program->graph, &s);
    Step *turn;
    int nturn = turn_steps(program, options, &s, &turn);
    add_steps(program, &program->step, &program->nstep, s.node[PART_BEFORE], s.count[PART_BEFORE]);
    if (loop)
        PUSH(pool, program->step, program->nstep,
             ((Step){
                 .node = -1, .loop = "samples", .body = turn, .nbody = nturn, .times = turns_of(program)}));
    for (int i = 0; !loop && i < nturn; i++)
        PUSH(pool, program->step, program->nstep, turn[i]);
    add_steps(program, &program->step, &program->nstep, s.node[PART_AFTER], s.count[PART_AFTER]);
}

bool reads_staging(const Graph *g, const Node *node) {
    for (int k = 0; k < node->nin; k++) {
        const ValueId *leaf;
        int n = value_leaves(g, &node->in[k], &leaf);
        for (int p = 0; p < n; p++)
            if (leaf[p] >= 0 && g->value[leaf[p]].class == CLASS_STAGING && g->value[leaf[p]].input >= 0)
                return true;
    }
    return false;
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

int64_t work_sum(int64_t a, int64_t times, int64_t b) {
    int64_t product, sum;
    if (__builtin_mul_overflow(times, b, &product) || __builtin_add_overflow(a, product, &sum))
        return INT64_MAX;
    return sum;
}

int64_t node_flops(const Program *program, const Node *node) {
    int64_t flops = op_table[node->op].flops(program->graph, node);
    bool per_sample = node->op != OP_RETURN && has_samples(program->graph, node);
    return work_sum(0, per_sample ? program->micro : 1, flops);
}
