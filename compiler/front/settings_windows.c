/* settings_windows.c - the settings of `predict` for files larger than the network's input: how windows
 * overlap, are blended and mirrored; and, of volumes, regions that are written as one map of classes. */
#include "front/lower_state.h"

enum { MOST_VOXELS = 32767 }; /* along an axis of a NIfTI file */

/* For volumes the file gives both or none. */
static bool read_most(const Call *call, int64_t most[2]) {
    static const char *const name[] = {"h", "w"};
    const bool given[] = {argument(call, "h")->value.kind != DATUM_NONE,
                          argument(call, "w")->value.kind != DATUM_NONE};
    if (given[0] != given[1])
        return report_setting(call, name[given[0] ? 0 : 1],
                              "`windows` has a height and a width, or neither");
    for (int k = 0; k < 2 && given[k]; k++) {
        if (!argument_integer(call, name[k], 1, &most[k]))
            return false;
        if (most[k] > MOST_VOXELS)
            return report_setting(call, name[k], "a volume has at most 32767 voxels along an axis");
    }
    return true;
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
    Windows windows = {.given = true, .span = call->span};
    int blend;
    const bool mirrors = argument(call, "mirror")->value.kind != DATUM_NONE;
    if (read_most(call, windows.most) && read_overlap_share(call, &windows.overlap) &&
        argument_choice(call, "blend", choices, &blend) &&
        (!mirrors || read_axes(call, "mirror", &windows.mirror))) {
        windows.gaussian = blend == 0;
        call->l->model->predict.windows = windows;
    }
}

void check_windows(Lower *l) {
    const Model *model = l->model;
    const Windows *windows = &model->predict.windows;
    const bool depth = (windows->mirror & 1) != 0;
    if (model->ninput == 0 || model->input[0].kind == KIND_VOLUME || (windows->most[0] == 0 && !depth))
        return;
    diag_begin(l->diag, ERROR, "U0614", windows->span,
               depth ? "an image has no depth: leave out \"d\"" : "`windows h, w` is for volumes");
    diag_note(l->diag,
              "the first input, `%s`, is an image: its windows have its size, or that of `size h, w`",
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
