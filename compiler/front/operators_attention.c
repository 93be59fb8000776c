/* operators_attention.c - the build rule of attention: points as queries, keys and values.
 *
 * requires, provides   as operators.c
 */
#include "base/size_math.h"
#include "front/operator_build.h"
#include "front/operator_size.h"

#include <math.h>

typedef struct {
    ValueId q, k, v;
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

static bool equal_channels(const Call *call, const Attention *of) {
    Lower *l = call->l;
    const Shape q = shape_of(call, of->q), k = shape_of(call, of->k);
    if (q.dim[0] == k.dim[0])
        return true;
    diag_begin(l->diag, ERROR, "U0402", argument(call, "k")->span,
               "`attention` needs as many channels of `k` as of `q`: %lld and %lld", (long long)k.dim[0],
               (long long)q.dim[0]);
    diag_note(l->diag, "`q` is %s, `k` is %s: each query is multiplied with each key",
              shape_text(l->pool, q), shape_text(l->pool, k));
    diag_help(l->diag, "make the channels equal with `linear(%s, %lld)`",
              argument_text(call, argument(call, "k")), (long long)q.dim[0]);
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

static bool heads_divide(const Call *call, const Attention *of) {
    Lower *l = call->l;
    const Shape q = shape_of(call, of->q), v = shape_of(call, of->v);
    const bool of_q = q.dim[0] % of->a.heads != 0;
    const Shape wrong = of_q ? q : v;
    if (wrong.dim[0] % of->a.heads == 0)
        return true;
    diag_begin(l->diag, ERROR, "U0408", argument(call, "heads")->span,
               "%lld heads do not divide the %lld channels of `%s`", (long long)of->a.heads,
               (long long)wrong.dim[0], of_q ? "q" : "v");
    diag_note(l->diag, "`q` is %s, `v` is %s: all heads have the same number of channels",
              shape_text(l->pool, q), shape_text(l->pool, v));
    diag_help(l->diag, "write `heads = %lld`", (long long)heads_for(of->a.heads, q.dim[0], v.dim[0]));
    note_via(l);
    diag_end(l->diag);
    return false;
}

/* Left out, it keeps the products as large as they are for one channel. */
static bool argument_scale(const Call *call, int64_t channels, double *scale) {
    *scale = 1 / sqrt((double)channels);
    if (argument(call, "scale")->value.kind == DATUM_NONE)
        return true;
    if (!argument_number(call, "scale", scale))
        return false;
    return *scale > 0 && *scale <= 1e9 ? true : report_range(call, "scale", "greater than 0");
}

static bool read_attention(const Call *call, Attention *of) {
    if (!argument_feature_map(call, "q", &of->q) || !argument_feature_map(call, "k", &of->k) ||
        !argument_feature_map(call, "v", &of->v) || !argument_integer(call, "heads", 1, &of->a.heads) ||
        !argument_truth(call, "causal", &of->a.causal) ||
        !equal_points(call, "attention", "k", of->k, "v", of->v) || !equal_channels(call, of) ||
        !heads_divide(call, of) ||
        (of->a.causal && !equal_points(call, "attention(causal = true)", "q", of->q, "k", of->k)))
        return false;
    return argument_scale(call, shape_channels(shape_of(call, of->q)) / of->a.heads, &of->a.scale);
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

ValueId build_attention(Call *call) {
    Graph *g = call->l->graph;
    Attention of = {.a = {0}};
    if (!read_attention(call, &of))
        return -1;
    Shape out = shape_of(call, of.q);
    out.dim[0] = shape_channels(shape_of(call, of.v));
    if (!small_enough(call, out))
        return -1;
    const ValueId in[] = {value_joined(g, of.q, call->span), value_joined(g, of.k, call->span),
                          value_joined(g, of.v, call->span)};
    const ValueId results[] = {output_new(call, out), row_numbers(call, of.a.heads, out),
                               -1}; /* the target's scratch */
    node_new(g,
             (Node){.op = call->op,
                    .nin = 3,
                    .nout = 3,
                    .a = {.kind = ATTRIBUTES_ATTENTION, .attention = of.a},
                    .name = call->name,
                    .span = call->span,
                    .via = call->l->via},
             in, results);
    return results[0];
}
