/* operators_arithmetic.c - sums, differences, products and quotients of tensors, and of tensors and
 * numbers.
 *
 * requires   two values; one of them at least is a tensor
 * provides   a node with the name of the statement, and nodes that repeat a smaller operand
 */
#include "front/operator_build.h"
#include "front/operator_size.h"

static const Datum failed = {.kind = DATUM_ERROR};

/* A call as an operator between two expressions makes it; the word stands in its name. */
static Call call_of(Lower *l, const Expr *expr, const Signature *signature, Op op, const char *word) {
    const char *statement = l->slot->name;
    const char *name = statement == NULL ? word : pool_text(l->pool, "%s.%s", statement, word);
    Call call = {.l = l, .signature = signature, .op = op, .span = expr->span, .name = name};
    call.plan_name = (PlanName){l->frame->module, name, -1};
    return call;
}

/* ---- a tensor and a number ---- */

/* factor * x + term */
static Datum affine(Lower *l, const Expr *expr, ValueId x, double factor, double term) {
    const Signature signature = {.name = operator_text(expr->op)};
    const Call call = call_of(l, expr, &signature, OP_AFFINE, "affine");
    const Attributes a = {.kind = ATTRIBUTES_AFFINE, .affine = {.factor = factor, .term = term}};
    return charge(l, 1, expr->span) && is_numbers(l, x, expr->span)
               ? datum_tensor(each_segment(&call, x, a, l->graph->value[x].shape))
               : failed;
}

/* number / x */
static Datum divided_by(Lower *l, const Expr *expr, double number, ValueId x) {
    const Signature signature = {.name = operator_text(expr->op)};
    const Call call = call_of(l, expr, &signature, OP_RECIPROCAL, "reciprocal");
    const Attributes a = {.kind = ATTRIBUTES_MAP, .map.function = UNET_FUNCTION_RECIPROCAL};
    if (!charge(l, 1, expr->span) || !is_numbers(l, x, expr->span))
        return failed;
    const ValueId inverse = each_segment(&call, x, a, l->graph->value[x].shape);
    return number == 1 ? datum_tensor(inverse) : affine(l, expr, inverse, number, 0);
}

Datum negative_tensor(Lower *l, const Expr *expr, ValueId x) {
    return affine(l, expr, x, -1, 0);
}

bool tensor_and_number(Lower *l, const Expr *expr, ValueId x, double number, bool tensor_first,
                       Datum *result) {
    const double sign = expr->op == OPERATOR_SUBTRACT ? -1 : 1;
    switch (expr->op) {
    case OPERATOR_ADD:
    case OPERATOR_SUBTRACT:
        *result = tensor_first ? affine(l, expr, x, 1, sign * number) : affine(l, expr, x, sign, number);
        return true;
    case OPERATOR_MULTIPLY:
        *result = affine(l, expr, x, number, 0);
        return true;
    case OPERATOR_DIVIDE:
        if (tensor_first && number == 0)
            return false;
        *result = tensor_first ? affine(l, expr, x, 1 / number, 0) : divided_by(l, expr, number, x);
        return true;
    default:
        return false;
    }
}

/* ---- two tensors ---- */

static bool unequal_channels(const Pair *p, int64_t first, int64_t second) {
    Lower *l = p->l;
    diag_begin(l->diag, ERROR, "U0402", p->span,
               "`%s` needs equal channels, or one on a side: %lld and %lld", p->name, (long long)first,
               (long long)second);
    if (p->text_a != NULL && p->text_a->kind == EXPR_NAME)
        diag_help(l->diag, "make the channels equal with `conv(%s, %lld, 1)`", p->text_a->text,
                  (long long)second);
    else if (p->text_b != NULL && p->text_b->kind == EXPR_NAME)
        diag_help(l->diag, "make the channels equal with `conv(%s, %lld, 1)`", p->text_b->text,
                  (long long)first);
    note_via(l);
    diag_end(l->diag);
    return false;
}

static int64_t larger_of(int64_t a, int64_t b) {
    return a > b ? a : b;
}

/* The shape of a result: along each axis both operands have that extent, or one of them has 1. */
static bool common_shape(const Pair *p, Shape *common) {
    const Lower *l = p->l;
    const Shape a = l->graph->value[p->a].shape, b = l->graph->value[p->b].shape;
    bool sizes = a.rank == b.rank;
    *common = a;
    for (int k = 0; sizes && k < a.rank; k++)
        common->dim[k] = larger_of(a.dim[k], b.dim[k]);
    for (int axis = 0; axis < AXES; axis++) {
        const bool checked = l->only_axis < 0 || l->only_axis == axis;
        const int64_t first = shape_extent(a, axis), second = shape_extent(b, axis);
        sizes &= !checked || first == second || first == 1 || second == 1;
    }
    if (!sizes)
        return equal_sizes(p);
    return a.dim[0] == b.dim[0] || a.dim[0] == 1 || b.dim[0] == 1 ? true
                                                                  : unequal_channels(p, a.dim[0], b.dim[0]);
}

/* V in this shape. */
static ValueId repeated(Lower *l, const Expr *expr, ValueId v, Shape shape) {
    const Signature signature = {.name = "repeat"};
    const Call call = call_of(l, expr, &signature, OP_REPEAT, "repeat");
    return shape_equal(l->graph->value[v].shape, shape)
               ? v
               : node_append(&call, &v, 1, (Attributes){0}, output_new(&call, shape));
}

static bool repeat_smaller(const Pair *p, const Expr *expr, ValueId operand[2], Shape *common) {
    Lower *l = p->l;
    if (!common_shape(p, common))
        return false;
    operand[0] = repeated(l, expr, value_joined(l->graph, p->a, p->span), *common);
    operand[1] = repeated(l, expr, value_joined(l->graph, p->b, p->span), *common);
    return true;
}

/* May SMALL be a factor of LARGE without being repeated, as one number for each channel, or as a map of one
 * channel? */
static bool is_factor(const Lower *l, Shape large, Shape small) {
    bool points = large.rank == small.rank, one = points;
    for (int axis = 0; axis < AXES; axis++) {
        const bool checked = l->only_axis < 0 || l->only_axis == axis;
        points &= !checked || shape_extent(large, axis) == shape_extent(small, axis);
        one &= shape_extent(small, axis) == 1;
    }
    return (small.dim[0] == large.dim[0] && one) || (small.dim[0] == 1 && points);
}

static const struct {
    Op op;
    const char *word;
} arithmetic[] = {[OPERATOR_ADD] = {OP_ADD, "add"},
                  [OPERATOR_SUBTRACT] = {OP_SUBTRACT, "subtract"},
                  [OPERATOR_MULTIPLY] = {OP_MULTIPLY, "multiply"},
                  [OPERATOR_DIVIDE] = {OP_DIVIDE, "divide"}};

/* The result for two operands.  Both have the shape COMMON; the second operand of a product may be smaller.
 * A sum takes the place of an operand that was repeated for it. */
static Datum result_of(Lower *l, const Expr *expr, const ValueId operand[2], Shape common, bool swaps) {
    const Signature signature = {.name = operator_text(expr->op)};
    const Call call = call_of(l, expr, &signature, arithmetic[expr->op].op, arithmetic[expr->op].word);
    const ValueId in[2] = {operand[swaps], operand[!swaps]};
    return datum_tensor(node_append(&call, in, 2, (Attributes){0}, output_new(&call, common)));
}

Datum tensor_arithmetic(Lower *l, const Expr *expr, ValueId a, ValueId b) {
    const Shape first = l->graph->value[a].shape, second = l->graph->value[b].shape;
    const bool multiplies = expr->op == OPERATOR_MULTIPLY,
               commutes = multiplies || expr->op == OPERATOR_ADD;
    const bool swaps = multiplies && !is_factor(l, first, second) && is_factor(l, second, first);
    const Pair pair = {l, operator_text(expr->op), expr->span, a, b, expr->left, expr->right};
    const bool written = expr->left != NULL; /* not by sum() */
    Shape common = swaps ? second : first;
    if (!charge(l, 1, expr->span) || !is_numbers(l, a, written ? expr->left->span : expr->span) ||
        !is_numbers(l, b, written ? expr->right->span : expr->span))
        return failed;
    const ValueId joined[2] = {value_joined(l->graph, a, expr->span),
                               value_joined(l->graph, b, expr->span)};
    ValueId operand[2] = {joined[0], joined[1]};
    if (swaps || (multiplies && is_factor(l, first, second)))
        return result_of(l, expr, operand, common, swaps);
    if (!repeat_smaller(&pair, expr, operand, &common))
        return failed;
    return result_of(l, expr, operand, common,
                     commutes && operand[1] != joined[1] && operand[0] == joined[0]);
}

/* ---- the larger, the smaller ---- */

static ValueId extreme(Call *call, double larger) {
    Lower *l = call->l;
    Pair pair = {.l = l, .name = call->signature->name, .span = call->span};
    ValueId operand[2];
    Shape common;
    if (!argument_feature_map(call, "a", &pair.a) || !argument_feature_map(call, "b", &pair.b))
        return -1;
    pair.text_a = argument(call, "a")->expr;
    pair.text_b = argument(call, "b")->expr;
    const Attributes a = {.kind = ATTRIBUTES_MAP, .map.parameter = larger};
    return repeat_smaller(&pair, call->expr, operand, &common)
               ? node_append(call, operand, 2, a, output_new(call, common))
               : -1;
}

ValueId build_maximum(Call *call) {
    return extreme(call, 1);
}

ValueId build_minimum(Call *call) {
    return extreme(call, 0);
}
