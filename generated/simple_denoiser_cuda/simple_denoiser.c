/* simple_denoiser.c - what the programs of simple_denoiser launch, and its tables
 *
 * Made by unetc from simple_denoiser.unet (00438fdc504441cc) with: --target=cuda --precision=bf16 --size=64x64
 * Do not edit: change the .unet file and compile again. */
#include "simple_denoiser.h"
#include "simple_denoiser_plan.h"

#include <unet/cuda_device.h>

#if UNET_RUNTIME_VERSION != 15
#error "made for another version of the runtime: compile the .unet file again"
#endif

/* A place in the arena. */
#define AT(type, offset) ((type *)(void *)(arena + (offset)))

/* ---- train: batch 6, 48,917,760 bytes of the arena ---- */

static void train(UnetLaunch at, char *arena) {
    /* 3 to 7: one launch */
    at.more = 1;
    /* 3: cast of noisy cast (simple_denoiser.unet:4): noisy[n,3,64,64] -> noisy cast[n,3,64,64] */
    at.step = "cast of noisy cast";
    simple_denoiser_cast_0(at, (Rows){0, 64}, AT(stored, B042_noisy_cast), AT(real, B040_noisy));
    /* 4: filter_pack of net.0 (simple_denoiser.unet:7): net.0.weight[64,3,3,3] net.0.bias[64]
        -> net.0 filters[4672] */
    at.step = "filter_pack of net.0";
    simple_denoiser_filter_pack_0(at, AT(stored, B043_net_0_filters), AT(real, B007_net_0_weight),
        AT(real, B008_net_0_bias));
    /* 5: filter_pack of net.2 (simple_denoiser.unet:8): net.2.weight[64,64,3,3] net.2.bias[64]
        -> net.2 filters[36928] */
    at.step = "filter_pack of net.2";
    simple_denoiser_filter_pack_1(at, AT(stored, B046_net_2_filters), AT(real, B005_net_2_weight),
        AT(real, B006_net_2_bias));
    /* 6: filter_pack of net.4 (simple_denoiser.unet:9): net.4.weight[64,64,3,3] net.4.bias[64]
        -> net.4 filters[36928] */
    at.step = "filter_pack of net.4";
    simple_denoiser_filter_pack_1(at, AT(stored, B049_net_4_filters), AT(real, B003_net_4_weight),
        AT(real, B004_net_4_bias));
    at.more = 0;
    /* 7: filter_pack of net.6 (simple_denoiser.unet:10): net.6.weight[3,64,3,3] net.6.bias[3]
        -> net.6 filters[4616] */
    at.step = "filter_pack of net.6";
    simple_denoiser_filter_pack_2(at, AT(stored, B052_net_6_filters), AT(real, B001_net_6_weight),
        AT(real, B002_net_6_bias));
    /* 8: conv of net.0 (simple_denoiser.unet:7): noisy cast[n,3,64,64] net.0 filters[4672] net.0.bias[64]
        -> net.1[n,64,64,64] net.0 workspace[33554432] */
    at.step = "conv of net.0";
    simple_denoiser_conv_0(at, AT(stored, B044_net_1), AT(uint8_t, B045_net_0_workspace),
        (const stored *const[]){AT(stored, B042_noisy_cast)}, AT(stored, B043_net_0_filters),
        AT(real, B008_net_0_bias));
    /* 9: conv of net.2 (simple_denoiser.unet:8): net.1[n,64,64,64] net.2 filters[36928] net.2.bias[64]
        -> net.3[n,64,64,64] net.2 workspace[33554432] */
    at.step = "conv of net.2";
    simple_denoiser_conv_1(at, AT(stored, B047_net_3), AT(uint8_t, B048_net_2_workspace),
        (const stored *const[]){AT(stored, B044_net_1)}, AT(stored, B046_net_2_filters),
        AT(real, B006_net_2_bias));
    /* 10: conv of net.4 (simple_denoiser.unet:9): net.3[n,64,64,64] net.4 filters[36928] net.4.bias[64]
        -> net.5[n,64,64,64] net.4 workspace[33554432] */
    at.step = "conv of net.4";
    simple_denoiser_conv_1(at, AT(stored, B050_net_5), AT(uint8_t, B051_net_4_workspace),
        (const stored *const[]){AT(stored, B047_net_3)}, AT(stored, B049_net_4_filters),
        AT(real, B004_net_4_bias));
    /* 11: conv of net.6 (simple_denoiser.unet:10): net.5[n,64,64,64] net.6 filters[4616] net.6.bias[3]
        -> net.6[n,3,64,64] net.6 workspace[33554432] */
    at.step = "conv of net.6";
    simple_denoiser_conv_2(at, AT(stored, B053_net_6), AT(uint8_t, B054_net_6_workspace),
        (const stored *const[]){AT(stored, B050_net_5)}, AT(stored, B052_net_6_filters),
        AT(real, B002_net_6_bias));
    /* 12 to 13: one launch */
    at.more = 1;
    /* 12: mse (simple_denoiser.unet:21): net.6[n,3,64,64] clean[n,3,64,64] -> mse[1] mse scratch[12] */
    at.step = "mse";
    simple_denoiser_mse_0(at, (Rows){0, 64}, AT(double, B037_mse), AT(double, B055_mse_scratch),
        AT(stored, B053_net_6), AT(real, B041_clean));
    at.more = 0;
    /* 13: psnr (simple_denoiser.unet:22): net.6[n,3,64,64] clean[n,3,64,64] -> psnr[1] psnr scratch[12] */
    at.step = "psnr";
    simple_denoiser_psnr_0(at, (Rows){0, 64}, AT(double, B038_psnr), AT(double, B056_psnr_scratch),
        AT(stored, B053_net_6), AT(real, B041_clean));
    /* 14: mse_grad of mse (simple_denoiser.unet:21): net.6[n,3,64,64] clean[n,3,64,64] -> d net.6[n,3,64,64]
        net.6 sums for bias[3080] */
    at.step = "mse_grad of mse";
    simple_denoiser_mse_grad_0(at, (Rows){0, 64}, AT(stored, B057_d_net_6),
        AT(real, B058_net_6_sums_for_bias), AT(stored, B053_net_6), AT(real, B041_clean), NULL);
}

static void train_rest(UnetLaunch at, char *arena) {
    /* 15: conv_wgrad of net.6 (simple_denoiser.unet:10): net.5[n,64,64,64] d net.6[n,3,64,64]
        -> net.6 scratch[8388608] net.6 packed gradient[2304] */
    at.step = "conv_wgrad of net.6";
    simple_denoiser_conv_wgrad_0(at, NULL, NULL, AT(real, B059_net_6_scratch),
        NULL, AT(real, B060_net_6_packed_gradient), (const stored *const[]){AT(stored, B050_net_5)},
        AT(stored, B057_d_net_6));
    /* 16: conv_dgrad of net.6 (simple_denoiser.unet:10): d net.6[n,3,64,64] net.6 filters[4616]
        net.5[n,64,64,64] -> d net.4[n,64,64,64] net.6 workspace[33554432] net.4 sums for bias[24640] */
    at.step = "conv_dgrad of net.6";
    simple_denoiser_conv_dgrad_0(at, AT(stored, B061_d_net_4), AT(uint8_t, B062_net_6_workspace),
        AT(real, B063_net_4_sums_for_bias), AT(stored, B057_d_net_6), AT(stored, B052_net_6_filters),
        AT(stored, B050_net_5), NULL);
    /* 17: conv_wgrad of net.4 (simple_denoiser.unet:9): net.3[n,64,64,64] d net.4[n,64,64,64]
        -> net.4 scratch[8388608] net.4 packed gradient[18432] */
    at.step = "conv_wgrad of net.4";
    simple_denoiser_conv_wgrad_1(at, NULL, NULL, AT(real, B064_net_4_scratch),
        NULL, AT(real, B065_net_4_packed_gradient), (const stored *const[]){AT(stored, B047_net_3)},
        AT(stored, B061_d_net_4));
    /* 18: conv_dgrad of net.4 (simple_denoiser.unet:9): d net.4[n,64,64,64] net.4 filters[36928]
        net.3[n,64,64,64] -> d net.2[n,64,64,64] net.4 workspace[33554432] net.2 sums for bias[24640] */
    at.step = "conv_dgrad of net.4";
    simple_denoiser_conv_dgrad_1(at, AT(stored, B066_d_net_2), AT(uint8_t, B067_net_4_workspace),
        AT(real, B068_net_2_sums_for_bias), AT(stored, B061_d_net_4), AT(stored, B049_net_4_filters),
        AT(stored, B047_net_3), NULL);
    /* 19: conv_wgrad of net.2 (simple_denoiser.unet:8): net.1[n,64,64,64] d net.2[n,64,64,64]
        -> net.2 scratch[8388608] net.2 packed gradient[18432] */
    at.step = "conv_wgrad of net.2";
    simple_denoiser_conv_wgrad_1(at, NULL, NULL, AT(real, B069_net_2_scratch),
        NULL, AT(real, B070_net_2_packed_gradient), (const stored *const[]){AT(stored, B044_net_1)},
        AT(stored, B066_d_net_2));
    /* 20: conv_dgrad of net.2 (simple_denoiser.unet:8): d net.2[n,64,64,64] net.2 filters[36928]
        net.1[n,64,64,64] -> d net.0[n,64,64,64] net.2 workspace[33554432] net.0 sums for bias[24640] */
    at.step = "conv_dgrad of net.2";
    simple_denoiser_conv_dgrad_1(at, AT(stored, B071_d_net_0), AT(uint8_t, B072_net_2_workspace),
        AT(real, B073_net_0_sums_for_bias), AT(stored, B066_d_net_2), AT(stored, B046_net_2_filters),
        AT(stored, B044_net_1), NULL);
    /* 21: conv_wgrad of net.0 (simple_denoiser.unet:7): noisy cast[n,3,64,64] d net.0[n,64,64,64]
        -> net.0 scratch[8388608] net.0 packed gradient[2304] */
    at.step = "conv_wgrad of net.0";
    simple_denoiser_conv_wgrad_2(at, NULL, NULL, AT(real, B074_net_0_scratch),
        NULL, AT(real, B075_net_0_packed_gradient), (const stored *const[]){AT(stored, B042_noisy_cast)},
        AT(stored, B071_d_net_0));
    /* 22 to 25: one launch */
    at.more = 1;
    /* 22: filter_unpack of net.6 (simple_denoiser.unet:10): net.6 packed gradient[2304]
        net.6 sums for bias[3080] -> d net.6.weight[3,64,3,3] d net.6.bias[3] */
    at.step = "filter_unpack of net.6";
    simple_denoiser_filter_unpack_0(at, AT(real, B028_d_net_6_weight), AT(real, B029_d_net_6_bias),
        AT(real, B060_net_6_packed_gradient), AT(real, B058_net_6_sums_for_bias));
    /* 23: filter_unpack of net.4 (simple_denoiser.unet:9): net.4 packed gradient[18432]
        net.4 sums for bias[24640] -> d net.4.weight[64,64,3,3] d net.4.bias[64] */
    at.step = "filter_unpack of net.4";
    simple_denoiser_filter_unpack_1(at, AT(real, B030_d_net_4_weight), AT(real, B031_d_net_4_bias),
        AT(real, B065_net_4_packed_gradient), AT(real, B063_net_4_sums_for_bias));
    /* 24: filter_unpack of net.2 (simple_denoiser.unet:8): net.2 packed gradient[18432]
        net.2 sums for bias[24640] -> d net.2.weight[64,64,3,3] d net.2.bias[64] */
    at.step = "filter_unpack of net.2";
    simple_denoiser_filter_unpack_1(at, AT(real, B032_d_net_2_weight), AT(real, B033_d_net_2_bias),
        AT(real, B070_net_2_packed_gradient), AT(real, B068_net_2_sums_for_bias));
    at.more = 0;
    /* 25: filter_unpack of net.0 (simple_denoiser.unet:7): net.0 packed gradient[2304]
        net.0 sums for bias[24640] -> d net.0.weight[64,3,3,3] d net.0.bias[64] */
    at.step = "filter_unpack of net.0";
    simple_denoiser_filter_unpack_2(at, AT(real, B034_d_net_0_weight), AT(real, B035_d_net_0_bias),
        AT(real, B075_net_0_packed_gradient), AT(real, B073_net_0_sums_for_bias));
    /* 26: adam (simple_denoiser.unet:20): all parameters */
    at.step = "adam";
    simple_denoiser_adam_0(at, AT(real, B001_net_6_weight), AT(real, B028_d_net_6_weight),
        AT(real, B010_m_net_6_weight), AT(real, B019_v_net_6_weight), NULL, NULL, NULL, NULL, 77380);
}

/* ---- eval: batch 1, 35,672,064 bytes of the arena ---- */

static void eval(UnetLaunch at, char *arena) {
    /* 3 to 5: one launch */
    at.more = 1;
    /* 3: cast of noisy cast (simple_denoiser.unet:4): noisy[n,3,64,64] -> noisy cast[n,3,64,64] */
    at.step = "cast of noisy cast";
    simple_denoiser_cast_1(at, (Rows){0, 64}, AT(stored, B082_noisy_cast), AT(real, B080_noisy));
    /* 4: filter_pack of net.0 (simple_denoiser.unet:7): net.0.weight[64,3,3,3] net.0.bias[64]
        -> net.0 filters[4672] */
    at.step = "filter_pack of net.0";
    simple_denoiser_filter_pack_0(at, AT(stored, B083_net_0_filters), AT(real, B007_net_0_weight),
        AT(real, B008_net_0_bias));
    at.more = 0;
    /* 5: filter_pack of net.2 (simple_denoiser.unet:8): net.2.weight[64,64,3,3] net.2.bias[64]
        -> net.2 filters[36928] */
    at.step = "filter_pack of net.2";
    simple_denoiser_filter_pack_1(at, AT(stored, B086_net_2_filters), AT(real, B005_net_2_weight),
        AT(real, B006_net_2_bias));
    /* 6: conv of net.0 (simple_denoiser.unet:7): noisy cast[n,3,64,64] net.0 filters[4672] net.0.bias[64]
        -> net.1[n,64,64,64] net.0 workspace[33554432] */
    at.step = "conv of net.0";
    simple_denoiser_conv_3(at, AT(stored, B084_net_1), AT(uint8_t, B085_net_0_workspace),
        (const stored *const[]){AT(stored, B082_noisy_cast)}, AT(stored, B083_net_0_filters),
        AT(real, B008_net_0_bias));
    /* 7: conv of net.2 (simple_denoiser.unet:8): net.1[n,64,64,64] net.2 filters[36928] net.2.bias[64]
        -> net.3[n,64,64,64] net.2 workspace[33554432] */
    at.step = "conv of net.2";
    simple_denoiser_conv_4(at, AT(stored, B087_net_3), AT(uint8_t, B088_net_2_workspace),
        (const stored *const[]){AT(stored, B084_net_1)}, AT(stored, B086_net_2_filters),
        AT(real, B006_net_2_bias));
    /* 8: filter_pack of net.4 (simple_denoiser.unet:9): net.4.weight[64,64,3,3] net.4.bias[64]
        -> net.4 filters[36928] */
    at.step = "filter_pack of net.4";
    simple_denoiser_filter_pack_1(at, AT(stored, B089_net_4_filters), AT(real, B003_net_4_weight),
        AT(real, B004_net_4_bias));
    /* 9: conv of net.4 (simple_denoiser.unet:9): net.3[n,64,64,64] net.4 filters[36928] net.4.bias[64]
        -> net.5[n,64,64,64] net.4 workspace[33554432] */
    at.step = "conv of net.4";
    simple_denoiser_conv_4(at, AT(stored, B090_net_5), AT(uint8_t, B091_net_4_workspace),
        (const stored *const[]){AT(stored, B087_net_3)}, AT(stored, B089_net_4_filters),
        AT(real, B004_net_4_bias));
    /* 10: filter_pack of net.6 (simple_denoiser.unet:10): net.6.weight[3,64,3,3] net.6.bias[3]
        -> net.6 filters[4616] */
    at.step = "filter_pack of net.6";
    simple_denoiser_filter_pack_2(at, AT(stored, B092_net_6_filters), AT(real, B001_net_6_weight),
        AT(real, B002_net_6_bias));
    /* 11: conv of net.6 (simple_denoiser.unet:10): net.5[n,64,64,64] net.6 filters[4616] net.6.bias[3]
        -> net.6[n,3,64,64] net.6 workspace[33554432] */
    at.step = "conv of net.6";
    simple_denoiser_conv_5(at, AT(stored, B093_net_6), AT(uint8_t, B094_net_6_workspace),
        (const stored *const[]){AT(stored, B090_net_5)}, AT(stored, B092_net_6_filters),
        AT(real, B002_net_6_bias));
    /* 12 to 13: one launch */
    at.more = 1;
    /* 12: mse (simple_denoiser.unet:21): net.6[n,3,64,64] clean[n,3,64,64] -> mse[1] mse scratch[2] */
    at.step = "mse";
    simple_denoiser_mse_1(at, (Rows){0, 64}, AT(double, B077_mse), AT(double, B095_mse_scratch),
        AT(stored, B093_net_6), AT(real, B081_clean));
    at.more = 0;
    /* 13: psnr (simple_denoiser.unet:22): net.6[n,3,64,64] clean[n,3,64,64] -> psnr[1] psnr scratch[2] */
    at.step = "psnr";
    simple_denoiser_psnr_1(at, (Rows){0, 64}, AT(double, B078_psnr), AT(double, B096_psnr_scratch),
        AT(stored, B093_net_6), AT(real, B081_clean));
}

/* ---- predict: batch 1, 35,699,456 bytes of the arena ---- */

static void predict_prepare(UnetLaunch at, char *arena) {
    /* 0 to 3: one launch */
    at.more = 1;
    /* 0: filter_pack of net.0 (simple_denoiser.unet:7): net.0.weight[64,3,3,3] net.0.bias[64]
        -> net.0 filters[4672] */
    at.step = "filter_pack of net.0";
    simple_denoiser_filter_pack_0(at, AT(stored, B097_net_0_filters), AT(real, B007_net_0_weight),
        AT(real, B008_net_0_bias));
    /* 1: filter_pack of net.2 (simple_denoiser.unet:8): net.2.weight[64,64,3,3] net.2.bias[64]
        -> net.2 filters[36928] */
    at.step = "filter_pack of net.2";
    simple_denoiser_filter_pack_1(at, AT(stored, B098_net_2_filters), AT(real, B005_net_2_weight),
        AT(real, B006_net_2_bias));
    /* 2: filter_pack of net.4 (simple_denoiser.unet:9): net.4.weight[64,64,3,3] net.4.bias[64]
        -> net.4 filters[36928] */
    at.step = "filter_pack of net.4";
    simple_denoiser_filter_pack_1(at, AT(stored, B099_net_4_filters), AT(real, B003_net_4_weight),
        AT(real, B004_net_4_bias));
    at.more = 0;
    /* 3: filter_pack of net.6 (simple_denoiser.unet:10): net.6.weight[3,64,3,3] net.6.bias[3]
        -> net.6 filters[4616] */
    at.step = "filter_pack of net.6";
    simple_denoiser_filter_pack_2(at, AT(stored, B100_net_6_filters), AT(real, B001_net_6_weight),
        AT(real, B002_net_6_bias));
}

static void predict(UnetLaunch at, char *arena) {
    /* 6: cast of noisy cast (simple_denoiser.unet:4): noisy[n,3,64,64] -> noisy cast[n,3,64,64] */
    at.step = "cast of noisy cast";
    simple_denoiser_cast_1(at, (Rows){0, 64}, AT(stored, B103_noisy_cast), AT(real, B102_noisy));
    /* 7: conv of net.0 (simple_denoiser.unet:7): noisy cast[n,3,64,64] net.0 filters[4672] net.0.bias[64]
        -> net.1[n,64,64,64] net.0 workspace[33554432] */
    at.step = "conv of net.0";
    simple_denoiser_conv_3(at, AT(stored, B104_net_1), AT(uint8_t, B105_net_0_workspace),
        (const stored *const[]){AT(stored, B103_noisy_cast)}, AT(stored, B097_net_0_filters),
        AT(real, B008_net_0_bias));
    /* 8: conv of net.2 (simple_denoiser.unet:8): net.1[n,64,64,64] net.2 filters[36928] net.2.bias[64]
        -> net.3[n,64,64,64] net.2 workspace[33554432] */
    at.step = "conv of net.2";
    simple_denoiser_conv_4(at, AT(stored, B106_net_3), AT(uint8_t, B107_net_2_workspace),
        (const stored *const[]){AT(stored, B104_net_1)}, AT(stored, B098_net_2_filters),
        AT(real, B006_net_2_bias));
    /* 9: conv of net.4 (simple_denoiser.unet:9): net.3[n,64,64,64] net.4 filters[36928] net.4.bias[64]
        -> net.5[n,64,64,64] net.4 workspace[33554432] */
    at.step = "conv of net.4";
    simple_denoiser_conv_4(at, AT(stored, B108_net_5), AT(uint8_t, B109_net_4_workspace),
        (const stored *const[]){AT(stored, B106_net_3)}, AT(stored, B099_net_4_filters),
        AT(real, B004_net_4_bias));
    /* 10: conv of net.6 (simple_denoiser.unet:10): net.5[n,64,64,64] net.6 filters[4616] net.6.bias[3]
        -> net.6[n,3,64,64] net.6 workspace[33554432] */
    at.step = "conv of net.6";
    simple_denoiser_conv_5(at, AT(stored, B110_net_6), AT(uint8_t, B111_net_6_workspace),
        (const stored *const[]){AT(stored, B108_net_5)}, AT(stored, B100_net_6_filters),
        AT(real, B002_net_6_bias));
}

/* ---- what cuDNN computes; see unet/cudnn.h ---- */

static const UnetConvolution convolution[] = {
    /* 0 */
    {.kind = UNET_FORWARD, .type = UNET_BF16, .result_type = UNET_BF16, .bias = true, .relu = true,
     .axes = 2, .batch = 6, .in_channels = 8, .out_channels = 64, .in = {1, 64, 64}, .out = {1, 64, 64},
     .kernel = {1, 3, 3}, .stride = {1, 1, 1}, .dilation = {1, 1, 1}, .before = {0, 1, 1}, .after = {0, 1, 1},
     .engine = {.version = 0, .engine = 0, .workspace = 33554432}},
    /* 1 */
    {.kind = UNET_FORWARD, .type = UNET_BF16, .result_type = UNET_BF16, .bias = true, .relu = true,
     .axes = 2, .batch = 6, .in_channels = 64, .out_channels = 64, .in = {1, 64, 64}, .out = {1, 64, 64},
     .kernel = {1, 3, 3}, .stride = {1, 1, 1}, .dilation = {1, 1, 1}, .before = {0, 1, 1}, .after = {0, 1, 1},
     .engine = {.version = 0, .engine = 0, .workspace = 33554432}},
    /* 2 */
    {.kind = UNET_FORWARD, .type = UNET_BF16, .result_type = UNET_BF16, .bias = true,
     .axes = 2, .batch = 6, .in_channels = 64, .out_channels = 8, .in = {1, 64, 64}, .out = {1, 64, 64},
     .kernel = {1, 3, 3}, .stride = {1, 1, 1}, .dilation = {1, 1, 1}, .before = {0, 1, 1}, .after = {0, 1, 1},
     .engine = {.version = 0, .engine = 0, .workspace = 33554432}},
    /* 3 */
    {.kind = UNET_BACKWARD_FILTER, .type = UNET_BF16, .result_type = UNET_BF16,
     .axes = 2, .batch = 6, .in_channels = 64, .out_channels = 8, .in = {1, 64, 64}, .out = {1, 64, 64},
     .kernel = {1, 3, 3}, .stride = {1, 1, 1}, .dilation = {1, 1, 1}, .before = {0, 1, 1}, .after = {0, 1, 1},
     .engine = {.version = 0, .engine = 0, .workspace = 33554432}},
    /* 4 */
    {.kind = UNET_BACKWARD_DATA, .type = UNET_BF16, .result_type = UNET_BF16,
     .axes = 2, .batch = 6, .in_channels = 64, .out_channels = 8, .in = {1, 64, 64}, .out = {1, 64, 64},
     .kernel = {1, 3, 3}, .stride = {1, 1, 1}, .dilation = {1, 1, 1}, .before = {0, 1, 1}, .after = {0, 1, 1},
     .engine = {.version = 0, .engine = 0, .workspace = 33554432}},
    /* 5 */
    {.kind = UNET_BACKWARD_FILTER, .type = UNET_BF16, .result_type = UNET_BF16,
     .axes = 2, .batch = 6, .in_channels = 64, .out_channels = 64, .in = {1, 64, 64}, .out = {1, 64, 64},
     .kernel = {1, 3, 3}, .stride = {1, 1, 1}, .dilation = {1, 1, 1}, .before = {0, 1, 1}, .after = {0, 1, 1},
     .engine = {.version = 0, .engine = 0, .workspace = 33554432}},
    /* 6 */
    {.kind = UNET_BACKWARD_DATA, .type = UNET_BF16, .result_type = UNET_BF16,
     .axes = 2, .batch = 6, .in_channels = 64, .out_channels = 64, .in = {1, 64, 64}, .out = {1, 64, 64},
     .kernel = {1, 3, 3}, .stride = {1, 1, 1}, .dilation = {1, 1, 1}, .before = {0, 1, 1}, .after = {0, 1, 1},
     .engine = {.version = 0, .engine = 0, .workspace = 33554432}},
    /* 7 */
    {.kind = UNET_BACKWARD_FILTER, .type = UNET_BF16, .result_type = UNET_BF16,
     .axes = 2, .batch = 6, .in_channels = 8, .out_channels = 64, .in = {1, 64, 64}, .out = {1, 64, 64},
     .kernel = {1, 3, 3}, .stride = {1, 1, 1}, .dilation = {1, 1, 1}, .before = {0, 1, 1}, .after = {0, 1, 1},
     .engine = {.version = 0, .engine = 0, .workspace = 33554432}},
    /* 8 */
    {.kind = UNET_FORWARD, .type = UNET_BF16, .result_type = UNET_BF16, .bias = true, .relu = true,
     .axes = 2, .batch = 1, .in_channels = 8, .out_channels = 64, .in = {1, 64, 64}, .out = {1, 64, 64},
     .kernel = {1, 3, 3}, .stride = {1, 1, 1}, .dilation = {1, 1, 1}, .before = {0, 1, 1}, .after = {0, 1, 1},
     .engine = {.version = 0, .engine = 0, .workspace = 33554432}},
    /* 9 */
    {.kind = UNET_FORWARD, .type = UNET_BF16, .result_type = UNET_BF16, .bias = true, .relu = true,
     .axes = 2, .batch = 1, .in_channels = 64, .out_channels = 64, .in = {1, 64, 64}, .out = {1, 64, 64},
     .kernel = {1, 3, 3}, .stride = {1, 1, 1}, .dilation = {1, 1, 1}, .before = {0, 1, 1}, .after = {0, 1, 1},
     .engine = {.version = 0, .engine = 0, .workspace = 33554432}},
    /* 10 */
    {.kind = UNET_FORWARD, .type = UNET_BF16, .result_type = UNET_BF16, .bias = true,
     .axes = 2, .batch = 1, .in_channels = 64, .out_channels = 8, .in = {1, 64, 64}, .out = {1, 64, 64},
     .kernel = {1, 3, 3}, .stride = {1, 1, 1}, .dilation = {1, 1, 1}, .before = {0, 1, 1}, .after = {0, 1, 1},
     .engine = {.version = 0, .engine = 0, .workspace = 33554432}},
};

/* ---- the programs; see unet/cuda_device.h ---- */

static const UnetStaging train_staging[] = {
    {.offset = B040_noisy, .bytes = 393216},
    {.offset = B041_clean, .bytes = 393216},
};
static const UnetCudaPiece train_piece[] = {
    {.launch = train, .in_iteration = true, .frees_inputs = true},
    {.launch = train_rest, .in_iteration = true},
};
static const UnetStaging eval_staging[] = {
    {.offset = B080_noisy, .bytes = 65536},
    {.offset = B081_clean, .bytes = 65536},
};
static const UnetCudaPiece eval_piece[] = {
    {.launch = eval, .in_iteration = true},
};
static const UnetStaging predict_staging[] = {
    {.offset = B102_noisy, .bytes = 65536},
    {.offset = -1},
};
static const UnetCudaPiece predict_piece[] = {
    {.launch = predict_prepare, .once = true},
    {.launch = predict, .in_iteration = true},
};
static const uint8_t streams[] = {
    1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,
};
static const UnetCudaModel cuda_model = {
    .table_bytes = UNET_CUDA_TABLE_BYTES,
    .nconvolution = 11,
    .convolution = convolution,
    .streams = streams,
    .train = {.piece = train_piece,
        .npiece = 2,
        .iterations = 1, .iteration_samples = 6,
        .control = B039_control,
        .beta = {0.90000000000000002, 0.999},
        .results = B036_results, .results_bytes = 256,
        .staging = train_staging,
        .prefetches = true},
    .eval = {.piece = eval_piece,
        .npiece = 1,
        .iterations = 1, .iteration_samples = 1,
        .control = B079_control,
        .results = B076_results, .results_bytes = 256,
        .staging = eval_staging,
        .prefetches = false},
    .predict = {.piece = predict_piece,
        .npiece = 2,
        .iterations = 1, .iteration_samples = 1,
        .control = B101_control,
        .staging = predict_staging,
        .prefetches = false},
};

/* ---- tables for the runtime; see unet/model.h ---- */

/* name, rank, sizes, initial values and their bound, offset, offsets of the moments */
static const UnetParameter parameter[] = {
    {"net.0.weight", 4, {64, 3, 3, 3}, UNET_INIT_UNIFORM, 0.19245008972987526, 302352, {612112, 921872, -1, -1}},
    {"net.0.bias", 1, {64}, UNET_INIT_UNIFORM, 0.19245008972987526, 309264, {619024, 928784, -1, -1}},
    {"net.2.weight", 4, {64, 64, 3, 3}, UNET_INIT_UNIFORM, 0.041666666666666664, 154640, {464400, 774160, -1, -1}},
    {"net.2.bias", 1, {64}, UNET_INIT_UNIFORM, 0.041666666666666664, 302096, {611856, 921616, -1, -1}},
    {"net.4.weight", 4, {64, 64, 3, 3}, UNET_INIT_UNIFORM, 0.041666666666666664, 6928, {316688, 626448, -1, -1}},
    {"net.4.bias", 1, {64}, UNET_INIT_UNIFORM, 0.041666666666666664, 154384, {464144, 773904, -1, -1}},
    {"net.6.weight", 4, {3, 64, 3, 3}, UNET_INIT_UNIFORM, 0.041666666666666664, 0, {309760, 619520, -1, -1}},
    {"net.6.bias", 1, {3}, UNET_INIT_UNIFORM, 0.041666666666666664, 6912, {316672, 626432, -1, -1}},
};
static const UnetInput input[] = {
    {"noisy", UNET_IMAGE, false, 3, 0, -1, UNET_AS_READ,
     .normal = {.mean = {0, 0, 0, 0}, .deviation = {0, 0, 0, 0}}},
    {"clean", UNET_IMAGE, true, 3, 0, -1, UNET_AS_READ,
     .normal = {.mean = {0, 0, 0, 0}, .deviation = {0, 0, 0, 0}}},
};
static const UnetOutput output[] = {
    {"denoised", UNET_IMAGE, 0},
};
/* as written, operator, kind, weight, more is better, input to compare with, target, classes, which, output, ignored */
static const UnetResult result[] = {
    {"mse(denoised, clean)", "mse", UNET_LOSS, 1, false, -1, 1, 0, 0, 0, -1},
    {"psnr(denoised, clean)", "psnr", UNET_METRIC, 1, true, 0, 1, 0, 0, 0, -1},
};
/* type, channels, {depth, height, width}, block; origin, strides, ring, bytes of a sample */
static const UnetLayout train_input[] = {
    {UNET_F32, 3, {1, 64, 64}, 4, 0, 16384, 16384, 16384, 256, 0, 65536},
    {UNET_F32, 3, {1, 64, 64}, 4, 0, 16384, 16384, 16384, 256, 0, 65536},
};
static const int64_t train_result_offset[] = {
    48917248,
    48917264,
    -1, /* there may be no result at all */
};
static const UnetProgram train_program = {
    .name = "train",
    .batch = 6, .steps = 28,
    .size = {1, 64, 64},
    .measured = {1, 64, 64},
    .extent = 48917760,
    .inputs = train_input,
    .result_offsets = train_result_offset,
    .input_bytes = 786432,
};
/* type, channels, {depth, height, width}, block; origin, strides, ring, bytes of a sample */
static const UnetLayout eval_input[] = {
    {UNET_F32, 3, {1, 64, 64}, 4, 0, 16384, 16384, 16384, 256, 0, 65536},
    {UNET_F32, 3, {1, 64, 64}, 4, 0, 16384, 16384, 16384, 256, 0, 65536},
};
static const int64_t eval_result_offset[] = {
    929280,
    929296,
    -1, /* there may be no result at all */
};
static const UnetProgram eval_program = {
    .name = "eval",
    .batch = 1, .steps = 15,
    .size = {1, 64, 64},
    .measured = {1, 64, 64},
    .extent = 35672064,
    .inputs = eval_input,
    .result_offsets = eval_result_offset,
    .input_bytes = 131072,
};
/* type, channels, {depth, height, width}, block; origin, strides, ring, bytes of a sample */
static const UnetLayout predict_input[] = {
    {UNET_F32, 3, {1, 64, 64}, 4, 0, 16384, 16384, 16384, 256, 0, 65536},
    {UNET_F32, 3, {1, 64, 64}, 4, 0, 16384, 16384, 16384, 256, 0, 0},
};
static const UnetLayout predict_output[] = {
    {UNET_BF16, 3, {1, 64, 64}, 8, 0, 32768, 32768, 32768, 512, 0, 65536},
};
static const int64_t predict_output_offset[] = {35008000, };
static const UnetWindows predict_windows = {.overlap = 0.5, .gaussian = true, .reach = {{1, 1, 4, 4},
    {1, 1, 4, 4}}, .exact = true, .same_bits = false};
static const int64_t predict_result_offset[] = {
    -1,
    -1,
    -1, /* there may be no result at all */
};
static const UnetProgram predict_program = {
    .name = "predict",
    .batch = 1, .steps = 12,
    .size = {1, 64, 64},
    .measured = {0, 0, 0},
    .extent = 35699456,
    .inputs = predict_input,
    .outputs = predict_output,
    .output_offsets = predict_output_offset,
    .windows = &predict_windows,
    .result_offsets = predict_result_offset,
    .input_bytes = 65536,
};
static const UnetSourceTerm data_term_0[] = {
    {UNET_SRC_FILES, .line = 15, .pattern = "noisy/*.png"},
};
static const UnetSourceTerm data_term_1[] = {
    {UNET_SRC_FILES, .line = 16, .pattern = "clean/*.png"},
};
static const UnetSource data_source[] = {
    {"noisy", 0, 3, 1, data_term_0, NULL, false, false, false, 0},
    {"clean", 1, 3, 1, data_term_1, NULL, false, false, false, 0},
};
static const UnetTransform data_transform[] = {
    {UNET_DO_CROP, true, UNET_PAD_NONE, 0, 0, 0, {0, 0, 0, 0}},
};
static const UnetData data = {
    .source = data_source, .nsource = 2,
    .transform = data_transform, .ntransform = 1,
    .holdout = 0, .holdout_seed = 0, .shuffle = true, .threads = 0,
};
static const UnetTraining training = {
    .learning_rate = 0.00050000000000000001, .moments = {"exp_avg", "exp_avg_sq", NULL, NULL},
    .drop_tail = false,
    .duration = 50, .duration_unit = UNET_EPOCHS, .steps_per_epoch = 0,
    .save_every = 1, .save_unit = UNET_EPOCHS, .save_keep = 3,
    .eval_every = 1, .eval_unit = UNET_EPOCHS,
    .seed = 0,
    .pretrained = NULL,
    .description = "adam(lr = 0.0005)",
};

const UnetModel simple_denoiser_model = {
    .runtime_version = UNET_RUNTIME_VERSION, .table_bytes = UNET_TABLE_BYTES,
    .name = "simple_denoiser",
    .source = "simple_denoiser.unet", .source_hash = "00438fdc504441cc",
    .target = "cuda", .isa = "sm_90", .real = UNET_F32, .precision = "bf16", .max_threads = 16,
    .instructions = UNET_INSTRUCTIONS_USED,
    .device = &unet_cuda_device, .device_tables = &cuda_model,
    .nparameter = 8, .parameter = parameter, .parameter_count = 77379,
    .persistent = 929280,
    .ninput = 2, .inputs = input,
    .noutput = 1, .outputs = output,
    .nresult = 2, .results = result,
    .train = &train_program,
    .eval = &eval_program,
    .predict = &predict_program,
    .arena_bytes = 48917760,
    .ring = 3, .loader_ring_bytes = 2359296,
    .predict_pad = UNET_PAD_REFLECT,
    .data = &data,
    .training = &training,
};
