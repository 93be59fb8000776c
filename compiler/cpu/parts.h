/* parts.h - the steps of a long program in functions of their own, between emit.c and parts.c. */
#ifndef CPU_PARTS_H
#define CPU_PARTS_H

#include "emit/emit.h"

enum { STEPS_PER_FILE = 512 }; /* without --steps-per-file */

/* The names that a step may use beside the arena. */
typedef struct {
    bool samples; /* n, start, valid */
    bool last;    /* of groups of samples */
    bool bands;   /* band */
    bool labels;  /* labelled */
} Scope;

typedef struct {
    const Plan *plan;
    int limit; /* steps of a function */
    Scope scope;
    Text *text; /* of each function */
    const char **name;
    int count;
    Text *out; /* where the call of the function goes that is being written */
} Parts;

Parts parts_new(const Plan *plan);
/* Whether a list of steps goes into functions. */
bool parts_split(const Parts *parts, const Step *step, int nstep);

/* Begins a function for some steps of PROGRAM. All text that is emitted before part_end() goes into it. */
void part_begin(Parts *parts, Emitter *e, const Program *program);
void part_end(Parts *parts, Emitter *e);

/* "void tiny_unet_train_steps_3(PART_PARAMETERS);" of each. */
const char *parts_declared(const Parts *parts);
/* A file of each function, which includes NAME_calls.h. */
void emit_parts(const Parts *parts, Sources *sources);

#endif
