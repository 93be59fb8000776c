/* make_wav.h - WAV files of any kind for the tests, of numbers that follow a rule. */
#ifndef MAKE_WAV_H
#define MAKE_WAV_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

enum { WAV_MOST_BYTES = 8192, WAV_HEAD = 44 };

typedef struct {
    int bits, channels, frames;
    uint32_t rate;
    bool floats;
    bool extensible; /* the code stands at the end of a longer format */
    bool listed;     /* a chunk of an odd number of bytes stands before the numbers */
    bool is_long;    /* RF64 */
    bool behind;     /* a chunk stands behind the numbers */
    int code;        /* 0: as it should be */
} WavKind;

/* The whole number that stands for channel C of a frame, or its float times 2^23. */
static inline int32_t wav_whole(const WavKind *kind, int frame, int c) {
    const uint32_t mixed = ((uint32_t)frame * 2654435761u) ^ ((uint32_t)c * 40503u + 7) * 2246822519u;
    const uint32_t number = mixed ^ mixed >> 15;
    const int bits = kind->floats ? 24 : kind->bits;
    return (int32_t)((int64_t)(number >> (32 - bits)) - ((int64_t)1 << (bits - 1)));
}

/* The number that is read there. */
static inline float wav_number(const WavKind *kind, int frame, int c) {
    const int bits = kind->floats ? 24 : kind->bits;
    return (float)((double)wav_whole(kind, frame, c) / ldexp(1, bits - 1));
}

static inline uint8_t *wav_put(uint8_t *at, uint64_t number, int bytes) {
    for (int i = 0; i < bytes; i++) {
        *at++ = (uint8_t)(number >> 8 * i);
    }
    return at;
}

static inline uint8_t *wav_name(uint8_t *at, const char *name) {
    memcpy(at, name, 4);
    return at + 4;
}

static inline uint8_t *wav_format(uint8_t *at, const WavKind *kind) {
    static const uint8_t all[] = {0, 0, 0, 0, 16, 0, 128, 0, 0, 170, 0, 56, 155, 113};
    const int frame = kind->channels * kind->bits / 8;
    const uint64_t code = kind->code != 0 ? (uint64_t)kind->code : kind->floats ? 3 : 1;
    at = wav_put(wav_name(at, "fmt "), kind->extensible ? 40 : 16, 4);
    at = wav_put(at, kind->extensible ? 0xfffe : code, 2);
    at = wav_put(at, (uint64_t)kind->channels, 2);
    at = wav_put(at, kind->rate, 4);
    at = wav_put(at, (uint64_t)kind->rate * (uint64_t)frame, 4);
    at = wav_put(at, (uint64_t)frame, 2);
    at = wav_put(at, (uint64_t)kind->bits, 2);
    if (kind->extensible) {
        at = wav_put(at, 22, 2);
        at = wav_put(at, (uint64_t)kind->bits, 2);
        at = wav_put(at, (1u << kind->channels) - 1, 4); /* loudspeakers */
        at = wav_put(at, code, 2);
        memcpy(at, all, sizeof all);
        at += sizeof all;
    }
    return at;
}

static inline uint8_t *wav_numbers(uint8_t *at, const WavKind *kind) {
    for (int i = 0; i < kind->frames * kind->channels; i++) {
        const int frame = i / kind->channels, c = i % kind->channels;
        const float single = wav_number(kind, frame, c);
        const double exact = (double)single;
        uint64_t stored = (uint64_t)(int64_t)wav_whole(kind, frame, c) + (kind->bits == 8 ? 128 : 0);
        if (kind->floats && kind->bits == 64) {
            memcpy(&stored, &exact, sizeof exact);
        } else if (kind->floats) {
            uint32_t half;
            memcpy(&half, &single, sizeof half);
            stored = half;
        }
        at = wav_put(at, stored, kind->bits / 8);
    }
    return at;
}

/* Returns the number of bytes; *DATA: where the numbers begin. */
static inline size_t make_wav(uint8_t bytes[WAV_MOST_BYTES], const WavKind *kind, size_t *data) {
    const uint64_t count = (uint64_t)kind->frames * (uint64_t)kind->channels * (uint64_t)kind->bits / 8;
    uint8_t *at = wav_name(wav_put(wav_name(bytes, kind->is_long ? "RF64" : "RIFF"), 0, 4), "WAVE");
    uint8_t *length = at + 8;
    if (kind->is_long) {
        at = wav_put(wav_name(at, "ds64"), 28, 4);
        at = wav_put(at, 0, 8);
        at = wav_put(at, count, 8);
        at = wav_put(at, (uint64_t)kind->frames, 8);
        at = wav_put(at, 0, 4);
    }
    at = wav_format(at, kind);
    if (kind->listed) {
        at = wav_put(wav_name(at, "LIST"), 15, 4);
        memcpy(at, "INFOISFT\3\0\0\0abc\0", 16);
        at += 16;
    }
    at = wav_put(wav_name(at, "data"), kind->is_long ? UINT32_MAX : count, 4);
    *data = (size_t)(at - bytes);
    at = wav_numbers(at, kind);
    if ((at - bytes) % 2 != 0) {
        *at++ = 0;
    }
    if (kind->behind) {
        at = wav_put(wav_put(wav_name(at, "junk"), 2, 4), 0, 2);
    }
    const uint64_t all = (uint64_t)(at - bytes) - 8;
    (void)wav_put(bytes + 4, kind->is_long ? UINT32_MAX : all, 4);
    if (kind->is_long) {
        (void)wav_put(length, all, 8);
    }
    return (size_t)(at - bytes);
}

#endif
