/* volume_test.c - NIfTI files: their contents, and the errors of wrong ones. */
#include "check.h"
#include "make_nifti.h"
#include "unet/resample.h"
#include "unet/volume.h"
#include "unet/voxels.h"

#include <dirent.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

enum { D = 2, H = 3, W = 4, VOXELS = D * H * W };

static char folder[64], path[200];

static const char *in_folder(const char *name) {
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

#ifdef UNET_HAS_NIFTI

/* All voxels of the file at PATH, as floats. */
static UnetStatus read_all(UnetVolumeInfo *info, float *voxel, int64_t *strange, UnetError *error) {
    UnetVolumeReader *reader;
    UnetStatus status = unet_volume_open(&reader, path, error);
    if (status != UNET_OK) {
        return status;
    }
    *info = *unet_volume_info(reader);
    *strange = 0;
    for (int z = 0; z < info->size[0] && status == UNET_OK; z++) {
        union {
            uint8_t u8[64];
            int8_t i8[64];
            uint16_t u16[64];
            int16_t i16[64];
            float f32[64];
        } slice;
        status = unet_volume_read_slice(reader, &slice, strange, error);
        for (int i = 0; i < info->size[1] * info->size[2] && i < 64; i++) {
            *voxel++ = info->type == UNET_VOXEL_U8    ? slice.u8[i]
                       : info->type == UNET_VOXEL_I8  ? slice.i8[i]
                       : info->type == UNET_VOXEL_U16 ? slice.u16[i]
                       : info->type == UNET_VOXEL_I16 ? slice.i16[i]
                                                      : slice.f32[i];
        }
    }
    unet_volume_close(reader);
    return status;
}

/* Voxel i is FIRST + STEP * i, in each type, plain and packed, in either order of bytes. */
#define CHECK_TYPE(type, code, held, first, step)                                                          \
    do {                                                                                                   \
        type voxel[VOXELS];                                                                                \
        for (int i = 0; i < VOXELS; i++)                                                                   \
            voxel[i] = (type)(first + step * i);                                                           \
        check_type(code, (int16_t)(8 * sizeof(type)), voxel, held, first, step);                           \
    } while (0)

static void check_voxels(UnetVoxel held, double first, double step, const char *what) {
    UnetVolumeInfo info;
    UnetError error;
    float voxel[VOXELS];
    int64_t strange;
    CHECK_OK(read_all(&info, voxel, &strange, &error), error);
    CHECK(info.size[0] == D && info.size[1] == H && info.size[2] == W, "sizes of %s", what);
    CHECK(info.type == held && strange == 0, "%s is held as %d", what, info.type);
    for (int i = 0; i < VOXELS; i++) {
        CHECK(voxel[i] == (float)(first + step * i), "%s: voxel %d is %g", what, i, (double)voxel[i]);
    }
}

static void check_type(int16_t code, int16_t bits, const void *voxels, UnetVoxel held, double first,
                       double step) {
    Nifti file = nifti_make(D, H, W, code, bits, voxels);
    char what[32];
    snprintf(what, sizeof what, "type %d", code);
    nifti_write(&file, in_folder("a.nii"), 0);
    check_voxels(held, first, step, what);
    nifti_write(&file, in_folder("a.nii.gz"), 0);
    check_voxels(held, first, step, what);
    nifti_f32(&file, NIFTI_SLOPE, 0.5f);
    nifti_f32(&file, NIFTI_SLOPE + 4, 10);
    nifti_write(&file, in_folder("a.nii"), 0);
    check_voxels(UNET_VOXEL_F32, 10 + first / 2, step / 2, what);
    nifti_f32(&file, NIFTI_SLOPE, NAN);
    nifti_write(&file, in_folder("a.nii"), 0);
    check_voxels(held, first, step, what);
    uint8_t turned[VOXELS * 8];
    for (size_t i = 0; i < file.bytes; i++) {
        const size_t size = (size_t)bits / 8;
        turned[i] = ((const uint8_t *)voxels)[i / size * size + size - 1 - i % size];
    }
    file.voxels = turned;
    nifti_swap(&file);
    nifti_write(&file, in_folder("a.nii"), 0);
    check_voxels(held, first, step, what);
}

static void test_types(void) {
    CHECK_TYPE(uint8_t, 2, UNET_VOXEL_U8, 3, 10);
    CHECK_TYPE(int8_t, 256, UNET_VOXEL_I8, -100, 5);
    CHECK_TYPE(uint16_t, 512, UNET_VOXEL_U16, 40000, 100);
    CHECK_TYPE(int16_t, 4, UNET_VOXEL_I16, -1024, 200);
    CHECK_TYPE(uint32_t, 768, UNET_VOXEL_F32, 100000, 7);
    CHECK_TYPE(int32_t, 8, UNET_VOXEL_F32, -100000, 7);
    CHECK_TYPE(uint64_t, 1280, UNET_VOXEL_F32, 5, 1);
    CHECK_TYPE(int64_t, 1024, UNET_VOXEL_F32, -5, 1);
    CHECK_TYPE(float, 16, UNET_VOXEL_F32, -1.5, 0.25);
    CHECK_TYPE(double, 64, UNET_VOXEL_F32, 0.5, 0.125);
}

static void test_strange_numbers(void) {
    float voxel[VOXELS] = {NAN, 1, INFINITY, 2}, read[VOXELS];
    UnetVolumeInfo info;
    UnetError error;
    int64_t strange;
    const Nifti file = nifti_make(D, H, W, 16, 32, voxel);
    nifti_write(&file, in_folder("a.nii"), 0);
    CHECK_OK(read_all(&info, read, &strange, &error), error);
    CHECK(strange == 2 && read[0] == 0 && read[1] == 1 && read[2] == 0 && read[3] == 2,
          "%d voxels are not finite", (int)strange);
}

static void test_geometry(void) {
    const uint8_t voxel[VOXELS] = {0};
    UnetVolumeInfo plain, placed, turned;
    UnetError error;
    float read[VOXELS];
    int64_t strange;
    char why[200];
    Nifti file = nifti_make(D, H, W, 2, 8, voxel);
    nifti_write(&file, in_folder("a.nii"), 0);
    CHECK_OK(read_all(&plain, read, &strange, &error), error);
    CHECK(plain.spacing[0] == 1 && plain.affine[0][0] == 1 && plain.affine[0][3] == 0, "no orientation");
    nifti_place(&file, 3, 2, 0.5f, -7);
    nifti_write(&file, in_folder("a.nii"), 0);
    CHECK_OK(read_all(&placed, read, &strange, &error), error);
    CHECK(placed.spacing[0] == 3 && placed.spacing[1] == 2 && placed.spacing[2] == 0.5, "spacing");
    CHECK(placed.affine[0][0] == 0.5 && placed.affine[0][3] == -7 && placed.affine[2][2] == 3, "affine");
    CHECK(!unet_volume_same_grid(&plain, &placed, why) && strstr(why, "voxels of 1 x 1 x 1 mm") != NULL,
          "%s", why);
    CHECK(unet_volume_same_grid(&placed, &placed, why), "%s", why);
    nifti_place(&file, 3, 2, 0.5f, -8);
    nifti_write(&file, in_folder("a.nii"), 0);
    CHECK_OK(read_all(&turned, read, &strange, &error), error);
    CHECK(!unet_volume_same_grid(&placed, &turned, why) && strstr(why, "first voxels lie 1 mm") != NULL,
          "%s", why);
    nifti_i16(&file, NIFTI_SFORM, 0); /* a half turn about z, by quaternion, in micrometres */
    nifti_i16(&file, NIFTI_QFORM, 1);
    nifti_f32(&file, NIFTI_QUATERN + 8, 1);
    file.header[NIFTI_UNITS] = 3;
    nifti_write(&file, in_folder("a.nii"), 0);
    CHECK_OK(read_all(&turned, read, &strange, &error), error);
    CHECK(fabs(turned.affine[0][0] + 0.0005) < 1e-9 && fabs(turned.affine[2][2] - 0.003) < 1e-9,
          "by quaternion: %g", turned.affine[0][0]);
    CHECK(fabs(turned.spacing[0] - 0.003) < 1e-9, "micrometres");
}

/* A header that is changed, and its error. */
static void check_wrong(int at, int16_t value, const char *said) {
    const int16_t voxel[VOXELS] = {0};
    UnetVolumeReader *reader;
    UnetError error;
    Nifti file = nifti_make(D, H, W, 4, 16, voxel);
    nifti_i16(&file, at, value);
    nifti_write(&file, in_folder("wrong.nii"), 0);
    CHECK_FAILS(unet_volume_open(&reader, path, &error), error, said);
    CHECK(strstr(error.text, "wrong.nii") != NULL, "names the file: %s", error.text);
}

static void check_offset(float offset, const char *said) {
    const int16_t voxel[VOXELS] = {0};
    UnetVolumeReader *reader;
    UnetError error;
    Nifti file = nifti_make(D, H, W, 4, 16, voxel);
    nifti_f32(&file, NIFTI_OFFSET_AT, offset);
    nifti_write(&file, in_folder("wrong.nii"), 0);
    CHECK_FAILS(unet_volume_open(&reader, path, &error), error, said);
}

static void test_lying_headers(void) {
    check_wrong(NIFTI_DIM, 9, "says 9 axes");
    check_wrong(NIFTI_DIM + 4, -3, "says -3 voxels along axis 2");
    check_wrong(NIFTI_DIM + 2, 0, "says 0 voxels along axis 1");
    check_wrong(NIFTI_DIM + 6, 30000, "cut short: 400 bytes cannot hold 30000 x 3 x 4 voxels of 16 bits");
    check_wrong(NIFTI_TYPE, 128, "RGB24 (128) are not read");
    check_wrong(NIFTI_BITS, 8, "says 8 bits a voxel");
    check_wrong(NIFTI_MAGIC, 0x696e, "pair of files");
    check_wrong(NIFTI_MAGIC, 0, "no NIfTI-1 file");
    check_wrong(0, 540, "NIfTI-2");
    check_offset(NAN, "begin at byte nan");
    check_offset(17, "begin at byte 17");
    check_offset(353, "cut short");
    check_offset(1e30f, "begin at byte 1e+30");
    Nifti file = nifti_make(D, H, W, 4, 16, NULL);
    const int16_t four[2] = {4, 5}; /* five volumes */
    nifti_i16(&file, NIFTI_DIM, four[0]);
    nifti_i16(&file, NIFTI_DIM + 8, four[1]);
    file.bytes = 0;
    UnetVolumeReader *reader;
    UnetError error;
    nifti_write(&file, in_folder("wrong.nii"), 0);
    CHECK_FAILS(unet_volume_open(&reader, path, &error), error, "holds 5 volumes");
    file = nifti_make(30000, 30000, 30000, 4, 16, NULL);
    file.bytes = 0;
    nifti_write(&file, in_folder("wrong.nii.gz"), 0);
    CHECK_FAILS(unet_volume_open(&reader, path, &error), error, "more than 2^31 voxels");
    CHECK_FAILS(unet_volume_open(&reader, folder, &error), error, "no regular file");
    CHECK_FAILS(unet_volume_open(&reader, in_folder("absent.nii"), &error), error, "absent.nii");
}

static void test_cut_files(void) {
    uint8_t voxel[VOXELS];
    UnetVolumeInfo info;
    UnetError error;
    float read[VOXELS];
    int64_t strange;
    for (int i = 0; i < VOXELS; i++) {
        voxel[i] = (uint8_t)(i * 77);
    }
    const Nifti file = nifti_make(D, H, W, 2, 8, voxel);
    struct stat found;
    nifti_write(&file, in_folder("cut.nii"), 300);
    CHECK_FAILS(read_all(&info, read, &strange, &error), error, "cut short in its header");
    nifti_write(&file, in_folder("cut.nii"), NIFTI_BEGIN + VOXELS - 1);
    CHECK_FAILS(read_all(&info, read, &strange, &error), error, "cut short: 375 bytes cannot hold");
    nifti_write(&file, in_folder("cut.nii.gz"), 0);
    CHECK(stat(path, &found) == 0, "the file");
    const size_t whole = (size_t)found.st_size;
    nifti_write(&file, in_folder("cut.nii.gz"), whole - 12);
    CHECK_FAILS(read_all(&info, read, &strange, &error), error, "cut short in slice 1 of 2");
    nifti_write(&file, in_folder("cut.nii.gz"), whole - 3);
    CHECK_FAILS(read_all(&info, read, &strange, &error), error, "cut.nii.gz: cut short behind its voxels");
    nifti_write(&file, in_folder("cut.nii.gz"), 0);
    FILE *out = fopen(path, "r+b");
    CHECK(out != NULL && fseek(out, -6, SEEK_END) == 0 && fputc(0x55, out) != EOF && fclose(out) == 0,
          "the sum of the file is changed");
    CHECK_FAILS(read_all(&info, read, &strange, &error), error,
                "damaged in its header (incorrect data check)");
}

static void test_writing(void) {
    const int16_t voxel[VOXELS] = {-5, 5};
    float classes[VOXELS], read[VOXELS];
    UnetVolumeInfo like, info;
    UnetVolumeWriter *writer;
    UnetError error;
    int64_t strange;
    char why[200];
    for (int i = 0; i < VOXELS; i++) {
        classes[i] = (float)(i * 11);
    }
    Nifti file = nifti_make(D, H, W, 4, 16, voxel);
    nifti_place(&file, 3, 2, 0.5f, -7);
    nifti_f32(&file, NIFTI_SLOPE, 2);
    nifti_swap(&file);
    nifti_write(&file, in_folder("in.nii"), 0);
    CHECK_OK(read_all(&like, read, &strange, &error), error);
    static const struct {
        const char *name;
        int32_t classes;
        UnetVoxel held;
    } cases[] = {{"out.nii", 3, UNET_VOXEL_U8},
                 {"out.nii.gz", 3, UNET_VOXEL_U8},
                 {"out.nii.gz", 300, UNET_VOXEL_U16},
                 {"out.nii", 0, UNET_VOXEL_F32}};
    for (int i = 0; i < 4; i++) {
        CHECK_OK(unet_volume_create(&writer, in_folder(cases[i].name), &like, 1, cases[i].classes, &error),
                 error);
        CHECK_OK(unet_volume_write(writer, classes, VOXELS, &error), error);
        CHECK(access(path, F_OK) != 0 || i >= 2, "the file is not there before it is whole");
        CHECK_OK(unet_volume_finish(writer, &error), error);
        CHECK_OK(read_all(&info, read, &strange, &error), error);
        CHECK(info.type == cases[i].held, "type of %s", cases[i].name);
        CHECK(unet_volume_same_grid(&like, &info, why), "%s", why);
        CHECK(i == 1 || memcmp(read, classes, sizeof read) == 0, "voxels of %s", cases[i].name);
    }
    CHECK_OK(unet_volume_create(&writer, in_folder("never.nii"), &like, 1, 3, &error), error);
    unet_volume_discard(writer);
    CHECK(access(path, F_OK) != 0, "a discarded file is there");
}

/* ---- decoded files ---- */

static int files_in(const char *name) {
    DIR *opened = opendir(name);
    int count = 0;
    for (const struct dirent *entry; opened != NULL && (entry = readdir(opened)) != NULL;) {
        count += entry->d_name[0] != '.' || strlen(entry->d_name) > 2;
    }
    if (opened != NULL) {
        closedir(opened);
    }
    return count;
}

static ino_t file_number(const char *name) {
    struct stat found;
    return stat(in_folder(name), &found) == 0 ? found.st_ino : 0;
}

static void check_volume(const UnetVoxels *volume, const int16_t *voxel) {
    float row[W];
    for (int i = 0; i < D * H; i++) {
        unet_voxels_row(volume, i / H, i % H, 0, W, row);
        for (int x = 0; x < W; x++) {
            CHECK(row[x] == voxel[i * W + x], "voxel %d of row %d is %g", x, i, (double)row[x]);
        }
    }
}

static void test_cache(void) {
    int16_t voxel[VOXELS] = {0};
    UnetVoxels volume;
    UnetError error;
    voxel[5] = 7, voxel[10] = 3, voxel[17] = 7; /* (0, 1, 1), (0, 2, 2), (1, 1, 1) */
    const Nifti file = nifti_make(D, H, W, 4, 16, voxel);
    nifti_write(&file, in_folder("scan.nii.gz"), 0);
    CHECK_OK(unet_voxels_open(&volume, path, NULL, NULL, &error), error);
    check_volume(&volume, voxel);
    const UnetVoxelFacts *facts = &volume.facts;
    const UnetFileFacts *of = &facts->file;
    CHECK(of->sum == 17 && of->squares == 107 && facts->least == 0 && facts->most == 7, "sums");
    CHECK(of->begin[0] == 0 && of->begin[1] == 1 && of->begin[2] == 1 && of->end[0] == 2 &&
              of->end[1] == 3 && of->end[2] == 3,
          "the box of what is not 0");
    CHECK(facts->nvalue == 3 && volume.value[0] == 0 && volume.value[1] == 3 && volume.value[2] == 7 &&
              volume.count[0] == 10 && volume.count[1] == 11 && volume.count[2] == 1 &&
              volume.count[3] == 0 && volume.count[4] == 1 && volume.count[5] == 1,
          "values and how often each slice has them");
    unet_voxels_close(&volume);
    const ino_t first = file_number(".scan.nii.gz.unetvol");
    CHECK(first != 0, "the file lies beside its source");
    CHECK_OK(unet_voxels_open(&volume, in_folder("scan.nii.gz"), NULL, NULL, &error), error);
    unet_voxels_close(&volume);
    CHECK(file_number(".scan.nii.gz.unetvol") == first, "a file that is current was made again");

    voxel[5] = 8; /* of the same length, and another time */
    nifti_write(&file, in_folder("scan.nii.gz"), 0);
    const struct timespec times[2] = {{.tv_sec = 1000}, {.tv_sec = 1000}};
    CHECK(utimensat(AT_FDCWD, path, times, 0) == 0, "the time");
    CHECK_OK(unet_voxels_open(&volume, path, NULL, NULL, &error), error);
    check_volume(&volume, voxel);
    unet_voxels_close(&volume);
    const long lengths[] = {5000, 4096, 10, 0}; /* cut short, or of something else */
    for (int i = 0; i < 4; i++) {
        CHECK(truncate(in_folder(".scan.nii.gz.unetvol"), lengths[i]) == 0, "cut");
        CHECK_OK(unet_voxels_open(&volume, in_folder("scan.nii.gz"), NULL, NULL, &error), error);
        check_volume(&volume, voxel);
        unet_voxels_close(&volume);
    }
    CHECK_OK(unet_voxels_decode(&volume, in_folder("scan.nii.gz"), NULL, &error), error);
    check_volume(&volume, voxel);
    CHECK(volume.facts.nvalue == 4 && volume.value[3] == 8 && volume.mapped == NULL, "in memory");
    unet_voxels_close(&volume);
}

/* ---- the mask ---- */

enum { MD = 6, MH = 7, MW = 19, MVOXELS = MD * MH * MW };

static int mask_place(int z, int y, int x) {
    return (z * MH + y) * MW + x;
}

/* A box without its inside, which only a bent way leaves, through a door; CLOSED: that is shut. */
static int make_box(int16_t voxel[MVOXELS], bool closed) {
    int count = 0;
    memset(voxel, 0, MVOXELS * sizeof *voxel);
    for (int i = 0; i < MVOXELS; i++) {
        const int z = i / (MH * MW), y = i / MW % MH, x = i % MW;
        const bool box = z >= 1 && z <= 4 && y >= 1 && y <= 5 && x >= 3 && x <= 12,
                   inside = z > 1 && z < 4 && y > 1 && y < 5 && x > 3 && x < 12,
                   door = z == 2 && y == 3 && x == 12;
        voxel[i] = (int16_t)(box && !inside ? 5 : 0);
        voxel[i] = (int16_t)(door && !closed ? 0 : voxel[i]);
        count += box && (closed || (!inside && !door));
    }
    return count;
}

static void check_mask(bool closed) {
    int16_t voxel[MVOXELS];
    const int count = make_box(voxel, closed);
    const UnetSampling sampling = {.masked = true}, half = {.spacing = {1, 1, 0.5}, .masked = true};
    UnetVoxels volume[2];
    UnetError error;
    const Nifti file = nifti_make(MD, MH, MW, 4, 16, voxel);
    nifti_write(&file, in_folder("box.nii.gz"), 0);
    CHECK_OK(unet_voxels_open(&volume[0], path, NULL, &sampling, &error), error);
    CHECK_OK(unet_voxels_survey(&volume[1], path, &half, &error), error);
    CHECK(file_number(".box.nii.gz.masked.unetvol") != 0, "its name says it");
    for (int k = 0; k < 2; k++) {
        CHECK(volume[k].facts.file.masked == count, "%d voxels, and not %d",
              (int)volume[k].facts.file.masked, count);
    }
    for (int z = 0; z < MD; z++) {
        for (int y = 0; y < MH; y++) {
            for (int x = 0; x < MW; x++) {
                const bool box = z >= 1 && z <= 4 && y >= 1 && y <= 5 && x >= 3 && x <= 12;
                const bool wanted = box && (closed || voxel[mask_place(z, y, x)] != 0);
                CHECK(unet_voxels_masked(volume, 1, z, y, x) == wanted &&
                          unet_voxels_masked(volume + 1, 1, z, y, 2 * x + 1) == wanted,
                      "voxel %d, %d, %d", z, y, x);
            }
        }
    }
    UnetNormal normal;
    unet_voxels_normal(volume, 1, &normal);
    CHECK(fabs(normal.mean[0] - volume[0].facts.file.sum / count) < 1e-12, "the mean inside");
    int32_t begin[3], end[3];
    unet_voxels_box(volume + 1, 1, begin, end);
    CHECK(begin[0] == 1 && end[0] == 5 && begin[2] == 6 && end[2] == 26, "the box, resampled");
    unet_voxels_close(&volume[0]);
    unet_voxels_close(&volume[1]);
}

static void test_mask(void) {
    check_mask(true);
    check_mask(false);
}

/* ---- resampling ---- */

enum { RD = 5, RH = 4, RW = 7, RVOXELS = RD * RH * RW, MOST_MADE = 11 * 11 * 11 };

/* The place of point I of TO along an axis of FROM voxels. */
static double place_of(int i, int from, int to) {
    const double p = (2.0 * i + 1) * from / (2.0 * to) - 0.5;
    return p < 0 ? 0 : p > from - 1 ? from - 1 : p;
}

/* The sum over the eight voxels around a point, in double. */
static double trilinear(const int16_t *voxel, const int to[3], const int at[3]) {
    static const int from[3] = {RD, RH, RW};
    double sum = 0;
    for (int corner = 0; corner < 8; corner++) {
        double weight = 1;
        int index = 0;
        for (int i = 0; i < 3; i++) {
            const double p = place_of(at[i], from[i], to[i]);
            const int low = (int)floor(p), k = low + (corner >> i & 1);
            weight *= (corner >> i & 1) != 0 ? p - low : 1 - (p - low);
            index = index * from[i] + (k < from[i] ? k : from[i] - 1);
        }
        sum += weight * voxel[index];
    }
    return sum;
}

static int16_t nearest(const int16_t *voxel, const int to[3], const int at[3]) {
    static const int from[3] = {RD, RH, RW};
    int index = 0;
    for (int i = 0; i < 3; i++) {
        index = index * from[i] + (int)floor((at[i] + 0.5) * from[i] / to[i]);
    }
    return voxel[index];
}

/* Voxels of 1 mm at the spacing SIZE / TO, which makes so many. */
static void check_resampled(const int16_t *voxel, const int to[3], UnetInterpolation how) {
    const UnetSampling sampling = {.spacing = {(double)RD / to[0], (double)RH / to[1], (double)RW / to[2]},
                                   .how = how};
    UnetVoxels volume;
    UnetError error;
    CHECK_OK(unet_voxels_open(&volume, in_folder("resampled.nii.gz"), NULL, &sampling, &error), error);
    CHECK(memcmp(volume.info.size, to, 3 * sizeof *to) == 0, "%d x %d x %d voxels", volume.info.size[0],
          volume.info.size[1], volume.info.size[2]);
    CHECK(volume.info.type == (how == UNET_NEAREST ? UNET_VOXEL_I16 : UNET_VOXEL_F32), "their type");
    CHECK(fabs(volume.info.spacing[2] - (double)RW / to[2]) < 1e-12 && volume.source_spacing[2] == 1 &&
              volume.source_size[0] == RD,
          "their spacing, and what it was");
    CHECK(fabs(volume.info.affine[0][3] - ((double)RW / to[2] - 1) / 2) < 1e-12, "where the first lies");
    for (int i = 0; i < to[0] * to[1] * to[2]; i++) {
        const int at[3] = {i / (to[1] * to[2]), i / to[2] % to[1], i % to[2]};
        float found;
        unet_voxels_row(&volume, at[0], at[1], at[2], 1, &found);
        const double wanted = how == UNET_NEAREST ? nearest(voxel, to, at) : trilinear(voxel, to, at);
        CHECK(fabs((double)found - wanted) <= (how == UNET_NEAREST ? 0 : 2e-4),
              "%d x %d x %d: voxel %d is %.9g, and not %.9g", to[0], to[1], to[2], i, (double)found,
              wanted);
    }
    unet_voxels_close(&volume);
}

static void test_resampling(void) {
    static const int to[][3] = {{10, 8, 14}, {5, 4, 3}, {3, 4, 7}, {1, 1, 1}, {11, 3, 9}, {2, 11, 7}};
    int16_t voxel[RVOXELS];
    for (int i = 0; i < RVOXELS; i++) {
        voxel[i] = (int16_t)(i * 7919 % 2001 - 1000);
    }
    const Nifti file = nifti_make(RD, RH, RW, 4, 16, voxel);
    nifti_write(&file, in_folder("resampled.nii.gz"), 0);
    for (size_t i = 0; i < sizeof to / sizeof *to; i++) {
        check_resampled(voxel, to[i], UNET_NEAREST);
        check_resampled(voxel, to[i], UNET_LINEAR);
    }
    /* The same spacing: the same voxels, of the same type. */
    UnetSampling same = {.spacing = {1, 1, 1}, .how = UNET_LINEAR};
    UnetVoxels volume, plain;
    UnetError error;
    CHECK_OK(unet_voxels_decode(&volume, path, &same, &error), error);
    CHECK_OK(unet_voxels_decode(&plain, path, NULL, &error), error);
    CHECK(memcmp(&volume.info, &plain.info, sizeof plain.info) == 0 &&
              memcmp(&volume.facts, &plain.facts, sizeof plain.facts) == 0 &&
              memcmp(volume.voxel, plain.voxel, sizeof voxel) == 0,
          "what has the spacing changes");
    unet_voxels_close(&volume);
    unet_voxels_close(&plain);
    /* Halves are rounded to even: 2.5 and 3.5. */
    same = (UnetSampling){.spacing = {2, 4.0 / 3.5, 1}, .how = UNET_NEAREST};
    CHECK_OK(unet_voxels_decode(&volume, path, &same, &error), error);
    CHECK(volume.info.size[0] == 2 && volume.info.size[1] == 4 && volume.info.size[2] == 7, "rounded");
    unet_voxels_close(&volume);
    Nifti nearly = file; /* 2.5 in all but the last digits */
    nifti_f32(&nearly, NIFTI_PIXDIM + 12, 1.000001f);
    nifti_write(&nearly, in_folder("nearly.nii"), 0);
    CHECK_OK(unet_voxels_decode(&volume, path, &same, &error), error);
    CHECK(volume.info.size[0] == 2, "%d slices", volume.info.size[0]);
    unet_voxels_close(&volume);
}

typedef struct {
    int place;
    double value;
} Recorded;

/* The results of scipy 1.17 for the voxels of test_resampling(): ndimage.zoom(x, factors, order = 3,
 * mode = "nearest", grid_mode = True); in the third table slice by slice, the nearest slice taken. */
static const Recorded larger[] = {
    {0, -1407.747688},   {13, 603.1666147},   {26, -93.30217624},  {39, -878.1864351},  {52, -1186.927626},
    {65, 553.000625},    {78, 122.2612875},   {91, -485.5934873},  {104, -207.3171304}, {117, 766.5239604},
    {130, 465.6845955},  {143, -321.0259039}, {156, -637.0694104}, {169, 873.3849165},  {182, 218.5176166},
    {195, -499.0116088}, {208, -660.2482949}, {221, 343.5212553},  {234, 159.7990565},  {247, -472.0475706},
    {260, -726.967602},  {273, 558.4382304},  {286, 186.7344046},  {299, -350.4650904}, {312, -366.6207394},
    {325, 154.0811658},  {338, 181.2979562},  {351, -197.4320483}, {364, -911.1972287}, {377, -324.2906449},
    {390, 438.5160056},  {403, -298.3736905}, {416, -691.6294276}};
static const Recorded smaller[] = {
    {0, -263.6562658},  {4, 399.7553049},   {8, -16.56504466},  {12, -682.410313}, {16, -552.2824372},
    {20, 231.8083027},  {24, -255.8083027}, {28, -724.4301885}, {32, 799},         {36, 321.4301885},
    {40, -423.7553049}, {44, 239.6562658},  {48, 838.4413911},  {52, 96.41097824}, {56, -331.0093335}};
static const Recorded flat[] = {
    {0, -1267.954626},   {29, -281.9888609}, {58, 881.4547779},   {87, -580.738978},   {116, 613.4427973},
    {145, -424.7558542}, {174, 732.482073},  {203, -353.7443068}, {232, 253.5117681},  {261, -624.6208902},
    {290, 6.468213656},  {319, 102.1520705}, {348, -182.4968097}, {377, -267.3845501}, {406, -443.7103405}};

static void check_cubic(const UnetSampling *sampling, const int to[3], const Recorded *wanted,
                        size_t count) {
    UnetVoxels volume;
    UnetError error;
    CHECK_OK(unet_voxels_decode(&volume, in_folder("resampled.nii.gz"), sampling, &error), error);
    CHECK(memcmp(volume.info.size, to, 3 * sizeof *to) == 0 && volume.info.type == UNET_VOXEL_F32, "size");
    for (size_t i = 0; i < count; i++) {
        const int at = wanted[i].place;
        float found;
        unet_voxels_row(&volume, at / (to[1] * to[2]), at / to[2] % to[1], at % to[2], 1, &found);
        CHECK(fabs((double)found - wanted[i].value) < 5e-4, "%d x ...: voxel %d is %.9g, and not %.9g",
              to[0], at, (double)found, wanted[i].value);
    }
    unet_voxels_close(&volume);
}

static void test_cubic(void) {
    static const int more[3] = {7, 6, 10}, fewer[3] = {3, 4, 5};
    UnetSampling sampling = {.how = UNET_CUBIC, .spacing = {RD / 7.0, RH / 6.0, RW / 10.0}};
    check_cubic(&sampling, more, larger, sizeof larger / sizeof *larger);
    sampling = (UnetSampling){.how = UNET_CUBIC, .spacing = {RD / 3.0, RH / 4.0, RW / 5.0}};
    check_cubic(&sampling, fewer, smaller, sizeof smaller / sizeof *smaller);
    int16_t voxel[RVOXELS];
    for (int i = 0; i < RVOXELS; i++) {
        voxel[i] = (int16_t)(i * 7919 % 2001 - 1000);
    }
    Nifti file = nifti_make(RD, RH, RW, 4, 16, voxel);
    nifti_f32(&file, NIFTI_PIXDIM + 12, 4); /* slices */
    nifti_write(&file, in_folder("resampled.nii.gz"), 0);
    sampling = (UnetSampling){.how = UNET_CUBIC, .spacing = {4 * RD / 7.0, RH / 6.0, RW / 10.0}};
    check_cubic(&sampling, more, flat, sizeof flat / sizeof *flat);
    /* A long axis; a part of it is held: the spline through a cubic polynomial is the polynomial. */
    float line[300];
    for (int i = 0; i < 300; i++) {
        line[i] = (float)(1e-3 * i * i * (i - 200));
    }
    file = nifti_make(300, 1, 1, 16, 32, line);
    nifti_write(&file, in_folder("resampled.nii.gz"), 0);
    sampling = (UnetSampling){.how = UNET_CUBIC, .spacing = {300.0 / 700, 1, 1}};
    UnetVoxels volume;
    UnetError error;
    CHECK_OK(unet_voxels_decode(&volume, path, &sampling, &error), error);
    for (int i = 60; i < 640; i++) {
        const double p = (i + 0.5) * 300 / 700 - 0.5, wanted = 1e-3 * p * p * (p - 200);
        float found;
        unet_voxels_row(&volume, i, 0, 0, 1, &found);
        CHECK(fabs((double)found - wanted) < 2e-3, "%d: %g, and not %g", i, (double)found, wanted);
    }
    unet_voxels_close(&volume);
}

/* Voxels decoded at one spacing do not count for another, nor for labels. */
static void test_resampled_files(void) {
    const UnetSampling half = {.spacing = {0.5, 1, 1}, .how = UNET_LINEAR},
                       near = {.spacing = {0.5, 1, 1}, .how = UNET_NEAREST},
                       close = {.spacing = {0.50000001, 1, 1}, .how = UNET_LINEAR};
    const int16_t voxel[VOXELS] = {1};
    UnetVoxels volume;
    UnetError error;
    const Nifti file = nifti_make(D, H, W, 4, 16, voxel);
    nifti_write(&file, in_folder("key.nii.gz"), 0);
    CHECK_OK(unet_voxels_open(&volume, path, NULL, &half, &error), error);
    unet_voxels_close(&volume);
    CHECK(file_number(".key.nii.gz.0.5x1x1-linear.unetvol") != 0, "its name has the spacing");
    in_folder("key.nii.gz");
    CHECK(unet_voxels_is_decoded(path, NULL, &half) && !unet_voxels_is_decoded(path, NULL, &near) &&
              !unet_voxels_is_decoded(path, NULL, NULL),
          "another file");
    CHECK(!unet_voxels_is_decoded(path, NULL, &close), "a spacing of the same name");
}

static void check_refused(const Nifti *file, double spacing, const char *said) {
    const UnetSampling sampling = {.spacing = {spacing, 1, 1}, .how = UNET_LINEAR};
    UnetSampledVolume *volume;
    UnetError error;
    nifti_write(file, in_folder("refused.nii"), 0);
    CHECK_FAILS(unet_sampled_open(&volume, path, &sampling, &error), error, said);
    CHECK(volume == NULL, "nothing is open");
}

static void test_refused_spacings(void) {
    const int16_t voxel[VOXELS] = {1};
    Nifti file = nifti_make(D, H, W, 4, 16, voxel);
    check_refused(&file, 100,
                  "2 x 3 x 4 voxels of 1 x 1 x 1 mm (depth first) become 0 x 3 x 4 at the "
                  "spacing 100 x 1 x 1");
    check_refused(&file, 1e-5, "become 200000 x 3 x 4");
    check_refused(&file, 1e-320, "an axis has 1 to 32767 voxels");
    const float widths[] = {0, -2, NAN, INFINITY};
    const char *const said[] = {"voxels are 0 wide along z", "voxels are -2 wide along z",
                                "nan wide along z", "inf wide along z"};
    for (int i = 0; i < 4; i++) {
        nifti_f32(&file, NIFTI_PIXDIM + 12, widths[i]);
        check_refused(&file, 1, said[i]);
    }
    nifti_f32(&file, NIFTI_PIXDIM + 12, 20000); /* 30000 x 30000 x 4 voxels are too many */
    nifti_f32(&file, NIFTI_PIXDIM + 8, 10000);
    nifti_f32(&file, NIFTI_PIXDIM + 12, 15000);
    check_refused(&file, 1, "a volume at most 2^31");
    /* The one slice that makes the result is whole, but the file is not. */
    const int16_t many[RVOXELS] = {3, 1, 4, 1, 5};
    const UnetSampling sampling = {.spacing = {RD, 1, 1}, .how = UNET_NEAREST};
    struct stat found;
    file = nifti_make(RD, RH, RW, 4, 16, many);
    nifti_write(&file, in_folder("short.nii.gz"), 0);
    CHECK(stat(path, &found) == 0, "its length");
    nifti_write(&file, path, (size_t)found.st_size - 6);
    UnetVoxels volume;
    UnetError error;
    CHECK_FAILS(unet_voxels_decode(&volume, path, &sampling, &error), error, "short.nii.gz: cut short");
}

static void test_cache_places(void) {
    const int16_t voxel[VOXELS] = {1};
    UnetVoxels volume;
    UnetError error;
    char cache[200];
    Nifti file = nifti_make(D, H, W, 4, 16, voxel);
    nifti_write(&file, in_folder("b.nii"), 0);
    snprintf(cache, sizeof cache, "%s/cache", folder);
    CHECK_OK(unet_voxels_open(&volume, path, cache, NULL, &error), error);
    check_volume(&volume, voxel);
    unet_voxels_close(&volume);
    CHECK(files_in(cache) == 1, "one file in the folder of decoded files");
    CHECK(file_number(".b.nii.unetvol") == 0, "and none beside the source");
    CHECK(mkdir(in_folder(".b.nii.unetvol"), 0777) == 0, "a folder of that name");
    CHECK_FAILS(unet_voxels_open(&volume, in_folder("b.nii"), NULL, NULL, &error), error, "--cache=DIR");

    static int16_t large[64 * 64 * 8]; /* a disk that is full is a file that may not grow */
    file = nifti_make(8, 64, 64, 4, 16, large);
    nifti_write(&file, in_folder("large.nii.gz"), 0);
    struct rlimit before, least = {.rlim_cur = 20000};
    CHECK(getrlimit(RLIMIT_FSIZE, &before) == 0, "limits");
    least.rlim_max = before.rlim_max;
    signal(SIGXFSZ, SIG_IGN);
    CHECK(setrlimit(RLIMIT_FSIZE, &least) == 0, "a limit");
    CHECK_FAILS(unet_voxels_open(&volume, path, cache, NULL, &error), error,
                "large.nii.gz.unetvol: cannot write");
    CHECK(setrlimit(RLIMIT_FSIZE, &before) == 0, "limits again");
    CHECK(files_in(cache) == 1, "nothing is left of it");
    nifti_write(&file, in_folder("cut.nii.gz"), 60);
    CHECK_FAILS(unet_voxels_open(&volume, path, cache, NULL, &error), error, "cut.nii.gz: cut short in");
    CHECK(files_in(cache) == 1, "nothing is left of it");
}

#else

static void test_refusal(void) {
    UnetVolumeReader *reader;
    UnetError error;
    CHECK_FAILS(unet_volume_open(&reader, in_folder("a.nii"), &error), error, "install libnifti-dev");
}

#endif

int main(void) {
    make_folder(folder);
    CHECK(unet_volume_is_name("a/b.NII.gz") && unet_volume_is_name("b.nii") && !unet_volume_is_name("a.gz"),
          "names of volumes");
#ifdef UNET_HAS_NIFTI
    test_types();
    test_strange_numbers();
    test_geometry();
    test_lying_headers();
    test_cut_files();
    test_writing();
    test_cache();
    test_cache_places();
    test_mask();
    test_resampling();
    test_cubic();
    test_resampled_files();
    test_refused_spacings();
#else
    test_refusal();
#endif
    remove_folder(folder);
    return check_result();
}
