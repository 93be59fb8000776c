/* attempts.h - attempts at a plan: each lowers the file and runs all passes under one choice.
 *
 * A search makes many plans and takes one.  A step of it that makes several gives all but one up before it
 * returns that one; the plans that it was given are left to its caller.
 */
#ifndef ATTEMPTS_H
#define ATTEMPTS_H

#include "front/lower.h"
#include "ir/plan.h"

/* A plan, the budget of the options that it was made under, and the pool in which it lies, with what was
 * found for it; the rest has a pool in that. */
typedef struct {
    Plan *plan;
    Pool *pool;
    int64_t asked;
} MadePlan;

/* The plans that were made and not given up, in their order; and the figures of those that were given up
 * and may be asked for again. */
typedef struct {
    MadePlan *plan, *known;
    int count, nknown;
    bool merges, sees_batch; /* in training an operator merges all samples, or sees the whole batch */
} Made;

/* What a search is about. */
typedef struct {
    Pool *pool;
    Made *made;
    Diag *diag;
    const Ast *file;
    const LowerOptions *lower;
    const Options *options;
    bool measures; /* what trains is evaluated, too, whether or not the file names data for that */
} Request;

/* The plan under CHOICES; NULL after reporting errors of the file.  Where it was made before, only its
 * figures may be there, and what was found: its pool is NULL then. */
Plan *attempt(const Request *r, Choices choices);
/* Gives up all plans that were made since there were COUNT, but for BEST, which it returns. */
Plan *only(const Request *r, int count, Plan *best);
/* What PLAN was made under, with what was found then, so that it is not sought again. */
Choices as_found(const Plan *plan);
/* PLAN, with all that it has. */
Plan *made_whole(const Request *r, Plan *plan);
/* By how many bytes what the schedule of TRAIN was thought to need exceeds what it needs. */
int64_t overestimate(const Program *train);

#endif
