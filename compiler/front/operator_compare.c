/* operator_compare.c - reports a prediction and a target of different shapes, and offers to change either.
 *
 * requires   two tensors of a loss or metric that differ in channels or in sizes
 * provides   a diagnostic: how the target would have to be declared, and what would make the prediction fit
 */
#include "front/operator_compare.h"
#include "base/text.h"
#include "front/operator_size.h"
#include "ir/labels.h"
#include "ir/ops.h"

static bool equal_extents(Shape x, Shape y) {
    for (int axis = 0; axis < AXES; axis++)
        if (shape_extent(x, axis) != shape_extent(y, axis))
            return false;
    return true;
}

/* ---- the declaration ---- */

const Input *declared(const Lower *l, ValueId v) {
    const Value *value = &l->graph->value[labels_origin(l->graph, v)];
    return value->class == CLASS_STAGING ? &l->model->input[value->input] : NULL;
}

/* "image(3)" if only the channels have to change and the first input has the same sizes. */
static const char *declaration_for(Lower *l, const Input *input, Shape wanted) {
    static const char *const type[] = {[KIND_IMAGE] = "image",
                                       [KIND_VOLUME] = "volume",
                                       [KIND_SIGNAL] = "signal",
                                       [KIND_NUMBER] = "image",
                                       [KIND_LABELS] = "labels"};
    const bool labels = input->kind == KIND_LABELS;
    const bool sized = input->size_span.line > 0 || l->model->ninput == 0 ||
                       !equal_extents(wanted, l->graph->value[input->value].shape);
    Text text = text_new(l->pool);
    text_add(&text, "%s(%lld", type[input->kind], (long long)(labels ? input->classes : wanted.dim[0]));
    for (int i = 1; sized && i < wanted.rank; i++)
        text_add(&text, ", %lld", (long long)wanted.dim[i]);
    if (labels && input->ignore >= 0)
        text_add(&text, ", ignore = %lld", (long long)input->ignore);
    text_add(&text, ")");
    return text.bytes;
}

/* ---- computed operands ---- */

/* Does NODE compute each point from one tensor alone, so that it has the channels of the tensor? */
static bool follows_one(const Lower *l, const Node *node) {
    for (int i = 1; i < node->nin; i++)
        if (node->in[i] >= 0 && l->graph->value[node->in[i]].class == CLASS_ACTIVATION)
            return false;
    return true;
}

/* The convolution that V has its channels from, or NULL. */
static const Node *maker_of_channels(const Lower *l, ValueId v) {
    const Graph *g = l->graph;
    while (g->value[v].nsegments == 0 && g->value[v].producer >= 0) {
        const Node *node = &g->node[g->value[v].producer];
        if (node->a.kind == ATTRIBUTES_CONV)
            return node;
        if (!follows_one(l, node) ||
            shape_channels(g->value[node->in[0]].shape) != shape_channels(g->value[v].shape))
            return NULL;
        v = node->in[0];
    }
    return NULL;
}

/* Is there a convolution without padding, that is, of stride 1 and of a smaller output, on the way to V? */
static bool loses_edges(const Lower *l, ValueId v) {
    const Graph *g = l->graph;
    for (; g->value[v].nsegments == 0 && g->value[v].producer >= 0;
         v = g->node[g->value[v].producer].in[0]) {
        const Node *node = &g->node[g->value[v].producer];
        const Shape in = g->value[node->in[0]].shape, out = g->value[v].shape;
        for (int axis = 0; axis < AXES && node->a.kind == ATTRIBUTES_CONV; axis++)
            if (node->a.conv.window.stride[axis] == 1 && shape_extent(out, axis) < shape_extent(in, axis))
                return true;
    }
    return false;
}

/* An operand of the loss, and its text in the file. */
typedef struct {
    const char *text;
    ValueId value;
} Side;

/* Lines of help: those behind the first begin with "or". */
static void help(Lower *l, int *lines, const char *text) {
    diag_help(l->diag, "%s%s", *lines > 0 ? "or " : "", text);
    ++*lines;
}

static void offer_channels(Lower *l, const Side *side, int64_t wanted, int *lines) {
    const Node *node = maker_of_channels(l, side->value);
    const char *channels = pool_text(l->pool, "%lld channel%s", (long long)wanted, wanted == 1 ? "" : "s");
    if (node != NULL)
        help(l, lines,
             pool_text(l->pool, "let the convolution on line %d make %s", node->span.line, channels));
    else
        help(l, lines,
             pool_text(l->pool, "give `%s` %s, above the section: `conv(%s, %lld, 1)`", side->text,
                       channels, side->text, (long long)wanted));
}

/* How many times V must be as large to be of the size of WANTED, or 0 if it is no whole number. */
static int64_t factor_of(Shape v, Shape wanted) {
    int64_t factor = 0;
    for (int axis = AXES - (v.rank - 1); axis < AXES; axis++) {
        const int64_t from = shape_extent(v, axis), to = shape_extent(wanted, axis);
        if (to % from != 0 || to == from || (factor != 0 && factor != to / from))
            return 0;
        factor = to / from;
    }
    return factor;
}

/* An input, which the network may read, of this size, or NULL. */
static const Input *input_of_size(const Lower *l, Shape wanted) {
    const Input *input = l->model->input, *end = input == NULL ? NULL : input + l->model->ninput;
    for (; input != end; input++)
        if (!input->is_target && equal_extents(l->graph->value[input->value].shape, wanted))
            return input;
    return NULL;
}

static bool smaller(Shape a, Shape b) {
    for (int axis = 0; axis < AXES; axis++)
        if (shape_extent(a, axis) > shape_extent(b, axis))
            return false;
    return true;
}

static void offer_sizes(Lower *l, const Side *side, Shape wanted, int *lines) {
    const Shape shape = l->graph->value[side->value].shape;
    const int64_t larger = factor_of(shape, wanted), less = factor_of(wanted, shape);
    const Input *like = input_of_size(l, wanted);
    const char *how = smaller(shape, wanted) ? "pad" : "crop";
    const int before = *lines;
    if (larger > 1)
        help(l, lines,
             pool_text(l->pool, "enlarge `%s`: `resize(%s, scale = %lld)`", side->text, side->text,
                       (long long)larger));
    else if (less > 1)
        help(l, lines,
             pool_text(l->pool, "make `%s` smaller: `avg_pool(%s, %lld)`", side->text, side->text,
                       (long long)less));
    else if (loses_edges(l, side->value))
        help(l, lines, "let convolutions keep the size, with `padding = \"same\"`");
    if (larger + less == 0 && like != NULL && (smaller(shape, wanted) || smaller(wanted, shape)))
        help(l, lines,
             pool_text(l->pool, "%s `%s`: `match(%s, %s, \"%s\")`", how, side->text, side->text, like->name,
                       how));
    if (*lines == before)
        help(l, lines, pool_text(l->pool, "let `%s` be %s", side->text, shape_text(l->pool, wanted)));
}

/* Offers changes that give a computed operand the shape WANTED. */
static void offer(Lower *l, const Side *side, Shape wanted, int *lines) {
    const Shape shape = l->graph->value[side->value].shape;
    if (declared(l, side->value) != NULL || shape.rank != wanted.rank)
        return;
    if (!equal_extents(shape, wanted))
        offer_sizes(l, side, wanted, lines);
    else if (shape.dim[0] != wanted.dim[0])
        offer_channels(l, side, wanted.dim[0], lines);
}

/* ---- the report ---- */

static void begin(const Call *call, Shape x, Shape y) {
    Lower *l = call->l;
    const bool channels = x.dim[0] != y.dim[0], sizes = x.rank != y.rank || !equal_extents(x, y);
    const char *what = "shapes", *first = shape_text(l->pool, x), *second = shape_text(l->pool, y);
    if (!sizes) {
        what = "channels";
        first = pool_text(l->pool, "%lld", (long long)x.dim[0]);
        second = pool_text(l->pool, "%lld", (long long)y.dim[0]);
    } else if (!channels) {
        what = "sizes";
        first = extents_text(l, x);
        second = extents_text(l, y);
    }
    diag_begin(l->diag, ERROR, "U0406", call->argument[1].span,
               "prediction and target have different %s: %s and %s", what, first, second);
}

bool report_unequal(const Call *call, ValueId a, ValueId b) {
    Lower *l = call->l;
    const Input *input = declared(l, b);
    const Shape x = l->graph->value[a].shape;
    Shape y = l->graph->value[b].shape;
    int lines = 0;
    if (input != NULL && input->kind == KIND_LABELS) /* classes are compared elsewhere */
        y.dim[0] = x.dim[0];
    begin(call, x, y);
    if (input != NULL)
        diag_also(l->diag, input->span, "declared here");
    if (input != NULL && input->is_target)
        help(l, &lines,
             pool_text(l->pool, "declare `target %s : %s`", input->name, declaration_for(l, input, x)));
    offer(l, &(Side){argument_text(call, &call->argument[0]), a}, y, &lines);
    offer(l, &(Side){argument_text(call, &call->argument[1]), b}, x, &lines);
    note_via(l);
    diag_end(l->diag);
    return false;
}
