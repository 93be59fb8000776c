/* repeat_model.c - see repeat_model.h.
 *
 * In a loop over bands a run lags as far behind as what it reads demands, and no farther.  One that is
 * there again lags as far behind as its readers allow: the sooner, the longer its rows are kept.  Then a
 * tensor has a band of rows, and those between its writer and the reader that is farthest behind.
 *
 *     lag of a reader  = lag of the writer + positions below that it reads
 *     rows of a ring   = a band + lag of the last reader + positions above that it reads - lag of the
 * writer
 *
 * A ring is there through all of its loop; one of a band alone only from its writer to its last reader.
 */
#include "solve/repeat_model.h"
#include "base/size_math.h"

#include <string.h>

RepeatModel *repeat_model_new(Pool *pool, const RepeatProblem *problem, int length) {
    const RematProblem *p = problem->problem;
    int writes = 0, loops = 0;
    RepeatModel *m = NEW(pool, RepeatModel);
    for (int o = 0; o < p->noperation; o++) {
        writes = p->operation[o].nwrite > writes ? p->operation[o].nwrite : writes;
        m->most_read = p->operation[o].nread > m->most_read ? p->operation[o].nread : m->most_read;
        loops = problem->rows[o].loop >= loops ? problem->rows[o].loop + 1 : loops;
    }
    m->problem = problem;
    m->life = NEW_ARRAY(pool, RepeatLife, length * writes);
    m->source = NEW_ARRAY(pool, int, length * m->most_read);
    m->inner = NEW_ARRAY(pool, int, length * m->most_read);
    m->lag = NEW_ARRAY(pool, int64_t, length);
    m->again = NEW_ARRAY(pool, bool, length);
    m->now = NEW_ARRAY(pool, int, p->ntensor);
    m->ran = NEW_ARRAY(pool, bool, p->noperation);
    m->begin = NEW_ARRAY(pool, int, loops);
    m->end = NEW_ARRAY(pool, int, loops);
    m->change = NEW_ARRAY(pool, int64_t, length + 1);
    m->alive = NEW_ARRAY(pool, int64_t, length);
    return m;
}

int repeat_model_source(const RepeatModel *m, int i, int k) {
    return m->source[i * m->most_read + k];
}

static const RematOperation *operation_of(const RepeatModel *m, const RepeatRun *run) {
    return &m->problem->problem->operation[run->operation];
}

/* ---- lives ---- */

static void begin_lives(RepeatModel *m, const RepeatRun *run, int i) {
    const RematOperation *o = operation_of(m, &run[i]);
    for (int k = 0; k < o->nwrite; k++) {
        m->now[o->write[k]] = m->nlife;
        m->life[m->nlife] = (RepeatLife){.tensor = o->write[k],
                                         .first = i,
                                         .last = i,
                                         .root = m->nlife,
                                         .whole = run[i].loop < 0,
                                         .reach = INT64_MIN,
                                         .latest = INT64_MAX};
        m->nlife++;
    }
}

static void read_lives(RepeatModel *m, const RepeatRun *run, int i) {
    const RematOperation *o = operation_of(m, &run[i]);
    for (int k = 0; k < o->nread; k++) {
        const int source = m->now[o->read[k]];
        m->source[i * m->most_read + k] = source;
        m->inner[i * m->most_read + k] = -1;
        if (source < 0)
            continue;
        RepeatLife *life = &m->life[source];
        const bool inner = run[life->first].loop == run[i].loop;
        if (inner && run[i].loop >= 0)
            m->inner[i * m->most_read + k] = source;
        life->whole |= !inner;
        life->last = i;
        life->readers++;
    }
}

static void find_lives(RepeatModel *m, const RepeatRun *run, int length) {
    const RematProblem *p = m->problem->problem;
    for (int t = 0; t < p->ntensor; t++)
        m->now[t] = -1;
    memset(m->ran, 0, (size_t)p->noperation * sizeof *m->ran);
    m->nlife = 0;
    for (int i = 0; i < length; i++) {
        m->again[i] = m->ran[run[i].operation];
        m->ran[run[i].operation] = true;
        read_lives(m, run, i);
        begin_lives(m, run, i);
        if (run[i].loop >= 0)
            m->end[run[i].loop] = i;
    }
    for (int i = length - 1; i >= 0; i--)
        if (run[i].loop >= 0)
            m->begin[run[i].loop] = i;
}

/* ---- lags ---- */

/* The life that run I reads as its input K, if it is of the same loop; else NULL. */
static RepeatLife *in_loop(const RepeatModel *m, int i, int k) {
    const int inner = m->inner[i * m->most_read + k];
    return inner < 0 ? NULL : &m->life[inner];
}

static void lag_behind(RepeatModel *m, const RepeatRun *run, int i) {
    const RepeatRows *rows = &m->problem->rows[run[i].operation];
    int64_t lag = 0;
    for (int k = 0; k < operation_of(m, &run[i])->nread; k++) {
        const RepeatLife *life = in_loop(m, i, k);
        const int64_t least = life == NULL ? 0 : m->lag[life->first] + rows->window[k].below;
        lag = least > lag ? least : lag;
    }
    m->lag[i] = run[i].loop < 0 ? 0 : size_rounded(lag, rows->pitch);
}

/* As late as all readers of what run I writes allow; LIVES: those from this one on. */
static void lag_late(RepeatModel *m, const RepeatRun *run, int i, const RepeatLife *lives) {
    int64_t latest = INT64_MAX;
    for (int k = 0; k < operation_of(m, &run[i])->nwrite; k++)
        latest = lives[k].latest < latest ? lives[k].latest : latest;
    if (latest == INT64_MAX || run[i].loop < 0)
        return;
    const int64_t lag = latest - latest % m->problem->rows[run[i].operation].pitch;
    m->lag[i] = lag > m->lag[i] ? lag : m->lag[i];
}

int64_t repeat_model_reach(const RepeatModel *m, const RepeatRun *run, int i, int k) {
    return in_loop(m, i, k) == NULL ? 0 : m->lag[i] + m->problem->rows[run[i].operation].window[k].above;
}

/* Tells what run I reads how long it has to stay. */
static void reach_back(RepeatModel *m, const RepeatRun *run, int i) {
    for (int k = 0; k < operation_of(m, &run[i])->nread; k++) {
        RepeatLife *life = in_loop(m, i, k);
        if (life == NULL)
            continue;
        const int64_t latest = m->lag[i] - m->problem->rows[run[i].operation].window[k].below,
                      reach = repeat_model_reach(m, run, i, k);
        life->reach = reach > life->reach ? reach : life->reach;
        life->latest = latest < life->latest ? latest : life->latest;
    }
}

static void find_lags(RepeatModel *m, const RepeatRun *run, int length) {
    for (int i = 0; i < length; i++)
        lag_behind(m, run, i);
    for (int i = length - 1, life = m->nlife; i >= 0; i--) {
        life -= operation_of(m, &run[i])->nwrite;
        if (m->again[i])
            lag_late(m, run, i, &m->life[life]);
        reach_back(m, run, i);
    }
}

/* ---- bytes ---- */

/* Lets a tensor share the bytes of its only reader, if that writes in place. */
static void share_bytes(RepeatModel *m, const RepeatRun *run) {
    for (int l = 0; l < m->nlife; l++) {
        RepeatLife *out = &m->life[l];
        const RematOperation *o = operation_of(m, &run[out->first]);
        const RepeatLife *in = o->in_place >= 0 ? in_loop(m, out->first, o->in_place) : NULL;
        if (in == NULL || in->readers != 1 || o->write[0] != out->tensor)
            continue;
        RepeatLife *root = &m->life[in->root];
        out->root = in->root;
        root->reach = out->reach > root->reach ? out->reach : root->reach;
        root->last = out->last > root->last ? out->last : root->last;
        root->whole |= out->whole;
    }
}

int64_t repeat_model_bytes(const RepeatModel *m, const RepeatLife *life, int64_t reach) {
    const RepeatProblem *p = m->problem;
    const int64_t bytes = p->problem->bytes[life->tensor], lag = m->lag[life->first];
    const int64_t last = reach < life->reach ? reach : life->reach;
    const int64_t rows = p->band + (last > lag ? last - lag : 0);
    if (life->whole || rows >= p->height)
        return bytes;
    return (int64_t)((double)bytes * (double)rows / (double)p->height);
}

/* Has every reader, in the iteration that makes a row, seen it for the last time? */
static bool is_fleeting(const RepeatModel *m, const RepeatLife *life) {
    return !life->whole && life->reach <= m->lag[life->first];
}

RepeatSpan repeat_model_span(const RepeatModel *m, const RepeatRun *run, const RepeatLife *life) {
    const bool fleeting = is_fleeting(m, life);
    const int from = fleeting ? -1 : run[life->first].loop, to = fleeting ? -1 : run[life->last].loop;
    return (RepeatSpan){from < 0 ? life->first : m->begin[from], to < 0 ? life->last : m->end[to]};
}

static int64_t peak_of(RepeatModel *m, const RepeatRun *run, int length) {
    const bool *kept = m->problem->problem->kept;
    memset(m->change, 0, ((size_t)length + 1) * sizeof *m->change);
    for (int l = 0; l < m->nlife; l++) {
        const RepeatLife *life = &m->life[l];
        if (life->root != l)
            continue;
        const RepeatSpan span = repeat_model_span(m, run, life);
        const int64_t bytes = repeat_model_bytes(m, life, INT64_MAX);
        const bool stays = kept != NULL && kept[life->tensor];
        m->change[span.from] += bytes;
        m->change[stays ? length : span.to + 1] -= bytes;
    }
    int64_t alive = 0, peak = 0;
    for (int i = 0; i < length; i++) {
        m->alive[i] = alive += m->change[i];
        peak = alive > peak ? alive : peak;
    }
    return peak;
}

int64_t repeat_model_peak(RepeatModel *m, const RepeatRun *run, int length) {
    find_lives(m, run, length);
    find_lags(m, run, length);
    share_bytes(m, run);
    return peak_of(m, run, length);
}
