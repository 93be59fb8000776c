/* gradient_norm.c - the norm of all gradients as one vector, and by what they are multiplied so that it is
 * at most LIMIT: PyTorch's clip_grad_norm_. */
#include "prologue.c"

#define KERNEL gradient_norm
#include "../example.h"

/* BEGIN */
#include <math.h>

/* Eight sums, so that processors with registers of any length add in one order. */
UNUSED static double KERNEL_squares(const real *g, long count) {
    double sum[8] = {0}, all = 0;
    long i = 0;
    for (; i + 8 <= count; i += 8)
        for (int lane = 0; lane < 8; lane++)
            sum[lane] += (double)g[i + lane] * (double)g[i + lane];
    for (; i < count; i++)
        sum[i % 8] += (double)g[i] * (double)g[i];
    for (int lane = 0; lane < 8; lane++)
        all += sum[lane];
    return all;
}

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
        double sum = 0;
        for (int run = 0; run < RUNS; run++) {
            const long from = RUN[2 * run] > begin ? RUN[2 * run] : begin;
            const long to = RUN[2 * run + 1] < end ? RUN[2 * run + 1] : end;
            if (from < to)
                sum += KERNEL_squares(g + (AT[run] + from), to - from);
        }
        scratch[band] = sum;
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
