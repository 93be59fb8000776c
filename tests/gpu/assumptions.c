/* assumptions.c - what the runtime takes for granted of cuDNN's engines, checked with each engine that a
 * model runs:
 *
 *   PROGRAM assumptions
 *
 * writes a line of JSON for each convolution that differs, with these members:
 *
 *   "repeats"   the same operands give the same bits, whatever lies in the workspace before
 *   "in graph"  and the same bits when the launch is captured as a graph and the graph is launched
 *   "in place"  y + conv(x, w): the sum may be read from the result's own memory (null: it adds nothing, or
 *               by its own factor beta, which cuDNN documents)
 *   "keeps nan" one NaN among the operands is seen in the result, ReLU or not
 *
 * Operands are random numbers in bf16, f16 or f32.
 */
#include "harness.h"

#include "convolution_graph.h"
#include "timer.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SLOT = 256, RESULTS = 2 };

typedef struct {
    UnetCudnnTarget target;
    UnetCudaTimer timer; /* the first operands, filled with random numbers; behind them copies of results */
    int64_t operands;    /* bytes of the greediest convolution */
    char *copy[RESULTS]; /* of results, on the host */
} Check;

static void expect_cuda(cudaError_t code) {
    if (code != cudaSuccess)
        fail(cudaGetErrorString(code));
}

static int64_t rounded(int64_t bytes) {
    return (bytes + SLOT - 1) / SLOT * SLOT;
}

static int64_t bytes_of(const Extent *e, UnetType type) {
    int64_t elements = 1;
    for (int32_t i = 0; i < e->axes; i++)
        elements *= e->size[i];
    return elements * (type == UNET_F32 ? 4 : 2);
}

/* ---- one launch ---- */

/* The places of the operands; SUM is the result's memory, or other memory with the same numbers. */
typedef struct {
    char *result, *a, *b, *bias, *sum, *workspace;
    int64_t result_bytes;
} Operands;

static Operands place(const Check *k, const UnetConvolution *c) {
    Extent extent[3];
    build_extents(c, extent);
    const int64_t result = bytes_of(&extent[0], c->result_type);
    char *at = k->timer.memory;
    Operands o = {.result = at, .result_bytes = result, .sum = at};
    o.a = at += rounded(result);
    o.b = at += rounded(bytes_of(&extent[1], c->type));
    o.bias = at += rounded(bytes_of(&extent[2], c->type));
    o.workspace = at + rounded(4 * c->out_channels);
    return o;
}

/* The result begins as random numbers, for some convolutions add to it, and so does the workspace: as other
 * bytes for another SEED. */
static void prepare(const Check *k, const Operands *o, int64_t workspace, int seed) {
    expect_cuda(cudaMemcpyAsync(o->result, o->a, (size_t)o->result_bytes, cudaMemcpyDeviceToDevice,
                                k->timer.stream));
    if (workspace > 0)
        expect_cuda(cudaMemsetAsync(o->workspace, seed, (size_t)workspace, k->timer.stream));
}

static void execute(const Check *k, const UnetConvolution *c, const UnetCudnnPlan *plan,
                    const Operands *o) {
    UnetError error;
    Bindings bound = {.count = 3, .uid = {UID_RESULT, UID_A, UID_B}, .pointer = {o->result, o->a, o->b}};
    if (c->bias) {
        bound.uid[bound.count] = UID_BIAS;
        bound.pointer[bound.count++] = o->bias;
    }
    if (convolution_has_sum(c)) {
        bound.uid[bound.count] = UID_SUM;
        bound.pointer[bound.count++] = o->sum;
    }
    if (build_launch(&k->target, plan->plan, &bound, o->workspace, &error) != UNET_OK)
        fail(error.text);
}

static void fetch(const Check *k, const Operands *o, int copy) {
    expect_cuda(cudaMemcpyAsync(k->copy[copy], o->result, (size_t)o->result_bytes, cudaMemcpyDeviceToHost,
                                k->timer.stream));
    expect_cuda(cudaStreamSynchronize(k->timer.stream));
}

static bool same(const Check *k, const Operands *o) {
    return memcmp(k->copy[0], k->copy[1], (size_t)o->result_bytes) == 0;
}

/* ---- the assumptions; each leaves the operands as they were, and the first its result in COPY[0] ---- */

static bool repeats(const Check *k, const UnetConvolution *c, const UnetCudnnPlan *plan, Operands o) {
    for (int i = 0; i < RESULTS; i++) {
        prepare(k, &o, plan->engine.workspace, i == 0 ? 0 : 0xff);
        execute(k, c, plan, &o);
        fetch(k, &o, i);
    }
    return same(k, &o);
}

static bool in_graph(const Check *k, const UnetConvolution *c, const UnetCudnnPlan *plan, Operands o) {
    cudaGraph_t graph;
    cudaGraphExec_t executable;
    expect_cuda(cudaStreamBeginCapture(k->timer.stream, cudaStreamCaptureModeThreadLocal));
    execute(k, c, plan, &o);
    expect_cuda(cudaStreamEndCapture(k->timer.stream, &graph));
    expect_cuda(cudaGraphInstantiate(&executable, graph, 0));
    prepare(k, &o, plan->engine.workspace, 0x55);
    expect_cuda(cudaGraphLaunch(executable, k->timer.stream));
    fetch(k, &o, 1);
    expect_cuda(cudaGraphExecDestroy(executable));
    expect_cuda(cudaGraphDestroy(graph));
    return same(k, &o);
}

/* The sum is read from other memory: operand a, which has the same numbers as the result had. */
static bool in_place(const Check *k, const UnetConvolution *c, const UnetCudnnPlan *plan, Operands o) {
    char *apart = o.workspace + rounded(plan->engine.workspace);
    prepare(k, &o, plan->engine.workspace, 0);
    expect_cuda(cudaMemcpyAsync(apart, o.result, (size_t)o.result_bytes, cudaMemcpyDeviceToDevice,
                                k->timer.stream));
    o.sum = apart;
    execute(k, c, plan, &o);
    fetch(k, &o, 1);
    return same(k, &o);
}

static bool is_nan(UnetType type, const char *element) {
    float f;
    uint16_t h;
    if (type == UNET_F32)
        return memcpy(&f, element, sizeof f), isnan(f);
    memcpy(&h, element, sizeof h);
    return type == UNET_BF16 ? (h & 0x7fff) > 0x7f80 : (h & 0x7fff) > 0x7c00;
}

/* The first element of operand a becomes NaN for a while. */
static bool keeps_nan(const Check *k, const UnetConvolution *c, const UnetCudnnPlan *plan, Operands o) {
    const size_t size = c->type == UNET_F32 ? 4 : 2, result = c->result_type == UNET_F32 ? 4 : 2;
    char kept[4];
    bool found = false;
    prepare(k, &o, plan->engine.workspace, 0);
    expect_cuda(cudaMemcpyAsync(kept, o.a, size, cudaMemcpyDeviceToHost, k->timer.stream));
    expect_cuda(cudaMemsetAsync(o.a, 0xff, size, k->timer.stream));
    execute(k, c, plan, &o);
    expect_cuda(cudaMemcpyAsync(o.a, kept, size, cudaMemcpyHostToDevice, k->timer.stream));
    fetch(k, &o, 1);
    for (int64_t at = 0; at < o.result_bytes && !found; at += (int64_t)result)
        found = is_nan(c->result_type, k->copy[1] + at);
    return found;
}

static const char *word(bool is) {
    return is ? "true" : "false";
}

static void check(const Check *k, const UnetConvolution *c, int32_t number) {
    UnetCudnnPlan plan;
    UnetError error;
    if (unet_cudnn_plan(&k->target, c, &plan, &error) != UNET_OK)
        fail(error.text);
    const Operands o = place(k, c);
    const bool repeated = repeats(k, c, &plan, o);
    printf("{\"convolution\": %" PRId32 ", \"kind\": %d, \"relu\": %s, \"engine\": %" PRId64
           ", \"wanted\": %" PRId64 ", \"planned\": %" PRId64 ", \"repeats\": %s, \"in graph\": %s",
           number, (int)c->kind, word(c->relu), plan.engine.engine, plan.wanted, c->engine.workspace,
           word(repeated), word(in_graph(k, c, &plan, o)));
    printf(", \"in place\": %s", convolution_has_sum(c) ? word(in_place(k, c, &plan, o)) : "null");
    printf(", \"keeps nan\": %s}\n", word(keeps_nan(k, c, &plan, o)));
    (void)fflush(stdout);
    unet_cudnn_plan_free(&k->target, &plan);
}

/* ---- all ---- */

static bool is_first(const UnetCudaModel *tables, int32_t i) {
    for (int32_t n = 0; n < i; n++)
        if (unet_same_convolution(&tables->convolution[n], &tables->convolution[i]))
            return false;
    return true;
}

static void take_memory(Check *k, const UnetCudaModel *tables) {
    UnetError error;
    int64_t workspace = 0;
    for (int32_t i = 0; i < tables->nconvolution; i++) {
        const UnetConvolution *c = &tables->convolution[i];
        const int64_t bytes = unet_cuda_operand_bytes(c) + 4 * c->out_channels + 4 * SLOT;
        k->operands = bytes > k->operands ? bytes : k->operands;
        workspace = c->engine.workspace > workspace ? c->engine.workspace : workspace;
    }
    k->timer.bytes = 2 * k->operands + workspace;
    expect_cuda(cudaMalloc((void **)&k->timer.memory, (size_t)k->timer.bytes));
    if (unet_cuda_timer_open(&k->timer, tables->convolution[0].type, &error) != UNET_OK)
        fail(error.text);
    for (int i = 0; i < RESULTS; i++) {
        k->copy[i] = malloc((size_t)k->operands);
        if (k->copy[i] == NULL)
            fail("out of memory");
    }
}

int assumptions(const UnetCudaModel *tables) {
    Check k = {.timer = {.repeats = 1}};
    cudnnHandle_t handle;
    if (tables->nconvolution == 0)
        fail("this model has no convolution");
    expect_cuda(cudaStreamCreateWithFlags(&k.timer.stream, cudaStreamNonBlocking));
    if (cudnnCreate(&handle) != CUDNN_STATUS_SUCCESS ||
        cudnnSetStream(handle, k.timer.stream) != CUDNN_STATUS_SUCCESS)
        fail("cuDNN does not start");
    k.target = (UnetCudnnTarget){.api = &unet_cudnn_linked, .handle = handle};
    k.timer.target = &k.target;
    take_memory(&k, tables);
    for (int32_t i = 0; i < tables->nconvolution; i++)
        if (is_first(tables, i))
            check(&k, &tables->convolution[i], i);
    unet_cuda_timer_close(&k.timer);
    (void)cudaFree(k.timer.memory);
    (void)cudnnDestroy(handle);
    (void)cudaStreamDestroy(k.timer.stream);
    for (int i = 0; i < RESULTS; i++)
        free(k.copy[i]);
    return 0;
}
