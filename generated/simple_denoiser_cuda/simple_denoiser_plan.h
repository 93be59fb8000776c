/* simple_denoiser_plan.h - where the buffers of simple_denoiser lie, and what launches its kernels
 *
 * Made by unetc from simple_denoiser.unet (00438fdc504441cc) with: --target=cuda --precision=bf16 --size=64x64
 * Do not edit: change the .unet file and compile again. */
#ifndef SIMPLE_DENOISER_PLAN_H
#define SIMPLE_DENOISER_PLAN_H

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
#define B027_gradients 48797696LL /* 309760 */
#define B028_d_net_6_weight 48797696LL /* 6912 */
#define B029_d_net_6_bias 48804608LL /* 16 */
#define B030_d_net_4_weight 48804624LL /* 147456 */
#define B031_d_net_4_bias 48952080LL /* 256 */
#define B032_d_net_2_weight 48952336LL /* 147456 */
#define B033_d_net_2_bias 49099792LL /* 256 */
#define B034_d_net_0_weight 49100048LL /* 6912 */
#define B035_d_net_0_bias 49106960LL /* 256 */
#define B036_control 42348288LL /* 256 */
#define B037_noisy 41168640LL /* 393216 */
#define B038_clean 41561856LL /* 393216 */
#define B039_noisy_cast 41955072LL /* 393216 */
#define B040_net_0_filters 34483712LL /* 9472 */
#define B041_net_1 38022912LL /* 3145728 */
#define B042_net_0_workspace 929280LL /* 33554432 */
#define B043_net_2_filters 45494272LL /* 73984 */
#define B044_net_3 42348544LL /* 3145728 */
#define B045_net_2_workspace 929280LL /* 33554432 */
#define B046_net_4_filters 48713984LL /* 73984 */
#define B047_net_5 45568256LL /* 3145728 */
#define B048_net_4_workspace 929280LL /* 33554432 */
#define B049_net_6_filters 48787968LL /* 9472 */
#define B050_net_6 34483712LL /* 393216 */
#define B051_net_6_workspace 929280LL /* 33554432 */
#define B052_mse 929280LL /* 256 */
#define B053_mse_scratch 929536LL /* 256 */
#define B054_psnr 48797440LL /* 256 */
#define B055_psnr_scratch 929536LL /* 256 */
#define B056_d_net_6 929536LL /* 393216 */
#define B057_net_6_scratch 1322752LL /* 33576192 */
#define B058_d_net_4 34877184LL /* 3145728 */
#define B059_net_6_workspace 1322752LL /* 33554432 */
#define B060_net_4_sums_for_bias 49107456LL /* 98560 */
#define B061_net_4_scratch 929536LL /* 33628160 */
#define B062_d_net_2 45568256LL /* 3145728 */
#define B063_net_4_workspace 929536LL /* 33554432 */
#define B064_net_2_sums_for_bias 34557696LL /* 98560 */
#define B065_net_2_scratch 929536LL /* 33628160 */
#define B066_d_net_0 34493184LL /* 3145728 */
#define B067_net_2_workspace 929536LL /* 33554432 */
#define B068_net_0_sums_for_bias 37638912LL /* 98560 */
#define B069_net_0_scratch 929536LL /* 33563648 */
#define B070_control 35671808LL /* 256 */
#define B071_noisy 929280LL /* 65536 */
#define B072_clean 35606272LL /* 65536 */
#define B073_noisy_cast 35008000LL /* 65536 */
#define B074_net_0_filters 35073536LL /* 9472 */
#define B075_net_1 34483712LL /* 524288 */
#define B076_net_0_workspace 929280LL /* 33554432 */
#define B077_net_2_filters 35532288LL /* 73984 */
#define B078_net_3 35008000LL /* 524288 */
#define B079_net_2_workspace 929280LL /* 33554432 */
#define B080_net_4_filters 35532288LL /* 73984 */
#define B081_net_5 34483712LL /* 524288 */
#define B082_net_4_workspace 929280LL /* 33554432 */
#define B083_net_6_filters 35073536LL /* 9472 */
#define B084_net_6 35008000LL /* 65536 */
#define B085_net_6_workspace 929280LL /* 33554432 */
#define B086_mse 929280LL /* 256 */
#define B087_mse_scratch 929536LL /* 256 */
#define B088_psnr 929536LL /* 256 */
#define B089_psnr_scratch 929792LL /* 256 */
#define B090_net_0_filters 35680256LL /* 9472 */
#define B091_net_2_filters 35532288LL /* 73984 */
#define B092_net_4_filters 35606272LL /* 73984 */
#define B093_net_6_filters 35689728LL /* 9472 */
#define B094_control 35699200LL /* 256 */
#define B095_noisy 929280LL /* 65536 */
#define B096_noisy_cast 35008000LL /* 65536 */
#define B097_net_1 34483712LL /* 524288 */
#define B098_net_0_workspace 929280LL /* 33554432 */
#define B099_net_3 35008000LL /* 524288 */
#define B100_net_2_workspace 929280LL /* 33554432 */
#define B101_net_5 34483712LL /* 524288 */
#define B102_net_4_workspace 929280LL /* 33554432 */
#define B103_net_6 35008000LL /* 65536 */
#define B104_net_6_workspace 929280LL /* 33554432 */

/* ---- the launchers of simple_denoiser_kernels.cu ---- */

void simple_denoiser_cast_0(UnetLaunch at, Rows rows, stored *y, const void *x);
void simple_denoiser_cast_1(UnetLaunch at, Rows rows, stored *y, const void *x);

void simple_denoiser_filter_pack_0(UnetLaunch at, stored *packed, const real *w, const real *b);
void simple_denoiser_filter_pack_1(UnetLaunch at, stored *packed, const real *w, const real *b);
void simple_denoiser_filter_pack_2(UnetLaunch at, stored *packed, const real *w, const real *b);

void simple_denoiser_conv_0(UnetLaunch at, stored *y, void *workspace, const stored *const *x,
    const stored *packed, const real *b);
void simple_denoiser_conv_1(UnetLaunch at, stored *y, void *workspace, const stored *const *x,
    const stored *packed, const real *b);
void simple_denoiser_conv_2(UnetLaunch at, stored *y, void *workspace, const stored *const *x,
    const stored *packed, const real *b);
void simple_denoiser_conv_3(UnetLaunch at, stored *y, void *workspace, const stored *const *x,
    const stored *packed, const real *b);
void simple_denoiser_conv_4(UnetLaunch at, stored *y, void *workspace, const stored *const *x,
    const stored *packed, const real *b);
void simple_denoiser_conv_5(UnetLaunch at, stored *y, void *workspace, const stored *const *x,
    const stored *packed, const real *b);

void simple_denoiser_mse_0(UnetLaunch at, Rows rows, double *result, double *scratch, const void *p,
    const void *t);
void simple_denoiser_mse_1(UnetLaunch at, Rows rows, double *result, double *scratch, const void *p,
    const void *t);

void simple_denoiser_psnr_0(UnetLaunch at, Rows rows, double *result, double *scratch, const void *p,
    const void *t);
void simple_denoiser_psnr_1(UnetLaunch at, Rows rows, double *result, double *scratch, const void *p,
    const void *t);

void simple_denoiser_mse_grad_0(UnetLaunch at, Rows rows, stored *dp, const void *p, const void *t,
    const double *scale);

void simple_denoiser_conv_wgrad_0(UnetLaunch at, real *dw, real *db, real *scratch, const stored *const *x,
    const stored *dy, const real *summed);
void simple_denoiser_conv_wgrad_1(UnetLaunch at, real *dw, real *db, real *scratch, const stored *const *x,
    const stored *dy, const real *summed);
void simple_denoiser_conv_wgrad_2(UnetLaunch at, real *dw, real *db, real *scratch, const stored *const *x,
    const stored *dy, const real *summed);

void simple_denoiser_conv_dgrad_0(UnetLaunch at, stored *dx, void *workspace, real *sums, const stored *dy,
    const stored *packed, const stored *m);
void simple_denoiser_conv_dgrad_1(UnetLaunch at, stored *dx, void *workspace, real *sums, const stored *dy,
    const stored *packed, const stored *m);

void simple_denoiser_adam_0(UnetLaunch at, real *p, const real *g, real *m, real *v, real *most, real *average,
    const double *scale, const double *norm);

#endif
