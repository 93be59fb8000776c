/* convolution.c - the six operators of the convolution family in terms of cuDNN's three.
 *
 * A transposed convolution is the backward-data pass of a convolution that leads the other way:
 *
 *                      result   cuDNN                       filters [K][C]
 *     conv             y        forward (x, w)              out x in
 *     conv_dgrad       dx       backward data (dy, w)
 *     conv_wgrad       dw       backward filter (x, dy)
 *     upconv           y        backward data (x, w)        in x out
 *     upconv_dgrad     dx       forward (dy, w)
 *     upconv_wgrad     dw       backward filter (dy, x)
 *
 * A concat is never assembled: each of its segments meets its own share of the filters, and the results are
 * added.  So no operand has strides, and the two halves of a skip connection live and die separately.  The
 * graph of the last segment adds the bias and applies ReLU, too, where cuDNN has a compiled engine for
 * that.
 *
 * In a loop over bands of rows cuDNN computes windows of a fixed height, at whose upper and lower ends it
 * adds no padding: the rows that a part of a band reads are gathered, zeros included, and the rows that it
 * computes are put to their places (templates/cuda/rows.cuh).  The windows are part of a node's workspace,
 * so their price is part of the plan.
 */
#include "cuda/convolution.h"
#include "base/size_math.h"
#include "cuda/cudnn.h"
#include "ir/ops.h"

enum { PIECE = 256 }; /* bytes to which parts of workspaces are aligned */

int64_t cuda_channels(int64_t channels, Type type) {
    return size_rounded(channels, 16 / type_bytes(type));
}

/* ---- what a node joins ---- */

typedef enum { RESULT_Y, RESULT_DX, RESULT_DW } Wanted;

/* In the sense of the forward operator: x the input, y the output. */
typedef struct {
    bool transposed;
    Wanted result;
    ValueId x, y;
    int64_t first, channels; /* of x in the concat that the filters were made for */
} Sides;

static const struct {
    bool transposed;
    Wanted result;
} convolves[OPS] = {[OP_CONV] = {false, RESULT_Y},         [OP_CONV_DGRAD] = {false, RESULT_DX},
                    [OP_CONV_WGRAD] = {false, RESULT_DW},  [OP_UPCONV] = {true, RESULT_Y},
                    [OP_UPCONV_DGRAD] = {true, RESULT_DX}, [OP_UPCONV_WGRAD] = {true, RESULT_DW}};

static Sides sides_of(const Graph *g, const Node *node) {
    const bool pack = node->op == OP_FILTER_PACK;
    const Op op = pack ? node->a.conv.pack_for : node->op;
    Sides s = {.transposed = convolves[op].transposed, .result = convolves[op].result};
    const bool dgrad = s.result == RESULT_DX, wgrad = s.result == RESULT_DW;
    s.x = pack ? node->a.conv.pack_x : dgrad ? node->out[0] : node->in[0];
    s.y = pack ? node->a.conv.pack_y : dgrad ? node->in[0] : wgrad ? node->in[1] : node->out[0];
    s.first = dgrad ? node->a.conv.channel_begin : 0;
    s.channels = dgrad ? node->a.conv.channels : shape_channels(g->value[s.x].shape);
    return s;
}

CudaFilters cuda_filters(const Graph *g, const Node *node, Type stored) {
    Sides s = sides_of(g, node);
    const ValueId *segment;
    int64_t first = s.first, other = shape_channels(g->value[s.y].shape);
    CudaFilters f = {.k = s.transposed ? s.channels : other,
                     .c = s.transposed ? other : s.channels,
                     .taps = window_taps(&node->a.conv.window),
                     .nsegment = value_segments(g, &s.x, &segment)};
    f.segment = NEW_ARRAY(g->pool, CudaFilter, f.nsegment);
    f.elements = node->a.conv.packed_begin;
    for (int i = 0; i < f.nsegment; i++) {
        int64_t n = shape_channels(g->value[segment[i]].shape);
        CudaFilter *one = &f.segment[i];
        *one = s.transposed ? (CudaFilter){.k0 = first, .kn = n, .cn = other}
                            : (CudaFilter){.kn = other, .c0 = first, .cn = n};
        one->kp = cuda_channels(one->kn, stored);
        one->cp = cuda_channels(one->cn, stored);
        one->offset = f.elements;
        f.elements = size_sum(f.elements, size_product(size_product(one->kp, one->cp), f.taps));
        first += n;
    }
    return f;
}

/* ---- parts of bands ---- */

static UnetConvolutionKind kind_of(const Sides *s) {
    if (s->result == RESULT_DW)
        return UNET_BACKWARD_FILTER;
    return (s->result == RESULT_Y) != s->transposed ? UNET_FORWARD : UNET_BACKWARD_DATA;
}

/* About as many rows of V as a loop over bands computes in an iteration: of the tallest image a band, and a
 * whole number of rows of the others. */
static int64_t rows_in_band(const Program *program, ValueId v) {
    const Graph *g = program->graph;
    int64_t tallest = 1, lowest = INT64_MAX;
    for (ValueId k = 0; k < g->nvalue; k++) {
        if (!g->value[k].per_sample || g->value[k].shape.rank != AXES)
            continue;
        const int64_t rows = shape_rows(g->value[k].shape);
        tallest = rows > tallest ? rows : tallest;
        lowest = rows < lowest ? rows : lowest;
    }
    const int64_t bands = program->options->bands,
                  rows = bands > 1 ? iterations(tallest, bands) : band_rows(program);
    const int64_t whole = size_rounded(rows, iterations(tallest, lowest));
    return iterations(size_product(whole, shape_rows(g->value[v].shape)), tallest);
}

/* A gradient by weights is summed through all rows of a sample before the next one: with several samples at
 * a time it stays out of loops over bands, as do volumes. */
static CudaParts parts_of(const Program *program, const Node *node) {
    const Graph *g = program->graph;
    const Sides s = sides_of(g, node);
    const Window *w = &node->a.conv.window;
    const int64_t stride = w->stride[1], reach = (w->kernel[1] - 1) * w->dilation[1];
    if (!has_bands(program) || g->value[s.x].shape.rank != AXES ||
        (s.result == RESULT_DW && program->micro_batch > 1))
        return (CudaParts){0};
    CudaParts parts = {.rows = rows_in_band(program, rows_value(g, node))};
    if (kind_of(&s) != UNET_BACKWARD_DATA) {
        parts.sampled = parts.rows;
        parts.dense = (parts.sampled - 1) * stride + reach + 1;
        return parts;
    }
    const int64_t above = w->before[1] - reach; /* a part begins at a multiple of the stride */
    parts.rows = size_rounded(parts.rows, stride);
    parts.sampled = (parts.rows - 1 + w->before[1]) / stride -
                    (above > 0 ? iterations(above, stride) : above / stride) + 1;
    parts.dense = (parts.sampled - 1) * stride + reach + 1;
    return parts;
}

/* Bytes of a window of ROWS rows of grid V, the greediest segment. */
static int64_t window_bytes(const Program *program, ValueId v, int64_t rows) {
    const Graph *g = program->graph;
    const Type stored = program->options->stored;
    const ValueId *segment;
    int64_t channels = 0;
    for (int i = value_segments(g, &v, &segment) - 1; i >= 0; i--) {
        const int64_t own = cuda_channels(shape_channels(g->value[segment[i]].shape), stored);
        channels = own > channels ? own : channels;
    }
    const int64_t points =
        size_product(size_product(program->micro_batch, rows), shape_extent(g->value[v].shape, 2));
    return size_rounded(size_product(size_product(points, channels), type_bytes(stored)), PIECE);
}

int64_t cuda_place_parts(const Program *program, const Node *node, CudaChosen *chosen, int64_t bytes) {
    const Sides s = sides_of(program->graph, node);
    CudaParts *parts = &chosen->parts;
    if (parts->rows == 0)
        return bytes;
    parts->dense_at = size_rounded(bytes, PIECE);
    parts->sampled_at =
        size_sum(parts->dense_at, window_bytes(program, s.transposed ? s.y : s.x, parts->dense));
    return size_sum(parts->sampled_at, window_bytes(program, s.transposed ? s.x : s.y, parts->sampled));
}

/* ---- convolutions ---- */

/* The compiler's types and the runtime's are the same, in one order. */
_Static_assert((int)TYPE_F32 == (int)UNET_F32 && (int)TYPE_F64 == (int)UNET_F64 &&
                   (int)TYPE_U8 == (int)UNET_U8 && (int)TYPE_BF16 == (int)UNET_BF16 &&
                   (int)TYPE_F16 == (int)UNET_F16 && (int)TYPE_UNORM8 == (int)UNET_UNORM8 &&
                   (int)TYPE_UNORM16 == (int)UNET_UNORM16,
               "types are mirrored");

/* The grids that the window joins: it slides over `dense` and has a position for each point of `sampled`.
 */
static void set_window(UnetConvolution *c, const Window *w, Shape dense, Shape sampled,
                       const CudaParts *parts) {
    c->axes = dense.rank == SIGNAL_RANK ? 2 : dense.rank - 1; /* cuDNN takes no fewer */
    for (int k = 0; k < AXES; k++) {
        const bool part = k == 1 && parts->rows > 0;
        c->in[k] = part ? parts->dense : shape_extent(dense, k);
        c->out[k] = part ? parts->sampled : shape_extent(sampled, k);
        c->kernel[k] = w->kernel[k];
        c->stride[k] = w->stride[k];
        c->dilation[k] = w->dilation[k];
        c->before[k] = part ? 0 : w->before[k];
        int64_t halo = (c->out[k] - 1) * w->stride[k] + (w->kernel[k] - 1) * w->dilation[k] + 1;
        int64_t after = halo - c->before[k] - c->in[k];
        c->after[k] = after > 0 ? after : 0;
    }
}

/* Another cuDNN may want 131 bytes where this one wants none, and must do with what was planned.  The arena
 * has buffers of whole pieces, so this costs nothing. */
static int64_t with_slack(int64_t workspace) {
    return size_rounded(workspace > 0 ? workspace : 1, PIECE);
}

static UnetConvolution convolution_of(const Program *program, const Node *node, const CudaFilters *f,
                                      const CudaParts *parts, int i) {
    const Options *options = program->options;
    const Graph *g = program->graph;
    const Sides s = sides_of(g, node);
    const Shape x = g->value[s.x].shape, y = g->value[s.y].shape;
    const bool last =
        node->op == OP_CONV && i == f->nsegment - 1;              /* cuDNN adds the bias and applies ReLU */
    const bool adds = s.result == RESULT_DX && node->a.conv.adds; /* bands of rows are added behind it */
    UnetConvolution c = {.kind = kind_of(&s),
                         .type = (UnetType)options->stored,
                         .result_type = (UnetType)options->stored,
                         .tf32 = options->tf32,
                         .nondeterministic = options->nondeterministic,
                         .accumulate = (s.result == RESULT_Y && i > 0) || (adds && parts->rows == 0),
                         .bias = last && node->in[2] >= 0,
                         .relu = last && node->in[2] >= 0 && node->a.conv.relu,
                         .batch = program->micro_batch,
                         .in_channels = f->segment[i].cp,
                         .out_channels = f->segment[i].kp};
    set_window(&c, &node->a.conv.window, s.transposed ? y : x, s.transposed ? x : y, parts);
    return c;
}

/* Chooses the engine of C.  If only engines that are compiled when a program starts add to the result, add
 * the bias and apply ReLU in one, a kernel of ours does the last two. */
static bool choose_engine(Program *program, UnetConvolution *c, const char **why) {
    CudnnQuery *query = (CudnnQuery *)program->options->device;
    const bool little = program->choices->little_workspace;
    if (c->accumulate && c->bias) {
        UnetConvolution all = *c;
        const char *unused;
        if (cudnn_choose(query, &all, little, &unused) && (query == NULL || all.engine.version > 0)) {
            *c = all;
            return true;
        }
        c->bias = c->relu = false;
    }
    return cudnn_choose(query, c, little, why);
}

void cuda_convolutions(Program *program, const Node *node, CudaChosen *chosen) {
    Pool *pool = program->graph->pool;
    chosen->parts = parts_of(program, node);
    chosen->count = chosen->filters.nsegment;
    chosen->convolution = NEW_ARRAY(pool, UnetConvolution, chosen->count);
    for (int i = 0; i < chosen->count; i++) {
        UnetConvolution *c = &chosen->convolution[i];
        const char *why;
        *c = convolution_of(program, node, &chosen->filters, &chosen->parts, i);
        if (program->choices->sketch)
            continue;
        if (!choose_engine(program, c, &why))
            program->refusal = pool_text(pool, "cuDNN has no way to compute `%s`: %s", node->name, why);
        c->engine.workspace = with_slack(c->engine.workspace);
    }
}

const char *cuda_engines_json(Pool *pool, const Node *node) {
    const CudaChosen *chosen = node->chosen;
    const char *list = "";
    for (int i = 0; chosen != NULL && i < chosen->count; i++) {
        const UnetConvolution *c = &chosen->convolution[i];
        const char *engine =
            c->engine.version > 0 ? pool_text(pool, "%lld", (long long)c->engine.engine) : "null";
        list = pool_text(pool, "%s%s{\"engine\": %s, \"workspace\": %lld, \"bias\": %s}", list,
                         i > 0 ? ", " : "", engine, (long long)c->engine.workspace,
                         c->bias ? "true" : "false");
    }
    return chosen == NULL || chosen->count == 0 ? NULL : pool_text(pool, "[%s]", list);
}

int64_t cuda_workspace(const CudaChosen *chosen) {
    int64_t bytes = 16;
    for (int i = 0; i < chosen->count; i++)
        bytes = chosen->convolution[i].engine.workspace > bytes ? chosen->convolution[i].engine.workspace
                                                                : bytes;
    return bytes;
}

/* ---- the scratch of filter gradients ---- */

int64_t cuda_bias_bands(const Program *program, const Node *node, const CudaChosen *chosen) {
    enum { POINTS_PER_BAND = 64, MAX_BANDS = 512 };
    const Sides s = sides_of(program->graph, node);
    const Shape y = program->graph->value[s.y].shape;
    const int64_t rows = s.transposed ? chosen->parts.dense : chosen->parts.sampled;
    int64_t points = program->micro_batch;
    for (int k = 0; k < AXES; k++)
        points = size_product(points, k == 1 && rows > 0 ? rows : shape_extent(y, k));
    const int64_t bands = points / POINTS_PER_BAND + 1;
    return bands < MAX_BANDS ? bands : MAX_BANDS;
}

CudaScratch cuda_wgrad_packed(const Program *program, const Node *node, const CudaChosen *chosen,
                              bool sums) {
    const Type stored = program->options->stored;
    const Shape y = program->graph->value[sides_of(program->graph, node).y].shape;
    const int64_t count =
        sums ? size_product(node->a.conv.bands, cuda_channels(shape_channels(y), stored)) : 0;
    CudaScratch scratch = {
        .bands_at = size_rounded(size_product(chosen->filters.elements, type_bytes(stored)), PIECE)};
    scratch.bytes = size_sum(scratch.bands_at, size_product(count, 4));
    return scratch;
}

CudaScratch cuda_wgrad_scratch(const Program *program, const Node *node, CudaChosen *chosen) {
    CudaScratch scratch = cuda_wgrad_packed(program, node, chosen, true);
    scratch.workspace_at = size_rounded(scratch.bytes, PIECE);
    scratch.bytes =
        cuda_place_parts(program, node, chosen, size_sum(scratch.workspace_at, cuda_workspace(chosen)));
    return scratch;
}
