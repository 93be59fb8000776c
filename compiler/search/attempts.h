/* attempts.h - attempts at a plan: each runs all passes over the lowered file under one choice.
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

/* The programs of the file as lowered, and the plans of a search, in their order.  PLAN: they were not
 * given up.  KNOWN: they were, and their figures stay, as the search may come to the same choices again. */
typedef struct {
    Model *lowered[PROGRAMS];
    bool is_lowered;
    MadePlan *plan, *known;
    int count, nknown;
    bool merges, sees_batch; /* in training an operator merges all samples, or sees the whole batch */
} Made;

/* The question of a search: a file, and the options under which it is planned. */
typedef struct {
    Pool *pool;
    Made *made;
    Diag *diag;
    const Ast *file;
    const LowerOptions *lower;
    const Options *options;
    bool measures; /* what trains is evaluated, too, whether or not the file names data for that */
} Request;

/* The plan under CHOICES; NULL after reporting errors of the file.  If it was made before, only its
 * figures may be there, and the schedule: its pool is NULL then. */
Plan *attempt(const Request *r, Choices choices);
/* Is the plan under CHOICES there, or are its figures? */
bool was_made(const Request *r, Choices choices);
/* Gives up all plans that were made since there were COUNT, but for BEST, which it returns. */
Plan *only(const Request *r, int count, Plan *best);
/* The choices under which PLAN was made, with the schedule that was found, so that no search looks for it
 * again. */
Choices as_found(const Plan *plan);
/* The same, and its programs need no smaller arena than in PLAN. */
Choices as_packed(const Plan *plan);
/* PLAN itself, or, if only its figures are there, the same plan made again. */
Plan *made_whole(const Request *r, Plan *plan);
/* The bytes that the schedule of TRAIN seemed to need, less the bytes that it needs. */
int64_t overestimate(const Program *train);
/* Does a plan of EXTENT bytes miss BUDGET by more than searches differ in the bytes that they find? */
bool is_far_over(int64_t extent, int64_t budget);

#endif
