/* pack_search.c - a complete search for offsets below a capacity.
 *
 * Lifetimes are first reduced to sections, one for each largest set of boxes alive at one time; a box spans
 * a range of sections, and boxes overlap in time when they share one.  The boxes are stacked from below. In
 * every section the part below its floor is settled:
 *
 *      capacity  - - - - - - - - - - - - - - - - - -
 *                 #####                 #########
 *                 #####|  a valley     |#########      # settled
 *                 #####|_ _ _ _ _ _ _ _|#########
 *                 ###############################
 *      section      0    1   2   3   4    5    6
 *
 * A valley is a run of sections of one floor between higher ones.  A box that starts at this height cannot
 * reach over the walls, so it lies in the valley, on its floor.  Take one section of the valley: either one
 * of these boxes covers its floor, or nothing does and the floor rises.  The cases exclude each other and
 * leave nothing out, so no arrangement is met twice.  The section with the fewest cases, in all valleys, is
 * taken.
 *
 * After each step, until nothing moves: a box lies no lower than the floors it spans; a floor is no lower
 * than the lowest box still to come there; a floor and the boxes still to come above it fit below the
 * capacity.  If nothing covers the floor, the boxes that might have done so can be taken to rest on another
 * box still to come, since every arrangement can be pushed down.  If no box still to come crosses from
 * one section to the next, the two sides are solved apart, so that a failure of one never repeats the work
 * for the other.
 *
 * No order of trying suits every problem, so several strategies take turns.  A run that begins badly stays
 * bad: it rarely leaves a wrong subtree near the root.  So runs are short.  Each restart orders the boxes
 * as if their sizes and lengths were others, changed at random, and keeps the weights of the sections that
 * failed before, so that it begins where space is tight.
 *
 * A fixed box that rests on the floor is part of it from the start; any other is cut into pieces of one
 * section, each stacked when the floor reaches it and an obstacle for other boxes until then.
 *
 * Sections, their inference and the independent sides follow MiniMalloc (Moffitt, ASPLOS 2023); fewest
 * cases first is due to Haralick and Elliott (Artificial Intelligence 14, 1980), weights of the sections
 * that failed to Boussemart et al. (ECAI 2004), the lengths of restarts to Luby, Sinclair and Zuckerman
 * (Information Processing Letters 47, 1993).
 *
 * Requires and provides: see pack_search.h.
 */
#include "solve/pack_search.h"

#include <stdlib.h>
#include <string.h>

/* The recursion is at most this deep, which bounds the stack; larger problems are not searched. */
enum { MAX_DEPTH = 6000 };

/* Nodes, for each box, of a run in the first round and of the shortest restart. */
enum { FIRST_RUN = 2, RESTART = 4 };

typedef enum { LARGEST, LONGEST, TIGHTEST } BoxRule;

typedef struct {
    bool weighted; /* choose sections by their failures too, not by their slack */
    BoxRule rule;  /* which boxes are tried first */
} Strategy;

static const Strategy strategies[] = {
    {false, LARGEST}, {true, LONGEST},   {false, LONGEST},
    {true, TIGHTEST}, {false, TIGHTEST}, {true, LARGEST},
};

typedef struct {
    int64_t size, offset;
    int64_t lowest;              /* no solution has the item lower; STACKED once it has its offset */
    int begin, end;              /* sections */
    int twin;                    /* an earlier item with the same sections and size, or -1 */
    int neighbour;               /* an earlier item that is movable and begins in the same section, or -1 */
    bool fixed;                  /* a piece of a fixed box, at `offset` */
    double key_size, key_length; /* size and length, as this run orders the items by them */
} Item;

enum { STACKED = -1 };

typedef struct {
    int64_t *where, before;
} Change;

/* In blocks, for there may be many millions. */
enum { CHANGES_IN_BLOCK = 1 << 14 };
typedef struct {
    Change **block;
    int blocks;
    size_t count;
} Changes;

/* Items still to come that are solved together: pending[low..high), in the sections [begin, end). */
typedef struct {
    int low, high, begin, end;
} Part;

typedef struct {
    Pool *pool;
    int64_t capacity;
    Item *item; /* one for each movable box, in their order, then the pieces of fixed boxes, lowest first */
    int item_count, movable_count, *pending;
    int section_count;
    int64_t *floor, *rest; /* of each section: its floor; the sizes still to come */
    int64_t *highest;      /* scratch: the highest floor of runs of sections */
    int64_t *support;      /* scratch: the lowest item of runs of sections */
    bool *in_valley;       /* scratch: of each section */
    int *cases;            /* scratch: the ways to go on in each section */
    int *reach;            /* scratch: the furthest end of the items that begin in each section */
    int64_t *failures;     /* of each section: how often it was too small */
    Changes changes;       /* what to undo */
    Strategy strategy;
    int64_t nodes, limit; /* visited in this run; the most that it may visit */
    int64_t work;         /* left, as SearchEffort counts it */
    int depth;
    bool gave_up;
} Search;

/* ---- changes that can be undone ---- */

static Change *change_at(const Changes *changes, size_t i) {
    return &changes->block[i / CHANGES_IN_BLOCK][i % CHANGES_IN_BLOCK];
}

static void set(Search *search, int64_t *where, int64_t value) {
    Changes *changes = &search->changes;
    if (*where == value)
        return;
    if (changes->count == (size_t)changes->blocks * CHANGES_IN_BLOCK) {
        Change *block = NEW_ARRAY(search->pool, Change, CHANGES_IN_BLOCK);
        PUSH(search->pool, changes->block, changes->blocks, block);
    }
    *change_at(changes, changes->count++) = (Change){where, *where};
    *where = value;
}

static void undo_to(Search *search, size_t count) {
    Changes *changes = &search->changes;
    while (changes->count > count) {
        const Change *change = change_at(changes, --changes->count);
        *change->where = change->before;
    }
}

/* Takes one look at all items and sections of PART from the work that is left. */
static void count_look(Search *search, const Part *part) {
    search->work -= part->high - part->low + part->end - part->begin;
}

/* ---- inference ---- */

static int64_t slack(const Search *search, int section) {
    return search->capacity - search->floor[section] - search->rest[section];
}

/* The lowest offset from OFFSET on at which ITEM meets no piece of a fixed box. */
static int64_t above_fixed(const Search *search, const Item *item, int64_t offset) {
    for (int i = search->movable_count; i < search->item_count; i++) {
        const Item *piece = &search->item[i];
        bool meets = item->begin < piece->end && piece->begin < item->end;
        if (meets && piece->offset < offset + item->size && offset < piece->offset + piece->size)
            offset = piece->offset + piece->size;
    }
    return offset;
}

/* A run of sections in which something changed. */
typedef struct {
    int begin, end;
} SectionRange;

static int larger(int a, int b) {
    return a > b ? a : b;
}
static int smaller(int a, int b) {
    return a < b ? a : b;
}

static void widen(SectionRange *range, int begin, int end) {
    range->begin = smaller(range->begin, begin);
    range->end = larger(range->end, end);
}

/* A run of sections is two runs, which may overlap, each as long as the largest power of two in its length.
 * So a table of such runs, a row for each power, answers for all runs (a sparse table). */

static int power_in(int length) {
    return 31 - __builtin_clz((unsigned)length);
}

static int64_t *row_of(const Search *search, int64_t *table, int power) {
    return table + (size_t)power * (size_t)search->section_count;
}

static int64_t lower_of(int64_t a, int64_t b) {
    return a < b ? a : b;
}
static int64_t higher_of(int64_t a, int64_t b) {
    return a > b ? a : b;
}

/* Tabulates the highest floor of each run in WINDOW. */
static void tabulate_floors(Search *search, SectionRange range) {
    const int length = range.end - range.begin;
    memcpy(&search->highest[range.begin], &search->floor[range.begin],
           (size_t)length * sizeof *search->floor);
    for (int k = 1, run = 2; run <= length; k++, run *= 2) {
        const int64_t *half = row_of(search, search->highest, k - 1);
        int64_t *whole = row_of(search, search->highest, k);
        for (int s = range.begin; s <= range.end - run; s++)
            whole[s] = higher_of(half[s], half[s + run / 2]);
    }
}

/* Lifts ITEM to the floors that changed, which are tabulated; false if it cannot be there. */
static bool lift_item(Search *search, Item *item, SectionRange floors) {
    const int begin = larger(item->begin, floors.begin), end = smaller(item->end, floors.end),
              power = power_in(end - begin);
    const int64_t *highest = row_of(search, search->highest, power);
    int64_t lowest = higher_of(item->lowest, higher_of(highest[begin], highest[end - (1 << power)]));
    if (!item->fixed)
        lowest = above_fixed(search, item, lowest);
    set(search, &item->lowest, lowest);
    return item->fixed ? lowest == item->offset : lowest + item->size <= search->capacity;
}

/* Lifts all items of PART to the floors of the range and widens it by the items that moved. */
static bool lift_items(Search *search, const Part *part, SectionRange *range) {
    SectionRange floors = *range;
    tabulate_floors(search, floors);
    for (int i = part->low; i < part->high; i++) {
        Item *item = &search->item[search->pending[i]];
        if (item->begin >= floors.end || item->end <= floors.begin)
            continue;
        int64_t before = item->lowest;
        if (!lift_item(search, item, floors))
            return false;
        if (item->lowest > before)
            widen(range, item->begin, item->end);
    }
    return true;
}

/* Tabulates the lowest item of each run in WINDOW: what long runs know goes down to short ones. */
static void tabulate_items(Search *search, const Part *part, SectionRange range) {
    const int length = range.end - range.begin;
    for (int k = 0, run = 1; run <= length; k++, run *= 2)
        for (int s = range.begin; s < range.end; s++)
            row_of(search, search->support, k)[s] = INT64_MAX;
    for (int i = part->low; i < part->high; i++) {
        const Item *item = &search->item[search->pending[i]];
        const int begin = larger(item->begin, range.begin), end = smaller(item->end, range.end);
        if (begin >= end)
            continue;
        const int power = power_in(end - begin), last = end - (1 << power);
        int64_t *row = row_of(search, search->support, power);
        row[begin] = lower_of(row[begin], item->lowest);
        row[last] = lower_of(row[last], item->lowest);
    }
    int run = 1, k = 0;
    for (; 2 * run <= length; run *= 2)
        k++;
    for (; k > 0; k--, run /= 2) {
        const int64_t *whole = row_of(search, search->support, k);
        int64_t *half = row_of(search, search->support, k - 1);
        for (int s = range.begin; s <= range.end - run; s++) {
            half[s] = lower_of(half[s], whole[s]);
            half[s + run / 2] = lower_of(half[s + run / 2], whole[s]);
        }
    }
}

/* Lifts the floors of the range to the lowest item still to come there; narrows it to the floors that
 * moved. */
static void lift_floors(Search *search, const Part *part, SectionRange *range) {
    SectionRange moved = {range->end, range->begin};
    tabulate_items(search, part, *range);
    for (int s = range->begin; s < range->end; s++)
        if (search->support[s] != INT64_MAX && search->support[s] > search->floor[s]) {
            set(search, &search->floor[s], search->support[s]);
            widen(&moved, s, s + 1);
        }
    *range = moved;
}

static bool fits(Search *search, SectionRange range) {
    for (int s = range.begin; s < range.end; s++)
        if (slack(search, s) < 0) {
            search->failures[s]++;
            return false;
        }
    return true;
}

/* Draws all conclusions from a change in the sections of WINDOW; false if PART cannot be packed. */
static bool infer(Search *search, const Part *part, SectionRange range) {
    do {
        count_look(search, part);
        if (!lift_items(search, part, &range))
            return false;
        SectionRange checked = range;
        count_look(search, part);
        lift_floors(search, part, &range);
        if (!fits(search, checked))
            return false;
    } while (range.begin < range.end);
    return true;
}

/* ---- the choice of a section and of a box for its floor ---- */

/* Finds the valleys: runs of sections of one floor between higher ones. */
static void find_valleys(Search *search, const Part *part) {
    const int64_t *floor = search->floor;
    for (int s = part->begin, end; s < part->end; s = end) {
        for (end = s + 1; end < part->end && floor[end] == floor[s];)
            end++;
        const bool left_wall = s == part->begin || floor[s - 1] > floor[s],
                   right_wall = end == part->end || floor[end] > floor[s];
        memset(&search->in_valley[s], left_wall && right_wall,
               (size_t)(end - s) * sizeof *search->in_valley);
    }
}

/* Counts the ways to go on in each section of a valley.  An item that begins there, on the floor, ends
 * there, too, for it is no lower than the floors it spans: so its two ends tell where it counts. */
static void count_cases(Search *search, const Part *part) {
    int *cases = search->cases, covers = 0;
    memset(&cases[part->begin], 0, (size_t)(part->end - part->begin + 1) * sizeof *cases);
    for (int i = part->low; i < part->high; i++) {
        const Item *item = &search->item[search->pending[i]];
        if (item->lowest == search->floor[item->begin] && search->in_valley[item->begin]) {
            cases[item->begin]++;
            cases[item->end]--;
        }
    }
    for (int s = part->begin; s < part->end; s++) {
        covers += cases[s];
        cases[s] = covers + (slack(search, s) > 0); /* or nothing covers the floor */
    }
}

static bool better_section(const Search *search, int section, int best) {
    int64_t a = search->cases[section], b = search->cases[best];
    if (search->strategy.weighted)
        return a * (1 + search->failures[best]) < b * (1 + search->failures[section]);
    return a != b ? a < b : slack(search, section) < slack(search, best);
}

/* The section to go on with: of all valleys, the one with the fewest cases. */
static int choose_section(Search *search, const Part *part) {
    int best = -1;
    count_look(search, part);
    find_valleys(search, part);
    count_cases(search, part);
    for (int s = part->begin; s < part->end; s++)
        if (search->in_valley[s] && (best < 0 || better_section(search, s, best)))
            best = s;
    return best;
}

/* The order in which boxes are tried: by the two keys, then by index. */
typedef struct {
    double first, second;
    int item, at; /* at: the place in `pending` */
} Candidate;

static Candidate candidate_of(const Search *search, int at) {
    int index = search->pending[at];
    const Item *item = &search->item[index];
    double size = item->key_size, length = item->key_length;
    int64_t tightest = INT64_MAX;
    switch (search->strategy.rule) {
    case LARGEST:
        return (Candidate){size, 0, index, at};
    case LONGEST:
        return (Candidate){length, size, index, at};
    default:
        for (int s = item->begin; s < item->end; s++)
            if (tightest > slack(search, s))
                tightest = slack(search, s);
        return (Candidate){-(double)tightest, size * length, index, at};
    }
}

static bool tried_before(const Candidate *a, const Candidate *b) {
    if (a->first != b->first)
        return a->first > b->first;
    return a->second != b->second ? a->second > b->second : a->item < b->item;
}

static bool may_cover(const Search *search, const Item *item, int section) {
    return item->begin <= section && section < item->end && item->lowest == search->floor[section];
}

/* Boxes with the same lifetime and size are stacked in the order of their indices. */
static bool waits_for_twin(const Search *search, const Item *item) {
    return item->twin >= 0 && search->item[item->twin].lowest == item->lowest;
}

/* Finds the candidate for the floor of SECTION that is tried next after *LAST (the first one if LAST->item
 * is -1); false when there is none left. */
static bool next_candidate(Search *search, const Part *part, int section, Candidate *last) {
    Candidate best = {.item = -1};
    count_look(search, part);
    for (int i = part->low; i < part->high; i++) {
        const Item *item = &search->item[search->pending[i]];
        if (!may_cover(search, item, section) || waits_for_twin(search, item))
            continue;
        Candidate candidate = candidate_of(search, i);
        bool is_new = last->item < 0 || tried_before(last, &candidate);
        if (is_new && (best.item < 0 || tried_before(&candidate, &best)))
            best = candidate;
    }
    *last = best;
    return best.item >= 0;
}

/* ---- the search ---- */

static void stack_item(Search *search, Item *item) {
    item->offset = item->lowest;
    set(search, &item->lowest, STACKED);
    for (int s = item->begin; s < item->end; s++) {
        set(search, &search->floor[s], item->offset + item->size);
        set(search, &search->rest[s], search->rest[s] - item->size);
    }
}

/* Nothing covers the floor of SECTION: what might have done so rests on an item still to come.  Returns the
 * sections of the items that were lifted. */
static SectionRange leave_uncovered(Search *search, const Part *part, int section) {
    int64_t floor = search->floor[section];
    SectionRange range = {section, section + 1};
    for (int i = part->low; i < part->high; i++) {
        Item *item = &search->item[search->pending[i]];
        if (item->begin > section || section >= item->end || item->lowest != floor)
            continue;
        int64_t lowest = search->capacity;
        count_look(search, part);
        for (int j = part->low; j < part->high; j++) {
            const Item *other = &search->item[search->pending[j]];
            bool meets = j != i && other->begin < item->end && item->begin < other->end;
            if (meets && lowest > other->lowest + other->size)
                lowest = other->lowest + other->size;
        }
        set(search, &item->lowest, lowest);
        widen(&range, item->begin, item->end);
    }
    return range;
}

static void swap(int *a, int *b) {
    int before = *a;
    *a = *b;
    *b = before;
}

/* Takes from *PART its earliest sections up to the first boundary that no item still to come crosses. */
static Part take_independent(Search *search, Part *part) {
    int *reach = search->reach;
    count_look(search, part);
    for (int s = part->begin; s < part->end; s++)
        reach[s] = s + 1;
    for (int i = part->low; i < part->high; i++) {
        const Item *item = &search->item[search->pending[i]];
        if (reach[item->begin] < item->end)
            reach[item->begin] = item->end;
    }
    int cut = reach[part->begin];
    for (int s = part->begin + 1; s < cut; s++)
        if (cut < reach[s])
            cut = reach[s];
    Part taken = {part->low, part->low, part->begin, cut};
    for (int i = part->low; i < part->high; i++)
        if (search->item[search->pending[i]].begin < cut)
            swap(&search->pending[i], &search->pending[taken.high++]);
    part->low = taken.high;
    part->begin = cut;
    return taken;
}

static bool solve_one(Search *search, Part part);

/* Packs PART after a change in WINDOW: draws conclusions, then solves its independent parts.  On failure
 * the caller undoes the changes. */
static bool solve(Search *search, Part part, SectionRange range) {
    if (!infer(search, &part, range))
        return false;
    while (part.low < part.high) {
        Part taken = take_independent(search, &part);
        if (taken.low < taken.high && !solve_one(search, taken))
            return false;
    }
    return true;
}

/* Tries all cases of one section. */
static bool try_cases(Search *search, Part part) {
    int section = choose_section(search, &part);
    size_t changes = search->changes.count;
    Candidate candidate = {.item = -1};
    while (!search->gave_up && next_candidate(search, &part, section, &candidate)) {
        Item *item = &search->item[candidate.item];
        stack_item(search, item);
        swap(&search->pending[candidate.at], &search->pending[part.high - 1]);
        Part others = {part.low, part.high - 1, part.begin, part.end};
        if (solve(search, others, (SectionRange){item->begin, item->end}))
            return true;
        undo_to(search, changes);
    }
    if (search->gave_up || slack(search, section) <= 0)
        return false;
    SectionRange lifted = leave_uncovered(search, &part, section);
    if (solve(search, part, lifted))
        return true;
    undo_to(search, changes);
    return false;
}

static bool solve_one(Search *search, Part part) {
    if (search->nodes >= search->limit || search->work <= 0 || search->depth >= MAX_DEPTH) {
        search->gave_up = true;
        return false;
    }
    search->nodes++;
    search->depth++;
    bool solved = try_cases(search, part);
    search->depth--;
    return solved;
}

/* ---- from boxes to sections ---- */

typedef struct {
    int time, box;
    bool birth;
} Event;

static int compare_events(const void *left, const void *right) {
    const Event *a = left, *b = right;
    if (a->time != b->time)
        return a->time < b->time ? -1 : 1;
    if (a->birth != b->birth)
        return a->birth ? 1 : -1; /* lifetimes are half-open: deaths first */
    return (a->box > b->box) - (a->box < b->box);
}

/* Writes the sections that each box spans into BEGIN and END; returns their number.  A section ends with
 * the first death after a birth. */
static int find_sections(Pool *pool, const PackBox *box, int count, int *begin, int *end) {
    Event *event = NEW_ARRAY(pool, Event, 2 * (size_t)count);
    for (int i = 0; i < count; i++) {
        event[2 * i] = (Event){box[i].first, i, true};
        event[2 * i + 1] = (Event){box[i].last, i, false};
    }
    qsort(event, 2 * (size_t)count, sizeof *event, compare_events);
    int sections = 0;
    bool grown = false;
    for (int i = 0; i < 2 * count; i++) {
        if (event[i].birth) {
            begin[event[i].box] = sections;
        } else {
            sections += grown;
            end[event[i].box] = sections;
        }
        grown = event[i].birth;
    }
    return sections;
}

static void add_item(Search *search, Item item) {
    for (int s = item.begin; s < item.end; s++)
        search->rest[s] += item.size;
    PUSH(search->pool, search->item, search->item_count, item);
}

/* LAST: per section, one more than the last item that is movable and begins there, or 0. */
static void add_movable(Search *search, Item item, int *last) {
    item.neighbour = last[item.begin] - 1;
    item.twin = item.neighbour;
    while (item.twin >= 0 &&
           /* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): it has so many items */
           (search->item[item.twin].end != item.end || search->item[item.twin].size != item.size))
        item.twin = search->item[item.twin].neighbour;
    last[item.begin] = search->item_count + 1;
    add_item(search, item);
}

typedef struct {
    int64_t offset;
    int box;
} FixedBox;

static int compare_fixed(const void *left, const void *right) {
    const FixedBox *a = left, *b = right;
    if (a->offset != b->offset)
        return a->offset < b->offset ? -1 : 1;
    return (a->box > b->box) - (a->box < b->box);
}

static void add_fixed(Search *search, const PackBox *box, int count, const int *begin, const int *end) {
    FixedBox *fixed = NEW_ARRAY(search->pool, FixedBox, count);
    int fixed_count = 0;
    for (int i = 0; i < count; i++)
        if (box[i].fixed)
            fixed[fixed_count++] = (FixedBox){box[i].offset, i};
    qsort(fixed, (size_t)fixed_count, sizeof *fixed, compare_fixed);
    for (int i = 0; i < fixed_count; i++) {
        const PackBox *b = &box[fixed[i].box];
        for (int s = begin[fixed[i].box]; s < end[fixed[i].box]; s++)
            if (search->floor[s] == b->offset)
                search->floor[s] += b->size;
            else
                add_item(search, (Item){.size = b->size,
                                        .lowest = b->offset,
                                        .offset = b->offset,
                                        .begin = s,
                                        .end = s + 1,
                                        .twin = -1,
                                        .fixed = true});
    }
}

static Search search_new(Pool *pool, const PackBox *box, int count, int64_t capacity) {
    int *begin = NEW_ARRAY(pool, int, count), *end = NEW_ARRAY(pool, int, count);
    Search search = {.pool = pool, .capacity = capacity};
    search.section_count = find_sections(pool, box, count, begin, end);
    size_t sections = (size_t)search.section_count;
    search.floor = NEW_ARRAY(pool, int64_t, sections);
    search.rest = NEW_ARRAY(pool, int64_t, sections);
    const size_t powers = (size_t)power_in(search.section_count) + 1;
    search.highest = NEW_ARRAY(pool, int64_t, powers * sections);
    search.support = NEW_ARRAY(pool, int64_t, powers * sections);
    search.failures = NEW_ARRAY(pool, int64_t, sections);
    search.in_valley = NEW_ARRAY(pool, bool, sections);
    search.cases = NEW_ARRAY(pool, int, sections + 1);
    search.reach = NEW_ARRAY(pool, int, sections);
    int *last = NEW_ARRAY(pool, int, sections);
    for (int i = 0; i < count; i++)
        if (!box[i].fixed)
            add_movable(&search, (Item){.size = box[i].size, .begin = begin[i], .end = end[i]}, last);
    search.movable_count = search.item_count;
    add_fixed(&search, box, count, begin, end);
    search.pending = NEW_ARRAY(pool, int, search.item_count);
    return search;
}

/* A number in [0.5, 1.5) that depends on nothing but SEED. */
static double noise(uint64_t seed) {
    uint64_t z = seed * UINT64_C(0x9e3779b97f4a7c15); /* splitmix64 */
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return 0.5 + (double)((z ^ (z >> 31)) >> 11) * 0x1p-53;
}

/* The first round (restart 0) orders the items by what they are. */
static void set_keys(Search *search, int restart) {
    for (int i = 0; i < search->item_count; i++) {
        Item *item = &search->item[i];
        uint64_t seed = (uint64_t)restart << 32 | (uint64_t)i << 1;
        item->key_size = (double)item->size * (restart == 0 ? 1 : noise(seed));
        item->key_length = (item->end - item->begin) * (restart == 0 ? 1 : noise(seed + 1));
    }
}

/* One search from the start with one strategy. */
static bool run(Search *search, Strategy strategy, int64_t limit) {
    search->strategy = strategy;
    search->nodes = 0;
    search->limit = limit;
    search->gave_up = false;
    for (int i = 0; i < search->item_count; i++)
        search->pending[i] = i;
    Part all = {0, search->item_count, 0, search->section_count};
    bool found = solve(search, all, (SectionRange){0, search->section_count});
    if (!found)
        undo_to(search, 0);
    return found;
}

/* Luby's sequence, 1 1 2 1 1 2 4 1 1 2 ...: its element at INDEX, counted from 1. */
static int64_t luby(int64_t index) {
    int64_t power = 1;
    while (2 * power <= index + 1)
        power *= 2;
    return power == index + 1 ? power / 2 : luby(index + 1 - power);
}

/* One round of short runs, one for each strategy, and then restarts, until a run comes to its end.  BOXES:
 * how many there are. */
static bool run_in_turns(Search *search, int boxes, int64_t limit, int64_t *nodes) {
    const int strategy_count = sizeof strategies / sizeof *strategies;
    search->gave_up = true;
    for (int i = 0; search->gave_up && *nodes < limit && search->work > 0; i++) {
        const int round = i / strategy_count;
        const int64_t length = boxes * (round == 0 ? FIRST_RUN : RESTART * luby(round));
        if (round == 0)
            memset(search->failures, 0, (size_t)search->section_count * sizeof *search->failures);
        set_keys(search, round == 0 ? 0 : i);
        bool found =
            run(search, strategies[i % strategy_count], length < limit - *nodes ? length : limit - *nodes);
        *nodes += search->nodes;
        if (found)
            return true;
    }
    return false;
}

SearchAnswer pack_search(Pool *pool, PackBox *box, int count, int64_t capacity, int64_t limit,
                         SearchEffort *effort) {
    if (count == 0)
        return SEARCH_FOUND;
    if (count > MAX_DEPTH)
        return SEARCH_GAVE_UP;
    Search search = search_new(pool, box, count, capacity);
    int64_t nodes = 0;
    search.work = effort->work;
    bool found = run_in_turns(&search, count, limit, &nodes);
    effort->nodes += nodes;
    effort->work = search.work;
    if (!found)
        return search.gave_up ? SEARCH_GAVE_UP : SEARCH_IMPOSSIBLE;
    for (int i = 0, next = 0; i < count; i++)
        if (!box[i].fixed)
            box[i].offset = search.item[next++].offset;
    return SEARCH_FOUND;
}
