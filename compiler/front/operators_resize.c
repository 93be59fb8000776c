/* operators_resize.c - build rules of the operators that make a map of another size: resize, match.
 *
 * Both become the same node: where each point of the result lies in x, as fractions of whole numbers, so
 * that a plan, a kernel and the rows of a band agree to the last bit.
 *
 * requires, provides   as operators.c
 */
#include "base/size_math.h"
#include "front/operator_build.h"
#include "front/operator_compare.h"
#include "front/operator_size.h"

#include <math.h>
#include <string.h>

static int first_axis(Shape map) {
    return AXES - (map.rank - 1);
}

/* The axes that an image does not have stay as they are. */
static ResizeAttributes unchanged(void) {
    return (ResizeAttributes){.step = {1, 1, 1}, .unit = {1, 1, 1}};
}

static void set_extent(Shape *shape, int axis, int64_t extent) {
    shape->dim[shape->rank - AXES + axis] = extent;
}

/* ---- resize ---- */

/* `to` parts in place of `from`, as PyTorch's `scale_factor` says it. */
typedef struct {
    int64_t to, from;
} Ratio;

/* The fraction that NUMBER is, of small whole numbers. */
static bool ratio_of(Datum number, Ratio *ratio) {
    enum { MOST = 1000 };
    double value;
    if (!datum_number(number, &value) || !(value > 0) || value > MOST)
        return false;
    for (int64_t from = 1; from <= MOST; from++) {
        const double to = nearbyint(value * (double)from);
        if (to >= 1 && fabs(value * (double)from - to) <= 1e-9 * to) {
            *ratio = (Ratio){(int64_t)to, from};
            return true;
        }
    }
    return false;
}

static bool report_scale(const Call *call) {
    Lower *l = call->l;
    diag_begin(l->diag, ERROR, "U0316", argument(call, "scale")->span,
               "`scale` must be a number above 0, or one per axis");
    diag_note(l->diag, "whole numbers and fractions of them such as 1/2 or 3/2, up to 1000");
    note_via(l);
    diag_end(l->diag);
    return false;
}

/* Reads `scale`; an image keeps its depth. */
static bool argument_scale(const Call *call, Shape map, Ratio ratio[AXES]) {
    const Datum given = argument(call, "scale")->value;
    const int first = first_axis(map);
    for (int axis = 0; axis < AXES; axis++) {
        ratio[axis] = (Ratio){1, 1};
        if (given.kind == DATUM_LIST && given.count != AXES - first)
            return report_scale(call);
        if (axis >= first &&
            !ratio_of(given.kind == DATUM_LIST ? given.items->item[axis - first] : given, &ratio[axis]))
            return report_scale(call);
    }
    return true;
}

static bool report_resize(const Call *call, const char *code, Span span, const char *message,
                          const char *help) {
    Lower *l = call->l;
    diag_begin(l->diag, ERROR, code, span, "%s", message);
    diag_help(l->diag, "%s", help);
    note_via(l);
    diag_end(l->diag);
    return false;
}

/* Exactly one of `scale` and `like`, by name: `resize(x, 2)` could mean a size. */
static bool check_resize(const Call *call) {
    const Argument *scale = argument(call, "scale"), *like = argument(call, "like");
    const ArgList *args = &call->expr->args;
    for (int i = 0; i < args->count; i++)
        if (args->item[i].name == NULL && args->item[i].value == scale->expr)
            return report_resize(call, "U0307", scale->span, "`resize` needs the name of its argument",
                                 "`scale = 2` makes it twice as large, `like = y` as large as `y`");
    if (scale->given == like->given)
        return report_resize(call, scale->given ? "U0302" : "U0301", call->span,
                             "`resize` needs either `scale` or `like`",
                             "`scale = 2` makes it twice as large, `like = y` as large as `y`");
    return true;
}

/* Multiplies each extent by RATIO and rounds down. */
static bool scaled_size(const Call *call, const Ratio ratio[AXES], Shape *out) {
    Lower *l = call->l;
    for (int axis = first_axis(*out); axis < AXES; axis++) {
        const int64_t before = shape_extent(*out, axis);
        const int64_t extent = size_product(before, ratio[axis].to) / ratio[axis].from;
        set_extent(out, axis, extent > 0 ? extent : 1);
        if (extent > 0 || (l->only_axis >= 0 && l->only_axis != axis))
            continue;
        diag_begin(l->diag, ERROR, "U0412", call->span, "`scale` leaves nothing of the %s %lld",
                   axis_text(*out, axis), (long long)before);
        diag_help(l->diag, "use a larger `scale`, or a larger input");
        note_via(l);
        diag_end(l->diag);
        return false;
    }
    return small_enough(call, *out);
}

/* As large as `like`, which decides on nothing but the size. */
static bool size_like(const Call *call, Ratio ratio[AXES], Shape *out) {
    Lower *l = call->l;
    const Shape in = *out;
    ValueId like;
    if (!argument_feature_map(call, "like", &like))
        return false;
    const Shape wanted = shape_of(call, like);
    if (wanted.rank != in.rank) {
        const Pair pair = {l,
                           call->signature->name,
                           argument(call, "like")->span,
                           argument(call, "x")->value.tensor,
                           like,
                           NULL,
                           NULL};
        return equal_sizes(&pair);
    }
    for (int axis = 0; axis < AXES; axis++) {
        ratio[axis] = (Ratio){shape_extent(wanted, axis), shape_extent(in, axis)};
        if (axis >= first_axis(in))
            set_extent(out, axis, shape_extent(wanted, axis));
    }
    return small_enough(call, *out);
}

enum { NEAREST, NEAREST_EXACT, BILINEAR, LINEAR };

/* PyTorch's positions along one axis: the positions of points of OUT among points of IN.  If corners are
 * aligned, the first and the last lie on each other; else the edges of the image do. */
static void set_positions(ResizeAttributes *a, int axis, int mode, bool align_corners, Ratio ratio,
                          int64_t in, int64_t out) {
    int64_t step = ratio.from, offset = 0, unit = ratio.to;
    if (align_corners) {
        step = in == 1 ? 1 : in - 1;
        unit = in == 1 ? out : out == 1 ? 1 : out - 1;
    } else if (mode != NEAREST) {
        step = 2 * ratio.from;
        unit = 2 * ratio.to;
        offset = mode == BILINEAR ? ratio.from - ratio.to : ratio.from;
    }
    const int64_t common =
        size_common_divisor(size_common_divisor(step, unit), offset < 0 ? -offset : offset);
    a->step[axis] = step / common;
    a->offset[axis] = offset / common;
    a->unit[axis] = unit / common;
}

/* ---- labels ---- */

/* A target of labels, which only losses and metrics read, may be made smaller for some of them. */
static bool argument_resized(const Call *call, ValueId *x, bool *labels) {
    Lower *l = call->l;
    *labels = false;
    if (!argument_tensor(call, "x", x))
        return false;
    const Input *input = declared(l, *x);
    *labels = input != NULL && input->kind == KIND_LABELS && l->graph->value[*x].class == CLASS_STAGING;
    return *labels || argument_feature_map(call, "x", x);
}

/* Every so many points along each axis, so that losses count them where they lie. */
static bool whole_steps(const Call *call, const ResizeAttributes *a, Shape in, Shape out) {
    Lower *l = call->l;
    for (int axis = 0; axis < AXES; axis++) {
        if (a->step[axis] % a->unit[axis] == 0 || (l->only_axis >= 0 && l->only_axis != axis))
            continue;
        diag_begin(l->diag, ERROR, "U0401", call->span,
                   "labels are made smaller by whole factors: the %s %lld is no multiple of %lld",
                   axis_text(in, axis), (long long)shape_extent(in, axis),
                   (long long)shape_extent(out, axis));
        note_via(l);
        diag_end(l->diag);
        return false;
    }
    return true;
}

static ValueId resized_labels(Call *call, ValueId x, Attributes a, Shape out) {
    Graph *g = call->l->graph;
    if (a.resize.linear) {
        report_resize(call, "U0415", argument(call, "mode")->span, "labels cannot be interpolated",
                      "write `mode = \"nearest_exact\"`, as nnU-Net has it, or \"nearest\"");
        return -1;
    }
    if (!whole_steps(call, &a.resize, g->value[x].shape, out) || shape_equal(g->value[x].shape, out))
        return shape_equal(g->value[x].shape, out) ? x : -1;
    call->op = OP_RESIZE_LABELS;
    const ValueId y = output_new(call, out);
    g->value[y].type = TYPE_U8;
    return node_append(call, &x, 1, a, y);
}

ValueId build_resize(Call *call) {
    static const char *const modes[] = {"nearest", "nearest_exact", "bilinear", "linear", NULL};
    ValueId x;
    int mode;
    bool align_corners, labels;
    Ratio ratio[AXES];
    if (!argument_resized(call, &x, &labels) || !check_resize(call) ||
        !argument_choice(call, "mode", modes, &mode) ||
        !argument_truth(call, "align_corners", &align_corners))
        return -1;
    mode = mode == LINEAR ? BILINEAR : mode; /* another name, for a map of one axis */
    const Shape in = shape_of(call, x);
    Shape out = in;
    if (align_corners && mode != BILINEAR) {
        report_resize(call, "U0307", argument(call, "align_corners")->span,
                      "`align_corners` is for `mode = \"bilinear\"`",
                      "the nearest point is the same with and without it");
        return -1;
    }
    if (argument(call, "scale")->given ? !argument_scale(call, in, ratio) || !scaled_size(call, ratio, &out)
                                       : !size_like(call, ratio, &out))
        return -1;
    Attributes a = {.kind = ATTRIBUTES_RESIZE, .resize = unchanged()};
    a.resize.linear = mode == BILINEAR;
    for (int axis = first_axis(in); axis < AXES; axis++)
        set_positions(&a.resize, axis, mode, align_corners, ratio[axis], shape_extent(in, axis),
                      shape_extent(out, axis));
    return labels ? resized_labels(call, x, a, out) : each_segment(call, x, a, out);
}

/* ---- match ---- */

enum { CROP, PAD, REPLICATE };

/* A crop makes smaller, and the others make larger. */
static bool can_match(const Call *call, int how, ValueId x, ValueId like) {
    Lower *l = call->l;
    const Shape in = shape_of(call, x), out = shape_of(call, like);
    for (int axis = first_axis(in); axis < AXES; axis++) {
        const int64_t from = shape_extent(in, axis), to = shape_extent(out, axis);
        bool wrong[AXES] = {false};
        wrong[axis] = true;
        if ((how == CROP ? from >= to : from <= to) || (l->only_axis >= 0 && l->only_axis != axis))
            continue;
        diag_begin(l->diag, ERROR, "U0401", call->span, "the %s %lld cannot be %s to %lld",
                   axis_text(in, axis), (long long)from, how == CROP ? "cropped" : "padded", (long long)to);
        diag_help(l->diag, how == CROP ? "\"pad\" and \"replicate\" make a tensor larger"
                                       : "\"crop\" makes a tensor smaller");
        explain_sizes(l, x, like, wrong);
        note_via(l);
        diag_end(l->diag);
        return false;
    }
    return true;
}

/* X in the middle of a map as large as LIKE, or the middle of X; of an odd number of rows one more lies at
 * the end. */
ValueId build_match(Call *call) {
    static const char *const choices[] = {"crop", "pad", "replicate", NULL};
    ValueId x, like;
    int how;
    if (!argument_feature_map(call, "x", &x) || !argument_feature_map(call, "like", &like) ||
        !argument_choice(call, "how", choices, &how))
        return -1;
    const Shape in = shape_of(call, x), wanted = shape_of(call, like);
    Shape out = in;
    if (wanted.rank != in.rank) {
        const Pair pair = {call->l, "match", call->span, x, like, NULL, NULL};
        equal_sizes(&pair);
        return -1;
    }
    if (!can_match(call, how, x, like))
        return -1;
    Attributes a = {.kind = ATTRIBUTES_RESIZE, .resize = unchanged()};
    a.resize.zero = how == PAD;
    for (int axis = first_axis(in); axis < AXES; axis++) {
        const int64_t more = shape_extent(wanted, axis) - shape_extent(in, axis);
        a.resize.offset[axis] = how == CROP ? -more / 2 : -(more / 2);
        set_extent(&out, axis, shape_extent(wanted, axis));
    }
    return shape_equal(in, out) ? x : small_enough(call, out) ? each_segment(call, x, a, out) : -1;
}

/* ---- adaptive_avg_pool ---- */

/* The means over so many parts of the image: 1 is one mean over all of it. */
ValueId build_adaptive_avg_pool(Call *call) {
    Lower *l = call->l;
    int64_t size[AXES];
    ValueId x;
    if (!argument_feature_map(call, "x", &x))
        return -1;
    const Shape in = shape_of(call, x);
    Shape out = in;
    if (!argument_axes(call, "size", in, 1, 1, size))
        return -1;
    for (int axis = first_axis(in); axis < AXES; axis++) {
        set_extent(&out, axis, size[axis]);
        if (size[axis] <= shape_extent(in, axis) || (l->only_axis >= 0 && l->only_axis != axis))
            continue;
        diag_begin(l->diag, ERROR, "U0412", argument(call, "size")->span,
                   "`adaptive_avg_pool` cannot divide the %s %lld into %lld parts", axis_text(in, axis),
                   (long long)shape_extent(in, axis), (long long)size[axis]);
        diag_help(l->diag, "`resize` makes a tensor larger");
        note_via(l);
        diag_end(l->diag);
        return -1;
    }
    return each_segment(call, x, (Attributes){0}, out);
}
