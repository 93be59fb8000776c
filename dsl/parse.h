/* parse.h - shared by the lexer, the grammar and the makers of the tree.  Private to dsl/. */
#ifndef PARSE_H
#define PARSE_H

#include "ast.h"

enum { MAX_OPEN = 256, MAX_DEPTH = 200 };

typedef struct {
    const char *text; /* in the source */
    int length;
    Span span;
} Word;

typedef struct Parser {
    Pool *pool;
    Diag *diag;
    const char *text;   /* the whole source */
    const char *at;     /* how far the lexer has read */
    int line, column;   /* of `at` */
    const char *next;   /* the first word behind the last newline read; between them are only comments */
    Word last, current; /* the word before the one just read, and that one */

    int nopen; /* ( and [ not yet closed: the end of a line means nothing inside them */
    Word open[MAX_OPEN];
    int nbrace; /* { not yet closed */
    Word brace[MAX_OPEN];
    bool lost[MAX_OPEN]; /* that brace was thrown away after an error, so its partner is too */
    Word closed;         /* what the last ) ] or } closed; length 0: nothing was open */
    Word suspect;        /* the first { that was closed left of its line: it may be the one without a } */
    bool told_brace;     /* an open brace was reported: another section, or the end, tells the same */
    int headless;        /* bodies whose { is missing, which was reported: their } close nothing */

    int error_line;        /* where the last error was: one a line is enough */
    bool told_python;      /* a note said that this is not Python */
    bool skipping;         /* the rest of the line is thrown away after an error */
    const char *brace_end; /* of an expression in a text: what stands for the brace behind it; else NULL */
    Ast *ast;
} Parser;

/* Lexer: a word has been read.  Returns its span. */
Span word_read(Parser *p, const char *text, int length);
bool ends_statement(Parser *p); /* does the newline just read end one? */
void line_read(Parser *p);      /* a statement has ended, and with it the skipping after an error */
int64_t number_integer(Parser *p, const char *text, int length, Span span);
double number_real(Parser *p, const char *text, int length);
int64_t number_bytes(Parser *p, const char *text, int length, Span span);

bool in_word(char c); /* a letter, a digit or _ */
/* Marks the line, so that errors that follow from the mistake are not reported.  False: the line has its
 * error. */
bool first_mistake(Parser *p, int line);
const char *without_underscores(Parser *p, const char *text, int length);

/* Mistakes that the lexer recognises; it then goes on as if the right thing were there. */
void mistake_semicolon(Parser *p);
void mistake_caret(Parser *p);
void mistake_unit(Parser *p);
void mistake_quote(Parser *p);
void mistake_single_quotes(Parser *p);
void mistake_else_if(Parser *p);
void mistake_bare_point(Parser *p);

/* ---- brackets.c ---- */

void bracket_open(Parser *p);
void bracket_close(Parser *p);
void brace_open(Parser *p);
bool brace_close(Parser *p); /* false: its partner was thrown away, forget this one too */
/* FOUND, the symbol of the word just read, fits nowhere.  Does that follow from a brace that was reported?
 */
bool follows_from_brace(const Parser *p, const char *found);
/* If a bracket or a brace is to blame: begins a diagnostic and returns true. */
bool report_bracket(Parser *p, const char *found);

/* ---- words of the grammar, and what fits nowhere: mistakes.c, habits.c ---- */

const char *word_text(Parser *p, Word word);
bool word_is(Word word, const char *text);
bool word_among(Word word, const char *const *list); /* which NULL ends */

/* The word just read fits nowhere: names of the grammar's symbols. */
typedef struct {
    const char *found;
    const char *const *expected;
    int nexpected;
} Misfit;

bool expects(const Misfit *m, const char *symbol);
/* The text to write in place of a habit from another language (habits.c); NULL: nothing comes to mind. */
const char *habit(Parser *p, const Misfit *m);

/* The word just read fits nowhere.  FOUND and EXPECTED are names of the grammar's symbols. */
void syntax_error(Parser *p, const char *found, const char *const *expected, int nexpected);
void parser_exhausted(Parser *p, Span span);

/* The tree of TEXT, a line that begins at LINE and COLUMN of the source, with an expression of a text: the
 * brace behind it is at BRACE_END. */
const Ast *parse_part(Parser *p, const char *text, const char *brace_end, int line, int column);

/* ---- makers, one per rule of the grammar ---------------------------------------------------------- */

Ast *ast_file(Parser *p, StmtList *body);

StmtList *stmts_none(Parser *p);
StmtList *stmts_add(Parser *p, StmtList *list, Stmt *stmt);
ExprList *exprs_one(Parser *p, Expr *expr);
ExprList *exprs_add(Parser *p, ExprList *list, Expr *expr);
ArgList *args_none(Parser *p);
ArgList *args_add(Parser *p, ArgList *list, Arg *arg);
ParamList *params_none(Parser *p);
ParamList *params_add(Parser *p, ParamList *list, Param *param);
ArmList *arms_none(Parser *p);
ArmList *arms_add(Parser *p, ArmList *list, Expr *condition, StmtList *body);

Arg *arg_new(Parser *p, Span span, const char *name, Span name_span, Expr *value);
Param *param_new(Parser *p, Span span, const char *name, Expr *value);

/* `word name = value`, for let, input, target, output, layer. */
Stmt *stmt_define(Parser *p, StmtKind kind, Span span, const char *name, Span name_span, Expr *value);
Stmt *stmt_block(Parser *p, Span span, const char *name, Span name_span, ParamList *params, StmtList *body);
Stmt *stmt_return(Parser *p, Span span, ExprList *values);
Stmt *stmt_set(Parser *p, StmtKind kind, Span span, ExprList *targets, Expr *value);
Stmt *stmt_source(Parser *p, Span span, const char *name, Span name_span, Expr *value);
Stmt *stmt_for(Parser *p, Span span, ExprList *names, Expr *list, StmtList *body);
Stmt *stmt_if(Parser *p, Span span, Expr *condition, StmtList *body, ArmList *others, StmtList *otherwise);
Stmt *stmt_section(Parser *p, Span span, const char *name, StmtList *body);
Stmt *stmt_setting(Parser *p, Span span, const char *name, Span name_span, ArgList *args);

Expr *expr_word(Parser *p, ExprKind kind, Span span, const char *text);
/* filled.c: a text, with the expressions in its braces. */
Expr *expr_filled(Parser *p, Span span, const char *text);
Expr *expr_parts(Parser *p, Expr *text, ExprList *parts);
Expr *expr_integer(Parser *p, ExprKind kind, Span span, int64_t value);
Expr *expr_real(Parser *p, Span span, double value);
Expr *expr_list(Parser *p, Span span, ExprList *items);
Expr *expr_group(Parser *p, Span span, Expr *inside);
Expr *expr_call(Parser *p, Span span, const char *name, Span name_span, ArgList *args);
Expr *expr_chain(Parser *p, Span span, Expr *left, Expr *link);
Expr *expr_index(Parser *p, Span span, Expr *left, Expr *index);
Expr *expr_unary(Parser *p, Span span, Operator op, Span mark, Expr *operand);
Expr *expr_binary(Parser *p, Span span, Operator op, Span mark, Expr *left, Expr *right);
Expr *expr_choice(Parser *p, Span span, Expr *left, Expr *condition, Expr *right);

#endif
