/* operators_pool.c - build rules of the operators that look at windows without weights: pools, and what
 * undoes one.
 *
 * requires, provides   as operators.c
 */
#include "front/operator_build.h"
#include "front/operator_size.h"

#include <string.h>

/* Reads the window of a pool; the same padding on both sides. */
static bool argument_pool(const Call *call, Shape in, Window *w) {
    Lower *l = call->l;
    if (!argument_window(call, in, w) || !argument_axes(call, "padding", in, 0, 0, w->before))
        return false;
    memcpy(w->after, w->before, sizeof w->after);
    for (int axis = 0; axis < AXES; axis++)
        if (w->before[axis] > w->kernel[axis] / 2) {
            diag_begin(l->diag, ERROR, "U0307", argument(call, "padding")->span,
                       "`padding` cannot be more than half the kernel");
            note_via(l);
            diag_end(l->diag);
            return false;
        }
    return true;
}

static ValueId pooled(const Call *call, ValueId x, const Window *w, bool inside) {
    Shape out;
    return slide(call, x, shape_channels(shape_of(call, x)), w, &out)
               ? each_segment(
                     call, x,
                     (Attributes){.kind = ATTRIBUTES_POOL, .pool = {.window = *w, .inside = inside}}, out)
               : -1;
}

ValueId build_avg_pool(Call *call) {
    ValueId x;
    Window w = {0};
    bool counts;
    return argument_feature_map(call, "x", &x) && argument_pool(call, shape_of(call, x), &w) &&
                   argument_truth(call, "count_include_pad", &counts)
               ? pooled(call, x, &w, !counts)
               : -1;
}

/* Adds the points that the last windows reach beyond the padding, if windows count that begin inside of the
 * padding or of the image: PyTorch's `ceil_mode`. */
static void pad_for_last_windows(Shape in, Window *w) {
    for (int axis = AXES - (in.rank - 1); axis < AXES; axis++) {
        const int64_t extent = shape_extent(in, axis), stride = w->stride[axis], front = w->before[axis];
        const int64_t span = w->dilation[axis] * (w->kernel[axis] - 1) + 1,
                      room = extent + 2 * front - span;
        int64_t last = room < 0 ? 0 : (room + stride - 1) / stride;
        if (last * stride >= extent + front)
            last--;
        if (room >= 0)
            w->after[axis] = last * stride + span - extent - front;
    }
}

ValueId build_max_pool(Call *call) {
    ValueId x;
    Window w = {0};
    bool ceil;
    if (!argument_feature_map(call, "x", &x))
        return -1;
    const Shape in = shape_of(call, x);
    if (!argument_pool(call, in, &w) || !argument_axes(call, "dilation", in, 1, 1, w.dilation) ||
        !argument_truth(call, "ceil", &ceil))
        return -1;
    if (ceil)
        pad_for_last_windows(in, &w);
    return pooled(call, x, &w, false);
}

/* Windows that do not overlap, so that each point of `like` has one at most. */
static bool argument_unpool(const Call *call, Shape in, Window *w) {
    Lower *l = call->l;
    if (!argument_window(call, in, w))
        return false;
    for (int axis = 0; axis < AXES; axis++)
        if (w->stride[axis] < w->kernel[axis]) {
            diag_begin(l->diag, ERROR, "U0316", call->span,
                       "`max_unpool` takes windows that do not overlap");
            diag_note(l->diag, "the kernel is %lld, the stride %lld", (long long)w->kernel[axis],
                      (long long)w->stride[axis]);
            note_via(l);
            diag_end(l->diag);
            return false;
        }
    return true;
}

ValueId build_max_unpool(Call *call) {
    Lower *l = call->l;
    ValueId x, like;
    Window w = {0};
    Shape pooled_shape;
    if (!argument_feature_map(call, "x", &x) || !argument_feature_map(call, "like", &like))
        return -1;
    const Shape in = shape_of(call, x), large = shape_of(call, like);
    if (!argument_unpool(call, large, &w) || !slide(call, like, large.dim[0], &w, &pooled_shape))
        return -1;
    if (l->only_axis < 0 && !shape_equal(pooled_shape, in)) {
        diag_begin(l->diag, ERROR, "U0402", call->span,
                   "`x` is %s, and the pooled `like` is %s: they must be equal", shape_text(l->pool, in),
                   shape_text(l->pool, pooled_shape));
        diag_note(l->diag, "each point of `x` goes where its window of `like` has the maximum");
        note_via(l);
        diag_end(l->diag);
        return -1;
    }
    const ValueId operands[] = {value_joined(l->graph, like, call->span),
                                value_joined(l->graph, x, call->span), -1};
    return node_append(call, operands, 3, (Attributes){.kind = ATTRIBUTES_POOL, .pool.window = w},
                       output_new(call, large));
}
