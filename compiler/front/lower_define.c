/* lower_define.c - -D NAME=VALUE replaces a `let` at the top of the file.
 *
 * The value is an expression without names, read by the parser of the language.
 */
#include "base/text.h"
#include "front/lower_state.h"
#include "unet/words.h"

#include <string.h>

static const Span command_line = {0, 0, 0};

static bool is_constant(const Expr *expr) {
    if (expr == NULL)
        return true;
    if (expr->kind == EXPR_NAME || expr->kind == EXPR_CALL || expr->kind == EXPR_CHAIN)
        return false;
    for (int i = 0; i < expr->items.count; i++)
        if (!is_constant(expr->items.item[i]))
            return false;
    return is_constant(expr->left) && is_constant(expr->right) && is_constant(expr->condition);
}

/* The expression in TEXT, or NULL if it is none without names. */
static const Expr *define_expression(Lower *l, const char *text) {
    Diag *quiet = diag_quiet(l->pool);
    const Ast *ast = parse(l->pool, quiet, pool_text(l->pool, "let value = %s\n", text));
    if (diag_errors(quiet) > 0 || ast == NULL || ast->body.count != 1 ||
        !is_constant(ast->body.item[0]->value))
        return NULL;
    return ast->body.item[0]->value;
}

static void refuse_define(Lower *l, const Define *define, const char *why) {
    diag_begin(l->diag, ERROR, "U0214", command_line, "`-D %s=%s`: %s", define->name, define->value, why);
    diag_help(l->diag, "a value is a number, true or false, a \"text\", or a list such as [4, 5, 3]");
    diag_end(l->diag);
}

static Datum define_value(Lower *l, const Define *define) {
    const Expr *expression = define_expression(l, define->value);
    if (expression == NULL) {
        refuse_define(l, define, pool_text(l->pool, "`%s` is not a value", define->value));
        return (Datum){.kind = DATUM_ERROR};
    }
    Diag *quiet = diag_quiet(l->pool), *loud = l->diag;
    l->diag = quiet;
    Datum value = eval(l, expression);
    l->diag = loud;
    if (diag_errors(quiet) == 0)
        return value;
    refuse_define(l, define, diag_last(quiet));
    return (Datum){.kind = DATUM_ERROR};
}

void read_defines(Lower *l) {
    for (int i = 0; i < l->options->ndefine; i++)
        l->define[i] = define_value(l, &l->options->define[i]);
}

void check_defines(Lower *l) {
    const char **names = NULL;
    int count = 0;
    Table known = {0};
    Text list = text_new(l->pool);
    for (int i = 0; i < l->ast->body.count && l->options->ndefine > 0; i++)
        if (l->ast->body.item[i]->kind == STMT_LET) {
            const char *name = l->ast->body.item[i]->name;
            text_add(&list, "%s%s", count > 0 ? ", " : "", name);
            table_set(l->pool, &known, name, count);
            PUSH(l->pool, names, count, name);
        }
    for (int i = 0; i < l->options->ndefine; i++) {
        const Define *define = &l->options->define[i];
        if (table_find(&known, define->name) >= 0)
            continue;
        const char *near = unet_nearest_word(define->name, names, count);
        diag_begin(l->diag, ERROR, "U0211", command_line, "`-D %s=%s`: the file has no `let %s`",
                   define->name, define->value, define->name);
        if (near != NULL)
            diag_help(l->diag, "did you mean `%s`? (the file sets %s)", near, list.bytes);
        else if (count > 0)
            diag_note(l->diag, "the file sets %s", list.bytes);
        diag_end(l->diag);
    }
}
