/* eval_windows.c - evaluation of whole volumes, as `predict` makes them by windows that overlap.
 *
 * Each sample goes through the program of prediction, and its classes, slice by slice as they come, meet
 * the classes of its labels: metrics of classes whose prediction is an output are measured, on the model's
 * grid, of all voxels of all volumes.  Losses, and metrics of a tensor that is no output, are not.
 */
#include "predict.h"
#include "eval_windows.h"

#include <math.h>
#include <stdlib.h>

/* A volume on its way. */
typedef struct {
    SliceTaker taker;
    const UnetDataset *data;
    int32_t sample;
    int32_t size[3];
    float *row; /* of labels */
    const UnetModel *model;
    Tally *tally[2]; /* of all volumes, and of this one, or NULL */
} Measure;

bool windows_measure(const UnetModel *model, int i) {
    const UnetResult *result = &model->results[i];
    return result->classes > 0 && result->output >= 0 && result->target_input >= 0 &&
           model->outputs[result->output].kind == UNET_LABELS;
}

static void count_row(const Measure *m, int i, const float *predicted) {
    const UnetResult *result = &m->model->results[i];
    for (int32_t x = 0; x < m->size[2]; x++) {
        const int32_t truth = (int32_t)m->row[x], found = (int32_t)predicted[x];
        for (int k = 0; k < 2 && truth < result->classes && truth != result->ignored; k++)
            if (m->tally[k] != NULL)
                m->tally[k]->pairs[i][truth * result->classes + found]++;
    }
}

static UnetStatus take(SliceTaker *taker, int output, int32_t c, int32_t z, const float *slice,
                       UnetError *error) {
    const Measure *m = (const Measure *)taker;
    UnetStatus status = UNET_OK;
    (void)c; /* classes have one */
    for (int i = 0; i < m->model->nresult && status == UNET_OK; i++) {
        const UnetResult *result = &m->model->results[i];
        const bool measures = windows_measure(m->model, i) && result->output == output;
        for (int32_t y = 0; y < m->size[1] && measures && status == UNET_OK; y++) {
            status = unet_dataset_classes(m->data, m->sample, result->target_input, z, y, m->row, error);
            if (status == UNET_OK)
                count_row(m, i, slice + (size_t)y * (size_t)m->size[2]);
        }
    }
    return status;
}

/* A metric that is not measured stays so. */
static void add_sample(Tally *tally) {
    tally->samples++;
    for (int i = 0; i < tally->model->nresult; i++)
        tally->sum[i] = NAN;
}

static UnetStatus measure_sample(Measure *m, Prediction *prediction, TallyListener *listener) {
    UnetError *error = &prediction->driver->error;
    char path[UNET_PATH_BYTES];
    unet_dataset_volume_size(m->data, m->sample, m->size);
    m->row = malloc((size_t)m->size[2] * sizeof *m->row);
    UnetStatus status = m->row != NULL
                            ? unet_dataset_file(m->data, m->sample, prediction->input, path, error)
                            : unet_fail(error, UNET_TOO_SMALL, "no memory for a row of labels");
    if (status == UNET_OK && listener != NULL)
        tally_clear(&listener->tally[0]);
    if (status == UNET_OK)
        status = predict_volume(prediction, path);
    free(m->row);
    m->row = NULL;
    for (int k = 0; k < 2 && status == UNET_OK; k++)
        if (m->tally[k] != NULL)
            add_sample(m->tally[k]);
    if (status == UNET_OK && listener != NULL)
        listener->hear(listener, &listener->tally[0], m->sample);
    return status;
}

/* Takes what PREDICTION needs, and loads the weights that are measured. */
static UnetStatus open_prediction(Prediction *prediction) {
    UnetStatus status = prediction_open(prediction);
    if (status == UNET_OK)
        status = run_load_weights(prediction->driver, prediction->device.arena);
    if (status == UNET_OK)
        status = device_push_weights(&prediction->device, &prediction->driver->error);
    return status;
}

UnetStatus evaluate_windows(Driver *driver, const UnetDataset *data, Tally *tally,
                            TallyListener *listener) {
    Prediction prediction = {.driver = driver, .program = driver->model->predict};
    Measure m = {.taker = {.take = take}, .data = data, .model = driver->model, .tally = {tally}};
    prediction.taker = &m.taker;
    m.tally[1] = listener != NULL ? &listener->tally[0] : NULL;
    tally_clear(tally);
    UnetStatus status = prediction_check(&prediction);
    if (status != UNET_OK)
        return status;
    status = open_prediction(&prediction);
    for (m.sample = 0; m.sample < unet_dataset_samples(data) && status == UNET_OK; m.sample++)
        status = measure_sample(&m, &prediction, listener);
    prediction_close(&prediction);
    return status;
}
