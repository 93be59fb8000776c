/* options.h - the command line of a generated program, as a struct.
 *
 * The text comes from argv and stays there: every string below points into it.  An option that was
 * not given has the default named beside it.
 */
#ifndef UNET_OPTIONS_H
#define UNET_OPTIONS_H

#include "unet/command_line.h"
#include "unet/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum {
    UNET_COMMAND_TRAIN,
    UNET_COMMAND_EVAL,
    UNET_COMMAND_PREDICT,
    UNET_COMMAND_SAMPLE,
    UNET_COMMAND_CHECK_DATA,
    UNET_COMMAND_INFO,
    UNET_COMMAND_BENCH,
    UNET_COMMAND_TUNE,
    UNET_COMMAND_COMPLETION,
    UNET_COMMAND_HELP,
    UNET_COMMAND_VERSION,
    UNET_COMMANDS
} UnetCommand;

/* commands.c: what the help says of each, indexed by UnetCommand. */
extern const UnetCommandRow unet_commands[UNET_COMMANDS];

enum { UNET_MOST_CONDITIONS = 16 };

typedef struct {
    UnetCommand command, about; /* `about`, of help: the command it is asked of; else UNET_COMMAND_HELP */
    const char *data;           /* NULL: the working directory */
    const char *eval_data;      /* NULL: where `data` is */
    const char *cache;          /* folder of decoded volumes; NULL: beside them */
    const char *out;            /* NULL: the working directory */
    const char *weights;        /* NULL: see the command */
    const char *map;            /* other names for the tensors of `weights`; NULL: none */
    const char *engines;        /* of cuDNN, a file; NULL: the one beside the weights, if there is one */
    const char *resume_file;    /* NULL: the checkpoint in `out` */
    const char *tensorboard_folder;              /* NULL: below `out` */
    const char *report_file;                     /* of eval; NULL: in `out` */
    const char *output;                          /* -o of predict and sample; NULL */
    const char *format;                          /* "text", "json", or, of eval, "csv" */
    int64_t epochs;                              /* 0: as the model says */
    int64_t steps;                               /* 0: as the model says */
    double learning_rate;                        /* 0: as the model says */
    int64_t batch;                               /* 0: as the program was compiled */
    int64_t checkpoint_every;                    /* in steps; 0: as the model says */
    int64_t seed;                                /* -1: as the model says */
    int64_t fold;                                /* that is held out; -1: not given */
    int64_t threads;                             /* 0: one for each processor */
    bool fit;                                    /* of several plans, the largest that fits */
    int64_t count;                               /* of samples; 0: 16 */
    double eta;                                  /* of sample: how much noise a step adds, 0 to 1 */
    const char *condition[UNET_MOST_CONDITIONS]; /* of sample: "NAME=VALUES" */
    int nconditions;
    int64_t bits;         /* of numbers that predict writes; 0: as the input has */
    int64_t timeout;      /* seconds that other processes may be silent */
    const char *exchange; /* of their gradients: "auto", "nccl", "host" */
    const char *overlap;  /* "yes", "no": they are sent while the backward pass goes on */
    const char *size;     /* "picture", or "network": of results, where pictures are resized */
    const char *reduce;   /* "tree", or "fast": NCCL's own sums */
    bool trust_network;   /* whoever of it says to be one of these processes */
    bool resume, overwrite, overlay, tensorboard, tune, skip_bad, report;
    bool all;     /* problems are listed, not counted */
    char **files; /* the arguments that are not options */
    int nfile;
    char given[4096]; /* the options as they were given, but for options that say where a run starts */
} UnetOptions;

/* Reads ARGV, which it reorders so that `files` is a part of it.  UNET_USAGE with a message that says what
 * to write instead. */
UNET_MUST_USE UnetStatus unet_options_parse(UnetOptions *options, int argc, char **argv, UnetError *error);

/* Writes which help of PROGRAM lists the options, for who made the mistake that unet_options_parse() told,
 * to TEXT. */
void unet_options_advice(const UnetOptions *options, const char *program, char *text, size_t size);

/* Writes the help on command ABOUT (UNET_COMMAND_HELP: on all) of a program called PROGRAM, or as much of
 * it as fits, to TEXT; returns its length. */
size_t unet_options_help(char *text, size_t size, const char *program, UnetCommand about);

/* Writes the script by which SHELL completes the command line of PROGRAM to TEXT; returns its length, 0 for
 * a shell that is not known. */
size_t unet_options_completion(char *text, size_t size, const char *program, const char *shell);

#endif
