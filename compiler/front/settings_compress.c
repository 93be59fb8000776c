/* settings_compress.c - `compress`: activations wait for the backward pass in codes (passes/compress.c);
 * and the options that take the place of the settings of codes. */
#include "base/layers.h"
#include "front/lower_state.h"

/* "enc1", or a list of such names. */
static bool read_layers(const Call *call, const char *name, LayerPattern **list, int *count) {
    const Argument *a = argument(call, name);
    const Datum d = a->value;
    const int given = d.kind == DATUM_NONE ? 0 : d.kind == DATUM_LIST ? d.count : 1;
    *list = NEW_ARRAY(call->l->pool, LayerPattern, given);
    *count = 0;
    for (int i = 0; i < given; i++) {
        const Datum item = d.kind == DATUM_LIST ? d.items->item[i] : d;
        if (item.kind != DATUM_TEXT || *item.text == '\0')
            return report_setting(
                call, name,
                pool_text(call->l->pool,
                          "`%s` takes names of layers in quotes, such as `%s = [\"enc1\", "
                          "\"dec*\"]`",
                          name, name));
        (*list)[(*count)++] = (LayerPattern){.pattern = item.text, .span = a->span};
    }
    return true;
}

enum { AS_THEY_ARE = 32 };

void set_compress(Call *call) {
    TrainSection *train = &call->l->model->train;
    LayerPattern *exact;
    int64_t bits;
    if (!argument_integer(call, "bits", 1, &bits) || !read_layers(call, "except", &exact, &train->nexact))
        return;
    train->exact = exact;
    if (bits != 8 && bits != 4 && bits != 2 && bits != AS_THEY_ARE)
        report_setting(
            call, "bits",
            "a number of an activation waits in 8, 4 or 2 bits: write `compress 8`, or `compress "
            "32` for no codes");
    else
        train->compress = bits == AS_THEY_ARE ? 0 : bits;
}

void choose_codes(Lower *l) {
    TrainSection *train = &l->model->train;
    if (l->options->compress > 0)
        train->compress = l->options->compress == AS_THEY_ARE ? 0 : l->options->compress;
    if (l->options->state > 0)
        train->codes_state = l->options->state != AS_THEY_ARE;
}

static bool names_any(const Lower *l, const char *pattern) {
    for (int i = 0; i < l->graph->nnode; i++)
        if (names_layer(pattern, l->graph->node[i].name))
            return true;
    return false;
}

void check_compress(Lower *l) {
    const TrainSection *train = &l->model->train;
    for (int i = 0; i < train->nexact; i++)
        if (!names_any(l, train->exact[i].pattern)) {
            diag_begin(l->diag, ERROR, "U0624", train->exact[i].span, "`%s` names no layer",
                       train->exact[i].pattern);
            diag_help(l->diag,
                      "write the name of a layer, such as `enc1.0` of the weight enc1.0.weight, what "
                      "stands in front of its dots, or a pattern with `*`");
            diag_end(l->diag);
        }
}
