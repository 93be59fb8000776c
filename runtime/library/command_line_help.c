/* command_line_help.c - writes the help of a command line from its grammar, for terminals of 80 columns. */
#include "unet/command_line.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { COLUMNS = 80, INDENT = 26 };

typedef struct {
    char *text;
    size_t size, length;
    size_t column, indent; /* indent: of lines that go on */
} Page;

static void print(Page *page, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void print(Page *page, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    const size_t left = page->size - page->length;
    int n = vsnprintf(page->text + page->length, left, format, arguments);
    va_end(arguments);
    if (n <= 0)
        return;
    n = (size_t)n < left ? n : (int)left - 1;
    for (int i = 0; i < n; i++)
        page->column = page->text[page->length + (size_t)i] == '\n' ? 0 : page->column + 1;
    page->length += (size_t)n;
}

/* The words of TEXT, from the indentation on; a newline in it is kept. */
static void print_wrapped(Page *page, const char *text) {
    while (*text != '\0') {
        const size_t length = strcspn(text, " \n");
        if (page->column > page->indent && page->column + 1 + length > COLUMNS)
            print(page, "\n");
        if (page->column < page->indent)
            print(page, "%*s", (int)(page->indent - page->column), "");
        else if (page->column > page->indent)
            print(page, " ");
        print(page, "%.*s", (int)length, text);
        text += length;
        if (*text == '\n')
            print(page, "\n");
        text += strspn(text, " \n");
    }
}

static void print_paragraph(Page *page, const char *text) {
    page->indent = 0;
    print(page, "\n");
    print_wrapped(page, text);
    print(page, "\n");
}

/* A spelling, and beside or below it what it is. */
static void print_entry(Page *page, const char *spelling, const char *help) {
    print(page, "  %s", spelling);
    if (page->column + 2 > INDENT)
        print(page, "\n");
    page->indent = INDENT;
    print_wrapped(page, help);
}

/* OF: the command whose help this is, or -1: the commands that take the option are named. */
static void print_option(Page *page, const UnetGrammar *grammar, const UnetOptionRow *row, int of) {
    char spelling[96], letter[8] = "";
    if (row->letter != 0 && row->name[1] == '-')
        (void)snprintf(letter, sizeof letter, "-%c, ", row->letter);
    const bool spaced = row->name[1] != '-' && row->name[2] == '\0', maybe = row->kind == UNET_MAYBE;
    const char *join = row->kind == UNET_FLAG ? "" : maybe ? "[=" : spaced ? " " : "=";
    (void)snprintf(spelling, sizeof spelling, "%s%s%s%s%s", letter, row->name, join,
                   row->value == NULL ? "" : row->value, maybe ? "]" : "");
    print_entry(page, spelling, row->help);
    const char *separator = "(";
    for (int c = 0; c < grammar->ncommand && of < 0; c++)
        if ((row->commands & 1u << c) != 0) {
            char word[64];
            (void)snprintf(word, sizeof word, "%s%s", separator, grammar->command[c].name);
            print_wrapped(page, word);
            separator = "";
            print(page, row->commands >> (c + 1) != 0 ? "," : ")");
        }
    print(page, "\n");
}

static void print_options(Page *page, const UnetGrammar *grammar, int of) {
    unsigned any = 0;
    for (int i = 0; i < grammar->noption; i++)
        any |= grammar->option[i].commands;
    if (of >= 0 && (any & 1u << of) == 0)
        return;
    print(page, "\nOptions (a value follows `=` or a space):\n");
    for (int i = 0; i < grammar->noption; i++)
        if (of < 0 || (grammar->option[i].commands & 1u << of) != 0)
            print_option(page, grammar, &grammar->option[i], of);
}

/* One line for each line of the command's arguments. */
static void print_usage(Page *page, const char *program, const UnetCommandRow *row, bool *is_first) {
    const char *line = row->arguments;
    do {
        const size_t length = strcspn(line, "\n");
        print(page, "%s %s%s%s%s%.*s\n", *is_first ? "usage:" : "      ", program,
              row->name != NULL ? " " : "", row->name != NULL ? row->name : "", length > 0 ? " " : "",
              (int)length, line);
        *is_first = false;
        line += length + (line[length] == '\n');
    } while (*line != '\0');
}

static const char any_options[] = "[OPTIONS] "; /* goes without saying in a list */

static void print_commands(Page *page, const UnetGrammar *grammar, const char *program) {
    bool is_first = true;
    if (grammar->plain >= 0)
        print_usage(page, program, &grammar->command[grammar->plain], &is_first);
    print(page, "%s %s COMMAND [OPTIONS]\n       %s COMMAND --help\n", is_first ? "usage:" : "      ",
          program, program);
    if (grammar->plain >= 0)
        print_paragraph(page, grammar->command[grammar->plain].more);
    print(page, "\nCommands:\n");
    for (int c = 0; c < grammar->ncommand; c++) {
        const UnetCommandRow *row = &grammar->command[c];
        char spelling[96];
        if (row->help == NULL || row->name == NULL)
            continue;
        const char *arguments = row->arguments;
        if (strncmp(arguments, any_options, sizeof any_options - 1) == 0)
            arguments += sizeof any_options - 1;
        (void)snprintf(spelling, sizeof spelling, "%s%s%.*s", row->name, *arguments != '\0' ? " " : "",
                       (int)strcspn(arguments, "\n"), arguments);
        print_entry(page, spelling, row->help);
        print(page, "\n");
    }
}

size_t unet_command_line_help(const UnetGrammar *grammar, const char *program, int about, char *text,
                              size_t size) {
    Page page = {.text = text, .size = size};
    const UnetCommandRow *one = &grammar->command[about];
    const bool on_all = about == grammar->help_command || about == grammar->plain || one->help == NULL;
    bool is_first = true;
    if (on_all) {
        print_commands(&page, grammar, program);
    } else {
        print_usage(&page, program, one, &is_first);
        print(&page, "\n%c%s.\n", toupper((unsigned char)one->help[0]), one->help + 1);
        if (one->more != NULL)
            print_paragraph(&page, one->more);
    }
    print_options(&page, grammar, on_all ? grammar->plain : about);
    print_paragraph(&page, grammar->epilogue);
    return page.length;
}
