/* fit_text.h - what `unetc fit` prints. */
#ifndef FIT_TEXT_H
#define FIT_TEXT_H

#include "base/text.h"
#include "search/fit_rows.h"

/* Prints the rows that fit_rows() found for QUESTION.  MODEL is the file lowered under the same options.
 * Returns false if nothing fits anywhere. */
bool report_fit(const FitQuestion *question, const Model *model, FitMax max, bool trains, const FitRow *row,
                int count, bool json, Text *out);

#endif
