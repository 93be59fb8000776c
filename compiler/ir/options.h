/* options.h - what the command line fixed, and what the planner chooses beside it.  The file's own settings
 * are in Model. */
#ifndef OPTIONS_H
#define OPTIONS_H

#include "ir/graph.h"
#include "solve/remat.h"

typedef enum { PROGRAM_TRAIN, PROGRAM_EVAL, PROGRAM_PREDICT, PROGRAMS } ProgramKind;

/* How convolutions are computed, where there is a choice.  FAST: as AUTO, with factors of 16 bits. */
typedef enum { CONV_AUTO, CONV_DIRECT, CONV_WINOGRAD, CONV_FAST } ConvMethod;

/* Who computes transposed convolutions of a GPU, where there is a choice: CELLS, a kernel of ours. */
typedef enum { UPCONV_AUTO, UPCONV_CUDNN, UPCONV_CELLS } UpconvMethod;

/* In which type the loader leaves pictures (ir/staging.h): the type of their files if nothing is lost, or
 * f32 (f64 of a reference build in f64), or one in which numbers are rounded that it has not. */
typedef enum { STAGING_AS_FILES, STAGING_REAL, STAGING_U16, STAGING_U8 } Staging;

typedef struct Target Target;           /* ir/target.h */
typedef struct DeviceModel DeviceModel; /* the target's own: what it knows of the device without one */

/* The wishes of the user. */
typedef struct Options {
    bool wanted[PROGRAMS];
    bool reference;      /* --kernels=reference */
    ConvMethod conv;     /* --conv */
    UpconvMethod upconv; /* --upconv */
    Type real;           /* of parameters and arithmetic: TYPE_F32, or TYPE_F64 with reference kernels */
    Type stored;         /* of activations and their gradients: that, or one of 16 bits */
    Staging staging;     /* --staging */
    bool tf32;           /* products may be rounded to tf32 */
    bool has_precision;  /* the command line says it; else the file may */
    bool no_images;      /* --no-images: a program that links the C library alone, and has one thread */
    bool no_cache;       /* --no-cache: every file is compiled, and no object is kept */
    bool shared;         /* --shared: a library that programs load while they run, and no program */
    bool portable;       /* --isa=portable: for every processor, not for the one at hand */
    const char *instructions; /* --isa=ARCH: of the processor, as compilers call it; else NULL */
    /* The processor at hand, if the program is compiled for it, has registers for matrices of bf16, and
     * takes longer for pairs of bf16 than for f32. */
    bool has_matrices, slow_pairs;
    const char *compiler;  /* --cc: the C compiler, or NULL: $CC or cc */
    bool nondeterministic; /* sums may be in an order that changes from run to run */
    const Target *target;
    const char *architecture; /* of a target that has several: "sm_90" */
    const char *card; /* the card that is planned for: the architecture, or a certain card of it, "h200" */
    const char *engines;    /* --engines: a file of engines that were measured, or NULL */
    DeviceModel *device;    /* opened by the target after the options are read, or NULL */
    bool no_reuse;          /* every buffer keeps its bytes for itself */
    bool keep_gradients;    /* gradients of parameters are there until the step ends */
    bool no_recompute;      /* every tensor is kept until its last reader */
    int64_t steps_per_file; /* a C file of the cpu lists at most so many; 0: STEPS_PER_FILE (cpu/parts.h) */
    int64_t effort;         /* the search for what to compute again takes so many times as long; 0: once */
    bool poison;            /* emitted code marks every byte outside a step's operands as poisoned */
    int max_threads;
    int micro_batches;    /* 0: the compiler chooses; 1: whole batches; else so many loops over samples */
    bool no_branches;     /* nothing runs beside anything else */
    int bands;            /* of rows, where operators can; 0: the compiler chooses; 1: no loops over them */
    int64_t budget;       /* bytes of the arena, 0: none, or what the file says */
    const char *command;  /* the options as given, for the head of generated files */
    const char *training; /* the options that change the training, not its computation */
} Options;

/* One attempt of the planner's search (search/budget_search.c).  All zero: everything is kept, whole
 * batches where loops cost time. */
typedef struct {
    int64_t micro_batch; /* samples at a time, 0: by `micro_batches` */
    int64_t band_rows;   /* rows of the largest tensor in a band; 0: by `bands` */
    int64_t passed_rows; /*   the same in prediction, which then passes row by row; 0: whole images */
    int64_t capacity;    /* bytes for the search for what to compute again, 0: everything is kept */
    const RematSchedule *found; /* not NULL: this is computed again, without a search */
    /* The same search for fewer samples, another size or width, which answers for this one, or NULL. */
    const RematProblem *typical;
    const struct LowerOptions *typical_file; /* the size or width at which that is asked, or NULL */
    RematMemo *memo;                         /* where its answer may be, or NULL */
    Pool *schedules;                         /* where its answer comes to lie */
    bool repeats;             /* in bands of rows: some may be computed again, as repeat.h says */
    int64_t of_use;           /* no search for what surely needs an arena of more bytes; 0: all is of use */
    int64_t most_extra;       /* no search where an iteration is known to cost so much more, or 0 */
    bool nearly_free;         /* schedules of every capacity are looked for, in brief */
    bool parts;               /* the optimiser's step is cut into parts though each part costs a launch */
    bool any_plan;            /* any schedule that fits will do, however slow */
    bool only_bands;          /*   but what computes again without bands of rows does not help */
    bool brief;               /* the search for schedules ends early: those it finds may cost some more */
    bool sketch;              /* kernels have no workspace: what does not fit even so never does */
    bool rough;               /* the arena may be larger than it must: it is only compared */
    bool prefetch;            /* training: inputs keep their bytes for the inputs of the next step */
    bool stages_floats;       /* no picture is copied into f32: the ring has it so */
    bool little_workspace;    /* kernels may be slow for want of workspace */
    bool packs_once;          /* prediction: packed weights are kept from image to image */
    bool packs_in_iterations; /* a loop over samples packs weights again in each iteration, */
    bool packs_in_bands;      /*   and one over bands of rows in each band */
    bool branches;            /* what nobody waits for soon runs beside other steps (passes/branches.c), */
    int64_t branch_bytes;     /*   and the most bytes alive may become so many more by that */
    int64_t extent[PROGRAMS]; /* bytes that each program took when it was packed under these choices before,
                                 or 0 */
} Choices;

#endif
