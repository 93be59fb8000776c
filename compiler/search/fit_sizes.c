/* fit_sizes.c - sizes in words, and the sizes that a network takes: multiples of the factor between its
 * input and its smallest map, and of the extents of windows. */
#include "base/size_math.h"
#include "ir/ops.h"
#include "search/fit.h"

const char *fit_size_text(Pool *pool, const int64_t size[AXES]) {
    const char *text = "";
    for (int k = 0; k < AXES; k++)
        if (size[k] > 0)
            text = pool_text(pool, "%s%s%lld", text, *text == '\0' ? "" : "x", (long long)size[k]);
    return text;
}

/* The first input of NODE that is a feature map or a segment of several, or -1. */
static ValueId map_of(const Graph *g, const Node *node) {
    for (Touch t = node_touches(g, node); touch_next(&t);)
        if (!t.is_output && g->value[t.value].per_sample)
            return t.value;
    return -1;
}

/* By how much NODE makes an axis smaller; 1: by no whole number. */
static int64_t shrinks(const Graph *g, const Node *node, ValueId in, int axis) {
    if (node->a.kind == ATTRIBUTES_REARRANGE)
        return node->a.rearrange->multiple[axis];
    const Window *w = node_window(node);
    if (w != NULL)
        return has_trait(node, TRAIT_DOWN) ? w->stride[axis] : 1;
    const ResizeAttributes *a = node->a.kind == ATTRIBUTES_RESIZE ? &node->a.resize : NULL;
    const int64_t before = shape_extent(g->value[in].shape, axis),
                  after = shape_extent(g->value[node->out[0]].shape, axis);
    return a != NULL && a->step[axis] != a->unit[axis] && before % after == 0 ? before / after : 1;
}

/* The number that the extent of an axis of x must be a multiple of. */
static int64_t axis_multiple(const Node *node, int axis) {
    return node->a.kind == ATTRIBUTES_REARRANGE ? node->a.rearrange->multiple[axis]
                                                : window_multiple(node, axis);
}

/* The least multiple of both, unless it is more than MOST. */
static int64_t multiple_of_both(int64_t a, int64_t b, int64_t most) {
    const int64_t both = size_product(a, b / size_common_divisor(a, b));
    return both < most ? both : a;
}

static bool mixes_axes(const Node *node) {
    return node->a.kind == ATTRIBUTES_REARRANGE && node->a.rearrange->mixes;
}

bool fit_multiples(const Graph *g, int64_t by[AXES]) {
    const int64_t most = 1 << 20;
    int64_t(*shrink)[AXES] = pool_array(g->pool, (size_t)g->nvalue, sizeof *shrink);
    int64_t whole[AXES] = {1, 1, 1}, largest[AXES] = {1, 1, 1};
    for (int k = 0; k < AXES; k++)
        by[k] = 1;
    for (ValueId v = 0; v < g->nvalue; v++)
        for (int k = 0; k < AXES; k++)
            shrink[v][k] = 1;
    for (int i = 0; i < g->nnode; i++) {
        const Node *node = &g->node[i];
        if (mixes_axes(node))
            return false;
        const ValueId in = map_of(g, node);
        if (node->nout == 0 || node->out[0] < 0 || in < 0)
            continue;
        for (int k = 0; k < AXES; k++) {
            const Window *w = node_window(node);
            const int64_t by_what = shrinks(g, node, in, k);
            int64_t *out = &shrink[node->out[0]][k];
            *out = by_what < most / shrink[in][k] ? shrink[in][k] * by_what : most;
            if (w != NULL && has_trait(node, TRAIT_UP) && *out % w->stride[k] == 0)
                *out /= w->stride[k];
            if (*out > largest[k] && *out < most)
                largest[k] = *out;
            if (axis_multiple(node, k) > 1)
                whole[k] =
                    multiple_of_both(whole[k], size_product(shrink[in][k], axis_multiple(node, k)), most);
        }
    }
    for (int k = 0; k < AXES; k++)
        by[k] = multiple_of_both(largest[k], whole[k], most);
    return true;
}
