/* settings_data_checks.c - what the sources of data and eval must be as a whole: each input has one, sizes
 * go together, pictures are no volumes.
 */
#include "front/lower_state.h"
#include "unet/words.h"

/* A source that fills nothing may have been meant for NAME. */
static void help_unused_source(Lower *l, const DataSection *data, const char *name) {
    const char **names = NULL;
    int count = 0, index;
    const Source *source = data->source, *end = source == NULL ? NULL : source + data->nsource;
    for (; source != end; source++)
        if (find_input(l, source->name, &index) == NULL)
            PUSH(l->pool, names, count, source->name);
    const char *near = unet_nearest_word(name, names, count);
    if (near != NULL)
        diag_help(l->diag, "did you mean `%s`? It fills nothing yet", near);
}

/* The ending of the files that usually fill INPUT. */
static const char *ending_of(const Lower *l, const Input *input) {
    return input->kind == KIND_SIGNAL                                ? "wav"
           : l->graph->value[input->value].shape.rank == VOLUME_RANK ? "nii.gz"
                                                                     : "png";
}

static void check_filled(Lower *l, const DataSection *data, bool targets) {
    for (int i = 0; i < l->model->ninput; i++) {
        const Input *input = &l->model->input[i];
        if ((input->is_target && !targets) || find_source(data, input->name) != NULL ||
            is_drawn(l->model, i))
            continue;
        diag_begin(l->diag, ERROR, "U0605", data->span, "`%s` has no source", input->name);
        diag_note(l->diag, "`%s %s` is declared on line %d", input->is_target ? "target" : "input",
                  input->name, input->span.line);
        help_unused_source(l, data, input->name);
        if (input->kind == KIND_NUMBER)
            diag_help(l->diag, "add `%s = uniform(0, 1)`, for example", input->name);
        else
            diag_help(l->diag, "add `%s = %s(\"%s/*.%s\")`", input->name, reading_call(input), input->name,
                      ending_of(l, input));
        diag_end(l->diag);
    }
}

static Shape input_shape(const Lower *l, int input) {
    return l->graph->value[l->model->input[input].value].shape;
}

/* How many times the files of an input are as large as the files of the first, along each axis: 1 if the
 * input is no larger, 0 if no whole number says it.  While sizes are tried, only one axis counts. */
static int64_t times_larger(const Lower *l, int input) {
    Shape first = input_shape(l, 0), own = input_shape(l, input);
    int64_t times = 1;
    bool larger = false, whole = true, begun = false;
    for (int axis = 0; axis < AXES; axis++) {
        int64_t small = shape_extent(first, axis), large = shape_extent(own, axis);
        if ((l->only_axis >= 0 && axis != l->only_axis) || (small == 1 && large == 1))
            continue;
        larger |= large > small;
        whole &= large % small == 0 && (!begun || large / small == times);
        times = large / small;
        begun = true;
    }
    return !larger ? 1 : whole ? times : 0;
}

/* Files of signals have one length, and so have the inputs and targets; a shorter one gets the middle. */
static void report_longer(Lower *l, const Input *input) {
    const Input *first = &l->model->input[0];
    diag_begin(l->diag, ERROR, "U0202", input->size_span.line > 0 ? input->size_span : input->span,
               "`%s` is longer than `%s`, and this version of unetc reads files of one length", input->name,
               first->name);
    diag_help(l->diag,
              "bring the files to one rate beforehand, and `%s : signal(%lld)` to the length of `%s`",
              input->name, (long long)shape_channels(l->graph->value[input->value].shape), first->name);
    diag_end(l->diag);
}

static void check_input_sizes(Lower *l) {
    for (int i = 1; i < l->model->ninput; i++) {
        const Input *input = &l->model->input[i], *first = &l->model->input[0];
        const int64_t times = times_larger(l, i);
        if (times == 1 || (times > 1 && first->kind != KIND_SIGNAL))
            continue;
        if (first->kind == KIND_SIGNAL) {
            report_longer(l, input);
            continue;
        }
        diag_begin(l->diag, ERROR, "U0213", input->size_span.line > 0 ? input->size_span : input->span,
                   "`%s` is %s: its sizes must be the same whole multiple of those of `%s`, %s",
                   input->name, shape_text(l->pool, input_shape(l, i)), first->name,
                   shape_text(l->pool, input_shape(l, 0)));
        diag_note(l->diag,
                  "a larger picture has 2, 3 or more times as many points, the same along each axis");
        diag_end(l->diag);
    }
}

const bool *reading_files(const Lower *l, const DataSection *data) {
    bool *reads = NEW_ARRAY(l->pool, bool, data->nsource);
    for (int i = 0; i < data->nsource; i++)
        for (int k = 0; k < data->source[i].nterm; k++) {
            const SourceTerm *term = &data->source[i].term[k];
            reads[i] |=
                term->op == SOURCE_FILES ||
                ((term->op == SOURCE_NAME || term->op == SOURCE_BORDER || source_tells_words(term)) &&
                 reads[find_source(data, term->text) - data->source]);
        }
    return reads;
}

bool source_reads_volumes(const DataSection *data) {
    for (int i = 0; i < data->nsource; i++)
        for (int k = 0; k < data->source[i].nterm; k++)
            if (data->source[i].term[k].volumes)
                return true;
    return false;
}

/* Whether SOURCE reads volumes, itself or through sources above it. */
static bool has_volumes(const DataSection *data, const Source *source) {
    bool found = false;
    for (int k = 0; k < source->nterm && !found; k++) {
        const SourceTerm *term = &source->term[k];
        found =
            term->volumes || (term->op == SOURCE_NAME && has_volumes(data, find_source(data, term->text)));
    }
    return found;
}

/* A picture has one slice. */
static void report_images(Lower *l, const Source *source) {
    const long long slices = shape_extent(input_shape(l, source->input), 0);
    diag_begin(l->diag, ERROR, "U0606", source->span, "`%s` is a volume, and this reads images",
               source->name);
    diag_note(l->diag, "an image has one slice, and `%s` has %lld", source->name, slices);
    diag_help(l->diag, "write `volumes(\"%s/*.nii.gz\")`, which reads NIfTI files", source->name);
    diag_end(l->diag);
}

/* Samples are pictures or volumes, all of them. */
static void report_mixture(Lower *l, const Source *source) {
    diag_begin(l->diag, ERROR, "U0606", source->span,
               "`%s` reads images, and other sources of this section read volumes", source->name);
    diag_note(l->diag, "the files of a sample show the same place, point by point");
    diag_help(l->diag, "declare `%s` as a volume, and read it by `volumes(...)`", source->name);
    diag_end(l->diag);
}

static void report_larger(Lower *l, const Source *source) {
    diag_begin(l->diag, ERROR, "U0213", source->span,
               "`%s` is larger than the first input, and volumes of one sample have one size",
               source->name);
    diag_help(l->diag, "give it the sizes of the first input: `resize` enlarges a result");
    diag_end(l->diag);
}

static void check_volumes(Lower *l, const DataSection *data, const bool *reads) {
    const bool volumes = source_reads_volumes(data);
    for (int i = 0; i < data->nsource; i++) {
        const Source *source = &data->source[i];
        const bool filled = source->input >= 0;
        if (!reads[i])
            continue;
        if (filled && shape_extent(input_shape(l, source->input), 0) > 1 && !has_volumes(data, source) &&
            source->term[0].op != SOURCE_BORDER)
            report_images(l, source);
        else if (volumes && !has_volumes(data, source))
            report_mixture(l, source);
        else if (volumes && filled && times_larger(l, source->input) > 1)
            report_larger(l, source);
    }
}

/* The files of one source have one size. Returns for each source how many times as large they are as the
 * first input's. */
static const int64_t *check_shared_files(Lower *l, const DataSection *data, const bool *reads) {
    int64_t *times = NEW_ARRAY(l->pool, int64_t, data->nsource);
    for (int i = data->nsource - 1; i >= 0; i--) {
        const Source *source = &data->source[i];
        times[i] = source->input >= 0 ? times_larger(l, source->input) : times[i];
        for (int k = 0; k < source->nterm && times[i] > 0; k++) {
            const Source *named =
                source->term[k].op == SOURCE_NAME ? find_source(data, source->term[k].text) : NULL;
            if (named == NULL || (named->input < 0 && !reads[named - data->source]))
                continue;
            int64_t *wanted = &times[named - data->source];
            int64_t has = named->input >= 0 ? times_larger(l, named->input) : *wanted;
            if (has > 0 && has != times[i]) {
                diag_begin(l->diag, ERROR, "U0620", source->term[k].span,
                           "`%s` is read into inputs of different sizes", named->name);
                diag_also(l->diag, named->span, "set here");
                diag_help(l->diag, "give each input files of its own: `%s = images(\"%s/*.png\")`",
                          source->name, source->name);
                diag_end(l->diag);
            }
            *wanted = times[i];
        }
    }
    return times;
}

static void check_data(Lower *l, DataSection *data, bool targets) {
    const bool *reads = reading_files(l, data);
    check_filled(l, data, targets);
    check_volumes(l, data, reads);
    resize_sources(l, data, &l->model->data, check_shared_files(l, data, reads));
}

void check_sources(Lower *l) {
    Model *model = l->model;
    if (model->data.present || model->eval_data.nsource > 0)
        check_input_sizes(l);
    if (model->data.present)
        check_data(l, &model->data, model->train.present);
    if (model->eval_data.nsource > 0) {
        model->eval_data.span = model->eval.span;
        check_data(l, &model->eval_data, true);
    }
    model->eval_data.present = model->eval_data.nsource > 0;
}
