/* sample.c - the command `sample`: pictures out of noise, by a network that `diffuse` trained.
 *
 *     x = noise
 *     for each time t, from the last one down:
 *         the network tells the noise, the velocity or the picture of (x, t)
 *         the picture p and the noise e follow from that and x
 *         x = sqrt(b) p + sqrt(1 - b - s^2) e + s * new noise
 *
 * b is the share of the picture at the next time.  With s = 0 that is DDIM, with eta = 1 and all times
 * DDPM.  A batch of the program for prediction is sampled at a time.  Noise follows from the seed, the
 * sample and the step, so batches and threads change no bit.
 *
 * Requires: the model's diffusion and its program for prediction.  Provides: a picture of all samples.
 */
#include "driver.h"
#include "sample_condition.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "unet/layout.h"
#include "unet/rng.h"

enum {
    SAMPLES = 16, /* unless options say otherwise */
    STEPS = 50,
    MARGIN = 2, /* points between samples */
    MOST_SIDE = 65535
};

typedef struct {
    Driver *driver;
    const UnetDiffusion *diffusion;
    const UnetProgram *program;
    Device device;
    Conditions conditions;                /* inputs beside the noisy picture and the time */
    char *staged;                         /* batches of all inputs, where the arena has none */
    char **batch_of;                      /* per input: its batch there */
    const void **inputs;                  /* the same, for a step */
    int32_t count, steps, columns, batch; /* batch: of samples that the program computes at a time */
    double eta;
    uint64_t seed;
    size_t numbers;          /* of a sample */
    float *x, *told, *noise; /* of a batch, planar; what the network tells of x; noise of a sample */
    float *row;              /* of a tensor, or of the whole picture */
    uint8_t *picture;        /* all samples, in bytes */
} Sampling;

static const UnetLayout *picture_layout(const Sampling *s) {
    return &s->program->inputs[s->diffusion->picture];
}

/* ---- memory ----------------------------------------------------------------------------------- */

static int32_t grid_rows(const Sampling *s) {
    return (s->count + s->columns - 1) / s->columns;
}

/* Height and width of the picture of all samples. */
static void grid_size(const Sampling *s, int64_t size[2]) {
    const UnetLayout *layout = picture_layout(s);
    size[0] = (int64_t)grid_rows(s) * (layout->size[1] + MARGIN) + MARGIN;
    size[1] = (int64_t)s->columns * (layout->size[2] + MARGIN) + MARGIN;
}

/* Bytes beside the arena; *PICTURE, *STAGED: of the picture, of the inputs. */
static int64_t beside(const Sampling *s, int64_t *picture, int64_t *staged) {
    int64_t size[2];
    grid_size(s, size);
    *picture = size[0] * size[1] * picture_layout(s)->channels;
    *staged = s->program->input_offsets == NULL ? s->program->input_bytes : 0;
    return *picture + *staged + conditions_bytes(&s->conditions) +
           (int64_t)sizeof(float) * (int64_t)((2 * (size_t)s->batch + 1) * s->numbers) +
           (int64_t)sizeof(float) * size[1] * picture_layout(s)->channels;
}

/* Places the inputs one behind the other. */
static UnetStatus stage_inputs(Sampling *s, int64_t bytes) {
    const UnetModel *model = s->driver->model;
    UnetStatus status = bytes > 0 ? arena_take(&s->staged, bytes, 0, &s->driver->error) : UNET_OK;
    char *next = s->staged;
    for (int32_t i = 0; i < model->ninput && bytes > 0 && status == UNET_OK; i++) {
        s->inputs[i] = s->batch_of[i] = s->program->inputs[i].sample_bytes > 0 ? next : NULL;
        next += (s->program->batch * s->program->inputs[i].sample_bytes + 63) / 64 * 64;
    }
    return status;
}

static UnetStatus take_memory(Sampling *s) {
    UnetError *error = &s->driver->error;
    int64_t picture, staged, size[2];
    const int64_t all = beside(s, &picture, &staged);
    UnetStatus status = driver_open_device(s->driver, &s->device, s->program->extent, all);
    if (status != UNET_OK)
        return status;
    grid_size(s, size);
    const size_t width = (size_t)size[1] * (size_t)picture_layout(s)->channels;
    s->batch_of = calloc((size_t)s->driver->model->ninput, sizeof *s->batch_of);
    s->inputs = calloc((size_t)s->driver->model->ninput, sizeof *s->inputs);
    s->x = malloc((size_t)s->batch * s->numbers * sizeof *s->x);
    s->told = malloc((size_t)s->batch * s->numbers * sizeof *s->told);
    s->noise = malloc(s->numbers * sizeof *s->noise);
    s->row = calloc(width, sizeof *s->row);
    s->picture = calloc((size_t)picture, 1);
    if (s->batch_of == NULL || s->inputs == NULL || s->x == NULL || s->told == NULL || s->noise == NULL ||
        s->row == NULL || s->picture == NULL)
        return unet_fail(error, UNET_TOO_SMALL, "no memory for %" PRId32 " samples", s->count);
    status = stage_inputs(s, staged);
    return status == UNET_OK ? device_try_threads(&s->device, s->driver->threads, error) : status;
}

static void give_back(Sampling *s) {
    int64_t picture, staged;
    (void)beside(s, &picture, &staged);
    device_close(&s->device);
    conditions_close(&s->conditions);
    if (s->staged != NULL)
        arena_give_back(s->staged, staged);
    free(s->batch_of);
    free(s->inputs);
    free(s->x);
    free(s->told);
    free(s->noise);
    free(s->row);
    free(s->picture);
}

/* ---- the network ------------------------------------------------------------------------------ */

/* Rows [BEGIN, END) of an input of sample N, from VALUES or, NULL, all of the number ALIKE. */
static void store_rows(const Sampling *s, int32_t input, int32_t n, int32_t begin, int32_t end,
                       const float *values, float alike) {
    const UnetLayout *layout = &s->program->inputs[input];
    const int64_t *offset = s->program->input_offsets;
    char *base = offset == NULL ? s->batch_of[input] : s->device.arena + offset[input];
    const int32_t width = layout->size[2];
    for (int32_t y = begin; y < end; y++)
        unet_layout_store_row(layout, base, n, 0, y,
                              values == NULL ? &alike : values + (size_t)y * (size_t)width,
                              (int64_t)layout->size[1] * width, NULL, NULL);
}

static void load_rows(const Sampling *s, int32_t n, int32_t begin, int32_t end, float *values) {
    const UnetLayout *layout = &s->program->outputs[s->diffusion->output];
    const size_t width = (size_t)layout->size[2], plane = (size_t)layout->size[1] * width;
    for (int32_t y = begin; y < end; y++) {
        unet_layout_load_row(layout, s->device.arena + s->program->output_offsets[s->diffusion->output], n,
                             0, y, s->row);
        for (size_t c = 0; c < (size_t)layout->channels; c++)
            memcpy(values + c * plane + (size_t)y * width, s->row + c * width, width * sizeof *values);
    }
}

/* The rows of band B, or, of a program without bands, all. */
static int32_t band_end(const UnetProgram *program, const UnetBand *band, int32_t b, int32_t rows) {
    return program->units > 0 ? unet_band_end(band, b, program->units) : b < 0 ? 0 : rows;
}

/* Sample N of the step reads the conditions of sample INDEX of all. */
static void store_conditions(const Sampling *s, const UnetStep *step, int32_t n, int32_t index) {
    const UnetProgram *program = s->program;
    for (int32_t i = 0; i < s->conditions.count; i++) {
        const Condition *c = &s->conditions.item[i];
        const int32_t rows = program->inputs[c->input].size[1];
        const bool number = s->driver->model->inputs[c->input].kind == UNET_SCALAR;
        const UnetBand *band =
            number || program->input_bands == NULL ? NULL : &program->input_bands[c->input];
        store_rows(s, c->input, n, band == NULL ? 0 : band_end(program, band, step->band - 1, rows),
                   band == NULL ? rows : band_end(program, band, step->band, rows),
                   c->values + (size_t)(index % c->count) * c->numbers, 0);
    }
}

/* One band of samples [FIRST, FIRST + N) of the batch, which begins with sample START of all. *DONE: it was
 * the last. */
static UnetStatus run_band(Sampling *s, UnetStep *step, int32_t start, int32_t first, float time,
                           bool *done) {
    const UnetProgram *program = s->program;
    const int32_t picture = s->diffusion->picture, rows = picture_layout(s)->size[1], b = step->band,
                  out = s->diffusion->output;
    const UnetBand *in_band = program->input_bands == NULL ? NULL : &program->input_bands[picture],
                   *out_band = program->output_bands == NULL ? NULL : &program->output_bands[out];
    const UnetLayout *told = &program->outputs[out];
    for (int32_t n = 0; n < step->n; n++) {
        store_rows(s, picture, n, band_end(program, in_band, b - 1, rows),
                   band_end(program, in_band, b, rows), s->x + (size_t)(first + n) * s->numbers, 0);
        if (program->inputs[s->diffusion->time].sample_bytes > 0)
            store_rows(s, s->diffusion->time, n, 0, 1, NULL, time);
        store_conditions(s, step, n, start + first + n);
    }
    UnetStatus status = device_run(&s->device, program, step, &s->driver->error);
    if (status == UNET_OK)
        status = device_fetch(&s->device, program->output_offsets[out], step->n * told->sample_bytes,
                              &s->driver->error);
    const int32_t end = band_end(program, out_band, b, rows);
    for (int32_t n = 0; n < step->n && status == UNET_OK; n++)
        load_rows(s, n, band_end(program, out_band, b - 1, rows), end,
                  s->told + (size_t)(first + n) * s->numbers);
    *done = end >= rows;
    return status;
}

/* Runs the network on the N samples from START on at one time.  Bands are of one sample. */
static UnetStatus run_network(Sampling *s, int32_t start, int32_t n, int32_t time) {
    const int32_t together = s->program->units > 0 ? 1 : n;
    UnetStatus status = UNET_OK;
    for (int32_t first = 0; first < n && status == UNET_OK; first += together) {
        UnetStep step = {.arena = s->device.arena,
                         .inputs = s->inputs,
                         .n = together,
                         .threads = s->driver->threads,
                         .units = s->program->units > 0 ? s->program->units : 1,
                         .bands = 1};
        device_prepare(&s->device, s->program, &step);
        for (bool done = false; !done && status == UNET_OK; step.band++)
            status = run_band(s, &step, start, first, (float)time, &done);
    }
    return status;
}

/* ---- from noise to pictures ------------------------------------------------------------------- */

/* Time number K of all that a sample visits, from the last one down. */
static int32_t time_of(const Sampling *s, int32_t k) {
    return (int32_t)((int64_t)(k + 1) * s->diffusion->times / s->steps) - 1;
}

/* Numbers of sample N: of x at first, or added in step K. */
static void draw(const Sampling *s, int32_t n, int32_t k, float *values) {
    const UnetKey key = {
        .seed = s->seed, .epoch = (uint32_t)k, .sample = (uint32_t)n, .stream = UNET_STREAM_SAMPLE};
    unet_random_normal(&key, 0, s->numbers, values);
}

/* The share of the picture at a time, and at the next one. */
typedef struct {
    double here, next;
} Shares;

/* The picture that follows from X and what the network TOLD of it. */
static double picture_of(UnetObjective objective, double share, double x, double told) {
    const double signal = sqrt(share), noise = sqrt(1 - share);
    return objective == UNET_TELLS_PICTURE ? told
           : objective == UNET_TELLS_NOISE ? (x - noise * told) / signal
                                           : signal * x - noise * told;
}

/* The range of numbers of channel C, as the network sees them: files hold 0 to 1. */
static void range_of(const Sampling *s, int32_t c, double *low, double *high) {
    const UnetInput *input = &s->driver->model->inputs[s->diffusion->picture];
    const UnetNormal *normal = &s->driver->normal[s->diffusion->picture];
    const bool plain = input->normalizing == UNET_AS_READ;
    const double mean = plain ? 0 : normal->mean[c], deviation = plain ? 1 : normal->deviation[c];
    *low = (0 - mean) / deviation;
    *high = (1 - mean) / deviation;
}

/* One step of one sample: X becomes what it is at the next time. */
static void step_sample(const Sampling *s, float *x, const float *told, const float *noise, Shares share) {
    const double spread =
                     s->eta * sqrt((1 - share.next) / (1 - share.here)) * sqrt(1 - share.here / share.next),
                 left = 1 - share.next - spread * spread, direction = sqrt(left > 0 ? left : 0);
    const int32_t channels = picture_layout(s)->channels;
    const size_t plane = s->numbers / (size_t)channels;
    for (int32_t c = 0; c < channels; c++) {
        double low, high;
        range_of(s, c, &low, &high);
        for (size_t i = (size_t)c * plane; i < ((size_t)c + 1) * plane; i++) {
            double picture = picture_of(s->diffusion->objective, share.here, (double)x[i], (double)told[i]);
            picture = picture < low ? low : picture > high ? high : picture;
            const double e = ((double)x[i] - sqrt(share.here) * picture) / sqrt(1 - share.here);
            x[i] = (float)(sqrt(share.next) * picture + direction * e +
                           (spread > 0 ? spread * (double)noise[i] : 0));
        }
    }
}

/* Samples [FIRST, FIRST + N), from noise. */
static UnetStatus sample_batch(Sampling *s, int32_t first, int32_t n) {
    UnetStatus status = UNET_OK;
    for (int32_t i = 0; i < n; i++)
        draw(s, first + i, s->steps, s->x + (size_t)i * s->numbers);
    for (int32_t k = s->steps - 1; k >= 0 && status == UNET_OK && s->driver->stopped_by == 0; k--) {
        const Shares share = {s->diffusion->kept[time_of(s, k)],
                              k > 0 ? s->diffusion->kept[time_of(s, k - 1)] : 1};
        status = run_network(s, first, n, time_of(s, k));
        for (int32_t i = 0; i < n && status == UNET_OK; i++) {
            if (s->eta > 0)
                draw(s, first + i, k, s->noise);
            step_sample(s, s->x + (size_t)i * s->numbers, s->told + (size_t)i * s->numbers, s->noise,
                        share);
        }
        s->driver->stopped_by = signals_look();
    }
    return status;
}

/* ---- the picture ------------------------------------------------------------------------------ */

/* Sample INDEX, whose numbers are X, takes its place. */
static void place_sample(const Sampling *s, int32_t index, const float *x) {
    const UnetLayout *layout = picture_layout(s);
    const int32_t height = layout->size[1], width = layout->size[2], channels = layout->channels;
    int64_t size[2];
    grid_size(s, size);
    const int64_t top = (int64_t)(index / s->columns) * (height + MARGIN) + MARGIN,
                  left = (int64_t)(index % s->columns) * (width + MARGIN) + MARGIN;
    for (int32_t c = 0; c < channels; c++) {
        double low, high;
        range_of(s, c, &low, &high);
        for (int32_t y = 0; y < height; y++)
            for (int32_t w = 0; w < width; w++) {
                const double value =
                    ((double)x[((size_t)c * (size_t)height + (size_t)y) * (size_t)width + (size_t)w] -
                     low) /
                    (high - low);
                s->picture[((top + y) * size[1] + left + w) * channels + c] =
                    (uint8_t)(value > 0 ? value < 1 ? 255 * value + 0.5 : 255 : 0);
            }
    }
}

static UnetStatus write_picture(const Sampling *s) {
    UnetError *error = &s->driver->error;
    const int32_t channels = picture_layout(s)->channels;
    int64_t size[2];
    UnetImageWriter *writer;
    grid_size(s, size);
    const UnetImageInfo info = {
        .height = (int32_t)size[0], .width = (int32_t)size[1], .channels = channels, .bits = 8};
    UnetStatus status = unet_image_create(&writer, s->driver->options.output, &info, error);
    for (int64_t y = 0; y < size[0] && status == UNET_OK; y++) {
        for (int64_t i = 0; i < size[1] * channels; i++)
            s->row[i % channels * size[1] + i / channels] =
                (float)s->picture[y * size[1] * channels + i] / 255.0f;
        status = unet_image_write_row(writer, s->row, error);
    }
    if (status == UNET_OK)
        return unet_image_finish(writer, error);
    unet_image_discard(writer);
    return status;
}

/* ---- the command ------------------------------------------------------------------------------ */

static UnetStatus check_model(const Driver *driver, UnetError *error) {
    const UnetModel *model = driver->model;
    const UnetDiffusion *diffusion = model->diffusion;
    if (model->predict == NULL)
        return unet_fail(error, UNET_USAGE,
                         "the program was compiled without predict: add it to `unetc --programs=...`");
    if (diffusion == NULL)
        return unet_fail(error, UNET_USAGE,
                         "%s was not trained to make pictures: `noise = diffuse(photo, t)` in the section "
                         "`data` of %s does that",
                         model->name, model->source);
    if (model->inputs[diffusion->picture].kind != UNET_IMAGE)
        return unet_fail(error, UNET_USAGE, "samples of %s are no images, and `sample` writes images",
                         model->name);
    return unet_image_check_name(driver->options.output,
                                 model->predict->inputs[diffusion->picture].channels, false, error);
}

static UnetStatus begin(Sampling *s) {
    const UnetOptions *options = &s->driver->options;
    const UnetLayout *layout = picture_layout(s);
    const int64_t steps = options->steps > 0 ? options->steps : STEPS;
    int64_t size[2];
    s->count = options->count > 0 ? (int32_t)options->count : SAMPLES;
    s->steps = steps < s->diffusion->times ? (int32_t)steps : s->diffusion->times;
    if (options->steps > s->diffusion->times)
        return unet_fail(&s->driver->error, UNET_USAGE,
                         "`--steps=%" PRId64 "`: the diffusion of %s has %" PRId32, options->steps,
                         s->driver->model->name, s->diffusion->times);
    while ((int64_t)s->columns * s->columns < s->count)
        s->columns++;
    s->batch = s->program->batch < s->count ? s->program->batch : s->count;
    s->eta = options->eta;
    s->seed = options->seed >= 0 ? (uint64_t)options->seed : 0;
    s->numbers = (size_t)layout->channels * (size_t)layout->size[1] * (size_t)layout->size[2];
    grid_size(s, size);
    return size[0] <= MOST_SIDE && size[1] <= MOST_SIDE
               ? UNET_OK
               : unet_fail(&s->driver->error, UNET_USAGE,
                           "%" PRId32 " samples make a picture of %" PRId64 " x %" PRId64
                           " points: ask for fewer",
                           s->count, size[0], size[1]);
}

static void say(const Sampling *s) {
    char arena[32], more[32];
    int64_t picture, staged;
    format_bytes(arena, sizeof arena, s->program->extent);
    format_bytes(more, sizeof more, beside(s, &picture, &staged));
    (void)fprintf(stderr,
                  "%" PRId32 " samples, %" PRId32 " of %" PRId32 " steps, eta %g, seed %" PRIu64
                  ", %" PRId32 " at a time; arena %s, beside it %s\n",
                  s->count, s->steps, s->diffusion->times, s->eta, s->seed, s->batch, arena, more);
}

static UnetStatus sample_all(Sampling *s) {
    UnetStatus status = UNET_OK;
    const double start = machine_seconds();
    for (int32_t first = 0; first < s->count && status == UNET_OK && s->driver->stopped_by == 0;
         first += s->batch) {
        const int32_t n = s->count - first < s->batch ? s->count - first : s->batch;
        status = sample_batch(s, first, n);
        for (int32_t i = 0; i < n && status == UNET_OK; i++)
            place_sample(s, first + i, s->x + (size_t)i * s->numbers);
    }
    if (status != UNET_OK || s->driver->stopped_by != 0)
        return status;
    status = write_picture(s);
    if (status == UNET_OK)
        (void)fprintf(stderr, "samples: %s, after %.1f s\n", s->driver->options.output,
                      machine_seconds() - start);
    return status;
}

UnetStatus driver_sample(Driver *driver) {
    Sampling s = {.driver = driver,
                  .program = driver->model->predict,
                  .diffusion = driver->model->diffusion,
                  .columns = 1};
    UnetStatus status = check_model(driver, &driver->error);
    if (status != UNET_OK)
        return status;
    signals_hold(); /* so that no part of a file stays behind */
    status = begin(&s);
    if (status == UNET_OK)
        status = conditions_open(&s.conditions, driver, &driver->error);
    if (status != UNET_OK) {
        conditions_close(&s.conditions);
        return status;
    }
    status = take_memory(&s);
    if (status == UNET_OK)
        status = run_load_weights(driver, s.device.arena);
    if (status == UNET_OK)
        status = device_push_weights(&s.device, &driver->error);
    if (status == UNET_OK)
        status = conditions_read(&s.conditions, driver, &driver->error);
    if (status == UNET_OK) {
        say(&s);
        status = sample_all(&s);
    }
    give_back(&s);
    return status;
}
