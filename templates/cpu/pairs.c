/* pairs.c - two bf16 multiplied with two others at a time, if the processor does that.  Stands in programs
 * whose tensors are bf16, and in programs of --conv=fast. */
#if defined UNET_STORED_BF16 || defined UNET_STORED_F16
#include "stored_16.c"
#else
#include "stored_32.c"
#endif

/* BEGIN */
/* Some processors have registers for matrices (matrix.c).  UNET_MATRIX_MODEL: a model of them, for tests.
 */
#if defined UNET_STORED_BF16 &&                                                                            \
    (defined UNET_MATRIX_MODEL || (defined __AMX_BF16__ && !defined UNET_NO_MATRICES))
#define MATRICES
#endif

#if defined MATRICES || (defined __AVX512BF16__ && !defined UNET_PRODUCTS_IN_F32)
typedef real Slot __attribute__((may_alias));

#ifdef UNET_MATRIX_MODEL
INLINE Vector add_products(Vector sum, const real *x, Vector w) {
    const Words a = (Words)((Vector){0} + *(const Slot *)x), b = (Words)w, upper = (Words){0} + 0xffff0000;
    return (sum + (Vector)(a & upper) * (Vector)(b & upper)) + (Vector)(a << 16) * (Vector)(b << 16);
}

INLINE Vector pairs(Vector a, Vector b) {
    return (Vector)(words(narrowed(a)) | words(narrowed(b)) << 16);
}
#else
#include <immintrin.h>

/* *x is a pair of bf16, and so is each lane of w. The processor adds the product of the second ones, then
 * the product of the first. */
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

#ifdef UNET_STORED_BF16
#define FACTORS_ARE_PAIRS /* see products.c */
enum { FACTORS = 2 };

INLINE Vector add_factors(Vector sum, const real *x, Vector w) {
    return add_products(sum, x, w);
}

/* Slots of a, each with one of b. */
INLINE Vector factors_of(Vector a, Vector b) {
    return pairs(a, b);
}

/* The first `lanes` elements at a, each with an element at b; `others` of these are there. */
INLINE Vector factors_at(const stored *a, int lanes, const stored *b, int others) {
    return (Vector)(words(halves(a, lanes)) | words(halves(b, others)) << 16);
}
#endif
#endif
/* END */
