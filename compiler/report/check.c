/* check.c - what `unetc check` prints: inputs, outputs, parameters, and which sizes the network
 * takes. */
#include "report/report.h"

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
    int64_t by[AXES];
    fit_multiples(g, by);
    bool volume = g->value[model->input[0].value].shape.rank == 4;
    if (volume)
        text_line(out, "depth, height and width are multiples of %lld, %lld and %lld", (long long)by[0],
                  (long long)by[1], (long long)by[2]);
    else
        text_line(out, "height and width are multiples of %lld and %lld", (long long)by[1],
                  (long long)by[2]);
}
