/* emit.h - what the emitters of all targets share: the sizes of kernels, their instances, and the calls of
 * a step.
 *
 * kernel_constants.c, instance.c, instance_text.c and emit.c define these; cpu/emit.c and cuda/emit.c write
 * the files around them.
 */
#ifndef EMIT_H
#define EMIT_H

#include "base/table.h"
#include "ir/rule_constants.h"
#include "emit/sources.h"

/* How a template becomes functions. */
typedef enum {
    FORM_INCLUDED, /* its body stands in a file that includes itself, once for each set of constants */
    FORM_COPIED,   /* its body is copied, with the sizes filled in, once for each set of them */
    FORM_CALLED,   /* one function, to which the sizes are handed over */
} Form;

/* In what a target's generated code differs from another's. */
typedef struct {
    const char *folder, *suffix; /* of templates: "cpu", ".c" */
    const char *also;            /* the folder of templates that FOLDER does not have, or NULL */
    const char *mark;            /* before the name of the function of a template: "LAUNCHER void" */
    Form form;
    const char *held; /* in calls: the first sample of an iteration, among the samples of the process */
} Dialect;

/* A size that a template reads: a whole number, or a constant of a type. */
typedef struct {
    const char *name; /* as the template knows it */
    const char *type; /* NULL: a whole number, */
    int64_t number;   /* this one */
    int count;        /* of an array, -1: it is none */
    const char *value;
    int64_t block; /* of one layout: its channels in a block, else 0; a constant of every function */
    bool ring;     /* of a layout: it may have a ring; else functions know that it has none */
    bool per_unit; /* a height: so much for each unit of an image (Program.units) */
    bool handed;   /* to the function when it is called; else a constant of the function */
} Size;

/* A template with sizes: what a step calls. */
typedef struct {
    const char *template; /* "conv" */
    const Size *size;
    int nsize;
    const char *function; /* "tiny_unet_conv_3" */
    const char *sizes;    /* the name of the sizes it is handed, "tiny_unet_conv_sizes_3", or NULL */
    bool is_first;        /* of its template */
    bool has_function;    /* no instance in front has the same function */
    const char *users;    /* which nodes use it, for a comment */
    const char *shapes;   /* what the first of them reads and writes */
    int uses;
} Instance;

typedef struct {
    const Plan *plan;
    const Dialect *dialect;
    Pool *pool;  /* of texts; while a step is emitted, one that goes with the step */
    Pool *keeps; /* of all that stays until the program is written */
    Text *out;
    Instance *instance;
    int ninstance;
    Table instance_of; /* from a template and its sizes, as one text, to elements of `instance` */
    Table function_of; /* from a template and its constants to the first instance with this function */
    Table count_of; /* from each template to how many instances it has, from "functions of" it to theirs */
    const Step *step;  /* that is being emitted */
    int64_t *all_rows; /* each number of rows of a whole tensor that a call names, once */
    int nall_rows;
} Emitter;

/* STEP is emitted between these two: texts that are made for it are given back. */
void emit_step_begin(Emitter *e, const Step *step);
void emit_step_end(Emitter *e);

enum { LAYOUT_FIELDS = 9 };

struct Constants {
    const Emitter *emitter;
    const Program *program;
    const Node *node;
    const char *body; /* the template: sizes it does not name are left out */
    Size *size;
    int nsize;
    bool array[MAX_INPUTS]; /* per input of the node: handed over as an array of pointers */
    const char *before, *after, *behind;
    ValueId rows_of; /* whose rows the kernel computes; -1: it takes no range of rows */
};

/* ---- kernel_constants.c ---- */

/* Does NAME stand in BODY, as a word? */
bool mentions(const char *body, const char *name);
/* Sizes of NODE for TEMPLATE, none yet. */
Constants constants_new(const Emitter *e, const Program *program, const Node *node, const char *template);
/* A constant of a TYPE; COUNT: of an array, else -1. */
void constant_definition(Constants *c, const char *name, const char *type, int count, const char *value);

/* ---- instance.c ---- */

/* The part of a template between its marks, without the marks: of a FILE, of the operator NAME. */
const char *template_part(Pool *pool, const char *file);
const char *template_body(const Emitter *e, const char *name);
/* The text behind "conv.c - " in the comment at the head of a template. */
const char *template_about(const Emitter *e, const char *name);
/* The template of functions that TEMPLATE shares with others, which it includes, or NULL: none but the
 * prologue. */
const char *shared_template(const Emitter *e, const char *template);
/* The files that templates of this program include beside the prologue, each file once. */
const char *shared_text(const Emitter *e);
/* The text that all templates of the folder include, and, but in FORM_INCLUDED, some of this program. */
const char *prologue_text(const Emitter *e);
/* The name of the template that computes NODE. */
const char *template_of(const Emitter *e, const Node *node);
/* The instance of TEMPLATE with these sizes, made if there is none, used by one node more. */
const Instance *instance_for(Emitter *e, const char *template, const Constants *c);
/* "tiny_unet_conv_3(", "tiny_unet_conv_0(&tiny_unet_conv_sizes_3, " */
const char *instance_call(const Emitter *e, const Instance *k);

/* ---- instance_text.c ---- */

/* Declares the functions of all instances. */
void emit_declarations(const Emitter *e, Text *out);
/* The functions of all templates: in FORM_INCLUDED a file for each, or for several that share functions,
 * and headers with these; in the other forms a text. */
void emit_template_files(const Emitter *e, Sources *sources);
void emit_copies(const Emitter *e, Text *out);
void emit_functions(const Emitter *e, Text *out);
/* The sizes that are handed over. */
void emit_sizes(const Emitter *e, Text *out);

/* ---- emit.c ---- */

/* "B012_enc1_0": the name of the offset of a buffer. */
const char *offset_name(const Emitter *e, int buffer);
/* Defines all of them. */
void emit_offsets(const Emitter *e, Text *out);
/* "AT(real, B012_enc1_0)", "NULL" */
const char *pointer_text(const Emitter *e, const Program *program, ValueId v);
/* The rows of V that the step computes: "rows_65536", all of them, or, of a copied kernel, "(Rows){0,
 * 65536}"; in a loop over bands a call of band_rows(), or, where images may have any height, of
 * tall_rows(). */
const char *rows_text(Emitter *e, const Program *program, ValueId v);
/* Defines "rows_65536" and the like.  With a literal in each call, steps take a compiler half as long
 * again. */
void emit_all_rows(const Emitter *e, Text *out);
/* "8 * step->units": so many rows for each unit of an image. */
const char *times_units(Pool *pool, int64_t rows);
/* The functions that loops over bands call, if there may be such loops. */
const char *bands_text(const Plan *plan);
/* The head of a loop over bands, and what closes it. */
void emit_bands_begin(Emitter *e, const Program *program, const Step *loop, int position);
void emit_bands_end(Emitter *e);
/* Appends the outputs and the inputs of the node of C to the arguments of CALL. */
void add_operands(Emitter *e, const Constants *c, Text *call);
/* The call of a kernel: FIRST, the rows, outputs, inputs, LAST. */
void emit_call(Emitter *e, const Constants *c, const Instance *k, const char *first, const char *last);
/* "conv of enc1.0" */
const char *step_name(const Emitter *e, const Node *node);
/* " x[n,3,64,64] -> y[n,16,64,64]" */
const char *shapes_text(Pool *pool, const Program *program, const Node *node);
/* The comment of a step: what it computes, and the line of the file. */
void emit_step_comment(Emitter *e, const Program *program, const Node *node, int position);
/* The operands of NODE that live at POSITION, each with a comma behind it. */
const char *operand_spans(const Emitter *e, const Program *program, const Node *node, int position);
/* In a checking build a step may touch these SPANS and nothing else.  FIRST begins the arguments of
 * OPERANDS. */
void emit_operands(Emitter *e, const char *first, const char *spans);
/* Gradients of parameters are swept as one region: what lies between two of them is zero. */
void emit_zero_tails(Emitter *e, const Program *program, const Node *node);

#endif
