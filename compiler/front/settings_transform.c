/* settings_transform.c - the transforms of `data`: what changes between a file and the window that a sample
 * shows of it.
 *
 * Each is one element of the section's list, in the order of the lines; which lines go together is checked
 * once the section is over.
 */
#include "front/lower_state.h"

#include <string.h>

enum { MOST_GRID = 16 }; /* displacements along an axis, as the runtime has room for */

DataSection *data_of_section(Lower *l) {
    return strcmp(l->section->name, "eval") == 0 ? &l->model->eval_data : &l->model->data;
}

static bool read_probability(const Call *call, double *p) {
    return read_nonnegative(call, "p", p) &&
           (*p <= 1 || report_setting(call, "p", "`p` is a probability: use a number from 0 to 1"));
}

/* ---- cutting and mirroring ---- */

static void add(const Call *call, Transform transform) {
    DataSection *data = data_of_section(call->l);
    transform.span = call->span;
    PUSH(call->l->pool, data->transform, data->ntransform, transform);
}

void set_crop(Call *call) {
    Transform crop = {.op = TRANSFORM_CROP};
    Datum pad = argument(call, "pad")->value;
    double foreground;
    if (argument(call, "random")->value.kind == DATUM_INTEGER) {
        report_setting(call, "random", "`crop` takes no size: a window is as large as the input");
        return;
    }
    if (!argument_truth(call, "random", &crop.random) || !argument_number(call, "foreground", &foreground))
        return;
    if (foreground < 0 || foreground > 1) {
        report_setting(call, "foreground",
                       "`foreground` is a share of the windows: use a number from 0 to 1");
        return;
    }
    crop.amount[0] = foreground;
    if (pad.kind == DATUM_TEXT && strcmp(pad.text, "reflect") == 0)
        crop.pad = PAD_REFLECT;
    else if (pad.kind == DATUM_TEXT && strcmp(pad.text, "mean") == 0)
        crop.pad = PAD_MEAN;
    else if (datum_number(pad, &crop.pad_value))
        crop.pad = PAD_VALUE;
    else if (pad.kind != DATUM_NONE) {
        report_setting(call, "pad", "`pad` is a grey value, \"reflect\", or, of volumes, \"mean\"");
        return;
    }
    add(call, crop);
}

/* Whether the first input is of KIND. */
static bool is_of(const Call *call, Kind kind) {
    const Model *model = call->l->model;
    return model->ninput > 0 && model->input[0].kind == kind;
}

static bool is_of_volume(const Call *call) {
    return is_of(call, KIND_VOLUME);
}

/* "h", "w", "d", or a list of them. */
bool read_axes(const Call *call, const char *name, unsigned *axes) {
    Datum d = argument(call, name)->value;
    int count = d.kind == DATUM_LIST ? d.count : 1;
    *axes = 0;
    for (int i = 0; i < count; i++) {
        Datum axis = d.kind == DATUM_LIST ? d.items->item[i] : d;
        const char *found =
            axis.kind == DATUM_TEXT && strlen(axis.text) == 1 ? strchr("dhw", *axis.text) : NULL;
        if (found == NULL)
            return report_setting(
                call, name,
                pool_text(call->l->pool, "`%s` is \"h\", \"w\", \"d\" or a list of them", name));
        *axes |= 1U << (found[0] == 'd' ? 0 : found[0] == 'h' ? 1 : 2);
    }
    return true;
}

void set_flip(Call *call) {
    Transform flip = {.op = TRANSFORM_FLIP, .random = true};
    const bool volume = is_of_volume(call);
    flip.axes = volume ? 7 : is_of(call, KIND_SIGNAL) ? 4 : 6;
    if (argument(call, "axes")->value.kind != DATUM_NONE && !read_axes(call, "axes", &flip.axes))
        return;
    if (!read_probability(call, &flip.p))
        return;
    if (is_of(call, KIND_SIGNAL) && flip.axes != 4)
        report_setting(call, "axes", "a signal has one axis, \"w\": leave `axes` out");
    else if (!volume && (flip.axes & 1) != 0)
        report_setting(call, "axes", "an image has no depth: leave out \"d\"");
    else
        add(call, flip);
}

/* ---- scaling and turning ---- */

/* The axes of volumes along or about which something is done, all of them if none is named. */
static bool read_axes_of_volume(const Call *call, Transform *transform) {
    transform->axes = 7;
    if (argument(call, "axes")->value.kind == DATUM_NONE)
        return true;
    if (!is_of_volume(call))
        return report_setting(call, "axes", "`axes` is for volumes: leave it out");
    return read_axes(call, "axes", &transform->axes);
}

/* LOW and HIGH, in this order and above 0, or at least 0 where ZERO is true. */
static bool read_range(const Call *call, bool zero, double range[2]) {
    if (!read_nonnegative(call, "low", &range[0]) || !read_nonnegative(call, "high", &range[1]))
        return false;
    if (!zero && range[0] <= 0)
        return report_setting(call, "low", "`low` must be more than 0");
    return range[1] >= range[0] || report_setting(call, "high", "`high` must be at least `low`");
}

void set_scale(Call *call) {
    Transform scale = {.op = TRANSFORM_SCALE, .random = true};
    if (!read_range(call, false, scale.amount) || !read_nonnegative(call, "step", &scale.amount[2]) ||
        !read_probability(call, &scale.p) || !read_axes_of_volume(call, &scale))
        return;
    if (scale.amount[0] < 1.0 / 64 || scale.amount[1] > 64)
        report_setting(call, NULL, "a factor is from 1/64 to 64");
    else
        add(call, scale);
}

void set_rot90(Call *call) {
    Transform turn = {.op = TRANSFORM_ROT90, .random = true};
    if (read_probability(call, &turn.p))
        add(call, turn);
}

void set_rotate(Call *call) {
    Transform turn = {.op = TRANSFORM_ROTATE, .random = true};
    if (!read_nonnegative(call, "angle", &turn.amount[0]) ||
        !read_nonnegative(call, "step", &turn.amount[1]) || !read_probability(call, &turn.p) ||
        !read_axes_of_volume(call, &turn))
        return;
    if (turn.amount[0] > 180)
        report_setting(call, "angle",
                       "`angle` is in degrees, at most 180: a picture is turned by up to it, "
                       "to either side");
    else
        add(call, turn);
}

void set_elastic(Call *call) {
    Transform bend = {.op = TRANSFORM_ELASTIC, .random = true};
    int64_t grid;
    if (!read_nonnegative(call, "sigma", &bend.amount[0]) || !argument_integer(call, "grid", 2, &grid) ||
        !read_probability(call, &bend.p))
        return;
    bend.amount[1] = (double)grid;
    if (grid > MOST_GRID)
        report_setting(call, "grid",
                       pool_text(call->l->pool,
                                 "`grid` is the number of displacements along an axis, at most %d",
                                 MOST_GRID));
    else if (bend.amount[0] > 4096)
        report_setting(call, "sigma", "`sigma` is at most 4096 points");
    else
        add(call, bend);
}

/* ---- colours ---- */

void set_distort(Call *call) {
    static const char *const what[] = {"brightness", "contrast", "saturation", "hue"};
    Transform distort = {.op = TRANSFORM_DISTORT, .random = true};
    for (int i = 0; i < 4; i++)
        if (!read_nonnegative(call, what[i], &distort.amount[i]))
            return;
    if (!read_probability(call, &distort.p))
        return;
    if (distort.amount[3] > 180)
        report_setting(call, "hue", "`hue` is in degrees, at most 180");
    else
        add(call, distort);
}

void set_gamma(Call *call) {
    Transform gamma = {.op = TRANSFORM_GAMMA, .random = true};
    bool inverts;
    if (!read_range(call, false, gamma.amount) || !read_probability(call, &gamma.p) ||
        !argument_truth(call, "invert", &inverts))
        return;
    gamma.amount[2] = inverts;
    add(call, gamma);
}

void set_blur(Call *call) {
    Transform blur = {.op = TRANSFORM_BLUR, .random = true};
    if (read_range(call, true, blur.amount) && read_probability(call, &blur.p))
        add(call, blur);
}

void set_low_resolution(Call *call) {
    Transform coarse = {.op = TRANSFORM_LOW_RESOLUTION, .random = true};
    if (!read_range(call, false, coarse.amount) || !read_probability(call, &coarse.p) ||
        !read_axes_of_volume(call, &coarse))
        return;
    if (coarse.amount[1] > 1)
        report_setting(call, "high", "`high` is the share of points that is left, at most 1");
    else
        add(call, coarse);
}

void set_noise(Call *call) {
    Transform noise = {.op = TRANSFORM_NOISE, .random = true};
    if (read_nonnegative(call, "sigma", &noise.amount[0]) && read_probability(call, &noise.p))
        add(call, noise);
}

/* ---- what goes together ---- */

static void report_order(Lower *l, const Transform *transform, const char *what, const char *help) {
    diag_begin(l->diag, ERROR, "U0616", transform->span, "%s", what);
    diag_help(l->diag, "%s", help);
    diag_end(l->diag);
}

static void report_kind(Lower *l, const Transform *transform, const char *what, const char *why) {
    diag_begin(l->diag, ERROR, "U0202", transform->span, "%s", what);
    diag_note(l->diag, "%s", why);
    diag_end(l->diag);
}

enum { MOST_BLUR_OF_VOLUMES = 8 }; /* VOLUME_MOST_BLUR of the runtime */

static bool suits_volumes(const Transform *transform) {
    const double *amount = transform->amount;
    switch (transform->op) {
    case TRANSFORM_ROT90:
    case TRANSFORM_ELASTIC:
        return false;
    case TRANSFORM_SCALE:
        return amount[2] == 0;
    case TRANSFORM_ROTATE:
        return amount[1] == 0;
    case TRANSFORM_DISTORT:
        return amount[2] == 0 && amount[3] == 0;
    case TRANSFORM_BLUR:
        return amount[1] <= MOST_BLUR_OF_VOLUMES;
    default:
        return true;
    }
}

static bool suits_signals(const Transform *transform) {
    return transform->op == TRANSFORM_CROP || transform->op == TRANSFORM_FLIP ||
           transform->op == TRANSFORM_NOISE;
}

/* Only windows of volumes lie around voxels of a class. */
static void check_kind(Lower *l, const DataSection *data, const Transform *transform) {
    const bool volumes = source_reads_volumes(data);
    bool labels = false;
    for (int i = 0; i < data->nsource; i++)
        labels |= data->source[i].input >= 0 && l->model->input[data->source[i].input].kind == KIND_LABELS;
    if (l->model->input[0].kind == KIND_SIGNAL && !suits_signals(transform))
        report_kind(l, transform, "this version of unetc has no such transform for signals",
                    "signals have: crop, flip, noise");
    else if (volumes && !suits_volumes(transform))
        report_kind(
            l, transform, "this version of unetc has no such transform for volumes",
            "volumes have: crop, flip, rotate and scale without step, noise, blur up to 8, low_resolution, "
            "gamma, distort with brightness and contrast");
    else if (transform->op == TRANSFORM_LOW_RESOLUTION && !volumes)
        report_kind(l, transform, "`low_resolution` is for volumes", "images have: blur");
    else if (transform->op == TRANSFORM_GAMMA && transform->amount[2] > 0 && !volumes)
        report_kind(l, transform, "`invert` of `gamma` is for volumes in this version of unetc",
                    "images have: low, high, p");
    else if (transform->op == TRANSFORM_CROP && transform->amount[0] > 0 && !volumes)
        report_kind(l, transform, "`foreground` of `crop` is for volumes in this version of unetc",
                    "images have: random, pad");
    else if (transform->op == TRANSFORM_CROP && transform->amount[0] > 0 && !(labels && transform->random))
        report_kind(l, transform, "`foreground` of `crop` needs labels and random windows",
                    "it is the share of windows around a voxel of a class above 0");
    else if (transform->pad == PAD_MEAN && !volumes)
        report_kind(l, transform, "`pad = \"mean\"` is for volumes",
                    "images have: a grey value, \"reflect\"");
}

/* A window has one size, whatever became of the picture before it is cut. */
void check_transforms(Lower *l, const DataSection *data) {
    bool cut_later = false;
    if (l->model->ninput == 0 || l->only_axis >= 0)
        return;
    const Shape shape = l->graph->value[l->model->input[0].value].shape;
    const bool square = shape_extent(shape, 1) == shape_extent(shape, 2);
    for (int i = data->ntransform - 1; i >= 0; i--) {
        const Transform *transform = &data->transform[i];
        check_kind(l, data, transform);
        cut_later |= transform->op == TRANSFORM_CROP;
        if (cut_later)
            continue;
        if (transform->op == TRANSFORM_SCALE && !source_reads_volumes(data))
            report_order(l, transform, "`scale` changes the size: windows must be cut to that of the input",
                         "write `crop` below this line");
        else if (transform->op == TRANSFORM_ROT90 && !square)
            report_order(l, transform, "a quarter turn changes the shape of a window that is not square",
                         "write `crop` below this line, or `rotate 180, step = 180` for half turns");
    }
}
