/* norm_track.cu - running averages of means and variances; the variance of all there could be is a little
 * larger than the variance of the batch, which is a sample.  With groups of samples they follow the first
 * group, or, if SYNC, all.  A step hands in its averages, and the last of the steps that the plan brought
 * together launches all of them (moments.cuh). */
#include "moments.cuh"

#define KERNEL norm_track
#include "../example_cuda.h"

/* BEGIN */
LAUNCHER void KERNEL(UnetLaunch at, real *running_mean, real *running_var, const real *mean,
                     const real *variance) {
    SIZES;
    if (at.tracks->count == UNET_TRACKS)
        launch_tracks(at);
    add_track(at.tracks, {running_mean, running_var, mean, variance, MOMENTUM, POINTS, C, N, GROUP, SYNC});
    if (!at.more)
        launch_tracks(at);
}
/* END */
