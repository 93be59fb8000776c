/* budget_search.h - from a parsed file to a plan: what every command that speaks of memory calls. */
#ifndef BUDGET_SEARCH_H
#define BUDGET_SEARCH_H

#include "front/lower.h"
#include "ir/plan.h"

/* The program as which a file is judged, before the programs that OPTIONS want are made of it: training,
 * with its losses and transforms, unless prediction alone is wanted. */
ProgramKind first_program(const Options *options);
/* Lowers FILE once for each program that is wanted and that it has; false after reporting errors. */
bool lower_programs(Pool *pool, Diag *diag, const Ast *file, const LowerOptions *lower,
                    const Options *options, Model *model[PROGRAMS]);

/* Lowers FILE for every program that is wanted and plans them; chooses loops over samples and recomputation
 * so that the arena is within options->budget (or the file's own `memory`), if that can be.  Whether it is:
 * plan_fits().  Choices in FIXED are not made anew: the samples at a time, whether any plan will do,
 * whether kernels get little workspace.  Returns NULL after reporting errors of the file.  Neither FILE nor
 * the options are changed, so it may be called again with others; each call takes milliseconds.  A plan
 * that is shown or compiled is to be judged, see judge_plan(). */
Plan *plan_file(Pool *pool, Diag *diag, const Ast *file, const LowerOptions *lower, const Options *options,
                const Choices *fixed);

/* Does PLAN take so much memory of the compiler that few should be there at a time? */
bool plan_is_large(const Plan *plan);

/* The plan of plan_file(), without choices in FIXED; and evaluation on data that are named when the program
 * runs, for a file that names none, if that raises neither the arena nor the bytes beside it.  It is
 * judged. */
Plan *plan_all(Pool *pool, Diag *diag, const Ast *file, const LowerOptions *lower, const Options *options);

#endif
