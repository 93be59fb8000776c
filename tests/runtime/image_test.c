/* image_test.c - PNG files of every kind read back number by number; images written and read again; files
 * cut at every length; what is no PNG, or no PNG of the kind that is asked for. */
#include "check.h"
#include "make_png.h"
#include "unet/image.h"

#include <math.h>
#include <unistd.h>
#include <zlib.h>

static char folder[64];
static char path[100];

/* What the reader should give for channel C of a point. */
static float expected_number(const PngKind *kind, uint32_t x, uint32_t y, uint32_t c) {
    bool grey = kind->colour == PNG_COLOR_TYPE_GRAY || kind->colour == PNG_COLOR_TYPE_GRAY_ALPHA;
    uint32_t number = png_number(kind, x, y, grey || kind->colour == PNG_COLOR_TYPE_PALETTE ? 0 : c);
    if (kind->colour == PNG_COLOR_TYPE_PALETTE) {
        return (float)png_palette_colour(number, c) / 255.0f;
    }
    return (float)number / (float)((1u << kind->bits) - 1);
}

static void check_image(const PngKind *kind, int32_t channels, const char *what) {
    UnetImageReader *reader;
    UnetError error;
    CHECK_OK(unet_image_open(&reader, path, channels, &error), error);
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
            UnetImageInfo info;
            UnetError error;
            CHECK_OK(unet_image_probe(path, &info, &error), error);
            CHECK(info.channels == ((kind.colour & PNG_COLOR_MASK_COLOR) != 0 ? 3 : 1), "%s: channels",
                  what);
            UnetImageReader *reader;
            if (info.channels == 3) {
                CHECK_FAILS(unet_image_open(&reader, path, 1, &error), error, "in colour");
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
    CHECK_OK(unet_image_open(&reader, path, 0, &error), error);
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

static void test_write_failures(void) {
    UnetImageInfo info = {.width = 4, .height = 1, .channels = 1, .bits = 8};
    UnetImageWriter *writer;
    UnetError error;
    CHECK_FAILS(unet_image_create(&writer, "/nowhere/x.png", &info, &error), error,
                "/nowhere/x.png: cannot write");
    info.channels = 2;
    CHECK(unet_image_create(&writer, path, &info, &error) == UNET_BUG, "two channels");
    if (access("/dev/full", W_OK) == 0) {
        char link_path[120];
        snprintf(link_path, sizeof link_path, "%s/full.png.part", folder);
        info = (UnetImageInfo){.width = 100, .height = 1, .channels = 1, .bits = 8};
        float row[100] = {0};
        if (symlink("/dev/full", link_path) == 0) {
            link_path[strlen(link_path) - 5] = '\0';
            UnetStatus status = unet_image_create(&writer, link_path, &info, &error);
            if (status == UNET_OK) {
                status = unet_image_write_row(writer, row, &error);
                status = status == UNET_OK ? unet_image_finish(writer, &error)
                                           : (unet_image_discard(writer), status);
            }
            CHECK(status == UNET_IO && strstr(error.text, "No space left") != NULL, "a full disk: %s",
                  error.text);
            CHECK(access(link_path, F_OK) != 0, "a file on a full disk");
        }
    }
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
        if (unet_image_open(&reader, path, 0, &error) != UNET_OK) {
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

static void test_not_png(void) {
    UnetImageReader *reader;
    UnetImageInfo info;
    UnetError error;
    CHECK_FAILS(unet_image_probe("/nowhere/a.png", &info, &error), error,
                "/nowhere/a.png: cannot read: No such file");
    CHECK_FAILS(unet_image_probe(folder, &info, &error), error, "Is a directory");
    write_bytes(path, "", 0);
    CHECK_FAILS(unet_image_probe(path, &info, &error), error, "too short");
    write_bytes(path, "\xff\xd8\xff\xe0 JFIF, a photograph", 22);
    CHECK_FAILS(unet_image_open(&reader, path, 0, &error), error, "not a PNG file");

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

int main(void) {
    make_folder(folder);
    snprintf(path, sizeof path, "%s/image.png", folder);
    test_kinds();
    for (int32_t bits = 8; bits <= 16; bits += 8) {
        test_writing(1, bits);
        test_writing(3, bits);
    }
    test_write_failures();
    test_cut(false);
    test_cut(true);
    test_not_png();
    test_appended();
    remove_folder(folder);
    return check_result();
}
