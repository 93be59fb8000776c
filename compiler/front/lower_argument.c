/* lower_argument.c - signatures, and the arguments of a call: bound to the names of its signature, then
 * read.
 *
 * Signatures are written in the language itself and read by its own parser, so operators, blocks, settings
 * and sources bind their arguments by the same rules: by position, then by name, as in Python.
 */
#include "base/text.h"
#include "front/lower_state.h"
#include "front/foreign.h"
#include "unet/words.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const Datum failed = {.kind = DATUM_ERROR};

/* ---- signatures ---- */

const Signature *signature_of(Lower *l, const char *text, bool setting) {
    for (int i = 0; i < l->nsignature; i++)
        if (l->signature[i]->text == text)
            return l->signature[i];
    const char *dots = strstr(text, ", ...");
    char *source = dots == NULL ? pool_text(l->pool, "block %s {}\n", text)
                                : pool_text(l->pool, "block %.*s%s {}\n", (int)(dots - text), text,
                                            dots + strlen(", ..."));
    const Ast *ast =
        parse(l->pool, diag_new(l->pool, "signature", source, FORMAT_HUMAN, COLOR_NEVER), source);
    CHECK(ast != NULL && ast->body.count == 1);
    const Stmt *block = ast->body.item[0];
    Signature *signature = NEW(l->pool, Signature);
    *signature = (Signature){block->name, text, block->params, dots != NULL, setting};
    PUSH(l->pool, l->signature, l->nsignature, signature);
    return signature;
}

/* An operator's row has its signature; a block's signature is written when a message needs it. */
static const char *signature_text(Lower *l, const Signature *signature) {
    if (signature->text != NULL)
        return signature->text;
    Text text = text_new(l->pool);
    text_add(&text, "%s(", signature->name);
    for (int i = 0; i < signature->params.count; i++) {
        const Param *param = &signature->params.item[i];
        text_add(&text, "%s%s", i > 0 ? ", " : "", param->name);
        if (param->value != NULL)
            text_add(&text, " = %s", expr_text(l->pool, param->value));
    }
    text_add(&text, ")");
    return text.bytes;
}

/* ---- binding arguments ---- */

static void end_with_signature(const Call *call) {
    diag_note(call->l->diag, "%s", signature_text(call->l, call->signature));
    note_via(call->l);
    diag_end(call->l->diag);
}

static const char *counted(Lower *l, int count) {
    return pool_text(l->pool, "%d argument%s", count, count == 1 ? "" : "s");
}

static bool report_too_many(const Call *call, const Argument *extra, int found) {
    Lower *l = call->l;
    diag_begin(l->diag, ERROR, "U0302", extra->span, "`%s` takes %s, found %d", call->signature->name,
               counted(l, call->signature->params.count), found);
    diag_label(l->diag, "one too many");
    end_with_signature(call);
    return false;
}

static int parameter_index(const Signature *signature, const char *name) {
    for (int i = 0; i < signature->params.count; i++)
        if (strcmp(signature->params.item[i].name, name) == 0)
            return i;
    return -1;
}

static bool report_unknown_argument(const Call *call, const Arg *arg) {
    Lower *l = call->l;
    const ParamList *params = &call->signature->params;
    const char **name = NEW_ARRAY(l->pool, const char *, params->count + 1);
    for (int i = 0; i < params->count; i++)
        name[i] = params->item[i].name;
    const char *near = unet_nearest_word(arg->name, name, params->count);
    diag_begin(l->diag, ERROR, "U0303", arg->name_span, "`%s` has no argument `%s`", call->signature->name,
               arg->name);
    const char *known =
        call->signature->setting ? foreign_update_argument(arg->name) : foreign_argument(arg->name);
    if (known != NULL && *known == '\0')
        diag_help(l->diag, "leave it out");
    else if (known != NULL && parameter_index(call->signature, known) >= 0)
        diag_help(l->diag, "`%s` is called `%s` here", arg->name, known);
    else if (near != NULL)
        diag_help(l->diag, "did you mean `%s`?", near);
    else if (strcmp(arg->name, "activation") == 0)
        diag_help(l->diag, "an activation is a call of its own: `-> relu`");
    end_with_signature(call);
    return false;
}

/* The place of parameter INDEX. */
static Argument *slot_of(const Call *call, int index) {
    return call->signature->variadic ? &call->keyword[index] : &call->argument[index];
}

static bool report_given_twice(const Call *call, const Arg *arg, int index) {
    static const char *const ordinal[] = {"first", "second", "third", "fourth", "fifth"};
    Lower *l = call->l;
    const Argument *before = slot_of(call, index);
    diag_begin(l->diag, ERROR, "U0304", arg->span, "`%s` is given twice", arg->name);
    if (before->expr == NULL)
        diag_note(l->diag, "the left side of `->` gives it already");
    else if (index < 5 && !call->signature->variadic)
        diag_also(l->diag, before->span, "the %s argument is the %s", ordinal[index], arg->name);
    else
        diag_also(l->diag, before->span, "first here");
    note_via(l);
    diag_end(l->diag);
    return false;
}

static bool report_order(const Call *call, const Arg *arg) {
    Lower *l = call->l;
    const ParamList *params = &call->signature->params;
    diag_begin(l->diag, ERROR, "U0305", arg->span,
               "arguments without a name come before those with a name");
    int free = 0;
    while (free < call->nargument && call->argument[free].given)
        free++;
    if (free < params->count)
        diag_help(l->diag, "write `%s = %s`", params->item[free].name, expr_text(l->pool, arg->value));
    note_via(l);
    diag_end(l->diag);
    return false;
}

/* `name = "..."` belongs to the call itself, unless a block has such an argument. */
static bool is_module_name(const Signature *signature, const Arg *arg) {
    return arg->name != NULL && strcmp(arg->name, "name") == 0 && !signature->setting &&
           parameter_index(signature, "name") < 0;
}

const Arg *module_name_argument(const Call *call) {
    const ArgList *args = &call->expr->args;
    for (int i = 0; i < args->count; i++)
        if (is_module_name(call->signature, &args->item[i]))
            return &args->item[i];
    return NULL;
}

static bool bind_argument(Call *call, const Arg *arg, int *position, bool *named) {
    Argument value = {failed, arg->span, arg->value, true};
    int index = *position;
    if (arg->name != NULL) {
        index = parameter_index(call->signature, arg->name);
        *named = true;
        if (index < 0 || (call->signature->variadic && call->signature->params.item[index].value == NULL))
            return report_unknown_argument(call, arg);
        if (slot_of(call, index)->given)
            return report_given_twice(call, arg, index);
    } else {
        if (*named)
            return report_order(call, arg);
        if (index == call->nargument)
            return report_too_many(call, &value, index + 1);
        ++*position;
    }
    value.span = arg->value->span;
    value.value = eval(call->l, arg->value);
    *(arg->name != NULL ? slot_of(call, index) : &call->argument[index]) = value;
    return value.value.kind != DATUM_ERROR;
}

static bool report_missing(const Call *call, const Param *param) {
    static const struct {
        const char *name, *value;
    } usual[] = {{"kernel", "3"}, {"channels", "64"}, {"truth", "clean"}, {"sigma", "25/255"}, {"n", "50"}};
    Lower *l = call->l;
    const char *sample = NULL;
    for (size_t i = 0; i < sizeof usual / sizeof *usual; i++)
        if (strcmp(param->name, usual[i].name) == 0)
            sample = usual[i].value;
    diag_begin(l->diag, ERROR, "U0301", call->span, "`%s` needs %s `%s`", call->signature->name,
               strchr("aeio", *param->name) != NULL ? "an" : "a", param->name);
    if (call->signature->setting && strcmp(param->name, "on") == 0)
        diag_help(l->diag, "write `%s true`", call->signature->name);
    if (!call->signature->setting && sample != NULL && call->expr->kind == EXPR_CALL) {
        const char *text = expr_text(l->pool, call->expr);
        int open = (int)strlen(text) - 1;
        const char *comma = call->expr->args.count > 0 ? ", " : "";
        diag_help(l->diag, "write `%.*s%s%s)`", open, text, comma, sample);
    }
    end_with_signature(call);
    return false;
}

static bool is_literal(const Expr *expr) {
    return expr->kind == EXPR_INTEGER || expr->kind == EXPR_REAL || expr->kind == EXPR_TEXT ||
           expr->kind == EXPR_TRUTH;
}

/* Defaults may name the arguments before them: `stride = kernel`. */
static Datum eval_default(const Call *call, const Expr *value) {
    Lower *l = call->l;
    if (value->kind == EXPR_NAME && strcmp(value->text, "none") == 0)
        return (Datum){.kind = DATUM_NONE};
    if (is_literal(value))
        return eval(l, value);
    Frame frame = {
        .caller = l->frame, .block = l->frame->block, .body = l->frame->body, .module = l->frame->module};
    Frame *caller = l->frame;
    l->frame = &frame;
    for (int i = 0; i < call->signature->params.count; i++)
        if (call->argument[i].value.kind != DATUM_ERROR)
            bind_name(l, call->signature->params.item[i].name, BINDING_ARGUMENT, call->argument[i].value,
                      call->argument[i].span);
    Datum result = eval(l, value);
    l->frame = caller;
    return result;
}

bool bind_arguments(Call *call, const Argument *flow, const ArgList *args) {
    const ParamList *params = &call->signature->params;
    int position = 0;
    bool named = false, good = true;
    call->nargument = call->signature->variadic ? args->count + (flow != NULL) : params->count;
    call->argument = NEW_ARRAY(call->l->pool, Argument, call->nargument);
    call->keyword = NEW_ARRAY(call->l->pool, Argument, params->count);
    if (flow != NULL) {
        if (call->nargument == 0)
            return report_too_many(call, flow, 1);
        call->argument[position++] = *flow;
    }
    for (int i = 0; i < args->count; i++)
        if (!is_module_name(call->signature, &args->item[i]))
            good &= bind_argument(call, &args->item[i], &position, &named);
    if (call->signature->variadic)
        call->nargument = position;
    for (int i = 0; good && i < params->count; i++) {
        Argument *argument = slot_of(call, i);
        if (argument->given || (call->signature->variadic && params->item[i].value == NULL))
            continue;
        if (params->item[i].value == NULL)
            return report_missing(call, &params->item[i]);
        argument->span = call->span;
        argument->value = eval_default(call, params->item[i].value);
        good &= argument->value.kind != DATUM_ERROR;
    }
    return good;
}

/* ---- reading arguments ---- */

const Argument *argument(const Call *call, const char *name) {
    int index = parameter_index(call->signature, name);
    CHECK(index >= 0);
    return slot_of(call, index);
}

const char *argument_text(const Call *call, const Argument *argument) {
    return argument->expr == NULL ? "x" : expr_text(call->l->pool, argument->expr);
}

/* The name of an argument in messages; the first of a setting has the name of the setting: `batch 6`.  An
 * optimizer in one is a call like others. */
static const char *label_of(const Call *call, const char *name) {
    const bool first = call->signature->setting && parameter_index(call->signature, name) == 0;
    return first && call->l->section != NULL && is_setting(call->l, call->signature->name)
               ? call->signature->name
               : name;
}

/* A number in quotes, or one that is whole and does not look it; NULL: neither. */
static const char *meant_number(const Call *call, Datum value, bool whole) {
    double number = value.real;
    char *end = NULL;
    if (value.kind == DATUM_TEXT)
        number = strtod(value.text, &end);
    if (value.kind != DATUM_REAL && (end == NULL || end == value.text || *end != '\0'))
        return NULL;
    if (!whole)
        return value.text;
    return number == floor(number) && fabs(number) < 1e15 ? pool_text(call->l->pool, "%.0f", number) : NULL;
}

static void report_type(const Call *call, const char *name, const char *wanted) {
    Lower *l = call->l;
    const Argument *a = argument(call, name);
    diag_begin(l->diag, ERROR, "U0319", a->span, "`%s` must be %s, and this is %s", label_of(call, name),
               wanted, datum_text(l, a->value));
    const char *number = strstr(wanted, "number") == NULL || a->value.kind != DATUM_TEXT
                             ? NULL
                             : meant_number(call, a->value, strstr(wanted, "whole") != NULL);
    if (number != NULL)
        diag_help(l->diag, "write `%s` without quotes", number);
    end_with_signature(call);
}

bool argument_integer(const Call *call, const char *name, int64_t minimum, int64_t *value) {
    Lower *l = call->l;
    const Argument *a = argument(call, name);
    if (a->value.kind == DATUM_REAL) {
        const Expr number = {.kind = EXPR_REAL, .real = a->value.real};
        diag_begin(l->diag, ERROR, "U0306", a->span, "`%s` must be a whole number, and this is %s",
                   label_of(call, name), expr_text(l->pool, &number));
        const Expr *expr = a->expr == NULL ? NULL : expr_inside(a->expr);
        if (expr != NULL && expr->kind == EXPR_BINARY && expr->op == OPERATOR_DIVIDE)
            diag_help(l->diag, "`/` gives a fraction; write `%s // %s`", expr_text(l->pool, expr->left),
                      expr_text(l->pool, expr->right));
        else if (meant_number(call, a->value, true) != NULL)
            diag_help(l->diag, "write `%s`", meant_number(call, a->value, true));
        note_via(l);
        diag_end(l->diag);
        return false;
    }
    if (a->value.kind != DATUM_INTEGER) {
        report_type(call, name, "a whole number");
        return false;
    }
    if (a->value.integer < minimum) {
        diag_begin(l->diag, ERROR, "U0316", a->span, "`%s` must be at least %lld, and this is %lld",
                   label_of(call, name), (long long)minimum, (long long)a->value.integer);
        note_via(l);
        diag_end(l->diag);
        return false;
    }
    *value = a->value.integer;
    return true;
}

bool argument_number(const Call *call, const char *name, double *value) {
    if (datum_number(argument(call, name)->value, value))
        return true;
    report_type(call, name, "a number");
    return false;
}

bool argument_truth(const Call *call, const char *name, bool *value) {
    const Argument *a = argument(call, name);
    *value = a->value.integer != 0;
    if (a->value.kind == DATUM_TRUTH)
        return true;
    report_type(call, name, "true or false");
    return false;
}

bool argument_tensor(const Call *call, const char *name, ValueId *value) {
    const Argument *a = argument(call, name);
    *value = a->value.tensor;
    if (a->value.kind == DATUM_TENSOR)
        return true;
    report_type(call, name, "a tensor");
    return false;
}

bool argument_choice(const Call *call, const char *name, const char *const *choices, int *index) {
    Lower *l = call->l;
    const Argument *a = argument(call, name);
    const char *list = "";
    if (a->value.kind != DATUM_TEXT) {
        report_type(call, name, "a text");
        return false;
    }
    for (*index = 0; choices[*index] != NULL; ++*index) {
        if (strcmp(choices[*index], a->value.text) == 0)
            return true;
        list = pool_text(l->pool, "%s%s\"%s\"", list, *index > 0 ? ", " : "", choices[*index]);
    }
    const char *near = *index > 1 ? unet_nearest_word(a->value.text, choices, *index) : NULL;
    diag_begin(l->diag, ERROR, "U0307", a->span, "`%s` cannot be \"%s\"", label_of(call, name),
               a->value.text);
    if (near != NULL)
        diag_help(l->diag, "did you mean \"%s\"? (one of %s)", near, list);
    else
        diag_help(l->diag, "one of %s", list);
    note_via(l);
    diag_end(l->diag);
    return false;
}
