/* dataset_border.c - sources that are border_weight(): made of the labels of a sample once these lie in
 * their input, so that a window, however it was scaled, turned or bent, has the weights of what it shows.
 */
#include "border_weight.h"
#include "dataset_reading.h"
#include "size_math.h"
#include "unet/layout.h"

bool dataset_is_border(const UnetDataset *dataset, int32_t index) {
    return dataset->source[index].term[0].op == UNET_SRC_BORDER;
}

/* The input with the labels of source INDEX; -1: there is none. */
static int32_t labels_of(const UnetDataset *dataset, int32_t index) {
    const int32_t earlier = dataset_source(dataset, index, dataset->source[index].term[0].pattern);
    return earlier >= 0 && dataset_is_labels(dataset, earlier) ? dataset->source[earlier].input : -1;
}

static bool is_filled(const UnetDataset *dataset, int32_t input) {
    return input >= 0 && dataset->program->inputs[input].sample_bytes > 0;
}

UnetStatus dataset_check_border(const UnetDataset *dataset, int32_t index, UnetError *error) {
    const UnetSource *source = &dataset->source[index];
    const int32_t labels = labels_of(dataset, index);
    if (source->nterm != 1 || source->channels != 1 || labels < 0) {
        return unet_fail(error, UNET_BUG, "the data source \"%.100s\" is malformed", source->name);
    }
    if (!is_filled(dataset, source->input) || !is_filled(dataset, labels)) {
        return is_filled(dataset, source->input)
                   ? unet_fail(error, UNET_IO,
                               "line %d: \"%.100s\" needs the classes of \"%.100s\", which no loss or "
                               "metric reads",
                               (int)source->term[0].line, source->name, source->term[0].pattern)
                   : UNET_OK;
    }
    const int32_t *size = dataset->program->inputs[source->input].size;
    const int32_t *same = dataset->program->inputs[labels].size;
    return size[1] == same[1] && size[2] == same[2]
               ? UNET_OK
               : unet_fail(error, UNET_BUG, "the data source \"%.100s\" has another size", source->name);
}

/* ---- working memory: weights, classes, a row, and the scratch of border_weight() ---- */

typedef struct {
    size_t weights, classes, row, work, bytes;
} Parts;

static bool parts_of(const UnetLayout *layout, Parts *parts) {
    size_t points, work;
    ScratchPlan plan = {0};
    if (!border_weight_bytes(layout->size[1], layout->size[2], &work)) {
        return false;
    }
    points = (size_t)layout->size[1] * (size_t)layout->size[2];
    const bool good = scratch_reserve(&plan, &parts->weights, points, sizeof(float)) &&
                      scratch_reserve(&plan, &parts->classes, points, sizeof(uint8_t)) &&
                      scratch_reserve(&plan, &parts->row, (size_t)layout->size[2], sizeof(float)) &&
                      scratch_reserve(&plan, &parts->work, work, 1);
    parts->bytes = plan.bytes;
    return good;
}

bool border_plan_scratch(UnetDataset *dataset) {
    size_t most = 0;
    for (int32_t s = 0; s < dataset->nsource; s++) {
        Parts parts;
        if (!dataset_is_border(dataset, s) || !is_filled(dataset, dataset->source[s].input)) {
            continue;
        }
        if (!parts_of(&dataset->program->inputs[dataset->source[s].input], &parts)) {
            return false;
        }
        most = parts.bytes > most ? parts.bytes : most;
    }
    return scratch_reserve(&dataset->scratch, &dataset->scratch.border, most, 1);
}

/* ---- a sample ---- */

static void load_classes(const Reading *at, int32_t input, uint8_t *classes, float *row) {
    const UnetLayout *layout = &at->dataset->program->inputs[input];
    const int32_t width = layout->size[2];
    for (int32_t y = 0; y < layout->size[1]; y++) {
        unet_layout_load_row(layout, at->inputs[input], at->n, 0, y, row);
        for (int32_t x = 0; x < width; x++) {
            classes[(size_t)y * (size_t)width + (size_t)x] = (uint8_t)row[x];
        }
    }
}

static void store_weights(const Reading *at, int32_t index, int32_t labels) {
    const UnetSource *source = &at->dataset->source[index];
    const UnetLayout *layout = &at->dataset->program->inputs[source->input];
    const BorderWeight by = {source->term[0].value, source->term[0].high};
    const int32_t height = layout->size[1], width = layout->size[2];
    char *base = at->scratch.border;
    int32_t *same = at->scratch.map[1]; /* nobody needs it any more */
    Parts parts = {0};
    (void)parts_of(layout, &parts); /* as when it was planned */
    float *weight = (void *)(base + parts.weights);
    uint8_t *classes = (void *)(base + parts.classes);
    load_classes(at, labels, classes, (void *)(base + parts.row));
    border_weight(&by, height, width, classes, base + parts.work, weight);
    for (int32_t x = 0; x < width; x++) {
        same[x] = x;
    }
    for (int32_t y = 0; y < height; y++) {
        unet_layout_store_row(layout, at->inputs[source->input], at->n, 0, y,
                              weight + (size_t)y * (size_t)width, width, same, NULL);
    }
}

void border_store(const Reading *at) {
    for (int32_t s = 0; s < at->dataset->nsource; s++) {
        const int32_t input = at->dataset->source[s].input;
        if (dataset_is_border(at->dataset, s) && is_filled(at->dataset, input) &&
            at->inputs[input] != NULL) {
            store_weights(at, s, labels_of(at->dataset, s));
        }
    }
}
