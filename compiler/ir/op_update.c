/* op_update.c - optimisers: one sweep over all parameters, which lie side by side, as do their gradients
 * and the optimiser's state, in one order. */
#include "ir/rule_constants.h"
#include "ir/ops.h"

int64_t gradient_elements(const Graph *g, const Node *node) {
    const ValueId *segment;
    int n = value_segments(g, &node->in[1], &segment);
    int64_t count = 0;
    for (int p = 0; p < n; p++)
        count += shape_elements(g->value[segment[p]].shape);
    return count;
}

int64_t flops_loss_scale(const Graph *g, const Node *node) {
    return gradient_elements(g, node);
}

int64_t flops_sgd(const Graph *g, const Node *node) {
    return 4 * gradient_elements(g, node);
}

int64_t flops_adam(const Graph *g, const Node *node) {
    return 12 * gradient_elements(g, node);
}

/* PyTorch's: halved after an overflow, doubled after so many steps without one. */
void constants_loss_scale(Constants *c, const Node *node) {
    constant(c, "COUNT", constant_region_elements(c));
    constant(c, "BANDS", node->a.reduction.bands);
    constant(c, "GROWTH_INTERVAL", 2000);
    call_arguments(c, "", "");
}

void constants_update(Constants *c, const Node *node) {
    const Optimizer *o = &node->a.update;
    constant(c, "COUNT", constant_region_elements(c));
    constant(c, "SCALED", node->in[input_named(&constants_graph(c)->operands[node->op], "scale")] >= 0);
    constant_real(c, "WEIGHT_DECAY", o->weight_decay);
    if (o->kind == OPTIMIZER_SGD) {
        constant(c, "NESTEROV", o->nesterov);
        constant_real(c, "MOMENTUM", o->momentum);
        constant_real(c, "DAMPENING", o->dampening);
    } else {
        constant(c, "DECOUPLED", o->kind == OPTIMIZER_ADAMW);
        constant_real(c, "BETA1", o->beta1);
        constant_real(c, "BETA2", o->beta2);
        constant_real(c, "EPSILON", o->epsilon);
    }
    call_arguments(c, "", "step->learning_rate, step->step");
}

void constants_zero(Constants *c, const Node *node) {
    const Value *v = &constants_graph(c)->value[node->out[0]];
    call_arguments(c, "", "");
    call_number(c, shape_elements(v->shape) * type_bytes(v->type));
}
