/* op_norm.c - normalisation by means and variances: of a channel over the batch (batch_norm) or over a
 * sample (instance_norm), of a group of channels over a sample (group_norm).
 *
 *     y = (x - mean) / sqrt(variance + epsilon) * w + b
 *
 * Means and variances are computed by a node of their own; in evaluation and prediction the running
 * statistics of batch_norm take their place.  The backward pass needs x, the statistics and dy, and so
 * nobody keeps y for it:
 *
 *     z = (x - mean) / sqrt(variance + epsilon)        dw = sum(dy z)        db = sum(dy)
 *     dx = (w dy - mean(w dy) - z mean(w dy z)) / sqrt(variance + epsilon)
 *
 * where `sums` are the two means, over all that has one mean and variance.  A synchronised batch_norm takes
 * them for each sample, as it takes the statistics, and merges them (front/synchronise.c).
 */
#include "base/size_math.h"
#include "ir/rule_gradient.h"
#include "ir/rule_constants.h"
#include "ir/rule_fuse.h"

/* The inputs of a normalisation and its two gradients, and an output of the one by weights. */
enum { X, MEAN, VARIANCE, W, B, SLOPES };
enum { WGRAD_B = 5, WGRAD_SLOPES, DGRAD_B = 6, DGRAD_SLOPES, DSLOPES = 4 };

/* ---- gradients ---- */

static ValueId new_sums(Autodiff *ad, const Node *node, bool of_each_sample) {
    Graph *g = gradient_graph(ad);
    Value sums = g->value[node->in[MEAN]];
    sums.name = pool_text(g->pool, "%s sums%s", node->name, of_each_sample ? " of samples" : "");
    sums.shape.dim[0] = size_product(2, sums.shape.dim[0]);
    sums.per_sample |= of_each_sample;
    return value_new(g, sums);
}

/* The sums of all samples, from the sums of each. */
static ValueId merged(Autodiff *ad, const Node *node, ValueId sums) {
    const ValueId in[] = {sums, -1}, out[] = {new_sums(ad, node, false), -1, -1};
    gradient_node(ad, node, OP_NORM_MERGE, node->a, in, 2, out, 3);
    return out[0];
}

void gradient_norm(Autodiff *ad, const Node *node, const ValueId *dout, ValueId *din) {
    const ValueId x = node->in[X], mean = node->in[MEAN], variance = node->in[VARIANCE], w = node->in[W];
    const ValueId wgrad_in[] = {x, dout[0], mean, variance, w, -1, -1};
    if (!gradient_wanted(ad, x) && !(w >= 0 && gradient_wanted(ad, w)))
        return;
    ValueId sums = new_sums(ad, node, node->a.norm.sync);
    for (int k = W; k <= B; k++)
        din[k] = node->in[k] < 0 ? -1 : gradient_value(ad, node->in[k]);
    const ValueId out[] = {din[W], din[B], -1, sums, -1};
    gradient_node(ad, node, node->a.norm.batch ? OP_BATCH_NORM_WGRAD : OP_NORM_WGRAD, node->a, wgrad_in, 7,
                  out, 5);
    if (!gradient_wanted(ad, x))
        return;
    if (node->a.norm.sync)
        sums = merged(ad, node, sums);
    const ValueId dgrad_in[] = {x, dout[0], mean, variance, w, sums, -1, -1};
    din[X] = gradient_value(ad, x);
    gradient_node(ad, node, OP_NORM_DGRAD, node->a, dgrad_in, 8, &din[X], 1);
}

/* ---- cost ---- */

static int64_t flops_each(const Graph *g, ValueId x, int64_t each) {
    return size_product(each, shape_elements(g->value[x].shape));
}

int64_t flops_norm(const Graph *g, const Node *node) {
    return flops_each(g, node->in[X], 3);
}

int64_t flops_norm_statistics(const Graph *g, const Node *node) {
    return flops_each(g, node->in[X], 4);
}

int64_t flops_norm_wgrad(const Graph *g, const Node *node) {
    return flops_each(g, node->in[X], 5);
}

/* ---- constants ---- */

int norm_numbers(const Node *node) {
    const bool by_weights = node->op == OP_NORM_WGRAD || node->op == OP_BATCH_NORM_WGRAD;
    return by_weights && node->in[WGRAD_SLOPES] >= 0 ? 3 : 2;
}

static void norm_constants(Constants *c, const Node *node, ValueId x) {
    const NormAttributes *a = &node->a.norm;
    constant_channels(c, "C", x);
    constant_extents(c, "", x);
    constant_layout(c, "X", x);
    constant(c, "GROUPS", a->groups);
    constant(c, "BATCH", a->batch);
    constant(c, "BANDS", a->bands);
    constant_real(c, "EPSILON", a->epsilon);
}

/* SLOPES: the operand that a prelu behind brought along. */
static void leaky_constants(Constants *c, const Node *node, int slopes) {
    const Value *value = constants_graph(c)->value;
    const bool learnt = node->in[slopes] >= 0;
    constant(c, "LEAKY", node->a.norm.leaky);
    constant(c, "LEARNT", learnt);
    constant(c, "SHARED",
             learnt &&
                 shape_elements(value[node->in[slopes]].shape) < shape_channels(value[node->in[X]].shape));
    constant_real(c, "SLOPE", node->a.norm.slope);
}

void constants_norm(Constants *c, const Node *node) {
    norm_constants(c, node, node->in[X]);
    constant_layout(c, "Y", node->out[0]);
    constant_layout(c, "MEAN", node->in[MEAN]);
    constant(c, "AFFINE", node->in[W] >= 0);
    leaky_constants(c, node, SLOPES);
    call_rows(c, node->out[0]);
}

void constants_norm_statistics(Constants *c, const Node *node) {
    norm_constants(c, node, node->in[X]);
    constant_layout(c, "MEAN", node->out[0]);
}

void constants_norm_wgrad(Constants *c, const Node *node) {
    norm_constants(c, node, node->in[0]);
    constant_layout(c, "DY", node->in[1]);
    constant_layout(c, "MEAN", node->in[2]);
    constant_layout(c, "SUMS", node->out[3]);
    constant(c, "AFFINE", node->in[4] >= 0);
    constant(c, "ACCUMULATE", node->accumulates);
    leaky_constants(c, node, WGRAD_SLOPES);
}

void constants_norm_dgrad(Constants *c, const Node *node) {
    norm_constants(c, node, node->in[0]);
    constant_layout(c, "DX", node->out[0]);
    constant_layout(c, "DY", node->in[1]);
    constant_layout(c, "MEAN", node->in[2]);
    constant_layout(c, "SUMS", node->in[5]);
    constant(c, "AFFINE", node->in[4] >= 0);
    leaky_constants(c, node, DGRAD_SLOPES);
    call_rows(c, node->out[0]);
}

/* Values that a channel has in a sample are known; how many samples there are is told. */
void constants_norm_track(Constants *c, const Node *node) {
    const Graph *g = constants_graph(c);
    constant(c, "C", shape_elements(g->value[node->in[0]].shape));
    constant(c, "POINTS", node->a.norm.points);
    constant(c, "GROUP", constant_group(c));
    constant(c, "SYNC", node->a.norm.sync);
    constant_real(c, "MOMENTUM", node->a.norm.momentum);
    if (node->a.norm.sync)
        call_arguments(c, "step->n", "");
}

void constants_norm_merge(Constants *c, const Node *node) {
    constant(c, "NUMBERS", shape_elements(constants_graph(c)->value[node->out[0]].shape));
    constant_layout(c, "MEANS", node->in[0]);
    constant(c, "VARIANCES", node->out[1] >= 0);
    constant(c, "GROUP", constant_group(c));
    constant(c, "RANKS", constant_training(c)->ranks);
    call_arguments(
        c, "step->team != NULL ? step->team->gather : NULL, step->team, step->first, last, step->n", "");
}

/* Weight i belongs to output channel i / INNER % CO.  Without a convolution each channel has one. */
void constants_norm_fold(Constants *c, const Node *node) {
    const Graph *g = constants_graph(c);
    const Shape w = g->value[node->out[0]].shape;
    int64_t inner = 1;
    for (int k = node->a.norm.transposed ? 2 : 1; k < w.rank; k++)
        inner *= w.dim[k];
    constant(c, "COUNT", shape_elements(w));
    constant(c, "CO", shape_elements(g->value[node->in[2]].shape));
    constant(c, "INNER", inner);
    constant(c, "AFFINE", node->in[4] >= 0);
    constant(c, "BIAS", node->in[1] >= 0);
    constant_real(c, "EPSILON", node->a.norm.epsilon);
    call_arguments(c, "", "");
}

/* ---- fusion ---- */

static ValueId folded(Fuse *f, const Node *conv, const char *what, Shape shape) {
    return value_new(fuse_graph(f),
                     (Value){.name = pool_text(fuse_graph(f)->pool, "%s %s", conv->name, what),
                             .class = CLASS_WORKSPACE,
                             .type = TYPE_F32,
                             .shape = shape,
                             .span = conv->span});
}

/* By running statistics it is a factor and a summand for each channel: a convolution in front of it takes
 * them into its weights and its bias, which `norm_fold` makes where the convolution stood. */
void fuse_batch_norm(Fuse *f, Node *norm) {
    Graph *g = fuse_graph(f);
    Node *conv = fuse_only_for_one(f, norm->in[X]);
    if (g->value[norm->in[MEAN]].class != CLASS_RUNNING_STATISTIC || conv == NULL ||
        (conv->op != OP_CONV && conv->op != OP_UPCONV && conv->op != OP_CONV_GROUPS) || conv->a.conv.relu)
        return;
    const ValueId in[] = {conv->in[1],        conv->in[2], norm->in[MEAN],
                          norm->in[VARIANCE], norm->in[W], norm->in[B]};
    const ValueId out[] = {folded(f, conv, "folded", g->value[conv->in[1]].shape),
                           folded(f, conv, "shift", g->value[norm->in[B]].shape)};
    const ValueId conv_in[] = {conv->in[0], out[0], out[1]};
    Node fold = *conv, after = *conv;
    fold.op = OP_NORM_FOLD;
    fold.a = norm->a;
    fold.a.norm.transposed = conv->op == OP_UPCONV;
    fold.nin = 6, fold.nout = 2;
    fold.in = (ValueId *)in, fold.out = (ValueId *)out;
    after.in = (ValueId *)conv_in, after.out = norm->out;
    node_replace(g, conv, fold);
    node_replace(g, norm, after);
}

bool is_normalisation(const Node *node) {
    return node->op == OP_BATCH_NORM || node->op == OP_INSTANCE_NORM || node->op == OP_GROUP_NORM;
}

const Node *norm_behind(const Graph *g, const Node *gradient) {
    const NodeId norm = g->value[gradient->in[0]].producer;
    return norm < 0 || g->node[norm].a.kind != ATTRIBUTES_NORM || !g->node[norm].a.norm.leaky
               ? NULL
               : &g->node[norm];
}

/* The gradients of a normalisation also compute the gradient of a leaky ReLU behind it: the slope follows
 * from the sign of the normalised numbers, which are made again, and so nobody keeps the output. */
void fuse_norm_dgrad(Fuse *f, Node *dgrad) {
    Graph *g = fuse_graph(f);
    const NodeId gradient = g->value[dgrad->in[1]].producer;
    const NodeId *reader;
    if (gradient < 0 ||
        (g->node[gradient].op != OP_LEAKY_RELU_GRAD && g->node[gradient].op != OP_RELU_GRAD) ||
        !fuse_fits(f, dgrad) || fuse_readers(f, dgrad->in[1], &reader) != 2)
        return;
    const Node *norm = norm_behind(g, &g->node[gradient]);
    Node *wgrad = &g->node[&g->node[reader[0]] == dgrad ? reader[1] : reader[0]];
    if (norm == NULL || (wgrad->op != OP_NORM_WGRAD && wgrad->op != OP_BATCH_NORM_WGRAD) ||
        norm->nin <= X || norm->in[X] != dgrad->in[0] || wgrad->in[0] != dgrad->in[0])
        return;
    wgrad->in[1] = dgrad->in[1] = g->node[gradient].in[1];
    wgrad->in[WGRAD_B] = dgrad->in[DGRAD_B] = norm->in[B];
    wgrad->a.norm.leaky = dgrad->a.norm.leaky = true;
    wgrad->a.norm.slope = dgrad->a.norm.slope = norm->a.norm.slope;
    fuse_drop(f, &g->node[gradient]);
}

/* A prelu behind a normalisation; where they are trained, the gradients of both. */
typedef struct {
    Node *norm, *prelu, *prelu_grad, *prelu_wgrad, *wgrad, *dgrad;
} LearntSlopes;

/* Sorts the READER[0..COUNT) of what the normalisation made; false: somebody else needs it, too. */
static bool find_readers(Graph *g, const NodeId *reader, int count, LearntSlopes *found) {
    for (int i = 0; i < count; i++) {
        Node *node = &g->node[reader[i]];
        if (node->op == OP_PRELU_GRAD)
            found->prelu_grad = node;
        else if (node->op == OP_PRELU_WGRAD)
            found->prelu_wgrad = node;
        else if (node != found->prelu)
            return false;
    }
    return true;
}

/* The two gradients of the normalisation, which alone read what the prelu leaves of dy. */
static bool find_gradients(Fuse *f, LearntSlopes *found) {
    Graph *g = fuse_graph(f);
    const NodeId *reader;
    const int count = fuse_readers(f, found->prelu_grad->out[0], &reader);
    for (int i = 0; i < count; i++) {
        Node *node = &g->node[reader[i]];
        if (node->op == OP_NORM_DGRAD)
            found->dgrad = node;
        else if (node->op == OP_NORM_WGRAD || node->op == OP_BATCH_NORM_WGRAD)
            found->wgrad = node;
    }
    return count == 2 && found->wgrad != NULL && found->dgrad != NULL && fuse_fits(f, found->dgrad);
}

static bool find_learnt_slopes(Fuse *f, Node *prelu, LearntSlopes *found) {
    Graph *g = fuse_graph(f);
    const ValueId y = prelu->in[X];
    const NodeId producer = g->value[y].producer, *reader;
    const int count = fuse_readers(f, y, &reader);
    *found = (LearntSlopes){.norm = producer < 0 ? NULL : &g->node[producer], .prelu = prelu};
    if (found->norm == NULL || !is_normalisation(found->norm) || found->norm->a.norm.leaky ||
        !find_readers(g, reader, count, found))
        return false;
    return found->prelu_grad == NULL ? found->prelu_wgrad == NULL : find_gradients(f, found);
}

/* NODE takes SLOPES as input K. */
static void take_slopes(Graph *g, Node *node, int k, ValueId slopes) {
    node_set_input(g, node, k, slopes);
    node->a.norm.leaky = true;
}

/* The gradients of the normalisation also compute the gradients of the prelu. */
static void fuse_learnt_gradients(Fuse *f, const LearntSlopes *found, ValueId slopes) {
    Graph *g = fuse_graph(f);
    Node *wgrad = found->wgrad, *dgrad = found->dgrad;
    take_slopes(g, wgrad, WGRAD_SLOPES, slopes);
    take_slopes(g, dgrad, DGRAD_SLOPES, slopes);
    wgrad->in[1] = dgrad->in[1] = found->prelu_grad->in[1];
    wgrad->in[WGRAD_B] = dgrad->in[DGRAD_B] = found->norm->in[B];
    fuse_drop(f, found->prelu_grad);
    if (found->prelu_wgrad == NULL)
        return;
    node_set_output(g, wgrad, DSLOPES, found->prelu_wgrad->out[0]);
    g->value[wgrad->out[DSLOPES]].producer = (NodeId)(wgrad - g->node);
    fuse_drop(f, found->prelu_wgrad);
}

/* A normalisation applies the prelu behind it, and nobody keeps what lies between them: its gradients
 * normalise x again, and sum for the slopes in their own bands of points. */
void fuse_prelu(Fuse *f, Node *prelu) {
    LearntSlopes found;
    if (!find_learnt_slopes(f, prelu, &found))
        return;
    take_slopes(fuse_graph(f), found.norm, SLOPES, prelu->in[1]);
    if (found.prelu_grad != NULL)
        fuse_learnt_gradients(f, &found, prelu->in[1]);
    fuse_take_over(f, found.norm, prelu);
}
