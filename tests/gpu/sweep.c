/* sweep.c - how long each convolution of a model takes by each engine that cuDNN has for it, on the device:
 *
 *   PROGRAM sweep SECONDS REPEATS
 *
 * writes one line of JSON a result, as it goes.  First the engines that are compiled already, the first
 * eight of each convolution; then each convolution in one graph with what may follow it (fused.h), the one
 * of most bytes first, by the first two engines for that; then the first two of each convolution that cuDNN
 * compiles when asked.  Nothing new is begun after half, four fifths and all of SECONDS.  A time is the
 * median of five rounds of at most REPEATS launches on the same operands, as `tune` takes it.  Convolutions
 * that differ in nothing but their engine are measured once.
 */
#include "harness.h"

#include "fused.h"
#include "timer.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { FIRST = 8, FIRST_COMPILED = 2, FIRST_FUSED = 2, SLOT = 256 };
static const int64_t most_workspace = INT64_C(512) << 20;

typedef struct {
    UnetCudnnTarget target;
    UnetCudaTimer timer;
    int64_t workspace;
} Sweep;

static double seconds_now(void) {
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void expect_cuda(cudaError_t code) {
    if (code != cudaSuccess)
        fail(cudaGetErrorString(code));
}

/* ---- convolutions ---- */

/* The engines that are measured, with their numbers. */
typedef struct {
    const UnetConvolution *c;
    int32_t number;
} Item;

static bool is_first(const UnetCudaModel *tables, int32_t i) {
    for (int32_t k = 0; k < i; k++)
        if (unet_same_convolution(&tables->convolution[k], &tables->convolution[i]))
            return false;
    return true;
}

static int of_most_bytes_first(const void *a, const void *b) {
    const int64_t x = unet_cuda_operand_bytes(((const Item *)a)->c),
                  y = unet_cuda_operand_bytes(((const Item *)b)->c);
    return (x < y) - (x > y);
}

static bool tiles(const UnetConvolution *c) {
    bool tiles = c->kind == UNET_FORWARD && (c->stride[1] > 1 || c->stride[2] > 1);
    for (int k = 0; k < 3; k++)
        tiles = tiles && c->kernel[k] == c->stride[k] && c->before[k] == 0;
    return tiles;
}

/* A convolution whose windows tile its operand is the gradient of a transposed one, mostly, which a kernel
 * of ours may compute: by cuDNN it is this. */
static UnetConvolution transposed(const UnetConvolution *c) {
    UnetConvolution t = *c;
    t.kind = UNET_BACKWARD_DATA;
    t.accumulate = t.bias = t.relu = false;
    t.engine = (UnetEngine){.version = 0};
    return t;
}

/* All convolutions that differ, with their numbers, and behind them transposed ones, which are stored in
 * MORE; both have room.  Returns how many. */
static int32_t list_items(const UnetCudaModel *tables, Item *item, UnetConvolution *more) {
    int32_t count = 0, first;
    for (int32_t i = 0; i < tables->nconvolution; i++)
        if (is_first(tables, i))
            item[count++] = (Item){&tables->convolution[i], i};
    first = count;
    for (int32_t i = 0; i < first; i++)
        if (tiles(item[i].c)) {
            more[i] = transposed(item[i].c);
            item[count++] = (Item){&more[i], item[i].number};
        }
    return count;
}

/* ---- memory ---- */

static void take_memory(Sweep *s, const UnetCudaModel *tables) {
    int64_t operands = 0;
    size_t available, all;
    UnetError error;
    for (int32_t i = 0; i < tables->nconvolution; i++) {
        const int64_t bytes = unet_cuda_operand_bytes(&tables->convolution[i]);
        operands = bytes > operands ? bytes : operands;
    }
    expect_cuda(cudaMemGetInfo(&available, &all));
    s->workspace = (int64_t)(available / 4) < most_workspace ? (int64_t)(available / 4) : most_workspace;
    s->timer.bytes = 2 * operands + s->workspace; /* a fused form has at most twice the operands */
    expect_cuda(cudaMalloc((void **)&s->timer.memory, (size_t)s->timer.bytes));
    if (unet_cuda_timer_open(&s->timer, tables->convolution[0].type, &error) != UNET_OK)
        fail(error.text);
}

/* ---- one engine ---- */

static const char *form_name(const UnetConvolution *c) {
    static const char *const names[] = {
        [UNET_FORWARD] = "y", [UNET_BACKWARD_DATA] = "dx", [UNET_BACKWARD_FILTER] = "dw"};
    return names[c->kind];
}

static void print_engine(const UnetEngine *engine) {
    printf("\"engine\": %" PRId64 ", \"knobs\": [", engine->engine);
    for (int32_t i = 0; i < engine->nknob; i++)
        printf("%s[%" PRId64 ", %" PRId64 "]", i > 0 ? ", " : "", engine->knob[i].type,
               engine->knob[i].value);
    printf("], \"workspace\": %" PRId64, engine->workspace);
}

/* Up to the engine. */
static void print_start(const UnetConvolution *c, int32_t number, const char *form) {
    printf("{\"convolution\": %" PRId32 ", \"form\": \"%s\", \"sizes\": \"%" PRId64 " x %" PRId64
           " x %" PRId64 ", %" PRId64 " to %" PRId64 ", window %" PRId64 " x %" PRId64 "\", ",
           number, form, c->batch, c->in[1], c->in[2], c->in_channels, c->out_channels, c->kernel[1],
           c->kernel[2]);
}

/* SECONDS below 0: cuDNN does not accept what it listed, or it wants too much workspace. */
static void print_end(const UnetEngine *engine, bool runtime_compiled, bool is_planned, double planning,
                      double seconds) {
    print_engine(engine);
    printf(", \"runtime compiled\": %s, \"planned\": %s, \"planning\": %.4f, \"seconds\": ",
           runtime_compiled ? "true" : "false", is_planned ? "true" : "false", planning);
    if (seconds < 0)
        printf("null}\n");
    else
        printf("%.9f}\n", seconds);
    (void)fflush(stdout);
}

static void measure(const Sweep *s, const UnetConvolution *of, int32_t number,
                    const UnetCudnnCandidate *candidate, bool is_planned) {
    UnetConvolution c = *of;
    UnetCudnnPlan plan;
    UnetError error;
    double seconds = -1;
    c.engine = candidate->engine;
    c.engine.workspace = s->workspace;
    const double begin = seconds_now();
    const bool accepted = unet_cudnn_plan_pinned(&s->target, &c, &plan);
    const double planning = seconds_now() - begin;
    if (accepted && unet_cuda_timer_run(&s->timer, &c, &plan, &seconds, &error) != UNET_OK)
        fprintf(stderr, "convolution %" PRId32 ", engine %" PRId64 ": %s\n", number, c.engine.engine,
                error.text);
    print_start(&c, number, form_name(&c));
    print_end(accepted ? &plan.engine : &candidate->engine, candidate->runtime_compiled, is_planned,
              planning, seconds);
    unet_cudnn_plan_free(&s->target, &plan);
}

/* ---- one engine of a fused form ---- */

typedef struct {
    cudnnBackendDescriptor_t plan;
    const FusedGraph *graph;
} Launch;

/* Puts operands and workspace into MEMORY; returns where the workspace begins. */
static int64_t place(const FusedGraph *graph, char *memory, Bindings *bound) {
    int64_t at = 0;
    bound->count = graph->count;
    for (int64_t i = 0; i < graph->count; i++) {
        bound->uid[i] = graph->uid[i];
        bound->pointer[i] = memory + at;
        at += (graph->bytes[i] + SLOT - 1) / SLOT * SLOT;
    }
    return at;
}

static UnetStatus launch(const UnetCudaTimer *timer, const void *of, char *memory, UnetError *error) {
    const Launch *l = of;
    Bindings bound;
    char *workspace = memory + place(l->graph, memory, &bound);
    return build_launch(timer->target, l->plan, &bound, workspace, error);
}

/* No engine computes it, or the engine that should fails: WHY is cuDNN's, or empty. */
static void print_none(const Item *item, int form, const char *why) {
    print_start(item->c, item->number, fused_name(form));
    printf("\"engine\": null, \"why\": \"");
    for (; *why != '\0'; why++)
        putchar(*why < ' ' || *why == '"' || *why == '\\' ? ' ' : *why);
    printf("\", \"runtime compiled\": false, \"planned\": false, \"seconds\": null}\n");
    (void)fflush(stdout);
}

static void measure_fused(const Sweep *s, Build *b, const FusedGraph *graph, const Item *item, int form,
                          const UnetCudnnCandidate *candidate) {
    const int32_t mark = b->count;
    UnetEngine engine = candidate->engine;
    UnetError error;
    Launch l = {.graph = graph};
    Bindings unused;
    double seconds = -1;
    const int64_t operands = place(graph, s->timer.memory, &unused);
    const double begin = seconds_now();
    l.plan = build_plan(b, graph->graph, item->c, &engine);
    const double planning = seconds_now() - begin;
    if (l.plan != NULL && operands + engine.workspace <= s->timer.bytes &&
        unet_cuda_timer_launches(&s->timer, launch, &l, operands + engine.workspace, &seconds, &error) !=
            UNET_OK) {
        print_none(item, form, error.text);
    } else {
        print_start(item->c, item->number, fused_name(form));
        print_end(&engine, candidate->runtime_compiled, false, planning, seconds);
    }
    build_release(b, mark);
}

static void sweep_fused(const Sweep *s, const Item *item, int form, double last) {
    UnetCudnnCandidate list[UNET_CUDNN_CANDIDATES];
    UnetError error = {.text = ""};
    Build b = build_start(&s->target, &error);
    const FusedGraph graph = fused_graph(&b, form, item->c);
    const int32_t count = graph.graph == NULL ? 0 : build_candidates(&b, graph.graph, item->c, list);
    if (count == 0)
        print_none(item, form, error.text);
    for (int32_t i = 0; i < count && i < FIRST_FUSED && (i == 0 || seconds_now() < last); i++)
        measure_fused(s, &b, &graph, item, form, &list[i]);
    build_release(&b, 0);
}

/* ---- all ---- */

/* The engine that the program runs comes first, whatever cuDNN lists. */
static void sweep_one(const Sweep *s, const Item *item, bool runtime_compiled, double last) {
    const UnetConvolution *c = item->c;
    UnetCudnnCandidate list[UNET_CUDNN_CANDIDATES];
    UnetError error;
    int32_t count, taken = 0;
    if (unet_cudnn_candidates(&s->target, c, list, &count, &error) != UNET_OK)
        fail(error.text);
    const bool has_pin = c->engine.version == (int64_t)s->target.api->version();
    if (has_pin && !runtime_compiled)
        measure(s, c, item->number, &(UnetCudnnCandidate){.engine = c->engine}, true);
    for (int32_t i = 0; i < count && taken < (runtime_compiled ? FIRST_COMPILED : FIRST); i++) {
        bool is_new = list[i].runtime_compiled == runtime_compiled &&
                      !(has_pin && unet_same_engine(&list[i].engine, &c->engine));
        for (int32_t k = 0; k < i && is_new; k++)
            is_new = !unet_same_engine(&list[k].engine, &list[i].engine);
        if (!is_new || seconds_now() > last)
            continue;
        measure(s, c, item->number, &list[i], false);
        taken++;
    }
}

static void open_device(Sweep *s) {
    cudnnHandle_t handle;
    expect_cuda(cudaStreamCreateWithFlags(&s->timer.stream, cudaStreamNonBlocking));
    if (cudnnCreate(&handle) != CUDNN_STATUS_SUCCESS ||
        cudnnSetStream(handle, s->timer.stream) != CUDNN_STATUS_SUCCESS)
        fail("cuDNN does not start");
    s->target = (UnetCudnnTarget){.api = &unet_cudnn_linked, .handle = handle};
    s->timer.target = &s->target;
}

static void close_device(Sweep *s) {
    unet_cuda_timer_close(&s->timer);
    (void)cudaFree(s->timer.memory);
    (void)cudnnDestroy(s->target.handle);
    (void)cudaStreamDestroy(s->timer.stream);
}

static void sweep_all(const Sweep *s, const Item *item, int32_t count, bool runtime_compiled, double last) {
    for (int32_t i = 0; i < count && seconds_now() < last; i++)
        sweep_one(s, &item[i], runtime_compiled, last);
}

static void sweep_all_fused(const Sweep *s, const Item *item, int32_t count, double last) {
    for (int32_t i = 0; i < count; i++)
        for (int form = 0; form < FUSED_FORMS && seconds_now() < last; form++)
            if (fused_applies(form, item[i].c))
                sweep_fused(s, &item[i], form, last);
}

int sweep(const UnetCudaModel *tables, double seconds, int repeats) {
    const double begin = seconds_now();
    const size_t all = (size_t)tables->nconvolution;
    Sweep s = {.timer = {.repeats = repeats}};
    Item *item = calloc(2 * all + 1, sizeof *item);
    UnetConvolution *more = calloc(all + 1, sizeof *more);
    if (all == 0 || item == NULL || more == NULL)
        fail("this model has no convolution");
    const int32_t count = list_items(tables, item, more);
    open_device(&s);
    take_memory(&s, tables);
    sweep_all(&s, item, count, false, begin + 0.5 * seconds);
    qsort(item, (size_t)count, sizeof *item, of_most_bytes_first);
    sweep_all_fused(&s, item, count, begin + 0.8 * seconds);
    sweep_all(&s, item, count, true, begin + seconds);
    close_device(&s);
    free(more);
    free(item);
    return 0;
}
