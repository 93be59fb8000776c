/* board_pictures.c - pictures of evaluations: input, outputs and targets of the first samples, as tags
 * SAMPLE/NAME.
 *
 * The program of evaluation leaves no picture behind, so that of prediction runs on a copy of the weights,
 * in memory of its own. */
#include "board_pictures.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "predict.h"
#include "unet/layout.h"

enum { SAMPLES = 4 };

struct Pictures {
    Ends ends; /* first: what predict_rows() calls gets it */
    Prediction prediction;
    const UnetDataset *data;
    int32_t samples;
    void **inputs; /* one sample, as evaluation has it: one per input of the model */
    void *scratch;
    float *row;
    UnetPicture *output; /* on their way: one per output, */
    uint8_t **to;        /*   its points */
    int32_t *done;       /*   and how many of its rows are there */
    uint8_t *points;     /* of an input or target */
    int32_t next_row;    /* of the input */
    int64_t bytes;       /* that all of this takes */
    bool began;          /* inputs and targets have been written */
};

static const UnetModel *model_of(const Pictures *p) {
    return p->prediction.driver->model;
}

static const UnetLayout *input_of(const Pictures *p, int i) {
    return &model_of(p)->eval->inputs[i];
}

static bool is_picture(const UnetInput *input, const UnetLayout *layout) {
    return layout->sample_bytes > 0 && input->kind != UNET_VOLUME && layout->size[0] == 1 &&
           (layout->channels == 1 || layout->channels == 3);
}

static size_t points_of(int32_t height, int32_t width) {
    return 3 * (size_t)height * (size_t)width;
}

/* ---- memory ----------------------------------------------------------------------------------- */

static UnetStatus no_memory(const Pictures *p) {
    return unet_fail(&p->prediction.driver->error, UNET_TOO_SMALL, "no memory for a sample");
}

/* Room for the largest of the inputs and targets. */
static UnetStatus take_inputs(Pictures *p) {
    const UnetModel *model = model_of(p);
    size_t points = 1, row = 1;
    p->inputs = calloc((size_t)model->ninput, sizeof *p->inputs);
    const size_t scratch = (unet_dataset_scratch_bytes(p->data) + 63) / 64 * 64;
    p->scratch = aligned_alloc(64, scratch);
    p->bytes += (int64_t)scratch;
    if (p->inputs == NULL || p->scratch == NULL)
        return no_memory(p);
    for (int i = 0; i < model->ninput; i++) {
        const UnetLayout *layout = input_of(p, i);
        const size_t width = (size_t)layout->size[2], needed = points_of(layout->size[1], layout->size[2]);
        if (layout->sample_bytes == 0)
            continue;
        p->inputs[i] = calloc(1, (size_t)layout->sample_bytes);
        p->bytes += layout->sample_bytes;
        if (p->inputs[i] == NULL)
            return no_memory(p);
        points = needed > points ? needed : points;
        row = width * (size_t)layout->channels > row ? width * (size_t)layout->channels : row;
    }
    p->bytes += (int64_t)points;
    p->points = malloc(points);
    p->row = calloc(row, sizeof *p->row);
    return p->points != NULL && p->row != NULL ? UNET_OK : no_memory(p);
}

static UnetStatus take_outputs(Pictures *p) {
    const UnetModel *model = model_of(p);
    const UnetLayout *input = input_of(p, p->prediction.input);
    p->output = calloc((size_t)model->noutput + 1, sizeof *p->output);
    p->to = calloc((size_t)model->noutput + 1, sizeof *p->to);
    p->done = calloc((size_t)model->noutput + 1, sizeof *p->done);
    if (p->output == NULL || p->to == NULL || p->done == NULL)
        return no_memory(p);
    for (int i = 0; i < model->noutput; i++) {
        const UnetImageInfo shape = predicted_shape(&p->prediction, input->size[1], input->size[2], i);
        p->to[i] = malloc(points_of(shape.height, shape.width) + 1);
        p->bytes += (int64_t)points_of(shape.height, shape.width);
        p->output[i] =
            (UnetPicture){shape.height, shape.width, shape.palette ? 3 : shape.channels, p->to[i]};
        if (p->to[i] == NULL)
            return no_memory(p);
    }
    return UNET_OK;
}

/* ---- rows ------------------------------------------------------------------------------------- */

/* COLOURS of each number of a row of classes, or, where there are none, of the range 0 to 1. */
static void put_row(const float *row, int32_t width, int32_t channels, bool classes, uint8_t *to) {
    for (int32_t x = 0; x < width; x++) {
        if (classes) {
            unet_class_colour((int32_t)row[x], to);
            to += 3;
            continue;
        }
        for (int32_t c = 0; c < channels; c++) {
            const float value = row[(ptrdiff_t)c * width + x];
            *to++ = (uint8_t)(!(value > 0) ? 0 : value >= 1 ? 255 : 255 * value + 0.5f);
        }
    }
}

static UnetStatus read_input(Ends *ends, float *row, UnetError *error) {
    Pictures *p = (Pictures *)ends;
    const int i = p->prediction.input;
    (void)error;
    unet_layout_load_row(input_of(p, i), p->inputs[i], 0, 0, p->next_row++, row);
    return UNET_OK;
}

static UnetStatus take_output(Ends *ends, int i, const float *row, UnetError *error) {
    Pictures *p = (Pictures *)ends;
    const UnetPicture *picture = &p->output[i];
    const bool classes = model_of(p)->outputs[i].kind == UNET_LABELS;
    (void)error;
    put_row(row, picture->width, picture->channels, classes,
            p->to[i] + (size_t)p->done[i]++ * (size_t)picture->width * (size_t)picture->channels);
    return UNET_OK;
}

/* ---- pictures --------------------------------------------------------------------------------- */

static UnetStatus put(const Pictures *p, UnetEvents *events, int32_t sample, const char *name, int64_t step,
                      const UnetPicture *picture) {
    char tag[256];
    (void)snprintf(tag, sizeof tag, "%.150s/%.100s", unet_dataset_stem(p->data, sample), name);
    return unet_events_picture(events, tag, step, picture, &p->prediction.driver->error);
}

/* Undoes what `normalize` did to a row. */
static void denormalize(const Pictures *p, int i, const UnetLayout *layout) {
    const UnetNormal *normal = &p->prediction.driver->normal[i];
    if (model_of(p)->inputs[i].normalizing == UNET_AS_READ)
        return;
    for (int32_t c = 0; c < layout->channels; c++)
        for (int32_t x = 0; x < layout->size[2]; x++) {
            float *value = &p->row[(ptrdiff_t)c * layout->size[2] + x];
            *value = (float)((double)*value * normal->deviation[c] + normal->mean[c]);
        }
}

/* Input or target I of the sample that is there. */
static UnetStatus put_input(const Pictures *p, UnetEvents *events, int32_t sample, int i, int64_t step) {
    const UnetLayout *layout = input_of(p, i);
    const UnetInput *input = &model_of(p)->inputs[i];
    const bool classes = input->kind == UNET_LABELS;
    const UnetPicture picture = {layout->size[1], layout->size[2], classes ? 3 : layout->channels,
                                 p->points};
    for (int32_t y = 0; y < picture.height; y++) {
        unet_layout_load_row(layout, p->inputs[i], 0, 0, y, p->row);
        denormalize(p, i, layout);
        put_row(p->row, picture.width, picture.channels, classes,
                p->points + (size_t)y * (size_t)picture.width * (size_t)picture.channels);
    }
    return put(p, events, sample, input->name, step, &picture);
}

static UnetStatus put_sample(Pictures *p, UnetEvents *events, int32_t sample, int64_t step) {
    const UnetModel *model = model_of(p);
    const UnetLayout *input = input_of(p, p->prediction.input);
    int32_t valid[3];
    UnetStatus status = unet_dataset_read(p->data, sample, 0, 0, p->scratch, NULL, p->inputs, 0, 1, valid,
                                          &p->prediction.driver->error);
    for (int i = 0; i < model->ninput && status == UNET_OK && !p->began; i++)
        if (is_picture(&model->inputs[i], input_of(p, i)))
            status = put_input(p, events, sample, i, step);
    p->next_row = 0;
    memset(p->done, 0, (size_t)model->noutput * sizeof *p->done);
    if (status == UNET_OK)
        status = predict_rows(&p->prediction, input->size[1], input->size[2], &p->ends);
    for (int i = 0; i < model->noutput && status == UNET_OK; i++)
        status = put(p, events, sample, model->outputs[i].name, step, &p->output[i]);
    return status;
}

UnetStatus pictures_put(Pictures *p, UnetEvents *events, int64_t step, Device *device) {
    Device *own = &p->prediction.device;
    UnetError *error = &p->prediction.driver->error;
    const int64_t persistent = model_of(p)->persistent;
    UnetStatus status = device_fetch_weights(device, error);
    if (status != UNET_OK)
        return status;
    memcpy(own->arena, device->arena, (size_t)(persistent < own->extent ? persistent : own->extent));
    status = device_push_weights(own, error);
    for (int32_t sample = 0; sample < p->samples && status == UNET_OK; sample++)
        status = put_sample(p, events, sample, step);
    p->began = true;
    return status;
}

/* ---- the interface ---------------------------------------------------------------------------- */

static UnetStatus open_all(Pictures *p) {
    UnetStatus status = prediction_check(&p->prediction);
    if (status != UNET_OK)
        return status;
    const UnetProgram *program = p->prediction.program;
    const UnetLayout *input = input_of(p, p->prediction.input);
    const bool larger =
        input->size[2] > program->size[2] || (input->size[1] > program->size[1] && program->units == 0);
    if (larger && program->windows == NULL)
        return unet_fail(&p->prediction.driver->error, UNET_USAGE,
                         "--tensorboard predicts the pictures of the evaluation, of %d x %d points, and "
                         "prediction takes "
                         "%d x %d at most: write `predict { size %d, %d }`",
                         input->size[1], input->size[2], program->size[1], program->size[2], input->size[1],
                         input->size[2]);
    status = prediction_open(&p->prediction);
    p->bytes = program->extent + (larger ? tiles_bytes(model_of(p), input->size[2]) : 0) +
               (p->prediction.staged != NULL ? program->inputs[p->prediction.input].sample_bytes : 0);
    if (status == UNET_OK)
        status = take_inputs(p);
    return status == UNET_OK ? take_outputs(p) : status;
}

UnetStatus pictures_open(Pictures **pictures, Driver *driver, const UnetDataset *data) {
    Pictures *p = calloc(1, sizeof *p);
    *pictures = NULL;
    if (p == NULL)
        return unet_fail(&driver->error, UNET_TOO_SMALL, "no memory for pictures");
    const int32_t samples = unet_dataset_samples(data);
    p->ends = (Ends){read_input, take_output};
    p->prediction = (Prediction){.driver = driver, .program = driver->model->predict, .normalized = true};
    p->data = data;
    p->samples = samples < SAMPLES ? samples : SAMPLES;
    const UnetStatus status = open_all(p);
    if (status == UNET_OK)
        *pictures = p;
    else
        pictures_close(p);
    return status;
}

int64_t pictures_bytes(const Pictures *p) {
    return p->bytes;
}

void pictures_close(Pictures *p) {
    if (p == NULL)
        return;
    for (int i = 0; p->inputs != NULL && i < model_of(p)->ninput; i++)
        free(p->inputs[i]);
    for (int i = 0; p->to != NULL && i < model_of(p)->noutput; i++)
        free(p->to[i]);
    if (p->prediction.device.model != NULL)
        prediction_close(&p->prediction);
    free(p->inputs);
    free(p->scratch);
    free(p->row);
    free(p->output);
    free(p->to);
    free(p->done);
    free(p->points);
    free(p);
}
