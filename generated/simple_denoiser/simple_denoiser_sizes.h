/* simple_denoiser_sizes.h - the sizes that kernels of simple_denoiser are handed
 *
 * Made by unetc from simple_denoiser.unet (00438fdc504441cc) with: --size=64x64
 * Do not edit: change the .unet file and compile again. */
#ifndef UNETC_SIMPLE_DENOISER_SIZES_H
#define UNETC_SIMPLE_DENOISER_SIZES_H

#include "simple_denoiser_declarations.h"


/* conv_pack: net.0 of train, net.0 of eval, net.0 of predict: net.0.weight[64,3,3,3]
    -> net.0 weights[1728] */
static const simple_denoiser_conv_pack_sizes simple_denoiser_conv_pack_sizes_0 = {
    .CI = 3, .CO = 64, .KD = 1, .KH = 3, .KW = 3, .SW = 1, .LW = 1, .SEGMENTS = 1,
    .X = (const Layout[]){{3, 3, 1, 201, 13072, 13068, 13068, 198, 0}},
    .Y = {64, 16, 4, 1072, 278784, 69696, 69696, 1056, 0}};

/* conv_winograd_pack: net.2 of train, net.4 of train, net.2 of eval, 3 more: net.2.weight[64,64,3,3]
    -> net.2 weights[148032] */
static const simple_denoiser_conv_winograd_pack_sizes simple_denoiser_conv_winograd_pack_sizes_0 = {
    .CI = 64, .CO = 64, .KD = 1, .SEGMENTS = 1,
    .X = (const Layout[]){{64, 16, 4, 1072, 278784, 69696, 69696, 1056, 0}}, .Y = {0, 16, 4, 0, 0, 0, 0, 0, 0}};

/* conv_pack: net.6 of train, net.6 of eval, net.6 of predict: net.6.weight[3,64,3,3]
    -> net.6 weights[9216] */
static const simple_denoiser_conv_pack_sizes simple_denoiser_conv_pack_sizes_1 = {
    .CI = 64, .CO = 3, .KD = 1, .KH = 3, .KW = 3, .SW = 1, .LW = 1, .SEGMENTS = 1,
    .X = (const Layout[]){{64, 16, 4, 1072, 278784, 69696, 69696, 1056, 0}},
    .Y = {3, 3, 1, 0, 12288, 12288, 12288, 192, 0}};

/* conv_dgrad_pack: net.6 of train: net.6.weight[3,64,3,3] -> net.6 weights[1728] */
static const simple_denoiser_conv_dgrad_pack_sizes simple_denoiser_conv_dgrad_pack_sizes_0 = {
    .CI = 64, .CO = 3, .KD = 1, .KH = 3, .KW = 3, .SW = 1, .LW = 1, .C0 = 0, .CS = 64,
    .DX = {64, 16, 4, 1072, 278784, 69696, 69696, 1056, 0}, .DY = {3, 3, 1, 201, 13072, 13068, 13068, 198, 0}};

/* conv_dgrad_winograd_pack: net.4 of train, net.2 of train: net.4.weight[64,64,3,3]
    -> net.4 weights[148032] */
static const simple_denoiser_conv_dgrad_winograd_pack_sizes simple_denoiser_conv_dgrad_winograd_pack_sizes_0 = {
    .CI = 64, .KD = 1, .C0 = 0, .CS = 64, .DX = {0, 16, 4, 0, 0, 0, 0, 0, 0},
    .DY = {64, 16, 4, 1072, 278784, 69696, 69696, 1056, 0}};

/* cast: noisy cast of train, noisy cast of train, noisy cast of eval: noisy[n,3,64,64]
    -> noisy cast[n,3,64,64] */
static const simple_denoiser_cast_sizes simple_denoiser_cast_sizes_0 = {
    .H = 64, .W = 64, .Y = {3, 3, 1, 201, 13072, 13068, 13068, 198, 0},
    .X = {3, 3, 1, 0, 12288, 12288, 12288, 192, 0}};

/* zero_halo: noisy cast of train, mse of train, noisy cast of train, 2 more: -> noisy cast[n,3,64,64] */
static const simple_denoiser_zero_halo_sizes simple_denoiser_zero_halo_sizes_0 = {
    .D = 1, .H = 64, .W = 64, .Y = {3, 3, 1, 201, 13072, 13068, 13068, 198, 0}, .ABOVE = 0, .BELOW = 0};

/* conv: net.0 of train, net.0 of eval, net.0 of predict: noisy cast[n,3,64,64] net.0 weights[1728]
    net.0.bias[64] -> net.1[n,64,64,64] */
static const simple_denoiser_conv_sizes simple_denoiser_conv_sizes_0 = {
    .CO = 64, .H = 64, .W = 64, .RELU = 1, .SEGMENTS = 1,
    .X = (const Layout[]){{3, 3, 1, 201, 13072, 13068, 13068, 198, 0}},
    .Y = {64, 16, 4, 1072, 278784, 69696, 69696, 1056, 0}};

/* zero_halo: net.0 of train, net.2 of train, net.4 of train, 8 more: -> net.1[n,64,64,64] */
static const simple_denoiser_zero_halo_sizes simple_denoiser_zero_halo_sizes_1 = {
    .D = 1, .H = 64, .W = 64, .Y = {64, 16, 4, 1072, 278784, 69696, 69696, 1056, 0}, .ABOVE = 0, .BELOW = 0};

/* conv_winograd: net.2 of train, net.4 of train, net.2 of eval, 3 more: net.1[n,64,64,64]
    net.2 weights[148032] net.2.bias[64] -> net.3[n,64,64,64] net.2 workspace[903168] */
static const simple_denoiser_conv_winograd_sizes simple_denoiser_conv_winograd_sizes_0 = {
    .CO = 64, .IH = 64, .D = 1, .H = 64, .W = 64, .PH = 1, .PW = 1, .BIAS = 1, .RELU = 1, .TILES = 16,
    .PHASE = 0, .POOLED = {64, 16, 4, 1072, 278784, 69696, 69696, 1056, 0}, .SEGMENTS = 1,
    .X = (const Layout[]){{64, 16, 4, 1072, 278784, 69696, 69696, 1056, 0}},
    .Y = {64, 16, 4, 1072, 278784, 69696, 69696, 1056, 0}};

/* conv: net.6 of train, net.6 of eval, net.6 of predict: net.5[n,64,64,64] net.6 weights[9216] net.6.bias[3]
    -> net.6[n,3,64,64] */
static const simple_denoiser_conv_sizes simple_denoiser_conv_sizes_1 = {
    .CO = 3, .H = 64, .W = 64, .RELU = 0, .SEGMENTS = 1,
    .X = (const Layout[]){{64, 16, 4, 1072, 278784, 69696, 69696, 1056, 0}},
    .Y = {3, 3, 1, 0, 12288, 12288, 12288, 192, 0}};

/* mse: mse of train: net.6[n,3,64,64] clean[n,3,64,64] -> mse[1] mse scratch[64] */
static const simple_denoiser_mse_sizes simple_denoiser_mse_sizes_0 = {
    .D = 1, .H = 64, .W = 64, .P = {3, 3, 1, 0, 12288, 12288, 12288, 192, 0},
    .T = {3, 3, 1, 0, 12288, 12288, 12288, 192, 0}};

/* psnr: psnr of train: net.6[n,3,64,64] clean[n,3,64,64] -> psnr[1] psnr scratch[64] */
static const simple_denoiser_psnr_sizes simple_denoiser_psnr_sizes_0 = {
    .D = 1, .H = 64, .W = 64, .P = {3, 3, 1, 0, 12288, 12288, 12288, 192, 0},
    .T = {3, 3, 1, 0, 12288, 12288, 12288, 192, 0}};

/* mse_grad: mse of train: net.6[n,3,64,64] clean[n,3,64,64] -> d net.6[n,3,64,64] */
static const simple_denoiser_mse_grad_sizes simple_denoiser_mse_grad_sizes_0 = {
    .D = 1, .H = 64, .W = 64, .P = {3, 3, 1, 0, 12288, 12288, 12288, 192, 0},
    .T = {3, 3, 1, 0, 12288, 12288, 12288, 192, 0}, .DP = {3, 3, 1, 201, 13072, 13068, 13068, 198, 0}};

/* conv_dgrad: net.6 of train: d net.6[n,3,64,64] net.6 weights[1728] net.5[n,64,64,64]
    -> d net.4[n,64,64,64] */
static const simple_denoiser_conv_dgrad_sizes simple_denoiser_conv_dgrad_sizes_0 = {
    .IH = 64, .IW = 64, .DX = {64, 16, 4, 1072, 278784, 69696, 69696, 1056, 0},
    .DY = {3, 3, 1, 201, 13072, 13068, 13068, 198, 0}, .M = {64, 16, 4, 1072, 278784, 69696, 69696, 1056, 0}};

/* conv_wgrad_winograd: net.4 of train, net.2 of train: net.3[n,64,64,64] d net.4[n,64,64,64]
    -> d net.4.weight[64,64,3,3] d net.4.bias[64] net.4 scratch[485200] */
static const simple_denoiser_conv_wgrad_winograd_sizes simple_denoiser_conv_wgrad_winograd_sizes_0 = {
    .CI = 64, .CO = 64, .IH = 64, .D = 1, .H = 64, .W = 64, .PH = 1, .PW = 1, .BIAS = 1, .TILES = 64,
    .PHASE = 0, .ACCUMULATE = 1, .SEGMENTS = 1,
    .X = (const Layout[]){{64, 16, 4, 1072, 278784, 69696, 69696, 1056, 0}},
    .DY = {64, 16, 4, 1072, 278784, 69696, 69696, 1056, 0}};

/* conv_dgrad_winograd: net.4 of train: d net.4[n,64,64,64] net.4 weights[148032] net.3[n,64,64,64]
    -> d net.2[n,64,64,64] net.4 workspace[903168] */
static const simple_denoiser_conv_dgrad_winograd_sizes simple_denoiser_conv_dgrad_winograd_sizes_0 = {
    .ID = 1, .IH = 64, .IW = 64, .H = 64, .PH = 1, .PW = 1, .CS = 64,
    .DX = {64, 16, 4, 1072, 278784, 69696, 69696, 1056, 0},
    .DY = {64, 16, 4, 1072, 278784, 69696, 69696, 1056, 0}, .MASK = 1, .TILES = 16, .PHASE = 0,
    .M = {64, 16, 4, 1072, 278784, 69696, 69696, 1056, 0}};

/* conv_dgrad_winograd: net.2 of train: d net.2[n,64,64,64] net.2 weights[148032] net.1[n,64,64,64]
    -> d net.0[n,64,64,64] net.2 workspace[903168] */
static const simple_denoiser_conv_dgrad_winograd_sizes simple_denoiser_conv_dgrad_winograd_sizes_1 = {
    .ID = 1, .IH = 64, .IW = 64, .H = 64, .PH = 1, .PW = 1, .CS = 64,
    .DX = {64, 16, 4, 0, 262144, 65536, 65536, 1024, 0},
    .DY = {64, 16, 4, 1072, 278784, 69696, 69696, 1056, 0}, .MASK = 1, .TILES = 16, .PHASE = 0,
    .M = {64, 16, 4, 1072, 278784, 69696, 69696, 1056, 0}};

/* mse: mse of eval: net.6[n,3,64,64] clean[n,3,64,64] -> mse[1] mse scratch[64] */
static const simple_denoiser_mse_sizes simple_denoiser_mse_sizes_1 = {
    .D = 1, .H = 64, .W = 64, .P = {3, 3, 1, 0, 12288, 12288, 12288, 192, 0},
    .T = {3, 3, 1, 0, 12288, 12288, 12288, 192, 0}};

/* psnr: psnr of eval: net.6[n,3,64,64] clean[n,3,64,64] -> psnr[1] psnr scratch[64] */
static const simple_denoiser_psnr_sizes simple_denoiser_psnr_sizes_1 = {
    .D = 1, .H = 64, .W = 64, .P = {3, 3, 1, 0, 12288, 12288, 12288, 192, 0},
    .T = {3, 3, 1, 0, 12288, 12288, 12288, 192, 0}};
#endif
