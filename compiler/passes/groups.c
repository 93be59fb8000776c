/* groups.c - training by ranks: the sums of groups of samples are added as a tree.
 *
 * Floating point sums depend on their order.  So that any number of processes trains the same weights, the
 * order is fixed by the file: `ranks N` cuts the samples of a step into N groups, which are summed one by
 * one, each in the order of its samples, and then two and two:
 *
 *     ((group 0 + group 1) + (group 2 + group 3)) + ...
 *
 * A process that has some neighbours of these groups, 2, 4, 8, ... of them, makes a branch of the tree.
 * `group_sum` stands behind the last samples of each group: it takes what was summed, which begins anew,
 * and adds what of the tree is complete.  Of the unfinished branches there is at most one for each level of
 * the tree; they wait in a buffer of its own.  Behind the loop `rank_sum` adds the branches of all
 * processes, and has that buffer for what they send.
 *
 * Requires: the complete graph, the micro-batch.
 * Provides: `group_sum` of all gradients and of each loss and metric, `rank_sum` of the gradients.
 */
#include "base/size_math.h"
#include "ir/ops.h"
#include "passes/passes.h"

static int levels_of(int64_t ranks) {
    int levels = 0;
    while (INT64_C(1) << levels < ranks)
        levels++;
    return levels;
}

/* Numbers of all segments of V, as they will lie in their region. */
static int64_t stored_elements(const Program *program, ValueId v) {
    const Graph *g = program->graph;
    const ValueId *segment;
    const int n = value_segments(g, &v, &segment);
    int64_t elements = 0;
    for (int i = 0; i < n; i++) {
        const Value *value = &g->value[segment[i]];
        Layout s = {0};
        program->target->lay_out(value, 1, &s);
        elements = size_sum(elements, s.bytes / type_bytes(value->type));
    }
    return elements;
}

/* What SUMS, so many numbers, were in branches that are not finished yet: a row for each level. */
static ValueId levels_new(Program *program, ValueId sums, const char *name, int64_t numbers) {
    Graph *g = program->graph;
    Value levels = g->value[sums];
    levels.name = name;
    levels.nsegments = 0;
    levels.segment = NULL;
    levels.shape = (Shape){.rank = 2, .dim = {levels_of(program->model->train.ranks), numbers}};
    return value_new(g, levels);
}

static NodeId sum_group(Program *program, ValueId sums, ValueId levels) {
    Graph *g = program->graph;
    const ValueId out[2] = {sums, levels};
    return node_new(g,
                    (Node){.op = OP_GROUP_SUM,
                           .nout = 2,
                           .ends_group = true,
                           .name = g->value[levels].name,
                           .span = program->model->train.span},
                    NULL, out);
}

/* Results are few numbers; the runtime adds those of other processes. */
static void sum_results(Program *program) {
    Graph *g = program->graph;
    const Model *model = program->model;
    for (int i = 0; i < model->nresult; i++) {
        const ValueId result = model->result[i].value;
        const char *name = pool_text(g->pool, "%s of groups", g->value[result].name);
        bool known = false;
        for (int k = 0; k < i; k++)
            known |= model->result[k].value == result;
        if (!known)
            (void)sum_group(program, result,
                            levels_new(program, result, name, shape_elements(g->value[result].shape)));
    }
}

/* A process is sent a slice of the gradients by each other one; slices differ by a number at most. */
static void sum_gradients(Program *program, ValueId gradients) {
    Graph *g = program->graph;
    const int64_t room = size_sum(stored_elements(program, gradients), program->model->train.ranks);
    const ValueId levels = levels_new(program, gradients, "gradients of groups", room);
    (void)sum_group(program, gradients, levels);
    (void)node_new(g,
                   (Node){.op = OP_RANK_SUM,
                          .nin = 1,
                          .nout = 1,
                          .name = "gradients of ranks",
                          .accumulates = true,
                          .span = program->model->train.span},
                   &levels, &gradients);
}

/* The first node that reads the sums of all gradients, or -1: nothing is trained. */
static NodeId first_reader(const Graph *g, ValueId *gradients) {
    for (int i = 0; i < g->nnode; i++) {
        const Node *node = &g->node[i];
        for (int k = 0; k < node->nin; k++)
            if (g->operands[node->op].in[k].region && node->in[k] >= 0 &&
                g->value[node->in[k]].class == CLASS_PARAMETER_GRADIENT) {
                *gradients = node->in[k];
                return i;
            }
    }
    return -1;
}

void sum_groups(Program *program) {
    Graph *g = program->graph;
    const int before = g->nnode;
    ValueId gradients;
    const NodeId reader = program->group == 0 ? -1 : first_reader(g, &gradients);
    if (reader < 0)
        return;
    sum_results(program);
    sum_gradients(program, gradients);
    NodeId *order = NEW_ARRAY(g->pool, NodeId, g->nnode);
    const int added = g->nnode - before;
    for (int i = 0; i < g->nnode; i++)
        order[i] = i < reader ? i : i < reader + added ? before + i - reader : i - added;
    graph_order(g, order);
}
