/* borders.c - what lies beyond the ends of an axis, by its Border (compiler/ir/graph.h). */
#include "prologue.c"

/* BEGIN */
enum { BORDER_NUMBER, BORDER_REFLECT, BORDER_WRAP, BORDER_FLIP };

/* Which point of x, of `extent`, the point is that lies AT points behind its first one; -1: none. */
INLINE int border_source(int border, int at, int extent) {
    if (border == BORDER_FLIP)
        return extent - 1 - at;
    if (border == BORDER_WRAP)
        return at < 0 ? at + extent : at >= extent ? at - extent : at;
    if (border == BORDER_REFLECT)
        return at < 0 ? -at : at >= extent ? 2 * (extent - 1) - at : at;
    return at >= 0 && at < extent ? at : -1;
}

enum { BORDER_COPIES = 3 };

/* Where copy k of point `at` of x lies in y, of `points`, before which `before` points lie; -1: nowhere. */
INLINE int border_copy(int border, int k, int at, int extent, int before, int points) {
    int place = at;
    if (border == BORDER_FLIP)
        place = extent - 1 - at;
    if (border == BORDER_REFLECT && k > 0)
        place = k == 1 ? -at : 2 * (extent - 1) - at;
    if (border == BORDER_WRAP && k > 0)
        place = k == 1 ? at - extent : at + extent;
    if (k > 0 &&
        (border == BORDER_FLIP || border == BORDER_NUMBER || (border == BORDER_REFLECT && place == at)))
        return -1;
    return place + before >= 0 && place + before < points ? place + before : -1;
}
/* END */
