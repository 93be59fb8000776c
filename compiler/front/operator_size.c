/* operator_size.c - reads the windows of operators and computes the sizes of their results; if sizes do not
 * fit, says which would.
 */
#include "ir/ops.h"
#include "front/operator_size.h"

#include <string.h>

static const int64_t MAX_ELEMENTS = INT64_C(1) << 40;

bool is_numbers(Lower *l, ValueId v, Span span) {
    if (l->graph->value[v].type != TYPE_U8)
        return true;
    diag_begin(l->diag, ERROR, "U0415", span, "layers take numbers, and this is %s",
               datum_text(l, datum_tensor(v)));
    diag_note(l->diag, "only losses and metrics compare classes");
    note_via(l);
    diag_end(l->diag);
    return false;
}

Shape shape_of(const Call *call, ValueId v) {
    return call->l->graph->value[v].shape;
}

bool small_enough(const Call *call, Shape shape) {
    Lower *l = call->l;
    if (shape_elements(shape) <= MAX_ELEMENTS)
        return true;
    diag_begin(l->diag, ERROR, "U0413", call->span, "`%s` would make a tensor of more than 2^40 elements",
               call->signature->name);
    diag_note(l->diag, "its shape is %s", shape_text(l->pool, shape));
    note_via(l);
    diag_end(l->diag);
    return false;
}

/* ---- arguments per axis ---- */

/* "axis: length", "axes: height and width" */
static const char *axes_text(Shape shape) {
    return shape.rank == SIGNAL_RANK   ? "axis is the length"
           : shape.rank == VOLUME_RANK ? "axes are depth, height and width"
                                       : "axes are height and width";
}

static const char *input_text(const Call *call) {
    const Expr *expr = call->argument[0].expr;
    const bool tensor = call->argument[0].value.kind == DATUM_TENSOR;
    return expr == NULL || !tensor ? "the input"
                                   : pool_text(call->l->pool, "`%s`", expr_text(call->l->pool, expr));
}

static bool report_axis_count(const Call *call, const Argument *a, Shape shape) {
    Lower *l = call->l;
    int axes = shape.rank - 1;
    diag_begin(l->diag, ERROR, "U0315", a->span, "%d size%s given for %d ax%ss", a->value.count,
               a->value.count == 1 ? "" : "s", axes, axes == 1 ? "i" : "e");
    diag_note(l->diag, "%s is %s: its %s", input_text(call), map_text(shape), axes_text(shape));
    note_via(l);
    diag_end(l->diag);
    return false;
}

static bool report_whole_number(const Call *call, const char *name, const Argument *a, int64_t minimum) {
    Lower *l = call->l;
    diag_begin(l->diag, ERROR, "U0316", a->span, "`%s` must be whole numbers of at least %lld", name,
               (long long)minimum);
    note_via(l);
    diag_end(l->diag);
    return false;
}

bool argument_axes(const Call *call, const char *name, Shape shape, int64_t minimum, int64_t absent,
                   int64_t *value) {
    const Argument *a = argument(call, name);
    int first = AXES - (shape.rank - 1);
    for (int axis = 0; axis < first; axis++)
        value[axis] = absent;
    if (a->value.kind != DATUM_LIST) {
        int64_t number;
        if (!argument_integer(call, name, minimum, &number))
            return false;
        for (int axis = first; axis < AXES; axis++)
            value[axis] = number;
    } else {
        if (a->value.count != AXES - first)
            return report_axis_count(call, a, shape);
        for (int i = 0; i < a->value.count; i++) {
            Datum d = a->value.items->item[i];
            if (d.kind != DATUM_INTEGER || d.integer < minimum)
                return report_whole_number(call, name, a, minimum);
            value[first + i] = d.integer;
        }
    }
    for (int axis = first; axis < AXES; axis++)
        if (value[axis] > MAX_CHANNELS)
            return report_whole_number(call, name, a, minimum);
    return true;
}

/* [front, back] per axis. */
static bool argument_pairs(const Call *call, const char *name, Shape shape, int64_t before[AXES],
                           int64_t after[AXES]) {
    const Argument *a = argument(call, name);
    int first = AXES - (shape.rank - 1);
    if (a->value.count != AXES - first)
        return report_axis_count(call, a, shape);
    for (int i = 0; i < a->value.count; i++) {
        Datum pair = a->value.items->item[i];
        for (int side = 0; side < 2; side++) {
            bool good = pair.kind == DATUM_LIST && pair.count == 2;
            Datum d = good ? pair.items->item[side] : pair;
            if (!good || d.kind != DATUM_INTEGER || d.integer < 0 || d.integer > MAX_CHANNELS)
                return report_whole_number(call, name, a, 0);
            (side == 0 ? before : after)[first + i] = d.integer;
        }
    }
    return true;
}

bool argument_sides(const Call *call, const char *name, Shape shape, int64_t before[AXES],
                    int64_t after[AXES]) {
    const Datum value = argument(call, name)->value;
    if (value.kind == DATUM_LIST && value.count > 0 && value.items->item[0].kind == DATUM_LIST)
        return argument_pairs(call, name, shape, before, after);
    if (!argument_axes(call, name, shape, 0, 0, before))
        return false;
    memcpy(after, before, AXES * sizeof *after);
    return true;
}

static bool padding_named(const Call *call, const Argument *a, Window *w) {
    Lower *l = call->l;
    bool same = strcmp(a->value.text, "same") == 0;
    if (!same && strcmp(a->value.text, "valid") != 0) {
        diag_begin(l->diag, ERROR, "U0307", a->span, "`padding` cannot be \"%s\"", a->value.text);
        diag_help(l->diag,
                  "one of \"same\", \"valid\", a number, a number per axis, or [front, back] per axis");
        note_via(l);
        diag_end(l->diag);
        return false;
    }
    for (int axis = 0; axis < AXES; axis++) {
        int64_t total = same ? (w->kernel[axis] - 1) * w->dilation[axis] : 0;
        w->before[axis] = total / 2;
        w->after[axis] = total - total / 2;
    }
    return true;
}

bool argument_padding(const Call *call, Shape shape, Window *w) {
    const Argument *a = argument(call, "padding");
    if (a->value.kind == DATUM_TEXT)
        return padding_named(call, a, w);
    return argument_sides(call, "padding", shape, w->before, w->after);
}

bool argument_window(const Call *call, Shape shape, Window *w) {
    for (int axis = 0; axis < AXES; axis++)
        w->dilation[axis] = 1;
    return argument_axes(call, "kernel", shape, 1, 1, w->kernel) &&
           argument_axes(call, "stride", shape, 1, 1, w->stride);
}

/* ---- sizes ---- */

/* "3 x 3": what the kernel spans, dilation included. */
static const char *spans_text(Lower *l, Shape map, const Window *w) {
    Shape spans = {.rank = map.rank - 1};
    for (int i = 0; i < spans.rank; i++) {
        int axis = AXES - spans.rank + i;
        spans.dim[i] = w->dilation[axis] * (w->kernel[axis] - 1) + 1;
    }
    return shape_text(l->pool, spans);
}

static int64_t room_for(Shape shape, const Window *w, int axis) {
    int64_t span = w->dilation[axis] * (w->kernel[axis] - 1) + 1;
    return shape_extent(shape, axis) + w->before[axis] + w->after[axis] - span;
}

static bool report_kernel(const Call *call, ValueId x, const Window *w, int axis) {
    Lower *l = call->l;
    Shape shape = shape_of(call, x);
    bool wrong[AXES];
    bool plain = w->before[axis] + w->after[axis] == 0;
    if (op_table[call->op].attributes == ATTRIBUTES_POOL && plain)
        diag_begin(l->diag, ERROR, "U0412", call->span, "the tensor is too small: %s cannot be %s",
                   sizes_text(l, x), w->stride[axis] == 2 ? "halved" : "pooled");
    else
        diag_begin(l->diag, ERROR, "U0404", call->span, "the kernel (%s) is larger than its input (%s%s)",
                   spans_text(l, shape, w), sizes_text(l, x), plain ? "" : " and its padding");
    note_via(l);
    for (int k = 0; k < AXES; k++)
        wrong[k] = room_for(shape, w, k) < 0;
    explain_sizes(l, x, x, wrong);
    diag_end(l->diag);
    return false;
}

bool slide(const Call *call, ValueId x, int64_t channels, const Window *w, Shape *out) {
    Lower *l = call->l;
    *out = shape_of(call, x);
    out->dim[0] = channels;
    for (int axis = AXES - (out->rank - 1); axis < AXES; axis++) {
        int64_t room = room_for(*out, w, axis);
        bool checked = l->only_axis < 0 || l->only_axis == axis;
        CHECK(w->stride[axis] > 0);
        if (room < 0 && checked)
            return report_kernel(call, x, w, axis);
        out->dim[out->rank - AXES + axis] = room < 0 ? 1 : room / w->stride[axis] + 1;
    }
    return small_enough(call, *out);
}

bool grow(const Call *call, Shape in, const Window *w, int64_t channels, Shape *out) {
    Lower *l = call->l;
    *out = in;
    out->dim[0] = channels;
    for (int axis = AXES - (in.rank - 1); axis < AXES; axis++) {
        int64_t extent;
        bool wrong = __builtin_mul_overflow(shape_extent(in, axis) - 1, w->stride[axis], &extent);
        extent = wrong ? INT64_MAX / 2 : extent + w->kernel[axis] - w->before[axis] - w->after[axis];
        if (extent < 1 && (l->only_axis < 0 || l->only_axis == axis)) {
            diag_begin(l->diag, ERROR, "U0404", argument(call, "padding")->span,
                       "`padding` removes the whole %s of the result", axis_text(in, axis));
            diag_help(l->diag, "use a smaller `padding`");
            note_via(l);
            diag_end(l->diag);
            return false;
        }
        out->dim[out->rank - AXES + axis] = extent < 1 ? 1 : extent;
    }
    return small_enough(call, *out);
}

/* ---- operands of equal size ---- */

/* "`up3` is 256 x 746 x 1328", or the shape alone where the operand is a long expression. */
static const char *operand_text(Lower *l, const Expr *expr, ValueId v) {
    const char *shape = shape_text(l->pool, l->graph->value[v].shape);
    const char *text = expr == NULL ? "" : expr_text(l->pool, expr);
    bool brief = *text != '\0' && strlen(text) <= 24;
    return brief ? pool_text(l->pool, "`%s` is %s", text, shape) : shape;
}

/* The whole number by which each axis of LARGE is longer than SMALL's, or 0; a single point is no map. */
static int64_t times_larger(Shape large, Shape small) {
    if (shape_extent(small, AXES - 1) == 1)
        return 0;
    const int64_t times = shape_extent(large, AXES - 1) / shape_extent(small, AXES - 1);
    for (int k = 0; k < AXES; k++) {
        const bool flat = shape_extent(large, k) == 1 && shape_extent(small, k) == 1; /* an image's depth */
        if (!flat && shape_extent(large, k) != times * shape_extent(small, k))
            return 0;
    }
    return times;
}

/* One operand was made smaller by a whole factor, and the other was not. */
static void help_enlarge(const Pair *p) {
    Lower *l = p->l;
    const Shape a = l->graph->value[p->a].shape, b = l->graph->value[p->b].shape;
    const bool second = times_larger(a, b) > 1;
    const int64_t times = second ? times_larger(a, b) : times_larger(b, a);
    const Expr *small = second ? p->text_b : p->text_a;
    if (times < 2 || small == NULL)
        return;
    const char *text = expr_text(l->pool, small);
    diag_help(l->diag, "write `upconv(%s, %lld, %lld)`, or `resize(%s, scale = %lld)`, which is %s", text,
              (long long)shape_channels(second ? b : a), (long long)times, text, (long long)times,
              extents_text(l, second ? a : b));
}

/* AXIS is the first that differs. */
static bool report_axes(const Pair *p, int axis) {
    Lower *l = p->l;
    const Shape a = l->graph->value[p->a].shape, b = l->graph->value[p->b].shape;
    bool wrong[AXES];
    int different = 0;
    for (int k = 0; k < AXES; k++)
        different += wrong[k] = shape_extent(a, k) != shape_extent(b, k);
    if (different > 1)
        diag_begin(l->diag, ERROR, "U0401", p->span, "`%s` needs equal sizes: %s and %s", p->name,
                   extents_text(l, a), extents_text(l, b));
    else
        diag_begin(l->diag, ERROR, "U0401", p->span, "`%s` needs equal %ss: %lld and %lld", p->name,
                   axis_text(a, axis), (long long)shape_extent(a, axis), (long long)shape_extent(b, axis));
    diag_label(l->diag, "%s, %s", operand_text(l, p->text_a, p->a), operand_text(l, p->text_b, p->b));
    note_via(l);
    explain_sizes(l, p->a, p->b, wrong);
    help_enlarge(p);
    diag_end(l->diag);
    return false;
}

bool equal_sizes(const Pair *p) {
    Shape a = p->l->graph->value[p->a].shape, b = p->l->graph->value[p->b].shape;
    if (a.rank != b.rank) {
        diag_begin(p->l->diag, ERROR, "U0401", p->span, "`%s` needs maps of one kind: %s and %s", p->name,
                   map_text(a), map_text(b));
        diag_end(p->l->diag);
        return false;
    }
    for (int axis = 0; axis < AXES; axis++) {
        bool checked = p->l->only_axis < 0 || p->l->only_axis == axis;
        if (checked && shape_extent(a, axis) != shape_extent(b, axis))
            return report_axes(p, axis);
    }
    return true;
}
