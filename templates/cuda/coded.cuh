/* coded.cuh - a group of numbers in codes (unet/groups.h), as its readers see it. */
#include "prologue.cuh"

/* BEGIN */
#define UNET_GROUPS_FUNCTION DEVICE
#include <unet/groups.h>

/* The lowest number, the step, and the codes of a point. */
struct Coded {
    float low, step;
    const uint8_t *code;
};

/* The group of channel c, point w of a row, whose codes, of so many bits, begin at `row`. */
DEVICE Coded coded_group(const uint8_t *row, int bits, int width, int c, int w) {
    const int apart = 2 * bits, p = w % UNET_GROUP_POINTS;
    const long group = c / UNET_GROUP_CHANNELS * (long)UNET_GROUPS_ALONG(width) + w / UNET_GROUP_POINTS;
    const uint8_t *const at = row + group * UNET_GROUP_BYTES(bits);
    Coded coded = {0, 0, at + UNET_GROUP_HEAD + p % apart * UNET_GROUP_CHANNELS};
    memcpy(&coded.low, at, sizeof coded.low);
    memcpy(&coded.step, at + sizeof coded.low, sizeof coded.step);
    return coded;
}

/* The code of channel c of point w. */
DEVICE int coded_number(const Coded &coded, int bits, int c, int w) {
    return coded.code[c % UNET_GROUP_CHANNELS] >> w % UNET_GROUP_POINTS / (2 * bits) * bits &
           UNET_GROUP_TOP(bits);
}
/* END */
