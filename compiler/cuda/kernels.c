/* kernels.c - a GPU's column of the operator table: what its kernels need beside their operands.
 *
 * Convolutions want their filters in an order of their own, in the type of activations; `filter_pack` makes
 * them from the dense parameters.  Inputs of a program are buffers like any other
 * here: `load` stands for the copy that the runtime makes before a step.
 */
#include "cuda/kernels.h"
#include "base/diag.h"
#include "base/size_math.h"
#include "cuda/cells.h"
#include "cuda/convolution.h"
#include "ir/labels.h"
#include "ir/ops.h"
#include "ir/pools.h"
#include "unet/control.h"

enum { PACKED = 4 }; /* output of a gradient by weights: as cuDNN leaves it */
enum { PIECE = 16 };

_Static_assert((int)MOST_LABEL_COUNTS == (int)UNET_CONTROL_LABELS,
               "the control block has room for all label counts");

/* ---- convolutions ---- */

/* Chooses engines; all of the node's convolutions share one workspace, for they run one after the other.
 * TEMPLATE computes bands of rows. */
static CudaChosen *choose(Program *program, Node *node, const char *template) {
    CudaChosen *chosen = NEW(program->graph->pool, CudaChosen);
    chosen->filters = cuda_filters(program->graph, node, program->options->stored);
    cuda_convolutions(program, node, chosen);
    node->chosen = chosen;
    node->whole_rows = chosen->parts.rows == 0;
    if (!node->whole_rows)
        node->template = template;
    if (!node->whole_rows && chosen->convolution[0].kind == UNET_BACKWARD_DATA)
        node->tile_rows = node->a.conv.window.stride[1];
    return chosen;
}

static void add_space(Graph *g, Node *node, const char *what, int64_t bytes) {
    node_add_output(g, node, workspace_new(g, node, what, TYPE_F32, size_rounded(bytes, PIECE) / 4));
}

static void add_workspace(Program *program, Node *node, const char *template) {
    Graph *g = program->graph;
    CudaChosen *chosen = choose(program, node, template);
    const int64_t bytes = cuda_place_parts(program, node, chosen, cuda_workspace(chosen));
    node_add_output(g, node, workspace_new(g, node, "workspace", TYPE_U8, bytes));
}

/* Puts a node in front of NODE that packs its filters (input 1), and with them the bias that cuDNN adds. */
static void pack_filters(Program *program, Node *node, ValueId bias, ValueId x, ValueId y) {
    Graph *g = program->graph;
    const Type stored = program->options->stored;
    Node pack = *node;
    pack.op = OP_FILTER_PACK;
    pack.nin = 2;
    pack.nout = 1;
    pack.a.conv.relu = pack.a.conv.mask = false;
    pack.a.conv.pack_for = node->op;
    pack.a.conv.pack_x = x;
    pack.a.conv.pack_y = y;
    CudaChosen *chosen = NEW(g->pool, CudaChosen);
    chosen->filters = cuda_filters(g, &pack, stored);
    pack.chosen = chosen;
    int64_t elements = chosen->filters.elements;
    if (bias >= 0)
        elements = size_sum(elements, cuda_channels(shape_elements(g->value[bias].shape), stored));
    const ValueId in[2] = {node->in[1], bias};
    ValueId packed = workspace_new(g, node, "filters", stored, elements);
    node_new(g, pack, in, &packed);
    node_set_input(g, node, 1, packed);
}

static void prepare_conv(Program *program, Node *node) {
    pack_filters(program, node, node->in[2], node->in[0], node->out[0]);
    add_workspace(program, node, "conv_rows");
}

/* By a kernel of ours, which needs no workspace, and computes bands of whole rows of cells. */
static void prepare_cells(Program *program, Node *node) {
    CudaChosen *chosen = NEW(program->graph->pool, CudaChosen);
    chosen->filters = cuda_filters(program->graph, node, program->options->stored);
    node->chosen = chosen;
    node->template = "upconv_cells";
    node->tile_rows = node->a.conv.window.stride[1];
    node_add_output(program->graph, node, -1);
}

static void prepare_upconv(Program *program, Node *node) {
    pack_filters(program, node, -1, node->in[0], node->out[0]);
    if (cuda_makes_cells(program, node))
        prepare_cells(program, node);
    else
        add_workspace(program, node, "conv_rows");
}

/* Backward data wants filters as the forward pass packed them; if it did, they are read again.  (What does
 * not fit is packed again when schedules are searched, like anything else that is computed.) */
static bool use_packed(Program *program, Node *node) {
    Graph *g = program->graph;
    const CudaFilter wanted = cuda_filters(g, node, program->options->stored).segment[0];
    for (int i = g->nnode - 1; i >= 0; i--) {
        const Node *pack = &g->node[i];
        if (pack->op != OP_FILTER_PACK || pack->in[0] != node->in[1])
            continue;
        const CudaFilters *packed = &((const CudaChosen *)pack->chosen)->filters;
        for (int s = 0; s < packed->nsegment; s++) {
            const CudaFilter *have = &packed->segment[s];
            if (have->k0 != wanted.k0 || have->kn != wanted.kn || have->c0 != wanted.c0 ||
                have->cn != wanted.cn)
                continue;
            node->a.conv.packed_begin = have->offset;
            node_set_input(g, node, 1, pack->out[0]);
            return true;
        }
    }
    return false;
}

static void prepare_dgrad(Program *program, Node *node) {
    if (!node->a.conv.adds)
        node_add_input(program->graph, node, -1);
    if (!use_packed(program, node))
        pack_filters(program, node, -1, node->out[0], node->in[0]);
    add_workspace(program, node, "conv_dgrad_rows");
    if (node->whole_rows)
        node_add_output(program->graph, node, -1); /* room for sums, should a bias ask for them */
}

/* A convolution adds its result to another gradient. */
static bool adds_gradient(const Program *program, const Node *node) {
    (void)program, (void)node;
    return true;
}

/* If NODE, which computes a gradient, can leave sums of it over bands of its points: the number of the
 * output, and the place of the number of bands; NULL: it cannot.  If all samples are merged on the way,
 * sums of some of them may be gone when they are asked for. */
static int64_t *bands_of_sums(const Program *program, Node *node, int *output) {
    const bool masks = (node->op == OP_CONV_DGRAD || node->op == OP_UPCONV_DGRAD) && node->a.conv.mask;
    const bool whole = !has_bands(program) && node->head == 0;
    const bool pools =
        node->op == OP_MAX_POOL_GRAD && whole && has_cells(program->graph, node, node->out[0], node->in[1]);
    const bool compares = op_table[node->op].attributes == ATTRIBUTES_LOSS && node->nout > 1 && whole;
    *output = pools || compares ? 1 : 2;
    return merging_node(program->graph) != NULL ? NULL
           : pools                              ? &node->a.pool.sum_bands
           : compares                           ? &node->a.loss.bands
           : masks && node->whole_rows          ? &node->a.conv.bands
                                                : NULL;
}

/* Sums of dy over bands of its points, for the bias of NODE: whoever passes all over dy adds them up on the
 * way; -1: it is nobody. */
static ValueId sums_for_bias(const Program *program, const Node *node) {
    Graph *g = program->graph;
    const ValueId dy = node->in[1];
    const NodeId producer = node->out[1] >= 0 && node->whole_rows ? g->value[dy].producer : -1;
    int output;
    int64_t *bands = producer < 0 ? NULL : bands_of_sums(program, &g->node[producer], &output);
    if (bands == NULL)
        return -1;
    ValueId *sums = &g->node[producer].out[output];
    if (*sums >= 0)
        return *sums;
    const int64_t channels = cuda_channels(shape_channels(g->value[dy].shape), program->options->stored);
    *bands = node->a.conv.bands;
    *sums = workspace_new(g, node, "sums for bias", TYPE_F32, size_product(*bands, channels));
    g->value[*sums].producer = producer;
    return *sums;
}

static void prepare_wgrad(Program *program, Node *node) {
    Graph *g = program->graph;
    CudaChosen *chosen = choose(program, node, "conv_wgrad_rows");
    node->a.conv.bands = cuda_bias_bands(program, node, chosen);
    if (!node->whole_rows) {
        chosen->scratch = cuda_wgrad_scratch(program, node, chosen);
        add_space(g, node, "scratch", chosen->scratch.bytes);
        return;
    }
    add_space(g, node, "scratch", cuda_workspace(chosen));
    node_add_output(g, node, -1);
    const bool sums = node->out[1] >= 0 && sums_for_bias(program, node) < 0;
    chosen->scratch = cuda_wgrad_packed(program, node, chosen, sums);
    add_space(g, node, "packed gradient", chosen->scratch.bytes);
}

/* filter_unpack makes the gradients: it reads the numbers that cuDNN left packed, and the sums for the
 * bias. */
static void finish_wgrad(Program *program, NodeId wgrad) {
    Graph *g = program->graph;
    Node *node = &g->node[wgrad];
    if (!node->whole_rows)
        return;
    const ValueId summed = sums_for_bias(program, node), in[2] = {node->out[PACKED], summed};
    Node unpack = {.op = OP_FILTER_UNPACK,
                   .nin = 2,
                   .a = node->a,
                   .name = node->name,
                   .span = node->span,
                   .via = node->via};
    CudaChosen *chosen = NEW(g->pool, CudaChosen);
    *chosen = *(const CudaChosen *)node->chosen;
    chosen->count = 0;
    unpack.chosen = chosen;
    unpack.a.conv.pack_x = node->in[0];
    unpack.a.conv.pack_y = node->in[1];
    unpack.a.conv.pack_for = node->op;
    node_add_output(g, &unpack, node->out[0]);
    node_add_output(g, &unpack, node->out[1]);
    if (node->out[1] < 0 || summed >= 0)
        node->a.conv.bands = 0; /* it sums nothing */
    node->out[0] = node->out[1] = -1;
    node_new(g, unpack, in, unpack.out);
}

/* ---- pools ---- */

/* Bits of a number that tells the taps of a window apart, such that a byte holds whole ones; 0: there are
 * too many. */
static int argmax_bits(const Window *w) {
    const int64_t taps = window_taps(w);
    return taps <= 4 ? 2 : taps <= 16 ? 4 : taps <= 256 ? 8 : 0;
}

/* So many bits for each stored channel, packed into whole bytes. */
static ValueId keep_bits(Graph *g, NodeId pool, int bits) {
    const Value *y = &g->value[g->node[pool].out[0]];
    return keep_argmax(g, pool, size_product(cuda_channels(shape_channels(y->shape), y->type), bits) / 8,
                       bits);
}

/* Room for the argmax, should a gradient ask for it. */
static void prepare_pool(Program *program, Node *node) {
    node_add_output(program->graph, node, -1);
}

/* Is what NODE adds masked by x, too? */
static bool masks_all(const Node *node) {
    return node->a.pool.adds && node->a.pool.mask;
}

/* How much POOL keeps for its gradient NODE; 0: nothing. */
static int bits_for(const Program *program, const Node *node, const Node *pool) {
    const bool marks = has_bands(program) && has_cells(program->graph, node, pool->in[0], pool->out[0]);
    const int bits = !masks_all(node) ? argmax_bits(&node->a.pool.window) : marks ? MARK_BITS : 0;
    const int64_t kept = pool->a.pool.argmax_bits;
    return kept == 0 || kept == bits ? bits : 0;
}

/* By the argmax, a few bits for each window, x need not be kept: if a maximum passes a ReLU, the y that was
 * pooled from the maximum passes it, too.  If another gradient is added and then masked, this takes all of
 * x, or, in bands of rows, if x would stay long, a bit for each of its points. */
static void prepare_pool_grad(Program *program, Node *node) {
    Graph *g = program->graph;
    const NodeId pool = pool_of(g, node); /* -1: this x was made again, for the gradient alone */
    const int bits = pool < 0 ? 0 : bits_for(program, node, &g->node[pool]);
    ValueId y = -1, argmax = -1;
    if (bits > 0) {
        argmax = keep_bits(g, pool, bits);
        y = node->a.pool.mask && !masks_all(node) ? g->node[pool].out[0] : -1;
        node->a.pool.argmax_bits = bits;
        node_set_input(g, node, 0, -1);
    }
    node_add_input(g, node, y);
    node_add_input(g, node, argmax);
    node_add_output(g, node, -1); /* room for sums, should a bias ask for them */
}

/* The same argmax, in place of what was pooled; -1: it was not, or its windows are too large. */
static ValueId argmax_instead(Graph *g, Node *node) {
    const int bits = argmax_bits(&node->a.pool.window);
    const NodeId pool = pool_of(g, node);
    if (bits == 0 || pool < 0)
        return -1;
    const ValueId argmax = keep_bits(g, pool, bits);
    node->a.pool.argmax_bits = bits;
    node_set_input(g, node, 0, -1);
    return argmax;
}

static void prepare_unpool(Program *program, Node *node) {
    const ValueId argmax = argmax_instead(program->graph, node);
    node_add_input(program->graph, node, -1);
    node_add_input(program->graph, node, argmax);
    node_add_output(program->graph, node, -1);
}

static void prepare_unpool_grad(Program *program, Node *node) {
    node_add_input(program->graph, node, argmax_instead(program->graph, node));
}

/* ---- reductions ---- */

static int64_t min_bands(int64_t elements, int64_t per_band, int64_t max) {
    const int64_t bands = elements / per_band + 1;
    return bands < max ? bands : max;
}

/* Room for sums over bands of its points, should a bias ask for them. */
static void prepare_slopes(Program *program, Node *node) {
    node_add_output(program->graph, node, -1);
}

/* A partial sum for each band of each sample. */
static void add_sums(const Program *program, Node *node) {
    Graph *g = program->graph;
    node_add_output(g, node,
                    workspace_new(g, node, "scratch", TYPE_F64,
                                  size_product(program->micro_batch, node->a.loss.bands)));
}

/* In a loop over bands of rows each row is one, else there are some for the points of a sample. */
static void prepare_loss(Program *program, Node *node) {
    enum { POINTS_PER_BAND = 4096, MAX_BANDS = 64 };
    const Shape shape = program->graph->value[node->in[0]].shape;
    const bool by_rows = has_bands(program) || node->head > 0;
    node->whole_rows = !by_rows;
    node->a.loss.bands = by_rows ? shape_rows(shape)
                                 : min_bands(size_product(shape_rows(shape), shape_extent(shape, 2)),
                                             POINTS_PER_BAND, MAX_BANDS);
    add_sums(program, node);
}

/* Each row is a band. */
static void prepare_ssim(Program *program, Node *node) {
    node->a.loss.bands = shape_rows(program->graph->value[node->in[0]].shape);
    add_sums(program, node);
}

/* Into how many bands the points of a sample of X are split, where blocks sum over them for each channel.
 * The block of a band has THREADS, side by side for up to WARP vectors of channels, and each has LEAST
 * points or more (templates/cuda/moments.cuh); more bands than MOST blocks need are of no use. */
enum { LEAST = 8, THREADS = 256, WARP = 32, MOST = 512 };
static int64_t bands_of_points(const Program *program, Shape x, int64_t channels) {
    const int64_t columns = size_product(channels, type_bytes(program->options->stored)) / 16,
                  width = columns < WARP ? columns : WARP;
    return min_bands(size_product(shape_rows(x), shape_extent(x, 2)), LEAST * (THREADS / width),
                     iterations(MOST * width, columns));
}

/* The same where a block sums over all channels, too. */
static int64_t bands_of_vectors(const Program *program, Shape x, int64_t channels) {
    const int64_t columns = size_product(channels, type_bytes(program->options->stored)) / 16,
                  points = size_product(shape_rows(x), shape_extent(x, 2));
    return min_bands(size_product(points, columns), LEAST * THREADS, MOST);
}

/* Channels of X as they are stored. */
static int64_t stored_channels(const Program *program, Shape x) {
    return cuda_channels(shape_channels(x), program->options->stored);
}

/* The scratch of sums over bands, NUMBERS for each channel of each band of each sample. */
static ValueId sums_of_bands(Program *program, Node *node, int64_t numbers, int64_t channels,
                             int64_t bands) {
    const int64_t each = size_product(size_product(numbers, channels), bands);
    return workspace_new(program->graph, node, "scratch", TYPE_F64,
                         size_product(program->micro_batch, each));
}

enum { MOMENTS = 2 }; /* numbers of a channel: mean and squares, or the sums of dy and of products with x */

static void prepare_norm(Program *program, Node *node) {
    const Shape x = program->graph->value[node->in[0]].shape;
    const int64_t channels = stored_channels(program, x);
    node->a.norm.bands = bands_of_points(program, x, channels);
    node_set_output(program->graph, node, 2,
                    sums_of_bands(program, node, norm_numbers(node), channels, node->a.norm.bands));
}

/* Gradients of a normalisation take the gradient of a ReLU behind it, leaky or not. */
static bool takes_slope(const Program *program, const Node *node) {
    (void)program, (void)node;
    return true;
}

/* One factor of all channels takes one number of each band. */
static void prepare_scale_wgrad(Program *program, Node *node) {
    const Value *value = program->graph->value;
    const Shape x = value[node->in[0]].shape;
    const int64_t channels = stored_channels(program, x);
    const ValueId dw = node->out[0];
    const bool shared = dw >= 0 && shape_elements(value[dw].shape) < shape_channels(x);
    node->a.reduction.bands =
        shared ? bands_of_vectors(program, x, channels) : bands_of_points(program, x, channels);
    node_set_output(
        program->graph, node, 2,
        sums_of_bands(program, node, shared ? 1 : MOMENTS, shared ? 1 : channels, node->a.reduction.bands));
}

static void prepare_factor_grad(Program *program, Node *node) {
    const Shape dy = program->graph->value[node->in[0]].shape;
    const int64_t channels = stored_channels(program, dy);
    node->a.reduction.bands = bands_of_points(program, dy, channels);
    node_set_output(program->graph, node, 1,
                    sums_of_bands(program, node, MOMENTS, channels, node->a.reduction.bands));
}

/* A channel that is convolved by itself has a number for each tap, and one for the bias.  Other groups have
 * no bands. */
static void prepare_groups_wgrad(Program *program, Node *node) {
    const Shape x = program->graph->value[node->in[0]].shape, dy = program->graph->value[node->in[1]].shape;
    const int64_t channels = stored_channels(program, dy), numbers = window_taps(&node->a.conv.window) + 1;
    const bool depthwise =
        shape_channels(x) == shape_channels(dy) && node->a.conv.groups == shape_channels(x);
    node->a.conv.bands = depthwise ? bands_of_points(program, dy, channels) : 0;
    if (depthwise)
        node_set_output(program->graph, node, 2,
                        sums_of_bands(program, node, numbers, channels, node->a.conv.bands));
}

/* A sum for each head and query; of each head a sum for each band and number of the bias. */
static void prepare_attention_grad(Program *program, Node *node) {
    enum { SCRATCH = 4, BIAS = 6, MOST_BANDS = 16, TILE = 32 /* of attentions.cuh */ };
    Graph *g = program->graph;
    const Shape q = g->value[node->in[0]].shape;
    const ValueId bias = node->in[BIAS];
    const int64_t points = shape_elements(q) / shape_channels(q),
                  queries = attention_window_points(node, q), heads = node->a.attention.heads,
                  tiles = size_product(points / queries, size_rounded(queries, TILE) / TILE);
    node->a.attention.bands = node->a.attention.pairs > 0 ? 1 : tiles < MOST_BANDS ? tiles : MOST_BANDS;
    const int64_t by_bias =
        bias < 0 ? 0 : size_product(shape_elements(g->value[bias].shape), node->a.attention.bands);
    node_set_output(
        g, node, SCRATCH,
        workspace_new(g, node, "scratch", TYPE_F32,
                      size_product(program->micro_batch, size_sum(size_product(heads, points), by_bias))));
}

/* See templates/cuda/vocabulary_loss.cu and its gradient: a list of points, and numbers of each. */
static void prepare_vocabulary(Program *program, Node *node) {
    enum { OF_FORWARD = 2, OF_GRADIENT = 3, GROUPS = 16, HALF = 2 };
    const bool gradient = node->op == OP_VOCABULARY_LOSS_GRAD;
    const Shape x = program->graph->value[node->in[0]].shape;
    const int64_t channels = shape_channels(x),
                  points = size_product(program->micro_batch, shape_elements(x) / channels),
                  list = size_sum(1, points),
                  numbers = size_sum(1, size_product(points, gradient ? channels : 2 * GROUPS + 1)) / HALF,
                  terms = gradient ? 0 : points;
    node_set_output(
        program->graph, node, gradient ? OF_GRADIENT : OF_FORWARD,
        workspace_new(program->graph, node, "scratch", TYPE_F64, size_sum(size_sum(terms, list), numbers)));
}

/* Each head has a table for each band and two more, with a number for each row and each column beside it.
 * The tables of all bands take a quarter of the bytes of q. */
static void prepare_channel_attention(Program *program, Node *node) {
    enum { OF_FORWARD = 2, OF_GRADIENT = 4, BAND_POINTS = 256, MOST_BANDS = 64, PART = 4, TABLES = 2 };
    Graph *g = program->graph;
    const Shape q = g->value[node->in[0]].shape,
                summed = g->value[node->in[node->op == OP_CHANNEL_ATTENTION ? 0 : 2]].shape;
    const int64_t heads = node->a.attention.heads, of_q = shape_channels(q) / heads,
                  of_k = shape_channels(g->value[node->in[1]].shape) / heads,
                  points = shape_elements(summed) / shape_channels(summed),
                  table = size_sum(size_product(of_q, of_k), size_sum(of_q, of_k));
    const int64_t by_points = min_bands(points, BAND_POINTS, MOST_BANDS),
                  by_memory = size_product(points, of_q) / PART / table;
    node->a.attention.bands = by_memory < 1 ? 1 : by_memory < by_points ? by_memory : by_points;
    const int64_t tables =
        size_product(size_product(program->micro_batch, heads), node->a.attention.bands + TABLES);
    node_set_output(g, node, node->op == OP_CHANNEL_ATTENTION ? OF_FORWARD : OF_GRADIENT,
                    workspace_new(g, node, "scratch", TYPE_F32, size_product(tables, table)));
}

/* Blocks that look at the gradients: no more than four for each of 132 SMs. */
static void prepare_reduction(Program *program, Node *node) {
    enum { ELEMENTS_PER_BAND = 4096, MAX_BANDS = 528 };
    Graph *g = program->graph;
    node->a.reduction.bands = min_bands(gradient_elements(g, node), ELEMENTS_PER_BAND, MAX_BANDS);
    node_add_output(g, node, workspace_new(g, node, "scratch", TYPE_F64, node->a.reduction.bands));
}

/* `Sorting` of templates/cuda/labels.cuh, in doubles: the losses of so many parts, three sums, and, in 32
 * bits each, how many errors of a part have which digit, and its points of the class.  Then two doubles for
 * each point, of two errors and two numbers. */
static void prepare_lovasz(Program *program, Node *node) {
    enum { PARTS = 2048, DIGITS = 16, SORTING = PARTS + 3 + (DIGITS + 1) * PARTS / 2, OF_POINT = 2 };
    Graph *g = program->graph;
    const Shape shape = g->value[node->in[1]].shape;
    const int64_t points = size_product(program->micro_batch, shape_elements(shape));
    node_add_output(g, node,
                    workspace_new(g, node, "scratch", TYPE_F64, work_sum(SORTING, OF_POINT, points)));
}

/* Three sums of each class for each row of a sample, for the gradient reads their sums, which loops over
 * bands do not change; of a volume, which stands in no such loop, for each band of its points. */
static void prepare_overlap(Program *program, Node *node) {
    enum { POINTS_PER_BAND = 4096, MAX_BANDS = 64 };
    Graph *g = program->graph;
    const Shape shape = g->value[node->in[0]].shape;
    node->whole_rows = shape.rank > AXES;
    node->a.loss.bands = !node->whole_rows
                             ? shape_rows(shape)
                             : min_bands(size_product(shape_rows(shape), shape_extent(shape, 2)),
                                         POINTS_PER_BAND, MAX_BANDS);
    node_add_output(g, node,
                    workspace_new(g, node, "scratch", TYPE_F64,
                                  size_product(size_product(program->micro_batch, node->a.loss.bands),
                                               shape_elements(g->value[node->out[1]].shape))));
}

/* How many terms have which digit, where the selection stands, and two sums of each part of the points. */
static void prepare_ohem(Program *program, Node *node) {
    enum { POINTS_PER_BAND = 4096, MAX_BANDS = 64, SELECTION = 256 + 4, SUMS = 2 };
    Graph *g = program->graph;
    const Shape shape = g->value[node->in[0]].shape;
    node->a.loss.bands =
        min_bands(size_product(shape_rows(shape), shape_extent(shape, 2)), POINTS_PER_BAND, MAX_BANDS);
    node_add_output(g, node,
                    workspace_new(g, node, "scratch", TYPE_F64, SELECTION + SUMS * node->a.loss.bands));
}

/* ---- inputs ---- */

void cuda_begin(Program *program, const Node *node, int nnode) {
    Graph *g = program->graph;
    const int64_t samples = size_product(iterations_of(program), program->micro_batch);
    program->control = value_new(
        g,
        (Value){.name = "control",
                .class = CLASS_STAGING,
                .type = TYPE_U8,
                .input = -1,
                .shape = {.rank = 1, .dim = {work_sum(sizeof(UnetControl), samples, sizeof(UnetValid))}}});
    load_value(g, program->control);
    load_inputs(g, node, nnode);
    for (int i = 0; i < g->nnode; i++) /* copies bring whole samples */
        g->node[i].whole_rows = true;
}

/* The control block of a step is there as long as the step runs. */
static void prepare_return(Program *program, Node *node) {
    node_add_input(program->graph, node, program->control);
}

const KernelRow cuda_kernels[OPS] = {
    [OP_CONV] = {.prepare = prepare_conv},
    [OP_UPCONV] = {.prepare = prepare_upconv, .template = "conv"},
    [OP_CONV_DGRAD] = {.prepare = prepare_dgrad, .fits = adds_gradient},
    [OP_UPCONV_DGRAD] = {.prepare = prepare_dgrad, .fits = adds_gradient, .template = "conv_dgrad"},
    [OP_CONV_WGRAD] = {.prepare = prepare_wgrad, .finish = finish_wgrad, .beside = true},
    [OP_UPCONV_WGRAD] = {.prepare = prepare_wgrad,
                         .finish = finish_wgrad,
                         .beside = true,
                         .template = "conv_wgrad"},
    [OP_DROPOUT_CHANNELS] = {.chaining = CHAINS},
    [OP_MINIMUM] = {.chaining = CHAINS},
    [OP_GELU_TANH] = {.chaining = CHAINS},
    [OP_ELU] = {.chaining = CHAINS},
    [OP_SELU] = {.chaining = CHAINS},
    [OP_MISH] = {.chaining = CHAINS},
    [OP_SOFTPLUS] = {.chaining = CHAINS},
    [OP_RELU6] = {.chaining = CHAINS},
    [OP_HARD_SIGMOID] = {.chaining = CHAINS},
    [OP_HARD_SWISH] = {.chaining = CHAINS},
    [OP_CLAMP] = {.chaining = CHAINS},
    [OP_SQRT] = {.chaining = CHAINS},
    [OP_EXP] = {.chaining = CHAINS},
    [OP_LOG] = {.chaining = CHAINS},
    [OP_SIN] = {.chaining = CHAINS},
    [OP_COS] = {.chaining = CHAINS},
    [OP_ABS] = {.chaining = CHAINS},
    [OP_SQUARE] = {.chaining = CHAINS},
    [OP_RECIPROCAL] = {.chaining = CHAINS},
    [OP_MAX_POOL] = {.prepare = prepare_pool},
    [OP_MAX_POOL_GRAD] = {.prepare = prepare_pool_grad},
    [OP_MAX_UNPOOL] = {.prepare = prepare_unpool},
    [OP_MAX_UNPOOL_GRAD] = {.prepare = prepare_unpool_grad},
    [OP_PRELU] = {.chaining = CHAINS},
    [OP_RANK_START] = {.template = "rank_sum"},
    [OP_CHANNEL_FACTOR_GRAD] = {.prepare = prepare_factor_grad},
    [OP_CONV_GROUPS_WGRAD] = {.prepare = prepare_groups_wgrad},
    [OP_SCALE_WGRAD] = {.prepare = prepare_scale_wgrad},
    [OP_PRELU_WGRAD] = {.prepare = prepare_scale_wgrad},
    [OP_ATTENTION_GRAD] = {.prepare = prepare_attention_grad},
    [OP_CHANNEL_ATTENTION] = {.prepare = prepare_channel_attention},
    [OP_CHANNEL_ATTENTION_GRAD] = {.prepare = prepare_channel_attention},
    [OP_MSE_GRAD] = {.prepare = prepare_slopes},
    [OP_L1_GRAD] = {.prepare = prepare_slopes},
    [OP_CHARBONNIER_GRAD] = {.prepare = prepare_slopes},
    [OP_SMOOTH_L1_GRAD] = {.prepare = prepare_slopes},
    [OP_PSNR_LOSS_GRAD] = {.prepare = prepare_slopes},
    [OP_CAST] = {.together = OP_FILTER_PACK},
    [OP_FILTER_PACK] = {.together = OP_FILTER_PACK},
    [OP_FILTER_UNPACK] = {.together = OP_FILTER_UNPACK, .beside = true},
    [OP_MSE] = {.prepare = prepare_loss, .together = OP_MSE, .of_same = true},
    [OP_L1] = {.prepare = prepare_loss, .together = OP_MSE, .of_same = true},
    [OP_CHARBONNIER] = {.prepare = prepare_loss, .together = OP_MSE, .of_same = true},
    [OP_SMOOTH_L1] = {.prepare = prepare_loss, .together = OP_MSE, .of_same = true},
    [OP_PSNR_LOSS] = {.prepare = prepare_loss},
    [OP_SSIM_LOSS] = {.prepare = prepare_ssim},
    [OP_SSIM] = {.prepare = prepare_ssim},
    [OP_PSNR] = {.prepare = prepare_loss, .together = OP_MSE, .of_same = true},
    [OP_BATCH_NORM] = {.chaining = CHAINS_FIRST},
    [OP_INSTANCE_NORM] = {.chaining = CHAINS_FIRST},
    [OP_GROUP_NORM] = {.chaining = CHAINS_FIRST},
    [OP_BATCH_STATISTICS] = {.prepare = prepare_norm},
    [OP_NORM_STATISTICS] = {.prepare = prepare_norm},
    [OP_NORM_DGRAD] = {.fits = takes_slope, .chaining = CHAINS_FIRST},
    [OP_RELU_GRAD] = {.fits = takes_slope, .chaining = CHAINS},
    [OP_BATCH_NORM_WGRAD] = {.prepare = prepare_norm},
    [OP_NORM_WGRAD] = {.prepare = prepare_norm},
    [OP_NORM_TRACK] = {.together = OP_NORM_TRACK},
    [OP_NORM_MERGE] = {.prepare = prepare_merge},
    [OP_CROSS_ENTROPY] = {.prepare = prepare_loss},
    [OP_FOCAL_LOSS] = {.prepare = prepare_loss},
    [OP_VOCABULARY_LOSS] = {.prepare = prepare_vocabulary},
    [OP_VOCABULARY_ACCURACY] = {.prepare = prepare_vocabulary},
    [OP_VOCABULARY_LOSS_GRAD] = {.prepare = prepare_vocabulary},
    [OP_OHEM_CROSS_ENTROPY] = {.prepare = prepare_ohem},
    [OP_LOVASZ_LOSS] = {.prepare = prepare_lovasz},
    [OP_DICE_LOSS] = {.prepare = prepare_overlap},
    [OP_TVERSKY_LOSS] = {.prepare = prepare_overlap},
    [OP_OVERLAP_LOSS] = {.prepare = prepare_overlap},
    [OP_BCE_WITH_LOGITS] = {.prepare = prepare_loss},
    [OP_LOSS_SCALE] = {.prepare = prepare_reduction},
    [OP_GRADIENT_NORM] = {.prepare = prepare_reduction},
    [OP_RELU] = {.chaining = CHAINS},
    [OP_LEAKY_RELU] = {.chaining = CHAINS},
    [OP_SIGMOID] = {.chaining = CHAINS},
    [OP_SILU] = {.chaining = CHAINS},
    [OP_TANH] = {.chaining = CHAINS},
    [OP_GELU] = {.chaining = CHAINS},
    [OP_MAXIMUM] = {.chaining = CHAINS},
    [OP_SCALE] = {.chaining = CHAINS},
    [OP_DROPOUT] = {.chaining = CHAINS},
    [OP_ADD] = {.chaining = CHAINS},
    [OP_SUBTRACT] = {.chaining = CHAINS},
    [OP_MULTIPLY] = {.chaining = CHAINS},
    [OP_DIVIDE] = {.chaining = CHAINS},
    [OP_REPEAT] = {.chaining = CHAINS},
    [OP_AFFINE] = {.chaining = CHAINS},
    [OP_LEAKY_RELU_GRAD] = {.chaining = CHAINS},
    [OP_SIGMOID_GRAD] = {.chaining = CHAINS},
    [OP_SILU_GRAD] = {.chaining = CHAINS},
    [OP_TANH_GRAD] = {.chaining = CHAINS},
    [OP_GELU_GRAD] = {.chaining = CHAINS},
    [OP_MAXIMUM_GRAD] = {.chaining = CHAINS},
    [OP_FUNCTION_GRAD] = {.chaining = CHAINS},
    [OP_PRELU_GRAD] = {.chaining = CHAINS},
    [OP_CHANNEL_MEAN_GRAD] = {.chaining = CHAINS},
    [OP_SLICE] = {.chaining = CHAINS},
    [OP_SLICE_GRAD] = {.chaining = CHAINS},
    [OP_PIXEL_SHUFFLE] = {.chaining = CHAINS},
    [OP_PIXEL_UNSHUFFLE] = {.chaining = CHAINS},
    [OP_RETURN] = {.prepare = prepare_return},
};
