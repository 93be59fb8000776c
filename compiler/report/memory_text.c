/* memory_text.c - the memory report for people: what the arena holds, where its peak is, which lines are
 * alive there. */
#include "base/size_math.h"
#include "emit/sources.h"
#include "ir/staging.h"
#include "ir/target.h"
#include "report/report.h"
#include "ir/ops.h"
#include "unet/words.h"

#include <stdlib.h>
#include <string.h>

const Program *largest_program(const Plan *plan) {
    const Program *largest = NULL;
    for (int k = 0; k < PROGRAMS; k++)
        if (plan->program[k].model != NULL &&
            (largest == NULL || plan->program[k].extent > largest->extent))
            largest = &plan->program[k];
    return largest;
}

const char *peak_text(const Plan *plan, const Program *program) {
    const Step *at = step_at(program->step, program->nstep, program->peak), *step = at;
    while (step->node < 0) /* what a loop touches lives through all of it */
        step = &step->body[0];
    const Node *node = &program->graph->node[step->node];
    return pool_text(plan->pool, "%s%s of `%s`", at->node < 0 ? "the loop that begins with " : "",
                     node_operator(plan->pool, node), node->name);
}

/* Buffers with bytes of their own that are alive at the peak: slices stand for their region. */
static bool alive_at_peak(const Buffer *b, const Program *program) {
    if (b->same >= 0 || b->space != SPACE_DEVICE)
        return false;
    if (b->program < 0)
        return true;
    return b->program == (int)program->kind && b->first <= program->peak && program->peak <= b->last;
}

/* ---- per line ---- */

static int by_bytes(const void *a, const void *b) {
    const LineBytes *x = a, *y = b;
    if (x->bytes != y->bytes)
        return x->bytes < y->bytes ? 1 : -1;
    return x->span.line - y->span.line;
}

static int last_line(const Plan *plan) {
    int last = 0;
    for (int i = 0; i < plan->nbuffer; i++)
        if (plan->buffer[i].span.line > last)
            last = plan->buffer[i].span.line;
    return last;
}

int lines_at_peak(const Plan *plan, const Program *program, LineBytes **line) {
    LineBytes *list = NEW_ARRAY(plan->pool, LineBytes, plan->nbuffer + 1);
    int *place = NEW_ARRAY(plan->pool, int, last_line(plan) + 1), n = 0; /* in the list, from 1 on */
    for (int i = 0; i < plan->nbuffer; i++) {
        const Buffer *b = &plan->buffer[i];
        bool transient = b->program >= 0 && b->slice < 0;
        if (!transient || !alive_at_peak(b, program) || b->span.line == 0)
            continue;
        if (place[b->span.line] == 0) {
            list[n].span = b->span;
            place[b->span.line] = ++n;
        }
        list[place[b->span.line] - 1].bytes += b->bytes;
    }
    qsort(list, (size_t)n, sizeof *list, by_bytes);
    *line = list;
    return n;
}

const char *source_line(const Plan *plan, int line) {
    const char *s = plan->model->text;
    for (int k = 1; k < line && s != NULL; k++) {
        s = strchr(s, '\n');
        s = s == NULL ? NULL : s + 1;
    }
    if (s == NULL)
        return "";
    while (*s == ' ' || *s == '\t')
        s++;
    return pool_copy(plan->pool, s, strcspn(s, "\r\n"));
}

/* ---- per class ---- */

static void class_rows(const Plan *plan, const Program *program, Text *out) {
    static const char *const label[CLASSES] = {
        [CLASS_PARAMETER] = "parameters",      [CLASS_PARAMETER_GRADIENT] = "parameter gradients",
        [CLASS_ACTIVATION] = "activations",    [CLASS_ACTIVATION_GRADIENT] = "gradients of activations",
        [CLASS_STATE] = "optimiser state",     [CLASS_RUNNING_STATISTIC] = "running statistics",
        [CLASS_WORKSPACE] = "workspace",       [CLASS_STAGING] = "inputs",
        [CLASS_METRIC] = "losses and metrics", [CLASS_BATCH_STATISTIC] = "batch statistics",
    };
    int64_t bytes[CLASSES] = {0}, all = 0;
    for (int i = 0; i < plan->nbuffer; i++) {
        const Buffer *b = &plan->buffer[i];
        if (b->slice < 0 && alive_at_peak(b, program)) {
            bytes[b->class] += b->bytes;
            all += b->bytes;
        }
    }
    for (int c = 0; c < CLASSES; c++)
        if (bytes[c] > 0)
            text_line(out, "  %-26s %12s  %18s B  %5.1f %%", label[c], human_bytes(plan->pool, bytes[c]),
                      grouped(plan->pool, bytes[c]), 100.0 * (double)bytes[c] / (double)all);
}

/* The file of --engines. */
static void engines_row(const Plan *plan, Text *out) {
    const Options *options = plan->options;
    int all = 0;
    if (options->engines == NULL)
        return;
    const int found = plan->target->measured(plan, &all);
    text_line(out, "  engines: %s, measured on %s: %d of %d convolutions", options->engines,
              plan->target->measured_on(plan->pool, options->device), found, all);
}

/* How many steps have a stream of their own; *ALL: that might have, and have no launch together. */
static int steps_beside(const Program *program, const Step *step, int nstep, int *all) {
    int count = 0;
    for (int i = 0; i < nstep; i++) {
        if (step[i].node < 0) {
            count += steps_beside(program, step[i].body, step[i].nbody, all);
            continue;
        }
        const bool may = program->target->kernel[program->graph->node[step[i].node].op].beside;
        *all += may && (step[i].section == 0 || step[i].streams);
        count += may && step[i].streams;
    }
    return count;
}

/* With `ranks`: who has this memory. */
static void ranks_row(const Model *m, Text *out) {
    const TrainSection *train = &m->train;
    const long long ranks = train->ranks, processes = train->processes, share = samples_of_process(train);
    if (ranks == 1)
        return;
    if (processes > 1)
        text_line(out, "  a rank of %lld processes, which has %lld of the %lld samples of a step",
                  processes, share, (long long)train->batch);
    else
        text_line(out, "  a process that may train alone; --processes=%lld tells what each of %lld keeps",
                  ranks, ranks);
}

/* Writes how much of the gradients is sent during the backward pass, and the rest. */
static void buckets_row(const Program *program, Text *out) {
    Pool *pool = program->graph->pool;
    const char *list = "";
    for (int b = 0; b < program->nbucket; b++) {
        const Bucket *bucket = &program->bucket[b];
        const int64_t number = type_bytes(program->graph->value[bucket->gradients].type);
        list =
            pool_text(pool, "%s%s%s", list, b > 0 ? ", " : "", human_bytes(pool, bucket->numbers * number));
    }
    if (program->nbucket > 0)
        text_line(out, "  gradients go to other processes in %d buckets, in the backward pass: %s",
                  program->nbucket, list);
}

static void branches_row(const Program *program, Text *out) {
    int all = 0;
    const int count = steps_beside(program, program->step, program->nstep, &all);
    if (count > 0)
        text_line(out, "  second stream: %d of the %d step%s that may run beside others", count, all,
                  unet_plural(all));
}

/* ---- the report ---- */

static void head(const Plan *plan, const Program *program, Text *out) {
    const Model *m = plan->model;
    const Shape size = program->graph->value[m->input[0].value].shape;
    int64_t count = 0;
    for (int k = 0; k < plan->nparameter; k++)
        count += shape_elements(plan->buffer[plan->parameter_buffer[k]].shape);
    text_line(out, "%s  %s, batch %lld of %s, %s, target %s", m->source, program->name,
              (long long)program->batch, shape_text(plan->pool, size), precision_text(plan->options),
              target_text(plan->pool, plan->options));
    text_line(out, "  %s parameter%s in %d tensor%s%s", grouped(plan->pool, count), unet_plural(count),
              plan->nparameter, unet_plural(plan->nparameter),
              program->kind == PROGRAM_TRAIN ? frozen_text(m) : "");
    how_row(plan, program, out);
    if (program->kind == PROGRAM_TRAIN)
        ranks_row(m, out);
    if (program->kind == PROGRAM_TRAIN)
        buckets_row(program, out);
    engines_row(plan, out);
    branches_row(program, out);
    text_blank(out);
}

/* Writes a row if the bytes of workspace are a cap. */
static void workspace_row(const Plan *plan, Text *out) {
    int64_t cap;
    const Target *target = plan->target;
    const char *whom = target->workspace_note == NULL
                           ? NULL
                           : target->workspace_note(plan->pool, plan->options->device, &cap);
    if (whom != NULL)
        text_line(out, "  %-26s %12s  %18s    for %s", "workspace cap", human_bytes(plan->pool, cap), "",
                  whom);
}

int64_t picture_bytes(const Plan *plan) {
    const Program *eval = &plan->program[PROGRAM_EVAL], *predict = &plan->program[PROGRAM_PREDICT];
    if (plan->program[PROGRAM_TRAIN].model == NULL || eval->model == NULL || predict->model == NULL)
        return 0;
    return size_sum(predict->extent, size_sum(staged_bytes(eval, 1), staged_bytes(predict, 1)));
}

/* The most that processes gather at once where they merge samples. */
static int64_t merged_bytes(const Program *train) {
    const Graph *g = train->graph;
    int64_t most = 0;
    for (int i = 0; i < g->nnode; i++)
        for (Touch t = node_touches(g, &g->node[i]);
             has_trait(&g->node[i], TRAIT_MERGES) && touch_next(&t);)
            if (t.is_output && t.operand->access == ACCESS_SCRATCH && train->layout[t.value].bytes > most)
                most = train->layout[t.value].bytes;
    return most;
}

int64_t exchange_bytes(const Plan *plan) {
    const Program *train = &plan->program[PROGRAM_TRAIN];
    int64_t gradients = 0;
    if (train->model == NULL || train->group == 0 || plan->target->context == 0)
        return 0;
    for (int i = 0; i < train->nparameter; i++)
        if (train->gradient[i] >= 0)
            gradients = size_sum(gradients, train->layout[train->gradient[i]].bytes);
    const int64_t rounding = size_product(type_bytes(TYPE_F32), train->model->train.ranks),
                  summed = work_sum(rounding, 2, gradients), merged = merged_bytes(train);
    return merged > summed ? merged : summed;
}

/* Slices of volumes of any size that are predicted by windows: as windows_bytes() of the runtime has them.
 */
static void slices_row(const Plan *plan, Text *out) {
    enum { SLICE = 512 };
    const Program *predict = &plan->program[PROGRAM_PREDICT];
    const Model *model = predict->model;
    Pool *pool = plan->pool;
    if (model == NULL || model->input[0].kind != KIND_VOLUME)
        return;
    const Windows *windows = &model->predict.windows;
    const Graph *g = predict->graph;
    int64_t channels = shape_channels(g->value[model->input[0].value].shape);
    for (int i = 0; i < model->noutput; i++) {
        const Output *output = &model->output[i];
        channels += !windows->given && output->classes > 0 ? output->classes
                                                           : shape_channels(g->value[output->value].shape);
    }
    const int64_t slice = SLICE * SLICE * type_bytes(TYPE_F32),
                  bytes = size_product(size_product(channels, slice),
                                       shape_extent(g->value[model->input[0].value].shape, 0));
    if (SLICE > windows->most[0] || SLICE > windows->most[1])
        text_line(out, "  %-26s %12s  %18s B  beside the arena, for slices of %d x %d that go by windows",
                  "slices of volumes", human_bytes(pool, bytes), grouped(pool, bytes), SLICE, SLICE);
}

static const char *staged_text(Type type) {
    return type == TYPE_UNORM8 ? "8 bits" : type == TYPE_UNORM16 ? "16 bits" : type_text(type);
}

/* In which type the ring holds each picture, and why; what fewer bits would bring. */
static void staging_rows(const Plan *plan, Text *out) {
    const Program *program = program_of(plan, 0);
    const Model *m = program->model;
    Pool *pool = plan->pool;
    const int *readers = count_readers(program->graph);
    for (int i = 0; i < m->ninput; i++)
        if (m->input[i].kind != KIND_LABELS && readers[m->input[i].value] > 0)
            text_line(out, "  %-26s %12s  %18s    %s", pool_text(pool, "%s in the ring", m->input[i].name),
                      staged_text(program->graph->value[m->input[i].value].type), "",
                      staged_reason(pool, program, i));
    const int64_t least = ring_bytes_of_u8(plan);
    if (plan->options->staging == STAGING_AS_FILES && least < plan->loader_ring)
        text_line(out, "  %-26s %12s  %18s B  with --staging=u8: exact where every number is n / 255",
                  "ring of bytes", human_bytes(pool, least), grouped(pool, least));
}

/* Returns the condition under which the lower bound holds, and what else keeps the arena above it. */
static const char *order_text(const Plan *plan) {
    const int blocks = plan->arena > plan->lower_bound ? gradient_blocks(plan) : 0;
    return blocks > 1
               ? pool_text(plan->pool,
                           ", for this order of steps; gradients of parameters lie in %d blocks", blocks)
           : blocks == 1 ? ", for this order of steps; gradients of parameters lie in one block"
                         : ", for this order of steps";
}

static void arena_rows(const Plan *plan, Text *out) {
    Pool *pool = plan->pool;
    const int64_t gap = plan->arena - plan->lower_bound, none = bytes_without_reuse(plan);
    text_line(out, "  %-26s %12s  %18s B  exact", "ARENA", human_bytes(pool, plan->arena),
              grouped(pool, plan->arena));
    fixed_row(plan, out);
    state_row(plan, out);
    codes_row(plan, out);
    text_line(out, "  %-26s %12s  %18s B  %s%s", "lower bound", human_bytes(pool, plan->lower_bound),
              grouped(pool, plan->lower_bound),
              gap == 0 ? "met"
                       : pool_text(pool, "the arena is %.3f %% above",
                                   100.0 * (double)gap / (double)plan->lower_bound),
              order_text(plan));
    text_line(out, "  %-26s %12s  %18s B", "without reuse", human_bytes(pool, none), grouped(pool, none));
    int64_t context = plan->target->context;
    if (plan->loader_ring > 0)
        text_line(out, "  %-26s %12s  %18s B  %s, at most: %s", "loader ring",
                  human_bytes(pool, plan->loader_ring), grouped(pool, plan->loader_ring),
                  context > 0 ? "memory of the host" : "beside the arena",
                  plan->ring_slots == 1 ? "1 slot"
                                        : pool_text(pool, "1 to %lld slots", (long long)plan->ring_slots));
    if (plan->loader_ring > 0)
        staging_rows(plan, out);
    if (picture_bytes(plan) > 0)
        text_line(out, "  %-26s %12s  %18s B  %s: prediction, and a sample", "TensorBoard's pictures",
                  human_bytes(pool, picture_bytes(plan)), grouped(pool, picture_bytes(plan)),
                  "beside the arena, with --tensorboard");
    slices_row(plan, out);
    if (exchange_bytes(plan) > 0)
        text_line(out, "  %-26s %12s  %18s B  memory of the host, where ranks do without NCCL",
                  "exchange of gradients", human_bytes(pool, exchange_bytes(plan)),
                  grouped(pool, exchange_bytes(plan)));
    workspace_row(plan, out);
    if (context > 0)
        text_line(out, "  %-26s %12s  %18s    beside the arena: driver and libraries, an estimate",
                  "context", human_bytes(pool, context), "");
    if (plan->budget > 0)
        text_line(out, "  %-26s %12s  %18s B  %s", "budget", human_bytes(pool, plan->budget),
                  grouped(pool, plan->budget), plan->arena <= plan->budget ? "FITS" : "DOES NOT FIT");
}

/* A plan that does not fit is compared with plans that are packed roughly. */
static const char *at_most(const Plan *plan) {
    return plan_fits(plan) ? "" : "at most ";
}

/* Writes the bytes that rings of rows save. */
static void bands_row(const Plan *plan, const Comparison *c, Text *out) {
    const int64_t rows = largest_band(largest_program(plan));
    const char *again = plan->recompute_flops == 0
                            ? ""
                            : pool_text(plan->pool, ", %.1f %% of all operations twice,",
                                        100.0 * (double)plan->recompute_flops / (double)plan->flops);
    if (rows > 0 && c->without_bands > plan->arena)
        text_line(out, "  %-26s %12s  %18s B  computing %lld row%s at a time%s saves %s%s",
                  "without bands of rows", human_bytes(plan->pool, c->without_bands),
                  grouped(plan->pool, c->without_bands), (long long)rows, unet_plural(rows), again,
                  at_most(plan), human_bytes(plan->pool, c->without_bands - plan->arena));
}

/* Why bands of rows are no help, or not as much, unless nobody wants them. */
static void sweep_row(SweepEnd end, Text *out) {
    if (end.line.line > 0)
        text_line(out, "  %-26s `%s` of line %d %s", "bands of rows end", end.name, end.line.line, end.why);
}

/* The price of statistics of the whole batch. */
static void norm_rows(const Plan *plan, const OtherNorms *norms, Text *out) {
    Pool *pool = plan->pool;
    if (norms->count == 0)
        return;
    text_line(out, "  %-26s %12s  %18s B  %s; `batch_norm` of line %d sees the whole batch at once:",
              "other statistics", human_bytes(pool, norms->budget), grouped(pool, norms->budget),
              plan->budget > 0 ? "under this budget" : "if there were half as much", norms->line.line);
    for (int i = 0; i < norms->count; i++) {
        const OtherNorm *way = &norms->way[i];
        const double work = fit_extra_work(&way->trial);
        if (way->trial.legal)
            text_line(out, "    %-24s %12s  %18s B  %s: %s%s", way->option,
                      human_bytes(pool, way->trial.arena), grouped(pool, way->trial.arena), way->meaning,
                      way->trial.fits ? "fits" : "DOES NOT FIT",
                      work < 0.05 ? "" : pool_text(pool, ", %.0f %% of all operations twice", work));
    }
}

/* The same plan with everything kept. */
static void comparison_rows(const Plan *plan, const Comparison *c, Text *out) {
    Pool *pool = plan->pool;
    const Program *train = &plan->program[PROGRAM_TRAIN];
    bands_row(plan, c, out);
    sweep_row(c->ends, out);
    if (train->model == NULL)
        return;
    norm_rows(plan, &c->norms, out);
    const RematSchedule *found = train->found;
    if (found != NULL && found->cost > found->base_cost && !plan->choices.repeats) {
        const int64_t kept = c->without_recomputation;
        const double time = 100.0 * (double)(found->cost - found->base_cost) / (double)found->base_cost;
        text_line(out, "  %-26s %12s  %18s B  computing again saves %s%s for %.1f %% more operations%s",
                  "without recomputation", human_bytes(pool, kept), grouped(pool, kept), at_most(plan),
                  human_bytes(pool, kept - plan->arena),
                  100.0 * (double)plan->recompute_flops / (double)plan->flops,
                  plan->target->picoseconds == NULL ? ""
                                                    : pool_text(pool, ", about %.0f %% more time", time));
        if (found->cost_lower_bound > found->base_cost)
            text_line(out, "  %-26s %10.1f %%  of those operations in any plan this small", "at least",
                      100.0 * (double)(found->cost_lower_bound - found->base_cost) /
                          (double)(found->cost - found->base_cost));
    }
}

static void program_rows(const Plan *plan, const Program *largest, Text *out) {
    for (int k = 0; k < PROGRAMS; k++) {
        const Program *p = &plan->program[k];
        if (p->model == NULL)
            continue;
        const Shape size = p->graph->value[p->model->input[0].value].shape;
        text_line(out, "  %-8s batch %-4lld %-18s %12s  peak at step %d of %d, %s%s%s", p->name,
                  (long long)p->batch, shape_text(plan->pool, size), human_bytes(plan->pool, p->extent),
                  p->peak, step_count(p->step, p->nstep), peak_text(plan, p),
                  p->units > 0 ? "; images of any height" : "", p == largest ? "  <- sets the arena" : "");
    }
}

static void line_rows(const Plan *plan, const Program *program, Text *out) {
    enum { SHOWN = 8 };
    LineBytes *line;
    int n = lines_at_peak(plan, program, &line);
    int64_t rest = 0;
    text_line(out, "alive at the peak, by line of %s:", plan->model->source);
    for (int i = 0; i < n; i++) {
        if (i < SHOWN)
            text_line(out, "  %12s  %4d | %.70s", human_bytes(plan->pool, line[i].bytes), line[i].span.line,
                      source_line(plan, line[i].span.line));
        else
            rest += line[i].bytes;
    }
    if (rest > 0)
        text_line(out, "  %12s  in %d more line%s", human_bytes(plan->pool, rest), n - SHOWN,
                  unet_plural(n - SHOWN));
}

void report_text(const Plan *plan, const Comparison *comparison, const FitQuestion *asked, Text *out) {
    const Program *program = largest_program(plan);
    head(plan, program, out);
    if (plan->arena == INT64_MAX) { /* nothing has a place, so no figure means anything */
        text_line(out, "  %-26s more than 2^62 bytes", "ARENA");
        return;
    }
    class_rows(plan, program, out);
    arena_rows(plan, out);
    comparison_rows(plan, comparison, out);
    eager_rows(plan, comparison, asked, out);
    text_blank(out);
    program_rows(plan, program, out);
    text_blank(out);
    line_rows(plan, program, out);
}
