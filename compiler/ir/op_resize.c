/* op_resize.c - maps of another size: resize and match, which differ in where the points of y lie in x, and
 * border, which has points of x beyond its ends, too; and their gradients.
 *
 * The gradient of a point is collected from the points of y that read it, in their order: nothing is
 * scattered, so no plan and no number of threads changes a sum.
 */
#include "base/size_math.h"
#include "ir/rule_constants.h"
#include "ir/rule_gradient.h"

void gradient_resize(Autodiff *ad, const Node *node, const ValueId *dout, ValueId *din) {
    din[0] = gradient_value(ad, node->in[0]);
    gradient_node(ad, node, OP_RESIZE_GRAD, node->a, dout, 1, &din[0], 1);
}

void gradient_border(Autodiff *ad, const Node *node, const ValueId *dout, ValueId *din) {
    din[0] = gradient_value(ad, node->in[0]);
    gradient_node(ad, node, OP_BORDER_GRAD, node->a, dout, 1, &din[0], 1);
}

/* A multiplication and an addition for each point that is read. */
static int64_t flops(const Graph *g, const Node *node, ValueId y) {
    const int64_t corners = node->a.resize.linear ? INT64_C(1) << (g->value[y].shape.rank - 1) : 1;
    return size_product(2 * corners, shape_elements(g->value[y].shape));
}

int64_t flops_resize(const Graph *g, const Node *node) {
    return flops(g, node, node->out[0]);
}

int64_t flops_resize_grad(const Graph *g, const Node *node) {
    return flops(g, node, node->in[0]);
}

/* ---- rows ---- */

/* How many rows of Y, the larger one, lie beyond the ends of X and repeat these. */
static int64_t repeated(const Graph *g, const Node *node, int axis, ValueId x, ValueId y) {
    const ResizeAttributes *a = &node->a.resize;
    const int64_t more = points_along(g->value[y].shape, axis) - points_along(g->value[x].shape, axis);
    return a->step[axis] == a->unit[axis] && !a->zero && more > 0 ? more : 0;
}

/* Rows behind the last repeat that, so it is read late. */
RowRange rows_resized(const Graph *g, const Node *node, int input, int axis, RowRange out) {
    const ResizeAttributes *a = &node->a.resize;
    const int64_t step = a->step[axis], offset = a->offset[axis], unit = a->unit[axis];
    const int64_t more = repeated(g, node, axis, node->in[input], node->out[0]);
    return (RowRange){size_floor_quotient(out.begin * step + offset, unit) - (more > 0 ? more + offset : 0),
                      size_floor_quotient((out.end - 1) * step + offset, unit) + (a->linear ? 2 : 1) -
                          (more > 0 ? offset : 0)};
}

/* The first row of y that lies behind the position AT / unit of x. */
static int64_t first_behind(const ResizeAttributes *a, int axis, int64_t at) {
    return size_floor_quotient(at - a->offset[axis], a->step[axis]) + 1;
}

/* The rows of y that read one of the rows OUT of x. */
RowRange rows_resize_grad(const Graph *g, const Node *node, int input, int axis, RowRange out) {
    const ResizeAttributes *a = &node->a.resize;
    const int64_t unit = a->unit[axis], more = repeated(g, node, axis, node->out[0], node->in[input]);
    return (RowRange){first_behind(a, axis, a->linear ? (out.begin - 1) * unit : out.begin * unit - 1) +
                          (more > 0 ? a->offset[axis] : 0),
                      first_behind(a, axis, out.end * unit - 1) + (more > 0 ? more + a->offset[axis] : 0)};
}

/* ---- constants ---- */

static void resize_constants(Constants *c, const Node *node, ValueId x, ValueId y) {
    static const char *const name[3][AXES] = {{"STEP_D", "STEP_H", "STEP_W"},
                                              {"OFFSET_D", "OFFSET_H", "OFFSET_W"},
                                              {"UNIT_D", "UNIT_H", "UNIT_W"}};
    const ResizeAttributes *a = &node->a.resize;
    constant_channels(c, "C", x);
    constant_extents(c, "I", x);
    constant_extents(c, "", y);
    for (int k = 0; k < AXES; k++) {
        constant(c, name[0][k], a->step[k]);
        constant(c, name[1][k], a->offset[k]);
        constant(c, name[2][k], a->unit[k]);
    }
    constant(c, "LINEAR", a->linear);
    constant(c, "FLAT", !a->linear || shape_extent(constants_graph(c)->value[x].shape, 0) == 1);
    constant(c, "ZERO", a->zero);
    call_rows(c, node->out[0]);
}

void constants_resize(Constants *c, const Node *node) {
    resize_constants(c, node, node->in[0], node->out[0]);
    constant_layout(c, "Y", node->out[0]);
    constant_layout(c, "X", node->in[0]);
}

void constants_resize_grad(Constants *c, const Node *node) {
    resize_constants(c, node, node->out[0], node->in[0]);
    constant_layout(c, "DX", node->out[0]);
    constant_layout(c, "DY", node->in[0]);
}

/* BEFORE: how many points lie in front of x. */
static void border_constants(Constants *c, const Node *node, ValueId x, ValueId y) {
    static const char *const name[2][AXES] = {{"BEFORE_D", "BEFORE_H", "BEFORE_W"},
                                              {"BORDER_D", "BORDER_H", "BORDER_W"}};
    constant_channels(c, "C", x);
    constant_extents(c, "I", x);
    constant_extents(c, "", y);
    for (int k = 0; k < AXES; k++) {
        constant(c, name[0][k], -node->a.resize.offset[k]);
        constant(c, name[1][k], node->a.resize.border[k]);
    }
    call_rows(c, node->out[0]);
}

void constants_border(Constants *c, const Node *node) {
    border_constants(c, node, node->in[0], node->out[0]);
    constant_layout(c, "Y", node->out[0]);
    constant_layout(c, "X", node->in[0]);
    constant_real(c, "BEYOND", node->a.resize.number);
}

void constants_border_grad(Constants *c, const Node *node) {
    border_constants(c, node, node->out[0], node->in[0]);
    constant_layout(c, "DX", node->out[0]);
    constant_layout(c, "DY", node->in[0]);
}
