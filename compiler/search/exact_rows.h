/* exact_rows.h - may a file store tensors in 16 bits whose numbers name rows of a table? */
#ifndef EXACT_ROWS_H
#define EXACT_ROWS_H

#include "ir/plan.h"

/* False after reporting an error at an `embedding` whose rows the type between operators does not tell
 * apart. */
bool suits_exact_rows(Diag *diag, const Options *options, const Model *model);

#endif
