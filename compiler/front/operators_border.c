/* operators_border.c - build rules of the operators that put points around a tensor, cut some off, or have
 * them in another order.
 *
 * requires, provides   as operators.c
 */
#include "front/operator_build.h"
#include "front/operator_size.h"

#include <math.h>

static int first_axis(Shape map) {
    return AXES - (map.rank - 1);
}

static Attributes unchanged(void) {
    return (Attributes){.kind = ATTRIBUTES_RESIZE, .resize = {.step = {1, 1, 1}, .unit = {1, 1, 1}}};
}

/* Counts an axis only where the compiler looks at it. */
static bool checked(const Call *call, int axis) {
    return call->l->only_axis < 0 || call->l->only_axis == axis;
}

static ValueId append_border(Call *call, Op op, ValueId x, Attributes a, Shape out) {
    call->op = op;
    return small_enough(call, out) ? each_segment(call, x, a, out) : -1;
}

/* ---- pad ---- */

/* Reflection needs a point more than it repeats, and a copy of the other end as many. */
static bool has_points(const Call *call, Around around, Shape in, int axis, int64_t amount) {
    Lower *l = call->l;
    const int64_t extent = shape_extent(in, axis), most = around == AROUND_REFLECT ? extent - 1 : extent;
    if ((around != AROUND_REFLECT && around != AROUND_WRAP) || amount <= most || !checked(call, axis))
        return true;
    diag_begin(l->diag, ERROR, "U0412", call->span, "%lld points cannot be repeated of a %s of %lld",
               (long long)amount, axis_text(in, axis), (long long)extent);
    diag_note(l->diag, "\"reflect\" repeats fewer points than there are, \"wrap\" all of them at most");
    note_via(l);
    diag_end(l->diag);
    return false;
}

ValueId append_pad(Call *call, ValueId x, const Sides *sides) {
    const Shape in = shape_of(call, x);
    Shape out = in;
    Attributes a = unchanged();
    for (int axis = first_axis(in); axis < AXES; axis++) {
        const int64_t before = sides->before[axis], after = sides->after[axis];
        if (!has_points(call, sides->around, in, axis, before > after ? before : after))
            return -1;
        a.resize.offset[axis] = -before;
        a.resize.border[axis] = sides->around == AROUND_REFLECT ? UNET_BORDER_REFLECT
                                : sides->around == AROUND_WRAP  ? UNET_BORDER_WRAP
                                                                : UNET_BORDER_NUMBER;
        out.dim[out.rank - AXES + axis] += before + after;
    }
    a.resize.zero = sides->around == AROUND_ZERO;
    a.resize.number = sides->number;
    return append_border(
        call, sides->around == AROUND_ZERO || sides->around == AROUND_REPLICATE ? OP_MATCH : OP_BORDER, x,
        a, out);
}

ValueId build_pad(Call *call) {
    static const char *const choices[] = {"zero", "value", "reflect", "replicate", "wrap", NULL};
    ValueId x;
    Sides sides = {.around = AROUND_ZERO};
    int choice;
    if (!argument_feature_map(call, "x", &x) || !argument_choice(call, "how", choices, &choice) ||
        !argument_number(call, "value", &sides.number) ||
        !argument_sides(call, "amount", shape_of(call, x), sides.before, sides.after))
        return -1;
    sides.around = (Around)choice; /* in the same order */
    if (sides.around != AROUND_NUMBER && argument(call, "value")->given) {
        report_range(call, "value", "left out, unless `how` is \"value\"");
        return -1;
    }
    if (sides.around == AROUND_NUMBER && !(fabs(sides.number) <= 1e9)) {
        report_range(call, "value", "from -1e9 to 1e9");
        return -1;
    }
    return append_pad(call, x, &sides);
}

/* ---- crop ---- */

static bool lies_inside(const Call *call, Shape in, int axis, int64_t front, int64_t size) {
    Lower *l = call->l;
    if (front + size <= shape_extent(in, axis) || !checked(call, axis))
        return true;
    diag_begin(l->diag, ERROR, "U0412", call->span, "%lld points behind %lld are more than a %s of %lld",
               (long long)size, (long long)front, axis_text(in, axis), (long long)shape_extent(in, axis));
    note_via(l);
    diag_end(l->diag);
    return false;
}

ValueId build_crop(Call *call) {
    ValueId x;
    int64_t front[AXES], size[AXES];
    if (!argument_feature_map(call, "x", &x))
        return -1;
    const Shape in = shape_of(call, x);
    Shape out = in;
    Attributes a = unchanged();
    if (!argument_axes(call, "front", in, 0, 0, front) || !argument_axes(call, "size", in, 1, 1, size))
        return -1;
    for (int axis = first_axis(in); axis < AXES; axis++) {
        if (!lies_inside(call, in, axis, front[axis], size[axis]))
            return -1;
        a.resize.offset[axis] = front[axis];
        out.dim[out.rank - AXES + axis] = size[axis];
    }
    return append_border(call, OP_MATCH, x, a, out);
}

/* ---- other orders ---- */

/* Point p goes to p + shift, and what leaves at an end comes in at the other one. */
ValueId build_roll(Call *call) {
    ValueId x;
    int64_t shift[AXES];
    if (!argument_feature_map(call, "x", &x))
        return -1;
    const Shape in = shape_of(call, x);
    Attributes a = unchanged();
    if (!argument_axes(call, "shift", in, -MAX_CHANNELS, 0, shift))
        return -1;
    for (int axis = first_axis(in); axis < AXES; axis++) {
        const int64_t extent = shape_extent(in, axis);
        a.resize.offset[axis] = -((shift[axis] % extent + extent) % extent);
        a.resize.border[axis] = UNET_BORDER_WRAP;
    }
    return append_border(call, OP_BORDER, x, a, in);
}

ValueId build_flip(Call *call) {
    static const char *const letters[] = {"d", "h", "w", NULL};
    ValueId x;
    int choice;
    if (!argument_feature_map(call, "x", &x))
        return -1;
    const Shape in = shape_of(call, x);
    Attributes a = unchanged();
    if (!argument_choice(call, "axis", letters + first_axis(in), &choice))
        return -1;
    a.resize.border[first_axis(in) + choice] = UNET_BORDER_FLIP;
    return append_border(call, OP_BORDER, x, a, in);
}

/* ---- side by side ---- */

/* Have both the same channels, and the same extents but along AXIS? */
static bool fit_along(const Call *call, ValueId a, ValueId b, int axis) {
    Lower *l = call->l;
    const Shape x = shape_of(call, a), y = shape_of(call, b);
    bool fit = x.rank == y.rank && x.dim[0] == y.dim[0] && axis >= first_axis(x);
    for (int k = 0; k < AXES; k++)
        fit &= k == axis || !checked(call, k) || shape_extent(x, k) == shape_extent(y, k);
    if (fit)
        return true;
    diag_begin(l->diag, ERROR, "U0401", call->span, "%s and %s cannot stand side by side along the %s",
               shape_text(l->pool, x), shape_text(l->pool, y), axis_text(x, axis));
    diag_note(l->diag, "channels, and extents along other axes, have to be equal");
    note_via(l);
    diag_end(l->diag);
    return false;
}

/* A call within this one; the word stands in its name. */
static Call part_of(const Call *call, const char *word) {
    Call part = *call;
    part.name = pool_text(call->l->pool, "%s.%s", call->name, word);
    part.plan_name = (PlanName){call->l->frame->module, part.name, -1};
    return part;
}

/* Each with zeros where the others are, added up. */
ValueId concat_points(Call *call, const ValueId *value, int count, int axis) {
    const Attributes none = {0};
    int64_t all = 0, before = 0;
    ValueId sum = -1;
    for (int i = 0; i < count; i++)
        if (!fit_along(call, value[0], value[i], axis))
            return -1;
    for (int i = 0; i < count; i++)
        all += shape_extent(shape_of(call, value[i]), axis);
    for (int i = 0; i < count; i++) {
        const int64_t extent = shape_extent(shape_of(call, value[i]), axis);
        Call pad = part_of(call, "pad"), add = part_of(call, "add");
        Sides sides = {.around = AROUND_ZERO};
        sides.before[axis] = before;
        sides.after[axis] = all - before - extent;
        before += extent;
        const ValueId alone = append_pad(&pad, value_joined(call->l->graph, value[i], call->span), &sides);
        add.op = OP_ADD;
        const ValueId in[] = {sum, alone};
        sum = alone < 0 || i == 0 ? alone
                                  : node_append(&add, in, 2, none, output_new(&add, shape_of(call, alone)));
        if (sum < 0)
            return -1;
    }
    return sum;
}
