/* operators_vocabulary.c - `cross_entropy(linear(x, n), words)`, and accuracy alike, where words are
 * numbers of so many classes that the logits of all points would be the largest tensor by far.
 *
 * requires   as label_losses.c; the logits come from a `linear`
 * provides   a node that reads what the `linear` reads: nobody keeps the logits (ir/op_vocabulary.c)
 */
#include "front/operator_compare.h"
#include "front/operator_size.h"
#include "ir/ops.h"

bool compares_numbers(const Call *call) {
    const Datum labels = argument(call, "labels")->value;
    const Input *input = labels.kind == DATUM_TENSOR ? declared(call->l, labels.tensor) : NULL;
    return input != NULL && input->kind == KIND_SIGNAL &&
           shape_channels(call->l->graph->value[input->value].shape) == 1;
}

/* Reports numbers for fewer points than there are, or for more; returns false. */
static bool report_points(const Call *call, ValueId logits, ValueId numbers) {
    Lower *l = call->l;
    const Input *target = declared(l, numbers);
    diag_begin(l->diag, ERROR, "U0406", argument(call, "labels")->span,
               "the prediction has %s points, and `%s` has %s numbers of classes", sizes_text(l, logits),
               target->name, sizes_text(l, numbers));
    diag_also(l->diag, target->span, "declared here");
    diag_help(l->diag, "declare `target %s : signal(1, %s)`", target->name, sizes_text(l, logits));
    note_via(l);
    diag_end(l->diag);
    return false;
}

/* Returns whether LOGITS and NUMBERS have as many points; false without a message where only one axis is
 * tried. */
static bool same_points(const Call *call, ValueId logits, ValueId numbers) {
    Lower *l = call->l;
    const Shape x = l->graph->value[logits].shape, t = l->graph->value[numbers].shape;
    for (int axis = 0; axis < AXES; axis++) {
        if (shape_extent(x, axis) == shape_extent(t, axis) || (l->only_axis >= 0 && axis != l->only_axis))
            continue;
        l->unequal = true;
        return l->only_axis < 0 ? report_points(call, logits, numbers) : false;
    }
    return true;
}

/* Returns the `linear` that made the logits; reports and returns NULL if there is none. */
static const Node *linear_of(const Call *call, const char *name, ValueId logits) {
    Lower *l = call->l;
    const Graph *g = l->graph;
    const NodeId producer = g->value[logits].producer;
    const Node *node = producer < 0 ? NULL : &g->node[producer];
    if (node != NULL && node->op == OP_CONV && g->value[node->in[1]].shape.rank == 2)
        return node;
    diag_begin(l->diag, ERROR, "U0415", argument(call, name)->span,
               "`%s` with numbers of classes takes the result of a `linear`", call->signature->name);
    diag_note(l->diag, "it makes the logits again, some classes at a time, and keeps none");
    diag_help(l->diag, "end the network with `linear(x, n)`, n being the number of classes");
    diag_help(l->diag, "or, of at most %d classes, declare a target of `labels(n)`", MOST_CLASSES);
    note_via(l);
    diag_end(l->diag);
    return NULL;
}

/* Returns whether the call has none of the arguments that numbers of classes do not take. */
static bool takes_no_more(const Call *call) {
    enum { TAKEN = 2 };
    Lower *l = call->l;
    for (int k = TAKEN; k < call->signature->params.count; k++) {
        const Argument *given = &call->argument[k];
        double number = 1;
        if (given->value.kind == DATUM_NONE || (datum_number(given->value, &number) && number == 0))
            continue;
        diag_begin(l->diag, ERROR, "U0316", given->span, "`%s` with numbers of classes takes no `%s`",
                   call->signature->name, call->signature->params.item[k].name);
        diag_note(l->diag, "a point with a negative number does not count");
        note_via(l);
        diag_end(l->diag);
        return false;
    }
    return true;
}

/* A number for each point, which the gradient reads; -1: there is none. */
static ValueId point_numbers(const Call *call, Shape x) {
    const Value value = {.name = pool_text(call->l->pool, "%s lse", call->signature->name),
                         .class = CLASS_BATCH_STATISTIC,
                         .type = TYPE_F32,
                         .shape = {.rank = 1, .dim = {shape_elements(x) / shape_channels(x)}},
                         .per_sample = true,
                         .span = call->span};
    return call->l->options->program == PROGRAM_TRAIN ? value_new(call->l->graph, value) : -1;
}

/* Makes a node OP that compares the logits, argument NAME, with numbers.  LEARNS: a gradient follows. */
static ValueId build(Call *call, Op op, const char *name, bool learns) {
    enum { X, WEIGHT, BIAS };
    Lower *l = call->l;
    Graph *g = l->graph;
    ValueId logits, numbers;
    LabelAttributes *a = NEW(g->pool, LabelAttributes);
    if (!argument_tensor(call, name, &logits) || !argument_tensor(call, "labels", &numbers) ||
        !same_points(call, logits, numbers))
        return -1;
    const Node *linear = linear_of(call, name, logits);
    if (linear == NULL || !takes_no_more(call))
        return -1;
    const ValueId read = linear->in[X], weight = linear->in[WEIGHT],
                  bias = linear->nin > BIAS ? linear->in[BIAS] : -1;
    *a = (LabelAttributes){.ignore = -1, .numbers = true, .classes = g->value[logits].shape.dim[0]};
    const ValueId x = value_joined(g, read, call->span), in[] = {x, numbers, weight, bias};
    const Value result = {.name = call->signature->name,
                          .class = CLASS_METRIC,
                          .type = TYPE_F64,
                          .shape = {.rank = 1, .dim = {1}},
                          .span = call->span};
    const ValueId out[] = {value_new(g, result), learns ? point_numbers(call, g->value[x].shape) : -1, -1};
    node_new(g,
             (Node){.op = op,
                    .nin = 4,
                    .nout = 3, /* the target's scratch */
                    .a = {.kind = ATTRIBUTES_LOSS, .loss = {.weight = 1, .labels = a}},
                    .name = call->signature->name,
                    .span = call->span,
                    .via = l->via},
             in, out);
    return out[0];
}

ValueId build_vocabulary_loss(Call *call) {
    return build(call, OP_VOCABULARY_LOSS, "logits", true);
}

ValueId build_vocabulary_accuracy(Call *call) {
    return build(call, OP_VOCABULARY_ACCURACY, "prediction", false);
}
