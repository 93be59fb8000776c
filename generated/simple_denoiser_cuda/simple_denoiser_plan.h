/* simple_denoiser_plan.h - where the buffers of simple_denoiser lie, and what launches its kernels
 *
 * Made by unetc from simple_denoiser.unet (00438fdc504441cc) with: --target=cuda --precision=bf16 --size=64x64
 * Do not edit: change the .unet file and compile again. */
#ifndef UNETC_SIMPLE_DENOISER_PLAN_H
#define UNETC_SIMPLE_DENOISER_PLAN_H

#include <unet/cuda.h>

typedef float real;
typedef uint16_t stored;

/* ---- where the buffers lie in the arena: offset, bytes ---- */
#define B000_parameters 0LL /* 309760 */
#define B001_net_6_weight 0LL /* 6912 */
#define B002_net_6_bias 6912LL /* 16 */
#define B003_net_4_weight 6928LL /* 147456 */
#define B004_net_4_bias 154384LL /* 256 */
#define B005_net_2_weight 154640LL /* 147456 */
#define B006_net_2_bias 302096LL /* 256 */
#define B007_net_0_weight 302352LL /* 6912 */
#define B008_net_0_bias 309264LL /* 256 */
#define B009_optimiser_state_1 309760LL /* 309760 */
#define B010_m_net_6_weight 309760LL /* 6912 */
#define B011_m_net_6_bias 316672LL /* 16 */
#define B012_m_net_4_weight 316688LL /* 147456 */
#define B013_m_net_4_bias 464144LL /* 256 */
#define B014_m_net_2_weight 464400LL /* 147456 */
#define B015_m_net_2_bias 611856LL /* 256 */
#define B016_m_net_0_weight 612112LL /* 6912 */
#define B017_m_net_0_bias 619024LL /* 256 */
#define B018_optimiser_state_2 619520LL /* 309760 */
#define B019_v_net_6_weight 619520LL /* 6912 */
#define B020_v_net_6_bias 626432LL /* 16 */
#define B021_v_net_4_weight 626448LL /* 147456 */
#define B022_v_net_4_bias 773904LL /* 256 */
#define B023_v_net_2_weight 774160LL /* 147456 */
#define B024_v_net_2_bias 921616LL /* 256 */
#define B025_v_net_0_weight 921872LL /* 6912 */
#define B026_v_net_0_bias 928784LL /* 256 */
#define B027_gradients 929280LL /* 309760 */
#define B028_d_net_6_weight 929280LL /* 6912 */
#define B029_d_net_6_bias 936192LL /* 16 */
#define B030_d_net_4_weight 936208LL /* 147456 */
#define B031_d_net_4_bias 1083664LL /* 256 */
#define B032_d_net_2_weight 1083920LL /* 147456 */
#define B033_d_net_2_bias 1231376LL /* 256 */
#define B034_d_net_0_weight 1231632LL /* 6912 */
#define B035_d_net_0_bias 1238544LL /* 256 */
#define B036_results 48917248LL /* 256 */
#define B037_mse 48917248LL /* 16 */
#define B038_psnr 48917264LL /* 16 */
#define B039_control 48917504LL /* 256 */
#define B040_noisy 47066624LL /* 393216 */
#define B041_clean 47459840LL /* 393216 */
#define B042_noisy_cast 47853056LL /* 393216 */
#define B043_net_0_filters 37629440LL /* 9472 */
#define B044_net_1 34483712LL /* 3145728 */
#define B045_net_0_workspace 929280LL /* 33554432 */
#define B046_net_2_filters 48738048LL /* 73984 */
#define B047_net_3 37629440LL /* 3145728 */
#define B048_net_2_workspace 929280LL /* 33554432 */
#define B049_net_4_filters 48812032LL /* 73984 */
#define B050_net_5 40775168LL /* 3145728 */
#define B051_net_4_workspace 929280LL /* 33554432 */
#define B052_net_6_filters 48898560LL /* 9472 */
#define B053_net_6 43920896LL /* 393216 */
#define B054_net_6_workspace 929280LL /* 33554432 */
#define B055_mse_scratch 929280LL /* 256 */
#define B056_psnr_scratch 929536LL /* 256 */
#define B057_d_net_6 48246272LL /* 393216 */
#define B058_net_6_sums_for_bias 48886016LL /* 12544 */
#define B059_net_6_scratch 929280LL /* 33554432 */
#define B060_net_6_packed_gradient 48908032LL /* 9216 */
#define B061_d_net_4 43920896LL /* 3145728 */
#define B062_net_6_workspace 929280LL /* 33554432 */
#define B063_net_4_sums_for_bias 48639488LL /* 98560 */
#define B064_net_4_scratch 929280LL /* 33554432 */
#define B065_net_4_packed_gradient 48344832LL /* 73728 */
#define B066_d_net_2 40775168LL /* 3145728 */
#define B067_net_4_workspace 929280LL /* 33554432 */
#define B068_net_2_sums_for_bias 48246272LL /* 98560 */
#define B069_net_2_scratch 929280LL /* 33554432 */
#define B070_net_2_packed_gradient 44019456LL /* 73728 */
#define B071_d_net_0 37629440LL /* 3145728 */
#define B072_net_2_workspace 929280LL /* 33554432 */
#define B073_net_0_sums_for_bias 43920896LL /* 98560 */
#define B074_net_0_scratch 929280LL /* 33554432 */
#define B075_net_0_packed_gradient 34483712LL /* 9216 */
#define B076_results 929280LL /* 256 */
#define B077_mse 929280LL /* 16 */
#define B078_psnr 929296LL /* 16 */
#define B079_control 35671808LL /* 256 */
#define B080_noisy 929280LL /* 65536 */
#define B081_clean 35606272LL /* 65536 */
#define B082_noisy_cast 35008000LL /* 65536 */
#define B083_net_0_filters 35073536LL /* 9472 */
#define B084_net_1 34483712LL /* 524288 */
#define B085_net_0_workspace 929280LL /* 33554432 */
#define B086_net_2_filters 35532288LL /* 73984 */
#define B087_net_3 35008000LL /* 524288 */
#define B088_net_2_workspace 929280LL /* 33554432 */
#define B089_net_4_filters 35532288LL /* 73984 */
#define B090_net_5 34483712LL /* 524288 */
#define B091_net_4_workspace 929280LL /* 33554432 */
#define B092_net_6_filters 35073536LL /* 9472 */
#define B093_net_6 35008000LL /* 65536 */
#define B094_net_6_workspace 929280LL /* 33554432 */
#define B095_mse_scratch 929536LL /* 256 */
#define B096_psnr_scratch 929792LL /* 256 */
#define B097_net_0_filters 35680256LL /* 9472 */
#define B098_net_2_filters 35532288LL /* 73984 */
#define B099_net_4_filters 35606272LL /* 73984 */
#define B100_net_6_filters 35689728LL /* 9472 */
#define B101_control 35699200LL /* 256 */
#define B102_noisy 929280LL /* 65536 */
#define B103_noisy_cast 35008000LL /* 65536 */
#define B104_net_1 34483712LL /* 524288 */
#define B105_net_0_workspace 929280LL /* 33554432 */
#define B106_net_3 35008000LL /* 524288 */
#define B107_net_2_workspace 929280LL /* 33554432 */
#define B108_net_5 34483712LL /* 524288 */
#define B109_net_4_workspace 929280LL /* 33554432 */
#define B110_net_6 35008000LL /* 65536 */
#define B111_net_6_workspace 929280LL /* 33554432 */

/* ---- the launchers of simple_denoiser_kernels.cu ---- */

typedef void simple_denoiser_cast_kernel(UnetLaunch at, Rows rows, stored *y, const void *x);
simple_denoiser_cast_kernel simple_denoiser_cast_0, simple_denoiser_cast_1;

typedef void simple_denoiser_filter_pack_kernel(UnetLaunch at, stored *packed, const real *w, const real *b);
simple_denoiser_filter_pack_kernel simple_denoiser_filter_pack_0, simple_denoiser_filter_pack_1,
    simple_denoiser_filter_pack_2;

typedef void simple_denoiser_conv_kernel(UnetLaunch at, stored *y, void *workspace, const stored *const *x,
    const stored *packed, const real *b);
simple_denoiser_conv_kernel simple_denoiser_conv_0, simple_denoiser_conv_1, simple_denoiser_conv_2,
    simple_denoiser_conv_3, simple_denoiser_conv_4, simple_denoiser_conv_5;

typedef void simple_denoiser_mse_kernel(UnetLaunch at, Rows rows, double *result, double *scratch,
    const void *p, const void *t);
simple_denoiser_mse_kernel simple_denoiser_mse_0, simple_denoiser_mse_1;

typedef void simple_denoiser_psnr_kernel(UnetLaunch at, Rows rows, double *result, double *scratch,
    const void *p, const void *t);
simple_denoiser_psnr_kernel simple_denoiser_psnr_0, simple_denoiser_psnr_1;

void simple_denoiser_mse_grad_0(UnetLaunch at, Rows rows, stored *dp, real *sums, const void *p, const void *t,
    const double *scale);

typedef void simple_denoiser_conv_wgrad_kernel(UnetLaunch at, real *, real *, void *scratch, real *,
    real *packed, const stored *const *x, const stored *dy);
simple_denoiser_conv_wgrad_kernel simple_denoiser_conv_wgrad_0, simple_denoiser_conv_wgrad_1,
    simple_denoiser_conv_wgrad_2;

typedef void simple_denoiser_conv_dgrad_kernel(UnetLaunch at, stored *dx, void *workspace, real *sums,
    const stored *dy, const stored *packed, const stored *m, const stored *a);
simple_denoiser_conv_dgrad_kernel simple_denoiser_conv_dgrad_0, simple_denoiser_conv_dgrad_1;

typedef void simple_denoiser_filter_unpack_kernel(UnetLaunch at, real *dw, real *db, const real *packed,
    const real *summed);
simple_denoiser_filter_unpack_kernel simple_denoiser_filter_unpack_0, simple_denoiser_filter_unpack_1,
    simple_denoiser_filter_unpack_2;

void simple_denoiser_adam_0(UnetLaunch at, real *p, const real *g, void *m, void *v, void *most, real *average,
    const double *scale, const double *norm, unsigned decayed);

#endif
