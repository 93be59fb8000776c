/* text.h - a text that grows; the only code that knows about newlines and indentation. */
#ifndef TEXT_H
#define TEXT_H

#include "memory.h"

typedef struct {
    Pool *pool;
    char *bytes; /* ends in a zero once something was added */
    size_t length, capacity;
    int depth; /* of indentation, four spaces each */
} Text;

Text text_new(Pool *pool);
void text_add(Text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* A line of its own: indentation, the words, a newline. */
void text_line(Text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* The same for a call or a comment, which goes on in the next line where it gets too long. */
void text_wrapped(Text *text, const char *line);
void text_blank(Text *text); /* an empty line */
void text_bytes(Text *text, const char *bytes, size_t length);
/* A string literal of C or JSON, quotes included. */
void text_quoted(Text *text, const char *string);
const char *quoted(Pool *pool, const char *string); /* NULL becomes NULL without quotes */

/* 1234567 as "1,234,567". */
const char *grouped(Pool *pool, long long number);
/* Bytes as "1.21 GiB". */
const char *human_bytes(Pool *pool, long long bytes);

#endif
