/* pipeline.h - from lowered graphs to a plan. */
#ifndef PIPELINE_H
#define PIPELINE_H

#include "base/text.h"
#include "ir/plan.h"

/* All passes for every wanted program, into PLAN.  MODEL holds, per program, the file lowered at its size
 * (NULL: not wanted).  A pass never ends the compiler: what no arena holds, or this target cannot run, is a
 * plan that does not fit. */
void plan_programs(Plan *plan, Pool *pool, const Options *options, const Choices *choices,
                   Model *const model[PROGRAMS]);

/* Every plan that is shown or compiled is judged first: breaks off where it is wrong
 * (passes/plan_verify.c). */
void judge_plan(const Plan *plan);

/* Returns the problem of recomputation for training MODEL under CHOICES. */
const RematProblem *training_problem(Pool *pool, const Options *options, const Choices *choices,
                                     Model *model);

/* The first operator of a planned PROGRAM at which bands of rows end, or NULL; UNEVEN: for its rows are in
 * no whole proportion to those before it (passes/sweep.c). */
const Node *band_end(const Program *program, bool *uneven);

/* --emit=graph:after=PASS: the graph of each program when PASS is done; false: there is no such pass. */
bool print_graph_after(Pool *pool, const Options *options, const Choices *choices,
                       Model *const model[PROGRAMS], const char *pass, Text *out);
/* "prune autodiff ..." */
const char *pass_names(Pool *pool);

#endif
