/* schedule.c - the order of the steps.
 *
 * A gradient is a sum over samples, so a batch can be worked through in a loop of micro-batches that add up
 * what they compute.  Nodes that depend on parameters alone run once, in front of the loop; the optimiser's
 * step comes behind it; everything that has samples is its body, and needs memory for one micro-batch only:
 *
 *     pack weights, zero the sums | loop { load, forward, backward, add } | update, return
 *
 * Packed weights take memory through the whole loop; if there is too little, each iteration makes them
 * just before they are used.
 *
 * If all samples of a step are merged on the way, there are several loops (merges.c).
 *
 * Samples are added in the same order as in a whole batch, so the result is the same to the last bit.
 * Prediction may pack weights once for many steps; the operands of a step come behind that.  Without a
 * loop, the steps have the order of the graph: the order of the file, then the backward pass.  In both
 * cases tensors that do not fit are computed again (recompute.c), or steps that can compute ranges of rows
 * stand in loops over bands of them (bands.c).
 *
 * Requires: layouts.  Provides: program->step, a tree; marks nodes that add to their sums.
 */
#include "base/size_math.h"
#include "ir/ops.h"
#include "passes/bands.h"
#include "passes/passes.h"

typedef enum { PART_ONCE, PART_BEFORE, PART_LOAD, PART_BODY, PART_END, PART_AFTER, PARTS } Part;

typedef struct {
    NodeId *node[PARTS];
    int count[PARTS];
} Split;

/* ---- what comes before, in and after the loop ---- */

/* Does NODE read something that the loop, or what comes after it, computes? */
static bool reads_results(const Graph *g, const Node *node, const Part *part) {
    for (Touch t = node_touches(g, node); touch_next(&t);) {
        const NodeId producer = g->value[t.value].producer;
        if (!t.is_output && producer >= 0 && part[producer] != PART_BEFORE)
            return true;
    }
    return false;
}

static bool is_sum(const Graph *g, ValueId v) {
    for (Touch t = node_touches(g, &g->node[g->value[v].producer]); touch_next(&t);)
        if (t.is_output && t.value == v)
            return t.operand->access == ACCESS_SUM;
    return false;
}

/* Does NODE read what each iteration has of its own, as statistics of its samples, and no sum over all? */
static bool reads_iteration(const Graph *g, const Node *node, const Part *part) {
    for (Touch t = node_touches(g, node); touch_next(&t);) {
        const NodeId producer = g->value[t.value].producer;
        if (!t.is_output && producer >= 0 && part[producer] == PART_BODY && !is_sum(g, t.value))
            return true;
    }
    return false;
}

/* Does NODE, which has no samples, read a tensor that is merged of all samples, as running statistics do?
 */
static bool follows_merge(const Graph *g, const Node *node) {
    for (Touch t = node_touches(g, node); touch_next(&t);) {
        const NodeId producer = g->value[t.value].producer;
        if (!t.is_output && producer >= 0 && has_trait(&g->node[producer], TRAIT_MERGES))
            return !has_samples(g, node);
    }
    return false;
}

static Part part_of(const Graph *g, const Node *node, const Part *part) {
    const bool loads = has_trait(node, TRAIT_LOADS);
    if (node->ends_group)
        return PART_END;
    if (has_trait(node, TRAIT_OF_RUNTIME) && !loads && !computes_rows(node))
        return PART_AFTER;
    if (has_samples(g, node))
        return loads ? PART_LOAD : has_trait(node, TRAIT_ENDS_SUMS) ? PART_END : PART_BODY;
    if (follows_merge(g, node))
        return PART_AFTER;
    if (reads_iteration(g, node, part))
        return has_trait(node, TRAIT_IN_ITERATION) ? PART_BODY : PART_END;
    return reads_results(g, node, part) ? PART_AFTER : PART_BEFORE;
}

/* The last node that takes sums of a group of samples: what follows from sums in front of it is computed
 * for each group.  -1: there are no groups. */
static int last_of_group(const Graph *g) {
    int last = g->nnode - 1;
    while (last >= 0 && !g->node[last].ends_group)
        last--;
    return last;
}

/* Without a loop, weights are packed just before they are used, unless that is done ONCE; with one, in
 * front of it, or, where that takes too much memory, in each iteration.  Loads come before anything else.
 */
static Split split(const Program *program, bool loop, bool once) {
    const Graph *g = program->graph;
    Split s = {0};
    Part *part = NEW_ARRAY(g->pool, Part, g->nnode);
    const int last = last_of_group(g);
    for (int i = 0; i < g->nnode; i++) {
        part[i] = part_of(g, &g->node[i], part);
        g->node[i].ends_group |= i < last && part[i] == PART_AFTER && !follows_merge(g, &g->node[i]);
        if (g->node[i].ends_group)
            part[i] = PART_END;
        bool packs = part[i] == PART_BEFORE && !has_trait(&g->node[i], TRAIT_LOADS);
        Part where = !packs                                           ? part[i]
                     : once                                           ? PART_ONCE
                     : loop && !program->choices->packs_in_iterations ? PART_BEFORE
                                                                      : PART_BODY;
        PUSH(g->pool, s.node[where], s.count[where], i);
    }
    return s;
}

/* ---- the loop over samples ---- */

/* Does a `group_sum` take sum V, and have it begin anew? */
static bool is_taken(const Graph *g, ValueId v) {
    for (int i = 0; i < g->nnode; i++)
        for (Touch t = node_touches(g, &g->node[i]);
             has_trait(&g->node[i], TRAIT_OF_RANKS) && touch_next(&t);)
            if (t.is_output && t.value == v)
                return true;
    return false;
}

static NodeId zero_new(Graph *g, NodeId like, ValueId sum, bool ends_group) {
    const Node *node = &g->node[like];
    const NodeId id = node_new(g,
                               (Node){.op = OP_ZERO,
                                      .nout = 1,
                                      .ends_group = ends_group,
                                      .name = node->name,
                                      .span = node->span,
                                      .via = node->via},
                               NULL, &sum);
    g->value[sum].producer = like;
    return id;
}

/* Sums over the samples, written in PART of the loop and needed behind it: they start from zero; with
 * groups those do so behind each that no `group_sum` takes.  ZEROED: per value, whether it is a sum that
 * starts already. */
static void zero_sums(Program *program, Split *s, Part part, bool *zeroed) {
    Graph *g = program->graph;
    for (int i = 0; i < s->count[part]; i++) {
        const NodeId body = s->node[part][i];
        for (Touch t = node_touches(g, &g->node[body]); touch_next(&t);) {
            if (t.operand->access != ACCESS_SUM || g->value[t.value].per_sample)
                continue;
            g->node[body].accumulates = true;
            if (zeroed[t.value])
                continue;
            zeroed[t.value] = true;
            PUSH(g->pool, s->node[PART_BEFORE], s->count[PART_BEFORE], zero_new(g, body, t.value, false));
            if (program->group > 0 && !is_taken(g, t.value))
                PUSH(g->pool, s->node[PART_END], s->count[PART_END], zero_new(g, body, t.value, true));
            t.node = &g->node[body]; /* the array moves as it grows */
        }
    }
}

/* ---- memory outside of what recompute.c decides on ---- */

static int64_t written_bytes(const Program *program, const NodeId *node, int count) {
    const Graph *g = program->graph;
    int64_t bytes = 0;
    for (int i = 0; i < count; i++)
        for (Touch t = node_touches(g, &g->node[node[i]]); touch_next(&t);)
            if (t.is_output && g->value[t.value].class != CLASS_PARAMETER_GRADIENT)
                bytes = size_sum(bytes, program->layout[t.value].bytes);
    return bytes;
}

static int64_t outside_bytes(const Program *program, const Split *s) {
    const Graph *g = program->graph;
    const bool gradients = !places_gradients(program);
    int64_t bytes = size_sum(written_bytes(program, s->node[PART_BEFORE], s->count[PART_BEFORE]),
                             written_bytes(program, s->node[PART_LOAD], s->count[PART_LOAD]));
    for (ValueId v = 0; v < g->nvalue; v++)
        if (g->value[v].nsegments == 0 &&
            (g->value[v].class == CLASS_PARAMETER || g->value[v].class == CLASS_STATE ||
             g->value[v].class == CLASS_RUNNING_STATISTIC ||
             (g->value[v].class == CLASS_PARAMETER_GRADIENT && gradients)))
            bytes = size_sum(bytes, program->layout[v].bytes);
    return bytes;
}

/* ---- the tree ---- */

static void add_steps(Program *program, Step **step, int *count, const NodeId *node, int n) {
    for (int i = 0; i < n; i++)
        PUSH(program->graph->pool, *step, *count,
             ((Step){.node = node[i], .recompute = program->graph->node[node[i]].again}));
}

/* The steps of an iteration: loads of its samples, then the body. */
static int iteration_steps(Program *program, const Split *s, Step **step) {
    const NodeId *node = s->node[PART_BODY];
    const int64_t capacity = program->choices->capacity;
    int n = s->count[PART_BODY], count = 0;
    Step *body = NULL;
    *step = NULL;
    add_steps(program, step, &count, s->node[PART_LOAD], s->count[PART_LOAD]);
    if (program->kind == PROGRAM_TRAIN && (capacity > 0 || program->choices->repeats)) {
        program->remat_outside = outside_bytes(program, s);
        n = recompute(program, node, n, capacity - program->remat_outside, &body);
        for (int i = 0; i < n; i++)
            PUSH(program->graph->pool, *step, count, body[i]);
        pool_drop(program->graph->pool, body);
    } else {
        add_steps(program, step, &count, node, n);
    }
    return count;
}

Step loop_over_samples(const Program *program, Step *body, int count) {
    return (Step){.node = -1,
                  .axis = AXIS_SAMPLES,
                  .samples = program->micro_batch,
                  .times = iterations_of(program),
                  .body = body,
                  .nbody = count};
}

/* Marks the values that STEP touches. */
static void mark(const Graph *g, const Step *step, bool *touched) {
    for (int i = 0; step->node < 0 && i < step->nbody; i++)
        mark(g, &step->body[i], touched);
    if (step->node < 0)
        return;
    for (Touch t = node_touches(g, &g->node[step->node]); touch_next(&t);)
        touched[t.value] = true;
}

/* Does STEP touch a marked value? */
static bool meets(const Graph *g, const Step *step, const bool *touched) {
    for (int i = 0; step->node < 0 && i < step->nbody; i++)
        if (meets(g, &step->body[i], touched))
            return true;
    if (step->node < 0)
        return false;
    for (Touch t = node_touches(g, &g->node[step->node]); touch_next(&t);)
        if (touched[t.value])
            return true;
    return false;
}

void move_step_up(const Graph *g, Step *step, int i) {
    const Step moved = step[i];
    bool *touched = NEW_ARRAY(g->pool, bool, g->nvalue);
    mark(g, &moved, touched);
    for (; i > 0 && !meets(g, &step[i - 1], touched); i--)
        step[i] = step[i - 1];
    step[i] = moved;
}

/* Parts of the optimiser's step come as soon as their gradients are complete and nobody reads their
 * parameters any more. */
static void update_early(Program *program) {
    const Graph *g = program->graph;
    int parts;
    first_update(g, &parts);
    for (int i = 0; parts > 1 && i < program->nstep; i++)
        if (program->step[i].node >= 0 && has_trait(&g->node[program->step[i].node], TRAIT_UPDATES))
            move_step_up(g, program->step, i);
}

void schedule(Program *program) {
    Pool *pool = program->graph->pool;
    const bool merges = program->kind == PROGRAM_TRAIN && merging_node(program->graph) != NULL,
               loop = merges || program->micro_batch < program->batch;
    const bool once = program->choices->packs_once && program->kind == PROGRAM_PREDICT;
    Split s = split(program, loop, once);
    program->nonce = s.count[PART_ONCE];
    bool *zeroed = NEW_ARRAY(pool, bool, program->graph->nvalue);
    if (loop)
        zero_sums(program, &s, PART_BODY, zeroed), zero_sums(program, &s, PART_END, zeroed);
    Step *iteration;
    int count = iteration_steps(program, &s, &iteration);
    if (merges) {
        count = cut_at_merges(program, s.node[PART_END], s.count[PART_END], iteration, count, &iteration);
    } else {
        add_steps(program, &iteration, &count, s.node[PART_END], s.count[PART_END]);
        const Step *without = iteration;
        count = loop_over_bands(program, iteration, count, &iteration);
        if (iteration != without)
            pool_drop(pool, without);
    }
    add_steps(program, &program->step, &program->nstep, s.node[PART_ONCE], s.count[PART_ONCE]);
    add_steps(program, &program->step, &program->nstep, s.node[PART_BEFORE], s.count[PART_BEFORE]);
    if (loop && !merges)
        PUSH(pool, program->step, program->nstep, loop_over_samples(program, iteration, count));
    for (int i = 0; (!loop || merges) && i < count; i++)
        /* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): i < count */
        PUSH(pool, program->step, program->nstep, iteration[i]);
    if (!loop || merges)
        pool_drop(pool, iteration);
    add_steps(program, &program->step, &program->nstep, s.node[PART_AFTER], s.count[PART_AFTER]);
    update_early(program);
}
