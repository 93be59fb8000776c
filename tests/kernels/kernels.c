/* kernels.c - compares every fast kernel with the reference kernel on the geometries that cases.py chose.
 *
 * Buffers have exactly the size of their operands, so that AddressSanitizer sees each step beside them.
 * Outputs hold NaN before: what a kernel should write and does not, and what it should leave alone, shows.
 * Results of one and of three threads are compared bit by bit, as are fused variants with their parts. */
#include "kernels.h"

#include "../../compiler/cpu_sizes.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

enum { N = 2, STEP = 3 };

typedef struct {
    const Case *of;
    uint64_t random;
    int failures;
} Test;

/* ---- operands ------------------------------------------------------------------------------------- */

static double uniform(Test *test) {
    test->random = test->random * 6364136223846793005u + 1442695040888963407u;
    return (double)(test->random >> 40) / (1 << 23) - 1;
}

static void *allocate(long elements, size_t size) {
    void *p = NULL;
    if (posix_memalign(&p, 64, (size_t)elements * size) != 0)
        abort();
    return p;
}

static real *fresh(long elements) {
    real *p = allocate(elements, sizeof(real));
    for (long i = 0; i < elements; i++)
        p[i] = (real)NAN;
    return p;
}

static real *output(const Tensor *t) {
    return fresh(N * t->layout.sample);
}

static real *numbers(Test *test, long elements) {
    real *p = fresh(elements);
    for (long i = 0; i < elements; i++)
        p[i] = (real)uniform(test);
    return p;
}

/* Few different values, so that maxima tie and some are exactly zero; the halo and what pads a block is
 * zero. */
static real *input(Test *test, const Tensor *t, bool coarse) {
    real *p = fresh(N * t->layout.sample);
    memset(p, 0, (size_t)(N * t->layout.sample) * sizeof *p);
    for (int n = 0; n < N; n++)
        for (int c = 0; c < t->layout.channels; c++)
            for (int d = 0; d < t->size[0]; d++)
                for (int h = 0; h < t->size[1]; h++)
                    for (int w = 0; w < t->size[2]; w++) {
                        double v = uniform(test);
                        p[element(&t->layout, n, c, d, h, w)] = (real)(coarse ? floor(4 * v) / 4 : v);
                    }
    return p;
}

/* ---- comparisons ---------------------------------------------------------------------------------- */

static void fail(Test *test, const char *what, long at, double got, double want) {
    if (test->failures++ < 10)
        printf("FAILED %s: %s: element %ld is %.9g, not %.9g\n", test->of->name, what, at, got, want);
}

static void same(Test *test, const char *what, const real *got, const real *want, long elements) {
    for (long i = 0; i < elements; i++)
        if (memcmp(&got[i], &want[i], sizeof *got) != 0) {
            fail(test, what, i, (double)got[i], (double)want[i]);
            return;
        }
}

static void near(Test *test, const char *what, const real *got, const real *want, long elements) {
    double most = 0;
    for (long i = 0; i < elements; i++)
        if (fabs((double)want[i]) > most)
            most = fabs((double)want[i]);
    for (long i = 0; i < elements; i++)
        if (isnan(want[i]) ? memcmp(&got[i], &want[i], sizeof *got) != 0
                           : !(fabs((double)got[i] - (double)want[i]) <= 1e-5 * most)) {
            fail(test, what, i, (double)got[i], (double)want[i]);
            return;
        }
}

/* The reference wrote every point, padding channels zero, and nothing else. */
static void complete(Test *test, const Tensor *t, const real *y) {
    long written = 0, want = (long)N * stored_channels(&t->layout) * t->size[0] * t->size[1] * t->size[2];
    for (long i = 0; i < N * t->layout.sample; i++)
        written += !isnan(y[i]);
    if (written != want)
        fail(test, "elements written", -1, (double)written, (double)want);
    if (t->layout.channels < stored_channels(&t->layout)) {
        long pad = element(&t->layout, N - 1, t->layout.channels, 0, 0, 0);
        if (y[pad] != 0)
            fail(test, "padding channel", pad, (double)y[pad], 0);
    }
}

static void relu(real *y, long elements) {
    for (long i = 0; i < elements; i++)
        y[i] = y[i] < 0 ? 0 : y[i];
}

/* y = 0 where m <= 0, and y's padding channels as they are. */
static void mask(real *y, const Tensor *ty, const real *m, const Tensor *tm) {
    for (int n = 0; n < N; n++)
        for (int c = 0; c < ty->layout.channels; c++)
            for (int d = 0; d < ty->size[0]; d++)
                for (int h = 0; h < ty->size[1]; h++)
                    for (int w = 0; w < ty->size[2]; w++)
                        if (!(m[element(&tm->layout, n, c, d, h, w)] > 0))
                            y[element(&ty->layout, n, c, d, h, w)] = 0;
}

/* ---- convolutions --------------------------------------------------------------------------------- */

typedef void Forward(int, real *, const real *const *, const real *, const real *);
typedef void Pack(real *, const real *);
typedef void Dgrad(int, real *, const real *, const real *, const real *);
typedef void Wgrad(int, real *, real *, real *, const real *const *, const real *);

static void *forward(Function f, int threads, int n, const Tensor *t, const real *const *x, const real *w,
                     const real *b) {
    real *y = output(t);
#pragma omp parallel num_threads(threads)
    ((Forward *)f)(n, y, x, w, b);
    return y;
}

static real *dgrad(Function f, int threads, int n, const Tensor *t, const real *dy, const real *w,
                   const real *m) {
    real *dx = output(t);
#pragma omp parallel num_threads(threads)
    ((Dgrad *)f)(n, dx, dy, w, m);
    return dx;
}

/* Weights as the kernel wants them: packed, or for an upconv a copy. */
static real *pack(Function f, const real *w, long elements, int64_t summed, int64_t lanes, int64_t taps) {
    int64_t packed_elements;
    if (f == NULL) {
        real *copy = fresh(elements);
        memcpy(copy, w, (size_t)elements * sizeof *w);
        return copy;
    }
    if (!cpu_packed_elements(summed, lanes, taps, &packed_elements))
        abort();
    real *packed = fresh(packed_elements);
#pragma omp parallel num_threads(2)
    ((Pack *)f)(packed, w);
    return packed;
}

static long stored_segments(const Case *c) {
    long channels = 0;
    for (int s = 0; s < c->segments; s++)
        channels += stored_channels(&c->x[s].layout);
    return channels;
}

/* One thread against three, two samples against one. */
static void check_forward(Test *test, const real *const *x, const real *w, const real *b) {
    const Case *c = test->of;
    long elements = N * c->y.layout.sample;
    real *packed = pack(c->fast[FORWARD_PACK], w, (long)c->channels_in * c->channels_out * c->taps,
                        stored_segments(c), c->channels_out, c->taps);
    real *want = forward(c->reference[FORWARD], 2, N, &c->y, x, w, b);
    real *got = forward(c->fast[FORWARD], 1, N, &c->y, x, packed, b);
    real *threads = forward(c->fast[FORWARD], 3, N, &c->y, x, packed, b);
    real *half = forward(c->fast[FORWARD], 2, 1, &c->y, x, packed, b);
    complete(test, &c->y, want);
    near(test, "forward", got, want, elements);
    same(test, "forward by three threads", threads, got, elements);
    same(test, "forward of one sample", half, got, elements / N);
    if (!isnan(half[elements / N + c->y.layout.origin]))
        fail(test, "forward of one sample touches the next", elements / N, 0, 0);
    if (c->fast[FORWARD_RELU] != NULL) {
        real *fused = forward(c->fast[FORWARD_RELU], 2, N, &c->y, x, packed, b);
        relu(got, elements);
        same(test, "forward with ReLU", fused, got, elements);
        free(fused);
    }
    free(packed), free(want), free(got), free(threads), free(half);
}

static void check_dgrad(Test *test, const real *dy, const real *w) {
    const Case *c = test->of;
    long elements = N * c->dx.layout.sample;
    real *packed = pack(c->fast[DGRAD_PACK], w, (long)c->channels_in * c->channels_out * c->taps,
                        stored_channels(&c->y.layout), c->dx.layout.channels, c->taps);
    real *want = dgrad(c->reference[DGRAD], 2, N, &c->dx, dy, w, NULL);
    real *got = dgrad(c->fast[DGRAD], 1, N, &c->dx, dy, packed, NULL);
    real *threads = dgrad(c->fast[DGRAD], 3, N, &c->dx, dy, packed, NULL);
    complete(test, &c->dx, want);
    near(test, "dgrad", got, want, elements);
    same(test, "dgrad by three threads", threads, got, elements);
    if (c->fast[DGRAD_MASK] != NULL) {
        real *m = input(test, &c->m, true);
        real *fused = dgrad(c->fast[DGRAD_MASK], 2, N, &c->dx, dy, packed, m);
        mask(got, &c->dx, m, &c->m);
        same(test, "dgrad with a mask", fused, got, elements);
        free(fused), free(m);
    }
    free(packed), free(want), free(got), free(threads);
}

static long wgrad_scratch(const Case *c) {
    const Tensor *grid = c->kind == CONV ? &c->y : &c->x[0];
    CpuConv conv = {stored_segments(c), stored_channels(&c->y.layout), c->taps,
                    grid->size[0] * grid->size[1]};
    int64_t elements;
    if (!cpu_wgrad_scratch_elements(&conv, &elements))
        abort();
    return elements / (cpu_wgrad_bands(&conv) + 1) * (c->bands + 1);
}

/* dw with db behind it, as if they were one; what they hold is added to if the kernel does so. */
static void add_wgrad(const Case *c, Function f, int threads, int n, real *both, const real *const *x,
                      const real *dy) {
    long weights = (long)c->channels_in * c->channels_out * c->taps;
    real *dw = fresh(weights), *db = fresh(c->channels_out), *scratch = fresh(wgrad_scratch(c));
    memcpy(dw, both, (size_t)weights * sizeof *dw);
    memcpy(db, both + weights, (size_t)c->channels_out * sizeof *db);
#pragma omp parallel num_threads(threads)
    ((Wgrad *)f)(n, dw, db, scratch, x, dy);
    memcpy(both, dw, (size_t)weights * sizeof *dw);
    memcpy(both + weights, db, (size_t)c->channels_out * sizeof *db);
    free(dw), free(db), free(scratch);
}

static real *wgrad(const Case *c, Function f, int threads, int n, const real *const *x, const real *dy) {
    real *both = fresh((long)c->channels_in * c->channels_out * c->taps + c->channels_out);
    add_wgrad(c, f, threads, n, both, x, dy);
    return both;
}

static void check_wgrad(Test *test, const real *const *x, const real *dy) {
    const Case *c = test->of;
    long weights = (long)c->channels_in * c->channels_out * c->taps, all = weights + c->channels_out;
    const real *second[3];
    for (int s = 0; s < c->segments; s++)
        second[s] = x[s] + c->x[s].layout.sample;
    real *want = wgrad(c, c->reference[WGRAD], 2, N, x, dy);
    real *got = wgrad(c, c->fast[WGRAD], 1, N, x, dy);
    real *threads = wgrad(c, c->fast[WGRAD], 3, N, x, dy);
    near(test, "wgrad", got, want, weights);
    near(test, "wgrad of the bias", got + weights, want + weights, c->channels_out);
    same(test, "wgrad by three threads", threads, got, all);
    if (c->fast[WGRAD_MORE] != NULL) {
        real *parts = wgrad(c, c->fast[WGRAD], 2, 1, x, dy);
        add_wgrad(c, c->fast[WGRAD_MORE], 2, 1, parts, second, dy + c->y.layout.sample);
        same(test, "wgrad sample by sample", parts, got, all);
        free(parts);
    }
    free(want), free(got), free(threads);
}

static void check_convolution(Test *test) {
    const Case *c = test->of;
    real *x[3] = {NULL};
    for (int s = 0; s < c->segments; s++)
        x[s] = input(test, &c->x[s], false);
    real *dy = input(test, &c->y, false);
    real *w = numbers(test, (long)c->channels_in * c->channels_out * c->taps);
    real *b = numbers(test, c->channels_out);
    check_forward(test, (const real *const *)x, w, b);
    check_dgrad(test, dy, w);
    check_wgrad(test, (const real *const *)x, dy);
    for (int s = 0; s < c->segments; s++)
        free(x[s]);
    free(dy), free(w), free(b);
}

/* ---- what is exact -------------------------------------------------------------------------------- */

typedef void Two(int, real *, const void *);
typedef void Three(int, real *, const real *, const real *);

static real *one_input(Function f, int threads, const Tensor *t, const void *x) {
    real *y = output(t);
#pragma omp parallel num_threads(threads)
    ((Two *)f)(N, y, x);
    return y;
}

static void check_one_input(Test *test, const char *what, int role, const Tensor *t, const void *x) {
    real *want = one_input(test->of->reference[role], 2, t, x),
         *got = one_input(test->of->fast[role], 3, t, x);
    complete(test, t, want);
    same(test, what, got, want, N * t->layout.sample);
    free(want), free(got);
}

static void check_two_inputs(Test *test, const char *what, int role, const real *a, const real *b) {
    const Tensor *t = &test->of->y;
    real *want = output(t), *got = output(t);
#pragma omp parallel num_threads(3)
    {
        ((Three *)test->of->reference[role])(N, want, a, b);
        ((Three *)test->of->fast[role])(N, got, a, b);
    }
    complete(test, t, want);
    same(test, what, got, want, N * t->layout.sample);
    free(want), free(got);
}

static void check_pool(Test *test) {
    const Case *c = test->of;
    real *x = input(test, &c->x[0], true), *dy = input(test, &c->y, false), *a = input(test, &c->m, false);
    check_one_input(test, "max_pool", FORWARD, &c->y, x);
    real *want = dgrad(c->reference[POOL_GRAD], 2, N, &c->dx, x, dy, NULL);
    real *got = dgrad(c->fast[POOL_GRAD], 3, N, &c->dx, x, dy, NULL);
    real *fused = dgrad(c->fast[POOL_GRAD_FUSED], 3, N, &c->dx, x, dy, a);
    complete(test, &c->dx, want);
    same(test, "max_pool_grad", got, want, N * c->dx.layout.sample);
    for (int n = 0; n < N; n++)
        for (int k = 0; k < c->channels_in; k++)
            for (int d = 0; d < c->dx.size[0]; d++)
                for (int h = 0; h < c->dx.size[1]; h++)
                    for (int w = 0; w < c->dx.size[2]; w++)
                        got[element(&c->dx.layout, n, k, d, h, w)] +=
                            a[element(&c->m.layout, n, k, d, h, w)];
    mask(got, &c->dx, x, &c->x[0]);
    same(test, "max_pool_grad accumulating, with a mask", fused, got, N * c->dx.layout.sample);
    free(x), free(dy), free(a), free(want), free(got), free(fused);
}

typedef void One(int, real *);

static void check_halo(Test *test) {
    const Tensor *t = &test->of->y;
    real *want = input(test, t, false), *got = output(t);
    for (long i = 0; i < N * t->layout.sample; i++)
        if (want[i] != 0)
            got[i] = want[i];
#pragma omp parallel num_threads(3)
    {
        ((One *)test->of->reference[ZERO_HALO])(N, want);
        ((One *)test->of->fast[ZERO_HALO])(N, got);
    }
    for (int n = 0; n < N; n++) /* what pads a block belongs to the points */
        for (int c = t->layout.channels; c < stored_channels(&t->layout); c++)
            for (int d = 0; d < t->size[0]; d++)
                for (int h = 0; h < t->size[1]; h++)
                    for (int w = 0; w < t->size[2]; w++)
                        got[element(&t->layout, n, c, d, h, w)] = 0;
    same(test, "zero_halo", got, want, N * t->layout.sample);
    free(want), free(got);
}

static void check_map(Test *test) {
    const Case *c = test->of;
    real *a = input(test, &c->x[0], true), *b = input(test, &c->x[1], true);
    check_one_input(test, "relu", RELU, &c->y, a);
    check_two_inputs(test, "relu_grad", RELU_GRAD, a, b);
    check_two_inputs(test, "add", ADD, a, b);
    check_halo(test);
    a[c->x[0].layout.origin] = (real)NAN;
    real *y = one_input(c->fast[RELU], 1, &c->y, a);
    if (!isnan(y[c->y.layout.origin]))
        fail(test, "relu hides a NaN", 0, (double)y[c->y.layout.origin], NAN);
    free(y), free(a), free(b);
}

static void check_join(Test *test) {
    const Case *c = test->of;
    real *x[3] = {NULL};
    for (int s = 0; s < c->segments; s++)
        x[s] = input(test, &c->x[s], false);
    check_one_input(test, "concat", CONCAT, &c->y, x);
    real *y = input(test, &c->y, false);
    check_one_input(test, "slice", SLICE, &c->dx, y);
    for (int s = 0; s < c->segments; s++)
        free(x[s]);
    free(y);
}

/* ---- losses --------------------------------------------------------------------------------------- */

typedef void Measure(int, double *, double *, const real *, const real *, const int32_t (*)[3]);
typedef void MeasureGrad(int, int, real *, const real *, const real *, const double *);

static double measure(const Case *c, Function f, int threads, const real *p, const real *t,
                      const int32_t (*valid)[3]) {
    double result = NAN, *scratch = allocate(N * c->bands, sizeof *scratch);
    for (int i = 0; i < N * c->bands; i++)
        scratch[i] = NAN;
#pragma omp parallel num_threads(threads)
    ((Measure *)f)(N, &result, scratch, p, t, valid);
    free(scratch);
    return result;
}

static void check_measure(Test *test, const char *what, int role, const real *p, const real *t) {
    const Case *c = test->of;
    const int *size = c->x[0].size;
    const int32_t valid[N][3] = {{size[0], size[1] - 1, size[2]}, {1, size[1], size[2] - 1}};
    for (int whole = 0; whole < 2; whole++) {
        double want = measure(c, c->reference[role], 2, p, t, whole ? NULL : valid);
        double got = measure(c, c->fast[role], 1, p, t, whole ? NULL : valid);
        double threads = measure(c, c->fast[role], 3, p, t, whole ? NULL : valid);
        if (!(fabs(got - want) <= 1e-12 * fabs(want)))
            fail(test, what, whole, got, want);
        if (memcmp(&got, &threads, sizeof got) != 0)
            fail(test, "a measure by three threads", whole, threads, got);
    }
}

static void check_measure_grad(Test *test, const char *what, int role, const real *p, const real *t) {
    const Tensor *dp = &test->of->dx;
    real *want = output(dp), *got = output(dp);
    const double scale = 3;
#pragma omp parallel num_threads(3)
    {
        ((MeasureGrad *)test->of->reference[role])(N, STEP, want, p, t, &scale);
        ((MeasureGrad *)test->of->fast[role])(N, STEP, got, p, t, &scale);
    }
    complete(test, dp, want);
    near(test, what, got, want, N * dp->layout.sample);
    free(want), free(got);
}

static void check_loss(Test *test) {
    real *p = input(test, &test->of->x[0], true), *t = input(test, &test->of->x[1], true);
    check_measure(test, "mse", MSE, p, t);
    check_measure(test, "l1", L1, p, t);
    check_measure(test, "psnr", PSNR, p, t);
    check_measure_grad(test, "mse_grad", MSE_GRAD, p, t);
    check_measure_grad(test, "l1_grad", L1_GRAD, p, t);
    free(p), free(t);
}

/* ---- updates -------------------------------------------------------------------------------------- */

typedef void Sgd(real *, const real *, real *, const double *, double, int64_t);
typedef void Adam(real *, const real *, real *, real *, const double *, double, int64_t);
typedef void Judge(double *, double *, const real *);

/* With G in the place of the gradients, a step of the optimiser, after that of whoever judges them. */
static void update(const Case *c, int role, const Function *f, int threads, real *all, const real *g,
                   double *state, int step) {
    double scratch[16];
#pragma omp parallel num_threads(threads)
    {
        if (f[JUDGE] != NULL)
            ((Judge *)f[JUDGE])(scratch, state, g);
        if (role == SGD)
            ((Sgd *)f[role])(all, g, all + c->count, state, 1e-2, step);
        else
            ((Adam *)f[role])(all, g, all + c->count, all + 2 * c->count, state, 1e-2, step);
    }
}

/* Parameters, behind them both moments, and then the state of the loss's scale, after five steps from the
 * first. Where the loss is scaled, the gradients of the second have overflowed at one place. */
static real *updated(const Case *c, int role, const Function *f, int threads, const real *p, real *g) {
    real *all = fresh(3 * c->count + 4), finite = g[c->count / 2];
    double state[4] = {2, 0, 0, 0};
    memset(all + c->count, 0, (size_t)(2 * c->count) * sizeof *all);
    memcpy(all, p, (size_t)c->count * sizeof *p);
    for (int step = 1; step <= 5; step++) {
        g[c->count / 2] = f[JUDGE] != NULL && step == 2 ? (real)INFINITY : finite;
        update(c, role, f, threads, all, g, state, step);
    }
    for (int i = 0; i < 4; i++)
        all[3 * c->count + i] = (real)state[i];
    return all;
}

/* One good step, one that is not taken, and three more, of which the second doubles the scale. */
static void check_state(Test *test, const real *state) {
    static const real want[4] = {2, 1, 4, 0.5};
    same(test, "the scale of the loss", state, want, 4);
}

static void check_update(Test *test) {
    const Case *c = test->of;
    real *p = numbers(test, c->count), *g = numbers(test, c->count);
    for (int role = SGD; role <= ADAM; role++) {
        real *want = updated(c, role, c->reference, 2, p, g);
        real *got = updated(c, role, c->fast, 1, p, g);
        real *threads = updated(c, role, c->fast, 3, p, g);
        if (c->reference[JUDGE] != NULL)
            check_state(test, want + 3 * c->count);
        near(test, role == SGD ? "sgd" : "adam", got, want, 3 * c->count + 4);
        same(test, "update by three threads", threads, got, 3 * c->count + 4);
        free(want), free(got), free(threads);
    }
    free(p), free(g);
}

int main(void) {
    static void (*const check[])(Test *) = {
        [CONV] = check_convolution, [UPCONV] = check_convolution, [MAX_POOL] = check_pool,
        [MAP] = check_map,          [JOIN] = check_join,          [LOSS] = check_loss,
        [UPDATE] = check_update,
    };
    int failures = 0;
    for (int i = 0; i < case_count; i++) {
        Test test = {&cases[i], (uint64_t)i, 0};
        check[cases[i].kind](&test);
        failures += test.failures;
    }
    printf("%d cases, %d failures\n", case_count, failures);
    return failures > 0;
}
