/* make_tiff.h - TIFF files of every kind that is read, written by libtiff, and some that are not. */
#ifndef MAKE_TIFF_H
#define MAKE_TIFF_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <tiffio.h>

typedef struct {
    uint32_t width, height;
    uint16_t photometric, bits, samples; /* samples: with alpha */
    uint16_t compression;                /* 0: none */
    uint32_t tile;                       /* its height and width; 0: strips */
    uint32_t strip;                      /* its rows; 0: one strip */
    bool floats, planes, big_endian, big;
    uint16_t orientation; /* 0: not said */
    int pages;            /* beside the first */
    bool is_signed;       /* whole numbers below 0 too */
    bool extra;           /* samples beyond the colours are of no kind */
    const char *nodata;   /* as GDAL writes it */
} TiffKind;

/* Number C of a point; of floats a thousandth of it, less 3. */
static inline uint32_t tiff_number(const TiffKind *kind, uint32_t x, uint32_t y, uint32_t c) {
    const uint32_t number = x * 2654435761u + y * 40503u + c * 977u + x * y;
    return (number >> 4) & (kind->bits > 16 ? 0xffff : (1u << kind->bits) - 1);
}

static inline float tiff_float(const TiffKind *kind, uint32_t x, uint32_t y, uint32_t c) {
    return (float)tiff_number(kind, x, y, c) / 1000.0f - 3.0f;
}

/* Floats of 16 bits: eighths. */
static inline uint16_t tiff_half(uint32_t number) {
    uint16_t exponent = 15 + 7, fraction = (uint16_t)(number & 1023);
    return (uint16_t)(exponent << 10 | fraction);
}

/* The number that a reader makes of number C of a point whose numbers are kept as they are. */
static inline float tiff_kept(const TiffKind *kind, uint32_t x, uint32_t y, uint32_t c) {
    const uint32_t number = tiff_number(kind, x, y, c);
    if (kind->floats && kind->bits == 16) {
        return 128 + (float)(number & 1023) / 8;
    }
    if (kind->floats) {
        return tiff_float(kind, x, y, c);
    }
    if (kind->is_signed && kind->bits < 32) {
        return kind->bits == 8 ? (float)(int8_t)number : (float)(int16_t)number;
    }
    return (float)number;
}

static inline uint16_t tiff_colour(uint32_t index, int c) {
    return (uint16_t)(257 * ((index * 37 + (uint32_t)c * 71) & 255));
}

/* Puts a number into place I of a row. */
static inline void tiff_put(const TiffKind *kind, uint8_t *row, size_t i, uint32_t x, uint32_t y,
                            uint32_t c) {
    const uint32_t number = tiff_number(kind, x, y, c);
    if (kind->floats && kind->bits == 16) {
        const uint16_t value = tiff_half(number);
        memcpy(row + 2 * i, &value, 2);
    } else if (kind->bits == 64 && !kind->floats) {
        const uint64_t value = number;
        memcpy(row + 8 * i, &value, 8);
    } else if (kind->bits == 64) {
        const double value = (double)tiff_float(kind, x, y, c);
        memcpy(row + 8 * i, &value, 8);
    } else if (kind->bits == 32) {
        const float value = tiff_float(kind, x, y, c);
        memcpy(row + 4 * i, kind->floats ? (const void *)&value : (const void *)&number, 4);
    } else if (kind->bits == 16) {
        const uint16_t value = (uint16_t)number;
        memcpy(row + 2 * i, &value, 2);
    } else if (kind->bits == 8) {
        row[i] = (uint8_t)number;
    } else if (kind->bits < 8) { /* numbers of 24 bits stay zero: the reader refuses them */
        const size_t bit = i * kind->bits;
        row[bit / 8] = (uint8_t)(row[bit / 8] | number << (8 - kind->bits - bit % 8));
    }
}

/* The ROWS by COLUMNS points from (Y, X) on, of all samples or of plane C. */
static inline uint8_t *tiff_part(const TiffKind *kind, uint32_t y, uint32_t x, uint32_t rows,
                                 uint32_t columns, uint16_t plane) {
    const uint32_t samples = kind->planes ? 1 : kind->samples;
    const size_t row = ((size_t)columns * samples * kind->bits + 7) / 8;
    uint8_t *bytes = calloc(rows, row);
    for (uint32_t i = 0; i < rows; i++) {
        for (uint32_t k = 0; k < columns; k++) {
            for (uint32_t c = 0; c < samples; c++) {
                tiff_put(kind, bytes + i * row, (size_t)k * samples + c, x + k, y + i,
                         kind->planes ? plane : c);
            }
        }
    }
    return bytes;
}

static inline void tiff_tags(TIFF *tiff, const TiffKind *kind) {
    static uint16_t palette[3][256];
    const uint16_t alpha = EXTRASAMPLE_UNASSALPHA;
    const uint16_t colours = kind->photometric == PHOTOMETRIC_RGB || kind->photometric == PHOTOMETRIC_YCBCR
                                 ? 3
                             : kind->photometric == PHOTOMETRIC_SEPARATED ? 4
                                                                          : 1;
    TIFFSetField(tiff, TIFFTAG_IMAGEWIDTH, kind->width);
    TIFFSetField(tiff, TIFFTAG_IMAGELENGTH, kind->height);
    TIFFSetField(tiff, TIFFTAG_BITSPERSAMPLE, kind->bits);
    TIFFSetField(tiff, TIFFTAG_SAMPLESPERPIXEL, kind->samples);
    TIFFSetField(tiff, TIFFTAG_PHOTOMETRIC, kind->photometric);
    TIFFSetField(tiff, TIFFTAG_PLANARCONFIG, kind->planes ? PLANARCONFIG_SEPARATE : PLANARCONFIG_CONTIG);
    TIFFSetField(tiff, TIFFTAG_COMPRESSION, kind->compression > 0 ? kind->compression : COMPRESSION_NONE);
    if (kind->floats) {
        TIFFSetField(tiff, TIFFTAG_SAMPLEFORMAT, SAMPLEFORMAT_IEEEFP);
    }
    if (kind->is_signed) {
        TIFFSetField(tiff, TIFFTAG_SAMPLEFORMAT, SAMPLEFORMAT_INT);
    }
    if (kind->nodata != NULL) {
        TIFFSetField(tiff, 42113, kind->nodata);
    }
    if (kind->extra && kind->samples > colours) {
        const uint16_t unspecified[16] = {EXTRASAMPLE_UNSPECIFIED};
        TIFFSetField(tiff, TIFFTAG_EXTRASAMPLES, kind->samples - colours, unspecified);
    } else if (kind->samples == colours + 1) {
        TIFFSetField(tiff, TIFFTAG_EXTRASAMPLES, 1, &alpha);
    }
    if (kind->orientation > 0) {
        TIFFSetField(tiff, TIFFTAG_ORIENTATION, kind->orientation);
    }
    if (kind->photometric == PHOTOMETRIC_PALETTE) {
        for (uint32_t i = 0; i < 256; i++) {
            for (int c = 0; c < 3; c++) {
                palette[c][i] = tiff_colour(i, c);
            }
        }
        TIFFSetField(tiff, TIFFTAG_COLORMAP, palette[0], palette[1], palette[2]);
    }
    if (kind->compression == COMPRESSION_JPEG && kind->photometric == PHOTOMETRIC_YCBCR) {
        TIFFSetField(tiff, TIFFTAG_JPEGCOLORMODE, JPEGCOLORMODE_RGB);
    }
    if (kind->tile > 0) {
        TIFFSetField(tiff, TIFFTAG_TILEWIDTH, kind->tile);
        TIFFSetField(tiff, TIFFTAG_TILELENGTH, kind->tile);
    } else {
        TIFFSetField(tiff, TIFFTAG_ROWSPERSTRIP, kind->strip > 0 ? kind->strip : kind->height);
    }
}

static inline void tiff_page(TIFF *tiff, const TiffKind *kind) {
    const uint32_t rows = kind->tile > 0 ? kind->tile : kind->strip > 0 ? kind->strip : kind->height;
    const uint32_t columns = kind->tile > 0 ? kind->tile : kind->width;
    for (uint16_t plane = 0; plane < (kind->planes ? kind->samples : 1); plane++) {
        for (uint32_t y = 0; y < kind->height; y += rows) {
            for (uint32_t x = 0; x < kind->width; x += columns) {
                const uint32_t left = kind->height - y, high = kind->tile > 0 || left > rows ? rows : left;
                uint8_t *part = tiff_part(kind, y, x, high, columns, plane);
                if (kind->tile > 0) {
                    TIFFWriteEncodedTile(tiff, TIFFComputeTile(tiff, x, y, 0, plane), part,
                                         TIFFTileSize(tiff));
                } else {
                    TIFFWriteEncodedStrip(tiff, TIFFComputeStrip(tiff, y, plane), part,
                                          TIFFVStripSize(tiff, high));
                }
                free(part);
            }
        }
    }
}

/* Tags of GDAL, which libtiff does not know of itself. */
static inline void tiff_extend(TIFF *tiff) {
    static const TIFFFieldInfo nodata[] = {
        {42113, -1, -1, TIFF_ASCII, FIELD_CUSTOM, 1, 0, (char *)(uintptr_t) "GDALNoDataValue"}};
    TIFFMergeFieldInfo(tiff, nodata, 1);
}

static inline void make_tiff(const char *path, const TiffKind *kind) {
    char mode[4] = "w";
    strcat(mode, kind->big_endian ? "b" : "l");
    strcat(mode, kind->big ? "8" : "");
    TIFF *tiff = TIFFOpen(path, mode);
    tiff_extend(tiff);
    for (int page = 0; page <= kind->pages; page++) {
        tiff_tags(tiff, kind);
        tiff_page(tiff, kind);
        TIFFWriteDirectory(tiff);
    }
    TIFFClose(tiff);
}

#endif
