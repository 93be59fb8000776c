/* coded.c - a group of numbers in codes (unet/groups.h), as its readers see it. */
#include "prologue.c"

/* BEGIN */
#include <unet/groups.h>

/* The group of channel c, point w of a row, whose codes begin at `row`. */
UNUSED static const uint8_t *coded_group(const uint8_t *row, int bits, int width, int c, int w) {
    const long group = c / 16 * (long)UNET_GROUPS_ALONG(width) + w / 16;
    return row + group * UNET_GROUP_BYTES(bits);
}

/* The code, of so many bits, of channel c, point w of a row. */
UNUSED static int coded_number(const uint8_t *group, int bits, int c, int w) {
    const int apart = 2 * bits, p = w % 16, byte = group[UNET_GROUP_HEAD + p % apart * 16 + c % 16];
    return byte >> p / apart * bits & UNET_GROUP_TOP(bits);
}

/* The number that a code stands for, where no code stands for 0. */
UNUSED static real coded_value(const uint8_t *group, int code) {
    float low, step;
    memcpy(&low, group, sizeof low);
    memcpy(&step, group + sizeof low, sizeof step);
    return (real)low + (real)step * (real)code;
}
/* END */
