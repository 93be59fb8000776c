/* whole_batch.h - what a file cannot ask for where an operator sees the whole batch. */
#ifndef WHOLE_BATCH_H
#define WHOLE_BATCH_H

#include "base/diag.h"
#include "ir/model.h"
#include "ir/options.h"
#include "ir/plan.h"

/* True if training can do as OPTIONS and the file say; else reports the first operator that stands against
 * it. */
bool suits_whole_batch(Diag *diag, const Options *options, const Model *train);

/* The operator at which bands of rows end: as the file calls it, the obstacle, as "takes the whole
 * image at once", and its line.  Line 0: bands go through all of the program, or the target has none. */
typedef struct {
    const char *name, *why;
    Span line;
} SweepEnd;
SweepEnd sweep_end(const Plan *plan); /* one in bands */

#endif
