/* nearly_free.h - what saves memory for next to no work. */
#ifndef NEARLY_FREE_H
#define NEARLY_FREE_H

#include "search/attempts.h"

/* BEST, or a plan that costs next to nothing more than KEPT, which keeps everything: without a budget the
 * one of least memory, and BEST is KEPT; under a budget that KEPT exceeds, one that fits and costs less
 * than BEST.  Options.no_recompute: BEST. */
Plan *nearly_free(const Request *r, Plan *kept, Plan *best);

/* KEPT, which keeps everything, or the same plan with the optimiser's step in parts, on a target where each
 * part costs a launch: if the plan takes fewer bytes and the launches are next to no work. */
Plan *nearly_free_parts(const Request *r, Plan *kept);

#endif
