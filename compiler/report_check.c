/* report_check.c - what `unetc check` prints: inputs, outputs, parameters, and which sizes the network
 * takes. */
#include "ops.h"
#include "report.h"

/* By how much each axis of each value is smaller than the input's, where that is a whole number. */
typedef struct {
    int64_t by[AXES];
} Shrink;

static bool shrinks(Op op) {
    return op == OP_CONV || op == OP_MAX_POOL;
}

/* The largest shrink of each axis: sizes must be multiples of it for skips to meet again. */
static Shrink largest_shrink(const Graph *g) {
    Shrink *value = NEW_ARRAY(g->pool, Shrink, g->nvalue), largest = {{1, 1, 1}};
    for (ValueId v = 0; v < g->nvalue; v++)
        value[v] = (Shrink){{1, 1, 1}};
    for (int i = 0; i < g->nnode; i++) {
        const Node *node = &g->node[i];
        const ValueId *leaf;
        value_leaves(g, &node->in[0], &leaf);
        for (int k = 0; k < AXES; k++) {
            int64_t by = value[leaf[0]].by[k], stride = node->a.window.stride[k];
            if (shrinks(node->op))
                by *= stride;
            else if (node->op == OP_UPCONV && by % stride == 0)
                by /= stride;
            value[node->out[0]].by[k] = by;
            if (by > largest.by[k] && by < (1 << 20))
                largest.by[k] = by;
        }
    }
    return largest;
}

void report_check(const Model *model, Text *out) {
    const Graph *g = model->graph;
    int64_t parameters = 0;
    int tensors = 0;
    for (ValueId v = 0; v < g->nvalue; v++)
        if (g->value[v].class == CLASS_PARAMETER)
            parameters += shape_elements(g->value[v].shape), tensors++;
    for (int i = 0; i < model->ninput; i++)
        text_line(out, "%-6s %-16s %s", model->input[i].is_target ? "target" : "input",
                  model->input[i].name, shape_text(model->pool, g->value[model->input[i].value].shape));
    for (int i = 0; i < model->noutput; i++)
        text_line(out, "output %-16s %s", model->output[i].name,
                  shape_text(model->pool, g->value[model->output[i].value].shape));
    text_line(out, "%s parameters in %d tensors", grouped(model->pool, parameters), tensors);
    Shrink by = largest_shrink(g);
    bool volume = g->value[model->input[0].value].shape.rank == 4;
    if (volume)
        text_line(out, "depth, height and width are multiples of %lld, %lld and %lld", (long long)by.by[0],
                  (long long)by.by[1], (long long)by.by[2]);
    else
        text_line(out, "height and width are multiples of %lld and %lld", (long long)by.by[1],
                  (long long)by.by[2]);
}
