/* convolution_test.c - runtime/cuda/convolution.c over the reference interpreter of cuDNN: what it computes
 * against plain loops in double; which engine it chooses; engines pinned, pinned wrongly, and chosen by
 * another version; everything that can fail, failing. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../runtime/cuda/convolution.h"

static int failures;

#define CHECK(condition, ...)                                                                              \
    do {                                                                                                   \
        if (!(condition)) {                                                                                \
            fprintf(stderr, "%s:%d: " #condition " - ", __FILE__, __LINE__);                               \
            fprintf(stderr, __VA_ARGS__);                                                                  \
            fprintf(stderr, "\n");                                                                         \
            failures++;                                                                                    \
        }                                                                                                  \
    } while (0)

static const char version_variable[] = "UNET_CUDNN_REFERENCE_VERSION";
enum { CAP = 4096 };

/* ---- numbers ---- */

static size_t bytes_of(UnetType type) {
    return type == UNET_F32 ? 4 : 2;
}

/* All numbers that are stored here are exact in each type. */
static void store(UnetType type, void *array, int64_t i, double x) {
    float f = (float)x;
    uint32_t wide;
    memcpy(&wide, &f, sizeof wide);
    if (type == UNET_F32) {
        ((float *)array)[i] = f;
    } else if (type == UNET_BF16) {
        ((uint16_t *)array)[i] = (uint16_t)(wide >> 16);
    } else { /* the exponent's bias is 15, not 127; 10 bits of mantissa, not 23 */
        uint32_t size = (wide & 0x7fffffff) == 0 ? 0 : ((wide & 0x7fffffff) >> 13) - ((127 - 15) << 10);
        ((uint16_t *)array)[i] = (uint16_t)((wide >> 16 & 0x8000) | size);
    }
}

static double load(UnetType type, const void *array, int64_t i) {
    if (type == UNET_F32) {
        return ((const float *)array)[i];
    }
    uint16_t bits = ((const uint16_t *)array)[i];
    int mantissa_bits = type == UNET_BF16 ? 7 : 10, bias = type == UNET_BF16 ? 127 : 15;
    int mantissa = bits & ((1 << mantissa_bits) - 1), exponent = (bits & 0x7fff) >> mantissa_bits;
    double size = exponent == 0 ? ldexp(mantissa, 1 - bias - mantissa_bits)
                                : ldexp(mantissa + (1 << mantissa_bits), exponent - bias - mantissa_bits);
    return (bits & 0x8000) != 0 ? -size : size;
}

/* Relative error of rounding to TYPE, with some room for sums of floats. */
static double precision(UnetType type) {
    return type == UNET_F32 ? 1e-6 : type == UNET_BF16 ? ldexp(1, -8) : ldexp(1, -11);
}

/* ---- tensors ---- */

static uint32_t random_state = 1;

static uint32_t random_below(uint32_t n) {
    random_state = random_state * 1664525 + 1013904223;
    return (random_state >> 8) % n;
}

/* On the heap and of exactly the right size, so that a sanitizer sees every step beyond. */
typedef struct {
    UnetType type;
    int64_t n;
    void *data;
} Tensor;

static void *allocate(size_t bytes) {
    void *data = NULL;
    if (posix_memalign(&data, 64, bytes > 0 ? bytes : 1) != 0) {
        abort();
    }
    return data;
}

static Tensor tensor(UnetType type, int64_t n) {
    Tensor t = {type, n, allocate((size_t)n * bytes_of(type))};
    for (int64_t i = 0; i < n; i++) {
        store(type, t.data, i, ((double)random_below(65) - 32) / 16);
    }
    return t;
}

static int64_t volume(int64_t n, const int64_t size[3], int64_t channels) {
    return n * size[0] * size[1] * size[2] * channels;
}

static int64_t result_elements(const UnetConvolution *c) {
    return c->kind == UNET_FORWARD         ? volume(c->batch, c->out, c->out_channels)
           : c->kind == UNET_BACKWARD_DATA ? volume(c->batch, c->in, c->in_channels)
                                           : volume(c->out_channels, c->kernel, c->in_channels);
}

typedef struct {
    Tensor x, w, y, bias, result, before; /* before: what the result held */
    void *workspace;
} Operands;

static Operands operands_of(const UnetConvolution *c) {
    Operands o = {.x = tensor(c->type, volume(c->batch, c->in, c->in_channels)),
                  .w = tensor(c->type, volume(c->out_channels, c->kernel, c->in_channels)),
                  .y = tensor(c->type, volume(c->batch, c->out, c->out_channels)),
                  .bias = tensor(c->type, c->out_channels),
                  .result = tensor(c->result_type, result_elements(c))};
    size_t bytes = (size_t)o.result.n * bytes_of(o.result.type);
    o.before = tensor(c->result_type, o.result.n);
    memcpy(o.result.data, o.before.data, bytes);
    o.workspace = allocate((size_t)c->engine.workspace);
    return o;
}

static void operands_free(Operands *o) {
    free(o->x.data);
    free(o->w.data);
    free(o->y.data);
    free(o->bias.data);
    free(o->result.data);
    free(o->before.data);
    free(o->workspace);
}

/* ---- the truth ---- */

static void add_products(const UnetConvolution *c, const Operands *o, const int64_t at[4], double *sum) {
    const int64_t *k = c->kernel;
    for (int64_t tap = 0; tap < k[0] * k[1] * k[2]; tap++) {
        const int64_t part[3] = {tap / (k[1] * k[2]), tap / k[2] % k[1], tap % k[2]};
        int64_t source = at[0], target = at[0];
        bool inside = true;
        for (int i = 0; i < 3; i++) {
            int64_t p = at[1 + i] * c->stride[i] - c->before[i] + part[i] * c->dilation[i];
            inside = inside && p >= 0 && p < c->in[i];
            source = source * c->in[i] + p;
            target = target * c->out[i] + at[1 + i];
        }
        for (int64_t co = 0; inside && co < c->out_channels; co++) {
            for (int64_t ci = 0; ci < c->in_channels; ci++) {
                int64_t ix = source * c->in_channels + ci, iy = target * c->out_channels + co;
                int64_t iw = (co * k[0] * k[1] * k[2] + tap) * c->in_channels + ci;
                double x = load(c->type, o->x.data, ix), w = load(c->type, o->w.data, iw);
                double y = load(c->type, o->y.data, iy);
                if (c->kind == UNET_FORWARD) {
                    sum[iy] += x * w;
                } else if (c->kind == UNET_BACKWARD_DATA) {
                    sum[ix] += y * w;
                } else {
                    sum[iw] += x * y;
                }
            }
        }
    }
}

static double *expected(const UnetConvolution *c, const Operands *o) {
    double *sum = calloc((size_t)o->result.n, sizeof *sum);
    if (sum == NULL) {
        abort();
    }
    int64_t at[4];
    for (at[0] = 0; at[0] < c->batch; at[0]++) {
        for (at[1] = 0; at[1] < c->out[0]; at[1]++) {
            for (at[2] = 0; at[2] < c->out[1]; at[2]++) {
                for (at[3] = 0; at[3] < c->out[2]; at[3]++) {
                    add_products(c, o, at, sum);
                }
            }
        }
    }
    for (int64_t i = 0; i < o->result.n; i++) {
        sum[i] += c->accumulate ? load(c->result_type, o->before.data, i) : 0;
        sum[i] += c->bias ? load(c->type, o->bias.data, i % c->out_channels) : 0;
        sum[i] = c->relu && sum[i] < 0 ? 0 : sum[i];
    }
    return sum;
}

/* ---- running ---- */

typedef struct {
    cudnnBackendDescriptor_t device;
    cudnnHandle_t handle;
    UnetCudnnTarget compiler, program;
} Fixture;

static Fixture fixture(const UnetCudnn *api) {
    Fixture f = {.compiler = {.api = api}, .program = {.api = api}};
    UnetError error;
    if (cudnnCreate(&f.handle) != CUDNN_STATUS_SUCCESS ||
        unet_cudnn_describe_device(&unet_cudnn_linked, "{}", &f.device, &error) != UNET_OK) {
        abort();
    }
    f.compiler.device = f.device;
    f.program.handle = f.handle;
    return f;
}

static void fixture_free(Fixture *f) {
    cudnnBackendDestroyDescriptor(f->device);
    cudnnDestroy(f->handle);
}

static UnetStatus execute(const Fixture *f, const UnetConvolution *c, const UnetCudnnPlan *plan,
                          const Operands *o, UnetError *error) {
    const void *a = c->kind == UNET_BACKWARD_DATA ? o->y.data : o->x.data;
    const void *b = c->kind == UNET_BACKWARD_FILTER ? o->y.data : o->w.data;
    return unet_cudnn_execute(&f->program, c, plan, o->result.data, a, b, c->bias ? o->bias.data : NULL,
                              o->workspace, error);
}

static void compare(const UnetConvolution *c, const Operands *o, const char *what) {
    double *truth = expected(c, o);
    int64_t wrong = 0;
    for (int64_t i = 0; i < o->result.n; i++) {
        double difference = fabs(load(c->result_type, o->result.data, i) - truth[i]);
        wrong += !(difference <= precision(c->result_type) * fabs(truth[i]) + 1e-5);
    }
    CHECK(wrong == 0, "%s: kind %d, type %d to %d, %lld of %lld wrong", what, (int)c->kind, (int)c->type,
          (int)c->result_type, (long long)wrong, (long long)o->result.n);
    free(truth);
}

static bool same_engine(const UnetEngine *a, const UnetEngine *b) {
    bool same = a->version == b->version && a->engine == b->engine && a->workspace == b->workspace &&
                a->nknob == b->nknob;
    for (int32_t i = 0; same && i < a->nknob; i++) {
        same = a->knob[i].type == b->knob[i].type && a->knob[i].value == b->knob[i].value;
    }
    return same;
}

/* Chosen as the compiler does, made ready and run as a program does. */
static void run(UnetConvolution c, const char *what) {
    Fixture f = fixture(&unet_cudnn_linked);
    UnetError error = {.text = ""};
    UnetCudnnPlan plan = {.plan = NULL};
    UnetStatus status = unet_cudnn_choose(&f.compiler, &c, CAP, &error);
    CHECK(status == UNET_OK, "%s: %s", what, error.text);
    if (status == UNET_OK) {
        status = unet_cudnn_plan(&f.program, &c, &plan, &error);
        CHECK(status == UNET_OK && plan.pinned && same_engine(&plan.engine, &c.engine), "%s: %s", what,
              error.text);
    }
    if (status == UNET_OK) {
        Operands o = operands_of(&c);
        status = execute(&f, &c, &plan, &o, &error);
        CHECK(status == UNET_OK, "%s: %s", what, error.text);
        compare(&c, &o, what);
        operands_free(&o);
    }
    unet_cudnn_plan_free(&f.program, &plan);
    fixture_free(&f);
}

/* ---- results ---- */

/* CASE: {batch, in channels, out channels, then size, kernel, stride, dilation, before, after for each
 * axis} */
enum { AXIS = 6 };
typedef struct {
    const char *name;
    int axes;
    int64_t batch, in, out;
    int64_t axis[3][AXIS];
} Case;

static const Case cases[] = {
    {"3x3", 2, 2, 8, 16, {{1, 1, 1, 1, 0, 0}, {5, 3, 1, 1, 1, 1}, {6, 3, 1, 1, 1, 1}}},
    {"1x1", 2, 3, 16, 8, {{1, 1, 1, 1, 0, 0}, {4, 1, 1, 1, 0, 0}, {3, 1, 1, 1, 0, 0}}},
    {"2x2, stride 2", 2, 2, 8, 8, {{1, 1, 1, 1, 0, 0}, {6, 2, 2, 1, 0, 0}, {4, 2, 2, 1, 0, 0}}},
    {"2x2, stride 2, odd size", 2, 1, 8, 8, {{1, 1, 1, 1, 0, 0}, {7, 2, 2, 1, 0, 0}, {5, 2, 2, 1, 0, 0}}},
    {"padding behind only", 2, 2, 4, 8, {{1, 1, 1, 1, 0, 0}, {5, 3, 1, 1, 0, 2}, {4, 2, 1, 1, 0, 1}}},
    {"padding in front only", 2, 2, 8, 4, {{1, 1, 1, 1, 0, 0}, {5, 3, 2, 1, 1, 0}, {6, 4, 1, 1, 3, 0}}},
    {"dilation", 2, 1, 8, 8, {{1, 1, 1, 1, 0, 0}, {7, 3, 1, 2, 2, 2}, {9, 3, 2, 3, 3, 1}}},
    {"1x5", 2, 2, 8, 8, {{1, 1, 1, 1, 0, 0}, {3, 1, 1, 1, 0, 0}, {8, 5, 1, 1, 2, 2}}},
    {"3x3x3", 3, 2, 4, 8, {{3, 3, 1, 1, 1, 1}, {4, 3, 1, 1, 1, 1}, {3, 3, 1, 1, 1, 1}}},
    {"2x2x2, stride 2", 3, 1, 8, 8, {{4, 2, 2, 1, 0, 0}, {2, 2, 2, 1, 0, 0}, {5, 2, 2, 1, 0, 0}}},
    {"1x3x2, all different", 3, 2, 8, 4, {{2, 1, 1, 1, 0, 0}, {6, 3, 2, 1, 1, 0}, {5, 2, 1, 3, 0, 3}}},
};

static UnetConvolution convolution(const Case *from, UnetConvolutionKind kind, UnetType type) {
    UnetConvolution c = {.kind = kind,
                         .type = type,
                         .result_type = type,
                         .axes = from->axes,
                         .batch = from->batch,
                         .in_channels = from->in,
                         .out_channels = from->out};
    for (int k = 0; k < 3; k++) {
        const int64_t *a = from->axis[k];
        c.in[k] = a[0];
        c.kernel[k] = a[1];
        c.stride[k] = a[2];
        c.dilation[k] = a[3];
        c.before[k] = a[4];
        c.after[k] = a[5];
        c.out[k] = (a[0] + a[4] + a[5] - (a[1] - 1) * a[3] - 1) / a[2] + 1;
    }
    return c;
}

static void run_all_forms(const Case *from, UnetType type) {
    for (int kind = UNET_FORWARD; kind <= UNET_BACKWARD_FILTER; kind++) {
        UnetConvolution c = convolution(from, (UnetConvolutionKind)kind, type);
        run(c, from->name);
        c.tf32 = true;
        run(c, from->name);
        c.accumulate = true;
        run(c, from->name);
        c.result_type = UNET_F32;
        if (kind == UNET_BACKWARD_FILTER && type != UNET_F32) {
            run(c, from->name);
            c.accumulate = false;
            run(c, from->name);
        }
    }
    for (int form = 0; form < 6; form++) {
        UnetConvolution c = convolution(from, UNET_FORWARD, type);
        c.bias = form % 3 != 1;
        c.relu = form % 3 != 0;
        c.accumulate = form >= 3;
        run(c, from->name);
    }
}

static void test_numbers(void) {
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        run_all_forms(&cases[i], UNET_F32);
        run_all_forms(&cases[i], UNET_BF16);
        run_all_forms(&cases[i], UNET_F16);
    }
}

/* ---- which engine (the numbers are from cudnn_reference/engines.c) ---- */

static void expect_engine(const Fixture *f, UnetConvolution c, int64_t cap, int64_t engine,
                          int64_t workspace) {
    UnetError error = {.text = ""};
    UnetStatus status = unet_cudnn_choose(&f->compiler, &c, cap, &error);
    CHECK(status == UNET_OK && c.engine.engine == engine && c.engine.workspace == workspace &&
              c.engine.version == CUDNN_VERSION,
          "engine %lld, workspace %lld: %s", (long long)c.engine.engine, (long long)c.engine.workspace,
          error.text);
}

static void test_choice(void) {
    Fixture f = fixture(&unet_cudnn_linked);
    UnetConvolution c = convolution(&cases[0], UNET_FORWARD, UNET_F32);
    expect_engine(&f, c, CAP, 3, 128); /* not on tensor cores, nor by rounded operands; not split */
    expect_engine(&f, c, 127, 3, 96);  /* as the fallback proposes it */
    expect_engine(&f, c, 95, 0, 48);
    expect_engine(&f, c, INT64_MAX, 3, (INT64_C(1) << 40) + 112);
    c.tf32 = true;
    expect_engine(&f, c, CAP, 1, 208);
    expect_engine(&f, c, 207, 1, 144);
    expect_engine(&f, c, 143, 6, 0);
    c.nondeterministic = true;
    expect_engine(&f, c, CAP, 2, 32);
    c.tf32 = false; /* that one is on tensor cores */
    expect_engine(&f, c, CAP, 3, 128);
    c = convolution(&cases[0], UNET_BACKWARD_FILTER, UNET_BF16);
    expect_engine(&f, c, CAP, 1, 208);
    c.result_type = UNET_F32;
    expect_engine(&f, c, CAP, 4, 32); /* compiled when needed: there is nothing else */
    c = convolution(&cases[0], UNET_FORWARD, UNET_F32);
    c.relu = true;
    expect_engine(&f, c, CAP, 7, 64);

    UnetError error = {.text = ""};
    UnetStatus status = unet_cudnn_choose(&f.compiler, &c, 63, &error);
    CHECK(status == UNET_TOO_SMALL && strstr(error.text, "64 bytes") != NULL, "%s", error.text);
    c.relu = false;
    status = unet_cudnn_choose(&f.compiler, &c, 47, &error);
    CHECK(status == UNET_TOO_SMALL && strstr(error.text, "48 bytes") != NULL, "%s", error.text);
    status = unet_cudnn_describe_device(&unet_cudnn_linked, "", &f.compiler.device, &error);
    CHECK(status == UNET_BUG && f.compiler.device == NULL, "%s", error.text);
    fixture_free(&f);
}

/* ---- pins ---- */

/* Makes C ready, runs it, and says what runs. */
static UnetEngine replanned(const Fixture *f, const UnetConvolution *c, bool pinned) {
    UnetError error = {.text = ""};
    UnetCudnnPlan plan;
    UnetStatus status = unet_cudnn_plan(&f->program, c, &plan, &error);
    CHECK(status == UNET_OK && plan.pinned == pinned, "%s", error.text);
    UnetEngine engine = plan.engine;
    CHECK(engine.workspace <= c->engine.workspace, "%lld bytes", (long long)engine.workspace);
    Operands o = operands_of(c);
    if (status == UNET_OK) {
        status = execute(f, c, &plan, &o, &error);
        CHECK(status == UNET_OK, "%s", error.text);
        compare(c, &o, "made ready again");
    }
    operands_free(&o);
    unet_cudnn_plan_free(&f->program, &plan);
    return engine;
}

/* All that may be used, in the order of the lists, whatever its workspace: each of them runs. */
static void test_candidates(void) {
    static const int64_t engine[] = {4, 1, 1, 6, 3, 3, 3, 0, 7};
    Fixture f = fixture(&unet_cudnn_linked);
    UnetCudnnCandidate list[UNET_CUDNN_CANDIDATES];
    UnetConvolution c = convolution(&cases[0], UNET_FORWARD, UNET_BF16);
    UnetError error = {.text = ""};
    int32_t count = 0;
    CHECK(unet_cudnn_candidates(&f.program, &c, list, &count, &error) == UNET_OK, "%s", error.text);
    CHECK(count == sizeof engine / sizeof *engine, "%d engines", (int)count);
    for (int32_t i = 0; i < count; i++)
        CHECK(list[i].engine.engine == engine[i] &&
                  list[i].runtime_compiled == (engine[i] == 4 || engine[i] == 7),
              "engine %lld", (long long)list[i].engine.engine);
    c = convolution(&cases[0], UNET_FORWARD, UNET_F32); /* exact: without tensor cores */
    CHECK(unet_cudnn_candidates(&f.program, &c, list, &count, &error) == UNET_OK && count == 5,
          "%d engines", (int)count);
    c.batch = 0;
    CHECK(unet_cudnn_candidates(&f.program, &c, list, &count, &error) == UNET_BUG && count == 0, "%s",
          error.text);
    fixture_free(&f);
}

static void test_pins(void) {
    Fixture f = fixture(&unet_cudnn_linked);
    UnetConvolution chosen = convolution(&cases[0], UNET_BACKWARD_DATA, UNET_F16), c;
    UnetError error = {.text = ""};
    UnetCudnnPlan plan;
    CHECK(unet_cudnn_choose(&f.compiler, &chosen, CAP, &error) == UNET_OK, "%s", error.text);
    UnetEngine again = replanned(&f, &chosen, true);
    CHECK(same_engine(&again, &chosen.engine), "engine %lld", (long long)again.engine);

    c = chosen; /* nobody asked: any that fits */
    c.engine = (UnetEngine){.workspace = 144};
    again = replanned(&f, &c, false);
    CHECK(again.engine == 1 && again.workspace == 144, "engine %lld", (long long)again.engine);
    c = chosen; /* the slot is smaller than what the pin needs here */
    c.engine.workspace = 150;
    CHECK(replanned(&f, &c, false).workspace == 144, "another engine");
    c = chosen;
    c.engine.engine = 99;
    replanned(&f, &c, false);
    c = chosen;
    c.engine.knob[0].value = 77;
    replanned(&f, &c, false);
    c = chosen;
    c.engine.nknob = UNET_MAX_KNOBS + 1;
    replanned(&f, &c, false);
    c.engine.nknob = -1;
    replanned(&f, &c, false);
    c.engine = (UnetEngine){.workspace = -1};
    CHECK(unet_cudnn_plan(&f.program, &c, &plan, &error) == UNET_TOO_SMALL, "%s", error.text);
    unet_cudnn_plan_free(&f.program, &plan);
    fixture_free(&f);
}

static void test_other_version(void) {
    Fixture f = fixture(&unet_cudnn_linked);
    UnetConvolution c = convolution(&cases[0], UNET_FORWARD, UNET_BF16);
    UnetError error = {.text = ""};
    CHECK(unet_cudnn_choose(&f.compiler, &c, CAP, &error) == UNET_OK, "%s", error.text);
    setenv(version_variable, "91300", 1);
    UnetEngine again = replanned(&f, &c, false);
    CHECK(again.version == 91300 && again.engine == 11, "engine %lld", (long long)again.engine);
    c.nondeterministic = true; /* what was allowed when it was compiled is allowed here */
    c.engine.workspace = CAP;
    again = replanned(&f, &c, false);
    CHECK(again.version == 91300 && again.engine == 12, "engine %lld", (long long)again.engine);
    unsetenv(version_variable);
    fixture_free(&f);
}

/* ---- refusals ---- */

static void refuse(const Fixture *f, UnetConvolution c, const char *what) {
    UnetError error = {.text = ""};
    UnetCudnnPlan plan;
    CHECK(unet_cudnn_choose(&f->compiler, &c, CAP, &error) == UNET_BUG, "%s: %s", what, error.text);
    CHECK(unet_cudnn_plan(&f->program, &c, &plan, &error) == UNET_BUG && plan.ndescriptor == 0, "%s", what);
    unet_cudnn_plan_free(&f->program, &plan);
}

static void test_no_convolution(void) {
    Fixture f = fixture(&unet_cudnn_linked);
    const UnetConvolution good = convolution(&cases[0], UNET_FORWARD, UNET_BF16);
#define REFUSE(change)                                                                                     \
    do {                                                                                                   \
        UnetConvolution c = good;                                                                          \
        c.change;                                                                                          \
        refuse(&f, c, #change);                                                                            \
    } while (0)
    REFUSE(kind = (UnetConvolutionKind)3);
    REFUSE(type = UNET_F64);
    REFUSE(type = UNET_F16); /* the result is of another type */
    REFUSE(result_type = UNET_F32);
    REFUSE(axes = 1);
    REFUSE(axes = 4);
    REFUSE(batch = 0);
    REFUSE(batch = INT64_MAX / 64);
    REFUSE(in_channels = 0);
    REFUSE(in_channels = INT64_MAX);
    REFUSE(out_channels = -1);
    REFUSE(in[1] = 0);
    REFUSE(in[1] = INT64_MAX);
    REFUSE(in[2] += 1);
    REFUSE(out[1] += 1);
    REFUSE(kernel[1] = 0);
    REFUSE(kernel[2] = 100);
    REFUSE(stride[1] = 0);
    REFUSE(dilation[2] = 0);
    REFUSE(before[1] = -1);
    REFUSE(after[2] = -1);
    REFUSE(after[2] = INT64_MAX);
    REFUSE(in[0] = 2); /* two axes have no depth */
    UnetConvolution c = good;
    c.bias = true;
    c.kind = UNET_BACKWARD_DATA;
    refuse(&f, c, "a bias in a gradient");
    fixture_free(&f);
}

static void test_operands(void) {
    Fixture f = fixture(&unet_cudnn_linked);
    UnetConvolution c = convolution(&cases[0], UNET_FORWARD, UNET_F32);
    c.bias = c.relu = true;
    UnetError error = {.text = ""};
    UnetCudnnPlan plan;
    CHECK(unet_cudnn_choose(&f.compiler, &c, CAP, &error) == UNET_OK, "%s", error.text);
    CHECK(unet_cudnn_plan(&f.compiler, &c, &plan, &error) == UNET_BUG, "a plan without a device");
    CHECK(unet_cudnn_plan(&f.program, &c, &plan, &error) == UNET_OK, "%s", error.text);
    Operands o = operands_of(&c);
    char *odd = (char *)o.x.data + 4;
    void *result = o.result.data, *x = o.x.data, *w = o.w.data, *bias = o.bias.data, *space = o.workspace;
    const UnetCudnnTarget *t = &f.program;
    CHECK(unet_cudnn_execute(t, &c, &plan, NULL, x, w, bias, space, &error) == UNET_BUG, "no result");
    CHECK(unet_cudnn_execute(t, &c, &plan, result, NULL, w, bias, space, &error) == UNET_BUG, "no x");
    CHECK(unet_cudnn_execute(t, &c, &plan, result, x, NULL, bias, space, &error) == UNET_BUG, "no w");
    CHECK(unet_cudnn_execute(t, &c, &plan, result, x, w, NULL, space, &error) == UNET_BUG, "no bias");
    CHECK(unet_cudnn_execute(t, &c, &plan, result, x, w, bias, NULL, &error) == UNET_BUG, "no workspace");
    CHECK(unet_cudnn_execute(t, &c, &plan, result, odd, w, bias, space, &error) == UNET_BUG, "x off by 4");
    CHECK(unet_cudnn_execute(t, &c, &plan, result, x, w, bias, odd, &error) == UNET_BUG, "workspace off");
    CHECK(unet_cudnn_execute(t, &c, &plan, result, x, w, bias, space, &error) == UNET_OK, "%s", error.text);
    compare(&c, &o, "after all that");
    unet_cudnn_plan_free(&f.program, &plan);
    CHECK(unet_cudnn_execute(t, &c, &plan, result, x, w, bias, space, &error) == UNET_BUG, "no plan");
    operands_free(&o);
    fixture_free(&f);
}

/* ---- cuDNN fails at any of its calls ---- */

static int calls_left; /* calls to cuDNN before the one that fails */

static cudnnStatus_t fail_or(cudnnStatus_t status) {
    return calls_left-- == 0 ? CUDNN_STATUS_INTERNAL_ERROR : status;
}

static cudnnStatus_t failing_create(cudnnBackendDescriptorType_t type, cudnnBackendDescriptor_t *d) {
    cudnnStatus_t status = fail_or(CUDNN_STATUS_SUCCESS);
    return status == CUDNN_STATUS_SUCCESS ? cudnnBackendCreateDescriptor(type, d) : status;
}

static cudnnStatus_t failing_set(cudnnBackendDescriptor_t d, cudnnBackendAttributeName_t name,
                                 cudnnBackendAttributeType_t type, int64_t count, const void *values) {
    return fail_or(cudnnBackendSetAttribute(d, name, type, count, values));
}

static cudnnStatus_t failing_get(cudnnBackendDescriptor_t d, cudnnBackendAttributeName_t name,
                                 cudnnBackendAttributeType_t type, int64_t capacity, int64_t *count,
                                 void *values) {
    return fail_or(cudnnBackendGetAttribute(d, name, type, capacity, count, values));
}

static cudnnStatus_t failing_finalize(cudnnBackendDescriptor_t d) {
    return fail_or(cudnnBackendFinalize(d));
}

static cudnnStatus_t failing_execute(cudnnHandle_t handle, cudnnBackendDescriptor_t plan,
                                     cudnnBackendDescriptor_t pack) {
    cudnnStatus_t status = fail_or(CUDNN_STATUS_SUCCESS);
    return status == CUDNN_STATUS_SUCCESS ? cudnnBackendExecute(handle, plan, pack) : status;
}

/* Either the failure is told, or another engine was found, and what that computes is right. */
static void survive(UnetConvolution c, int fail_at) {
    UnetCudnn api = unet_cudnn_linked;
    api.create = failing_create;
    api.set = failing_set;
    api.get = failing_get;
    api.finalize = failing_finalize;
    api.execute = failing_execute;
    Fixture f = fixture(&api);
    UnetError error = {.text = ""};
    UnetCudnnPlan plan = {.plan = NULL};
    calls_left = fail_at;
    UnetStatus status = unet_cudnn_choose(&f.compiler, &c, CAP, &error);
    if (status == UNET_OK) {
        status = unet_cudnn_plan(&f.program, &c, &plan, &error);
    }
    if (status == UNET_OK) {
        Operands o = operands_of(&c);
        status = execute(&f, &c, &plan, &o, &error);
        if (status == UNET_OK) {
            compare(&c, &o, "after a failure of cuDNN");
        }
        operands_free(&o);
    }
    CHECK((status == UNET_OK) == (error.text[0] == '\0') || status == UNET_OK, "call %d: nothing said",
          fail_at);
    unet_cudnn_plan_free(&f.program, &plan);
    fixture_free(&f);
}

static void test_failures(void) {
    UnetConvolution forward = convolution(&cases[0], UNET_FORWARD, UNET_F32);
    UnetConvolution filter = convolution(&cases[1], UNET_BACKWARD_FILTER, UNET_F16);
    forward.bias = forward.relu = true;
    filter.result_type = UNET_F32;
    filter.accumulate = true;
    const UnetConvolution each[] = {forward, filter};
    for (int i = 0; i < 2; i++) {
        int n = 0;
        do {
            survive(each[i], n++);
        } while (calls_left < 0);
        CHECK(n > 100, "only %d calls", n);
        printf("survived a failure of each of %d calls\n", n - 1);
    }
}

/* ---- the interpreter itself: it must not be lenient ---- */

static cudnnBackendDescriptor_t fresh(cudnnBackendDescriptorType_t type) {
    cudnnBackendDescriptor_t d;
    cudnnBackendCreateDescriptor(type, &d);
    return d;
}

static void test_strictness(void) {
    const int64_t four[4] = {1, 8, 4, 4}, one = 1;
    const int type = CUDNN_DATA_FLOAT;
    cudnnBackendDescriptor_t tensor_descriptor = fresh(CUDNN_BACKEND_TENSOR_DESCRIPTOR);
    cudnnBackendDescriptor_t operation = fresh(CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR);
    cudnnBackendDescriptor_t device = fresh(CUDNN_BACKEND_DEVICEPROP_DESCRIPTOR);
#define SET(d, name, type, count, values)                                                                  \
    cudnnBackendSetAttribute(d, CUDNN_ATTR_##name, CUDNN_TYPE_##type, count, values)
    CHECK(SET(tensor_descriptor, TENSOR_DIMENSIONS, FLOAT, 4, four), "sizes that are floats");
    CHECK(SET(tensor_descriptor, TENSOR_DIMENSIONS, INT64, 2, four), "two sizes");
    CHECK(SET(tensor_descriptor, TENSOR_DIMENSIONS, INT64, 4, NULL), "no sizes");
    CHECK(SET(tensor_descriptor, ENGINE_GLOBAL_INDEX, INT64, 1, &one), "an engine's attribute");
    CHECK(!SET(tensor_descriptor, TENSOR_DATA_TYPE, DATA_TYPE, 1, &type), "its type");
    CHECK(SET(tensor_descriptor, TENSOR_DATA_TYPE, DATA_TYPE, 1, &type), "its type again");
    CHECK(cudnnBackendFinalize(tensor_descriptor), "a tensor without sizes");
    CHECK(SET(operation, OPERATION_CONVOLUTION_FORWARD_X, BACKEND_DESCRIPTOR, 1, &tensor_descriptor),
          "a part that is not finalised");
    CHECK(!SET(device, DEVICEPROP_JSON_REPRESENTATION, CHAR, 2, "{}"), "a device");
    CHECK(!cudnnBackendFinalize(device), "a device");
    CHECK(SET(device, DEVICEPROP_JSON_REPRESENTATION, CHAR, 2, "{}"), "set when it is finalised");
    CHECK(cudnnBackendFinalize(device), "finalised twice");
    cudnnBackendDescriptor_t both = fresh(CUDNN_BACKEND_DEVICEPROP_DESCRIPTOR);
    CHECK(cudnnBackendFinalize(both), "no device");
    cudnnBackendDestroyDescriptor(both);
    CHECK(SET(operation, OPERATION_CONVOLUTION_FORWARD_X, BACKEND_DESCRIPTOR, 1, &device),
          "a part of the wrong type");
    cudnnBackendDestroyDescriptor(tensor_descriptor);
    cudnnBackendDestroyDescriptor(operation);
    cudnnBackendDestroyDescriptor(device);
}

/* Nobody may rely on what a workspace holds. */
static void test_workspace_is_spoilt(void) {
    Fixture f = fixture(&unet_cudnn_linked);
    UnetConvolution c = convolution(&cases[0], UNET_FORWARD, UNET_F32);
    UnetError error = {.text = ""};
    UnetCudnnPlan plan;
    CHECK(unet_cudnn_choose(&f.compiler, &c, CAP, &error) == UNET_OK, "%s", error.text);
    CHECK(unet_cudnn_plan(&f.program, &c, &plan, &error) == UNET_OK, "%s", error.text);
    Operands o = operands_of(&c);
    memset(o.workspace, 0, (size_t)c.engine.workspace);
    CHECK(execute(&f, &c, &plan, &o, &error) == UNET_OK, "%s", error.text);
    for (int64_t i = 0; i < c.engine.workspace; i++) {
        CHECK(((unsigned char *)o.workspace)[i] == 0xff, "byte %lld", (long long)i);
    }
    operands_free(&o);
    unet_cudnn_plan_free(&f.program, &plan);
    fixture_free(&f);
}

int main(void) {
    unsetenv(version_variable);
    test_numbers();
    test_choice();
    test_candidates();
    test_pins();
    test_other_version();
    test_no_convolution();
    test_operands();
    test_failures();
    test_strictness();
    test_workspace_is_spoilt();
    printf("%d failures\n", failures);
    return failures > 0;
}
