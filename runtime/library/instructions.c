/* instructions.c - the first instruction that a model was compiled for and this processor lacks.
 *
 * The processor is asked by CPUID and not by __builtin_cpu_supports(): some compilers' libraries answer
 * that with a no to everything.  Wide registers count only where the system keeps them (XGETBV).
 */
#define _GNU_SOURCE /* syscall */
#include "unet/model.h"

#if defined __x86_64__ || defined __i386__
#include <cpuid.h>
#if defined __x86_64__ && defined __linux__
#include <sys/syscall.h>
#include <unistd.h>
#endif

typedef enum { EAX, EBX, ECX, EDX } Register;
enum { AVX_STATE = 0x6, AVX512_STATE = 0xe6, MATRIX_STATE = 0x600e6, OSXSAVE = 27 };

/* The bit of a register of a leaf of CPUID, by the numbers of unet/instructions.h, and the state that the
 * system must keep. */
typedef struct {
    unsigned leaf, part;
    Register at;
    int bit;
    unsigned state;
} Asked;

static const Asked asked[] = {
    [0] = {1, 0, ECX, 0, 0},
    [1] = {1, 0, ECX, 9, 0},
    [2] = {1, 0, ECX, 19, 0},
    [3] = {1, 0, ECX, 20, 0},
    [4] = {0x80000001, 0, ECX, 6, 0},
    [5] = {1, 0, ECX, 23, 0},
    [6] = {7, 0, EBX, 3, 0},
    [7] = {7, 0, EBX, 8, 0},
    [8] = {1, 0, ECX, 28, AVX_STATE},
    [9] = {7, 0, EBX, 5, AVX_STATE},
    [10] = {1, 0, ECX, 12, AVX_STATE},
    [11] = {0x80000001, 0, ECX, 16, AVX_STATE},
    [12] = {0x80000001, 0, ECX, 11, AVX_STATE},
    [13] = {7, 0, EBX, 16, AVX512_STATE},
    [14] = {7, 0, EBX, 28, AVX512_STATE},
    [15] = {7, 0, EBX, 30, AVX512_STATE},
    [16] = {7, 0, EBX, 17, AVX512_STATE},
    [17] = {7, 0, EBX, 31, AVX512_STATE},
    [18] = {7, 0, EBX, 21, AVX512_STATE},
    [19] = {7, 0, ECX, 1, AVX512_STATE},
    [20] = {7, 0, ECX, 6, AVX512_STATE},
    [21] = {7, 0, ECX, 11, AVX512_STATE},
    [22] = {7, 0, ECX, 12, AVX512_STATE},
    [23] = {7, 0, ECX, 14, AVX512_STATE},
    [UNET_PAIRS_BIT] = {7, 1, EAX, 5, AVX512_STATE},
    [25] = {7, 0, EDX, 23, AVX512_STATE},
    [UNET_MATRICES_BIT] = {7, 0, EDX, 22, MATRIX_STATE},
};

static bool has_bit(unsigned leaf, unsigned part, Register at, int bit) {
    unsigned value[4] = {0};
    return __get_cpuid_count(leaf, part, &value[EAX], &value[EBX], &value[ECX], &value[EDX]) != 0 &&
           (value[at] >> bit & 1) != 0;
}

/* The registers that the system keeps when it switches between programs. */
static unsigned kept_state(void) {
    unsigned low = 0, high = 0;
    if (has_bit(1, 0, ECX, OSXSAVE))
        __asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    return low;
}

/* Linux gives a process the registers for matrices on request, and may refuse them. */
static bool are_matrices_given(void) {
#if defined __x86_64__ && defined __linux__
    enum { ASK = 0x1023, MATRICES = 18 }; /* ARCH_REQ_XCOMP_PERM, XFEATURE_XTILEDATA */
    return syscall(SYS_arch_prctl, ASK, MATRICES) == 0;
#else
    return false;
#endif
}

static bool is_there(int number) {
    const Asked *a = &asked[number];
    if (number == UNET_MATRICES_BIT && (!has_bit(7, 0, EDX, 24) || !are_matrices_given()))
        return false;
    return has_bit(a->leaf, a->part, a->at, a->bit) && (kept_state() & a->state) == a->state;
}
#endif

const UnetModel *unet_best_model(const UnetModel *const *models, int32_t nmodels) {
    for (int32_t i = 0; i < nmodels; i++)
        if (unet_lacking_instruction(models[i]->instructions) == NULL &&
            !(models[i]->yields && unet_pairs_are_slow()))
            return models[i];
    return NULL;
}

const char *unet_lacking_instruction(int64_t instructions) {
#if defined __x86_64__ || defined __i386__
#define RETURN_IF_LACKING(bit, macro, name)                                                                \
    if ((instructions >> (bit)&1) != 0 && !is_there(bit))                                                  \
        return name;
    UNET_INSTRUCTIONS(RETURN_IF_LACKING)
    RETURN_IF_LACKING(UNET_MATRICES_BIT, , "amx-bf16")
#else
    (void)instructions;
#endif
    return NULL;
}
