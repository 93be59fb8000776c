/* build_program.h - reading the source, writing results so that nothing is ever written half, calling the C
 * compiler. */
#ifndef BUILD_PROGRAM_H
#define BUILD_PROGRAM_H

#include "base/exit_codes.h"
#include "emit/sources.h"

/* The whole file; ends the compiler with EXIT_IO if it cannot be read or is no text. */
const char *read_source(Pool *pool, const char *path);

/* Writes the files into FOLDER, which is made if it is not there; returns an exit code. */
int write_sources(const Plan *plan, const Sources *sources, const char *folder);

/* The words of a command. */
typedef struct {
    Pool *pool;
    char **word;
    int count;
} Words;

void add_word(Words *words, const char *text);
/* The words of TEXT, separated by blanks. */
void add_words(Words *words, const char *text);
/* The output of a command that succeeds, by way of a file in the folder SCRATCH; else NULL. */
const char *command_output(const Words *command, const char *scratch);
/* The environment's VARIABLE, or OTHERWISE where that is not set or empty. */
const char *given_or(const char *variable, const char *otherwise);

/* A step that a target needs beside the C compiler. */
typedef struct BuildStep {
    const char *archive;  /* in the runtime's folder, which only programs for this target link; */
    const char *missing;  /*   the message if it is not there, with its path in front */
    const char *suffix;   /* of the files that a compiler of the target's compiles, */
    const char *what;     /*   that compiler in words, */
    const char *variable; /*   and what names another one */
    void (*add_compiler)(Words *words, const Options *options); /* it, and its options */
    void (*add_includes)(Words *words);                         /* options of the C compiler */
    void (*add_libraries)(Words *words);                        /* options of the linker */
    const char *ranks;                    /* what connects devices of several processes, "nccl" */
    const char *(*link_help)(Pool *pool); /* said where linking failed */
} BuildStep;

/* The place of a program of the name GIVEN: that file, or the file that a symbolic link points at.  Ends
 * the compiler with EXIT_IO if no file can be put there, before there is any work. */
const char *find_place(Pool *pool, const char *given);

/* Compiles the sources with $CC, and what the target's build step names, into PROGRAM; returns an exit
 * code, and leaves nothing else behind. */
int build_program(const Plan *plan, const Sources *sources, const char *program);

/* runtime_folder.c: the folder with include/ and libunet_runtime.a; ends the compiler with EXIT_IO where
 * there is none. */
const char *runtime_folder(Pool *pool);

#endif
