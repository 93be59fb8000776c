/* image_test.c - PNG files of every kind read back number by number; a JPEG file as Pillow reads it; images
 * written and read again; files cut at every length; files that are no image, or none of the kind that is
 * asked for. */
#include "check.h"
#include "make_gif.h"
#include "make_png.h"
#include "small_jpeg.h"
#include "unet/image.h"

#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>
#include <zlib.h>

static UnetImageMemory *memory; /* of all images that are read here */
static char folder[64];
static char path[100];

/* The number that the reader should give for channel C of a point. */
static float expected_number(const PngKind *kind, uint32_t x, uint32_t y, uint32_t c) {
    bool grey = kind->colour == PNG_COLOR_TYPE_GRAY || kind->colour == PNG_COLOR_TYPE_GRAY_ALPHA;
    uint32_t number = png_number(kind, x, y, grey || kind->colour == PNG_COLOR_TYPE_PALETTE ? 0 : c);
    if (kind->colour == PNG_COLOR_TYPE_PALETTE) {
        return (float)png_palette_colour(number, c) / 255.0f;
    }
    return (float)number / (float)((1u << kind->bits) - 1);
}

/* Classes are the numbers that stand in the file; colours are none. */
static void check_classes(const PngKind *kind, const char *what) {
    UnetImageReader *reader;
    UnetError error;
    CHECK_OK(unet_image_open_in(memory, &reader, path, UNET_IMAGE_CLASSES, &error), error);
    if (reader == NULL) {
        return;
    }
    if ((kind->colour & PNG_COLOR_MASK_COLOR) != 0 && kind->colour != PNG_COLOR_TYPE_PALETTE) {
        const UnetStatus status = unet_image_skip_rows(reader, (int32_t)kind->height, &error);
        CHECK(status == UNET_IO && strstr(error.text, "is in colour (row 0, column ") != NULL,
              "%s: classes in colour", what);
        unet_image_close(reader);
        return;
    }
    float *row = calloc(kind->width, sizeof *row);
    for (uint32_t y = 0; y < kind->height; y++) {
        CHECK_OK(unet_image_read_row(reader, row, &error), error);
        for (uint32_t x = 0; x < kind->width; x++) {
            CHECK(row[x] == (float)png_number(kind, x, y, 0), "%s: class at %u, %u is %g", what, x, y,
                  (double)row[x]);
        }
    }
    free(row);
    unet_image_close(reader);
}

static void check_image(const PngKind *kind, int32_t channels, const char *what) {
    UnetImageReader *reader;
    UnetError error;
    CHECK_OK(unet_image_open_in(memory, &reader, path, channels, &error), error);
    if (reader == NULL) {
        return;
    }
    UnetImageInfo info = unet_image_info(reader);
    CHECK(info.width == (int32_t)kind->width && info.height == (int32_t)kind->height, "%s: its size", what);
    CHECK(info.bits == (kind->bits == 16 ? 16 : 8) && info.interlaced == kind->interlaced, "%s: its kind",
          what);
    float *row = calloc((size_t)info.channels * kind->width, sizeof *row);
    for (uint32_t y = 0; y < kind->height; y++) {
        CHECK_OK(unet_image_read_row(reader, row, &error), error);
        for (uint32_t i = 0; i < (uint32_t)info.channels * kind->width; i++) {
            float expected = expected_number(kind, i % kind->width, y, i / kind->width);
            CHECK(fabsf(row[i] - expected) < 1e-7f, "%s: row %u, number %u is %g, should be %g", what, y, i,
                  (double)row[i], (double)expected);
        }
    }
    CHECK(unet_image_read_row(reader, row, &error) == UNET_BUG, "%s: read beyond the end", what);
    free(row);
    unet_image_close(reader);
}

static void test_kinds(void) {
    static const struct {
        int colour, bits;
    } kinds[] = {
        {PNG_COLOR_TYPE_GRAY, 1},    {PNG_COLOR_TYPE_GRAY, 2},       {PNG_COLOR_TYPE_GRAY, 4},
        {PNG_COLOR_TYPE_GRAY, 8},    {PNG_COLOR_TYPE_GRAY, 16},      {PNG_COLOR_TYPE_PALETTE, 1},
        {PNG_COLOR_TYPE_PALETTE, 2}, {PNG_COLOR_TYPE_PALETTE, 4},    {PNG_COLOR_TYPE_PALETTE, 8},
        {PNG_COLOR_TYPE_RGB, 8},     {PNG_COLOR_TYPE_RGB, 16},       {PNG_COLOR_TYPE_RGBA, 8},
        {PNG_COLOR_TYPE_RGBA, 16},   {PNG_COLOR_TYPE_GRAY_ALPHA, 8}, {PNG_COLOR_TYPE_GRAY_ALPHA, 16},
    };
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        for (int variant = 0; variant < 4; variant++) {
            PngKind kind = {.width = 13,
                            .height = 9,
                            .colour = kinds[i].colour,
                            .bits = kinds[i].bits,
                            .interlaced = (variant & 1) != 0,
                            .transparent = (variant & 2) != 0};
            bool alpha = (kind.colour & PNG_COLOR_MASK_ALPHA) != 0;
            kind.transparent = kind.transparent && !alpha;
            char what[80];
            snprintf(what, sizeof what, "colour %d, %d bits%s%s", kind.colour, kind.bits,
                     kind.interlaced ? ", interlaced" : "", kind.transparent ? ", transparent" : "");
            make_png(path, &kind);
            check_image(&kind, 0, what);
            check_image(&kind, 3, what);
            check_classes(&kind, what);
            UnetImageInfo info;
            UnetError error;
            CHECK_OK(unet_image_probe(path, &info, &error), error);
            CHECK(info.channels == ((kind.colour & PNG_COLOR_MASK_COLOR) != 0 ? 3 : 1), "%s: channels",
                  what);
            CHECK(((info.traits & UNET_IMAGE_ALPHA) != 0) == (alpha || kind.transparent), "%s: alpha",
                  what);
            UnetImageReader *reader;
            if (info.channels == 3) {
                CHECK_FAILS(unet_image_open_in(memory, &reader, path, 1, &error), error, "in colour");
            } else {
                check_image(&kind, 1, what);
            }
        }
    }
}

/* Values between two steps go to the nearer, values outside to the ends, and what was written is read. */
static void test_writing(int32_t channels, int32_t bits) {
    static const float in[] = {0.0f, 1.0f, -3.0f, 7.0f, NAN, INFINITY, 0.4999f, 0.25f, 0.7f};
    enum { WIDTH = sizeof in / sizeof *in };
    UnetImageInfo info = {.width = WIDTH, .height = 2, .channels = channels, .bits = bits};
    float largest = bits == 16 ? 65535.0f : 255.0f;
    float row[3 * WIDTH];
    for (int i = 0; i < channels * WIDTH; i++) {
        row[i] = in[(i + i / WIDTH) % WIDTH];
    }
    UnetImageWriter *writer;
    UnetError error;
    CHECK_OK(unet_image_create(&writer, path, &info, &error), error);
    CHECK_OK(unet_image_write_row(writer, row, &error), error);
    CHECK_OK(unet_image_write_row(writer, row, &error), error);
    CHECK(unet_image_write_row(writer, row, &error) == UNET_BUG, "a row too many");
    unet_image_discard(writer);

    (void)remove(path);
    CHECK_OK(unet_image_create(&writer, path, &info, &error), error);
    CHECK_OK(unet_image_write_row(writer, row, &error), error);
    CHECK(access(path, F_OK) != 0, "the file is there before it is whole");
    CHECK_OK(unet_image_write_row(writer, row, &error), error);
    CHECK_OK(unet_image_finish(writer, &error), error);
    UnetImageReader *reader;
    CHECK_OK(unet_image_open_in(memory, &reader, path, 0, &error), error);
    float back[3 * WIDTH];
    CHECK_OK(unet_image_read_row(reader, back, &error), error);
    for (int i = 0; i < channels * WIDTH; i++) {
        double value = !(row[i] > 0) ? 0 : row[i] > 1 ? 1 : (double)row[i];
        double expected = floor(value * (double)largest + 0.5);
        CHECK(lrint((double)(back[i] * largest)) == (long)expected, "%g is written as %g", (double)row[i],
              (double)(back[i] * largest));
    }
    unet_image_close(reader);
}

/* Floats are written as they are. */
static void test_writing_floats(void) {
    const UnetImageInfo info = {.width = 50, .height = 700, .channels = 3, .bits = 32};
    UnetImageWriter *writer;
    UnetImageReader *reader = NULL;
    UnetError error;
    float row[3 * 50], back[3 * 50];
    snprintf(path, sizeof path, "%s/image.tiff", folder);
    CHECK_OK(unet_image_create(&writer, path, &info, &error), error);
    for (int pass = 0; pass < 2; pass++) {
        for (int y = 0; y < 700; y++) {
            for (int i = 0; i < 150; i++) {
                row[i] = (float)(y * 150 + i) / 7.0f - 5000.0f;
            }
            if (pass == 0) {
                CHECK_OK(unet_image_write_row(writer, row, &error), error);
                continue;
            }
            CHECK_OK(unet_image_read_row(reader, back, &error), error);
            CHECK(memcmp(row, back, sizeof row) == 0, "row %d comes back otherwise", y);
        }
        if (pass == 0) {
            CHECK_OK(unet_image_finish(writer, &error), error);
#ifndef UNET_HAS_TIFF
            return;
#endif
            CHECK_OK(unet_image_open_in(memory, &reader, path, 3, &error), error);
        }
    }
    unet_image_close(reader);
}

#ifdef UNET_HAS_JPEG
/* A smooth image comes back nearly as it was. */
static void test_writing_jpeg(int32_t channels) {
    const UnetImageInfo info = {.width = 37, .height = 29, .channels = channels, .bits = 8};
    UnetImageWriter *writer;
    UnetImageReader *reader;
    UnetError error;
    float row[3 * 37];
    snprintf(path, sizeof path, "%s/image.JPG", folder);
    CHECK_OK(unet_image_create(&writer, path, &info, &error), error);
    for (int y = 0; y < 29; y++) {
        for (int i = 0; i < channels * 37; i++) {
            row[i] = (float)(y + i % 37 + 10 * (i / 37)) / 100.0f;
        }
        CHECK_OK(unet_image_write_row(writer, row, &error), error);
    }
    CHECK_OK(unet_image_finish(writer, &error), error);
    CHECK_OK(unet_image_open_in(memory, &reader, path, 0, &error), error);
    CHECK(unet_image_info(reader).channels == channels, "its channels");
    for (int y = 0; y < 29; y++) {
        CHECK_OK(unet_image_read_row(reader, row, &error), error);
        for (int i = 0; i < channels * 37; i++) {
            const float right = (float)(y + i % 37 + 10 * (i / 37)) / 100.0f;
            CHECK(fabsf(row[i] - right) < 0.02f, "%g became %g", (double)right, (double)row[i]);
        }
    }
    unet_image_close(reader);
}
#endif

/* The name of a file tells its format, and a format that cannot be written is refused before a row is
 * computed. */
static void test_names(void) {
    static const struct {
        const char *name;
        bool classes;
        const char *says;
    } wrong[] = {{"a.gif", false, "no GIF files are written: name it .png, .jpg, .tif or .npy"},
                 {"b/c.WebP", false, "no WebP files are written"},
                 {"a.jpeg", true,
#ifdef UNET_HAS_JPEG
                  "does not keep the numbers of classes"}};
#else
                  "install libjpeg-dev"}};
#endif
    UnetError error;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        error.text[0] = '\0';
        CHECK(unet_image_check_name(wrong[i].name, 1, wrong[i].classes, &error) == UNET_USAGE &&
                  strstr(error.text, wrong[i].says) != NULL,
              "%s: %s", wrong[i].name, error.text);
    }
    static const char *const right[] = {"a.png", "a.TIF", "a.tiff", "a", "v1.5/a", "a.v2"};
    for (size_t i = 0; i < sizeof right / sizeof *right; i++) {
        CHECK_OK(unet_image_check_name(right[i], 1, true, &error), error);
    }
    CHECK(unet_image_bits("a.png", 32) == 16 && unet_image_bits("a.jpg", 16) == 8 &&
              unet_image_bits("a.tif", 32) == 32 && unet_image_bits("a", 8) == 8,
          "bits of formats");
}

/* Classes are written as indices of a palette, in which they are read again. */
static void test_classes(void) {
    const UnetImageInfo info = {.width = 256, .height = 1, .channels = 1, .bits = 8, .palette = true};
    UnetImageWriter *writer;
    UnetImageReader *reader;
    UnetError error;
    float row[3 * 256];
    for (int32_t x = 0; x < 256; x++) {
        row[x] = (float)x;
    }
    CHECK_OK(unet_image_create(&writer, path, &info, &error), error);
    CHECK_OK(unet_image_write_row(writer, row, &error), error);
    CHECK_OK(unet_image_finish(writer, &error), error);
    CHECK_OK(unet_image_open_in(memory, &reader, path, UNET_IMAGE_CLASSES, &error), error);
    CHECK_OK(unet_image_read_row(reader, row, &error), error);
    for (int32_t x = 0; x < 256; x++) {
        CHECK(row[x] == (float)x, "class %d is read as %g", x, (double)row[x]);
    }
    unet_image_close(reader);
    CHECK_OK(unet_image_open_in(memory, &reader, path, 3, &error), error);
    CHECK_OK(unet_image_read_row(reader, row, &error), error);
    for (int32_t x = 0; x < 256; x++) {
        uint8_t rgb[3];
        unet_class_colour(x, rgb);
        for (int c = 0; c < 3; c++) {
            CHECK(lroundf(255 * row[c * 256 + x]) == rgb[c], "colour %d of class %d", c, x);
        }
    }
    unet_image_close(reader);
}

/* A mask of three equal channels is one of classes. */
static void test_grey_classes(int32_t bits) {
    const UnetImageInfo info = {.width = 4, .height = 1, .channels = 3, .bits = bits};
    const float most = bits == 16 ? 65535.0f : 255.0f, number[4] = {0, 1, 2, most};
    float row[12];
    UnetImageWriter *writer;
    UnetImageReader *reader;
    UnetError error;
    for (int i = 0; i < 12; i++) {
        row[i] = number[i % 4] / most;
    }
    CHECK_OK(unet_image_create(&writer, path, &info, &error), error);
    CHECK_OK(unet_image_write_row(writer, row, &error), error);
    CHECK_OK(unet_image_finish(writer, &error), error);
    CHECK_OK(unet_image_open(&reader, path, UNET_IMAGE_CLASSES, &error), error);
    CHECK_OK(unet_image_read_row(reader, row, &error), error);
    CHECK(memcmp(row, number, sizeof number) == 0, "%d bits: %g %g %g %g", bits, (double)row[0],
          (double)row[1], (double)row[2], (double)row[3]);
    unet_image_close(reader);
}

static void test_write_failures(void) {
    UnetImageInfo info = {.width = 4, .height = 1, .channels = 1, .bits = 8};
    UnetImageWriter *writer;
    UnetError error;
    CHECK_FAILS(unet_image_create(&writer, "/nowhere/x.png", &info, &error), error,
                "/nowhere/x.png: cannot write");
    info.channels = 2;
    CHECK(unet_image_create(&writer, path, &info, &error) == UNET_USAGE, "two channels");
    info = (UnetImageInfo){.width = 100, .height = 1, .channels = 1, .bits = 8};
    float row[100] = {0};
    struct rlimit limit, none;
    (void)signal(SIGXFSZ, SIG_IGN);
    CHECK(getrlimit(RLIMIT_FSIZE, &limit) == 0, "no limit");
    none = limit;
    none.rlim_cur = 0;
    CHECK(unlink(path) == 0 && setrlimit(RLIMIT_FSIZE, &none) == 0, "no limit");
    UnetStatus status = unet_image_create(&writer, path, &info, &error);
    if (status == UNET_OK) {
        status = unet_image_write_row(writer, row, &error);
        status =
            status == UNET_OK ? unet_image_finish(writer, &error) : (unet_image_discard(writer), status);
    }
    CHECK(setrlimit(RLIMIT_FSIZE, &limit) == 0, "no limit");
    CHECK(status == UNET_IO && strstr(error.text, "File too large") != NULL, "a full disk: %s", error.text);
    CHECK(access(path, F_OK) != 0, "a file on a full disk");
}

/* Every prefix of a file is an error, at the latest in the row that is missing, and probing says so. */
static void test_cut(bool interlaced) {
    PngKind kind = {
        .width = 40, .height = 30, .colour = PNG_COLOR_TYPE_RGB, .bits = 8, .interlaced = interlaced};
    UnetError error;
    size_t length;
    make_png(path, &kind);
    unsigned char *bytes = read_bytes(path, &length);
    float row[3 * 40];
    for (size_t cut = 0; cut < length - 12; cut += 7) {
        write_bytes(path, bytes, cut);
        UnetImageInfo info;
        CHECK(unet_image_probe(path, &info, &error) == UNET_IO, "%zu of %zu bytes pass as whole", cut,
              length);
        CHECK(strstr(error.text, path) != NULL, "no file is named: %s", error.text);
        UnetImageReader *reader;
        if (unet_image_open_in(memory, &reader, path, 0, &error) != UNET_OK) {
            continue;
        }
        UnetStatus status = UNET_OK;
        for (int y = 0; y < 30 && status == UNET_OK; y++) {
            status = unet_image_read_row(reader, row, &error);
        }
        bool all_rows = cut >= length - 20; /* only check sums and the end mark are missing */
        CHECK(status == UNET_IO || all_rows, "%zu of %zu bytes are read as whole", cut, length);
        CHECK(all_rows || strstr(error.text, "cut short") != NULL, "%zu bytes: %s", cut, error.text);
        CHECK(interlaced || all_rows || strstr(error.text, " in row ") != NULL, "%zu bytes: %s", cut,
              error.text);
        unet_image_close(reader);
    }
    free(bytes);
}

/* A disk that fails while an image is read is not told as an image that is cut short.  A folder stands in
 * for it: reading one fails. */
static void test_failing_disk(const char *suffix) {
    enum { WIDTH = 300 };
    const UnetImageInfo info = {.width = WIDTH, .height = WIDTH, .channels = 1, .bits = 8};
    UnetImageWriter *writer;
    UnetImageReader *reader;
    UnetError error;
    float row[WIDTH];
    snprintf(path, sizeof path, "%s/image.%s", folder, suffix);
    CHECK_OK(unet_image_create(&writer, path, &info, &error), error);
    for (int y = 0; y < WIDTH; y++) {
        for (int x = 0; x < WIDTH; x++) {
            row[x] = (float)(rand() % 256) / 255.0f;
        }
        CHECK_OK(unet_image_write_row(writer, row, &error), error);
    }
    CHECK_OK(unet_image_finish(writer, &error), error);
    const int at = dup(STDOUT_FILENO), directory = open(folder, O_RDONLY | O_DIRECTORY);
    (void)close(at); /* the reader opens its file there */
    CHECK_OK(unet_image_open(&reader, path, 0, &error), error);
    CHECK(dup2(directory, at) == at && close(directory) == 0, "no folder");
    UnetStatus status = UNET_OK;
    for (int y = 0; y < WIDTH && status == UNET_OK; y++) {
        status = unet_image_read_row(reader, row, &error);
    }
    CHECK(status == UNET_IO && strstr(error.text, "cannot read: Is a directory") != NULL, "%s: %s", suffix,
          error.text);
    unet_image_close(reader);
}

static void test_not_png(void) {
    UnetImageReader *reader;
    UnetImageInfo info;
    UnetError error;
    CHECK_FAILS(unet_image_probe("/nowhere/a.png", &info, &error), error,
                "/nowhere/a.png: cannot read: No such file");
    CHECK_FAILS(unet_image_probe(folder, &info, &error), error, "Is a directory");
    write_bytes(path, "", 0);
    CHECK_FAILS(unet_image_probe(path, &info, &error), error, "too short");
    write_bytes(path, "AM6, another format", 20);
    CHECK_FAILS(unet_image_open_in(memory, &reader, path, 0, &error), error, "none of the formats");
#ifndef UNET_HAS_JPEG
    write_bytes(path, small_jpeg, sizeof small_jpeg);
    CHECK_FAILS(unet_image_open_in(memory, &reader, path, 0, &error), error, "install libjpeg-dev");
#endif
#ifndef UNET_HAS_GIF
    write_bytes(path, small_gif, sizeof small_gif);
    CHECK_FAILS(unet_image_open_in(memory, &reader, path, 0, &error), error, "install libgif-dev");
#endif

    /* A header that promises far more points than the file can hold. */
    PngKind kind = {.width = 8, .height = 8, .colour = PNG_COLOR_TYPE_GRAY, .bits = 8};
    make_png(path, &kind);
    size_t length;
    unsigned char *bytes = read_bytes(path, &length);
    static const struct {
        uint32_t width, height;
        const char *says;
    } promises[] = {{10000, 10000, "cannot hold"},
                    {900000, 900000, "too many"},
                    {0, 8, "Invalid IHDR"},
                    {2000000, 8, "Invalid IHDR"}};
    for (size_t i = 0; i < sizeof promises / sizeof *promises; i++) {
        for (int b = 0; b < 4; b++) {
            bytes[16 + b] = (unsigned char)(promises[i].width >> (24 - 8 * b));
            bytes[20 + b] = (unsigned char)(promises[i].height >> (24 - 8 * b));
        }
        png_uint_32 sum = (png_uint_32)crc32(crc32(0, NULL, 0), bytes + 12, 17);
        for (int b = 0; b < 4; b++) {
            bytes[29 + b] = (unsigned char)(sum >> (24 - 8 * b));
        }
        write_bytes(path, bytes, length);
        CHECK_FAILS(unet_image_probe(path, &info, &error), error, promises[i].says);
    }
    free(bytes);
}

/* Bytes behind the end mark do no harm. */
static void test_appended(void) {
    PngKind kind = {.width = 8, .height = 8, .colour = PNG_COLOR_TYPE_GRAY, .bits = 8};
    UnetImageInfo info;
    UnetError error;
    make_png(path, &kind);
    FILE *file = fopen(path, "ab");
    fputs("something else", file);
    fclose(file);
    CHECK_OK(unet_image_probe(path, &info, &error), error);
}

#ifdef UNET_HAS_JPEG
/* EXIF that asks for a quarter turn, in either order of bytes; it is told, and so is no other. */
static void test_turned(void) {
    static const uint8_t exif[2][36] = {{0xff, 0xe1, 0, 34, 'E', 'x', 'i',  'f', 0, 0, 'M', 'M', 0, '*', 0,
                                         0,    0,    8, 0,  1,   1,   0x12, 0,   3, 0, 0,   0,   1, 0,   6},
                                        {0xff, 0xe1, 0, 34, 'E', 'x',  'i', 'f', 0, 0, 'I', 'I', '*', 0, 8,
                                         0,    0,    0, 1,  0,   0x12, 1,   3,   0, 1, 0,   0,   0,   6}};
    uint8_t bytes[sizeof small_jpeg + sizeof exif[0]];
    UnetImageInfo info;
    UnetError error;
    for (int order = 0; order < 2; order++) {
        const int at = order == 0 ? 29 : 28; /* of the orientation */
        for (uint8_t orientation = 0; orientation < 10; orientation++) {
            memcpy(bytes, small_jpeg, 2);
            memcpy(bytes + 2, exif[order], sizeof exif[order]);
            memcpy(bytes + 2 + sizeof exif[order], small_jpeg + 2, sizeof small_jpeg - 2);
            bytes[2 + at] = orientation;
            write_bytes(path, bytes, sizeof bytes);
            CHECK_OK(unet_image_probe(path, &info, &error), error);
            CHECK(info.traits == (orientation > 1 && orientation < 9 ? UNET_IMAGE_TURNED : 0u),
                  "orientation %d: %u", orientation, info.traits);
        }
    }
}

/* Decoded as Pillow does it, to the bit; in one channel refused, in grey repeated. */
static void test_jpeg(void) {
    UnetImageReader *reader;
    UnetImageInfo info;
    UnetError error;
    uint64_t sum = UINT64_C(0xcbf29ce484222325);
    write_bytes(path, small_jpeg, sizeof small_jpeg);
    CHECK_OK(unet_image_probe(path, &info, &error), error);
    CHECK(info.height == JPEG_HEIGHT && info.width == JPEG_WIDTH && info.channels == 3 && info.bits == 8,
          "%d x %d, %d channels", info.height, info.width, info.channels);
    CHECK_FAILS(unet_image_open_in(memory, &reader, path, 1, &error), error, "is in colour");
    CHECK_OK(unet_image_open_in(memory, &reader, path, UNET_IMAGE_CLASSES, &error), error);
    CHECK_FAILS(unet_image_skip_rows(reader, JPEG_HEIGHT, &error), error, "is in colour (row");
    unet_image_close(reader);
    CHECK_OK(unet_image_open_in(memory, &reader, path, 3, &error), error);
    for (int y = 0; reader != NULL && y < JPEG_HEIGHT; y++) {
        float row[3 * JPEG_WIDTH];
        CHECK_OK(unet_image_read_row(reader, row, &error), error);
        for (int i = 0; i < 3 * JPEG_WIDTH; i++) {
            sum = (sum ^ (uint64_t)lrintf(row[i % 3 * JPEG_WIDTH + i / 3] * 255)) * UINT64_C(0x100000001b3);
        }
    }
    CHECK(sum == jpeg_checksum, "other numbers than Pillow's: %llx", (unsigned long long)sum);
    unet_image_close(reader);
}

static UnetStatus read_all(UnetError *error) {
    UnetImageReader *reader;
    UnetStatus status = unet_image_open_in(memory, &reader, path, 3, error);
    float row[3 * JPEG_WIDTH];
    for (int y = 0; status == UNET_OK && y < JPEG_HEIGHT; y++) {
        status = unet_image_read_row(reader, row, error);
    }
    unet_image_close(reader);
    return status;
}

/* A file without tables of its own is damaged, whatever was read before it with the same memory. */
static void test_bare_jpeg(void) {
    enum { START_OF_SCAN = 0xda, QUANTIZATION = 0xdb, HUFFMAN = 0xc4 };
    uint8_t bytes[sizeof small_jpeg];
    float row[3 * JPEG_WIDTH];
    size_t count = 2, at = 2, scan = 0;
    UnetImageReader *reader;
    UnetError error;
    memcpy(bytes, small_jpeg, 2);
    while (scan == 0 && at + 4 < sizeof small_jpeg) {
        const uint8_t kind = small_jpeg[at + 1];
        const size_t length = 2 + ((size_t)small_jpeg[at + 2] << 8) + small_jpeg[at + 3];
        if (kind != QUANTIZATION && kind != HUFFMAN) {
            memcpy(bytes + count, small_jpeg + at, length);
            count += length;
        }
        scan = kind == START_OF_SCAN ? at + length : 0;
        at += length;
    }
    memcpy(bytes + count, small_jpeg + scan, sizeof small_jpeg - scan);
    count += sizeof small_jpeg - scan;
    CHECK(scan > 0 && count < sizeof small_jpeg, "the tables were not found");
    for (int bare = 0; bare < 2; bare++) {
        write_bytes(path, bare ? bytes : small_jpeg, bare ? count : sizeof small_jpeg);
        CHECK_OK(unet_image_open_in(memory, &reader, path, 3, &error), error);
        const UnetStatus status = unet_image_read_row(reader, row, &error);
        /* libjpeg-turbo has tables of Huffman for such files, as films have them, but none of quantization
         */
        CHECK(bare ? status == UNET_IO : status == UNET_OK, "bare %d: status %d", bare, (int)status);
        unet_image_close(reader);
    }
}

/* Cut anywhere before its last points: refused, by the probe as well, never filled up with grey. */
static void test_cut_jpeg(void) {
    UnetImageInfo info;
    UnetError error;
    for (size_t cut = 8; cut < sizeof small_jpeg - 2; cut++) {
        write_bytes(path, small_jpeg, cut);
        CHECK(unet_image_probe(path, &info, &error) == UNET_IO && strstr(error.text, "cut short") != NULL,
              "%zu bytes, probed: %s", cut, error.text);
        CHECK(read_all(&error) == UNET_IO || cut > sizeof small_jpeg - 8, "%zu bytes are read", cut);
        CHECK(strstr(error.text, path) != NULL, "%zu bytes: %s", cut, error.text);
    }
}
#endif

/* ---- GIF -------------------------------------------------------------------------------------- */

#ifdef UNET_HAS_GIF

/* Reads all of it as CHANNELS and compares with the indices (UNET_IMAGE_CLASSES) or their colours. */
static void check_gif(const GifKind *kind, int32_t channels) {
    UnetImageReader *reader;
    UnetError error;
    make_gif(path, kind);
    CHECK_OK(unet_image_open_in(memory, &reader, path, channels, &error), error);
    for (uint32_t y = 0; reader != NULL && y < kind->height; y++) {
        float row[3 * 300];
        CHECK_OK(unet_image_read_row(reader, row, &error), error);
        for (uint32_t i = 0; i < kind->width * (channels == 3 ? 3 : 1); i++) {
            const uint8_t index = kind->index(i % kind->width, y, kind->root);
            const float expected =
                channels == UNET_IMAGE_CLASSES ? index : gif_colour(kind, index, i / kind->width) / 255.0f;
            if (row[i] != expected) {
                CHECK(false, "%u x %u, %d bits: %g, should be %g at row %u, %u", kind->height, kind->width,
                      kind->root, (double)row[i], (double)expected, y, i);
                unet_image_close(reader);
                return;
            }
        }
    }
    unet_image_close(reader);
}

static void test_gif(void) {
    UnetImageReader *reader;
    UnetImageInfo info;
    UnetError error;
    write_bytes(path, small_gif, sizeof small_gif);
    CHECK_OK(unet_image_probe(path, &info, &error), error);
    CHECK(info.width == 10 && info.height == 10 && info.channels == 3 && info.palette, "the header");
    CHECK_OK(unet_image_open_in(memory, &reader, path, UNET_IMAGE_CLASSES, &error), error);
    for (int y = 0; y < 10; y++) {
        float row[10];
        CHECK_OK(unet_image_read_row(reader, row, &error), error);
        for (int x = 0; x < 10; x++) {
            CHECK((int)row[x] == small_gif_rows[y][x] - '0', "point (%d, %d) is %g", y, x, (double)row[x]);
        }
    }
    unet_image_close(reader);
    CHECK_FAILS(unet_image_open_in(memory, &reader, path, 1, &error), error, "is in colour");
    for (int root = 1; root <= 8; root++) {
        for (int flags = 0; flags < 8; flags++) {
            const GifKind kind = {.width = (flags & 4) != 0 ? 211 : 41,
                                  .height = 37,
                                  .root = root,
                                  .interlaced = (flags & 1) != 0,
                                  .coloured = (flags & 2) != 0,
                                  .index = (flags & 4) != 0 ? gif_noise : gif_disc};
            check_gif(&kind, UNET_IMAGE_CLASSES);
            check_gif(&kind, 3);
            if (!kind.coloured) {
                check_gif(&kind, 1);
            }
        }
    }
}

/* Cut anywhere: refused, by the probe as well. */
static void test_cut_gif(void) {
    UnetImageInfo info;
    UnetError error;
    for (size_t cut = 8; cut < sizeof small_gif - 1; cut++) {
        write_bytes(path, small_gif, cut);
        CHECK(unet_image_probe(path, &info, &error) == UNET_IO && strstr(error.text, "cut short") != NULL,
              "%zu bytes, probed: %s", cut, error.text);
        UnetImageReader *reader;
        UnetStatus status = unet_image_open_in(memory, &reader, path, 3, &error);
        for (int y = 0; status == UNET_OK && y < 10; y++) {
            float row[30];
            status = unet_image_read_row(reader, row, &error);
        }
        CHECK(status == UNET_IO || cut > sizeof small_gif - 5, "%zu bytes are read", cut);
        unet_image_close(reader);
    }
}

#endif

int main(void) {
    make_folder(folder);
    memory = unet_image_memory_create();
    CHECK(memory != NULL, "memory of images");
    snprintf(path, sizeof path, "%s/image.png", folder);
#ifdef UNET_HAS_JPEG
    test_jpeg();
    test_bare_jpeg();
    test_turned();
    test_cut_jpeg();
#endif
#ifdef UNET_HAS_GIF
    test_gif();
    test_cut_gif();
#endif
    test_kinds();
    static const char *const suffixes[] = {
#ifdef UNET_HAS_TIFF
        "tif",
#endif
        "png"};
    for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++) {
        snprintf(path, sizeof path, "%s/image.%s", folder, suffixes[i]);
        for (int32_t bits = 8; bits <= 16; bits += 8) {
            test_writing(1, bits);
            test_writing(3, bits);
        }
        test_classes();
        test_grey_classes(8);
        test_grey_classes(16);
    }
    test_writing_floats();
#ifdef UNET_HAS_JPEG
    test_writing_jpeg(1);
    test_writing_jpeg(3);
#endif
    test_names();
    snprintf(path, sizeof path, "%s/image.png", folder);
    test_write_failures();
    test_cut(false);
    test_cut(true);
    test_failing_disk("png");
#ifdef UNET_HAS_JPEG
    test_failing_disk("jpg");
#endif
    snprintf(path, sizeof path, "%s/image.png", folder);
    test_not_png();
    test_appended();
    unet_image_memory_destroy(memory);
    remove_folder(folder);
    return check_result();
}
