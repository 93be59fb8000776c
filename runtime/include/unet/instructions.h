/* instructions.h - the instructions that the C compiler at work may use, beyond the instructions that every
 * processor of its kind has.
 *
 * Under -march=native a compiler uses the instructions of the processor it runs on, and tells so in macros.
 * A program keeps them as bits, and refuses to start if one is missing (runtime/driver/machine.c), which
 * else would end it by SIGILL somewhere.  Only x86 processors have bits. */
#ifndef UNET_INSTRUCTIONS_H
#define UNET_INSTRUCTIONS_H

enum { UNET_PAIRS_BIT = 24, UNET_MATRICES_BIT = 26 };

/* X(bit, the macro that says it, its name).  A program and the runtime
 * may come from different compilers: bits keep their meaning. */
#define UNET_INSTRUCTIONS(X)                                                                               \
    X(0, __SSE3__, "sse3")                                                                                 \
    X(1, __SSSE3__, "ssse3")                                                                               \
    X(2, __SSE4_1__, "sse4.1")                                                                             \
    X(3, __SSE4_2__, "sse4.2")                                                                             \
    X(4, __SSE4A__, "sse4a")                                                                               \
    X(5, __POPCNT__, "popcnt")                                                                             \
    X(6, __BMI__, "bmi")                                                                                   \
    X(7, __BMI2__, "bmi2")                                                                                 \
    X(8, __AVX__, "avx")                                                                                   \
    X(9, __AVX2__, "avx2")                                                                                 \
    X(10, __FMA__, "fma")                                                                                  \
    X(11, __FMA4__, "fma4")                                                                                \
    X(12, __XOP__, "xop")                                                                                  \
    X(13, __AVX512F__, "avx512f")                                                                          \
    X(14, __AVX512CD__, "avx512cd")                                                                        \
    X(15, __AVX512BW__, "avx512bw")                                                                        \
    X(16, __AVX512DQ__, "avx512dq")                                                                        \
    X(17, __AVX512VL__, "avx512vl")                                                                        \
    X(18, __AVX512IFMA__, "avx512ifma")                                                                    \
    X(19, __AVX512VBMI__, "avx512vbmi")                                                                    \
    X(20, __AVX512VBMI2__, "avx512vbmi2")                                                                  \
    X(21, __AVX512VNNI__, "avx512vnni")                                                                    \
    X(22, __AVX512BITALG__, "avx512bitalg")                                                                \
    X(23, __AVX512VPOPCNTDQ__, "avx512vpopcntdq")                                                          \
    X(UNET_PAIRS_BIT, __AVX512BF16__, "avx512bf16")                                                        \
    UNET_INSTRUCTIONS_OF_GCC(X)
#ifdef __clang__ /* it does not know the name */
#define UNET_INSTRUCTIONS_OF_GCC(X)
#else
#define UNET_INSTRUCTIONS_OF_GCC(X) X(25, __AVX512FP16__, "avx512fp16")
#endif

/* 1 where MACRO is defined as 1, else 0: only then does the paste below make a comma, which puts the 1 in
 * second place. */
#define UNET_IS_ONE(macro) UNET_IS_ONE_OF(macro)
#define UNET_IS_ONE_OF(value) UNET_SECOND(UNET_COMMA_##value 1, 0, 0)
#define UNET_COMMA_1 0,
#define UNET_SECOND(...) UNET_SECOND_OF(__VA_ARGS__)
#define UNET_SECOND_OF(first, second, ...) second

#define UNET_BIT_IF_USED(bit, macro, name) | (int64_t)UNET_IS_ONE(macro) << (bit)
/* The bits of the compilation that this stands in. */
#define UNET_INSTRUCTIONS_USED (INT64_C(0) UNET_INSTRUCTIONS(UNET_BIT_IF_USED))

/* How the code of this compilation multiplies tensors of bf16.  UNET_PRODUCTS_IN_F32 is defined where it is
 * compiled for a processor on which pairs are slow, UNET_NO_MATRICES where the system refuses registers for
 * matrices.  UNET_QUICK_PAIRS is defined where a program has other code for processors with slow pairs.
 * Only programs of bf16 use registers for matrices: they stand beside the list of instructions. */
#if defined __AMX_BF16__ && !defined UNET_NO_MATRICES
#define UNET_BF16_PRODUCTS "matrices of bf16"
#define UNET_MATRICES_USED (INT64_C(1) << UNET_MATRICES_BIT)
#else
#define UNET_MATRICES_USED INT64_C(0)
#if defined __AVX512BF16__ && !defined UNET_PRODUCTS_IN_F32
#define UNET_BF16_PRODUCTS "pairs of bf16"
#else
#define UNET_BF16_PRODUCTS "f32"
#endif
#endif
#define UNET_YIELDS_WHERE_PAIRS_ARE_SLOW UNET_IS_ONE(UNET_QUICK_PAIRS)

#endif
