/* groups.c - training by ranks: the sums of groups of samples are added as a tree.
 *
 * Floating point sums depend on their order.  So that any number of processes trains the same weights, the
 * order is fixed by the file: `ranks N` cuts the samples of a step into N groups, which are summed one by
 * one, each in the order of its samples, and then two and two:
 *
 *     ((group 0 + group 1) + (group 2 + group 3)) + ...
 *
 * A process that has some neighbours of these groups, 2, 4, 8, ... of them, makes a branch of the tree.
 * `group_sum` stands behind the last samples of each group: it takes the sums, which begin anew, and adds
 * the branches of the tree that are complete.  A process has at most one unfinished branch for each level
 * of its part of the tree; unfinished branches wait in a buffer of the process.  Behind the loop `rank_sum`
 * adds the branches of all processes, and has that buffer for what they send.  With --shard-optimizer each
 * process updates a slice, and `rank_gather` brings these to all.  If the samples of all groups are
 * merged on the way (batch_norm with `sync = true`), gradients are completed in several loops over groups,
 * and so each has a `group_sum` of its own, with a place in the same buffer.
 *
 * Requires: the complete graph, the micro-batch.
 * Provides: `group_sum` of all gradients and of each loss and metric, `rank_sum` of the gradients,
 * `rank_gather`.
 */
#include "base/size_math.h"
#include "ir/ops.h"
#include "passes/passes.h"

/* The levels of one of PROCESSES.  Branches of the others wait there, too, in one level at least. */
static int levels_of(const TrainSection *train) {
    int levels = 1;
    while (INT64_C(1) << levels < train->ranks / train->processes)
        levels++;
    return levels;
}

int64_t region_numbers(const Program *program, ValueId v) {
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

/* SUMS, so many numbers, of branches that are not finished yet: a row for each level. */
static ValueId levels_new(Program *program, ValueId sums, const char *name, int64_t numbers) {
    Graph *g = program->graph;
    Value levels = g->value[sums];
    levels.name = name;
    levels.nsegments = 0;
    levels.segment = NULL;
    levels.shape = (Shape){.rank = 2, .dim = {levels_of(&program->model->train), numbers}};
    return value_new(g, levels);
}

static void sum_group(Program *program, ValueId sums, ValueId levels, int64_t begin) {
    Graph *g = program->graph;
    const ValueId out[2] = {sums, levels};
    (void)node_new(g,
                   (Node){.op = OP_GROUP_SUM,
                          .nout = 2,
                          .a = {.kind = ATTRIBUTES_PART, .part.begin = begin},
                          .ends_group = true,
                          .name = g->value[levels].name,
                          .span = program->model->train.span},
                   NULL, out);
}

/* Each of the GRADIENTS by itself. */
static void sum_each(Program *program, ValueId gradients, ValueId levels) {
    const ValueId *segment;
    const int n = value_segments(program->graph, &gradients, &segment);
    int64_t begin = 0;
    for (int i = 0; i < n; i++) {
        sum_group(program, segment[i], levels, begin);
        begin = size_sum(begin, region_numbers(program, segment[i]));
    }
}

/* Results are few numbers; the runtime adds the results of other processes. */
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
            sum_group(program, result,
                      levels_new(program, result, name, shape_elements(g->value[result].shape)), 0);
    }
}

/* A process is sent a slice of the gradients by each other one; slices differ by a number at most. */
static void sum_gradients(Program *program, ValueId gradients) {
    Graph *g = program->graph;
    const int64_t room = size_sum(region_numbers(program, gradients), bucket_room(program));
    const ValueId levels = levels_new(program, gradients, "gradients of groups", room);
    if (merging_node(g) != NULL)
        sum_each(program, gradients, levels);
    else
        sum_group(program, gradients, levels, 0);
    (void)node_new(g,
                   (Node){.op = OP_RANK_SUM,
                          .nin = 1,
                          .nout = 1,
                          .name = "gradients of ranks",
                          .accumulates = true,
                          .span = program->model->train.span},
                   &levels, &gradients);
}

/* Each process has updated a slice of the weights, and of their averages. */
static void gather_slices(Program *program, const Node *update) {
    Graph *g = program->graph;
    const Operands *row = &g->operands[update->op];
    int64_t states = 0;
    for (int k = 1; k < update->nin; k++)
        states += update->in[k] >= 0 && row->in[k].access == ACCESS_UPDATE;
    const ValueId average = update->in[input_named(row, "average")];
    Value whole = g->value[update->in[0]];
    whole.name = "state of all ranks";
    whole.class = CLASS_WORKSPACE;
    whole.nsegments = 0;
    whole.segment = NULL;
    whole.producer = -1;
    whole.shape =
        (Shape){.rank = 2, .dim = {states - (average >= 0), region_numbers(program, update->in[0])}};
    const bool has_state = whole.shape.dim[0] > 0;
    const ValueId out = has_state ? value_new(g, whole) : -1,
                  in[3] = {update->in[0], average, update->in[1]};
    program->whole_state = out;
    (void)node_new(g,
                   (Node){.op = OP_RANK_GATHER,
                          .nin = 3,
                          .nout = has_state,
                          .name = "slices of ranks",
                          .span = program->model->train.span},
                   in, &out);
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

static NodeId update_of(const Graph *g) {
    int i = g->nnode - 1;
    while (!has_trait(&g->node[i], TRAIT_UPDATES))
        i--;
    return i;
}

void sum_groups(Program *program) {
    Graph *g = program->graph;
    const int before = g->nnode;
    ValueId gradients;
    const NodeId reader = program->group == 0 ? -1 : first_reader(g, &gradients);
    if (reader < 0)
        return;
    const NodeId update = update_of(g);
    const Node updating = g->node[update]; /* the array moves as it grows */
    sum_results(program);
    sum_gradients(program, gradients);
    const int sums = g->nnode - before;
    if (program->model->train.shards_optimizer)
        gather_slices(program, &updating);
    NodeId *order = NEW_ARRAY(g->pool, NodeId, g->nnode);
    int n = 0;
    for (int i = 0; i < before; i++) {
        for (int k = 0; i == reader && k < sums; k++)
            order[n++] = before + k;
        order[n++] = i;
        for (int k = before + sums; i == update && k < g->nnode; k++)
            order[n++] = k;
    }
    graph_order(g, order);
}
