/* track.c - an exponential average of the mean of x. */

/* BEGIN */
UNUSED static void KERNEL(int n, real *mean, const stored *x) {
    SIZES;
#pragma omp single
    {
        double sum = 0;
        for (int i = 0; i < n; i++)
            for (int c = 0; c < C; c++)
                for (int d = 0; d < D; d++)
                    for (int h = 0; h < H; h++)
                        for (int w = 0; w < W; w++)
                            sum += load(x, element(&X, i, c, d, h, w));
        mean[0] = (real)((1 - RATE) * mean[0] + RATE * sum / ((double)n * C * D * H * W));
    }
}
/* END */
