/* eval.c - the commands `eval`, which measures weights on the evaluation data, and `check-data`. */
#include "eval_report.h"
#include "eval_windows.h"
#include "unet/words.h"

#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

const char *data_folder(const Driver *driver) {
    return driver->options.data != NULL ? driver->options.data : ".";
}

static void tell(void *context, const char *note) {
    (void)context;
    (void)fprintf(stderr, "%s\n", note);
}

UnetDataPlace data_place(Driver *driver, const char *folder) {
    driver->problems.all = driver->options.all;
    driver->problems.silent = driver->ranks.rank > 0;
    return (UnetDataPlace){.folder = folder != NULL ? folder : data_folder(driver),
                           .cache = driver->options.cache,
                           .fold = (int32_t)(driver->options.fold > 0 ? driver->options.fold : 0),
                           .note = tell,
                           .skip = driver->options.skip_bad ? problems_hear : NULL,
                           .context = &driver->problems};
}

bool evaluation_exists(const Driver *driver) {
    const UnetModel *model = driver->model;
    const bool given = driver->options.eval_data != NULL && model->eval != NULL;
    return given || unet_dataset_exists(model, UNET_EVALUATION);
}

/* For the command `eval`, which needs no data of evaluation in the file: all of a folder will do. */
static bool can_measure(const Driver *driver) {
    const UnetModel *model = driver->model;
    return model->eval != NULL && model->data != NULL && model->data->nsource > 0;
}

UnetStatus check_fold(Driver *driver) {
    const UnetModel *model = driver->model;
    const int64_t fold = driver->options.fold;
    if (fold < 0 || (model->data != NULL && model->data->folds > 0))
        return UNET_OK;
    return unet_fail(&driver->error, UNET_USAGE,
                     "`--fold=%" PRId64
                     "`: the data of %s has no folds: write `folds 5` in the section `data`",
                     fold, model->source);
}

UnetStatus evaluation_open_as(Driver *driver, const UnetModel *model, bool own_size,
                              UnetDataset **dataset) {
    const char *own = driver->options.eval_data;
    if (own == NULL && !unet_dataset_exists(model, UNET_EVALUATION))
        own = data_folder(driver);
    UnetDataPlace place = data_place(driver, own);
    place.own_size = own_size;
    return own != NULL ? unet_dataset_open_evaluation(dataset, model, place, &driver->error)
                       : unet_dataset_open(dataset, model, UNET_EVALUATION, place, &driver->error);
}

UnetStatus evaluation_open(Driver *driver, UnetDataset **dataset) {
    return evaluation_open_as(driver, driver->model, false, dataset);
}

/* ---- eval ------------------------------------------------------------------------------------- */

typedef struct {
    UnetDataset *data;
    UnetLoader *loader;
    Device device;
    Tally tally;
    bool windows;         /* whole volumes, see eval_windows.c */
    WholePictures *whole; /* whole pictures, see eval_pictures.c; NULL: as large as the program takes */
    EvalReport report;    /* that --report asks for */
} Evaluation;

/* A folder of new pictures that is named by --data shows a part of them alone. */
static void note_held(const Driver *driver, const UnetDataset *data) {
    const UnetModel *model = driver->model;
    const bool own = model->eval_data != NULL && model->eval_data->nsource > 0;
    const int samples = (int)unet_dataset_samples(data);
    if (driver->options.eval_data == NULL && !own)
        (void)fprintf(
            stderr,
            "`%s` keeps %d sample%s from training, which %s measured; --eval-data=DIR measures all "
            "of a folder\n",
            model->data->folds > 0 ? "folds" : "holdout", samples, unet_plural(samples),
            samples == 1 ? "is" : "are");
}

/* Whether a volume of DATA is larger than evaluation was compiled for. */
static bool has_larger_volumes(const UnetModel *model, const UnetDataset *data) {
    bool larger = false;
    for (int32_t s = 0; s < unet_dataset_samples(data); s++) {
        int32_t size[3];
        unet_dataset_volume_size(data, s, size);
        for (int k = 0; k < 3; k++)
            larger |= size[k] > model->eval->size[k];
    }
    return larger;
}

/* Whether `predict` takes volumes by windows, all or the larger ones, and a metric of them can be measured.
 */
static bool measures_windows(const UnetModel *model, const UnetDataset *data) {
    bool any = false;
    for (int i = 0; i < model->nresult; i++)
        any |= windows_measure(model, i);
    return any && model->predict != NULL && model->inputs[0].kind == UNET_VOLUME &&
           (model->predict->windows->given || has_larger_volumes(model, data));
}

/* The data as the program takes it, or, where pictures are larger, as they are. */
static UnetStatus open_data(Evaluation *evaluation, Driver *driver) {
    UnetError first;
    UnetStatus status = evaluation_open(driver, &evaluation->data), found;
    memcpy(&first, &driver->error, sizeof first);
    found = whole_pictures_open(&evaluation->whole, driver, evaluation->data);
    if (evaluation->whole == NULL && status != UNET_OK)
        memcpy(&driver->error, &first, sizeof first);
    return evaluation->whole != NULL ? UNET_OK : status != UNET_OK ? status : found;
}

/* The arena has room for prediction, too, where a page shows pictures. */
static int64_t extent_of(const Evaluation *evaluation, const Driver *driver) {
    const UnetProgram *eval = driver->model->eval, *predict = driver->model->predict;
    if (evaluation->whole != NULL)
        return predict->extent;
    const bool both = driver->options.report && predict != NULL && predict->extent > eval->extent;
    return both ? predict->extent : eval->extent;
}

/* The arena, with the weights; the caller will take BESIDE bytes more. */
static UnetStatus start_device(Evaluation *evaluation, Driver *driver, int64_t beside) {
    UnetStatus status =
        driver_open_device(driver, &evaluation->device, extent_of(evaluation, driver), beside);
    if (status == UNET_OK)
        status = run_load_weights(driver, evaluation->device.arena);
    return status == UNET_OK ? device_push_weights(&evaluation->device, &driver->error) : status;
}

static UnetStatus start_loader(Evaluation *evaluation, Driver *driver, const UnetDataset *data) {
    const UnetModel *model = driver->model;
    UnetError *error = &driver->error;
    const UnetDataset *const datasets[] = {data};
    int32_t threads = unet_loader_threads(model);
    int64_t beside;
    int32_t slots = loader_slots(model, datasets, 1, threads, extent_of(evaluation, driver), &beside);
    UnetStatus status = start_device(evaluation, driver, beside);
    if (status == UNET_OK)
        status = unet_loader_create(&evaluation->loader, model, datasets, 1, threads, slots, error);
    if (status == UNET_OK)
        device_reads_from(&evaluation->device, evaluation->loader);
    if (status == UNET_OK)
        status = device_try_threads(&evaluation->device, driver->threads, error);
    return status;
}

static UnetDataset *data_of(const Evaluation *evaluation) {
    return evaluation->whole != NULL ? whole_pictures_data(evaluation->whole) : evaluation->data;
}

/* Prepares what measures DATA, and says how that is done. */
static UnetStatus start_measuring(Evaluation *evaluation, Driver *driver, const UnetDataset *data) {
    const UnetModel *model = driver->model;
    char size[UNET_SIZE_TEXT];
    evaluation->windows = measures_windows(model, data);
    if (evaluation->windows) {
        (void)fprintf(stderr, "whole volumes, by windows that overlap: what `predict` makes is measured, "
                              "and no loss\n");
        return UNET_OK;
    }
    if (evaluation->whole == NULL)
        return start_loader(evaluation, driver, data);
    if (model->measures_original)
        (void)fprintf(stderr, "pictures at their own size: ");
    else
        (void)fprintf(
            stderr, "whole %s, of which some are larger than the %s of evaluation: ",
            model->inputs[0].kind == UNET_SIGNAL ? "signals" : "pictures",
            unet_size_text(model->inputs[0].kind, model->eval->size[1], model->eval->size[2], size));
    (void)fprintf(stderr, "metrics of classes, mse, l1 and psnr of what `predict` makes are measured\n");
    return start_device(evaluation, driver, 0);
}

/* As which samples are read: tallies are of this one. */
static const UnetModel *model_of(const Evaluation *evaluation, const Driver *driver) {
    return evaluation->whole != NULL ? whole_pictures_model(evaluation->whole) : driver->model;
}

static UnetStatus start(Evaluation *evaluation, Driver *driver) {
    const UnetModel *model = driver->model;
    UnetStatus status = check_fold(driver);
    char trained[UNET_PATH_BYTES];
    const bool elsewhere = driver->options.eval_data == NULL && run_data_elsewhere(driver, trained);
    if (elsewhere)
        driver->options.eval_data = data_folder(driver);
    if (status == UNET_OK)
        status = open_data(evaluation, driver);
    problems_end(&driver->problems);
    if (status != UNET_OK)
        return status;
    UnetDataset *data = data_of(evaluation);
    if (driver->problems.count > 0)
        (void)fprintf(stderr,
                      "note: %" PRId64 " problem%s with files: --skip-bad measures %" PRId32
                      " samples without them\n",
                      driver->problems.count, unet_plural(driver->problems.count),
                      unet_dataset_samples(data));
    if (driver->options.eval_data == NULL && !unet_dataset_exists(model, UNET_EVALUATION))
        (void)fprintf(stderr, "%s holds nothing back for evaluation: all samples of %s are measured\n",
                      model->source, data_folder(driver));
    else if (elsewhere)
        (void)fprintf(stderr, "the run was trained on %s: all samples of %s are measured\n", trained,
                      data_folder(driver));
    else
        note_held(driver, data);
    unet_dataset_notes(data, tell, NULL);
    unet_dataset_normalize(data, driver->normal);
    if (driver->options.report)
        status = eval_report_open(&evaluation->report, driver, model_of(evaluation, driver), data);
    if (driver->options.report && evaluation->whole != NULL)
        whole_pictures_predicted(evaluation->whole, &evaluation->report.shown_model,
                                 &evaluation->report.shown);
    if (status == UNET_OK)
        status = start_measuring(evaluation, driver, data);
    return status == UNET_OK
               ? tally_create(&evaluation->tally, model_of(evaluation, driver), &driver->error)
               : status;
}

/* As a person reads it: decibels to two decimals; --format=csv and json have all digits. */
static void print_value(const char *name, double value, bool decibels) {
    (void)printf(decibels ? "%s %.2f dB\n" : "%s %.4g\n", name, value);
}

/* "psnr(noisy, clean)", the value of doing nothing. */
static void identity_name(const UnetModel *model, const UnetResult *result, char *name, size_t size) {
    (void)snprintf(name, size, "%s(%s, %s)", result->metric, model->inputs[result->identity_input].name,
                   model->inputs[result->target_input].name);
}

/* One measure a line: name, value, and for a metric that has one the value of doing nothing and the gain.
 */
static void print_results(const Tally *tally) {
    (void)printf("samples %" PRId64 "\n", tally->samples);
    for (int i = 0; i < tally->model->nresult; i++) {
        const UnetResult *result = &tally->model->results[i];
        double value = tally_value(tally, i), identity = tally_identity(tally, i);
        const bool decibels = strcmp(result->metric, "psnr") == 0;
        char same[192];
        if (isnan(value))
            continue;
        print_value(result->name, value, decibels);
        if (isnan(identity))
            continue;
        identity_name(tally->model, result, same, sizeof same);
        print_value(same, identity, decibels);
        print_value("gain", value - identity, decibels);
    }
}

/* ---- image by image ---- */

/* Writes what was measured of each image: a line of CSV, or an object of an array in JSON. */
typedef struct {
    TallyListener listener;
    const UnetDataset *data;
    json_t *images; /* NULL: CSV */
} ImageByImage;

/* A name in quotes, those in it doubled. */
static void print_quoted(const char *name) {
    (void)putchar('"');
    for (; *name != '\0'; name++)
        (void)printf(*name == '"' ? "\"\"" : "%c", *name);
    (void)putchar('"');
}

static void print_head(const UnetModel *model) {
    char same[192];
    (void)printf("image");
    for (int i = 0; i < model->nresult; i++) {
        (void)putchar(',');
        print_quoted(model->results[i].name);
    }
    for (int i = 0; i < model->nresult; i++)
        if (tally_has_identity(model->eval, &model->results[i])) {
            identity_name(model, &model->results[i], same, sizeof same);
            (void)putchar(',');
            print_quoted(same);
        }
    (void)printf("\n");
}

static void print_number(double value) {
    (void)printf(isnan(value) ? "," : ",%.9g", value);
}

static void print_line(const Tally *tally, const char *image) {
    const UnetModel *model = tally->model;
    print_quoted(image);
    for (int i = 0; i < model->nresult; i++)
        print_number(tally_value(tally, i));
    for (int i = 0; i < model->nresult; i++)
        if (tally_has_identity(model->eval, &model->results[i]))
            print_number(tally_identity(tally, i));
    (void)printf("\n");
}

static void set_value(json_t *values, const char *name, double value) {
    (void)json_object_set_new(values, name, isfinite(value) ? json_real(value) : json_null());
}

/* Not measured: null. */
static json_t *values_json(const Tally *tally) {
    json_t *values = json_object();
    const UnetModel *model = tally->model;
    char same[192];
    for (int i = 0; i < model->nresult; i++) {
        set_value(values, model->results[i].name, tally_value(tally, i));
        if (tally_has_identity(model->eval, &model->results[i])) {
            identity_name(model, &model->results[i], same, sizeof same);
            set_value(values, same, tally_identity(tally, i));
        }
    }
    return values;
}

static void hear_image(TallyListener *listener, const Tally *of_image, int64_t first) {
    ImageByImage *images = (ImageByImage *)listener;
    const char *name = unet_dataset_name(images->data, (int32_t)first);
    if (images->images == NULL)
        print_line(of_image, name);
    else
        (void)json_array_append_new(
            images->images, json_pack("{s:s, s:o}", "image", name, "values", values_json(of_image)));
}

/* LISTENER, which may be NULL, hears of it behind the page. */
static UnetStatus evaluate_all(Evaluation *evaluation, Driver *driver, TallyListener *listener) {
    Device *device = &evaluation->device;
    Tally *tally = &evaluation->tally;
    if (driver->options.report) {
        evaluation->report.next = listener;
        listener = &evaluation->report.listener;
    }
    if (evaluation->windows)
        return evaluate_windows(driver, evaluation->data, tally, listener);
    if (evaluation->whole != NULL)
        return whole_pictures_evaluate(evaluation->whole, device, tally, listener);
    return tally_evaluate(tally, evaluation->loader, evaluation->data, device, driver->threads, listener,
                          NULL, &driver->error);
}

static UnetStatus evaluate_images(Evaluation *evaluation, Driver *driver, UnetError *error) {
    const bool csv = strcmp(driver->options.format, "csv") == 0;
    ImageByImage images = {.listener = {.hear = hear_image}, .data = data_of(evaluation)};
    if (driver->model->eval->batch != 1 && !evaluation->windows && evaluation->whole == NULL)
        return unet_fail(error, UNET_USAGE,
                         "--format=%s measures image by image: write `batch 1` in the section `eval`",
                         driver->options.format);
    UnetStatus status = tally_listener_create(&images.listener, evaluation->tally.model, error);
    images.images = csv ? NULL : json_array();
    if (status == UNET_OK && csv)
        print_head(driver->model);
    if (status == UNET_OK)
        status = evaluate_all(evaluation, driver, &images.listener);
    if (status == UNET_OK && !csv) {
        json_t *all = json_pack("{s:s, s:I, s:O, s:o}", "schema", "unet-eval/1", "samples",
                                (json_int_t)evaluation->tally.samples, "images", images.images, "all",
                                values_json(&evaluation->tally));
        (void)json_dumpf(all, stdout, JSON_INDENT(1));
        (void)printf("\n");
        json_decref(all);
    }
    json_decref(images.images);
    tally_listener_destroy(&images.listener);
    return status;
}

static UnetStatus write_report(Evaluation *evaluation, Driver *driver) {
    Device *device = evaluation->windows ? NULL : &evaluation->device;
    return eval_report_write(&evaluation->report, driver, &evaluation->tally, device,
                             device == NULL ? "samples are volumes" : NULL);
}

UnetStatus driver_eval(Driver *driver) {
    Evaluation evaluation = {.data = NULL};
    if (!evaluation_exists(driver) && !can_measure(driver))
        return unet_fail(
            &driver->error, UNET_USAGE,
            "this program does not evaluate: %s has no `train` section with data, --programs leaves "
            "evaluation out, or it would take more memory than all else: compile without --programs, or "
            "with a "
            "section `eval`",
            driver->model->source);
    UnetStatus status = start(&evaluation, driver);
    const bool in_all = strcmp(driver->options.format, "text") == 0;
    if (status == UNET_OK && !in_all)
        status = evaluate_images(&evaluation, driver, &driver->error);
    else if (status == UNET_OK)
        status = evaluate_all(&evaluation, driver, NULL);
    if (status == UNET_OK && in_all)
        print_results(&evaluation.tally);
    if (status == UNET_OK && driver->options.report)
        status = write_report(&evaluation, driver);
    eval_report_close(&evaluation.report);
    tally_destroy(&evaluation.tally);
    device_close(&evaluation.device);
    unet_loader_destroy(evaluation.loader);
    unet_dataset_close(evaluation.data);
    whole_pictures_close(evaluation.whole);
    return status;
}

/* ---- check-data ------------------------------------------------------------------------------- */

static void print_note(void *context, const char *note) {
    (void)context;
    (void)printf("%s\n", note);
}

UnetStatus driver_check_data(Driver *driver) {
    UnetDataCheck check = {.files = 0};
    if (!unet_dataset_exists(driver->model, UNET_TRAINING) &&
        !unet_dataset_exists(driver->model, UNET_EVALUATION))
        return unet_fail(&driver->error, UNET_USAGE,
                         "nothing to check: %s has no `data` section, or was compiled without training",
                         driver->model->source);
    UnetStatus status = unet_check_data(driver->model, data_place(driver, NULL), problems_hear, print_note,
                                        &driver->problems, &check, &driver->error);
    problems_end(&driver->problems);
    if (status != UNET_OK)
        return status;
    (void)printf("%" PRId64 " sample%s in `data`, ", check.samples[UNET_TRAINING],
                 unet_plural(check.samples[UNET_TRAINING]));
    if (check.samples[UNET_EVALUATION] > 0)
        (void)printf("%" PRId64 " in `eval`, ", check.samples[UNET_EVALUATION]);
    (void)printf("%" PRId64 " file%s\n", check.files, unet_plural(check.files));
    const int64_t problems =
        driver->problems.count; /* a file of `data` and of `eval` has its problem once */
    if (problems > 0 && driver->options.skip_bad)
        (void)printf("%" PRId64 " problem%s: `train --skip-bad` leaves these samples out\n", problems,
                     unet_plural(problems));
    else if (problems > 0)
        return unet_fail(&driver->error, UNET_IO, "%" PRId64 " problem%s in the data of %s%s", problems,
                         unet_plural(problems), driver->model->source,
                         check.samples[UNET_TRAINING] > 0 && problems < check.samples[UNET_TRAINING]
                             ? "; `train --skip-bad` goes on without such samples"
                             : "");
    return UNET_OK;
}
