/* pack_gaps.c - the parts of an arena that are taken, over time.
 *
 * A binary tree over time: a leaf for each stretch in which nothing begins or ends, above them nodes for
 * twice as much time each.  A lifetime is divided among the highest nodes that lie in it, two a level at
 * most.  A node keeps two sets of parts of the arena, in which parts that touch are one:
 *
 *     all     parts taken by boxes divided to the node: they are taken for all of its time
 *     some    parts taken at some moment of its time: by boxes divided to it or to nodes below it
 *
 * The parts taken at some moment of a lifetime are in `some` of the nodes that the lifetime is divided
 * among, and in `all` of the nodes above them.  So a question looks at a few sets for each level, for any
 * number of boxes.  Boxes are stacked on each other, so the sets are small.
 */
#include "solve/pack_gaps.h"

#include <stdlib.h>
#include <string.h>

/* A part of the arena. */
typedef struct {
    int64_t begin, end;
} Part;

/* Parts that lie apart, the lowest first. */
typedef struct {
    Part *part;
    int count, capacity;
} PartSet;

/* The parts of a set from FIRST on.  BEGIN is the offset at which FIRST begins, or INT64_MAX if no part is
 * left. */
typedef struct {
    Part *first;
    const Part *end;
    int64_t begin;
} Parts;

typedef struct {
    PartSet all, some;
} TimeNode;

/* Leaves one behind the other. */
typedef struct {
    int begin, end;
} Leaves;

enum { MAX_FOUND = 128 }; /* four on each of 32 levels */

struct PackGaps {
    Pool *pool;
    int *time, ntime;       /* where leaves begin */
    int leaves;             /* as many or more: a power of two */
    TimeNode *node;         /* node 1 is the root; 2 k and 2 k + 1 lie below k */
    Parts found[MAX_FOUND]; /* scratch: what to look at */
    int nfound;
};

/* ---- sets ---- */

/* The first of the parts from PART to END that ends above OFFSET, or END; quick if it is near PART. */
static Part *first_above(Part *part, const Part *end, int64_t offset) {
    ptrdiff_t low = 0, high = 1;
    while (high < end - part && part[high - 1].end <= offset) {
        low = high;
        high *= 2;
    }
    high = high < end - part ? high : end - part;
    while (low < high) {
        const ptrdiff_t middle = low + (high - low) / 2;
        if (part[middle].end <= offset)
            low = middle + 1;
        else
            high = middle;
    }
    return part + low;
}

static void reserve_one(Pool *pool, PartSet *set) {
    if (set->count < set->capacity)
        return;
    const int capacity = set->capacity == 0 ? 2 : 2 * set->capacity;
    Part *larger = NEW_ARRAY(pool, Part, capacity);
    if (set->count > 0)
        memcpy(larger, set->part, (size_t)set->count * sizeof *larger);
    set->part = larger;
    set->capacity = capacity;
}

/* Joins NEW with the parts that it touches. */
static void add_part(Pool *pool, PartSet *set, Part new) {
    reserve_one(pool, set);
    Part *const last = set->part + set->count, *const at = first_above(set->part, last, new.begin - 1);
    Part *end = at;
    for (; end < last && end->begin <= new.end; end++) {
        new.begin = end->begin < new.begin ? end->begin : new.begin;
        new.end = end->end > new.end ? end->end : new.end;
    }
    memmove(at + 1, end, (size_t)(last - end) * sizeof *at);
    *at = new;
    set->count += 1 - (int)(end - at);
}

/* The lowest place from OFFSET on where SIZE meets none of the parts; drops those below it. */
static int64_t place_among(Parts *parts, int64_t offset, int64_t size) {
    parts->first = first_above(parts->first, parts->end, offset);
    for (; parts->first < parts->end && parts->first->begin < offset + size; parts->first++)
        offset = parts->first->end;
    parts->begin = parts->first < parts->end ? parts->first->begin : INT64_MAX;
    return offset;
}

/* ---- time ---- */

static int compare_times(const void *left, const void *right) {
    const int *a = left, *b = right;
    return (*a > *b) - (*a < *b);
}

PackGaps *gaps_new(Pool *pool, const PackBox *box, int count) {
    PackGaps *gaps = NEW(pool, PackGaps);
    int *time = NEW_ARRAY(pool, int, 2 * (size_t)count + 1);
    for (int i = 0; i < count; i++) {
        time[2 * i] = box[i].first;
        time[2 * i + 1] = box[i].last;
    }
    qsort(time, 2 * (size_t)count, sizeof *time, compare_times);
    *gaps = (PackGaps){.pool = pool, .time = time, .leaves = 1};
    for (int i = 0; i < 2 * count; i++)
        if (i == 0 || time[i] != time[gaps->ntime - 1])
            time[gaps->ntime++] = time[i];
    while (gaps->leaves < gaps->ntime)
        gaps->leaves *= 2;
    gaps->node = NEW_ARRAY(pool, TimeNode, 2 * (size_t)gaps->leaves);
    return gaps;
}

void gaps_clear(PackGaps *gaps) {
    for (int i = 0; i < 2 * gaps->leaves; i++)
        gaps->node[i].all.count = gaps->node[i].some.count = 0;
}

/* The leaf that begins at TIME. */
static int leaf_at(const PackGaps *gaps, int time) {
    const int *found = bsearch(&time, gaps->time, (size_t)gaps->ntime, sizeof time, compare_times);
    return (int)(found - gaps->time);
}

static Leaves lifetime_of(const PackGaps *gaps, const PackBox *box) {
    return (Leaves){leaf_at(gaps, box->first), leaf_at(gaps, box->last)};
}

static bool meet(Leaves a, Leaves b) {
    return a.begin < b.end && b.begin < a.end;
}

static bool covers(Leaves a, Leaves b) {
    return a.begin <= b.begin && b.end <= a.end;
}

/* ---- sets of parts ---- */

/* Below node NUMBER, whose time is OWN. */
static void take(PackGaps *gaps, int number, Leaves own, Leaves life, Part part) {
    if (!meet(own, life))
        return;
    add_part(gaps->pool, &gaps->node[number].some, part);
    if (covers(life, own)) {
        add_part(gaps->pool, &gaps->node[number].all, part);
        return;
    }
    const int middle = own.begin + (own.end - own.begin) / 2;
    take(gaps, 2 * number, (Leaves){own.begin, middle}, life, part);
    take(gaps, 2 * number + 1, (Leaves){middle, own.end}, life, part);
}

void gaps_take(PackGaps *gaps, const PackBox *box) {
    take(gaps, 1, (Leaves){0, gaps->leaves}, lifetime_of(gaps, box),
         (Part){box->offset, box->offset + box->size});
}

static void find_sets(PackGaps *gaps, int number, Leaves own, Leaves life) {
    if (!meet(own, life))
        return;
    const TimeNode *node = &gaps->node[number];
    const bool covered = covers(life, own);
    const PartSet *set = covered ? &node->some : &node->all;
    if (set->count > 0)
        gaps->found[gaps->nfound++] = (Parts){set->part, set->part + set->count, set->part->begin};
    if (covered)
        return;
    const int middle = own.begin + (own.end - own.begin) / 2;
    find_sets(gaps, 2 * number, (Leaves){own.begin, middle}, life);
    find_sets(gaps, 2 * number + 1, (Leaves){middle, own.end}, life);
}

int64_t gaps_lowest(PackGaps *gaps, const PackBox *box) {
    gaps->nfound = 0;
    find_sets(gaps, 1, (Leaves){0, gaps->leaves}, lifetime_of(gaps, box));
    int64_t offset = 0, before;
    do {
        before = offset;
        for (int i = 0; i < gaps->nfound; i++)
            if (gaps->found[i].begin < offset + box->size)
                offset = place_among(&gaps->found[i], offset, box->size);
    } while (offset > before);
    return offset;
}
