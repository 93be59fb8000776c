/* image_pnm_write.c - images as bytes of Netpbm: grey (P5), which holds numbers of classes, too, or colours
 * (P6), of 8 or 16 bits, the highest byte of a number first. */
#include "image_format.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

/* The channels that the suffix of PATH promises; 0: 1 or 3; -1: bits or floats, which are not written. */
static int32_t promised(const char *path) {
    static const struct {
        const char *suffix;
        int32_t channels;
    } known[] = {{".pgm", 1}, {".ppm", 3}, {".pbm", -1}, {".pfm", -1}};
    const char *dot = strrchr(path, '.');
    for (size_t i = 0; dot != NULL && i < sizeof known / sizeof *known; i++) {
        if (strcasecmp(dot, known[i].suffix) == 0) {
            return known[i].channels;
        }
    }
    return 0;
}

static UnetStatus check_pnm(const char *path, const UnetImageInfo *info, UnetError *error) {
    const int32_t channels = promised(path);
    if (channels == 0 || channels == info->channels) {
        return UNET_OK;
    }
    return unet_fail(error, UNET_USAGE, "%s: this image has %d channel%s: name it %s", path,
                     (int)info->channels, info->channels == 1 ? "" : "s",
                     info->channels == 1 ? ".pgm" : ".ppm");
}

static bool begin_pnm(UnetImageWriter *writer) {
    const UnetImageInfo *shape = &writer->shape;
    char head[64];
    const int length = snprintf(head, sizeof head, "P%c\n%d %d\n%d\n", shape->channels == 1 ? '5' : '6',
                                (int)shape->width, (int)shape->height, shape->bits == 16 ? 65535 : 255);
    return unet_atomic_write(&writer->file, head, (size_t)length, &writer->error) == UNET_OK;
}

static bool write_row(UnetImageWriter *writer) {
    return unet_atomic_write(&writer->file, writer->row, writer->row_bytes, &writer->error) == UNET_OK;
}

static bool write_end(UnetImageWriter *writer) {
    (void)writer; /* the last row is the last of the file */
    return true;
}

static void close_pnm(UnetImageWriter *writer) {
    (void)writer;
}

const ImageEncoder image_pnm_encoder = {
    .check = check_pnm, .begin = begin_pnm, .write_row = write_row, .end = write_end, .close = close_pnm};
