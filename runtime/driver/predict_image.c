/* predict_image.c - one image through the model.
 *
 * The image is padded to the compiled size, behind its last row and column and as the model's file says
 * (`pad`), and the result is cropped back.  If the program takes images of any height, one that is
 * higher is padded to whole units; it is read, computed and written band by band.  Else the image goes
 * through at once.  One that is larger goes by windows (predict_tiles.c).  Results have the depth of their
 * input, 8 or 16 bits.
 */
#include "predict.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "unet/layout.h"

/* Behind the traits in Prediction.told: that a result has fewer bits than its input; that windows are
 * blended.
 */
enum { TOLD_BITS = 1 << UNET_IMAGE_TRAITS, TOLD_BLENDED = 2 << UNET_IMAGE_TRAITS };

/* An image on its way. */
typedef struct {
    Prediction *prediction;
    UnetImageReader *reader;
    const char *path;   /* of the file */
    Ends *ends;         /* in place of files; or NULL */
    UnetImageInfo info; /* of the input */
    int32_t units;      /* of the padded image */
    int32_t kept;       /* of the last rows of the file, as many as padding may repeat, */
    float *last_rows;   /*   row h at place h mod `kept` */
} Passage;

/* ---- memory ----------------------------------------------------------------------------------- */

static const UnetLayout *input_layout(const Prediction *prediction) {
    return &prediction->program->inputs[prediction->input];
}

/* Without bands all rows are one. */
static UnetBand band_of(const UnetBand *band, int i, const UnetLayout *layout) {
    return band != NULL ? band[i] : (UnetBand){layout->size[1], 0, layout->size[1]};
}

UnetBand prediction_input_band(const Prediction *prediction) {
    return band_of(prediction->program->input_bands, prediction->input, input_layout(prediction));
}

UnetBand prediction_output_band(const Prediction *prediction, int i) {
    return band_of(prediction->program->output_bands, i, &prediction->program->outputs[i]);
}

UnetStep prediction_step(const Prediction *prediction) {
    return (UnetStep){.arena = prediction->device.arena,
                      .inputs = prediction->inputs,
                      .n = 1,
                      .threads = prediction->driver->threads,
                      .units = prediction->program->size[1] / prediction_input_band(prediction).of_unit,
                      .bands = 1};
}

static bool takes_any_height(const Prediction *prediction) {
    return prediction->program->units > 0;
}

/* Elements of the longest row of the input or of an output. */
static size_t longest_row(const Prediction *prediction) {
    const UnetProgram *program = prediction->program;
    const UnetLayout *input = input_layout(prediction);
    size_t longest = (size_t)input->channels * (size_t)input->size[2];
    for (int i = 0; i < prediction->driver->model->noutput; i++) {
        size_t row = (size_t)program->outputs[i].channels * (size_t)program->outputs[i].size[2];
        longest = row > longest ? row : longest;
    }
    return longest;
}

const UnetImageWay *prediction_way(const Prediction *prediction) {
    return &prediction->driver->model->inputs[prediction->input].way;
}

bool prediction_restores(const Prediction *prediction) {
    return prediction_way(prediction)->fit != UNET_FIT_NONE &&
           strcmp(prediction->driver->options.size, "network") != 0;
}

char *prediction_input(const Prediction *prediction) {
    const int64_t *offset = prediction->program->input_offsets;
    return offset == NULL ? prediction->staged : prediction->device.arena + offset[prediction->input];
}

/* BESIDE: bytes that the caller will take. */
static UnetStatus take_device(Prediction *prediction, int64_t beside) {
    Driver *driver = prediction->driver;
    const int64_t extent = prediction->program->extent;
    if (prediction->lent == NULL)
        return driver_open_device(driver, &prediction->device, extent, beside);
    if (prediction->lent->extent < extent)
        return unet_fail(&driver->error, UNET_TOO_SMALL, "the arena has no room for prediction");
    prediction->device = *prediction->lent;
    return UNET_OK;
}

UnetStatus prediction_open(Prediction *prediction) {
    const UnetModel *model = prediction->driver->model;
    const UnetLayout *layout = input_layout(prediction);
    const bool stages = prediction->program->input_offsets == NULL;
    UnetError *error = &prediction->driver->error;
    UnetStatus status = take_device(prediction, stages ? layout->sample_bytes : 0);
    if (status == UNET_OK && stages)
        status = arena_take(&prediction->staged, layout->sample_bytes, 0, error);
    if (status != UNET_OK)
        return status;
    prediction->inputs = calloc((size_t)model->ninput, sizeof *prediction->inputs);
    prediction->row = calloc(longest_row(prediction), sizeof *prediction->row);
    prediction->normal = calloc(longest_row(prediction), sizeof *prediction->normal);
    prediction->from = calloc((size_t)layout->size[2], sizeof *prediction->from);
    prediction->file = calloc((size_t)model->noutput + 1, sizeof *prediction->file);
    if (prediction->inputs == NULL || prediction->row == NULL || prediction->normal == NULL ||
        prediction->from == NULL || prediction->file == NULL)
        return unet_fail(error, UNET_TOO_SMALL, "no memory for a row of the image");
    prediction->inputs[prediction->input] = prediction->staged;
    return device_try_threads(&prediction->device, prediction->driver->threads, error);
}

void prediction_close(Prediction *prediction) {
    if (prediction->lent == NULL)
        device_close(&prediction->device);
    else if (prediction->device.model != NULL)
        prediction->lent->prepared = prediction->device.prepared;
    arena_give_back(prediction->staged, input_layout(prediction)->sample_bytes);
    free(prediction->inputs);
    free(prediction->row);
    free(prediction->normal);
    free(prediction->from);
    free(prediction->file);
}

/* ---- in --------------------------------------------------------------------------------------- */

int64_t prediction_size_like(int32_t here, int32_t compiled) {
    int64_t multiple = 1;
    while (multiple < 32 && compiled % (2 * multiple) == 0)
        multiple *= 2;
    return ((int64_t)here + multiple - 1) / multiple * multiple;
}

static UnetStatus fail_large(const Prediction *prediction, const char *path, const UnetImageInfo *info) {
    const int32_t *size = prediction->program->size;
    const char *source = prediction->driver->model->source;
    const bool any_height = takes_any_height(prediction), high = info->height > size[1] && !any_height;
    const int64_t h = high ? prediction_size_like(info->height, size[1]) : size[1];
    const int64_t w = info->width > size[2] ? prediction_size_like(info->width, size[2]) : size[2];
    char most[64];
    if (any_height)
        (void)snprintf(most, sizeof most, "a width of %" PRId32, size[2]);
    else
        (void)snprintf(most, sizeof most, "%" PRId32 " x %" PRId32, size[1], size[2]);
    return unet_fail(
        &prediction->driver->error, UNET_IO,
        "%s is %" PRId32 " x %" PRId32
        " (height x width), and the program was compiled for at most %s: write "
        "`predict { size %lld, %lld }` in %s, or compile a program for this alone: `unetc "
        "--programs=predict --size=%lldx%lld -o PROGRAM %s`%s",
        path, info->height, info->width, most, (long long)h, (long long)w, source, (long long)h,
        (long long)w, source,
        any_height ? "" : "; `--bands=4` makes it take any height, where the network can go row by row");
}

/* Whether an image goes through at once, or, where the program has bands, in one sweep. */
static bool goes_whole(const Prediction *prediction, const UnetImageInfo *info) {
    const UnetProgram *program = prediction->program;
    const bool asked = program->windows != NULL && program->windows->given;
    return !asked && info->width <= program->size[2] &&
           (info->height <= program->size[1] || takes_any_height(prediction));
}

static UnetStatus check_size(const Prediction *prediction, const UnetImageInfo *info, const char *path) {
    return prediction->program->windows != NULL || goes_whole(prediction, info)
               ? UNET_OK
               : fail_large(prediction, path, info);
}

UnetStatus prediction_check_size(const Prediction *prediction, const char *in) {
    struct stat found;
    UnetImageInfo info;
    if (stat(in, &found) == 0 && !S_ISREG(found.st_mode))
        return UNET_OK;
    UnetImageReader *reader;
    UnetStatus status = unet_image_open_as(NULL, prediction_way(prediction), &reader, in,
                                           input_layout(prediction)->channels, &prediction->driver->error);
    if (reader == NULL)
        return status;
    info = unet_image_info(reader);
    status = unet_image_check_end(reader, &prediction->driver->error);
    unet_image_close(reader);
    return status == UNET_OK ? check_size(prediction, &info, in) : status;
}

/* Row H of the padded image from ROW, of WIDTH real points. */
static void store_row(const Prediction *prediction, int32_t h, const float *row, int32_t width) {
    const UnetLayout *layout = input_layout(prediction);
    UnetPad pad = prediction->driver->model->predict_pad;
    for (int32_t x = 0; x < layout->size[2]; x++)
        prediction->from[x] = unet_pad_index(pad, x, width);
    const Driver *driver = prediction->driver;
    float zero[UNET_MOST_NORMALIZED] = {0};
    const float *beside = NULL;
    if (driver->model->inputs[prediction->input].normalizing != UNET_AS_READ && !prediction->normalized) {
        const UnetNormal *normal = &driver->normal[prediction->input];
        unet_normalize(normal, layout->channels, (size_t)width, (size_t)width, row, prediction->normal);
        unet_normalize(normal, layout->channels, 1, 1, zero, zero);
        row = prediction->normal;
        beside = zero;
    }
    unet_layout_store_row(layout, prediction_input(prediction), 0, 0, h, row, width, prediction->from,
                          beside);
}

static float *last_row(const Passage *p, int32_t h) {
    return p->last_rows + (size_t)(h % p->kept) * longest_row(p->prediction);
}

/* Missing numbers of the row that was read become a number, as in training. */
static UnetStatus settle_row(const Passage *p, float *row) {
    const Prediction *prediction = p->prediction;
    const UnetImageWay *way = prediction_way(prediction);
    const size_t count = (size_t)input_layout(prediction)->channels * (size_t)p->info.width;
    if (!unet_settle_missing(way, row, count))
        return unet_fail_missing(p->path, &prediction->driver->error);
    for (size_t i = 0; way->missing == UNET_MISSING_IGNORED && i < count; i++)
        row[i] = isnan(row[i]) ? 0 : row[i];
    return UNET_OK;
}

/* The next row of the file is row H. */
static UnetStatus bring_row(const Passage *p, int32_t h) {
    const Prediction *prediction = p->prediction;
    UnetError *error = &prediction->driver->error;
    UnetStatus status = p->ends != NULL ? p->ends->read(p->ends, prediction->row, error)
                                        : unet_image_read_row(p->reader, prediction->row, error);
    if (status == UNET_OK && p->ends == NULL)
        status = settle_row(p, prediction->row);
    if (status != UNET_OK)
        return status;
    memcpy(last_row(p, h), prediction->row, longest_row(prediction) * sizeof *prediction->row);
    store_row(prediction, h, prediction->row, p->info.width);
    return UNET_OK;
}

/* Row H lies behind the last of the file. */
static void pad_row(const Passage *p, int32_t h) {
    const Prediction *prediction = p->prediction;
    const int32_t source = unet_pad_index(prediction->driver->model->predict_pad, h, p->info.height);
    if (source < 0)
        memset(prediction->row, 0, longest_row(prediction) * sizeof *prediction->row);
    store_row(prediction, h, source < 0 ? prediction->row : last_row(p, source), p->info.width);
}

/* Row END of band B of a tensor: that behind its last. */
static int32_t band_end(const Passage *p, UnetBand band, int64_t b) {
    return unet_band_end(&band, b, p->units);
}

static UnetStatus bring_band(const Passage *p, int32_t b) {
    const UnetBand band = prediction_input_band(p->prediction);
    UnetStatus status = UNET_OK;
    for (int32_t h = band_end(p, band, b - 1); h < band_end(p, band, b) && status == UNET_OK; h++) {
        if (h < p->info.height)
            status = bring_row(p, h);
        else
            pad_row(p, h);
    }
    return status;
}

/* ---- out -------------------------------------------------------------------------------------- */

/* The rate of output I of a signal; an output of twice the points has twice the rate. */
static int32_t rate_of(const Passage *p, int i) {
    const UnetProgram *program = p->prediction->program;
    const int64_t rate = (int64_t)p->info.rate * program->outputs[i].size[2] / program->size[2];
    return rate < INT32_MAX ? (int32_t)rate : INT32_MAX;
}

/* Output I for an image of SIZE: it is cropped in the proportion that its size has to the input. */
static UnetImageInfo info_for(const Passage *p, int i, const int32_t size[2]) {
    const UnetProgram *program = p->prediction->program;
    const UnetLayout *layout = &program->outputs[i];
    const bool labels = p->prediction->driver->model->outputs[i].kind == UNET_LABELS;
    return (UnetImageInfo){
        .channels = labels ? 1 : layout->channels,
        .bits = labels ? 8 : p->info.bits,
        .rate = rate_of(p, i),
        .signal = p->prediction->driver->model->inputs[p->prediction->input].kind == UNET_SIGNAL,
        .palette = labels,
        .height = (int32_t)((int64_t)size[0] * layout->size[1] / program->size[1]),
        .width = (int32_t)((int64_t)size[1] * layout->size[2] / program->size[2]),
    };
}

/* As the network makes it. */
static UnetImageInfo output_info(const Passage *p, int i) {
    return info_for(p, i, (const int32_t[]){p->info.height, p->info.width});
}

/* As it is written: in the size of the file, unless --size=network keeps the network's. */
static UnetImageInfo written_info(const Passage *p, int i) {
    return prediction_restores(p->prediction) ? info_for(p, i, p->info.own) : output_info(p, i);
}

/* As --bits says, else as many as such a file has, else as many as the input has. */
static int32_t written_bits(const Passage *p, const char *path) {
    const int32_t asked = (int32_t)p->prediction->driver->options.bits;
    return asked > 0 ? unet_image_bits(path, asked) : unet_image_bits_unasked(path, p->info.bits);
}

static UnetStatus write_restored(RowTaker *taker, const float *row, UnetError *error) {
    return unet_image_write_row(((OutputFile *)taker)->writer, row, error);
}

static UnetStatus write_row(OutputFile *file, const float *row, UnetError *error) {
    return file->restore != NULL ? restore_put(file->restore, row, error)
                                 : unet_image_write_row(file->writer, row, error);
}

/* Said once: that PATH has fewer bits of a number than its input. */
static void tell_bits(Prediction *prediction, const char *path, int32_t bits, const char *in,
                      int32_t of_input) {
    if (bits >= of_input)
        return;
    if (prediction->driver->options.bits == 0 && (prediction->told & TOLD_BITS) == 0)
        (void)fprintf(stderr, "%s holds %" PRId32 " bits of a number, and %s has %" PRId32 "\n", path, bits,
                      in, of_input);
    prediction->told |= TOLD_BITS;
}

static UnetStatus begin_output(const Passage *p, const char *in, int i) {
    Prediction *prediction = p->prediction;
    UnetError *error = &prediction->driver->error;
    OutputFile *file = &prediction->file[i];
    UnetImageInfo made = output_info(p, i), info = written_info(p, i);
    char path[UNET_PATH_BYTES];
    UnetStatus status = output_path(prediction, in, i, path);
    if (status != UNET_OK)
        return status;
    if (!info.palette)
        info.bits = written_bits(p, path);
    if (p->info.rate == 0 || !unet_image_is_signal(path)) /* nobody knows the bits of a signal */
        tell_bits(prediction, path, info.bits, in, made.bits);
    if (info.height < 1 || info.width < 1 || made.height < 1 || made.width < 1)
        return unet_fail(error, UNET_IO, "%s: the input is too small for a single point of output", path);
    *file = (OutputFile){.taker = {write_restored}};
    if (info.height != made.height || info.width != made.width)
        status = restore_open(&file->restore, &made, &info, &file->taker, error);
    return status == UNET_OK ? unet_image_create(&file->writer, path, &info, error) : status;
}

static UnetStatus begin_outputs(const Passage *p, const char *in) {
    UnetStatus status = UNET_OK;
    for (int i = 0; i < p->prediction->driver->model->noutput && status == UNET_OK; i++)
        status = begin_output(p, in, i);
    return status;
}

/* Planes close up where the row was cropped. */
static UnetStatus take_row(const Passage *p, int i, int32_t h) {
    const Prediction *prediction = p->prediction;
    const UnetLayout *layout = &prediction->program->outputs[i];
    const size_t width = (size_t)output_info(p, i).width;
    unet_layout_load_row(layout, prediction->device.arena + prediction->program->output_offsets[i], 0, 0, h,
                         prediction->row);
    for (size_t c = 1; c < (size_t)layout->channels; c++)
        memmove(prediction->row + c * width, prediction->row + c * (size_t)layout->size[2],
                width * sizeof *prediction->row);
    UnetError *error = &prediction->driver->error;
    return p->ends != NULL ? p->ends->write(p->ends, i, prediction->row, error)
                           : write_row(&prediction->file[i], prediction->row, error);
}

/* The rows of band B of all outputs; *DONE: these were the last. */
static UnetStatus take_band(Passage *p, int32_t b, bool *done) {
    Prediction *prediction = p->prediction;
    const UnetProgram *program = prediction->program;
    UnetStatus status = UNET_OK;
    *done = true;
    for (int i = 0; i < prediction->driver->model->noutput && status == UNET_OK; i++) {
        const UnetBand band = prediction_output_band(prediction, i);
        const int32_t height = output_info(p, i).height, end = band_end(p, band, b);
        status = device_fetch(&prediction->device, program->output_offsets[i],
                              program->outputs[i].sample_bytes, &prediction->driver->error);
        for (int32_t h = band_end(p, band, b - 1); h < end && h < height && status == UNET_OK; h++)
            status = take_row(p, i, h);
        *done &= end >= height;
    }
    return status;
}

/* Puts the files where they belong, or, after a failure or a signal, nowhere. */
static UnetStatus end_outputs(const Passage *p, const char *in, UnetStatus status) {
    const Prediction *prediction = p->prediction;
    const bool whole = prediction->driver->stopped_by == 0;
    for (int i = 0; i < prediction->driver->model->noutput; i++) {
        char path[UNET_PATH_BYTES];
        UnetImageWriter *writer = prediction->file[i].writer;
        restore_close(prediction->file[i].restore);
        prediction->file[i] = (OutputFile){.writer = NULL};
        if (whole && status == UNET_OK)
            status = unet_image_finish(writer, &prediction->driver->error);
        else
            unet_image_discard(writer);
        if (whole && status == UNET_OK && output_path(prediction, in, i, path) == UNET_OK)
            (void)fprintf(stderr, "%s -> %s\n", in, path);
    }
    return status;
}

/* ---- one image -------------------------------------------------------------------------------- */

static UnetStatus pass(Passage *p) {
    Prediction *prediction = p->prediction;
    UnetStep step = prediction_step(prediction);
    UnetStatus status = UNET_OK;
    step.units = p->units;
    device_prepare(&prediction->device, prediction->program, &step);
    for (bool done = false; !done && status == UNET_OK && prediction->driver->stopped_by == 0;
         step.band++) {
        status = bring_band(p, step.band);
        if (status == UNET_OK)
            status =
                device_run(&prediction->device, prediction->program, &step, &prediction->driver->error);
        if (status == UNET_OK)
            status = take_band(p, step.band, &done);
        if (p->ends == NULL) /* else the caller looks: a signal is seen once */
            prediction->driver->stopped_by = signals_look();
    }
    return status;
}

/* ---- by windows ---- */

/* Files in place of rows in memory. */
typedef struct {
    Ends ends; /* first: what predict_tiles() calls gets it */
    const Passage *passage;
} FileEnds;

static UnetStatus read_file(Ends *ends, float *row, UnetError *error) {
    const Passage *p = ((FileEnds *)ends)->passage;
    const UnetStatus status = unet_image_read_row(p->reader, row, error);
    return status == UNET_OK ? settle_row(p, row) : status;
}

static UnetStatus write_file(Ends *ends, int i, const float *row, UnetError *error) {
    return write_row(&((FileEnds *)ends)->passage->prediction->file[i], row, error);
}

/* Said once: windows that are blended are not what the whole image would be. */
static void tell_blended(Prediction *prediction, const char *in, const UnetImageInfo *info) {
    const UnetProgram *program = prediction->program;
    const UnetWindows *windows = program->windows;
    const UnetKind kind = prediction->driver->model->inputs[prediction->input].kind;
    const int64_t height = prediction_size_like(info->height, program->size[1]),
                  width = prediction_size_like(info->width, program->size[2]);
    char text[2][UNET_SIZE_TEXT];
    if (tiles_are_exact(program) || windows->given || (prediction->told & TOLD_BLENDED) != 0)
        return;
    prediction->told |= TOLD_BLENDED;
    (void)fprintf(stderr, "%s: %s goes by windows of %s that overlap and are blended: ", in,
                  unet_size_text(kind, info->height, info->width, text[0]),
                  unet_size_text(kind, program->size[1], program->size[2], text[1]));
    if (windows->sees_all != NULL)
        (void)fprintf(stderr, "%s (line %" PRId32 ") needs all of %s", windows->sees_all, windows->line,
                      kind == UNET_SIGNAL ? "a signal" : "an image");
    else
        (void)fprintf(stderr, "only in windows of more than %s points see all that they do in %s",
                      unet_size_text(kind, windows->reach[0].before + windows->reach[0].after,
                                     windows->reach[1].before + windows->reach[1].after, text[0]),
                      kind == UNET_SIGNAL ? "a signal" : "an image");
    if (kind == UNET_SIGNAL)
        (void)snprintf(text[0], sizeof text[0], "%" PRId64, width);
    else
        (void)snprintf(text[0], sizeof text[0], "%" PRId64 ", %" PRId64, height, width);
    (void)fprintf(stderr, "; `predict { size %s }` in %s computes all of it at once\n", text[0],
                  prediction->driver->model->source);
}

static UnetStatus pass_windows(Passage *p, const char *in) {
    FileEnds files = {.ends = {.read = read_file, .write = write_file}, .passage = p};
    tell_blended(p->prediction, in, &p->info);
    return predict_tiles(p->prediction, p->info.height, p->info.width, &files.ends, true);
}

/* ---- at once ---- */

/* The size of the padded image, and memory for what padding repeats. */
static UnetStatus choose_padding(Passage *p) {
    const Prediction *prediction = p->prediction;
    const int32_t of_unit = prediction_input_band(prediction).of_unit, height = p->info.height,
                  least = prediction->program->size[1] / of_unit;
    p->units = (height - 1) / of_unit + 1 > least ? (height - 1) / of_unit + 1 : least;
    const int64_t padded = (int64_t)p->units * of_unit - height + 1;
    p->kept = padded < height ? (int32_t)padded : height;
    p->last_rows = calloc((size_t)p->kept, longest_row(prediction) * sizeof *p->last_rows);
    if (p->last_rows == NULL)
        return unet_fail(&prediction->driver->error, UNET_TOO_SMALL, "no memory for rows of the image");
    return UNET_OK;
}

/* Each trait once, by the first image that has it. */
static void tell_traits(Prediction *prediction, const char *in, uint32_t traits) {
    for (int trait = 0; trait < UNET_IMAGE_TRAITS; trait++)
        if ((traits & ~prediction->told) >> trait & 1)
            (void)fprintf(stderr, "%s: %s\n", in, unet_image_trait(trait, input_layout(prediction)->type));
    prediction->told |= traits;
}

static UnetStatus open_image(Passage *p, const char *in) {
    Prediction *prediction = p->prediction;
    UnetStatus status = unet_image_open_as(NULL, prediction_way(prediction), &p->reader, in,
                                           input_layout(prediction)->channels, &prediction->driver->error);
    if (status != UNET_OK)
        return status;
    p->info = unet_image_info(p->reader);
    tell_traits(prediction, in, p->info.traits);
    return check_size(prediction, &p->info, in);
}

UnetImageInfo predicted_shape(Prediction *prediction, int32_t height, int32_t width, int i) {
    const Passage p = {.prediction = prediction, .info = {.height = height, .width = width}};
    return output_info(&p, i);
}

UnetStatus predict_rows(Prediction *prediction, int32_t height, int32_t width, Ends *ends) {
    Passage p = {.prediction = prediction, .ends = ends, .info = {.height = height, .width = width}};
    UnetStatus status = check_size(prediction, &p.info, "the image");
    if (status == UNET_OK && !goes_whole(prediction, &p.info))
        return predict_tiles(prediction, height, width, ends, false);
    if (status == UNET_OK)
        status = choose_padding(&p);
    if (status == UNET_OK)
        status = pass(&p);
    free(p.last_rows);
    return status;
}

UnetStatus predict_image(Prediction *prediction, const char *in) {
    Passage p = {.prediction = prediction, .path = in};
    UnetStatus status = open_image(&p, in);
    if (status == UNET_OK)
        status = begin_outputs(&p, in);
    const bool whole = goes_whole(prediction, &p.info);
    if (status == UNET_OK && whole)
        status = choose_padding(&p);
    if (status == UNET_OK)
        status = whole ? pass(&p) : pass_windows(&p, in);
    status = end_outputs(&p, in, status);
    unet_image_close(p.reader);
    free(p.last_rows);
    return status;
}
