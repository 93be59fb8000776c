/* bench.c - the command `bench`: how long a step of each program takes on random inputs, without
 * data, loader or files, and each of its parts: steps of the plan, or what a device tells apart. */
#include "steps.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "unet/layout.h"
#include "unet/parameters.h"
#include "unet/rng.h"
#include "unet/words.h"

enum { WARM_UP = 3, LEAST_STEPS = 5, MAX_STEPS = 200, ALIGNMENT = 64 };
enum { ROUNDS = 5, SHOWN = 5 }; /* steps whose parts are timed; the longest parts are printed */
static const double seconds_per_program = 5;

/* The inputs of a program, one behind the other in memory that all programs share. */
typedef struct {
    char *memory;
    int64_t bytes;
    const void **input; /* one per input of the model; NULL: the program does not read it */
} Inputs;

/* The times of one program. */
typedef struct {
    const UnetProgram *program;
    int32_t samples; /* of a step, of all processes */
    int n;
    double whole[MAX_STEPS];    /* seconds from the end of a step to the end of the next, */
    double exchange[MAX_STEPS]; /*   of them waiting for other processes, */
    double sent[MAX_STEPS];     /*   and of numbers exchanged with them, beside computation, too */
    double inputs, step;        /* of the device: copying the inputs, computing */
    int32_t nparts;
    UnetDeviceTime *part; /* medians, in the order of the step */
    StepClock *clock;     /* of the host */
} Times;

/* Numbers of an input: from 0 to 1; or numbers of words, the share `told` of all points, and else -1. */
typedef struct {
    int32_t words; /* 0: none */
    double told;
} Numbers;

/* The words of the source called NAME. */
static int32_t words_of(const UnetData *data, const char *name) {
    for (int32_t s = 0; s < data->nsource; s++)
        if (strcmp(data->source[s].name, name) == 0)
            return data->source[s].words;
    return 0;
}

static Numbers numbers_of(const UnetModel *model, int32_t input) {
    const UnetData *data = model->data;
    for (int32_t s = 0; data != NULL && s < data->nsource; s++) {
        const UnetSource *source = &data->source[s];
        const UnetSourceTerm *term = source->nterm > 0 ? &source->term[0] : NULL;
        if (source->input != input || term == NULL)
            continue;
        if (term->op == UNET_SRC_HIDE)
            return (Numbers){words_of(data, term->pattern), term->hidden->share};
        return (Numbers){term->op == UNET_SRC_NEXT ? words_of(data, term->pattern) : source->words, 1};
    }
    return (Numbers){0, 1};
}

static float random_number(const Numbers *of, const UnetKey *key, uint64_t number) {
    const double draw = unet_random_uniform(key, number);
    if (of->words == 0)
        return (float)draw;
    const double share = draw / of->told; /* of the draws that tell a word */
    return share < 1 ? (float)(int32_t)(share * of->words) : -1;
}

static void fill(const UnetLayout *layout, int32_t batch, const UnetKey *key, const Numbers *numbers,
                 void *base, float *row, int32_t *identity) {
    int64_t width = layout->size[2], count = layout->channels * width;
    uint64_t next = 0;
    for (int32_t w = 0; w < width; w++)
        identity[w] = w;
    for (int32_t n = 0; n < batch; n++)
        for (int32_t d = 0; d < layout->size[0]; d++)
            for (int32_t h = 0; h < layout->size[1]; h++) {
                for (int64_t i = 0; i < count; i++)
                    row[i] = random_number(numbers, key, next++);
                unet_layout_store_row(layout, base, n, d, h, row, width, identity, NULL);
            }
}

static UnetStatus take_inputs(Inputs *inputs, const UnetModel *model, UnetError *error) {
    const UnetProgram *const programs[] = {model->train, model->eval, model->predict};
    inputs->bytes = ALIGNMENT;
    for (int p = 0; p < 3; p++)
        if (programs[p] != NULL && programs[p]->input_bytes > inputs->bytes)
            inputs->bytes = programs[p]->input_bytes;
    inputs->input = calloc((size_t)model->ninput + 1, sizeof *inputs->input);
    if (inputs->input == NULL)
        return unet_fail(error, UNET_TOO_SMALL, "no memory for random inputs");
    return arena_take(&inputs->memory, inputs->bytes, 0, error);
}

/* ARENA holds the input where the program has a place for it there. */
static UnetStatus fill_inputs(Inputs *inputs, const UnetModel *model, const UnetProgram *program,
                              char *arena, UnetError *error) {
    int64_t offset = 0;
    UnetStatus status = UNET_OK;
    memset(inputs->memory, 0, (size_t)inputs->bytes); /* halos and padding of another program's layout */
    for (int i = 0; i < model->ninput && status == UNET_OK; i++) {
        const UnetLayout *layout = &program->inputs[i];
        const UnetKey key = {.seed = 1, .sample = (uint32_t)i};
        const Numbers numbers = numbers_of(model, i);
        inputs->input[i] = NULL;
        if (layout->sample_bytes == 0)
            continue;
        float *row = calloc((size_t)layout->channels * (size_t)layout->size[2], sizeof *row);
        int32_t *identity = calloc((size_t)layout->size[2], sizeof *identity);
        const bool staged = program->input_offsets == NULL;
        char *base = staged ? inputs->memory + offset : arena + program->input_offsets[i];
        if (row != NULL && identity != NULL) {
            fill(layout, program->batch, &key, &numbers, base, row, identity);
            inputs->input[i] = staged ? base : NULL;
        } else {
            status = unet_fail(error, UNET_TOO_SMALL, "no memory for random inputs");
        }
        free(row);
        free(identity);
        int64_t bytes = staged ? layout->sample_bytes * program->batch : 0;
        offset += (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    }
    return status;
}

static void free_inputs(Inputs *inputs) {
    arena_give_back(inputs->memory, inputs->bytes);
    free(inputs->input);
}

/* ---- measuring ---- */

/* Several processes agree on how many steps they take; LAST: seconds of one. */
static UnetStatus agree_on_steps(Driver *driver, double last, int *steps) {
    const double in_time = seconds_per_program / (last > 0 ? last : 1);
    const int wanted = in_time < *steps ? (int)in_time : *steps;
    int64_t most;
    const UnetStatus status =
        ranks_most(&driver->ranks, wanted < LEAST_STEPS ? LEAST_STEPS : wanted, &most, &driver->error);
    *steps = status == UNET_OK && most < *steps ? (int)most : *steps;
    return status;
}

/* The next step is begun before one ends, where a device allows it, as in training. */
static UnetStatus time_steps(Driver *driver, Device *device, UnetStep *step, Times *times) {
    const int64_t first = step->step, asked = driver->options.steps;
    int max = asked > 0 && asked < MAX_STEPS ? (int)asked : MAX_STEPS;
    Ranks *ranks = &driver->ranks;
    double begin = machine_seconds(), start = begin, exchange = 0, sent = 0;
    for (int k = -WARM_UP; k < max; k++) {
        UnetStatus status = UNET_OK;
        while (status == UNET_OK && step->step - first < k + WARM_UP + device_steps_ahead(device)) {
            step->step++;
            status = device_begin(device, times->program, step, &driver->error);
        }
        if (status == UNET_OK)
            status = device_end(device, &driver->error);
        if (status == UNET_OK && ranks->status != UNET_OK)
            status = unet_fail(&driver->error, ranks->status, "%s", ranks->error.text);
        double end = machine_seconds();
        if (status == UNET_OK && k == -1 && !ranks_alone(ranks))
            status = agree_on_steps(driver, end - start, &max);
        if (status != UNET_OK)
            return status;
        step_clock_round(times->clock, k >= 0);
        if (k >= 0) {
            times->exchange[times->n] = ranks->seconds - exchange;
            times->sent[times->n] = ranks->sent - sent;
            times->whole[times->n++] = end - start;
        }
        exchange = ranks->seconds;
        sent = ranks->sent;
        start = ranks_alone(ranks) ? end : machine_seconds();
        if (times->n >= LEAST_STEPS && end - begin > seconds_per_program && ranks_alone(ranks))
            break;
    }
    step_clock_read(times->clock);
    return device_steps_ahead(device) > 1 ? device_end(device, &driver->error) : UNET_OK;
}

/* How long the device copies inputs, and computes, in whole steps. */
static UnetStatus time_on_device(Driver *driver, Device *device, UnetStep *step, Times *times) {
    double inputs[ROUNDS] = {0}, rest[ROUNDS] = {0};
    const UnetDeviceTime *part;
    int32_t count;
    for (int k = 0; k < ROUNDS; k++) {
        step->step++;
        UnetStatus status =
            device_timed_run(device, times->program, step, false, &part, &count, &driver->error);
        if (status != UNET_OK)
            return status;
        for (int32_t i = 0; i < count; i++)
            *(strcmp(part[i].name, "inputs") == 0 ? &inputs[k] : &rest[k]) += part[i].seconds;
    }
    times->inputs = median(inputs, ROUNDS);
    times->step = median(rest, ROUNDS);
    return UNET_OK;
}

/* SECONDS has ROUNDS numbers for each part. */
static UnetStatus time_rounds(Driver *driver, Device *device, UnetStep *step, Times *times,
                              double **seconds) {
    const UnetDeviceTime *part;
    int32_t count;
    for (int k = 0; k < ROUNDS; k++) {
        step->step++;
        UnetStatus status =
            device_timed_run(device, times->program, step, true, &part, &count, &driver->error);
        if (status != UNET_OK)
            return status;
        if (k == 0) {
            times->part = calloc((size_t)count + 1, sizeof *times->part);
            *seconds = calloc((size_t)count + 1, ROUNDS * sizeof **seconds);
            times->nparts = times->part == NULL || *seconds == NULL ? 0 : count;
            if (times->nparts < count)
                return unet_fail(&driver->error, UNET_TOO_SMALL, "no memory for the times of parts");
        }
        for (int32_t i = 0; i < times->nparts; i++) {
            times->part[i] = part[i];
            (*seconds)[i * ROUNDS + k] = part[i].seconds;
        }
    }
    return UNET_OK;
}

/* A step that runs in each iteration of a loop, or is computed again, is one part. */
static void merge_parts(Times *times) {
    int32_t count = 0;
    for (int32_t i = 0; i < times->nparts; i++) {
        int32_t same = 0;
        while (same < count && strcmp(times->part[same].name, times->part[i].name) != 0)
            same++;
        if (same == count)
            times->part[count++] = times->part[i];
        else
            times->part[same].seconds += times->part[i].seconds;
    }
    times->nparts = count;
}

static UnetStatus time_parts(Driver *driver, Device *device, UnetStep *step, Times *times) {
    double *seconds = NULL;
    UnetStatus status = time_rounds(driver, device, step, times, &seconds);
    for (int32_t i = 0; i < times->nparts && status == UNET_OK; i++)
        times->part[i].seconds = median(&seconds[i * ROUNDS], ROUNDS);
    if (status == UNET_OK)
        merge_parts(times);
    free(seconds);
    return status;
}

/* ---- telling ---- */

static int longest_first(const void *a, const void *b) {
    double x = ((const UnetDeviceTime *)a)->seconds, y = ((const UnetDeviceTime *)b)->seconds;
    return (x < y) - (x > y);
}

static void print_parts(Times *times) {
    double sum = 0;
    for (int32_t i = 0; i < times->nparts; i++)
        sum += times->part[i].seconds;
    qsort(times->part, (size_t)times->nparts, sizeof *times->part, longest_first);
    (void)printf("         %" PRId32 " parts launched one by one %.3f ms", times->nparts, 1e3 * sum);
    for (int32_t i = 0; i < times->nparts && i < SHOWN; i++)
        (void)printf("%s %s %.3f", i == 0 ? ", of that:" : ",", times->part[i].name,
                     1e3 * times->part[i].seconds);
    (void)printf("\n");
}

/* "256 x 256", or of a volume "128 x 128 x 128", depth first. */
static const char *size_text(const int32_t size[3], char text[48]) {
    if (size[0] > 1)
        (void)snprintf(text, 48, "%4" PRId32 " x %" PRId32 " x %" PRId32, size[0], size[1], size[2]);
    else
        (void)snprintf(text, 48, "%4" PRId32 " x %-4" PRId32, size[1], size[2]);
    return text;
}

static void print_text(const Driver *driver, Times *times, const Peak *peak) {
    const UnetProgram *program = times->program;
    const UnetModel *model = driver->model;
    double middle = median(times->whole, times->n);
    char size[48];
    (void)printf("%-8s batch %-4" PRId32 " %s"
                 " median %9.3f ms  min %9.3f ms  %9.2f images/s  (%d step%s, ",
                 program->name, program->batch, size_text(program->size, size), 1e3 * middle,
                 1e3 * times->whole[0], times->samples / middle, times->n, unet_plural(times->n));
    if (model->device == NULL) {
        (void)printf("%" PRId32 " thread%s)\n", driver->threads, unet_plural(driver->threads));
        step_times_print(times->clock, peak);
    } else {
        (void)printf("%s: inputs %.3f ms, computing %.3f ms)\n", model->device->name, 1e3 * times->inputs,
                     1e3 * times->step);
        print_parts(times);
    }
    if (!ranks_alone(&driver->ranks))
        (void)printf("         of it rank 0 waited %.3f ms for the gradients and weights of %" PRId32
                     " ranks, whose exchange took %.3f ms (medians)\n",
                     1e3 * median(times->exchange, times->n), driver->ranks.size,
                     1e3 * median(times->sent, times->n));
    (void)fflush(stdout);
}

static json_t *times_json(const Driver *driver, Times *times) {
    const UnetModel *model = driver->model;
    const UnetProgram *program = times->program;
    double middle = median(times->whole, times->n);
    json_t *found = json_pack("{s:s, s:i, s:[i,i,i], s:i, s:f, s:f}", "name", program->name, "batch",
                              program->batch, "size", program->size[0], program->size[1], program->size[2],
                              "steps", times->n, "median", middle, "min", times->whole[0]);
    if (!ranks_alone(&driver->ranks))
        (void)json_object_update_new(found, json_pack("{s:i, s:f, s:f}", "ranks", (int)driver->ranks.size,
                                                      "exchange", median(times->exchange, times->n),
                                                      "exchange_all", median(times->sent, times->n)));
    if (model->device == NULL) {
        (void)json_object_set_new(found, "parts", step_times_json(times->clock));
        return found;
    }
    json_t *parts = json_array();
    for (int32_t i = 0; i < times->nparts; i++)
        (void)json_array_append_new(
            parts, json_pack("{s:s, s:f}", "name", times->part[i].name, "seconds", times->part[i].seconds));
    (void)json_object_set_new(
        found, "device",
        json_pack("{s:f, s:f, s:o}", "inputs", times->inputs, "step", times->step, "parts", parts));
    return found;
}

static UnetStatus print_json(const UnetModel *model, json_t *programs, const Device *device,
                             const Peak *peak, UnetError *error) {
    char engines[ENGINES_BYTES];
    json_t *all = json_pack("{s:s, s:s, s:s, s:O}", "schema", "unet-bench/1", "model", model->name,
                            "target", model->target, "programs", programs);
    device_engines(device, engines);
    if (model->device != NULL)
        (void)json_object_set_new(all, "engines", json_string(engines));
    else
        (void)json_object_set_new(all, "peak",
                                  json_pack("{s:f, s:f, s:f}", "flops", peak->flops, "bytes", peak->bytes,
                                            "matrix_flops", peak->matrix_flops));
    if (all == NULL)
        return unet_fail(error, UNET_TOO_SMALL, "no memory for the times");
    bool written = json_dumpf(all, stdout, JSON_INDENT(1)) == 0 && putchar('\n') != EOF;
    json_decref(all);
    return written ? UNET_OK : unet_fail(error, UNET_IO, "standard output cannot be written");
}

/* ---- the command ---- */

/* How many bands an image of the compiled size is. */
static int32_t bands_of(const UnetProgram *program, int noutput) {
    int64_t bands = 1;
    for (int i = 0; program->units > 0 && i < noutput; i++) {
        const UnetBand *band = &program->output_bands[i];
        const int64_t end = (int64_t)program->units * band->of_unit + band->lag;
        bands = (end - 1) / band->rows + 1 > bands ? (end - 1) / band->rows + 1 : bands;
    }
    return (int32_t)bands;
}

/* If several processes train, a step is the share that one of them computes, with the others or alone. */
static void take_share(Driver *driver, UnetStep *step, Times *times) {
    const UnetTraining *training = driver->model->training;
    Ranks *ranks = &driver->ranks;
    times->samples = step->n;
    if (times->program != driver->model->train)
        return;
    if (!ranks_alone(ranks)) {
        step->team = &ranks->team;
        ranks_begin_step(ranks, step->n, &step->first, &step->last);
    } else if (training->processes > 1) {
        times->samples = step->last = step->n / training->processes;
    }
}

static UnetStatus time_program(Driver *driver, const UnetProgram *program, Device *device, Inputs *inputs,
                               const Peak *peak, json_t *programs) {
    StepClock clock;
    Times times = {.program = program, .clock = &clock};
    UnetStep step = {.arena = device->arena,
                     .inputs = inputs->input,
                     .n = program->batch,
                     .threads = driver->threads,
                     .step = 0,
                     .units = program->units,
                     .bands = bands_of(program, driver->model->noutput),
                     .watch = &clock.watch};
    take_share(driver, &step, &times);
    UnetStatus status = step_clock_new(&clock, program, MAX_STEPS, &driver->error);
    if (status == UNET_OK)
        device_prepare(device, program, &step);
    if (status == UNET_OK)
        status = fill_inputs(inputs, driver->model, program, device->arena, &driver->error);
    if (status == UNET_OK)
        status = time_steps(driver, device, &step, &times);
    if (status == UNET_OK && driver->model->device != NULL)
        status = time_on_device(driver, device, &step, &times);
    if (status == UNET_OK && driver->model->device != NULL)
        status = time_parts(driver, device, &step, &times);
    if (status == UNET_OK && programs != NULL)
        (void)json_array_append_new(programs, times_json(driver, &times));
    else if (status == UNET_OK && driver->ranks.rank == 0)
        print_text(driver, &times, peak);
    step_clock_free(&clock);
    free(times.part);
    return status;
}

static UnetStatus open_and_load(Driver *driver, Device *device, Inputs *inputs) {
    const UnetModel *model = driver->model;
    uint64_t seed = driver->options.seed >= 0 ? (uint64_t)driver->options.seed : 0;
    UnetStatus status = driver_open_device(driver, device, model->arena_bytes, model->loader_ring_bytes);
    if (status == UNET_OK)
        unet_parameters_init(model, seed, device->arena);
    if (status == UNET_OK && driver->options.weights != NULL)
        status = run_load_weights(driver, device->arena);
    if (status == UNET_OK)
        status = device_push_weights(device, &driver->error);
    if (status == UNET_OK)
        status = take_inputs(inputs, model, &driver->error);
    if (status == UNET_OK)
        device_pin(device, inputs->memory, (size_t)inputs->bytes);
    return status == UNET_OK ? device_try_threads(device, driver->threads, &driver->error) : status;
}

static Peak measure_peak(const Driver *driver) {
    const int64_t instructions = driver->model->instructions;
    const Peak peak = {.flops = machine_flops(instructions, driver->threads),
                       .bytes = machine_bandwidth(driver->threads),
                       .matrix_flops = machine_matrix_flops(instructions, driver->threads)};
    if (driver->options.format[0] == 'j' || driver->ranks.rank != 0)
        return peak;
    (void)printf("peak     %.1f GFLOP/s in registers, %.1f GB/s from memory", 1e-9 * peak.flops,
                 1e-9 * peak.bytes);
    if (peak.matrix_flops > 0)
        (void)printf(", %.1f GFLOP/s of matrices of bf16", 1e-9 * peak.matrix_flops);
    (void)printf("\n");
    return peak;
}

UnetStatus driver_bench(Driver *driver) {
    const UnetModel *model = driver->model;
    const bool several = !ranks_alone(&driver->ranks); /* which train together, and nothing else */
    const UnetProgram *const programs[] = {model->train, several ? NULL : model->eval,
                                           several ? NULL : model->predict};
    json_t *found = driver->options.format[0] == 'j' ? json_array() : NULL;
    Device device = {.model = NULL};
    Inputs inputs = {.memory = NULL};
    Peak peak = {0};
    UnetStatus status = several ? ranks_check_share(&driver->ranks, model, &driver->error) : UNET_OK;
    if (status == UNET_OK)
        status = open_and_load(driver, &device, &inputs);
    if (status == UNET_OK)
        status = driver_connect_devices(driver, &device);
    if (status == UNET_OK && model->device == NULL)
        peak = measure_peak(driver);
    for (int p = 0; p < 3 && status == UNET_OK; p++)
        if (programs[p] != NULL)
            status = time_program(driver, programs[p], &device, &inputs, &peak, found);
    if (status == UNET_OK && found != NULL && driver->ranks.rank == 0)
        status = print_json(model, found, &device, &peak, &driver->error);
    json_decref(found);
    device_close(&device);
    free_inputs(&inputs);
    return status;
}
