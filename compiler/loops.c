/* loops.c - training a few samples at a time.
 *
 * A gradient is a sum over samples, so a batch can be worked through in a loop of micro-batches that add up
 * what they compute.  What depends on parameters alone is done once, in front of the loop; the optimiser's
 * step comes behind it; everything that has samples is its body, and needs memory for one micro-batch only:
 *
 *     pack weights, zero the sums | loop { forward, backward, add } | update, return
 *
 * Samples are added in the same order as in a whole batch, so the result is the same to the last bit.
 *
 * Requires: the graph in its final form.  Provides: program->step as a tree; marks nodes that accumulate.
 */
#include "ops.h"
#include "plan.h"

typedef enum { PART_BEFORE, PART_BODY, PART_AFTER, PARTS } Part;

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
        return PART_BODY;
    return reads_results(g, node, part) ? PART_AFTER : PART_BEFORE;
}

/* Sums over the batch, written in the loop and needed behind it: they start from zero. */
static void zero_sums(Graph *g, NodeId body) {
    for (int k = 0; k < g->node[body].nout; k++) {
        ValueId v = g->node[body].out[k];
        if (v < 0 || g->value[v].per_sample || g->value[v].class == CLASS_WORKSPACE)
            continue;
        g->node[body].a.accumulate = true; /* such a node has no per-sample outputs */
        Node zero = {.op = OP_ZERO, .nout = 1, .name = g->node[body].name, .place = g->node[body].place};
        zero.via = g->node[body].via;
        node_new(g, zero, NULL, &v);
        g->value[v].producer = body;
    }
}

void loop_over_samples(Program *program) {
    Graph *g = program->graph;
    int nbody = g->nnode, count[PARTS] = {0};
    Part *part = NEW_ARRAY(g->pool, Part, nbody);
    for (int i = 0; i < nbody; i++)
        count[part[i] = part_of(g, &g->node[i], part)]++;
    for (int i = 0; i < nbody; i++)
        if (part[i] == PART_BODY)
            zero_sums(g, i);
    int nzero = g->nnode - nbody, n = 0, filled = 0;
    Step *body = NEW_ARRAY(g->pool, Step, count[PART_BODY]);
    program->step = NEW_ARRAY(g->pool, Step, count[PART_BEFORE] + nzero + 1 + count[PART_AFTER]);
    for (int i = 0; i < nbody; i++)
        if (part[i] == PART_BEFORE)
            program->step[n++].node = i;
        else if (part[i] == PART_BODY)
            body[filled++].node = i;
    for (int i = nbody; i < g->nnode; i++)
        program->step[n++].node = i;
    program->step[n++] = (Step){.node = -1,
                                .loop = "samples",
                                .body = body,
                                .nbody = filled,
                                .times = (program->batch + program->micro - 1) / program->micro};
    for (int i = 0; i < nbody; i++)
        if (part[i] == PART_AFTER)
            program->step[n++].node = i;
    program->nstep = n;
}
