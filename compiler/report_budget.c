/* report_budget.c - what is said when a plan is over its budget: the lines alive at the peak, and what
 * would fit.
 *
 * Every proposal was planned, so its numbers are those that the option will give: first what leaves the
 * result as it is, then tensors of fewer bits, a smaller batch, a smaller size, and a narrower network.
 * Where nothing helps, the smallest budgets that would do.
 */
#include "ops.h"
#include "report.h"

/* ---- what would fit ---- */

typedef struct {
    const char *text; /* as one would type it */
    FitTrial trial;
} Proposal;

enum { MOST_PROPOSALS = 8 };

typedef struct {
    Pool *pool;
    Proposal item[MOST_PROPOSALS];
    int count;
} Proposals;

static void propose(Proposals *p, const char *text, const FitTrial *trial) {
    if (trial->fits && p->count < MOST_PROPOSALS)
        p->item[p->count++] = (Proposal){text, *trial};
}

/* ---- options that cost memory and change no bit of the result ---- */

static bool allow_loops(PlanOptions *options) {
    bool changed = options->micro_batches != 0;
    options->micro_batches = 0;
    return changed;
}

static bool allow_reuse(PlanOptions *options) {
    bool changed = options->no_reuse;
    options->no_reuse = false;
    return changed;
}

static bool allow_recomputation(PlanOptions *options) {
    bool changed = options->no_recompute;
    options->no_recompute = false;
    return changed;
}

static const struct {
    const char *text;
    bool (*allow)(PlanOptions *options); /* returns whether that makes a difference */
} freedom[] = {{"--micro-batches=auto", allow_loops},
               {"no --no-recompute", allow_recomputation},
               {"no --no-reuse", allow_reuse}};
enum { FREEDOMS = sizeof freedom / sizeof *freedom };

/* Each alone, or, where that is not enough, all of them. */
static void propose_freedoms(Proposals *p, const FitQuestion *asked) {
    FitQuestion all = *asked;
    const char *text = "";
    int changed = 0;
    for (int k = 0; k < FREEDOMS; k++) {
        FitQuestion one = *asked;
        if (!freedom[k].allow(&one.plan))
            continue;
        freedom[k].allow(&all.plan);
        text = pool_text(p->pool, "%s%s%s", text, changed++ > 0 ? " and " : "", freedom[k].text);
        FitTrial trial = fit_try(&one);
        propose(p, freedom[k].text, &trial);
    }
    if (p->count == 0 && changed > 1) {
        FitTrial trial = fit_try(&all);
        propose(p, text, &trial);
    }
}

/* ---- tensors of fewer bits ---- */

static void propose_precision(Proposals *p, const FitQuestion *asked) {
    FitQuestion q = *asked;
    const PlanOptions *plan = &asked->plan;
    if (plan->stored == TYPE_F32 && !plan->reference) {
        q.plan.stored = TYPE_BF16;
        q.plan.tf32 = false;
        FitTrial trial = fit_try(&q);
        propose(p, "--precision=bf16", &trial);
    }
    q = *asked;
    if (plan->target == &target_cuda && plan->staged != TYPE_UNORM8) {
        q.plan.staged = TYPE_UNORM8;
        FitTrial trial = fit_try(&q);
        propose(p, "--staging=u8", &trial);
    }
}

/* ---- smaller batches and sizes ---- */

static void propose_smaller(Proposals *p, const FitQuestion *asked, const FitTrial *now) {
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
    q.plan.budget = 1;
    if (batch > 0)
        q.lower.batch = batch;
    for (int k = 0; k < FREEDOMS; k++)
        freedom[k].allow(&q.plan);
    FitTrial trial = fit_try(&q);
    q.plan.any_plan = true;
    for (int i = 0; i < TRIES && !trial.fits; i++) {
        q.plan.budget = trial.arena;
        trial = fit_try(&q);
    }
    return trial;
}

static void help_with_budgets(const Plan *plan, const FitQuestion *asked, Diag *diag) {
    FitTrial now = smallest(asked, 0), one = smallest(asked, 1);
    if (now.fits)
        diag_help(diag, "the smallest budget for this file is `--mem=%lld`, %s", (long long)now.arena,
                  human_bytes(plan->pool, now.arena));
    if (one.fits && one.arena < now.arena)
        diag_help(diag, "at `--batch=1` it is `--mem=%lld`, %s", (long long)one.arena,
                  human_bytes(plan->pool, one.arena));
}

static Proposals what_would_fit(const Plan *plan, const FitQuestion *asked) {
    Proposals p = {.pool = plan->pool};
    FitQuestion q = *asked;
    q.plan.budget = plan->options->budget; /* which may be the file's own */
    if (q.plan.budget > FIT_MOST_BUDGET)
        return p;
    const Program *train = &plan->program[PROGRAM_TRAIN];
    const FitTrial now = {.batch = train->model == NULL ? 1 : train->batch};
    propose_freedoms(&p, &q);
    propose_precision(&p, &q);
    propose_smaller(&p, &q, &now);
    return p;
}

static void help_with_proposals(const Proposals *p, Diag *diag) {
    for (int i = 0; i < p->count; i++) {
        const FitTrial *t = &p->item[i].trial;
        double extra = 100.0 * (double)t->recompute_flops / (double)(t->flops + !t->flops);
        diag_help(diag, "%s: %s, %+.1f %% work", p->item[i].text, human_bytes(p->pool, t->arena), extra);
    }
}

/* ---- the diagnostic ---- */

static void point_at_peak(const Plan *plan, const Program *program, Diag *diag) {
    LineBytes *line;
    int n = lines_at_peak(plan, program, &line);
    if (n > 0)
        diag_label(diag, "%s of the peak", human_bytes(plan->pool, line[0].bytes));
    if (n > 1)
        diag_also(diag, line[1].place, "%s of the peak", human_bytes(plan->pool, line[1].bytes));
    if (program->kind == PROGRAM_TRAIN && plan->model->train.batch_place.line > 0)
        diag_also(diag, plan->model->train.batch_place, "every activation scales with this");
    diag_note(diag, "the peak is step %d of %d: %s of `%s`", program->peak,
              step_count(program->step, program->nstep), op_table[peak_node(program)->op].name,
              peak_node(program)->name);
    for (int i = 2; i < n && i < 5; i++)
        diag_note(diag, "line %d holds %s of it: `%.60s`", line[i].place.line,
                  human_bytes(plan->pool, line[i].bytes), source_line(plan, line[i].place.line));
    diag_note(diag, "parameters and optimiser state take %s", human_bytes(plan->pool, plan->persistent));
}

bool report_over_budget(const Plan *plan, const FitQuestion *question, Diag *diag) {
    static const char *const doing[PROGRAMS] = {"training", "evaluation", "prediction"};
    if (plan_fits(plan))
        return false;
    const Program *program = largest_program(plan);
    const Proposals proposals = what_would_fit(plan, question);
    LineBytes *line;
    int n = lines_at_peak(plan, program, &line);
    Place first = n > 0 ? line[0].place : (Place){1, 1, 1};
    diag_begin(diag, ERROR, proposals.count > 0 ? "U0701" : "U0702", first, "%s needs %s, the budget is %s",
               doing[program->kind], human_bytes(plan->pool, plan->arena),
               human_bytes(plan->pool, plan->options->budget));
    point_at_peak(plan, program, diag);
    if (proposals.count > 0)
        help_with_proposals(&proposals, diag);
    else
        help_with_budgets(plan, question, diag);
    diag_end(diag);
    return true;
}
