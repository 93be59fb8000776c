/* library_test.c - models as libraries on a GPU: all of `models` are there at the same time and predict in
 * turns, ROUNDS times with the same weights, then with others, behind a training step, and with the first
 * ones again.
 *
 *   PROGRAM ROUNDS
 *
 * Prints a line for each prediction: the model, the seed of its weights, the picture, a sum of its bits.
 * By unet/embed.h each predicts the same, and a training step changes that. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include <string.h>

#include "unet/device.h"
#include "unet/embed.h"
#include "unet/layout.h"
#include "unet/parameters.h"

extern const UnetModel *const models[]; /* NULL behind the last */

enum { MOST_MODELS = 2, MOST_INPUTS = 2, PICTURES = 2, ALIGNMENT = 64 };

typedef struct {
    const UnetModel *model;
    void *state;
    char *mirror;
    uint64_t seed;
} Instance;

static void must(UnetStatus status, const UnetError *error) {
    if (status != UNET_OK) {
        (void)fprintf(stderr, "library_test: %s\n", error->text);
        exit(1);
    }
}

static void *take(int64_t bytes) {
    void *memory = aligned_alloc(ALIGNMENT, ((size_t)bytes / ALIGNMENT + 1) * ALIGNMENT);
    if (memory == NULL)
        abort();
    return memory;
}

/* One sample of INPUTS; at a rate of 0, training changes no weight. */
static void run_on(const Instance *of, const UnetProgram *program, const void *const *inputs) {
    UnetError error;
    const UnetStep step = {.arena = of->mirror, .inputs = inputs, .n = 1, .threads = 1, .step = 1};
    must(of->model->device->begin(of->state, program, &step, &error), &error);
    must(of->model->device->end(of->state, of->mirror, &error), &error);
}

/* Runs with the inputs of PICTURE. */
static void run(const Instance *of, const UnetProgram *program, int picture) {
    float *input[MOST_INPUTS] = {NULL};
    for (int i = 0; i < of->model->ninput; i++) {
        const int64_t count = program->inputs[i].sample_bytes / (int64_t)sizeof(float);
        if (count == 0)
            continue;
        input[i] = take(program->inputs[i].sample_bytes);
        for (int64_t k = 0; k < count; k++)
            input[i][k] = (float)((k * (7 + picture) + i) % 101) / 101;
    }
    run_on(of, program, (const void *const[]){input[0], input[1]});
    for (int i = 0; i < MOST_INPUTS; i++)
        free(input[i]);
}

static void train(const Instance *of) {
    if (of->model->train != NULL)
        run(of, of->model->train, 0);
}

static void predict(const Instance *of, int picture) {
    UnetError error;
    const UnetProgram *program = of->model->predict;
    const int64_t offset = program->output_offsets[0], bytes = program->outputs[0].sample_bytes;
    run(of, program, picture);
    must(of->model->device->fetch(of->state, of->mirror, offset, bytes, &error), &error);
    uint64_t sum = UINT64_C(0xcbf29ce484222325);
    for (int64_t k = 0; k < bytes; k++)
        sum = (sum ^ (unsigned char)of->mirror[offset + k]) * UINT64_C(0x100000001b3);
    (void)printf("%s %" PRIu64 " %d %016" PRIx64 "\n", of->model->name, of->seed, picture, sum);
}

static void set_weights(Instance *of, uint64_t seed) {
    UnetError error;
    of->seed = seed;
    unet_parameters_init(of->model, seed, of->mirror);
    must(of->model->device->push(of->state, of->mirror, 0, of->model->persistent, &error), &error);
}

static void open_all(Instance *of, int count) {
    UnetError error;
    for (int m = 0; m < count; m++) {
        of[m] = (Instance){.model = models[m], .mirror = take(models[m]->arena_bytes)};
        must(models[m]->device->open(&of[m].state, models[m], models[m]->arena_bytes, NULL, &error),
             &error);
        set_weights(&of[m], 1);
    }
}

enum { SIZE = 16, CHANNELS = 3, POINTS = CHANNELS * SIZE * SIZE }; /* of what library.py compiles */

/* A planar picture by way of the device alone. */
static void predict_planar(const Instance *of, const float *in, float *out) {
    UnetError error;
    const UnetProgram *program = of->model->predict;
    const UnetLayout *input = &program->inputs[0], *output = &program->outputs[0];
    char *staged = take(input->sample_bytes);
    memset(staged, 0, (size_t)input->sample_bytes);
    for (int h = 0; h < SIZE; h++)
        unet_layout_store_row(input, staged, 0, 0, h, in + h * SIZE, SIZE * SIZE, NULL, NULL);
    run_on(of, program, (const void *const[]){staged, NULL});
    must(of->model->device->fetch(of->state, of->mirror, program->output_offsets[0], output->sample_bytes,
                                  &error),
         &error);
    for (int h = 0; h < SIZE; h++) {
        float row[CHANNELS * SIZE];
        unet_layout_load_row(output, of->mirror + program->output_offsets[0], 0, 0, h, row);
        for (int c = 0; c < CHANNELS; c++)
            memcpy(out + (c * SIZE + h) * SIZE, row + c * SIZE, SIZE * sizeof *row);
    }
    free(staged);
}

/* OF has the weights of seed 1. */
static void embed(const Instance *of) {
    float in[POINTS], expected[POINTS], found[POINTS];
    double loss = -1;
    UnetError error;
    const size_t bytes = (size_t)unet_embed_bytes(of->model);
    char *buffer = take((int64_t)bytes);
    const void *const inputs[] = {in, in};
    void *const outputs[] = {found};
    for (int i = 0; i < POINTS; i++)
        in[i] = (float)(i * 7 % 101) / 101;
    predict_planar(of, in, expected);
    must(unet_embed_init(&of->model, 1, buffer, bytes, 1, 1, &error), &error);
    must(unet_embed_forward(buffer, inputs, outputs, &error), &error);
    if (memcmp(found, expected, sizeof found) != 0)
        must(unet_fail(&error, UNET_BUG, "%s predicts something else by unet/embed.h", of->model->name),
             &error);
    if (of->model->train != NULL) {
        must(unet_embed_train_step(buffer, 1, inputs, 1e-2, &loss, &error), &error);
        must(unet_embed_forward(buffer, inputs, outputs, &error), &error);
        if (!(loss > 0) || memcmp(found, expected, sizeof found) == 0)
            must(unet_fail(&error, UNET_BUG, "%s does not learn", of->model->name), &error);
    }
    unet_embed_close(buffer);
    free(buffer);
}

int main(int argc, char **argv) {
    const int rounds = argc == 2 ? atoi(argv[1]) : 1;
    Instance of[MOST_MODELS];
    int count = 0;
    while (models[count] != NULL)
        count++;
    open_all(of, count);
    for (int k = 0; k < rounds * PICTURES; k++)
        for (int m = 0; m < count; m++)
            predict(&of[m], k % PICTURES);
    for (int m = 0; m < count; m++) {
        set_weights(&of[m], 2);
        predict(&of[m], 0);
        predict(&of[m], 1);
        train(&of[m]);
        predict(&of[m], 1);
        set_weights(&of[m], 1);
        predict(&of[m], 0);
    }
    for (int m = 0; m < count; m++)
        embed(&of[m]);
    for (int m = 0; m < count; m++) {
        of[m].model->device->close(of[m].state);
        free(of[m].mirror);
    }
    return 0;
}
