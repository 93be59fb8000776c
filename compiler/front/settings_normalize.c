/* settings_normalize.c - `normalize` in the section data: by which numbers inputs are normalised.
 *
 * It is meant of the images that files give to inputs; targets stay as they are, and so do inputs that are
 * noise or numbers alone.
 */
#include "front/lower_state.h"

/* A number, or a list of one for each of up to MOST_NORMALIZED channels. */
static bool read_numbers(const Call *call, const char *name, bool positive, const double **numbers,
                         int *count) {
    const Datum d = argument(call, name)->value;
    const int n = d.kind == DATUM_LIST ? d.count : 1;
    double *list = NEW_ARRAY(call->l->pool, double, n > 0 ? n : 1);
    bool good = n >= 1 && n <= MOST_NORMALIZED;
    for (int i = 0; i < n && good; i++)
        good = datum_number(d.kind == DATUM_LIST ? d.items->item[i] : d, &list[i]) &&
               (!positive || list[i] > 0);
    *numbers = list;
    *count = n;
    return good ||
           report_setting(call, name,
                          pool_text(call->l->pool, "`%s` is a number%s, or a list of one for each channel",
                                    name, positive ? " above 0" : ""));
}

void set_normalize(Call *call) {
    static const char *const choices[] = {"measured", "zscore", "zscore_masked", "ct", NULL};
    static const Normalizing normalizing[] = {NORMALIZED_AS_MEASURED, NORMALIZED_EACH, NORMALIZED_MASKED,
                                              NORMALIZED_CT};
    DataSection *data = &call->l->model->data;
    const bool mean = argument(call, "mean")->value.kind != DATUM_NONE,
               deviation = argument(call, "std")->value.kind != DATUM_NONE;
    int how, count;
    if (argument(call, "how")->value.kind == DATUM_LIST) {
        report_setting(call, "how", "name the numbers: `normalize mean = [0.5], std = [0.5]`");
        return;
    }
    if (!argument_choice(call, "how", choices, &how))
        return;
    data->normalize_span = call->span;
    if (!mean && !deviation) {
        data->normalizing = normalizing[how];
        return;
    }
    if (mean != deviation || argument(call, "how")->given) {
        report_setting(call, NULL,
                       "`normalize` takes `mean` and `std`, or neither: then both are measured");
        return;
    }
    if (!read_numbers(call, "mean", false, &data->mean, &data->nnormal) ||
        !read_numbers(call, "std", true, &data->deviation, &count))
        return;
    if (count != data->nnormal)
        report_setting(call, "std", "`mean` and `std` need equally many numbers");
    else
        data->normalizing = NORMALIZED;
}

static void report_input(Lower *l, const char *what, const char *help) {
    diag_begin(l->diag, ERROR, "U0614", l->model->data.normalize_span, "%s", what);
    if (help != NULL)
        diag_help(l->diag, "%s", help);
    diag_end(l->diag);
}

static void normalize_input(Lower *l, Input *input) {
    const DataSection *data = &l->model->data;
    const int channels = (int)shape_channels(l->graph->value[input->value].shape);
    if (channels > MOST_NORMALIZED) {
        report_input(l,
                     pool_text(l->pool, "`%s` has %d channels, and at most %d are normalised", input->name,
                               channels, MOST_NORMALIZED),
                     NULL);
        return;
    }
    if (data->normalizing == NORMALIZED && data->nnormal > 1 && data->nnormal != channels) {
        report_input(l,
                     pool_text(l->pool, "`normalize` has %d numbers, and `%s` %d channel%s", data->nnormal,
                               input->name, channels, channels == 1 ? "" : "s"),
                     "give one number for each channel, or one for all");
        return;
    }
    input->normalizing = data->normalizing;
    for (int c = 0; c < channels && data->normalizing == NORMALIZED; c++) {
        input->mean[c] = data->mean[data->nnormal > 1 ? c : 0];
        input->deviation[c] = data->deviation[data->nnormal > 1 ? c : 0];
    }
}

/* Measures of each volume, or of a class, are measures of files, and not of tensors made of them. */
static void check_volume(Lower *l, const DataSection *data, const Source *source) {
    const bool ct = data->normalizing == NORMALIZED_CT;
    bool labels = false;
    if (data->normalizing != NORMALIZED_EACH && data->normalizing != NORMALIZED_MASKED && !ct)
        return;
    for (int k = 0; k < source->nterm; k++)
        if (!source->term[k].volumes) {
            report_input(l,
                         pool_text(l->pool,
                                   "`normalize` measures volumes, and `%s` is made of something else, too",
                                   source->name),
                         NULL);
            return;
        }
    for (int i = 0; i < data->nsource; i++)
        labels |= data->source[i].input >= 0 && l->model->input[data->source[i].input].kind == KIND_LABELS;
    if (ct && !labels)
        report_input(l, "`normalize \"ct\"` measures voxels of classes above 0, and there are no labels",
                     "add a target of labels and its source");
}

void normalize_inputs(Lower *l) {
    DataSection *data = &l->model->data;
    int count = 0;
    if (data->normalizing == AS_READ)
        return;
    const bool *reads = reading_files(l, data);
    for (int i = 0; i < data->nsource; i++) {
        const int index = data->source[i].input;
        Input *input = index >= 0 ? &l->model->input[index] : NULL;
        if (input == NULL || input->is_target || input->kind == KIND_LABELS || !reads[i])
            continue;
        normalize_input(l, input);
        check_volume(l, data, &data->source[i]);
        count++;
    }
    if (count > MOST_NORMALIZED_INPUTS)
        report_input(l, pool_text(l->pool, "at most %d inputs are normalised", MOST_NORMALIZED_INPUTS),
                     NULL);
    if (count == 0)
        report_input(l, "no input reads files, so there is nothing to normalise", NULL);
}
