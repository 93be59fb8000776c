/* layer_norm_grad.c - gradient of a normalisation by mean and variance of the channels of a point. */
#include "norms.c"

#define KERNEL layer_norm_grad
#include "../example.h"

/* BEGIN */
INLINE real KERNEL_mean(Vector v) {
    SIZES;
    real part[LANES], total = 0;
    store_real(part, v);
    for (int k = 0; k < LANES; k++)
        total += part[k];
    return total / C;
}

/* The numbers that all channels of a point share. */
typedef struct {
    real mean, variance, slope, product; /* of x; of dy, and of dy (x - mean) the means */
} KERNEL_Shared;

INLINE KERNEL_Shared KERNEL_shared(const stored *x, const stored *dy, Point at) {
    SIZES;
    KERNEL_Shared s;
    Vector sum = {0}, squares = {0}, slopes = {0}, products = {0};
    for (int v = 0; v < vectors(&X); v++)
        sum += load_some(x + vector_at(&X, v, at), lanes(&X, v));
    s.mean = KERNEL_mean(sum);
    for (int v = 0; v < vectors(&X); v++) {
        const Vector slope = load_some(dy + vector_at(&DY, v, at), lanes(&DY, v));
        const Vector from_mean =
            first_lanes(load_some(x + vector_at(&X, v, at), lanes(&X, v)) - s.mean, C - v * LANES);
        squares += from_mean * from_mean;
        slopes += slope;
        products += slope * from_mean;
    }
    s.variance = KERNEL_mean(squares);
    s.slope = KERNEL_mean(slopes);
    s.product = KERNEL_mean(products);
    return s;
}

UNUSED static void KERNEL(int n, Rows rows, stored *dx, const stored *x, const stored *dy) {
    SIZES;
#pragma omp for collapse(2) schedule(static)
    for (int i = 0; i < n; i++)
        for (int r = rows.begin; r < rows.end; r++)
            for (int w = 0; w < W; w++) {
                const Point at = {i, r / H, r % H, w};
                const KERNEL_Shared s = KERNEL_shared(x, dy, at);
                const real square = s.variance + (real)EPSILON, factor = 1 / sqrtf(square);
                for (int v = 0; v < vectors(&DX); v++) {
                    const Vector from_mean = load_some(x + vector_at(&X, v, at), lanes(&X, v)) - s.mean;
                    const Vector slope = load_some(dy + vector_at(&DY, v, at), lanes(&DY, v));
                    const Vector gradient = (slope - s.slope - from_mean * (s.product / square)) * factor;
                    store_some(dx + vector_at(&DX, v, at), first_lanes(gradient, C - v * LANES),
                               lanes(&DX, v));
                }
            }
}
/* END */
