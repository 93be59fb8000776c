/* squares.c - LANES channels of LANES points: from a vector for each point to one for each channel, and
 * back. */
#include "prologue.c"

/* BEGIN */
/* From every 2 * run lanes the first `run` of a and then of b (`half` 0), or the last ones (`half` 1). */
INLINE Vector interleaved(Vector a, Vector b, int run, int half) {
#ifdef __clang__
    Vector v;
    for (int lane = 0; lane < LANES; lane++)
        v[lane] = lane & run ? b[half ? lane : lane - run] : a[half ? lane + run : lane];
    return v;
#else
    static const int32_t numbers[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
    Bits lane;
    memcpy(&lane, numbers, sizeof lane);
    const Bits second = (lane & run) != 0;
    return __builtin_shuffle(a, b,
                             lane + (second & (LANES - (half ? 0 : run))) + (~second & (half ? run : 0)));
#endif
}

/* Element c of vector k and element k of vector c change places. */
INLINE void transpose(Vector *v) {
    for (int run = LANES / 2; run > 0; run /= 2)
        for (int k = 0; k < LANES; k++)
            if ((k & run) == 0) {
                const Vector a = v[k], b = v[k + run];
                v[k] = interleaved(a, b, run, 0);
                v[k + run] = interleaved(a, b, run, 1);
            }
}

/* LANES channels of the first `count` of LANES points, BLOCK apart; 0 behind them. */
INLINE void load_square(Vector *channel, const stored *x, int count) {
    for (int k = 0; k < LANES; k++)
        channel[k] = k < count ? load(x + k * BLOCK) : (Vector){0};
    transpose(channel);
}

INLINE void store_square(Vector *channel, stored *x, int count) {
    transpose(channel);
    for (int k = 0; k < LANES; k++)
        if (k < count)
            store(x + k * BLOCK, channel[k]);
}

/* The same of points whose channels are fewer than a block: 4 at most, side by side. */
INLINE void load_narrow(Vector *channel, const stored *x, int block, int count) {
    real row[LANES * NARROW];
    memset(row, 0, sizeof row);
    for (int i = 0; i < count * block; i += LANES)
        store_some_real(row + i, load_some(x + i, count * block - i), count * block - i);
    for (int c = 0; c < block; c++)
        for (int k = 0; k < LANES; k++)
            channel[c][k] = row[k * block + c];
}

INLINE void store_narrow(const Vector *channel, stored *x, int block, int count) {
    real row[LANES * NARROW];
    for (int k = 0; k < count; k++)
        for (int c = 0; c < block; c++)
            row[k * block + c] = channel[c][k];
    for (int i = 0; i < count * block; i += LANES)
        store_some(x + i, load_some_real(row + i, count * block - i), count * block - i);
}
/* END */
