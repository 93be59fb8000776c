/* stored_16.c - tensors of 16 bits, bf16 or f16: how vectors of them are loaded, stored and rounded. */
#if !defined UNET_STORED_BF16 && !defined UNET_STORED_F16
#define UNET_STORED_BF16
#endif
#include "types.c"

/* BEGIN */
#if defined __AVX2__ || defined __F16C__
#include <immintrin.h>
#endif

typedef uint16_t Halves __attribute__((vector_size(LANES * sizeof(uint16_t))));
typedef Halves UnalignedHalves __attribute__((aligned(sizeof(uint16_t)), may_alias));

/* In one instruction, which gcc 12 does not find itself. */
INLINE Words words(Halves h) {
#if defined __AVX512F__
    return (Words)_mm512_cvtepu16_epi32((__m256i)h);
#elif defined __AVX2__
    return (Words)_mm256_cvtepu16_epi32((__m128i)h);
#else
    return __builtin_convertvector(h, Words);
#endif
}

/* b where the mask is set, else a. */
INLINE Words choose(Words a, Bits mask, Words b) {
    return (a & ~(Words)mask) | (b & (Words)mask);
}

#if defined UNET_STORED_BF16 /* the upper half of a float */
INLINE Vector widened(Halves h) {
    return (Vector)(words(h) << 16);
}

/* A processor that does it in one instruction takes a number below 2^-126 for zero. */
INLINE Halves narrowed(Vector v) {
#if defined __AVX512BF16__
    return (Halves)_mm512_cvtneps_pbh(v);
#else
    Words bits = (Words)v;
    bits = (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
    return __builtin_convertvector(choose(bits, v != v, (Words){0} + 0x7fff), Halves);
#endif
}
#elif defined __AVX512F__ || defined __F16C__ /* the processor converts; all NaNs become the same one */
INLINE Vector widened(Halves h) {
#if defined __AVX512F__
    return _mm512_cvtph_ps((__m256i)h);
#else
    return _mm256_cvtph_ps((__m128i)h);
#endif
}

INLINE Halves narrowed(Vector v) {
    v = (Vector)choose((Words)v, v != v, (Words){0} + 0x7fffffff);
#if defined __AVX512F__
    return (Halves)_mm512_cvtps_ph(v, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
#else
    return (Halves)_mm256_cvtps_ph(v, _MM_FROUND_TO_NEAREST_INT);
#endif
}
#else /* a float has 13 bits more of the fraction, and exponents from 112 less on */
INLINE Vector widened(Halves h) {
    Words bits = words(h);
    Vector size = (Vector)((bits & 0x7fff) << 13) * 0x1p112f;
    Words infinite = 0x7f800000 | (bits & 0x3ff) << 13; /* or NaN */
    return (Vector)(choose((Words)size, size >= 0x1p16f, infinite) | (bits & 0x8000) << 16);
}

INLINE Halves narrowed(Vector v) {
    const Words half = (Words)((Vector){0} + 0.5f);
    Words bits = (Words)v & 0x7fffffff, sign = (Words)v >> 16 & 0x8000;
    Vector size = (Vector)bits;
    Words found = (bits + 0xfff + (bits >> 13 & 1) - (112u << 23)) >> 13;
    /* multiples of 2^-24, as floats from 0.5 to 1 are */
    found = choose(found, size < 0x1p-14f, (Words)(size + 0.5f) - half);
    /* nearer to 2^16 than to the largest number */
    found = choose(found, size >= 65520, (Words){0} + 0x7c00);
    return __builtin_convertvector(choose(found | sign, v != v, (Words){0} + 0x7fff), Halves);
}
#endif

#if defined __AVX512BW__ && defined __AVX512VL__
/* Fewer than LANES. */
INLINE __mmask16 first_bits(int lanes) {
    return (__mmask16)((1u << max_int(lanes, 0)) - 1);
}
#endif

INLINE Vector load(const stored *p) {
    return widened(*(const UnalignedHalves *)(const void *)p);
}

INLINE void store(stored *p, Vector v) {
    *(UnalignedHalves *)(void *)p = narrowed(v);
}

/* The first `lanes` only; the others are zero, or not written. */
INLINE Halves halves(const stored *p, int lanes) {
    if (lanes >= LANES)
        return *(const UnalignedHalves *)(const void *)p;
#if defined __AVX512BW__ && defined __AVX512VL__
    return (Halves)_mm256_maskz_loadu_epi16(first_bits(lanes), p);
#else
    Halves h = {lanes > 0 ? p[0].bits : 0, lanes > 1 ? p[1].bits : 0, lanes > 2 ? p[2].bits : 0,
                lanes > 3 ? p[3].bits : 0};
    for (int i = 4; i < LANES; i++)
        if (i < lanes)
            h[i] = p[i].bits;
    return h;
#endif
}

INLINE Vector load_some(const stored *p, int lanes) {
    return widened(halves(p, lanes));
}

INLINE void store_some(stored *p, Vector v, int lanes) {
    Halves h = narrowed(v);
    if (lanes >= LANES) {
        *(UnalignedHalves *)(void *)p = h;
        return;
    }
#if defined __AVX512BW__ && defined __AVX512VL__
    _mm256_mask_storeu_epi16(p, first_bits(lanes), (__m256i)h);
#else
    if (lanes > 0)
        p[0].bits = h[0];
    if (lanes > 1)
        p[1].bits = h[1];
    if (lanes > 2)
        p[2].bits = h[2];
    for (int i = 3; i < LANES; i++)
        if (i < lanes)
            p[i].bits = h[i];
#endif
}

/* The first `lanes`, then zeros up to a whole vector. */
INLINE void copy_some(stored *to, const stored *from, int lanes) {
    *(UnalignedHalves *)(void *)to = halves(from, lanes);
}

/* As a factor of a product has to be: of the type of activations. */
INLINE Vector rounded(Vector v) {
    return widened(narrowed(v));
}
/* END */
