/* operators_norm.c - build rules of normalisations, which are several nodes each, and of layers of a number
 * for each channel.
 *
 * requires, provides   as operators.c
 */
#include "front/operator_build.h"
#include "front/operator_size.h"
#include "ir/ops.h"

typedef struct {
    ValueId x, weight, bias;
    Shape in;
    NormAttributes a;
} Norm;

static bool argument_epsilon(const Call *call, double *epsilon) {
    if (!argument_number(call, "eps", epsilon))
        return false;
    if (*epsilon > 0 && *epsilon <= 1)
        return true;
    return report_range(call, "eps",
                        *epsilon >= 2
                            ? "above 0 and at most 1; the number of channels is known and not given"
                            : "above 0 and at most 1");
}

static bool argument_normalised(const Call *call, Norm *norm) {
    Lower *l = call->l;
    if (!argument_feature_map(call, "x", &norm->x) || !argument_epsilon(call, &norm->a.epsilon))
        return false;
    norm->x = value_joined(l->graph, norm->x, call->span);
    norm->in = shape_of(call, norm->x);
    norm->a.groups = shape_channels(norm->in);
    norm->a.points = shape_elements(norm->in) / norm->a.groups;
    norm->weight = norm->bias = -1;
    return true;
}

/* A weight and a bias for each channel, as PyTorch starts them. */
static bool make_affine(const Call *call, Norm *norm) {
    const Shape vector = {.rank = 1, .dim = {shape_channels(norm->in)}};
    norm->weight = weight_new(call, "weight", vector, INIT_ONES, 0);
    norm->bias = norm->weight < 0 ? -1 : weight_new(call, "bias", vector, INIT_ZEROS, 0);
    return norm->bias >= 0 ? true : report_shared(call);
}

/* A number for each group of channels, of each sample or of the batch. */
static ValueId statistic_of(const Call *call, const Norm *norm, const char *what) {
    Value value = {.name = pool_text(call->l->pool, "%s %s", call->name, what),
                   .class = CLASS_BATCH_STATISTIC,
                   .type = TYPE_F32,
                   .shape = {.rank = 1, .dim = {norm->a.groups}},
                   .per_sample = !norm->a.batch,
                   .span = call->span};
    return value_new(call->l->graph, value);
}

static void norm_append(const Call *call, Op op, const Norm *norm, const ValueId *in, int nin,
                        const ValueId *out, int nout) {
    node_new(call->l->graph,
             (Node){.op = op,
                    .nin = nin,
                    .nout = nout,
                    .a = {.kind = ATTRIBUTES_NORM, .norm = norm->a},
                    .name = call->name,
                    .span = call->span,
                    .via = call->l->via},
             in, out);
}

/* STATISTIC: mean and variance. */
static void append_statistics(const Call *call, const Norm *norm, ValueId statistic[2]) {
    statistic[0] = statistic_of(call, norm, "mean");
    statistic[1] = statistic_of(call, norm, "variance");
    const ValueId out[] = {statistic[0], statistic[1], -1}; /* the target's scratch */
    norm_append(call, norm->a.batch ? OP_BATCH_STATISTICS : OP_NORM_STATISTICS, norm, &norm->x, 1, out, 3);
}

static ValueId append_norm(const Call *call, const Norm *norm, const ValueId statistic[2]) {
    const ValueId in[] = {norm->x, statistic[0], statistic[1], norm->weight, norm->bias, -1};
    return node_append(call, in, 6, (Attributes){.kind = ATTRIBUTES_NORM, .norm = norm->a},
                       output_new(call, norm->in));
}

static bool has_several(const Call *call, const Norm *norm) {
    Lower *l = call->l;
    if (norm->a.points > 1 || norm->a.groups < shape_channels(norm->in))
        return true;
    diag_begin(l->diag, ERROR, "U0411", call->span, "`%s` would see one value at a time",
               call->signature->name);
    diag_label(l->diag, "%s", shape_text(l->pool, norm->in));
    diag_note(l->diag, "the mean of one value is that value: all that comes out is the bias");
    note_via(l);
    diag_end(l->diag);
    return false;
}

static ValueId append_sample_norm(const Call *call, const Norm *norm) {
    ValueId statistic[2];
    if (!has_several(call, norm))
        return -1;
    append_statistics(call, norm, statistic);
    return append_norm(call, norm, statistic);
}

/* Returns a new value for x normalised without weights; a scale behind it applies them. */
static ValueId normal_new(const Call *call, const Norm *norm) {
    return value_new(call->l->graph, (Value){.name = pool_text(call->l->pool, "%s normalised", call->name),
                                             .class = CLASS_ACTIVATION,
                                             .type = TYPE_F32,
                                             .shape = norm->in,
                                             .per_sample = true,
                                             .span = call->span});
}

static ValueId append_affine(Call *call, const Norm *norm, ValueId normal) {
    const ValueId in[] = {normal, norm->weight, norm->bias};
    call->op = OP_SCALE;
    return node_append(call, in, 3, (Attributes){0}, output_new(call, norm->in));
}

/* A number of each channel for a scale by running statistics. */
static ValueId constant_of(const Call *call, const Norm *norm, const char *what) {
    return value_new(call->l->graph, (Value){.name = pool_text(call->l->pool, "%s %s", call->name, what),
                                             .class = CLASS_WORKSPACE,
                                             .type = TYPE_F32,
                                             .shape = {.rank = 1, .dim = {norm->a.groups}},
                                             .span = call->span});
}

/* In training, too, by running statistics, which nobody changes: a factor and a summand of each channel,
 * whose gradient by x is the factor.  Weights are learnt, so another scale has them. */
static ValueId append_running_norm(Call *call, const Norm *norm, const ValueId running[2]) {
    const ValueId fold_in[] = {-1, -1, running[0], running[1], -1, -1},
                  fold_out[] = {constant_of(call, norm, "factor"), constant_of(call, norm, "summand")};
    norm_append(call, OP_NORM_FOLD, norm, fold_in, 6, fold_out, 2);
    const ValueId in[] = {norm->x, fold_out[0], fold_out[1]};
    call->op = OP_SCALE;
    return append_affine(call, norm, node_append(call, in, 3, (Attributes){0}, normal_new(call, norm)));
}

static ValueId append_batch_norm(const Call *call, Norm *norm, bool sync, const ValueId running[2]) {
    ValueId statistic[2];
    norm->a.sync = sync;
    append_statistics(call, norm, statistic);
    const ValueId tracked[] = {running[0], running[1], statistic[0], statistic[1]};
    norm_append(call, OP_NORM_TRACK, norm, tracked, 4, NULL, 0);
    return append_norm(call, norm, statistic);
}

/* How many groups --batch-norm=group makes of so many channels: 32, as in the paper of group_norm (Wu and
 * He, 2018), or the most below that divide them, of two channels at least. */
static int64_t usual_groups(int64_t channels) {
    enum { MOST = 32 };
    int64_t groups = channels / 2 < MOST ? channels / 2 : MOST;
    while (groups > 1 && channels % groups != 0)
        groups--;
    return groups > 1 ? groups : 1;
}

/* `group_norm` or `instance_norm`, with the weights of the `batch_norm` in whose place it stands. */
static ValueId append_in_place(Call *call, Norm *norm, BatchNorm way) {
    norm->a.batch = false;
    call->op = way == BATCH_NORM_GROUP ? OP_GROUP_NORM : OP_INSTANCE_NORM;
    if (way == BATCH_NORM_GROUP)
        norm->a.groups = usual_groups(norm->a.groups);
    return append_sample_norm(call, norm);
}

static bool argument_statistics(const Call *call, bool sync, bool *running) {
    static const char *const choices[] = {"batch", "running", NULL};
    int choice;
    if (!argument_choice(call, "statistics", choices, &choice))
        return false;
    *running = choice == 1;
    if (!*running || !sync)
        return true;
    return report_range(call, "sync", "left out, unless `statistics` is \"batch\"");
}

/* Training normalises by the statistics of the batch and brings the running ones up to date; what comes
 * later normalises by those. */
ValueId build_batch_norm(Call *call) {
    Norm norm = {.a.batch = true};
    bool sync, keeps_running;
    if (!argument_normalised(call, &norm) || !argument_number(call, "momentum", &norm.a.momentum) ||
        !argument_truth(call, "sync", &sync) || !argument_statistics(call, sync, &keeps_running))
        return -1;
    if (!(norm.a.momentum >= 0 && norm.a.momentum <= 1)) {
        report_range(call, "momentum", "from 0 to 1");
        return -1;
    }
    if (!make_affine(call, &norm))
        return -1;
    const BatchNorm way = call->l->options->batch_norm;
    if (way == BATCH_NORM_GROUP || way == BATCH_NORM_INSTANCE)
        return append_in_place(call, &norm, way);
    const Shape vector = {.rank = 1, .dim = {norm.a.groups}};
    const ValueId running[2] = {statistic_new(call, "running_mean", vector, INIT_ZEROS),
                                statistic_new(call, "running_var", vector, INIT_ONES)};
    if (call->l->options->program != PROGRAM_TRAIN)
        return append_norm(call, &norm, running);
    return way == BATCH_NORM_RUNNING || keeps_running ? append_running_norm(call, &norm, running)
                                                      : append_batch_norm(call, &norm, sync, running);
}

ValueId build_instance_norm(Call *call) {
    Norm norm = {0};
    bool affine;
    if (!argument_normalised(call, &norm) || !argument_truth(call, "affine", &affine) ||
        (affine && !make_affine(call, &norm)))
        return -1;
    return append_sample_norm(call, &norm);
}

/* "1, 2, 3 and 6": what divides NUMBER, up to MOST. */
static const char *divisors_text(Pool *pool, int64_t number, int64_t most) {
    const char *text = "1", *last = NULL;
    for (int64_t d = 2; d <= most && d <= number; d++) {
        if (number % d != 0)
            continue;
        text = last == NULL ? text : pool_text(pool, "%s, %s", text, last);
        last = pool_text(pool, "%lld", (long long)d);
    }
    return last == NULL ? text : pool_text(pool, "%s and %s", text, last);
}

static bool divides(const Call *call, const char *name, int64_t groups, int64_t channels) {
    Lower *l = call->l;
    if (channels % groups == 0)
        return true;
    diag_begin(l->diag, ERROR, "U0408", argument(call, name)->span,
               "`%s(%lld)` needs a multiple of %lld channels, and this is %lld", call->signature->name,
               (long long)groups, (long long)groups, (long long)channels);
    diag_help(l->diag, "the divisors of %lld up to %lld are %s", (long long)channels, (long long)groups,
              divisors_text(l->pool, channels, groups));
    note_via(l);
    diag_end(l->diag);
    return false;
}

bool argument_norm_groups(const Call *call, int64_t channels, int64_t *groups) {
    return argument_integer(call, "groups", 1, groups) && divides(call, "groups", *groups, channels);
}

ValueId build_group_norm(Call *call) {
    Norm norm = {0};
    int64_t groups;
    if (!argument_normalised(call, &norm) ||
        !argument_norm_groups(call, shape_channels(norm.in), &groups) || !make_affine(call, &norm))
        return -1;
    norm.a.groups = groups;
    return append_sample_norm(call, &norm);
}

/* Over the channels of a point; weights and biases belong to a scale. */
ValueId build_layer_norm(Call *call) {
    Norm norm = {0};
    if (!argument_normalised(call, &norm) || !make_affine(call, &norm))
        return -1;
    const ValueId normal = normal_new(call, &norm);
    norm_append(call, OP_LAYER_NORM, &norm, &norm.x, 1, &normal, 1);
    return append_affine(call, &norm, normal);
}

/* By the length of each group of channels of a point. */
ValueId build_normalize(Call *call) {
    Norm norm = {0};
    if (!argument_normalised(call, &norm) ||
        !argument_norm_groups(call, shape_channels(norm.in), &norm.a.groups))
        return -1;
    return node_append(call, &norm.x, 1, (Attributes){.kind = ATTRIBUTES_NORM, .norm = norm.a},
                       output_new(call, norm.in));
}

/* By the root of the mean square of the channels of a point; weights belong to a scale. */
ValueId build_rms_norm(Call *call) {
    Norm norm = {0};
    const ValueId *const x = &norm.x;
    if (!argument_normalised(call, &norm))
        return -1;
    norm.weight =
        weight_new(call, "weight", (Shape){.rank = 1, .dim = {shape_channels(norm.in)}}, INIT_ONES, 0);
    if (norm.weight < 0) {
        (void)report_shared(call);
        return -1;
    }
    norm.a.groups = 1;
    norm.a.root_mean = true;
    const ValueId normal = normal_new(call, &norm);
    norm_append(call, OP_NORMALIZE, &norm, x, 1, &normal, 1);
    return append_affine(call, &norm, normal);
}

/* ---- a number for each channel ---- */

static ValueId append_scale(const Call *call, const char *suffix, ValueId x, int64_t count) {
    double init;
    if (!argument_number(call, "init", &init))
        return -1;
    x = value_joined(call->l->graph, x, call->span);
    const Shape vector = {.rank = 1, .dim = {count}};
    const ValueId in[] = {x, weight_new(call, suffix, vector, INIT_CONSTANT, init), -1};
    if (in[1] >= 0)
        return node_append(call, in, 3, (Attributes){0}, output_new(call, shape_of(call, x)));
    report_shared(call);
    return -1;
}

/* PyTorch has it as a parameter of the module, without a name of its own; so its path is not the path of y.
 */
ValueId build_scale(Call *call) {
    ValueId x;
    call->plan_name.suffix = "scaled";
    return argument_feature_map(call, "x", &x)
               ? append_scale(call, "", x, shape_channels(shape_of(call, x)))
               : -1;
}

ValueId build_prelu(Call *call) {
    Lower *l = call->l;
    ValueId x;
    int64_t count;
    if (!argument_feature_map(call, "x", &x) || !argument_integer(call, "parameters", 1, &count))
        return -1;
    const int64_t channels = shape_channels(shape_of(call, x));
    if (count == 1 || count == channels)
        return append_scale(call, "weight", x, count);
    diag_begin(l->diag, ERROR, "U0408", argument(call, "parameters")->span,
               "`prelu` has 1 slope or one for each of %lld channels, and this is %lld",
               (long long)channels, (long long)count);
    note_via(l);
    diag_end(l->diag);
    return -1;
}
