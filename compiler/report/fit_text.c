/* fit_text.c - what `unetc fit` prints: for each amount of memory the largest batch or size, as text or
 * JSON (schema unetc-fit/1). */
#include "report/fit_text.h"
#include "ir/target.h"

/* Is the largest batch in loops over samples among the answers? */
static bool has_loops(const FitQuestion *q, FitMax max, bool trains) {
    return trains && max == FIT_BATCH && q->options.micro_batches != 1;
}

/* ---- text ---- */

static const char *extra_text(Pool *pool, const FitTrial *t) {
    return pool_text(pool, "%+.1f %%", fit_extra_work(t));
}

static const char *loops_text(Pool *pool, const FitRow *a) {
    if (!a->found_loops)
        return "none";
    return a->loops.batch == FIT_MAX_BATCH ? "no limit" : grouped(pool, a->loops.batch);
}

/* Prediction computes nothing twice, and has no micro-batches. */
static void answer_text(const FitRow *a, FitMax max, bool trains, bool with_loops, Text *out) {
    Pool *pool = out->pool;
    const FitTrial *t = &a->best;
    text_add(out, "  %12s", human_bytes(pool, a->memory));
    if (a->found)
        text_add(out, "%16s%15s%15s%12s",
                 max == FIT_SIZE ? fit_size_text(pool, t->size) : grouped(pool, t->batch),
                 human_bytes(pool, t->arena), human_bytes(pool, t->beside),
                 trains ? extra_text(pool, t) : "");
    else
        text_add(out, "%16s%15s%15s%12s", "none", human_bytes(pool, t->arena), human_bytes(pool, t->beside),
                 "");
    if (max == FIT_SIZE && trains)
        text_add(out, "%20lld", (long long)t->micro_batches);
    else if (with_loops)
        text_add(out, "%20s", loops_text(pool, a));
    text_add(out, "%s%s\n", t->in_bands ? "   in bands of rows" : "",
             a->found ? "" : "   (needed by the smallest)");
}

/* The last column. */
static const char *last_head(Pool *pool, const FitQuestion *q, FitMax max, bool trains) {
    const int parts = q->options.micro_batches;
    if (max == FIT_SIZE)
        return trains ? "micro-batches" : "";
    if (!has_loops(q, max, trains))
        return "";
    return parts > 1 ? pool_text(pool, "in %d micro-batches", parts) : "with micro-batches";
}

static void head_text(const FitQuestion *q, const Model *model, FitMax max, bool trains, Text *out) {
    Pool *pool = out->pool;
    const Shape size = model->graph->value[model->input[0].value].shape;
    const char *what = max == FIT_BATCH
                           ? pool_text(pool, "largest batch of %s", shape_text(pool, size))
                           : pool_text(pool, "largest size at batch %lld",
                                       (long long)(trains ? model->train.batch : model->predict.batch));
    text_line(out, "%s  %s, %s, %s, target %s", model->source, what, trains ? "training" : "prediction",
              precision_text(&q->options), target_text(pool, &q->options));
    if (q->options.target->context > 0)
        text_line(out, "  memory: holds the arena and, beside it, driver and libraries");
    else
        text_line(out, "  memory: holds the arena%s",
                  trains ? " and, beside it, the pictures that the loader reads" : "");
    if (trains && model->train.processes > 1)
        text_line(out, "  of each of %lld processes, which share the samples of a step",
                  (long long)model->train.processes);
    if (trains)
        text_line(out, "  extra work: what is computed twice so that it fits, in per cent of a step");
    if (has_loops(q, max, trains)) {
        text_line(out, "  batch: the largest that is trained as a whole");
        text_line(out,
                  "  %s: the largest of which a few samples are trained at a time, with the same result",
                  last_head(pool, q, max, trains));
    }
    if (max == FIT_SIZE && trains)
        text_line(out, "  micro-batches: so many parts of the batch are trained one after the other");
    text_blank(out);
    text_line(out, "  %12s%16s%15s%15s%12s%20s", "memory", max == FIT_BATCH ? "batch" : "size", "arena",
              "beside it", trains ? "extra work" : "", last_head(pool, q, max, trains));
}

/* ---- JSON ---- */

static void trial_json(const FitTrial *t, Text *out) {
    const char *comma = "";
    text_add(out, "{\"batch\": %lld, \"size\": [", (long long)t->batch);
    for (int k = 0; k < AXES; k++)
        if (t->size[k] > 0) {
            text_add(out, "%s%lld", comma, (long long)t->size[k]);
            comma = ", ";
        }
    text_add(out,
             "], \"arena\": %lld, \"beside\": %lld, \"micro_batches\": %lld, \"flops\": %lld, "
             "\"recompute_flops\": %lld, \"in_bands\": %s}",
             (long long)t->arena, (long long)t->beside, (long long)t->micro_batches, (long long)t->flops,
             (long long)t->recompute_flops, t->in_bands ? "true" : "false");
}

static void member_json(const char *name, const FitTrial *t, bool there, Text *out) {
    text_add(out, ",\n     \"%s\": ", name);
    if (there)
        trial_json(t, out);
    else
        text_add(out, "null");
}

static void answer_json(const FitRow *a, bool with_loops, Text *out) {
    text_add(out, "    {\"memory\": %lld, \"fits\": %s", (long long)a->memory, a->found ? "true" : "false");
    member_json("best", &a->best, a->found, out);
    member_json("next", &a->next, a->found && a->next.legal, out);
    member_json("smallest", &a->best, !a->found && a->best.legal, out);
    if (with_loops)
        member_json("with_sample_loops", &a->loops, a->found_loops, out);
    text_add(out, "}");
}

static void head_json(const FitQuestion *q, const Model *model, FitMax max, Text *out) {
    text_add(out, "{\n  \"schema\": \"unetc-fit/1\", \"model\": %s, \"source\": %s, \"target\": \"%s\",\n",
             quoted(out->pool, model->name), quoted(out->pool, model->source), q->options.target->name);
    text_add(out,
             "  \"max\": \"%s\", \"bounds\": \"%s\", \"precision\": \"%s\", \"largest_batch_tried\": %d,\n",
             max == FIT_BATCH ? "batch" : "size", "arena and beside", precision_text(&q->options),
             FIT_MAX_BATCH);
    text_add(out, "  \"rows\": [");
}

/* ---- both ---- */

bool report_fit(const FitQuestion *q, const Model *model, FitMax max, bool trains, const FitRow *row,
                int count, bool json, Text *out) {
    bool any = false;
    if (json)
        head_json(q, model, max, out);
    else
        head_text(q, model, max, trains, out);
    for (int i = 0; i < count; i++) {
        any |= row[i].found || row[i].found_loops;
        if (json) {
            text_add(out, "%s\n", i > 0 ? "," : "");
            answer_json(&row[i], has_loops(q, max, trains), out);
        } else {
            answer_text(&row[i], max, trains, has_loops(q, max, trains), out);
        }
    }
    if (json)
        text_add(out, "\n  ]\n}\n");
    return any;
}
