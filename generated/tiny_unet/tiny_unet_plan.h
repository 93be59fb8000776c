/* tiny_unet_plan.h - where the buffers of tiny_unet lie, and its kernels
 *
 * Made by unetc from tiny_unet.unet (16d462818c889222) with: --size=64x64 --kernels=reference
 * Do not edit: change the .unet file and compile again. */
#ifndef UNETC_TINY_UNET_PLAN_H
#define UNETC_TINY_UNET_PLAN_H

#include "tiny_unet_kernels.h"

/* ---- where the buffers lie in the arena: offset, bytes ---- */
#define B000_parameters 0LL /* 1928320 */
#define B001_final_weight 0LL /* 192 */
#define B002_final_bias 192LL /* 64 */
#define B003_dec1_2_weight 256LL /* 9216 */
#define B004_dec1_2_bias 9472LL /* 64 */
#define B005_dec1_0_weight 9536LL /* 18432 */
#define B006_dec1_0_bias 27968LL /* 64 */
#define B007_up1_weight 28032LL /* 8192 */
#define B008_up1_bias 36224LL /* 64 */
#define B009_dec2_2_weight 36288LL /* 36864 */
#define B010_dec2_2_bias 73152LL /* 128 */
#define B011_dec2_0_weight 73280LL /* 73728 */
#define B012_dec2_0_bias 147008LL /* 128 */
#define B013_up2_weight 147136LL /* 32768 */
#define B014_up2_bias 179904LL /* 128 */
#define B015_dec3_2_weight 180032LL /* 147456 */
#define B016_dec3_2_bias 327488LL /* 256 */
#define B017_dec3_0_weight 327744LL /* 294912 */
#define B018_dec3_0_bias 622656LL /* 256 */
#define B019_up3_weight 622912LL /* 131072 */
#define B020_up3_bias 753984LL /* 256 */
#define B021_bottleneck_2_weight 754240LL /* 589824 */
#define B022_bottleneck_2_bias 1344064LL /* 512 */
#define B023_bottleneck_0_weight 1344576LL /* 294912 */
#define B024_bottleneck_0_bias 1639488LL /* 512 */
#define B025_enc3_2_weight 1640000LL /* 147456 */
#define B026_enc3_2_bias 1787456LL /* 256 */
#define B027_enc3_0_weight 1787712LL /* 73728 */
#define B028_enc3_0_bias 1861440LL /* 256 */
#define B029_enc2_2_weight 1861696LL /* 36864 */
#define B030_enc2_2_bias 1898560LL /* 128 */
#define B031_enc2_0_weight 1898688LL /* 18432 */
#define B032_enc2_0_bias 1917120LL /* 128 */
#define B033_enc1_2_weight 1917248LL /* 9216 */
#define B034_enc1_2_bias 1926464LL /* 64 */
#define B035_enc1_0_weight 1926528LL /* 1728 */
#define B036_enc1_0_bias 1928256LL /* 64 */
#define B037_optimiser_state_1 1928320LL /* 1928320 */
#define B038_m_final_weight 1928320LL /* 192 */
#define B039_m_final_bias 1928512LL /* 64 */
#define B040_m_dec1_2_weight 1928576LL /* 9216 */
#define B041_m_dec1_2_bias 1937792LL /* 64 */
#define B042_m_dec1_0_weight 1937856LL /* 18432 */
#define B043_m_dec1_0_bias 1956288LL /* 64 */
#define B044_m_up1_weight 1956352LL /* 8192 */
#define B045_m_up1_bias 1964544LL /* 64 */
#define B046_m_dec2_2_weight 1964608LL /* 36864 */
#define B047_m_dec2_2_bias 2001472LL /* 128 */
#define B048_m_dec2_0_weight 2001600LL /* 73728 */
#define B049_m_dec2_0_bias 2075328LL /* 128 */
#define B050_m_up2_weight 2075456LL /* 32768 */
#define B051_m_up2_bias 2108224LL /* 128 */
#define B052_m_dec3_2_weight 2108352LL /* 147456 */
#define B053_m_dec3_2_bias 2255808LL /* 256 */
#define B054_m_dec3_0_weight 2256064LL /* 294912 */
#define B055_m_dec3_0_bias 2550976LL /* 256 */
#define B056_m_up3_weight 2551232LL /* 131072 */
#define B057_m_up3_bias 2682304LL /* 256 */
#define B058_m_bottleneck_2_weight 2682560LL /* 589824 */
#define B059_m_bottleneck_2_bias 3272384LL /* 512 */
#define B060_m_bottleneck_0_weight 3272896LL /* 294912 */
#define B061_m_bottleneck_0_bias 3567808LL /* 512 */
#define B062_m_enc3_2_weight 3568320LL /* 147456 */
#define B063_m_enc3_2_bias 3715776LL /* 256 */
#define B064_m_enc3_0_weight 3716032LL /* 73728 */
#define B065_m_enc3_0_bias 3789760LL /* 256 */
#define B066_m_enc2_2_weight 3790016LL /* 36864 */
#define B067_m_enc2_2_bias 3826880LL /* 128 */
#define B068_m_enc2_0_weight 3827008LL /* 18432 */
#define B069_m_enc2_0_bias 3845440LL /* 128 */
#define B070_m_enc1_2_weight 3845568LL /* 9216 */
#define B071_m_enc1_2_bias 3854784LL /* 64 */
#define B072_m_enc1_0_weight 3854848LL /* 1728 */
#define B073_m_enc1_0_bias 3856576LL /* 64 */
#define B074_optimiser_state_2 3856640LL /* 1928320 */
#define B075_v_final_weight 3856640LL /* 192 */
#define B076_v_final_bias 3856832LL /* 64 */
#define B077_v_dec1_2_weight 3856896LL /* 9216 */
#define B078_v_dec1_2_bias 3866112LL /* 64 */
#define B079_v_dec1_0_weight 3866176LL /* 18432 */
#define B080_v_dec1_0_bias 3884608LL /* 64 */
#define B081_v_up1_weight 3884672LL /* 8192 */
#define B082_v_up1_bias 3892864LL /* 64 */
#define B083_v_dec2_2_weight 3892928LL /* 36864 */
#define B084_v_dec2_2_bias 3929792LL /* 128 */
#define B085_v_dec2_0_weight 3929920LL /* 73728 */
#define B086_v_dec2_0_bias 4003648LL /* 128 */
#define B087_v_up2_weight 4003776LL /* 32768 */
#define B088_v_up2_bias 4036544LL /* 128 */
#define B089_v_dec3_2_weight 4036672LL /* 147456 */
#define B090_v_dec3_2_bias 4184128LL /* 256 */
#define B091_v_dec3_0_weight 4184384LL /* 294912 */
#define B092_v_dec3_0_bias 4479296LL /* 256 */
#define B093_v_up3_weight 4479552LL /* 131072 */
#define B094_v_up3_bias 4610624LL /* 256 */
#define B095_v_bottleneck_2_weight 4610880LL /* 589824 */
#define B096_v_bottleneck_2_bias 5200704LL /* 512 */
#define B097_v_bottleneck_0_weight 5201216LL /* 294912 */
#define B098_v_bottleneck_0_bias 5496128LL /* 512 */
#define B099_v_enc3_2_weight 5496640LL /* 147456 */
#define B100_v_enc3_2_bias 5644096LL /* 256 */
#define B101_v_enc3_0_weight 5644352LL /* 73728 */
#define B102_v_enc3_0_bias 5718080LL /* 256 */
#define B103_v_enc2_2_weight 5718336LL /* 36864 */
#define B104_v_enc2_2_bias 5755200LL /* 128 */
#define B105_v_enc2_0_weight 5755328LL /* 18432 */
#define B106_v_enc2_0_bias 5773760LL /* 128 */
#define B107_v_enc1_2_weight 5773888LL /* 9216 */
#define B108_v_enc1_2_bias 5783104LL /* 64 */
#define B109_v_enc1_0_weight 5783168LL /* 1728 */
#define B110_v_enc1_0_bias 5784896LL /* 64 */
#define B111_gradients_1 21527552LL /* 36288 */
#define B112_d_final_weight 21527552LL /* 192 */
#define B113_d_final_bias 21527744LL /* 64 */
#define B114_d_dec1_2_weight 21527808LL /* 9216 */
#define B115_d_dec1_2_bias 21537024LL /* 64 */
#define B116_d_dec1_0_weight 21537088LL /* 18432 */
#define B117_d_dec1_0_bias 21555520LL /* 64 */
#define B118_d_up1_weight 21555584LL /* 8192 */
#define B119_d_up1_bias 21563776LL /* 64 */
#define B120_gradients_2 15154688LL /* 110848 */
#define B121_d_dec2_2_weight 15154688LL /* 36864 */
#define B122_d_dec2_2_bias 15191552LL /* 128 */
#define B123_d_dec2_0_weight 15191680LL /* 73728 */
#define B124_d_dec2_0_bias 15265408LL /* 128 */
#define B125_gradients_3 16156416LL /* 180608 */
#define B126_d_up2_weight 16156416LL /* 32768 */
#define B127_d_up2_bias 16189184LL /* 128 */
#define B128_d_dec3_2_weight 16189312LL /* 147456 */
#define B129_d_dec3_2_bias 16336768LL /* 256 */
#define B130_gradients_4 17332352LL /* 295168 */
#define B131_d_dec3_0_weight 17332352LL /* 294912 */
#define B132_d_dec3_0_bias 17627264LL /* 256 */
#define B133_gradients_5 16834688LL /* 131328 */
#define B134_d_up3_weight 16834688LL /* 131072 */
#define B135_d_up3_bias 16965760LL /* 256 */
#define B136_gradients_6 16943872LL /* 590336 */
#define B137_d_bottleneck_2_weight 16943872LL /* 589824 */
#define B138_d_bottleneck_2_bias 17533696LL /* 512 */
#define B139_gradients_7 16661248LL /* 295424 */
#define B140_d_bottleneck_0_weight 16661248LL /* 294912 */
#define B141_d_bottleneck_0_bias 16956160LL /* 512 */
#define B142_gradients_8 15763200LL /* 147712 */
#define B143_d_enc3_2_weight 15763200LL /* 147456 */
#define B144_d_enc3_2_bias 15910656LL /* 256 */
#define B145_gradients_9 14107136LL /* 110976 */
#define B146_d_enc3_0_weight 14107136LL /* 73728 */
#define B147_d_enc3_0_bias 14180864LL /* 256 */
#define B148_d_enc2_2_weight 14181120LL /* 36864 */
#define B149_d_enc2_2_bias 14217984LL /* 128 */
#define B150_gradients_10 9130368LL /* 29632 */
#define B151_d_enc2_0_weight 9130368LL /* 18432 */
#define B152_d_enc2_0_bias 9148800LL /* 128 */
#define B153_d_enc1_2_weight 9148928LL /* 9216 */
#define B154_d_enc1_2_bias 9158144LL /* 64 */
#define B155_d_enc1_0_weight 9158208LL /* 1728 */
#define B156_d_enc1_0_bias 9159936LL /* 64 */
#define B157_noisy_cast 7457664LL /* 313728 */
#define B158_enc1_1 5784960LL /* 1672704 */
#define B159_enc1_3 7457664LL /* 1672704 */
#define B160_enc2_max_pool 12578816LL /* 443904 */
#define B161_enc2_1 9130368LL /* 887808 */
#define B162_enc2_3 11691008LL /* 887808 */
#define B163_enc3_max_pool 13520384LL /* 248832 */
#define B164_enc3_1 13769216LL /* 497664 */
#define B165_enc3_3 13022720LL /* 497664 */
#define B166_bottleneck_max_pool 18305024LL /* 153600 */
#define B167_bottleneck_1 18458624LL /* 307200 */
#define B168_bottleneck_3 18765824LL /* 196608 */
#define B169_up3 18962432LL /* 497664 */
#define B170_dec3_1 17807360LL /* 497664 */
#define B171_dec3_3 19460096LL /* 393216 */
#define B172_up2 10018176LL /* 887808 */
#define B173_dec2_1 19853312LL /* 887808 */
#define B174_dec2_3 20741120LL /* 786432 */
#define B175_up1 10018176LL /* 1672704 */
#define B176_dec1_1 14266880LL /* 1672704 */
#define B177_dec1_3 15939584LL /* 1572864 */
#define B178_final 10021376LL /* 294912 */
#define B179_d_final 17512448LL /* 294912 */
#define B180_psnr 10018176LL /* 64 */
#define B181_psnr_scratch 10018240LL /* 3072 */
#define B182_mse 10018240LL /* 64 */
#define B183_mse_scratch 10018304LL /* 3072 */
#define B184_final_scratch 10018304LL /* 448 */
#define B185_d_dec1_2 10018304LL /* 1672704 */
#define B186_d_dec1_0 15939584LL /* 1672704 */
#define B187_dec1_2_scratch 17612288LL /* 18560 */
#define B188_up1 10018304LL /* 1672704 */
#define B189_dec1_0_scratch 14266880LL /* 36992 */
#define B190_d_up1 14266880LL /* 1572864 */
#define B191_up1_scratch 10018304LL /* 16512 */
#define B192_d_enc1_3 10018304LL /* 1672704 */
#define B193_d_dec2_2 15839744LL /* 887808 */
#define B194_dec2_2_scratch 14266880LL /* 73984 */
#define B195_d_dec2_0 14266880LL /* 887808 */
#define B196_up2 15265536LL /* 887808 */
#define B197_dec2_0_scratch 16153344LL /* 147712 */
#define B198_d_up2 15265536LL /* 786432 */
#define B199_up2_scratch 16051968LL /* 65792 */
#define B200_d_dec3_2 16337024LL /* 497664 */
#define B201_d_dec3_0 16834688LL /* 497664 */
#define B202_dec3_0_scratch 15265536LL /* 590336 */
#define B203_d_up3 15763200LL /* 393216 */
#define B204_d_enc3_3 15265536LL /* 497664 */
#define B205_up3_scratch 16966016LL /* 262656 */
#define B206_dec3_2_scratch 16966016LL /* 295424 */
#define B207_d_bottleneck_2 17534208LL /* 307200 */
#define B208_bottleneck_2_scratch 15763200LL /* 1180672 */
#define B209_d_bottleneck_0 15763200LL /* 307200 */
#define B210_bottleneck_0_scratch 16070400LL /* 590848 */
#define B211_d_bottleneck_max_pool 16070400LL /* 98304 */
#define B212_d_enc3_2 15265536LL /* 497664 */
#define B213_enc3_2_scratch 13022720LL /* 295424 */
#define B214_d_enc3_0 13022720LL /* 497664 */
#define B215_enc3_0_scratch 13769216LL /* 147968 */
#define B216_d_enc3_max_pool 13910528LL /* 196608 */
#define B217_d_enc2_3 13022720LL /* 887808 */
#define B218_d_enc2_2 13022720LL /* 887808 */
#define B219_enc2_2_scratch 11691008LL /* 73984 */
#define B220_d_enc2_0 11691008LL /* 887808 */
#define B221_enc2_0_scratch 9160000LL /* 37120 */
#define B222_d_enc2_max_pool 9160000LL /* 393216 */
#define B223_d_enc1_2 10018304LL /* 1672704 */
#define B224_d_enc1_0 7457664LL /* 1572864 */
#define B225_enc1_2_scratch 9030528LL /* 18560 */
#define B226_noisy_cast 5784960LL /* 313728 */
#define B227_enc1_0_scratch 6098688LL /* 3584 */
#define B228_noisy_cast 5784960LL /* 52288 */
#define B229_enc1_1 6063744LL /* 278784 */
#define B230_enc1_3 5784960LL /* 278784 */
#define B231_enc2_max_pool 6211712LL /* 73984 */
#define B232_enc2_1 6063744LL /* 147968 */
#define B233_enc2_3 6359680LL /* 147968 */
#define B234_enc3_max_pool 6063744LL /* 41472 */
#define B235_enc3_1 6146688LL /* 82944 */
#define B236_enc3_3 6063744LL /* 82944 */
#define B237_bottleneck_max_pool 6146688LL /* 25600 */
#define B238_bottleneck_1 6179456LL /* 51200 */
#define B239_bottleneck_3 6146688LL /* 32768 */
#define B240_up3 6229632LL /* 82944 */
#define B241_dec3_1 6146688LL /* 82944 */
#define B242_dec3_3 6063744LL /* 65536 */
#define B243_up2 6211712LL /* 147968 */
#define B244_dec2_1 6063744LL /* 147968 */
#define B245_dec2_3 6342528LL /* 131072 */
#define B246_up1 6063744LL /* 278784 */
#define B247_dec1_1 6342528LL /* 278784 */
#define B248_dec1_3 5784960LL /* 262144 */
#define B249_final 6047104LL /* 49152 */
#define B250_mse 5785472LL /* 64 */
#define B251_mse_scratch 5784960LL /* 512 */
#define B252_psnr 5785536LL /* 64 */
#define B253_psnr_scratch 5784960LL /* 512 */
#define B254_noisy 5784960LL /* 52288 */
#define B255_enc1_1 6063744LL /* 278784 */
#define B256_enc1_3 5784960LL /* 278784 */
#define B257_enc2_max_pool 6211712LL /* 73984 */
#define B258_enc2_1 6063744LL /* 147968 */
#define B259_enc2_3 6359680LL /* 147968 */
#define B260_enc3_max_pool 6063744LL /* 41472 */
#define B261_enc3_1 6146688LL /* 82944 */
#define B262_enc3_3 6063744LL /* 82944 */
#define B263_bottleneck_max_pool 6146688LL /* 25600 */
#define B264_bottleneck_1 6179456LL /* 51200 */
#define B265_bottleneck_3 6146688LL /* 32768 */
#define B266_up3 6229632LL /* 82944 */
#define B267_dec3_1 6146688LL /* 82944 */
#define B268_dec3_3 6063744LL /* 65536 */
#define B269_up2 6211712LL /* 147968 */
#define B270_dec2_1 6063744LL /* 147968 */
#define B271_dec2_3 6342528LL /* 131072 */
#define B272_up1 6063744LL /* 278784 */
#define B273_dec1_1 6342528LL /* 278784 */
#define B274_dec1_3 5784960LL /* 262144 */
#define B275_final 6047104LL /* 49152 */

/* ---- the kernels ---- */

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
