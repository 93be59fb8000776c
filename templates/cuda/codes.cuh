/* codes.cuh - the optimiser's state in 8 bits, as unet/codes.h says: a block of threads takes a block of
 * numbers, a thread one of them. */
#include "prologue.cuh"

/* BEGIN */
#define UNET_CODES_FUNCTION DEVICE
#include <unet/codes.h>

static_assert((int)UNET_CODE_BLOCK == THREADS && (int)UNET_CODES == THREADS,
              "a thread for each number and code");

/* The shares of all codes, and the borders between each and the next one. */
struct CodeBook {
    real share[UNET_CODES], border[UNET_CODES];
};

/* Threads wait for each other before they use it. */
DEVICE void fill_code_book(CodeBook *book, int has_sign) {
    const int code = threadIdx.x;
    book->share[code] = (real)unet_code_share(code, has_sign);
    book->border[code] = code + 1 < UNET_CODES ? (real)unet_code_border(code, has_sign) : 1;
}

/* A block of a tensor: its first element in the region, and how many it has; the places, in bytes of the
 * region of a state, of its codes and of its maximum. */
struct StateBlock {
    long first, count, codes, maximum;
};

/* Block BLOCK of all. The row of its tensor is the last one that begins at it or before. */
DEVICE StateBlock state_block(const long *tensor, int tensors, long block) {
    int low = 0;
    for (int high = tensors - 1; low < high;) {
        const int middle = (low + high + 1) / 2;
        if (tensor[4 * middle] <= block)
            low = middle;
        else
            high = middle - 1;
    }
    const long *row = tensor + 4 * low, inside = block - row[0];
    const long first = inside * UNET_CODE_BLOCK, left = row[2] - first;
    return {row[1] + first, left < UNET_CODE_BLOCK ? left : (long)UNET_CODE_BLOCK, row[3] + first,
            row[3] + unet_code_maxima(row[2]) + inside * (long)sizeof(real)};
}

DEVICE real *state_maximum(uint8_t *state, StateBlock block) {
    return reinterpret_cast<real *>(state + block.maximum);
}

/* The number of this thread; 0 behind the end of the block. */
DEVICE real decoded(const CodeBook *book, uint8_t *state, StateBlock block) {
    return threadIdx.x < block.count
               ? book->share[state[block.codes + threadIdx.x]] * *state_maximum(state, block)
               : 0;
}

/* The largest x of a block of threads, which is at least 0, for all of them. */
DEVICE real block_maximum(real x) {
    SHARED(real, of_warp, [THREADS / WARP]);
    for (int distance = WARP / 2; distance > 0; distance /= 2) {
        const real other = __shfl_down_sync(~0u, x, distance);
        x = other > x ? other : x;
    }
    __syncthreads(); /* all threads have read the last maxima */
    if (threadIdx.x % WARP == 0)
        of_warp[threadIdx.x / WARP] = x;
    __syncthreads();
    real maximum = 0;
    for (int w = 0; w < THREADS / WARP; w++)
        maximum = of_warp[w] > maximum ? of_warp[w] : maximum;
    return maximum;
}

/* Stores the number of this thread as the others store theirs. A NaN counts in no maximum. */
DEVICE void encode(const CodeBook *book, uint8_t *state, StateBlock block, real x) {
    const bool there = threadIdx.x < block.count;
    const real maximum = block_maximum(there && x == x ? fabsf(x) : 0),
               share = maximum > 0 ? x / maximum : 0;
    int below = 0;
    for (int half = UNET_CODES / 2; half > 0; half /= 2)
        below += share > book->border[below + half - 1] ? half : 0;
    if (there)
        state[block.codes + threadIdx.x] = (uint8_t)below;
    if (threadIdx.x == 0)
        *state_maximum(state, block) = maximum;
}

/* Blocks of threads for so many blocks of numbers: no more than a sweep has. */
[[maybe_unused]] static constexpr unsigned coded_blocks(long blocks) {
    return blocks < sweep_blocks(~0u) ? (unsigned)blocks : sweep_blocks(~0u);
}

/* The states in reals, which lie so many BYTES behind the first code. */
[[maybe_unused]] static real *state_reals(void *state, long bytes) {
    return state == NULL ? NULL : reinterpret_cast<real *>(static_cast<char *>(state) + bytes);
}
/* END */
