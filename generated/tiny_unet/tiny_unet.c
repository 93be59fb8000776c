/* tiny_unet.c - tiny_unet
 *
 * Made by unetc from tiny_unet.unet (16d462818c889222) with: --size=64x64 --kernels=reference
 * Do not edit: change the .unet file and compile again. */
#include "tiny_unet.h"

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#if UNET_RUNTIME_VERSION != 1
#error "made for another version of the runtime: compile the .unet file again"
#endif
#define UNET_REAL float

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

#define AT(type, offset) ((type *)(void *)(arena + (offset)))
#define INPUT(type, index, sample) ((const type *)step->inputs[index] + start * (sample))

/* A slice of a region is as long as its last vector. */
UNUSED static void zero_tail(real *p, long used, long stored) {
#pragma omp single nowait
    for (long i = used; i < stored; i++)
        p[i] = 0;
}

/* ---- kernels ---- */

/* conv: enc1.0 of train, enc1.0 of predict */
/* The part of output (co, d, h, w) of sample i that comes through segment s, whose channels start at
 * `first`. */
UNUSED static double k00_conv_segment(const stored *x, const real *w, int i, int s, int first, int co,
                                    const int *o) {
    enum { CI = 3, ID = 1, IH = 64, IW = 64, KD = 1, SD = 1, LD = 1, PD = 0, KH = 3, SH = 1,
           LH = 1, PH = 1, KW = 3, SW = 1, LW = 1, PW = 1 };
    static const Layout X[1] = {{3, 3, 1, 201, 13072, 13068, 13068, 198}};
    double sum = 0;
    for (int c = 0; c < X[s].channels; c++)
        for (int kd = 0; kd < KD; kd++)
            for (int kh = 0; kh < KH; kh++)
                for (int kw = 0; kw < KW; kw++) {
                    int id = o[0] * SD - PD + kd * LD, ih = o[1] * SH - PH + kh * LH,
                        iw = o[2] * SW - PW + kw * LW;
                    long weight = (((co * (long)CI + first + c) * KD + kd) * KH + kh) * KW + kw;
                    if (inside(id, ID) && inside(ih, IH) && inside(iw, IW))
                        sum +=
                            (double)load(x, element(&X[s], i, c, id, ih, iw)) * (double)rounded(w[weight]);
                }
    return sum;
}

UNUSED static double k00_conv_point(const stored *const *x, const real *w, const real *b, int i, int co,
                                  const int *o) {
    enum { BIAS = 1, RELU = 1, SEGMENTS = 1 };
    static const Layout X[1] = {{3, 3, 1, 201, 13072, 13068, 13068, 198}};
    double sum = BIAS ? (double)b[co] : 0;
    for (int s = 0, first = 0; s < SEGMENTS; first += X[s].channels, s++)
        sum += k00_conv_segment(x[s], w, i, s, first, co, o);
    return RELU && sum < 0 ? 0 : sum;
}

UNUSED static void k00_conv(int n, stored *y, const stored *const *x, const real *w, const real *b) {
    enum { CO = 16, D = 1, H = 64, W = 64 };
    static const Layout Y = {16, 16, 1, 1072, 69696, 69696, 69696, 1056};
#pragma omp for collapse(2) schedule(static)
    for (int i = 0; i < n; i++)
        for (int co = 0; co < stored_channels(&Y); co++)
            for (int d = 0; d < D; d++)
                for (int h = 0; h < H; h++)
                    for (int p = 0; p < W; p++)
                        store(y, element(&Y, i, co, d, h, p),
                              co < CO ? (real)k00_conv_point(x, w, b, i, co, (const int[]){d, h, p}) : 0);
}

/* zero_halo: enc1.0 of train, enc1.2 of train, up1 of train, 8 more */
/* Rows of points lie in ascending order; what is not a row is halo. */
UNUSED static void k01_zero_halo(int n, stored *y) {
    enum { D = 1, H = 64, W = 64 };
    static const Layout Y = {16, 16, 1, 1072, 69696, 69696, 69696, 1056};
#pragma omp for schedule(static)
    for (int i = 0; i < n; i++) {
        long end_of_row = i * Y.sample;
        for (int c = 0; c < stored_channels(&Y); c += Y.block)
            for (int d = 0; d < D; d++)
                for (int h = 0; h < H; h++) {
                    for (long at = end_of_row; at < element(&Y, i, c, d, h, 0); at++)
                        store(y, at, 0);
                    end_of_row = element(&Y, i, c, d, h, W);
                }
        for (long at = end_of_row; at < (i + 1) * Y.sample; at++)
            store(y, at, 0);
    }
}

/* conv: enc1.2 of train, enc1.2 of predict */
/* The part of output (co, d, h, w) of sample i that comes through segment s, whose channels start at
 * `first`. */
UNUSED static double k02_conv_segment(const stored *x, const real *w, int i, int s, int first, int co,
                                    const int *o) {
    enum { CI = 16, ID = 1, IH = 64, IW = 64, KD = 1, SD = 1, LD = 1, PD = 0, KH = 3, SH = 1,
           LH = 1, PH = 1, KW = 3, SW = 1, LW = 1, PW = 1 };
    static const Layout X[1] = {{16, 16, 1, 1072, 69696, 69696, 69696, 1056}};
    double sum = 0;
    for (int c = 0; c < X[s].channels; c++)
        for (int kd = 0; kd < KD; kd++)
            for (int kh = 0; kh < KH; kh++)
                for (int kw = 0; kw < KW; kw++) {
                    int id = o[0] * SD - PD + kd * LD, ih = o[1] * SH - PH + kh * LH,
                        iw = o[2] * SW - PW + kw * LW;
                    long weight = (((co * (long)CI + first + c) * KD + kd) * KH + kh) * KW + kw;
                    if (inside(id, ID) && inside(ih, IH) && inside(iw, IW))
                        sum +=
                            (double)load(x, element(&X[s], i, c, id, ih, iw)) * (double)rounded(w[weight]);
                }
    return sum;
}

UNUSED static double k02_conv_point(const stored *const *x, const real *w, const real *b, int i, int co,
                                  const int *o) {
    enum { BIAS = 1, RELU = 1, SEGMENTS = 1 };
    static const Layout X[1] = {{16, 16, 1, 1072, 69696, 69696, 69696, 1056}};
    double sum = BIAS ? (double)b[co] : 0;
    for (int s = 0, first = 0; s < SEGMENTS; first += X[s].channels, s++)
        sum += k02_conv_segment(x[s], w, i, s, first, co, o);
    return RELU && sum < 0 ? 0 : sum;
}

UNUSED static void k02_conv(int n, stored *y, const stored *const *x, const real *w, const real *b) {
    enum { CO = 16, D = 1, H = 64, W = 64 };
    static const Layout Y = {16, 16, 1, 1072, 69696, 69696, 69696, 1056};
#pragma omp for collapse(2) schedule(static)
    for (int i = 0; i < n; i++)
        for (int co = 0; co < stored_channels(&Y); co++)
            for (int d = 0; d < D; d++)
                for (int h = 0; h < H; h++)
                    for (int p = 0; p < W; p++)
                        store(y, element(&Y, i, co, d, h, p),
                              co < CO ? (real)k02_conv_point(x, w, b, i, co, (const int[]){d, h, p}) : 0);
}

/* max_pool: enc2.max_pool of train, enc2.max_pool of predict */
UNUSED static real k03_max_pool_point(const stored *x, int i, int c, int d, int h, int p) {
    enum { ID = 1, IH = 64, IW = 64, KD = 1, SD = 1, PD = 0, KH = 2, SH = 2, PH = 0, KW = 2,
           SW = 2, PW = 0 };
    static const Layout X = {16, 16, 1, 1072, 69696, 69696, 69696, 1056};
    real most = (real)-INFINITY;
    for (int kd = 0; kd < KD; kd++)
        for (int kh = 0; kh < KH; kh++)
            for (int kw = 0; kw < KW; kw++) {
                int id = d * SD - PD + kd, ih = h * SH - PH + kh, iw = p * SW - PW + kw;
                if (inside(id, ID) && inside(ih, IH) && inside(iw, IW)) {
                    real v = load(x, element(&X, i, c, id, ih, iw));
                    if (v > most || v != v)
                        most = v;
                }
            }
    return most;
}

UNUSED static void k03_max_pool(int n, stored *y, const stored *x) {
    enum { C = 16, D = 1, H = 32, W = 32 };
    static const Layout Y = {16, 16, 1, 560, 18496, 18496, 18496, 544};
#pragma omp for collapse(2) schedule(static)
    for (int i = 0; i < n; i++)
        for (int c = 0; c < stored_channels(&Y); c++)
            for (int d = 0; d < D; d++)
                for (int h = 0; h < H; h++)
                    for (int p = 0; p < W; p++)
                        store(y, element(&Y, i, c, d, h, p), c < C ? k03_max_pool_point(x, i, c, d, h, p) : 0);
}

/* zero_halo: enc2.max_pool of train, enc2.max_pool of predict */
/* Rows of points lie in ascending order; what is not a row is halo. */
UNUSED static void k04_zero_halo(int n, stored *y) {
    enum { D = 1, H = 32, W = 32 };
    static const Layout Y = {16, 16, 1, 560, 18496, 18496, 18496, 544};
#pragma omp for schedule(static)
    for (int i = 0; i < n; i++) {
        long end_of_row = i * Y.sample;
        for (int c = 0; c < stored_channels(&Y); c += Y.block)
            for (int d = 0; d < D; d++)
                for (int h = 0; h < H; h++) {
                    for (long at = end_of_row; at < element(&Y, i, c, d, h, 0); at++)
                        store(y, at, 0);
                    end_of_row = element(&Y, i, c, d, h, W);
                }
        for (long at = end_of_row; at < (i + 1) * Y.sample; at++)
            store(y, at, 0);
    }
}

/* conv: enc2.0 of train, enc2.0 of predict */
/* The part of output (co, d, h, w) of sample i that comes through segment s, whose channels start at
 * `first`. */
UNUSED static double k05_conv_segment(const stored *x, const real *w, int i, int s, int first, int co,
                                    const int *o) {
    enum { CI = 16, ID = 1, IH = 32, IW = 32, KD = 1, SD = 1, LD = 1, PD = 0, KH = 3, SH = 1,
           LH = 1, PH = 1, KW = 3, SW = 1, LW = 1, PW = 1 };
    static const Layout X[1] = {{16, 16, 1, 560, 18496, 18496, 18496, 544}};
    double sum = 0;
    for (int c = 0; c < X[s].channels; c++)
        for (int kd = 0; kd < KD; kd++)
            for (int kh = 0; kh < KH; kh++)
                for (int kw = 0; kw < KW; kw++) {
                    int id = o[0] * SD - PD + kd * LD, ih = o[1] * SH - PH + kh * LH,
                        iw = o[2] * SW - PW + kw * LW;
                    long weight = (((co * (long)CI + first + c) * KD + kd) * KH + kh) * KW + kw;
                    if (inside(id, ID) && inside(ih, IH) && inside(iw, IW))
                        sum +=
                            (double)load(x, element(&X[s], i, c, id, ih, iw)) * (double)rounded(w[weight]);
                }
    return sum;
}

UNUSED static double k05_conv_point(const stored *const *x, const real *w, const real *b, int i, int co,
                                  const int *o) {
    enum { BIAS = 1, RELU = 1, SEGMENTS = 1 };
    static const Layout X[1] = {{16, 16, 1, 560, 18496, 18496, 18496, 544}};
    double sum = BIAS ? (double)b[co] : 0;
    for (int s = 0, first = 0; s < SEGMENTS; first += X[s].channels, s++)
        sum += k05_conv_segment(x[s], w, i, s, first, co, o);
    return RELU && sum < 0 ? 0 : sum;
}

UNUSED static void k05_conv(int n, stored *y, const stored *const *x, const real *w, const real *b) {
    enum { CO = 32, D = 1, H = 32, W = 32 };
    static const Layout Y = {32, 16, 2, 560, 36992, 18496, 18496, 544};
#pragma omp for collapse(2) schedule(static)
    for (int i = 0; i < n; i++)
        for (int co = 0; co < stored_channels(&Y); co++)
            for (int d = 0; d < D; d++)
                for (int h = 0; h < H; h++)
                    for (int p = 0; p < W; p++)
                        store(y, element(&Y, i, co, d, h, p),
                              co < CO ? (real)k05_conv_point(x, w, b, i, co, (const int[]){d, h, p}) : 0);
}

/* zero_halo: enc2.0 of train, enc2.2 of train, up2 of train, 9 more */
/* Rows of points lie in ascending order; what is not a row is halo. */
UNUSED static void k06_zero_halo(int n, stored *y) {
    enum { D = 1, H = 32, W = 32 };
    static const Layout Y = {32, 16, 2, 560, 36992, 18496, 18496, 544};
#pragma omp for schedule(static)
    for (int i = 0; i < n; i++) {
        long end_of_row = i * Y.sample;
        for (int c = 0; c < stored_channels(&Y); c += Y.block)
            for (int d = 0; d < D; d++)
                for (int h = 0; h < H; h++) {
                    for (long at = end_of_row; at < element(&Y, i, c, d, h, 0); at++)
                        store(y, at, 0);
                    end_of_row = element(&Y, i, c, d, h, W);
                }
        for (long at = end_of_row; at < (i + 1) * Y.sample; at++)
            store(y, at, 0);
    }
}

/* conv: enc2.2 of train, enc2.2 of predict */
/* The part of output (co, d, h, w) of sample i that comes through segment s, whose channels start at
 * `first`. */
UNUSED static double k07_conv_segment(const stored *x, const real *w, int i, int s, int first, int co,
                                    const int *o) {
    enum { CI = 32, ID = 1, IH = 32, IW = 32, KD = 1, SD = 1, LD = 1, PD = 0, KH = 3, SH = 1,
           LH = 1, PH = 1, KW = 3, SW = 1, LW = 1, PW = 1 };
    static const Layout X[1] = {{32, 16, 2, 560, 36992, 18496, 18496, 544}};
    double sum = 0;
    for (int c = 0; c < X[s].channels; c++)
        for (int kd = 0; kd < KD; kd++)
            for (int kh = 0; kh < KH; kh++)
                for (int kw = 0; kw < KW; kw++) {
                    int id = o[0] * SD - PD + kd * LD, ih = o[1] * SH - PH + kh * LH,
                        iw = o[2] * SW - PW + kw * LW;
                    long weight = (((co * (long)CI + first + c) * KD + kd) * KH + kh) * KW + kw;
                    if (inside(id, ID) && inside(ih, IH) && inside(iw, IW))
                        sum +=
                            (double)load(x, element(&X[s], i, c, id, ih, iw)) * (double)rounded(w[weight]);
                }
    return sum;
}

UNUSED static double k07_conv_point(const stored *const *x, const real *w, const real *b, int i, int co,
                                  const int *o) {
    enum { BIAS = 1, RELU = 1, SEGMENTS = 1 };
    static const Layout X[1] = {{32, 16, 2, 560, 36992, 18496, 18496, 544}};
    double sum = BIAS ? (double)b[co] : 0;
    for (int s = 0, first = 0; s < SEGMENTS; first += X[s].channels, s++)
        sum += k07_conv_segment(x[s], w, i, s, first, co, o);
    return RELU && sum < 0 ? 0 : sum;
}

UNUSED static void k07_conv(int n, stored *y, const stored *const *x, const real *w, const real *b) {
    enum { CO = 32, D = 1, H = 32, W = 32 };
    static const Layout Y = {32, 16, 2, 560, 36992, 18496, 18496, 544};
#pragma omp for collapse(2) schedule(static)
    for (int i = 0; i < n; i++)
        for (int co = 0; co < stored_channels(&Y); co++)
            for (int d = 0; d < D; d++)
                for (int h = 0; h < H; h++)
                    for (int p = 0; p < W; p++)
                        store(y, element(&Y, i, co, d, h, p),
                              co < CO ? (real)k07_conv_point(x, w, b, i, co, (const int[]){d, h, p}) : 0);
}

/* max_pool: enc3.max_pool of train, enc3.max_pool of predict */
UNUSED static real k08_max_pool_point(const stored *x, int i, int c, int d, int h, int p) {
    enum { ID = 1, IH = 32, IW = 32, KD = 1, SD = 1, PD = 0, KH = 2, SH = 2, PH = 0, KW = 2,
           SW = 2, PW = 0 };
    static const Layout X = {32, 16, 2, 560, 36992, 18496, 18496, 544};
    real most = (real)-INFINITY;
    for (int kd = 0; kd < KD; kd++)
        for (int kh = 0; kh < KH; kh++)
            for (int kw = 0; kw < KW; kw++) {
                int id = d * SD - PD + kd, ih = h * SH - PH + kh, iw = p * SW - PW + kw;
                if (inside(id, ID) && inside(ih, IH) && inside(iw, IW)) {
                    real v = load(x, element(&X, i, c, id, ih, iw));
                    if (v > most || v != v)
                        most = v;
                }
            }
    return most;
}

UNUSED static void k08_max_pool(int n, stored *y, const stored *x) {
    enum { C = 32, D = 1, H = 16, W = 16 };
    static const Layout Y = {32, 16, 2, 304, 10368, 5184, 5184, 288};
#pragma omp for collapse(2) schedule(static)
    for (int i = 0; i < n; i++)
        for (int c = 0; c < stored_channels(&Y); c++)
            for (int d = 0; d < D; d++)
                for (int h = 0; h < H; h++)
                    for (int p = 0; p < W; p++)
                        store(y, element(&Y, i, c, d, h, p), c < C ? k08_max_pool_point(x, i, c, d, h, p) : 0);
}

/* zero_halo: enc3.max_pool of train, enc3.max_pool of predict */
/* Rows of points lie in ascending order; what is not a row is halo. */
UNUSED static void k09_zero_halo(int n, stored *y) {
    enum { D = 1, H = 16, W = 16 };
    static const Layout Y = {32, 16, 2, 304, 10368, 5184, 5184, 288};
#pragma omp for schedule(static)
    for (int i = 0; i < n; i++) {
        long end_of_row = i * Y.sample;
        for (int c = 0; c < stored_channels(&Y); c += Y.block)
            for (int d = 0; d < D; d++)
                for (int h = 0; h < H; h++) {
                    for (long at = end_of_row; at < element(&Y, i, c, d, h, 0); at++)
                        store(y, at, 0);
                    end_of_row = element(&Y, i, c, d, h, W);
                }
        for (long at = end_of_row; at < (i + 1) * Y.sample; at++)
            store(y, at, 0);
    }
}

/* conv: enc3.0 of train, enc3.0 of predict */
/* The part of output (co, d, h, w) of sample i that comes through segment s, whose channels start at
 * `first`. */
UNUSED static double k10_conv_segment(const stored *x, const real *w, int i, int s, int first, int co,
                                    const int *o) {
    enum { CI = 32, ID = 1, IH = 16, IW = 16, KD = 1, SD = 1, LD = 1, PD = 0, KH = 3, SH = 1,
           LH = 1, PH = 1, KW = 3, SW = 1, LW = 1, PW = 1 };
    static const Layout X[1] = {{32, 16, 2, 304, 10368, 5184, 5184, 288}};
    double sum = 0;
    for (int c = 0; c < X[s].channels; c++)
        for (int kd = 0; kd < KD; kd++)
            for (int kh = 0; kh < KH; kh++)
                for (int kw = 0; kw < KW; kw++) {
                    int id = o[0] * SD - PD + kd * LD, ih = o[1] * SH - PH + kh * LH,
                        iw = o[2] * SW - PW + kw * LW;
                    long weight = (((co * (long)CI + first + c) * KD + kd) * KH + kh) * KW + kw;
                    if (inside(id, ID) && inside(ih, IH) && inside(iw, IW))
                        sum +=
                            (double)load(x, element(&X[s], i, c, id, ih, iw)) * (double)rounded(w[weight]);
                }
    return sum;
}

UNUSED static double k10_conv_point(const stored *const *x, const real *w, const real *b, int i, int co,
                                  const int *o) {
    enum { BIAS = 1, RELU = 1, SEGMENTS = 1 };
    static const Layout X[1] = {{32, 16, 2, 304, 10368, 5184, 5184, 288}};
    double sum = BIAS ? (double)b[co] : 0;
    for (int s = 0, first = 0; s < SEGMENTS; first += X[s].channels, s++)
        sum += k10_conv_segment(x[s], w, i, s, first, co, o);
    return RELU && sum < 0 ? 0 : sum;
}

UNUSED static void k10_conv(int n, stored *y, const stored *const *x, const real *w, const real *b) {
    enum { CO = 64, D = 1, H = 16, W = 16 };
    static const Layout Y = {64, 16, 4, 304, 20736, 5184, 5184, 288};
#pragma omp for collapse(2) schedule(static)
    for (int i = 0; i < n; i++)
        for (int co = 0; co < stored_channels(&Y); co++)
            for (int d = 0; d < D; d++)
                for (int h = 0; h < H; h++)
                    for (int p = 0; p < W; p++)
                        store(y, element(&Y, i, co, d, h, p),
                              co < CO ? (real)k10_conv_point(x, w, b, i, co, (const int[]){d, h, p}) : 0);
}

/* zero_halo: enc3.0 of train, enc3.2 of train, up3 of train, 9 more */
/* Rows of points lie in ascending order; what is not a row is halo. */
UNUSED static void k11_zero_halo(int n, stored *y) {
    enum { D = 1, H = 16, W = 16 };
    static const Layout Y = {64, 16, 4, 304, 20736, 5184, 5184, 288};
#pragma omp for schedule(static)
    for (int i = 0; i < n; i++) {
        long end_of_row = i * Y.sample;
        for (int c = 0; c < stored_channels(&Y); c += Y.block)
            for (int d = 0; d < D; d++)
                for (int h = 0; h < H; h++) {
                    for (long at = end_of_row; at < element(&Y, i, c, d, h, 0); at++)
                        store(y, at, 0);
                    end_of_row = element(&Y, i, c, d, h, W);
                }
        for (long at = end_of_row; at < (i + 1) * Y.sample; at++)
            store(y, at, 0);
    }
}

/* conv: enc3.2 of train, enc3.2 of predict */
/* The part of output (co, d, h, w) of sample i that comes through segment s, whose channels start at
 * `first`. */
UNUSED static double k12_conv_segment(const stored *x, const real *w, int i, int s, int first, int co,
                                    const int *o) {
    enum { CI = 64, ID = 1, IH = 16, IW = 16, KD = 1, SD = 1, LD = 1, PD = 0, KH = 3, SH = 1,
           LH = 1, PH = 1, KW = 3, SW = 1, LW = 1, PW = 1 };
    static const Layout X[1] = {{64, 16, 4, 304, 20736, 5184, 5184, 288}};
    double sum = 0;
    for (int c = 0; c < X[s].channels; c++)
        for (int kd = 0; kd < KD; kd++)
            for (int kh = 0; kh < KH; kh++)
                for (int kw = 0; kw < KW; kw++) {
                    int id = o[0] * SD - PD + kd * LD, ih = o[1] * SH - PH + kh * LH,
                        iw = o[2] * SW - PW + kw * LW;
                    long weight = (((co * (long)CI + first + c) * KD + kd) * KH + kh) * KW + kw;
                    if (inside(id, ID) && inside(ih, IH) && inside(iw, IW))
                        sum +=
                            (double)load(x, element(&X[s], i, c, id, ih, iw)) * (double)rounded(w[weight]);
                }
    return sum;
}

UNUSED static double k12_conv_point(const stored *const *x, const real *w, const real *b, int i, int co,
                                  const int *o) {
    enum { BIAS = 1, RELU = 1, SEGMENTS = 1 };
    static const Layout X[1] = {{64, 16, 4, 304, 20736, 5184, 5184, 288}};
    double sum = BIAS ? (double)b[co] : 0;
    for (int s = 0, first = 0; s < SEGMENTS; first += X[s].channels, s++)
        sum += k12_conv_segment(x[s], w, i, s, first, co, o);
    return RELU && sum < 0 ? 0 : sum;
}

UNUSED static void k12_conv(int n, stored *y, const stored *const *x, const real *w, const real *b) {
    enum { CO = 64, D = 1, H = 16, W = 16 };
    static const Layout Y = {64, 16, 4, 304, 20736, 5184, 5184, 288};
#pragma omp for collapse(2) schedule(static)
    for (int i = 0; i < n; i++)
        for (int co = 0; co < stored_channels(&Y); co++)
            for (int d = 0; d < D; d++)
                for (int h = 0; h < H; h++)
                    for (int p = 0; p < W; p++)
                        store(y, element(&Y, i, co, d, h, p),
                              co < CO ? (real)k12_conv_point(x, w, b, i, co, (const int[]){d, h, p}) : 0);
}

/* max_pool: bottleneck.max_pool of train, bottleneck.max_pool of predict */
UNUSED static real k13_max_pool_point(const stored *x, int i, int c, int d, int h, int p) {
    enum { ID = 1, IH = 16, IW = 16, KD = 1, SD = 1, PD = 0, KH = 2, SH = 2, PH = 0, KW = 2,
           SW = 2, PW = 0 };
    static const Layout X = {64, 16, 4, 304, 20736, 5184, 5184, 288};
    real most = (real)-INFINITY;
    for (int kd = 0; kd < KD; kd++)
        for (int kh = 0; kh < KH; kh++)
            for (int kw = 0; kw < KW; kw++) {
                int id = d * SD - PD + kd, ih = h * SH - PH + kh, iw = p * SW - PW + kw;
                if (inside(id, ID) && inside(ih, IH) && inside(iw, IW)) {
                    real v = load(x, element(&X, i, c, id, ih, iw));
                    if (v > most || v != v)
                        most = v;
                }
            }
    return most;
}

UNUSED static void k13_max_pool(int n, stored *y, const stored *x) {
    enum { C = 64, D = 1, H = 8, W = 8 };
    static const Layout Y = {64, 16, 4, 176, 6400, 1600, 1600, 160};
#pragma omp for collapse(2) schedule(static)
    for (int i = 0; i < n; i++)
        for (int c = 0; c < stored_channels(&Y); c++)
            for (int d = 0; d < D; d++)
                for (int h = 0; h < H; h++)
                    for (int p = 0; p < W; p++)
                        store(y, element(&Y, i, c, d, h, p), c < C ? k13_max_pool_point(x, i, c, d, h, p) : 0);
}

/* zero_halo: bottleneck.max_pool of train, bottleneck.max_pool of predict */
/* Rows of points lie in ascending order; what is not a row is halo. */
UNUSED static void k14_zero_halo(int n, stored *y) {
    enum { D = 1, H = 8, W = 8 };
    static const Layout Y = {64, 16, 4, 176, 6400, 1600, 1600, 160};
#pragma omp for schedule(static)
    for (int i = 0; i < n; i++) {
        long end_of_row = i * Y.sample;
        for (int c = 0; c < stored_channels(&Y); c += Y.block)
            for (int d = 0; d < D; d++)
                for (int h = 0; h < H; h++) {
                    for (long at = end_of_row; at < element(&Y, i, c, d, h, 0); at++)
                        store(y, at, 0);
                    end_of_row = element(&Y, i, c, d, h, W);
                }
        for (long at = end_of_row; at < (i + 1) * Y.sample; at++)
            store(y, at, 0);
    }
}

/* conv: bottleneck.0 of train, bottleneck.0 of predict */
/* The part of output (co, d, h, w) of sample i that comes through segment s, whose channels start at
 * `first`. */
UNUSED static double k15_conv_segment(const stored *x, const real *w, int i, int s, int first, int co,
                                    const int *o) {
    enum { CI = 64, ID = 1, IH = 8, IW = 8, KD = 1, SD = 1, LD = 1, PD = 0, KH = 3, SH = 1, LH = 1,
           PH = 1, KW = 3, SW = 1, LW = 1, PW = 1 };
    static const Layout X[1] = {{64, 16, 4, 176, 6400, 1600, 1600, 160}};
    double sum = 0;
    for (int c = 0; c < X[s].channels; c++)
        for (int kd = 0; kd < KD; kd++)
            for (int kh = 0; kh < KH; kh++)
                for (int kw = 0; kw < KW; kw++) {
                    int id = o[0] * SD - PD + kd * LD, ih = o[1] * SH - PH + kh * LH,
                        iw = o[2] * SW - PW + kw * LW;
                    long weight = (((co * (long)CI + first + c) * KD + kd) * KH + kh) * KW + kw;
                    if (inside(id, ID) && inside(ih, IH) && inside(iw, IW))
                        sum +=
                            (double)load(x, element(&X[s], i, c, id, ih, iw)) * (double)rounded(w[weight]);
                }
    return sum;
}

UNUSED static double k15_conv_point(const stored *const *x, const real *w, const real *b, int i, int co,
                                  const int *o) {
    enum { BIAS = 1, RELU = 1, SEGMENTS = 1 };
    static const Layout X[1] = {{64, 16, 4, 176, 6400, 1600, 1600, 160}};
    double sum = BIAS ? (double)b[co] : 0;
    for (int s = 0, first = 0; s < SEGMENTS; first += X[s].channels, s++)
        sum += k15_conv_segment(x[s], w, i, s, first, co, o);
    return RELU && sum < 0 ? 0 : sum;
}

UNUSED static void k15_conv(int n, stored *y, const stored *const *x, const real *w, const real *b) {
    enum { CO = 128, D = 1, H = 8, W = 8 };
    static const Layout Y = {128, 16, 8, 176, 12800, 1600, 1600, 160};
#pragma omp for collapse(2) schedule(static)
    for (int i = 0; i < n; i++)
        for (int co = 0; co < stored_channels(&Y); co++)
            for (int d = 0; d < D; d++)
                for (int h = 0; h < H; h++)
                    for (int p = 0; p < W; p++)
                        store(y, element(&Y, i, co, d, h, p),
                              co < CO ? (real)k15_conv_point(x, w, b, i, co, (const int[]){d, h, p}) : 0);
}

/* zero_halo: bottleneck.0 of train, up3 of train, bottleneck.2 of train, 1 more */
/* Rows of points lie in ascending order; what is not a row is halo. */
UNUSED static void k16_zero_halo(int n, stored *y) {
    enum { D = 1, H = 8, W = 8 };
    static const Layout Y = {128, 16, 8, 176, 12800, 1600, 1600, 160};
#pragma omp for schedule(static)
    for (int i = 0; i < n; i++) {
        long end_of_row = i * Y.sample;
        for (int c = 0; c < stored_channels(&Y); c += Y.block)
            for (int d = 0; d < D; d++)
                for (int h = 0; h < H; h++) {
                    for (long at = end_of_row; at < element(&Y, i, c, d, h, 0); at++)
                        store(y, at, 0);
                    end_of_row = element(&Y, i, c, d, h, W);
                }
        for (long at = end_of_row; at < (i + 1) * Y.sample; at++)
            store(y, at, 0);
    }
}

/* conv: bottleneck.2 of train, bottleneck.2 of predict */
/* The part of output (co, d, h, w) of sample i that comes through segment s, whose channels start at
 * `first`. */
UNUSED static double k17_conv_segment(const stored *x, const real *w, int i, int s, int first, int co,
                                    const int *o) {
    enum { CI = 128, ID = 1, IH = 8, IW = 8, KD = 1, SD = 1, LD = 1, PD = 0, KH = 3, SH = 1,
           LH = 1, PH = 1, KW = 3, SW = 1, LW = 1, PW = 1 };
    static const Layout X[1] = {{128, 16, 8, 176, 12800, 1600, 1600, 160}};
    double sum = 0;
    for (int c = 0; c < X[s].channels; c++)
        for (int kd = 0; kd < KD; kd++)
            for (int kh = 0; kh < KH; kh++)
                for (int kw = 0; kw < KW; kw++) {
                    int id = o[0] * SD - PD + kd * LD, ih = o[1] * SH - PH + kh * LH,
                        iw = o[2] * SW - PW + kw * LW;
                    long weight = (((co * (long)CI + first + c) * KD + kd) * KH + kh) * KW + kw;
                    if (inside(id, ID) && inside(ih, IH) && inside(iw, IW))
                        sum +=
                            (double)load(x, element(&X[s], i, c, id, ih, iw)) * (double)rounded(w[weight]);
                }
    return sum;
}

UNUSED static double k17_conv_point(const stored *const *x, const real *w, const real *b, int i, int co,
                                  const int *o) {
    enum { BIAS = 1, RELU = 1, SEGMENTS = 1 };
    static const Layout X[1] = {{128, 16, 8, 176, 12800, 1600, 1600, 160}};
    double sum = BIAS ? (double)b[co] : 0;
    for (int s = 0, first = 0; s < SEGMENTS; first += X[s].channels, s++)
        sum += k17_conv_segment(x[s], w, i, s, first, co, o);
    return RELU && sum < 0 ? 0 : sum;
}

UNUSED static void k17_conv(int n, stored *y, const stored *const *x, const real *w, const real *b) {
    enum { CO = 128, D = 1, H = 8, W = 8 };
    static const Layout Y = {128, 16, 8, 0, 8192, 1024, 1024, 128};
#pragma omp for collapse(2) schedule(static)
    for (int i = 0; i < n; i++)
        for (int co = 0; co < stored_channels(&Y); co++)
            for (int d = 0; d < D; d++)
                for (int h = 0; h < H; h++)
                    for (int p = 0; p < W; p++)
                        store(y, element(&Y, i, co, d, h, p),
                              co < CO ? (real)k17_conv_point(x, w, b, i, co, (const int[]){d, h, p}) : 0);
}

/* upconv: up3 of train, up3 of predict */
/* The part of output (co, o) of sample i that comes through segment s, whose channels start at `first`. */
UNUSED static double k18_upconv_segment(const stored *x, const real *w, int i, int s, int first, int co,
                                    const int *o) {
    enum { CO = 64, ID = 1, IH = 8, IW = 8, KD = 1, SD = 1, LD = 1, PD = 0, KH = 2, SH = 2, LH = 1,
           PH = 0, KW = 2, SW = 2, LW = 1, PW = 0 };
    static const Layout X[1] = {{128, 16, 8, 0, 8192, 1024, 1024, 128}};
    double sum = 0;
    for (int c = 0; c < X[s].channels; c++)
        for (int kd = 0; kd < KD; kd++)
            for (int kh = 0; kh < KH; kh++)
                for (int kw = 0; kw < KW; kw++) {
                    int d = window_at(o[0], kd, SD, LD, PD, ID), h = window_at(o[1], kh, SH, LH, PH, IH);
                    int v = window_at(o[2], kw, SW, LW, PW, IW);
                    long weight = ((((first + c) * (long)CO + co) * KD + kd) * KH + kh) * KW + kw;
                    if (d >= 0 && h >= 0 && v >= 0)
                        sum += (double)load(x, element(&X[s], i, c, d, h, v)) * (double)rounded(w[weight]);
                }
    return sum;
}

UNUSED static double k18_upconv_point(const stored *const *x, const real *w, const real *b, int i, int co,
                                  const int *o) {
    enum { BIAS = 1, RELU = 0, SEGMENTS = 1 };
    static const Layout X[1] = {{128, 16, 8, 0, 8192, 1024, 1024, 128}};
    double sum = BIAS ? (double)b[co] : 0;
    for (int s = 0, first = 0; s < SEGMENTS; first += X[s].channels, s++)
        sum += k18_upconv_segment(x[s], w, i, s, first, co, o);
    return RELU && sum < 0 ? 0 : sum;
}

UNUSED static void k18_upconv(int n, stored *y, const stored *const *x, const real *w, const real *b) {
    enum { CO = 64, D = 1, H = 16, W = 16 };
    static const Layout Y = {64, 16, 4, 304, 20736, 5184, 5184, 288};
#pragma omp for collapse(2) schedule(static)
    for (int i = 0; i < n; i++)
        for (int co = 0; co < stored_channels(&Y); co++)
            for (int d = 0; d < D; d++)
                for (int h = 0; h < H; h++)
                    for (int p = 0; p < W; p++)
                        store(y, element(&Y, i, co, d, h, p),
                              co < CO ? (real)k18_upconv_point(x, w, b, i, co, (const int[]){d, h, p}) : 0);
}

/* conv: dec3.0 of train, dec3.0 of predict */
/* The part of output (co, d, h, w) of sample i that comes through segment s, whose channels start at
 * `first`. */
UNUSED static double k19_conv_segment(const stored *x, const real *w, int i, int s, int first, int co,
                                    const int *o) {
    enum { CI = 128, ID = 1, IH = 16, IW = 16, KD = 1, SD = 1, LD = 1, PD = 0, KH = 3, SH = 1,
           LH = 1, PH = 1, KW = 3, SW = 1, LW = 1, PW = 1 };
    static const Layout X[2] = {{64, 16, 4, 304, 20736, 5184, 5184, 288}, {64, 16, 4, 304, 20736, 5184, 5184, 288}};
    double sum = 0;
    for (int c = 0; c < X[s].channels; c++)
        for (int kd = 0; kd < KD; kd++)
            for (int kh = 0; kh < KH; kh++)
                for (int kw = 0; kw < KW; kw++) {
                    int id = o[0] * SD - PD + kd * LD, ih = o[1] * SH - PH + kh * LH,
                        iw = o[2] * SW - PW + kw * LW;
                    long weight = (((co * (long)CI + first + c) * KD + kd) * KH + kh) * KW + kw;
                    if (inside(id, ID) && inside(ih, IH) && inside(iw, IW))
                        sum +=
                            (double)load(x, element(&X[s], i, c, id, ih, iw)) * (double)rounded(w[weight]);
                }
    return sum;
}

UNUSED static double k19_conv_point(const stored *const *x, const real *w, const real *b, int i, int co,
                                  const int *o) {
    enum { BIAS = 1, RELU = 1, SEGMENTS = 2 };
    static const Layout X[2] = {{64, 16, 4, 304, 20736, 5184, 5184, 288}, {64, 16, 4, 304, 20736, 5184, 5184, 288}};
    double sum = BIAS ? (double)b[co] : 0;
    for (int s = 0, first = 0; s < SEGMENTS; first += X[s].channels, s++)
        sum += k19_conv_segment(x[s], w, i, s, first, co, o);
    return RELU && sum < 0 ? 0 : sum;
}

UNUSED static void k19_conv(int n, stored *y, const stored *const *x, const real *w, const real *b) {
    enum { CO = 64, D = 1, H = 16, W = 16 };
    static const Layout Y = {64, 16, 4, 304, 20736, 5184, 5184, 288};
#pragma omp for collapse(2) schedule(static)
    for (int i = 0; i < n; i++)
        for (int co = 0; co < stored_channels(&Y); co++)
            for (int d = 0; d < D; d++)
                for (int h = 0; h < H; h++)
                    for (int p = 0; p < W; p++)
                        store(y, element(&Y, i, co, d, h, p),
                              co < CO ? (real)k19_conv_point(x, w, b, i, co, (const int[]){d, h, p}) : 0);
}

/* conv: dec3.2 of train, dec3.2 of predict */
/* The part of output (co, d, h, w) of sample i that comes through segment s, whose channels start at
 * `first`. */
UNUSED static double k20_conv_segment(const stored *x, const real *w, int i, int s, int first, int co,
                                    const int *o) {
    enum { CI = 64, ID = 1, IH = 16, IW = 16, KD = 1, SD = 1, LD = 1, PD = 0, KH = 3, SH = 1,
           LH = 1, PH = 1, KW = 3, SW = 1, LW = 1, PW = 1 };
    static const Layout X[1] = {{64, 16, 4, 304, 20736, 5184, 5184, 288}};
    double sum = 0;
    for (int c = 0; c < X[s].channels; c++)
        for (int kd = 0; kd < KD; kd++)
            for (int kh = 0; kh < KH; kh++)
                for (int kw = 0; kw < KW; kw++) {
                    int id = o[0] * SD - PD + kd * LD, ih = o[1] * SH - PH + kh * LH,
                        iw = o[2] * SW - PW + kw * LW;
                    long weight = (((co * (long)CI + first + c) * KD + kd) * KH + kh) * KW + kw;
                    if (inside(id, ID) && inside(ih, IH) && inside(iw, IW))
                        sum +=
                            (double)load(x, element(&X[s], i, c, id, ih, iw)) * (double)rounded(w[weight]);
                }
    return sum;
}

UNUSED static double k20_conv_point(const stored *const *x, const real *w, const real *b, int i, int co,
                                  const int *o) {
    enum { BIAS = 1, RELU = 1, SEGMENTS = 1 };
    static const Layout X[1] = {{64, 16, 4, 304, 20736, 5184, 5184, 288}};
    double sum = BIAS ? (double)b[co] : 0;
    for (int s = 0, first = 0; s < SEGMENTS; first += X[s].channels, s++)
        sum += k20_conv_segment(x[s], w, i, s, first, co, o);
    return RELU && sum < 0 ? 0 : sum;
}

UNUSED static void k20_conv(int n, stored *y, const stored *const *x, const real *w, const real *b) {
    enum { CO = 64, D = 1, H = 16, W = 16 };
    static const Layout Y = {64, 16, 4, 0, 16384, 4096, 4096, 256};
#pragma omp for collapse(2) schedule(static)
    for (int i = 0; i < n; i++)
        for (int co = 0; co < stored_channels(&Y); co++)
            for (int d = 0; d < D; d++)
                for (int h = 0; h < H; h++)
                    for (int p = 0; p < W; p++)
                        store(y, element(&Y, i, co, d, h, p),
                              co < CO ? (real)k20_conv_point(x, w, b, i, co, (const int[]){d, h, p}) : 0);
}

/* upconv: up2 of train, up2 of predict */
/* The part of output (co, o) of sample i that comes through segment s, whose channels start at `first`. */
UNUSED static double k21_upconv_segment(const stored *x, const real *w, int i, int s, int first, int co,
                                    const int *o) {
    enum { CO = 32, ID = 1, IH = 16, IW = 16, KD = 1, SD = 1, LD = 1, PD = 0, KH = 2, SH = 2,
           LH = 1, PH = 0, KW = 2, SW = 2, LW = 1, PW = 0 };
    static const Layout X[1] = {{64, 16, 4, 0, 16384, 4096, 4096, 256}};
    double sum = 0;
    for (int c = 0; c < X[s].channels; c++)
        for (int kd = 0; kd < KD; kd++)
            for (int kh = 0; kh < KH; kh++)
                for (int kw = 0; kw < KW; kw++) {
                    int d = window_at(o[0], kd, SD, LD, PD, ID), h = window_at(o[1], kh, SH, LH, PH, IH);
                    int v = window_at(o[2], kw, SW, LW, PW, IW);
                    long weight = ((((first + c) * (long)CO + co) * KD + kd) * KH + kh) * KW + kw;
                    if (d >= 0 && h >= 0 && v >= 0)
                        sum += (double)load(x, element(&X[s], i, c, d, h, v)) * (double)rounded(w[weight]);
                }
    return sum;
}

UNUSED static double k21_upconv_point(const stored *const *x, const real *w, const real *b, int i, int co,
                                  const int *o) {
    enum { BIAS = 1, RELU = 0, SEGMENTS = 1 };
    static const Layout X[1] = {{64, 16, 4, 0, 16384, 4096, 4096, 256}};
    double sum = BIAS ? (double)b[co] : 0;
    for (int s = 0, first = 0; s < SEGMENTS; first += X[s].channels, s++)
        sum += k21_upconv_segment(x[s], w, i, s, first, co, o);
    return RELU && sum < 0 ? 0 : sum;
}

UNUSED static void k21_upconv(int n, stored *y, const stored *const *x, const real *w, const real *b) {
    enum { CO = 32, D = 1, H = 32, W = 32 };
    static const Layout Y = {32, 16, 2, 560, 36992, 18496, 18496, 544};
#pragma omp for collapse(2) schedule(static)
    for (int i = 0; i < n; i++)
        for (int co = 0; co < stored_channels(&Y); co++)
            for (int d = 0; d < D; d++)
                for (int h = 0; h < H; h++)
                    for (int p = 0; p < W; p++)
                        store(y, element(&Y, i, co, d, h, p),
                              co < CO ? (real)k21_upconv_point(x, w, b, i, co, (const int[]){d, h, p}) : 0);
}

/* conv: dec2.0 of train, dec2.0 of predict */
/* The part of output (co, d, h, w) of sample i that comes through segment s, whose channels start at
 * `first`. */
UNUSED static double k22_conv_segment(const stored *x, const real *w, int i, int s, int first, int co,
                                    const int *o) {
    enum { CI = 64, ID = 1, IH = 32, IW = 32, KD = 1, SD = 1, LD = 1, PD = 0, KH = 3, SH = 1,
           LH = 1, PH = 1, KW = 3, SW = 1, LW = 1, PW = 1 };
    static const Layout X[2] = {{32, 16, 2, 560, 36992, 18496, 18496, 544}, {32, 16, 2, 560, 36992, 18496, 18496, 544}};
    double sum = 0;
    for (int c = 0; c < X[s].channels; c++)
        for (int kd = 0; kd < KD; kd++)
            for (int kh = 0; kh < KH; kh++)
                for (int kw = 0; kw < KW; kw++) {
                    int id = o[0] * SD - PD + kd * LD, ih = o[1] * SH - PH + kh * LH,
                        iw = o[2] * SW - PW + kw * LW;
                    long weight = (((co * (long)CI + first + c) * KD + kd) * KH + kh) * KW + kw;
                    if (inside(id, ID) && inside(ih, IH) && inside(iw, IW))
                        sum +=
                            (double)load(x, element(&X[s], i, c, id, ih, iw)) * (double)rounded(w[weight]);
                }
    return sum;
}

UNUSED static double k22_conv_point(const stored *const *x, const real *w, const real *b, int i, int co,
                                  const int *o) {
    enum { BIAS = 1, RELU = 1, SEGMENTS = 2 };
    static const Layout X[2] = {{32, 16, 2, 560, 36992, 18496, 18496, 544}, {32, 16, 2, 560, 36992, 18496, 18496, 544}};
    double sum = BIAS ? (double)b[co] : 0;
    for (int s = 0, first = 0; s < SEGMENTS; first += X[s].channels, s++)
        sum += k22_conv_segment(x[s], w, i, s, first, co, o);
    return RELU && sum < 0 ? 0 : sum;
}

UNUSED static void k22_conv(int n, stored *y, const stored *const *x, const real *w, const real *b) {
    enum { CO = 32, D = 1, H = 32, W = 32 };
    static const Layout Y = {32, 16, 2, 560, 36992, 18496, 18496, 544};
#pragma omp for collapse(2) schedule(static)
    for (int i = 0; i < n; i++)
        for (int co = 0; co < stored_channels(&Y); co++)
            for (int d = 0; d < D; d++)
                for (int h = 0; h < H; h++)
                    for (int p = 0; p < W; p++)
                        store(y, element(&Y, i, co, d, h, p),
                              co < CO ? (real)k22_conv_point(x, w, b, i, co, (const int[]){d, h, p}) : 0);
}

/* conv: dec2.2 of train, dec2.2 of predict */
/* The part of output (co, d, h, w) of sample i that comes through segment s, whose channels start at
 * `first`. */
UNUSED static double k23_conv_segment(const stored *x, const real *w, int i, int s, int first, int co,
                                    const int *o) {
    enum { CI = 32, ID = 1, IH = 32, IW = 32, KD = 1, SD = 1, LD = 1, PD = 0, KH = 3, SH = 1,
           LH = 1, PH = 1, KW = 3, SW = 1, LW = 1, PW = 1 };
    static const Layout X[1] = {{32, 16, 2, 560, 36992, 18496, 18496, 544}};
    double sum = 0;
    for (int c = 0; c < X[s].channels; c++)
        for (int kd = 0; kd < KD; kd++)
            for (int kh = 0; kh < KH; kh++)
                for (int kw = 0; kw < KW; kw++) {
                    int id = o[0] * SD - PD + kd * LD, ih = o[1] * SH - PH + kh * LH,
                        iw = o[2] * SW - PW + kw * LW;
                    long weight = (((co * (long)CI + first + c) * KD + kd) * KH + kh) * KW + kw;
                    if (inside(id, ID) && inside(ih, IH) && inside(iw, IW))
                        sum +=
                            (double)load(x, element(&X[s], i, c, id, ih, iw)) * (double)rounded(w[weight]);
                }
    return sum;
}

UNUSED static double k23_conv_point(const stored *const *x, const real *w, const real *b, int i, int co,
                                  const int *o) {
    enum { BIAS = 1, RELU = 1, SEGMENTS = 1 };
    static const Layout X[1] = {{32, 16, 2, 560, 36992, 18496, 18496, 544}};
    double sum = BIAS ? (double)b[co] : 0;
    for (int s = 0, first = 0; s < SEGMENTS; first += X[s].channels, s++)
        sum += k23_conv_segment(x[s], w, i, s, first, co, o);
    return RELU && sum < 0 ? 0 : sum;
}

UNUSED static void k23_conv(int n, stored *y, const stored *const *x, const real *w, const real *b) {
    enum { CO = 32, D = 1, H = 32, W = 32 };
    static const Layout Y = {32, 16, 2, 0, 32768, 16384, 16384, 512};
#pragma omp for collapse(2) schedule(static)
    for (int i = 0; i < n; i++)
        for (int co = 0; co < stored_channels(&Y); co++)
            for (int d = 0; d < D; d++)
                for (int h = 0; h < H; h++)
                    for (int p = 0; p < W; p++)
                        store(y, element(&Y, i, co, d, h, p),
                              co < CO ? (real)k23_conv_point(x, w, b, i, co, (const int[]){d, h, p}) : 0);
}

/* upconv: up1 of train, up1 of predict */
/* The part of output (co, o) of sample i that comes through segment s, whose channels start at `first`. */
UNUSED static double k24_upconv_segment(const stored *x, const real *w, int i, int s, int first, int co,
                                    const int *o) {
    enum { CO = 16, ID = 1, IH = 32, IW = 32, KD = 1, SD = 1, LD = 1, PD = 0, KH = 2, SH = 2,
           LH = 1, PH = 0, KW = 2, SW = 2, LW = 1, PW = 0 };
    static const Layout X[1] = {{32, 16, 2, 0, 32768, 16384, 16384, 512}};
    double sum = 0;
    for (int c = 0; c < X[s].channels; c++)
        for (int kd = 0; kd < KD; kd++)
            for (int kh = 0; kh < KH; kh++)
                for (int kw = 0; kw < KW; kw++) {
                    int d = window_at(o[0], kd, SD, LD, PD, ID), h = window_at(o[1], kh, SH, LH, PH, IH);
                    int v = window_at(o[2], kw, SW, LW, PW, IW);
                    long weight = ((((first + c) * (long)CO + co) * KD + kd) * KH + kh) * KW + kw;
                    if (d >= 0 && h >= 0 && v >= 0)
                        sum += (double)load(x, element(&X[s], i, c, d, h, v)) * (double)rounded(w[weight]);
                }
    return sum;
}

UNUSED static double k24_upconv_point(const stored *const *x, const real *w, const real *b, int i, int co,
                                  const int *o) {
    enum { BIAS = 1, RELU = 0, SEGMENTS = 1 };
    static const Layout X[1] = {{32, 16, 2, 0, 32768, 16384, 16384, 512}};
    double sum = BIAS ? (double)b[co] : 0;
    for (int s = 0, first = 0; s < SEGMENTS; first += X[s].channels, s++)
        sum += k24_upconv_segment(x[s], w, i, s, first, co, o);
    return RELU && sum < 0 ? 0 : sum;
}

UNUSED static void k24_upconv(int n, stored *y, const stored *const *x, const real *w, const real *b) {
    enum { CO = 16, D = 1, H = 64, W = 64 };
    static const Layout Y = {16, 16, 1, 1072, 69696, 69696, 69696, 1056};
#pragma omp for collapse(2) schedule(static)
    for (int i = 0; i < n; i++)
        for (int co = 0; co < stored_channels(&Y); co++)
            for (int d = 0; d < D; d++)
                for (int h = 0; h < H; h++)
                    for (int p = 0; p < W; p++)
                        store(y, element(&Y, i, co, d, h, p),
                              co < CO ? (real)k24_upconv_point(x, w, b, i, co, (const int[]){d, h, p}) : 0);
}

/* conv: dec1.0 of train, dec1.0 of predict */
/* The part of output (co, d, h, w) of sample i that comes through segment s, whose channels start at
 * `first`. */
UNUSED static double k25_conv_segment(const stored *x, const real *w, int i, int s, int first, int co,
                                    const int *o) {
    enum { CI = 32, ID = 1, IH = 64, IW = 64, KD = 1, SD = 1, LD = 1, PD = 0, KH = 3, SH = 1,
           LH = 1, PH = 1, KW = 3, SW = 1, LW = 1, PW = 1 };
    static const Layout X[2] = {{16, 16, 1, 1072, 69696, 69696, 69696, 1056}, {16, 16, 1, 1072, 69696, 69696, 69696, 1056}};
    double sum = 0;
    for (int c = 0; c < X[s].channels; c++)
        for (int kd = 0; kd < KD; kd++)
            for (int kh = 0; kh < KH; kh++)
                for (int kw = 0; kw < KW; kw++) {
                    int id = o[0] * SD - PD + kd * LD, ih = o[1] * SH - PH + kh * LH,
                        iw = o[2] * SW - PW + kw * LW;
                    long weight = (((co * (long)CI + first + c) * KD + kd) * KH + kh) * KW + kw;
                    if (inside(id, ID) && inside(ih, IH) && inside(iw, IW))
                        sum +=
                            (double)load(x, element(&X[s], i, c, id, ih, iw)) * (double)rounded(w[weight]);
                }
    return sum;
}

UNUSED static double k25_conv_point(const stored *const *x, const real *w, const real *b, int i, int co,
                                  const int *o) {
    enum { BIAS = 1, RELU = 1, SEGMENTS = 2 };
    static const Layout X[2] = {{16, 16, 1, 1072, 69696, 69696, 69696, 1056}, {16, 16, 1, 1072, 69696, 69696, 69696, 1056}};
    double sum = BIAS ? (double)b[co] : 0;
    for (int s = 0, first = 0; s < SEGMENTS; first += X[s].channels, s++)
        sum += k25_conv_segment(x[s], w, i, s, first, co, o);
    return RELU && sum < 0 ? 0 : sum;
}

UNUSED static void k25_conv(int n, stored *y, const stored *const *x, const real *w, const real *b) {
    enum { CO = 16, D = 1, H = 64, W = 64 };
    static const Layout Y = {16, 16, 1, 1072, 69696, 69696, 69696, 1056};
#pragma omp for collapse(2) schedule(static)
    for (int i = 0; i < n; i++)
        for (int co = 0; co < stored_channels(&Y); co++)
            for (int d = 0; d < D; d++)
                for (int h = 0; h < H; h++)
                    for (int p = 0; p < W; p++)
                        store(y, element(&Y, i, co, d, h, p),
                              co < CO ? (real)k25_conv_point(x, w, b, i, co, (const int[]){d, h, p}) : 0);
}

/* conv: dec1.2 of train, dec1.2 of predict */
/* The part of output (co, d, h, w) of sample i that comes through segment s, whose channels start at
 * `first`. */
UNUSED static double k26_conv_segment(const stored *x, const real *w, int i, int s, int first, int co,
                                    const int *o) {
    enum { CI = 16, ID = 1, IH = 64, IW = 64, KD = 1, SD = 1, LD = 1, PD = 0, KH = 3, SH = 1,
           LH = 1, PH = 1, KW = 3, SW = 1, LW = 1, PW = 1 };
    static const Layout X[1] = {{16, 16, 1, 1072, 69696, 69696, 69696, 1056}};
    double sum = 0;
    for (int c = 0; c < X[s].channels; c++)
        for (int kd = 0; kd < KD; kd++)
            for (int kh = 0; kh < KH; kh++)
                for (int kw = 0; kw < KW; kw++) {
                    int id = o[0] * SD - PD + kd * LD, ih = o[1] * SH - PH + kh * LH,
                        iw = o[2] * SW - PW + kw * LW;
                    long weight = (((co * (long)CI + first + c) * KD + kd) * KH + kh) * KW + kw;
                    if (inside(id, ID) && inside(ih, IH) && inside(iw, IW))
                        sum +=
                            (double)load(x, element(&X[s], i, c, id, ih, iw)) * (double)rounded(w[weight]);
                }
    return sum;
}

UNUSED static double k26_conv_point(const stored *const *x, const real *w, const real *b, int i, int co,
                                  const int *o) {
    enum { BIAS = 1, RELU = 1, SEGMENTS = 1 };
    static const Layout X[1] = {{16, 16, 1, 1072, 69696, 69696, 69696, 1056}};
    double sum = BIAS ? (double)b[co] : 0;
    for (int s = 0, first = 0; s < SEGMENTS; first += X[s].channels, s++)
        sum += k26_conv_segment(x[s], w, i, s, first, co, o);
    return RELU && sum < 0 ? 0 : sum;
}

UNUSED static void k26_conv(int n, stored *y, const stored *const *x, const real *w, const real *b) {
    enum { CO = 16, D = 1, H = 64, W = 64 };
    static const Layout Y = {16, 16, 1, 0, 65536, 65536, 65536, 1024};
#pragma omp for collapse(2) schedule(static)
    for (int i = 0; i < n; i++)
        for (int co = 0; co < stored_channels(&Y); co++)
            for (int d = 0; d < D; d++)
                for (int h = 0; h < H; h++)
                    for (int p = 0; p < W; p++)
                        store(y, element(&Y, i, co, d, h, p),
                              co < CO ? (real)k26_conv_point(x, w, b, i, co, (const int[]){d, h, p}) : 0);
}

/* conv: final of train, final of predict */
/* The part of output (co, d, h, w) of sample i that comes through segment s, whose channels start at
 * `first`. */
UNUSED static double k27_conv_segment(const stored *x, const real *w, int i, int s, int first, int co,
                                    const int *o) {
    enum { CI = 16, ID = 1, IH = 64, IW = 64, KD = 1, SD = 1, LD = 1, PD = 0, KH = 1, SH = 1,
           LH = 1, PH = 0, KW = 1, SW = 1, LW = 1, PW = 0 };
    static const Layout X[1] = {{16, 16, 1, 0, 65536, 65536, 65536, 1024}};
    double sum = 0;
    for (int c = 0; c < X[s].channels; c++)
        for (int kd = 0; kd < KD; kd++)
            for (int kh = 0; kh < KH; kh++)
                for (int kw = 0; kw < KW; kw++) {
                    int id = o[0] * SD - PD + kd * LD, ih = o[1] * SH - PH + kh * LH,
                        iw = o[2] * SW - PW + kw * LW;
                    long weight = (((co * (long)CI + first + c) * KD + kd) * KH + kh) * KW + kw;
                    if (inside(id, ID) && inside(ih, IH) && inside(iw, IW))
                        sum +=
                            (double)load(x, element(&X[s], i, c, id, ih, iw)) * (double)rounded(w[weight]);
                }
    return sum;
}

UNUSED static double k27_conv_point(const stored *const *x, const real *w, const real *b, int i, int co,
                                  const int *o) {
    enum { BIAS = 1, RELU = 0, SEGMENTS = 1 };
    static const Layout X[1] = {{16, 16, 1, 0, 65536, 65536, 65536, 1024}};
    double sum = BIAS ? (double)b[co] : 0;
    for (int s = 0, first = 0; s < SEGMENTS; first += X[s].channels, s++)
        sum += k27_conv_segment(x[s], w, i, s, first, co, o);
    return RELU && sum < 0 ? 0 : sum;
}

UNUSED static void k27_conv(int n, stored *y, const stored *const *x, const real *w, const real *b) {
    enum { CO = 3, D = 1, H = 64, W = 64 };
    static const Layout Y = {3, 3, 1, 0, 12288, 12288, 12288, 192};
#pragma omp for collapse(2) schedule(static)
    for (int i = 0; i < n; i++)
        for (int co = 0; co < stored_channels(&Y); co++)
            for (int d = 0; d < D; d++)
                for (int h = 0; h < H; h++)
                    for (int p = 0; p < W; p++)
                        store(y, element(&Y, i, co, d, h, p),
                              co < CO ? (real)k27_conv_point(x, w, b, i, co, (const int[]){d, h, p}) : 0);
}

/* mse: mse of train */
UNUSED static double k28_mse_sample(const void *p, const void *t, int i, const int *size) {
    enum { C = 3, P_STAGED = 0, T_STAGED = 1 };
    static const Layout P = {3, 3, 1, 0, 12288, 12288, 12288, 192};
    static const Layout T = {3, 3, 1, 0, 12288, 12288, 12288, 192};
    double sum = 0;
    for (int c = 0; c < C; c++)
        for (int d = 0; d < size[0]; d++)
            for (int h = 0; h < size[1]; h++)
                for (int v = 0; v < size[2]; v++) {
                    double a = (double)load_either(P_STAGED, p, element(&P, i, c, d, h, v)),
                           b = (double)load_either(T_STAGED, t, element(&T, i, c, d, h, v));
                    sum += (a - b) * (a - b);
                }
    return sum / ((double)C * size[0] * size[1] * size[2]);
}

UNUSED static void k28_mse(int n, double *result, double *scratch, const void *p, const void *t,
                          const int32_t (*valid)[3]) {
    enum { D = 1, H = 64, W = 64, ACCUMULATE = 0 };
#pragma omp for schedule(static)
    for (int i = 0; i < n; i++)
        scratch[i] = k28_mse_sample(p, t, i, valid ? valid[i] : (const int[]){D, H, W});
#pragma omp single
    {
        if (!ACCUMULATE)
            *result = 0;
        for (int i = 0; i < n; i++)
            *result += scratch[i];
    }
}

/* psnr: psnr of train */
UNUSED static double k29_psnr_sample(const void *p, const void *t, int i, const int *size) {
    enum { C = 3, P_STAGED = 0, T_STAGED = 1 };
    static const Layout P = {3, 3, 1, 0, 12288, 12288, 12288, 192};
    static const Layout T = {3, 3, 1, 0, 12288, 12288, 12288, 192};
    double sum = 0;
    for (int c = 0; c < C; c++)
        for (int d = 0; d < size[0]; d++)
            for (int h = 0; h < size[1]; h++)
                for (int v = 0; v < size[2]; v++) {
                    double a = (double)load_either(P_STAGED, p, element(&P, i, c, d, h, v)),
                           b = (double)load_either(T_STAGED, t, element(&T, i, c, d, h, v));
                    double difference = between(0, 1, a) - between(0, 1, b);
                    sum += difference * difference;
                }
    double mean = sum / ((double)C * size[0] * size[1] * size[2]);
    return between(0, 100, -10 * log10(mean));
}

UNUSED static void k29_psnr(int n, double *result, double *scratch, const void *p, const void *t,
                          const int32_t (*valid)[3]) {
    enum { D = 1, H = 64, W = 64, ACCUMULATE = 0 };
#pragma omp for schedule(static)
    for (int i = 0; i < n; i++)
        scratch[i] = k29_psnr_sample(p, t, i, valid ? valid[i] : (const int[]){D, H, W});
#pragma omp single
    {
        if (!ACCUMULATE)
            *result = 0;
        for (int i = 0; i < n; i++)
            *result += scratch[i];
    }
}

/* mse_grad: mse of train */
UNUSED static void k30_mse_grad(int n, int total, stored *dp, const void *p, const void *t, const double *scale) {
    enum { C = 3, D = 1, H = 64, W = 64, P_STAGED = 0, T_STAGED = 1, SCALED = 0 };
    static const Layout P = {3, 3, 1, 0, 12288, 12288, 12288, 192};
    static const Layout T = {3, 3, 1, 0, 12288, 12288, 12288, 192};
    static const double WEIGHT = 1;
    static const Layout DP = {3, 3, 1, 0, 12288, 12288, 12288, 192};
    double factor = 2 * WEIGHT * (SCALED ? scale[LOSS_SCALE] : 1) / (total * ((double)C * D * H * W));
#pragma omp for collapse(2) schedule(static)
    for (int i = 0; i < n; i++)
        for (int c = 0; c < stored_channels(&DP); c++)
            for (int d = 0; d < D; d++)
                for (int h = 0; h < H; h++)
                    for (int v = 0; v < W; v++) {
                        double difference =
                            c < C ? (double)load_either(P_STAGED, p, element(&P, i, c, d, h, v)) -
                                        (double)load_either(T_STAGED, t, element(&T, i, c, d, h, v))
                                  : 0;
                        store(dp, element(&DP, i, c, d, h, v), (real)(factor * difference));
                    }
}

/* conv_wgrad: final of train */
/* Sum over the points of sample i of dy(co, o) * x(c, o * S - P + k * L), c a channel of segment s. */
UNUSED static double k31_conv_wgrad_weight(int i, const stored *x, const stored *dy, int s, int c, int co,
                                   const int *k) {
    enum { ID = 1, IH = 64, IW = 64, D = 1, H = 64, W = 64, SD = 1, LD = 1, PD = 0, SH = 1, LH = 1,
           PH = 0, SW = 1, LW = 1, PW = 0 };
    static const Layout X[1] = {{16, 16, 1, 0, 65536, 65536, 65536, 1024}};
    static const Layout DY = {3, 3, 1, 0, 12288, 12288, 12288, 192};
    double sum = 0;
    for (int d = 0; d < D; d++)
        for (int h = 0; h < H; h++)
            for (int p = 0; p < W; p++) {
                int id = d * SD - PD + k[0] * LD, ih = h * SH - PH + k[1] * LH,
                    iw = p * SW - PW + k[2] * LW;
                if (inside(id, ID) && inside(ih, IH) && inside(iw, IW))
                    sum += (double)load(x, element(&X[s], i, c, id, ih, iw)) *
                           (double)load(dy, element(&DY, i, co, d, h, p));
            }
    return sum;
}

UNUSED static double k31_conv_wgrad_bias(int i, const stored *dy, int co) {
    enum { D = 1, H = 64, W = 64 };
    static const Layout DY = {3, 3, 1, 0, 12288, 12288, 12288, 192};
    double sum = 0;
    for (int d = 0; d < D; d++)
        for (int h = 0; h < H; h++)
            for (int p = 0; p < W; p++)
                sum += (double)load(dy, element(&DY, i, co, d, h, p));
    return sum;
}

UNUSED static void k31_conv_wgrad(int n, real *dw, real *db, real *scratch, const stored *const *x,
                          const stored *dy) {
    enum { CI = 16, CO = 3, KD = 1, KH = 1, KW = 1, BIAS = 1, ACCUMULATE = 0, SEGMENTS = 1 };
    static const Layout X[1] = {{16, 16, 1, 0, 65536, 65536, 65536, 1024}};
    (void)scratch;
#pragma omp for schedule(static)
    for (int co = 0; co < CO; co++) {
        real *to = dw + co * (long)CI * KD * KH * KW;
        for (int s = 0; s < SEGMENTS; s++)
            for (int c = 0; c < X[s].channels; c++)
                for (int kd = 0; kd < KD; kd++)
                    for (int kh = 0; kh < KH; kh++)
                        for (int kw = 0; kw < KW; kw++) {
                            real sum = ACCUMULATE ? *to : 0;
                            for (int i = 0; i < n; i++)
                                sum +=
                                    (real)k31_conv_wgrad_weight(i, x[s], dy, s, c, co, (const int[]){kd, kh, kw});
                            *to++ = sum;
                        }
        real sum = BIAS && ACCUMULATE ? db[co] : 0;
        for (int i = 0; i < n; i++)
            sum += (real)k31_conv_wgrad_bias(i, dy, co);
        if (BIAS)
            db[co] = sum;
    }
}

/* conv_dgrad: final of train */
UNUSED static double k32_conv_dgrad_point(const stored *dy, const real *w, int i, int c, const int *p) {
    enum { CI = 16, CO = 3, D = 1, H = 64, W = 64, KD = 1, SD = 1, LD = 1, PD = 0, KH = 1, SH = 1,
           LH = 1, PH = 0, KW = 1, SW = 1, LW = 1, PW = 0, C0 = 0 };
    static const Layout DY = {3, 3, 1, 0, 12288, 12288, 12288, 192};
    double sum = 0;
    for (int co = 0; co < CO; co++)
        for (int kd = 0; kd < KD; kd++)
            for (int kh = 0; kh < KH; kh++)
                for (int kw = 0; kw < KW; kw++) {
                    int d = window_at(p[0], kd, SD, LD, PD, D), h = window_at(p[1], kh, SH, LH, PH, H);
                    int v = window_at(p[2], kw, SW, LW, PW, W);
                    long weight = (((co * (long)CI + C0 + c) * KD + kd) * KH + kh) * KW + kw;
                    if (d >= 0 && h >= 0 && v >= 0)
                        sum += (double)load(dy, element(&DY, i, co, d, h, v)) * (double)rounded(w[weight]);
                }
    return sum;
}

UNUSED static void k32_conv_dgrad(int n, stored *dx, const stored *dy, const real *w, const stored *m) {
    enum { ID = 1, IH = 64, IW = 64, CS = 16, MASK = 1 };
    static const Layout DX = {16, 16, 1, 1072, 69696, 69696, 69696, 1056};
    static const Layout M = {16, 16, 1, 0, 65536, 65536, 65536, 1024};
#pragma omp for collapse(2) schedule(static)
    for (int i = 0; i < n; i++)
        for (int c = 0; c < stored_channels(&DX); c++)
            for (int d = 0; d < ID; d++)
                for (int h = 0; h < IH; h++)
                    for (int p = 0; p < IW; p++) {
                        int passes = c < CS && !(MASK && !(load(m, element(&M, i, c, d, h, p)) > 0));
                        store(dx, element(&DX, i, c, d, h, p),
                              passes ? (real)k32_conv_dgrad_point(dy, w, i, c, (const int[]){d, h, p}) : 0);
                    }
}

/* conv_wgrad: dec1.2 of train, enc1.2 of train */
/* Sum over the points of sample i of dy(co, o) * x(c, o * S - P + k * L), c a channel of segment s. */
UNUSED static double k33_conv_wgrad_weight(int i, const stored *x, const stored *dy, int s, int c, int co,
                                   const int *k) {
    enum { ID = 1, IH = 64, IW = 64, D = 1, H = 64, W = 64, SD = 1, LD = 1, PD = 0, SH = 1, LH = 1,
           PH = 1, SW = 1, LW = 1, PW = 1 };
    static const Layout X[1] = {{16, 16, 1, 1072, 69696, 69696, 69696, 1056}};
    static const Layout DY = {16, 16, 1, 1072, 69696, 69696, 69696, 1056};
    double sum = 0;
    for (int d = 0; d < D; d++)
        for (int h = 0; h < H; h++)
            for (int p = 0; p < W; p++) {
                int id = d * SD - PD + k[0] * LD, ih = h * SH - PH + k[1] * LH,
                    iw = p * SW - PW + k[2] * LW;
                if (inside(id, ID) && inside(ih, IH) && inside(iw, IW))
                    sum += (double)load(x, element(&X[s], i, c, id, ih, iw)) *
                           (double)load(dy, element(&DY, i, co, d, h, p));
            }
    return sum;
}

UNUSED static double k33_conv_wgrad_bias(int i, const stored *dy, int co) {
    enum { D = 1, H = 64, W = 64 };
    static const Layout DY = {16, 16, 1, 1072, 69696, 69696, 69696, 1056};
    double sum = 0;
    for (int d = 0; d < D; d++)
        for (int h = 0; h < H; h++)
            for (int p = 0; p < W; p++)
                sum += (double)load(dy, element(&DY, i, co, d, h, p));
    return sum;
}

UNUSED static void k33_conv_wgrad(int n, real *dw, real *db, real *scratch, const stored *const *x,
                          const stored *dy) {
    enum { CI = 16, CO = 16, KD = 1, KH = 3, KW = 3, BIAS = 1, ACCUMULATE = 0, SEGMENTS = 1 };
    static const Layout X[1] = {{16, 16, 1, 1072, 69696, 69696, 69696, 1056}};
    (void)scratch;
#pragma omp for schedule(static)
    for (int co = 0; co < CO; co++) {
        real *to = dw + co * (long)CI * KD * KH * KW;
        for (int s = 0; s < SEGMENTS; s++)
            for (int c = 0; c < X[s].channels; c++)
                for (int kd = 0; kd < KD; kd++)
                    for (int kh = 0; kh < KH; kh++)
                        for (int kw = 0; kw < KW; kw++) {
                            real sum = ACCUMULATE ? *to : 0;
                            for (int i = 0; i < n; i++)
                                sum +=
                                    (real)k33_conv_wgrad_weight(i, x[s], dy, s, c, co, (const int[]){kd, kh, kw});
                            *to++ = sum;
                        }
        real sum = BIAS && ACCUMULATE ? db[co] : 0;
        for (int i = 0; i < n; i++)
            sum += (real)k33_conv_wgrad_bias(i, dy, co);
        if (BIAS)
            db[co] = sum;
    }
}

/* conv_dgrad: dec1.2 of train */
UNUSED static double k34_conv_dgrad_point(const stored *dy, const real *w, int i, int c, const int *p) {
    enum { CI = 16, CO = 16, D = 1, H = 64, W = 64, KD = 1, SD = 1, LD = 1, PD = 0, KH = 3, SH = 1,
           LH = 1, PH = 1, KW = 3, SW = 1, LW = 1, PW = 1, C0 = 0 };
    static const Layout DY = {16, 16, 1, 1072, 69696, 69696, 69696, 1056};
    double sum = 0;
    for (int co = 0; co < CO; co++)
        for (int kd = 0; kd < KD; kd++)
            for (int kh = 0; kh < KH; kh++)
                for (int kw = 0; kw < KW; kw++) {
                    int d = window_at(p[0], kd, SD, LD, PD, D), h = window_at(p[1], kh, SH, LH, PH, H);
                    int v = window_at(p[2], kw, SW, LW, PW, W);
                    long weight = (((co * (long)CI + C0 + c) * KD + kd) * KH + kh) * KW + kw;
                    if (d >= 0 && h >= 0 && v >= 0)
                        sum += (double)load(dy, element(&DY, i, co, d, h, v)) * (double)rounded(w[weight]);
                }
    return sum;
}

UNUSED static void k34_conv_dgrad(int n, stored *dx, const stored *dy, const real *w, const stored *m) {
    enum { ID = 1, IH = 64, IW = 64, CS = 16, MASK = 1 };
    static const Layout DX = {16, 16, 1, 1072, 69696, 69696, 69696, 1056};
    static const Layout M = {16, 16, 1, 1072, 69696, 69696, 69696, 1056};
#pragma omp for collapse(2) schedule(static)
    for (int i = 0; i < n; i++)
        for (int c = 0; c < stored_channels(&DX); c++)
            for (int d = 0; d < ID; d++)
                for (int h = 0; h < IH; h++)
                    for (int p = 0; p < IW; p++) {
                        int passes = c < CS && !(MASK && !(load(m, element(&M, i, c, d, h, p)) > 0));
                        store(dx, element(&DX, i, c, d, h, p),
                              passes ? (real)k34_conv_dgrad_point(dy, w, i, c, (const int[]){d, h, p}) : 0);
                    }
}

/* conv_wgrad: dec1.0 of train */
/* Sum over the points of sample i of dy(co, o) * x(c, o * S - P + k * L), c a channel of segment s. */
UNUSED static double k35_conv_wgrad_weight(int i, const stored *x, const stored *dy, int s, int c, int co,
                                   const int *k) {
    enum { ID = 1, IH = 64, IW = 64, D = 1, H = 64, W = 64, SD = 1, LD = 1, PD = 0, SH = 1, LH = 1,
           PH = 1, SW = 1, LW = 1, PW = 1 };
    static const Layout X[2] = {{16, 16, 1, 1072, 69696, 69696, 69696, 1056}, {16, 16, 1, 1072, 69696, 69696, 69696, 1056}};
    static const Layout DY = {16, 16, 1, 1072, 69696, 69696, 69696, 1056};
    double sum = 0;
    for (int d = 0; d < D; d++)
        for (int h = 0; h < H; h++)
            for (int p = 0; p < W; p++) {
                int id = d * SD - PD + k[0] * LD, ih = h * SH - PH + k[1] * LH,
                    iw = p * SW - PW + k[2] * LW;
                if (inside(id, ID) && inside(ih, IH) && inside(iw, IW))
                    sum += (double)load(x, element(&X[s], i, c, id, ih, iw)) *
                           (double)load(dy, element(&DY, i, co, d, h, p));
            }
    return sum;
}

UNUSED static double k35_conv_wgrad_bias(int i, const stored *dy, int co) {
    enum { D = 1, H = 64, W = 64 };
    static const Layout DY = {16, 16, 1, 1072, 69696, 69696, 69696, 1056};
    double sum = 0;
    for (int d = 0; d < D; d++)
        for (int h = 0; h < H; h++)
            for (int p = 0; p < W; p++)
                sum += (double)load(dy, element(&DY, i, co, d, h, p));
    return sum;
}

UNUSED static void k35_conv_wgrad(int n, real *dw, real *db, real *scratch, const stored *const *x,
                          const stored *dy) {
    enum { CI = 32, CO = 16, KD = 1, KH = 3, KW = 3, BIAS = 1, ACCUMULATE = 0, SEGMENTS = 2 };
    static const Layout X[2] = {{16, 16, 1, 1072, 69696, 69696, 69696, 1056}, {16, 16, 1, 1072, 69696, 69696, 69696, 1056}};
    (void)scratch;
#pragma omp for schedule(static)
    for (int co = 0; co < CO; co++) {
        real *to = dw + co * (long)CI * KD * KH * KW;
        for (int s = 0; s < SEGMENTS; s++)
            for (int c = 0; c < X[s].channels; c++)
                for (int kd = 0; kd < KD; kd++)
                    for (int kh = 0; kh < KH; kh++)
                        for (int kw = 0; kw < KW; kw++) {
                            real sum = ACCUMULATE ? *to : 0;
                            for (int i = 0; i < n; i++)
                                sum +=
                                    (real)k35_conv_wgrad_weight(i, x[s], dy, s, c, co, (const int[]){kd, kh, kw});
                            *to++ = sum;
                        }
        real sum = BIAS && ACCUMULATE ? db[co] : 0;
        for (int i = 0; i < n; i++)
            sum += (real)k35_conv_wgrad_bias(i, dy, co);
        if (BIAS)
            db[co] = sum;
    }
}

/* conv_dgrad: dec1.0 of train */
UNUSED static double k36_conv_dgrad_point(const stored *dy, const real *w, int i, int c, const int *p) {
    enum { CI = 32, CO = 16, D = 1, H = 64, W = 64, KD = 1, SD = 1, LD = 1, PD = 0, KH = 3, SH = 1,
           LH = 1, PH = 1, KW = 3, SW = 1, LW = 1, PW = 1, C0 = 0 };
    static const Layout DY = {16, 16, 1, 1072, 69696, 69696, 69696, 1056};
    double sum = 0;
    for (int co = 0; co < CO; co++)
        for (int kd = 0; kd < KD; kd++)
            for (int kh = 0; kh < KH; kh++)
                for (int kw = 0; kw < KW; kw++) {
                    int d = window_at(p[0], kd, SD, LD, PD, D), h = window_at(p[1], kh, SH, LH, PH, H);
                    int v = window_at(p[2], kw, SW, LW, PW, W);
                    long weight = (((co * (long)CI + C0 + c) * KD + kd) * KH + kh) * KW + kw;
                    if (d >= 0 && h >= 0 && v >= 0)
                        sum += (double)load(dy, element(&DY, i, co, d, h, v)) * (double)rounded(w[weight]);
                }
    return sum;
}

UNUSED static void k36_conv_dgrad(int n, stored *dx, const stored *dy, const real *w, const stored *m) {
    enum { ID = 1, IH = 64, IW = 64, CS = 16, MASK = 0 };
    static const Layout DX = {16, 16, 1, 0, 65536, 65536, 65536, 1024};
    static const Layout M = {16, 16, 1, 0, 65536, 65536, 65536, 1024};
#pragma omp for collapse(2) schedule(static)
    for (int i = 0; i < n; i++)
        for (int c = 0; c < stored_channels(&DX); c++)
            for (int d = 0; d < ID; d++)
                for (int h = 0; h < IH; h++)
                    for (int p = 0; p < IW; p++) {
                        int passes = c < CS && !(MASK && !(load(m, element(&M, i, c, d, h, p)) > 0));
                        store(dx, element(&DX, i, c, d, h, p),
                              passes ? (real)k36_conv_dgrad_point(dy, w, i, c, (const int[]){d, h, p}) : 0);
                    }
}

/* conv_dgrad: dec1.0 of train */
UNUSED static double k37_conv_dgrad_point(const stored *dy, const real *w, int i, int c, const int *p) {
    enum { CI = 32, CO = 16, D = 1, H = 64, W = 64, KD = 1, SD = 1, LD = 1, PD = 0, KH = 3, SH = 1,
           LH = 1, PH = 1, KW = 3, SW = 1, LW = 1, PW = 1, C0 = 16 };
    static const Layout DY = {16, 16, 1, 1072, 69696, 69696, 69696, 1056};
    double sum = 0;
    for (int co = 0; co < CO; co++)
        for (int kd = 0; kd < KD; kd++)
            for (int kh = 0; kh < KH; kh++)
                for (int kw = 0; kw < KW; kw++) {
                    int d = window_at(p[0], kd, SD, LD, PD, D), h = window_at(p[1], kh, SH, LH, PH, H);
                    int v = window_at(p[2], kw, SW, LW, PW, W);
                    long weight = (((co * (long)CI + C0 + c) * KD + kd) * KH + kh) * KW + kw;
                    if (d >= 0 && h >= 0 && v >= 0)
                        sum += (double)load(dy, element(&DY, i, co, d, h, v)) * (double)rounded(w[weight]);
                }
    return sum;
}

UNUSED static void k37_conv_dgrad(int n, stored *dx, const stored *dy, const real *w, const stored *m) {
    enum { ID = 1, IH = 64, IW = 64, CS = 16, MASK = 0 };
    static const Layout DX = {16, 16, 1, 1072, 69696, 69696, 69696, 1056};
    static const Layout M = {16, 16, 1, 1072, 69696, 69696, 69696, 1056};
#pragma omp for collapse(2) schedule(static)
    for (int i = 0; i < n; i++)
        for (int c = 0; c < stored_channels(&DX); c++)
            for (int d = 0; d < ID; d++)
                for (int h = 0; h < IH; h++)
                    for (int p = 0; p < IW; p++) {
                        int passes = c < CS && !(MASK && !(load(m, element(&M, i, c, d, h, p)) > 0));
                        store(dx, element(&DX, i, c, d, h, p),
                              passes ? (real)k37_conv_dgrad_point(dy, w, i, c, (const int[]){d, h, p}) : 0);
                    }
}

/* upconv_wgrad: up1 of train */
/* Sum over the points of sample i of x(c, i) * dy(co, i * S - P + k * L), c a channel of segment s. */
UNUSED static double k38_upconv_wgrad_weight(int i, const stored *x, const stored *dy, int s, int c, int co,
                                   const int *k) {
    enum { ID = 1, IH = 32, IW = 32, D = 1, H = 64, W = 64, SD = 1, LD = 1, PD = 0, SH = 2, LH = 1,
           PH = 0, SW = 2, LW = 1, PW = 0 };
    static const Layout X[1] = {{32, 16, 2, 0, 32768, 16384, 16384, 512}};
    static const Layout DY = {16, 16, 1, 0, 65536, 65536, 65536, 1024};
    double sum = 0;
    for (int id = 0; id < ID; id++)
        for (int ih = 0; ih < IH; ih++)
            for (int iw = 0; iw < IW; iw++) {
                int d = id * SD - PD + k[0] * LD, h = ih * SH - PH + k[1] * LH,
                    p = iw * SW - PW + k[2] * LW;
                if (inside(d, D) && inside(h, H) && inside(p, W))
                    sum += (double)load(x, element(&X[s], i, c, id, ih, iw)) *
                           (double)load(dy, element(&DY, i, co, d, h, p));
            }
    return sum;
}

UNUSED static double k38_upconv_wgrad_bias(int i, const stored *dy, int co) {
    enum { D = 1, H = 64, W = 64 };
    static const Layout DY = {16, 16, 1, 0, 65536, 65536, 65536, 1024};
    double sum = 0;
    for (int d = 0; d < D; d++)
        for (int h = 0; h < H; h++)
            for (int p = 0; p < W; p++)
                sum += (double)load(dy, element(&DY, i, co, d, h, p));
    return sum;
}

UNUSED static void k38_upconv_wgrad(int n, real *dw, real *db, real *scratch, const stored *const *x,
                          const stored *dy) {
    enum { CO = 16, KD = 1, KH = 2, KW = 2, BIAS = 1, ACCUMULATE = 0, SEGMENTS = 1 };
    static const Layout X[1] = {{32, 16, 2, 0, 32768, 16384, 16384, 512}};
    (void)scratch;
#pragma omp for schedule(static)
    for (int co = 0; co < CO; co++) {
        for (int s = 0, first = 0; s < SEGMENTS; first += X[s].channels, s++)
            for (int c = 0; c < X[s].channels; c++)
                for (int kd = 0; kd < KD; kd++)
                    for (int kh = 0; kh < KH; kh++)
                        for (int kw = 0; kw < KW; kw++) {
                            long weight = ((((first + c) * (long)CO + co) * KD + kd) * KH + kh) * KW + kw;
                            real sum = ACCUMULATE ? dw[weight] : 0;
                            for (int i = 0; i < n; i++)
                                sum +=
                                    (real)k38_upconv_wgrad_weight(i, x[s], dy, s, c, co, (const int[]){kd, kh, kw});
                            dw[weight] = sum;
                        }
        real sum = BIAS && ACCUMULATE ? db[co] : 0;
        for (int i = 0; i < n; i++)
            sum += (real)k38_upconv_wgrad_bias(i, dy, co);
        if (BIAS)
            db[co] = sum;
    }
}

/* upconv_dgrad: up1 of train */
UNUSED static double k39_upconv_dgrad_point(const stored *dy, const real *w, int i, int c, const int *p) {
    enum { CO = 16, D = 1, H = 64, W = 64, KD = 1, SD = 1, LD = 1, PD = 0, KH = 2, SH = 2, LH = 1,
           PH = 0, KW = 2, SW = 2, LW = 1, PW = 0, C0 = 0 };
    static const Layout DY = {16, 16, 1, 0, 65536, 65536, 65536, 1024};
    double sum = 0;
    for (int co = 0; co < CO; co++)
        for (int kd = 0; kd < KD; kd++)
            for (int kh = 0; kh < KH; kh++)
                for (int kw = 0; kw < KW; kw++) {
                    int d = p[0] * SD - PD + kd * LD, h = p[1] * SH - PH + kh * LH,
                        v = p[2] * SW - PW + kw * LW;
                    long weight = ((((C0 + c) * (long)CO + co) * KD + kd) * KH + kh) * KW + kw;
                    if (inside(d, D) && inside(h, H) && inside(v, W))
                        sum += (double)load(dy, element(&DY, i, co, d, h, v)) * (double)rounded(w[weight]);
                }
    return sum;
}

UNUSED static void k39_upconv_dgrad(int n, stored *dx, const stored *dy, const real *w, const stored *m) {
    enum { ID = 1, IH = 32, IW = 32, CS = 32, MASK = 1 };
    static const Layout DX = {32, 16, 2, 560, 36992, 18496, 18496, 544};
    static const Layout M = {32, 16, 2, 0, 32768, 16384, 16384, 512};
#pragma omp for collapse(2) schedule(static)
    for (int i = 0; i < n; i++)
        for (int c = 0; c < stored_channels(&DX); c++)
            for (int d = 0; d < ID; d++)
                for (int h = 0; h < IH; h++)
                    for (int p = 0; p < IW; p++) {
                        int passes = c < CS && !(MASK && !(load(m, element(&M, i, c, d, h, p)) > 0));
                        store(dx, element(&DX, i, c, d, h, p),
                              passes ? (real)k39_upconv_dgrad_point(dy, w, i, c, (const int[]){d, h, p}) : 0);
                    }
}

/* conv_wgrad: dec2.2 of train, enc2.2 of train */
/* Sum over the points of sample i of dy(co, o) * x(c, o * S - P + k * L), c a channel of segment s. */
UNUSED static double k40_conv_wgrad_weight(int i, const stored *x, const stored *dy, int s, int c, int co,
                                   const int *k) {
    enum { ID = 1, IH = 32, IW = 32, D = 1, H = 32, W = 32, SD = 1, LD = 1, PD = 0, SH = 1, LH = 1,
           PH = 1, SW = 1, LW = 1, PW = 1 };
    static const Layout X[1] = {{32, 16, 2, 560, 36992, 18496, 18496, 544}};
    static const Layout DY = {32, 16, 2, 560, 36992, 18496, 18496, 544};
    double sum = 0;
    for (int d = 0; d < D; d++)
        for (int h = 0; h < H; h++)
            for (int p = 0; p < W; p++) {
                int id = d * SD - PD + k[0] * LD, ih = h * SH - PH + k[1] * LH,
                    iw = p * SW - PW + k[2] * LW;
                if (inside(id, ID) && inside(ih, IH) && inside(iw, IW))
                    sum += (double)load(x, element(&X[s], i, c, id, ih, iw)) *
                           (double)load(dy, element(&DY, i, co, d, h, p));
            }
    return sum;
}

UNUSED static double k40_conv_wgrad_bias(int i, const stored *dy, int co) {
    enum { D = 1, H = 32, W = 32 };
    static const Layout DY = {32, 16, 2, 560, 36992, 18496, 18496, 544};
    double sum = 0;
    for (int d = 0; d < D; d++)
        for (int h = 0; h < H; h++)
            for (int p = 0; p < W; p++)
                sum += (double)load(dy, element(&DY, i, co, d, h, p));
    return sum;
}

UNUSED static void k40_conv_wgrad(int n, real *dw, real *db, real *scratch, const stored *const *x,
                          const stored *dy) {
    enum { CI = 32, CO = 32, KD = 1, KH = 3, KW = 3, BIAS = 1, ACCUMULATE = 0, SEGMENTS = 1 };
    static const Layout X[1] = {{32, 16, 2, 560, 36992, 18496, 18496, 544}};
    (void)scratch;
#pragma omp for schedule(static)
    for (int co = 0; co < CO; co++) {
        real *to = dw + co * (long)CI * KD * KH * KW;
        for (int s = 0; s < SEGMENTS; s++)
            for (int c = 0; c < X[s].channels; c++)
                for (int kd = 0; kd < KD; kd++)
                    for (int kh = 0; kh < KH; kh++)
                        for (int kw = 0; kw < KW; kw++) {
                            real sum = ACCUMULATE ? *to : 0;
                            for (int i = 0; i < n; i++)
                                sum +=
                                    (real)k40_conv_wgrad_weight(i, x[s], dy, s, c, co, (const int[]){kd, kh, kw});
                            *to++ = sum;
                        }
        real sum = BIAS && ACCUMULATE ? db[co] : 0;
        for (int i = 0; i < n; i++)
            sum += (real)k40_conv_wgrad_bias(i, dy, co);
        if (BIAS)
            db[co] = sum;
    }
}

/* conv_dgrad: dec2.2 of train, enc2.2 of train */
UNUSED static double k41_conv_dgrad_point(const stored *dy, const real *w, int i, int c, const int *p) {
    enum { CI = 32, CO = 32, D = 1, H = 32, W = 32, KD = 1, SD = 1, LD = 1, PD = 0, KH = 3, SH = 1,
           LH = 1, PH = 1, KW = 3, SW = 1, LW = 1, PW = 1, C0 = 0 };
    static const Layout DY = {32, 16, 2, 560, 36992, 18496, 18496, 544};
    double sum = 0;
    for (int co = 0; co < CO; co++)
        for (int kd = 0; kd < KD; kd++)
            for (int kh = 0; kh < KH; kh++)
                for (int kw = 0; kw < KW; kw++) {
                    int d = window_at(p[0], kd, SD, LD, PD, D), h = window_at(p[1], kh, SH, LH, PH, H);
                    int v = window_at(p[2], kw, SW, LW, PW, W);
                    long weight = (((co * (long)CI + C0 + c) * KD + kd) * KH + kh) * KW + kw;
                    if (d >= 0 && h >= 0 && v >= 0)
                        sum += (double)load(dy, element(&DY, i, co, d, h, v)) * (double)rounded(w[weight]);
                }
    return sum;
}

UNUSED static void k41_conv_dgrad(int n, stored *dx, const stored *dy, const real *w, const stored *m) {
    enum { ID = 1, IH = 32, IW = 32, CS = 32, MASK = 1 };
    static const Layout DX = {32, 16, 2, 560, 36992, 18496, 18496, 544};
    static const Layout M = {32, 16, 2, 560, 36992, 18496, 18496, 544};
#pragma omp for collapse(2) schedule(static)
    for (int i = 0; i < n; i++)
        for (int c = 0; c < stored_channels(&DX); c++)
            for (int d = 0; d < ID; d++)
                for (int h = 0; h < IH; h++)
                    for (int p = 0; p < IW; p++) {
                        int passes = c < CS && !(MASK && !(load(m, element(&M, i, c, d, h, p)) > 0));
                        store(dx, element(&DX, i, c, d, h, p),
                              passes ? (real)k41_conv_dgrad_point(dy, w, i, c, (const int[]){d, h, p}) : 0);
                    }
}

/* conv_wgrad: dec2.0 of train */
/* Sum over the points of sample i of dy(co, o) * x(c, o * S - P + k * L), c a channel of segment s. */
UNUSED static double k42_conv_wgrad_weight(int i, const stored *x, const stored *dy, int s, int c, int co,
                                   const int *k) {
    enum { ID = 1, IH = 32, IW = 32, D = 1, H = 32, W = 32, SD = 1, LD = 1, PD = 0, SH = 1, LH = 1,
           PH = 1, SW = 1, LW = 1, PW = 1 };
    static const Layout X[2] = {{32, 16, 2, 560, 36992, 18496, 18496, 544}, {32, 16, 2, 560, 36992, 18496, 18496, 544}};
    static const Layout DY = {32, 16, 2, 560, 36992, 18496, 18496, 544};
    double sum = 0;
    for (int d = 0; d < D; d++)
        for (int h = 0; h < H; h++)
            for (int p = 0; p < W; p++) {
                int id = d * SD - PD + k[0] * LD, ih = h * SH - PH + k[1] * LH,
                    iw = p * SW - PW + k[2] * LW;
                if (inside(id, ID) && inside(ih, IH) && inside(iw, IW))
                    sum += (double)load(x, element(&X[s], i, c, id, ih, iw)) *
                           (double)load(dy, element(&DY, i, co, d, h, p));
            }
    return sum;
}

UNUSED static double k42_conv_wgrad_bias(int i, const stored *dy, int co) {
    enum { D = 1, H = 32, W = 32 };
    static const Layout DY = {32, 16, 2, 560, 36992, 18496, 18496, 544};
    double sum = 0;
    for (int d = 0; d < D; d++)
        for (int h = 0; h < H; h++)
            for (int p = 0; p < W; p++)
                sum += (double)load(dy, element(&DY, i, co, d, h, p));
    return sum;
}

UNUSED static void k42_conv_wgrad(int n, real *dw, real *db, real *scratch, const stored *const *x,
                          const stored *dy) {
    enum { CI = 64, CO = 32, KD = 1, KH = 3, KW = 3, BIAS = 1, ACCUMULATE = 0, SEGMENTS = 2 };
    static const Layout X[2] = {{32, 16, 2, 560, 36992, 18496, 18496, 544}, {32, 16, 2, 560, 36992, 18496, 18496, 544}};
    (void)scratch;
#pragma omp for schedule(static)
    for (int co = 0; co < CO; co++) {
        real *to = dw + co * (long)CI * KD * KH * KW;
        for (int s = 0; s < SEGMENTS; s++)
            for (int c = 0; c < X[s].channels; c++)
                for (int kd = 0; kd < KD; kd++)
                    for (int kh = 0; kh < KH; kh++)
                        for (int kw = 0; kw < KW; kw++) {
                            real sum = ACCUMULATE ? *to : 0;
                            for (int i = 0; i < n; i++)
                                sum +=
                                    (real)k42_conv_wgrad_weight(i, x[s], dy, s, c, co, (const int[]){kd, kh, kw});
                            *to++ = sum;
                        }
        real sum = BIAS && ACCUMULATE ? db[co] : 0;
        for (int i = 0; i < n; i++)
            sum += (real)k42_conv_wgrad_bias(i, dy, co);
        if (BIAS)
            db[co] = sum;
    }
}

/* conv_dgrad: dec2.0 of train */
UNUSED static double k43_conv_dgrad_point(const stored *dy, const real *w, int i, int c, const int *p) {
    enum { CI = 64, CO = 32, D = 1, H = 32, W = 32, KD = 1, SD = 1, LD = 1, PD = 0, KH = 3, SH = 1,
           LH = 1, PH = 1, KW = 3, SW = 1, LW = 1, PW = 1, C0 = 0 };
    static const Layout DY = {32, 16, 2, 560, 36992, 18496, 18496, 544};
    double sum = 0;
    for (int co = 0; co < CO; co++)
        for (int kd = 0; kd < KD; kd++)
            for (int kh = 0; kh < KH; kh++)
                for (int kw = 0; kw < KW; kw++) {
                    int d = window_at(p[0], kd, SD, LD, PD, D), h = window_at(p[1], kh, SH, LH, PH, H);
                    int v = window_at(p[2], kw, SW, LW, PW, W);
                    long weight = (((co * (long)CI + C0 + c) * KD + kd) * KH + kh) * KW + kw;
                    if (d >= 0 && h >= 0 && v >= 0)
                        sum += (double)load(dy, element(&DY, i, co, d, h, v)) * (double)rounded(w[weight]);
                }
    return sum;
}

UNUSED static void k43_conv_dgrad(int n, stored *dx, const stored *dy, const real *w, const stored *m) {
    enum { ID = 1, IH = 32, IW = 32, CS = 32, MASK = 0 };
    static const Layout DX = {32, 16, 2, 0, 32768, 16384, 16384, 512};
    static const Layout M = {32, 16, 2, 0, 32768, 16384, 16384, 512};
#pragma omp for collapse(2) schedule(static)
    for (int i = 0; i < n; i++)
        for (int c = 0; c < stored_channels(&DX); c++)
            for (int d = 0; d < ID; d++)
                for (int h = 0; h < IH; h++)
                    for (int p = 0; p < IW; p++) {
                        int passes = c < CS && !(MASK && !(load(m, element(&M, i, c, d, h, p)) > 0));
                        store(dx, element(&DX, i, c, d, h, p),
                              passes ? (real)k43_conv_dgrad_point(dy, w, i, c, (const int[]){d, h, p}) : 0);
                    }
}

/* conv_dgrad: dec2.0 of train */
UNUSED static double k44_conv_dgrad_point(const stored *dy, const real *w, int i, int c, const int *p) {
    enum { CI = 64, CO = 32, D = 1, H = 32, W = 32, KD = 1, SD = 1, LD = 1, PD = 0, KH = 3, SH = 1,
           LH = 1, PH = 1, KW = 3, SW = 1, LW = 1, PW = 1, C0 = 32 };
    static const Layout DY = {32, 16, 2, 560, 36992, 18496, 18496, 544};
    double sum = 0;
    for (int co = 0; co < CO; co++)
        for (int kd = 0; kd < KD; kd++)
            for (int kh = 0; kh < KH; kh++)
                for (int kw = 0; kw < KW; kw++) {
                    int d = window_at(p[0], kd, SD, LD, PD, D), h = window_at(p[1], kh, SH, LH, PH, H);
                    int v = window_at(p[2], kw, SW, LW, PW, W);
                    long weight = (((co * (long)CI + C0 + c) * KD + kd) * KH + kh) * KW + kw;
                    if (d >= 0 && h >= 0 && v >= 0)
                        sum += (double)load(dy, element(&DY, i, co, d, h, v)) * (double)rounded(w[weight]);
                }
    return sum;
}

UNUSED static void k44_conv_dgrad(int n, stored *dx, const stored *dy, const real *w, const stored *m) {
    enum { ID = 1, IH = 32, IW = 32, CS = 32, MASK = 0 };
    static const Layout DX = {32, 16, 2, 560, 36992, 18496, 18496, 544};
    static const Layout M = {32, 16, 2, 560, 36992, 18496, 18496, 544};
#pragma omp for collapse(2) schedule(static)
    for (int i = 0; i < n; i++)
        for (int c = 0; c < stored_channels(&DX); c++)
            for (int d = 0; d < ID; d++)
                for (int h = 0; h < IH; h++)
                    for (int p = 0; p < IW; p++) {
                        int passes = c < CS && !(MASK && !(load(m, element(&M, i, c, d, h, p)) > 0));
                        store(dx, element(&DX, i, c, d, h, p),
                              passes ? (real)k44_conv_dgrad_point(dy, w, i, c, (const int[]){d, h, p}) : 0);
                    }
}

/* upconv_wgrad: up2 of train */
/* Sum over the points of sample i of x(c, i) * dy(co, i * S - P + k * L), c a channel of segment s. */
UNUSED static double k45_upconv_wgrad_weight(int i, const stored *x, const stored *dy, int s, int c, int co,
                                   const int *k) {
    enum { ID = 1, IH = 16, IW = 16, D = 1, H = 32, W = 32, SD = 1, LD = 1, PD = 0, SH = 2, LH = 1,
           PH = 0, SW = 2, LW = 1, PW = 0 };
    static const Layout X[1] = {{64, 16, 4, 0, 16384, 4096, 4096, 256}};
    static const Layout DY = {32, 16, 2, 0, 32768, 16384, 16384, 512};
    double sum = 0;
    for (int id = 0; id < ID; id++)
        for (int ih = 0; ih < IH; ih++)
            for (int iw = 0; iw < IW; iw++) {
                int d = id * SD - PD + k[0] * LD, h = ih * SH - PH + k[1] * LH,
                    p = iw * SW - PW + k[2] * LW;
                if (inside(d, D) && inside(h, H) && inside(p, W))
                    sum += (double)load(x, element(&X[s], i, c, id, ih, iw)) *
                           (double)load(dy, element(&DY, i, co, d, h, p));
            }
    return sum;
}

UNUSED static double k45_upconv_wgrad_bias(int i, const stored *dy, int co) {
    enum { D = 1, H = 32, W = 32 };
    static const Layout DY = {32, 16, 2, 0, 32768, 16384, 16384, 512};
    double sum = 0;
    for (int d = 0; d < D; d++)
        for (int h = 0; h < H; h++)
            for (int p = 0; p < W; p++)
                sum += (double)load(dy, element(&DY, i, co, d, h, p));
    return sum;
}

UNUSED static void k45_upconv_wgrad(int n, real *dw, real *db, real *scratch, const stored *const *x,
                          const stored *dy) {
    enum { CO = 32, KD = 1, KH = 2, KW = 2, BIAS = 1, ACCUMULATE = 0, SEGMENTS = 1 };
    static const Layout X[1] = {{64, 16, 4, 0, 16384, 4096, 4096, 256}};
    (void)scratch;
#pragma omp for schedule(static)
    for (int co = 0; co < CO; co++) {
        for (int s = 0, first = 0; s < SEGMENTS; first += X[s].channels, s++)
            for (int c = 0; c < X[s].channels; c++)
                for (int kd = 0; kd < KD; kd++)
                    for (int kh = 0; kh < KH; kh++)
                        for (int kw = 0; kw < KW; kw++) {
                            long weight = ((((first + c) * (long)CO + co) * KD + kd) * KH + kh) * KW + kw;
                            real sum = ACCUMULATE ? dw[weight] : 0;
                            for (int i = 0; i < n; i++)
                                sum +=
                                    (real)k45_upconv_wgrad_weight(i, x[s], dy, s, c, co, (const int[]){kd, kh, kw});
                            dw[weight] = sum;
                        }
        real sum = BIAS && ACCUMULATE ? db[co] : 0;
        for (int i = 0; i < n; i++)
            sum += (real)k45_upconv_wgrad_bias(i, dy, co);
        if (BIAS)
            db[co] = sum;
    }
}

/* upconv_dgrad: up2 of train */
UNUSED static double k46_upconv_dgrad_point(const stored *dy, const real *w, int i, int c, const int *p) {
    enum { CO = 32, D = 1, H = 32, W = 32, KD = 1, SD = 1, LD = 1, PD = 0, KH = 2, SH = 2, LH = 1,
           PH = 0, KW = 2, SW = 2, LW = 1, PW = 0, C0 = 0 };
    static const Layout DY = {32, 16, 2, 0, 32768, 16384, 16384, 512};
    double sum = 0;
    for (int co = 0; co < CO; co++)
        for (int kd = 0; kd < KD; kd++)
            for (int kh = 0; kh < KH; kh++)
                for (int kw = 0; kw < KW; kw++) {
                    int d = p[0] * SD - PD + kd * LD, h = p[1] * SH - PH + kh * LH,
                        v = p[2] * SW - PW + kw * LW;
                    long weight = ((((C0 + c) * (long)CO + co) * KD + kd) * KH + kh) * KW + kw;
                    if (inside(d, D) && inside(h, H) && inside(v, W))
                        sum += (double)load(dy, element(&DY, i, co, d, h, v)) * (double)rounded(w[weight]);
                }
    return sum;
}

UNUSED static void k46_upconv_dgrad(int n, stored *dx, const stored *dy, const real *w, const stored *m) {
    enum { ID = 1, IH = 16, IW = 16, CS = 64, MASK = 1 };
    static const Layout DX = {64, 16, 4, 304, 20736, 5184, 5184, 288};
    static const Layout M = {64, 16, 4, 0, 16384, 4096, 4096, 256};
#pragma omp for collapse(2) schedule(static)
    for (int i = 0; i < n; i++)
        for (int c = 0; c < stored_channels(&DX); c++)
            for (int d = 0; d < ID; d++)
                for (int h = 0; h < IH; h++)
                    for (int p = 0; p < IW; p++) {
                        int passes = c < CS && !(MASK && !(load(m, element(&M, i, c, d, h, p)) > 0));
                        store(dx, element(&DX, i, c, d, h, p),
                              passes ? (real)k46_upconv_dgrad_point(dy, w, i, c, (const int[]){d, h, p}) : 0);
                    }
}

/* conv_wgrad: dec3.2 of train, enc3.2 of train */
/* Sum over the points of sample i of dy(co, o) * x(c, o * S - P + k * L), c a channel of segment s. */
UNUSED static double k47_conv_wgrad_weight(int i, const stored *x, const stored *dy, int s, int c, int co,
                                   const int *k) {
    enum { ID = 1, IH = 16, IW = 16, D = 1, H = 16, W = 16, SD = 1, LD = 1, PD = 0, SH = 1, LH = 1,
           PH = 1, SW = 1, LW = 1, PW = 1 };
    static const Layout X[1] = {{64, 16, 4, 304, 20736, 5184, 5184, 288}};
    static const Layout DY = {64, 16, 4, 304, 20736, 5184, 5184, 288};
    double sum = 0;
    for (int d = 0; d < D; d++)
        for (int h = 0; h < H; h++)
            for (int p = 0; p < W; p++) {
                int id = d * SD - PD + k[0] * LD, ih = h * SH - PH + k[1] * LH,
                    iw = p * SW - PW + k[2] * LW;
                if (inside(id, ID) && inside(ih, IH) && inside(iw, IW))
                    sum += (double)load(x, element(&X[s], i, c, id, ih, iw)) *
                           (double)load(dy, element(&DY, i, co, d, h, p));
            }
    return sum;
}

UNUSED static double k47_conv_wgrad_bias(int i, const stored *dy, int co) {
    enum { D = 1, H = 16, W = 16 };
    static const Layout DY = {64, 16, 4, 304, 20736, 5184, 5184, 288};
    double sum = 0;
    for (int d = 0; d < D; d++)
        for (int h = 0; h < H; h++)
            for (int p = 0; p < W; p++)
                sum += (double)load(dy, element(&DY, i, co, d, h, p));
    return sum;
}

UNUSED static void k47_conv_wgrad(int n, real *dw, real *db, real *scratch, const stored *const *x,
                          const stored *dy) {
    enum { CI = 64, CO = 64, KD = 1, KH = 3, KW = 3, BIAS = 1, ACCUMULATE = 0, SEGMENTS = 1 };
    static const Layout X[1] = {{64, 16, 4, 304, 20736, 5184, 5184, 288}};
    (void)scratch;
#pragma omp for schedule(static)
    for (int co = 0; co < CO; co++) {
        real *to = dw + co * (long)CI * KD * KH * KW;
        for (int s = 0; s < SEGMENTS; s++)
            for (int c = 0; c < X[s].channels; c++)
                for (int kd = 0; kd < KD; kd++)
                    for (int kh = 0; kh < KH; kh++)
                        for (int kw = 0; kw < KW; kw++) {
                            real sum = ACCUMULATE ? *to : 0;
                            for (int i = 0; i < n; i++)
                                sum +=
                                    (real)k47_conv_wgrad_weight(i, x[s], dy, s, c, co, (const int[]){kd, kh, kw});
                            *to++ = sum;
                        }
        real sum = BIAS && ACCUMULATE ? db[co] : 0;
        for (int i = 0; i < n; i++)
            sum += (real)k47_conv_wgrad_bias(i, dy, co);
        if (BIAS)
            db[co] = sum;
    }
}

/* conv_dgrad: dec3.2 of train, enc3.2 of train */
UNUSED static double k48_conv_dgrad_point(const stored *dy, const real *w, int i, int c, const int *p) {
    enum { CI = 64, CO = 64, D = 1, H = 16, W = 16, KD = 1, SD = 1, LD = 1, PD = 0, KH = 3, SH = 1,
           LH = 1, PH = 1, KW = 3, SW = 1, LW = 1, PW = 1, C0 = 0 };
    static const Layout DY = {64, 16, 4, 304, 20736, 5184, 5184, 288};
    double sum = 0;
    for (int co = 0; co < CO; co++)
        for (int kd = 0; kd < KD; kd++)
            for (int kh = 0; kh < KH; kh++)
                for (int kw = 0; kw < KW; kw++) {
                    int d = window_at(p[0], kd, SD, LD, PD, D), h = window_at(p[1], kh, SH, LH, PH, H);
                    int v = window_at(p[2], kw, SW, LW, PW, W);
                    long weight = (((co * (long)CI + C0 + c) * KD + kd) * KH + kh) * KW + kw;
                    if (d >= 0 && h >= 0 && v >= 0)
                        sum += (double)load(dy, element(&DY, i, co, d, h, v)) * (double)rounded(w[weight]);
                }
    return sum;
}

UNUSED static void k48_conv_dgrad(int n, stored *dx, const stored *dy, const real *w, const stored *m) {
    enum { ID = 1, IH = 16, IW = 16, CS = 64, MASK = 1 };
    static const Layout DX = {64, 16, 4, 304, 20736, 5184, 5184, 288};
    static const Layout M = {64, 16, 4, 304, 20736, 5184, 5184, 288};
#pragma omp for collapse(2) schedule(static)
    for (int i = 0; i < n; i++)
        for (int c = 0; c < stored_channels(&DX); c++)
            for (int d = 0; d < ID; d++)
                for (int h = 0; h < IH; h++)
                    for (int p = 0; p < IW; p++) {
                        int passes = c < CS && !(MASK && !(load(m, element(&M, i, c, d, h, p)) > 0));
                        store(dx, element(&DX, i, c, d, h, p),
                              passes ? (real)k48_conv_dgrad_point(dy, w, i, c, (const int[]){d, h, p}) : 0);
                    }
}

/* conv_wgrad: dec3.0 of train */
/* Sum over the points of sample i of dy(co, o) * x(c, o * S - P + k * L), c a channel of segment s. */
UNUSED static double k49_conv_wgrad_weight(int i, const stored *x, const stored *dy, int s, int c, int co,
                                   const int *k) {
    enum { ID = 1, IH = 16, IW = 16, D = 1, H = 16, W = 16, SD = 1, LD = 1, PD = 0, SH = 1, LH = 1,
           PH = 1, SW = 1, LW = 1, PW = 1 };
    static const Layout X[2] = {{64, 16, 4, 304, 20736, 5184, 5184, 288}, {64, 16, 4, 304, 20736, 5184, 5184, 288}};
    static const Layout DY = {64, 16, 4, 304, 20736, 5184, 5184, 288};
    double sum = 0;
    for (int d = 0; d < D; d++)
        for (int h = 0; h < H; h++)
            for (int p = 0; p < W; p++) {
                int id = d * SD - PD + k[0] * LD, ih = h * SH - PH + k[1] * LH,
                    iw = p * SW - PW + k[2] * LW;
                if (inside(id, ID) && inside(ih, IH) && inside(iw, IW))
                    sum += (double)load(x, element(&X[s], i, c, id, ih, iw)) *
                           (double)load(dy, element(&DY, i, co, d, h, p));
            }
    return sum;
}

UNUSED static double k49_conv_wgrad_bias(int i, const stored *dy, int co) {
    enum { D = 1, H = 16, W = 16 };
    static const Layout DY = {64, 16, 4, 304, 20736, 5184, 5184, 288};
    double sum = 0;
    for (int d = 0; d < D; d++)
        for (int h = 0; h < H; h++)
            for (int p = 0; p < W; p++)
                sum += (double)load(dy, element(&DY, i, co, d, h, p));
    return sum;
}

UNUSED static void k49_conv_wgrad(int n, real *dw, real *db, real *scratch, const stored *const *x,
                          const stored *dy) {
    enum { CI = 128, CO = 64, KD = 1, KH = 3, KW = 3, BIAS = 1, ACCUMULATE = 0, SEGMENTS = 2 };
    static const Layout X[2] = {{64, 16, 4, 304, 20736, 5184, 5184, 288}, {64, 16, 4, 304, 20736, 5184, 5184, 288}};
    (void)scratch;
#pragma omp for schedule(static)
    for (int co = 0; co < CO; co++) {
        real *to = dw + co * (long)CI * KD * KH * KW;
        for (int s = 0; s < SEGMENTS; s++)
            for (int c = 0; c < X[s].channels; c++)
                for (int kd = 0; kd < KD; kd++)
                    for (int kh = 0; kh < KH; kh++)
                        for (int kw = 0; kw < KW; kw++) {
                            real sum = ACCUMULATE ? *to : 0;
                            for (int i = 0; i < n; i++)
                                sum +=
                                    (real)k49_conv_wgrad_weight(i, x[s], dy, s, c, co, (const int[]){kd, kh, kw});
                            *to++ = sum;
                        }
        real sum = BIAS && ACCUMULATE ? db[co] : 0;
        for (int i = 0; i < n; i++)
            sum += (real)k49_conv_wgrad_bias(i, dy, co);
        if (BIAS)
            db[co] = sum;
    }
}

/* conv_dgrad: dec3.0 of train */
UNUSED static double k50_conv_dgrad_point(const stored *dy, const real *w, int i, int c, const int *p) {
    enum { CI = 128, CO = 64, D = 1, H = 16, W = 16, KD = 1, SD = 1, LD = 1, PD = 0, KH = 3,
           SH = 1, LH = 1, PH = 1, KW = 3, SW = 1, LW = 1, PW = 1, C0 = 0 };
    static const Layout DY = {64, 16, 4, 304, 20736, 5184, 5184, 288};
    double sum = 0;
    for (int co = 0; co < CO; co++)
        for (int kd = 0; kd < KD; kd++)
            for (int kh = 0; kh < KH; kh++)
                for (int kw = 0; kw < KW; kw++) {
                    int d = window_at(p[0], kd, SD, LD, PD, D), h = window_at(p[1], kh, SH, LH, PH, H);
                    int v = window_at(p[2], kw, SW, LW, PW, W);
                    long weight = (((co * (long)CI + C0 + c) * KD + kd) * KH + kh) * KW + kw;
                    if (d >= 0 && h >= 0 && v >= 0)
                        sum += (double)load(dy, element(&DY, i, co, d, h, v)) * (double)rounded(w[weight]);
                }
    return sum;
}

UNUSED static void k50_conv_dgrad(int n, stored *dx, const stored *dy, const real *w, const stored *m) {
    enum { ID = 1, IH = 16, IW = 16, CS = 64, MASK = 0 };
    static const Layout DX = {64, 16, 4, 0, 16384, 4096, 4096, 256};
    static const Layout M = {64, 16, 4, 0, 16384, 4096, 4096, 256};
#pragma omp for collapse(2) schedule(static)
    for (int i = 0; i < n; i++)
        for (int c = 0; c < stored_channels(&DX); c++)
            for (int d = 0; d < ID; d++)
                for (int h = 0; h < IH; h++)
                    for (int p = 0; p < IW; p++) {
                        int passes = c < CS && !(MASK && !(load(m, element(&M, i, c, d, h, p)) > 0));
                        store(dx, element(&DX, i, c, d, h, p),
                              passes ? (real)k50_conv_dgrad_point(dy, w, i, c, (const int[]){d, h, p}) : 0);
                    }
}

/* conv_dgrad: dec3.0 of train */
UNUSED static double k51_conv_dgrad_point(const stored *dy, const real *w, int i, int c, const int *p) {
    enum { CI = 128, CO = 64, D = 1, H = 16, W = 16, KD = 1, SD = 1, LD = 1, PD = 0, KH = 3,
           SH = 1, LH = 1, PH = 1, KW = 3, SW = 1, LW = 1, PW = 1, C0 = 64 };
    static const Layout DY = {64, 16, 4, 304, 20736, 5184, 5184, 288};
    double sum = 0;
    for (int co = 0; co < CO; co++)
        for (int kd = 0; kd < KD; kd++)
            for (int kh = 0; kh < KH; kh++)
                for (int kw = 0; kw < KW; kw++) {
                    int d = window_at(p[0], kd, SD, LD, PD, D), h = window_at(p[1], kh, SH, LH, PH, H);
                    int v = window_at(p[2], kw, SW, LW, PW, W);
                    long weight = (((co * (long)CI + C0 + c) * KD + kd) * KH + kh) * KW + kw;
                    if (d >= 0 && h >= 0 && v >= 0)
                        sum += (double)load(dy, element(&DY, i, co, d, h, v)) * (double)rounded(w[weight]);
                }
    return sum;
}

UNUSED static void k51_conv_dgrad(int n, stored *dx, const stored *dy, const real *w, const stored *m) {
    enum { ID = 1, IH = 16, IW = 16, CS = 64, MASK = 0 };
    static const Layout DX = {64, 16, 4, 304, 20736, 5184, 5184, 288};
    static const Layout M = {64, 16, 4, 304, 20736, 5184, 5184, 288};
#pragma omp for collapse(2) schedule(static)
    for (int i = 0; i < n; i++)
        for (int c = 0; c < stored_channels(&DX); c++)
            for (int d = 0; d < ID; d++)
                for (int h = 0; h < IH; h++)
                    for (int p = 0; p < IW; p++) {
                        int passes = c < CS && !(MASK && !(load(m, element(&M, i, c, d, h, p)) > 0));
                        store(dx, element(&DX, i, c, d, h, p),
                              passes ? (real)k51_conv_dgrad_point(dy, w, i, c, (const int[]){d, h, p}) : 0);
                    }
}

/* upconv_wgrad: up3 of train */
/* Sum over the points of sample i of x(c, i) * dy(co, i * S - P + k * L), c a channel of segment s. */
UNUSED static double k52_upconv_wgrad_weight(int i, const stored *x, const stored *dy, int s, int c, int co,
                                   const int *k) {
    enum { ID = 1, IH = 8, IW = 8, D = 1, H = 16, W = 16, SD = 1, LD = 1, PD = 0, SH = 2, LH = 1,
           PH = 0, SW = 2, LW = 1, PW = 0 };
    static const Layout X[1] = {{128, 16, 8, 0, 8192, 1024, 1024, 128}};
    static const Layout DY = {64, 16, 4, 0, 16384, 4096, 4096, 256};
    double sum = 0;
    for (int id = 0; id < ID; id++)
        for (int ih = 0; ih < IH; ih++)
            for (int iw = 0; iw < IW; iw++) {
                int d = id * SD - PD + k[0] * LD, h = ih * SH - PH + k[1] * LH,
                    p = iw * SW - PW + k[2] * LW;
                if (inside(d, D) && inside(h, H) && inside(p, W))
                    sum += (double)load(x, element(&X[s], i, c, id, ih, iw)) *
                           (double)load(dy, element(&DY, i, co, d, h, p));
            }
    return sum;
}

UNUSED static double k52_upconv_wgrad_bias(int i, const stored *dy, int co) {
    enum { D = 1, H = 16, W = 16 };
    static const Layout DY = {64, 16, 4, 0, 16384, 4096, 4096, 256};
    double sum = 0;
    for (int d = 0; d < D; d++)
        for (int h = 0; h < H; h++)
            for (int p = 0; p < W; p++)
                sum += (double)load(dy, element(&DY, i, co, d, h, p));
    return sum;
}

UNUSED static void k52_upconv_wgrad(int n, real *dw, real *db, real *scratch, const stored *const *x,
                          const stored *dy) {
    enum { CO = 64, KD = 1, KH = 2, KW = 2, BIAS = 1, ACCUMULATE = 0, SEGMENTS = 1 };
    static const Layout X[1] = {{128, 16, 8, 0, 8192, 1024, 1024, 128}};
    (void)scratch;
#pragma omp for schedule(static)
    for (int co = 0; co < CO; co++) {
        for (int s = 0, first = 0; s < SEGMENTS; first += X[s].channels, s++)
            for (int c = 0; c < X[s].channels; c++)
                for (int kd = 0; kd < KD; kd++)
                    for (int kh = 0; kh < KH; kh++)
                        for (int kw = 0; kw < KW; kw++) {
                            long weight = ((((first + c) * (long)CO + co) * KD + kd) * KH + kh) * KW + kw;
                            real sum = ACCUMULATE ? dw[weight] : 0;
                            for (int i = 0; i < n; i++)
                                sum +=
                                    (real)k52_upconv_wgrad_weight(i, x[s], dy, s, c, co, (const int[]){kd, kh, kw});
                            dw[weight] = sum;
                        }
        real sum = BIAS && ACCUMULATE ? db[co] : 0;
        for (int i = 0; i < n; i++)
            sum += (real)k52_upconv_wgrad_bias(i, dy, co);
        if (BIAS)
            db[co] = sum;
    }
}

/* upconv_dgrad: up3 of train */
UNUSED static double k53_upconv_dgrad_point(const stored *dy, const real *w, int i, int c, const int *p) {
    enum { CO = 64, D = 1, H = 16, W = 16, KD = 1, SD = 1, LD = 1, PD = 0, KH = 2, SH = 2, LH = 1,
           PH = 0, KW = 2, SW = 2, LW = 1, PW = 0, C0 = 0 };
    static const Layout DY = {64, 16, 4, 0, 16384, 4096, 4096, 256};
    double sum = 0;
    for (int co = 0; co < CO; co++)
        for (int kd = 0; kd < KD; kd++)
            for (int kh = 0; kh < KH; kh++)
                for (int kw = 0; kw < KW; kw++) {
                    int d = p[0] * SD - PD + kd * LD, h = p[1] * SH - PH + kh * LH,
                        v = p[2] * SW - PW + kw * LW;
                    long weight = ((((C0 + c) * (long)CO + co) * KD + kd) * KH + kh) * KW + kw;
                    if (inside(d, D) && inside(h, H) && inside(v, W))
                        sum += (double)load(dy, element(&DY, i, co, d, h, v)) * (double)rounded(w[weight]);
                }
    return sum;
}

UNUSED static void k53_upconv_dgrad(int n, stored *dx, const stored *dy, const real *w, const stored *m) {
    enum { ID = 1, IH = 8, IW = 8, CS = 128, MASK = 1 };
    static const Layout DX = {128, 16, 8, 176, 12800, 1600, 1600, 160};
    static const Layout M = {128, 16, 8, 0, 8192, 1024, 1024, 128};
#pragma omp for collapse(2) schedule(static)
    for (int i = 0; i < n; i++)
        for (int c = 0; c < stored_channels(&DX); c++)
            for (int d = 0; d < ID; d++)
                for (int h = 0; h < IH; h++)
                    for (int p = 0; p < IW; p++) {
                        int passes = c < CS && !(MASK && !(load(m, element(&M, i, c, d, h, p)) > 0));
                        store(dx, element(&DX, i, c, d, h, p),
                              passes ? (real)k53_upconv_dgrad_point(dy, w, i, c, (const int[]){d, h, p}) : 0);
                    }
}

/* conv_wgrad: bottleneck.2 of train */
/* Sum over the points of sample i of dy(co, o) * x(c, o * S - P + k * L), c a channel of segment s. */
UNUSED static double k54_conv_wgrad_weight(int i, const stored *x, const stored *dy, int s, int c, int co,
                                   const int *k) {
    enum { ID = 1, IH = 8, IW = 8, D = 1, H = 8, W = 8, SD = 1, LD = 1, PD = 0, SH = 1, LH = 1,
           PH = 1, SW = 1, LW = 1, PW = 1 };
    static const Layout X[1] = {{128, 16, 8, 176, 12800, 1600, 1600, 160}};
    static const Layout DY = {128, 16, 8, 176, 12800, 1600, 1600, 160};
    double sum = 0;
    for (int d = 0; d < D; d++)
        for (int h = 0; h < H; h++)
            for (int p = 0; p < W; p++) {
                int id = d * SD - PD + k[0] * LD, ih = h * SH - PH + k[1] * LH,
                    iw = p * SW - PW + k[2] * LW;
                if (inside(id, ID) && inside(ih, IH) && inside(iw, IW))
                    sum += (double)load(x, element(&X[s], i, c, id, ih, iw)) *
                           (double)load(dy, element(&DY, i, co, d, h, p));
            }
    return sum;
}

UNUSED static double k54_conv_wgrad_bias(int i, const stored *dy, int co) {
    enum { D = 1, H = 8, W = 8 };
    static const Layout DY = {128, 16, 8, 176, 12800, 1600, 1600, 160};
    double sum = 0;
    for (int d = 0; d < D; d++)
        for (int h = 0; h < H; h++)
            for (int p = 0; p < W; p++)
                sum += (double)load(dy, element(&DY, i, co, d, h, p));
    return sum;
}

UNUSED static void k54_conv_wgrad(int n, real *dw, real *db, real *scratch, const stored *const *x,
                          const stored *dy) {
    enum { CI = 128, CO = 128, KD = 1, KH = 3, KW = 3, BIAS = 1, ACCUMULATE = 0, SEGMENTS = 1 };
    static const Layout X[1] = {{128, 16, 8, 176, 12800, 1600, 1600, 160}};
    (void)scratch;
#pragma omp for schedule(static)
    for (int co = 0; co < CO; co++) {
        real *to = dw + co * (long)CI * KD * KH * KW;
        for (int s = 0; s < SEGMENTS; s++)
            for (int c = 0; c < X[s].channels; c++)
                for (int kd = 0; kd < KD; kd++)
                    for (int kh = 0; kh < KH; kh++)
                        for (int kw = 0; kw < KW; kw++) {
                            real sum = ACCUMULATE ? *to : 0;
                            for (int i = 0; i < n; i++)
                                sum +=
                                    (real)k54_conv_wgrad_weight(i, x[s], dy, s, c, co, (const int[]){kd, kh, kw});
                            *to++ = sum;
                        }
        real sum = BIAS && ACCUMULATE ? db[co] : 0;
        for (int i = 0; i < n; i++)
            sum += (real)k54_conv_wgrad_bias(i, dy, co);
        if (BIAS)
            db[co] = sum;
    }
}

/* conv_dgrad: bottleneck.2 of train */
UNUSED static double k55_conv_dgrad_point(const stored *dy, const real *w, int i, int c, const int *p) {
    enum { CI = 128, CO = 128, D = 1, H = 8, W = 8, KD = 1, SD = 1, LD = 1, PD = 0, KH = 3, SH = 1,
           LH = 1, PH = 1, KW = 3, SW = 1, LW = 1, PW = 1, C0 = 0 };
    static const Layout DY = {128, 16, 8, 176, 12800, 1600, 1600, 160};
    double sum = 0;
    for (int co = 0; co < CO; co++)
        for (int kd = 0; kd < KD; kd++)
            for (int kh = 0; kh < KH; kh++)
                for (int kw = 0; kw < KW; kw++) {
                    int d = window_at(p[0], kd, SD, LD, PD, D), h = window_at(p[1], kh, SH, LH, PH, H);
                    int v = window_at(p[2], kw, SW, LW, PW, W);
                    long weight = (((co * (long)CI + C0 + c) * KD + kd) * KH + kh) * KW + kw;
                    if (d >= 0 && h >= 0 && v >= 0)
                        sum += (double)load(dy, element(&DY, i, co, d, h, v)) * (double)rounded(w[weight]);
                }
    return sum;
}

UNUSED static void k55_conv_dgrad(int n, stored *dx, const stored *dy, const real *w, const stored *m) {
    enum { ID = 1, IH = 8, IW = 8, CS = 128, MASK = 1 };
    static const Layout DX = {128, 16, 8, 176, 12800, 1600, 1600, 160};
    static const Layout M = {128, 16, 8, 176, 12800, 1600, 1600, 160};
#pragma omp for collapse(2) schedule(static)
    for (int i = 0; i < n; i++)
        for (int c = 0; c < stored_channels(&DX); c++)
            for (int d = 0; d < ID; d++)
                for (int h = 0; h < IH; h++)
                    for (int p = 0; p < IW; p++) {
                        int passes = c < CS && !(MASK && !(load(m, element(&M, i, c, d, h, p)) > 0));
                        store(dx, element(&DX, i, c, d, h, p),
                              passes ? (real)k55_conv_dgrad_point(dy, w, i, c, (const int[]){d, h, p}) : 0);
                    }
}

/* conv_wgrad: bottleneck.0 of train */
/* Sum over the points of sample i of dy(co, o) * x(c, o * S - P + k * L), c a channel of segment s. */
UNUSED static double k56_conv_wgrad_weight(int i, const stored *x, const stored *dy, int s, int c, int co,
                                   const int *k) {
    enum { ID = 1, IH = 8, IW = 8, D = 1, H = 8, W = 8, SD = 1, LD = 1, PD = 0, SH = 1, LH = 1,
           PH = 1, SW = 1, LW = 1, PW = 1 };
    static const Layout X[1] = {{64, 16, 4, 176, 6400, 1600, 1600, 160}};
    static const Layout DY = {128, 16, 8, 176, 12800, 1600, 1600, 160};
    double sum = 0;
    for (int d = 0; d < D; d++)
        for (int h = 0; h < H; h++)
            for (int p = 0; p < W; p++) {
                int id = d * SD - PD + k[0] * LD, ih = h * SH - PH + k[1] * LH,
                    iw = p * SW - PW + k[2] * LW;
                if (inside(id, ID) && inside(ih, IH) && inside(iw, IW))
                    sum += (double)load(x, element(&X[s], i, c, id, ih, iw)) *
                           (double)load(dy, element(&DY, i, co, d, h, p));
            }
    return sum;
}

UNUSED static double k56_conv_wgrad_bias(int i, const stored *dy, int co) {
    enum { D = 1, H = 8, W = 8 };
    static const Layout DY = {128, 16, 8, 176, 12800, 1600, 1600, 160};
    double sum = 0;
    for (int d = 0; d < D; d++)
        for (int h = 0; h < H; h++)
            for (int p = 0; p < W; p++)
                sum += (double)load(dy, element(&DY, i, co, d, h, p));
    return sum;
}

UNUSED static void k56_conv_wgrad(int n, real *dw, real *db, real *scratch, const stored *const *x,
                          const stored *dy) {
    enum { CI = 64, CO = 128, KD = 1, KH = 3, KW = 3, BIAS = 1, ACCUMULATE = 0, SEGMENTS = 1 };
    static const Layout X[1] = {{64, 16, 4, 176, 6400, 1600, 1600, 160}};
    (void)scratch;
#pragma omp for schedule(static)
    for (int co = 0; co < CO; co++) {
        real *to = dw + co * (long)CI * KD * KH * KW;
        for (int s = 0; s < SEGMENTS; s++)
            for (int c = 0; c < X[s].channels; c++)
                for (int kd = 0; kd < KD; kd++)
                    for (int kh = 0; kh < KH; kh++)
                        for (int kw = 0; kw < KW; kw++) {
                            real sum = ACCUMULATE ? *to : 0;
                            for (int i = 0; i < n; i++)
                                sum +=
                                    (real)k56_conv_wgrad_weight(i, x[s], dy, s, c, co, (const int[]){kd, kh, kw});
                            *to++ = sum;
                        }
        real sum = BIAS && ACCUMULATE ? db[co] : 0;
        for (int i = 0; i < n; i++)
            sum += (real)k56_conv_wgrad_bias(i, dy, co);
        if (BIAS)
            db[co] = sum;
    }
}

/* conv_dgrad: bottleneck.0 of train */
UNUSED static double k57_conv_dgrad_point(const stored *dy, const real *w, int i, int c, const int *p) {
    enum { CI = 64, CO = 128, D = 1, H = 8, W = 8, KD = 1, SD = 1, LD = 1, PD = 0, KH = 3, SH = 1,
           LH = 1, PH = 1, KW = 3, SW = 1, LW = 1, PW = 1, C0 = 0 };
    static const Layout DY = {128, 16, 8, 176, 12800, 1600, 1600, 160};
    double sum = 0;
    for (int co = 0; co < CO; co++)
        for (int kd = 0; kd < KD; kd++)
            for (int kh = 0; kh < KH; kh++)
                for (int kw = 0; kw < KW; kw++) {
                    int d = window_at(p[0], kd, SD, LD, PD, D), h = window_at(p[1], kh, SH, LH, PH, H);
                    int v = window_at(p[2], kw, SW, LW, PW, W);
                    long weight = (((co * (long)CI + C0 + c) * KD + kd) * KH + kh) * KW + kw;
                    if (d >= 0 && h >= 0 && v >= 0)
                        sum += (double)load(dy, element(&DY, i, co, d, h, v)) * (double)rounded(w[weight]);
                }
    return sum;
}

UNUSED static void k57_conv_dgrad(int n, stored *dx, const stored *dy, const real *w, const stored *m) {
    enum { ID = 1, IH = 8, IW = 8, CS = 64, MASK = 0 };
    static const Layout DX = {64, 16, 4, 0, 4096, 1024, 1024, 128};
    static const Layout M = {64, 16, 4, 0, 4096, 1024, 1024, 128};
#pragma omp for collapse(2) schedule(static)
    for (int i = 0; i < n; i++)
        for (int c = 0; c < stored_channels(&DX); c++)
            for (int d = 0; d < ID; d++)
                for (int h = 0; h < IH; h++)
                    for (int p = 0; p < IW; p++) {
                        int passes = c < CS && !(MASK && !(load(m, element(&M, i, c, d, h, p)) > 0));
                        store(dx, element(&DX, i, c, d, h, p),
                              passes ? (real)k57_conv_dgrad_point(dy, w, i, c, (const int[]){d, h, p}) : 0);
                    }
}

/* max_pool_grad: bottleneck.max_pool of train */
/* Whether the first maximum of window (d, h, p) is at point (id, ih, iw): earlier ones are less, none is
 * more. */
UNUSED static int k58_max_pool_grad_chosen(const stored *x, int i, int c, const int *window, const int *point) {
    enum { ID = 1, IH = 16, IW = 16, KD = 1, SD = 1, PD = 0, KH = 2, SH = 2, PH = 0, KW = 2,
           SW = 2, PW = 0 };
    static const Layout X = {64, 16, 4, 304, 20736, 5184, 5184, 288};
    int chosen[3] = {-1, -1, -1};
    real most = 0;
    for (int kd = 0; kd < KD; kd++)
        for (int kh = 0; kh < KH; kh++)
            for (int kw = 0; kw < KW; kw++) {
                int id = window[0] * SD - PD + kd, ih = window[1] * SH - PH + kh,
                    iw = window[2] * SW - PW + kw;
                if (!inside(id, ID) || !inside(ih, IH) || !inside(iw, IW))
                    continue;
                real v = load(x, element(&X, i, c, id, ih, iw));
                if (chosen[0] < 0 || v > most || v != v) {
                    most = v;
                    chosen[0] = id, chosen[1] = ih, chosen[2] = iw;
                }
            }
    return chosen[0] == point[0] && chosen[1] == point[1] && chosen[2] == point[2];
}

/* Sum over the windows that chose the point, in the order of the windows. */
UNUSED static real k58_max_pool_grad_point(const stored *x, const stored *dy, int i, int c, const int *point) {
    enum { D = 1, H = 8, W = 8, KD = 1, SD = 1, PD = 0, KH = 2, SH = 2, PH = 0, KW = 2, SW = 2,
           PW = 0 };
    static const Layout DY = {64, 16, 4, 0, 4096, 1024, 1024, 128};
    real sum = 0;
    for (int kd = KD - 1; kd >= 0; kd--)
        for (int kh = KH - 1; kh >= 0; kh--)
            for (int kw = KW - 1; kw >= 0; kw--) {
                int window[3] = {window_at(point[0], kd, SD, 1, PD, D),
                                 window_at(point[1], kh, SH, 1, PH, H),
                                 window_at(point[2], kw, SW, 1, PW, W)};
                if (window[0] >= 0 && window[1] >= 0 && window[2] >= 0 &&
                    k58_max_pool_grad_chosen(x, i, c, window, point))
                    sum += load(dy, element(&DY, i, c, window[0], window[1], window[2]));
            }
    return sum;
}

UNUSED static void k58_max_pool_grad(int n, stored *dx, const stored *x, const stored *dy, const stored *a) {
    enum { C = 64, ID = 1, IH = 16, IW = 16, ACCUMULATE = 1, MASK = 1 };
    static const Layout DX = {64, 16, 4, 304, 20736, 5184, 5184, 288};
    static const Layout X = {64, 16, 4, 304, 20736, 5184, 5184, 288};
    static const Layout A = {64, 16, 4, 304, 20736, 5184, 5184, 288};
#pragma omp for collapse(2) schedule(static)
    for (int i = 0; i < n; i++)
        for (int c = 0; c < stored_channels(&DX); c++)
            for (int d = 0; d < ID; d++)
                for (int h = 0; h < IH; h++)
                    for (int p = 0; p < IW; p++) {
                        real sum = c < C ? k58_max_pool_grad_point(x, dy, i, c, (const int[]){d, h, p}) : 0;
                        if (ACCUMULATE && c < C)
                            sum += load(a, element(&A, i, c, d, h, p));
                        if (MASK && c < C && !(load(x, element(&X, i, c, d, h, p)) > 0))
                            sum = 0;
                        store(dx, element(&DX, i, c, d, h, p), sum);
                    }
}

/* conv_wgrad: enc3.0 of train */
/* Sum over the points of sample i of dy(co, o) * x(c, o * S - P + k * L), c a channel of segment s. */
UNUSED static double k59_conv_wgrad_weight(int i, const stored *x, const stored *dy, int s, int c, int co,
                                   const int *k) {
    enum { ID = 1, IH = 16, IW = 16, D = 1, H = 16, W = 16, SD = 1, LD = 1, PD = 0, SH = 1, LH = 1,
           PH = 1, SW = 1, LW = 1, PW = 1 };
    static const Layout X[1] = {{32, 16, 2, 304, 10368, 5184, 5184, 288}};
    static const Layout DY = {64, 16, 4, 304, 20736, 5184, 5184, 288};
    double sum = 0;
    for (int d = 0; d < D; d++)
        for (int h = 0; h < H; h++)
            for (int p = 0; p < W; p++) {
                int id = d * SD - PD + k[0] * LD, ih = h * SH - PH + k[1] * LH,
                    iw = p * SW - PW + k[2] * LW;
                if (inside(id, ID) && inside(ih, IH) && inside(iw, IW))
                    sum += (double)load(x, element(&X[s], i, c, id, ih, iw)) *
                           (double)load(dy, element(&DY, i, co, d, h, p));
            }
    return sum;
}

UNUSED static double k59_conv_wgrad_bias(int i, const stored *dy, int co) {
    enum { D = 1, H = 16, W = 16 };
    static const Layout DY = {64, 16, 4, 304, 20736, 5184, 5184, 288};
    double sum = 0;
    for (int d = 0; d < D; d++)
        for (int h = 0; h < H; h++)
            for (int p = 0; p < W; p++)
                sum += (double)load(dy, element(&DY, i, co, d, h, p));
    return sum;
}

UNUSED static void k59_conv_wgrad(int n, real *dw, real *db, real *scratch, const stored *const *x,
                          const stored *dy) {
    enum { CI = 32, CO = 64, KD = 1, KH = 3, KW = 3, BIAS = 1, ACCUMULATE = 0, SEGMENTS = 1 };
    static const Layout X[1] = {{32, 16, 2, 304, 10368, 5184, 5184, 288}};
    (void)scratch;
#pragma omp for schedule(static)
    for (int co = 0; co < CO; co++) {
        real *to = dw + co * (long)CI * KD * KH * KW;
        for (int s = 0; s < SEGMENTS; s++)
            for (int c = 0; c < X[s].channels; c++)
                for (int kd = 0; kd < KD; kd++)
                    for (int kh = 0; kh < KH; kh++)
                        for (int kw = 0; kw < KW; kw++) {
                            real sum = ACCUMULATE ? *to : 0;
                            for (int i = 0; i < n; i++)
                                sum +=
                                    (real)k59_conv_wgrad_weight(i, x[s], dy, s, c, co, (const int[]){kd, kh, kw});
                            *to++ = sum;
                        }
        real sum = BIAS && ACCUMULATE ? db[co] : 0;
        for (int i = 0; i < n; i++)
            sum += (real)k59_conv_wgrad_bias(i, dy, co);
        if (BIAS)
            db[co] = sum;
    }
}

/* conv_dgrad: enc3.0 of train */
UNUSED static double k60_conv_dgrad_point(const stored *dy, const real *w, int i, int c, const int *p) {
    enum { CI = 32, CO = 64, D = 1, H = 16, W = 16, KD = 1, SD = 1, LD = 1, PD = 0, KH = 3, SH = 1,
           LH = 1, PH = 1, KW = 3, SW = 1, LW = 1, PW = 1, C0 = 0 };
    static const Layout DY = {64, 16, 4, 304, 20736, 5184, 5184, 288};
    double sum = 0;
    for (int co = 0; co < CO; co++)
        for (int kd = 0; kd < KD; kd++)
            for (int kh = 0; kh < KH; kh++)
                for (int kw = 0; kw < KW; kw++) {
                    int d = window_at(p[0], kd, SD, LD, PD, D), h = window_at(p[1], kh, SH, LH, PH, H);
                    int v = window_at(p[2], kw, SW, LW, PW, W);
                    long weight = (((co * (long)CI + C0 + c) * KD + kd) * KH + kh) * KW + kw;
                    if (d >= 0 && h >= 0 && v >= 0)
                        sum += (double)load(dy, element(&DY, i, co, d, h, v)) * (double)rounded(w[weight]);
                }
    return sum;
}

UNUSED static void k60_conv_dgrad(int n, stored *dx, const stored *dy, const real *w, const stored *m) {
    enum { ID = 1, IH = 16, IW = 16, CS = 32, MASK = 0 };
    static const Layout DX = {32, 16, 2, 0, 8192, 4096, 4096, 256};
    static const Layout M = {32, 16, 2, 0, 8192, 4096, 4096, 256};
#pragma omp for collapse(2) schedule(static)
    for (int i = 0; i < n; i++)
        for (int c = 0; c < stored_channels(&DX); c++)
            for (int d = 0; d < ID; d++)
                for (int h = 0; h < IH; h++)
                    for (int p = 0; p < IW; p++) {
                        int passes = c < CS && !(MASK && !(load(m, element(&M, i, c, d, h, p)) > 0));
                        store(dx, element(&DX, i, c, d, h, p),
                              passes ? (real)k60_conv_dgrad_point(dy, w, i, c, (const int[]){d, h, p}) : 0);
                    }
}

/* max_pool_grad: enc3.max_pool of train */
/* Whether the first maximum of window (d, h, p) is at point (id, ih, iw): earlier ones are less, none is
 * more. */
UNUSED static int k61_max_pool_grad_chosen(const stored *x, int i, int c, const int *window, const int *point) {
    enum { ID = 1, IH = 32, IW = 32, KD = 1, SD = 1, PD = 0, KH = 2, SH = 2, PH = 0, KW = 2,
           SW = 2, PW = 0 };
    static const Layout X = {32, 16, 2, 560, 36992, 18496, 18496, 544};
    int chosen[3] = {-1, -1, -1};
    real most = 0;
    for (int kd = 0; kd < KD; kd++)
        for (int kh = 0; kh < KH; kh++)
            for (int kw = 0; kw < KW; kw++) {
                int id = window[0] * SD - PD + kd, ih = window[1] * SH - PH + kh,
                    iw = window[2] * SW - PW + kw;
                if (!inside(id, ID) || !inside(ih, IH) || !inside(iw, IW))
                    continue;
                real v = load(x, element(&X, i, c, id, ih, iw));
                if (chosen[0] < 0 || v > most || v != v) {
                    most = v;
                    chosen[0] = id, chosen[1] = ih, chosen[2] = iw;
                }
            }
    return chosen[0] == point[0] && chosen[1] == point[1] && chosen[2] == point[2];
}

/* Sum over the windows that chose the point, in the order of the windows. */
UNUSED static real k61_max_pool_grad_point(const stored *x, const stored *dy, int i, int c, const int *point) {
    enum { D = 1, H = 16, W = 16, KD = 1, SD = 1, PD = 0, KH = 2, SH = 2, PH = 0, KW = 2, SW = 2,
           PW = 0 };
    static const Layout DY = {32, 16, 2, 0, 8192, 4096, 4096, 256};
    real sum = 0;
    for (int kd = KD - 1; kd >= 0; kd--)
        for (int kh = KH - 1; kh >= 0; kh--)
            for (int kw = KW - 1; kw >= 0; kw--) {
                int window[3] = {window_at(point[0], kd, SD, 1, PD, D),
                                 window_at(point[1], kh, SH, 1, PH, H),
                                 window_at(point[2], kw, SW, 1, PW, W)};
                if (window[0] >= 0 && window[1] >= 0 && window[2] >= 0 &&
                    k61_max_pool_grad_chosen(x, i, c, window, point))
                    sum += load(dy, element(&DY, i, c, window[0], window[1], window[2]));
            }
    return sum;
}

UNUSED static void k61_max_pool_grad(int n, stored *dx, const stored *x, const stored *dy, const stored *a) {
    enum { C = 32, ID = 1, IH = 32, IW = 32, ACCUMULATE = 1, MASK = 1 };
    static const Layout DX = {32, 16, 2, 560, 36992, 18496, 18496, 544};
    static const Layout X = {32, 16, 2, 560, 36992, 18496, 18496, 544};
    static const Layout A = {32, 16, 2, 560, 36992, 18496, 18496, 544};
#pragma omp for collapse(2) schedule(static)
    for (int i = 0; i < n; i++)
        for (int c = 0; c < stored_channels(&DX); c++)
            for (int d = 0; d < ID; d++)
                for (int h = 0; h < IH; h++)
                    for (int p = 0; p < IW; p++) {
                        real sum = c < C ? k61_max_pool_grad_point(x, dy, i, c, (const int[]){d, h, p}) : 0;
                        if (ACCUMULATE && c < C)
                            sum += load(a, element(&A, i, c, d, h, p));
                        if (MASK && c < C && !(load(x, element(&X, i, c, d, h, p)) > 0))
                            sum = 0;
                        store(dx, element(&DX, i, c, d, h, p), sum);
                    }
}

/* conv_wgrad: enc2.0 of train */
/* Sum over the points of sample i of dy(co, o) * x(c, o * S - P + k * L), c a channel of segment s. */
UNUSED static double k62_conv_wgrad_weight(int i, const stored *x, const stored *dy, int s, int c, int co,
                                   const int *k) {
    enum { ID = 1, IH = 32, IW = 32, D = 1, H = 32, W = 32, SD = 1, LD = 1, PD = 0, SH = 1, LH = 1,
           PH = 1, SW = 1, LW = 1, PW = 1 };
    static const Layout X[1] = {{16, 16, 1, 560, 18496, 18496, 18496, 544}};
    static const Layout DY = {32, 16, 2, 560, 36992, 18496, 18496, 544};
    double sum = 0;
    for (int d = 0; d < D; d++)
        for (int h = 0; h < H; h++)
            for (int p = 0; p < W; p++) {
                int id = d * SD - PD + k[0] * LD, ih = h * SH - PH + k[1] * LH,
                    iw = p * SW - PW + k[2] * LW;
                if (inside(id, ID) && inside(ih, IH) && inside(iw, IW))
                    sum += (double)load(x, element(&X[s], i, c, id, ih, iw)) *
                           (double)load(dy, element(&DY, i, co, d, h, p));
            }
    return sum;
}

UNUSED static double k62_conv_wgrad_bias(int i, const stored *dy, int co) {
    enum { D = 1, H = 32, W = 32 };
    static const Layout DY = {32, 16, 2, 560, 36992, 18496, 18496, 544};
    double sum = 0;
    for (int d = 0; d < D; d++)
        for (int h = 0; h < H; h++)
            for (int p = 0; p < W; p++)
                sum += (double)load(dy, element(&DY, i, co, d, h, p));
    return sum;
}

UNUSED static void k62_conv_wgrad(int n, real *dw, real *db, real *scratch, const stored *const *x,
                          const stored *dy) {
    enum { CI = 16, CO = 32, KD = 1, KH = 3, KW = 3, BIAS = 1, ACCUMULATE = 0, SEGMENTS = 1 };
    static const Layout X[1] = {{16, 16, 1, 560, 18496, 18496, 18496, 544}};
    (void)scratch;
#pragma omp for schedule(static)
    for (int co = 0; co < CO; co++) {
        real *to = dw + co * (long)CI * KD * KH * KW;
        for (int s = 0; s < SEGMENTS; s++)
            for (int c = 0; c < X[s].channels; c++)
                for (int kd = 0; kd < KD; kd++)
                    for (int kh = 0; kh < KH; kh++)
                        for (int kw = 0; kw < KW; kw++) {
                            real sum = ACCUMULATE ? *to : 0;
                            for (int i = 0; i < n; i++)
                                sum +=
                                    (real)k62_conv_wgrad_weight(i, x[s], dy, s, c, co, (const int[]){kd, kh, kw});
                            *to++ = sum;
                        }
        real sum = BIAS && ACCUMULATE ? db[co] : 0;
        for (int i = 0; i < n; i++)
            sum += (real)k62_conv_wgrad_bias(i, dy, co);
        if (BIAS)
            db[co] = sum;
    }
}

/* conv_dgrad: enc2.0 of train */
UNUSED static double k63_conv_dgrad_point(const stored *dy, const real *w, int i, int c, const int *p) {
    enum { CI = 16, CO = 32, D = 1, H = 32, W = 32, KD = 1, SD = 1, LD = 1, PD = 0, KH = 3, SH = 1,
           LH = 1, PH = 1, KW = 3, SW = 1, LW = 1, PW = 1, C0 = 0 };
    static const Layout DY = {32, 16, 2, 560, 36992, 18496, 18496, 544};
    double sum = 0;
    for (int co = 0; co < CO; co++)
        for (int kd = 0; kd < KD; kd++)
            for (int kh = 0; kh < KH; kh++)
                for (int kw = 0; kw < KW; kw++) {
                    int d = window_at(p[0], kd, SD, LD, PD, D), h = window_at(p[1], kh, SH, LH, PH, H);
                    int v = window_at(p[2], kw, SW, LW, PW, W);
                    long weight = (((co * (long)CI + C0 + c) * KD + kd) * KH + kh) * KW + kw;
                    if (d >= 0 && h >= 0 && v >= 0)
                        sum += (double)load(dy, element(&DY, i, co, d, h, v)) * (double)rounded(w[weight]);
                }
    return sum;
}

UNUSED static void k63_conv_dgrad(int n, stored *dx, const stored *dy, const real *w, const stored *m) {
    enum { ID = 1, IH = 32, IW = 32, CS = 16, MASK = 0 };
    static const Layout DX = {16, 16, 1, 0, 16384, 16384, 16384, 512};
    static const Layout M = {16, 16, 1, 0, 16384, 16384, 16384, 512};
#pragma omp for collapse(2) schedule(static)
    for (int i = 0; i < n; i++)
        for (int c = 0; c < stored_channels(&DX); c++)
            for (int d = 0; d < ID; d++)
                for (int h = 0; h < IH; h++)
                    for (int p = 0; p < IW; p++) {
                        int passes = c < CS && !(MASK && !(load(m, element(&M, i, c, d, h, p)) > 0));
                        store(dx, element(&DX, i, c, d, h, p),
                              passes ? (real)k63_conv_dgrad_point(dy, w, i, c, (const int[]){d, h, p}) : 0);
                    }
}

/* max_pool_grad: enc2.max_pool of train */
/* Whether the first maximum of window (d, h, p) is at point (id, ih, iw): earlier ones are less, none is
 * more. */
UNUSED static int k64_max_pool_grad_chosen(const stored *x, int i, int c, const int *window, const int *point) {
    enum { ID = 1, IH = 64, IW = 64, KD = 1, SD = 1, PD = 0, KH = 2, SH = 2, PH = 0, KW = 2,
           SW = 2, PW = 0 };
    static const Layout X = {16, 16, 1, 1072, 69696, 69696, 69696, 1056};
    int chosen[3] = {-1, -1, -1};
    real most = 0;
    for (int kd = 0; kd < KD; kd++)
        for (int kh = 0; kh < KH; kh++)
            for (int kw = 0; kw < KW; kw++) {
                int id = window[0] * SD - PD + kd, ih = window[1] * SH - PH + kh,
                    iw = window[2] * SW - PW + kw;
                if (!inside(id, ID) || !inside(ih, IH) || !inside(iw, IW))
                    continue;
                real v = load(x, element(&X, i, c, id, ih, iw));
                if (chosen[0] < 0 || v > most || v != v) {
                    most = v;
                    chosen[0] = id, chosen[1] = ih, chosen[2] = iw;
                }
            }
    return chosen[0] == point[0] && chosen[1] == point[1] && chosen[2] == point[2];
}

/* Sum over the windows that chose the point, in the order of the windows. */
UNUSED static real k64_max_pool_grad_point(const stored *x, const stored *dy, int i, int c, const int *point) {
    enum { D = 1, H = 32, W = 32, KD = 1, SD = 1, PD = 0, KH = 2, SH = 2, PH = 0, KW = 2, SW = 2,
           PW = 0 };
    static const Layout DY = {16, 16, 1, 0, 16384, 16384, 16384, 512};
    real sum = 0;
    for (int kd = KD - 1; kd >= 0; kd--)
        for (int kh = KH - 1; kh >= 0; kh--)
            for (int kw = KW - 1; kw >= 0; kw--) {
                int window[3] = {window_at(point[0], kd, SD, 1, PD, D),
                                 window_at(point[1], kh, SH, 1, PH, H),
                                 window_at(point[2], kw, SW, 1, PW, W)};
                if (window[0] >= 0 && window[1] >= 0 && window[2] >= 0 &&
                    k64_max_pool_grad_chosen(x, i, c, window, point))
                    sum += load(dy, element(&DY, i, c, window[0], window[1], window[2]));
            }
    return sum;
}

UNUSED static void k64_max_pool_grad(int n, stored *dx, const stored *x, const stored *dy, const stored *a) {
    enum { C = 16, ID = 1, IH = 64, IW = 64, ACCUMULATE = 1, MASK = 1 };
    static const Layout DX = {16, 16, 1, 1072, 69696, 69696, 69696, 1056};
    static const Layout X = {16, 16, 1, 1072, 69696, 69696, 69696, 1056};
    static const Layout A = {16, 16, 1, 1072, 69696, 69696, 69696, 1056};
#pragma omp for collapse(2) schedule(static)
    for (int i = 0; i < n; i++)
        for (int c = 0; c < stored_channels(&DX); c++)
            for (int d = 0; d < ID; d++)
                for (int h = 0; h < IH; h++)
                    for (int p = 0; p < IW; p++) {
                        real sum = c < C ? k64_max_pool_grad_point(x, dy, i, c, (const int[]){d, h, p}) : 0;
                        if (ACCUMULATE && c < C)
                            sum += load(a, element(&A, i, c, d, h, p));
                        if (MASK && c < C && !(load(x, element(&X, i, c, d, h, p)) > 0))
                            sum = 0;
                        store(dx, element(&DX, i, c, d, h, p), sum);
                    }
}

/* conv_dgrad: enc1.2 of train */
UNUSED static double k65_conv_dgrad_point(const stored *dy, const real *w, int i, int c, const int *p) {
    enum { CI = 16, CO = 16, D = 1, H = 64, W = 64, KD = 1, SD = 1, LD = 1, PD = 0, KH = 3, SH = 1,
           LH = 1, PH = 1, KW = 3, SW = 1, LW = 1, PW = 1, C0 = 0 };
    static const Layout DY = {16, 16, 1, 1072, 69696, 69696, 69696, 1056};
    double sum = 0;
    for (int co = 0; co < CO; co++)
        for (int kd = 0; kd < KD; kd++)
            for (int kh = 0; kh < KH; kh++)
                for (int kw = 0; kw < KW; kw++) {
                    int d = window_at(p[0], kd, SD, LD, PD, D), h = window_at(p[1], kh, SH, LH, PH, H);
                    int v = window_at(p[2], kw, SW, LW, PW, W);
                    long weight = (((co * (long)CI + C0 + c) * KD + kd) * KH + kh) * KW + kw;
                    if (d >= 0 && h >= 0 && v >= 0)
                        sum += (double)load(dy, element(&DY, i, co, d, h, v)) * (double)rounded(w[weight]);
                }
    return sum;
}

UNUSED static void k65_conv_dgrad(int n, stored *dx, const stored *dy, const real *w, const stored *m) {
    enum { ID = 1, IH = 64, IW = 64, CS = 16, MASK = 1 };
    static const Layout DX = {16, 16, 1, 0, 65536, 65536, 65536, 1024};
    static const Layout M = {16, 16, 1, 1072, 69696, 69696, 69696, 1056};
#pragma omp for collapse(2) schedule(static)
    for (int i = 0; i < n; i++)
        for (int c = 0; c < stored_channels(&DX); c++)
            for (int d = 0; d < ID; d++)
                for (int h = 0; h < IH; h++)
                    for (int p = 0; p < IW; p++) {
                        int passes = c < CS && !(MASK && !(load(m, element(&M, i, c, d, h, p)) > 0));
                        store(dx, element(&DX, i, c, d, h, p),
                              passes ? (real)k65_conv_dgrad_point(dy, w, i, c, (const int[]){d, h, p}) : 0);
                    }
}

/* conv_wgrad: enc1.0 of train */
/* Sum over the points of sample i of dy(co, o) * x(c, o * S - P + k * L), c a channel of segment s. */
UNUSED static double k66_conv_wgrad_weight(int i, const stored *x, const stored *dy, int s, int c, int co,
                                   const int *k) {
    enum { ID = 1, IH = 64, IW = 64, D = 1, H = 64, W = 64, SD = 1, LD = 1, PD = 0, SH = 1, LH = 1,
           PH = 1, SW = 1, LW = 1, PW = 1 };
    static const Layout X[1] = {{3, 3, 1, 201, 13072, 13068, 13068, 198}};
    static const Layout DY = {16, 16, 1, 0, 65536, 65536, 65536, 1024};
    double sum = 0;
    for (int d = 0; d < D; d++)
        for (int h = 0; h < H; h++)
            for (int p = 0; p < W; p++) {
                int id = d * SD - PD + k[0] * LD, ih = h * SH - PH + k[1] * LH,
                    iw = p * SW - PW + k[2] * LW;
                if (inside(id, ID) && inside(ih, IH) && inside(iw, IW))
                    sum += (double)load(x, element(&X[s], i, c, id, ih, iw)) *
                           (double)load(dy, element(&DY, i, co, d, h, p));
            }
    return sum;
}

UNUSED static double k66_conv_wgrad_bias(int i, const stored *dy, int co) {
    enum { D = 1, H = 64, W = 64 };
    static const Layout DY = {16, 16, 1, 0, 65536, 65536, 65536, 1024};
    double sum = 0;
    for (int d = 0; d < D; d++)
        for (int h = 0; h < H; h++)
            for (int p = 0; p < W; p++)
                sum += (double)load(dy, element(&DY, i, co, d, h, p));
    return sum;
}

UNUSED static void k66_conv_wgrad(int n, real *dw, real *db, real *scratch, const stored *const *x,
                          const stored *dy) {
    enum { CI = 3, CO = 16, KD = 1, KH = 3, KW = 3, BIAS = 1, ACCUMULATE = 0, SEGMENTS = 1 };
    static const Layout X[1] = {{3, 3, 1, 201, 13072, 13068, 13068, 198}};
    (void)scratch;
#pragma omp for schedule(static)
    for (int co = 0; co < CO; co++) {
        real *to = dw + co * (long)CI * KD * KH * KW;
        for (int s = 0; s < SEGMENTS; s++)
            for (int c = 0; c < X[s].channels; c++)
                for (int kd = 0; kd < KD; kd++)
                    for (int kh = 0; kh < KH; kh++)
                        for (int kw = 0; kw < KW; kw++) {
                            real sum = ACCUMULATE ? *to : 0;
                            for (int i = 0; i < n; i++)
                                sum +=
                                    (real)k66_conv_wgrad_weight(i, x[s], dy, s, c, co, (const int[]){kd, kh, kw});
                            *to++ = sum;
                        }
        real sum = BIAS && ACCUMULATE ? db[co] : 0;
        for (int i = 0; i < n; i++)
            sum += (real)k66_conv_wgrad_bias(i, dy, co);
        if (BIAS)
            db[co] = sum;
    }
}

/* adam: adam of train */
UNUSED static void k67_adam(real *p, const real *g, real *m, real *v, const double *scale, double rate,
                          int64_t step) {
    enum { COUNT = 482080, SCALED = 0, DECOUPLED = 0 };
    static const double WEIGHT_DECAY = 0;
    static const double BETA1 = 0.90000000000000002;
    static const double BETA2 = 0.999;
    static const double EPSILON = 1e-08;
    double taken = SCALED ? scale[STEPS_TAKEN] : (double)step;
    double bias1 = 1 - pow(BETA1, taken), bias2 = sqrt(1 - pow(BETA2, taken));
    real unscale = SCALED ? (real)scale[UNSCALE] : 1;
#pragma omp for schedule(static)
    for (long i = 0; i < (unscale > 0 ? COUNT : 0); i++) {
        real gradient = g[i] * unscale;
        if (DECOUPLED)
            p[i] *= (real)(1 - rate * WEIGHT_DECAY);
        else
            gradient += (real)WEIGHT_DECAY * p[i];
        m[i] = (real)BETA1 * m[i] + (real)(1 - BETA1) * gradient;
        v[i] = (real)BETA2 * v[i] + (real)(1 - BETA2) * gradient * gradient;
        real root = (real)sqrt((double)v[i]) / (real)bias2;
        p[i] -= (real)(rate / bias1) * m[i] / (root + (real)EPSILON);
    }
}

/* ---- train: batch 6, 26,016,384 bytes of the arena ---- */

static void train(const UnetStep *step) {
    char *const arena = step->arena;
    const int n = step->n, start = 0;
    const int32_t(*const valid)[3] = step->valid;
    (void)n, (void)start, (void)valid;
#pragma omp parallel num_threads(step->threads)
    {
        /* 0: conv of enc1.0 (tiny_unet.unet:11): noisy[n,3,64,64] enc1.0.weight[16,3,3,3] enc1.0.bias[16]
            -> enc1.1[n,16,64,64] */
        k01_zero_halo(n, AT(real, 5784960));
        k00_conv(n, AT(real, 5784960), (const real *const[]){INPUT(real, 0, 13072)}, AT(real, 1926528),
            AT(real, 1928256));
        /* 1: conv of enc1.2 (tiny_unet.unet:11): enc1.1[n,16,64,64] enc1.2.weight[16,16,3,3] enc1.2.bias[16]
            -> enc1.3[n,16,64,64] */
        k01_zero_halo(n, AT(real, 7457664));
        k02_conv(n, AT(real, 7457664), (const real *const[]){AT(real, 5784960)}, AT(real, 1917248),
            AT(real, 1926464));
        /* 2: max_pool of enc2.max_pool (tiny_unet.unet:12): enc1.3[n,16,64,64]
            -> enc2.max_pool[n,16,32,32] */
        k04_zero_halo(n, AT(real, 9130368));
        k03_max_pool(n, AT(real, 9130368), AT(real, 7457664));
        /* 3: conv of enc2.0 (tiny_unet.unet:12): enc2.max_pool[n,16,32,32] enc2.0.weight[32,16,3,3]
            enc2.0.bias[32] -> enc2.1[n,32,32,32] */
        k06_zero_halo(n, AT(real, 9574272));
        k05_conv(n, AT(real, 9574272), (const real *const[]){AT(real, 9130368)}, AT(real, 1898688),
            AT(real, 1917120));
        /* 4: conv of enc2.2 (tiny_unet.unet:12): enc2.1[n,32,32,32] enc2.2.weight[32,32,3,3] enc2.2.bias[32]
            -> enc2.3[n,32,32,32] */
        k06_zero_halo(n, AT(real, 10462080));
        k07_conv(n, AT(real, 10462080), (const real *const[]){AT(real, 9574272)}, AT(real, 1861696),
            AT(real, 1898560));
        /* 5: max_pool of enc3.max_pool (tiny_unet.unet:13): enc2.3[n,32,32,32]
            -> enc3.max_pool[n,32,16,16] */
        k09_zero_halo(n, AT(real, 11349888));
        k08_max_pool(n, AT(real, 11349888), AT(real, 10462080));
        /* 6: conv of enc3.0 (tiny_unet.unet:13): enc3.max_pool[n,32,16,16] enc3.0.weight[64,32,3,3]
            enc3.0.bias[64] -> enc3.1[n,64,16,16] */
        k11_zero_halo(n, AT(real, 11598720));
        k10_conv(n, AT(real, 11598720), (const real *const[]){AT(real, 11349888)}, AT(real, 1787712),
            AT(real, 1861440));
        /* 7: conv of enc3.2 (tiny_unet.unet:13): enc3.1[n,64,16,16] enc3.2.weight[64,64,3,3] enc3.2.bias[64]
            -> enc3.3[n,64,16,16] */
        k11_zero_halo(n, AT(real, 12096448));
        k12_conv(n, AT(real, 12096448), (const real *const[]){AT(real, 11598720)}, AT(real, 1640000),
            AT(real, 1787456));
        /* 8: max_pool of bottleneck.max_pool (tiny_unet.unet:15): enc3.3[n,64,16,16]
            -> bottleneck.max_pool[n,64,8,8] */
        k14_zero_halo(n, AT(real, 14522496));
        k13_max_pool(n, AT(real, 14522496), AT(real, 12096448));
        /* 9: conv of bottleneck.0 (tiny_unet.unet:15): bottleneck.max_pool[n,64,8,8]
            bottleneck.0.weight[128,64,3,3] bottleneck.0.bias[128] -> bottleneck.1[n,128,8,8] */
        k16_zero_halo(n, AT(real, 14676096));
        k15_conv(n, AT(real, 14676096), (const real *const[]){AT(real, 14522496)}, AT(real, 1344576),
            AT(real, 1639488));
        /* 10: conv of bottleneck.2 (tiny_unet.unet:15): bottleneck.1[n,128,8,8]
            bottleneck.2.weight[128,128,3,3] bottleneck.2.bias[128] -> bottleneck.3[n,128,8,8] */
        k17_conv(n, AT(real, 14983296), (const real *const[]){AT(real, 14676096)}, AT(real, 754240),
            AT(real, 1344064));
        /* 11: upconv of up3 (tiny_unet.unet:17): bottleneck.3[n,128,8,8] up3.weight[128,64,2,2] up3.bias[64]
            -> up3[n,64,16,16] */
        k11_zero_halo(n, AT(real, 16852608));
        k18_upconv(n, AT(real, 16852608), (const real *const[]){AT(real, 14983296)}, AT(real, 622912),
            AT(real, 753984));
        /* 12: conv of dec3.0 (tiny_unet.unet:18): dec3.concat[n,128,16,16] dec3.0.weight[64,128,3,3]
            dec3.0.bias[64] -> dec3.1[n,64,16,16] */
        k11_zero_halo(n, AT(real, 17350272));
        k19_conv(n, AT(real, 17350272), (const real *const[]){AT(real, 16852608), AT(real, 12096448)},
            AT(real, 327744), AT(real, 622656));
        /* 13: conv of dec3.2 (tiny_unet.unet:18): dec3.1[n,64,16,16] dec3.2.weight[64,64,3,3] dec3.2.bias[64]
            -> dec3.3[n,64,16,16] */
        k20_conv(n, AT(real, 17847936), (const real *const[]){AT(real, 17350272)}, AT(real, 180032),
            AT(real, 327488));
        /* 14: upconv of up2 (tiny_unet.unet:19): dec3.3[n,64,16,16] up2.weight[64,32,2,2] up2.bias[32]
            -> up2[n,32,32,32] */
        k06_zero_halo(n, AT(real, 18241152));
        k21_upconv(n, AT(real, 18241152), (const real *const[]){AT(real, 17847936)}, AT(real, 147136),
            AT(real, 179904));
        /* 15: conv of dec2.0 (tiny_unet.unet:20): dec2.concat[n,64,32,32] dec2.0.weight[32,64,3,3]
            dec2.0.bias[32] -> dec2.1[n,32,32,32] */
        k06_zero_halo(n, AT(real, 19128960));
        k22_conv(n, AT(real, 19128960), (const real *const[]){AT(real, 18241152), AT(real, 10462080)},
            AT(real, 73280), AT(real, 147008));
        /* 16: conv of dec2.2 (tiny_unet.unet:20): dec2.1[n,32,32,32] dec2.2.weight[32,32,3,3] dec2.2.bias[32]
            -> dec2.3[n,32,32,32] */
        k23_conv(n, AT(real, 20016768), (const real *const[]){AT(real, 19128960)}, AT(real, 36288),
            AT(real, 73152));
        /* 17: upconv of up1 (tiny_unet.unet:21): dec2.3[n,32,32,32] up1.weight[32,16,2,2] up1.bias[16]
            -> up1[n,16,64,64] */
        k01_zero_halo(n, AT(real, 15179904));
        k24_upconv(n, AT(real, 15179904), (const real *const[]){AT(real, 20016768)}, AT(real, 28032),
            AT(real, 36224));
        /* 18: conv of dec1.0 (tiny_unet.unet:22): dec1.concat[n,32,64,64] dec1.0.weight[16,32,3,3]
            dec1.0.bias[16] -> dec1.1[n,16,64,64] */
        k01_zero_halo(n, AT(real, 20803200));
        k25_conv(n, AT(real, 20803200), (const real *const[]){AT(real, 15179904), AT(real, 7457664)},
            AT(real, 9536), AT(real, 27968));
        /* 19: conv of dec1.2 (tiny_unet.unet:22): dec1.1[n,16,64,64] dec1.2.weight[16,16,3,3] dec1.2.bias[16]
            -> dec1.3[n,16,64,64] */
        k26_conv(n, AT(real, 22475904), (const real *const[]){AT(real, 20803200)}, AT(real, 256),
            AT(real, 9472));
        /* 20: conv of final (tiny_unet.unet:24): dec1.3[n,16,64,64] final.weight[3,16,1,1] final.bias[3]
            -> final[n,3,64,64] */
        k27_conv(n, AT(real, 12594176), (const real *const[]){AT(real, 22475904)}, AT(real, 0),
            AT(real, 192));
        /* 21: mse (tiny_unet.unet:33): final[n,3,64,64] clean[n,3,64,64] -> mse[1] mse scratch[96] */
        k28_mse(n, AT(double, 12096384), AT(double, 12889088), AT(real, 12594176), INPUT(real, 1, 12288),
            valid);
        /* 22: psnr (tiny_unet.unet:34): final[n,3,64,64] clean[n,3,64,64] -> psnr[1] psnr scratch[96] */
        k29_psnr(n, AT(double, 12594112), AT(double, 12889088), AT(real, 12594176), INPUT(real, 1, 12288),
            valid);
        /* 23: mse_grad of mse (tiny_unet.unet:33): final[n,3,64,64] clean[n,3,64,64] -> d final[n,3,64,64] */
        k30_mse_grad(n, step->n, AT(real, 24048768), AT(real, 12594176), INPUT(real, 1, 12288), NULL);
        /* 24: conv_wgrad of final (tiny_unet.unet:24): dec1.3[n,16,64,64] d final[n,3,64,64]
            -> d final.weight[3,16,1,1] d final.bias[3] final scratch[17680] */
        zero_tail(AT(real, 12594368), 3, 16);
        k31_conv_wgrad(n, AT(real, 12594176), AT(real, 12594368), AT(real, 24343680),
            (const real *const[]){AT(real, 22475904)}, AT(real, 24048768));
        /* 25: conv_dgrad of final (tiny_unet.unet:24): d final[n,3,64,64] final.weight[3,16,1,1]
            dec1.3[n,16,64,64] -> d dec1.2[n,16,64,64] */
        k01_zero_halo(n, AT(real, 24343680));
        k32_conv_dgrad(n, AT(real, 24343680), AT(real, 24048768), AT(real, 0), AT(real, 22475904));
        /* 26: conv_wgrad of dec1.2 (tiny_unet.unet:22): dec1.1[n,16,64,64] d dec1.2[n,16,64,64]
            -> d dec1.2.weight[16,16,3,3] d dec1.2.bias[16] dec1.2 scratch[150800] */
        k33_conv_wgrad(n, AT(real, 12594432), AT(real, 12603648), AT(real, 22475904),
            (const real *const[]){AT(real, 20803200)}, AT(real, 24343680));
        /* 27: conv_dgrad of dec1.2 (tiny_unet.unet:22): d dec1.2[n,16,64,64] dec1.2.weight[16,16,3,3]
            dec1.1[n,16,64,64] -> d dec1.0[n,16,64,64] */
        k01_zero_halo(n, AT(real, 22475904));
        k34_conv_dgrad(n, AT(real, 22475904), AT(real, 24343680), AT(real, 256), AT(real, 20803200));
        /* 28: conv_wgrad of dec1.0 (tiny_unet.unet:22): dec1.concat[n,32,64,64] d dec1.0[n,16,64,64]
            -> d dec1.0.weight[16,32,3,3] d dec1.0.bias[16] dec1.0 scratch[152592] */
        k35_conv_wgrad(n, AT(real, 12603712), AT(real, 12622144), AT(real, 20803200),
            (const real *const[]){AT(real, 15179904), AT(real, 7457664)}, AT(real, 22475904));
        /* 29: conv_dgrad of dec1.0 (tiny_unet.unet:22): d dec1.0[n,16,64,64] dec1.0.weight[16,32,3,3]
            -> d up1[n,16,64,64] */
        k36_conv_dgrad(n, AT(real, 20803200), AT(real, 22475904), AT(real, 9536), NULL);
        /* 30: conv_dgrad of dec1.0 (tiny_unet.unet:22): d dec1.0[n,16,64,64] dec1.0.weight[16,32,3,3]
            -> d enc1.3[n,16,64,64] */
        k01_zero_halo(n, AT(real, 15179904));
        k37_conv_dgrad(n, AT(real, 15179904), AT(real, 22475904), AT(real, 9536), NULL);
        /* 31: upconv_wgrad of up1 (tiny_unet.unet:21): dec2.3[n,32,32,32] d up1[n,16,64,64]
            -> d up1.weight[32,16,2,2] d up1.bias[16] up1 scratch[68112] */
        k38_upconv_wgrad(n, AT(real, 12622208), AT(real, 12630400), AT(real, 22376064),
            (const real *const[]){AT(real, 20016768)}, AT(real, 20803200));
        /* 32: upconv_dgrad of up1 (tiny_unet.unet:21): d up1[n,16,64,64] up1.weight[32,16,2,2]
            dec2.3[n,32,32,32] -> d dec2.2[n,32,32,32] */
        k06_zero_halo(n, AT(real, 22376064));
        k39_upconv_dgrad(n, AT(real, 22376064), AT(real, 20803200), AT(real, 28032), AT(real, 20016768));
        /* 33: conv_wgrad of dec2.2 (tiny_unet.unet:20): dec2.1[n,32,32,32] d dec2.2[n,32,32,32]
            -> d dec2.2.weight[32,32,3,3] d dec2.2.bias[32] dec2.2 scratch[305184] */
        k40_conv_wgrad(n, AT(real, 12630464), AT(real, 12667328), AT(real, 20016768),
            (const real *const[]){AT(real, 19128960)}, AT(real, 22376064));
        /* 34: conv_dgrad of dec2.2 (tiny_unet.unet:20): d dec2.2[n,32,32,32] dec2.2.weight[32,32,3,3]
            dec2.1[n,32,32,32] -> d dec2.0[n,32,32,32] */
        k06_zero_halo(n, AT(real, 20016768));
        k41_conv_dgrad(n, AT(real, 20016768), AT(real, 22376064), AT(real, 36288), AT(real, 19128960));
        /* 35: conv_wgrad of dec2.0 (tiny_unet.unet:20): dec2.concat[n,64,32,32] d dec2.0[n,32,32,32]
            -> d dec2.0.weight[32,64,3,3] d dec2.0.bias[32] dec2.0 scratch[313888] */
        k42_conv_wgrad(n, AT(real, 12667456), AT(real, 12741184), AT(real, 20904576),
            (const real *const[]){AT(real, 18241152), AT(real, 10462080)}, AT(real, 20016768));
        /* 36: conv_dgrad of dec2.0 (tiny_unet.unet:20): d dec2.0[n,32,32,32] dec2.0.weight[32,64,3,3]
            -> d up2[n,32,32,32] */
        k43_conv_dgrad(n, AT(real, 19128960), AT(real, 20016768), AT(real, 73280), NULL);
        /* 37: conv_dgrad of dec2.0 (tiny_unet.unet:20): d dec2.0[n,32,32,32] dec2.0.weight[32,64,3,3]
            -> d enc2.3[n,32,32,32] */
        k06_zero_halo(n, AT(real, 18241152));
        k44_conv_dgrad(n, AT(real, 18241152), AT(real, 20016768), AT(real, 73280), NULL);
        /* 38: upconv_wgrad of up2 (tiny_unet.unet:19): dec3.3[n,64,16,16] d up2[n,32,32,32]
            -> d up2.weight[64,32,2,2] d up2.bias[32] up2 scratch[139808] */
        k45_upconv_wgrad(n, AT(real, 12741312), AT(real, 12774080), AT(real, 19915392),
            (const real *const[]){AT(real, 17847936)}, AT(real, 19128960));
        /* 39: upconv_dgrad of up2 (tiny_unet.unet:19): d up2[n,32,32,32] up2.weight[64,32,2,2]
            dec3.3[n,64,16,16] -> d dec3.2[n,64,16,16] */
        k11_zero_halo(n, AT(real, 19915392));
        k46_upconv_dgrad(n, AT(real, 19915392), AT(real, 19128960), AT(real, 147136), AT(real, 17847936));
        /* 40: conv_wgrad of dec3.2 (tiny_unet.unet:18): dec3.1[n,64,16,16] d dec3.2[n,64,16,16]
            -> d dec3.2.weight[64,64,3,3] d dec3.2.bias[64] dec3.2 scratch[332352] */
        k47_conv_wgrad(n, AT(real, 12774208), AT(real, 12921664), AT(real, 20413056),
            (const real *const[]){AT(real, 17350272)}, AT(real, 19915392));
        /* 41: conv_dgrad of dec3.2 (tiny_unet.unet:18): d dec3.2[n,64,16,16] dec3.2.weight[64,64,3,3]
            dec3.1[n,64,16,16] -> d dec3.0[n,64,16,16] */
        k11_zero_halo(n, AT(real, 19128960));
        k48_conv_dgrad(n, AT(real, 19128960), AT(real, 19915392), AT(real, 180032), AT(real, 17350272));
        /* 42: conv_wgrad of dec3.0 (tiny_unet.unet:18): dec3.concat[n,128,16,16] d dec3.0[n,64,16,16]
            -> d dec3.0.weight[64,128,3,3] d dec3.0.bias[64] dec3.0 scratch[368960] */
        k49_conv_wgrad(n, AT(real, 12921920), AT(real, 13216832), AT(real, 19626624),
            (const real *const[]){AT(real, 16852608), AT(real, 12096448)}, AT(real, 19128960));
        /* 43: conv_dgrad of dec3.0 (tiny_unet.unet:18): d dec3.0[n,64,16,16] dec3.0.weight[64,128,3,3]
            -> d up3[n,64,16,16] */
        k50_conv_dgrad(n, AT(real, 17350272), AT(real, 19128960), AT(real, 327744), NULL);
        /* 44: conv_dgrad of dec3.0 (tiny_unet.unet:18): d dec3.0[n,64,16,16] dec3.0.weight[64,128,3,3]
            -> d enc3.3[n,64,16,16] */
        k11_zero_halo(n, AT(real, 16852608));
        k51_conv_dgrad(n, AT(real, 16852608), AT(real, 19128960), AT(real, 327744), NULL);
        /* 45: upconv_wgrad of up3 (tiny_unet.unet:17): bottleneck.3[n,128,8,8] d up3[n,64,16,16]
            -> d up3.weight[128,64,2,2] d up3.bias[64] up3 scratch[164160] */
        k52_upconv_wgrad(n, AT(real, 13217088), AT(real, 13348160), AT(real, 19128960),
            (const real *const[]){AT(real, 14983296)}, AT(real, 17350272));
        /* 46: upconv_dgrad of up3 (tiny_unet.unet:17): d up3[n,64,16,16] up3.weight[128,64,2,2]
            bottleneck.3[n,128,8,8] -> d bottleneck.2[n,128,8,8] */
        k16_zero_halo(n, AT(real, 17743488));
        k53_upconv_dgrad(n, AT(real, 17743488), AT(real, 17350272), AT(real, 622912), AT(real, 14983296));
        /* 47: conv_wgrad of bottleneck.2 (tiny_unet.unet:15): bottleneck.1[n,128,8,8]
            d bottleneck.2[n,128,8,8] -> d bottleneck.2.weight[128,128,3,3] d bottleneck.2.bias[128]
            bottleneck.2 scratch[442752] */
        k54_conv_wgrad(n, AT(real, 13348416), AT(real, 13938240), AT(real, 19128960),
            (const real *const[]){AT(real, 14676096)}, AT(real, 17743488));
        /* 48: conv_dgrad of bottleneck.2 (tiny_unet.unet:15): d bottleneck.2[n,128,8,8]
            bottleneck.2.weight[128,128,3,3] bottleneck.1[n,128,8,8] -> d bottleneck.0[n,128,8,8] */
        k16_zero_halo(n, AT(real, 17350272));
        k55_conv_dgrad(n, AT(real, 17350272), AT(real, 17743488), AT(real, 754240), AT(real, 14676096));
        /* 49: conv_wgrad of bottleneck.0 (tiny_unet.unet:15): bottleneck.max_pool[n,64,8,8]
            d bottleneck.0[n,128,8,8] -> d bottleneck.0.weight[128,64,3,3] d bottleneck.0.bias[128]
            bottleneck.0 scratch[369280] */
        k56_conv_wgrad(n, AT(real, 13938752), AT(real, 14233664), AT(real, 19128960),
            (const real *const[]){AT(real, 14522496)}, AT(real, 17350272));
        /* 50: conv_dgrad of bottleneck.0 (tiny_unet.unet:15): d bottleneck.0[n,128,8,8]
            bottleneck.0.weight[128,64,3,3] -> d bottleneck.max_pool[n,64,8,8] */
        k57_conv_dgrad(n, AT(real, 14522496), AT(real, 17350272), AT(real, 1344576), NULL);
        /* 51: max_pool_grad of bottleneck.max_pool (tiny_unet.unet:15): enc3.3[n,64,16,16]
            d bottleneck.max_pool[n,64,8,8] d enc3.3[n,64,16,16] -> d enc3.2[n,64,16,16] */
        k58_max_pool_grad(n, AT(real, 16852608), AT(real, 12096448), AT(real, 14522496), AT(real, 16852608));
        /* 52: conv_wgrad of enc3.2 (tiny_unet.unet:13): enc3.1[n,64,16,16] d enc3.2[n,64,16,16]
            -> d enc3.2.weight[64,64,3,3] d enc3.2.bias[64] enc3.2 scratch[332352] */
        k47_conv_wgrad(n, AT(real, 14234176), AT(real, 14381632), AT(real, 19128960),
            (const real *const[]){AT(real, 11598720)}, AT(real, 16852608));
        /* 53: conv_dgrad of enc3.2 (tiny_unet.unet:13): d enc3.2[n,64,16,16] enc3.2.weight[64,64,3,3]
            enc3.1[n,64,16,16] -> d enc3.0[n,64,16,16] */
        k11_zero_halo(n, AT(real, 12096448));
        k48_conv_dgrad(n, AT(real, 12096448), AT(real, 16852608), AT(real, 1640000), AT(real, 11598720));
        /* 54: conv_wgrad of enc3.0 (tiny_unet.unet:13): enc3.max_pool[n,32,16,16] d enc3.0[n,64,16,16]
            -> d enc3.0.weight[64,32,3,3] d enc3.0.bias[64] enc3.0 scratch[314432] */
        k59_conv_wgrad(n, AT(real, 14381888), AT(real, 14455616), AT(real, 16852608),
            (const real *const[]){AT(real, 11349888)}, AT(real, 12096448));
        /* 55: conv_dgrad of enc3.0 (tiny_unet.unet:13): d enc3.0[n,64,16,16] enc3.0.weight[64,32,3,3]
            -> d enc3.max_pool[n,32,16,16] */
        k60_conv_dgrad(n, AT(real, 11349888), AT(real, 12096448), AT(real, 1787712), NULL);
        /* 56: max_pool_grad of enc3.max_pool (tiny_unet.unet:13): enc2.3[n,32,32,32]
            d enc3.max_pool[n,32,16,16] d enc2.3[n,32,32,32] -> d enc2.2[n,32,32,32] */
        k61_max_pool_grad(n, AT(real, 18241152), AT(real, 10462080), AT(real, 11349888), AT(real, 18241152));
        /* 57: conv_wgrad of enc2.2 (tiny_unet.unet:12): enc2.1[n,32,32,32] d enc2.2[n,32,32,32]
            -> d enc2.2.weight[32,32,3,3] d enc2.2.bias[32] enc2.2 scratch[305184] */
        k40_conv_wgrad(n, AT(real, 14455872), AT(real, 14492736), AT(real, 10462080),
            (const real *const[]){AT(real, 9574272)}, AT(real, 18241152));
        /* 58: conv_dgrad of enc2.2 (tiny_unet.unet:12): d enc2.2[n,32,32,32] enc2.2.weight[32,32,3,3]
            enc2.1[n,32,32,32] -> d enc2.0[n,32,32,32] */
        k06_zero_halo(n, AT(real, 10462080));
        k41_conv_dgrad(n, AT(real, 10462080), AT(real, 18241152), AT(real, 1861696), AT(real, 9574272));
        /* 59: conv_wgrad of enc2.0 (tiny_unet.unet:12): enc2.max_pool[n,16,32,32] d enc2.0[n,32,32,32]
            -> d enc2.0.weight[32,16,3,3] d enc2.0.bias[32] enc2.0 scratch[153120] */
        k62_conv_wgrad(n, AT(real, 14492864), AT(real, 14511296), AT(real, 9574272),
            (const real *const[]){AT(real, 9130368)}, AT(real, 10462080));
        /* 60: conv_dgrad of enc2.0 (tiny_unet.unet:12): d enc2.0[n,32,32,32] enc2.0.weight[32,16,3,3]
            -> d enc2.max_pool[n,16,32,32] */
        k63_conv_dgrad(n, AT(real, 9130368), AT(real, 10462080), AT(real, 1898688), NULL);
        /* 61: max_pool_grad of enc2.max_pool (tiny_unet.unet:12): enc1.3[n,16,64,64]
            d enc2.max_pool[n,16,32,32] d enc1.3[n,16,64,64] -> d enc1.2[n,16,64,64] */
        k64_max_pool_grad(n, AT(real, 15179904), AT(real, 7457664), AT(real, 9130368), AT(real, 15179904));
        /* 62: conv_wgrad of enc1.2 (tiny_unet.unet:11): enc1.1[n,16,64,64] d enc1.2[n,16,64,64]
            -> d enc1.2.weight[16,16,3,3] d enc1.2.bias[16] enc1.2 scratch[150800] */
        k33_conv_wgrad(n, AT(real, 14511424), AT(real, 14520640), AT(real, 7457664),
            (const real *const[]){AT(real, 5784960)}, AT(real, 15179904));
        /* 63: conv_dgrad of enc1.2 (tiny_unet.unet:11): d enc1.2[n,16,64,64] enc1.2.weight[16,16,3,3]
            enc1.1[n,16,64,64] -> d enc1.0[n,16,64,64] */
        k65_conv_dgrad(n, AT(real, 7457664), AT(real, 15179904), AT(real, 1917248), AT(real, 5784960));
        /* 64: conv_wgrad of enc1.0 (tiny_unet.unet:11): noisy[n,3,64,64] d enc1.0[n,16,64,64]
            -> d enc1.0.weight[16,3,3,3] d enc1.0.bias[16] enc1.0 scratch[29120] */
        k66_conv_wgrad(n, AT(real, 14520704), AT(real, 14522432), AT(real, 5784960),
            (const real *const[]){INPUT(real, 0, 13072)}, AT(real, 7457664));
        /* 65: adam (tiny_unet.unet:32): all parameters */
        k67_adam(AT(real, 0), AT(real, 12594176), AT(real, 1928320), AT(real, 3856640),
            NULL, step->learning_rate, step->step);
    }
}

/* ---- predict: batch 1, 6,621,312 bytes of the arena ---- */

static void predict(const UnetStep *step) {
    char *const arena = step->arena;
    const int n = step->n, start = 0;
    const int32_t(*const valid)[3] = step->valid;
    (void)n, (void)start, (void)valid;
#pragma omp parallel num_threads(step->threads)
    {
        /* 0: conv of enc1.0 (tiny_unet.unet:11): noisy[n,3,64,64] enc1.0.weight[16,3,3,3] enc1.0.bias[16]
            -> enc1.1[n,16,64,64] */
        k01_zero_halo(n, AT(real, 6063744));
        k00_conv(n, AT(real, 6063744), (const real *const[]){INPUT(real, 0, 13072)}, AT(real, 1926528),
            AT(real, 1928256));
        /* 1: conv of enc1.2 (tiny_unet.unet:11): enc1.1[n,16,64,64] enc1.2.weight[16,16,3,3] enc1.2.bias[16]
            -> enc1.3[n,16,64,64] */
        k01_zero_halo(n, AT(real, 5784960));
        k02_conv(n, AT(real, 5784960), (const real *const[]){AT(real, 6063744)}, AT(real, 1917248),
            AT(real, 1926464));
        /* 2: max_pool of enc2.max_pool (tiny_unet.unet:12): enc1.3[n,16,64,64]
            -> enc2.max_pool[n,16,32,32] */
        k04_zero_halo(n, AT(real, 6211712));
        k03_max_pool(n, AT(real, 6211712), AT(real, 5784960));
        /* 3: conv of enc2.0 (tiny_unet.unet:12): enc2.max_pool[n,16,32,32] enc2.0.weight[32,16,3,3]
            enc2.0.bias[32] -> enc2.1[n,32,32,32] */
        k06_zero_halo(n, AT(real, 6063744));
        k05_conv(n, AT(real, 6063744), (const real *const[]){AT(real, 6211712)}, AT(real, 1898688),
            AT(real, 1917120));
        /* 4: conv of enc2.2 (tiny_unet.unet:12): enc2.1[n,32,32,32] enc2.2.weight[32,32,3,3] enc2.2.bias[32]
            -> enc2.3[n,32,32,32] */
        k06_zero_halo(n, AT(real, 6359680));
        k07_conv(n, AT(real, 6359680), (const real *const[]){AT(real, 6063744)}, AT(real, 1861696),
            AT(real, 1898560));
        /* 5: max_pool of enc3.max_pool (tiny_unet.unet:13): enc2.3[n,32,32,32]
            -> enc3.max_pool[n,32,16,16] */
        k09_zero_halo(n, AT(real, 6063744));
        k08_max_pool(n, AT(real, 6063744), AT(real, 6359680));
        /* 6: conv of enc3.0 (tiny_unet.unet:13): enc3.max_pool[n,32,16,16] enc3.0.weight[64,32,3,3]
            enc3.0.bias[64] -> enc3.1[n,64,16,16] */
        k11_zero_halo(n, AT(real, 6146688));
        k10_conv(n, AT(real, 6146688), (const real *const[]){AT(real, 6063744)}, AT(real, 1787712),
            AT(real, 1861440));
        /* 7: conv of enc3.2 (tiny_unet.unet:13): enc3.1[n,64,16,16] enc3.2.weight[64,64,3,3] enc3.2.bias[64]
            -> enc3.3[n,64,16,16] */
        k11_zero_halo(n, AT(real, 6063744));
        k12_conv(n, AT(real, 6063744), (const real *const[]){AT(real, 6146688)}, AT(real, 1640000),
            AT(real, 1787456));
        /* 8: max_pool of bottleneck.max_pool (tiny_unet.unet:15): enc3.3[n,64,16,16]
            -> bottleneck.max_pool[n,64,8,8] */
        k14_zero_halo(n, AT(real, 6146688));
        k13_max_pool(n, AT(real, 6146688), AT(real, 6063744));
        /* 9: conv of bottleneck.0 (tiny_unet.unet:15): bottleneck.max_pool[n,64,8,8]
            bottleneck.0.weight[128,64,3,3] bottleneck.0.bias[128] -> bottleneck.1[n,128,8,8] */
        k16_zero_halo(n, AT(real, 6179456));
        k15_conv(n, AT(real, 6179456), (const real *const[]){AT(real, 6146688)}, AT(real, 1344576),
            AT(real, 1639488));
        /* 10: conv of bottleneck.2 (tiny_unet.unet:15): bottleneck.1[n,128,8,8]
            bottleneck.2.weight[128,128,3,3] bottleneck.2.bias[128] -> bottleneck.3[n,128,8,8] */
        k17_conv(n, AT(real, 6146688), (const real *const[]){AT(real, 6179456)}, AT(real, 754240),
            AT(real, 1344064));
        /* 11: upconv of up3 (tiny_unet.unet:17): bottleneck.3[n,128,8,8] up3.weight[128,64,2,2] up3.bias[64]
            -> up3[n,64,16,16] */
        k11_zero_halo(n, AT(real, 6229632));
        k18_upconv(n, AT(real, 6229632), (const real *const[]){AT(real, 6146688)}, AT(real, 622912),
            AT(real, 753984));
        /* 12: conv of dec3.0 (tiny_unet.unet:18): dec3.concat[n,128,16,16] dec3.0.weight[64,128,3,3]
            dec3.0.bias[64] -> dec3.1[n,64,16,16] */
        k11_zero_halo(n, AT(real, 6146688));
        k19_conv(n, AT(real, 6146688), (const real *const[]){AT(real, 6229632), AT(real, 6063744)},
            AT(real, 327744), AT(real, 622656));
        /* 13: conv of dec3.2 (tiny_unet.unet:18): dec3.1[n,64,16,16] dec3.2.weight[64,64,3,3] dec3.2.bias[64]
            -> dec3.3[n,64,16,16] */
        k20_conv(n, AT(real, 6063744), (const real *const[]){AT(real, 6146688)}, AT(real, 180032),
            AT(real, 327488));
        /* 14: upconv of up2 (tiny_unet.unet:19): dec3.3[n,64,16,16] up2.weight[64,32,2,2] up2.bias[32]
            -> up2[n,32,32,32] */
        k06_zero_halo(n, AT(real, 6211712));
        k21_upconv(n, AT(real, 6211712), (const real *const[]){AT(real, 6063744)}, AT(real, 147136),
            AT(real, 179904));
        /* 15: conv of dec2.0 (tiny_unet.unet:20): dec2.concat[n,64,32,32] dec2.0.weight[32,64,3,3]
            dec2.0.bias[32] -> dec2.1[n,32,32,32] */
        k06_zero_halo(n, AT(real, 6063744));
        k22_conv(n, AT(real, 6063744), (const real *const[]){AT(real, 6211712), AT(real, 6359680)},
            AT(real, 73280), AT(real, 147008));
        /* 16: conv of dec2.2 (tiny_unet.unet:20): dec2.1[n,32,32,32] dec2.2.weight[32,32,3,3] dec2.2.bias[32]
            -> dec2.3[n,32,32,32] */
        k23_conv(n, AT(real, 6342528), (const real *const[]){AT(real, 6063744)}, AT(real, 36288),
            AT(real, 73152));
        /* 17: upconv of up1 (tiny_unet.unet:21): dec2.3[n,32,32,32] up1.weight[32,16,2,2] up1.bias[16]
            -> up1[n,16,64,64] */
        k01_zero_halo(n, AT(real, 6063744));
        k24_upconv(n, AT(real, 6063744), (const real *const[]){AT(real, 6342528)}, AT(real, 28032),
            AT(real, 36224));
        /* 18: conv of dec1.0 (tiny_unet.unet:22): dec1.concat[n,32,64,64] dec1.0.weight[16,32,3,3]
            dec1.0.bias[16] -> dec1.1[n,16,64,64] */
        k01_zero_halo(n, AT(real, 6342528));
        k25_conv(n, AT(real, 6342528), (const real *const[]){AT(real, 6063744), AT(real, 5784960)},
            AT(real, 9536), AT(real, 27968));
        /* 19: conv of dec1.2 (tiny_unet.unet:22): dec1.1[n,16,64,64] dec1.2.weight[16,16,3,3] dec1.2.bias[16]
            -> dec1.3[n,16,64,64] */
        k26_conv(n, AT(real, 5784960), (const real *const[]){AT(real, 6342528)}, AT(real, 256),
            AT(real, 9472));
        /* 20: conv of final (tiny_unet.unet:24): dec1.3[n,16,64,64] final.weight[3,16,1,1] final.bias[3]
            -> final[n,3,64,64] */
        k27_conv(n, AT(real, 6047104), (const real *const[]){AT(real, 5784960)}, AT(real, 0), AT(real, 192));
    }
}

/* ---- tables for the runtime; see unet/model.h ---- */

/* name, rank, sizes, initial values and their bound, offset, offsets of the moments */
static const UnetParameter parameter[] = {
    {"enc1.0.weight", 4, {16, 3, 3, 3}, UNET_INIT_UNIFORM, 0.19245008972987526, 1926528, {3854848, 5783168}},
    {"enc1.0.bias", 1, {16}, UNET_INIT_UNIFORM, 0.19245008972987526, 1928256, {3856576, 5784896}},
    {"enc1.2.weight", 4, {16, 16, 3, 3}, UNET_INIT_UNIFORM, 0.083333333333333329, 1917248, {3845568, 5773888}},
    {"enc1.2.bias", 1, {16}, UNET_INIT_UNIFORM, 0.083333333333333329, 1926464, {3854784, 5783104}},
    {"enc2.0.weight", 4, {32, 16, 3, 3}, UNET_INIT_UNIFORM, 0.083333333333333329, 1898688, {3827008, 5755328}},
    {"enc2.0.bias", 1, {32}, UNET_INIT_UNIFORM, 0.083333333333333329, 1917120, {3845440, 5773760}},
    {"enc2.2.weight", 4, {32, 32, 3, 3}, UNET_INIT_UNIFORM, 0.058925565098878967, 1861696, {3790016, 5718336}},
    {"enc2.2.bias", 1, {32}, UNET_INIT_UNIFORM, 0.058925565098878967, 1898560, {3826880, 5755200}},
    {"enc3.0.weight", 4, {64, 32, 3, 3}, UNET_INIT_UNIFORM, 0.058925565098878967, 1787712, {3716032, 5644352}},
    {"enc3.0.bias", 1, {64}, UNET_INIT_UNIFORM, 0.058925565098878967, 1861440, {3789760, 5718080}},
    {"enc3.2.weight", 4, {64, 64, 3, 3}, UNET_INIT_UNIFORM, 0.041666666666666664, 1640000, {3568320, 5496640}},
    {"enc3.2.bias", 1, {64}, UNET_INIT_UNIFORM, 0.041666666666666664, 1787456, {3715776, 5644096}},
    {"bottleneck.0.weight", 4, {128, 64, 3, 3}, UNET_INIT_UNIFORM, 0.041666666666666664, 1344576, {3272896, 5201216}},
    {"bottleneck.0.bias", 1, {128}, UNET_INIT_UNIFORM, 0.041666666666666664, 1639488, {3567808, 5496128}},
    {"bottleneck.2.weight", 4, {128, 128, 3, 3}, UNET_INIT_UNIFORM, 0.029462782549439483, 754240, {2682560, 4610880}},
    {"bottleneck.2.bias", 1, {128}, UNET_INIT_UNIFORM, 0.029462782549439483, 1344064, {3272384, 5200704}},
    {"up3.weight", 4, {128, 64, 2, 2}, UNET_INIT_UNIFORM, 0.0625, 622912, {2551232, 4479552}},
    {"up3.bias", 1, {64}, UNET_INIT_UNIFORM, 0.0625, 753984, {2682304, 4610624}},
    {"dec3.0.weight", 4, {64, 128, 3, 3}, UNET_INIT_UNIFORM, 0.029462782549439483, 327744, {2256064, 4184384}},
    {"dec3.0.bias", 1, {64}, UNET_INIT_UNIFORM, 0.029462782549439483, 622656, {2550976, 4479296}},
    {"dec3.2.weight", 4, {64, 64, 3, 3}, UNET_INIT_UNIFORM, 0.041666666666666664, 180032, {2108352, 4036672}},
    {"dec3.2.bias", 1, {64}, UNET_INIT_UNIFORM, 0.041666666666666664, 327488, {2255808, 4184128}},
    {"up2.weight", 4, {64, 32, 2, 2}, UNET_INIT_UNIFORM, 0.088388347648318433, 147136, {2075456, 4003776}},
    {"up2.bias", 1, {32}, UNET_INIT_UNIFORM, 0.088388347648318433, 179904, {2108224, 4036544}},
    {"dec2.0.weight", 4, {32, 64, 3, 3}, UNET_INIT_UNIFORM, 0.041666666666666664, 73280, {2001600, 3929920}},
    {"dec2.0.bias", 1, {32}, UNET_INIT_UNIFORM, 0.041666666666666664, 147008, {2075328, 4003648}},
    {"dec2.2.weight", 4, {32, 32, 3, 3}, UNET_INIT_UNIFORM, 0.058925565098878967, 36288, {1964608, 3892928}},
    {"dec2.2.bias", 1, {32}, UNET_INIT_UNIFORM, 0.058925565098878967, 73152, {2001472, 3929792}},
    {"up1.weight", 4, {32, 16, 2, 2}, UNET_INIT_UNIFORM, 0.125, 28032, {1956352, 3884672}},
    {"up1.bias", 1, {16}, UNET_INIT_UNIFORM, 0.125, 36224, {1964544, 3892864}},
    {"dec1.0.weight", 4, {16, 32, 3, 3}, UNET_INIT_UNIFORM, 0.058925565098878967, 9536, {1937856, 3866176}},
    {"dec1.0.bias", 1, {16}, UNET_INIT_UNIFORM, 0.058925565098878967, 27968, {1956288, 3884608}},
    {"dec1.2.weight", 4, {16, 16, 3, 3}, UNET_INIT_UNIFORM, 0.083333333333333329, 256, {1928576, 3856896}},
    {"dec1.2.bias", 1, {16}, UNET_INIT_UNIFORM, 0.083333333333333329, 9472, {1937792, 3866112}},
    {"final.weight", 4, {3, 16, 1, 1}, UNET_INIT_UNIFORM, 0.25, 0, {1928320, 3856640}},
    {"final.bias", 1, {3}, UNET_INIT_UNIFORM, 0.25, 192, {1928512, 3856832}},
};
static const UnetInput input[] = {
    {"noisy", UNET_IMAGE, false, 3, -1},
    {"clean", UNET_IMAGE, true, 3, -1},
};
static const UnetOutput output[] = {
    {"denoised", UNET_IMAGE},
};
/* as written, operator, kind, weight, more is better, input to compare with, target */
static const UnetResult result[] = {
    {"mse(denoised, clean)", "mse", UNET_LOSS, 1, false, -1, 1},
    {"psnr(denoised, clean)", "psnr", UNET_METRIC, 1, true, 0, 1},
};
/* type, channels, {depth, height, width}, block; origin, strides, bytes of a sample */
static const UnetLayout train_input[] = {
    {UNET_F32, 3, {1, 64, 64}, 3, 201, 13072, 13068, 13068, 198, 52288},
    {UNET_F32, 3, {1, 64, 64}, 3, 0, 12288, 12288, 12288, 192, 49152},
};
static const int64_t train_result_offset[] = {
    12096384,
    12594112,
    -1, /* there may be no result at all */
};
static const UnetProgram train_program = {
    .name = "train",
    .run = train,
    .batch = 6,
    .size = {1, 64, 64},
    .extent = 26016384,
    .inputs = train_input,
    .result_offsets = train_result_offset,
    .input_bytes = 608640,
};
/* type, channels, {depth, height, width}, block; origin, strides, bytes of a sample */
static const UnetLayout predict_input[] = {
    {UNET_F32, 3, {1, 64, 64}, 3, 201, 13072, 13068, 13068, 198, 52288},
    {UNET_F32, 3, {1, 64, 64}, 3, 0, 12288, 12288, 12288, 192, 0},
};
static const UnetLayout predict_output[] = {
    {UNET_F32, 3, {1, 64, 64}, 3, 0, 12288, 12288, 12288, 192, 49152},
};
static const int64_t predict_output_offset[] = {
    6047104,
};
static const int64_t predict_result_offset[] = {
    -1,
    -1,
    -1, /* there may be no result at all */
};
static const UnetProgram predict_program = {
    .name = "predict",
    .run = predict,
    .batch = 1,
    .size = {1, 64, 64},
    .extent = 6621312,
    .inputs = predict_input,
    .outputs = predict_output,
    .output_offsets = predict_output_offset,
    .result_offsets = predict_result_offset,
    .input_bytes = 52288,
};
static const UnetSourceTerm data_term_0[] = {
    {UNET_SRC_FILES, "noisy/*.png", 0, 0, 27},
};
static const UnetSourceTerm data_term_1[] = {
    {UNET_SRC_FILES, "clean/*.png", 0, 0, 28},
};
static const UnetSource data_source[] = {
    {"noisy", 0, 3, 1, data_term_0},
    {"clean", 1, 3, 1, data_term_1},
};
static const UnetTransform data_transform[] = {
    {UNET_DO_CROP, true, UNET_PAD_NONE, 0, 0, 0},
};
static const UnetData data = {
    .source = data_source, .nsource = 2,
    .transform = data_transform, .ntransform = 1,
    .holdout = 0, .holdout_seed = 0, .shuffle = true, .threads = 0,
};
static const UnetTraining training = {
    .optimizer = UNET_ADAM, .learning_rate = 0.00050000000000000001,
    .drop_tail = false,
    .duration = 50, .duration_unit = UNET_EPOCHS, .steps_per_epoch = 0,
    .save_every = 1, .save_unit = UNET_EPOCHS, .save_keep = 3,
    .eval_every = 1, .eval_unit = UNET_EPOCHS,
    .seed = 0,
    .pretrained = NULL,
    .description = "adam(lr = 0.0005)",
};

const UnetModel tiny_unet_model = {
    .runtime_version = UNET_RUNTIME_VERSION,
    .name = "tiny_unet",
    .source = "tiny_unet.unet", .source_hash = "16d462818c889222",
    .target = "cpu", .isa = "native", .real = UNET_F32, .precision = "f32", .max_threads = 64,
    .nparameter = 36, .parameter = parameter, .parameter_count = 482067,
    .persistent = 5784960,
    .ninput = 2, .inputs = input,
    .noutput = 1, .outputs = output,
    .nresult = 2, .results = result,
    .train = &train_program,
    .predict = &predict_program,
    .arena_bytes = 26016384,
    .ring = 3, .loader_ring_bytes = 1825920,
    .predict_pad = UNET_PAD_REFLECT,
    .data = &data,
    .training = &training,
};
