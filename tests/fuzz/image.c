/* image.c - fuzzes the reading of pictures, of any format: the first byte says how many channels are
 * wanted and in which way, the rest is the file, whose last two say whether it is resized.  Check sums of a
 * PNG file are put right, or libpng would look no further.
 */
#include "target.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "unet/image.h"

static uint32_t number_at(const uint8_t *bytes) {
    return (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 | bytes[3];
}

static void fix_sums(uint8_t *bytes, size_t size) {
    for (size_t at = 8; at + 12 <= size;) {
        const size_t length = number_at(bytes + at);
        if (length > size - at - 12)
            return;
        const uLong sum = crc32(crc32(0, NULL, 0), bytes + at + 4, (uInt)(length + 4));
        for (size_t i = 0; i < 4; i++)
            bytes[at + 8 + length + i] = (uint8_t)(sum >> (24 - 8 * i));
        at += length + 12;
    }
}

static void read_rows(UnetImageReader *reader) {
    UnetError error;
    const UnetImageInfo info = unet_image_info(reader);
    const UnetRowFormat format = unet_image_format(reader);
    float *row = calloc((size_t)format.width * (size_t)format.channels, sizeof *row);
    UnetStatus status = row == NULL ? UNET_TOO_SMALL : UNET_OK;
    for (int32_t y = 0; y < info.height && status == UNET_OK; y++)
        status = unet_image_read_row(reader, row, &error);
    free(row);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const int32_t channels[] = {0, 1, 3, UNET_IMAGE_CLASSES, 2, 4, 8, UNET_IMAGE_COLOURS};
    static UnetImageMemory *kept;
    UnetImageReader *reader;
    UnetImageInfo info;
    UnetError error;
    if (size < 9)
        return 0;
    const int32_t asked = channels[data[0] % 4 + 4 * (data[0] >> 6 & 1)];
    const bool names = (data[0] >> 7 & 1) != 0;
    const UnetImageWay way = {.to_grey = (data[0] >> 3 & 1) != 0,
                              .upright = (data[0] >> 4 & 1) != 0,
                              .alpha = (data[0] >> 5 & 1) != 0,
                              .names_page = names,
                              .page = names ? 1 : 0,
                              .entry = names ? "image" : NULL,
                              .fit = (UnetFit)(data[size - 1] & 3),
                              .box = {1 + data[size - 1] / 4, 1 + data[size - 2] / 4},
                              .times = 1 + data[size - 2] % 2};
    uint8_t *file = malloc(size - 1);
    if (file == NULL)
        abort();
    memcpy(file, data + 1, size - 1);
    if (file[0] == 0x89)
        fix_sums(file, size - 1);
    const char *path = as_file(FUZZ_FIRST, file, size - 1);
    free(file);
    if (kept == NULL && (kept = unet_image_memory_create()) == NULL)
        abort();
    /* Every other time memory of its own, around which the sanitizers see each byte. */
    UnetImageMemory *memory = data[0] / 4 % 2 != 0 ? kept : NULL;
    if (unet_image_probe(path, &info, &error) == UNET_OK &&
        unet_image_open_as(memory, &way, &reader, path, asked, &error) == UNET_OK) {
        read_rows(reader);
        unet_image_close(reader);
    }
    return 0;
}
