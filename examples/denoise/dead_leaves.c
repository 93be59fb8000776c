/* dead_leaves.c - makes pairs of noisy and clean pictures to train a denoiser on.
 *
 * A dead-leaves picture is what one sees from above a forest floor: discs of random place, colour and size
 * that hide each other.  With radii that follow a power law it has the statistics of photographs that
 * matter for denoising: edges at every scale, flat and textured regions, occlusion (Lee, Mumford, Huang
 * 2001).
 *
 * Leaves are laid from front to back until no pixel shows the ground.  Each has a colour, a gradual shading
 * and a texture of its own; edges are anti-aliased.  The noise is white and normal.
 */
#include "../pictures.h"

#include <errno.h>
#include <png.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

/* ---- one leaf ---------------------------------------------------------------------------------- */

typedef struct {
    double x, y, radius;
    double colour[3];
    double slope[2];  /* shading: change of brightness from the middle to the edge */
    double grain;     /* amplitude of the texture */
    double frequency; /* of the texture, in cells per pixel */
    uint64_t seed;    /* of the texture */
} Leaf;

/* The density of radii is proportional to r^-3: its distribution is inverted by a square root. */
static double draw_radius(Random *random, double smallest, double largest) {
    double a = 1 / (smallest * smallest), b = 1 / (largest * largest);
    return 1 / sqrt(uniform(random, b, a));
}

static Leaf draw_leaf(Random *random, double size) {
    Leaf leaf = {0};
    leaf.radius = draw_radius(random, size / 40, size / 2);
    leaf.x = uniform(random, -leaf.radius, size + leaf.radius);
    leaf.y = uniform(random, -leaf.radius, size + leaf.radius);

    /* Photographs vary most in brightness, less from blue to yellow, least from green to red. */
    double bright = 0.06 + 0.94 * clamp(0.42 + 0.22 * normal(random));
    double yellow = 0.03 + 0.08 * normal(random), red = 0.03 * normal(random);
    leaf.colour[0] = bright + yellow / 2 + red;
    leaf.colour[1] = bright + yellow / 2 - red;
    leaf.colour[2] = bright - yellow;

    leaf.slope[0] = 0.08 * normal(random);
    leaf.slope[1] = 0.08 * normal(random);
    double rough = uniform(random, 0, 1);
    leaf.grain = 0.25 * rough * rough;
    leaf.frequency = uniform(random, 0.05, 0.4);
    leaf.seed = random_bits(random);
    return leaf;
}

/* ---- a picture --------------------------------------------------------------------------------- */

typedef struct {
    int size;
    double *rgb;     /* light collected so far */
    double *visible; /* share of the pixel through which deeper leaves show */
} Canvas;

/* Lays LEAF under the leaves that are there; returns how much of all pixels it hid. */
static double lay(Canvas *canvas, const Leaf *leaf) {
    double hidden = 0, size = canvas->size;
    int left = (int)fmax(0, floor(leaf->x - leaf->radius - 1));
    int right = (int)fmin(size, ceil(leaf->x + leaf->radius + 1));
    int top = (int)fmax(0, floor(leaf->y - leaf->radius - 1));
    int bottom = (int)fmin(size, ceil(leaf->y + leaf->radius + 1));
    for (int row = top; row < bottom; row++)
        for (int column = left; column < right; column++) {
            size_t pixel = (size_t)row * (size_t)canvas->size + (size_t)column;
            double dx = column + 0.5 - leaf->x, dy = row + 0.5 - leaf->y;
            double cover = clamp(leaf->radius - sqrt(dx * dx + dy * dy) + 0.5) * canvas->visible[pixel];
            if (cover == 0)
                continue;
            double shade = (leaf->slope[0] * dx + leaf->slope[1] * dy) / leaf->radius;
            double fine = value_noise(leaf->seed, leaf->frequency * column, leaf->frequency * row);
            double bright = 1 + shade + leaf->grain * fine;
            for (int c = 0; c < 3; c++)
                canvas->rgb[3 * pixel + (size_t)c] += cover * clamp(leaf->colour[c] * bright);
            canvas->visible[pixel] -= cover;
            hidden += cover;
        }
    return hidden;
}

static void draw_picture(Canvas *canvas, Random *random) {
    size_t pixels = (size_t)canvas->size * (size_t)canvas->size;
    for (size_t i = 0; i < pixels; i++)
        canvas->visible[i] = 1;
    memset(canvas->rgb, 0, 3 * pixels * sizeof *canvas->rgb);
    double ground = (double)pixels;
    while (ground > 0.5) {
        Leaf leaf = draw_leaf(random, canvas->size);
        ground -= lay(canvas, &leaf);
    }
}

static bool write_png(const char *path, int size, const uint8_t *rgb) {
    png_image image = {.version = PNG_IMAGE_VERSION, .format = PNG_FORMAT_RGB};
    image.width = image.height = (png_uint_32)size;
    if (png_image_write_to_file(&image, path, 0, rgb, 0, NULL))
        return true;
    fprintf(stderr, "dead_leaves: %s: %s\n", path, image.message);
    return false;
}

/* ---- the program ------------------------------------------------------------------------------- */

typedef struct {
    int count, size;
    double sigma; /* of the noise, in grey values of 0 to 255 */
    uint64_t seed;
    const char *out;
} Options;

static bool write_pair(const Options *options, Canvas *canvas, uint8_t *bytes, int number) {
    Random random = {mix(options->seed ^ mix((uint64_t)number))};
    size_t values = 3 * (size_t)options->size * (size_t)options->size;
    char path[4096];
    draw_picture(canvas, &random);
    for (size_t i = 0; i < values; i++)
        bytes[i] = to_byte(canvas->rgb[i]);
    snprintf(path, sizeof path, "%s/clean/%04d.png", options->out, number);
    if (!write_png(path, options->size, bytes))
        return false;
    for (size_t i = 0; i < values; i++)
        bytes[i] = to_byte((bytes[i] + options->sigma * normal(&random)) / 255);
    snprintf(path, sizeof path, "%s/noisy/%04d.png", options->out, number);
    return write_png(path, options->size, bytes);
}

static bool make_folder(const char *parent, const char *name) {
    char path[4096];
    int length = snprintf(path, sizeof path, "%s%s", parent, name);
    if (length >= 0 && (size_t)length < sizeof path - 32 && (mkdir(path, 0777) == 0 || errno == EEXIST))
        return true;
    fprintf(stderr, "dead_leaves: %s%s: %s\n", parent, name, strerror(errno));
    return false;
}

static int usage(void) {
    fputs("usage: dead_leaves [--count N] [--size PIXELS] [--sigma GREY_VALUES] [--seed N] [--out FOLDER]\n"
          "writes FOLDER/clean/0000.png ... and FOLDER/noisy/0000.png ...\n",
          stderr);
    return 2;
}

static bool parse(Options *options, int argc, char **argv) {
    if (argc % 2 == 0)
        return false;
    for (int i = 1; i < argc; i += 2) {
        const char *name = argv[i], *value = argv[i + 1];
        if (strcmp(name, "--count") == 0)
            options->count = atoi(value);
        else if (strcmp(name, "--size") == 0)
            options->size = atoi(value);
        else if (strcmp(name, "--sigma") == 0)
            options->sigma = strtod(value, NULL);
        else if (strcmp(name, "--seed") == 0)
            options->seed = strtoull(value, NULL, 10);
        else if (strcmp(name, "--out") == 0)
            options->out = value;
        else
            return false;
    }
    return options->count >= 1 && options->count <= 9999 && options->size >= 16 && options->size <= 4096 &&
           options->sigma >= 0 && options->sigma <= 255;
}

int main(int argc, char **argv) {
    Options options = {.count = 100, .size = 256, .sigma = 25, .seed = 0, .out = "."};
    if (!parse(&options, argc, argv))
        return usage();
    if (!make_folder(options.out, "") || !make_folder(options.out, "/clean") ||
        !make_folder(options.out, "/noisy"))
        return 4;

    size_t pixels = (size_t)options.size * (size_t)options.size;
    Canvas canvas = {options.size, malloc(3 * pixels * sizeof(double)), malloc(pixels * sizeof(double))};
    uint8_t *bytes = malloc(3 * pixels);
    bool good = canvas.rgb && canvas.visible && bytes;
    for (int i = 0; good && i < options.count; i++)
        good = write_pair(&options, &canvas, bytes, i);
    free(canvas.rgb);
    free(canvas.visible);
    free(bytes);
    return good ? 0 : 4;
}
