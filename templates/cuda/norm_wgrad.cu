/* norm_wgrad.cu - gradients of a normalisation by its weights, and what its gradient by the input needs of
 * them: for each mean the means of w dy and of w dy z, where z is what was normalised. */
#include "prologue.cuh"

#define KERNEL norm_wgrad
#include "../example_cuda.h"

/* BEGIN */
/* The means of the channels in a column of vectors. */
DEVICE Vector KERNEL_centre(const real *mean, unsigned sample, int column) {
    SIZES;
    Vector v;
    for (int l = 0; l < LANES; l++) {
        const int c = column * LANES + l;
        v.lane[l] = c < C ? mean[(BATCH ? 0 : sample * MEAN.sample) + c / (C / GROUPS)] : 0;
    }
    return v;
}

/* The sums of dy, and of dy (x - mean), over a band. */
struct KERNEL_Sums {
    static constexpr bool slopes = true;
    DEVICE Vector centre(const real *mean, unsigned sample, int column, Vector, unsigned) {
        return KERNEL_centre(mean, sample, column);
    }
    DEVICE real of(int k, real x, real dy, real centre) { return k == 0 ? dy : dy * (x - centre); }
};

/* Those of a group, sample by sample, as far as samples count. */
static __global__ void KERNEL_groups(real *dw, real *db, const double *__restrict__ scratch, real *sums,
                                     const real *__restrict__ variance, const real *__restrict__ w,
                                     const UnetControl *control) {
    SIZES;
    const int g = thread_index(), of = C / GROUPS;
    if (g >= GROUPS)
        return;
    for (int set = 0; set < (BATCH ? 1 : N); set++) {
        const double factor = 1 / sqrt((double)variance[set * MEAN.sample + g] + EPSILON);
        double all[2] = {0, 0}, count = 0;
        for (int c = g * of; c < (g + 1) * of; c++) {
            double total[2] = {0, 0};
            for (int i = set; i < (BATCH ? N : set + 1) && is_valid(control, i); i++) {
                count += (double)D * H * W;
                for (int band = 0; band < BANDS; band++) {
                    const double *from = scratch + ((long)i * BANDS + band) * 2 * X.block + c;
                    total[0] += from[0];
                    total[1] += from[X.block] * factor;
                }
            }
            if (AFFINE) {
                const int more = ACCUMULATE || set > 0;
                db[c] = (more ? db[c] : 0) + (real)total[0];
                dw[c] = (more ? dw[c] : 0) + (real)total[1];
            }
            for (int k = 0; k < 2; k++)
                all[k] += total[k] * (AFFINE ? w[c] : 1);
        }
        for (int k = 0; k < 2; k++)
            sums[set * SUMS.sample + k * GROUPS + g] = (real)(count > 0 ? all[k] / count : 0);
    }
}

LAUNCHER void KERNEL(UnetLaunch at, real *dw, real *db, double *scratch, real *sums, const stored *x,
                     const stored *dy, const real *mean, const real *variance, const real *w,
                     const real *b) {
    SIZES;
    (void)b;
    constexpr int columns = X.block / LANES;
    constexpr auto twice = unet_sum_twice<columns, BANDS, KERNEL_Sums>;
    LAUNCH_BLOCKS(at, twice, dim3(N * BANDS, sum_blocks<columns>()), scratch, x, dy, mean, D * H * W);
    LAUNCH(at, KERNEL_groups, blocks_for(GROUPS), dw, db, scratch, sums, variance, w, at.control);
}
/* END */
