/* pictures.h - random numbers and textures for the programs here that make pictures.
 *
 * Only + - * / and sqrt are used, which IEEE 754 rounds in one way, and no library's random numbers: the
 * pictures of a seed are the same on every machine (compile with -ffp-contract=off).
 */
#ifndef PICTURES_H
#define PICTURES_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* ---- random numbers ---------------------------------------------------------------------------- */

typedef struct {
    uint64_t state;
} Random;

/* SplitMix64 (Steele, Lea, Flood 2014). */
static inline uint64_t mix(uint64_t z) {
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}

static inline uint64_t random_bits(Random *random) {
    return mix(random->state += 0x9E3779B97F4A7C15u);
}

static inline double unit(uint64_t bits) {
    return (double)(bits >> 11) * 0x1p-53;
}

static inline double uniform(Random *random, double low, double high) {
    return low + (high - low) * unit(random_bits(random));
}

/* Nearly normal, with mean 0 and variance 1: the sum of twelve uniform numbers needs no logarithm. */
static inline double normal(Random *random) {
    double sum = -6;
    for (int i = 0; i < 12; i++)
        sum += unit(random_bits(random));
    return sum;
}

static inline double clamp(double value) {
    return value < 0 ? 0 : value > 1 ? 1 : value;
}

static inline uint8_t to_byte(double value) {
    return (uint8_t)(clamp(value) * 255 + 0.5);
}

/* Value noise in -1..1: random values at the corners of a grid, smoothly joined. */
static inline double value_noise(uint64_t seed, double x, double y) {
    double corner_x = floor(x), corner_y = floor(y);
    double u = x - corner_x, v = y - corner_y;
    u = u * u * (3 - 2 * u);
    v = v * v * (3 - 2 * v);
    double value[2][2];
    for (int j = 0; j < 2; j++)
        for (int i = 0; i < 2; i++) {
            uint64_t column = (uint64_t)((int64_t)corner_x + i), row = (uint64_t)((int64_t)corner_y + j);
            value[j][i] = unit(mix(seed ^ mix(column ^ mix(row))));
        }
    double top = value[0][0] + u * (value[0][1] - value[0][0]);
    double bottom = value[1][0] + u * (value[1][1] - value[1][0]);
    return 2 * (top + v * (bottom - top)) - 1;
}

#endif
