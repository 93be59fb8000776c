/* image_tiff_codecs.c - the compressions of TIFF that programs do without.
 *
 * libtiff knows methods that image files for training hardly ever have, each with a library of its own, one
 * of them in C++.  A program is one file that runs anywhere: with libtiff linked into it, all of these
 * would come along.  These functions take the place of those by which libtiff calls for them, and refuse.
 */
#include "image_format.h"

#include <tiffio.h>

const char image_tiff_left_out[] = "a TIFF file compressed by a method other than LZW, Deflate, PackBits, "
                                   "JPEG and fax: write it anew with "
                                   "one of these";

#define LEAVE_OUT(codec)                                                                                   \
    int codec(TIFF *tiff, int scheme);                                                                     \
    int codec(TIFF *tiff, int scheme) {                                                                    \
        (void)scheme;                                                                                      \
        TIFFErrorExtR(tiff, #codec, "%s", image_tiff_left_out);                                            \
        return 0;                                                                                          \
    }

LEAVE_OUT(TIFFInitJBIG)
LEAVE_OUT(TIFFInitLERC)
LEAVE_OUT(TIFFInitLZMA)
LEAVE_OUT(TIFFInitWebP)
LEAVE_OUT(TIFFInitZSTD)
