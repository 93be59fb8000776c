/* report_fit.c - what `unetc fit` prints: for each amount of memory the largest batch or size, as text or
 * JSON (schema unetc-fit/1).
 *
 * With --mem one row, and the memory bounds the arena; without, a row for each usual card, and the memory
 * has to hold what lies beside the arena as well.  Rows are worked out in threads, always as many, so that
 * each search begins where it would on any machine.
 */
#include "report_fit.h"

#include <pthread.h>

static const int64_t card_gib[] = {4, 6, 8, 10, 11, 12, 16, 24, 32, 40, 48, 80};
enum { CARDS = sizeof card_gib / sizeof *card_gib };

typedef struct {
    int64_t memory;
    bool found;
    FitTrial best, next; /* not found: the smallest, and nothing */
    bool found_loops;
    FitTrial loops; /* the largest batch when samples may be trained a few at a time */
} Answer;

/* ---- the questions ---- */

static FitQuestion question_for(const FitQuestion *asked, int64_t memory, FitMax max) {
    FitQuestion q = *asked;
    if (asked->plan.budget == 0)
        q.card = memory;
    if (max == FIT_BATCH)
        q.plan.micro_batches = 1;
    return q;
}

/* BEFORE: the answer for less memory, or NULL. */
static Answer answer_for(const FitQuestion *asked, int64_t memory, FitMax max, bool trains, bool json,
                         const Answer *before) {
    FitQuestion q = question_for(asked, memory, max);
    Answer a = {.memory = memory};
    const FitTrial *from = before != NULL && before->found ? &before->best : NULL;
    if (max == FIT_SIZE) {
        a.found = fit_largest_size(&q, from, &a.best, &a.next);
        return a;
    }
    a.found = fit_largest_batch(&q, from, &a.best, &a.next);
    if (trains) {
        q.plan.micro_batches = 0;
        q.plan.any_plan = !json; /* the text tells no more of it than the batch */
        from = before != NULL && before->found_loops ? &before->loops : a.found ? &a.best : NULL;
        a.found_loops = fit_largest_batch(&q, from, &a.loops, NULL);
    }
    return a;
}

/* ---- text ---- */

static const char *extra_text(Pool *pool, const FitTrial *t) {
    return pool_text(pool, "%+.1f %%", 100.0 * (double)t->recompute_flops / (double)(t->flops + !t->flops));
}

static const char *loops_text(Pool *pool, const Answer *a) {
    if (!a->found_loops)
        return "none";
    return a->loops.batch == FIT_MOST_BATCH ? "any" : grouped(pool, a->loops.batch);
}

static void answer_text(const Answer *a, FitMax max, bool trains, Text *out) {
    Pool *pool = out->pool;
    const FitTrial *t = &a->best;
    text_add(out, "  %12s", human_bytes(pool, a->memory));
    if (a->found)
        text_add(out, "%16s%15s%15s%12s",
                 max == FIT_SIZE ? fit_size_text(pool, t->size) : grouped(pool, t->batch),
                 human_bytes(pool, t->arena), human_bytes(pool, t->beside), extra_text(pool, t));
    else
        text_add(out, "%16s%15s%15s%12s", "none", human_bytes(pool, t->arena), human_bytes(pool, t->beside),
                 "");
    if (max == FIT_SIZE)
        text_add(out, "%15lld", (long long)t->micro_batches);
    else if (trains)
        text_add(out, "%15s", loops_text(pool, a));
    text_add(out, "%s\n", a->found ? "" : "   (what the smallest needs)");
}

static void head_text(const FitQuestion *q, const Model *model, FitMax max, bool trains, Text *out) {
    Pool *pool = out->pool;
    const Shape size = model->graph->value[model->input[0].value].shape;
    const char *what = max == FIT_BATCH
                           ? pool_text(pool, "largest batch of %s", shape_text(pool, size))
                           : pool_text(pool, "largest size at batch %lld",
                                       (long long)(trains ? model->train.batch : model->predict.batch));
    text_line(out, "%s  %s, %s, target %s", model->source, what, precision_text(&q->plan),
              target_text(pool, &q->plan));
    text_line(out, "  the memory has to hold the arena%s",
              q->plan.budget > 0 ? "" : " and what lies beside it");
    text_blank(out);
    text_line(out, "  %12s%16s%15s%15s%12s%15s", "memory", max == FIT_BATCH ? "batch" : "size", "arena",
              "beside it", "extra work",
              max == FIT_SIZE ? "micro-batches"
              : trains        ? "in loops"
                              : "");
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
             "\"recompute_flops\": %lld}",
             (long long)t->arena, (long long)t->beside, (long long)t->micro_batches, (long long)t->flops,
             (long long)t->recompute_flops);
}

static void member_json(const char *name, const FitTrial *t, bool there, Text *out) {
    text_add(out, ",\n     \"%s\": ", name);
    if (there)
        trial_json(t, out);
    else
        text_add(out, "null");
}

static void answer_json(const Answer *a, bool with_loops, Text *out) {
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
             quoted(out->pool, model->name), quoted(out->pool, model->source), q->plan.target->name);
    text_add(out,
             "  \"max\": \"%s\", \"bounds\": \"%s\", \"precision\": \"%s\", \"largest_batch_tried\": %d,\n",
             max == FIT_BATCH ? "batch" : "size", q->plan.budget > 0 ? "arena" : "arena and beside",
             precision_text(&q->plan), FIT_MOST_BATCH);
    text_add(out, "  \"rows\": [");
}

/* ---- the rows ---- */

enum { THREADS = 4 };

/* Every fourth row, each from the answer to the one before. */
typedef struct {
    const FitQuestion *asked;
    Answer *answer; /* of all rows; .memory is filled in */
    pthread_t thread;
    FitMax max;
    int first, rows;
    bool trains, json, runs;
} Part;

static void *answer_part(void *data) {
    const Part *part = data;
    const Answer *before = NULL;
    for (int i = part->first; i < part->rows; i += THREADS) {
        part->answer[i] =
            answer_for(part->asked, part->answer[i].memory, part->max, part->trains, part->json, before);
        before = &part->answer[i];
    }
    return NULL;
}

static Answer *answer_all(Pool *pool, const Part *whole) {
    Part part[THREADS];
    Answer *answer = NEW_ARRAY(pool, Answer, whole->rows);
    for (int i = 0; i < whole->rows; i++)
        answer[i].memory = whole->asked->plan.budget > 0 ? whole->asked->plan.budget : card_gib[i] << 30;
    for (int k = 0; k < THREADS; k++) {
        part[k] = *whole;
        part[k].first = k;
        part[k].answer = answer;
        part[k].runs = k < whole->rows && pthread_create(&part[k].thread, NULL, answer_part, &part[k]) == 0;
    }
    for (int k = 0; k < THREADS; k++) {
        if (part[k].runs)
            (void)pthread_join(part[k].thread, NULL);
        else
            (void)answer_part(&part[k]);
    }
    return answer;
}

bool report_fit(const FitQuestion *q, const Model *model, FitMax max, bool json, Text *out) {
    const int rows = q->plan.budget > 0 ? 1 : CARDS;
    const bool trains = model->train.present && q->plan.wanted[PROGRAM_TRAIN];
    const Part whole = {.asked = q, .max = max, .trains = trains, .json = json, .rows = rows};
    const Answer *answer = answer_all(out->pool, &whole);
    bool any = false;
    if (json)
        head_json(q, model, max, out);
    else
        head_text(q, model, max, trains, out);
    for (int i = 0; i < rows; i++) {
        any |= answer[i].found || answer[i].found_loops;
        if (json) {
            text_add(out, "%s\n", i > 0 ? "," : "");
            answer_json(&answer[i], trains && max == FIT_BATCH, out);
        } else {
            answer_text(&answer[i], max, trains, out);
        }
    }
    if (json)
        text_add(out, "\n  ]\n}\n");
    return any;
}
