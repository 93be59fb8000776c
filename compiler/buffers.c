/* buffers.c - one buffer per leaf, and which of them share bytes.
 *
 * Parameters, their gradients and the optimiser's state are regions: a buffer without readers of its own
 * whose slices lie side by side, in the order in which gradients are completed, so that one sweep updates
 * them all. Where a row allows it and nobody reads the input afterwards, an output takes its input's place.
 *
 * Requires: storage and schedule of every program.  Provides: plan->buffer (without offsets), buffer_of.
 */
#include "ops.h"
#include "plan.h"

static int buffer_new(Plan *plan, Buffer b) {
    PUSH(plan->pool, plan->buffer, plan->nbuffer, b);
    return plan->nbuffer - 1;
}

static Buffer buffer_like(const Program *program, ValueId v) {
    const Value *value = &program->graph->value[v];
    const Node *node = value->producer < 0 ? NULL : &program->graph->node[value->producer];
    return (Buffer){.name = value->name,
                    .class = value->class,
                    .lifetime = LIFETIME_STEP,
                    .place = node == NULL ? value->place : node_line(node),
                    .type = value->type,
                    .shape = value->shape,
                    .batch = value->per_sample ? program->micro : 0,
                    .bytes = program->storage[v].bytes,
                    .same = -1,
                    .slice = -1,
                    .program = (int)program->kind};
}

/* What stands alone; a gradient of a parameter that is used twice is laid out as if it were a slice. */
static int64_t aligned_bytes(const Plan *plan, const Buffer *b) {
    int64_t align = plan->target->align, bytes;
    if (__builtin_add_overflow(b->bytes, (align - b->bytes % align) % align, &bytes))
        environment_error("`%s` does not fit into 2^63 bytes", b->name);
    return bytes;
}

/* ---- regions ---- */

/* A region for VALUE[0..COUNT), leaves of one program; BUFFER receives the slices. */
static int64_t region(Plan *plan, const Program *program, const char *name, Lifetime lifetime,
                      const ValueId *value, int count, int *buffer) {
    if (count == 0)
        return 0;
    Buffer whole = buffer_like(program, value[0]);
    whole.name = name;
    whole.place = (Place){0};
    whole.bytes = 0;
    whole.lifetime = lifetime;
    if (lifetime == LIFETIME_PERSISTENT)
        whole.program = -1;
    for (int i = 0; i < count; i++)
        if (__builtin_add_overflow(whole.bytes, program->storage[value[i]].bytes, &whole.bytes))
            environment_error("%s do not fit into 2^63 bytes", name);
    int64_t used = whole.bytes;
    whole.shape = (Shape){.rank = 1, .dim = {used / type_bytes(whole.type)}};
    whole.bytes = aligned_bytes(plan, &whole);
    int parent = buffer_new(plan, whole);
    for (int i = 0; i < count; i++) {
        Buffer slice = buffer_like(program, value[i]);
        slice.lifetime = lifetime;
        slice.program = whole.program;
        slice.slice = parent;
        buffer[i] = buffer_new(plan, slice);
    }
    return used;
}

static const Node *update_node(const Program *program) {
    for (int i = 0; program->model != NULL && i < program->graph->nnode; i++)
        if (program->graph->node[i].op == OP_SGD || program->graph->node[i].op == OP_ADAM)
            return &program->graph->node[i];
    return NULL;
}

/* Trained parameters in the order of the update, then the others in the order of the file. */
static int *parameter_order(const Plan *plan, const Program *first, const Node *update, int *trained) {
    const Program *train = &plan->program[PROGRAM_TRAIN];
    int *order = NEW_ARRAY(plan->pool, int, plan->nparameter), count = 0;
    bool *placed = NEW_ARRAY(plan->pool, bool, plan->nparameter);
    const ValueId *leaf = NULL;
    int n = update == NULL ? 0 : value_leaves(train->graph, &update->in[0], &leaf);
    for (int i = 0; i < n; i++)
        for (int k = 0; k < plan->nparameter; k++)
            if (train->parameter[k] == leaf[i]) {
                order[count++] = k;
                placed[k] = true;
            }
    *trained = count;
    for (int k = 0; k < first->nparameter; k++)
        if (!placed[k])
            order[count++] = k;
    return order;
}

static void persistent_regions(Plan *plan, const Program *first) {
    static const char *const state_name[2] = {"optimiser state 1", "optimiser state 2"};
    const Program *train = &plan->program[PROGRAM_TRAIN];
    const Node *node = update_node(train);
    int trained, n = plan->nparameter;
    int *order = parameter_order(plan, first, node, &trained), *buffer = NEW_ARRAY(plan->pool, int, n);
    ValueId *value = NEW_ARRAY(plan->pool, ValueId, n);
    for (int i = 0; i < n; i++)
        value[i] = first->parameter[order[i]];
    region(plan, first, "parameters", LIFETIME_PERSISTENT, value, n, buffer);
    plan->parameter_buffer = NEW_ARRAY(plan->pool, int, n);
    for (int i = 0; i < n; i++)
        plan->parameter_buffer[order[i]] = buffer[i];
    for (int s = 0; s < 2; s++) {
        plan->state_buffer[s] = NEW_ARRAY(plan->pool, int, n);
        for (int i = 0; i < n; i++)
            plan->state_buffer[s][i] = -1;
        if (node == NULL || s + 3 >= node->nin || node->in[s + 2] < 0)
            continue;
        const ValueId *leaf;
        int count = value_leaves(train->graph, &node->in[s + 2], &leaf);
        region(plan, train, state_name[s], LIFETIME_PERSISTENT, leaf, count, buffer);
        for (int i = 0; i < count; i++) {
            plan->state_buffer[s][order[i]] = buffer[i];
            train->buffer_of[leaf[i]] = buffer[i];
        }
    }
}

/* What is known of the scale of losses, the last operand of the update. */
static void loss_scale_buffer(Plan *plan, const Program *train) {
    const Node *node = update_node(train);
    ValueId v = node == NULL ? -1 : node->in[node->nin - 1];
    plan->loss_scale_buffer = -1;
    if (v < 0)
        return;
    Buffer b = buffer_like(train, v);
    b.bytes = aligned_bytes(plan, &b);
    b.lifetime = LIFETIME_PERSISTENT;
    b.program = -1;
    plan->loss_scale_buffer = train->buffer_of[v] = buffer_new(plan, b);
}

static void gradient_region(Plan *plan, Program *train) {
    const Node *node = update_node(train);
    if (node == NULL)
        return;
    const ValueId *leaf;
    int count = value_leaves(train->graph, &node->in[1], &leaf);
    int *buffer = NEW_ARRAY(plan->pool, int, count);
    int64_t bytes = region(plan, train, "gradients", LIFETIME_STEP, leaf, count, buffer);
    plan->region_elements = bytes / type_bytes(plan->options->real);
    for (int i = 0; i < count; i++)
        train->buffer_of[leaf[i]] = buffer[i];
}

/* ---- in place ---- */

/* The nodes in their order, and per value: the last of them that reads it, and whether it is made in a
 * loop. */
typedef struct {
    NodeId *node;
    bool *in_loop;
    int count;
    int *last;
    bool *made_in_loop;
} Order;

static Order order_of(const Program *program) {
    const Graph *g = program->graph;
    Order o = {.last = NEW_ARRAY(g->pool, int, g->nvalue),
               .made_in_loop = NEW_ARRAY(g->pool, bool, g->nvalue)};
    o.count = schedule_nodes(program, &o.node, &o.in_loop);
    for (int i = 0; i < o.count; i++) {
        const Node *node = &g->node[o.node[i]];
        for (int k = 0; k < node->nin; k++) {
            const ValueId *leaf;
            int n = value_leaves(g, &node->in[k], &leaf);
            for (int p = 0; p < n; p++)
                o.last[leaf[p]] = i;
        }
        for (int k = 0; k < node->nout; k++)
            if (node->out[k] >= 0)
                o.made_in_loop[node->out[k]] = o.in_loop[i];
    }
    return o;
}

static bool same_storage(const Storage *a, const Storage *b) {
    bool same = a->bytes == b->bytes && a->origin == b->origin && a->sample == b->sample &&
                a->plane == b->plane && a->depth == b->depth && a->row == b->row;
    return same;
}

/* The buffer whose bytes the first output of node I of the order may take, or -1. */
static int in_place_of(const Plan *plan, const Program *program, const Order *o, int i) {
    const Graph *g = program->graph;
    const Node *node = &g->node[o->node[i]];
    int k = op_table[node->op].in_place;
    if (plan->options->no_reuse || k < 0 || node->nout == 0 || node->in[k] < 0)
        return -1;
    ValueId in = node->in[k], out = node->out[0];
    int buffer = program->buffer_of[in];
    if (buffer < 0 || o->last[in] != i || o->made_in_loop[in] != o->in_loop[i] ||
        !same_storage(&program->storage[in], &program->storage[out]))
        return -1;
    if (plan->buffer[buffer].lifetime != LIFETIME_STEP || plan->buffer[buffer].slice >= 0)
        return -1;
    return plan->buffer[buffer].same >= 0 ? plan->buffer[buffer].same : buffer;
}

static void step_buffers(Plan *plan, Program *program) {
    const Graph *g = program->graph;
    Order o = order_of(program);
    for (int i = 0; i < o.count; i++) {
        const Node *node = &g->node[o.node[i]];
        for (int k = 0; k < node->nout; k++) {
            ValueId v = node->out[k];
            if (v < 0 || program->buffer_of[v] >= 0)
                continue;
            Buffer b = buffer_like(program, v);
            b.bytes = aligned_bytes(plan, &b);
            if (program->prefetches && g->value[v].class == CLASS_STAGING && g->value[v].input >= 0)
                b.lifetime = LIFETIME_PROGRAM;
            b.same = k == 0 ? in_place_of(plan, program, &o, i) : -1;
            program->buffer_of[v] = buffer_new(plan, b);
        }
    }
}

void buffers(Plan *plan) {
    Program *first = NULL;
    for (int k = 0; k < PROGRAMS; k++) {
        Program *program = &plan->program[k];
        if (program->model == NULL)
            continue;
        if (first == NULL)
            first = program;
        program->buffer_of = NEW_ARRAY(plan->pool, int, program->graph->nvalue);
        for (ValueId v = 0; v < program->graph->nvalue; v++)
            program->buffer_of[v] = -1;
    }
    persistent_regions(plan, first);
    loss_scale_buffer(plan, &plan->program[PROGRAM_TRAIN]);
    for (int k = 0; k < PROGRAMS; k++) {
        Program *program = &plan->program[k];
        if (program->model == NULL)
            continue;
        for (int p = 0; p < program->nparameter; p++)
            program->buffer_of[program->parameter[p]] = plan->parameter_buffer[p];
        if (k == PROGRAM_TRAIN)
            gradient_region(plan, program);
        step_buffers(plan, program);
    }
}
