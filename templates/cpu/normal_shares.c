/* normal_shares.c - the normal distribution, which gelu and its gradient share. */
#include "prologue.c"

/* BEGIN */
/* exp(-x^2 / 2).  The square of the first 12 bits of x is exact, and the exponential of the rest is near 1,
 * so the relative error stays at a few units in the last place for large x, too. */
INLINE Vector vector_bell(Vector x) {
    const Vector most = (Vector){0} + 14, far = (Vector)((Bits)x & INT32_MAX),
                 size = vector_choose(far > most, most, far), first = (Vector)((Bits)size & ~0xfff),
                 rest = 0.5f * (size - first) * (size + first);
    return vector_exp(-0.5f * first * first) * (1 - rest * (1 - rest * (0.5f - rest * (1.0f / 6))));
}

/* The share of a normal distribution below x; BELL: vector_bell(x).  Near zero it is 1/2 and an odd
 * polynomial.  Farther out, with t = 1 / (1 + c |x|), the share beyond |x| is BELL times t times a
 * polynomial of t (the form of Press et al., Numerical Recipes, 6.2, fitted anew), so both tails keep their
 * precision: the error is at most 9e-8, and in the lower tail 5e-7 of the share. */
INLINE Vector vector_normal_share(Vector x, Vector bell) {
    static const float c = 0.28f;
    const Vector size = (Vector)((Bits)x & INT32_MAX), t = 1 / (1 + c * size), z = x * x;
    Vector sum = (Vector){0} + 0.03207764330994601f, near = (Vector){0} - 7.4963920086788145e-06f;
    sum = sum * t - 0.12260615137526587f;
    sum = sum * t + 0.14030933268780166f;
    sum = sum * t - 0.04940353434546985f;
    sum = sum * t + 0.09555851202989019f;
    sum = sum * t + 0.07634814519775154f;
    sum = sum * t + 0.10445184872037294f;
    sum = sum * t + 0.11156154569059869f;
    sum = sum * t + 0.1117096868204000f;
    near = near * z + 0.00011305808382204791f;
    near = near * z - 0.001185906984140344f;
    near = near * z + 0.009973140424082516f;
    near = near * z - 0.06649032753127512f;
    near = near * z + 0.3989422785044697f;
    const Vector beyond = bell * t * sum;
    return vector_choose(size < 1, 0.5f + x * near, vector_choose(x < 0, beyond, 1 - beyond));
}
/* END */
