/* recompute.c - computes again the tensors that do not fit.
 *
 * Hands the nodes between the packing of weights and the optimiser to remat.h as operations and tensors,
 * and writes the schedule it finds back into the graph: a node that runs again becomes a new node with new
 * values, so that every life of a tensor is a value of its own and no later pass needs to know.
 *
 *     enc1 = conv(x)   ...   d = f(enc1)   ...   g = h(enc1)
 *     enc1 = conv(x)   ...   d = f(enc1)   ...   enc1' = conv(x), g = h(enc1')
 *
 * The same kernel with the same operands gives the same bits, so the result does not depend on the
 * schedule.
 *
 * Weights are packed right before each use, and so are pictures copied out of the ring: each is one
 * operation here with its use.
 *
 * In a loop over bands of rows repeat.h says which tensors are made again; there, weights that are packed
 * in front of the loop are packed once.
 *
 * Nodes that touch storage which one of them updates (a running statistic) keep their order and run once: a
 * token, a tensor without bytes, goes from each to the next.
 *
 * If the optimiser's step has parts (parts.c), the gradients of each part are one tensor.  The first
 * operation that writes a gradient of the part makes the tensor.  Later writers of its gradients read it,
 * and so do later readers of its parameters, for the update comes behind them.  If the update waits for all
 * gradients, the tensor is kept to the end.
 *
 * Requires: layouts.  Provides: the order of the nodes, new nodes and values among them, their layouts.
 */
#include "base/size_math.h"
#include "ir/ops.h"
#include "passes/bands.h"
#include "passes/passes.h"
#include "solve/repeat.h"

/* Operation FROM comes before operation TO. */
typedef struct {
    int from, to;
    int next; /* the next token of the same operation FROM, or -1 */
} Token;

typedef struct {
    Program *program;
    const NodeId *node; /* in the order of the graph */
    int count;
    int *first; /* per operation, and one more: its first node, an index in `node` */
    int noperation;
    int *tensor_of; /* per value: its tensor in the problem, or -1 */
    ValueId *value_of;
    int ntensor;
    bool *updated; /* per value: by one of the nodes */
    Token *token;  /* the tensors behind the NTENSOR that are values, in the order of TO */
    int ntoken;
    int *token_from; /* per operation: the first token from it, or -1 */
    int *token_to;   /* per operation, and one more: the first token to it or a later one */
    int nregion;     /* the tensors behind the tokens: gradients that lie side by side */
    int *region_of;  /* per gradient and per parameter: its region; per other value: -1 */
    int *made_by;    /* per region: the operation that makes it */
    int64_t *region_bytes;
} Translation;

/* ---- from the graph to the problem ---- */

static const Node *node_at(const Translation *t, int i) {
    return &t->program->graph->node[t->node[i]];
}

/* Does NODE read something, and is all of it there at all times: parameters, which it packs, or a slot of
 * the ring, which it copies into another type?  In loops over bands copies are of a few rows, and weights
 * are packed once. */
static bool reads_what_stays(const Program *program, const Node *node) {
    const Graph *g = program->graph;
    const Class made = g->value[node->out[0]].class;
    for (int k = 0; k < node->nin; k++) {
        const Value *in = node->in[k] < 0 ? NULL : &g->value[node->in[k]];
        const bool slot = in != NULL && in->class == CLASS_STAGING && in->input >= 0 &&
                          !program->target->stages && in->type != g->value[node->out[0]].type &&
                          !program->choices->repeats;
        if (in != NULL && !(in->class == CLASS_PARAMETER && made == CLASS_WORKSPACE) && !slot)
            return false;
    }
    return node->nin > 0;
}

static bool reads(const Graph *g, const Node *node, ValueId v) {
    for (Touch t = node_touches(g, node); touch_next(&t);)
        if (!t.is_output && t.value == v)
            return true;
    return false;
}

/* Per node: the first one from it on that does more than prepare, or COUNT. */
static const int *next_uses(const Translation *t, const int *readers) {
    int *use = NEW_ARRAY(t->program->graph->pool, int, t->count + 1);
    use[t->count] = t->count;
    for (int i = t->count - 1; i >= 0; i--) {
        const Node *node = node_at(t, i);
        const bool prepares =
            node->nout == 1 && readers[node->out[0]] == 1 && reads_what_stays(t->program, node);
        use[i] = prepares ? use[i + 1] : i;
    }
    return use;
}

/* A node that prepares is one operation with the node that reads it, if no other stands between them. */
static void group_nodes(Translation *t, const int *readers) {
    const Graph *g = t->program->graph;
    const int *use = next_uses(t, readers);
    t->first = NEW_ARRAY(g->pool, int, t->count + 1);
    for (int i = 0; i < t->count; i++) {
        const bool joins = i > 0 && use[i - 1] >= i && use[i - 1] < t->count &&
                           reads(g, node_at(t, use[i - 1]), node_at(t, i - 1)->out[0]);
        if (!joins)
            t->first[t->noperation++] = i;
    }
    t->first[t->noperation] = t->count;
}

/* Computed by one of the operations and read by another: something that can be dropped or must be held. */
static bool is_tensor(const Graph *g, const Touch *t) {
    return t->is_output && !t->reads && g->value[t->value].class != CLASS_PARAMETER_GRADIENT;
}

static void number_tensors(Translation *t, const int *readers) {
    const Graph *g = t->program->graph;
    t->tensor_of = NEW_ARRAY(g->pool, int, g->nvalue);
    t->value_of = NEW_ARRAY(g->pool, ValueId, g->nvalue);
    for (ValueId v = 0; v < g->nvalue; v++)
        t->tensor_of[v] = -1;
    for (int o = 0; o < t->noperation; o++)
        for (Touch touch = node_touches(g, node_at(t, t->first[o + 1] - 1)); touch_next(&touch);) {
            if (!is_tensor(g, &touch) || readers[touch.value] == 0)
                continue;
            t->tensor_of[touch.value] = t->ntensor;
            t->value_of[t->ntensor++] = touch.value;
        }
}

static void find_updates(Translation *t) {
    const Graph *g = t->program->graph;
    t->updated = NEW_ARRAY(g->pool, bool, g->nvalue);
    for (int i = 0; i < t->count; i++)
        for (Touch touch = node_touches(g, node_at(t, i)); touch_next(&touch);)
            t->updated[touch.value] |= touch.operand->access == ACCESS_UPDATE;
}

static void order_updates(Translation *t) {
    const Graph *g = t->program->graph;
    int *last = NEW_ARRAY(g->pool, int, g->nvalue); /* per value: the operation that touched it last, + 1 */
    t->token_to = NEW_ARRAY(g->pool, int, t->noperation + 1);
    for (int o = 0; o < t->noperation; o++) {
        t->token_to[o] = t->ntoken;
        for (Touch touch = node_touches(g, node_at(t, t->first[o + 1] - 1)); touch_next(&touch);) {
            if (!t->updated[touch.value] || last[touch.value] == o + 1)
                continue;
            if (last[touch.value] > 0)
                PUSH(g->pool, t->token, t->ntoken, ((Token){last[touch.value] - 1, o, -1}));
            last[touch.value] = o + 1;
        }
    }
    t->token_to[t->noperation] = t->ntoken;
}

static void chain_tokens(Translation *t) {
    t->token_from = NEW_ARRAY(t->program->graph->pool, int, t->noperation);
    for (int o = 0; o < t->noperation; o++)
        t->token_from[o] = -1;
    for (int k = t->ntoken - 1; k >= 0; k--) {
        t->token[k].next = t->token_from[t->token[k].from];
        t->token_from[t->token[k].from] = k;
    }
}

/* ---- gradients ---- */

bool places_gradients(const Program *program) {
    int updates;
    first_update(program->graph, &updates);
    return updates > 1 && !program->choices->repeats;
}

static void number_regions(Translation *t) {
    const Graph *g = t->program->graph;
    int updates;
    const NodeId first = first_update(g, &updates);
    t->region_of = NEW_ARRAY(g->pool, int, g->nvalue);
    for (ValueId v = 0; v < g->nvalue; v++)
        t->region_of[v] = -1;
    if (!places_gradients(t->program))
        return;
    t->nregion = updates;
    t->made_by = NEW_ARRAY(g->pool, int, updates);
    t->region_bytes = NEW_ARRAY(g->pool, int64_t, updates);
    for (int r = 0; r < updates; r++) {
        const Node *update = &g->node[first + r];
        const ValueId *gradient, *parameter;
        const int count =
            value_segments(g, &update->in[input_named(&g->operands[update->op], "g")], &gradient);
        value_segments(g, &update->in[0], &parameter);
        for (int i = 0; i < count; i++) {
            t->region_of[gradient[i]] = t->region_of[parameter[i]] = r;
            t->region_bytes[r] = size_sum(t->region_bytes[r], t->program->layout[gradient[i]].bytes);
        }
        t->made_by[r] = -1;
    }
    for (int o = 0; o < t->noperation; o++)
        for (Touch touch = node_touches(g, node_at(t, t->first[o + 1] - 1)); touch_next(&touch);) {
            const int r = touch.is_output ? t->region_of[touch.value] : -1;
            if (r >= 0 && t->made_by[r] < 0)
                t->made_by[r] = o;
        }
}

/* Does operation O, behind the one that makes region R, touch its gradients or their parameters? */
static bool reads_region(const Translation *t, int o, int r) {
    for (int i = t->first[o]; o > t->made_by[r] && i < t->first[o + 1]; i++)
        for (Touch touch = node_touches(t->program->graph, node_at(t, i)); touch_next(&touch);)
            if (t->region_of[touch.value] == r)
                return true;
    return false;
}

/* Numbers of each sample that a node leaves for its gradient beside an activation, as attention does.
 * Numbers that a node makes alone are kept: they are smaller than what they are made of. */
static bool is_beside_activation(const Graph *g, const Node *node, ValueId v) {
    return g->value[v].class == CLASS_BATCH_STATISTIC && g->value[v].per_sample && node->nout > 0 &&
           node->out[0] >= 0 && g->value[node->out[0]].class == CLASS_ACTIVATION;
}

/* A node may run again unless it leaves something behind: a sum, a result, or what it updates; or reads
 * what another updates. */
static bool is_repeatable(const Translation *translation, const Node *node) {
    const Graph *g = translation->program->graph;
    for (Touch t = node_touches(g, node); touch_next(&t);) {
        const Class c = g->value[t.value].class;
        if (translation->updated[t.value])
            return false;
        if (t.writes && c != CLASS_ACTIVATION && c != CLASS_ACTIVATION_GRADIENT && c != CLASS_WORKSPACE &&
            !is_beside_activation(g, node, t.value))
            return false;
    }
    return true;
}

/* The operands of operation NUMBER, whose last node is NODE. */
static void add_operands(const Translation *t, int number, const Node *node, RematOperation *o) {
    const Graph *g = t->program->graph;
    int *read = NULL, *write = NULL;
    const int wanted = node->nout > 0 ? g->operands[node->op].out[0].in_place : -1;
    for (Touch touch = node_touches(g, node); touch_next(&touch);) {
        const Layout *layout = &t->program->layout[touch.value];
        const int tensor = t->tensor_of[touch.value];
        if (touch.is_output && tensor < 0 && is_tensor(g, &touch))
            o->scratch = size_sum(o->scratch, layout->bytes);
        if (tensor < 0)
            continue;
        if (touch.is_output) {
            PUSH(g->pool, write, o->nwrite, tensor);
            continue;
        }
        if (touch.number == wanted && same_layout(layout, &t->program->layout[node->out[0]]))
            o->in_place = o->nread;
        PUSH(g->pool, read, o->nread, tensor);
    }
    for (int k = t->token_from[number]; k >= 0; k = t->token[k].next)
        PUSH(g->pool, write, o->nwrite, t->ntensor + k);
    for (int k = t->token_to[number]; k < t->token_to[number + 1]; k++)
        PUSH(g->pool, read, o->nread, t->ntensor + k);
    for (int r = 0; r < t->nregion; r++) {
        const int region = t->ntensor + t->ntoken + r;
        if (t->made_by[r] == number)
            PUSH(g->pool, write, o->nwrite, region);
        else if (reads_region(t, number, r))
            PUSH(g->pool, read, o->nread, region);
    }
    o->read = read;
    o->write = write;
}

static RematOperation operation_of(const Translation *t, int o) {
    const Graph *g = t->program->graph;
    const int last = t->first[o + 1] - 1;
    const Node *node = node_at(t, last);
    RematOperation operation = {.repeatable = is_repeatable(t, node),
                                .in_place = -1,
                                .name = pool_text(g->pool, "%s %s", op_table[node->op].name, node->name)};
    for (int i = t->first[o]; i <= last; i++)
        operation.cost = size_sum(size_sum(operation.cost, node_cost(t->program, node_at(t, i))),
                                  t->program->target->step_cost);
    for (int i = t->first[o]; i < last; i++)
        operation.scratch = size_sum(operation.scratch, t->program->layout[node_at(t, i)->out[0]].bytes);
    add_operands(t, o, node, &operation);
    return operation;
}

/* The operations in front of the first that computes a gradient, without operations of heads. */
static int forward_operations(const Translation *t) {
    const Graph *g = t->program->graph;
    for (int o = 0; o < t->noperation; o++)
        for (Touch touch = node_touches(g, node_at(t, t->first[o + 1] - 1)); touch_next(&touch);) {
            const Class c = g->value[touch.value].class;
            if (touch.is_output && touch.node->head == 0 &&
                (c == CLASS_ACTIVATION_GRADIENT || c == CLASS_PARAMETER_GRADIENT))
                return o;
        }
    return t->noperation;
}

/* Is V read behind all of them, by the caller, or by what brings running statistics up to date? */
static bool read_behind(const Value *v) {
    return v->class == CLASS_METRIC || (v->class == CLASS_BATCH_STATISTIC && !v->per_sample);
}

static RematProblem problem_of(const Translation *t) {
    const Graph *g = t->program->graph;
    RematOperation *operation = NEW_ARRAY(g->pool, RematOperation, t->noperation);
    const int ntensor = t->ntensor + t->ntoken + t->nregion;
    Pool *scratch = pool_part(g->pool);
    const int64_t *bytes_of = bytes_in_loops(scratch, t->program);
    int64_t *bytes = NEW_ARRAY(g->pool, int64_t, ntensor);
    bool *kept = NEW_ARRAY(g->pool, bool, ntensor);
    for (int o = 0; o < t->noperation; o++)
        operation[o] = operation_of(t, o);
    for (int k = 0; k < t->ntensor; k++) {
        bytes[k] = bytes_of[t->value_of[k]];
        kept[k] = read_behind(&g->value[t->value_of[k]]);
    }
    for (int r = 0; r < t->nregion; r++) {
        bytes[t->ntensor + t->ntoken + r] = t->region_bytes[r];
        kept[t->ntensor + t->ntoken + r] = updates_wait(g);
    }
    pool_free(scratch);
    return (RematProblem){.noperation = t->noperation,
                          .ntensor = ntensor,
                          .nforward = forward_operations(t),
                          .operation = operation,
                          .bytes = bytes,
                          .kept = kept};
}

/* How the operations of PROBLEM go over rows in loops over bands. */
static RepeatProblem bands_of(const Translation *t, const RematProblem *problem) {
    const Graph *g = t->program->graph;
    RepeatRows *rows = NEW_ARRAY(g->pool, RepeatRows, t->noperation);
    RepeatRows *node_rows = NEW_ARRAY(g->pool, RepeatRows, t->count);
    const int64_t tallest = find_loops(t->program, t->node, t->count, node_rows),
                  asked = t->program->options->bands,
                  band = asked > 1 ? iterations(tallest, asked) : band_rows(t->program);
    for (int o = 0; o < t->noperation; o++) {
        const int last = t->first[o + 1] - 1, nread = problem->operation[o].nread;
        RepeatWindow *window = NEW_ARRAY(g->pool, RepeatWindow, nread);
        int count = 0;
        rows[o] = node_rows[last];
        rows[o].window = window;
        for (Touch touch = node_touches(g, node_at(t, last)); touch_next(&touch);)
            if (!touch.is_output && t->tensor_of[touch.value] >= 0 && rows[o].loop >= 0)
                window[count++] = window_of(g, node_at(t, last), touch.number, rows[o].pitch);
    }
    return (RepeatProblem){.problem = problem,
                           .rows = rows,
                           .height = size_product(tallest, REPEAT_POSITIONS),
                           .band = size_product(band, REPEAT_POSITIONS)};
}

/* ---- from the schedule back to the graph ---- */

typedef struct {
    Program *program;
    ValueId *now; /* per value of the graph as it was: its life at this moment */
} Lives;

static ValueId new_life(Lives *l, ValueId v) {
    Program *program = l->program;
    Graph *g = program->graph;
    ValueId again = value_new(g, g->value[v]);
    PUSH(g->pool, program->layout, program->nlayout, program->layout[v]);
    CHECK(program->nlayout == g->nvalue);
    l->now[v] = again;
    return again;
}

/* The operand V as it lives now; a concat is a new one if one of its segments lives anew. */
static ValueId as_of_now(Lives *l, ValueId v) {
    Program *program = l->program;
    Graph *g = program->graph;
    if (v < 0 || g->value[v].nsegments == 0)
        return v < 0 ? v : l->now[v];
    const Value concat = g->value[v];
    ValueId *segment = NEW_ARRAY(g->pool, ValueId, concat.nsegments);
    bool moved = false;
    for (int p = 0; p < concat.nsegments; p++) {
        segment[p] = concat.segment[p] < 0 ? -1 : l->now[concat.segment[p]];
        moved |= segment[p] != concat.segment[p];
    }
    if (!moved)
        return v;
    PUSH(g->pool, program->layout, program->nlayout, program->layout[v]);
    return value_concat_like(g, segment, concat.nsegments, concat);
}

/* Operands of NODE, all as they live now. */
static ValueId *operands_now(Lives *l, const Node *node) {
    ValueId *in = NEW_ARRAY(l->program->graph->pool, ValueId, node->nin);
    for (int k = 0; k < node->nin; k++)
        in[k] = as_of_now(l, node->in[k]);
    return in;
}

static Step run_again(Lives *l, const Node *node) {
    Graph *g = l->program->graph;
    ValueId *in = operands_now(l, node), *out = NEW_ARRAY(g->pool, ValueId, node->nout);
    for (int k = 0; k < node->nout; k++)
        out[k] = node->out[k] < 0 ? -1 : new_life(l, node->out[k]);
    return (Step){.node = node_new(g, *node, in, out), .recompute = true};
}

/* Weights that are packed in front of a loop over bands are there for all that reads them. */
static bool is_packed(const Translation *t, int operation, int i) {
    return t->program->choices->repeats && !t->program->choices->packs_in_bands &&
           i < t->first[operation + 1] - 1;
}

/* The nodes as they were say what an operation reads; those in the graph come to say which life of it. */
static int rewrite(Translation *t, const RematSchedule *found, Step *step) {
    Program *program = t->program;
    Graph *g = program->graph;
    int nstep = 0;
    Pool *scratch = pool_part(g->pool);
    Node *node = NEW_ARRAY(scratch, Node, t->count);
    bool *ran = NEW_ARRAY(scratch, bool, t->count);
    Lives lives = {program, NEW_ARRAY(scratch, ValueId, g->nvalue)};
    for (ValueId v = 0; v < g->nvalue; v++)
        lives.now[v] = v;
    for (int i = 0; i < t->count; i++)
        node[i] = *node_at(t, i);
    for (int k = 0; k < found->length; k++)
        for (int i = t->first[found->operation[k]]; i < t->first[found->operation[k] + 1]; i++) {
            if (ran[i] && is_packed(t, found->operation[k], i))
                continue;
            if (ran[i]) {
                step[nstep++] = run_again(&lives, &node[i]);
                continue;
            }
            ValueId *in = operands_now(&lives, &node[i]);
            g->node[t->node[i]].in = in;
            step[nstep++] = (Step){.node = t->node[i], .recompute = node[i].again};
            ran[i] = true;
        }
    pool_free(scratch);
    return nstep;
}

/* How many nodes run in all. */
static int steps_of(const Translation *t, const RematSchedule *found) {
    int nstep = 0;
    for (int k = 0; k < found->length; k++)
        nstep += t->first[found->operation[k] + 1] - t->first[found->operation[k]];
    return nstep;
}

/* The least that a schedule within these bytes computes again, in floating point operations alone. */
static int64_t flops_bound(const Translation *t, int64_t capacity) {
    Pool *pool = t->program->graph->pool;
    RematProblem problem = *t->program->remat;
    RematOperation *operation = NEW_ARRAY(pool, RematOperation, problem.noperation);
    int64_t all = 0;
    for (int o = 0; o < problem.noperation; o++) {
        operation[o] = problem.operation[o];
        operation[o].cost = node_flops(t->program, node_at(t, t->first[o + 1] - 1));
        all = work_sum(all, 1, operation[o].cost);
    }
    problem.operation = operation;
    const int64_t bound = remat_cost_lower_bound(pool, &problem, capacity);
    return bound > all ? bound - all : 0;
}

/* PROBLEM as it is for any batch that is trained one sample after the other: an operation that runs once
 * costs the same whatever else runs again, and so counts nothing. */
static const RematProblem *of_any_batch(Pool *pool, const RematProblem *problem) {
    RematProblem *any = NEW(pool, RematProblem);
    RematOperation *operation = NEW_ARRAY(pool, RematOperation, problem->noperation);
    for (int o = 0; o < problem->noperation; o++) {
        operation[o] = problem->operation[o];
        operation[o].cost = operation[o].repeatable ? operation[o].cost : 0;
    }
    *any = *problem;
    any->operation = operation;
    return any;
}

/* Returns CAPACITY, or the largest capacity that the given order exceeds, if this is less. */
static int64_t below_given_order(Pool *pool, const RematProblem *problem, int64_t capacity) {
    const RematQuestion all_kept = {.capacity = INT64_MAX};
    RematSchedule given;
    remat_schedule(pool, problem, &all_kept, &given);
    return given.peak <= capacity ? given.peak - 1 : capacity;
}

/* The answer that was chosen already, or the answer of a search, unless it is known to cost too much; a
 * sketch leaves out a search that may succeed. */
static const RematSchedule *schedule_for(const Translation *t, const RematProblem *problem,
                                         int64_t capacity) {
    const Choices *choices = t->program->choices;
    Pool *pool = choices->schedules;
    if (choices->found != NULL)
        return remat_schedule_copy(pool, choices->found);
    if (choices->repeats) {
        const RepeatProblem bands = bands_of(t, problem);
        return repeat_in_bands(pool, &bands);
    }
    if (choices->nearly_free)
        capacity = below_given_order(pool, problem, capacity);
    RematSchedule *found = NEW(pool, RematSchedule);
    const bool carries = choices->typical != NULL && remat_alike(choices->typical, problem, false);
    const bool recurs = !carries && choices->any_plan && choices->memo != NULL &&
                        t->program->micro_batch < t->program->batch;
    const RematQuestion question = {.capacity = capacity,
                                    .times = t->program->options->effort,
                                    .of_use = choices->of_use - t->program->remat_outside,
                                    .any = choices->any_plan,
                                    .brief = choices->brief || recurs || choices->nearly_free ||
                                             choices->typical_file != NULL,
                                    .typical = carries  ? choices->typical
                                               : recurs ? of_any_batch(t->program->graph->pool, problem)
                                               : choices->nearly_free ? problem
                                                                      : NULL,
                                    .closely = choices->typical_file != NULL,
                                    .memo = choices->memo};
    if (choices->most_extra > 0 || choices->sketch) {
        const RematQuestion all_kept = {.capacity = INT64_MAX};
        remat_schedule(pool, problem, &all_kept, found);
        if (choices->sketch && found->peak_lower_bound <= capacity)
            return found;
        if (choices->most_extra > 0 &&
            remat_cost_lower_bound(pool, problem, capacity) - found->base_cost >= choices->most_extra)
            return found;
    }
    remat_schedule(pool, problem, &question, found);
    return found;
}

int recompute(Program *program, const NodeId *node, int count, int64_t capacity, Step **step) {
    Translation t = {.program = program, .node = node, .count = count};
    Pool *pool = program->graph->pool;
    const int *readers = count_readers(program->graph);
    group_nodes(&t, readers);
    number_tensors(&t, readers);
    find_updates(&t);
    order_updates(&t);
    chain_tokens(&t);
    number_regions(&t);
    RematProblem *problem = NEW(pool, RematProblem);
    *problem = problem_of(&t);
    program->remat = problem;
    program->found = schedule_for(&t, problem, capacity);
    if (!program->choices->any_plan && !program->choices->brief && !program->choices->repeats &&
        program->found->cost > program->found->base_cost)
        program->recompute_flops_bound =
            flops_bound(&t, capacity > program->found->peak ? capacity : program->found->peak);
    *step = NEW_ARRAY(pool, Step, steps_of(&t, program->found));
    return rewrite(&t, program->found, *step);
}
