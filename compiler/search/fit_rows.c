/* fit_rows.c - for each amount of memory the largest batch or size.
 *
 * With a budget one row, and the memory bounds the arena; without, a row for each usual card, and the
 * memory has to hold what lies beside the arena as well.  Rows are worked out in threads, always as many,
 * so that each search begins where it would on any machine.
 */
#include "search/fit_rows.h"
#include "base/threads.h"
#include "solve/remat_memo.h"

static const int64_t card_gib[] = {4, 6, 8, 10, 11, 12, 16, 24, 32, 40, 48, 80};
enum { CARDS = sizeof card_gib / sizeof *card_gib };

/* ---- the questions ---- */

static FitQuestion question_for(const FitQuestion *asked, int64_t memory, FitMax max) {
    FitQuestion q = *asked;
    if (asked->options.budget == 0)
        q.card = memory;
    if (max == FIT_BATCH)
        q.options.micro_batches = 1;
    return q;
}

/* BEFORE: the answer for less memory, or NULL. */
static FitRow answer_for(const FitQuestion *asked, int64_t memory, FitMax max, bool trains, bool in_full,
                         const FitRow *before) {
    FitQuestion q = question_for(asked, memory, max);
    FitRow a = {.memory = memory};
    const FitTrial *from = before != NULL && before->found ? &before->best : NULL;
    if (max == FIT_SIZE) {
        a.found = fit_largest_size(&q, from, &a.best, &a.next);
        return a;
    }
    a.found = fit_largest_batch(&q, from, &a.best, &a.next);
    if (trains && asked->options.micro_batches != 1) {
        const bool free = asked->options.micro_batches == 0; /* then whole batches are among the choices */
        q.options.micro_batches = asked->options.micro_batches;
        q.fixed.any_plan = !in_full;
        from = before != NULL && before->found_loops ? &before->loops : free && a.found ? &a.best : NULL;
        a.found_loops = fit_largest_batch(&q, from, &a.loops, NULL);
    }
    return a;
}

/* ---- the rows ---- */

enum { THREADS = 4 };

/* Every fourth row, each from the answer to the one before, and the first from that to row 0, which is
 * asked alone: where memory grows evenly, it tells nearly all that the others ask for. */
typedef struct {
    const FitQuestion *asked;
    FitRow *answer; /* of all rows; .memory is filled in */
    FitMax max;
    int first, rows;
    bool trains, in_full;
} Part;

static void *answer_part(void *data) {
    const Part *part = data;
    const FitRow *before = part->first > 0 ? &part->answer[0] : NULL;
    for (int i = part->first; i < part->rows; i += THREADS) {
        part->answer[i] =
            answer_for(part->asked, part->answer[i].memory, part->max, part->trains, part->in_full, before);
        before = &part->answer[i];
    }
    return NULL;
}

int fit_rows(Pool *pool, const FitQuestion *question, FitMax max, bool trains, bool in_full, FitRow **row) {
    const int64_t budget = question->options.budget;
    const int count = budget > 0 ? 1 : CARDS;
    FitQuestion asked = *question;
    asked.fixed.memo = max == FIT_BATCH ? remat_memo_new() : NULL; /* each size is another problem */
    const Part whole = {.asked = &asked, .max = max, .trains = trains, .in_full = in_full, .rows = count};
    Part part[1 + THREADS];
    FitRow *answer = NEW_ARRAY(pool, FitRow, count);
    for (int i = 0; i < count; i++)
        answer[i].memory = budget > 0 ? budget : card_gib[i] << 30;
    for (int k = 0; k <= THREADS; k++) {
        part[k] = whole;
        part[k].first = k;
        part[k].rows = k == 0 ? 1 : count;
        part[k].answer = answer;
    }
    (void)answer_part(&part[0]);
    in_threads(answer_part, &part[1], sizeof *part, THREADS, THREADS);
    if (asked.fixed.memo != NULL)
        remat_memo_free(asked.fixed.memo);
    *row = answer;
    return count;
}
