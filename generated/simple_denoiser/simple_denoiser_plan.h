/* simple_denoiser_plan.h - where the buffers of simple_denoiser lie, and its kernels
 *
 * Made by unetc from simple_denoiser.unet (00438fdc504441cc) with: --size=64x64
 * Do not edit: change the .unet file and compile again. */
#ifndef SIMPLE_DENOISER_PLAN_H
#define SIMPLE_DENOISER_PLAN_H

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
#define B027_gradients 5603520LL /* 309568 */
#define B028_d_net_6_weight 5603520LL /* 6912 */
#define B029_d_net_6_bias 5610432LL /* 64 */
#define B030_d_net_4_weight 5610496LL /* 147456 */
#define B031_d_net_4_bias 5757952LL /* 256 */
#define B032_d_net_2_weight 5758208LL /* 147456 */
#define B033_d_net_2_bias 5905664LL /* 256 */
#define B034_d_net_0_weight 5905920LL /* 6912 */
#define B035_d_net_0_bias 5912832LL /* 256 */
#define B036_net_0_weights 6539776LL /* 6912 */
#define B037_net_2_weights 5913088LL /* 147456 */
#define B038_net_4_weights 6060544LL /* 147456 */
#define B039_net_6_weights 6502912LL /* 36864 */
#define B040_net_6_weights 6546688LL /* 6912 */
#define B041_net_4_weights 6208000LL /* 147456 */
#define B042_net_2_weights 6355456LL /* 147456 */
#define B043_mse 6553600LL /* 64 */
#define B044_psnr 6553664LL /* 64 */
#define B045_net_1 4488384LL /* 1115136 */
#define B046_net_3 928704LL /* 1115136 */
#define B047_net_5 2043840LL /* 1115136 */
#define B048_net_6 3211264LL /* 49152 */
#define B049_mse_scratch 3158976LL /* 128 */
#define B050_psnr_scratch 3158976LL /* 128 */
#define B051_d_net_6 3158976LL /* 52288 */
#define B052_net_6_scratch 3211264LL /* 627776 */
#define B053_d_net_4 3373248LL /* 1115136 */
#define B054_net_4_scratch 2043840LL /* 1329408 */
#define B055_d_net_2 2258112LL /* 1115136 */
#define B056_net_2_scratch 928704LL /* 1329408 */
#define B057_d_net_0 928704LL /* 1048576 */
#define B058_net_0_scratch 1977280LL /* 236544 */
#define B059_net_0_weights 3490752LL /* 6912 */
#define B060_net_2_weights 3158976LL /* 147456 */
#define B061_net_4_weights 3306432LL /* 147456 */
#define B062_net_6_weights 3453888LL /* 36864 */
#define B063_net_1 928704LL /* 1115136 */
#define B064_net_3 2043840LL /* 1115136 */
#define B065_net_5 928704LL /* 1115136 */
#define B066_net_6 2043840LL /* 49152 */

/* ---- the kernels ---- */

void simple_denoiser_conv_pack_0(real *restrict packed, const real *restrict w);
void simple_denoiser_conv_pack_1(real *restrict packed, const real *restrict w);
void simple_denoiser_conv_pack_2(real *restrict packed, const real *restrict w);

void simple_denoiser_conv_dgrad_pack_0(real *restrict packed, const real *restrict w);
void simple_denoiser_conv_dgrad_pack_1(real *restrict packed, const real *restrict w);

void simple_denoiser_zero_0(void *sum, size_t bytes);

void simple_denoiser_conv_0(int n, stored *restrict y, const stored *const *x, const real *w, const real *b);
void simple_denoiser_conv_1(int n, stored *restrict y, const stored *const *x, const real *w, const real *b);
void simple_denoiser_conv_2(int n, stored *restrict y, const stored *const *x, const real *w, const real *b);

void simple_denoiser_zero_halo_0(int n, Rows rows, stored *y);
void simple_denoiser_zero_halo_1(int n, Rows rows, stored *y);

void simple_denoiser_mse_0(int n, double *result, double *scratch, const void *p, const void *t,
    const int32_t (*valid)[3]);

void simple_denoiser_psnr_0(int n, double *result, double *scratch, const void *p, const void *t,
    const int32_t (*valid)[3]);

void simple_denoiser_mse_grad_0(int n, int total, Rows rows, stored *dp, const void *p, const void *t,
    const double *scale);

void simple_denoiser_conv_wgrad_0(int n, real *restrict dw, real *restrict db, real *restrict scratch,
    const stored *const *x, const stored *dy);
void simple_denoiser_conv_wgrad_1(int n, real *restrict dw, real *restrict db, real *restrict scratch,
    const stored *const *x, const stored *dy);
void simple_denoiser_conv_wgrad_2(int n, real *restrict dw, real *restrict db, real *restrict scratch,
    const stored *const *x, const stored *dy);

void simple_denoiser_conv_dgrad_0(int n, stored *restrict dx, const stored *dy, const real *w, const stored *m);
void simple_denoiser_conv_dgrad_1(int n, stored *restrict dx, const stored *dy, const real *w, const stored *m);
void simple_denoiser_conv_dgrad_2(int n, stored *restrict dx, const stored *dy, const real *w, const stored *m);

void simple_denoiser_adam_0(real *restrict p, const real *restrict g, real *restrict m, real *restrict v,
    const double *scale, double rate, int64_t step);

#endif
