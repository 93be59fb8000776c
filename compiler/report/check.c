/* check.c - what `unetc check` prints: inputs, outputs, parameters, and which sizes the network
 * takes. */
#include "report/report.h"
#include "unet/words.h"

/* "height and width must be multiples of 8", or, where axes differ, of each its number. */
static void size_line(const Graph *g, Shape input, Text *out) {
    static const char *const axis[AXES] = {"depth", "height", "width"};
    const bool volume = input.rank == VOLUME_RANK;
    int64_t by[AXES];
    fit_multiples(g, by);
    bool needed = true; /* not where sizes are made to match */
    for (int k = 0; k < AXES; k++)
        needed &= shape_extent(input, k) % by[k] == 0;
    for (int k = 0; k < AXES; k++)
        by[k] = needed ? by[k] : 1;
    const char *comma = "";
    if (input.rank == SIGNAL_RANK) {
        if (by[2] > 1)
            text_line(out, "the length must be a multiple of %lld", (long long)by[2]);
        else
            text_line(out, "any length will do");
        return;
    }
    if (by[1] == by[2] && (by[0] == by[1] || !volume)) {
        const char *all = volume ? "depth, height and width" : "height and width";
        if (by[1] > 1)
            text_line(out, "%s must be multiples of %lld", all, (long long)by[1]);
        else
            text_line(out, "any %s will do", all);
        return;
    }
    for (int k = 0; k < AXES; k++) {
        if (by[k] > 1) {
            text_add(out, "%s%s must be a multiple of %lld", comma, axis[k], (long long)by[k]);
            comma = ", ";
        }
    }
    text_add(out, "\n");
}

const char *frozen_text(const Model *model) {
    const Graph *g = model->graph;
    int64_t frozen = 0;
    for (ValueId v = 0; v < g->nvalue; v++)
        if (g->value[v].class == CLASS_PARAMETER && g->value[v].frozen)
            frozen += shape_elements(g->value[v].shape);
    return frozen > 0 ? pool_text(model->pool, ", %s of them frozen", grouped(model->pool, frozen)) : "";
}

void report_check(const Model *model, Text *out) {
    const Graph *g = model->graph;
    int64_t parameters = 0;
    int tensors = 0;
    for (ValueId v = 0; v < g->nvalue; v++)
        if (g->value[v].class == CLASS_PARAMETER)
            parameters += shape_elements(g->value[v].shape), tensors++;
    for (int i = 0; i < model->ninput; i++) {
        const Input *input = &model->input[i];
        const char *shape = shape_text(model->pool, g->value[input->value].shape);
        if (input->classes > 0)
            shape = pool_text(model->pool, "%s, %lld classes", shape, (long long)input->classes);
        text_line(out, "%-6s %-16s %s", input->is_target ? "target" : "input", input->name, shape);
    }
    for (int i = 0; i < model->noutput; i++)
        text_line(out, "output %-16s %s", model->output[i].name,
                  shape_text(model->pool, g->value[model->output[i].value].shape));
    text_line(out, "%s parameter%s in %d tensor%s%s", grouped(model->pool, parameters),
              unet_plural(parameters), tensors, unet_plural(tensors), frozen_text(model));
    size_line(g, g->value[model->input[0].value].shape, out);
}
