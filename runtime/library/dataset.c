/* dataset.c - the samples a model is trained and evaluated on: which section says so, what its sources
 * read, which samples fall to training and which to evaluation. */
#include "dataset_parts.h"
#include "unet/rng.h"
#include "warp.h"
#include "unet/words.h"

#include <math.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static UnetStatus out_of_memory(UnetError *error) {
    return unet_fail(error, UNET_TOO_SMALL, "out of memory while reading the headers of the data");
}

/* ---- sources ---------------------------------------------------------------------------------- */

static bool has_own_sources(const UnetModel *model) {
    return model->eval_data != NULL && model->eval_data->nsource > 0;
}

bool unet_dataset_exists(const UnetModel *model, UnetPurpose purpose) {
    bool has_data = model->data != NULL && model->data->nsource > 0;
    if (purpose == UNET_TRAINING) {
        return has_data && model->train != NULL;
    }
    return model->eval != NULL &&
           (has_own_sources(model) || (has_data && (model->data->holdout > 0 || model->data->folds > 0)));
}

static void choose_sections(UnetDataset *dataset) {
    const UnetModel *model = dataset->model;
    bool training = dataset->purpose == UNET_TRAINING;
    const UnetData *sources = !training && has_own_sources(model) ? model->eval_data : model->data;
    const UnetData *transforms = !training && model->eval_data != NULL && model->eval_data->ntransform > 0
                                     ? model->eval_data
                                     : model->data;
    dataset->program = training ? model->train : model->eval;
    dataset->source = sources->source;
    dataset->nsource = sources->nsource;
    if (transforms != NULL) {
        dataset->transform = transforms->transform;
        dataset->ntransform = transforms->ntransform;
    }
    dataset->warps = training && warp_needed(dataset->transform, dataset->ntransform);
}

/* How TERM changes the number of operands at hand. */
static int32_t effect(UnetSourceOp op) {
    return op >= UNET_SRC_ADD ? -1 : 1;
}

int32_t dataset_source(const UnetDataset *dataset, int32_t before, const char *name) {
    for (int32_t i = 0; i < before; i++) {
        if (strcmp(dataset->source[i].name, name) == 0) {
            return i;
        }
    }
    return -1;
}

/* Whether the window is as large as an input of this SIZE, larger, or a whole number of times smaller. */
static bool fits_window(const int32_t size[2], const int32_t window[2]) {
    int32_t times = size[0] / window[0];
    return (size[0] <= window[0] && size[1] <= window[1]) ||
           ((int64_t)times * window[0] == size[0] && (int64_t)times * window[1] == size[1]);
}

/* Whether the source can fill its input: as many channels, and of a size that fits the window. */
static bool fits_input(const UnetDataset *dataset, const UnetSource *source) {
    if (source->input < 0) {
        return true;
    }
    if (source->input >= dataset->model->ninput) {
        return false;
    }
    const UnetLayout *layout = &dataset->program->inputs[source->input];
    return layout->sample_bytes == 0 || (layout->channels == source->channels &&
                                         fits_window(layout->size + 1, dataset->program->size + 1));
}

/* The table comes from our own compiler, so a fault here is our bug. */
static UnetStatus check_source(UnetDataset *dataset, int32_t index, UnetError *error) {
    const UnetSource *source = &dataset->source[index];
    int32_t depth = 0;
    bool good = source->nterm <= MAX_TERMS && source->channels > 0 && fits_input(dataset, source) &&
                (source->nterm == 1 || !dataset_is_labels(dataset, index)) &&
                (!source->colours || source->values != NULL);
    for (int32_t t = 0; good && t < source->nterm; t++) {
        const UnetSourceTerm *term = &source->term[t];
        depth += dataset_pushes(term) ? effect(term->op) : 0;
        good = depth >= 1;
        dataset->depth = depth > dataset->depth ? depth : dataset->depth;
        if (term->op == UNET_SRC_FILES) {
            dataset->volumes |= term->volumes;
            good = good && term->channel < source->channels && unet_pattern_mistake(term->pattern) == NULL;
            dataset->nseries++;
        } else if (term->op == UNET_SRC_NAME) {
            int32_t earlier = dataset_source(dataset, index, term->pattern);
            int32_t channels = earlier >= 0 ? dataset->source[earlier].channels : 0;
            good = good && (channels == source->channels || channels == 1);
        }
    }
    if (!good || depth != 1) {
        return unet_fail(error, UNET_BUG, "the data source \"%.100s\" is malformed", source->name);
    }
    dataset->channels = source->channels > dataset->channels ? source->channels : dataset->channels;
    return dataset_is_border(dataset, index)  ? dataset_check_border(dataset, index, error)
           : dataset_is_words(dataset, index) ? dataset_check_made_of_words(dataset, index, error)
                                              : UNET_OK;
}

static UnetStatus list_series(UnetDataset *dataset, bool own_size, UnetError *error) {
    if (dataset->nsource > MAX_SOURCES) {
        return unet_fail(error, UNET_BUG, "too many data sources");
    }
    for (int32_t s = 0; s < dataset->nsource; s++) {
        UnetStatus status = check_source(dataset, s, error);
        if (status != UNET_OK) {
            return status;
        }
    }
    if (dataset->nseries == 0) {
        return unet_fail(error, UNET_IO,
                         "no source of the data reads files: write one with `images` or `volumes`");
    }
    dataset->series = calloc((size_t)dataset->nseries, sizeof *dataset->series);
    dataset->scale = calloc((size_t)dataset->nsource, sizeof *dataset->scale);
    if (dataset->series == NULL || dataset->scale == NULL || !dataset_make_classes(dataset)) {
        return out_of_memory(error);
    }
    FileSeries *next = dataset->series;
    for (int32_t s = 0; s < dataset->nsource; s++) {
        const UnetSource *source = &dataset->source[s];
        dataset->scale[s].first_series = (int32_t)(next - dataset->series);
        for (int32_t t = 0; t < source->nterm; t++) {
            if (source->term[t].op == UNET_SRC_FILES) {
                *next++ = (FileSeries){.pattern = source->term[t].pattern,
                                       .more = source->term[t].more,
                                       .list = source->term[t].list,
                                       .column = source->term[t].column,
                                       .way = source->term[t].way,
                                       .channels = !dataset_is_labels(dataset, s) ? source->channels
                                                   : source->colours              ? UNET_IMAGE_COLOURS
                                                                                  : UNET_IMAGE_CLASSES,
                                       .source = s};
                if (own_size) {
                    next[-1].way.fit = UNET_FIT_NONE;
                }
            }
        }
    }
    return UNET_OK;
}

/* ---- which samples ---------------------------------------------------------------------------- */

/* Returns the share of random_split, rounded down; the rest stays in training. */
static int32_t held_out(const UnetData *data, int32_t count) {
    return data != NULL && data->holdout > 0 ? (int32_t)floor(data->holdout * count) : 0;
}

static int ascending(const void *a, const void *b) {
    return *(const int32_t *)a - *(const int32_t *)b;
}

/* As nnU-Net splits: scikit-learn's KFold(folds, shuffle=True) and, behind the last of these, a fifth that
 * the number of the fold draws.  ORDER lists the samples to train on, then the samples held out; returns
 * how many are held out. */
static int32_t fold_order(const UnetData *data, int32_t fold, int32_t count, int32_t *order) {
    const bool extra = fold >= data->folds;
    const int32_t share = count / data->folds, larger = count % data->folds;
    int32_t held = share + (fold < larger), first = fold * share + (fold < larger ? fold : larger);
    if (extra) {
        first = (int32_t)(count * 0.8);
        held = count - first;
    }
    unet_numpy_permutation(data->fold_seed + (extra ? (uint32_t)fold : 0), count, order);
    for (int32_t i = first; i < first + held; i++) { /* out of the way of sorting */
        order[i] += count;
    }
    qsort(order, (size_t)count, sizeof *order, ascending);
    for (int32_t i = count - held; i < count; i++) {
        order[i] -= count;
    }
    return held;
}

static UnetStatus fail_empty(const UnetData *data, int32_t count, bool evaluation, UnetError *error) {
    const char *what = evaluation ? "evaluation" : "training";
    if (data->folds > 0) {
        return unet_fail(error, UNET_IO,
                         "%d folds of %d sample%s leave none for %s: write a smaller number of `folds`",
                         (int)data->folds, (int)count, unet_plural(count), what);
    }
    return unet_fail(
        error, UNET_IO,
        "holdout %g of %d sample%s leaves none for %s: write a %s share, or leave `holdout` out",
        data->holdout, (int)count, unet_plural(count), what, evaluation ? "larger" : "smaller");
}

static UnetStatus split(UnetDataset *dataset, int32_t fold, bool holdout, UnetError *error) {
    const UnetData *data = dataset->model->data;
    int32_t count = dataset->stems.count;
    bool own = dataset->purpose == UNET_EVALUATION && has_own_sources(dataset->model);
    int32_t held = own || !holdout ? 0 : held_out(data, count);
    int32_t *order = calloc((size_t)(count > 0 ? count : 1), sizeof *order);
    dataset->sample = calloc((size_t)(count > 0 ? count : 1), sizeof *dataset->sample);
    if (order == NULL || dataset->sample == NULL) {
        free(order);
        return out_of_memory(error);
    }
    for (int32_t i = 0; i < count; i++) {
        order[i] = i;
    }
    const bool folds = !own && holdout && data != NULL && data->folds > 0;
    if (folds) {
        held = fold_order(data, fold, count, order);
    } else if (held > 0) {
        unet_split_order((uint64_t)data->holdout_seed, count, order);
    }
    bool evaluates_held = dataset->purpose == UNET_EVALUATION && !own && holdout;
    int32_t first = evaluates_held ? count - held : 0;
    dataset->nsample = evaluates_held ? held : count - held;
    for (int32_t i = 0; i < dataset->nsample; i++) {
        dataset->sample[i].stem = order[first + i];
    }
    free(order);
    if (dataset->nsample == 0 && count > 0) {
        return fail_empty(data, count, evaluates_held, error);
    }
    return UNET_OK;
}

/* ---- the interface ---------------------------------------------------------------------------- */

static UnetStatus build(UnetDataset *dataset, UnetDataPlace place, bool holdout, Listener *listener,
                        UnetError *error) {
    dataset->folder = strdup(place.folder != NULL ? place.folder : ".");
    dataset->cache_folder = place.cache != NULL ? strdup(place.cache) : NULL;
    if (dataset->folder == NULL || (place.cache != NULL && dataset->cache_folder == NULL)) {
        return out_of_memory(error);
    }
    choose_sections(dataset);
    UnetStatus status = list_series(dataset, place.own_size, error);
    dataset->warps &= !dataset->volumes; /* their windows have the size of the input */
    if (status == UNET_OK) {
        status = dataset_check_missing(dataset, error);
    }
    if (status == UNET_OK) {
        status = dataset_match(dataset, listener, error);
    }
    if (status == UNET_OK) {
        status = dataset_scale(dataset, error);
    }
    if (status == UNET_OK) {
        status = split(dataset, place.fold, holdout, error);
    }
    if (status == UNET_OK) {
        status = dataset_class_samples(dataset, error);
    }
    if (status == UNET_OK && dataset->volumes) {
        dataset_decode_volumes(dataset, place);
    }
    if (status == UNET_OK) {
        status = dataset_probe(dataset, listener, error);
    }
    if (status == UNET_OK && listener != NULL && listener->decodes) {
        status = dataset_leave_bad(dataset, listener, error);
    }
    if (status == UNET_OK && !(dataset_plan_scratch(dataset) && dataset_cache_plan(dataset))) {
        status = unet_fail(error, UNET_TOO_SMALL, "the files are too large to be read");
    }
    return status;
}

UnetStatus dataset_open(UnetDataset **dataset, const UnetModel *model, UnetPurpose purpose,
                        UnetDataPlace place, bool holdout, Listener *listener, UnetError *error) {
    *dataset = NULL;
    const bool all = !holdout && purpose == UNET_EVALUATION && model->eval != NULL && model->data != NULL &&
                     model->data->nsource > 0;
    if (!all && !unet_dataset_exists(model, purpose)) {
        return unet_fail(error, UNET_USAGE, "%s has no data for %s: add sources to the section `%s`",
                         model->source, purpose == UNET_TRAINING ? "training" : "evaluation",
                         purpose == UNET_TRAINING ? "data" : "eval");
    }
    UnetDataset *opened = calloc(1, sizeof *opened);
    if (opened == NULL) {
        return out_of_memory(error);
    }
    opened->model = model;
    opened->purpose = purpose;
    UnetStatus status = build(opened, place, holdout, listener, error);
    if (status != UNET_OK) {
        unet_dataset_close(opened);
        return status;
    }
    *dataset = opened;
    return UNET_OK;
}

UnetStatus unet_dataset_open(UnetDataset **dataset, const UnetModel *model, UnetPurpose purpose,
                             UnetDataPlace place, UnetError *error) {
    Listener listener = {.report = place.skip, .context = place.context, .decodes = true};
    return dataset_open(dataset, model, purpose, place, true, place.skip != NULL ? &listener : NULL, error);
}

UnetStatus unet_dataset_open_evaluation(UnetDataset **dataset, const UnetModel *model, UnetDataPlace place,
                                        UnetError *error) {
    Listener listener = {.report = place.skip, .context = place.context, .decodes = true};
    return dataset_open(dataset, model, UNET_EVALUATION, place, false,
                        place.skip != NULL ? &listener : NULL, error);
}

void unet_dataset_close(UnetDataset *dataset) {
    if (dataset != NULL) {
        dataset_cache_free(dataset);
        stems_free(&dataset->stems);
        free(dataset->folder);
        dataset_free_classes(dataset);
        free(dataset->folder_class);
        for (int32_t i = 0; dataset->series != NULL && i < dataset->nseries; i++) {
            stems_free(&dataset->series[i].word);
        }
        free(dataset->series);
        for (int32_t i = 0; dataset->sample != NULL && i < dataset->nsample; i++) {
            dataset_close_volumes(dataset, &dataset->sample[i]);
        }
        free(dataset->cache_folder);
        free(dataset->scale);
        free(dataset->sample);
        free(dataset);
    }
}

void unet_dataset_normalize(UnetDataset *dataset, const UnetNormal *normal) {
    dataset->normal = normal;
}

const UnetNormal *dataset_normal(const UnetDataset *dataset, int32_t input) {
    const UnetInput *into = &dataset->model->inputs[input];
    const bool known = into->normalizing == UNET_NORMALIZED;
    if (into->normalizing == UNET_AS_READ || (!known && dataset->normal == NULL)) {
        return NULL;
    }
    return dataset->normal != NULL ? &dataset->normal[input] : &into->normal;
}

UnetPurpose unet_dataset_purpose(const UnetDataset *dataset) {
    return dataset->purpose;
}

const UnetProgram *unet_dataset_program(const UnetDataset *dataset) {
    return dataset->program;
}

int32_t unet_dataset_samples(const UnetDataset *dataset) {
    return dataset->nsample;
}

const char *unet_dataset_stem(const UnetDataset *dataset, int32_t sample) {
    const StemList *names = dataset->several_folders ? &dataset->series[0].word : &dataset->stems;
    return names->item[dataset->sample[sample].stem];
}

/* The series from which input INPUT comes, or -1. */
static int32_t series_of(const UnetDataset *dataset, int32_t input) {
    int32_t series = -1;
    for (int32_t s = 0; s < dataset->nsource; s++) {
        series = dataset->source[s].input == input ? dataset->scale[s].series : series;
    }
    return series;
}

const char *unet_dataset_name(const UnetDataset *dataset, int32_t sample) {
    const int32_t series = series_of(dataset, 0);
    return dataset->series[series < 0 ? 0 : series].word.item[dataset->sample[sample].stem];
}

UnetStatus unet_dataset_file(const UnetDataset *dataset, int32_t sample, int32_t input,
                             char path[UNET_PATH_BYTES], UnetError *error) {
    const int32_t series = series_of(dataset, input);
    if (series < 0) {
        return unet_fail(error, UNET_IO, "no file fills input %" PRId32, input);
    }
    return dataset_path(dataset, &dataset->series[series], &dataset->sample[sample], path, error);
}

size_t unet_dataset_decoder_bytes(const UnetDataset *dataset) {
    return dataset->decoder_bytes;
}
