/* pipeline.c - the way from a lowered graph to a plan: the passes in their order.  Begin to read here.
 *
 *     text -> dsl/ -> syntax tree -> front/ -> one graph a program
 *          -> the passes below -> plan -> emit/, report/
 *
 * First each program by itself: its graph is completed and rewritten for the target, then put in order.
 * Then the plan as a whole: programs share one arena.  After each pass over a graph it is held against the
 * rows of its operators (ir/verify.c), and the plan that is chosen is judged (passes/plan_verify.c).
 */
#include "pipeline.h"

#include "base/diag.h"
#include "base/size_math.h"
#include "ir/ops.h"
#include "ir/staging.h"
#include "ir/target.h"
#include "ir/verify.h"
#include "passes/passes.h"

#include <string.h>

/* ---- the passes over one program ---- */

static const struct {
    const char *name;
    void (*run)(Program *program);
} passes[] = {
    {"diffuse", diffuse_inputs},         /* a diffusion draws times and noise */
    {"prune", prune},                    /* what the results do not need goes */
    {"autodiff", autodiff},              /* training: the backward pass */
    {"update", update},                  /* training: the optimiser's step */
    {"close", close_graph},              /* a last node reads the results */
    {"compress", compress},              /* training: activations wait in codes */
    {"fuse", fuse},                      /* conv + relu and the like become one node */
    {"renormalise", renormalise},        /* training of volumes: normalises again instead of keeping */
    {"types", choose_types},             /* the stored type of each value */
    {"micro_batch", choose_micro_batch}, /* how many samples at a time */
    {"heads", bring_heads_together},     /* what reads enlarged logits stands behind them */
    {"cast", cast_inputs},               /* inputs in the type of activations */
    {"groups", sum_groups},              /* with `ranks`: the tree in which sums are added */
    {"prepare", prepare},                /* what the target's kernels need: packed weights, scratch */
    {"reach", find_reach},               /* prediction: what windows of larger images have to overlap */
    {"layout", choose_layouts},          /* halo, blocks, strides, bytes of each value */
    {"parts", part_updates},             /* training: the optimiser's step, cut into a few */
    {"schedule", schedule},              /* the order, the loops, recomputation */
    {"buckets", cut_buckets},            /* with `ranks`: gradients are sent before the last is complete */
};
enum { PASSES = sizeof passes / sizeof *passes };

static const char *const program_name[PROGRAMS] = {"train", "eval", "predict"};

static int64_t batch_of(const Model *model, ProgramKind kind) {
    if (kind == PROGRAM_TRAIN)
        return model->train.batch;
    return kind == PROGRAM_EVAL ? model->eval.batch : model->predict.batch;
}

static void collect(Program *program, Class class, ValueId **value, int *count) {
    const Graph *g = program->graph;
    for (ValueId v = 0; v < g->nvalue; v++)
        if (g->value[v].class == class)
            PUSH(g->pool, *value, *count, v);
}

static void begin_program(Program *program, ProgramKind kind, Model *model, const Options *options,
                          const Choices *choices) {
    *program = (Program){.kind = kind,
                         .name = program_name[kind],
                         .options = options,
                         .choices = choices,
                         .target = options->target,
                         .model = model,
                         .graph = model->graph,
                         .batch = batch_of(model, kind),
                         .gradient_norm = -1,
                         .whole_state = -1,
                         .control = -1};
    program->micro_batch = program->batch;
    program->prefetches = choices->prefetch && kind == PROGRAM_TRAIN;
    collect(program, CLASS_PARAMETER, &program->parameter, &program->nparameter);
    collect(program, CLASS_RUNNING_STATISTIC, &program->statistic, &program->nstatistic);
}

/* The passes up to LAST and with it. */
static void run_passes(Program *program, int last) {
    for (int k = 0; k <= last; k++) {
        passes[k].run(program);
        Pool *scratch = pool_part(program->graph->pool);
        NodeId *order = NULL;
        const Step **loop;
        int count = program->nstep == 0 ? 0 : schedule_nodes(scratch, program, &order, &loop);
        verify_graph(program->graph, passes[k].name, order, count);
        pool_free(scratch);
    }
}

/* ---- the whole plan ---- */

/* Returns the FLOPs of the steps that run for the first time, or AGAIN. */
static int64_t steps_flops(const Program *program, const Step *step, int nstep, bool again) {
    int64_t flops = 0;
    for (int i = 0; i < nstep; i++)
        if (step[i].node < 0)
            flops = work_sum(flops, step[i].axis == AXIS_SAMPLES ? step[i].times : 1,
                             steps_flops(program, step[i].body, step[i].nbody, again));
        else if (step[i].recompute == again)
            flops = work_sum(flops, 1, node_flops(program, &program->graph->node[step[i].node]));
    return flops;
}

/* Returns the cost of a step that runs TIMES times.  Each time it does a part of the node's work and reads
 * the weights again.  A step that packs weights does all of its work each time. */
static int64_t step_cost(const Program *program, const Step *step, int64_t times) {
    const Target *target = program->target;
    const Node *node = &program->graph->node[step->node];
    const int64_t once = node_cost(program, node);
    if (has_trait(node, TRAIT_OF_RUNTIME))
        return 0;
    if (step->rows == 0)
        return work_sum(0, times, size_sum(once, target->step_cost));
    const int64_t again = work_sum(target->step_cost, target->byte_cost, shared_bytes(program, node));
    return size_sum(work_sum(once, times - 1, again), target->step_cost);
}

/* Returns the cost of steps in loops that run TIMES times. */
static int64_t steps_cost(const Program *program, const Step *step, int nstep, int64_t times) {
    int64_t cost = 0;
    for (int i = 0; i < nstep; i++) {
        const bool samples = step[i].axis == AXIS_SAMPLES;
        if (step[i].node >= 0)
            cost = size_sum(cost, step_cost(program, &step[i], times));
        else
            cost =
                work_sum(cost, samples ? step[i].times : 1,
                         steps_cost(program, step[i].body, step[i].nbody, samples ? times : step[i].times));
    }
    return cost;
}

static void count_work(Plan *plan) {
    const Program *train = program_of(plan, PROGRAM_TRAIN);
    if (train == NULL || train->kind != PROGRAM_TRAIN)
        return;
    plan->flops = steps_flops(train, train->step, train->nstep, false);
    plan->recompute_flops = steps_flops(train, train->step, train->nstep, true);
    plan->recompute_flops_bound = work_sum(0, iterations_of(train), train->recompute_flops_bound);
}

/* Parameters, the optimiser's state and one region of gradients are alive at one time at least, or all of
 * the gradients. */
static int64_t fixed_bytes(const Plan *plan) {
    const Program *train = &plan->program[PROGRAM_TRAIN];
    const bool all = train->model != NULL && updates_wait(train->graph);
    int64_t sum = plan->persistent, gradients = 0;
    for (int b = 0; b < plan->nbuffer; b++) {
        const Buffer *buffer = &plan->buffer[b];
        if (buffer->slice >= 0)
            continue;
        if (buffer->lifetime == LIFETIME_LOADED)
            sum = size_sum(sum, buffer->bytes);
        if (buffer->class == CLASS_PARAMETER_GRADIENT)
            gradients = all                         ? size_sum(gradients, buffer->bytes)
                        : buffer->bytes > gradients ? buffer->bytes
                                                    : gradients;
    }
    return size_sum(sum, gradients);
}

static int64_t most_copied(const Plan *plan) {
    int64_t most = 0;
    for (const Program *p = program_of(plan, 0); p != NULL; p = program_of(plan, (int)p->kind + 1))
        most = copied_bytes(p) > most ? copied_bytes(p) : most;
    return most;
}

/* Notes the first reason why the target cannot run the plan, whatever the budget. */
static void collect_refusals(Plan *plan) {
    for (const Program *p = program_of(plan, 0); p != NULL; p = program_of(plan, (int)p->kind + 1))
        if (plan->refusal == NULL)
            plan->refusal = p->refusal;
    for (int b = 0; plan->target->too_large != NULL && b < plan->nbuffer && plan->refusal == NULL; b++)
        if (plan->buffer[b].space == SPACE_DEVICE)
            plan->refusal = plan->target->too_large(plan->pool, &plan->buffer[b]);
}

void plan_programs(Plan *plan, Pool *pool, const Options *options, const Choices *choices,
                   Model *const model[PROGRAMS]) {
    *plan = (Plan){.pool = pool, .options = options, .choices = *choices, .target = options->target};
    plan->budget = options->budget;
    for (int k = 0; k < PROGRAMS; k++) {
        if (model[k] == NULL)
            continue;
        Program *program = &plan->program[k];
        begin_program(program, (ProgramKind)k, model[k], options, &plan->choices);
        if (plan->model == NULL) {
            plan->model = model[k];
            plan->nparameter = program->nparameter;
            plan->nstatistic = program->nstatistic;
        }
        CHECK(program->nparameter == plan->nparameter && program->nstatistic == plan->nstatistic);
        if (plan->budget == 0 && model[k]->train.present)
            plan->budget = model[k]->train.memory;
        run_passes(program, PASSES - 1);
    }
    const Program *train = &plan->program[PROGRAM_TRAIN];
    plan->cost = steps_cost(train, train->step, train->nstep, 1);
    buffers(plan);  /* one for each value; what shares bytes */
    rings(plan);    /* tensors that hold only some of their rows at a time */
    live(plan);     /* from which step to which */
    join(plan);     /* conv and max_pool and the like become one step */
    sections(plan); /* steps that one launch does come side by side */
    chains(plan);   /* neighbours that work point by point are one launch */
    if (choices->branches)
        branches(plan); /* gradients by weights run beside what others wait for */
    offsets(plan);      /* where each lies; the size of the arena */
    plan->fixed = fixed_bytes(plan);
    plan->copied = most_copied(plan);
    collect_refusals(plan);
    count_work(plan);
}

void judge_plan(const Plan *plan) {
    verify_plan(plan);
}

const RematProblem *training_problem(Pool *pool, const Options *options, const Choices *choices,
                                     Model *model) {
    Choices *asks = NEW(pool, Choices);
    Program *program = NEW(pool, Program);
    *asks = *choices;
    asks->capacity = INT64_MAX; /* all can be kept: the problem is made, and nothing is searched for */
    asks->most_extra = 0;
    begin_program(program, PROGRAM_TRAIN, model, options, asks);
    run_passes(program, PASSES - 1);
    return program->remat;
}

const Node *band_end(const Program *program, bool *uneven) {
    return ends_sweep(program, uneven);
}

/* ---- the graph between two passes ---- */

static int pass_number(const char *name) {
    for (int k = 0; k < PASSES; k++)
        if (strcmp(passes[k].name, name) == 0)
            return k;
    return -1;
}

/* Nodes in the order in which they run. */
static void print_steps(const Graph *g, const Step *step, int nstep, int depth, Text *out) {
    for (int i = 0; i < nstep; i++) {
        text_add(out, "%*s", depth, "");
        if (step[i].node >= 0) {
            node_print(g, step[i].node, out);
            continue;
        }
        text_line(out, "%lld iterations over %s:", (long long)step[i].times, loop_text(step[i].axis));
        print_steps(g, step[i].body, step[i].nbody, depth + 2, out);
    }
}

bool print_graph_after(Pool *pool, const Options *options, const Choices *choices,
                       Model *const model[PROGRAMS], const char *pass, Text *out) {
    const int last = pass_number(pass);
    for (int k = 0; k < PROGRAMS && last >= 0; k++) {
        if (model[k] == NULL)
            continue;
        Program *program = NEW(pool, Program);
        begin_program(program, (ProgramKind)k, model[k], options, choices);
        run_passes(program, last);
        text_line(out, "%s:", program->name);
        if (program->nstep > 0)
            print_steps(program->graph, program->step, program->nstep, 0, out);
        else
            graph_print(program->graph, out);
    }
    return last >= 0;
}

const char *pass_names(Pool *pool) {
    const char *names = "";
    for (int k = 0; k < PASSES; k++)
        names = pool_text(pool, "%s%s%s", names, k > 0 ? ", " : "", passes[k].name);
    return names;
}
