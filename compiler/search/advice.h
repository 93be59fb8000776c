/* advice.h - what to do about a plan: what would fit where it does not, and what it is compared with. */
#ifndef ADVICE_H
#define ADVICE_H

#include "search/fit.h"
#include "search/other_norms.h"
#include "search/whole_batch.h"

enum { MAX_PROPOSALS = 16 };

typedef struct {
    const char *text; /* as one would type it */
    FitTrial trial;
    bool rounds;  /* numbers of fewer bits: another result */
    bool other;   /* another network: a narrower one, or with other normalisations */
    bool smaller; /* images */
    bool fewer;   /* samples of a step */
} Proposal;

typedef struct {
    Pool *pool;
    SweepEnd ends;                    /* line 0, too, where nobody wants bands of rows */
    Proposal proposal[MAX_PROPOSALS]; /* all of them fit */
    int count;
    FitTrial quarter;  /* legal: the smallest size that was tried, if none fits */
    bool only_more;    /* no option makes room, but for a narrower network */
    FitTrial smallest; /* ONLY_MORE: the smallest plan under any options that leave the result */
} Advice;

/* Changes that would fit in place of PLAN, the answer to QUESTION. */
Advice advise(Pool *pool, const Plan *plan, const FitQuestion *question);

typedef struct {
    int64_t without_recomputation; /* bytes of the arena, all else equal */
    int64_t without_bands;         /* the same; or -1: there are none */
    int64_t eager;                 /* bytes that an eager framework keeps for the backward pass, or -1 */
    SweepEnd ends;                 /* as of Advice */
    OtherNorms norms;
} Comparison;

Comparison compare(Pool *pool, const Plan *plan, const FitQuestion *question);

/* eager.c: bytes of activations that a framework which runs operator by operator, such as PyTorch, keeps
 * for the backward pass of MODEL (lowered, nothing more) over a batch; -1 if that is no number. */
int64_t eager_bytes(const Model *model, Type stored);

#endif
