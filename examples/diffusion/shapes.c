/* shapes.c - makes small pictures to train a diffusion model on: a disc or a square on a shaded ground.
 *
 * Place, size, turn and two colours are drawn; edges are anti-aliased.  Pictures for training are files of
 * their own.  Others, which are held back, stand side by side in one picture, as samples of a model do.
 */
#include "../pictures.h"

#include <errno.h>
#include <png.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

enum { SIDE = 16, MARGIN = 2, FINE = 4 }; /* FINE: points of each pixel, along each axis */

/* ---- one picture ------------------------------------------------------------------------------- */

typedef struct {
    bool square;
    double x, y, radius, across[2]; /* across: the direction of a side of the square */
    double colour[3], ground[3], slope[2];
} Scene;

static Scene draw_scene(Random *random) {
    Scene s = {.square = uniform(random, 0, 1) < 0.5};
    s.radius = uniform(random, 2.5, 5);
    s.x = uniform(random, s.radius, SIDE - s.radius);
    s.y = uniform(random, s.radius, SIDE - s.radius);
    do {
        s.across[0] = uniform(random, -1, 1);
        s.across[1] = uniform(random, -1, 1);
    } while (s.across[0] * s.across[0] + s.across[1] * s.across[1] > 1);
    const double length = sqrt(s.across[0] * s.across[0] + s.across[1] * s.across[1]);
    for (int k = 0; k < 2; k++) {
        s.across[k] /= length;
        s.slope[k] = uniform(random, -0.015, 0.015);
    }
    for (int c = 0; c < 3; c++) { /* bright on dark */
        s.ground[c] = uniform(random, 0.05, 0.4);
        s.colour[c] = uniform(random, 0.5, 1);
    }
    return s;
}

static bool covers(const Scene *s, double x, double y) {
    const double dx = x - s->x, dy = y - s->y;
    const double along = dx * s->across[0] + dy * s->across[1],
                 beside = dy * s->across[0] - dx * s->across[1];
    const double side = 0.8 * s->radius;
    return s->square ? fabs(along) <= side && fabs(beside) <= side
                     : dx * dx + dy * dy <= s->radius * s->radius;
}

/* RGB goes to a place in a picture of STRIDE bytes a row. */
static void draw(const Scene *s, uint8_t *to, size_t stride) {
    for (int y = 0; y < SIDE; y++)
        for (int x = 0; x < SIDE; x++) {
            int inside = 0;
            for (int k = 0; k < FINE * FINE; k++)
                inside += covers(s, x + (k % FINE + 0.5) / FINE, y + (k / FINE + 0.5) / FINE);
            const double share = (double)inside / (FINE * FINE),
                         shade = s->slope[0] * (x - SIDE / 2) + s->slope[1] * (y - SIDE / 2);
            for (int c = 0; c < 3; c++)
                to[(size_t)y * stride + 3 * (size_t)x + (size_t)c] =
                    to_byte(share * s->colour[c] + (1 - share) * (s->ground[c] + shade));
        }
}

/* ---- files ------------------------------------------------------------------------------------- */

static bool write_png(const char *path, int height, int width, const uint8_t *rgb) {
    png_image image = {.version = PNG_IMAGE_VERSION,
                       .width = (png_uint_32)width,
                       .height = (png_uint_32)height,
                       .format = PNG_FORMAT_RGB};
    if (png_image_write_to_file(&image, path, 0, rgb, 0, NULL) != 0)
        return true;
    fprintf(stderr, "shapes: %s: %s\n", path, image.message);
    return false;
}

static bool write_pictures(const char *folder, int count, Random *random) {
    uint8_t rgb[3 * SIDE * SIDE];
    char path[4096];
    bool good = mkdir(folder, 0777) == 0 || errno == EEXIST;
    for (int i = 0; i < count && good; i++) {
        const Scene scene = draw_scene(random);
        draw(&scene, rgb, 3 * SIDE);
        const int length = snprintf(path, sizeof path, "%s/%05d.png", folder, i);
        good = length > 0 && (size_t)length < sizeof path && write_png(path, SIDE, SIDE, rgb);
    }
    return good;
}

/* ACROSS * ACROSS pictures side by side. */
static bool write_sheet(const char *path, int across, Random *random) {
    const int side = across * (SIDE + MARGIN) + MARGIN;
    const size_t stride = 3 * (size_t)side;
    uint8_t *rgb = calloc((size_t)side, stride);
    for (int i = 0; i < across * across && rgb != NULL; i++) {
        const Scene scene = draw_scene(random);
        const size_t top = (size_t)(i / across * (SIDE + MARGIN) + MARGIN),
                     left = (size_t)(i % across * (SIDE + MARGIN) + MARGIN);
        draw(&scene, rgb + top * stride + 3 * left, stride);
    }
    const bool good = rgb != NULL && write_png(path, side, side, rgb);
    free(rgb);
    return good;
}

int main(int argc, char **argv) {
    if (argc != 6) {
        fputs(
            "usage: shapes FOLDER COUNT SEED SHEET ACROSS\n"
            "writes FOLDER/00000.png ... for training, and ACROSS x ACROSS others side by side to SHEET\n",
            stderr);
        return 2;
    }
    const int count = atoi(argv[2]), across = atoi(argv[5]);
    Random random = {mix(strtoull(argv[3], NULL, 10))};
    if (count < 1 || count > 99999 || across < 1 || across > 100)
        return 2;
    return write_pictures(argv[1], count, &random) && write_sheet(argv[4], across, &random) ? 0 : 4;
}
