/* driver_bench.c - the command `bench`: how long a step of each program takes on random inputs, without
 * data, loader or files. */
#include "driver.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "unet/layout.h"
#include "unet/parameters.h"
#include "unet/rng.h"

enum { WARM_UP = 2, LEAST_STEPS = 5, MOST_STEPS = 200, ALIGNMENT = 64 };
static const double seconds_per_program = 5;

/* The inputs of a program, one behind the other in one block of zeroed memory. */
typedef struct {
    char *memory;
    int64_t bytes;
    const void **input; /* one per input of the model */
} Inputs;

static void fill(const UnetLayout *layout, int32_t batch, int32_t channels_of_labels, const UnetKey *key,
                 void *base, float *row, int32_t *identity) {
    int64_t width = layout->size[2], count = layout->channels * width;
    uint64_t next = 0;
    for (int32_t w = 0; w < width; w++)
        identity[w] = w;
    for (int32_t n = 0; n < batch; n++)
        for (int32_t d = 0; d < layout->size[0]; d++)
            for (int32_t h = 0; h < layout->size[1]; h++) {
                for (int64_t i = 0; i < count; i++) {
                    double number = unet_random_uniform(key, next++);
                    row[i] =
                        (float)(channels_of_labels > 0 ? (int32_t)(number * channels_of_labels) : number);
                }
                unet_layout_store_row(layout, base, n, d, h, row, width, identity, 0);
            }
}

static UnetStatus make_inputs(Inputs *inputs, const Driver *driver, const UnetProgram *program,
                              UnetError *error) {
    const UnetModel *model = driver->model;
    int64_t offset = 0;
    inputs->bytes = program->input_bytes > 0 ? program->input_bytes : ALIGNMENT;
    inputs->input = calloc((size_t)model->ninput + 1, sizeof *inputs->input);
    UnetStatus status = arena_take(&inputs->memory, inputs->bytes, 0, error);
    for (int i = 0; i < model->ninput && status == UNET_OK && inputs->input != NULL; i++) {
        const UnetLayout *layout = &program->inputs[i];
        const UnetKey key = {.seed = 1, .sample = (uint32_t)i};
        if (layout->sample_bytes == 0)
            continue;
        float *row = calloc((size_t)layout->channels * (size_t)layout->size[2], sizeof *row);
        int32_t *identity = calloc((size_t)layout->size[2], sizeof *identity);
        if (row != NULL && identity != NULL) {
            int32_t classes = model->inputs[i].kind == UNET_LABELS ? model->inputs[i].channels : 0;
            fill(layout, program->batch, classes, &key, inputs->memory + offset, row, identity);
            inputs->input[i] = inputs->memory + offset;
        } else {
            status = unet_fail(error, UNET_TOO_SMALL, "no memory for random inputs");
        }
        free(row);
        free(identity);
        int64_t bytes = layout->sample_bytes * program->batch;
        offset += (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    }
    if (status == UNET_OK && inputs->input == NULL)
        return unet_fail(error, UNET_TOO_SMALL, "no memory for random inputs");
    return status;
}

static void free_inputs(Inputs *inputs) {
    arena_give_back(inputs->memory, inputs->bytes);
    free(inputs->input);
}

static int ascending(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static UnetStatus time_program(Driver *driver, const UnetProgram *program, Device *device,
                               const Inputs *inputs) {
    double seconds[MOST_STEPS], begin = machine_seconds();
    int n = 0;
    for (int k = -WARM_UP; k < MOST_STEPS; k++) {
        const UnetStep step = {.arena = device->arena,
                               .inputs = inputs->input,
                               .n = program->batch,
                               .threads = driver->threads,
                               .step = k + WARM_UP + 1};
        double start = machine_seconds();
        UnetStatus status = device_run(device, program, &step, &driver->error);
        if (status != UNET_OK)
            return status;
        double end = machine_seconds();
        if (k >= 0)
            seconds[n++] = end - start;
        if (n >= LEAST_STEPS && end - begin > seconds_per_program)
            break;
    }
    qsort(seconds, (size_t)n, sizeof *seconds, ascending);
    double median = seconds[n / 2];
    (void)printf("%-8s batch %-4" PRId32 " %4" PRId32 " x %-4" PRId32
                 " median %9.3f ms  least %9.3f ms  %9.2f "
                 "images/s  (%d steps, %" PRId32 " threads)\n",
                 program->name, program->batch, program->size[1], program->size[2], 1e3 * median,
                 1e3 * seconds[0], program->batch / median, n, driver->threads);
    (void)fflush(stdout);
    return UNET_OK;
}

UnetStatus driver_bench(Driver *driver) {
    const UnetModel *model = driver->model;
    const UnetProgram *const programs[] = {model->train, model->eval, model->predict};
    uint64_t seed = driver->options.seed >= 0 ? (uint64_t)driver->options.seed : 0;
    Device device;
    UnetStatus status =
        device_open(&device, model, model->arena_bytes, model->loader_ring_bytes, &driver->error);
    if (status == UNET_OK)
        unet_parameters_init(model, seed, device.arena);
    if (status == UNET_OK && driver->options.weights != NULL)
        status = run_load_weights(driver, device.arena);
    if (status == UNET_OK)
        status = device_push_weights(&device, &driver->error);
    for (int p = 0; p < 3 && status == UNET_OK; p++) {
        Inputs inputs = {.memory = NULL};
        if (programs[p] == NULL)
            continue;
        status = make_inputs(&inputs, driver, programs[p], &driver->error);
        if (status == UNET_OK)
            status = time_program(driver, programs[p], &device, &inputs);
        free_inputs(&inputs);
    }
    device_close(&device);
    return status;
}
