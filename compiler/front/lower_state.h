/* lower_state.h - the state that the files of compiler/front share.  Private to this folder. */
#ifndef LOWER_STATE_H
#define LOWER_STATE_H

#include "ast.h"
#include "base/table.h"
#include "base/text.h"
#include "front/lower.h"
#include "front/operators.h"

/* ---- values of expressions ---- */

typedef enum {
    DATUM_ERROR, /* reported already: what uses it fails silently */
    DATUM_NONE,  /* an argument that was not given and has no default */
    DATUM_INTEGER,
    DATUM_REAL,
    DATUM_TRUTH,
    DATUM_BYTES,
    DATUM_TEXT,
    DATUM_LIST,
    DATUM_TENSOR,
    DATUM_LOSS /* a sum of losses or metrics with factors */
} DatumKind;

typedef struct Datum Datum;

/* Lists are values.  Two that begin alike share their items; who appends first may use the room behind
 * them. */
typedef struct {
    Datum *item;
    int used;
} Items;

typedef struct {
    const char *text;
    ValueId value;
    double weight;
    Span span;
} LossTerm;

struct Datum {
    DatumKind kind;
    int count; /* of a list's items, of a loss's terms */
    union {
        int64_t integer; /* integer, truth, bytes */
        double real;
        const char *text;
        Items *items;
        ValueId tensor;
        const LossTerm *term;
    };
};

/* ---- names ---- */

typedef enum { BINDING_LET, BINDING_SET, BINDING_ARGUMENT, BINDING_LOOP } BindingKind;

typedef struct {
    const char *name;
    BindingKind kind;
    Datum value;
    Span span;
    bool used;
    bool in_loop;       /* set inside a loop: another iteration, or another loop, may set it anew, */
    bool running;       /*   but not while it counts the iterations */
    int pushed, popped; /* of a list: elements that went in by `+=` and out by pop() */
    Span push_span;
} Binding;

/* A part of the state dict: a layer, or a block or chain that holds some. */
typedef struct Module {
    struct Module *parent;
    const char *name;
    bool automatic;       /* becomes name.0, name.1 when the parent holds several of that name */
    bool in_loop;         /* or even when it holds one */
    struct Module *first; /* of that name in the parent, */
    int index, alike;     /* this one's number among them, and (in the first) how many there are */
    struct Module **child;
    int nchild;
    Table last; /* for each automatic name its last child */
    bool again; /* a shared layer is used again: its children come in the same order */
    int next;
    struct {
        const char *suffix;
        ValueId value;
    } weight[4];
    int nweight;
    Span span; /* of `name = "..."`, or of the call */
} Module;

/* `layer name = link` */
typedef struct {
    const char *name;
    const Expr *link; /* NULL: its line has an error */
    Module *module;
    Span span, first_use;
    int64_t channels; /* of its first input, 0 before */
} Layer;

/* One run of the file or of a block. */
typedef struct Frame {
    const struct Frame *caller;
    const Stmt *block; /* NULL: the file */
    const StmtList *body;
    Binding *binding;
    int nbinding;
    Table binding_of; /* from names to elements of `binding`, and of `layer` */
    Layer *layer;
    int nlayer;
    Table layer_of;
    Module *module;
    bool in_loop;
    bool returned;
    Datum result;
} Frame;

/* The name a statement sets: the first call with weights takes it. */
typedef struct {
    const char *name;
    bool taken, begun; /* begun: a call of the statement, with weights or not, has begun */
} Slot;

/* ---- calls ---- */

/* Operators, blocks, settings and sources are all called in the same way. */
typedef struct {
    const char *name;
    const char *text; /* "conv(x, channels, ...)"; NULL for a block */
    ParamList params;
    bool variadic; /* any number of arguments without names; those with a default are given by name alone */
    bool setting;  /* called without parentheses */
} Signature;

typedef struct {
    Datum value;
    Span span;
    const Expr *expr;
    bool given; /* else a default */
} Argument;

typedef struct {
    const Module *module;
    const char *suffix; /* what follows its path; may be empty */
    ValueId value;
} PlanName;

struct Call {
    struct Lower *l;
    const Signature *signature;
    Op op;
    Argument *argument; /* one per parameter, or all that were given without a name if variadic */
    Argument *keyword;  /* if variadic: one per parameter, of those with a default */
    int nargument;
    const Expr *expr; /* as written */
    Span span;
    Module *module;     /* NULL: without weights */
    const Layer *layer; /* NULL: not one of these */
    const char *name;   /* of the node and its output, as far as is known yet; */
    PlanName plan_name; /* from this it is made in the end */
};

typedef struct Lower {
    Pool *pool;
    Diag *diag;
    const Ast *ast;
    const LowerOptions *options;
    Model *model;
    Graph *graph;
    Frame *file, *frame;
    Slot *slot;
    const Stmt *section; /* NULL: outside */
    const Via *via;
    Signature **signature; /* those met so far, parsed */
    int nsignature;
    Table unknown;  /* names of the file that were reported as such */
    Table block;    /* from the name of each block to the index of its statement in the file */
    bool *weighted; /* per statement of the file: a block that contains a call with weights */
    PlanName *plan_name;
    int nplan_name;
    Datum *define;          /* per -D its value */
    int nesting;            /* of statements in bodies */
    int64_t declared[AXES]; /* sizes of the first input, as the file says */
    int only_axis;          /* -1; else the one axis whose sizes are checked (see lower_size.c) */
    bool tries_size;        /* a size is tried for one that failed: no other one is tried for it */
    bool unequal;           /* a loss compares tensors of different shapes */
    bool in_loss;           /* the arguments of the setting `loss` are being read */
    Span computed;          /* of the first `weights = "computed"`; on line 0 where there is none */
    int ncomputed;          /* calls that say so */
    int depth;              /* of the recursion */
    int64_t work;           /* statements run and elements copied */
    bool stop;              /* too much work, or too many errors */
    struct Seen *seen;      /* settings: which were set where */
} Lower;

/* ---- lower.c: statements ---- */

void run_statements(Lower *l, const StmtList *body);
/* True if NAME may be set in this way; else reports it. */
bool may_bind(Lower *l, const char *name, BindingKind kind, Span span);
/* True if the file lowers with these options when only sizes along AXIS are checked. */
bool lower_axis(Pool *pool, const Ast *file, const LowerOptions *options, int axis);
/* Counts WORK; false (after an error) when the file makes too much of it. */
bool charge(Lower *l, int64_t work, Span span);

/* ---- lower_input.c: declarations ---- */

void run_input(Lower *l, const Stmt *stmt); /* or target */
void run_output(Lower *l, const Stmt *stmt);
void run_layer(Lower *l, const Stmt *stmt);
/* label_losses.c: what each class has at each point, of MAP, the classes of argmax(), as a value of this
 * NAME if it is not there yet; -1: MAP is no such map. */
ValueId probabilities_of(Lower *l, ValueId map, const char *name);
/* True if the call LINK of a layer has weights; else reports it. */
bool shares_weights(Lower *l, const Expr *link);

/* ---- lower_name.c: bindings, and names of weights ---- */

Binding *find_binding(Frame *frame, const char *name);
Binding *bind_name(Lower *l, const char *name, BindingKind kind, Datum value, Span span);
/* The value of NAME, seen from the current block. */
Datum look_up(Lower *l, const char *name, Span span);
Layer *find_layer(const Frame *frame, const char *name);
const Stmt *find_block(const Lower *l, const char *name);
/* True if NAME is an operator with weights, or a block that contains one. */
bool has_weights(const Lower *l, const char *name);
Module *module_enter(Lower *l, Module *parent, const char *name, bool automatic, Span span);
/* The path of a module, as far as it is known. */
const char *module_path(Pool *pool, const Module *module);
/* The text of `name = "down{i}"`, or NULL after an error. */
const char *module_name(Lower *l, const Expr *expr);
/* Makes a weight of the call, or finds the one that an earlier use of the layer made.  -1: of another
 * shape. */
ValueId weight_new(const Call *call, const char *suffix, Shape shape, Init init, double bound);
/* The same for a running statistic. */
ValueId statistic_new(const Call *call, const char *suffix, Shape shape, Init init);
/* A weight that training leaves as it is: a buffer of PyTorch's. */
ValueId fixed_weight_new(const Call *call, const char *suffix, Shape shape, Init init, double bound);
void find_blocks(Lower *l);
/* Fills in the names of weights, values and nodes once all modules are known. */
void finish_names(Lower *l);

/* ---- lower_value.c: expressions ---- */

Datum eval(Lower *l, const Expr *expr);
Datum datum_integer(int64_t value);
Datum datum_tensor(ValueId value);
Datum datum_list(Lower *l, const Datum *item, int count);
bool datum_number(Datum d, double *number);
bool datum_true(Lower *l, Datum d, const Expr *expr);
/* "a number", "an image of 3 x 256 x 256" */
const char *datum_text(Lower *l, Datum d);
Datum append(Lower *l, Datum a, Datum b, Span span);
Datum apply_binary(Lower *l, const Expr *expr, Datum a, Datum b);

/* ---- lower_argument.c: signatures and arguments ---- */

const Signature *signature_of(Lower *l, const char *text, bool setting);
/* Binds ARGS to the names of the signature.  FLOW is the first argument when the call is a link of a chain.
 */
bool bind_arguments(Call *call, const Argument *flow, const ArgList *args);
/* The argument `name = "..."` of a call with weights, or NULL. */
const Arg *module_name_argument(const Call *call);
const Argument *argument(const Call *call, const char *name);
/* As it is written; what comes through a chain is an x. */
const char *argument_text(const Call *call, const Argument *argument);

/* Reads an argument; false after an error. */
bool argument_integer(const Call *call, const char *name, int64_t minimum, int64_t *value);
bool argument_number(const Call *call, const char *name, double *value);
bool argument_truth(const Call *call, const char *name, bool *value);
bool argument_tensor(const Call *call, const char *name, ValueId *value);
/* One of CHOICES (ended by NULL), which are said in the help. */
bool argument_choice(const Call *call, const char *name, const char *const *choices, int *index);

/* ---- lower_call.c: calls ---- */

Datum eval_call(Lower *l, const Expr *call);
/* RETURNED: the chain stands behind `return`, so the block itself is the Sequential. */
Datum eval_chain(Lower *l, const Expr *chain, bool returned);

/* ---- lower_function.c: range, len, pop and friends ---- */

typedef Datum Function(Lower *l, const Expr *call, const Datum *argument, int count);
Function *function_by_name(const char *name);

/* ---- lower_size.c: explains wrong sizes ---- */

/* Adds to the open diagnostic, for each axis that is wrong, how the extent of A or B came to be (of the
 * one that changed more often) and which sizes of the input would do. */
void explain_sizes(Lower *l, ValueId a, ValueId b, const bool wrong[AXES]);
const char *extents_text(Lower *l, Shape shape); /* "256 x 256" */
const char *sizes_text(Lower *l, ValueId v);     /* the same of a value */
const char *axis_text(Shape map, int axis);      /* "height"; of a signal "length" */
const char *map_text(Shape map);                 /* "an image" */

/* ---- lower_suggest.c: suggestions ---- */

void report_unknown_call(Lower *l, const Expr *call);
void report_unknown_name(Lower *l, const char *name, Span span);
/* Adds notes on the calls and loop iterations that led here. */
void note_via(Lower *l);

/* ---- operators_arithmetic.c ---- */

/* a + b, a - b, a * b */
Datum tensor_arithmetic(Lower *l, const Expr *expr, ValueId a, ValueId b);
/* A tensor and a number, in the order that TENSOR_FIRST tells; false if the operator does not take them. */
bool tensor_and_number(Lower *l, const Expr *expr, ValueId x, double number, bool tensor_first,
                       Datum *result);
Datum negative_tensor(Lower *l, const Expr *expr, ValueId x);

/* ---- operators_channel.c ---- */

Datum function_chunk(Lower *l, const Expr *call, const Datum *argument, int count);

/* ---- lower_define.c: -D NAME=VALUE ---- */

void read_defines(Lower *l);
void check_defines(Lower *l);

/* ---- settings.c: sections ---- */

void begin_sections(Lower *l);
void end_sections(Lower *l); /* adds what the command line says */
void run_section(Lower *l, const Stmt *stmt);
void run_setting(Lower *l, const Stmt *stmt);
/* True if NAME is a setting of the current section. */
bool is_setting(const Lower *l, const char *name);
/* Freezes layers, and warns of layers that no loss depends on (lower_trained.c). */
void check_trained(Lower *l);

/* Reports what only the whole file shows: no loss, an input without a source. */
void check_sections(Lower *l);

/* TEXT is a call of METRIC in the setting `loss`: says which loss its user may mean. */
void report_metric(Lower *l, Span span, const char *text, const char *metric);
/* For the functions of settings: reports WHAT of an argument, or of the whole setting (NULL); false. */
bool report_setting(const Call *call, const char *argument_name, const char *what);
bool read_nonnegative(const Call *call, const char *name, double *value);

/* ---- words: for words.c, a line of each word of a table; see words.h ---- */

void list_types(Text *out);
void list_functions(Text *out);
void list_settings(Text *out);
void list_sources(Text *out);
void list_updates(Text *out); /* optimizers and schedules */

/* ---- settings_transform.c: from files to windows ---- */

DataSection *data_of_section(Lower *l); /* of the section that is being read */
void set_crop(Call *call);
void set_flip(Call *call);
/* "d", "h", "w" or a list of them: bit 0 depth, 1 height, 2 width. */
bool read_axes(const Call *call, const char *name, unsigned *axes);
void set_scale(Call *call);
void set_rot90(Call *call);
void set_rotate(Call *call);
void set_elastic(Call *call);
void set_distort(Call *call);
void set_gamma(Call *call);
void set_blur(Call *call);
void set_low_resolution(Call *call);
void set_noise(Call *call);
/* Reports transforms that leave no window of the input's size. */
void check_transforms(Lower *l, const DataSection *data);

/* ---- settings_windows.c: prediction by windows ---- */

void set_windows(Call *call);
/* Reports windows of an input that is no volume. */
void check_windows(Lower *l);
void set_regions(Call *call);
void check_regions(Lower *l);

/* ---- settings_spacing.c ---- */

void set_spacing(Call *call);
void check_spacing(Lower *l);
void set_trim(Call *call);
void check_trim(Lower *l);

/* ---- settings_resize.c ---- */

void set_resize(Call *call);
/* Tells the files of DATA that they are resized as LIKE says; TIMES: of each source, how many times as
 * large its files are as the files of the first input. */
void resize_sources(Lower *l, DataSection *data, const DataSection *like, const int64_t *times);
/* Reports sizes that no window of training has. */
void check_resized(Lower *l);
void set_at(Call *call);
void check_at(Lower *l);

/* ---- settings_normalize.c ---- */

void set_normalize(Call *call);
/* Tells the inputs that are read from files how they are normalised. */
void normalize_inputs(Lower *l);

/* ---- settings_train.c: how weights are updated ---- */

void set_optimizer(Call *call);
void set_schedule(Call *call);
void set_warmup(Call *call);
void set_patience(Call *call);
void set_clip(Call *call);
void set_ema(Call *call);
void set_state(Call *call);
void set_compress(Call *call);
void set_freeze(Call *call);
void set_accumulate(Call *call);
void set_ranks(Call *call);
/* Brings train.batch to the samples of a step. */
void check_accumulation(Lower *l);
void check_ranks(Lower *l);
void check_state(Lower *l);
/* --compress and --state take the place of `compress` and `state`. */
void choose_codes(Lower *l);
/* Do the exceptions of `compress` name layers? */
void check_compress(Lower *l);
/* synchronise.c: with ranks, batch norms that ask for it have statistics of all samples of a step. */
void synchronise_norms(Lower *l);
/* Reports settings of `train` that do not go together. */
void check_updates(Lower *l);

/* ---- parts of what reference.h prints: a line for each source, optimizer, schedule ---- */

void print_sources(FILE *out);
void print_optimizers(FILE *out);
void print_schedules(FILE *out);

/* ---- image_formats.c ---- */

/* Whether programs of this build read files that are called so; reports where they do not. */
bool check_image_format(Lower *l, const char *pattern, Span span);
bool check_volume_format(Lower *l, Span span);

/* The call that reads files into INPUT: "images", "volumes", "signals" or "labels". */
const char *reading_call(const Input *input);

/* ---- settings_data.c: sources ---- */

/* `name = source` in `data` or `eval`; false in another section, where it sets a tensor. */
bool run_source(Lower *l, const Stmt *stmt);
/* By name; NULL: there is none. */
const Source *find_source(const DataSection *data, const char *name);
const Input *find_input(const Lower *l, const char *name, int *index);

/* ---- settings_diffusion.c ---- */

/* Reads the call of `diffuse` that fills input number TARGET, -1: none; false after an error. */
bool read_diffusion(const Call *call, int target);
/* Is INPUT drawn by a diffusion, so that no source fills it? */
bool is_drawn(const Model *model, int input);
/* Finds the output that samples are made with, and reports what does not go with the diffusion. */
void check_diffusion(Lower *l);

/* ---- settings_data_checks.c: the sources together ---- */
void check_sources(Lower *l);
/* Which sources read files, themselves or through the sources they name, all of them earlier. */
/* Whether files of DATA are volumes. */
bool source_reads_volumes(const DataSection *data);
const bool *reading_files(const Lower *l, const DataSection *data);

#endif
