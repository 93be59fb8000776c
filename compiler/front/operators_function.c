/* operators_function.c - build rules of the operators that are a function of each number.
 *
 * requires, provides   as operators.c
 */
#include "front/operator_build.h"
#include "front/operator_size.h"
#include "ir/ops.h"

#include <math.h>

static ValueId function_with(Call *call, UnetFunction function, double first, double second) {
    ValueId x;
    const Attributes a = {.kind = ATTRIBUTES_MAP,
                          .map = {.parameter = first, .second = second, .function = function}};
    return argument_feature_map(call, "x", &x) ? each_segment(call, x, a, shape_of(call, x)) : -1;
}

ValueId build_function(Call *call) {
    return function_with(call, plain_function(call->op), 0, 0);
}

/* An ELU with two numbers, which Klambauer et al. chose such that mean and variance stay. */
ValueId build_selu(Call *call) {
    return function_with(call, UNET_FUNCTION_ELU, 1.6732632423543772848170429916717,
                         1.0507009873554804934193349852946);
}

/* The exact one, or its approximation by a hyperbolic tangent, which is an operator of its own. */
ValueId build_gelu(Call *call) {
    bool approximate;
    if (!argument_truth(call, "tanh", &approximate))
        return -1;
    if (!approximate)
        return build_map(call);
    call->op = OP_GELU_TANH;
    return function_with(call, UNET_FUNCTION_GELU_TANH, 0, 0);
}

/* A number that is not too large for a float. */
static bool read_number(const Call *call, const char *name, double least, const char *range,
                        double *value) {
    if (!argument_number(call, name, value))
        return false;
    return *value >= least && fabs(*value) <= 1e9 ? true : report_range(call, name, range);
}

/* A negative number would let the value no longer tell the sign of x. */
ValueId build_elu(Call *call) {
    double alpha;
    return read_number(call, "alpha", 0, "from 0 to 1e9", &alpha)
               ? function_with(call, UNET_FUNCTION_ELU, alpha, 1)
               : -1;
}

ValueId build_softplus(Call *call) {
    double beta, threshold;
    return read_number(call, "beta", 1e-9, "greater than 0", &beta) &&
                   read_number(call, "threshold", -1e9, "from -1e9 to 1e9", &threshold)
               ? function_with(call, UNET_FUNCTION_SOFTPLUS, beta, threshold)
               : -1;
}

/* A bound that may be left out. */
static bool read_bound(const Call *call, const char *name, bool *given, double *bound) {
    *given = argument(call, name)->value.kind != DATUM_NONE;
    return !*given || read_number(call, name, -1e9, "from -1e9 to 1e9", bound);
}

ValueId build_clamp(Call *call) {
    Lower *l = call->l;
    double low = 0, high = 0;
    bool lower, upper;
    if (!read_bound(call, "min", &lower, &low) || !read_bound(call, "max", &upper, &high))
        return -1;
    if (lower && upper && low <= high)
        return function_with(call, UNET_FUNCTION_CLAMP, low, high);
    if (lower != upper)
        return lower ? function_with(call, UNET_FUNCTION_AT_LEAST, low, 0)
                     : function_with(call, UNET_FUNCTION_AT_MOST, high, 0);
    if (lower)
        diag_begin(l->diag, ERROR, "U0316", argument(call, "max")->span,
                   "`max` must be at least `min`, which is %g", low);
    else
        diag_begin(l->diag, ERROR, "U0301", call->span, "`clamp` needs a `min` or a `max`");
    note_via(l);
    diag_end(l->diag);
    return -1;
}
