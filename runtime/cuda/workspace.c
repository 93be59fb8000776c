/* workspace.c - the workspace that an engine may ask for on a device that is not there yet.
 *
 * Some kernels for clusters of blocks (compute capability 9.0) divide the last tiles of their result among
 * blocks that would have nothing to do, and keep each block's share, a tile of f32, in the workspace.  How
 * many blocks run at a time follows from the clusters that the device can hold, which cuDNN asks the
 * device. Without one it counts on 18 multiprocessors and names too little.
 *
 * Seen on an H200 with cuDNN 9.19, for 230 pairs of a convolution and such an engine:
 *
 *     workspace = blocks x tile + at most 1 KiB,   blocks <= multiprocessors
 *     tile      = 16, 32, 64 or 128 KiB, by the knob TILE_SIZE
 *
 * Gradients by filters, whose result is small and whose sums are long, are nearly always divided; other
 * results only if they have few tiles for each multiprocessor, up to 4 as far as was seen.  A sum that a
 * block adds in one step cannot be divided.  The knob WORKSPACE is 0 for engines that may divide.
 */
#include "convolution.h"

enum {
    KIB = 1 << 10,
    LARGEST_TILE = 128 * KIB,
    BESIDE = 2 * KIB,
    STEP = 32,
    WAVES = 8 /* twice what was seen */
};

/* By the value of TILE_SIZE; other values were not seen. */
static int64_t tile_bytes(const UnetEngine *engine) {
    static const int16_t kib[] = {64, 32, 0, 128, 64, 16, 128, 32, 0, 64};
    for (int32_t i = 0; i < engine->nknob; i++) {
        const int64_t value = engine->knob[i].value;
        if (engine->knob[i].type == CUDNN_KNOB_TYPE_TILE_SIZE && value >= 0 &&
            value < (int64_t)(sizeof kib / sizeof *kib) && kib[value] > 0)
            return kib[value] * KIB;
    }
    return LARGEST_TILE;
}

static bool divides_tiles(const UnetEngine *engine) {
    bool clusters = false, may = false;
    for (int32_t i = 0; i < engine->nknob; i++) {
        const int64_t type = engine->knob[i].type;
        clusters = clusters || type == CUDNN_KNOB_TYPE_TILE_CGA_M || type == CUDNN_KNOB_TYPE_TILE_CGA_N;
        may = may || (type == CUDNN_KNOB_TYPE_WORKSPACE && engine->knob[i].value == 0);
    }
    return clusters && may;
}

static int64_t product(const int64_t size[3]) {
    return size[0] * size[1] * size[2];
}

/* Whether C has so few tiles of the result, and so long sums, that blocks may divide them. */
static bool is_divisible(const UnetConvolution *c, int64_t tile, int64_t multiprocessors) {
    if (c->kind == UNET_BACKWARD_FILTER)
        return true;
    const bool forward = c->kind == UNET_FORWARD;
    const int64_t points = c->batch * product(forward ? c->out : c->in),
                  elements = points * (forward ? c->out_channels : c->in_channels),
                  products = product(c->kernel) * (forward ? c->in_channels : c->out_channels);
    return products > STEP && elements / (tile / (int64_t)sizeof(float)) < WAVES * multiprocessors;
}

int64_t unet_cudnn_workspace(const UnetConvolution *c, const UnetEngine *engine, int64_t multiprocessors) {
    const int64_t tile = tile_bytes(engine), reserve = multiprocessors * tile + BESIDE;
    if (!divides_tiles(engine) || !is_divisible(c, tile, multiprocessors) || engine->workspace > reserve)
        return engine->workspace;
    return reserve;
}
