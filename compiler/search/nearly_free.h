/* nearly_free.h - what saves memory for next to no work. */
#ifndef NEARLY_FREE_H
#define NEARLY_FREE_H

#include "search/attempts.h"

/* BEST, or a plan that costs next to nothing more than KEPT, which keeps everything: without a budget the
 * one of least memory, and BEST is KEPT; under a budget that KEPT exceeds, one that fits and costs less
 * than BEST.  Options.no_recompute: nothing is computed again for it. */
Plan *nearly_free(const Request *r, Plan *kept, Plan *best);

#endif
