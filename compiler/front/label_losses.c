/* label_losses.c - losses and metrics that compare logits with classes: reads their arguments, checks sizes
 * and classes.
 *
 * requires   a call whose arguments are bound to the names of the operator's signature (ops.def)
 * provides   a node whose attributes say which points count, and how much
 */
#include "front/operator_compare.h"
#include "front/operator_size.h"
#include "ir/labels.h"
#include "ir/ops.h"

/* ---- operands ---- */

typedef struct {
    ValueId logits, labels;
    ValueId map; /* what each point weighs besides; -1: nothing */
    const Input *target;
} Compared;

/* FIRST: the argument in front of the labels, which may be the labels itself. */
static bool report_not_labels(const Call *call, const Compared *by, const char *first) {
    Lower *l = call->l;
    const Input *input = declared(l, by->labels), *other = declared(l, by->logits);
    diag_begin(l->diag, ERROR, "U0415", argument(call, "labels")->span,
               "`%s` compares with labels, and this is %s", call->signature->name,
               datum_text(l, datum_tensor(by->labels)));
    if (other != NULL && other->kind == KIND_LABELS)
        diag_help(l->diag, "the labels come second: write `%s(%s, %s)`", call->signature->name,
                  argument_text(call, argument(call, "labels")),
                  argument_text(call, argument(call, first)));
    else
        diag_help(l->diag, "declare `target %s : labels(2)`, with the number of its classes",
                  input != NULL && input->is_target ? input->name : "truth");
    note_via(l);
    diag_end(l->diag);
    return false;
}

/* False without a message where only one axis is tried. */
static bool same_size(const Call *call, const Compared *by) {
    Lower *l = call->l;
    const Shape x = l->graph->value[by->logits].shape, t = l->graph->value[by->labels].shape;
    for (int axis = 0; axis < AXES; axis++) {
        if (shape_extent(x, axis) == shape_extent(t, axis) || (l->only_axis >= 0 && axis != l->only_axis))
            continue;
        if (l->only_axis < 0)
            report_unequal(call, by->logits, by->labels);
        l->unequal = true;
        return false;
    }
    return true;
}

/* As many channels as there are classes, or, of two classes, ONE channel for the second of them. */
static bool right_channels(const Call *call, const Compared *by, bool one) {
    Lower *l = call->l;
    const int64_t channels = shape_channels(l->graph->value[by->logits].shape),
                  classes = by->target->classes;
    if (one ? channels == 1 && classes == 2 : channels == classes)
        return true;
    diag_begin(l->diag, ERROR, "U0407", argument(call, "logits")->span,
               "the labels have %lld classes, and the prediction has %lld channel%s", (long long)classes,
               (long long)channels, channels == 1 ? "" : "s");
    diag_also(l->diag, by->target->span, "`%s : labels(%lld)`", by->target->name, (long long)classes);
    if (one)
        diag_note(l->diag, "`%s` takes one channel, for the second of two classes", call->signature->name);
    if (one && classes > 2)
        diag_help(l->diag, "`cross_entropy` takes a channel for each class");
    else if (!one && classes == 2 && channels == 1)
        diag_help(l->diag, "`bce_with_logits` takes one channel for two classes");
    else
        diag_help(l->diag, "end the network with `conv(x, %lld, 1)`", one ? 1LL : (long long)classes);
    note_via(l);
    diag_end(l->diag);
    return false;
}

static bool report_no_logits(const Call *call, ValueId v) {
    Lower *l = call->l;
    diag_begin(l->diag, ERROR, "U0415", argument(call, "logits")->span,
               "`%s` takes a number for each class, and this is %s", call->signature->name,
               datum_text(l, datum_tensor(v)));
    diag_help(l->diag, "give it what `argmax` reads; metrics such as `miou` compare maps of classes");
    note_via(l);
    diag_end(l->diag);
    return false;
}

/* These losses apply softmax or sigmoid themselves; what has been through one already trains, but badly. */
static void warn_of_shares(const Call *call, ValueId logits) {
    Lower *l = call->l;
    const Graph *g = l->graph;
    const NodeId producer = g->value[logits].producer;
    const Op op = producer < 0 || l->only_axis >= 0 ? OPS : g->node[producer].op;
    if (op != OP_SOFTMAX && op != OP_SIGMOID)
        return;
    diag_begin(l->diag, WARNING, "U0804", argument(call, "logits")->span,
               "`%s` takes logits, and this is a result of `%s`", call->signature->name, op_table[op].name);
    diag_also(l->diag, g->node[producer].span, "applied here, and once more in the loss");
    diag_help(l->diag, "give it what `%s` reads", op_table[op].name);
    note_via(l);
    diag_end(l->diag);
}

static bool read_compared(const Call *call, bool one, Compared *by) {
    Lower *l = call->l;
    by->map = -1;
    if (!argument_tensor(call, "logits", &by->logits) || !argument_tensor(call, "labels", &by->labels))
        return false;
    by->target = declared(l, by->labels);
    if (by->target == NULL || by->target->kind != KIND_LABELS)
        return report_not_labels(call, by, "logits");
    if (l->graph->value[by->logits].type == TYPE_U8)
        return report_no_logits(call, by->logits);
    warn_of_shares(call, by->logits);
    return same_size(call, by) && (l->only_axis >= 0 || right_channels(call, by, one));
}

/* ---- arguments ---- */

static bool report_value(const Call *call, const char *name, const char *what) {
    Lower *l = call->l;
    diag_begin(l->diag, ERROR, "U0316", argument(call, name)->span, "%s", what);
    note_via(l);
    diag_end(l->diag);
    return false;
}

/* A class; of 255 labels speak as of points that count nowhere. */
static bool read_ignore_index(const Call *call, int64_t classes, int64_t *ignore) {
    *ignore = -1;
    if (argument(call, "ignore_index")->value.kind == DATUM_NONE)
        return true;
    if (!argument_integer(call, "ignore_index", 0, ignore))
        return false;
    if (*ignore < classes)
        return true;
    if (*ignore != IGNORED)
        return report_value(call, "ignore_index",
                            "`ignore_index` must be a class, or 255. To leave out points by their value in "
                            "the files, declare `labels(..., ignore = VALUE)`");
    *ignore = -1;
    return true;
}

static bool read_class_weights(const Call *call, const char *name, int64_t classes, const double **weight) {
    Lower *l = call->l;
    const Datum list = argument(call, name)->value;
    *weight = NULL;
    if (list.kind == DATUM_NONE)
        return true;
    if (list.kind == DATUM_TEXT)
        return report_value(call, "weight",
                            "`weight` is a list of numbers. To have all classes count alike, compile "
                            "without it: `check-data` of that program prints the list");
    bool good = list.kind == DATUM_LIST && list.count == classes;
    double *number = NEW_ARRAY(l->pool, double, classes);
    for (int i = 0; good && i < classes; i++)
        good = datum_number(list.items->item[i], &number[i]) && number[i] >= 0 && number[i] <= 1e30;
    *weight = number;
    return good ? true
                : report_value(call, name,
                               pool_text(l->pool,
                                         "`%s` is a list of %lld numbers from 0, one for each class", name,
                                         (long long)classes));
}

/* ---- maps of weights ---- */

/* Does V depend on a parameter? A map of weights has no gradient. */
static bool is_learned(const Lower *l, ValueId v) {
    const Graph *g = l->graph;
    bool *needed = NEW_ARRAY(l->pool, bool, g->nvalue);
    needed[v] = true;
    for (int i = g->nnode - 1; i >= 0; i--) {
        bool reads = false;
        for (Touch t = node_touches(g, &g->node[i]); touch_next(&t);)
            reads |= t.is_output && needed[t.value];
        for (Touch t = node_touches(g, &g->node[i]); reads && touch_next(&t);)
            needed[t.value] = true;
    }
    bool learned = false;
    for (ValueId k = 0; k < g->nvalue; k++)
        learned |= needed[k] && g->value[k].class == CLASS_PARAMETER;
    return learned;
}

static bool report_map(const Call *call, const Compared *by, const char *code, const char *what) {
    Lower *l = call->l;
    diag_begin(l->diag, ERROR, code, argument(call, "pixel_weight")->span, "%s", what);
    diag_help(l->diag, "declare `target weight : image(1, %lld, %lld)`, and read it from files in `data`",
              (long long)shape_extent(l->graph->value[by->labels].shape, 1),
              (long long)shape_extent(l->graph->value[by->labels].shape, 2));
    note_via(l);
    diag_end(l->diag);
    return false;
}

/* One channel as large as the labels. */
static bool read_map(const Call *call, Compared *by) {
    Lower *l = call->l;
    if (argument(call, "pixel_weight")->value.kind == DATUM_NONE)
        return true;
    if (!argument_tensor(call, "pixel_weight", &by->map) ||
        !is_numbers(l, by->map, argument(call, "pixel_weight")->span))
        return false;
    by->map = value_joined(l->graph, by->map, call->span);
    const Shape map = l->graph->value[by->map].shape, t = l->graph->value[by->labels].shape;
    for (int axis = 0; axis < AXES; axis++)
        if (shape_extent(map, axis) != shape_extent(t, axis) &&
            (l->only_axis < 0 || axis == l->only_axis)) {
            l->unequal = true;
            return l->only_axis >= 0
                       ? false
                       : report_map(
                             call, by, "U0406",
                             pool_text(l->pool,
                                       "`pixel_weight` is %s, and the labels are %s: they need equal sizes",
                                       sizes_text(l, by->map), sizes_text(l, by->labels)));
        }
    if (l->only_axis < 0 && shape_channels(map) != 1)
        return report_map(call, by, "U0316",
                          pool_text(l->pool, "`pixel_weight` must have one channel, and this has %lld",
                                    (long long)shape_channels(map)));
    return is_learned(l, by->map)
               ? report_map(call, by, "U0316", "`pixel_weight` must not depend on weights of the network")
               : true;
}

/* ---- nodes ---- */

/* NUMBERS: of the result. */
static ValueId result_node(Call *call, const Compared *by, LabelAttributes attributes, int64_t numbers) {
    Lower *l = call->l;
    Graph *g = l->graph;
    LabelAttributes *kept = NEW(g->pool, LabelAttributes);
    *kept = attributes;
    Value value = {
        .name = call->signature->name, .class = CLASS_METRIC, .type = TYPE_F64, .span = call->span};
    value.shape = (Shape){.rank = 1, .dim = {numbers}};
    const ValueId in[] = {value_joined(g, by->logits, call->span), by->labels, by->map},
                  out = value_new(g, value);
    Node node = {.op = call->op,
                 .nin = g->operands[call->op].nin > 2 ? 3 : 2,
                 .nout = 1,
                 .name = call->signature->name,
                 .span = call->span};
    node.a = (Attributes){.kind = ATTRIBUTES_LOSS, .loss = {.weight = 1, .labels = kept}};
    node.via = l->via;
    node_new(g, node, in, &out);
    return out;
}

ValueId build_cross_entropy(Call *call) {
    Compared by;
    LabelAttributes a = {.weighs_points = true};
    if (compares_numbers(call))
        return build_vocabulary_loss(call);
    if (!read_compared(call, false, &by))
        return -1;
    a.classes = by.target->classes;
    if (!read_class_weights(call, "weight", a.classes, &a.class_weight) ||
        !read_ignore_index(call, a.classes, &a.ignore) ||
        !argument_number(call, "label_smoothing", &a.smoothing))
        return -1;
    if (!(a.smoothing >= 0 && a.smoothing <= 1)) {
        report_value(call, "label_smoothing", "`label_smoothing` must be from 0 to 1");
        return -1;
    }
    return read_map(call, &by) ? result_node(call, &by, a, 1) : -1;
}

ValueId build_bce(Call *call) {
    Compared by;
    LabelAttributes a = {.classes = 2};
    double positive;
    if (!read_compared(call, true, &by) || !read_ignore_index(call, a.classes, &a.ignore) ||
        !argument_number(call, "pos_weight", &positive))
        return -1;
    if (!(positive >= 0 && positive <= 1e30)) {
        report_value(call, "pos_weight", "`pos_weight` must be at least 0");
        return -1;
    }
    if (positive != 1) {
        double *weight = NEW_ARRAY(call->l->pool, double, 2);
        weight[0] = 1;
        weight[1] = positive;
        a.class_weight = weight;
    }
    return read_map(call, &by) ? result_node(call, &by, a, 1) : -1;
}

/* Reads logits with a channel for each class, or one channel, for the second of two. */
static bool read_compared_either(const Call *call, Compared *by) {
    if (!argument_tensor(call, "logits", &by->logits))
        return false;
    return read_compared(call, shape_channels(call->l->graph->value[by->logits].shape) == 1, by);
}

/* A number is the weight of the second of two classes; the first class has the rest. */
static bool read_alpha(const Call *call, const Compared *by, const double **weight) {
    double number;
    Lower *l = call->l;
    const Datum alpha = argument(call, "alpha")->value;
    if (!datum_number(alpha, &number))
        return read_class_weights(call, "alpha", by->target->classes, weight);
    if (shape_channels(l->graph->value[by->logits].shape) > 1) {
        diag_begin(l->diag, ERROR, "U0316", argument(call, "alpha")->span,
                   "`alpha` of a channel for each class is a list of %lld numbers",
                   (long long)by->target->classes);
        diag_help(l->diag, "a factor of all classes stands before the loss: `%s * focal_loss(%s, %s)`",
                  expr_text(l->pool, argument(call, "alpha")->expr),
                  argument_text(call, argument(call, "logits")),
                  argument_text(call, argument(call, "labels")));
        note_via(l);
        diag_end(l->diag);
        return false;
    }
    if (!(number >= 0 && number <= 1))
        return report_value(call, "alpha", "`alpha` must be from 0 to 1");
    double *both = NEW_ARRAY(l->pool, double, 2);
    both[0] = 1 - number;
    both[1] = number;
    *weight = both;
    return true;
}

ValueId build_focal_loss(Call *call) {
    Compared by;
    LabelAttributes a = {0};
    if (!read_compared_either(call, &by) || !read_alpha(call, &by, &a.class_weight))
        return -1;
    a.classes = by.target->classes;
    if (!read_ignore_index(call, a.classes, &a.ignore) || !argument_number(call, "gamma", &a.gamma))
        return -1;
    if (!(a.gamma >= 0 && a.gamma <= 100)) {
        report_value(call, "gamma", "`gamma` must be from 0 to 100");
        return -1;
    }
    return result_node(call, &by, a, 1);
}

/* Beside its value a node has the sums that its gradient reads. */
static ValueId overlap_node(Call *call, const Compared *by, LabelAttributes a) {
    Graph *g = call->l->graph;
    if (!a.overlap.batch)
        call->op = OP_OVERLAP_LOSS;
    const ValueId loss = result_node(call, by, a, 1);
    Value sums = g->value[loss];
    sums.name = pool_text(g->pool, "%s sums", sums.name);
    sums.class = CLASS_BATCH_STATISTIC;
    sums.per_sample = !a.overlap.batch;
    sums.shape.dim[0] = 3 * a.classes;
    const ValueId v = value_new(g, sums);
    g->value[v].producer = g->value[loss].producer;
    node_add_output(g, &g->node[g->value[loss].producer], v);
    return loss;
}

static bool read_at_least_0(const Call *call, const char *name, double *value) {
    if (!argument_number(call, name, value))
        return false;
    return *value >= 0 && *value <= 1e30
               ? true
               : report_value(call, name, pool_text(call->l->pool, "`%s` must be at least 0", name));
}

/* The arguments that all losses by overlap have. */
static bool read_overlap(Call *call, Compared *by, LabelAttributes *a) {
    bool per_class;
    if (!read_compared_either(call, by))
        return false;
    a->classes = by->target->classes;
    a->sums_itself = true;
    if (!read_ignore_index(call, a->classes, &a->ignore) ||
        !argument_truth(call, "background", &a->overlap.background) ||
        !argument_truth(call, "batch", &a->overlap.batch) ||
        !argument_truth(call, "per_class", &per_class) ||
        !read_at_least_0(call, "smooth", &a->overlap.smooth) ||
        !read_at_least_0(call, "eps", &a->overlap.epsilon))
        return false;
    a->overlap.joint = !per_class;
    return true;
}

ValueId build_dice_loss(Call *call) {
    Compared by;
    LabelAttributes a = {.overlap = {.over_both = 2, .under_predicted = 1, .under_truly = 1}};
    if (!read_overlap(call, &by, &a) || !argument_truth(call, "squared", &a.overlap.squared))
        return -1;
    return overlap_node(call, &by, a);
}

ValueId build_tversky_loss(Call *call) {
    Compared by;
    LabelAttributes a = {.overlap = {.over_both = 1}};
    OverlapAttributes *o = &a.overlap;
    if (!read_overlap(call, &by, &a) || !read_at_least_0(call, "alpha", &o->under_predicted) ||
        !read_at_least_0(call, "beta", &o->under_truly))
        return -1;
    o->under_both = 1 - o->under_predicted - o->under_truly;
    return overlap_node(call, &by, a);
}

/* A number of points, or a share of all. */
static bool read_kept(const Call *call, HardAttributes *hard) {
    hard->least = -1;
    if (argument(call, "min_kept")->value.kind == DATUM_NONE)
        return argument_number(call, "keep", &hard->share) && hard->share >= 0 && hard->share <= 1
                   ? true
                   : report_value(call, "keep", "`keep` is a share of the points, from 0 to 1");
    int64_t least;
    if (!argument_integer(call, "min_kept", 0, &least))
        return false;
    hard->least = (double)least;
    return true;
}

/* Beside its value a node has what its gradient reads: COUNT doubles, and EACH numbers for each sample. */
static ValueId searching_node(Call *call, const Compared *by, LabelAttributes a, const char *what,
                              int64_t count, const char *of_each, int64_t each) {
    Graph *g = call->l->graph;
    const ValueId loss = result_node(call, by, a, 1);
    const NodeId node = g->value[loss].producer;
    Value numbers = g->value[loss];
    numbers.class = CLASS_BATCH_STATISTIC;
    Value of_points = numbers;
    numbers.name = pool_text(g->pool, "%s %s", call->signature->name, what);
    numbers.shape.dim[0] = count;
    of_points.name = pool_text(g->pool, "%s %s", call->signature->name, of_each);
    of_points.type = TYPE_F32;
    of_points.per_sample = true;
    of_points.shape.dim[0] = each;
    const ValueId more[] = {value_new(g, numbers), value_new(g, of_points)};
    for (int k = 0; k < 2; k++) {
        g->value[more[k]].producer = node;
        node_add_output(g, &g->node[node], more[k]);
    }
    return loss;
}

/* The limit of the terms that count, and what their sum is divided by; the term of each point. */
ValueId build_ohem(Call *call) {
    Compared by;
    LabelAttributes a = {.sums_itself = true};
    if (!read_compared_either(call, &by))
        return -1;
    a.classes = by.target->classes;
    if (!read_ignore_index(call, a.classes, &a.ignore) ||
        !argument_number(call, "threshold", &a.hard.threshold) || !read_kept(call, &a.hard))
        return -1;
    if (!(a.hard.threshold > 0 && a.hard.threshold <= 1)) {
        report_value(call, "threshold", "`threshold` must be above 0 and at most 1");
        return -1;
    }
    return searching_node(call, &by, a, "bounds", 2, "terms",
                          shape_elements(call->l->graph->value[by.labels].shape));
}

/* How many classes are there; the slope of each point by each channel. */
ValueId build_lovasz(Call *call) {
    Compared by;
    LabelAttributes a = {.sums_itself = true};
    if (!read_compared_either(call, &by))
        return -1;
    a.classes = by.target->classes;
    if (!read_ignore_index(call, a.classes, &a.ignore))
        return -1;
    return searching_node(call, &by, a, "classes", 1, "slopes",
                          shape_elements(call->l->graph->value[by.logits].shape));
}

/* ---- classes ---- */

static ValueId argmax_of(Call *call, ValueId x, Span span) {
    Graph *g = call->l->graph;
    Value value = {.name = call->name == NULL ? "argmax" : call->name,
                   .class = CLASS_ACTIVATION,
                   .type = TYPE_U8,
                   .shape = g->value[x].shape,
                   .per_sample = true,
                   .span = span};
    value.shape.dim[0] = 1;
    Node node = {.op = OP_ARGMAX, .nin = 1, .nout = 1, .name = value.name, .span = span};
    node.via = call->l->via;
    const ValueId in = value_joined(g, x, span), out = value_new(g, value);
    node_new(g, node, &in, &out);
    return out;
}

ValueId build_argmax(Call *call) {
    ValueId x;
    Lower *l = call->l;
    if (!argument_tensor(call, "x", &x) || !is_numbers(l, x, argument(call, "x")->span))
        return -1;
    if (shape_channels(l->graph->value[x].shape) <= MOST_CLASSES)
        return argmax_of(call, x, call->span);
    report_value(call, "x", "`argmax` chooses among at most 255 channels");
    return -1;
}

ValueId probabilities_of(Lower *l, ValueId map, const char *name) {
    Graph *g = l->graph;
    const NodeId chosen = g->value[map].producer;
    if (chosen < 0 || g->node[chosen].op != OP_ARGMAX)
        return -1;
    const ValueId x = g->node[chosen].in[0];
    const NodeId producer = g->value[x].producer;
    const bool are_shares =
        producer >= 0 && g->node[producer].op == OP_SOFTMAX && g->node[producer].a.norm.groups == 1;
    if (are_shares ||
        shape_channels(g->value[x].shape) == 1) /* of one, argmax asks whether it is above 0.5 */
        return x;
    Value value = g->value[x];
    value.name = name;
    value.class = CLASS_ACTIVATION;
    Node node = {.op = OP_SOFTMAX,
                 .nin = 1,
                 .nout = 1,
                 .a = {.kind = ATTRIBUTES_NORM, .norm.groups = 1},
                 .name = name,
                 .span = g->node[chosen].span};
    const ValueId out = value_new(g, value);
    node_new(g, node, &x, &out);
    return out;
}

static bool report_numbers(const Call *call, ValueId v) {
    Lower *l = call->l;
    const Argument *a = argument(call, "prediction");
    diag_begin(l->diag, ERROR, "U0613", a->span, "`%s` compares classes, and this is %s",
               call->signature->name, datum_text(l, datum_tensor(v)));
    diag_help(l->diag, "write `%s(argmax(%s), %s)`", call->signature->name,
              argument_text(call, argument(call, "prediction")),
              argument_text(call, argument(call, "labels")));
    note_via(l);
    diag_end(l->diag);
    return false;
}

/* For two classes one channel is as good as its argmax: the second class is where it is above 0.5. */
static bool read_classes(Call *call, Compared *by) {
    Lower *l = call->l;
    by->map = -1;
    if (!argument_tensor(call, "prediction", &by->logits) || !argument_tensor(call, "labels", &by->labels))
        return false;
    by->target = declared(l, by->labels);
    if (by->target == NULL || by->target->kind != KIND_LABELS)
        return report_not_labels(call, by, "prediction");
    if (!same_size(call, by))
        return false;
    int64_t classes = map_classes(l->graph, by->logits);
    if (classes == 0 && l->graph->value[by->logits].type == TYPE_F32 &&
        shape_channels(l->graph->value[by->logits].shape) == 1) {
        by->logits = argmax_of(call, by->logits, call->span);
        classes = 2;
    }
    if (classes == 0)
        return report_numbers(call, by->logits);
    if (classes == by->target->classes)
        return true;
    diag_begin(l->diag, ERROR, "U0407", argument(call, "prediction")->span,
               "the prediction has %lld classes, and the labels have %lld", (long long)classes,
               (long long)by->target->classes);
    diag_also(l->diag, by->target->span, "`%s : labels(%lld)`", by->target->name,
              (long long)by->target->classes);
    diag_help(l->diag,
              "end the network with as many channels as classes, or declare `target %s : labels(%lld)`",
              by->target->name, (long long)classes);
    note_via(l);
    diag_end(l->diag);
    return false;
}

/* OF_ONE: the metric is one of a single class. */
static ValueId confusion(Call *call, bool of_one) {
    Compared by;
    LabelAttributes a = {.counts_pairs = true};
    if (!read_classes(call, &by))
        return -1;
    a.classes = by.target->classes;
    if (!read_ignore_index(call, a.classes, &a.ignore) ||
        (of_one && !argument_integer(call, "class", 0, &a.class)))
        return -1;
    if (a.class >= a.classes) {
        report_value(call, "class",
                     pool_text(call->l->pool, "`%s` has the classes 0 to %lld", by.target->name,
                               (long long)a.classes - 1));
        return -1;
    }
    return result_node(call, &by, a, a.classes * a.classes);
}

ValueId build_confusion(Call *call) {
    return confusion(call, false);
}

ValueId build_accuracy(Call *call) {
    return compares_numbers(call) ? build_vocabulary_accuracy(call) : confusion(call, false);
}

ValueId build_confusion_of_class(Call *call) {
    return confusion(call, true);
}
