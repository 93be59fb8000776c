/* predict.c - the command `predict`: images in, images out, or volumes.
 *
 * predict_image.c takes one image through the model, predict_volume.c one volume; here is what can be said
 * before the first: whether the model makes images of images, and whether the names of the results are
 * good.  Only the part of the arena that prediction uses is taken.
 */
#include "predict.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "unet/words.h"

/* ---- what the model can do -------------------------------------------------------------------- */

UnetStatus prediction_check(Prediction *prediction) {
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
    prediction->volumes = inputs == 1 && model->inputs[prediction->input].kind == UNET_VOLUME;
    if (inputs != 1 || model->inputs[prediction->input].kind == UNET_LABELS)
        return unet_fail(error, UNET_USAGE,
                         "predict needs a network with one input, an image, a signal or a volume, and %s "
                         "has other inputs: "
                         "call it from a program of your own (`unetc -S DIR`)",
                         model->name);
    if (prediction->volumes)
        return prediction_check_volume(prediction);
    bool classes = false;
    for (int i = 0; i < model->noutput; i++)
        classes |= model->outputs[i].kind == UNET_LABELS;
    if (prediction->driver->options.overlay && !classes)
        return unet_fail(
            error, UNET_USAGE,
            "--overlay shows classes, and %s has no output of classes: add `output mask = argmax(%s)`",
            model->name, model->outputs[0].name);
    for (int i = 0; i < model->noutput; i++)
        if (model->outputs[i].kind == UNET_VOLUME)
            return unet_fail(
                error, UNET_USAGE,
                "predict makes images of images, and output %s is a volume: call the network from a "
                "program of your own (`unetc -S DIR`)",
                model->outputs[i].name);
    return UNET_OK;
}

/* ---- names ------------------------------------------------------------------------------------ */

static const char *last_part(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash != NULL ? slash + 1 : path;
}

/* The start of the suffix of a file name, or the name's end; volumes have two, ".nii.gz". */
static size_t stem_length(const char *path) {
    const char *dot = strrchr(last_part(path), '.');
    const char *packed = unet_volume_is_name(path) ? strstr(last_part(path), ".nii") : NULL;
    for (const char *next = packed; next != NULL; next = strstr(next + 1, ".nii"))
        packed = next;
    if (packed != NULL)
        return (size_t)(packed - path);
    return dot != NULL && dot != last_part(path) ? (size_t)(dot - path) : strlen(path);
}

static size_t without_slashes(const char *folder) {
    size_t length = strlen(folder);
    while (length > 1 && folder[length - 1] == '/')
        length--;
    return length;
}

/* nnU-Net's predictions have no number of a channel: of CASE_0000.nii.gz comes CASE.nii.gz. */
static size_t without_channel(const char *name, size_t stem) {
    static const char number[] = "_0000";
    const size_t length = sizeof number - 1;
    const bool has = stem > length && strncmp(name + stem - length, number, length) == 0;
    return has ? stem - length : stem;
}

/* A result takes the place of what has its name, which must be a file, and not the one it is made from. */
static UnetStatus check_place(const char *in, const char *path, UnetError *error) {
    struct stat from, to;
    if (stat(path, &to) != 0)
        return UNET_OK;
    if (stat(in, &from) == 0 && from.st_dev == to.st_dev && from.st_ino == to.st_ino)
        return unet_fail(error, UNET_USAGE, "%s would be overwritten by its own result", in);
    if (!S_ISREG(to.st_mode))
        return unet_fail(error, UNET_IO, "%s: is no regular file, and a result replaces only those", path);
    return UNET_OK;
}

/* A result in a folder is a signal where the input is one, else a picture. */
static const char *folder_suffix(const Prediction *prediction, const char *in, int i) {
    const bool classes = prediction->driver->model->outputs[i].kind == UNET_LABELS;
    const int32_t channels = prediction->program->outputs[i].channels;
    if (!prediction->volumes && !classes && unet_image_is_signal(in))
        return ".wav";
    return prediction->volumes ? ".nii.gz"
                               : unet_image_suffix(channels, (int32_t)prediction->driver->options.bits);
}

/* OUT, or its folder and the name of IN; with -NAME before the suffix when the model has several outputs.
 */
UnetStatus output_path(const Prediction *prediction, const char *in, int i, char path[UNET_PATH_BYTES]) {
    const Driver *driver = prediction->driver;
    const char *out = driver->options.output, *name = prediction->into_folder ? last_part(in) : out;
    bool several = driver->model->noutput > 1;
    size_t stem = stem_length(name);
    const char *suffix = !prediction->into_folder ? name + stem : folder_suffix(prediction, in, i);
    if (prediction->into_folder && prediction->volumes)
        stem = without_channel(name, stem);
    int folder = prediction->into_folder ? (int)without_slashes(out) : 0;
    int n =
        snprintf(path, UNET_PATH_BYTES, "%.*s%s%.*s%s%s%s", folder, out, folder > 0 ? "/" : "", (int)stem,
                 name, several ? "-" : "", several ? driver->model->outputs[i].name : "", suffix);
    if (n < 0 || n >= UNET_PATH_BYTES)
        return unet_fail(&prediction->driver->error, UNET_IO, "%s: the name is too long", out);
    return check_place(in, path, &prediction->driver->error);
}

static UnetStatus check_is_no_folder(const Prediction *prediction, const char *in) {
    const UnetKind kind = prediction->driver->model->inputs[prediction->input].kind;
    struct stat found;
    if (stat(in, &found) != 0 || !S_ISDIR(found.st_mode))
        return UNET_OK;
    return unet_fail(&prediction->driver->error, UNET_USAGE,
                     "%s is a folder, and predict takes %s: `%.*s/*.%s`, for example", in,
                     kind == UNET_VOLUME   ? "volumes"
                     : kind == UNET_SIGNAL ? "signals"
                                           : "images",
                     (int)without_slashes(in), in,
                     kind == UNET_VOLUME   ? "nii.gz"
                     : kind == UNET_SIGNAL ? "wav"
                                           : "jpg");
}

/* Whether output I can be written to a file of this name. */
static UnetStatus check_format(const Prediction *prediction, const char *path, int i) {
    UnetError *error = &prediction->driver->error;
    const int32_t bits = (int32_t)prediction->driver->options.bits;
    if (!prediction->volumes && bits == 24 && !unet_image_is_signal(path))
        return unet_fail(error, UNET_USAGE,
                         "%s: 24 bits of a number are for WAV files: write --bits=8, 16 or 32", path);
    if (!prediction->volumes && bits > unet_image_bits(path, bits))
        return unet_fail(error, UNET_USAGE, "%s holds %d bits at most, and --bits asks for %d: name it %s",
                         path, (int)unet_image_bits(path, bits), (int)bits, unet_image_any_suffixes());
    if (!prediction->volumes)
        return unet_image_check_name(path, prediction->program->outputs[i].channels,
                                     prediction->driver->model->outputs[i].kind == UNET_LABELS, error);
    return unet_volume_is_name(path)
               ? UNET_OK
               : unet_fail(error, UNET_USAGE, "%s: volumes are written to .nii or .nii.gz", path);
}

/* Finds out before the first image whether it and the others are files, and whether the names of all
 * results are good. */
static UnetStatus check_names(const Prediction *prediction) {
    const UnetOptions *options = &prediction->driver->options;
    const UnetModel *model = prediction->driver->model;
    char path[UNET_PATH_BYTES];
    for (int a = 0; a < options->nfile; a++) {
        UnetStatus status = check_is_no_folder(prediction, options->files[a]);
        for (int i = 0; i < model->noutput && status == UNET_OK; i++) {
            status = output_path(prediction, options->files[a], i, path);
            if (status == UNET_OK)
                status = check_format(prediction, path, i);
        }
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
    if (strcmp(out, "-") == 0)
        return unet_fail(&driver->error, UNET_USAGE,
                         "`-o -`: results do not go to standard output: name a file or a folder");
    if (ends_in_slash && mkdir(out, 0777) != 0 && errno != EEXIST)
        return unet_fail(&driver->error, UNET_IO, "%s: the folder cannot be created: %s", out,
                         strerror(errno));
    prediction->into_folder = stat(out, &found) == 0 && S_ISDIR(found.st_mode);
    if (driver->options.nfile > 1 && !prediction->into_folder)
        return unet_fail(&driver->error, UNET_USAGE, "%d images need an output folder: `-o %s/`",
                         driver->options.nfile, out);
    return UNET_OK;
}

static UnetStatus predict_and_show(Prediction *prediction, const char *in) {
    const Driver *driver = prediction->driver;
    UnetStatus status =
        prediction->volumes ? predict_volume(prediction, in) : predict_image(prediction, in);
    const bool shows = driver->options.overlay && driver->stopped_by == 0;
    UnetImageWay way = *prediction_way(prediction);
    if (prediction_restores(prediction))
        way.fit = UNET_FIT_NONE;
    for (int i = 0; shows && i < driver->model->noutput && status == UNET_OK; i++) {
        char path[UNET_PATH_BYTES];
        if (driver->model->outputs[i].kind != UNET_LABELS)
            continue;
        status = output_path(prediction, in, i, path);
        if (status == UNET_OK)
            status = write_overlay(in, &way, path, &prediction->driver->error);
    }
    return status;
}

void prediction_example(Driver *driver, const UnetDataset *data, char *word, size_t size) {
    Prediction prediction = {.driver = driver, .program = driver->model->predict};
    char path[UNET_PATH_BYTES];
    if (size > 0)
        word[0] = '\0';
    if (prediction_check(&prediction) != UNET_OK ||
        unet_dataset_file(data, 0, prediction.input, path, &driver->error) != UNET_OK)
        return;
    const UnetStatus status = prediction.volumes ? prediction_check_volume_size(&prediction, path)
                                                 : prediction_check_size(&prediction, path);
    if (status == UNET_OK)
        (void)unet_shell_word(word, size, path);
    else
        (void)snprintf(word, size, "IN%s", path + stem_length(path));
}

/* ---- the command ------------------------------------------------------------------------------ */

static UnetStatus read_image(const UnetImageWay *way, const char *in, UnetError *error) {
    UnetImageReader *reader;
    UnetStatus status = unet_image_open_as(NULL, way, &reader, in, 0, error);
    if (status == UNET_OK)
        status = unet_image_skip_rows(reader, unet_image_info(reader).height, error);
    unet_image_close(reader);
    return status;
}

/* IN could not be predicted: is it because of IN, and not of where results go? */
static bool is_bad(Prediction *prediction, const char *in) {
    UnetError *error = &prediction->driver->error;
    const UnetError why = *error;
    struct stat found;
    if (stat(in, &found) == 0 && !S_ISREG(found.st_mode))
        return false; /* a pipe is read once */
    UnetStatus status = prediction->volumes ? prediction_check_volume_size(prediction, in)
                                            : prediction_check_size(prediction, in);
    if (status == UNET_OK)
        status = prediction->volumes ? prediction_read_volume(in, error)
                                     : read_image(prediction_way(prediction), in, error);
    *error = why;
    return status == UNET_IO;
}

/* One file after another.  A bad one among several is named, and the others are predicted. */
static UnetStatus predict_all(Prediction *prediction) {
    Driver *driver = prediction->driver;
    const int files = driver->options.nfile;
    int bad = 0;
    for (int i = 0; i < files && driver->stopped_by == 0; i++) {
        const UnetStatus status = predict_and_show(prediction, driver->options.files[i]);
        if (status != UNET_OK &&
            (files == 1 || status != UNET_IO || !is_bad(prediction, driver->options.files[i])))
            return status;
        bad += status != UNET_OK;
        if (status != UNET_OK)
            (void)fprintf(stderr, "error: %s\n", driver->error.text);
    }
    return bad == 0 ? UNET_OK
                    : unet_fail(&driver->error, UNET_IO,
                                "%d of %d files could not be predicted, as was said above", bad, files);
}

UnetStatus driver_predict(Driver *driver) {
    Prediction prediction = {.driver = driver, .program = driver->model->predict};
    UnetStatus status = prediction_check(&prediction);
    signals_hold(); /* so that no part of a file stays behind */
    if (status == UNET_OK)
        status = find_folder(&prediction);
    if (status == UNET_OK)
        status = check_names(&prediction);
    if (status == UNET_OK)
        status = prediction_open(&prediction);
    if (status == UNET_OK)
        status = run_load_weights(driver, prediction.device.arena);
    if (status == UNET_OK)
        status = device_push_weights(&prediction.device, &driver->error);
    if (status == UNET_OK)
        status = predict_all(&prediction);
    if (prediction.program != NULL)
        prediction_close(&prediction);
    return status;
}
