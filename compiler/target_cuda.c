/* target_cuda.c - a GPU: channels side by side, the batch brought into the arena, convolutions by cuDNN.
 *
 * See the end of templates/README.md for what the kernels expect.  Convolutions want their filters in an
 * order of their own, in the type of activations; `filter_pack` makes them from the dense parameters just
 * before they are used.  Inputs of a program are buffers like any other here: `load` stands for the copy
 * that the runtime makes before a step.
 */
#include "checked.h"
#include "cuda_convolution.h"
#include "ops.h"
#include "sources.h"

#include <string.h>

enum { ALIGN = 256, PIECE = 16, CONTROL_BYTES = 24, VALID_BYTES = 12 /* see unet/cuda.h */ };

/* ---- layout ---- */

/* Slices of regions follow each other without gaps but for whole pieces; what stands alone is aligned. */
static void lay_out_dense(const Value *value, int64_t batch, Storage *s) {
    bool slice = value->class == CLASS_PARAMETER || value->class == CLASS_PARAMETER_GRADIENT ||
                 value->class == CLASS_STATE;
    int64_t block = PIECE / type_bytes(value->type);
    *s = (Storage){.block = block, .plane = block, .depth = block, .row = block};
    s->sample = size_rounded(shape_elements(value->shape), block);
    s->blocks = s->sample / block;
    s->bytes = size_rounded(size_product(size_product(s->sample, type_bytes(value->type)), batch),
                            slice ? PIECE : ALIGN);
}

/* Images of bytes are read by bytes, so four of them are padding enough; taps are packed already. */
static int64_t channels_at_a_point(const Value *value) {
    int64_t channels = shape_channels(value->shape);
    if (value->type == TYPE_U8)
        return channels;
    return value->type == TYPE_UNORM8 ? size_rounded(channels, 4) : cuda_channels(channels, value->type);
}

static void lay_out(const Value *value, int64_t batch, Storage *s) {
    if (!value->per_sample || value->shape.rank < AXES) {
        lay_out_dense(value, batch, s);
        return;
    }
    *s = (Storage){.block = channels_at_a_point(value), .blocks = 1};
    s->row = size_product(shape_extent(value->shape, 2), s->block);
    s->depth = size_product(shape_extent(value->shape, 1), s->row);
    s->sample = s->plane = size_product(shape_extent(value->shape, 0), s->depth);
    s->bytes = size_rounded(size_product(size_product(s->sample, batch), type_bytes(value->type)), ALIGN);
}

/* ---- what kernels need beside their operands ---- */

static ValueId workspace(Graph *g, const Node *node, const char *what, Type type, int64_t elements) {
    return value_new(g, (Value){.name = pool_text(g->pool, "%s %s", node->name, what),
                                .class = CLASS_WORKSPACE,
                                .type = type,
                                .shape = {.rank = 1, .dim = {elements}},
                                .place = node->place});
}

static void add_output(Graph *g, Node *node, ValueId v) {
    ValueId *out = NEW_ARRAY(g->pool, ValueId, node->nout + 1);
    memcpy(out, node->out, (size_t)node->nout * sizeof *out);
    out[node->nout++] = v;
    node->out = out;
}

/* What all of a node's convolutions ask of cuDNN's workspace; they run one after the other. */
static void add_workspace(Graph *g, Node *node, int64_t batch, const PlanOptions *options) {
    int count;
    int64_t bytes = PIECE;
    const UnetConvolution *c = cuda_convolutions(g, node, batch, options, &count);
    for (int i = 0; i < count; i++)
        bytes = c[i].engine.workspace > bytes ? c[i].engine.workspace : bytes;
    add_output(g, node, workspace(g, node, "workspace", TYPE_U8, bytes));
}

/* Puts a node in front of NODE that packs its filters (input WEIGHT), and with them the bias that cuDNN
 * adds. */
static void pack_filters(Graph *g, Node *node, int weight, ValueId bias, ValueId x, ValueId y,
                         const PlanOptions *options) {
    Node pack = *node;
    pack.op = OP_FILTER_PACK;
    pack.nin = 2;
    pack.nout = 1;
    pack.a.of = node->op;
    pack.a.of_in = x;
    pack.a.of_out = y;
    int64_t elements = cuda_filters(g, &pack, options->stored).elements;
    if (bias >= 0)
        elements += cuda_channels(shape_elements(g->value[bias].shape), options->stored);
    const ValueId in[2] = {node->in[weight], bias};
    ValueId packed = workspace(g, node, "filters", options->stored, elements);
    node_new(g, pack, in, &packed);
    node->in[weight] = packed;
}

void cuda_none(Graph *g, Node *node, int64_t batch, const PlanOptions *options) {
    (void)g, (void)node, (void)batch, (void)options;
}

void cuda_conv(Graph *g, Node *node, int64_t batch, const PlanOptions *options) {
    pack_filters(g, node, 1, node->op == OP_CONV ? node->in[2] : -1, node->in[0], node->out[0], options);
    add_workspace(g, node, batch, options);
}

/* Backward data wants filters as the forward pass packed them; if it did, they are read again.  (What does
 * not fit is packed again when schedules are searched, like anything else that is computed.) */
static bool use_packed(Graph *g, Node *node, const PlanOptions *options) {
    const CudaFilter wanted = cuda_filters(g, node, options->stored).segment[0];
    for (int i = g->nnode - 1; i >= 0; i--) {
        const Node *pack = &g->node[i];
        if (pack->op != OP_FILTER_PACK || pack->in[0] != node->in[1])
            continue;
        const CudaFilters packed = cuda_filters(g, pack, options->stored);
        for (int s = 0; s < packed.nsegment; s++) {
            const CudaFilter *have = &packed.segment[s];
            if (have->k0 != wanted.k0 || have->kn != wanted.kn || have->c0 != wanted.c0 ||
                have->cn != wanted.cn)
                continue;
            node->a.packed_at = have->offset;
            node->in[1] = pack->out[0];
            return true;
        }
    }
    return false;
}

void cuda_dgrad(Graph *g, Node *node, int64_t batch, const PlanOptions *options) {
    if (!use_packed(g, node, options))
        pack_filters(g, node, 1, -1, node->out[0], node->in[0], options);
    add_workspace(g, node, batch, options);
}

void cuda_wgrad(Graph *g, Node *node, int64_t batch, const PlanOptions *options) {
    CudaScratch scratch = cuda_wgrad_scratch(g, node, batch, options);
    node->a.bands = scratch.bands;
    add_output(g, node, workspace(g, node, "scratch", TYPE_F32, size_rounded(scratch.bytes, PIECE) / 4));
}

/* ---- pools ---- */

/* Of a number that tells the taps of a window apart, such that a byte holds whole ones; 0: there are too
 * many. */
static int tap_bits(const Window *w) {
    int64_t taps = size_product(size_product(w->kernel[0], w->kernel[1]), w->kernel[2]);
    return taps <= 4 ? 2 : taps <= 16 ? 4 : taps <= 256 ? 8 : 0;
}

static bool same_window(const Window *a, const Window *b) {
    bool same = true;
    for (int k = 0; k < AXES; k++)
        same = same && a->kernel[k] == b->kernel[k] && a->stride[k] == b->stride[k] &&
               a->before[k] == b->before[k] && a->after[k] == b->after[k];
    return same;
}

/* The pool whose gradient NODE computes. */
static NodeId pool_of(const Graph *g, const Node *node) {
    NodeId id = g->nnode - 1;
    while (id >= 0 && (g->node[id].op != OP_MAX_POOL || g->node[id].in[0] != node->in[0] ||
                       !same_window(&g->node[id].a.window, &node->a.window)))
        id--;
    CHECK(id >= 0);
    return id;
}

/* The numbers of the taps at which POOL finds its maxima, an output of it. */
static ValueId kept_taps(Graph *g, NodeId pool, int bits) {
    Node *node = &g->node[pool];
    if (node->out[1] >= 0)
        return node->out[1];
    Value taps = g->value[node->out[0]];
    taps.name = pool_text(g->pool, "%s taps", taps.name);
    taps.shape.dim[0] = size_product(cuda_channels(shape_channels(taps.shape), taps.type), bits) / 8;
    taps.type = TYPE_U8;
    node->a.tap_bits = bits;
    node->out[1] = value_new(g, taps);
    g->value[node->out[1]].producer = pool;
    return node->out[1];
}

/* The taps, if a gradient will ask for them. */
void cuda_pool(Graph *g, Node *node, int64_t batch, const PlanOptions *options) {
    (void)batch, (void)options;
    add_output(g, node, -1);
}

/* By the numbers of taps, a few bits for each window, x need not be kept: where a maximum passes a ReLU, so
 * does the y that was pooled from it.  Only where another gradient is added and then masked, all of x is
 * read anyway. */
void cuda_pool_grad(Graph *g, Node *node, int64_t batch, const PlanOptions *options) {
    (void)batch, (void)options;
    ValueId in[5] = {node->in[0], node->in[1], node->in[2], -1, -1};
    int bits = tap_bits(&node->a.window);
    if (bits > 0 && !(node->a.accumulate && node->a.mask)) {
        NodeId pool = pool_of(g, node);
        in[0] = -1;
        in[3] = node->a.mask ? g->node[pool].out[0] : -1;
        in[4] = kept_taps(g, pool, bits);
        node->a.tap_bits = bits;
    }
    node->nin = 5;
    node->in = NEW_ARRAY(g->pool, ValueId, node->nin);
    memcpy(node->in, in, sizeof in);
}

/* ---- reductions ---- */

/* One partial sum for each band of a sample's points. */
void cuda_loss(Graph *g, Node *node, int64_t batch, const PlanOptions *options) {
    enum { POINTS_A_BAND = 4096, MOST_BANDS = 64 };
    (void)options;
    int64_t points = 1;
    for (int k = 0; k < AXES; k++)
        points = size_product(points, shape_extent(g->value[node->in[0]].shape, k));
    node->a.bands = points / POINTS_A_BAND + 1 < MOST_BANDS ? points / POINTS_A_BAND + 1 : MOST_BANDS;
    add_output(g, node, workspace(g, node, "scratch", TYPE_F64, size_product(batch, node->a.bands)));
}

/* Blocks that look at the gradients: no more than four for each of 132 processors. */
void cuda_loss_scale(Graph *g, Node *node, int64_t batch, const PlanOptions *options) {
    enum { NUMBERS_A_BAND = 4096, MOST_BANDS = 528 };
    (void)batch, (void)options;
    int64_t bands = gradient_numbers(g, node) / NUMBERS_A_BAND + 1;
    node->a.bands = bands < MOST_BANDS ? bands : MOST_BANDS;
    add_output(g, node, workspace(g, node, "scratch", TYPE_F64, node->a.bands));
}

/* ---- inputs ---- */

static bool is_read(const Graph *g, const Node *node, int nnode, ValueId v) {
    for (int i = 0; i < nnode; i++)
        for (int k = 0; k < node[i].nin; k++) {
            const ValueId *leaf;
            int n = value_leaves(g, &node[i].in[k], &leaf);
            for (int p = 0; p < n; p++)
                if (leaf[p] == v)
                    return true;
        }
    return false;
}

static void load(Graph *g, ValueId v) {
    node_new(g, (Node){.op = OP_LOAD, .nout = 1, .name = g->value[v].name, .place = g->value[v].place},
             NULL, &v);
}

static void load_inputs(Program *program, const Node *node, int nnode) {
    Graph *g = program->graph;
    program->control = value_new(
        g,
        (Value){
            .name = "control", .class = CLASS_STAGING, .type = TYPE_U8, .input = -1, .shape = {.rank = 1}});
    g->value[program->control].shape.dim[0] =
        CONTROL_BYTES + size_product(VALID_BYTES, size_product(turns_of(program), program->micro));
    load(g, program->control);
    for (int i = 0; i < program->model->ninput; i++)
        if (is_read(g, node, nnode, program->model->input[i].value))
            load(g, program->model->input[i].value);
}

/* What a step is told is there as long as the step runs. */
static void keep_control(const Program *program, Node *node) {
    ValueId *in = NEW_ARRAY(program->graph->pool, ValueId, node->nin + 1);
    memcpy(in, node->in, (size_t)node->nin * sizeof *in);
    in[node->nin++] = program->control;
    node->in = in;
}

/* Walks the old list of nodes and appends each, with what it needs in front, to a new one. */
static void prepare(Program *program, const PlanOptions *options) {
    Graph *g = program->graph;
    const Node *old = g->node;
    int n = g->nnode;
    g->node = NULL;
    g->nnode = 0;
    load_inputs(program, old, n);
    for (int i = 0; i < n; i++) {
        Node node = old[i];
        if (node.op == OP_RETURN)
            keep_control(program, &node);
        op_table[node.op].cuda(g, &node, program->micro, options);
        node_new(g, node, node.in, node.out);
    }
}

const Target target_cuda = {.name = "cuda",
                            .align = ALIGN,
                            .slice_align = PIECE,
                            .context = INT64_C(700) << 20, /* an estimate, until it is measured */
                            .stages = true,
                            .prepare = prepare,
                            .lay_out = lay_out,
                            .emit = emit_cuda};
