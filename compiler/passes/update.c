/* update.c - appends the optimiser's step.
 *
 * Parameters, gradients and the optimiser's state are each one region of the arena, in one order, in
 * which the backward pass completes the gradients; parameters whose weights do not decay come behind the
 * others, and with `state 8` those with a state in codes come first.  So the update is a single node that
 * sweeps over all of them, and a slice of the gradients is complete early, for data parallel training to
 * send.
 *
 * f16 ends at 2^-24, where many gradients are smaller: losses are scaled.  The scale lies in
 * the arena from step to step; `loss_scale` judges the gradients, and the optimiser skips a step that
 * overflowed.
 *
 * Requires: the backward pass.  Provides: the optimiser's node.
 */
#include "ir/ops.h"
#include "passes/passes.h"

#include <string.h>

/* The parameters that have a gradient, in the order in which their gradients are complete. */
static int completion_order(const Program *program, int *order) {
    const Graph *g = program->graph;
    int *parameter_of = NEW_ARRAY(g->pool, int, g->nvalue),
        count = 0; /* per value, plus one: whose gradient */
    for (int k = 0; k < program->nparameter; k++)
        if (program->gradient[k] >= 0)
            parameter_of[program->gradient[k]] = k + 1;
    for (int i = 0; i < g->nnode; i++)
        for (Touch t = node_touches(g, &g->node[i]); touch_next(&t);)
            if (t.is_output && parameter_of[t.value] > 0 && g->value[t.value].producer == i)
                order[count++] = parameter_of[t.value] - 1;
    return count;
}

/* Does the optimiser keep the state of PARAMETER in codes? */
static bool is_coded(const TrainSection *train, const Value *parameter) {
    return train->codes_state && may_be_coded(parameter);
}

/* The place of PARAMETER in the region: parameters with a state in codes, which decay if anything does,
 * then other parameters whose weights decay, then the rest. */
static int rank_in_region(const TrainSection *train, const Value *parameter) {
    return is_coded(train, parameter) ? 0 : weight_decays(&train->optimizer, parameter) ? 1 : 2;
}

/* The same order, by these places. */
static void order_region(const Program *program, int *order, int count) {
    const Graph *g = program->graph;
    int *found = NEW_ARRAY(g->pool, int, count), n = 0;
    for (int rank = 0; rank < 3; rank++)
        for (int i = 0; i < count; i++)
            if (rank_in_region(&program->model->train, &g->value[program->parameter[order[i]]]) == rank)
                found[n++] = order[i];
    memcpy(order, found, (size_t)count * sizeof *order);
}

static ValueId state_of(const Program *program, ValueId parameter, const Operand *operand) {
    Graph *g = program->graph;
    Value state = g->value[parameter];
    state.name = pool_text(g->pool, "%.*s %s", operand->length, operand->name, state.name);
    state.class = CLASS_STATE;
    if (is_coded(&program->model->train, &g->value[parameter]) && !is_average(operand)) {
        state.type = TYPE_U8;
        state.shape =
            (Shape){.rank = 1, .dim = {coded_bytes(&g->value[parameter], program->options->real)}};
    }
    return value_new(g, state);
}

/* Does the optimiser keep this state of each parameter? */
static bool keeps(const TrainSection *train, const Operand *operand) {
    const Optimizer *o = &train->optimizer;
    const struct {
        const char *name;
        bool kept;
    } optional[] = {{"momentum", o->momentum != 0},
                    {"most", o->amsgrad},
                    {"mean", o->centered},
                    {"average", train->ema > 0}};
    for (int i = 0; i < 4; i++)
        if (operand->optional && strncmp(optional[i].name, operand->name, (size_t)operand->length) == 0)
            return optional[i].kept;
    return !operand->optional;
}

/* Each of several processes has a slice, which is at most so long. */
static ValueId slice_of_states(const Program *program, const Operand *operand, ValueId parameters) {
    Graph *g = program->graph;
    Value state = g->value[parameters];
    state.name = pool_text(g->pool, "%.*s of a rank", operand->length, operand->name);
    state.class = CLASS_STATE;
    state.nsegments = 0;
    state.segment = NULL;
    state.shape =
        (Shape){.rank = 1,
                .dim = {iterations(region_numbers(program, parameters), program->model->train.processes)}};
    return value_new(g, state);
}

/* The states OPERAND of the parameters in their ORDER, as one value; -1: there are none. */
static ValueId states(const Program *program, const Operand *operand, ValueId parameters, const int *order,
                      int count) {
    Graph *g = program->graph;
    if (operand->access != ACCESS_UPDATE || !keeps(&program->model->train, operand))
        return -1;
    if (program->model->train.shards_optimizer && !is_average(operand))
        return slice_of_states(program, operand, parameters);
    ValueId *state = NEW_ARRAY(g->pool, ValueId, count);
    for (int i = 0; i < count; i++)
        state[i] = state_of(program, program->parameter[order[i]], operand);
    return value_concat_like(g, state, count, g->value[state[0]]);
}

/* Has the gradients of losses scaled and, before the update, judged; returns the state of that, or -1. */
static ValueId scale_losses(Program *program, ValueId gradients) {
    Graph *g = program->graph;
    ValueId state = value_new(g, (Value){.name = "loss scale",
                                         .class = CLASS_STATE,
                                         .type = TYPE_F64,
                                         .shape = {.rank = 1, .dim = {LOSS_SCALE_ELEMENTS}},
                                         .span = program->model->train.span,
                                         .producer = -1,
                                         .input = -1});
    for (int i = 0; i < g->nnode; i++)
        if (has_trait(&g->node[i], TRAIT_SCALED))
            g->node[i].in[input_named(&g->operands[g->node[i].op], "scale")] = state;
    const ValueId in[2] = {state, gradients};
    node_new(g,
             (Node){.op = OP_LOSS_SCALE,
                    .nin = 2,
                    .a.kind = ATTRIBUTES_REDUCTION,
                    .name = op_table[OP_LOSS_SCALE].name,
                    .span = program->model->train.span},
             in, NULL);
    return state;
}

/* Has the norm of all gradients taken before the update, which then is one for all parameters: none of them
 * can be updated before the last gradient is complete. */
static ValueId clip_by_norm(Program *program, ValueId gradients, ValueId scale) {
    Graph *g = program->graph;
    const TrainSection *train = &program->model->train;
    Node node = {.op = OP_GRADIENT_NORM,
                 .nin = 2,
                 .nout = 1,
                 .a = {.kind = ATTRIBUTES_REDUCTION, .reduction = {.limit = train->clip_norm}},
                 .name = op_table[OP_GRADIENT_NORM].name,
                 .span = train->span};
    const ValueId in[2] = {gradients, scale};
    program->gradient_norm = value_new(g, (Value){.name = "gradient norm",
                                                  .class = CLASS_METRIC,
                                                  .type = TYPE_F64,
                                                  .shape = {.rank = 1, .dim = {GRADIENT_NORM_ELEMENTS}},
                                                  .span = train->span,
                                                  .producer = -1,
                                                  .input = -1});
    node_new(g, node, in, &program->gradient_norm);
    return program->gradient_norm;
}

void update(Program *program) {
    static const Op op_of[] = {[OPTIMIZER_SGD] = OP_SGD,
                               [OPTIMIZER_ADAM] = OP_ADAM,
                               [OPTIMIZER_ADAMW] = OP_ADAM,
                               [OPTIMIZER_RMSPROP] = OP_RMSPROP};
    Graph *g = program->graph;
    if (program->kind != PROGRAM_TRAIN)
        return;
    const TrainSection *train = &program->model->train;
    int *order = NEW_ARRAY(g->pool, int, program->nparameter);
    const int count = completion_order(program, order);
    if (count == 0)
        return;
    order_region(program, order, count);
    const Op op = op_of[train->optimizer.kind];
    const Operands *row = &g->operands[op];
    ValueId *operand[2], in[MAX_INPUTS];
    for (int k = 0; k < 2; k++) {
        operand[k] = NEW_ARRAY(g->pool, ValueId, count);
        for (int i = 0; i < count; i++)
            operand[k][i] = k == 0 ? program->parameter[order[i]] : program->gradient[order[i]];
        in[k] = value_concat_like(g, operand[k], count, g->value[operand[k][0]]);
    }
    for (int k = 2; k < row->nin; k++)
        in[k] = states(program, &row->in[k], in[0], order, count);
    if (program->options->stored == TYPE_F16)
        in[input_named(row, "scale")] = scale_losses(program, in[1]);
    if (train->clip_norm > 0)
        in[input_named(row, "norm")] = clip_by_norm(program, in[1], in[input_named(row, "scale")]);
    node_new(g,
             (Node){.op = op,
                    .nin = row->nin,
                    .a = {.kind = ATTRIBUTES_UPDATE,
                          .update = {train->optimizer, train->clip_value, train->ema}},
                    .name = op_table[op].name,
                    .span = program->model->train.span},
             in, NULL);
}
