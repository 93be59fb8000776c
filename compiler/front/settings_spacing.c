/* settings_spacing.c - `spacing` and `trim` in the section data: the grid to which volumes are resampled,
 * and whether zeros around them are cut away. */
#include "front/lower_state.h"

#include <math.h>
#include <string.h>

static bool read_width(const Call *call, const char *name, double *width) {
    if (!argument_number(call, name, width))
        return false;
    return (isfinite(*width) && *width > 0) ||
           report_setting(call, name, "`spacing` is how wide voxels are, in mm: numbers above 0");
}

void set_spacing(Call *call) {
    double spacing[3];
    int64_t order;
    DataSection *data = &call->l->model->data;
    if (!read_width(call, "d", &spacing[0]) || !read_width(call, "h", &spacing[1]) ||
        !read_width(call, "w", &spacing[2]) || !argument_integer(call, "order", 1, &order))
        return;
    if (order != 1 && order != 3) {
        report_setting(call, "order",
                       "`order` is 1 or 3: images are linear between voxels, or splines of order 3");
        return;
    }
    data->cubic = order == 3;
    memcpy(data->spacing, spacing, sizeof spacing);
    data->spacing_span = call->span;
}

void check_spacing(Lower *l) {
    const DataSection *data = &l->model->data;
    if (data->spacing[0] == 0 || source_reads_volumes(data))
        return;
    diag_begin(l->diag, ERROR, "U0614", data->spacing_span, "`spacing` is for volumes");
    diag_note(l->diag, "no source of this section reads any");
    diag_end(l->diag);
}

void set_trim(Call *call) {
    DataSection *data = &call->l->model->data;
    argument_truth(call, "on", &data->trims);
    data->trim_span = call->span;
}

static void report_trim(const Lower *l, const char *what) {
    diag_begin(l->diag, ERROR, "U0614", l->model->data.trim_span, "%s", what);
    diag_note(l->diag, "it looks for what is not 0 in the volumes of all inputs");
    diag_end(l->diag);
}

/* The box is measured in files, not in tensors made of them. */
void check_trim(Lower *l) {
    const DataSection *data = &l->model->data;
    bool any = false;
    for (int i = 0; i < data->nsource && data->trims; i++) {
        const Source *source = &data->source[i];
        bool volumes = true;
        if (source->input < 0 || l->model->input[source->input].is_target)
            continue;
        for (int k = 0; k < source->nterm; k++)
            volumes &= source->term[k].volumes;
        any = true;
        if (!volumes)
            report_trim(l,
                        pool_text(l->pool, "`trim` is for volumes, and `%s` is not made of volumes alone",
                                  source->name));
    }
    if (data->trims && !any)
        report_trim(l, "`trim` is for volumes, and no input reads any");
}
