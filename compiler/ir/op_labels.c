/* op_labels.c - losses that compare logits with classes. */
#include "base/size_math.h"
#include "ir/labels.h"
#include "ir/model.h"
#include "ir/rule_gradient.h"
#include "ir/rule_constants.h"

/* ---- points that count ---- */

static const LabelAttributes *labels_of(const Node *node) {
    return node->a.kind == ATTRIBUTES_LOSS ? node->a.loss.labels : NULL;
}

double label_weight(const LabelAttributes *a, int64_t k) {
    return k == a->ignore ? 0 : a->weighs_points && a->class_weight != NULL ? a->class_weight[k] : 1;
}

static bool same_weights(const LabelAttributes *a, const LabelAttributes *b) {
    bool same = a->classes == b->classes && a->numbers == b->numbers;
    for (int64_t k = 0; same && !a->numbers && k < a->classes; k++)
        same = label_weight(a, k) == label_weight(b, k);
    return same;
}

static bool same_points(const LabelCount *a, const LabelCount *b) {
    bool same = a->labels == b->labels && (a->resized != NULL) == (b->resized != NULL);
    for (int k = 0; same && a->resized != NULL && k < AXES; k++)
        same = a->resized->step[k] == b->resized->step[k] && a->resized->unit[k] == b->resized->unit[k] &&
               a->resized->offset[k] == b->resized->offset[k];
    return same;
}

static bool same_count(const LabelCount *a, const LabelCount *b) {
    return same_points(a, b) && a->attributes != NULL && b->attributes != NULL &&
           same_weights(a->attributes, b->attributes);
}

ValueId labels_origin(const Graph *g, ValueId v) {
    const NodeId producer = v < 0 ? -1 : g->value[v].producer;
    return producer >= 0 && g->node[producer].op == OP_RESIZE_LABELS ? g->node[producer].in[0] : v;
}

static LabelCount count_of(const Graph *g, const Node *node) {
    const ValueId read = node->nin > 1 ? node->in[1] : -1, labels = labels_origin(g, read);
    return (LabelCount){labels, read, labels == read ? NULL : &g->node[g->value[read].producer].a.resize,
                        labels_of(node)};
}

/* The index of COUNT among those so far, or their number. */
static int find_count(const LabelCount *list, int n, const LabelCount *count) {
    int i = 0;
    while (i < n && !same_count(&list[i], count))
        i++;
    return i;
}

int label_counts(const Graph *g, LabelCount **count) {
    int n = 0;
    *count = NULL;
    for (int i = 0; i < g->nnode; i++) {
        const LabelCount own = count_of(g, &g->node[i]);
        if (own.attributes != NULL && !own.attributes->counts_pairs && !own.attributes->sums_itself &&
            find_count(*count, n, &own) == n)
            PUSH(g->pool, *count, n, own);
    }
    return n;
}

int label_count_of(const Graph *g, const Node *node) {
    LabelCount *count;
    const int n = label_counts(g, &count);
    const LabelCount own = count_of(g, node);
    return find_count(count, n, &own);
}

int64_t map_classes(const Graph *g, ValueId v) {
    const Value *value = &g->value[v];
    if (value->producer < 0 || g->node[value->producer].op != OP_ARGMAX)
        return 0;
    const int64_t channels = shape_channels(g->value[g->node[value->producer].in[0]].shape);
    return channels == 1 ? 2 : channels;
}

/* ---- rules ---- */

/* The map of weights of points, or -1. */
static ValueId map_of(const Node *node) {
    return node->nin > 2 ? node->in[2] : -1;
}

static void gradient_of_labels(Autodiff *ad, const Node *node, ValueId *din, Op op) {
    /* update.c knows whether it is scaled */
    const ValueId in[4] = {node->in[0], node->in[1], map_of(node), -1};
    if (!gradient_wanted(ad, node->in[0]))
        return;
    din[0] = gradient_value(ad, node->in[0]);
    gradient_node(ad, node, op, node->a, in, 4, &din[0], 1);
}

void gradient_cross_entropy(Autodiff *ad, const Node *node, const ValueId *dout, ValueId *din) {
    (void)dout;
    gradient_of_labels(ad, node, din, OP_CROSS_ENTROPY_GRAD);
}

void gradient_bce(Autodiff *ad, const Node *node, const ValueId *dout, ValueId *din) {
    (void)dout;
    gradient_of_labels(ad, node, din, OP_BCE_WITH_LOGITS_GRAD);
}

void gradient_overlap(Autodiff *ad, const Node *node, const ValueId *dout, ValueId *din) {
    const ValueId in[4] = {node->in[0], node->in[1], node->out[1], -1};
    (void)dout;
    if (!gradient_wanted(ad, node->in[0]))
        return;
    din[0] = gradient_value(ad, node->in[0]);
    gradient_node(ad, node, OP_DICE_LOSS_GRAD, node->a, in, 4, &din[0], 1);
}

/* From two values that the loss left. */
static void gradient_from_loss(Autodiff *ad, const Node *node, ValueId *din, Op op) {
    const ValueId in[5] = {node->in[0], node->in[1], node->out[1], node->out[2], -1};
    if (!gradient_wanted(ad, node->in[0]))
        return;
    din[0] = gradient_value(ad, node->in[0]);
    gradient_node(ad, node, op, node->a, in, 5, &din[0], 1);
}

void gradient_ohem(Autodiff *ad, const Node *node, const ValueId *dout, ValueId *din) {
    (void)dout;
    gradient_from_loss(ad, node, din, OP_OHEM_CROSS_ENTROPY_GRAD);
}

void gradient_lovasz(Autodiff *ad, const Node *node, const ValueId *dout, ValueId *din) {
    (void)dout;
    gradient_from_loss(ad, node, din, OP_LOVASZ_LOSS_GRAD);
}

/* An exponential is a polynomial and a few operations more. */
int64_t flops_softmax(const Graph *g, const Node *node) {
    enum { FLOPS = 24 };
    return size_product(FLOPS, shape_elements(g->value[node->in[0]].shape));
}

static void label_constants(Constants *c, const Node *node) {
    const LabelAttributes *a = node->a.loss.labels;
    constant_channels(c, "C", node->in[0]);
    constant_extents(c, "", node->in[0]);
    constant_layout(c, "X", node->in[0]);
    constant_layout(c, "T", node->in[1]);
    constant(c, "CLASSES", a->classes);
    constant(c, "IGNORE", a->ignore);
    constant_real(c, "SMOOTHING", a->smoothing);
    constant_real(c, "GAMMA", a->gamma);
    constant(c, "WEIGHTED", a->class_weight != NULL);
    constant_reals(c, "CLASS_WEIGHT", a->class_weight, a->class_weight == NULL ? 0 : (int)a->classes);
    constant(c, "COUNTED", a->sums_itself ? 0 : label_count_of(constants_graph(c), node));
}

static void map_constants(Constants *c, const Node *node) {
    const ValueId map = map_of(node), one = map < 0 ? node->in[1] : map;
    constant(c, "MAPPED", map >= 0);
    constant_layout(c, "MAP", one);
    constant_staged(c, "MAP_STAGED", one);
}

/* "labelled[0]": what the runtime counted, on targets where steps are functions. */
static const char *counted(const Constants *c, const Node *node, const char *behind) {
    const Graph *g = constants_graph(c);
    return pool_text(g->pool, "labelled[%d]%s", label_count_of(g, node), behind);
}

void constants_label_loss(Constants *c, const Node *node) {
    label_constants(c, node);
    map_constants(c, node);
    constant(c, "BANDS", node->a.loss.bands);
    constant(c, "ACCUMULATE", node->accumulates);
    call_arguments(c, "n, step->n", counted(c, node, ", valid"));
    call_rows(c, node->in[0]);
}

void constants_label_loss_grad(Constants *c, const Node *node) {
    label_constants(c, node);
    map_constants(c, node);
    constant_real(c, "WEIGHT", node->a.loss.weight);
    constant_layout(c, "DX", node->out[0]);
    constant(c, "SCALED", node->in[3] >= 0);
    call_arguments(c, "n", counted(c, node, ""));
    call_rows(c, node->out[0]);
}

void constants_ohem(Constants *c, const Node *node) {
    const HardAttributes *a = &node->a.loss.labels->hard;
    label_constants(c, node);
    constant_layout(c, "TERMS", node->out[2]);
    constant_real(c, "THRESHOLD", a->threshold);
    constant_real(c, "SHARE", a->share);
    constant_real(c, "LEAST", a->least);
    constant(c, "BANDS", node->a.loss.bands);
    constant(c, "ACCUMULATE", node->accumulates);
    call_arguments(c, "n", "valid");
    call_rows(c, node->in[0]);
}

void constants_ohem_grad(Constants *c, const Node *node) {
    label_constants(c, node);
    constant_layout(c, "TERMS", node->in[3]);
    constant_real(c, "WEIGHT", node->a.loss.weight);
    constant_layout(c, "DX", node->out[0]);
    constant(c, "SCALED", node->in[4] >= 0);
    call_arguments(c, "n, step->n", "");
    call_rows(c, node->out[0]);
}

void constants_lovasz(Constants *c, const Node *node) {
    label_constants(c, node);
    constant_layout(c, "SLOPES", node->out[2]);
    constant(c, "ACCUMULATE", node->accumulates);
    call_arguments(c, "n", "valid");
}

void constants_lovasz_grad(Constants *c, const Node *node) {
    label_constants(c, node);
    constant_layout(c, "SLOPES", node->in[3]);
    constant_real(c, "WEIGHT", node->a.loss.weight);
    constant_layout(c, "DX", node->out[0]);
    constant(c, "SCALED", node->in[4] >= 0);
    call_arguments(c, "n, step->n", "");
    call_rows(c, node->out[0]);
}

static void overlap_constants(Constants *c, const Node *node) {
    const OverlapAttributes *a = &node->a.loss.labels->overlap;
    label_constants(c, node);
    constant_real(c, "OVER_BOTH", a->over_both);
    constant_real(c, "UNDER_BOTH", a->under_both);
    constant_real(c, "UNDER_PREDICTED", a->under_predicted);
    constant_real(c, "UNDER_TRULY", a->under_truly);
    constant_real(c, "SMOOTH", a->smooth);
    constant_real(c, "EPSILON", a->epsilon);
    constant(c, "FIRST",
             a->background && shape_channels(constants_graph(c)->value[node->in[0]].shape) > 1 ? 0 : 1);
    constant(c, "SQUARED", a->squared);
    constant(c, "JOINT", a->joint);
    constant(c, "BATCH", a->batch);
}

void constants_overlap(Constants *c, const Node *node) {
    overlap_constants(c, node);
    constant_layout(c, "SUMS", node->out[1]);
    constant(c, "BANDS", node->a.loss.bands);
    constant(c, "ACCUMULATE", node->accumulates);
    call_arguments(c, "n", "valid");
    call_rows(c, node->in[0]);
}

void constants_overlap_grad(Constants *c, const Node *node) {
    overlap_constants(c, node);
    constant_layout(c, "SUMS", node->in[2]);
    constant_real(c, "WEIGHT", node->a.loss.weight);
    constant_layout(c, "DX", node->out[0]);
    constant(c, "SCALED", node->in[3] >= 0);
    call_arguments(c, "n, step->n", "");
    call_rows(c, node->out[0]);
}

/* ---- classes ---- */

void constants_argmax(Constants *c, const Node *node) {
    constant_channels(c, "C", node->in[0]);
    constant_extents(c, "", node->out[0]);
    constant_layout(c, "X", node->in[0]);
    constant_layout(c, "Y", node->out[0]);
    call_rows(c, node->out[0]);
}

void constants_confusion(Constants *c, const Node *node) {
    constant_extents(c, "", node->in[0]);
    constant_layout(c, "P", node->in[0]);
    constant_layout(c, "T", node->in[1]);
    constant(c, "CLASSES", node->a.loss.labels->classes);
    constant(c, "IGNORE", node->a.loss.labels->ignore);
    constant(c, "ACCUMULATE", node->accumulates);
    call_arguments(c, "n", "valid");
    call_rows(c, node->in[0]);
}
