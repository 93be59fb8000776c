/* permute_colours.c - writes a picture with its colours exchanged: permute_colours IN.png OUT.png 201
 * makes blue red, red green and green blue. A few pictures know few colours; a net that is to treat all
 * alike has to see them. */
#include <png.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int fail(const char *path, const char *why) {
    fprintf(stderr, "permute_colours: %s: %s\n", path, why);
    return 4;
}

int main(int argc, char **argv) {
    if (argc != 4 || strlen(argv[3]) != 3 || strspn(argv[3], "012") != 3) {
        fputs("usage: permute_colours IN.png OUT.png ORDER (such as 201)\n", stderr);
        return 2;
    }
    png_image image = {.version = PNG_IMAGE_VERSION};
    if (!png_image_begin_read_from_file(&image, argv[1]))
        return fail(argv[1], image.message);
    image.format = PNG_FORMAT_RGB;
    png_bytep rgb = malloc(PNG_IMAGE_SIZE(image));
    if (!rgb || !png_image_finish_read(&image, NULL, rgb, 0, NULL)) {
        png_image_free(&image);
        free(rgb);
        return fail(argv[1], "cannot be read");
    }
    for (png_bytep p = rgb; p < rgb + PNG_IMAGE_SIZE(image); p += 3) {
        png_byte colour[3] = {p[0], p[1], p[2]};
        for (int c = 0; c < 3; c++)
            p[c] = colour[argv[3][c] - '0'];
    }
    int good = png_image_write_to_file(&image, argv[2], 0, rgb, 0, NULL);
    free(rgb);
    return good ? 0 : fail(argv[2], image.message);
}
