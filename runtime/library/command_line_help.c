/* command_line_help.c - writes the help of a command line from its grammar, for terminals of 80 columns. */
#include "command_line_page.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

enum { COLUMNS = 80, INDENT = 26 };

/* The words of TEXT, from the indentation on; a newline in it is kept. */
static void print_wrapped(UnetPage *page, const char *text) {
    while (*text != '\0') {
        const size_t length = strcspn(text, " \n");
        if (page->column > page->indent && page->column + 1 + length > COLUMNS)
            unet_page_print(page, "\n");
        if (page->column < page->indent)
            unet_page_print(page, "%*s", (int)(page->indent - page->column), "");
        else if (page->column > page->indent)
            unet_page_print(page, " ");
        unet_page_print(page, "%.*s", (int)length, text);
        text += length;
        if (*text == '\n')
            unet_page_print(page, "\n");
        text += strspn(text, " \n");
    }
}

static void print_paragraph(UnetPage *page, const char *text) {
    page->indent = 0;
    unet_page_print(page, "\n");
    print_wrapped(page, text);
    unet_page_print(page, "\n");
}

/* A spelling, and beside or below it what it is. */
static void print_entry(UnetPage *page, const char *spelling, const char *help) {
    unet_page_print(page, "  %s", spelling);
    if (page->column + 2 > INDENT)
        unet_page_print(page, "\n");
    page->indent = INDENT;
    print_wrapped(page, help);
}

/* A bit for each command that the help lists. */
static unsigned listed_commands(const UnetGrammar *grammar) {
    unsigned listed = 0;
    for (int c = 0; c < grammar->ncommand; c++)
        listed |= grammar->command[c].help != NULL ? 1u << c : 0;
    return listed;
}

/* OF: the command whose help this is, or -1: the commands that take the option are named. */
static void print_option(UnetPage *page, const UnetGrammar *grammar, const UnetOptionRow *row, int of) {
    char spelling[96], letter[8] = "";
    if (row->letter != 0 && row->name[1] == '-')
        (void)snprintf(letter, sizeof letter, "-%c, ", row->letter);
    const bool spaced = row->name[1] != '-' && row->name[2] == '\0', maybe = row->kind == UNET_MAYBE;
    const char *join = row->kind == UNET_FLAG ? "" : maybe ? "[=" : spaced ? " " : "=";
    (void)snprintf(spelling, sizeof spelling, "%s%s%s%s%s", letter, row->name, join,
                   row->value == NULL ? "" : row->value, maybe ? "]" : "");
    print_entry(page, spelling, row->help);
    const char *separator = "(";
    const unsigned takers = row->commands & listed_commands(grammar);
    for (int c = 0; c < grammar->ncommand && of < 0; c++)
        if ((takers & 1u << c) != 0) {
            char word[64];
            (void)snprintf(word, sizeof word, "%s%s", separator, grammar->command[c].name);
            print_wrapped(page, word);
            separator = "";
            unet_page_print(page, takers >> (c + 1) != 0 ? "," : ")");
        }
    unet_page_print(page, "\n");
}

static void print_options(UnetPage *page, const UnetGrammar *grammar, int of) {
    const unsigned shown = of < 0 ? listed_commands(grammar) : 1u << of;
    unsigned any = 0;
    for (int i = 0; i < grammar->noption; i++)
        any |= grammar->option[i].commands;
    if ((any & shown) == 0)
        return;
    unet_page_print(page, "\nOptions (a value follows `=` or a space):\n");
    for (int i = 0; i < grammar->noption; i++)
        if ((grammar->option[i].commands & shown) != 0)
            print_option(page, grammar, &grammar->option[i], of);
}

/* One line for each line of the command's arguments. */
static void print_usage(UnetPage *page, const char *program, const UnetCommandRow *row, bool *is_first) {
    const char *line = row->arguments;
    do {
        const size_t length = strcspn(line, "\n");
        unet_page_print(page, "%s %s%s%s%s%.*s\n", *is_first ? "usage:" : "      ", program,
                        row->name != NULL ? " " : "", row->name != NULL ? row->name : "",
                        length > 0 ? " " : "", (int)length, line);
        *is_first = false;
        line += length + (line[length] == '\n');
    } while (*line != '\0');
}

static const char any_options[] = "[OPTIONS]"; /* goes without saying in a list */

static void print_commands(UnetPage *page, const UnetGrammar *grammar, const char *program) {
    bool is_first = true;
    if (grammar->plain >= 0)
        print_usage(page, program, &grammar->command[grammar->plain], &is_first);
    unet_page_print(page, "%s %s COMMAND [OPTIONS]\n       %s COMMAND --help\n",
                    is_first ? "usage:" : "      ", program, program);
    if (grammar->plain >= 0)
        print_paragraph(page, grammar->command[grammar->plain].more);
    unet_page_print(page, "\nCommands:\n");
    for (int c = 0; c < grammar->ncommand; c++) {
        const UnetCommandRow *row = &grammar->command[c];
        char spelling[96];
        if (row->help == NULL || row->name == NULL)
            continue;
        const char *arguments = row->arguments;
        if (strncmp(arguments, any_options, sizeof any_options - 1) == 0)
            arguments += sizeof any_options - 1 + (arguments[sizeof any_options - 1] == ' ');
        (void)snprintf(spelling, sizeof spelling, "%s%s%.*s", row->name, *arguments != '\0' ? " " : "",
                       (int)strcspn(arguments, "\n"), arguments);
        print_entry(page, spelling, row->help);
        unet_page_print(page, "\n");
    }
}

/* Has COMMAND no help of its own? */
static bool is_on_all(const UnetGrammar *grammar, int command) {
    return command < 0 || command == grammar->help_command || command == grammar->plain ||
           grammar->command[command].help == NULL;
}

void unet_command_line_advice(const UnetGrammar *grammar, const char *program, int command, char *text,
                              size_t size) {
    const bool on_all = is_on_all(grammar, command);
    const UnetCommandRow *one = &grammar->command[on_all ? grammar->help_command : command];
    (void)snprintf(text, size, "run `%s%s%s%s --help` for the options", program, on_all ? "" : " ",
                   !on_all && one->dashed ? "--" : "", on_all ? "" : one->name);
}

size_t unet_command_line_help(const UnetGrammar *grammar, const char *program, int about, char *text,
                              size_t size) {
    UnetPage page = {.text = text, .size = size};
    const UnetCommandRow *one = &grammar->command[about];
    const bool on_all = is_on_all(grammar, about);
    bool is_first = true;
    if (on_all) {
        print_commands(&page, grammar, program);
    } else {
        print_usage(&page, program, one, &is_first);
        unet_page_print(&page, "\n%c%s.\n", toupper((unsigned char)one->help[0]), one->help + 1);
        if (one->more != NULL)
            print_paragraph(&page, one->more);
    }
    print_options(&page, grammar, on_all ? grammar->plain : about);
    print_paragraph(&page, grammar->epilogue);
    return page.length;
}
