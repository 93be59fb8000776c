/* figures.c - figures that several views of a plan share, or that need an explanation: how training is
 * computed, what nothing shrinks, what reuse saves, and what an eager framework keeps. */
#include "base/size_math.h"
#include "ir/ops.h"
#include "ir/target.h"
#include "report/report.h"
#include "unet/words.h"

int64_t bytes_without_reuse(const Plan *plan) {
    const Program *largest = largest_program(plan);
    int64_t bytes = 0;
    for (int i = 0; i < plan->nbuffer; i++) {
        const Buffer *b = &plan->buffer[i];
        const bool there = b->program < 0 || b->program == (int)largest->kind;
        if (b->slice < 0 && b->space == SPACE_DEVICE && there)
            bytes += b->bytes;
    }
    return bytes;
}

/* The loop over bands of most iterations among these steps, or NULL. */
static const Step *bands_in(const Step *step, int nstep) {
    const Step *most = NULL;
    for (int i = 0; i < nstep; i++) {
        const Step *found = step[i].node >= 0            ? NULL
                            : step[i].axis == AXIS_BANDS ? &step[i]
                                                         : bands_in(step[i].body, step[i].nbody);
        if (found != NULL && (most == NULL || found->times > most->times))
            most = found;
    }
    return most;
}

int64_t largest_band(const Program *program) {
    const Step *loop = bands_in(program->step, program->nstep);
    int64_t rows = 0;
    for (int i = 0; loop != NULL && i < loop->nbody; i++)
        rows = loop->body[i].rows > rows ? loop->body[i].rows : rows;
    return rows;
}

/* "6 micro-batches of 1 sample, whole images, nothing computed twice" */
void how_row(const Plan *plan, const Program *program, Text *out) {
    const int64_t parts = iterations_of(program), rows = largest_band(program);
    const char *samples = "the whole batch at once", *again = ", nothing computed twice";
    if (parts > 1)
        samples = pool_text(plan->pool, "%lld micro-batches of %lld sample%s", (long long)parts,
                            (long long)program->micro_batch, unet_plural(program->micro_batch));
    else if (program->batch == 1)
        samples = "one sample";
    if (program->kind != PROGRAM_TRAIN)
        again = "";
    else if (plan->recompute_flops > 0)
        again = pool_text(plan->pool, ", %.1f %% of all operations twice",
                          100.0 * (double)plan->recompute_flops / (double)plan->flops);
    const int64_t *most = program->model->predict.windows.most;
    const char *kind = program->model->input[0].kind == KIND_SIGNAL ? "signal" : "image";
    const char *shown =
        rows == 0 ? pool_text(plan->pool, "whole %ss", kind)
                  : pool_text(plan->pool, "bands of %lld row%s", (long long)rows, unet_plural(rows));
    if (has_windows(program) && most[0] > 0)
        shown = pool_text(plan->pool, "windows that overlap, of volumes up to %lld x %lld of any depth",
                          (long long)most[0], (long long)most[1]);
    else if (has_windows(program))
        shown = "windows that overlap";
    text_line(out, "  %s, %s%s", samples, shown, again);
}

int gradient_blocks(const Plan *plan) {
    const Program *train = &plan->program[PROGRAM_TRAIN];
    int count = 0;
    if (train->model != NULL)
        (void)first_update(train->graph, &count);
    return count;
}

bool updates_in_parts(const Plan *plan) {
    return gradient_blocks(plan) > 1 && !updates_wait(plan->program[PROGRAM_TRAIN].graph);
}

void fixed_row(const Plan *plan, Text *out) {
    const int64_t fixed = plan->fixed;
    if (plan->program[PROGRAM_TRAIN].model != NULL)
        text_line(out, "  %-26s %12s  %18s B  parameters, %s, state: the same at any batch and size",
                  "of it fixed", human_bytes(plan->pool, fixed), grouped(plan->pool, fixed),
                  updates_in_parts(plan) ? "a part of the gradients" : "gradients");
}

void state_row(const Plan *plan, Text *out) {
    int64_t coded = 0, reals = 0;
    for (int s = 0; s < MAX_STATES; s++)
        for (int k = 0; plan->state[s] != NULL && k < plan->nparameter; k++) {
            const int b = plan->state_buffer[s][k];
            if (b >= 0 && plan->buffer[b].type == TYPE_U8) {
                coded += plan->buffer[b].bytes;
                reals += plan->buffer[plan->parameter_buffer[k]].bytes;
            }
        }
    if (coded > 0)
        text_line(out, "  %-26s %12s  %18s B  `state 8`: another result than in 32 bits, which are %s",
                  "state in 8 bits", human_bytes(plan->pool, coded), grouped(plan->pool, coded),
                  human_bytes(plan->pool, reals));
}

void codes_row(const Plan *plan, Text *out) {
    const Program *train = &plan->program[PROGRAM_TRAIN];
    int64_t coded = 0, numbers = 0;
    for (int i = 0; train->model != NULL && i < train->graph->nnode; i++) {
        const Node *node = &train->graph->node[i];
        if (!makes_codes(node))
            continue;
        coded = size_sum(coded, train->layout[node->out[0]].bytes);
        numbers = size_sum(numbers, train->layout[node->in[0]].bytes);
    }
    if (coded > 0)
        text_line(out,
                  "  %-26s %12s  %18s B  `compress %lld`: another result than as they are, which is %s",
                  "activations in codes", human_bytes(plan->pool, coded), grouped(plan->pool, coded),
                  (long long)train->model->train.compress, human_bytes(plan->pool, numbers));
}

/* Everything that training holds, if a whole batch goes through at once and everything is kept. */
static int64_t arena_at_once(const FitQuestion *asked) {
    FitQuestion q = *asked;
    q.card = 0;
    q.options.budget = INT64_MAX - 1;
    q.options.micro_batches = 1;
    q.options.bands = 1;
    q.options.no_recompute = true;
    for (int k = 0; k < PROGRAMS; k++)
        q.options.wanted[k] = k == PROGRAM_TRAIN;
    const FitTrial trial = fit_try(&q);
    return trial.legal ? trial.arena : 0;
}

void eager_rows(const Plan *plan, const Comparison *comparison, const FitQuestion *asked, Text *out) {
    const Program *train = &plan->program[PROGRAM_TRAIN];
    Pool *pool = plan->pool;
    const int64_t at_once = comparison->eager > 0 ? arena_at_once(asked) : 0;
    if (comparison->eager <= 0)
        return;
    text_line(out, "  %-26s %12s  %18s B  of a whole batch, for the backward pass alone",
              "an eager framework keeps", human_bytes(pool, comparison->eager),
              grouped(pool, comparison->eager));
    if (at_once <= 0 || at_once == INT64_MAX)
        return;
    text_line(out, "  %-26s %12s  %18s B  everything: parameters, gradients and workspace, too",
              "here, the batch at once", human_bytes(pool, at_once), grouped(pool, at_once));
    const int64_t parts = iterations_of(train);
    if (train->extent < at_once)
        text_line(out, "  %-26s %12s  %18s B  the same%s", "here, as planned",
                  human_bytes(pool, train->extent), grouped(pool, train->extent),
                  parts > 1 ? pool_text(pool, ", in %lld micro-batches", (long long)parts) : "");
}
