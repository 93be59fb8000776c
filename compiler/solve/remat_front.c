/* remat_front.c - see remat_front.h. */
#include "solve/remat_front.h"

#include <string.h>

static int64_t next_limit(int64_t limit, int per_mille) {
    const int64_t step = limit / 1000 * per_mille + limit % 1000 * per_mille / 1000;
    return limit + (step > 0 ? step : 1);
}

RematFront *remat_front(Pool *pool, int64_t least, int64_t most, int per_mille) {
    RematFront *front = NEW(pool, RematFront);
    *front = (RematFront){.keep = NEW(pool, RematKeep), .per_mille = per_mille};
    front->keep->pool = pool;
    for (int64_t limit = least; limit < most; limit = next_limit(limit, per_mille))
        PUSH(pool, front->limit, front->count, limit);
    PUSH(pool, front->limit, front->count, most);
    front->order = NEW_ARRAY(pool, RematKept, front->count);
    return front;
}

/* The number of the first limit of at least BYTES. */
static int limit_of(const RematFront *front, int64_t bytes) {
    int low = 0, high = front->count;
    while (low < high) {
        const int middle = low + (high - low) / 2;
        if (front->limit[middle] < bytes)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* ---- sequences ---- */

static RematSequence *sequence_new(RematKeep *keep, const int *operation, int length) {
    RematSequence *sequence = keep->unused;
    if (sequence == NULL)
        sequence = NEW(keep->pool, RematSequence);
    else
        keep->unused = sequence->next;
    if (sequence->room < length) {
        sequence->room = length + length / 4;
        sequence->operation = NEW_ARRAY(keep->pool, int, sequence->room);
    }
    memcpy(sequence->operation, operation, (size_t)length * sizeof *operation);
    return sequence;
}

/* Puts KEPT into PLACE, whose sequence may come to be in no use. */
static void put(RematFront *front, const RematKept *kept, RematKept *place) {
    RematSequence *before = place->sequence;
    kept->sequence->uses++;
    if (before != NULL && --before->uses == 0) {
        before->next = front->keep->unused;
        front->keep->unused = before;
    }
    *place = *kept;
    front->changes++;
}

/* ---- which is better ---- */

static bool better(const RematKept *a, const RematKept *b) {
    return b->length == 0 || a->totals.cost < b->totals.cost ||
           (a->totals.cost == b->totals.cost && a->totals.peak < b->totals.peak);
}

static bool smaller(const RematKept *a, const RematKept *b) {
    return b->length == 0 || a->totals.peak < b->totals.peak ||
           (a->totals.peak == b->totals.peak && a->totals.cost < b->totals.cost);
}

/* ---- a front ---- */

static void copy_kept(RematFront *front, const RematKept *kept, RematKept *place) {
    if (kept->length > 0)
        put(front, kept, place);
}

RematFront *remat_front_copy(const RematFront *front) {
    Pool *pool = front->keep->pool;
    RematFront *copy = NEW(pool, RematFront);
    *copy = (RematFront){
        .keep = front->keep, .per_mille = front->per_mille, .count = front->count, .limit = front->limit};
    copy->order = NEW_ARRAY(pool, RematKept, front->count);
    for (int k = 0; k < front->count; k++)
        copy_kept(copy, &front->order[k], &copy->order[k]);
    copy_kept(copy, &front->least, &copy->least);
    return copy;
}

void remat_front_add_kept(RematFront *front, const RematKept *kept) {
    if (smaller(kept, &front->least))
        put(front, kept, &front->least);
    for (int k = limit_of(front, kept->totals.peak); k < front->count && better(kept, &front->order[k]);
         k++)
        put(front, kept, &front->order[k]);
}

void remat_front_add(RematFront *front, const RematOrder *order) {
    const int k = limit_of(front, order->totals.peak);
    RematKept kept = {.length = order->length, .totals = order->totals};
    if (!smaller(&kept, &front->least) && (k == front->count || !better(&kept, &front->order[k])))
        return;
    kept.sequence = sequence_new(front->keep, order->operation, order->length);
    remat_front_add_kept(front, &kept);
}

static void learn_one(RematFront *front, const RematKept *kept) {
    if (kept->length > 0)
        remat_front_add(front, &(RematOrder){.length = kept->length,
                                             .totals = kept->totals,
                                             .operation = kept->sequence->operation});
}

void remat_front_learn(RematFront *front, const RematFront *other) {
    learn_one(front, &other->least);
    for (int k = 0; k < other->count; k++)
        learn_one(front, &other->order[k]);
}

int remat_front_within(const RematFront *front, int64_t capacity) {
    int k = limit_of(front, capacity);
    if (k == front->count || front->order[k].totals.peak > capacity)
        k--;
    return k >= 0 && front->order[k].length > 0 ? k : -1;
}
