/* remat_front.c - see remat_front.h. */
#include "solve/remat_front.h"

#include <string.h>

static int64_t next_limit(int64_t limit, int per_mille) {
    const int64_t step = limit / 1000 * per_mille + limit % 1000 * per_mille / 1000;
    return limit + (step > 0 ? step : 1);
}

RematFront *remat_front(Pool *pool, int64_t least, int64_t most, int per_mille) {
    RematFront *front = NEW(pool, RematFront);
    *front = (RematFront){.pool = pool};
    for (int64_t limit = least; limit < most; limit = next_limit(limit, per_mille))
        PUSH(pool, front->limit, front->count, limit);
    PUSH(pool, front->limit, front->count, most);
    front->order = NEW_ARRAY(pool, RematOrder, front->count);
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

static void put(RematFront *front, const RematOrder *order, RematOrder *place) {
    int *operation = place->operation;
    if (place->room < order->length) {
        place->room = order->length + order->length / 4;
        operation = NEW_ARRAY(front->pool, int, place->room);
    }
    memcpy(operation, order->operation, (size_t)order->length * sizeof *operation);
    *place = (RematOrder){
        .length = order->length, .room = place->room, .operation = operation, .totals = order->totals};
    front->changes++;
}

static bool better(const RematOrder *a, const RematOrder *b) {
    return b->length == 0 || a->totals.cost < b->totals.cost ||
           (a->totals.cost == b->totals.cost && a->totals.peak < b->totals.peak);
}

static bool smaller(const RematOrder *a, const RematOrder *b) {
    return b->length == 0 || a->totals.peak < b->totals.peak ||
           (a->totals.peak == b->totals.peak && a->totals.cost < b->totals.cost);
}

static void copy_order(RematFront *front, const RematOrder *order, RematOrder *place) {
    if (order->length > 0)
        put(front, order, place);
}

RematFront *remat_front_copy(const RematFront *front) {
    RematFront *copy = NEW(front->pool, RematFront);
    *copy = (RematFront){.pool = front->pool, .count = front->count, .limit = front->limit};
    copy->order = NEW_ARRAY(front->pool, RematOrder, front->count);
    for (int k = 0; k < front->count; k++)
        copy_order(copy, &front->order[k], &copy->order[k]);
    copy_order(copy, &front->least, &copy->least);
    return copy;
}

void remat_front_add(RematFront *front, const RematOrder *order) {
    if (smaller(order, &front->least))
        put(front, order, &front->least);
    for (int k = limit_of(front, order->totals.peak); k < front->count && better(order, &front->order[k]);
         k++)
        put(front, order, &front->order[k]);
}

int remat_front_within(const RematFront *front, int64_t capacity) {
    int k = limit_of(front, capacity);
    if (k == front->count || front->order[k].totals.peak > capacity)
        k--;
    return k >= 0 && front->order[k].length > 0 ? k : -1;
}
