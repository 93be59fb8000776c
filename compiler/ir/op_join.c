/* op_join.c - data that only moves: concat for readers that cannot read segments, and slice, its gradient;
 * channels that become points, and points that become channels, which are each other's gradient; and
 * parts of axes that become parts of others. */
#include "ir/rule_gradient.h"
#include "ir/rule_constants.h"

#include <string.h>

void gradient_concat(Autodiff *ad, const Node *node, const ValueId *dout, ValueId *din) {
    Graph *g = gradient_graph(ad);
    const ValueId *segment;
    int n = value_segments(g, &node->in[0], &segment);
    ValueId *part = NEW_ARRAY(g->pool, ValueId, n);
    int64_t first = 0;
    for (int p = 0; p < n; p++) {
        part[p] = -1;
        if (gradient_wanted(ad, segment[p])) {
            const Attributes a = {.kind = ATTRIBUTES_SLICE, .slice.channel_begin = first};
            part[p] = gradient_value(ad, segment[p]);
            gradient_node(ad, node, OP_SLICE, a, dout, 1, &part[p], 1);
        }
        first += shape_channels(g->value[segment[p]].shape);
    }
    din[0] = value_concat_like(g, part, n, g->value[node->in[0]]);
}

void constants_concat(Constants *c, const Node *node) {
    constant_channels(c, "C", node->out[0]);
    constant_extents(c, "", node->out[0]);
    constant_layout(c, "Y", node->out[0]);
    constant_segments(c, "X", node->in[0]);
    call_rows(c, node->out[0]);
}

void constants_slice(Constants *c, const Node *node) {
    constant(c, "C0", node->a.slice.channel_begin);
    constant_channels(c, "C", node->out[0]);
    constant_extents(c, "", node->out[0]);
    constant_layout(c, "Y", node->out[0]);
    constant_layout(c, "X", node->in[0]);
    call_rows(c, node->out[0]);
}

/* ---- pixel_shuffle, pixel_unshuffle ---- */

static void gradient_moved(Autodiff *ad, const Node *node, Op op, const ValueId *dout, ValueId *din) {
    din[0] = gradient_value(ad, node->in[0]);
    gradient_node(ad, node, op, node->a, dout, 1, &din[0], 1);
}

void gradient_pixel_shuffle(Autodiff *ad, const Node *node, const ValueId *dout, ValueId *din) {
    gradient_moved(ad, node, OP_PIXEL_UNSHUFFLE, dout, din);
}

void gradient_pixel_unshuffle(Autodiff *ad, const Node *node, const ValueId *dout, ValueId *din) {
    gradient_moved(ad, node, OP_PIXEL_SHUFFLE, dout, din);
}

/* A row of x makes so many of y; */
RowRange rows_shuffled(const Graph *g, const Node *node, int input, int axis, RowRange out) {
    const int64_t fold = (int64_t)node->a.map.parameter;
    (void)g, (void)input, (void)axis;
    return (RowRange){out.begin / fold, (out.end - 1) / fold + 1};
}

/* so many rows of x make one of y. */
RowRange rows_unshuffled(const Graph *g, const Node *node, int input, int axis, RowRange out) {
    const int64_t fold = (int64_t)node->a.map.parameter;
    (void)g, (void)input, (void)axis;
    return (RowRange){out.begin * fold, out.end * fold};
}

void constants_shuffle(Constants *c, const Node *node) {
    constant(c, "FOLD", (int64_t)node->a.map.parameter);
    constant_channels(c, "C", node->out[0]);
    constant_extents(c, "", node->out[0]);
    constant_layout(c, "Y", node->out[0]);
    constant_layout(c, "X", node->in[0]);
    call_rows(c, node->out[0]);
}

/* ---- rearrange ---- */

/* The gradient by x is the gradient by y, rearranged the other way round. */
void gradient_rearrange(Autodiff *ad, const Node *node, const ValueId *dout, ValueId *din) {
    const Rearrangement *r = node->a.rearrange;
    Rearrangement *back = NEW(gradient_graph(ad)->pool, Rearrangement);
    back->count = r->count;
    for (int i = 0; i < r->count; i++) {
        const AxisPart *s = &r->part[i];
        back->part[i] = (AxisPart){s->extent, s->y_step, s->x_step, s->y_axis, s->x_axis};
    }
    const Attributes a = {.kind = ATTRIBUTES_REARRANGE, .rearrange = back};
    din[0] = gradient_value(ad, node->in[0]);
    gradient_node(ad, node, OP_REARRANGE, a, dout, 1, &din[0], 1);
}

void constants_rearrange(Constants *c, const Node *node) {
    enum { NUMBERS = 5 };
    int64_t number[NUMBERS * MAX_PARTS_OF_AXES];
    const Rearrangement *r = node->a.rearrange;
    for (int i = 0; i < r->count; i++) {
        const AxisPart *s = &r->part[i];
        const int64_t of_part[NUMBERS] = {s->y_axis, s->y_step, s->extent, s->x_axis, s->x_step};
        memcpy(number + NUMBERS * i, of_part, sizeof of_part);
    }
    constant(c, "SPLITS", r->count);
    constant_integers(c, "SPLIT", number, NUMBERS * r->count);
    constant_channels(c, "C", node->out[0]);
    constant_extents(c, "", node->out[0]);
    constant_extents(c, "I", node->in[0]);
    constant_layout(c, "Y", node->out[0]);
    constant_layout(c, "X", node->in[0]);
    call_rows(c, node->out[0]);
}
