/* vocabulary_loss_grad.cu - gradients of the loss of a language model by the channels of its points, and by
 * the table of classes and its bias. */
#include "vocabulary.cuh"

#define KERNEL vocabulary_loss_grad
#include "../example_cuda.h"

/* BEGIN */
static constexpr __host__ __device__ long KERNEL_points(void) {
    SIZES;
    return (long)N * D * H * W;
}

/* The slopes of the loss by the logits of a tile of points and a tile of classes. */
DEVICE void KERNEL_slopes(VocabularyTile &share, VocabularyTile &points, VocabularyTile &rows,
                          Vocabulary by, VocabularyList list, const real *lse, int first, long begin,
                          real factor) {
    SIZES;
    const int row = threadIdx.x / VOCABULARY_SIDE, lane = threadIdx.x % VOCABULARY_SIDE, k = first + row;
    const VocabularyLogits logits = vocabulary_logits(points, rows, by, list, first, begin);
    const int point = k < *list.count ? list.point[k] : 0;
    const real level = lse[point / (D * H * W) * LSE.sample + point % (D * H * W)];
    for (int m = 0; m < VOCABULARY_SHARE; m++) {
        const int column = lane + m * VOCABULARY_SIDE;
        const bool counts = k < *list.count && begin + column < CLASSES;
        share[row][column] =
            counts ? factor * (expf(logits.of[m] - level) - (begin + column == list.number[k] ? 1 : 0)) : 0;
    }
    __syncthreads();
}

DEVICE real KERNEL_factor(const double *scale, const UnetControl *control) {
    SIZES;
    const double counted = control->labelled[COUNTED];
    return (real)(counted > 0 ? WEIGHT * (SCALED ? scale[LOSS_SCALE] : 1) / counted : 0);
}

/* A block has a tile of classes, and adds the slopes of all points in their order.  A thread has some
 * channels of each row. */
static __global__ void KERNEL_classes(real *dw, real *db, double *scratch, const stored *__restrict__ x,
                                      const real *__restrict__ lse, const real *__restrict__ w,
                                      const real *__restrict__ b, const double *scale,
                                      const UnetControl *control) {
    SIZES;
    SHARED(VocabularyTile, points, );
    SHARED(VocabularyTile, rows, );
    SHARED(VocabularyTile, share, );
    const VocabularyList list = vocabulary_list(scratch, KERNEL_points());
    const Vocabulary by = {x, X.block, C, w, BIAS ? b : nullptr, CLASSES};
    const long begin = (long)blockIdx.x * VOCABULARY_TILE;
    const int here = CLASSES - begin < VOCABULARY_TILE ? (int)(CLASSES - begin) : (int)VOCABULARY_TILE;
    const real factor = KERNEL_factor(scale, control);
    for (int i = threadIdx.x; BY_WEIGHT && !ACCUMULATE && i < here * C; i += THREADS)
        dw[begin * C + i] = 0;
    if (BY_BIAS && !ACCUMULATE && (int)threadIdx.x < here)
        db[begin + threadIdx.x] = 0;
    for (int first = 0; first < *list.count; first += VOCABULARY_TILE) {
        KERNEL_slopes(share, points, rows, by, list, lse, first, begin, factor);
        for (int c = threadIdx.x; BY_WEIGHT && c < C; c += THREADS) {
            real channel[VOCABULARY_TILE];
            for (int k = 0; k < VOCABULARY_TILE; k++)
                channel[k] =
                    first + k < *list.count ? load(x, (long)list.point[first + k] * X.block + c) : 0;
            for (int j = 0; j < here; j++) {
                real sum = dw[(begin + j) * C + c];
                for (int k = 0; k < VOCABULARY_TILE; k++)
                    sum += share[k][j] * channel[k];
                dw[(begin + j) * C + c] = sum;
            }
        }
        for (int k = 0; BY_BIAS && (int)threadIdx.x < here && k < VOCABULARY_TILE; k++)
            db[begin + threadIdx.x] += share[k][threadIdx.x];
        __syncthreads();
    }
    if (begin == 0 && threadIdx.x == 0 && BY_WEIGHT)
        zero_padding(dw + (long)CLASSES * C, slice_padding(CLASSES * C));
    if (begin == 0 && threadIdx.x == 0 && BY_BIAS)
        zero_padding(db + CLASSES, slice_padding(CLASSES));
}

static __global__ void KERNEL_zeros(stored *dx) {
    SIZES;
    const long i = (long)blockIdx.x * THREADS + threadIdx.x;
    if (i < KERNEL_points() * (DX.block / LANES))
        store_vector(dx, (unsigned)i, filled(0));
}

/* A block has a tile of points, and adds the slopes of all classes in their order. */
static __global__ void KERNEL_inputs(stored *dx, double *scratch, const stored *__restrict__ x,
                                     const real *__restrict__ lse, const real *__restrict__ w,
                                     const real *__restrict__ b, const double *scale,
                                     const UnetControl *control) {
    SIZES;
    SHARED(VocabularyTile, points, );
    SHARED(VocabularyTile, rows, );
    SHARED(VocabularyTile, share, );
    const VocabularyList list = vocabulary_list(scratch, KERNEL_points());
    const Vocabulary by = {x, X.block, C, w, BIAS ? b : nullptr, CLASSES};
    const int first = blockIdx.x * VOCABULARY_TILE,
              here = *list.count - first < VOCABULARY_TILE ? *list.count - first : (int)VOCABULARY_TILE;
    real *const sums = (real *)(scratch + vocabulary_list_doubles(KERNEL_points())) + (long)first * C;
    const real factor = KERNEL_factor(scale, control);
    if (first >= *list.count)
        return;
    for (long begin = 0; begin < CLASSES; begin += VOCABULARY_TILE) {
        KERNEL_slopes(share, points, rows, by, list, lse, first, begin, factor);
        for (int c = threadIdx.x; c < C; c += THREADS) {
            real channel[VOCABULARY_TILE];
            for (int j = 0; j < VOCABULARY_TILE; j++)
                channel[j] = begin + j < CLASSES ? w[(begin + j) * C + c] : 0;
            for (int k = 0; k < here; k++) {
                real sum = begin > 0 ? sums[(long)k * C + c] : 0;
                for (int j = 0; j < VOCABULARY_TILE; j++)
                    sum += share[k][j] * channel[j];
                sums[(long)k * C + c] = sum;
            }
        }
        __syncthreads();
    }
    for (int c = threadIdx.x; c < C; c += THREADS)
        for (int k = 0; k < here; k++)
            store(dx, (long)list.point[first + k] * DX.block + c, sums[(long)k * C + c]);
}

LAUNCHER void KERNEL(UnetLaunch at, stored *dx, real *dw, real *db, double *scratch, const stored *x,
                     const void *t, const real *lse, const real *w, const real *b, const double *scale) {
    SIZES;
    constexpr long points = KERNEL_points(), tiles = (points + VOCABULARY_TILE - 1) / VOCABULARY_TILE;
    static_assert(SCRATCH / (long)sizeof(double) >= vocabulary_list_doubles(points) + (points * C + 1) / 2,
                  "sums of each point");
    constexpr auto list = unet_list_points<T_STAGED>;
    LAUNCH_BLOCKS(at, list, 1, scratch, nullptr, 0L, t, T.block, D * H * W, N, (long)CLASSES, at.control);
    if (BY_WEIGHT || BY_BIAS)
        LAUNCH_BLOCKS(at, KERNEL_classes, (CLASSES + VOCABULARY_TILE - 1) / VOCABULARY_TILE, dw, db,
                      scratch, x, lse, w, b, scale, at.control);
    if (BY_INPUT) {
        LAUNCH_BLOCKS(at, KERNEL_zeros, blocks_for(points * (DX.block / LANES)), dx);
        LAUNCH_BLOCKS(at, KERNEL_inputs, tiles, dx, scratch, x, lse, w, b, scale, at.control);
    }
}
/* END */
