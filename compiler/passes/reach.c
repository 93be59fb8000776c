/* reach.c - how much of an image a point of a result sees, which prediction by windows has to know.
 *
 * A larger image than the compiled one goes through the program window by window.  If each point of a
 * result sees a bounded part of the image, windows overlap by as much, and only points count whose part
 * lies in their window: together they are the result of the whole image, to the bit.
 *
 *     window     |===============================|        8 units of 4 points
 *     counts     |           |=======|           |        2 of these: 3 on either side see points beside
 *
 * A unit is the smallest part of an image in which each tensor has whole points, so windows that begin at
 * units cut strides in the same places as the whole image does.  If a kernel computes tiles, a point's
 * rounding depends on all that its tile meets: so tiles must be cut alike, too, and are seen as a whole.
 * Windows then begin at multiples of some units, the grid.  If no point would count so, tiles are left out
 * of account: results are equal to results of the whole image within rounding.
 *
 * How far a tensor is seen follows from `rows` of the operators, from the results back to the input, for a
 * unit in the middle of an image without ends.  An operator that sees all of an image, as one that is
 * normalised by its own mean does, or whose points lie at no constant distance, ends that: then windows
 * that overlap are blended.
 *
 * Requires: the graph in its final form.  Provides: Program.reach, exact, same_bits, sees_all.
 */
#include "base/memory.h"
#include "base/size_math.h"
#include "ir/ops.h"
#include "passes/passes.h"

enum { MOST_POINTS = 4096 }; /* of a tensor in a unit: more of them are no proportion that one meets */

/* The way back along one axis. */
typedef struct {
    const Graph *g;
    int axis;
    const bool *needed; /* per value: a result depends on it */
    int64_t units;      /* of an image of the compiled size */
    bool tiles;         /* are seen as a whole */
    RowRange *range;    /* per value: what a unit of the results needs */
    const Node *ends;   /* the first operator that needs all of an image */
} Way;

static bool is_image(const Value *value) {
    return value->per_sample && (value->shape.rank == IMAGE_RANK || value->shape.rank == SIGNAL_RANK);
}

static int64_t extent_of(const Graph *g, ValueId v, int axis) {
    return shape_extent(g->value[v].shape, axis);
}

/* Points of V in a unit. */
static int64_t points_in_unit(const Way *w, ValueId v) {
    return extent_of(w->g, v, w->axis) / w->units;
}

/* Per value: does an output depend on it, sample by sample? */
static const bool *find_needed(const Program *program) {
    const Graph *g = program->graph;
    bool *needed = NEW_ARRAY(g->pool, bool, g->nvalue);
    for (int i = 0; i < program->model->noutput; i++) {
        const ValueId *segment;
        const int count = value_segments(g, &program->model->output[i].value, &segment);
        for (int k = 0; k < count; k++)
            needed[segment[k]] = true;
    }
    for (int i = g->nnode - 1; i >= 0; i--) {
        bool makes = false;
        for (Touch t = node_touches(g, &g->node[i]); touch_next(&t);)
            makes |= t.is_output && needed[t.value];
        for (Touch t = node_touches(g, &g->node[i]); makes && touch_next(&t);)
            if (!t.is_output && g->value[t.value].per_sample)
                needed[t.value] = true;
    }
    return needed;
}

static int64_t count_units(const Graph *g, const bool *needed, int axis) {
    int64_t units = 0;
    for (ValueId v = 0; v < g->nvalue; v++)
        if (needed[v] && is_image(&g->value[v]))
            units = size_common_divisor(units, extent_of(g, v, axis));
    return units;
}

static void widen(RowRange *range, RowRange by) {
    const bool empty = range->begin == range->end;
    range->begin = empty || by.begin < range->begin ? by.begin : range->begin;
    range->end = empty || by.end > range->end ? by.end : range->end;
}

/* Does NODE, for a unit further on of its output, read a unit further on of an input, whichever point? */
static bool goes_on_alike(const Way *w, const Node *node, int input, ValueId in) {
    RowsRule *rule = op_table[node->op].rows;
    const int64_t out = points_in_unit(w, node->out[0]), more = points_in_unit(w, in);
    if (out > MOST_POINTS)
        return false;
    for (int64_t k = 0; k < out; k++) {
        const RowRange here = rule(w->g, node, input, w->axis, (RowRange){k, k + 1}),
                       next = rule(w->g, node, input, w->axis, (RowRange){k + out, k + out + 1});
        if (next.begin - here.begin != more || next.end - here.end != more)
            return false;
    }
    return true;
}

static RowRange whole_tiles(const Way *w, const Node *node, RowRange out) {
    const int64_t tile = w->tiles && node->tile_rows > 1 ? node->tile_rows : 1;
    return (RowRange){size_floor_quotient(out.begin, tile) * tile, size_rounded(out.end, tile)};
}

/* From what NODE makes to what it reads; false: it needs all of that. */
static bool go_back(const Way *w, const Node *node) {
    RowRange out = {0, 0};
    for (Touch t = node_touches(w->g, node); touch_next(&t);) {
        if (!t.is_output || !w->needed[t.value])
            continue;
        if (!is_image(&w->g->value[t.value]) ||
            extent_of(w->g, t.value, w->axis) != extent_of(w->g, node->out[0], w->axis))
            return false;
        widen(&out, w->range[t.value]);
    }
    out = whole_tiles(w, node, out);
    for (Touch t = node_touches(w->g, node); out.begin < out.end && touch_next(&t);) {
        if (t.is_output || !w->needed[t.value])
            continue;
        if (!is_image(&w->g->value[t.value]) || !goes_on_alike(w, node, t.number, t.value))
            return false;
        widen(&w->range[t.value], op_table[node->op].rows(w->g, node, t.number, w->axis, out));
    }
    return true;
}

static void walk(Way *w, const Program *program) {
    const Graph *g = w->g;
    for (int i = 0; i < program->model->noutput; i++) {
        const ValueId *segment;
        const int count = value_segments(g, &program->model->output[i].value, &segment);
        for (int k = 0; k < count; k++) {
            const int64_t points = points_in_unit(w, segment[k]);
            w->range[segment[k]] = (RowRange){MIDDLE * points, (MIDDLE + 1) * points};
        }
    }
    for (int i = g->nnode - 1; i >= 0; i--)
        if (!go_back(w, &g->node[i]))
            w->ends = &g->node[i];
}

static int64_t quotient_up(int64_t a, int64_t b) {
    return a > 0 ? (a + b - 1) / b : 0;
}

/* So many units before and after a unit are seen from it, in any tensor. */
static void count_seen(const Way *w, int64_t *before, int64_t *after) {
    *before = *after = 0;
    for (ValueId v = 0; v < w->g->nvalue; v++) {
        const RowRange range = w->range[v];
        if (range.begin == range.end)
            continue;
        const int64_t points = points_in_unit(w, v),
                      up = quotient_up(MIDDLE * points - range.begin, points),
                      down = quotient_up(range.end - (MIDDLE + 1) * points, points);
        *before = up > *before ? up : *before;
        *after = down > *after ? down : *after;
    }
}

/* The least number of units in which each kernel has whole tiles. */
static int64_t units_in_tiles(const Way *w) {
    int64_t units = 1;
    for (int i = 0; i < w->g->nnode; i++) {
        const Node *node = &w->g->node[i];
        const int64_t tile = node->tile_rows;
        if (tile <= 1 || node->nout == 0 || !w->needed[node->out[0]])
            continue;
        const int64_t step = tile / size_common_divisor(tile, points_in_unit(w, node->out[0]));
        units = size_product(units / size_common_divisor(units, step), step);
    }
    return units;
}

/* Is each output as large as the input, or larger or smaller by a whole factor, so that it is known where a
 * window's part of it lies? */
static bool outputs_follow(const Program *program, ValueId input, int axis) {
    const Graph *g = program->graph;
    const int64_t size = extent_of(g, input, axis);
    for (int i = 0; i < program->model->noutput; i++) {
        const ValueId output = program->model->output[i].value;
        const int64_t own = extent_of(g, output, axis);
        if (!is_image(&g->value[output]) || (own % size != 0 && size % own != 0))
            return false;
    }
    return true;
}

/* Windows that are blended begin where the input and all outputs have whole points; what they do not SEE,
 * as far as that is known, is told. */
static Reach blended_reach(const Program *program, ValueId input, int axis, const Reach *seen) {
    const Graph *g = program->graph;
    const int64_t size = extent_of(g, input, axis);
    int64_t units = size;
    for (int i = 0; i < program->model->noutput; i++)
        units = size_common_divisor(units, extent_of(g, program->model->output[i].value, axis));
    return (Reach){size / units, size / units, seen->before, seen->after};
}

/* The grid of windows that are cut with regard to tiles, or without; false: no point counts. */
static bool find_grid(Way *w, const Program *program, int64_t size, Reach *reach) {
    CHECK(w->units > 0);
    const int64_t unit = size / w->units, tiles = w->tiles ? units_in_tiles(w) : 1;
    int64_t before, after;
    w->range = NEW_ARRAY(w->g->pool, RowRange, w->g->nvalue);
    walk(w, program);
    if (w->ends != NULL)
        return false;
    count_seen(w, &before, &after);
    *reach = (Reach){unit, unit * tiles, before * unit, after * unit};
    return w->units - before - after >= tiles;
}

/* Fills the reach along AXIS; false: it is not bounded, or no point of a window counts. */
static bool reach_along(Program *program, int axis, ValueId input, const bool *needed) {
    const Graph *g = program->graph;
    const int64_t size = extent_of(g, input, axis);
    Way w = {.g = g,
             .axis = axis,
             .needed = needed,
             .units = count_units(g, needed, axis),
             .tiles = program->same_bits};
    bool found = find_grid(&w, program, size, &program->reach[axis]);
    if (!found && w.ends == NULL && w.tiles) {
        w.tiles = program->same_bits = false;
        found = find_grid(&w, program, size, &program->reach[axis]);
    }
    program->sees_all = w.ends;
    return found;
}

/* The one input that prediction reads, if that is an image; or -1. */
static ValueId only_input(const Program *program, const bool *needed) {
    const Model *model = program->model;
    ValueId input = -1;
    for (int i = 0; i < model->ninput; i++) {
        const ValueId v = model->input[i].value;
        if (needed[v] && (input >= 0 || !is_image(&program->graph->value[v])))
            return -1;
        input = needed[v] ? v : input;
    }
    return input;
}

void find_reach(Program *program) {
    if (program->kind != PROGRAM_PREDICT)
        return;
    const bool *needed = find_needed(program);
    const ValueId input = only_input(program, needed);
    if (input < 0 || !outputs_follow(program, input, 1) || !outputs_follow(program, input, 2))
        return;
    program->same_bits = program->target->same_anywhere;
    program->exact = reach_along(program, 1, input, needed);
    program->exact &= program->sees_all == NULL && reach_along(program, 2, input, needed);
    for (int axis = 1; axis < AXES && !program->exact; axis++)
        program->reach[axis] = blended_reach(program, input, axis, &program->reach[axis]);
}
