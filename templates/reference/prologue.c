/* prologue.c - what stands at the head of every program built of reference kernels: types, how tensors lie
 * in memory, and the few words in which the kernels are written.
 *
 * These kernels are the definition of what the fast ones compute, so they are plain: one loop per axis, the
 * border tested where it matters (no halo is read), sums in double in the order of the loops. */
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

#define UNUSED __attribute__((unused))

UNUSED static long element(const Layout *l, int n, int c, int d, int h, int w) {
    return l->origin + n * l->sample + c / l->block * l->plane + d * l->depth + h * l->row +
           (long)w * l->block + c % l->block;
}

/* Channels that have a place in memory; those from l->channels on only pad the last block. */
UNUSED static int stored_channels(const Layout *l) {
    return l->blocks * l->block;
}

UNUSED static int inside(int position, int extent) {
    return position >= 0 && position < extent;
}

/* A NaN stays one. */
UNUSED static double between(double least, double most, double x) {
    return x < least ? least : x > most ? most : x;
}

/* The position of the window whose tap falls on the point, or -1. */
UNUSED static int window_at(int point, int tap, int stride, int dilation, int padding, int positions) {
    int scaled = point + padding - tap * dilation;
    return scaled >= 0 && scaled % stride == 0 && scaled / stride < positions ? scaled / stride : -1;
}
/* END */
