/* wav.c - the chunks of a WAV file (RIFF, or RF64, whose lengths have 64 bits).
 *
 * To libsndfile a file that is cut short is just shorter, it puts lengths right that lie, and it takes an
 * RF64 file with a chunk of an odd length for damaged.  So the chunks are read here, and their lengths are
 * held against the length of the file.
 */
#include "wav.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "unet/image.h"

enum {
    RIFF_BYTES = 12,
    HEAD_BYTES = 8, /* of a chunk: its name and length */
    LEAST_FORMAT = 16,
    MOST_FORMAT = 40,
    SIZES_BYTES = 16,
    EXTENSIBLE = 0xfffe, /* a code that says: the code stands further on */
    MOST_CHUNKS = 1000
};

typedef struct {
    ImageFile *file;
    WavHead *head;
    uint64_t length;  /* of the file */
    uint64_t place;   /* of the chunk */
    uint64_t numbers; /* bytes of them, as RF64 says */
    uint32_t block;   /* bytes of a frame */
    bool is_long;     /* RF64 */
    bool has_format;
    bool cut_short;
    char *reason;
} Chunks;

__attribute__((format(printf, 2, 3))) static bool fail(Chunks *c, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(c->reason, WAV_REASON_BYTES, format, arguments);
    va_end(arguments);
    return false;
}

static bool fail_short(Chunks *c, const char *why) {
    c->cut_short = true;
    return fail(c, "%s", why);
}

/* The lowest byte comes first. */
static uint64_t little(const uint8_t *at, int count) {
    uint64_t value = 0;
    while (count-- > 0) {
        value = value << 8 | at[count];
    }
    return value;
}

static bool read_at(const Chunks *c, uint64_t place, uint8_t *bytes, size_t count) {
    return place <= INT64_MAX && image_file_seek(c->file, (off_t)place, SEEK_SET) &&
           image_file_read(c->file, bytes, count) == count;
}

/* The code of an extensible format: its first bytes, where the others are as in all codes. */
static int32_t inner_code(const uint8_t format[MOST_FORMAT]) {
    static const uint8_t all[] = {0, 0, 0, 0, 16, 0, 128, 0, 0, 170, 0, 56, 155, 113};
    const bool is_code = memcmp(format + 26, all, sizeof all) == 0;
    return is_code ? (int32_t)little(format + 24, 2) : EXTENSIBLE;
}

static bool read_format(Chunks *c, uint64_t size) {
    uint8_t format[MOST_FORMAT] = {0};
    WavHead *head = c->head;
    if (size < LEAST_FORMAT) {
        return fail(c, "its format has %" PRIu64 " bytes, fewer than any", size);
    }
    if (!read_at(c, c->place + HEAD_BYTES, format, size < MOST_FORMAT ? (size_t)size : MOST_FORMAT)) {
        return fail_short(c, "it ends in its format");
    }
    const uint64_t rate = little(format + 4, 4);
    head->code = (int32_t)little(format, 2);
    head->code = head->code == EXTENSIBLE ? inner_code(format) : head->code;
    head->channels = (int32_t)little(format + 2, 2);
    head->bits = (int32_t)little(format + 14, 2);
    c->block = (uint32_t)little(format + 12, 2);
    c->has_format = true;
    if (rate < 1 || rate > INT32_MAX) {
        return fail(c, "%" PRIu64 " frames per second make no sense", rate);
    }
    head->rate = (int32_t)rate;
    return true;
}

/* Plain numbers, which lie side by side. */
static bool check_format(Chunks *c) {
    const WavHead *head = c->head;
    const bool whole = head->code == WAV_PCM && head->bits % 8 == 0 && head->bits >= 8 && head->bits <= 32;
    const bool floats = head->code == WAV_FLOAT && (head->bits == 32 || head->bits == 64);
    if (!c->has_format) {
        return fail(c, "its format is missing");
    }
    if (head->channels < 1 || head->channels > UNET_IMAGE_MOST_CHANNELS) {
        return fail(c, "it has %" PRId32 " channels, not 1 to %d", head->channels,
                    UNET_IMAGE_MOST_CHANNELS);
    }
    if (!whole && !floats) {
        return fail(c, "its numbers have %" PRId32 " bits, not 8, 16, 24 or 32, or as floats 32 or 64",
                    head->bits);
    }
    return c->block == (uint32_t)head->channels * (uint32_t)head->bits / 8 ||
           fail(c, "a frame of %" PRIu32 " bytes for %" PRId32 " channels of %" PRId32 " bits", c->block,
                head->channels, head->bits);
}

/* The chunk of numbers, which is the last that is looked at. */
static bool find_frames(Chunks *c, uint64_t size) {
    const uint64_t rest = c->length - c->place - HEAD_BYTES;
    if (c->has_format && c->head->code != WAV_PCM && c->head->code != WAV_FLOAT) {
        return true;
    }
    if (!check_format(c)) {
        return false;
    }
    if (size == UINT32_MAX && !c->is_long) {
        return fail_short(
            c, "its length is left open, as from a pipe: sox --ignore-length in.wav out.wav closes it");
    }
    size = size == UINT32_MAX ? c->numbers : size;
    if (size > rest) {
        c->cut_short = true;
        return fail(c, "%" PRIu64 " bytes of numbers are said to be there, and %" PRIu64 " are", size,
                    rest);
    }
    c->head->frames = (int64_t)(size / c->block);
    c->head->place = (int64_t)c->place + HEAD_BYTES;
    c->head->length = c->head->frames * c->block;
    if (c->head->frames < 1) {
        return fail(c, "it has no frame");
    }
    return c->head->frames <= WAV_MOST_FRAMES ||
           fail(c, "%" PRId64 " frames are too many (at most 2^28)", c->head->frames);
}

/* The lengths of RF64. */
static bool read_sizes(Chunks *c) {
    uint8_t sizes[SIZES_BYTES];
    if (!read_at(c, c->place + HEAD_BYTES, sizes, sizeof sizes)) {
        return fail_short(c, "it ends in its lengths");
    }
    c->numbers = little(sizes + 8, 8);
    return true;
}

static bool look_through(Chunks *c) {
    uint8_t head[HEAD_BYTES];
    for (int i = 0; i < MOST_CHUNKS && read_at(c, c->place, head, sizeof head); i++) {
        const uint64_t size = little(head + 4, 4);
        if (memcmp(head, "data", 4) == 0) {
            return find_frames(c, size);
        }
        if (memcmp(head, "ds64", 4) == 0 && !read_sizes(c)) {
            return false;
        }
        if (memcmp(head, "fmt ", 4) == 0 && !read_format(c, size)) {
            return false;
        }
        c->place += HEAD_BYTES + size + size % 2;
    }
    return c->place + HEAD_BYTES > c->length ? fail_short(c, "it ends before its numbers")
                                             : fail(c, "its chunks make no sense");
}

bool wav_read_head(ImageFile *file, WavHead *head, bool *cut_short, char reason[WAV_REASON_BYTES]) {
    uint8_t riff[RIFF_BYTES];
    Chunks c = {.file = file, .head = head, .place = RIFF_BYTES, .reason = reason};
    *head = (WavHead){.code = 0};
    bool good = image_file_seek(file, 0, SEEK_END);
    if (!good) {
        (void)fail(&c, "its length is not known");
    } else {
        c.length = (uint64_t)image_file_place(file);
        good = read_at(&c, 0, riff, sizeof riff) || fail_short(&c, "it ends too early");
    }
    if (good) {
        c.is_long = memcmp(riff, "RF64", 4) == 0;
        good = look_through(&c);
    }
    *cut_short = c.cut_short;
    return good;
}

const char *wav_code_name(int32_t code) {
    static const struct {
        int32_t code;
        const char *name;
    } names[] = {{1, "whole numbers"},
                 {2, "ADPCM of Microsoft"},
                 {3, "floats"},
                 {6, "A-law"},
                 {7, "mu-law"},
                 {0x11, "ADPCM of IMA"},
                 {0x31, "GSM 6.10"},
                 {0x40, "ADPCM by G.721"},
                 {0x14, "ADPCM by G.723"},
                 {0x45, "ADPCM by G.726"},
                 {0x50, "MPEG"},
                 {0x55, "MP3"},
                 {0xff, "AAC"},
                 {0x161, "WMA"},
                 {0x674f, "Vorbis"},
                 {0xf1ac, "FLAC"}};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (names[i].code == code) {
            return names[i].name;
        }
    }
    return NULL;
}
