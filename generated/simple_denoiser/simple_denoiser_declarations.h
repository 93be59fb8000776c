/* simple_denoiser_declarations.h - the kernels of simple_denoiser, and the sizes that they are handed
 *
 * Made by unetc from simple_denoiser.unet (00438fdc504441cc) with: --size=64x64
 * Do not edit: change the .unet file and compile again. */
#ifndef UNETC_SIMPLE_DENOISER_DECLARATIONS_H
#define UNETC_SIMPLE_DENOISER_DECLARATIONS_H

#include "simple_denoiser_kernels.h"

typedef struct {
    int CI, CO, KD, KH, KW, SW, LW, SEGMENTS;
    const Layout *X;
    Layout Y;
} simple_denoiser_conv_pack_sizes;
typedef void simple_denoiser_conv_pack_kernel(const simple_denoiser_conv_pack_sizes *sizes,
    real *restrict packed, const real *restrict w);
simple_denoiser_conv_pack_kernel simple_denoiser_conv_pack_0, simple_denoiser_conv_pack_1;

typedef struct {
    int CI, CO, KD, SEGMENTS;
    const Layout *X;
    Layout Y;
} simple_denoiser_conv_winograd_pack_sizes;
void simple_denoiser_conv_winograd_pack_0(const simple_denoiser_conv_winograd_pack_sizes *sizes,
    real *restrict packed, const real *restrict w);

typedef struct {
    int CI, CO, KD, KH, KW, SW, LW, C0, CS;
    Layout DX;
    Layout DY;
} simple_denoiser_conv_dgrad_pack_sizes;
void simple_denoiser_conv_dgrad_pack_0(const simple_denoiser_conv_dgrad_pack_sizes *sizes,
    real *restrict packed, const real *restrict w);

typedef struct {
    int CI, KD, C0, CS;
    Layout DX;
    Layout DY;
} simple_denoiser_conv_dgrad_winograd_pack_sizes;
void simple_denoiser_conv_dgrad_winograd_pack_0(const simple_denoiser_conv_dgrad_winograd_pack_sizes *sizes,
    real *restrict packed, const real *restrict w);

void simple_denoiser_zero_0(void *sum, size_t bytes);

typedef struct {
    int H, W;
    Layout Y;
    Layout X;
} simple_denoiser_cast_sizes;
void simple_denoiser_cast_0(const simple_denoiser_cast_sizes *sizes, int n, Rows rows, stored *restrict y,
    const void *x);

typedef struct {
    int D, H, W, ABOVE, BELOW;
    Layout Y;
} simple_denoiser_zero_halo_sizes;
typedef void simple_denoiser_zero_halo_kernel(const simple_denoiser_zero_halo_sizes *sizes, int n, Rows rows,
    stored *y);
simple_denoiser_zero_halo_kernel simple_denoiser_zero_halo_0, simple_denoiser_zero_halo_1;

typedef struct {
    int CO, H, W, RELU, SEGMENTS;
    const Layout *X;
    Layout Y;
} simple_denoiser_conv_sizes;
typedef void simple_denoiser_conv_kernel(const simple_denoiser_conv_sizes *sizes, int n, Rows rows,
    stored *restrict y, const stored *const *x, const real *w, const real *b);
simple_denoiser_conv_kernel simple_denoiser_conv_0, simple_denoiser_conv_1;

typedef struct {
    int CO, IH, D, H, W, PH, PW, BIAS, RELU, TILES, PHASE, SEGMENTS;
    Layout POOLED;
    const Layout *X;
    Layout Y;
} simple_denoiser_conv_winograd_sizes;
void simple_denoiser_conv_winograd_0(const simple_denoiser_conv_winograd_sizes *sizes, int n, Rows rows,
    stored *restrict y, real *restrict workspace, stored *restrict pooled, const stored *const *x,
    const real *w, const real *b);

typedef struct {
    int D, H, W;
    Layout P;
    Layout T;
} simple_denoiser_mse_sizes;
typedef void simple_denoiser_mse_kernel(const simple_denoiser_mse_sizes *sizes, int n, Rows rows,
    double *result, double *scratch, const void *p, const void *t, const int32_t (*valid)[3]);
simple_denoiser_mse_kernel simple_denoiser_mse_0, simple_denoiser_mse_1;

typedef struct {
    int D, H, W;
    Layout P;
    Layout T;
} simple_denoiser_psnr_sizes;
typedef void simple_denoiser_psnr_kernel(const simple_denoiser_psnr_sizes *sizes, int n, Rows rows,
    double *result, double *scratch, const void *p, const void *t, const int32_t (*valid)[3]);
simple_denoiser_psnr_kernel simple_denoiser_psnr_0, simple_denoiser_psnr_1;

typedef struct {
    int D, H, W;
    Layout P;
    Layout T;
    Layout DP;
} simple_denoiser_mse_grad_sizes;
void simple_denoiser_mse_grad_0(const simple_denoiser_mse_grad_sizes *sizes, int n, int total, Rows rows,
    stored *dp, const void *p, const void *t, const double *scale);

typedef void simple_denoiser_conv_wgrad_kernel(int n, Rows rows, real *restrict dw, real *restrict db,
    real *restrict scratch, real *restrict sums, const stored *const *x, const stored *dy);
simple_denoiser_conv_wgrad_kernel simple_denoiser_conv_wgrad_0, simple_denoiser_conv_wgrad_1;

typedef struct {
    int IH, IW;
    Layout DX;
    Layout DY;
    Layout M;
} simple_denoiser_conv_dgrad_sizes;
void simple_denoiser_conv_dgrad_0(const simple_denoiser_conv_dgrad_sizes *sizes, int n, Rows rows,
    stored *restrict dx, const stored *dy, const real *w, const stored *m);

typedef struct {
    int CI, CO, IH, D, H, W, PH, PW, BIAS, TILES, PHASE, ACCUMULATE, SEGMENTS;
    const Layout *X;
    Layout DY;
} simple_denoiser_conv_wgrad_winograd_sizes;
void simple_denoiser_conv_wgrad_winograd_0(const simple_denoiser_conv_wgrad_winograd_sizes *sizes, int n,
    Rows rows, real *restrict dw, real *restrict db, real *restrict scratch, real *restrict sums,
    const stored *const *x, const stored *dy);

typedef struct {
    int ID, IH, IW, H, PH, PW, CS, MASK, TILES, PHASE;
    Layout DX;
    Layout DY;
    Layout M;
} simple_denoiser_conv_dgrad_winograd_sizes;
void simple_denoiser_conv_dgrad_winograd_0(const simple_denoiser_conv_dgrad_winograd_sizes *sizes, int n,
    Rows rows, stored *restrict dx, real *restrict workspace, const stored *dy, const real *w, const stored *m);

void simple_denoiser_adam_0(real *p, const real *g, void *m, void *v, void *most, real *average,
    const double *scale, const double *norm, long decayed, double rate, int64_t step, long from, long to);

#endif
