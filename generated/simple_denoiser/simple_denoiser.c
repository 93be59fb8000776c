/* simple_denoiser.c - what the programs of simple_denoiser call, and its tables
 *
 * Made by unetc from simple_denoiser.unet (00438fdc504441cc) with: --size=64x64
 * Do not edit: change the .unet file and compile again. */
#include "simple_denoiser_calls.h"

#if UNET_RUNTIME_VERSION != 15
#error "made for another version of the runtime: compile the .unet file again"
#endif


/* ---- train: batch 6, 11,730,816 bytes of the arena ---- */

static void train(const UnetStep *step) {
    char *const arena = step->arena;
#pragma omp parallel num_threads(step->threads)
    {
        begin(step, 0, "conv_pack of net.0", NULL, 7, 0, 13824);
        /* net.0.weight[64,3,3,3] -> net.0 weights[1728] */
        simple_denoiser_conv_pack_0(&simple_denoiser_conv_pack_sizes_0, AT(real, B036_net_0_weights),
            AT(real, B007_net_0_weight));
        begin(step, 1, "conv_pack of net.2", NULL, 8, 0, 739584);
        /* net.2.weight[64,64,3,3] -> net.2 weights[148032] */
        simple_denoiser_conv_winograd_pack_0(&simple_denoiser_conv_winograd_pack_sizes_0, AT(real, B037_net_2_weights),
            AT(real, B005_net_2_weight));
        begin(step, 2, "conv_pack of net.4", NULL, 9, 0, 739584);
        /* net.4.weight[64,64,3,3] -> net.4 weights[148032] */
        simple_denoiser_conv_winograd_pack_0(&simple_denoiser_conv_winograd_pack_sizes_0, AT(real, B038_net_4_weights),
            AT(real, B003_net_4_weight));
        begin(step, 3, "conv_pack of net.6", NULL, 10, 0, 43776);
        /* net.6.weight[3,64,3,3] -> net.6 weights[9216] */
        simple_denoiser_conv_pack_1(&simple_denoiser_conv_pack_sizes_1, AT(real, B039_net_6_weights),
            AT(real, B001_net_6_weight));
        begin(step, 4, "conv_dgrad_pack of net.6", NULL, 10, 0, 13824);
        /* net.6.weight[3,64,3,3] -> net.6 weights[1728] */
        simple_denoiser_conv_dgrad_pack_0(&simple_denoiser_conv_dgrad_pack_sizes_0, AT(real, B040_net_6_weights),
            AT(real, B001_net_6_weight));
        begin(step, 5, "conv_dgrad_pack of net.4", NULL, 9, 0, 739584);
        /* net.4.weight[64,64,3,3] -> net.4 weights[148032] */
        simple_denoiser_conv_dgrad_winograd_pack_0(&simple_denoiser_conv_dgrad_winograd_pack_sizes_0, AT(real, B041_net_4_weights),
            AT(real, B003_net_4_weight));
        begin(step, 6, "conv_dgrad_pack of net.2", NULL, 8, 0, 739584);
        /* net.2.weight[64,64,3,3] -> net.2 weights[148032] */
        simple_denoiser_conv_dgrad_winograd_pack_0(&simple_denoiser_conv_dgrad_winograd_pack_sizes_0, AT(real, B042_net_2_weights),
            AT(real, B005_net_2_weight));
        begin(step, 7, "zero of mse", NULL, 21, 0, 64); /* -> mse[1] */
        simple_denoiser_zero_0(AT(double, B043_mse), 8);
        begin(step, 8, "zero of psnr", NULL, 22, 0, 64); /* -> psnr[1] */
        simple_denoiser_zero_0(AT(double, B044_psnr), 8);
        begin(step, 9, "zero of net.6", NULL, 10, 0, 6912); /* -> d net.6.weight[3,64,3,3] */
        simple_denoiser_zero_0(AT(real, B028_d_net_6_weight), 6912);
        begin(step, 10, "zero of net.6", NULL, 10, 0, 64); /* -> d net.6.bias[3] */
        zero_tail(AT(real, B029_d_net_6_bias), 12, 64);
        simple_denoiser_zero_0(AT(real, B029_d_net_6_bias), 12);
        begin(step, 11, "zero of net.4", NULL, 9, 0, 147456); /* -> d net.4.weight[64,64,3,3] */
        simple_denoiser_zero_0(AT(real, B030_d_net_4_weight), 147456);
        begin(step, 12, "zero of net.4", NULL, 9, 0, 256); /* -> d net.4.bias[64] */
        simple_denoiser_zero_0(AT(real, B031_d_net_4_bias), 256);
        begin(step, 13, "zero of net.2", NULL, 8, 0, 147456); /* -> d net.2.weight[64,64,3,3] */
        simple_denoiser_zero_0(AT(real, B032_d_net_2_weight), 147456);
        begin(step, 14, "zero of net.2", NULL, 8, 0, 256); /* -> d net.2.bias[64] */
        simple_denoiser_zero_0(AT(real, B033_d_net_2_bias), 256);
        begin(step, 15, "zero of net.0", NULL, 7, 0, 6912); /* -> d net.0.weight[64,3,3,3] */
        simple_denoiser_zero_0(AT(real, B034_d_net_0_weight), 6912);
        begin(step, 16, "zero of net.0", NULL, 7, 0, 256); /* -> d net.0.bias[64] */
        simple_denoiser_zero_0(AT(real, B035_d_net_0_bias), 256);
        /* 17: samples */
        for (int start = 0; start < step->n; start += 1) {
            const int n = step->n - start < 1 ? step->n - start : 1;
            const int32_t(*const valid)[3] = step->valid ? step->valid + start : NULL;
            (void)valid;
            begin(step, 18, "cast of noisy cast", NULL, 4, 73728, 461184);
            /* noisy[n,3,64,64] -> noisy cast[n,3,64,64] */
            simple_denoiser_zero_halo_0(&simple_denoiser_zero_halo_sizes_0, n, rows_64, AT(real, B045_noisy_cast));
            simple_denoiser_cast_0(&simple_denoiser_cast_sizes_0, n, rows_64, AT(real, B045_noisy_cast),
                INPUT(uint16_t, 0, 12288));
            begin(step, 19, "conv of net.0", "direct: four channels or fewer", 7, 84934656, 7047552);
            /* noisy cast[n,3,64,64] net.0 weights[1728] net.0.bias[64] -> net.1[n,64,64,64] */
            simple_denoiser_zero_halo_1(&simple_denoiser_zero_halo_sizes_1, n, rows_64, AT(real, B046_net_1));
            simple_denoiser_conv_0(&simple_denoiser_conv_sizes_0, n, rows_64, AT(real, B046_net_1),
                (const real *const[]){AT(real, B045_noisy_cast)}, AT(real, B036_net_0_weights),
                AT(real, B008_net_0_bias));
            begin(step, 20, "conv of net.2", "Winograd", 8, 1811939328, 38611968);
            /* net.1[n,64,64,64] net.2 weights[148032] net.2.bias[64] -> net.3[n,64,64,64]
                net.2 workspace[903168] */
            simple_denoiser_zero_halo_1(&simple_denoiser_zero_halo_sizes_1, n, rows_64, AT(real, B047_net_3));
            simple_denoiser_conv_winograd_0(&simple_denoiser_conv_winograd_sizes_0, n, rows_64, AT(real, B047_net_3),
                AT(real, B048_net_2_workspace), NULL, (const real *const[]){AT(real, B046_net_1)},
                AT(real, B037_net_2_weights), AT(real, B006_net_2_bias));
            begin(step, 21, "conv of net.4", "Winograd", 9, 1811939328, 38611968);
            /* net.3[n,64,64,64] net.4 weights[148032] net.4.bias[64] -> net.5[n,64,64,64]
                net.4 workspace[903168] */
            simple_denoiser_zero_halo_1(&simple_denoiser_zero_halo_sizes_1, n, rows_64, AT(real, B049_net_5));
            simple_denoiser_conv_winograd_0(&simple_denoiser_conv_winograd_sizes_0, n, rows_64, AT(real, B049_net_5),
                AT(real, B050_net_4_workspace), NULL, (const real *const[]){AT(real, B047_net_3)},
                AT(real, B038_net_4_weights), AT(real, B004_net_4_bias));
            begin(step, 22, "conv of net.6", "direct: four channels or fewer", 10, 84934656, 7207296);
            /* net.5[n,64,64,64] net.6 weights[9216] net.6.bias[3] -> net.6[n,3,64,64] */
            simple_denoiser_conv_1(&simple_denoiser_conv_sizes_1, n, rows_64, AT(real, B051_net_6),
                (const real *const[]){AT(real, B049_net_5)}, AT(real, B039_net_6_weights),
                AT(real, B002_net_6_bias));
            begin(step, 23, "mse", NULL, 21, 73728, 446208);
            /* net.6[n,3,64,64] clean[n,3,64,64] -> mse[1] mse scratch[64] */
            simple_denoiser_mse_0(&simple_denoiser_mse_sizes_0, n, rows_64, AT(double, B043_mse),
                AT(double, B052_mse_scratch), AT(real, B051_net_6), INPUT(uint16_t, 1, 12288), valid);
            begin(step, 24, "psnr", NULL, 22, 73728, 446208);
            /* net.6[n,3,64,64] clean[n,3,64,64] -> psnr[1] psnr scratch[64] */
            simple_denoiser_psnr_0(&simple_denoiser_psnr_sizes_0, n, rows_64, AT(double, B044_psnr),
                AT(double, B053_psnr_scratch), AT(real, B051_net_6), INPUT(uint16_t, 1, 12288), valid);
            begin(step, 25, "mse_grad of mse", NULL, 21, 73728, 756096);
            /* net.6[n,3,64,64] clean[n,3,64,64] -> d net.6[n,3,64,64] */
            simple_denoiser_zero_halo_0(&simple_denoiser_zero_halo_sizes_0, n, rows_64, AT(real, B054_d_net_6));
            simple_denoiser_mse_grad_0(&simple_denoiser_mse_grad_sizes_0, n, step->n, rows_64, AT(real, B054_d_net_6),
                AT(real, B051_net_6), INPUT(uint16_t, 1, 12288), NULL);
            begin(step, 26, "conv_wgrad of net.6", "direct: four channels or fewer", 10, 84934656, 7309824);
            /* net.5[n,64,64,64] d net.6[n,3,64,64] -> d net.6.weight[3,64,3,3] d net.6.bias[3]
                net.6 scratch[9232] */
            zero_tail(AT(real, B029_d_net_6_bias), 12, 64);
            simple_denoiser_conv_wgrad_0(n, rows_64, AT(real, B028_d_net_6_weight),
                AT(real, B029_d_net_6_bias), AT(real, B055_net_6_scratch),
                NULL, (const real *const[]){AT(real, B049_net_5)}, AT(real, B054_d_net_6));
            begin(step, 27, "conv_dgrad of net.6", "direct: four channels or fewer", 10, 84934656, 13736832);
            /* d net.6[n,3,64,64] net.6 weights[1728] net.5[n,64,64,64] -> d net.4[n,64,64,64] */
            simple_denoiser_zero_halo_1(&simple_denoiser_zero_halo_sizes_1, n, rows_64, AT(real, B056_d_net_4));
            simple_denoiser_conv_dgrad_0(&simple_denoiser_conv_dgrad_sizes_0, n, rows_64, AT(real, B056_d_net_4),
                AT(real, B054_d_net_6), AT(real, B040_net_6_weights), AT(real, B049_net_5));
            begin(step, 28, "conv_wgrad of net.4", "Winograd", 9, 1811939328, 26798976);
            /* net.3[n,64,64,64] d net.4[n,64,64,64] -> d net.4.weight[64,64,3,3] d net.4.bias[64]
                net.4 scratch[485200] */
            simple_denoiser_conv_wgrad_winograd_0(&simple_denoiser_conv_wgrad_winograd_sizes_0, n, rows_64, AT(real, B030_d_net_4_weight),
                AT(real, B031_d_net_4_bias), AT(real, B057_net_4_scratch),
                NULL, (const real *const[]){AT(real, B047_net_3)}, AT(real, B056_d_net_4));
            begin(step, 29, "conv_dgrad of net.4", "Winograd", 9, 1811939328, 45301248);
            /* d net.4[n,64,64,64] net.4 weights[148032] net.3[n,64,64,64] -> d net.2[n,64,64,64]
                net.4 workspace[903168] */
            simple_denoiser_zero_halo_1(&simple_denoiser_zero_halo_sizes_1, n, rows_64, AT(real, B058_d_net_2));
            simple_denoiser_conv_dgrad_winograd_0(&simple_denoiser_conv_dgrad_winograd_sizes_0, n, rows_64, AT(real, B058_d_net_2),
                AT(real, B059_net_4_workspace), AT(real, B056_d_net_4), AT(real, B041_net_4_weights),
                AT(real, B047_net_3));
            begin(step, 30, "conv_wgrad of net.2", "Winograd", 8, 1811939328, 26798976);
            /* net.1[n,64,64,64] d net.2[n,64,64,64] -> d net.2.weight[64,64,3,3] d net.2.bias[64]
                net.2 scratch[485200] */
            simple_denoiser_conv_wgrad_winograd_0(&simple_denoiser_conv_wgrad_winograd_sizes_0, n, rows_64, AT(real, B032_d_net_2_weight),
                AT(real, B033_d_net_2_bias), AT(real, B060_net_2_scratch),
                NULL, (const real *const[]){AT(real, B046_net_1)}, AT(real, B058_d_net_2));
            begin(step, 31, "conv_dgrad of net.2", "Winograd", 8, 1811939328, 44901888);
            /* d net.2[n,64,64,64] net.2 weights[148032] net.1[n,64,64,64] -> d net.0[n,64,64,64]
                net.2 workspace[903168] */
            simple_denoiser_conv_dgrad_winograd_0(&simple_denoiser_conv_dgrad_winograd_sizes_1, n, rows_64, AT(real, B061_d_net_0),
                AT(real, B062_net_2_workspace), AT(real, B058_d_net_2), AT(real, B042_net_2_weights),
                AT(real, B046_net_1));
            begin(step, 32, "cast of noisy cast", NULL, 4, 73728, 461184);
            /* noisy[n,3,64,64] -> noisy cast[n,3,64,64] */
            simple_denoiser_zero_halo_0(&simple_denoiser_zero_halo_sizes_0, n, rows_64, AT(real, B063_noisy_cast));
            simple_denoiser_cast_0(&simple_denoiser_cast_sizes_0, n, rows_64, AT(real, B063_noisy_cast),
                INPUT(uint16_t, 0, 12288));
            begin(step, 33, "conv_wgrad of net.0", "direct: four channels or fewer", 7, 84934656, 6734208);
            /* noisy cast[n,3,64,64] d net.0[n,64,64,64] -> d net.0.weight[64,3,3,3] d net.0.bias[64]
                net.0 scratch[1792] */
            simple_denoiser_conv_wgrad_1(n, rows_64, AT(real, B034_d_net_0_weight),
                AT(real, B035_d_net_0_bias), AT(real, B064_net_0_scratch),
                NULL, (const real *const[]){AT(real, B063_noisy_cast)}, AT(real, B061_d_net_0));
        }
        begin(step, 34, "adam", NULL, 20, 928548, 2166976); /* all parameters */
        simple_denoiser_adam_0(AT(real, B001_net_6_weight), AT(real, B028_d_net_6_weight),
            AT(real, B010_m_net_6_weight), AT(real, B019_v_net_6_weight),
            NULL, NULL, NULL, NULL, 77392, step->learning_rate, step->step, 0, 77392);
    }
}

/* ---- eval: batch 1, 7,363,776 bytes of the arena ---- */

static void eval(const UnetStep *step) {
    char *const arena = step->arena;
    const int n = step->n, start = 0;
    const int32_t(*const valid)[3] = step->valid;
    (void)n, (void)start, (void)valid;
#pragma omp parallel num_threads(step->threads)
    {
        begin(step, 0, "cast of noisy cast", NULL, 4, 12288, 76864);
        simple_denoiser_zero_halo_0(&simple_denoiser_zero_halo_sizes_0, n, rows_64, AT(real, B065_noisy_cast));
        simple_denoiser_cast_0(&simple_denoiser_cast_sizes_0, n, rows_64, AT(real, B065_noisy_cast),
            INPUT(uint16_t, 0, 12288));
        begin(step, 1, "conv_pack of net.0", NULL, 7, 0, 13824);
        simple_denoiser_conv_pack_0(&simple_denoiser_conv_pack_sizes_0, AT(real, B066_net_0_weights),
            AT(real, B007_net_0_weight));
        begin(step, 2, "conv of net.0", "direct: four channels or fewer", 7, 14155776, 1174592);
        simple_denoiser_zero_halo_1(&simple_denoiser_zero_halo_sizes_1, n, rows_64, AT(real, B067_net_1));
        simple_denoiser_conv_0(&simple_denoiser_conv_sizes_0, n, rows_64, AT(real, B067_net_1),
            (const real *const[]){AT(real, B065_noisy_cast)}, AT(real, B066_net_0_weights),
            AT(real, B008_net_0_bias));
        begin(step, 3, "conv_pack of net.2", NULL, 8, 0, 739584);
        simple_denoiser_conv_winograd_pack_0(&simple_denoiser_conv_winograd_pack_sizes_0, AT(real, B068_net_2_weights),
            AT(real, B005_net_2_weight));
        begin(step, 4, "conv of net.2", "Winograd", 8, 301989888, 6435328);
        simple_denoiser_zero_halo_1(&simple_denoiser_zero_halo_sizes_1, n, rows_64, AT(real, B069_net_3));
        simple_denoiser_conv_winograd_0(&simple_denoiser_conv_winograd_sizes_0, n, rows_64, AT(real, B069_net_3),
            AT(real, B070_net_2_workspace), NULL, (const real *const[]){AT(real, B067_net_1)},
            AT(real, B068_net_2_weights), AT(real, B006_net_2_bias));
        begin(step, 5, "conv_pack of net.4", NULL, 9, 0, 739584);
        simple_denoiser_conv_winograd_pack_0(&simple_denoiser_conv_winograd_pack_sizes_0, AT(real, B071_net_4_weights),
            AT(real, B003_net_4_weight));
        begin(step, 6, "conv of net.4", "Winograd", 9, 301989888, 6435328);
        simple_denoiser_zero_halo_1(&simple_denoiser_zero_halo_sizes_1, n, rows_64, AT(real, B072_net_5));
        simple_denoiser_conv_winograd_0(&simple_denoiser_conv_winograd_sizes_0, n, rows_64, AT(real, B072_net_5),
            AT(real, B073_net_4_workspace), NULL, (const real *const[]){AT(real, B069_net_3)},
            AT(real, B071_net_4_weights), AT(real, B004_net_4_bias));
        begin(step, 7, "conv_pack of net.6", NULL, 10, 0, 43776);
        simple_denoiser_conv_pack_1(&simple_denoiser_conv_pack_sizes_1, AT(real, B074_net_6_weights),
            AT(real, B001_net_6_weight));
        begin(step, 8, "conv of net.6", "direct: four channels or fewer", 10, 14155776, 1201216);
        simple_denoiser_conv_1(&simple_denoiser_conv_sizes_1, n, rows_64, AT(real, B075_net_6),
            (const real *const[]){AT(real, B072_net_5)}, AT(real, B074_net_6_weights),
            AT(real, B002_net_6_bias));
        begin(step, 9, "mse", NULL, 21, 12288, 74304);
        simple_denoiser_mse_1(&simple_denoiser_mse_sizes_1, n, rows_64, AT(double, B076_mse),
            AT(double, B077_mse_scratch), AT(real, B075_net_6), INPUT(uint16_t, 1, 12288), valid);
        begin(step, 10, "psnr", NULL, 22, 12288, 74304);
        simple_denoiser_psnr_1(&simple_denoiser_psnr_sizes_1, n, rows_64, AT(double, B078_psnr),
            AT(double, B079_psnr_scratch), AT(real, B075_net_6), INPUT(uint16_t, 1, 12288), valid);
    }
}

/* ---- predict: batch 1, 7,999,680 bytes of the arena ---- */

static void predict_prepare(const UnetStep *step) {
    char *const arena = step->arena;
    const int n = step->n, start = 0;
    const int32_t(*const valid)[3] = step->valid;
    (void)n, (void)start, (void)valid;
#pragma omp parallel num_threads(step->threads)
    {
        begin(step, 0, "conv_pack of net.0", NULL, 7, 0, 13824);
        simple_denoiser_conv_pack_0(&simple_denoiser_conv_pack_sizes_0, AT(real, B080_net_0_weights),
            AT(real, B007_net_0_weight));
        begin(step, 1, "conv_pack of net.2", NULL, 8, 0, 739584);
        simple_denoiser_conv_winograd_pack_0(&simple_denoiser_conv_winograd_pack_sizes_0, AT(real, B081_net_2_weights),
            AT(real, B005_net_2_weight));
        begin(step, 2, "conv_pack of net.4", NULL, 9, 0, 739584);
        simple_denoiser_conv_winograd_pack_0(&simple_denoiser_conv_winograd_pack_sizes_0, AT(real, B082_net_4_weights),
            AT(real, B003_net_4_weight));
        begin(step, 3, "conv_pack of net.6", NULL, 10, 0, 43776);
        simple_denoiser_conv_pack_1(&simple_denoiser_conv_pack_sizes_1, AT(real, B083_net_6_weights),
            AT(real, B001_net_6_weight));
    }
}

static void predict(const UnetStep *step) {
    char *const arena = step->arena;
    const int n = step->n, start = 0;
    const int32_t(*const valid)[3] = step->valid;
    (void)n, (void)start, (void)valid;
#pragma omp parallel num_threads(step->threads)
    {
        /* 4: load of noisy (simple_denoiser.unet:4): -> noisy[n,3,64,64] */
        simple_denoiser_zero_halo_0(&simple_denoiser_zero_halo_sizes_0, n, rows_64, AT(real, B084_noisy));
        begin(step, 5, "conv of net.0", "direct: four channels or fewer", 7, 14155776, 1174592);
        /* noisy[n,3,64,64] net.0 weights[1728] net.0.bias[64] -> net.1[n,64,64,64] */
        simple_denoiser_zero_halo_1(&simple_denoiser_zero_halo_sizes_1, n, rows_64, AT(real, B085_net_1));
        simple_denoiser_conv_0(&simple_denoiser_conv_sizes_0, n, rows_64, AT(real, B085_net_1),
            (const real *const[]){AT(real, B084_noisy)}, AT(real, B080_net_0_weights),
            AT(real, B008_net_0_bias));
        begin(step, 6, "conv of net.2", "Winograd", 8, 301989888, 6435328);
        simple_denoiser_zero_halo_1(&simple_denoiser_zero_halo_sizes_1, n, rows_64, AT(real, B086_net_3));
        simple_denoiser_conv_winograd_0(&simple_denoiser_conv_winograd_sizes_0, n, rows_64, AT(real, B086_net_3),
            AT(real, B087_net_2_workspace), NULL, (const real *const[]){AT(real, B085_net_1)},
            AT(real, B081_net_2_weights), AT(real, B006_net_2_bias));
        begin(step, 7, "conv of net.4", "Winograd", 9, 301989888, 6435328);
        simple_denoiser_zero_halo_1(&simple_denoiser_zero_halo_sizes_1, n, rows_64, AT(real, B088_net_5));
        simple_denoiser_conv_winograd_0(&simple_denoiser_conv_winograd_sizes_0, n, rows_64, AT(real, B088_net_5),
            AT(real, B089_net_4_workspace), NULL, (const real *const[]){AT(real, B086_net_3)},
            AT(real, B082_net_4_weights), AT(real, B004_net_4_bias));
        begin(step, 8, "conv of net.6", "direct: four channels or fewer", 10, 14155776, 1201216);
        simple_denoiser_conv_1(&simple_denoiser_conv_sizes_1, n, rows_64, AT(real, B090_net_6),
            (const real *const[]){AT(real, B088_net_5)}, AT(real, B083_net_6_weights),
            AT(real, B002_net_6_bias));
    }
}

/* ---- tables for the runtime; see unet/model.h ---- */

/* name, rank, sizes, initial values and their bound, offset, offsets of the moments */
static const UnetParameter parameter[] = {
    {"net.0.weight", 4, {64, 3, 3, 3}, UNET_INIT_UNIFORM, 0.19245008972987526, 302400, {611968, 921536, -1, -1}},
    {"net.0.bias", 1, {64}, UNET_INIT_UNIFORM, 0.19245008972987526, 309312, {618880, 928448, -1, -1}},
    {"net.2.weight", 4, {64, 64, 3, 3}, UNET_INIT_UNIFORM, 0.041666666666666664, 154688, {464256, 773824, -1, -1}},
    {"net.2.bias", 1, {64}, UNET_INIT_UNIFORM, 0.041666666666666664, 302144, {611712, 921280, -1, -1}},
    {"net.4.weight", 4, {64, 64, 3, 3}, UNET_INIT_UNIFORM, 0.041666666666666664, 6976, {316544, 626112, -1, -1}},
    {"net.4.bias", 1, {64}, UNET_INIT_UNIFORM, 0.041666666666666664, 154432, {464000, 773568, -1, -1}},
    {"net.6.weight", 4, {3, 64, 3, 3}, UNET_INIT_UNIFORM, 0.041666666666666664, 0, {309568, 619136, -1, -1}},
    {"net.6.bias", 1, {3}, UNET_INIT_UNIFORM, 0.041666666666666664, 6912, {316480, 626048, -1, -1}},
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
    11730688,
    11730752,
    -1, /* there may be no result at all */
};
static const UnetProgram train_program = {
    .name = "train",
    .run = train,
    .batch = 6, .steps = 36,
    .size = {1, 64, 64},
    .measured = {1, 64, 64},
    .extent = 11730816,
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
    978368,
    978432,
    -1, /* there may be no result at all */
};
static const UnetProgram eval_program = {
    .name = "eval",
    .run = eval,
    .batch = 1, .steps = 12,
    .size = {1, 64, 64},
    .measured = {1, 64, 64},
    .extent = 7363776,
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
static const int64_t predict_output_offset[] = {928704, };
static const int64_t predict_input_offset[] = {928704, -1, };
/* rows in a band, rows that it lies behind, rows in a unit */
static const UnetBand predict_input_band[] = {{64, 0, 64}, {64, 0, 64}, };
static const UnetBand predict_output_band[] = {{64, 0, 64}, };
static const UnetWindows predict_windows = {.overlap = 0.5, .gaussian = true, .reach = {{1, 4, 10, 9},
    {1, 4, 10, 9}}, .exact = true, .same_bits = true};
static const int64_t predict_result_offset[] = {
    -1,
    -1,
    -1, /* there may be no result at all */
};
static const UnetProgram predict_program = {
    .name = "predict",
    .run = predict,
    .prepare = predict_prepare,
    .batch = 1, .steps = 10,
    .size = {1, 64, 64},
    .measured = {0, 0, 0},
    .extent = 7999680,
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

static const UnetMethod method[] = {
    {"conv", "direct: four channels or fewer", (const char *const[]){"net.0", "net.6", NULL}},
    {"conv", "Winograd", (const char *const[]){"net.2", "net.4", NULL}},
    {"conv_wgrad", "direct: four channels or fewer", (const char *const[]){"net.6", "net.0", NULL}},
    {"conv_dgrad", "direct: four channels or fewer", (const char *const[]){"net.6", NULL}},
    {"conv_wgrad", "Winograd", (const char *const[]){"net.4", "net.2", NULL}},
    {"conv_dgrad", "Winograd", (const char *const[]){"net.4", "net.2", NULL}},
};
const UnetModel simple_denoiser_model = {
    .runtime_version = UNET_RUNTIME_VERSION, .table_bytes = UNET_TABLE_BYTES,
    .name = "simple_denoiser",
    .source = "simple_denoiser.unet", .source_hash = "00438fdc504441cc",
    .target = "cpu", .isa = "native", .real = UNET_F32, .precision = "f32", .max_threads = 16,
    .instructions = UNET_INSTRUCTIONS_USED,
    .nmethod = 6, .method = method,
    .nparameter = 8, .parameter = parameter, .parameter_count = 77379,
    .persistent = 928704,
    .ninput = 2, .inputs = input,
    .noutput = 1, .outputs = output,
    .nresult = 2, .results = result,
    .train = &train_program,
    .eval = &eval_program,
    .predict = &predict_program,
    .arena_bytes = 11730816,
    .ring = 3, .loader_ring_bytes = 884736,
    .stages_as_files = true,
    .predict_pad = UNET_PAD_REFLECT,
    .data = &data,
    .training = &training,
};
