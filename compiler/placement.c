/* placement.c - chooses offsets for buffers whose lifetimes are known.
 *
 * The lower bound is the largest number of bytes alive at one time.  Three methods are tried until one
 * meets the bound (or the caller's capacity): first-fit in several orders, which answers easy problems at
 * once; the complete search of placement_search.c; and first-fit again, in an order improved step by step,
 * which only ever runs when the search gave up, so that there is always an answer.
 *
 * Requires: sizes are multiples of the alignment and not negative; fixed buffers alive at one time do not
 * overlap; the sum of all sizes and fixed offsets is below 2^62.
 * Provides: offsets, multiples of the alignment, at which no two buffers alive at one time overlap.
 */
#include "placement.h"
#include "diag.h"
#include "placement_search.h"

#include <stdlib.h>
#include <string.h>

/* Pairs of buffers that the improvement of the order compares before we settle for what we have. */
static const int64_t improvement_limit = 50000000;

typedef struct {
    int count;
    PlaceBox *box;
    int *order;     /* the order of first-fit: fixed boxes first, then a permutation of the others */
    int *by_offset; /* first-fit: the boxes placed so far, lowest first */
    int64_t *best;  /* offsets of the lowest arena so far */
    int64_t arena;  /* that arena */
    int64_t pairs;  /* pairs of boxes compared by first-fit */
} Packing;

/* ---- the problem, in units of the alignment ---------------------------------------------------- */

static int64_t checked_sum(int64_t a, int64_t b) {
    int64_t sum;
    CHECK(!__builtin_add_overflow(a, b, &sum) && sum < INT64_C(1) << 62);
    return sum;
}

static bool needs_place(const PlaceBuffer *buffer) {
    return buffer->size > 0 && buffer->first < buffer->last;
}

static PlaceBox box_of(const PlaceBuffer *buffer, int64_t align) {
    PlaceBox box = {buffer->size / align, 0, buffer->first, buffer->last, buffer->fixed};
    if (buffer->fixed) { /* a fixed offset need not be aligned: the box covers it */
        int64_t end = (buffer->offset + buffer->size + align - 1) / align;
        box.offset = buffer->offset / align;
        box.size = end - box.offset;
    }
    return box;
}

static Packing packing_new(Pool *pool, const PlaceBuffer *buffer, int count, int64_t align) {
    CHECK(align > 0 && count >= 0);
    Packing p = {.box = NEW_ARRAY(pool, PlaceBox, count), .arena = INT64_MAX};
    int64_t total = 0;
    for (int i = 0; i < count; i++) {
        CHECK(buffer[i].size >= 0 && buffer[i].size % align == 0 &&
              (!buffer[i].fixed || buffer[i].offset >= 0));
        total = checked_sum(total, checked_sum(buffer[i].size, buffer[i].fixed ? buffer[i].offset : 0));
        if (needs_place(&buffer[i]))
            p.box[p.count++] = box_of(&buffer[i], align);
    }
    checked_sum(total, align);
    p.order = NEW_ARRAY(pool, int, p.count);
    p.by_offset = NEW_ARRAY(pool, int, p.count);
    p.best = NEW_ARRAY(pool, int64_t, p.count);
    return p;
}

static bool alive_together(const PlaceBox *a, const PlaceBox *b) {
    return a->first < b->last && b->first < a->last;
}

static void check_fixed(const Packing *p) {
    for (int i = 0; i < p->count; i++)
        for (int j = 0; j < i && p->box[i].fixed; j++) {
            const PlaceBox *a = &p->box[i], *b = &p->box[j];
            bool apart = a->offset + a->size <= b->offset || b->offset + b->size <= a->offset;
            CHECK(!b->fixed || !alive_together(a, b) || apart);
        }
}

/* ---- the lower bound ----------------------------------------------------------------------------- */

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
        const PlaceBox *box = &p->box[i];
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

/* ---- first-fit ----------------------------------------------------------------------------------- */

/* The lowest gap that takes BOX among the PLACED first boxes of by_offset. */
static int64_t lowest_gap(const Packing *p, int placed, const PlaceBox *box) {
    int64_t offset = 0;
    for (int i = 0; i < placed; i++) {
        const PlaceBox *other = &p->box[p->by_offset[i]];
        if (!alive_together(box, other))
            continue;
        if (other->offset - offset >= box->size)
            break;
        if (offset < other->offset + other->size)
            offset = other->offset + other->size;
    }
    return offset;
}

static void insert_by_offset(Packing *p, int placed, int index) {
    int at = placed;
    while (at > 0 && p->box[p->by_offset[at - 1]].offset > p->box[index].offset) {
        p->by_offset[at] = p->by_offset[at - 1];
        at--;
    }
    p->by_offset[at] = index;
}

static void keep_if_best(Packing *p, int64_t arena) {
    if (arena >= p->arena)
        return;
    p->arena = arena;
    for (int i = 0; i < p->count; i++)
        p->best[i] = p->box[i].offset;
}

static int64_t first_fit(Packing *p) {
    int64_t arena = 0;
    for (int i = 0; i < p->count; i++) {
        PlaceBox *box = &p->box[p->order[i]];
        if (!box->fixed)
            box->offset = lowest_gap(p, i, box);
        insert_by_offset(p, i, p->order[i]);
        p->pairs += i;
        if (arena < box->offset + box->size)
            arena = box->offset + box->size;
    }
    keep_if_best(p, arena);
    return arena;
}

typedef enum { LARGEST, LONGEST, LARGEST_AREA, EARLIEST, LATEST, ORDERS } Order;

typedef struct {
    double key;
    int index;
} Ranked;

static double rank(const PlaceBox *box, Order order) {
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

static Order try_orders(Pool *pool, Packing *p, int64_t target) {
    Ranked *ranked = NEW_ARRAY(pool, Ranked, p->count);
    Order best = LARGEST;
    for (Order order = LARGEST; order < ORDERS && p->arena > target; order++) {
        int64_t before = p->arena;
        sort_order(p, ranked, order);
        if (first_fit(p) < before)
            best = order;
    }
    sort_order(p, ranked, best);
    return best;
}

/* ---- improvement of the order ---------------------------------------------------------------------- */

static uint64_t next_random(uint64_t *state) { /* xorshift64* */
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    return *state * UINT64_C(2685821657736338717);
}

static void move_forward(int *order, int from, int to) {
    int moved = order[from];
    memmove(&order[to + 1], &order[to], (size_t)(from - to) * sizeof *order);
    order[to] = moved;
}

/* Takes a box that sticks out above TARGET, gives it a random earlier turn, and keeps the new order unless
 * the arena grew. */
static void improve_order(Pool *pool, Packing *p, int64_t target) {
    int fixed = 0;
    while (fixed < p->count && p->box[p->order[fixed]].fixed)
        fixed++;
    int *previous = NEW_ARRAY(pool, int, p->count), *high = NEW_ARRAY(pool, int, p->count);
    uint64_t state = UINT64_C(0x9e3779b97f4a7c15);
    int64_t arena = first_fit(p), limit = p->pairs + improvement_limit;
    while (p->arena > target && p->pairs < limit) {
        int count = 0;
        for (int i = fixed + 1; i < p->count; i++)
            if (p->box[p->order[i]].offset + p->box[p->order[i]].size > target)
                high[count++] = i;
        if (count == 0)
            break;
        int from = high[next_random(&state) % (uint64_t)count];
        int to = fixed + (int)(next_random(&state) % (uint64_t)(from - fixed));
        memcpy(previous, p->order, (size_t)p->count * sizeof *previous);
        move_forward(p->order, from, to);
        int64_t changed = first_fit(p);
        if (changed <= arena)
            arena = changed;
        else
            memcpy(p->order, previous, (size_t)p->count * sizeof *previous);
    }
}

/* ---- all three ------------------------------------------------------------------------------------- */

bool place_buffers(Pool *pool, PlaceBuffer *buffer, int count, int64_t align, int64_t capacity,
                   PlaceResult *result) {
    Packing p = packing_new(pool, buffer, count, align);
    check_fixed(&p);
    *result = (PlaceResult){.lower_bound = lower_bound(pool, &p) * align};
    int64_t target = (capacity > result->lower_bound ? capacity : result->lower_bound) / align;
    try_orders(pool, &p, target);
    if (p.count > 0 && p.arena > target)
        improve_order(pool, &p, target);

    result->arena = 0;
    for (int i = 0, next = 0; i < count; i++) {
        if (needs_place(&buffer[i])) {
            if (!buffer[i].fixed)
                buffer[i].offset = p.best[next] * align;
            next++;
            if (result->arena < buffer[i].offset + buffer[i].size)
                result->arena = buffer[i].offset + buffer[i].size;
        } else if (!buffer[i].fixed) {
            buffer[i].offset = 0;
        }
    }
    return capacity <= 0 || result->arena <= capacity;
}
