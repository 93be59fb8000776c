/* repeat.c - see repeat.h. */
#include "solve/repeat.h"
#include "base/size_math.h"

#include <stdlib.h>

/* An operation that may run again before the first reader of the backward pass. */
typedef struct {
    int operation, before;
    int64_t bytes, cost;
} Candidate;

typedef struct {
    const RematProblem *problem;
    const int *maker; /* per tensor: the operation that writes it, or -1 */
    const int *last;  /*   the last that reads it, or -1 */
    bool *chosen;     /* per operation: it runs again */
} Repeat;

static bool reads(const RematOperation *o, int tensor) {
    for (int k = 0; k < o->nread; k++)
        if (o->read[k] == tensor)
            return true;
    return false;
}

/* The first and the last of the operations [BEGIN, END) that read TENSOR; END, -1: none does. */
static void readers_among(const RematProblem *p, int tensor, int begin, int end, int *first, int *last) {
    *first = end, *last = -1;
    for (int o = begin; o < end; o++)
        if (reads(&p->operation[o], tensor)) {
            *first = o < *first ? o : *first;
            *last = o;
        }
}

/* Is operation O worth it?  Long pass by between the last forward reader and the first backward one, which
 * does not look for what it reads in vain. */
static bool is_candidate(const Repeat *r, int o, Candidate *c) {
    const RematProblem *p = r->problem;
    const RematOperation *operation = &p->operation[o];
    const int tensor = operation->nwrite == 1 ? operation->write[0] : -1;
    int first, last, from;
    if (tensor < 0 || !operation->repeatable || operation->cost == 0)
        return false;
    readers_among(p, tensor, o + 1, p->nforward, &first, &from);
    readers_among(p, tensor, p->nforward, p->noperation, &first, &last);
    *c = (Candidate){o, first, p->bytes[tensor], operation->cost};
    bool kept = last >= 0 && first - (from > o ? from : o) > p->noperation / 4;
    for (int k = 0; k < operation->nread; k++)
        kept &= r->maker[operation->read[k]] < 0 || r->last[operation->read[k]] >= first;
    return kept;
}

static int by_bytes_for_cost(const void *a, const void *b) {
    const Candidate *x = a, *y = b;
    const double left = (double)x->bytes * (double)y->cost, right = (double)y->bytes * (double)x->cost;
    return left > right ? -1 : left < right ? 1 : x->operation - y->operation;
}

/* Neither what it reads nor what reads its result runs again: one of them has to be kept. */
static bool stands_alone(const Repeat *r, int o) {
    const RematProblem *p = r->problem;
    for (int k = 0; k < p->operation[o].nread; k++) {
        const int maker = r->maker[p->operation[o].read[k]];
        if (maker >= 0 && r->chosen[maker])
            return false;
    }
    for (int other = 0; other < p->noperation; other++)
        if (r->chosen[other] && reads(&p->operation[other], p->operation[o].write[0]))
            return false;
    return true;
}

static Repeat repeat_new(Pool *pool, const RematProblem *p) {
    int *maker = NEW_ARRAY(pool, int, p->ntensor), *last = NEW_ARRAY(pool, int, p->ntensor);
    for (int t = 0; t < p->ntensor; t++)
        maker[t] = last[t] = -1;
    for (int o = 0; o < p->noperation; o++) {
        for (int k = 0; k < p->operation[o].nread; k++)
            last[p->operation[o].read[k]] = o;
        for (int k = 0; k < p->operation[o].nwrite; k++)
            maker[p->operation[o].write[k]] = o;
    }
    return (Repeat){p, maker, last, NEW_ARRAY(pool, bool, p->noperation)};
}

/* The given order, with each of COUNT operations once more. */
static const RematSchedule *with_repeats(Pool *pool, const RematProblem *p, const Candidate *again,
                                         int count) {
    RematSchedule *s = NEW(pool, RematSchedule);
    int *order = NEW_ARRAY(pool, int, p->noperation + count);
    for (int o = 0; o < p->noperation; o++) {
        for (int k = 0; k < count; k++)
            if (again[k].before == o)
                order[s->length++] = again[k].operation;
        order[s->length++] = o;
        s->base_cost = work_sum(s->base_cost, 1, p->operation[o].cost);
    }
    s->cost = s->cost_lower_bound = s->base_cost;
    for (int k = 0; k < count; k++)
        s->cost = work_sum(s->cost, 1, again[k].cost);
    s->operation = order;
    s->peak = remat_peak(pool, p, order, s->length);
    return s;
}

const RematSchedule *repeat_in_bands(Pool *pool, const RematProblem *problem, int64_t permille) {
    Repeat r = repeat_new(pool, problem);
    Candidate *candidate = NEW_ARRAY(pool, Candidate, problem->noperation);
    int ncandidate = 0, count = 0;
    int64_t all = 0, spent = 0;
    for (int o = 0; o < problem->noperation; o++) {
        all = work_sum(all, 1, problem->operation[o].cost);
        ncandidate += o < problem->nforward && is_candidate(&r, o, &candidate[ncandidate]);
    }
    qsort(candidate, (size_t)ncandidate, sizeof *candidate, by_bytes_for_cost);
    for (int k = 0; k < ncandidate; k++) {
        const Candidate c = candidate[k];
        if (work_sum(spent, 1, c.cost) > work_sum(0, permille, all / 1000) ||
            !stands_alone(&r, c.operation))
            continue;
        spent = work_sum(spent, 1, c.cost);
        r.chosen[c.operation] = true;
        candidate[count++] = c;
    }
    return with_repeats(pool, problem, candidate, count);
}
