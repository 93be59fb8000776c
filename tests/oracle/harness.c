/* harness.c - runs a generated model as a library, for comparison with recorded vectors.
 *
 * Compiled once per model, with MODEL_HEADER and MODEL naming it:
 *
 *   harness describe                   parameters, inputs with the elements of a sample and the number of
 *                                      classes, outputs and results, a line each
 *   harness checksums SEED...          FNV-1a of each initial tensor, as float32
 *   harness run N STEPS OFFSET...      trains STEPS steps on one batch of N valid samples
 *   harness evaluate N STEPS OFFSET... the same, and evaluates them after the first step
 *
 * `run` speaks raw doubles.  It reads the parameters and then the inputs of N samples, dense, in the order
 * of the model's tables.  It writes the outputs of prediction; the results of each step; behind the
 * first the gradients, which lie at OFFSET in the arena, one offset per parameter, or -1, and the results
 * of evaluation, batch by batch; and the parameters at the end.
 */
#include MODEL_HEADER
#include "unet/model.h"
#include "unet/parameters.h"
#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ALIGN = 64 };
#ifndef THREADS
#define THREADS 2 /* without a word of the environment's THREADS */
#endif

static const UnetModel *const model = &MODEL;

_Noreturn static void fail(const char *what) {
    fprintf(stderr, "harness: %s\n", what);
    exit(1);
}

static void *zeroed(int64_t bytes) {
    size_t size = ((size_t)bytes + ALIGN) / ALIGN * ALIGN;
    void *memory = aligned_alloc(ALIGN, size);
    if (!memory)
        fail("out of memory");
    return memset(memory, 0, size);
}

/* ---- numbers ----------------------------------------------------------------------------------- */

static double half(uint16_t bits) {
    const int exponent = bits >> 10 & 31, digits = bits & 1023;
    const double size = exponent == 31  ? (digits ? (double)NAN : (double)INFINITY)
                        : exponent == 0 ? ldexp(digits, -24)
                                        : ldexp(1024 + digits, exponent - 25);
    return bits >> 15 ? -size : size;
}

static double get(UnetType type, const void *values, int64_t index) {
    if (type == UNET_BF16) { /* the upper half of a float */
        uint32_t bits = (uint32_t)((const uint16_t *)values)[index] << 16;
        float value;
        memcpy(&value, &bits, sizeof value);
        return (double)value;
    }
    if (type == UNET_F16)
        return half(((const uint16_t *)values)[index]);
    if (type == UNET_U8)
        return ((const uint8_t *)values)[index];
    return type == UNET_F64 ? ((const double *)values)[index] : (double)((const float *)values)[index];
}

static void set(UnetType type, void *values, int64_t index, double value) {
    if (type == UNET_U8)
        ((uint8_t *)values)[index] = (uint8_t)value;
    else if (type == UNET_F64)
        ((double *)values)[index] = value;
    else
        ((float *)values)[index] = (float)value;
}

static double read_number(void) {
    double value;
    if (fread(&value, sizeof value, 1, stdin) != 1)
        fail("the input is cut short");
    return value;
}

static void write_number(double value) {
    if (fwrite(&value, sizeof value, 1, stdout) != 1)
        fail("cannot write");
}

static int64_t count(const UnetParameter *parameter) {
    int64_t elements = 1;
    for (int i = 0; i < parameter->rank; i++)
        elements *= parameter->dim[i];
    return elements;
}

static int64_t element(const UnetLayout *l, int32_t n, int32_t c, int32_t d, int32_t h, int32_t w) {
    return l->origin + n * l->sample + c / l->block * l->plane + d * l->depth +
           (l->ring > 0 ? h % l->ring : h) * l->row + w * l->block + c % l->block;
}

static int64_t elements_of(const UnetLayout *l) {
    return (int64_t)l->channels * l->size[0] * l->size[1] * l->size[2];
}

/* Calls VISIT for the elements of one sample, in row-major order of (channel, depth, height, width). */
static void each_element(const UnetLayout *layout, int32_t sample, void *values,
                         void (*visit)(UnetType, void *, int64_t)) {
    for (int32_t c = 0; c < layout->channels; c++)
        for (int32_t d = 0; d < layout->size[0]; d++)
            for (int32_t h = 0; h < layout->size[1]; h++)
                for (int32_t w = 0; w < layout->size[2]; w++)
                    visit(layout->type, values, element(layout, sample, c, d, h, w));
}

static void read_element(UnetType type, void *values, int64_t index) {
    set(type, values, index, read_number());
}
static void spoil_element(UnetType type, void *values, int64_t index) {
    set(type, values, index, type == UNET_U8 ? 0 : NAN);
}
static void write_element(UnetType type, void *values, int64_t index) {
    write_number(get(type, values, index));
}

/* ---- describe, checksums ----------------------------------------------------------------------- */

static int describe(void) {
    for (int i = 0; i < model->nparameter; i++) {
        printf("parameter %s", model->parameter[i].name);
        for (int j = 0; j < model->parameter[i].rank; j++)
            printf(" %" PRId64, model->parameter[i].dim[j]);
        printf("\n");
    }
    for (int i = 0; i < model->ninput; i++)
        printf("input %s %" PRId64 " %d\n", model->inputs[i].name, elements_of(&model->train->inputs[i]),
               model->inputs[i].classes);
    for (int i = 0; i < model->noutput; i++)
        printf("output %s\n", model->outputs[i].name);
    for (int i = 0; i < model->nresult; i++)
        printf("result %s %d %.17g\n", model->results[i].metric, model->results[i].kind == UNET_LOSS,
               model->results[i].weight);
    return 0;
}

static int checksums(int nseed, char **seeds) {
    void *arena = zeroed(model->persistent);
    for (int s = 0; s < nseed; s++) {
        unet_parameters_init(model, strtoull(seeds[s], NULL, 10), arena);
        for (int i = 0; i < model->nparameter; i++) {
            const UnetParameter *parameter = &model->parameter[i];
            uint64_t sum = 0xCBF29CE484222325u;
            for (int64_t j = 0; j < count(parameter); j++) {
                float value = (float)get(model->real, (char *)arena + parameter->offset, j);
                unsigned char bytes[sizeof value];
                memcpy(bytes, &value, sizeof value);
                for (size_t k = 0; k < sizeof value; k++)
                    sum = (sum ^ bytes[k]) * 0x100000001B3u;
            }
            printf("%s %s %016" PRIx64 "\n", seeds[s], parameter->name, sum);
        }
    }
    free(arena);
    return 0;
}

/* ---- run --------------------------------------------------------------------------------------- */

/* The inputs of one program, as its layouts want them; NULL where the program does not read one. */
typedef struct {
    void *values[8];
} Batch;

static Batch new_batch(const UnetProgram *program) {
    Batch batch = {{NULL}};
    if (model->ninput > 8)
        fail("too many inputs");
    for (int i = 0; i < model->ninput; i++)
        if (program->inputs[i].sample_bytes)
            batch.values[i] = zeroed(program->batch * program->inputs[i].sample_bytes);
    return batch;
}

static void free_batch(Batch *batch) {
    for (int i = 0; i < 8; i++)
        free(batch->values[i]);
}

static int32_t threads(void) {
    const char *said = getenv("THREADS");
    const long number = said != NULL ? strtol(said, NULL, 10) : THREADS;
    return number < model->max_threads ? (int32_t)number : model->max_threads;
}

static UnetStep told_step(char *arena, const void *const *inputs, int32_t n, int64_t step) {
    return (UnetStep){.arena = arena,
                      .inputs = inputs,
                      .n = n,
                      .threads = threads(),
                      .learning_rate = model->training->learning_rate,
                      .step = step,
                      .units = model->predict != NULL ? model->predict->units : 0,
                      .bands = 1};
}

static void run_step(const UnetProgram *program, char *arena, Batch *batch, int32_t n, int64_t step) {
    const void *inputs[8];
    for (int i = 0; i < model->ninput; i++)
        inputs[i] = batch->values[i];
    const UnetStep told = told_step(arena, inputs, n, step);
    if (program->prepare != NULL)
        program->prepare(&told);
    program->run(&told);
}

/* One number of RESULT: its mean over the samples; of a matrix of counts all, told apart by factors. */
static double result_number(const UnetResult *result, const char *numbers, int32_t n) {
    double sum = 0;
    for (int32_t k = 0; k < unet_result_numbers(result); k++)
        sum += (k + 1) * get(UNET_F64, numbers, k);
    return sum / n;
}

static void write_results(const UnetProgram *program, const char *arena, int32_t n) {
    for (int r = 0; r < model->nresult; r++)
        write_number(program->result_offsets[r] < 0
                         ? 0
                         : result_number(&model->results[r], arena + program->result_offsets[r], n));
}

/* ---- prediction, band by band ---- */

/* The rows of a tensor that belong to a band of the program: [begin, end). */
typedef struct {
    int32_t begin, end;
} Range;

static int32_t clamped(int64_t row, int32_t height) {
    return row < 0 ? 0 : row > height ? height : (int32_t)row;
}

static Range rows_of(const UnetProgram *program, const UnetBand *band, const UnetLayout *layout,
                     int64_t b) {
    const int32_t height = layout->size[1];
    if (program->units == 0)
        return (Range){0, height};
    return (Range){clamped(b * band->rows - band->lag, height),
                   clamped((b + 1) * band->rows - band->lag, height)};
}

static void copy_rows(Range rows, const UnetLayout *to, void *values, const UnetLayout *from,
                      const void *source, int32_t sample) {
    for (int32_t c = 0; c < to->channels; c++)
        for (int32_t d = 0; d < to->size[0]; d++)
            for (int32_t h = rows.begin; h < rows.end; h++)
                for (int32_t w = 0; w < to->size[2]; w++)
                    set(to->type, values, element(to, 0, c, d, h, w),
                        get(from->type, source, element(from, sample, c, d, h, w)));
}

/* A layout of all elements of one sample, in row-major order of (channel, depth, height, width). */
static UnetLayout dense(const UnetLayout *like) {
    const int64_t row = like->size[2], depth = row * like->size[1], plane = depth * like->size[0];
    UnetLayout layout = {.type = UNET_F64,
                         .channels = like->channels,
                         .block = 1,
                         .row = row,
                         .depth = depth,
                         .plane = plane};
    memcpy(layout.size, like->size, sizeof layout.size);
    layout.sample = plane * like->channels;
    layout.sample_bytes = layout.sample * 8;
    return layout;
}

/* Predicts SAMPLE of TRAINING; OUTPUT: dense, one for each of the model. */
static void predict_sample(char *arena, const Batch *training, int32_t sample, void *const *output) {
    const UnetProgram *program = model->predict;
    const void *none[8] = {NULL};
    UnetStep told = told_step(arena, none, 1, 1);
    for (int left = 1; left > 0; told.band++) {
        for (int i = 0; i < model->ninput; i++)
            if (program->input_offsets[i] >= 0)
                copy_rows(rows_of(program, &program->input_bands[i], &program->inputs[i], told.band),
                          &program->inputs[i], arena + program->input_offsets[i], &model->train->inputs[i],
                          training->values[i], sample);
        program->run(&told);
        left = 0;
        for (int o = 0; o < model->noutput; o++) {
            const UnetLayout *from = &program->outputs[o], to = dense(from);
            const Range rows = rows_of(program, &program->output_bands[o], from, told.band);
            copy_rows(rows, &to, output[o], from, arena + program->output_offsets[o], 0);
            left += rows.end < from->size[1];
        }
    }
}

/* Predicts the samples of TRAINING one by one and writes all outputs. */
static void predict(const char *weights, const Batch *training, int32_t n) {
    const UnetProgram *program = model->predict;
    char *arena = zeroed(program->extent);
    void *output[8];
    if (model->noutput > 8)
        fail("too many outputs");
    for (int o = 0; o < model->noutput; o++)
        output[o] = zeroed(dense(&program->outputs[o]).sample_bytes);
    for (int32_t sample = 0; sample < n; sample++) {
        for (int i = 0; i < model->nparameter; i++) {
            int64_t offset = unet_weights_offset(model, i);
            memcpy(arena + offset, weights + offset,
                   (size_t)count(&model->parameter[i]) * unet_type_bytes(model->real));
        }
        const UnetStep told = told_step(arena, NULL, 1, 1);
        if (program->prepare != NULL)
            program->prepare(&told);
        predict_sample(arena, training, sample, output);
        for (int o = 0; o < model->noutput; o++) {
            const UnetLayout layout = dense(&program->outputs[o]);
            each_element(&layout, 0, output[o], write_element);
        }
    }
    for (int o = 0; o < model->noutput; o++)
        free(output[o]);
    free(arena);
}

/* ---- evaluation ---- */

/* Samples [FIRST, FIRST + N) of TRAINING, as evaluation reads them. */
static void copy_samples(const Batch *training, int32_t first, int32_t n, Batch *batch) {
    for (int i = 0; i < model->ninput; i++) {
        const UnetLayout *to = &model->eval->inputs[i], *from = &model->train->inputs[i];
        for (int32_t k = 0; batch->values[i] != NULL && k < n; k++)
            copy_rows((Range){0, to->size[1]}, to, (char *)batch->values[i] + k * to->sample_bytes, from,
                      training->values[i], first + k);
    }
}

/* Evaluates the N samples of TRAINING between two steps of training, and writes the results of each batch.
 */
static void evaluate(char *arena, const Batch *training, int32_t n) {
    const UnetProgram *program = model->eval;
    Batch batch = new_batch(program);
    for (int32_t first = 0; first < n; first += program->batch) {
        const int32_t valid = n - first < program->batch ? n - first : program->batch;
        copy_samples(training, first, valid, &batch);
        run_step(program, arena, &batch, valid, 1);
        write_results(program, arena, valid);
    }
    free_batch(&batch);
}

static void write_parameters(char *arena, char **offsets) {
    for (int i = 0; i < model->nparameter; i++) {
        int64_t offset = offsets ? strtoll(offsets[i], NULL, 10) : unet_weights_offset(model, i);
        if (offset < 0) /* a running statistic has no gradient */
            continue;
        for (int64_t j = 0; j < count(&model->parameter[i]); j++)
            write_number(get(model->real, arena + offset, j));
    }
}

static int run(int32_t n, int64_t steps, char **offsets, bool evaluates) {
    const UnetProgram *program = model->train;
    char *arena = zeroed(model->arena_bytes);
    unet_parameters_init(model, 0, arena); /* the scale of the loss */
    for (int i = 0; i < model->nparameter; i++)
        for (int64_t j = 0; j < count(&model->parameter[i]); j++) {
            const double value = read_number();
            set(model->real, arena + model->parameter[i].offset, j, value);
            set(model->real, arena + unet_weights_offset(model, i), j, value);
        }
    Batch batch = new_batch(program);
    for (int i = 0; i < model->ninput; i++) {
        if (!batch.values[i])
            fail("training does not read all inputs");
        for (int32_t sample = 0; sample < program->batch;
             sample++) /* samples that are not valid must not count */
            each_element(&program->inputs[i], sample, batch.values[i],
                         sample < n ? read_element : spoil_element);
    }

    predict(arena, &batch, n);
    for (int64_t step = 1; step <= steps; step++) {
        run_step(program, arena, &batch, n, step);
        write_results(program, arena, n);
        if (step == 1)
            write_parameters(arena, offsets);
        if (step == 1 && evaluates)
            evaluate(arena, &batch, n);
    }
    write_parameters(arena, NULL);
    free_batch(&batch);
    free(arena);
    return 0;
}

int main(int argc, char **argv) {
    if (argc == 2 && strcmp(argv[1], "describe") == 0)
        return describe();
    if (argc > 2 && strcmp(argv[1], "checksums") == 0)
        return checksums(argc - 2, argv + 2);
    const bool evaluates = argc > 1 && strcmp(argv[1], "evaluate") == 0;
    if (argc == 4 + model->nparameter && (evaluates || strcmp(argv[1], "run") == 0))
        return run((int32_t)strtol(argv[2], NULL, 10), strtoll(argv[3], NULL, 10), argv + 4, evaluates);
    fail("bad arguments");
}
