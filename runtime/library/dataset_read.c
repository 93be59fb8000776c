/* dataset_read.c - reading one sample: all its files are decoded side by side, and for every row of them
 * the sources are evaluated and the row goes where the window shows it.
 *
 *     files --row--> sources --row--> window --row--> inputs
 *
 * Files with more points for the same picture (dataset_scale.c) are read in a pass of their own.
 * Noise is keyed by the place in the file, so a point has the same noise in every window that shows it. */
#include "dataset_reading.h"
#include "size_math.h"
#include "unet/layout.h"
#include "unet/normal.h"

#include <math.h>
#include <string.h>

/* ---- working memory --------------------------------------------------------------------------- */

bool scratch_reserve(ScratchPlan *plan, size_t *part, size_t count, size_t size) {
    size_t bytes;
    *part = plan->bytes;
    return checked_mul(count, size, &bytes) && checked_align64(bytes, &bytes) &&
           checked_add(plan->bytes, bytes, &plan->bytes);
}

bool dataset_plan_scratch(UnetDataset *dataset) {
    ScratchPlan *plan = &dataset->scratch;
    size_t height = (size_t)dataset->widest[0], width = (size_t)dataset->widest[1];
    size_t depth = (size_t)dataset->base[2];
    size_t channels = (size_t)dataset->channels, values, operands;
    *plan = (ScratchPlan){0};
    return checked_mul(channels, width, &plan->row) &&
           checked_mul((size_t)dataset->nsource, plan->row, &values) &&
           checked_mul((size_t)dataset->depth, plan->row, &operands) &&
           scratch_reserve(plan, &plan->files, (size_t)dataset->nseries, sizeof(OpenFile)) &&
           scratch_reserve(plan, &plan->values, values, sizeof(float)) &&
           scratch_reserve(plan, &plan->operands, operands, sizeof(float)) &&
           scratch_reserve(plan, &plan->normal, plan->row, sizeof(float)) &&
           scratch_reserve(plan, &plan->fill, channels, sizeof(float)) &&
           scratch_reserve(plan, &plan->maps[0], height, sizeof(int32_t)) &&
           scratch_reserve(plan, &plan->maps[1], width, sizeof(int32_t)) &&
           scratch_reserve(plan, &plan->maps[2], depth, sizeof(int32_t)) &&
           scratch_reserve(plan, &plan->nowhere, width, sizeof(int32_t)) &&
           scratch_reserve(plan, &plan->beside, width, sizeof(int32_t)) && border_plan_scratch(dataset) &&
           volume_plan_scratch(dataset) && turn_plan_scratch(dataset) && warp_plan_scratch(dataset);
}

Scratch scratch_at(const ScratchPlan *plan, char *base) {
    return (Scratch){.file = (void *)(base + plan->files),
                     .value = (void *)(base + plan->values),
                     .operand = (void *)(base + plan->operands),
                     .normal = (void *)(base + plan->normal),
                     .fill = (void *)(base + plan->fill),
                     .operand_row = plan->row,
                     .map = {(void *)(base + plan->maps[0]), (void *)(base + plan->maps[1]),
                             (void *)(base + plan->maps[2])},
                     .nowhere = (void *)(base + plan->nowhere),
                     .beside = (void *)(base + plan->beside),
                     .border = base + plan->border,
                     .plane = (void *)(base + plan->plane),
                     .corners = (void *)(base + plan->corners),
                     .labelled = (void *)(base + plan->labelled),
                     .raster = (void *)(base + plan->rasters),
                     .decoded = (void *)(base + plan->decoded),
                     .picture = (void *)(base + plan->pictures),
                     .degraded = (void *)(base + plan->degraded),
                     .lines = (void *)(base + plan->lines),
                     .from = (void *)(base + plan->from)};
}

size_t unet_dataset_scratch_bytes(const UnetDataset *dataset) {
    return dataset->scratch.bytes;
}

/* ---- sources ---------------------------------------------------------------------------------- */

int32_t reading_columns(const Reading *at) {
    return at->end[1] - at->begin[1];
}

/* Brings the numbers of a file to what its source says that they are; reports numbers that they cannot be.
 */
static UnetStatus settle(const Reading *at, int32_t series, float *operand) {
    const UnetDataset *dataset = at->dataset;
    const FileSeries *files = &dataset->series[series];
    const int32_t columns = reading_columns(at);
    if (dataset_is_labels(dataset, files->source)) {
        return dataset_to_classes(dataset, at->sample, series, operand, columns, at->error);
    }
    if (dataset->source[files->source].words > 0) {
        return dataset_check_words(dataset, at->sample, series, operand, columns, at->error);
    }
    return dataset->volumes ? UNET_OK
                            : dataset_settle_missing(dataset, at->sample, series, operand,
                                                     (size_t)files->channels * (size_t)columns, at->error);
}

/* The part of the row of a file that the window needs; a decoder stands in front of that row. */
static UnetStatus push_file(const Reading *at, int32_t series, int32_t channel, float *operand) {
    const OpenFile *file = &at->scratch.file[series];
    if (at->dataset->volumes) {
        volume_push(at, series, channel, operand);
    } else if (at->dataset->warps) {
        warp_push(at, series, operand);
    } else if (file->kept != NULL) {
        size_t before = (size_t)at->row * unet_row_bytes(&file->kept->format);
        unet_row_convert(&file->kept->format, file->kept->rows + before, at->begin[1], reading_columns(at),
                         operand);
    } else {
        UnetStatus status = unet_image_decode_row(file->reader, at->error);
        if (status != UNET_OK) {
            return status;
        }
        UnetRowFormat format = unet_image_format(file->reader);
        unet_row_convert(&format, unet_image_bytes(file->reader), at->begin[1], reading_columns(at),
                         operand);
    }
    return settle(at, series, operand);
}

/* The row of an earlier source; one channel is repeated where more are wanted. */
static void push_name(const Reading *at, const char *name, int32_t channels, float *operand) {
    const UnetDataset *dataset = at->dataset;
    size_t width = (size_t)reading_columns(at);
    for (int32_t s = 0; s < dataset->nsource; s++) {
        if (strcmp(dataset->source[s].name, name) != 0) {
            continue;
        }
        const float *value = at->scratch.value + (size_t)s * at->scratch.operand_row;
        bool repeated = dataset->source[s].channels == 1;
        for (int32_t c = 0; c < channels; c++) {
            memcpy(operand + (size_t)c * width, value + (repeated ? 0 : (size_t)c * width),
                   width * sizeof *operand);
        }
        return;
    }
}

static void push_noise(const Reading *at, const UnetKey *key, int32_t channels, float deviation,
                       float *operand) {
    const bool moved = at->dataset->warps || at->turn.turns;
    const int32_t *size = moved ? at->window.size : at->sample->size;
    int32_t height = size[0] * at->multiple, width = size[1] * at->multiple, depth = size[2];
    size_t count = (size_t)reading_columns(at);
    for (int32_t c = 0; c < channels; c++) {
        uint64_t slice = (uint64_t)c * (uint64_t)depth + (uint64_t)at->slice;
        uint64_t line = slice * (uint64_t)height + (uint64_t)at->row;
        float *values = operand + (size_t)c * count;
        unet_random_normal(key, line * (uint64_t)width + (uint64_t)at->begin[1], count, values);
        for (size_t x = 0; x < count; x++) {
            values[x] *= deviation;
        }
    }
}

static void fill(float *operand, size_t count, float value) {
    for (size_t i = 0; i < count; i++) {
        operand[i] = value;
    }
}

static bool is_operation(UnetSourceOp op) {
    return op == UNET_SRC_ADD || op == UNET_SRC_SUB || op == UNET_SRC_MUL || op == UNET_SRC_DIV;
}

static float operate(UnetSourceOp op, float left, float right) {
    switch (op) {
    case UNET_SRC_SUB:
        return left - right;
    case UNET_SRC_MUL:
        return left * right;
    case UNET_SRC_DIV:
        return left / right;
    default:
        return left + right;
    }
}

static void combine(UnetSourceOp op, float *left, const float *right, size_t count) {
    for (size_t i = 0; i < count; i++) {
        left[i] = operate(op, left[i], right[i]);
    }
}

/* Operand K of the expression of source INDEX, in the end its value. */
static float *operand_of(const Reading *at, int32_t index, int32_t k) {
    return k == 0 ? at->scratch.value + (size_t)index * at->scratch.operand_row
                  : at->scratch.operand + (size_t)(k - 1) * at->scratch.operand_row;
}

/* Pushes the value of TERM of source INDEX, which is no operation; SERIES: its files. */
static UnetStatus push(const Reading *at, int32_t index, const UnetSourceTerm *term, int32_t series,
                       const UnetKey *key, float *operand) {
    const int32_t channels = at->dataset->source[index].channels;
    size_t count = (size_t)channels * (size_t)reading_columns(at);
    switch (term->op) {
    case UNET_SRC_FILES:
        return push_file(at, series, term->channel, operand);
    case UNET_SRC_NAME:
        push_name(at, term->pattern, channels, operand);
        break;
    case UNET_SRC_NUMBER:
        fill(operand, count, (float)term->value);
        break;
    case UNET_SRC_GAUSSIAN:
        push_noise(at, key, channels, (float)term->value, operand);
        break;
    case UNET_SRC_UNIFORM:
        fill(operand, count,
             (float)(term->value + (term->high - term->value) * unet_random_uniform(key, 0)));
        break;
    case UNET_SRC_CLASS:
        fill(operand, count, dataset_folder_class(at->dataset, at->sample, index));
        break;
    default:
        break;
    }
    return UNET_OK;
}

UnetStatus reading_evaluate(const Reading *at, int32_t index) {
    int32_t series = at->dataset->scale[index].first_series, depth = 0;
    const UnetSource *source = &at->dataset->source[index];
    UnetStatus status = UNET_OK;
    for (int32_t t = 0; t < source->nterm && status == UNET_OK; t++) {
        const UnetSourceTerm *term = &source->term[t];
        if (is_operation(term->op)) {
            depth--;
            combine(term->op, operand_of(at, index, depth - 1), operand_of(at, index, depth),
                    (size_t)source->channels * (size_t)reading_columns(at));
            continue;
        }
        UnetKey key = at->key;
        key.stream = UNET_STREAM_SOURCE + (uint32_t)(index * MAX_TERMS + t);
        depth += dataset_pushes(term);
        status = push(at, index, term, series, &key, operand_of(at, index, depth - 1));
        series += term->op == UNET_SRC_FILES;
    }
    return status;
}

/* ---- into the inputs -------------------------------------------------------------------------- */

bool reading_is_beside(const Reading *at, int32_t y, int32_t x) {
    const int32_t point[2] = {y, x};
    bool beside = false;
    for (int axis = 0; axis < 2; axis++) {
        const int32_t shown = at->window.flip[axis] ? at->size[axis] - 1 - point[axis] : point[axis];
        const int32_t behind = shown / at->multiple; /* the start of the window, in points of the file */
        const double place = at->dataset->warps ? at->scratch.from[x][axis] / at->multiple
                                                : (double)(at->window.start[axis] + behind);
        beside |= place < 0 || place >= at->window.file[axis];
    }
    return beside;
}

/* MAP of row Y of the window, with fill for all that lies beside the file. */
static const int32_t *without_padding(const Reading *at, int32_t y, const int32_t *map) {
    for (int32_t x = 0; x < at->size[1]; x++) {
        at->scratch.beside[x] = reading_is_beside(at, y, x) ? -1 : map[x];
    }
    return at->scratch.beside;
}

void reading_store(const Reading *at, const UnetSource *source, int32_t y, const float *value,
                   const int32_t *map) {
    if (source->input < 0 || at->inputs[source->input] == NULL) {
        return;
    }
    const UnetLayout *layout = &at->dataset->program->inputs[source->input];
    const bool labels = at->dataset->model->inputs[source->input].kind == UNET_LABELS;
    int32_t front = (at->dataset->base[2] - layout->size[0]) / 2;
    int32_t top = (at->size[0] - layout->size[1]) / 2;
    int32_t left = (at->size[1] - layout->size[2]) / 2;
    if (y < top || y >= top + layout->size[1] || at->into < front || at->into >= front + layout->size[0]) {
        return;
    }
    if (labels && at->ignores) {
        map = without_padding(at, y, map);
    }
    const int32_t index = (int32_t)(source - at->dataset->source);
    const UnetNormal *normal = reading_normal(at, source);
    float *fill = at->scratch.fill;
    for (int32_t c = 0; c < layout->channels; c++) {
        fill[c] = labels ? UNET_IGNORED : at->window.fill;
    }
    if (normal != NULL) {
        const size_t count = (size_t)reading_columns(at);
        unet_normalize(normal, layout->channels, count, count, value, at->scratch.normal);
        if (dataset_is_masked(at->dataset, index) && at->slice >= 0 && at->row >= 0) {
            mask_row(at, index, normal, at->scratch.normal);
        }
        if (at->window.pad != UNET_PAD_MEAN || labels) {
            unet_normalize(normal, layout->channels, 1, 1, fill, fill);
        }
        value = at->scratch.normal;
    }
    if (at->turn.turns && !labels) {
        turn_blend(at, layout->channels, fill, value, at->scratch.normal);
        value = at->scratch.normal;
    }
    unet_layout_store_row(layout, at->inputs[source->input], at->n, at->into - front, y - top, value,
                          reading_columns(at), map + left, fill);
}

bool reading_reads(const Reading *at, int32_t index) {
    int32_t multiple = at->dataset->scale[index].multiple;
    return !dataset_is_border(at->dataset, index) && !dataset_is_words(at->dataset, index) &&
           (multiple == at->multiple || multiple == ANY_MULTIPLE);
}

/* Stores all sources in every row of the window that shows row SHOWN of the file (-1: the fill). */
static void store_rows(const Reading *at, int32_t shown, const int32_t *map) {
    for (int32_t y = 0; y < at->size[0]; y++) {
        if (at->scratch.map[0][y] != shown) {
            continue;
        }
        for (int32_t s = 0; s < at->dataset->nsource; s++) {
            if (reading_reads(at, s)) {
                reading_store(at, &at->dataset->source[s], y,
                              at->scratch.value + (size_t)s * at->scratch.operand_row, map);
            }
        }
    }
}

static UnetStatus read_rows(Reading *at) {
    UnetStatus status = UNET_OK;
    for (at->row = at->begin[0]; at->row < at->end[0] && status == UNET_OK; at->row++) {
        for (int32_t s = 0; s < at->dataset->nsource && status == UNET_OK; s++) {
            status = reading_reads(at, s) ? reading_evaluate(at, s) : UNET_OK;
        }
        if (status == UNET_OK) {
            store_rows(at, at->row, at->scratch.map[1]);
        }
    }
    if (status == UNET_OK) {
        store_rows(at, -1, at->scratch.nowhere);
    }
    return status;
}

/* ---- the sample ------------------------------------------------------------------------------- */

static UnetStatus open_file(const Reading *at, int32_t series) {
    OpenFile *file = &at->scratch.file[series];
    UnetStatus status =
        dataset_cache_get(at->dataset, at->sample, series, at->memory, &file->kept, at->error);
    if (status != UNET_OK || file->kept != NULL) {
        return status;
    }
    status = dataset_open_file(at->dataset, at->sample, series, at->memory, &file->reader, at->error);
    if (file->reader == NULL) {
        return status;
    }
    return unet_image_skip_rows(file->reader, at->begin[0], at->error);
}

UnetStatus reading_open(Reading *at) {
    UnetStatus status = UNET_OK;
    for (int32_t i = 0; i < at->dataset->nseries; i++) {
        at->scratch.file[i] = (OpenFile){NULL, NULL};
    }
    for (int32_t i = 0; i < at->dataset->nseries && status == UNET_OK; i++) {
        const bool opens = !at->dataset->volumes && reading_reads(at, at->dataset->series[i].source);
        status = opens ? open_file(at, i) : UNET_OK;
    }
    return status;
}

void reading_close(Reading *at) {
    for (int32_t i = 0; i < at->dataset->nseries; i++) {
        unet_image_close(at->scratch.file[i].reader);
    }
}

static UnetStatus read_files(Reading *at) {
    UnetStatus status = reading_open(at);
    if (status == UNET_OK) {
        status = read_rows(at);
    }
    reading_close(at);
    return status;
}

/* nnU-Net's rule: the last samples of a batch show points of a class above 0, as many as their share says;
 * its rounding, of halves to even, makes that one of two for a share of 0.33. */
static void centre_on_foreground(Reading *at, int32_t batch) {
    const UnetDataset *dataset = at->dataset;
    const UnetTransform *crop = window_crop(dataset->transform, dataset->ntransform);
    int32_t voxel[WINDOW_AXES];
    if (crop == NULL || crop->amount[0] == 0 || at->n < nearbyint(batch * (1 - crop->amount[0]))) {
        return;
    }
    UnetKey key = at->key;
    key.stream = UNET_STREAM_TRANSFORM + (uint32_t)(crop - dataset->transform);
    if (dataset_draw_foreground(dataset, at->sample, &key, voxel)) {
        window_centre_on(&at->window, voxel);
    }
}

/* Evaluation has one key for ever, so that a measure means the same after every epoch and for every seed.
 */
static void choose_window(Reading *at, uint64_t seed, uint32_t epoch, int32_t batch) {
    const UnetDataset *dataset = at->dataset;
    const int32_t *size = dataset->base;
    uint32_t sample = (uint32_t)at->sample->stem;
    if (dataset->purpose == UNET_TRAINING) {
        at->key = (UnetKey){.seed = seed, .epoch = epoch, .sample = sample};
        at->window =
            dataset->warps
                ? window_whole(dataset->transform, dataset->ntransform, at->sample->size, size)
                : window_draw(dataset->transform, dataset->ntransform, at->sample->size, size, &at->key);
        centre_on_foreground(at, batch);
        if (dataset_pads(dataset, at->sample)) {
            at->window.pad = dataset->volumes ? UNET_PAD_MEAN : UNET_PAD_REFLECT;
            at->ignores = !dataset->volumes; /* there labels are ignored where nothing is repeated */
        }
    } else {
        at->key = (UnetKey){.epoch = UNET_EVALUATION_EPOCH, .sample = sample};
        at->window = window_centre(dataset->transform, dataset->ntransform, at->sample->size, size);
    }
}

/* Reads the sources whose files have MULTIPLE points for one of the coarsest. */
static UnetStatus read_pass(Reading *at, int32_t multiple) {
    at->multiple = multiple;
    if (at->dataset->warps) {
        return warp_read(at);
    }
    for (int axis = 0; axis < 2; axis++) {
        at->size[axis] = at->window.size[axis] * multiple;
        window_range(&at->window, axis, multiple, &at->begin[axis], &at->end[axis]);
        window_map(&at->window, axis, multiple, at->scratch.map[axis]);
    }
    for (int32_t x = 0; x < at->size[1]; x++) { /* columns count from the first one read */
        at->scratch.nowhere[x] = -1;
        if (at->scratch.map[1][x] >= 0) {
            at->scratch.map[1][x] -= at->begin[1];
        }
    }
    return read_files(at);
}

/* Returns whether source INDEX was read in the pass of an earlier source, or will be read in the pass of a
 * later one. */
static bool is_done(const UnetDataset *dataset, int32_t index) {
    if (dataset->scale[index].multiple == ANY_MULTIPLE) {
        return true;
    }
    for (int32_t s = 0; s < index; s++) {
        if (dataset->scale[s].multiple == dataset->scale[index].multiple) {
            return true;
        }
    }
    return false;
}

UnetStatus unet_dataset_read(const UnetDataset *dataset, int32_t sample, uint64_t seed, uint32_t epoch,
                             void *scratch, UnetImageMemory *memory, void *const *inputs, int32_t n,
                             int32_t batch, int32_t valid[3], UnetError *error) {
    Reading at = {.dataset = dataset,
                  .sample = &dataset->sample[sample],
                  .scratch = scratch_at(&dataset->scratch, scratch),
                  .memory = memory,
                  .inputs = inputs,
                  .n = n,
                  .error = error};
    choose_window(&at, seed, epoch, batch);
    if (dataset->warps) {
        warp_draw(&at.warp, dataset->transform, dataset->ntransform, at.sample->size, dataset->base,
                  &at.key);
    }
    bool training = dataset->purpose == UNET_TRAINING;
    for (int axis = 0; axis < WINDOW_AXES; axis++) {
        int32_t begin, end;
        window_range(&at.window, axis, 1, &begin, &end);
        valid[(axis + 1) % WINDOW_AXES] =
            dataset_valid(dataset, axis, training ? at.window.size[axis] : end - begin);
    }
    if (dataset->volumes) {
        return volume_read(&at);
    }
    UnetStatus status = UNET_OK;
    for (int32_t s = 0; s < dataset->nsource && status == UNET_OK; s++) {
        status = is_done(dataset, s) ? UNET_OK : read_pass(&at, dataset->scale[s].multiple);
    }
    if (status == UNET_OK) {
        missing_settle(&at);
        border_store(&at);
        words_store(&at);
    }
    return status;
}
