/* target.h - a machine to emit for, as passes and reports see it.  They never ask which one it is.
 *
 * A new target is a folder with such a struct, and a line in targets.def.
 */
#ifndef TARGET_H
#define TARGET_H

#include "ir/plan.h"

struct Sources; /* emit/sources.h */

/* Gives a node what this target's kernel needs beside its operands: nodes in front of it, scratch behind
 * its outputs, what was chosen for it (Node.chosen). */
typedef void PrepareRule(Program *program, Node *node);

/* Appends what comes behind NODE, which was prepared. */
typedef void FinishRule(Program *program, NodeId node);

/* Can a kernel do SECOND, too, right behind FIRST?  If so, makes JOINED, a copy of FIRST, the node that
 * does both, to the same bits. */
typedef bool JoinRule(Graph *g, const Node *first, const Node *second, Node *joined);

/* Does a kernel work point by point of its output, so that one launch does it with others?  It may be the
 * first of them alone. */
typedef enum { CHAINS_NOT, CHAINS_FIRST, CHAINS } Chaining;

/* A target's own columns of the operator table; operators without a row in it need nothing. */
typedef struct {
    PrepareRule *prepare;
    FinishRule *finish;
    JoinRule *join; /* of the second of two; NULL: it is never joined */
    bool (*fits)(const Program *program, const Node *node); /* there is a kernel for what fuse.c would make
                                                             * of several nodes; NULL: there is none */
    const char *template; /* of another operator, where one kernel computes both; NULL: its own */
    Op together; /* one launch does it with others whose rows say the same (passes/sections.c); 0: alone, */
    bool of_same; /* but only with nodes that read the same */
    bool beside;  /* it may run beside the steps behind it, in a stream of its own (passes/branches.c) */
    Chaining chaining; /* passes/chains.c */
} KernelRow;

/* Processors of a kind that have some instructions in common. */
typedef struct {
    const char *name;  /* "v4", which ends the names of functions compiled for them */
    const char *flags; /* of the C compiler */
} Level;

/* The meaning of a word behind the target's name: a kind of processor, or a certain one of a kind. */
typedef struct {
    const char *word;         /* "sm_90", "h200" */
    const char *architecture; /* that is compiled for */
} Architecture;

struct Target {
    const char *name;
    const Architecture *architecture; /* the words that --target=NAME:WORD takes, the usual one first, then
                                       * one without a word; or NULL: there is but one */
    int64_t align;                    /* bytes, of buffers, */
    int64_t slice_align;              /* and of what lies in regions */
    int64_t context;   /* bytes of a device that its driver and libraries take, as far as is known */
    bool stages;       /* inputs of an iteration lie in the arena, all worked on, valid or not */
    bool stages_bytes; /* --staging=u8 makes the arena smaller */
    bool
        stages_as_files; /* without --staging pictures have the type of their files where nothing is lost */
    /* How long a node takes for one micro-batch, in picoseconds; NULL: it is not known, */
    int64_t (*picoseconds)(const Program *program, const Node *node);
    int64_t byte_cost;   /*   but floating point operations; and what moving a byte costs, in that unit */
    int64_t step_cost;   /* what each run of a step takes beside its work: a launch, a wait for all
                          * threads; in picoseconds, or else in such operations */
    bool loops_are_free; /* a few samples at a time cost no time, so they are chosen without need */
    bool packs_once;     /* steps that depend on weights alone may run once, when these were loaded */
    bool rings;          /* kernels take tensors that a loop over bands holds a few rows of */
    bool overlaps_ranks; /* gradients may be sent to other processes while the backward pass goes on */
    bool
        same_anywhere; /* a point is computed in the same way wherever it lies in an image, but for tiles */
    bool passes_rows;  /* the runtime brings inputs and takes outputs of prediction row by row */
    const KernelRow *kernel; /* [OPS] */

    /* Why OPTIONS are not for this target, or NULL.  BUILDS: a program is to be built, not only sources. */
    const char *(*refuses)(const Options *options, bool builds);
    /* A model of the device for machines without one; NULL members: nothing needs to be known. */
    DeviceModel *(*open)(Pool *pool, const Options *options);
    void (*close)(DeviceModel *device);
    /* The device in words of its vendor (JSON), or NULL. */
    const char *(*device_json)(DeviceModel *device);
    /* With --engines: how many of *ALL convolutions of PLAN are computed by engines of that file.  NULL:
     * this target has none. */
    int (*measured)(const Plan *plan, int *all);
    /* On which device, and with what, that file was measured, in words. */
    const char *(*measured_on)(Pool *pool, DeviceModel *device);
    /* By what a library computes NODE, for the report (JSON: "engines": [...]); NULL: by none.  May be
     * NULL.
     */
    const char *(*engines_json)(Pool *pool, const Node *node);
    /* Says where bytes of workspace are a cap, not what was asked for: for whom, and the cap; or NULL. */
    const char *(*workspace_note)(Pool *pool, DeviceModel *device, int64_t *cap);
    /* With more workspace some kernels are faster: worth another attempt with little where it does not fit.
     */
    bool (*has_roomy_kernels)(const Options *options);

    /* Nodes in front of all others; may be NULL. */
    void (*begin)(Program *program, const Node *node, int nnode);
    /* Completes a Layout whose halo is known. */
    void (*lay_out)(const Value *value, int64_t batch, Layout *layout);
    /* Why no machine of this target can run BUFFER, or NULL; may be NULL. */
    const char *(*too_large)(Pool *pool, const Buffer *buffer);

    /* The generated files; the flags for compiling those in C. */
    void (*emit)(const Plan *plan, struct Sources *sources);
    const char *(*c_flags)(const Options *options);
    /* More flags, if a program is compiled for the processor that it is compiled on, "" without one; NULL:
     * the processor does not matter. */
    const char *(*flags_of_machine)(const Options *options);
    /* For what levels, best first, then NULL, all but the file with main() is compiled besides: a program
     * chooses when it starts.  NULL: for none. */
    const Level *(*levels)(const Options *options);
    /* The processor in the words of the program: what it was compiled for. */
    const char *(*isa)(const Options *options);
    const struct BuildStep
        *build; /* emit/build_program.h: what building takes beside the C compiler, or NULL */
    /* Members of UnetModel (unet/model.h) that only this target's files define; NULL: none, its programs
     * are functions that the runtime calls. */
    const char *model_members;
};

/* The template that computes NODE, or would. */
const char *kernel_name(const Target *target, const Node *node);

/* targets.c: all targets, the one without --target first, then NULL. */
extern const Target *const targets[];

#endif
