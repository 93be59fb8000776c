/* image.h - reading and writing images of several formats, row by row.
 *
 * The first bytes of a file decide its format, not its name.  Read: PNG of all kinds; BMP; Netpbm and PFM;
 * arrays of NumPy of two or three axes; where the build has their libraries JPEG (libjpeg), also
 * progressive, in colour, grey or CMYK; TIFF (libtiff), in strips or tiles, of whole numbers with and
 * without a sign, of floats, of palettes and of any number of channels; the first picture of a GIF
 * (giflib); WebP (libwebp); JPEG 2000 (OpenJPEG); archives of NumPy (libminizip); WAV (libsndfile).
 *
 * A WAV file holds a signal, an image of one row: its width is the number of frames, and its numbers run
 * from -1 to 1, as floats.  Its channels are no colours: as many are read as there are.  A signal that is
 * written without a rate, as the result of a picture is, gets 16000 frames per second.
 *
 * Numbers come as floats: unsigned numbers of 8 bits as n / 255, of 16 bits as n / 65535, others as they
 * are, never gamma-corrected.  Grey fills all channels if three are asked for.  Three colours become one
 * channel, if asked for, by ITU-R 601: 0.299 red + 0.587 green + 0.114 blue, rounded.  Alpha is dropped,
 * unless one more channel is asked for than there are colours.  CMYK becomes (1 - C) (1 - K) and so on.
 *
 * A plain image takes the memory of a few rows, a tiled one the memory of a row of tiles.  An image that is
 * interlaced, turned or in WebP is held whole, and so are the coefficients of a progressive JPEG.
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
/* Traits of an image that may surprise its user, who should be told. */
enum {
    UNET_IMAGE_ALPHA = 1,   /* has alpha, which is dropped */
    UNET_IMAGE_SPREAD = 2,  /* is grey, and fills three channels alike */
    UNET_IMAGE_TURNED = 4,  /* says that it is to be turned or mirrored, which it is not */
    UNET_IMAGE_PAGES = 8,   /* has several pages; the first is read */
    UNET_IMAGE_DEEP = 16,   /* has 16 bits; all are used */
    UNET_IMAGE_FLOATS = 32, /* holds numbers that are taken as they are */
    UNET_IMAGE_CMYK = 64    /* holds colours of print, which become red, green and blue */
};
enum { UNET_IMAGE_TRAITS = 7, UNET_IMAGE_MOST_CHANNELS = 1024 };

/* Returns the note on trait number TRAIT, from 0 on, of images that become numbers of type INTO: "alpha is
 * dropped".  It begins with "warning: " if the user hardly means it. */
const char *unet_image_trait(int trait, UnetType into);

typedef struct {
    int32_t width, height;
    int32_t own[2];   /* height and width before the picture is resized */
    int32_t channels; /* alpha does not count, a palette has 3 */
    int32_t bits;     /* 8 or 16: fewer bits count as 8; 32: floats, as which others than these are read */
    bool palette;
    bool interlaced;
    int32_t held_rows; /* that decoding holds at once, beside a few: of tiles and strips; else 0 */
    uint32_t traits;   /* UNET_IMAGE_ALPHA, ... */
    int32_t rate;      /* of a signal, frames per second; else 0 */
    bool signal;       /* to be written: an array of NumPy gets the axes channels and length */
} UnetImageInfo;

/* A format of images, as a name can ask for it. */
typedef struct {
    const char *name;     /* "JPEG" */
    const char *suffixes; /* ".jpg .jpeg", in small letters */
    const char *package;  /* of Debian, without which this build was made; NULL: it needs no other */
    bool is_read;         /* by a build that has its package */
    int32_t most_bits;    /* of a number in such files; 0: they can hold floats or numbers like these */
    int32_t written_bits; /* of a channel, at most; 0: such files are not written */
    const char *start[8]; /* a file begins with one of them, where `.` is any byte, of so many: */
    size_t start_bytes;
} UnetImageKind;

/* Returns the kind by the suffix of PATH; NULL: no known kind. */
const UnetImageKind *unet_image_kind_of_name(const char *path);
/* Returns the kind by the first 12 bytes of a file; NULL: no kind that is read. */
const UnetImageKind *unet_image_kind_of_bytes(const uint8_t bytes[12]);

/* Reads the header into INFO, in the plain way, and decodes nothing.  A file without its end mark is an
 * error. */
UNET_MUST_USE UnetStatus unet_image_probe(const char *path, UnetImageInfo *info, UnetError *error);

/* Writes "480 x 640" to TEXT, or of signals "16000 frames"; returns TEXT. */
enum { UNET_SIZE_TEXT = 48 };
const char *unet_size_text(UnetKind kind, int64_t height, int64_t width, char text[UNET_SIZE_TEXT]);

/* ---- reading ---- */

typedef struct UnetImageReader UnetImageReader;

/* Memory that images which are read one after another use again: of PNG and JPEG files all that is taken,
 * of others what their libraries do not take for themselves.  One thread has it; NULL: no memory. */
typedef struct UnetImageMemory UnetImageMemory;
UnetImageMemory *unet_image_memory_create(void);
void unet_image_memory_destroy(UnetImageMemory *memory); /* when no reader has it; NULL is fine */

/* CHANNELS: a number, or 0 for as many as the file has, or UNET_IMAGE_CLASSES: one, of the numbers that
 * stand in the file, the index of a palette, grey of 1 to 16 bits, or three channels, which must be equal
 * at each point that is read; or UNET_IMAGE_COLOURS: one number for the colour of a point, red * 65536 +
 * green * 256
 * + blue, of files of 8 bits.  On failure *READER is NULL. */
enum { UNET_IMAGE_CLASSES = -1, UNET_IMAGE_COLOURS = -2 };
UNET_MUST_USE UnetStatus unet_image_open(UnetImageReader **reader, const char *path, int32_t channels,
                                         UnetError *error);
/* The same with MEMORY, which the reader has until it is closed; NULL: memory for this image only. */
UNET_MUST_USE UnetStatus unet_image_open_in(UnetImageMemory *memory, UnetImageReader **reader,
                                            const char *path, int32_t channels, UnetError *error);
/* The same in this WAY, which must outlive the reader; NULL: in the plain one. */
UNET_MUST_USE UnetStatus unet_image_open_as(UnetImageMemory *memory, const UnetImageWay *way,
                                            UnetImageReader **reader, const char *path, int32_t channels,
                                            UnetError *error);
/* Returns the figures of the file, with the channels asked for and the size after turning. */
UnetImageInfo unet_image_info(const UnetImageReader *reader);

/* The next row, planar: CHANNELS times width floats from 0 to 1.  Called at most height times. */
UNET_MUST_USE UnetStatus unet_image_read_row(UnetImageReader *reader, float *row, UnetError *error);

/* The same in two steps, decode and convert, to keep rows as bytes or to convert a part of one.  This says
 * what the bytes of a decoded row mean. */
typedef struct {
    int32_t width;
    int32_t channels; /* asked for */
    int32_t stored;   /* of the row */
    int32_t bits;     /* 8, 16, or 32: floats of this machine */
    bool classes;     /* whole numbers, not scaled to 0..1, */
    bool colours;     /*   each made of the three of a colour */
} UnetRowFormat;

UnetRowFormat unet_image_format(const UnetImageReader *reader);
size_t unet_row_bytes(const UnetRowFormat *format);

static inline ptrdiff_t unet_number_bytes(const UnetRowFormat *format) {
    return format->bits / 8;
}

/* Returns the number at AT in a row.  A number of 16 bits has its high byte first. */
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

/* The whole number of a point of classes, whose bytes begin at AT. */
static inline float unet_class_number(const UnetRowFormat *format, const uint8_t *at) {
    if (!format->colours) {
        return (float)unet_stored_number(format->bits, at);
    }
    const int last = format->stored - 1; /* grey is one number for all three */
    return (float)(at[0] << 16 | at[last > 0 ? 1 : 0] << 8 | at[last]);
}

/* Returns the stored number that means 1. */
static inline float unet_row_one(const UnetRowFormat *format) {
    return format->classes || format->bits == 32 ? 1.0f : format->bits == 16 ? 65535.0f : 255.0f;
}

UNET_MUST_USE UnetStatus unet_image_decode_row(UnetImageReader *reader, UnetError *error);
/* The row decoded last; it stays until the next one is decoded. */
const uint8_t *unet_image_bytes(const UnetImageReader *reader);

/* Points FIRST to FIRST + COUNT - 1 of a row as floats, planar, the channels COUNT apart. */
void unet_row_convert(const UnetRowFormat *format, const uint8_t *row, int32_t first, int32_t count,
                      float *values);

/* Replaces missing numbers among COUNT numbers of a file as WAY says, by NaN if they are ignored.  Returns
 * false if there are some and WAY refuses them; unet_fail_missing() then writes the error and returns
 * UNET_IO. */
bool unet_settle_missing(const UnetImageWay *way, float *value, size_t count);
UnetStatus unet_fail_missing(const char *path, UnetError *error);

/* Passes over COUNT rows. */
UNET_MUST_USE UnetStatus unet_image_skip_rows(UnetImageReader *reader, int32_t count, UnetError *error);

/* Fails if the file has no end mark.  Decodes no row; no row may be read afterwards. */
UNET_MUST_USE UnetStatus unet_image_check_end(UnetImageReader *reader, UnetError *error);

/* May be called at any row, and with NULL. */
void unet_image_close(UnetImageReader *reader);

/* ---- writing ---- */

typedef struct UnetImageWriter UnetImageWriter;

/* In which pictures of classes show this one; class 0 is black. */
void unet_class_colour(int32_t number, uint8_t rgb[3]);

/* Whether an image of CHANNELS can be written to a file called PATH, whose suffix says the format: .png,
 * .jpg and Netpbm's, of 1 or 3, .tif, .npy and .wav, of any number; any other that is no format means PNG.
 * CLASSES: of numbers that must come back as they are, which a signal does not have. */
UNET_MUST_USE UnetStatus unet_image_check_name(const char *path, int32_t channels, bool classes,
                                               UnetError *error);

/* The suffix of an image whose name nobody gives, ".png", or ".tif" where PNG does not hold it.  The second
 * lists suffixes of files that hold any number of channels and floats. */
const char *unet_image_suffix(int32_t channels, int32_t bits);
const char *unet_image_any_suffixes(void);

/* How many of BITS, 8, 16, 32 or, of a signal, 24, a file of this name can hold; how many it has where
 * nobody says so, of numbers that have BITS; and whether it holds a signal. */
int32_t unet_image_bits(const char *path, int32_t bits);
int32_t unet_image_bits_unasked(const char *path, int32_t bits);
bool unet_image_is_signal(const char *path);

/* INFO: width, height, channels, bits 8, 16 or, in TIFF, NumPy and WAV, 32 for floats; PALETTE: rows are
 * classes from 0 to 255, stored as the indices of a palette; of a signal, whose height is 1 and whose bits
 * may be 24, too, the rate, or 16000 where that is 0; the rest is ignored.  The file appears under its name
 * when it is complete.  On failure *WRITER is NULL. */
UNET_MUST_USE UnetStatus unet_image_create(UnetImageWriter **writer, const char *path,
                                           const UnetImageInfo *info, UnetError *error);

/* The next row, planar; values are clamped to 0..1, in a signal to -1..1 (not a number: 0), and
 * rounded to the nearest, but not where floats are written. */
UNET_MUST_USE UnetStatus unet_image_write_row(UnetImageWriter *writer, const float *row, UnetError *error);

/* After all rows: gives the file its name.  WRITER is gone afterwards, whatever the status. */
UNET_MUST_USE UnetStatus unet_image_finish(UnetImageWriter *writer, UnetError *error);

/* Gives up: no file appears.  WRITER is gone.  May be called with NULL. */
void unet_image_discard(UnetImageWriter *writer);

#ifdef __cplusplus
}
#endif

#endif
