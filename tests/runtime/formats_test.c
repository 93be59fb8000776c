/* formats_test.c CORPUS - reads what NumPy and Pillow wrote (tests/fuzz/corpus_images.py): arrays,
 * archives, BMP, Netpbm, WebP, and pictures that are converted, turned or have alpha.  CORPUS:
 * tests/fuzz/corpus/image. */
#include "check.h"
#include "unet/image.h"
#include "unet/volume.h"

#include <math.h>
#include <string.h>
#include <unistd.h>

enum { HEIGHT = 5, WIDTH = 7, MOST = 16 * 24 * 8 };

static char folder[64], path[200];
static const char *corpus;

/* The rule of corpus_images.py. */
static double number(int y, int x, int c) {
    return (37 * y + 11 * x + 59 * c) % 256;
}

/* File NAME of the corpus without its first byte, as PATH; CUT: so many bytes are left out at its end. */
static void take(const char *name, size_t cut) {
    char from[400];
    static unsigned char bytes[1 << 16];
    snprintf(from, sizeof from, "%s/%s", corpus, name);
    FILE *file = fopen(from, "rb");
    const size_t count = file != NULL ? fread(bytes, 1, sizeof bytes, file) : 0;
    CHECK(count > 1 && fclose(file) == 0, "%s is not there", from);
    file = fopen(path, "wb");
    CHECK(file != NULL && fwrite(bytes + 1, 1, count - 1 - cut, file) == count - 1 - cut &&
              fclose(file) == 0,
          "%s cannot be written", path);
}

/* All numbers of the file that was taken, channel after channel of each row. */
static UnetStatus read_all(const UnetImageWay *way, int32_t channels, float all[MOST], UnetImageInfo *info,
                           UnetError *error) {
    UnetImageReader *reader;
    UnetStatus status = unet_image_open_as(NULL, way, &reader, path, channels, error);
    if (status != UNET_OK) {
        return status;
    }
    *info = unet_image_info(reader);
    for (int32_t y = 0; y < info->height && status == UNET_OK; y++) {
        status = unet_image_read_row(reader, all + (ptrdiff_t)y * info->width * info->channels, error);
    }
    if (status == UNET_OK) {
        status = unet_image_check_end(reader, error);
    }
    unet_image_close(reader);
    return status;
}

typedef double Rule(int y, int x, int c);

static double plain(int y, int x, int c) {
    return number(y, x, c) / 255;
}

static double kept(int y, int x, int c) {
    return number(y, x, c);
}

static double less_128(int y, int x, int c) {
    return number(y, x, c) - 128;
}

/* Grey in three channels. */
static double spread(int y, int x, int c) {
    return less_128(y, x, 0 * c);
}

static double spread_plain(int y, int x, int c) {
    return plain(y, x, 0 * c);
}

static double above_100(int y, int x, int c) {
    return number(y, x, c) > 100;
}

static double below_100(int y, int x, int c) {
    return number(y, x, c) <= 100;
}

static double third(int y, int x, int c) {
    return fmod(number(y, x, c), 3);
}

static double luma(int y, int x, int c) {
    (void)c;
    return floor((number(y, x, 0) * 19595 + number(y, x, 1) * 38470 + number(y, x, 2) * 7471 + 32768) /
                 65536) /
           255;
}

/* 5, 6 and 5 bits. */
static double few_bits(int y, int x, int c) {
    const double most = c == 1 ? 63 : 31;
    return round(floor(number(y, x, c) / (c == 1 ? 4 : 8)) * 255 / most) / 255;
}

static double odd_plain(int y, int x, int c) {
    return ((int)number(y, x, c) | 1) / 255.0;
}

static double alpha(int y, int x, int c) {
    (void)c;
    return number(y, x, 3) / 255;
}

static void check_file(const char *name, const UnetImageWay *way, int32_t channels, Rule *rule) {
    float all[MOST];
    UnetImageInfo info;
    UnetError error;
    take(name, 0);
    const UnetStatus status = read_all(way, channels, all, &info, &error);
    CHECK_OK(status, error);
    if (status != UNET_OK) {
        return;
    }
    CHECK(info.height == HEIGHT && info.width == WIDTH, "%s is %d x %d", name, info.height, info.width);
    for (int i = 0; i < HEIGHT * info.channels * WIDTH; i++) {
        const int y = i / (info.channels * WIDTH), c = i / WIDTH % info.channels, x = i % WIDTH;
        CHECK(fabs((double)all[i] - rule(y, x, c)) < 1e-6, "%s: (%d, %d, %d) is %g, not %g", name, y, x, c,
              (double)all[i], rule(y, x, c));
    }
}

static void check_refused(const char *name, const UnetImageWay *way, int32_t channels, size_t cut,
                          const char *says) {
    float all[MOST];
    UnetImageInfo info;
    UnetError error;
    take(name, cut);
    CHECK_FAILS(read_all(way, channels, all, &info, &error), error, says);
}

static void test_arrays(void) {
    const UnetImageWay missing = {.entry = "depth"}, image = {.entry = "image"}, label = {.entry = "label"};
    check_file("npy_u1", NULL, 1, plain);
    check_file("npy_u2_big", NULL, 1, plain);
    check_file("npy_i2", NULL, 1, less_128);
    check_file("npy_f2", NULL, 1, kept);
    check_file("npy_i2", NULL, 3, spread);
    check_file("pgm", NULL, 3, spread_plain);
    check_file("bmp_grey", NULL, 3, spread_plain);
    check_file("npy_f8_fortran", NULL, 3, kept);
    check_file("npy_first", NULL, 3, plain);
    check_file("npy_first", NULL, 0, plain);
    check_file("npy_8", NULL, 8, kept);
    check_file("npy_i8", NULL, UNET_IMAGE_CLASSES, kept);
    check_file("npy_bool", NULL, UNET_IMAGE_CLASSES, above_100);
    check_file("npy_bool", NULL, 1, above_100);
    check_refused("npy_complex", NULL, 1, 0, "its numbers are neither whole nor floats nor truths");
    check_refused("npy_8", NULL, 3, 0, "has 5 channels, and the model reads 3");
    check_refused("npy_f2", NULL, 1, 1, "cut short in the header (it ends too early)");
#ifdef UNET_HAS_MINIZIP
    check_file("npz", NULL, 3, plain);
    check_file("npz_two", &image, 3, plain);
    check_file("npz_two", &label, UNET_IMAGE_CLASSES, third);
    check_refused("npz_two", NULL, 3, 0,
                  "several arrays: it has image, label; `entry = \"NAME\"` says which");
    check_refused("npz_two", &missing, 3, 0, "no array is called depth: it has image, label");
    check_refused("npz", NULL, 3, 30, "its list of entries, which stands at the end, is missing");
#else
    check_refused("npz", NULL, 3, 0, "install libminizip-dev");
    (void)missing, (void)image, (void)label, (void)third;
#endif
}

static void test_bmp(void) {
    check_file("bmp_24", NULL, 3, plain);
    check_file("bmp_grey", NULL, 1, plain);
    check_file("bmp_grey", NULL, UNET_IMAGE_CLASSES, kept);
    check_file("bmp_1", NULL, UNET_IMAGE_CLASSES, above_100);
    check_file("bmp_16", NULL, 3, few_bits);
    check_refused("bmp_24", NULL, 3, 1, "cut short in the header (its last rows are missing)");
}

static void test_netpbm(void) {
    check_file("ppm", NULL, 3, plain);
    check_file("pgm", NULL, 1, plain);
    check_file("pgm_16", NULL, 1, plain);
    check_file("pgm_text", NULL, 1, plain);
    check_file("pgm_text", NULL, UNET_IMAGE_CLASSES, kept);
    check_file("pbm", NULL, 1, above_100);
    check_file("pbm", NULL, UNET_IMAGE_CLASSES, below_100);
    check_file("pbm_text", NULL, UNET_IMAGE_CLASSES, below_100);
    check_file("pfm", NULL, 1, kept);
    check_refused("ppm", NULL, 3, 1, "cut short in the header (its last rows are missing)");
}

static void test_ways(void) {
    const UnetImageWay grey = {.to_grey = true}, only_alpha = {.alpha = true};
    check_file("bmp_24", &grey, 1, luma);
    check_file("png_alpha", &grey, 1, luma);
    check_file("png_alpha", NULL, 3, plain);
    check_file("png_alpha", NULL, 4, plain);
    check_file("png_alpha", &only_alpha, 1, alpha);
    check_refused("bmp_24", NULL, 1, 0, "is in colour, and the model reads one channel; `channels = 1` in");
    check_refused("bmp_24", &only_alpha, 1, 0, "has no alpha");
#ifdef UNET_HAS_OPENJPEG
    check_file("jp2", NULL, 3, plain);
    check_file("j2k_16", NULL, 1, plain);
    check_file("jp2", &grey, 1, luma);
    check_refused("jp2", NULL, 3, 40, "damaged");
#else
    check_refused("jp2", NULL, 3, 0, "install libopenjp2-7-dev");
#endif
#ifdef UNET_HAS_WEBP
    check_file("webp", NULL, 3, plain);
    check_file("webp", &grey, 1, luma);
    check_file("webp_alpha", NULL, 4, odd_plain);
    check_refused("webp", NULL, 3, 8, "cut short");
#else
    check_refused("webp", NULL, 3, 0, "install libwebp-dev");
    (void)odd_plain;
#endif
}

#ifdef UNET_HAS_JPEG
/* Colours of print, and a picture that lies on its side. */
static void test_jpeg(void) {
    const UnetImageWay upright = {.upright = true};
    const int ink[] = {40, 80, 120, 60};
    float all[MOST];
    UnetImageInfo info;
    UnetError error;
    take("jpeg_cmyk", 0);
    CHECK_OK(read_all(NULL, 3, all, &info, &error), error);
    CHECK((info.traits & UNET_IMAGE_CMYK) != 0, "CMYK is told");
    for (int c = 0; c < 3; c++) {
        const double wanted = (255 - ink[c]) * (255 - ink[3]) / (255.0 * 255.0);
        CHECK(fabs((double)all[16 * c + 3] - wanted) < 0.02, "channel %d is %g, not %g", c,
              (double)all[16 * c + 3], wanted);
    }
    take("jpeg_turned", 0);
    CHECK_OK(read_all(NULL, 1, all, &info, &error), error);
    CHECK(info.width == 24 && info.height == 16 && (info.traits & UNET_IMAGE_TURNED) != 0, "as it lies");
    CHECK_OK(read_all(&upright, 1, all, &info, &error), error);
    CHECK(info.width == 16 && info.height == 24 && (info.traits & UNET_IMAGE_TURNED) == 0, "upright");
    CHECK((double)all[15] > 0.9 && (double)all[0] < 0.1 && (double)all[23 * 16 + 15] < 0.1,
          "what was at the left above is at the right above: %g %g", (double)all[0], (double)all[15]);
}
#endif

/* Arrays as volumes, in either order; number(z, y, x) = 20 z + 5 y + x. */
static void test_volumes(void) {
    static const struct {
        const char *name;
        UnetVoxel held;
    } files[] = {
        {"array.npy", UNET_VOXEL_I16},
        {"fortran.npy", UNET_VOXEL_F32},
        {"bytes.npy", UNET_VOXEL_U8},
#ifdef UNET_HAS_MINIZIP
        {"packed.npz", UNET_VOXEL_I16},
#endif
    };
    for (size_t k = 0; k < sizeof files / sizeof *files; k++) {
        char whole[400];
        UnetVolumeReader *reader;
        UnetError error;
        int64_t strange = 0;
        union {
            uint8_t bytes[20];
            int16_t words[20];
            float floats[20];
        } slice;
        snprintf(whole, sizeof whole, "%s/../volume/%s", corpus, files[k].name);
        CHECK_OK(unet_volume_open(&reader, whole, &error), error);
        const UnetVolumeInfo *info = unet_volume_info(reader);
        CHECK(info->size[0] == 3 && info->size[1] == 4 && info->size[2] == 5 && info->type == files[k].held,
              "%s: %d x %d x %d of type %d", files[k].name, info->size[0], info->size[1], info->size[2],
              (int)info->type);
        for (int z = 0; z < 3; z++) {
            CHECK_OK(unet_volume_read_slice(reader, &slice, &strange, &error), error);
            for (int i = 0; i < 20; i++) {
                const double value = info->type == UNET_VOXEL_U8    ? slice.bytes[i]
                                     : info->type == UNET_VOXEL_I16 ? slice.words[i]
                                                                    : (double)slice.floats[i];
                CHECK(value == 20 * z + i, "%s: voxel %d of slice %d is %g", files[k].name, i, z, value);
            }
        }
        unet_volume_close(reader);
        snprintf(whole, sizeof whole, "head -c 180 %s/../volume/%s > %s", corpus, files[k].name, path);
        CHECK(system(whole) == 0, "no file");
        CHECK_FAILS(unet_volume_open(&reader, path, &error), error,
                    strstr(files[k].name, ".npz") != NULL ? "its list of entries, which stands at the end"
                                                          : "cut short: 180 bytes cannot hold 3 x 4 x 5");
    }
    take("npy_8", 0);
    UnetVolumeReader *reader;
    UnetError error;
    CHECK_OK(unet_volume_open(&reader, path, &error), error); /* any three axes are a volume */
    unet_volume_close(reader);
    take("npy_complex", 0);
    CHECK_FAILS(unet_volume_open(&reader, path, &error), error, "its numbers are neither whole nor floats");
}

/* An image of CHANNELS and BITS comes back as it was written. */
static void check_written(const char *ending, int32_t channels, int32_t bits) {
    const UnetImageInfo shape = {.width = WIDTH, .height = HEIGHT, .channels = channels, .bits = bits};
    const double scale = bits == 32 ? -1.0 : 255.0;
    UnetError error;
    UnetImageInfo info;
    UnetImageWriter *writer;
    float row[6 * WIDTH], all[MOST];
    snprintf(path, sizeof path, "%s/written%s", folder, ending);
    CHECK_OK(unet_image_create(&writer, path, &shape, &error), error);
    for (int y = 0; y < HEIGHT; y++) {
        for (int i = 0; i < channels * WIDTH; i++) {
            row[i] = (float)number(y, i % WIDTH, i / WIDTH) / (float)scale;
        }
        CHECK_OK(unet_image_write_row(writer, row, &error), error);
    }
    CHECK_OK(unet_image_finish(writer, &error), error);
    CHECK_OK(read_all(NULL, channels, all, &info, &error), error);
    CHECK(info.bits == bits && info.width == WIDTH && info.height == HEIGHT, "%d bits, %d x %d", info.bits,
          info.height, info.width);
    for (int i = 0; i < HEIGHT * channels * WIDTH; i++) {
        const int y = i / (channels * WIDTH), c = i / WIDTH % channels, x = i % WIDTH;
        const double wanted = number(y, x, c) / scale;
        CHECK(fabs((double)all[i] - wanted) < 1e-6, "%s: %d channels of %d bits: %g, not %g", ending,
              channels, bits, (double)all[i], wanted);
    }
}

static void test_written(const char *ending) {
    static const int32_t bits[] = {8, 16, 32};
    UnetError error;
    for (int32_t channels = 1; channels <= 6; channels++) {
        for (int k = 0; k < 3; k++) {
            check_written(ending, channels, bits[k]);
        }
    }
    const UnetImageInfo four = {.width = 1, .height = 1, .channels = 4, .bits = 8};
    CHECK(unet_image_create(&(UnetImageWriter *){NULL}, "a.png", &four, &error) == UNET_USAGE &&
              strstr(error.text,
                     "a.png: a PNG file has 1 or 3 channels, and this has 4: name it .tif or .npy") != NULL,
          "%s", error.text);
}

/* Some suffixes of Netpbm promise a number of channels. */
static void test_written_netpbm(void) {
    static const struct {
        const char *name;
        int32_t channels;
        const char *says;
    } wrong[] = {{"a.pgm", 3, "a.pgm: this image has 3 channels: name it .ppm"},
                 {"a.PPM", 1, "a.PPM: this image has 1 channel: name it .pgm"},
                 {"a.pbm", 1, "a.pbm: this image has 1 channel: name it .pgm"},
                 {"a.pfm", 3, "a.pfm: this image has 3 channels: name it .ppm"}};
    UnetError error;
    for (int32_t bits = 8; bits <= 16; bits += 8) {
        check_written(".pgm", 1, bits);
        check_written(".ppm", 3, bits);
        check_written(".pnm", 1, bits);
        check_written(".pnm", 3, bits);
    }
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        const UnetImageInfo info = {.width = 1, .height = 1, .channels = wrong[i].channels, .bits = 8};
        CHECK(unet_image_create(&(UnetImageWriter *){NULL}, wrong[i].name, &info, &error) == UNET_USAGE &&
                  strcmp(error.text, wrong[i].says) == 0,
              "%s", error.text);
    }
}

int main(int argc, char **argv) {
    corpus = argc > 1 ? argv[1] : ".";
    make_folder(folder);
    snprintf(path, sizeof path, "%s/file", folder);
    test_arrays();
    test_bmp();
    test_netpbm();
    test_ways();
#ifdef UNET_HAS_JPEG
    test_jpeg();
#endif
    test_volumes();
    test_written(".npy");
    test_written_netpbm();
#ifdef UNET_HAS_TIFF
    test_written(".tif");
#endif
    remove_folder(folder);
    return check_result();
}
