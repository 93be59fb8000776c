/* operators_arithmetic.c - sums, differences and products of tensors, and of tensors and numbers.
 *
 * requires   two values of which one at least is a tensor
 * provides   a node with the name of the statement
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
        if (tensor_first && number != 0)
            *result = affine(l, expr, x, 1 / number, 0);
        return tensor_first && number != 0;
    default:
        return false;
    }
}

/* ---- two tensors ---- */

static Datum unequal_channels(Lower *l, const Expr *expr, Shape first, Shape second) {
    diag_begin(l->diag, ERROR, "U0402", expr->span, "`%s` needs equal channels: %lld and %lld",
               operator_text(expr->op), (long long)first.dim[0], (long long)second.dim[0]);
    if (expr->left != NULL && expr->left->kind == EXPR_NAME)
        diag_help(l->diag, "make the channels equal with `conv(%s, %lld, 1)`", expr->left->text,
                  (long long)second.dim[0]);
    else if (expr->right != NULL && expr->right->kind == EXPR_NAME)
        diag_help(l->diag, "make the channels equal with `conv(%s, %lld, 1)`", expr->right->text,
                  (long long)first.dim[0]);
    note_via(l);
    diag_end(l->diag);
    return failed;
}

/* May SMALL be a factor of LARGE, as one number for each channel, or as a map of one channel? */
static bool is_factor(const Lower *l, Shape large, Shape small) {
    bool points = large.rank == small.rank, one = points;
    for (int axis = 0; axis < AXES; axis++) {
        const bool checked = l->only_axis < 0 || l->only_axis == axis;
        points &= !checked || shape_extent(large, axis) == shape_extent(small, axis);
        one &= shape_extent(small, axis) == 1;
    }
    return (small.dim[0] == large.dim[0] && one) || (small.dim[0] == 1 && points);
}

static Op op_of(Operator op) {
    return op == OPERATOR_ADD ? OP_ADD : op == OPERATOR_SUBTRACT ? OP_SUBTRACT : OP_MULTIPLY;
}

Datum tensor_arithmetic(Lower *l, const Expr *expr, ValueId a, ValueId b) {
    const Shape first = l->graph->value[a].shape, second = l->graph->value[b].shape;
    const bool multiplies = expr->op == OPERATOR_MULTIPLY;
    const bool swaps = multiplies && !is_factor(l, first, second) && is_factor(l, second, first);
    const Pair pair = {l, operator_text(expr->op), expr->span, a, b, expr->left, expr->right};
    const bool written = expr->left != NULL; /* not by sum() */
    if (!charge(l, 1, expr->span) || !is_numbers(l, a, written ? expr->left->span : expr->span) ||
        !is_numbers(l, b, written ? expr->right->span : expr->span))
        return failed;
    if (!multiplies || !(is_factor(l, first, second) || swaps)) {
        if (!equal_sizes(&pair))
            return failed;
        if (first.dim[0] != second.dim[0])
            return unequal_channels(l, expr, first, second);
    }
    const char *word = multiplies ? "multiply" : expr->op == OPERATOR_ADD ? "add" : "subtract";
    const Signature signature = {.name = pair.name};
    const Call call = call_of(l, expr, &signature, op_of(expr->op), word);
    const ValueId operands[] = {value_joined(l->graph, swaps ? b : a, expr->span),
                                value_joined(l->graph, swaps ? a : b, expr->span)};
    return datum_tensor(
        node_append(&call, operands, 2, (Attributes){0}, output_new(&call, swaps ? second : first)));
}
