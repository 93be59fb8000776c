/* compress.c - training with `compress`: activations wait for the backward pass in codes (unet/groups.h).
 *
 *     z = relu(..)   a = conv(z)                    ...                       dw = f(z, ..)
 *     z = relu(..)   a = conv(z)   c = compress(z)  ...   z' = decompress(c)  dw = f(z', ..)
 *
 * The forward pass reads exact tensors.  A tensor goes into codes behind its last reader of the forward
 * pass, if the rows of all its readers of the backward pass say that codes will do, and of how many bits.
 * The gradient of a ReLU takes its signs from the codes.  Each other reader decodes a tensor of its own
 * right in front of it, unless the node before it has just done so.  Exact stay
 *     - tensors that some gradient needs as they are: predictions, which losses read, among them;
 *     - what the layers of the predictions read, which wait for a short while alone;
 *     - what the layers read that `except` names;
 *     - tensors of so few channels as images have.
 * A max_pool tells its gradient where the maxima were, so its input need not wait.
 *
 * The file alone decides.  So a plan computes codes again from exact tensors, and no budget changes a bit.
 *
 * Requires: the complete graph, in order.  Provides: `compress`, `decompress` and `sign_grad` nodes.
 */
#include "base/layers.h"
#include "ir/ops.h"
#include "ir/pools.h"
#include "passes/passes.h"

enum { FINE = 8, SIGN_ALONE = 2, FEW_CHANNELS = 4 };

/* How the backward pass reads a value. */
typedef struct {
    bool exact;
    int64_t bits; /* 0: no number itself */
    bool sign;
    int last;       /* the last node of the forward pass that makes or reads it */
    int64_t number; /* of the tensor among those in codes */
} Need;

typedef struct {
    const Program *program;
    Graph *g;
    int forward; /* nodes in front of the backward pass */
    Need *need;  /* per value of the graph as it was, */
    int nvalue;  /*   so many */
    ValueId *codes, *decoded;
    int *at; /* per value: the node for which it was decoded */
    int64_t number;
    NodeId *order; /* of all nodes, new ones among them */
    int count;
} Compress;

static bool makes_gradient(const Graph *g, const Node *node) {
    bool makes = false;
    for (int k = 0; k < node->nout; k++)
        makes |= node->out[k] >= 0 && (g->value[node->out[k]].class == CLASS_ACTIVATION_GRADIENT ||
                                       g->value[node->out[k]].class == CLASS_PARAMETER_GRADIENT);
    return makes;
}

static int forward_nodes(const Graph *g) {
    int i = 0;
    while (i < g->nnode && !makes_gradient(g, &g->node[i]))
        i++;
    return i;
}

static bool is_excepted(const Program *program, const Node *node) {
    const TrainSection *train = &program->model->train;
    for (int i = 0; i < train->nexact; i++)
        if (names_layer(train->exact[i].pattern, node->name))
            return true;
    return false;
}

static bool can_be_coded(const Compress *c, ValueId v) {
    const Value *value = &c->g->value[v];
    return value->class == CLASS_ACTIVATION && value->per_sample && value->type == TYPE_F32 &&
           value->shape.rank >= SIGNAL_RANK && shape_channels(value->shape) > FEW_CHANNELS &&
           value->producer >= 0 && value->producer < c->forward;
}

static void ask(Compress *c, const Node *node, const Touch *t) {
    Need *need = &c->need[t->value];
    const Codes codes = t->operand->codes;
    const int64_t asked = c->program->model->train.compress, bits = codes == CODES_FINE ? FINE : asked;
    if (codes == CODES_NEVER || !makes_gradient(c->g, node) || is_excepted(c->program, node))
        need->exact = true;
    else if (codes == CODES_SIGN)
        need->sign = true;
    else
        need->bits = bits > need->bits ? bits : need->bits;
}

/* The gradients of the layer that makes a prediction come at once, and read that layer's inputs. */
static void keep_inputs_of_predictions(Compress *c, const Node *measure) {
    for (int k = 0; k < measure->nin; k++) {
        const NodeId layer = measure->in[k] < 0 ? -1 : c->g->value[measure->in[k]].producer;
        if (layer < 0)
            continue;
        for (Touch t = node_touches(c->g, &c->g->node[layer]); touch_next(&t);)
            c->need[t.value].exact = true;
    }
}

static void find_needs(Compress *c) {
    const Graph *g = c->g;
    for (int i = 0; i < g->nnode; i++) {
        const Node *node = &g->node[i];
        if (i < c->forward && has_trait(node, TRAIT_MEASURES))
            keep_inputs_of_predictions(c, node);
        for (Touch t = node_touches(g, node); touch_next(&t);)
            if (i < c->forward)
                c->need[t.value].last = i;
            else if (t.reads && !knows_maxima(g, node))
                ask(c, node, &t);
    }
}

/* Chooses the bits of V.  The sign of a ReLU takes no number from its place; with few bits another sign
 * would move too many numbers. */
static void settle(Compress *c, ValueId v) {
    Need *need = &c->need[v];
    if (need->exact || !can_be_coded(c, v) || (need->bits == 0 && !need->sign)) {
        need->bits = 0;
        need->sign = false;
        return;
    }
    const bool zeros = makes_zeros(&c->g->node[c->g->value[v].producer]);
    if (need->bits == 0)
        need->bits = SIGN_ALONE;
    else if (need->sign && !zeros)
        need->bits = FINE;
}

static Attributes attributes_of(const Compress *c, ValueId v) {
    const Need *need = &c->need[v];
    const Node *producer = &c->g->node[c->g->value[v].producer];
    const UnetGroupSigns signs = !need->sign             ? UNET_GROUP_PLAIN
                                 : makes_zeros(producer) ? UNET_GROUP_ZEROS
                                                         : UNET_GROUP_SIGNS;
    return (Attributes){.kind = ATTRIBUTES_COMPRESS,
                        .compress = {.bits = need->bits, .signs = signs, .number = need->number}};
}

/* NODE is the next one in the new order. */
static void put(Compress *c, NodeId node) {
    PUSH(c->g->pool, c->order, c->count, node);
}

static void encode(Compress *c, ValueId v) {
    Graph *g = c->g;
    Value codes = g->value[v];
    codes.name = pool_text(g->pool, "%s codes", codes.name);
    codes.type = TYPE_U8;
    codes.shape = compressed_shape(codes.shape, c->need[v].bits);
    c->codes[v] = value_new(g, codes);
    c->need[v].number = c->number++;
    put(c, compress_new(g, &g->node[g->value[v].producer], attributes_of(c, v), v, c->codes[v]));
}

/* V as node I of the backward pass reads it. */
static ValueId as_decoded(Compress *c, int i, ValueId v) {
    if (v < 0 || v >= c->nvalue || c->codes[v] < 0)
        return v;
    if (c->decoded[v] < 0 || c->at[v] < i - 1) {
        Value value = c->g->value[v];
        value.name = pool_text(c->g->pool, "%s decoded", value.name);
        c->decoded[v] = value_new(c->g, value);
        put(c, decompress_new(c->g, &c->g->node[c->g->value[v].producer], attributes_of(c, v), c->codes[v],
                              c->decoded[v]));
    }
    c->at[v] = i;
    return c->decoded[v];
}

static ValueId operand_decoded(Compress *c, int i, ValueId v) {
    Graph *g = c->g;
    if (v < 0 || g->value[v].nsegments == 0)
        return as_decoded(c, i, v);
    const Value concat = g->value[v];
    ValueId *segment = NEW_ARRAY(g->pool, ValueId, concat.nsegments);
    bool moved = false;
    for (int p = 0; p < concat.nsegments; p++) {
        segment[p] = as_decoded(c, i, concat.segment[p]);
        moved |= segment[p] != concat.segment[p];
    }
    return moved ? value_concat_like(g, segment, concat.nsegments, concat) : v;
}

/* Does node I read the signs alone of its first input, which waits in codes? */
static bool reads_signs(const Compress *c, int i) {
    const Node *node = &c->g->node[i];
    return node->nin > 0 && c->g->operands[node->op].in[0].codes == CODES_SIGN && node->in[0] < c->nvalue &&
           c->codes[node->in[0]] >= 0;
}

static void decode_operands(Compress *c, int i) {
    Graph *g = c->g;
    if (reads_signs(c, i)) {
        const ValueId y = g->node[i].in[0];
        g->node[i] = by_signs(g, g->node[i], attributes_of(c, y), c->codes[y]);
        return;
    }
    ValueId *in = NEW_ARRAY(g->pool, ValueId, g->node[i].nin);
    for (int k = 0; k < g->node[i].nin; k++)
        in[k] = operand_decoded(c, i, g->node[i].in[k]);
    g->node[i].in = in;
}

static void encode_what_ends(Compress *c, int i) {
    for (ValueId v = 0; v < c->nvalue; v++)
        if (c->need[v].bits > 0 && c->need[v].last == i)
            encode(c, v);
}

void compress(Program *program) {
    Graph *g = program->graph;
    const int nnode = g->nnode;
    if (program->kind != PROGRAM_TRAIN || program->model->train.compress == 0)
        return;
    Compress c = {.program = program,
                  .g = g,
                  .forward = forward_nodes(g),
                  .need = NEW_ARRAY(g->pool, Need, g->nvalue),
                  .nvalue = g->nvalue,
                  .codes = NEW_ARRAY(g->pool, ValueId, g->nvalue),
                  .decoded = NEW_ARRAY(g->pool, ValueId, g->nvalue),
                  .at = NEW_ARRAY(g->pool, int, g->nvalue)};
    find_needs(&c);
    for (ValueId v = 0; v < c.nvalue; v++) {
        c.codes[v] = c.decoded[v] = -1;
        settle(&c, v);
    }
    for (int i = 0; i < nnode; i++) {
        if (i >= c.forward && !knows_maxima(g, &g->node[i]))
            decode_operands(&c, i);
        put(&c, i);
        if (i < c.forward)
            encode_what_ends(&c, i);
    }
    graph_order(g, c.order);
}
