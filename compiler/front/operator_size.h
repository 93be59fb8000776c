/* operator_size.h - windows of operators, and the sizes of their results.  Private to operators.c and
 * operator_size.c.  All functions report errors and then return false. */
#ifndef OPERATOR_SIZE_H
#define OPERATOR_SIZE_H

#include "front/lower_state.h"

static const int64_t MAX_CHANNELS = INT64_C(1) << 20; /* and the largest kernel, stride, padding */

Shape shape_of(const Call *call, ValueId v);
/* Refuses maps of classes, and labels: layers and sums take numbers. */
bool is_numbers(Lower *l, ValueId v, Span span);
/* Refuses shapes whose sizes could overflow later. */
bool small_enough(const Call *call, Shape shape);

/* Reads a number, or one per axis of SHAPE; an image has ABSENT along its depth. */
bool argument_axes(const Call *call, const char *name, Shape shape, int64_t minimum, int64_t absent,
                   int64_t *value);
/* Reads `kernel` and `stride`; the dilation is 1. */
bool argument_window(const Call *call, Shape shape, Window *w);
/* Reads NAME: a number, one per axis, [front, back] per axis, at least 0. */
bool argument_sides(const Call *call, const char *name, Shape shape, int64_t before[AXES],
                    int64_t after[AXES]);
/* Reads `padding` in any of its forms: a text, a number, one per axis, [front, back] per axis. */
bool argument_padding(const Call *call, Shape shape, Window *w);

/* The shape after a window slides over X; CHANNELS replace its own. */
bool slide(const Call *call, ValueId x, int64_t channels, const Window *w, Shape *out);
/* The shape after a transposed convolution, whose padding shrinks the output. */
bool grow(const Call *call, Shape in, const Window *w, int64_t channels, Shape *out);

typedef struct {
    Lower *l;
    const char *name; /* of the operator */
    Span span;
    ValueId a, b;
    const Expr *text_a, *text_b;
} Pair;

/* True if all extents but the channels are equal. */
bool equal_sizes(const Pair *p);

#endif
