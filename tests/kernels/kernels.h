/* kernels.h - one test of kernels: the operands, and instances of the fast and of the reference templates.
 */
#ifndef KERNELS_H
#define KERNELS_H

#include "../../templates/reference/prologue.c"

typedef void (*Function)(void); /* cast to its true type by whoever calls it */

typedef struct {
    Layout layout;
    int size[3];
} Tensor;

typedef enum { CONV, UPCONV, POOL, MAP, JOIN, LOSS, UPDATE } Kind;

enum {
    /* of a CONV or UPCONV; those in capitals with a verb behind are variants that may be missing */
    FORWARD,
    FORWARD_RELU,
    FORWARD_PACK,
    DGRAD,
    DGRAD_MASK,
    DGRAD_PACK,
    WGRAD,
    WGRAD_MORE,
    /* of a POOL: FORWARD, and */
    POOL_GRAD = 1,
    POOL_GRAD_FUSED,
    AVG_POOL,
    AVG_POOL_GRAD,
    /* of a MAP */
    RELU = 0,
    RELU_GRAD,
    ADD,
    ADD_PARAMETERS,
    ZERO_HALO,
    CAST,
    LEAKY_RELU,
    LEAKY_RELU_GRAD,
    SIGMOID,
    SIGMOID_GRAD,
    /* of a JOIN */
    CONCAT = 0,
    SLICE,
    /* of a LOSS */
    MSE = 0,
    L1,
    PSNR,
    MSE_GRAD,
    L1_GRAD,
    /* of an UPDATE */
    SGD = 0,
    ADAM,
    JUDGE, /* of the gradients, where losses are scaled */
    ROLES = 10
};

typedef struct {
    const char *name; /* every parameter, for the report of a failure */
    Kind kind;
    int segments;
    Tensor x[3], y, dx, m; /* dx: gradient by segment number `by` */
    int by, channels_in, channels_out, taps, bands;
    int staged; /* of a LOSS: whether the target is as the loader left it */
    long count; /* of an UPDATE */
    Function fast[ROLES], reference[ROLES];
} Case;

extern const Case cases[];
extern const int case_count;

#endif
