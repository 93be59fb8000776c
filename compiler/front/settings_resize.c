/* settings_resize.c - `resize` in the section data: the size to which pictures are brought as they are
 * read, and `at` in the section eval: the size at which they are measured.
 */
#include "front/lower_state.h"

#include <string.h>

enum { MOST_POINTS = 1 << 14 }; /* of a side; 2^28 points is all that a picture may have */

static bool read_side(const Call *call, const char *name, int *side) {
    int64_t points;
    if (!argument_integer(call, name, 1, &points))
        return false;
    *side = (int)(points > MOST_POINTS ? MOST_POINTS : points);
    return points <= MOST_POINTS ||
           report_setting(call, name, "a picture of more than 16384 points a side is not made");
}

/* One number says how long the longest side is, or the shortest, but not both. */
static bool report_one_side(const Call *call, int side) {
    Lower *l = call->l;
    diag_begin(l->diag, ERROR, "U0614", call->span, "`resize %d` does not say which side has %d points",
               side, side);
    diag_help(l->diag,
              "write `resize %d, %d` for just this size, `resize %d, fit = \"inside\"` for the longest "
              "side, or `resize %d, fit = \"outside\"` for the shortest",
              side, side, side, side);
    diag_end(l->diag);
    return false;
}

void set_resize(Call *call) {
    static const char *const choices[] = {"exact", "inside", "outside", NULL};
    static const Fit fits[] = {FIT_EXACT, FIT_INSIDE, FIT_OUTSIDE};
    DataSection *data = data_of_section(call->l);
    const bool one = argument(call, "w")->value.kind == DATUM_NONE;
    int box[2], index;
    if (!read_side(call, "h", &box[0]) || (!one && !read_side(call, "w", &box[1])) ||
        !argument_choice(call, "fit", choices, &index))
        return;
    if (one && fits[index] == FIT_EXACT) {
        report_one_side(call, box[0]);
        return;
    }
    data->fit = fits[index];
    data->box[0] = box[0];
    data->box[1] = one ? box[0] : box[1];
    data->resize_span = call->span;
}

static void report_resize(Lower *l, const DataSection *data, const char *what, const char *help) {
    diag_begin(l->diag, ERROR, "U0614", data->resize_span, "%s", what);
    diag_help(l->diag, "%s", help);
    diag_end(l->diag);
}

/* How many times smaller than the first input, along both axes; 1: it is not. */
static int64_t times_smaller(const Lower *l, int input) {
    const Shape first = l->graph->value[l->model->input[0].value].shape,
                own = l->graph->value[l->model->input[input].value].shape;
    const int64_t times = shape_extent(first, AXES - 1) / shape_extent(own, AXES - 1);
    for (int axis = AXES - 2; axis < AXES; axis++)
        if (shape_extent(own, axis) * times != shape_extent(first, axis))
            return 1;
    return times;
}

/* Whether files as large as the files of the first input are right for all inputs. */
static bool suits_inputs(Lower *l, const DataSection *data) {
    for (int i = 0; i < data->nsource; i++) {
        const Source *source = &data->source[i];
        const int64_t times = source->input > 0 ? times_smaller(l, source->input) : 1;
        if (times > 1) {
            report_resize(l, data,
                          pool_text(l->pool,
                                    "`%s` is %lld times smaller than `%s`, and `resize` makes all files "
                                    "as large as those of `%s`",
                                    source->name, (long long)times, l->model->input[0].name,
                                    l->model->input[0].name),
                          "resize the files beforehand, and leave out `resize`");
            return false;
        }
    }
    return true;
}

void resize_sources(Lower *l, DataSection *data, const DataSection *like, const int64_t *times) {
    if (like->fit == FIT_NONE)
        return;
    if (l->model->ninput > 0 && l->model->input[0].kind == KIND_SIGNAL) {
        report_resize(l, like, "`resize` is for pictures, and this section reads signals",
                      "bring the files to one rate beforehand: `sox in.wav -r 16000 out.wav`");
        return;
    }
    if (source_reads_volumes(data)) {
        report_resize(l, like, "`resize` is for pictures, and this section reads volumes",
                      "write `spacing d, h, w`, the size of voxels in mm, to which volumes are resampled");
        return;
    }
    for (int i = 0; i < data->nsource && suits_inputs(l, data); i++)
        for (int k = 0; k < data->source[i].nterm; k++) {
            ImageWay *way = &data->source[i].term[k].way;
            way->fit = like->fit;
            memcpy(way->box, like->box, sizeof way->box);
            way->times = times[i] > 1 ? (int)times[i] : 1;
        }
}

static bool has_crop(const DataSection *data) {
    bool crops = false;
    for (int i = 0; i < data->ntransform; i++)
        crops |= data->transform[i].op == TRANSFORM_CROP;
    return crops;
}

/* Training takes files of just the input's size, unless `crop` cuts windows of them, or pads them.  A
 * picture that fits into the input is padded without `crop`: there is nothing else to do with it. */
void check_resized(Lower *l) {
    DataSection *data = &l->model->data;
    if (data->fit == FIT_NONE || l->model->ninput == 0 || l->only_axis >= 0 || has_crop(data))
        return;
    const char *input = l->model->input[0].name;
    const Shape first = l->graph->value[l->model->input[0].value].shape;
    const long long h = shape_extent(first, AXES - 2), w = shape_extent(first, AXES - 1);
    if (data->fit == FIT_INSIDE && data->box[0] <= h && data->box[1] <= w) {
        const Transform pads = {.op = TRANSFORM_CROP, .random = true, .span = data->resize_span};
        PUSH(l->pool, data->transform, data->ntransform, pads);
    } else if (data->fit != FIT_EXACT) {
        report_resize(l, data,
                      pool_text(l->pool, "`resize` makes pictures of many sizes, and `%s` is %lld x %lld",
                                input, h, w),
                      "write `crop` below it, which takes windows of them");
    } else if (data->box[0] != h || data->box[1] != w) {
        report_resize(
            l, data,
            pool_text(l->pool, "`resize` makes pictures of %d x %d, and `%s` is %lld x %lld", data->box[0],
                      data->box[1], input, h, w),
            pool_text(l->pool, "write `resize %lld, %lld`, or `crop` below it, which takes windows of them",
                      h, w));
    }
}

void set_at(Call *call) {
    static const char *const choices[] = {"network", "original", NULL};
    EvalSection *eval_section = &call->l->model->eval;
    int index;
    if (!argument_choice(call, "size", choices, &index))
        return;
    eval_section->at_original = index == 1;
    eval_section->at_span = call->span;
}

void check_at(Lower *l) {
    const Model *model = l->model;
    if (!model->eval.at_original || model->data.fit != FIT_NONE)
        return;
    diag_begin(l->diag, ERROR, "U0614", model->eval.at_span,
               "`at \"original\"` is for pictures that `resize` in `data` brings to another size");
    diag_help(l->diag, "leave it out: without `resize`, pictures are measured as they are");
    diag_end(l->diag);
}
