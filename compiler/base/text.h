/* text.h - a text that grows; the only code that knows about newlines and indentation. */
#ifndef TEXT_H
#define TEXT_H

#include "base/memory.h"

typedef struct Text {
    Pool *pool;
    char *bytes; /* NULL until something is added, then ends in a zero */
    size_t length, capacity;
    int depth; /* of indentation, four spaces each */
} Text;

Text text_new(Pool *pool);
void text_add(Text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* A line of its own: indentation, the words, a newline. */
void text_line(Text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* The same for a call or a comment, which is broken where it gets too long. */
void text_wrapped(Text *text, const char *line);
void text_blank(Text *text); /* an empty line */
void text_bytes(Text *text, const char *bytes, size_t length);
/* A string of JSON, quotes included. */
void text_quoted(Text *text, const char *string);
const char *quoted(Pool *pool, const char *string); /* NULL becomes NULL without quotes */
/* A string literal of C, quotes included; NULL becomes NULL without quotes. */
const char *c_quoted(Pool *pool, const char *string);
/* Returns STRING as one line that is safe in a comment of C or CMake. */
const char *comment_escaped(Pool *pool, const char *string);
/* A comment of C, lines of its own. */
void text_comment(Text *text, const char *string);
/* A line of C with a comment behind it, or below where that gets too long. */
void text_commented(Text *text, const char *line, const char *string);

/* "train" as "TRAIN". */
const char *upper(Pool *pool, const char *string);
/* 1234567 as "1,234,567". */
const char *grouped(Pool *pool, long long number);
/* Bytes as "1.21 GiB". */
const char *human_bytes(Pool *pool, long long bytes);
/* The same, rounded up: a budget of what it says is enough. */
const char *human_bytes_above(Pool *pool, long long bytes);

#endif
