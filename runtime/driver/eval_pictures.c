/* eval_pictures.c - evaluation of whole pictures, if some are larger than evaluation was compiled for, or
 * if pictures that are resized for the network are measured at their own size.
 *
 *     data --sample, whole--> input --predict: at once or by windows--> rows --with rows of targets-->
 * tally
 *
 * A sample is read as evaluation reads it, by a program as large as the largest of the pictures: smaller
 * ones lie at its origin.  The sample goes through the program of prediction, and each row of an output
 * meets the row of a target.  So metrics of classes, and `mse`, `l1` and `psnr`, are measured of the
 * results of `predict`, if they compare an output; other losses and metrics are not.  A picture and its
 * targets are in memory as a whole.
 *
 * With `at "original"` a sample is read twice, resized for the network and as it is in its files:
 *
 *     resized --predict--> rows, restored (predict_restore.c) --targets as they are--> tally
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

/* The samples as evaluation of some size reads them. */
typedef struct {
    UnetModel model; /* the driver's, but for the size of its evaluation */
    UnetProgram eval;
    UnetLayout *layout; /* one per input */
    UnetDataset *data;
    bool own_size; /* of pictures that are else resized */
} View;

struct WholePictures {
    Driver *driver;
    View in;  /* for the network */
    View own; /* at their own size, where that is measured; its data is NULL elsewhere */
};

/* Predictions are compared with the targets of this view. */
static const View *compared(const WholePictures *whole) {
    return whole->own.data != NULL ? &whole->own : &whole->in;
}

/* One sample in memory. */
typedef struct {
    const View *view;
    void **inputs;   /* one per input of the model */
    int32_t size[2]; /* of the picture, in points of the first input */
} Shown;

/* An output on its way to the size of the picture. */
typedef struct {
    RowTaker taker; /* first: what restore_put() calls gets it */
    struct Measure *measure;
    Restore *restore; /* NULL: it has that size */
    int output;
    int32_t done; /* rows that were compared */
} Compared;

/* A picture on its way. */
typedef struct Measure {
    Ends ends; /* first: what predict_rows() calls gets it */
    const WholePictures *whole;
    Prediction prediction;
    Shown in, own; /* OWN has inputs where WHOLE has such a view */
    void *scratch;
    int32_t read;       /* rows of the input */
    Compared *compared; /* one per output */
    float *truth;       /* a row */
    double *sum;        /* per result: of errors of this picture, */
    int64_t *points;    /* and how many */
    Tally *tally[2];    /* of all pictures, and of this one, or NULL */
} Measure;

/* The outputs of this picture are compared with its targets. */
static const Shown *truth_of(const Measure *m) {
    return m->whole->own.data != NULL ? &m->own : &m->in;
}

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

/* A signal is a picture of one row. */
static bool is_picture(UnetKind kind) {
    return kind == UNET_IMAGE || kind == UNET_SIGNAL;
}

static bool is_measured(const UnetModel *model, int i) {
    const UnetResult *result = &model->results[i];
    if (result->output < 0 || result->target_input < 0)
        return false;
    return windows_measure(model, i) ||
           (measure_of(model, i) >= 0 && is_picture(model->outputs[result->output].kind));
}

static bool measures_any(Driver *driver) {
    const UnetModel *model = driver->model;
    Prediction prediction = {.driver = driver, .program = model->predict};
    bool any = false;
    for (int i = 0; model->predict != NULL && i < model->nresult; i++)
        any |= is_measured(model, i);
    return any && model->predict->windows != NULL && is_picture(model->inputs[0].kind) &&
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
static UnetStatus open_at(View *view, Driver *driver, const int32_t size[2]) {
    const UnetModel *model = driver->model;
    unet_dataset_close(view->data);
    view->data = NULL;
    view->model = *model;
    view->eval = *model->eval;
    for (int i = 0; i < model->ninput; i++)
        view->layout[i] = plain_layout(model, i, size);
    for (int k = 0; k < 2; k++) {
        view->eval.size[k + 1] = size[k];
        view->eval.measured[k + 1] = scaled(model->eval, k + 1, view->eval.measured[k + 1], size[k]);
    }
    view->eval.inputs = view->layout;
    view->model.eval = &view->eval;
    return evaluation_open_as(driver, &view->model, view->own_size, &view->data);
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

/* COMPILED: the data as the program takes it, or NULL; LARGER: whether it takes less than there is.  Unless
 * ALWAYS, the view is opened for such data alone. */
static UnetStatus open_view(View *view, Driver *driver, const UnetDataset *compiled, bool always,
                            bool *larger) {
    const UnetModel *model = driver->model;
    const int32_t any[2] = {whole_points(model, 1, ANY_SIZE), whole_points(model, 2, ANY_SIZE)};
    int32_t largest[2];
    view->layout = calloc((size_t)model->ninput + 1, sizeof *view->layout);
    if (view->layout == NULL)
        return unet_fail(&driver->error, UNET_TOO_SMALL, "no memory for the inputs");
    UnetStatus status = compiled == NULL ? open_at(view, driver, any) : UNET_OK;
    if (status != UNET_OK)
        return status;
    find_largest(model, compiled != NULL ? compiled : view->data, largest);
    *larger = largest[0] > model->eval->size[1] || largest[1] > model->eval->size[2];
    return *larger || always ? open_at(view, driver, largest) : UNET_OK;
}

static void close_view(View *view) {
    unet_dataset_close(view->data);
    free(view->layout);
}

/* The targets at their own size, too. */
static UnetStatus open_own(WholePictures *whole) {
    UnetError *error = &whole->driver->error;
    bool larger;
    whole->own.own_size = true;
    UnetStatus status = open_view(&whole->own, whole->driver, NULL, true, &larger);
    if (status == UNET_OK && unet_dataset_samples(whole->own.data) != unet_dataset_samples(whole->in.data))
        status =
            unet_fail(error, UNET_IO,
                      "`at \"original\"`: %" PRId32 " samples can be read at their own size, and %" PRId32
                      " resized: `check-data` names the files",
                      unet_dataset_samples(whole->own.data), unet_dataset_samples(whole->in.data));
    return status;
}

UnetStatus whole_pictures_open(WholePictures **whole, Driver *driver, const UnetDataset *compiled) {
    const bool original = driver->model->measures_original;
    bool larger = false;
    *whole = measures_any(driver) ? calloc(1, sizeof **whole) : NULL;
    if (*whole == NULL)
        return original
                   ? unet_fail(&driver->error, UNET_USAGE,
                               "`at \"original\"` in %s measures outputs, and none of the metrics is of "
                               "one: leave it out, or write `metric` of an output",
                               driver->model->source)
                   : UNET_OK;
    (*whole)->driver = driver;
    UnetStatus status = open_view(&(*whole)->in, driver, compiled, original, &larger);
    if (status == UNET_OK && original) {
        unet_dataset_normalize((*whole)->in.data, driver->normal);
        status = open_own(*whole);
    }
    if (status != UNET_OK || (!larger && !original)) {
        whole_pictures_close(*whole);
        *whole = NULL;
    }
    return status;
}

void whole_pictures_close(WholePictures *whole) {
    if (whole == NULL)
        return;
    close_view(&whole->in);
    close_view(&whole->own);
    free(whole);
}

UnetDataset *whole_pictures_data(const WholePictures *whole) {
    return compared(whole)->data;
}

const UnetModel *whole_pictures_model(const WholePictures *whole) {
    return &compared(whole)->model;
}

void whole_pictures_predicted(const WholePictures *whole, const UnetModel **model,
                              const UnetDataset **data) {
    *model = &whole->in.model;
    *data = whole->in.data;
}

/* ---- rows ------------------------------------------------------------------------------------- */

/* Row Y of input I, of WIDTH points. */
static void load_row(const Shown *shown, int i, int32_t y, int32_t width, float *row) {
    const UnetLayout *layout = &shown->view->layout[i];
    unet_layout_load_row(layout, shown->inputs[i], 0, 0, y, row);
    for (size_t c = 1; c < (size_t)layout->channels; c++)
        memmove(row + c * (size_t)width, row + c * (size_t)layout->size[2], (size_t)width * sizeof *row);
}

static UnetStatus read_input(Ends *ends, float *row, UnetError *error) {
    Measure *m = (Measure *)ends;
    const int i = m->prediction.input;
    (void)error;
    load_row(&m->in, i, m->read++, m->in.size[1], m->truth);
    memcpy(row, m->truth, (size_t)m->in.view->layout[i].channels * (size_t)m->in.size[1] * sizeof *row);
    return UNET_OK;
}

static void count_classes(const Measure *m, int i, int32_t width, const float *row) {
    const UnetResult *result = &m->in.view->model.results[i];
    for (int32_t x = 0; x < width; x++) {
        const int32_t truth = (int32_t)m->truth[x], found = (int32_t)row[x];
        for (int k = 0; k < 2 && truth < result->classes && truth != result->ignored; k++)
            if (m->tally[k] != NULL)
                m->tally[k]->pairs[i][truth * result->classes + found]++;
    }
}

static void add_errors(Measure *m, int i, int64_t points, const float *row) {
    ErrorOf *error = measures[measure_of(&m->in.view->model, i)].error;
    for (int64_t k = 0; k < points; k++)
        m->sum[i] += error(row[k], m->truth[k]);
    m->points[i] += points;
}

/* The next row of an output, as large as what it is compared with. */
static UnetStatus compare_row(RowTaker *taker, const float *row, UnetError *error) {
    Compared *c = (Compared *)taker;
    Measure *m = c->measure;
    const Shown *truth = truth_of(m);
    const UnetModel *model = &truth->view->model;
    const UnetImageInfo shape = predicted_shape(&m->prediction, truth->size[0], truth->size[1], c->output);
    const int32_t y = c->done++;
    (void)error;
    for (int i = 0; i < model->nresult; i++) {
        const UnetResult *result = &model->results[i];
        if (result->output != c->output || !is_measured(model, i))
            continue;
        load_row(truth, result->target_input, y, shape.width, m->truth);
        if (result->classes > 0)
            count_classes(m, i, shape.width, row);
        else
            add_errors(m, i, (int64_t)shape.channels * shape.width, row);
    }
    return UNET_OK;
}

static UnetStatus take_row(Ends *ends, int output, const float *row, UnetError *error) {
    Compared *c = &((Measure *)ends)->compared[output];
    return c->restore != NULL ? restore_put(c->restore, row, error) : compare_row(&c->taker, row, error);
}

/* ---- one picture ------------------------------------------------------------------------------ */

static UnetStatus read_shown(Measure *m, Shown *shown, int32_t sample, int32_t valid[3]) {
    unet_dataset_picture_size(shown->view->data, sample, shown->size);
    return unet_dataset_read(shown->view->data, sample, 0, 0, m->scratch, NULL, shown->inputs, 0, 1, valid,
                             &m->whole->driver->error);
}

static UnetStatus begin_outputs(Measure *m) {
    const Shown *truth = truth_of(m);
    UnetStatus status = UNET_OK;
    for (int i = 0; i < truth->view->model.noutput && status == UNET_OK; i++) {
        Compared *c = &m->compared[i];
        const UnetImageInfo made = predicted_shape(&m->prediction, m->in.size[0], m->in.size[1], i),
                            wanted = predicted_shape(&m->prediction, truth->size[0], truth->size[1], i);
        *c = (Compared){.taker = {compare_row}, .measure = m, .output = i};
        if (made.height != wanted.height || made.width != wanted.width)
            status = restore_open(&c->restore, &made, &wanted, &c->taker, &m->whole->driver->error);
    }
    return status;
}

static void end_outputs(const Measure *m) {
    for (int i = 0; i < m->in.view->model.noutput; i++) {
        restore_close(m->compared[i].restore);
        m->compared[i].restore = NULL;
    }
}

static void add_sample(const Measure *m, Tally *tally, const UnetBatch *batch) {
    tally->samples++;
    for (int i = 0; i < tally->model->nresult; i++)
        tally->sum[i] += m->points[i] > 0
                             ? measures[measure_of(tally->model, i)].end(m->sum[i] / (double)m->points[i])
                             : NAN;
    tally_add_identity(tally, &truth_of(m)->view->eval, batch);
}

/* Predicts the sample that was read; its rows are compared on their way. */
static UnetStatus predict_sample(Measure *m) {
    const UnetModel *model = &m->in.view->model;
    m->read = 0;
    memset(m->sum, 0, (size_t)model->nresult * sizeof *m->sum);
    memset(m->points, 0, (size_t)model->nresult * sizeof *m->points);
    UnetStatus status = begin_outputs(m);
    if (status == UNET_OK)
        status = predict_rows(&m->prediction, m->in.size[0], m->in.size[1], &m->ends);
    end_outputs(m);
    return status;
}

static UnetStatus measure_sample(Measure *m, int32_t sample, TallyListener *listener) {
    int32_t valid[1][3];
    UnetStatus status = read_shown(m, &m->in, sample, valid[0]);
    if (status == UNET_OK && m->whole->own.data != NULL)
        status = read_shown(m, &m->own, sample, valid[0]);
    if (listener != NULL) {
        tally_clear(&listener->tally[0]);
        tally_forget_identity(&listener->tally[0]);
    }
    if (status == UNET_OK)
        status = predict_sample(m);
    const UnetBatch batch = {.inputs = (const void *const *)truth_of(m)->inputs,
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

/* Room for one sample of VIEW; LONGEST becomes at least the numbers of its longest row. */
static bool take_shown(Shown *shown, const View *view, size_t *longest) {
    const int ninput = view->model.ninput;
    bool good = true;
    shown->view = view;
    shown->inputs = calloc((size_t)ninput + 1, sizeof *shown->inputs);
    for (int i = 0; i < ninput && shown->inputs != NULL && good; i++) {
        const UnetLayout *layout = &view->layout[i];
        const size_t row = (size_t)layout->channels * (size_t)layout->size[2];
        if (layout->sample_bytes == 0)
            continue;
        *longest = row > *longest ? row : *longest;
        shown->inputs[i] = calloc(1, (size_t)layout->sample_bytes);
        good = shown->inputs[i] != NULL;
    }
    return good && shown->inputs != NULL;
}

static void give_shown(const Shown *shown) {
    for (int i = 0; shown->inputs != NULL && i < shown->view->model.ninput; i++)
        free(shown->inputs[i]);
    free(shown->inputs);
}

static size_t scratch_bytes(const View *view) {
    return view->data != NULL ? (unet_dataset_scratch_bytes(view->data) + 63) / 64 * 64 : 0;
}

static UnetStatus take_memory(Measure *m) {
    const WholePictures *whole = m->whole;
    const UnetModel *model = &whole->in.model;
    const size_t scratch[2] = {scratch_bytes(&whole->in), scratch_bytes(&whole->own)};
    size_t longest = 1;
    bool good = take_shown(&m->in, &whole->in, &longest) &&
                (whole->own.data == NULL || take_shown(&m->own, &whole->own, &longest));
    m->scratch = aligned_alloc(64, scratch[0] > scratch[1] ? scratch[0] : scratch[1]);
    m->compared = calloc((size_t)model->noutput + 1, sizeof *m->compared);
    m->truth = calloc(longest, sizeof *m->truth);
    m->sum = calloc((size_t)model->nresult + 1, sizeof *m->sum);
    m->points = calloc((size_t)model->nresult + 1, sizeof *m->points);
    good &= m->scratch != NULL && m->compared != NULL && m->truth != NULL && m->sum != NULL &&
            m->points != NULL;
    const int32_t *size = compared(whole)->eval.size;
    return good ? UNET_OK
                : unet_fail(&whole->driver->error, UNET_TOO_SMALL,
                            "no memory for pictures of %" PRId32 " x %" PRId32, size[1], size[2]);
}

static void give_back(const Measure *m) {
    give_shown(&m->in);
    give_shown(&m->own);
    free(m->scratch);
    free(m->compared);
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
    for (int32_t s = 0; s < unet_dataset_samples(whole->in.data) && status == UNET_OK; s++)
        status = measure_sample(&m, s, listener);
    prediction_close(&m.prediction);
    give_back(&m);
    return status;
}
