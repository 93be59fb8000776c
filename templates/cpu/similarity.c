/* similarity.c - what ssim and its gradient share: the windows of a row, and how alike two images are in
 * them. */
#include "losses.c"

/* BEGIN */
enum {
    WINDOW = 11,        /* points along an axis */
    REACH = WINDOW - 1, /* from the first to the last of them */
    ELEMENTS = 128, /* of a row that are compared at a time, and the elements that their windows reach */
    REACHED = ELEMENTS + REACH * BLOCK,
    TILE_ROWS = 16 /* of a gradient that are computed at a time */
};

/* A Gaussian with a standard deviation of 1.5, whose sum is 1. */
static const double gaussian[WINDOW] = {0.00102838008447911,  0.007598758135239185, 0.03600077212843083,
                                        0.10936068950970002,  0.2130055377112537,   0.26601172486179436,
                                        0.2130055377112537,   0.10936068950970002,  0.03600077212843083,
                                        0.007598758135239185, 0.00102838008447911};

/* Means for each of some windows of the images p and t: of p + t and of p - t, and of the squares of these.
 * With them there are four to take, and p and t have five. */
enum { SUM, DIFFERENCE, SUM_SQUARED, DIFFERENCE_SQUARED, MEANS };

/* to[e] = sum of from[e + k * step], each times the weight of point k of a window. */
INLINE void windows_sum(double *to, const double *from, int step, int count) {
    for (int e = 0; e < count; e++)
        to[e] = 0;
    for (int k = 0; k < WINDOW; k++)
        for (int e = 0; e < count; e++)
            to[e] += gaussian[k] * from[e + k * step];
}

/* The means over the columns of windows whose first row is the row of `row`, for `count` elements of a
 * block from `first` on. */
INLINE void columns_sum(double (*mean)[REACHED + REACH * BLOCK + LANES], Compared by, int block, Point row,
                        int first, int count) {
    memset(mean, 0, MEANS * sizeof *mean);
    for (int k = 0; k < WINDOW; k++, row.h++) {
        const long p = offset_of(by.p.layout, block, row) + first,
                   t = offset_of(by.t.layout, block, row) + first;
        for (int at = 0; at < count; at += LANES) {
            real a[LANES], b[LANES];
            store_real(a, load_either(by.p.staged, by.p.at, p + at, count - at));
            store_real(b, load_either(by.t.staged, by.t.at, t + at, count - at));
            for (int l = 0; l < LANES; l++) {
                const double sum = (double)a[l] + (double)b[l], difference = (double)a[l] - (double)b[l];
                mean[SUM][at + l] += gaussian[k] * sum;
                mean[DIFFERENCE][at + l] += gaussian[k] * difference;
                mean[SUM_SQUARED][at + l] += gaussian[k] * sum * sum;
                mean[DIFFERENCE_SQUARED][at + l] += gaussian[k] * difference * difference;
            }
        }
    }
}

/* The means over the windows that begin at `count` elements of a block from `first` on. */
INLINE void window_means(double (*mean)[REACHED], Compared by, int block, Point row, int first, int count) {
    double column[MEANS][REACHED + REACH * BLOCK + LANES];
    const int step = by.p.layout->block;
    columns_sum(column, by, block, row, first, count + REACH * step);
    for (int k = 0; k < MEANS; k++)
        windows_sum(mean[k], column[k], step, count);
}

/* The two similarities of a window, twice each: of brightness, and of variation. */
typedef struct {
    double bright, over_bright, varies, over_varies;
} Likeness;

INLINE Likeness likeness(const double (*mean)[REACHED], int e, double range) {
    const double bright = 2 * (0.01 * range) * (0.01 * range), varies = 2 * (0.03 * range) * (0.03 * range);
    const double sum = mean[SUM][e] * mean[SUM][e], difference = mean[DIFFERENCE][e] * mean[DIFFERENCE][e];
    const double of_sum = mean[SUM_SQUARED][e] - sum,
                 of_difference = mean[DIFFERENCE_SQUARED][e] - difference;
    return (Likeness){sum - difference + bright, sum + difference + bright, of_sum - of_difference + varies,
                      of_sum + of_difference + varies};
}

/* The sum over the windows whose first row is the row of `row`, as far as they end before column `width`.
 */
INLINE double similarities_of_row(Compared by, double range, Point row, int width) {
    const Layout *layout = by.p.layout;
    double mean[MEANS][REACHED], of_window[ELEMENTS], total = 0;
    for (int block = 0; block < layout->blocks; block++)
        for (int first = 0, all = (width - REACH) * layout->block; first < all; first += ELEMENTS) {
            const int count = min_int(ELEMENTS, all - first);
            window_means(mean, by, block, row, first, count);
            for (int e = 0; e < count; e++) {
                const Likeness is = likeness((const double(*)[REACHED])mean, e, range);
                of_window[e] = is.bright * is.varies / (is.over_bright * is.over_varies);
            }
            for (int e = 0; e < count; e++)
                if (block * layout->block + (first + e) % layout->block < by.channels)
                    total += of_window[e];
        }
    return total;
}

/* The sum of each row of a range, over the windows that end in it, as far as it is valid, into `scratch`,
 * which has all rows of all samples. */
INLINE void similarities_sum(int n, Rows rows, double *scratch, Compared by, const int32_t (*valid)[3],
                             double range) {
#pragma omp for collapse(2) schedule(static)
    for (int i = 0; i < n; i++)
        for (int r = rows.begin; r < rows.end; r++) {
            const int32_t *size = valid ? valid[i] : by.size;
            const Point row = {i, 0, r - REACH, 0};
            scratch[(long)i * by.size[1] + r] =
                r >= REACH && r < size[1] ? similarities_of_row(by, range, row, size[2]) : 0;
        }
}

INLINE double ssim_loss_of_mean(double mean) {
    return 1 - mean;
}

/* How the similarity of a window grows with a point of p there, divided by the weight of the point:
 * OF_MEANS, and so much times the point of p, and of t. */
enum { OF_MEANS, OF_P, OF_T, SLOPES_OF_WINDOW };

INLINE void similarity_slopes(double (*slope)[REACHED], const double (*mean)[REACHED], int to, int count,
                              double range) {
    for (int e = 0; e < count; e++) {
        const Likeness is = likeness(mean, e, range);
        const double each = 1 / (is.over_bright * is.over_varies), all = is.bright * is.varies * each;
        const double by_bright = is.varies * each, by_over_bright = -all / is.over_bright;
        const double by_varies = is.bright * each, by_over_varies = -all / is.over_varies;
        const double of_sum = by_over_bright - by_over_varies, of_product = by_bright - by_varies;
        slope[OF_MEANS][to + e] =
            2 * (mean[SUM][e] * (of_sum + of_product) + mean[DIFFERENCE][e] * (of_sum - of_product));
        slope[OF_P][to + e] = 4 * by_over_varies;
        slope[OF_T][to + e] = 4 * by_varies;
    }
}

/* Rows of a block of a sample, and elements of these. */
typedef struct {
    int i, block, begin, end, first, count;
} Part;

typedef double Slopes[TILE_ROWS][SLOPES_OF_WINDOW][ELEMENTS];

/* Adds to the slopes of a part the slopes of the windows whose first row is `row`. */
INLINE void add_slopes(Slopes total, Compared by, Part part, int row, double range) {
    double mean[MEANS][REACHED], slope[SLOPES_OF_WINDOW][REACHED], across[ELEMENTS];
    const int step = by.p.layout->block, reach = REACH * step, begin = part.first - reach;
    const int from = max_int(begin, 0), to = min_int(part.first + part.count, by.size[2] * step - reach);
    memset(slope, 0, sizeof slope);
    if (from < to)
        window_means(mean, by, part.block, (Point){part.i, 0, row, 0}, from, to - from);
    similarity_slopes(slope, (const double(*)[REACHED])mean, from - begin, to - from, range);
    for (int k = 0; k < SLOPES_OF_WINDOW; k++) {
        windows_sum(across, slope[k], step, part.count);
        for (int r = max_int(row, part.begin); r < min_int(row + WINDOW, part.end); r++)
            for (int e = 0; e < part.count; e++)
                total[r - part.begin][k][e] += gaussian[r - row] * across[e];
    }
}

/* The gradient of a part, from its slopes. */
INLINE void store_part(stored *dp, const Layout *layout, Compared by, Part part, const Slopes slope,
                       double factor) {
    for (int r = part.begin; r < part.end; r++)
        for (int at = 0; at < part.count; at += LANES) {
            const Point row = {part.i, 0, r, 0};
            const int left = part.count - at;
            real p[LANES], t[LANES];
            store_real(p, load_either(by.p.staged, by.p.at,
                                      offset_of(by.p.layout, part.block, row) + part.first + at, left));
            store_real(t, load_either(by.t.staged, by.t.at,
                                      offset_of(by.t.layout, part.block, row) + part.first + at, left));
            for (int l = 0; l < LANES; l++) {
                const int e = min_int(at + l, part.count - 1), from = r - part.begin;
                p[l] = (real)(factor * (slope[from][OF_MEANS][e] + (double)p[l] * slope[from][OF_P][e] +
                                        (double)t[l] * slope[from][OF_T][e]));
            }
            store_some(dp + offset_of(layout, part.block, row) + part.first + at, load_real(p), left);
        }
}

INLINE void similarity_part(stored *dp, const Layout *layout, Compared by, Part part, double range,
                            double factor) {
    Slopes slope;
    memset(slope, 0, sizeof slope);
    for (int row = max_int(part.begin - REACH, 0); row < min_int(part.end, by.size[1] - REACH); row++)
        add_slopes(slope, by, part, row, range);
    store_part(dp, layout, by, part, (const double(*)[SLOPES_OF_WINDOW][ELEMENTS])slope, factor);
}

/* The gradient of a range of rows: `weight` times the gradient of the mean over `total` samples and all
 * windows, turned round. */
INLINE void similarity_gradient(int n, int total, Rows rows, stored *dp, const Layout *layout, Compared by,
                                double weight, double range) {
    const double windows = (double)by.channels * (by.size[1] - REACH) * (by.size[2] - REACH);
    const int width = by.size[2] * layout->block;
#pragma omp for collapse(4) schedule(static)
    for (int i = 0; i < n; i++)
        for (int block = 0; block < layout->blocks; block++)
            for (int r = rows.begin; r < rows.end; r += TILE_ROWS)
                for (int e = 0; e < width; e += ELEMENTS)
                    similarity_part(dp, layout, by,
                                    (Part){i, block, r, min_int(r + TILE_ROWS, rows.end), e,
                                           min_int(ELEMENTS, width - e)},
                                    range, -weight / (total * windows));
}
/* END */
