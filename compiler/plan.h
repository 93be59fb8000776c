/* plan.h - the plan: what the passes after lowering work out, and the passes in their order.
 *
 * A Program is one of train, eval, predict: a graph of its own, where each leaf has a Storage and the nodes
 * an order.  The Plan puts the buffers of all programs into one arena.  Results of a pass stand in tables
 * beside the graph, indexed by value, and belong to the pass that computes them.
 */
#ifndef PLAN_H
#define PLAN_H

#include "ir.h"
#include "remat.h"

typedef enum { PROGRAM_TRAIN, PROGRAM_EVAL, PROGRAM_PREDICT, PROGRAMS } ProgramKind;

/* What the command line fixed; the file's own settings are in Model. */
typedef struct PlanOptions {
    bool wanted[PROGRAMS];
    bool reference;        /* --kernels=reference */
    Type real;             /* of parameters and arithmetic: TYPE_F32, or TYPE_F64 with reference kernels */
    Type stored;           /* of activations and their gradients: that, or one of 16 bits */
    Type staged;           /* of inputs, as the loader leaves them */
    bool tf32;             /* products may be rounded to tf32 (cuda) */
    bool has_precision;    /* the command line says it; else the file may */
    bool nondeterministic; /* sums may be in an order that changes from run to run (cuda) */
    const struct Target *target;
    const char *architecture; /* "sm_90" (cuda) */
    struct CudnnQuery *cudnn; /* cuda: knows what cuDNN's engines need */
    bool little_workspace;    /* cuda: convolutions may be slow for want of workspace */
    bool no_reuse;            /* every buffer keeps its bytes for itself */
    bool no_recompute;        /* every tensor is kept until its last reader */
    bool prefetch;            /* training: inputs keep their bytes for those of the next step */
    bool poison;              /* emitted code marks every byte outside a step's operands as poisoned */
    bool portable_isa;        /* one program for several instruction sets */
    int max_threads;
    int micro_batches; /* 0: the compiler chooses; 1: whole batches; else so many loops over samples */
    int64_t budget;    /* bytes of the arena, 0: none */
    int64_t capacity;  /* bytes that the search for what to compute again may use, 0: everything is kept */
    const RematSchedule *found; /* not NULL: this is computed again, without a search */
    bool any_plan;              /* any that fits will do, however slow */
    int64_t micro;              /* samples at a time, 0: by `micro_batches` */
    const char *command;        /* the options as given, for the head of generated files */
    const char *training;       /* those of them that say what is trained, not how it is computed */
} PlanOptions;

enum { LOSS_SCALE_NUMBERS = 4 }; /* of UnetModel.loss_scale */

/* ---- storage.c ---- */

/* How a leaf lies in memory; strides in elements.  See UnetLayout in unet/model.h. */
typedef struct {
    int64_t block, blocks;
    int64_t before[AXES], after[AXES]; /* halo */
    int64_t origin, sample, plane, depth, row;
    int64_t bytes; /* of the whole batch, padding and halo included: a multiple of the alignment */
} Storage;

/* ---- schedule.c ---- */

/* The schedule is a tree: a step runs a node; a loop runs its body TIMES times. */
typedef struct Step {
    NodeId node; /* -1: a loop */
    bool recompute;
    const char *loop; /* "samples" */
    int64_t times;
    struct Step *body;
    int nbody;
} Step;

typedef struct {
    ProgramKind kind;
    const char *name;
    Model *model; /* lowered at this program's size */
    Graph *graph;
    int64_t batch;
    int64_t micro; /* samples at a time: the batch, or less, in a loop */
    int nparameter;
    ValueId *parameter; /* per parameter of the model: its value in this graph */
    ValueId *gradient;  /* train: per parameter the gradient, or -1 */
    ValueId control;    /* cuda: what a step is told (unet/cuda.h) */
    bool prefetches;    /* the next inputs come as soon as these were read for the last time */
    Storage *storage;   /* per value */
    int nstorage;
    Step *step;
    int nstep;
    int *buffer_of;                /* per value: its buffer in the plan, or -1 (wholes, inputs) */
    const RematProblem *remat;     /* what may be computed again, if that was asked, */
    int64_t remat_outside;         /* beside so many bytes, */
    const RematSchedule *found;    /* and the answer */
    int64_t recompute_flops_bound; /* what any schedule within the same bytes computes again */
    int64_t extent;                /* bytes of the arena from its start */
    int64_t lower_bound;
    int peak; /* position of the step with most bytes alive */
} Program;

/* ---- buffers.c, live.c ---- */

typedef enum { LIFETIME_PERSISTENT, LIFETIME_PROGRAM, LIFETIME_STEP } Lifetime;

typedef struct {
    const char *name;
    Class class;
    Lifetime lifetime;
    Place place;
    Type type;
    Shape shape;
    int64_t batch; /* 0: not per sample */
    int64_t bytes, offset;
    int same;        /* shares the bytes of that buffer (in place), or -1 */
    int slice;       /* lies inside that buffer, or -1 */
    int program;     /* the ProgramKind it belongs to, -1: persistent */
    int first, last; /* positions of the first and the last step that touch it or its aliases */
} Buffer;

typedef struct Target Target;
struct Sources; /* sources.h */

typedef struct {
    Pool *pool;
    const PlanOptions *options;
    const Target *target;
    Program program[PROGRAMS]; /* .model == NULL: not there */
    Model *model;              /* of the first program there is */
    Buffer *buffer;
    int nbuffer;
    int nparameter;
    int *parameter_buffer;   /* per parameter of the model */
    int *state_buffer[2];    /* per parameter: the optimiser's state, -1: none */
    int loss_scale_buffer;   /* -1: losses are not scaled */
    int64_t region_elements; /* of the trained parameters: one sweep */
    int64_t persistent;      /* bytes at the front that live across steps and programs */
    int64_t arena, lower_bound;
    int64_t flops;           /* of a training step, recomputation left out */
    int64_t recompute_flops; /* and this much again, */
    int64_t
        recompute_flops_bound; /* of which no order within the same bytes saves more than down to this */
    int64_t loader_ring, ring_slots;
    int64_t beside; /* bytes of the same memory that the arena leaves to others: the ring, or a context */
    const char *source_hash; /* of the text and of the options that say what is trained */
    const char *c_flags;     /* for compiling the kernels */
} Plan;

/* ---- target.c ---- */

struct Target {
    const char *name;
    int64_t align;       /* bytes, of buffers, */
    int64_t slice_align; /* and of what lies in regions */
    int64_t context;     /* bytes of a device that its driver and libraries take, as far as is known */
    bool stages;         /* inputs lie in the arena: those of a turn, all worked on, valid or not */
    bool loops_are_free; /* a few samples at a time cost no time, so they are chosen without need */
    /* Rewrites the graph for this target's kernels: packed weights, scratch. */
    void (*prepare)(Program *program, const PlanOptions *options);
    /* Completes a Storage whose halo is known. */
    void (*lay_out)(const Value *value, int64_t batch, Storage *storage);
    /* emit_cpu.c, emit_cuda.c: the generated files. */
    void (*emit)(const Plan *plan, struct Sources *sources);
};

extern const Target target_cpu, target_cuda;

/* ---- the passes, in their order ---- */

/* prune.c: keeps what the program's results need. */
void prune(Program *program);
/* autodiff.c: the backward pass; fills model->gradient_of. */
void autodiff(Model *model);
/* update.c: appends the optimiser's step; fills program->gradient. */
void update(Program *program, const PlanOptions *options);
/* prune.c: appends the `return` node, which reads the results. */
void close_graph(Program *program);
/* fuse.c: conv + relu, gradients + mask, gradients + sum. */
void fuse(Program *program);
/* cast.c: inputs in the type of activations, or copied out of the way of the next ones. */
void cast_inputs(Program *program, const PlanOptions *options);
/* storage.c: how all leaves lie; the bytes of an input as the loader leaves it, a whole batch. */
void storage(Program *program, const Target *target);
int64_t batch_bytes(const Program *program, ValueId input, const Target *target);
/* schedule.c */
void schedule(Program *program, const PlanOptions *options);
/* recompute.c: an order of these nodes, some of them repeatedly, that needs at most CAPACITY bytes for what
 * they compute, or the least that was found; returns its length. */
int recompute(Program *program, const PlanOptions *options, const NodeId *node, int count, int64_t capacity,
              Step **step);
/* buffers.c: one buffer per leaf, the regions, in place where legal. */
void buffers(Plan *plan);
/* live.c: first and last of every buffer.  Also numbers the steps. */
void live(Plan *plan, Program *program);
/* arena.c: offsets, extents. */
void arena(Plan *plan);
/* check.c: an independent judge; calls BUG() naming the broken law. */
void check_plan(const Plan *plan);

/* plan.c: the values of --precision and --target. */
const char *precision_text(const PlanOptions *options);
const char *target_text(Pool *pool, const PlanOptions *options);
/* plan.c: all of the above for every wanted program.  MODEL holds, per program, the file lowered at its
 * size (NULL: not wanted). */
Plan *plan_programs(Pool *pool, const PlanOptions *options, Model *const model[PROGRAMS]);

/* How often a loop over samples goes round; 1 without one. */
int64_t turns_of(const Program *program);
/* The nodes in the order of the tree, each once, and whether they are in a loop; returns how many. */
int schedule_nodes(const Program *program, NodeId **node, bool **in_loop);
/* The step at a position in pre-order. */
const Step *step_at(const Step *step, int nstep, int position);
/* a + times * b, or the largest number there is: work is not memory, so too much of it is no error. */
int64_t work_sum(int64_t a, int64_t times, int64_t b);
/* Of a node over so many samples as it works on at a time. */
int64_t node_flops(const Program *program, const Node *node);
/* Does NODE read an input where the loader, or a copy to a device, left it? */
bool reads_staging(const Graph *g, const Node *node);
/* The size of the tree: steps are numbered by their position in pre-order, loops included. */
int step_count(const Step *step, int nstep);

#endif
