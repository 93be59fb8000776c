/* functions.cuh - functions of one number, as unet/functions.h numbers them, and their slopes.
 *
 * Each may have two numbers of its own, P and Q.  Some slopes are told the value of the function in the
 * place of its argument: they say so. */
#include "prologue.cuh"

/* BEGIN */
#include <unet/functions.h>

/* The argument of the hyperbolic tangent that stands for the error function. */
DEVICE real gelu_argument(real x) {
    return 0.79788456f * (x + 0.044715f * x * x * x);
}

DEVICE real elementary_value(int function, real x) {
    switch (function) {
    case UNET_FUNCTION_SQRT:
        return sqrtf(x);
    case UNET_FUNCTION_EXP:
        return expf(x);
    case UNET_FUNCTION_LOG:
        return logf(x);
    case UNET_FUNCTION_SIN:
        return sine(x);
    case UNET_FUNCTION_COS:
        return cosine(x);
    case UNET_FUNCTION_ABS:
        return fabsf(x);
    case UNET_FUNCTION_SQUARE:
        return x * x;
    default:
        return 1 / x;
    }
}

DEVICE real function_value(int function, real x, real p, real q) {
    switch (function) {
    case UNET_FUNCTION_AT_LEAST:
        return x < p ? p : x;
    case UNET_FUNCTION_AT_MOST:
        return x > p ? p : x;
    case UNET_FUNCTION_CLAMP:
        return clamp(x, p, q);
    case UNET_FUNCTION_RELU6:
        return clamp(x, 0, 6);
    case UNET_FUNCTION_HARD_SIGMOID:
        return clamp(x + 3, 0, 6) / 6;
    case UNET_FUNCTION_HARD_SWISH:
        return x * clamp(x + 3, 0, 6) / 6;
    case UNET_FUNCTION_ELU:
        return q * (x > 0 ? x : p * expm1f(x));
    case UNET_FUNCTION_SOFTPLUS:
        return p * x > q ? x : log1pf(expf(p * x)) / p;
    case UNET_FUNCTION_MISH:
        return x * tanhf(log1pf(expf(x)));
    case UNET_FUNCTION_GELU_TANH:
        return x / (1 + expf(-2 * gelu_argument(x)));
    default:
        return elementary_value(function, x);
    }
}

/* The slopes of a square root, of exp and of a reciprocal are told the value of the function. */
DEVICE real elementary_slope(int function, real x) {
    switch (function) {
    case UNET_FUNCTION_SQRT:
        return 0.5f / x;
    case UNET_FUNCTION_EXP:
        return x;
    case UNET_FUNCTION_LOG:
        return 1 / x;
    case UNET_FUNCTION_SIN:
        return cosine(x);
    case UNET_FUNCTION_COS:
        return -sine(x);
    case UNET_FUNCTION_ABS:
        return x > 0 ? 1 : x < 0 ? -1 : 0;
    case UNET_FUNCTION_SQUARE:
        return 2 * x;
    default:
        return -x * x;
    }
}

DEVICE real mish_slope(real x) {
    const real e = expf(x > 20 ? 20 : x), square = e * (e + 2), above = 2 / (square + 2);
    return square / (square + 2) + x / (1 + expf(-x)) * above * (2 - above);
}

DEVICE real gelu_tanh_slope(real x) {
    const real s = 1 / (1 + expf(-2 * gelu_argument(x)));
    return s + x * s * (1 - s) * 1.5957691f * (1 + 0.134145f * x * x);
}

/* The slopes of relu6 and of elu are told the value of the function. */
DEVICE real function_slope(int function, real x, real p, real q) {
    switch (function) {
    case UNET_FUNCTION_AT_LEAST:
        return x >= p;
    case UNET_FUNCTION_AT_MOST:
        return x <= p;
    case UNET_FUNCTION_CLAMP:
        return x >= p && x <= q;
    case UNET_FUNCTION_RELU6:
        return x > 0 && x < 6;
    case UNET_FUNCTION_HARD_SIGMOID:
        return x > -3 && x < 3 ? 1.0f / 6 : 0;
    case UNET_FUNCTION_HARD_SWISH:
        return x < -3 ? 0 : x <= 3 ? x / 3 + 0.5f : 1;
    case UNET_FUNCTION_ELU:
        return x > 0 ? q : x + p * q;
    case UNET_FUNCTION_SOFTPLUS:
        return p * x > q ? 1 : 1 / (1 + expf(-p * x));
    case UNET_FUNCTION_MISH:
        return mish_slope(x);
    case UNET_FUNCTION_GELU_TANH:
        return gelu_tanh_slope(x);
    default:
        return elementary_slope(function, x);
    }
}
/* END */
