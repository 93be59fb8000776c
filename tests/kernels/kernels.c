/* kernels.c - compares every fast kernel with the reference kernel on the geometries that cases.py chose.
 *
 * Buffers have exactly the size of their operands, so that AddressSanitizer sees each step beside them.
 * Outputs hold NaN before: what a kernel should write and does not, and what it should leave alone, shows.
 * Results of one and of three threads are compared bit by bit, as are fused variants with their parts. Of
 * tensors of 16 bits (UNET_STORED_BF16, UNET_STORED_F16) numbers may be neighbours where sums have another
 * order, and few are. */
#include "kernels.h"

#include "cpu/sizes.h"

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

static stored *output(const Tensor *t) {
    stored *p = allocate(N * t->layout.sample, sizeof(stored));
    for (long i = 0; i < N * t->layout.sample; i++)
        store(p, i, (real)NAN);
    return p;
}

static real *numbers(Test *test, long elements) {
    real *p = fresh(elements);
    for (long i = 0; i < elements; i++)
        p[i] = (real)uniform(test);
    return p;
}

static uint32_t any_bits(Test *test) {
    uint32_t upper = (uint32_t)(int32_t)(uniform(test) * 32768) << 16;
    return upper | (uint32_t)(int32_t)(uniform(test) * 32768 + 32768);
}

/* What the points of a tensor hold: numbers from -1 to 1; few different ones, so that maxima tie and some
 * are exactly zero; numbers from -120 to 120; anything that has as many bits. */
typedef enum { FINE, COARSE, WIDE, ANY } Values;

/* An image as the loader left it: the halo and what pads a block is zero. */
static real *image(Test *test, const Tensor *t, Values values) {
    real *p = fresh(N * t->layout.sample);
    memset(p, 0, (size_t)(N * t->layout.sample) * sizeof *p);
    for (int n = 0; n < N; n++)
        for (int c = 0; c < t->layout.channels; c++)
            for (int d = 0; d < t->size[0]; d++)
                for (int h = 0; h < t->size[1]; h++)
                    for (int w = 0; w < t->size[2]; w++) {
                        long at = element(&t->layout, n, c, d, h, w);
                        double v = uniform(test);
                        p[at] = (real)(values == COARSE ? floor(4 * v) / 4 : values == WIDE ? 120 * v : v);
                        uint32_t bits = any_bits(test);
                        if (values == ANY)
                            memcpy(&p[at], &bits, sizeof bits);
                    }
    return p;
}

static stored *input(Test *test, const Tensor *t, Values values) {
    real *from = image(test, t, values);
    stored *p = output(t);
    for (long i = 0; i < N * t->layout.sample; i++)
        if (values == ANY) /* as they are: the conversion is what is tested */
            memcpy(&p[i], &from[i], sizeof *p);
        else
            store(p, i, from[i]);
    free(from);
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

static void same_tensor(Test *test, const char *what, const stored *got, const stored *want,
                        long elements) {
    for (long i = 0; i < elements; i++)
        if (memcmp(&got[i], &want[i], sizeof *got) != 0) {
            fail(test, what, i, (double)load(got, i), (double)load(want, i));
            return;
        }
}

/* How far apart two neighbours are of which the nearer to zero is x. */
static double unit(double x) {
#if defined UNET_STORED_BF16
    return fabs(x) * 0x1p-7;
#elif defined UNET_STORED_F16
    return fabs(x) * 0x1p-10 + 0x1p-24;
#else
    return 0 * x;
#endif
}

static void near_tensor(Test *test, const char *what, const stored *got, const stored *want,
                        long elements) {
    double most = 0;
    long other = 0, numbers_written = 0;
    for (long i = 0; i < elements; i++)
        if (fabs((double)load(want, i)) > most)
            most = fabs((double)load(want, i));
    for (long i = 0; i < elements; i++) {
        double a = (double)load(got, i), b = (double)load(want, i);
        if (isnan(b) ? !isnan(a) : !(fabs(a - b) <= 1e-5 * most + unit(b))) {
            fail(test, what, i, a, b);
            return;
        }
        numbers_written += !isnan(b);
        other += fabs(a - b) > 1e-5 * most;
    }
    if (other > numbers_written / 50 + 3)
        fail(test, "numbers that are rounded otherwise", -1, (double)other, 0);
}

/* As many elements were written as these rows have. */
static void written(Test *test, const Tensor *t, const stored *y, int rows) {
    long count = 0, want = (long)N * stored_channels(&t->layout) * rows * t->size[2];
    for (long i = 0; i < N * t->layout.sample; i++)
        count += !isnan(load(y, i));
    if (count != want)
        fail(test, "elements written", -1, (double)count, (double)want);
}

/* The reference wrote every point, padding channels zero, and nothing else. */
static void complete(Test *test, const Tensor *t, const stored *y) {
    written(test, t, y, t->size[0] * t->size[1]);
    if (t->layout.channels < stored_channels(&t->layout)) {
        long pad = element(&t->layout, N - 1, t->layout.channels, 0, 0, 0);
        if (load(y, pad) != 0)
            fail(test, "padding channel", pad, (double)load(y, pad), 0);
    }
}

static void relu(stored *y, long elements) {
    for (long i = 0; i < elements; i++)
        store(y, i, load(y, i) < 0 ? 0 : load(y, i));
}

/* y = 0 where m <= 0, and y's padding channels as they are. */
static void mask(stored *y, const Tensor *ty, const stored *m, const Tensor *tm) {
    for (int n = 0; n < N; n++)
        for (int c = 0; c < ty->layout.channels; c++)
            for (int d = 0; d < ty->size[0]; d++)
                for (int h = 0; h < ty->size[1]; h++)
                    for (int w = 0; w < ty->size[2]; w++)
                        if (!(load(m, element(&tm->layout, n, c, d, h, w)) > 0))
                            store(y, element(&ty->layout, n, c, d, h, w), 0);
}

/* ---- convolutions --------------------------------------------------------------------------------- */

typedef void Forward(int, stored *, const stored *const *, const real *, const real *);
typedef void Pack(real *, const real *);
typedef void Dgrad(int, stored *, const stored *, const real *, const stored *);
typedef void Wgrad(int, real *, real *, real *, const stored *const *, const stored *);

static stored *forward(Function f, int threads, int n, const Tensor *t, const stored *const *x,
                       const real *w, const real *b) {
    stored *y = output(t);
#pragma omp parallel num_threads(threads)
    ((Forward *)f)(n, y, x, w, b);
    return y;
}

static stored *dgrad(Function f, int threads, int n, const Tensor *t, const stored *dy, const real *w,
                     const stored *m) {
    stored *dx = output(t);
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
static void check_forward(Test *test, const stored *const *x, const real *w, const real *b) {
    const Case *c = test->of;
    long elements = N * c->y.layout.sample;
    real *packed = pack(c->fast[FORWARD_PACK], w, (long)c->channels_in * c->channels_out * c->taps,
                        stored_segments(c), c->channels_out, c->taps);
    stored *want = forward(c->reference[FORWARD], 2, N, &c->y, x, w, b);
    stored *got = forward(c->fast[FORWARD], 1, N, &c->y, x, packed, b);
    stored *threads = forward(c->fast[FORWARD], 3, N, &c->y, x, packed, b);
    stored *half = forward(c->fast[FORWARD], 2, 1, &c->y, x, packed, b);
    complete(test, &c->y, want);
    near_tensor(test, "forward", got, want, elements);
    same_tensor(test, "forward by three threads", threads, got, elements);
    same_tensor(test, "forward of one sample", half, got, elements / N);
    if (!isnan(load(half, elements / N + c->y.layout.origin)))
        fail(test, "forward of one sample touches the next", elements / N, 0, 0);
    if (c->fast[FORWARD_RELU] != NULL) {
        stored *fused = forward(c->fast[FORWARD_RELU], 2, N, &c->y, x, packed, b);
        relu(got, elements);
        same_tensor(test, "forward with ReLU", fused, got, elements);
        free(fused);
    }
    free(packed), free(want), free(got), free(threads), free(half);
}

static void check_dgrad(Test *test, const stored *dy, const real *w) {
    const Case *c = test->of;
    long elements = N * c->dx.layout.sample;
    real *packed = pack(c->fast[DGRAD_PACK], w, (long)c->channels_in * c->channels_out * c->taps,
                        stored_channels(&c->y.layout), c->dx.layout.channels, c->taps);
    stored *want = dgrad(c->reference[DGRAD], 2, N, &c->dx, dy, w, NULL);
    stored *got = dgrad(c->fast[DGRAD], 1, N, &c->dx, dy, packed, NULL);
    stored *threads = dgrad(c->fast[DGRAD], 3, N, &c->dx, dy, packed, NULL);
    complete(test, &c->dx, want);
    near_tensor(test, "dgrad", got, want, elements);
    same_tensor(test, "dgrad by three threads", threads, got, elements);
    if (c->fast[DGRAD_MASK] != NULL) {
        stored *m = input(test, &c->m, COARSE);
        stored *fused = dgrad(c->fast[DGRAD_MASK], 2, N, &c->dx, dy, packed, m);
        mask(got, &c->dx, m, &c->m);
        same_tensor(test, "dgrad with a mask", fused, got, elements);
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
static void add_wgrad(const Case *c, Function f, int threads, int n, real *both, const stored *const *x,
                      const stored *dy) {
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

static real *wgrad(const Case *c, Function f, int threads, int n, const stored *const *x,
                   const stored *dy) {
    real *both = fresh((long)c->channels_in * c->channels_out * c->taps + c->channels_out);
    add_wgrad(c, f, threads, n, both, x, dy);
    return both;
}

static void check_wgrad(Test *test, const stored *const *x, const stored *dy) {
    const Case *c = test->of;
    long all = (long)c->channels_in * c->channels_out * c->taps + c->channels_out;
    const stored *second[3];
    for (int s = 0; s < c->segments; s++)
        second[s] = x[s] + c->x[s].layout.sample;
    real *want = wgrad(c, c->reference[WGRAD], 2, N, x, dy);
    real *got = wgrad(c, c->fast[WGRAD], 1, N, x, dy);
    real *threads = wgrad(c, c->fast[WGRAD], 3, N, x, dy);
    near(test, "wgrad", got, want, all);
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
    stored *x[3] = {NULL};
    for (int s = 0; s < c->segments; s++)
        x[s] = input(test, &c->x[s], FINE);
    stored *dy = input(test, &c->y, FINE);
    real *w = numbers(test, (long)c->channels_in * c->channels_out * c->taps);
    real *b = numbers(test, c->channels_out);
    check_forward(test, (const stored *const *)x, w, b);
    check_dgrad(test, dy, w);
    check_wgrad(test, (const stored *const *)x, dy);
    for (int s = 0; s < c->segments; s++)
        free(x[s]);
    free(dy), free(w), free(b);
}

/* ---- rows ------------------------------------------------------------------------------------------ */

/* A range of rows is computed in parts, in any order. */
enum { PARTS_OF_SPLIT = 3 };
typedef struct {
    Rows part[PARTS_OF_SPLIT];
} Split;

static Split whole(const Tensor *t) {
    return (Split){{{0, t->size[0] * t->size[1]}}};
}

/* Into parts of which some may be empty, the last one first. */
static Split random_split(Test *test, const Tensor *t) {
    const int rows = t->size[0] * t->size[1];
    const int a = (int)((uniform(test) + 1) / 2 * (rows + 1)),
              b = (int)((uniform(test) + 1) / 2 * (rows + 1));
    const int low = a < b ? a : b, high = a < b ? b : a;
    return (Split){{{high, rows}, {0, low}, {low, high}}};
}

/* ---- what is exact -------------------------------------------------------------------------------- */

typedef void Two(int, Rows, stored *, const void *);
typedef void Three(int, Rows, void *, const void *, const void *);
typedef void Four(int, Rows, stored *, const void *, const void *, const void *);

/* Any of these kernels over the rows of a split; what it does not take is NULL. */
typedef struct {
    const void *in[3];
    int inputs;
} Inputs;

static stored *computed(Function f, int threads, Split s, const Tensor *t, Inputs x) {
    stored *y = output(t);
#pragma omp parallel num_threads(threads)
    for (int k = 0; k < PARTS_OF_SPLIT; k++)
        if (x.inputs == 1)
            ((Two *)f)(N, s.part[k], y, x.in[0]);
        else if (x.inputs == 2)
            ((Three *)f)(N, s.part[k], y, x.in[0], x.in[1]);
        else
            ((Four *)f)(N, s.part[k], y, x.in[0], x.in[1], x.in[2]);
    return y;
}

/* A range of rows alone, of which a kernel writes no other. */
static void check_part(Test *test, Function f, Rows rows, const Tensor *t, Inputs x) {
    stored *y = computed(f, 2, (Split){{rows}}, t, x);
    written(test, t, y, rows.end - rows.begin);
    free(y);
}

/* The fast kernel gives the bits of the reference, and either gives the same by parts. ANY: inputs hold
 * whatever has as many bits, NaNs too. */
static void check_exact(Test *test, const char *what, int role, const Tensor *t, Inputs x, bool any) {
    const Function fast = test->of->fast[role], reference = test->of->reference[role];
    const long elements = N * t->layout.sample;
    const Split split = random_split(test, t);
    stored *want = computed(reference, 2, whole(t), t, x);
    stored *got = computed(fast, 3, whole(t), t, x);
    stored *parts = computed(fast, 2, split, t, x);
    stored *reference_parts = computed(reference, 1, split, t, x);
    same_tensor(test, what, got, want, elements);
    same_tensor(test, what, parts, got, elements);
    same_tensor(test, what, reference_parts, want, elements);
    if (!any) {
        complete(test, t, want);
        check_part(test, fast, split.part[2], t, x);
        check_part(test, reference, split.part[2], t, x);
    }
    free(want), free(got), free(parts), free(reference_parts);
}

/* Of two gradients of a parameter, which are not rounded. */
static void check_parameters(Test *test) {
    const Case *c = test->of;
    real *a = image(test, &c->x[0], FINE), *b = image(test, &c->x[1], FINE);
    long elements = N * c->y.layout.sample;
    real *want = fresh(elements), *got = fresh(elements);
    const Rows rows = whole(&c->y).part[0];
#pragma omp parallel num_threads(3)
    {
        ((Three *)c->reference[ADD_PARAMETERS])(N, rows, want, a, b);
        ((Three *)c->fast[ADD_PARAMETERS])(N, rows, got, a, b);
    }
    same(test, "add of parameters", got, want, elements);
    free(a), free(b), free(want), free(got);
}

static void check_pool(Test *test) {
    const Case *c = test->of;
    stored *x = input(test, &c->x[0], COARSE), *dy = input(test, &c->y, FINE),
           *a = input(test, &c->m, FINE);
    check_exact(test, "max_pool", FORWARD, &c->y, (Inputs){{x}, 1}, false);
    check_exact(test, "max_pool_grad", POOL_GRAD, &c->dx, (Inputs){{x, dy, NULL}, 3}, false);
    check_exact(test, "avg_pool", AVG_POOL, &c->y, (Inputs){{x}, 1}, false);
    check_exact(test, "avg_pool_grad", AVG_POOL_GRAD, &c->dx, (Inputs){{dy}, 1}, false);
    check_exact(test, "max_pool_grad accumulating, with a mask", POOL_GRAD_FUSED, &c->dx,
                (Inputs){{x, dy, a}, 3}, false);
    free(x), free(dy), free(a);
}

typedef void One(int, Rows, stored *);

/* Y holds ones everywhere; back come zeros for the halo. */
static stored *without_halo(Function f, Split s, const Tensor *t) {
    stored *y = output(t);
    for (long i = 0; i < N * t->layout.sample; i++)
        store(y, i, 1);
#pragma omp parallel num_threads(3)
    for (int k = 0; k < PARTS_OF_SPLIT; k++)
        ((One *)f)(N, s.part[k], y);
    return y;
}

/* Of a range of rows the halo beside them is zeroed, in its lines of memory, and no point. */
static void check_halo_beside(Test *test, Rows rows) {
    const Tensor *t = &test->of->y;
    const Layout *l = &t->layout;
    stored *y = without_halo(test->of->fast[ZERO_HALO], (Split){{rows}}, t);
    for (int r = 0; r < t->size[0] * t->size[1]; r++) {
        const long first = element(l, N - 1, 0, r / t->size[1], r % t->size[1], 0);
        const long line = first - l->origin % l->row;
        for (long i = line; i < line + l->row; i++) {
            const bool point = i >= first && i < first + t->size[2] * l->block;
            const double want = point || r < rows.begin || r >= rows.end;
            if ((double)load(y, i) != want)
                fail(test, "zero_halo beside a row", r, (double)load(y, i), want);
        }
    }
    free(y);
}

static void check_halo(Test *test) {
    const Tensor *t = &test->of->y;
    const long elements = N * t->layout.sample;
    const Split split = random_split(test, t);
    stored *want = without_halo(test->of->reference[ZERO_HALO], whole(t), t);
    stored *got = without_halo(test->of->fast[ZERO_HALO], whole(t), t);
    stored *parts = without_halo(test->of->fast[ZERO_HALO], split, t);
    stored *reference_parts = without_halo(test->of->reference[ZERO_HALO], split, t);
    long points = 0, all = (long)N * stored_channels(&t->layout) * t->size[0] * t->size[1] * t->size[2];
    for (long i = 0; i < elements; i++)
        points += load(want, i) != 0;
    for (int n = 0; n < N; n++)
        for (int c = 0; c < stored_channels(&t->layout); c++)
            for (int r = 0; r < t->size[0] * t->size[1]; r++)
                for (int w = 0; w < t->size[2]; w++)
                    if (load(want, element(&t->layout, n, c, r / t->size[1], r % t->size[1], w)) == 0)
                        fail(test, "zero_halo, a point", r, 0, 1);
    if (points != all)
        fail(test, "zero_halo, elements that are no halo", -1, (double)points, (double)all);
    same_tensor(test, "zero_halo", got, want, elements);
    same_tensor(test, "zero_halo by rows", parts, got, elements);
    same_tensor(test, "zero_halo by rows, reference", reference_parts, want, elements);
    check_halo_beside(test, split.part[2]);
    free(want), free(got), free(parts), free(reference_parts);
}

/* To a relative error, over all that is not as good as zero. */
static void check_sigmoid(Test *test) {
    const Tensor *t = &test->of->y;
    stored *x = input(test, &test->of->x[0], WIDE);
    const Inputs in = {{x}, 1};
    stored *want = computed(test->of->reference[SIGMOID], 2, whole(t), t, in);
    stored *got = computed(test->of->fast[SIGMOID], 1, whole(t), t, in);
    stored *parts = computed(test->of->fast[SIGMOID], 3, random_split(test, t), t, in);
    complete(test, t, want);
    same_tensor(test, "sigmoid by rows", parts, got, N * t->layout.sample);
    for (long i = 0; i < N * t->layout.sample; i++) {
        const double a = (double)load(got, i), b = (double)load(want, i);
        if (isnan(b) ? !isnan(a) : !(fabs(a - b) <= 2.5e-7 * b + unit(b) + 0x1p-125))
            fail(test, "sigmoid", i, a, b);
    }
    free(x), free(want), free(got), free(parts);
}

static void check_map(Test *test) {
    const Case *c = test->of;
    stored *a = input(test, &c->x[0], COARSE), *b = input(test, &c->x[1], COARSE);
    const Tensor *y = &c->y;
    check_exact(test, "relu", RELU, y, (Inputs){{a}, 1}, false);
    check_exact(test, "relu_grad", RELU_GRAD, y, (Inputs){{a, b}, 2}, false);
    check_exact(test, "add", ADD, y, (Inputs){{a, b}, 2}, false);
    check_exact(test, "leaky_relu", LEAKY_RELU, y, (Inputs){{a}, 1}, false);
    check_exact(test, "leaky_relu_grad", LEAKY_RELU_GRAD, y, (Inputs){{a, b}, 2}, false);
    check_exact(test, "sigmoid_grad", SIGMOID_GRAD, y, (Inputs){{a, b}, 2}, false);
    check_sigmoid(test);
    check_parameters(test);
    check_halo(test);
    stored *any = input(test, &c->x[0], ANY);
    check_exact(test, "relu of anything", RELU, y, (Inputs){{any}, 1}, true);
    store(a, c->x[0].layout.origin, (real)NAN);
    stored *kept = computed(c->fast[RELU], 1, whole(y), y, (Inputs){{a}, 1});
    if (!isnan(load(kept, y->layout.origin)))
        fail(test, "relu hides a NaN", 0, (double)load(kept, y->layout.origin), NAN);
    real *loaded = image(test, &c->x[0], FINE), *bits = image(test, &c->x[0], ANY);
    check_exact(test, "cast", CAST, y, (Inputs){{loaded}, 1}, false);
    check_exact(test, "cast of anything", CAST, y, (Inputs){{bits}, 1}, true);
    free(kept), free(a), free(b), free(any), free(loaded), free(bits);
}

static void check_join(Test *test) {
    const Case *c = test->of;
    stored *x[3] = {NULL};
    for (int s = 0; s < c->segments; s++)
        x[s] = input(test, &c->x[s], FINE);
    check_exact(test, "concat", CONCAT, &c->y, (Inputs){{x}, 1}, false);
    stored *y = input(test, &c->y, FINE);
    check_exact(test, "slice", SLICE, &c->dx, (Inputs){{y}, 1}, false);
    for (int s = 0; s < c->segments; s++)
        free(x[s]);
    free(y);
}

/* ---- losses --------------------------------------------------------------------------------------- */

typedef void Measure(int, double *, double *, const stored *, const void *, const int32_t (*)[3]);
typedef void MeasureGrad(int, int, Rows, stored *, const stored *, const void *, const double *);

static double measure(const Case *c, Function f, int threads, const stored *p, const void *t,
                      const int32_t (*valid)[3]) {
    double result = NAN, *scratch = allocate(N * c->bands, sizeof *scratch);
    for (int i = 0; i < N * c->bands; i++)
        scratch[i] = NAN;
#pragma omp parallel num_threads(threads)
    ((Measure *)f)(N, &result, scratch, p, t, valid);
    free(scratch);
    return result;
}

static void check_measure(Test *test, const char *what, int role, const stored *p, const void *t) {
    const Case *c = test->of;
    const int *size = c->x[0].size;
    const int32_t valid[N][3] = {{size[0], size[1] - 1, size[2]}, {1, size[1], size[2] - 1}};
    for (int all = 0; all < 2; all++) {
        double want = measure(c, c->reference[role], 2, p, t, all ? NULL : valid);
        double got = measure(c, c->fast[role], 1, p, t, all ? NULL : valid);
        double threads = measure(c, c->fast[role], 3, p, t, all ? NULL : valid);
        if (!(fabs(got - want) <= 1e-12 * fabs(want)))
            fail(test, what, all, got, want);
        if (memcmp(&got, &threads, sizeof got) != 0)
            fail(test, "a measure by three threads", all, threads, got);
    }
}

static stored *measure_grad(Function f, Split s, const Tensor *dp, const stored *p, const void *t) {
    const double scale = 3;
    stored *gradient = output(dp);
#pragma omp parallel num_threads(3)
    for (int k = 0; k < PARTS_OF_SPLIT; k++)
        ((MeasureGrad *)f)(N, STEP, s.part[k], gradient, p, t, &scale);
    return gradient;
}

static void check_measure_grad(Test *test, const char *what, int role, const stored *p, const void *t) {
    const Tensor *dp = &test->of->dx;
    const long elements = N * dp->layout.sample;
    const Split split = random_split(test, dp);
    stored *want = measure_grad(test->of->reference[role], whole(dp), dp, p, t);
    stored *got = measure_grad(test->of->fast[role], whole(dp), dp, p, t);
    stored *parts = measure_grad(test->of->fast[role], split, dp, p, t);
    stored *reference_parts = measure_grad(test->of->reference[role], split, dp, p, t);
    complete(test, dp, want);
    near_tensor(test, what, got, want, elements);
    same_tensor(test, what, parts, got, elements);
    same_tensor(test, what, reference_parts, want, elements);
    free(want), free(got), free(parts), free(reference_parts);
}

static void check_loss(Test *test) {
    const Tensor *target = &test->of->x[1];
    stored *p = input(test, &test->of->x[0], COARSE);
    void *t = test->of->staged ? (void *)image(test, target, COARSE) : (void *)input(test, target, COARSE);
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
        [CONV] = check_convolution, [UPCONV] = check_convolution, [POOL] = check_pool,
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
