/* sources.h - the generated sources, and who writes which part. */
#ifndef SOURCES_H
#define SOURCES_H

#include "plan.h"
#include "text.h"

/* The generated sources of a plan. */
typedef struct {
    Text source; /* NAME.c */
    Text header; /* NAME.h */
    Text main;   /* main.c */
    Text cmake;  /* CMakeLists.txt */
} Sources;

void emit(const Plan *plan, Sources *sources);

/* emit_files.c: header, main.c and CMakeLists.txt. */
void emit_files(const Plan *plan, Sources *sources);

/* The constants that describe the model to the runtime, appended to the source. */
void emit_model(const Plan *plan, Text *source);

#endif
