/* text.c - a text that grows. */
#include "base/text.h"

#include <math.h>
#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

Text text_new(Pool *pool) {
    return (Text){.pool = pool};
}

static void reserve(Text *text, size_t more) {
    if (text->length + more + 1 <= text->capacity)
        return;
    enum { FIRST = 64 }; /* most texts are a word, or one number */
    size_t capacity = text->capacity == 0 ? FIRST : text->capacity;
    while (capacity < text->length + more + 1)
        capacity *= 2;
    char *bytes = pool_array(text->pool, capacity, 1);
    if (text->length > 0)
        memcpy(bytes, text->bytes, text->length);
    text->bytes = bytes;
    text->capacity = capacity;
}

void text_bytes(Text *text, const char *bytes, size_t length) {
    reserve(text, length);
    memcpy(text->bytes + text->length, bytes, length);
    text->length += length;
    text->bytes[text->length] = '\0';
}

static void add(Text *text, const char *format, va_list arguments) {
    va_list again;
    va_copy(again, arguments);
    size_t length = (size_t)vsnprintf(NULL, 0, format, arguments);
    reserve(text, length);
    vsnprintf(text->bytes + text->length, length + 1, format, again);
    text->length += length;
    va_end(again);
}

void text_add(Text *text, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    add(text, format, arguments);
    va_end(arguments);
}

void text_line(Text *text, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    text_add(text, "%*s", 4 * text->depth, "");
    add(text, format, arguments);
    text_add(text, "\n");
    va_end(arguments);
}

/* Between arguments or operands that are themselves more than a word. */
static bool may_break(const char *line, size_t i) {
    return i >= 2 && line[i] == ' ' && strncmp(line + i, " */", 3) != 0 &&
           (line[i - 1] == ']' || (line[i - 1] == ',' && strchr(")}", line[i - 2]) != NULL));
}

enum { WIDTH = 110 };

void text_wrapped(Text *text, const char *line) {
    size_t length = strlen(line);
    for (const char *deeper = ""; length > 0; deeper = "    ") {
        size_t taken = length, indent = 4 * (size_t)text->depth + strlen(deeper);
        for (size_t i = 2;
             i < length && indent + length > WIDTH && (taken == length || indent + i <= WIDTH); i++)
            if (may_break(line, i))
                taken = i;
        text_line(text, "%s%.*s", deeper, (int)taken, line);
        size_t behind = taken + (taken < length);
        line += behind;
        length -= behind;
    }
}

void text_blank(Text *text) {
    text_add(text, "\n");
}

void text_quoted(Text *text, const char *string) {
    text_add(text, "\"");
    for (const char *s = string; *s != '\0'; s++) {
        unsigned char c = (unsigned char)*s;
        if (c == '"' || c == '\\')
            text_add(text, "\\%c", c);
        else if (c == '\n')
            text_add(text, "\\n");
        else if (c == '\t')
            text_add(text, "\\t");
        else if (c >= 0x20)
            text_add(text, "%c", c);
        else
            text_add(text, "\\u%04x", c);
    }
    text_add(text, "\"");
}

const char *c_quoted(Pool *pool, const char *string) {
    if (string == NULL)
        return "NULL";
    Text text = text_new(pool);
    text_add(&text, "\"");
    for (const char *s = string; *s != '\0'; s++) {
        unsigned char c = (unsigned char)*s;
        if (c == '"' || c == '\\' || (c == '?' && s > string && s[-1] == '?'))
            text_add(&text, "\\%c", c);
        else if (c < 0x20 || c == 0x7f)
            text_add(&text, "\\%03o", c);
        else
            text_add(&text, "%c", c);
    }
    text_add(&text, "\"");
    return text.bytes;
}

const char *comment_escaped(Pool *pool, const char *string) {
    Text text = text_new(pool);
    text_add(&text, "%s", "");
    for (const char *s = string; *s != '\0'; s++) {
        unsigned char c = (unsigned char)*s;
        if (c < 0x20 || c == 0x7f)
            text_add(&text, "\\%03o", c);
        else if (s > string && ((c == '/' && s[-1] == '*') || (c == '*' && s[-1] == '/')))
            text_add(&text, "\\%c", c);
        else
            text_add(&text, "%c", c);
    }
    return text.bytes;
}

void text_comment(Text *text, const char *string) {
    text_wrapped(text, pool_text(text->pool, "/* %s */", comment_escaped(text->pool, string)));
}

void text_commented(Text *text, const char *line, const char *string) {
    const char *both = pool_text(text->pool, "%s /* %s */", line, comment_escaped(text->pool, string));
    if (4 * (size_t)text->depth + strlen(both) <= WIDTH) {
        text_line(text, "%s", both);
        return;
    }
    text_line(text, "%s", line);
    text_comment(text, string);
}

const char *quoted(Pool *pool, const char *string) {
    if (string == NULL)
        return "NULL";
    Text text = text_new(pool);
    text_quoted(&text, string);
    return text.bytes;
}

const char *upper(Pool *pool, const char *string) {
    char *copy = pool_copy(pool, string, strlen(string));
    for (char *s = copy; *s != '\0'; s++)
        *s = (char)toupper((unsigned char)*s);
    return copy;
}

const char *grouped(Pool *pool, long long number) {
    char digits[32], *out = pool_array(pool, 48, 1);
    int n = snprintf(digits, sizeof digits, "%lld", number), k = 0;
    for (int i = 0; i < n; i++) {
        if (i > 0 && digits[i - 1] != '-' && (n - i) % 3 == 0)
            out[k++] = ',';
        out[k++] = digits[i];
    }
    return out;
}

static const char *human(Pool *pool, long long bytes, bool up) {
    static const char *const unit[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    double value = (double)bytes;
    int u = 0;
    while (value >= 1024 && u < 6)
        value /= 1024, u++;
    if (u == 0)
        return pool_text(pool, "%lld B", bytes);
    return pool_text(pool, "%.2f %s", up ? ceil(value * 100) / 100 : value, unit[u]);
}

const char *human_bytes(Pool *pool, long long bytes) {
    return human(pool, bytes, false);
}

const char *human_bytes_above(Pool *pool, long long bytes) {
    return human(pool, bytes, true);
}
