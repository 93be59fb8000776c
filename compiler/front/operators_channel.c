/* operators_channel.c - build rules of the operators that look across the channels of a point, and chunk(),
 * which cuts them into parts.
 *
 * requires, provides   as operators.c
 */
#include "base/size_math.h"
#include "front/operator_build.h"
#include "front/operator_size.h"
#include "unet/words.h"

enum { MAX_FOLD = 64 };

/* The mean, the maximum: a map of one channel. */
ValueId build_channel(Call *call) {
    ValueId x;
    if (!argument_feature_map(call, "x", &x))
        return -1;
    Shape out = shape_of(call, x);
    out.dim[0] = 1;
    x = value_joined(call->l->graph, x, call->span);
    return node_append(call, &x, 1, (Attributes){0}, output_new(call, out));
}

/* Numbers that add up to 1 in each group of channels of a point, or over the points of each channel. */
ValueId build_softmax(Call *call) {
    static const char *const choices[] = {"channels", "points", NULL};
    ValueId x;
    int choice;
    Attributes a = {.kind = ATTRIBUTES_NORM};
    if (!argument_feature_map(call, "x", &x) || !argument_choice(call, "over", choices, &choice) ||
        !argument_norm_groups(call, shape_channels(shape_of(call, x)), &a.norm.groups))
        return -1;
    if (choice == 1) {
        if (a.norm.groups > 1) {
            (void)report_range(call, "groups", "left out, unless `over` is \"channels\"");
            return -1;
        }
        call->op = OP_POINT_SOFTMAX;
        a = (Attributes){0};
    }
    x = value_joined(call->l->graph, x, call->span);
    return node_append(call, &x, 1, a, output_new(call, shape_of(call, x)));
}

/* ---- dropout ---- */

ValueId build_dropout(Call *call) {
    Lower *l = call->l;
    ValueId x;
    double rate;
    if (!argument_feature_map(call, "x", &x) || !argument_number(call, "p", &rate))
        return -1;
    if (!(rate >= 0 && rate < 1)) {
        diag_begin(l->diag, ERROR, "U0316", argument(call, "p")->span, "`p` must be from 0 to below 1");
        diag_note(l->diag, "it is the share that is dropped");
        note_via(l);
        diag_end(l->diag);
        return -1;
    }
    if (rate == 0)
        return x;
    x = value_joined(l->graph, x, call->span);
    const Attributes a = {.kind = ATTRIBUTES_DROPOUT, .dropout = {.rate = rate, .number = l->graph->nnode}};
    return node_append(call, &x, 1, a, output_new(call, shape_of(call, x)));
}

/* ---- channels that become points, and the other way round ---- */

static bool report_fold(const Call *call, const char *code, const char *message) {
    Lower *l = call->l;
    diag_begin(l->diag, ERROR, code, call->span, "%s", message);
    note_via(l);
    diag_end(l->diag);
    return false;
}

/* Reads `x`, an image, and `r`. */
static bool argument_fold(const Call *call, ValueId *x, int64_t *fold) {
    if (!argument_feature_map(call, "x", x) || !argument_integer(call, "r", 1, fold))
        return false;
    if (shape_of(call, *x).rank != AXES)
        return report_fold(call, "U0319",
                           pool_text(call->l->pool, "`%s` takes an image", call->signature->name));
    if (*fold > MAX_FOLD)
        return report_fold(call, "U0316", pool_text(call->l->pool, "`r` can be %d at most", (int)MAX_FOLD));
    return true;
}

static ValueId folded(const Call *call, ValueId x, int64_t fold, Shape out) {
    const Attributes a = {.kind = ATTRIBUTES_MAP, .map.parameter = (double)fold};
    x = value_joined(call->l->graph, x, call->span);
    return small_enough(call, out) ? node_append(call, &x, 1, a, output_new(call, out)) : -1;
}

ValueId build_pixel_shuffle(Call *call) {
    ValueId x;
    int64_t fold;
    if (!argument_fold(call, &x, &fold))
        return -1;
    Shape out = shape_of(call, x);
    const int64_t unit = fold * fold;
    if (out.dim[0] % unit != 0) {
        report_fold(call, "U0402",
                    pool_text(call->l->pool,
                              "`%s` needs a multiple of %lld channels, r * r, and this is %lld",
                              call->signature->name, (long long)unit, (long long)out.dim[0]));
        return -1;
    }
    out.dim[0] /= unit;
    out.dim[1] = size_product(out.dim[1], fold);
    out.dim[2] = size_product(out.dim[2], fold);
    return folded(call, x, fold, out);
}

ValueId build_pixel_unshuffle(Call *call) {
    Lower *l = call->l;
    ValueId x;
    int64_t fold;
    bool wrong[AXES] = {false};
    if (!argument_fold(call, &x, &fold))
        return -1;
    Shape out = shape_of(call, x);
    for (int k = 1; k < AXES; k++) {
        wrong[k] = out.dim[k] % fold != 0 && (l->only_axis < 0 || l->only_axis == k);
        out.dim[k] = out.dim[k] >= fold ? out.dim[k] / fold : 1;
    }
    if (wrong[1] || wrong[2]) {
        diag_begin(l->diag, ERROR, "U0401", call->span, "the %s is no multiple of %lld",
                   axis_text(out, wrong[1] ? 1 : 2), (long long)fold);
        explain_sizes(l, x, x, wrong);
        note_via(l);
        diag_end(l->diag);
        return -1;
    }
    out.dim[0] = size_product(out.dim[0], fold * fold);
    return folded(call, x, fold, out);
}

/* ---- chunk ---- */

static Datum report_chunk(Lower *l, const Expr *expr, const char *code, const char *message) {
    diag_begin(l->diag, ERROR, code, expr->span, "%s", message);
    diag_note(l->diag, "chunk(x, n): n equal parts of the channels of x");
    note_via(l);
    diag_end(l->diag);
    return (Datum){.kind = DATUM_ERROR};
}

/* A function, for it has several results. */
Datum function_chunk(Lower *l, const Expr *expr, const Datum *argument, int count) {
    if (count != 2)
        return report_chunk(l, expr, "U0302",
                            pool_text(l->pool, "`chunk` takes 2 arguments, found %d", count));
    if (argument[0].kind != DATUM_TENSOR || argument[1].kind != DATUM_INTEGER)
        return report_chunk(l, expr, "U0319", "`chunk` takes a tensor and a whole number");
    const Shape in = l->graph->value[argument[0].tensor].shape;
    const int64_t n = argument[1].integer;
    if (n < 1 || in.dim[0] % n != 0)
        return report_chunk(l, expr, "U0402",
                            pool_text(l->pool, "%lld channel%s cannot be cut into %lld equal part%s",
                                      (long long)in.dim[0], unet_plural(in.dim[0]), (long long)n,
                                      unet_plural(n)));
    if (!charge(l, n, expr->span) || !is_numbers(l, argument[0].tensor, expr->span))
        return (Datum){.kind = DATUM_ERROR};
    const ValueId x = value_joined(l->graph, argument[0].tensor, expr->span);
    const Signature signature = {.name = "chunk"};
    Datum *part = NEW_ARRAY(l->pool, Datum, n);
    Shape out = in;
    out.dim[0] = in.dim[0] / n;
    for (int64_t i = 0; i < n; i++) {
        Call call = {.l = l, .signature = &signature, .op = OP_SLICE, .span = expr->span};
        call.name = pool_text(l->pool, "%s%schunk.%lld", l->slot->name == NULL ? "" : l->slot->name,
                              l->slot->name == NULL ? "" : ".", (long long)i);
        call.plan_name = (PlanName){l->frame->module, call.name, -1};
        const Attributes a = {.kind = ATTRIBUTES_SLICE, .slice.channel_begin = i * out.dim[0]};
        part[i] = datum_tensor(node_append(&call, &x, 1, a, output_new(&call, out)));
    }
    return datum_list(l, part, (int)n);
}
