/* products.c - what kernels multiply and add: reals, or two bf16 with two others at a time. */
#if defined UNET_STORED_BF16 || defined UNET_STORED_F16
#include "stored_16.c"
#else
#include "stored_32.c"
#endif

/* BEGIN */
/* What is added to a sum: from a scalar, which is broadcast, and a vector. */
typedef Vector Product(Vector sum, const real *x, Vector w);

INLINE Vector add_product(Vector sum, const real *x, Vector w) {
    return sum + *x * w;
}

#if defined __AVX512BF16__ && (defined UNET_STORED_BF16 || defined UNET_FAST_PRODUCTS)
#include <immintrin.h>
typedef real Slot __attribute__((may_alias));

/* *x is a pair of bf16, and so is each lane of w. The processor adds the product of the second ones, then
 * that of the first. */
INLINE Vector add_products(Vector sum, const real *x, Vector w) {
    const __m512 pair = _mm512_set1_ps(*(const Slot *)x);
    return (Vector)_mm512_dpbf16_ps((__m512)sum, (__m512bh)w, (__m512bh)pair);
}

/* Lane by lane a pair: one of a, rounded to bf16, then one of b. */
INLINE Vector pairs(Vector a, Vector b) {
    static const uint16_t order[32] = {0, 16, 1, 17, 2,  18, 3,  19, 4,  20, 5,  21, 6,  22, 7,  23,
                                       8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31};
    const __m512i both = (__m512i)_mm512_cvtne2ps_pbh((__m512)b, (__m512)a);
    return (Vector)_mm512_permutexvar_epi16(_mm512_loadu_si512(order), both);
}
#endif

/* Factors lie in slots of 32 bits: a real, or, of tensors in bf16 where the processor multiplies these, two
 * neighbours of those that are summed. Both are handed about as reals; only what adds products looks
 * inside. */
#if defined UNET_STORED_BF16 && defined __AVX512BF16__
enum { FACTORS = 2 };

INLINE Vector add_factors(Vector sum, const real *x, Vector w) {
    return add_products(sum, x, w);
}

/* Slots of a, each with one of b. */
INLINE Vector factors_of(Vector a, Vector b) {
    return pairs(a, b);
}

/* Of the first `lanes` elements at a, each with one of those at b, of which `others` are there. */
INLINE Vector factors_at(const stored *a, int lanes, const stored *b, int others) {
    return (Vector)(words(halves(a, lanes)) | words(halves(b, others)) << 16);
}
#else
enum { FACTORS = 1 }; /* in a slot */

INLINE Vector add_factors(Vector sum, const real *x, Vector w) {
    return add_product(sum, x, w);
}

INLINE Vector factors_of(Vector a, Vector b) {
    (void)b;
    return rounded(a);
}

INLINE Vector factors_at(const stored *a, int lanes, const stored *b, int others) {
    (void)b, (void)others;
    return load_some(a, lanes);
}
#endif

INLINE int slots(int factors) {
    return (factors + FACTORS - 1) / FACTORS;
}
/* END */
