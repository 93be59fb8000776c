/* make_gif.h - GIF files of any indices for the tests, and a small one from elsewhere. */
#ifndef MAKE_GIF_H
#define MAKE_GIF_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* 10 x 10 points of four colours, white, red, blue and black, as other programs write them. */
static const uint8_t small_gif[] = {0x47, 0x49, 0x46, 0x38, 0x39, 0x61, 0x0a, 0x00, 0x0a, 0x00, 0x91, 0x00,
                                    0x00, 0xff, 0xff, 0xff, 0xff, 0x00, 0x00, 0x00, 0x00, 0xff, 0x00, 0x00,
                                    0x00, 0x21, 0xf9, 0x04, 0x00, 0x00, 0x00, 0x00, 0x00, 0x2c, 0x00, 0x00,
                                    0x00, 0x00, 0x0a, 0x00, 0x0a, 0x00, 0x00, 0x02, 0x16, 0x8c, 0x2d, 0x99,
                                    0x87, 0x2a, 0x1c, 0xdc, 0x33, 0xa0, 0x02, 0x75, 0xec, 0x95, 0xfa, 0xa8,
                                    0xde, 0x60, 0x8c, 0x04, 0x91, 0x4c, 0x01, 0x00, 0x3b};
static const char *const small_gif_rows[] = {"1111122222", "1111122222", "1111122222", "1110000222",
                                             "1110000222", "2220000111", "2220000111", "2222211111",
                                             "2222211111", "2222211111"};

typedef struct {
    uint32_t width, height;
    int root; /* bits of a point */
    bool interlaced, coloured;
    uint8_t (*index)(uint32_t x, uint32_t y, int root);
} GifKind;

static inline uint8_t gif_noise(uint32_t x, uint32_t y, int root) {
    uint32_t mixed = (x * 2654435761u) ^ (y * 40503u) * 2246822519u;
    return (uint8_t)((mixed ^ mixed >> 15) & ((1u << root) - 1));
}

static inline uint8_t gif_disc(uint32_t x, uint32_t y, int root) {
    (void)root;
    return (x - 20) * (x - 20) + (y - 15) * (y - 15) < 100;
}

/* Colour C of palette entry INDEX. */
static inline uint8_t gif_colour(const GifKind *kind, uint32_t index, uint32_t c) {
    return (uint8_t)(kind->coloured ? index * 29u + c * 71u : index * (255u / ((1u << kind->root) - 1)));
}

typedef struct {
    FILE *file;
    uint32_t bits;
    int held, count;
    uint8_t block[255];
} GifBits;

static inline void gif_flush(GifBits *b) {
    if (b->count > 0) {
        fputc(b->count, b->file);
        fwrite(b->block, 1, (size_t)b->count, b->file);
    }
    b->count = 0;
}

static inline void gif_put(GifBits *b, uint32_t code, int size) {
    b->bits |= code << b->held;
    for (b->held += size; b->held >= 8 || (size == 0 && b->held > 0); b->held -= 8, b->bits >>= 8) {
        b->block[b->count++] = (uint8_t)b->bits;
        if (b->count == 255) {
            gif_flush(b);
        }
        if (b->held < 8) {
            b->held = 8;
        }
    }
}

/* The codes of all points, in the order of the file. */
static inline void gif_codes(GifBits *b, const uint8_t *point, size_t count, int root) {
    enum { CODES = 4096 };
    uint16_t(*child)[256] = calloc(CODES, sizeof *child);
    const uint32_t clear = 1u << root;
    uint32_t next = clear + 2, string = point[0];
    int size = root + 1;
    gif_put(b, clear, size);
    for (size_t i = 1; i < count; i++) {
        if (child[string][point[i]] != 0) {
            string = child[string][point[i]];
            continue;
        }
        gif_put(b, string, size);
        if (next < CODES) {
            child[string][point[i]] = (uint16_t)next;
            size += next == 1u << size && size < 12;
            next++;
        } else {
            gif_put(b, clear, size);
            memset(child, 0, CODES * sizeof *child);
            next = clear + 2;
            size = root + 1;
        }
        string = point[i];
    }
    gif_put(b, string, size);
    gif_put(b, clear + 1, size + (next == 1u << size && size < 12));
    gif_put(b, 0, 0);
    gif_flush(b);
    free(child);
}

static inline void make_gif(const char *path, const GifKind *kind) {
    static const uint32_t start[] = {0, 4, 2, 1}, step[] = {8, 8, 4, 2};
    const uint32_t w = kind->width, h = kind->height;
    uint8_t *point = malloc((size_t)w * h), *to = point;
    for (int pass = 0; pass < (kind->interlaced ? 4 : 1); pass++) {
        for (uint32_t y = kind->interlaced ? start[pass] : 0; y < h;
             y += kind->interlaced ? step[pass] : 1) {
            for (uint32_t x = 0; x < w; x++) {
                *to++ = kind->index(x, y, kind->root);
            }
        }
    }
    GifBits b = {.file = fopen(path, "wb")};
    const uint8_t head[] = {'G',
                            'I',
                            'F',
                            '8',
                            '9',
                            'a',
                            (uint8_t)w,
                            (uint8_t)(w >> 8),
                            (uint8_t)h,
                            (uint8_t)(h >> 8),
                            (uint8_t)(0xf0 | (kind->root - 1)),
                            0,
                            0};
    const uint8_t picture[] = {0x2c,
                               0,
                               0,
                               0,
                               0,
                               head[6],
                               head[7],
                               head[8],
                               head[9],
                               kind->interlaced ? 0x40 : 0,
                               (uint8_t)(kind->root < 2 ? 2 : kind->root)};
    fwrite(head, 1, sizeof head, b.file);
    for (uint32_t i = 0; i < 3u << kind->root; i++) {
        fputc(gif_colour(kind, i / 3, i % 3), b.file);
    }
    fwrite(picture, 1, sizeof picture, b.file);
    gif_codes(&b, point, (size_t)w * h, picture[10]);
    fputc(0, b.file);
    fputc(0x3b, b.file);
    fclose(b.file);
    free(point);
}

#endif
