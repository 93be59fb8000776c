/* advice.c - what to do about a plan: what would fit where it does not, and what it is compared with.
 *
 * Every proposal was planned, so its numbers are those that the option will give: first what leaves the
 * result as it is, then what rounds otherwise, a smaller batch, a smaller size, and a narrower network.
 * Where nothing helps, the smallest budgets that would do.
 */
#include "search/advice.h"
#include "ir/target.h"

/* ---- what would fit ---- */

static void propose(Advice *p, const char *text, const FitTrial *trial) {
    if (trial->fits && p->count < MAX_PROPOSALS)
        p->proposal[p->count++] = (Proposal){text, *trial};
}

/* ---- options that cost memory and change no bit of the result ---- */

static bool allow_loops(Options *options) {
    bool changed = options->micro_batches != 0;
    options->micro_batches = 0;
    return changed;
}

static bool allow_reuse(Options *options) {
    bool changed = options->no_reuse;
    options->no_reuse = false;
    return changed;
}

static bool allow_recomputation(Options *options) {
    bool changed = options->no_recompute;
    options->no_recompute = false;
    return changed;
}

static const struct {
    const char *text;
    bool (*allow)(Options *options); /* returns whether that makes a difference */
} freedom[] = {{"--micro-batches=auto", allow_loops},
               {"without --no-recompute", allow_recomputation},
               {"without --no-reuse", allow_reuse}};
enum { FREEDOMS = sizeof freedom / sizeof *freedom };

/* Each alone, or, where that is not enough, all of them. */
static void propose_freedoms(Advice *p, const FitQuestion *asked) {
    FitQuestion all = *asked;
    const char *text = "";
    int changed = 0;
    for (int k = 0; k < FREEDOMS; k++) {
        FitQuestion one = *asked;
        if (!freedom[k].allow(&one.options))
            continue;
        freedom[k].allow(&all.options);
        text = pool_text(p->pool, "%s%s%s", text, changed++ > 0 ? " and " : "", freedom[k].text);
        FitTrial trial = fit_try(&one);
        propose(p, freedom[k].text, &trial);
    }
    if (p->count == 0 && changed > 1) {
        FitTrial trial = fit_try(&all);
        propose(p, text, &trial);
    }
}

/* ---- weights as they are, tensors of fewer bits ---- */

/* Winograd's method has four times as many weights. */
static void propose_direct(Advice *p, const FitQuestion *asked) {
    FitQuestion q = *asked;
    if (q.options.conv == CONV_DIRECT || q.options.reference)
        return;
    q.options.conv = CONV_DIRECT;
    const FitTrial trial = fit_try(&q);
    propose(p, "--conv=direct", &trial);
}

static void propose_precision(Advice *p, const FitQuestion *asked) {
    FitQuestion q = *asked;
    const Options *plan = &asked->options;
    if (plan->stored == TYPE_F32 && !plan->reference) {
        q.options.stored = TYPE_BF16;
        q.options.tf32 = false;
        FitTrial trial = fit_try(&q);
        propose(p, "--precision=bf16", &trial);
    }
    q = *asked;
    if (plan->target->stages_bytes && plan->staged != TYPE_UNORM8) {
        q.options.staged = TYPE_UNORM8;
        FitTrial trial = fit_try(&q);
        propose(p, "--staging=u8", &trial);
    }
}

/* ---- smaller batches and sizes ---- */

static void propose_smaller(Advice *p, const FitQuestion *asked, const FitTrial *now) {
    FitTrial best;
    if (now->batch > 1 && fit_largest_batch(asked, NULL, &best, NULL) && best.batch < now->batch)
        propose(p, pool_text(p->pool, "--batch=%lld", (long long)best.batch), &best);
    if (fit_largest_size(asked, NULL, &best, NULL))
        propose(p, pool_text(p->pool, "--size=%s", fit_size_text(p->pool, best.size)), &best);
    const char *name;
    if (fit_smaller_width(p->pool, asked, &name, &best))
        propose(p, pool_text(p->pool, "-D %s=%lld", name, (long long)best.candidate), &best);
}

/* ---- the smallest budgets ---- */

/* The planner, given next to nothing, returns the smallest plan it comes upon; whether it finds one that
 * small when asked for it is another question, so that is asked too. */
static FitTrial smallest(const FitQuestion *asked, int64_t batch) {
    enum { TRIES = 6 };
    FitQuestion q = *asked;
    q.options.budget = 1;
    if (batch > 0)
        q.lower.batch = batch;
    for (int k = 0; k < FREEDOMS; k++)
        freedom[k].allow(&q.options);
    FitTrial trial = fit_try(&q);
    q.fixed.any_plan = true;
    for (int i = 0; i < TRIES && !trial.fits; i++) {
        q.options.budget = trial.arena;
        trial = fit_try(&q);
    }
    return trial;
}

/* ---- all of it ---- */

Advice advise(Pool *pool, const Plan *plan, const FitQuestion *asked) {
    Advice a = {.pool = pool};
    FitQuestion q = *asked;
    q.options.budget = plan->budget; /* which may be the file's own */
    const Program *train = &plan->program[PROGRAM_TRAIN];
    const FitTrial now = {.batch = train->model == NULL ? 1 : train->batch};
    propose_freedoms(&a, &q);
    propose_direct(&a, &q);
    propose_precision(&a, &q);
    propose_smaller(&a, &q, &now);
    if (a.count == 0 && plan->refusal == NULL) {
        a.smallest = smallest(asked, 0);
        a.smallest_of_one = smallest(asked, 1);
    }
    return a;
}

/* ---- comparisons ---- */

/* Bytes of the arena of the plan that answers Q and that is in all else as PLAN. */
static int64_t everything_kept(FitQuestion *q, const Plan *plan) {
    q->options.budget = INT64_MAX - 1;
    q->fixed.micro_batch = plan->program[PROGRAM_TRAIN].micro_batch;
    q->fixed.little_workspace = plan->choices.little_workspace;
    return fit_try(q).arena;
}

Comparison compare(Pool *pool, const Plan *plan, const FitQuestion *asked) {
    const Program *train = &plan->program[PROGRAM_TRAIN];
    Comparison c = {.without_recomputation = plan->arena, .without_bands = -1, .eager = -1};
    if (has_bands(program_of(plan, 0))) {
        FitQuestion q = *asked;
        q.options.bands = 1;
        c.without_bands = everything_kept(&q, plan);
    }
    if (train->model == NULL)
        return c;
    if (plan->recompute_flops > 0) {
        FitQuestion q = *asked;
        q.options.no_recompute = true;
        c.without_recomputation = everything_kept(&q, plan);
    }
    const Model *model = lower(pool, diag_quiet(pool), asked->file, &asked->lower);
    if (model != NULL)
        c.eager = eager_bytes(model, plan->options->stored);
    return c;
}
