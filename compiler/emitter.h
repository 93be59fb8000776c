/* emitter.h - what the emitters of all targets share: kernel instances and the calls of a step.
 *
 * emit.c defines these; emit_cpu.c and emit_cuda.c write the files around them.
 */
#ifndef EMITTER_H
#define EMITTER_H

#include "emit.h"
#include "sources.h"

/* In what a target's generated code differs from another's. */
typedef struct {
    const char *folder, *suffix; /* of templates: "cpu", ".c" */
    const char *constant;        /* before a constant that is no enumerator: "static const" */
    bool names_offsets;          /* offsets are names that a header defines */
} Dialect;

/* A constant that fills a SIZES hole: a number of the enum, or a definition of its own. */
typedef struct {
    const char *name; /* as the template knows it */
    const char *text; /* "CI = 16", or a line of C */
    bool number;
} Size;

typedef struct {
    const char *template; /* "conv" */
    const char *key;      /* all sizes as one text */
    const Size *size;
    int nsize;
    const char *name;  /* "k03_conv" */
    const char *users; /* comment: which nodes use it */
    int uses;
} Instance;

typedef struct {
    const Plan *plan;
    const Dialect *dialect;
    Pool *pool;
    Text *out;
    Instance *instance;
    int ninstance;
} Emitter;

enum { MOST_INPUTS = 5 }; /* of a node that a kernel runs */

struct Constants {
    const Emitter *emitter;
    const Program *program;
    const Node *node;
    const char *body; /* the template: constants it does not name are left out */
    Size *size;
    int nsize;
    bool array[MOST_INPUTS]; /* per input of the node: handed over as an array of pointers */
    const char *before, *after;
};

/* The part of a template between its marks, without the marks: of a FILE, of the operator NAME. */
const char *template_part(Pool *pool, const char *file);
const char *template_body(const Emitter *e, const char *name);
/* Constants of NODE for TEMPLATE, none yet. */
Constants constants_new(const Emitter *e, const Program *program, const Node *node, const char *template);
/* A definition: TYPE NAME = VALUE; NAME may have brackets. */
void constant_definition(Constants *c, const char *name, const char *type, const char *brackets,
                         const char *value);
/* The instance of TEMPLATE with these constants, made if there is none, used by one node more. */
Instance *instance_for(Emitter *e, const char *template, const Constants *c);
/* The declaration of the function of an instance whose template marks it with LAUNCHER. */
const char *instance_declaration(const Emitter *e, const Instance *k);
/* Comment and text of an instance. */
void emit_instance(Emitter *e, const Instance *k);

/* "B012_enc1_0": the name of the offset of a buffer. */
const char *offset_name(const Emitter *e, int buffer);
/* "AT(real, 4096)", "NULL" */
const char *pointer_text(const Emitter *e, const Program *program, ValueId v);
/* Arguments of the call: FIRST, outputs, inputs, LAST. */
const char *call_text(const Emitter *e, const Constants *c, const char *first, const char *last);
/* What the step computes, from where in the file. */
/* "conv of enc1.0" */
const char *step_name(Emitter *e, const Node *node);

void emit_step_comment(Emitter *e, const Program *program, const Node *node, int position);
/* At the head of a generated file: what it is and where it came from. */
void emit_head(const Plan *plan, Text *out, const char *what);
/* Stops compilation against another version of the runtime. */
void emit_version_check(Text *out);

#endif
