/* predict.c - the command `predict`: images in, images out.
 *
 * An image of the compiled size or smaller goes through the model at once: it is padded behind its last row
 * and column as the model's file says (`pad`), and the result is cropped back.  Only the part of the arena
 * that prediction uses is taken.  Results have the depth of their input, 8 or 16 bits.
 */
#include "driver.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "unet/image.h"
#include "unet/layout.h"

typedef struct {
    Driver *driver;
    const UnetProgram *program;
    int input; /* the one input that prediction reads */
    Device device;
    char *batch;         /* one sample in the layout of the input */
    const void **inputs; /* one per input of the model */
    float *row;          /* of an input or output */
    int32_t *from;       /* point x of a padded row is point from[x] of the image */
    bool into_folder;
} Prediction;

/* ---- what the model can do -------------------------------------------------------------------- */

static UnetStatus check_model(Prediction *prediction) {
    const UnetModel *model = prediction->driver->model;
    UnetError *error = &prediction->driver->error;
    int inputs = 0;
    if (model->predict == NULL)
        return unet_fail(error, UNET_USAGE,
                         "the program was compiled without predict: add it to `unetc --programs=...`");
    for (int i = 0; i < model->ninput; i++)
        if (model->predict->inputs[i].sample_bytes > 0) {
            prediction->input = i;
            inputs++;
        }
    if (inputs != 1 || model->inputs[prediction->input].kind != UNET_IMAGE)
        return unet_fail(error, UNET_USAGE,
                         "predict reads one image, and the inputs of %s are not one image", model->name);
    for (int i = 0; i < model->noutput; i++) {
        int32_t channels = model->predict->outputs[i].channels;
        if (model->outputs[i].kind != UNET_IMAGE || (channels != 1 && channels != 3))
            return unet_fail(error, UNET_USAGE,
                             "predict writes images of 1 or 3 channels, and output %s is not one",
                             model->outputs[i].name);
    }
    return UNET_OK;
}

/* Elements of the longest row of the input or of an output. */
static size_t longest_row(const Prediction *prediction) {
    const UnetProgram *program = prediction->program;
    const UnetLayout *input = &program->inputs[prediction->input];
    size_t longest = (size_t)input->channels * (size_t)input->size[2];
    for (int i = 0; i < prediction->driver->model->noutput; i++) {
        size_t row = (size_t)program->outputs[i].channels * (size_t)program->outputs[i].size[2];
        longest = row > longest ? row : longest;
    }
    return longest;
}

static UnetStatus take_memory(Prediction *prediction) {
    const UnetModel *model = prediction->driver->model;
    const UnetLayout *layout = &prediction->program->inputs[prediction->input];
    UnetError *error = &prediction->driver->error;
    UnetStatus status =
        device_open(&prediction->device, model, prediction->program->extent, layout->sample_bytes, error);
    if (status == UNET_OK)
        status = arena_take(&prediction->batch, layout->sample_bytes, 0, error);
    if (status != UNET_OK)
        return status;
    prediction->inputs = calloc((size_t)model->ninput, sizeof *prediction->inputs);
    prediction->row = calloc(longest_row(prediction), sizeof *prediction->row);
    prediction->from = calloc((size_t)layout->size[2], sizeof *prediction->from);
    if (prediction->inputs == NULL || prediction->row == NULL || prediction->from == NULL)
        return unet_fail(error, UNET_TOO_SMALL, "no memory for a row of the image");
    prediction->inputs[prediction->input] = prediction->batch;
    return UNET_OK;
}

/* ---- one image -------------------------------------------------------------------------------- */

static UnetStatus check_size(const Prediction *prediction, const char *path, const UnetImageInfo *info) {
    const int32_t *size = prediction->program->size;
    if (info->height <= size[1] && info->width <= size[2])
        return UNET_OK;
    return unet_fail(&prediction->driver->error, UNET_IO,
                     "%s is %" PRId32 " x %" PRId32 ", larger than the %" PRId32 " x %" PRId32
                     " that the program was compiled for; compile it with `unetc --size=HxW`",
                     path, info->height, info->width, size[1], size[2]);
}

/* Row H of the padded image from ROW, of WIDTH real points. */
static void store_row(const Prediction *prediction, int32_t h, const float *row, int32_t width) {
    const UnetLayout *layout = &prediction->program->inputs[prediction->input];
    UnetPad pad = prediction->driver->model->predict_pad;
    for (int32_t x = 0; x < layout->size[2]; x++)
        prediction->from[x] = unet_pad_index(pad, x, width);
    unet_layout_store_row(layout, prediction->batch, 0, 0, h, row, width, prediction->from, 0);
}

static UnetStatus read_image(Prediction *prediction, const char *path, UnetImageInfo *info) {
    UnetError *error = &prediction->driver->error;
    const UnetLayout *layout = &prediction->program->inputs[prediction->input];
    UnetImageReader *reader;
    UnetStatus status = unet_image_open(&reader, path, layout->channels, error);
    if (status != UNET_OK)
        return status;
    *info = unet_image_info(reader);
    status = check_size(prediction, path, info);
    for (int32_t h = 0; h < info->height && status == UNET_OK; h++) {
        status = unet_image_read_row(reader, prediction->row, error);
        if (status == UNET_OK)
            store_row(prediction, h, prediction->row, info->width);
    }
    unet_image_close(reader);
    for (int32_t h = info->height; h < layout->size[1] && status == UNET_OK; h++) {
        int32_t source = unet_pad_index(prediction->driver->model->predict_pad, h, info->height);
        if (source < 0)
            memset(prediction->row, 0, longest_row(prediction) * sizeof *prediction->row);
        else
            unet_layout_load_row(layout, prediction->batch, 0, 0, source, prediction->row);
        store_row(prediction, h, prediction->row, layout->size[2]);
    }
    return status;
}

/* Writes output I, cropped as its size relates to that of the input. */
static UnetStatus write_output(Prediction *prediction, int i, const char *path,
                               const UnetImageInfo *input) {
    UnetError *error = &prediction->driver->error;
    const UnetLayout *layout = &prediction->program->outputs[i];
    const char *base = prediction->device.arena + prediction->program->output_offsets[i];
    const int32_t *size = prediction->program->size;
    UnetImageInfo info = {.channels = layout->channels, .bits = input->bits};
    info.height = (int32_t)((int64_t)input->height * layout->size[1] / size[1]);
    info.width = (int32_t)((int64_t)input->width * layout->size[2] / size[2]);
    if (info.height < 1 || info.width < 1)
        return unet_fail(error, UNET_IO, "%s: the input is too small for a single point of output", path);
    UnetImageWriter *writer;
    UnetStatus status = unet_image_create(&writer, path, &info, error);
    if (status != UNET_OK)
        return status;
    for (int32_t h = 0; h < info.height && status == UNET_OK; h++) {
        unet_layout_load_row(layout, base, 0, 0, h, prediction->row);
        for (int32_t c = 1; c < layout->channels; c++) /* planes close up where the row was cropped */
            memmove(prediction->row + (size_t)c * (size_t)info.width,
                    prediction->row + (size_t)c * (size_t)layout->size[2],
                    (size_t)info.width * sizeof *prediction->row);
        status = unet_image_write_row(writer, prediction->row, error);
    }
    if (status == UNET_OK)
        return unet_image_finish(writer, error);
    unet_image_discard(writer);
    return status;
}

/* ---- names ------------------------------------------------------------------------------------ */

static const char *last_part(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash != NULL ? slash + 1 : path;
}

/* Where the suffix of a file name starts, or its end. */
static size_t stem_length(const char *path) {
    const char *dot = strrchr(last_part(path), '.');
    return dot != NULL && dot != last_part(path) ? (size_t)(dot - path) : strlen(path);
}

static size_t without_slashes(const char *folder) {
    size_t length = strlen(folder);
    while (length > 1 && folder[length - 1] == '/')
        length--;
    return length;
}

/* A result takes the place of what has its name, which must be a file, and not the one it is made from. */
static UnetStatus check_place(const char *in, const char *path, UnetError *error) {
    struct stat from, to;
    if (stat(path, &to) != 0)
        return UNET_OK;
    if (stat(in, &from) == 0 && from.st_dev == to.st_dev && from.st_ino == to.st_ino)
        return unet_fail(error, UNET_USAGE, "%s would be overwritten by its own result", in);
    if (!S_ISREG(to.st_mode))
        return unet_fail(error, UNET_IO, "%s: is not a file that a result can take the place of", path);
    return UNET_OK;
}

/* OUT, or its folder and the name of IN; with -NAME before the suffix when the model has several outputs.
 */
static UnetStatus output_path(const Prediction *prediction, const char *in, int i,
                              char path[UNET_PATH_BYTES]) {
    const Driver *driver = prediction->driver;
    const char *out = driver->options.output, *name = prediction->into_folder ? last_part(in) : out;
    bool several = driver->model->noutput > 1;
    size_t stem = stem_length(name);
    const char *suffix = prediction->into_folder ? ".png" : name + stem;
    int folder = prediction->into_folder ? (int)without_slashes(out) : 0;
    int n =
        snprintf(path, UNET_PATH_BYTES, "%.*s%s%.*s%s%s%s", folder, out, folder > 0 ? "/" : "", (int)stem,
                 name, several ? "-" : "", several ? driver->model->outputs[i].name : "", suffix);
    if (n < 0 || n >= UNET_PATH_BYTES)
        return unet_fail(&prediction->driver->error, UNET_IO, "%s: the name is too long", out);
    return check_place(in, path, &prediction->driver->error);
}

/* Finds out before the first image whether the names of all results are good. */
static UnetStatus check_names(const Prediction *prediction) {
    const UnetOptions *options = &prediction->driver->options;
    char path[UNET_PATH_BYTES];
    for (int a = 0; a < options->nfile; a++) {
        UnetStatus status = UNET_OK;
        for (int i = 0; i < prediction->driver->model->noutput && status == UNET_OK; i++)
            status = output_path(prediction, options->files[a], i, path);
        if (status != UNET_OK)
            return status;
        const char *name = last_part(options->files[a]);
        for (int b = 0; b < a; b++) {
            const char *other = last_part(options->files[b]);
            if (stem_length(name) == stem_length(other) && strncmp(name, other, stem_length(name)) == 0)
                return unet_fail(&prediction->driver->error, UNET_USAGE,
                                 "%s and %s would both be written to %s", options->files[b],
                                 options->files[a], path);
        }
    }
    return UNET_OK;
}

/* Whether -o names a folder; one that ends in a slash is made. */
static UnetStatus find_folder(Prediction *prediction) {
    Driver *driver = prediction->driver;
    const char *out = driver->options.output;
    bool ends_in_slash = out[strlen(out) - 1] == '/';
    struct stat found;
    if (ends_in_slash && mkdir(out, 0777) != 0 && errno != EEXIST)
        return unet_fail(&driver->error, UNET_IO, "%s: the folder cannot be created: %s", out,
                         strerror(errno));
    prediction->into_folder = stat(out, &found) == 0 && S_ISDIR(found.st_mode);
    if (driver->options.nfile > 1 && !prediction->into_folder)
        return unet_fail(&driver->error, UNET_USAGE, "%d images need an output folder: `-o %s/`",
                         driver->options.nfile, out);
    return UNET_OK;
}

/* ---- the command ------------------------------------------------------------------------------ */

static UnetStatus predict_image(Prediction *prediction, const char *in) {
    const UnetModel *model = prediction->driver->model;
    const UnetStep step = {.arena = prediction->device.arena,
                           .inputs = prediction->inputs,
                           .n = 1,
                           .threads = prediction->driver->threads};
    UnetImageInfo info;
    UnetStatus status = read_image(prediction, in, &info);
    if (status != UNET_OK)
        return status;
    UnetError *error = &prediction->driver->error;
    status = device_run(&prediction->device, prediction->program, &step, error);
    for (int i = 0; i < model->noutput && status == UNET_OK; i++) {
        char path[UNET_PATH_BYTES];
        status = device_fetch(&prediction->device, prediction->program->output_offsets[i],
                              prediction->program->outputs[i].sample_bytes, error);
        if (status == UNET_OK)
            status = output_path(prediction, in, i, path);
        if (status == UNET_OK)
            status = write_output(prediction, i, path, &info);
        if (status == UNET_OK)
            (void)fprintf(stderr, "%s -> %s\n", in, path);
    }
    return status;
}

UnetStatus driver_predict(Driver *driver) {
    Prediction prediction = {.driver = driver, .program = driver->model->predict};
    UnetStatus status = check_model(&prediction);
    if (status == UNET_OK)
        status = find_folder(&prediction);
    if (status == UNET_OK)
        status = check_names(&prediction);
    if (status == UNET_OK)
        status = take_memory(&prediction);
    if (status == UNET_OK)
        status = run_load_weights(driver, prediction.device.arena);
    if (status == UNET_OK)
        status = device_push_weights(&prediction.device, &driver->error);
    for (int i = 0; i < driver->options.nfile && status == UNET_OK; i++)
        status = predict_image(&prediction, driver->options.files[i]);
    if (prediction.program != NULL) {
        device_close(&prediction.device);
        arena_give_back(prediction.batch, prediction.program->inputs[prediction.input].sample_bytes);
    }
    free(prediction.inputs);
    free(prediction.row);
    free(prediction.from);
    return status;
}
