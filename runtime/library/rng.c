/* rng.c - random numbers: the Mersenne twister as PyTorch's CPU generator uses it, and Philox4x32-10
 * (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", 2011). */
#include "unet/rng.h"

#include <math.h>

enum { STATE = 624, SHIFT = 397 };

/* ---- Mersenne twister ------------------------------------------------------------------------- */

void unet_twister_seed(UnetTwister *twister, uint64_t seed) {
    uint32_t *state = twister->state;
    state[0] = (uint32_t)seed;
    for (uint32_t i = 1; i < STATE; i++) {
        state[i] = 1812433253u * (state[i - 1] ^ (state[i - 1] >> 30)) + i;
    }
    twister->next = STATE;
}

static uint32_t twist(uint32_t high, uint32_t low) {
    uint32_t mixed = (high & 0x80000000u) | (low & 0x7fffffffu);
    return (mixed >> 1) ^ ((low & 1) != 0 ? 0x9908b0dfu : 0);
}

static void refill(UnetTwister *twister) {
    uint32_t *state = twister->state;
    for (int i = 0; i < STATE - SHIFT; i++) {
        state[i] = state[i + SHIFT] ^ twist(state[i], state[i + 1]);
    }
    for (int i = STATE - SHIFT; i < STATE - 1; i++) {
        state[i] = state[i + SHIFT - STATE] ^ twist(state[i], state[i + 1]);
    }
    state[STATE - 1] = state[SHIFT - 1] ^ twist(state[STATE - 1], state[0]);
    twister->next = 0;
}

uint32_t unet_twister_draw(UnetTwister *twister) {
    if (twister->next == STATE) {
        refill(twister);
    }
    uint32_t y = twister->state[twister->next++];
    y ^= y >> 11;
    y ^= (y << 7) & 0x9d2c5680u;
    y ^= (y << 15) & 0xefc60000u;
    return y ^ (y >> 18);
}

uint64_t unet_twister_draw64(UnetTwister *twister) {
    uint64_t high = unet_twister_draw(twister);
    return high << 32 | unet_twister_draw(twister);
}

void unet_twister_skip(UnetTwister *twister, int64_t draws) {
    while (draws > 0) {
        if (twister->next == STATE) {
            refill(twister);
        }
        int64_t step = STATE - twister->next;
        if (step > draws) {
            step = draws;
        }
        twister->next += (int32_t)step;
        draws -= step;
    }
}

/* PyTorch takes the low 24 bits, scales in double and rounds once. */
void unet_twister_uniform(UnetTwister *twister, float from, float to, size_t count, float *values) {
    double width = (double)(to - from);
    for (size_t i = 0; i < count; i++) {
        double unit = (double)(unet_twister_draw(twister) & 0xffffffu) * 0x1p-24;
        values[i] = (float)(unit * width + (double)from);
    }
}

/* Sixteen uniform numbers become as many normal ones: number i is paired with number i + 8. */
static void box_muller16(float mean, float deviation, float *values) {
    for (int i = 0; i < 8; i++) {
        float radius = sqrtf(-2.0f * logf(1.0f - values[i]));
        float angle = 6.2831853071795864769f * values[i + 8];
        values[i] = radius * cosf(angle) * deviation + mean;
        values[i + 8] = radius * sinf(angle) * deviation + mean;
    }
}

static double draw_double(UnetTwister *twister) {
    return (double)(unet_twister_draw64(twister) & 0x1fffffffffffffu) * 0x1p-53;
}

/* Few values: pairs in double, and half of the last pair is lost where COUNT is odd. */
static void normal_few(UnetTwister *twister, float mean, float deviation, size_t count, float *values) {
    for (size_t i = 0; i < count; i += 2) {
        double angle = 6.283185307179586 * draw_double(twister);
        double radius = sqrt(-2.0 * log1p(-draw_double(twister))) * (double)deviation;
        values[i] = (float)(radius * cos(angle) + (double)mean);
        if (i + 1 < count) {
            values[i + 1] = (float)(radius * sin(angle) + (double)mean);
        }
    }
}

void unet_twister_normal(UnetTwister *twister, float mean, float deviation, size_t count, float *values) {
    if (count < 16) {
        normal_few(twister, mean, deviation, count, values);
        return;
    }
    unet_twister_uniform(twister, 0.0f, 1.0f, count, values);
    size_t whole = count / 16 * 16;
    for (size_t i = 0; i < whole; i += 16) {
        box_muller16(mean, deviation, values + i);
    }
    if (whole < count) { /* the last sixteen are drawn anew, over the end of the block before */
        unet_twister_uniform(twister, 0.0f, 1.0f, 16, values + count - 16);
        box_muller16(mean, deviation, values + count - 16);
    }
}

int64_t unet_twister_normal_draws(int64_t count) {
    if (count < 16) {
        return (count + 1) / 2 * 4;
    }
    return count + (count % 16 != 0 ? 16 : 0);
}

void unet_twister_permutation(UnetTwister *twister, int32_t count, int32_t *order) {
    for (int32_t i = 0; i < count; i++) {
        order[i] = i;
    }
    for (int32_t i = 0; i < count - 1; i++) {
        int32_t other = i + (int32_t)(unet_twister_draw(twister) % (uint32_t)(count - i));
        int32_t kept = order[i];
        order[i] = order[other];
        order[other] = kept;
    }
}

void unet_split_order(uint64_t seed, int32_t count, int32_t *order) {
    UnetTwister twister;
    unet_twister_seed(&twister, seed);
    unet_twister_permutation(&twister, count, order);
}

/* From 0 to MOST: as many bits as that has, drawn until they are no more. */
static uint32_t draw_to(UnetTwister *twister, uint32_t most) {
    uint32_t mask = most, drawn;
    for (int shift = 1; shift < 32; shift *= 2) {
        mask |= mask >> shift;
    }
    do {
        drawn = unet_twister_draw(twister) & mask;
    } while (drawn > most);
    return drawn;
}

void unet_numpy_permutation(uint32_t seed, int32_t count, int32_t *order) {
    UnetTwister twister;
    unet_twister_seed(&twister, seed);
    for (int32_t i = 0; i < count; i++) {
        order[i] = i;
    }
    for (int32_t i = count - 1; i > 0; i--) {
        const int32_t other = (int32_t)draw_to(&twister, (uint32_t)i), kept = order[i];
        order[i] = order[other];
        order[other] = kept;
    }
}

enum { DRAWS_PER_EPOCH = 4 };

void unet_shuffle_start(UnetShuffle *shuffle, uint64_t seed, int64_t skip, int64_t first_epoch) {
    unet_twister_seed(&shuffle->twister, seed);
    unet_twister_skip(&shuffle->twister, skip);
    unet_twister_skip(&shuffle->twister, first_epoch * DRAWS_PER_EPOCH);
}

/* Each epoch PyTorch draws a base seed for its workers first, then the seed of the order. */
void unet_shuffle_next(UnetShuffle *shuffle, int32_t count, int32_t *order) {
    (void)unet_twister_draw64(&shuffle->twister);
    unet_split_order(unet_twister_draw64(&shuffle->twister), count, order);
}

/* ---- Philox ----------------------------------------------------------------------------------- */

void unet_philox(const UnetKey *key, uint32_t index, uint32_t out[4]) {
    uint32_t x0 = index, x1 = key->stream, x2 = key->epoch, x3 = key->sample;
    uint32_t k0 = (uint32_t)key->seed, k1 = (uint32_t)(key->seed >> 32);
    for (int round = 0; round < 10; round++) {
        uint64_t a = (uint64_t)0xd2511f53u * x0;
        uint64_t b = (uint64_t)0xcd9e8d57u * x2;
        x0 = (uint32_t)(b >> 32) ^ x1 ^ k0;
        x2 = (uint32_t)(a >> 32) ^ x3 ^ k1;
        x1 = (uint32_t)b;
        x3 = (uint32_t)a;
        k0 += 0x9e3779b9u;
        k1 += 0xbb67ae85u;
    }
    out[0] = x0;
    out[1] = x1;
    out[2] = x2;
    out[3] = x3;
}

uint32_t unet_random_bits(const UnetKey *key, uint64_t index) {
    uint32_t block[4];
    unet_philox(key, (uint32_t)(index / 4), block);
    return block[index % 4];
}

double unet_random_uniform(const UnetKey *key, uint64_t index) {
    return (double)unet_random_bits(key, index) * 0x1p-32;
}

int64_t unet_random_below(const UnetKey *key, uint64_t index, int64_t bound) {
    return (int64_t)((uint64_t)unet_random_bits(key, index) * (uint64_t)bound >> 32);
}

/* Box-Muller on two pairs; + 1 keeps the logarithm finite. */
static void normal_block(const UnetKey *key, uint32_t index, float out[4]) {
    uint32_t bits[4];
    unet_philox(key, index, bits);
    for (int pair = 0; pair < 4; pair += 2) {
        float radius = sqrtf(-2.0f * logf(((float)bits[pair] + 1.0f) * 0x1p-32f));
        float angle = 6.2831853071795864769f * ((float)bits[pair + 1] * 0x1p-32f);
        out[pair] = radius * cosf(angle);
        out[pair + 1] = radius * sinf(angle);
    }
}

void unet_random_normal(const UnetKey *key, uint64_t first, size_t count, float *values) {
    size_t done = 0;
    while (done < count) {
        uint64_t at = first + done;
        float block[4];
        normal_block(key, (uint32_t)(at / 4), block);
        for (size_t lane = (size_t)(at % 4); lane < 4 && done < count; lane++) {
            values[done++] = block[lane];
        }
    }
}
