/* comparisons.cuh - losses and metrics that are sums over the points of two tensors, several in one launch.
 *
 * A step hands in what it wants to know (UnetComparison), and the last of the steps that the plan brought
 * together launches all of them, for they compare the same two tensors: a block for each band of each
 * sample of each of them. The block that is the last to come adds the bands up, in their order. */
#include "prologue.cuh"

/* BEGIN */
/* ---- several losses and metrics in one launch ------------------------------------------------------- */

enum { COMPARE_MSE, COMPARE_L1, COMPARE_CHARBONNIER, COMPARE_SMOOTH_L1, COMPARE_PSNR };

/* What a point adds. */
DEVICE double error_of(int kind, double number, double p, double t) {
    if (kind == COMPARE_PSNR) {
        p = clamp(p, 0, 1);
        t = clamp(t, 0, 1);
    }
    const double square = (p - t) * (p - t), difference = fabs(p - t);
    switch (kind) {
    case COMPARE_L1:
        return difference;
    case COMPARE_CHARBONNIER:
        return sqrt(square + number * number);
    case COMPARE_SMOOTH_L1:
        return difference < number ? difference * difference / (2 * number) : difference - number / 2;
    default:
        return square;
    }
}

/* What a sample adds, of the mean over its points: of a metric decibels, for a peak of 1. */
DEVICE double of_mean(int kind, double mean) {
    return kind == COMPARE_PSNR ? clamp(-10 * log10(mean), 0, 100) : mean;
}

/* One more; LAUNCH_ALL makes room where there is none. */
template <class LaunchAll>
static void add_comparison(UnetComparisons *all, UnetComparison comparison, LaunchAll launch_all) {
    if (all->count == UNET_COMPARISONS)
        launch_all();
    all->of[all->count++] = comparison;
}

/* Have all other blocks of the grid come here?  Then what they wrote before may be read. */
DEVICE bool is_last_block(uint32_t *arrived) {
    SHARED(int, last, [1]);
    if (threadIdx.x == 0) {
        __threadfence();
        last[0] = atomicInc(arrived, gridDim.x - 1) == gridDim.x - 1;
        __threadfence();
    }
    __syncthreads();
    return last[0];
}

/* For those of the `BANDS` bands of every sample that are `wanted`; with the last of them come the sums
 * over all. */
template <int N, int BANDS, int P_STAGED, int T_STAGED>
DEVICE void compare_bands(const UnetComparisons &all, const void *p, const void *t,
                          const UnetControl *control, uint32_t *arrived, Compared by, Rows wanted) {
    const unsigned count = wanted.end - wanted.begin, block = blockIdx.x % (N * count);
    const unsigned sample = block / count, band = wanted.begin + block % count;
    const UnetComparison &one = all.of[blockIdx.x / (N * count)];
    const int kind = one.kind;
    const double number = one.number;
    sum_band<P_STAGED, T_STAGED>(one.scratch, p, t, control, by, BANDS, sample, band,
                                 [=](double a, double b) { return error_of(kind, number, a, b); });
    if (wanted.end < BANDS || !is_last_block(arrived))
        return;
    for (unsigned k = 0; k < all.count; k++) {
        const int of = all.of[k].kind;
        sum_samples<N, BANDS>(all.of[k].result, all.of[k].scratch, control, by, all.of[k].adds,
                              [=](double mean) { return of_mean(of, mean); });
    }
}
/* END */
