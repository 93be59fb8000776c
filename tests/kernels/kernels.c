/* kernels.c - compares every fast kernel with the reference kernel in the cases that cases.py chose.
 *
 * The row of a kernel says what it does to an operand (kernels.h): results hold NaN before, so that a
 * number that the kernel should write and does not, or should leave alone, shows; operands that are only
 * read are compared behind each call.  Buffers have exactly the size of their operands, so that
 * AddressSanitizer sees each step beside them. Results of one and of three threads are compared bit by bit,
 * as are results by ranges of rows, on rings of rows, in place, sample by sample, and fused.  Numbers of 16
 * bits (UNET_STORED_BF16, UNET_STORED_F16) may be neighbours if sums have another order, and few are. */
#define _GNU_SOURCE /* syscall */
#include "kernels.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#if defined __AMX_BF16__ && defined __linux__
#include <sys/syscall.h>
#include <unistd.h>
#endif

enum { N = 2, STEP = 3, MAX_BUFFERS = MAX_OPERANDS + MAX_BESIDE };

typedef struct {
    const Case *of;
    uint64_t random;
    int failures;
    void *given[MAX_OPERANDS]; /* what operands hold before a call, where that counts */
} Test;

/* All that a side touches. */
typedef struct {
    void *at[MAX_BUFFERS];
    int count;
} Buffers;

static void fail(Test *test, const char *what, const char *operand, long at, double got, double want) {
    if (test->failures++ < 10)
        printf("FAILED %s: %s: `%s`, element %ld is %.9g, not %.9g\n", test->of->name, what, operand, at,
               got, want);
}

/* ---- operands ------------------------------------------------------------------------------------- */

static double uniform(Test *test) {
    test->random = test->random * 6364136223846793005u + 1442695040888963407u;
    return (double)(test->random >> 40) / (1 << 23) - 1;
}

static uint32_t any_bits(Test *test) {
    uint32_t upper = (uint32_t)(int32_t)(uniform(test) * 32768) << 16;
    return upper | (uint32_t)(int32_t)(uniform(test) * 32768 + 32768);
}

static bool has_samples(const Argument *o) {
    return o->kind <= LABELS;
}

static bool has_doubles(const Argument *o) {
    return o->kind == DOUBLES || o->kind == EACH;
}

static size_t element_bytes(const Argument *o) {
    static const size_t bytes[] = {
        [TENSOR] = sizeof(stored),   [STAGED] = sizeof(real),    [BYTES] = sizeof(uint8_t),
        [SHORTS] = sizeof(uint16_t), [LABELS] = sizeof(uint8_t), [NUMBERS] = sizeof(real),
        [VECTORS] = sizeof(real),    [DOUBLES] = sizeof(double), [EACH] = sizeof(double)};
    return bytes[o->kind];
}

static size_t bytes_of(const Argument *o) {
    return (size_t)o->elements * element_bytes(o);
}

/* A label that is not written holds 255. */
static double label(uint8_t byte) {
    return byte == 255 ? NAN : byte;
}

static double get(const Argument *o, const void *p, long i) {
    return o->kind == TENSOR   ? (double)load(p, i)
           : has_doubles(o)    ? ((const double *)p)[i]
           : o->kind == LABELS ? label(((const uint8_t *)p)[i])
           : o->kind == BYTES  ? ((const uint8_t *)p)[i] / 255.0
           : o->kind == SHORTS ? ((const uint16_t *)p)[i] / 65535.0
                               : (double)((const real *)p)[i];
}

static void put(const Argument *o, void *p, long i, double x) {
    if (o->kind == TENSOR)
        store(p, i, (real)x);
    else if (has_doubles(o))
        ((double *)p)[i] = x;
    else if (o->kind == LABELS)
        ((uint8_t *)p)[i] = (uint8_t)x;
    else if (o->kind == BYTES)
        ((uint8_t *)p)[i] = (uint8_t)(255 * fmin(fabs(x), 1));
    else if (o->kind == SHORTS)
        ((uint16_t *)p)[i] = (uint16_t)(65535 * fmin(fabs(x), 1));
    else
        ((real *)p)[i] = (real)x;
}

/* NaN in every type. */
static void *fresh(size_t bytes) {
    void *p = NULL;
    if (posix_memalign(&p, 64, bytes) != 0)
        abort();
    return memset(p, 0xFF, bytes);
}

/* The number of a class is whole.  A variance is not negative, nor is a factor that normalises; the
 * logarithm of a sum of exponentials is above each exponent. */
static double some_number(Test *test, const Argument *o) {
    const double v = uniform(test);
    if (strcmp(o->name, "lse") == 0)
        return v + 16;
    if (strcmp(o->name, "class") == 0) /* some of these are no class */
        return floor(14 * v + 12);
    return strstr(o->name, "var") != NULL || strcmp(o->name, "map") == 0 || strcmp(o->name, "products") == 0
               ? fabs(v) + 0.01
               : v;
}

static void put_any(Test *test, const Argument *o, void *p, long i) {
    const double v = some_number(test, o);
    const uint32_t bits = any_bits(test);
    if (o->kind == LABELS) /* few classes, and points that count nowhere */
        put(o, p, i, v > 0.75 && strcmp(o->name, "p") != 0 ? 255 : floor(2.5 * v + 2.5));
    else if (test->of->values == ANY && !has_doubles(o))
        memcpy((char *)p + (size_t)i * element_bytes(o), &bits, element_bytes(o));
    else
        put(o, p, i,
            test->of->values == COARSE     ? floor(4 * v) / 4
            : test->of->values == WIDE     ? 120 * v
            : test->of->values == POSITIVE ? fabs(v) + 0.01
                                           : v);
}

/* The element of a tensor that is point W of row R of channel C. */
static long point(const Argument *o, int n, int c, int r, int w) {
    return element(&o->layout, n, c, r / o->size[1], r % o->size[1], w);
}

static int rows_in(const Argument *o) {
    return has_samples(o) ? o->size[0] * o->size[1] : 1;
}

/* The points of a tensor; the halo and what pads a block are zero. */
static void *some_tensor(Test *test, const Argument *o) {
    void *p = memset(fresh(bytes_of(o)), 0, bytes_of(o));
    for (int n = 0; n < N; n++)
        for (int c = 0; c < o->layout.channels; c++)
            for (int r = 0; r < rows_in(o); r++)
                for (int w = 0; w < o->size[2]; w++)
                    put_any(test, o, p, point(o, n, c, r, w));
    return p;
}

/* An optimiser's state is zero at first; the scale of the loss is 2, and doubled by one good step more. */
static double first_state(const Argument *o, long i) {
    static const double scale[] = {2, 1999, 0, 0};
    return o->kind == DOUBLES ? scale[i] : 0;
}

static void *some_numbers(Test *test, const Argument *o) {
    void *p = fresh(bytes_of(o));
    const bool state = test->of->steps > 0 && o->use == UPDATED && strcmp(o->name, "p") != 0;
    for (long i = 0; i < o->elements; i++)
        if (state)
            put(o, p, i, first_state(o, i));
        else
            put_any(test, o, p, i);
    return p;
}

static Buffers buffers_for(const Test *test, const Side *side) {
    const Case *c = test->of;
    Buffers b = {.count = c->noperand + side->nbeside};
    for (int i = 0; i < c->noperand; i++) {
        b.at[i] = fresh(bytes_of(&c->operand[i]));
        if (test->given[i] != NULL)
            memcpy(b.at[i], test->given[i], bytes_of(&c->operand[i]));
    }
    for (int i = 0; i < side->nbeside; i++)
        b.at[c->noperand + i] = fresh((size_t)side->beside[i]);
    return b;
}

static void release(Buffers b) {
    for (int i = 0; i < b.count; i++)
        free(b.at[i]);
}

/* ---- calls ---------------------------------------------------------------------------------------- */

/* A range of rows is computed in parts: of a sum in order, else in any. */
enum { PARTS = 3 };
typedef struct {
    Rows part[PARTS];
    int count;
} Split;

static const Split whole = {{{0, -1}}, 1};

/* A row at which a range may begin, or the end. */
static int random_row(Test *test, const Ranges *of) {
    const int r = (int)((uniform(test) + 1) / 2 * (of->rows + 1)), h = r % of->height,
              row = (h + of->phase) / of->tile * of->tile - of->phase;
    return row < 0 ? r - h : r - h + row;
}

/* Splits into parts, and some may be empty: in order, or the last one first. */
static Split random_split(Test *test, const Ranges *of, bool in_order) {
    const int a = random_row(test, of), b = random_row(test, of);
    const int low = a < b ? a : b, high = a < b ? b : a;
    return in_order ? (Split){{{0, low}, {low, high}, {high, of->rows}}, PARTS}
                    : (Split){{{high, of->rows}, {0, low}, {low, high}}, PARTS};
}

/* How much of each sample counts. */
static void set_valid(const Case *c, int32_t valid[N][3]) {
    int t = 0;
    while (t < c->noperand && !has_samples(&c->operand[t]))
        t++;
    for (int n = 0; n < N && t < c->noperand; n++)
        for (int k = 0; k < 3; k++)
            valid[n][k] = c->operand[t].size[k] - (k == n + 1);
}

/* SAMPLES of the batch from FIRST on. */
static void call(const Case *c, Run *run, int threads, Split split, int first, int samples, int step,
                 void *const *at) {
    int32_t valid[N][3];
    const UnetStep told = {.n = STEP, .threads = threads, .learning_rate = 1e-2, .step = step, .seed = 5};
    set_valid(c, valid);
#pragma omp parallel num_threads(threads)
    for (int k = 0; k < split.count; k++) {
        const Call part = {&told, samples, c->counts ? valid + first : NULL, split.part[k], first};
        run(&part, at);
    }
}

/* If the loss is scaled, the gradients of an optimiser's second step have overflowed at one place. */
static void spoil_gradients(const Case *c, int step, void *const *at, void *const *given) {
    bool scaled = false;
    for (int i = 0; i < c->noperand; i++)
        scaled |= c->operand[i].kind == DOUBLES;
    for (int i = 0; i < c->noperand; i++) {
        const Argument *o = &c->operand[i];
        if (strcmp(o->name, "g") == 0)
            put(o, at[i], o->elements / 2,
                scaled && step == 2 ? INFINITY : get(o, given[i], o->elements / 2));
    }
}

/* Operands that are only read were not written. */
static void check_given(Test *test, const char *what, const Buffers *b) {
    for (int i = 0; i < test->of->noperand; i++) {
        const Argument *o = &test->of->operand[i];
        if (o->use != GIVEN)
            continue;
        for (long k = 0; k < o->elements; k++)
            if (memcmp((char *)b->at[i] + (size_t)k * element_bytes(o),
                       (char *)test->given[i] + (size_t)k * element_bytes(o), element_bytes(o)) != 0) {
                fail(test, what, o->name, k, get(o, b->at[i], k), get(o, test->given[i], k));
                break;
            }
    }
}

/* Operands that are updated by the row were updated. */
static void check_updated(Test *test, const Buffers *b) {
    for (int i = 0; i < test->of->noperand; i++) {
        const Argument *o = &test->of->operand[i];
        if (o->use == UPDATED && memcmp(b->at[i], test->given[i], bytes_of(o)) == 0)
            fail(test, "what is updated stays as it is", o->name, 0, get(o, b->at[i], 0),
                 get(o, test->given[i], 0));
    }
}

static Buffers computed(Test *test, int side, int threads, Split split, int samples) {
    const Case *c = test->of;
    Buffers b = buffers_for(test, &c->side[side]);
    for (int step = 1; step <= (c->steps > 0 ? c->steps : 1); step++) {
        if (c->steps > 0)
            spoil_gradients(c, step, b.at, test->given);
        call(c, c->side[side].run, threads, split, 0, samples, step, b.at);
    }
    check_given(test, "what is only read is written", &b);
    return b;
}

/* ---- comparisons ---------------------------------------------------------------------------------- */

static bool is_result(const Argument *o) {
    return o->use == COMPUTED || o->use == UPDATED;
}

static void same_elements(Test *test, const char *what, const Argument *o, const void *got,
                          const void *want, long elements) {
    const size_t bytes = element_bytes(o);
    for (long i = 0; i < elements; i++)
        if (memcmp((const char *)got + (size_t)i * bytes, (const char *)want + (size_t)i * bytes, bytes) !=
            0) {
            fail(test, what, o->name, i, get(o, got, i), get(o, want, i));
            return;
        }
}

static void same(Test *test, const char *what, const Buffers *got, const Buffers *want) {
    for (int i = 0; i < test->of->noperand; i++)
        if (is_result(&test->of->operand[i]))
            same_elements(test, what, &test->of->operand[i], got->at[i], want->at[i],
                          test->of->operand[i].elements);
}

/* Sums of products may be so far from the reference, in units of the largest of them. */
#ifdef UNET_FAST_PRODUCTS
#define SUMS_APART 3e-2
#else
#define SUMS_APART 1e-5
#endif

/* The distance of two neighbours; x is the one nearer to zero. */
static double unit(const Argument *o, double x) {
#if defined UNET_STORED_BF16
    return o->kind == TENSOR ? fabs(x) * 0x1p-7 : 0;
#elif defined UNET_STORED_F16
    return o->kind == TENSOR ? fabs(x) * 0x1p-10 + 0x1p-24 : 0;
#else
    return 0 * x * (double)(o->kind == TENSOR);
#endif
}

/* Returns the largest element of the results of the kind of O: a number near zero by chance is as exact as
 * the others.  A sum that has no others is held against the root of the number of its terms, about the size
 * of a sum of random numbers. */
static double most_like(const Test *test, const Argument *o, const Buffers *b) {
    double most = 0, terms = 0;
    long results = 0;
    for (int k = 0; k < test->of->noperand; k++) {
        const Argument *other = &test->of->operand[k];
        terms = fmax(terms, (double)other->elements);
        if (other->kind != o->kind || !is_result(other))
            continue;
        for (long i = 0; i < other->elements; i++)
            most = fmax(most, fabs(get(other, b->at[k], i)));
        results += other->elements;
    }
    return results == 1 ? fmax(most, sqrt(terms)) : most;
}

static void near(Test *test, int k, const Buffers *got_all, const Buffers *want_all) {
    const Argument *o = &test->of->operand[k];
    const void *got = got_all->at[k], *want = want_all->at[k];
    const bool relative = test->of->nearness == RELATIVE;
    const bool in_double = has_doubles(o) && test->of->nearness != OF_FLOATS;
    const double apart = (in_double ? 1e-12 : SUMS_APART) * most_like(test, o, want_all);
    long other = 0, written = 0;
    for (long i = 0; i < o->elements; i++) {
        const double a = get(o, got, i), b = get(o, want, i);
        const double most = relative ? 2.5e-7 * fabs(b) + 0x1p-125 : apart;
        if (isnan(b) ? !isnan(a) : a != b && !(fabs(a - b) <= most + unit(o, b))) { /* may be infinite */
            fail(test, "beside the reference", o->name, i, a, b);
            return;
        }
        written += !isnan(b);
        other += a != b && fabs(a - b) > most;
    }
    if (other > written / 50 + 3 && !relative)
        fail(test, "numbers that are rounded otherwise", o->name, -1, (double)other, 0);
}

/* Whether the processor itself may have made this of a number: a NaN of other bits, zero below 2^-126,
 * where another would have rounded up to that. */
static bool converted(const Argument *o, double got, double want) {
#if defined UNET_STORED_BF16 && defined __AVX512BF16__
    return o->kind == TENSOR && (isnan(want) ? isnan(got) : fabs(want) <= 0x1p-126 && got == 0);
#else
    return (void)o, (void)got, (void)want, false;
#endif
}

static void exact(Test *test, int k, const Buffers *got, const Buffers *want) {
    const Argument *o = &test->of->operand[k];
    for (long i = 0; i < o->elements; i++) {
        const double a = get(o, got->at[k], i), b = get(o, want->at[k], i);
        const size_t at = (size_t)i * element_bytes(o);
        if (memcmp((char *)got->at[k] + at, (char *)want->at[k] + at, element_bytes(o)) != 0 &&
            !converted(o, a, b)) {
            fail(test, "beside the reference", o->name, i, a, b);
            return;
        }
    }
}

static void compare(Test *test, const Buffers *got, const Buffers *want) {
    for (int i = 0; i < test->of->noperand; i++)
        if (is_result(&test->of->operand[i]))
            (test->of->nearness == EXACT ? exact : near)(test, i, got, want);
}

/* As many elements were written as these rows have. */
static void written(Test *test, const Argument *o, const void *y, int rows) {
    long count = 0, want = (long)N * stored_channels(&o->layout) * rows * o->size[2];
    for (long i = 0; i < o->elements; i++)
        count += !isnan(get(o, y, i));
    if (count != want)
        fail(test, "elements written", o->name, -1, (double)count, (double)want);
}

/* Each result has its points, padding channels zero, and nothing else: all rows, or, of a result that has
 * ALL of them, so many ROWS. */
static void complete(Test *test, const Buffers *b, int rows, int all) {
    for (int i = 0; i < test->of->noperand && test->of->values != ANY; i++) {
        const Argument *o = &test->of->operand[i];
        if (o->kind != TENSOR || o->use != COMPUTED)
            continue;
        if (rows < 0 || rows_in(o) == all)
            written(test, o, b->at[i], rows < 0 ? rows_in(o) : rows);
        const long pad = point(o, N - 1, o->layout.channels - 1, 0, 0) + 1;
        if (rows < 0 && o->layout.channels < stored_channels(&o->layout) && get(o, b->at[i], pad) != 0)
            fail(test, "padding channel", o->name, pad, get(o, b->at[i], pad), 0);
    }
}

/* ---- the ways in which a kernel may be called ------------------------------------------------------- */

static bool has(const Test *test, int side) {
    return test->of->side[side].run != NULL;
}

/* Results without samples are sums over these. */
static bool has_sums(const Case *c) {
    bool sums = false;
    for (int i = 0; i < c->noperand; i++)
        sums |= is_result(&c->operand[i]) && !has_samples(&c->operand[i]);
    return sums;
}

static const Argument *first_result(const Case *c) {
    int i = 0;
    while (!is_result(&c->operand[i]))
        i++;
    return &c->operand[i];
}

/* A sum over rows takes them in order, and of one sample. */
static void check_sums_by_rows(Test *test, int side) {
    const Split split = random_split(test, &test->of->side[side].ranges, true);
    Buffers want = computed(test, side, 2, whole, 1), parts = computed(test, side, 3, split, 1);
    same(test, side == FAST ? "a sum by rows" : "a sum by rows, reference", &parts, &want);
    release(want), release(parts);
}

/* The same by parts; and a range of rows alone: the kernel writes no other rows. */
static void check_rows(Test *test, int side, const Buffers *want) {
    const Ranges *ranges = &test->of->side[side].ranges;
    if (ranges->rows == 0)
        return;
    if (has_sums(test->of)) {
        check_sums_by_rows(test, side);
        return;
    }
    const Split split = random_split(test, ranges, false);
    const Split part = {{split.part[2]}, 1};
    Buffers parts = computed(test, side, 2, split, N);
    same(test, side == FAST ? "by rows" : "by rows, reference", &parts, want);
    Buffers alone = computed(test, side, 2, part, N);
    complete(test, &alone, part.part[0].end - part.part[0].begin, ranges->rows);
    release(parts), release(alone);
}

/* One sample has the bits of the first of two, or, if the result depends on the whole batch, the numbers of
 * the reference; the second is not touched. */
static void check_one_sample(Test *test, const Buffers *want) {
    Buffers half = computed(test, FAST, 2, whole, 1);
    if (test->of->whole) {
        Buffers alone = computed(test, REFERENCE, 2, whole, 1);
        compare(test, &half, &alone);
        release(half), release(alone);
        return;
    }
    for (int i = 0; i < test->of->noperand; i++) {
        const Argument *o = &test->of->operand[i];
        if (o->kind != TENSOR || o->use != COMPUTED)
            continue;
        same_elements(test, "of one sample", o, half.at[i], want->at[i], o->elements / N);
        for (long k = o->elements / N; k < o->elements; k++)
            if (!isnan(get(o, half.at[i], k))) {
                fail(test, "of one sample touches the next", o->name, k, get(o, half.at[i], k), NAN);
                break;
            }
    }
    release(half);
}

/* A sum, sample by sample, is the sum of both; the second one by rows, if it can be. */
static void check_adds(Test *test, const Buffers *want) {
    const Case *c = test->of;
    if (!has(test, ADDS) || c->whole)
        return;
    Buffers first = computed(test, FAST, 2, whole, 1), second = buffers_for(test, &c->side[ADDS]);
    void *at[MAX_BUFFERS];
    for (int i = 0; i < second.count; i++) {
        const Argument *o = &c->operand[i];
        const bool computed_first = i < c->noperand && o->use == COMPUTED;
        const bool samples = i < c->noperand && (has_samples(o) || o->kind == VECTORS || o->kind == EACH);
        at[i] = (char *)(computed_first ? first : second).at[i] + (samples ? bytes_of(o) / N : 0);
    }
    const Ranges *ranges = &c->side[ADDS].ranges;
    call(c, c->side[ADDS].run, 2, ranges->rows > 0 ? random_split(test, ranges, true) : whole, 1, 1, 1, at);
    same(test, "sample by sample", &first, want);
    release(first), release(second);
}

/* A result in the place of an operand, where its row allows that. */
static void check_in_place(Test *test, int side, const Buffers *want) {
    const Case *c = test->of;
    for (int i = 0; i < c->noperand && has(test, side); i++) {
        const Argument *o = &c->operand[i];
        if (o->use != COMPUTED || o->place < 0 || c->operand[o->place].use != GIVEN)
            continue;
        Buffers b = buffers_for(test, &c->side[side]);
        void *at[MAX_BUFFERS];
        memcpy(at, b.at, sizeof at);
        at[i] = at[o->place];
        call(c, c->side[side].run, 2, whole, 0, N, 1, at);
        for (long k = 0; k < o->elements; k++)
            if (!isnan(get(o, want->at[i], k)) && get(o, at[i], k) != get(o, want->at[i], k)) {
                fail(test, "in place", o->name, k, get(o, at[i], k), get(o, want->at[i], k));
                break;
            }
        release(b);
    }
}

/* ---- rings of rows ------------------------------------------------------------------------------------
 */

/* A line of memory, with its halo at both ends; the rows of the halo have lines as well. */
static long line_of(const Layout *l, int n, int block, int r) {
    return element(l, n, block * l->block, 0, r, 0) - l->origin % l->row;
}

/* Fills a ring that held something else with the rows that a range needs: rows of the tensor, and zeros
 * around. */
static void fill_ring(const Argument *o, const void *whole_tensor, const Layout *ring, Rows need, void *p) {
    const size_t bytes = element_bytes(o);
    memset(p, 0xFF, (size_t)(N * ring->sample) * bytes);
    for (int n = 0; n < N && whole_tensor != NULL; n++)
        for (int block = 0; block < ring->blocks; block++)
            for (int r = need.begin; r < need.end; r++) {
                char *line = (char *)p + (size_t)line_of(ring, n, block, r) * bytes;
                if (r < 0 || r >= rows_in(o))
                    memset(line, 0, (size_t)ring->row * bytes);
                else
                    memcpy(line,
                           (const char *)whole_tensor + (size_t)line_of(&o->layout, n, block, r) * bytes,
                           (size_t)ring->row * bytes);
            }
}

/* The rows of a result in a ring are equal to rows of the whole, and nothing else was written. */
static void check_ring(Test *test, const Argument *o, const void *want, const Layout *ring, Rows rows,
                       const void *got) {
    const size_t bytes = element_bytes(o);
    long count = 0;
    for (int n = 0; n < N; n++)
        for (int c = 0; c < stored_channels(ring); c++)
            for (int r = rows.begin; r < rows.end; r++)
                for (int w = 0; w < o->size[2]; w++) {
                    const long at = element(ring, n, c, 0, r, w), there = point(o, n, c, r, w);
                    count += isnan(get(o, got, at));
                    if (memcmp((const char *)got + (size_t)at * bytes,
                               (const char *)want + (size_t)there * bytes, bytes) != 0) {
                        fail(test, "in rings", o->name, there, get(o, got, at), get(o, want, there));
                        return;
                    }
                }
    for (long i = 0; i < N * ring->sample; i++)
        count += !isnan(get(o, got, i));
    const long want_count = (long)N * stored_channels(ring) * (rows.end - rows.begin) * o->size[2];
    if (count != want_count)
        fail(test, "elements written in rings", o->name, -1, (double)count, (double)want_count);
}

/* The range number K of all rows, on rings that hold what it needs. */
static void compute_in_rings(Test *test, const Side *side, int k, int samples, const Buffers *want,
                             void *const *at) {
    const Case *c = test->of;
    const Rings *rings = &side->rings;
    const int end = (k + 1) * rings->band;
    const Rows rows = {k * rings->band, end < side->ranges.rows ? end : side->ranges.rows};
    for (int i = 0; i < c->noperand; i++)
        if (has_samples(&c->operand[i]))
            fill_ring(&c->operand[i], test->given[i], &rings->layout[i], rings->need[k][i], at[i]);
    call(c, rings->run, 2, (Split){{rows}, 1}, 0, samples, 1, at);
    for (int i = 0; i < c->noperand; i++)
        if (c->operand[i].kind == TENSOR && c->operand[i].use == COMPUTED)
            check_ring(test, &c->operand[i], want->at[i], &rings->layout[i], rows, at[i]);
}

/* Range by range on rings of rows, which hold nothing but what the range needs. */
static void check_rings(Test *test, int number) {
    const Case *c = test->of;
    const Side *side = &c->side[number];
    if (side->rings.run == NULL)
        return;
    const int samples = has_sums(c) ? 1 : N;
    Buffers want = computed(test, number, 2, whole, samples), rings = buffers_for(test, side);
    for (int i = 0; i < c->noperand; i++)
        if (has_samples(&c->operand[i])) {
            free(rings.at[i]);
            rings.at[i] = fresh((size_t)(N * side->rings.layout[i].sample) * element_bytes(&c->operand[i]));
        }
    for (int k = 0; k < side->rings.bands; k++)
        compute_in_rings(test, side, k, samples, &want, rings.at);
    for (int i = 0; i < c->noperand; i++)
        if (is_result(&c->operand[i]) && !has_samples(&c->operand[i]))
            same_elements(test, "a sum in rings", &c->operand[i], rings.at[i], want.at[i],
                          c->operand[i].elements);
    release(want), release(rings);
}

/* ---- what belongs to some operators ----------------------------------------------------------------- */

/* If an operand is NaN somewhere, the result is NaN there, unless it is a class. */
static void check_nan(Test *test, const Buffers *got) {
    const Argument *y = first_result(test->of), *x = &test->of->operand[1];
    for (int n = 0; n < N && test->of->values == ANY && y->kind != LABELS; n++)
        for (int c = 0; c < y->layout.channels; c++)
            for (int r = 0; r < rows_in(y); r++)
                for (int w = 0; w < y->size[2]; w++)
                    if (isnan(get(x, got->at[1], point(x, n, c, r, w))) &&
                        !isnan(get(y, got->at[0], point(y, n, c, r, w))))
                        fail(test, "hides a NaN", y->name, point(y, n, c, r, w), 0, NAN);
}

/* A good step, which doubles the scale, one that is not taken, which halves it, and three good ones. */
static void check_state(Test *test, const Buffers *b) {
    static const double want[4] = {2, 3, 4, 0.5};
    for (int i = 0; i < test->of->noperand; i++)
        if (test->of->steps > 0 && test->of->operand[i].kind == DOUBLES &&
            test->of->operand[i].use == UPDATED)
            same_elements(test, "the scale of the loss", &test->of->operand[i], b->at[i], want, 4);
}

/* ---- halos ----------------------------------------------------------------------------------------- */

/* Y holds ones everywhere; back come zeros for the halo. */
static void *without_halo(const Test *test, int side, Split split) {
    const Argument *o = &test->of->operand[0];
    void *y = fresh(bytes_of(o));
    for (long i = 0; i < o->elements; i++)
        put(o, y, i, 1);
    call(test->of, test->of->side[side].run, 3, split, 0, N, 1, &y);
    return y;
}

/* A call for a range of rows zeroes the halo beside the rows, in its lines of memory, and no point. */
static void check_halo_beside(Test *test, Rows rows) {
    const Argument *o = &test->of->operand[0];
    const Layout *l = &o->layout;
    void *y = without_halo(test, FAST_HALO, (Split){{rows}, 1});
    for (int r = 0; r < rows_in(o); r++) {
        const long first = point(o, N - 1, 0, r, 0), line = first - l->origin % l->row;
        for (long i = line; i < line + l->row; i++) {
            const bool is_point = i >= first && i < first + o->size[2] * l->block;
            const double want = is_point || r < rows.begin || r >= rows.end;
            if (get(o, y, i) != want)
                fail(test, "zero_halo beside a row", o->name, r, get(o, y, i), want);
        }
    }
    free(y);
}

/* The elements of the line of row r of a ring that are to be zero. */
static void check_halo_line(Test *test, const Layout *l, const void *y, int r, bool zeroed) {
    const Argument *o = &test->of->operand[0];
    const long line = line_of(l, N - 1, 0, r), first = line + l->origin % l->row;
    for (long i = line; i < line + l->row; i++) {
        const bool is_point = r >= 0 && r < rows_in(o) && i >= first && i < first + o->size[2] * l->block;
        if (get(o, y, i) != (is_point || !zeroed))
            fail(test, "zero_halo of a ring", o->name, r, get(o, y, i), is_point || !zeroed);
    }
}

/* A ring that holds a range and its halo: the halo beside its rows, above the first row of all and below
 * the last, is zeroed, and no other line. */
static void check_halo_rings(Test *test, int number) {
    const Argument *o = &test->of->operand[0];
    const Rings *rings = &test->of->side[number].rings;
    const Layout *l = rings->layout;
    for (int k = 0; rings->zero_halo != NULL && k < rings->bands; k++) {
        const Rows rows = rings->need[k][0];
        const int above = rows.begin == 0 ? rings->above : 0;
        const int below = rows.end == rows_in(o) ? rings->below : 0;
        void *y = fresh((size_t)(N * l->sample) * element_bytes(o));
        for (long i = 0; i < N * l->sample; i++)
            put(o, y, i, 1);
        call(test->of, rings->zero_halo, 3, (Split){{rows}, 1}, 0, N, 1, &y);
        for (int i = 0; i < l->ring; i++)
            check_halo_line(test, l, y, rows.begin - above + i, i < above + rows.end - rows.begin + below);
        free(y);
    }
}

static void check_halo(Test *test) {
    const Argument *o = &test->of->operand[0];
    if (!has(test, FAST_HALO))
        return;
    const Split split = random_split(test, &(Ranges){rows_in(o), rows_in(o), 1, 0}, false);
    void *want = without_halo(test, REFERENCE_HALO, whole), *got = without_halo(test, FAST_HALO, whole);
    void *parts = without_halo(test, FAST_HALO, split), *other = without_halo(test, REFERENCE_HALO, split);
    long points = 0, all = (long)N * stored_channels(&o->layout) * rows_in(o) * o->size[2];
    for (long i = 0; i < o->elements; i++)
        points += get(o, want, i) != 0;
    for (int n = 0; n < N; n++)
        for (int c = 0; c < stored_channels(&o->layout); c++)
            for (int r = 0; r < rows_in(o); r++)
                for (int w = 0; w < o->size[2]; w++)
                    if (get(o, want, point(o, n, c, r, w)) == 0)
                        fail(test, "zero_halo, a point", o->name, r, 0, 1);
    if (points != all)
        fail(test, "zero_halo, elements that are no halo", o->name, -1, (double)points, (double)all);
    same_elements(test, "zero_halo", o, got, want, o->elements);
    same_elements(test, "zero_halo by rows", o, parts, got, o->elements);
    same_elements(test, "zero_halo by rows, reference", o, other, want, o->elements);
    check_halo_beside(test, split.part[2]);
    free(want), free(got), free(parts), free(other);
}

/* ---- a case ----------------------------------------------------------------------------------------- */

static void check(Test *test) {
    Buffers want = computed(test, REFERENCE, 2, whole, N), got = computed(test, FAST, 1, whole, N);
    Buffers threads = computed(test, FAST, 3, whole, N);
    check_updated(test, &want);
    complete(test, &want, -1, 0);
    compare(test, &got, &want);
    same(test, "by three threads", &threads, &got);
    if (has(test, FUSED)) {
        Buffers fused = computed(test, FUSED, 2, whole, N);
        same(test, "fused", &fused, &got);
        check_rows(test, FUSED, &fused);
        release(fused);
    }
    check_rows(test, FAST, &got);
    check_rows(test, REFERENCE, &want);
    check_one_sample(test, &got);
    check_adds(test, &got);
    check_in_place(test, has(test, FUSED) ? FUSED : FAST, &got);
    check_nan(test, &got);
    check_state(test, &want);
    check_halo(test);
    for (int side = REFERENCE; side <= FUSED; side++)
        check_rings(test, side);
    check_halo_rings(test, REFERENCE), check_halo_rings(test, FAST);
    release(want), release(got), release(threads);
}

static int run_case(int number) {
    const Case *c = &cases[number];
    Test test = {.of = c, .random = (uint64_t)number};
    if (c->samples != N)
        abort();
    for (int i = 0; i < c->noperand; i++) {
        const Argument *o = &c->operand[i];
        if (o->use == GIVEN || o->use == UPDATED)
            test.given[i] = has_samples(o) ? some_tensor(&test, o) : some_numbers(&test, o);
    }
    check(&test);
    for (int i = 0; i < c->noperand; i++)
        free(test.given[i]);
    return test.failures;
}

/* Asks the system for registers for matrices, if they are used.  Returns whether it gives them. */
static bool asks_for_matrices(void) {
#if defined UNET_STORED_BF16 && defined __AMX_BF16__ && defined __linux__ && !defined UNET_MATRIX_MODEL
    enum { ARCH_REQ_XCOMP_PERM = 0x1023, XFEATURE_XTILEDATA = 18 };
    return syscall(SYS_arch_prctl, ARCH_REQ_XCOMP_PERM, XFEATURE_XTILEDATA) == 0;
#else
    return true;
#endif
}

int main(void) {
    int failures = 0;
    if (!asks_for_matrices()) {
        printf("the system refuses registers for matrices\n");
        return 1;
    }
    for (int i = 0; i < case_count; i++)
        failures += run_case(i);
    printf("%d cases, %d failures\n", case_count, failures);
    return failures > 0;
}
