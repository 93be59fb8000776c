/* functions.c - functions of one number, as unet/functions.h numbers them, and their slopes.
 *
 * Each may have two numbers of its own, P and Q.  Some slopes are told the value of the function in the
 * place of its argument: they say so. */
#include "prologue.c"

/* BEGIN */
#include <unet/functions.h>

/* The argument of the hyperbolic tangent that stands for the error function. */
UNUSED static double gelu_argument(double x) {
    return 0.79788456080286536 * (x + 0.044715 * x * x * x);
}

UNUSED static double elementary_value(int function, double x) {
    switch (function) {
    case UNET_FUNCTION_SQRT:
        return sqrt(x);
    case UNET_FUNCTION_EXP:
        return exp(x);
    case UNET_FUNCTION_LOG:
        return log(x);
    case UNET_FUNCTION_SIN:
        return sin(x);
    case UNET_FUNCTION_COS:
        return cos(x);
    case UNET_FUNCTION_ABS:
        return fabs(x);
    case UNET_FUNCTION_SQUARE:
        return x * x;
    default:
        return 1 / x;
    }
}

UNUSED static double function_value(int function, double x, double p, double q) {
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
        return q * (x > 0 ? x : p * expm1(x));
    case UNET_FUNCTION_SOFTPLUS:
        return p * x > q ? x : log1p(exp(p * x)) / p;
    case UNET_FUNCTION_MISH:
        return x * tanh(log1p(exp(x)));
    case UNET_FUNCTION_GELU_TANH:
        return 0.5 * x * (1 + tanh(gelu_argument(x)));
    default:
        return elementary_value(function, x);
    }
}

/* The slopes of a square root, of exp and of a reciprocal are told the value of the function. */
UNUSED static double elementary_slope(int function, double x) {
    switch (function) {
    case UNET_FUNCTION_SQRT:
        return 0.5 / x;
    case UNET_FUNCTION_EXP:
        return x;
    case UNET_FUNCTION_LOG:
        return 1 / x;
    case UNET_FUNCTION_SIN:
        return cos(x);
    case UNET_FUNCTION_COS:
        return -sin(x);
    case UNET_FUNCTION_ABS:
        return x > 0 ? 1 : x < 0 ? -1 : 0;
    case UNET_FUNCTION_SQUARE:
        return 2 * x;
    default:
        return -x * x;
    }
}

UNUSED static double mish_slope(double x) {
    const double t = tanh(log1p(exp(x)));
    return t + x * (1 - t * t) / (1 + exp(-x));
}

UNUSED static double gelu_tanh_slope(double x) {
    const double t = tanh(gelu_argument(x)), inner = 0.79788456080286536 * (1 + 3 * 0.044715 * x * x);
    return 0.5 * (1 + t) + 0.5 * x * (1 - t * t) * inner;
}

/* The slopes of relu6 and of elu are told the value of the function. */
UNUSED static double function_slope(int function, double x, double p, double q) {
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
        return x > -3 && x < 3 ? 1.0 / 6 : 0;
    case UNET_FUNCTION_HARD_SWISH:
        return x < -3 ? 0 : x <= 3 ? x / 3 + 0.5 : 1;
    case UNET_FUNCTION_ELU:
        return x > 0 ? q : x + p * q;
    case UNET_FUNCTION_SOFTPLUS:
        return p * x > q ? 1 : 1 / (1 + exp(-p * x));
    case UNET_FUNCTION_MISH:
        return mish_slope(x);
    case UNET_FUNCTION_GELU_TANH:
        return gelu_tanh_slope(x);
    default:
        return elementary_slope(function, x);
    }
}
/* END */
