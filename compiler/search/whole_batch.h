/* whole_batch.h - what a file cannot ask for where an operator sees the whole batch. */
#ifndef WHOLE_BATCH_H
#define WHOLE_BATCH_H

#include "base/diag.h"
#include "ir/model.h"
#include "ir/options.h"

/* True if training can do as OPTIONS and the file say; else reports the first operator that stands against
 * it. */
bool suits_whole_batch(Diag *diag, const Options *options, const Model *train);

#endif
