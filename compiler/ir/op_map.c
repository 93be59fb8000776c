/* op_map.c - operators that work point by point: relu and others like it, add, and their gradients. */
#include "ir/rule_gradient.h"
#include "ir/rule_constants.h"
#include "ir/rule_fuse.h"

#include <ctype.h>

/* GRADIENT reads y, not x: x need not be kept, and y may take its place. */
static void gradient_by_output(Autodiff *ad, const Node *node, Op gradient, ValueId dy, ValueId *dx) {
    const ValueId in[2] = {node->out[0], dy};
    *dx = gradient_value(ad, node->in[0]);
    gradient_node(ad, node, gradient, node->a, in, 2, dx, 1);
}

void gradient_relu(Autodiff *ad, const Node *node, const ValueId *dout, ValueId *din) {
    gradient_by_output(ad, node, OP_RELU_GRAD, dout[0], &din[0]);
}

/* If the slope is not negative, y is positive exactly where x is. */
void gradient_leaky_relu(Autodiff *ad, const Node *node, const ValueId *dout, ValueId *din) {
    gradient_by_output(ad, node, OP_LEAKY_RELU_GRAD, dout[0], &din[0]);
}

void gradient_sigmoid(Autodiff *ad, const Node *node, const ValueId *dout, ValueId *din) {
    gradient_by_output(ad, node, OP_SIGMOID_GRAD, dout[0], &din[0]);
}

void gradient_tanh(Autodiff *ad, const Node *node, const ValueId *dout, ValueId *din) {
    gradient_by_output(ad, node, OP_TANH_GRAD, dout[0], &din[0]);
}

void gradient_softmax(Autodiff *ad, const Node *node, const ValueId *dout, ValueId *din) {
    gradient_by_output(ad, node, OP_SOFTMAX_GRAD, dout[0], &din[0]);
}

/* Two points have the same y, so GRADIENT takes x. */
static void gradient_by_input(Autodiff *ad, const Node *node, Op gradient, ValueId dy, ValueId *dx) {
    const ValueId in[2] = {node->in[0], dy};
    *dx = gradient_value(ad, node->in[0]);
    gradient_node(ad, node, gradient, node->a, in, 2, dx, 1);
}

void gradient_silu(Autodiff *ad, const Node *node, const ValueId *dout, ValueId *din) {
    gradient_by_input(ad, node, OP_SILU_GRAD, dout[0], &din[0]);
}

void gradient_gelu(Autodiff *ad, const Node *node, const ValueId *dout, ValueId *din) {
    gradient_by_input(ad, node, OP_GELU_GRAD, dout[0], &din[0]);
}

/* The slope of some functions follows from the value, the slope of others from the argument. */
void gradient_function_by_value(Autodiff *ad, const Node *node, const ValueId *dout, ValueId *din) {
    gradient_by_output(ad, node, OP_FUNCTION_GRAD, dout[0], &din[0]);
}

void gradient_function(Autodiff *ad, const Node *node, const ValueId *dout, ValueId *din) {
    gradient_by_input(ad, node, OP_FUNCTION_GRAD, dout[0], &din[0]);
}

/* The gradient of a sum is the same for both sides: one value, read twice. */
void gradient_add(Autodiff *ad, const Node *node, const ValueId *dout, ValueId *din) {
    for (int k = 0; k < 2; k++)
        din[k] = gradient_wanted(ad, node->in[k]) ? dout[0] : -1;
}

int64_t flops_points(const Graph *g, const Node *node) {
    return shape_elements(g->value[node->in[0]].shape);
}

/* The name of an operand's layout in a template: the operand's name in capitals. */
static const char *layout_name(const Graph *g, const Operand *operand) {
    char *name = NEW_ARRAY(g->pool, char, operand->length + 1);
    for (int i = 0; i < operand->length; i++)
        name[i] = (char)toupper((unsigned char)operand->name[i]);
    return name;
}

/* All operands have one shape; only their halos may differ. */
void constants_map(Constants *c, const Node *node) {
    const Graph *g = constants_graph(c);
    const Operands *row = &g->operands[node->op];
    bool batched = g->value[node->out[0]].per_sample;
    constant_channels(c, "C", node->out[0]);
    constant_extents(c, "", node->out[0]);
    constant_layout(c, layout_name(g, &row->out[0]), node->out[0]);
    for (int k = 0; k < node->nin; k++)
        constant_layout(c, layout_name(g, &row->in[k]), node->in[k]);
    call_rows(c, node->out[0]);
    constant(c, "PARAMETERS", !batched);
    if (!batched)
        call_arguments(c, "1", ""); /* parameters: one "sample" */
}

void constants_softmax(Constants *c, const Node *node) {
    constants_map(c, node);
    constant(c, "GROUPS", node->a.norm.groups);
}

void constants_leaky_relu(Constants *c, const Node *node) {
    constants_map(c, node);
    constant_real(c, "SLOPE", node->a.map.parameter);
}

void constants_function(Constants *c, const Node *node) {
    constants_map(c, node);
    constant(c, "WHICH", node->a.map.function);
    constant_real(c, "FIRST_NUMBER", node->a.map.parameter);
    constant_real(c, "SECOND_NUMBER", node->a.map.second);
}

/* Functions without numbers of their own. */
static const struct {
    Op op;
    UnetFunction function;
} plain[] = {
    {OP_SQRT, UNET_FUNCTION_SQRT},
    {OP_EXP, UNET_FUNCTION_EXP},
    {OP_LOG, UNET_FUNCTION_LOG},
    {OP_SIN, UNET_FUNCTION_SIN},
    {OP_COS, UNET_FUNCTION_COS},
    {OP_ABS, UNET_FUNCTION_ABS},
    {OP_SQUARE, UNET_FUNCTION_SQUARE},
    {OP_RELU6, UNET_FUNCTION_RELU6},
    {OP_HARD_SIGMOID, UNET_FUNCTION_HARD_SIGMOID},
    {OP_HARD_SWISH, UNET_FUNCTION_HARD_SWISH},
    {OP_MISH, UNET_FUNCTION_MISH},
};

UnetFunction plain_function(Op op) {
    size_t i = 0;
    while (plain[i].op != op)
        i++;
    return plain[i].function;
}

void constants_cast(Constants *c, const Node *node) {
    constant_channels(c, "C", node->out[0]);
    constant_extents(c, "", node->out[0]);
    constant_layout(c, "Y", node->out[0]);
    constant_layout(c, "X", node->in[0]);
    constant_staged(c, "X_STAGED", node->in[0]);
    call_rows(c, node->out[0]);
}

/* ---- dropout ---- */

/* The dropped elements are not kept: the numbers follow from the step, the sample and the operator, so that
 * the same operator finds them again, here and wherever a plan computes y anew. */
void gradient_dropout(Autodiff *ad, const Node *node, const ValueId *dout, ValueId *din) {
    din[0] = gradient_value(ad, node->in[0]);
    gradient_node(ad, node, node->op, node->a, dout, 1, &din[0], 1);
}

void constants_dropout(Constants *c, const Node *node) {
    constants_map(c, node);
    constant_real(c, "RATE", node->a.dropout.rate);
    constant(c, "NUMBER", node->a.dropout.number);
    constant(c, "BY_CHANNEL", node->op == OP_DROPOUT_CHANNELS);
    call_arguments(c, "n, start, step->step, step->seed", "");
}

/* ---- fusion ---- */

/* A normalisation whose one reader is ACTIVATION applies it, with SLOPE below zero. */
static void fuse_into_norm(Fuse *f, const Node *activation, double slope) {
    Node *norm = fuse_only_for_one(f, activation->in[0]);
    if (norm == NULL || !is_normalisation(norm) || norm->a.norm.leaky)
        return;
    norm->a.norm.leaky = true;
    norm->a.norm.slope = slope;
    fuse_take_over(f, norm, activation);
}

void fuse_leaky_relu(Fuse *f, Node *leaky_relu) {
    fuse_into_norm(f, leaky_relu, leaky_relu->a.map.parameter);
}

void fuse_relu(Fuse *f, Node *relu) {
    Node *conv = fuse_only_for_one(f, relu->in[0]);
    if (conv == NULL || (conv->op != OP_CONV && conv->op != OP_UPCONV) || conv->a.conv.relu) {
        fuse_into_norm(f, relu, 0);
        return;
    }
    conv->a.conv.relu = true;
    fuse_take_over(f, conv, relu);
}

/* The gradients of a normalisation take the mask, which would be a pass of its own behind a convolution. */
static bool goes_into_norm(const Fuse *f, const Node *relu_grad) {
    const NodeId *reader;
    return fuse_fits(f, relu_grad) && norm_behind(fuse_graph(f), relu_grad) != NULL &&
           fuse_readers(f, relu_grad->out[0], &reader) == 2;
}

void fuse_relu_grad(Fuse *f, Node *relu_grad) {
    Node *gradient = fuse_only_for_one(f, relu_grad->in[1]);
    ValueId y = relu_grad->in[0];
    if (gradient == NULL)
        return;
    if (gradient->op == OP_MAX_POOL_GRAD && gradient->in[0] == y && !gradient->a.pool.mask) {
        gradient->a.pool.mask = true;
        fuse_take_over(f, gradient, relu_grad);
    } else if (gradient->op == OP_HEAD && gradient->in[0] == y && !gradient->a.head.mask) {
        gradient->a.head.mask = true;
        fuse_take_over(f, gradient, relu_grad);
    } else if ((gradient->op == OP_CONV_DGRAD || gradient->op == OP_UPCONV_DGRAD) &&
               !gradient->a.conv.mask && !goes_into_norm(f, relu_grad) &&
               fuse_graph(f)->value[y].producer < gradient - fuse_graph(f)->node) {
        gradient->a.conv.mask = true;
        gradient->in[2] = y;
        fuse_take_over(f, gradient, relu_grad);
    }
}

/* A target's convolution may add to the other term, if that is there first: the convolution stays where it
 * is. */
static bool is_dgrad_that_adds(const Fuse *f, const Node *term, ValueId other) {
    const Graph *g = fuse_graph(f);
    return (term->op == OP_CONV_DGRAD || term->op == OP_UPCONV_DGRAD) && !term->a.conv.mask &&
           !term->a.conv.adds && fuse_fits(f, term) && g->value[other].producer < term - g->node;
}

/* Has TERM a kernel that adds what it computes to its last input, and nothing there yet? */
static bool adds_to_another(const Fuse *f, const Node *term, ValueId other) {
    return term->op == OP_MAX_POOL_GRAD ? !term->a.pool.adds && !term->a.pool.mask
           : term->op == OP_SLICE_GRAD  ? term->in[1] < 0
                                        : is_dgrad_that_adds(f, term, other);
}

/* TERM, whose last input is OTHER. */
static Node sum_of_terms(const Fuse *f, const Node *term, ValueId other) {
    Node sum = *term;
    if (term->op == OP_MAX_POOL_GRAD)
        sum.a.pool.adds = true;
    if (term->a.kind == ATTRIBUTES_CONV) {
        sum.a.conv.adds = true;
        node_add_input(fuse_graph(f), &sum, other);
    } else {
        sum.in[term->nin - 1] = other;
    }
    return sum;
}

/* The sum takes place where `add` stood, when both terms are there. */
void fuse_add(Fuse *f, Node *add) {
    for (int k = 1; k >= 0; k--) {
        Node *term = fuse_only_for_one(f, add->in[k]);
        if (term == NULL || !adds_to_another(f, term, add->in[1 - k]))
            continue;
        Node fused = sum_of_terms(f, term, add->in[1 - k]);
        fused.out[0] = add->out[0];
        fuse_drop(f, term);
        *add = fused;
        return;
    }
}
