/* lower_suggest.c - suggestions for unknown names: nearly right ones, names from PyTorch, names set
 * elsewhere. */
#include "front/lower_state.h"
#include "front/foreign.h"
#include "ir/ops.h"
#include "unet/words.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

void note_via(Lower *l) {
    int notes = 0;
    for (const Via *via = l->via; via != NULL && notes < 3; via = via->outer, notes++)
        diag_note(l->diag, "%s", via->text);
}

/* ---- calls ---- */

/* Operators of the language that not every version has: those without a row are not in this one. */
static const char *const later[] = {"timestep_embedding"};

enum { LATER = sizeof later / sizeof *later };

static bool comes_later(const char *name) {
    for (int i = 0; i < LATER && op_by_name(name) == OPS; i++)
        if (strcmp(later[i], name) == 0)
            return true;
    return false;
}

static void note_operators(Lower *l) {
    diag_note(l->diag, "`unetc explain operators` lists what there is, beside `+ - * /`");
}

static const char *nearest_call(Lower *l, const char *name) {
    const char **names = NULL;
    int count = 0;
    for (Op op = 0; op < OPS; op++)
        if (op_table[op].signature != NULL)
            PUSH(l->pool, names, count, op_table[op].name);
    for (int i = 0; i < l->ast->body.count; i++)
        if (l->ast->body.item[i]->kind == STMT_BLOCK)
            PUSH(l->pool, names, count, l->ast->body.item[i]->name);
    for (int i = 0; i < l->frame->nlayer; i++)
        PUSH(l->pool, names, count, l->frame->layer[i].name);
    return unet_nearest_word(name, names, count);
}

/* A layer of PyTorch is made of numbers first, and called with its input later. */
static bool is_made_of_numbers(const Expr *call) {
    return call->args.count > 0 && call->args.item[0].name == NULL &&
           call->args.item[0].value->kind == EXPR_INTEGER;
}

/* PyTorch's name of an operator, and the names of its arguments. */
static void help_foreign(Lower *l, const Expr *call, const char *known) {
    Expr ours = *call;
    const Op op = op_by_name(known);
    if (op != OPS && op_table[op].signature != NULL && is_made_of_numbers(call)) {
        diag_help(l->diag, "`%s` is called `%s` here, with its input and no number of input channels: `%s`",
                  call->text, known, op_table[op].signature);
        return;
    }
    ours.text = known;
    ours.args.item = NULL;
    ours.args.count = 0;
    for (int i = 0; i < call->args.count; i++) {
        Arg arg = call->args.item[i];
        const char *name = arg.name == NULL ? NULL : foreign_argument(arg.name);
        if (name != NULL)
            arg.name = name;
        if (name == NULL || *name != '\0')
            PUSH(l->pool, ours.args.item, ours.args.count, arg);
    }
    if (comes_later(known))
        diag_help(l->diag, "`%s` is called `%s`, which is not in this version of unetc", call->text, known);
    else
        diag_help(l->diag, "`%s` is called `%s` here: `%s`", call->text, known, expr_text(l->pool, &ours));
}

void report_unknown_call(Lower *l, const Expr *call) {
    if (comes_later(call->text)) {
        diag_begin(l->diag, ERROR, "U0202", call->mark, "`%s` is not in this version of unetc", call->text);
        if (foreign_call_help(call->text) != NULL)
            diag_help(l->diag, "%s", foreign_call_help(call->text));
        note_operators(l);
        diag_end(l->diag);
        return;
    }
    diag_begin(l->diag, ERROR, "U0202", call->mark, "there is no operator or block `%s`", call->text);
    const char *known = foreign_operator(call->text);
    if (known != NULL) {
        help_foreign(l, call, known);
        diag_end(l->diag);
        return;
    }
    const char *near = nearest_call(l, call->text), *instead = foreign_call_help(call->text);
    const char *setting = foreign_setting(call->text);
    if (instead != NULL)
        diag_help(l->diag, "%s", instead);
    else if (setting != NULL)
        diag_help(l->diag, "it is no part of the network: %s", setting);
    else if (near != NULL)
        diag_help(l->diag, "did you mean `%s`?", near);
    else if (find_binding(l->frame, call->text) != NULL)
        diag_help(l->diag, "`%s` is a tensor or value; to index a list write `%s[%s]`", call->text,
                  call->text, call->args.count > 0 ? expr_text(l->pool, call->args.item[0].value) : "0");
    else
        note_operators(l);
    note_via(l);
    diag_end(l->diag);
}

/* ---- names ---- */

typedef struct {
    const Stmt *stmt;      /* that sets the name */
    const Expr *condition; /* of the `if` under which it stands, or NULL */
    int arm;               /* of it */
} Setter;

static bool sets(const Stmt *stmt, const char *name) {
    if (stmt->kind == STMT_LET || stmt->kind == STMT_INPUT || stmt->kind == STMT_TARGET ||
        stmt->kind == STMT_OUTPUT)
        return strcmp(stmt->name, name) == 0;
    for (int i = 0; stmt->kind == STMT_SET && i < stmt->targets.count; i++)
        if (stmt->targets.item[i]->kind == EXPR_NAME && strcmp(stmt->targets.item[i]->text, name) == 0)
            return true;
    return false;
}

static Setter find_setter(const StmtList *body, const char *name, const Expr *condition, int in_arm) {
    Setter found = {NULL, NULL, 0};
    for (int i = 0; i < body->count && found.stmt == NULL; i++) {
        const Stmt *stmt = body->item[i];
        if (sets(stmt, name))
            return (Setter){stmt, condition, in_arm};
        if (stmt->kind == STMT_FOR)
            found = find_setter(&stmt->body, name, condition, in_arm);
        for (int k = 0; k < stmt->arms.count && found.stmt == NULL; k++)
            found = find_setter(&stmt->arms.item[k].body, name, stmt->arms.item[0].condition, k);
    }
    return found;
}

static bool report_not_set(Lower *l, const char *name, Span span) {
    Setter setter = find_setter(l->frame->body, name, NULL, 0);
    if (setter.stmt == NULL)
        return false;
    bool later_on = setter.stmt->span.line >= span.line;
    if (setter.condition != NULL && !later_on) {
        const char *condition = expr_text(l->pool, setter.condition);
        bool first = setter.arm == 0;
        diag_begin(l->diag, ERROR, "U0210", span, "`%s` is set only when `%s` is %s", name, condition,
                   first ? "true" : "false");
        diag_label(l->diag, "not set: `%s` is %s", condition, first ? "false" : "true");
        diag_also(l->diag, setter.stmt->span, "set here");
        if (first)
            diag_help(l->diag, "add `else { %s = ... }`", name);
    } else {
        diag_begin(l->diag, ERROR, "U0210", span, "`%s` is not set yet", name);
        diag_also(l->diag, setter.stmt->span, "set here");
    }
    note_via(l);
    diag_end(l->diag);
    return true;
}

static const Binding *nearest_binding(Lower *l, const char *name) {
    const char **names = NULL;
    int count = 0;
    for (int i = 0; i < l->frame->nbinding; i++)
        PUSH(l->pool, names, count, l->frame->binding[i].name);
    for (int i = 0; l->frame != l->file && i < l->file->nbinding; i++)
        if (l->file->binding[i].kind == BINDING_LET)
            PUSH(l->pool, names, count, l->file->binding[i].name);
    const char *near = unet_nearest_word(name, names, count);
    if (near == NULL)
        return NULL;
    const Binding *binding = find_binding(l->frame, near);
    return binding != NULL ? binding : find_binding(l->file, near);
}

/* Texts that arguments of operators take, which Python has as texts, too. */
static bool is_choice(const char *name) {
    static const char *const choices[] = {"same",     "valid",     "nearest", "nearest_exact",
                                          "bilinear", "crop",      "pad",     "default",
                                          "zeros",    "replicate", "ones",    "he_normal"};
    for (size_t i = 0; i < sizeof choices / sizeof *choices; i++)
        if (strcmp(choices[i], name) == 0)
            return true;
    return false;
}

/* "relu(x)" and "max_pool(x, kernel = 2)", but not "conv(x, channels, kernel)". */
static bool needs_input_alone(const char *signature) {
    const char *behind = strstr(signature, "(x");
    if (behind == NULL || (behind[2] != ')' && behind[2] != ','))
        return false;
    behind += 3;
    return behind[-1] == ')' || behind[strcspn(behind, "=,)")] == '=';
}

/* An operator or block without its arguments. */
static void help_call(Lower *l, const char *name) {
    const Op op = op_by_name(name);
    const char *signature = op == OPS ? NULL : op_table[op].signature;
    if (signature != NULL && !needs_input_alone(signature))
        diag_help(l->diag, "it is called with its arguments: `%s`", signature);
    else
        diag_help(l->diag, "`%s` is called with its input: `%s(x)`, or `x -> %s`", name, name, name);
}

static bool has_target(const Lower *l) {
    for (int i = 0; i < l->model->ninput; i++)
        if (l->model->input[i].is_target)
            return true;
    return false;
}

/* By where the name stands: in a loss, in another setting, or as an argument. */
static void help_place(Lower *l, const char *name, Span span) {
    const Stmt *setting = NULL;
    for (int i = 0; l->section != NULL && i < l->section->body.count; i++)
        if (l->section->body.item[i]->span.line == span.line)
            setting = l->section->body.item[i];
    if (setting != NULL && setting->kind != STMT_SETTING)
        return;
    const bool measures =
        setting != NULL && (strcmp(setting->name, "loss") == 0 || strcmp(setting->name, "metric") == 0);
    if (measures && l->model->noutput > 0 && !has_target(l))
        diag_help(l->diag, "declare what a loss compares with at the top: `target %s : image(%lld)`", name,
                  (long long)shape_channels(l->graph->value[l->model->output[0].value].shape));
    else if (measures && l->model->noutput > 0)
        diag_help(l->diag, "the output of the network is called `%s`", l->model->output[0].name);
    else if (setting != NULL ? !measures : is_choice(name))
        diag_help(l->diag, "a text stands in quotes: `\"%s\"`", name);
}

void report_unknown_name(Lower *l, const char *name, Span span) {
    static const char *const habits[][2] = {{"True", "write `true`"},
                                            {"yes", "write `true`"},
                                            {"False", "write `false`"},
                                            {"no", "write `false`"},
                                            {"None", "leave this argument out, then its default holds"}};
    if (report_not_set(l, name, span))
        return;
    diag_begin(l->diag, ERROR, "U0201", span, "there is no `%s` here", name);
    const Binding *near = nearest_binding(l, name);
    bool is_habit = false;
    for (size_t i = 0; i < sizeof habits / sizeof *habits; i++)
        if (strcmp(name, habits[i][0]) == 0) {
            diag_help(l->diag, "%s", habits[i][1]);
            near = NULL;
            is_habit = true;
        }
    if (near != NULL)
        diag_help(l->diag, "did you mean `%s`? (set on line %d)", near->name, near->span.line);
    else if (find_block(l, name) != NULL || op_by_name(name) != OPS)
        help_call(l, name);
    else if (!is_habit)
        help_place(l, name, span);
    note_via(l);
    diag_end(l->diag);
}
