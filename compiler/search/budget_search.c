/* budget_search.c - finds the plan: whole batches or a few samples at a time, everything kept or some
 * computed again.
 *
 * Each attempt runs all passes over the lowered file with one set of choices, in this order:
 *     1. as many samples at a time as cost no time, everything kept;
 *     2. fewer samples at a time, everything kept;
 *     3. one sample at a time and a few rows at a time, in as many bands as the options say, if they do:
 *        weights are read more often, and little is computed again;
 *     4. recomputation.
 * The first plan within the budget is taken.  But if 2 or 3 gives it, 4 may cost less (Plan.cost), and the
 * cheaper plan is taken.  The candidates are the same for every budget, and the plans that fit are
 * compared, so more memory never costs more.  If no plan fits, the smallest is taken.
 *
 * - In 1, some tensors may be recomputed at next to no cost (nearly_free.c).  Without a budget they are.
 * - If any plan will do, the search begins with one sample at a time, which needs least memory.
 * - If an operator sees the whole batch, the batch is not cut.
 * - If inputs are staged in the arena, the next inputs are copied while a step runs, if that fits into 1.
 * - Faster kernels that need much workspace are used, if that fits into 1.
 * - Prediction goes row by row, and so takes images of any height, if that costs little time and no memory,
 *   or if the budget demands it.
 * - Packed weights are kept between iterations, and in prediction between images.  If no such plan fits,
 *   they are packed just before each use, and in bands of rows in each band.
 * - The ring has pictures in the type of their files.  If a plan nearly fits so, f32 is tried.
 * - Evaluation on data that are named when the program runs is added if the plan has room for it.
 * - Branches are added if the target has a second stream and the plan has room for them.
 */
#include "base/size_math.h"
#include "ir/ops.h"
#include "ir/target.h"
#include "pipeline.h"
#include "search/advice.h"
#include "search/attempts.h"
#include "search/budget_search.h"
#include "search/nearly_free.h"

/* Returns the better of two plans, B may be NULL: the one that the target can run, else the smaller. */
static Plan *smaller(Plan *a, Plan *b) {
    if (b == NULL || (b->refusal != NULL && a->refusal == NULL))
        return a;
    return (a->refusal != NULL && b->refusal == NULL) || a->arena > b->arena ? b : a;
}

/* Halves the samples at a time until a plan fits, if a plan of one sample does. */
static Plan *fewer_samples(const Request *r, Choices choices, Plan *best) {
    int64_t samples = best->program[PROGRAM_TRAIN].micro_batch;
    if (samples == 1)
        return best;
    choices.micro_batch = 1;
    const int made = r->made->count;
    Plan *fewest = attempt(r, choices);
    if (!plan_fits(fewest))
        return only(r, made, smaller(fewest, best));
    while (samples > 2) {
        samples = (samples + 1) / 2;
        choices.micro_batch = samples;
        Plan *plan = attempt(r, choices);
        if (plan_fits(plan))
            return only(r, made, plan);
        (void)only(r, made, fewest);
    }
    return fewest;
}

/* Returns whether prediction is over the budget with packed weights that it keeps between images.  No
 * choice for training mends that. */
static bool keeps_too_much(const Plan *plan) {
    const Program *predict = &plan->program[PROGRAM_PREDICT];
    return plan->choices.packs_once && predict->model != NULL && predict->extent > plan->budget;
}

/* Returns whether PLAN would fit if prediction did not keep packed weights. */
static bool fits_but_for_packs(const Plan *plan) {
    const Program *train = &plan->program[PROGRAM_TRAIN];
    return keeps_too_much(plan) && (train->model == NULL || train->extent <= plan->budget);
}

/* Returns whether the bytes that no choice makes fewer exceed the budget.  The search then only has to tell
 * how little is needed. */
static bool is_hopeless(const Plan *plan) {
    return plan->budget > 0 && plan->fixed > plan->budget;
}

/* Returns whether a plan that does not fit is of no use. */
static bool must_fit(const Choices *choices) {
    return choices->any_plan || choices->brief;
}

/* Returns whether nothing fits and prediction needs less without packed weights.  Then only the search
 * without packed weights can tell how much is needed. */
static bool is_in_vain(const Plan *plan) {
    return keeps_too_much(plan) && is_hopeless(plan);
}

/* Returns the better of two plans: the one that fits, else the one that costs less.  If none fits: the one
 * that would fit without packed weights, else the smaller. */
static Plan *cheaper(Plan *a, Plan *b) {
    if (plan_fits(a) && plan_fits(b))
        return a->cost < b->cost ? a : b;
    if (!plan_fits(a) && !plan_fits(b) && fits_but_for_packs(a) != fits_but_for_packs(b))
        return fits_but_for_packs(a) ? a : b;
    return smaller(a, b);
}

/* Schedules of recomputation in bands: the first repeats nothing, each other one repeats what the one
 * before does, and more. */
typedef struct {
    const RematSchedule **schedule;
    int count;
} Repeats;

/* Makes the plan of CHOICES with number K of REPEATS. */
static Plan *attempt_repeats(const Request *r, Choices choices, Repeats repeats, int k) {
    choices.found = repeats.schedule[k];
    return attempt(r, choices);
}

/* Returns BEST or, if it costs less, a plan in bands of so many rows that recomputes as little as fits. */
static Plan *fewest_repeats(const Request *r, Choices choices, Repeats repeats, Plan *best) {
    int low = 0, high = repeats.count - 1;
    const int made = r->made->count;
    Plan *none = attempt_repeats(r, choices, repeats, low);
    const bool costs_more = plan_fits(best) && none->cost >= best->cost,
               ends = plan_fits(none) || costs_more || high == low;
    best = only(r, made, cheaper(none, best));
    if (ends)
        return best;
    Plan *all = attempt_repeats(r, choices, repeats, high);
    const bool fits = plan_fits(all);
    best = only(r, made, cheaper(all, best));
    while (fits && high - low > 1) {
        const int middle = low + (high - low) / 2;
        Plan *plan = attempt_repeats(r, choices, repeats, middle);
        *(plan_fits(plan) ? &high : &low) = middle;
        best = only(r, made, cheaper(plan, best));
    }
    return best;
}

/* Returns the repeats that were found for PLAN. */
static Repeats repeats_of(const Request *r, const Plan *plan) {
    const Program *train = &plan->program[PROGRAM_TRAIN];
    Repeats repeats = {NULL, 0};
    for (const RematSchedule *s = train->found; s != NULL && train->model != NULL; s = s->next)
        PUSH(r->pool, repeats.schedule, repeats.count, s);
    if (repeats.count == 0)
        PUSH(r->pool, repeats.schedule, repeats.count, NULL);
    return repeats;
}

/* The heights of bands that are tried. */
static const int64_t heights[] = {64, 32, 16, 8};
enum { HEIGHTS = sizeof heights / sizeof *heights, LOWEST = HEIGHTS - 1 };

/* Returns the bytes that the last of REPEATS saves, by its estimate. */
static int64_t saved_by(Repeats repeats) {
    return repeats.count > 1 ? repeats.schedule[0]->peak - repeats.schedule[repeats.count - 1]->peak : 0;
}

/* Returns whether a plan of LEAST bytes or more may fit, or be better than BEST, which does not fit. */
static bool is_of_use(int64_t least, const Plan *best) {
    return !is_far_over(least, best->budget) || least < best->arena;
}

/* Returns BEST or the cheapest plan in bands: of any height, with as little recomputed as fits.  If the
 * fewest rows do not fit, no other height is tried. */
static Plan *in_bands_of(const Request *r, Choices choices, Plan *best) {
    choices.band_rows = heights[LOWEST];
    const int made = r->made->count;
    Plan *first = attempt(r, choices), *least = first;
    const Repeats repeats = repeats_of(r, first);
    if (!plan_fits(least) && repeats.count > 1 && is_of_use(first->arena - saved_by(repeats), best))
        least = smaller(attempt_repeats(r, choices, repeats, repeats.count - 1), least);
    if (!plan_fits(least) || choices.any_plan)
        return only(r, made, cheaper(least, best));
    const int tried = r->made->count;
    for (int k = 0; k < HEIGHTS; k++) {
        choices.band_rows = heights[k];
        best = only(r, tried, fewest_repeats(r, choices, repeats, best));
    }
    return only(r, made, best);
}

static int64_t most_packed(const Plan *plan) {
    int64_t most = 0;
    for (const Program *p = program_of(plan, 0); p != NULL; p = program_of(plan, (int)p->kind + 1))
        most = p->packed > most ? p->packed : most;
    return most;
}

/* BEST does not fit, and neither do bands under CHOICES.  Returns whether bands may fit if weights are
 * packed in each band.  That saves at most the bytes of the weights packed in front of the loops. */
static bool may_pack_in_bands(const Request *r, Choices choices, const Plan *best) {
    choices.band_rows = heights[LOWEST];
    const int made = r->made->count;
    const Plan *first = attempt(r, choices);
    const int64_t saved = size_sum(saved_by(repeats_of(r, first)), most_packed(first));
    (void)only(r, made, NULL);
    return is_of_use(first->arena - saved, best);
}

static bool were_bands_made(const Request *r, Choices choices) {
    choices.band_rows = heights[LOWEST];
    return was_made(r, choices);
}

/* Returns BEST or a better plan in bands.  If no bands fit, weights are packed anew in each band. */
static Plan *in_bands(const Request *r, Choices choices, Plan *best) {
    const int made = r->made->count;
    choices.repeats = !r->options->no_recompute;
    const bool looks = !choices.any_plan && !is_hopeless(best),
               knows = looks || were_bands_made(r, choices);
    if (looks)
        best = in_bands_of(r, choices, best);
    if (knows && !plan_fits(best) && !may_pack_in_bands(r, choices, best))
        return only(r, made, best);
    choices.packs_in_iterations = choices.packs_in_bands = true;
    const bool trains = best->program[PROGRAM_TRAIN].model != NULL;
    return plan_fits(best) && !trains ? best : only(r, made, in_bands_of(r, choices, best));
}

/* Returns BEST or a better plan in as many bands as were asked for. */
static Plan *in_asked_bands(const Request *r, Choices choices, Plan *best) {
    const int made = r->made->count;
    choices.repeats = !r->options->no_recompute;
    best = only(r, made, fewest_repeats(r, choices, repeats_of(r, attempt(r, choices)), best));
    if (plan_fits(best))
        return best;
    choices.packs_in_iterations = choices.packs_in_bands = true;
    return only(r, made, fewest_repeats(r, choices, repeats_of(r, attempt(r, choices)), best));
}

/* Returns whether training is over the budget and recomputation may mend that. */
static bool may_recompute(const Request *r, const Plan *plan) {
    const Program *train = &plan->program[PROGRAM_TRAIN];
    return train->model != NULL && plan->budget > 0 && train->extent > plan->budget &&
           plan->arena < INT64_MAX && !r->options->no_recompute;
}

/* Schedules whose estimate is from LEAST to MOST bytes are worth a try. */
typedef struct {
    int64_t least, most;
} Worthwhile;

/* Estimates can be too high.  So schedules are tried whose estimate exceeds BEST by a 128th, or by the
 * largest error seen so far, WRONG.  If only feasibility matters, schedules with an estimate above the
 * budget are skipped.
 *
 * If no estimate is within the budget and BEST needs far too much, few plans are made.  Schedules of nearly
 * the same estimate are alike and leave the same gaps when packed.  So the next estimate exceeds the
 * estimate of PLAN by a quarter of the bytes that BEST needs beyond it, and is clearly below BEST. */
static Worthwhile worthwhile(const Plan *plan, const Plan *best, int64_t wrong) {
    enum { LITTLE = 128, FAR = 4 };
    const Program *train = &plan->program[PROGRAM_TRAIN];
    const int64_t extent = best->program[PROGRAM_TRAIN].extent, little = extent / LITTLE,
                  budget = plan->budget, estimate = size_sum(train->found->peak, train->remat_outside);
    if (must_fit(&plan->choices) && budget < extent)
        return (Worthwhile){0, budget};
    if (estimate > budget && is_far_over(extent, budget))
        return (Worthwhile){size_sum(estimate, 1 + (extent - estimate) / FAR), extent - little};
    return (Worthwhile){0, size_sum(extent, wrong > little ? wrong : little)};
}

static const RematSchedule *first_worthwhile(const RematSchedule *found, int64_t outside,
                                             Worthwhile worth) {
    while (found != NULL &&
           (size_sum(found->peak, outside) < worth.least || size_sum(found->peak, outside) > worth.most))
        found = found->next;
    return found;
}

/* Returns BEST, which fits, or a cheaper plan from the row FOUND.  Estimates of the schedules in the row
 * are above the budget, but by no more than the largest error, WRONG.  They are tried by rising estimates,
 * until two in a row do not fit. */
static Plan *beyond(const Request *r, Choices choices, const RematSchedule *found, Plan *best,
                    int64_t wrong) {
    enum { MISSES = 2 };
    const Program *train = &best->program[PROGRAM_TRAIN];
    const int64_t most = size_sum(best->budget, wrong), outside = train->remat_outside;
    const int made = r->made->count;
    int misses = 0;
    for (; found != NULL && misses < MISSES && size_sum(found->peak, outside) <= most;
         found = found->next) {
        choices.found = found;
        Plan *plan = attempt(r, choices);
        misses = plan_fits(plan) ? 0 : misses + 1;
        best = only(r, made, cheaper(plan, best));
    }
    return best;
}

/* Searches for recomputation with the choices of KEPT, which does not fit.  Returns the plan of the
 * cheapest schedule that fits when packed; if none does, the smallest plan that was made. */
static Plan *with_recomputation(const Request *r, Choices choices, Plan *kept) {
    enum { MOST_FAR_OVER = 3 }; /* plans that are made only to say how much is needed */
    const int made = r->made->count, searched = made + 1;
    int64_t wrong = 0;
    int far_over = 0;
    Plan *best = kept;
    const RematSchedule *first = NULL;
    choices.micro_batch = kept->program[PROGRAM_TRAIN].micro_batch;
    choices.capacity = kept->budget;
    do {
        Plan *plan = attempt(r, choices);
        const Program *train = &plan->program[PROGRAM_TRAIN];
        const RematSchedule *found = choices.found != NULL ? choices.found : train->found;
        first = first == NULL ? found : first;
        best = smaller(plan, best);
        wrong = overestimate(train) > wrong ? overestimate(train) : wrong;
        far_over += size_sum(found->peak, train->remat_outside) > plan->budget &&
                    is_far_over(train->extent, plan->budget);
        choices.found = first_worthwhile(found->next, train->remat_outside, worthwhile(plan, best, wrong));
        (void)only(r, searched, best); /* the first has the schedules */
    } while (may_recompute(r, best) && choices.found != NULL && far_over < MOST_FAR_OVER);
    return only(r, made, plan_fits(best) ? beyond(r, choices, first->beyond, best, wrong) : best);
}

/* Returns BEST or, if it costs less, a plan with recomputation of SAMPLES at a time, or of half as many,
 * and so on down to LEAST.  The fewest samples come first.  If they do not fit, more samples do not either.
 * A brief search also ends if they are no better than BEST. */
static Plan *recompute_in_turns(const Request *r, Choices choices, int64_t samples, int64_t least,
                                Plan *best) {
    const int made = r->made->count;
    if (samples > least) {
        Plan *fewer = recompute_in_turns(r, choices, (samples + 1) / 2, least, best);
        if (!plan_fits(fewer) || (choices.brief && fewer == best))
            return fewer;
        best = fewer;
    }
    choices.micro_batch = samples;
    Plan *kept = attempt(r, choices);
    if (keeps_too_much(kept)) /* none of these would fit */
        return only(r, made, plan_fits(best) ? best : kept);
    if (!may_recompute(r, kept) || (plan_fits(best) && kept->cost >= best->cost))
        return only(r, made, best);
    if (plan_fits(best))
        choices.most_extra = (best->cost - kept->cost) / iterations_of(&kept->program[PROGRAM_TRAIN]) + 1;
    else
        choices.of_use = best->arena;
    return only(r, made, cheaper(with_recomputation(r, choices, kept), best));
}

/* Makes the plan without anything that takes bytes to make a step faster. */
static Plan *with_least(const Request *r, Choices *choices) {
    bool (*roomy)(const Options *options) = r->options->target->has_roomy_kernels;
    choices->prefetch = false;
    choices->little_workspace = roomy != NULL && roomy(r->options);
    choices->packs_in_iterations = true;
    return attempt(r, *choices);
}

/* Makes the plan with everything kept, and with as much of what makes a step faster as fits.  CHOICES tells
 * what that took. */
static Plan *everything_kept(const Request *r, Choices *choices) {
    const int made = r->made->count;
    choices->prefetch = r->options->target->stages && !choices->any_plan;
    Plan *best = attempt(r, *choices);
    if (best != NULL && is_hopeless(best))
        return is_in_vain(best) ? best : only(r, made, smaller(with_least(r, choices), best));
    if (best != NULL && !plan_fits(best) && choices->prefetch) {
        choices->prefetch = false;
        best = only(r, made, attempt(r, *choices));
    }
    bool (*roomy)(const Options *options) = r->options->target->has_roomy_kernels;
    if (best != NULL && !plan_fits(best) && roomy != NULL && roomy(r->options)) {
        choices->little_workspace = true;
        best = only(r, made, smaller(attempt(r, *choices), best));
    }
    if (best != NULL && !plan_fits(best) && !choices->packs_in_iterations) {
        choices->packs_in_iterations = true;
        best = only(r, made, smaller(attempt(r, *choices), best));
    }
    return best;
}

/* Makes the first plan of a search; CHOICES tells its choices.  A brief search with LOOPS begins with one
 * sample at a time, and ends there if that does not fit. */
static Plan *first_plan(const Request *r, Choices *choices, bool loops) {
    if (choices->brief && loops) {
        Choices one = *choices;
        one.micro_batch = 1;
        const int made = r->made->count;
        Plan *fewest = everything_kept(r, &one);
        if (fewest == NULL || !plan_fits(fewest)) {
            one.micro_batch = choices->micro_batch;
            *choices = one;
            return fewest;
        }
        (void)only(r, made, NULL);
    }
    return everything_kept(r, choices);
}

/* Does steps 1 to 4 from CHOICES on; LOOPS: the batch may be cut. */
static Plan *search(const Request *r, Choices choices, bool loops) {
    const bool asked = r->options->target->rings && r->options->bands > 1;
    bool bands = r->options->target->rings && r->options->bands == 0 && choices.band_rows == 0;
    const int made = r->made->count;
    Plan *best = first_plan(r, &choices, loops);
    if (best == NULL || plan_fits(best) || is_in_vain(best) || (must_fit(&choices) && is_hopeless(best)))
        return best;
    const bool trains = best->program[PROGRAM_TRAIN].model != NULL;
    bands &= !r->made->merges;
    loops &= trains && !r->made->sees_batch;
    const int64_t most = best->program[PROGRAM_TRAIN].micro_batch;
    if (loops)
        best = only(r, made, fewer_samples(r, choices, best));
    const int64_t fewest = plan_fits(best) ? best->program[PROGRAM_TRAIN].micro_batch : 1;
    if (bands && !plan_fits(best))
        best = only(r, made, in_bands(r, choices, best));
    if (asked && trains && !plan_fits(best))
        best = only(r, made, in_asked_bands(r, choices, best));
    if (plan_fits(best) ? choices.any_plan : keeps_too_much(best) || choices.only_bands)
        return best;
    return trains ? only(r, made, recompute_in_turns(r, choices, most, loops ? fewest : most, best)) : best;
}

/* ---- prediction of any height ---- */

/* Returns the fewest rows in a band of PROGRAM at which reading all weights once for each band takes little
 * of the time; 0: no such number is known. */
static int64_t rows_at_no_cost(const Program *program) {
    enum { PERCENT = 8, FEWEST = 8, MOST = 64 };
    const Graph *g = program->graph;
    int64_t time = 0, weights = 0, height = 1;
    for (int i = 0; i < g->nnode; i++) {
        const Node *node = &g->node[i];
        if (has_trait(node, TRAIT_OF_RUNTIME) || !has_samples(g, node))
            continue;
        const int64_t rows = rows_at(program, rows_value(g, node), 0);
        height = rows > height ? rows : height;
        time = size_sum(time, program->target->picoseconds(program, node));
        weights = size_sum(weights, shared_bytes(program, node));
    }
    for (int64_t rows = FEWEST; rows <= MOST; rows *= 2) {
        const int64_t bands = iterations(height, rows) + 1,
                      each = work_sum(0, program->target->byte_cost, weights);
        if (work_sum(0, bands, each) <= time / 100 * PERCENT)
            return rows;
    }
    return 0;
}

/* Returns whether training has steps that may run beside others. */
static bool runs_beside(const Plan *plan) {
    const Program *train = &plan->program[PROGRAM_TRAIN];
    for (int i = 0; train->model != NULL && i < train->graph->nnode; i++)
        if (plan->target->kernel[train->graph->node[i].op].beside)
            return true;
    return false;
}

/* Returns PLAN or the same with prediction row by row. */
static Plan *pass_rows(const Request *r, Plan *plan) {
    const Program *predict = &plan->program[PROGRAM_PREDICT];
    Choices choices = as_found(plan);
    if (predict->model == NULL || !passes_rows(predict) || predict->target->picoseconds == NULL ||
        has_bands(predict) || r->options->bands != 0 || choices.any_plan)
        return plan;
    choices.passed_rows = rows_at_no_cost(predict);
    if (choices.passed_rows == 0)
        return plan;
    Plan *passing = attempt(r, choices);
    return passing->arena <= plan->arena && passing->program[PROGRAM_PREDICT].units > 0 ? passing : plan;
}

/* Returns PLAN or the same with branches, if their arena is within the budget, or no larger than without.
 */
static Plan *with_branches(const Request *r, Plan *plan) {
    const int64_t left = plan->budget > plan->arena ? plan->budget - plan->arena : 0;
    Choices choices = as_found(plan);
    choices.branches = true;
    if (r->options->no_branches || choices.any_plan || choices.brief || choices.rough || !plan_fits(plan) ||
        !runs_beside(plan))
        return plan;
    const int made = r->made->count;
    for (choices.branch_bytes = left;; choices.branch_bytes = 0) {
        Plan *forked = attempt(r, choices);
        if (forked->arena <= size_sum(plan->arena, left))
            return forked;
        (void)only(r, made, plan);
        if (choices.branch_bytes == 0)
            return plan;
    }
}

/* Searches with weights that stay packed between images and, if prediction is over the budget so, without.
 */
static Plan *search_all(const Request *r, Choices choices, bool loops) {
    const int made = r->made->count;
    Plan *best = search(r, choices, loops);
    if (best == NULL || plan_fits(best) || !keeps_too_much(best))
        return best;
    choices.packs_once = false;
    choices.packs_in_iterations |= is_hopeless(best);
    return only(r, made, smaller(search(r, choices, loops), best));
}

/* Returns PLAN or, if packed weights alone make prediction need more than training, a plan whose prediction
 * packs weights for each image. */
static Plan *packs_within_training(const Request *r, Plan *plan) {
    const Program *train = &plan->program[PROGRAM_TRAIN], *predict = &plan->program[PROGRAM_PREDICT];
    if (plan->budget > 0 || !plan->choices.packs_once || train->model == NULL || predict->model == NULL ||
        predict->extent <= train->extent)
        return plan;
    const int made = r->made->count;
    Choices choices = as_found(plan);
    choices.packs_once = false;
    return only(r, made, smaller(attempt(r, choices), plan));
}

/* Returns PLAN, which needs a little too much, or a plan that fits.  A search with a budget of next to
 * nothing takes other ways, and a refusal names the bytes that it found as the smallest budget.  So that
 * plan must be found for that budget. */
static Plan *as_for_nothing(const Request *r, const Choices *choices, bool loops, Plan *plan) {
    enum { NOTHING = 1 };
    if (plan_fits(plan) || choices->any_plan || choices->brief || is_far_over(plan->arena, plan->budget))
        return plan;
    Options *options = NEW(r->pool, Options);
    Request other = *r;
    *options = *r->options;
    options->budget = NOTHING;
    other.options = options;
    const int made = r->made->count;
    Choices bare = *choices;
    bare.packs_once = false;
    const Plan *least = search(&other, bare, loops);
    if (least->arena > plan->budget)
        return only(r, made, plan);
    Plan *same = attempt(r, as_found(least));
    return only(r, made, plan_fits(same) ? same : plan);
}

/* Returns BEST or a plan of whole batches that costs next to nothing more than everything kept. */
static Plan *with_nearly_free(const Request *r, Choices choices, Plan *best) {
    const Program *train = &best->program[PROGRAM_TRAIN];
    if (best->budget == 0)
        return nearly_free(r, best, best);
    if (is_hopeless(best) || must_fit(&choices) || (!plan_fits(best) && train->micro_batch < train->batch))
        return best;
    choices.packs_once = best->choices.packs_once;
    choices.stages_floats = best->choices.stages_floats;
    return nearly_free(r, attempt(r, choices), best);
}

/* Returns PLAN or, if its copies of pictures alone are too much, a plan without copies that fits: the ring
 * has pictures in f32 then. */
static Plan *with_floats(const Request *r, Choices choices, bool loops, Plan *plan) {
    if (plan_fits(plan) || choices.any_plan || choices.brief || plan->arena - plan->budget > plan->copied)
        return plan;
    choices.stages_floats = true;
    const int made = r->made->count;
    Plan *floats = as_for_nothing(r, &choices, loops, search_all(r, choices, loops));
    return only(r, made, smaller(plan, floats));
}

Plan *plan_file(Pool *pool, Diag *diag, const Ast *file, const LowerOptions *lower_options,
                const Options *options, const Choices *fixed) {
    const Request r = {.pool = pool,
                       .made = &(Made){.count = 0},
                       .diag = diag,
                       .file = file,
                       .lower = lower_options,
                       .options = options};
    const bool loops = options->micro_batches == 0 && !fixed->any_plan && fixed->micro_batch == 0;
    Choices choices = *fixed;
    if (options->micro_batches == 0 && fixed->any_plan && fixed->micro_batch == 0)
        choices.micro_batch = 1;
    choices.packs_once = options->target->packs_once && !fixed->any_plan;
    choices.packs_in_iterations = fixed->any_plan;
    Plan *best = search_all(&r, choices, loops);
    if (best == NULL)
        return NULL;
    best = only(&r, 0, as_for_nothing(&r, &choices, loops, best));
    best = only(&r, 0, with_floats(&r, choices, loops, best));
    best = only(&r, 0, made_whole(&r, with_nearly_free(&r, choices, best)));
    best = only(&r, 0, made_whole(&r, packs_within_training(&r, best)));
    best = only(&r, 0, made_whole(&r, pass_rows(&r, best)));
    return only(&r, 0, made_whole(&r, with_branches(&r, best)));
}

/* Returns PLAN or the same with evaluation, if there is room for it. */
static Plan *with_evaluation(const Request *r, Plan *plan) {
    if (!plan_fits(plan) || plan->program[PROGRAM_EVAL].model != NULL || !r->options->wanted[PROGRAM_EVAL])
        return plan;
    Plan *more = attempt(r, as_packed(plan));
    const bool has_room = more != NULL && plan_fits(more) && more->program[PROGRAM_EVAL].model != NULL &&
                          more->arena <= plan->arena && more->beside <= plan->beside;
    if (!has_room)
        return only(r, 0, plan);
    pool_free(plan->pool);
    return more;
}

Plan *plan_all(Pool *pool, Diag *diag, const Ast *file, const LowerOptions *lower_options,
               const Options *options) {
    const Request r = {.pool = pool,
                       .made = &(Made){.count = 0},
                       .diag = diag_quiet(pool),
                       .file = file,
                       .lower = lower_options,
                       .options = options,
                       .measures = true};
    Plan *plan = plan_file(pool, diag, file, lower_options, options, &(Choices){0});
    if (plan == NULL)
        return NULL;
    plan = with_evaluation(&r, plan);
    judge_plan(plan);
    return plan;
}
