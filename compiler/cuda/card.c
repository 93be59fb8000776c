/* card.c - the cards that are planned for.
 *
 * An architecture stands for its card that most people train on; other cards have names of their own.
 * Numbers that follow from the compute capability (blocks, threads, shared memory of a multiprocessor) are
 * from the table of technical specifications in the CUDA programming guide; the rest differs from card to
 * card:
 *
 *     A100, H100   NVIDIA's white papers of their architectures
 *     H200         its data sheet (132 multiprocessors, 141 GB); clocks as nvidia-smi names them; the whole
 *                  second-level cache of its chip, 60 MB (white paper of the Hopper architecture), as other
 *                  cards with six stacks of memory on that chip have it
 *     B200         NVIDIA's tuning guide for Blackwell (126 MB of cache, 227 KB for a block); number of
 *                  multiprocessors, cache and memory as CUDA names them; memory's clock as nvidia-smi names
 *                  it; the other clock follows from 75 TFLOP/s of f32 in the data sheet
 *     RTX 5090     deviceQuery of the CUDA samples; the clock is the boost clock in NVIDIA's white paper of
 *                  the RTX Blackwell architecture
 *
 * Speeds are from data sheets: of bf16 without sparsity.  A plain kernel of ours multiplies by the
 * instructions of Ampere, and later cards do fewer of them in a second than of their own: on an H200 it
 * reached 106 and 133 TFLOP/s (tests/gpu/RESULTS.md); for the other cards nobody has measured it.
 */
#include "cuda/card.h"
#include "base/diag.h"

#include <string.h>

const Architecture cuda_cards[] = {
    {"sm_90", "sm_90"}, {"sm_80", "sm_80"}, {"sm_100", "sm_100"}, {"sm_120", "sm_120"},  {"a100", "sm_80"},
    {"h100", "sm_90"},  {"h200", "sm_90"},  {"b200", "sm_100"},   {"rtx5090", "sm_120"}, {NULL, NULL},
};

/* The limits of one multiprocessor, and of a block that asks for more than the usual 48 KiB. */
typedef struct {
    int capability; /* major * 100 + minor * 10 */
    int blocks, threads;
    int shared_memory; /* bytes */
} Multiprocessor;

static const Multiprocessor ampere = {800, 32, 2048, 163 << 10}, hopper = {900, 32, 2048, 227 << 10},
                            blackwell = {1000, 32, 2048, 227 << 10}, geforce = {1200, 24, 1536, 99 << 10};

typedef struct {
    const char *names, *device; /* NAMES: of cuda_cards, each between blanks */
    const Multiprocessor *multiprocessor;
    int multiprocessors;
    int cache;                             /* bytes, second level */
    int clock, memory;                     /* kHz */
    long long installed;                   /* bytes */
    double flops, own_flops, memory_bytes; /* 10^12 a second: see CardSpeed */
} Card;

static const Card cards[] = {
    {" sm_80 a100 ", "NVIDIA A100-SXM4-80GB", &ampere, 108, 40 << 20, 1410000, 1593000, 85899345920, 312,
     100, 2.04},
    {" sm_90 h100 ", "NVIDIA H100 80GB HBM3", &hopper, 132, 50 << 20, 1980000, 2619000, 85899345920, 989,
     120, 3.35},
    {" h200 ", "NVIDIA H200", &hopper, 132, 60 << 20, 1980000, 3201000, 150754820096, 989, 120, 4.8},
    {" sm_100 b200 ", "NVIDIA B200", &blackwell, 148, 253 << 19, 1980000, 3996000, 191501107200, 2250, 200,
     8},
    {" sm_120 rtx5090 ", "NVIDIA GeForce RTX 5090", &geforce, 170, 96 << 20, 2407000, 14001000, 33677180928,
     209, 70, 1.79},
};

static const Card *find(Pool *pool, const char *name) {
    const char *word = pool_text(pool, " %s ", name);
    for (size_t i = 0; i < sizeof cards / sizeof *cards; i++)
        if (strstr(cards[i].names, word) != NULL)
            return &cards[i];
    return NULL;
}

/* A property that has no field in Card is the same for all. */
const char *cuda_card_json(Pool *pool, const char *name, size_t driver) {
    const Card *card = find(pool, name);
    if (card == NULL)
        return NULL;
    const Multiprocessor *m = card->multiprocessor;
    return pool_text(pool,
                     "{\"deviceName\":\"%s\",\"deviceVer\":%d,\"driverVer\":%zu,\"cudaDeviceId\":0,"
                     "\"pciDeviceId\":0,\"isTccDriver\":0,\"supportCoopLaunch\":1,\"warpSize\":32,"
                     "\"multiProcessorCount\":%d,\"maxCtasPerSM\":%d,\"maxThreadsPerSM\":%d,"
                     "\"maxThreadsPerBlock\":1024,\"maxBlockSize\":[1024,1024,64],"
                     "\"maxGridSize\":[2147483647,65535,65535],\"maxRegistersPerSM\":65536,"
                     "\"regsPerBlock\":65536,\"maxSharedMemoryPerBlock\":49152,"
                     "\"maxSharedMemoryPerBlockOptin\":%d,\"reservedSharedMemoryPerBlock\":1024,"
                     "\"l2CacheSize\":%d,\"smClockRateKHz\":%d,\"memClockRateKHz\":%d,"
                     "\"totalGlobalMem\":%lld}",
                     card->device, m->capability, driver, card->multiprocessors, m->blocks, m->threads,
                     m->shared_memory, card->cache, card->clock, card->memory, card->installed);
}

int32_t cuda_card_multiprocessors(Pool *pool, const char *name) {
    const Card *card = find(pool, name);
    return card == NULL ? 0 : card->multiprocessors;
}

CardSpeed cuda_card_speed(Pool *pool, const char *name) {
    const Card *card = find(pool, name);
    CHECK(card != NULL);
    return (CardSpeed){1e12 * card->flops, 1e12 * card->own_flops, 1e12 * card->memory_bytes};
}
