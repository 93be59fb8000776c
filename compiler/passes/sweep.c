/* sweep.c - which operators end a sweep over the rows of an image.
 *
 * A loop over bands of rows goes as far as each operator makes rows out of a few rows. One that needs all
 * rows before it has one of its own ends it: it takes the image as a whole, as adaptive_avg_pool does, or
 * reads a sum over all rows, as a normalisation by statistics of the image and the gradient of dice_loss
 * do. So does one whose rows are in no whole proportion to those before it: no band has a whole number of
 * each. In front of it, and behind it, images are there as a whole.
 *
 * Requires: steps.  Provides: an answer for reports; no plan depends on it.
 */
#include "base/memory.h"
#include "ir/ops.h"
#include "passes/bands.h"
#include "passes/passes.h"

static bool touches_image(const Graph *g, const Node *node) {
    for (Touch t = node_touches(g, node); touch_next(&t);)
        if (has_rows(&g->value[t.value]))
            return true;
    return false;
}

/* The node that sums over the rows of the sweep, and whose sum NODE reads; or NULL. */
static const Node *sum_read(const Graph *g, const Node *node, const bool *swept) {
    for (Touch t = node_touches(g, node); touch_next(&t);) {
        const NodeId producer = g->value[t.value].producer;
        if (!t.is_output && !has_rows(&g->value[t.value]) && producer >= 0 && swept[producer] &&
            sums_rows(g, &g->node[producer]))
            return &g->node[producer];
    }
    return NULL;
}

const Node *ends_sweep(const Program *program, bool *uneven) {
    const Graph *g = program->graph;
    bool *swept = NEW_ARRAY(g->pool, bool, g->nnode);
    NodeId *order;
    const Step **loop;
    const int count = schedule_nodes(program->graph->pool, program, &order, &loop),
              first = find_uneven(program, order, count);
    *uneven = false;
    for (int i = 0; i < count; i++) {
        const Node *node = &g->node[order[i]];
        if (!touches_image(g, node) || has_trait(node, TRAIT_OF_RUNTIME))
            continue;
        const Node *sum = sum_read(g, node, swept);
        if (sum != NULL || !works_in_rows(program, node))
            return sum != NULL ? sum : node;
        if (i == first) {
            *uneven = true;
            return node;
        }
        swept[order[i]] = true;
    }
    return NULL;
}
