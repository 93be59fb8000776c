/* budget.c - the error for a plan that is over its budget, or refused by its target: the lines alive at the
 * peak, the operator that ends bands of rows, and proposals that fit. */
#include "base/size_math.h"
#include "ir/ops.h"
#include "report/report.h"

/* A budget of the bytes that the plan needs is enough (budget_search.c); under other options, less may be.
 */
static void help_with_budget(const Plan *plan, const Advice *a, Diag *diag) {
    const FitTrial *now = &a->smallest;
    const int64_t budget = now->fits && now->arena < plan->arena ? now->arena : plan->arena;
    if (budget < INT64_MAX)
        diag_help(diag, "the smallest budget for this file is `--mem=%lldB`, %s", (long long)budget,
                  human_bytes(a->pool, budget));
}

static void help_with_proposals(const Advice *a, Diag *diag) {
    for (int i = 0; i < a->count; i++) {
        const Proposal *p = &a->proposal[i];
        const char *own = p->other ? "of its own " : "";
        if (p->trial.brief)
            diag_help(diag, "%s: fits, about %+.0f %% %swork", p->text, fit_extra_work(&p->trial), own);
        else
            diag_help(diag, "%s: %s, %+.1f %% %swork%s", p->text, human_bytes(a->pool, p->trial.arena),
                      fit_extra_work(&p->trial), own, p->trial.in_bands ? ", in bands of rows" : "");
    }
    if (a->quarter.legal)
        diag_help(diag, "no useful size fits by itself, not even `--size=%s`",
                  fit_size_text(a->pool, a->quarter.size));
}

/* Returns whether recomputation nearly made PLAN fit, so that a longer search may. */
static bool may_find_more(const Plan *plan) {
    enum { PART = 8 };
    const Program *train = &plan->program[PROGRAM_TRAIN];
    return train->model != NULL && train->options->effort <= 1 && train->found != NULL &&
           !plan->choices.repeats && train->found->cost > train->found->base_cost &&
           train->extent == plan->arena && plan->arena - plan->budget <= plan->arena / PART;
}

/* ---- the diagnostic ---- */

/* Notes the bytes that no option makes smaller, and whether they alone exceed the budget. */
static void note_fixed(const Plan *plan, Diag *diag) {
    const bool trains = plan->program[PROGRAM_TRAIN].model != NULL;
    const bool codes = !trains || plan->program[PROGRAM_TRAIN].model->train.codes_state;
    const int64_t fixed = plan->fixed;
    diag_note(diag, "%s take %s at any batch, size and precision%s",
              !trains                  ? "parameters"
              : updates_in_parts(plan) ? "parameters, optimiser state and a part of the gradients"
                                       : "parameters, their gradients and optimiser state",
              human_bytes(plan->pool, fixed),
              fixed <= plan->budget ? ""
              : codes               ? ": only a narrower network takes less"
                                    : ": only a narrower network, or the state in 8 bits, takes less");
}

static void point_at_peak(const Plan *plan, const Program *program, Diag *diag) {
    LineBytes *line;
    int n = lines_at_peak(plan, program, &line);
    if (n > 0)
        diag_label(diag, "%s of the peak", human_bytes(plan->pool, line[0].bytes));
    if (n > 1)
        diag_also(diag, line[1].span, "%s of the peak", human_bytes(plan->pool, line[1].bytes));
    const bool grows = program->batch > 1 && program->micro_batch == program->batch;
    if (program->kind == PROGRAM_TRAIN && plan->model->train.batch_span.line > 0 && grows)
        diag_also(diag, plan->model->train.batch_span, "all activations grow with this");
    diag_note(diag, "the peak is step %d of %d: %s", program->peak,
              step_count(program->step, program->nstep), peak_text(plan, program));
    for (int i = 2; i < n && i < 5; i++)
        diag_note(diag, "line %d holds %s of it: `%.60s`", line[i].span.line,
                  human_bytes(plan->pool, line[i].bytes), source_line(plan, line[i].span.line));
}

/* Notes the loss that takes all points at once and so keeps its logits out of loops over bands. */
static void note_enlarged(const Program *program, Diag *diag) {
    const Graph *g = program->graph;
    for (int i = 0; i < g->nnode; i++) {
        const Node *node = &g->node[i];
        if (node->a.kind != ATTRIBUTES_LOSS || !has_trait(node, TRAIT_WHOLE_BATCH) || computes_rows(node))
            continue;
        const Value *logits = &g->value[node->in[0]];
        const Node *maker = logits->producer < 0 ? NULL : &g->node[logits->producer];
        if (maker != NULL && maker->nin == 1 &&
            shape_elements(logits->shape) > shape_elements(g->value[maker->in[0]].shape))
            diag_note(diag, "`%s` needs all points at once, so the result of line %d is kept whole",
                      node->name, node_line(maker).line);
    }
}

/* Notes the operator that keeps images whole, so that bands of rows cannot save memory. */
static void note_sweep_end(SweepEnd end, Diag *diag) {
    if (end.line.line > 0)
        diag_note(diag, "bands of rows end at line %d: `%s` %s", end.line.line, end.name, end.why);
}

static void tell_what_is_needed(const Plan *plan, Diag *diag) {
    static const char *const doing[PROGRAMS] = {"training", "evaluation", "prediction"};
    const Program *program = largest_program(plan);
    LineBytes *line;
    int n = lines_at_peak(plan, program, &line);
    Span first = n > 0 ? line[0].span : (Span){1, 1, 1};
    diag_begin(diag, ERROR, "U0701", first, "%s needs %s, the budget is %s", doing[program->kind],
               human_bytes_above(plan->pool, plan->arena), human_bytes(plan->pool, plan->budget));
    point_at_peak(plan, program, diag);
    note_enlarged(program, diag);
    note_fixed(plan, diag);
}

/* Has PLAN a size that memory could have? */
static bool is_possible(const Plan *plan) {
    return plan->refusal == NULL && plan->arena < INT64_MAX;
}

void begin_over_budget(const Plan *plan, Diag *diag) {
    if (!is_possible(plan))
        diag_begin(diag, ERROR, "U0704", (Span){1, 1, 1}, "%s",
                   plan->refusal != NULL ? plan->refusal : "the buffers add up to 2^62 bytes or more");
    else
        tell_what_is_needed(plan, diag);
    diag_show(diag);
}

void end_over_budget(const Plan *plan, const Advice *advice, Diag *diag) {
    if (is_possible(plan))
        note_sweep_end(advice->ends, diag);
    if (advice->only_more)
        help_with_budget(plan, advice, diag);
    help_with_proposals(advice, diag);
    if (is_possible(plan) && may_find_more(plan))
        diag_help(diag, "--effort=8: searches eight times as long for a plan, and may find one");
    diag_end(diag);
}

void warn_of_bands(const Plan *plan, Diag *diag) {
    const SweepEnd end = sweep_end(plan);
    if (end.line.line == 0 || plan->options->bands <= 1)
        return;
    diag_begin(diag, WARNING, "U0708", end.line, "--bands=%d: bands of rows end at `%s`",
               plan->options->bands, end.name);
    diag_label(diag, "%s", end.why);
    diag_note(diag, "its input and all later images are kept whole");
    diag_end(diag);
}
