/* peak.c - what the machine can do at most: operations in registers, bytes from memory; both measured.
 *
 * Compiled with -ffp-contract=fast, so that a product and a sum become one instruction where there is one.
 */
#include "driver.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* The best of several rounds counts: other programs only ever slow them down. */
enum { ROUNDS = 25, SHORT_ROUNDS = 400 };

/* ---- threads that begin together ---- */

typedef struct Team {
    void (*work)(const struct Team *team, int32_t thread);
    pthread_mutex_t gate;
    int32_t threads, entered;
    const void *about; /* what `work` wants to know */
    double *memory;    /* a number of each thread; or three arrays, one behind the other, */
    int64_t length;    /*   of so many */
} Team;

static void *enter(void *argument) {
    Team *team = argument;
    (void)pthread_mutex_lock(&team->gate);
    const int32_t thread = team->entered++;
    (void)pthread_mutex_unlock(&team->gate);
    team->work(team, thread);
    return NULL;
}

/* Seconds until all threads have done their part of the work; 0: they cannot be started. */
static double together(Team *team) {
    pthread_t *thread = calloc((size_t)team->threads, sizeof *thread);
    int32_t started = 0;
    team->entered = 0;
    (void)pthread_mutex_init(&team->gate, NULL);
    (void)pthread_mutex_lock(&team->gate);
    while (thread != NULL && started < team->threads &&
           pthread_create(&thread[started], NULL, enter, team) == 0)
        started++;
    double begin = machine_seconds();
    (void)pthread_mutex_unlock(&team->gate);
    for (int32_t i = 0; i < started; i++)
        (void)pthread_join(thread[i], NULL);
    double end = machine_seconds();
    (void)pthread_mutex_destroy(&team->gate);
    free(thread);
    return started == team->threads ? end - begin : 0;
}

/* ---- operations ---- */

enum { STEPS = 100000 };

static const volatile float factor = -1, addend = 1; /* the compiler is not to know */

/* A function that multiplies and adds in as many registers as hide the latency of that.  A number X becomes
 * 1 - X and X again. */
#define TWELVE(X) X(0) X(1) X(2) X(3) X(4) X(5) X(6) X(7) X(8) X(9) X(10) X(11)
#define START(i) Vector number##i = zero + (float)i;
#define STEP(i) number##i = number##i * by + more;
#define GATHER(i) number0 += number##i;
#define MULTIPLY_ADD(name, target, bytes, EACH)                                                            \
    target static float name(void) {                                                                       \
        typedef float Vector __attribute__((vector_size(bytes)));                                          \
        const Vector zero = {0}, by = zero + factor, more = zero + addend;                                 \
        EACH(START)                                                                                        \
        for (int i = 0; i < STEPS; i++) {                                                                  \
            EACH(STEP)                                                                                     \
        }                                                                                                  \
        EACH(GATHER)                                                                                       \
        return number0[0];                                                                                 \
    }

typedef struct {
    float (*run)(void);
    double flops;
} Kernel;

#define FLOPS(bytes, sums) (2.0 * STEPS * (sums) * (bytes) / (int)sizeof(float))

#if defined __x86_64__ || defined __i386__
MULTIPLY_ADD(multiply_add_avx512, __attribute__((target("avx512f"))), 64, TWELVE)
MULTIPLY_ADD(multiply_add_fma, __attribute__((target("avx,fma"))), 32, TWELVE)
MULTIPLY_ADD(multiply_add_avx, __attribute__((target("avx"))), 32, TWELVE)
MULTIPLY_ADD(multiply_add, , 16, TWELVE)

static bool uses(int64_t instructions, const char *wanted) {
#define RETURN_IF_WANTED(bit, macro, name)                                                                 \
    if ((instructions >> (bit)&1) != 0 && strcmp(name, wanted) == 0)                                       \
        return true;
    UNET_INSTRUCTIONS(RETURN_IF_WANTED)
    return false;
}

/* As wide as the vectors of the program's kernels. */
static Kernel kernel_of(int64_t instructions) {
    if (uses(instructions, "avx512f"))
        return (Kernel){multiply_add_avx512, FLOPS(64, 12)};
    if (uses(instructions, "avx"))
        return (Kernel){uses(instructions, "fma") ? multiply_add_fma : multiply_add_avx, FLOPS(32, 12)};
    return (Kernel){multiply_add, FLOPS(16, 12)};
}
#else
/* More and narrower units, and 32 registers. */
#define TWENTY_FOUR(X) TWELVE(X) X(12) X(13) X(14) X(15) X(16) X(17) X(18) X(19) X(20) X(21) X(22) X(23)
MULTIPLY_ADD(multiply_add, , 16, TWENTY_FOUR)

static Kernel kernel_of(int64_t instructions) {
    (void)instructions;
    return (Kernel){multiply_add, FLOPS(16, 24)};
}
#endif

/* Products of matrices of bf16, by registers that unet_lacking_instruction() has asked the system for.
 * Compilers that do not know of them make no programs that do. */
#if defined __x86_64__ && (__clang_major__ >= 12 || (!defined __clang__ && __GNUC__ >= 11))
#define KNOWS_MATRICES
enum { MATRIX_STEPS = STEPS / 10, MATRIX_FLOPS = 2 * 4 * 16 * 16 * 32 }; /* of a step: four products */

__attribute__((target("amx-tile,amx-bf16"))) static float multiply_matrices(void) {
    static const struct {
        uint8_t palette, start, unused[14];
        uint16_t bytes[16];
        uint8_t rows[16];
    } shapes = {
        .palette = 1, .bytes = {64, 64, 64, 64, 64, 64, 64, 64}, .rows = {16, 16, 16, 16, 16, 16, 16, 16}};
    __asm__ volatile("ldtilecfg %0" : : "m"(shapes));
    for (int i = 0; i < MATRIX_STEPS; i++)
        __asm__ volatile("tdpbf16ps %tmm6, %tmm4, %tmm0\n\t"
                         "tdpbf16ps %tmm7, %tmm4, %tmm1\n\t"
                         "tdpbf16ps %tmm6, %tmm5, %tmm2\n\t"
                         "tdpbf16ps %tmm7, %tmm5, %tmm3");
    __asm__ volatile("tilerelease");
    return 0;
}
#endif

/* A thread's best time: a round is shorter than the time that a system gives a program. */
static void best_round(const Team *team, int32_t thread) {
    const Kernel *kernel = team->about;
    volatile float sink;
    double best = 0;
    for (int k = 0; k < SHORT_ROUNDS; k++) {
        double begin = machine_seconds();
        sink = kernel->run();
        double seconds = machine_seconds() - begin;
        best = best == 0 || seconds < best ? seconds : best;
    }
    (void)sink;
    team->memory[thread] = best;
}

static double rate_of(Kernel kernel, int32_t threads) {
    const int32_t processors = machine_processors();
    Team team = {
        .work = best_round, .about = &kernel, .threads = threads < processors ? threads : processors};
    double rate = 0;
    team.memory = calloc((size_t)team.threads, sizeof *team.memory);
    if (team.memory != NULL && together(&team) > 0)
        for (int32_t i = 0; i < team.threads; i++)
            rate += kernel.flops / team.memory[i];
    free(team.memory);
    return rate;
}

double machine_flops(int64_t instructions, int32_t threads) {
    return rate_of(kernel_of(instructions), threads);
}

double machine_matrix_flops(int64_t instructions, int32_t threads) {
#ifdef KNOWS_MATRICES
    if ((instructions >> UNET_MATRICES_BIT & 1) != 0)
        return rate_of((Kernel){multiply_matrices, (double)MATRIX_STEPS * MATRIX_FLOPS}, threads);
#endif
    (void)instructions, (void)threads;
    return 0;
}

/* ---- bytes ---- */

/* A thread's part of  a = b + 3 c. */
static void triad(const Team *team, int32_t thread) {
    const int64_t begin = team->length * thread / team->threads;
    const int64_t end = team->length * (thread + 1) / team->threads;
    double *a = team->memory, *b = a + team->length, *c = b + team->length;
    for (int64_t i = begin; i < end; i++)
        a[i] = b[i] + 3 * c[i];
}

/* Each thread touches first what it will work on, so that it lies near to it. */
static void touch(const Team *team, int32_t thread) {
    const int64_t begin = team->length * thread / team->threads;
    const int64_t end = team->length * (thread + 1) / team->threads;
    for (int array = 0; array < 3; array++)
        for (int64_t i = begin; i < end; i++)
            team->memory[array * team->length + i] = array;
}

/* More than the caches of these threads hold. */
static int64_t triad_length(int32_t threads) {
    enum { EACH = 16 << 20, LEAST = 192 << 20 };
    const int64_t most = INT64_C(2) << 30, wanted = (int64_t)EACH * threads;
    return (wanted < LEAST ? LEAST : wanted > most ? most : wanted) / (3 * (int64_t)sizeof(double));
}

double machine_bandwidth(int32_t threads) {
    Team team = {.work = touch, .threads = threads, .length = triad_length(threads)};
    const int64_t bytes = 3 * team.length * (int64_t)sizeof(double);
    char *memory;
    UnetError error;
    if (arena_take(&memory, bytes, 0, &error) != UNET_OK)
        return 0;
    team.memory = (double *)(void *)memory;
    (void)together(&team);
    team.work = triad;
    double rate = 0;
    for (int k = 0; k < ROUNDS; k++) {
        double seconds = together(&team);
        if (seconds > 0 && (double)bytes / seconds > rate)
            rate = (double)bytes / seconds;
    }
    arena_give_back(memory, bytes);
    return rate;
}
