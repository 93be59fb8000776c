/* embedding.c - the end of NAME.h: the functions of unet/embed.h, with the inputs and outputs of the model
 * by name.
 *
 * Requires: names that are identifiers; a word in front of them keeps them from being one of C or C++.
 * Provides: text that is C11 and C++ alike.
 */
#include "emit/sources.h"
#include "emit/template.h"
#include "passes/passes.h"
#include "base/size_math.h"

#include <stdlib.h>

#include "unet/embed.h"

/* ---- names ---- */

static const char *input_name(Pool *pool, const Input *in) {
    return pool_text(pool, "%s_%s", in->is_target ? "target" : "input", in->name);
}

static const char *output_name(Pool *pool, const Output *out) {
    return pool_text(pool, "output_%s", out->name);
}

/* "input_noisy[3][256][256]"; of labels no channels, and no axes that the map does not have. */
static const char *with_sizes(const Program *program, const char *name, ValueId v, bool labels) {
    Pool *pool = program->graph->pool;
    const Shape shape = program->graph->value[v].shape;
    const char *text = labels ? name : pool_text(pool, "%s[%lld]", name, (long long)shape_channels(shape));
    for (int axis = AXES + 1 - shape.rank; axis < AXES; axis++)
        text = pool_text(pool, "%s[%lld]", text, (long long)shape_extent(shape, axis));
    return text;
}

static const char *type_of(bool labels) {
    return labels ? "uint8_t" : "float";
}

static void add_item(Text *list, const char *item) {
    text_add(list, "%s%s", list->length > 0 ? ", " : "", item);
}

/* ---- lists ---- */

static const Program *program_at(const Plan *plan, ProgramKind kind) {
    return plan->program[kind].model == NULL ? NULL : &plan->program[kind];
}

/* The inputs that PROGRAM reads, as parameters, as elements of an array, and with sizes. */
static void list_inputs(const Program *program, Text *parameters, Text *elements, Text *sizes) {
    Pool *pool = program->graph->pool;
    const Model *m = program->model;
    const int *readers = count_readers(program->graph);
    for (int i = 0; i < m->ninput; i++) {
        const Input *in = &m->input[i];
        const bool read = readers[in->value] > 0, labels = in->kind == KIND_LABELS;
        const char *name = input_name(pool, in);
        add_item(elements, read ? name : "NULL");
        if (!read)
            continue;
        add_item(parameters, pool_text(pool, "const %s *%s", type_of(labels), name));
        add_item(sizes, with_sizes(program, name, in->value, labels));
    }
}

static void list_outputs(const Program *program, Text *parameters, Text *elements, Text *sizes) {
    Pool *pool = program->graph->pool;
    const Model *m = program->model;
    for (int i = 0; i < m->noutput; i++) {
        const bool labels = m->output[i].classes > 0;
        const char *name = output_name(pool, &m->output[i]);
        add_item(elements, name);
        add_item(parameters, pool_text(pool, "%s *%s", type_of(labels), name));
        add_item(sizes, with_sizes(program, name, m->output[i].value, labels));
    }
}

/* ---- bytes: as unet_embed_bytes() has them ---- */

static int64_t row_elements(const Program *program, ValueId v) {
    const Shape shape = program->graph->value[v].shape;
    return size_product(shape_channels(shape), shape_extent(shape, 2));
}

static int64_t larger(int64_t a, int64_t b) {
    return a > b ? a : b;
}

static int64_t longest_row(const Program *program) {
    const Model *m = program->model;
    int64_t longest = 1;
    for (int i = 0; i < m->ninput; i++)
        longest = larger(longest, row_elements(program, m->input[i].value));
    for (int i = 0; program->kind == PROGRAM_PREDICT && i < m->noutput; i++)
        longest = larger(longest, row_elements(program, m->output[i].value));
    return longest;
}

static int64_t aligned(int64_t bytes) {
    return size_rounded(bytes, UNET_BUFFER_ALIGN);
}

static int64_t buffer_bytes(const Plan *plan) {
    const ProgramKind kind[] = {PROGRAM_TRAIN, PROGRAM_EVAL, PROGRAM_PREDICT};
    int64_t staged = 0, row = 1;
    for (size_t k = 0; k < sizeof kind / sizeof *kind; k++) {
        const Program *program = program_at(plan, kind[k]);
        if (program == NULL)
            continue;
        staged = larger(staged, staged_bytes(program, program->batch));
        row = larger(row, longest_row(program));
    }
    const int64_t parts[] = {aligned(plan->arena), aligned(staged),
                             aligned(size_product(row, (int64_t)sizeof(float))),
                             aligned(plan->model->ninput * (int64_t)sizeof(void *))};
    int64_t bytes = UNET_BUFFER_HEAD;
    for (size_t k = 0; k < sizeof parts / sizeof *parts; k++)
        bytes = size_sum(bytes, parts[k]);
    return bytes;
}

/* ---- the text ---- */

/* The shortest number that is read as this one. */
static const char *number_text(Pool *pool, double number) {
    const char *text = "";
    for (int digits = 1; digits <= 17; digits++) {
        text = pool_text(pool, "%.*g", digits, number);
        if (strtod(text, NULL) == number)
            break;
    }
    return text;
}

/* The sizes of the first input. */
static const char *size_constants(const Plan *plan) {
    static const char *const axis[] = {"DEPTH", "HEIGHT", "WIDTH"};
    const Shape shape = plan->model->graph->value[plan->model->input[0].value].shape;
    Text text = text_new(plan->pool);
    for (int k = AXES + 1 - shape.rank; k < AXES; k++)
        text_line(&text, "#define %s_%s %lld", upper(plan->pool, plan->model->name),
                  shape.rank == SIGNAL_RANK ? "LENGTH" : axis[k], (long long)shape_extent(shape, k));
    return text.bytes;
}

/* The most samples of a training step, and the rate that the file says, which may say more of its course.
 */
static const char *training_constants(const Plan *plan) {
    const Program *train = program_at(plan, PROGRAM_TRAIN);
    const char *model = upper(plan->pool, plan->model->name);
    return train == NULL ? ""
                         : pool_text(plan->pool, "#define %s_BATCH %lld\n#define %s_LEARNING_RATE %s\n",
                                     model, (long long)train->batch, model,
                                     number_text(plan->pool, plan->model->train.optimizer.learning_rate));
}

static const char *constants(const Plan *plan) {
    return pool_text(plan->pool, "#define %s_BUFFER_BYTES %lldLL /* aligned to UNET_BUFFER_ALIGN */\n%s%s",
                     upper(plan->pool, plan->model->name), (long long)buffer_bytes(plan),
                     size_constants(plan), training_constants(plan));
}

static void forward_text(const Plan *plan, Text *steps, Text *tensors) {
    const Program *predict = program_at(plan, PROGRAM_PREDICT);
    Text parameters = text_new(plan->pool), in = text_new(plan->pool), out = text_new(plan->pool),
         read = text_new(plan->pool), made = text_new(plan->pool);
    if (predict == NULL)
        return;
    list_inputs(predict, &parameters, &in, &read);
    list_outputs(predict, &parameters, &out, &made);
    const Hole hole[] = {
        {"parameters", parameters.bytes}, {"inputs", in.bytes}, {"outputs", out.bytes}, {0}};
    text_add(steps, "%s", filled_template(plan, "program/embed_forward.h.in", hole));
    text_add(tensors, "\n * forward takes %s and makes %s", read.bytes, made.bytes);
}

static void train_text(const Plan *plan, Text *steps, Text *tensors) {
    const Program *train = program_at(plan, PROGRAM_TRAIN);
    Text parameters = text_new(plan->pool), in = text_new(plan->pool), read = text_new(plan->pool);
    if (train == NULL)
        return;
    list_inputs(train, &parameters, &in, &read);
    const Hole hole[] = {{"parameters", parameters.bytes}, {"inputs", in.bytes}, {0}};
    text_add(steps, "%s", filled_template(plan, "program/embed_train.h.in", hole));
    text_add(tensors, "\n * train_step takes n of each of %s", read.bytes);
}

const char *embedding_text(const Plan *plan) {
    Text steps = text_new(plan->pool), tensors = text_new(plan->pool);
    forward_text(plan, &steps, &tensors);
    train_text(plan, &steps, &tensors);
    const Hole hole[] = {
        {"tensors", pool_text(plan->pool, "\n/* Inside a program of yours:%s */", tensors.bytes)},
        {"constants", constants(plan)},
        {"steps", steps.bytes},
        {0}};
    return filled_template(plan, "program/embed.h.in", hole);
}
