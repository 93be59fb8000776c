/* losses.c - what losses, metrics and their gradients share: sums and slopes over the differences of two
 * tensors. */
#include "prologue.c"

/* BEGIN */
#include <math.h>

/* The operands of a comparison: prediction and target, two tensors of `channels` channels and `size`
 * points, each `stored` or as the loader left it. */
typedef struct {
    const void *at;
    const Layout *layout;
    int staged;
} Operand;

typedef struct {
    Operand p, t;
    int channels;
    int32_t size[3];
} Compared;

/* The amount that an element adds to the sum of a sample, from the difference of the two; and the result,
 * from the mean over the sample.  A loss may have a number of its own.  PSNR is for a peak of 1: numbers
 * beyond 0 and 1 are brought back first. */
typedef double Term(double difference, double epsilon);
typedef double OfMean(double mean);

INLINE double squared(double difference, double epsilon) {
    (void)epsilon;
    return difference * difference;
}

INLINE double absolute(double difference, double epsilon) {
    (void)epsilon;
    return fabs(difference);
}

INLINE double smooth_absolute(double difference, double epsilon) {
    return sqrt(difference * difference + epsilon * epsilon);
}

INLINE double mean_itself(double mean) {
    return mean;
}

INLINE double psnr_of_mean(double mean) {
    return clamp(-10 * log10(mean), 0, 100);
}

/* To 0..1; a NaN stays one. */
INLINE Vector vector_clamp(Vector v) {
    v = vector_choose(v < 0, (Vector){0}, v);
    return vector_choose(v > 1, (Vector){0} + 1, v);
}

/* The differences of `count` elements from p and t on, and something behind them up to a whole vector. */
INLINE void differences(double *to, Compared by, long p, long t, int count, int clamped) {
    for (int at = 0; at < count; at += LANES) {
        real a[LANES], b[LANES];
        const Vector x = load_either(by.p.staged, by.p.at, p + at, count - at);
        const Vector y = load_either(by.t.staged, by.t.at, t + at, count - at);
        store_real(a, clamped ? vector_clamp(x) : x);
        store_real(b, clamped ? vector_clamp(y) : y);
        for (int k = 0; k < LANES; k++)
            to[at + k] = (double)a[k] - (double)b[k];
    }
}

/* The sum over the first `width` points of a row, channel by channel: four sums of every fourth point, for
 * an addition waits for the one before. */
INLINE double terms_of_row(Compared by, Term *term, double epsilon, int clamped, Point at, int width) {
    enum { ELEMENTS = 2048 }; /* whose differences are there at a time */
    _Alignas(64) double difference[ELEMENTS + LANES];
    const int block = by.p.layout->block, points = ELEMENTS / (4 * block) * 4;
    double first = 0, second = 0, third = 0, fourth = 0;
    for (int c = 0; c < by.channels; c++)
        for (at.w = 0; at.w < width; at.w += points) {
            const int count = min_int(points, width - at.w);
            const double *d = difference + c % block;
            int w = 0;
            if (c % block == 0 || width > points)
                differences(difference, by, offset_of(by.p.layout, c / block, at),
                            offset_of(by.t.layout, c / block, at), count * block, clamped);
            for (; w + 4 <= count; w += 4, d += 4 * block) {
                first += term(d[0], epsilon);
                second += term(d[block], epsilon);
                third += term(d[2 * block], epsilon);
                fourth += term(d[3 * block], epsilon);
            }
            for (; w < count; w++, d += block)
                first += term(d[0], epsilon);
        }
    return (first + second) + (third + fourth);
}

/* The same, as far as the row is valid. */
INLINE double terms_of_valid(Compared by, Term *term, double epsilon, int clamped, Point at,
                             const int32_t *size) {
    return at.d < size[0] && at.h < size[1] ? terms_of_row(by, term, epsilon, clamped, at, size[2]) : 0;
}

/* The sum of each row of a range, as far as it is valid, into `scratch`, which has all rows of all samples.
 */
INLINE void terms_sum(int n, Rows rows, double *scratch, Compared by, const int32_t (*valid)[3], Term *term,
                      double epsilon, int clamped) {
    const int height = by.size[1];
#pragma omp for collapse(2) schedule(static)
    for (int i = 0; i < n; i++)
        for (int r = rows.begin; r < rows.end; r++) {
            const Point at = {i, r / height, r % height, 0};
            scratch[(long)i * by.size[0] * height + r] =
                terms_of_valid(by, term, epsilon, clamped, at, valid ? valid[i] : by.size);
        }
}

/* The mean over sample i, from these: over points, or over the windows that have REACH more points along a
 * row and a column than one; 0 where there is none. */
INLINE double mean_of_sample(int i, const double *scratch, Compared by, const int32_t (*valid)[3],
                             int reach) {
    const int all = by.size[0] * by.size[1];
    const int32_t *size = valid ? valid[i] : by.size;
    double sum = 0;
    for (int r = 0; r < all; r++)
        sum += scratch[(long)i * all + r];
    const int empty = size[1] <= reach || size[2] <= reach;
    return empty ? 0 : sum / ((double)by.channels * size[0] * (size[1] - reach) * (size[2] - reach));
}

/* The result, from these, once the last rows are there. */
INLINE void means_sum(int n, Rows rows, double *result, const double *scratch, Compared by,
                      const int32_t (*valid)[3], int reach, OfMean *of_mean, int accumulate) {
    if (rows.begin == rows.end || rows.end < by.size[0] * by.size[1])
        return;
#pragma omp single
    {
        double total = accumulate ? *result : 0;
        for (int i = 0; i < n; i++)
            total += of_mean(mean_of_sample(i, scratch, by, valid, reach));
        *result = total;
    }
}

/* The gradient by an element of p, from p - t and a factor. */
typedef Vector Slope(Vector difference, Vector factor, real epsilon);

INLINE Vector slope_of_square(Vector difference, Vector factor, real epsilon) {
    (void)epsilon;
    return factor * difference;
}

INLINE Vector slope_of_absolute(Vector difference, Vector factor, real epsilon) {
    (void)epsilon;
    return vector_mask(factor, difference) - vector_mask(factor, -difference);
}

/* By lanes: a compiler makes vectors of roots, not roots of vectors. */
INLINE Vector slope_of_charbonnier(Vector difference, Vector factor, real epsilon) {
    const Vector square = difference * difference + epsilon * epsilon;
    real root[LANES];
    store_real(root, square);
    for (int k = 0; k < LANES; k++)
        root[k] = sqrtf(root[k]);
    return factor * difference / load_real(root);
}

/* The factor, of `weight` times the mean over `total` samples. */
INLINE Vector slope_factor(double weight, int total, Compared by) {
    const double elements = (double)by.channels * by.size[0] * by.size[1] * by.size[2];
    return (Vector){0} + (real)(weight / (total * elements));
}

/* The slopes of a row of a block, whose gradients begin at dp. */
INLINE void slopes_of_row(stored *dp, int count, Compared by, int block, Point row, Vector factor,
                          Slope *slope, real epsilon) {
    for (int at = 0, left = count; left > 0; at += LANES, left -= LANES) {
        const Vector difference =
            load_either(by.p.staged, by.p.at, offset_of(by.p.layout, block, row) + at, left) -
            load_either(by.t.staged, by.t.at, offset_of(by.t.layout, block, row) + at, left);
        store_some(dp + at, slope(difference, factor, epsilon), left);
    }
}

/* The slopes of a range of rows. */
INLINE void slopes_store(int n, int total, Rows rows, stored *dp, const Layout *layout, Compared by,
                         double weight, Slope *slope, double epsilon) {
    const Vector factor = slope_factor(weight, total, by);
#pragma omp for collapse(3) schedule(static)
    for (int i = 0; i < n; i++)
        for (int block = 0; block < layout->blocks; block++)
            for (int r = rows.begin; r < rows.end; r++) {
                const Point row = {i, r / by.size[1], r % by.size[1], 0};
                slopes_of_row(dp + offset_of(layout, block, row), by.size[2] * layout->block, by, block,
                              row, factor, slope, (real)epsilon);
            }
}
/* END */
