/* lower.h - from the syntax tree to the graph and the settings of the model.
 *
 * Lowering runs the file as a program: `let`s, loops, conditions and blocks are gone afterwards, and
 * every operator that was called is left, in order.
 */
#ifndef LOWER_H
#define LOWER_H

#include "ast.h"
#include "ir/model.h"
#include "ir/options.h"

/* -D NAME=VALUE */
typedef struct {
    const char *name, *value;
} Define;

/* How training normalises where the file says `batch_norm` (--batch-norm).  The option's words have the
 * same order. */
typedef enum {
    BATCH_NORM_AS_WRITTEN,
    BATCH_NORM_RUNNING, /* by the running statistics, which stay as they are */
    BATCH_NORM_GROUP,   /* as group_norm: each sample by itself */
    BATCH_NORM_INSTANCE /* as instance_norm with weights */
} BatchNorm;

/* Options that override the file; zero: as the file says. */
typedef struct LowerOptions {
    const char *path; /* of the file: gives the model its name */
    const char *text;
    ProgramKind program; /* for which it is lowered: an operator may build other nodes in training */
    const Define *define;
    int ndefine;
    const char *const *freeze; /* patterns */
    int nfreeze;
    int64_t batch, accumulate, ranks; /* 0: as the file says, */
    int64_t compress, state;          /*   as here; 32: no codes */
    BatchNorm batch_norm;
    int nsize;         /* how many numbers of `size` --size gives; 0: the option is not there */
    int64_t processes; /* 0: 1, or as many as `ranks` with shards_optimizer */
    bool shards_optimizer;
    bool probabilities; /* outputs of classes have their probabilities beside them */
    int64_t size[AXES]; /* depth, height, width of the inputs */
    int64_t seed;
    bool has_seed;
} LowerOptions;

/* Returns NULL after reporting errors; warnings do not fail.  The graph holds everything the file says, in
 * its order, whether something needs it or not. */
Model *lower(Pool *pool, Diag *diag, const Ast *file, const LowerOptions *options);

#endif
