/* npy.h - the head of an array of NumPy, and its numbers; private to the runtime. */
#ifndef UNET_NPY_H
#define UNET_NPY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "number.h"

enum { NPY_AXES = 4, NPY_MAGIC = 6 };
extern const char npy_magic[]; /* NPY_MAGIC bytes with which it begins */

/* Bytes that come one after another. */
typedef struct {
    bool (*read)(void *context, uint8_t *bytes, size_t count); /* all of them, or false */
    void *context;
} NpyBytes;

typedef struct {
    NumberKind kind;
    int bits;
    bool truth;   /* 0 or 1 */
    bool swapped; /* in the other order of bytes */
    bool fortran; /* the first axis runs fastest */
    int axes;
    int64_t size[NPY_AXES];
} NpyHead;

/* Reads the head, behind which the numbers begin; NULL, or why it cannot be read. */
const char *npy_read_head(const NpyBytes *from, NpyHead *head);

/* The number of bytes that one takes, and its value where these lie at AT. */
size_t npy_number_bytes(const NpyHead *head);
double npy_number(const NpyHead *head, const uint8_t *at);

/* The numbers between neighbours along each axis. */
void npy_strides(const NpyHead *head, int64_t stride[NPY_AXES]);

#endif
