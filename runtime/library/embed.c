/* embed.c - a model inside another program (unet/embed.h).
 *
 *     buffer = head, arena, inputs of a step, a row of points, pointers to the inputs
 *
 * Inputs lie where a loader would have left them.  Their halo is zeroed whenever another program begins,
 * for then their layout is another.
 *
 * Requires: the tables of a model.  Provides: what the driver does for `train` and `predict`, bit for bit.
 */
#include "unet/embed.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "embed_parts.h"
#include "unet/class_metrics.h"
#include "unet/layout.h"
#include "unet/windows.h"

static const uint64_t MARK = 0x756e65742d627566; /* of a buffer that is ready */

/* The places where the parts of a buffer begin, and its bytes. */
typedef struct {
    int64_t arena, staged, row, input, bytes;
} Places;

/* ---- the buffer ------------------------------------------------------------------------------- */

static int64_t aligned(int64_t bytes) {
    return (bytes + UNET_BUFFER_ALIGN - 1) / UNET_BUFFER_ALIGN * UNET_BUFFER_ALIGN;
}

static int64_t larger(int64_t a, int64_t b) {
    return a > b ? a : b;
}

static int64_t row_elements(const UnetLayout *layout) {
    return (int64_t)layout->channels * layout->size[2];
}

/* The longest row of what the programs read and write. */
static int64_t longest_row(const UnetModel *model) {
    const UnetProgram *const programs[] = {model->train, model->eval, model->predict};
    int64_t longest = 1;
    for (int p = 0; p < 3; p++)
        for (int32_t i = 0; programs[p] != NULL && i < model->ninput; i++)
            longest = larger(longest, row_elements(&programs[p]->inputs[i]));
    for (int32_t i = 0; model->predict != NULL && i < model->noutput; i++)
        longest = larger(longest, row_elements(&model->predict->outputs[i]));
    return longest;
}

static int64_t staged_bytes(const UnetProgram *program) {
    return program == NULL ? 0 : program->input_bytes;
}

static Places places_of(const UnetModel *model) {
    Places at = {.arena = UNET_BUFFER_HEAD};
    at.staged = aligned(at.arena + model->arena_bytes);
    at.row = aligned(at.staged + larger(larger(staged_bytes(model->train), staged_bytes(model->eval)),
                                        staged_bytes(model->predict)));
    at.input = aligned(at.row + longest_row(model) * (int64_t)sizeof(float));
    at.bytes = aligned(at.input + model->ninput * (int64_t)sizeof(char *));
    return at;
}

int64_t unet_embed_bytes(const UnetModel *model) {
    return places_of(model).bytes;
}

static Parts parts_of(const UnetModel *model, void *buffer) {
    const Places at = places_of(model);
    char *const base = buffer;
    return (Parts){.head = buffer,
                   .arena = base + at.arena,
                   .staged = base + at.staged,
                   .row = (float *)(void *)(base + at.row),
                   .input = (char **)(void *)(base + at.input)};
}

bool embed_find(void *buffer, Parts *parts) {
    const Head *head = buffer;
    if (head == NULL || (uintptr_t)buffer % UNET_BUFFER_ALIGN != 0 || head->mark != MARK)
        return false;
    *parts = parts_of(head->model, buffer);
    return true;
}

UnetStatus embed_not_ready(UnetError *error) {
    return unet_fail(error, UNET_USAGE, "the buffer is not ready: call NAME_init first");
}

int64_t unet_embed_steps(const void *buffer) {
    const Head *head = buffer;
    return head != NULL && (uintptr_t)buffer % UNET_BUFFER_ALIGN == 0 && head->mark == MARK ? head->steps
                                                                                            : -1;
}

/* ---- begin and end ---------------------------------------------------------------------------- */

static int32_t choose_threads(const UnetModel *model, int32_t asked) {
    const int64_t there = asked > 0 ? asked : sysconf(_SC_NPROCESSORS_ONLN);
    return there < 1 ? 1 : there < model->max_threads ? (int32_t)there : model->max_threads;
}

UnetStatus unet_embed_init(const UnetModel *const *models, int32_t nmodels, void *buffer, size_t bytes,
                           int32_t threads, uint64_t seed, UnetError *error) {
    const UnetModel *model = unet_best_model(models, nmodels);
    if (model == NULL)
        return unet_fail(error, UNET_TOO_SMALL,
                         "this processor has no %s, which %s was compiled for; compile it here, or for any "
                         "processor with `unetc --isa=portable`",
                         unet_lacking_instruction(models[nmodels - 1]->instructions),
                         models[nmodels - 1]->name);
    if (buffer == NULL || (uintptr_t)buffer % UNET_BUFFER_ALIGN != 0)
        return unet_fail(error, UNET_USAGE, "the buffer is not aligned to %d bytes",
                         (int)UNET_BUFFER_ALIGN);
    const Parts parts = parts_of(model, buffer);
    if (bytes < (size_t)unet_embed_bytes(model))
        return unet_fail(error, UNET_USAGE, "the buffer has %zu bytes, and %s needs %" PRId64, bytes,
                         model->name, unet_embed_bytes(model));
    *parts.head = (Head){.model = model, .threads = choose_threads(model, threads), .seed = seed};
    memset(parts.arena, 0, (size_t)model->persistent);
    embed_start_weights(&parts);
    UnetStatus status = model->device == NULL ? UNET_OK
                                              : model->device->open(&parts.head->device, model,
                                                                    model->arena_bytes, NULL, error);
    parts.head->mark = MARK;
    if (status == UNET_OK)
        status = embed_push(&parts, error);
    if (status != UNET_OK)
        unet_embed_close(buffer);
    return status;
}

void unet_embed_close(void *buffer) {
    Parts parts;
    if (!embed_find(buffer, &parts))
        return;
    if (parts.head->model->device != NULL)
        parts.head->model->device->close(parts.head->device);
    *parts.head = (Head){.mark = 0};
}

/* ---- in and out ------------------------------------------------------------------------------- */

/* Rows of a tensor, in order of depth, then height; ROW is one of them. */
static int64_t first_of_row(const UnetLayout *layout, int32_t row) {
    return (int64_t)row * layout->size[2];
}

/* Row ROW of sample N from labels of all samples. */
static void store_labels(const Parts *parts, const UnetLayout *layout, char *base, int32_t n, int32_t row,
                         const uint8_t *labels) {
    const int32_t height = layout->size[1], width = layout->size[2];
    const uint8_t *from = labels + n * embed_points(layout) + first_of_row(layout, row);
    for (int32_t x = 0; x < width; x++)
        parts->row[x] = from[x];
    unet_layout_store_row(layout, base, n, row / height, row % height, parts->row, width, NULL, NULL);
}

/* Row ROW of sample N lies at BASE as it is VALUES, whose channels are STRIDE apart; a NaN never does. */
static bool is_kept(const Parts *parts, const UnetLayout *layout, const char *base, int32_t n, int32_t row,
                    const float *values, size_t stride) {
    const size_t width = (size_t)layout->size[2];
    bool kept = true;
    unet_layout_load_row(layout, base, n, row / layout->size[1], row % layout->size[1], parts->row);
    for (size_t c = 0; c < (size_t)layout->channels; c++)
        for (size_t x = 0; x < width; x++)
            kept &= parts->row[c * width + x] == values[c * stride + x];
    return kept;
}

/* False: the model was compiled for the files that its own file names, and loses some of these numbers. */
static bool store_points(const Parts *parts, const UnetLayout *layout, char *base, int32_t n, int32_t row,
                         const float *values, const UnetNormal *normal) {
    const int32_t height = layout->size[1], channels = layout->channels;
    const size_t width = (size_t)layout->size[2], plane = (size_t)embed_points(layout);
    const float *from = values + (size_t)n * (size_t)channels * plane + first_of_row(layout, row);
    size_t stride = plane;
    if (normal != NULL) {
        for (size_t c = 0; c < (size_t)channels; c++)
            memcpy(parts->row + c * width, from + c * plane, width * sizeof *from);
        unet_normalize(normal, channels, width, width, parts->row, parts->row);
        from = parts->row;
        stride = width;
    }
    unet_layout_store_row(layout, base, n, row / height, row % height, from, (int64_t)stride, NULL, NULL);
    return !embed_may_round(parts->head->model, layout) ||
           is_kept(parts, layout, base, n, row, from, stride);
}

/* Rows [BEGIN, END) of sample N of input I to BASE, from all samples of it. */
static UnetStatus bring_rows(const Parts *parts, const UnetProgram *program, int32_t i, char *base,
                             int32_t n, int32_t begin, int32_t end, const void *values, UnetError *error) {
    const UnetLayout *layout = &program->inputs[i];
    const UnetModel *model = parts->head->model;
    bool kept = true;
    for (int32_t row = begin; row < end && kept; row++) {
        if (model->inputs[i].kind == UNET_LABELS)
            store_labels(parts, layout, base, n, row, values);
        else
            kept = store_points(parts, layout, base, n, row, values, embed_normal(parts, i));
    }
    return kept ? UNET_OK
                : unet_fail(error, UNET_USAGE,
                            "sample %" PRId32 " of %s has a number that no file of %d bits has, and %s is "
                            "compiled for these, which the names of its files promise: compile it with "
                            "--staging=f32",
                            n, model->inputs[i].name, layout->type == UNET_UNORM8 ? 8 : 16, model->name);
}

/* Rows [BEGIN, END) of output I. */
static void take_rows(const Parts *parts, const UnetProgram *program, int32_t i, int32_t begin, int32_t end,
                      void *values) {
    const UnetLayout *layout = &program->outputs[i];
    const bool labels = parts->head->model->outputs[i].kind == UNET_LABELS;
    const size_t width = (size_t)layout->size[2], plane = (size_t)embed_points(layout);
    for (int32_t row = begin; row < end; row++) {
        const size_t at = (size_t)first_of_row(layout, row);
        unet_layout_load_row(layout, parts->arena + program->output_offsets[i], 0, row / layout->size[1],
                             row % layout->size[1], parts->row);
        for (size_t x = 0; labels && x < width; x++)
            ((uint8_t *)values)[at + x] =
                program->windows == NULL || !program->windows->given
                    ? (uint8_t)parts->row[x]
                    : (uint8_t)unet_class_of(parts->row + x, layout->channels, layout->size[2]);
        for (size_t c = 0; !labels && c < (size_t)layout->channels; c++)
            memcpy((float *)values + c * plane + at, parts->row + c * width, width * sizeof(float));
    }
}

static int32_t rows_of(const UnetLayout *layout) {
    return layout->size[0] * layout->size[1];
}

/* ---- steps ------------------------------------------------------------------------------------ */

/* Another program begins: its inputs have no points yet, and the weights may be others. */
static void prepare(const Parts *parts, const UnetProgram *program, const UnetStep *step) {
    if (parts->head->prepared == program)
        return;
    memset(parts->staged, 0, (size_t)program->input_bytes);
    if (program->prepare != NULL)
        program->prepare(step);
    parts->head->prepared = program;
}

static UnetStatus run(const Parts *parts, const UnetProgram *program, const UnetStep *step,
                      UnetError *error) {
    const UnetDevice *device = parts->head->model->device;
    if (device == NULL) {
        program->run(step);
        return UNET_OK;
    }
    UnetStatus status = device->begin(parts->head->device, program, step, error);
    return status == UNET_OK ? device->end(parts->head->device, parts->arena, error) : status;
}

/* Places the inputs of a step, as UnetStep has them; inputs in the arena are brought band by band, and
 * arrays on the device are taken from where they are: returns whether there are such arrays. */
static bool place_inputs(const Parts *parts, const UnetProgram *program, const void *const *inputs) {
    char *next = parts->staged;
    bool on_device = false;
    for (int32_t i = 0; i < parts->head->model->ninput; i++) {
        bool staged = program->inputs[i].sample_bytes > 0 && program->input_offsets == NULL;
        if (staged && embed_place_of(parts->head->model, program, i, inputs[i]) == UNET_ARRAY_ON_DEVICE) {
            staged = false;
            on_device = true;
        }
        parts->input[i] = staged ? next : NULL;
        next += staged ? aligned(program->batch * program->inputs[i].sample_bytes) : 0;
    }
    return on_device;
}

/* N samples of input I from all samples of it. */
static UnetStatus bring_samples(const Parts *parts, const UnetProgram *program, int32_t i, int32_t n,
                                const void *values, UnetError *error) {
    if (embed_place_of(parts->head->model, program, i, values) == UNET_ARRAY_READ_BY_HOST)
        return parts->head->model->device->read_array(
            parts->input[i], values, (size_t)(n * embed_points(&program->inputs[i])), error);
    UnetStatus status = UNET_OK;
    for (int32_t k = 0; k < n && status == UNET_OK; k++)
        status = bring_rows(parts, program, i, parts->input[i], k, 0, rows_of(&program->inputs[i]), values,
                            error);
    return status;
}

static UnetStatus check_program(const UnetModel *model, const UnetProgram *program, const char *name,
                                UnetError *error) {
    return program != NULL ? UNET_OK
                           : unet_fail(error, UNET_USAGE,
                                       "%s was compiled without %s: add it to `unetc --programs=...`",
                                       model->name, name);
}

static UnetStatus bring_band(const Parts *parts, const UnetProgram *program, const UnetStep *step,
                             const void *const *inputs, UnetError *error) {
    UnetStatus status = UNET_OK;
    for (int32_t i = 0; i < parts->head->model->ninput && status == UNET_OK; i++) {
        const UnetLayout *layout = &program->inputs[i];
        if (layout->sample_bytes == 0)
            continue;
        if (program->input_offsets == NULL) {
            if (parts->input[i] != NULL)
                status = bring_samples(parts, program, i, 1, inputs[i], error);
            continue;
        }
        const UnetBand *band = program->units > 0 ? &program->input_bands[i] : NULL;
        status = bring_rows(parts, program, i, parts->arena + program->input_offsets[i], 0,
                            band == NULL ? 0 : unet_band_end(band, step->band - 1, step->units),
                            band == NULL ? rows_of(layout) : unet_band_end(band, step->band, step->units),
                            inputs[i], error);
    }
    return status;
}

/* *DONE: these were the last rows. */
static UnetStatus take_band(const Parts *parts, const UnetProgram *program, const UnetStep *step,
                            void *const *outputs, bool *done, UnetError *error) {
    UnetStatus status = UNET_OK;
    *done = true;
    for (int32_t i = 0; i < parts->head->model->noutput && status == UNET_OK; i++) {
        const UnetLayout *layout = &program->outputs[i];
        const UnetBand *band = program->units > 0 ? &program->output_bands[i] : NULL;
        const int32_t end = band == NULL ? rows_of(layout) : unet_band_end(band, step->band, step->units);
        *done &= end >= rows_of(layout);
        if (embed_place_of(parts->head->model, program, -1, outputs[i]) == UNET_ARRAY_ON_DEVICE) {
            status =
                parts->head->model->device->take_array(parts->head->device, program, i, outputs[i], error);
            continue;
        }
        status = embed_fetch(parts, program->output_offsets[i], layout->sample_bytes, error);
        if (status == UNET_OK && outputs[i] != NULL)
            take_rows(parts, program, i,
                      band == NULL ? 0 : unet_band_end(band, step->band - 1, step->units), end, outputs[i]);
    }
    return status;
}

UnetStatus unet_embed_forward(void *buffer, const void *const *inputs, void *const *outputs,
                              UnetError *error) {
    Parts parts;
    if (!embed_find(buffer, &parts))
        return embed_not_ready(error);
    const UnetProgram *program = parts.head->model->predict;
    UnetStatus status = check_program(parts.head->model, program, "predict", error);
    if (status == UNET_OK)
        status = embed_check_inputs(parts.head->model, program, inputs, error);
    if (status == UNET_OK)
        status = embed_check_outputs(parts.head->model, outputs, error);
    if (status != UNET_OK)
        return status;
    UnetStep step = {.arena = parts.arena,
                     .inputs = (const void *const *)parts.input,
                     .n = 1,
                     .threads = parts.head->threads,
                     .units = program->units > 0 ? program->units : 1,
                     .bands = 1};
    if (place_inputs(&parts, program, inputs)) {
        step.arrays = inputs;
        step.normals = parts.head->normal;
    }
    prepare(&parts, program, &step);
    for (bool done = false; !done && status == UNET_OK; step.band++) {
        status = bring_band(&parts, program, &step, inputs, error);
        if (status == UNET_OK)
            status = run(&parts, program, &step, error);
        if (status == UNET_OK)
            status = take_band(&parts, program, &step, outputs, &done, error);
    }
    return status;
}

/* ---- steps of several samples ----------------------------------------------------------------- */

static UnetStatus check_samples(const UnetModel *model, const UnetProgram *program, const char *name,
                                int32_t n, const void *const *inputs, UnetError *error) {
    UnetStatus status = check_program(model, program, name, error);
    if (status == UNET_OK)
        status = embed_check_inputs(model, program, inputs, error);
    if (status == UNET_OK && (n < 1 || n > program->batch))
        status = unet_fail(error, UNET_USAGE, "%" PRId32 " samples: %s takes 1 to %" PRId32, n, model->name,
                           program->batch);
    return status;
}

/* Brings the samples to where STEP finds them, and runs it. */
static UnetStatus run_samples(const Parts *parts, const UnetProgram *program, UnetStep step,
                              const void *const *inputs, UnetError *error) {
    UnetStatus status = UNET_OK;
    if (place_inputs(parts, program, inputs)) {
        step.arrays = inputs;
        step.normals = parts->head->normal;
    }
    prepare(parts, program, &step);
    for (int32_t i = 0; i < parts->head->model->ninput && status == UNET_OK; i++)
        if (parts->input[i] != NULL)
            status = bring_samples(parts, program, i, step.n, inputs[i], error);
    return status == UNET_OK ? run(parts, program, &step, error) : status;
}

static double loss_of(const Parts *parts, int32_t n) {
    const UnetModel *model = parts->head->model;
    double loss = 0;
    for (int32_t i = 0; i < model->nresult; i++) {
        double sum;
        if (model->results[i].kind != UNET_LOSS)
            continue;
        memcpy(&sum, parts->arena + model->train->result_offsets[i], sizeof sum);
        loss += model->results[i].weight * sum / n;
    }
    return loss;
}

UnetStatus unet_embed_train_step(void *buffer, int32_t n, const void *const *inputs, double learning_rate,
                                 double *loss, UnetError *error) {
    Parts parts;
    if (!embed_find(buffer, &parts))
        return embed_not_ready(error);
    const UnetModel *model = parts.head->model;
    UnetStatus status = check_samples(model, model->train, "train", n, inputs, error);
    if (status == UNET_OK && model->training->processes > 1)
        status = unet_fail(error, UNET_USAGE,
                           "%s was compiled for %" PRId32
                           " processes, which only `train` starts: compile it without --processes",
                           model->name, model->training->processes);
    if (status != UNET_OK)
        return status;
    const UnetStep step = {.arena = parts.arena,
                           .inputs = (const void *const *)parts.input,
                           .n = n,
                           .threads = parts.head->threads,
                           .learning_rate = learning_rate,
                           .step = parts.head->steps + 1,
                           .seed = parts.head->seed};
    status = run_samples(&parts, model->train, step, inputs, error);
    if (status != UNET_OK)
        return status;
    parts.head->steps++;
    if (loss != NULL)
        *loss = loss_of(&parts, n);
    return UNET_OK;
}

/* ---- evaluation ------------------------------------------------------------------------------- */

int64_t unet_embed_sums(const UnetModel *model) {
    int64_t count = 0;
    for (int32_t i = 0; i < model->nresult; i++)
        count += unet_result_numbers(&model->results[i]);
    return count;
}

/* A result that the program does not measure is NaN. */
static void add_results(const Parts *parts, const UnetProgram *program, double *sums) {
    const UnetModel *model = parts->head->model;
    for (int32_t i = 0; i < model->nresult; i++)
        for (int32_t k = 0; k < unet_result_numbers(&model->results[i]); k++) {
            double number = NAN;
            if (program->result_offsets[i] >= 0)
                memcpy(&number, parts->arena + program->result_offsets[i] + (int64_t)k * 8, sizeof number);
            *sums++ += number;
        }
}

UnetStatus unet_embed_evaluate(void *buffer, int32_t n, const void *const *inputs, int64_t before,
                               double *sums, UnetError *error) {
    Parts parts;
    if (!embed_find(buffer, &parts))
        return embed_not_ready(error);
    const UnetModel *model = parts.head->model;
    UnetStatus status = check_samples(model, model->eval, "eval", n, inputs, error);
    if (status != UNET_OK)
        return status;
    const UnetStep step = {.arena = parts.arena,
                           .inputs = (const void *const *)parts.input,
                           .n = n,
                           .threads = parts.head->threads,
                           .step = before};
    status = run_samples(&parts, model->eval, step, inputs, error);
    if (status == UNET_OK)
        add_results(&parts, model->eval, sums);
    return status;
}

double unet_embed_value(const UnetModel *model, int32_t i, const double *sums, int64_t samples) {
    for (int32_t k = 0; k < i; k++)
        sums += unet_result_numbers(&model->results[k]);
    const UnetResult *result = &model->results[i];
    return result->classes > 0 ? unet_class_metric(result, sums)
           : samples > 0       ? *sums / (double)samples
                               : NAN;
}
