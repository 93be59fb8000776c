/* mutation_test.c - thousands of damaged PNG, JPEG, TIFF, GIF, WAV and safetensors files: each is read or
 * refused with a message that names the file, never worse.  Every case is a function of its number, which a
 * failure prints; run under the sanitizers this is a small fuzzer. */
#include "check.h"
#include "make_gif.h"
#include "make_png.h"
#ifdef UNET_HAS_TIFF
#include "make_tiff.h"
#endif
#include "make_wav.h"
#include "small_jpeg.h"
#include "unet/image.h"
#include "unet/rng.h"
#include "unet/safetensors.h"

#include <unistd.h>
#include <zlib.h>

enum { CASES = 2000, MAX_EDITS = 4 };

enum { MOST = 1 << 20 }; /* bytes of a header */

static char folder[64];
static UnetImageMemory *memory; /* of all images that are read here */
static char path[100];

/* Numbers of one case. */
typedef struct {
    UnetKey key;
    uint64_t used;
} Dice;

static uint32_t roll(Dice *dice, size_t bound) {
    return (uint32_t)unet_random_below(&dice->key, dice->used++, (int64_t)bound);
}

static const uint32_t interesting[] = {0,      1,      0x7f,       0x80,       0xff,
                                       0x7fff, 0xffff, 0x7fffffff, 0x80000000, 0xffffffff};

/* One edit of LENGTH bytes (never more than before): a bit, a byte, a number, a copied or a missing part.
 */
static size_t edit(Dice *dice, unsigned char *bytes, size_t length) {
    size_t at = roll(dice, length);
    size_t part = 1 + roll(dice, length - at);
    switch (roll(dice, 6)) {
    case 0:
        bytes[at] ^= (unsigned char)(1u << roll(dice, 8));
        return length;
    case 1:
        bytes[at] = (unsigned char)roll(dice, 256);
        return length;
    case 2:
        for (size_t i = 0, value = interesting[roll(dice, 10)]; i < 4 && at + i < length; i++) {
            bytes[at + i] = (unsigned char)(value >> (24 - 8 * i));
        }
        return length;
    case 3:
        memmove(bytes + at, bytes + roll(dice, length - part + 1), part);
        return length;
    case 4:
        memmove(bytes + at, bytes + at + part, length - at - part);
        return length - part > 0 ? length - part : 1;
    default:
        return at + 1;
    }
}

/* Check sums are put right, or libpng would look no further. */
static void fix_sums(unsigned char *bytes, size_t length) {
    size_t at = 8;
    while (at + 12 <= length) {
        size_t size = (size_t)bytes[at] << 24 | (size_t)bytes[at + 1] << 16 | (size_t)bytes[at + 2] << 8 |
                      bytes[at + 3];
        if (size > length - at - 12) {
            return;
        }
        uLong sum = crc32(crc32(0, NULL, 0), bytes + at + 4, (uInt)(size + 4));
        for (size_t i = 0; i < 4; i++) {
            bytes[at + 8 + size + i] = (unsigned char)(sum >> (24 - 8 * i));
        }
        at += size + 12;
    }
}

static UnetStatus read_image(int32_t channels, UnetError *error) {
    static int calls; /* every other one has memory of its own, around which the sanitizers see each byte */
    UnetImageReader *reader;
    UnetStatus status = unet_image_open_in(++calls % 4 < 2 ? memory : NULL, &reader, path, channels, error);
    if (status != UNET_OK) {
        return status;
    }
    UnetImageInfo info = unet_image_info(reader);
    float *row = calloc((size_t)info.width * (size_t)info.channels, sizeof *row);
    for (int32_t y = 0; y < info.height && status == UNET_OK; y++) {
        status = unet_image_read_row(reader, row, error);
    }
    free(row);
    unet_image_close(reader);
    return status;
}

static UnetStatus read_tensors(UnetError *error) {
    UnetSafetensors *file;
    UnetStatus status = unet_safetensors_open(&file, path, MOST, error);
    for (int32_t i = 0; status == UNET_OK && i < unet_safetensors_count(file); i++) {
        const UnetTensorInfo *tensor = unet_safetensors_tensor(file, i);
        double *values = calloc((size_t)tensor->count + 1, sizeof *values);
        status = unet_safetensors_read(file, i, UNET_F64, values, error);
        free(values);
    }
    unet_safetensors_close(file);
    return status;
}

/* Damages the file at SOURCE in CASES ways and reads the results. */
static void mutate(const char *source, bool image, uint32_t stream) {
    size_t length;
    unsigned char *bytes = read_bytes(source, &length);
    unsigned char *copy = malloc(length);
    int refused = 0;
    for (uint32_t number = 0; number < CASES; number++) {
        Dice dice = {.key = {.seed = 5, .stream = stream, .sample = number}};
        size_t left = length;
        memcpy(copy, bytes, length);
        for (uint32_t edits = 1 + roll(&dice, MAX_EDITS); edits > 0; edits--) {
            left = edit(&dice, copy, left);
        }
        if (image && roll(&dice, 4) > 0) {
            fix_sums(copy, left);
        }
        write_bytes(path, copy, left);
        UnetError error = {.text = ""};
        UnetStatus status;
        if (image) {
            status = read_image((int32_t)roll(&dice, 2) * 3, &error);
        } else {
            status = read_tensors(&error);
        }
        refused += status != UNET_OK;
        CHECK(status == UNET_OK || status == UNET_IO, "%s, case %u: status %d", source, number, status);
        CHECK(status == UNET_OK || strstr(error.text, path) != NULL, "%s, case %u: \"%s\"", source, number,
              error.text);
    }
    CHECK(refused > CASES / 4, "%s: only %d of %d were refused", source, refused, CASES);
    free(copy);
    free(bytes);
}

/* Two small tensors and metadata. */
static void tensor_source(const void *context, int32_t index, UnetTensor *tensor) {
    *tensor = (UnetTensor){.prefix = "enc1.",
                           .name = index == 0 ? "weight" : "bias",
                           .type = UNET_F32,
                           .rank = 2 - index,
                           .dim = {4, 3},
                           .values = context};
}

int main(void) {
    static const PngKind kinds[] = {
        {.width = 21, .height = 17, .colour = PNG_COLOR_TYPE_RGB, .bits = 8},
        {.width = 21, .height = 17, .colour = PNG_COLOR_TYPE_PALETTE, .bits = 4, .transparent = true},
        {.width = 21,
         .height = 17,
         .colour = PNG_COLOR_TYPE_GRAY,
         .bits = 2,
         .interlaced = true,
         .transparent = true},
        {.width = 11, .height = 9, .colour = PNG_COLOR_TYPE_RGBA, .bits = 16, .interlaced = true},
    };
    char source[100];
    memory = unet_image_memory_create();
    make_folder(folder);
    snprintf(path, sizeof path, "%s/damaged", folder);
    snprintf(source, sizeof source, "%s/whole", folder);
    for (uint32_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        make_png(source, &kinds[i]);
        mutate(source, true, i);
    }
#ifdef UNET_HAS_JPEG
    write_bytes(source, small_jpeg, sizeof small_jpeg);
    mutate(source, true, 50);
#endif
#ifdef UNET_HAS_TIFF
    static const TiffKind tiffs[] = {
        {31, 23, PHOTOMETRIC_RGB, 8, 3, .compression = COMPRESSION_LZW, .strip = 5, .orientation = 6},
        {31, 23, PHOTOMETRIC_RGB, 16, 4, .compression = COMPRESSION_ADOBE_DEFLATE, .tile = 16,
         .planes = true},
        {31, 23, PHOTOMETRIC_PALETTE, 4, 1, .big = true},
        {31, 23, PHOTOMETRIC_MINISBLACK, 32, 1, .compression = COMPRESSION_PACKBITS, .floats = true,
         .tile = 32}};
    for (uint32_t i = 0; i < sizeof tiffs / sizeof *tiffs; i++) {
        make_tiff(source, &tiffs[i]);
        mutate(source, true, 70 + i);
    }
#endif
#ifdef UNET_HAS_GIF
    const GifKind gif = {.width = 41, .height = 37, .root = 4, .coloured = true, .index = gif_noise};
    make_gif(source, &gif);
    mutate(source, true, 60);
#endif
#ifdef UNET_HAS_SNDFILE
    static const WavKind wavs[] = {
        {.bits = 16, .channels = 1, .frames = 50, .rate = 16000},
        {.bits = 24, .channels = 3, .frames = 11, .rate = 44100, .extensible = true, .listed = true},
        {.bits = 32, .floats = true, .channels = 1, .frames = 20, .rate = 8000, .behind = true},
        {.bits = 8, .channels = 1, .frames = 30, .rate = 8000, .is_long = true, .listed = true}};
    for (uint32_t i = 0; i < sizeof wavs / sizeof *wavs; i++) {
        static uint8_t bytes[WAV_MOST_BYTES];
        size_t data;
        write_bytes(source, bytes, make_wav(bytes, &wavs[i], &data));
        mutate(source, true, 80 + i);
    }
#endif
    static const float values[12] = {1, 2, 3};
    UnetMetadata metadata = {"step", "100"};
    UnetError error;
    CHECK_OK(unet_safetensors_save(source, tensor_source, values, 2, &metadata, 1, &error), error);
    mutate(source, false, 100);
    unet_image_memory_destroy(memory);
    remove_folder(folder);
    return check_result();
}
