/* command_line.h - reads a command line by its grammar: a table of commands and a table of options.
 *
 * The compiler and the programs that it makes are two grammars.  Parsing, help, and "did you mean" follow
 * from the tables:
 *
 *     PROGRAM [OPTIONS] COMMAND [OPTIONS] WORD...      PROGRAM help COMMAND, PROGRAM COMMAND --help
 *
 * An option and its value are joined by `=` or a space, or, of a letter, by nothing; behind `--` all is
 * words. All strings point into argv.
 */
#ifndef UNET_COMMAND_LINE_H
#define UNET_COMMAND_LINE_H

#include "unet/status.h"

#include <stdbool.h>
#include <stdint.h>

typedef enum {
    UNET_FLAG,     /* no value: a bool */
    UNET_TEXT,     /* not empty: a char * */
    UNET_MAYBE,    /* joined by `=` or left out: a char * or NULL */
    UNET_NUMBER,   /* a whole number: an int64_t */
    UNET_POSITIVE, /* a number: a double */
    UNET_BYTES,    /* a size of memory: an int64_t */
    UNET_CHOICE    /* one of the words in `value`, "auto|off|N"; N is a whole number: a char * */
} UnetValueKind;

/* A value that its row has found right. */
typedef struct {
    const char *name; /* of the option, as typed: "-o" */
    const char *text; /* "" of a flag, NULL where left out */
    int64_t number;   /* of a number or bytes */
    double real;      /* of a number */
    int choice;       /* of a choice: which, from 0 */
} UnetValue;

typedef struct {
    const char *name; /* with its dashes: "--output" */
    char letter;      /* also spelled -o; 0: no */
    UnetValueKind kind;
    unsigned commands; /* a bit for each command that takes it; 0: none, see `instead` */
    int tag;           /* for the caller */
    int64_t min, max;  /* of a number */
    size_t place;      /* where in the result the value goes, if there is no: */
    UnetStatus (*take)(void *result, const UnetValue *value, UnetError *error);
    const char *value; /* how the help writes it: "DIR", "text|json"; NULL: there is none */
    const char *help;
    const char *instead; /* what to do where a command does not take it; NULL: leave it out */
} UnetOptionRow;

typedef struct {
    const char *name;      /* NULL: the command where none is named */
    bool dashed;           /* also spelled with dashes: --help */
    const char *arguments; /* "IN... -o OUT"; lines of several usages are ended by a newline */
    const char *help;      /* one sentence without its full stop; NULL: it is not listed */
    const char *more;      /* what else its own help says; NULL: nothing */
} UnetCommandRow;

typedef struct {
    const char
        *program; /* before the command in messages and help; NULL: the messages say only the command */
    const UnetCommandRow *command;
    int ncommand;
    const UnetOptionRow *option;
    int noption;
    int plain;             /* the command where none is named, or -1: one must be */
    int help_command;      /* stands for --help and -h */
    int version_command;   /* for --version */
    const char *elsewhere; /* commands that one may look for here, "train|eval"; they belong to */
    const char *where;     /*   "`./PROGRAM`, which ..." */
    const char *epilogue;  /* the end of each help: exit codes */
    /* Called for each option that was given, in their order; NULL: nobody wants to know. */
    void (*seen)(void *result, const UnetOptionRow *row, const UnetValue *value);
} UnetGrammar;

typedef struct {
    int command, about; /* about: of help, the command that it is asked of, or the help itself */
    char **word;        /* words that are neither command nor option: a part of argv, which is reordered */
    int nword;
} UnetCommandLine;

/* Reads ARGV; values go to RESULT, which holds the defaults.  UNET_USAGE with what to write instead. */
UNET_MUST_USE UnetStatus unet_command_line_read(const UnetGrammar *grammar, int argc, char **argv,
                                                void *result, UnetCommandLine *line, UnetError *error);

/* Writes the help on command ABOUT (the help itself: on all) of a program called PROGRAM, or as much of it
 * as fits, to TEXT; returns its length. */
size_t unet_command_line_help(const UnetGrammar *grammar, const char *program, int about, char *text,
                              size_t size);

/* Writes "run `PROGRAM train --help` for the options", for who has made a mistake in the options of COMMAND
 * (-1: of none), to TEXT. */
void unet_command_line_advice(const UnetGrammar *grammar, const char *program, int command, char *text,
                              size_t size);

/* Writes a script by which SHELL, "bash", "zsh" or "fish", completes the command line of PROGRAM, or as
 * much of it as fits, to TEXT; returns its length, 0 for another shell. */
size_t unet_command_line_completion(const UnetGrammar *grammar, const char *program, const char *shell,
                                    char *text, size_t size);

/* "8GiB" or "8G": 8 * 2^30 bytes; "8GB": 8 * 10^9; K, M and T alike; "8B" or a number that no unit follows:
 * bytes.  One so small that a unit is probably missing is asked about.  NAME is the option's. */
UNET_MUST_USE UnetStatus unet_read_bytes(const char *name, const char *text, int64_t *bytes,
                                         UnetError *error);

#endif
