/* update.c - appends the optimiser's step.
 *
 * Parameters, gradients and the optimiser's state are each one region of the arena, in one order: that in
 * which the backward pass completes the gradients.  So the update is a single node that sweeps over all of
 * them, and a slice of the gradients is complete early (what data parallel training will want to send).
 *
 * f16 ends at 2^-24, where many gradients are smaller: losses are scaled.  What is known of that from step
 * to step lies in the arena; `loss_scale` judges the gradients, and the optimiser skips a step that
 * overflowed.
 *
 * Requires: the backward pass.  Provides: the node sgd or adam.
 */
#include "ir/ops.h"
#include "passes/passes.h"

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

static ValueId state_of(Graph *g, ValueId parameter, const char *what) {
    Value state = g->value[parameter];
    state.name = pool_text(g->pool, "%s %s", what, state.name);
    state.class = CLASS_STATE;
    return value_new(g, state);
}

static int state_count(const Optimizer *o) {
    return o->kind != OPTIMIZER_SGD ? 2 : o->momentum != 0 ? 1 : 0;
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

void update(Program *program) {
    static const char *const adam_names[2] = {"m", "v"}, *const sgd_names[2] = {"momentum", ""};
    Graph *g = program->graph;
    if (program->kind != PROGRAM_TRAIN)
        return;
    const Optimizer *o = &program->model->train.optimizer;
    int nstate = state_count(o);
    int *order = NEW_ARRAY(g->pool, int, program->nparameter);
    int count = completion_order(program, order);
    if (count == 0)
        return;
    ValueId *operand[4], in[5] = {-1, -1, -1, -1, -1};
    for (int s = 0; s < 2 + nstate; s++)
        operand[s] = NEW_ARRAY(g->pool, ValueId, count);
    for (int i = 0; i < count; i++) {
        ValueId p = program->parameter[order[i]];
        operand[0][i] = p;
        operand[1][i] = program->gradient[order[i]];
        for (int s = 0; s < nstate; s++)
            operand[2 + s][i] = state_of(g, p, (o->kind == OPTIMIZER_SGD ? sgd_names : adam_names)[s]);
    }
    for (int s = 0; s < 2 + nstate; s++)
        in[s] = value_concat_like(g, operand[s], count, g->value[operand[s][0]]);
    Op op = o->kind == OPTIMIZER_SGD ? OP_SGD : OP_ADAM;
    int nin = g->operands[op].nin;
    if (program->options->stored == TYPE_F16)
        in[input_named(&g->operands[op], "scale")] = scale_losses(program, in[1]);
    node_new(g,
             (Node){.op = op,
                    .nin = nin,
                    .a = {.kind = ATTRIBUTES_UPDATE, .update = *o},
                    .name = op_table[op].name,
                    .span = program->model->train.span},
             in, NULL);
}
