/* lower_value.c - evaluates expressions.
 *
 * Values are 64-bit integers, doubles, truth values, texts and lists, with Python's arithmetic: `/` is
 * always a fraction, `//` and `%` round down, what does not fit is an error.  A tensor is a number of the
 * graph; adding two appends a node.  DATUM_ERROR means that something was reported already: whatever uses
 * it fails silently.
 */
#include "front/lower_state.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_RECURSION = 1000 };

static const Datum failed = {.kind = DATUM_ERROR};

Datum datum_integer(int64_t value) {
    return (Datum){.kind = DATUM_INTEGER, .integer = value};
}

Datum datum_tensor(ValueId value) {
    return value < 0 ? failed : (Datum){.kind = DATUM_TENSOR, .tensor = value};
}

static Datum datum_real(double value) {
    return (Datum){.kind = DATUM_REAL, .real = value};
}

static Datum datum_text_of(const char *text) {
    return (Datum){.kind = DATUM_TEXT, .text = text};
}

static Datum datum_truth(bool value) {
    return (Datum){.kind = DATUM_TRUTH, .integer = value};
}

Datum datum_list(Lower *l, const Datum *item, int count) {
    Items *items = NEW(l->pool, Items);
    for (int i = 0; i < count; i++)
        PUSH(l->pool, items->item, items->used, item[i]);
    return (Datum){.kind = DATUM_LIST, .count = count, .items = items};
}

bool datum_number(Datum d, double *number) {
    if (d.kind != DATUM_INTEGER && d.kind != DATUM_REAL)
        return false;
    *number = d.kind == DATUM_INTEGER ? (double)d.integer : d.real;
    return true;
}

static const char *tensor_text(Lower *l, ValueId id) {
    const Value *value = &l->graph->value[id];
    if (value->class == CLASS_STAGING && l->model->input[value->input].kind == KIND_LABELS)
        return pool_text(l->pool, "labels of %lld classes",
                         (long long)l->model->input[value->input].classes);
    if (value->type == TYPE_U8)
        return "a map of classes";
    const char *kind = value->class == CLASS_METRIC                            ? "a loss"
                       : !value->per_sample || value->shape.rank < SIGNAL_RANK ? "a vector"
                                                                               : map_text(value->shape);
    return pool_text(l->pool, "%s of %s", kind, shape_text(l->pool, value->shape));
}

const char *datum_text(Lower *l, Datum d) {
    switch (d.kind) {
    case DATUM_INTEGER:
        return "a number";
    case DATUM_REAL:
        return "a fraction";
    case DATUM_TRUTH:
        return "true or false";
    case DATUM_BYTES:
        return "a size in bytes";
    case DATUM_TEXT:
        return "a text";
    case DATUM_LIST:
        return "a list";
    case DATUM_TENSOR:
        return tensor_text(l, d.tensor);
    case DATUM_LOSS:
        return "a loss";
    case DATUM_ERROR:
    case DATUM_NONE:
        break;
    }
    return "nothing";
}

bool datum_true(Lower *l, Datum d, const Expr *expr) {
    switch (d.kind) {
    case DATUM_INTEGER:
    case DATUM_TRUTH:
        return d.integer != 0;
    case DATUM_REAL:
        return d.real != 0;
    case DATUM_TEXT:
        return *d.text != '\0';
    case DATUM_LIST:
        return d.count > 0;
    case DATUM_ERROR:
        return false;
    default:
        diag_begin(l->diag, ERROR, "U0308", expr->span, "a condition must be known while compiling");
        diag_label(l->diag, "%s", d.kind == DATUM_TENSOR ? "a tensor" : datum_text(l, d));
        diag_note(l->diag, "`if` and `for` run while compiling; they can depend on `let`s and shapes");
        note_via(l);
        diag_end(l->diag);
        return false;
    }
}

/* ---- errors ---- */

static Datum mismatch(Lower *l, const Expr *expr, Datum a, Datum b) {
    const char *op = operator_text(expr->op);
    if (a.kind == DATUM_ERROR || b.kind == DATUM_ERROR)
        return failed;
    if (a.kind == DATUM_TENSOR && b.kind == DATUM_TENSOR && l->section != NULL) {
        const char *x = expr_text(l->pool, expr->left), *y = expr_text(l->pool, expr->right);
        diag_begin(l->diag, ERROR, "U0607", expr->span, "a loss is one number, and this is %s",
                   datum_text(l, a));
        diag_help(l->diag, "did you mean `mse(%s, %s)` or `l1(%s, %s)`?", x, y, x, y);
    } else if (expr->op == OPERATOR_ADD && (a.kind == DATUM_LIST) != (b.kind == DATUM_LIST)) {
        const Expr *single = a.kind == DATUM_LIST ? expr->right : expr->left;
        diag_begin(l->diag, ERROR, "U0319", expr->mark, "`+` does not work between %s and %s",
                   datum_text(l, a), datum_text(l, b));
        if (single != NULL)
            diag_help(l->diag, "in a list it is `[%s]`", expr_text(l->pool, single));
    } else if (a.kind == DATUM_TENSOR || b.kind == DATUM_TENSOR) {
        diag_begin(l->diag, ERROR, "U0202", expr->mark,
                   "`%s` between %s and %s is not in this version of unetc", op, datum_text(l, a),
                   datum_text(l, b));
        diag_note(l->diag, "tensors can be added, subtracted, multiplied and divided, by each other and by "
                           "numbers that are not 0");
    } else {
        diag_begin(l->diag, ERROR, "U0319", expr->mark, "`%s` does not work between %s and %s", op,
                   datum_text(l, a), datum_text(l, b));
    }
    note_via(l);
    diag_end(l->diag);
    return failed;
}

static Datum overflow(Lower *l, const Expr *expr) {
    diag_begin(l->diag, ERROR, "U0318", expr->span, "the result does not fit in 64 bits");
    note_via(l);
    diag_end(l->diag);
    return failed;
}

static Datum division_by_zero(Lower *l, const Expr *expr) {
    diag_begin(l->diag, ERROR, "U0312", expr->mark, "division by zero");
    const Expr *divisor = expr_inside(expr->right);
    while (divisor->kind == EXPR_BINARY || divisor->kind == EXPR_UNARY)
        divisor = expr_inside(divisor->left);
    const Binding *binding = divisor->kind == EXPR_NAME ? find_binding(l->frame, divisor->text) : NULL;
    if (binding == NULL && divisor->kind == EXPR_NAME)
        binding = find_binding(l->file, divisor->text);
    if (binding != NULL && binding->value.kind == DATUM_INTEGER)
        diag_note(l->diag, "`%s` is %lld (line %d)", binding->name, (long long)binding->value.integer,
                  binding->span.line);
    note_via(l);
    diag_end(l->diag);
    return failed;
}

/* ---- numbers ---- */

static int64_t floor_divide(int64_t a, int64_t b) {
    int64_t quotient = a / b;
    return quotient - (a % b != 0 && (a < 0) != (b < 0));
}

static Datum integer_power(Lower *l, const Expr *expr, int64_t base, int64_t exponent) {
    if (exponent < 0)
        return base == 0 ? division_by_zero(l, expr) : datum_real(pow((double)base, (double)exponent));
    int64_t result = 1;
    for (bool fits = true; exponent > 0; exponent >>= 1) {
        if (!fits || ((exponent & 1) != 0 && __builtin_mul_overflow(result, base, &result)))
            return overflow(l, expr);
        fits = exponent == 1 || !__builtin_mul_overflow(base, base, &base);
    }
    return datum_integer(result);
}

static Datum integer_arithmetic(Lower *l, const Expr *expr, int64_t a, int64_t b) {
    int64_t result = 0;
    bool wrong = false;
    switch (expr->op) {
    case OPERATOR_ADD:
        wrong = __builtin_add_overflow(a, b, &result);
        break;
    case OPERATOR_SUBTRACT:
        wrong = __builtin_sub_overflow(a, b, &result);
        break;
    case OPERATOR_MULTIPLY:
        wrong = __builtin_mul_overflow(a, b, &result);
        break;
    case OPERATOR_FLOOR_DIVIDE:
    case OPERATOR_MODULO:
        if (b == 0)
            return division_by_zero(l, expr);
        if (b == -1) /* the one quotient that may not fit */
            wrong = expr->op == OPERATOR_FLOOR_DIVIDE && __builtin_sub_overflow(0, a, &result);
        else
            result = expr->op == OPERATOR_MODULO ? a - floor_divide(a, b) * b : floor_divide(a, b);
        break;
    default:
        return integer_power(l, expr, a, b);
    }
    return wrong ? overflow(l, expr) : datum_integer(result);
}

static Datum real_arithmetic(Lower *l, const Expr *expr, double a, double b) {
    double result = 0;
    bool divides =
        expr->op == OPERATOR_DIVIDE || expr->op == OPERATOR_FLOOR_DIVIDE || expr->op == OPERATOR_MODULO;
    if (b == 0 && divides)
        return division_by_zero(l, expr);
    switch (expr->op) {
    case OPERATOR_ADD:
        result = a + b;
        break;
    case OPERATOR_SUBTRACT:
        result = a - b;
        break;
    case OPERATOR_MULTIPLY:
        result = a * b;
        break;
    case OPERATOR_DIVIDE:
        result = a / b;
        break;
    case OPERATOR_FLOOR_DIVIDE:
        result = floor(a / b);
        break;
    case OPERATOR_MODULO:
        result = a - floor(a / b) * b;
        break;
    default:
        result = pow(a, b);
    }
    return isfinite(result) ? datum_real(result) : overflow(l, expr);
}

static bool compare(Operator op, double a, double b) {
    switch (op) {
    case OPERATOR_EQUAL:
        return a == b;
    case OPERATOR_UNEQUAL:
        return a != b;
    case OPERATOR_LESS:
        return a < b;
    case OPERATOR_LESS_EQUAL:
        return a <= b;
    case OPERATOR_GREATER:
        return a > b;
    default:
        return a >= b;
    }
}

/* Beyond 2^53 doubles lose digits, so two integers are compared as such. */
static Datum comparison(Lower *l, const Expr *expr, Datum a, Datum b) {
    double x, y;
    bool equality = expr->op == OPERATOR_EQUAL || expr->op == OPERATOR_UNEQUAL;
    if (a.kind == DATUM_INTEGER && b.kind == DATUM_INTEGER)
        return datum_truth(
            compare(expr->op, (double)((a.integer > b.integer) - (a.integer < b.integer)), 0));
    if (datum_number(a, &x) && datum_number(b, &y))
        return datum_truth(compare(expr->op, x, y));
    if (a.kind == DATUM_TRUTH && b.kind == DATUM_TRUTH && equality)
        return datum_truth(compare(expr->op, (double)a.integer, (double)b.integer));
    if (a.kind == DATUM_TEXT && b.kind == DATUM_TEXT && equality)
        return datum_truth(compare(expr->op, strcmp(a.text, b.text) != 0, 0));
    return mismatch(l, expr, a, b);
}

/* ---- losses ---- */

/* The terms of A, then the terms of B times FACTOR. */
static Datum loss_sum(Lower *l, Datum a, Datum b, double factor) {
    LossTerm *term = NEW_ARRAY(l->pool, LossTerm, a.count + b.count);
    for (int i = 0; i < a.count; i++)
        term[i] = a.term[i];
    for (int i = 0; i < b.count; i++) {
        term[a.count + i] = b.term[i];
        term[a.count + i].weight *= factor;
    }
    return (Datum){.kind = DATUM_LOSS, .count = a.count + b.count, .term = term};
}

static Datum scaled_loss(Lower *l, Datum loss, double factor) {
    return loss_sum(l, (Datum){.kind = DATUM_LOSS}, loss, factor);
}

static Datum loss_arithmetic(Lower *l, const Expr *expr, Datum a, Datum b) {
    double factor;
    if (a.kind == DATUM_LOSS && b.kind == DATUM_LOSS) {
        if (expr->op == OPERATOR_ADD)
            return loss_sum(l, a, b, 1);
        if (expr->op == OPERATOR_SUBTRACT)
            return loss_sum(l, a, b, -1);
    }
    if (expr->op == OPERATOR_MULTIPLY && datum_number(a, &factor))
        return scaled_loss(l, b, factor);
    if (expr->op == OPERATOR_MULTIPLY && datum_number(b, &factor))
        return scaled_loss(l, a, factor);
    if (expr->op == OPERATOR_DIVIDE && datum_number(b, &factor))
        return factor == 0 ? division_by_zero(l, expr) : scaled_loss(l, a, 1 / factor);
    return mismatch(l, expr, a, b);
}

/* ---- texts ---- */

enum { MAX_TEXT = 4096 };

static Datum report_long_text(Lower *l, const Expr *expr) {
    diag_begin(l->diag, ERROR, "U0320", expr->span, "this text has more than %d bytes", MAX_TEXT);
    note_via(l);
    diag_end(l->diag);
    return failed;
}

static Datum text_joined(Lower *l, const Expr *expr, const char *a, const char *b) {
    const size_t length = strlen(a) + strlen(b);
    if (length > MAX_TEXT)
        return report_long_text(l, expr);
    return charge(l, (int)length, expr->span) ? datum_text_of(pool_text(l->pool, "%s%s", a, b)) : failed;
}

/* TEXT, so many times; nothing for 0 and less, as in Python. */
static Datum text_repeated(Lower *l, const Expr *expr, const char *text, int64_t times) {
    const size_t length = strlen(text);
    if (length == 0 || times <= 0)
        return datum_text_of("");
    if (times > MAX_TEXT / (int64_t)length)
        return report_long_text(l, expr);
    const size_t count = length * (size_t)times;
    char *all = NEW_ARRAY(l->pool, char, count + 1);
    for (size_t i = 0; i < count; i++)
        all[i] = text[i % length];
    return charge(l, (int)count, expr->span) ? datum_text_of(all) : failed;
}

/* The shortest digits that are read as the same number. */
static const char *real_text(Lower *l, double number) {
    for (int digits = 1; digits < 17; digits++) {
        const char *text = pool_text(l->pool, "%.*g", digits, number);
        if (strtod(text, NULL) == number)
            return text;
    }
    return pool_text(l->pool, "%.17g", number);
}

/* Returns the digits or the word for ITEM in a text; NULL: ITEM has no text. */
static const char *text_for(Lower *l, Datum item) {
    return item.kind == DATUM_TEXT      ? item.text
           : item.kind == DATUM_INTEGER ? pool_text(l->pool, "%lld", (long long)item.integer)
           : item.kind == DATUM_REAL    ? real_text(l, item.real)
           : item.kind == DATUM_TRUTH   ? (item.integer ? "true" : "false")
                                        : NULL;
}

static Datum eval_filled(Lower *l, const Expr *expr) {
    Datum all = datum_text_of("");
    for (int i = 0; i < expr->items.count && all.kind == DATUM_TEXT; i++) {
        const Expr *part = expr->items.item[i];
        const Datum item = eval(l, part);
        const char *text = text_for(l, item);
        if (item.kind == DATUM_ERROR)
            return failed;
        if (text == NULL) {
            diag_begin(l->diag, ERROR, "U0503", part->span,
                       "a text takes numbers and texts, and this is %s", datum_text(l, item));
            note_via(l);
            diag_end(l->diag);
            return failed;
        }
        all = text_joined(l, expr, all.text, text);
    }
    return all;
}

/* ---- operations ---- */

Datum append(Lower *l, Datum a, Datum b, Span span) {
    if (!charge(l, b.count, span))
        return failed;
    if (a.items->used != a.count) { /* somebody else has appended here already */
        if (!charge(l, a.count, span))
            return failed;
        a = datum_list(l, a.items->item, a.count);
    }
    for (int i = 0; i < b.count; i++)
        PUSH(l->pool, a.items->item, a.items->used, b.items->item[i]);
    a.count += b.count;
    return a;
}

/* In a section the difference of two tensors is most often meant as a loss. */
static bool takes_tensors(const Lower *l, Operator op) {
    return op == OPERATOR_ADD || op == OPERATOR_MULTIPLY ||
           ((op == OPERATOR_SUBTRACT || op == OPERATOR_DIVIDE) && l->section == NULL);
}

Datum apply_binary(Lower *l, const Expr *expr, Datum a, Datum b) {
    Datum result;
    double x, y;
    if (a.kind == DATUM_ERROR || b.kind == DATUM_ERROR)
        return failed;
    if (expr->op >= OPERATOR_EQUAL && expr->op <= OPERATOR_GREATER_EQUAL)
        return comparison(l, expr, a, b);
    if (takes_tensors(l, expr->op) && a.kind == DATUM_TENSOR && b.kind == DATUM_TENSOR)
        return tensor_arithmetic(l, expr, a.tensor, b.tensor);
    if (a.kind == DATUM_TENSOR && datum_number(b, &y) &&
        tensor_and_number(l, expr, a.tensor, y, true, &result))
        return result;
    if (b.kind == DATUM_TENSOR && datum_number(a, &x) &&
        tensor_and_number(l, expr, b.tensor, x, false, &result))
        return result;
    if (expr->op == OPERATOR_ADD && a.kind == DATUM_LIST && b.kind == DATUM_LIST)
        return append(l, a, b, expr->span);
    if (expr->op == OPERATOR_ADD && a.kind == DATUM_TEXT && b.kind == DATUM_TEXT)
        return text_joined(l, expr, a.text, b.text);
    if (expr->op == OPERATOR_MULTIPLY && a.kind == DATUM_TEXT && b.kind == DATUM_INTEGER)
        return text_repeated(l, expr, a.text, b.integer);
    if (expr->op == OPERATOR_MULTIPLY && a.kind == DATUM_INTEGER && b.kind == DATUM_TEXT)
        return text_repeated(l, expr, b.text, a.integer);
    if (a.kind == DATUM_LOSS || b.kind == DATUM_LOSS)
        return loss_arithmetic(l, expr, a, b);
    if (a.kind == DATUM_INTEGER && b.kind == DATUM_INTEGER && expr->op != OPERATOR_DIVIDE)
        return integer_arithmetic(l, expr, a.integer, b.integer);
    if (datum_number(a, &x) && datum_number(b, &y))
        return real_arithmetic(l, expr, x, y);
    return mismatch(l, expr, a, b);
}

static Datum eval_binary(Lower *l, const Expr *expr) {
    Datum a = eval(l, expr->left);
    if (expr->op == OPERATOR_OR || expr->op == OPERATOR_AND) {
        if (a.kind == DATUM_ERROR)
            return failed;
        return datum_true(l, a, expr->left) == (expr->op == OPERATOR_OR) ? a : eval(l, expr->right);
    }
    Datum b = eval(l, expr->right);
    return apply_binary(l, expr, a, b);
}

static Datum eval_unary(Lower *l, const Expr *expr) {
    Datum a = eval(l, expr->left);
    if (a.kind == DATUM_ERROR)
        return failed;
    if (expr->op == OPERATOR_NOT)
        return datum_truth(!datum_true(l, a, expr->left));
    int64_t negative;
    if (a.kind == DATUM_INTEGER)
        return __builtin_sub_overflow(0, a.integer, &negative) ? overflow(l, expr)
                                                               : datum_integer(negative);
    if (a.kind == DATUM_REAL)
        return datum_real(-a.real);
    if (a.kind == DATUM_LOSS)
        return scaled_loss(l, a, -1);
    if (a.kind == DATUM_TENSOR)
        return negative_tensor(l, expr, a.tensor);
    diag_begin(l->diag, ERROR, "U0319", expr->mark, "`-` does not work on %s", datum_text(l, a));
    note_via(l);
    diag_end(l->diag);
    return failed;
}

static Datum eval_index(Lower *l, const Expr *expr) {
    Datum list = eval(l, expr->left), index = eval(l, expr->right);
    if (list.kind == DATUM_ERROR || index.kind == DATUM_ERROR)
        return failed;
    if (list.kind != DATUM_LIST || index.kind != DATUM_INTEGER) {
        bool wrong_list = list.kind != DATUM_LIST;
        diag_begin(l->diag, ERROR, "U0319", wrong_list ? expr->left->span : expr->right->span,
                   wrong_list ? "only a list has elements, and this is %s"
                              : "an index is a whole number, and this is %s",
                   datum_text(l, wrong_list ? list : index));
        if (list.kind == DATUM_TENSOR)
            diag_help(l->diag, "`chunk(%s, n)` is a list of n equal parts of its channels",
                      expr_text(l->pool, expr->left));
        note_via(l);
        diag_end(l->diag);
        return failed;
    }
    int64_t at = index.integer < 0 ? index.integer + list.count : index.integer;
    if (at >= 0 && at < list.count)
        return list.items->item[at];
    diag_begin(l->diag, ERROR, "U0309", expr->span, "the list has %d element%s, so there is no `%s[%lld]`",
               list.count, list.count == 1 ? "" : "s", expr_text(l->pool, expr->left),
               (long long)index.integer);
    note_via(l);
    diag_end(l->diag);
    return failed;
}

static Datum eval_list(Lower *l, const Expr *expr) {
    if (!charge(l, expr->items.count, expr->span))
        return failed;
    Datum *item = NEW_ARRAY(l->pool, Datum, expr->items.count);
    bool good = true;
    for (int i = 0; i < expr->items.count; i++) {
        item[i] = eval(l, expr->items.item[i]);
        good &= item[i].kind != DATUM_ERROR;
    }
    return good ? datum_list(l, item, expr->items.count) : failed;
}

static Datum eval_choice(Lower *l, const Expr *expr) {
    Datum condition = eval(l, expr->condition);
    if (condition.kind == DATUM_ERROR || condition.kind == DATUM_TENSOR) {
        datum_true(l, condition, expr->condition);
        return failed;
    }
    return eval(l, datum_true(l, condition, expr->condition) ? expr->left : expr->right);
}

static Datum eval_here(Lower *l, const Expr *expr) {
    switch (expr->kind) {
    case EXPR_NAME:
        return look_up(l, expr->text, expr->span);
    case EXPR_INTEGER:
        return datum_integer(expr->integer);
    case EXPR_REAL:
        return datum_real(expr->real);
    case EXPR_BYTES:
        return (Datum){.kind = DATUM_BYTES, .integer = expr->integer};
    case EXPR_TEXT:
        return expr->items.count == 0 ? datum_text_of(expr->text) : eval_filled(l, expr);
    case EXPR_TRUTH:
        return datum_truth(expr->integer != 0);
    case EXPR_LIST:
        return eval_list(l, expr);
    case EXPR_GROUP:
        return eval(l, expr->left);
    case EXPR_CALL:
        return eval_call(l, expr);
    case EXPR_CHAIN:
        return eval_chain(l, expr, false);
    case EXPR_INDEX:
        return eval_index(l, expr);
    case EXPR_UNARY:
        return eval_unary(l, expr);
    case EXPR_BINARY:
        return eval_binary(l, expr);
    case EXPR_CHOICE:
        return eval_choice(l, expr);
    }
    return failed;
}

Datum eval(Lower *l, const Expr *expr) {
    if (l->stop)
        return failed;
    if (l->depth == MAX_RECURSION) {
        diag_begin(l->diag, ERROR, "U0116", expr->span, "this is nested too deeply");
        diag_help(l->diag, "give a part of it a name, in a statement of its own");
        diag_end(l->diag);
        l->stop = true;
        return failed;
    }
    l->depth++;
    Datum result = eval_here(l, expr);
    l->depth--;
    return result;
}
