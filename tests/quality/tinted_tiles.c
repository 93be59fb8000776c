/* tinted_tiles.c - cuts tiles out of a noisy picture and its clean partner and gives each pair a tint of
 * its own:
 *
 *     tinted_tiles NOISY.png CLEAN.png FOLDER NAME COPIES
 *
 * writes FOLDER/noisy/NAME-0.png, FOLDER/clean/NAME-0.png and so on, COPIES times as many as cover the
 * picture. A tile lies anywhere; each of its colours is multiplied by a random factor, in both partners
 * alike. A net learns to carry only those colours through that it has seen, and a few photographs show few.
 * The files depend on the arguments alone. */
#include <png.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    SIDE = 128,
    COLOURS = 3,
    TILE_BYTES = SIDE * SIDE * COLOURS,
    LONGEST_PATH = 4096,
    MOST_COPIES = 1000
};

static const double darkest = 0.05, brightest = 1.5;

typedef struct {
    png_image header;
    png_bytep rgb;
} Picture;

typedef struct {
    png_uint_32 left, top;
    double factor[COLOURS];
} Tile;

static bool fail(const char *path, const char *why) {
    fprintf(stderr, "tinted_tiles: %s: %s\n", path, why);
    return false;
}

/* SplitMix64, from 0 to below 1. */
static double next_random(uint64_t *state) {
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return (double)((z ^ (z >> 31)) >> 11) * 0x1p-53;
}

static bool read_picture(const char *path, Picture *picture) {
    png_image *header = &picture->header;
    *header = (png_image){.version = PNG_IMAGE_VERSION};
    if (!png_image_begin_read_from_file(header, path))
        return fail(path, header->message);
    header->format = PNG_FORMAT_RGB;
    picture->rgb = malloc(PNG_IMAGE_SIZE(*header));
    if (!picture->rgb || !png_image_finish_read(header, NULL, picture->rgb, 0, NULL)) {
        png_image_free(header);
        return fail(path, "cannot be read");
    }
    return true;
}

static bool write_tile(const Picture *picture, const Tile *tile, const char *path) {
    png_byte rgb[TILE_BYTES], *out = rgb;
    for (size_t y = 0; y < SIDE; y++) {
        const png_byte *in =
            picture->rgb + ((tile->top + y) * picture->header.width + tile->left) * COLOURS;
        for (size_t i = 0; i < (size_t)SIDE * COLOURS; i++) {
            double value = in[i] * tile->factor[i % COLOURS] + 0.5;
            *out++ = value < 255 ? (png_byte)value : 255;
        }
    }
    png_image image = {.version = PNG_IMAGE_VERSION,
                       .width = SIDE,
                       .height = SIDE,
                       .format = PNG_FORMAT_RGB,
                       .flags = PNG_IMAGE_FLAG_FAST};
    return png_image_write_to_file(&image, path, 0, rgb, 0, NULL) || fail(path, image.message);
}

static bool write_tiles(const Picture pictures[2], const char *folder, const char *name, int copies) {
    static const char *const kinds[2] = {"noisy", "clean"};
    const png_image *size = &pictures[0].header;
    size_t cover = (size_t)((size->width + SIDE - 1) / SIDE) * ((size->height + SIDE - 1) / SIDE);
    uint64_t state = 0;
    for (const char *c = name; *c != '\0'; c++) /* tints differ from picture to picture */
        state = state * 31 + (unsigned char)*c;
    for (size_t number = 0; number < cover * (size_t)copies; number++) {
        Tile tile = {.left = (png_uint_32)((size->width - SIDE + 1) * next_random(&state)),
                     .top = (png_uint_32)((size->height - SIDE + 1) * next_random(&state))};
        for (int c = 0; c < COLOURS; c++)
            tile.factor[c] = darkest + (brightest - darkest) * next_random(&state);
        for (int k = 0; k < 2; k++) {
            char path[LONGEST_PATH];
            int length = snprintf(path, sizeof path, "%s/%s/%s-%zu.png", folder, kinds[k], name, number);
            if (length < 0 || (size_t)length >= sizeof path)
                return fail(folder, "too long a name");
            if (!write_tile(&pictures[k], &tile, path))
                return false;
        }
    }
    return true;
}

static bool run(char **argv, Picture pictures[2], int copies) {
    if (!read_picture(argv[1], &pictures[0]) || !read_picture(argv[2], &pictures[1]))
        return false;
    const png_image *noisy = &pictures[0].header, *clean = &pictures[1].header;
    if (noisy->width != clean->width || noisy->height != clean->height)
        return fail(argv[2], "not as large as the noisy picture");
    if (noisy->width < SIDE || noisy->height < SIDE)
        return fail(argv[1], "smaller than a tile");
    return write_tiles(pictures, argv[3], argv[4], copies);
}

int main(int argc, char **argv) {
    char *end = NULL;
    long copies = argc == 6 ? strtol(argv[5], &end, 10) : 0;
    if (copies < 1 || copies > MOST_COPIES || *end != '\0') {
        fputs("usage: tinted_tiles NOISY.png CLEAN.png FOLDER NAME COPIES (1 to 1000)\n", stderr);
        return 2;
    }
    Picture pictures[2] = {{.rgb = NULL}, {.rgb = NULL}};
    bool good = run(argv, pictures, (int)copies);
    free(pictures[0].rgb);
    free(pictures[1].rgb);
    return good ? 0 : 4;
}
