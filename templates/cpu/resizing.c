/* resizing.c - what resize and its gradient share: where the points of a map lie in one of another size. */
#include "prologue.c"

/* BEGIN */
/* Along an axis: point o of y lies at (o * step + offset) / unit of the `extent` points of x. LINEAR:
 * between two of these; ZERO: what lies beyond the ends is zero, else as the end. */
typedef struct {
    long step, offset, unit;
    int extent, linear, zero;
} Positions;

/* The points of x that one of y is made of, and the share of the second. */
typedef struct {
    int first, second;
    real share;
} Made;

/* Beyond the ends there is no second point. */
INLINE Made made_of(Positions p, int o) {
    const long at = o * p.step + p.offset, from = at < 0 && !p.zero ? 0 : at;
    const int below = (int)(from / p.unit), first = p.zero ? below : min_int(below, p.extent - 1);
    const int between = p.linear && at >= 0 && first < p.extent - 1;
    return (Made){first, first + between, between ? (real)(from % p.unit) / (real)p.unit : 0};
}

INLINE Vector mixed(Vector first, Vector second, real share) {
    return (1 - share) * first + share * second;
}

/* a / b, rounded down */
INLINE long floor_quotient(long a, long b) {
    return a / b - (a % b < 0);
}

/* The points [0, points) of y that are made of point i of x, and some more. */
INLINE Rows readers_of(Positions p, int i, int points) {
    const long before = (p.linear ? (i - 1) * p.unit : i * p.unit - 1) - p.offset;
    const long last = (i + 1) * p.unit - 1 - p.offset;
    const int begin = max_int(0, (int)floor_quotient(before, p.step) + 1);
    const int end = min_int(points, (int)floor_quotient(last, p.step) + 1);
    return (Rows){i == 0 && !p.zero ? 0 : begin, i == p.extent - 1 && !p.zero ? points : end};
}

/* How much of point o of y is point i of x. */
INLINE real share_in(Positions p, int i, int o) {
    const Made made = made_of(p, o);
    return (made.first == i ? 1 - made.share : 0) + (p.linear && made.second == i ? made.share : 0);
}
/* END */
