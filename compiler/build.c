/* build.c - from the call of an operator to nodes of the graph: reads its arguments, makes its weights,
 * checks shapes.
 *
 * requires   a call whose arguments are bound to the names of the operator's signature (ops.def)
 * provides   nodes with normalised windows (three axes; an image has depth 1) and typed, shaped values
 */
#include "lower_state.h"
#include "ops.h"

#include <math.h>
#include <string.h>

static const int64_t MOST_NUMBERS = INT64_C(1) << 40;
static const int64_t MOST_CHANNELS = INT64_C(1) << 20;

/* ---- values and nodes ---- */

static Shape shape_of(const Call *call, ValueId v) {
    return call->l->graph->value[v].shape;
}

/* Sizes that would not even be counted right are refused before anything is computed from them. */
static bool small_enough(const Call *call, Shape shape) {
    Lower *l = call->l;
    if (shape_elements(shape) <= MOST_NUMBERS)
        return true;
    diag_begin(l->diag, ERROR, "U0413", call->place, "`%s` would make a tensor of more than 2^40 numbers",
               call->signature->name);
    diag_note(l->diag, "its shape is %s", shape_text(l->pool, shape));
    note_via(l);
    diag_end(l->diag);
    return false;
}

/* The final name of V follows from the path of the call, which is known when the whole file has run. */
static ValueId named(const Call *call, ValueId v) {
    Lower *l = call->l;
    PlanName plan_name = call->plan_name;
    plan_name.value = v;
    PUSH(l->pool, l->plan_name, l->nplan_name, plan_name);
    return v;
}

static ValueId output_new(const Call *call, Shape shape) {
    Value value = {.name = call->name,
                   .class = CLASS_ACTIVATION,
                   .type = TYPE_F32,
                   .shape = shape,
                   .per_sample = true};
    value.place = call->place;
    return named(call, value_new(call->l->graph, value));
}

static ValueId node_append(const Call *call, const ValueId *in, int nin, Attributes a, ValueId out) {
    Node node = {.op = call->op, .nin = nin, .nout = 1, .a = a, .name = call->name, .place = call->place};
    node.via = call->l->via;
    node_new(call->l->graph, node, in, &out);
    return out;
}

/* ---- arguments ---- */

static const char *axes_text(Shape shape) {
    return shape.rank == 4 ? "depth, height and width" : "height and width";
}

static const char *input_text(const Call *call) {
    const Expr *expr = call->argument[0].expr;
    return expr == NULL ? "the input" : pool_text(call->l->pool, "`%s`", expr_text(call->l->pool, expr));
}

static bool report_axis_count(const Call *call, const Argument *a, Shape shape) {
    Lower *l = call->l;
    int axes = shape.rank - 1;
    diag_begin(l->diag, ERROR, "U0315", a->place, "%d size%s for %d axes", a->value.count,
               a->value.count == 1 ? "" : "s", axes);
    diag_note(l->diag, "%s is %s: its axes are %s", input_text(call),
              shape.rank == 4 ? "a volume" : "an image", axes_text(shape));
    note_via(l);
    diag_end(l->diag);
    return false;
}

static bool report_whole_number(const Call *call, const char *name, const Argument *a, int64_t minimum) {
    Lower *l = call->l;
    diag_begin(l->diag, ERROR, "U0316", a->place, "`%s` must be whole numbers of at least %lld", name,
               (long long)minimum);
    note_via(l);
    diag_end(l->diag);
    return false;
}

/* A number, or one per axis of SHAPE; an image has ABSENT along its depth. */
static bool argument_axes(const Call *call, const char *name, Shape shape, int64_t minimum, int64_t absent,
                          int64_t *value) {
    const Argument *a = argument(call, name);
    int first = AXES - (shape.rank - 1);
    value[0] = absent;
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
        if (value[axis] > MOST_CHANNELS)
            return report_whole_number(call, name, a, minimum);
    return true;
}

static bool argument_feature_map(const Call *call, const char *name, ValueId *value) {
    Lower *l = call->l;
    if (!argument_tensor(call, name, value))
        return false;
    const Input *input = l->graph->value[*value].class == CLASS_STAGING
                             ? &l->model->input[l->graph->value[*value].input]
                             : NULL;
    if (input == NULL || !input->is_target)
        return true;
    diag_begin(l->diag, ERROR, "U0414", argument(call, name)->place, "the network cannot read its target");
    diag_also(l->diag, input->place, "`%s` is what it learns", input->name);
    diag_end(l->diag);
    return false;
}

/* [front, back] per axis. */
static bool padding_pairs(const Call *call, const Argument *a, Shape shape, Window *w) {
    int first = AXES - (shape.rank - 1);
    if (a->value.count != AXES - first)
        return report_axis_count(call, a, shape);
    for (int i = 0; i < a->value.count; i++) {
        Datum pair = a->value.items->item[i];
        for (int side = 0; side < 2; side++) {
            bool good = pair.kind == DATUM_LIST && pair.count == 2;
            Datum d = good ? pair.items->item[side] : pair;
            if (!good || d.kind != DATUM_INTEGER || d.integer < 0 || d.integer > MOST_CHANNELS)
                return report_whole_number(call, "padding", a, 0);
            (side == 0 ? w->before : w->after)[first + i] = d.integer;
        }
    }
    return true;
}

static bool padding_named(const Call *call, const Argument *a, Window *w) {
    Lower *l = call->l;
    bool same = strcmp(a->value.text, "same") == 0;
    if (!same && strcmp(a->value.text, "valid") != 0) {
        diag_begin(l->diag, ERROR, "U0307", a->place, "`padding` cannot be \"%s\"", a->value.text);
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

static bool argument_padding(const Call *call, Shape shape, Window *w) {
    const Argument *a = argument(call, "padding");
    if (a->value.kind == DATUM_TEXT)
        return padding_named(call, a, w);
    if (a->value.kind == DATUM_LIST && a->value.count > 0 && a->value.items->item[0].kind == DATUM_LIST)
        return padding_pairs(call, a, shape, w);
    if (!argument_axes(call, "padding", shape, 0, 0, w->before))
        return false;
    memcpy(w->after, w->before, sizeof w->after);
    return true;
}

static bool argument_window(const Call *call, Shape shape, Window *w) {
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
    if (call->op == OP_MAX_POOL && plain)
        diag_begin(l->diag, ERROR, "U0412", call->place, "the spatial size is used up: %s cannot be %s",
                   sizes_text(l, x), w->stride[axis] == 2 ? "halved" : "pooled");
    else
        diag_begin(l->diag, ERROR, "U0404", call->place, "the kernel (%s) is larger than its input (%s%s)",
                   spans_text(l, shape, w), sizes_text(l, x), plain ? "" : " and its padding");
    note_via(l);
    for (int k = 0; k < AXES; k++)
        wrong[k] = room_for(shape, w, k) < 0;
    explain_sizes(l, x, x, wrong);
    diag_end(l->diag);
    return false;
}

/* The extents after a window slides over X; CHANNELS replace its own. */
static bool slide(const Call *call, ValueId x, int64_t channels, const Window *w, Shape *out) {
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

/* "`up3` is 256 x 746 x 1328", or the shape alone where the operand is a long expression. */
static const char *operand_text(Lower *l, const Expr *expr, ValueId v) {
    const char *shape = shape_text(l->pool, l->graph->value[v].shape);
    const char *text = expr == NULL ? "" : expr_text(l->pool, expr);
    bool brief = *text != '\0' && strlen(text) <= 24;
    return brief ? pool_text(l->pool, "`%s` is %s", text, shape) : shape;
}

typedef struct {
    Lower *l;
    const char *name; /* of the operator */
    Place place;
    ValueId a, b;
    const Expr *text_a, *text_b;
} Pair;

static bool report_axis(const Pair *p, int axis, int64_t first, int64_t second) {
    Lower *l = p->l;
    diag_begin(l->diag, ERROR, "U0401", p->place, "`%s` needs equal %ss: %lld and %lld", p->name,
               axis_text(axis), (long long)first, (long long)second);
    diag_label(l->diag, "%s, %s", operand_text(l, p->text_a, p->a), operand_text(l, p->text_b, p->b));
    note_via(l);
    Shape a = l->graph->value[p->a].shape, b = l->graph->value[p->b].shape;
    bool wrong[AXES];
    for (int k = 0; k < AXES; k++)
        wrong[k] = shape_extent(a, k) != shape_extent(b, k);
    explain_sizes(l, p->a, p->b, wrong);
    diag_end(l->diag);
    return false;
}

/* Equal but for the channels? */
static bool equal_sizes(const Pair *p) {
    Shape a = p->l->graph->value[p->a].shape, b = p->l->graph->value[p->b].shape;
    if (a.rank != b.rank) {
        diag_begin(p->l->diag, ERROR, "U0401", p->place, "`%s` between an image and a volume", p->name);
        diag_end(p->l->diag);
        return false;
    }
    for (int axis = 0; axis < AXES; axis++) {
        int64_t x = shape_extent(a, axis), y = shape_extent(b, axis);
        bool checked = p->l->only_axis < 0 || p->l->only_axis == axis;
        if (x != y && checked)
            return report_axis(p, axis, x, y);
    }
    return true;
}

/* ---- weights ---- */

typedef struct {
    int64_t fan_in;
    Init init;
    double bound;
} Start;

static bool argument_init(const Call *call, int64_t fan_in, Start *start) {
    static const char *const choices[] = {"default", "zeros", "ones", "he_normal", NULL};
    static const Init kind[] = {INIT_UNIFORM, INIT_ZEROS, INIT_ONES, INIT_HE_NORMAL};
    int choice;
    if (!argument_choice(call, "init", choices, &choice))
        return false;
    double bound = choice == 3 ? sqrt(2.0 / (double)fan_in) : choice == 0 ? 1.0 / sqrt((double)fan_in) : 0;
    *start = (Start){fan_in, kind[choice], bound};
    return true;
}

static bool report_shared(const Call *call) {
    Lower *l = call->l;
    diag_begin(l->diag, ERROR, "U0502", call->place,
               "the weights of this layer were made for another shape");
    diag_note(l->diag, "a `layer` has one set of weights; its first use fixes their shape");
    note_via(l);
    diag_end(l->diag);
    return false;
}

/* Weight and bias, in the order in which PyTorch draws them.  A bias starts as PyTorch has it, whatever
 * `init` is. */
static bool make_weights(const Call *call, Shape shape, int64_t channels, const Start *start,
                         ValueId *weight, ValueId *bias) {
    bool biased;
    if (!argument_truth(call, "bias", &biased) || !small_enough(call, shape))
        return false;
    *bias = -1;
    *weight = weight_new(call, "weight", shape, start->init, start->bound);
    if (biased && *weight >= 0) {
        Shape vector = {.rank = 1, .dim = {channels}};
        *bias = weight_new(call, "bias", vector, INIT_UNIFORM, 1.0 / sqrt((double)start->fan_in));
    }
    return *weight >= 0 && (*bias >= 0 || !biased) ? true : report_shared(call);
}

/* (first, second, kernel per axis of the map) */
static Shape weight_shape(int64_t first, int64_t second, const Window *w, Shape map) {
    Shape shape = {.rank = map.rank + 1, .dim = {first, second}};
    for (int i = 0; i < map.rank - 1; i++)
        shape.dim[2 + i] = w->kernel[AXES - (map.rank - 1) + i];
    return shape;
}

static int64_t taps(const Window *w) {
    Shape kernel = {.rank = AXES, .dim = {w->kernel[0], w->kernel[1], w->kernel[2]}};
    return shape_elements(kernel);
}

static bool fan_in(const Call *call, int64_t channels, const Window *w, int64_t *fan) {
    if (!__builtin_mul_overflow(channels, taps(w), fan))
        return true;
    return small_enough(call, (Shape){.rank = 2, .dim = {channels, taps(w)}});
}

static bool argument_channels(const Call *call, int64_t *channels) {
    Lower *l = call->l;
    if (!argument_integer(call, "channels", 1, channels))
        return false;
    if (*channels <= MOST_CHANNELS)
        return true;
    diag_begin(l->diag, ERROR, "U0413", argument(call, "channels")->place, "%lld channels are too many",
               (long long)*channels);
    note_via(l);
    diag_end(l->diag);
    return false;
}

/* ---- convolutions ---- */

static bool argument_groups(const Call *call) {
    Lower *l = call->l;
    int64_t groups;
    if (!argument_integer(call, "groups", 1, &groups))
        return false;
    if (groups == 1)
        return true;
    diag_begin(l->diag, ERROR, "U0202", argument(call, "groups")->place,
               "`groups = %lld` is not in this version of unetc", (long long)groups);
    diag_note(l->diag, "this version has `groups = 1` only");
    diag_end(l->diag);
    return false;
}

ValueId build_conv(Call *call) {
    ValueId x, weight, bias;
    Window w = {0};
    Start start;
    Shape out;
    int64_t channels, fan;
    if (!argument_feature_map(call, "x", &x))
        return -1;
    Shape in = shape_of(call, x);
    if (!argument_channels(call, &channels) || !argument_window(call, in, &w) ||
        !argument_axes(call, "dilation", in, 1, 1, w.dilation) || !argument_padding(call, in, &w) ||
        !argument_groups(call) || !fan_in(call, in.dim[0], &w, &fan) || !argument_init(call, fan, &start) ||
        !slide(call, x, channels, &w, &out) ||
        !make_weights(call, weight_shape(channels, in.dim[0], &w, in), channels, &start, &weight, &bias))
        return -1;
    const ValueId operands[] = {x, weight, bias};
    return node_append(call, operands, 3, (Attributes){.window = w}, output_new(call, out));
}

/* A transposed convolution turns around what a convolution does, so its padding takes away. */
static bool grow(const Call *call, Shape in, const Window *w, int64_t channels, Shape *out) {
    Lower *l = call->l;
    *out = in;
    out->dim[0] = channels;
    for (int axis = AXES - (in.rank - 1); axis < AXES; axis++) {
        int64_t extent;
        bool wrong = __builtin_mul_overflow(shape_extent(in, axis) - 1, w->stride[axis], &extent);
        extent = wrong ? INT64_MAX / 2 : extent + w->kernel[axis] - w->before[axis] - w->after[axis];
        if (extent < 1 && (l->only_axis < 0 || l->only_axis == axis)) {
            diag_begin(l->diag, ERROR, "U0404", argument(call, "padding")->place,
                       "nothing is left of the %s after the padding is taken away", axis_text(axis));
            note_via(l);
            diag_end(l->diag);
            return false;
        }
        out->dim[out->rank - AXES + axis] = extent < 1 ? 1 : extent;
    }
    return small_enough(call, *out);
}

static bool upconv_padding(const Call *call, Shape in, Window *w) {
    Lower *l = call->l;
    int64_t extra[AXES];
    if (!argument_axes(call, "padding", in, 0, 0, w->before) ||
        !argument_axes(call, "output_padding", in, 0, 0, extra))
        return false;
    for (int axis = 0; axis < AXES; axis++) {
        w->after[axis] = w->before[axis] - extra[axis]; /* below zero: rows that no tap reaches */
        if (extra[axis] < w->stride[axis])
            continue;
        diag_begin(l->diag, ERROR, "U0316", argument(call, "output_padding")->place,
                   "`output_padding` must be less than the stride %lld", (long long)w->stride[axis]);
        note_via(l);
        diag_end(l->diag);
        return false;
    }
    return true;
}

ValueId build_upconv(Call *call) {
    ValueId x, weight, bias;
    Window w = {0};
    Start start;
    Shape out;
    int64_t channels, fan;
    if (!argument_feature_map(call, "x", &x))
        return -1;
    Shape in = shape_of(call, x);
    if (!argument_channels(call, &channels) || !argument_window(call, in, &w) ||
        !upconv_padding(call, in, &w) || !fan_in(call, channels, &w, &fan) ||
        !argument_init(call, fan, &start) || !grow(call, in, &w, channels, &out) ||
        !make_weights(call, weight_shape(in.dim[0], channels, &w, in), channels, &start, &weight, &bias))
        return -1;
    const ValueId operands[] = {x, weight, bias};
    return node_append(call, operands, 3, (Attributes){.window = w}, output_new(call, out));
}

/* ---- maps and pools, part by part ---- */

/* Applies the operator to every leaf of X, so that a whole stays a whole. */
static ValueId each_part(const Call *call, ValueId x, const Window *w) {
    Graph *g = call->l->graph;
    const ValueId *leaf;
    ValueId *part = NULL;
    int nleaf = value_leaves(g, &x, &leaf), npart = 0;
    for (int i = 0; i < nleaf; i++) {
        ValueId in = leaf[i];
        Shape out = shape_of(call, in);
        if (w != NULL && !slide(call, in, out.dim[0], w, &out))
            return -1;
        Attributes a = w == NULL ? (Attributes){0} : (Attributes){.window = *w};
        PUSH(g->pool, part, npart, node_append(call, &in, 1, a, output_new(call, out)));
    }
    return npart == 1 ? part[0] : named(call, value_whole(g, part, npart, call->name, call->place));
}

ValueId build_relu(Call *call) {
    ValueId x;
    return argument_feature_map(call, "x", &x) ? each_part(call, x, NULL) : -1;
}

ValueId build_max_pool(Call *call) {
    Lower *l = call->l;
    ValueId x;
    Window w = {0};
    if (!argument_feature_map(call, "x", &x))
        return -1;
    Shape in = shape_of(call, x);
    if (!argument_window(call, in, &w) || !argument_axes(call, "padding", in, 0, 0, w.before))
        return -1;
    memcpy(w.after, w.before, sizeof w.after);
    for (int axis = 0; axis < AXES; axis++)
        if (w.before[axis] > w.kernel[axis] / 2) {
            diag_begin(l->diag, ERROR, "U0307", argument(call, "padding")->place,
                       "`padding` cannot be more than half the kernel");
            note_via(l);
            diag_end(l->diag);
            return -1;
        }
    return each_part(call, x, &w);
}

/* ---- joining ---- */

typedef struct {
    ValueId *value;
    const Expr **expr;
    int count;
} Operands;

static bool add_operand(const Call *call, Datum d, const Argument *a, Operands *all) {
    Lower *l = call->l;
    if (d.kind == DATUM_LIST) {
        for (int i = 0; i < d.count; i++)
            if (!add_operand(call, d.items->item[i], a, all))
                return false;
        return true;
    }
    if (d.kind != DATUM_TENSOR) {
        diag_begin(l->diag, ERROR, "U0319", a->place,
                   "`%s` takes tensors and lists of tensors, and this is %s", call->signature->name,
                   datum_text(l, d));
        note_via(l);
        diag_end(l->diag);
        return false;
    }
    int count = all->count;
    PUSH(l->pool, all->expr, count, a->value.kind == DATUM_TENSOR ? a->expr : NULL);
    PUSH(l->pool, all->value, all->count, d.tensor);
    return true;
}

ValueId build_concat(Call *call) {
    Lower *l = call->l;
    Operands all = {NULL, NULL, 0};
    for (int i = 0; i < call->nargument; i++)
        if (!add_operand(call, call->argument[i].value, &call->argument[i], &all))
            return -1;
    if (all.count == 0) {
        diag_begin(l->diag, ERROR, "U0301", call->place, "`concat` needs at least one tensor");
        note_via(l);
        diag_end(l->diag);
        return -1;
    }
    for (int i = 1; i < all.count; i++) {
        Pair pair = {l, "concat", call->place, all.value[0], all.value[i], all.expr[0], all.expr[i]};
        if (!equal_sizes(&pair))
            return -1;
    }
    return all.count == 1
               ? all.value[0]
               : named(call, value_whole(l->graph, all.value, all.count, call->name, call->place));
}

Datum add_tensors(Lower *l, const Expr *expr, ValueId a, ValueId b) {
    Shape first = l->graph->value[a].shape, second = l->graph->value[b].shape;
    const Datum failed = {.kind = DATUM_ERROR};
    Pair pair = {l, "+", expr->place, a, b, expr->left, expr->right};
    if (!equal_sizes(&pair) || !charge(l, 1, expr->place))
        return failed;
    if (first.dim[0] != second.dim[0]) {
        diag_begin(l->diag, ERROR, "U0402", expr->place, "`+` needs equal channels: %lld and %lld",
                   (long long)first.dim[0], (long long)second.dim[0]);
        if (expr->left != NULL && expr->left->kind == EXPR_NAME)
            diag_help(l->diag, "make the channels equal with `conv(%s, %lld, 1)`", expr->left->text,
                      (long long)second.dim[0]);
        else if (expr->right != NULL && expr->right->kind == EXPR_NAME)
            diag_help(l->diag, "make the channels equal with `conv(%s, %lld, 1)`", expr->right->text,
                      (long long)first.dim[0]);
        note_via(l);
        diag_end(l->diag);
        return failed;
    }
    const char *statement = l->slot->name;
    const char *suffix = statement == NULL ? "add" : pool_text(l->pool, "%s.add", statement);
    const Signature signature = {.name = "+"};
    Call call = {.l = l, .signature = &signature, .op = OP_ADD, .place = expr->place, .name = suffix};
    call.plan_name = (PlanName){l->frame->module, suffix, -1};
    const ValueId operands[] = {value_joined(l->graph, a, expr->place),
                                value_joined(l->graph, b, expr->place)};
    return datum_tensor(node_append(&call, operands, 2, (Attributes){0}, output_new(&call, first)));
}

/* ---- losses and metrics ---- */

static bool report_measured(const Call *call, ValueId a, ValueId b) {
    Lower *l = call->l;
    Shape x = shape_of(call, a), y = shape_of(call, b);
    bool channels = shape_equal((Shape){.rank = x.rank - 1, .dim = {x.dim[1], x.dim[2], x.dim[3]}},
                                (Shape){.rank = y.rank - 1, .dim = {y.dim[1], y.dim[2], y.dim[3]}});
    diag_begin(l->diag, ERROR, "U0406", call->argument[1].place,
               "prediction and target have different %s: %s and %s", channels ? "channels" : "sizes",
               channels ? pool_text(l->pool, "%lld", (long long)x.dim[0]) : sizes_text(l, a),
               channels ? pool_text(l->pool, "%lld", (long long)y.dim[0]) : sizes_text(l, b));
    if (l->graph->value[b].class == CLASS_STAGING) {
        const Input *target = &l->model->input[l->graph->value[b].input];
        const char *dims = shape_text(l->pool, x), *list = "";
        for (const char *at = dims; *at != '\0'; at++)
            list = pool_text(l->pool,
                             *at == 'x'                   ? "%s,"
                             : *at == ' ' && at[1] == 'x' ? "%s"
                                                          : "%s%c",
                             list, *at);
        diag_help(l->diag, "declare `%s %s : %s(%s)`", target->is_target ? "target" : "input", target->name,
                  target->kind == KIND_VOLUME ? "volume" : "image", list);
    }
    note_via(l);
    diag_end(l->diag);
    return false;
}

static bool comparable(const Call *call, ValueId a, ValueId b) {
    Lower *l = call->l;
    Shape x = shape_of(call, a), y = shape_of(call, b);
    if (l->only_axis >= 0)
        return x.rank == y.rank && shape_extent(x, l->only_axis) == shape_extent(y, l->only_axis);
    return shape_equal(x, y) ? true : report_measured(call, a, b);
}

ValueId build_loss(Call *call) {
    Lower *l = call->l;
    ValueId prediction, target;
    if (!argument_tensor(call, "prediction", &prediction) || !argument_tensor(call, "truth", &target))
        return -1;
    if (!comparable(call, prediction, target)) {
        if (l->only_axis >= 0) { /* nobody reads it: only counted */
            diag_begin(l->diag, ERROR, "U0406", call->place, "sizes differ");
            diag_end(l->diag);
        }
        return -1;
    }
    Value value = {
        .name = call->signature->name, .class = CLASS_METRIC, .type = TYPE_F64, .place = call->place};
    value.shape = (Shape){.rank = 1, .dim = {1}};
    const ValueId operands[] = {value_joined(l->graph, prediction, call->place),
                                value_joined(l->graph, target, call->place)};
    call->name = call->signature->name;
    return node_append(call, operands, 2, (Attributes){.weight = 1}, value_new(l->graph, value));
}

ValueId build_none(Call *call) {
    BUG("`%s` is not called in files", call->signature->name);
}
