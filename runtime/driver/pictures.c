/* pictures.c - pictures of samples of the evaluation: inputs, targets and outputs.
 *
 * The program of evaluation leaves no picture behind, so the program of prediction runs: while a run
 * trains, on a copy of the weights in memory of its own; else in the arena, where weights lie at the same
 * place for all programs.  A sample that evaluation pads is shown without that. */
#include "pictures.h"

#include <stdlib.h>
#include <string.h>

#include "predict.h"
#include "unet/layout.h"

struct Pictures {
    Ends ends; /* first: what predict_rows() calls gets it */
    Prediction prediction;
    const UnetModel *model; /* as which samples are read */
    const UnetDataset *data;
    int32_t size[2]; /* of the sample on its way, in points of the first input */
    void **inputs;   /* one sample, as evaluation has it: one per input of the model */
    void *scratch;
    float *row;
    UnetPicture *output; /* on their way: one per output, of the largest sample at first, */
    uint8_t **to;        /*   its points */
    int32_t *done;       /*   and how many of its rows are there */
    uint8_t *points;     /* of an input or target */
    int32_t next_row;    /* of the input */
    int64_t bytes;       /* that all of this takes */
};

static const UnetLayout *input_of(const Pictures *p, int i) {
    return &p->model->eval->inputs[i];
}

static bool is_picture(const UnetInput *input, const UnetLayout *layout) {
    return layout->sample_bytes > 0 && input->kind != UNET_VOLUME && layout->size[0] == 1 &&
           (input->kind == UNET_SIGNAL || layout->channels == 1 || layout->channels == 3);
}

static bool shows_signals(const Pictures *p) {
    return p->model->inputs[p->prediction.input].kind == UNET_SIGNAL;
}

/* A picture has one channel or three: of other signals it shows the first. */
static int32_t shown_channels(const Pictures *p, int32_t channels) {
    return shows_signals(p) && channels != 3 ? 1 : channels;
}

static bool shows_output(const Pictures *p, int i) {
    return p->output[i].channels == 1 || p->output[i].channels == 3;
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
    const UnetModel *model = p->model;
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
    const UnetModel *model = p->model;
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
        p->output[i] = (UnetPicture){shape.height, shape.width,
                                     shape.palette ? 3 : shown_channels(p, shape.channels), p->to[i], 0};
        if (p->to[i] == NULL)
            return no_memory(p);
    }
    return UNET_OK;
}

/* ---- rows ------------------------------------------------------------------------------------- */

/* A signal is drawn as a curve, its classes as a strip. */
static UnetStatus take(const Pictures *p, PictureTaker *taker, const char *name, const char *role,
                       bool classes, const UnetPicture *picture) {
    UnetError *error = &p->prediction.driver->error;
    if (!shows_signals(p))
        return taker->take(taker, name, role, picture, error);
    uint8_t *points = malloc(UNET_WAVE_BYTES);
    if (points == NULL)
        return unet_fail(error, UNET_TOO_SMALL, "no memory for a picture");
    const UnetPicture wave = unet_picture_wave(picture, classes, points);
    const UnetStatus status = taker->take(taker, name, role, &wave, error);
    free(points);
    return status;
}

/* Colours of the numbers of a row of classes, or bytes of those from 0 to 1, of SIGNALS of those from -1 to
 * 1; planes are APART. */
static void put_row(const float *row, int32_t apart, int32_t width, int32_t channels, bool classes,
                    bool signals, uint8_t *to) {
    for (int32_t x = 0; x < width; x++) {
        if (classes) {
            unet_class_colour((int32_t)row[x], to);
            to += 3;
            continue;
        }
        for (int32_t c = 0; c < channels; c++) {
            const float number = row[(ptrdiff_t)c * apart + x];
            const float value = signals ? 128.0f / 255 + number / 2 : number;
            *to++ = (uint8_t)(!(value > 0) ? 0 : value >= 1 ? 255 : 255 * value + 0.5f);
        }
    }
}

static UnetStatus read_input(Ends *ends, float *row, UnetError *error) {
    Pictures *p = (Pictures *)ends;
    const int i = p->prediction.input;
    const UnetLayout *layout = input_of(p, i);
    const size_t width = (size_t)p->size[1];
    (void)error;
    unet_layout_load_row(layout, p->inputs[i], 0, 0, p->next_row++, p->row);
    for (size_t c = 0; c < (size_t)layout->channels; c++)
        memcpy(row + c * width, p->row + c * (size_t)layout->size[2], width * sizeof *row);
    return UNET_OK;
}

static UnetStatus take_output(Ends *ends, int i, const float *row, UnetError *error) {
    Pictures *p = (Pictures *)ends;
    const UnetPicture *picture = &p->output[i];
    const bool classes = p->model->outputs[i].kind == UNET_LABELS;
    (void)error;
    if (!shows_output(p, i))
        return UNET_OK;
    put_row(row, picture->width, picture->width, picture->channels, classes, shows_signals(p),
            p->to[i] + (size_t)p->done[i]++ * (size_t)picture->width * (size_t)picture->channels);
    return UNET_OK;
}

/* ---- pictures --------------------------------------------------------------------------------- */

/* Undoes what `normalize` did to a row. */
static void denormalize(const Pictures *p, int i, const UnetLayout *layout) {
    const UnetNormal *normal = &p->prediction.driver->normal[i];
    if (p->model->inputs[i].normalizing == UNET_AS_READ)
        return;
    for (int32_t c = 0; c < layout->channels; c++)
        for (int32_t x = 0; x < layout->size[2]; x++) {
            float *value = &p->row[(ptrdiff_t)c * layout->size[2] + x];
            *value = (float)((double)*value * normal->deviation[c] + normal->mean[c]);
        }
}

/* SIZE of the first input's points are so many of input I. */
static int32_t scaled(const Pictures *p, int i, int axis) {
    return (int32_t)((int64_t)p->size[axis] * input_of(p, i)->size[axis + 1] /
                     p->model->eval->size[axis + 1]);
}

/* Input or target I of the sample that is there. */
static UnetStatus show_input(const Pictures *p, int i, PictureTaker *taker) {
    const UnetLayout *layout = input_of(p, i);
    const UnetInput *input = &p->model->inputs[i];
    const bool classes = input->kind == UNET_LABELS;
    const UnetPicture picture = {scaled(p, i, 0), scaled(p, i, 1),
                                 classes ? 3 : shown_channels(p, layout->channels), p->points, 0};
    for (int32_t y = 0; y < picture.height; y++) {
        unet_layout_load_row(layout, p->inputs[i], 0, 0, y, p->row);
        denormalize(p, i, layout);
        put_row(p->row, layout->size[2], picture.width, picture.channels, classes, shows_signals(p),
                p->points + (size_t)y * (size_t)picture.width * (size_t)picture.channels);
    }
    return take(p, taker, input->name, i == p->prediction.input ? "input" : "target", classes, &picture);
}

/* A picture that is larger than evaluation takes was cut to that. */
static void find_size(Pictures *p, int32_t sample) {
    unet_dataset_picture_size(p->data, sample, p->size);
    for (int axis = 0; axis < 2; axis++) {
        const int32_t most = p->model->eval->size[axis + 1];
        p->size[axis] = p->size[axis] < most ? p->size[axis] : most;
    }
}

static UnetStatus show_outputs(Pictures *p, PictureTaker *taker) {
    const UnetModel *model = p->model;
    p->next_row = 0;
    memset(p->done, 0, (size_t)model->noutput * sizeof *p->done);
    for (int i = 0; i < model->noutput; i++) {
        const UnetImageInfo shape = predicted_shape(&p->prediction, p->size[0], p->size[1], i);
        p->output[i].height = shape.height;
        p->output[i].width = shape.width;
    }
    UnetStatus status = predict_rows(&p->prediction, p->size[0], p->size[1], &p->ends);
    for (int i = 0; i < model->noutput && status == UNET_OK; i++)
        if (shows_output(p, i))
            status = take(p, taker, model->outputs[i].name, "output", model->outputs[i].kind == UNET_LABELS,
                          &p->output[i]);
    return status;
}

UnetStatus pictures_show(Pictures *p, int32_t sample, bool given, PictureTaker *taker) {
    const UnetModel *model = p->model;
    int32_t valid[3];
    find_size(p, sample);
    UnetStatus status = unet_dataset_read(p->data, sample, 0, 0, p->scratch, NULL, p->inputs, 0, 1, valid,
                                          &p->prediction.driver->error);
    for (int i = 0; i < model->ninput && status == UNET_OK && given; i++)
        if (is_picture(&model->inputs[i], input_of(p, i)))
            status = show_input(p, i, taker);
    return status == UNET_OK ? show_outputs(p, taker) : status;
}

UnetStatus pictures_copy_weights(Pictures *p, Device *device) {
    Device *own = &p->prediction.device;
    UnetError *error = &p->prediction.driver->error;
    const int64_t persistent = p->model->persistent;
    UnetStatus status = device_fetch_weights(device, error);
    if (status != UNET_OK)
        return status;
    memcpy(own->arena, device->arena, (size_t)(persistent < own->extent ? persistent : own->extent));
    return device_push_weights(own, error);
}

/* ---- the interface ---------------------------------------------------------------------------- */

/* Whether the program of prediction takes the largest sample, whole or by windows, and the bytes of these.
 */
static UnetStatus check_size(Pictures *p) {
    const UnetProgram *program = p->prediction.program;
    const UnetLayout *input = input_of(p, p->prediction.input);
    const bool larger =
        input->size[2] > program->size[2] || (input->size[1] > program->size[1] && program->units == 0);
    if (larger && program->windows == NULL)
        return unet_fail(&p->prediction.driver->error, UNET_USAGE,
                         "pictures of the evaluation have %d x %d points, and prediction takes %d x %d at "
                         "most: write `predict { size %d, %d }`",
                         input->size[1], input->size[2], program->size[1], program->size[2], input->size[1],
                         input->size[2]);
    if (larger || (program->windows != NULL && program->windows->given))
        p->bytes += tiles_bytes(p->prediction.driver->model, input->size[2]);
    return UNET_OK;
}

static UnetStatus open_all(Pictures *p) {
    UnetStatus status = prediction_check(&p->prediction);
    if (status == UNET_OK && p->prediction.volumes)
        status = unet_fail(&p->prediction.driver->error, UNET_USAGE,
                           "samples are volumes, and pictures are made of images");
    if (status == UNET_OK)
        status = check_size(p);
    if (status != UNET_OK)
        return status;
    const UnetProgram *program = p->prediction.program;
    status = prediction_open(&p->prediction);
    p->bytes += (p->prediction.lent == NULL ? program->extent : 0) +
                (p->prediction.staged != NULL ? program->inputs[p->prediction.input].sample_bytes : 0);
    if (status == UNET_OK)
        status = take_inputs(p);
    return status == UNET_OK ? take_outputs(p) : status;
}

UnetStatus pictures_open(Pictures **pictures, Driver *driver, const UnetModel *model,
                         const UnetDataset *data, Device *device) {
    Pictures *p = calloc(1, sizeof *p);
    *pictures = NULL;
    if (p == NULL)
        return unet_fail(&driver->error, UNET_TOO_SMALL, "no memory for pictures");
    p->ends = (Ends){read_input, take_output};
    p->prediction = (Prediction){
        .driver = driver, .program = driver->model->predict, .lent = device, .normalized = true};
    p->model = model;
    p->data = data;
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
    for (int i = 0; p->inputs != NULL && i < p->model->ninput; i++)
        free(p->inputs[i]);
    for (int i = 0; p->to != NULL && i < p->model->noutput; i++)
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
