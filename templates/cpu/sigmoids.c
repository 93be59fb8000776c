/* sigmoids.c - what the sigmoid, functions made with it and their gradients share. */
#include "prologue.c"

/* BEGIN */
/* 1 / (1 + exp(-x)), from exp(-|x|), which cannot overflow. The relative error is at most 1.8e-7. */
INLINE Vector vector_sigmoid(Vector x) {
    const Vector e = vector_exp((Vector)((Bits)x | INT32_MIN));
    return vector_choose(x < 0, e, (Vector){0} + 1) / (1 + e);
}
/* END */
