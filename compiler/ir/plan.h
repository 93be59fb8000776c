/* plan.h - the plan: the results of the passes after lowering.
 *
 * A Program is one of train, eval, predict: a graph of its own, where each segment has a Layout and the
 * nodes an order.  The Plan puts the buffers of all programs into one arena.  Results of a pass stand in
 * tables beside the graph, indexed by value, and belong to the pass that computes them.
 */
#ifndef PLAN_H
#define PLAN_H

#include "ir/model.h"
#include "ir/options.h"

/* ---- layout.c ---- */

/* How a segment lies in memory; strides in elements.  See UnetLayout in unet/model.h. */
typedef struct {
    int64_t block, blocks;
    int64_t before[AXES], after[AXES]; /* halo */
    int64_t origin, sample, plane, depth, row;
    int64_t ring;  /* row h has the place of row h mod ring; 0: each row has a place of its own */
    int64_t bytes; /* of the whole batch, padding and halo included: a multiple of the alignment */
} Layout;

/* ---- schedule.c ---- */

typedef enum { AXIS_SAMPLES, AXIS_BANDS } LoopAxis;

enum { MAX_STATES = 4 }; /* numbers that an optimiser keeps for each parameter */

/* The schedule is a tree: a step runs a node; a loop runs its body `times` times, and may hold loops.  If a
 * node merges all samples (TRAIT_MERGES), there is a loop over samples on each side of it.
 *
 * Iteration i of a loop over samples works on the samples [i * samples, (i + 1) * samples) of the batch, as
 * far as they are valid.
 *
 * In iteration i of a loop over bands a step computes the rows [i * rows - lag, (i + 1) * rows - lag) of
 * its first output, or sums over these rows of an input.  Rows outside of the tensor are left out, and an
 * empty range does nothing.  The lag grows from step to step by the rows that a window reads ahead.  A step
 * that packs weights has no rows: each iteration packs them, for the steps behind it.  A loop over bands
 * holds no loop.
 *
 * Neighbouring steps may form a section of branches.  Steps of one branch run one after the other; steps of
 * different branches run in any order, or at once.  A step behind the section runs after all of its steps.
 * One launch runs the whole section, or each branch has a stream: branch 1 has the stream of all other
 * steps, and the steps of branch 2 stand first.
 *
 * A step may be chained to the step in front of it: one launch runs both, point by point, and other points
 * may have come farther meanwhile (passes/chains.c). */
typedef struct Step {
    NodeId node; /* -1: a loop */
    bool recompute;
    int section, branch; /* see above; section 0: in none */
    bool streams;        /* each branch of its section has a stream */
    bool chained;        /* see above */
    int64_t rows, lag;   /* in a loop over bands: see above; rows 0: in no such loop */
    LoopAxis axis;       /* of a loop */
    int64_t samples;     /* of a loop over samples: the samples of an iteration */
    int64_t times;
    struct Step *body;
    int nbody;
} Step;

/* ---- buckets.c ---- */

enum { MOST_BUCKETS = 4 };

/* A slice of the region of gradients that processes begin to sum during the backward pass. */
typedef struct {
    ValueId gradients;      /* its segments of the region */
    int64_t first, numbers; /* of the region, padding included */
    int64_t place;          /* of its sums of groups, among the sums of all gradients, in numbers */
} Bucket;

/* ---- reach.c ---- */

/* Windows along one axis, in points of the input.  Images are padded to whole units; windows begin at
 * multiples of `grid`.  The first `before` and the last `after` points of a window depend on pixels outside
 * of it.  grid 0: the program is not run on windows. */
typedef struct {
    int64_t unit, grid, before, after;
} Reach;

typedef struct {
    ProgramKind kind;
    const char *name;
    const Options *options;
    const Choices *choices;
    const Target *target;
    Model *model; /* lowered at this program's size */
    Graph *graph;
    int64_t batch;
    int64_t micro_batch; /* samples at a time: the batch, or less, in a loop */
    int64_t group; /* sums of so many samples each are added as a tree (passes/groups.c); 0: samples are
                      added one after the other */
    const bool
        *held; /* per value: it holds all samples of the process, for several loops over samples touch
                  it; NULL: there is one loop at most, and values hold the samples of an iteration */
    /* Training by groups: buckets in their order.  None: gradients are summed all at once, at the end. */
    Bucket *bucket;
    int nbucket;
    int nparameter;
    ValueId *parameter; /* per parameter of the model: its value in this graph */
    ValueId *gradient;  /* train: per parameter the gradient, or -1 */
    int nstatistic;
    ValueId *statistic;    /* running statistics, in the order of the file */
    ValueId gradient_norm; /* train: the norm by which gradients are clipped, or -1 */
    ValueId whole_state;   /* train: slices of the optimiser's state are put together in it, or -1 */
    ValueId control;       /* targets that stage inputs: the arguments of a step */
    bool prefetches;       /* the next inputs are copied after the last reader of the present ones */
    Layout *layout;        /* per value */
    int nlayout;
    Step *step;
    int nstep;
    int nonce;                     /* so many of the first steps run once, when weights have been loaded */
    int *buffer_of;                /* per value: its buffer in the plan, or -1 (concats, inputs) */
    int64_t packed;                /* bytes of weights that are packed in front of loops over bands */
    const RematProblem *remat;     /* the problem of recomputation, if there was a search; */
    int64_t remat_outside;         /*   bytes that are not in it; */
    const RematSchedule *found;    /*   its answer */
    int64_t recompute_flops_bound; /* no schedule within these bytes recomputes fewer FLOPs */
    int64_t extent;                /* bytes of the arena from its start */
    int64_t lower_bound;           /* bytes alive at its peak, a region of gradients as one block */
    int peak;                      /* position of the step with most bytes alive */
    int results;                   /* devices: the buffer of all numbers that a step returns, or -1 */
    int64_t units; /* prediction of images of any height: the units of this height.  Each tensor has a whole
                      number of rows in a unit.  0: prediction of this height alone */
    const char *refusal;  /* why this target cannot run it, or NULL */
    Reach reach[AXES];    /* prediction of one image, along height and width */
    bool exact;           /* windows give the same result as the whole image, */
    bool same_bits;       /*   to the bit; */
    const Node *sees_all; /* not exact: this operator needs the whole image; NULL: windows are too small */
    int window_slices, *window_sums; /* windows: buffers of the input's slices, and of each output's sums */
} Program;

/* ---- buffer_assign.c, live.c ---- */

/* Alive across steps and programs; in all steps of a program; from the load of weights to the last step
 * that runs once; from the first step that touches the buffer to the last. */
typedef enum { LIFETIME_PERSISTENT, LIFETIME_PROGRAM, LIFETIME_LOADED, LIFETIME_STEP } Lifetime;

/* The address spaces.  For a GPU, SPACE_HOST is pinned memory. */
typedef enum { SPACE_DEVICE, SPACE_HOST, SPACES } Space;

typedef struct {
    const char *name;
    Class class;
    Lifetime lifetime;
    Space space;
    Span span;
    Type type;
    Shape shape;
    int64_t batch; /* 0: not per sample */
    int64_t bytes, offset;
    int64_t ring;    /* the rows of each image that are there at a time; 0: all */
    bool fleeting;   /* a ring whose rows are read only in the iteration that makes them */
    int same;        /* shares the bytes of that buffer (in place), or -1 */
    int slice;       /* lies inside that buffer, or -1 */
    int program;     /* the ProgramKind it belongs to, -1: persistent */
    int first, last; /* positions of the first and the last step that touch it or its aliases */
} Buffer;

typedef struct Plan {
    Pool *pool; /* of all that the plan points at but schedules; NULL: a search gave the memory back */
    const Options *options;
    Choices choices;
    const Target *target;
    int64_t budget;            /* bytes of the arena: of the options or of the file; 0: none */
    Program program[PROGRAMS]; /* .model == NULL: not there */
    Model *model;              /* of the first program */
    Buffer *buffer;
    int nbuffer;
    int nparameter;
    int *parameter_buffer; /* per parameter of the model */
    int nstatistic;
    int *statistic_buffer;         /* per running statistic */
    int *state_buffer[MAX_STATES]; /* per parameter: the optimiser's state; -1: none */
    int shard_buffer[MAX_STATES];  /* this process's slice of the state; -1: it has all of it */
    const Operand
        *state[MAX_STATES];    /* the operand of the optimiser's node; NULL: there are fewer states */
    const int *average_buffer; /* per parameter: its average, which eval and predict read; NULL: none */
    int loss_scale_buffer;     /* -1: losses are not scaled */
    int64_t region_elements;   /* elements of the region of all trained parameters */
    int64_t persistent;        /* bytes at the front that live across steps and programs */
    int64_t fixed;  /* parameters, gradients, the optimiser's state: only a narrower network has less */
    int64_t copied; /* the most bytes of pictures that a program copies as their files have them
                       (ir/staging.h) */
    int64_t arena, lower_bound; /* of all programs; each gradient counts by itself */
    int64_t cost;  /* of a training step, in units of node_cost(); the search compares plans by it */
    int64_t flops; /* of a training step, without recomputation */
    int64_t recompute_flops;         /* that a training step computes a second time; */
    int64_t recompute_flops_bound;   /*   no schedule within this memory recomputes fewer */
    int64_t loader_ring, ring_slots; /* bytes and slots of the ring, which is all of the host's space */
    int64_t beside; /* bytes that the budget needs beside the arena: the ring, or a context of the GPU; */
    int64_t least_beside;       /*   the least of it, if the program goes by bands of rows */
    const char *refusal;        /* why no machine of this target can run it, whatever the budget; or NULL */
    const char *source_hash;    /* of the text and of the options that change the trained model */
    const struct Plan *smaller; /* with --plans: of the same model, in less memory; NULL: there is none */
    int place;                  /*   behind so many larger ones */
} Plan;

enum { LOSS_SCALE_ELEMENTS = 4 };    /* of UnetModel.loss_scale */
enum { GRADIENT_NORM_ELEMENTS = 2 }; /* of UnetProgram.gradient_norm */

/* ---- plan.c: questions to a plan ---- */

/* The values of --precision and --target. */
const char *precision_text(const Options *options);
const char *target_text(Pool *pool, const Options *options);
/* Returns whether the plan is within its budget and its target can run it. */
bool plan_fits(const Plan *plan);
/* Return the first program of the plan from KIND on, or NULL:
 *     for (Program *p = next_program(plan, 0); p != NULL; p = next_program(plan, (int)p->kind + 1)) */
Program *next_program(Plan *plan, int kind);
const Program *program_of(const Plan *plan, int kind);
/* Returns whether a tensor of layout A may take the place of a tensor of layout B. */
bool same_layout(const Layout *a, const Layout *b);
/* Returns whether loops over bands of rows are asked for or chosen. */
bool has_bands(const Program *program);
/* Returns the rows of a band of the largest tensor; 0: the plan has no bands. */
int64_t band_rows(const Program *program);
/* Returns whether the runtime copies inputs into the arena and outputs out of it, so that both can be
 * rings. */
bool passes_rows(const Program *program);
/* Returns whether the file asks for prediction by windows. */
bool has_windows(const Program *program);
/* Returns the samples that may be trained at once: one rank's share of one of the `accumulate` batches. */
int64_t samples_together(const TrainSection *train);
/* Returns the samples of a step that one of TrainSection.processes computes. */
int64_t samples_of_process(const TrainSection *train);
/* Returns the bytes of so many samples of all inputs that PROGRAM reads, as the loader stores them; 0 if
 * the runtime passes rows. */
int64_t staged_bytes(const Program *program, int64_t samples);
/* "samples" */
const char *loop_text(LoopAxis axis);
/* Returns the number of iterations of SIZE samples for COUNT samples. */
int64_t iterations(int64_t count, int64_t size);
/* Returns the iterations of the loop over samples; 1 without a loop. */
int64_t iterations_of(const Program *program);
/* Lists the nodes in the order of the tree, each once, and the innermost loop around each (NULL: none), in
 * arrays of POOL; returns their number. */
int schedule_nodes(Pool *pool, const Program *program, NodeId **node, const Step ***loop);
/* Returns the size of the tree.  The position of a step is its number in pre-order, loops included. */
int step_count(const Step *step, int nstep);
/* Returns how many of STEP[0..NSTEP) are in the section that begins with the first; 0: it begins none. */
int section_steps(const Step *step, int nstep);
/* Returns how many of STEP[0..NSTEP) are the first one and those chained to it. */
int chain_steps(const Step *step, int nstep);
/* Returns the step at POSITION. */
const Step *step_at(const Step *step, int nstep, int position);
/* The height of an image without an end, and an iteration over its bands that is far from the beginning. */
#define NO_END (INT64_MAX / 4)
#define MIDDLE (INT64_C(1) << 20)
/* Returns the rows of V in an image of so many UNITS (Program.units); 0: in an image of the size at which
 * PROGRAM was lowered. */
int64_t rows_at(const Program *program, ValueId v, int64_t units);
/* The same for rows_value() of STEP, the tensor that it computes or sums over. */
int64_t step_height(const Program *program, const Step *step, int64_t units);
/* Returns the rows that STEP computes in ITERATION of a loop over bands, if its rows_value() has HEIGHT
 * rows. */
RowRange step_rows(const Step *step, int64_t height, int64_t iteration);
/* Returns the iterations of LOOP, a loop over bands. */
int64_t bands_at(const Program *program, const Step *loop, int64_t units);
/* Returns the number of the bucket of PROGRAM whose value is GRADIENTS; -1: none. */
int bucket_number(const Program *program, ValueId gradients);
/* Returns the FLOPs of a node for one micro-batch. */
int64_t node_flops(const Program *program, const Node *node);
/* Returns the cost of a node for one micro-batch: a time by the target's model, or its FLOPs and a few
 * FLOPs for each byte that it moves. */
int64_t node_cost(const Program *program, const Node *node);
/* Returns the bytes that a node reads or writes anew in each band of rows: weights and sums of their
 * gradients. */
int64_t shared_bytes(const Program *program, const Node *node);
/* The work of a node in one run of the program, in all iterations of its loops: FLOPs, and the bytes of the
 * tensors that it reads and writes, halo and padding included. */
typedef struct {
    int64_t flops, bytes;
} NodeWork;
NodeWork node_work(const Program *program, const Node *node);
/* Returns whether a tensor that NODE reads or writes has samples. */
bool has_samples(const Graph *g, const Node *node);
/* Returns whether NODE reads an input as the loader, or a copy to a device, stored it. */
bool reads_staging(const Graph *g, const Node *node);
/* A PrepareRule for a NODE that merges samples: it needs two numbers for each of its results and each group
 * of samples. */
void prepare_merge(Program *program, Node *node);

#endif
