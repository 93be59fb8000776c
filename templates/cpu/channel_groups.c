/* channel_groups.c - what operators share that see groups of the channels of a point: softmax, normalize.
 */
#include "prologue.c"

/* BEGIN */
#include <math.h>

/* Lanes BEGIN to END of a vector; the others become 0. */
INLINE Vector lanes_between(Vector v, int begin, int end) {
    Bits lane = {0};
    for (int i = 0; i < LANES; i++)
        lane[i] = i;
    return (Vector)((Bits)v & (lane >= begin) & (lane < end));
}

INLINE real sum_of_lanes(Vector v) {
    real part[LANES], sum = 0;
    store_real(part, v);
    for (int k = 0; k < LANES; k++)
        sum += part[k];
    return sum;
}

/* How many lanes of a vector may belong to one group more: groups of EACH channels begin with a vector, or
 * anywhere in it. */
INLINE int group_step(int channels, int each) {
    return each == channels || each % LANES == 0 ? LANES : 1;
}
/* END */
