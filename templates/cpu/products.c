/* products.c - what kernels multiply and add: reals, or pairs of bf16 (pairs.c). */
#if defined UNET_STORED_BF16 || defined UNET_FAST_PRODUCTS
#include "pairs.c"
#elif defined UNET_STORED_F16
#include "stored_16.c"
#else
#include "stored_32.c"
#endif

/* BEGIN */
/* Adds to a sum the product of a scalar, which is broadcast, and a vector. */
typedef Vector Product(Vector sum, const real *x, Vector w);

INLINE Vector add_product(Vector sum, const real *x, Vector w) {
    return sum + *x * w;
}

/* Factors lie in slots of 32 bits: a real, or, for tensors in bf16 if the processor multiplies these, two
 * neighbours that are summed.  Both are handed about as reals; only a function that adds products looks
 * inside. */
#ifndef FACTORS_ARE_PAIRS /* else see pairs.c */
enum { FACTORS = 1 };     /* in a slot */

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
