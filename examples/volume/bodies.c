/* bodies.c - makes scans of bodies and tubes and the labels of them, to train a segmentation on.
 *
 *   bodies [--count N] [--first N] [--seed N] [--out FOLDER]
 *
 * Writes FOLDER/imagesTr/case_000_0000.nii.gz ... and FOLDER/labelsTr/case_000.nii.gz ... as nnU-Net has
 * them, and FOLDER/dataset.json: 40 x 96 x 96 voxels of 2.5 x 1 x 1 mm.  Bodies (class 1) are ellipsoids of
 * any direction, tubes (class 2) bend; both are about equally bright, each with a texture of its own, on an
 * uneven ground, and noise lies over all.
 */
#include "../pictures.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <zlib.h>

enum { DEPTH = 40, HEIGHT = 96, WIDTH = 96, VOXELS = DEPTH * HEIGHT * WIDTH };
enum { GROUND, BODY, TUBE };
enum { HEADER_BYTES = 352, INT16 = 4, UINT8 = 2, STEPS = 200, PATH = 512 };

static const double spacing[3] = {2.5, 1, 1}; /* z, y, x, in mm */
static const double extent[3] = {DEPTH * 2.5, HEIGHT, WIDTH};

typedef struct {
    double z, y, x;
} Point;

/* The look of a body or a tube. */
typedef struct {
    double bright, grain, frequency;
    uint64_t seed;
} Look;

typedef struct {
    double light[VOXELS];
    uint8_t label[VOXELS];
} Scan;

static Point at(int z, int y, int x) {
    return (Point){(z + 0.5) * spacing[0], (y + 0.5) * spacing[1], (x + 0.5) * spacing[2]};
}

static Point minus(Point a, Point b) {
    return (Point){a.z - b.z, a.y - b.y, a.x - b.x};
}

static double dot(Point a, Point b) {
    return a.z * b.z + a.y * b.y + a.x * b.x;
}

static Point place(Random *random) {
    return (Point){uniform(random, 0.1, 0.9) * extent[0], uniform(random, 0.1, 0.9) * extent[1],
                   uniform(random, 0.1, 0.9) * extent[2]};
}

/* A direction at right angles to the COUNT given ones, of length 1. */
static Point direction(Random *random, const Point *given, int count) {
    for (;;) {
        Point one = {normal(random), normal(random), normal(random)};
        for (int i = 0; i < count; i++) {
            const double along = dot(one, given[i]);
            one = minus(one, (Point){along * given[i].z, along * given[i].y, along * given[i].x});
        }
        const double length = sqrt(dot(one, one));
        if (length > 0.1)
            return (Point){one.z / length, one.y / length, one.x / length};
    }
}

static Look draw_look(Random *random) {
    Look look = {.bright = uniform(random, 0.55, 0.8), .grain = uniform(random, 0.03, 0.1)};
    look.frequency = uniform(random, 0.1, 0.5);
    look.seed = random_bits(random);
    return look;
}

/* The texture of two planes through the point, as there is no noise of three axes. */
static double texture(uint64_t seed, double frequency, Point p) {
    return (value_noise(seed, p.x * frequency, p.y * frequency) +
            value_noise(seed + 1, p.z * frequency, (p.x + p.y) * frequency)) /
           2;
}

static void paint(Scan *scan, int z, int y, int x, int class, const Look *look) {
    const int k = (z * HEIGHT + y) * WIDTH + x;
    scan->light[k] = look->bright + look->grain * texture(look->seed, look->frequency, at(z, y, x));
    scan->label[k] = (uint8_t) class;
}

/* ---- shapes ---- */

static void lay_body(Scan *scan, Random *random) {
    const Point middle = place(random);
    const Look look = draw_look(random);
    Point axis[3];
    double half[3];
    for (int i = 0; i < 3; i++) {
        axis[i] = direction(random, axis, i);
        half[i] = uniform(random, 6, 15);
    }
    for (int k = 0; k < VOXELS; k++) {
        const int z = k / (HEIGHT * WIDTH), y = k / WIDTH % HEIGHT, x = k % WIDTH;
        const Point from = minus(at(z, y, x), middle);
        double far = 0;
        for (int i = 0; i < 3; i++)
            far += dot(from, axis[i]) / half[i] * (dot(from, axis[i]) / half[i]);
        if (far < 1)
            paint(scan, z, y, x, BODY, &look);
    }
}

/* Voxels around P, RADIUS mm far at most. */
static void lay_ball(Scan *scan, Point p, double radius, const Look *look) {
    const double from[3] = {p.z, p.y, p.x};
    static const int size[3] = {DEPTH, HEIGHT, WIDTH};
    int low[3], high[3];
    for (int i = 0; i < 3; i++) {
        const double first = (from[i] - radius) / spacing[i], last = (from[i] + radius) / spacing[i];
        low[i] = first < 0 ? 0 : (int)first;
        high[i] = last < 0 ? -1 : last >= size[i] ? size[i] - 1 : (int)last;
    }
    for (int z = low[0]; z <= high[0]; z++)
        for (int y = low[1]; y <= high[1]; y++)
            for (int x = low[2]; x <= high[2]; x++) {
                const Point far = minus(at(z, y, x), p);
                if (dot(far, far) < radius * radius)
                    paint(scan, z, y, x, TUBE, look);
            }
}

/* Along a parabola through the box. */
static void lay_tube(Scan *scan, Random *random) {
    const Point a = place(random), b = place(random), c = place(random);
    const double radius = uniform(random, 2.5, 4);
    const Look look = draw_look(random);
    for (int i = 0; i <= STEPS; i++) {
        const double t = (double)i / STEPS, u = (1 - t) * (1 - t), v = 2 * t * (1 - t), w = t * t;
        const Point p = {u * a.z + v * b.z + w * c.z, u * a.y + v * b.y + w * c.y,
                         u * a.x + v * b.x + w * c.x};
        lay_ball(scan, p, radius, &look);
    }
}

static void make_scan(Scan *scan, uint64_t seed) {
    Random random = {mix(seed)};
    const uint64_t ground = random_bits(&random);
    for (int k = 0; k < VOXELS; k++) {
        const Point p = at(k / (HEIGHT * WIDTH), k / WIDTH % HEIGHT, k % WIDTH);
        scan->light[k] = 0.4 + 0.1 * texture(ground, 0.04, p) + 0.1 * texture(ground + 9, 0.2, p);
        scan->label[k] = GROUND;
    }
    const int bodies = 4 + (int)uniform(&random, 0, 4), tubes = 3 + (int)uniform(&random, 0, 3);
    for (int i = 0; i < bodies; i++)
        lay_body(scan, &random);
    for (int i = 0; i < tubes; i++)
        lay_tube(scan, &random);
    for (int k = 0; k < VOXELS; k++)
        scan->light[k] += 0.07 * normal(&random);
}

/* ---- files ---- */

static void put(uint8_t *header, int offset, const void *value, size_t bytes) {
    memcpy(header + offset, value, bytes);
}

/* A NIfTI-1 file of this machine's order of bytes. */
static bool write_nifti(const char *path, int16_t type, int16_t bits, const void *voxels) {
    uint8_t header[HEADER_BYTES] = {0};
    const int32_t length = 348;
    const int16_t dim[8] = {3, WIDTH, HEIGHT, DEPTH, 1, 1, 1, 1}, code = 1;
    const float sides[8] = {1, (float)spacing[2], (float)spacing[1], (float)spacing[0], 1, 1, 1, 1};
    const float begins = HEADER_BYTES;
    put(header, 0, &length, sizeof length);
    put(header, 40, dim, sizeof dim);
    put(header, 70, &type, sizeof type);
    put(header, 72, &bits, sizeof bits);
    put(header, 76, sides, sizeof sides);
    put(header, 108, &begins, sizeof begins);
    header[123] = 2; /* millimetres */
    put(header, 254, &code, sizeof code);
    for (int i = 0; i < 3; i++)
        put(header, 280 + 20 * i, &sides[1 + i], sizeof *sides);
    put(header, 344, "n+1", 4);
    gzFile file = gzopen(path, "wb1");
    const int bytes = VOXELS * bits / 8;
    bool good = file != NULL && gzwrite(file, header, sizeof header) == sizeof header &&
                gzwrite(file, voxels, (unsigned)bytes) == bytes;
    if (file != NULL)
        good = gzclose(file) == Z_OK && good;
    if (!good)
        fprintf(stderr, "bodies: cannot write %s\n", path);
    return good;
}

static bool write_scan(const Scan *scan, const char *folder, int number) {
    static int16_t voxel[VOXELS];
    char path[PATH];
    for (int k = 0; k < VOXELS; k++)
        voxel[k] = (int16_t)(1000 * clamp(scan->light[k] / 1.5) + 0.5);
    snprintf(path, sizeof path, "%s/imagesTr/case_%03d_0000.nii.gz", folder, number);
    if (!write_nifti(path, INT16, 16, voxel))
        return false;
    snprintf(path, sizeof path, "%s/labelsTr/case_%03d.nii.gz", folder, number);
    return write_nifti(path, UINT8, 8, scan->label);
}

static bool make_folder(const char *folder, const char *below) {
    char path[PATH];
    snprintf(path, sizeof path, "%s%s", folder, below);
    if (mkdir(path, 0777) == 0 || errno == EEXIST)
        return true;
    fprintf(stderr, "bodies: cannot make the folder %s\n", path);
    return false;
}

static bool write_description(const char *folder, int count) {
    char path[PATH];
    snprintf(path, sizeof path, "%s/dataset.json", folder);
    FILE *file = fopen(path, "w");
    if (file == NULL)
        return false;
    fprintf(file,
            "{\"channel_names\": {\"0\": \"scan\"}, \"labels\": {\"background\": 0, \"body\": 1, \"tube\": "
            "2},\n"
            " \"numTraining\": %d, \"file_ending\": \".nii.gz\"}\n",
            count);
    return fclose(file) == 0;
}

int main(int argc, char **argv) {
    const char *folder = "volumes";
    int count = 10, first = 0;
    uint64_t seed = 1;
    for (int i = 1; i < argc; i += 2) {
        const char *value = i + 1 < argc ? argv[i + 1] : "";
        if (strcmp(argv[i], "--out") == 0)
            folder = value;
        else if (strcmp(argv[i], "--count") == 0 && atoi(value) > 0)
            count = atoi(value);
        else if (strcmp(argv[i], "--first") == 0)
            first = atoi(value);
        else if (strcmp(argv[i], "--seed") == 0)
            seed = strtoull(value, NULL, 10);
        else {
            fprintf(stderr, "usage: bodies [--count N] [--first N] [--seed N] [--out FOLDER]\n");
            return 2;
        }
    }
    Scan *scan = malloc(sizeof *scan);
    bool good = scan != NULL && make_folder(folder, "") && make_folder(folder, "/imagesTr") &&
                make_folder(folder, "/labelsTr") && write_description(folder, count);
    for (int i = first; i < first + count && good; i++) {
        make_scan(scan, seed * 1000 + (uint64_t)i);
        good = write_scan(scan, folder, i);
    }
    free(scan);
    return good ? 0 : 1;
}
