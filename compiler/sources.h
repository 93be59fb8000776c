/* sources.h - the generated sources, and who writes which part. */
#ifndef SOURCES_H
#define SOURCES_H

#include "plan.h"
#include "text.h"

typedef struct {
    const char *name; /* of the file: "tiny_unet.c" */
    Text *text;
} SourceFile;

/* The generated sources of a plan. */
typedef struct Sources {
    SourceFile *file;
    int count;
} Sources;

/* A new file, still empty. */
Text *source_new(Pool *pool, Sources *sources, const char *name);

void emit_cpu(const Plan *plan, Sources *sources);
void emit_cuda(const Plan *plan, Sources *sources);

/* emit_files.c: a file that is a template of templates/program with its words between @ filled in. */
void emit_file(const Plan *plan, Sources *sources, const char *template, const char *name);

/* The constants that describe the model to the runtime, appended to the source. */
void emit_model(const Plan *plan, Text *source);

#endif
