/* norms.c - what normalisations share: numbers of groups of channels, and sums over bands of rows. */
#include "prologue.c"

/* BEGIN */
#include <math.h>

/* Numbers of a whole plane are found in functions of their own, which all kernels of a program share. */

/* Vector v of what each channel finds in the numbers of `groups` groups; 0 behind the last channel. */
NOINLINE Vector of_groups(const real *p, int v, int channels, int groups) {
    if (groups == channels)
        return load_some_real(p + v * LANES, channels - v * LANES);
    real part[LANES];
    for (int k = 0; k < LANES; k++) {
        const int c = v * LANES + k;
        part[k] = c < channels ? p[c / (channels / groups)] : 0;
    }
    return load_real(part);
}

NOINLINE Vector inverse_deviation(Vector variance, double epsilon) {
    real part[LANES];
    store_real(part, variance + (real)epsilon);
    for (int k = 0; k < LANES; k++)
        part[k] = 1 / sqrtf(part[k]);
    return load_real(part);
}

/* The numbers that normalise vector v of the channels of a sample, or of the batch. */
typedef struct {
    Vector centre, factor, shift;
} Normal;

NOINLINE Normal normal_of(const real *mean, const real *variance, const real *w, const real *b, int v,
                          int channels, int groups, double epsilon) {
    Normal n = {of_groups(mean, v, channels, groups),
                inverse_deviation(of_groups(variance, v, channels, groups), epsilon),
                b ? bias_vector(b, channels, v) : (Vector){0}};
    if (w)
        n.factor *= bias_vector(w, channels, v);
    return n;
}

INLINE Vector normalised(Normal n, Vector x) {
    return (x - n.centre) * n.factor + n.shift;
}

/* The slopes below zero of vector v of the channels: SLOPE, unless LEARNT has one for each or for all. */
INLINE Vector slopes_of(const real *learnt, int shared, double slope, int channels, int v) {
    return !learnt  ? (Vector){0} + (real)slope
           : shared ? (Vector){0} + learnt[0]
                    : bias_vector(learnt, channels, v);
}

/* The gradient by what a leaky ReLU behind made of y, taken back through that; if RELU the slope is none.
 */
INLINE Vector through_leaky(Vector y, Vector gradient, Vector slopes, int relu) {
    return vector_choose(y > 0, gradient, relu ? (Vector){0} : slopes * gradient);
}

/* The row behind one, of planes of so many. */
INLINE Point row_behind(Point row, int height) {
    const int last = row.h + 1 == height;
    return (Point){row.n, row.d + last, last ? 0 : row.h + 1, row.w};
}

/* The first row of a band. */
INLINE int band_begin(int rows, int bands, int band) {
    return (int)((long)rows * band / bands);
}

/* A band has `numbers` numbers for each lane of vector v. */
INLINE double *of_band(double *scratch, const Layout *x, int numbers, int bands, int sample, int v,
                       int band) {
    return scratch + (((long)sample * vectors(x) + v) * bands + band) * numbers * LANES;
}

/* Adds the lanes of v to a sum in double. */
NOINLINE void add_lanes(double *sum, Vector v) {
    real part[LANES];
    store_real(part, v);
    for (int k = 0; k < LANES; k++)
        sum[k] += (double)part[k];
}
/* END */
