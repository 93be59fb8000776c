/* image_formats.c - the formats of images that this build reads and writes. */
#include "image_format.h"

static const ImageFormat *const read[] = {&image_png,  &image_bmp, &image_pnm, &image_npy,
#ifdef UNET_HAS_JPEG
                                          &image_jpeg,
#endif
#ifdef UNET_HAS_TIFF
                                          &image_tiff,
#endif
#ifdef UNET_HAS_GIF
                                          &image_gif,
#endif
#ifdef UNET_HAS_WEBP
                                          &image_webp,
#endif
#ifdef UNET_HAS_SNDFILE
                                          &image_wav,
#endif
#ifdef UNET_HAS_OPENJPEG
                                          &image_jp2,
#endif
#ifdef UNET_HAS_MINIZIP
                                          &image_npz,
#endif
                                          NULL};

static const ImageWritten written[] = {{"PNG", &image_png_encoder},
#ifdef UNET_HAS_JPEG
                                       {"JPEG", &image_jpeg_encoder},
#endif
                                       {"NumPy", &image_npy_encoder},
                                       {"WAV", &image_wav_encoder},
                                       {"TIFF", &image_tiff_encoder},
                                       {"Netpbm", &image_pnm_encoder},
                                       {NULL, NULL}};

const ImageFormats image_formats = {
    .read = read,
    .read_names = "PNG, JPEG, TIFF, GIF, WebP, JPEG 2000, BMP, Netpbm, NumPy, WAV",
    .convert_to = "PNG",
    .written = written,
    .suffix = ".png",
    .any_suffix = ".tif",
    .for_pictures = ".png, .jpg, .tif or .npy",
    .for_classes = ".png or .tif",
    .for_any = ".tif or .npy",
};
