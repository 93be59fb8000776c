/* report_fit.h - what `unetc fit` prints. */
#ifndef REPORT_FIT_H
#define REPORT_FIT_H

#include "fit.h"
#include "text.h"

/* The largest batch or size for the budget of the question, or, when it has none, for each usual card.
 * MODEL is the file lowered under the same options.  Returns false if nothing fits anywhere. */
bool report_fit(const FitQuestion *question, const Model *model, FitMax max, bool json, Text *out);

#endif
