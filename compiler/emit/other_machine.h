/* other_machine.h - programs for another kind of processor than that on which unetc runs. */
#ifndef OTHER_MACHINE_H
#define OTHER_MACHINE_H

#include "emit/build_program.h"

/* The folder of the runtime library for the machine that COMPILER compiles for: HOME, or a folder in it. It
 * writes to the folder SCRATCH.  NULL: there is none, and a message was printed. */
const char *home_for_compiler(const Plan *plan, const char *compiler, const char *home,
                              const char *scratch);

#endif
