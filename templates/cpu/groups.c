/* groups.c - functions that convolutions in groups of channels share.  Lanes are channels of the result; if
 * each group has one channel on both sides (depthwise), channels of the operand lie side by side, else they
 * are fetched one by one. */
#include "prologue.c"

/* BEGIN */
enum { ROW_PART = 64 }; /* points of a row that are summed at a time */

/* As many of `count` weights that lie `step` apart as a vector has lanes; 0 behind the last. */
INLINE Vector weights_apart(const real *w, int step, int count) {
    real part[LANES];
    if (count >= LANES)
        for (int k = 0; k < LANES; k++)
            part[k] = w[k * step];
    else
        for (int k = 0; k < LANES; k++)
            part[k] = k < count ? w[k * step] : 0;
    return load_real(part);
}

/* Whole numbers n with 0 <= n * stride + offset < extent, and n < count: [begin, end). */
INLINE Rows in_extent(int stride, int offset, int extent, int count) {
    const int begin = offset < 0 ? (-offset + stride - 1) / stride : 0;
    const int end = extent - offset <= 0 ? 0 : (extent - offset + stride - 1) / stride;
    return (Rows){min_int(begin, count), max_int(min_int(begin, count), min_int(end, count))};
}

INLINE real scalar_at(const stored *p, long i) {
    real part[LANES];
    store_real(part, load_some(p + i, 1));
    return part[0];
}

/* Channel `member`, at a point, of the groups that the lanes of vector v belong to: groups have `of`
 * channels in this tensor, and `own` in the tensor of the lanes, which has `channels`. */
INLINE Vector of_members(const stored *x, const Layout *l, Point at, int v, int member, int of, int own,
                         int channels) {
    if (of == 1 && own == 1)
        return load_some(x + vector_at(l, v, at), lanes(l, v));
    real part[LANES];
    for (int k = 0; k < LANES; k++) {
        const int c = v * LANES + k, from = c / own * of + member;
        part[k] = c < channels ? scalar_at(x, offset_of(l, from / l->block, at) + from % l->block) : 0;
    }
    return load_real(part);
}
/* END */
