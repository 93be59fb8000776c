/* prologue.c - what stands at the head of every generated program for the CPU: types, and how tensors lie
 * in memory. */
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#ifndef UNET_REAL
#define UNET_REAL float
#endif

/* BEGIN */
typedef UNET_REAL real;

/* Where the elements of a tensor lie, in elements; see unet/model.h. */
typedef struct {
    int channels, block, blocks; /* blocks = ceil(channels / block) */
    long origin, sample, plane, depth, row;
} Layout;
/* END */
