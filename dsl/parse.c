/* parse.c - the state of the parser while it reads: positions, ends of statements, numbers. */
#include "parse.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* ---- positions ------------------------------------------------------------------------------------ */

bool in_word(char c) {
    return isalnum((unsigned char)c) || c == '_';
}

Span word_read(Parser *p, const char *text, int length) {
    Span span = {p->line, p->column, 0};
    const char *start = p->at;
    for (int i = 0; i < length; i++) {
        if (text[i] == '\n') {
            p->line++;
            p->column = 1;
        } else if ((text[i] & 0xC0) != 0x80) {
            p->column++;
        }
    }
    span.width = p->line == span.line ? p->column - span.column : 1;
    p->at += length;
    if (strchr(" \t\r\n#", text[0]) == NULL) {
        p->last = p->current;
        p->current = (Word){start, length, span};
    }
    return span;
}

/* Behind blanks, comments and empty lines. */
static const char *next_word(const char *at) {
    for (;;) {
        at += strspn(at, " \t\r\n");
        if (*at != '#')
            return at;
        at += strcspn(at, "\n");
    }
}

static bool starts_with_keyword(const char *at, const char *keyword) {
    size_t length = strlen(keyword);
    return strncmp(at, keyword, length) == 0 && at[length] != '\0' && !in_word(at[length]);
}

/* A page of comments has many newlines and one next word, which is looked for once. */
bool ends_statement(Parser *p) {
    if (p->next == NULL || p->next < p->at)
        p->next = next_word(p->at);
    return p->nopen == 0 && *p->next != '{' && strncmp(p->next, "->", 2) != 0 &&
           !starts_with_keyword(p->next, "elif") && !starts_with_keyword(p->next, "else");
}

void line_read(Parser *p) {
    p->skipping = false;
    p->last = p->current;
    p->current.text = "\n";
    p->current.length = 1;
    p->current.span.column += p->current.span.width;
    p->current.span.width = 1;
}

static void report_deep(Parser *p, Span span) {
    diag_begin(p->diag, ERROR, "U0116", span, "this is nested too deeply");
    diag_help(p->diag, "give a part of it a name, in a statement of its own");
    diag_end(p->diag);
}

void parser_exhausted(Parser *p, Span span) {
    report_deep(p, span);
}

/* ---- numbers -------------------------------------------------------------------------------------- */

const char *without_underscores(Parser *p, const char *text, int length) {
    char *plain = pool_copy(p->pool, text, (size_t)length);
    char *end = plain;
    for (int i = 0; i < length; i++)
        if (text[i] != '_')
            *end++ = text[i];
    *end = '\0';
    return plain;
}

bool first_mistake(Parser *p, int line) {
    bool first = p->error_line != line;
    p->error_line = line;
    return first && !diag_full(p->diag);
}

static void report_large(Parser *p, Span span) {
    if (!first_mistake(p, span.line))
        return;
    diag_begin(p->diag, ERROR, "U0113", span, "this number does not fit in 64 bits");
    diag_end(p->diag);
}

int64_t number_integer(Parser *p, const char *text, int length, Span span) {
    errno = 0;
    long long value = strtoll(without_underscores(p, text, length), NULL, 10);
    if (errno == ERANGE)
        report_large(p, span);
    return value;
}

double number_real(Parser *p, const char *text, int length) {
    return strtod(without_underscores(p, text, length), NULL);
}

int64_t number_bytes(Parser *p, const char *text, int length, Span span) {
    char prefix = text[length - 3];
    int shift = prefix == 'K' ? 10 : prefix == 'M' ? 20 : 30;
    double bytes = number_real(p, text, length) * (double)(INT64_C(1) << shift);
    if (bytes >= 0x1p62) {
        report_large(p, span);
        return 1;
    }
    return (int64_t)bytes;
}
