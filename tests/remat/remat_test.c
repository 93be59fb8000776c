/* remat_test.c - recomputation against the definition: schedules of random problems are judged by a
 * simulator that follows the words of remat.h, and compared with the optimum, found by exhaustive search
 * over the tensors alive and the operations that ran.
 *
 * usage: remat_test [NUMBER OF PROBLEMS]
 */
#include "base/diag.h"
#include "solve/remat.h"
#include "solve/remat_memo.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_OPERATIONS = 6, MAX_TENSORS = 8, MAX_READS = 3, MAX_COST = 200, NEVER = MAX_COST };

typedef struct {
    RematOperation operation[MAX_OPERATIONS];
    int read[MAX_OPERATIONS][MAX_READS], write[MAX_OPERATIONS][2];
    int64_t bytes[MAX_TENSORS];
    bool kept[MAX_TENSORS];
    RematProblem problem;
} Case;

static int below(uint64_t *random, int end) {
    *random = *random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (int)(((*random >> 33) * (uint64_t)end) >> 31);
}

/* ---- random problems ---- */

static void random_operation(Case *c, int o, uint64_t *random) {
    RematOperation *operation = &c->operation[o];
    *operation = (RematOperation){.read = c->read[o],
                                  .write = c->write[o],
                                  .cost = below(random, 10),
                                  .scratch = below(random, 4) == 0 ? below(random, 6) : 0,
                                  .repeatable = below(random, 6) != 0,
                                  .in_place = -1};
    int *ntensor = &c->problem.ntensor;
    for (int i = below(random, MAX_READS + 1); i > 0 && *ntensor > 0; i--)
        c->read[o][operation->nread++] = below(random, 3) == 0 ? below(random, *ntensor) : *ntensor - 1;
    if (operation->nread > 0 && below(random, 3) == 0)
        operation->in_place = below(random, operation->nread);
    for (int i = below(random, 5) == 0 ? 2 : 1; i > 0 && *ntensor < MAX_TENSORS; i--) {
        c->write[o][operation->nwrite++] = *ntensor;
        c->bytes[*ntensor] = below(random, 10);
        c->kept[(*ntensor)++] = below(random, 10) == 0;
    }
}

static void random_case(Case *c, uint64_t *random) {
    memset(c, 0, sizeof *c);
    c->problem = (RematProblem){.operation = c->operation, .bytes = c->bytes, .kept = c->kept};
    if (below(random, 2) == 0) /* a tensor from outside */
        c->bytes[c->problem.ntensor++] = 5;
    c->problem.noperation = 2 + below(random, MAX_OPERATIONS - 1);
    for (int o = 0; o < c->problem.noperation; o++)
        random_operation(c, o, random);
}

/* ---- the simulator ---- */

static bool holds(const int *list, int count, int element) {
    for (int i = 0; i < count; i++)
        if (list[i] == element)
            return true;
    return false;
}

static bool is_written(const RematProblem *problem, int tensor) {
    for (int o = 0; o < problem->noperation; o++)
        if (holds(problem->operation[o].write, problem->operation[o].nwrite, tensor))
            return true;
    return false;
}

static bool written_before(const RematProblem *problem, const int *order, int end, int tensor) {
    for (int p = 0; p < end; p++)
        if (holds(problem->operation[order[p]].write, problem->operation[order[p]].nwrite, tensor))
            return true;
    return false;
}

/* Is TENSOR, written before, needed from position P on? */
static bool needed(const RematProblem *problem, const int *order, int length, int p, int tensor) {
    for (; p < length; p++) {
        const RematOperation *o = &problem->operation[order[p]];
        if (holds(o->read, o->nread, tensor))
            return true;
        if (holds(o->write, o->nwrite, tensor))
            return false;
    }
    return false;
}

/* -1 if an operation reads a tensor that is not there. */
static int64_t simulate(const RematProblem *problem, const int *order, int length) {
    int64_t peak = 0;
    for (int p = 0; p < length; p++) {
        const RematOperation *o = &problem->operation[order[p]];
        int64_t bytes = o->scratch;
        int place = o->in_place < 0 ? -1 : o->read[o->in_place];
        for (int t = 0; t < problem->ntensor; t++) {
            if (!is_written(problem, t))
                continue;
            bool there = written_before(problem, order, p, t), read = holds(o->read, o->nread, t);
            bool write = holds(o->write, o->nwrite, t);
            if (read && !there)
                return -1;
            bool after = (there || write) && (needed(problem, order, length, p + 1, t) || problem->kept[t]);
            bytes += read || write || after ? problem->bytes[t] : 0;
            if (t == place && !after && o->nwrite > 0 && problem->bytes[o->write[0]] <= problem->bytes[t])
                bytes -= problem->bytes[o->write[0]];
        }
        peak = bytes > peak ? bytes : peak;
    }
    return peak;
}

/* ---- the optimum ---- */

/* Sets of tensors and of operations are bits.  A state is the tensors alive and the operations that ran. */
typedef struct {
    const RematProblem *problem;
    int64_t capacity;
    int read[MAX_OPERATIONS], write[MAX_OPERATIONS];
    int kept, inner; /* kept to the end; written by an operation */
    short cost[1 << (MAX_TENSORS + MAX_OPERATIONS)];
} Exhaustive;

static int64_t bytes_of(const Exhaustive *e, int set) {
    int64_t bytes = 0;
    for (int t = 0; t < e->problem->ntensor; t++)
        bytes += (set & e->inner) >> t & 1 ? e->problem->bytes[t] : 0;
    return bytes;
}

static bool fits(const Exhaustive *e, int o, int after) {
    const RematOperation *operation = &e->problem->operation[o];
    int64_t bytes = operation->scratch + bytes_of(e, after | e->read[o] | e->write[o]);
    if (operation->in_place >= 0 && operation->nwrite > 0) {
        int input = operation->read[operation->in_place], output = operation->write[0];
        bool dies = (after >> input & 1) == 0 && (e->inner >> input & 1) != 0;
        if (dies && e->problem->bytes[output] <= e->problem->bytes[input])
            bytes -= e->problem->bytes[output];
    }
    return bytes <= e->capacity;
}

/* Runs operation O in the state and tries every set that may be alive afterwards. */
static bool expand(Exhaustive *e, int state, int o) {
    int alive = state >> MAX_OPERATIONS, ran = state & ((1 << MAX_OPERATIONS) - 1);
    const RematOperation *operation = &e->problem->operation[o];
    if ((e->read[o] & e->inner & ~alive) != 0 || ((ran >> o & 1) != 0 && !operation->repeatable))
        return false;
    int cost = e->cost[state] + (int)operation->cost, all = alive | e->write[o];
    bool any = false;
    for (int after = all;; after = (after - 1) & all) {
        int next = after << MAX_OPERATIONS | ran | 1 << o;
        if ((all & e->kept & ~after) == 0 && cost < e->cost[next] && fits(e, o, after)) {
            e->cost[next] = (short)cost;
            any = true;
        }
        if (after == 0)
            return any;
    }
}

static void prepare(Exhaustive *e, const RematProblem *problem, int64_t capacity) {
    memset(e, 0, sizeof *e);
    e->problem = problem;
    e->capacity = capacity;
    for (int o = 0; o < problem->noperation; o++) {
        for (int i = 0; i < problem->operation[o].nread; i++)
            e->read[o] |= 1 << problem->operation[o].read[i];
        for (int i = 0; i < problem->operation[o].nwrite; i++)
            e->write[o] |= 1 << problem->operation[o].write[i];
        e->inner |= e->write[o];
    }
    for (int t = 0; t < problem->ntensor; t++)
        e->kept |= problem->kept[t] ? 1 << t : 0;
    for (int s = 1; s < 1 << (MAX_TENSORS + MAX_OPERATIONS); s++)
        e->cost[s] = NEVER;
}

/* The least cost of a schedule within CAPACITY, or NEVER. */
static int optimum(Exhaustive *e, const RematProblem *problem, int64_t capacity) {
    prepare(e, problem, capacity);
    int best = NEVER, all = (1 << problem->noperation) - 1;
    for (int cost = 0; cost < best; cost++)
        for (bool again = true; again;) { /* operations may cost nothing */
            again = false;
            for (int s = 0; s < 1 << (problem->ntensor + MAX_OPERATIONS); s++) {
                if (e->cost[s] != cost)
                    continue;
                if ((s & ((1 << MAX_OPERATIONS) - 1)) == all)
                    best = cost;
                for (int o = 0; o < problem->noperation; o++)
                    again |= expand(e, s, o) && problem->operation[o].cost == 0;
            }
        }
    return best;
}

/* ---- the test ---- */

static void check_schedule(const RematProblem *problem, const RematSchedule *found) {
    int64_t cost = 0, base = 0;
    int times[MAX_OPERATIONS] = {0};
    for (int i = 0; i < found->length; i++) {
        cost += problem->operation[found->operation[i]].cost;
        times[found->operation[i]]++;
    }
    for (int o = 0; o < problem->noperation; o++) {
        CHECK(times[o] == 1 || (times[o] > 1 && problem->operation[o].repeatable));
        base += problem->operation[o].cost;
    }
    CHECK(cost == found->cost && base == found->base_cost);
    CHECK(simulate(problem, found->operation, found->length) == found->peak);
    CHECK(found->cost_lower_bound >= base && found->peak_lower_bound <= found->peak);
}

/* Returns whether something had to be recomputed. */
static bool check_problem(Exhaustive *e, const RematProblem *problem, uint64_t *random) {
    enum { EFFORT = 400000 };
    Pool *pool = pool_new();
    int order[MAX_OPERATIONS];
    for (int o = 0; o < problem->noperation; o++)
        order[o] = o;
    int64_t given = simulate(problem, order, problem->noperation);
    CHECK(remat_peak(pool, problem, order, problem->noperation) == given);
    RematSchedule found, again;
    CHECK(remat_schedule(pool, problem, &(RematQuestion){.capacity = given, .effort = 0}, &found) &&
          found.length == problem->noperation);
    CHECK(found.effort == 0);
    int64_t low = found.peak_lower_bound;
    int64_t capacity = low + below(random, (int)(given - low) + 1) - (below(random, 20) == 0);
    bool fit =
        remat_schedule(pool, problem, &(RematQuestion){.capacity = capacity, .effort = EFFORT}, &found);
    check_schedule(problem, &found);
    CHECK(fit == (found.peak <= capacity));
    CHECK(remat_schedule(pool, problem, &(RematQuestion){.capacity = capacity, .effort = EFFORT}, &again) ==
              fit &&
          again.length == found.length &&
          memcmp(again.operation, found.operation, (size_t)found.length * sizeof *found.operation) == 0);
    int best = optimum(e, problem, capacity);
    if (fit != (best < NEVER) || (fit && found.cost != best))
        BUG("found %" PRId64 " (peak %" PRId64 "), the optimum is %d; capacity %" PRId64, found.cost,
            found.peak, best, capacity);
    CHECK(!fit || found.cost_lower_bound <= best);
    bool repeated = fit && found.length > problem->noperation;
    pool_free(pool);
    return repeated;
}

/* A chain whose sizes or costs add up to more than can be counted fits nowhere, and says so. */
static void check_overflow(void) {
    static const int tensor[2] = {0, 1};
    Pool *pool = pool_new();
    for (int kind = 0; kind < 3; kind++) {
        int64_t large = REMAT_MAX_TOTAL / 2 + 1, bytes[2] = {kind == 0 ? large : 1, kind == 0 ? large : 1};
        RematOperation o[2] = {
            {.nwrite = 1, .write = tensor, .repeatable = true, .in_place = -1},
            {.nread = 1, .read = tensor, .nwrite = 1, .write = tensor + 1, .in_place = -1}};
        o[0].cost = o[1].cost = kind == 1 ? large : 1;
        o[0].scratch = o[1].scratch = kind == 2 ? INT64_MAX : 1;
        RematProblem problem = {.noperation = 2, .ntensor = 2, .operation = o, .bytes = bytes};
        RematSchedule found;
        CHECK(!remat_schedule(pool, &problem, &(RematQuestion){.capacity = REMAT_MAX_TOTAL, .effort = 0},
                              &found));
        CHECK(found.length == 2 && found.peak == INT64_MAX);
        CHECK(remat_peak(pool, &problem, tensor, 2) == INT64_MAX);
    }
    RematProblem nothing = {0};
    RematSchedule found;
    CHECK(remat_schedule(pool, &nothing, &(RematQuestion){.capacity = 0, .effort = 0}, &found) &&
          found.length == 0 && found.peak == 0);
    pool_free(pool);
}

/* Every operation reads the two before it, so the ways to compute one again double with each step.  The
 * search must come to its end all the same. */
static void check_many_paths(void) {
    enum { COUNT = 200 };
    static RematOperation operation[COUNT];
    static int read[COUNT][3], write[COUNT];
    static int64_t bytes[COUNT];
    for (int o = 0; o < COUNT; o++) {
        const int before[3] = {o - 1, o - 2, COUNT - 1 - o};
        int nread = o < 2 ? o : o < COUNT / 2 ? 2 : 3;
        memcpy(read[o], before, sizeof before);
        write[o] = o;
        bytes[o] = 100;
        operation[o] = (RematOperation){.nread = nread,
                                        .nwrite = 1,
                                        .read = read[o],
                                        .write = &write[o],
                                        .cost = 1,
                                        .repeatable = true,
                                        .in_place = -1};
    }
    const RematProblem problem = {COUNT, COUNT, COUNT / 2, operation, bytes, NULL};
    Pool *pool = pool_new();
    RematSchedule found;
    bool fits =
        remat_schedule(pool, &problem, &(RematQuestion){.capacity = 2000, .effort = 40000000}, &found);
    CHECK(fits == (found.peak <= 2000));
    CHECK(found.peak < 5000 && remat_peak(pool, &problem, found.operation, found.length) == found.peak);
    pool_free(pool);
}

/* A chain forth and back: step k reads what step COUNT - 1 - k left. */
static void make_chain(Case *c, int64_t unit, int64_t more) {
    *c = (Case){.problem = {.noperation = MAX_OPERATIONS,
                            .ntensor = MAX_OPERATIONS,
                            .operation = c->operation,
                            .bytes = c->bytes,
                            .kept = c->kept}};
    for (int o = 0; o < MAX_OPERATIONS; o++) {
        c->read[o][0] = o - 1;
        c->read[o][1] = MAX_OPERATIONS - 1 - o;
        c->write[o][0] = o;
        c->bytes[o] = unit * (MAX_OPERATIONS - o) + more;
        c->operation[o] = (RematOperation){.nread = o == 0                   ? 0
                                                    : o < MAX_OPERATIONS / 2 ? 1
                                                                             : 2,
                                           .nwrite = 1,
                                           .read = c->read[o],
                                           .write = c->write[o],
                                           .cost = 1,
                                           .repeatable = true,
                                           .in_place = -1};
    }
}

/* The answer for a problem answers for another of about the same proportions, measured there: the same
 * with a memo, and for every capacity that it fits. */
static void check_typical(void) {
    Pool *pool = pool_new();
    RematMemo *memo = remat_memo_new();
    Case typical, large;
    make_chain(&typical, 100, 0);
    make_chain(&large, 1000, 7);
    CHECK(remat_alike(&typical.problem, &large.problem, false));
    CHECK(!remat_alike(&typical.problem, &large.problem, true));
    const RematSchedule *kept = remat_memo_schedules(memo, &typical.problem, false, 0);
    CHECK(kept == remat_memo_schedules(memo, &typical.problem, false, 0) && kept->next != NULL);
    const RematSchedule *brief = remat_memo_schedules(memo, &typical.problem, true, 0);
    CHECK(brief != kept && brief == remat_memo_schedules(memo, &typical.problem, true, 0));
    for (int64_t capacity = 22000, cost = 0; capacity > 5000; capacity -= 1000) {
        RematQuestion question = {.capacity = capacity, .typical = &typical.problem, .memo = memo};
        RematSchedule found, searched;
        const bool fits = remat_schedule(pool, &large.problem, &question, &found);
        question.memo = NULL; /* which takes a second */
        if (capacity == 15000)
            CHECK(remat_schedule(pool, &large.problem, &question, &searched) == fits &&
                  searched.cost == found.cost && searched.peak == found.peak);
        check_schedule(&large.problem, &found);
        CHECK(fits == (found.peak <= capacity) && (!fits || found.cost >= cost));
        cost = fits ? found.cost : cost;
        capacity = fits ? capacity : 0;
    }
    remat_memo_free(memo);
    pool_free(pool);
}

/* A chain of layers forth and back: layer k reads what layer k - 1 wrote, and its gradient reads that, too.
 */
static RematProblem long_chain(Pool *pool, int layers) {
    RematOperation *operation = NEW_ARRAY(pool, RematOperation, 2 * layers);
    int64_t *bytes = NEW_ARRAY(pool, int64_t, 2 * layers);
    for (int o = 0; o < 2 * layers; o++) {
        int *const tensor = NEW_ARRAY(pool, int, 3);
        const int layer = o < layers ? o : 2 * layers - 1 - o;
        tensor[0] = o, tensor[1] = o - 1, tensor[2] = layer - 1;
        operation[o] = (RematOperation){.nread = o == 0                     ? 0
                                                 : o < layers || layer == 0 ? 1
                                                                            : 2,
                                        .nwrite = 1,
                                        .write = tensor,
                                        .read = tensor + 1,
                                        .cost = 1,
                                        .repeatable = true,
                                        .in_place = -1};
        bytes[o] = 1000;
    }
    return (RematProblem){.noperation = 2 * layers,
                          .ntensor = 2 * layers,
                          .nforward = layers,
                          .operation = operation,
                          .bytes = bytes};
}

/* A chain of n layers needs about 2 sqrt(n) of its tensors if each layer runs twice. */
static void check_long_chain(void) {
    enum { LAYERS = 900, ROOT = 30, MORE = 5 };
    Pool *pool = pool_new();
    const RematProblem problem = long_chain(pool, LAYERS);
    const RematQuestion question = {.capacity = (2 * ROOT + MORE) * 1000, .effort = 100000000};
    RematSchedule found;
    CHECK(remat_schedule(pool, &problem, &question, &found));
    CHECK(found.cost <= 3 * LAYERS);
    pool_free(pool);
}

int main(int count, char **word) {
    int problems = count > 1 ? atoi(word[1]) : 3000, repeated = 0;
    static Exhaustive exhaustive;
    uint64_t random = 7;
    check_overflow();
    check_typical();
    check_long_chain();
    for (int i = 0; i < problems; i++) {
        Case c;
        random_case(&c, &random);
        repeated += check_problem(&exhaustive, &c.problem, &random);
    }
    printf("%d problems, something was recomputed in %d\n", problems, repeated);
    check_many_paths();
    return repeated > 0 ? 0 : 1;
}
