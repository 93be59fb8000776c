/* placement_search.c - a complete search for offsets below a capacity.
 *
 * Lifetimes are first reduced to sections, one for each largest set of boxes alive at one time; a box spans a
 * range of sections, and boxes overlap in time when they share one.  The boxes are stacked from below.  In
 * every section the part below its floor is settled:
 *
 *      capacity  - - - - - - - - - - - - - - - - - -
 *                 #####                 #########
 *                 #####|  a valley     |#########      # settled
 *                 #####|_ _ _ _ _ _ _ _|#########
 *                 ###############################
 *      section      0    1   2   3   4    5    6
 *
 * A valley is a run of sections of one floor between higher ones.  A box that starts at this height cannot reach
 * over the walls, so it lies in the valley, on its floor.  Take one section of the valley: either one of these
 * boxes covers its floor, or nothing does and the floor rises.  The cases exclude each other and leave nothing
 * out, so no arrangement is met twice.  Of all sections of all valleys the one with the fewest cases is taken.
 *
 * After each step, until nothing moves: a box lies no lower than the floors it spans; a floor is no lower than
 * the lowest box still to come there; a floor and what is still to come above it fit below the capacity.
 * If nothing covers the floor, the boxes that might have done so can be taken to rest on another box still to
 * come, since every arrangement can be pushed down.  Where no box still to come crosses from one section to the
 * next, the two sides are solved apart, so that a failure of one never repeats the work for the other.
 *
 * No order of trying suits every problem, so several strategies take turns, with more nodes in every round.
 * Fixed boxes become part of the floor when it reaches them and are obstacles above until then.
 *
 * Sections, their inference and the independent sides follow MiniMalloc (Moffitt, ASPLOS 2023); fewest cases
 * first is due to Haralick and Elliott (Artificial Intelligence 14, 1980), weights of the sections that failed
 * to Boussemart et al. (ECAI 2004).
 *
 * Requires and provides: see placement_search.h.
 */
#include "placement_search.h"

#include <stdlib.h>
#include <string.h>

/* The recursion is at most this deep, which bounds the stack; larger problems are not searched. */
enum { MAX_DEPTH = 10000, FIRST_ROUND = 2, ROUND_GROWTH = 3 };

typedef enum { LARGEST, LONGEST, TIGHTEST } BoxRule;

typedef struct {
    bool weighted; /* choose sections by their failures too, not by their slack */
    BoxRule rule;  /* which boxes are tried first */
} Strategy;

static const Strategy strategies[] = {
    {false, LARGEST}, {true, LONGEST}, {false, LONGEST}, {true, TIGHTEST}, {false, TIGHTEST}, {true, LARGEST},
};

typedef struct {
    int64_t size, lowest, offset;
    int begin, end; /* sections */
    int twin;       /* an earlier item with the same sections and size, or -1 */
    bool placed;
} Item;

typedef struct {
    int64_t offset, end;
    int first, last; /* sections */
} Obstacle;

typedef struct {
    int64_t *where, before;
} Change;

/* Items still to come that are solved together: pending[low..high), in the sections [begin, end). */
typedef struct {
    int low, high, begin, end;
} Part;

typedef struct {
    Pool *pool;
    int64_t capacity;
    Item *item;
    int item_count, *pending;
    Obstacle *obstacle;
    int obstacle_count;
    int section_count;
    int64_t *floor, *rest; /* of each section: its floor; the sizes still to come */
    int64_t *support;      /* scratch: the lowest item of each section */
    int *cases, *reach;    /* scratch: ways to go on in a section; the furthest end of an item that begins there */
    int64_t *failures;
    Change *change; /* what to undo */
    size_t change_count, change_capacity;
    Strategy strategy;
    int64_t nodes, limit;
    int depth;
    bool gave_up;
} Search;

/* ---- changes that can be undone ------------------------------------------------------------------ */

static void set(Search *search, int64_t *where, int64_t value) {
    if (*where == value)
        return;
    if (search->change_count == search->change_capacity) {
        size_t capacity = search->change_capacity == 0 ? 1024 : 2 * search->change_capacity;
        Change *larger = NEW_ARRAY(search->pool, Change, capacity);
        if (search->change_count > 0)
            memcpy(larger, search->change, search->change_count * sizeof *larger);
        search->change = larger;
        search->change_capacity = capacity;
    }
    search->change[search->change_count++] = (Change){where, *where};
    *where = value;
}

static void undo_to(Search *search, size_t count) {
    while (search->change_count > count) {
        const Change *change = &search->change[--search->change_count];
        *change->where = change->before;
    }
}

/* ---- inference ------------------------------------------------------------------------------------ */

static int64_t slack(const Search *search, int section) {
    return search->capacity - search->floor[section] - search->rest[section];
}

/* The lowest offset from OFFSET on at which ITEM meets no obstacle.  Obstacles are sorted by offset. */
static int64_t above_obstacles(const Search *search, const Item *item, int64_t offset) {
    for (int i = 0; i < search->obstacle_count; i++) {
        const Obstacle *o = &search->obstacle[i];
        bool meets = o->first < item->end && item->begin < o->last;
        if (meets && o->offset < offset + item->size && offset < o->end)
            offset = o->end;
    }
    return offset;
}

/* Makes obstacles that the floors have reached part of them. */
static bool absorb_obstacles(Search *search, const Part *part) {
    bool absorbed = false;
    for (int i = 0; i < search->obstacle_count; i++) {
        const Obstacle *o = &search->obstacle[i];
        int first = o->first > part->begin ? o->first : part->begin, last = o->last < part->end ? o->last : part->end;
        for (int s = first; s < last; s++)
            if (o->offset <= search->floor[s] && search->floor[s] < o->end) {
                set(search, &search->floor[s], o->end);
                set(search, &search->rest[s], search->rest[s] - (o->end - o->offset));
                absorbed = true;
            }
    }
    return absorbed;
}
