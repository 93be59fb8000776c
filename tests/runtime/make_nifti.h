/* make_nifti.h - writes NIfTI files of any header, true or not, byte by byte. */
#ifndef MAKE_NIFTI_H
#define MAKE_NIFTI_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

enum { NIFTI_BEGIN = 352 };

/* The places of the fields in a header. */
enum {
    NIFTI_DIM = 40,
    NIFTI_TYPE = 70,
    NIFTI_BITS = 72,
    NIFTI_PIXDIM = 76,
    NIFTI_OFFSET_AT = 108,
    NIFTI_SLOPE = 112,
    NIFTI_UNITS = 123,
    NIFTI_QFORM = 252,
    NIFTI_SFORM = 254,
    NIFTI_QUATERN = 256,
    NIFTI_SROW = 280,
    NIFTI_MAGIC = 344
};

typedef struct {
    uint8_t header[NIFTI_BEGIN];
    const void *voxels;
    size_t bytes;
} Nifti;

static inline void nifti_i16(Nifti *file, int at, int16_t value) {
    memcpy(file->header + at, &value, sizeof value);
}

static inline void nifti_f32(Nifti *file, int at, float value) {
    memcpy(file->header + at, &value, sizeof value);
}

/* Voxels of TYPE and BITS, D x H x W of them, of 1 mm, with no orientation. */
static inline Nifti nifti_make(int16_t d, int16_t h, int16_t w, int16_t type, int16_t bits,
                               const void *voxels) {
    const int32_t bytes = 348;
    Nifti file = {.voxels = voxels, .bytes = (size_t)d * (size_t)h * (size_t)w * (size_t)bits / 8};
    memcpy(file.header, &bytes, sizeof bytes);
    const int16_t dim[8] = {3, w, h, d, 1, 1, 1, 1};
    memcpy(file.header + NIFTI_DIM, dim, sizeof dim);
    nifti_i16(&file, NIFTI_TYPE, type);
    nifti_i16(&file, NIFTI_BITS, bits);
    for (int i = 0; i < 4; i++) {
        nifti_f32(&file, NIFTI_PIXDIM + 4 * i, 1);
    }
    nifti_f32(&file, NIFTI_OFFSET_AT, NIFTI_BEGIN);
    file.header[NIFTI_UNITS] = 2;
    memcpy(file.header + NIFTI_MAGIC, "n+1", 4);
    return file;
}

/* Voxels of Z x Y x X millimetres; the first lies at (LEFT, 0, 0). */
static inline void nifti_place(Nifti *file, float z, float y, float x, float left) {
    const float step[3] = {x, y, z};
    nifti_i16(file, NIFTI_SFORM, 1);
    for (int i = 0; i < 3; i++) {
        nifti_f32(file, NIFTI_PIXDIM + 4 * (1 + i), step[i]);
        nifti_f32(file, NIFTI_SROW + 16 * i + 4 * i, step[i]);
    }
    nifti_f32(file, NIFTI_SROW + 12, left);
}

/* As other machines write it. */
static inline void nifti_swap(Nifti *file) {
    static const struct {
        int at, count, bytes;
    } fields[] = {{0, 1, 4},   {40, 8, 2},  {56, 3, 4},  {68, 4, 2},  {76, 8, 4},  {108, 3, 4},
                  {120, 1, 2}, {124, 4, 4}, {140, 2, 4}, {252, 2, 2}, {256, 18, 4}};
    for (size_t f = 0; f < sizeof fields / sizeof *fields; f++) {
        for (int i = 0; i < fields[f].count; i++) {
            uint8_t *number = file->header + fields[f].at + i * fields[f].bytes;
            for (int low = 0, high = fields[f].bytes - 1; low < high; low++, high--) {
                const uint8_t byte = number[low];
                number[low] = number[high];
                number[high] = byte;
            }
        }
    }
}

/* Packed where PATH ends in .gz; only the first BYTES of the file where that is not 0. */
static inline void nifti_write(const Nifti *file, const char *path, size_t bytes) {
    const size_t length = strlen(path);
    const int packed = length > 3 && strcmp(path + length - 3, ".gz") == 0;
    gzFile out = gzopen(path, packed ? "wb" : "wbT");
    if (out == NULL || gzwrite(out, file->header, NIFTI_BEGIN) != NIFTI_BEGIN ||
        (file->bytes > 0 && gzwrite(out, file->voxels, (unsigned)file->bytes) != (int)file->bytes) ||
        gzclose(out) != Z_OK) {
        perror(path);
        exit(EXIT_FAILURE);
    }
    if (bytes > 0) {
        FILE *cut = fopen(path, "rb");
        uint8_t *start = malloc(bytes);
        if (cut == NULL || start == NULL || fread(start, 1, bytes, cut) != bytes) {
            perror(path);
            exit(EXIT_FAILURE);
        }
        fclose(cut);
        cut = fopen(path, "wb");
        fwrite(start, 1, bytes, cut);
        fclose(cut);
        free(start);
    }
}

#endif
