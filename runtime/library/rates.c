/* rates.c - is an instruction faster than several others that do the same?  Processors differ by a factor
 * of four.
 *
 * One instruction multiplies 16 pairs of bf16 with 16 others and adds the products; two products in f32 do
 * the same.  A table has the answer for processors on which both were measured: there the answer does not
 * depend on a clock.  Other processors are measured.  The instruction takes 1, 2 or 4 times as long as a
 * product in f32, and the limit lies well between 2 and 4.
 */
#include "unet/model.h"

#if defined __x86_64__
#include <cpuid.h>
#include <string.h>
#include <time.h>

typedef struct {
    const char *vendor; /* as CPUID spells it */
    unsigned family;
    int model; /* -1: all of the family */
    bool slow;
} Known;

/* Products a second and core of pairs of bf16, beside f32. */
static const Known known[] = {
    {"GenuineIntel", 6, 0x8f, true},   /* Sapphire Rapids, as Emerald Rapids */
    {"GenuineIntel", 6, 0xcf, true},   /* Emerald Rapids: 44 of 90 GMAC/s */
    {"AuthenticAMD", 0x19, -1, false}, /* Zen 4: as many */
    {"AuthenticAMD", 0x1a, -1, false}, /* Zen 5: 243 of 121 GMAC/s */
};

/* Returns the row of this processor, or NULL. */
static const Known *find_known(void) {
    unsigned id[3], eax, ebx, ecx, edx, leaf;
    char vendor[sizeof id + 1] = {0};
    if (__get_cpuid(0, &leaf, &id[0], &id[2], &id[1]) == 0 || __get_cpuid(1, &eax, &ebx, &ecx, &edx) == 0)
        return NULL;
    memcpy(vendor, id, sizeof id);
    const unsigned base = eax >> 8 & 0xf, family = base == 0xf ? base + (eax >> 20 & 0xff) : base;
    const int model = (int)((eax >> 4 & 0xf) | (base == 0xf || base == 6 ? eax >> 12 & 0xf0 : 0));
    for (size_t k = 0; k < sizeof known / sizeof *known; k++)
        if (strcmp(known[k].vendor, vendor) == 0 && known[k].family == family &&
            (known[k].model < 0 || known[k].model == model))
            return &known[k];
    return NULL;
}

static double seconds(void) {
    struct timespec now;
    (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* Twelve sums that do not wait for each other. */
#define TWELVE(DO) DO(0) DO(1) DO(2) DO(3) DO(4) DO(5) DO(6) DO(7) DO(8) DO(9) DO(10) DO(11)
#define SUMS                                                                                               \
    "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11"
#define IN_F32(sum) "vfmadd231ps %%zmm12, %%zmm12, %%zmm" #sum "\n\t"
#define OF_PAIRS(sum) "vdpbf16ps %%zmm12, %%zmm12, %%zmm" #sum "\n\t"
enum { TIMES = 2000, ROUNDS = 24 };

/* Returns the least time of some rounds that compute so many sums. */
__attribute__((target("avx512f,avx512bf16"))) static double least_time(bool of_pairs) {
    double least = 1;
    for (int round = 0; round < ROUNDS; round++) {
        const double begin = seconds();
        for (int k = 0; k < TIMES && of_pairs; k++)
            __asm__ volatile(TWELVE(OF_PAIRS)::: SUMS);
        for (int k = 0; k < TIMES && !of_pairs; k++)
            __asm__ volatile(TWELVE(IN_F32)::: SUMS);
        const double time = seconds() - begin;
        least = time < least ? time : least;
    }
    return least;
}

bool unet_pairs_are_slow(void) {
    static const double limit = 2.8;
    const Known *row = find_known();
    if (unet_lacking_instruction(INT64_C(1) << UNET_PAIRS_BIT) != NULL)
        return true;
    return row != NULL ? row->slow : least_time(true) > limit * least_time(false);
}
#else
bool unet_pairs_are_slow(void) {
    return true;
}
#endif
