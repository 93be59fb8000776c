/* operators_attention.c - the build rules of attention: points, or channels, as queries, keys and values.
 *
 * requires, provides   as operators.c
 */
#include "base/size_math.h"
#include "base/text.h"
#include "front/operator_build.h"
#include "front/operator_size.h"
#include "ir/ops.h"

#include <math.h>

typedef struct {
    ValueId q, k, v, bias; /* or the temperature; absent: -1 */
    bool windowed;
    AttentionAttributes a;
} Attention;

/* NAME: of what asks for it. */
static bool equal_points(const Call *call, const char *name, const char *a, ValueId of_a, const char *b,
                         ValueId of_b) {
    const Pair pair = {.l = call->l,
                       .name = name,
                       .span = call->span,
                       .a = of_a,
                       .b = of_b,
                       .text_a = argument(call, a)->expr,
                       .text_b = argument(call, b)->expr};
    return equal_sizes(&pair);
}

/* Two operands that need the same number of channels, and why. */
typedef struct {
    const char *function, *first, *second, *why;
} Channels;

static bool equal_channels(const Call *call, const Channels *of, ValueId first, ValueId second) {
    Lower *l = call->l;
    const Shape a = shape_of(call, first), b = shape_of(call, second);
    if (a.dim[0] == b.dim[0])
        return true;
    diag_begin(l->diag, ERROR, "U0402", argument(call, of->second)->span,
               "`%s` needs as many channels of `%s` as of `%s`: %lld and %lld", of->function, of->second,
               of->first, (long long)b.dim[0], (long long)a.dim[0]);
    diag_note(l->diag, "`%s` is %s, `%s` is %s: %s", of->first, shape_text(l->pool, a), of->second,
              shape_text(l->pool, b), of->why);
    diag_help(l->diag, "make the channels equal with `linear(%s, %lld)`",
              argument_text(call, argument(call, of->second)), (long long)a.dim[0]);
    note_via(l);
    diag_end(l->diag);
    return false;
}

/* The most heads that divide the channels of both, up to as many as are asked for. */
static int64_t heads_for(int64_t heads, int64_t of_q, int64_t of_v) {
    int64_t most = heads < of_q ? heads : of_q;
    while (of_q % most != 0 || of_v % most != 0)
        most--;
    return most;
}

/* The channels of q, and of another operand, by its name. */
static bool heads_divide(const Call *call, const Attention *of, const char *name, ValueId other) {
    Lower *l = call->l;
    const Shape q = shape_of(call, of->q), v = shape_of(call, other);
    const bool of_q = q.dim[0] % of->a.heads != 0;
    const Shape wrong = of_q ? q : v;
    if (wrong.dim[0] % of->a.heads == 0)
        return true;
    diag_begin(l->diag, ERROR, "U0408", argument(call, "heads")->span,
               "%lld heads do not divide the %lld channels of `%s`", (long long)of->a.heads,
               (long long)wrong.dim[0], of_q ? "q" : name);
    diag_note(l->diag, "`q` is %s, `%s` is %s: all heads have the same number of channels",
              shape_text(l->pool, q), name, shape_text(l->pool, v));
    diag_help(l->diag, "write `heads = %lld`", (long long)heads_for(of->a.heads, q.dim[0], v.dim[0]));
    note_via(l);
    diag_end(l->diag);
    return false;
}

/* SCALE is the one that is meant if it is left out. */
static bool argument_scale(const Call *call, double *scale) {
    if (argument(call, "scale")->value.kind == DATUM_NONE)
        return true;
    if (!argument_number(call, "scale", scale))
        return false;
    return *scale > 0 && *scale <= 1e9 ? true : report_range(call, "scale", "greater than 0");
}

/* ---- windows ---- */

static bool report_window(const Call *call, const char *name, const char *what, const char *help) {
    Lower *l = call->l;
    diag_begin(l->diag, ERROR, "U0316", argument(call, name)->span, "%s", what);
    diag_help(l->diag, "%s", help);
    note_via(l);
    diag_end(l->diag);
    return false;
}

/* "[[0, 3], [0, 0]]": the points behind each axis that make whole windows. */
static const char *points_behind(Pool *pool, Shape map, const int64_t *window) {
    const char *list = "";
    for (int axis = AXES - (map.rank - 1); axis < AXES; axis++) {
        const int64_t extent = shape_extent(map, axis),
                      behind = size_rounded(extent, window[axis]) - extent;
        list = pool_text(pool, "%s%s[0, %lld]", list, *list == '\0' ? "" : ", ", (long long)behind);
    }
    return pool_text(pool, "[%s]", list);
}

static bool windows_divide(const Call *call, const Attention *of) {
    Lower *l = call->l;
    const Shape map = shape_of(call, of->q);
    for (int axis = 0; axis < AXES; axis++) {
        const int64_t extent = shape_extent(map, axis), window = of->a.window[axis];
        if (extent % window == 0 || (l->only_axis >= 0 && l->only_axis != axis))
            continue;
        diag_begin(l->diag, ERROR, "U0408", argument(call, "window")->span,
                   "windows of %lld points do not divide the %s %lld", (long long)window,
                   axis_text(map, axis), (long long)extent);
        diag_note(l->diag, "`q` is %s: all windows have the same extents", shape_text(l->pool, map));
        diag_help(l->diag, "make it larger first, with `pad(x, %s)`, and smaller afterwards, with `crop`",
                  points_behind(l->pool, map, of->a.window));
        note_via(l);
        diag_end(l->diag);
        return false;
    }
    return true;
}

static bool argument_shift(const Call *call, Attention *of) {
    if (!argument_axes(call, "shift", shape_of(call, of->q), 0, 0, of->a.shift))
        return false;
    for (int axis = 0; axis < AXES; axis++) {
        const int64_t shift = of->a.shift[axis], window = of->a.window[axis];
        if (shift > 0 && !of->windowed)
            return report_window(call, "shift", "`shift` moves windows, and there is no `window`",
                                 "write the extents of a window, too: `window = 8`");
        if (of->windowed && shift >= window)
            return report_window(
                call, "shift",
                pool_text(call->l->pool,
                          "`shift` must be less than the %s %lld of a window, and this is %lld",
                          axis_text(shape_of(call, of->q), axis), (long long)window, (long long)shift),
                pool_text(call->l->pool, "half a window is usual: `shift = %lld`", (long long)window / 2));
    }
    return true;
}

static bool argument_windows(const Call *call, Attention *of) {
    const Shape map = shape_of(call, of->q);
    of->windowed = argument(call, "window")->value.kind != DATUM_NONE;
    if (!of->windowed)
        return argument_shift(call, of);
    if (of->a.causal)
        return report_window(call, "causal", "`causal` and `window` do not go together",
                             "leave out one of them");
    return argument_axes(call, "window", map, 1, 1, of->a.window) &&
           equal_points(call, "attention(window)", "q", of->q, "k", of->k) && windows_divide(call, of) &&
           argument_shift(call, of);
}

/* ---- the bias ---- */

static const char *list_text(Pool *pool, Shape map, const int64_t *extent) {
    const char *list = "";
    for (int axis = AXES - (map.rank - 1); axis < AXES; axis++)
        list = pool_text(pool, "%s%s%lld", list, *list == '\0' ? "" : ", ", (long long)extent[axis]);
    return pool_text(pool, "[%s]", list);
}

/* A channel for each head, a point for each difference of two points of a window. */
static Shape difference_shape(const Attention *of, Shape map) {
    Shape shape = {.rank = map.rank, .dim = {of->a.heads}};
    for (int k = 1; k < map.rank; k++)
        shape.dim[k] = 2 * of->a.window[AXES - map.rank + k] - 1;
    return shape;
}

static int64_t window_points(const Attention *of, Shape map) {
    const Node node = {.a = {.kind = ATTRIBUTES_ATTENTION, .attention = of->a}};
    return attention_window_points(&node, map);
}

/* A channel for each head, a point for each pair of a query and a key of a window: a row for each query, if
 * maps have rows. */
static Shape pair_shape(const Call *call, const Attention *of) {
    const Shape map = shape_of(call, of->q);
    const int64_t queries = window_points(of, map), keys = window_points(of, shape_of(call, of->k));
    if (map.rank == SIGNAL_RANK)
        return (Shape){.rank = map.rank, .dim = {of->a.heads, size_product(queries, keys)}};
    Shape shape = {.rank = map.rank, .dim = {of->a.heads, 1}};
    shape.dim[map.rank - 2] = queries;
    shape.dim[map.rank - 1] = keys;
    return shape;
}

/* Suggests what a person means who gives no bias of these shapes: Swin's table, or a number for each pair.
 */
static void suggest_bias(const Call *call, const Attention *of, Shape pairs) {
    Lower *l = call->l;
    int64_t extent[AXES];
    for (int axis = 0; axis < AXES; axis++)
        extent[axis] = shape_extent(pairs, axis);
    if (of->windowed)
        diag_help(l->diag, "write `bias = relative_bias(%lld, %s)`", (long long)of->a.heads,
                  list_text(l->pool, shape_of(call, of->q), of->a.window));
    else
        diag_help(l->diag,
                  "write `bias = parameter(%lld, size = %s)`, or the extents of a window, too, whose "
                  "differences `relative_bias` has: `window = 8`",
                  (long long)of->a.heads, list_text(l->pool, pairs, extent));
}

static bool report_bias(const Call *call, const Attention *of, Shape differences, Shape pairs) {
    Lower *l = call->l;
    const char *or_differences =
        of->windowed ? pool_text(l->pool, "%s or ", shape_text(l->pool, differences)) : "";
    diag_begin(l->diag, ERROR, "U0402", argument(call, "bias")->span, "`bias` must be %s%s, and this is %s",
               or_differences, shape_text(l->pool, pairs), shape_text(l->pool, shape_of(call, of->bias)));
    if (of->windowed)
        diag_note(l->diag,
                  "a channel for each head, a point for each difference of two points of a window");
    diag_note(l->diag, "%s channel for each head, a point for each pair of a query and a key%s",
              of->windowed ? "or a" : "a", of->windowed ? " of a window" : "");
    suggest_bias(call, of, pairs);
    note_via(l);
    diag_end(l->diag);
    return false;
}

/* Kernels count the pairs of a head in 32 bits. */
static bool report_pairs(const Call *call, int64_t pairs) {
    Lower *l = call->l;
    diag_begin(l->diag, ERROR, "U0413", argument(call, "bias")->span,
               "`bias` has %s pairs of points for each head, more than 2^31", grouped(l->pool, pairs));
    diag_help(l->diag, "attend within windows, whose bias is smaller: `window = 8`");
    note_via(l);
    diag_end(l->diag);
    return false;
}

static bool argument_bias(const Call *call, Attention *of) {
    of->bias = -1;
    if (argument(call, "bias")->value.kind == DATUM_NONE)
        return true;
    if (!argument_feature_map(call, "bias", &of->bias))
        return false;
    const Shape differences = difference_shape(of, shape_of(call, of->q)), pairs = pair_shape(call, of),
                b = shape_of(call, of->bias);
    if (of->windowed && (shape_equal(b, differences) || call->l->only_axis >= 0))
        return true;
    if (!shape_equal(b, pairs) && call->l->only_axis < 0)
        return report_bias(call, of, differences, pairs);
    if (shape_elements(pairs) / of->a.heads > INT32_MAX)
        return report_pairs(call, shape_elements(pairs) / of->a.heads);
    of->a.pairs = window_points(of, shape_of(call, of->k));
    return true;
}

/* ---- attention ---- */

static bool read_attention(const Call *call, Attention *of) {
    static const Channels multiplied = {"attention", "q", "k", "each query is multiplied with each key"};
    if (!argument_feature_map(call, "q", &of->q) || !argument_feature_map(call, "k", &of->k) ||
        !argument_feature_map(call, "v", &of->v) || !argument_integer(call, "heads", 1, &of->a.heads) ||
        !argument_truth(call, "causal", &of->a.causal) ||
        !equal_points(call, "attention", "k", of->k, "v", of->v) ||
        !equal_channels(call, &multiplied, of->q, of->k) || !heads_divide(call, of, "v", of->v) ||
        (of->a.causal && !equal_points(call, "attention(causal = true)", "q", of->q, "k", of->k)) ||
        !argument_windows(call, of) || !argument_bias(call, of))
        return false;
    const int64_t channels = shape_channels(shape_of(call, of->q)) / of->a.heads;
    of->a.scale = 1 / sqrt((double)channels);
    return argument_scale(call, &of->a.scale); /* left out: products as large as of one channel */
}

/* A number for each head and query, which the gradient reads; -1: there is none. */
static ValueId row_numbers(const Call *call, int64_t heads, Shape y) {
    const int64_t queries = shape_elements(y) / shape_channels(y);
    const Value value = {.name = pool_text(call->l->pool, "%s lse", call->name),
                         .class = CLASS_BATCH_STATISTIC,
                         .type = TYPE_F32,
                         .shape = {.rank = 1, .dim = {size_product(heads, queries)}},
                         .per_sample = true,
                         .span = call->span};
    return call->l->options->program == PROGRAM_TRAIN ? value_new(call->l->graph, value) : -1;
}

/* Appends the node; KEPT: the numbers that the gradient reads, or -1.  Returns its first result. */
static ValueId attention_node(Call *call, const Attention *of, Shape out, ValueId kept) {
    Graph *g = call->l->graph;
    const ValueId in[] = {value_joined(g, of->q, call->span), value_joined(g, of->k, call->span),
                          value_joined(g, of->v, call->span),
                          of->bias < 0 ? -1 : value_joined(g, of->bias, call->span)};
    const ValueId results[] = {output_new(call, out), kept, -1}; /* the target's scratch */
    node_new(g,
             (Node){.op = call->op,
                    .nin = 4,
                    .nout = 3,
                    .a = {.kind = ATTRIBUTES_ATTENTION, .attention = of->a},
                    .name = call->name,
                    .span = call->span,
                    .via = call->l->via},
             in, results);
    return results[0];
}

ValueId build_attention(Call *call) {
    Attention of = {.a = {0}};
    if (!read_attention(call, &of))
        return -1;
    Shape out = shape_of(call, of.q);
    out.dim[0] = shape_channels(shape_of(call, of.v));
    return small_enough(call, out) ? attention_node(call, &of, out, row_numbers(call, of.a.heads, out))
                                   : -1;
}

/* ---- attention over channels ---- */

static bool argument_temperature(const Call *call, Attention *of) {
    Lower *l = call->l;
    of->bias = -1;
    if (argument(call, "temperature")->value.kind == DATUM_NONE)
        return true;
    if (!argument_feature_map(call, "temperature", &of->bias))
        return false;
    const Shape t = shape_of(call, of->bias);
    if (shape_elements(t) == of->a.heads && shape_channels(t) == of->a.heads)
        return true;
    diag_begin(l->diag, ERROR, "U0402", argument(call, "temperature")->span,
               "`temperature` must have %lld channels of one point, and this is %s", (long long)of->a.heads,
               shape_text(l->pool, t));
    diag_note(l->diag, "a number for each head, which its products are multiplied with");
    diag_help(l->diag, "write `temperature = parameter(%lld, init = 1)`", (long long)of->a.heads);
    note_via(l);
    diag_end(l->diag);
    return false;
}

static bool read_channel_attention(const Call *call, Attention *of) {
    static const Channels weighted = {"channel_attention", "k", "v", "a channel of `k` weighs one of `v`"};
    if (!argument_feature_map(call, "q", &of->q) || !argument_feature_map(call, "k", &of->k) ||
        !argument_feature_map(call, "v", &of->v) || !argument_integer(call, "heads", 1, &of->a.heads) ||
        !argument_truth(call, "normalize", &of->a.normalize) ||
        !equal_points(call, "channel_attention", "q", of->q, "k", of->k) ||
        !equal_points(call, "channel_attention", "k", of->k, "v", of->v) ||
        !equal_channels(call, &weighted, of->k, of->v) || !heads_divide(call, of, "k", of->k) ||
        !argument_temperature(call, of))
        return false;
    of->a.scale = 1;
    return argument_scale(call, &of->a.scale);
}

/* The tables of all heads, and a factor for each channel of q and of k. */
static ValueId product_tables(const Call *call, const Attention *of) {
    const int64_t c = shape_channels(shape_of(call, of->q)), ck = shape_channels(shape_of(call, of->k));
    const int64_t numbers = size_sum(size_product(c, ck / of->a.heads), size_sum(c, ck));
    const Value value = {.name = pool_text(call->l->pool, "%s products", call->name),
                         .class = CLASS_BATCH_STATISTIC,
                         .type = TYPE_F32,
                         .shape = {.rank = 1, .dim = {numbers}},
                         .per_sample = true,
                         .span = call->span};
    return value_new(call->l->graph, value);
}

ValueId build_channel_attention(Call *call) {
    Attention of = {.a = {0}};
    if (!read_channel_attention(call, &of))
        return -1;
    const Shape out = shape_of(call, of.q);
    return small_enough(call, out) ? attention_node(call, &of, out, product_tables(call, &of)) : -1;
}

/* ---- linear attention ---- */

static bool read_linear_attention(const Call *call, Attention *of) {
    static const Channels multiplied = {"linear_attention", "q", "k",
                                        "each query is multiplied with each key"};
    return argument_feature_map(call, "q", &of->q) && argument_feature_map(call, "k", &of->k) &&
           argument_feature_map(call, "v", &of->v) && argument_integer(call, "heads", 1, &of->a.heads) &&
           equal_points(call, "linear_attention", "k", of->k, "v", of->v) &&
           equal_channels(call, &multiplied, of->q, of->k) && heads_divide(call, of, "v", of->v) &&
           argument_scale(call, &of->a.scale);
}

/* Keys and values make the table, by which queries become y: (v k) q. */
ValueId build_linear_attention(Call *call) {
    Attention of = {.bias = -1, .a = {.scale = 1, .linear = true}};
    if (!read_linear_attention(call, &of))
        return -1;
    Shape out = shape_of(call, of.q);
    out.dim[0] = shape_channels(shape_of(call, of.v));
    const ValueId q = of.q;
    of.q = of.v;
    of.v = q;
    call->op = OP_CHANNEL_ATTENTION;
    return small_enough(call, out) ? attention_node(call, &of, out, product_tables(call, &of)) : -1;
}
