/* image.h - reading and writing PNG, JPEG, TIFF and reading GIF images, row by row.
 *
 * A file's first bytes tell what it is, not its name.  Read: PNG of 8 and 16 bits, grey, RGB, with alpha
 * (dropped), palette (resolved), grey of 1, 2 and 4 bits, interlaced; JPEG, also progressive, grey or in
 * colour but not CMYK, where the build has libjpeg; the first page of a TIFF, in strips or tiles, of the
 * same kinds as PNG and of floats, where it has libtiff; the first picture of a GIF, where it has giflib.
 * Nothing is turned as EXIF says.  Numbers come as floats 0..1 (8 bits / 255, 16 bits / 65535), those that
 * are floats in the file as they are, never gamma-corrected; grey is repeated where three channels are
 * asked for, and colour where one is asked for is an error.  A plain image takes the memory of a few rows,
 * a tiled one that of a row of tiles; an interlaced one, and a progressive JPEG's coefficients, are held
 * whole.
 *
 * Files are not trusted: at most 2^28 points, and no more memory than the length of the file can justify.
 * An error of a decoder names the file and, in the picture's data, the row.
 */
#ifndef UNET_IMAGE_H
#define UNET_IMAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include "unet/model.h"
#include "unet/status.h"

#ifdef __cplusplus
extern "C" {
#endif
/* What a reader of the file may not expect, and who asks for an image should tell. */
enum {
    UNET_IMAGE_ALPHA = 1,  /* has alpha, which is dropped */
    UNET_IMAGE_SPREAD = 2, /* is grey, and fills three channels alike */
    UNET_IMAGE_TURNED = 4, /* says that it is to be turned or mirrored, which it is not */
    UNET_IMAGE_PAGES = 8,  /* has several pages, of which the first counts */
    UNET_IMAGE_DEEP = 16,  /* has 16 bits, all of which count */
    UNET_IMAGE_FLOATS = 32 /* holds floats, whatever their range */
};
enum { UNET_IMAGE_TRAITS = 6 };

/* What to tell of trait number TRAIT, from 0 on, of images that become numbers of type INTO: "alpha is
 * dropped"; begins with "warning: " where that is hardly meant. */
const char *unet_image_trait(int trait, UnetType into);

typedef struct {
    int32_t width, height;
    int32_t channels; /* 1 or 3: alpha does not count, a palette has 3 */
    int32_t bits;     /* 8 or 16: fewer bits count as 8; 32: floats */
    bool palette;
    bool interlaced;
    int32_t held_rows; /* that decoding holds at once, beside a few: of tiles and strips; else 0 */
    uint32_t traits;   /* UNET_IMAGE_ALPHA, ... */
} UnetImageInfo;

/* A format of images, as a name can ask for it. */
typedef struct {
    const char *name;     /* "JPEG" */
    const char *suffixes; /* ".jpg .jpeg", in small letters */
    const char *package;  /* of Debian, without which this build was made; NULL: it needs no other */
    bool is_read;         /* by a build that has its package */
    int32_t written_bits; /* of a channel, at most; 0: such files are not written */
    const char *start[4]; /* with one of which its files begin, in as many bytes as: */
    size_t start_bytes;
} UnetImageKind;

/* By the suffix of PATH; NULL: none that is known. */
const UnetImageKind *unet_image_kind_of_name(const char *path);
/* By the first 8 bytes of a file; NULL: none that is read. */
const UnetImageKind *unet_image_kind_of_bytes(const uint8_t bytes[8]);

/* What the header says, without decoding; also an error when the file has no end mark. */
UNET_MUST_USE UnetStatus unet_image_probe(const char *path, UnetImageInfo *info, UnetError *error);

/* ---- reading ---- */

typedef struct UnetImageReader UnetImageReader;

/* Memory that images which are read one after another use again: of PNG and JPEG files all that is taken,
 * of others what their libraries do not take for themselves.  One thread has it; NULL: no memory. */
typedef struct UnetImageMemory UnetImageMemory;
UnetImageMemory *unet_image_memory_create(void);
void unet_image_memory_destroy(UnetImageMemory *memory); /* when no reader has it; NULL is fine */

/* CHANNELS: 1 or 3, or 0 for as many as the file has, or UNET_IMAGE_CLASSES: one, of the numbers that stand
 * in the file, the index of a palette, grey of 1 to 16 bits, or three channels, which must be equal at each
 * point that is read.  On failure *READER is NULL. */
enum { UNET_IMAGE_CLASSES = -1 };
UNET_MUST_USE UnetStatus unet_image_open(UnetImageReader **reader, const char *path, int32_t channels,
                                         UnetError *error);
/* The same with MEMORY, which the reader has until it is closed; NULL: memory for this image only. */
UNET_MUST_USE UnetStatus unet_image_open_in(UnetImageMemory *memory, UnetImageReader **reader,
                                            const char *path, int32_t channels, UnetError *error);
/* Of the file; channels as asked for. */
UnetImageInfo unet_image_info(const UnetImageReader *reader);

/* The next row, planar: CHANNELS times width floats from 0 to 1.  Called at most height times. */
UNET_MUST_USE UnetStatus unet_image_read_row(UnetImageReader *reader, float *row, UnetError *error);

/* The same in two steps, decode and convert, to keep rows as bytes or to convert a part of one.  This says
 * what the bytes of a decoded row mean. */
typedef struct {
    int32_t width;
    int32_t channels; /* asked for */
    int32_t stored;   /* of the row: 1 or 3 */
    int32_t bits;     /* 8, 16, or 32: floats of this machine */
    bool classes;     /* whole numbers, not scaled to 0..1 */
} UnetRowFormat;

UnetRowFormat unet_image_format(const UnetImageReader *reader);
size_t unet_row_bytes(const UnetRowFormat *format);

static inline ptrdiff_t unet_number_bytes(const UnetRowFormat *format) {
    return format->bits / 8;
}

/* The number at AT in a row; those of 16 bits have their high byte first. */
static inline double unet_stored_number(int32_t bits, const uint8_t *at) {
    float number;
    if (bits == 8) {
        return *at;
    }
    if (bits == 16) {
        return at[0] << 8 | at[1];
    }
    memcpy(&number, at, sizeof number);
    return (double)number;
}

/* What in a row stands for 1. */
static inline float unet_row_one(const UnetRowFormat *format) {
    return format->classes || format->bits == 32 ? 1.0f : format->bits == 16 ? 65535.0f : 255.0f;
}

UNET_MUST_USE UnetStatus unet_image_decode_row(UnetImageReader *reader, UnetError *error);
/* The row decoded last; it stays until the next one is decoded. */
const uint8_t *unet_image_bytes(const UnetImageReader *reader);

/* Points FIRST to FIRST + COUNT - 1 of a row as floats, planar, the channels COUNT apart. */
void unet_row_convert(const UnetRowFormat *format, const uint8_t *row, int32_t first, int32_t count,
                      float *values);

/* Passes over COUNT rows. */
UNET_MUST_USE UnetStatus unet_image_skip_rows(UnetImageReader *reader, int32_t count, UnetError *error);

/* Whether the file has its end mark, without decoding what lies before; no row may be read afterwards. */
UNET_MUST_USE UnetStatus unet_image_check_end(UnetImageReader *reader, UnetError *error);

/* May be called at any row, and with NULL. */
void unet_image_close(UnetImageReader *reader);

/* ---- writing ---- */

typedef struct UnetImageWriter UnetImageWriter;

/* In which pictures of classes show this one; class 0 is black. */
void unet_class_colour(int32_t number, uint8_t rgb[3]);

/* Whether a file called PATH can be written, whose suffix says the format: .png, .jpg, .tif; any other that
 * is no format means PNG.  CLASSES: of numbers that must come back as they are. */
UNET_MUST_USE UnetStatus unet_image_check_name(const char *path, bool classes, UnetError *error);

/* How many of BITS, 8, 16 or 32, a file of this name can hold. */
int32_t unet_image_bits(const char *path, int32_t bits);

/* INFO: width, height, channels 1 or 3, bits 8, 16 or, in TIFF, 32 for floats; PALETTE: rows are classes
 * from 0 to 255, stored as the indices of a palette; the rest is ignored.  The file appears under its name
 * when it is complete.  On failure *WRITER is NULL. */
UNET_MUST_USE UnetStatus unet_image_create(UnetImageWriter **writer, const char *path,
                                           const UnetImageInfo *info, UnetError *error);

/* The next row, planar; values are clamped to 0..1 (not a number: 0) and rounded to the nearest, but not
 * where floats are written. */
UNET_MUST_USE UnetStatus unet_image_write_row(UnetImageWriter *writer, const float *row, UnetError *error);

/* After all rows: gives the file its name.  WRITER is gone afterwards, whatever the status. */
UNET_MUST_USE UnetStatus unet_image_finish(UnetImageWriter *writer, UnetError *error);

/* Gives up: no file appears.  WRITER is gone.  May be called with NULL. */
void unet_image_discard(UnetImageWriter *writer);

#ifdef __cplusplus
}
#endif

#endif
