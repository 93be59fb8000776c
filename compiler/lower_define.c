/* lower_define.c - -D NAME=VALUE replaces a `let` at the top of the file.
 *
 * The value is an expression without names, read by the parser of the language.
 */
#include "lower_state.h"

#include <string.h>

static const Place command_line = {0, 0, 0};

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

static Datum define_value(Lower *l, const char *text) {
    Diag *quiet = diag_quiet(l->pool), *loud = l->diag;
    const char *source = pool_text(l->pool, "let value = %s\n", text);
    const Ast *ast = parse(l->pool, quiet, source);
    if (diag_errors(quiet) > 0 || ast == NULL || ast->body.count != 1 ||
        !is_constant(ast->body.item[0]->value))
        return (Datum){.kind = DATUM_ERROR};
    l->diag = quiet;
    Datum value = eval(l, ast->body.item[0]->value);
    l->diag = loud;
    return diag_errors(quiet) > 0 ? (Datum){.kind = DATUM_ERROR} : value;
}

void read_defines(Lower *l) {
    for (int i = 0; i < l->options->ndefine; i++) {
        const Define *define = &l->options->define[i];
        l->define[i] = define_value(l, define->value);
        if (l->define[i].kind != DATUM_ERROR)
            continue;
        diag_begin(l->diag, ERROR, "U0214", command_line, "`-D %s=%s`: `%s` is not a value", define->name,
                   define->value, define->value);
        diag_help(l->diag, "a value is a number, true or false, a \"text\", or a list such as [4, 5, 3]");
        diag_end(l->diag);
    }
}

void check_defines(Lower *l) {
    const char **names = NULL, *list = "";
    int count = 0;
    for (int i = 0; i < l->ast->body.count; i++)
        if (l->ast->body.item[i]->kind == STMT_LET) {
            PUSH(l->pool, names, count, l->ast->body.item[i]->name);
            list = pool_text(l->pool, "%s%s%s", list, count > 1 ? ", " : "", names[count - 1]);
        }
    for (int i = 0; i < l->options->ndefine; i++) {
        const Define *define = &l->options->define[i];
        const char *near = nearest_name(define->name, names, count);
        bool found = false;
        for (int k = 0; k < count; k++)
            found |= strcmp(names[k], define->name) == 0;
        if (found)
            continue;
        diag_begin(l->diag, ERROR, "U0211", command_line, "`-D %s=%s`: the file has no `let %s`",
                   define->name, define->value, define->name);
        if (near != NULL)
            diag_help(l->diag, "did you mean `%s`? (the file sets %s)", near, list);
        else if (count > 0)
            diag_note(l->diag, "the file sets %s", list);
        diag_end(l->diag);
    }
}
