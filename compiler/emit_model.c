/* emit_model.c - the tables that describe the model to the runtime (unet/model.h). */
#include "ops.h"
#include "sources.h"

typedef struct {
    const Plan *plan;
    Text *out;
} Tables;

static const char *bool_text(bool b) {
    return b ? "true" : "false";
}

static const char *real_name(const Plan *plan) {
    return plan->options->real == TYPE_F64 ? "UNET_F64" : "UNET_F32";
}

/* ---- parameters ---- */

static void parameters(const Tables *t) {
    static const char *const init[] = {"UNET_INIT_ZEROS", "UNET_INIT_ONES", "UNET_INIT_UNIFORM",
                                       "UNET_INIT_HE_NORMAL"};
    const Plan *plan = t->plan;
    const Program *first = plan->program;
    while (first->model == NULL)
        first++;
    text_line(t->out, "static const UnetParameter parameter[] = {");
    for (int k = 0; k < plan->nparameter; k++) {
        const Value *v = &first->graph->value[first->parameter[k]];
        int64_t moment[2];
        for (int s = 0; s < 2; s++)
            moment[s] = plan->state_buffer[s][k] < 0 ? -1 : plan->buffer[plan->state_buffer[s][k]].offset;
        text_add(t->out, "    {%s, %d, {", quoted(plan->pool, v->name), v->shape.rank);
        for (int d = 0; d < v->shape.rank; d++)
            text_add(t->out, "%s%lld", d > 0 ? ", " : "", (long long)v->shape.dim[d]);
        text_add(t->out, "}, %s, %.17g, %lld, {%lld, %lld}},\n", init[v->init], v->bound,
                 (long long)plan->buffer[plan->parameter_buffer[k]].offset, (long long)moment[0],
                 (long long)moment[1]);
    }
    text_line(t->out, "};");
}

static int64_t parameter_count(const Plan *plan) {
    int64_t count = 0;
    for (int k = 0; k < plan->nparameter; k++)
        count += shape_elements(plan->buffer[plan->parameter_buffer[k]].shape);
    return count;
}

/* ---- inputs, outputs, results ---- */

static const char *const kind_name[] = {"UNET_IMAGE", "UNET_VOLUME", "UNET_LABELS", "UNET_INDEX"};

static void inputs_and_outputs(const Tables *t) {
    const Model *m = t->plan->model;
    text_line(t->out, "static const UnetInput input[] = {");
    for (int i = 0; i < m->ninput; i++) {
        const Input *in = &m->input[i];
        bool classes = in->kind == KIND_LABELS;
        int channels = classes ? in->classes : (int)shape_channels(m->graph->value[in->value].shape);
        text_line(t->out, "    {%s, %s, %s, %d, %d},", quoted(t->plan->pool, in->name), kind_name[in->kind],
                  bool_text(in->is_target), channels, in->ignore);
    }
    text_line(t->out, "};");
    text_line(t->out, "static const UnetOutput output[] = {");
    for (int i = 0; i < m->noutput; i++) {
        bool volume = m->graph->value[m->output[i].value].shape.rank == 4;
        text_line(t->out, "    {%s, %s},", quoted(t->plan->pool, m->output[i].name),
                  kind_name[volume ? KIND_VOLUME : KIND_IMAGE]);
    }
    text_line(t->out, "};");
}

static const Node *result_node(const Program *program, int result) {
    return &program->graph->node[program->graph->value[program->model->result[result].value].producer];
}

/* The index of the input that a value is, or -1. */
static int input_of(const Program *program, ValueId v) {
    return program->graph->value[v].class == CLASS_STAGING ? program->graph->value[v].input : -1;
}

/* What a denoiser is given is worth comparing with what it makes of it: the first input of the target's
 * shape. */
static int identity_of(const Program *program, const Node *node) {
    const Model *m = program->model;
    for (int i = 0; i < m->ninput; i++)
        if (!m->input[i].is_target && m->input[i].kind <= KIND_VOLUME &&
            shape_equal(program->graph->value[m->input[i].value].shape,
                        program->graph->value[node->in[1]].shape))
            return i;
    return -1;
}

/* A program that measures losses and metrics, if there is one. */
static const Program *measuring_program(const Plan *plan) {
    for (int k = PROGRAM_TRAIN; k <= PROGRAM_EVAL && plan->model->nresult > 0; k++)
        if (plan->program[k].model != NULL)
            return &plan->program[k];
    return NULL;
}

static void results(const Tables *t, const Program *program) {
    const Model *m = t->plan->model;
    text_line(t->out, "static const UnetResult result[] = {");
    for (int i = 0; i < m->nresult; i++) {
        const Result *r = &m->result[i];
        const Node *node = result_node(program, i);
        text_line(t->out, "    {%s, %s, %s, %.17g, %s, %d, %d},", quoted(t->plan->pool, r->text),
                  quoted(t->plan->pool, op_table[node->op].name), r->is_loss ? "UNET_LOSS" : "UNET_METRIC",
                  r->weight, bool_text(node->op == OP_PSNR),
                  node->op == OP_PSNR ? identity_of(program, node) : -1, input_of(program, node->in[1]));
    }
    text_line(t->out, "};");
}

/* ---- programs ---- */

static bool reads(const Program *program, ValueId value) {
    for (int i = 0; i < program->graph->nnode; i++)
        for (int k = 0; k < program->graph->node[i].nin; k++) {
            const ValueId *leaf;
            int n = value_leaves(program->graph, &program->graph->node[i].in[k], &leaf);
            for (int p = 0; p < n; p++)
                if (leaf[p] == value)
                    return true;
        }
    return false;
}

static void layout(const Tables *t, const Program *program, ValueId v, bool used) {
    static const char *const type[] = {"UNET_F32", "UNET_F64", "UNET_U8", "UNET_U16", "UNET_I32"};
    const Value *value = &program->graph->value[v];
    const Storage *s = &program->storage[v];
    text_line(t->out, "    {%s, %lld, {%lld, %lld, %lld}, %lld, %lld, %lld, %lld, %lld, %lld, %lld},",
              type[value->type], (long long)shape_channels(value->shape),
              (long long)shape_extent(value->shape, 0), (long long)shape_extent(value->shape, 1),
              (long long)shape_extent(value->shape, 2), (long long)s->block, (long long)s->origin,
              (long long)s->sample, (long long)s->plane, (long long)s->depth, (long long)s->row,
              used ? (long long)(s->sample * type_bytes(value->type)) : 0LL);
}

static int64_t slot_bytes(const Program *program) {
    int64_t bytes = 0;
    for (int i = 0; i < program->model->ninput; i++)
        if (reads(program, program->model->input[i].value))
            bytes += (program->storage[program->model->input[i].value].bytes + 63) / 64 * 64;
    return bytes;
}

static void program_tables(const Tables *t, const Program *program) {
    const Model *m = program->model;
    const char *name = program->name;
    bool predict = program->kind == PROGRAM_PREDICT;
    text_line(t->out, "static const UnetLayout %s_input[] = {", name);
    for (int i = 0; i < m->ninput; i++)
        layout(t, program, m->input[i].value, reads(program, m->input[i].value));
    text_line(t->out, "};");
    if (predict) {
        text_line(t->out, "static const UnetLayout %s_output[] = {", name);
        for (int i = 0; i < m->noutput; i++)
            layout(t, program, m->output[i].value, true);
        text_line(t->out, "};");
        text_line(t->out, "static const int64_t %s_output_offset[] = {", name);
        for (int i = 0; i < m->noutput; i++)
            text_line(t->out, "    %lld,",
                      (long long)t->plan->buffer[program->buffer_of[m->output[i].value]].offset);
        text_line(t->out, "};");
    }
    text_line(t->out, "static const int64_t %s_result_offset[] = {", name);
    for (int i = 0; i < m->nresult; i++) {
        int b = predict ? -1 : program->buffer_of[m->result[i].value];
        text_line(t->out, "    %lld,", b < 0 ? -1LL : (long long)t->plan->buffer[b].offset);
    }
    text_line(t->out, "    -1};");
    Shape size = program->graph->value[m->input[0].value].shape;
    text_line(
        t->out,
        "static const UnetProgram %s_program = {%s, %s, %lld, {%lld, %lld, %lld}, %lld, %s_input, %s, %s, "
        "%s_result_offset, %lld};",
        name, quoted(t->plan->pool, name), name, (long long)program->batch,
        (long long)shape_extent(size, 0), (long long)shape_extent(size, 1),
        (long long)shape_extent(size, 2), (long long)program->extent, name,
        predict ? "predict_output" : "NULL", predict ? "predict_output_offset" : "NULL", name,
        (long long)slot_bytes(program));
}

/* ---- data ---- */

static void data_section(const Tables *t, const DataSection *d, const char *name) {
    static const char *const op[] = {"UNET_SRC_FILES",    "UNET_SRC_NAME",    "UNET_SRC_NUMBER",
                                     "UNET_SRC_GAUSSIAN", "UNET_SRC_UNIFORM", "UNET_SRC_ADD",
                                     "UNET_SRC_SUB",      "UNET_SRC_MUL",     "UNET_SRC_DIV"};
    static const char *const transform[] = {"UNET_DO_CROP", "UNET_DO_FLIP"};
    static const char *const pad[] = {"UNET_PAD_NONE", "UNET_PAD_VALUE", "UNET_PAD_REFLECT",
                                      "UNET_PAD_REPLICATE", "UNET_PAD_ZERO"};
    for (int i = 0; i < d->nsource; i++) {
        text_line(t->out, "static const UnetSourceTerm %s_term_%d[] = {", name, i);
        for (int k = 0; k < d->source[i].nterm; k++) {
            const SourceTerm *s = &d->source[i].term[k];
            text_line(t->out, "    {%s, %s, %.17g, %.17g, %d},", op[s->op], quoted(t->plan->pool, s->text),
                      s->value, s->high, s->place.line);
        }
        text_line(t->out, "};");
    }
    if (d->nsource > 0)
        text_line(t->out, "static const UnetSource %s_source[] = {", name);
    for (int i = 0; i < d->nsource; i++)
        text_line(t->out, "    {%s, %d, %d, %d, %s_term_%d},", quoted(t->plan->pool, d->source[i].name),
                  d->source[i].input, d->source[i].channels, d->source[i].nterm, name, i);
    if (d->nsource > 0)
        text_line(t->out, "};");
    if (d->ntransform > 0)
        text_line(t->out, "static const UnetTransform %s_transform[] = {", name);
    for (int i = 0; i < d->ntransform; i++) {
        const Transform *f = &d->transform[i];
        text_line(t->out, "    {%s, %s, %s, %.17g, %u, %.17g},", transform[f->op], bool_text(f->random),
                  pad[f->pad], f->pad_value, f->axes, f->p);
    }
    if (d->ntransform > 0)
        text_line(t->out, "};");
    text_line(t->out, "static const UnetData %s = {%s%s, %d, %s%s, %d, %.17g, %lld, %s, %d};", name,
              d->nsource > 0 ? name : "NULL", d->nsource > 0 ? "_source" : "", d->nsource,
              d->ntransform > 0 ? name : "NULL", d->ntransform > 0 ? "_transform" : "", d->ntransform,
              d->holdout, (long long)d->holdout_seed, bool_text(d->shuffle), d->threads);
}

static void training(const Tables *t) {
    static const char *const optimizer[] = {"UNET_SGD", "UNET_ADAM", "UNET_ADAMW"};
    static const char *const unit[] = {"UNET_EPOCHS", "UNET_STEPS"};
    const TrainSection *s = &t->plan->model->train;
    const EvalSection *e = &t->plan->model->eval;
    Pool *pool = t->plan->pool;
    text_line(t->out,
              "static const UnetTraining training = {%s, %.17g, %s, %lld, %s, %lld, %lld, %s, %d, %lld, "
              "%s, %lld, "
              "%s, %s};",
              optimizer[s->optimizer.kind], s->optimizer.learning_rate, bool_text(s->drop_tail),
              (long long)s->duration, unit[s->duration_unit], (long long)s->steps_per_epoch,
              (long long)s->save_every, unit[s->save_unit], s->save_keep, (long long)e->every,
              unit[e->every_unit], (long long)s->seed, quoted(pool, s->pretrained),
              quoted(pool, s->optimizer_text));
}

/* ---- the model ---- */

static const char *program_pointer(const Plan *plan, ProgramKind kind) {
    const Program *p = &plan->program[kind];
    return p->model == NULL ? "NULL" : pool_text(plan->pool, "&%s_program", p->name);
}

static void model_table(const Tables *t) {
    const Plan *plan = t->plan;
    const Model *m = plan->model;
    static const char *const pad[] = {"UNET_PAD_NONE", "UNET_PAD_VALUE", "UNET_PAD_REFLECT",
                                      "UNET_PAD_REPLICATE", "UNET_PAD_ZERO"};
    text_line(t->out, "const UnetModel %s_model = {", m->name);
    t->out->depth++;
    text_line(t->out, "UNET_RUNTIME_VERSION, %s, %s, %s, %s, \"native\", %s, %d,",
              quoted(plan->pool, m->name), quoted(plan->pool, m->source),
              quoted(plan->pool, plan->source_hash), quoted(plan->pool, plan->target->name),
              real_name(plan), plan->options->max_threads);
    text_line(t->out, "%d, parameter, %lld, %lld,", plan->nparameter, (long long)parameter_count(plan),
              (long long)plan->persistent);
    bool measures = measuring_program(plan) != NULL;
    text_line(t->out, "%d, input, %d, output, %d, %s,", m->ninput, m->noutput, measures ? m->nresult : 0,
              measures ? "result" : "NULL");
    text_line(t->out, "%s, %s, %s, %lld,", program_pointer(plan, PROGRAM_TRAIN),
              program_pointer(plan, PROGRAM_EVAL), program_pointer(plan, PROGRAM_PREDICT),
              (long long)plan->arena);
    text_line(t->out, "%lld, %lld, %s,", (long long)plan->ring_slots, (long long)plan->loader_ring,
              pad[m->predict.pad]);
    text_line(t->out, "%s, %s, %s};", m->data.present ? "&data" : "NULL",
              m->eval_data.present ? "&eval_data" : "NULL", m->train.present ? "&training" : "NULL");
    t->out->depth--;
}

void emit_model(const Plan *plan, Text *out) {
    Tables t = {plan, out};
    const Model *m = plan->model;
    text_blank(out);
    text_line(out, "/* ---- tables for the runtime; see unet/model.h ---- */");
    text_blank(out);
    parameters(&t);
    inputs_and_outputs(&t);
    if (measuring_program(plan) != NULL)
        results(&t, measuring_program(plan));
    for (int k = 0; k < PROGRAMS; k++)
        if (plan->program[k].model != NULL)
            program_tables(&t, &plan->program[k]);
    if (m->data.present)
        data_section(&t, &m->data, "data");
    if (m->eval_data.present)
        data_section(&t, &m->eval_data, "eval_data");
    if (m->train.present)
        training(&t);
    text_blank(out);
    model_table(&t);
}
