/* pack.c - chooses offsets for buffers whose lifetimes are known.
 *
 * The lower bound is the largest number of bytes alive at one time.  First-fit in several orders answers
 * easy problems at once.  If its answer is above the bound, or above the caller's capacity, more orders
 * follow from the best one: boxes that found no place below the bound come earlier.  Then the complete
 * search of pack_search.c looks for a smaller arena: first at the bound itself, then above it in steps that
 * double, up to the best answer so far.  The search may give up.  The smallest arena found is the answer.
 *
 * Requires: sizes and fixed offsets are multiples of the alignment and not negative; fixed buffers alive at
 * one time do not overlap; sizes and fixed offsets add up to less than 2^62.
 *
 * Provides: offsets, multiples of the alignment, at which no two buffers alive at one time overlap.
 */
#include "solve/pack.h"
#include "base/diag.h"
#include "solve/pack_gaps.h"

#include <stdlib.h>
#include <string.h>

/* The nodes that the search may visit, for each box: at the lower bound, and at a capacity that the caller
 * asked for.  Each larger capacity has half of them; the first of these leaves a gap of a 256th or less.
 * More nodes rarely find more. */
enum { NODES_FOR_BOUND = 120, NODES_FOR_CAPACITY = 480, FIRST_GAP = 256 };

/* The most work of all searches together, about a nanosecond each: large problems end after half a second.
 * Nineteen of twenty searches that find something take a tenth of this.  A test may set it. */
#ifndef PACK_WORK
#define PACK_WORK 400000000
#endif
static const int64_t max_work = PACK_WORK;
enum { BRIEF_PART = 4 };

typedef struct {
    int count;
    PackBox *box;
    int *order;     /* the order of first-fit, fixed boxes first */
    PackGaps *gaps; /* first-fit: what the boxes packed so far leave */
    int64_t *best;  /* offsets of the lowest arena so far */
    int64_t arena;  /* that arena */
    SearchEffort effort;
} Packing;

/* ---- the problem, in units of the alignment ---- */

static int64_t checked_sum(int64_t a, int64_t b) {
    int64_t sum;
    CHECK(!__builtin_add_overflow(a, b, &sum) && sum < INT64_C(1) << 62);
    return sum;
}

static bool needs_offset(const PackBuffer *buffer) {
    return buffer->size > 0 && buffer->first < buffer->last;
}

static Packing packing_new(Pool *pool, const PackBuffer *buffer, int count, int64_t align) {
    CHECK(align > 0 && count >= 0);
    Packing p = {.box = NEW_ARRAY(pool, PackBox, count), .arena = INT64_MAX};
    int64_t total = 0;
    for (int i = 0; i < count; i++) {
        const PackBuffer *b = &buffer[i];
        int64_t offset = b->fixed ? b->offset : 0;
        CHECK(b->size >= 0 && b->size % align == 0 && offset >= 0 && offset % align == 0);
        total = checked_sum(total, checked_sum(b->size, offset));
        if (needs_offset(b))
            p.box[p.count++] = (PackBox){b->size / align, offset / align, b->first, b->last, b->fixed};
    }
    p.order = NEW_ARRAY(pool, int, p.count);
    p.gaps = gaps_new(pool, p.box, p.count);
    p.best = NEW_ARRAY(pool, int64_t, p.count);
    return p;
}

static bool alive_together(const PackBox *a, const PackBox *b) {
    return a->first < b->last && b->first < a->last;
}

static void check_fixed(const Packing *p) {
    for (int i = 0; i < p->count; i++)
        for (int j = 0; j < i && p->box[i].fixed; j++) {
            const PackBox *a = &p->box[i], *b = &p->box[j];
            bool apart = a->offset + a->size <= b->offset || b->offset + b->size <= a->offset;
            CHECK(!b->fixed || !alive_together(a, b) || apart);
        }
}

/* ---- the lower bound ---- */

typedef struct {
    int time;
    int64_t change;
} Event;

static int compare_events(const void *left, const void *right) {
    const Event *a = left, *b = right;
    if (a->time != b->time)
        return a->time < b->time ? -1 : 1;
    return (a->change > b->change) -
           (a->change < b->change); /* deaths before births: lifetimes are half-open */
}

static int64_t lower_bound(Pool *pool, const Packing *p) {
    Event *event = NEW_ARRAY(pool, Event, 2 * (size_t)p->count);
    int64_t bound = 0;
    for (int i = 0; i < p->count; i++) {
        const PackBox *box = &p->box[i];
        event[2 * i] = (Event){box->first, box->size};
        event[2 * i + 1] = (Event){box->last, -box->size};
        if (box->fixed && bound < box->offset + box->size)
            bound = box->offset + box->size;
    }
    qsort(event, 2 * (size_t)p->count, sizeof *event, compare_events);
    int64_t alive = 0;
    for (int i = 0; i < 2 * p->count; i++) {
        alive += event[i].change;
        if (bound < alive)
            bound = alive;
    }
    return bound;
}

/* ---- first-fit ---- */

static void keep_if_best(Packing *p) {
    int64_t arena = 0;
    for (int i = 0; i < p->count; i++)
        if (arena < p->box[i].offset + p->box[i].size)
            arena = p->box[i].offset + p->box[i].size;
    if (arena >= p->arena)
        return;
    p->arena = arena;
    for (int i = 0; i < p->count; i++)
        p->best[i] = p->box[i].offset;
}

static void first_fit(Packing *p) {
    gaps_clear(p->gaps);
    for (int i = 0; i < p->count; i++) {
        PackBox *box = &p->box[p->order[i]];
        if (!box->fixed)
            box->offset = gaps_lowest(p->gaps, box);
        gaps_take(p->gaps, box);
    }
    keep_if_best(p);
}

typedef enum { LARGEST, LONGEST, LARGEST_AREA, EARLIEST, LATEST, ORDERS } Order;

typedef struct {
    double key;
    int index;
} Ranked;

static double rank(const PackBox *box, Order order) {
    double size = (double)box->size, duration = (double)box->last - box->first;
    switch (order) {
    case LARGEST:
        return size;
    case LONGEST:
        return duration;
    case LARGEST_AREA:
        return size * duration;
    case EARLIEST:
        return -(double)box->first;
    default:
        return (double)box->last;
    }
}

static int compare_ranked(const void *left, const void *right) {
    const Ranked *a = left, *b = right;
    if (a->key != b->key)
        return a->key > b->key ? -1 : 1;
    return a->index < b->index ? -1 : 1;
}

static void sort_order(Packing *p, Ranked *ranked, Order order) {
    for (int i = 0; i < p->count; i++)
        ranked[i] = (Ranked){p->box[i].fixed ? 1e300 : rank(&p->box[i], order), i};
    qsort(ranked, (size_t)p->count, sizeof *ranked, compare_ranked);
    for (int i = 0; i < p->count; i++)
        p->order[i] = ranked[i].index;
}

/* ---- the search ---- */

static bool search_at(Pool *pool, Packing *p, int64_t capacity, int nodes_per_box) {
    int64_t limit = (int64_t)nodes_per_box * p->count;
    if (pack_search(pool, p->box, p->count, capacity, limit, &p->effort) != SEARCH_FOUND)
        return false;
    keep_if_best(p);
    return true;
}

/* Returns by how much the next arena is larger than TARGET, which is out of reach. */
static int64_t first_gap(const Packing *p, int64_t target) {
    const int64_t half = (p->arena - target) / 2, first = target / FIRST_GAP;
    return (half < first ? half : first) + 1;
}

/* Lowers the arena to TARGET or, where that is not found, to little more. */
static void lower_arena(Pool *pool, Packing *p, int64_t target, int nodes_per_box) {
    if (search_at(pool, p, target, nodes_per_box))
        return;
    for (int64_t gap = first_gap(p, target); gap < p->arena - target; gap *= 2)
        if (search_at(pool, p, target + gap, nodes_per_box / 2))
            return;
}

/* Lowers the arena to at most ENOUGH, by the widest step of lower_arena() that does: where that fails,
 * others do, too, but for luck. */
static void lower_arena_to(Pool *pool, Packing *p, int64_t target, int64_t enough, int nodes_per_box) {
    int64_t gap = first_gap(p, target);
    if (enough < target + gap) {
        search_at(pool, p, target, nodes_per_box);
        return;
    }
    while (target + 2 * gap <= enough)
        gap *= 2;
    search_at(pool, p, target + gap, nodes_per_box / 2);
}

/* ---- better orders ---- */

static int compare_places(const void *left, const void *right) {
    const Ranked *a = left, *b = right;
    return a->key != b->key ? (a->key > b->key) - (a->key < b->key)
                            : (a->index > b->index) - (a->index < b->index);
}

/* Boxes that reach beyond TARGET move a quarter of the way to the front of the order, behind fixed boxes.
 */
static void move_up(Packing *p, Ranked *ranked, int64_t target) {
    static const double nearer = 0.75;
    for (int i = 0; i < p->count; i++) {
        const PackBox *box = &p->box[p->order[i]];
        const bool beyond = box->offset + box->size > target;
        ranked[i] = (Ranked){box->fixed ? -1 : beyond ? nearer * i : i, i};
    }
    qsort(ranked, (size_t)p->count, sizeof *ranked, compare_places);
    for (int i = 0; i < p->count; i++)
        ranked[i].index = p->order[ranked[i].index];
    for (int i = 0; i < p->count; i++)
        p->order[i] = ranked[i].index;
}

/* First-fit by orders that follow from ORDER: boxes that found no place below TARGET come earlier in the
 * next one (Joslin and Clements, Squeaky Wheel Optimization, 1999).  Ends at an arena of at most END. */
static void better_orders(Packing *p, Ranked *ranked, Order order, int64_t target, int64_t end) {
    enum { ROUNDS = 64, BOXES = 50000 }; /* in all rounds */
    const int rounds = p->count < BOXES / ROUNDS ? ROUNDS : BOXES / p->count;
    sort_order(p, ranked, order);
    first_fit(p);
    for (int round = 0; round < rounds && p->arena > end; round++) {
        move_up(p, ranked, target);
        first_fit(p);
    }
}

/* ---- both ---- */

static void pack(Pool *pool, Packing *p, int64_t target, int64_t enough, int64_t known, int nodes_per_box) {
    Ranked *ranked = NEW_ARRAY(pool, Ranked, p->count);
    const int64_t will_do = enough > target ? enough : target, end = known > will_do ? known : will_do;
    Order best = LARGEST;
    for (Order order = LARGEST; order < ORDERS && p->arena > end; order++) {
        const int64_t before = p->arena;
        sort_order(p, ranked, order);
        first_fit(p);
        best = p->arena < before ? order : best;
    }
    if (p->arena > end)
        better_orders(p, ranked, best, target, end);
    if (p->arena > end && enough > 0)
        lower_arena_to(pool, p, target, will_do, nodes_per_box);
    else if (p->arena > end)
        lower_arena(pool, p, target, nodes_per_box);
}

/* Writes the best offsets into BUFFER; returns the arena. */
static int64_t write_offsets(const Packing *p, PackBuffer *buffer, int count, int64_t align) {
    int64_t arena = 0;
    for (int i = 0, next = 0; i < count; i++) {
        if (needs_offset(&buffer[i])) {
            if (!buffer[i].fixed)
                buffer[i].offset = p->best[next] * align;
            next++;
            if (arena < buffer[i].offset + buffer[i].size)
                arena = buffer[i].offset + buffer[i].size;
        } else if (!buffer[i].fixed) {
            buffer[i].offset = 0;
        }
    }
    return arena;
}

bool pack_buffers(Pool *pool, PackBuffer *buffer, int count, int64_t align, PackAim aim,
                  PackResult *result) {
    Packing p = packing_new(pool, buffer, count, align);
    check_fixed(&p);
    p.effort.work = aim.brief ? max_work / BRIEF_PART : max_work;
    int64_t bound = lower_bound(pool, &p), asked = aim.capacity / align;
    pack(pool, &p, asked > bound ? asked : bound, aim.enough / align, aim.known / align,
         aim.capacity > 0 ? NODES_FOR_CAPACITY : NODES_FOR_BOUND);
    *result = (PackResult){write_offsets(&p, buffer, count, align), bound * align, p.effort.nodes};
    return aim.capacity <= 0 || result->arena <= aim.capacity;
}
