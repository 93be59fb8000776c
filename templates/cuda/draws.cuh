/* draws.cuh - random numbers that follow from the seed, the step, the sample, the operator, and the place
 * in the sample: no plan, target or number of threads changes them. */
#include "prologue.cuh"

/* BEGIN */
/* Spreads all bits of x over the result. */
DEVICE uint64_t draws_mixed(uint64_t x) {
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return x ^ x >> 31;
}

/* The key that tells the random numbers of a sample from all others. */
DEVICE uint64_t draws_key(uint64_t seed, int64_t step, int number, int64_t sample) {
    const uint64_t odd = 0x9e3779b97f4a7c15u;
    const uint64_t of_step = draws_mixed(draws_mixed(seed + odd) + (uint64_t)step * odd);
    return draws_mixed(draws_mixed(of_step + (uint64_t)number * odd) + (uint64_t)sample * odd);
}

DEVICE uint32_t draws_hash(uint32_t x) {
    x = (x ^ x >> 16) * 0x7feb352du;
    x = (x ^ x >> 15) * 0x846ca68bu;
    return x ^ x >> 16;
}

/* A number for each point; the numbers of its channels are made from it. */
DEVICE uint32_t draws_at(uint64_t key, uint32_t point) {
    return draws_hash(point ^ (uint32_t)key) ^ (uint32_t)(key >> 32);
}

DEVICE uint32_t draws_of(uint32_t point, int c) {
    return draws_hash((uint32_t)c * 0x9e3779b9u + point);
}

/* The key of a sample of a diffusion.  In evaluation `step` counts the samples before this batch, and the
 * same samples have the same numbers for every seed and after every step. */
DEVICE uint64_t draws_diffusion(const UnetControl *control, int number, int sample, int evaluation) {
    return evaluation ? draws_key(0, 0, number, control->step + control->start + sample)
                      : draws_key(control->seed, control->step, number, control->start + sample);
}

/* A whole number below `bound`. */
DEVICE int draws_below(uint64_t key, int bound) {
    return (int)((key >> 32) * (uint64_t)bound >> 32);
}

/* A normal number of a channel of a point, by Box and Muller. */
DEVICE float draws_normal(uint32_t point, int c) {
    const uint32_t first = draws_of(point, c), second = draws_of(draws_hash(~point), c);
    const float radius = sqrtf(-2 * logf(((float)first + 1) * 0x1p-32f));
    return radius * cosine(6.2831853071795864769f * ((float)second * 0x1p-32f));
}
/* END */
