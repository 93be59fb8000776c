/* similarity.c - what ssim and its gradient share: how alike two images are in a window. */
#include "prologue.c"

/* BEGIN */
enum { WINDOW = 11, REACH = WINDOW - 1, SOME_POINTS = 64 };

/* A Gaussian with a standard deviation of 1.5, whose sum is 1. */
UNUSED static const double gaussian[WINDOW] = {
    0.00102838008447911, 0.007598758135239185, 0.03600077212843083, 0.10936068950970002,
    0.2130055377112537,  0.26601172486179436,  0.2130055377112537,  0.10936068950970002,
    0.03600077212843083, 0.007598758135239185, 0.00102838008447911};

/* The means of a window: of p, of t, of their squares and of their product; and the two similarities: of
 * brightness, and of variation. */
typedef struct {
    double p, t, pp, tt, pt, bright, over_bright, varies, over_varies;
} Likeness;

UNUSED static Likeness likeness(Compared by, int n, int c, int h, int w, double range) {
    Likeness is = {0};
    for (int kh = 0; kh < WINDOW; kh++)
        for (int kw = 0; kw < WINDOW; kw++) {
            const double p = operand(by.p, n, c, 0, h + kh, w + kw),
                         t = operand(by.t, n, c, 0, h + kh, w + kw);
            const double weight = gaussian[kh] * gaussian[kw];
            is.p += weight * p;
            is.t += weight * t;
            is.pp += weight * p * p;
            is.tt += weight * t * t;
            is.pt += weight * p * t;
        }
    const double bright = (0.01 * range) * (0.01 * range), varies = (0.03 * range) * (0.03 * range);
    is.bright = 2 * is.p * is.t + bright;
    is.over_bright = is.p * is.p + is.t * is.t + bright;
    is.varies = 2 * (is.pt - is.p * is.t) + varies;
    is.over_varies = is.pp - is.p * is.p + is.tt - is.t * is.t + varies;
    return is;
}

/* The sum of each row of a range, over the windows that end in it, as far as it is valid, into `scratch`,
 * which has all rows of all samples. */
UNUSED static void similarities_sum(int n, Rows rows, double *scratch, Compared by,
                                    const int32_t (*valid)[3], double range) {
#pragma omp for collapse(2) schedule(static)
    for (int i = 0; i < n; i++)
        for (int r = rows.begin; r < rows.end; r++) {
            const int32_t *size = valid ? valid[i] : by.size;
            double sum = 0;
            for (int c = 0; c < by.channels && r >= REACH && r < size[1]; c++)
                for (int w = 0; w + REACH < size[2]; w++) {
                    const Likeness is = likeness(by, i, c, r - REACH, w, range);
                    sum += is.bright * is.varies / (is.over_bright * is.over_varies);
                }
            scratch[(long)i * by.size[1] + r] = sum;
        }
}

UNUSED static double ssim_loss_of_mean(double mean) {
    return 1 - mean;
}

/* How the similarity of a window grows with a point of p there, divided by the weight of the point:
 * OF_MEANS, and so much times the point of p, and of t. */
enum { OF_MEANS, OF_P, OF_T, SLOPES_OF_WINDOW };

UNUSED static void similarity_slopes(double slope[SLOPES_OF_WINDOW], Likeness is) {
    const double each = 1 / (is.over_bright * is.over_varies), all = is.bright * is.varies * each;
    slope[OF_MEANS] = 2 * is.t * (is.varies - is.bright) * each +
                      2 * is.p * all * (1 / is.over_varies - 1 / is.over_bright);
    slope[OF_P] = -2 * all / is.over_varies;
    slope[OF_T] = 2 * is.bright * each;
}

/* The slopes of SOME_POINTS points of a row, from `first` on: the sums over all windows that they lie in.
 */
UNUSED static void slopes_of_points(double total[SOME_POINTS][SLOPES_OF_WINDOW], Compared by, int n, int c,
                                    int row, int first, double range) {
    memset(total, 0, SOME_POINTS * sizeof *total);
    for (int h = row - REACH; h <= row; h++)
        for (int w = first - REACH; w < first + SOME_POINTS; w++) {
            if (!inside(h, by.size[1] - REACH) || !inside(w, by.size[2] - REACH))
                continue;
            double slope[SLOPES_OF_WINDOW];
            similarity_slopes(slope, likeness(by, n, c, h, w, range));
            for (int kw = 0; kw < WINDOW; kw++)
                for (int k = 0; k < SLOPES_OF_WINDOW && inside(w + kw - first, SOME_POINTS); k++)
                    total[w + kw - first][k] += gaussian[row - h] * gaussian[kw] * slope[k];
        }
}

/* The gradient of some points of a row, times `factor`. */
UNUSED static void gradient_of_points(stored *dp, const Layout *layout, Compared by, int n, int c, int row,
                                      int first, double range, double factor) {
    double slope[SOME_POINTS][SLOPES_OF_WINDOW];
    slopes_of_points(slope, by, n, c, row, first, range);
    for (int k = 0; k < SOME_POINTS && first + k < by.size[2]; k++) {
        const double p = operand(by.p, n, c, 0, row, first + k), t = operand(by.t, n, c, 0, row, first + k);
        store(dp, element(layout, n, c, 0, row, first + k),
              (real)(factor * (slope[k][OF_MEANS] + p * slope[k][OF_P] + t * slope[k][OF_T])));
    }
}

/* The gradient of a range of rows: `weight` times the gradient of the mean over `total` samples and all
 * windows, turned round. */
UNUSED static void similarity_gradient(int n, int total, Rows rows, stored *dp, const Layout *layout,
                                       Compared by, double weight, double range) {
    const double windows = (double)by.channels * (by.size[1] - REACH) * (by.size[2] - REACH);
#pragma omp for collapse(2) schedule(static)
    for (int i = 0; i < n; i++)
        for (int r = rows.begin; r < rows.end; r++) {
            for (int c = 0; c < by.channels; c++)
                for (int w = 0; w < by.size[2]; w += SOME_POINTS)
                    gradient_of_points(dp, layout, by, i, c, r, w, range, -weight / (total * windows));
            for (int c = by.channels; c < stored_channels(layout); c++)
                for (int w = 0; w < by.size[2]; w++)
                    store(dp, element(layout, i, c, 0, r, w), 0);
        }
}
/* END */
