/* buffer_assign.c - one buffer for each segment, and which of them share bytes.
 *
 * Parameters, their gradients and the optimiser's state are regions: a buffer without readers of its own
 * whose slices lie side by side, in the order in which gradients are completed, so that one sweep updates
 * them all.  The numbers that a device returns are a region, too.  If a compilation makes prediction
 * alone, weights are read once, by the steps that pack them; these are a region that lives no longer.
 * An output takes its input's place if a row allows it and nobody reads the input afterwards. The slots
 * of the loader ring are buffers, too, in the host's address space.
 *
 * Requires: layouts and schedule of every program.  Provides: plan->buffer (without offsets), buffer_of.
 */
#include "base/diag.h"
#include "base/size_math.h"
#include "ir/ops.h"
#include "ir/staging.h"
#include "passes/passes.h"

static int buffer_new(Plan *plan, Buffer b) {
    PUSH(plan->pool, plan->buffer, plan->nbuffer, b);
    return plan->nbuffer - 1;
}

/* So many samples of V are there at a time. */
static int64_t samples_there(const Program *program, ValueId v) {
    if (!program->graph->value[v].per_sample)
        return 0;
    const bool held = program->held != NULL && program->held[v];
    return held ? samples_of_process(&program->model->train) : program->micro_batch;
}

static Buffer buffer_like(const Program *program, ValueId v) {
    const Value *value = &program->graph->value[v];
    const Node *node = value->producer < 0 ? NULL : &program->graph->node[value->producer];
    return (Buffer){.name = value->name,
                    .class = value->class,
                    .lifetime = LIFETIME_STEP,
                    .span = node == NULL ? value->span : node_line(node),
                    .type = value->type,
                    .shape = value->shape,
                    .batch = samples_there(program, v),
                    .bytes = program->layout[v].bytes,
                    .same = -1,
                    .slice = -1,
                    .program = (int)program->kind};
}

/* A buffer of V alone.  A gradient of a parameter that is used twice is laid out as if it were a slice, so
 * its bytes are rounded up. */
static Buffer buffer_of_its_own(const Plan *plan, const Program *program, ValueId v) {
    Buffer b = buffer_like(program, v);
    b.bytes = size_rounded(b.bytes, plan->target->align);
    return b;
}

static Buffer with_lifetime(Buffer b, Lifetime lifetime) {
    b.lifetime = lifetime;
    if (lifetime == LIFETIME_PERSISTENT)
        b.program = -1;
    return b;
}

/* ---- regions ---- */

/* A region for VALUE[0..COUNT), segments of one program; BUFFER receives the slices.  Returns the bytes
 * they take. */
static int64_t region(Plan *plan, const Program *program, const char *name, Lifetime lifetime,
                      const ValueId *value, int count, int *buffer) {
    if (count == 0)
        return 0;
    Buffer whole = buffer_like(program, value[0]);
    whole.name = name;
    whole.span = (Span){0};
    whole.bytes = 0;
    for (int i = 0; i < count; i++)
        whole.bytes = size_sum(whole.bytes, program->layout[value[i]].bytes);
    const int64_t used = whole.bytes;
    whole.shape = (Shape){.rank = 1, .dim = {used / type_bytes(whole.type)}};
    whole.bytes = size_rounded(used, plan->target->align);
    const int parent = buffer_new(plan, with_lifetime(whole, lifetime));
    for (int i = 0; i < count; i++) {
        Buffer slice = buffer_like(program, value[i]);
        slice.slice = parent;
        buffer[i] = buffer_new(plan, with_lifetime(slice, lifetime));
    }
    return used;
}

/* The optimiser's nodes, in the order of the parameters that they update. */
typedef struct {
    const Program *train;
    const Node *node;
    int count; /* 0: nothing is trained */
} Updates;

static Updates updates_of(const Program *train) {
    Updates u = {.train = train};
    const NodeId first = train->model != NULL ? first_update(train->graph, &u.count) : -1;
    u.node = u.count > 0 ? &train->graph->node[first] : NULL;
    return u;
}

/* Writes the segments of operand K of all nodes to SEGMENT; returns how many there are. */
static int updated_segments(const Updates *u, int k, const ValueId **segment) {
    ValueId *found = NULL;
    int n = 0;
    for (int i = 0; i < u->count; i++) {
        const ValueId *part;
        const int count = value_segments(u->train->graph, &u->node[i].in[k], &part);
        for (int p = 0; p < count; p++)
            PUSH(u->train->graph->pool, found, n, part[p]);
    }
    *segment = found;
    return n;
}

/* Trained parameters in the order of the update, then the others in the order of the file. */
static int *parameter_order(const Plan *plan, const Updates *updates) {
    const Program *train = updates->train;
    int *order = NEW_ARRAY(plan->pool, int, plan->nparameter), count = 0;
    bool *placed = NEW_ARRAY(plan->pool, bool, plan->nparameter);
    if (updates->count > 0) {
        int *number = NEW_ARRAY(plan->pool, int, train->graph->nvalue);
        for (int k = 0; k < plan->nparameter; k++)
            number[train->parameter[k]] = k;
        const ValueId *segment;
        const int n = updated_segments(updates, 0, &segment);
        for (int i = 0; i < n; i++) {
            order[count++] = number[segment[i]];
            placed[number[segment[i]]] = true;
        }
    }
    for (int k = 0; k < plan->nparameter; k++)
        if (!placed[k])
            order[count++] = k;
    return order;
}

/* Per value: does only a step read it that runs once, when weights were loaded, of the only program there
 * is?  No one misses it then, once that step has run. */
static bool *read_once(const Plan *plan, const Program *only) {
    const Graph *g = only->graph;
    bool *once = NEW_ARRAY(plan->pool, bool, g->nvalue);
    NodeId *node;
    const Step **loop;
    const int count = schedule_nodes(only->graph->pool, only, &node, &loop);
    const bool alone = program_of(plan, (int)only->kind + 1) == NULL;
    for (int i = 0; i < count; i++)
        for (Touch t = node_touches(g, &g->node[node[i]]); touch_next(&t);)
            once[t.value] = alone && i < only->nonce;
    return once;
}

/* The parameters for which `once` is WANTED, in their order. */
static void parameter_region(Plan *plan, const Program *first, const int *order, const bool *once,
                             bool wanted) {
    int n = 0, *number = NEW_ARRAY(plan->pool, int, plan->nparameter);
    int *buffer = NEW_ARRAY(plan->pool, int, plan->nparameter);
    ValueId *value = NEW_ARRAY(plan->pool, ValueId, plan->nparameter);
    for (int i = 0; i < plan->nparameter; i++)
        if (once[first->parameter[order[i]]] == wanted) {
            number[n] = order[i];
            value[n++] = first->parameter[order[i]];
        }
    region(plan, first, wanted ? "weights as loaded" : "parameters",
           wanted ? LIFETIME_LOADED : LIFETIME_PERSISTENT, value, n, buffer);
    for (int i = 0; i < n; i++)
        plan->parameter_buffer[number[i]] = buffer[i];
}

/* The optimiser's state: what its step updates beside the parameters. */
static void state_regions(Plan *plan, const Updates *updates, const int *order) {
    const Program *train = updates->train;
    const Node *update = updates->node; /* each node has the same states */
    int *buffer = NEW_ARRAY(plan->pool, int, plan->nparameter);
    for (int s = 0; s < MAX_STATES; s++) {
        plan->state_buffer[s] = NEW_ARRAY(plan->pool, int, plan->nparameter);
        plan->shard_buffer[s] = -1;
        for (int i = 0; i < plan->nparameter; i++)
            plan->state_buffer[s][i] = -1;
    }
    for (int k = 1, s = 0; update != NULL && k < update->nin; k++) {
        if (update->in[k] < 0 || train->graph->operands[update->op].in[k].access != ACCESS_UPDATE)
            continue;
        const ValueId *segment;
        const int count = updated_segments(updates, k, &segment);
        CHECK(s < MAX_STATES);
        plan->state[s] = &train->graph->operands[update->op].in[k];
        if (train->graph->value[update->in[k]].nsegments == 0 && train->model->train.shards_optimizer) {
            plan->shard_buffer[s++] = train->buffer_of[update->in[k]] = buffer_new(
                plan, with_lifetime(buffer_of_its_own(plan, train, update->in[k]), LIFETIME_PERSISTENT));
            continue;
        }
        region(plan, train, pool_text(plan->pool, "optimiser state %d", s + 1), LIFETIME_PERSISTENT,
               segment, count, buffer);
        for (int i = 0; i < count; i++) {
            plan->state_buffer[s][order[i]] = buffer[i];
            train->buffer_of[segment[i]] = buffer[i];
        }
        s++;
    }
}

/* Averaged weights, the last state there is, take the place of the weights where nothing is trained; of a
 * parameter that is not, there is no average. */
static void average_buffers(Plan *plan, const Updates *updates) {
    const Program *train = updates->train;
    const Node *update = updates->node;
    if (update == NULL || update->in[input_named(&train->graph->operands[update->op], "average")] < 0)
        return;
    int last = MAX_STATES - 1;
    while (plan->state[last] == NULL)
        last--;
    int *buffer = NEW_ARRAY(plan->pool, int, plan->nparameter);
    for (int k = 0; k < plan->nparameter; k++)
        buffer[k] =
            plan->state_buffer[last][k] >= 0 ? plan->state_buffer[last][k] : plan->parameter_buffer[k];
    plan->average_buffer = buffer;
}

/* Running statistics persist each by itself: programs that measure read what training updates. */
static void statistics(Plan *plan, const Program *first) {
    plan->statistic_buffer = NEW_ARRAY(plan->pool, int, plan->nstatistic);
    for (int i = 0; i < plan->nstatistic; i++)
        plan->statistic_buffer[i] = buffer_new(
            plan, with_lifetime(buffer_of_its_own(plan, first, first->statistic[i]), LIFETIME_PERSISTENT));
}

/* The scale of losses: state that the optimiser's step reads and does not update. */
static void loss_scale_buffer(Plan *plan, const Program *train, const Node *update) {
    plan->loss_scale_buffer = -1;
    for (int k = 0; update != NULL && k < update->nin; k++) {
        const ValueId v = update->in[k];
        if (v < 0 || train->graph->value[v].class != CLASS_STATE || train->buffer_of[v] >= 0 ||
            train->graph->operands[update->op].in[k].access == ACCESS_UPDATE)
            continue;
        plan->loss_scale_buffer = train->buffer_of[v] =
            buffer_new(plan, with_lifetime(buffer_of_its_own(plan, train, v), LIFETIME_PERSISTENT));
    }
}

/* The gradients of each of the optimiser's nodes are a region. */
static void gradient_regions(Plan *plan, const Updates *updates) {
    const Program *train = updates->train;
    int64_t bytes = 0;
    for (int u = 0; u < updates->count; u++) {
        const ValueId *segment;
        const int count = value_segments(train->graph, &updates->node[u].in[1], &segment);
        int *buffer = NEW_ARRAY(plan->pool, int, count);
        const char *name = updates->count == 1 ? "gradients" : pool_text(plan->pool, "gradients %d", u + 1);
        bytes = size_sum(bytes, region(plan, train, name, LIFETIME_STEP, segment, count, buffer));
        for (int i = 0; i < count; i++)
            train->buffer_of[segment[i]] = buffer[i];
    }
    plan->region_elements = bytes / type_bytes(plan->options->real);
}

/* Losses, metrics and the norm of gradients, which a program of a device returns, lie side by side: one
 * copy brings them. */
static void results_region(Plan *plan, Program *program) {
    const int most = program->kind == PROGRAM_PREDICT ? 0 : program->model->nresult + 1;
    ValueId *value = NEW_ARRAY(plan->pool, ValueId, most);
    int n = 0, *buffer = NEW_ARRAY(plan->pool, int, most);
    for (int k = 0; k < most; k++) {
        const ValueId v = k < most - 1 ? program->model->result[k].value : program->gradient_norm;
        bool known = v < 0;
        for (int i = 0; i < n; i++)
            known |= value[i] == v;
        if (!known)
            value[n++] = v;
    }
    program->results = -1;
    if (plan->target->context == 0 || n == 0)
        return;
    program->results = plan->nbuffer;
    region(plan, program, "results", LIFETIME_STEP, value, n, buffer);
    for (int i = 0; i < n; i++)
        program->buffer_of[value[i]] = buffer[i];
}

/* ---- in place ---- */

/* The nodes in their order, and per value: the last of them that reads it, how many do, and the loop in
 * which it is made. */
typedef struct {
    NodeId *node;
    const Step **loop;
    int count;
    int *last, *readers;
    const Step **made_in;
} Order;

static Order order_of(const Program *program) {
    const Graph *g = program->graph;
    Order o = {.last = NEW_ARRAY(g->pool, int, g->nvalue),
               .readers = NEW_ARRAY(g->pool, int, g->nvalue),
               .made_in = NEW_ARRAY(g->pool, const Step *, g->nvalue)};
    o.count = schedule_nodes(program->graph->pool, program, &o.node, &o.loop);
    for (int i = 0; i < o.count; i++)
        for (Touch t = node_touches(g, &g->node[o.node[i]]); touch_next(&t);) {
            if (t.is_output) {
                o.made_in[t.value] = o.loop[i];
            } else {
                o.last[t.value] = i;
                o.readers[t.value]++;
            }
        }
    return o;
}

/* Does NODE read its input K as another operand, too, and that not point by point? */
static bool reads_otherwise(const Node *node, int k) {
    for (int i = 0; i < node->nin; i++)
        if (i != k && node->in[i] == node->in[k])
            return op_table[node->op].rows != rows_same;
    return false;
}

/* The buffer whose bytes the first output of node I of the order may take, or -1.  In a loop over bands a
 * second reader may look at rows that were overwritten an iteration ago. */
static int in_place_of(const Plan *plan, const Program *program, const Order *o, int i) {
    const Graph *g = program->graph;
    const Node *node = &g->node[o->node[i]];
    const int k = g->operands[node->op].out[0].in_place;
    if (plan->options->no_reuse || k < 0 || k >= node->nin || node->in[k] < 0 || reads_otherwise(node, k))
        return -1;
    const ValueId in = node->in[k], out = node->out[0];
    const int buffer = program->buffer_of[in];
    const bool banded = o->loop[i] != NULL && o->loop[i]->axis == AXIS_BANDS;
    if (buffer < 0 || o->last[in] != i || o->made_in[in] != o->loop[i] || (banded && o->readers[in] > 1) ||
        !same_layout(&program->layout[in], &program->layout[out]))
        return -1;
    if (plan->buffer[buffer].lifetime != LIFETIME_STEP || plan->buffer[buffer].slice >= 0)
        return -1;
    return plan->buffer[buffer].same >= 0 ? plan->buffer[buffer].same : buffer;
}

static bool is_prefetched(const Program *program, ValueId v) {
    const Value *value = &program->graph->value[v];
    return program->prefetches && value->class == CLASS_STAGING && value->input >= 0;
}

static void step_buffers(Plan *plan, Program *program) {
    const Graph *g = program->graph;
    Order o = order_of(program);
    for (int i = 0; i < o.count; i++)
        for (Touch t = node_touches(g, &g->node[o.node[i]]); touch_next(&t);) {
            if (!t.is_output || program->buffer_of[t.value] >= 0)
                continue;
            Buffer b = buffer_of_its_own(plan, program, t.value);
            const bool outlives_once = i < program->nonce && o.last[t.value] >= program->nonce;
            if (outlives_once || is_prefetched(program, t.value))
                b.lifetime = LIFETIME_PROGRAM;
            b.same = t.number == 0 ? in_place_of(plan, program, &o, i) : -1;
            program->buffer_of[t.value] = buffer_new(plan, b);
        }
}

/* ---- the loader ring ---- */

/* Each slot holds one batch of every input of the program that has most, or, of several processes that
 * train together, this one's share of it; programs share the slots.  If the runtime passes rows, it
 * brings them into the arena. */
static void loader_ring(Plan *plan) {
    int64_t slot = 0;
    plan->ring_slots = 3;
    for (const Program *p = program_of(plan, 0); p != NULL; p = program_of(plan, (int)p->kind + 1)) {
        const int64_t bytes = staged_bytes(p, slot_samples(p));
        slot = bytes > slot ? bytes : slot;
    }
    plan->loader_ring = size_product(slot, plan->ring_slots);
    for (int i = 0; i < plan->ring_slots; i++)
        buffer_new(plan, (Buffer){.name = pool_text(plan->pool, "loader slot %d", i),
                                  .class = CLASS_STAGING,
                                  .lifetime = LIFETIME_PERSISTENT,
                                  .space = SPACE_HOST,
                                  .type = TYPE_U8,
                                  .shape = {.rank = 1, .dim = {slot}},
                                  .bytes = slot,
                                  .same = -1,
                                  .slice = -1,
                                  .program = -1});
    /* In bands steps are long beside reading, and the loader does with a slot (runtime/library/loader.c).
     */
    const bool bands = has_bands(program_of(plan, 0));
    plan->least_beside = plan->target->context > 0 ? plan->target->context : slot;
    plan->beside = plan->target->context > 0 || bands ? plan->least_beside : plan->loader_ring;
}

void buffers(Plan *plan) {
    const Program *first = program_of(plan, 0), *train = &plan->program[PROGRAM_TRAIN];
    for (Program *p = next_program(plan, 0); p != NULL; p = next_program(plan, (int)p->kind + 1)) {
        p->buffer_of = NEW_ARRAY(plan->pool, int, p->graph->nvalue);
        for (ValueId v = 0; v < p->graph->nvalue; v++)
            p->buffer_of[v] = -1;
    }
    const Updates updates = updates_of(train);
    const int *order = parameter_order(plan, &updates);
    const bool *once = read_once(plan, first);
    plan->parameter_buffer = NEW_ARRAY(plan->pool, int, plan->nparameter);
    parameter_region(plan, first, order, once, false);
    parameter_region(plan, first, order, once, true);
    state_regions(plan, &updates, order);
    average_buffers(plan, &updates);
    statistics(plan, first);
    loss_scale_buffer(plan, train, updates.node);
    for (Program *p = next_program(plan, 0); p != NULL; p = next_program(plan, (int)p->kind + 1)) {
        for (int k = 0; k < p->nparameter; k++)
            p->buffer_of[p->parameter[k]] = p->kind != PROGRAM_TRAIN && plan->average_buffer != NULL
                                                ? plan->average_buffer[k]
                                                : plan->parameter_buffer[k];
        for (int k = 0; k < p->nstatistic; k++)
            p->buffer_of[p->statistic[k]] = plan->statistic_buffer[k];
        if (p->kind == PROGRAM_TRAIN)
            gradient_regions(plan, &updates);
        results_region(plan, p);
        step_buffers(plan, p);
        window_buffers(plan, p);
    }
    loader_ring(plan);
}
