/* groups.h - activations in codes of 8, 4 or 2 bits (`compress`), as the compiler and the kernels know
 * them.
 *
 * After J. Chen and others, "ActNN: Reducing Training Memory Footprint via 2-Bit Activation Compressed
 * Training", 2021.  A group has 16 channels of 16 points side by side in a row of a sample; at the end of
 * a row or of the channels it has fewer.  So a group follows from the shape of a tensor, whatever its
 * layout.  A group keeps the lowest number `low`, a `step`, and a code for each number: x stands for
 * low + step * code.
 *
 * The step is (high - low) / TOP, cut off to 16 significant bits and then enlarged by two units of the last
 * of them, where TOP is the largest code.  So step * code is exact in a float, and low + step * TOP is
 * above `high`.  A step is at least 2^-100, so that 65536 / step is finite.  With t = (x - low) * (65536 /
 * step), cut off to a whole number, and a random number r of 16 bits, a code is (t + r) / 65536, cut off,
 * but at most TOP: in the mean over r, low + step * code is x. The random number follows from the seed, the
 * step of training, the number of the tensor, the sample, the point and the channel.  No plan, target or
 * number of threads changes it.
 *
 * A gradient may need the sign of a number:
 *     UNET_GROUP_PLAIN   no gradient does
 *     UNET_GROUP_ZEROS   of a ReLU: code 0 is 0, and code 1 is `low`, the lowest number above 0
 *     UNET_GROUP_SIGNS   of a leaky ReLU: a code with the other sign gives way to the next code
 *
 * A group with an infinity or a NaN becomes NaN; codes 0 of UNET_GROUP_ZEROS stay 0.  Channels and points
 * that pad a group have code 0 and count nowhere.
 *
 * In memory: `low` and `step` as floats, then the codes, 16 channels of a point side by side.  A byte has
 * the codes of 8 / bits points that lie 2 * bits points apart, the first one in its lowest bits.
 *
 * A kernel for a device defines UNET_GROUPS_FUNCTION before it includes this file. */
#ifndef UNET_GROUPS_H
#define UNET_GROUPS_H

#include <stdint.h>
#include <string.h>

#ifndef UNET_GROUPS_FUNCTION
#define UNET_GROUPS_FUNCTION static inline
#endif

enum {
    UNET_GROUP_CHANNELS = 16,
    UNET_GROUP_POINTS = 16,
    UNET_GROUP_SIZE = UNET_GROUP_CHANNELS * UNET_GROUP_POINTS,
    UNET_GROUP_HEAD = 8, /* bytes of `low` and `step` */
    UNET_GROUP_ONE = 65536
};

typedef enum { UNET_GROUP_PLAIN, UNET_GROUP_ZEROS, UNET_GROUP_SIGNS } UnetGroupSigns;

/* Bytes of a group whose codes have so many bits. */
#define UNET_GROUP_BYTES(bits) (UNET_GROUP_HEAD + UNET_GROUP_SIZE / 8 * (bits))

/* Groups along so many channels or points. */
#define UNET_GROUPS_ALONG(extent) (((extent) + 15) / 16)

/* The largest code. */
#define UNET_GROUP_TOP(bits) ((1 << (bits)) - 1)

/* The step of a group between these numbers, which are finite.  ZEROS: code 0 stands for 0. */
UNET_GROUPS_FUNCTION float unet_group_step(float low, float high, int bits, int zeros) {
    const uint32_t unit = 256, least = 0x0d800000; /* of the last of 16 bits; 2^-100 */
    const float step = (high - low) / (float)(UNET_GROUP_TOP(bits) - zeros);
    uint32_t word;
    float cut;
    memcpy(&word, &step, sizeof word);
    word = (word & ~(unit - 1)) + 2 * unit;
    word = word < least ? least : word;
    memcpy(&cut, &word, sizeof cut);
    return cut;
}

#endif
