/* image_formats.c - in place of the library's: formats of images that need no library. */
#include "image_format.h"

static const ImageFormat *const read[] = {&image_pnm, &image_bmp, &image_npy, NULL};

static const ImageWritten written[] = {
    {"Netpbm", &image_pnm_encoder}, {"NumPy", &image_npy_encoder}, {NULL, NULL}};

const ImageFormats image_formats = {
    .read = read,
    .read_names = "Netpbm, BMP and NumPy",
    .convert_to = "Netpbm (.ppm, .pgm)",
    .written = written,
    .suffix = ".pnm",
    .any_suffix = ".npy",
    .for_pictures = ".ppm, .pgm or .npy",
    .for_classes = ".pgm or .npy",
    .for_any = ".npy",
    .left_out_by = "--no-images",
};
