/* make_png.h - PNG files of every kind for the tests, written through libpng's own interface. */
#ifndef MAKE_PNG_H
#define MAKE_PNG_H

#include <png.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct {
    uint32_t width, height;
    int colour, bits;             /* PNG_COLOR_TYPE_..., bits per sample */
    bool interlaced, transparent; /* transparent: a tRNS chunk */
} PngKind;

static inline int png_samples(int colour) {
    return colour == PNG_COLOR_TYPE_RGB          ? 3
           : colour == PNG_COLOR_TYPE_RGBA       ? 4
           : colour == PNG_COLOR_TYPE_GRAY_ALPHA ? 2
                                                 : 1;
}

/* The stored number of sample S of point (X, Y): anything, but the same every time. */
static inline uint32_t png_number(const PngKind *kind, uint32_t x, uint32_t y, uint32_t s) {
    uint32_t mixed = (x * 2654435761u) ^ (y * 40503u + 77u * s) * 2246822519u;
    mixed ^= mixed >> 15;
    return mixed & ((1u << kind->bits) - 1);
}

/* Colour C of palette entry INDEX. */
static inline uint8_t png_palette_colour(uint32_t index, uint32_t c) {
    return (uint8_t)(index * 37u + c * 91u + 5u);
}

static inline void png_add_palette(png_structp png, png_infop info, const PngKind *kind) {
    png_color palette[256];
    png_byte alpha[256];
    int entries = 1 << kind->bits;
    for (int i = 0; i < entries; i++) {
        palette[i] = (png_color){png_palette_colour((uint32_t)i, 0), png_palette_colour((uint32_t)i, 1),
                                 png_palette_colour((uint32_t)i, 2)};
        alpha[i] = (png_byte)(i * 3);
    }
    png_set_PLTE(png, info, palette, entries);
    if (kind->transparent) {
        png_set_tRNS(png, info, alpha, entries, NULL);
    }
}

static inline void png_fill_row(const PngKind *kind, uint32_t y, png_byte *row) {
    uint32_t samples = (uint32_t)png_samples(kind->colour);
    for (uint32_t i = 0; i < kind->width * samples; i++) {
        uint32_t number = png_number(kind, i / samples, y, i % samples);
        if (kind->bits == 16) {
            row[2 * i] = (png_byte)(number >> 8);
            row[2 * i + 1] = (png_byte)number;
        } else {
            uint32_t per_byte = 8 / (uint32_t)kind->bits;
            uint32_t shift = 8 - (uint32_t)kind->bits * (i % per_byte + 1);
            row[i / per_byte] = (png_byte)(row[i / per_byte] | number << shift);
        }
    }
}

static inline void make_png(const char *path, const PngKind *kind) {
    FILE *file = fopen(path, "wb");
    png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, NULL, NULL, NULL);
    png_infop info = png_create_info_struct(png);
    if (file == NULL || info == NULL || setjmp(png_jmpbuf(png)) != 0) {
        perror(path);
        exit(EXIT_FAILURE);
    }
    png_init_io(png, file);
    png_set_IHDR(png, info, kind->width, kind->height, kind->bits, kind->colour,
                 kind->interlaced ? PNG_INTERLACE_ADAM7 : PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT,
                 PNG_FILTER_TYPE_DEFAULT);
    if (kind->colour == PNG_COLOR_TYPE_PALETTE) {
        png_add_palette(png, info, kind);
    } else if (kind->transparent) {
        png_color_16 key = {.red = 1, .green = 2, .blue = 3, .gray = 1};
        png_set_tRNS(png, info, NULL, 0, &key);
    }
    png_write_info(png, info);
    size_t bytes = png_get_rowbytes(png, info);
    png_byte *rows = calloc(kind->height, bytes);
    png_byte **row = calloc(kind->height, sizeof *row);
    for (uint32_t y = 0; y < kind->height; y++) {
        row[y] = rows + y * bytes;
        png_fill_row(kind, y, row[y]);
    }
    png_write_image(png, row);
    png_write_end(png, info);
    png_destroy_write_struct(&png, &info);
    free(row);
    free(rows);
    fclose(file);
}

#endif
