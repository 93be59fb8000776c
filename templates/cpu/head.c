/* head.c - the last convolution of a net, a loss and a metric of its prediction, and the gradients of the
 * convolution, in one pass over memory.
 *
 * The window is a point and the prediction p an image, so a row of p needs one row of x, and nothing else
 * needs p: a thread computes a row of p where no other sees it, compares it with the target, has the
 * gradient by p, and with it the gradient by x and the row's part of the gradient by the weights, while x
 * is in the cache. In the end the parts of all rows are added in order.
 *
 * All is summed as `conv`, the loss and its gradient, `conv_dgrad` and `conv_wgrad` do it (which see), to
 * the last bit: `sums` has, for each row of each sample, sums over pieces of PIXELS points, [piece][channel
 * of p][channel of x], then a sum for the bias; `terms` has a sum for the loss of each row, and behind all
 * rows the sums for the metric.  Only the lanes differ: lanes of weights are channels of x, which has more.
 */
#include "losses.c"

#define KERNEL head
#include "../example.h"

/* BEGIN */
/* A row of p, or of its gradient. */
#define LINE_OF_P                                                                                          \
    { CO, CO, 1, 0, 0, 0, 0, 0, 0 }

/* The arrays that threads share; weights in the order of `arrange`. */
typedef struct {
    stored *dx;
    double *terms;
    real *sums;
    const stored *x;
    const real *by_x, *by_p, *b;
    Compared by;
    Vector factor;
    long terms_apart; /* between terms of the loss and of the metric */
} KERNEL_Shared;

INLINE Vector KERNEL_weights(const real *w, int count, int apart) {
    Vector weights = {0};
    for (int lane = 0; lane < LANES; lane++)
        if (lane < count)
            weights[lane] = w[lane * apart];
    return weights;
}

/* Weights for each slot of channels of x, whose lanes are channels of p; and the other way round, for each
 * vector of x. */
INLINE void KERNEL_arrange(real *by_x, real *by_p, const real *w) {
    SIZES;
    for (int c = 0; c < X.blocks * BLOCK; c += FACTORS, by_x += LANES)
        store_real(by_x, factors_of(KERNEL_weights(w + c, c < CI ? CO : 0, CI),
                                    KERNEL_weights(w + c + 1, c + 1 < CI ? CO : 0, CI)));
    for (int v = 0; v < vectors(&X); v++, w += LANES)
        for (int k = 0, left = CI - v * LANES; k < CO; k += FACTORS, by_p += LANES)
            store_real(by_p, factors_of(KERNEL_weights(w + k * CI, left, 1),
                                        KERNEL_weights(w + (k + 1) * CI, k + 1 < CO ? left : 0, 1)));
}

/* ---- the convolution ---- */

INLINE void KERNEL_tile(stored *p, const stored *x, const real *w, const real *b, Point o, int rows) {
    SIZES;
    static const Layout line = LINE_OF_P;
    _Alignas(64) real copy[SIXTEEN_BITS ? 2 * ROWS * BLOCK : 1];
    const Extent e = extent(rows, 0, CO);
    Tile t = tile_start(start_of(BIAS ? b : NULL, CO, 0, 0));
    for (int block = 0; block < X.blocks; block++, w += slots(BLOCK) * LANES) {
        const stored *from = x + offset_of(&X, block, o);
        prefetch(from + 2 * rows * BLOCK, rows * BLOCK);
        tile_slide(&t, from, copy, w, BLOCK, (Taps){1, 1, 1}, 0, e);
    }
    tile_store(0, p, spot(&line, 0, o, 1, 0), t, e);
}

/* A function of its own has the registers to itself. */
NOINLINE void KERNEL_predict(stored *p, const stored *x, const real *w, const real *b, Point o) {
    SIZES;
    for (; o.w + 2 * ROWS <= W; o.w += 2 * ROWS)
        KERNEL_tile(p, x, w, b, o, 2 * ROWS);
    if (W % (2 * ROWS) > 0)
        KERNEL_tile(p, x, w, b, o, W % (2 * ROWS));
}

/* ---- gradients of the convolution ---- */

/* The gradients by vector v of x over a piece of a row, [at.w, end), and its part of the gradients by the
 * weights, from slots of the gradient by p: of the channels of a point, and of a channel at neighbouring
 * points. */
INLINE void KERNEL_piece(stored *dx, const stored *x, const real *channels, const real *points,
                         const real *w, real *sums, int v, Point at, int end) {
    SIZES;
    Column sum = {0};
    x += vector_at(&X, v, at);
    dx += vector_at(&DX, v, at);
    points += at.w / FACTORS * CO;
    channels += at.w * slots(CO);
    for (int q = at.w; q < end; q += FACTORS, points += CO) {
        const Vector met = factors_at(x, LANES, x + BLOCK, q + 1 < end ? LANES : 0);
#define ADD(c)                                                                                             \
    if (CO > c)                                                                                            \
        sum.v##c = add_factors(sum.v##c, points + c, met);
        EACH_ROW(ADD)
#undef ADD
        for (int f = 0; f < FACTORS && q + f < end; f++, channels += slots(CO), x += BLOCK, dx += BLOCK) {
            Vector gradient = {0};
            for (int k = 0; k < slots(CO); k++)
                gradient = add_factors(gradient, channels + k, load_real(w + k * LANES));
            store(dx, MASK ? vector_mask(gradient, load(x)) : gradient);
        }
    }
#define STORE(c)                                                                                           \
    if (CO > c)                                                                                            \
        store_real(sums + (c * vectors(&X) + v) * LANES, sum.v##c);
    EACH_ROW(STORE)
#undef STORE
}

/* From a row of gradients by p: the row of dx, the sums of its pieces and for the bias.  Copies of a point
 * end in zeros, and the copy of the next point goes over them. */
NOINLINE void KERNEL_gradients(stored *dx, const stored *x, const stored *dp, const real *w, real *sums,
                               Point at) {
    SIZES;
    real copy[SIXTEEN_BITS ? W * CO + LANES : 1], pairs[FACTORS > 1 ? W * CO + LANES : 1];
    for (int q = 0; SIXTEEN_BITS && q < W; q += FACTORS)
        store_real(copy + q / FACTORS * CO,
                   factors_at(dp + q * CO, CO, dp + (q + 1) * CO, q + 1 < W ? CO : 0));
    for (int q = 0; FACTORS > 1 && q < W; q++)
        copy_some((void *)(pairs + q * slots(CO)), dp + q * CO, CO);
    const real *points = scalars_at(dp, copy), *channels = FACTORS > 1 ? pairs : points;
    for (; at.w < W; at.w += PIXELS, sums += CO * vectors(&X) * LANES)
        for (int v = 0; v < vectors(&X); v++)
            KERNEL_piece(dx, x, channels, points, w + v * slots(CO) * LANES, sums, v, at,
                         min_int(at.w + PIXELS, W));
    if (BIAS)
        store_real(sums, points_sum(dp, CO, W, CO));
}

/* ---- a row ---- */

/* Elements of `sums` that it has. */
INLINE long KERNEL_row_sums(void) {
    SIZES;
    return ((W - 1) / PIXELS + 1) * CO * vectors(&X) * LANES + BIAS * LANES;
}

INLINE void KERNEL_row(KERNEL_Shared s, Point at, const int32_t (*valid)[3]) {
    SIZES;
    stored p[W * CO], dp[W * CO];
    const int32_t *size = valid ? valid[at.n] : s.by.size;
    const long row = (long)at.n * (D * H) + at.d * H + at.h;
    s.by.p.at = p;
    KERNEL_predict(p, s.x, s.by_x, s.b, at);
    s.terms[row] = terms_of_valid(s.by, ABSOLUTE ? absolute : squared, 0, 0, at, size);
    if (PSNR)
        s.terms[s.terms_apart + row] = terms_of_valid(s.by, squared, 0, 1, at, size);
    slopes_of_row(dp, W * CO, s.by, 0, at, s.factor, ABSOLUTE ? slope_of_absolute : slope_of_square, 0);
    KERNEL_gradients(s.dx, s.x, dp, s.by_p, s.sums + row * KERNEL_row_sums(), at);
}

/* ---- the sums ---- */

/* Vector v of the gradient by the weights of all channels of p, one after the other, or behind them that by
 * the bias. */
INLINE void KERNEL_total(int n, real *dw, real *db, const real *sums, int v) {
    SIZES;
    const int is_bias = v == CO * vectors(&X), apart = CO * vectors(&X) * LANES;
    const int pieces = (W - 1) / PIXELS + 1, c = v % vectors(&X) * LANES;
    const int count = is_bias ? CO : min_int(CI - c, LANES);
    real *to = is_bias ? db : dw + v / vectors(&X) * CI + c;
    const real *from = sums + (is_bias ? pieces * apart : v * LANES);
    Vector total = ACCUMULATE ? load_some_real(to, count) : (Vector){0};
    for (long r = 0; r < (long)n * D * H; r++, from += KERNEL_row_sums())
        for (int piece = 0; piece < (is_bias ? 1 : pieces); piece++) {
            const Vector part = load_real(from + piece * apart);
            total = !ACCUMULATE && r == 0 && piece == 0 ? part : part + total;
        }
    store_some_real(to, total, count);
}

UNUSED static void KERNEL(int n, int total, Rows rows, stored *dx, double *loss, double *psnr, real *dw,
                          real *db, double *terms, real *sums, const stored *x, const void *t,
                          const real *w, const real *b, const double *scale, const int32_t (*valid)[3]) {
    SIZES;
    static const Layout line = LINE_OF_P;
    _Alignas(64) real by_x[VECTORS(CI) * LANES * LANES], by_p[VECTORS(CI) * LANES * CO];
    const Compared by = {{NULL, &line, 0}, {t, &T, T_STAGED}, CO, {D, H, W}};
    const double weight = (ABSOLUTE ? 1 : 2) * WEIGHT * (SCALED ? scale[LOSS_SCALE] : 1);
    const long apart = (long)n * (D * H);
    const KERNEL_Shared s = {dx, terms, sums, x, by_x, by_p, b, by, slope_factor(weight, total, by), apart};
    KERNEL_arrange(by_x, by_p, w);
#pragma omp for collapse(2) schedule(static)
    for (int i = 0; i < n; i++)
        for (int r = rows.begin; r < rows.end; r++)
            KERNEL_row(s, (Point){i, r / H, r % H, 0}, valid);
    means_sum(n, rows, loss, terms, by, valid, 0, mean_itself, ACCUMULATE);
    if (PSNR)
        means_sum(n, rows, psnr, terms + apart, by, valid, 0, psnr_of_mean, ACCUMULATE);
    if (rows.begin < rows.end && rows.end == D * H) {
#pragma omp for schedule(static)
        for (int v = 0; v < CO * vectors(&X) + BIAS; v++)
            KERNEL_total(n, dw, db, sums, v);
    }
}
/* END */
