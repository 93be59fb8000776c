/* problems.c - see problems.h. */
#include "problems.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* The kind that PROBLEM is of, or NULL: there is no room for another. */
static ProblemKind *kind_of(Problems *problems, const UnetError *problem) {
    for (int i = 0; i < problems->kinds; i++)
        if (problems->kind[i].kind == problem->kind)
            return &problems->kind[i];
    if (problems->kinds == MOST_KINDS)
        return NULL;
    ProblemKind *kind = &problems->kind[problems->kinds++];
    *kind = (ProblemKind){.kind = problem->kind};
    (void)snprintf(kind->first, sizeof kind->first, "%.199s", problem->text);
    kind->first[strcspn(kind->first, ";,")] = '\0';
    return kind;
}

/* Whether TEXT came before; it is noted.  The hash is FNV-1a. */
static bool was_heard(Problems *problems, const char *text) {
    uint64_t hash = UINT64_C(14695981039346656037);
    for (; *text != '\0'; text++)
        hash = (hash ^ (unsigned char)*text) * UINT64_C(1099511628211);
    hash |= 1; /* 0 is an empty place */
    for (size_t i = 0; i < HEARD; i++) {
        uint64_t *place = &problems->heard[(hash + i) % HEARD];
        if (*place == hash)
            return true;
        if (*place == 0) {
            *place = hash;
            return false;
        }
    }
    return false;
}

void problems_hear(void *context, const UnetError *problem) {
    Problems *problems = context;
    if (was_heard(problems, problem->text))
        return;
    ProblemKind *kind = kind_of(problems, problem);
    const char *advice = strstr(problem->text, "; ");
    const int64_t before = kind != NULL ? kind->count++ : 0;
    const bool shorter = before > 0 && advice != NULL;
    problems->count++;
    if (!problems->silent && (problems->all || before < TOLD_OF_KIND))
        (void)fprintf(stderr, "problem: %.*s\n",
                      (int)(shorter ? (size_t)(advice - problem->text) : strlen(problem->text)),
                      problem->text);
}

void problems_end(Problems *problems) {
    for (int i = 0; i < problems->kinds; i++) {
        const ProblemKind *kind = &problems->kind[i];
        if (!problems->silent && !problems->all && kind->count > TOLD_OF_KIND)
            (void)fprintf(stderr,
                          "problem: %" PRId64 " more of this kind, %" PRId64
                          " in all: %s (--all lists each)\n",
                          kind->count - TOLD_OF_KIND, kind->count, kind->first);
    }
    problems->kinds = 0;
}
