/* filled.c - texts with expressions in braces.
 *
 *     "fold_{k}.png"     the parts  "fold_"  k  ".png"
 *     "a.{jpg,png}"      a text: with a comma, braces hold alternatives of a pattern
 *     "a.{}"             a text
 *
 * The expression is parsed as one of a line of its own, whose columns begin where the braces do, so that
 * messages point into the text.
 *
 * Requires: a text between quotes, just read.  Provides: its tree; with parts, if it has expressions.
 */
#include "parse.h"

#include <string.h>

static const char before[] = "let _ = (", behind[] = ")\n";

/* A pair of braces within TEXT; without OPEN there is none. */
typedef struct {
    const char *open, *close;
} Hole;

/* Is there something between the braces, with as many brackets closed as opened, and no comma outside? */
static bool holds_expression(Hole hole) {
    int depth = 0;
    bool blank = true;
    for (const char *s = hole.open + 1; s < hole.close; s++) {
        depth += (*s == '(' || *s == '[') - (*s == ')' || *s == ']');
        if (depth < 0 || (*s == ',' && depth == 0))
            return false;
        blank &= *s == ' ';
    }
    return !blank && depth == 0;
}

/* The first braces from TEXT on that hold an expression. */
static Hole next_hole(const char *text) {
    for (const char *open = strchr(text, '{'); open != NULL; open = strchr(open + 1, '{')) {
        const Hole hole = {open, strchr(open, '}')};
        if (hole.close != NULL && memchr(open + 1, '{', (size_t)(hole.close - open) - 1) == NULL &&
            holds_expression(hole))
            return hole;
    }
    return (Hole){NULL, NULL};
}

/* How many columns the text from FROM to TO has. */
static int columns(const char *from, const char *to) {
    int count = 0;
    for (; from < to; from++)
        count += (*from & 0xC0) != 0x80;
    return count;
}

/* The expression within HOLE, whose first brace is at COLUMN; NULL, after an error, if it is none. */
static Expr *parse_hole(Parser *p, Hole hole, int line, int column) {
    const int length = (int)(hole.close - hole.open) - 1;
    const char *text = pool_text(p->pool, "%s%.*s%s", before, length, hole.open + 1, behind);
    const Ast *ast =
        parse_part(p, text, text + strlen(before) + (size_t)length, line, column + 1 - (int)strlen(before));
    const Stmt *stmt = ast != NULL && ast->body.count == 1 ? ast->body.item[0] : NULL;
    return stmt != NULL && stmt->kind == STMT_LET ? stmt->value : NULL;
}

Expr *expr_filled(Parser *p, Span span, const char *text) {
    Expr *expr = expr_word(p, EXPR_TEXT, span, text);
    ExprList *parts = NULL;
    const char *at = text;
    for (Hole hole = next_hole(at); hole.open != NULL; hole = next_hole(at)) {
        const char *plain = pool_copy(p->pool, at, (size_t)(hole.open - at));
        Expr *filled = parse_hole(p, hole, span.line, span.column + 1 + columns(text, hole.open));
        if (filled == NULL)
            return expr_word(p, EXPR_TEXT, span, "");
        Expr *word = expr_word(p, EXPR_TEXT, span, plain);
        parts = parts == NULL ? exprs_one(p, word) : exprs_add(p, parts, word);
        exprs_add(p, parts, filled);
        at = hole.close + 1;
    }
    return parts == NULL ? expr
                         : expr_parts(p, expr, exprs_add(p, parts, expr_word(p, EXPR_TEXT, span, at)));
}
