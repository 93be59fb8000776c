/* kernels.c - the CPU's column of the operator table: what its kernels need beside their operands.
 *
 * See templates/README.md for what the kernels expect, and sizes.h for the sizes of what they need.
 */
#include "cpu/kernels.h"
#include "base/size_math.h"
#include "cpu/sizes.h"
#include "ir/ops.h"
#include "ir/pools.h"

static int64_t stored_channels(const Graph *g, ValueId v) {
    const ValueId *segment;
    int n = value_segments(g, &v, &segment);
    int64_t all = 0;
    for (int p = 0; p < n; p++) {
        int64_t channels = shape_channels(g->value[segment[p]].shape);
        all += channels <= CPU_NARROW ? channels : (channels + CPU_BLOCK - 1) / CPU_BLOCK * CPU_BLOCK;
    }
    return all;
}

/* ---- Winograd's method ---- */

static bool is_blocked(const Graph *g, ValueId v) {
    return shape_channels(g->value[v].shape) > CPU_NARROW;
}

/* Returns why the window W has no tiles, or NULL.  A window with tiles has 3x3 or 3x3x3 points, slides by
 * one point over points, and leaves none out. */
static const char *window_without_tiles(const Window *w) {
    const bool deep = w->kernel[0] > 1;
    for (int k = deep ? 0 : 1; k < AXES; k++) {
        if (w->kernel[k] != 3)
            return deep ? "direct: the window is not 3 x 3 x 3" : "direct: the window is not 3 x 3";
        if (w->dilation[k] != 1)
            return "direct: the window has gaps";
    }
    for (int k = 0; k < AXES; k++) {
        if (w->stride[k] != 1)
            return "direct: the window moves by more than one point";
        if (w->before[k] > 2 || (k == 0 && !deep && w->before[0] != 0))
            return "direct: the padding is wide";
    }
    return NULL;
}

/* Has each tensor that X joins, and Y, the layout in blocks of channels? */
static bool are_blocked(const Graph *g, ValueId x, ValueId y) {
    const ValueId *segment;
    bool blocked = is_blocked(g, y);
    for (int p = 0; p < value_segments(g, &x, &segment); p++)
        blocked &= is_blocked(g, segment[p]);
    return blocked;
}

/* Returns why the convolution from X to Y, or a gradient's own one, is computed directly, or NULL: it is by
 * Winograd's method.  Its maps are worth their time from this size on; the height does not count, for
 * prediction takes any.  Registers for matrices multiply bf16 several times as fast as Winograd's method
 * does in f32. */
static const char *why_direct(const Program *program, const Node *node, ValueId x, ValueId y) {
    enum { LEAST_CHANNELS = 16, LEAST_WIDTH = 12 };
    const Graph *g = program->graph;
    const Options *options = program->options;
    const Shape shape = g->value[y].shape;
    const char *window = window_without_tiles(&node->a.conv.window);
    if (options->reference || options->conv == CONV_DIRECT)
        return "direct: as the options say";
    if (options->conv == CONV_AUTO && options->has_matrices && options->stored == TYPE_BF16)
        return "direct: in registers for matrices";
    if (window != NULL)
        return window;
    if (!are_blocked(g, x, y))
        return "direct: four channels or fewer";
    if (options->conv == CONV_WINOGRAD)
        return NULL;
    if (shape_channels(g->value[x].shape) < LEAST_CHANNELS || shape_channels(shape) < LEAST_CHANNELS)
        return "direct: fewer than 16 channels";
    return shape_extent(shape, 2) < LEAST_WIDTH ? "direct: fewer than 12 columns" : NULL;
}

/* Reference kernels have one method. */
static void set_method(const Program *program, Node *node, const char *method) {
    node->method = program->options->reference ? NULL : method;
}

/* Sets the method of NODE, a convolution from X to Y or a gradient's own one; returns whether it is
 * Winograd's. */
static bool by_winograd(const Program *program, Node *node, ValueId x, ValueId y) {
    const char *direct = why_direct(program, node, x, y);
    set_method(program, node, direct == NULL ? "Winograd" : direct);
    return direct == NULL;
}

static CpuConv conv_sizes(const Graph *g, const Window *w, ValueId x, ValueId y) {
    const Shape shape = g->value[y].shape;
    return (CpuConv){.in = stored_channels(g, x),
                     .out = shape_channels(shape),
                     .points = size_product(shape_rows(shape), shape_extent(shape, 2)),
                     .depth = shape_extent(shape, 0),
                     .height = shape_extent(shape, 1),
                     .width = shape_extent(shape, 2),
                     .planes = w->kernel[0]};
}

/* TEMPLATE, or the template of windows of several planes, which computes all rows in one call. */
static void compute_by_winograd(Node *node, const CpuConv *conv, const char *template, const char *volume) {
    node->whole_rows = conv->planes > 1;
    node->template = node->whole_rows ? volume : template;
    node->tile_rows = CPU_TILE_ROWS;
}

static void add_winograd_workspace(Program *program, Node *node, const char *template, const char *volume) {
    Graph *g = program->graph;
    const CpuConv conv = conv_sizes(g, &node->a.conv.window, node->in[0], node->out[0]);
    int64_t elements;
    if (!cpu_winograd_elements(&conv, program->options->max_threads, &elements))
        elements = INT64_MAX;
    compute_by_winograd(node, &conv, template, volume);
    node->a.conv.planes = cpu_winograd_planes(&conv);
    node->a.conv.tiles = cpu_winograd_tiles(&conv);
    node->a.conv.own_blocks = cpu_winograd_own_blocks(&conv);
    node_add_output(g, node, workspace_new(g, node, "workspace", program->options->real, elements));
}

/* ---- packed weights ---- */

/* Puts a node in front of NODE that packs its weights (input 1): for each lane of one tensor the weights of
 * the channels of another that are summed.  X and Y are what the window joins, in the forward direction;
 * TEMPLATE brings them to the frequencies of Winograd's method. */
static void pack_weights(Program *program, Node *node, Op pack, ValueId x, ValueId y,
                         const char *template) {
    Graph *g = program->graph;
    const bool forward = pack == OP_CONV_PACK;
    const int64_t summed = stored_channels(g, forward ? x : y),
                  lanes = shape_channels(g->value[forward ? y : x].shape);
    int64_t elements;
    if (!(template != NULL
              ? cpu_winograd_weights(summed, lanes, node->a.conv.window.kernel[0], &elements)
              : cpu_packed_elements(summed, lanes, window_taps(&node->a.conv.window), &elements)))
        elements = INT64_MAX;
    ValueId packed = workspace_new(g, node, "weights", program->options->real, elements),
            weight = node->in[1];
    Node new = {.op = pack,
                .nin = 1,
                .nout = 1,
                .a = node->a,
                .template = template,
                .name = node->name,
                .span = node->span,
                .via = node->via};
    new.a.conv.relu = new.a.conv.mask = false;
    new.a.conv.pack_x = x;
    new.a.conv.pack_y = y;
    new.a.conv.pack_for = node->op;
    node_new(g, new, &weight, &packed);
    node_set_input(g, node, 1, packed);
}

static void prepare_conv(Program *program, Node *node) {
    const ValueId x = node->in[0], y = node->out[0];
    const bool winograd = by_winograd(program, node, x, y);
    if (program->options->reference)
        return;
    pack_weights(program, node, OP_CONV_PACK, x, y, winograd ? "conv_winograd_pack" : NULL);
    if (!winograd)
        return;
    add_winograd_workspace(program, node, "conv_winograd", "conv_winograd_volume");
    node_add_output(program->graph, node, -1); /* `pooled`: join_max_pool() */
}

static void prepare_dgrad(Program *program, Node *node) {
    const ValueId dx = node->out[0], dy = node->in[0];
    const bool winograd = by_winograd(program, node, dy, dx);
    if (program->options->reference)
        return;
    pack_weights(program, node, OP_CONV_DGRAD_PACK, dx, dy, winograd ? "conv_dgrad_winograd_pack" : NULL);
    if (winograd)
        add_winograd_workspace(program, node, "conv_dgrad_winograd", "conv_dgrad_winograd_volume");
}

/* Transposed convolutions and their gradients are computed directly. */
static const char transposed[] = "direct: transposed";

static void prepare_upconv(Program *program, Node *node) {
    set_method(program, node, transposed);
    if (!program->options->reference)
        pack_weights(program, node, OP_CONV_PACK, node->in[0], node->out[0], NULL);
}

static void prepare_upconv_dgrad(Program *program, Node *node) {
    set_method(program, node, transposed);
    if (!program->options->reference)
        pack_weights(program, node, OP_CONV_DGRAD_PACK, node->out[0], node->in[0], NULL);
}

/* ---- two in one ---- */

/* The maxima of 2x2 points of Winograd's tiles, which begin at even rows: the pool also leaves out points
 * that a tile lacks at the end of a row or of a column. */
static bool join_max_pool(Graph *g, const Node *conv, const Node *pool, Node *joined) {
    const Window *w = &pool->a.pool.window;
    bool fits = conv->op == OP_CONV && conv->a.conv.tiles > 0 && conv->a.conv.phase % 2 == 0 &&
                conv->out[2] < 0 && pool->in[0] == conv->out[0] && pool->nout < 2;
    for (int k = 0; k < AXES; k++) {
        const int64_t size = k == 0 ? 1 : 2;
        fits &= w->kernel[k] == size && w->stride[k] == size && w->before[k] == 0 && w->after[k] == 0;
    }
    if (!fits)
        return false;
    joined->nout--; /* to an array of its own */
    node_add_output(g, joined, pool->out[0]);
    return true;
}

/* ---- pools ---- */

/* Shall marks stand for the input of POOL, whose gradient is NODE?  In bands of rows, or with `compress`.
 */
static bool keeps_marks(const Program *program, const Node *node, NodeId pool) {
    const Graph *g = program->graph;
    const bool coded = program->model->train.compress > 0;
    if (program->options->reference || pool < 0 || (!coded && !has_bands(program)))
        return false;
    const ValueId x = node->in[0], y = g->node[pool].out[0];
    return has_cells(g, node, x, y) || (coded && !node->a.pool.mask && has_windows_of_four(g, node, x, y));
}

/* x need not be kept for the gradient of a pool, which comes long after what else reads x: a byte for each
 * window tells where its maximum is, and which of its points are above zero. */
static void prepare_pool_grad(Program *program, Node *node) {
    Graph *g = program->graph;
    const NodeId pool = pool_of(g, node);
    if (!keeps_marks(program, node, pool))
        return;
    const Value *y = &g->value[g->node[pool].out[0]];
    const ValueId marks = keep_argmax(g, pool, shape_channels(y->shape), MARK_BITS);
    g->node[pool].template = "max_pool_marks";
    node->template = "max_pool_grad_marks";
    node->a.pool.argmax_bits = MARK_BITS;
    node_set_input(g, node, 0, -1);
    node_add_input(g, node, -1);
    node_add_input(g, node, marks);
}

/* ---- gradients of weights ---- */

/* The numbers that a gradient of weights keeps beside dw and db, in elements. */
typedef struct {
    Type type;
    int64_t scratch, sums, ordered; /* of a step alone; its sums; those on the way to dw */
    bool sample;                    /* the sums are of one sample */
} Sums;

/* In a loop over bands, one sample after the other, sums stay where they are and are brought to dw behind
 * it: until then the gradients take no memory. Else they are scratch. */
static bool keeps_sums(const Program *program) {
    return has_bands(program) && program->micro_batch == 1;
}

static Sums sums_by_winograd(const Program *program, const Node *node) {
    const CpuConv conv = conv_sizes(program->graph, &node->a.conv.window, node->in[0], node->in[1]);
    Sums s = {.type = program->options->real, .sample = true};
    if (!cpu_winograd_wgrad_mapped(&conv, &s.scratch) || !cpu_winograd_wgrad_sums(&conv, &s.sums) ||
        !cpu_winograd_wgrad_ordered(&conv, &s.ordered))
        s.sums = INT64_MAX;
    return s;
}

/* Reference kernels keep their sums in double, the sums of each sample apart. */
static Sums sums_of(const Program *program, const Node *node, ValueId dw) {
    const Graph *g = program->graph;
    const CpuConv conv = {.in = stored_channels(g, node->in[0]),
                          .out = stored_channels(g, node->in[1]),
                          .taps = window_taps(&node->a.conv.window)};
    Sums s = {.type = program->options->real};
    if (program->options->reference)
        return (Sums){TYPE_F64, 0, size_sum(shape_elements(g->value[dw].shape), conv.out), 0, true};
    if (!cpu_wgrad_sums_elements(&conv, &s.sums))
        s.sums = INT64_MAX;
    return s;
}

static Sums sums_sizes(const Program *program, const Node *node, ValueId dw) {
    return node->a.conv.tiles > 0 ? sums_by_winograd(program, node) : sums_of(program, node, dw);
}

/* Space of so many elements behind the outputs of NODE. */
static ValueId add_space(Program *program, Node *node, const char *what, Type type, int64_t elements) {
    const ValueId space = elements > 0 ? workspace_new(program->graph, node, what, type, elements) : -1;
    node_add_output(program->graph, node, space);
    return space;
}

static void prepare_wgrad(Program *program, Node *node) {
    Graph *g = program->graph;
    set_method(program, node, transposed);
    if (node->op == OP_CONV_WGRAD && by_winograd(program, node, node->in[0], node->in[1])) {
        const CpuConv conv = conv_sizes(g, &node->a.conv.window, node->in[0], node->in[1]);
        compute_by_winograd(node, &conv, "conv_wgrad_winograd", "conv_wgrad_winograd_volume");
        node->a.conv.planes = cpu_winograd_wgrad_planes(&conv);
        node->a.conv.tiles = cpu_winograd_wgrad_tiles(&conv);
    }
    const Sums s = sums_sizes(program, node, node->out[0]);
    node->a.conv.sums_bias = node->out[1] >= 0;
    if (!keeps_sums(program) || node->whole_rows) {
        add_space(program, node, "scratch", s.type, size_sum(s.scratch, size_sum(s.sums, s.ordered)));
        node_add_output(g, node, -1);
        node->keeps_sums = true;
        return;
    }
    add_space(program, node, "scratch", s.type, s.scratch);
    const ValueId sums = add_space(program, node, "sums", s.type, s.sums);
    g->value[sums].per_sample = s.sample; /* the array moved as it grew */
}

/* wgrad_end makes the gradients: it reads the sums. */
static void finish_wgrad(Program *program, NodeId wgrad) {
    Graph *g = program->graph;
    Node *node = &g->node[wgrad];
    const ValueId sums = node->out[3];
    if (sums < 0)
        return;
    const Sums s = sums_sizes(program, node, node->out[0]);
    Node end = {.op = OP_WGRAD_END,
                .nin = 1,
                .a = node->a,
                .name = node->name,
                .span = node->span,
                .via = node->via};
    end.template = node->a.conv.tiles > 0 ? "wgrad_end_winograd" : NULL;
    end.a.conv.pack_x = node->in[0];
    end.a.conv.pack_y = node->in[1];
    end.a.conv.pack_for = node->op;
    node_add_output(g, &end, node->out[0]);
    node_add_output(g, &end, node->out[1]);
    if (s.ordered > 0)
        add_space(program, &end, "scratch", s.type, s.ordered);
    node->out[0] = node->out[1] = -1;
    node_new(g, end, &sums, end.out);
}

/* ---- scratch ---- */

static void prepare_loss(Program *program, Node *node) {
    Graph *g = program->graph;
    int64_t rows = shape_rows(g->value[node->in[0]].shape), elements;
    if (!cpu_loss_scratch_elements(program->micro_batch, rows, &elements))
        elements = INT64_MAX;
    node_add_output(g, node, workspace_new(g, node, "scratch", TYPE_F64, elements));
}

/* How many errors have which digit in 16 parts, sums of these parts; two doubles for each point, of two
 * errors and two numbers. */
static void prepare_lovasz(Program *program, Node *node) {
    enum { SORTING = 16 * 256 + 2 * 16 + 3, OF_POINT = 2 };
    Graph *g = program->graph;
    const Shape shape = g->value[node->in[1]].shape;
    const int64_t points = size_product(program->micro_batch, shape_elements(shape));
    node_add_output(g, node,
                    workspace_new(g, node, "scratch", TYPE_F64, work_sum(SORTING, OF_POINT, points)));
}

/* Three sums of each class for each row. */
static void prepare_overlap(Program *program, Node *node) {
    Graph *g = program->graph;
    const int64_t rows = size_product(program->micro_batch, shape_rows(g->value[node->in[0]].shape));
    node_add_output(g, node,
                    workspace_new(g, node, "scratch", TYPE_F64,
                                  size_product(rows, shape_elements(g->value[node->out[1]].shape))));
}

/* Three numbers for each row; how many terms have which digit, in 16 parts; where the selection stands. */
static void prepare_ohem(Program *program, Node *node) {
    enum { NUMBERS = 3, SELECTION = 16 * 256 / 2 + 2 };
    Graph *g = program->graph;
    const int64_t rows = size_product(program->micro_batch, shape_rows(g->value[node->in[0]].shape));
    node_add_output(g, node,
                    workspace_new(g, node, "scratch", TYPE_F64, work_sum(SELECTION, NUMBERS, rows)));
}

static void prepare_reduction(Program *program, Node *node) {
    enum { ELEMENTS_PER_BAND = 4096, MAX_BANDS = 64 };
    Graph *g = program->graph;
    const int64_t bands = gradient_elements(g, node) / ELEMENTS_PER_BAND + 1;
    node->a.reduction.bands = bands < MAX_BANDS ? bands : MAX_BANDS;
    node_add_output(g, node, workspace_new(g, node, "scratch", TYPE_F64, node->a.reduction.bands));
}

/* ---- the last convolution with a loss ---- */

/* It keeps rows of the prediction on its stack, and sums of a row for each pair of channels in memory. Its
 * gradient of weights begins anew in each row, as the gradient of long rows does
 * (templates/cpu/conv_wgrad.c). In bands of rows memory should not grow with the height, as these sums do.
 */
static bool fits_head(const Program *program, const Node *node) {
    enum { MOST_CHANNELS = 64, SHORT_ROW = 63, LONGEST_ROW = 4096 };
    const Graph *g = program->graph;
    const Shape x = g->value[node->in[0]].shape, p = g->value[node->in[1]].shape;
    return !program->options->reference && !has_bands(program) && is_blocked(g, node->in[0]) &&
           shape_channels(x) <= MOST_CHANNELS && shape_channels(p) <= CPU_NARROW &&
           shape_extent(x, 2) > SHORT_ROW && shape_extent(x, 2) <= LONGEST_ROW;
}

static void prepare_head(Program *program, Node *node) {
    Graph *g = program->graph;
    const ValueId x = node->in[0], t = node->in[1];
    const int64_t rows = size_product(program->micro_batch, shape_rows(g->value[x].shape)),
                  terms = size_product(node->out[2] >= 0 ? 2 : 1, rows);
    int64_t elements;
    if (!cpu_head_sums_elements(shape_channels(g->value[x].shape), shape_channels(g->value[t].shape),
                                shape_extent(g->value[x].shape, 2), rows, &elements))
        elements = INT64_MAX;
    node_add_output(g, node, workspace_new(g, node, "terms", TYPE_F64, terms));
    node_add_output(g, node, workspace_new(g, node, "sums", program->options->real, elements));
}

/* ---- normalisation ---- */

/* Two or three numbers for each lane of each band of rows; a tensor of few channels is one vector. */
static void prepare_norm(Program *program, Node *node) {
    enum { POINTS = 1024, MOST_BANDS = 32 };
    Graph *g = program->graph;
    const Shape x = g->value[node->in[0]].shape;
    const int64_t rows = shape_rows(x), points = size_product(rows, shape_extent(x, 2));
    int64_t bands = points / POINTS + 1;
    bands = bands < MOST_BANDS ? bands : MOST_BANDS;
    node->a.norm.bands = bands < rows ? bands : rows;
    const int64_t lanes = size_product(program->micro_batch, size_rounded(shape_channels(x), CPU_BLOCK)),
                  numbers = size_product(norm_numbers(node), node->a.norm.bands);
    if (!program->options->reference)
        node_set_output(g, node, 2,
                        workspace_new(g, node, "scratch", TYPE_F64, size_product(lanes, numbers)));
}

/* That of a leaky ReLU behind. */
static bool takes_slope(const Program *program, const Node *node) {
    (void)program, (void)node;
    return true;
}

/* One weight for all channels: sums of each channel, which are then added. */
static void prepare_scale_wgrad(Program *program, Node *node) {
    Graph *g = program->graph;
    const int64_t channels = size_rounded(shape_channels(g->value[node->in[0]].shape), CPU_BLOCK);
    if (!program->options->reference && shape_elements(g->value[node->out[0]].shape) == 1)
        node_set_output(g, node, 2, workspace_new(g, node, "scratch", TYPE_F64, channels));
}

/* ---- attention ---- */

/* Windows in all heads of all samples, points of each, numbers of the bias of a head. */
typedef struct {
    int64_t windows, queries, keys, bias;
} AttentionSizes;

static AttentionSizes attention_sizes(const Program *program, const Node *node) {
    enum { BIAS = 3, BIAS_OF_GRADIENT = 6 };
    const Graph *g = program->graph;
    const Shape q = g->value[node->in[0]].shape;
    const int number = node->op == OP_ATTENTION ? BIAS : BIAS_OF_GRADIENT;
    const ValueId bias = number < node->nin ? node->in[number] : -1;
    const int64_t points = shape_elements(q) / shape_channels(q),
                  queries = attention_window_points(node, q);
    return (AttentionSizes){
        size_product(size_product(program->micro_batch, node->a.attention.heads), points / queries),
        queries, attention_window_points(node, g->value[node->in[1]].shape),
        bias < 0 ? 0 : shape_elements(g->value[bias].shape) / node->a.attention.heads};
}

/* A reference kernel keeps a row of the softmax for each head; its gradient keeps two columns more, and the
 * sums by the bias. */
static int64_t attention_reference(const Program *program, const Node *node, const AttentionSizes *of) {
    const int64_t heads = size_product(program->micro_batch, node->a.attention.heads);
    return size_product(heads, node->op == OP_ATTENTION
                                   ? of->keys
                                   : size_sum(of->keys, size_sum(size_product(2, of->queries), of->bias)));
}

/* A reference kernel has two tables of each head. */
static int64_t channel_attention_scratch(const Program *program, Node *node) {
    const Graph *g = program->graph;
    AttentionAttributes *const a = &node->a.attention;
    const Shape q = g->value[node->in[0]].shape, v = g->value[node->in[2]].shape;
    const int64_t heads = size_product(program->micro_batch, a->heads), of_q = shape_channels(q) / a->heads,
                  of_k = shape_channels(g->value[node->in[1]].shape) / a->heads,
                  of_pairs = shape_elements(q) / shape_channels(q),
                  of_v = shape_elements(v) / shape_channels(v),
                  summed = node->op == OP_CHANNEL_ATTENTION ? of_pairs : of_v;
    if (program->options->reference)
        return size_product(2 * heads, size_product(of_q, of_k));
    a->bands = cpu_channel_attention_bands(summed, of_q, of_k);
    a->slots = cpu_attention_slots(heads, of_pairs > of_v ? of_pairs : of_v, program->options->max_threads);
    const CpuChannelAttention of = {heads, a->slots, a->bands, of_q, of_k};
    int64_t elements;
    return cpu_channel_attention_elements(&of, &elements) ? elements : INT64_MAX;
}

static void prepare_channel_attention(Program *program, Node *node) {
    enum { OF_FORWARD = 2, OF_GRADIENT = 4 };
    const Type type = program->options->reference ? TYPE_F64 : program->options->real;
    const int64_t elements = channel_attention_scratch(program, node);
    node_set_output(program->graph, node, node->op == OP_CHANNEL_ATTENTION ? OF_FORWARD : OF_GRADIENT,
                    workspace_new(program->graph, node, "scratch", type, elements));
}

static int64_t attention_scratch(const Program *program, Node *node) {
    const Graph *g = program->graph;
    const AttentionSizes sizes = attention_sizes(program, node);
    if (program->options->reference)
        return attention_reference(program, node, &sizes);
    AttentionAttributes *const a = &node->a.attention;
    const int64_t points = sizes.queries > sizes.keys ? sizes.queries : sizes.keys,
                  heads = size_product(program->micro_batch, a->heads);
    a->slots = cpu_attention_slots(sizes.windows, points, program->options->max_threads);
    const CpuAttention of = {a->slots, g->value[node->in[0]].shape.dim[0] / a->heads,
                             g->value[node->in[2]].shape.dim[0] / a->heads, a->pairs > 0 ? 0 : sizes.bias};
    int64_t elements;
    if (node->op == OP_ATTENTION)
        return cpu_attention_elements(&of, &elements) ? elements : INT64_MAX;
    a->bands = a->pairs > 0 ? 1 : cpu_attention_bands(sizes.windows / heads, sizes.queries);
    const int64_t sums = size_sum(size_product(sizes.windows, sizes.queries),
                                  size_product(size_product(heads, a->bands), sizes.bias));
    return cpu_attention_grad_elements(&of, sums, &elements) ? elements : INT64_MAX;
}

static void prepare_attention(Program *program, Node *node) {
    enum { OF_FORWARD = 2, OF_GRADIENT = 4 };
    const Type type = program->options->reference ? TYPE_F64 : program->options->real;
    const int64_t elements = attention_scratch(program, node);
    node_set_output(program->graph, node, node->op == OP_ATTENTION ? OF_FORWARD : OF_GRADIENT,
                    workspace_new(program->graph, node, "scratch", type, elements));
}

/* ---- the loss of a language model ---- */

/* A reference kernel keeps the term of each point, and its gradient the slope of each logit. */
static void prepare_vocabulary(Program *program, Node *node) {
    enum { OF_FORWARD = 2, OF_GRADIENT = 3, TABLE = 3 };
    Graph *g = program->graph;
    const bool gradient = node->op == OP_VOCABULARY_LOSS_GRAD, reference = program->options->reference;
    const Shape x = g->value[node->in[0]].shape;
    const int64_t points = size_product(program->micro_batch, shape_elements(x) / shape_channels(x));
    int64_t elements = points;
    if (reference && gradient)
        elements = size_product(points, g->value[node->in[TABLE]].shape.dim[0]);
    else if (!reference && !cpu_vocabulary_elements(points, shape_channels(x), gradient, &elements))
        elements = INT64_MAX;
    node_set_output(
        g, node, gradient ? OF_GRADIENT : OF_FORWARD,
        workspace_new(g, node, "scratch", reference ? TYPE_F64 : program->options->real, elements));
}

/* ---- inputs ---- */

void cpu_begin(Program *program, const Node *node, int nnode) {
    if (passes_rows(program))
        load_inputs(program->graph, node, nnode);
}

const KernelRow cpu_kernels[OPS] = {
    [OP_CONV] = {.prepare = prepare_conv},
    [OP_UPCONV] = {.prepare = prepare_upconv},
    [OP_CONV_DGRAD] = {.prepare = prepare_dgrad},
    [OP_UPCONV_DGRAD] = {.prepare = prepare_upconv_dgrad},
    [OP_CONV_WGRAD] = {.prepare = prepare_wgrad, .finish = finish_wgrad},
    [OP_UPCONV_WGRAD] = {.prepare = prepare_wgrad, .finish = finish_wgrad, .template = "conv_wgrad"},
    [OP_MSE] = {.prepare = prepare_loss},
    [OP_L1] = {.prepare = prepare_loss},
    [OP_CHARBONNIER] = {.prepare = prepare_loss},
    [OP_SMOOTH_L1] = {.prepare = prepare_loss},
    [OP_PSNR_LOSS] = {.prepare = prepare_loss},
    [OP_SSIM_LOSS] = {.prepare = prepare_loss},
    [OP_SSIM] = {.prepare = prepare_loss},
    [OP_PSNR] = {.prepare = prepare_loss},
    [OP_CROSS_ENTROPY] = {.prepare = prepare_loss},
    [OP_FOCAL_LOSS] = {.prepare = prepare_loss},
    [OP_OHEM_CROSS_ENTROPY] = {.prepare = prepare_ohem},
    [OP_LOVASZ_LOSS] = {.prepare = prepare_lovasz},
    [OP_DICE_LOSS] = {.prepare = prepare_overlap},
    [OP_TVERSKY_LOSS] = {.prepare = prepare_overlap},
    [OP_OVERLAP_LOSS] = {.prepare = prepare_overlap},
    [OP_BCE_WITH_LOGITS] = {.prepare = prepare_loss},
    [OP_MAX_POOL] = {.join = join_max_pool},
    [OP_MAX_POOL_GRAD] = {.prepare = prepare_pool_grad},
    [OP_SCALE_WGRAD] = {.prepare = prepare_scale_wgrad},
    [OP_PRELU_WGRAD] = {.prepare = prepare_scale_wgrad},
    [OP_ATTENTION] = {.prepare = prepare_attention},
    [OP_ATTENTION_GRAD] = {.prepare = prepare_attention},
    [OP_CHANNEL_ATTENTION] = {.prepare = prepare_channel_attention},
    [OP_CHANNEL_ATTENTION_GRAD] = {.prepare = prepare_channel_attention},
    [OP_VOCABULARY_LOSS] = {.prepare = prepare_vocabulary},
    [OP_VOCABULARY_ACCURACY] = {.prepare = prepare_vocabulary},
    [OP_VOCABULARY_LOSS_GRAD] = {.prepare = prepare_vocabulary},
    [OP_BATCH_STATISTICS] = {.prepare = prepare_norm},
    [OP_NORM_STATISTICS] = {.prepare = prepare_norm},
    [OP_BATCH_NORM_WGRAD] = {.prepare = prepare_norm},
    [OP_NORM_WGRAD] = {.prepare = prepare_norm},
    [OP_NORM_DGRAD] = {.fits = takes_slope},
    [OP_NORM_MERGE] = {.prepare = prepare_merge},
    [OP_HEAD] = {.prepare = prepare_head, .fits = fits_head},
    [OP_LOSS_SCALE] = {.prepare = prepare_reduction},
    [OP_GRADIENT_NORM] = {.prepare = prepare_reduction},
};
