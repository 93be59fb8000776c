/* denoise.c - removes the noise of a frame in memory, by weights that a training of tiny_unet left:
 *
 *     denoise tiny_unet.best.safetensors IN.png OUT.png
 *
 * A camera's frames would come in the place of the file: the network takes plain floats, planar, 0 to 1. */
#include "tiny_unet.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unet/image.h>

enum { H = TINY_UNET_HEIGHT, W = TINY_UNET_WIDTH };

static float noisy[3][H][W], denoised[3][H][W];
static _Alignas(UNET_BUFFER_ALIGN) char buffer[TINY_UNET_BUFFER_BYTES]; /* all the memory it takes */
static UnetError error;

static void need(UnetStatus status) {
    if (status != UNET_OK) {
        fprintf(stderr, "denoise: %s\n", error.text);
        exit((int)status);
    }
}

/* The runtime reads and writes pictures row by row, each as three planes. */
static void read_frame(const char *path) {
    float row[3][W];
    UnetImageReader *reader;
    need(unet_image_open(&reader, path, 3, &error));
    const UnetImageInfo info = unet_image_info(reader);
    if (info.width != W || info.height != H) {
        fprintf(stderr, "denoise: %s is not %d x %d\n", path, H, W);
        exit(2);
    }
    for (int y = 0; y < H; y++) {
        need(unet_image_read_row(reader, row[0], &error));
        for (int c = 0; c < 3; c++)
            memcpy(noisy[c][y], row[c], sizeof row[c]);
    }
    unet_image_close(reader);
}

static void write_frame(const char *path) {
    const UnetImageInfo info = {.width = W, .height = H, .channels = 3, .bits = 8};
    float row[3][W];
    UnetImageWriter *writer;
    need(unet_image_create(&writer, path, &info, &error));
    for (int y = 0; y < H; y++) {
        for (int c = 0; c < 3; c++)
            memcpy(row[c], denoised[c][y], sizeof row[c]);
        need(unet_image_write_row(writer, row[0], &error));
    }
    need(unet_image_finish(writer, &error));
}

int main(int argc, char **argv) {
    if (argc != 4) {
        fprintf(stderr, "usage: denoise WEIGHTS.safetensors IN.png OUT.png\n");
        return 2;
    }
    need(tiny_unet_init(buffer, sizeof buffer, 0, 0, &error));
    need(unet_embed_load(buffer, argv[1], &error));
    read_frame(argv[2]);
    need(tiny_unet_forward(buffer, noisy[0][0], denoised[0][0], &error)); /* as often as frames come */
    write_frame(argv[3]);
    unet_embed_close(buffer);
    return 0;
}
