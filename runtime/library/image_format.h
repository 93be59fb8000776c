/* image_format.h - what the formats of images share, and what each of them does; private to the runtime. */
#ifndef UNET_IMAGE_FORMAT_H
#define UNET_IMAGE_FORMAT_H

#include "image_file.h"
#include "image_memory.h"
#include "unet/atomic_file.h"
#include "unet/image.h"
#include "unet/resize.h"

/* The first bytes of a file tell its format.  A shorter file has at least the fewer, and 0 for the rest. */
enum { SIGNATURE_BYTES = 12, LEAST_SIGNATURE = 8 };

typedef struct {
    const char *name;
    bool signal;        /* its channels are no colours, and its numbers run from -1 to 1 */
    int most_expansion; /* bytes that one byte of a file can become: a header that claims more is lying */
    bool (*is)(const uint8_t *signature);
    /* From the beginning on: fills in `shape`, what the file has, and `row_bytes`.  The decoder is
     * freed by close(), whatever the status. */
    UnetStatus (*open)(UnetImageReader *reader, UnetError *error);
    /* The shape is what was asked for: fills in `stored_channels` and `row_bytes`, of decoded rows. */
    bool (*begin)(UnetImageReader *reader);
    bool (*decode_row)(UnetImageReader *reader); /* the next one to `rows` */
    bool (*decode_all)(UnetImageReader *reader); /* of an interlaced image: all of them */
    bool (*is_complete)(ImageFile *file);        /* it has its end mark */
    void (*close)(UnetImageReader *reader);      /* what `decoder` holds, but not `decoder` */
} ImageFormat;

/* The reduction of a decoded row. */
typedef enum { REDUCE_NOT, REDUCE_TO_GREY, REDUCE_TO_ALPHA } ImageReduction;

struct UnetImageReader {
    const ImageFormat *format;
    void *decoder;           /* of the format */
    UnetImageMemory *memory; /* or NULL */
    ImageFile file;
    UnetImageInfo shape; /* as it lies in the file */
    UnetImageWay way;
    int32_t asked;           /* channels, or UNET_IMAGE_CLASSES, ... */
    int32_t stored_channels; /* of a decoded row, */
    int32_t shown_channels;  /*   and once it is reduced */
    int32_t next_row;
    size_t row_bytes;
    uint8_t *rows;    /* one decoded row; all of them where the image is interlaced or turned */
    int32_t turn;     /* the orientation of EXIF that it is turned from; 1: it is upright */
    bool keeps_alpha; /* behind the colours */
    bool inverted;    /* CMYK where 0 is most */
    bool has_cmyk;    /* which becomes red, green and blue */
    bool scaled;      /* floats from 0 to 1, of whole numbers in the file */
    ImageReduction reduction;
    int32_t resized[2];  /* height and width that the way asks for */
    UnetResize *resize;  /* once a row is read; NULL: rows come as they are */
    uint8_t *resize_row; /*   the last that it made */
    int32_t resized_row; /*   and its number */
    bool cut_short;
    bool classes;     /* numbers as they stand in the file, but no colours of a palette */
    bool packed;      /* colours, as numbers */
    char reason[160]; /* the decoder's */
    char path[];
};

UnetStatus image_fail(const UnetImageReader *reader, UnetError *error, const char *why);
/* The decoder has given up, for `reason`; the reader is at its end. */
UnetStatus image_fail_decoding(UnetImageReader *reader, UnetError *error);

/* image_reduce.c: reduces a decoded row, of WIDTH points and in its place, as it is asked for. */
void image_reduce_row(const UnetImageReader *reader, uint8_t *row, int32_t width);

extern const ImageFormat image_png;
extern const ImageFormat image_jpeg;     /* where the build has libjpeg */
extern const ImageFormat image_tiff;     /* where the build has libtiff */
extern const char image_tiff_left_out[]; /* said of compressions that are not read */
extern const ImageFormat image_gif;      /* where the build has giflib */
extern const ImageFormat image_bmp;
extern const ImageFormat image_pnm;
extern const ImageFormat image_npy;
extern const ImageFormat image_jp2;  /* where the build has OpenJPEG */
extern const ImageFormat image_npz;  /* where the build has libminizip */
extern const ImageFormat image_webp; /* where the build has libwebp */
extern const ImageFormat image_wav;  /* where the build has libsndfile */

/* ---- writing ---- */

/* Each returns false on failure, with the reason in `error`, or nothing there where memory ran out. */
typedef struct {
    bool signal; /* numbers from -1 to 1 */
    /* Whether it takes such an image, before memory or a file is taken; NULL: any of its kind. */
    UnetStatus (*check)(const char *path, const UnetImageInfo *info, UnetError *error);
    bool (*begin)(UnetImageWriter *writer);     /* what stands before the rows */
    bool (*write_row)(UnetImageWriter *writer); /* `row` */
    bool (*end)(UnetImageWriter *writer);       /* what stands behind them */
    void (*close)(UnetImageWriter *writer);     /* frees `state`, at any time */
} ImageEncoder;

struct UnetImageWriter {
    const ImageEncoder *encoder;
    void *state; /* of the encoder */
    UnetImageInfo shape;
    int32_t rows_written;
    size_t row_bytes;
    UnetAtomicFile file;
    UnetError error; /* of the file, else the encoder's */
    uint8_t row[];   /* the numbers of a row, the highest byte of each first */
};

extern const ImageEncoder image_png_encoder;
extern const ImageEncoder image_jpeg_encoder; /* where the build has libjpeg */
extern const ImageEncoder image_tiff_encoder;
extern const ImageEncoder image_npy_encoder;
extern const ImageEncoder image_pnm_encoder;
extern const ImageEncoder image_wav_encoder;

/* ---- which formats there are ---- */

typedef struct {
    const char *name; /* of a UnetImageKind */
    const ImageEncoder *encoder;
} ImageWritten;

/* image_formats.c, or what stands in its place in a program that leaves libraries out. */
typedef struct {
    const ImageFormat *const *read; /* up to NULL, */
    const char *read_names;         /*   in words, */
    const char *convert_to;         /*   and one that others can be converted to */
    const ImageWritten *written;    /* up to one without a name */
    const char *suffix;             /* of pictures, */
    const char *any_suffix;         /*   and of images that those do not hold */
    /* In words: suffixes of what holds pictures, numbers of classes, any number of channels and floats. */
    const char *for_pictures, *for_classes, *for_any;
    const char *left_out_by; /* the option of unetc that left the others out, or NULL */
} ImageFormats;

extern const ImageFormats image_formats;

/* image_write.c: `row` with the lowest byte of each number first. */
void image_turn_bytes(UnetImageWriter *writer);

#endif
