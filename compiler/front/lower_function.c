/* lower_function.c - the functions on values: range, reversed, len, min, max, sum, int, pop, channels,
 * size, zip, enumerate. */
#include "front/lower_state.h"

#include <limits.h>
#include <math.h>
#include <string.h>

enum { MAX_RANGE = 100000 };

static const Datum failed = {.kind = DATUM_ERROR};

/* ---- errors ---- */

static Datum wrong_count(Lower *l, const Expr *call, const char *takes, int count) {
    diag_begin(l->diag, ERROR, "U0302", call->span, "`%s` takes %s, found %d", call->text, takes, count);
    note_via(l);
    diag_end(l->diag);
    return failed;
}

static Datum wrong_type(Lower *l, const Expr *call, const char *wanted, Datum found) {
    diag_begin(l->diag, ERROR, "U0319", call->span, "`%s` takes %s, and this is %s", call->text, wanted,
               datum_text(l, found));
    note_via(l);
    diag_end(l->diag);
    return failed;
}

/* ---- lists ---- */

static Datum make_range(Lower *l, const Expr *call, int64_t from, int64_t to, int64_t step) {
    Items *items = NEW(l->pool, Items);
    for (int64_t i = from; step > 0 ? i < to : i > to;) {
        if (items->used == MAX_RANGE || !charge(l, 1, call->span)) {
            diag_begin(l->diag, ERROR, "U0314", call->span, "the range has more than 100,000 elements");
            note_via(l);
            diag_end(l->diag);
            return failed;
        }
        PUSH(l->pool, items->item, items->used, datum_integer(i));
        if (__builtin_add_overflow(i, step, &i))
            break;
    }
    return (Datum){.kind = DATUM_LIST, .count = items->used, .items = items};
}

static Datum function_range(Lower *l, const Expr *call, const Datum *argument, int count) {
    int64_t bound[3] = {0, 0, 1};
    if (count < 1 || count > 3)
        return wrong_count(l, call, "1 to 3 arguments", count);
    for (int i = 0; i < count; i++) {
        if (argument[i].kind != DATUM_INTEGER)
            return wrong_type(l, call, "whole numbers", argument[i]);
        bound[count == 1 ? 1 : i] = argument[i].integer;
    }
    if (bound[2] != 0)
        return make_range(l, call, bound[0], bound[1], bound[2]);
    diag_begin(l->diag, ERROR, "U0316", call->span, "the step of a range cannot be 0");
    note_via(l);
    diag_end(l->diag);
    return failed;
}

static Datum function_reversed(Lower *l, const Expr *call, const Datum *argument, int count) {
    if (count != 1)
        return wrong_count(l, call, "1 argument", count);
    if (argument->kind != DATUM_LIST)
        return wrong_type(l, call, "a list", *argument);
    if (!charge(l, argument->count, call->span))
        return failed;
    Items *items = NEW(l->pool, Items);
    for (int i = argument->count - 1; i >= 0; i--)
        PUSH(l->pool, items->item, items->used, argument->items->item[i]);
    return (Datum){.kind = DATUM_LIST, .count = items->used, .items = items};
}

static Datum function_len(Lower *l, const Expr *call, const Datum *argument, int count) {
    if (count != 1)
        return wrong_count(l, call, "1 argument", count);
    return argument->kind == DATUM_LIST ? datum_integer(argument->count)
                                        : wrong_type(l, call, "a list", *argument);
}

/* The elements I of the lists ARGUMENT[0..COUNT), as a list. */
static Datum row_of(Lower *l, const Datum *argument, int count, int i) {
    Datum *item = NEW_ARRAY(l->pool, Datum, count);
    for (int k = 0; k < count; k++)
        item[k] = argument[k].items->item[i];
    return datum_list(l, item, count);
}

/* As long as the shortest list, as Python's. */
static Datum function_zip(Lower *l, const Expr *call, const Datum *argument, int count) {
    int length = INT_MAX;
    if (count < 1)
        return wrong_count(l, call, "lists", count);
    for (int k = 0; k < count; k++) {
        if (argument[k].kind != DATUM_LIST)
            return wrong_type(l, call, "lists", argument[k]);
        length = argument[k].count < length ? argument[k].count : length;
    }
    if (!charge(l, length, call->span))
        return failed;
    Datum *row = NEW_ARRAY(l->pool, Datum, length);
    for (int i = 0; i < length; i++)
        row[i] = row_of(l, argument, count, i);
    return datum_list(l, row, length);
}

/* Pairs of a number, from 0 or from the second argument on, and an element. */
static Datum function_enumerate(Lower *l, const Expr *call, const Datum *argument, int count) {
    if (count < 1 || count > 2)
        return wrong_count(l, call, "a list, and the first number", count);
    if (argument[0].kind != DATUM_LIST)
        return wrong_type(l, call, "a list", argument[0]);
    if (count == 2 && argument[1].kind != DATUM_INTEGER)
        return wrong_type(l, call, "a whole number as the first", argument[1]);
    const int64_t first = count == 2 ? argument[1].integer : 0;
    int64_t last;
    if (__builtin_add_overflow(first, argument[0].count, &last))
        return wrong_type(l, call, "a smaller number as the first", argument[1]);
    const Datum both[2] = {make_range(l, call, first, last, 1), argument[0]};
    return both[0].kind == DATUM_ERROR ? failed : function_zip(l, call, both, 2);
}

/* pop changes the list it is given, so that must be a name set here and not an argument. */
static Datum function_pop(Lower *l, const Expr *call, const Datum *argument, int count) {
    if (count != 1)
        return wrong_count(l, call, "1 argument", count);
    const Expr *list = call->args.count == 1 ? expr_inside(call->args.item[0].value) : call;
    Binding *binding = list->kind == EXPR_NAME ? find_binding(l->frame, list->text) : NULL;
    if (binding == NULL || binding->kind != BINDING_SET) {
        diag_begin(l->diag, ERROR, "U0317", call->span,
                   "`pop` needs a list that is set by `=` in this block");
        if (binding != NULL)
            diag_label(l->diag, "`%s` is %s", list->text,
                       binding->kind == BINDING_ARGUMENT ? "an argument" : "set by `let`");
        diag_help(l->diag, "call `pop` where the list is made, and pass the tensor on");
        diag_end(l->diag);
        return failed;
    }
    if (argument->kind != DATUM_LIST)
        return wrong_type(l, call, "a list", *argument);
    binding->popped++;
    if (argument->count > 0) {
        binding->value.count--;
        return argument->items->item[argument->count - 1];
    }
    diag_begin(l->diag, ERROR, "U0310", call->span, "`%s` is empty", list->text);
    diag_note(l->diag, "elements added: %d (the last on line %d); this is `pop` number %d", binding->pushed,
              binding->push_span.line > 0 ? binding->push_span.line : binding->span.line, binding->popped);
    note_via(l);
    diag_end(l->diag);
    return failed;
}

/* ---- numbers ---- */

static Datum extreme(Lower *l, const Expr *call, const Datum *argument, int count, bool largest) {
    if (count == 1 && argument->kind == DATUM_LIST) {
        count = argument->count;
        argument = argument->items->item;
    }
    if (count == 0)
        return wrong_count(l, call, "at least one number", count);
    Datum best = argument[0];
    for (int i = 0; i < count; i++) {
        double a, b;
        if (!datum_number(argument[i], &a) || !datum_number(best, &b))
            return wrong_type(l, call, "numbers", argument[i]);
        if (largest ? a > b : a < b)
            best = argument[i];
    }
    return best;
}

static Datum function_min(Lower *l, const Expr *call, const Datum *argument, int count) {
    return extreme(l, call, argument, count, false);
}

static Datum function_max(Lower *l, const Expr *call, const Datum *argument, int count) {
    return extreme(l, call, argument, count, true);
}

static Datum function_sum(Lower *l, const Expr *call, const Datum *argument, int count) {
    if (count != 1)
        return wrong_count(l, call, "1 argument, a list", count);
    if (argument->kind != DATUM_LIST)
        return wrong_type(l, call, "a list", *argument);
    Expr plus = *call;
    plus.kind = EXPR_BINARY;
    plus.op = OPERATOR_ADD;
    plus.left = plus.right = NULL;
    Datum total = argument->count > 0 ? argument->items->item[0] : datum_integer(0);
    for (int i = 1; i < argument->count; i++)
        total = apply_binary(l, &plus, total, argument->items->item[i]);
    return total;
}

static Datum function_int(Lower *l, const Expr *call, const Datum *argument, int count) {
    if (count != 1)
        return wrong_count(l, call, "1 argument", count);
    if (argument->kind == DATUM_INTEGER || argument->kind == DATUM_TRUTH)
        return datum_integer(argument->integer);
    if (argument->kind != DATUM_REAL)
        return wrong_type(l, call, "a number", *argument);
    if (fabs(argument->real) < 0x1p63)
        return datum_integer((int64_t)argument->real);
    diag_begin(l->diag, ERROR, "U0318", call->span, "the result does not fit in 64 bits");
    note_via(l);
    diag_end(l->diag);
    return failed;
}

/* ---- tensors ---- */

static Datum function_channels(Lower *l, const Expr *call, const Datum *argument, int count) {
    if (count != 1)
        return wrong_count(l, call, "1 argument", count);
    if (argument->kind != DATUM_TENSOR)
        return wrong_type(l, call, "a tensor", *argument);
    return datum_integer(shape_channels(l->graph->value[argument->tensor].shape));
}

static Datum function_size(Lower *l, const Expr *call, const Datum *argument, int count) {
    Datum size[MAX_RANK];
    if (count != 1)
        return wrong_count(l, call, "1 argument", count);
    if (argument->kind != DATUM_TENSOR)
        return wrong_type(l, call, "a tensor", *argument);
    Shape shape = l->graph->value[argument->tensor].shape;
    for (int i = 1; i < shape.rank; i++)
        size[i - 1] = datum_integer(shape.dim[i]);
    return datum_list(l, size, shape.rank - 1);
}

static const struct {
    const char *name;
    Function *function;
} table[] = {
    {"range", function_range},
    {"reversed", function_reversed},
    {"len", function_len},
    {"min", function_min},
    {"max", function_max},
    {"sum", function_sum},
    {"int", function_int},
    {"pop", function_pop},
    {"channels", function_channels},
    {"size", function_size},
    {"chunk", function_chunk},
    {"zip", function_zip},
    {"enumerate", function_enumerate},
};
enum { FUNCTIONS = sizeof table / sizeof *table };

Function *function_by_name(const char *name) {
    for (int i = 0; i < FUNCTIONS; i++)
        if (strcmp(table[i].name, name) == 0)
            return table[i].function;
    return NULL;
}

void list_functions(Text *out) {
    for (int i = 0; i < FUNCTIONS; i++)
        text_line(out, "function\t%s", table[i].name);
}
