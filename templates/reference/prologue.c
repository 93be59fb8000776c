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
typedef UNET_REAL real; /* parameters, their gradients, the optimiser's state, arithmetic */

/* Activations and their gradients: the same, or numbers of 16 bits, rounded to the nearest, of two such to
 * the even one, whenever they are stored. */
#if defined UNET_STORED_BF16 || defined UNET_STORED_F16
typedef struct {
    uint16_t bits;
} stored;
#else
typedef real stored;
#endif

/* Where the elements of a tensor lie, in elements; see unet/model.h. */
typedef struct {
    int channels, block, blocks; /* blocks = ceil(channels / block) */
    long origin, sample, plane, depth, row;
} Layout;

#define UNUSED __attribute__((unused))

UNUSED static uint32_t bits_of(float x) {
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

UNUSED static float of_bits(uint32_t bits) {
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* The upper half of a float. */
UNUSED static float bf16_value(uint16_t bits) {
    return of_bits((uint32_t)bits << 16);
}

UNUSED static uint16_t bf16_bits(float x) {
    uint32_t bits = bits_of(x);
    return x != x ? 0x7fff : (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

/* A float has 13 bits more of the fraction, and exponents from 112 less on. */
UNUSED static float f16_value(uint16_t bits) {
    float size = of_bits((uint32_t)(bits & 0x7fff) << 13) * 0x1p112f;
    if (size >= 0x1p16f) /* infinite, or NaN */
        size = of_bits(0x7f800000 | (uint32_t)(bits & 0x3ff) << 13);
    return bits >> 15 ? -size : size;
}

UNUSED static uint16_t f16_bits(float x) {
    uint32_t sign = bits_of(x) >> 16 & 0x8000, bits = bits_of(x) & 0x7fffffff;
    if (x != x)
        return 0x7fff;
    if (of_bits(bits) >= 65520) /* nearer to 2^16 than to the largest number */
        return (uint16_t)(sign | 0x7c00);
    if (of_bits(bits) < 0x1p-14f) /* multiples of 2^-24, as floats from 0.5 to 1 are */
        return (uint16_t)(sign | (bits_of(of_bits(bits) + 0.5f) - bits_of(0.5f)));
    return (uint16_t)(sign | (bits + 0xfff + (bits >> 13 & 1) - (112u << 23)) >> 13);
}

UNUSED static real load(const stored *p, long i) {
#if defined UNET_STORED_BF16
    return bf16_value(p[i].bits);
#elif defined UNET_STORED_F16
    return f16_value(p[i].bits);
#else
    return p[i];
#endif
}

UNUSED static void store(stored *p, long i, real x) {
#if defined UNET_STORED_BF16
    p[i].bits = bf16_bits(x);
#elif defined UNET_STORED_F16
    p[i].bits = f16_bits(x);
#else
    p[i] = x;
#endif
}

/* Both factors of a product have the type of activations. */
UNUSED static real rounded(real x) {
    stored y;
    store(&y, 0, x);
    return load(&y, 0);
}

/* Element i of numbers that are `real` or `stored`. */
UNUSED static real load_either(int is_real, const void *p, long i) {
    return is_real ? ((const real *)p)[i] : load(p, i);
}

UNUSED static long element(const Layout *l, int n, int c, int d, int h, int w) {
    return l->origin + n * l->sample + c / l->block * l->plane + d * l->depth + h * l->row +
           (long)w * l->block + c % l->block;
}

/* Channels that have a place in memory; those from l->channels on only pad the last block. */
UNUSED static int stored_channels(const Layout *l) {
    return l->blocks * l->block;
}

/* What is known of a scaled loss, as doubles: the scale; good steps since it changed; steps taken; and what
 * gradients are multiplied with, 0 if they overflowed: then the step is not taken. */
enum { LOSS_SCALE, GOOD_STEPS, STEPS_TAKEN, UNSCALE };

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
