/* functions.h - the functions of one number, the borders of an axis, and what a diffusion makes, as the
 * compiler and the kernels number them. */
#ifndef UNET_FUNCTIONS_H
#define UNET_FUNCTIONS_H

/* Each may have two numbers of its own: templates/FOLDER/functions.* say what they are. */
typedef enum {
    UNET_FUNCTION_SQRT,
    UNET_FUNCTION_EXP,
    UNET_FUNCTION_LOG,
    UNET_FUNCTION_SIN,
    UNET_FUNCTION_COS,
    UNET_FUNCTION_ABS,
    UNET_FUNCTION_SQUARE,
    UNET_FUNCTION_RECIPROCAL,
    UNET_FUNCTION_AT_LEAST,
    UNET_FUNCTION_AT_MOST,
    UNET_FUNCTION_CLAMP,
    UNET_FUNCTION_RELU6,
    UNET_FUNCTION_HARD_SIGMOID,
    UNET_FUNCTION_HARD_SWISH,
    UNET_FUNCTION_ELU,
    UNET_FUNCTION_SOFTPLUS,
    UNET_FUNCTION_MISH,
    UNET_FUNCTION_GELU_TANH
} UnetFunction;

/* The points beyond the ends of an axis: a number, the points inside of the end from there backwards, or
 * the points from the other end on.  A flip turns the whole axis round. */
typedef enum { UNET_BORDER_NUMBER, UNET_BORDER_REFLECT, UNET_BORDER_WRAP, UNET_BORDER_FLIP } UnetBorder;

/* A picture with its noise, by which a network is trained; the noise; the velocity. */
typedef enum { UNET_DIFFUSED_PICTURE, UNET_DIFFUSED_NOISE, UNET_DIFFUSED_VELOCITY } UnetDiffused;

#endif
