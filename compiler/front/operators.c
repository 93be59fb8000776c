/* operators.c - from the call of an operator to nodes of the graph: reads its arguments, makes its weights,
 * checks shapes.
 *
 * requires   a call whose arguments are bound to the names of the operator's signature (ops.def)
 * provides   nodes with normalised windows (three axes; an image has depth 1) and typed, shaped values
 */
#include "front/operator_build.h"
#include "front/operator_compare.h"
#include "front/operator_size.h"
#include "ir/ops.h"
#include "unet/words.h"

#include <math.h>
#include <string.h>

BuildRule *const build_rules[OPS] = {
#define OP(id, name, signature, build, ...) [OP_##id] = build_##build,
#include "ir/ops.def"
#undef OP
};

/* ---- values and nodes ---- */

ValueId named(const Call *call, ValueId v) {
    Lower *l = call->l;
    PlanName plan_name = call->plan_name;
    plan_name.value = v;
    PUSH(l->pool, l->plan_name, l->nplan_name, plan_name);
    return v;
}

ValueId output_new(const Call *call, Shape shape) {
    Value value = {.name = call->name,
                   .class = CLASS_ACTIVATION,
                   .type = TYPE_F32,
                   .shape = shape,
                   .per_sample = true};
    value.span = call->span;
    return named(call, value_new(call->l->graph, value));
}

ValueId node_append(const Call *call, const ValueId *in, int nin, Attributes a, ValueId out) {
    Node node = {.op = call->op, .nin = nin, .nout = 1, .a = a, .name = call->name, .span = call->span};
    node.via = call->l->via;
    node_new(call->l->graph, node, in, &out);
    return out;
}

/* ---- arguments ---- */

bool argument_feature_map(const Call *call, const char *name, ValueId *value) {
    Lower *l = call->l;
    if (!argument_tensor(call, name, value))
        return false;
    if (l->graph->value[*value].type == TYPE_U8 && l->graph->value[*value].class != CLASS_STAGING)
        return is_numbers(l, *value, argument(call, name)->span);
    const Input *input = l->graph->value[*value].class == CLASS_STAGING
                             ? &l->model->input[l->graph->value[*value].input]
                             : NULL;
    if (input == NULL || !input->is_target)
        return true;
    diag_begin(l->diag, ERROR, "U0414", argument(call, name)->span, "the network cannot read its target");
    diag_also(l->diag, input->span, "`%s` is a target: only losses and metrics read it", input->name);
    diag_end(l->diag);
    return false;
}

bool report_range(const Call *call, const char *name, const char *range) {
    Lower *l = call->l;
    diag_begin(l->diag, ERROR, "U0316", argument(call, name)->span, "`%s` must be %s", name, range);
    note_via(l);
    diag_end(l->diag);
    return false;
}

/* ---- weights ---- */

bool report_shared(const Call *call) {
    Lower *l = call->l;
    diag_begin(l->diag, ERROR, "U0502", call->span,
               "the weights of this layer were made for another shape");
    diag_note(l->diag, "a `layer` has one set of weights; its first use fixes their shape");
    note_via(l);
    diag_end(l->diag);
    return false;
}

typedef struct {
    int64_t fan_in;
    Init init;
    double bound;
    bool fixed;   /* nobody learns the weights */
    ValueId tied; /* the weight of another layer, which this one shares; -1: it has one of its own */
} Start;

ValueId weight_of(const Call *call, const char *suffix, Shape shape, Init init, double bound, bool fixed) {
    return fixed ? fixed_weight_new(call, suffix, shape, init, bound)
                 : weight_new(call, suffix, shape, init, bound);
}

static bool argument_init(const Call *call, int64_t fan_in, Start *start) {
    static const char *const choices[] = {"default", "zeros", "ones", "he_normal", NULL};
    static const Init kind[] = {INIT_UNIFORM, INIT_ZEROS, INIT_ONES, INIT_HE_NORMAL};
    int choice;
    if (!argument_choice(call, "init", choices, &choice))
        return false;
    double bound = choice == 3 ? sqrt(2.0 / (double)fan_in) : choice == 0 ? 1.0 / sqrt((double)fan_in) : 0;
    *start = (Start){fan_in, kind[choice], bound, false, -1};
    return true;
}

static bool report_tied(const Call *call, const char *what) {
    Lower *l = call->l;
    diag_begin(l->diag, ERROR, "U0502", argument(call, "tied")->span, "%s", what);
    diag_help(l->diag,
              "make a layer, use it, and name it here: `layer words = embedding(n, c)`, `h = words(x)`, "
              "`linear(h, n, tied = \"words\")`");
    note_via(l);
    diag_end(l->diag);
    return false;
}

/* Returns the weight of LAYER, or -1 if it has none yet. */
static ValueId weight_of_layer(const Layer *layer) {
    const Module *module = layer->module;
    for (int k = 0; module != NULL && k < module->nweight; k++)
        if (strcmp(module->weight[k].suffix, "weight") == 0)
            return module->weight[k].value;
    return -1;
}

/* Reads `tied`: the name of a layer whose weight has this SHAPE. */
static bool argument_tied(const Call *call, Shape shape, ValueId *tied) {
    Lower *l = call->l;
    const Datum name = argument(call, "tied")->value;
    *tied = -1;
    if (name.kind == DATUM_NONE)
        return true;
    const Layer *layer = NULL;
    if (name.kind == DATUM_TEXT) {
        layer = find_layer(l->frame, name.text);
        layer = layer != NULL ? layer : find_layer(l->file, name.text);
    }
    if (layer == NULL)
        return report_tied(call, "`tied` names a `layer`, and there is none of this name");
    *tied = weight_of_layer(layer);
    if (*tied < 0)
        return report_tied(call, pool_text(l->pool, "`%s` has no weight yet", name.text));
    const Shape found = l->graph->value[*tied].shape;
    return shape_equal(found, shape) ||
           report_tied(call, pool_text(l->pool, "the weight of `%s` is %s, and this layer needs %s",
                                       name.text, shape_text(l->pool, found), shape_text(l->pool, shape)));
}

/* Weight and bias, in the order in which PyTorch draws them.  A bias starts as PyTorch has it, whatever
 * `init` is. */
static bool make_weights(const Call *call, Shape shape, int64_t channels, const Start *start,
                         ValueId *weight, ValueId *bias) {
    bool biased;
    if (!argument_truth(call, "bias", &biased) || !small_enough(call, shape))
        return false;
    *bias = -1;
    *weight = start->tied >= 0 ? start->tied
                               : weight_of(call, "weight", shape, start->init, start->bound, start->fixed);
    if (biased && *weight >= 0) {
        Shape vector = {.rank = 1, .dim = {channels}};
        *bias =
            weight_of(call, "bias", vector, INIT_UNIFORM, 1.0 / sqrt((double)start->fan_in), start->fixed);
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

static bool fan_in(const Call *call, int64_t channels, const Window *w, int64_t *fan) {
    if (!__builtin_mul_overflow(channels, window_taps(w), fan))
        return true;
    return small_enough(call, (Shape){.rank = 2, .dim = {channels, window_taps(w)}});
}

static bool argument_channels(const Call *call, int64_t *channels) {
    Lower *l = call->l;
    if (!argument_integer(call, "channels", 1, channels))
        return false;
    if (*channels <= MAX_CHANNELS)
        return true;
    diag_begin(l->diag, ERROR, "U0413", argument(call, "channels")->span, "%lld channels are too many",
               (long long)*channels);
    note_via(l);
    diag_end(l->diag);
    return false;
}

/* ---- convolutions ---- */

static bool report_groups(const Call *call, int64_t groups, int64_t channels, const char *side) {
    Lower *l = call->l;
    diag_begin(l->diag, ERROR, "U0408", argument(call, "groups")->span,
               "%lld groups do not divide the %lld channel%s %s", (long long)groups, (long long)channels,
               unet_plural(channels), side);
    diag_help(l->diag, "all groups have the same number of channels; `groups = channels(x)` convolves each "
                       "channel by itself");
    note_via(l);
    diag_end(l->diag);
    return false;
}

static bool argument_groups(const Call *call, int64_t in, int64_t out, int64_t *groups) {
    if (!argument_integer(call, "groups", 1, groups))
        return false;
    if (in % *groups != 0)
        return report_groups(call, *groups, in, "that go in");
    return out % *groups == 0 ? true : report_groups(call, *groups, out, "that come out");
}

/* A convolution in groups is a node of another kind, IN_GROUPS, which reads no segments. */
static ValueId append_convolution(Call *call, Op in_groups, ValueId x, ValueId weight, ValueId bias,
                                  Attributes a, Shape out) {
    const bool grouped = a.conv.groups > 1;
    if (grouped)
        call->op = in_groups;
    const ValueId operands[] = {grouped ? value_joined(call->l->graph, x, call->span) : x, weight, bias};
    return node_append(call, operands, 3, a, output_new(call, out));
}

bool argument_fixed(const Call *call, bool *fixed) {
    static const char *const choices[] = {"learnt", "fixed", "computed", NULL};
    enum { LEARNT, FIXED, COMPUTED };
    int choice;
    if (!argument_choice(call, "weights", choices, &choice))
        return false;
    *fixed = choice != LEARNT;
    if (choice == COMPUTED && call->l->ncomputed++ == 0)
        call->l->computed = argument(call, "weights")->span;
    return true;
}

/* Puts points around X that are no zeros; the padding of the window is none then. */
static bool argument_border(const Call *call, ValueId *x, Window *w) {
    static const char *const choices[] = {"zero", "reflect", "replicate", "wrap", NULL};
    static const Around around[] = {AROUND_ZERO, AROUND_REFLECT, AROUND_REPLICATE, AROUND_WRAP};
    int choice;
    if (!argument_choice(call, "border", choices, &choice))
        return false;
    if (around[choice] == AROUND_ZERO)
        return true;
    Sides sides = {.around = around[choice]};
    memcpy(sides.before, w->before, sizeof sides.before);
    memcpy(sides.after, w->after, sizeof sides.after);
    Call pad = *call;
    pad.name = pool_text(call->l->pool, "%s.border", call->name);
    pad.plan_name = (PlanName){call->l->frame->module, pad.name, -1};
    *x = append_pad(&pad, *x, &sides);
    memset(w->before, 0, sizeof w->before);
    memset(w->after, 0, sizeof w->after);
    return *x >= 0;
}

ValueId build_conv(Call *call) {
    ValueId x, weight, bias;
    Window w = {0};
    Start start;
    Shape out;
    int64_t channels, fan, groups;
    if (!argument_feature_map(call, "x", &x))
        return -1;
    Shape in = shape_of(call, x);
    if (!argument_channels(call, &channels) || !argument_window(call, in, &w) ||
        !argument_axes(call, "dilation", in, 1, 1, w.dilation) || !argument_padding(call, in, &w) ||
        !argument_groups(call, in.dim[0], channels, &groups) ||
        !fan_in(call, in.dim[0] / groups, &w, &fan) || !argument_init(call, fan, &start) ||
        !argument_fixed(call, &start.fixed) || !argument_border(call, &x, &w) ||
        !slide(call, x, channels, &w, &out) ||
        !make_weights(call, weight_shape(channels, in.dim[0] / groups, &w, in), channels, &start, &weight,
                      &bias))
        return -1;
    const Attributes a = {.kind = ATTRIBUTES_CONV, .conv = {.window = w, .groups = groups}};
    return append_convolution(call, OP_CONV_GROUPS, x, weight, bias, a, out);
}

/* The weight has no axes for the window, which is one point. */
ValueId build_linear(Call *call) {
    ValueId x, weight, bias;
    Start start;
    int64_t channels;
    if (!argument_feature_map(call, "x", &x))
        return -1;
    Shape out = shape_of(call, x);
    const Window point = {.kernel = {1, 1, 1}, .stride = {1, 1, 1}, .dilation = {1, 1, 1}};
    if (!argument_channels(call, &channels) || !argument_init(call, out.dim[0], &start))
        return -1;
    const Shape matrix = {.rank = 2, .dim = {channels, out.dim[0]}};
    out.dim[0] = channels;
    if (!small_enough(call, out) || !argument_tied(call, matrix, &start.tied) ||
        !make_weights(call, matrix, channels, &start, &weight, &bias))
        return -1;
    call->op = OP_CONV;
    const Attributes a = {.kind = ATTRIBUTES_CONV, .conv = {.window = point, .groups = 1}};
    return append_convolution(call, OP_CONV_GROUPS, x, weight, bias, a, out);
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
        diag_begin(l->diag, ERROR, "U0316", argument(call, "output_padding")->span,
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
    int64_t channels, fan, groups;
    if (!argument_feature_map(call, "x", &x))
        return -1;
    Shape in = shape_of(call, x);
    if (!argument_channels(call, &channels) || !argument_window(call, in, &w) ||
        !upconv_padding(call, in, &w) || !argument_groups(call, in.dim[0], channels, &groups) ||
        !fan_in(call, channels / groups, &w, &fan) || !argument_init(call, fan, &start) ||
        !grow(call, in, &w, channels, &out) ||
        !make_weights(call, weight_shape(in.dim[0], channels / groups, &w, in), channels, &start, &weight,
                      &bias))
        return -1;
    const Attributes a = {.kind = ATTRIBUTES_CONV, .conv = {.window = w, .groups = groups}};
    return append_convolution(call, OP_UPCONV_GROUPS, x, weight, bias, a, out);
}

/* ---- maps, segment by segment ---- */

ValueId each_segment(const Call *call, ValueId x, Attributes a, Shape out) {
    Graph *g = call->l->graph;
    const ValueId *segment;
    ValueId *part = NULL;
    int nsegment = value_segments(g, &x, &segment), npart = 0;
    for (int i = 0; i < nsegment; i++) {
        const ValueId in = segment[i];
        out.dim[0] = shape_channels(shape_of(call, in));
        PUSH(g->pool, part, npart, node_append(call, &in, 1, a, output_new(call, out)));
    }
    return npart == 1 ? part[0] : named(call, value_concat(g, part, npart, call->name, call->span));
}

/* Any operator on points that takes nothing but a tensor. */
ValueId build_map(Call *call) {
    ValueId x;
    return argument_feature_map(call, "x", &x) ? each_segment(call, x, (Attributes){0}, shape_of(call, x))
                                               : -1;
}

ValueId build_leaky_relu(Call *call) {
    ValueId x;
    double slope;
    if (!argument_feature_map(call, "x", &x) || !argument_number(call, "slope", &slope))
        return -1;
    if (!(slope >= 0 && slope <= 1)) {
        report_range(call, "slope", "from 0 to 1");
        return -1;
    }
    return each_segment(call, x, (Attributes){.kind = ATTRIBUTES_MAP, .map.parameter = slope},
                        shape_of(call, x));
}

/* ---- joining ---- */

typedef struct {
    ValueId *value;
    const Expr **expr;
    int count;
} Joined;

static bool add_operand(const Call *call, Datum d, const Argument *a, Joined *all) {
    Lower *l = call->l;
    if (d.kind == DATUM_LIST) {
        for (int i = 0; i < d.count; i++)
            if (!add_operand(call, d.items->item[i], a, all))
                return false;
        return true;
    }
    if (d.kind != DATUM_TENSOR) {
        diag_begin(l->diag, ERROR, "U0319", a->span,
                   "`%s` takes tensors and lists of tensors, and this is %s", call->signature->name,
                   datum_text(l, d));
        note_via(l);
        diag_end(l->diag);
        return false;
    }
    if (!is_numbers(l, d.tensor, a->span))
        return false;
    int count = all->count;
    PUSH(l->pool, all->expr, count, a->value.kind == DATUM_TENSOR ? a->expr : NULL);
    PUSH(l->pool, all->value, all->count, d.tensor);
    return true;
}

ValueId build_concat(Call *call) {
    Lower *l = call->l;
    Joined all = {NULL, NULL, 0};
    for (int i = 0; i < call->nargument; i++)
        if (!add_operand(call, call->argument[i].value, &call->argument[i], &all))
            return -1;
    if (all.count == 0) {
        diag_begin(l->diag, ERROR, "U0301", call->span, "`concat` needs at least one tensor");
        note_via(l);
        diag_end(l->diag);
        return -1;
    }
    static const char *const axes[] = {"c", "d", "h", "w", NULL};
    int axis;
    if (!argument_choice(call, "axis", axes, &axis))
        return -1;
    if (axis > 0)
        return concat_points(call, all.value, all.count, axis - 1);
    for (int i = 1; i < all.count; i++) {
        Pair pair = {l, "concat", call->span, all.value[0], all.value[i], all.expr[0], all.expr[i]};
        if (!equal_sizes(&pair))
            return -1;
    }
    return all.count == 1
               ? all.value[0]
               : named(call, value_concat(l->graph, all.value, all.count, call->name, call->span));
}

/* ---- losses and metrics ---- */

static bool comparable(const Call *call, ValueId a, ValueId b) {
    Lower *l = call->l;
    Shape x = shape_of(call, a), y = shape_of(call, b);
    if (l->only_axis >= 0)
        return x.rank == y.rank && shape_extent(x, l->only_axis) == shape_extent(y, l->only_axis);
    return shape_equal(x, y) ? true : report_unequal(call, a, b);
}

static ValueId compare(Call *call, LossAttributes loss) {
    Lower *l = call->l;
    ValueId prediction, target;
    if (!argument_tensor(call, "prediction", &prediction) || !argument_tensor(call, "truth", &target))
        return -1;
    if (!is_numbers(l, prediction, argument(call, "prediction")->span))
        return -1;
    if (l->graph->value[target].type == TYPE_U8) {
        diag_begin(l->diag, ERROR, "U0415", argument(call, "truth")->span,
                   "`%s` compares numbers, and this is %s", call->signature->name,
                   datum_text(l, datum_tensor(target)));
        diag_help(l->diag, "`%s` compares with labels",
                  (op_table[call->op].traits & TRAIT_MORE_IS_BETTER) != 0 ? "miou" : "cross_entropy");
        note_via(l);
        diag_end(l->diag);
        return -1;
    }
    if (!comparable(call, prediction, target)) {
        l->unequal = true;
        return -1;
    }
    Value value = {
        .name = call->signature->name, .class = CLASS_METRIC, .type = TYPE_F64, .span = call->span};
    value.shape = (Shape){.rank = 1, .dim = {1}};
    const ValueId operands[] = {value_joined(l->graph, prediction, call->span),
                                value_joined(l->graph, target, call->span)};
    call->name = call->signature->name;
    loss.weight = 1;
    return node_append(call, operands, 2, (Attributes){.kind = ATTRIBUTES_LOSS, .loss = loss},
                       value_new(l->graph, value));
}

ValueId build_loss(Call *call) {
    return compare(call, (LossAttributes){0});
}

/* A number above 0 that a loss is told. */
static bool read_above_0(const Call *call, const char *name, double *value) {
    if (!argument_number(call, name, value))
        return false;
    if (*value > 0 && *value <= 1e9)
        return true;
    report_range(call, name, "greater than 0");
    return false;
}

ValueId build_charbonnier(Call *call) {
    LossAttributes a = {0};
    return read_above_0(call, "eps", &a.epsilon) ? compare(call, a) : -1;
}

ValueId build_smooth_l1(Call *call) {
    LossAttributes a = {0};
    return read_above_0(call, "beta", &a.beta) ? compare(call, a) : -1;
}

/* Beside its value a node has the errors of the samples, which its gradient reads. */
ValueId build_psnr_loss(Call *call) {
    Graph *g = call->l->graph;
    const ValueId loss = compare(call, (LossAttributes){0});
    if (loss < 0)
        return -1;
    Value errors = g->value[loss];
    errors.name = "psnr_loss errors";
    errors.per_sample = true;
    const ValueId v = value_new(g, errors);
    g->value[v].producer = g->value[loss].producer;
    node_add_output(g, &g->node[g->value[loss].producer], v);
    return loss;
}

/* Values are clamped to 0..1, as images have them. */
ValueId build_psnr(Call *call) {
    Lower *l = call->l;
    const ValueId prediction = argument(call, "prediction")->value.tensor;
    const ValueId metric = compare(call, (LossAttributes){0});
    if (metric < 0 || shape_of(call, prediction).rank != SIGNAL_RANK)
        return metric;
    diag_begin(l->diag, ERROR, "U0315", call->span, "`psnr` compares images, and this is %s",
               datum_text(l, datum_tensor(prediction)));
    diag_note(l->diag, "it clamps values to 0..1, and signals have values below 0");
    diag_help(l->diag, "write `mse` or `l1`");
    note_via(l);
    diag_end(l->diag);
    return -1;
}

static bool report_windows(const Call *call, ValueId v) {
    Lower *l = call->l;
    if (shape_of(call, v).rank != AXES)
        diag_begin(l->diag, ERROR, "U0315", call->span, "`%s` compares images, and this is %s",
                   call->signature->name, datum_text(l, datum_tensor(v)));
    else
        diag_begin(l->diag, ERROR, "U0412", call->span,
                   "`%s` compares windows of %d x %d points, and this is %s", call->signature->name,
                   SSIM_WINDOW, SSIM_WINDOW, sizes_text(l, v));
    note_via(l);
    diag_end(l->diag);
    return false;
}

/* Is there room for a window in an image? */
static bool has_windows(const Call *call, ValueId v) {
    const Lower *l = call->l;
    const Shape shape = shape_of(call, v);
    bool fits = shape.rank == AXES;
    for (int axis = 1; axis < AXES; axis++)
        fits &= shape_extent(shape, axis) >= SSIM_WINDOW || (l->only_axis >= 0 && l->only_axis != axis);
    return fits || report_windows(call, v);
}

ValueId build_ssim(Call *call) {
    LossAttributes a = {0};
    const ValueId result = read_above_0(call, "range", &a.range) ? compare(call, a) : -1;
    const Graph *g = call->l->graph;
    return result >= 0 && has_windows(call, g->node[g->value[result].producer].in[0]) ? result : -1;
}

ValueId build_none(Call *call) {
    BUG("`%s` is not called in files", call->signature->name);
}
