/* side_by_side.c - one picture out of three: noisy, denoised and clean, with the PSNR written below.
 *
 *   side_by_side OUT.png NOISY.png DENOISED.png CLEAN.png
 *
 * Prints the same figures and their difference, the gain in decibels.
 */
#include <math.h>
#include <png.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PICTURES = 3, GAP = 8, FONT_WIDTH = 5, FONT_HEIGHT = 7, FONT_SCALE = 2, CAPTION = 28 };

typedef struct {
    int width, height;
    uint8_t *rgb;
} Picture;

/* ---- captions ---------------------------------------------------------------------------------- */

typedef struct {
    char letter;
    uint8_t row[FONT_HEIGHT]; /* bit 4 is the leftmost point */
} Glyph;

/* The letters that captions use, 5 by 7 points each. */
static const Glyph font[] = {
    {'0', {14, 17, 19, 21, 25, 17, 14}}, {'1', {4, 12, 4, 4, 4, 4, 14}},
    {'2', {14, 17, 1, 2, 4, 8, 31}},     {'3', {31, 2, 4, 2, 1, 17, 14}},
    {'4', {2, 6, 10, 18, 31, 2, 2}},     {'5', {31, 16, 30, 1, 1, 17, 14}},
    {'6', {6, 8, 16, 30, 17, 17, 14}},   {'7', {31, 1, 2, 4, 8, 8, 8}},
    {'8', {14, 17, 17, 14, 17, 17, 14}}, {'9', {14, 17, 17, 15, 1, 2, 12}},
    {'.', {0, 0, 0, 0, 0, 12, 12}},      {'B', {30, 17, 17, 30, 17, 17, 30}},
    {'a', {0, 0, 14, 1, 15, 17, 15}},    {'c', {0, 0, 14, 16, 16, 17, 14}},
    {'d', {1, 1, 13, 19, 17, 17, 15}},   {'e', {0, 0, 14, 17, 31, 16, 14}},
    {'i', {4, 0, 12, 4, 4, 4, 14}},      {'l', {12, 4, 4, 4, 4, 4, 14}},
    {'n', {0, 0, 22, 25, 17, 17, 17}},   {'o', {0, 0, 14, 17, 17, 17, 14}},
    {'s', {0, 0, 14, 16, 14, 1, 30}},    {'y', {0, 0, 17, 17, 15, 1, 14}},
};

static const Glyph *find_glyph(char letter) {
    for (size_t i = 0; i < sizeof font / sizeof *font; i++)
        if (font[i].letter == letter)
            return &font[i];
    return NULL; /* a space */
}

static void write_point(Picture *picture, int x, int y) {
    for (int row = y; row < y + FONT_SCALE; row++)
        for (int column = x; column < x + FONT_SCALE; column++)
            if (row < picture->height && column < picture->width)
                memset(picture->rgb + 3 * ((size_t)row * (size_t)picture->width + (size_t)column), 0, 3);
}

static void write_text(Picture *picture, int x, int y, const char *text) {
    for (; *text; text++, x += (FONT_WIDTH + 1) * FONT_SCALE) {
        const Glyph *glyph = find_glyph(*text);
        for (int row = 0; glyph && row < FONT_HEIGHT; row++)
            for (int column = 0; column < FONT_WIDTH; column++)
                if (glyph->row[row] >> (FONT_WIDTH - 1 - column) & 1)
                    write_point(picture, x + column * FONT_SCALE, y + row * FONT_SCALE);
    }
}

/* ---- pictures ---------------------------------------------------------------------------------- */

static bool read_picture(Picture *picture, const char *path) {
    png_image image = {.version = PNG_IMAGE_VERSION};
    if (png_image_begin_read_from_file(&image, path)) {
        image.format = PNG_FORMAT_RGB;
        picture->width = (int)image.width;
        picture->height = (int)image.height;
        picture->rgb = malloc(PNG_IMAGE_SIZE(image));
        png_color white = {255, 255, 255};
        if (picture->rgb && png_image_finish_read(&image, &white, picture->rgb, 0, NULL))
            return true;
        png_image_free(&image);
    }
    fprintf(stderr, "side_by_side: %s: %s\n", path, image.message);
    return false;
}

static double psnr(const Picture *a, const Picture *b) {
    size_t values = 3 * (size_t)a->width * (size_t)a->height;
    double sum = 0;
    for (size_t i = 0; i < values; i++) {
        double difference = a->rgb[i] - b->rgb[i];
        sum += difference * difference;
    }
    return 10 * log10(255.0 * 255.0 * (double)values / sum);
}

static bool compose(const char *path, const Picture pictures[PICTURES], char captions[PICTURES][32]) {
    int width = pictures[0].width, height = pictures[0].height;
    Picture page = {PICTURES * width + (PICTURES - 1) * GAP, height + CAPTION, NULL};
    size_t bytes = 3 * (size_t)page.width * (size_t)page.height;
    page.rgb = malloc(bytes);
    if (!page.rgb)
        return false;
    memset(page.rgb, 255, bytes);
    for (int i = 0; i < PICTURES; i++) {
        int left = i * (width + GAP);
        for (int row = 0; row < height; row++)
            memcpy(page.rgb + 3 * ((size_t)row * (size_t)page.width + (size_t)left),
                   pictures[i].rgb + 3 * (size_t)row * (size_t)width, 3 * (size_t)width);
        write_text(&page, left, height + (CAPTION - FONT_HEIGHT * FONT_SCALE) / 2, captions[i]);
    }
    png_image image = {.version = PNG_IMAGE_VERSION, .format = PNG_FORMAT_RGB};
    image.width = (png_uint_32)page.width;
    image.height = (png_uint_32)page.height;
    bool good = png_image_write_to_file(&image, path, 0, page.rgb, 0, NULL) != 0;
    if (!good)
        fprintf(stderr, "side_by_side: %s: %s\n", path, image.message);
    free(page.rgb);
    return good;
}

static bool run(char **paths, Picture pictures[PICTURES]) {
    for (int i = 0; i < PICTURES; i++) {
        if (!read_picture(&pictures[i], paths[1 + i]))
            return false;
        if (pictures[i].width != pictures[0].width || pictures[i].height != pictures[0].height) {
            fprintf(stderr, "side_by_side: %s is not of the size of %s\n", paths[1 + i], paths[1]);
            return false;
        }
    }
    double before = psnr(&pictures[0], &pictures[2]), after = psnr(&pictures[1], &pictures[2]);
    char captions[PICTURES][32];
    snprintf(captions[0], sizeof captions[0], "noisy %.2f dB", before);
    snprintf(captions[1], sizeof captions[1], "denoised %.2f dB", after);
    snprintf(captions[2], sizeof captions[2], "clean");
    if (!compose(paths[0], pictures, captions))
        return false;
    printf("noisy %.2f dB, denoised %.2f dB: gain %.2f dB\n", before, after, after - before);
    return true;
}

int main(int argc, char **argv) {
    if (argc != 5) {
        fputs("usage: side_by_side OUT.png NOISY.png DENOISED.png CLEAN.png\n", stderr);
        return 2;
    }
    Picture pictures[PICTURES] = {{0, 0, NULL}};
    bool good = run(argv + 1, pictures);
    for (int i = 0; i < PICTURES; i++)
        free(pictures[i].rgb);
    return good ? 0 : 4;
}
