/* dataset_warp.c - reading a sample whose window is scaled, turned, bent or coloured.
 *
 *     files --rows that are needed--> memory --sampled--> colours --> sources --> blur, noise --> inputs
 *
 * Pictures that files hold change their colours before sources reckon with them, so that `2 * photo - 1` is
 * meant of colours from 0 to 1; blur and noise come last, on what the network sees.  Noise of the sources
 * is keyed by the place in the window.
 *
 * Requires: the samples and the sizes of all files.  Provides: the parts of ScratchPlan from `rasters` on.
 */
#include "colour.h"
#include "dataset_reading.h"
#include "size_math.h"

#include <string.h>

/* ---- colours ---------------------------------------------------------------------------------- */

/* Returns whether INPUT is a picture: the network sees it, or its output is compared with it, and it is
 * not, say, a map of weights. */
static bool is_picture(const UnetModel *model, int32_t input) {
    const UnetInput *into = &model->inputs[input];
    bool compared = !into->is_target;
    for (int32_t i = 0; i < model->nresult; i++) {
        compared |= model->results[i].target_input == input;
    }
    return compared && into->kind != UNET_LABELS && into->kind != UNET_SCALAR;
}

/* Returns whether source INDEX reads a part of a picture, its own or the picture of a source that names it.
 */
static bool makes_picture(const UnetDataset *dataset, int32_t index) {
    const int32_t input = dataset->source[index].input;
    bool makes = input >= 0 && is_picture(dataset->model, input);
    for (int32_t s = index + 1; s < dataset->nsource && !makes; s++) {
        const UnetSource *later = &dataset->source[s];
        for (int32_t t = 0; t < later->nterm && !makes; t++) {
            makes = later->term[t].op == UNET_SRC_NAME &&
                    dataset_source(dataset, s, later->term[t].pattern) == index &&
                    makes_picture(dataset, s);
        }
    }
    return makes;
}

/* Whether blur and noise touch what source INDEX fills. */
static bool is_degraded(const UnetDataset *dataset, int32_t index) {
    const int32_t input = dataset->source[index].input;
    return input >= 0 && !dataset->model->inputs[input].is_target && !dataset_is_labels(dataset, index) &&
           dataset->model->inputs[input].kind != UNET_SCALAR &&
           colour_degrades(dataset->transform, dataset->ntransform);
}

/* ---- working memory --------------------------------------------------------------------------- */

/* Points along AXIS of the window for source INDEX. */
static size_t points_of(const UnetDataset *dataset, int32_t index, int axis) {
    int32_t multiple = dataset->scale[index].multiple;
    return (size_t)dataset->base[axis] * (size_t)(multiple > 0 ? multiple : 1);
}

static bool picture_floats(const UnetDataset *dataset, int32_t index, size_t *floats) {
    return checked_mul(points_of(dataset, index, 0), points_of(dataset, index, 1), floats) &&
           checked_mul(*floats, (size_t)dataset->source[index].channels, floats);
}

/* Bytes of the rows of a file that a window may show. */
static bool decoded_bytes(const UnetDataset *dataset, const FileSeries *series, size_t *bytes) {
    double rows = warp_most_rows(dataset->transform, dataset->ntransform, dataset->base) *
                      dataset->scale[series->source].multiple +
                  4;
    size_t most = rows < series->highest ? (size_t)rows : (size_t)series->highest;
    return checked_mul(most, series->widest, bytes);
}

bool warp_plan_scratch(UnetDataset *dataset) {
    ScratchPlan *plan = &dataset->scratch;
    size_t decoded = 0, pictures = 0, degraded = 0, one = 0;
    bool fits = true;
    if (!dataset->warps) {
        return true;
    }
    for (int32_t i = 0; i < dataset->nseries && fits; i++) {
        FileSeries *series = &dataset->series[i];
        series->coloured = colour_changes(dataset->transform, dataset->ntransform) &&
                           makes_picture(dataset, series->source);
        fits = decoded_bytes(dataset, series, &one) && checked_add(decoded, one, &decoded);
        if (fits && series->coloured) {
            fits = picture_floats(dataset, series->source, &one) && checked_add(pictures, one, &pictures);
        }
    }
    for (int32_t s = 0; s < dataset->nsource && fits; s++) {
        if (is_degraded(dataset, s)) {
            fits = picture_floats(dataset, s, &one) && checked_add(degraded, one, &degraded);
        }
    }
    return fits && scratch_reserve(plan, &plan->rasters, (size_t)dataset->nseries, sizeof(Raster)) &&
           scratch_reserve(plan, &plan->decoded, decoded, 1) &&
           scratch_reserve(plan, &plan->pictures, pictures, sizeof(float)) &&
           scratch_reserve(plan, &plan->degraded, degraded, sizeof(float)) &&
           scratch_reserve(plan, &plan->from, (size_t)dataset->widest[1], sizeof(double[2])) &&
           scratch_reserve(plan, &plan->lines, colour_lines(dataset->widest[0], dataset->widest[1]),
                           sizeof(float));
}

/* ---- files ------------------------------------------------------------------------------------ */

static View view_of(const Reading *at) {
    return (View){&at->warp, &at->window, at->multiple};
}

/* Returns the sources of the points of the row that raster_place was asked for last. */
static const double (*from_of(const Reading *at))[2] {
    return (const double(*)[2])at->scratch.from;
}

/* Decodes the rows [begin, end) into ROWS. */
static UnetStatus decode_rows(const Reading *at, int32_t series, int32_t begin, int32_t end, uint8_t *rows,
                              UnetRowFormat *format) {
    UnetImageReader *reader;
    UnetStatus status = dataset_open_file(at->dataset, at->sample, series, at->memory, &reader, at->error);
    if (reader == NULL) {
        return status;
    }
    *format = unet_image_format(reader);
    const size_t bytes = unet_row_bytes(format);
    status = unet_image_skip_rows(reader, begin, at->error);
    for (int32_t y = begin; y < end && status == UNET_OK; y++) {
        status = unet_image_decode_row(reader, at->error);
        if (status == UNET_OK) {
            memcpy(rows + (size_t)(y - begin) * bytes, unet_image_bytes(reader), bytes);
        }
    }
    unet_image_close(reader);
    return status;
}

/* Reads into memory the part of file SERIES that the window shows; decoded rows go to *SPACE. */
static UnetStatus read_raster(const Reading *at, int32_t series, uint8_t **space) {
    Raster *raster = &at->scratch.raster[series];
    const CachedFile *kept;
    UnetStatus status = dataset_cache_get(at->dataset, at->sample, series, at->memory, &kept, at->error);
    if (status != UNET_OK) {
        return status;
    }
    *raster = (Raster){.height = at->sample->size[0] * at->multiple};
    if (kept != NULL) {
        raster->format = kept->format;
        raster->rows = kept->rows;
        return UNET_OK;
    }
    const View view = view_of(at);
    int32_t end;
    raster_rows(&view, raster->height, &raster->first, &end);
    raster->rows = *space;
    status = decode_rows(at, series, raster->first, end, *space, &raster->format);
    *space += (size_t)(end - raster->first) * unet_row_bytes(&raster->format);
    return status;
}

/* ---- colours ---------------------------------------------------------------------------------- */

static Picture picture_at(const Reading *at, int32_t channels, float *value) {
    return (Picture){value, channels, at->size[0], at->size[1]};
}

static size_t floats_of(const Picture *picture) {
    return (size_t)picture->channels * (size_t)picture->height * (size_t)picture->width;
}

/* Row Y of a picture from planar ROW, or the reverse. */
static void copy_row(const Picture *picture, int32_t y, float *row, bool out) {
    const size_t width = (size_t)picture->width;
    for (int32_t c = 0; c < picture->channels; c++) {
        float *line = picture->value + ((size_t)c * (size_t)picture->height + (size_t)y) * width;
        float *other = row + (size_t)c * width;
        memcpy(out ? other : line, out ? line : other, width * sizeof *row);
    }
}

/* Returns the picture of file SERIES, behind the pictures of the series before it in the same pass. */
static Picture coloured_picture(const Reading *at, int32_t series) {
    float *value = at->scratch.picture;
    for (int32_t i = 0;; i++) {
        const FileSeries *files = &at->dataset->series[i];
        Picture picture = picture_at(at, files->channels, value);
        if (i == series) {
            return picture;
        }
        if (files->coloured && reading_reads(at, files->source)) {
            value += floats_of(&picture);
        }
    }
}

static UnetStatus colour_files(const Reading *at) {
    const View view = view_of(at);
    UnetStatus status = UNET_OK;
    for (int32_t i = 0; i < at->dataset->nseries; i++) {
        if (!at->dataset->series[i].coloured || !reading_reads(at, at->dataset->series[i].source)) {
            continue;
        }
        const Picture picture = coloured_picture(at, i);
        float *row = at->scratch.operand;
        for (int32_t y = 0; y < picture.height && status == UNET_OK; y++) {
            raster_place(&view, y, picture.width, at->scratch.from);
            raster_sample(&at->scratch.raster[i], &view, from_of(at), picture.width, row);
            status = dataset_settle_missing(at->dataset, at->sample, i, row,
                                            (size_t)picture.channels * (size_t)picture.width, at->error);
            copy_row(&picture, y, row, false);
        }
        colour_change(at->dataset->transform, at->dataset->ntransform, &at->key, &picture);
    }
    return status;
}

/* evaluate_rows has placed the row. */
void warp_push(const Reading *at, int32_t series, float *operand) {
    if (at->dataset->series[series].coloured) {
        const Picture picture = coloured_picture(at, series);
        copy_row(&picture, at->row, operand, true);
    } else {
        const View view = view_of(at);
        raster_sample(&at->scratch.raster[series], &view, from_of(at), reading_columns(at), operand);
    }
}

/* ---- the pass --------------------------------------------------------------------------------- */

/* Row by row: what sources make goes to their inputs, or to a picture that is yet to be degraded. */
static UnetStatus evaluate_rows(Reading *at) {
    const View view = view_of(at);
    UnetStatus status = UNET_OK;
    for (at->row = 0; at->row < at->size[0] && status == UNET_OK; at->row++) {
        float *degraded = at->scratch.degraded;
        raster_place(&view, at->row, at->size[1], at->scratch.from);
        raster_map(&view, from_of(at), at->size[1], at->scratch.map[1]);
        for (int32_t s = 0; s < at->dataset->nsource && status == UNET_OK; s++) {
            const UnetSource *source = &at->dataset->source[s];
            float *value = at->scratch.value + (size_t)s * at->scratch.operand_row;
            if (!reading_reads(at, s)) {
                continue;
            }
            status = reading_evaluate(at, s);
            if (status != UNET_OK) {
                return status;
            }
            if (is_degraded(at->dataset, s)) {
                const Picture picture = picture_at(at, source->channels, degraded);
                copy_row(&picture, at->row, value, false);
                degraded += floats_of(&picture);
            } else {
                reading_store(at, source, at->row, value, at->scratch.map[1]);
            }
        }
    }
    return status;
}

static void degrade_inputs(const Reading *at) {
    const View view = view_of(at);
    float *degraded = at->scratch.degraded, *row = at->scratch.value;
    for (int32_t s = 0; s < at->dataset->nsource; s++) {
        const UnetSource *source = &at->dataset->source[s];
        if (!is_degraded(at->dataset, s) || !reading_reads(at, s)) {
            continue;
        }
        const Picture picture = picture_at(at, source->channels, degraded);
        colour_degrade(at->dataset->transform, at->dataset->ntransform, &at->key, source->input, &picture,
                       at->scratch.lines);
        for (int32_t y = 0; y < at->size[0]; y++) {
            raster_place(&view, y, at->size[1], at->scratch.from);
            raster_map(&view, from_of(at), at->size[1], at->scratch.map[1]);
            copy_row(&picture, y, row, true);
            reading_store(at, source, y, row, at->scratch.map[1]);
        }
        degraded += floats_of(&picture);
    }
}

UnetStatus warp_read(Reading *at) {
    uint8_t *space = at->scratch.decoded;
    UnetStatus status = UNET_OK;
    for (int axis = 0; axis < 2; axis++) {
        at->size[axis] = at->window.size[axis] * at->multiple;
        at->begin[axis] = 0;
        at->end[axis] = at->size[axis];
    }
    for (int32_t i = 0; i < at->dataset->nseries && status == UNET_OK; i++) {
        if (reading_reads(at, at->dataset->series[i].source)) {
            status = read_raster(at, i, &space);
        }
    }
    if (status == UNET_OK) {
        status = colour_files(at);
    }
    if (status == UNET_OK) {
        status = evaluate_rows(at);
    }
    if (status == UNET_OK) {
        degrade_inputs(at);
    }
    return status;
}
