/* tune.c - the command `tune`, and the engines that lie beside the weights, NAME.engines.json: which of
 * cuDNN's ways to compute a convolution was the fastest on this device.  For programs on a GPU alone. */
#include "driver.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "unet/words.h"

/* ---- the file -----------------------------------------------------------------------------------------
 */

/* In the folder of --weights, or else of the run. */
static UnetStatus engines_path(const Driver *driver, char path[UNET_PATH_BYTES], UnetError *error) {
    const UnetOptions *options = &driver->options;
    const bool trains = options->command == UNET_COMMAND_TRAIN || options->command == UNET_COMMAND_TUNE;
    const char *weights = trains ? NULL : options->weights,
               *slash = weights != NULL ? strrchr(weights, '/') : NULL;
    const char *folder = weights == NULL ? run_folder(driver) : slash == NULL ? "." : weights;
    const int length = slash != NULL ? (int)(slash - weights) : (int)strlen(folder);
    const int n =
        snprintf(path, UNET_PATH_BYTES, "%.*s/%s.engines.json", length, folder, driver->model->name);
    if (n < 0 || n >= UNET_PATH_BYTES)
        return unet_fail(error, UNET_IO, "%s: the name of the folder is too long", folder);
    return UNET_OK;
}

/* ---- telling ------------------------------------------------------------------------------------------
 */

typedef struct {
    bool tells; /* of each convolution */
    int32_t others;
    double planned, kept; /* seconds of all */
} Sums;

static void print_row(int32_t done, int32_t count, const UnetTimedEngine *row, bool is_other) {
    static const char *const form[] = {
        [UNET_FORWARD] = "y", [UNET_BACKWARD_DATA] = "dx", [UNET_BACKWARD_FILTER] = "dw"};
    const UnetConvolution *c = &row->convolution;
    (void)printf("%3" PRId32 " of %" PRId32 "  %-2s %" PRId64 " x ", done, count, form[c->kind], c->batch);
    if (c->axes > 2)
        (void)printf("%" PRId64 " x ", c->in[0]);
    (void)printf("%" PRId64 " x %" PRId64 ", %" PRId64 " to %" PRId64 " channels, window %" PRId64
                 " x %" PRId64 ": engine %" PRId64 ", %.1f us",
                 c->in[1], c->in[2], c->in_channels, c->out_channels, c->kernel[1], c->kernel[2],
                 c->engine.engine, 1e6 * row->seconds);
    if (is_other)
        (void)printf(" (planned: %.1f us)", 1e6 * row->planned);
    (void)printf("\n");
    (void)fflush(stdout);
}

static void hear(void *context, int32_t done, int32_t count, const UnetTimedEngine *row) {
    Sums *sums = context;
    const bool is_other = row->seconds < row->planned;
    sums->planned += row->planned;
    sums->kept += row->seconds;
    sums->others += is_other;
    if (sums->tells)
        print_row(done, count, row, is_other);
}

static UnetStatus measure(Driver *driver, Device *device, const char *path, bool tells) {
    Sums sums = {.tells = tells};
    const UnetTuneListener listener = {.timed = hear, .context = &sums};
    UnetStatus status = driver->model->device->tune(device->state, path, &listener, &driver->error);
    if (status == UNET_OK)
        (void)fprintf(
            tells ? stdout : stderr,
            "%s: all convolutions once take %.3f ms, by the engines that were planned %.3f ms; %" PRId32
            " convolution%s another engine\n",
            path, 1e3 * sums.kept, 1e3 * sums.planned, sums.others, sums.others == 1 ? " has" : "s have");
    return status;
}

/* ---- opening a device ---------------------------------------------------------------------------------
 */

static UnetStatus refuse_processor(Driver *driver, const char *word) {
    return unet_fail(
        &driver->error, UNET_USAGE,
        "`%s` is for programs that compute on a GPU, and this one was compiled for the CPU: compile it "
        "with --target=cuda",
        word);
}

static UnetStatus open_tuned(Driver *driver, Device *device, int64_t extent, int64_t beside,
                             const UnetEngineFile *file) {
    const UnetModel *model = driver->model;
    UnetStatus status = device_open(device, model, extent, beside, file, &driver->error);
    if (status != UNET_OK || !driver->options.tune || model->device->uses_file(device->state))
        return status;
    status = measure(driver, device, file->path, false);
    device_close(device);
    const UnetEngineFile measured = {.path = file->path, .required = true};
    return status != UNET_OK ? status
                             : device_open(device, model, extent, beside, &measured, &driver->error);
}

UnetStatus driver_open_device(Driver *driver, Device *device, int64_t extent, int64_t beside) {
    const UnetModel *model = driver->model;
    const UnetOptions *options = &driver->options;
    char path[UNET_PATH_BYTES];
    UnetEngineFile file = {.path = options->engines, .required = options->engines != NULL};
    *device = (Device){.model = NULL};
    if (model->device == NULL && (options->tune || file.required))
        return refuse_processor(driver, options->tune ? "--tune" : "--engines");
    if (model->device == NULL)
        return device_open(device, model, extent, beside, NULL, &driver->error);
    const bool alone = ranks_alone(&driver->ranks);
    if (options->tune && !alone)
        return unet_fail(&driver->error, UNET_USAGE,
                         "--tune is for one process: run `%s tune` before several train", model->name);
    if (!alone) {
        UnetStatus status = model->device->choose(driver->ranks.place, &driver->error);
        if (status != UNET_OK)
            return status;
    }
    if (!file.required) {
        file.path = path;
        UnetStatus status = engines_path(driver, path, &driver->error);
        if (status != UNET_OK)
            return status;
    }
    UnetStatus status = open_tuned(driver, device, extent, beside, &file);
    if (status == UNET_OK && model->device->uses_file(device->state))
        (void)fprintf(stderr, "engines: %s\n", file.path);
    return status;
}

/* ---- the command --------------------------------------------------------------------------------------
 */

UnetStatus driver_tune(Driver *driver) {
    const UnetModel *model = driver->model;
    Device device = {.model = NULL};
    char path[UNET_PATH_BYTES];
    if (model->device == NULL)
        return refuse_processor(driver, "tune");
    UnetStatus status = run_folder_make(run_folder(driver), &driver->error);
    if (status == UNET_OK)
        status = engines_path(driver, path, &driver->error);
    if (status == UNET_OK)
        status = device_open(&device, model, model->arena_bytes, 0, NULL, &driver->error);
    if (status == UNET_OK)
        status = measure(driver, &device, path, true);
    device_close(&device);
    return status;
}
