/* target_cpu.c - the CPU: channels in blocks of 16, a stored halo of zeros, weights packed before use.
 *
 * See templates/README.md for what the kernels expect, and cpu_sizes.h for the sizes of what they need
 * beside their operands.
 */
#include "checked.h"
#include "cpu_sizes.h"
#include "ops.h"
#include "plan.h"
#include "sources.h"

enum { ALIGN = 64, BLOCK = 16, NARROW = 4 };

/* ---- layout ---- */

/* Parameters, their gradients, scratch: all numbers in a row, up to the end of the last aligned piece. */
static void lay_out_dense(const Value *value, Storage *s) {
    int64_t block = ALIGN / type_bytes(value->type);
    *s = (Storage){.block = block, .plane = block, .depth = block, .row = block};
    s->sample = size_rounded(shape_elements(value->shape), block);
    s->blocks = s->sample / block;
    s->bytes = size_product(s->sample, type_bytes(value->type));
}

static void lay_out(const Value *value, int64_t batch, Storage *s) {
    if (!value->per_sample || value->shape.rank < AXES) {
        lay_out_dense(value, s);
        s->bytes = size_rounded(size_product(s->bytes, batch), ALIGN);
        return;
    }
    int64_t channels = shape_channels(value->shape), size[AXES];
    for (int k = 0; k < AXES; k++)
        size[k] = shape_extent(value->shape, k) + s->before[k] + s->after[k];
    s->block = channels <= NARROW ? channels : BLOCK;
    s->blocks = (channels + s->block - 1) / s->block;
    s->row = size_product(size[2], s->block);
    s->depth = size_product(size[1], s->row);
    s->plane = size_product(size[0], s->depth);
    s->sample = size_rounded(size_product(s->plane, s->blocks), BLOCK);
    s->origin = s->before[0] * s->depth + s->before[1] * s->row + s->before[2] * s->block;
    s->bytes = size_rounded(size_product(size_product(s->sample, batch), type_bytes(value->type)), ALIGN);
}

/* ---- what kernels need beside their operands ----------------------------------------------------------
 */

static ValueId workspace(Graph *g, const Node *node, const char *what, Type type, int64_t elements) {
    return value_new(g, (Value){.name = pool_text(g->pool, "%s %s", node->name, what),
                                .class = CLASS_WORKSPACE,
                                .type = type,
                                .shape = {.rank = 1, .dim = {elements}},
                                .place = node->place});
}

static int64_t stored_channels(const Graph *g, ValueId v) {
    const ValueId *leaf;
    int n = value_leaves(g, &v, &leaf);
    int64_t all = 0;
    for (int p = 0; p < n; p++) {
        int64_t channels = shape_channels(g->value[leaf[p]].shape);
        all += channels <= NARROW ? channels : (channels + BLOCK - 1) / BLOCK * BLOCK;
    }
    return all;
}

static int64_t taps_of(const Node *node) {
    const int64_t *k = node->a.window.kernel;
    return size_product(size_product(k[0], k[1]), k[2]);
}

/* Puts a node in front of NODE that packs its weights (input 1): for each lane of one tensor the weights of
 * the channels of another that are summed.  X and Y are what the window joins, in the forward direction. */
static void pack_weights(Graph *g, Node *node, Op pack, ValueId x, ValueId y, Type real) {
    bool forward = pack == OP_CONV_PACK;
    int64_t elements, summed = stored_channels(g, forward ? x : y);
    if (!cpu_packed_elements(summed, shape_channels(g->value[forward ? y : x].shape), taps_of(node),
                             &elements))
        size_too_large();
    ValueId packed = workspace(g, node, "weights", real, elements), weight = node->in[1];
    Node new = {.op = pack,
                .nin = 1,
                .nout = 1,
                .a = node->a,
                .name = node->name,
                .place = node->place,
                .via = node->via};
    new.a.of_in = x;
    new.a.of_out = y;
    node_new(g, new, &weight, &packed);
    node->in[1] = packed;
}

static void add_scratch(Graph *g, Node *node, Type type, int64_t elements) {
    ValueId *out = NEW_ARRAY(g->pool, ValueId, node->nout + 1);
    for (int k = 0; k < node->nout; k++)
        out[k] = node->out[k];
    out[node->nout++] = workspace(g, node, "scratch", type, elements);
    node->out = out;
}

static int64_t rows_of(const Graph *g, ValueId v) {
    Shape s = g->value[v].shape;
    return size_product(shape_extent(s, 0), shape_extent(s, 1));
}

void cpu_none(Graph *g, Node *node, int64_t batch, const PlanOptions *options) {
    (void)g, (void)node, (void)batch, (void)options;
}

void cpu_conv(Graph *g, Node *node, int64_t batch, const PlanOptions *options) {
    (void)batch;
    if (!options->reference)
        pack_weights(g, node, OP_CONV_PACK, node->in[0], node->out[0], options->real);
}

void cpu_dgrad(Graph *g, Node *node, int64_t batch, const PlanOptions *options) {
    (void)batch;
    if (!options->reference)
        pack_weights(g, node, OP_CONV_DGRAD_PACK, node->out[0], node->in[0], options->real);
}

/* Weight gradients are summed in bands of the grid over which the window slides. */
void cpu_wgrad(Graph *g, Node *node, int64_t batch, const PlanOptions *options) {
    (void)batch;
    ValueId x = node->in[0], dy = node->in[1];
    const CpuConv conv = {.in = stored_channels(g, x),
                          .out = stored_channels(g, dy),
                          .taps = taps_of(node),
                          .rows = rows_of(g, node->op == OP_CONV_WGRAD ? dy : x)};
    int64_t elements;
    if (!cpu_wgrad_scratch_elements(&conv, &elements))
        size_too_large();
    node->a.bands = cpu_wgrad_bands(&conv);
    add_scratch(g, node, options->real, elements);
}

void cpu_loss_scale(Graph *g, Node *node, int64_t batch, const PlanOptions *options) {
    enum { NUMBERS_A_BAND = 4096, MOST_BANDS = 64 };
    (void)batch, (void)options;
    int64_t bands = gradient_numbers(g, node) / NUMBERS_A_BAND + 1;
    node->a.bands = bands < MOST_BANDS ? bands : MOST_BANDS;
    add_scratch(g, node, TYPE_F64, node->a.bands);
}

void cpu_loss(Graph *g, Node *node, int64_t batch, const PlanOptions *options) {
    (void)options;
    int64_t rows = rows_of(g, node->in[0]), elements;
    if (!cpu_loss_scratch_elements(batch, rows, &elements))
        size_too_large();
    node->a.bands = cpu_loss_bands(rows);
    add_scratch(g, node, TYPE_F64, elements);
}

/* Walks the old list of nodes and appends each, with what it needs in front, to a new one. */
static void prepare(Program *program, const PlanOptions *options) {
    Graph *g = program->graph;
    const Node *old = g->node;
    int n = g->nnode;
    g->node = NULL;
    g->nnode = 0;
    for (int i = 0; i < n; i++) {
        Node node = old[i];
        op_table[node.op].cpu(g, &node, program->micro, options);
        node_new(g, node, node.in, node.out);
    }
}

const Target target_cpu = {.name = "cpu",
                           .align = ALIGN,
                           .slice_align = ALIGN,
                           .loops_are_free = true,
                           .prepare = prepare,
                           .lay_out = lay_out,
                           .emit = emit_cpu};
