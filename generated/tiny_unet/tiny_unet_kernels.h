/* tiny_unet_kernels.h - what the kernels of tiny_unet share
 *
 * Made by unetc from tiny_unet.unet (16d462818c889222) with: --size=64x64 --kernels=reference
 * Do not edit: change the .unet file and compile again. */
#ifndef UNETC_TINY_UNET_KERNELS_H
#define UNETC_TINY_UNET_KERNELS_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define UNET_REAL float

#include <math.h>

typedef UNET_REAL real; /* parameters, their gradients, the optimiser's state, arithmetic */

/* Activations and their gradients: as `real`, or in 16 bits. Every store rounds to nearest even. */
#if defined UNET_STORED_BF16 || defined UNET_STORED_F16
typedef struct {
    uint16_t bits;
} stored;
#else
typedef real stored;
#endif

/* The places of the elements of a tensor, in elements; see unet/model.h. */
typedef struct {
    int channels, block, blocks; /* blocks = ceil(channels / block) */
    long origin, sample, plane, depth, row;
    int ring; /* row h lies where row h mod ring does; 0: each has a place of its own */
} Layout;

/* Rows [begin, end) of a sample, which has D * H of them: the rows of its output that a kernel computes.
 * Whoever calls the kernel keeps them inside [0, D * H]; a kernel computes nothing of an empty range. */
typedef struct {
    int32_t begin, end;
#ifdef UNET_ANY_HEIGHT
    int32_t height; /* of the output */
#endif
} Rows;

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

/* The numbers of arrays: `stored`, or as the loader left them: `real`, or n of n / 255 or n / 65535 in 8 or
 * 16 bits.  The loader divides in the same way if it leaves `real`, in floats. */
enum { AS_STORED, AS_REAL, IN_8_BITS, IN_16_BITS };

/* Element i of an array of one of these. */
UNUSED static real load_either(int staged, const void *p, long i) {
    return staged == IN_8_BITS    ? (float)((const uint8_t *)p)[i] / 255.0f
           : staged == IN_16_BITS ? (float)((const uint16_t *)p)[i] / 65535.0f
           : staged == AS_REAL    ? ((const real *)p)[i]
                                  : load(p, i);
}

/* The address of element i of such an array. */
UNUSED static const void *array_at(int staged, const void *p, long i) {
    const long bytes = staged == IN_8_BITS    ? 1
                       : staged == IN_16_BITS ? 2
                       : staged == AS_REAL    ? (long)sizeof(real)
                                              : (long)sizeof(stored);
    return (const char *)p + i * bytes;
}

UNUSED static long element(const Layout *l, int n, int c, int d, int h, int w) {
    const int place = l->ring > 0 ? (h + l->ring) % l->ring : h; /* of a ring: no rows above -ring */
    return l->origin + n * l->sample + c / l->block * l->plane + d * l->depth + place * l->row +
           (long)w * l->block + c % l->block;
}

/* Channels in memory; those from l->channels on only pad the last block. */
UNUSED static int stored_channels(const Layout *l) {
    return l->blocks * l->block;
}

/* The place between rows r - 1 and r of a block of sample n where the halo of one ends and the halo of the
 * other begins.  It is the end of a line of memory, or, between two planes and at the ends of the block, of
 * all that lies there. */
UNUSED static long halo_boundary(const Layout *l, int n, int block, int r, int depth, int height) {
    const long start = n * l->sample + block * l->plane;
    if (r == 0)
        return start;
    if (r == depth * height)
        return block + 1 < l->blocks ? start + l->plane : (n + 1) * l->sample;
    if (r % height == 0)
        return start + (l->origin / l->depth + r / height) * l->depth;
    return element(l, n, block * l->block, r / height, r % height, 0) - l->origin % l->row;
}

/* The state of a scaled loss, as doubles: the scale; good steps since it changed; steps taken; and the
 * factor of gradients, 0 if they overflowed: then the step is not taken. */
enum { LOSS_SCALE, GOOD_STEPS, STEPS_TAKEN, UNSCALE };
/* The norm of all gradients, -1 if they overflowed, and what they are multiplied with (see UNSCALE). */
enum { GRADIENT_NORM, FACTOR };

UNUSED static int inside(int position, int extent) {
    return position >= 0 && position < extent;
}

/* A NaN stays one. */
UNUSED static double clamp(double x, double low, double high) {
    return x < low ? low : x > high ? high : x;
}

/* ---- losses --------------------------------------------------------------------------------------- */

/* The operands of a comparison: prediction and target, two tensors of `channels` channels and `size`
 * points, each `stored` or as the loader left it. */
typedef struct {
    const void *at;
    const Layout *layout;
    int staged;
} Operand;

typedef struct {
    Operand p, t;
    int channels;
    int32_t size[3];
} Compared;

/* The amount that an element adds to the sum of a sample, for a loss that may have a number of its own; and
 * the result, from the mean over the sample. */
typedef double Term(double p, double t, double epsilon);
typedef double OfMean(double mean);

UNUSED static double mean_itself(double mean) {
    return mean;
}

UNUSED static double operand(Operand o, int n, int c, int d, int h, int w) {
    return (double)load_either(o.staged, o.at, element(o.layout, n, c, d, h, w));
}

/* The sum over each row of a range, as far as it is valid, into `scratch`, which has all rows of all
 * samples. */
UNUSED static void terms_sum(int n, Rows rows, double *scratch, Compared by, const int32_t (*valid)[3],
                             Term *term, double epsilon) {
#pragma omp for schedule(static)
    for (int i = 0; i < n; i++)
        for (int r = rows.begin; r < rows.end; r++) {
            const int32_t *size = valid ? valid[i] : by.size;
            const int d = r / by.size[1], h = r % by.size[1];
            double sum = 0;
            for (int c = 0; c < by.channels && d < size[0] && h < size[1]; c++)
                for (int w = 0; w < size[2]; w++)
                    sum += term(operand(by.p, i, c, d, h, w), operand(by.t, i, c, d, h, w), epsilon);
            scratch[(long)i * by.size[0] * by.size[1] + r] = sum;
        }
}

/* The mean over sample i, from these: over points, or over the windows that have REACH more points along a
 * row and a column than one; 0 where there is none. */
UNUSED static double mean_of_sample(int i, const double *scratch, Compared by, const int32_t (*valid)[3],
                                    int reach) {
    const int all = by.size[0] * by.size[1];
    const int32_t *size = valid ? valid[i] : by.size;
    double sum = 0;
    for (int r = 0; r < all; r++)
        sum += scratch[(long)i * all + r];
    const int empty = size[1] <= reach || size[2] <= reach;
    return empty ? 0 : sum / ((double)by.channels * size[0] * (size[1] - reach) * (size[2] - reach));
}

/* The result, from these, once the last rows are there. */
UNUSED static void means_sum(int n, Rows rows, double *result, const double *scratch, Compared by,
                             const int32_t (*valid)[3], int reach, OfMean *of_mean, int accumulate) {
    if (rows.begin == rows.end || rows.end < by.size[0] * by.size[1])
        return;
#pragma omp single
    {
        if (!accumulate)
            *result = 0;
        for (int i = 0; i < n; i++)
            *result += of_mean(mean_of_sample(i, scratch, by, valid, reach));
    }
}

/* dp = term, over a range of rows, of `weight` over `total` samples and all elements. */
UNUSED static void terms_store(int n, int total, Rows rows, stored *dp, const Layout *layout, Compared by,
                               double weight, Term *term, double epsilon) {
    const int32_t *size = by.size;
    const double factor = weight / (total * ((double)by.channels * size[0] * size[1] * size[2]));
#pragma omp for collapse(2) schedule(static)
    for (int i = 0; i < n; i++)
        for (int c = 0; c < stored_channels(layout); c++)
            for (int r = rows.begin; r < rows.end; r++)
                for (int w = 0; w < size[2]; w++) {
                    const int d = r / size[1], h = r % size[1];
                    double slope = c < by.channels ? term(operand(by.p, i, c, d, h, w),
                                                          operand(by.t, i, c, d, h, w), epsilon)
                                                   : 0;
                    store(dp, element(layout, i, c, d, h, w), (real)(factor * slope));
                }
}

/* ---- windows -------------------------------------------------------------------------------------- */

/* The position of the window whose tap falls on the point, or -1. */
UNUSED static int window_at(int point, int tap, int stride, int dilation, int padding, int positions) {
    int scaled = point + padding - tap * dilation;
    return scaled >= 0 && scaled % stride == 0 && scaled / stride < positions ? scaled / stride : -1;
}

/* Points of a dense grid belong to positions of the window that slides over it: a position has the points
 * from its first one to the first of the next, and the first and the last also have the points at the ends.
 */
UNUSED static Rows points_of(int position, int positions, int stride, int padding, int extent) {
    const int begin = position * stride - padding;
    return (Rows){position == 0 ? 0 : (int)clamp(begin, 0, extent),
                  position == positions - 1 ? extent : (int)clamp(begin + stride, 0, extent)};
}

#endif
