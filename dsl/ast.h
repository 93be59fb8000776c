/* ast.h - the syntax tree of a .unet file.
 *
 * The tree has the written text and nothing about its meaning: names are texts, a setting is a name with
 * arguments, `a -> f(b)` is a chain of calls that still lack their first argument.  Every node has
 * a span.  All of it lives in the pool that was given to parse().
 */
#ifndef AST_H
#define AST_H

#include "base/diag.h"
#include "base/memory.h"
#include "base/span.h"
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

typedef enum {
    EXPR_NAME,    /* text */
    EXPR_INTEGER, /* integer */
    EXPR_REAL,    /* real */
    EXPR_BYTES,   /* integer: 8GiB */
    EXPR_TEXT,    /* text, without the quotes; with expressions in braces its parts are items, too */
    EXPR_TRUTH,   /* integer: 0 or 1 */
    EXPR_LIST,    /* items */
    EXPR_GROUP,   /* (left) */
    EXPR_CALL,    /* text(args); mark: the name */
    EXPR_CHAIN,   /* left -> items, each an EXPR_CALL */
    EXPR_INDEX,   /* left[right] */
    EXPR_UNARY,   /* op left; mark: the operator */
    EXPR_BINARY,  /* left op right; mark: the operator */
    EXPR_CHOICE   /* left if condition else right */
} ExprKind;

typedef enum {
    OPERATOR_OR,
    OPERATOR_AND,
    OPERATOR_EQUAL,
    OPERATOR_UNEQUAL,
    OPERATOR_LESS,
    OPERATOR_LESS_EQUAL,
    OPERATOR_GREATER,
    OPERATOR_GREATER_EQUAL,
    OPERATOR_ADD,
    OPERATOR_SUBTRACT,
    OPERATOR_MULTIPLY,
    OPERATOR_DIVIDE,
    OPERATOR_FLOOR_DIVIDE,
    OPERATOR_MODULO,
    OPERATOR_POWER,
    OPERATOR_NEGATE,
    OPERATOR_NOT
} Operator;

typedef struct Expr Expr;

typedef struct {
    Expr **item;
    int count;
} ExprList;

/* `value`, or `name = value`: then the span of the name, else one with line 0. */
typedef struct {
    const char *name;
    Span name_span, span;
    Expr *value;
} Arg;

typedef struct {
    Arg *item;
    int count;
} ArgList;

struct Expr {
    ExprKind kind;
    Operator op;
    int depth; /* of the tree below; limited, so that walks may recurse */
    Span span, mark;
    const char *text;
    int64_t integer;
    double real;
    Expr *left, *right, *condition;
    ExprList items;
    ArgList args;
};

typedef struct {
    const char *name;
    Span span;
    Expr *value; /* the default, or NULL */
} Param;

typedef struct {
    Param *item;
    int count;
} ParamList;

typedef enum {
    STMT_LET,     /* let name = value */
    STMT_INPUT,   /* input name : type, the type as a call */
    STMT_TARGET,  /* the same */
    STMT_OUTPUT,  /* output name = value */
    STMT_LAYER,   /* layer name = value, a call that lacks its first argument */
    STMT_BLOCK,   /* block name(params) body */
    STMT_RETURN,  /* return targets */
    STMT_SET,     /* targets = value: names or indices of names */
    STMT_EXTEND,  /* targets[0] += value */
    STMT_FOR,     /* for name, targets in value body: further names, if there are */
    STMT_IF,      /* arms */
    STMT_SECTION, /* name body */
    STMT_SETTING  /* name args, in a section */
} StmtKind;

typedef struct Stmt Stmt;

typedef struct {
    Stmt **item;
    int count;
} StmtList;

/* `if`, each `elif`, and `else` with condition NULL. */
typedef struct {
    Expr *condition;
    StmtList body;
} Arm;

typedef struct {
    Arm *item;
    int count;
} ArmList;

struct Stmt {
    StmtKind kind;
    Span span, name_span; /* span: all of its first line */
    const char *name;
    Expr *value;
    ExprList targets;
    ParamList params;
    ArgList args;
    StmtList body;
    ArmList arms;
};

typedef struct {
    StmtList body;
} Ast;

/* Reports the errors of TEXT and returns the tree of the right parts, or NULL when nothing could be saved.
 */
Ast *parse(Pool *pool, Diag *diag, const char *text);

/* The tree as nested parentheses, one statement a line, each with its line and column in front. */
void ast_print(const Ast *ast, FILE *out);

/* The reserved words, ended by NULL. */
const char *const *reserved_words(void);

/* EXPR as one would write it, with usual spacing. */
const char *expr_text(Pool *pool, const Expr *expr);
const char *operator_text(Operator op);

/* EXPR without the parentheses around it. */
const Expr *expr_inside(const Expr *expr);

#endif
