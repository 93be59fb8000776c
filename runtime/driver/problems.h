/* problems.h - problems of data, told in groups: of each kind three, and how many more there are. */
#ifndef PROBLEMS_H
#define PROBLEMS_H

#include <stdbool.h>
#include <stdint.h>

#include "unet/status.h"

enum { MOST_KINDS = 64, TOLD_OF_KIND = 3, HEARD = 1 << 13 };

typedef struct {
    const char *kind;
    int64_t count;
    char first[200]; /* the beginning of the first of them */
} ProblemKind;

typedef struct {
    bool all;    /* each is told */
    bool silent; /* another process tells them */
    int64_t count;
    ProblemKind kind[MOST_KINDS];
    int kinds;
    /* Hashes of the texts that were heard, 0: none.  Training and evaluation look at the same folder, and
     * each problem counts once.  A table that is full takes no more. */
    uint64_t heard[HEARD];
} Problems;

/* CONTEXT: Problems.  Advice, which stands behind a semicolon, is given with the first of its kind. */
void problems_hear(void *context, const UnetError *problem);

/* Tells how many were not told since the last call, and forgets all but their count. */
void problems_end(Problems *problems);

#endif
