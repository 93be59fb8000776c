/* wav_test.c - WAV files, made here byte by byte, are read number by number; files that are cut short or
 * lie are refused; written files come back; signals of one data set have one rate. */
#include "check.h"
#include "fake_data.h"
#include "make_wav.h"
#include "unet/image.h"
#include "unet/rng.h"

#include <unistd.h>

enum { FRAMES = 37, ROW = 8 * 400, CASES = 300 };

static char folder[64], path[200];
static uint8_t bytes[WAV_MOST_BYTES];

static const char *text_of(const WavKind *kind) {
    static char text[100];
    snprintf(text, sizeof text, "%d %s of %d bits%s%s%s%s", kind->channels,
             kind->floats ? "floats" : "numbers", kind->bits, kind->extensible ? ", extensible" : "",
             kind->listed ? ", listed" : "", kind->is_long ? ", long" : "", kind->behind ? ", behind" : "");
    return text;
}

static UnetStatus read_row(const UnetImageWay *way, int32_t channels, float row[ROW], UnetImageInfo *info,
                           UnetError *error) {
    UnetImageReader *reader;
    UnetStatus status = unet_image_open_as(NULL, way, &reader, path, channels, error);
    if (status != UNET_OK) {
        return status;
    }
    *info = unet_image_info(reader);
    CHECK(info->width * info->channels <= ROW, "%d frames", info->width);
    status = unet_image_read_row(reader, row, error);
    if (status == UNET_OK) {
        status = unet_image_check_end(reader, error);
    }
    unet_image_close(reader);
    return status;
}

static void check_refused(size_t length, int32_t channels, const char *says) {
    float row[ROW];
    UnetImageInfo info;
    UnetError error;
    write_bytes(path, bytes, length);
    CHECK_FAILS(read_row(NULL, channels, row, &info, &error), error, says);
    CHECK(strstr(error.text, path) != NULL, "no name in \"%s\"", error.text);
}

static void write_signal(const UnetImageInfo *info, const float *row) {
    UnetImageWriter *writer;
    UnetError error;
    CHECK_OK(unet_image_create(&writer, path, info, &error), error);
    CHECK_OK(unet_image_write_row(writer, row, &error), error);
    CHECK_OK(unet_image_finish(writer, &error), error);
}

#ifdef UNET_HAS_SNDFILE
/* ---- reading ---------------------------------------------------------------------------------- */

static void check_kind(const WavKind *kind) {
    float row[ROW];
    UnetImageInfo info;
    UnetError error;
    size_t data;
    write_bytes(path, bytes, make_wav(bytes, kind, &data));
    CHECK_OK(unet_image_probe(path, &info, &error), error);
    const UnetStatus status = read_row(NULL, kind->channels, row, &info, &error);
    CHECK_OK(status, error);
    if (status != UNET_OK) {
        return;
    }
    CHECK(info.width == kind->frames && info.height == 1 && info.channels == kind->channels &&
              info.bits == 32 && info.rate == (int32_t)kind->rate && info.traits == 0 && !info.palette,
          "%s: %d x %d x %d of %d bits, rate %d, traits %u", text_of(kind), info.channels, info.height,
          info.width, info.bits, info.rate, info.traits);
    for (int i = 0; i < kind->frames * kind->channels; i++) {
        const float wanted = wav_number(kind, i % kind->frames, i / kind->frames);
        CHECK(row[i] == wanted, "%s: number %d is %.9g, not %.9g", text_of(kind), i, (double)row[i],
              (double)wanted);
    }
}

static void test_kinds(void) {
    static const struct {
        int bits;
        bool floats;
    } numbers[] = {{8, false}, {16, false}, {24, false}, {32, false}, {32, true}, {64, true}};
    for (size_t k = 0; k < sizeof numbers / sizeof *numbers; k++) {
        for (int channels = 1; channels <= 5; channels++) {
            for (int variant = 0; variant < 16; variant++) {
                const WavKind kind = {.bits = numbers[k].bits,
                                      .floats = numbers[k].floats,
                                      .channels = channels,
                                      .frames = FRAMES,
                                      .rate = 8000 + 3675 * (uint32_t)variant,
                                      .extensible = (variant & 1) != 0,
                                      .listed = (variant & 2) != 0,
                                      .is_long = (variant & 4) != 0,
                                      .behind = (variant & 8) != 0};
                check_kind(&kind);
            }
        }
    }
    check_kind(&(WavKind){.bits = 8, .channels = 1, .frames = 1, .rate = 1});
}

/* Every prefix is an error, and is said to be cut short wherever the numbers are. */
static void test_cut(bool is_long) {
    const WavKind kind = {
        .bits = 24, .channels = 2, .frames = 9, .rate = 16000, .is_long = is_long, .listed = true};
    size_t data;
    const size_t length = make_wav(bytes, &kind, &data);
    for (size_t cut = 1; cut < length; cut++) {
        check_refused(cut, 0, cut < 8 ? "too short" : cut < 12 ? "none of the formats" : "cut short");
    }
}

/* One number of the head is changed. */
static void test_lies(void) {
    static const struct {
        size_t at;
        int count;
        uint64_t number;
        const char *says;
    } lies[] = {
        {40, 4, 75, "cut short in the header (75 bytes of numbers are said to be there, and 74 are)"},
        {40, 4, UINT32_MAX - 1, "cut short"},
        {40, 4, UINT32_MAX, "its length is left open, as from a pipe: sox --ignore-length"},
        {40, 4, 0, "it has no frame"},
        {40, 4, 1, "it has no frame"},
        {16, 4, 15, "its format has 15 bytes, fewer than any"},
        {16, 4, UINT32_MAX, "cut short"},
        {16, 4, 0x7fffffff, "cut short"},
        {12, 4, 0, "its format is missing"},
        {22, 2, 0, "it has 0 channels, not 1 to 1024"},
        {22, 2, 1025, "it has 1025 channels"},
        {22, 2, 2, "a frame of 2 bytes for 2 channels of 16 bits"},
        {34, 2, 12, "its numbers have 12 bits, not 8, 16, 24 or 32, or as floats 32 or 64"},
        {34, 2, 40, "its numbers have 40 bits"},
        {34, 2, 0, "its numbers have 0 bits"},
        {32, 2, 0, "a frame of 0 bytes"},
        {24, 4, 0, "0 frames per second make no sense"},
        {24, 4, 0x80000000, "2147483648 frames per second make no sense"},
        {20, 2, 3, "its numbers have 16 bits"},
        {8, 4, 0x20495641, "none of the formats that are read"},
        {0, 4, 0x58464952, "none of the formats that are read"}};
    const WavKind kind = {.bits = 16, .channels = 1, .frames = FRAMES, .rate = 16000};
    for (size_t i = 0; i < sizeof lies / sizeof *lies; i++) {
        size_t data;
        const size_t length = make_wav(bytes, &kind, &data);
        (void)wav_put(bytes + lies[i].at, lies[i].number, lies[i].count);
        check_refused(length, 0, lies[i].says);
    }
}

/* Numbers that are compressed are refused by name. */
static void test_codes(void) {
    static const struct {
        int code;
        const char *says;
    } codes[] = {{2, "compressed as ADPCM of Microsoft, which is not read: convert it with: sox in.wav -e "
                     "signed-integer -b 16 out.wav"},
                 {0x11, "compressed as ADPCM of IMA"},
                 {6, "compressed as A-law"},
                 {7, "compressed as mu-law"},
                 {0x55, "compressed as MP3"},
                 {0x1234, "compressed as code 0x1234"}};
    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++) {
        for (int extensible = 0; extensible < 2; extensible++) {
            const WavKind kind = {.bits = 8,
                                  .channels = 1,
                                  .frames = FRAMES,
                                  .rate = 16000,
                                  .code = codes[i].code,
                                  .extensible = extensible != 0};
            size_t data;
            check_refused(make_wav(bytes, &kind, &data), 0, codes[i].says);
        }
    }
    const WavKind kind = {.bits = 16, .channels = 1, .frames = FRAMES, .rate = 16000, .extensible = true};
    size_t data;
    const size_t length = make_wav(bytes, &kind, &data);
    bytes[data - 9] ^= 1; /* of the bytes that all codes have */
    check_refused(length, 0, "compressed as code 0xfffe");
}

/* As many channels are read as there are: they are no colours, and none is alpha. */
static void test_channels(void) {
    static const struct {
        int has;
        int32_t asked;
        const char *says;
    } wrong[] = {{1, 2, "a signal of 1 channel, and the model reads 2: convert it with: sox in.wav -c 2"},
                 {2, 1, "a signal of 2 channels, and the model reads 1: convert it with: sox in.wav -c 1"},
                 {1, 3, "a signal of 1 channel, and the model reads 3"},
                 {3, 1, "a signal of 3 channels, and the model reads 1"},
                 {3, 4, "a signal of 3 channels, and the model reads 4"},
                 {4, 3, "a signal of 4 channels, and the model reads 3"},
                 {1, UNET_IMAGE_CLASSES, "whose numbers from -1 to 1 are no classes"},
                 {3, UNET_IMAGE_COLOURS, "whose numbers from -1 to 1 are no classes"}};
    const UnetImageWay grey = {.to_grey = true}, alpha = {.alpha = true},
                       resized = {.fit = UNET_FIT_EXACT, .box = {1, 20}};
    const UnetImageWay *ways[] = {NULL, &grey};
    float row[ROW];
    UnetImageInfo info;
    UnetError error;
    size_t data;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        const WavKind kind = {.bits = 16, .channels = wrong[i].has, .frames = FRAMES, .rate = 16000};
        write_bytes(path, bytes, make_wav(bytes, &kind, &data));
        for (int k = 0; k < 2; k++) {
            CHECK_FAILS(read_row(ways[k], wrong[i].asked, row, &info, &error), error, wrong[i].says);
        }
    }
    const WavKind four = {.bits = 16, .channels = 4, .frames = FRAMES, .rate = 16000};
    write_bytes(path, bytes, make_wav(bytes, &four, &data));
    CHECK_FAILS(read_row(&alpha, 4, row, &info, &error), error, "has no alpha");
    CHECK_FAILS(read_row(&resized, 4, row, &info, &error), error, "a signal, which `resize` does not take");
}

/* Numbers that are none come as they are, for the way to settle. */
static void test_missing(void) {
    const float strange[] = {NAN, INFINITY, -INFINITY};
    const UnetImageWay refuses = {.missing = UNET_MISSING_REFUSED},
                       replaces = {.missing = UNET_MISSING_VALUE, .missing_value = 0.5};
    const WavKind kind = {.bits = 32, .floats = true, .channels = 1, .frames = 8, .rate = 16000};
    float row[ROW];
    UnetImageInfo info;
    UnetError error;
    size_t data;
    const size_t length = make_wav(bytes, &kind, &data);
    for (size_t i = 0; i < 3; i++) {
        uint32_t number;
        memcpy(&number, &strange[i], sizeof number);
        (void)wav_put(bytes + data + 4 * i, number, 4);
    }
    write_bytes(path, bytes, length);
    CHECK_OK(read_row(&refuses, 1, row, &info, &error), error);
    CHECK(!unet_settle_missing(&refuses, row, 8), "no numbers are refused");
    CHECK(unet_settle_missing(&replaces, row, 8) && row[0] == 0.5f && row[1] == 0.5f && row[2] == 0.5f &&
              row[3] == wav_number(&kind, 3, 0),
          "no numbers are replaced: %g %g %g %g", (double)row[0], (double)row[1], (double)row[2],
          (double)row[3]);
}

/* ---- written files come back ------------------------------------------------------------------ */

/* Each case has a seed of its own. */
static void check_round(uint32_t number) {
    const UnetKey key = {.seed = 11, .stream = 1, .sample = number};
    const UnetImageInfo info = {.width = 1 + (int32_t)unet_random_below(&key, 0, 400),
                                .height = 1,
                                .channels = 1 + (int32_t)unet_random_below(&key, 1, 8),
                                .bits = 8 * (1 + (int32_t)unet_random_below(&key, 2, 4)),
                                .rate = 1 + (int32_t)unet_random_below(&key, 3, 200000)};
    float row[ROW], read[ROW];
    UnetImageInfo found;
    UnetError error;
    const int64_t one = INT64_C(1) << ((info.bits < 32 ? info.bits : 16) - 1);
    for (int32_t i = 0; i < info.width * info.channels; i++) {
        const int64_t whole = unet_random_below(&key, 4 + (uint64_t)i, 2 * one) - one;
        row[i] = (float)whole / (info.bits < 32 ? (float)one : 777);
    }
    write_signal(&info, row);
    CHECK_OK(read_row(NULL, info.channels, read, &found, &error), error);
    CHECK(found.width == info.width && found.rate == info.rate && found.channels == info.channels,
          "case %u: %d x %d, rate %d", number, found.channels, found.width, found.rate);
    CHECK(memcmp(row, read, sizeof *row * (size_t)(info.width * info.channels)) == 0,
          "case %u: other numbers come back in %d bits", number, info.bits);
}

/* A file that was read is written byte by byte as it was. */
static void test_same_bytes(int bits, int channels) {
    const WavKind kind = {
        .bits = bits, .floats = bits == 32, .channels = channels, .frames = FRAMES, .rate = 44100};
    float row[ROW];
    UnetImageInfo info;
    UnetError error;
    size_t data, count;
    const size_t length = make_wav(bytes, &kind, &data);
    write_bytes(path, bytes, length);
    CHECK_OK(read_row(NULL, channels, row, &info, &error), error);
    info.bits = bits;
    write_signal(&info, row);
    unsigned char *written = read_bytes(path, &count);
    CHECK(count == length && memcmp(written, bytes, length) == 0, "%d channels of %d bits: another file",
          channels, bits);
    free(written);
}

/* ---- data ------------------------------------------------------------------------------------- */

static void write_pair(const char *name, int i, uint32_t rate) {
    static const char *const sub[] = {"noisy", "clean"};
    const WavKind kind = {.bits = 16, .channels = 1, .frames = 16, .rate = rate};
    size_t data;
    const size_t length = make_wav(bytes, &kind, &data);
    char place[300];
    snprintf(place, sizeof place, "%s/%s", folder, sub[i]);
    mkdir(place, 0777);
    snprintf(place, sizeof place, "%s/%s/%s.wav", folder, sub[i], name);
    write_bytes(place, bytes, length);
}

static void hear_problem(void *context, const UnetError *problem) {
    strncat(context, problem->text, 2000);
}

static void test_rates(void) {
    static char heard[8192];
    Fake fake;
    UnetDataset *dataset;
    UnetDataCheck check;
    UnetError error;
    fake_pairs(&fake, 1, 1, 16, UNET_F32);
    fake_program(&fake.train, "train", fake.train_layout, 1, 1, 1, 16, UNET_F32);
    fake_program(&fake.eval, "eval", fake.eval_layout, 1, 1, 1, 16, UNET_F32);
    fake.model.loader_ring_bytes = fake_ring_bytes(&fake.model);
    fake.term[0][0].pattern = "clean/*.wav";
    fake.term[1][0].pattern = "noisy/*.wav";
    for (int i = 0; i < 2; i++) {
        write_pair("a", i, 16000);
        write_pair("b", i, 16000);
    }
    CHECK_OK(unet_dataset_open(&dataset, &fake.model, UNET_TRAINING, unet_in_folder(folder), &error),
             error);
    unet_dataset_close(dataset);
    write_pair("b", 0, 44100);
    CHECK_FAILS(unet_dataset_open(&dataset, &fake.model, UNET_TRAINING, unet_in_folder(folder), &error),
                error, "clean/a.wav has 16000: resample one of them with: sox FILE -r 16000 OUT");
    CHECK(strstr(error.text, "noisy/b.wav has 44100 frames per second, and ") != NULL, "%s", error.text);
    CHECK_OK(
        unet_check_data(&fake.model, unet_in_folder(folder), hear_problem, NULL, heard, &check, &error),
        error);
    CHECK(check.problems == 1 && strstr(heard, "noisy/b.wav has 44100") != NULL, "%d problems: %s",
          (int)check.problems, heard);
}

static void test_reading(void) {
    test_kinds();
    test_cut(false);
    test_cut(true);
    test_lies();
    test_codes();
    test_channels();
    test_missing();
    for (uint32_t number = 0; number < CASES; number++) {
        check_round(number);
    }
    for (int bits = 8; bits <= 32; bits += 8) {
        test_same_bytes(bits, 1);
        test_same_bytes(bits, 2);
    }
    test_rates();
}
#else
static void test_reading(void) {
    const WavKind kind = {.bits = 16, .channels = 1, .frames = FRAMES, .rate = 16000};
    const WavKind long_kind = {.bits = 16, .channels = 1, .frames = FRAMES, .rate = 16000, .is_long = true};
    const char *says = "a WAV file: install libsndfile1-dev and build unetc anew, which was built without";
    size_t data;
    check_refused(make_wav(bytes, &kind, &data), 1, says);
    check_refused(make_wav(bytes, &long_kind, &data), 1, says);
    (void)text_of(&kind);
}
#endif

/* ---- writing needs no library ----------------------------------------------------------------- */

/* The whole number at AT, of 8 bits less 128, of more in two's complement. */
static int32_t whole_at(const uint8_t *at, int bits) {
    uint32_t number = 0;
    for (int i = 0; i < bits / 8; i++) {
        number |= (uint32_t)at[i] << (8 * i);
    }
    const int32_t turns = 1 << (bits - 1);
    return bits == 8 || number < (uint32_t)turns ? (int32_t)number - (bits == 8 ? turns : 0)
                                                 : (int32_t)number - 2 * turns;
}

/* Whole numbers hold -1 to 1 less one step; NaN becomes 0; an odd number of bytes has one more behind. */
static void check_clamped(int bits) {
    enum { COUNT = 11 };
    const int32_t one = 1 << (bits - 1);
    const float step = 1.0f / (float)one;
    const float row[COUNT] = {0,        1,         -1,          1.5f,        -7,   NAN,
                              INFINITY, -INFINITY, 0.4f * step, 0.6f * step, -step};
    const int32_t wanted[COUNT] = {0, one - 1, -one, one - 1, -one, 0, one - 1, -one, 0, 1, -1};
    const UnetImageInfo info = {.width = COUNT, .height = 1, .channels = 1, .bits = bits};
    const size_t bytes_wanted = (size_t)(COUNT * bits / 8), pad = bytes_wanted % 2;
    size_t count;
    write_signal(&info, row);
    unsigned char *written = read_bytes(path, &count);
    CHECK(count == WAV_HEAD + bytes_wanted + pad, "%d bits: %zu bytes", bits, count);
    CHECK(written[24] == (16000 & 255) && written[25] == 16000 >> 8 && written[26] == 0 && written[27] == 0,
          "a signal of no rate has another than 16000");
    CHECK(written[4] == count - 8 && written[40] == bytes_wanted, "%d bits: lengths %d and %d", bits,
          written[4], written[40]);
    for (size_t i = 0; i < COUNT && count == WAV_HEAD + bytes_wanted + pad; i++) {
        const int32_t found = whole_at(written + WAV_HEAD + i * (size_t)bits / 8, bits);
        CHECK(found == wanted[i], "%g is written as %d, not %d, in %d bits", (double)row[i], found,
              wanted[i], bits);
    }
    free(written);
}

static void test_names(void) {
    const UnetImageInfo high = {.width = 4, .height = 2, .channels = 1, .bits = 16},
                        large = {.width = 1 << 30, .height = 1, .channels = 1, .bits = 32},
                        classes = {.width = 4, .height = 1, .channels = 1, .bits = 8, .palette = true},
                        strange = {.width = 4, .height = 1, .channels = 1, .bits = 12};
    UnetImageWriter *writer;
    UnetError error;
    CHECK(unet_image_create(&writer, path, &high, &error) == UNET_USAGE && writer == NULL &&
              strstr(error.text,
                     "a WAV file holds one row, a signal, and this image has 2: name it .png") != NULL,
          "%s", error.text);
    CHECK(unet_image_create(&writer, path, &large, &error) == UNET_USAGE &&
              strstr(error.text, "a WAV file has at most 4 GiB") != NULL,
          "%s", error.text);
    CHECK(unet_image_create(&writer, path, &classes, &error) == UNET_USAGE &&
              strstr(error.text, "a WAV file holds a signal, and this has classes: name it .png or .tif") !=
                  NULL,
          "%s", error.text);
    CHECK(unet_image_create(&writer, path, &strange, &error) == UNET_BUG, "12 bits are written");
    CHECK_OK(unet_image_check_name("a.WAV", 7, false, &error), error);
    CHECK(unet_image_bits("a.wav", 8) == 8 && unet_image_bits("a.wav", 24) == 24 &&
              unet_image_bits("a.wav", 32) == 32 && unet_image_bits_unasked("a.wav", 32) == 16 &&
              unet_image_bits_unasked("a.npy", 8) == 32 && unet_image_bits_unasked("a.png", 32) == 16 &&
              unet_image_bits_unasked("a.jpg", 16) == 8,
          "bits of formats");
    CHECK(unet_image_is_signal("b/a.wav") && !unet_image_is_signal("a.png") && !unet_image_is_signal("wav"),
          "names of signals");
}

int main(void) {
    make_folder(folder);
    snprintf(path, sizeof path, "%s/file.wav", folder);
    test_reading();
    for (int bits = 8; bits <= 24; bits += 8) {
        check_clamped(bits);
    }
    test_names();
    remove_folder(folder);
    return check_result();
}
