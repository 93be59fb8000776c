/* comparisons.cuh - losses and metrics that are sums over the points of two tensors, several in one launch,
 * and the gradients of such losses.
 *
 * A step hands in what it wants to know (UnetComparison), and the last of the steps that the plan brought
 * together launches all of them, for they compare the same two tensors: a block for each band of each
 * sample of each of them. The block that is the last to come adds the bands up, in their order. */
#include "prologue.cuh"

/* BEGIN */
/* ---- several losses and metrics in one launch ------------------------------------------------------- */

enum { COMPARE_MSE, COMPARE_L1, COMPARE_CHARBONNIER, COMPARE_SMOOTH_L1, COMPARE_PSNR };

/* The amount that a point adds. */
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

/* The amount that a sample adds, from the mean over its points: for a metric decibels, for a peak of 1. */
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

/* For the `wanted` bands, of `BANDS` bands of every sample; with the last of them come the sums over all.
 */
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

/* ---- gradients of losses that are means over the points ---------------------------------------------- */

/* A Loss has by(), its operands; of(p, t), the slope of the error of a point; and weight(scale, errors,
 * sample), the factor of the slopes of a sample. */
template <class Loss, int P_STAGED, int T_STAGED>
DEVICE Vector store_gradient(unsigned i, stored *__restrict__ dp, const void *__restrict__ p,
                             const void *__restrict__ t, const double *errors, const double *scale,
                             const UnetControl *control) {
    constexpr Compared by = Loss::by();
    return store_slopes<Loss, P_STAGED, T_STAGED>(dp, i, p, t, control, by,
                                                  Loss::weight(scale, errors, i / vectors(1, by.points)));
}

template <class Loss, int P_STAGED, int T_STAGED>
static __global__ void unet_slopes(Range range, stored *__restrict__ dp, const void *__restrict__ p,
                                   const void *__restrict__ t, const double *errors, const double *scale,
                                   const UnetControl *control) {
    const unsigned i = vector_index(range);
    if (i != NO_VECTOR)
        store_gradient<Loss, P_STAGED, T_STAGED>(i, dp, p, t, errors, scale, control);
}

/* All vectors, and sums over bands of their points. */
template <class Loss, int P_STAGED, int T_STAGED>
static __global__ void unet_sum_slopes(unsigned points, stored *__restrict__ dp, real *__restrict__ sums,
                                       const void *__restrict__ p, const void *__restrict__ t,
                                       const double *errors, const double *scale,
                                       const UnetControl *control) {
    constexpr int columns = Loss::by().points.columns;
    sum_over_points<columns>(sums, points, [=](unsigned point, int column) {
        return store_gradient<Loss, P_STAGED, T_STAGED>(point * columns + column, dp, p, t, errors, scale,
                                                        control);
    });
}

/* The slopes of N samples; ERRORS: as weight() wants them, or NULL. */
template <class Loss, int N, int P_STAGED, int T_STAGED, int SUM_BANDS>
[[maybe_unused]] static void launch_slopes(UnetLaunch at, Rows rows, stored *dp, real *sums, const void *p,
                                           const void *t, const double *errors, const double *scale) {
    constexpr Grid points = Loss::by().points;
    if constexpr (SUM_BANDS > 0)
        LAUNCH_BLOCKS(at, (unet_sum_slopes<Loss, P_STAGED, T_STAGED>),
                      (sum_grid<points.columns, SUM_BANDS>()), N * points.d * points.h * points.w, dp, sums,
                      p, t, errors, scale, at.control);
    else
        LAUNCH_RANGE(at, (unet_slopes<Loss, P_STAGED, T_STAGED>),
                     range_of(N, {points.d, points.h, points.w, points.columns}, rows), dp, p, t, errors,
                     scale, at.control);
}
/* END */
