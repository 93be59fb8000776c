/* rng_test.c - random numbers: bit-equal to PyTorch's where that is promised; Philox against the known
 * answers of its authors; moments of numbers drawn from it. */
#include "check.h"
#include "recorded.h"
#include "unet/rng.h"

#include <math.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))

static void check_bits(const float *values, const uint32_t *bits, size_t count, const char *what) {
    for (size_t i = 0; i < count; i++) {
        uint32_t got;
        memcpy(&got, &values[i], sizeof got);
        CHECK(got == bits[i], "%s: number %zu is %08x, PyTorch has %08x", what, i, got, bits[i]);
    }
}

static void check_order(const int32_t *order, const int32_t *expected, size_t count, const char *what) {
    for (size_t i = 0; i < count; i++) {
        CHECK(order[i] == expected[i], "%s: place %zu has %d, in PyTorch %d", what, i, order[i],
              expected[i]);
    }
}

static void test_uniform(void) {
    UnetTwister twister;
    float values[COUNT(recorded_uniform)];
    unet_twister_seed(&twister, 42);
    unet_twister_uniform(&twister, -0.3f, 0.7f, COUNT(values), values);
    check_bits(values, recorded_uniform, COUNT(values), "uniform");
}

/* Normal numbers are equal to the last bits; the number drawn after them shows that as many were used. */
static void test_normal(const uint32_t *recorded, size_t count) {
    UnetTwister twister;
    float values[32], expected[32];
    memcpy(expected, recorded, (count + 1) * sizeof *expected);
    unet_twister_seed(&twister, 5);
    unet_twister_normal(&twister, 0.0f, 0.5f, count, values);
    for (size_t i = 0; i < count; i++) {
        CHECK(fabsf(values[i] - expected[i]) < 1e-6f, "normal %zu of %zu: %g, PyTorch has %g", i, count,
              (double)values[i], (double)expected[i]);
    }
    unet_twister_uniform(&twister, 0.0f, 1.0f, 1, values);
    check_bits(values, recorded + count, 1, "after normal");
    UnetTwister skipped;
    unet_twister_seed(&skipped, 5);
    unet_twister_skip(&skipped, unet_twister_normal_draws((int64_t)count) + 1);
    CHECK(unet_twister_draw(&skipped) == unet_twister_draw(&twister), "draws of %zu normal numbers", count);
}

static void test_orders(void) {
    int32_t order[64];
    UnetTwister twister;
    unet_twister_seed(&twister, 7);
    unet_twister_permutation(&twister, 20, order);
    check_order(order, recorded_permutation, 20, "permutation");
    unet_split_order(3, 23, order);
    check_order(order, recorded_split, 23, "split");

    /* numpy.random.RandomState(0).permutation(10), and of 42 */
    static const int32_t numpy[2][10] = {{2, 8, 4, 9, 1, 6, 7, 3, 0, 5}, {8, 1, 5, 0, 7, 2, 9, 4, 3, 6}};
    for (int i = 0; i < 2; i++) {
        unet_numpy_permutation(i == 0 ? 0 : 42, 10, order);
        check_order(order, numpy[i], 10, "numpy's permutation");
    }

    for (int64_t first = 0; first < 3; first++) {
        UnetShuffle shuffle, later;
        unet_shuffle_start(&shuffle, 9, 0, first);
        unet_shuffle_start(&later, 9, 1000, first);
        for (int64_t epoch = first; epoch < 3; epoch++) {
            unet_shuffle_next(&shuffle, 13, order);
            check_order(order, recorded_order + 13 * epoch, 13, "order of an epoch");
            unet_shuffle_next(&later, 13, order);
            check_order(order, recorded_order_after + 13 * epoch, 13, "order of an epoch after 1000 draws");
        }
    }
}

/* Known answers published with Random123. */
static void test_philox(void) {
    static const struct {
        UnetKey key;
        uint32_t index, expected[4];
    } answers[] = {
        {{0, 0, 0, 0}, 0, {0x6627e8d5u, 0xe169c58du, 0xbc57ac4cu, 0x9b00dbd8u}},
        {{UINT64_MAX, UINT32_MAX, UINT32_MAX, UINT32_MAX},
         UINT32_MAX,
         {0x408f276du, 0x41c83b0eu, 0xa20bc7c6u, 0x6d5451fdu}},
        {{0x299f31d0a4093822u, 0x85a308d3u, 0x13198a2eu, 0x03707344u},
         0x243f6a88u,
         {0xd16cfe09u, 0x94fdccebu, 0x5001e420u, 0x24126ea1u}},
    };
    for (size_t i = 0; i < COUNT(answers); i++) {
        uint32_t out[4];
        unet_philox(&answers[i].key, answers[i].index, out);
        CHECK(memcmp(out, answers[i].expected, sizeof out) == 0, "known answer %zu", i);
    }
}

static void test_random_normal(void) {
    enum { MANY = 200000 };
    static float values[MANY];
    UnetKey key = {.seed = 1, .stream = UNET_STREAM_SOURCE, .epoch = 2, .sample = 3};
    unet_random_normal(&key, 0, MANY, values);
    double power[5] = {0};
    for (int i = 0; i < MANY; i++) {
        double factor = 1;
        for (int p = 1; p < 5; p++) {
            factor *= (double)values[i];
            power[p] += factor / MANY;
        }
    }
    CHECK(fabs(power[1]) < 0.01 && fabs(power[2] - 1) < 0.02 && fabs(power[3]) < 0.03 &&
              fabs(power[4] - 3) < 0.1,
          "moments of normal numbers: %g %g %g %g", power[1], power[2], power[3], power[4]);
    float part[37];
    for (uint64_t first = 0; first < 9; first++) {
        unet_random_normal(&key, first, COUNT(part), part);
        CHECK(memcmp(part, values + first, sizeof part) == 0, "a part from %d differs", (int)first);
    }
}

static void test_random_range(void) {
    UnetKey key = {.seed = 11};
    int seen[10] = {0};
    for (uint64_t i = 0; i < 10000; i++) {
        double unit = unet_random_uniform(&key, i);
        int64_t number = unet_random_below(&key, i, 10);
        CHECK(unit >= 0 && unit < 1, "uniform number %g", unit);
        CHECK(number >= 0 && number < 10, "number %d of ten", (int)number);
        seen[number]++;
    }
    for (int i = 0; i < 10; i++) {
        CHECK(seen[i] > 850 && seen[i] < 1150, "%d drawn %d times of 10000", i, seen[i]);
    }
}

int main(void) {
    test_uniform();
    test_normal(recorded_normal7, COUNT(recorded_normal7) - 1);
    test_normal(recorded_normal20, COUNT(recorded_normal20) - 1);
    test_orders();
    test_philox();
    test_random_normal();
    test_random_range();
    return check_result();
}
