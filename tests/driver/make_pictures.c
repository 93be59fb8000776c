/* make_pictures.c - writes small grey picture pairs: DIR/clean/NN.png and DIR/noisy/NN.png.
 *
 *     make_pictures DIR COUNT HEIGHT WIDTH BITS [SUFFIX]       SUFFIX: png, or jpg or tif
 *
 * The noisy picture is 0.5 * clean + 0.25 plus some noise, which a scale and a bias can mostly undo.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "unet/image.h"
#include "unet/rng.h"

enum { WIDEST = 512 };

static float pixel(const UnetKey *key, int h, int w, bool noisy) {
    float clean = (float)((h * 7 + w * 13 + (int)key->sample * 29) % 97) / 97;
    float noise = (float)unet_random_uniform(key, (uint64_t)h * WIDEST + (uint64_t)w) * 0.1f;
    return noisy ? 0.5f * clean + 0.2f + noise : clean;
}

static int write_picture(const char *folder, const char *kind, int number, const char *suffix,
                         const UnetImageInfo *info) {
    char path[1024];
    float row[WIDEST];
    UnetError error;
    UnetImageWriter *writer;
    const UnetKey key = {.seed = 1, .sample = (uint32_t)number};
    (void)snprintf(path, sizeof path, "%s/%s/%02d.%s", folder, kind, number, suffix);
    UnetStatus status = unet_image_create(&writer, path, info, &error);
    for (int h = 0; h < info->height && status == UNET_OK; h++) {
        for (int w = 0; w < info->width; w++)
            row[w] = pixel(&key, h, w, kind[0] == 'n');
        status = unet_image_write_row(writer, row, &error);
    }
    if (status == UNET_OK)
        status = unet_image_finish(writer, &error);
    if (status != UNET_OK)
        (void)fprintf(stderr, "%s\n", error.text);
    return (int)status;
}

int main(int argc, char **argv) {
    char path[1024];
    if (argc < 6 || argc > 7 || atoi(argv[4]) > WIDEST)
        return 2;
    const UnetImageInfo info = {
        .height = atoi(argv[3]), .width = atoi(argv[4]), .channels = 1, .bits = atoi(argv[5])};
    (void)mkdir(argv[1], 0777);
    for (int k = 0; k < 2; k++) {
        const char *kind = k == 0 ? "clean" : "noisy";
        (void)snprintf(path, sizeof path, "%s/%s", argv[1], kind);
        (void)mkdir(path, 0777);
        for (int i = 0; i < atoi(argv[2]); i++)
            if (write_picture(argv[1], kind, i, argc > 6 ? argv[6] : "png", &info) != 0)
                return 4;
    }
    return 0;
}
