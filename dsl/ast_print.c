/* ast_print.c - the syntax tree as text: expressions as one would write them, for messages, and the whole
 * tree as nested parentheses, for `--emit=ast`. */
#include "ast.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* ---- as text -------------------------------------------------------------------------------------- */

const char *operator_text(Operator op) {
    static const char *const text[] = {"or", "and", "==", "!=", "<", "<=", ">", ">=", "+",
                                       "-",  "*",   "/",  "//", "%", "**", "-", "not"};
    return text[op];
}

static void write_expr(FILE *out, const Expr *expr);

static void write_exprs(FILE *out, const ExprList *list) {
    for (int i = 0; i < list->count; i++) {
        fputs(i > 0 ? ", " : "", out);
        write_expr(out, list->item[i]);
    }
}

static void write_call(FILE *out, const Expr *call, bool link) {
    fputs(call->text, out);
    if (link && call->args.count == 0)
        return;
    fputc('(', out);
    for (int i = 0; i < call->args.count; i++) {
        const Arg *arg = &call->args.item[i];
        fputs(i > 0 ? ", " : "", out);
        if (arg->name != NULL)
            fprintf(out, "%s = ", arg->name);
        write_expr(out, arg->value);
    }
    fputc(')', out);
}

static void write_bytes(FILE *out, int64_t bytes) {
    static const struct {
        int shift;
        const char *unit;
    } unit[] = {{30, "GiB"}, {20, "MiB"}, {10, "KiB"}};
    int i = 0;
    while (i < 2 && (bytes >> unit[i].shift == 0 || (bytes & ((INT64_C(1) << unit[i].shift) - 1)) != 0))
        i++;
    fprintf(out, "%.17g%s", (double)bytes / (double)(INT64_C(1) << unit[i].shift), unit[i].unit);
}

/* The shortest text that is read back as VALUE, and not as a whole number. */
static void write_real(FILE *out, double value) {
    char text[40];
    for (int digits = 1; digits <= 17; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, value);
        double back = 0;
        if (sscanf(text, "%lf", &back) == 1 && back == value)
            break;
    }
    fputs(text, out);
    if (strpbrk(text, ".en") == NULL)
        fputs(".0", out);
}

static void write_operation(FILE *out, const Expr *expr) {
    if (expr->kind == EXPR_UNARY) {
        fprintf(out, expr->op == OPERATOR_NOT ? "not " : "-");
        write_expr(out, expr->left);
        return;
    }
    write_expr(out, expr->left);
    fprintf(out, expr->op == OPERATOR_POWER ? "%s" : " %s ", operator_text(expr->op));
    write_expr(out, expr->right);
}

/* A name, or a value as it is written. */
static void write_word(FILE *out, const Expr *expr) {
    switch (expr->kind) {
    case EXPR_INTEGER:
        fprintf(out, "%" PRId64, expr->integer);
        break;
    case EXPR_REAL:
        write_real(out, expr->real);
        break;
    case EXPR_BYTES:
        write_bytes(out, expr->integer);
        break;
    case EXPR_TEXT:
        fprintf(out, "\"%s\"", expr->text);
        break;
    case EXPR_TRUTH:
        fputs(expr->integer ? "true" : "false", out);
        break;
    default:
        fputs(expr->text, out);
    }
}

static void write_expr(FILE *out, const Expr *expr) {
    switch (expr->kind) {
    case EXPR_NAME:
    case EXPR_INTEGER:
    case EXPR_REAL:
    case EXPR_BYTES:
    case EXPR_TEXT:
    case EXPR_TRUTH:
        write_word(out, expr);
        break;
    case EXPR_LIST:
        fputc('[', out);
        write_exprs(out, &expr->items);
        fputc(']', out);
        break;
    case EXPR_GROUP:
        fputc('(', out);
        write_expr(out, expr->left);
        fputc(')', out);
        break;
    case EXPR_CALL:
        write_call(out, expr, false);
        break;
    case EXPR_CHAIN:
        write_expr(out, expr->left);
        for (int i = 0; i < expr->items.count; i++) {
            fputs(" -> ", out);
            write_call(out, expr->items.item[i], true);
        }
        break;
    case EXPR_INDEX:
        write_expr(out, expr->left);
        fputc('[', out);
        write_expr(out, expr->right);
        fputc(']', out);
        break;
    case EXPR_UNARY:
    case EXPR_BINARY:
        write_operation(out, expr);
        break;
    case EXPR_CHOICE:
        write_expr(out, expr->left);
        fputs(" if ", out);
        write_expr(out, expr->condition);
        fputs(" else ", out);
        write_expr(out, expr->right);
        break;
    }
}

const char *expr_text(Pool *pool, const Expr *expr) {
    char *text;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    if (out == NULL)
        out_of_memory();
    write_expr(out, expr);
    if (fclose(out) != 0)
        out_of_memory();
    const char *copy = pool_copy(pool, text, size);
    free(text);
    return copy;
}

/* ---- as nested parentheses ------------------------------------------------------------------------ */

static void print_expr(FILE *out, const Expr *expr);

static void print_args(FILE *out, const ArgList *args) {
    for (int i = 0; i < args->count; i++) {
        const Arg *arg = &args->item[i];
        if (arg->name != NULL)
            fprintf(out, " :%s", arg->name);
        fputc(' ', out);
        print_expr(out, arg->value);
    }
}

static void print_exprs(FILE *out, const ExprList *list) {
    for (int i = 0; i < list->count; i++) {
        fputc(' ', out);
        print_expr(out, list->item[i]);
    }
}

static void print_form(FILE *out, const char *head, const Expr *a, const Expr *b, const Expr *c) {
    const Expr *part[] = {a, b, c};
    fprintf(out, "(%s", head);
    for (int i = 0; i < 3 && part[i] != NULL; i++) {
        fputc(' ', out);
        print_expr(out, part[i]);
    }
    fputc(')', out);
}

static void print_expr(FILE *out, const Expr *expr) {
    expr = expr_inside(expr);
    switch (expr->kind) {
    case EXPR_LIST:
        fputs("(list", out);
        print_exprs(out, &expr->items);
        fputc(')', out);
        break;
    case EXPR_CALL:
        fprintf(out, "(%s", expr->text);
        print_args(out, &expr->args);
        fputc(')', out);
        break;
    case EXPR_CHAIN:
        fputs("(-> ", out);
        print_expr(out, expr->left);
        print_exprs(out, &expr->items);
        fputc(')', out);
        break;
    case EXPR_INDEX:
        print_form(out, "at", expr->left, expr->right, NULL);
        break;
    case EXPR_UNARY:
    case EXPR_BINARY:
        print_form(out, operator_text(expr->op), expr->left, expr->right, NULL);
        break;
    case EXPR_CHOICE:
        print_form(out, "if", expr->condition, expr->left, expr->right);
        break;
    default:
        write_expr(out, expr);
    }
}

static void print_body(FILE *out, const StmtList *body, int indent);

static void print_params(FILE *out, const ParamList *params) {
    fputs(" (", out);
    for (int i = 0; i < params->count; i++) {
        const Param *param = &params->item[i];
        fputs(i > 0 ? " " : "", out);
        if (param->value == NULL)
            fputs(param->name, out);
        else
            print_form(out, param->name, param->value, NULL, NULL);
    }
    fputc(')', out);
}

static void print_arms(FILE *out, const ArmList *arms, int indent) {
    fputs("(if", out);
    for (int i = 0; i < arms->count; i++) {
        const Arm *arm = &arms->item[i];
        fprintf(out, "\n%*s(", 8 + indent + 2, "");
        if (arm->condition != NULL)
            print_expr(out, arm->condition);
        else
            fputs("else", out);
        print_body(out, &arm->body, indent + 4);
        fputc(')', out);
    }
    fputc(')', out);
}

static void print_stmt(FILE *out, const Stmt *stmt, int indent) {
    static const char *const head[] = {
        [STMT_LET] = "let",       [STMT_INPUT] = "input",     [STMT_TARGET] = "target",
        [STMT_OUTPUT] = "output", [STMT_LAYER] = "layer",     [STMT_BLOCK] = "block",
        [STMT_RETURN] = "return", [STMT_SET] = "=",           [STMT_EXTEND] = "+=",
        [STMT_FOR] = "for",       [STMT_SECTION] = "section", [STMT_SETTING] = "setting"};
    char span[32];
    snprintf(span, sizeof span, "%d:%d", stmt->span.line, stmt->span.column);
    fprintf(out, "\n%-8s%*s", span, indent, "");
    if (stmt->kind == STMT_IF) {
        print_arms(out, &stmt->arms, indent);
        return;
    }
    fprintf(out, "(%s", head[stmt->kind]);
    if (stmt->name != NULL)
        fprintf(out, " %s", stmt->name);
    if (stmt->kind == STMT_BLOCK)
        print_params(out, &stmt->params);
    print_exprs(out, &stmt->targets);
    print_args(out, &stmt->args);
    if (stmt->value != NULL) {
        fputc(' ', out);
        print_expr(out, stmt->value);
    }
    print_body(out, &stmt->body, indent + 2);
    fputc(')', out);
}

static void print_body(FILE *out, const StmtList *body, int indent) {
    for (int i = 0; i < body->count; i++)
        print_stmt(out, body->item[i], indent);
}

void ast_print(const Ast *ast, FILE *out) {
    fprintf(out, "%-8s(file", "");
    print_body(out, &ast->body, 2);
    fputs(")\n", out);
}
