/* plan.c - questions to a plan. */
#include "ir/plan.h"
#include "base/diag.h"
#include "base/size_math.h"
#include "ir/ops.h"
#include "ir/target.h"

const char *precision_text(const Options *options) {
    return options->tf32 ? "tf32" : type_text(options->stored);
}

const char *target_text(Pool *pool, const Options *options) {
    return options->card == NULL ? options->target->name
                                 : pool_text(pool, "%s:%s", options->target->name, options->card);
}

bool plan_fits(const Plan *plan) {
    return plan->refusal == NULL && plan->arena < INT64_MAX &&
           (plan->budget == 0 || plan->arena <= plan->budget);
}

const Program *program_of(const Plan *plan, int kind) {
    while (kind < PROGRAMS && plan->program[kind].model == NULL)
        kind++;
    return kind < PROGRAMS ? &plan->program[kind] : NULL;
}

Program *next_program(Plan *plan, int kind) {
    while (kind < PROGRAMS && plan->program[kind].model == NULL)
        kind++;
    return kind < PROGRAMS ? &plan->program[kind] : NULL;
}

int64_t band_rows(const Program *program) {
    const int64_t all = program->choices->band_rows, passed = program->choices->passed_rows;
    return passes_rows(program) && passed > 0 && (all == 0 || passed < all) ? passed : all;
}

bool has_bands(const Program *program) {
    return program->options->bands > 1 || band_rows(program) > 0;
}

bool passes_rows(const Program *program) {
    return program->target->passes_rows && program->kind == PROGRAM_PREDICT;
}

bool has_windows(const Program *program) {
    return program->kind == PROGRAM_PREDICT && program->model->predict.windows.given;
}

const char *loop_text(LoopAxis axis) {
    return axis == AXIS_SAMPLES ? "samples" : "bands";
}

int64_t iterations(int64_t count, int64_t size) {
    return count / size + (count % size != 0);
}

int64_t iterations_of(const Program *program) {
    return iterations(program->batch, program->micro_batch);
}

int64_t samples_together(const TrainSection *train) {
    const int64_t of_batch = train->batch / train->accumulate,
                  of_rank = iterations(train->batch, train->ranks);
    return of_batch < of_rank ? of_batch : of_rank;
}

int64_t samples_of_process(const TrainSection *train) {
    return size_product(iterations(train->batch, train->ranks), train->ranks / train->processes);
}

int64_t staged_bytes(const Program *program, int64_t samples) {
    enum { ALIGNMENT = 64 }; /* of each input in a slot (runtime/library/loader.c) */
    const Graph *g = program->graph;
    const int *readers = count_readers(g);
    int64_t bytes = 0;
    for (int i = 0; i < program->model->ninput && !passes_rows(program); i++) {
        const ValueId input = program->model->input[i].value;
        Layout s = program->layout[input];
        program->target->lay_out(&g->value[input], samples, &s);
        if (readers[input] > 0)
            bytes = size_sum(bytes, size_rounded(s.bytes, ALIGNMENT));
    }
    return bytes;
}

/* ---- what a node touches ---- */

bool has_samples(const Graph *g, const Node *node) {
    for (Touch t = node_touches(g, node); touch_next(&t);)
        if (g->value[t.value].per_sample)
            return true;
    return false;
}

bool reads_staging(const Graph *g, const Node *node) {
    for (Touch t = node_touches(g, node); touch_next(&t);)
        if (!t.is_output && g->value[t.value].class == CLASS_STAGING && g->value[t.value].input >= 0)
            return true;
    return false;
}

void prepare_merge(Program *program, Node *node) {
    Graph *g = program->graph;
    const int64_t numbers = size_product(2, shape_elements(g->value[node->out[0]].shape));
    node_set_output(
        g, node, 2,
        workspace_new(g, node, "groups", TYPE_F64, size_product(program->model->train.ranks, numbers)));
}

const char *kernel_name(const Target *target, const Node *node) {
    const char *own = target->kernel[node->op].template, *shared = shared_kernel[node->op];
    return node->template != NULL ? node->template
           : own != NULL          ? own
           : shared != NULL       ? shared
                                  : op_table[node->op].name;
}

int bucket_number(const Program *program, ValueId gradients) {
    for (int b = 0; b < program->nbucket; b++)
        if (program->bucket[b].gradients == gradients)
            return b;
    return -1;
}

int64_t node_flops(const Program *program, const Node *node) {
    int64_t flops = op_table[node->op].flops(program->graph, node);
    return work_sum(0, has_samples(program->graph, node) ? program->micro_batch : 1, flops);
}

int64_t node_cost(const Program *program, const Node *node) {
    if (program->target->picoseconds != NULL)
        return program->target->picoseconds(program, node);
    int64_t bytes = 0;
    for (Touch t = node_touches(program->graph, node); touch_next(&t);)
        bytes = work_sum(bytes, 1, program->layout[t.value].bytes);
    return work_sum(node_flops(program, node), program->target->byte_cost, bytes);
}

int64_t shared_bytes(const Program *program, const Node *node) {
    int64_t bytes = 0;
    for (Touch t = node_touches(program->graph, node); touch_next(&t);)
        if (t.operand->access != ACCESS_SCRATCH && !program->graph->value[t.value].per_sample)
            bytes = size_sum(bytes, program->layout[t.value].bytes);
    return bytes;
}

/* A ring has held each row of a sample once. */
static int64_t sample_bytes(const Value *value, const Layout *s) {
    const int64_t stored = size_product(s->sample, type_bytes(value->type));
    return s->ring == 0 ? stored : size_product(stored / s->ring, shape_rows(value->shape));
}

/* A node that has samples runs in each iteration over them; a node that has none runs once. */
NodeWork node_work(const Program *program, const Node *node) {
    const Graph *g = program->graph;
    const bool samples = has_samples(g, node);
    NodeWork work = {.flops = work_sum(0, samples ? program->batch : 1, op_table[node->op].flops(g, node))};
    for (Touch t = node_touches(g, node); touch_next(&t);) {
        const Value *value = &g->value[t.value];
        const Layout *s = &program->layout[t.value];
        int64_t bytes = value->per_sample ? size_product(program->batch, sample_bytes(value, s))
                                          : size_product(samples ? iterations_of(program) : 1, s->bytes);
        work.bytes = work_sum(work.bytes, t.reads + t.writes, bytes);
    }
    return work;
}

/* ---- the tree of steps ---- */

int step_count(const Step *step, int nstep) {
    int count = nstep;
    for (int i = 0; i < nstep; i++)
        if (step[i].node < 0)
            count += step_count(step[i].body, step[i].nbody);
    return count;
}

static int list_nodes(const Step *step, int nstep, const Step *in, NodeId *node, const Step **loop) {
    int n = 0;
    for (int i = 0; i < nstep; i++) {
        if (step[i].node < 0) {
            n += list_nodes(step[i].body, step[i].nbody, &step[i], node + n, loop + n);
            continue;
        }
        node[n] = step[i].node;
        loop[n++] = in;
    }
    return n;
}

int schedule_nodes(Pool *pool, const Program *program, NodeId **node, const Step ***loop) {
    int most = step_count(program->step, program->nstep);
    *node = NEW_ARRAY(pool, NodeId, most);
    *loop = NEW_ARRAY(pool, const Step *, most);
    return list_nodes(program->step, program->nstep, NULL, *node, *loop);
}

static int64_t clamp(int64_t x, int64_t min, int64_t max) {
    return x < min ? min : x > max ? max : x;
}

int64_t rows_at(const Program *program, ValueId v, int64_t units) {
    const int64_t rows = shape_rows(program->graph->value[v].shape);
    return units == 0 ? rows : rows / program->units * units;
}

int64_t step_height(const Program *program, const Step *step, int64_t units) {
    const Graph *g = program->graph;
    return rows_at(program, rows_value(g, &g->node[step->node]), units);
}

RowRange step_rows(const Step *step, int64_t height, int64_t iteration) {
    const int64_t begin = iteration * step->rows - step->lag;
    return (RowRange){clamp(begin, 0, height), clamp(begin + step->rows, 0, height)};
}

int64_t bands_at(const Program *program, const Step *loop, int64_t units) {
    int64_t times = 0;
    for (int i = 0; i < loop->nbody; i++) {
        const Step *step = &loop->body[i];
        const int64_t until =
            step->rows == 0 ? 0 : iterations(step_height(program, step, units) + step->lag, step->rows);
        times = until > times ? until : times;
    }
    return times;
}

int section_steps(const Step *step, int nstep) {
    int count = 0;
    while (count < nstep && step[count].section > 0 && step[count].section == step[0].section)
        count++;
    return count;
}

int chain_steps(const Step *step, int nstep) {
    int count = 1;
    while (count < nstep && step[count].chained)
        count++;
    return count;
}

const Step *step_at(const Step *step, int nstep, int position) {
    for (int i = 0; i < nstep; i++) {
        int inside = step[i].node < 0 ? step_count(step[i].body, step[i].nbody) : 0;
        if (position == 0)
            return &step[i];
        if (position <= inside)
            return step_at(step[i].body, step[i].nbody, position - 1);
        position -= 1 + inside;
    }
    BUG("the schedule has no step at that position");
}

bool same_layout(const Layout *a, const Layout *b) {
    return a->bytes == b->bytes && a->origin == b->origin && a->sample == b->sample &&
           a->plane == b->plane && a->depth == b->depth && a->row == b->row && a->ring == b->ring;
}
