/* options.c - reads the command line of a generated program.
 *
 * One table has every option: its spelling, the commands that know it, the range of its value and where in
 * UnetOptions the value goes.  Parsing, the help text and "did you mean" all follow from it.
 */
#include "options.h"

#include <errno.h>
#include <float.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    const char *name;
    const char *arguments;
    const char *help;
} Command;

/* Indexed by UnetCommand; the two last are spelled as options as well. */
static const Command commands[] = {
    {"train", "", "train the model and write its weights"},
    {"eval", "", "measure the weights on the evaluation data"},
    {"predict", "IN... -o OUT", "run the model on images"},
    {"check-data", "", "read the data once and report what is wrong with it"},
    {"info", "", "print what this program holds: parameters, programs, memory"},
    {"bench", "", "time a step of each program and its parts on random inputs"},
    {"help", "", NULL},
    {"version", "", NULL},
};
enum { COMMANDS = sizeof commands / sizeof *commands };

#define IN(command) (1u << UNET_COMMAND_##command)

typedef enum { FLAG, TEXT, OPTIONAL_TEXT, NUMBER, POSITIVE, CHOICE } Kind;

typedef struct {
    const char *name; /* without its dashes */
    char letter;      /* also spelled -o; 0: no */
    Kind kind;
    unsigned commands; /* IN(...) of those that know it */
    int64_t min, max;
    size_t place; /* offset in UnetOptions */
    const char *value, *help;
} Option;

#define AT(field) offsetof(UnetOptions, field)
static const Option options_table[] = {
    {"data", 0, TEXT, IN(TRAIN) | IN(EVAL) | IN(CHECK_DATA), 0, 0, AT(data), "DIR",
     "folder in which the model's data patterns start"},
    {"eval-data", 0, TEXT, IN(TRAIN) | IN(EVAL), 0, 0, AT(eval_data), "DIR",
     "folder to evaluate on, all of it, in place of the data that the model holds back"},
    {"epochs", 0, NUMBER, IN(TRAIN), 1, INT64_MAX, AT(epochs), "N",
     "how long to train, in passes over the data"},
    {"steps", 0, NUMBER, IN(TRAIN) | IN(BENCH), 1, INT64_MAX, AT(steps), "N",
     "how long to train, in updates; for bench: how many to time, at most 200"},
    {"lr", 0, POSITIVE, IN(TRAIN), 0, 0, AT(learning_rate), "RATE",
     "learning rate of the optimizer, from which its schedule goes on"},
    {"batch", 0, NUMBER, IN(TRAIN), 1, INT32_MAX, AT(batch), "N",
     "samples of a batch, at most as many as the program was compiled for"},
    {"seed", 0, NUMBER, IN(TRAIN) | IN(BENCH), 0, INT64_MAX, AT(seed), "N",
     "seed of the initial weights, the order of samples and their noise"},
    {"threads", 0, NUMBER, IN(TRAIN) | IN(EVAL) | IN(PREDICT) | IN(BENCH), 1, INT_MAX, AT(threads), "N",
     "threads that compute; the result does not depend on their number"},
    {"out", 0, TEXT, IN(TRAIN) | IN(EVAL) | IN(PREDICT), 0, 0, AT(out), "DIR",
     "folder of the weights, the checkpoint and the log"},
    {"resume", 0, OPTIONAL_TEXT, IN(TRAIN), 0, 0, AT(resume_file), "[=FILE]",
     "continue from the checkpoint in --out, or from FILE"},
    {"tensorboard", 0, OPTIONAL_TEXT, IN(TRAIN), 0, 0, AT(tensorboard_folder), "[=DIR]",
     "also write event files for TensorBoard, in --out/tensorboard, or in DIR"},
    {"checkpoint-every", 0, NUMBER, IN(TRAIN), 1, INT64_MAX, AT(checkpoint_every), "N",
     "steps between checkpoints"},
    {"weights", 0, TEXT, IN(TRAIN) | IN(EVAL) | IN(PREDICT) | IN(BENCH), 0, 0, AT(weights), "FILE",
     "safetensors file to start from or to use"},
    {"map", 0, TEXT, IN(TRAIN) | IN(EVAL) | IN(PREDICT), 0, 0, AT(map), "FILE",
     "names in --weights: lines `NAME THERE -> NAME HERE`, with * for any part"},
    {"output", 'o', TEXT, IN(PREDICT), 0, 0, AT(output), "OUT",
     "file to write, or an existing folder, or a new one ending in /"},
    {"overlay", 0, FLAG, IN(PREDICT), 0, 0, AT(overlay), NULL,
     "also write OUT-overlay.png: classes in colours over the image"},
    {"format", 0, CHOICE, IN(EVAL) | IN(INFO) | IN(BENCH), 0, 0, AT(format), "FORMAT",
     "text or json; for eval, image by image: csv or json"},
};
enum { OPTIONS = sizeof options_table / sizeof *options_table };

static size_t min_of(size_t a, size_t b, size_t c) {
    size_t min = a < b ? a : b;
    return min < c ? min : c;
}

/* Letters to change, insert or leave out to get from A to B; words are short. */
static size_t edit_distance(const char *a, const char *b) {
    enum { LONGEST = 32 };
    size_t row[LONGEST + 1];
    size_t columns = strlen(b);
    if (strlen(a) > LONGEST || columns > LONGEST)
        return LONGEST;
    for (size_t j = 0; j <= columns; j++)
        row[j] = j;
    for (size_t i = 1; a[i - 1] != 0; i++) {
        size_t diagonal = row[0];
        row[0] = i;
        for (size_t j = 1; j <= columns; j++) {
            size_t change = diagonal + (a[i - 1] != b[j - 1]);
            diagonal = row[j];
            row[j] = min_of(change, row[j] + 1, row[j - 1] + 1);
        }
    }
    return row[columns];
}

/* Keeps the nearer of BEST and CANDIDATE to WORD. */
static void consider(const char *word, const char *candidate, const char **best, size_t *distance) {
    size_t d = edit_distance(word, candidate);
    if (d < *distance) {
        *distance = d;
        *best = candidate;
    }
}

static UnetStatus unknown_command(const char *word, UnetError *error) {
    const char *best = NULL;
    size_t distance = 3;
    for (int i = 0; i < COMMANDS; i++)
        consider(word, commands[i].name, &best, &distance);
    if (best != NULL)
        return unet_fail(error, UNET_USAGE, "there is no command `%s`: did you mean `%s`?", word, best);
    return unet_fail(error, UNET_USAGE,
                     "there is no command `%s` (commands: train, eval, predict, check-data, info, bench)",
                     word);
}

static UnetStatus unknown_option(const char *word, UnetCommand command, UnetError *error) {
    const char *best = NULL;
    size_t distance = 3;
    for (int i = 0; i < OPTIONS; i++)
        if ((options_table[i].commands & 1u << command) != 0)
            consider(word, options_table[i].name, &best, &distance);
    if (best != NULL)
        return unet_fail(error, UNET_USAGE, "`%s` has no option `--%s`: did you mean `--%s`?",
                         commands[command].name, word, best);
    return unet_fail(error, UNET_USAGE, "`%s` has no option `--%s`; --help lists all options",
                     commands[command].name, word);
}

static UnetStatus read_number(const Option *option, const char *text, int64_t *number, UnetError *error) {
    char *end;
    errno = 0;
    long long value = strtoll(text, &end, 10);
    if (*text == 0 || *end != 0)
        return unet_fail(error, UNET_USAGE, "`--%s` needs a whole number, not `%s`", option->name, text);
    if (errno == ERANGE || value > option->max)
        return unet_fail(error, UNET_USAGE, "`--%s %s` is out of range", option->name, text);
    if (value < option->min)
        return unet_fail(error, UNET_USAGE, "`--%s` must be at least %lld, not %s", option->name,
                         (long long)option->min, text);
    *number = value;
    return UNET_OK;
}

static UnetStatus read_positive(const Option *option, const char *text, double *number, UnetError *error) {
    char *end;
    const double value = strtod(text, &end);
    if (*text == 0 || *end != 0)
        return unet_fail(error, UNET_USAGE, "`--%s` needs a number, not `%s`", option->name, text);
    if (!(value > 0 && value <= DBL_MAX))
        return unet_fail(error, UNET_USAGE, "`--%s` must be a number greater than 0, not %s", option->name,
                         text);
    *number = value;
    return UNET_OK;
}

static UnetStatus store(UnetOptions *options, const Option *option, const char *value, UnetError *error) {
    void *place = (char *)options + option->place;
    if (option->kind == OPTIONAL_TEXT)
        *(option->place == AT(resume_file) ? &options->resume : &options->tensorboard) = true;
    if (option->kind == FLAG && value != NULL)
        return unet_fail(error, UNET_USAGE, "`--%s` takes no value", option->name);
    if (option->kind == FLAG) {
        *(bool *)place = true;
        return UNET_OK;
    }
    if (option->kind == NUMBER)
        return read_number(option, value, place, error);
    if (option->kind == POSITIVE)
        return read_positive(option, value, place, error);
    const bool csv = option->kind == CHOICE && options->command == UNET_COMMAND_EVAL;
    if (option->kind == CHOICE && strcmp(value, "text") != 0 && strcmp(value, "json") != 0 &&
        !(csv && strcmp(value, "csv") == 0))
        return unet_fail(error, UNET_USAGE, "`--format` is text%s or json, not `%s`", csv ? ", csv" : "",
                         value);
    if (value != NULL && *value == 0)
        return unet_fail(error, UNET_USAGE, "`--%s` needs a value", option->name);
    memcpy(place, &value, sizeof value);
    return UNET_OK;
}

/* The option that WORD (behind its dashes) spells, up to an '='; NULL: none. */
static const Option *find_option(const char *word, bool is_letter, UnetCommand command) {
    size_t length = strcspn(word, "=");
    for (int i = 0; i < OPTIONS; i++) {
        const Option *option = &options_table[i];
        bool same = is_letter ? option->letter == word[0] && length == 1
                              : strlen(option->name) == length && strncmp(option->name, word, length) == 0;
        if (same && (option->commands & 1u << command) != 0)
            return option;
    }
    return NULL;
}

/* Reads the option at argv[*i] and moves *i to its last word. */
static UnetStatus read_option(UnetOptions *options, int argc, char **argv, int *i, UnetError *error) {
    bool is_letter = argv[*i][1] != '-';
    char *word = argv[*i] + (is_letter ? 1 : 2);
    if (strcmp(word, "help") == 0 || strcmp(word, "version") == 0 ||
        (is_letter && strcmp(word, "h") == 0)) {
        options->about = options->command;
        options->command = word[0] == 'v' ? UNET_COMMAND_VERSION : UNET_COMMAND_HELP;
        return UNET_OK;
    }
    const Option *option = find_option(word, is_letter, options->command);
    char *value = strchr(word, '=');
    if (option == NULL) {
        if (value != NULL)
            *value = 0;
        return unknown_option(word, options->command, error);
    }
    if (value != NULL)
        value++;
    else if (option->kind != OPTIONAL_TEXT && option->kind != FLAG) {
        if (*i + 1 == argc)
            return unet_fail(error, UNET_USAGE, "`%s` needs a value: %s", argv[*i], option->value);
        value = argv[++*i];
    }
    return store(options, option, value, error);
}

static UnetStatus find_command(UnetOptions *options, const char *word, UnetError *error) {
    if (strcmp(word, "-h") == 0)
        word = "help";
    if (strcmp(word, "--help") == 0 || strcmp(word, "--version") == 0)
        word += 2;
    for (int i = 0; i < COMMANDS; i++)
        if (strcmp(word, commands[i].name) == 0) {
            options->command = (UnetCommand)i;
            return UNET_OK;
        }
    return unknown_command(word, error);
}

/* Rules that concern several options. */
static UnetStatus check_together(const UnetOptions *options, UnetError *error) {
    if (options->epochs != 0 && options->steps != 0)
        return unet_fail(error, UNET_USAGE,
                         "`--epochs` and `--steps` both set the duration: give one of them");
    if (options->resume && options->weights != NULL)
        return unet_fail(error, UNET_USAGE, "`--resume` loads its own weights: leave `--weights` out");
    if (options->map != NULL && options->weights == NULL)
        return unet_fail(error, UNET_USAGE,
                         "`--map` tells the names in the file of `--weights`: give both");
    if (options->command == UNET_COMMAND_PREDICT) {
        if (options->nfile == 0)
            return unet_fail(error, UNET_USAGE, "`predict` needs images: predict IN... -o OUT");
        if (options->output == NULL)
            return unet_fail(error, UNET_USAGE, "`predict` needs `-o OUT`, the file or folder to write");
    } else if (options->nfile > 0) {
        return unet_fail(error, UNET_USAGE, "`%s` takes no files: leave out `%s`",
                         commands[options->command].name, options->files[0]);
    }
    return UNET_OK;
}

UnetStatus unet_options_parse(UnetOptions *options, int argc, char **argv, UnetError *error) {
    *options = (UnetOptions){
        .command = UNET_COMMAND_HELP, .about = UNET_COMMAND_HELP, .format = "text", .seed = -1};
    if (argc < 2)
        return unet_fail(error, UNET_USAGE,
                         "no command (train, eval, predict, check-data, info, bench); try --help");
    UnetStatus status = find_command(options, argv[1], error);
    options->files = argv + 2;
    if (status == UNET_OK && options->command == UNET_COMMAND_HELP && argc > 2) { /* help train */
        status = find_command(options, argv[2], error);
        options->about = options->command < UNET_COMMAND_HELP ? options->command : UNET_COMMAND_HELP;
        options->command = UNET_COMMAND_HELP;
    }
    bool only_files = false;
    for (int i = 2; i < argc && status == UNET_OK; i++) {
        if (options->command == UNET_COMMAND_HELP || options->command == UNET_COMMAND_VERSION)
            return UNET_OK;
        if (!only_files && strcmp(argv[i], "--") == 0)
            only_files = true;
        else if (!only_files && argv[i][0] == '-' && argv[i][1] != 0)
            status = read_option(options, argc, argv, &i, error);
        else
            options->files[options->nfile++] = argv[i];
    }
    if (status == UNET_OK && options->command < UNET_COMMAND_HELP)
        status = check_together(options, error);
    return status;
}

/* ---- help ------------------------------------------------------------------------------------- */

typedef struct {
    char *text;
    size_t size, length;
} Page;

static void print(Page *page, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void print(Page *page, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    int n = vsnprintf(page->text + page->length, page->size - page->length, format, arguments);
    va_end(arguments);
    if (n > 0)
        page->length += (size_t)n < page->size - page->length ? (size_t)n : page->size - page->length - 1;
}

/* ABOUT: the command that is asked about, or that of help, which names the commands of each option. */
static void print_option(Page *page, const Option *option, UnetCommand about) {
    char spelling[48];
    if (option->letter != 0)
        (void)snprintf(spelling, sizeof spelling, "-%c %s", option->letter, option->value);
    else
        (void)snprintf(spelling, sizeof spelling, "--%s%s%s", option->name,
                       option->kind == OPTIONAL_TEXT || option->kind == FLAG ? "" : "=",
                       option->value == NULL ? "" : option->value);
    print(page, "  %-22s %s", spelling, option->help);
    const char *separator = " (";
    for (int c = 0; c < COMMANDS && about == UNET_COMMAND_HELP; c++)
        if ((option->commands & 1u << c) != 0) {
            print(page, "%s%s", separator, commands[c].name);
            separator = ", ";
        }
    print(page, about == UNET_COMMAND_HELP ? ")\n" : "\n");
}

static void print_commands(Page *page, const char *program) {
    print(page, "usage: %s COMMAND [OPTIONS]\n       %s COMMAND --help\n\nCommands:\n", program, program);
    for (int c = 0; c < COMMANDS; c++)
        if (commands[c].help != NULL) {
            char spelling[48];
            (void)snprintf(spelling, sizeof spelling, "%s %s", commands[c].name, commands[c].arguments);
            print(page, "  %-22s %s\n", spelling, commands[c].help);
        }
}

size_t unet_options_help(char *text, size_t size, const char *program, UnetCommand about) {
    Page page = {text, size, 0};
    const Command *one = &commands[about];
    if (about == UNET_COMMAND_HELP)
        print_commands(&page, program);
    else
        print(&page, "usage: %s %s%s%s [OPTIONS]\n\n%c%s.\n", program, one->name,
              one->arguments[0] == 0 ? "" : " ", one->arguments, one->help[0] - 'a' + 'A', one->help + 1);
    print(&page, "\nOptions (a value follows `=` or a space):\n");
    for (int i = 0; i < OPTIONS; i++)
        if (about == UNET_COMMAND_HELP || (options_table[i].commands & 1u << about) != 0)
            print_option(&page, &options_table[i], about);
    print(&page,
          "\nExit codes: 0 done, 2 usage, 3 not enough memory, 4 data or files, 6 training diverged,\n"
          "70 a bug, 130 and 143 stopped by a signal (after writing a checkpoint).\n");
    return page.length;
}
