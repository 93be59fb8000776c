/* diag.h - the kinds of failure.
 *
 * The user's mistake: a diagnostic with a code, a span, notes and help; several are collected in one run.
 * The environment: environment_error() (a file that cannot be read), out_of_memory(); EXIT_IO.
 * Our bug: BUG(), EXIT_BUG.
 * A contributor's patch that lacks a file or a mark: unfinished_sources(), EXIT_BUG.
 */
#ifndef DIAG_H
#define DIAG_H

#include "base/memory.h"
#include "base/span.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum { COLOR_AUTO, COLOR_ALWAYS, COLOR_NEVER } ColorChoice;
typedef enum { FORMAT_HUMAN, FORMAT_JSON } ErrorFormat;
typedef enum { ERROR, WARNING } Severity;

typedef struct Diag Diag;

/* PATH is printed as given; TEXT is the whole source, for the quoted lines. */
Diag *diag_new(Pool *pool, const char *path, const char *text, ErrorFormat format, ColorChoice color);
/* A Diag that prints nothing and only counts errors. */
Diag *diag_quiet(Pool *pool);
void diag_strict(Diag *diag); /* from now on warnings are errors */
int diag_errors(const Diag *diag);
/* Returns the text of the last diagnostic, without its notes. */
const char *diag_last(const Diag *diag);
bool diag_full(const Diag *diag); /* there are 20 errors: time to stop */

/* One diagnostic: begin, any of the rest, end (which prints it to stderr).
 *     diag_begin(d, ERROR, "U0201", span, "there is no `%s` here", name);
 *     diag_label(d, "...");            words beside the caret
 *     diag_also(d, other, "set here"); a second span, underlined with '-'
 *     diag_note(d, ...); diag_help(d, ...);
 *     diag_end(d);
 * If the rest takes time to find, diag_show(d) prints the parts so far; JSON is printed whole. */
void diag_begin(Diag *diag, Severity severity, const char *code, Span span, const char *format, ...)
    __attribute__((format(printf, 5, 6)));
void diag_label(Diag *diag, const char *format, ...) __attribute__((format(printf, 2, 3)));
void diag_also(Diag *diag, Span span, const char *format, ...) __attribute__((format(printf, 3, 4)));
void diag_note(Diag *diag, const char *format, ...) __attribute__((format(printf, 2, 3)));
void diag_help(Diag *diag, const char *format, ...) __attribute__((format(printf, 2, 3)));
void diag_show(Diag *diag);
void diag_end(Diag *diag);

/* The text that `unetc explain CODE` prints, or NULL. */
const char *diag_explain(const char *code);

/* The bytes of `ulimit -v`; -1: there is no limit. */
int64_t limit_of_memory(void);
_Noreturn void out_of_memory(void);
/* The same; NET says how large the net is, "a net of 15,303 operations", or is NULL. */
_Noreturn void out_of_memory_for(const char *net);
_Noreturn void environment_error(const char *format, ...) __attribute__((format(printf, 1, 2)));
_Noreturn void unfinished_sources(const char *format, ...) __attribute__((format(printf, 1, 2)));
_Noreturn void bug_at(const char *file, int line, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
#define BUG(...) bug_at(__FILE__, __LINE__, __VA_ARGS__)
#define CHECK(condition)                                                                                   \
    do {                                                                                                   \
        if (!(condition))                                                                                  \
            BUG("%s", #condition);                                                                         \
    } while (0)

#endif
