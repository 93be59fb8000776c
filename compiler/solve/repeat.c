/* repeat.c - see repeat.h.
 *
 * A greedy search.  A move makes a tensor again right before one of its readers, for this reader and later
 * ones, and with it the tensors that it is made of, if their rows are gone by then.  The move that saves
 * most bytes for its cost is done, then the best of the rest, until none saves much.
 *
 * The bytes that a move saves are known only when the whole model is worked out again.  They are no more
 * than the tensor takes for that reader and later ones.  They are saved while the tensor was alive, or in
 * the loops of its writer and of this reader, so the peak stays above the bytes alive at other times.  So
 * the most promising moves are tried first, and most of the others never.
 */
#include "solve/repeat.h"
#include "base/size_math.h"
#include "solve/repeat_model.h"

#include <stdlib.h>
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
    int run[MOST_AT_ONCE]; /* the operation among these that goes before */
    int64_t gain, cost;
    int rank; /* of two that are as good, the lower one is taken */
} Move;

/* A tensor may be made again in front of a reader: LIFE in front of run BEFORE, which saves MOST bytes at
 * most. */
typedef struct {
    int life, before, rank;
    int64_t most;
    double worth; /* of a byte of cost, at most */
} Candidate;

typedef struct {
    const RepeatProblem *problem;
    RepeatModel *model, *trial_model;
    RepeatRun *run, *trial;
    int length;
    int64_t *before, *behind; /* per run: the most bytes that are there in front of it, and from it on */
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

/* ---- what a move saves at most ---- */

static void find_most(Search *s) {
    const int64_t *alive = s->model->alive;
    s->before[0] = s->behind[s->length] = 0;
    for (int i = 0; i < s->length; i++)
        s->before[i + 1] = alive[i] > s->before[i] ? alive[i] : s->before[i];
    for (int i = s->length - 1; i >= 0; i--)
        s->behind[i] = alive[i] > s->behind[i + 1] ? alive[i] : s->behind[i + 1];
}

static RepeatSpan both(RepeatSpan a, RepeatSpan b) {
    return (RepeatSpan){a.from < b.from ? a.from : b.from, a.to > b.to ? a.to : b.to};
}

static RepeatSpan span_of_loop(const RepeatModel *m, int loop) {
    return (RepeatSpan){m->begin[loop], m->end[loop]};
}

/* While what a run writes is there, LIFE among it. */
static RepeatSpan span_of_writer(const Search *s, int life) {
    const RepeatModel *m = s->model;
    const int writer = m->life[life].first;
    RepeatSpan span = span_of_loop(m, s->run[writer].loop);
    while (life > 0 && m->life[life - 1].first == writer)
        life--;
    for (; life < m->nlife && m->life[life].first == writer; life++) {
        span = both(span, repeat_model_span(m, s->run, &m->life[life]));
        span = both(span, repeat_model_span(m, s->run, &m->life[m->life[life].root]));
    }
    return span;
}

/* By making LIFE again in front of run BEFORE, both in loops. */
static int64_t most_saved(const Search *s, int life, int before) {
    const RepeatSpan span = both(span_of_writer(s, life), span_of_loop(s->model, s->run[before].loop));
    const int64_t front = s->before[span.from], rest = s->behind[span.to + 1];
    return s->peak - (front > rest ? front : rest);
}

/* ---- moves ---- */

static bool is_worth_it(const Search *s, int64_t gain) {
    return gain > s->peak / GAIN_PART;
}

/* Worth it, and better than B: more bytes for its cost, or as many and of a lower rank? */
static bool is_better(const Search *s, const Move *a, const Move *b) {
    const double saves_a = (double)a->gain * (double)b->cost, saves_b = (double)b->gain * (double)a->cost;
    return is_worth_it(s, a->gain) &&
           (b->count == 0 || saves_a > saves_b || (saves_a == saves_b && a->rank < b->rank));
}

/* Into BEST, if it is better than that. */
static void try_candidate(Search *s, const Candidate *c, Move *best) {
    Move move = {.before = c->before, .rank = c->rank};
    bool more = add_run(s, &move, s->model->life[c->life].first);
    for (int depth = 0; more && depth < MOST_DEPTH; depth++) {
        move.gain = c->most;
        if (work_sum(s->cost, 1, move.cost) > s->most_cost || !is_better(s, &move, best))
            return;
        const int length = runs_after(s, &move, s->trial);
        move.gain = s->peak - repeat_model_peak(s->trial_model, s->trial, length);
        if (is_better(s, &move, best))
            *best = move;
        more = deepen(s, &move);
    }
}

/* Adds CANDIDATE, if it may be worth it. */
static void add_candidate(Pool *pool, const Search *s, Candidate c, Candidate **candidate, int *count) {
    const int writer = s->model->life[c.life].first;
    const int64_t cost = s->problem->problem->operation[s->run[writer].operation].cost;
    if (!is_worth_it(s, c.most) || cost == 0 || s->run[writer].loop < 0 || s->run[c.before].loop < 0)
        return;
    const int64_t saved = most_saved(s, c.life, c.before);
    c.most = saved < c.most ? saved : c.most;
    c.worth = (double)c.most / (double)cost;
    c.rank = *count;
    if (is_worth_it(s, c.most))
        PUSH(pool, *candidate, *count, c);
}

/* All tensors, in front of each reader but the first; returns how many candidates that are. */
static int find_candidates(Pool *pool, const Search *s, Candidate **candidate) {
    const RepeatModel *m = s->model;
    const RematOperation *operation = s->problem->problem->operation;
    int64_t *before = NEW_ARRAY(pool, int64_t, m->nlife); /* per life: its bytes for the readers so far */
    int count = 0;
    for (int i = 0; i < s->length; i++)
        for (int k = 0; k < operation[s->run[i].operation].nread; k++) {
            const int source = repeat_model_source(m, i, k);
            if (source < 0)
                continue;
            const RepeatLife *life = &m->life[source];
            const int64_t bytes = repeat_model_bytes(m, life, INT64_MAX),
                          here = repeat_model_bytes(m, life, repeat_model_reach(m, s->run, i, k)),
                          most = life->whole ? bytes : bytes - before[source];
            if (before[source] > 0)
                add_candidate(pool, s, (Candidate){.life = source, .before = i, .most = most}, candidate,
                              &count);
            before[source] = here > before[source] ? here : before[source];
        }
    return count;
}

static int compare_candidates(const void *left, const void *right) {
    const Candidate *a = left, *b = right;
    if (a->worth != b->worth)
        return a->worth > b->worth ? -1 : 1;
    return (a->rank > b->rank) - (a->rank < b->rank);
}

static Move best_move(Pool *pool, Search *s) {
    Pool *scratch = pool_part(pool);
    Candidate *candidate = NULL;
    Move best = {.count = 0};
    find_most(s);
    const int count = find_candidates(scratch, s, &candidate);
    if (count > 0)
        qsort(candidate, (size_t)count, sizeof *candidate, compare_candidates);
    for (int k = 0; k < count; k++)
        try_candidate(s, &candidate[k], &best);
    pool_free(scratch);
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
                .before = NEW_ARRAY(pool, int64_t, most + 1),
                .behind = NEW_ARRAY(pool, int64_t, most + 1),
                .length = count};
    for (int o = 0; o < count; o++)
        s.run[o] = (RepeatRun){o, problem->rows[o].loop};
    return s;
}

/* Returns the cost of all operations; INT64_MAX: their costs or bytes are too much to add up. */
static int64_t base_cost(const RematProblem *p) {
    int64_t cost = 0, bytes = 0;
    for (int o = 0; o < p->noperation; o++)
        cost = work_sum(cost, 1, p->operation[o].cost);
    for (int t = 0; t < p->ntensor; t++)
        bytes = size_sum(bytes, p->bytes[t]);
    return cost > REMAT_MAX_TOTAL || bytes > REMAT_MAX_TOTAL ? INT64_MAX : cost;
}

/* SCRATCH is given back when all is found. */
static RematSchedule *search(Pool *pool, Pool *scratch, const RepeatProblem *problem) {
    Search s = search_new(scratch, problem);
    const int64_t base = base_cost(problem->problem);
    if (base == INT64_MAX) {
        s.peak = INT64_MAX;
        return schedule_of(pool, &s, base);
    }
    s.most_cost = base / COST_PART;
    s.peak = repeat_model_peak(s.model, s.run, s.length);
    RematSchedule *first = schedule_of(pool, &s, base), *last = first;
    for (Move move = best_move(scratch, &s); move.count > 0; move = best_move(scratch, &s)) {
        s.length = runs_after(&s, &move, s.trial);
        memcpy(s.run, s.trial, (size_t)s.length * sizeof *s.run);
        s.peak = repeat_model_peak(s.model, s.run, s.length);
        s.cost = work_sum(s.cost, 1, move.cost);
        last->next = schedule_of(pool, &s, base);
        last = last->next;
    }
    return first;
}

RematSchedule *repeat_in_bands(Pool *pool, const RepeatProblem *problem) {
    Pool *scratch = pool_part(pool);
    RematSchedule *found = search(pool, scratch, problem);
    pool_free(scratch);
    return found;
}
