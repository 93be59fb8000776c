/* exif.c - the orientation in EXIF: a list of entries of 12 bytes, in either order of bytes. */
#include "exif.h"

#include <stdbool.h>
#include <string.h>

enum { ENTRY_BYTES = 12, ORIENTATION = 0x112, UPRIGHT = 1, LAST_ORIENTATION = 8 };

typedef struct {
    const uint8_t *bytes;
    size_t length;
    bool big_endian;
} Exif;

/* COUNT bytes from AT on as a number; 0 beyond the end. */
static uint32_t number(const Exif *exif, size_t at, size_t count) {
    uint32_t value = 0;
    if (at > exif->length || count > exif->length - at) {
        return 0;
    }
    for (size_t i = 0; i < count; i++) {
        const size_t place = exif->big_endian ? i : count - 1 - i;
        value = value << 8 | exif->bytes[at + place];
    }
    return value;
}

int32_t exif_orientation(const uint8_t *bytes, size_t length) {
    if (length < 8 || (memcmp(bytes, "II*\0", 4) != 0 && memcmp(bytes, "MM\0*", 4) != 0)) {
        return UPRIGHT;
    }
    const Exif exif = {bytes, length, bytes[0] == 'M'};
    const size_t list = number(&exif, 4, 4);
    const uint32_t entries = number(&exif, list, 2);
    for (uint32_t i = 0; i < entries; i++) {
        const size_t entry = list + 2 + (size_t)i * ENTRY_BYTES;
        if (number(&exif, entry, 2) == ORIENTATION) {
            const uint32_t turned = number(&exif, entry + 8, 2);
            return turned > UPRIGHT && turned <= LAST_ORIENTATION ? (int32_t)turned : UPRIGHT;
        }
    }
    return UPRIGHT;
}
