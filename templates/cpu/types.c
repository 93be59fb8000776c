/* types.c - the types of kernels for the CPU, vectors, and `real` elements in memory. Heads every generated
 * program's kernels; prologue.c comes behind it. */
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#ifndef UNET_REAL
#define UNET_REAL float
#endif

/* BEGIN */
typedef UNET_REAL real; /* parameters, their gradients, the optimiser's state, arithmetic */

/* Activations and their gradients: as `real`, or in 16 bits. Every store rounds to nearest even. */
#if defined UNET_STORED_BF16 || defined UNET_STORED_F16
typedef struct {
    uint16_t bits;
} stored;
#else
typedef real stored;
#endif
enum { SIXTEEN_BITS = sizeof(stored) < sizeof(real) };

/* The places of the elements of a tensor, in elements; see unet/model.h. */
typedef struct {
    int channels, block, blocks; /* blocks = ceil(channels / block) */
    long origin, sample, plane, depth, row;
    int ring; /* row h lies where row h mod ring does; 0: each has a place of its own */
} Layout;

/* The layout l. A kernel knows the block, and perhaps that there is no ring, when it is compiled.
 */
#define LAYOUT_OF(l, block, ring)                                                                          \
    { (l).channels, block, (l).blocks, (l).origin, (l).sample, (l).plane, (l).depth, (l).row, ring }

/* Rows [begin, end) of a sample, which has D * H of them: the rows of its output that a kernel computes.
 * Whoever calls the kernel keeps them inside [0, D * H]; a kernel computes nothing of an empty range. */
typedef struct {
    int32_t begin, end;
#ifdef UNET_ANY_HEIGHT
    int32_t height; /* of the output */
#endif
} Rows;

#define UNUSED __attribute__((unused))
#define NOINLINE static __attribute__((noinline, unused))

/* A function of its own whose innermost loop needs nearly all registers. gcc gives out 32 loop by loop,
 * unless told otherwise, and if loops around it have many numbers to keep, it reads its factors from
 * the stack.  With 16 it does not; and transforms, with many vectors and few loops, are slower so. */
#if defined __GNUC__ && !defined __clang__ && defined __AVX512F__
#define NOINLINE_TILES static __attribute__((noinline, unused, optimize("ira-region=one")))
#else
#define NOINLINE_TILES NOINLINE
#endif

/* Kernels are inlined whole, once for each set of constants; sanitizers would make too much code of that.
 */
#if defined __has_feature
#if __has_feature(address_sanitizer)
#define SANITIZED
#endif
#elif defined __SANITIZE_ADDRESS__
#define SANITIZED
#endif
#ifdef SANITIZED
#define INLINE UNUSED static
#else
#define INLINE static inline __attribute__((always_inline, unused))
#endif

/* A vector is one register, never wider: compilers lower wider ones through memory. */
enum {
    BLOCK = 16,
#if defined __AVX512F__ || defined UNET_MATRIX_MODEL
    LANES = 16,
    ROWS = 8, /* of a column: 2 x 8 sums, half of the 32 registers */
#elif defined __AVX__
    LANES = 8,
    ROWS = 6, /* 2 x 6 sums leave four of 16 registers to operands */
#else
    LANES = 4,
    ROWS = 6, /* with 8, gcc for AArch64 keeps 16 elements beside 16 sums, and spills */
#endif
    PARTS = BLOCK / LANES, /* vectors in a block of channels */
    CHUNK = 4096,          /* elements of a long array that one thread takes at a time */
};
typedef real Vector __attribute__((vector_size(LANES * sizeof(real))));
typedef int32_t Bits __attribute__((vector_size(LANES * sizeof(int32_t))));
typedef uint32_t Words __attribute__((vector_size(LANES * sizeof(uint32_t))));
typedef Vector Unaligned __attribute__((aligned(sizeof(real)), may_alias));

INLINE int min_int(int a, int b) {
    return a < b ? a : b;
}

INLINE int max_int(int a, int b) {
    return a > b ? a : b;
}

/* ---- elements in memory ---------------------------------------------------------------------------- */

INLINE Vector load_real(const real *p) {
    return *(const Unaligned *)p;
}

INLINE void store_real(real *p, Vector v) {
    *(Unaligned *)p = v;
}

/* The first `lanes` only; the others are zero, or not written.  Images of up to 4 channels are the case
 * that counts, so these lanes are spelled out; more, but fewer than all, are the end of an array, and one
 * function is enough for every end. */
enum { SPELLED = 4 };

NOINLINE Vector load_few_real(const real *p, int lanes) {
    Vector v = {0};
    for (int i = 0; i < LANES && i < lanes; i++)
        v[i] = p[i];
    return v;
}

INLINE Vector load_some_real(const real *p, int lanes) {
    if (lanes >= LANES)
        return load_real(p);
    if (lanes > SPELLED)
        return load_few_real(p, lanes);
    return (Vector){lanes > 0 ? p[0] : 0, lanes > 1 ? p[1] : 0, lanes > 2 ? p[2] : 0, lanes > 3 ? p[3] : 0};
}

NOINLINE void store_few_real(real *p, Vector v, int lanes) {
    for (int i = 0; i < LANES && i < lanes; i++)
        p[i] = v[i];
}

INLINE void store_some_real(real *p, Vector v, int lanes) {
    if (lanes >= LANES) {
        store_real(p, v);
        return;
    }
    if (lanes > SPELLED) {
        store_few_real(p, v, lanes);
        return;
    }
    if (lanes > 0)
        p[0] = v[0];
    if (lanes > 1)
        p[1] = v[1];
    if (lanes > 2)
        p[2] = v[2];
    if (lanes > 3)
        p[3] = v[3];
}
/* END */
