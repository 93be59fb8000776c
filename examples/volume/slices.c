/* slices.c - shows predicted classes in three slices through a volume, and tells how right they are.
 *
 *   slices RESULT.png CLASSES IMAGE LABELS PREDICTION [IMAGE LABELS PREDICTION ...]
 *
 * Volumes are NIfTI-1 files of this machine's order of bytes, .nii or .nii.gz.  Prints Dice of each class
 * above 0: of each volume, and the mean over volumes that have the class.  The picture is of the first
 * volume: in each row three slices at right angles, through the slices that have most labelled voxels;
 * above the labels, below the prediction, in colours over the image.  Voxels are drawn as large as they
 * are.
 */
#include "../pictures.h"

#include <png.h>
#include <stdio.h>
#include <stdlib.h>
#include <zlib.h>

enum { AXES = 3, MOST_CLASSES = 256, GAP = 6, PANEL = 300 };

typedef struct {
    int size[AXES]; /* z, y, x */
    double spacing[AXES];
    float *voxel;
} Volume;

static const uint8_t colours[][3] = {{230, 70, 60},  {60, 180, 250}, {250, 210, 60}, {110, 210, 90},
                                     {200, 90, 220}, {250, 140, 40}, {70, 220, 200}, {240, 130, 180}};
enum { COLOURS = sizeof colours / sizeof *colours };

/* ---- reading ---- */

static size_t count_of(const Volume *volume) {
    return (size_t)volume->size[0] * (size_t)volume->size[1] * (size_t)volume->size[2];
}

static float number_at(const uint8_t *bytes, int type) {
    int8_t i8;
    int16_t i16;
    uint16_t u16;
    int32_t i32;
    float f32;
    double f64;
    switch (type) {
    case 2:
        return bytes[0];
    case 4:
        return memcpy(&i16, bytes, sizeof i16), i16;
    case 8:
        return memcpy(&i32, bytes, sizeof i32), (float)i32;
    case 16:
        return memcpy(&f32, bytes, sizeof f32), f32;
    case 64:
        return memcpy(&f64, bytes, sizeof f64), (float)f64;
    case 256:
        return memcpy(&i8, bytes, sizeof i8), i8;
    case 512:
        return memcpy(&u16, bytes, sizeof u16), u16;
    default:
        return 0;
    }
}

static bool read_header(gzFile file, Volume *volume, int *type, int *bytes) {
    uint8_t header[348], skipped;
    int16_t dim[8], code, bits;
    float side[8], begins;
    if (gzread(file, header, sizeof header) != sizeof header || memcmp(header + 344, "n+1", 4) != 0)
        return false;
    memcpy(dim, header + 40, sizeof dim);
    memcpy(&code, header + 70, sizeof code);
    memcpy(&bits, header + 72, sizeof bits);
    memcpy(side, header + 76, sizeof side);
    memcpy(&begins, header + 108, sizeof begins);
    for (int i = 0; i < AXES; i++) {
        volume->size[i] = dim[3 - i];
        volume->spacing[i] = side[3 - i] > 0 ? (double)side[3 - i] : 1;
        if (dim[3 - i] < 1)
            return false;
    }
    *type = code;
    *bytes = bits / 8;
    for (int k = sizeof header; k < (int)begins; k++)
        if (gzread(file, &skipped, 1) != 1)
            return false;
    return *bytes >= 1 && *bytes <= 8;
}

static bool read_voxels(gzFile file, Volume *volume) {
    int type, bytes;
    if (!read_header(file, volume, &type, &bytes))
        return false;
    const size_t row = (size_t)volume->size[2] * (size_t)bytes;
    uint8_t *line = malloc(row);
    volume->voxel = malloc(count_of(volume) * sizeof *volume->voxel);
    bool good = line != NULL && volume->voxel != NULL;
    for (size_t k = 0; good && k < count_of(volume); k += (size_t)volume->size[2]) {
        good = gzread(file, line, (unsigned)row) == (int)row;
        for (int x = 0; good && x < volume->size[2]; x++)
            volume->voxel[k + (size_t)x] = number_at(line + x * bytes, type);
    }
    free(line);
    return good;
}

static bool read_volume(const char *path, Volume *volume) {
    gzFile file = gzopen(path, "rb");
    *volume = (Volume){.voxel = NULL};
    const bool good = file != NULL && read_voxels(file, volume);
    if (file != NULL)
        (void)gzclose(file);
    if (!good)
        fprintf(stderr, "slices: cannot read %s as a NIfTI-1 volume\n", path);
    return good;
}

/* ---- Dice ---- */

/* Dice of CLASS; negative if neither has it. */
static double dice(const Volume *truth, const Volume *found, int class) {
    size_t both = 0, all = 0;
    for (size_t k = 0; k < count_of(truth); k++) {
        const bool is = (int)truth->voxel[k] == class, said = (int)found->voxel[k] == class;
        both += is && said;
        all += (size_t)is + (size_t)said;
    }
    return all == 0 ? -1 : 2 * (double)both / (double)all;
}

typedef struct {
    double sum[MOST_CLASSES];
    int count[MOST_CLASSES];
} Means;

static void tell(const char *name, const Volume *truth, const Volume *found, int classes, Means *means) {
    const char *slash = strrchr(name, '/');
    printf("%-28s", slash != NULL ? slash + 1 : name);
    for (int c = 1; c < classes; c++) {
        const double one = dice(truth, found, c);
        means->sum[c] += one < 0 ? 0 : one;
        means->count[c] += one >= 0;
        if (one < 0)
            printf("       -");
        else
            printf("  %6.4f", one);
    }
    printf("\n");
}

static void tell_means(const Means *means, int classes) {
    double sum = 0;
    int count = 0;
    printf("%-28s", "mean");
    for (int c = 1; c < classes; c++) {
        const double mean = means->count[c] > 0 ? means->sum[c] / means->count[c] : 0;
        printf("  %6.4f", mean);
        sum += mean;
        count += means->count[c] > 0;
    }
    printf("   of all classes %.4f\n", count > 0 ? sum / count : 0);
}

/* ---- the picture ---- */

/* The slice along AXIS with most voxels above 0. */
static int fullest(const Volume *labels, int axis) {
    int best = labels->size[axis] / 2;
    size_t most = 0, *count = calloc((size_t)labels->size[axis], sizeof *count);
    for (size_t k = 0; count != NULL && k < count_of(labels); k++) {
        const size_t x = k % (size_t)labels->size[2],
                     y = k / (size_t)labels->size[2] % (size_t)labels->size[1],
                     z = k / (size_t)labels->size[2] / (size_t)labels->size[1];
        if (labels->voxel[k] > 0)
            count[axis == 0 ? z : axis == 1 ? y : x]++;
    }
    for (int i = 0; count != NULL && i < labels->size[axis]; i++)
        if (count[i] > most) {
            most = count[i];
            best = i;
        }
    free(count);
    return best;
}

/* Grey between the hundredth and the ninety-nine hundredths of all voxels. */
static void find_range(const Volume *image, float range[2]) {
    enum { BINS = 4096 };
    float low = image->voxel[0], high = image->voxel[0];
    static size_t bin[BINS];
    for (size_t k = 0; k < count_of(image); k++) {
        low = image->voxel[k] < low ? image->voxel[k] : low;
        high = image->voxel[k] > high ? image->voxel[k] : high;
    }
    const float width = high > low ? (high - low) / BINS : 1;
    for (size_t k = 0; k < count_of(image); k++) {
        const int b = (int)((image->voxel[k] - low) / width);
        bin[b < BINS ? b : BINS - 1]++;
    }
    size_t sum = 0, all = count_of(image);
    range[0] = low;
    range[1] = high;
    for (int b = 0; b < BINS; b++) {
        const size_t before = sum;
        sum += bin[b];
        if (before <= all / 100 && sum > all / 100)
            range[0] = low + width * (float)b;
        if (before <= all / 100 * 99 && sum > all / 100 * 99)
            range[1] = low + width * (float)(b + 1);
    }
}

typedef struct {
    int width, height;
    uint8_t *point; /* RGB */
} Picture;

/* One slice at right angles to AXIS, in a square from COLUMN, ROW on. */
static void draw(Picture *picture, int column, int row, const Volume *image, const float range[2],
                 const Volume *labels, const int through[AXES], int axis) {
    const int down = axis == 0 ? 1 : 0, right = axis == 2 ? 1 : 2;
    const double tall = image->size[down] * image->spacing[down],
                 wide = image->size[right] * image->spacing[right],
                 scale = (tall > wide ? tall : wide) / PANEL;
    for (int i = 0; i < (int)(tall / scale); i++)
        for (int j = 0; j < (int)(wide / scale); j++) {
            int at[AXES];
            memcpy(at, through, sizeof at);
            at[down] = (int)((i + 0.5) * scale / image->spacing[down]);
            at[right] = (int)((j + 0.5) * scale / image->spacing[right]);
            if (axis != 0) /* the head is above */
                at[0] = image->size[0] - 1 - at[0];
            const size_t k =
                ((size_t)at[0] * (size_t)image->size[1] + (size_t)at[1]) * (size_t)image->size[2] +
                (size_t)at[2];
            const double grey = clamp(
                (double)((image->voxel[k] - range[0]) / (range[1] > range[0] ? range[1] - range[0] : 1)));
            const int class = (int)labels->voxel[k];
            uint8_t *point =
                picture->point + ((size_t)(row + i) * (size_t)picture->width + (size_t)(column + j)) * 3;
            for (int c = 0; c < 3; c++) {
                const double colour = class > 0 ? colours[(class - 1) % COLOURS][c] / 255.0 : grey;
                point[c] = to_byte(class > 0 ? 0.5 * grey + 0.5 * colour : grey);
            }
        }
}

static bool write_png(const char *path, const Picture *picture) {
    png_image png = {.version = PNG_IMAGE_VERSION,
                     .width = (png_uint_32)picture->width,
                     .height = (png_uint_32)picture->height,
                     .format = PNG_FORMAT_RGB};
    const bool good = png_image_write_to_file(&png, path, 0, picture->point, 0, NULL) != 0;
    if (!good)
        fprintf(stderr, "slices: cannot write %s: %s\n", path, png.message);
    return good;
}

static bool show(const char *path, const Volume *image, const Volume *truth, const Volume *found) {
    Picture picture = {.width = AXES * PANEL + (AXES + 1) * GAP, .height = 2 * PANEL + 3 * GAP};
    int through[AXES];
    float range[2];
    picture.point = calloc((size_t)picture.width * (size_t)picture.height, 3);
    if (picture.point == NULL)
        return false;
    find_range(image, range);
    for (int axis = 0; axis < AXES; axis++)
        through[axis] = fullest(truth, axis);
    for (int k = 0; k < 2 * AXES; k++)
        draw(&picture, GAP + k % AXES * (PANEL + GAP), GAP + k / AXES * (PANEL + GAP), image, range,
             k < AXES ? truth : found, through, k % AXES);
    const bool good = write_png(path, &picture);
    free(picture.point);
    return good;
}

/* ---- the program ---- */

static bool same_size(const Volume *a, const Volume *b) {
    return memcmp(a->size, b->size, sizeof a->size) == 0;
}

/* One volume: FILE[0] the image, FILE[1] its labels, FILE[2] what was predicted. */
static bool compare(char **file, const char *picture, int classes, Means *means) {
    Volume volume[3] = {{.voxel = NULL}, {.voxel = NULL}, {.voxel = NULL}};
    bool good = true;
    for (int i = 0; i < 3 && good; i++)
        good = read_volume(file[i], &volume[i]);
    if (good && (!same_size(&volume[0], &volume[1]) || !same_size(&volume[0], &volume[2]))) {
        fprintf(stderr, "slices: %s, %s and %s have different sizes\n", file[0], file[1], file[2]);
        good = false;
    }
    if (good)
        tell(file[2], &volume[1], &volume[2], classes, means);
    if (good && picture != NULL)
        good = show(picture, &volume[0], &volume[1], &volume[2]);
    for (int i = 0; i < 3; i++)
        free(volume[i].voxel);
    return good;
}

int main(int argc, char **argv) {
    Means means = {{0}, {0}};
    const int classes = argc > 2 ? atoi(argv[2]) : 0;
    if (argc < 6 || argc % 3 != 0 || classes < 2 || classes > MOST_CLASSES) {
        fprintf(stderr,
                "usage: slices RESULT.png CLASSES IMAGE LABELS PREDICTION [IMAGE LABELS PREDICTION ...]\n");
        return 2;
    }
    printf("%-28s", "Dice");
    for (int c = 1; c < classes; c++)
        printf("  class %d", c);
    printf("\n");
    for (int i = 3; i + 2 < argc; i += 3)
        if (!compare(argv + i, i == 3 ? argv[1] : NULL, classes, &means))
            return 1;
    tell_means(&means, classes);
    return 0;
}
