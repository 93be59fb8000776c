/* brains.c - makes scans of brains from maps of their structures, and labels of large structures.
 *
 *   brains FOLDER COUNT MAP.nii.gz ...
 *       COUNT scans of each map: FOLDER/imagesTr/brain_M_N_0000.nii.gz and FOLDER/labelsTr/brain_M_N.nii.gz
 *   brains FOLDER scan IMAGE.nii.gz MAP.nii.gz
 *       a real scan, as it is, and labels from its map
 *
 * Maps number structures as FreeSurfer does.  Classes: 1 white matter and 2 grey matter of the cerebrum, 3
 * cerebellum, 4 deep grey matter, 5 brain stem; all else is 0.  A scan is T1-weighted and has no skull:
 * each tissue has a brightness, which differs a little from scan to scan; voxels at borders show both
 * sides; the brightness drifts slowly over the scan, and noise is added.  All are written with voxels twice
 * as long.
 */
#include "../../examples/pictures.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <zlib.h>

enum { HEADER = 352, MARGIN = 32, PATH = 1024, TISSUES = 9 };
enum { OUTSIDE, WHITE, GREY, FLUID, THALAMUS, CAUDATE, PUTAMEN, PALLIDUM, STEM };
static const double brightness[TISSUES] = {0, 0.8, 0.55, 0.15, 0.68, 0.58, 0.62, 0.74, 0.76};

typedef struct {
    int structure, tissue, class;
} Row;

static const Row rows[] = {
    {2, WHITE, 1},     {41, WHITE, 1},    {77, WHITE, 1},   {251, WHITE, 1},  {252, WHITE, 1},
    {253, WHITE, 1},   {254, WHITE, 1},   {255, WHITE, 1},  {3, GREY, 2},     {42, GREY, 2},
    {7, WHITE, 3},     {46, WHITE, 3},    {8, GREY, 3},     {47, GREY, 3},    {10, THALAMUS, 4},
    {49, THALAMUS, 4}, {11, CAUDATE, 4},  {50, CAUDATE, 4}, {12, PUTAMEN, 4}, {51, PUTAMEN, 4},
    {13, PALLIDUM, 4}, {52, PALLIDUM, 4}, {16, STEM, 5},    {4, FLUID, 0},    {43, FLUID, 0},
    {5, FLUID, 0},     {44, FLUID, 0},    {14, FLUID, 0},   {15, FLUID, 0},   {24, FLUID, 0},
    {31, FLUID, 0},    {63, FLUID, 0},    {17, GREY, 0},    {53, GREY, 0},    {18, GREY, 0},
    {54, GREY, 0},     {26, GREY, 0},     {58, GREY, 0},    {28, STEM, 0},    {60, STEM, 0},
    {85, WHITE, 0},    {30, FLUID, 0},    {62, FLUID, 0}};
enum { ROWS = sizeof rows / sizeof *rows };

typedef struct {
    int size[3]; /* z, y, x */
    uint8_t header[HEADER];
    float *voxel;
} Volume;

static size_t index_of(const int size[3], int z, int y, int x) {
    return ((size_t)z * (size_t)size[1] + (size_t)y) * (size_t)size[2] + (size_t)x;
}

static size_t count_of(const int size[3]) {
    return (size_t)size[0] * (size_t)size[1] * (size_t)size[2];
}

static Row row_of(float value) {
    for (int i = 0; i < ROWS; i++)
        if (rows[i].structure == (int)value)
            return rows[i];
    return (Row){0, OUTSIDE, 0};
}

/* ---- half as fine ---- */

static uint8_t most_frequent(const uint8_t label[8]) {
    int best = 0;
    for (int i = 0, most = 0; i < 8; i++) {
        int count = 0;
        for (int k = 0; k < 8; k++)
            count += label[k] == label[i];
        if (count > most || (count == most && label[i] < best)) {
            most = count;
            best = label[i];
        }
    }
    return (uint8_t)best;
}

/* Voxels twice as long along each axis, in place: means of eight, and the label that most of them have. */
static void halve(int size[3], int16_t *image, uint8_t *labels) {
    const int half[3] = {size[0] / 2, size[1] / 2, size[2] / 2};
    for (size_t k = 0; k < count_of(half); k++) {
        const int x = (int)(k % (size_t)half[2]), y = (int)(k / (size_t)half[2] % (size_t)half[1]),
                  z = (int)(k / (size_t)half[2] / (size_t)half[1]);
        int sum = 0;
        uint8_t label[8];
        for (int i = 0; i < 8; i++) {
            const size_t from = index_of(size, 2 * z + i / 4, 2 * y + i / 2 % 2, 2 * x + i % 2);
            sum += image[from];
            label[i] = labels[from];
        }
        image[k] = (int16_t)(sum / 8);
        labels[k] = most_frequent(label);
    }
    memcpy(size, half, sizeof half);
}

/* The same of a header: sides, and the matrix, whose origin moves to the middle of eight. */
static void halve_header(const uint8_t *header, uint8_t *half) {
    const int16_t none = 0;
    float side[3], row[4];
    memcpy(half, header, HEADER);
    memcpy(side, header + 80, sizeof side);
    for (int i = 0; i < 3; i++)
        side[i] *= 2;
    memcpy(half + 80, side, sizeof side);
    memcpy(half + 252, &none, sizeof none); /* no quaternion */
    for (int i = 0; i < 3; i++) {
        memcpy(row, header + 280 + 16 * i, sizeof row);
        row[3] += (row[0] + row[1] + row[2]) / 2;
        for (int k = 0; k < 3; k++)
            row[k] *= 2;
        memcpy(half + 280 + 16 * i, row, sizeof row);
    }
}

/* ---- files ---- */

static bool read_volume(const char *path, Volume *volume) {
    int16_t dim[8], code;
    float begins;
    gzFile file = gzopen(path, "rb");
    bool good = file != NULL && gzread(file, volume->header, HEADER) == HEADER;
    memcpy(dim, volume->header + 40, sizeof dim);
    memcpy(&code, volume->header + 70, sizeof code);
    memcpy(&begins, volume->header + 108, sizeof begins);
    for (int i = 0; i < 3; i++)
        volume->size[i] = good ? dim[3 - i] : 0;
    good = good && begins == HEADER && (code == 2 || code == 4 || code == 8 || code == 16);
    const size_t count = count_of(volume->size), bytes = code == 2 ? 1 : code == 4 ? 2 : 4;
    uint8_t *raw = good ? malloc(count * bytes) : NULL;
    volume->voxel = good ? malloc(count * sizeof *volume->voxel) : NULL;
    good = raw != NULL && volume->voxel != NULL &&
           gzread(file, raw, (unsigned)(count * bytes)) == (int)(count * bytes);
    for (size_t k = 0; good && k < count; k++) {
        int16_t i16 = 0;
        int32_t i32 = 0;
        memcpy(&i16, raw + k * bytes, bytes == 2 ? sizeof i16 : 0);
        memcpy(&i32, raw + k * bytes, bytes == 4 ? sizeof i32 : 0);
        memcpy(&volume->voxel[k], raw + k * bytes, bytes == 4 ? sizeof i32 : 0);
        if (code != 16)
            volume->voxel[k] = code == 2 ? raw[k] : code == 4 ? (float)i16 : (float)i32;
    }
    free(raw);
    if (file != NULL)
        (void)gzclose(file);
    if (!good)
        fprintf(stderr, "brains: cannot read %s\n", path);
    return good;
}

/* A header of the geometry of another, but for the size and the type. */
static bool write_volume(const char *path, const uint8_t *header, const int size[3], int16_t type,
                         const void *voxels) {
    uint8_t own[HEADER];
    const int16_t dim[8] = {3, (int16_t)size[2], (int16_t)size[1], (int16_t)size[0], 1, 1, 1, 1},
                  bits = type == 2 ? 8 : 16;
    memcpy(own, header, HEADER);
    memcpy(own + 40, dim, sizeof dim);
    memcpy(own + 70, &type, sizeof type);
    memcpy(own + 72, &bits, sizeof bits);
    const size_t bytes = count_of(size) * (size_t)bits / 8;
    gzFile file = gzopen(path, "wb1");
    bool good = file != NULL && gzwrite(file, own, HEADER) == HEADER &&
                gzwrite(file, voxels, (unsigned)bytes) == (int)bytes;
    if (file != NULL)
        good = gzclose(file) == Z_OK && good;
    if (!good)
        fprintf(stderr, "brains: cannot write %s\n", path);
    return good;
}

/* Half as fine; IMAGE and LABELS are changed. */
static bool write_pair(const char *folder, const char *name, const uint8_t *fine, const int whole[3],
                       int16_t *image, uint8_t *labels) {
    uint8_t header[HEADER];
    int size[3] = {whole[0], whole[1], whole[2]};
    halve(size, image, labels);
    halve_header(fine, header);
    char path[PATH];
    (void)mkdir(folder, 0777);
    snprintf(path, sizeof path, "%s/imagesTr", folder);
    (void)mkdir(path, 0777);
    snprintf(path, sizeof path, "%s/labelsTr", folder);
    (void)mkdir(path, 0777);
    snprintf(path, sizeof path, "%s/imagesTr/%s_0000.nii.gz", folder, name);
    if (!write_volume(path, header, size, 4, image))
        return false;
    snprintf(path, sizeof path, "%s/labelsTr/%s.nii.gz", folder, name);
    return write_volume(path, header, size, 2, labels);
}

/* ---- a scan ---- */

/* The box of the inside of the head, and a margin, if the map has one: [begin, begin + size). */
static void find_box(const Volume *map, int begin[3], int size[3]) {
    int end[3] = {0, 0, 0};
    for (int i = 0; i < 3; i++)
        begin[i] = map->size[i];
    for (size_t k = 0; k < count_of(map->size); k++) {
        const int at[3] = {(int)(k / (size_t)map->size[2] / (size_t)map->size[1]),
                           (int)(k / (size_t)map->size[2] % (size_t)map->size[1]),
                           (int)(k % (size_t)map->size[2])};
        if (row_of(map->voxel[k]).class == 0)
            continue;
        for (int i = 0; i < 3; i++) {
            begin[i] = at[i] < begin[i] ? at[i] : begin[i];
            end[i] = at[i] >= end[i] ? at[i] + 1 : end[i];
        }
    }
    for (int i = 0; i < 3; i++) {
        begin[i] = begin[i] > MARGIN ? begin[i] - MARGIN : 0;
        end[i] = end[i] + MARGIN < map->size[i] ? end[i] + MARGIN : map->size[i];
        size[i] = end[i] - begin[i];
    }
}

/* Each point becomes a quarter of its neighbours along an axis and half of itself. */
static void blur(float *light, const int size[3], int axis) {
    const size_t step = axis == 0 ? (size_t)size[1] * (size_t)size[2] : axis == 1 ? (size_t)size[2] : 1;
    for (size_t k = 0; k < count_of(size); k++) {
        const int at = (int)(k / step % (size_t)size[axis]);
        if (at != 0)
            continue;
        float before = light[k];
        for (int i = 0; i < size[axis]; i++) {
            float *here = light + k + (size_t)i * step;
            const float own = *here, behind = i + 1 < size[axis] ? here[step] : own;
            *here = (before + 2 * own + behind) / 4;
            before = own;
        }
    }
}

static void light_scan(Random *random, const Volume *map, const int begin[3], const int size[3],
                       float *light, uint8_t *labels) {
    double tissue[TISSUES];
    for (int i = 0; i < TISSUES; i++)
        tissue[i] = i == OUTSIDE ? 0 : brightness[i] + 0.03 * normal(random);
    const double noise = uniform(random, 0.02, 0.05), drift = uniform(random, 0, 0.25);
    const uint64_t seed = random_bits(random);
    for (int z = 0; z < size[0]; z++)
        for (int y = 0; y < size[1]; y++)
            for (int x = 0; x < size[2]; x++) {
                const Row row =
                    row_of(map->voxel[index_of(map->size, begin[0] + z, begin[1] + y, begin[2] + x)]);
                const size_t k = index_of(size, z, y, x);
                labels[k] = (uint8_t)row.class;
                light[k] =
                    (float)(tissue[row.tissue] + (row.tissue == OUTSIDE ? 0 : 0.03 * normal(random)));
            }
    for (int axis = 0; axis < 3; axis++)
        blur(light, size, axis);
    for (size_t k = 0; k < count_of(size); k++) {
        const size_t x = k % (size_t)size[2], y = k / (size_t)size[2] % (size_t)size[1],
                     z = k / (size_t)size[2] / (size_t)size[1];
        const double slow = (value_noise(seed, (double)x / 80, (double)y / 80) +
                             value_noise(seed + 1, (double)z / 80, (double)(x + y) / 80)) /
                            2;
        if (light[k] > 0.02F)
            light[k] = (float)((double)light[k] * (1 + drift * slow) + noise * normal(random));
    }
}

static bool make_scans(const char *folder, int count, int number, const char *path) {
    Volume map;
    int begin[3], size[3];
    if (!read_volume(path, &map))
        return false;
    find_box(&map, begin, size);
    float *light = malloc(count_of(size) * sizeof *light);
    int16_t *image = malloc(count_of(size) * sizeof *image);
    uint8_t *labels = malloc(count_of(size));
    bool good = light != NULL && image != NULL && labels != NULL;
    for (int n = 0; n < count && good; n++) {
        char name[64];
        Random random = {mix((uint64_t)(1000 * number + n))};
        light_scan(&random, &map, begin, size, light, labels);
        for (size_t k = 0; k < count_of(size); k++)
            image[k] = (int16_t)(1000 * clamp((double)light[k] / 1.5));
        snprintf(name, sizeof name, "brain_%d_%d", number, n);
        good = write_pair(folder, name, map.header, size, image, labels);
    }
    free(light);
    free(image);
    free(labels);
    free(map.voxel);
    return good;
}

static bool copy_scan(const char *folder, const char *path, const char *of) {
    Volume scan, map;
    if (!read_volume(path, &scan) || !read_volume(of, &map) ||
        memcmp(scan.size, map.size, sizeof scan.size) != 0)
        return false;
    int16_t *image = malloc(count_of(scan.size) * sizeof *image);
    uint8_t *labels = malloc(count_of(scan.size));
    bool good = image != NULL && labels != NULL;
    for (size_t k = 0; good && k < count_of(scan.size); k++) {
        image[k] = (int16_t)scan.voxel[k];
        labels[k] = (uint8_t)row_of(map.voxel[k]).class;
    }
    good = good && write_pair(folder, "scan", scan.header, scan.size, image, labels);
    free(image);
    free(labels);
    free(scan.voxel);
    free(map.voxel);
    return good;
}

int main(int argc, char **argv) {
    if (argc == 5 && strcmp(argv[2], "scan") == 0)
        return copy_scan(argv[1], argv[3], argv[4]) ? 0 : 1;
    const int count = argc > 3 ? atoi(argv[2]) : 0;
    if (count < 1) {
        fprintf(stderr,
                "usage: brains FOLDER COUNT MAP.nii.gz ... | brains FOLDER scan IMAGE.nii.gz MAP.nii.gz\n");
        return 2;
    }
    for (int i = 3; i < argc; i++)
        if (!make_scans(argv[1], count, i - 2, argv[i]))
            return 1;
    return 0;
}
