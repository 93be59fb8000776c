/* attempts.c - see attempts.h.
 *
 * A plan of a large net takes many megabytes.  When another plan is made, the plans before it keep only
 * their figures and choices.  The plan that is taken at the end is made again.
 */
#include "search/attempts.h"
#include "base/size_math.h"
#include "base/text.h"
#include "ir/ops.h"
#include "ir/target.h"
#include "pipeline.h"
#include "search/advice.h"
#include "search/budget_search.h"
#include "search/exact_rows.h"
#include "search/whole_batch.h"

/* ---- lowering, once per program ---- */

/* Options for program KIND at a size of its own: the file's, unless the command line gave one. */
static LowerOptions sized(const Request *r, ProgramKind kind, const int64_t size[AXES]) {
    LowerOptions options = *r->lower;
    options.program = kind;
    bool given = options.size[AXES - 1] != 0;
    for (int k = 0; k < AXES && !given; k++)
        options.size[k] = size[k];
    return options;
}

static bool no_program(const Request *r, const Model *model) {
    diag_begin(r->diag, ERROR, "U0703", model->train.span,
               "the file describes none of the programs that `--programs` names");
    diag_note(r->diag, "training and evaluation need a `train` section");
    diag_end(r->diag);
    return false;
}

ProgramKind first_program(const Options *options) {
    return options->wanted[PROGRAM_TRAIN] || options->wanted[PROGRAM_EVAL] ? PROGRAM_TRAIN
                                                                           : PROGRAM_PREDICT;
}

/* The first model is lowered for training, or for prediction if nothing else is wanted. */
static bool lower_all(const Request *r, Model *model[PROGRAMS]) {
    const Options *options = r->options;
    const LowerOptions whole = sized(r, first_program(options), r->lower->size);
    Model *first = lower(r->pool, r->diag, r->file, &whole);
    if (first == NULL || diag_errors(r->diag) > 0)
        return false;
    if (!suits_exact_rows(r->diag, options, first))
        return false;
    bool trains = first->train.present;
    const bool alone = !options->wanted[PROGRAM_TRAIN] && !options->wanted[PROGRAM_PREDICT];
    const bool measures =
        trains && (first->eval.present || first->eval_data.present || first->data.holdout > 0 ||
                   first->data.folds > 0 || r->measures || alone);
    const LowerOptions eval = sized(r, PROGRAM_EVAL, first->eval.size),
                       predict = sized(r, PROGRAM_PREDICT, first->predict.size);
    if (options->wanted[PROGRAM_TRAIN] && trains) {
        if (!suits_whole_batch(r->diag, options, first))
            return false;
        model[PROGRAM_TRAIN] = first;
    }
    if (options->wanted[PROGRAM_EVAL] && measures)
        model[PROGRAM_EVAL] = lower(r->pool, r->diag, r->file, &eval);
    if (options->wanted[PROGRAM_PREDICT])
        model[PROGRAM_PREDICT] = lower(r->pool, r->diag, r->file, &predict);
    if (diag_errors(r->diag) == 0 && model[PROGRAM_TRAIN] == NULL && model[PROGRAM_EVAL] == NULL &&
        model[PROGRAM_PREDICT] == NULL)
        return no_program(r, first);
    return diag_errors(r->diag) == 0;
}

/* MODEL with a graph and outputs that passes may rewrite. */
static Model *model_copy(Pool *pool, const Model *model) {
    Model *copy = NEW(pool, Model);
    *copy = *model;
    copy->pool = pool;
    copy->graph = graph_copy(pool, model->graph);
    copy->output = pool_list(pool, model->output, model->noutput, sizeof *model->output);
    return copy;
}

/* The programs of the file for an attempt whose memory is POOL; false after reporting errors.  The file is
 * lowered once for all attempts of a search. */
static bool models_for(const Request *r, Pool *pool, Model *model[PROGRAMS]) {
    Made *made = r->made;
    if (!made->is_lowered && !lower_all(r, made->lowered))
        return false;
    made->is_lowered = true;
    for (int k = 0; k < PROGRAMS; k++)
        model[k] = made->lowered[k] == NULL ? NULL : model_copy(pool, made->lowered[k]);
    return true;
}

/* ---- what identifies a plan ---- */

static uint64_t hash_of(const char *text, uint64_t hash) {
    for (; *text != '\0'; text++)
        hash = (hash ^ (unsigned char)*text) * UINT64_C(0x100000001b3); /* FNV-1a */
    return hash;
}

/* ---- attempts ---- */

/* Returns the problem of recomputation whose search serves CHOICES, too; NULL: they need a search of their
 * own. A batch of many samples is searched at FEW samples: the proportions are almost the same, so one
 * search serves all batches.  If any plan will do, one search also serves other sizes and widths.  Its
 * schedules are measured again with the bytes and costs of CHOICES. */
static const RematProblem *typical_problem(const Request *r, Choices choices, const Model *train) {
    enum { FEW = 16 };
    const bool searches = choices.capacity > 0 && choices.capacity < INT64_MAX && choices.found == NULL &&
                          !choices.repeats && !choices.brief && (!choices.any_plan || choices.memo != NULL);
    if (!searches || train == NULL)
        return NULL;
    const bool few = train->train.batch > FEW && train->train.accumulate == 1 && train->train.ranks == 1 &&
                     choices.micro_batch >= train->train.batch,
               other = choices.any_plan && choices.typical_file != NULL;
    if (!few && !other)
        return NULL;
    LowerOptions options = other ? *choices.typical_file : sized(r, PROGRAM_TRAIN, r->lower->size);
    options.program = PROGRAM_TRAIN;
    if (few)
        options.batch = choices.micro_batch = FEW;
    Pool *scratch = pool_part(r->pool);
    Model *model = lower(scratch, diag_quiet(scratch), r->file, &options);
    const RematProblem *problem = NULL;
    if (model != NULL)
        problem = remat_problem_copy(r->pool, training_problem(scratch, r->options, &choices, model));
    pool_free(scratch);
    return problem;
}

/* Frees all of PLAN but its figures and the schedules that were found. */
static void reduce_plan(Plan *plan) {
    if (plan->pool != NULL)
        pool_free(plan->pool);
    plan->pool = NULL;
}

/* Gives up a plan.  Its figures stay known if there was no search for it, because the search of the plan
 * comes to the same choices by several ways. */
static void give_up(const Request *r, MadePlan given) {
    const Choices *choices = &given.plan->choices;
    if (choices->capacity > 0 || (choices->found != NULL && !choices->repeats)) {
        pool_free(given.pool);
        return;
    }
    reduce_plan(given.plan);
    PUSH(r->pool, r->made->known, r->made->nknown, given);
}

Plan *only(const Request *r, int count, Plan *best) {
    Made *made = r->made;
    const int end = made->count;
    made->count = count;
    for (int k = count; k < end; k++)
        if (made->plan[k].plan == best)
            made->plan[made->count++] = made->plan[k];
        else
            give_up(r, made->plan[k]);
    return best;
}

/* But for packs_once and packs_in_iterations, for extents, and for what plan_under() adds. */
static bool same_choices(const Choices *a, const Choices *b) {
    return a->micro_batch == b->micro_batch && a->band_rows == b->band_rows &&
           a->passed_rows == b->passed_rows && a->capacity == b->capacity && a->found == b->found &&
           a->typical_file == b->typical_file && a->memo == b->memo && a->repeats == b->repeats &&
           a->of_use == b->of_use && a->nearly_free == b->nearly_free && a->parts == b->parts &&
           a->most_extra == b->most_extra && a->any_plan == b->any_plan && a->only_bands == b->only_bands &&
           a->brief == b->brief && a->sketch == b->sketch && a->rough == b->rough &&
           a->prefetch == b->prefetch && a->stages_floats == b->stages_floats &&
           a->little_workspace == b->little_workspace && a->packs_in_bands == b->packs_in_bands &&
           a->branches == b->branches && a->branch_bytes == b->branch_bytes;
}

/* Has a program of PLAN a loop over samples, in which weights may be packed again? */
static bool loops_over_samples(const Request *r, const Plan *plan) {
    for (const Program *p = program_of(plan, 0); p != NULL; p = program_of(plan, (int)p->kind + 1))
        if (p->micro_batch < p->batch)
            return true;
    return r->made->merges;
}

/* Takes PLAN as many bytes if weights are packed as CHOICES say?  Prediction takes fewer where it does not
 * keep packed weights, which changes nothing where training takes most. */
static bool packs_alike(const Request *r, const Plan *plan, const Choices *choices) {
    const Program *train = &plan->program[PROGRAM_TRAIN];
    const bool trains_most = train->model != NULL && train->extent == plan->arena;
    return (plan->choices.packs_once == choices->packs_once || (!choices->packs_once && trains_most)) &&
           (plan->choices.packs_in_iterations == choices->packs_in_iterations ||
            !loops_over_samples(r, plan));
}

/* Was it made under CHOICES, and under the budget that is asked for, or a larger one?  Then the arena was
 * packed with as much care or with more, so it answers for this budget, too. */
static bool answers(const Request *r, const MadePlan *made, const Choices *choices) {
    const int64_t asked = r->options->budget;
    return same_choices(&made->plan->choices, choices) && packs_alike(r, made->plan, choices) &&
           (made->asked == asked || (asked > 0 && (made->asked == 0 || made->asked > asked)));
}

/* Returns a plan that has the figures of KNOWN, and CHOICES. */
static Plan *known_again(const Request *r, const MadePlan *known, const Choices *choices) {
    Pool *pool = pool_part(r->pool);
    Plan *plan = NEW(pool, Plan);
    *plan = *known->plan;
    plan->choices.packs_once = choices->packs_once;
    if (r->options->budget > 0)
        plan->budget = r->options->budget;
    PUSH(r->pool, r->made->plan, r->made->count, ((MadePlan){plan, pool, known->asked}));
    return plan;
}

/* The plan that was made under CHOICES, or its figures, if it was given up; NULL: none was. */
static Plan *known_plan(const Request *r, const Choices *choices) {
    const Made *made = r->made;
    for (int k = 0; k < made->count; k++)
        if (made->plan[k].asked == r->options->budget &&
            made->plan[k].plan->choices.packs_once == choices->packs_once &&
            answers(r, &made->plan[k], choices))
            return made->plan[k].plan;
    for (int k = 0; k < made->nknown; k++)
        if (answers(r, &made->known[k], choices))
            return known_again(r, &made->known[k], choices);
    return NULL;
}

bool plan_is_large(const Plan *plan) {
    enum { LARGE = 4000 };
    int nodes = 0;
    for (const Program *p = program_of(plan, 0); p != NULL; p = program_of(plan, (int)p->kind + 1))
        nodes += p->graph->nnode;
    return nodes > LARGE;
}

static void reduce_large_plans(const Request *r) {
    for (int k = 0; k < r->made->count; k++) {
        Plan *plan = r->made->plan[k].plan;
        if (plan->pool != NULL && plan_is_large(plan))
            reduce_plan(plan);
    }
}

/* Returns "a net of 1,234 operations", the operations of the largest program as lowered. */
static const char *size_text(Pool *pool, Model *const model[PROGRAMS]) {
    int most = 0;
    for (int k = 0; k < PROGRAMS; k++)
        if (model[k] != NULL && model[k]->graph->nnode > most)
            most = model[k]->graph->nnode;
    return pool_text(pool, "a net of %s operations", grouped(pool, most));
}

/* One plan under CHOICES; NULL after reporting errors of the file. */
static Plan *plan_under(const Request *request, Choices choices) {
    Request r = *request;
    Made *made = r.made;
    Model *model[PROGRAMS] = {NULL};
    Pool *whole = pool_part(request->pool);
    reduce_large_plans(request);
    r.pool = pool_part(whole);
    if (!models_for(request, r.pool, model)) {
        pool_free(whole);
        return NULL;
    }
    pool_is_for(whole, size_text(whole, model));
    choices.schedules = whole;
    choices.typical = typical_problem(&r, choices, model[PROGRAM_TRAIN]);
    Plan *plan = NEW(whole, Plan);
    plan_programs(plan, r.pool, r.options, &choices, model);
    uint64_t hash = hash_of(r.options->training, hash_of(r.lower->text, UINT64_C(0xcbf29ce484222325)));
    plan->source_hash = pool_text(r.pool, "%016llx", (unsigned long long)hash);
    const Program *train = &plan->program[PROGRAM_TRAIN];
    made->merges = train->model != NULL && merging_node(train->graph) != NULL;
    made->sees_batch = train->model != NULL && whole_batch_node(train->graph) != NULL;
    PUSH(request->pool, made->plan, made->count, ((MadePlan){plan, whole, r.options->budget}));
    return plan;
}

bool was_made(const Request *r, Choices choices) {
    return known_plan(r, &choices) != NULL;
}

static Plan *known_or_made(const Request *r, Choices choices) {
    Plan *known = known_plan(r, &choices);
    return known != NULL ? known : plan_under(r, choices);
}

/* PLAN, a sketch: may a search find what to compute again, so that it fits? */
static bool may_be_mended(const Plan *plan) {
    const Program *train = &plan->program[PROGRAM_TRAIN];
    const int64_t capacity = plan->choices.capacity;
    return train->model != NULL && capacity > 0 && train->found != NULL &&
           size_sum(train->found->peak_lower_bound, train->remat_outside) <= capacity;
}

/* Makes one plan.  If a sketch will do, the library of the device is asked for workspace only if the plan
 * may fit, because its answers take most of the time. */
Plan *attempt(const Request *r, Choices choices) {
    const bool searched = choices.capacity > 0 && choices.found != NULL;
    choices.sketch = choices.sketch && r->options->device != NULL && !searched;
    const int made = r->made->count;
    Plan *plan = known_or_made(r, choices);
    if (!choices.sketch || plan == NULL || !(plan_fits(plan) || may_be_mended(plan)))
        return plan;
    (void)only(r, made, NULL);
    choices.sketch = false;
    return known_or_made(r, choices);
}

Choices as_found(const Plan *plan) {
    const Program *train = &plan->program[PROGRAM_TRAIN];
    Choices choices = plan->choices;
    if (train->model != NULL)
        choices.found = train->found;
    return choices;
}

Choices as_packed(const Plan *plan) {
    Choices choices = as_found(plan);
    for (int k = 0; k < PROGRAMS; k++)
        choices.extent[k] = plan->program[k].model == NULL ? 0 : plan->program[k].extent;
    return choices;
}

Plan *made_whole(const Request *r, Plan *plan) {
    return plan->pool != NULL ? plan : plan_under(r, as_packed(plan));
}

int64_t overestimate(const Program *train) {
    return size_sum(train->found->peak, train->remat_outside) - train->lower_bound;
}

bool is_far_over(int64_t extent, int64_t budget) {
    enum { PART = 32 };
    return extent - budget > budget / PART;
}

/* ---- without a plan ---- */

bool lower_programs(Pool *pool, Diag *diag, const Ast *file, const LowerOptions *lower_options,
                    const Options *options, Model *model[PROGRAMS]) {
    const Request r = {
        .pool = pool, .diag = diag, .file = file, .lower = lower_options, .options = options};
    return lower_all(&r, model);
}
