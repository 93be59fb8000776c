/* files.h - reading the source, writing results so that nothing is ever written half, calling the C
 * compiler. */
#ifndef FILES_H
#define FILES_H

#include "command.h"
#include "sources.h"

/* The whole file; ends the compiler with exit code 4 if it cannot be read or is no text. */
const char *read_source(Pool *pool, const char *path);

/* Writes the files into FOLDER, which is made if it is not there. */
void write_sources(const Plan *plan, const Sources *sources, const char *folder);

/* Compiles the sources with $CC, and $NVCC for a GPU, into PROGRAM; returns an exit code. */
int build_program(const Plan *plan, const Sources *sources, const char *program);

/* The folder with include/ and libunet_runtime.a. */
const char *runtime_folder(Pool *pool);

#endif
