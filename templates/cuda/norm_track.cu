/* norm_track.cu - running averages of means and variances; the variance of all there could be, of which the
 * batch is a sample, is a little larger.  With groups of samples they are those of the first group, or, if
 * SYNC, of all. */
#include "prologue.cuh"

#define KERNEL norm_track
#include "../example_cuda.h"

/* BEGIN */
static __global__ void KERNEL_channels(real *running_mean, real *running_var, const real *__restrict__ mean,
                                       const real *__restrict__ variance, const UnetControl *control) {
    SIZES;
    const int c = thread_index();
    const int left = SYNC ? control->n : control->n - control->start, samples = SYNC || left < N ? left : N;
    const double count = (double)samples * POINTS, larger = count > 1 ? count / (count - 1) : 1;
    if (c >= C || left <= 0 || (!SYNC && GROUP > 0 && control->start >= GROUP))
        return;
    running_mean[c] = (real)((1 - MOMENTUM) * running_mean[c] + MOMENTUM * mean[c]);
    running_var[c] = (real)((1 - MOMENTUM) * running_var[c] + MOMENTUM * larger * variance[c]);
}

LAUNCHER void KERNEL(UnetLaunch at, real *running_mean, real *running_var, const real *mean,
                     const real *variance) {
    SIZES;
    LAUNCH(at, KERNEL_channels, blocks_for(C), running_mean, running_var, mean, variance, at.control);
}
/* END */
