/* image_kinds.c - formats of images: how their files are called and begin, and whether this build reads
 * them.
 */
#include "unet/image.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#ifdef UNET_HAS_JPEG
#define JPEG_PACKAGE NULL
#else
#define JPEG_PACKAGE "libjpeg-dev"
#endif
#ifdef UNET_HAS_TIFF
#define TIFF_PACKAGE NULL
#else
#define TIFF_PACKAGE "libtiff-dev"
#endif
#ifdef UNET_HAS_GIF
#define GIF_PACKAGE NULL
#else
#define GIF_PACKAGE "libgif-dev"
#endif

#ifdef UNET_HAS_WEBP
#define WEBP_PACKAGE NULL
#else
#define WEBP_PACKAGE "libwebp-dev"
#endif
#ifdef UNET_HAS_SNDFILE
#define SNDFILE_PACKAGE NULL
#else
#define SNDFILE_PACKAGE "libsndfile1-dev"
#endif
#ifdef UNET_HAS_OPENJPEG
#define OPENJPEG_PACKAGE NULL
#else
#define OPENJPEG_PACKAGE "libopenjp2-7-dev"
#endif
#ifdef UNET_HAS_MINIZIP
#define MINIZIP_PACKAGE NULL
#else
#define MINIZIP_PACKAGE "libminizip-dev"
#endif

/* Formats that are neither read nor written are here to be refused by name.  Formats that can hold floats,
 * or whole numbers that are not divided, have no most bits: 0. */
static const UnetImageKind kinds[] = {
    {"PNG", ".png", NULL, true, 16, 16, {"\x89PNG"}, 4},
    {"JPEG", ".jpg .jpeg .jpe .jfif", JPEG_PACKAGE, true, 8, 8, {"\xff\xd8\xff"}, 3},
    {"TIFF", ".tif .tiff", TIFF_PACKAGE, true, 0, 32, {"II*", "MM\0*", "II+", "MM\0+"}, 4},
    {"GIF", ".gif", GIF_PACKAGE, true, 8, 0, {"GIF8"}, 4},
    {"BMP", ".bmp .dib", NULL, true, 8, 0, {"BM"}, 2},
    {"WebP", ".webp", WEBP_PACKAGE, true, 8, 0, {"RIFF....WEBP"}, 12},
    {"WAV", ".wav", SNDFILE_PACKAGE, true, 0, 32, {"RIFF....WAVE", "RF64....WAVE"}, 12},
    {"Netpbm",
     ".pgm .ppm .pbm .pnm .pfm",
     NULL,
     true,
     0,
     16,
     {"P1", "P2", "P3", "P4", "P5", "P6", "PF", "Pf"},
     2},
    {"NumPy", ".npy", NULL, true, 0, 32, {"\x93NUMPY"}, 6},
    {"NumPy archive", ".npz", MINIZIP_PACKAGE, true, 0, 0, {"PK\3\4"}, 4},
    {"JPEG 2000",
     ".jp2 .j2k .j2c .jpx",
     OPENJPEG_PACKAGE,
     true,
     0,
     0,
     {"\xff\x4f\xff\x51", "\0\0\0\x0c"},
     4},
    {"OpenEXR", ".exr", NULL, false, 0, 0, {NULL}, 0},
    {"HEIF", ".heic .heif .avif", NULL, false, 0, 0, {NULL}, 0},
    {"DICOM", ".dcm", NULL, false, 0, 0, {NULL}, 0},
    {"NIfTI", ".nii", NULL, false, 0, 0, {NULL}, 0},
};
enum { KINDS = sizeof kinds / sizeof *kinds, KIND_STARTS = sizeof kinds->start / sizeof *kinds->start };

/* Whether WORD, of LENGTH characters in any case, is one of WORDS. */
static bool is_among(const char *word, size_t length, const char *words) {
    for (const char *at = words; *at != '\0'; at += strspn(at, " ")) {
        const size_t found = strcspn(at, " ");
        size_t same = 0;
        while (same < length && same < found && tolower((unsigned char)word[same]) == at[same]) {
            same++;
        }
        if (same == length && same == found) {
            return true;
        }
        at += found;
    }
    return false;
}

const UnetImageKind *unet_image_kind_of_name(const char *path) {
    const char *slash = strrchr(path, '/'), *dot = strrchr(path, '.');
    if (dot == NULL || (slash != NULL && dot < slash)) {
        return NULL;
    }
    for (int i = 0; i < KINDS; i++) {
        if (is_among(dot, strlen(dot), kinds[i].suffixes)) {
            return &kinds[i];
        }
    }
    return NULL;
}

/* A point in START stands for any byte. */
static bool starts_with(const uint8_t *bytes, const char *start, size_t count) {
    for (size_t i = 0; i < count; i++) {
        if (start[i] != '.' && bytes[i] != (uint8_t)start[i]) {
            return false;
        }
    }
    return true;
}

const UnetImageKind *unet_image_kind_of_bytes(const uint8_t bytes[12]) {
    for (int i = 0; i < KINDS; i++) {
        for (int k = 0; k < KIND_STARTS && kinds[i].start[k] != NULL; k++) {
            if (starts_with(bytes, kinds[i].start[k], kinds[i].start_bytes)) {
                return &kinds[i];
            }
        }
    }
    return NULL;
}

const char *unet_size_text(UnetKind kind, int64_t height, int64_t width, char text[UNET_SIZE_TEXT]) {
    if (kind == UNET_SIGNAL) {
        (void)snprintf(text, UNET_SIZE_TEXT, "%lld frame%s", (long long)width, width == 1 ? "" : "s");
    } else {
        (void)snprintf(text, UNET_SIZE_TEXT, "%lld x %lld", (long long)height, (long long)width);
    }
    return text;
}

const char *unet_image_trait(int trait, UnetType into) {
    static const struct {
        const char *told, *in_8_bits,
            *in_16_bits; /* the name when so many bits are stored; NULL: the same */
    } traits[UNET_IMAGE_TRAITS] = {
        {"alpha is dropped", NULL, NULL},
        {"grey fills three channels alike", NULL, NULL},
        {"warning: the orientation that EXIF or TIFF gives is ignored; `exif = true` in `images(...)` "
         "turns the "
         "pictures",
         NULL, NULL},
        {"warning: only the first of several pages is read; `page = 0` in `images(...)` says which", NULL,
         NULL},
        {"all 16 bits are kept",
         "warning: 16 bits are rounded to 8, for this is compiled with --staging=u8", NULL},
        {"numbers are kept as they are, not scaled to 0..1",
         "warning: numbers are clamped to 0..1 and rounded to 8 bits, for this is compiled with "
         "--staging=u8",
         "warning: numbers are clamped to 0..1 and rounded to 16 bits, for this is compiled with "
         "--staging=u16"},
        {"warning: CMYK becomes red, green and blue without a colour profile", NULL, NULL},
    };
    if (trait < 0 || trait >= UNET_IMAGE_TRAITS) {
        return "";
    }
    const char *in_type = into == UNET_UNORM8    ? traits[trait].in_8_bits
                          : into == UNET_UNORM16 ? traits[trait].in_16_bits
                                                 : NULL;
    return in_type != NULL ? in_type : traits[trait].told;
}
