/* simple_denoiser_plan.h - where the buffers of simple_denoiser lie, and its kernels
 *
 * Made by unetc from simple_denoiser.unet (00438fdc504441cc) with: --size=64x64
 * Do not edit: change the .unet file and compile again. */
#ifndef UNETC_SIMPLE_DENOISER_PLAN_H
#define UNETC_SIMPLE_DENOISER_PLAN_H

#include "simple_denoiser_kernels.h"

/* ---- where the buffers lie in the arena: offset, bytes ---- */
#define B000_parameters 0LL /* 309568 */
#define B001_net_6_weight 0LL /* 6912 */
#define B002_net_6_bias 6912LL /* 64 */
#define B003_net_4_weight 6976LL /* 147456 */
#define B004_net_4_bias 154432LL /* 256 */
#define B005_net_2_weight 154688LL /* 147456 */
#define B006_net_2_bias 302144LL /* 256 */
#define B007_net_0_weight 302400LL /* 6912 */
#define B008_net_0_bias 309312LL /* 256 */
#define B009_optimiser_state_1 309568LL /* 309568 */
#define B010_m_net_6_weight 309568LL /* 6912 */
#define B011_m_net_6_bias 316480LL /* 64 */
#define B012_m_net_4_weight 316544LL /* 147456 */
#define B013_m_net_4_bias 464000LL /* 256 */
#define B014_m_net_2_weight 464256LL /* 147456 */
#define B015_m_net_2_bias 611712LL /* 256 */
#define B016_m_net_0_weight 611968LL /* 6912 */
#define B017_m_net_0_bias 618880LL /* 256 */
#define B018_optimiser_state_2 619136LL /* 309568 */
#define B019_v_net_6_weight 619136LL /* 6912 */
#define B020_v_net_6_bias 626048LL /* 64 */
#define B021_v_net_4_weight 626112LL /* 147456 */
#define B022_v_net_4_bias 773568LL /* 256 */
#define B023_v_net_2_weight 773824LL /* 147456 */
#define B024_v_net_2_bias 921280LL /* 256 */
#define B025_v_net_0_weight 921536LL /* 6912 */
#define B026_v_net_0_bias 928448LL /* 256 */
#define B027_gradients 11370432LL /* 309568 */
#define B028_d_net_6_weight 11370432LL /* 6912 */
#define B029_d_net_6_bias 11377344LL /* 64 */
#define B030_d_net_4_weight 11377408LL /* 147456 */
#define B031_d_net_4_bias 11524864LL /* 256 */
#define B032_d_net_2_weight 11525120LL /* 147456 */
#define B033_d_net_2_bias 11672576LL /* 256 */
#define B034_d_net_0_weight 11672832LL /* 6912 */
#define B035_d_net_0_bias 11679744LL /* 256 */
#define B036_net_0_weights 11716864LL /* 6912 */
#define B037_net_2_weights 9001920LL /* 592128 */
#define B038_net_4_weights 9594048LL /* 592128 */
#define B039_net_6_weights 11680000LL /* 36864 */
#define B040_net_6_weights 11723776LL /* 6912 */
#define B041_net_4_weights 10186176LL /* 592128 */
#define B042_net_2_weights 10778304LL /* 592128 */
#define B043_mse 11730688LL /* 64 */
#define B044_psnr 11730752LL /* 64 */
#define B045_noisy_cast 928704LL /* 52288 */
#define B046_net_1 4541376LL /* 1115136 */
#define B047_net_3 5656512LL /* 1115136 */
#define B048_net_2_workspace 928704LL /* 3612672 */
#define B049_net_5 6771648LL /* 1115136 */
#define B050_net_4_workspace 928704LL /* 3612672 */
#define B051_net_6 980992LL /* 49152 */
#define B052_mse_scratch 928704LL /* 512 */
#define B053_psnr_scratch 928704LL /* 512 */
#define B054_d_net_6 928704LL /* 52288 */
#define B055_net_6_scratch 980992LL /* 36928 */
#define B056_d_net_4 7886784LL /* 1115136 */
#define B057_net_4_scratch 928704LL /* 1940800 */
#define B058_d_net_2 6771648LL /* 1115136 */
#define B059_net_4_workspace 928704LL /* 3612672 */
#define B060_net_2_scratch 928704LL /* 1940800 */
#define B061_d_net_0 5656512LL /* 1048576 */
#define B062_net_2_workspace 928704LL /* 3612672 */
#define B063_noisy_cast 928704LL /* 52288 */
#define B064_net_0_scratch 980992LL /* 7168 */
#define B065_noisy_cast 928704LL /* 52288 */
#define B066_net_0_weights 980992LL /* 6912 */
#define B067_net_1 4541376LL /* 1115136 */
#define B068_net_2_weights 6771648LL /* 592128 */
#define B069_net_3 5656512LL /* 1115136 */
#define B070_net_2_workspace 928704LL /* 3612672 */
#define B071_net_4_weights 6771648LL /* 592128 */
#define B072_net_5 4541376LL /* 1115136 */
#define B073_net_4_workspace 928704LL /* 3612672 */
#define B074_net_6_weights 977856LL /* 36864 */
#define B075_net_6 928704LL /* 49152 */
#define B076_mse 978368LL /* 64 */
#define B077_mse_scratch 977856LL /* 512 */
#define B078_psnr 978432LL /* 64 */
#define B079_psnr_scratch 977856LL /* 512 */
#define B080_net_0_weights 7992768LL /* 6912 */
#define B081_net_2_weights 6771648LL /* 592128 */
#define B082_net_4_weights 7363776LL /* 592128 */
#define B083_net_6_weights 7955904LL /* 36864 */
#define B084_noisy 928704LL /* 52288 */
#define B085_net_1 4541376LL /* 1115136 */
#define B086_net_3 5656512LL /* 1115136 */
#define B087_net_2_workspace 928704LL /* 3612672 */
#define B088_net_5 4541376LL /* 1115136 */
#define B089_net_4_workspace 928704LL /* 3612672 */
#define B090_net_6 928704LL /* 49152 */

/* ---- the kernels ---- */

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
