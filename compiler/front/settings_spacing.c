/* settings_spacing.c - `spacing` in the section data: the grid to which volumes are resampled. */
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
    DataSection *data = &call->l->model->data;
    if (!read_width(call, "d", &spacing[0]) || !read_width(call, "h", &spacing[1]) ||
        !read_width(call, "w", &spacing[2]))
        return;
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
