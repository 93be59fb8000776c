/* other_norms.h - ways to train without statistics of the whole batch, each planned. */
#ifndef OTHER_NORMS_H
#define OTHER_NORMS_H

#include "search/fit.h"

/* An answer is another network: the same layers and names of weights, other numbers. */
typedef struct {
    FitQuestion question;
    const char *option; /* as one would type it: "--batch-norm=group" */
    const char *meaning;
    FitTrial trial; /* not legal: the network cannot be trained that way */
} OtherNorm;

enum { OTHER_NORMS = 5 };

typedef struct {
    Span line; /* of the first normalisation that sees the whole batch; line 0: there is none */
    OtherNorm way[OTHER_NORMS];
    int count;
    int64_t budget; /* the plan's budget; without one, half of the plan's arena */
} OtherNorms;

/* The ways that PLAN, the answer to ASKED, leaves; their questions, without trials.  If PLAN has no
 * budget, the first is the network as it is. */
OtherNorms other_norms(Pool *pool, const Plan *plan, const FitQuestion *asked);

/* Plans each of them, in brief where that will do, and several at a time where that takes little memory. */
void try_other_norms(OtherNorms *norms, const Plan *plan);

#endif
