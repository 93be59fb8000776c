/* dropout.cu - elements that are dropped by chance become zero, and the others so much larger that the mean
 * stays. BY_CHANNEL: all points of a channel together. A NaN stays one.
 *
 * The numbers follow from the seed, the step, the sample and the operator, and from the place of the
 * element in its sample: no plan, target or number of threads changes them. */
#include "prologue.cuh"

#define KERNEL dropout
#include "../example_cuda.h"

/* BEGIN */
/* Spreads all bits of x over the result. */
DEVICE uint64_t KERNEL_mixed(uint64_t x) {
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return x ^ x >> 31;
}

/* The key that tells the random numbers of a sample from all others. */
DEVICE uint64_t KERNEL_key(uint64_t seed, int64_t step, int sample) {
    SIZES;
    const uint64_t odd = 0x9e3779b97f4a7c15u;
    const uint64_t of_step = KERNEL_mixed(KERNEL_mixed(seed + odd) + (uint64_t)step * odd);
    return KERNEL_mixed(KERNEL_mixed(of_step + (uint64_t)NUMBER * odd) + (uint64_t)sample * odd);
}

DEVICE uint32_t KERNEL_hash(uint32_t x) {
    x = (x ^ x >> 16) * 0x7feb352du;
    x = (x ^ x >> 15) * 0x846ca68bu;
    return x ^ x >> 16;
}

/* A number for each point; the numbers of its channels are made from it. */
DEVICE uint32_t KERNEL_at(uint64_t key, uint32_t point) {
    SIZES;
    return KERNEL_hash((BY_CHANNEL ? 0 : point) ^ (uint32_t)key) ^ (uint32_t)(key >> 32);
}

DEVICE void KERNEL_vector(unsigned i, const UnetControl *control, stored *y, const stored *x) {
    SIZES;
    constexpr Grid to = {D, H, W, Y.block / LANES, Y.ring}, from = {D, H, W, X.block / LANES, X.ring};
    const Point o = point_at(to, i);
    const uint64_t key = KERNEL_key(control->seed, control->step, control->start + o.n);
    const uint32_t point = KERNEL_at(key, (uint32_t)((o.d * H + o.h) * W + o.w));
    const uint32_t dropped = (uint32_t)(RATE * 4294967296.0);
    Vector v = load_vector(x, place(from, i));
    for (int l = 0; l < LANES; l++) {
        const uint32_t number = KERNEL_hash((uint32_t)(o.column * LANES + l) * 0x9e3779b9u + point);
        v.lane[l] *= number >= dropped ? (real)(1 / (1 - RATE)) : 0;
    }
    store_vector(y, place(to, i), v);
}

static __global__ void KERNEL_vectors(Range range, const UnetControl *control, stored *y, const stored *x) {
    const unsigned i = vector_index(range);
    if (i != NO_VECTOR)
        KERNEL_vector(i, control, y, x);
}

LAUNCHER void KERNEL(UnetLaunch at, Rows rows, stored *y, const stored *x) {
    SIZES;
    LAUNCH_RANGE(at, KERNEL_vectors, range_of(N, {D, H, W, Y.block / LANES}, rows), at.control, y, x);
}
/* END */
