/* lower_trained.c - the layers that training changes: all but layers that the file or --freeze names, and
 * layers that no loss depends on, which a warning names.  Weights that the network would compute anew at
 * each step are refused.
 *
 * A pattern of `freeze` names a layer, or the part in front of a dot that several layers have: "encoder" is
 * all of encoder.conv1, encoder.conv2.0 and so on; a star stands for any characters.  Layers are frozen
 * whole.
 *
 * Requires: the lowered file with the final names of its parameters.
 * Provides: Value.frozen of parameters.
 */
#include "base/layers.h"
#include "base/text.h"
#include "front/lower_state.h"

#include <string.h>

/* The values that a loss depends on. */
static bool *read_by_losses(const Lower *l) {
    const Graph *g = l->graph;
    bool *read = NEW_ARRAY(l->pool, bool, g->nvalue);
    for (int i = 0; i < l->model->nresult; i++)
        if (l->model->result[i].is_loss)
            read[l->model->result[i].value] = true;
    for (int i = g->nnode - 1; i >= 0; i--) {
        bool counts = false;
        for (Touch t = node_touches(g, &g->node[i]); touch_next(&t);)
            counts |= t.is_output && read[t.value];
        for (Touch t = node_touches(g, &g->node[i]); counts && touch_next(&t);)
            read[t.value] = true;
    }
    return read;
}

/* "enc1.0" of its parameter "enc1.0.weight". */
static const char *layer_of(Pool *pool, const Value *parameter) {
    const char *dot = strrchr(parameter->name, '.');
    return dot == NULL ? parameter->name
                       : pool_text(pool, "%.*s", (int)(dot - parameter->name), parameter->name);
}

/* Layers that no loss depends on: a slip, most of the time, unless the file freezes them.  One warning
 * names them all. */
static void warn_of_untrained(Lower *l) {
    enum { NAMED = 4 };
    const bool *read = read_by_losses(l);
    const Value *first = NULL;
    const char *last = "", *others = "";
    int more = 0;
    for (ValueId v = 0; v < l->graph->nvalue; v++) {
        const Value *value = &l->graph->value[v];
        if (value->class != CLASS_PARAMETER || value->frozen || read[v] ||
            strcmp(layer_of(l->pool, value), last) == 0)
            continue;
        last = layer_of(l->pool, value);
        if (first == NULL)
            first = value;
        else if (++more <= NAMED)
            others = pool_text(l->pool, "%s%s`%s`", others, more > 1 ? ", " : "", last);
    }
    if (first == NULL)
        return;
    diag_begin(l->diag, WARNING, "U0507", first->span, "the weights of `%s` are never trained",
               layer_of(l->pool, first));
    diag_label(l->diag, "no loss depends on it");
    if (more > NAMED)
        others = pool_text(l->pool, "%s and %d more", others, more - NAMED);
    if (more > 0)
        diag_note(l->diag, "no loss depends on %s either", others);
    diag_note(l->diag, "they keep their initial values, and weight files hold them");
    diag_help(l->diag, "use it in a `loss`, remove it, or `freeze` it");
    diag_end(l->diag);
}

/* ---- frozen layers ---- */

static int freeze(Lower *l, const char *pattern) {
    int frozen = 0;
    for (ValueId v = 0; v < l->graph->nvalue; v++) {
        Value *value = &l->graph->value[v];
        if (value->class != CLASS_PARAMETER || !names_layer(pattern, layer_of(l->pool, value)))
            continue;
        value->frozen = true;
        frozen++;
    }
    return frozen;
}

/* "weight" of a parameter is no layer: the layer, if PATTERN is that; else NULL. */
static const char *layer_of_parameter(Lower *l, const char *pattern) {
    for (ValueId v = 0; v < l->graph->nvalue; v++) {
        const Value *value = &l->graph->value[v];
        if (value->class == CLASS_PARAMETER && strcmp(value->name, pattern) == 0)
            return layer_of(l->pool, value);
    }
    return NULL;
}

static const char *layers(Lower *l, const char **first) {
    enum { NAMED = 6 };
    Text list = text_new(l->pool);
    const char *last = "";
    int count = 0;
    for (ValueId v = 0; v < l->graph->nvalue; v++) {
        const Value *value = &l->graph->value[v];
        if (value->class != CLASS_PARAMETER || strcmp(layer_of(l->pool, value), last) == 0)
            continue;
        last = layer_of(l->pool, value);
        if (count++ == 0)
            *first = last;
        if (count <= NAMED)
            text_add(&list, "%s`%s`", count > 1 ? ", " : "", last);
    }
    if (count > NAMED)
        text_add(&list, " and %d more", count - NAMED);
    return list.bytes;
}

static void refuse_pattern(Lower *l, const LayerPattern *frozen) {
    const char *first = "enc1", *all = layers(l, &first), *whole = layer_of_parameter(l, frozen->pattern);
    diag_begin(l->diag, ERROR, "U0624", frozen->span, "%s`%s` names no layer",
               frozen->span.line == 0 ? "--freeze: " : "", frozen->pattern);
    diag_note(l->diag, "the layers are %s", all);
    if (whole != NULL)
        diag_help(l->diag, "a layer is frozen whole: write `%s`", whole);
    else
        diag_help(l->diag,
                  "write a layer's name, what stands in front of its dots, or a pattern with `*`, "
                  "such as \"%s\"",
                  first);
    diag_end(l->diag);
}

static bool anything_trained(const Lower *l) {
    for (ValueId v = 0; v < l->graph->nvalue; v++)
        if (l->graph->value[v].class == CLASS_PARAMETER && !l->graph->value[v].frozen)
            return true;
    return false;
}

static void freeze_layers(Lower *l) {
    const TrainSection *train = &l->model->train;
    for (int i = 0; i < train->nfrozen; i++)
        if (freeze(l, train->frozen[i].pattern) == 0)
            refuse_pattern(l, &train->frozen[i]);
    if (train->nfrozen == 0 || diag_errors(l->diag) > 0 || anything_trained(l))
        return;
    diag_begin(l->diag, ERROR, "U0625", train->frozen[train->nfrozen - 1].span, "all layers are frozen");
    diag_help(l->diag, "leave at least one layer to train");
    diag_end(l->diag);
}

/* ---- computed weights ---- */

/* The file has numbers that another framework computed of weights that the file does not have. */
static void refuse_computed(const Lower *l) {
    diag_begin(l->diag, ERROR, "U0508", l->computed, "training cannot compute these weights anew");
    diag_label(l->diag, "numbers that another framework computed of its weights");
    if (l->ncomputed > 1)
        diag_note(l->diag, "%d calls have such weights", l->ncomputed);
    diag_note(l->diag,
              "that framework computes them at each step, as weight standardisation and spectral norm "
              "do, and learns the weights behind them");
    diag_note(l->diag, "`unetc --programs=predict` takes the file as it is");
    diag_help(l->diag,
              "write `weights = \"fixed\"` to train the other layers and leave these numbers as they "
              "are, or \"learnt\" to train these numbers themselves");
    diag_end(l->diag);
}

void check_trained(Lower *l) {
    if (!l->model->train.present)
        return;
    if (l->ncomputed > 0 && l->options->program == PROGRAM_TRAIN)
        refuse_computed(l);
    freeze_layers(l);
    check_compress(l);
    warn_of_untrained(l);
}
