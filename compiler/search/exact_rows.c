/* exact_rows.c - an `embedding` takes rows by number, and types of 16 bits round large whole numbers.
 *
 * A tensor that an operator makes is stored in the type between operators: bf16 has all whole numbers up to
 * 256, f16 up to 2,048.  An input keeps its own type.
 *
 * Requires: a model as lowered; the type between operators is chosen.  Provides: errors of the file.
 */
#include "search/exact_rows.h"
#include "base/text.h"
#include "ir/ops.h"

/* Whole numbers up to this one are exact. */
static int64_t most_exact(Type stored) {
    return stored == TYPE_BF16 ? 256 : stored == TYPE_F16 ? 2048 : INT64_MAX - 1;
}

static bool report_rows(Diag *diag, const Options *options, const Graph *g, const Node *node,
                        int64_t rows) {
    const int64_t exact = most_exact(options->stored);
    diag_begin(diag, ERROR, "U0420", node->span, "%s does not tell %s rows apart",
               type_text(options->stored), grouped(g->pool, rows));
    if (node_line(node).line != node->span.line)
        diag_also(diag, node_line(node), "called here");
    diag_note(diag,
              "an operator makes the numbers of the rows, and whole numbers above %s are rounded where "
              "tensors are stored in %s",
              grouped(g->pool, exact), type_text(options->stored));
    if (rows - 1 <= most_exact(TYPE_F16))
        diag_help(diag, "train and predict in f16, or in f32: `--precision=f16`");
    else
        diag_help(diag, "train and predict in f32: `--precision=f32`");
    diag_end(diag);
    return false;
}

bool suits_exact_rows(Diag *diag, const Options *options, const Model *model) {
    const Graph *g = model->graph;
    for (int i = 0; i < g->nnode; i++) {
        const int64_t rows = named_rows(g, &g->node[i]);
        if (rows - 1 > most_exact(options->stored))
            return report_rows(diag, options, g, &g->node[i], rows);
    }
    return true;
}
