/* cells.c - makes pictures of cells and masks of them, to train a segmentation on.
 *
 *   cells [--count N] [--size PIXELS] [--largest PIXELS] [--classes 2|3] [--seed N] [--out FOLDER]
 *
 * Writes FOLDER/photos/0000.png ... and FOLDER/masks/0000.png ...: grey pictures of ellipses that overlap,
 * each with a brightness, a texture and a rim of its own, on an uneven ground, and noise over all. In the
 * masks 0 is ground, 128 a cell and 255 the rim of one, so that cells that touch can be told apart; of two
 * classes all of a cell is 255.  Each side of a picture is drawn from SIZE to LARGEST, which is SIZE if it
 * is not given.
 */
#include "../pictures.h"

#include <errno.h>
#include <png.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

enum { GROUND = 0, INSIDE = 128, RIM = 255, RIM_WIDTH = 2 };

typedef struct {
    double x, y, along, across; /* the middle; half of the axes */
    double cosine, sine;        /* of the direction of the first */
    double bright, grain, frequency;
    uint64_t seed; /* of the texture */
} Cell;

static Cell draw_cell(Random *random, double width, double height) {
    const double size = width < height ? width : height;
    Cell cell = {.x = uniform(random, 0, width), .y = uniform(random, 0, height)};
    cell.along = uniform(random, size / 16, size / 6);
    cell.across = cell.along * uniform(random, 0.55, 1);
    const double u = uniform(random, -1, 1), v = uniform(random, 0.1, 1), length = sqrt(u * u + v * v);
    cell.cosine = u / length;
    cell.sine = v / length;
    cell.bright = uniform(random, 0.35, 0.75);
    cell.grain = uniform(random, 0.05, 0.2);
    cell.frequency = uniform(random, 0.1, 0.5);
    cell.seed = random_bits(random);
    return cell;
}

/* How far a point is from the middle, where 1 is the edge. */
static double distance(const Cell *cell, double x, double y) {
    const double dx = x - cell->x, dy = y - cell->y;
    const double u = (dx * cell->cosine + dy * cell->sine) / cell->along;
    const double v = (dy * cell->cosine - dx * cell->sine) / cell->across;
    return sqrt(u * u + v * v);
}

typedef struct {
    int width, height;
    uint8_t inside; /* number of a cell without its rim */
    double *light;
    uint8_t *photo, *mask;
} Canvas;

/* Lays CELL over the cells that are there; rims are darker. */
static void lay(Canvas *canvas, const Cell *cell) {
    const double rim = 1 - RIM_WIDTH / cell->across;
    for (int row = 0; row < canvas->height; row++)
        for (int column = 0; column < canvas->width; column++) {
            const double far = distance(cell, column + 0.5, row + 0.5);
            const size_t at = (size_t)row * (size_t)canvas->width + (size_t)column;
            if (far > 1)
                continue;
            const double fine = value_noise(cell->seed, cell->frequency * column, cell->frequency * row);
            const double bright = cell->bright + cell->grain * fine - 0.15 * far * far;
            canvas->light[at] = far > rim ? 0.7 * bright : bright;
            canvas->mask[at] = far > rim ? RIM : canvas->inside;
        }
}

static void draw_picture(Canvas *canvas, Random *random) {
    const int cells = (int)uniform(random, 8, 18);
    const uint64_t seed = random_bits(random);
    const double ground = uniform(random, 0.15, 0.4);
    for (int row = 0; row < canvas->height; row++)
        for (int column = 0; column < canvas->width; column++) {
            const size_t at = (size_t)row * (size_t)canvas->width + (size_t)column;
            canvas->light[at] = ground + 0.12 * value_noise(seed, 0.03 * column, 0.03 * row) +
                                0.05 * value_noise(seed + 1, 0.3 * column, 0.3 * row);
            canvas->mask[at] = GROUND;
        }
    for (int i = 0; i < cells; i++) {
        const Cell cell = draw_cell(random, canvas->width, canvas->height);
        lay(canvas, &cell);
    }
    for (int i = 0; i < canvas->width * canvas->height; i++)
        canvas->photo[i] = to_byte(canvas->light[i] + 0.06 * normal(random));
}

/* ---- files ------------------------------------------------------------------------------------- */

typedef struct {
    int count, size, largest, classes;
    uint64_t seed;
    const char *out;
} Options;

static bool write_grey(const char *folder, const char *kind, int number, const Canvas *canvas,
                       const uint8_t *bytes) {
    char path[4096];
    png_image image = {.version = PNG_IMAGE_VERSION, .format = PNG_FORMAT_GRAY};
    image.width = (png_uint_32)canvas->width;
    image.height = (png_uint_32)canvas->height;
    const int length = snprintf(path, sizeof path, "%s/%s/%04d.png", folder, kind, number);
    if (length > 0 && (size_t)length < sizeof path &&
        png_image_write_to_file(&image, path, 0, bytes, 0, NULL))
        return true;
    fprintf(stderr, "cells: %s: %s\n", path, image.message);
    return false;
}

static bool make_folders(const char *out) {
    static const char *const name[] = {"", "/photos", "/masks"};
    for (int i = 0; i < 3; i++) {
        char path[4096];
        const int length = snprintf(path, sizeof path, "%s%s", out, name[i]);
        if (length < 0 || (size_t)length >= sizeof path || (mkdir(path, 0777) != 0 && errno != EEXIST)) {
            fprintf(stderr, "cells: %s: %s\n", path, strerror(errno));
            return false;
        }
    }
    return true;
}

static bool parse(Options *options, int argc, char **argv) {
    for (int i = 1; i + 1 < argc; i += 2) {
        const char *value = argv[i + 1];
        if (strcmp(argv[i], "--count") == 0)
            options->count = atoi(value);
        else if (strcmp(argv[i], "--size") == 0)
            options->size = atoi(value);
        else if (strcmp(argv[i], "--largest") == 0)
            options->largest = atoi(value);
        else if (strcmp(argv[i], "--classes") == 0)
            options->classes = atoi(value);
        else if (strcmp(argv[i], "--seed") == 0)
            options->seed = strtoull(value, NULL, 10);
        else if (strcmp(argv[i], "--out") == 0)
            options->out = value;
        else
            return false;
    }
    if (options->largest == 0)
        options->largest = options->size;
    return argc % 2 == 1 && (options->classes == 2 || options->classes == 3) && options->count >= 1 &&
           options->count <= 9999 && options->size >= 64 && options->size <= options->largest &&
           options->largest <= 4096;
}

int main(int argc, char **argv) {
    Options options = {.count = 80, .size = 128, .classes = 3, .seed = 0, .out = "."};
    if (!parse(&options, argc, argv)) {
        fputs("usage: cells [--count N] [--size PIXELS] [--largest PIXELS] [--classes 2|3] [--seed N] "
              "[--out FOLDER]\n",
              stderr);
        return 2;
    }
    const size_t points = (size_t)options.largest * (size_t)options.largest;
    Canvas canvas = {.inside = options.classes == 2 ? RIM : INSIDE,
                     .light = malloc(points * sizeof(double)),
                     .photo = malloc(points),
                     .mask = malloc(points)};
    bool good = make_folders(options.out) && canvas.light && canvas.photo && canvas.mask;
    for (int i = 0; good && i < options.count; i++) {
        Random random = {mix(options.seed ^ mix((uint64_t)i))};
        canvas.width = canvas.height = options.size;
        if (options.largest > options.size) {
            canvas.width = (int)uniform(&random, options.size, options.largest + 1);
            canvas.height = (int)uniform(&random, options.size, options.largest + 1);
        }
        draw_picture(&canvas, &random);
        good = write_grey(options.out, "photos", i, &canvas, canvas.photo) &&
               write_grey(options.out, "masks", i, &canvas, canvas.mask);
    }
    free(canvas.light);
    free(canvas.photo);
    free(canvas.mask);
    return good ? 0 : 4;
}
