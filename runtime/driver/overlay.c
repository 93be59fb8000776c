/* overlay.c - predicted classes in colours over the image that they were predicted for.
 *
 * Read back row by row from the files, so that it does not matter in which order prediction made them.
 */
#include "predict.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    UnetImageReader *image, *classes;
    UnetImageWriter *writer;
    float *row; /* of the image, in three channels, and behind it one of classes */
    int32_t width, height;
} Overlay;

/* FILE.png becomes FILE-overlay.png. */
static UnetStatus overlay_path(const char *file, char path[UNET_PATH_BYTES], UnetError *error) {
    const char *slash = strrchr(file, '/'), *dot = strrchr(file, '.');
    const size_t stem = dot != NULL && (slash == NULL || dot > slash) ? (size_t)(dot - file) : strlen(file);
    const int n =
        snprintf(path, UNET_PATH_BYTES, "%.*s-overlay%s", (int)stem, file, unet_image_suffix(3, 8));
    return n > 0 && n < UNET_PATH_BYTES ? UNET_OK
                                        : unet_fail(error, UNET_IO, "%s: the name is too long", file);
}

static UnetStatus open_files(Overlay *o, const char *image, const UnetImageWay *way, const char *classes,
                             const char *path, UnetError *error) {
    UnetStatus status = unet_image_open_as(NULL, way, &o->image, image, 3, error);
    if (status == UNET_OK)
        status = unet_image_open(&o->classes, classes, UNET_IMAGE_CLASSES, error);
    if (status != UNET_OK)
        return status;
    const UnetImageInfo shown = unet_image_info(o->image), found = unet_image_info(o->classes);
    o->width = shown.width;
    o->height = shown.height;
    if (found.width != o->width || found.height != o->height)
        return unet_fail(
            error, UNET_USAGE,
            "--overlay: the classes in %s are %d x %d, and the image is %d x %d (height x width)", classes,
            found.height, found.width, o->height, o->width);
    o->row = calloc((size_t)o->width, 4 * sizeof *o->row);
    if (o->row == NULL)
        return unet_fail(error, UNET_TOO_SMALL, "no memory for a row of the image");
    const UnetImageInfo info = {.width = o->width, .height = o->height, .channels = 3, .bits = 8};
    return unet_image_create(&o->writer, path, &info, error);
}

/* Half of the colour of a class over the point; class 0 leaves it as it is. */
static void colour_row(const Overlay *o) {
    const float *classes = o->row + 3 * (ptrdiff_t)o->width;
    for (int32_t x = 0; x < o->width; x++) {
        uint8_t rgb[3];
        unet_class_colour((int32_t)classes[x], rgb);
        for (int c = 0; c < 3 && classes[x] > 0; c++) {
            float *at = &o->row[(ptrdiff_t)c * o->width + x];
            *at = *at / 2 + (float)rgb[c] / 510.0f;
        }
    }
}

static UnetStatus write_rows(Overlay *o, UnetError *error) {
    UnetStatus status = UNET_OK;
    for (int32_t h = 0; h < o->height && status == UNET_OK; h++) {
        status = unet_image_read_row(o->image, o->row, error);
        if (status == UNET_OK)
            status = unet_image_read_row(o->classes, o->row + 3 * (ptrdiff_t)o->width, error);
        if (status == UNET_OK) {
            colour_row(o);
            status = unet_image_write_row(o->writer, o->row, error);
        }
    }
    return status;
}

UnetStatus write_overlay(const char *image, const UnetImageWay *way, const char *classes,
                         UnetError *error) {
    Overlay o = {.row = NULL};
    char path[UNET_PATH_BYTES];
    UnetStatus status = overlay_path(classes, path, error);
    if (status == UNET_OK)
        status = open_files(&o, image, way, classes, path, error);
    if (status == UNET_OK)
        status = write_rows(&o, error);
    if (status == UNET_OK)
        status = unet_image_finish(o.writer, error);
    else
        unet_image_discard(o.writer);
    unet_image_close(o.image);
    unet_image_close(o.classes);
    free(o.row);
    if (status == UNET_OK)
        (void)fprintf(stderr, "%s -> %s\n", image, path);
    return status;
}
