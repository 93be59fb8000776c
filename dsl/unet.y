/* unet.y - the grammar of the language.
 *
 * One rule per level of precedence, so there is no table of precedences and no conflict.  An error throws away
 * the rest of its line and parsing goes on with the next.  The place of a statement (`return` only in a block)
 * is checked later: the grammar is smaller for it and the message better.
 */
%define api.pure full
%define api.location.type {Span}
%define api.value.type union
%define parse.error custom
%define parse.lac full
%locations
%expect 0
%lex-param { void *scanner }
%parse-param { void *scanner } { Parser *p }

%code requires {
#include "parse.h"
}

%code {
#define YYMAXDEPTH 4000

/* From the first to the last; what goes on in a later line is marked to the end of the first. */
#define YYLLOC_DEFAULT(result, right, n) ((result) = join_spans(&YYRHSLOC(right, 0), n))

static Span join_spans(const Span *span, int n) {
    if (n == 0)
        return (Span){span[0].line, span[0].column, 0};
    Span joined = span[1];
    joined.width = span[n].line == joined.line ? span[n].column + span[n].width - joined.column : 1 << 20;
    return joined;
}

int yylex(YYSTYPE *value, Span *span, void *scanner);
static void yyerror(const Span *span, void *scanner, Parser *p, const char *message);

}

%token END 0 "the end of the file" NEWLINE "the end of the line" STRAY "a stray character"
%token <const char *> NAME "a name" STRING "a text"
%token <int64_t> INTEGER "a whole number" BYTES "a size"
%token <double> REAL "a number"
%token LET "let" INPUT "input" TARGET "target" OUTPUT "output" BLOCK "block" LAYER "layer" RETURN "return"
%token FOR "for" IN "in" IF "if" ELIF "elif" ELSE "else" AND "and" OR "or" NOT "not" TRUE "true" FALSE "false"
%token ARROW "->" PLUS_EQUAL "+=" POWER "**" FLOOR_DIVIDE "//"
%token EQUAL "==" UNEQUAL "!=" LESS_EQUAL "<=" GREATER_EQUAL ">="

%type <StmtList *> lines body otherwise items section item_body item_rest
%type <Stmt *> stmt item
%type <ArmList *> elifs item_elifs
%type <Expr *> type lvalue expr chain link choice or and not compare sum term unary power postfix primary
%type <ExprList *> names targets exprs
%type <ArgList *> args arg_list
%type <Arg *> arg
%type <ParamList *> params param_list
%type <Param *> param
%type <Operator> relation sign factor

%%

file      : lines                                   { p->ast = ast_file(p, $1); }
          | lines stmt                              { p->ast = ast_file(p, stmts_add(p, $1, $2)); }
          ;
lines     : %empty                                  { $$ = stmts_none(p); }
          | lines NEWLINE
          | lines stmt NEWLINE                      { $$ = stmts_add(p, $1, $2); }
          | lines error NEWLINE                     { yyerrok; }
          ;
stmt      : "let" NAME '=' expr                     { $$ = stmt_define(p, STMT_LET, @$, $2, @2, $4); }
          | "input" NAME ':' type                   { $$ = stmt_define(p, STMT_INPUT, @$, $2, @2, $4); }
          | "target" NAME ':' type                  { $$ = stmt_define(p, STMT_TARGET, @$, $2, @2, $4); }
          | "output" NAME '=' expr                  { $$ = stmt_define(p, STMT_OUTPUT, @$, $2, @2, $4); }
          | "layer" NAME '=' link                   { $$ = stmt_define(p, STMT_LAYER, @$, $2, @2, $4); }
          | "block" NAME '(' params ')' body        { $$ = stmt_block(p, @$, $2, @2, $4, $6); }
          | "return" exprs                          { $$ = stmt_return(p, @$, $2); }
          | targets '=' expr                        { $$ = stmt_set(p, STMT_SET, @$, $1, $3); }
          | lvalue "+=" expr                        { $$ = stmt_set(p, STMT_EXTEND, @$, exprs_one(p, $1), $3); }
          | "for" names "in" expr body              { $$ = stmt_for(p, @$, $2, $4, $5); }
          | "if" expr body elifs otherwise             { $$ = stmt_if(p, @$, $2, $3, $4, $5); }
          | NAME section                            { $$ = stmt_section(p, @1, $1, $2); }
          ;
type      : NAME                                    { $$ = expr_call(p, @$, $1, @1, args_none(p)); }
          | NAME '(' args ')'                       { $$ = expr_call(p, @$, $1, @1, $3); }
          ;
names     : NAME                                    { $$ = exprs_one(p, expr_word(p, EXPR_NAME, @$, $1)); }
          | names ',' NAME                          { $$ = exprs_add(p, $1, expr_word(p, EXPR_NAME, @3, $3)); }
          ;
params    : %empty                                  { $$ = params_none(p); }
          | param_list
          | param_list ','
          ;
param_list: param                                   { $$ = params_add(p, params_none(p), $1); }
          | param_list ',' param                    { $$ = params_add(p, $1, $3); }
          ;
param     : NAME                                    { $$ = param_new(p, @$, $1, NULL); }
          | NAME '=' expr                           { $$ = param_new(p, @1, $1, $3); }
          ;
body      : '{' lines '}'                           { $$ = $2; }
          | '{' lines stmt '}'                      { $$ = stmts_add(p, $2, $3); }
          | '{' lines error '}'                     { $$ = $2; yyerrok; }
          ;
elifs     : %empty                                  { $$ = arms_none(p); }
          | elifs "elif" expr body                  { $$ = arms_add(p, $1, $3, $4); }
          ;
otherwise : %empty                                  { $$ = NULL; }
          | "else" body                             { $$ = $2; }
          ;
targets   : lvalue                                  { $$ = exprs_one(p, $1); }
          | targets ',' lvalue                      { $$ = exprs_add(p, $1, $3); }
          ;
lvalue    : NAME                                    { $$ = expr_word(p, EXPR_NAME, @$, $1); }
          | lvalue '[' expr ']'                     { $$ = expr_index(p, @$, $1, $3); }
          ;
exprs     : expr                                    { $$ = exprs_one(p, $1); }
          | exprs ',' expr                          { $$ = exprs_add(p, $1, $3); }
          ;

section   : '{' items '}'                           { $$ = $2; }
          | '{' items item '}'                      { $$ = stmts_add(p, $2, $3); }
          | '{' items error '}'                     { $$ = $2; yyerrok; }
          ;
items     : %empty                                  { $$ = stmts_none(p); }
          | items NEWLINE
          | items item NEWLINE                      { $$ = stmts_add(p, $1, $2); }
          | items error NEWLINE                     { yyerrok; }
          ;
item      : "let" NAME '=' expr                     { $$ = stmt_define(p, STMT_LET, @$, $2, @2, $4); }
          | NAME '=' expr                           { $$ = stmt_source(p, @$, $1, @1, $3); }
          | NAME                                    { $$ = stmt_setting(p, @$, $1, @1, args_none(p)); }
          | NAME arg_list                           { $$ = stmt_setting(p, @$, $1, @1, $2); }
          | "for" names "in" expr item_body         { $$ = stmt_for(p, @$, $2, $4, $5); }
          | "if" expr item_body item_elifs item_rest { $$ = stmt_if(p, @$, $2, $3, $4, $5); }
          ;
item_body : section ;
item_elifs: %empty                                  { $$ = arms_none(p); }
          | item_elifs "elif" expr item_body        { $$ = arms_add(p, $1, $3, $4); }
          ;
item_rest : %empty                                  { $$ = NULL; }
          | "else" item_body                        { $$ = $2; }
          ;

expr      : choice | chain ;
chain     : postfix "->" link                       { $$ = expr_chain(p, @$, $1, $3); }
          | chain "->" link                         { $$ = expr_chain(p, @$, $1, $3); }
          ;
link      : NAME                                    { $$ = expr_call(p, @$, $1, @1, args_none(p)); }
          | NAME '(' args ')'                       { $$ = expr_call(p, @$, $1, @1, $3); }
          ;
choice    : or
          | or "if" or "else" choice                { $$ = expr_choice(p, @$, $1, $3, $5); }
          ;
or        : and
          | or "or" and                             { $$ = expr_binary(p, @$, OPERATOR_OR, @2, $1, $3); }
          ;
and       : not
          | and "and" not                           { $$ = expr_binary(p, @$, OPERATOR_AND, @2, $1, $3); }
          ;
not       : compare
          | "not" not                               { $$ = expr_unary(p, @$, OPERATOR_NOT, @1, $2); }
          ;
compare   : sum
          | sum relation sum                        { $$ = expr_binary(p, @$, $2, @2, $1, $3); }
          ;
relation  : "=="                                    { $$ = OPERATOR_EQUAL; }
          | "!="                                    { $$ = OPERATOR_UNEQUAL; }
          | '<'                                     { $$ = OPERATOR_LESS; }
          | "<="                                    { $$ = OPERATOR_LESS_EQUAL; }
          | '>'                                     { $$ = OPERATOR_GREATER; }
          | ">="                                    { $$ = OPERATOR_GREATER_EQUAL; }
          ;
sum       : term
          | sum sign term                           { $$ = expr_binary(p, @$, $2, @2, $1, $3); }
          ;
sign      : '+'                                     { $$ = OPERATOR_ADD; }
          | '-'                                     { $$ = OPERATOR_SUBTRACT; }
          ;
term      : unary
          | term factor unary                       { $$ = expr_binary(p, @$, $2, @2, $1, $3); }
          ;
factor    : '*'                                     { $$ = OPERATOR_MULTIPLY; }
          | '/'                                     { $$ = OPERATOR_DIVIDE; }
          | "//"                                    { $$ = OPERATOR_FLOOR_DIVIDE; }
          | '%'                                     { $$ = OPERATOR_MODULO; }
          ;
unary     : power
          | '-' unary                               { $$ = expr_unary(p, @$, OPERATOR_NEGATE, @1, $2); }
          ;
power     : postfix
          | postfix "**" unary                      { $$ = expr_binary(p, @$, OPERATOR_POWER, @2, $1, $3); }
          ;
postfix   : primary
          | NAME '(' args ')'                       { $$ = expr_call(p, @$, $1, @1, $3); }
          | postfix '[' expr ']'                    { $$ = expr_index(p, @$, $1, $3); }
          ;
primary   : NAME                                    { $$ = expr_word(p, EXPR_NAME, @$, $1); }
          | STRING                                  { $$ = expr_filled(p, @$, $1); }
          | INTEGER                                 { $$ = expr_integer(p, EXPR_INTEGER, @$, $1); }
          | BYTES                                   { $$ = expr_integer(p, EXPR_BYTES, @$, $1); }
          | REAL                                    { $$ = expr_real(p, @$, $1); }
          | "true"                                  { $$ = expr_integer(p, EXPR_TRUTH, @$, 1); }
          | "false"                                 { $$ = expr_integer(p, EXPR_TRUTH, @$, 0); }
          | '(' expr ')'                            { $$ = expr_group(p, @$, $2); }
          | '[' ']'                                 { $$ = expr_list(p, @$, NULL); }
          | '[' exprs ']'                           { $$ = expr_list(p, @$, $2); }
          | '[' exprs ',' ']'                       { $$ = expr_list(p, @$, $2); }
          ;
args      : %empty                                  { $$ = args_none(p); }
          | arg_list
          | arg_list ','
          ;
arg_list  : arg                                     { $$ = args_add(p, args_none(p), $1); }
          | arg_list ',' arg                        { $$ = args_add(p, $1, $3); }
          ;
arg       : expr                                    { $$ = arg_new(p, @$, NULL, @$, $1); }
          | NAME '=' expr                           { $$ = arg_new(p, @$, $1, @1, $3); }
          ;

%%

static int yyreport_syntax_error(const yypcontext_t *context, void *scanner, Parser *p) {
    (void)scanner;
    enum { MAX_TOKENS = YYNTOKENS };
    yysymbol_kind_t kind[MAX_TOKENS];
    const char *name[MAX_TOKENS];
    int n = yypcontext_expected_tokens(context, kind, MAX_TOKENS);
    if (n < 0)
        return n;
    for (int i = 0; i < n; i++)
        name[i] = yysymbol_name(kind[i]);
    yysymbol_kind_t found = yypcontext_token(context);
    syntax_error(p, found == YYSYMBOL_YYEMPTY ? "" : yysymbol_name(found), name, n);
    return 0;
}

/* Called by the skeleton only when its stack is full. */
static void yyerror(const Span *span, void *scanner, Parser *p, const char *message) {
    (void)scanner, (void)message;
    parser_exhausted(p, *span);
}

int yylex_init_extra(Parser *p, void **scanner);
int yylex_destroy(void *scanner);
struct yy_buffer_state *yy_scan_string(const char *text, void *scanner);

static Ast *parse_all(Parser *p) {
    const Word nothing = {"\n", 1, {0, 1, 0}};
    p->at = p->text;
    p->last = p->current = nothing;
    void *scanner;
    if (yylex_init_extra(p, &scanner) != 0)
        out_of_memory();
    if (yy_scan_string(p->text, scanner) == NULL)
        out_of_memory();
    yyparse(scanner, p);
    yylex_destroy(scanner);
    return p->ast;
}

Ast *parse(Pool *pool, Diag *diag, const char *text) {
    return parse_all(&(Parser){.pool = pool, .diag = diag, .text = text, .line = 1, .column = 1});
}

const Ast *parse_part(Parser *p, const char *text, const char *brace_end, int line, int column) {
    Parser part = {.pool = p->pool,
                   .diag = p->diag,
                   .text = text,
                   .brace_end = brace_end,
                   .line = line,
                   .column = column,
                   .error_line = p->error_line,
                   .told_python = p->told_python};
    const Ast *ast = parse_all(&part);
    p->error_line = part.error_line;
    p->told_python = part.told_python;
    return ast;
}
