/* placement_test.c - pack_buffers() and pack_search() on made-up problems.
 *
 * Every answer goes to a judge that compares all pairs.  Tiny problems must reach the optimum that trying
 * all orders finds, and the search must prove that one unit less is impossible; tilings of a rectangle must
 * be packed without a gap, even hard ones, and plans shaped like the training of a U-Net into their lower
 * bound at once.
 */
#include "solve/pack.h"
#include "solve/pack_search.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MOST = 512, ENOUGH = 1000000 /* nodes, for tiny problems */ };

#define EXPECT(condition)                                                                                  \
    do {                                                                                                   \
        if (!(condition)) {                                                                                \
            fprintf(stderr, "%s:%d: %s is not so\n", __FILE__, __LINE__, #condition);                      \
            exit(1);                                                                                       \
        }                                                                                                  \
    } while (0)

typedef struct {
    PackBuffer buffer[MOST];
    int count;
} Problem;

static int below(uint64_t *state, int limit) { /* a random number below LIMIT */
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (int)((*state >> 33) % (uint64_t)limit);
}

static void add(Problem *problem, int first, int last, int64_t size) {
    EXPECT(problem->count < MOST);
    problem->buffer[problem->count++] = (PackBuffer){.size = size, .first = first, .last = last};
}

static void add_fixed(Problem *problem, int first, int last, int64_t size, int64_t offset) {
    add(problem, first, last, size);
    problem->buffer[problem->count - 1].fixed = true;
    problem->buffer[problem->count - 1].offset = offset;
}

/* ---- the judge ----------------------------------------------------------------------------------- */

static int64_t alive_at(const Problem *problem, int time) {
    int64_t alive = 0;
    for (int i = 0; i < problem->count; i++)
        if (problem->buffer[i].first <= time && time < problem->buffer[i].last)
            alive += problem->buffer[i].size;
    return alive;
}

static void judge(const Problem *before, const Problem *after, int64_t align, const PackResult *result) {
    int64_t arena = 0, bound = 0;
    for (int i = 0; i < after->count; i++) {
        const PackBuffer *a = &after->buffer[i], *given = &before->buffer[i];
        bool lives = a->size > 0 && a->first < a->last;
        EXPECT(a->offset >= 0 && a->offset % align == 0);
        EXPECT(!given->fixed || a->offset == given->offset);
        EXPECT(lives || a->fixed || a->offset == 0);
        EXPECT(a->size == given->size && a->first == given->first && a->last == given->last);
        if (lives && arena < a->offset + a->size)
            arena = a->offset + a->size;
        if (lives && a->fixed && bound < a->offset + a->size)
            bound = a->offset + a->size;
        if (lives && bound < alive_at(after, a->first))
            bound = alive_at(after, a->first);
        for (int j = 0; j < i && lives; j++) {
            const PackBuffer *b = &after->buffer[j];
            bool meet = a->first < b->last && b->first < a->last && b->size > 0 && b->first < b->last;
            EXPECT(!meet || a->offset + a->size <= b->offset || b->offset + b->size <= a->offset);
        }
    }
    EXPECT(result->arena == arena && result->lower_bound == bound);
}

static PackResult solve(const Problem *problem, int64_t align, int64_t capacity) {
    Pool *pool = pool_new();
    Problem first = *problem, again = *problem;
    PackResult result, repeated;
    bool fits =
        pack_buffers(pool, first.buffer, first.count, align, (PackAim){.capacity = capacity}, &result);
    judge(problem, &first, align, &result);
    EXPECT(fits == (capacity == 0 || result.arena <= capacity));
    pack_buffers(pool, again.buffer, again.count, align, (PackAim){.capacity = capacity}, &repeated);
    EXPECT(memcmp(&result, &repeated, sizeof result) == 0);
    for (int i = 0; i < first.count; i++)
        EXPECT(first.buffer[i].offset == again.buffer[i].offset);
    pool_free(pool);
    return result;
}

/* ---- the optimum, by trying all orders ----------------------------------------------------------- */

typedef struct {
    const Problem *problem;
    int64_t offset[MOST], best;
    bool done[MOST];
} Enumeration;

/* The lowest offset of buffer I on top of everything done, and clear of fixed buffers. */
static int64_t rest_on_top(const Enumeration *e, int i) {
    const PackBuffer *a = &e->problem->buffer[i];
    int64_t offset = 0;
    for (bool moved = true; moved;) {
        moved = false;
        for (int j = 0; j < e->problem->count; j++) {
            const PackBuffer *b = &e->problem->buffer[j];
            int64_t top = e->offset[j] + b->size;
            bool meet = a->first < b->last && b->first < a->last && e->done[j] && offset < top;
            if (meet && (!b->fixed || e->offset[j] < offset + a->size))
                offset = top, moved = true;
        }
    }
    return offset;
}

static void enumerate(Enumeration *e, int left, int64_t arena) {
    if (arena >= e->best)
        return;
    if (left == 0)
        e->best = arena;
    for (int i = 0; i < e->problem->count; i++) {
        if (e->done[i])
            continue;
        int64_t offset = rest_on_top(e, i), top = offset + e->problem->buffer[i].size;
        e->offset[i] = offset;
        e->done[i] = true;
        enumerate(e, left - 1, arena > top ? arena : top);
        e->done[i] = false;
    }
}

static int64_t optimum(const Problem *problem) {
    Enumeration e = {.problem = problem, .best = INT64_MAX};
    int left = 0;
    int64_t arena = 0;
    for (int i = 0; i < problem->count; i++) {
        const PackBuffer *b = &problem->buffer[i];
        e.done[i] = b->fixed;
        e.offset[i] = b->offset;
        left += !b->fixed;
        if (b->fixed && arena < b->offset + b->size)
            arena = b->offset + b->size;
    }
    enumerate(&e, left, arena);
    return e.best;
}

static SearchAnswer search(const Problem *problem, int64_t capacity, int64_t limit) {
    Pool *pool = pool_new();
    PackBox *box = NEW_ARRAY(pool, PackBox, problem->count);
    for (int i = 0; i < problem->count; i++) {
        const PackBuffer *b = &problem->buffer[i];
        box[i] = (PackBox){b->size, b->offset, b->first, b->last, b->fixed};
    }
    SearchEffort effort = {.work = INT64_MAX};
    SearchAnswer answer = pack_search(pool, box, problem->count, capacity, limit, &effort);
    pool_free(pool);
    return answer;
}

static bool meets_fixed(const Problem *problem, int first, int last, int64_t size, int64_t offset) {
    for (int i = 0; i < problem->count; i++) {
        const PackBuffer *b = &problem->buffer[i];
        if (b->fixed && first < b->last && b->first < last && offset < b->offset + b->size &&
            b->offset < offset + size)
            return true;
    }
    return false;
}

static void check_against_optimum(void) {
    uint64_t state = 1;
    int above_bound = 0;
    for (int trial = 0; trial < 3000; trial++) {
        Problem problem = {0};
        int count = 3 + below(&state, 6), span = 3 + below(&state, 8), sizes = 1 + below(&state, 9);
        int fixed = trial % 3 == 0 ? 1 + below(&state, 3) : 0;
        for (int i = 0; i < count; i++) {
            int first = below(&state, span), last = first + 1 + below(&state, span);
            int64_t size = 1 + below(&state, sizes), offset = below(&state, 12);
            if (i >= fixed)
                add(&problem, first, last, size);
            else if (!meets_fixed(&problem, first, last, size, offset))
                add_fixed(&problem, first, last, size, offset);
        }
        int64_t best = optimum(&problem);
        PackResult result = solve(&problem, 1, 0);
        EXPECT(result.arena == best);
        EXPECT(search(&problem, best, ENOUGH) == SEARCH_FOUND);
        if (best > result.lower_bound) {
            EXPECT(search(&problem, best - 1, ENOUGH) == SEARCH_IMPOSSIBLE);
            above_bound++;
        }
    }
    EXPECT(above_bound > 50);
}

/* ---- larger problems ------------------------------------------------------------------------------- */

static void check_random(void) {
    uint64_t state = 2;
    for (int trial = 0; trial < 60; trial++) {
        const int64_t align = INT64_C(1) << below(&state, 9);
        Problem problem = {0};
        int count = 10 + below(&state, 70), span = 5 + below(&state, 60);
        int64_t persistent = 0;
        for (int i = 0; i < count; i++) {
            int first = below(&state, span);
            int64_t size = align * below(&state, 1 + below(&state, 1000)); /* some are 0 */
            if (trial % 2 == 0 && i < 5) {
                add_fixed(&problem, 0, 2 * span, size, persistent);
                persistent += size;
            } else {
                add(&problem, first, first + below(&state, span), size); /* some never live */
            }
        }
        PackResult result = solve(&problem, align, 0);
        EXPECT(result.arena <= result.lower_bound + result.lower_bound / 4);
        solve(&problem, align, result.arena);
    }
}

/* Cuts a rectangle of WIDTH units of time and HEIGHT bytes into COUNT buffers. */
static Problem tiling(uint64_t *state, int count, int width, int height) {
    Problem problem = {0};
    add(&problem, 0, width, height);
    problem.buffer[0].offset = 0;
    while (problem.count < count) {
        PackBuffer *b = &problem.buffer[below(state, problem.count)], rest = *b;
        if (below(state, 2) == 0 && b->last - b->first > 1) {
            rest.first = b->last = b->first + 1 + below(state, b->last - b->first - 1);
        } else if (b->size > 1) {
            b->size = 1 + below(state, (int)b->size - 1);
            rest.size -= b->size;
        } else {
            continue;
        }
        problem.buffer[problem.count++] = rest;
    }
    return problem;
}

/* A tiling can be packed without a gap in few ways, perhaps in one; nearly all must be found. */
static void check_tilings(void) {
    const int64_t height = 1 << 16;
    uint64_t state = 3;
    int found = 0;
    for (int trial = 0; trial < 100; trial++) {
        Problem problem = tiling(&state, 60, 60, (int)height);
        PackResult result = solve(&problem, 1, 0);
        EXPECT(result.lower_bound == height && result.arena <= height + height / 50);
        found += result.arena == height;
    }
    EXPECT(found >= 98);
}

/* Tilings of 100 buffers are where one long run of each strategy fails, and short ones that learn from each
 * other do not: strategies that run longer and longer, and forget, find 44 of these 50. */
static void check_restarts(void) {
    enum { COUNT = 100, NODES = 480 * COUNT, HEIGHT = 1 << 16 };
    uint64_t state = 3;
    int found = 0;
    for (int trial = 0; trial < 50; trial++) {
        Problem problem = tiling(&state, COUNT, 40, HEIGHT);
        found += search(&problem, HEIGHT, NODES) == SEARCH_FOUND;
    }
    EXPECT(found >= 49);
}

/* The tensors that a U-Net keeps and drops in a training step: at each level two activations on the way
 * down (the second is the skip), two on the way up, and a gradient of every one, dead after the next. */
static Problem unet(int levels, int64_t base, uint64_t *state, bool recompute) {
    Problem problem = {0};
    int time = 0, end = 8 * levels + 40;
    for (int level = 0; level < levels; level++, time += 2) {
        int64_t size = base >> level;
        int drop = recompute && below(state, 2) == 0 ? time + 2 : 2 * end - time;
        add(&problem, time, drop, size + 64 * below(state, 50));
        add(&problem, time + 1, 2 * end - time - 1, size);
        add(&problem, time + 1, time + 3, size / 4);
    }
    for (int level = levels - 1; level >= 0; level--, time += 3) {
        int64_t size = base >> level;
        add(&problem, time, recompute ? time + 2 : 2 * end - time, size);
        add(&problem, time + 1, 2 * end - time - 1, size);
        add(&problem, time + 2, time + 4, size / 2);
    }
    int forward = problem.count;
    for (int i = forward - 1; i >= 0; i--) {
        int begin = 2 * end - problem.buffer[i].first - 2;
        add(&problem, begin, begin + 2 + below(state, 3), problem.buffer[i].size);
    }
    return problem;
}

static void check_unets(void) {
    uint64_t state = 4;
    for (int trial = 0; trial < 200; trial++) {
        Problem problem = unet(2 + trial % 5, INT64_C(64) << (6 + trial % 11), &state, trial % 2 == 0);
        for (int i = 0; i < problem.count; i++)
            problem.buffer[i].size = (problem.buffer[i].size + 63) / 64 * 64;
        PackResult result = solve(&problem, 64, 0);
        EXPECT(result.arena == result.lower_bound);
        EXPECT(result.effort <= 12 * problem.count);
    }
}

/* ---- corners ----------------------------------------------------------------------------------------- */

static void check_corners(void) {
    Problem problem = {0};
    EXPECT(solve(&problem, 64, 0).arena == 0);
    add(&problem, 3, 3, 640);
    add(&problem, 0, 5, 0);
    EXPECT(solve(&problem, 64, 0).arena == 0);
    Problem fixed = {0};
    add_fixed(&fixed, 0, 9, 128, 0);
    EXPECT(solve(&fixed, 64, 0).arena == 128 && search(&fixed, 128, ENOUGH) == SEARCH_FOUND);
    add_fixed(&problem, 0, 9, 128, 192);
    add(&problem, 2, 4, 256);
    add(&problem, 2, 4, 192);
    EXPECT(solve(&problem, 64, 0).arena == 576); /* 192 bytes fit below the fixed buffer, 256 above it */
    add(&problem, -7, 2, 256);                   /* touches the others in time, but does not meet them */
    PackResult result = solve(&problem, 64, 0);
    EXPECT(result.arena == 576 && result.lower_bound == 576);
    EXPECT(solve(&problem, 64, 575).arena == 576);
    EXPECT(solve(&problem, 64, 4096).arena <= 4096);
}

/* Runs pack_buffers() in a child; returns its exit code. */
static int exit_code(const Problem *problem) {
    pid_t child = fork();
    EXPECT(child >= 0);
    if (child == 0) {
        Problem copy = *problem;
        PackResult result;
        if (freopen("/dev/null", "w", stderr) == NULL)
            _exit(1);
        pack_buffers(pool_new(), copy.buffer, copy.count, 64, (PackAim){0}, &result);
        _exit(0);
    }
    int status;
    EXPECT(waitpid(child, &status, 0) == child && WIFEXITED(status));
    return WEXITSTATUS(status);
}

static void check_refusals(void) {
    Problem huge = {0}, odd = {0}, twice = {0};
    for (int i = 0; i < 3; i++)
        add(&huge, i, i + 1, INT64_C(1) << 61);
    EXPECT(exit_code(&huge) == 70);
    add(&odd, 0, 1, 100);
    EXPECT(exit_code(&odd) == 70);
    add_fixed(&twice, 0, 2, 128, 0);
    add_fixed(&twice, 1, 3, 128, 64);
    EXPECT(exit_code(&twice) == 70);
}

int main(void) {
    check_corners();
    check_refusals();
    check_against_optimum();
    check_random();
    check_tilings();
    check_restarts();
    check_unets();
    return 0;
}
