/* op_update.c - optimisers: one sweep over all parameters, which lie side by side, as do their gradients
 * and the optimiser's state, in one order. */
#include "base/size_math.h"
#include "ir/rule_constants.h"
#include "ir/ops.h"
#include "unet/codes.h"

#include <string.h>

int64_t gradient_elements(const Graph *g, const Node *node) {
    const ValueId *segment;
    int n = value_segments(g, &node->in[input_named(&g->operands[node->op], "g")], &segment);
    int64_t count = 0;
    for (int p = 0; p < n; p++)
        count += shape_elements(g->value[segment[p]].shape);
    return count;
}

int64_t flops_loss_scale(const Graph *g, const Node *node) {
    return gradient_elements(g, node);
}

int64_t flops_gradient_norm(const Graph *g, const Node *node) {
    return 2 * gradient_elements(g, node);
}

int64_t flops_sgd(const Graph *g, const Node *node) {
    return 4 * gradient_elements(g, node);
}

int64_t flops_adam(const Graph *g, const Node *node) {
    return 12 * gradient_elements(g, node);
}

int64_t flops_rmsprop(const Graph *g, const Node *node) {
    return 10 * gradient_elements(g, node);
}

bool weight_decays(const Optimizer *o, const Value *parameter) {
    return !o->spares_vectors || parameter->shape.rank > 1;
}

bool may_be_coded(const Value *parameter) {
    return unet_is_coded(parameter->shape.rank, shape_elements(parameter->shape)) != 0;
}

int64_t coded_bytes(const Value *parameter, Type real) {
    const int64_t elements = shape_elements(parameter->shape);
    return size_sum(unet_code_maxima(elements), size_product(unet_code_blocks(elements), type_bytes(real)));
}

bool is_average(const Operand *state) {
    return strncmp("average", state->name, (size_t)state->length) == 0;
}

/* Returns how many elements NODE updates, padding between parameters included. */
static int64_t updated_elements(const Constants *c, const Node *node) {
    const ValueId *parameter;
    const int count = value_segments(constants_graph(c), &node->in[0], &parameter);
    return constant_stored_elements(c, parameter, count);
}

/* Returns how many of these elements decay; they lie in front. */
static int64_t decayed_elements(const Constants *c, const Node *node) {
    const Graph *g = constants_graph(c);
    const ValueId *parameter;
    const int count = value_segments(g, &node->in[0], &parameter);
    int n = 0;
    while (n < count && weight_decays(&node->a.update.optimizer, &g->value[parameter[n]]))
        n++;
    return constant_stored_elements(c, parameter, n);
}

/* The region INPUT of NODE, and what of it are numbers and not padding between them. */
static void constant_region(Constants *c, const Node *node, const char *input) {
    constant(c, "COUNT", constant_region_elements(c));
    constant(c, "BANDS", node->a.reduction.bands);
    constant_runs(c, node->in[input_named(&constants_graph(c)->operands[node->op], input)]);
}

static bool has_input(const Constants *c, const Node *node, const char *input) {
    return node->in[input_named(&constants_graph(c)->operands[node->op], input)] >= 0;
}

/* Adam's second moment is at least so many times the square of the first (unet/codes.h). */
static double least_square(const Optimizer *o) {
    const double keep1 = o->beta1, keep2 = o->beta2;
    return keep1 * keep1 < keep2 ? (1 - keep1 * keep1 / keep2) * (1 - keep2) / ((1 - keep1) * (1 - keep1))
                                 : 0;
}

static void constant_betas(Constants *c, const Optimizer *optimizer) {
    constant_real(c, "BETA1", optimizer->beta1);
    constant_real(c, "BETA2", optimizer->beta2);
}

/* PyTorch's: halved after an overflow, doubled after so many steps without one. */
void constants_loss_scale(Constants *c, const Node *node) {
    constant_betas(c, &constant_training(c)->optimizer);
    constant_region(c, node, "g");
    constant(c, "GROWTH_INTERVAL", 2000);
    call_arguments(c, "", "");
}

void constants_gradient_norm(Constants *c, const Node *node) {
    constant_region(c, node, "g");
    constant(c, "SCALED", has_input(c, node, "scale"));
    constant_real(c, "LIMIT", node->a.reduction.limit);
    call_arguments(c, "", "");
}

/* Arguments for the elements that NODE updates: all, or the slice for which this process has state. */
static const char *updated_text(const Constants *c, const Node *node) {
    const TrainSection *train = constant_training(c);
    const long long count = (long long)updated_elements(c, node), least = (long long)train->processes;
    Pool *pool = constants_graph(c)->pool;
    return train->shards_optimizer
               ? pool_text(pool,
                           ", unet_slice(step->team, %lld, %lld, 0), unet_slice(step->team, %lld, %lld, 1)",
                           count, least, count, least)
               : pool_text(pool, ", 0, %lld", count);
}

/* The first state of NODE that may be in codes; -1: it has none. */
static ValueId first_state(const Graph *g, const Node *node) {
    for (int k = 2; k < node->nin; k++) {
        const Operand *operand = &g->operands[node->op].in[k];
        if (operand->access == ACCESS_UPDATE && !is_average(operand) && node->in[k] >= 0)
            return node->in[k];
    }
    return -1;
}

void constants_update(Constants *c, const Node *node) {
    const Optimizer *o = &node->a.update.optimizer;
    constant_coded(c, node->in[0], first_state(constants_graph(c), node));
    constant(c, "COUNT", updated_elements(c, node));
    constant(c, "SHARDED", constant_training(c)->shards_optimizer);
    constant(c, "PROCESSES", constant_training(c)->processes);
    constant(c, "SCALED", has_input(c, node, "scale"));
    constant(c, "CLIPS", has_input(c, node, "norm"));
    constant(c, "AVERAGED", has_input(c, node, "average"));
    constant_real(c, "CLIP", node->a.update.clip);
    constant_real(c, "AVERAGE", node->a.update.average);
    constant(c, "NESTEROV", o->nesterov);
    constant(c, "DECOUPLED", o->kind == OPTIMIZER_ADAMW);
    constant(c, "AMSGRAD", o->amsgrad);
    constant(c, "CENTERED", o->centered);
    constant_real(c, "WEIGHT_DECAY", o->weight_decay);
    constant_real(c, "MOMENTUM", o->momentum);
    constant_real(c, "DAMPENING", o->dampening);
    constant_betas(c, o);
    constant_real(c, "LEAST_SQUARE", least_square(o));
    constant_real(c, "ALPHA", o->alpha);
    constant_real(c, "EPSILON", o->epsilon);
    call_number(c, decayed_elements(c, node));
    call_arguments(
        c, "",
        pool_text(constants_graph(c)->pool, "step->learning_rate, step->step%s", updated_text(c, node)));
}

/* Numbers of the sums SUMS: of a region, or of a bucket of it, all that are stored. */
static void constant_sums(Constants *c, ValueId sums) {
    const Value *value = &constants_graph(c)->value[sums];
    const ValueId *segment;
    const int n = value_segments(constants_graph(c), &sums, &segment);
    constant(c, "COUNT",
             value->class == CLASS_PARAMETER_GRADIENT ? constant_stored_elements(c, segment, n)
                                                      : shape_elements(value->shape));
}

/* The place of the sums SUMS in the LEVELS, from BEGIN on or in the place of their bucket, and the distance
 * of two levels. */
static void constant_levels(Constants *c, ValueId sums, ValueId levels, int64_t begin) {
    const ValueId *segment;
    const int n = value_segments(constants_graph(c), &sums, &segment);
    int64_t place;
    const int bucket = constant_bucket(c, sums, &place);
    constant(c, "BUCKET", bucket);
    constant(c, "PLACE", bucket < 0 ? begin : place);
    constant(c, "APART",
             bucket < 0 ? constants_graph(c)->value[levels].shape.dim[1]
                        : size_sum(constant_stored_elements(c, segment, n), constant_training(c)->ranks));
}

/* The group of the process that ends, and whether it is the last. */
void constants_group_sum(Constants *c, const Node *node) {
    const Graph *g = constants_graph(c);
    const Value *levels = &g->value[node->out[1]];
    constant_sums(c, node->out[0]);
    constant_levels(c, node->out[0], node->out[1], node->a.part.begin);
    constant(c, "LEVELS", levels->shape.dim[0]);
    constant(c, "DOUBLES", levels->class != CLASS_PARAMETER_GRADIENT);
    constant(c, "GROUP", constant_group(c));
    call_arguments(
        c,
        pool_text(g->pool, "(start - step->first) / %lld, start + n == last", (long long)constant_group(c)),
        "");
}

static void constant_sharded(Constants *c) {
    constant(c, "SHARDED", constant_training(c)->shards_optimizer && !updates_wait(constants_graph(c)));
}

/* The operands of the sum of ranks, or of a bucket of it. */
static void constant_ranks(Constants *c, ValueId sums, ValueId levels) {
    int depth = 1; /* of the tree of all processes that there may be */
    while (INT64_C(1) << depth < constant_training(c)->ranks)
        depth++;
    constant_sums(c, sums);
    constant_levels(c, sums, levels, 0);
    constant(c, "LEVELS", depth);
    constant_sharded(c);
}

/* With --poison no other thread may touch the arena, so all gradients are sent in the end. */
void constants_rank_start(Constants *c, const Node *node) {
    constant_ranks(c, node->in[0], node->in[1]);
    call_arguments(c,
                   constant_checks(c)
                       ? "false, NULL, NULL"
                       : "start + n == last, step->team != NULL ? step->team->start : NULL, step->team",
                   "");
}

void constants_rank_sum(Constants *c, const Node *node) {
    constant_ranks(c, node->out[0], node->in[0]);
    call_arguments(c, "step->team != NULL ? step->team->sum : NULL, step->team", "");
}

void constants_rank_gather(Constants *c, const Node *node) {
    constant(c, "COUNT", constant_region_elements(c));
    constant(c, "AVERAGED", has_input(c, node, "average"));
    call_arguments(c, "step->team != NULL ? step->team->gather : NULL, step->team", "");
}

void constants_zero(Constants *c, const Node *node) {
    const Value *v = &constants_graph(c)->value[node->out[0]];
    call_arguments(c, "", "");
    call_number(c, shape_elements(v->shape) * type_bytes(v->type));
}
