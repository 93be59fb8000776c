/* cudnn.h - one convolution as cuDNN computes it, and which of its engines does so.
 *
 * All tensors are packed: x and y as (n, d, h, w, channel), filters as (output channel, d, h, w, input
 * channel) of the forward direction.  Channels are as stored, padding included.  The compiler fills these
 * in, asking cuDNN without a device; the runtime executes them (runtime/cuda/convolution.h).
 *
 * cuDNN has compiled engines for all forms but two: filter gradients in f32 of operands of 16 bits, and
 * ReLU without a bias.  For these it compiles engines when a program starts, a second or two for each
 * convolution, and lists none where there is no driver.
 */
#ifndef UNET_CUDNN_H
#define UNET_CUDNN_H

#include "model.h"
#include "status.h"

/*                          result  operands a, b */
typedef enum {
    UNET_FORWARD,         /* y  =  x, w */
    UNET_BACKWARD_DATA,   /* dx = dy, w; also a transposed convolution */
    UNET_BACKWARD_FILTER, /* dw =  x, dy */
} UnetConvolutionKind;

enum { UNET_MAX_KNOBS = 16 };

/* The workspace that any convolution may have: room for kernels that split a sum, too little for a copy of
 * a large tensor in another order. */
enum { UNET_MOST_WORKSPACE = 32 << 20 };

/* An engine with its settings means something to one version of cuDNN only. */
typedef struct {
    int64_t version; /* of cuDNN; 0: unknown, and any allowed engine will do that fits the workspace */
    int64_t engine;
    int32_t nknob;
    struct {
        int64_t type, value;
    } knob[UNET_MAX_KNOBS];
    int64_t workspace; /* bytes */
} UnetEngine;

typedef struct {
    UnetConvolutionKind kind;
    UnetType type;                            /* of x, w, y */
    UnetType result_type;                     /* of the result: that, or f32 for a filter gradient */
    bool tf32;                                /* products of f32 may be rounded to tf32 */
    bool nondeterministic;                    /* sums may be in an order that changes from run to run */
    bool accumulate;                          /* adds to what the result holds */
    bool bias, relu;                          /* forward: + bias, in `type`; then max(., 0) */
    int32_t axes;                             /* 2: size[0] is 1 everywhere */
    int64_t batch, in_channels, out_channels; /* of the forward direction */
    int64_t in[3], out[3];                    /* sizes of x and of y */
    int64_t kernel[3], stride[3], dilation[3];
    int64_t before[3], after[3]; /* padding, 0 or more; out = (in + before + after - reach) / stride + 1 */
    UnetEngine engine;
} UnetConvolution;

#endif
