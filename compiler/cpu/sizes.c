/* sizes.c - sizes of packed weights, scratch and bands of the kernels in templates/cpu/. */
#include "cpu/sizes.h"

enum {
    BLOCK = 16,
    WORK_ITEMS = 64, /* a kernel should fall into so many parts, for any number of threads to share */
};

static int64_t blocks(int64_t channels) {
    return channels / BLOCK + (channels % BLOCK != 0);
}

static bool multiply(int64_t a, int64_t b, int64_t *out) {
    return !__builtin_mul_overflow(a, b, out);
}

bool cpu_packed_elements(int64_t summed, int64_t lanes, int64_t taps, int64_t *out) {
    return multiply(blocks(lanes), BLOCK, out) && multiply(*out, summed, out) && multiply(*out, taps, out);
}

/* A work item is one band, a block of input channels and two of output channels; small layers have few of
 * these, and then large images, whose rows make the bands. */
int64_t cpu_wgrad_bands(const CpuConv *conv) {
    int64_t items;
    if (!multiply(blocks(conv->in), (blocks(conv->out) + 1) / 2, &items) || items >= WORK_ITEMS)
        return 1;
    int64_t bands = (WORK_ITEMS + items - 1) / items;
    return bands < conv->rows ? bands : conv->rows;
}

/* One slot a band and the total; a slot has a vector of output channels for each input channel and tap, and
 * one for the bias. */
bool cpu_wgrad_scratch_elements(const CpuConv *conv, int64_t *out) {
    int64_t depth, slot;
    return multiply(conv->in, conv->taps, &depth) && !__builtin_add_overflow(depth, 1, &depth) &&
           multiply(blocks(conv->out), BLOCK, &slot) && multiply(slot, depth, &slot) &&
           multiply(slot, cpu_wgrad_bands(conv) + 1, out);
}

int64_t cpu_loss_bands(int64_t rows) {
    return rows < BLOCK ? rows : BLOCK;
}

bool cpu_loss_scratch_elements(int64_t batch, int64_t rows, int64_t *out) {
    return multiply(batch, cpu_loss_bands(rows), out);
}
