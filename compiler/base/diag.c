/* diag.c - errors, warnings and notes for the user.
 *
 * A diagnostic is collected between diag_begin() and diag_end() and then written at once: in colour or not,
 * or as one line of JSON with the fields of rustc's, which editors know already.  For people it may come in
 * two parts.  A code is reported once for each span, so that a loop of a hundred iterations does not make a
 * hundred errors.
 */
#include "base/diag.h"
#include "base/exit_codes.h"
#include "base/table.h"

#include <jansson.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

enum { MAX_ERRORS = 20, TAB = 8 };

typedef struct {
    Span span;
    const char *label;
    bool primary;
} Mark;

typedef struct {
    bool help; /* else a note */
    const char *text;
} Remark;

struct Diag {
    Pool *pool;
    const char *path, *text;
    const char **line; /* starts of the lines of the source, and its end */
    int nline;
    ErrorFormat format;
    bool color, quiet, strict;
    int errors;
    Table told; /* "U0201 12:5": the codes reported so far, with line and column */

    /* the diagnostic being made */
    bool open;
    Severity severity;
    const char *code, *message;
    Mark *mark;
    int nmark;
    Remark *remark;
    int nremark;
    bool begun;  /* its head is written, */
    int written; /* and so many remarks */
};

/* ---- collecting ---- */

static bool colored(ColorChoice choice) {
    const char *terminal = getenv("TERM");
    const char *refused = getenv("NO_COLOR");
    if (choice != COLOR_AUTO)
        return choice == COLOR_ALWAYS;
    return isatty(STDERR_FILENO) && (refused == NULL || *refused == '\0') &&
           (terminal == NULL || strcmp(terminal, "dumb") != 0);
}

Diag *diag_new(Pool *pool, const char *path, const char *text, ErrorFormat format, ColorChoice color) {
    Diag *diag = NEW(pool, Diag);
    *diag = (Diag){.pool = pool, .path = path, .format = format, .color = colored(color)};
    diag->text = text;
    PUSH(pool, diag->line, diag->nline, text);
    for (const char *at = text; *at != '\0'; at++)
        if (*at == '\n')
            PUSH(pool, diag->line, diag->nline, at + 1);
    return diag;
}

Diag *diag_quiet(Pool *pool) {
    Diag *diag = diag_new(pool, "", "", FORMAT_HUMAN, COLOR_NEVER);
    diag->quiet = true;
    return diag;
}

int diag_errors(const Diag *diag) {
    return diag->errors;
}

const char *diag_last(const Diag *diag) {
    return diag->message;
}

bool diag_full(const Diag *diag) {
    return diag->errors >= MAX_ERRORS;
}

/* True if this code was reported for this span before; remembers it. */
static bool told_before(Diag *diag) {
    Span span = diag->mark[0].span;
    const char *key = pool_text(diag->pool, "%s %d:%d", diag->code, span.line, span.column);
    if (span.line > 0 && table_find(&diag->told, key) >= 0)
        return true;
    table_set(diag->pool, &diag->told, key, 0);
    return false;
}

void diag_strict(Diag *diag) {
    diag->strict = true;
}

void diag_begin(Diag *diag, Severity severity, const char *code, Span span, const char *format, ...) {
    CHECK(!diag->open);
    diag->open = true;
    diag->severity = diag->strict ? ERROR : severity;
    diag->code = code;
    diag->nmark = diag->nremark = diag->written = 0;
    diag->begun = false;
    va_list arguments;
    va_start(arguments, format);
    diag->message = pool_vtext(diag->pool, format, arguments);
    va_end(arguments);
    PUSH(diag->pool, diag->mark, diag->nmark, ((Mark){span, "", true}));
}

void diag_label(Diag *diag, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    diag->mark[0].label = pool_vtext(diag->pool, format, arguments);
    va_end(arguments);
}

void diag_also(Diag *diag, Span span, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    Mark mark = {span, pool_vtext(diag->pool, format, arguments), false};
    va_end(arguments);
    if (span.line > 0)
        PUSH(diag->pool, diag->mark, diag->nmark, mark);
}

static void add_remark(Diag *diag, bool help, const char *format, va_list arguments) {
    Remark remark = {help, pool_vtext(diag->pool, format, arguments)};
    PUSH(diag->pool, diag->remark, diag->nremark, remark);
}

void diag_note(Diag *diag, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    add_remark(diag, false, format, arguments);
    va_end(arguments);
}

void diag_help(Diag *diag, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    add_remark(diag, true, format, arguments);
    va_end(arguments);
}

/* ---- the source ---- */

typedef struct {
    const char *text;
    int length; /* without the end of the line */
} Line;

static Line source_line(const Diag *diag, int number) {
    if (number < 1 || number > diag->nline)
        return (Line){"", 0};
    const char *text = diag->line[number - 1];
    size_t length = strcspn(text, "\n");
    if (length > 0 && text[length - 1] == '\r')
        length--;
    return (Line){text, length > INT_MAX ? INT_MAX : (int)length};
}

static bool continues_character(char byte) {
    return (byte & 0xC0) == 0x80;
}

/* The number of code points in the line before its comment and the blanks at its end. */
static int line_end(Line line) {
    bool quoted = false;
    int end = 0, points = 0;
    for (int i = 0; i < line.length && (quoted || line.text[i] != '#'); i++) {
        quoted ^= line.text[i] == '"';
        points += !continues_character(line.text[i]);
        if (line.text[i] != ' ' && line.text[i] != '\t')
            end = points;
    }
    return end;
}

/* A span that goes on in the next line is cut at the end of this one. */
static int clipped_width(const Diag *diag, Span span) {
    int rest = line_end(source_line(diag, span.line)) - span.column + 1;
    int width = span.width < rest ? span.width : rest;
    return width > 1 ? width : 1;
}

/* Bytes of the line before code point COLUMN. */
static int byte_offset(Line line, int column) {
    int at = 0;
    for (int point = 1; at < line.length && (point < column || continues_character(line.text[at])); at++)
        point += at + 1 < line.length && !continues_character(line.text[at + 1]);
    return at;
}

/* ---- for people ---- */

typedef struct {
    FILE *out;
    bool color;
} Pen;

static const char BOLD[] = "1", RED[] = "1;31", YELLOW[] = "1;33", BLUE[] = "1;34", CYAN[] = "1;36";

static void paint(Pen pen, const char *color, const char *text) {
    if (pen.color)
        fprintf(pen.out, "\033[%sm%s\033[0m", color, text);
    else
        fputs(text, pen.out);
}

static void gutter(Pen pen, int width, int number) {
    char text[32];
    if (number > 0)
        snprintf(text, sizeof text, "%*d |", width, number);
    else
        snprintf(text, sizeof text, "%*s |", width, "");
    paint(pen, BLUE, text);
}

/* Blanks up to COLUMN; returns the column of the screen, in which a tab goes to the next multiple of 8. */
static int move_to(Pen pen, Line line, int column) {
    int screen = 0, end = byte_offset(line, column);
    for (int i = 0; i < end; i++)
        if (line.text[i] == '\t')
            screen += TAB - screen % TAB;
        else
            screen += !continues_character(line.text[i]);
    return fprintf(pen.out, "%*s", screen, "");
}

static void print_source(Pen pen, Line line) {
    int screen = 0;
    for (int i = 0; i < line.length; i++) {
        if (line.text[i] == '\t') {
            int blanks = TAB - screen % TAB;
            fprintf(pen.out, "%*s", blanks, "");
            screen += blanks;
        } else {
            unsigned char byte = (unsigned char)line.text[i];
            fputc(byte < ' ' || byte == 0x7F ? '?' : byte, pen.out);
            screen += !continues_character(line.text[i]);
        }
    }
}

static void print_mark(const Diag *diag, Pen pen, const Mark *mark, int width) {
    const char *color = !mark->primary ? BLUE : diag->severity == ERROR ? RED : YELLOW;
    Line line = source_line(diag, mark->span.line);
    gutter(pen, width, 0);
    fputc(' ', pen.out);
    move_to(pen, line, mark->span.column);
    char text[512];
    int carets = clipped_width(diag, mark->span);
    if (carets > (int)sizeof text - 1)
        carets = (int)sizeof text - 1;
    memset(text, mark->primary ? '^' : '-', (size_t)carets);
    text[carets] = '\0';
    paint(pen, color, text);
    if (*mark->label != '\0') {
        fputc(' ', pen.out);
        paint(pen, color, mark->label);
    }
    fputc('\n', pen.out);
}

/* The next line to show after line AFTER, or INT_MAX. */
static int next_line(const Diag *diag, int after) {
    int next = INT_MAX;
    for (int i = 0; i < diag->nmark; i++)
        if (diag->mark[i].span.line > after && diag->mark[i].span.line < next)
            next = diag->mark[i].span.line;
    return next;
}

static void print_lines(const Diag *diag, Pen pen, int width) {
    gutter(pen, width, 0);
    fputc('\n', pen.out);
    int shown = 0;
    for (int number = next_line(diag, 0); number != INT_MAX; number = next_line(diag, number)) {
        if (shown != 0 && number > shown + 1)
            paint(pen, BLUE, "...\n");
        Line line = source_line(diag, number);
        gutter(pen, width, number);
        fputs(line.length > 0 ? " " : "", pen.out);
        print_source(pen, line);
        fputc('\n', pen.out);
        for (int i = 0; i < diag->nmark; i++)
            if (diag->mark[i].span.line == number && diag->mark[i].span.width > 0)
                print_mark(diag, pen, &diag->mark[i], width);
        shown = number;
    }
}

/* Writes the remarks that are not written yet: notes or, if HELP, proposals. */
static void print_remarks(const Diag *diag, Pen pen, bool help, int width) {
    for (int i = diag->written; i < diag->nremark; i++) {
        const Remark *remark = &diag->remark[i];
        if (remark->help != help)
            continue;
        if (!help)
            fprintf(pen.out, "%*s = ", width, "");
        paint(pen, help ? CYAN : BOLD, help ? "help" : "note");
        fprintf(pen.out, ": %s\n", remark->text);
    }
}

/* Digits of the largest line number. */
static int number_width(const Diag *diag) {
    int last = 0;
    for (int i = 0; i < diag->nmark; i++)
        if (diag->mark[i].span.line > last)
            last = diag->mark[i].span.line;
    return snprintf(NULL, 0, "%d", last);
}

static void print_head(const Diag *diag, Pen pen, int width) {
    char head[32];
    snprintf(head, sizeof head, "%s[%s]", diag->severity == ERROR ? "error" : "warning", diag->code);
    paint(pen, diag->severity == ERROR ? RED : YELLOW, head);
    fputs(": ", pen.out);
    paint(pen, BOLD, diag->message);
    fprintf(pen.out, "\n%*s", width, "");
    paint(pen, BLUE, "-->");
    Span span = diag->mark[0].span;
    if (span.line > 0) {
        fprintf(pen.out, " %s:%d:%d\n", diag->path, span.line, span.column);
        print_lines(diag, pen, width);
    } else {
        fputs(" command line\n", pen.out);
    }
}

/* Writes the parts that are not written yet, and an empty line at the END. */
static void print_human(const Diag *diag, FILE *out, bool color, bool end) {
    const Pen pen = {out, color};
    const int width = number_width(diag);
    if (!diag->begun)
        print_head(diag, pen, width);
    print_remarks(diag, pen, false, width);
    print_remarks(diag, pen, true, width);
    if (end)
        fputc('\n', out);
}

/* ---- for editors ---- */

/* Returns a JSON string of LENGTH bytes, with `?` for each byte that is not UTF-8. */
static json_t *json_words(Pool *pool, const char *bytes, int length) {
    json_t *string = json_stringn(bytes, (size_t)length);
    if (string != NULL)
        return string;
    char *plain = pool_copy(pool, bytes, (size_t)length);
    for (char *at = plain; *at != '\0'; at++)
        if ((unsigned char)*at >= 0x80)
            *at = '?';
    return json_string(plain);
}

static json_t *json_span(const Diag *diag, const Mark *mark) {
    Line line = source_line(diag, mark->span.line);
    int first = mark->span.column, end = first + clipped_width(diag, mark->span);
    intptr_t offset = line.length == 0 ? 0 : line.text - diag->text;
    json_t *shown = json_pack("{s:o, s:i, s:i}", "text", json_words(diag->pool, line.text, line.length),
                              "highlight_start", first, "highlight_end", end);
    return json_pack("{s:o, s:I, s:I, s:i, s:i, s:i, s:i, s:b, s:[o], s:o}", "file_name",
                     json_words(diag->pool, diag->path, (int)strlen(diag->path)), "byte_start",
                     (json_int_t)offset + byte_offset(line, first), "byte_end",
                     (json_int_t)offset + byte_offset(line, end), "line_start", mark->span.line, "line_end",
                     mark->span.line, "column_start", first, "column_end", end, "is_primary", mark->primary,
                     "text", shown, "label",
                     *mark->label == '\0' ? json_null()
                                          : json_words(diag->pool, mark->label, (int)strlen(mark->label)));
}

static void print_json(const Diag *diag, const char *rendered) {
    json_t *spans = json_array(), *children = json_array();
    for (int i = 0; i < diag->nmark; i++)
        if (diag->mark[i].span.line > 0 && diag->mark[i].span.width > 0)
            json_array_append_new(spans, json_span(diag, &diag->mark[i]));
    for (int i = 0; i < diag->nremark; i++) {
        const Remark *remark = &diag->remark[i];
        json_t *text = json_words(diag->pool, remark->text, (int)strlen(remark->text));
        json_array_append_new(children, json_pack("{s:o, s:n, s:s, s:[], s:[], s:n}", "message", text,
                                                  "code", "level", remark->help ? "help" : "note", "spans",
                                                  "children", "rendered"));
    }
    json_t *message = json_pack(
        "{s:s, s:o, s:{s:s, s:n}, s:s, s:o, s:o, s:o}", "$message_type", "diagnostic", "message",
        json_words(diag->pool, diag->message, (int)strlen(diag->message)), "code", "code", diag->code,
        "explanation", "level", diag->severity == ERROR ? "error" : "warning", "spans", spans, "children",
        children, "rendered", json_words(diag->pool, rendered, (int)strlen(rendered)));
    char *line = json_dumps(message, JSON_COMPACT);
    if (line == NULL)
        out_of_memory();
    fprintf(stderr, "%s\n", line);
    free(line);
    json_decref(message);
}

/* ---- the end, or a part before it ---- */

static void print(const Diag *diag, bool end) {
    const bool human = diag->format == FORMAT_HUMAN;
    char *rendered;
    size_t size;
    FILE *out = open_memstream(&rendered, &size); /* stderr has no buffer: it gets all at once */
    if (out == NULL)
        out_of_memory();
    print_human(diag, out, human && diag->color, end);
    fclose(out);
    if (human)
        fwrite(rendered, 1, size, stderr);
    else
        print_json(diag, rendered);
    free(rendered);
}

/* Counts the diagnostic, if nothing of it is written; returns whether it is to be. */
static bool begin_to_tell(Diag *diag) {
    if (diag->begun)
        return true;
    if (diag_full(diag) || told_before(diag))
        return false;
    if (diag->severity == ERROR)
        diag->errors++;
    return !diag->quiet;
}

void diag_show(Diag *diag) {
    CHECK(diag->open && !diag->begun);
    if (diag->quiet || diag->format != FORMAT_HUMAN || !begin_to_tell(diag))
        return;
    print(diag, false);
    diag->begun = true;
    diag->written = diag->nremark;
}

void diag_end(Diag *diag) {
    CHECK(diag->open);
    diag->open = false;
    if (!begin_to_tell(diag))
        return;
    print(diag, true);
    if (diag_full(diag) && diag->format == FORMAT_HUMAN)
        fprintf(stderr, "unetc: stopped after %d errors\n", MAX_ERRORS);
}

/* ---- the environment, and bugs of ours ---- */

int64_t limit_of_memory(void) {
    struct rlimit limit;
    return getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur < (rlim_t)INT64_MAX ? (int64_t)limit.rlim_cur
                                                                                   : -1;
}

void out_of_memory(void) {
    out_of_memory_for(NULL);
}

void out_of_memory_for(const char *net) {
    const int64_t limit = limit_of_memory();
    fprintf(stderr, "unetc: not enough memory%s%s", net != NULL ? " for " : "", net != NULL ? net : "");
    if (limit >= 0)
        fprintf(stderr, ": `ulimit -v` is %lld KiB\n", (long long)(limit / 1024));
    else
        fputs(": this machine has no more\n", stderr);
    if (net != NULL)
        fprintf(stderr, "unetc: %s; `--no-recompute` takes less, and so does `unetc check`\n",
                limit >= 0 ? "raise the limit" : "run it where more memory is free");
    exit(EXIT_IO);
}

void environment_error(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    fputs("unetc: ", stderr);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
    va_end(arguments);
    exit(EXIT_IO);
}

void unfinished_sources(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    fputs("unetc: the sources of this compiler are not complete: ", stderr);
    vfprintf(stderr, format, arguments);
    fputs("\ncompiler/CHANGING.md lists the files that belong together.\n", stderr);
    va_end(arguments);
    exit(EXIT_BUG);
}

void bug_at(const char *file, int line, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    fprintf(stderr, "unetc: a bug of ours at %s:%d: ", file, line);
    vfprintf(stderr, format, arguments);
    fputs("\nPlease report it with the file that caused it.\n", stderr);
    va_end(arguments);
    exit(EXIT_BUG);
}
