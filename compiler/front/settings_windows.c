/* settings_windows.c - the settings of `predict` for volumes: windows that overlap, and regions that are
 * written as one map of classes. */
#include "front/lower_state.h"

enum { MOST_VOXELS = 32767 }; /* along an axis of a NIfTI file */

static bool read_most(const Call *call, const char *name, int64_t *most) {
    if (!argument_integer(call, name, 1, most))
        return false;
    return *most <= MOST_VOXELS ||
           report_setting(call, name, "a volume has at most 32767 voxels along an axis");
}

static bool read_overlap_share(const Call *call, double *share) {
    if (!argument_number(call, "overlap", share))
        return false;
    return (*share >= 0 && *share <= 0.9) ||
           report_setting(
               call, "overlap",
               "`overlap` is the share of a window that its neighbours have, too: from 0 to 0.9");
}

void set_windows(Call *call) {
    static const char *const choices[] = {"gaussian", "none", NULL};
    Windows windows = {.span = call->span};
    int blend;
    const bool mirrors = argument(call, "mirror")->value.kind != DATUM_NONE;
    if (read_most(call, "h", &windows.most[0]) && read_most(call, "w", &windows.most[1]) &&
        read_overlap_share(call, &windows.overlap) && argument_choice(call, "blend", choices, &blend) &&
        (!mirrors || read_axes(call, "mirror", &windows.mirror))) {
        windows.gaussian = blend == 0;
        call->l->model->predict.windows = windows;
    }
}

void check_windows(Lower *l) {
    const Model *model = l->model;
    const Windows *windows = &model->predict.windows;
    if (windows->most[0] == 0 || model->ninput == 0 || model->input[0].kind == KIND_VOLUME)
        return;
    diag_begin(l->diag, ERROR, "U0614", windows->span, "`windows` is for volumes");
    diag_note(l->diag, "the first input, `%s`, is none: write `size h, w` for larger images",
              model->input[0].name);
    diag_end(l->diag);
}

void set_regions(Call *call) {
    const Datum list = argument(call, "classes")->value;
    Regions regions = {.span = call->span};
    bool good = list.kind == DATUM_LIST && list.count >= 1 && list.count <= MOST_REGIONS;
    for (int i = 0; i < list.count && good; i++) {
        const Datum class = list.items->item[i];
        good = class.kind == DATUM_INTEGER && class.integer >= 1 && class.integer <= INT16_MAX;
        regions.class[i] = good ? (int32_t) class.integer : 0;
    }
    if (!good) {
        report_setting(call, "classes",
                       "`regions` has the class of each channel, a whole number from 1 on");
        return;
    }
    regions.count = list.count;
    if (argument_number(call, "above", &regions.above))
        call->l->model->predict.regions = regions;
}

void check_regions(Lower *l) {
    const Model *model = l->model;
    const Regions *regions = &model->predict.regions;
    for (int i = 0; i < model->noutput; i++) {
        const Shape shape = l->graph->value[model->output[i].value].shape;
        if (shape.rank == 4 && model->output[i].classes == 0 && shape_channels(shape) == regions->count)
            return;
    }
    if (regions->count == 0)
        return;
    diag_begin(l->diag, ERROR, "U0614", regions->span, "no output is a volume of %d channel%s",
               regions->count, regions->count == 1 ? "" : "s");
    diag_note(l->diag, "`regions` has a class for each channel of an output");
    diag_end(l->diag);
}
