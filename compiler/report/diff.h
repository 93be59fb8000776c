/* diff.h - what changed between two plans: `unetc mem --diff A B`. */
#ifndef DIFF_H
#define DIFF_H

#include "base/text.h"
#include <stdbool.h>

typedef struct {
    const char *path; /* as given */
    const char *json; /* unetc-plan/1 */
} PlanText;

/* Writes the changes, as text or JSON (schema unetc-diff/1); returns whether B needs a larger arena than A.
 * A text that is no plan ends the compiler with exit code 4. */
bool diff_plans(Pool *pool, PlanText a, PlanText b, bool json, Text *out);

#endif
