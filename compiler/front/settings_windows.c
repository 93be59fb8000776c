/* settings_windows.c - the setting of `predict` for volumes by windows that overlap. */
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
