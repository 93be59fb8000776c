/* compress.cu - a tensor in codes: groups of 16 channels of 16 points of a row, as unet/groups.h says.  A
 * warp takes a group: a thread has a channel of every other point. */
#include "draws.cuh"

#define KERNEL compress
#include "../example_cuda.h"

/* BEGIN */
#define UNET_GROUPS_FUNCTION DEVICE
#include <unet/groups.h>

/* The numbers from which the codes of a group follow. */
struct KERNEL_Range {
    real low, high, other; /* other: NaN, if a number is infinite or none, else 0 */
};

DEVICE KERNEL_Range KERNEL_both(KERNEL_Range a, KERNEL_Range b) {
    return {a.low < b.low ? a.low : b.low, a.high > b.high ? a.high : b.high, a.other + b.other};
}

/* The range of all numbers of the group, for the first thread of the warp. */
DEVICE KERNEL_Range KERNEL_range(const real *x, int count, bool there) {
    SIZES;
    KERNEL_Range range = {INFINITY, -INFINITY, 0};
    for (int k = 0; k < count && there; k++) {
        range.other += x[k] - x[k];
        if (!ZEROS || x[k] > 0)
            range = KERNEL_both(range, {x[k], x[k], 0});
    }
    for (int distance = WARP / 2; distance > 0; distance /= 2) {
        const real low = __shfl_down_sync(~0u, range.low, distance),
                   high = __shfl_down_sync(~0u, range.high, distance),
                   other = __shfl_down_sync(~0u, range.other, distance);
        range = KERNEL_both(range, {low, high, other});
    }
    return range;
}

/* The code of a number; `draw` has 16 random bits. */
DEVICE int KERNEL_code(real x, float low, float step, uint32_t draw) {
    SIZES;
    constexpr int top = UNET_GROUP_TOP(CODE_BITS);
    constexpr real most = (real)(top - ZEROS) * UNET_GROUP_ONE;
    if (ZEROS && !(x > 0))
        return 0;
    const real scaled = (x - low) * (UNET_GROUP_ONE / step);
    const real t = scaled > 0 ? scaled < most ? scaled : most : 0;
    int code = ZEROS + (int)(((uint32_t)t + draw) / UNET_GROUP_ONE);
    code = code < top ? code : top;
    if (SIGNED && step == step && (low + step * (real)code > 0) != (x > 0))
        code += x > 0 ? 1 : -1;
    return code;
}

/* The rows of `range` are rows of groups. */
static __global__ void KERNEL_groups(Range range, const UnetControl *control, uint8_t *__restrict__ codes,
                                     const stored *__restrict__ x) {
    SIZES;
    constexpr int columns = UNET_GROUPS_ALONG(W), blocks = UNET_GROUPS_ALONG(C), apart = 2 * CODE_BITS,
                  bytes = UNET_GROUP_BYTES(CODE_BITS), every = WARP / UNET_GROUP_CHANNELS,
                  numbers = UNET_GROUP_POINTS / every;
    constexpr Grid groups = {D, H, columns * blocks, 1, 0}, from = {D, H, W, 1, X.ring},
                   to = {D, H, 1, 1, CODES.ring};
    SHARED(float, heads, [THREADS / WARP][2]);
    const unsigned warp = thread_index() / WARP;
    const bool works = warp < range.count;
    const Point group = point_at(groups, works ? in_range(range, warp) : 0);
    const int thread = threadIdx.x % WARP, first = thread / UNET_GROUP_CHANNELS,
              channel = group.w / columns * UNET_GROUP_CHANNELS + thread % UNET_GROUP_CHANNELS,
              left = group.w % columns * UNET_GROUP_POINTS, points = W - left - first;
    const bool there = works && channel < C;
    const int count = points <= 0 ? 0 : points > UNET_GROUP_POINTS ? numbers : (points + every - 1) / every;
    real number[numbers];
    for (int k = 0; k < numbers; k++) {
        const Point p = {group.n, group.d, group.h, left + first + every * k, 0};
        number[k] = there && k < count ? load(x, (long)index(from, p) * X.block + channel) : 0;
    }
    const KERNEL_Range found = KERNEL_range(number, count < numbers ? count : numbers, there);
    float *const head = heads[threadIdx.x / WARP];
    if (thread == 0) {
        const bool any = found.low <= found.high;
        head[0] = any ? found.low : 0;
        head[1] = found.other == 0 ? unet_group_step(head[0], any ? found.high : 0, CODE_BITS, ZEROS) : NAN;
    }
    __syncthreads();
    if (!works)
        return;
    const uint64_t key = draws_key(control->seed, control->step, NUMBER, control->start + group.n);
    uint8_t *const at =
        codes + (long)index(to, {group.n, group.d, group.h, 0, 0}) * CODES.row + (long)group.w * bytes;
    if (thread < 2)
        memcpy(at + thread * sizeof(float), &head[thread], sizeof(float));
    for (int p = first; p < apart; p += every) {
        unsigned byte = 0;
        for (int k = 0; k < 8 / CODE_BITS; k++) {
            const int w = left + p + k * apart;
            const uint32_t point = draws_at(key, (uint32_t)((group.d * H + group.h) * W + w));
            if (there && w < W)
                byte |= (unsigned)KERNEL_code(number[(p + k * apart) / every], head[0], head[1],
                                              draws_of(point, channel) >> 16)
                        << k * CODE_BITS;
        }
        at[UNET_GROUP_HEAD + p * UNET_GROUP_CHANNELS + thread % UNET_GROUP_CHANNELS] = (uint8_t)byte;
    }
}

LAUNCHER void KERNEL(UnetLaunch at, Rows rows, uint8_t *codes, const stored *x) {
    SIZES;
    const Range range = range_of(N, {D, H, UNET_GROUPS_ALONG(W) * UNET_GROUPS_ALONG(C), 1}, rows);
    if (range.count > 0)
        LAUNCH_BLOCKS(at, KERNEL_groups, (range.count + THREADS / WARP - 1) / (THREADS / WARP), range,
                      at.control, codes, x);
}
/* END */
