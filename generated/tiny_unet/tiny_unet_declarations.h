/* tiny_unet_declarations.h - the kernels of tiny_unet, and the sizes that they are handed
 *
 * Made by unetc from tiny_unet.unet (16d462818c889222) with: --size=64x64 --kernels=reference
 * Do not edit: change the .unet file and compile again. */
#ifndef UNETC_TINY_UNET_DECLARATIONS_H
#define UNETC_TINY_UNET_DECLARATIONS_H

#include "tiny_unet_kernels.h"

typedef struct {
    int C, H, W, X_STAGED;
    Layout Y;
    Layout X;
} tiny_unet_cast_sizes;
void tiny_unet_cast_kernel(const tiny_unet_cast_sizes *sizes, int n, Rows rows, stored *y, const void *x);

typedef struct {
    int D, H, W, ABOVE, BELOW;
    Layout Y;
} tiny_unet_zero_halo_sizes;
void tiny_unet_zero_halo_kernel(const tiny_unet_zero_halo_sizes *sizes, int n, Rows rows, stored *y);

typedef struct {
    int CI, CO, ID, IH, IW, H, W, KD, SD, LD, PD, KH, SH, LH, PH, KW, SW, LW, PW, BIAS, RELU, SEGMENTS;
    const Layout *X;
    Layout Y;
} tiny_unet_conv_sizes;
void tiny_unet_conv_kernel(const tiny_unet_conv_sizes *sizes, int n, Rows rows, stored *y,
    const stored *const *x, const real *w, const real *b);

typedef struct {
    int C, ID, IH, IW, H, W, KD, SD, PD, LD, KH, SH, PH, LH, KW, SW, PW, LW;
    Layout Y;
    Layout X;
} tiny_unet_max_pool_sizes;
void tiny_unet_max_pool_kernel(const tiny_unet_max_pool_sizes *sizes, int n, Rows rows, stored *y,
    const stored *x);

typedef struct {
    int CO, ID, IH, IW, H, W, KD, SD, LD, PD, KH, SH, LH, PH, KW, SW, LW, PW, BIAS, RELU, SEGMENTS;
    const Layout *X;
    Layout Y;
} tiny_unet_upconv_sizes;
void tiny_unet_upconv_kernel(const tiny_unet_upconv_sizes *sizes, int n, Rows rows, stored *y,
    const stored *const *x, const real *w, const real *b);

typedef struct {
    int C, D, H, W, P_STAGED, T_STAGED, SCALED;
    Layout P;
    Layout T;
    double WEIGHT;
    Layout DP;
} tiny_unet_mse_grad_sizes;
void tiny_unet_mse_grad_kernel(const tiny_unet_mse_grad_sizes *sizes, int n, int total, Rows rows, stored *dp,
    const void *p, const void *t, const double *scale);

typedef struct {
    int C, D, H, W, P_STAGED, T_STAGED, ACCUMULATE;
    Layout P;
    Layout T;
} tiny_unet_psnr_sizes;
void tiny_unet_psnr_kernel(const tiny_unet_psnr_sizes *sizes, int n, Rows rows, double *result, double *scratch,
    const void *p, const void *t, const int32_t (*valid)[3]);

typedef struct {
    int C, D, H, W, P_STAGED, T_STAGED, ACCUMULATE;
    Layout P;
    Layout T;
} tiny_unet_mse_sizes;
void tiny_unet_mse_kernel(const tiny_unet_mse_sizes *sizes, int n, Rows rows, double *result, double *scratch,
    const void *p, const void *t, const int32_t (*valid)[3]);

typedef struct {
    int CI, CO, ID, IH, IW, D, H, W, KD, SD, LD, PD, KH, SH, LH, PH, KW, SW, LW, PW, TRANSPOSED, BIAS,
        ACCUMULATE, SEGMENTS;
    const Layout *X;
    Layout DY;
} tiny_unet_conv_wgrad_sizes;
void tiny_unet_conv_wgrad_kernel(const tiny_unet_conv_wgrad_sizes *sizes, int n, Rows rows, real *dw, real *db,
    double *scratch, double *sums, const stored *const *x, const stored *dy);

typedef struct {
    int CI, CO, IH, IW, D, H, W, KD, SD, LD, PD, KH, SH, LH, PH, KW, SW, LW, PW, C0, CS, MASK;
    Layout DX;
    Layout DY;
    Layout M;
} tiny_unet_conv_dgrad_sizes;
void tiny_unet_conv_dgrad_kernel(const tiny_unet_conv_dgrad_sizes *sizes, int n, Rows rows, stored *dx,
    const stored *dy, const real *w, const stored *m);

typedef struct {
    int CO, IH, IW, D, H, W, KD, SD, LD, PD, KH, SH, LH, PH, KW, SW, LW, PW, C0, CS, MASK;
    Layout DX;
    Layout DY;
    Layout M;
} tiny_unet_upconv_dgrad_sizes;
void tiny_unet_upconv_dgrad_kernel(const tiny_unet_upconv_dgrad_sizes *sizes, int n, Rows rows, stored *dx,
    const stored *dy, const real *w, const stored *m);

typedef struct {
    int TENSORS, SCALED, CLIPS, AVERAGED, DECOUPLED, AMSGRAD;
    const long *TENSOR;
    double CLIP;
    double AVERAGE;
    double WEIGHT_DECAY;
    double BETA1;
    double BETA2;
    double LEAST_SQUARE;
    double EPSILON;
} tiny_unet_adam_sizes;
void tiny_unet_adam_kernel(const tiny_unet_adam_sizes *sizes, real *p, const real *g, void *m, void *v,
    void *most, real *average, const double *scale, const double *norm, long decayed, double rate,
    int64_t step, long from, long to);

typedef struct {
    int C, ID, IH, IW, D, H, W, KD, SD, PD, LD, KH, SH, PH, LH, KW, SW, PW, LW, ACCUMULATE, MASK;
    Layout DX;
    Layout X;
    Layout DY;
    Layout A;
} tiny_unet_max_pool_grad_sizes;
void tiny_unet_max_pool_grad_kernel(const tiny_unet_max_pool_grad_sizes *sizes, int n, Rows rows, stored *dx,
    const stored *x, const stored *dy, const stored *a);

#endif
