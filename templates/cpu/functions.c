/* functions.c - functions of one number, as unet/functions.h numbers them, and their slopes.
 *
 * Each may have two numbers of its own, P and Q.  Some slopes are told the value of the function in the
 * place of its argument: they say so. */
#include "sigmoids.c"

/* BEGIN */
#include <math.h>
#include <unet/functions.h>

INLINE Vector vector_of(real x) {
    return (Vector){0} + x;
}

INLINE Vector vector_abs(Vector x) {
    return (Vector)((Bits)x & INT32_MAX);
}

/* A NaN stays one. */
INLINE Vector vector_clamp_to(Vector x, real low, real high) {
    x = vector_choose(x < low, vector_of(low), x);
    return vector_choose(x > high, vector_of(high), x);
}

/* exp(x) of any x: above zero by the square of exp(-x / 2), which is a normal number wherever exp(x) is. */
INLINE Vector vector_exp_any(Vector x) {
    const Vector half = 1 / vector_exp(x * vector_choose(x > 0, vector_of(-0.5f), vector_of(1)));
    return vector_choose(x > 0, half * half, vector_exp(vector_choose(x > 0, (Vector){0}, x)));
}

/* exp(x) - 1, for x that are not positive: near zero by its series, which keeps small numbers exact. */
INLINE Vector vector_below_one(Vector x) {
    Vector sum = (Vector){0} + 1.0f / 5040;
    sum = sum * x + 1.0f / 720;
    sum = sum * x + 1.0f / 120;
    sum = sum * x + 1.0f / 24;
    sum = sum * x + 1.0f / 6;
    sum = sum * x + 0.5f;
    return vector_choose(x > -0.35f, sum * x * x + x, vector_exp(x) - 1);
}

/* A function of the C library, lane by lane. */
INLINE Vector vector_by_lanes(float (*function)(float), Vector x) {
    for (int lane = 0; lane < LANES; lane++)
        x[lane] = function(x[lane]);
    return x;
}

/* log(1 + exp(x)) */
INLINE Vector vector_softplus(Vector x) {
    const Vector small = vector_exp((Vector)((Bits)x | INT32_MIN));
    return vector_relu(x) + vector_by_lanes(log1pf, small);
}

/* (1 + exp(x))^2 - 1, for x up to 20; tanh(log(1 + exp(x))) is this over this and 2. */
INLINE Vector vector_mish_square(Vector x) {
    const Vector e = vector_exp_any(vector_choose(x > 20, vector_of(20), x));
    return e * (e + 2);
}

INLINE Vector vector_mish(Vector x) {
    const Vector square = vector_mish_square(x);
    return vector_choose(x > 20, x, x * (square / (square + 2)));
}

/* Twice the argument of the hyperbolic tangent that stands for the error function. */
INLINE Vector vector_gelu_argument(Vector x) {
    return 1.5957691216057308f * x * (1 + 0.044715f * x * x);
}

INLINE Vector elementary_value(int function, Vector x) {
    switch (function) {
    case UNET_FUNCTION_SQRT:
        return vector_by_lanes(sqrtf, x);
    case UNET_FUNCTION_EXP:
        return vector_exp_any(x);
    case UNET_FUNCTION_LOG:
        return vector_by_lanes(logf, x);
    case UNET_FUNCTION_SIN:
        return vector_by_lanes(sinf, x);
    case UNET_FUNCTION_COS:
        return vector_by_lanes(cosf, x);
    case UNET_FUNCTION_ABS:
        return vector_abs(x);
    case UNET_FUNCTION_SQUARE:
        return x * x;
    default:
        return 1 / x;
    }
}

INLINE Vector function_value(int function, Vector x, real p, real q) {
    switch (function) {
    case UNET_FUNCTION_AT_LEAST:
        return vector_choose(x < p, vector_of(p), x);
    case UNET_FUNCTION_AT_MOST:
        return vector_choose(x > p, vector_of(p), x);
    case UNET_FUNCTION_CLAMP:
        return vector_clamp_to(x, p, q);
    case UNET_FUNCTION_RELU6:
        return vector_clamp_to(x, 0, 6);
    case UNET_FUNCTION_HARD_SIGMOID:
        return vector_clamp_to(x + 3, 0, 6) / 6;
    case UNET_FUNCTION_HARD_SWISH:
        return x * vector_clamp_to(x + 3, 0, 6) / 6;
    case UNET_FUNCTION_ELU:
        return q * vector_choose(x > 0, x, p * vector_below_one(x));
    case UNET_FUNCTION_SOFTPLUS:
        return vector_choose(p * x > q, x, vector_softplus(p * x) / p);
    case UNET_FUNCTION_MISH:
        return vector_mish(x);
    case UNET_FUNCTION_GELU_TANH:
        return x * vector_sigmoid(vector_gelu_argument(x));
    default:
        return elementary_value(function, x);
    }
}

/* The slopes of a square root, of exp and of a reciprocal are told the value of the function. */
INLINE Vector elementary_slope(int function, Vector x) {
    switch (function) {
    case UNET_FUNCTION_SQRT:
        return 0.5f / x;
    case UNET_FUNCTION_EXP:
        return x;
    case UNET_FUNCTION_LOG:
        return 1 / x;
    case UNET_FUNCTION_SIN:
        return vector_by_lanes(cosf, x);
    case UNET_FUNCTION_COS:
        return -vector_by_lanes(sinf, x);
    case UNET_FUNCTION_ABS:
        return vector_choose(x > 0, vector_of(1), vector_choose(x < 0, vector_of(-1), (Vector){0}));
    case UNET_FUNCTION_SQUARE:
        return 2 * x;
    default:
        return -x * x;
    }
}

INLINE Vector vector_mish_slope(Vector x) {
    const Vector square = vector_mish_square(x), above = 2 / (square + 2), t = square / (square + 2);
    return vector_choose(x > 20, vector_of(1), t + x * vector_sigmoid(x) * above * (2 - above));
}

INLINE Vector vector_gelu_tanh_slope(Vector x) {
    const Vector s = vector_sigmoid(vector_gelu_argument(x));
    return s + x * s * (1 - s) * 1.5957691216057308f * (1 + 0.134145f * x * x);
}

/* The slopes of relu6 and of elu are told the value of the function. */
INLINE Vector function_slope(int function, Vector x, real p, real q) {
    const Vector one = vector_of(1), zero = {0};
    switch (function) {
    case UNET_FUNCTION_AT_LEAST:
        return vector_choose(x >= p, one, zero);
    case UNET_FUNCTION_AT_MOST:
        return vector_choose(x <= p, one, zero);
    case UNET_FUNCTION_CLAMP:
        return vector_choose((x >= p) & (x <= q), one, zero);
    case UNET_FUNCTION_RELU6:
        return vector_choose((x > 0) & (x < 6), one, zero);
    case UNET_FUNCTION_HARD_SIGMOID:
        return vector_choose((x > -3) & (x < 3), vector_of(1.0f / 6), zero);
    case UNET_FUNCTION_HARD_SWISH:
        return vector_choose(x < -3, zero, vector_choose(x <= 3, x / 3 + 0.5f, one));
    case UNET_FUNCTION_ELU:
        return vector_choose(x > 0, vector_of(q), x + p * q);
    case UNET_FUNCTION_SOFTPLUS:
        return vector_choose(p * x > q, one, vector_sigmoid(p * x));
    case UNET_FUNCTION_MISH:
        return vector_mish_slope(x);
    case UNET_FUNCTION_GELU_TANH:
        return vector_gelu_tanh_slope(x);
    default:
        return elementary_slope(function, x);
    }
}
/* END */
