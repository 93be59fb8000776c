/* autodiff.c - appends the backward pass.
 *
 * Walks the forward nodes from last to first.  When a node is met, the gradient by each of its outputs is
 * complete, because every reader of them stands further down; its row's rule appends the nodes for the
 * gradients of its inputs.  If a value is read several times, the contributions are summed in the order
 * in which they appear, by ordinary `add` nodes: one order, so that no plan can change a bit of the result.
 *
 * A concat has no gradient of its own: contributions go to its segments, which live and die separately.
 *
 * Requires: a forward graph that holds only what the losses need.
 * Provides: for every parameter the losses depend on that is not frozen, a value of class
 * CLASS_PARAMETER_GRADIENT (program->gradient), and the nodes that compute it.
 */
#include "ir/rule_gradient.h"
#include "passes/passes.h"

struct Autodiff {
    Graph *g;
    bool *wanted;      /* per forward value */
    bool *is_loss;     /* per forward value: gradients begin there */
    ValueId *gradient; /* per forward value: the sum so far, or -1 */
};

bool gradient_wanted(const Autodiff *ad, ValueId v) {
    return v >= 0 && ad->wanted[v];
}

Graph *gradient_graph(const Autodiff *ad) {
    return ad->g;
}

ValueId gradient_value(Autodiff *ad, ValueId v) {
    Value value = ad->g->value[v];
    bool parameter = value.class == CLASS_PARAMETER && !value.frozen;
    value.name = pool_text(ad->g->pool, "d %s", value.name);
    value.class = parameter ? CLASS_PARAMETER_GRADIENT : CLASS_ACTIVATION_GRADIENT;
    value.nsegments = 0;
    value.segment = NULL;
    value.input = -1;
    return value_new(ad->g, value);
}

void gradient_node(Autodiff *ad, const Node *forward, Op op, Attributes a, const ValueId *in, int nin,
                   const ValueId *out, int nout) {
    node_new(ad->g,
             (Node){.op = op,
                    .nin = nin,
                    .nout = nout,
                    .a = a,
                    .name = forward->name,
                    .span = forward->span,
                    .via = forward->via},
             in, out);
}

static void mark_wanted(Autodiff *ad) {
    Graph *g = ad->g;
    for (ValueId v = 0; v < g->nvalue; v++)
        ad->wanted[v] = g->value[v].class == CLASS_PARAMETER && !g->value[v].frozen;
    for (int i = 0; i < g->nnode; i++) {
        bool wanted = false;
        for (int k = 0; k < g->node[i].nin; k++) {
            const ValueId *segment;
            int n = value_segments(g, &g->node[i].in[k], &segment);
            for (int p = 0; p < n; p++)
                wanted |= segment[p] >= 0 && ad->wanted[segment[p]];
            if (wanted && n > 1)
                ad->wanted[g->node[i].in[k]] = true;
        }
        for (int k = 0; k < g->node[i].nout; k++)
            if (g->node[i].out[k] >= 0)
                ad->wanted[g->node[i].out[k]] = wanted;
    }
}

/* Adds the contribution D to the gradient by segment V. */
static void contribute(Autodiff *ad, const Node *forward, ValueId v, ValueId d) {
    if (d < 0 || !ad->wanted[v])
        return;
    if (ad->gradient[v] < 0) {
        ad->gradient[v] = d;
        return;
    }
    ValueId sum = gradient_value(ad, v), in[2] = {ad->gradient[v], d};
    gradient_node(ad, forward, OP_ADD, (Attributes){0}, in, 2, &sum, 1);
    ad->gradient[v] = sum;
}

static void differentiate(Autodiff *ad, const Node *node) {
    Graph *g = ad->g;
    ValueId dout[MAX_OUTPUTS];
    if (node->nout == 0) /* it updates something and has no result */
        return;
    bool flows = ad->is_loss[node->out[0]];
    for (int k = 0; k < MAX_OUTPUTS; k++) {
        dout[k] = k < node->nout && node->out[k] >= 0 ? ad->gradient[node->out[k]] : -1;
        flows |= dout[k] >= 0;
    }
    if (!flows || !ad->wanted[node->out[0]])
        return;
    ValueId *din = NEW_ARRAY(g->pool, ValueId, node->nin);
    for (int k = 0; k < node->nin; k++)
        din[k] = -1;
    op_table[node->op].gradient(ad, node, dout, din);
    for (int k = 0; k < node->nin; k++) {
        if (din[k] < 0)
            continue;
        const ValueId *segment, *dsegment;
        int n = value_segments(g, &node->in[k], &segment), nd = value_segments(g, &din[k], &dsegment);
        CHECK(n == nd);
        for (int p = 0; p < n; p++)
            contribute(ad, node, segment[p], dsegment[p]);
    }
}

void autodiff(Program *program) {
    Graph *g = program->graph;
    if (program->kind != PROGRAM_TRAIN)
        return;
    Autodiff ad = {.g = g};
    ad.wanted = NEW_ARRAY(g->pool, bool, g->nvalue);
    ad.gradient = NEW_ARRAY(g->pool, ValueId, g->nvalue);
    for (ValueId v = 0; v < g->nvalue; v++)
        ad.gradient[v] = -1;
    ad.is_loss = NEW_ARRAY(g->pool, bool, g->nvalue);
    for (int i = 0; i < program->model->nresult; i++)
        ad.is_loss[program->model->result[i].value] |= program->model->result[i].is_loss;
    mark_wanted(&ad);
    for (int i = g->nnode - 1; i >= 0; i--) {
        Node node = g->node[i]; /* the array moves as it grows */
        differentiate(&ad, &node);
    }
    program->gradient = NEW_ARRAY(g->pool, ValueId, program->nparameter);
    for (int k = 0; k < program->nparameter; k++)
        program->gradient[k] = ad.gradient[program->parameter[k]];
}
