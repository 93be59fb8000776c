/* tiny_unet_kernels.c - the kernels of tiny_unet
 *
 * Made by unetc from tiny_unet.unet (16d462818c889222) with: --size=64x64 --kernels=reference
 * Do not edit: change the .unet file and compile again. */
#include "tiny_unet_plan.h"

/* cast - a tensor out of an image as the loader left it. */
void tiny_unet_cast_kernel(const tiny_unet_cast_sizes *sizes, int n, Rows rows, stored *y, const void *x) {
    const int C = sizes->C, H = sizes->H, W = sizes->W;
    const Layout Y = sizes->Y, X = sizes->X;
    const int X_STAGED = sizes->X_STAGED;
#pragma omp for collapse(2) schedule(static)
    for (int i = 0; i < n; i++)
        for (int c = 0; c < stored_channels(&Y); c++)
            for (int r = rows.begin; r < rows.end; r++)
                for (int p = 0; p < W; p++)
                    store(y, element(&Y, i, c, r / H, r % H, p),
                          c < C ? load_either(X_STAGED, x, element(&X, i, c, r / H, r % H, p)) : 0);
}

/* zero_halo - zeroes what lies around and between the points of a tensor. */
/* The halo of a row is the rest of its line in memory. The halo above the first row of a plane and in front
 * of the first plane belongs to the row behind it, that below the last to the row before it. */
UNUSED static void zero_halo_zero(stored *y, long from, long to) {
    for (; from < to; from++)
        store(y, from, 0);
}

/* A ring has a line of memory for each row, for rows of the halo above and below, too. */
UNUSED static void zero_halo_line(const tiny_unet_zero_halo_sizes *sizes, stored *y, int i, int block, int r) {
    const int H = sizes->H, W = sizes->W;
    const Layout Y = sizes->Y;
    const long first = element(&Y, i, block * Y.block, 0, r, 0), line = first - Y.origin % Y.row;
    const long points = inside(r, H) ? (long)W * Y.block : 0;
    zero_halo_zero(y, line, first);
    zero_halo_zero(y, first + points, line + Y.row);
}

UNUSED static void zero_halo_ring(const tiny_unet_zero_halo_sizes *sizes, Rows rows, stored *y, int i, int block) {
    const int H = sizes->H, ABOVE = sizes->ABOVE, BELOW = sizes->BELOW;
    const int above = rows.begin == 0 ? ABOVE : 0, below = rows.end == H ? BELOW : 0;
    for (int r = rows.begin - above; r < rows.end + below; r++)
        zero_halo_line(sizes, y, i, block, r);
}

void tiny_unet_zero_halo_kernel(const tiny_unet_zero_halo_sizes *sizes, int n, Rows rows, stored *y) {
    const int D = sizes->D, H = sizes->H, W = sizes->W;
    const Layout Y = sizes->Y;
    if (rows.begin >= rows.end)
        return;
#pragma omp for collapse(2) schedule(static)
    for (int i = 0; i < n; i++)
        for (int block = 0; block < Y.blocks; block++) {
            if (Y.ring > 0)
                zero_halo_ring(sizes, rows, y, i, block);
            for (int r = rows.begin; Y.ring == 0 && r < rows.end; r++) {
                const int c = block * Y.block;
                zero_halo_zero(y, halo_boundary(&Y, i, block, r, D, H), element(&Y, i, c, r / H, r % H, 0));
                zero_halo_zero(y, element(&Y, i, c, r / H, r % H, W),
                            halo_boundary(&Y, i, block, r + 1, D, H));
            }
        }
}

/* conv - convolution over segments, with bias and ReLU. */
/* The part of output (co, d, h, w) of sample i that comes through segment s, whose channels start at
 * `first`. */
UNUSED static double conv_segment(const tiny_unet_conv_sizes *sizes, const stored *x, const real *w, int i, int s, int first, int co,
                                    const int *o) {
    const int CI = sizes->CI, ID = sizes->ID, IH = sizes->IH, IW = sizes->IW, KD = sizes->KD, SD = sizes->SD,
        LD = sizes->LD, PD = sizes->PD, KH = sizes->KH, SH = sizes->SH, LH = sizes->LH, PH = sizes->PH,
        KW = sizes->KW, SW = sizes->SW, LW = sizes->LW, PW = sizes->PW;
    const Layout *X = sizes->X;
    double sum = 0;
    for (int c = 0; c < X[s].channels; c++)
        for (int kd = 0; kd < KD; kd++)
            for (int kh = 0; kh < KH; kh++)
                for (int kw = 0; kw < KW; kw++) {
                    int id = o[0] * SD - PD + kd * LD, ih = o[1] * SH - PH + kh * LH,
                        iw = o[2] * SW - PW + kw * LW;
                    long weight = (((co * (long)CI + first + c) * KD + kd) * KH + kh) * KW + kw;
                    if (inside(id, ID) && inside(ih, IH) && inside(iw, IW))
                        sum +=
                            (double)load(x, element(&X[s], i, c, id, ih, iw)) * (double)rounded(w[weight]);
                }
    return sum;
}

UNUSED static double conv_point(const tiny_unet_conv_sizes *sizes, const stored *const *x, const real *w, const real *b, int i, int co,
                                  const int *o) {
    const int BIAS = sizes->BIAS, RELU = sizes->RELU, SEGMENTS = sizes->SEGMENTS;
    const Layout *X = sizes->X;
    double sum = BIAS ? (double)b[co] : 0;
    for (int s = 0, first = 0; s < SEGMENTS; first += X[s].channels, s++)
        sum += conv_segment(sizes, x[s], w, i, s, first, co, o);
    return RELU && sum < 0 ? 0 : sum;
}

void tiny_unet_conv_kernel(const tiny_unet_conv_sizes *sizes, int n, Rows rows, stored *y, const stored *const *x, const real *w,
                          const real *b) {
    const int CO = sizes->CO, H = sizes->H, W = sizes->W;
    const Layout Y = sizes->Y;
#pragma omp for collapse(2) schedule(static)
    for (int i = 0; i < n; i++)
        for (int co = 0; co < stored_channels(&Y); co++)
            for (int r = rows.begin; r < rows.end; r++)
                for (int p = 0; p < W; p++)
                    store(y, element(&Y, i, co, r / H, r % H, p),
                          co < CO ? (real)conv_point(sizes, x, w, b, i, co, (const int[]){r / H, r % H, p}) : 0);
}

/* max_pool - maximum over windows; padding counts as -infinity, a NaN as more than any number. */
UNUSED static real max_pool_point(const tiny_unet_max_pool_sizes *sizes, const stored *x, int i, int c, int d, int h, int p) {
    const int ID = sizes->ID, IH = sizes->IH, IW = sizes->IW, KD = sizes->KD, SD = sizes->SD, PD = sizes->PD,
        LD = sizes->LD, KH = sizes->KH, SH = sizes->SH, PH = sizes->PH, LH = sizes->LH, KW = sizes->KW,
        SW = sizes->SW, PW = sizes->PW, LW = sizes->LW;
    const Layout X = sizes->X;
    real maximum = (real)-INFINITY;
    for (int kd = 0; kd < KD; kd++)
        for (int kh = 0; kh < KH; kh++)
            for (int kw = 0; kw < KW; kw++) {
                int id = d * SD - PD + kd * LD, ih = h * SH - PH + kh * LH, iw = p * SW - PW + kw * LW;
                if (inside(id, ID) && inside(ih, IH) && inside(iw, IW)) {
                    real v = load(x, element(&X, i, c, id, ih, iw));
                    if (v > maximum || v != v)
                        maximum = v;
                }
            }
    return maximum;
}

void tiny_unet_max_pool_kernel(const tiny_unet_max_pool_sizes *sizes, int n, Rows rows, stored *y, const stored *x) {
    const int C = sizes->C, H = sizes->H, W = sizes->W;
    const Layout Y = sizes->Y;
#pragma omp for collapse(2) schedule(static)
    for (int i = 0; i < n; i++)
        for (int c = 0; c < stored_channels(&Y); c++)
            for (int r = rows.begin; r < rows.end; r++)
                for (int p = 0; p < W; p++)
                    store(y, element(&Y, i, c, r / H, r % H, p),
                          c < C ? max_pool_point(sizes, x, i, c, r / H, r % H, p) : 0);
}

/* upconv - transposed convolution over segments, with bias and ReLU. */
/* The part of output (co, o) of sample i that comes through segment s, whose channels start at `first`. */
UNUSED static double upconv_segment(const tiny_unet_upconv_sizes *sizes, const stored *x, const real *w, int i, int s, int first, int co,
                                    const int *o) {
    const int CO = sizes->CO, ID = sizes->ID, IH = sizes->IH, IW = sizes->IW, KD = sizes->KD, SD = sizes->SD,
        LD = sizes->LD, PD = sizes->PD, KH = sizes->KH, SH = sizes->SH, LH = sizes->LH, PH = sizes->PH,
        KW = sizes->KW, SW = sizes->SW, LW = sizes->LW, PW = sizes->PW;
    const Layout *X = sizes->X;
    double sum = 0;
    for (int c = 0; c < X[s].channels; c++)
        for (int kd = 0; kd < KD; kd++)
            for (int kh = 0; kh < KH; kh++)
                for (int kw = 0; kw < KW; kw++) {
                    int d = window_at(o[0], kd, SD, LD, PD, ID), h = window_at(o[1], kh, SH, LH, PH, IH);
                    int v = window_at(o[2], kw, SW, LW, PW, IW);
                    long weight = ((((first + c) * (long)CO + co) * KD + kd) * KH + kh) * KW + kw;
                    if (d >= 0 && h >= 0 && v >= 0)
                        sum += (double)load(x, element(&X[s], i, c, d, h, v)) * (double)rounded(w[weight]);
                }
    return sum;
}

UNUSED static double upconv_point(const tiny_unet_upconv_sizes *sizes, const stored *const *x, const real *w, const real *b, int i, int co,
                                  const int *o) {
    const int BIAS = sizes->BIAS, RELU = sizes->RELU, SEGMENTS = sizes->SEGMENTS;
    const Layout *X = sizes->X;
    double sum = BIAS ? (double)b[co] : 0;
    for (int s = 0, first = 0; s < SEGMENTS; first += X[s].channels, s++)
        sum += upconv_segment(sizes, x[s], w, i, s, first, co, o);
    return RELU && sum < 0 ? 0 : sum;
}

void tiny_unet_upconv_kernel(const tiny_unet_upconv_sizes *sizes, int n, Rows rows, stored *y, const stored *const *x, const real *w,
                          const real *b) {
    const int CO = sizes->CO, H = sizes->H, W = sizes->W;
    const Layout Y = sizes->Y;
#pragma omp for collapse(2) schedule(static)
    for (int i = 0; i < n; i++)
        for (int co = 0; co < stored_channels(&Y); co++)
            for (int r = rows.begin; r < rows.end; r++)
                for (int p = 0; p < W; p++)
                    store(y, element(&Y, i, co, r / H, r % H, p),
                          co < CO ? (real)upconv_point(sizes, x, w, b, i, co, (const int[]){r / H, r % H, p}) : 0);
}

/* mse_grad - gradient of the mean squared error by the prediction. */
UNUSED static double mse_grad_slope(double p, double t, double epsilon) {
    (void)epsilon;
    return p - t;
}

void tiny_unet_mse_grad_kernel(const tiny_unet_mse_grad_sizes *sizes, int n, int total, Rows rows, stored *dp, const void *p, const void *t,
                          const double *scale) {
    const int C = sizes->C, D = sizes->D, H = sizes->H, W = sizes->W;
    const Layout P = sizes->P, T = sizes->T;
    const int P_STAGED = sizes->P_STAGED, T_STAGED = sizes->T_STAGED;
    const double WEIGHT = sizes->WEIGHT;
    const Layout DP = sizes->DP;
    const int SCALED = sizes->SCALED;
    const Compared by = {{p, &P, P_STAGED}, {t, &T, T_STAGED}, C, {D, H, W}};
    const double weight = 2 * WEIGHT * (SCALED ? scale[LOSS_SCALE] : 1);
    terms_store(n, total, rows, dp, &DP, by, weight, mse_grad_slope, 0);
}

/* psnr - peak signal to noise ratio, for a peak of 1. */
UNUSED static double psnr_term(double p, double t, double epsilon) {
    (void)epsilon;
    const double difference = clamp(p, 0, 1) - clamp(t, 0, 1);
    return difference * difference;
}

UNUSED static double psnr_of_mean(double mean) {
    return clamp(-10 * log10(mean), 0, 100);
}

void tiny_unet_psnr_kernel(const tiny_unet_psnr_sizes *sizes, int n, Rows rows, double *result, double *scratch, const void *p, const void *t,
                          const int32_t (*valid)[3]) {
    const int C = sizes->C, D = sizes->D, H = sizes->H, W = sizes->W;
    const Layout P = sizes->P, T = sizes->T;
    const int P_STAGED = sizes->P_STAGED, T_STAGED = sizes->T_STAGED, ACCUMULATE = sizes->ACCUMULATE;
    const Compared by = {{p, &P, P_STAGED}, {t, &T, T_STAGED}, C, {D, H, W}};
    terms_sum(n, rows, scratch, by, valid, psnr_term, 0);
    means_sum(n, rows, result, scratch, by, valid, 0, psnr_of_mean, ACCUMULATE);
}

/* mse - mean squared error. */
UNUSED static double mse_term(double p, double t, double epsilon) {
    (void)epsilon;
    return (p - t) * (p - t);
}

void tiny_unet_mse_kernel(const tiny_unet_mse_sizes *sizes, int n, Rows rows, double *result, double *scratch, const void *p, const void *t,
                          const int32_t (*valid)[3]) {
    const int C = sizes->C, D = sizes->D, H = sizes->H, W = sizes->W;
    const Layout P = sizes->P, T = sizes->T;
    const int P_STAGED = sizes->P_STAGED, T_STAGED = sizes->T_STAGED, ACCUMULATE = sizes->ACCUMULATE;
    const Compared by = {{p, &P, P_STAGED}, {t, &T, T_STAGED}, C, {D, H, W}};
    terms_sum(n, rows, scratch, by, valid, mse_term, 0);
    means_sum(n, rows, result, scratch, by, valid, 0, mean_itself, ACCUMULATE);
}

/* conv_wgrad - gradients of a convolution, or of a TRANSPOSED one, by its weights and its bias.
 *
 * `sums`, or without it `scratch`, holds the sums of a sample, as far as its rows have come: the sums of
 * the weights in the order of dw, then of the bias. They go to dw and db with the last row; with `sums`
 * wgrad_end.c brings them there. */
/* SUM and what row r of positions of sample i adds to it: its products dy(co, o) * x(c, o * S - P + k * L),
 * c a channel of segment s; TRANSPOSED: x(c, o) * dy(co, o * S - P + k * L). */
UNUSED static double conv_wgrad_weight(const tiny_unet_conv_wgrad_sizes *sizes, double sum, int i, int r, const stored *x, const stored *dy, int s,
                                   int c, int co, const int *k) {
    const int ID = sizes->ID, IH = sizes->IH, IW = sizes->IW, D = sizes->D, H = sizes->H, W = sizes->W,
        SD = sizes->SD, LD = sizes->LD, PD = sizes->PD, SH = sizes->SH, LH = sizes->LH, PH = sizes->PH,
        SW = sizes->SW, LW = sizes->LW, PW = sizes->PW, TRANSPOSED = sizes->TRANSPOSED;
    const Layout *X = sizes->X, DY = sizes->DY;
    const int height = TRANSPOSED ? IH : H, width = TRANSPOSED ? IW : W, d = r / height, h = r % height;
    const int over[3] = {TRANSPOSED ? D : ID, TRANSPOSED ? H : IH, TRANSPOSED ? W : IW};
    for (int p = 0; p < width; p++) {
        const int o[3] = {d, h, p};
        const int met[3] = {d * SD - PD + k[0] * LD, h * SH - PH + k[1] * LH, p * SW - PW + k[2] * LW};
        const int *in = TRANSPOSED ? o : met, *out = TRANSPOSED ? met : o;
        if (inside(met[0], over[0]) && inside(met[1], over[1]) && inside(met[2], over[2]))
            sum += (double)load(x, element(&X[s], i, c, in[0], in[1], in[2])) *
                   (double)load(dy, element(&DY, i, co, out[0], out[1], out[2]));
    }
    return sum;
}

/* SUM and the points of dy that belong to row r of positions. */
UNUSED static double conv_wgrad_bias(const tiny_unet_conv_wgrad_sizes *sizes, double sum, int i, int r, const stored *dy, int co) {
    const int ID = sizes->ID, IH = sizes->IH, D = sizes->D, H = sizes->H, W = sizes->W, SD = sizes->SD,
        PD = sizes->PD, SH = sizes->SH, PH = sizes->PH, TRANSPOSED = sizes->TRANSPOSED;
    const Layout DY = sizes->DY;
    const int height = TRANSPOSED ? IH : H;
    const Rows planes =
                   TRANSPOSED ? points_of(r / height, ID, SD, PD, D) : points_of(r / height, D, 1, 0, D),
               lines =
                   TRANSPOSED ? points_of(r % height, IH, SH, PH, H) : points_of(r % height, H, 1, 0, H);
    for (int d = planes.begin; d < planes.end; d++)
        for (int h = lines.begin; h < lines.end; h++)
            for (int p = 0; p < W; p++)
                sum += (double)load(dy, element(&DY, i, co, d, h, p));
    return sum;
}

/* One of the gradients; the sum of a sample so far is at *PARTIAL. x == NULL: the gradient by a bias. */
UNUSED static void conv_wgrad_gradient(const tiny_unet_conv_wgrad_sizes *sizes, int n, Rows rows, real *gradient, double *partial, const stored *x,
                                   const stored *dy, int s, int c, int co, const int *k) {
    const int ID = sizes->ID, IH = sizes->IH, D = sizes->D, H = sizes->H, TRANSPOSED = sizes->TRANSPOSED,
        ACCUMULATE = sizes->ACCUMULATE;
    real total = ACCUMULATE && gradient != NULL ? *gradient : 0;
    for (int i = 0; i < n; i++) {
        double sum = rows.begin > 0 ? *partial : 0;
        for (int r = rows.begin; r < rows.end; r++)
            sum = x == NULL ? conv_wgrad_bias(sizes, sum, i, r, dy, co) : conv_wgrad_weight(sizes, sum, i, r, x, dy, s, c, co, k);
        *partial = sum;
        total += (real)sum;
    }
    if (gradient != NULL && rows.end == (TRANSPOSED ? ID * IH : D * H))
        *gradient = total;
}

void tiny_unet_conv_wgrad_kernel(const tiny_unet_conv_wgrad_sizes *sizes, int n, Rows rows, real *dw, real *db, double *scratch, double *sums,
                          const stored *const *x, const stored *dy) {
    const int CI = sizes->CI, CO = sizes->CO, KD = sizes->KD, KH = sizes->KH, KW = sizes->KW,
        TRANSPOSED = sizes->TRANSPOSED, BIAS = sizes->BIAS, SEGMENTS = sizes->SEGMENTS;
    const Layout *X = sizes->X;
    const int some = rows.begin < rows.end, brings = sums == NULL;
    double *const at = brings ? scratch : sums;
#pragma omp for schedule(static)
    for (int co = 0; co < CO * some; co++) {
        for (int s = 0, first = 0; s < SEGMENTS; first += X[s].channels, s++)
            for (int c = 0; c < X[s].channels; c++)
                for (int kd = 0; kd < KD; kd++)
                    for (int kh = 0; kh < KH; kh++)
                        for (int kw = 0; kw < KW; kw++) {
                            long pair =
                                TRANSPOSED ? (first + c) * (long)CO + co : co * (long)CI + first + c;
                            long weight = ((pair * KD + kd) * KH + kh) * KW + kw;
                            conv_wgrad_gradient(sizes, n, rows, brings ? dw + weight : NULL, at + weight, x[s], dy, s,
                                            c, co, (const int[]){kd, kh, kw});
                        }
        if (BIAS)
            conv_wgrad_gradient(sizes, n, rows, brings ? db + co : NULL, at + (long)CO * CI * KD * KH * KW + co, NULL,
                            dy, 0, 0, co, NULL);
    }
}

/* conv_dgrad - gradient of a convolution by one segment of its input. */
UNUSED static double conv_dgrad_point(const tiny_unet_conv_dgrad_sizes *sizes, const stored *dy, const real *w, int i, int c, const int *p) {
    const int CI = sizes->CI, CO = sizes->CO, D = sizes->D, H = sizes->H, W = sizes->W, KD = sizes->KD,
        SD = sizes->SD, LD = sizes->LD, PD = sizes->PD, KH = sizes->KH, SH = sizes->SH, LH = sizes->LH,
        PH = sizes->PH, KW = sizes->KW, SW = sizes->SW, LW = sizes->LW, PW = sizes->PW, C0 = sizes->C0;
    const Layout DY = sizes->DY;
    double sum = 0;
    for (int co = 0; co < CO; co++)
        for (int kd = 0; kd < KD; kd++)
            for (int kh = 0; kh < KH; kh++)
                for (int kw = 0; kw < KW; kw++) {
                    int d = window_at(p[0], kd, SD, LD, PD, D), h = window_at(p[1], kh, SH, LH, PH, H);
                    int v = window_at(p[2], kw, SW, LW, PW, W);
                    long weight = (((co * (long)CI + C0 + c) * KD + kd) * KH + kh) * KW + kw;
                    if (d >= 0 && h >= 0 && v >= 0)
                        sum += (double)load(dy, element(&DY, i, co, d, h, v)) * (double)rounded(w[weight]);
                }
    return sum;
}

void tiny_unet_conv_dgrad_kernel(const tiny_unet_conv_dgrad_sizes *sizes, int n, Rows rows, stored *dx, const stored *dy, const real *w, const stored *m) {
    const int IH = sizes->IH, IW = sizes->IW, CS = sizes->CS;
    const Layout DX = sizes->DX;
    const int MASK = sizes->MASK;
    const Layout M = sizes->M;
#pragma omp for collapse(2) schedule(static)
    for (int i = 0; i < n; i++)
        for (int c = 0; c < stored_channels(&DX); c++)
            for (int r = rows.begin; r < rows.end; r++)
                for (int p = 0; p < IW; p++) {
                    int passes = c < CS && !(MASK && !(load(m, element(&M, i, c, r / IH, r % IH, p)) > 0));
                    store(dx, element(&DX, i, c, r / IH, r % IH, p),
                          passes ? (real)conv_dgrad_point(sizes, dy, w, i, c, (const int[]){r / IH, r % IH, p}) : 0);
                }
}

/* upconv_dgrad - gradient of a transposed convolution by one segment of its input. */
UNUSED static double upconv_dgrad_point(const tiny_unet_upconv_dgrad_sizes *sizes, const stored *dy, const real *w, int i, int c, const int *p) {
    const int CO = sizes->CO, D = sizes->D, H = sizes->H, W = sizes->W, KD = sizes->KD, SD = sizes->SD,
        LD = sizes->LD, PD = sizes->PD, KH = sizes->KH, SH = sizes->SH, LH = sizes->LH, PH = sizes->PH,
        KW = sizes->KW, SW = sizes->SW, LW = sizes->LW, PW = sizes->PW, C0 = sizes->C0;
    const Layout DY = sizes->DY;
    double sum = 0;
    for (int co = 0; co < CO; co++)
        for (int kd = 0; kd < KD; kd++)
            for (int kh = 0; kh < KH; kh++)
                for (int kw = 0; kw < KW; kw++) {
                    int d = p[0] * SD - PD + kd * LD, h = p[1] * SH - PH + kh * LH,
                        v = p[2] * SW - PW + kw * LW;
                    long weight = ((((C0 + c) * (long)CO + co) * KD + kd) * KH + kh) * KW + kw;
                    if (inside(d, D) && inside(h, H) && inside(v, W))
                        sum += (double)load(dy, element(&DY, i, co, d, h, v)) * (double)rounded(w[weight]);
                }
    return sum;
}

void tiny_unet_upconv_dgrad_kernel(const tiny_unet_upconv_dgrad_sizes *sizes, int n, Rows rows, stored *dx, const stored *dy, const real *w, const stored *m) {
    const int IH = sizes->IH, IW = sizes->IW, CS = sizes->CS;
    const Layout DX = sizes->DX;
    const int MASK = sizes->MASK;
    const Layout M = sizes->M;
#pragma omp for collapse(2) schedule(static)
    for (int i = 0; i < n; i++)
        for (int c = 0; c < stored_channels(&DX); c++)
            for (int r = rows.begin; r < rows.end; r++)
                for (int p = 0; p < IW; p++) {
                    int passes = c < CS && !(MASK && !(load(m, element(&M, i, c, r / IH, r % IH, p)) > 0));
                    store(dx, element(&DX, i, c, r / IH, r % IH, p),
                          passes ? (real)upconv_dgrad_point(sizes, dy, w, i, c, (const int[]){r / IH, r % IH, p}) : 0);
                }
}

/* adam - Adam, AdamW (`DECOUPLED`) and AMSGrad (`AMSGRAD`). */
void tiny_unet_adam_kernel(const tiny_unet_adam_sizes *sizes, real *p, const real *g, real *m, real *v, real *most, real *average,
                          const double *scale, const double *norm, long decayed, double rate, int64_t step,
                          long from, long to) {
    const int SCALED = sizes->SCALED, CLIPS = sizes->CLIPS, AVERAGED = sizes->AVERAGED;
    const double CLIP = sizes->CLIP, AVERAGE = sizes->AVERAGE;
    const int DECOUPLED = sizes->DECOUPLED, AMSGRAD = sizes->AMSGRAD;
    const double WEIGHT_DECAY = sizes->WEIGHT_DECAY, BETA1 = sizes->BETA1, BETA2 = sizes->BETA2,
        EPSILON = sizes->EPSILON;
    double taken = SCALED ? scale[STEPS_TAKEN] : (double)step;
    double bias1 = 1 - pow(BETA1, taken), bias2 = sqrt(1 - pow(BETA2, taken));
    real unscale = CLIPS ? (real)norm[FACTOR] : SCALED ? (real)scale[UNSCALE] : 1;
#pragma omp for schedule(static)
    for (long i = from; i < (unscale == 0 ? from : to); i++) {
        real gradient = g[i] * unscale;
        if (CLIP > 0)
            gradient = (real)clamp((double)gradient, -CLIP, CLIP);
        if (DECOUPLED && i < decayed)
            p[i] *= (real)(1 - rate * WEIGHT_DECAY);
        if (!DECOUPLED && i < decayed)
            gradient += (real)WEIGHT_DECAY * p[i];
        m[i - from] = (real)BETA1 * m[i - from] + (real)(1 - BETA1) * gradient;
        v[i - from] = (real)BETA2 * v[i - from] + (real)(1 - BETA2) * gradient * gradient;
        if (AMSGRAD)
            most[i - from] = v[i - from] < most[i - from] ? most[i - from] : v[i - from];
        real root = (real)sqrt((double)(AMSGRAD ? most[i - from] : v[i - from])) / (real)bias2;
        p[i] -= (real)(rate / bias1) * m[i - from] / (root + (real)EPSILON);
        if (AVERAGED)
            average[i] = (real)AVERAGE * average[i] + (real)(1 - AVERAGE) * p[i];
    }
}

/* max_pool_grad - gradient of a maximum over windows: it goes to the first maximum of each. */
/* Whether the first maximum of window (d, h, p) is at point (id, ih, iw): earlier ones are less, none is
 * more. */
UNUSED static int max_pool_grad_chosen(const tiny_unet_max_pool_grad_sizes *sizes, const stored *x, int i, int c, const int *window, const int *point) {
    const int ID = sizes->ID, IH = sizes->IH, IW = sizes->IW, KD = sizes->KD, SD = sizes->SD, PD = sizes->PD,
        LD = sizes->LD, KH = sizes->KH, SH = sizes->SH, PH = sizes->PH, LH = sizes->LH, KW = sizes->KW,
        SW = sizes->SW, PW = sizes->PW, LW = sizes->LW;
    const Layout X = sizes->X;
    int chosen[3] = {-1, -1, -1};
    real maximum = 0;
    for (int kd = 0; kd < KD; kd++)
        for (int kh = 0; kh < KH; kh++)
            for (int kw = 0; kw < KW; kw++) {
                int id = window[0] * SD - PD + kd * LD, ih = window[1] * SH - PH + kh * LH,
                    iw = window[2] * SW - PW + kw * LW;
                if (!inside(id, ID) || !inside(ih, IH) || !inside(iw, IW))
                    continue;
                real v = load(x, element(&X, i, c, id, ih, iw));
                if (chosen[0] < 0 || v > maximum || v != v) {
                    maximum = v;
                    chosen[0] = id, chosen[1] = ih, chosen[2] = iw;
                }
            }
    return chosen[0] == point[0] && chosen[1] == point[1] && chosen[2] == point[2];
}

/* Sum over the windows that chose the point, in the order of the windows. */
UNUSED static real max_pool_grad_point(const tiny_unet_max_pool_grad_sizes *sizes, const stored *x, const stored *dy, int i, int c, const int *point) {
    const int D = sizes->D, H = sizes->H, W = sizes->W, KD = sizes->KD, SD = sizes->SD, PD = sizes->PD,
        LD = sizes->LD, KH = sizes->KH, SH = sizes->SH, PH = sizes->PH, LH = sizes->LH, KW = sizes->KW,
        SW = sizes->SW, PW = sizes->PW, LW = sizes->LW;
    const Layout DY = sizes->DY;
    real sum = 0;
    for (int kd = KD - 1; kd >= 0; kd--)
        for (int kh = KH - 1; kh >= 0; kh--)
            for (int kw = KW - 1; kw >= 0; kw--) {
                int window[3] = {window_at(point[0], kd, SD, LD, PD, D),
                                 window_at(point[1], kh, SH, LH, PH, H),
                                 window_at(point[2], kw, SW, LW, PW, W)};
                if (window[0] >= 0 && window[1] >= 0 && window[2] >= 0 &&
                    max_pool_grad_chosen(sizes, x, i, c, window, point))
                    sum += load(dy, element(&DY, i, c, window[0], window[1], window[2]));
            }
    return sum;
}

void tiny_unet_max_pool_grad_kernel(const tiny_unet_max_pool_grad_sizes *sizes, int n, Rows rows, stored *dx, const stored *x, const stored *dy,
                          const stored *a) {
    const int C = sizes->C, IH = sizes->IH, IW = sizes->IW, ACCUMULATE = sizes->ACCUMULATE, MASK = sizes->MASK;
    const Layout DX = sizes->DX, X = sizes->X, A = sizes->A;
#pragma omp for collapse(2) schedule(static)
    for (int i = 0; i < n; i++)
        for (int c = 0; c < stored_channels(&DX); c++)
            for (int r = rows.begin; r < rows.end; r++)
                for (int p = 0; p < IW; p++) {
                    real sum = c < C ? max_pool_grad_point(sizes, x, dy, i, c, (const int[]){r / IH, r % IH, p}) : 0;
                    if (ACCUMULATE && c < C)
                        sum += load(a, element(&A, i, c, r / IH, r % IH, p));
                    if (MASK && c < C && !(load(x, element(&X, i, c, r / IH, r % IH, p)) > 0))
                        sum = 0;
                    store(dx, element(&DX, i, c, r / IH, r % IH, p), sum);
                }
}
