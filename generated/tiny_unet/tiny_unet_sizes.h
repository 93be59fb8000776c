/* tiny_unet_sizes.h - the sizes that kernels of tiny_unet are handed
 *
 * Made by unetc from tiny_unet.unet (16d462818c889222) with: --size=64x64 --kernels=reference
 * Do not edit: change the .unet file and compile again. */
#ifndef UNETC_TINY_UNET_SIZES_H
#define UNETC_TINY_UNET_SIZES_H

#include "tiny_unet_declarations.h"


/* cast: noisy cast of train, noisy cast of train, noisy cast of eval: noisy[n,3,64,64]
    -> noisy cast[n,3,64,64] */
static const tiny_unet_cast_sizes tiny_unet_cast_sizes_0 = {
    .C = 3, .H = 64, .W = 64, .Y = {3, 3, 1, 201, 13072, 13068, 13068, 198, 0},
    .X = {3, 3, 1, 0, 12288, 12288, 12288, 192, 0}, .X_STAGED = 3};

/* zero_halo: noisy cast of train, noisy cast of train, noisy cast of eval, 1 more: -> noisy cast[n,3,64,64] */
static const tiny_unet_zero_halo_sizes tiny_unet_zero_halo_sizes_0 = {
    .D = 1, .H = 64, .W = 64, .Y = {3, 3, 1, 201, 13072, 13068, 13068, 198, 0}, .ABOVE = 0, .BELOW = 0};

/* conv: enc1.0 of train, enc1.0 of eval, enc1.0 of predict: noisy cast[n,3,64,64] enc1.0.weight[16,3,3,3]
    enc1.0.bias[16] -> enc1.1[n,16,64,64] */
static const tiny_unet_conv_sizes tiny_unet_conv_sizes_0 = {
    .CI = 3, .CO = 16, .ID = 1, .IH = 64, .IW = 64, .H = 64, .W = 64, .KD = 1, .SD = 1, .LD = 1, .PD = 0,
    .KH = 3, .SH = 1, .LH = 1, .PH = 1, .KW = 3, .SW = 1, .LW = 1, .PW = 1, .BIAS = 1, .RELU = 1,
    .SEGMENTS = 1, .X = (const Layout[]){{3, 3, 1, 201, 13072, 13068, 13068, 198, 0}},
    .Y = {16, 16, 1, 1072, 69696, 69696, 69696, 1056, 0}};

/* zero_halo: enc1.0 of train, enc1.2 of train, up1 of train, 13 more: -> enc1.1[n,16,64,64] */
static const tiny_unet_zero_halo_sizes tiny_unet_zero_halo_sizes_1 = {
    .D = 1, .H = 64, .W = 64, .Y = {16, 16, 1, 1072, 69696, 69696, 69696, 1056, 0}, .ABOVE = 0, .BELOW = 0};

/* conv: enc1.2 of train, enc1.2 of eval, enc1.2 of predict: enc1.1[n,16,64,64] enc1.2.weight[16,16,3,3]
    enc1.2.bias[16] -> enc1.3[n,16,64,64] */
static const tiny_unet_conv_sizes tiny_unet_conv_sizes_1 = {
    .CI = 16, .CO = 16, .ID = 1, .IH = 64, .IW = 64, .H = 64, .W = 64, .KD = 1, .SD = 1, .LD = 1, .PD = 0,
    .KH = 3, .SH = 1, .LH = 1, .PH = 1, .KW = 3, .SW = 1, .LW = 1, .PW = 1, .BIAS = 1, .RELU = 1,
    .SEGMENTS = 1, .X = (const Layout[]){{16, 16, 1, 1072, 69696, 69696, 69696, 1056, 0}},
    .Y = {16, 16, 1, 1072, 69696, 69696, 69696, 1056, 0}};

/* max_pool: enc2.max_pool of train, enc2.max_pool of eval, enc2.max_pool of predict: enc1.3[n,16,64,64]
    -> enc2.max_pool[n,16,32,32] */
static const tiny_unet_max_pool_sizes tiny_unet_max_pool_sizes_0 = {
    .C = 16, .ID = 1, .IH = 64, .IW = 64, .H = 32, .W = 32, .KD = 1, .SD = 1, .PD = 0, .LD = 1, .KH = 2,
    .SH = 2, .PH = 0, .LH = 1, .KW = 2, .SW = 2, .PW = 0, .LW = 1,
    .Y = {16, 16, 1, 560, 18496, 18496, 18496, 544, 0}, .X = {16, 16, 1, 1072, 69696, 69696, 69696, 1056, 0}};

/* zero_halo: enc2.max_pool of train, enc2.max_pool of eval, enc2.max_pool of predict: -> enc2.max_pool[n,16,32,32] */
static const tiny_unet_zero_halo_sizes tiny_unet_zero_halo_sizes_2 = {
    .D = 1, .H = 32, .W = 32, .Y = {16, 16, 1, 560, 18496, 18496, 18496, 544, 0}, .ABOVE = 0, .BELOW = 0};

/* conv: enc2.0 of train, enc2.0 of eval, enc2.0 of predict: enc2.max_pool[n,16,32,32]
    enc2.0.weight[32,16,3,3] enc2.0.bias[32] -> enc2.1[n,32,32,32] */
static const tiny_unet_conv_sizes tiny_unet_conv_sizes_2 = {
    .CI = 16, .CO = 32, .ID = 1, .IH = 32, .IW = 32, .H = 32, .W = 32, .KD = 1, .SD = 1, .LD = 1, .PD = 0,
    .KH = 3, .SH = 1, .LH = 1, .PH = 1, .KW = 3, .SW = 1, .LW = 1, .PW = 1, .BIAS = 1, .RELU = 1,
    .SEGMENTS = 1, .X = (const Layout[]){{16, 16, 1, 560, 18496, 18496, 18496, 544, 0}},
    .Y = {32, 16, 2, 560, 36992, 18496, 18496, 544, 0}};

/* zero_halo: enc2.0 of train, enc2.2 of train, up2 of train, 14 more: -> enc2.1[n,32,32,32] */
static const tiny_unet_zero_halo_sizes tiny_unet_zero_halo_sizes_3 = {
    .D = 1, .H = 32, .W = 32, .Y = {32, 16, 2, 560, 36992, 18496, 18496, 544, 0}, .ABOVE = 0, .BELOW = 0};

/* conv: enc2.2 of train, enc2.2 of eval, enc2.2 of predict: enc2.1[n,32,32,32] enc2.2.weight[32,32,3,3]
    enc2.2.bias[32] -> enc2.3[n,32,32,32] */
static const tiny_unet_conv_sizes tiny_unet_conv_sizes_3 = {
    .CI = 32, .CO = 32, .ID = 1, .IH = 32, .IW = 32, .H = 32, .W = 32, .KD = 1, .SD = 1, .LD = 1, .PD = 0,
    .KH = 3, .SH = 1, .LH = 1, .PH = 1, .KW = 3, .SW = 1, .LW = 1, .PW = 1, .BIAS = 1, .RELU = 1,
    .SEGMENTS = 1, .X = (const Layout[]){{32, 16, 2, 560, 36992, 18496, 18496, 544, 0}},
    .Y = {32, 16, 2, 560, 36992, 18496, 18496, 544, 0}};

/* max_pool: enc3.max_pool of train, enc3.max_pool of eval, enc3.max_pool of predict: enc2.3[n,32,32,32]
    -> enc3.max_pool[n,32,16,16] */
static const tiny_unet_max_pool_sizes tiny_unet_max_pool_sizes_1 = {
    .C = 32, .ID = 1, .IH = 32, .IW = 32, .H = 16, .W = 16, .KD = 1, .SD = 1, .PD = 0, .LD = 1, .KH = 2,
    .SH = 2, .PH = 0, .LH = 1, .KW = 2, .SW = 2, .PW = 0, .LW = 1,
    .Y = {32, 16, 2, 304, 10368, 5184, 5184, 288, 0}, .X = {32, 16, 2, 560, 36992, 18496, 18496, 544, 0}};

/* zero_halo: enc3.max_pool of train, enc3.max_pool of eval, enc3.max_pool of predict: -> enc3.max_pool[n,32,16,16] */
static const tiny_unet_zero_halo_sizes tiny_unet_zero_halo_sizes_4 = {
    .D = 1, .H = 16, .W = 16, .Y = {32, 16, 2, 304, 10368, 5184, 5184, 288, 0}, .ABOVE = 0, .BELOW = 0};

/* conv: enc3.0 of train, enc3.0 of eval, enc3.0 of predict: enc3.max_pool[n,32,16,16]
    enc3.0.weight[64,32,3,3] enc3.0.bias[64] -> enc3.1[n,64,16,16] */
static const tiny_unet_conv_sizes tiny_unet_conv_sizes_4 = {
    .CI = 32, .CO = 64, .ID = 1, .IH = 16, .IW = 16, .H = 16, .W = 16, .KD = 1, .SD = 1, .LD = 1, .PD = 0,
    .KH = 3, .SH = 1, .LH = 1, .PH = 1, .KW = 3, .SW = 1, .LW = 1, .PW = 1, .BIAS = 1, .RELU = 1,
    .SEGMENTS = 1, .X = (const Layout[]){{32, 16, 2, 304, 10368, 5184, 5184, 288, 0}},
    .Y = {64, 16, 4, 304, 20736, 5184, 5184, 288, 0}};

/* zero_halo: enc3.0 of train, enc3.2 of train, up3 of train, 13 more: -> enc3.1[n,64,16,16] */
static const tiny_unet_zero_halo_sizes tiny_unet_zero_halo_sizes_5 = {
    .D = 1, .H = 16, .W = 16, .Y = {64, 16, 4, 304, 20736, 5184, 5184, 288, 0}, .ABOVE = 0, .BELOW = 0};

/* conv: enc3.2 of train, enc3.2 of eval, enc3.2 of predict: enc3.1[n,64,16,16] enc3.2.weight[64,64,3,3]
    enc3.2.bias[64] -> enc3.3[n,64,16,16] */
static const tiny_unet_conv_sizes tiny_unet_conv_sizes_5 = {
    .CI = 64, .CO = 64, .ID = 1, .IH = 16, .IW = 16, .H = 16, .W = 16, .KD = 1, .SD = 1, .LD = 1, .PD = 0,
    .KH = 3, .SH = 1, .LH = 1, .PH = 1, .KW = 3, .SW = 1, .LW = 1, .PW = 1, .BIAS = 1, .RELU = 1,
    .SEGMENTS = 1, .X = (const Layout[]){{64, 16, 4, 304, 20736, 5184, 5184, 288, 0}},
    .Y = {64, 16, 4, 304, 20736, 5184, 5184, 288, 0}};

/* max_pool: bottleneck.max_pool of train, bottleneck.max_pool of eval, bottleneck.max_pool of predict: enc3.3[n,64,16,16]
    -> bottleneck.max_pool[n,64,8,8] */
static const tiny_unet_max_pool_sizes tiny_unet_max_pool_sizes_2 = {
    .C = 64, .ID = 1, .IH = 16, .IW = 16, .H = 8, .W = 8, .KD = 1, .SD = 1, .PD = 0, .LD = 1, .KH = 2, .SH = 2,
    .PH = 0, .LH = 1, .KW = 2, .SW = 2, .PW = 0, .LW = 1, .Y = {64, 16, 4, 176, 6400, 1600, 1600, 160, 0},
    .X = {64, 16, 4, 304, 20736, 5184, 5184, 288, 0}};

/* zero_halo: bottleneck.max_pool of train, bottleneck.max_pool of eval, bottleneck.max_pool of predict: -> bottleneck.max_pool[n,64,8,8] */
static const tiny_unet_zero_halo_sizes tiny_unet_zero_halo_sizes_6 = {
    .D = 1, .H = 8, .W = 8, .Y = {64, 16, 4, 176, 6400, 1600, 1600, 160, 0}, .ABOVE = 0, .BELOW = 0};

/* conv: bottleneck.0 of train, bottleneck.0 of eval, bottleneck.0 of predict: bottleneck.max_pool[n,64,8,8]
    bottleneck.0.weight[128,64,3,3] bottleneck.0.bias[128] -> bottleneck.1[n,128,8,8] */
static const tiny_unet_conv_sizes tiny_unet_conv_sizes_6 = {
    .CI = 64, .CO = 128, .ID = 1, .IH = 8, .IW = 8, .H = 8, .W = 8, .KD = 1, .SD = 1, .LD = 1, .PD = 0,
    .KH = 3, .SH = 1, .LH = 1, .PH = 1, .KW = 3, .SW = 1, .LW = 1, .PW = 1, .BIAS = 1, .RELU = 1,
    .SEGMENTS = 1, .X = (const Layout[]){{64, 16, 4, 176, 6400, 1600, 1600, 160, 0}},
    .Y = {128, 16, 8, 176, 12800, 1600, 1600, 160, 0}};

/* zero_halo: bottleneck.0 of train, up3 of train, bottleneck.2 of train, 2 more: -> bottleneck.1[n,128,8,8] */
static const tiny_unet_zero_halo_sizes tiny_unet_zero_halo_sizes_7 = {
    .D = 1, .H = 8, .W = 8, .Y = {128, 16, 8, 176, 12800, 1600, 1600, 160, 0}, .ABOVE = 0, .BELOW = 0};

/* conv: bottleneck.2 of train, bottleneck.2 of eval, bottleneck.2 of predict: bottleneck.1[n,128,8,8]
    bottleneck.2.weight[128,128,3,3] bottleneck.2.bias[128] -> bottleneck.3[n,128,8,8] */
static const tiny_unet_conv_sizes tiny_unet_conv_sizes_7 = {
    .CI = 128, .CO = 128, .ID = 1, .IH = 8, .IW = 8, .H = 8, .W = 8, .KD = 1, .SD = 1, .LD = 1, .PD = 0,
    .KH = 3, .SH = 1, .LH = 1, .PH = 1, .KW = 3, .SW = 1, .LW = 1, .PW = 1, .BIAS = 1, .RELU = 1,
    .SEGMENTS = 1, .X = (const Layout[]){{128, 16, 8, 176, 12800, 1600, 1600, 160, 0}},
    .Y = {128, 16, 8, 0, 8192, 1024, 1024, 128, 0}};

/* upconv: up3 of train, up3 of eval, up3 of predict: bottleneck.3[n,128,8,8] up3.weight[128,64,2,2]
    up3.bias[64] -> up3[n,64,16,16] */
static const tiny_unet_upconv_sizes tiny_unet_upconv_sizes_0 = {
    .CO = 64, .ID = 1, .IH = 8, .IW = 8, .H = 16, .W = 16, .KD = 1, .SD = 1, .LD = 1, .PD = 0, .KH = 2,
    .SH = 2, .LH = 1, .PH = 0, .KW = 2, .SW = 2, .LW = 1, .PW = 0, .BIAS = 1, .RELU = 0, .SEGMENTS = 1,
    .X = (const Layout[]){{128, 16, 8, 0, 8192, 1024, 1024, 128, 0}},
    .Y = {64, 16, 4, 304, 20736, 5184, 5184, 288, 0}};

/* conv: dec3.0 of train, dec3.0 of eval, dec3.0 of predict: dec3.concat[n,128,16,16]
    dec3.0.weight[64,128,3,3] dec3.0.bias[64] -> dec3.1[n,64,16,16] */
static const tiny_unet_conv_sizes tiny_unet_conv_sizes_8 = {
    .CI = 128, .CO = 64, .ID = 1, .IH = 16, .IW = 16, .H = 16, .W = 16, .KD = 1, .SD = 1, .LD = 1, .PD = 0,
    .KH = 3, .SH = 1, .LH = 1, .PH = 1, .KW = 3, .SW = 1, .LW = 1, .PW = 1, .BIAS = 1, .RELU = 1,
    .SEGMENTS = 2,
    .X = (const Layout[]){{64, 16, 4, 304, 20736, 5184, 5184, 288, 0}, {64, 16, 4, 304, 20736, 5184, 5184, 288, 0}},
    .Y = {64, 16, 4, 304, 20736, 5184, 5184, 288, 0}};

/* conv: dec3.2 of train, dec3.2 of eval, dec3.2 of predict: dec3.1[n,64,16,16] dec3.2.weight[64,64,3,3]
    dec3.2.bias[64] -> dec3.3[n,64,16,16] */
static const tiny_unet_conv_sizes tiny_unet_conv_sizes_9 = {
    .CI = 64, .CO = 64, .ID = 1, .IH = 16, .IW = 16, .H = 16, .W = 16, .KD = 1, .SD = 1, .LD = 1, .PD = 0,
    .KH = 3, .SH = 1, .LH = 1, .PH = 1, .KW = 3, .SW = 1, .LW = 1, .PW = 1, .BIAS = 1, .RELU = 1,
    .SEGMENTS = 1, .X = (const Layout[]){{64, 16, 4, 304, 20736, 5184, 5184, 288, 0}},
    .Y = {64, 16, 4, 0, 16384, 4096, 4096, 256, 0}};

/* upconv: up2 of train, up2 of train, up2 of eval, 1 more: dec3.3[n,64,16,16] up2.weight[64,32,2,2]
    up2.bias[32] -> up2[n,32,32,32] */
static const tiny_unet_upconv_sizes tiny_unet_upconv_sizes_1 = {
    .CO = 32, .ID = 1, .IH = 16, .IW = 16, .H = 32, .W = 32, .KD = 1, .SD = 1, .LD = 1, .PD = 0, .KH = 2,
    .SH = 2, .LH = 1, .PH = 0, .KW = 2, .SW = 2, .LW = 1, .PW = 0, .BIAS = 1, .RELU = 0, .SEGMENTS = 1,
    .X = (const Layout[]){{64, 16, 4, 0, 16384, 4096, 4096, 256, 0}},
    .Y = {32, 16, 2, 560, 36992, 18496, 18496, 544, 0}};

/* conv: dec2.0 of train, dec2.0 of eval, dec2.0 of predict: dec2.concat[n,64,32,32] dec2.0.weight[32,64,3,3]
    dec2.0.bias[32] -> dec2.1[n,32,32,32] */
static const tiny_unet_conv_sizes tiny_unet_conv_sizes_10 = {
    .CI = 64, .CO = 32, .ID = 1, .IH = 32, .IW = 32, .H = 32, .W = 32, .KD = 1, .SD = 1, .LD = 1, .PD = 0,
    .KH = 3, .SH = 1, .LH = 1, .PH = 1, .KW = 3, .SW = 1, .LW = 1, .PW = 1, .BIAS = 1, .RELU = 1,
    .SEGMENTS = 2,
    .X = (const Layout[]){{32, 16, 2, 560, 36992, 18496, 18496, 544, 0}, {32, 16, 2, 560, 36992, 18496, 18496, 544, 0}},
    .Y = {32, 16, 2, 560, 36992, 18496, 18496, 544, 0}};

/* conv: dec2.2 of train, dec2.2 of eval, dec2.2 of predict: dec2.1[n,32,32,32] dec2.2.weight[32,32,3,3]
    dec2.2.bias[32] -> dec2.3[n,32,32,32] */
static const tiny_unet_conv_sizes tiny_unet_conv_sizes_11 = {
    .CI = 32, .CO = 32, .ID = 1, .IH = 32, .IW = 32, .H = 32, .W = 32, .KD = 1, .SD = 1, .LD = 1, .PD = 0,
    .KH = 3, .SH = 1, .LH = 1, .PH = 1, .KW = 3, .SW = 1, .LW = 1, .PW = 1, .BIAS = 1, .RELU = 1,
    .SEGMENTS = 1, .X = (const Layout[]){{32, 16, 2, 560, 36992, 18496, 18496, 544, 0}},
    .Y = {32, 16, 2, 0, 32768, 16384, 16384, 512, 0}};

/* upconv: up1 of train, up1 of train, up1 of eval, 1 more: dec2.3[n,32,32,32] up1.weight[32,16,2,2]
    up1.bias[16] -> up1[n,16,64,64] */
static const tiny_unet_upconv_sizes tiny_unet_upconv_sizes_2 = {
    .CO = 16, .ID = 1, .IH = 32, .IW = 32, .H = 64, .W = 64, .KD = 1, .SD = 1, .LD = 1, .PD = 0, .KH = 2,
    .SH = 2, .LH = 1, .PH = 0, .KW = 2, .SW = 2, .LW = 1, .PW = 0, .BIAS = 1, .RELU = 0, .SEGMENTS = 1,
    .X = (const Layout[]){{32, 16, 2, 0, 32768, 16384, 16384, 512, 0}},
    .Y = {16, 16, 1, 1072, 69696, 69696, 69696, 1056, 0}};

/* conv: dec1.0 of train, dec1.0 of eval, dec1.0 of predict: dec1.concat[n,32,64,64] dec1.0.weight[16,32,3,3]
    dec1.0.bias[16] -> dec1.1[n,16,64,64] */
static const tiny_unet_conv_sizes tiny_unet_conv_sizes_12 = {
    .CI = 32, .CO = 16, .ID = 1, .IH = 64, .IW = 64, .H = 64, .W = 64, .KD = 1, .SD = 1, .LD = 1, .PD = 0,
    .KH = 3, .SH = 1, .LH = 1, .PH = 1, .KW = 3, .SW = 1, .LW = 1, .PW = 1, .BIAS = 1, .RELU = 1,
    .SEGMENTS = 2,
    .X = (const Layout[]){{16, 16, 1, 1072, 69696, 69696, 69696, 1056, 0}, {16, 16, 1, 1072, 69696, 69696, 69696, 1056, 0}},
    .Y = {16, 16, 1, 1072, 69696, 69696, 69696, 1056, 0}};

/* conv: dec1.2 of train, dec1.2 of eval, dec1.2 of predict: dec1.1[n,16,64,64] dec1.2.weight[16,16,3,3]
    dec1.2.bias[16] -> dec1.3[n,16,64,64] */
static const tiny_unet_conv_sizes tiny_unet_conv_sizes_13 = {
    .CI = 16, .CO = 16, .ID = 1, .IH = 64, .IW = 64, .H = 64, .W = 64, .KD = 1, .SD = 1, .LD = 1, .PD = 0,
    .KH = 3, .SH = 1, .LH = 1, .PH = 1, .KW = 3, .SW = 1, .LW = 1, .PW = 1, .BIAS = 1, .RELU = 1,
    .SEGMENTS = 1, .X = (const Layout[]){{16, 16, 1, 1072, 69696, 69696, 69696, 1056, 0}},
    .Y = {16, 16, 1, 0, 65536, 65536, 65536, 1024, 0}};

/* conv: final of train, final of eval, final of predict: dec1.3[n,16,64,64] final.weight[3,16,1,1]
    final.bias[3] -> final[n,3,64,64] */
static const tiny_unet_conv_sizes tiny_unet_conv_sizes_14 = {
    .CI = 16, .CO = 3, .ID = 1, .IH = 64, .IW = 64, .H = 64, .W = 64, .KD = 1, .SD = 1, .LD = 1, .PD = 0,
    .KH = 1, .SH = 1, .LH = 1, .PH = 0, .KW = 1, .SW = 1, .LW = 1, .PW = 0, .BIAS = 1, .RELU = 0,
    .SEGMENTS = 1, .X = (const Layout[]){{16, 16, 1, 0, 65536, 65536, 65536, 1024, 0}},
    .Y = {3, 3, 1, 0, 12288, 12288, 12288, 192, 0}};

/* mse_grad: mse of train: final[n,3,64,64] clean[n,3,64,64] -> d final[n,3,64,64] */
static const tiny_unet_mse_grad_sizes tiny_unet_mse_grad_sizes_0 = {
    .C = 3, .D = 1, .H = 64, .W = 64, .P = {3, 3, 1, 0, 12288, 12288, 12288, 192, 0},
    .T = {3, 3, 1, 0, 12288, 12288, 12288, 192, 0}, .P_STAGED = 0, .T_STAGED = 3, .WEIGHT = 1,
    .DP = {3, 3, 1, 0, 12288, 12288, 12288, 192, 0}, .SCALED = 0};

/* psnr: psnr of train, psnr of eval: final[n,3,64,64] clean[n,3,64,64] -> psnr[1] psnr scratch[384] */
static const tiny_unet_psnr_sizes tiny_unet_psnr_sizes_0 = {
    .C = 3, .D = 1, .H = 64, .W = 64, .P = {3, 3, 1, 0, 12288, 12288, 12288, 192, 0},
    .T = {3, 3, 1, 0, 12288, 12288, 12288, 192, 0}, .P_STAGED = 0, .T_STAGED = 3, .ACCUMULATE = 0};

/* mse: mse of train, mse of eval: final[n,3,64,64] clean[n,3,64,64] -> mse[1] mse scratch[384] */
static const tiny_unet_mse_sizes tiny_unet_mse_sizes_0 = {
    .C = 3, .D = 1, .H = 64, .W = 64, .P = {3, 3, 1, 0, 12288, 12288, 12288, 192, 0},
    .T = {3, 3, 1, 0, 12288, 12288, 12288, 192, 0}, .P_STAGED = 0, .T_STAGED = 3, .ACCUMULATE = 0};

/* conv_wgrad: final of train: dec1.3[n,16,64,64] d final[n,3,64,64] -> d final.weight[3,16,1,1]
    d final.bias[3] final scratch[51] */
static const tiny_unet_conv_wgrad_sizes tiny_unet_conv_wgrad_sizes_0 = {
    .CI = 16, .CO = 3, .ID = 1, .IH = 64, .IW = 64, .D = 1, .H = 64, .W = 64, .KD = 1, .SD = 1, .LD = 1,
    .PD = 0, .KH = 1, .SH = 1, .LH = 1, .PH = 0, .KW = 1, .SW = 1, .LW = 1, .PW = 0, .TRANSPOSED = 0,
    .BIAS = 1, .ACCUMULATE = 0, .SEGMENTS = 1,
    .X = (const Layout[]){{16, 16, 1, 0, 65536, 65536, 65536, 1024, 0}},
    .DY = {3, 3, 1, 0, 12288, 12288, 12288, 192, 0}};

/* conv_dgrad: final of train: d final[n,3,64,64] final.weight[3,16,1,1] dec1.3[n,16,64,64]
    -> d dec1.2[n,16,64,64] */
static const tiny_unet_conv_dgrad_sizes tiny_unet_conv_dgrad_sizes_0 = {
    .CI = 16, .CO = 3, .IH = 64, .IW = 64, .D = 1, .H = 64, .W = 64, .KD = 1, .SD = 1, .LD = 1, .PD = 0,
    .KH = 1, .SH = 1, .LH = 1, .PH = 0, .KW = 1, .SW = 1, .LW = 1, .PW = 0, .C0 = 0, .CS = 16,
    .DX = {16, 16, 1, 1072, 69696, 69696, 69696, 1056, 0}, .DY = {3, 3, 1, 0, 12288, 12288, 12288, 192, 0},
    .MASK = 1, .M = {16, 16, 1, 0, 65536, 65536, 65536, 1024, 0}};

/* conv_dgrad: dec1.2 of train: d dec1.2[n,16,64,64] dec1.2.weight[16,16,3,3] dec1.1[n,16,64,64]
    -> d dec1.0[n,16,64,64] */
static const tiny_unet_conv_dgrad_sizes tiny_unet_conv_dgrad_sizes_1 = {
    .CI = 16, .CO = 16, .IH = 64, .IW = 64, .D = 1, .H = 64, .W = 64, .KD = 1, .SD = 1, .LD = 1, .PD = 0,
    .KH = 3, .SH = 1, .LH = 1, .PH = 1, .KW = 3, .SW = 1, .LW = 1, .PW = 1, .C0 = 0, .CS = 16,
    .DX = {16, 16, 1, 1072, 69696, 69696, 69696, 1056, 0},
    .DY = {16, 16, 1, 1072, 69696, 69696, 69696, 1056, 0}, .MASK = 1,
    .M = {16, 16, 1, 1072, 69696, 69696, 69696, 1056, 0}};

/* conv_wgrad: dec1.2 of train, enc1.2 of train: dec1.1[n,16,64,64] d dec1.2[n,16,64,64]
    -> d dec1.2.weight[16,16,3,3] d dec1.2.bias[16] dec1.2 scratch[2320] */
static const tiny_unet_conv_wgrad_sizes tiny_unet_conv_wgrad_sizes_1 = {
    .CI = 16, .CO = 16, .ID = 1, .IH = 64, .IW = 64, .D = 1, .H = 64, .W = 64, .KD = 1, .SD = 1, .LD = 1,
    .PD = 0, .KH = 3, .SH = 1, .LH = 1, .PH = 1, .KW = 3, .SW = 1, .LW = 1, .PW = 1, .TRANSPOSED = 0,
    .BIAS = 1, .ACCUMULATE = 0, .SEGMENTS = 1,
    .X = (const Layout[]){{16, 16, 1, 1072, 69696, 69696, 69696, 1056, 0}},
    .DY = {16, 16, 1, 1072, 69696, 69696, 69696, 1056, 0}};

/* conv_wgrad: dec1.0 of train: dec1.concat[n,32,64,64] d dec1.0[n,16,64,64] -> d dec1.0.weight[16,32,3,3]
    d dec1.0.bias[16] dec1.0 scratch[4624] */
static const tiny_unet_conv_wgrad_sizes tiny_unet_conv_wgrad_sizes_2 = {
    .CI = 32, .CO = 16, .ID = 1, .IH = 64, .IW = 64, .D = 1, .H = 64, .W = 64, .KD = 1, .SD = 1, .LD = 1,
    .PD = 0, .KH = 3, .SH = 1, .LH = 1, .PH = 1, .KW = 3, .SW = 1, .LW = 1, .PW = 1, .TRANSPOSED = 0,
    .BIAS = 1, .ACCUMULATE = 0, .SEGMENTS = 2,
    .X = (const Layout[]){{16, 16, 1, 1072, 69696, 69696, 69696, 1056, 0}, {16, 16, 1, 1072, 69696, 69696, 69696, 1056, 0}},
    .DY = {16, 16, 1, 1072, 69696, 69696, 69696, 1056, 0}};

/* conv_dgrad: dec1.0 of train: d dec1.0[n,16,64,64] dec1.0.weight[16,32,3,3] -> d up1[n,16,64,64] */
static const tiny_unet_conv_dgrad_sizes tiny_unet_conv_dgrad_sizes_2 = {
    .CI = 32, .CO = 16, .IH = 64, .IW = 64, .D = 1, .H = 64, .W = 64, .KD = 1, .SD = 1, .LD = 1, .PD = 0,
    .KH = 3, .SH = 1, .LH = 1, .PH = 1, .KW = 3, .SW = 1, .LW = 1, .PW = 1, .C0 = 0, .CS = 16,
    .DX = {16, 16, 1, 0, 65536, 65536, 65536, 1024, 0}, .DY = {16, 16, 1, 1072, 69696, 69696, 69696, 1056, 0},
    .MASK = 0, .M = {16, 16, 1, 0, 65536, 65536, 65536, 1024, 0}};

/* conv_wgrad: up1 of train: dec2.3[n,32,32,32] d up1[n,16,64,64] -> d up1.weight[32,16,2,2] d up1.bias[16]
    up1 scratch[2064] */
static const tiny_unet_conv_wgrad_sizes tiny_unet_conv_wgrad_sizes_3 = {
    .CI = 32, .CO = 16, .ID = 1, .IH = 32, .IW = 32, .D = 1, .H = 64, .W = 64, .KD = 1, .SD = 1, .LD = 1,
    .PD = 0, .KH = 2, .SH = 2, .LH = 1, .PH = 0, .KW = 2, .SW = 2, .LW = 1, .PW = 0, .TRANSPOSED = 1,
    .BIAS = 1, .ACCUMULATE = 0, .SEGMENTS = 1,
    .X = (const Layout[]){{32, 16, 2, 0, 32768, 16384, 16384, 512, 0}},
    .DY = {16, 16, 1, 0, 65536, 65536, 65536, 1024, 0}};

/* conv_dgrad: dec1.0 of train: d dec1.0[n,16,64,64] dec1.0.weight[16,32,3,3] -> d enc1.3[n,16,64,64] */
static const tiny_unet_conv_dgrad_sizes tiny_unet_conv_dgrad_sizes_3 = {
    .CI = 32, .CO = 16, .IH = 64, .IW = 64, .D = 1, .H = 64, .W = 64, .KD = 1, .SD = 1, .LD = 1, .PD = 0,
    .KH = 3, .SH = 1, .LH = 1, .PH = 1, .KW = 3, .SW = 1, .LW = 1, .PW = 1, .C0 = 16, .CS = 16,
    .DX = {16, 16, 1, 1072, 69696, 69696, 69696, 1056, 0},
    .DY = {16, 16, 1, 1072, 69696, 69696, 69696, 1056, 0}, .MASK = 0,
    .M = {16, 16, 1, 1072, 69696, 69696, 69696, 1056, 0}};

/* upconv_dgrad: up1 of train: d up1[n,16,64,64] up1.weight[32,16,2,2] dec2.3[n,32,32,32]
    -> d dec2.2[n,32,32,32] */
static const tiny_unet_upconv_dgrad_sizes tiny_unet_upconv_dgrad_sizes_0 = {
    .CO = 16, .IH = 32, .IW = 32, .D = 1, .H = 64, .W = 64, .KD = 1, .SD = 1, .LD = 1, .PD = 0, .KH = 2,
    .SH = 2, .LH = 1, .PH = 0, .KW = 2, .SW = 2, .LW = 1, .PW = 0, .C0 = 0, .CS = 32,
    .DX = {32, 16, 2, 560, 36992, 18496, 18496, 544, 0}, .DY = {16, 16, 1, 0, 65536, 65536, 65536, 1024, 0},
    .MASK = 1, .M = {32, 16, 2, 0, 32768, 16384, 16384, 512, 0}};

/* adam: adam of train, adam of train, adam of train, 7 more: the parameters final.weight to up1.bias */
static const tiny_unet_adam_sizes tiny_unet_adam_sizes_0 = {
    .TENSORS = 0, .TENSOR = (const long[]){0, 0, 0, 0}, .SCALED = 0, .CLIPS = 0, .AVERAGED = 0, .CLIP = 0,
    .AVERAGE = 0, .DECOUPLED = 0, .AMSGRAD = 0, .WEIGHT_DECAY = 0, .BETA1 = 0.90000000000000002,
    .BETA2 = 0.999, .LEAST_SQUARE = 0.018918918918918941, .EPSILON = 1e-08};

/* conv_wgrad: dec2.2 of train, enc2.2 of train: dec2.1[n,32,32,32] d dec2.2[n,32,32,32]
    -> d dec2.2.weight[32,32,3,3] d dec2.2.bias[32] dec2.2 scratch[9248] */
static const tiny_unet_conv_wgrad_sizes tiny_unet_conv_wgrad_sizes_4 = {
    .CI = 32, .CO = 32, .ID = 1, .IH = 32, .IW = 32, .D = 1, .H = 32, .W = 32, .KD = 1, .SD = 1, .LD = 1,
    .PD = 0, .KH = 3, .SH = 1, .LH = 1, .PH = 1, .KW = 3, .SW = 1, .LW = 1, .PW = 1, .TRANSPOSED = 0,
    .BIAS = 1, .ACCUMULATE = 0, .SEGMENTS = 1,
    .X = (const Layout[]){{32, 16, 2, 560, 36992, 18496, 18496, 544, 0}},
    .DY = {32, 16, 2, 560, 36992, 18496, 18496, 544, 0}};

/* conv_dgrad: dec2.2 of train, enc2.2 of train: d dec2.2[n,32,32,32] dec2.2.weight[32,32,3,3]
    dec2.1[n,32,32,32] -> d dec2.0[n,32,32,32] */
static const tiny_unet_conv_dgrad_sizes tiny_unet_conv_dgrad_sizes_4 = {
    .CI = 32, .CO = 32, .IH = 32, .IW = 32, .D = 1, .H = 32, .W = 32, .KD = 1, .SD = 1, .LD = 1, .PD = 0,
    .KH = 3, .SH = 1, .LH = 1, .PH = 1, .KW = 3, .SW = 1, .LW = 1, .PW = 1, .C0 = 0, .CS = 32,
    .DX = {32, 16, 2, 560, 36992, 18496, 18496, 544, 0}, .DY = {32, 16, 2, 560, 36992, 18496, 18496, 544, 0},
    .MASK = 1, .M = {32, 16, 2, 560, 36992, 18496, 18496, 544, 0}};

/* conv_wgrad: dec2.0 of train: dec2.concat[n,64,32,32] d dec2.0[n,32,32,32] -> d dec2.0.weight[32,64,3,3]
    d dec2.0.bias[32] dec2.0 scratch[18464] */
static const tiny_unet_conv_wgrad_sizes tiny_unet_conv_wgrad_sizes_5 = {
    .CI = 64, .CO = 32, .ID = 1, .IH = 32, .IW = 32, .D = 1, .H = 32, .W = 32, .KD = 1, .SD = 1, .LD = 1,
    .PD = 0, .KH = 3, .SH = 1, .LH = 1, .PH = 1, .KW = 3, .SW = 1, .LW = 1, .PW = 1, .TRANSPOSED = 0,
    .BIAS = 1, .ACCUMULATE = 0, .SEGMENTS = 2,
    .X = (const Layout[]){{32, 16, 2, 560, 36992, 18496, 18496, 544, 0}, {32, 16, 2, 560, 36992, 18496, 18496, 544, 0}},
    .DY = {32, 16, 2, 560, 36992, 18496, 18496, 544, 0}};

/* conv_dgrad: dec2.0 of train: d dec2.0[n,32,32,32] dec2.0.weight[32,64,3,3] -> d up2[n,32,32,32] */
static const tiny_unet_conv_dgrad_sizes tiny_unet_conv_dgrad_sizes_5 = {
    .CI = 64, .CO = 32, .IH = 32, .IW = 32, .D = 1, .H = 32, .W = 32, .KD = 1, .SD = 1, .LD = 1, .PD = 0,
    .KH = 3, .SH = 1, .LH = 1, .PH = 1, .KW = 3, .SW = 1, .LW = 1, .PW = 1, .C0 = 0, .CS = 32,
    .DX = {32, 16, 2, 0, 32768, 16384, 16384, 512, 0}, .DY = {32, 16, 2, 560, 36992, 18496, 18496, 544, 0},
    .MASK = 0, .M = {32, 16, 2, 0, 32768, 16384, 16384, 512, 0}};

/* conv_wgrad: up2 of train: dec3.3[n,64,16,16] d up2[n,32,32,32] -> d up2.weight[64,32,2,2] d up2.bias[32]
    up2 scratch[8224] */
static const tiny_unet_conv_wgrad_sizes tiny_unet_conv_wgrad_sizes_6 = {
    .CI = 64, .CO = 32, .ID = 1, .IH = 16, .IW = 16, .D = 1, .H = 32, .W = 32, .KD = 1, .SD = 1, .LD = 1,
    .PD = 0, .KH = 2, .SH = 2, .LH = 1, .PH = 0, .KW = 2, .SW = 2, .LW = 1, .PW = 0, .TRANSPOSED = 1,
    .BIAS = 1, .ACCUMULATE = 0, .SEGMENTS = 1,
    .X = (const Layout[]){{64, 16, 4, 0, 16384, 4096, 4096, 256, 0}},
    .DY = {32, 16, 2, 0, 32768, 16384, 16384, 512, 0}};

/* upconv_dgrad: up2 of train: d up2[n,32,32,32] up2.weight[64,32,2,2] dec3.3[n,64,16,16]
    -> d dec3.2[n,64,16,16] */
static const tiny_unet_upconv_dgrad_sizes tiny_unet_upconv_dgrad_sizes_1 = {
    .CO = 32, .IH = 16, .IW = 16, .D = 1, .H = 32, .W = 32, .KD = 1, .SD = 1, .LD = 1, .PD = 0, .KH = 2,
    .SH = 2, .LH = 1, .PH = 0, .KW = 2, .SW = 2, .LW = 1, .PW = 0, .C0 = 0, .CS = 64,
    .DX = {64, 16, 4, 304, 20736, 5184, 5184, 288, 0}, .DY = {32, 16, 2, 0, 32768, 16384, 16384, 512, 0},
    .MASK = 1, .M = {64, 16, 4, 0, 16384, 4096, 4096, 256, 0}};

/* conv_dgrad: dec3.2 of train, enc3.2 of train: d dec3.2[n,64,16,16] dec3.2.weight[64,64,3,3]
    dec3.1[n,64,16,16] -> d dec3.0[n,64,16,16] */
static const tiny_unet_conv_dgrad_sizes tiny_unet_conv_dgrad_sizes_6 = {
    .CI = 64, .CO = 64, .IH = 16, .IW = 16, .D = 1, .H = 16, .W = 16, .KD = 1, .SD = 1, .LD = 1, .PD = 0,
    .KH = 3, .SH = 1, .LH = 1, .PH = 1, .KW = 3, .SW = 1, .LW = 1, .PW = 1, .C0 = 0, .CS = 64,
    .DX = {64, 16, 4, 304, 20736, 5184, 5184, 288, 0}, .DY = {64, 16, 4, 304, 20736, 5184, 5184, 288, 0},
    .MASK = 1, .M = {64, 16, 4, 304, 20736, 5184, 5184, 288, 0}};

/* conv_wgrad: dec3.0 of train: dec3.concat[n,128,16,16] d dec3.0[n,64,16,16] -> d dec3.0.weight[64,128,3,3]
    d dec3.0.bias[64] dec3.0 scratch[73792] */
static const tiny_unet_conv_wgrad_sizes tiny_unet_conv_wgrad_sizes_7 = {
    .CI = 128, .CO = 64, .ID = 1, .IH = 16, .IW = 16, .D = 1, .H = 16, .W = 16, .KD = 1, .SD = 1, .LD = 1,
    .PD = 0, .KH = 3, .SH = 1, .LH = 1, .PH = 1, .KW = 3, .SW = 1, .LW = 1, .PW = 1, .TRANSPOSED = 0,
    .BIAS = 1, .ACCUMULATE = 0, .SEGMENTS = 2,
    .X = (const Layout[]){{64, 16, 4, 304, 20736, 5184, 5184, 288, 0}, {64, 16, 4, 304, 20736, 5184, 5184, 288, 0}},
    .DY = {64, 16, 4, 304, 20736, 5184, 5184, 288, 0}};

/* conv_dgrad: dec3.0 of train: d dec3.0[n,64,16,16] dec3.0.weight[64,128,3,3] -> d up3[n,64,16,16] */
static const tiny_unet_conv_dgrad_sizes tiny_unet_conv_dgrad_sizes_7 = {
    .CI = 128, .CO = 64, .IH = 16, .IW = 16, .D = 1, .H = 16, .W = 16, .KD = 1, .SD = 1, .LD = 1, .PD = 0,
    .KH = 3, .SH = 1, .LH = 1, .PH = 1, .KW = 3, .SW = 1, .LW = 1, .PW = 1, .C0 = 0, .CS = 64,
    .DX = {64, 16, 4, 0, 16384, 4096, 4096, 256, 0}, .DY = {64, 16, 4, 304, 20736, 5184, 5184, 288, 0},
    .MASK = 0, .M = {64, 16, 4, 0, 16384, 4096, 4096, 256, 0}};

/* conv_dgrad: dec3.0 of train: d dec3.0[n,64,16,16] dec3.0.weight[64,128,3,3] -> d enc3.3[n,64,16,16] */
static const tiny_unet_conv_dgrad_sizes tiny_unet_conv_dgrad_sizes_8 = {
    .CI = 128, .CO = 64, .IH = 16, .IW = 16, .D = 1, .H = 16, .W = 16, .KD = 1, .SD = 1, .LD = 1, .PD = 0,
    .KH = 3, .SH = 1, .LH = 1, .PH = 1, .KW = 3, .SW = 1, .LW = 1, .PW = 1, .C0 = 64, .CS = 64,
    .DX = {64, 16, 4, 304, 20736, 5184, 5184, 288, 0}, .DY = {64, 16, 4, 304, 20736, 5184, 5184, 288, 0},
    .MASK = 0, .M = {64, 16, 4, 304, 20736, 5184, 5184, 288, 0}};

/* conv_wgrad: up3 of train: bottleneck.3[n,128,8,8] d up3[n,64,16,16] -> d up3.weight[128,64,2,2]
    d up3.bias[64] up3 scratch[32832] */
static const tiny_unet_conv_wgrad_sizes tiny_unet_conv_wgrad_sizes_8 = {
    .CI = 128, .CO = 64, .ID = 1, .IH = 8, .IW = 8, .D = 1, .H = 16, .W = 16, .KD = 1, .SD = 1, .LD = 1,
    .PD = 0, .KH = 2, .SH = 2, .LH = 1, .PH = 0, .KW = 2, .SW = 2, .LW = 1, .PW = 0, .TRANSPOSED = 1,
    .BIAS = 1, .ACCUMULATE = 0, .SEGMENTS = 1,
    .X = (const Layout[]){{128, 16, 8, 0, 8192, 1024, 1024, 128, 0}},
    .DY = {64, 16, 4, 0, 16384, 4096, 4096, 256, 0}};

/* conv_wgrad: dec3.2 of train, enc3.2 of train: dec3.1[n,64,16,16] d dec3.2[n,64,16,16]
    -> d dec3.2.weight[64,64,3,3] d dec3.2.bias[64] dec3.2 scratch[36928] */
static const tiny_unet_conv_wgrad_sizes tiny_unet_conv_wgrad_sizes_9 = {
    .CI = 64, .CO = 64, .ID = 1, .IH = 16, .IW = 16, .D = 1, .H = 16, .W = 16, .KD = 1, .SD = 1, .LD = 1,
    .PD = 0, .KH = 3, .SH = 1, .LH = 1, .PH = 1, .KW = 3, .SW = 1, .LW = 1, .PW = 1, .TRANSPOSED = 0,
    .BIAS = 1, .ACCUMULATE = 0, .SEGMENTS = 1,
    .X = (const Layout[]){{64, 16, 4, 304, 20736, 5184, 5184, 288, 0}},
    .DY = {64, 16, 4, 304, 20736, 5184, 5184, 288, 0}};

/* upconv_dgrad: up3 of train: d up3[n,64,16,16] up3.weight[128,64,2,2] bottleneck.3[n,128,8,8]
    -> d bottleneck.2[n,128,8,8] */
static const tiny_unet_upconv_dgrad_sizes tiny_unet_upconv_dgrad_sizes_2 = {
    .CO = 64, .IH = 8, .IW = 8, .D = 1, .H = 16, .W = 16, .KD = 1, .SD = 1, .LD = 1, .PD = 0, .KH = 2, .SH = 2,
    .LH = 1, .PH = 0, .KW = 2, .SW = 2, .LW = 1, .PW = 0, .C0 = 0, .CS = 128,
    .DX = {128, 16, 8, 176, 12800, 1600, 1600, 160, 0}, .DY = {64, 16, 4, 0, 16384, 4096, 4096, 256, 0},
    .MASK = 1, .M = {128, 16, 8, 0, 8192, 1024, 1024, 128, 0}};

/* conv_wgrad: bottleneck.2 of train: bottleneck.1[n,128,8,8] d bottleneck.2[n,128,8,8]
    -> d bottleneck.2.weight[128,128,3,3] d bottleneck.2.bias[128] bottleneck.2 scratch[147584] */
static const tiny_unet_conv_wgrad_sizes tiny_unet_conv_wgrad_sizes_10 = {
    .CI = 128, .CO = 128, .ID = 1, .IH = 8, .IW = 8, .D = 1, .H = 8, .W = 8, .KD = 1, .SD = 1, .LD = 1,
    .PD = 0, .KH = 3, .SH = 1, .LH = 1, .PH = 1, .KW = 3, .SW = 1, .LW = 1, .PW = 1, .TRANSPOSED = 0,
    .BIAS = 1, .ACCUMULATE = 0, .SEGMENTS = 1,
    .X = (const Layout[]){{128, 16, 8, 176, 12800, 1600, 1600, 160, 0}},
    .DY = {128, 16, 8, 176, 12800, 1600, 1600, 160, 0}};

/* conv_dgrad: bottleneck.2 of train: d bottleneck.2[n,128,8,8] bottleneck.2.weight[128,128,3,3]
    bottleneck.1[n,128,8,8] -> d bottleneck.0[n,128,8,8] */
static const tiny_unet_conv_dgrad_sizes tiny_unet_conv_dgrad_sizes_9 = {
    .CI = 128, .CO = 128, .IH = 8, .IW = 8, .D = 1, .H = 8, .W = 8, .KD = 1, .SD = 1, .LD = 1, .PD = 0,
    .KH = 3, .SH = 1, .LH = 1, .PH = 1, .KW = 3, .SW = 1, .LW = 1, .PW = 1, .C0 = 0, .CS = 128,
    .DX = {128, 16, 8, 176, 12800, 1600, 1600, 160, 0}, .DY = {128, 16, 8, 176, 12800, 1600, 1600, 160, 0},
    .MASK = 1, .M = {128, 16, 8, 176, 12800, 1600, 1600, 160, 0}};

/* conv_wgrad: bottleneck.0 of train: bottleneck.max_pool[n,64,8,8] d bottleneck.0[n,128,8,8]
    -> d bottleneck.0.weight[128,64,3,3] d bottleneck.0.bias[128] bottleneck.0 scratch[73856] */
static const tiny_unet_conv_wgrad_sizes tiny_unet_conv_wgrad_sizes_11 = {
    .CI = 64, .CO = 128, .ID = 1, .IH = 8, .IW = 8, .D = 1, .H = 8, .W = 8, .KD = 1, .SD = 1, .LD = 1, .PD = 0,
    .KH = 3, .SH = 1, .LH = 1, .PH = 1, .KW = 3, .SW = 1, .LW = 1, .PW = 1, .TRANSPOSED = 0, .BIAS = 1,
    .ACCUMULATE = 0, .SEGMENTS = 1, .X = (const Layout[]){{64, 16, 4, 176, 6400, 1600, 1600, 160, 0}},
    .DY = {128, 16, 8, 176, 12800, 1600, 1600, 160, 0}};

/* conv_dgrad: bottleneck.0 of train: d bottleneck.0[n,128,8,8] bottleneck.0.weight[128,64,3,3]
    -> d bottleneck.max_pool[n,64,8,8] */
static const tiny_unet_conv_dgrad_sizes tiny_unet_conv_dgrad_sizes_10 = {
    .CI = 64, .CO = 128, .IH = 8, .IW = 8, .D = 1, .H = 8, .W = 8, .KD = 1, .SD = 1, .LD = 1, .PD = 0, .KH = 3,
    .SH = 1, .LH = 1, .PH = 1, .KW = 3, .SW = 1, .LW = 1, .PW = 1, .C0 = 0, .CS = 64,
    .DX = {64, 16, 4, 0, 4096, 1024, 1024, 128, 0}, .DY = {128, 16, 8, 176, 12800, 1600, 1600, 160, 0},
    .MASK = 0, .M = {64, 16, 4, 0, 4096, 1024, 1024, 128, 0}};

/* max_pool_grad: bottleneck.max_pool of train: enc3.3[n,64,16,16] d bottleneck.max_pool[n,64,8,8]
    d enc3.3[n,64,16,16] -> d enc3.2[n,64,16,16] */
static const tiny_unet_max_pool_grad_sizes tiny_unet_max_pool_grad_sizes_0 = {
    .C = 64, .ID = 1, .IH = 16, .IW = 16, .D = 1, .H = 8, .W = 8, .KD = 1, .SD = 1, .PD = 0, .LD = 1, .KH = 2,
    .SH = 2, .PH = 0, .LH = 1, .KW = 2, .SW = 2, .PW = 0, .LW = 1, .ACCUMULATE = 1, .MASK = 1,
    .DX = {64, 16, 4, 304, 20736, 5184, 5184, 288, 0}, .X = {64, 16, 4, 304, 20736, 5184, 5184, 288, 0},
    .DY = {64, 16, 4, 0, 4096, 1024, 1024, 128, 0}, .A = {64, 16, 4, 304, 20736, 5184, 5184, 288, 0}};

/* conv_wgrad: enc3.0 of train: enc3.max_pool[n,32,16,16] d enc3.0[n,64,16,16] -> d enc3.0.weight[64,32,3,3]
    d enc3.0.bias[64] enc3.0 scratch[18496] */
static const tiny_unet_conv_wgrad_sizes tiny_unet_conv_wgrad_sizes_12 = {
    .CI = 32, .CO = 64, .ID = 1, .IH = 16, .IW = 16, .D = 1, .H = 16, .W = 16, .KD = 1, .SD = 1, .LD = 1,
    .PD = 0, .KH = 3, .SH = 1, .LH = 1, .PH = 1, .KW = 3, .SW = 1, .LW = 1, .PW = 1, .TRANSPOSED = 0,
    .BIAS = 1, .ACCUMULATE = 0, .SEGMENTS = 1,
    .X = (const Layout[]){{32, 16, 2, 304, 10368, 5184, 5184, 288, 0}},
    .DY = {64, 16, 4, 304, 20736, 5184, 5184, 288, 0}};

/* conv_dgrad: enc3.0 of train: d enc3.0[n,64,16,16] enc3.0.weight[64,32,3,3]
    -> d enc3.max_pool[n,32,16,16] */
static const tiny_unet_conv_dgrad_sizes tiny_unet_conv_dgrad_sizes_11 = {
    .CI = 32, .CO = 64, .IH = 16, .IW = 16, .D = 1, .H = 16, .W = 16, .KD = 1, .SD = 1, .LD = 1, .PD = 0,
    .KH = 3, .SH = 1, .LH = 1, .PH = 1, .KW = 3, .SW = 1, .LW = 1, .PW = 1, .C0 = 0, .CS = 32,
    .DX = {32, 16, 2, 0, 8192, 4096, 4096, 256, 0}, .DY = {64, 16, 4, 304, 20736, 5184, 5184, 288, 0},
    .MASK = 0, .M = {32, 16, 2, 0, 8192, 4096, 4096, 256, 0}};

/* conv_dgrad: dec2.0 of train: d dec2.0[n,32,32,32] dec2.0.weight[32,64,3,3] -> d enc2.3[n,32,32,32] */
static const tiny_unet_conv_dgrad_sizes tiny_unet_conv_dgrad_sizes_12 = {
    .CI = 64, .CO = 32, .IH = 32, .IW = 32, .D = 1, .H = 32, .W = 32, .KD = 1, .SD = 1, .LD = 1, .PD = 0,
    .KH = 3, .SH = 1, .LH = 1, .PH = 1, .KW = 3, .SW = 1, .LW = 1, .PW = 1, .C0 = 32, .CS = 32,
    .DX = {32, 16, 2, 560, 36992, 18496, 18496, 544, 0}, .DY = {32, 16, 2, 560, 36992, 18496, 18496, 544, 0},
    .MASK = 0, .M = {32, 16, 2, 560, 36992, 18496, 18496, 544, 0}};

/* max_pool_grad: enc3.max_pool of train: enc2.3[n,32,32,32] d enc3.max_pool[n,32,16,16] d enc2.3[n,32,32,32]
    -> d enc2.2[n,32,32,32] */
static const tiny_unet_max_pool_grad_sizes tiny_unet_max_pool_grad_sizes_1 = {
    .C = 32, .ID = 1, .IH = 32, .IW = 32, .D = 1, .H = 16, .W = 16, .KD = 1, .SD = 1, .PD = 0, .LD = 1,
    .KH = 2, .SH = 2, .PH = 0, .LH = 1, .KW = 2, .SW = 2, .PW = 0, .LW = 1, .ACCUMULATE = 1, .MASK = 1,
    .DX = {32, 16, 2, 560, 36992, 18496, 18496, 544, 0}, .X = {32, 16, 2, 560, 36992, 18496, 18496, 544, 0},
    .DY = {32, 16, 2, 0, 8192, 4096, 4096, 256, 0}, .A = {32, 16, 2, 560, 36992, 18496, 18496, 544, 0}};

/* conv_wgrad: enc2.0 of train: enc2.max_pool[n,16,32,32] d enc2.0[n,32,32,32] -> d enc2.0.weight[32,16,3,3]
    d enc2.0.bias[32] enc2.0 scratch[4640] */
static const tiny_unet_conv_wgrad_sizes tiny_unet_conv_wgrad_sizes_13 = {
    .CI = 16, .CO = 32, .ID = 1, .IH = 32, .IW = 32, .D = 1, .H = 32, .W = 32, .KD = 1, .SD = 1, .LD = 1,
    .PD = 0, .KH = 3, .SH = 1, .LH = 1, .PH = 1, .KW = 3, .SW = 1, .LW = 1, .PW = 1, .TRANSPOSED = 0,
    .BIAS = 1, .ACCUMULATE = 0, .SEGMENTS = 1,
    .X = (const Layout[]){{16, 16, 1, 560, 18496, 18496, 18496, 544, 0}},
    .DY = {32, 16, 2, 560, 36992, 18496, 18496, 544, 0}};

/* conv_dgrad: enc2.0 of train: d enc2.0[n,32,32,32] enc2.0.weight[32,16,3,3]
    -> d enc2.max_pool[n,16,32,32] */
static const tiny_unet_conv_dgrad_sizes tiny_unet_conv_dgrad_sizes_13 = {
    .CI = 16, .CO = 32, .IH = 32, .IW = 32, .D = 1, .H = 32, .W = 32, .KD = 1, .SD = 1, .LD = 1, .PD = 0,
    .KH = 3, .SH = 1, .LH = 1, .PH = 1, .KW = 3, .SW = 1, .LW = 1, .PW = 1, .C0 = 0, .CS = 16,
    .DX = {16, 16, 1, 0, 16384, 16384, 16384, 512, 0}, .DY = {32, 16, 2, 560, 36992, 18496, 18496, 544, 0},
    .MASK = 0, .M = {16, 16, 1, 0, 16384, 16384, 16384, 512, 0}};

/* max_pool_grad: enc2.max_pool of train: enc1.3[n,16,64,64] d enc2.max_pool[n,16,32,32] d enc1.3[n,16,64,64]
    -> d enc1.2[n,16,64,64] */
static const tiny_unet_max_pool_grad_sizes tiny_unet_max_pool_grad_sizes_2 = {
    .C = 16, .ID = 1, .IH = 64, .IW = 64, .D = 1, .H = 32, .W = 32, .KD = 1, .SD = 1, .PD = 0, .LD = 1,
    .KH = 2, .SH = 2, .PH = 0, .LH = 1, .KW = 2, .SW = 2, .PW = 0, .LW = 1, .ACCUMULATE = 1, .MASK = 1,
    .DX = {16, 16, 1, 1072, 69696, 69696, 69696, 1056, 0},
    .X = {16, 16, 1, 1072, 69696, 69696, 69696, 1056, 0}, .DY = {16, 16, 1, 0, 16384, 16384, 16384, 512, 0},
    .A = {16, 16, 1, 1072, 69696, 69696, 69696, 1056, 0}};

/* conv_dgrad: enc1.2 of train: d enc1.2[n,16,64,64] enc1.2.weight[16,16,3,3] enc1.1[n,16,64,64]
    -> d enc1.0[n,16,64,64] */
static const tiny_unet_conv_dgrad_sizes tiny_unet_conv_dgrad_sizes_14 = {
    .CI = 16, .CO = 16, .IH = 64, .IW = 64, .D = 1, .H = 64, .W = 64, .KD = 1, .SD = 1, .LD = 1, .PD = 0,
    .KH = 3, .SH = 1, .LH = 1, .PH = 1, .KW = 3, .SW = 1, .LW = 1, .PW = 1, .C0 = 0, .CS = 16,
    .DX = {16, 16, 1, 0, 65536, 65536, 65536, 1024, 0}, .DY = {16, 16, 1, 1072, 69696, 69696, 69696, 1056, 0},
    .MASK = 1, .M = {16, 16, 1, 1072, 69696, 69696, 69696, 1056, 0}};

/* conv_wgrad: enc1.0 of train: noisy cast[n,3,64,64] d enc1.0[n,16,64,64] -> d enc1.0.weight[16,3,3,3]
    d enc1.0.bias[16] enc1.0 scratch[448] */
static const tiny_unet_conv_wgrad_sizes tiny_unet_conv_wgrad_sizes_14 = {
    .CI = 3, .CO = 16, .ID = 1, .IH = 64, .IW = 64, .D = 1, .H = 64, .W = 64, .KD = 1, .SD = 1, .LD = 1,
    .PD = 0, .KH = 3, .SH = 1, .LH = 1, .PH = 1, .KW = 3, .SW = 1, .LW = 1, .PW = 1, .TRANSPOSED = 0,
    .BIAS = 1, .ACCUMULATE = 0, .SEGMENTS = 1,
    .X = (const Layout[]){{3, 3, 1, 201, 13072, 13068, 13068, 198, 0}},
    .DY = {16, 16, 1, 0, 65536, 65536, 65536, 1024, 0}};
#endif
