/* check.c - what `unetc check` prints: inputs, outputs, parameters, and which sizes the network
 * takes. */
#include "report/report.h"
#include "unet/words.h"

/* "height and width must be multiples of 8", or, where axes differ, of each its number. */
static void size_line(const Graph *g, Shape input, Text *out) {
    static const char *const axis[AXES] = {"depth", "height", "width"};
    const bool volume = input.rank == VOLUME_RANK;
    int64_t by[AXES];
    if (!fit_multiples(g, by)) {
        text_line(out,
                  "other sizes may not do: `rearrange` moves points to other axes (try one with --size)");
        return;
    }
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

/* Tensors and elements of parameters. */
typedef struct {
    int64_t tensors, elements, frozen;
} Count;

static Count count_parameters(const Graph *g) {
    Count count = {.tensors = 0};
    for (ValueId v = 0; v < g->nvalue; v++) {
        const int64_t elements =
            g->value[v].class == CLASS_PARAMETER ? shape_elements(g->value[v].shape) : 0;
        count.tensors += g->value[v].class == CLASS_PARAMETER;
        count.elements += elements;
        count.frozen += g->value[v].frozen ? elements : 0;
    }
    return count;
}

const char *frozen_text(const Model *model) {
    const int64_t frozen = count_parameters(model->graph).frozen;
    return frozen > 0 ? pool_text(model->pool, ", %s of them frozen", grouped(model->pool, frozen)) : "";
}

void report_check(const Model *model, Text *out) {
    const Graph *g = model->graph;
    const Count count = count_parameters(g);
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
    text_line(out, "%s parameter%s in %lld tensor%s%s", grouped(model->pool, count.elements),
              unet_plural(count.elements), (long long)count.tensors, unet_plural(count.tensors),
              frozen_text(model));
    size_line(g, g->value[model->input[0].value].shape, out);
}

/* ---- JSON ---- */

/* "[3, 256, 256]" */
static const char *shape_json(Pool *pool, Shape shape) {
    const char *text = "";
    for (int k = 0; k < shape.rank; k++)
        text = pool_text(pool, "%s%s%lld", text, k > 0 ? ", " : "", (long long)shape.dim[k]);
    return pool_text(pool, "[%s]", text);
}

/* The numbers that the axes of an input must be multiples of. */
static const char *multiples_json(const Graph *g, Shape input, Pool *pool) {
    int64_t by[AXES];
    bool needed = true; /* not where sizes are made to match */
    const char *text = "";
    (void)fit_multiples(g, by);
    for (int k = AXES + 1 - input.rank; k < AXES; k++)
        needed &= shape_extent(input, k) % by[k] == 0;
    for (int k = AXES + 1 - input.rank; k < AXES; k++)
        text =
            pool_text(pool, "%s%s%lld", text, *text != '\0' ? ", " : "", needed ? (long long)by[k] : 1LL);
    return pool_text(pool, "[%s]", text);
}

void report_check_json(const Model *model, Text *out) {
    const Graph *g = model->graph;
    const Count count = count_parameters(g);
    text_add(out, "{\"schema\": \"unetc-check/1\", \"model\": %s, \"source\": %s,\n \"inputs\": [",
             quoted(model->pool, model->name), quoted(model->pool, model->source));
    for (int i = 0; i < model->ninput; i++) {
        const Input *in = &model->input[i];
        text_add(out, "%s\n  {\"name\": %s, \"target\": %s, \"shape\": %s, \"classes\": %lld}",
                 i > 0 ? "," : "", quoted(model->pool, in->name), in->is_target ? "true" : "false",
                 shape_json(model->pool, g->value[in->value].shape), (long long)in->classes);
    }
    text_add(out, "],\n \"outputs\": [");
    for (int i = 0; i < model->noutput; i++)
        text_add(out, "%s\n  {\"name\": %s, \"shape\": %s, \"classes\": %lld}", i > 0 ? "," : "",
                 quoted(model->pool, model->output[i].name),
                 shape_json(model->pool, g->value[model->output[i].value].shape),
                 (long long)model->output[i].classes);
    text_add(out, "],\n \"parameters\": %lld, \"tensors\": %lld, \"frozen\": %lld, \"multiples\": %s}\n",
             (long long)count.elements, (long long)count.tensors, (long long)count.frozen,
             multiples_json(g, g->value[model->input[0].value].shape, model->pool));
}
