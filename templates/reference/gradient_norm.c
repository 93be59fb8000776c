/* gradient_norm.c - the norm of all gradients as one vector, and by what they are multiplied so that it is
 * at most LIMIT: PyTorch's clip_grad_norm_. */
#include "prologue.c"

#define KERNEL gradient_norm
#include "../example.h"

/* BEGIN */
UNUSED static void KERNEL_finish(double *norm, const double *scale, double squares) {
    SIZES;
    const double unscale = SCALED ? scale[UNSCALE] : 1;
    const double length = unscale == 0 ? -1 : sqrt(squares) * unscale, share = LIMIT / (length + 1e-6);
    norm[GRADIENT_NORM] = length;
    norm[FACTOR] = unscale == 0 ? 0 : length - length != 0 ? NAN : share > 1 ? unscale : share * unscale;
}

UNUSED static void KERNEL(double *norm, double *scratch, const real *g, const double *scale) {
    SIZES;
#pragma omp for schedule(static)
    for (int band = 0; band < BANDS; band++) {
        const long begin = (long)COUNT * band / BANDS, end = (long)COUNT * (band + 1) / BANDS;
        scratch[band] = 0;
        for (int run = 0; run < RUNS; run++)
            for (long i = RUN[2 * run] > begin ? RUN[2 * run] : begin; i < end && i < RUN[2 * run + 1]; i++)
                scratch[band] += (double)g[AT[run] + i] * (double)g[AT[run] + i];
    }
#pragma omp single
    {
        double squares = 0;
        for (int band = 0; band < BANDS; band++)
            squares += scratch[band];
        KERNEL_finish(norm, scale, squares);
    }
}
/* END */
