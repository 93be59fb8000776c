/* operators_parameter.c - build rules of tensors that no other tensor makes: learnt ones, and constants.
 *
 * requires   the inputs of the file: a tensor has as many axes as the first of them
 * provides   as operators.c
 */
#include "base/size_math.h"
#include "front/operator_build.h"
#include "front/operator_size.h"

/* Rows of a table: a float holds the number of each. */
static const int64_t MAX_ROWS = INT64_C(1) << 24;

/* The shape of one point, with the axes of the first input. */
static bool point_shape(const Call *call, Shape *shape) {
    Lower *l = call->l;
    if (l->model->ninput == 0) {
        diag_begin(l->diag, ERROR, "U0315", call->span, "`%s` comes behind the inputs of the file",
                   call->signature->name);
        diag_note(l->diag, "the first input says how many axes it has");
        note_via(l);
        diag_end(l->diag);
        return false;
    }
    *shape = (Shape){.rank = l->graph->value[l->model->input[0].value].shape.rank, .dim = {1, 1, 1, 1}};
    return true;
}

/* In the checkpoint a weight of one point has the axis of channels alone. */
static Shape weight_shape(Shape y) {
    bool point = true;
    for (int k = 1; k < y.rank; k++)
        point &= y.dim[k] == 1;
    return point ? (Shape){.rank = 1, .dim = {y.dim[0]}} : y;
}

/* Reads `channels`: their number, or a list of axes that the checkpoint has in place of one; AXES has rank
 * 0 then, or holds these. */
static bool argument_channels(const Call *call, int64_t *channels, Shape *axes) {
    const Datum given = argument(call, "channels")->value;
    *axes = (Shape){0};
    if (given.kind != DATUM_LIST)
        return argument_integer(call, "channels", 1, channels);
    bool right = given.count >= 2 && given.count <= MAX_RANK;
    *channels = 1;
    for (int i = 0; i < given.count && right; i++) {
        const Datum d = given.items->item[i];
        right = d.kind == DATUM_INTEGER && d.integer >= 1 && d.integer <= MAX_CHANNELS;
        axes->dim[axes->rank++] = d.integer;
        *channels = size_product(*channels, d.integer);
    }
    return right ? true : report_range(call, "channels", "a number, or a list of 2 to 5 of them");
}

/* Appends the axes of the points of Y to the axes of the channels.  A weight of two axes would be a table
 * of points, so there is a third axis. */
static bool listed_shape(const Call *call, Shape y, Shape *axes) {
    for (int k = 1; k < y.rank; k++) {
        if (y.dim[k] == 1)
            continue;
        if (axes->rank == MAX_RANK)
            return report_range(call, "channels",
                                "shorter: with the points, the checkpoint has five axes at most");
        axes->dim[axes->rank++] = y.dim[k];
    }
    if (axes->rank == 2)
        axes->dim[axes->rank++] = 1;
    return true;
}

/* Like the path of a scale, the path of a parameter is its name alone.  So it differs from the path of the
 * tensor. */
ValueId build_parameter(Call *call) {
    Shape shape, axes;
    int64_t channels, size[AXES];
    double init;
    bool fixed;
    if (!point_shape(call, &shape) || !argument_channels(call, &channels, &axes) ||
        !argument_number(call, "init", &init) || !argument_axes(call, "size", shape, 1, 1, size) ||
        !argument_fixed(call, &fixed))
        return -1;
    shape.dim[0] = channels;
    for (int k = 1; k < shape.rank; k++)
        shape.dim[k] = size[AXES - shape.rank + k];
    if (!small_enough(call, shape))
        return -1;
    if (axes.rank == 0)
        axes = weight_shape(shape);
    else if (!listed_shape(call, shape, &axes))
        return -1;
    call->plan_name.suffix = "values";
    const ValueId weight = weight_of(call, "", axes, INIT_CONSTANT, init, fixed);
    if (weight >= 0)
        return node_append(call, &weight, 1, (Attributes){0}, output_new(call, shape));
    report_shared(call);
    return -1;
}

/* A parameter of SHAPE whose weight is a table with a row for each point, as PyTorch has the weights that
 * belong to points of a sequence.  It starts as normal numbers of the deviation that Swin and ViT have. */
static ValueId table_new(Call *call, Shape shape) {
    static const double deviation = 0.02;
    Shape table = {.rank = 2, .dim = {1, shape.dim[0]}};
    for (int k = 1; k < shape.rank; k++)
        table.dim[0] = size_product(table.dim[0], shape.dim[k]);
    if (!small_enough(call, shape))
        return -1;
    call->op = OP_PARAMETER;
    call->plan_name.suffix = "values";
    const ValueId weight = weight_new(call, "", table, INIT_HE_NORMAL, deviation);
    if (weight >= 0)
        return node_append(call, &weight, 1, (Attributes){0}, output_new(call, shape));
    report_shared(call);
    return -1;
}

/* The points are the differences of two points of a window along each axis. */
ValueId build_relative_bias(Call *call) {
    Shape shape;
    int64_t heads, window[AXES];
    if (!point_shape(call, &shape) || !argument_integer(call, "heads", 1, &heads) ||
        !argument_axes(call, "window", shape, 1, 1, window))
        return -1;
    shape.dim[0] = heads;
    for (int k = 1; k < shape.rank; k++)
        shape.dim[k] = 2 * window[AXES - shape.rank + k] - 1;
    return table_new(call, shape);
}

/* The node reads the shape of X alone, so X is no operand. */
ValueId build_positions(Call *call) {
    ValueId x;
    if (!argument_tensor(call, "x", &x))
        return -1;
    return table_new(call, call->l->graph->value[x].shape);
}

/* X has one channel: the number of a row. */
static bool argument_rows(Call *call, ValueId *x, int64_t *count, int64_t *channels) {
    Lower *l = call->l;
    if (!argument_feature_map(call, "x", x) || !argument_integer(call, "count", 1, count) ||
        !argument_integer(call, "channels", 1, channels))
        return false;
    const int64_t found = shape_channels(shape_of(call, *x));
    if (found == 1 && *count <= MAX_ROWS && *channels <= MAX_CHANNELS)
        return true;
    if (found != 1) {
        diag_begin(l->diag, ERROR, "U0316", argument(call, "x")->span,
                   "`embedding` takes a map of one channel, and this has %lld", (long long)found);
        diag_help(l->diag, "make a call for each channel: `a, b = chunk(x, 2)`");
    } else {
        diag_begin(l->diag, ERROR, "U0316", call->span, "a table has at most %lld rows and %lld channels",
                   (long long)MAX_ROWS, (long long)MAX_CHANNELS);
    }
    note_via(l);
    diag_end(l->diag);
    return false;
}

/* The table starts as normal numbers; PyTorch's have a deviation of 1. */
ValueId build_embedding(Call *call) {
    int64_t count, channels;
    double deviation;
    ValueId x;
    if (!argument_rows(call, &x, &count, &channels) || !argument_number(call, "std", &deviation))
        return -1;
    if (!(deviation >= 0 && deviation <= 1e6)) {
        report_range(call, "std", "at least 0");
        return -1;
    }
    Shape out = shape_of(call, x);
    out.dim[0] = channels;
    if (!small_enough(call, out))
        return -1;
    const Shape table = {.rank = 2, .dim = {count, channels}};
    const ValueId in[] = {value_joined(call->l->graph, x, call->span),
                          weight_new(call, "weight", table, INIT_HE_NORMAL, deviation)};
    if (in[1] >= 0)
        return node_append(call, in, 2, (Attributes){0}, output_new(call, out));
    report_shared(call);
    return -1;
}

ValueId build_constant(Call *call) {
    Lower *l = call->l;
    const Argument *values = argument(call, "values");
    const Datum list = values->value;
    Shape shape;
    bool numbers = list.kind == DATUM_LIST && list.count > 0 && list.count <= MAX_CHANNELS;
    if (!point_shape(call, &shape))
        return -1;
    double *value = NEW_ARRAY(l->graph->pool, double, numbers ? list.count : 1);
    for (int i = 0; numbers && i < list.count; i++)
        numbers = datum_number(list.items->item[i], &value[i]);
    if (!numbers) {
        diag_begin(l->diag, ERROR, "U0319", values->span,
                   "`values` must be a list of numbers, and this is %s", datum_text(l, list));
        diag_help(l->diag, "a number for each channel: `constant([0.5, 0.25])`");
        note_via(l);
        diag_end(l->diag);
        return -1;
    }
    shape.dim[0] = list.count;
    const Attributes a = {.kind = ATTRIBUTES_VALUES, .values = {.value = value, .count = list.count}};
    return node_append(call, NULL, 0, a, output_new(call, shape));
}
