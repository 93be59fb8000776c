/* image_tiff.c - a page of a TIFF file, decoded through libtiff: whole numbers of 1 to 64 bits, with a sign
 * or without, floats of 16, 32 and 64 bits, palettes, CMYK, any number of channels; in strips or tiles,
 * samples side by side or in planes.
 *
 * Strips of pixels are decoded line by line.  Tiles and planes are decoded a band at a time: the rows that
 * one row of tiles, or one strip of each plane, has.  The promises of the header are checked against
 * the length of the file before memory is taken: see begin_tiff(). */
#include "image_format.h"
#include "number.h"
#include "size_math.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <tiffio.h>

enum {
    SPARE_BYTES = 16 << 20,   /* that a tile may have beyond the image, and libtiff beyond the file */
    MOST_EXPANSION = 1 << 14, /* LZW makes 2600 bytes of one; of fax, one bit may be a whole line */
    GDAL_NODATA = 42113       /* a tag: the number that stands for none */
};

typedef struct {
    TIFF *tiff;
    uint64_t file_bytes;
    uint16_t bits, samples, photometric, compression, format;
    NumberKind numbers;
    double nodata; /* NaN: none */
    bool tiled, planes;
    const uint16_t *palette[3];
    int palette_shift; /* to colours of 8 bits */
    uint32_t size[2];  /* of a tile, or of a strip of one plane: rows, columns */
    uint8_t *unit;     /* one of them, decoded; or a line */
    size_t unit_row;   /* bytes of a row of it */
    uint8_t *band; /* rows of the image, samples side by side; NULL: the image is decoded line by line */
    size_t band_row;
    int32_t band_first, band_rows;
} Decoder;

static bool fail(UnetImageReader *reader, const char *why) {
    (void)snprintf(reader->reason, sizeof reader->reason, "%s", why);
    return false;
}

/* ---- what libtiff calls ----------------------------------------------------------------------- */

/* The first thing that goes wrong is the cause of the others. */
static int on_error(TIFF *tiff, void *context, const char *module, const char *format, va_list arguments) {
    UnetImageReader *reader = context;
    (void)tiff;
    (void)module;
    if (reader->reason[0] == '\0') {
        (void)vsnprintf(reader->reason, sizeof reader->reason, format, arguments);
    }
    return 1;
}

/* Unknown tags and the like touch no number. */
static int on_warning(TIFF *tiff, void *context, const char *module, const char *format,
                      va_list arguments) {
    (void)tiff;
    (void)context;
    (void)module;
    (void)format;
    (void)arguments;
    return 1;
}

static tmsize_t on_read(thandle_t handle, void *bytes, tmsize_t count) {
    UnetImageReader *reader = handle;
    const size_t got = image_file_read(&reader->file, bytes, (size_t)count);
    reader->cut_short |= got < (size_t)count;
    return (tmsize_t)got;
}

static tmsize_t on_write(thandle_t handle, void *bytes, tmsize_t count) {
    (void)handle;
    (void)bytes;
    (void)count;
    return 0;
}

static toff_t on_seek(thandle_t handle, toff_t offset, int whence) {
    UnetImageReader *reader = handle;
    if (offset > INT64_MAX || !image_file_seek(&reader->file, (off_t)offset, whence)) {
        return (toff_t)-1;
    }
    return (toff_t)image_file_place(&reader->file);
}

static int on_close(thandle_t handle) {
    (void)handle; /* the reader closes its file */
    return 0;
}

static toff_t on_size(thandle_t handle) {
    const UnetImageReader *reader = handle;
    return ((const Decoder *)reader->decoder)->file_bytes;
}

static bool open_file(UnetImageReader *reader) {
    Decoder *d = reader->decoder;
    struct stat status;
    TIFFOpenOptions *options = TIFFOpenOptionsAlloc();
    if (options == NULL || fstat(reader->file.fd, &status) != 0 || status.st_size < 0) {
        TIFFOpenOptionsFree(options);
        return fail(reader, "its length is not known");
    }
    d->file_bytes = (uint64_t)status.st_size;
    size_t most;
    if (!checked_add((size_t)d->file_bytes, SPARE_BYTES, &most) || most > PTRDIFF_MAX) {
        most = PTRDIFF_MAX;
    }
    TIFFOpenOptionsSetMaxSingleMemAlloc(options, (tmsize_t)most);
    TIFFOpenOptionsSetErrorHandlerExtR(options, on_error, reader);
    TIFFOpenOptionsSetWarningHandlerExtR(options, on_warning, reader);
    (void)image_file_seek(&reader->file, 0, SEEK_SET);
    d->tiff = TIFFClientOpenExt(reader->path, "rm", reader, on_read, on_write, on_seek, on_close, on_size,
                                NULL, NULL, options);
    TIFFOpenOptionsFree(options);
    return d->tiff != NULL || (reader->reason[0] == '\0' ? fail(reader, "it cannot be opened") : false);
}

/* ---- the header ------------------------------------------------------------------------------- */

static bool is_tiff(const uint8_t *signature) {
    const UnetImageKind *kind = unet_image_kind_of_bytes(signature);
    return kind != NULL && strcmp(kind->name, "TIFF") == 0;
}

static bool is_grey(const Decoder *d) {
    return d->photometric == PHOTOMETRIC_MINISBLACK || d->photometric == PHOTOMETRIC_MINISWHITE;
}

static bool has_palette(const Decoder *d) {
    return d->photometric == PHOTOMETRIC_PALETTE;
}

static bool is_cmyk(const Decoder *d) {
    return d->photometric == PHOTOMETRIC_SEPARATED;
}

/* Samples of a point that are colours. */
static int32_t plain_colours(const Decoder *d) {
    return is_grey(d) || has_palette(d) ? 1 : is_cmyk(d) ? 4 : 3;
}

/* One sample more is alpha; where there are several more, all are channels, as satellites have them. */
static bool has_alpha(const Decoder *d) {
    return d->samples == plain_colours(d) + 1;
}

static int32_t colours(const Decoder *d) {
    return has_alpha(d) ? plain_colours(d) : d->samples;
}

/* Numbers that are kept as they are. */
static bool are_kept(const Decoder *d) {
    return d->numbers != NUMBER_UNSIGNED || d->bits > 16;
}

/* Returns whether 8 or 16 bits are scaled to floats: one number stands for none, which becomes NaN, and
 * somebody asks for it. */
static bool are_scaled(const UnetImageReader *reader) {
    const Decoder *d = reader->decoder;
    return reader->way.missing != UNET_MISSING_REFUSED && !isnan(d->nodata) && !are_kept(d) &&
           d->bits >= 8 && !has_palette(d) && !is_cmyk(d);
}

static bool are_floats(const UnetImageReader *reader) {
    return are_kept(reader->decoder) || are_scaled(reader);
}

/* The others are left out of programs: see image_tiff_codecs.c. */
static bool is_known_compression(uint16_t compression) {
    static const uint16_t known[] = {
        COMPRESSION_NONE,          COMPRESSION_LZW,       COMPRESSION_PACKBITS,
        COMPRESSION_ADOBE_DEFLATE, COMPRESSION_DEFLATE,   COMPRESSION_JPEG,
        COMPRESSION_CCITTRLE,      COMPRESSION_CCITTFAX3, COMPRESSION_CCITTFAX4,
#ifdef UNET_HAS_ZSTD
        COMPRESSION_ZSTD,
#endif
#ifdef UNET_HAS_LZMA
        COMPRESSION_LZMA,
#endif
#ifdef UNET_HAS_WEBP
        COMPRESSION_WEBP,
#endif
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        if (known[i] == compression) {
            return true;
        }
    }
    return false;
}

static bool has_known_numbers(const Decoder *d) {
    const bool wide = d->bits == 16 || d->bits == 32 || d->bits == 64;
    return d->numbers == NUMBER_FLOAT
               ? wide
               : wide || d->bits == 8 || (d->bits < 8 && d->numbers == NUMBER_UNSIGNED && 8 % d->bits == 0);
}

/* Why it is not read, or NULL. */
static const char *odd_kind(const Decoder *d) {
    const bool subsampled = d->photometric == PHOTOMETRIC_YCBCR && d->compression != COMPRESSION_JPEG;
    const bool few = d->bits < 8;
    if (!is_known_compression(d->compression)) {
        return image_tiff_left_out;
    }
    if (subsampled || (!is_grey(d) && !has_palette(d) && !is_cmyk(d) && d->photometric != PHOTOMETRIC_RGB &&
                       d->photometric != PHOTOMETRIC_YCBCR)) {
        return "a TIFF file that is neither grey, in RGB, in CMYK nor of a palette: convert it to RGB";
    }
    if (d->format > SAMPLEFORMAT_VOID || d->bits == 0 || !has_known_numbers(d)) {
        return "a TIFF file of numbers that are neither whole, of 1, 2, 4, 8, 16, 32 or 64 bits, nor "
               "floats of 16, 32 or "
               "64 bits: convert them";
    }
    if ((few && !is_grey(d) && !has_palette(d)) ||
        (has_palette(d) && (d->bits > 8 || d->numbers != NUMBER_UNSIGNED)) || (is_cmyk(d) && are_kept(d))) {
        return "a TIFF file of colours with an unusual number of bits: convert it to RGB of 8 bits";
    }
    if (d->samples < plain_colours(d) || d->samples > UNET_IMAGE_MOST_CHANNELS || (few && d->samples > 1) ||
        ((has_palette(d) || is_cmyk(d)) && !has_alpha(d) && d->samples > plain_colours(d))) {
        return "a TIFF file with an unusual number of channels: split it";
    }
    return NULL;
}

static uint32_t traits(const Decoder *d, int32_t *turn) {
    uint16_t orientation = ORIENTATION_TOPLEFT;
    (void)TIFFGetFieldDefaulted(d->tiff, TIFFTAG_ORIENTATION, &orientation);
    const bool turned = orientation > ORIENTATION_TOPLEFT && orientation <= ORIENTATION_LEFTBOT;
    *turn = turned ? orientation : ORIENTATION_TOPLEFT;
    return (has_alpha(d) ? UNET_IMAGE_ALPHA : 0) | (turned ? UNET_IMAGE_TURNED : 0) |
           (TIFFLastDirectory(d->tiff) ? 0 : UNET_IMAGE_PAGES);
}

/* The number that stands for none, which GDAL writes as a text; NaN: there is none. */
static double find_nodata(TIFF *tiff) {
    const TIFFField *field = TIFFFindField(tiff, GDAL_NODATA, TIFF_ANY);
    const char *text = NULL;
    uint32_t count = 0;
    char *end = NULL;
    if (field == NULL || TIFFFieldDataType(field) != TIFF_ASCII ||
        TIFFFieldReadCount(field) != TIFF_VARIABLE2 ||
        TIFFGetField(tiff, GDAL_NODATA, &count, &text) != 1 || text == NULL) {
        return NAN;
    }
    const double number = strtod(text, &end);
    return end != text ? number : NAN;
}

/* The page that was asked for. */
static bool find_page(UnetImageReader *reader) {
    Decoder *d = reader->decoder;
    const int32_t page = reader->way.names_page ? reader->way.page : 0;
    if (page == 0 || TIFFSetDirectory(d->tiff, (tdir_t)page) == 1) {
        return true;
    }
    (void)snprintf(reader->reason, sizeof reader->reason,
                   "a TIFF file of %u page%s has no page %d, the first being 0",
                   (unsigned)TIFFNumberOfDirectories(d->tiff),
                   TIFFNumberOfDirectories(d->tiff) == 1 ? "" : "s", (int)page);
    return false;
}

static bool read_fields(UnetImageReader *reader, uint32_t *width, uint32_t *height) {
    Decoder *d = reader->decoder;
    uint16_t planar = PLANARCONFIG_CONTIG;
    d->format = SAMPLEFORMAT_UINT;
    (void)TIFFGetFieldDefaulted(d->tiff, TIFFTAG_BITSPERSAMPLE, &d->bits);
    (void)TIFFGetFieldDefaulted(d->tiff, TIFFTAG_SAMPLESPERPIXEL, &d->samples);
    (void)TIFFGetFieldDefaulted(d->tiff, TIFFTAG_SAMPLEFORMAT, &d->format);
    (void)TIFFGetFieldDefaulted(d->tiff, TIFFTAG_COMPRESSION, &d->compression);
    (void)TIFFGetFieldDefaulted(d->tiff, TIFFTAG_PLANARCONFIG, &planar);
    d->numbers = d->format == SAMPLEFORMAT_IEEEFP ? NUMBER_FLOAT
                 : d->format == SAMPLEFORMAT_INT  ? NUMBER_SIGNED
                                                  : NUMBER_UNSIGNED;
    d->nodata = find_nodata(d->tiff);
    d->tiled = TIFFIsTiled(d->tiff) != 0;
    d->planes = planar == PLANARCONFIG_SEPARATE && d->samples > 1;
    if (TIFFGetField(d->tiff, TIFFTAG_IMAGEWIDTH, width) != 1 ||
        TIFFGetField(d->tiff, TIFFTAG_IMAGELENGTH, height) != 1 ||
        TIFFGetField(d->tiff, TIFFTAG_PHOTOMETRIC, &d->photometric) != 1) {
        return fail(reader, "it does not say its size or what its numbers mean");
    }
    if (*width == 0 || *height == 0 || *width > INT32_MAX || *height > INT32_MAX) {
        return fail(reader, "its size is no size");
    }
    if (d->photometric == PHOTOMETRIC_YCBCR && d->compression == COMPRESSION_JPEG) {
        (void)TIFFSetField(d->tiff, TIFFTAG_JPEGCOLORMODE, JPEGCOLORMODE_RGB);
    }
    return true;
}

static UnetStatus open_tiff(UnetImageReader *reader, UnetError *error) {
    Decoder *d = reader->decoder = image_memory_take_zeroed(reader->memory, sizeof *d);
    uint32_t width, height;
    if (d == NULL) {
        return image_fail(reader, error, "out of memory");
    }
    if (!open_file(reader) || !find_page(reader) || !read_fields(reader, &width, &height)) {
        return image_fail_decoding(reader, error);
    }
    const char *odd = odd_kind(d);
    if (odd != NULL) {
        return image_fail(reader, error, odd);
    }
    reader->shape = (UnetImageInfo){.width = (int32_t)width,
                                    .height = (int32_t)height,
                                    .channels = has_palette(d) || is_cmyk(d) ? 3 : colours(d),
                                    .bits = are_floats(reader) ? 32
                                            : d->bits == 16    ? 16
                                                               : 8,
                                    .palette = has_palette(d),
                                    .traits = traits(d, &reader->turn)};
    reader->has_cmyk = is_cmyk(d);
    reader->scaled = are_scaled(reader);
    reader->row_bytes = ((size_t)width * d->bits * d->samples + 7) / 8;
    return UNET_OK;
}

/* ---- before the first row --------------------------------------------------------------------- */

/* Every tile or strip lies in the file and has some bytes. */
static bool check_units(UnetImageReader *reader) {
    Decoder *d = reader->decoder;
    const uint32_t units = d->tiled ? TIFFNumberOfTiles(d->tiff) : TIFFNumberOfStrips(d->tiff);
    for (uint32_t i = 0; i < units; i++) {
        const uint64_t bytes = TIFFGetStrileByteCount(d->tiff, i), at = TIFFGetStrileOffset(d->tiff, i);
        if (bytes == 0 || at == 0) {
            return reader->reason[0] == '\0' ? fail(reader, "a part of the picture is missing") : false;
        }
        if (at > d->file_bytes || bytes > d->file_bytes - at) {
            reader->cut_short = true;
            return fail(reader, "its last part is missing");
        }
    }
    return units > 0 || fail(reader, "it has no picture");
}

/* The size of a tile or strip, checked against the size of the image, and whether bands are needed. */
static bool plan_units(UnetImageReader *reader) {
    Decoder *d = reader->decoder;
    const uint32_t height = (uint32_t)reader->shape.height, width = (uint32_t)reader->shape.width;
    d->size[0] = height;
    d->size[1] = width;
    if (d->tiled && (TIFFGetField(d->tiff, TIFFTAG_TILELENGTH, &d->size[0]) != 1 ||
                     TIFFGetField(d->tiff, TIFFTAG_TILEWIDTH, &d->size[1]) != 1)) {
        return fail(reader, "it does not say how large its tiles are");
    }
    if (!d->tiled) {
        (void)TIFFGetFieldDefaulted(d->tiff, TIFFTAG_ROWSPERSTRIP, &d->size[0]);
        d->size[0] = d->size[0] < height ? d->size[0] : height;
    }
    const uint32_t samples = d->planes ? 1 : d->samples;
    const uint64_t image = (uint64_t)reader->row_bytes * height;
    d->unit_row = ((size_t)d->size[1] * d->bits * samples + 7) / 8;
    if (d->size[0] == 0 || d->size[1] == 0 || d->unit_row > (image + SPARE_BYTES) / d->size[0]) {
        return fail(reader, "its tiles are far larger than the picture");
    }
    return true;
}

static bool take_memory(UnetImageReader *reader) {
    Decoder *d = reader->decoder;
    const bool lines = !d->tiled && !d->planes;
    const tmsize_t unit = lines      ? TIFFScanlineSize(d->tiff)
                          : d->tiled ? TIFFTileSize(d->tiff)
                                     : TIFFStripSize(d->tiff);
    const size_t expected = lines ? d->unit_row : d->unit_row * d->size[0];
    if (unit <= 0 || (size_t)unit != expected) {
        return reader->reason[0] == '\0' ? fail(reader, "its rows have an unusual length") : false;
    }
    d->unit = image_memory_take(reader->memory, (size_t)unit);
    if (!lines) {
        const uint32_t height = (uint32_t)reader->shape.height;
        d->band_rows = (int32_t)(d->size[0] < height ? d->size[0] : height);
        d->band_row = (size_t)reader->shape.width * d->samples * ((d->bits + 7u) / 8);
        d->band = image_memory_take(reader->memory, d->band_row * (size_t)d->band_rows);
        d->band_first = -d->band_rows;
    }
    /* libtiff holds a part as it stands in the file, at most about as large as its numbers. */
    reader->shape.held_rows = lines ? (int32_t)d->size[0] : 3 * d->band_rows;
    return (d->unit != NULL && (lines || d->band != NULL)) || fail(reader, "out of memory");
}

/* Colours have 16 bits; files that hold them in 8 all the same are not rare. */
static bool read_palette(UnetImageReader *reader) {
    Decoder *d = reader->decoder;
    if (TIFFGetField(d->tiff, TIFFTAG_COLORMAP, &d->palette[0], &d->palette[1], &d->palette[2]) != 1) {
        return fail(reader, "it has no palette");
    }
    for (uint32_t i = 0; i < 3u << d->bits; i++) {
        if (d->palette[i % 3][i / 3] > UINT8_MAX) {
            d->palette_shift = 8;
        }
    }
    return true;
}

static bool begin_tiff(UnetImageReader *reader) {
    Decoder *d = reader->decoder;
    if (!check_units(reader) || !plan_units(reader)) {
        return false;
    }
    if (has_palette(d) && !read_palette(reader)) {
        return false;
    }
    if (d->bits < 8 && (d->tiled || d->planes)) {
        return fail(reader, "tiles of less than 8 bits are not read: write it anew in strips");
    }
    reader->stored_channels =
        has_palette(d) && !reader->classes ? 3 : colours(d) + (reader->keeps_alpha ? 1 : 0);
    if (has_palette(d) && reader->keeps_alpha) {
        return fail(reader, "a palette with alpha: convert it to RGB");
    }
    reader->row_bytes =
        (size_t)reader->shape.width * (size_t)reader->stored_channels * (size_t)(reader->shape.bits / 8);
    return take_memory(reader);
}

static void close_tiff(UnetImageReader *reader) {
    Decoder *d = reader->decoder;
    if (d->tiff != NULL) {
        TIFFClose(d->tiff);
    }
    image_memory_give(reader->memory, d->unit);
    image_memory_give(reader->memory, d->band);
}

/* ---- bands ------------------------------------------------------------------------------------ */

/* Puts the decoded tile or strip whose left column is COLUMN, of PLANE, into the band. */
static void place_unit(const UnetImageReader *reader, uint32_t column, uint16_t plane) {
    const Decoder *d = reader->decoder;
    const size_t number = d->bits / 8, point = number * d->samples;
    const uint32_t left = (uint32_t)reader->shape.width - column,
                   columns = d->size[1] < left ? d->size[1] : left;
    for (int32_t y = 0; y < d->band_rows; y++) {
        const uint8_t *from = d->unit + (size_t)y * d->unit_row;
        uint8_t *to = d->band + (size_t)y * d->band_row + column * point;
        if (!d->planes) {
            memcpy(to, from, columns * point);
            continue;
        }
        for (uint32_t x = 0; x < columns; x++) {
            memcpy(to + x * point + plane * number, from + x * number, number);
        }
    }
}

/* Decodes the band that begins with row FIRST; alpha is left out. */
static bool decode_band(UnetImageReader *reader, int32_t first) {
    Decoder *d = reader->decoder;
    const uint16_t planes = (uint16_t)(!d->planes ? 1 : has_palette(d) ? 1 : reader->stored_channels);
    const uint32_t width = (uint32_t)reader->shape.width, row = (uint32_t)first;
    const tmsize_t bytes = (tmsize_t)(d->unit_row * d->size[0]);
    d->band_first = first;
    for (uint16_t plane = 0; plane < planes; plane++) {
        for (uint32_t column = 0; column < width; column += d->size[1]) {
            const tmsize_t got =
                d->tiled
                    ? TIFFReadEncodedTile(d->tiff, TIFFComputeTile(d->tiff, column, row, 0, plane), d->unit,
                                          bytes)
                    : TIFFReadEncodedStrip(d->tiff, TIFFComputeStrip(d->tiff, row, plane), d->unit, bytes);
            const int32_t left = reader->shape.height - first;
            const size_t rows = (size_t)(left < d->band_rows ? left : d->band_rows);
            if (got < 0 || (size_t)got < rows * d->unit_row) {
                return reader->reason[0] == '\0' ? fail(reader, "a part of the picture is too short")
                                                 : false;
            }
            place_unit(reader, column, plane);
            if (width - column <= d->size[1]) {
                break;
            }
        }
    }
    return true;
}

/* ---- rows ------------------------------------------------------------------------------------- */

/* Number I of a line of whole numbers. */
static uint32_t whole_number(const Decoder *d, const uint8_t *line, size_t i) {
    uint32_t number;
    if (d->bits == 16) {
        uint16_t wide;
        memcpy(&wide, line + 2 * i, sizeof wide);
        number = wide;
    } else if (d->bits == 8) {
        number = line[i];
    } else {
        const size_t bit = i * d->bits;
        number = (uint32_t)(line[bit / 8] >> (8 - d->bits - bit % 8)) & ((1u << d->bits) - 1);
    }
    return d->photometric == PHOTOMETRIC_MINISWHITE ? (1u << d->bits) - 1 - number : number;
}

/* Numbers that are kept as they are, as floats; nodata as NaN. */
static void take_floats(UnetImageReader *reader, const uint8_t *line) {
    const Decoder *d = reader->decoder;
    const size_t bytes = d->bits / 8u;
    const double one = !reader->scaled ? 1 : d->bits == 16 ? UINT16_MAX : UINT8_MAX;
    uint8_t *to = reader->rows;
    for (int32_t x = 0; x < reader->shape.width; x++) {
        for (int32_t c = 0; c < reader->stored_channels; c++, to += sizeof(float)) {
            const size_t i = (size_t)x * d->samples + (size_t)c;
            double number = file_number(d->numbers, d->bits, line + i * bytes);
            const bool missing = number == d->nodata;
            number /= one;
            if (d->photometric == PHOTOMETRIC_MINISWHITE &&
                (d->numbers == NUMBER_FLOAT || reader->scaled)) {
                number = 1 - number;
            }
            const float kept = missing ? NAN : (float)number;
            memcpy(to, &kept, sizeof kept);
        }
    }
}

static void take_whole(UnetImageReader *reader, const uint8_t *line) {
    const Decoder *d = reader->decoder;
    const uint32_t scale =
        d->bits < 8 && !reader->classes && !has_palette(d) ? 255 / ((1u << d->bits) - 1) : 1;
    uint8_t *to = reader->rows;
    for (int32_t x = 0; x < reader->shape.width; x++) {
        for (int32_t c = 0; c < reader->stored_channels; c++) {
            const size_t i = (size_t)x * d->samples + (has_palette(d) ? 0 : (size_t)c);
            const uint32_t number = whole_number(d, line, i);
            if (has_palette(d) && !reader->classes) {
                *to++ = (uint8_t)(d->palette[c][number] >> d->palette_shift);
            } else if (d->bits == 16) {
                *to++ = (uint8_t)(number >> 8);
                *to++ = (uint8_t)number;
            } else {
                *to++ = (uint8_t)(number * scale);
            }
        }
    }
}

/* The next row as libtiff gives it, or NULL. */
static const uint8_t *next_line(UnetImageReader *reader) {
    Decoder *d = reader->decoder;
    const int32_t row = reader->next_row;
    if (d->band == NULL) {
        return TIFFReadScanline(d->tiff, d->unit, (uint32_t)row, 0) == 1 ? d->unit : NULL;
    }
    if (row - d->band_first >= d->band_rows && !decode_band(reader, row - row % d->band_rows)) {
        return NULL;
    }
    return d->band + (size_t)(row - d->band_first) * d->band_row;
}

static bool decode_row(UnetImageReader *reader) {
    const uint8_t *line = next_line(reader);
    if (line == NULL) {
        return reader->reason[0] == '\0' ? fail(reader, "its codes cannot be read") : false;
    }
    if (reader->shape.bits == 32) {
        take_floats(reader, line);
    } else {
        take_whole(reader, line);
    }
    return true;
}

/* The places of its parts were checked when it was opened. */
static bool is_complete(ImageFile *file) {
    (void)file;
    return true;
}

const ImageFormat image_tiff = {.name = "TIFF",
                                .most_expansion = MOST_EXPANSION,
                                .is = is_tiff,
                                .open = open_tiff,
                                .begin = begin_tiff,
                                .decode_row = decode_row,
                                .is_complete = is_complete,
                                .close = close_tiff};
