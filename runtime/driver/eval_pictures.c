/* eval_pictures.c - evaluation of whole pictures, where some are larger than evaluation was compiled for.
 *
 *     data --sample, whole--> input --predict: at once or by windows--> rows --with those of targets-->
 * tally
 *
 * A sample is read as evaluation reads it, by a program as large as the largest of the pictures: smaller
 * ones lie at the origin of that.  It goes through the program of prediction, and each row of an output
 * meets that of a target.  So metrics of classes, and `mse`, `l1` and `psnr`, are measured of what
 * `predict` makes, where what they compare is an output; other losses and metrics are not.  A picture and
 * its targets are in memory as a whole.
 */
#include "eval_windows.h"
#include "predict.h"
#include "unet/layout.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ANY_SIZE = 1 << 20 }; /* points of a program that takes all pictures, to learn their sizes */

struct WholePictures {
    Driver *driver;
    UnetModel model; /* that of the driver, but for the size of its evaluation */
    UnetProgram eval;
    UnetLayout *layout; /* one per input */
    UnetDataset *data;
};

/* A picture on its way. */
typedef struct {
    Ends ends; /* first: what predict_rows() calls gets it */
    const WholePictures *whole;
    Prediction prediction;
    void **inputs; /* one sample: one per input of the model */
    void *scratch;
    int32_t size[2]; /* of the picture, in points of the first input */
    int32_t read;    /* rows of the input, */
    int32_t *done;   /*   and of each output */
    float *row, *truth;
    double *sum;     /* per result: of errors of this picture, */
    int64_t *points; /* and how many */
    Tally *tally[2]; /* of all pictures, and of this one, or NULL */
} Measure;

/* ---- what can be measured --------------------------------------------------------------------- */

typedef double ErrorOf(float predicted, float truth);

static double squared(float predicted, float truth) {
    const double difference = (double)predicted - (double)truth;
    return difference * difference;
}

static double absolute(float predicted, float truth) {
    return fabs((double)predicted - (double)truth);
}

static float clamped(float value) {
    return value < 0 ? 0 : value > 1 ? 1 : value;
}

static double squared_of_range(float predicted, float truth) {
    return squared(clamped(predicted), clamped(truth));
}

static double same(double mean) {
    return mean;
}

/* As the kernels of psnr have it: at most 100 dB. */
static double decibels(double mean) {
    const double psnr = -10 * log10(mean);
    return psnr < 100 ? psnr : 100;
}

/* Means over the points of a picture, and what becomes of them. */
static const struct {
    const char *metric;
    ErrorOf *error;
    double (*end)(double mean);
} measures[] = {{"mse", squared, same}, {"l1", absolute, same}, {"psnr", squared_of_range, decibels}};
enum { MEASURES = sizeof measures / sizeof *measures };

/* Which of these result I is, or -1. */
static int measure_of(const UnetModel *model, int i) {
    for (int k = 0; k < MEASURES; k++)
        if (strcmp(model->results[i].metric, measures[k].metric) == 0)
            return k;
    return -1;
}

static bool is_measured(const UnetModel *model, int i) {
    const UnetResult *result = &model->results[i];
    if (result->output < 0 || result->target_input < 0)
        return false;
    return windows_measure(model, i) ||
           (measure_of(model, i) >= 0 && model->outputs[result->output].kind == UNET_IMAGE);
}

static bool measures_any(Driver *driver) {
    const UnetModel *model = driver->model;
    Prediction prediction = {.driver = driver, .program = model->predict};
    bool any = false;
    for (int i = 0; model->predict != NULL && i < model->nresult; i++)
        any |= is_measured(model, i);
    return any && model->predict->windows != NULL && model->inputs[0].kind == UNET_IMAGE &&
           prediction_check(&prediction) == UNET_OK;
}

/* ---- programs of other sizes ------------------------------------------------------------------ */

static int32_t common_divisor(int32_t a, int32_t b) {
    return b == 0 ? a : common_divisor(b, a % b);
}

/* SIZE, or the next that gives all inputs of the program whole points along AXIS. */
static int32_t whole_points(const UnetModel *model, int axis, int32_t size) {
    const int32_t compiled = model->eval->size[axis];
    int32_t unit = compiled;
    for (int i = 0; i < model->ninput; i++)
        if (model->eval->inputs[i].sample_bytes > 0)
            unit = common_divisor(unit, model->eval->inputs[i].size[axis]);
    unit = compiled / unit;
    return (size + unit - 1) / unit * unit;
}

/* Points that are so many, in proportion, where the program has SIZE. */
static int32_t scaled(const UnetProgram *compiled, int axis, int32_t points, int32_t size) {
    return (int32_t)((int64_t)points * size / compiled->size[axis]);
}

/* Rows as they are, of floats or classes. */
static UnetLayout plain_layout(const UnetModel *model, int i, const int32_t size[2]) {
    const UnetProgram *compiled = model->eval;
    UnetLayout layout = compiled->inputs[i];
    if (layout.sample_bytes == 0)
        return layout;
    layout.type = model->inputs[i].kind == UNET_LABELS ? layout.type : UNET_F32;
    layout.size[1] = scaled(compiled, 1, layout.size[1], size[0]);
    layout.size[2] = scaled(compiled, 2, layout.size[2], size[1]);
    layout.block = 1;
    layout.origin = 0;
    layout.ring = 0;
    layout.row = layout.size[2];
    layout.depth = layout.plane = layout.row * layout.size[1];
    layout.sample = layout.plane * layout.channels;
    layout.sample_bytes = layout.sample * (int64_t)unet_type_bytes(layout.type);
    return layout;
}

/* Opens the data for pictures of up to SIZE. */
static UnetStatus open_at(WholePictures *whole, const int32_t size[2]) {
    const UnetModel *model = whole->driver->model;
    unet_dataset_close(whole->data);
    whole->data = NULL;
    whole->model = *model;
    whole->eval = *model->eval;
    for (int i = 0; i < model->ninput; i++)
        whole->layout[i] = plain_layout(model, i, size);
    for (int k = 0; k < 2; k++) {
        whole->eval.size[k + 1] = size[k];
        whole->eval.measured[k + 1] = scaled(model->eval, k + 1, whole->eval.measured[k + 1], size[k]);
    }
    whole->eval.inputs = whole->layout;
    whole->model.eval = &whole->eval;
    return evaluation_open_as(whole->driver, &whole->model, &whole->data);
}

/* The least size that holds each picture of DATA. */
static void find_largest(const UnetModel *model, const UnetDataset *data, int32_t largest[2]) {
    largest[0] = largest[1] = 1;
    for (int32_t s = 0; s < unet_dataset_samples(data); s++) {
        int32_t size[2];
        unet_dataset_picture_size(data, s, size);
        for (int k = 0; k < 2; k++)
            largest[k] = size[k] > largest[k] ? size[k] : largest[k];
    }
    for (int k = 0; k < 2; k++)
        largest[k] = whole_points(model, k + 1, largest[k]);
}

static UnetStatus open_whole(WholePictures *whole, const UnetDataset *compiled, bool *larger) {
    const UnetModel *model = whole->driver->model;
    const int32_t any[2] = {whole_points(model, 1, ANY_SIZE), whole_points(model, 2, ANY_SIZE)};
    int32_t largest[2];
    whole->layout = calloc((size_t)model->ninput + 1, sizeof *whole->layout);
    if (whole->layout == NULL)
        return unet_fail(&whole->driver->error, UNET_TOO_SMALL, "no memory for the inputs");
    UnetStatus status = compiled == NULL ? open_at(whole, any) : UNET_OK;
    if (status != UNET_OK)
        return status;
    find_largest(model, compiled != NULL ? compiled : whole->data, largest);
    *larger = largest[0] > model->eval->size[1] || largest[1] > model->eval->size[2];
    return *larger ? open_at(whole, largest) : UNET_OK;
}

UnetStatus whole_pictures_open(WholePictures **whole, Driver *driver, const UnetDataset *compiled) {
    bool larger = false;
    *whole = measures_any(driver) ? calloc(1, sizeof **whole) : NULL;
    if (*whole == NULL)
        return UNET_OK;
    (*whole)->driver = driver;
    const UnetStatus status = open_whole(*whole, compiled, &larger);
    if (status != UNET_OK || !larger) {
        whole_pictures_close(*whole);
        *whole = NULL;
    }
    return status;
}

void whole_pictures_close(WholePictures *whole) {
    if (whole == NULL)
        return;
    unet_dataset_close(whole->data);
    free(whole->layout);
    free(whole);
}

UnetDataset *whole_pictures_data(const WholePictures *whole) {
    return whole->data;
}

const UnetModel *whole_pictures_model(const WholePictures *whole) {
    return &whole->model;
}

/* ---- rows ------------------------------------------------------------------------------------- */

/* Row Y of input I, of WIDTH points. */
static void load_row(const Measure *m, int i, int32_t y, int32_t width, float *row) {
    const UnetLayout *layout = &m->whole->layout[i];
    unet_layout_load_row(layout, m->inputs[i], 0, 0, y, row);
    for (size_t c = 1; c < (size_t)layout->channels; c++)
        memmove(row + c * (size_t)width, row + c * (size_t)layout->size[2], (size_t)width * sizeof *row);
}

static UnetStatus read_input(Ends *ends, float *row, UnetError *error) {
    Measure *m = (Measure *)ends;
    (void)error;
    load_row(m, m->prediction.input, m->read++, m->size[1], m->truth);
    memcpy(row, m->truth,
           (size_t)m->whole->layout[m->prediction.input].channels * (size_t)m->size[1] * sizeof *row);
    return UNET_OK;
}

static void count_classes(const Measure *m, int i, int32_t width, const float *row) {
    const UnetResult *result = &m->whole->model.results[i];
    for (int32_t x = 0; x < width; x++) {
        const int32_t truth = (int32_t)m->truth[x], found = (int32_t)row[x];
        for (int k = 0; k < 2 && truth < result->classes && truth != result->ignored; k++)
            if (m->tally[k] != NULL)
                m->tally[k]->pairs[i][truth * result->classes + found]++;
    }
}

static void add_errors(Measure *m, int i, int64_t points, const float *row) {
    ErrorOf *error = measures[measure_of(&m->whole->model, i)].error;
    for (int64_t k = 0; k < points; k++)
        m->sum[i] += error(row[k], m->truth[k]);
    m->points[i] += points;
}

static UnetStatus take_row(Ends *ends, int output, const float *row, UnetError *error) {
    Measure *m = (Measure *)ends;
    const UnetModel *model = &m->whole->model;
    const UnetImageInfo shape = predicted_shape(&m->prediction, m->size[0], m->size[1], output);
    const int32_t y = m->done[output]++;
    (void)error;
    for (int i = 0; i < model->nresult; i++) {
        const UnetResult *result = &model->results[i];
        if (result->output != output || !is_measured(model, i))
            continue;
        load_row(m, result->target_input, y, shape.width, m->truth);
        if (result->classes > 0)
            count_classes(m, i, shape.width, row);
        else
            add_errors(m, i, (int64_t)shape.channels * shape.width, row);
    }
    return UNET_OK;
}

/* ---- one picture ------------------------------------------------------------------------------ */

static void add_sample(const Measure *m, Tally *tally, const UnetBatch *batch) {
    tally->samples++;
    for (int i = 0; i < tally->model->nresult; i++)
        tally->sum[i] += m->points[i] > 0
                             ? measures[measure_of(tally->model, i)].end(m->sum[i] / (double)m->points[i])
                             : NAN;
    tally_add_identity(tally, &m->whole->eval, batch);
}

static UnetStatus measure_sample(Measure *m, int32_t sample, TallyListener *listener) {
    const WholePictures *whole = m->whole;
    const UnetModel *model = &whole->model;
    int32_t valid[1][3];
    UnetStatus status = unet_dataset_read(whole->data, sample, 0, 0, m->scratch, NULL, m->inputs, 0, 1,
                                          valid[0], &whole->driver->error);
    unet_dataset_picture_size(whole->data, sample, m->size);
    m->read = 0;
    memset(m->done, 0, (size_t)model->noutput * sizeof *m->done);
    memset(m->sum, 0, (size_t)model->nresult * sizeof *m->sum);
    memset(m->points, 0, (size_t)model->nresult * sizeof *m->points);
    if (listener != NULL) {
        tally_clear(&listener->tally[0]);
        tally_forget_identity(&listener->tally[0]);
    }
    if (status == UNET_OK)
        status = predict_rows(&m->prediction, m->size[0], m->size[1], &m->ends);
    const UnetBatch batch = {.inputs = (const void *const *)m->inputs,
                             .valid = (const int32_t(*)[3])valid,
                             .samples = &sample,
                             .n = 1};
    for (int k = 0; k < 2 && status == UNET_OK; k++)
        if (m->tally[k] != NULL)
            add_sample(m, m->tally[k], &batch);
    if (status == UNET_OK && listener != NULL)
        listener->hear(listener, &listener->tally[0], sample);
    return status;
}

/* ---- all of them ------------------------------------------------------------------------------ */

static UnetStatus take_memory(Measure *m) {
    const WholePictures *whole = m->whole;
    const UnetModel *model = &whole->model;
    size_t longest = 1;
    bool good = true;
    m->inputs = calloc((size_t)model->ninput + 1, sizeof *m->inputs);
    for (int i = 0; i < model->ninput && m->inputs != NULL && good; i++) {
        const UnetLayout *layout = &whole->layout[i];
        const size_t row = (size_t)layout->channels * (size_t)layout->size[2];
        if (layout->sample_bytes == 0)
            continue;
        longest = row > longest ? row : longest;
        m->inputs[i] = calloc(1, (size_t)layout->sample_bytes);
        good = m->inputs[i] != NULL;
    }
    m->scratch = aligned_alloc(64, (unet_dataset_scratch_bytes(whole->data) + 63) / 64 * 64);
    m->done = calloc((size_t)model->noutput + 1, sizeof *m->done);
    m->truth = calloc(longest, sizeof *m->truth);
    m->sum = calloc((size_t)model->nresult + 1, sizeof *m->sum);
    m->points = calloc((size_t)model->nresult + 1, sizeof *m->points);
    good &= m->inputs != NULL && m->scratch != NULL && m->done != NULL && m->truth != NULL &&
            m->sum != NULL && m->points != NULL;
    return good ? UNET_OK
                : unet_fail(&whole->driver->error, UNET_TOO_SMALL,
                            "no memory for pictures of %" PRId32 " x %" PRId32, whole->eval.size[1],
                            whole->eval.size[2]);
}

static void give_back(Measure *m) {
    for (int i = 0; m->inputs != NULL && i < m->whole->model.ninput; i++)
        free(m->inputs[i]);
    free(m->inputs);
    free(m->scratch);
    free(m->done);
    free(m->truth);
    free(m->sum);
    free(m->points);
}

UnetStatus whole_pictures_evaluate(const WholePictures *whole, Device *device, Tally *tally,
                                   TallyListener *listener) {
    Driver *driver = whole->driver;
    Measure m = {.ends = {read_input, take_row},
                 .whole = whole,
                 .prediction = {.driver = driver,
                                .program = driver->model->predict,
                                .lent = device,
                                .normalized = true},
                 .tally = {tally, listener != NULL ? &listener->tally[0] : NULL}};
    tally_clear(tally);
    UnetStatus status = prediction_check(&m.prediction);
    if (status != UNET_OK)
        return status;
    status = take_memory(&m);
    if (status == UNET_OK)
        status = prediction_open(&m.prediction);
    for (int32_t s = 0; s < unet_dataset_samples(whole->data) && status == UNET_OK; s++)
        status = measure_sample(&m, s, listener);
    prediction_close(&m.prediction);
    give_back(&m);
    return status;
}
