/* recompute.c - computes again what does not fit.
 *
 * Hands the nodes between the packing of weights and the optimiser to remat.h as operations and tensors,
 * and writes the schedule it finds back into the graph: a node that runs again becomes a new node with new
 * values, so that every life of a tensor is a value of its own and no later pass needs to know.
 *
 *     enc1 = conv(x)   ...   d = f(enc1)   ...   g = h(enc1)
 *     enc1 = conv(x)   ...   d = f(enc1)   ...   enc1' = conv(x), g = h(enc1')
 *
 * The same kernel with the same operands gives the same bits, so the result does not depend on what was
 * found.
 *
 * Weights are packed right before each use, so packing and use are one operation here.
 *
 * Requires: storage.  Provides: the order of the nodes, new nodes and values among them, their storage.
 */
#include "ops.h"
#include "plan.h"
#include "remat.h"

typedef struct {
    Program *program;
    const NodeId *node; /* in the order of the graph */
    int count;
    int *first; /* per operation, and one more: its first node, an index in `node` */
    int noperation;
    int *tensor_of; /* per value: its tensor in the problem, or -1 */
    ValueId *value_of;
    int ntensor;
} Translation;

/* ---- from the graph to the problem ---- */

static const Node *node_at(const Translation *t, int i) {
    return &t->program->graph->node[t->node[i]];
}

/* How many nodes read each value. */
static int *count_readers(const Graph *g) {
    int *readers = NEW_ARRAY(g->pool, int, g->nvalue);
    for (int i = 0; i < g->nnode; i++)
        for (int k = 0; k < g->node[i].nin; k++) {
            const ValueId *leaf;
            int n = value_leaves(g, &g->node[i].in[k], &leaf);
            for (int p = 0; p < n; p++)
                if (leaf[p] >= 0)
                    readers[leaf[p]]++;
        }
    return readers;
}

/* Does NODE do nothing but prepare, from parameters alone, what NEXT needs? */
static bool prepares(const Graph *g, const Node *node, const Node *next, const int *readers) {
    if (node->nout != 1 || g->value[node->out[0]].class != CLASS_WORKSPACE || readers[node->out[0]] != 1)
        return false;
    for (int k = 0; k < node->nin; k++)
        if (node->in[k] >= 0 && g->value[node->in[k]].class != CLASS_PARAMETER)
            return false;
    for (int k = 0; k < next->nin; k++)
        if (next->in[k] == node->out[0])
            return true;
    return false;
}

static void group_nodes(Translation *t, const int *readers) {
    const Graph *g = t->program->graph;
    t->first = NEW_ARRAY(g->pool, int, t->count + 1);
    for (int i = 0; i < t->count; i++)
        if (i == 0 || !prepares(g, node_at(t, i - 1), node_at(t, i), readers))
            t->first[t->noperation++] = i;
    t->first[t->noperation] = t->count;
}

/* Computed by one of the operations and read by another: something that can be dropped or must be held. */
static bool is_tensor(const Graph *g, const Node *node, int k) {
    ValueId v = node->out[k];
    return v >= 0 && !node_adds_to(g, node, k) && g->value[v].class != CLASS_PARAMETER_GRADIENT;
}

static void number_tensors(Translation *t, const int *readers) {
    const Graph *g = t->program->graph;
    t->tensor_of = NEW_ARRAY(g->pool, int, g->nvalue);
    t->value_of = NEW_ARRAY(g->pool, ValueId, g->nvalue);
    for (ValueId v = 0; v < g->nvalue; v++)
        t->tensor_of[v] = -1;
    for (int o = 0; o < t->noperation; o++) {
        const Node *node = node_at(t, t->first[o + 1] - 1);
        for (int k = 0; k < node->nout; k++) {
            ValueId v = node->out[k];
            if (!is_tensor(g, node, k) || readers[v] == 0)
                continue;
            t->tensor_of[v] = t->ntensor;
            t->value_of[t->ntensor++] = v;
        }
    }
}

/* A node may run again unless it leaves something behind: a sum, a gradient of a parameter, a result. */
static bool is_repeatable(const Graph *g, const Node *node) {
    bool repeatable = true;
    for (int k = 0; k < node->nout; k++) {
        ValueId v = node->out[k];
        Class c = v < 0 ? CLASS_WORKSPACE : g->value[v].class;
        repeatable &= c == CLASS_ACTIVATION || c == CLASS_ACTIVATION_GRADIENT || c == CLASS_WORKSPACE;
    }
    return repeatable;
}

/* Time in units of floating point operations: a byte moved costs as much as a few of them. */
static int64_t cost_of(const Program *program, const Node *node) {
    enum { FLOPS_A_BYTE = 4 };
    const Graph *g = program->graph;
    int64_t bytes = 0;
    for (int k = 0; k < node->nin + node->nout; k++) {
        const ValueId *operand = k < node->nin ? &node->in[k] : &node->out[k - node->nin], *leaf;
        int n = value_leaves(g, operand, &leaf);
        for (int p = 0; p < n; p++)
            bytes = work_sum(bytes, 1, leaf[p] >= 0 ? program->storage[leaf[p]].bytes : 0);
    }
    return work_sum(node_flops(program, node), FLOPS_A_BYTE, bytes);
}

static bool same_storage(const Storage *a, const Storage *b) {
    return a->bytes == b->bytes && a->origin == b->origin && a->sample == b->sample &&
           a->plane == b->plane && a->depth == b->depth && a->row == b->row;
}

static void add_reads(const Translation *t, const Node *node, RematOperation *o) {
    const Graph *g = t->program->graph;
    int *read = NULL, wanted = op_table[node->op].in_place;
    for (int k = 0; k < node->nin; k++) {
        const ValueId *leaf;
        int n = value_leaves(g, &node->in[k], &leaf);
        for (int p = 0; p < n; p++) {
            if (t->tensor_of[leaf[p]] < 0)
                continue;
            if (k == wanted && node->nout > 0 &&
                same_storage(&t->program->storage[leaf[p]], &t->program->storage[node->out[0]]))
                o->in_place = o->nread;
            PUSH(g->pool, read, o->nread, t->tensor_of[leaf[p]]);
        }
    }
    o->read = read;
}

static void add_writes(const Translation *t, const Node *node, RematOperation *o) {
    const Graph *g = t->program->graph;
    int *write = NULL;
    for (int k = 0; k < node->nout; k++) {
        ValueId v = node->out[k];
        if (v >= 0 && t->tensor_of[v] >= 0)
            PUSH(g->pool, write, o->nwrite, t->tensor_of[v]);
        else if (is_tensor(g, node, k))
            o->scratch += t->program->storage[v].bytes;
    }
    o->write = write;
}

static RematOperation operation_of(const Translation *t, int o) {
    const Graph *g = t->program->graph;
    const int last = t->first[o + 1] - 1;
    const Node *node = node_at(t, last);
    RematOperation operation = {.repeatable = is_repeatable(g, node),
                                .in_place = -1,
                                .name = pool_text(g->pool, "%s %s", op_table[node->op].name, node->name)};
    for (int i = t->first[o]; i <= last; i++)
        operation.cost = work_sum(operation.cost, 1, cost_of(t->program, node_at(t, i)));
    for (int i = t->first[o]; i < last; i++)
        operation.scratch += t->program->storage[node_at(t, i)->out[0]].bytes;
    add_reads(t, node, &operation);
    add_writes(t, node, &operation);
    return operation;
}

/* Those in front of the first that computes a gradient. */
static int forward_operations(const Translation *t) {
    const Graph *g = t->program->graph;
    for (int o = 0; o < t->noperation; o++) {
        const Node *node = node_at(t, t->first[o + 1] - 1);
        for (int k = 0; k < node->nout; k++) {
            Class c = node->out[k] < 0 ? CLASS_WORKSPACE : g->value[node->out[k]].class;
            if (c == CLASS_ACTIVATION_GRADIENT || c == CLASS_PARAMETER_GRADIENT)
                return o;
        }
    }
    return t->noperation;
}

static RematProblem problem_of(const Translation *t) {
    const Graph *g = t->program->graph;
    RematOperation *operation = NEW_ARRAY(g->pool, RematOperation, t->noperation);
    int64_t *bytes = NEW_ARRAY(g->pool, int64_t, t->ntensor);
    bool *kept = NEW_ARRAY(g->pool, bool, t->ntensor);
    for (int o = 0; o < t->noperation; o++)
        operation[o] = operation_of(t, o);
    for (int k = 0; k < t->ntensor; k++) {
        bytes[k] = t->program->storage[t->value_of[k]].bytes;
        kept[k] = g->value[t->value_of[k]].class == CLASS_METRIC;
    }
    return (RematProblem){.noperation = t->noperation,
                          .ntensor = t->ntensor,
                          .nforward = forward_operations(t),
                          .operation = operation,
                          .bytes = bytes,
                          .kept = kept};
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
    PUSH(g->pool, program->storage, program->nstorage, program->storage[v]);
    CHECK(program->nstorage == g->nvalue);
    l->now[v] = again;
    return again;
}

/* The operand V as it lives now; a whole of which a part lives anew is a new whole. */
static ValueId as_of_now(Lives *l, ValueId v) {
    Program *program = l->program;
    Graph *g = program->graph;
    if (v < 0 || g->value[v].nparts == 0)
        return v < 0 ? v : l->now[v];
    const Value whole = g->value[v];
    ValueId *part = NEW_ARRAY(g->pool, ValueId, whole.nparts);
    bool moved = false;
    for (int p = 0; p < whole.nparts; p++) {
        part[p] = whole.part[p] < 0 ? -1 : l->now[whole.part[p]];
        moved |= part[p] != whole.part[p];
    }
    if (!moved)
        return v;
    PUSH(g->pool, program->storage, program->nstorage, program->storage[v]);
    return value_parts(g, part, whole.nparts, whole);
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

/* The nodes as they were say what an operation reads; those in the graph come to say which life of it. */
static int rewrite(Translation *t, const RematSchedule *found, Step *step) {
    Program *program = t->program;
    Graph *g = program->graph;
    int nstep = 0;
    Node *node = NEW_ARRAY(g->pool, Node, t->count);
    bool *ran = NEW_ARRAY(g->pool, bool, t->count);
    Lives lives = {program, NEW_ARRAY(g->pool, ValueId, g->nvalue)};
    for (ValueId v = 0; v < g->nvalue; v++)
        lives.now[v] = v;
    for (int i = 0; i < t->count; i++)
        node[i] = *node_at(t, i);
    for (int k = 0; k < found->length; k++)
        for (int i = t->first[found->operation[k]]; i < t->first[found->operation[k] + 1]; i++) {
            if (ran[i]) {
                step[nstep++] = run_again(&lives, &node[i]);
                continue;
            }
            ValueId *in = operands_now(&lives, &node[i]);
            g->node[t->node[i]].in = in;
            step[nstep++] = (Step){.node = t->node[i]};
            ran[i] = true;
        }
    return nstep;
}

/* How many nodes run in all. */
static int steps_of(const Translation *t, const RematSchedule *found) {
    int nstep = 0;
    for (int k = 0; k < found->length; k++)
        nstep += t->first[found->operation[k] + 1] - t->first[found->operation[k]];
    return nstep;
}

/* What any schedule within these bytes computes again, in floating point operations alone. */
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

/* The answer that OPTIONS give, or that of a search. */
static const RematSchedule *schedule_for(Pool *pool, const RematProblem *problem,
                                         const PlanOptions *options, int64_t capacity) {
    if (options->found != NULL)
        return options->found;
    RematSchedule *found = NEW(pool, RematSchedule);
    const RematQuestion question = {.capacity = capacity, .any = options->any_plan};
    remat_schedule(pool, problem, &question, found);
    return found;
}

int recompute(Program *program, const PlanOptions *options, const NodeId *node, int count, int64_t capacity,
              Step **step) {
    Translation t = {.program = program, .node = node, .count = count};
    Pool *pool = program->graph->pool;
    const int *readers = count_readers(program->graph);
    group_nodes(&t, readers);
    number_tensors(&t, readers);
    RematProblem *problem = NEW(pool, RematProblem);
    *problem = problem_of(&t);
    program->remat = problem;
    program->found = schedule_for(pool, problem, options, capacity);
    if (!options->any_plan && program->found->cost > program->found->base_cost)
        program->recompute_flops_bound =
            flops_bound(&t, capacity > program->found->peak ? capacity : program->found->peak);
    *step = NEW_ARRAY(pool, Step, steps_of(&t, program->found));
    return rewrite(&t, program->found, *step);
}
