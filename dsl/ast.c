/* ast.c - makes the syntax tree, one function per rule of the grammar, and prints it. */
#include "parse.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* ---- lists ---------------------------------------------------------------------------------------- */

Ast *ast_file(Parser *p, StmtList *body) {
    Ast *ast = NEW(p->pool, Ast);
    ast->body = *body;
    return ast;
}

StmtList *stmts_none(Parser *p) {
    return NEW(p->pool, StmtList);
}

StmtList *stmts_add(Parser *p, StmtList *list, Stmt *stmt) {
    PUSH(p->pool, list->item, list->count, stmt);
    return list;
}

ExprList *exprs_one(Parser *p, Expr *expr) {
    return exprs_add(p, NEW(p->pool, ExprList), expr);
}

ExprList *exprs_add(Parser *p, ExprList *list, Expr *expr) {
    PUSH(p->pool, list->item, list->count, expr);
    return list;
}

ArgList *args_none(Parser *p) {
    return NEW(p->pool, ArgList);
}

ArgList *args_add(Parser *p, ArgList *list, Arg *arg) {
    PUSH(p->pool, list->item, list->count, *arg);
    return list;
}

ParamList *params_none(Parser *p) {
    return NEW(p->pool, ParamList);
}

ParamList *params_add(Parser *p, ParamList *list, Param *param) {
    PUSH(p->pool, list->item, list->count, *param);
    return list;
}

ArmList *arms_none(Parser *p) {
    return NEW(p->pool, ArmList);
}

ArmList *arms_add(Parser *p, ArmList *list, Expr *condition, StmtList *body) {
    PUSH(p->pool, list->item, list->count, ((Arm){condition, *body}));
    return list;
}

Arg *arg_new(Parser *p, Place place, const char *name, Place name_place, Expr *value) {
    Arg *arg = NEW(p->pool, Arg);
    *arg = (Arg){name, name_place, place, value};
    return arg;
}

Param *param_new(Parser *p, Place place, const char *name, Expr *value) {
    Param *param = NEW(p->pool, Param);
    *param = (Param){name, place, value};
    return param;
}

/* ---- statements ----------------------------------------------------------------------------------- */

static Stmt *stmt_new(Parser *p, StmtKind kind, Place place) {
    Stmt *stmt = NEW(p->pool, Stmt);
    stmt->kind = kind;
    stmt->place = place;
    return stmt;
}

Stmt *stmt_define(Parser *p, StmtKind kind, Place place, const char *name, Place name_place, Expr *value) {
    Stmt *stmt = stmt_new(p, kind, place);
    stmt->name = name;
    stmt->name_place = name_place;
    stmt->value = value;
    return stmt;
}

Stmt *stmt_block(Parser *p, Place place, const char *name, Place name_place, ParamList *params,
                 StmtList *body) {
    Stmt *stmt = stmt_define(p, STMT_BLOCK, place, name, name_place, NULL);
    stmt->params = *params;
    stmt->body = *body;
    return stmt;
}

Stmt *stmt_return(Parser *p, Place place, ExprList *values) {
    Stmt *stmt = stmt_new(p, STMT_RETURN, place);
    stmt->targets = *values;
    return stmt;
}

Stmt *stmt_set(Parser *p, StmtKind kind, Place place, ExprList *targets, Expr *value) {
    Stmt *stmt = stmt_new(p, kind, place);
    stmt->targets = *targets;
    stmt->value = value;
    return stmt;
}

Stmt *stmt_source(Parser *p, Place place, const char *name, Place name_place, Expr *value) {
    return stmt_set(p, STMT_SET, place, exprs_one(p, expr_word(p, EXPR_NAME, name_place, name)), value);
}

Stmt *stmt_for(Parser *p, Place place, const char *name, Place name_place, Expr *list, StmtList *body) {
    Stmt *stmt = stmt_define(p, STMT_FOR, place, name, name_place, list);
    stmt->body = *body;
    return stmt;
}

Stmt *stmt_if(Parser *p, Place place, Expr *condition, StmtList *body, ArmList *others,
              StmtList *otherwise) {
    Stmt *stmt = stmt_new(p, STMT_IF, place);
    arms_add(p, &stmt->arms, condition, body);
    for (int i = 0; i < others->count; i++)
        arms_add(p, &stmt->arms, others->item[i].condition, &others->item[i].body);
    if (otherwise != NULL)
        arms_add(p, &stmt->arms, NULL, otherwise);
    return stmt;
}

Stmt *stmt_section(Parser *p, Place place, const char *name, StmtList *body) {
    Stmt *stmt = stmt_define(p, STMT_SECTION, place, name, place, NULL);
    stmt->body = *body;
    return stmt;
}

Stmt *stmt_setting(Parser *p, Place place, const char *name, Place name_place, ArgList *args) {
    Stmt *stmt = stmt_define(p, STMT_SETTING, place, name, name_place, NULL);
    stmt->args = *args;
    return stmt;
}

/* ---- expressions ---------------------------------------------------------------------------------- */

static Expr *expr_new(Parser *p, ExprKind kind, Place place) {
    Expr *expr = NEW(p->pool, Expr);
    expr->kind = kind;
    expr->place = expr->mark = place;
    return expr;
}

/* CHILD is below EXPR.  Trees that are too deep are reported, so that those who walk them may recurse. */
static void put_below(Parser *p, Expr *expr, const Expr *child) {
    if (child->depth < expr->depth)
        return;
    expr->depth = child->depth + 1;
    if (expr->depth == MAX_DEPTH)
        parser_exhausted(p, expr->place);
}

static void put_args_below(Parser *p, Expr *expr, const ArgList *args) {
    for (int i = 0; i < args->count; i++)
        put_below(p, expr, args->item[i].value);
}

Expr *expr_word(Parser *p, ExprKind kind, Place place, const char *text) {
    Expr *expr = expr_new(p, kind, place);
    expr->text = text;
    return expr;
}

Expr *expr_integer(Parser *p, ExprKind kind, Place place, int64_t value) {
    Expr *expr = expr_new(p, kind, place);
    expr->integer = value;
    return expr;
}

Expr *expr_real(Parser *p, Place place, double value) {
    Expr *expr = expr_new(p, EXPR_REAL, place);
    expr->real = value;
    return expr;
}

Expr *expr_list(Parser *p, Place place, ExprList *items) {
    Expr *expr = expr_new(p, EXPR_LIST, place);
    if (items != NULL)
        expr->items = *items;
    for (int i = 0; i < expr->items.count; i++)
        put_below(p, expr, expr->items.item[i]);
    return expr;
}

Expr *expr_group(Parser *p, Place place, Expr *inside) {
    Expr *expr = expr_new(p, EXPR_GROUP, place);
    expr->left = inside;
    put_below(p, expr, inside);
    return expr;
}

Expr *expr_call(Parser *p, Place place, const char *name, Place name_place, ArgList *args) {
    Expr *expr = expr_word(p, EXPR_CALL, place, name);
    expr->mark = name_place;
    expr->args = *args;
    put_args_below(p, expr, args);
    return expr;
}

Expr *expr_chain(Parser *p, Place place, Expr *left, Expr *link) {
    Expr *expr = left;
    if (left->kind != EXPR_CHAIN) {
        expr = expr_new(p, EXPR_CHAIN, place);
        expr->left = left;
        put_below(p, expr, left);
    }
    expr->place = place;
    exprs_add(p, &expr->items, link);
    put_below(p, expr, link);
    return expr;
}

Expr *expr_index(Parser *p, Place place, Expr *left, Expr *index) {
    Expr *expr = expr_new(p, EXPR_INDEX, place);
    expr->left = left;
    expr->right = index;
    put_below(p, expr, left);
    put_below(p, expr, index);
    return expr;
}

Expr *expr_unary(Parser *p, Place place, Operator op, Place mark, Expr *operand) {
    Expr *expr = expr_new(p, EXPR_UNARY, place);
    expr->op = op;
    expr->mark = mark;
    expr->left = operand;
    put_below(p, expr, operand);
    return expr;
}

Expr *expr_binary(Parser *p, Place place, Operator op, Place mark, Expr *left, Expr *right) {
    Expr *expr = expr_unary(p, place, op, mark, left);
    expr->kind = EXPR_BINARY;
    expr->right = right;
    put_below(p, expr, right);
    return expr;
}

Expr *expr_choice(Parser *p, Place place, Expr *left, Expr *condition, Expr *right) {
    Expr *expr = expr_new(p, EXPR_CHOICE, place);
    expr->left = left;
    expr->condition = condition;
    expr->right = right;
    put_below(p, expr, left);
    put_below(p, expr, condition);
    put_below(p, expr, right);
    return expr;
}

const Expr *expr_inside(const Expr *expr) {
    while (expr->kind == EXPR_GROUP)
        expr = expr->left;
    return expr;
}

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

static void write_expr(FILE *out, const Expr *expr) {
    switch (expr->kind) {
    case EXPR_NAME:
        fputs(expr->text, out);
        break;
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
        environment_error("out of memory");
    write_expr(out, expr);
    if (fclose(out) != 0)
        environment_error("out of memory");
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
    char place[32];
    snprintf(place, sizeof place, "%d:%d", stmt->place.line, stmt->place.column);
    fprintf(out, "\n%-8s%*s", place, indent, "");
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
