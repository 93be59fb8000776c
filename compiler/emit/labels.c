/* labels.c - the tables by which the runtime counts the labels of a batch (unet/model.h). */
#include "emit/sources.h"
#include "ir/labels.h"

static const char *weights_text(Pool *pool, const LabelCount *count) {
    const char *text = "";
    for (int64_t k = 0; k < count->attributes->classes; k++)
        text = pool_text(pool, "%s%s%.17g", text, k > 0 ? ", " : "", label_weight(count->attributes, k));
    return text;
}

/* The layout of the points of COUNT, as the loader left them: every so many along each axis, from one on.
 */
static Layout layout_of(const Program *program, const LabelCount *count) {
    Layout layout = program->layout[count->labels];
    int64_t *const stride[AXES] = {&layout.depth, &layout.row, &layout.block};
    const ResizeAttributes *a = count->resized;
    for (int k = 0; a != NULL && k < AXES; k++) {
        layout.origin += a->offset[k] / a->unit[k] * *stride[k];
        *stride[k] *= a->step[k] / a->unit[k];
    }
    return layout;
}

int emit_label_counts(const Program *program, Text *out) {
    LabelCount *count;
    Pool *pool = program->graph->pool;
    const int n = program->kind == PROGRAM_PREDICT ? 0 : label_counts(program->graph, &count);
    for (int i = 0; i < n; i++)
        if (!count[i].attributes->numbers)
            text_wrapped(out, pool_text(pool, "static const double %s_label_weight_%d[] = {%s};",
                                        program->name, i, weights_text(pool, &count[i])));
    if (n > 0)
        text_line(out, "static const UnetLabelCount %s_labels[] = {", program->name);
    for (int i = 0; i < n; i++) {
        const Layout layout = layout_of(program, &count[i]);
        const char *weights =
            count[i].attributes->numbers ? "NULL" : pool_text(pool, "%s_label_weight_%d", program->name, i);
        text_line(out, "    {%d, %s, %lld, %s, %lld},", program->graph->value[count[i].labels].input,
                  layout_initialiser(pool, &program->graph->value[count[i].read], &layout, true),
                  (long long)count[i].attributes->classes, weights,
                  count[i].attributes->numbers ? (long long)type_bytes(program->options->real) : 0LL);
    }
    if (n > 0)
        text_line(out, "};");
    return n;
}
