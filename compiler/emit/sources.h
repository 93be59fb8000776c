/* sources.h - the generated sources, and who writes which part. */
#ifndef SOURCES_H
#define SOURCES_H

#include "ir/target.h"
#include "base/text.h"

typedef struct {
    const char *name; /* of the file: "tiny_unet.c" */
    Text *text;
    bool has_main; /* defines main(), or the door of a shared library: it knows all levels of processors */
    bool joins;    /* may be compiled as one text with others that do: no name of it is one of theirs */
} SourceFile;

/* The generated sources of a plan. */
typedef struct Sources {
    SourceFile *file;
    int count;
} Sources;

/* Is it a file of C or CUDA, and no header? */
bool is_compiled(const SourceFile *file);
/* For what levels the sources are compiled besides, then one without a name. */
const Level *levels_of(const Plan *plan);
/* The options of the C compiler for all files. */
const char *c_flags_of(const Plan *plan);
/* A new file, still empty. */
Text *source_new(Pool *pool, Sources *sources, const char *name);

/* fill_template.c: words between @ in a template, and what they become; a NULL word ends a list. */
typedef struct {
    const char *word, *text;
} Hole;

/* A file that is a template of templates/program; fills the holes of every plan, and MORE. */
void emit_file(const Plan *plan, Sources *sources, const char *template, const char *name,
               const Hole *more);
/* NAME.h, of this template. */
void emit_header(const Plan *plan, Sources *sources, const char *template);
/* The file with the program's main function, or with the library's door. */
void emit_main(const Plan *plan, Sources *sources);
/* The files for CMake, last of all, of a target that takes nothing beside the C compiler. */
void emit_cmake(const Plan *plan, Sources *sources);

/* The text of a template of templates/program; fills the holes of every plan, and MORE. */
const char *filled_template(const Plan *plan, const char *template, const Hole *more);
/* The name that what belongs to one plan begins with: the model's, or NAME_plan2 and so on. */
const char *plan_name(const Plan *plan);

/* embedding.c: the end of NAME.h. */
const char *embedding_text(const Plan *plan);

/* model_tables.c: the UnetLayout of a tensor of images; USED: the program reads it. */
const char *layout_initialiser(Pool *pool, const Value *value, const Layout *layout, bool used);

/* labels.c: appends what the runtime counts of the labels of a batch; returns how many sums. */
int emit_label_counts(const Program *program, Text *out);

/* model_tables.c: the constants that describe the model to the runtime, appended to the source. */
void emit_model(const Plan *plan, Text *source);

#endif
