/* rng.h - random numbers: PyTorch's generator, and one without state.
 *
 * The numbers that a PyTorch script draws before and between epochs (weights, splits, order of samples)
 * come from the Mersenne twister as PyTorch's CPU generator uses it, bit for bit.  The numbers per sample
 * (windows, flips, noise) come from Philox4x32-10, a function of a key and an index alone, so that it is
 * the same for any number of threads and after any interruption.
 */
#ifndef UNET_RNG_H
#define UNET_RNG_H

#include <stddef.h>
#include <stdint.h>

/* ---- Mersenne twister ---- */

typedef struct {
    uint32_t state[624];
    int32_t next;
} UnetTwister;

/* torch.manual_seed: the low 32 bits count. */
void unet_twister_seed(UnetTwister *twister, uint64_t seed);
uint32_t unet_twister_draw(UnetTwister *twister);
uint64_t unet_twister_draw64(UnetTwister *twister); /* two draws, high half first */
void unet_twister_skip(UnetTwister *twister, int64_t draws);

/* Tensor.uniform_(from, to) of float32; one draw each. */
void unet_twister_uniform(UnetTwister *twister, float from, float to, size_t count, float *values);

/* Tensor.normal_(mean, deviation) of float32: the same draws, values equal to the last bits (PyTorch's own
 * depend on the processor). */
void unet_twister_normal(UnetTwister *twister, float mean, float deviation, size_t count, float *values);
int64_t unet_twister_normal_draws(int64_t count);

/* torch.randperm(count); count draws less one. */
void unet_twister_permutation(UnetTwister *twister, int32_t count, int32_t *order);

/* torch.utils.data.random_split with a generator seeded with SEED: the first part takes its share from the
 * front of ORDER. */
void unet_split_order(uint64_t seed, int32_t count, int32_t *order);

/* numpy.random.RandomState(SEED).permutation(COUNT), of a seed of 32 bits. */
void unet_numpy_permutation(uint32_t seed, int32_t count, int32_t *order);

/* The order in which DataLoader(shuffle=True) visits COUNT samples, epoch after epoch.  SKIP: draws made
 * from the generator before the first epoch: the draws of the weights (unet_parameter_draws) for a script
 * that seeds, builds its model and then loops; 0 for a script that seeds just before looping. */
typedef struct {
    UnetTwister twister;
} UnetShuffle;

void unet_shuffle_start(UnetShuffle *shuffle, uint64_t seed, int64_t skip, int64_t first_epoch);
void unet_shuffle_next(UnetShuffle *shuffle, int32_t count, int32_t *order);

/* ---- Philox ---- */

/* Names one sequence of numbers.  EPOCH is whatever counts time (an epoch, a step, or
 * UNET_EVALUATION_EPOCH); STREAM tells users of randomness within a sample apart. */
typedef struct {
    uint64_t seed;
    uint32_t stream;
    uint32_t epoch;
    uint32_t sample;
} UnetKey;

/* Streams below 2^16 are left to the operators of the model. */
enum { UNET_STREAM_TRANSFORM = 1 << 16, UNET_STREAM_SOURCE = 2 << 16, UNET_STREAM_SAMPLE = 3 << 16 };
#define UNET_EVALUATION_EPOCH UINT32_MAX

/* Four numbers of 32 bits: block INDEX of the sequence. */
void unet_philox(const UnetKey *key, uint32_t index, uint32_t out[4]);

/* Number INDEX of the sequence, from 0 (below 2^34). */
uint32_t unet_random_bits(const UnetKey *key, uint64_t index);
double unet_random_uniform(const UnetKey *key, uint64_t index); /* [0, 1) */
int64_t unet_random_below(const UnetKey *key, uint64_t index,
                          int64_t bound); /* 0 .. bound - 1, bound <= 2^31 */

/* Standard normal numbers FIRST to FIRST + COUNT - 1 of the sequence. */
void unet_random_normal(const UnetKey *key, uint64_t first, size_t count, float *values);

#endif
