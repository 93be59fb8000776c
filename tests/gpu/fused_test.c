/* fused_test.c - the graphs of fused.c.
 *
 *     fused_test FOLDER   over the stand-in for cuDNN in FOLDER: each form computes what its name says
 *     fused_test          the real cuDNN, without a device: it accepts each graph and lists engines
 *
 * Without a driver, cuDNN lists no engine that it compiles when asked, and only such ones serve most forms:
 * the toolkit's stub of a driver is enough.
 */
#include <dlfcn.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cuda/card.h"
#include "fused.h"

enum { CHANNELS_IN = 8, CHANNELS_OUT = 16, SIZE = 6, BATCH = 2, MOST = 4096 };

static int failures;

static void expect(bool right, const char *what, const char *why) {
    if (!right) {
        fprintf(stderr, "%s: %s\n", what, why);
        failures++;
    }
}

/* ---- the library ---- */

typedef struct {
    UnetCudnn api;
    cudnnStatus_t (*create)(cudnnHandle_t *);
    cudnnStatus_t (*destroy)(cudnnHandle_t);
    size_t (*toolkit)(void);
} Library;

/* A pointer to a function comes out of dlsym as one to data. */
static bool look_up(void *from, const char *name, void *function) {
    void *symbol = from == NULL ? NULL : dlsym(from, name);
    memcpy(function, &symbol, sizeof symbol);
    return symbol != NULL;
}

static bool open_library(const char *path, Library *l) {
    void *from = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    return look_up(from, "cudnnGetVersion", &l->api.version) &&
           look_up(from, "cudnnGetErrorString", &l->api.status_text) &&
           look_up(from, "cudnnGetLastErrorString", &l->api.last_error) &&
           look_up(from, "cudnnBackendCreateDescriptor", &l->api.create) &&
           look_up(from, "cudnnBackendDestroyDescriptor", &l->api.destroy) &&
           look_up(from, "cudnnBackendSetAttribute", &l->api.set) &&
           look_up(from, "cudnnBackendGetAttribute", &l->api.get) &&
           look_up(from, "cudnnBackendFinalize", &l->api.finalize) &&
           look_up(from, "cudnnBackendExecute", &l->api.execute) &&
           look_up(from, "cudnnCreate", &l->create) && look_up(from, "cudnnDestroy", &l->destroy) &&
           look_up(from, "cudnnGetCudartVersion", &l->toolkit);
}

/* ---- convolutions ---- */

static UnetConvolution convolution(UnetConvolutionKind kind, UnetType type, int64_t stride, int64_t batch,
                                   int64_t size, int64_t in, int64_t out) {
    const int64_t kernel = stride == 1 ? 3 : stride, padding = stride == 1;
    return (UnetConvolution){.kind = kind,
                             .type = type,
                             .result_type = type,
                             .axes = 2,
                             .batch = batch,
                             .in_channels = in,
                             .out_channels = out,
                             .in = {1, size, size},
                             .out = {1, size / stride, size / stride},
                             .kernel = {1, kernel, kernel},
                             .stride = {1, stride, stride},
                             .dilation = {1, 1, 1},
                             .before = {0, padding, padding},
                             .after = {0, padding, padding},
                             .relu = kind == UNET_FORWARD};
}

/* The one that FORM is for. */
static UnetConvolution of_form(int form, UnetType type, int64_t batch, int64_t size, int64_t in,
                               int64_t out) {
    for (int kind = UNET_FORWARD; kind <= UNET_BACKWARD_FILTER; kind++)
        for (int64_t stride = 1; stride <= 2; stride++) {
            const UnetConvolution c =
                convolution((UnetConvolutionKind)kind, type, stride, batch, size, in, out);
            if (fused_applies(form, &c))
                return c;
        }
    return (UnetConvolution){.batch = 0};
}

/* ---- results ---- */

typedef struct {
    _Alignas(16) unsigned char bytes[4 * MOST];
} Memory;

static float read(const Memory *m, UnetType type, int64_t i) {
    uint32_t bits = 0;
    if (type == UNET_F32) {
        memcpy(&bits, m->bytes + 4 * i, 4);
    } else {
        uint16_t half;
        memcpy(&half, m->bytes + 2 * i, 2);
        bits = (uint32_t)half << 16;
    }
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* Sixteenths between -2 and 2, which any type has. */
static void fill(Memory *m, UnetType type) {
    static uint32_t state = 1;
    for (int64_t i = 0; i < MOST; i++) {
        state = state * 1664525u + 1013904223u;
        const float x = (float)((int)(state >> 16 & 63) - 32) / 16;
        uint32_t bits;
        memcpy(&bits, &x, sizeof bits);
        const uint16_t half = (uint16_t)(bits >> 16);
        if (type == UNET_F32)
            memcpy(m->bytes + 4 * i, &bits, 4);
        else
            memcpy(m->bytes + 2 * i, &half, 2);
    }
}

enum { RESULT, A, B, MASK, TOTALS, BIAS, SUM, BARE, MEMORIES };

static int memory_of(int64_t uid) {
    return uid == UID_MASK     ? MASK
           : uid == UID_TOTALS ? TOTALS
           : uid == UID_BIAS   ? BIAS
           : uid == UID_SUM    ? SUM
                               : (int)(uid - UID_RESULT);
}

/* The bare convolution. */
static UnetStatus compute_bare(const UnetCudnnTarget *target, UnetConvolution c, Memory m[MEMORIES],
                               Memory *workspace, UnetError *error) {
    UnetCudnnPlan plan;
    c.relu = false;
    c.engine.workspace = sizeof workspace->bytes;
    UnetStatus status = unet_cudnn_plan(target, &c, &plan, error);
    if (status == UNET_OK)
        status = unet_cudnn_execute(target, &c, &plan, &m[BARE], &m[A], &m[B], NULL, workspace, error);
    unet_cudnn_plan_free(target, &plan);
    return status;
}

/* The plan of the first engine that does with the WORKSPACE, or NULL. */
static cudnnBackendDescriptor_t first_plan(Build *b, cudnnBackendDescriptor_t graph,
                                           const UnetConvolution *c, const Memory *workspace) {
    UnetCudnnCandidate list[UNET_CUDNN_CANDIDATES];
    const int32_t count = build_candidates(b, graph, c, list);
    for (int32_t i = 0; i < count; i++) {
        cudnnBackendDescriptor_t plan = build_plan(b, graph, c, &list[i].engine);
        if (plan != NULL && list[i].engine.workspace <= (int64_t)sizeof workspace->bytes)
            return plan;
    }
    return NULL;
}

static UnetStatus compute_fused(const UnetCudnnTarget *target, int form, const UnetConvolution *c,
                                Memory m[MEMORIES], Memory *workspace, UnetError *error) {
    Build b = build_start(target, error);
    const FusedGraph graph = fused_graph(&b, form, c);
    Bindings bound = {.count = graph.count};
    for (int64_t i = 0; i < graph.count; i++) {
        bound.uid[i] = graph.uid[i];
        bound.pointer[i] = &m[memory_of(graph.uid[i])];
        expect(graph.bytes[i] <= (int64_t)sizeof m->bytes, fused_name(form), "too small a test");
    }
    UnetStatus status = b.status;
    if (status == UNET_OK)
        status = build_launch(target, first_plan(&b, graph.graph, c, workspace), &bound, workspace, error);
    build_release(&b, 0);
    return status;
}

/* The right number I of the result, after its name. */
static double wanted(int form, const UnetConvolution *c, const Memory m[MEMORIES], int64_t i) {
    const char *name = fused_name(form);
    const int64_t channels = c->kind == UNET_FORWARD ? c->out_channels : c->in_channels;
    double x = (double)read(&m[BARE], c->type, i);
    if (strstr(name, "added") != NULL)
        x += (double)read(&m[SUM], c->type, i);
    if (strstr(name, "biased") != NULL || strstr(name, "slice") != NULL)
        x += (double)read(&m[BIAS], c->type, i % channels);
    if (strstr(name, "masked") != NULL && read(&m[MASK], c->type, i) <= 0)
        x = 0;
    return strstr(name, "slice") != NULL && x < 0 ? 0 : x;
}

static void compare(int form, const UnetConvolution *c, const Memory m[MEMORIES], int64_t count) {
    const bool slice = strstr(fused_name(form), "slice") != NULL,
               wide = strstr(fused_name(form), "f32") != NULL;
    const int64_t channels = c->kind == UNET_FORWARD ? c->out_channels : c->in_channels;
    const double unit = c->type == UNET_F32 ? 0x1p-20 : 0x1p-7;
    double sum[CHANNELS_OUT] = {0};
    for (int64_t i = 0; i < count; i++) {
        const int64_t at = slice ? i / channels * 2 * channels + i % channels : i;
        const double x = (double)read(&m[RESULT], wide ? UNET_F32 : c->type, at),
                     want = wanted(form, c, m, i);
        expect(fabs(x - want) <= unit * (fabs(want) + 8), fused_name(form), "another number");
        sum[i % channels] += x;
    }
    for (int64_t k = 0; k < channels && strstr(fused_name(form), "summed") != NULL; k++)
        expect(fabs(sum[k] - (double)read(&m[TOTALS], UNET_F32, k)) <= 1e-2, fused_name(form),
               "another sum");
}

static void test_form(const UnetCudnnTarget *target, int form, UnetType type) {
    const UnetConvolution c = of_form(form, type, BATCH, SIZE, CHANNELS_IN, CHANNELS_OUT);
    static Memory m[MEMORIES], workspace;
    UnetError error = {.text = ""};
    Extent extent[3];
    if (c.batch == 0)
        return;
    for (int i = 0; i < MEMORIES; i++)
        fill(&m[i], type);
    UnetStatus status = compute_bare(target, c, m, &workspace, &error);
    if (status == UNET_OK)
        status = compute_fused(target, form, &c, m, &workspace, &error);
    const bool none = type != UNET_F32 && strstr(fused_name(form), "summed") != NULL; /* of the stand-in */
    expect((status == UNET_OK) == !none, fused_name(form), error.text);
    build_extents(&c, extent);
    if (status == UNET_OK)
        compare(form, &c, m, extent[0].size[0] * extent[0].stride[0]);
}

static int test_stand_in(const Library *library) {
    cudnnHandle_t handle;
    if (library->create(&handle) != CUDNN_STATUS_SUCCESS)
        return 1;
    const UnetCudnnTarget target = {.api = &library->api, .handle = handle};
    for (int form = 0; form < FUSED_FORMS; form++) {
        test_form(&target, form, UNET_BF16);
        test_form(&target, form, UNET_F32);
    }
    (void)library->destroy(handle);
    return failures > 0;
}

/* ---- what the real one says ---- */

static void ask(const UnetCudnnTarget *target, int form, const UnetConvolution *c, bool driver) {
    UnetCudnnCandidate list[UNET_CUDNN_CANDIDATES];
    UnetError error = {.text = ""};
    Build b = build_start(target, &error);
    const FusedGraph graph = fused_graph(&b, form, c);
    const int32_t count = graph.graph == NULL ? 0 : build_candidates(&b, graph.graph, c, list);
    int32_t compiled = 0;
    for (int32_t i = 0; i < count; i++)
        compiled += !list[i].runtime_compiled;
    printf("  %-20s %3d x %3d, %3d to %3d: %2d engines are compiled, %2d when asked\n", fused_name(form),
           (int)c->in[1], (int)c->in[2], (int)c->in_channels, (int)c->out_channels, (int)compiled,
           (int)(count - compiled));
    expect(graph.graph != NULL, fused_name(form), error.text);
    expect(count > 0 || !driver, fused_name(form), "no engine");
    build_release(&b, 0);
}

static int ask_real(const Library *library, bool driver) {
    Pool *pool = pool_new();
    UnetError error = {.text = ""};
    UnetCudnnTarget target = {.api = &library->api};
    const char *json = cuda_card_json(pool, "sm_90", library->toolkit());
    const UnetStatus status = unet_cudnn_describe_device(&library->api, json, &target.device, &error);
    expect(status == UNET_OK, "sm_90", error.text);
    printf("cuDNN %zu, bf16, sm_90%s\n", library->api.version(), driver ? "" : ", no driver");
    for (int form = 0; form < FUSED_FORMS && status == UNET_OK; form++) {
        const UnetConvolution large = of_form(form, UNET_BF16, 4, 512, 64, 64),
                              small = of_form(form, UNET_BF16, 6, 256, 16, 32);
        ask(&target, form, &large, driver);
        ask(&target, form, &small, driver);
    }
    if (target.device != NULL)
        (void)library->api.destroy(target.device);
    pool_free(pool);
    return failures > 0;
}

static bool open_driver(void) {
    return dlopen("libcuda.so.1", RTLD_NOW | RTLD_GLOBAL) != NULL ||
           dlopen("/usr/local/cuda/lib64/stubs/libcuda.so", RTLD_NOW | RTLD_GLOBAL) != NULL;
}

int main(int argc, char **argv) {
    Library library;
    char path[4096];
    if (argc == 2) {
        snprintf(path, sizeof path, "%s/libcudnn.so.9", argv[1]);
        return open_library(path, &library) ? test_stand_in(&library) : 1;
    }
    const bool driver = open_driver();
    if (!open_library("libcudnn.so.9", &library) &&
        !open_library("/usr/local/cuda/lib64/libcudnn.so.9", &library)) {
        printf("SKIPPED: no cuDNN here\n");
        return 77;
    }
    return ask_real(&library, driver);
}
