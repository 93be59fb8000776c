/* vocabulary_loss.cu - cross entropy of `linear(x, classes)` and the number of a class at each point; or
 * the share of points that are right. */
#include "vocabulary.cuh"

#define KERNEL vocabulary_loss
#include "../example_cuda.h"

/* BEGIN */
/* `scratch`: the term of each point of the list; the list; for each point of it the largest logit and the
 * sum of exp(logit - largest) of each group of classes, and the logit of its class. */
struct KERNEL_Scratch {
    double *term;
    double *list;
    real *largest, *sum, *own;
};

static constexpr __host__ __device__ long KERNEL_points(void) {
    SIZES;
    return (long)N * D * H * W;
}

DEVICE KERNEL_Scratch KERNEL_parts(double *scratch) {
    constexpr long points = KERNEL_points();
    double *const list = scratch + points;
    real *const largest = (real *)(list + vocabulary_list_doubles(points));
    return {scratch, list, largest, largest + VOCABULARY_GROUPS * points,
            largest + 2 * VOCABULARY_GROUPS * points};
}

/* A block has a tile of the list and a group of classes. */
static __global__ void KERNEL_groups(double *scratch, const stored *__restrict__ x,
                                     const real *__restrict__ w, const real *__restrict__ b) {
    SIZES;
    SHARED(VocabularyTile, points, );
    SHARED(VocabularyTile, rows, );
    SHARED(VocabularyTile, share, );
    const KERNEL_Scratch to = KERNEL_parts(scratch);
    const VocabularyList list = vocabulary_list(to.list, KERNEL_points());
    const Vocabulary by = {x, X.block, C, w, BIAS ? b : nullptr, CLASSES};
    const int group = blockIdx.x % VOCABULARY_GROUPS,
              first = blockIdx.x / VOCABULARY_GROUPS * VOCABULARY_TILE;
    const int row = threadIdx.x / VOCABULARY_SIDE, lane = threadIdx.x % VOCABULARY_SIDE, k = first + row;
    const long end = (long)CLASSES * (group + 1) / VOCABULARY_GROUPS;
    if (first >= *list.count)
        return;
    real largest = -3e38f, sum = 0;
    for (long begin = (long)CLASSES * group / VOCABULARY_GROUPS; begin < end; begin += VOCABULARY_TILE) {
        const VocabularyLogits logits = vocabulary_logits(points, rows, by, list, first, begin);
        for (int m = 0; m < VOCABULARY_SHARE; m++) {
            const int column = lane + m * VOCABULARY_SIDE;
            share[row][column] = begin + column < end ? logits.of[m] : -INFINITY;
            if (k < *list.count && begin + column == list.number[k])
                to.own[k] = logits.of[m];
        }
        __syncthreads();
        const real before = largest;
        for (int column = 0; column < VOCABULARY_TILE; column++)
            largest = share[row][column] > largest ? share[row][column] : largest;
        sum *= expf(before - largest);
        for (int column = 0; column < VOCABULARY_TILE; column++)
            sum += expf(share[row][column] - largest);
    }
    if (lane == 0 && k < *list.count) {
        to.largest[(long)k * VOCABULARY_GROUPS + group] = largest;
        to.sum[(long)k * VOCABULARY_GROUPS + group] = sum;
    }
}

/* A thread has a point of the list. */
static __global__ void KERNEL_terms(real *lse, double *scratch) {
    SIZES;
    const KERNEL_Scratch of = KERNEL_parts(scratch);
    const VocabularyList list = vocabulary_list(of.list, KERNEL_points());
    const long k = (long)blockIdx.x * THREADS + threadIdx.x;
    if (k >= *list.count)
        return;
    double most = -INFINITY, sum = 0;
    for (int group = 0; group < VOCABULARY_GROUPS; group++)
        most = fmax(most, (double)of.largest[k * VOCABULARY_GROUPS + group]);
    for (int group = 0; group < VOCABULARY_GROUPS; group++)
        sum += (double)of.sum[k * VOCABULARY_GROUPS + group] *
               exp((double)of.largest[k * VOCABULARY_GROUPS + group] - most);
    const double level = most + log(sum);
    const int point = list.point[k];
    if (LEARNT > 0)
        lse[point / (D * H * W) * LSE.sample + point % (D * H * W)] = (real)level;
    of.term[k] = RIGHT > 0 ? (double)of.own[k] >= most : level - (double)of.own[k];
}

/* One thread adds the terms in the order of the list. */
static __global__ void KERNEL_sum(double *result, double *scratch, const UnetControl *control) {
    SIZES;
    const KERNEL_Scratch of = KERNEL_parts(scratch);
    const double counted = control->labelled[COUNTED];
    if (threadIdx.x > 0)
        return;
    double total = ACCUMULATE ? *result : 0;
    for (int k = 0; k < *vocabulary_list(of.list, KERNEL_points()).count; k++)
        total += of.term[k] * (control->n / counted);
    *result = total;
}

LAUNCHER void KERNEL(UnetLaunch at, double *result, real *lse, double *scratch, const stored *x,
                     const void *t, const real *w, const real *b) {
    SIZES;
    constexpr long points = KERNEL_points(), tiles = (points + VOCABULARY_TILE - 1) / VOCABULARY_TILE;
    static_assert(SCRATCH / (long)sizeof(double) >= points + vocabulary_list_doubles(points) +
                                                        ((2 * VOCABULARY_GROUPS + 1) * points + 1) / 2,
                  "numbers of each point");
    constexpr auto list = unet_list_points<T_STAGED>;
    LAUNCH_BLOCKS(at, list, 1, scratch + points, lse, LSE.sample, t, T.block, D * H * W, N, (long)CLASSES,
                  at.control);
    LAUNCH_BLOCKS(at, KERNEL_groups, tiles * VOCABULARY_GROUPS, scratch, x, w, b);
    LAUNCH_BLOCKS(at, KERNEL_terms, blocks_for(points), lse, scratch);
    LAUNCH_BLOCKS(at, KERNEL_sum, 1, result, scratch, at.control);
}
/* END */
