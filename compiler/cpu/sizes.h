/* sizes.h - what the kernels of templates/cpu/ need beside their operands. Pure functions of the
 * geometry: the same numbers give the same sizes, whatever the batch, the budget or the threads. Sizes are
 * in elements; a function that computes one returns false if it exceeds an int64_t. */
#ifndef CPU_SIZES_H
#define CPU_SIZES_H

#include <stdbool.h>
#include <stdint.h>

/* Channels as they are stored: 1 to 4 of an image as they are, else rounded up to a block; for a list of
 * segments the sum over the segments. */
typedef struct {
    int64_t in, out; /* stored channels of x and y of the forward operator */
    int64_t taps;    /* KD * KH * KW */
    /* Winograd's method only: */
    int64_t points;               /* of y, */
    int64_t depth, height, width; /*   and its extents */
    int64_t planes;               /* KD */
} CpuConv;

/* `packed` of conv_pack, where `summed` are the stored channels of x and `lanes` the channels of y; of
 * conv_dgrad_pack, where `summed` are the stored channels of dy and `lanes` the channels of dx. */
bool cpu_packed_elements(int64_t summed, int64_t lanes, int64_t taps, int64_t *out);

/* The sums (of type real) of conv_wgrad and upconv_wgrad. */
bool cpu_wgrad_sums_elements(const CpuConv *conv, int64_t *out);

enum { CPU_TILE_ROWS = 4 }; /* rows of points that a tile of Winograd's method has */

/* Winograd's method: `TILES`, and `OWN_BLOCKS`: whether each thread has blocks of its own, which is for
 * many tiles and few channels; `PLANES`. */
int64_t cpu_winograd_tiles(const CpuConv *conv);
int64_t cpu_winograd_planes(const CpuConv *conv);
bool cpu_winograd_own_blocks(const CpuConv *conv);
/* `packed` of what maps weights, as for cpu_packed_elements(), of windows of so many planes. */
bool cpu_winograd_weights(int64_t summed, int64_t lanes, int64_t planes, int64_t *out);
/* `workspace` of conv_winograd and conv_dgrad_winograd, for at most THREADS threads. */
bool cpu_winograd_elements(const CpuConv *conv, int64_t threads, int64_t *out);
/* `TILES` and `PLANES` of conv_wgrad_winograd; what it maps, the sums, and these in the order of tiles: its
 * `scratch`, or its `scratch`, its `sums` and the `scratch` of wgrad_end_winograd. */
int64_t cpu_winograd_wgrad_tiles(const CpuConv *conv);
int64_t cpu_winograd_wgrad_planes(const CpuConv *conv);
bool cpu_winograd_wgrad_mapped(const CpuConv *conv, int64_t *out);
bool cpu_winograd_wgrad_sums(const CpuConv *conv, int64_t *out);
bool cpu_winograd_wgrad_ordered(const CpuConv *conv, int64_t *out);

/* `BANDS` of attention over channels and its gradient, for so many points of heads that have so many
 * channels of q and of k; and `scratch` (of type real): of each head a table for each band and two more,
 * with a number for each row and each column beside it, and blocks of points of each slot. */
typedef struct {
    int64_t heads, slots, bands, of_q, of_k; /* heads of all samples */
} CpuChannelAttention;

int64_t cpu_channel_attention_bands(int64_t points, int64_t of_q, int64_t of_k);
bool cpu_channel_attention_elements(const CpuChannelAttention *of, int64_t *out);

/* `SLOTS` of attention and its gradient, for so many blocks of points of all heads and samples and at most
 * THREADS threads; and `scratch` (of type real): blocks of each slot, for heads of so many channels and so
 * many numbers of a bias, and of the gradient a sum for each query and each number of each band. */
int64_t cpu_attention_slots(int64_t heads, int64_t points, int64_t threads);
typedef struct {
    int64_t slots, of_q, of_v, bias;
} CpuAttention;

bool cpu_attention_elements(const CpuAttention *of, int64_t *out);
bool cpu_attention_grad_elements(const CpuAttention *of, int64_t sums, int64_t *out);
/* `BANDS` of the gradient by a bias, for so many windows of so many points each. */
int64_t cpu_attention_bands(int64_t windows, int64_t points);

/* `scratch` (of type real) of the loss of a language model over so many points of all samples, or of its
 * GRADIENT: the list of points, blocks of logits, and the numbers of each group of classes. */
bool cpu_vocabulary_elements(int64_t points, int64_t channels, bool gradient, int64_t *out);

/* `scratch` (of type double) of mse, l1 and psnr over rows = D * H rows of points. */
bool cpu_loss_scratch_elements(int64_t batch, int64_t rows, int64_t *out);

/* `sums` (of type real) of head, for so many rows of WIDTH points, of IN and OUT channels. */
bool cpu_head_sums_elements(int64_t in, int64_t out, int64_t width, int64_t rows, int64_t *elements);

#endif
