/* text.c - a text that grows. */
#include "text.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

Text text_new(Pool *pool) {
    return (Text){.pool = pool};
}

static void reserve(Text *text, size_t more) {
    if (text->length + more + 1 <= text->capacity)
        return;
    size_t capacity = text->capacity == 0 ? 4096 : text->capacity;
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

void text_wrapped(Text *text, const char *line) {
    enum { WIDTH = 110 };
    for (const char *deeper = ""; *line != '\0'; deeper = "    ") {
        size_t length = strlen(line), taken = length, indent = 4 * (size_t)text->depth + strlen(deeper);
        for (size_t i = 2; i < length && indent + length > WIDTH; i++)
            if (may_break(line, i) && (taken == length || indent + i <= WIDTH))
                taken = i;
        text_line(text, "%s%.*s", deeper, (int)taken, line);
        line += taken + (taken < length);
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

const char *quoted(Pool *pool, const char *string) {
    if (string == NULL)
        return "NULL";
    Text text = text_new(pool);
    text_quoted(&text, string);
    return text.bytes;
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

const char *human_bytes(Pool *pool, long long bytes) {
    static const char *const unit[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    double value = (double)bytes;
    int u = 0;
    while (value >= 1024 && u < 6)
        value /= 1024, u++;
    return u == 0 ? pool_text(pool, "%lld B", bytes) : pool_text(pool, "%.2f %s", value, unit[u]);
}
