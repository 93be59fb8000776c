/* lower_size.c - explains sizes that do not fit and finds the nearest that do.
 *
 * The nearest sizes are not computed from strides but found by trying: the file is lowered again, silently,
 * with a neighbouring size, and only the axis in question is checked (in all operators of the language an
 * extent depends on the extents along the same axis alone).  Whatever the operators are, the advice is
 * right.
 */
#include "front/lower_state.h"

#include <string.h>

enum { MAX_STEPS = 64, MAX_TRIES = 600, MAX_WORK = 500000 };

const char *axis_text(Shape map, int axis) {
    static const char *const text[AXES] = {"depth", "height", "width"};
    return map.rank == SIGNAL_RANK ? "length" : text[axis];
}

const char *map_text(Shape map) {
    return map.rank == SIGNAL_RANK ? "a signal" : map.rank == VOLUME_RANK ? "a volume" : "an image";
}

const char *extents_text(Lower *l, Shape shape) {
    Shape sizes = {.rank = shape.rank - 1};
    memcpy(sizes.dim, shape.dim + 1, sizeof *shape.dim * (size_t)(MAX_RANK - 1));
    return shape_text(l->pool, sizes);
}

const char *sizes_text(Lower *l, ValueId v) {
    return extents_text(l, l->graph->value[v].shape);
}

/* ---- how an extent came to be ---- */

typedef struct {
    int64_t extent[MAX_STEPS]; /* where it changed, from the value back to the input */
    int count;
    ValueId origin;     /* the input, or where the path was given up */
    int64_t shrink;     /* product of the strides */
    int halvings;       /* of stride 2, */
    bool only_halvings; /* and no other */
} Path;

static Path follow(Lower *l, ValueId v, int axis) {
    const Graph *g = l->graph;
    Path path = {.count = 1, .origin = v, .shrink = 1, .only_halvings = true};
    path.extent[0] = shape_extent(g->value[v].shape, axis);
    while (path.count < MAX_STEPS) {
        const Value *value = &g->value[path.origin];
        if (value->nsegments > 0) {
            path.origin = value->segment[0];
            continue;
        }
        if (value->producer < 0)
            break;
        const Node *node = &g->node[value->producer];
        const Window *window = node_window(node);
        int64_t stride = window == NULL ? 1 : window->stride[axis];
        path.origin = node->in[0];
        int64_t before = shape_extent(g->value[path.origin].shape, axis);
        if (before == path.extent[path.count - 1])
            continue;
        if (before > path.extent[path.count - 1] && stride > 1 &&
            !__builtin_mul_overflow(path.shrink, stride, &path.shrink)) {
            path.halvings += stride == 2;
            path.only_halvings &= stride == 2;
        }
        path.extent[path.count++] = before;
    }
    return path;
}

static const char *change_text(int64_t from, int64_t to) {
    return to == from / 2   ? "halved to"
           : to == 2 * from ? "doubled to"
           : to < from      ? "cut to"
                            : "enlarged to";
}

static void explain_extent(Lower *l, ValueId v, int axis) {
    Path path = follow(l, v, axis);
    const Value *origin = &l->graph->value[path.origin];
    if (origin->class != CLASS_STAGING || path.count < 2)
        return;
    int last = path.count - 1;
    const char *text = pool_text(l->pool, "%s %lld of `%s` (line %d) is", axis_text(origin->shape, axis),
                                 (long long)path.extent[last], origin->name, origin->span.line);
    const char *before = "";
    for (int i = last - 1; i >= 0; i--) {
        const char *change = change_text(path.extent[i + 1], path.extent[i]);
        const char *joint = strcmp(change, before) == 0 ? ","
                            : *before == '\0'           ? pool_text(l->pool, " %s", change)
                            : *change == 'd'            ? " and doubled again to"
                                                        : pool_text(l->pool, " and %s", change);
        text = pool_text(l->pool, "%s%s %lld", text, joint, (long long)path.extent[i]);
        before = change;
    }
    diag_note(l->diag, "%s", text);
}

/* ---- sizes that do ---- */

static bool size_fits(const Lower *l, int axis, int64_t size) {
    LowerOptions options = *l->options;
    Pool *pool = pool_new();
    options.size[axis] = size;
    bool fits = lower_axis(pool, l->ast, &options, axis);
    pool_free(pool);
    return fits;
}

static int64_t search_size(const Lower *l, int axis, int64_t from, int step) {
    int64_t tries =
        MAX_WORK / (l->work + 1); /* lowering a large file again and again would take too long */
    tries = tries < MAX_TRIES ? tries : MAX_TRIES;
    for (int64_t i = 1, size = from + step; i <= tries && size >= 1; i++, size += step)
        if (size_fits(l, axis, size))
            return size;
    return 0;
}

static void suggest_extent(Lower *l, ValueId v, int axis) {
    Path path = follow(l, v, axis);
    const Value *origin = &l->graph->value[path.origin];
    if (origin->class != CLASS_STAGING)
        return;
    int64_t size = shape_extent(origin->shape, axis), multiple = path.shrink;
    int64_t less = search_size(l, axis, size, -1), more = search_size(l, axis, size, 1);
    const char *choice =
        less > 0 && more > 0   ? pool_text(l->pool, "%lld or %lld", (long long)less, (long long)more)
        : less > 0 || more > 0 ? pool_text(l->pool, "%lld", (long long)(less > 0 ? less : more))
                               : NULL;
    if (choice == NULL)
        return;
    if (multiple > 1 && size % multiple != 0 && less % multiple == 0 && more % multiple == 0)
        diag_help(l->diag, "%s %lld is not divisible by %lld: use %s%s", axis_text(origin->shape, axis),
                  (long long)size, (long long)multiple, choice,
                  path.only_halvings && path.halvings > 1
                      ? pool_text(l->pool, " (%d halvings)", path.halvings)
                      : "");
    else
        diag_help(
            l->diag,
            less > 0 && more > 0 ? "the nearest %ss that work are %s" : "the nearest %s that works is %s",
            axis_text(origin->shape, axis),
            less > 0 && more > 0 ? pool_text(l->pool, "%lld and %lld", (long long)less, (long long)more)
                                 : choice);
}

/* An axis that is right here may go wrong further on: both are named at once. */
static bool goes_wrong(Lower *l, ValueId v, int axis) {
    const Value *origin = &l->graph->value[follow(l, v, axis).origin];
    const Shape shape = origin->shape;
    return origin->class == CLASS_STAGING && axis >= AXES - (shape.rank - 1) &&
           !size_fits(l, axis, shape_extent(shape, axis));
}

void explain_sizes(Lower *l, ValueId a, ValueId b, const bool wrong[AXES]) {
    ValueId of_axis[AXES];
    for (int axis = 0; axis < AXES && !l->tries_size; axis++) {
        of_axis[axis] = follow(l, a, axis).count >= follow(l, b, axis).count ? a : b;
        if (wrong[axis])
            explain_extent(l, of_axis[axis], axis);
    }
    for (int axis = 0; axis < AXES && !l->tries_size; axis++)
        if (wrong[axis] || goes_wrong(l, of_axis[axis], axis))
            suggest_extent(l, of_axis[axis], axis);
}
