/* advice.c - proposals for a plan that does not fit, and the plans that a report compares.
 *
 * Every proposal was planned, so it fits.  Its numbers are exact, except for plans with much recomputation:
 * they come from a shortened search, so the extra work is approximate.  Options that leave the result as it
 * is come first, then another precision, a smaller batch, a smaller size.  If none leaves network and size
 * as they are, pairs of options are proposed, too, and codes for activations and the optimizer's state.  If
 * nothing helps, the smallest budget that would do is told, and then a narrower network.  Proposals do not
 * depend on each other, so threads work them out.
 */
#include "search/advice.h"
#include "base/size_math.h"
#include "ir/ops.h"
#include "ir/target.h"
#include "base/threads.h"

#include <limits.h>

/* ---- options: each function returns whether its option makes a difference ---- */

/* Withdraws the options that cost memory and change no bit of the result. */

static bool allow_loops(Options *options) {
    bool changed = options->micro_batches != 0;
    options->micro_batches = 0;
    return changed;
}

static bool allow_bands(Options *options) {
    bool changed = options->target->rings && options->bands != 0;
    options->bands = 0;
    return changed;
}

static bool allow_recomputation(Options *options) {
    bool changed = options->no_recompute;
    options->no_recompute = false;
    return changed;
}

static bool allow_reuse(Options *options) {
    bool changed = options->no_reuse;
    options->no_reuse = false;
    return changed;
}

static bool take_gradients_early(Options *options) {
    bool changed = options->keep_gradients;
    options->keep_gradients = false;
    return changed;
}

/* Winograd's method, where the target has it, has four times as many weights, and trains whole images. */
static bool convolve_directly(Options *options) {
    Options other = *options;
    other.conv = CONV_WINOGRAD;
    bool changed = options->conv != CONV_DIRECT && !options->reference &&
                   options->target->refuses(&other, false) == NULL;
    options->conv = CONV_DIRECT;
    return changed;
}

static bool store_halves(Options *options) {
    bool changed = options->stored == TYPE_F32 && !options->reference;
    options->stored = TYPE_BF16;
    options->tf32 = false;
    return changed;
}

static bool stage_bytes(Options *options) {
    bool changed = options->target->stages_bytes && options->staging != STAGING_U8;
    options->staging = STAGING_U8;
    return changed;
}

typedef struct {
    const char *text;
    bool (*change)(Options *options);
    bool rounds; /* the result is another one */
} Change;

static const Change freedom[] = {{.text = "--micro-batches=auto", .change = allow_loops},
                                 {.text = "--bands=auto", .change = allow_bands},
                                 {.text = "without --no-recompute", .change = allow_recomputation},
                                 {.text = "without --no-reuse", .change = allow_reuse},
                                 {.text = "without --keep-gradients", .change = take_gradients_early}};
enum { FREEDOMS = sizeof freedom / sizeof *freedom };

static const Change bands = {.text = "--bands=auto", .change = allow_bands},
                    direct = {.text = "--conv=direct", .change = convolve_directly},
                    halves = {.text = "--precision=bf16", .change = store_halves, .rounds = true},
                    bytes = {.text = "--staging=u8", .change = stage_bytes};

/* ---- ideas ---- */

/* A candidate for a proposal: options, and perhaps a batch, a size or a width to be found. */
typedef struct Idea Idea;
struct Idea {
    FitQuestion question;
    FitTrial refused;         /* the plan that does not fit */
    const char *text;         /* of the options that were changed */
    bool (*find)(Idea *idea); /* returns whether something fits, which is then BEST */
    const char *width;        /* the name of a `let` */
    int64_t value;            /*   and its value, which was changed or is to be */
    bool other_norm, rounds;
    FitTrial best, cheaper;
    bool fits, has_cheaper;
};

typedef struct {
    Pool *pool;
    FitQuestion question;
    FitTrial refused;
    bool freely;        /* with all freedoms */
    bool whole_batch;   /* an operator sees all samples, so there is no loop over them */
    bool narrower_only; /* parameters, gradients and state alone exceed the budget */
    bool is_refused;    /* by the target, whatever the budget */
    int64_t width_of_image;
    const char *width; /* or NULL */
    int64_t value;
    Idea *idea;
    int count;
    int at_once; /* so many are worked out at once: each has a plan, which of a large net takes much */
} Ideas;

static bool find_nothing_more(Idea *idea) {
    return fit_as_asked(&idea->question, &idea->best);
}

static bool find_batch(Idea *idea) {
    return fit_smaller_batch(&idea->question, &idea->refused, &idea->best);
}

/* The largest; and one that costs less, if that one costs much. */
static bool find_size(Idea *idea) {
    static const double much = 26; /* per cent: where compiler/README.md draws the line, too */
    const bool fits = fit_smaller_size(&idea->question, &idea->refused, &idea->best);
    idea->has_cheaper = fits && fit_extra_work(&idea->best) > much &&
                        fit_cheaper_size(&idea->question, &idea->best, much, &idea->cheaper);
    return fits;
}

static bool find_width(Idea *idea) {
    Pool *pool = pool_new();
    const bool fits =
        fit_smaller_width(pool, &idea->question, idea->width, idea->value, &idea->refused, &idea->best);
    idea->value = idea->best.candidate;
    pool_free(pool);
    return fits;
}

static void *work_out(void *item) {
    Idea *idea = item;
    idea->fits = idea->find(idea);
    return NULL;
}

static const char *joined(Pool *pool, const char *text, const char *more) {
    return *text == '\0' || *more == '\0' ? pool_text(pool, "%s%s", text, more)
                                          : pool_text(pool, "%s and %s", text, more);
}

/* Returns whether that makes a difference. */
static bool apply(Pool *pool, Idea *idea, const Change *change) {
    if (!change->change(&idea->question.options))
        return false;
    idea->text = joined(pool, idea->text, change->text);
    idea->rounds |= change->rounds;
    return true;
}

static Idea idea_of(const Ideas *all, bool (*find)(Idea *idea)) {
    Idea idea = {.question = all->question, .refused = all->refused, .text = "", .find = find};
    for (int k = 0; k < FREEDOMS && all->freely; k++)
        (void)apply(all->pool, &idea, &freedom[k]);
    return idea;
}

/* With one change, or with two; left out where one of them makes no difference. */
static void add(Ideas *all, const Change *first, const Change *second, bool (*find)(Idea *idea)) {
    Idea idea = idea_of(all, find);
    if ((first == NULL || apply(all->pool, &idea, first)) &&
        (second == NULL || apply(all->pool, &idea, second)))
        PUSH(all->pool, all->idea, all->count, idea);
}

/* ---- the ideas, in the order in which they are told ---- */

/* Returns whether a smaller batch may help.  It does not if the compiler may cut the batch, for then it has
 * tried one sample at a time. */
static bool batch_matters(const Ideas *all) {
    const bool loops = all->question.options.micro_batches == 0 && !all->whole_batch;
    return !all->freely && !loops && all->refused.batch > 1;
}

static void add_narrower(Ideas *all) {
    Idea idea = idea_of(all, find_width);
    idea.width = all->width;
    idea.value = all->value;
    if (all->width != NULL)
        PUSH(all->pool, all->idea, all->count, idea);
}

static void add_single_ideas(Ideas *all) {
    add(all, &direct, NULL, find_nothing_more);
    add(all, &bands, &direct, find_nothing_more);
    add(all, &halves, NULL, find_nothing_more);
    add(all, &bytes, NULL, find_nothing_more);
    if (batch_matters(all))
        add(all, NULL, NULL, find_batch);
    add(all, NULL, NULL, find_size);
}

/* ---- from ideas to proposals ---- */

/* Returns whether another idea proposes a larger size at no more cost. */
static bool has_better(const Advice *a, const Idea *idea, const FitTrial *trial) {
    for (int i = 0; i < a->count && idea->width == NULL; i++) {
        const Proposal *p = &a->proposal[i];
        if (p->smaller && !p->other && p->trial.size[AXES - 1] >= trial->size[AXES - 1] &&
            fit_extra_work(&p->trial) <= fit_extra_work(trial) + 1)
            return true;
    }
    return false;
}

static void propose(Advice *a, const Idea *idea, const FitTrial *trial) {
    const char *text = idea->text;
    if (idea->width != NULL)
        text = joined(a->pool, text, pool_text(a->pool, "-D %s=%lld", idea->width, (long long)idea->value));
    if (idea->find == find_batch)
        text = joined(a->pool, text, pool_text(a->pool, "--batch=%lld", (long long)trial->batch));
    if (idea->find == find_size)
        text = joined(a->pool, text, pool_text(a->pool, "--size=%s", fit_size_text(a->pool, trial->size)));
    if (a->count < MAX_PROPOSALS && !(idea->find == find_size && has_better(a, idea, trial)))
        a->proposal[a->count++] = (Proposal){.text = text,
                                             .trial = *trial,
                                             .rounds = idea->rounds,
                                             .other = idea->width != NULL || idea->other_norm,
                                             .smaller = idea->find == find_size,
                                             .fewer = idea->find == find_batch};
}

/* Is there a proposal that trains the same network on the same samples? */
static bool has_same_training(const Advice *a) {
    for (int i = 0; i < a->count; i++)
        if (!a->proposal[i].other && !a->proposal[i].smaller && !a->proposal[i].fewer)
            return true;
    return false;
}

/* Is there one that trains it to the same result? */
static bool has_same_result(const Advice *a) {
    for (int i = 0; i < a->count; i++)
        if (!a->proposal[i].other && !a->proposal[i].smaller && !a->proposal[i].fewer &&
            !a->proposal[i].rounds)
            return true;
    return false;
}

/* Works out all ideas, proposes each that fits, and empties the list. */
static void propose_all(Advice *a, Ideas *all) {
    in_threads(work_out, all->idea, sizeof *all->idea, all->count, all->at_once);
    for (int i = 0; i < all->count; i++) {
        const Idea *idea = &all->idea[i];
        if (idea->fits)
            propose(a, idea, &idea->best);
        else if (idea->find == find_size && *idea->text == '\0' && idea->width == NULL)
            a->quarter = idea->best;
        if (idea->has_cheaper)
            propose(a, idea, &idea->cheaper);
    }
    all->idea = NULL;
    all->count = 0;
}

/* Each freedom alone, or, where that is not enough, all of them; returns whether there are any. */
static bool propose_freedoms(Advice *a, Ideas *all) {
    for (int k = 0; k < FREEDOMS; k++)
        add(all, &freedom[k], NULL, find_nothing_more);
    const int possible = all->count;
    propose_all(a, all);
    if (a->count == 0 && possible > 1) {
        all->freely = true;
        add(all, NULL, NULL, find_nothing_more);
        propose_all(a, all);
        all->freely = false;
    }
    return possible > 0;
}

static void propose_singles(Advice *a, Ideas *all) {
    add_single_ideas(all);
    propose_all(a, all);
}

static void propose_narrower(Advice *a, Ideas *all) {
    add_narrower(all);
    propose_all(a, all);
}

/* Without statistics of the whole batch. */
static void propose_other_norms(Advice *a, Ideas *all, const Plan *plan) {
    const OtherNorms norms = other_norms(a->pool, plan, &all->question);
    for (int i = 0; i < norms.count; i++) {
        Idea idea = {.question = norms.way[i].question,
                     .refused = all->refused,
                     .text = norms.way[i].option,
                     .find = find_nothing_more,
                     .other_norm = true};
        PUSH(all->pool, all->idea, all->count, idea);
    }
    propose_all(a, all);
}

/* Activations or the optimiser's state in codes of 8 bits, or both. */
static void add_codes(Ideas *all, const TrainSection *train, bool activations, bool state) {
    enum { BITS = 8 };
    Idea idea = idea_of(all, find_nothing_more);
    if ((activations && train->compress > 0) || (state && train->codes_state))
        return;
    idea.rounds = true;
    idea.text = !state ? "--compress=8" : !activations ? "--state=8" : "--compress=8 and --state=8";
    if (activations)
        idea.question.lower.compress = BITS;
    if (state)
        idea.question.lower.state = BITS;
    PUSH(all->pool, all->idea, all->count, idea);
}

static void propose_codes(Advice *a, Ideas *all, const Plan *plan) {
    const Model *train = plan->program[PROGRAM_TRAIN].model;
    const int before = a->count;
    if (train == NULL)
        return;
    add_codes(all, &train->train, true, false);
    add_codes(all, &train->train, false, true);
    propose_all(a, all);
    if (a->count == before) {
        add_codes(all, &train->train, true, true);
        propose_all(a, all);
    }
}

/* Is there a proposal that leaves the network as it is, and the images, or half of their extents? */
static bool has_proposal(const Advice *a, const Ideas *all, bool of_half) {
    for (int i = 0; i < a->count; i++) {
        const Proposal *p = &a->proposal[i];
        if (!p->other && (!p->smaller || (of_half && 2 * p->trial.size[AXES - 1] >= all->width_of_image)))
            return true;
    }
    return false;
}

/* With all freedoms, but where the batch is smaller: with them, that would be no help.  Sizes come where
 * nothing else helps, and none of half the extents is known. */
static void propose_pairs(Advice *a, Ideas *all) {
    if (batch_matters(all))
        add(all, &halves, NULL, find_batch);
    all->freely = true;
    add(all, &direct, &halves, find_nothing_more);
    propose_all(a, all);
    if (has_proposal(a, all, true))
        return;
    add(all, &halves, NULL, find_size);
    add(all, &direct, NULL, find_size);
    propose_all(a, all);
}

/* ---- the smallest budget ---- */

/* The planner, given next to nothing, returns the smallest plan it comes upon; whether it finds one that
 * small when asked for it is another question, so that is asked too. */
static FitTrial small_trial(FitQuestion *q) {
    enum { TRIES = 6 };
    FitQuestion any = *q;
    any.options.budget = 1;
    FitTrial trial = fit_try(&any);
    any.fixed.any_plan = true;
    for (int i = 0; i < TRIES && !trial.fits; i++) {
        any.options.budget = trial.arena;
        trial = fit_try(&any);
    }
    return trial;
}

/* A budget that can be met is searched for otherwise than one that cannot, and so a smaller plan may be
 * found under a budget below the smallest that is known.  Halves the distance to a budget that is not met.
 */
static FitTrial smallest(const Plan *plan, const FitQuestion *asked) {
    enum { TRIES = 5, CLOSE = 16 };
    FitQuestion q = *asked;
    bool changed = false;
    for (int k = 0; k < FREEDOMS; k++)
        changed |= freedom[k].change(&q.options);
    FitTrial best = changed ? small_trial(&q) : (FitTrial){0};
    int64_t fits = best.fits && best.arena < plan->arena ? best.arena : plan->arena;
    int64_t fails = plan->budget > plan->fixed ? plan->budget : plan->fixed;
    for (int i = 0; i < TRIES && fits < INT64_MAX && fits - fails > fits / CLOSE; i++) {
        q.options.budget = fails + (fits - fails) / 2;
        const FitTrial trial = fit_try(&q);
        if (trial.fits) {
            best = trial;
            fits = trial.arena;
        } else {
            fails = q.options.budget;
        }
    }
    return best;
}

/* ---- what ends bands of rows ---- */

/* Asked of a plan in bands, which has other kernels; any budget will do. */
static SweepEnd end_of_bands(Pool *pool, const Plan *plan, const FitQuestion *asked) {
    Options *options = NEW(pool, Options);
    *options = asked->options;
    if (options->bands == 1 || !options->target->rings || plan->refusal != NULL)
        return (SweepEnd){.name = ""};
    if (has_bands(program_of(plan, 0)))
        return sweep_end(plan);
    options->bands = 2;
    options->budget = INT64_MAX - 1;
    options->no_branches = true;
    const Plan *other =
        plan_file(pool, diag_quiet(pool), asked->file, &asked->lower, options, &asked->fixed);
    return other == NULL ? (SweepEnd){.name = ""} : sweep_end(other);
}

/* ---- all of it ---- */

static Ideas ideas_for(Pool *pool, const Plan *plan, const FitQuestion *asked) {
    const Program *train = &plan->program[PROGRAM_TRAIN];
    Ideas all = {
        .pool = pool, .question = *asked, .refused = {.legal = true, .arena = plan->arena, .batch = 1}};
    all.question.options.budget = plan->budget; /* which may be the file's own */
    if (train->model != NULL) {
        all.refused.batch = asked_batch(train);
        all.whole_batch = whole_batch_node(train->graph) != NULL;
    }
    all.width = fit_width(pool, asked, &all.value);
    const Graph *g = program_of(plan, 0)->graph;
    all.width_of_image = shape_extent(g->value[plan->model->input[0].value].shape, AXES - 1);
    return all;
}

/* For the network as it is. */
static void propose_for_network(Advice *a, Ideas *all) {
    const bool restricted = propose_freedoms(a, all);
    propose_singles(a, all);
    if (a->count == 0 && restricted) {
        all->freely = true;
        propose_singles(a, all);
        all->freely = false;
    }
    if (!has_proposal(a, all, false))
        propose_pairs(a, all);
    all->freely = false;
}

/* Another network comes last.  A narrower one comes only where nothing else helps, behind the smallest
 * budget, which most people would rather have. */
static void propose_what_fits(Advice *a, Ideas *all, const Plan *plan) {
    if (!all->narrower_only)
        propose_for_network(a, all);
    if (!all->narrower_only && !has_same_training(a))
        propose_other_norms(a, all, plan);
    if (!has_same_result(a))
        propose_codes(a, all, plan);
    a->only_more = a->count == 0;
    if (!a->only_more)
        return;
    if (!all->is_refused)
        a->smallest = smallest(plan, &all->question);
    propose_narrower(a, all);
}

/* One half of the advice. */
typedef struct {
    Advice *advice;
    Ideas *ideas; /* what fits is proposed; NULL: what ends bands is looked for */
    const Plan *plan;
    const FitQuestion *asked;
} Half;

static void *work_out_half(void *item) {
    Half *half = item;
    if (half->ideas != NULL) {
        propose_what_fits(half->advice, half->ideas, half->plan);
        return NULL;
    }
    Pool *pool = pool_new();
    half->advice->ends = end_of_bands(pool, half->plan, half->asked);
    pool_free(pool);
    return NULL;
}

Advice advise(Pool *pool, const Plan *plan, const FitQuestion *asked) {
    Advice a = {.pool = pool};
    FitQuestion soon = *asked; /* a refusal is not waited for long */
    soon.options.effort = 0;
    Ideas all = ideas_for(pool, plan, &soon);
    all.narrower_only = plan->budget > 0 && plan->fixed > plan->budget;
    all.is_refused = plan->refusal != NULL;
    all.at_once = plan_is_large(plan) ? 1 : INT_MAX;
    Half half[] = {{&a, &all, plan, &soon}, {&a, NULL, plan, &soon}};
    in_threads(work_out_half, half, sizeof *half, sizeof half / sizeof *half, all.at_once);
    return a;
}

/* ---- comparisons ---- */

/* The question of a plan that is in all else as PLAN, whatever it takes. */
static FitQuestion without_budget(const FitQuestion *asked, const Plan *plan) {
    FitQuestion q = *asked;
    q.options.budget = INT64_MAX - 1;
    q.fixed.micro_batch = plan->program[PROGRAM_TRAIN].micro_batch;
    q.fixed.little_workspace = plan->choices.little_workspace;
    q.fixed.rough = !plan_fits(plan);
    return q;
}

Comparison compare(Pool *pool, const Plan *plan, const FitQuestion *asked) {
    const Program *train = &plan->program[PROGRAM_TRAIN];
    Comparison c = {.without_recomputation = plan->arena,
                    .without_bands = -1,
                    .eager = -1,
                    .ends = end_of_bands(pool, plan, asked)};
    if (has_bands(program_of(plan, 0))) {
        FitQuestion q = without_budget(asked, plan);
        q.options.bands = 1;
        c.without_bands = fit_try(&q).arena;
    }
    if (train->model == NULL)
        return c;
    if (plan->recompute_flops > 0) {
        FitQuestion q = without_budget(asked, plan);
        q.options.no_recompute = true;
        c.without_recomputation = fit_try(&q).arena;
    }
    if (plan_fits(plan)) { /* else advise() proposes them */
        c.norms = other_norms(pool, plan, asked);
        try_other_norms(&c.norms, plan);
    }
    const Model *model = lower(pool, diag_quiet(pool), asked->file, &asked->lower);
    if (model != NULL)
        c.eager = eager_bytes(model, plan->options->stored);
    return c;
}
