/* plan.h - the plan: what the passes after lowering work out.
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
    int64_t ring;  /* row h lies where row h mod ring does; 0: each has a place of its own */
    int64_t bytes; /* of the whole batch, padding and halo included: a multiple of the alignment */
} Layout;

/* ---- schedule.c ---- */

typedef enum { AXIS_SAMPLES, AXIS_BANDS } LoopAxis;

enum { MAX_STATES = 4 }; /* numbers that an optimiser keeps for each parameter */

/* The schedule is a tree: a step runs a node; a loop runs its body `times` times, and may hold loops
 * itself.  Where all samples are merged on the way (TRAIT_MERGES), there are several loops over samples.
 *
 * Iteration i of a loop over samples works on the samples [i * samples, (i + 1) * samples) of the batch, as
 * far as they are valid.  In iteration i of a loop over bands a step computes the rows [i * rows - lag, (i
 * + 1) * rows - lag) of its first output, or sums over those of an input, as far as there are such: it
 * stays so many rows behind those that it reads as its window demands, and an empty range does nothing. One
 * that packs weights has no rows: each iteration packs them, for steps behind it.  A loop over bands holds
 * no other.
 *
 * Steps side by side may form a section: those of different branches run in any order, or at once, those of
 * a branch one behind the other.  What a step behind the section reads is there when all of them are
 * through.  One launch does all of them, or each branch has a stream of its own: the first is that of the
 * other steps, and those of the second stand in front. */
typedef struct Step {
    NodeId node; /* -1: a loop */
    bool recompute;
    int section, branch; /* see above; section 0: in none */
    bool streams;        /* each branch of its section has a stream */
    int64_t rows, lag;   /* in a loop over bands: what an iteration computes; rows 0: not in one */
    LoopAxis axis;       /* of a loop */
    int64_t samples;     /* of a loop over samples: how many an iteration works on */
    int64_t times;
    struct Step *body;
    int nbody;
} Step;

/* ---- buckets.c ---- */

enum { MOST_BUCKETS = 4 };

/* A slice of the region of the gradients that processes begin to sum in the backward pass. */
typedef struct {
    ValueId gradients;      /* those segments of the region */
    int64_t first, numbers; /* of the region, padding included */
    int64_t place;          /* where its sums of groups begin, among those of all gradients, in numbers */
} Bucket;

/* ---- reach.c ---- */

/* Of windows along an axis, in points of the input: images are padded to whole units; windows begin at
 * multiples of `grid`; so many points at the beginning and at the end of a window see what lies beside it.
 * grid 0: no windows go through the program. */
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
    int64_t group; /* sums of so many samples are added as a tree (passes/groups.c); 0: of all, in order */
    const bool *held; /* per value: several loops over samples touch it, so that all samples of the process
                         are there; NULL: there is one loop at most, and those of an iteration are */
    /* Training by groups, in their order; none: gradients are summed all at once, in the end. */
    Bucket *bucket;
    int nbucket;
    int nparameter;
    ValueId *parameter; /* per parameter of the model: its value in this graph */
    ValueId *gradient;  /* train: per parameter the gradient, or -1 */
    int nstatistic;
    ValueId *statistic;    /* running statistics, in the order of the file */
    ValueId gradient_norm; /* train: as gradients are clipped by it, or -1 */
    ValueId whole_state;   /* train: where slices of the optimiser's state are put together, or -1 */
    ValueId control;       /* targets that stage inputs: what a step is told */
    bool prefetches;       /* the next inputs come as soon as these were read for the last time */
    Layout *layout;        /* per value */
    int nlayout;
    Step *step;
    int nstep;
    int nonce;                     /* so many of the first steps run once, when weights were loaded */
    int *buffer_of;                /* per value: its buffer in the plan, or -1 (concats, inputs) */
    int64_t packed;                /* bytes of weights that are packed in front of loops over bands */
    const RematProblem *remat;     /* what may be computed again, if that was asked, */
    int64_t remat_outside;         /* beside so many bytes, */
    const RematSchedule *found;    /* and the answer */
    int64_t recompute_flops_bound; /* lower bound on the FLOPs that any schedule within these bytes computes
                                      again */
    int64_t extent;                /* bytes of the arena from its start */
    int64_t lower_bound;
    int peak;      /* position of the step with most bytes alive */
    int results;   /* devices: the buffer of the numbers that are returned, side by side, or -1 */
    int64_t units; /* prediction row by row, of images of any height: each tensor has a whole number of
                      rows in one of so many units; 0: of images of this height alone */
    const char *refusal;  /* why this target cannot run it, or NULL */
    Reach reach[AXES];    /* prediction of one image, along height and width */
    bool exact;           /* windows make what the whole image would, */
    bool same_bits;       /*   to the bit; */
    const Node *sees_all; /*   else this operator needs all of an image, or, NULL, windows are too small */
    int window_slices, *window_sums; /* windows: buffers of the input's slices, and of each output's sums */
} Program;

/* ---- buffer_assign.c, live.c ---- */

/* Across steps and programs; in all steps of a program; from when weights are loaded until the last of the
 * steps that run once; from the first step that touches it to the last. */
typedef enum { LIFETIME_PERSISTENT, LIFETIME_PROGRAM, LIFETIME_LOADED, LIFETIME_STEP } Lifetime;

/* The address spaces.  On a GPU the host's is pinned memory. */
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
    int64_t ring;    /* so many rows of each image, and no more, are there at a time; 0: all */
    bool fleeting;   /* a ring of which no row is needed in a later iteration than the one that makes it */
    int same;        /* shares the bytes of that buffer (in place), or -1 */
    int slice;       /* lies inside that buffer, or -1 */
    int program;     /* the ProgramKind it belongs to, -1: persistent */
    int first, last; /* positions of the first and the last step that touch it or its aliases */
} Buffer;

typedef struct {
    Pool *
        pool; /* of all that the plan points at, but for schedules; NULL: of a search, which gave it back */
    const Options *options;
    Choices choices;
    const Target *target;
    int64_t budget;            /* bytes of the arena: of the options or of the file; 0: none */
    Program program[PROGRAMS]; /* .model == NULL: not there */
    Model *model;              /* of the first program there is */
    Buffer *buffer;
    int nbuffer;
    int nparameter;
    int *parameter_buffer; /* per parameter of the model */
    int nstatistic;
    int *statistic_buffer;         /* per running statistic */
    int *state_buffer[MAX_STATES]; /* per parameter: the optimiser's state, -1: none, */
    int shard_buffer[MAX_STATES]; /* of a state of which this process has a slice: the slice; -1: it has all
                                   */
    const Operand *state[MAX_STATES]; /* and which operand of its node that is, NULL: there are fewer */
    const int *average_buffer; /* per parameter: the averaged one that eval and predict read, or NULL */
    int loss_scale_buffer;     /* -1: losses are not scaled */
    int64_t region_elements;   /* of the trained parameters: one sweep */
    int64_t persistent;        /* bytes at the front that live across steps and programs */
    int64_t fixed; /* parameters, gradients, the optimiser's state: only a narrower network has less */
    int64_t
        copied; /* the most that a program copies of pictures in the type of their files (ir/staging.h) */
    int64_t arena, lower_bound;
    int64_t cost;  /* of a training step, in units of node_cost(), by which plans that fit are compared */
    int64_t flops; /* of a training step, recomputation left out */
    int64_t recompute_flops;         /* and this much again, */
    int64_t recompute_flops_bound;   /* lower bound on it at this memory */
    int64_t loader_ring, ring_slots; /* bytes of the host's space, which the ring alone takes; its slots */
    int64_t beside; /* bytes of the same memory that the arena leaves to others: the ring, or a context; */
    int64_t least_beside;    /*   and if it goes by bands of rows */
    const char *refusal;     /* why no machine of this target can run it, whatever the budget; or NULL */
    const char *source_hash; /* of the text and of the options that say what is trained */
} Plan;

enum { LOSS_SCALE_ELEMENTS = 4 };    /* of UnetModel.loss_scale */
enum { GRADIENT_NORM_ELEMENTS = 2 }; /* of UnetProgram.gradient_norm */

/* ---- plan.c: questions to a plan ---- */

/* The values of --precision and --target. */
const char *precision_text(const Options *options);
const char *target_text(Pool *pool, const Options *options);
/* Within its budget, and not refused by its target? */
bool plan_fits(const Plan *plan);
/* The first program of the plan from KIND on, or NULL:
 *     for (Program *p = next_program(plan, 0); p != NULL; p = next_program(plan, (int)p->kind + 1)) */
Program *next_program(Plan *plan, int kind);
const Program *program_of(const Plan *plan, int kind);
/* May one tensor take the place of the other? */
bool same_layout(const Layout *a, const Layout *b);
/* Are loops over bands of rows asked for or chosen? */
bool has_bands(const Program *program);
/* Of the largest tensor in a band, if that was chosen; else 0. */
int64_t band_rows(const Program *program);
/* Does the runtime bring inputs into the arena, and take outputs out of it, so that both can be rings? */
bool passes_rows(const Program *program);
/* Prediction by windows that the file asks for? */
bool has_windows(const Program *program);
/* The samples of a step that may be trained at once: those of a batch (`accumulate`), and of a rank. */
int64_t samples_together(const TrainSection *train);
/* The samples of a step that one of TrainSection.processes has: those of its groups. */
int64_t samples_of_process(const TrainSection *train);
/* Bytes of so many samples of all inputs that PROGRAM reads, as the loader leaves them; none where the
 * runtime passes rows. */
int64_t staged_bytes(const Program *program, int64_t samples);
/* "samples" */
const char *loop_text(LoopAxis axis);
/* How many iterations of SIZE samples work through COUNT. */
int64_t iterations(int64_t count, int64_t size);
/* How often the loop over samples goes round; 1 without one. */
int64_t iterations_of(const Program *program);
/* The nodes in the order of the tree, each once, and the innermost loop each is in (NULL: none), in arrays
 * of POOL; returns how many. */
int schedule_nodes(Pool *pool, const Program *program, NodeId **node, const Step ***loop);
/* The size of the tree: steps are numbered by their position in pre-order, loops included. */
int step_count(const Step *step, int nstep);
/* How many of the steps STEP[0..NSTEP) are those of the section that begins with the first; 0: none does.
 */
int section_steps(const Step *step, int nstep);
/* The step at a position in pre-order. */
const Step *step_at(const Step *step, int nstep, int position);
/* Of an image without an end, an iteration of a loop over bands that is far from the beginning. */
#define NO_END (INT64_MAX / 4)
#define MIDDLE (INT64_C(1) << 20)
/* How many rows V has in an image of so many UNITS (Program.units); 0: in one of the size that PROGRAM was
 * lowered at. */
int64_t rows_at(const Program *program, ValueId v, int64_t units);
/* The same of what STEP computes, or sums over: of its rows_value(). */
int64_t step_height(const Program *program, const Step *step, int64_t units);
/* The rows of HEIGHT, of its rows_value(), that STEP computes in ITERATION of a loop over bands. */
RowRange step_rows(const Step *step, int64_t height, int64_t iteration);
/* How often LOOP, one over bands, goes round. */
int64_t bands_at(const Program *program, const Step *loop, int64_t units);
/* Which bucket of PROGRAM is the value GRADIENTS, -1: none. */
int bucket_number(const Program *program, ValueId gradients);
/* FLOPs of a node for one micro-batch. */
int64_t node_flops(const Program *program, const Node *node);
/* What it costs for one micro-batch: time as the target tells it, or floating point operations, of which a
 * byte moved costs as much as a few. */
int64_t node_cost(const Program *program, const Node *node);
/* Bytes that it reads or writes in each band of rows: of weights, and of their gradients' sums. */
int64_t shared_bytes(const Program *program, const Node *node);
/* What a node does in one run of the program, in all iterations of its loops: FLOPs, and bytes of the
 * tensors that it reads and writes, halo and padding included. */
typedef struct {
    int64_t flops, bytes;
} NodeWork;
NodeWork node_work(const Program *program, const Node *node);
/* Does a tensor that NODE reads or writes have samples? */
bool has_samples(const Graph *g, const Node *node);
/* Does NODE read an input where the loader, or a copy to a device, left it? */
bool reads_staging(const Graph *g, const Node *node);
/* A PrepareRule: NODE, which merges samples, needs two numbers for each one of each group of samples. */
void prepare_merge(Program *program, Node *node);

#endif
