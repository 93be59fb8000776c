/* budget.c - what is said when a plan is over its budget, or refused by its target: the lines alive at the
 * peak, and what would fit. */
#include "base/size_math.h"
#include "ir/ops.h"
#include "report/report.h"

/* What the plan needs is enough for it (budget_search.c); under other options, less may be. */
static void help_with_budgets(const Plan *plan, const Advice *a, Diag *diag) {
    const FitTrial *now = &a->smallest, *one = &a->smallest_of_one;
    const int64_t budget = now->fits && now->arena < plan->arena ? now->arena : plan->arena;
    if (budget < INT64_MAX)
        diag_help(diag, "the smallest budget for this file is `--mem=%lld`, %s", (long long)budget,
                  human_bytes(a->pool, budget));
    if (one->fits && one->arena < budget)
        diag_help(diag, "at `--batch=1` it is `--mem=%lld`, %s", (long long)one->arena,
                  human_bytes(a->pool, one->arena));
}

static void help_with_proposals(const Advice *a, Diag *diag) {
    for (int i = 0; i < a->count; i++) {
        const FitTrial *t = &a->proposal[i].trial;
        double extra = 100.0 * (double)t->recompute_flops / (double)(t->flops + !t->flops);
        diag_help(diag, "%s: %s, %+.1f %% work", a->proposal[i].text, human_bytes(a->pool, t->arena),
                  extra);
    }
}

/* ---- the diagnostic ---- */

/* What weights and the state of their optimiser take, for good or until they are packed. */
static int64_t weight_bytes(const Plan *plan) {
    int64_t bytes = plan->persistent;
    for (int b = 0; b < plan->nbuffer; b++)
        if (plan->buffer[b].lifetime == LIFETIME_LOADED && plan->buffer[b].slice < 0)
            bytes = size_sum(bytes, plan->buffer[b].bytes);
    return bytes;
}

static void point_at_peak(const Plan *plan, const Program *program, Diag *diag) {
    LineBytes *line;
    int n = lines_at_peak(plan, program, &line);
    if (n > 0)
        diag_label(diag, "%s of the peak", human_bytes(plan->pool, line[0].bytes));
    if (n > 1)
        diag_also(diag, line[1].span, "%s of the peak", human_bytes(plan->pool, line[1].bytes));
    if (program->kind == PROGRAM_TRAIN && plan->model->train.batch_span.line > 0)
        diag_also(diag, plan->model->train.batch_span, "all activations grow with this");
    diag_note(diag, "the peak is step %d of %d: %s", program->peak,
              step_count(program->step, program->nstep), peak_text(plan, program));
    for (int i = 2; i < n && i < 5; i++)
        diag_note(diag, "line %d holds %s of it: `%.60s`", line[i].span.line,
                  human_bytes(plan->pool, line[i].bytes), source_line(plan, line[i].span.line));
    diag_note(diag, "parameters and optimiser state take %s", human_bytes(plan->pool, weight_bytes(plan)));
}

static void begin_over_budget(const Plan *plan, bool proposals, Diag *diag) {
    static const char *const doing[PROGRAMS] = {"training", "evaluation", "prediction"};
    const Program *program = largest_program(plan);
    LineBytes *line;
    int n = lines_at_peak(plan, program, &line);
    Span first = n > 0 ? line[0].span : (Span){1, 1, 1};
    diag_begin(diag, ERROR, proposals ? "U0701" : "U0702", first, "%s needs %s, the budget is %s",
               doing[program->kind], human_bytes_above(plan->pool, plan->arena),
               human_bytes(plan->pool, plan->budget));
    point_at_peak(plan, program, diag);
}

void report_over_budget(const Plan *plan, const Advice *advice, Diag *diag) {
    if (plan->refusal != NULL || plan->arena == INT64_MAX)
        diag_begin(diag, ERROR, "U0704", (Span){1, 1, 1}, "%s",
                   plan->refusal != NULL ? plan->refusal : "the buffers add up to 2^62 bytes or more");
    else
        begin_over_budget(plan, advice->count > 0, diag);
    if (advice->count > 0)
        help_with_proposals(advice, diag);
    else
        help_with_budgets(plan, advice, diag);
    diag_end(diag);
}
