/* command_line.c - reads a command line: first the command, then its options and words. */
#include "command_line_page.h"
#include "unet/words.h"

#include <errno.h>
#include <float.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST_NAMES = 64, NAME_LENGTH = 64 };

typedef struct {
    const UnetGrammar *grammar;
    int argc;
    char **argv;
    void *result;
    UnetCommandLine *line;
    UnetError *error;
} Reader;

/* Goes on behind TEXT, as far as SIZE allows. */
static void append(char *text, size_t size, const char *format, ...) __attribute__((format(printf, 3, 4)));

static void append(char *text, size_t size, const char *format, ...) {
    const size_t used = strlen(text);
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(text + used, size - used, format, arguments);
    va_end(arguments);
}

/* ---- options ---------------------------------------------------------------------------------- */

static bool is_option(const char *argument) {
    return argument[0] == '-' && argument[1] != '\0';
}

static const char *without_dashes(const char *name) {
    return name + strspn(name, "-");
}

static bool has_value(const UnetOptionRow *row) {
    return row->kind != UNET_FLAG && row->kind != UNET_MAYBE;
}

/* The value that is joined to the option ROW in ARGUMENT; "" for none.  NULL: ARGUMENT is another option.
 */
static const char *behind(const UnetOptionRow *row, const char *argument) {
    const size_t length = strcspn(argument, "=");
    if (strlen(row->name) == length && strncmp(argument, row->name, length) == 0)
        return argument + length;
    if (row->letter != 0 && argument[1] == row->letter && (has_value(row) || argument[2] == '\0'))
        return argument + 2;
    return NULL;
}

/* Returns the row of the option in ARGUMENT, one of COMMAND if it has the option, else one of another
 * command; NULL: there is none. */
static const UnetOptionRow *find_option(const UnetGrammar *grammar, const char *argument, int command) {
    const UnetOptionRow *found = NULL;
    for (int i = 0; i < grammar->noption; i++) {
        const UnetOptionRow *row = &grammar->option[i];
        if (behind(row, argument) == NULL)
            continue;
        if (unet_command_takes(row, command))
            return row;
        if (found == NULL)
            found = row;
    }
    return found;
}

/* ---- commands --------------------------------------------------------------------------------- */

/* -1: WORD is none. */
static int find_command(const UnetGrammar *grammar, const char *word) {
    for (int i = 0; i < grammar->ncommand; i++)
        if (grammar->command[i].name != NULL && strcmp(grammar->command[i].name, word) == 0)
            return i;
    return -1;
}

/* The command that the option stands for, or -1. */
static int dashed_command(const UnetGrammar *grammar, const char *argument) {
    if (strcmp(argument, "-h") == 0)
        return grammar->help_command;
    const int found = strncmp(argument, "--", 2) == 0 ? find_command(grammar, argument + 2) : -1;
    return found >= 0 && grammar->command[found].dashed ? found : -1;
}

/* Sets the command, and returns its place in argv, or 0. */
static int choose_command(const Reader *r) {
    for (int i = 1; i < r->argc && strcmp(r->argv[i], "--") != 0; i++) {
        const char *argument = r->argv[i];
        const bool option = is_option(argument);
        const int found = (option ? dashed_command : find_command)(r->grammar, argument);
        if (found >= 0) {
            r->line->command = found;
            return i;
        }
        if (!option)
            return 0;
        const UnetOptionRow *row = find_option(r->grammar, argument, r->grammar->plain);
        if (row != NULL && has_value(row) && *behind(row, argument) == '\0')
            i++;
    }
    return 0;
}

typedef struct {
    char text[128];
} Spelling;

/* How messages name a command: "train", "unetc mem", "unetc --runtime", "unetc FILE.unet". */
static Spelling spelling(const UnetGrammar *grammar, int command) {
    const UnetCommandRow *row = &grammar->command[command];
    const char *last = strrchr(row->arguments, ' ');
    Spelling spelled;
    (void)snprintf(spelled.text, sizeof spelled.text, "%s%s%s%s",
                   grammar->program != NULL ? grammar->program : "", grammar->program != NULL ? " " : "",
                   row->dashed ? "--" : "",
                   row->name != NULL ? row->name
                   : last != NULL    ? last + 1
                                     : row->arguments);
    return spelled;
}

/* A word that can be no file. */
static bool is_no_file(const char *word) {
    return strpbrk(word, "./") == NULL && access(word, F_OK) != 0;
}

/* Which of CHOICES, "auto|off|N", TEXT is; -1: none. */
static int find_choice(const char *choices, const char *text) {
    int at = 0;
    for (const char *c = choices;; c++, at++) {
        const size_t length = strcspn(c, "|");
        if (strlen(text) == length && strncmp(c, text, length) == 0 && strcmp(c, "N") != 0)
            return at;
        c += length;
        if (*c == '\0')
            return -1;
    }
}

static UnetStatus unknown_command(const Reader *r, const char *word) {
    const UnetGrammar *grammar = r->grammar;
    const char *name[MOST_NAMES];
    char list[256] = "";
    int count = 0;
    for (int i = 0; i < grammar->ncommand && count < MOST_NAMES; i++) {
        const UnetCommandRow *row = &grammar->command[i];
        if (row->name == NULL)
            continue;
        name[count++] = row->name;
        if (row->help != NULL)
            append(list, sizeof list, "%s%s", *list != '\0' ? ", " : "", row->name);
    }
    const char *near = word == NULL ? NULL : unet_nearest_word(word, name, count);
    const char *file = grammar->plain >= 0 ? ", and no file of this name" : "";
    if (word == NULL)
        return unet_fail(r->error, UNET_USAGE, "no command is given (commands: %s)", list);
    if (grammar->elsewhere != NULL && find_choice(grammar->elsewhere, word) >= 0)
        return unet_fail(r->error, UNET_USAGE, "`%s` is a command of %s", word, grammar->where);
    if (near != NULL)
        return unet_fail(r->error, UNET_USAGE, "there is no command `%s`%s: did you mean `%s`?", word, file,
                         near);
    return unet_fail(r->error, UNET_USAGE, "there is no command `%s`%s (commands: %s)", word, file, list);
}

/* ---- values ----------------------------------------------------------------------------------- */

static bool ends_in_number(const UnetOptionRow *row) {
    const size_t length = strlen(row->value);
    return row->kind == UNET_CHOICE && length > 2 && strcmp(row->value + length - 2, "|N") == 0;
}

/* Says which values there are. */
static UnetStatus wrong_value(const Reader *r, const UnetOptionRow *row, const UnetValue *value) {
    char words[256] = "", range[64] = "";
    if (row->kind == UNET_CHOICE)
        for (const char *c = row->value; *c != '\0' && strcmp(c, "N") != 0;) {
            const size_t length = strcspn(c, "|");
            const bool last = c[length] == '\0';
            append(words, sizeof words, "%s%.*s",
                   *words == '\0' ? ""
                   : last         ? " or "
                                  : ", ",
                   (int)length, c);
            c += length + !last;
        }
    if (row->max < INT64_MAX)
        (void)snprintf(range, sizeof range, " to %lld", (long long)row->max);
    if (row->kind == UNET_POSITIVE)
        return unet_fail(r->error, UNET_USAGE, "`%s=%s`: use a number greater than 0", value->name,
                         value->text);
    if (row->kind == UNET_CHOICE && !ends_in_number(row))
        return unet_fail(r->error, UNET_USAGE, "`%s=%s`: use %s", value->name, value->text, words);
    return unet_fail(r->error, UNET_USAGE, "`%s=%s`: use %s%sa whole number from %lld%s", value->name,
                     value->text, words, *words != '\0' ? ", or " : "", (long long)row->min, range);
}

static bool read_number(const UnetOptionRow *row, UnetValue *value) {
    char *end;
    errno = 0;
    const long long number = strtoll(value->text, &end, 10);
    value->number = number;
    return end != value->text && *end == '\0' && errno == 0 && number >= row->min && number <= row->max;
}

static bool read_positive(UnetValue *value) {
    char *end;
    value->real = strtod(value->text, &end);
    return end != value->text && *end == '\0' && value->real > 0 && value->real <= DBL_MAX;
}

static bool read_choice(const UnetOptionRow *row, UnetValue *value) {
    value->choice = find_choice(row->value, value->text);
    if (value->choice >= 0 || !ends_in_number(row) || !read_number(row, value))
        return value->choice >= 0;
    value->choice = 0;
    for (const char *c = row->value; *c != '\0'; c++)
        value->choice += *c == '|';
    return true;
}

static UnetStatus check_value(const Reader *r, const UnetOptionRow *row, UnetValue *value) {
    if (value->text == NULL || row->kind == UNET_FLAG)
        return UNET_OK;
    if (*value->text == '\0')
        return unet_fail(r->error, UNET_USAGE, "`%s` needs a value: %s", value->name, row->value);
    if (row->kind == UNET_BYTES)
        return unet_read_bytes(value->name, value->text, &value->number, r->error);
    const bool right = row->kind == UNET_NUMBER     ? read_number(row, value)
                       : row->kind == UNET_POSITIVE ? read_positive(value)
                       : row->kind == UNET_CHOICE   ? read_choice(row, value)
                                                    : true;
    return right ? UNET_OK : wrong_value(r, row, value);
}

static UnetStatus store(const Reader *r, const UnetOptionRow *row, const UnetValue *value) {
    if (row->take != NULL)
        return row->take(r->result, value, r->error);
    void *place = (char *)r->result + row->place;
    switch (row->kind) {
    case UNET_FLAG:
        *(bool *)place = true;
        break;
    case UNET_NUMBER:
    case UNET_BYTES:
        *(int64_t *)place = value->number;
        break;
    case UNET_POSITIVE:
        *(double *)place = value->real;
        break;
    case UNET_TEXT:
    case UNET_MAYBE:
    case UNET_CHOICE:
        memcpy(place, &value->text, sizeof value->text);
        break;
    }
    return UNET_OK;
}

/* ---- an option in its place ------------------------------------------------------------------- */

/* Sends to the commands that take the option, or tells what to do in its place. */
static UnetStatus not_taken(const Reader *r, const UnetOptionRow *row) {
    char others[512] = "it is for";
    for (int i = 0, n = 0; i < r->grammar->ncommand; i++)
        if (unet_command_takes(row, i))
            append(others, sizeof others, "%s `%s`", n++ > 0 ? "," : "", spelling(r->grammar, i).text);
    return unet_fail(r->error, UNET_USAGE, "`%s` does not take %s: %s",
                     spelling(r->grammar, r->line->command).text, row->name,
                     row->instead != NULL ? row->instead : others);
}

/* Options of no command are known for what to do in their place. */
static UnetStatus unknown_option(const Reader *r, const char *argument) {
    const UnetGrammar *grammar = r->grammar;
    const char *name[MOST_NAMES];
    const UnetOptionRow *row[MOST_NAMES];
    const Spelling command = spelling(grammar, r->line->command);
    char word[NAME_LENGTH];
    int count = 0;
    (void)snprintf(word, sizeof word, "%.*s", (int)strcspn(argument, "="), argument);
    for (int i = 0; i < grammar->noption && count < MOST_NAMES; i++)
        if (unet_command_takes(&grammar->option[i], r->line->command) || grammar->option[i].commands == 0) {
            row[count] = &grammar->option[i];
            name[count++] = without_dashes(grammar->option[i].name);
        }
    const char *near = unet_nearest_word(without_dashes(word), name, count);
    for (int i = 0; i < count && near != NULL; i++)
        if (name[i] == near)
            return row[i]->commands == 0
                       ? not_taken(r, row[i])
                       : unet_fail(r->error, UNET_USAGE, "`%s` has no option `%s`: did you mean `%s`?",
                                   command.text, word, row[i]->name);
    return unet_fail(r->error, UNET_USAGE, "`%s` has no option `%s`", command.text, word);
}

/* Reads the option at argv[*i] and moves *i to its last word. */
static UnetStatus read_option(const Reader *r, int *i) {
    char *argument = r->argv[*i];
    const UnetOptionRow *row = find_option(r->grammar, argument, r->line->command);
    if (row == NULL)
        return unknown_option(r, argument);
    if (!unet_command_takes(row, r->line->command))
        return not_taken(r, row);
    const char *joined = behind(row, argument);
    const bool is_letter = row->letter != 0 && argument[1] == row->letter;
    UnetValue value = {.name = is_letter ? (char[]){'-', row->letter, '\0'} : row->name, .text = NULL};
    if (*joined != '\0')
        value.text = joined + (*joined == '=');
    if (row->kind == UNET_FLAG && value.text != NULL)
        return unet_fail(r->error, UNET_USAGE, "`%s` takes no value", row->name);
    if (row->kind == UNET_FLAG)
        value.text = "";
    if (has_value(row) && value.text == NULL) {
        if (*i + 1 == r->argc)
            return unet_fail(r->error, UNET_USAGE, "`%s` needs a value: %s", value.name, row->value);
        value.text = r->argv[++*i];
        if (is_option(value.text) && find_option(r->grammar, value.text, r->line->command) != NULL)
            return unet_fail(
                r->error, UNET_USAGE,
                "`%s` needs a value: %s; `%s` behind it is another option (`./%s` would be a file)",
                value.name, row->value, value.text, value.text);
    }
    UnetStatus status = check_value(r, row, &value);
    if (status == UNET_OK)
        status = store(r, row, &value);
    if (status == UNET_OK && r->grammar->seen != NULL)
        r->grammar->seen(r->result, row, &value);
    return status;
}

/* An option that is a command: `train --help`. */
static UnetStatus read_dashed(const Reader *r, int command) {
    const UnetCommandRow *row = &r->grammar->command[command];
    if (command != r->grammar->help_command && command != r->grammar->version_command)
        return unet_fail(r->error, UNET_USAGE, "--%s is a command of its own: write `%s`", row->name,
                         spelling(r->grammar, command).text);
    r->line->about = r->line->command;
    r->line->command = command;
    return UNET_OK;
}

/* `help train` */
static UnetStatus read_help(const Reader *r, int at) {
    UnetCommandLine *line = r->line;
    line->about = line->command;
    if (line->command != r->grammar->help_command || at + 1 == r->argc)
        return UNET_OK;
    const char *word = r->argv[at + 1];
    const int about = find_command(r->grammar, word);
    if (about < 0 && !is_option(word))
        return unknown_command(r, word);
    if (about >= 0)
        line->about = about;
    return UNET_OK;
}

UnetStatus unet_command_line_read(const UnetGrammar *grammar, int argc, char **argv, void *result,
                                  UnetCommandLine *line, UnetError *error) {
    const Reader r = {grammar, argc, argv, result, line, error};
    *line = (UnetCommandLine){.command = grammar->plain, .word = argv + 1};
    const int at = choose_command(&r);
    if (at > 0 && (line->command == grammar->help_command || line->command == grammar->version_command))
        return read_help(&r, at);
    UnetStatus status = UNET_OK;
    bool only_words = false;
    for (int i = 1; i < argc && status == UNET_OK; i++) {
        const bool option = !only_words && is_option(argv[i]);
        const int dashed = option ? dashed_command(grammar, argv[i]) : -1;
        if (i == at)
            continue;
        if (dashed >= 0)
            return read_dashed(&r, dashed);
        if (option && strcmp(argv[i], "--") == 0)
            only_words = true;
        else if (option && (line->command >= 0))
            status = read_option(&r, &i);
        else if (option || (at == 0 && grammar->plain < 0) ||
                 (at == 0 && line->nword == 0 && !only_words && is_no_file(argv[i])))
            status = unknown_command(&r, argv[i]);
        else
            line->word[line->nword++] = argv[i];
    }
    if (status == UNET_OK && line->command < 0)
        return unknown_command(&r, NULL);
    return status;
}
