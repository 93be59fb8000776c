/* tiff_test.c - TIFF files of every kind that is read, number by number: in strips, tiles and planes, of
 * either order of bytes; files of other kinds, cut files, and headers that promise too much are refused
 * with the reason. */
#include "check.h"
#include "unet/image.h"

#ifdef UNET_HAS_TIFF
#include "make_tiff.h"

#include <math.h>

static char folder[64];
static char path[100];

/* The number that the reader should give for channel C of a point. */
static float expected(const TiffKind *kind, int32_t channels, uint32_t x, uint32_t y, uint32_t c) {
    const bool palette = kind->photometric == PHOTOMETRIC_PALETTE,
               rgb = kind->photometric == PHOTOMETRIC_RGB;
    const uint32_t most = kind->bits > 16 ? 0 : (1u << kind->bits) - 1;
    uint32_t number = tiff_number(kind, x, y, rgb ? c : 0);
    if (kind->floats) {
        return tiff_float(kind, x, y, rgb ? c : 0);
    }
    if (palette && channels != UNET_IMAGE_CLASSES) {
        return (float)(tiff_colour(number, (int)c) >> 8) / 255.0f;
    }
    number = kind->photometric == PHOTOMETRIC_MINISWHITE ? most - number : number;
    return channels == UNET_IMAGE_CLASSES ? (float)number : (float)number / (float)most;
}

static void check_read(const TiffKind *kind, int32_t channels, const char *what) {
    UnetImageReader *reader;
    UnetError error;
    CHECK_OK(unet_image_open(&reader, path, channels, &error), error);
    if (reader == NULL) {
        (void)fprintf(stderr, "%s\n", what);
        return;
    }
    const UnetImageInfo info = unet_image_info(reader);
    const size_t numbers = (size_t)info.channels * kind->width;
    float *row = calloc(numbers, sizeof *row);
    for (uint32_t y = 0; y < kind->height; y++) {
        CHECK_OK(unet_image_read_row(reader, row, &error), error);
        for (uint32_t i = 0; i < numbers; i++) {
            const float right = expected(kind, channels, i % kind->width, y, i / kind->width);
            if (fabsf(row[i] - right) > 1e-7f * (1 + fabsf(right))) {
                CHECK(false, "%s: row %u, number %u is %g, should be %g", what, y, i, (double)row[i],
                      (double)right);
                y = kind->height;
                break;
            }
        }
    }
    free(row);
    unet_image_close(reader);
}

/* Everything that a kind of numbers can be stored in. */
static void check_layouts(TiffKind kind) {
    static const uint16_t compressions[] = {0, COMPRESSION_LZW, COMPRESSION_ADOBE_DEFLATE,
                                            COMPRESSION_PACKBITS};
    for (int layout = 0; layout < 32; layout++) {
        kind.compression = compressions[layout & 3];
        kind.strip = (layout & 4) != 0 ? 3 : 0;
        kind.tile = (layout & 8) != 0 ? 16 : 0;
        kind.planes = (layout & 16) != 0;
        kind.big_endian = (layout & 4) != 0;
        kind.big = layout % 3 == 0;
        if ((kind.planes && kind.samples == 1) || (kind.tile > 0 && (kind.strip > 0 || kind.bits < 8))) {
            continue;
        }
        char what[120];
        (void)snprintf(what, sizeof what, "%d bits, %d samples, photometric %d, layout %d", kind.bits,
                       kind.samples, kind.photometric, layout);
        const bool colour = kind.photometric == PHOTOMETRIC_RGB,
                   palette = kind.photometric == PHOTOMETRIC_PALETTE;
        make_tiff(path, &kind);
        check_read(&kind, 3, what);
        check_read(&kind, 0, what);
        if (!colour && !palette) {
            check_read(&kind, 1, what);
        }
        if (!colour && !kind.floats) {
            check_read(&kind, UNET_IMAGE_CLASSES, what);
        }
    }
}

static void test_kinds(void) {
    static const uint16_t kinds[][3] = {
        {PHOTOMETRIC_MINISBLACK, 1, 1},  {PHOTOMETRIC_MINISBLACK, 2, 1},  {PHOTOMETRIC_MINISBLACK, 4, 1},
        {PHOTOMETRIC_MINISBLACK, 8, 1},  {PHOTOMETRIC_MINISBLACK, 16, 1}, {PHOTOMETRIC_MINISWHITE, 1, 1},
        {PHOTOMETRIC_MINISWHITE, 8, 1},  {PHOTOMETRIC_MINISBLACK, 8, 2},  {PHOTOMETRIC_RGB, 8, 3},
        {PHOTOMETRIC_RGB, 8, 4},         {PHOTOMETRIC_RGB, 16, 3},        {PHOTOMETRIC_RGB, 16, 4},
        {PHOTOMETRIC_PALETTE, 8, 1},     {PHOTOMETRIC_PALETTE, 4, 1},     {PHOTOMETRIC_MINISBLACK, 32, 1},
        {PHOTOMETRIC_MINISBLACK, 64, 1}, {PHOTOMETRIC_RGB, 32, 3}};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        check_layouts((TiffKind){.width = 37,
                                 .height = 41,
                                 .photometric = kinds[i][0],
                                 .bits = kinds[i][1],
                                 .samples = kinds[i][2],
                                 .floats = kinds[i][1] > 16});
    }
}

static UnetImageInfo probe(const TiffKind *kind) {
    UnetImageInfo info = {0};
    UnetError error;
    make_tiff(path, kind);
    CHECK_OK(unet_image_probe(path, &info, &error), error);
    return info;
}

/* Traits that a user should hear of. */
static void test_traits(void) {
    const TiffKind plain = {
        .width = 8, .height = 8, .photometric = PHOTOMETRIC_RGB, .bits = 8, .samples = 3};
    TiffKind kind = plain;
    CHECK(probe(&kind).traits == 0, "a plain file has traits");
    kind.samples = 4;
    CHECK(probe(&kind).traits == UNET_IMAGE_ALPHA, "alpha");
    kind = plain;
    kind.orientation = ORIENTATION_RIGHTTOP;
    CHECK(probe(&kind).traits == UNET_IMAGE_TURNED, "turned");
    kind = plain;
    kind.pages = 2;
    CHECK(probe(&kind).traits == UNET_IMAGE_PAGES, "pages");
    kind = (TiffKind){.width = 8,
                      .height = 8,
                      .photometric = PHOTOMETRIC_MINISBLACK,
                      .bits = 32,
                      .samples = 1,
                      .floats = true};
    CHECK(probe(&kind).bits == 32, "floats");
}

/* The rows that count as memory of the decoder. */
static void test_held_rows(void) {
    TiffKind kind = {.width = 50,
                     .height = 40,
                     .photometric = PHOTOMETRIC_RGB,
                     .bits = 8,
                     .samples = 3,
                     .compression = COMPRESSION_LZW};
    CHECK(probe(&kind).held_rows == 40, "one strip");
    kind.strip = 7;
    CHECK(probe(&kind).held_rows == 7, "strips");
    kind.tile = 16;
    CHECK(probe(&kind).held_rows == 3 * 16, "tiles");
}

static void check_refused(const TiffKind *kind, const char *why) {
    UnetImageReader *reader;
    UnetError error;
    make_tiff(path, kind);
    CHECK_FAILS(unet_image_open(&reader, path, 0, &error), error, why);
    CHECK(strstr(error.text, path) != NULL, "no file is named: %s", error.text);
    unet_image_close(reader);
}

static void test_odd_kinds(void) {
    const TiffKind grey = {
        .width = 20, .height = 20, .photometric = PHOTOMETRIC_MINISBLACK, .bits = 8, .samples = 1};
    TiffKind kind = grey;
    kind.bits = 24;
    check_refused(&kind, "neither whole, of 1, 2, 4, 8, 16, 32 or 64 bits");
    kind = grey;
    kind.photometric = PHOTOMETRIC_CIELAB;
    kind.samples = 3;
    check_refused(&kind, "neither grey, in RGB, in CMYK nor of a palette");
    kind = grey;
    if (TIFFIsCODECConfigured(COMPRESSION_LERC)) {
        kind.compression = COMPRESSION_LERC;
        check_refused(&kind, ".tif: a TIFF file compressed by a method other than");
    }
}

/* Numbers with a sign, long ones, short floats and many channels come as they are. */
static void test_kept_numbers(void) {
    static const struct {
        uint16_t bits, samples;
        bool floats, is_signed, planes;
        uint32_t tile;
    } kinds[] = {{8, 1, false, true, false, 0},   {16, 1, false, true, false, 0},
                 {32, 1, false, false, false, 0}, {64, 1, false, false, false, 0},
                 {16, 1, true, false, false, 0},  {16, 2, false, true, true, 0},
                 {32, 8, true, false, false, 16}, {16, 5, true, false, true, 16}};
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        const TiffKind kind = {.width = 21,
                               .height = 9,
                               .photometric = PHOTOMETRIC_MINISBLACK,
                               .bits = kinds[k].bits,
                               .samples = kinds[k].samples,
                               .floats = kinds[k].floats,
                               .is_signed = kinds[k].is_signed,
                               .planes = kinds[k].planes,
                               .tile = kinds[k].tile,
                               .extra = true,
                               .big_endian = k % 2 != 0};
        UnetImageReader *reader;
        UnetError error;
        float row[8 * 21];
        make_tiff(path, &kind);
        CHECK_OK(unet_image_open(&reader, path, kinds[k].samples, &error), error);
        CHECK((unet_image_info(reader).traits & UNET_IMAGE_FLOATS) != 0, "kind %zu is told", k);
        for (uint32_t y = 0; y < 9; y++) {
            CHECK_OK(unet_image_read_row(reader, row, &error), error);
            for (uint32_t x = 0; x < 21 * kinds[k].samples; x++) {
                const float kept = tiff_kept(&kind, x % 21, y, x / 21);
                CHECK(row[x] == kept, "kind %zu, row %u, number %u is %g, not %g", k, y, x, (double)row[x],
                      (double)kept);
            }
        }
        unet_image_close(reader);
    }
}

/* Channels of whole numbers, pages by their number, nodata, and what does not fit. */
static void test_ways(void) {
    TiffKind kind = {.width = 12,
                     .height = 5,
                     .photometric = PHOTOMETRIC_MINISBLACK,
                     .bits = 16,
                     .samples = 4,
                     .extra = true,
                     .pages = 2};
    UnetImageWay way = {.names_page = true, .page = 2};
    UnetImageReader *reader;
    UnetError error;
    float row[4 * 12];
    make_tiff(path, &kind);
    CHECK_OK(unet_image_open_as(NULL, &way, &reader, path, 4, &error), error);
    CHECK((unet_image_info(reader).traits & UNET_IMAGE_PAGES) == 0, "a page that is named is told");
    CHECK_OK(unet_image_read_row(reader, row, &error), error);
    CHECK(row[3 * 12 + 7] == (float)tiff_number(&kind, 7, 0, 3) / 65535.0f, "channel 3 is %g",
          (double)row[3 * 12 + 7]);
    unet_image_close(reader);
    way.page = 3;
    CHECK_FAILS(unet_image_open_as(NULL, &way, &reader, path, 4, &error), error,
                "a TIFF file of 3 pages has no page 3");
    CHECK_FAILS(unet_image_open(&reader, path, 3, &error), error, "has 4 channels, and the model reads 3");
    kind = (TiffKind){.width = 12,
                      .height = 5,
                      .photometric = PHOTOMETRIC_MINISBLACK,
                      .bits = 16,
                      .samples = 1,
                      .is_signed = true};
    char nodata[16];
    snprintf(nodata, sizeof nodata, "%d", (int)(int16_t)tiff_number(&kind, 3, 0, 0));
    kind.nodata = nodata;
    make_tiff(path, &kind);
    CHECK_OK(unet_image_open(&reader, path, 1, &error), error);
    CHECK_OK(unet_image_read_row(reader, row, &error), error);
    CHECK(isnan(row[3]) && row[4] == tiff_kept(&kind, 4, 0, 0), "nodata is %g, what follows %g",
          (double)row[3], (double)row[4]);
    unet_image_close(reader);
}

/* Nodata among whole numbers counts where somebody says what it becomes. */
static void test_whole_nodata(void) {
    const UnetImageWay way = {.missing = UNET_MISSING_IGNORED};
    TiffKind kind = {
        .width = 12, .height = 5, .photometric = PHOTOMETRIC_MINISBLACK, .bits = 16, .samples = 1};
    char nodata[16];
    snprintf(nodata, sizeof nodata, "%u", tiff_number(&kind, 3, 0, 0));
    kind.nodata = nodata;
    for (int asked = 0; asked < 2; asked++) {
        UnetImageReader *reader;
        UnetError error;
        float row[12];
        make_tiff(path, &kind);
        CHECK_OK(unet_image_open_as(NULL, asked == 0 ? NULL : &way, &reader, path, 1, &error), error);
        CHECK_OK(unet_image_read_row(reader, row, &error), error);
        CHECK(isnan(row[3]) == (asked == 1) && row[4] == (float)tiff_number(&kind, 4, 0, 0) / 65535.0f,
              "nodata is %g, what follows %g", (double)row[3], (double)row[4]);
        CHECK((unet_image_info(reader).traits & UNET_IMAGE_FLOATS) == 0, "scaled numbers are told");
        unet_image_close(reader);
    }
}

/* The places of the first row and the first column of the file in the picture that is meant. */
static void test_turned(void) {
    static const char row_side[] = "ttbblrrl", column_side[] = "lrrlttbb";
    const UnetImageWay upright = {.upright = true};
    for (int k = 0; k < 8; k++) {
        const TiffKind kind = {.width = 9,
                               .height = 4,
                               .photometric = PHOTOMETRIC_MINISBLACK,
                               .bits = 8,
                               .samples = 1,
                               .orientation = (uint16_t)(k + 1)};
        UnetImageReader *reader;
        UnetError error;
        float shown[9 * 9];
        make_tiff(path, &kind);
        CHECK_OK(unet_image_open_as(NULL, &upright, &reader, path, 1, &error), error);
        const UnetImageInfo info = unet_image_info(reader);
        CHECK(info.width == (k < 4 ? 9 : 4) && info.height == (k < 4 ? 4 : 9), "%d x %d", info.height,
              info.width);
        for (int y = 0; y < info.height; y++) {
            CHECK_OK(unet_image_read_row(reader, shown + y * info.width, &error), error);
        }
        unet_image_close(reader);
        for (int i = 0; i < 9 * 4; i++) {
            const int along[2] = {i / 9, i % 9};
            const char side[2] = {row_side[k], column_side[k]};
            int y = 0, x = 0;
            for (int axis = 0; axis < 2; axis++) {
                y = side[axis] == 't' ? along[axis] : side[axis] == 'b' ? info.height - 1 - along[axis] : y;
                x = side[axis] == 'l' ? along[axis] : side[axis] == 'r' ? info.width - 1 - along[axis] : x;
            }
            const uint32_t wanted = tiff_number(&kind, (uint32_t)along[1], (uint32_t)along[0], 0);
            CHECK(lround(255 * (double)shown[y * info.width + x]) == wanted, "orientation %d, (%d, %d)",
                  k + 1, y, x);
        }
    }
}

/* (1 - C) (1 - K), and so on. */
static void test_cmyk(void) {
    const TiffKind kind = {
        .width = 12, .height = 5, .photometric = PHOTOMETRIC_SEPARATED, .bits = 8, .samples = 4};
    UnetImageReader *reader;
    UnetError error;
    float row[3 * 12];
    make_tiff(path, &kind);
    CHECK_OK(unet_image_open(&reader, path, 3, &error), error);
    CHECK((unet_image_info(reader).traits & UNET_IMAGE_CMYK) != 0, "CMYK is told");
    CHECK_OK(unet_image_read_row(reader, row, &error), error);
    for (uint32_t x = 0; x < 3 * 12; x++) {
        const double ink = tiff_number(&kind, x % 12, 0, x / 12), black = tiff_number(&kind, x % 12, 0, 3);
        const double wanted = (255 - ink) * (255 - black) / 255;
        CHECK(fabs(255 * (double)row[x] - wanted) < 0.51, "number %u is %g, not %g", x,
              255 * (double)row[x], wanted);
    }
    unet_image_close(reader);
}

/* Methods that the build has. */
static void test_compressions(void) {
    static const uint16_t methods[] = {COMPRESSION_ZSTD, COMPRESSION_LZMA, COMPRESSION_WEBP};
    static const bool built[] = {
#ifdef UNET_HAS_ZSTD
        true,
#else
        false,
#endif
#ifdef UNET_HAS_LZMA
        true,
#else
        false,
#endif
#ifdef UNET_HAS_WEBP
        true
#else
        false
#endif
    };
    for (size_t i = 0; i < 3; i++) {
        const TiffKind kind = {.width = 33,
                               .height = 20,
                               .photometric = PHOTOMETRIC_RGB,
                               .bits = 8,
                               .samples = 3,
                               .compression = methods[i]};
        UnetImageReader *reader;
        UnetError error;
        float row[3 * 33];
        if (!TIFFIsCODECConfigured(methods[i])) {
            continue;
        }
        make_tiff(path, &kind);
        if (!built[i]) {
            check_refused(&kind, ".tif: a TIFF file compressed by a method other than");
            continue;
        }
        CHECK_OK(unet_image_open(&reader, path, 3, &error), error);
        CHECK_OK(unet_image_read_row(reader, row, &error), error);
        const float wanted = (float)tiff_number(&kind, 5, 0, 1) / 255.0f;
        CHECK(methods[i] == COMPRESSION_WEBP || row[33 + 5] == wanted, "method %d: %g, not %g", methods[i],
              (double)row[33 + 5], (double)wanted);
        unet_image_close(reader);
    }
}

/* JPEG inside comes back as RGB, near what was written. */
static void test_jpeg_inside(void) {
    if (!TIFFIsCODECConfigured(COMPRESSION_JPEG)) {
        return;
    }
    const TiffKind kind = {.width = 32,
                           .height = 32,
                           .photometric = PHOTOMETRIC_YCBCR,
                           .bits = 8,
                           .samples = 3,
                           .compression = COMPRESSION_JPEG,
                           .tile = 16};
    UnetImageReader *reader;
    UnetError error;
    float row[3 * 32];
    make_tiff(path, &kind);
    CHECK_OK(unet_image_open(&reader, path, 3, &error), error);
    for (int y = 0; y < 32; y++) {
        CHECK_OK(unet_image_read_row(reader, row, &error), error);
    }
    unet_image_close(reader);
}

static UnetStatus read_all(UnetError *error) {
    UnetImageReader *reader;
    UnetStatus status = unet_image_open(&reader, path, 3, error);
    const int32_t height = status == UNET_OK ? unet_image_info(reader).height : 0;
    float *row = status == UNET_OK ? calloc(3 * (size_t)unet_image_info(reader).width, sizeof *row) : NULL;
    for (int32_t y = 0; status == UNET_OK && y < height; y++) {
        status = unet_image_read_row(reader, row, error);
    }
    free(row);
    unet_image_close(reader);
    return status;
}

/* libtiff writes the list of tags last: no prefix is a file. */
static void test_cut(void) {
    const TiffKind kind = {.width = 30,
                           .height = 20,
                           .photometric = PHOTOMETRIC_RGB,
                           .bits = 8,
                           .samples = 3,
                           .strip = 4,
                           .compression = COMPRESSION_LZW};
    size_t length;
    UnetError error;
    make_tiff(path, &kind);
    unsigned char *bytes = read_bytes(path, &length);
    for (size_t cut = 8; cut < length; cut += 5) {
        write_bytes(path, bytes, cut);
        CHECK(read_all(&error) == UNET_IO, "%zu of %zu bytes are read as whole", cut, length);
        CHECK(strstr(error.text, path) != NULL, "no file is named: %s", error.text);
    }
    free(bytes);
}

/* The value of a tag that is a long of its own, in a file of this machine's order of bytes. */
static void set_tag(unsigned char *bytes, size_t length, uint16_t tag, uint32_t value) {
    uint32_t list;
    uint16_t entries;
    memcpy(&list, bytes + 4, sizeof list);
    memcpy(&entries, bytes + list, sizeof entries);
    for (uint16_t i = 0; i < entries && list + 14 + 12u * i <= length; i++) {
        unsigned char *entry = bytes + list + 2 + 12u * i;
        const uint16_t type = TIFF_LONG;
        if (memcmp(entry, &tag, sizeof tag) == 0) {
            memcpy(entry + 2, &type, sizeof type);
            memcpy(entry + 8, &value, sizeof value);
        }
    }
}

/* Sizes that the file cannot hold are refused before memory is taken. */
static void test_promises(void) {
    static const struct {
        uint16_t tag[2];
        uint32_t value[2];
        const char *says;
    } promise[] = {
        {{TIFFTAG_IMAGEWIDTH, TIFFTAG_IMAGELENGTH}, {900000, 900000}, ""},
        {{TIFFTAG_IMAGEWIDTH, TIFFTAG_IMAGELENGTH}, {16000, 16000}, "cut short"},
        {{TIFFTAG_TILEWIDTH, TIFFTAG_TILELENGTH}, {1 << 20, 1 << 10}, ""},
        {{TIFFTAG_TILEWIDTH, TIFFTAG_TILELENGTH}, {1 << 30, 1 << 30}, ""},
        {{TIFFTAG_IMAGEWIDTH, TIFFTAG_IMAGELENGTH}, {0, 20}, ""},
    };
    const TiffKind kind = {.width = 16,
                           .height = 16,
                           .photometric = PHOTOMETRIC_MINISBLACK,
                           .bits = 8,
                           .samples = 1,
                           .tile = 16};
    for (size_t i = 0; i < sizeof promise / sizeof *promise; i++) {
        size_t length;
        UnetError error;
        make_tiff(path, &kind);
        unsigned char *bytes = read_bytes(path, &length);
        for (int t = 0; t < 2; t++) {
            set_tag(bytes, length, promise[i].tag[t], promise[i].value[t]);
        }
        write_bytes(path, bytes, length);
        CHECK_FAILS(read_all(&error), error, promise[i].says);
        free(bytes);
    }
}

/* A number that is none is refused with its row. */
static void test_not_finite(void) {
    const TiffKind kind = {.width = 4,
                           .height = 4,
                           .photometric = PHOTOMETRIC_MINISBLACK,
                           .bits = 32,
                           .samples = 1,
                           .floats = true};
    const float bad = NAN;
    size_t length;
    UnetError error;
    make_tiff(path, &kind);
    unsigned char *bytes = read_bytes(path, &length);
    memcpy(bytes + 8 + 2 * 16, &bad, sizeof bad);
    write_bytes(path, bytes, length);
    CHECK(read_all(&error) == UNET_OK, "what is missing ends reading: %s",
          error.text); /* who reads decides */
    free(bytes);
}

int main(void) {
    make_folder(folder);
    snprintf(path, sizeof path, "%s/image.tif", folder);
    test_kinds();
    test_traits();
    test_held_rows();
    test_odd_kinds();
    test_kept_numbers();
    test_ways();
    test_whole_nodata();
    test_turned();
    test_cmyk();
    test_compressions();
    test_jpeg_inside();
    test_cut();
    test_promises();
    test_not_finite();
    remove_folder(folder);
    return check_result();
}

#else

int main(void) {
    static const char tiff[16] = "II*";
    char folder[64], path[100];
    UnetImageReader *reader;
    UnetError error;
    make_folder(folder);
    snprintf(path, sizeof path, "%s/image.tif", folder);
    write_bytes(path, tiff, sizeof tiff);
    CHECK_FAILS(unet_image_open(&reader, path, 0, &error), error, "install libtiff-dev");
    remove_folder(folder);
    return check_result();
}

#endif
