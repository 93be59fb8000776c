/* brackets.c - which brackets and braces are open, and the errors of brackets without a partner.
 *
 * A brace that is never closed shows only at the end of the file, or where a section begins inside another;
 * the one to blame is then the first whose closing brace stands further to the left than the line that
 * opened it.
 */
#include "parse.h"

#include <string.h>

/* ---- open and closed ------------------------------------------------------------------------------ */

void bracket_open(Parser *p) {
    if (p->nopen < MAX_OPEN)
        p->open[p->nopen++] = p->current;
}

void bracket_close(Parser *p) {
    p->closed = p->nopen > 0 ? p->open[--p->nopen] : (Word){0};
}

void brace_open(Parser *p) {
    if (p->nbrace == MAX_OPEN)
        return;
    p->brace[p->nbrace] = p->current;
    p->lost[p->nbrace++] = p->skipping;
}

/* WORD is in the source; the start of its line. */
static const char *line_of(const Parser *p, Word word) {
    const char *line = word.text;
    while (line > p->text && line[-1] != '\n')
        line--;
    return line;
}

/* Blanks at the start of the line that WORD is in. */
static size_t indent(const Parser *p, Word word) {
    return strspn(line_of(p, word), " \t");
}

static bool starts_line(const Parser *p, Word word) {
    return line_of(p, word) + indent(p, word) == word.text;
}

bool brace_close(Parser *p) {
    if (p->nbrace == 0 && p->headless > 0) {
        p->headless--;
        return false;
    }
    p->closed = p->nbrace > 0 ? p->brace[--p->nbrace] : (Word){0};
    if (p->closed.length > 0 && p->lost[p->nbrace])
        return false;
    p->skipping = false;
    if (p->suspect.length == 0 && p->closed.length > 0 && starts_line(p, p->current) &&
        indent(p, p->current) < indent(p, p->closed))
        p->suspect = p->closed;
    return true;
}

/* ---- without a partner ---------------------------------------------------------------------------- */

/* A section in braces, or a word that only the file has in a section: no further to the right than the line
 * of the brace that is open, so the inside of that brace seems to be over. */
static bool starts_outside(const Parser *p, const char *found) {
    static const char *const sections[] = {"data", "train", "eval", "predict", NULL};
    static const char *const of_file[] = {"input", "target", "output", "block", "layer", NULL};
    const bool section = strcmp(found, "'{'") == 0;
    const int depth = p->nbrace - section; /* without the brace just read */
    const Word first = section ? p->last : p->current;
    return depth > 0 && first.length > 1 && word_among(first, section ? sections : of_file) &&
           starts_line(p, first) && indent(p, first) <= indent(p, p->brace[depth - 1]);
}

static bool ends_file(const char *found) {
    return strcmp(found, "the end of the file") == 0;
}

bool follows_from_brace(const Parser *p, const char *found) {
    return p->told_brace && ((ends_file(found) && p->nbrace > 0) || starts_outside(p, found));
}

static void begin(Parser *p, Word open) {
    diag_begin(p->diag, ERROR, "U0102", open.span, "this `%c` is never closed", *open.text);
    diag_label(p->diag, "opened here");
}

static bool report_brace(Parser *p, const char *found) {
    const bool outside = starts_outside(p, found), section = strcmp(found, "'{'") == 0;
    if (!outside && !(ends_file(found) && p->nbrace > 0))
        return false;
    p->told_brace = true;
    begin(p, p->suspect.length > 0 ? p->suspect : p->brace[p->nbrace - 1 - section]);
    if (outside)
        diag_also(p->diag, section ? p->last.span : p->current.span, "this seems to stand outside");
    return true;
}

/* In front of a brace, at the end, or where a new line begins: no bracket should be open there. */
static bool report_open(Parser *p, const char *found) {
    const bool end = strncmp(found, "the end", 7) == 0, ends_block = strcmp(found, "'}'") == 0,
               first = !end && p->last.span.line < p->current.span.line;
    if (p->nopen > 0 && p->open[p->nopen - 1].text == p->current.text) /* it fits nowhere itself */
        return false;
    if (p->nopen == 0 || !(end || ends_block || first || strcmp(found, "'{'") == 0))
        return false;
    begin(p, p->open[p->nopen - 1]);
    if (first)
        diag_also(p->diag, p->current.span,
                  ends_block ? "a block seems to end here" : "a new statement seems to start here");
    return true;
}

/* `[1, 2)`, or a bracket or brace that closes nothing. */
static bool report_closer(Parser *p, const char *found) {
    const bool brace = strcmp(found, "'}'") == 0, round = strcmp(found, "')'") == 0;
    if (!brace && !round && strcmp(found, "']'") != 0)
        return false;
    if (p->closed.length == 0) {
        diag_begin(p->diag, ERROR, "U0117", p->current.span, "this `%c` closes nothing", found[1]);
        diag_help(p->diag, "remove it, or add what it closes");
        return true;
    }
    if (brace || round == (*p->closed.text == '('))
        return false;
    begin(p, p->closed);
    diag_also(p->diag, p->current.span, "`%c` does not close it", found[1]);
    return true;
}

bool report_bracket(Parser *p, const char *found) {
    return report_open(p, found) || report_brace(p, found) || report_closer(p, found);
}
