/* planner.c - finds the plan: whole batches or a few samples at a time, everything kept or some computed
 * again.
 *
 * Each attempt lowers the file and runs all passes under one choice.  Cheapest first:
 *     1. as many samples at a time as cost no time, everything kept;
 *     2. fewer samples at a time, everything kept;
 *     3. the fewest samples that were allowed, and what does not fit is computed again.
 * Where a loop over samples costs time (target->loops_are_free), 2 comes after 3, and again with 3.
 * The first that is within the budget is taken; if none is, the smallest.  Where any plan will do, it is
 * one sample at a time from the start: nothing needs less memory.
 * Where inputs are staged in the arena, those of the next step come while one runs, if that fits into 1;
 * where cuDNN's faster engines need much workspace, they have it if that does.
 */
#include "planner.h"
#include "text.h"

typedef struct {
    Pool *pool;
    Diag *diag;
    const Ast *file;
    const LowerOptions *lower;
} Request;

/* ---- lowering, once per program ---- */

/* Options for a program at a size of its own: the file's, unless the command line gave one. */
static LowerOptions sized(const Request *r, const int64_t size[AXES]) {
    LowerOptions options = *r->lower;
    bool given = options.size[AXES - 1] != 0;
    for (int k = 0; k < AXES && !given; k++)
        options.size[k] = size[k];
    return options;
}

static bool no_program(const Request *r, const Model *model) {
    diag_begin(r->diag, ERROR, "U0703", model->train.place, "none of the wanted programs is in this file");
    diag_note(r->diag, "training needs a `train` section; evaluation needs one too, and data of its own");
    diag_end(r->diag);
    return false;
}

/* The passes rewrite a graph, so every program gets one of its own. */
static bool lower_programs(const Request *r, const PlanOptions *options, Model *model[PROGRAMS]) {
    Model *first = lower(r->pool, r->diag, r->file, r->lower);
    if (first == NULL || diag_errors(r->diag) > 0)
        return false;
    bool trains = first->train.present;
    bool measures = trains && (first->eval.present || first->eval_data.present || first->data.holdout > 0);
    const LowerOptions eval = sized(r, first->eval.size), predict = sized(r, first->predict.size);
    if (options->wanted[PROGRAM_TRAIN] && trains)
        model[PROGRAM_TRAIN] = first;
    if (options->wanted[PROGRAM_EVAL] && measures)
        model[PROGRAM_EVAL] = lower(r->pool, r->diag, r->file, &eval);
    if (options->wanted[PROGRAM_PREDICT])
        model[PROGRAM_PREDICT] = lower(r->pool, r->diag, r->file, &predict);
    if (diag_errors(r->diag) == 0 && model[PROGRAM_TRAIN] == NULL && model[PROGRAM_EVAL] == NULL &&
        model[PROGRAM_PREDICT] == NULL)
        return no_program(r, first);
    return diag_errors(r->diag) == 0;
}

/* ---- what identifies a plan ---- */

static uint64_t hash_of(const char *text, uint64_t hash) {
    for (; *text != '\0'; text++)
        hash = (hash ^ (unsigned char)*text) * UINT64_C(0x100000001b3); /* FNV-1a */
    return hash;
}

static const char *compile_flags(const PlanOptions *options) {
    if (options->target == &target_cuda)
        return "-std=c11 -O2";
    if (options->poison)
        return "-std=gnu11 -O1 -g1 -march=native -ffp-contract=fast -fno-math-errno -fopenmp "
               "-fsanitize=address,undefined -fno-sanitize=pointer-overflow,alignment,object-size,null "
               "-fno-sanitize-recover=all";
    if (options->reference)
        return "-std=gnu11 -O2 -ffp-contract=off -fopenmp";
    return "-std=gnu11 -O2 -march=native -ffp-contract=fast -fno-math-errno -fno-trapping-math -fopenmp";
}

/* ---- attempts ---- */

static Plan *attempt(const Request *r, PlanOptions options) {
    Model *model[PROGRAMS] = {NULL};
    if (!lower_programs(r, &options, model))
        return NULL;
    PlanOptions *own = NEW(r->pool, PlanOptions);
    *own = options;
    for (int k = 0; k < PROGRAMS; k++)
        if (own->budget == 0 && model[k] != NULL && model[k]->train.present)
            own->budget = model[k]->train.memory;
    Plan *plan = plan_programs(r->pool, own, model);
    uint64_t hash = hash_of(options.training, hash_of(r->lower->text, UINT64_C(0xcbf29ce484222325)));
    plan->source_hash = pool_text(r->pool, "%016llx", (unsigned long long)hash);
    plan->c_flags = compile_flags(&options);
    return plan;
}

bool plan_fits(const Plan *plan) {
    return plan->options->budget == 0 || plan->arena <= plan->options->budget;
}

static Plan *smaller(Plan *a, Plan *b) {
    return b == NULL || a->arena <= b->arena ? a : b;
}

/* Half as many samples at a time, as often as that helps. */
static Plan *fewer_samples(const Request *r, PlanOptions options, Plan *best) {
    for (int64_t micro = best->program[PROGRAM_TRAIN].micro; micro > 1 && !plan_fits(best);) {
        micro = (micro + 1) / 2;
        options.micro = micro;
        best = smaller(attempt(r, options), best);
    }
    return best;
}

/* The first of the schedules that one search finds which fits when packed, or the smallest; returns whether
 * the search itself came up to the budget. */
static bool recompute_once(const Request *r, PlanOptions options, Plan **best) {
    Plan *plan = attempt(r, options);
    const Program *train = &plan->program[PROGRAM_TRAIN];
    const bool found = train->found->peak <= options.capacity - train->remat_outside;
    *best = smaller(plan, *best);
    for (options.found = train->found->other; options.found != NULL && !plan_fits(*best);
         options.found = options.found->other)
        *best = smaller(attempt(r, options), *best);
    return found;
}

/* Computes again what does not fit.  Where packing leaves a gap above what is alive, a schedule that leaves
 * some bytes does, or one that was found in the other way. */
static Plan *with_recomputation(const Request *r, PlanOptions options, Plan *best) {
    options.micro = best->program[PROGRAM_TRAIN].micro;
    options.capacity = best->options->budget;
    if (recompute_once(r, options, &best) && !plan_fits(best)) {
        options.any_plan = !options.any_plan;
        recompute_once(r, options, &best);
    }
    return best;
}

/* Where loops cost time, they come last: half as many samples at a time, computing again what does not fit
 * even so. */
static Plan *fewer_samples_last(const Request *r, PlanOptions options, Plan *best) {
    for (int64_t micro = best->program[PROGRAM_TRAIN].micro; micro > 1 && !plan_fits(best);) {
        micro = (micro + 1) / 2;
        options.micro = micro;
        Plan *plan = attempt(r, options);
        if (plan != NULL && !plan_fits(plan) && !options.no_recompute)
            plan = with_recomputation(r, options, plan);
        best = plan == NULL ? best : smaller(plan, best);
    }
    return best;
}

/* With all that makes a step faster, if that fits; OPTIONS tells what does. */
static Plan *everything_kept(const Request *r, PlanOptions *options) {
    options->prefetch = options->target->stages && !options->any_plan;
    Plan *best = attempt(r, *options);
    if (best != NULL && !plan_fits(best) && options->prefetch) {
        options->prefetch = false;
        best = attempt(r, *options);
    }
    if (best != NULL && !plan_fits(best) && options->cudnn != NULL) {
        options->little_workspace = true;
        best = smaller(attempt(r, *options), best);
    }
    return best;
}

Plan *plan_file(Pool *pool, Diag *diag, const Ast *file, const LowerOptions *lower_options,
                const PlanOptions *options) {
    const Request r = {pool, diag, file, lower_options};
    const bool loops = options->micro_batches == 0 && !options->any_plan;
    PlanOptions own = *options;
    if (options->micro_batches == 0 && options->any_plan)
        own.micro = 1;
    Plan *best = everything_kept(&r, &own);
    if (best == NULL || plan_fits(best) || best->program[PROGRAM_TRAIN].model == NULL)
        return best;
    if (loops && own.target->loops_are_free)
        best = fewer_samples(&r, own, best);
    if (!plan_fits(best) && !own.no_recompute)
        best = with_recomputation(&r, own, best);
    if (loops && !own.target->loops_are_free)
        best = fewer_samples_last(&r, own, best);
    return best;
}
