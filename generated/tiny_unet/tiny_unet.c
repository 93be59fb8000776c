/* tiny_unet.c - what the programs of tiny_unet call, and its tables
 *
 * Made by unetc from tiny_unet.unet (16d462818c889222) with: --size=64x64 --kernels=reference
 * Do not edit: change the .unet file and compile again. */
#include "tiny_unet_calls.h"

#if UNET_RUNTIME_VERSION != 15
#error "made for another version of the runtime: compile the .unet file again"
#endif


/* ---- train: batch 6, 21,563,840 bytes of the arena ---- */

static void train(const UnetStep *step) {
    char *const arena = step->arena;
    const int n = step->n, start = 0;
    const int32_t(*const valid)[3] = step->valid;
    (void)n, (void)start, (void)valid;
#pragma omp parallel num_threads(step->threads)
    {
        begin(step, 0, "cast of noisy cast", NULL, 4, 73728, 461184);
        /* noisy[n,3,64,64] -> noisy cast[n,3,64,64] */
        tiny_unet_zero_halo_kernel(&tiny_unet_zero_halo_sizes_0, n, rows_64, AT(real, B157_noisy_cast));
        tiny_unet_cast_kernel(&tiny_unet_cast_sizes_0, n, rows_64, AT(real, B157_noisy_cast),
            INPUT(uint16_t, 0, 12288));
        begin(step, 1, "conv of enc1.0", NULL, 11, 21233664, 1988224);
        /* noisy cast[n,3,64,64] enc1.0.weight[16,3,3,3] enc1.0.bias[16] -> enc1.1[n,16,64,64] */
        tiny_unet_zero_halo_kernel(&tiny_unet_zero_halo_sizes_1, n, rows_64, AT(real, B158_enc1_1));
        tiny_unet_conv_kernel(&tiny_unet_conv_sizes_0, n, rows_64, AT(real, B158_enc1_1),
            (const real *const[]){AT(real, B157_noisy_cast)}, AT(real, B035_enc1_0_weight),
            AT(real, B036_enc1_0_bias));
        begin(step, 2, "conv of enc1.2", NULL, 11, 113246208, 3354688);
        /* enc1.1[n,16,64,64] enc1.2.weight[16,16,3,3] enc1.2.bias[16] -> enc1.3[n,16,64,64] */
        tiny_unet_zero_halo_kernel(&tiny_unet_zero_halo_sizes_1, n, rows_64, AT(real, B159_enc1_3));
        tiny_unet_conv_kernel(&tiny_unet_conv_sizes_1, n, rows_64, AT(real, B159_enc1_3),
            (const real *const[]){AT(real, B158_enc1_1)}, AT(real, B033_enc1_2_weight),
            AT(real, B034_enc1_2_bias));
        begin(step, 3, "max_pool of enc2.max_pool", NULL, 12, 393216, 2116608);
        /* enc1.3[n,16,64,64] -> enc2.max_pool[n,16,32,32] */
        tiny_unet_zero_halo_kernel(&tiny_unet_zero_halo_sizes_2, n, rows_32, AT(real, B160_enc2_max_pool));
        tiny_unet_max_pool_kernel(&tiny_unet_max_pool_sizes_0, n, rows_32, AT(real, B160_enc2_max_pool),
            AT(real, B159_enc1_3));
        begin(step, 4, "conv of enc2.0", NULL, 12, 56623104, 1350272);
        /* enc2.max_pool[n,16,32,32] enc2.0.weight[32,16,3,3] enc2.0.bias[32] -> enc2.1[n,32,32,32] */
        tiny_unet_zero_halo_kernel(&tiny_unet_zero_halo_sizes_3, n, rows_32, AT(real, B161_enc2_1));
        tiny_unet_conv_kernel(&tiny_unet_conv_sizes_2, n, rows_32, AT(real, B161_enc2_1),
            (const real *const[]){AT(real, B160_enc2_max_pool)}, AT(real, B031_enc2_0_weight),
            AT(real, B032_enc2_0_bias));
        begin(step, 5, "conv of enc2.2", NULL, 12, 113246208, 1812608);
        /* enc2.1[n,32,32,32] enc2.2.weight[32,32,3,3] enc2.2.bias[32] -> enc2.3[n,32,32,32] */
        tiny_unet_zero_halo_kernel(&tiny_unet_zero_halo_sizes_3, n, rows_32, AT(real, B162_enc2_3));
        tiny_unet_conv_kernel(&tiny_unet_conv_sizes_3, n, rows_32, AT(real, B162_enc2_3),
            (const real *const[]){AT(real, B161_enc2_1)}, AT(real, B029_enc2_2_weight),
            AT(real, B030_enc2_2_bias));
        begin(step, 6, "max_pool of enc3.max_pool", NULL, 13, 196608, 1136640);
        /* enc2.3[n,32,32,32] -> enc3.max_pool[n,32,16,16] */
        tiny_unet_zero_halo_kernel(&tiny_unet_zero_halo_sizes_4, n, rows_16, AT(real, B163_enc3_max_pool));
        tiny_unet_max_pool_kernel(&tiny_unet_max_pool_sizes_1, n, rows_16, AT(real, B163_enc3_max_pool),
            AT(real, B162_enc2_3));
        begin(step, 7, "conv of enc3.0", NULL, 13, 56623104, 820480);
        /* enc3.max_pool[n,32,16,16] enc3.0.weight[64,32,3,3] enc3.0.bias[64] -> enc3.1[n,64,16,16] */
        tiny_unet_zero_halo_kernel(&tiny_unet_zero_halo_sizes_5, n, rows_16, AT(real, B164_enc3_1));
        tiny_unet_conv_kernel(&tiny_unet_conv_sizes_4, n, rows_16, AT(real, B164_enc3_1),
            (const real *const[]){AT(real, B163_enc3_max_pool)}, AT(real, B027_enc3_0_weight),
            AT(real, B028_enc3_0_bias));
        begin(step, 8, "conv of enc3.2", NULL, 13, 113246208, 1143040);
        /* enc3.1[n,64,16,16] enc3.2.weight[64,64,3,3] enc3.2.bias[64] -> enc3.3[n,64,16,16] */
        tiny_unet_zero_halo_kernel(&tiny_unet_zero_halo_sizes_5, n, rows_16, AT(real, B165_enc3_3));
        tiny_unet_conv_kernel(&tiny_unet_conv_sizes_5, n, rows_16, AT(real, B165_enc3_3),
            (const real *const[]){AT(real, B164_enc3_1)}, AT(real, B025_enc3_2_weight),
            AT(real, B026_enc3_2_bias));
        begin(step, 9, "max_pool of bottleneck.max_pool", NULL, 15, 98304, 651264);
        /* enc3.3[n,64,16,16] -> bottleneck.max_pool[n,64,8,8] */
        tiny_unet_zero_halo_kernel(&tiny_unet_zero_halo_sizes_6, n, rows_8, AT(real, B166_bottleneck_max_pool));
        tiny_unet_max_pool_kernel(&tiny_unet_max_pool_sizes_2, n, rows_8, AT(real, B166_bottleneck_max_pool),
            AT(real, B165_enc3_3));
        begin(step, 10, "conv of bottleneck.0", NULL, 15, 56623104, 756224);
        /* bottleneck.max_pool[n,64,8,8] bottleneck.0.weight[128,64,3,3] bottleneck.0.bias[128]
            -> bottleneck.1[n,128,8,8] */
        tiny_unet_zero_halo_kernel(&tiny_unet_zero_halo_sizes_7, n, rows_8, AT(real, B167_bottleneck_1));
        tiny_unet_conv_kernel(&tiny_unet_conv_sizes_6, n, rows_8, AT(real, B167_bottleneck_1),
            (const real *const[]){AT(real, B166_bottleneck_max_pool)}, AT(real, B023_bottleneck_0_weight),
            AT(real, B024_bottleneck_0_bias));
        begin(step, 11, "conv of bottleneck.2", NULL, 15, 113246208, 1094144);
        /* bottleneck.1[n,128,8,8] bottleneck.2.weight[128,128,3,3] bottleneck.2.bias[128]
            -> bottleneck.3[n,128,8,8] */
        tiny_unet_conv_kernel(&tiny_unet_conv_sizes_7, n, rows_8, AT(real, B168_bottleneck_3),
            (const real *const[]){AT(real, B167_bottleneck_1)}, AT(real, B021_bottleneck_2_weight),
            AT(real, B022_bottleneck_2_bias));
        begin(step, 12, "upconv of up3", NULL, 17, 25165824, 825600);
        /* bottleneck.3[n,128,8,8] up3.weight[128,64,2,2] up3.bias[64] -> up3[n,64,16,16] */
        tiny_unet_zero_halo_kernel(&tiny_unet_zero_halo_sizes_5, n, rows_16, AT(real, B169_up3));
        tiny_unet_upconv_kernel(&tiny_unet_upconv_sizes_0, n, rows_16, AT(real, B169_up3),
            (const real *const[]){AT(real, B168_bottleneck_3)}, AT(real, B019_up3_weight),
            AT(real, B020_up3_bias));
        begin(step, 13, "conv of dec3.0", NULL, 18, 226492416, 1788160);
        /* dec3.concat[n,128,16,16] dec3.0.weight[64,128,3,3] dec3.0.bias[64] -> dec3.1[n,64,16,16] */
        tiny_unet_zero_halo_kernel(&tiny_unet_zero_halo_sizes_5, n, rows_16, AT(real, B170_dec3_1));
        tiny_unet_conv_kernel(&tiny_unet_conv_sizes_8, n, rows_16, AT(real, B170_dec3_1),
            (const real *const[]){AT(real, B169_up3), AT(real, B165_enc3_3)}, AT(real, B017_dec3_0_weight),
            AT(real, B018_dec3_0_bias));
        begin(step, 14, "conv of dec3.2", NULL, 18, 113246208, 1038592);
        /* dec3.1[n,64,16,16] dec3.2.weight[64,64,3,3] dec3.2.bias[64] -> dec3.3[n,64,16,16] */
        tiny_unet_conv_kernel(&tiny_unet_conv_sizes_9, n, rows_16, AT(real, B171_dec3_3),
            (const real *const[]){AT(real, B170_dec3_1)}, AT(real, B015_dec3_2_weight),
            AT(real, B016_dec3_2_bias));
        begin(step, 15, "upconv of up2", NULL, 19, 25165824, 1313920);
        /* dec3.3[n,64,16,16] up2.weight[64,32,2,2] up2.bias[32] -> up2[n,32,32,32] */
        tiny_unet_zero_halo_kernel(&tiny_unet_zero_halo_sizes_3, n, rows_32, AT(real, B172_up2));
        tiny_unet_upconv_kernel(&tiny_unet_upconv_sizes_1, n, rows_32, AT(real, B172_up2),
            (const real *const[]){AT(real, B171_dec3_3)}, AT(real, B013_up2_weight), AT(real, B014_up2_bias));
        begin(step, 16, "conv of dec2.0", NULL, 20, 226492416, 2737280);
        /* dec2.concat[n,64,32,32] dec2.0.weight[32,64,3,3] dec2.0.bias[32] -> dec2.1[n,32,32,32] */
        tiny_unet_zero_halo_kernel(&tiny_unet_zero_halo_sizes_3, n, rows_32, AT(real, B173_dec2_1));
        tiny_unet_conv_kernel(&tiny_unet_conv_sizes_10, n, rows_32, AT(real, B173_dec2_1),
            (const real *const[]){AT(real, B172_up2), AT(real, B162_enc2_3)}, AT(real, B011_dec2_0_weight),
            AT(real, B012_dec2_0_bias));
        begin(step, 17, "conv of dec2.2", NULL, 20, 113246208, 1711232);
        /* dec2.1[n,32,32,32] dec2.2.weight[32,32,3,3] dec2.2.bias[32] -> dec2.3[n,32,32,32] */
        tiny_unet_conv_kernel(&tiny_unet_conv_sizes_11, n, rows_32, AT(real, B174_dec2_3),
            (const real *const[]){AT(real, B173_dec2_1)}, AT(real, B009_dec2_2_weight),
            AT(real, B010_dec2_2_bias));
        begin(step, 18, "upconv of up1", NULL, 21, 25165824, 2467392);
        /* dec2.3[n,32,32,32] up1.weight[32,16,2,2] up1.bias[16] -> up1[n,16,64,64] */
        tiny_unet_zero_halo_kernel(&tiny_unet_zero_halo_sizes_1, n, rows_64, AT(real, B175_up1));
        tiny_unet_upconv_kernel(&tiny_unet_upconv_sizes_2, n, rows_64, AT(real, B175_up1),
            (const real *const[]){AT(real, B174_dec2_3)}, AT(real, B007_up1_weight), AT(real, B008_up1_bias));
        begin(step, 19, "conv of dec1.0", NULL, 22, 226492416, 5036608);
        /* dec1.concat[n,32,64,64] dec1.0.weight[16,32,3,3] dec1.0.bias[16] -> dec1.1[n,16,64,64] */
        tiny_unet_zero_halo_kernel(&tiny_unet_zero_halo_sizes_1, n, rows_64, AT(real, B176_dec1_1));
        tiny_unet_conv_kernel(&tiny_unet_conv_sizes_12, n, rows_64, AT(real, B176_dec1_1),
            (const real *const[]){AT(real, B175_up1), AT(real, B159_enc1_3)}, AT(real, B005_dec1_0_weight),
            AT(real, B006_dec1_0_bias));
        begin(step, 20, "conv of dec1.2", NULL, 22, 113246208, 3254848);
        /* dec1.1[n,16,64,64] dec1.2.weight[16,16,3,3] dec1.2.bias[16] -> dec1.3[n,16,64,64] */
        tiny_unet_conv_kernel(&tiny_unet_conv_sizes_13, n, rows_64, AT(real, B177_dec1_3),
            (const real *const[]){AT(real, B176_dec1_1)}, AT(real, B003_dec1_2_weight),
            AT(real, B004_dec1_2_bias));
        begin(step, 21, "conv of final", NULL, 24, 2359296, 1868032);
        /* dec1.3[n,16,64,64] final.weight[3,16,1,1] final.bias[3] -> final[n,3,64,64] */
        tiny_unet_conv_kernel(&tiny_unet_conv_sizes_14, n, rows_64, AT(real, B178_final),
            (const real *const[]){AT(real, B177_dec1_3)}, AT(real, B001_final_weight),
            AT(real, B002_final_bias));
        begin(step, 22, "mse_grad of mse", NULL, 33, 73728, 737280);
        /* final[n,3,64,64] clean[n,3,64,64] -> d final[n,3,64,64] */
        tiny_unet_mse_grad_kernel(&tiny_unet_mse_grad_sizes_0, n, step->n, rows_64, AT(real, B179_d_final),
            AT(real, B178_final), INPUT(uint16_t, 1, 12288), NULL);
        begin(step, 23, "psnr", NULL, 34, 73728, 445504);
        /* final[n,3,64,64] clean[n,3,64,64] -> psnr[1] psnr scratch[384] */
        tiny_unet_psnr_kernel(&tiny_unet_psnr_sizes_0, n, rows_64, AT(double, B180_psnr),
            AT(double, B181_psnr_scratch), AT(real, B178_final), INPUT(uint16_t, 1, 12288), valid);
        begin(step, 24, "mse", NULL, 33, 73728, 445504);
        /* final[n,3,64,64] clean[n,3,64,64] -> mse[1] mse scratch[384] */
        tiny_unet_mse_kernel(&tiny_unet_mse_sizes_0, n, rows_64, AT(double, B182_mse),
            AT(double, B183_mse_scratch), AT(real, B178_final), INPUT(uint16_t, 1, 12288), valid);
        begin(step, 25, "conv_wgrad of final", NULL, 24, 2359296, 1868480);
        /* dec1.3[n,16,64,64] d final[n,3,64,64] -> d final.weight[3,16,1,1] d final.bias[3]
            final scratch[51] */
        zero_tail(AT(real, B113_d_final_bias), 12, 64);
        tiny_unet_conv_wgrad_kernel(&tiny_unet_conv_wgrad_sizes_0, n, rows_64, AT(real, B112_d_final_weight),
            AT(real, B113_d_final_bias), AT(double, B184_final_scratch),
            NULL, (const real *const[]){AT(real, B177_dec1_3)}, AT(real, B179_d_final));
        begin(step, 26, "conv_dgrad of final", NULL, 24, 2359296, 3540672);
        /* d final[n,3,64,64] final.weight[3,16,1,1] dec1.3[n,16,64,64] -> d dec1.2[n,16,64,64] */
        tiny_unet_zero_halo_kernel(&tiny_unet_zero_halo_sizes_1, n, rows_64, AT(real, B185_d_dec1_2));
        tiny_unet_conv_dgrad_kernel(&tiny_unet_conv_dgrad_sizes_0, n, rows_64, AT(real, B185_d_dec1_2),
            AT(real, B179_d_final), AT(real, B001_final_weight), AT(real, B177_dec1_3));
        begin(step, 27, "conv_dgrad of dec1.2", NULL, 22, 113246208, 5027328);
        /* d dec1.2[n,16,64,64] dec1.2.weight[16,16,3,3] dec1.1[n,16,64,64] -> d dec1.0[n,16,64,64] */
        tiny_unet_zero_halo_kernel(&tiny_unet_zero_halo_sizes_1, n, rows_64, AT(real, B186_d_dec1_0));
        tiny_unet_conv_dgrad_kernel(&tiny_unet_conv_dgrad_sizes_1, n, rows_64, AT(real, B186_d_dec1_0),
            AT(real, B185_d_dec1_2), AT(real, B003_dec1_2_weight), AT(real, B176_dec1_1));
        begin(step, 28, "conv_wgrad of dec1.2", NULL, 22, 113246208, 3373248);
        /* dec1.1[n,16,64,64] d dec1.2[n,16,64,64] -> d dec1.2.weight[16,16,3,3] d dec1.2.bias[16]
            dec1.2 scratch[2320] */
        tiny_unet_conv_wgrad_kernel(&tiny_unet_conv_wgrad_sizes_1, n, rows_64, AT(real, B114_d_dec1_2_weight),
            AT(real, B115_d_dec1_2_bias), AT(double, B187_dec1_2_scratch),
            NULL, (const real *const[]){AT(real, B176_dec1_1)}, AT(real, B185_d_dec1_2));
        begin(step, 29, "upconv of up1", NULL, 21, 25165824, 2467392);
        /* dec2.3[n,32,32,32] up1.weight[32,16,2,2] up1.bias[16] -> up1[n,16,64,64] */
        tiny_unet_zero_halo_kernel(&tiny_unet_zero_halo_sizes_1, n, rows_64, AT(real, B188_up1));
        tiny_unet_upconv_kernel(&tiny_unet_upconv_sizes_2, n, rows_64, AT(real, B188_up1),
            (const real *const[]){AT(real, B174_dec2_3)}, AT(real, B007_up1_weight), AT(real, B008_up1_bias));
        begin(step, 30, "conv_wgrad of dec1.0", NULL, 22, 226492416, 5073600);
        /* dec1.concat[n,32,64,64] d dec1.0[n,16,64,64] -> d dec1.0.weight[16,32,3,3] d dec1.0.bias[16]
            dec1.0 scratch[4624] */
        tiny_unet_conv_wgrad_kernel(&tiny_unet_conv_wgrad_sizes_2, n, rows_64, AT(real, B116_d_dec1_0_weight),
            AT(real, B117_d_dec1_0_bias), AT(double, B189_dec1_0_scratch),
            NULL, (const real *const[]){AT(real, B188_up1), AT(real, B159_enc1_3)}, AT(real, B186_d_dec1_0));
        begin(step, 31, "conv_dgrad of dec1.0", NULL, 22, 113246208, 3264000);
        /* d dec1.0[n,16,64,64] dec1.0.weight[16,32,3,3] -> d up1[n,16,64,64] */
        tiny_unet_conv_dgrad_kernel(&tiny_unet_conv_dgrad_sizes_2, n, rows_64, AT(real, B190_d_up1),
            AT(real, B186_d_dec1_0), AT(real, B005_dec1_0_weight), NULL);
        begin(step, 32, "upconv_wgrad of up1", NULL, 21, 25165824, 2384064);
        /* dec2.3[n,32,32,32] d up1[n,16,64,64] -> d up1.weight[32,16,2,2] d up1.bias[16] up1 scratch[2064] */
        tiny_unet_conv_wgrad_kernel(&tiny_unet_conv_wgrad_sizes_3, n, rows_32, AT(real, B118_d_up1_weight),
            AT(real, B119_d_up1_bias), AT(double, B191_up1_scratch),
            NULL, (const real *const[]){AT(real, B174_dec2_3)}, AT(real, B190_d_up1));
        begin(step, 33, "conv_dgrad of dec1.0", NULL, 22, 113246208, 3363840);
        /* d dec1.0[n,16,64,64] dec1.0.weight[16,32,3,3] -> d enc1.3[n,16,64,64] */
        tiny_unet_zero_halo_kernel(&tiny_unet_zero_halo_sizes_1, n, rows_64, AT(real, B192_d_enc1_3));
        tiny_unet_conv_dgrad_kernel(&tiny_unet_conv_dgrad_sizes_3, n, rows_64, AT(real, B192_d_enc1_3),
            AT(real, B186_d_dec1_0), AT(real, B005_dec1_0_weight), NULL);
        begin(step, 34, "upconv_dgrad of up1", NULL, 21, 25165824, 3255296);
        /* d up1[n,16,64,64] up1.weight[32,16,2,2] dec2.3[n,32,32,32] -> d dec2.2[n,32,32,32] */
        tiny_unet_zero_halo_kernel(&tiny_unet_zero_halo_sizes_3, n, rows_32, AT(real, B193_d_dec2_2));
        tiny_unet_upconv_dgrad_kernel(&tiny_unet_upconv_dgrad_sizes_0, n, rows_32, AT(real, B193_d_dec2_2),
            AT(real, B190_d_up1), AT(real, B007_up1_weight), AT(real, B174_dec2_3));
        begin(step, 35, "adam", NULL, 32, 108708, 254016); /* the parameters final.weight to up1.bias */
        tiny_unet_adam_kernel(&tiny_unet_adam_sizes_0, AT(real, B001_final_weight),
            AT(real, B112_d_final_weight), AT(real, B038_m_final_weight), AT(real, B075_v_final_weight),
            NULL, NULL, NULL, NULL, 9072, step->learning_rate, step->step, 0, 9072);
        begin(step, 36, "conv_wgrad of dec2.2", NULL, 20, 113246208, 1886592);
        /* dec2.1[n,32,32,32] d dec2.2[n,32,32,32] -> d dec2.2.weight[32,32,3,3] d dec2.2.bias[32]
            dec2.2 scratch[9248] */
        tiny_unet_conv_wgrad_kernel(&tiny_unet_conv_wgrad_sizes_4, n, rows_32, AT(real, B121_d_dec2_2_weight),
            AT(real, B122_d_dec2_2_bias), AT(double, B194_dec2_2_scratch),
            NULL, (const real *const[]){AT(real, B173_dec2_1)}, AT(real, B193_d_dec2_2));
        begin(step, 37, "conv_dgrad of dec2.2", NULL, 20, 113246208, 2700288);
        /* d dec2.2[n,32,32,32] dec2.2.weight[32,32,3,3] dec2.1[n,32,32,32] -> d dec2.0[n,32,32,32] */
        tiny_unet_zero_halo_kernel(&tiny_unet_zero_halo_sizes_3, n, rows_32, AT(real, B195_d_dec2_0));
        tiny_unet_conv_dgrad_kernel(&tiny_unet_conv_dgrad_sizes_4, n, rows_32, AT(real, B195_d_dec2_0),
            AT(real, B193_d_dec2_2), AT(real, B009_dec2_2_weight), AT(real, B173_dec2_1));
        begin(step, 38, "upconv of up2", NULL, 19, 25165824, 1313920);
        /* dec3.3[n,64,16,16] up2.weight[64,32,2,2] up2.bias[32] -> up2[n,32,32,32] */
        tiny_unet_zero_halo_kernel(&tiny_unet_zero_halo_sizes_3, n, rows_32, AT(real, B196_up2));
        tiny_unet_upconv_kernel(&tiny_unet_upconv_sizes_1, n, rows_32, AT(real, B196_up2),
            (const real *const[]){AT(real, B171_dec3_3)}, AT(real, B013_up2_weight), AT(real, B014_up2_bias));
        begin(step, 39, "conv_wgrad of dec2.0", NULL, 20, 226492416, 2884992);
        /* dec2.concat[n,64,32,32] d dec2.0[n,32,32,32] -> d dec2.0.weight[32,64,3,3] d dec2.0.bias[32]
            dec2.0 scratch[18464] */
        tiny_unet_conv_wgrad_kernel(&tiny_unet_conv_wgrad_sizes_5, n, rows_32, AT(real, B123_d_dec2_0_weight),
            AT(real, B124_d_dec2_0_bias), AT(double, B197_dec2_0_scratch),
            NULL, (const real *const[]){AT(real, B196_up2), AT(real, B162_enc2_3)}, AT(real, B195_d_dec2_0));
        begin(step, 40, "conv_dgrad of dec2.0", NULL, 20, 113246208, 1747968);
        /* d dec2.0[n,32,32,32] dec2.0.weight[32,64,3,3] -> d up2[n,32,32,32] */
        tiny_unet_conv_dgrad_kernel(&tiny_unet_conv_dgrad_sizes_5, n, rows_32, AT(real, B198_d_up2),
            AT(real, B195_d_dec2_0), AT(real, B011_dec2_0_weight), NULL);
        begin(step, 41, "upconv_wgrad of up2", NULL, 19, 25165824, 1278336);
        /* dec3.3[n,64,16,16] d up2[n,32,32,32] -> d up2.weight[64,32,2,2] d up2.bias[32] up2 scratch[8224] */
        tiny_unet_conv_wgrad_kernel(&tiny_unet_conv_wgrad_sizes_6, n, rows_16, AT(real, B126_d_up2_weight),
            AT(real, B127_d_up2_bias), AT(double, B199_up2_scratch),
            NULL, (const real *const[]){AT(real, B171_dec3_3)}, AT(real, B198_d_up2));
        begin(step, 42, "upconv_dgrad of up2", NULL, 19, 25165824, 1710080);
        /* d up2[n,32,32,32] up2.weight[64,32,2,2] dec3.3[n,64,16,16] -> d dec3.2[n,64,16,16] */
        tiny_unet_zero_halo_kernel(&tiny_unet_zero_halo_sizes_5, n, rows_16, AT(real, B200_d_dec3_2));
        tiny_unet_upconv_dgrad_kernel(&tiny_unet_upconv_dgrad_sizes_1, n, rows_16, AT(real, B200_d_dec3_2),
            AT(real, B198_d_up2), AT(real, B013_up2_weight), AT(real, B171_dec3_3));
        begin(step, 43, "conv_dgrad of dec3.2", NULL, 18, 113246208, 1640448);
        /* d dec3.2[n,64,16,16] dec3.2.weight[64,64,3,3] dec3.1[n,64,16,16] -> d dec3.0[n,64,16,16] */
        tiny_unet_zero_halo_kernel(&tiny_unet_zero_halo_sizes_5, n, rows_16, AT(real, B201_d_dec3_0));
        tiny_unet_conv_dgrad_kernel(&tiny_unet_conv_dgrad_sizes_6, n, rows_16, AT(real, B201_d_dec3_0),
            AT(real, B200_d_dec3_2), AT(real, B015_dec3_2_weight), AT(real, B170_dec3_1));
        begin(step, 44, "conv_wgrad of dec3.0", NULL, 18, 226492416, 2378496);
        /* dec3.concat[n,128,16,16] d dec3.0[n,64,16,16] -> d dec3.0.weight[64,128,3,3] d dec3.0.bias[64]
            dec3.0 scratch[73792] */
        tiny_unet_conv_wgrad_kernel(&tiny_unet_conv_wgrad_sizes_7, n, rows_16, AT(real, B131_d_dec3_0_weight),
            AT(real, B132_d_dec3_0_bias), AT(double, B202_dec3_0_scratch),
            NULL, (const real *const[]){AT(real, B169_up3), AT(real, B165_enc3_3)}, AT(real, B201_d_dec3_0));
        begin(step, 45, "conv_dgrad of dec3.0", NULL, 18, 113246208, 1185792);
        /* d dec3.0[n,64,16,16] dec3.0.weight[64,128,3,3] -> d up3[n,64,16,16] */
        tiny_unet_conv_dgrad_kernel(&tiny_unet_conv_dgrad_sizes_7, n, rows_16, AT(real, B203_d_up3),
            AT(real, B201_d_dec3_0), AT(real, B017_dec3_0_weight), NULL);
        begin(step, 46, "conv_dgrad of dec3.0", NULL, 18, 113246208, 1290240);
        /* d dec3.0[n,64,16,16] dec3.0.weight[64,128,3,3] -> d enc3.3[n,64,16,16] */
        tiny_unet_zero_halo_kernel(&tiny_unet_zero_halo_sizes_5, n, rows_16, AT(real, B204_d_enc3_3));
        tiny_unet_conv_dgrad_kernel(&tiny_unet_conv_dgrad_sizes_8, n, rows_16, AT(real, B204_d_enc3_3),
            AT(real, B201_d_dec3_0), AT(real, B017_dec3_0_weight), NULL);
        begin(step, 47, "adam", NULL, 32, 885504, 2066176); /* the parameters dec3.0.weight to dec3.0.bias */
        tiny_unet_adam_kernel(&tiny_unet_adam_sizes_0, AT(real, B017_dec3_0_weight),
            AT(real, B131_d_dec3_0_weight), AT(real, B054_m_dec3_0_weight), AT(real, B091_v_dec3_0_weight),
            NULL, NULL, NULL, NULL, 73792, step->learning_rate, step->step, 0, 73792);
        begin(step, 48, "upconv_wgrad of up3", NULL, 17, 25165824, 983808);
        /* bottleneck.3[n,128,8,8] d up3[n,64,16,16] -> d up3.weight[128,64,2,2] d up3.bias[64]
            up3 scratch[32832] */
        tiny_unet_conv_wgrad_kernel(&tiny_unet_conv_wgrad_sizes_8, n, rows_8, AT(real, B134_d_up3_weight),
            AT(real, B135_d_up3_bias), AT(double, B205_up3_scratch),
            NULL, (const real *const[]){AT(real, B168_bottleneck_3)}, AT(real, B203_d_up3));
        begin(step, 49, "conv_wgrad of dec3.2", NULL, 18, 113246208, 1438464);
        /* dec3.1[n,64,16,16] d dec3.2[n,64,16,16] -> d dec3.2.weight[64,64,3,3] d dec3.2.bias[64]
            dec3.2 scratch[36928] */
        tiny_unet_conv_wgrad_kernel(&tiny_unet_conv_wgrad_sizes_9, n, rows_16, AT(real, B128_d_dec3_2_weight),
            AT(real, B129_d_dec3_2_bias), AT(double, B206_dec3_2_scratch),
            NULL, (const real *const[]){AT(real, B170_dec3_1)}, AT(real, B200_d_dec3_2));
        begin(step, 50, "adam", NULL, 32, 541824, 1264256); /* the parameters up2.weight to dec3.2.bias */
        tiny_unet_adam_kernel(&tiny_unet_adam_sizes_0, AT(real, B013_up2_weight), AT(real, B126_d_up2_weight),
            AT(real, B050_m_up2_weight), AT(real, B087_v_up2_weight),
            NULL, NULL, NULL, NULL, 45152, step->learning_rate, step->step, 0, 45152);
        begin(step, 51, "upconv_dgrad of up3", NULL, 17, 25165824, 1028096);
        /* d up3[n,64,16,16] up3.weight[128,64,2,2] bottleneck.3[n,128,8,8] -> d bottleneck.2[n,128,8,8] */
        tiny_unet_zero_halo_kernel(&tiny_unet_zero_halo_sizes_7, n, rows_8, AT(real, B207_d_bottleneck_2));
        tiny_unet_upconv_dgrad_kernel(&tiny_unet_upconv_dgrad_sizes_2, n, rows_8, AT(real, B207_d_bottleneck_2),
            AT(real, B203_d_up3), AT(real, B019_up3_weight), AT(real, B168_bottleneck_3));
        begin(step, 52, "adam", NULL, 32, 393984, 919296); /* the parameters up3.weight to up3.bias */
        tiny_unet_adam_kernel(&tiny_unet_adam_sizes_0, AT(real, B019_up3_weight), AT(real, B134_d_up3_weight),
            AT(real, B056_m_up3_weight), AT(real, B093_v_up3_weight),
            NULL, NULL, NULL, NULL, 32832, step->learning_rate, step->step, 0, 32832);
        begin(step, 53, "conv_wgrad of bottleneck.2", NULL, 15, 113246208, 2385408);
        /* bottleneck.1[n,128,8,8] d bottleneck.2[n,128,8,8] -> d bottleneck.2.weight[128,128,3,3]
            d bottleneck.2.bias[128] bottleneck.2 scratch[147584] */
        tiny_unet_conv_wgrad_kernel(&tiny_unet_conv_wgrad_sizes_10, n, rows_8, AT(real, B137_d_bottleneck_2_weight),
            AT(real, B138_d_bottleneck_2_bias), AT(double, B208_bottleneck_2_scratch),
            NULL, (const real *const[]){AT(real, B167_bottleneck_1)}, AT(real, B207_d_bottleneck_2));
        begin(step, 54, "conv_dgrad of bottleneck.2", NULL, 15, 113246208, 1511424);
        /* d bottleneck.2[n,128,8,8] bottleneck.2.weight[128,128,3,3] bottleneck.1[n,128,8,8]
            -> d bottleneck.0[n,128,8,8] */
        tiny_unet_zero_halo_kernel(&tiny_unet_zero_halo_sizes_7, n, rows_8, AT(real, B209_d_bottleneck_0));
        tiny_unet_conv_dgrad_kernel(&tiny_unet_conv_dgrad_sizes_9, n, rows_8, AT(real, B209_d_bottleneck_0),
            AT(real, B207_d_bottleneck_2), AT(real, B021_bottleneck_2_weight), AT(real, B167_bottleneck_1));
        begin(step, 55, "adam", NULL, 32, 1771008, 4132352);
        /* the parameters bottleneck.2.weight to bottleneck.2.bias */
        tiny_unet_adam_kernel(&tiny_unet_adam_sizes_0, AT(real, B021_bottleneck_2_weight),
            AT(real, B137_d_bottleneck_2_weight), AT(real, B058_m_bottleneck_2_weight),
            AT(real, B095_v_bottleneck_2_weight),
            NULL, NULL, NULL, NULL, 147584, step->learning_rate, step->step, 0, 147584);
        begin(step, 56, "conv_wgrad of bottleneck.0", NULL, 15, 56623104, 1347072);
        /* bottleneck.max_pool[n,64,8,8] d bottleneck.0[n,128,8,8] -> d bottleneck.0.weight[128,64,3,3]
            d bottleneck.0.bias[128] bottleneck.0 scratch[73856] */
        tiny_unet_conv_wgrad_kernel(&tiny_unet_conv_wgrad_sizes_11, n, rows_8, AT(real, B140_d_bottleneck_0_weight),
            AT(real, B141_d_bottleneck_0_bias), AT(double, B210_bottleneck_0_scratch),
            NULL, (const real *const[]){AT(real, B166_bottleneck_max_pool)}, AT(real, B209_d_bottleneck_0));
        begin(step, 57, "conv_dgrad of bottleneck.0", NULL, 15, 56623104, 700416);
        /* d bottleneck.0[n,128,8,8] bottleneck.0.weight[128,64,3,3] -> d bottleneck.max_pool[n,64,8,8] */
        tiny_unet_conv_dgrad_kernel(&tiny_unet_conv_dgrad_sizes_10, n, rows_8, AT(real, B211_d_bottleneck_max_pool),
            AT(real, B209_d_bottleneck_0), AT(real, B023_bottleneck_0_weight), NULL);
        begin(step, 58, "adam", NULL, 32, 886272, 2067968);
        /* the parameters bottleneck.0.weight to bottleneck.0.bias */
        tiny_unet_adam_kernel(&tiny_unet_adam_sizes_0, AT(real, B023_bottleneck_0_weight),
            AT(real, B140_d_bottleneck_0_weight), AT(real, B060_m_bottleneck_0_weight),
            AT(real, B097_v_bottleneck_0_weight),
            NULL, NULL, NULL, NULL, 73856, step->learning_rate, step->step, 0, 73856);
        begin(step, 59, "max_pool_grad of bottleneck.max_pool", NULL, 15, 98304, 1591296);
        /* enc3.3[n,64,16,16] d bottleneck.max_pool[n,64,8,8] d enc3.3[n,64,16,16] -> d enc3.2[n,64,16,16] */
        tiny_unet_max_pool_grad_kernel(&tiny_unet_max_pool_grad_sizes_0, n, rows_16, AT(real, B212_d_enc3_2),
            AT(real, B165_enc3_3), AT(real, B211_d_bottleneck_max_pool), AT(real, B204_d_enc3_3));
        begin(step, 60, "conv_wgrad of enc3.2", NULL, 13, 113246208, 1438464);
        /* enc3.1[n,64,16,16] d enc3.2[n,64,16,16] -> d enc3.2.weight[64,64,3,3] d enc3.2.bias[64]
            enc3.2 scratch[36928] */
        tiny_unet_conv_wgrad_kernel(&tiny_unet_conv_wgrad_sizes_9, n, rows_16, AT(real, B143_d_enc3_2_weight),
            AT(real, B144_d_enc3_2_bias), AT(double, B213_enc3_2_scratch),
            NULL, (const real *const[]){AT(real, B164_enc3_1)}, AT(real, B212_d_enc3_2));
        begin(step, 61, "conv_dgrad of enc3.2", NULL, 13, 113246208, 1640448);
        /* d enc3.2[n,64,16,16] enc3.2.weight[64,64,3,3] enc3.1[n,64,16,16] -> d enc3.0[n,64,16,16] */
        tiny_unet_zero_halo_kernel(&tiny_unet_zero_halo_sizes_5, n, rows_16, AT(real, B214_d_enc3_0));
        tiny_unet_conv_dgrad_kernel(&tiny_unet_conv_dgrad_sizes_6, n, rows_16, AT(real, B214_d_enc3_0),
            AT(real, B212_d_enc3_2), AT(real, B025_enc3_2_weight), AT(real, B164_enc3_1));
        begin(step, 62, "adam", NULL, 32, 443136, 1033984); /* the parameters enc3.2.weight to enc3.2.bias */
        tiny_unet_adam_kernel(&tiny_unet_adam_sizes_0, AT(real, B025_enc3_2_weight),
            AT(real, B143_d_enc3_2_weight), AT(real, B062_m_enc3_2_weight), AT(real, B099_v_enc3_2_weight),
            NULL, NULL, NULL, NULL, 36928, step->learning_rate, step->step, 0, 36928);
        begin(step, 63, "conv_wgrad of enc3.0", NULL, 13, 56623104, 968448);
        /* enc3.max_pool[n,32,16,16] d enc3.0[n,64,16,16] -> d enc3.0.weight[64,32,3,3] d enc3.0.bias[64]
            enc3.0 scratch[18496] */
        tiny_unet_conv_wgrad_kernel(&tiny_unet_conv_wgrad_sizes_12, n, rows_16, AT(real, B146_d_enc3_0_weight),
            AT(real, B147_d_enc3_0_bias), AT(double, B215_enc3_0_scratch),
            NULL, (const real *const[]){AT(real, B163_enc3_max_pool)}, AT(real, B214_d_enc3_0));
        begin(step, 64, "conv_dgrad of enc3.0", NULL, 13, 56623104, 768000);
        /* d enc3.0[n,64,16,16] enc3.0.weight[64,32,3,3] -> d enc3.max_pool[n,32,16,16] */
        tiny_unet_conv_dgrad_kernel(&tiny_unet_conv_dgrad_sizes_11, n, rows_16, AT(real, B216_d_enc3_max_pool),
            AT(real, B214_d_enc3_0), AT(real, B027_enc3_0_weight), NULL);
        begin(step, 65, "conv_dgrad of dec2.0", NULL, 20, 113246208, 1849344);
        /* d dec2.0[n,32,32,32] dec2.0.weight[32,64,3,3] -> d enc2.3[n,32,32,32] */
        tiny_unet_zero_halo_kernel(&tiny_unet_zero_halo_sizes_3, n, rows_32, AT(real, B217_d_enc2_3));
        tiny_unet_conv_dgrad_kernel(&tiny_unet_conv_dgrad_sizes_12, n, rows_32, AT(real, B217_d_enc2_3),
            AT(real, B195_d_dec2_0), AT(real, B011_dec2_0_weight), NULL);
        begin(step, 66, "adam", NULL, 32, 332544, 775936); /* the parameters dec2.2.weight to dec2.0.bias */
        tiny_unet_adam_kernel(&tiny_unet_adam_sizes_0, AT(real, B009_dec2_2_weight),
            AT(real, B121_d_dec2_2_weight), AT(real, B046_m_dec2_2_weight), AT(real, B083_v_dec2_2_weight),
            NULL, NULL, NULL, NULL, 27712, step->learning_rate, step->step, 0, 27712);
        begin(step, 67, "max_pool_grad of enc3.max_pool", NULL, 13, 196608, 2860032);
        /* enc2.3[n,32,32,32] d enc3.max_pool[n,32,16,16] d enc2.3[n,32,32,32] -> d enc2.2[n,32,32,32] */
        tiny_unet_max_pool_grad_kernel(&tiny_unet_max_pool_grad_sizes_1, n, rows_32, AT(real, B218_d_enc2_2),
            AT(real, B162_enc2_3), AT(real, B216_d_enc3_max_pool), AT(real, B217_d_enc2_3));
        begin(step, 68, "conv_wgrad of enc2.2", NULL, 12, 113246208, 1886592);
        /* enc2.1[n,32,32,32] d enc2.2[n,32,32,32] -> d enc2.2.weight[32,32,3,3] d enc2.2.bias[32]
            enc2.2 scratch[9248] */
        tiny_unet_conv_wgrad_kernel(&tiny_unet_conv_wgrad_sizes_4, n, rows_32, AT(real, B148_d_enc2_2_weight),
            AT(real, B149_d_enc2_2_bias), AT(double, B219_enc2_2_scratch),
            NULL, (const real *const[]){AT(real, B161_enc2_1)}, AT(real, B218_d_enc2_2));
        begin(step, 69, "conv_dgrad of enc2.2", NULL, 12, 113246208, 2700288);
        /* d enc2.2[n,32,32,32] enc2.2.weight[32,32,3,3] enc2.1[n,32,32,32] -> d enc2.0[n,32,32,32] */
        tiny_unet_zero_halo_kernel(&tiny_unet_zero_halo_sizes_3, n, rows_32, AT(real, B220_d_enc2_0));
        tiny_unet_conv_dgrad_kernel(&tiny_unet_conv_dgrad_sizes_4, n, rows_32, AT(real, B220_d_enc2_0),
            AT(real, B218_d_enc2_2), AT(real, B029_enc2_2_weight), AT(real, B161_enc2_1));
        begin(step, 70, "adam", NULL, 32, 332928, 776832); /* the parameters enc3.0.weight to enc2.2.bias */
        tiny_unet_adam_kernel(&tiny_unet_adam_sizes_0, AT(real, B027_enc3_0_weight),
            AT(real, B146_d_enc3_0_weight), AT(real, B064_m_enc3_0_weight), AT(real, B101_v_enc3_0_weight),
            NULL, NULL, NULL, NULL, 27744, step->learning_rate, step->step, 0, 27744);
        begin(step, 71, "conv_wgrad of enc2.0", NULL, 12, 56623104, 1387392);
        /* enc2.max_pool[n,16,32,32] d enc2.0[n,32,32,32] -> d enc2.0.weight[32,16,3,3] d enc2.0.bias[32]
            enc2.0 scratch[4640] */
        tiny_unet_conv_wgrad_kernel(&tiny_unet_conv_wgrad_sizes_13, n, rows_32, AT(real, B151_d_enc2_0_weight),
            AT(real, B152_d_enc2_0_bias), AT(double, B221_enc2_0_scratch),
            NULL, (const real *const[]){AT(real, B160_enc2_max_pool)}, AT(real, B220_d_enc2_0));
        begin(step, 72, "conv_dgrad of enc2.0", NULL, 12, 56623104, 1299456);
        /* d enc2.0[n,32,32,32] enc2.0.weight[32,16,3,3] -> d enc2.max_pool[n,16,32,32] */
        tiny_unet_conv_dgrad_kernel(&tiny_unet_conv_dgrad_sizes_13, n, rows_32, AT(real, B222_d_enc2_max_pool),
            AT(real, B220_d_enc2_0), AT(real, B031_enc2_0_weight), NULL);
        begin(step, 73, "max_pool_grad of enc2.max_pool", NULL, 12, 393216, 5411328);
        /* enc1.3[n,16,64,64] d enc2.max_pool[n,16,32,32] d enc1.3[n,16,64,64] -> d enc1.2[n,16,64,64] */
        tiny_unet_max_pool_grad_kernel(&tiny_unet_max_pool_grad_sizes_2, n, rows_64, AT(real, B223_d_enc1_2),
            AT(real, B159_enc1_3), AT(real, B222_d_enc2_max_pool), AT(real, B192_d_enc1_3));
        begin(step, 74, "conv_dgrad of enc1.2", NULL, 11, 113246208, 4927488);
        /* d enc1.2[n,16,64,64] enc1.2.weight[16,16,3,3] enc1.1[n,16,64,64] -> d enc1.0[n,16,64,64] */
        tiny_unet_conv_dgrad_kernel(&tiny_unet_conv_dgrad_sizes_14, n, rows_64, AT(real, B224_d_enc1_0),
            AT(real, B223_d_enc1_2), AT(real, B033_enc1_2_weight), AT(real, B158_enc1_1));
        begin(step, 75, "conv_wgrad of enc1.2", NULL, 11, 113246208, 3373248);
        /* enc1.1[n,16,64,64] d enc1.2[n,16,64,64] -> d enc1.2.weight[16,16,3,3] d enc1.2.bias[16]
            enc1.2 scratch[2320] */
        tiny_unet_conv_wgrad_kernel(&tiny_unet_conv_wgrad_sizes_1, n, rows_64, AT(real, B153_d_enc1_2_weight),
            AT(real, B154_d_enc1_2_bias), AT(double, B225_enc1_2_scratch),
            NULL, (const real *const[]){AT(real, B158_enc1_1)}, AT(real, B223_d_enc1_2));
        begin(step, 76, "cast of noisy cast", NULL, 4, 73728, 461184);
        /* noisy[n,3,64,64] -> noisy cast[n,3,64,64] */
        tiny_unet_zero_halo_kernel(&tiny_unet_zero_halo_sizes_0, n, rows_64, AT(real, B226_noisy_cast));
        tiny_unet_cast_kernel(&tiny_unet_cast_sizes_0, n, rows_64, AT(real, B226_noisy_cast),
            INPUT(uint16_t, 0, 12288));
        begin(step, 77, "conv_wgrad of enc1.0", NULL, 11, 21233664, 1891968);
        /* noisy cast[n,3,64,64] d enc1.0[n,16,64,64] -> d enc1.0.weight[16,3,3,3] d enc1.0.bias[16]
            enc1.0 scratch[448] */
        tiny_unet_conv_wgrad_kernel(&tiny_unet_conv_wgrad_sizes_14, n, rows_64, AT(real, B155_d_enc1_0_weight),
            AT(real, B156_d_enc1_0_bias), AT(double, B227_enc1_0_scratch),
            NULL, (const real *const[]){AT(real, B226_noisy_cast)}, AT(real, B224_d_enc1_0));
        begin(step, 78, "adam", NULL, 32, 88896, 207424); /* the parameters enc2.0.weight to enc1.0.bias */
        tiny_unet_adam_kernel(&tiny_unet_adam_sizes_0, AT(real, B031_enc2_0_weight),
            AT(real, B151_d_enc2_0_weight), AT(real, B068_m_enc2_0_weight), AT(real, B105_v_enc2_0_weight),
            NULL, NULL, NULL, NULL, 7408, step->learning_rate, step->step, 0, 7408);
    }
}

/* ---- eval: batch 1, 6,621,312 bytes of the arena ---- */

static void eval(const UnetStep *step) {
    char *const arena = step->arena;
    const int n = step->n, start = 0;
    const int32_t(*const valid)[3] = step->valid;
    (void)n, (void)start, (void)valid;
#pragma omp parallel num_threads(step->threads)
    {
        begin(step, 0, "cast of noisy cast", NULL, 4, 12288, 76864);
        tiny_unet_zero_halo_kernel(&tiny_unet_zero_halo_sizes_0, n, rows_64, AT(real, B228_noisy_cast));
        tiny_unet_cast_kernel(&tiny_unet_cast_sizes_0, n, rows_64, AT(real, B228_noisy_cast),
            INPUT(uint16_t, 0, 12288));
        begin(step, 1, "conv of enc1.0", NULL, 11, 3538944, 332864);
        tiny_unet_zero_halo_kernel(&tiny_unet_zero_halo_sizes_1, n, rows_64, AT(real, B229_enc1_1));
        tiny_unet_conv_kernel(&tiny_unet_conv_sizes_0, n, rows_64, AT(real, B229_enc1_1),
            (const real *const[]){AT(real, B228_noisy_cast)}, AT(real, B035_enc1_0_weight),
            AT(real, B036_enc1_0_bias));
        begin(step, 2, "conv of enc1.2", NULL, 11, 18874368, 566848);
        tiny_unet_zero_halo_kernel(&tiny_unet_zero_halo_sizes_1, n, rows_64, AT(real, B230_enc1_3));
        tiny_unet_conv_kernel(&tiny_unet_conv_sizes_1, n, rows_64, AT(real, B230_enc1_3),
            (const real *const[]){AT(real, B229_enc1_1)}, AT(real, B033_enc1_2_weight),
            AT(real, B034_enc1_2_bias));
        begin(step, 3, "max_pool of enc2.max_pool", NULL, 12, 65536, 352768);
        tiny_unet_zero_halo_kernel(&tiny_unet_zero_halo_sizes_2, n, rows_32, AT(real, B231_enc2_max_pool));
        tiny_unet_max_pool_kernel(&tiny_unet_max_pool_sizes_0, n, rows_32, AT(real, B231_enc2_max_pool),
            AT(real, B230_enc1_3));
        begin(step, 4, "conv of enc2.0", NULL, 12, 9437184, 240512);
        tiny_unet_zero_halo_kernel(&tiny_unet_zero_halo_sizes_3, n, rows_32, AT(real, B232_enc2_1));
        tiny_unet_conv_kernel(&tiny_unet_conv_sizes_2, n, rows_32, AT(real, B232_enc2_1),
            (const real *const[]){AT(real, B231_enc2_max_pool)}, AT(real, B031_enc2_0_weight),
            AT(real, B032_enc2_0_bias));
        begin(step, 5, "conv of enc2.2", NULL, 12, 18874368, 332928);
        tiny_unet_zero_halo_kernel(&tiny_unet_zero_halo_sizes_3, n, rows_32, AT(real, B233_enc2_3));
        tiny_unet_conv_kernel(&tiny_unet_conv_sizes_3, n, rows_32, AT(real, B233_enc2_3),
            (const real *const[]){AT(real, B232_enc2_1)}, AT(real, B029_enc2_2_weight),
            AT(real, B030_enc2_2_bias));
        begin(step, 6, "max_pool of enc3.max_pool", NULL, 13, 32768, 189440);
        tiny_unet_zero_halo_kernel(&tiny_unet_zero_halo_sizes_4, n, rows_16, AT(real, B234_enc3_max_pool));
        tiny_unet_max_pool_kernel(&tiny_unet_max_pool_sizes_1, n, rows_16, AT(real, B234_enc3_max_pool),
            AT(real, B233_enc2_3));
        begin(step, 7, "conv of enc3.0", NULL, 13, 9437184, 198400);
        tiny_unet_zero_halo_kernel(&tiny_unet_zero_halo_sizes_5, n, rows_16, AT(real, B235_enc3_1));
        tiny_unet_conv_kernel(&tiny_unet_conv_sizes_4, n, rows_16, AT(real, B235_enc3_1),
            (const real *const[]){AT(real, B234_enc3_max_pool)}, AT(real, B027_enc3_0_weight),
            AT(real, B028_enc3_0_bias));
        begin(step, 8, "conv of enc3.2", NULL, 13, 18874368, 313600);
        tiny_unet_zero_halo_kernel(&tiny_unet_zero_halo_sizes_5, n, rows_16, AT(real, B236_enc3_3));
        tiny_unet_conv_kernel(&tiny_unet_conv_sizes_5, n, rows_16, AT(real, B236_enc3_3),
            (const real *const[]){AT(real, B235_enc3_1)}, AT(real, B025_enc3_2_weight),
            AT(real, B026_enc3_2_bias));
        begin(step, 9, "max_pool of bottleneck.max_pool", NULL, 15, 16384, 108544);
        tiny_unet_zero_halo_kernel(&tiny_unet_zero_halo_sizes_6, n, rows_8, AT(real, B237_bottleneck_max_pool));
        tiny_unet_max_pool_kernel(&tiny_unet_max_pool_sizes_2, n, rows_8, AT(real, B237_bottleneck_max_pool),
            AT(real, B236_enc3_3));
        begin(step, 10, "conv of bottleneck.0", NULL, 15, 9437184, 372224);
        tiny_unet_zero_halo_kernel(&tiny_unet_zero_halo_sizes_7, n, rows_8, AT(real, B238_bottleneck_1));
        tiny_unet_conv_kernel(&tiny_unet_conv_sizes_6, n, rows_8, AT(real, B238_bottleneck_1),
            (const real *const[]){AT(real, B237_bottleneck_max_pool)}, AT(real, B023_bottleneck_0_weight),
            AT(real, B024_bottleneck_0_bias));
        begin(step, 11, "conv of bottleneck.2", NULL, 15, 18874368, 674304);
        tiny_unet_conv_kernel(&tiny_unet_conv_sizes_7, n, rows_8, AT(real, B239_bottleneck_3),
            (const real *const[]){AT(real, B238_bottleneck_1)}, AT(real, B021_bottleneck_2_weight),
            AT(real, B022_bottleneck_2_bias));
        begin(step, 12, "upconv of up3", NULL, 17, 4194304, 247040);
        tiny_unet_zero_halo_kernel(&tiny_unet_zero_halo_sizes_5, n, rows_16, AT(real, B240_up3));
        tiny_unet_upconv_kernel(&tiny_unet_upconv_sizes_0, n, rows_16, AT(real, B240_up3),
            (const real *const[]){AT(real, B239_bottleneck_3)}, AT(real, B019_up3_weight),
            AT(real, B020_up3_bias));
        begin(step, 13, "conv of dec3.0", NULL, 18, 37748736, 544000);
        tiny_unet_zero_halo_kernel(&tiny_unet_zero_halo_sizes_5, n, rows_16, AT(real, B241_dec3_1));
        tiny_unet_conv_kernel(&tiny_unet_conv_sizes_8, n, rows_16, AT(real, B241_dec3_1),
            (const real *const[]){AT(real, B240_up3), AT(real, B236_enc3_3)}, AT(real, B017_dec3_0_weight),
            AT(real, B018_dec3_0_bias));
        begin(step, 14, "conv of dec3.2", NULL, 18, 18874368, 296192);
        tiny_unet_conv_kernel(&tiny_unet_conv_sizes_9, n, rows_16, AT(real, B242_dec3_3),
            (const real *const[]){AT(real, B241_dec3_1)}, AT(real, B015_dec3_2_weight),
            AT(real, B016_dec3_2_bias));
        begin(step, 15, "upconv of up2", NULL, 19, 4194304, 246400);
        tiny_unet_zero_halo_kernel(&tiny_unet_zero_halo_sizes_3, n, rows_32, AT(real, B243_up2));
        tiny_unet_upconv_kernel(&tiny_unet_upconv_sizes_1, n, rows_32, AT(real, B243_up2),
            (const real *const[]){AT(real, B242_dec3_3)}, AT(real, B013_up2_weight), AT(real, B014_up2_bias));
        begin(step, 16, "conv of dec2.0", NULL, 20, 37748736, 517760);
        tiny_unet_zero_halo_kernel(&tiny_unet_zero_halo_sizes_3, n, rows_32, AT(real, B244_dec2_1));
        tiny_unet_conv_kernel(&tiny_unet_conv_sizes_10, n, rows_32, AT(real, B244_dec2_1),
            (const real *const[]){AT(real, B243_up2), AT(real, B233_enc2_3)}, AT(real, B011_dec2_0_weight),
            AT(real, B012_dec2_0_bias));
        begin(step, 17, "conv of dec2.2", NULL, 20, 18874368, 316032);
        tiny_unet_conv_kernel(&tiny_unet_conv_sizes_11, n, rows_32, AT(real, B245_dec2_3),
            (const real *const[]){AT(real, B244_dec2_1)}, AT(real, B009_dec2_2_weight),
            AT(real, B010_dec2_2_bias));
        begin(step, 18, "upconv of up1", NULL, 21, 4194304, 418112);
        tiny_unet_zero_halo_kernel(&tiny_unet_zero_halo_sizes_1, n, rows_64, AT(real, B246_up1));
        tiny_unet_upconv_kernel(&tiny_unet_upconv_sizes_2, n, rows_64, AT(real, B246_up1),
            (const real *const[]){AT(real, B245_dec2_3)}, AT(real, B007_up1_weight), AT(real, B008_up1_bias));
        begin(step, 19, "conv of dec1.0", NULL, 22, 37748736, 854848);
        tiny_unet_zero_halo_kernel(&tiny_unet_zero_halo_sizes_1, n, rows_64, AT(real, B247_dec1_1));
        tiny_unet_conv_kernel(&tiny_unet_conv_sizes_12, n, rows_64, AT(real, B247_dec1_1),
            (const real *const[]){AT(real, B246_up1), AT(real, B230_enc1_3)}, AT(real, B005_dec1_0_weight),
            AT(real, B006_dec1_0_bias));
        begin(step, 20, "conv of dec1.2", NULL, 22, 18874368, 550208);
        tiny_unet_conv_kernel(&tiny_unet_conv_sizes_13, n, rows_64, AT(real, B248_dec1_3),
            (const real *const[]){AT(real, B247_dec1_1)}, AT(real, B003_dec1_2_weight),
            AT(real, B004_dec1_2_bias));
        begin(step, 21, "conv of final", NULL, 24, 393216, 311552);
        tiny_unet_conv_kernel(&tiny_unet_conv_sizes_14, n, rows_64, AT(real, B249_final),
            (const real *const[]){AT(real, B248_dec1_3)}, AT(real, B001_final_weight),
            AT(real, B002_final_bias));
        begin(step, 22, "mse", NULL, 33, 12288, 74304);
        /* final[n,3,64,64] clean[n,3,64,64] -> mse[1] mse scratch[64] */
        tiny_unet_mse_kernel(&tiny_unet_mse_sizes_0, n, rows_64, AT(double, B250_mse),
            AT(double, B251_mse_scratch), AT(real, B249_final), INPUT(uint16_t, 1, 12288), valid);
        begin(step, 23, "psnr", NULL, 34, 12288, 74304);
        /* final[n,3,64,64] clean[n,3,64,64] -> psnr[1] psnr scratch[64] */
        tiny_unet_psnr_kernel(&tiny_unet_psnr_sizes_0, n, rows_64, AT(double, B252_psnr),
            AT(double, B253_psnr_scratch), AT(real, B249_final), INPUT(uint16_t, 1, 12288), valid);
    }
}

/* ---- predict: batch 1, 6,621,312 bytes of the arena ---- */

static void predict(const UnetStep *step) {
    char *const arena = step->arena;
    const int n = step->n, start = 0;
    const int32_t(*const valid)[3] = step->valid;
    (void)n, (void)start, (void)valid;
#pragma omp parallel num_threads(step->threads)
    {
        /* 0: load of noisy (tiny_unet.unet:4): -> noisy[n,3,64,64] */
        tiny_unet_zero_halo_kernel(&tiny_unet_zero_halo_sizes_0, n, rows_64, AT(real, B254_noisy));
        begin(step, 1, "conv of enc1.0", NULL, 11, 3538944, 332864);
        /* noisy[n,3,64,64] enc1.0.weight[16,3,3,3] enc1.0.bias[16] -> enc1.1[n,16,64,64] */
        tiny_unet_zero_halo_kernel(&tiny_unet_zero_halo_sizes_1, n, rows_64, AT(real, B255_enc1_1));
        tiny_unet_conv_kernel(&tiny_unet_conv_sizes_0, n, rows_64, AT(real, B255_enc1_1),
            (const real *const[]){AT(real, B254_noisy)}, AT(real, B035_enc1_0_weight),
            AT(real, B036_enc1_0_bias));
        begin(step, 2, "conv of enc1.2", NULL, 11, 18874368, 566848);
        tiny_unet_zero_halo_kernel(&tiny_unet_zero_halo_sizes_1, n, rows_64, AT(real, B256_enc1_3));
        tiny_unet_conv_kernel(&tiny_unet_conv_sizes_1, n, rows_64, AT(real, B256_enc1_3),
            (const real *const[]){AT(real, B255_enc1_1)}, AT(real, B033_enc1_2_weight),
            AT(real, B034_enc1_2_bias));
        begin(step, 3, "max_pool of enc2.max_pool", NULL, 12, 65536, 352768);
        tiny_unet_zero_halo_kernel(&tiny_unet_zero_halo_sizes_2, n, rows_32, AT(real, B257_enc2_max_pool));
        tiny_unet_max_pool_kernel(&tiny_unet_max_pool_sizes_0, n, rows_32, AT(real, B257_enc2_max_pool),
            AT(real, B256_enc1_3));
        begin(step, 4, "conv of enc2.0", NULL, 12, 9437184, 240512);
        tiny_unet_zero_halo_kernel(&tiny_unet_zero_halo_sizes_3, n, rows_32, AT(real, B258_enc2_1));
        tiny_unet_conv_kernel(&tiny_unet_conv_sizes_2, n, rows_32, AT(real, B258_enc2_1),
            (const real *const[]){AT(real, B257_enc2_max_pool)}, AT(real, B031_enc2_0_weight),
            AT(real, B032_enc2_0_bias));
        begin(step, 5, "conv of enc2.2", NULL, 12, 18874368, 332928);
        tiny_unet_zero_halo_kernel(&tiny_unet_zero_halo_sizes_3, n, rows_32, AT(real, B259_enc2_3));
        tiny_unet_conv_kernel(&tiny_unet_conv_sizes_3, n, rows_32, AT(real, B259_enc2_3),
            (const real *const[]){AT(real, B258_enc2_1)}, AT(real, B029_enc2_2_weight),
            AT(real, B030_enc2_2_bias));
        begin(step, 6, "max_pool of enc3.max_pool", NULL, 13, 32768, 189440);
        tiny_unet_zero_halo_kernel(&tiny_unet_zero_halo_sizes_4, n, rows_16, AT(real, B260_enc3_max_pool));
        tiny_unet_max_pool_kernel(&tiny_unet_max_pool_sizes_1, n, rows_16, AT(real, B260_enc3_max_pool),
            AT(real, B259_enc2_3));
        begin(step, 7, "conv of enc3.0", NULL, 13, 9437184, 198400);
        tiny_unet_zero_halo_kernel(&tiny_unet_zero_halo_sizes_5, n, rows_16, AT(real, B261_enc3_1));
        tiny_unet_conv_kernel(&tiny_unet_conv_sizes_4, n, rows_16, AT(real, B261_enc3_1),
            (const real *const[]){AT(real, B260_enc3_max_pool)}, AT(real, B027_enc3_0_weight),
            AT(real, B028_enc3_0_bias));
        begin(step, 8, "conv of enc3.2", NULL, 13, 18874368, 313600);
        tiny_unet_zero_halo_kernel(&tiny_unet_zero_halo_sizes_5, n, rows_16, AT(real, B262_enc3_3));
        tiny_unet_conv_kernel(&tiny_unet_conv_sizes_5, n, rows_16, AT(real, B262_enc3_3),
            (const real *const[]){AT(real, B261_enc3_1)}, AT(real, B025_enc3_2_weight),
            AT(real, B026_enc3_2_bias));
        begin(step, 9, "max_pool of bottleneck.max_pool", NULL, 15, 16384, 108544);
        tiny_unet_zero_halo_kernel(&tiny_unet_zero_halo_sizes_6, n, rows_8, AT(real, B263_bottleneck_max_pool));
        tiny_unet_max_pool_kernel(&tiny_unet_max_pool_sizes_2, n, rows_8, AT(real, B263_bottleneck_max_pool),
            AT(real, B262_enc3_3));
        begin(step, 10, "conv of bottleneck.0", NULL, 15, 9437184, 372224);
        tiny_unet_zero_halo_kernel(&tiny_unet_zero_halo_sizes_7, n, rows_8, AT(real, B264_bottleneck_1));
        tiny_unet_conv_kernel(&tiny_unet_conv_sizes_6, n, rows_8, AT(real, B264_bottleneck_1),
            (const real *const[]){AT(real, B263_bottleneck_max_pool)}, AT(real, B023_bottleneck_0_weight),
            AT(real, B024_bottleneck_0_bias));
        begin(step, 11, "conv of bottleneck.2", NULL, 15, 18874368, 674304);
        tiny_unet_conv_kernel(&tiny_unet_conv_sizes_7, n, rows_8, AT(real, B265_bottleneck_3),
            (const real *const[]){AT(real, B264_bottleneck_1)}, AT(real, B021_bottleneck_2_weight),
            AT(real, B022_bottleneck_2_bias));
        begin(step, 12, "upconv of up3", NULL, 17, 4194304, 247040);
        tiny_unet_zero_halo_kernel(&tiny_unet_zero_halo_sizes_5, n, rows_16, AT(real, B266_up3));
        tiny_unet_upconv_kernel(&tiny_unet_upconv_sizes_0, n, rows_16, AT(real, B266_up3),
            (const real *const[]){AT(real, B265_bottleneck_3)}, AT(real, B019_up3_weight),
            AT(real, B020_up3_bias));
        begin(step, 13, "conv of dec3.0", NULL, 18, 37748736, 544000);
        tiny_unet_zero_halo_kernel(&tiny_unet_zero_halo_sizes_5, n, rows_16, AT(real, B267_dec3_1));
        tiny_unet_conv_kernel(&tiny_unet_conv_sizes_8, n, rows_16, AT(real, B267_dec3_1),
            (const real *const[]){AT(real, B266_up3), AT(real, B262_enc3_3)}, AT(real, B017_dec3_0_weight),
            AT(real, B018_dec3_0_bias));
        begin(step, 14, "conv of dec3.2", NULL, 18, 18874368, 296192);
        tiny_unet_conv_kernel(&tiny_unet_conv_sizes_9, n, rows_16, AT(real, B268_dec3_3),
            (const real *const[]){AT(real, B267_dec3_1)}, AT(real, B015_dec3_2_weight),
            AT(real, B016_dec3_2_bias));
        begin(step, 15, "upconv of up2", NULL, 19, 4194304, 246400);
        tiny_unet_zero_halo_kernel(&tiny_unet_zero_halo_sizes_3, n, rows_32, AT(real, B269_up2));
        tiny_unet_upconv_kernel(&tiny_unet_upconv_sizes_1, n, rows_32, AT(real, B269_up2),
            (const real *const[]){AT(real, B268_dec3_3)}, AT(real, B013_up2_weight), AT(real, B014_up2_bias));
        begin(step, 16, "conv of dec2.0", NULL, 20, 37748736, 517760);
        tiny_unet_zero_halo_kernel(&tiny_unet_zero_halo_sizes_3, n, rows_32, AT(real, B270_dec2_1));
        tiny_unet_conv_kernel(&tiny_unet_conv_sizes_10, n, rows_32, AT(real, B270_dec2_1),
            (const real *const[]){AT(real, B269_up2), AT(real, B259_enc2_3)}, AT(real, B011_dec2_0_weight),
            AT(real, B012_dec2_0_bias));
        begin(step, 17, "conv of dec2.2", NULL, 20, 18874368, 316032);
        tiny_unet_conv_kernel(&tiny_unet_conv_sizes_11, n, rows_32, AT(real, B271_dec2_3),
            (const real *const[]){AT(real, B270_dec2_1)}, AT(real, B009_dec2_2_weight),
            AT(real, B010_dec2_2_bias));
        begin(step, 18, "upconv of up1", NULL, 21, 4194304, 418112);
        tiny_unet_zero_halo_kernel(&tiny_unet_zero_halo_sizes_1, n, rows_64, AT(real, B272_up1));
        tiny_unet_upconv_kernel(&tiny_unet_upconv_sizes_2, n, rows_64, AT(real, B272_up1),
            (const real *const[]){AT(real, B271_dec2_3)}, AT(real, B007_up1_weight), AT(real, B008_up1_bias));
        begin(step, 19, "conv of dec1.0", NULL, 22, 37748736, 854848);
        tiny_unet_zero_halo_kernel(&tiny_unet_zero_halo_sizes_1, n, rows_64, AT(real, B273_dec1_1));
        tiny_unet_conv_kernel(&tiny_unet_conv_sizes_12, n, rows_64, AT(real, B273_dec1_1),
            (const real *const[]){AT(real, B272_up1), AT(real, B256_enc1_3)}, AT(real, B005_dec1_0_weight),
            AT(real, B006_dec1_0_bias));
        begin(step, 20, "conv of dec1.2", NULL, 22, 18874368, 550208);
        tiny_unet_conv_kernel(&tiny_unet_conv_sizes_13, n, rows_64, AT(real, B274_dec1_3),
            (const real *const[]){AT(real, B273_dec1_1)}, AT(real, B003_dec1_2_weight),
            AT(real, B004_dec1_2_bias));
        begin(step, 21, "conv of final", NULL, 24, 393216, 311552);
        tiny_unet_conv_kernel(&tiny_unet_conv_sizes_14, n, rows_64, AT(real, B275_final),
            (const real *const[]){AT(real, B274_dec1_3)}, AT(real, B001_final_weight),
            AT(real, B002_final_bias));
    }
}

/* ---- tables for the runtime; see unet/model.h ---- */

/* name, rank, sizes, initial values and their bound, offset, offsets of the moments */
static const UnetParameter parameter[] = {
    {"enc1.0.weight", 4, {16, 3, 3, 3}, UNET_INIT_UNIFORM, 0.19245008972987526, 1926528, {3854848, 5783168, -1, -1}},
    {"enc1.0.bias", 1, {16}, UNET_INIT_UNIFORM, 0.19245008972987526, 1928256, {3856576, 5784896, -1, -1}},
    {"enc1.2.weight", 4, {16, 16, 3, 3}, UNET_INIT_UNIFORM, 0.083333333333333329, 1917248, {3845568, 5773888, -1, -1}},
    {"enc1.2.bias", 1, {16}, UNET_INIT_UNIFORM, 0.083333333333333329, 1926464, {3854784, 5783104, -1, -1}},
    {"enc2.0.weight", 4, {32, 16, 3, 3}, UNET_INIT_UNIFORM, 0.083333333333333329, 1898688, {3827008, 5755328, -1, -1}},
    {"enc2.0.bias", 1, {32}, UNET_INIT_UNIFORM, 0.083333333333333329, 1917120, {3845440, 5773760, -1, -1}},
    {"enc2.2.weight", 4, {32, 32, 3, 3}, UNET_INIT_UNIFORM, 0.058925565098878967, 1861696, {3790016, 5718336, -1, -1}},
    {"enc2.2.bias", 1, {32}, UNET_INIT_UNIFORM, 0.058925565098878967, 1898560, {3826880, 5755200, -1, -1}},
    {"enc3.0.weight", 4, {64, 32, 3, 3}, UNET_INIT_UNIFORM, 0.058925565098878967, 1787712, {3716032, 5644352, -1, -1}},
    {"enc3.0.bias", 1, {64}, UNET_INIT_UNIFORM, 0.058925565098878967, 1861440, {3789760, 5718080, -1, -1}},
    {"enc3.2.weight", 4, {64, 64, 3, 3}, UNET_INIT_UNIFORM, 0.041666666666666664, 1640000, {3568320, 5496640, -1, -1}},
    {"enc3.2.bias", 1, {64}, UNET_INIT_UNIFORM, 0.041666666666666664, 1787456, {3715776, 5644096, -1, -1}},
    {"bottleneck.0.weight", 4, {128, 64, 3, 3}, UNET_INIT_UNIFORM, 0.041666666666666664, 1344576, {3272896, 5201216, -1, -1}},
    {"bottleneck.0.bias", 1, {128}, UNET_INIT_UNIFORM, 0.041666666666666664, 1639488, {3567808, 5496128, -1, -1}},
    {"bottleneck.2.weight", 4, {128, 128, 3, 3}, UNET_INIT_UNIFORM, 0.029462782549439483, 754240, {2682560, 4610880, -1, -1}},
    {"bottleneck.2.bias", 1, {128}, UNET_INIT_UNIFORM, 0.029462782549439483, 1344064, {3272384, 5200704, -1, -1}},
    {"up3.weight", 4, {128, 64, 2, 2}, UNET_INIT_UNIFORM, 0.0625, 622912, {2551232, 4479552, -1, -1}},
    {"up3.bias", 1, {64}, UNET_INIT_UNIFORM, 0.0625, 753984, {2682304, 4610624, -1, -1}},
    {"dec3.0.weight", 4, {64, 128, 3, 3}, UNET_INIT_UNIFORM, 0.029462782549439483, 327744, {2256064, 4184384, -1, -1}},
    {"dec3.0.bias", 1, {64}, UNET_INIT_UNIFORM, 0.029462782549439483, 622656, {2550976, 4479296, -1, -1}},
    {"dec3.2.weight", 4, {64, 64, 3, 3}, UNET_INIT_UNIFORM, 0.041666666666666664, 180032, {2108352, 4036672, -1, -1}},
    {"dec3.2.bias", 1, {64}, UNET_INIT_UNIFORM, 0.041666666666666664, 327488, {2255808, 4184128, -1, -1}},
    {"up2.weight", 4, {64, 32, 2, 2}, UNET_INIT_UNIFORM, 0.088388347648318433, 147136, {2075456, 4003776, -1, -1}},
    {"up2.bias", 1, {32}, UNET_INIT_UNIFORM, 0.088388347648318433, 179904, {2108224, 4036544, -1, -1}},
    {"dec2.0.weight", 4, {32, 64, 3, 3}, UNET_INIT_UNIFORM, 0.041666666666666664, 73280, {2001600, 3929920, -1, -1}},
    {"dec2.0.bias", 1, {32}, UNET_INIT_UNIFORM, 0.041666666666666664, 147008, {2075328, 4003648, -1, -1}},
    {"dec2.2.weight", 4, {32, 32, 3, 3}, UNET_INIT_UNIFORM, 0.058925565098878967, 36288, {1964608, 3892928, -1, -1}},
    {"dec2.2.bias", 1, {32}, UNET_INIT_UNIFORM, 0.058925565098878967, 73152, {2001472, 3929792, -1, -1}},
    {"up1.weight", 4, {32, 16, 2, 2}, UNET_INIT_UNIFORM, 0.125, 28032, {1956352, 3884672, -1, -1}},
    {"up1.bias", 1, {16}, UNET_INIT_UNIFORM, 0.125, 36224, {1964544, 3892864, -1, -1}},
    {"dec1.0.weight", 4, {16, 32, 3, 3}, UNET_INIT_UNIFORM, 0.058925565098878967, 9536, {1937856, 3866176, -1, -1}},
    {"dec1.0.bias", 1, {16}, UNET_INIT_UNIFORM, 0.058925565098878967, 27968, {1956288, 3884608, -1, -1}},
    {"dec1.2.weight", 4, {16, 16, 3, 3}, UNET_INIT_UNIFORM, 0.083333333333333329, 256, {1928576, 3856896, -1, -1}},
    {"dec1.2.bias", 1, {16}, UNET_INIT_UNIFORM, 0.083333333333333329, 9472, {1937792, 3866112, -1, -1}},
    {"final.weight", 4, {3, 16, 1, 1}, UNET_INIT_UNIFORM, 0.25, 0, {1928320, 3856640, -1, -1}},
    {"final.bias", 1, {3}, UNET_INIT_UNIFORM, 0.25, 192, {1928512, 3856832, -1, -1}},
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
    {UNET_UNORM16, 3, {1, 64, 64}, 3, 0, 12288, 12288, 12288, 192, 0, 24576},
    {UNET_UNORM16, 3, {1, 64, 64}, 3, 0, 12288, 12288, 12288, 192, 0, 24576},
};
static const int64_t train_result_offset[] = {
    10018240,
    10018176,
    -1, /* there may be no result at all */
};
static const UnetProgram train_program = {
    .name = "train",
    .run = train,
    .batch = 6, .steps = 80,
    .size = {1, 64, 64},
    .measured = {1, 64, 64},
    .extent = 21563840,
    .inputs = train_input,
    .result_offsets = train_result_offset,
    .input_bytes = 294912,
};
/* type, channels, {depth, height, width}, block; origin, strides, ring, bytes of a sample */
static const UnetLayout eval_input[] = {
    {UNET_UNORM16, 3, {1, 64, 64}, 3, 0, 12288, 12288, 12288, 192, 0, 24576},
    {UNET_UNORM16, 3, {1, 64, 64}, 3, 0, 12288, 12288, 12288, 192, 0, 24576},
};
static const int64_t eval_result_offset[] = {
    5785472,
    5785536,
    -1, /* there may be no result at all */
};
static const UnetProgram eval_program = {
    .name = "eval",
    .run = eval,
    .batch = 1, .steps = 25,
    .size = {1, 64, 64},
    .measured = {1, 64, 64},
    .extent = 6621312,
    .inputs = eval_input,
    .result_offsets = eval_result_offset,
    .input_bytes = 49152,
};
/* type, channels, {depth, height, width}, block; origin, strides, ring, bytes of a sample */
static const UnetLayout predict_input[] = {
    {UNET_F32, 3, {1, 64, 64}, 3, 201, 13072, 13068, 13068, 198, 0, 52288},
    {UNET_F32, 3, {1, 64, 64}, 3, 0, 12288, 12288, 12288, 192, 0, 0},
};
static const UnetLayout predict_output[] = {
    {UNET_F32, 3, {1, 64, 64}, 3, 0, 12288, 12288, 12288, 192, 0, 49152},
};
static const int64_t predict_output_offset[] = {6047104, };
static const int64_t predict_input_offset[] = {5784960, -1, };
/* rows in a band, rows that it lies behind, rows in a unit */
static const UnetBand predict_input_band[] = {{64, 0, 64}, {64, 0, 64}, };
static const UnetBand predict_output_band[] = {{64, 0, 64}, };
static const UnetWindows predict_windows = {.overlap = 0.5, .gaussian = true, .reach = {{1, 1, 48, 48},
    {1, 1, 48, 48}}};
static const int64_t predict_result_offset[] = {
    -1,
    -1,
    -1, /* there may be no result at all */
};
static const UnetProgram predict_program = {
    .name = "predict",
    .run = predict,
    .batch = 1, .steps = 23,
    .size = {1, 64, 64},
    .measured = {0, 0, 0},
    .extent = 6621312,
    .inputs = predict_input,
    .outputs = predict_output,
    .output_offsets = predict_output_offset,
    .input_offsets = predict_input_offset,
    .units = 0,
    .input_bands = predict_input_band, .output_bands = predict_output_band,
    .windows = &predict_windows,
    .result_offsets = predict_result_offset,
    .input_bytes = 0,
};
static const UnetSourceTerm data_term_0[] = {
    {UNET_SRC_FILES, .line = 27, .pattern = "noisy/*.png"},
};
static const UnetSourceTerm data_term_1[] = {
    {UNET_SRC_FILES, .line = 28, .pattern = "clean/*.png"},
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

const UnetModel tiny_unet_model = {
    .runtime_version = UNET_RUNTIME_VERSION, .table_bytes = UNET_TABLE_BYTES,
    .name = "tiny_unet",
    .source = "tiny_unet.unet", .source_hash = "16d462818c889222",
    .target = "cpu", .isa = "portable", .real = UNET_F32, .precision = "f32", .max_threads = 16,
    .instructions = UNET_INSTRUCTIONS_USED,
    .nparameter = 36, .parameter = parameter, .parameter_count = 482067,
    .persistent = 5784960,
    .ninput = 2, .inputs = input,
    .noutput = 1, .outputs = output,
    .nresult = 2, .results = result,
    .train = &train_program,
    .eval = &eval_program,
    .predict = &predict_program,
    .arena_bytes = 21563840,
    .ring = 3, .loader_ring_bytes = 884736,
    .stages_as_files = true,
    .predict_pad = UNET_PAD_REFLECT,
    .data = &data,
    .training = &training,
};
