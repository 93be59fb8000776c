/* parts.c - what an adaptive average pool and its gradient share: the parts of an image. */
#include "prologue.c"

/* BEGIN */
/* Along an axis: the points, of `extent`, whose mean is point o, of `points`. */
INLINE Rows part_of(int o, int points, int extent) {
    return (Rows){(int)((long)o * extent / points), (int)(((o + 1L) * extent + points - 1) / points)};
}

INLINE int part_points(int o, int points, int extent) {
    const Rows part = part_of(o, points, extent);
    return part.end - part.begin;
}

/* The parts that hold point i. */
INLINE Rows parts_with(int i, int points, int extent) {
    return (Rows){(int)((long)i * points / extent), (int)(((i + 1L) * points - 1) / extent) + 1};
}
/* END */
