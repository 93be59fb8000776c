/* repeat.c - see repeat.h.
 *
 * A greedy search.  What can be done is to make a tensor again right before one of its readers, which that
 * and later readers then take; together with what it is made of, and what that is made of, if this is gone
 * by then.  What saves most bytes for its cost is done, then what does so of the rest, until nothing saves
 * much.
 */
#include "solve/repeat.h"
#include "base/size_math.h"
#include "solve/repeat_model.h"

#include <string.h>

enum {
    MOST_REPEATS = 48, /* operations that run again */
    MOST_DEPTH = 3,    /* a tensor, what it is made of, what that is made of */
    MOST_AT_ONCE = 8,  /* operations that run again for one reader */
    COST_PART = 4,     /* what runs again costs no more than this part of all, */
    GAIN_PART = 500    /* and saves at least this part of the peak */
};

/* So many runs, of the operations AGAIN, are put in front of run BEFORE. */
typedef struct {
    int before, count;
    RepeatRun again[MOST_AT_ONCE];
    int run[MOST_AT_ONCE]; /* that of these operations which goes before */
    int64_t gain, cost;
} Move;

typedef struct {
    const RepeatProblem *problem;
    RepeatModel *model, *trial_model;
    RepeatRun *run, *trial;
    int length;
    int64_t peak, cost, most_cost;
} Search;

static bool in_move(const Move *move, int run) {
    for (int k = 0; k < move->count; k++)
        if (move->run[k] == run)
            return true;
    return false;
}

/* Lets the run RUN occur once more in MOVE; in their order. */
static bool add_run(const Search *s, Move *move, int run) {
    const RematOperation *o = &s->problem->problem->operation[s->run[run].operation];
    int k = move->count;
    if (k == MOST_AT_ONCE || s->length + k >= s->problem->problem->noperation + MOST_REPEATS ||
        !o->repeatable || o->cost == 0 || s->run[run].loop < 0)
        return false;
    for (; k > 0 && move->run[k - 1] > run; k--) {
        move->run[k] = move->run[k - 1];
        move->again[k] = move->again[k - 1];
    }
    move->run[k] = run;
    move->again[k] = (RepeatRun){s->run[run].operation, s->run[move->before].loop};
    move->count++;
    move->cost = work_sum(move->cost, 1, o->cost);
    return true;
}

/* Adds what makes the tensors that the runs in MOVE read, if these are gone by then; false: nothing. */
static bool deepen(const Search *s, Move *move) {
    const Move shallow = *move;
    for (int j = 0; j < shallow.count; j++)
        for (int k = 0; k < s->problem->problem->operation[shallow.again[j].operation].nread; k++) {
            const int source = repeat_model_source(s->model, shallow.run[j], k);
            if (source < 0 || s->model->life[source].last >= move->before ||
                in_move(move, s->model->life[source].first))
                continue;
            if (!add_run(s, move, s->model->life[source].first))
                return false;
        }
    return move->count > shallow.count;
}

/* The runs with MOVE done; returns how many. */
static int runs_after(const Search *s, const Move *move, RepeatRun *run) {
    memcpy(run, s->run, (size_t)move->before * sizeof *run);
    memcpy(run + move->before, move->again, (size_t)move->count * sizeof *run);
    memcpy(run + move->before + move->count, s->run + move->before,
           (size_t)(s->length - move->before) * sizeof *run);
    return s->length + move->count;
}

/* Worth it, and more bytes for its cost than B? */
static bool saves_more(const Search *s, const Move *a, const Move *b) {
    return a->gain > s->peak / GAIN_PART &&
           (b->count == 0 || (double)a->gain * (double)b->cost > (double)b->gain * (double)a->cost);
}

/* What run WRITER makes is made again in front of run BEFORE, which saves no more than MOST bytes: into
 * BEST, if it is better than that. */
static void try_before(Search *s, int writer, int before, int64_t most, Move *best) {
    Move move = {.before = before};
    bool more = add_run(s, &move, writer);
    for (int depth = 0; more && depth < MOST_DEPTH; depth++) {
        move.gain = most;
        if (work_sum(s->cost, 1, move.cost) > s->most_cost || !saves_more(s, &move, best))
            return;
        const int length = runs_after(s, &move, s->trial);
        move.gain = s->peak - repeat_model_peak(s->trial_model, s->trial, length);
        if (saves_more(s, &move, best))
            *best = move;
        more = deepen(s, &move);
    }
}

/* Of all tensors, in front of each reader but the first. */
static Move best_move(Pool *pool, Search *s) {
    const RepeatModel *m = s->model;
    Move best = {.count = 0};
    int64_t *before = NEW_ARRAY(pool, int64_t, m->nlife); /* per life: its bytes for the readers so far */
    for (int i = 0; i < s->length; i++)
        for (int k = 0; k < s->problem->problem->operation[s->run[i].operation].nread; k++) {
            const int source = repeat_model_source(m, i, k);
            if (source < 0)
                continue;
            const RepeatLife *life = &m->life[source];
            const int64_t bytes = repeat_model_bytes(m, life, INT64_MAX),
                          here = repeat_model_bytes(m, life, repeat_model_reach(m, s->run, i, k));
            if (before[source] > 0 && s->run[i].loop >= 0)
                try_before(s, life->first, i, life->whole ? bytes : bytes - before[source], &best);
            before[source] = here > before[source] ? here : before[source];
        }
    return best;
}

static RematSchedule *schedule_of(Pool *pool, const Search *s, int64_t base) {
    RematSchedule *schedule = NEW(pool, RematSchedule);
    int *operation = NEW_ARRAY(pool, int, s->length);
    for (int i = 0; i < s->length; i++)
        operation[i] = s->run[i].operation;
    *schedule = (RematSchedule){.length = s->length,
                                .operation = operation,
                                .peak = s->peak,
                                .cost = work_sum(base, 1, s->cost),
                                .base_cost = base,
                                .cost_lower_bound = base};
    return schedule;
}

static Search search_new(Pool *pool, const RepeatProblem *problem) {
    const int count = problem->problem->noperation, most = count + MOST_REPEATS;
    Search s = {.problem = problem,
                .model = repeat_model_new(pool, problem, most),
                .trial_model = repeat_model_new(pool, problem, most),
                .run = NEW_ARRAY(pool, RepeatRun, most),
                .trial = NEW_ARRAY(pool, RepeatRun, most),
                .length = count};
    for (int o = 0; o < count; o++)
        s.run[o] = (RepeatRun){o, problem->rows[o].loop};
    return s;
}

/* What all operations cost; INT64_MAX: that, or what they write, is too much to add up. */
static int64_t base_cost(const RematProblem *p) {
    int64_t cost = 0, bytes = 0;
    for (int o = 0; o < p->noperation; o++)
        cost = work_sum(cost, 1, p->operation[o].cost);
    for (int t = 0; t < p->ntensor; t++)
        bytes = size_sum(bytes, p->bytes[t]);
    return cost > REMAT_MAX_TOTAL || bytes > REMAT_MAX_TOTAL ? INT64_MAX : cost;
}

RematSchedule *repeat_in_bands(Pool *pool, const RepeatProblem *problem) {
    Search s = search_new(pool, problem);
    const int64_t base = base_cost(problem->problem);
    if (base == INT64_MAX) {
        s.peak = INT64_MAX;
        return schedule_of(pool, &s, base);
    }
    s.most_cost = base / COST_PART;
    s.peak = repeat_model_peak(s.model, s.run, s.length);
    RematSchedule *first = schedule_of(pool, &s, base), *last = first;
    for (Move move = best_move(pool, &s); move.count > 0; move = best_move(pool, &s)) {
        s.length = runs_after(&s, &move, s.trial);
        memcpy(s.run, s.trial, (size_t)s.length * sizeof *s.run);
        s.peak = repeat_model_peak(s.model, s.run, s.length);
        s.cost = work_sum(s.cost, 1, move.cost);
        last->next = schedule_of(pool, &s, base);
        last = last->next;
    }
    return first;
}
