/* plan.c - the pipeline from lowered graphs to a plan, as a list of calls. */
#include "plan.h"

static const char *const program_name[PROGRAMS] = {"train", "eval", "predict"};

const char *precision_text(const PlanOptions *options) {
    return options->tf32 ? "tf32" : type_text(options->stored);
}

const char *target_text(Pool *pool, const PlanOptions *options) {
    return options->architecture == NULL
               ? options->target->name
               : pool_text(pool, "%s:%s", options->target->name, options->architecture);
}

static void collect_parameters(Program *program) {
    const Graph *g = program->graph;
    for (ValueId v = 0; v < g->nvalue; v++)
        if (g->value[v].class == CLASS_PARAMETER)
            PUSH(g->pool, program->parameter, program->nparameter, v);
}

/* Numbers are f32 in the language; a reference build computes in f64 throughout, and inputs
 * and what lies between operators may be stored in fewer bits than they compute in. */
static void choose_types(Program *program, const PlanOptions *options) {
    for (ValueId v = 0; v < program->graph->nvalue; v++) {
        Value *value = &program->graph->value[v];
        bool between = value->class == CLASS_ACTIVATION || value->class == CLASS_ACTIVATION_GRADIENT;
        if (value->type != TYPE_F32)
            continue;
        if (value->class == CLASS_STAGING)
            value->type = options->staged;
        else
            value->type = between && value->per_sample ? options->stored : options->real;
    }
}

static void collect_gradients(Program *program) {
    program->gradient = NEW_ARRAY(program->graph->pool, ValueId, program->nparameter);
    for (int k = 0; k < program->nparameter; k++)
        program->gradient[k] = program->model->gradient_of[program->parameter[k]];
}

static int64_t batch_of(const Model *model, ProgramKind kind) {
    if (kind == PROGRAM_TRAIN)
        return model->train.batch;
    return kind == PROGRAM_EVAL ? model->eval.batch : model->predict.batch;
}

/* How many samples to train at a time.  Where loops are free, one over single samples costs next to nothing
 * once there is enough to do in one, and needs that many times less memory; below that, threads would wait
 * for each other. */
static int64_t micro_of(const Program *program, const PlanOptions *options) {
    const int64_t enough = 96 << 20; /* operations in the mean kernel of a turn */
    bool asked = options->micro > 0 || options->micro_batches > 1;
    if (program->kind != PROGRAM_TRAIN || options->micro_batches == 1 ||
        (!asked && !options->target->loops_are_free))
        return program->batch;
    if (options->micro > 0)
        return options->micro < program->batch ? options->micro : program->batch;
    if (options->micro_batches > 1)
        return (program->batch + options->micro_batches - 1) / options->micro_batches;
    int64_t flops = 0;
    for (int i = 0; i < program->graph->nnode; i++)
        flops = work_sum(flops, 1, node_flops(program, &program->graph->node[i]));
    int64_t mean = flops / (program->graph->nnode + 1) + 1, micro = (enough - 1) / mean + 1;
    if (micro >= program->batch)
        return program->batch;
    int64_t times = (program->batch + micro - 1) / micro;
    return (program->batch + times - 1) / times; /* turns of equal length */
}

static void make_program(Program *program, const PlanOptions *options, const Target *target) {
    prune(program);
    if (program->kind == PROGRAM_TRAIN) {
        autodiff(program->model);
        collect_gradients(program);
        update(program, options);
    }
    close_graph(program);
    fuse(program);
    choose_types(program, options);
    program->micro = 1;
    program->micro = micro_of(program, options);
    program->prefetches = options->prefetch && program->kind == PROGRAM_TRAIN;
    cast_inputs(program, options);
    target->prepare(program, options);
    storage(program, target);
    schedule(program, options);
}

/* Of the steps that are there for the first time, or of those that are there again. */
static int64_t steps_flops(const Program *program, const Step *step, int nstep, bool again) {
    int64_t flops = 0;
    for (int i = 0; i < nstep; i++)
        if (step[i].node < 0)
            flops =
                work_sum(flops, step[i].times, steps_flops(program, step[i].body, step[i].nbody, again));
        else if (step[i].recompute == again)
            flops = work_sum(flops, 1, node_flops(program, &program->graph->node[step[i].node]));
    return flops;
}

/* Each loader slot holds one batch of every input a program reads; slots are shared by the programs. */
static void plan_loader(Plan *plan) {
    plan->ring_slots = 3;
    for (int k = 0; k < PROGRAMS; k++) {
        int64_t bytes = 0;
        const Program *program = &plan->program[k];
        for (int i = 0; program->model != NULL && i < program->model->ninput; i++)
            if (__builtin_add_overflow(
                    bytes, batch_bytes(program, program->model->input[i].value, plan->target), &bytes))
                environment_error("a batch of inputs does not fit into 2^63 bytes");
        if (__builtin_mul_overflow(bytes, plan->ring_slots, &bytes))
            environment_error("the loader's slots do not fit into 2^63 bytes");
        if (bytes > plan->loader_ring)
            plan->loader_ring = bytes;
    }
}

Plan *plan_programs(Pool *pool, const PlanOptions *options, Model *const model[PROGRAMS]) {
    Plan *plan = NEW(pool, Plan);
    plan->pool = pool;
    plan->options = options;
    plan->target = options->target;
    for (int k = 0; k < PROGRAMS; k++) {
        Program *program = &plan->program[k];
        if (model[k] == NULL)
            continue;
        program->kind = (ProgramKind)k;
        program->name = program_name[k];
        program->model = model[k];
        program->graph = model[k]->graph;
        program->batch = batch_of(model[k], (ProgramKind)k);
        collect_parameters(program);
        if (plan->model == NULL) {
            plan->model = model[k];
            plan->nparameter = program->nparameter;
        }
        CHECK(program->nparameter == plan->nparameter);
        make_program(program, options, options->target);
    }
    buffers(plan);
    for (int k = 0; k < PROGRAMS; k++)
        if (plan->program[k].model != NULL)
            live(plan, &plan->program[k]);
    arena(plan);
    plan_loader(plan);
    plan->beside = plan->target->context > 0 ? plan->target->context : plan->loader_ring;
    check_plan(plan);
    const Program *train = &plan->program[PROGRAM_TRAIN];
    if (train->model != NULL) {
        plan->flops = steps_flops(train, train->step, train->nstep, false);
        plan->recompute_flops = steps_flops(train, train->step, train->nstep, true);
        plan->recompute_flops_bound = work_sum(0, turns_of(train), train->recompute_flops_bound);
    }
    return plan;
}
