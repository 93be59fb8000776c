/* predict_tiles.c - an image of any size through the model, by windows of the compiled size.
 *
 *     columns      0              p1           p2         p3
 *     windows      |==================|
 *                             |------==========------|         ==  points that count, where the network
 * sees a
 *                                          |------===========|     bounded part of an image
 *
 * There a point counts whose part lies in its window, and is taken from that window alone: the result is
 * equal to the result of the whole image at once.  It is equal to the bit to a program that was compiled
 * for the whole, padded image, if both compute each convolution by the same kernel.  Else, if some operator
 * sees all of an image, or no point of a window counts, windows overlap by a share and are blended, as
 * windows of volumes are (unet/windows.h): numbers become means; the class counts to which the windows that
 * show the point give most weight, or, with `windows` in the model's file, the class with the largest mean
 * of the input of `argmax`.
 *
 * The image is padded behind its last row and column to whole units of the network, or to one window if
 * it is smaller; results are cropped back.  As many rows are held as a window is high, of the image and of
 * each result: an image is read, computed and written from top to bottom, and memory does not grow with its
 * height. `mirror` passes each window mirrored along each set of these axes, too; then all results are
 * means.
 */
#include "predict.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "unet/layout.h"
#include "unet/normal.h"
#include "unet/windows.h"

enum { HEIGHT, WIDTH, AXES }; /* axis K is size[K + 1] of a layout, and bit K + 1 of a mirror */

/* One axis of the image. */
typedef struct {
    UnetReach reach;
    int32_t size, padded, window, count; /* points; of a window; windows */
    int32_t step;  /* from one window to the next; 0: they lie evenly, and are blended */
    float *weight; /* blended: of each point of a window, */
    float *total;  /*   and of each padded point: the weights of all windows that show it */
} Axis;

/* An output on its way: rows of the padded image, row h at place h mod the rows of a window. */
typedef struct {
    const UnetLayout *layout;
    int64_t offset;
    UnetImageInfo file;  /* the file that is written */
    int32_t width;       /* of a padded row */
    int32_t channels;    /* that are kept: the layout's, or votes for each class */
    bool votes, chooses; /*   or what argmax reads */
    int32_t written;
    float *row;
} Result;

typedef struct {
    Prediction *prediction;
    const UnetProgram *program;
    const UnetWindows *windows;
    Ends *ends;
    bool listens; /* to signals; else the caller does */
    bool exact;
    int32_t passes; /* mirrors of a window, the plain one among them */
    Axis axis[AXES];
    int32_t ring, read; /* rows of the image that are held; that were read or padded */
    int32_t channels;
    float *rows; /* of the image, normalised, row h at place h mod RING */
    float *line; /* one, as it is read or written */
    int32_t *from;
    const float *fill;                /* beside the image; NULL: 0 */
    float zero[UNET_MOST_NORMALIZED]; /*   or this */
    Result *result;
} Tiles;

static UnetError *error_of(const Tiles *t) {
    return &t->prediction->driver->error;
}

static bool mirrors(uint32_t mirror, int axis) {
    return (mirror >> (axis + 1) & 1) != 0;
}

/* ---- where windows lie ------------------------------------------------------------------------ */

static int32_t rounded_up(int64_t points, int32_t unit) {
    return (int32_t)((points + unit - 1) / unit * unit);
}

static int32_t begin_of(const Axis *axis, int32_t i) {
    const int32_t last = axis->padded - axis->window, unit = axis->reach.unit;
    if (axis->step > 0)
        return i < axis->count - 1 ? i * axis->step : last;
    return axis->count == 1 ? 0 : unet_window_begin(last / unit + 1, 1, axis->count, i) * unit;
}

/* Points of window I that count, from FIRST to END: none of a window before it. */
static int32_t end_of(const Axis *axis, int32_t i) {
    const bool last = i == axis->count - 1 || axis->step == 0;
    return begin_of(axis, i) + axis->window - (last ? 0 : axis->reach.after);
}

static int32_t first_of(const Axis *axis, int32_t i) {
    return i == 0 || axis->step == 0 ? begin_of(axis, i) : end_of(axis, i - 1);
}

/* From one window to the next, as far as points of both count next to each other; 0: none counts. */
static int32_t exact_step(const UnetReach *reach, int32_t window) {
    const int32_t counts = window - reach->before - reach->after;
    return counts < reach->grid ? 0 : counts / reach->grid * reach->grid;
}

/* Points seen before a point of a mirrored window are seen behind it. */
static UnetReach reach_of(const UnetWindows *windows, int axis) {
    UnetReach reach = windows->reach[axis];
    if (mirrors(windows->mirror, axis))
        reach.before = reach.after = reach.before > reach.after ? reach.before : reach.after;
    return reach;
}

static bool is_exact(const UnetProgram *program) {
    const UnetWindows *windows = program->windows;
    bool exact = windows->exact;
    for (int k = 0; k < AXES && exact; k++) {
        const UnetReach reach = reach_of(windows, k);
        exact = exact_step(&reach, program->size[k + 1]) > 0;
    }
    return exact;
}

bool tiles_are_exact(const UnetProgram *program) {
    return program->windows != NULL && is_exact(program);
}

int32_t tiles_padded(const UnetProgram *program, int axis, int32_t size) {
    const UnetReach *reach = &program->windows->reach[axis];
    const int32_t window = program->size[axis + 1], unit = is_exact(program) ? reach->grid : reach->unit;
    return size <= window ? window : window + rounded_up((int64_t)size - window, unit);
}

static bool make_weights(Axis *axis, const UnetWindows *windows, int32_t passes) {
    axis->weight = calloc((size_t)axis->window, sizeof *axis->weight);
    axis->total = calloc((size_t)axis->padded, sizeof *axis->total);
    if (axis->weight == NULL || axis->total == NULL)
        return false;
    unet_window_weights(axis->window, windows->gaussian, axis->weight);
    for (int32_t i = 0; i < axis->count; i++)
        for (int32_t k = 0; k < axis->window; k++)
            axis->total[begin_of(axis, i) + k] += axis->weight[k];
    for (int32_t k = 0; k < axis->padded; k++)
        axis->total[k] *= (float)passes;
    return true;
}

static bool make_axis(Tiles *t, int k, int32_t size) {
    Axis *axis = &t->axis[k];
    *axis = (Axis){.reach = reach_of(t->windows, k), .size = size, .window = t->program->size[k + 1]};
    axis->padded = tiles_padded(t->program, k, size);
    axis->step = t->exact ? exact_step(&axis->reach, axis->window) : 0;
    const int32_t more = axis->padded - axis->window;
    axis->count = t->exact ? (more + axis->step - 1) / axis->step + 1
                           : unet_window_count(axis->padded, axis->window, t->windows->overlap);
    return t->exact || make_weights(axis, t->windows, mirrors(t->windows->mirror, k) ? 2 : 1);
}

/* ---- in --------------------------------------------------------------------------------------- */

static float *row_at(const Tiles *t, int32_t h) {
    /* NOLINTNEXTLINE(clang-analyzer-core.DivideZero): a window has rows */
    return t->rows + (size_t)(h % t->ring) * (size_t)t->channels * (size_t)t->axis[WIDTH].size;
}

/* A row behind the last repeats one, or is as what lies beside the image. */
static void pad_row(const Tiles *t, int32_t h) {
    const size_t width = (size_t)t->axis[WIDTH].size;
    const int32_t source =
        unet_pad_index(t->prediction->driver->model->predict_pad, h, t->axis[HEIGHT].size);
    float *row = row_at(t, h);
    if (source >= 0)
        memcpy(row, row_at(t, source), (size_t)t->channels * width * sizeof *row);
    for (size_t k = 0; source < 0 && k < (size_t)t->channels * width; k++)
        row[k] = t->fill != NULL ? t->fill[k / width] : 0;
}

/* Rows of the image up to END, normalised. */
static UnetStatus bring_rows(Tiles *t, int32_t end) {
    const Prediction *prediction = t->prediction;
    const size_t width = (size_t)t->axis[WIDTH].size;
    UnetStatus status = UNET_OK;
    for (; t->read < end && status == UNET_OK; t->read++) {
        if (t->read >= t->axis[HEIGHT].size) {
            pad_row(t, t->read);
            continue;
        }
        float *row = row_at(t, t->read);
        status = t->ends->read(t->ends, row, error_of(t));
        if (status == UNET_OK && t->fill != NULL)
            unet_normalize(&prediction->driver->normal[prediction->input], t->channels, width, width, row,
                           row);
    }
    return status;
}

/* Point I of a window that is mirrored, if it is, as the window shows it. */
static int32_t shown(const Axis *axis, bool mirrored, int32_t i) {
    return mirrored ? axis->window - 1 - i : i;
}

/* Row H of the window at BEGIN, mirrored, to where the program reads it. */
static void store_row(const Tiles *t, const int32_t begin[AXES], uint32_t mirror, int32_t h) {
    const UnetLayout *layout = &t->program->inputs[t->prediction->input];
    const int32_t y = begin[HEIGHT] + shown(&t->axis[HEIGHT], mirrors(mirror, HEIGHT), h);
    unet_layout_store_row(layout, prediction_input(t->prediction), 0, 0, h, row_at(t, y),
                          t->axis[WIDTH].size, t->from, t->fill);
}

/* Which columns of the image a row of the window shows. */
static void find_columns(const Tiles *t, int32_t begin, bool mirrored) {
    const Axis *axis = &t->axis[WIDTH];
    const UnetPad pad = t->prediction->driver->model->predict_pad;
    for (int32_t x = 0; x < axis->window; x++)
        /* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): made with the window */
        t->from[x] = unet_pad_index(pad, begin + shown(axis, mirrored, x), axis->size);
}

/* ---- results ---------------------------------------------------------------------------------- */

/* The point along AXIS, in an image of RESULT, of point P of an image as large as the input; and the
 * reverse. */
static int32_t scaled(const Result *result, const Axis *axis, int k, int32_t p) {
    /* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): made with the window */
    return (int32_t)((int64_t)p * result->layout->size[k + 1] / axis->window);
}

static int32_t unscaled(const Result *result, const Axis *axis, int k, int32_t p) {
    return (int32_t)((int64_t)p * axis->window / result->layout->size[k + 1]);
}

static float *result_row(const Result *result, int32_t h, int32_t c) {
    const size_t rows = (size_t)(h % result->layout->size[1]);
    return result->row + (rows * (size_t)result->channels + (size_t)c) * (size_t)result->width;
}

/* The place of a row of a window's result: points from FIRST to END of the padded row Y. */
typedef struct {
    const Axis *axis;
    int32_t y, begin, first, end, size; /* BEGIN: of the window, of SIZE points */
    bool mirrored;
    float weight; /* of the row; 0: points count alike */
} Place;

static void copy_row(const Result *result, const Place *place, const float *row) {
    for (int32_t c = 0; c < result->channels; c++)
        memcpy(result_row(result, place->y, c) + place->first,
               row + (ptrdiff_t)c * place->size + (place->first - place->begin),
               (size_t)(place->end - place->first) * sizeof *row);
}

static void add_row(const Result *result, const Place *place, const float *row) {
    float *first = result_row(result, place->y, 0);
    for (int32_t x = place->first; x < place->end; x++) {
        const int32_t in = x - place->begin, at = place->mirrored ? place->size - 1 - in : in;
        const float weight =
            place->weight > 0
                ? place->weight * place->axis->weight[unscaled(result, place->axis, WIDTH, in)]
                : 1;
        if (result->votes)
            first[(ptrdiff_t)row[at] * result->width + x] += weight;
        for (int32_t c = 0; c < result->channels && !result->votes; c++)
            first[(ptrdiff_t)c * result->width + x] += weight * row[(ptrdiff_t)c * place->size + at];
    }
}

/* Row H of a result of window I, J, mirrored, as far as it counts. */
static void take_row(const Tiles *t, const Result *result, const int32_t window[AXES], uint32_t mirror,
                     int32_t h) {
    const Axis *rows = &t->axis[HEIGHT], *columns = &t->axis[WIDTH];
    const int32_t last = result->layout->size[1] - 1, in = mirrors(mirror, HEIGHT) ? last - h : h,
                  y = scaled(result, rows, HEIGHT, begin_of(rows, window[HEIGHT])) + in;
    if (y < scaled(result, rows, HEIGHT, first_of(rows, window[HEIGHT])) ||
        y >= scaled(result, rows, HEIGHT, end_of(rows, window[HEIGHT])))
        return;
    const Place place = {.axis = columns,
                         .y = y,
                         .begin = scaled(result, columns, WIDTH, begin_of(columns, window[WIDTH])),
                         .first = scaled(result, columns, WIDTH, first_of(columns, window[WIDTH])),
                         .end = scaled(result, columns, WIDTH, end_of(columns, window[WIDTH])),
                         .size = result->layout->size[2],
                         .mirrored = mirrors(mirror, WIDTH),
                         .weight = t->exact ? 0 : rows->weight[unscaled(result, rows, HEIGHT, in)]};
    unet_layout_load_row(result->layout, t->prediction->device.arena + result->offset, 0, 0, h, t->line);
    (t->exact && mirror == 0 ? copy_row : add_row)(result, &place, t->line);
}

/* ---- one window ------------------------------------------------------------------------------- */

/* Its rows go through band by band, where the program has bands. */
static UnetStatus compute_mirrored(const Tiles *t, const int32_t window[AXES], uint32_t mirror) {
    Prediction *prediction = t->prediction;
    const UnetProgram *program = t->program;
    const int32_t begin[AXES] = {begin_of(&t->axis[HEIGHT], window[HEIGHT]),
                                 begin_of(&t->axis[WIDTH], window[WIDTH])};
    UnetStep step = prediction_step(prediction);
    UnetStatus status = UNET_OK;
    find_columns(t, begin[WIDTH], mirrors(mirror, WIDTH));
    for (bool done = false; !done && status == UNET_OK; step.band++) {
        const UnetBand in = prediction_input_band(prediction);
        for (int32_t h = unet_band_end(&in, step.band - 1, step.units);
             h < unet_band_end(&in, step.band, step.units); h++)
            store_row(t, begin, mirror, h);
        status = device_run(&prediction->device, program, &step, error_of(t));
        done = true;
        for (int i = 0; i < prediction->driver->model->noutput && status == UNET_OK; i++) {
            const Result *result = &t->result[i];
            const UnetBand band = prediction_output_band(prediction, i);
            const int32_t end = unet_band_end(&band, step.band, step.units);
            /* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): made with the window */
            status = device_fetch(&prediction->device, result->offset, result->layout->sample_bytes,
                                  error_of(t));
            for (int32_t h = unet_band_end(&band, step.band - 1, step.units); h < end && status == UNET_OK;
                 h++)
                take_row(t, result, window, mirror, h);
            done &= end >= result->layout->size[1];
        }
    }
    return status;
}

static UnetStatus compute_window(const Tiles *t, const int32_t window[AXES]) {
    Driver *driver = t->prediction->driver;
    UnetStatus status = UNET_OK;
    for (uint32_t mirror = 0; mirror < 1U << 3 && status == UNET_OK && driver->stopped_by == 0; mirror++) {
        if ((mirror & ~t->windows->mirror) != 0)
            continue;
        status = compute_mirrored(t, window, mirror);
        if (t->listens)
            driver->stopped_by = signals_look();
    }
    return status;
}

/* ---- out -------------------------------------------------------------------------------------- */

/* Sums of row H of RESULT become means; of points that count once they are numbers already. */
static void divide_row(const Tiles *t, const Result *result, int32_t h) {
    const Axis *rows = &t->axis[HEIGHT], *columns = &t->axis[WIDTH];
    for (int32_t c = 0; c < result->channels && (!t->exact || t->passes > 1); c++) {
        float *row = result_row(result, h, c);
        for (int32_t x = 0; x < result->file.width; x++)
            row[x] /= t->exact ? (float)t->passes
                               : rows->total[unscaled(result, rows, HEIGHT, h)] *
                                     columns->total[unscaled(result, columns, WIDTH, x)];
    }
}

/* Row H of RESULT as it is written: cropped, planar, classes where it has those. */
static void finish_row(const Tiles *t, const Result *result, int32_t h, float *line) {
    const float *row = result_row(result, h, 0);
    const size_t width = (size_t)result->file.width, stride = (size_t)result->width;
    const bool chooses = result->votes || result->chooses;
    divide_row(t, result, h);
    for (size_t x = 0; x < width && chooses; x++)
        line[x] = (float)unet_class_of(row + x, result->channels, (int64_t)stride);
    for (size_t c = 0; c < (size_t)result->channels && !chooses; c++)
        memcpy(line + c * width, row + c * stride, width * sizeof *line);
}

/* Writes the rows of each result up to the rows that END of the image makes; then their places are free. */
static UnetStatus write_rows(const Tiles *t, int32_t end) {
    UnetStatus status = UNET_OK;
    for (int i = 0; i < t->prediction->driver->model->noutput; i++) {
        Result *result = &t->result[i];
        const int32_t stop = scaled(result, &t->axis[HEIGHT], HEIGHT, end);
        for (; result->written < stop && status == UNET_OK; result->written++) {
            if (result->written < result->file.height) {
                finish_row(t, result, result->written, t->line);
                status = t->ends->write(t->ends, i, t->line, error_of(t));
            }
            memset(result_row(result, result->written, 0), 0,
                   (size_t)result->channels * (size_t)result->width * sizeof(float));
        }
    }
    return status;
}

static UnetStatus pass(Tiles *t) {
    const Driver *driver = t->prediction->driver;
    const Axis *rows = &t->axis[HEIGHT], *columns = &t->axis[WIDTH];
    UnetStatus status = UNET_OK;
    for (int32_t i = 0; i < rows->count && status == UNET_OK && driver->stopped_by == 0; i++) {
        status = bring_rows(t, begin_of(rows, i) + rows->window);
        for (int32_t j = 0; j < columns->count && status == UNET_OK && driver->stopped_by == 0; j++)
            status = compute_window(t, (const int32_t[AXES]){i, j});
        const int32_t last = i == rows->count - 1;
        if (status == UNET_OK && driver->stopped_by == 0)
            status = write_rows(t, last       ? rows->padded
                                   : t->exact ? end_of(rows, i)
                                              : begin_of(rows, i + 1));
    }
    return status;
}

/* ---- before it -------------------------------------------------------------------------------- */

/* Output I of MODEL, without room; votes have two classes at least. */
static Result describe_result(const UnetModel *model, int i) {
    const UnetOutput *output = &model->outputs[i];
    const UnetProgram *program = model->predict;
    const bool labels = output->kind == UNET_LABELS, given = program->windows->given;
    Result result = {.layout = &program->outputs[i],
                     .offset = program->output_offsets[i],
                     .channels = program->outputs[i].channels,
                     .chooses = labels && given,
                     .votes = labels && !given && !is_exact(program)};
    if (result.votes)
        result.channels = output->classes > 0 ? output->classes : 2;
    return result;
}

static int32_t ring_of(const UnetProgram *program) {
    return program->size[1] + program->windows->reach[HEIGHT].grid;
}

int64_t tiles_bytes(const UnetModel *model, int32_t width) {
    const UnetProgram *program = model->predict;
    const int64_t number = (int64_t)sizeof(float), padded = tiles_padded(program, WIDTH, width);
    int64_t bytes = 0;
    for (int i = 0; i < model->ninput; i++)
        if (program->inputs[i].sample_bytes > 0)
            bytes += number * ring_of(program) * program->inputs[i].channels * width;
    for (int i = 0; i < model->noutput; i++) {
        const Result result = describe_result(model, i);
        bytes += number * result.layout->size[1] * result.channels * padded * result.layout->size[2] /
                 program->size[2];
    }
    return bytes;
}

/* Numbers of the longest row that is read or written. */
static size_t longest_row(const Tiles *t) {
    size_t longest = 0;
    for (int i = 0; i < t->prediction->driver->model->noutput; i++) {
        const Result *result = &t->result[i];
        const size_t width = (size_t)(result->width > result->layout->size[2] ? result->width
                                                                              : result->layout->size[2]),
                     row = width * (size_t)(result->channels > result->layout->channels
                                                ? result->channels
                                                : result->layout->channels);
        longest = row > longest ? row : longest;
    }
    return longest;
}

static UnetStatus make_rows(Tiles *t) {
    const int noutput = t->prediction->driver->model->noutput;
    bool good = true;
    t->ring = ring_of(t->program);
    t->result = calloc((size_t)noutput + 1, sizeof *t->result);
    t->rows = calloc((size_t)t->ring, (size_t)t->channels * (size_t)t->axis[WIDTH].size * sizeof *t->rows);
    t->from = calloc((size_t)t->axis[WIDTH].window, sizeof *t->from);
    good = t->result != NULL && t->rows != NULL && t->from != NULL;
    for (int i = 0; i < noutput && good; i++) {
        Result *result = &t->result[i];
        *result = describe_result(t->prediction->driver->model, i);
        result->file = predicted_shape(t->prediction, t->axis[HEIGHT].size, t->axis[WIDTH].size, i);
        result->width = scaled(result, &t->axis[WIDTH], WIDTH, t->axis[WIDTH].padded);
        result->row = calloc((size_t)result->layout->size[1],
                             (size_t)result->channels * (size_t)result->width * sizeof *result->row);
        good = result->row != NULL;
    }
    /* NOLINTNEXTLINE(clang-analyzer-optin.portability.UnixAPI): a result has a width */
    t->line = good ? calloc(longest_row(t), sizeof *t->line) : NULL;
    return good && t->line != NULL
               ? UNET_OK
               : unet_fail(error_of(t), UNET_TOO_SMALL,
                           "no memory for %" PRId32 " rows of an image of %" PRId32 " columns", t->ring,
                           t->axis[WIDTH].size);
}

static UnetStatus open_tiles(Tiles *t, int32_t height, int32_t width) {
    const Prediction *prediction = t->prediction;
    const UnetModel *model = prediction->driver->model;
    if (model->inputs[prediction->input].normalizing != UNET_AS_READ && !prediction->normalized) {
        unet_normalize(&prediction->driver->normal[prediction->input], t->channels, 1, 1, t->zero, t->zero);
        t->fill = t->zero;
    }
    if (!make_axis(t, HEIGHT, height) || !make_axis(t, WIDTH, width))
        return unet_fail(error_of(t), UNET_TOO_SMALL, "no memory for windows of an image");
    return make_rows(t);
}

static void close_tiles(Tiles *t) {
    for (int k = 0; k < AXES; k++) {
        free(t->axis[k].weight);
        free(t->axis[k].total);
    }
    for (int i = 0; t->result != NULL && i < t->prediction->driver->model->noutput; i++)
        free(t->result[i].row);
    free(t->result);
    free(t->rows);
    free(t->line);
    free(t->from);
}

UnetStatus predict_tiles(Prediction *prediction, int32_t height, int32_t width, Ends *ends, bool listens) {
    Tiles t = {.prediction = prediction,
               .program = prediction->program,
               .windows = prediction->program->windows,
               .ends = ends,
               .listens = listens,
               .exact = is_exact(prediction->program),
               .channels = prediction->program->inputs[prediction->input].channels};
    const UnetStep step = prediction_step(prediction);
    t.passes = (mirrors(t.windows->mirror, HEIGHT) ? 2 : 1) * (mirrors(t.windows->mirror, WIDTH) ? 2 : 1);
    device_prepare(&prediction->device, prediction->program, &step);
    UnetStatus status = open_tiles(&t, height, width);
    if (status == UNET_OK)
        status = pass(&t);
    close_tiles(&t);
    return status;
}
