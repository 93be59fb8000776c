/* track.c - the rules of `track(x, rate, again)`, an operator for tests alone (more_operators.def).
 *
 * An exponential average of the mean of x: mean = (1 - rate) * mean + rate * mean(x).  Training updates it;
 * in evaluation and prediction there is no node, but the running statistic is there, as all programs have
 * the same ones.  With `again` the last call sets it.  The value of the call is x.
 */
#include "front/lower_state.h"
#include "ir/ops.h"
#include "ir/rule_constants.h"

/* The statistic of the last call, or -1. */
static ValueId last_statistic(const Graph *g) {
    ValueId v = g->nvalue - 1;
    while (v >= 0 && g->value[v].class != CLASS_RUNNING_STATISTIC)
        v--;
    return v;
}

ValueId build_track(Call *call) {
    Lower *l = call->l;
    ValueId x;
    double rate;
    bool again;
    if (!argument_tensor(call, "x", &x) || !argument_number(call, "rate", &rate) ||
        !argument_truth(call, "again", &again))
        return -1;
    Graph *g = l->graph;
    x = value_joined(g, x, call->span);
    const ValueId mean = again ? last_statistic(g)
                               : value_new(g, (Value){.name = pool_text(g->pool, "%s.mean", call->name),
                                                      .class = CLASS_RUNNING_STATISTIC,
                                                      .type = TYPE_F32,
                                                      .shape = {.rank = 1, .dim = {1}},
                                                      .span = call->span});
    const ValueId in[] = {mean, x};
    if (l->options->program == PROGRAM_TRAIN)
        node_new(g,
                 (Node){.op = OP_TRACK,
                        .nin = 2,
                        .a = {.kind = ATTRIBUTES_MAP, .map.parameter = rate},
                        .name = call->name,
                        .span = call->span,
                        .via = l->via},
                 in, NULL);
    return x;
}

int64_t flops_track(const Graph *g, const Node *node) {
    return shape_elements(g->value[node->in[1]].shape);
}

void constants_track(Constants *c, const Node *node) {
    constant_channels(c, "C", node->in[1]);
    constant_extents(c, "", node->in[1]);
    constant_layout(c, "X", node->in[1]);
    constant_real(c, "RATE", node->a.map.parameter);
}
