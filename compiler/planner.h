/* planner.h - from a parsed file to a plan: what every command that speaks of memory calls. */
#ifndef PLANNER_H
#define PLANNER_H

#include "lower.h"
#include "plan.h"

/* Lowers FILE for every program that is wanted and plans them; chooses loops over samples and recomputation
 * so that the arena is within options->budget (or the file's own `memory`), if that can be.  Whether it is:
 * plan_fits(). Returns NULL after reporting errors of the file.  Neither FILE nor the options are changed,
 * so it may be called again with others; each call takes milliseconds. */
Plan *plan_file(Pool *pool, Diag *diag, const Ast *file, const LowerOptions *lower,
                const PlanOptions *options);

bool plan_fits(const Plan *plan);

#endif
