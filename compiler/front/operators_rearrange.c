/* operators_rearrange.c - build rule of `rearrange`, and the pattern that it reads.
 *
 * A pattern names the axes of x, then the axes of y: "(c p=2 q=2) h w -> c (h p) (w q)".  Parentheses hold
 * the parts of an axis, the outermost first; a part may say its extent, and one part of an axis gets what
 * the others leave.  Every part of x stands once in y.  1 is an axis, or a part, of one element.  The
 * notation is from einops (Rogozhnikov, "Einops: Clear and reliable tensor manipulations", ICLR 2022),
 * with the extents inside the pattern and without the axis of samples.
 *
 * Sizes that fit are found by trying one axis at a time (lower_size.c).  Behind a pattern that moves
 * points to another axis, all axes are checked.
 *
 * requires, provides   as operators.c
 */
#include "base/size_math.h"
#include "front/operator_build.h"
#include "front/operator_size.h"

#include <ctype.h>
#include <string.h>

/* The two sides of a pattern: x, and y. */
enum { SIDE_X, SIDE_Y, SIDES };

typedef struct {
    const char *name; /* LENGTH letters */
    int length;
    int64_t extent;  /* 0: the other parts of its axis decide */
    int axis[SIDES]; /* the place of the part: its axis on each side */
    bool open;       /* its extent follows from the axis */
    bool placed;     /* in y */
} Part;

typedef struct {
    const Call *call;
    const char *at; /* the rest of the text */
    Part part[MAX_PARTS_OF_AXES];
    int count;
    int order[MAX_PARTS_OF_AXES]; /* the parts as y has them */
    int placed, axes[SIDES];
} Pattern;

static bool wrong(const Pattern *p, const char *message) {
    Lower *l = p->call->l;
    diag_begin(l->diag, ERROR, "U0419", argument(p->call, "pattern")->span, "%s", message);
    diag_note(l->diag, "a pattern names the axes of x, then the axes of the result, channels first: "
                       "\"(c p=2 q=2) h w -> c (h p) (w q)\"");
    note_via(l);
    diag_end(l->diag);
    return false;
}

static void skip_spaces(Pattern *p) {
    while (*p->at == ' ')
        p->at++;
}

static int part_named(const Pattern *p, const char *name, int length) {
    for (int i = 0; i < p->count; i++)
        if (p->part[i].length == length && strncmp(p->part[i].name, name, (size_t)length) == 0)
            return i;
    return -1;
}

/* Reads `=2` behind a name; without one the extent is 0. */
static bool read_extent(Pattern *p, int64_t *extent) {
    *extent = 0;
    if (*p->at != '=')
        return true;
    for (p->at++; isdigit((unsigned char)*p->at) && *extent <= MAX_CHANNELS; p->at++)
        *extent = 10 * *extent + (*p->at - '0');
    return (*extent >= 1 && *extent <= MAX_CHANNELS) ||
           wrong(p, pool_text(p->call->l->pool, "an extent in a pattern is a whole number from 1 to %lld",
                              (long long)MAX_CHANNELS));
}

static bool add_part(Pattern *p, const char *name, int length, int64_t extent) {
    Pool *pool = p->call->l->pool;
    if (part_named(p, name, length) >= 0)
        return wrong(p, pool_text(pool, "`%.*s` stands twice among the axes of x", length, name));
    if (p->count == MAX_PARTS_OF_AXES)
        return wrong(p, pool_text(pool, "a pattern has %d names at most", MAX_PARTS_OF_AXES));
    p->part[p->count++] =
        (Part){.name = name, .length = length, .extent = extent, .axis = {p->axes[SIDE_X], 0}};
    return true;
}

static bool place_part(Pattern *p, const char *name, int length, int64_t extent) {
    Pool *pool = p->call->l->pool;
    const int i = part_named(p, name, length);
    if (i < 0)
        return wrong(p, pool_text(pool, "`%.*s` is no part of x", length, name));
    if (p->part[i].placed)
        return wrong(p, pool_text(pool, "`%.*s` stands twice in the result", length, name));
    if (extent > 0)
        return wrong(p, "extents stand in front of `->`");
    p->part[i].placed = true;
    p->part[i].axis[SIDE_Y] = p->axes[SIDE_Y];
    p->order[p->placed++] = i;
    return true;
}

/* Reads a name, with its extent, or 1. */
static bool read_part(Pattern *p, int side) {
    const char *name = p->at;
    int length = 0;
    int64_t extent;
    if (name[0] == '1' && !isalnum((unsigned char)name[1])) {
        p->at++;
        return true;
    }
    if (isalpha((unsigned char)*name))
        while (isalnum((unsigned char)name[length]) || name[length] == '_')
            length++;
    if (length == 0)
        return wrong(p, *name == '\0'
                            ? "a pattern ends too early"
                            : pool_text(p->call->l->pool, "a pattern has names, not `%c`", *name));
    p->at += length;
    if (!read_extent(p, &extent))
        return false;
    return side == SIDE_X ? add_part(p, name, length, extent) : place_part(p, name, length, extent);
}

/* Reads a part, or parts in parentheses. */
static bool read_axis(Pattern *p, int side) {
    if (*p->at == '(') {
        p->at++;
        for (skip_spaces(p); *p->at != ')'; skip_spaces(p))
            if (!read_part(p, side))
                return false;
        p->at++;
    } else if (!read_part(p, side)) {
        return false;
    }
    p->axes[side]++;
    return true;
}

static bool read_side(Pattern *p, int side) {
    for (skip_spaces(p); *p->at != '\0' && strncmp(p->at, "->", 2) != 0; skip_spaces(p))
        if (!read_axis(p, side))
            return false;
    return true;
}

static bool read_pattern(Pattern *p, Shape in) {
    Pool *pool = p->call->l->pool;
    if (!read_side(p, SIDE_X))
        return false;
    if (*p->at == '\0')
        return wrong(p, "a pattern has `->` between the axes of x and the axes of the result");
    p->at += strlen("->");
    if (!read_side(p, SIDE_Y))
        return false;
    if (*p->at != '\0')
        return wrong(p, "`->` stands twice");
    for (int side = 0; side < SIDES; side++)
        if (p->axes[side] != in.rank)
            return wrong(p, pool_text(pool, "%s has %d axes, and the pattern gives it %d",
                                      side == SIDE_X ? "x" : "the result", in.rank, p->axes[side]));
    for (int i = 0; i < p->count; i++)
        if (!p->part[i].placed)
            return wrong(
                p, pool_text(pool, "`%.*s` is missing in the result", p->part[i].length, p->part[i].name));
    return true;
}

/* ---- extents ---- */

static const char *extent_text(Shape map, int axis) {
    return axis == 0 ? "number of channels" : axis_text(map, axis + AXES - map.rank);
}

/* Gives the parts of AXIS of x their extents. */
static bool divide_axis(Pattern *p, Shape in, int axis) {
    Lower *l = p->call->l;
    Part *open = NULL;
    int64_t known = 1;
    for (int i = 0; i < p->count; i++) {
        Part *part = &p->part[i];
        if (part->axis[SIDE_X] != axis)
            continue;
        if (part->extent == 0 && open != NULL)
            return wrong(p,
                         pool_text(l->pool, "`%.*s` or `%.*s` needs an extent, like `%.*s=2`", open->length,
                                   open->name, part->length, part->name, part->length, part->name));
        open = part->extent == 0 ? part : open;
        known = size_product(known, part->extent == 0 ? 1 : part->extent);
    }
    const int64_t rest = in.dim[axis] / known;
    const bool checked = axis == 0 || l->only_axis < 0 || l->only_axis == axis + AXES - in.rank;
    if (checked && (rest * known != in.dim[axis] || (open == NULL && rest != 1)))
        return wrong(p, pool_text(l->pool, "the %s of x is %lld, and the pattern makes it %s%lld",
                                  extent_text(in, axis), (long long)in.dim[axis],
                                  open != NULL ? "a multiple of " : "", (long long)known));
    if (open != NULL) {
        open->extent = rest > 0 ? rest : 1;
        open->open = true;
    }
    return true;
}

/* The part of AXIS of x that has no extent in the pattern, or -1. */
static int open_part(const Pattern *p, int axis) {
    for (int i = 0; i < p->count; i++)
        if (p->part[i].axis[SIDE_X] == axis && p->part[i].open)
            return i;
    return -1;
}

/* Sets how the extents of depth, height and width change. */
static void set_multiples(const Pattern *p, Shape in, Rearrangement *r) {
    const int shift = AXES - in.rank;
    for (int k = 0; k < AXES; k++)
        r->multiple[k] = 1;
    for (int axis = 1; axis < in.rank; axis++) {
        const int open = open_part(p, axis);
        r->multiple[axis + shift] = in.dim[axis] / (open < 0 ? 1 : p->part[open].extent);
        r->mixes |= open >= 0 && p->part[open].axis[SIDE_Y] != axis;
    }
}

/* The parts as a kernel knows them: how far apart the elements of each lie, in x and in y. */
static void set_steps(const Pattern *p, Shape in, Shape *out, Rearrangement *r) {
    int64_t step[SIDES][MAX_RANK];
    for (int axis = 0; axis < in.rank; axis++)
        step[SIDE_X][axis] = step[SIDE_Y][axis] = 1;
    for (int i = p->count - 1; i >= 0; i--) {
        const Part *part = &p->part[i];
        r->part[i].x_step = step[SIDE_X][part->axis[SIDE_X]];
        step[SIDE_X][part->axis[SIDE_X]] = size_product(r->part[i].x_step, part->extent);
    }
    for (int k = p->placed - 1; k >= 0; k--) {
        const int i = p->order[k], shift = AXES - in.rank + 1;
        const Part *part = &p->part[i];
        AxisPart *to = &r->part[i];
        to->extent = part->extent;
        to->x_axis = part->axis[SIDE_X] + (part->axis[SIDE_X] > 0 ? shift : 0);
        to->y_axis = part->axis[SIDE_Y] + (part->axis[SIDE_Y] > 0 ? shift : 0);
        to->y_step = step[SIDE_Y][part->axis[SIDE_Y]];
        step[SIDE_Y][part->axis[SIDE_Y]] = size_product(to->y_step, part->extent);
    }
    for (int axis = 0; axis < in.rank; axis++)
        out->dim[axis] = step[SIDE_Y][axis];
    r->count = p->count;
}

ValueId build_rearrange(Call *call) {
    Lower *l = call->l;
    ValueId x;
    if (!argument_feature_map(call, "x", &x))
        return -1;
    const Argument *pattern = argument(call, "pattern");
    if (pattern->value.kind != DATUM_TEXT) {
        report_range(call, "pattern", "a text, like \"c h w -> c w h\"");
        return -1;
    }
    const Shape in = shape_of(call, x);
    Shape out = in;
    Pattern p = {.call = call, .at = pattern->value.text};
    if (!read_pattern(&p, in))
        return -1;
    for (int axis = 0; axis < in.rank; axis++)
        if (!divide_axis(&p, in, axis))
            return -1;
    Rearrangement *r = NEW(l->pool, Rearrangement);
    set_steps(&p, in, &out, r);
    set_multiples(&p, in, r);
    l->only_axis =
        r->mixes ? -1 : l->only_axis; /* the extent of an axis follows from others from here on */
    x = value_joined(l->graph, x, call->span);
    const Attributes a = {.kind = ATTRIBUTES_REARRANGE, .rearrange = r};
    return small_enough(call, out) ? node_append(call, &x, 1, a, output_new(call, out)) : -1;
}
