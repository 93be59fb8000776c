/* image_tiff_codecs.c - the compressions of TIFF that programs do without.
 *
 * libtiff knows methods that image files for training hardly ever have, each with a library of its own, one
 * of them in C++.  A program is one file that runs anywhere: with libtiff linked into it, all of these
 * would come along.  These functions take the place of those by which libtiff calls for them, and refuse;
 * those whose libraries the build has are left alone.
 */
#include "image_format.h"

#include <tiffio.h>

#ifdef UNET_HAS_ZSTD
#define ZSTD ", Zstandard"
#else
#define ZSTD ""
#endif
#ifdef UNET_HAS_LZMA
#define LZMA ", LZMA"
#else
#define LZMA ""
#endif
#ifdef UNET_HAS_WEBP
#define WEBP ", WebP"
#else
#define WEBP ""
#endif

const char image_tiff_left_out[] =
    "a TIFF file compressed by a method other than LZW, Deflate, PackBits" ZSTD LZMA WEBP
    ", JPEG and fax: write it anew with one of these";

#define LEAVE_OUT(codec)                                                                                   \
    int codec(TIFF *tiff, int scheme);                                                                     \
    int codec(TIFF *tiff, int scheme) {                                                                    \
        (void)scheme;                                                                                      \
        TIFFErrorExtR(tiff, #codec, "%s", image_tiff_left_out);                                            \
        return 0;                                                                                          \
    }

LEAVE_OUT(TIFFInitJBIG)
LEAVE_OUT(TIFFInitLERC)
#ifndef UNET_HAS_LZMA
LEAVE_OUT(TIFFInitLZMA)
#endif
#ifndef UNET_HAS_WEBP
LEAVE_OUT(TIFFInitWebP)
#endif
#ifndef UNET_HAS_ZSTD
LEAVE_OUT(TIFFInitZSTD)
#endif
