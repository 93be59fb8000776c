/* model_tables.c - the tables that describe the model to the runtime (unet/model.h). */
#include "passes/passes.h"
#include "ir/labels.h"
#include "ir/target.h"
#include "ir/ops.h"
#include "ir/staging.h"
#include "base/table.h"
#include "emit/sources.h"

#include <string.h>

typedef struct {
    const Plan *plan;
    Text *out;
} Tables;

static const char *bool_text(bool b) {
    return b ? "true" : "false";
}

static const char *real_name(const Plan *plan) {
    return type_constant(plan->options->real);
}

/* ---- parameters ---- */

/* A tensor of the checkpoint that lies in BUFFER; MOMENT: of the optimiser's state for it. */
static void parameter_row(const Tables *t, const Value *v, int buffer, const int64_t moment[MAX_STATES]) {
    static const char *const init[] = {[INIT_ZEROS] = "UNET_INIT_ZEROS",
                                       [INIT_ONES] = "UNET_INIT_ONES",
                                       [INIT_UNIFORM] = "UNET_INIT_UNIFORM",
                                       [INIT_HE_NORMAL] = "UNET_INIT_HE_NORMAL",
                                       [INIT_CONSTANT] = "UNET_INIT_CONSTANT"};
    const Plan *plan = t->plan;
    text_add(t->out, "    {%s, %d, {", c_quoted(plan->pool, v->name), v->shape.rank);
    for (int d = 0; d < v->shape.rank; d++)
        text_add(t->out, "%s%lld", d > 0 ? ", " : "", (long long)v->shape.dim[d]);
    text_add(t->out, "}, %s, %.17g, %lld, {", init[v->init], v->bound,
             (long long)plan->buffer[buffer].offset);
    for (int m = 0; m < MAX_STATES; m++)
        text_add(t->out, "%s%lld", m > 0 ? ", " : "", (long long)moment[m]);
    text_line(t->out, "}},");
}

/* The place where the state M of all processes is put together; -1: it has no slices. */
static int64_t whole_state(const Plan *plan, int m) {
    const Program *train = &plan->program[PROGRAM_TRAIN];
    int before = 0;
    if (train->model == NULL || train->whole_state < 0 || plan->shard_buffer[m] < 0)
        return -1;
    for (int k = 0; k < m; k++)
        before += plan->shard_buffer[k] >= 0;
    return plan->buffer[train->buffer_of[train->whole_state]].offset +
           before * plan->region_elements * type_bytes(plan->options->real);
}

/* The state M of parameter K; -1: it has none. */
static int64_t moment_offset(const Plan *plan, int m, int k) {
    const int64_t whole = whole_state(plan, m);
    const Buffer *parameter = &plan->buffer[plan->parameter_buffer[k]];
    if (whole < 0)
        return plan->state_buffer[m][k] >= 0 ? plan->buffer[plan->state_buffer[m][k]].offset : -1;
    const int64_t at = parameter->offset - plan->buffer[parameter->slice].offset;
    return at < plan->region_elements * type_bytes(plan->options->real) ? whole + at : -1;
}

static void slices(const Tables *t) {
    const Plan *plan = t->plan;
    text_line(t->out, "static const UnetSlices slices = {");
    text_add(t->out, "    .numbers = %lld, .slice = {", (long long)plan->region_elements);
    for (int m = 0; m < MAX_STATES; m++)
        text_add(t->out, "%s%lld", m > 0 ? ", " : "",
                 plan->shard_buffer[m] < 0 ? -1LL : (long long)plan->buffer[plan->shard_buffer[m]].offset);
    text_add(t->out, "}, .whole = {");
    for (int m = 0; m < MAX_STATES; m++)
        text_add(t->out, "%s%lld", m > 0 ? ", " : "", (long long)whole_state(plan, m));
    text_line(t->out, "}};");
}

/* Parameters and running statistics, in the order in which the file makes them. */
static void parameters(const Tables *t) {
    const Plan *plan = t->plan;
    const Program *first = program_of(plan, 0);
    text_line(t->out,
              "/* name, rank, sizes, initial values and their bound, offset, offsets of the moments */");
    text_line(t->out, "static const UnetParameter parameter[] = {");
    for (int k = 0, s = 0; k < plan->nparameter || s < plan->nstatistic;) {
        int64_t moment[MAX_STATES];
        for (int m = 0; m < MAX_STATES; m++)
            moment[m] = -1;
        if (k == plan->nparameter || (s < plan->nstatistic && first->statistic[s] < first->parameter[k])) {
            parameter_row(t, &first->graph->value[first->statistic[s]], plan->statistic_buffer[s], moment);
            s++;
            continue;
        }
        for (int m = 0; m < MAX_STATES; m++)
            moment[m] = moment_offset(plan, m, k);
        parameter_row(t, &first->graph->value[first->parameter[k]], plan->parameter_buffer[k], moment);
        k++;
    }
    text_line(t->out, "};");
}

/* The bytes that go to a device once weights are loaded: from the front of the arena to the last weight. */
static int64_t loaded_bytes(const Plan *plan) {
    int64_t end = plan->persistent;
    for (int k = 0; k < plan->nparameter; k++) {
        const Buffer *b = &plan->buffer[plan->parameter_buffer[k]];
        end = b->offset + b->bytes > end ? b->offset + b->bytes : end;
    }
    return end;
}

static int64_t parameter_count(const Plan *plan) {
    int64_t count = 0;
    for (int k = 0; k < plan->nparameter; k++)
        count += shape_elements(plan->buffer[plan->parameter_buffer[k]].shape);
    return count;
}

/* ---- inputs, outputs, results ---- */

static const char *const kind_name[] = {[KIND_IMAGE] = "UNET_IMAGE",
                                        [KIND_VOLUME] = "UNET_VOLUME",
                                        [KIND_SIGNAL] = "UNET_SIGNAL",
                                        [KIND_NUMBER] = "UNET_SCALAR",
                                        [KIND_LABELS] = "UNET_LABELS"};

static const char *const pad_name[] = {
    [PAD_NONE] = "UNET_PAD_NONE",       [PAD_VALUE] = "UNET_PAD_VALUE",
    [PAD_REFLECT] = "UNET_PAD_REFLECT", [PAD_REPLICATE] = "UNET_PAD_REPLICATE",
    [PAD_ZERO] = "UNET_PAD_ZERO",       [PAD_MEAN] = "UNET_PAD_MEAN"};

static const char *const unit_name[] = {[UNIT_EPOCHS] = "UNET_EPOCHS", [UNIT_STEPS] = "UNET_STEPS"};

static const char *const fit_name[] = {[FIT_NONE] = "UNET_FIT_NONE",
                                       [FIT_EXACT] = "UNET_FIT_EXACT",
                                       [FIT_INSIDE] = "UNET_FIT_INSIDE",
                                       [FIT_OUTSIDE] = "UNET_FIT_OUTSIDE"};

/* ", .way = {.exif = true}", or nothing for files that are read in the plain way. */
static const char *image_way(Pool *pool, const ImageWay *way) {
    Text out = text_new(pool);
    if (way->missing == MISSING_VALUE)
        text_add(&out, ", .missing = UNET_MISSING_VALUE, .missing_value = %.17g", way->missing_value);
    if (way->missing == MISSING_IGNORED)
        text_add(&out, ", .missing = UNET_MISSING_IGNORED");
    if (way->signal)
        text_add(&out, ", .signal = true");
    if (way->words)
        text_add(&out, ", .words = true");
    if (way->to_grey)
        text_add(&out, ", .to_grey = true");
    if (way->upright)
        text_add(&out, ", .upright = true");
    if (way->alpha)
        text_add(&out, ", .alpha = true");
    if (way->names_page)
        text_add(&out, ", .names_page = true, .page = %d", way->page);
    if (way->entry != NULL)
        text_add(&out, ", .entry = %s", c_quoted(pool, way->entry));
    if (way->fit != FIT_NONE)
        text_add(&out, ", .fit = %s, .box = {%d, %d}, .times = %d", fit_name[way->fit], way->box[0],
                 way->box[1], way->times);
    return out.length == 0 ? "" : pool_text(pool, ", .way = {%s}", out.bytes + 2);
}

/* How the files are read from which input INPUT comes, by way of other sources too. */
static ImageWay way_of_input(const DataSection *d, int input) {
    const char *name = NULL;
    for (int i = d->nsource - 1; i >= 0; i--) {
        const Source *source = &d->source[i];
        for (int k = 0; k < source->nterm &&
                        (source->input == input || (name != NULL && strcmp(source->name, name) == 0));
             k++) {
            if (source->term[k].op == SOURCE_FILES)
                return source->term[k].way;
            if (source->term[k].op == SOURCE_NAME)
                name = source->term[k].text;
        }
    }
    return (ImageWay){.missing = MISSING_REFUSED};
}

static void inputs_and_outputs(const Tables *t) {
    const Model *m = t->plan->model;
    static const char *const normalizing[] = {
        "UNET_AS_READ",         "UNET_NORMALIZED",        "UNET_NORMALIZED_AS_MEASURED",
        "UNET_NORMALIZED_EACH", "UNET_NORMALIZED_MASKED", "UNET_NORMALIZED_CT"};
    text_line(t->out, "static const UnetInput input[] = {");
    for (int i = 0; i < m->ninput; i++) {
        const Input *in = &m->input[i];
        text_line(t->out, "    {%s, %s, %s, %d, %lld, %lld, %s,", c_quoted(t->plan->pool, in->name),
                  kind_name[in->kind], bool_text(in->is_target),
                  (int)shape_channels(m->graph->value[in->value].shape), (long long)in->classes,
                  (long long)in->ignore, normalizing[in->normalizing]);
        const ImageWay way = way_of_input(&m->data, i);
        text_line(t->out,
                  "     .normal = {.mean = {%.17g, %.17g, %.17g, %.17g}, .deviation = {%.17g, %.17g, "
                  "%.17g, %.17g}}%s},",
                  in->mean[0], in->mean[1], in->mean[2], in->mean[3], in->deviation[0], in->deviation[1],
                  in->deviation[2], in->deviation[3], image_way(t->plan->pool, &way));
    }
    text_line(t->out, "};");
    text_line(t->out, "static const UnetOutput output[] = {");
    for (int i = 0; i < m->noutput; i++) {
        const int rank = m->graph->value[m->output[i].value].shape.rank;
        const int64_t classes = m->output[i].classes;
        text_line(t->out, "    {%s, %s, %lld},", c_quoted(t->plan->pool, m->output[i].name),
                  kind_name[classes > 0           ? KIND_LABELS
                            : rank == VOLUME_RANK ? KIND_VOLUME
                            : rank == SIGNAL_RANK ? KIND_SIGNAL
                                                  : KIND_IMAGE],
                  (long long)classes);
    }
    text_line(t->out, "};");
}

/* The index of the input that a value is, or -1. */
static int input_of(const Program *program, ValueId v) {
    return program->graph->value[v].class == CLASS_STAGING ? program->graph->value[v].input : -1;
}

/* The input that a denoiser's output is worth comparing with: the first input of the target's shape, unless
 * it is normalised. */
static int identity_of(const Program *program, ValueId truth) {
    const Model *m = program->model;
    for (int i = 0; i < m->ninput; i++)
        if (!m->input[i].is_target && m->input[i].normalizing == AS_READ &&
            shape_equal(program->graph->value[m->input[i].value].shape, program->graph->value[truth].shape))
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
    text_line(t->out, "/* as written, operator, kind, weight, more is better, input to compare with, "
                      "target, classes, which, output, ignored */");
    text_line(t->out, "static const UnetResult result[] = {");
    for (int i = 0; i < m->nresult; i++) {
        const Result *r = &m->result[i];
        const LabelAttributes *labels = r->labels;
        const bool more_is_better = (op_table[r->op].traits & TRAIT_MORE_IS_BETTER) != 0,
                   classes = labels != NULL && labels->counts_pairs;
        text_line(t->out, "    {%s, %s, %s, %.17g, %s, %d, %d, %lld, %lld, %d, %lld},",
                  c_quoted(t->plan->pool, r->text), c_quoted(t->plan->pool, op_table[r->op].name),
                  r->is_loss ? "UNET_LOSS" : "UNET_METRIC", r->weight, bool_text(more_is_better),
                  more_is_better && labels == NULL ? identity_of(program, r->truth) : -1,
                  input_of(program, r->truth), classes ? (long long)labels->classes : 0LL,
                  classes ? (long long)labels->class : 0LL, r->output,
                  classes ? (long long)labels->ignore : -1LL);
    }
    text_line(t->out, "};");
}

/* ---- programs ---- */

const char *layout_initialiser(Pool *pool, const Value *value, const Layout *s, bool used) {
    return pool_text(pool, "{%s, %lld, {%lld, %lld, %lld}, %lld, %lld, %lld, %lld, %lld, %lld, %lld, %lld}",
                     type_constant(value->type), (long long)shape_channels(value->shape),
                     (long long)shape_extent(value->shape, 0), (long long)shape_extent(value->shape, 1),
                     (long long)shape_extent(value->shape, 2), (long long)s->block, (long long)s->origin,
                     (long long)s->sample, (long long)s->plane, (long long)s->depth, (long long)s->row,
                     (long long)s->ring, used ? (long long)(s->sample * type_bytes(value->type)) : 0LL);
}

static void layout_row(const Tables *t, const Program *program, ValueId v, bool used) {
    text_line(t->out, "    %s,",
              layout_initialiser(t->plan->pool, &program->graph->value[v], &program->layout[v], used));
}

/* The shape that losses and metrics compare: zeros if they compare tensors of several sizes, or nothing, or
 * labels made smaller, which are no part of the middle, as a smaller target is. */
static Shape measured_shape(const Program *program) {
    const Model *m = program->model;
    Shape all = {.rank = 4};
    for (int i = 0; program->kind != PROGRAM_PREDICT && i < m->nresult; i++) {
        const ValueId truth = m->result[i].truth;
        Shape shape = program->graph->value[truth].shape;
        if (labels_origin(program->graph, truth) != truth)
            return (Shape){.rank = 4};
        for (int axis = 0; i > 0 && axis < AXES; axis++)
            if (shape_extent(shape, axis) != shape_extent(all, axis))
                return (Shape){.rank = 4};
        all = shape;
    }
    return all;
}

static int64_t offset_of(const Tables *t, const Program *program, ValueId v) {
    const int b = program->buffer_of[v];
    return b < 0 ? -1 : t->plan->buffer[b].offset;
}

/* Do windows go through pictures or volumes that are larger than the input? */
static bool tells_windows(const Program *program) {
    const Shape shape = program->graph->value[program->model->input[0].value].shape;
    return program->kind == PROGRAM_PREDICT && (program->reach[1].grid > 0 || shape.rank > AXES);
}

static void program_table(const Tables *t, const Program *program) {
    const char *name = program->name;
    const bool predict = program->kind == PROGRAM_PREDICT, called = t->plan->target->model_members == NULL;
    Shape size = program->graph->value[program->model->input[0].value].shape;
    Shape measured = measured_shape(program);
    text_line(t->out, "static const UnetProgram %s_program = {", name);
    text_line(t->out, "    .name = %s,", c_quoted(t->plan->pool, name));
    if (called)
        text_line(t->out, "    .run = %s,", name);
    if (called && program->nonce > 0)
        text_line(t->out, "    .prepare = %s_prepare,", name);
    text_line(t->out, "    .batch = %lld, .steps = %d,", (long long)program->batch,
              step_count(program->step, program->nstep));
    text_line(t->out, "    .size = {%lld, %lld, %lld},", (long long)shape_extent(size, 0),
              (long long)shape_extent(size, 1), (long long)shape_extent(size, 2));
    text_line(t->out, "    .measured = {%lld, %lld, %lld},", (long long)shape_extent(measured, 0),
              (long long)shape_extent(measured, 1), (long long)shape_extent(measured, 2));
    text_line(t->out, "    .extent = %lld,", (long long)program->extent);
    text_line(t->out, "    .inputs = %s_input,", name);
    if (predict) {
        text_line(t->out, "    .outputs = predict_output,");
        text_line(t->out, "    .output_offsets = predict_output_offset,");
    }
    if (passes_rows(program)) {
        text_line(t->out, "    .input_offsets = predict_input_offset,");
        text_line(t->out, "    .units = %lld,", (long long)program->units);
        text_line(t->out, "    .input_bands = predict_input_band, .output_bands = predict_output_band,");
    }
    if (tells_windows(program))
        text_line(t->out, "    .windows = &predict_windows,");
    text_line(t->out, "    .result_offsets = %s_result_offset,", name);
    text_line(t->out, "    .input_bytes = %lld,", (long long)staged_bytes(program, program->batch));
    if (program->gradient_norm >= 0)
        text_line(t->out, "    .gradient_norm = %lld,",
                  (long long)offset_of(t, program, program->gradient_norm));
    text_line(t->out, "};");
}

/* The step at which the runtime brings or takes V, or NULL. */
static const Step *passing_step(const Program *program, const Step *step, int nstep, ValueId v) {
    const Graph *g = program->graph;
    for (int i = 0; i < nstep; i++) {
        if (step[i].node < 0) {
            const Step *found = passing_step(program, step[i].body, step[i].nbody, v);
            if (found != NULL)
                return found;
        } else if (has_trait(&g->node[step[i].node], TRAIT_OF_RUNTIME)) {
            for (Touch t = node_touches(g, &g->node[step[i].node]); touch_next(&t);)
                if (t.value == v)
                    return &step[i];
        }
    }
    return NULL;
}

/* The rows of V that are passed in an iteration: all, or the rows of a band. */
static void passed_rows(const Program *program, ValueId v, Text *bands) {
    const Step *step = passing_step(program, program->step, program->nstep, v);
    const bool rolls = program->units > 0 && step != NULL;
    text_add(bands, "{%lld, %lld, %lld}, ",
             rolls ? (long long)step->rows : (long long)rows_at(program, v, 0),
             rolls ? (long long)step->lag : 0LL,
             rolls ? (long long)rows_at(program, v, 1) : (long long)rows_at(program, v, 0));
}

static void passed_tables(const Tables *t, const Program *program) {
    const Model *m = program->model;
    Pool *pool = t->plan->pool;
    Text offsets = text_new(pool), in = text_new(pool), out = text_new(pool);
    for (int i = 0; i < m->ninput; i++) {
        text_add(&offsets, "%lld, ", (long long)offset_of(t, program, m->input[i].value));
        passed_rows(program, m->input[i].value, &in);
    }
    for (int i = 0; i < m->noutput; i++)
        passed_rows(program, m->output[i].value, &out);
    text_line(t->out, "static const int64_t predict_input_offset[] = {%s};", offsets.bytes);
    text_line(t->out, "/* rows in a band, rows that it lies behind, rows in a unit */");
    text_line(t->out, "static const UnetBand predict_input_band[] = {%s};", in.bytes);
    text_line(t->out, "static const UnetBand predict_output_band[] = {%s};", out.bytes);
}

static const char *reach_text(Pool *pool, const Reach *reach) {
    return pool_text(pool, "{%lld, %lld, %lld, %lld}", (long long)reach->unit, (long long)reach->grid,
                     (long long)reach->before, (long long)reach->after);
}

/* Buffers of slices and sums, where the arena has room for them. */
static void windows_buffers(const Tables *t, const Program *program, Text *table) {
    const Buffer *buffer = t->plan->buffer;
    if (program->model->predict.windows.most[0] == 0)
        return;
    text_add(t->out, "static const int64_t predict_sums[] = {");
    for (int i = 0; i < program->model->noutput; i++)
        text_add(t->out, "%lld, ", (long long)buffer[program->window_sums[i]].offset);
    text_line(t->out, "};");
    text_add(table, ", .most = {%lld, %lld}, .slices = %lld, .sums = predict_sums",
             (long long)program->model->predict.windows.most[0],
             (long long)program->model->predict.windows.most[1],
             (long long)buffer[program->window_slices].offset);
}

static void windows_table(const Tables *t, const Program *program) {
    const Windows *w = &program->model->predict.windows;
    const Node *all = program->exact ? NULL : program->sees_all;
    Pool *pool = t->plan->pool;
    Text table = text_new(pool);
    text_add(&table, "static const UnetWindows predict_windows = {.overlap = %.17g, .gaussian = %s",
             w->overlap, bool_text(w->gaussian));
    if (w->given)
        text_add(&table, ", .given = true, .mirror = %u", w->mirror);
    windows_buffers(t, program, &table);
    text_add(&table, ", .reach = {%s, %s}", reach_text(pool, &program->reach[1]),
             reach_text(pool, &program->reach[2]));
    if (program->exact)
        text_add(&table, ", .exact = true, .same_bits = %s", bool_text(program->same_bits));
    if (all != NULL)
        text_add(&table, ", .sees_all = %s, .line = %d",
                 c_quoted(pool, pool_text(pool, "%s of %s", node_operator(pool, all), all->name)),
                 node_line(all).line);
    text_add(&table, "};");
    text_wrapped(t->out, table.bytes);
}

static void program_tables(const Tables *t, const Program *program) {
    const Model *m = program->model;
    const char *name = program->name;
    const int *readers = count_readers(program->graph);
    bool predict = program->kind == PROGRAM_PREDICT;
    text_line(
        t->out,
        "/* type, channels, {depth, height, width}, block; origin, strides, ring, bytes of a sample */");
    text_line(t->out, "static const UnetLayout %s_input[] = {", name);
    for (int i = 0; i < m->ninput; i++)
        layout_row(t, program, m->input[i].value, readers[m->input[i].value] > 0);
    text_line(t->out, "};");
    if (predict) {
        text_line(t->out, "static const UnetLayout %s_output[] = {", name);
        for (int i = 0; i < m->noutput; i++)
            layout_row(t, program, m->output[i].value, true);
        text_line(t->out, "};");
        Text offsets = text_new(t->plan->pool);
        for (int i = 0; i < m->noutput; i++)
            text_add(&offsets, "%lld, ", (long long)offset_of(t, program, m->output[i].value));
        text_line(t->out, "static const int64_t predict_output_offset[] = {%s};", offsets.bytes);
    }
    if (passes_rows(program))
        passed_tables(t, program);
    if (tells_windows(program))
        windows_table(t, program);
    text_line(t->out, "static const int64_t %s_result_offset[] = {", name);
    for (int i = 0; i < m->nresult; i++) {
        int b = predict ? -1 : program->buffer_of[m->result[i].value];
        text_line(t->out, "    %lld,", b < 0 ? -1LL : (long long)t->plan->buffer[b].offset);
    }
    text_line(t->out, "    -1, /* there may be no result at all */");
    text_line(t->out, "};");
    program_table(t, program);
}

/* ---- data ---- */

/* The values in files of each class of labels. */
static void source_values(const Tables *t, const Source *source, const char *name, int i) {
    Text list = text_new(t->plan->pool);
    for (int k = 0; k < source->nvalue; k++)
        text_add(&list, "%s%lld", k > 0 ? ", " : "", (long long)source->values[k]);
    text_wrapped(t->out, pool_text(t->plan->pool, "static const int32_t %s_values_%d[] = {%s};", name, i,
                                   list.bytes));
}

/* The patterns of further folders, or the folders of classes, with NULL behind them. */
static const char *more_patterns(Pool *pool, const SourceTerm *files) {
    if (files->nmore == 0)
        return "NULL";
    Text list = text_new(pool);
    text_add(&list, "(const char *const[]){");
    for (int i = 0; i < files->nmore; i++)
        text_add(&list, "%s, ", c_quoted(pool, files->more[i]));
    text_add(&list, "NULL}");
    return list.bytes;
}

static void source_term(const Tables *t, const SourceTerm *s, const char *op) {
    Pool *pool = t->plan->pool;
    Text line = text_new(pool);
    text_add(&line, "{%s, .line = %d", op, s->span.line);
    if (s->text != NULL)
        text_add(&line, ", .pattern = %s", c_quoted(pool, s->text));
    if (s->value != 0 || s->high != 0)
        text_add(&line, ", .value = %.17g, .high = %.17g", s->value, s->high);
    if (s->list != NULL)
        text_add(&line, ", .list = %s", c_quoted(pool, s->list));
    if (s->column > 0)
        text_add(&line, ", .column = %d", s->column);
    if (s->nmore > 0)
        text_add(&line, ", .more = %s", more_patterns(pool, s));
    if (s->volumes)
        text_add(&line, ", .volumes = true, .channel = %d", s->channel);
    if (s->op == SOURCE_HIDE)
        text_add(&line, ", .hidden = &(const UnetHidden){%.17g, %.17g, %.17g, %d, %d}", s->hidden.share,
                 s->hidden.random, s->hidden.kept, s->hidden.mask, s->hidden.first);
    text_line(t->out, "    %s%s},", line.bytes, s->op == SOURCE_FILES ? image_way(pool, &s->way) : "");
}

static void sources(const Tables *t, const DataSection *d, const char *name) {
    static const char *const op[] = {
        [SOURCE_FILES] = "UNET_SRC_FILES",     [SOURCE_NAME] = "UNET_SRC_NAME",
        [SOURCE_NUMBER] = "UNET_SRC_NUMBER",   [SOURCE_GAUSSIAN] = "UNET_SRC_GAUSSIAN",
        [SOURCE_UNIFORM] = "UNET_SRC_UNIFORM", [SOURCE_BORDER] = "UNET_SRC_BORDER",
        [SOURCE_HIDE] = "UNET_SRC_HIDE",       [SOURCE_NEXT] = "UNET_SRC_NEXT",
        [SOURCE_CLASS] = "UNET_SRC_CLASS",     [SOURCE_ADD] = "UNET_SRC_ADD",
        [SOURCE_SUB] = "UNET_SRC_SUB",         [SOURCE_MUL] = "UNET_SRC_MUL",
        [SOURCE_DIV] = "UNET_SRC_DIV"};
    if (d->nsource == 0)
        return;
    for (int i = 0; i < d->nsource; i++) {
        text_line(t->out, "static const UnetSourceTerm %s_term_%d[] = {", name, i);
        for (int k = 0; k < d->source[i].nterm; k++) {
            const SourceTerm *s = &d->source[i].term[k];
            source_term(t, s, op[s->op]);
        }
        text_line(t->out, "};");
        if (d->source[i].values != NULL)
            source_values(t, &d->source[i], name, i);
    }
    text_line(t->out, "static const UnetSource %s_source[] = {", name);
    for (int i = 0; i < d->nsource; i++)
        text_line(t->out, "    {%s, %d, %d, %d, %s_term_%d, %s, %s, %s, %s, %d},",
                  c_quoted(t->plan->pool, d->source[i].name), d->source[i].input, d->source[i].channels,
                  d->source[i].nterm, name, i,
                  d->source[i].values == NULL ? "NULL" : pool_text(t->plan->pool, "%s_values_%d", name, i),
                  bool_text(d->source[i].ignores_others), bool_text(d->source[i].rounds),
                  bool_text(d->source[i].colours), d->source[i].words);
    text_line(t->out, "};");
}

static void transforms(const Tables *t, const DataSection *d, const char *name) {
    static const char *const transform[] = {[TRANSFORM_CROP] = "UNET_DO_CROP",
                                            [TRANSFORM_FLIP] = "UNET_DO_FLIP",
                                            [TRANSFORM_SCALE] = "UNET_DO_SCALE",
                                            [TRANSFORM_ROT90] = "UNET_DO_ROT90",
                                            [TRANSFORM_ROTATE] = "UNET_DO_ROTATE",
                                            [TRANSFORM_ELASTIC] = "UNET_DO_ELASTIC",
                                            [TRANSFORM_DISTORT] = "UNET_DO_DISTORT",
                                            [TRANSFORM_GAMMA] = "UNET_DO_GAMMA",
                                            [TRANSFORM_BLUR] = "UNET_DO_BLUR",
                                            [TRANSFORM_NOISE] = "UNET_DO_NOISE",
                                            [TRANSFORM_LOW_RESOLUTION] = "UNET_DO_LOW_RESOLUTION"};
    if (d->ntransform == 0)
        return;
    text_line(t->out, "static const UnetTransform %s_transform[] = {", name);
    for (int i = 0; i < d->ntransform; i++) {
        const Transform *f = &d->transform[i];
        text_line(t->out, "    {%s, %s, %s, %.17g, %u, %.17g, {%.17g, %.17g, %.17g, %.17g}},",
                  transform[f->op], bool_text(f->random), pad_name[f->pad], f->pad_value, f->axes, f->p,
                  f->amount[0], f->amount[1], f->amount[2], f->amount[3]);
    }
    text_line(t->out, "};");
}

static void data_section(const Tables *t, const DataSection *d, const char *name) {
    sources(t, d, name);
    transforms(t, d, name);
    text_line(t->out, "static const UnetData %s = {", name);
    if (d->nsource > 0)
        text_line(t->out, "    .source = %s_source, .nsource = %d,", name, d->nsource);
    if (d->ntransform > 0)
        text_line(t->out, "    .transform = %s_transform, .ntransform = %d,", name, d->ntransform);
    text_line(t->out, "    .holdout = %.17g, .holdout_seed = %lld, .shuffle = %s, .threads = %d,",
              d->holdout, (long long)d->holdout_seed, bool_text(d->shuffle), d->threads);
    if (d->folds > 0)
        text_line(t->out, "    .folds = %d, .fold_seed = %lldu,", d->folds, (long long)d->fold_seed);
    text_line(t->out, "};");
}

/* PyTorch's name of the state OPERAND of an optimiser. */
static const char *moment_name(Pool *pool, const Operand *operand) {
    static const char *const name[][2] = {{"momentum", "momentum_buffer"},
                                          {"m", "exp_avg"},
                                          {"v", "exp_avg_sq"},
                                          {"most", "max_exp_avg_sq"},
                                          {"square", "square_avg"},
                                          {"mean", "grad_avg"},
                                          {"average", "ema"}};
    const char *own = pool_text(pool, "%.*s", operand->length, operand->name);
    for (size_t i = 0; i < sizeof name / sizeof *name; i++)
        if (strcmp(name[i][0], own) == 0)
            return name[i][1];
    return own;
}

static void schedule_table(const Tables *t, const Schedule *s) {
    static const char *const kind[] = {
        [SCHEDULE_CONSTANT] = "CONSTANT",   [SCHEDULE_POLY] = "POLY",       [SCHEDULE_COSINE] = "COSINE",
        [SCHEDULE_STEP] = "STEP",           [SCHEDULE_MULTISTEP] = "STEPS", [SCHEDULE_PLATEAU] = "PLATEAU",
        [SCHEDULE_ONE_CYCLE] = "ONE_CYCLE",
    };
    if (s->nat > 0)
        text_add(t->out, "static const int64_t schedule_at[] = {");
    for (int i = 0; i < s->nat; i++)
        text_add(t->out, "%s%lld", i > 0 ? ", " : "", (long long)s->at[i]);
    if (s->nat > 0)
        text_line(t->out, "};");
    text_line(t->out, "static const UnetSchedule schedule = {");
    text_line(t->out, "    .kind = UNET_SCHEDULE_%s, .per = %s,", kind[s->kind], unit_name[s->per]);
    text_line(t->out, "    .power = %.17g, .to = %.17g, .factor = %.17g,", s->power, s->to, s->factor);
    text_line(t->out, "    .rise = %.17g, .div = %.17g, .final_div = %.17g,", s->rise, s->div,
              s->final_div);
    text_line(t->out, "    .every = %lld, .patience = %lld,", (long long)s->every, (long long)s->patience);
    if (s->nat > 0)
        text_line(t->out, "    .at = schedule_at, .nat = %d,", s->nat);
    text_line(t->out, "    .warmup = %lld, .start = %.17g,", (long long)s->warmup, s->start);
    text_line(t->out, "};");
}

static void buckets(const Tables *t) {
    const Program *train = &t->plan->program[PROGRAM_TRAIN];
    for (int b = 0; b < train->nbucket; b++)
        text_line(t->out, "%s{%lld, %lld, %lld}%s",
                  b == 0 ? "static const UnetBucket buckets[] = {"
                         : "                                      ",
                  (long long)train->bucket[b].first, (long long)train->bucket[b].numbers,
                  (long long)train->bucket[b].place, b + 1 < train->nbucket ? "," : "};");
}

static void training(const Tables *t) {
    const TrainSection *s = &t->plan->model->train;
    const EvalSection *e = &t->plan->model->eval;
    Pool *pool = t->plan->pool;
    const bool scheduled = s->schedule.kind != SCHEDULE_CONSTANT || s->schedule.warmup > 0;
    if (scheduled)
        schedule_table(t, &s->schedule);
    if (s->shards_optimizer)
        slices(t);
    buckets(t);
    text_line(t->out, "static const UnetTraining training = {");
    text_add(t->out, "    .learning_rate = %.17g, .moments = {", s->optimizer.learning_rate);
    for (int i = 0; i < MAX_STATES; i++)
        text_add(t->out, "%s%s", i > 0 ? ", " : "",
                 t->plan->state[i] == NULL ? "NULL" : c_quoted(pool, moment_name(pool, t->plan->state[i])));
    text_line(t->out, "},");
    if (t->plan->average_buffer != NULL)
        text_line(t->out, "    .averages = true,");
    if (s->codes_state)
        text_line(t->out, "    .codes_state = true,");
    if (scheduled)
        text_line(t->out, "    .schedule = &schedule,");
    if (s->patience > 0)
        text_line(t->out, "    .patience = %lld,", (long long)s->patience);
    text_line(t->out, "    .drop_tail = %s,", bool_text(s->drop_tail));
    text_line(t->out, "    .duration = %lld, .duration_unit = %s, .steps_per_epoch = %lld,",
              (long long)s->duration, unit_name[s->duration_unit], (long long)s->steps_per_epoch);
    text_line(t->out, "    .save_every = %lld, .save_unit = %s, .save_keep = %d,", (long long)s->save_every,
              unit_name[s->save_unit], s->save_keep);
    text_line(t->out, "    .eval_every = %lld, .eval_unit = %s,", (long long)e->every,
              unit_name[e->every_unit]);
    text_line(t->out, "    .seed = %lld,", (long long)s->seed);
    if (s->ranks > 1)
        text_line(t->out, "    .ranks = %lld, .processes = %lld,", (long long)s->ranks,
                  (long long)s->processes);
    if (t->plan->program[PROGRAM_TRAIN].nbucket > 0)
        text_line(t->out, "    .buckets = buckets, .nbucket = %d,",
                  t->plan->program[PROGRAM_TRAIN].nbucket);
    if (s->shards_optimizer)
        text_line(t->out, "    .slices = &slices,");
    text_line(t->out, "    .pretrained = %s,", c_quoted(pool, s->pretrained));
    if (s->pretrained_map != NULL)
        text_line(t->out, "    .pretrained_map = %s,", c_quoted(pool, s->pretrained_map));
    text_line(t->out, "    .description = %s,", c_quoted(pool, s->optimizer_text));
    text_line(t->out, "};");
}

static void diffusion(const Tables *t, const Diffusion *d) {
    static const char *const tells[] = {
        [OBJECTIVE_NOISE] = "NOISE", [OBJECTIVE_VELOCITY] = "VELOCITY", [OBJECTIVE_PICTURE] = "PICTURE"};
    text_line(t->out, "static const double diffusion_kept[] = {");
    for (int i = 0; i < d->times; i++)
        text_add(t->out, "%s%.17g,%s", i % 5 == 0 ? "    " : " ", d->kept[i],
                 i % 5 == 4 || i + 1 == d->times ? "\n" : "");
    text_line(t->out, "};");
    text_line(t->out, "static const UnetDiffusion diffusion = {");
    text_line(t->out, "    .picture = %d, .time = %d, .output = %d, .objective = UNET_TELLS_%s,",
              d->picture, d->time, d->output, tells[d->objective]);
    text_line(t->out, "    .times = %d, .kept = diffusion_kept,", d->times);
    text_line(t->out, "};");
}

/* ---- the model ---- */

static void regions(const Tables *t, const Regions *regions) {
    if (regions->count == 0)
        return;
    const char *classes = "";
    for (int i = 0; i < regions->count; i++)
        classes = pool_text(t->plan->pool, "%s%s%d", classes, i > 0 ? ", " : "", (int)regions->class[i]);
    text_line(t->out, ".regions = {.count = %d, .above = %.17g, .class_of = {%s}},", regions->count,
              regions->above, classes);
}

/* Are these nodes of one operator that one method computes? */
static bool is_computed_alike(const Node *a, const Node *b) {
    return a->op == b->op && a->method != NULL && b->method != NULL && strcmp(a->method, b->method) == 0;
}

/* `{"conv", "Winograd", (const char *const[]){"enc1.0", NULL}},`: all layers that are computed as NODE is.
 */
static void method_row(const Tables *t, const Graph *g, const Node *node) {
    Pool *pool = t->plan->pool;
    Text row = text_new(pool);
    Table listed = {0};
    text_add(&row, "{%s, %s, (const char *const[]){", c_quoted(pool, op_table[node->op].name),
             c_quoted(pool, node->method));
    for (const Node *n = node; n < g->node + g->nnode; n++)
        if (is_computed_alike(n, node) && table_find(&listed, n->name) < 0) {
            table_set(pool, &listed, n->name, 1);
            text_add(&row, "%s, ", c_quoted(pool, n->name));
        }
    text_add(&row, "NULL}},");
    text_wrapped(t->out, row.bytes);
}

/* How the first program computes its layers, if the target says so of any.  Returns the number of rows. */
static int methods(const Tables *t) {
    const Graph *g = program_of(t->plan, 0)->graph;
    const Node **row = NULL; /* the first node of each */
    int count = 0;
    for (const Node *n = g->node; n < g->node + g->nnode; n++) {
        int k = 0;
        while (k < count && !is_computed_alike(row[k], n))
            k++;
        if (n->method != NULL && k == count)
            PUSH(t->plan->pool, row, count, n);
    }
    if (count == 0)
        return 0;
    text_line(t->out, "static const UnetMethod method[] = {");
    t->out->depth++;
    for (int k = 0; k < count; k++)
        method_row(t, g, row[k]);
    t->out->depth--;
    text_line(t->out, "};");
    return count;
}

static void model_table(const Tables *t, int nmethod) {
    const Plan *plan = t->plan;
    const Model *m = plan->model;
    const bool levels = levels_of(plan)->name != NULL;
    text_line(t->out, "const UnetModel %s_model = {", plan_name(plan));
    t->out->depth++;
    text_line(t->out, ".runtime_version = UNET_RUNTIME_VERSION, .table_bytes = UNET_TABLE_BYTES,");
    text_line(t->out, ".name = %s,", c_quoted(plan->pool, m->name));
    text_line(t->out, ".source = %s, .source_hash = %s,", c_quoted(plan->pool, m->source),
              c_quoted(plan->pool, plan->source_hash));
    text_line(t->out, ".target = %s, .isa = %s, .real = %s, .precision = \"%s\", .max_threads = %d,",
              c_quoted(plan->pool, plan->target->name),
              levels ? "LEVEL_ISA" : c_quoted(plan->pool, plan->target->isa(plan->options)),
              real_name(plan), precision_text(plan->options), plan->options->max_threads);
    const bool multiplies_bf16 =
        plan->target->flags_of_machine != NULL && plan->options->stored == TYPE_BF16;
    text_line(t->out, ".instructions = UNET_INSTRUCTIONS_USED%s,",
              multiplies_bf16 ? " | UNET_MATRICES_USED" : "");
    if (multiplies_bf16)
        text_line(t->out, ".products = UNET_BF16_PRODUCTS, .yields = UNET_YIELDS_WHERE_PAIRS_ARE_SLOW,");
    if (plan->target->model_members != NULL)
        text_line(t->out, "%s", plan->target->model_members);
    if (nmethod > 0)
        text_line(t->out, ".nmethod = %d, .method = method,", nmethod);
    text_line(t->out, ".nparameter = %d, .parameter = parameter, .parameter_count = %lld,",
              plan->nparameter + plan->nstatistic, (long long)parameter_count(plan));
    text_line(t->out, ".persistent = %lld,", (long long)loaded_bytes(plan));
    if (plan->loss_scale_buffer >= 0)
        text_line(t->out, ".loss_scale = %lld,", (long long)plan->buffer[plan->loss_scale_buffer].offset);
    text_line(t->out, ".ninput = %d, .inputs = input,", m->ninput);
    text_line(t->out, ".noutput = %d, .outputs = output,", m->noutput);
    if (measuring_program(plan) != NULL)
        text_line(t->out, ".nresult = %d, .results = result,", m->nresult);
    for (int k = 0; k < PROGRAMS; k++)
        if (plan->program[k].model != NULL)
            text_line(t->out, ".%s = &%s_program,", plan->program[k].name, plan->program[k].name);
    text_line(t->out, ".arena_bytes = %lld,", (long long)plan->arena);
    text_line(t->out, ".ring = %lld, .loader_ring_bytes = %lld,", (long long)plan->ring_slots,
              (long long)plan->loader_ring);
    if (stages_as_files(plan))
        text_line(t->out, ".stages_as_files = true,");
    text_line(t->out, ".predict_pad = %s,", pad_name[m->predict.pad]);
    if (m->eval.at_original)
        text_line(t->out, ".measures_original = true,");
    regions(t, &m->predict.regions);
    if (m->data.spacing[0] > 0)
        text_line(t->out, ".spacing = {%.17g, %.17g, %.17g},", m->data.spacing[0], m->data.spacing[1],
                  m->data.spacing[2]);
    if (m->data.cubic)
        text_line(t->out, ".cubic = true,");
    if (m->data.trims)
        text_line(t->out, ".trims = true,");
    if (m->data.present)
        text_line(t->out, ".data = &data,");
    if (m->eval_data.present)
        text_line(t->out, ".eval_data = &eval_data,");
    if (m->train.present)
        text_line(t->out, ".training = &training,");
    if (m->diffusion.present)
        text_line(t->out, ".diffusion = &diffusion,");
    t->out->depth--;
    text_line(t->out, "};");
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
    if (m->diffusion.present)
        diffusion(&t, &m->diffusion);
    text_blank(out);
    const int nmethod = methods(&t);
    model_table(&t, nmethod);
}
