/* positions.c - the points of a map that make the points of a resized one. */
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
    int point[2];
    double share[2];
} Made;

/* Beyond the ends there is no second point. */
UNUSED static Made made_of(Positions p, int o) {
    const long at = o * p.step + p.offset, from = at < 0 && !p.zero ? 0 : at;
    const int below = (int)(from / p.unit), last = p.extent - 1;
    const int first = below > last && !p.zero ? last : below;
    const int between = p.linear && at >= 0 && first < last;
    const double share = between ? (double)(from % p.unit) / (double)p.unit : 0;
    return (Made){{first, first + between}, {1 - share, share}};
}

/* How much of point o of y is point i of x. */
UNUSED static double share_in(Positions p, int i, int o) {
    const Made made = made_of(p, o);
    return (made.point[0] == i ? made.share[0] : 0) + (p.linear && made.point[1] == i ? made.share[1] : 0);
}

/* Along an axis: the points, of `extent`, whose mean is point o, of `points`. */
UNUSED static Rows part_of(int o, int points, int extent) {
    return (Rows){(int)((long)o * extent / points), (int)(((o + 1L) * extent + points - 1) / points)};
}

UNUSED static int holds(Rows part, int point) {
    return point >= part.begin && point < part.end;
}
/* END */
