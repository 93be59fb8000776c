/* ast.c - makes the syntax tree, one function per rule of the grammar. */
#include "parse.h"

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

Arg *arg_new(Parser *p, Span span, const char *name, Span name_span, Expr *value) {
    Arg *arg = NEW(p->pool, Arg);
    *arg = (Arg){name, name_span, span, value};
    return arg;
}

Param *param_new(Parser *p, Span span, const char *name, Expr *value) {
    Param *param = NEW(p->pool, Param);
    *param = (Param){name, span, value};
    return param;
}

/* ---- statements ----------------------------------------------------------------------------------- */

static Stmt *stmt_new(Parser *p, StmtKind kind, Span span) {
    Stmt *stmt = NEW(p->pool, Stmt);
    stmt->kind = kind;
    stmt->span = span;
    return stmt;
}

Stmt *stmt_define(Parser *p, StmtKind kind, Span span, const char *name, Span name_span, Expr *value) {
    Stmt *stmt = stmt_new(p, kind, span);
    stmt->name = name;
    stmt->name_span = name_span;
    stmt->value = value;
    return stmt;
}

Stmt *stmt_block(Parser *p, Span span, const char *name, Span name_span, ParamList *params,
                 StmtList *body) {
    Stmt *stmt = stmt_define(p, STMT_BLOCK, span, name, name_span, NULL);
    stmt->params = *params;
    stmt->body = *body;
    return stmt;
}

Stmt *stmt_return(Parser *p, Span span, ExprList *values) {
    Stmt *stmt = stmt_new(p, STMT_RETURN, span);
    stmt->targets = *values;
    return stmt;
}

Stmt *stmt_set(Parser *p, StmtKind kind, Span span, ExprList *targets, Expr *value) {
    Stmt *stmt = stmt_new(p, kind, span);
    stmt->targets = *targets;
    stmt->value = value;
    return stmt;
}

Stmt *stmt_source(Parser *p, Span span, const char *name, Span name_span, Expr *value) {
    return stmt_set(p, STMT_SET, span, exprs_one(p, expr_word(p, EXPR_NAME, name_span, name)), value);
}

Stmt *stmt_for(Parser *p, Span span, ExprList *names, Expr *list, StmtList *body) {
    const Expr *first = names->item[0];
    Stmt *stmt = stmt_define(p, STMT_FOR, span, first->text, first->span, list);
    stmt->targets = (ExprList){names->item + 1, names->count - 1};
    stmt->body = *body;
    return stmt;
}

Stmt *stmt_if(Parser *p, Span span, Expr *condition, StmtList *body, ArmList *others, StmtList *otherwise) {
    Stmt *stmt = stmt_new(p, STMT_IF, span);
    arms_add(p, &stmt->arms, condition, body);
    for (int i = 0; i < others->count; i++)
        arms_add(p, &stmt->arms, others->item[i].condition, &others->item[i].body);
    if (otherwise != NULL)
        arms_add(p, &stmt->arms, NULL, otherwise);
    return stmt;
}

Stmt *stmt_section(Parser *p, Span span, const char *name, StmtList *body) {
    Stmt *stmt = stmt_define(p, STMT_SECTION, span, name, span, NULL);
    stmt->body = *body;
    return stmt;
}

Stmt *stmt_setting(Parser *p, Span span, const char *name, Span name_span, ArgList *args) {
    Stmt *stmt = stmt_define(p, STMT_SETTING, span, name, name_span, NULL);
    stmt->args = *args;
    return stmt;
}

/* ---- expressions ---------------------------------------------------------------------------------- */

static Expr *expr_new(Parser *p, ExprKind kind, Span span) {
    Expr *expr = NEW(p->pool, Expr);
    expr->kind = kind;
    expr->span = expr->mark = span;
    return expr;
}

/* CHILD is below EXPR.  Trees that are too deep are reported, so that those who walk them may recurse. */
static void put_below(Parser *p, Expr *expr, const Expr *child) {
    if (child->depth < expr->depth)
        return;
    expr->depth = child->depth + 1;
    if (expr->depth == MAX_DEPTH)
        parser_exhausted(p, expr->span);
}

static void put_args_below(Parser *p, Expr *expr, const ArgList *args) {
    for (int i = 0; i < args->count; i++)
        put_below(p, expr, args->item[i].value);
}

Expr *expr_word(Parser *p, ExprKind kind, Span span, const char *text) {
    Expr *expr = expr_new(p, kind, span);
    expr->text = text;
    return expr;
}

Expr *expr_integer(Parser *p, ExprKind kind, Span span, int64_t value) {
    Expr *expr = expr_new(p, kind, span);
    expr->integer = value;
    return expr;
}

Expr *expr_real(Parser *p, Span span, double value) {
    Expr *expr = expr_new(p, EXPR_REAL, span);
    expr->real = value;
    return expr;
}

Expr *expr_list(Parser *p, Span span, ExprList *items) {
    Expr *expr = expr_new(p, EXPR_LIST, span);
    if (items != NULL)
        expr->items = *items;
    for (int i = 0; i < expr->items.count; i++)
        put_below(p, expr, expr->items.item[i]);
    return expr;
}

Expr *expr_parts(Parser *p, Expr *text, ExprList *parts) {
    text->items = *parts;
    for (int i = 0; i < parts->count; i++)
        put_below(p, text, parts->item[i]);
    return text;
}

Expr *expr_group(Parser *p, Span span, Expr *inside) {
    Expr *expr = expr_new(p, EXPR_GROUP, span);
    expr->left = inside;
    put_below(p, expr, inside);
    return expr;
}

Expr *expr_call(Parser *p, Span span, const char *name, Span name_span, ArgList *args) {
    Expr *expr = expr_word(p, EXPR_CALL, span, name);
    expr->mark = name_span;
    expr->args = *args;
    put_args_below(p, expr, args);
    return expr;
}

Expr *expr_chain(Parser *p, Span span, Expr *left, Expr *link) {
    Expr *expr = left;
    if (left->kind != EXPR_CHAIN) {
        expr = expr_new(p, EXPR_CHAIN, span);
        expr->left = left;
        put_below(p, expr, left);
    }
    expr->span = span;
    exprs_add(p, &expr->items, link);
    put_below(p, expr, link);
    return expr;
}

Expr *expr_index(Parser *p, Span span, Expr *left, Expr *index) {
    Expr *expr = expr_new(p, EXPR_INDEX, span);
    expr->left = left;
    expr->right = index;
    put_below(p, expr, left);
    put_below(p, expr, index);
    return expr;
}

Expr *expr_unary(Parser *p, Span span, Operator op, Span mark, Expr *operand) {
    Expr *expr = expr_new(p, EXPR_UNARY, span);
    expr->op = op;
    expr->mark = mark;
    expr->left = operand;
    put_below(p, expr, operand);
    return expr;
}

Expr *expr_binary(Parser *p, Span span, Operator op, Span mark, Expr *left, Expr *right) {
    Expr *expr = expr_unary(p, span, op, mark, left);
    expr->kind = EXPR_BINARY;
    expr->right = right;
    put_below(p, expr, right);
    return expr;
}

Expr *expr_choice(Parser *p, Span span, Expr *left, Expr *condition, Expr *right) {
    Expr *expr = expr_new(p, EXPR_CHOICE, span);
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
