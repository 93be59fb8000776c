/* harness.c - runs a generated model on its device as a library, for comparison with PyTorch and to count
 * memory:
 *
 *   PROGRAM steps STEPS OFFSET...   trains STEPS steps, each on a batch of its own
 *
 *   PROGRAM memory STEPS            trains on zeros; says, as JSON, the bytes allocated, free, and taken by
 *                                   the libraries
 *
 *   PROGRAM device                  says, as JSON, what cuDNN knows of the device
 *
 *   PROGRAM sweep SECONDS REPEATS   times engines of cuDNN (sweep.c)
 *
 *   PROGRAM assumptions             checks what the runtime takes for granted of cuDNN (assumptions.c)
 *
 *   PROGRAM COMMAND...              what every program does (bench)
 *
 * `steps` reads float32: the parameters in the order of the model's table, then for each step the inputs of
 * a whole batch, dense.  It writes doubles: the results of each step, after the first step also the
 * gradients, which lie at OFFSET in the arena, one offset per parameter, and from which the scale of the
 * loss is taken; at the end the parameters, and the prediction for the first sample of the last batch.
 *
 * Whatever it does, a file named by HARNESS_ENGINES gets, as JSON, which engine computes each convolution,
 * beside the one that was planned, as soon as the device is open.
 *
 * The linker sends some calls of the runtime through here (--wrap).
 */
#include "harness.h"

#include <cuda_runtime_api.h>
#include <cudnn_graph.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "unet/device.h"
#include "unet/layout.h"
#include "unet/model.h"
#include "unet/parameters.h"

#include "state.h" /* runtime/cuda */

enum { ALIGNMENT = 64, MOST_INPUTS = 8 };

extern const UnetModel *const harness_model;

_Noreturn void fail(const char *what) {
    fprintf(stderr, "harness: %s\n", what);
    exit(1);
}

static void *zeroed(int64_t bytes) {
    void *memory = aligned_alloc(ALIGNMENT, ((size_t)bytes + ALIGNMENT) / ALIGNMENT * ALIGNMENT);
    if (memory == NULL)
        fail("out of memory");
    return memset(memory, 0, (size_t)bytes);
}

/* ---- what the runtime allocates ---------------------------------------------------------------- */

typedef struct {
    long count;
    size_t bytes;
} Allocated;

/* Memory of the device that is gone once a call has returned.  A block that is freed behind the opening
 * holds the operands of one convolution, perhaps while a graph is captured, when nothing else should be
 * asked. */
typedef struct {
    bool is_measured, is_opening;
    int64_t handle, plans, graphs;
} Taken;

/* The linker leaves no other way in for these counts. */
static Allocated on_device, on_host;
static Taken taken;

cudaError_t real_malloc(void **start, size_t bytes) __asm__("__real_cudaMalloc");
cudaError_t counting_malloc(void **start, size_t bytes) __asm__("__wrap_cudaMalloc");
cudaError_t real_malloc_host(void **start, size_t bytes) __asm__("__real_cudaMallocHost");
cudaError_t counting_malloc_host(void **start, size_t bytes) __asm__("__wrap_cudaMallocHost");

cudaError_t counting_malloc(void **start, size_t bytes) {
    on_device.count++;
    on_device.bytes += bytes;
    return real_malloc(start, bytes);
}

cudaError_t counting_malloc_host(void **start, size_t bytes) {
    on_host.count++;
    on_host.bytes += bytes;
    return real_malloc_host(start, bytes);
}

static size_t free_bytes(void) {
    size_t available, total;
    if (cudaMemGetInfo(&available, &total) != cudaSuccess)
        fail("the device does not say how much memory is free");
    return available;
}

static size_t total_bytes(void) {
    size_t available, total;
    return cudaMemGetInfo(&available, &total) == cudaSuccess ? total : 0;
}

static int64_t measured_free(void) {
    return taken.is_measured ? (int64_t)free_bytes() : 0;
}

#define WRAPPED(result, name, ...)                                                                         \
    result real_##name(__VA_ARGS__) __asm__("__real_" #name);                                              \
    result measured_##name(__VA_ARGS__) __asm__("__wrap_" #name);                                          \
    result measured_##name(__VA_ARGS__)

WRAPPED(cudnnStatus_t, cudnnCreate, cudnnHandle_t *handle) {
    int64_t before = measured_free();
    cudnnStatus_t status = real_cudnnCreate(handle);
    taken.handle += before - measured_free();
    return status;
}

WRAPPED(cudnnStatus_t, cudnnBackendFinalize, cudnnBackendDescriptor_t descriptor) {
    int64_t before = taken.is_opening ? measured_free() : 0;
    cudnnStatus_t status = real_cudnnBackendFinalize(descriptor);
    taken.plans += taken.is_opening ? before - measured_free() : 0;
    return status;
}

WRAPPED(cudaError_t, cudaGraphInstantiate, cudaGraphExec_t *executable, cudaGraph_t graph,
        unsigned long long flags) {
    int64_t before = measured_free();
    cudaError_t code = real_cudaGraphInstantiate(executable, graph, flags);
    taken.graphs += before - measured_free();
    return code;
}

/* The first launch brings a graph to the device. */
WRAPPED(cudaError_t, cudaGraphLaunch, cudaGraphExec_t executable, cudaStream_t stream) {
    int64_t before = measured_free();
    cudaError_t code = real_cudaGraphLaunch(executable, stream);
    taken.graphs += before - measured_free();
    return code;
}

/* ---- which engines run ------------------------------------------------------------------------- */

static void write_engine(FILE *file, const UnetEngine *engine) {
    fprintf(file, "{\"engine\": %" PRId64 ", \"workspace\": %" PRId64 ", \"knobs\": [", engine->engine,
            engine->workspace);
    for (int32_t i = 0; i < engine->nknob; i++)
        fprintf(file, "%s[%" PRId64 ", %" PRId64 "]", i > 0 ? ", " : "", engine->knob[i].type,
                engine->knob[i].value);
    fprintf(file, "]}");
}

static void write_engines(FILE *file, const UnetCuda *cuda) {
    const UnetConvolution *c = cuda->tables->convolution;
    const int32_t count = cuda->tables->nconvolution;
    int64_t version = 0;
    for (int32_t i = 0; i < count && version == 0; i++)
        version = c[i].engine.version;
    fprintf(file, "{\"cuDNN\": %zu, \"planned with\": %" PRId64 ", \"convolutions\": [", cudnnGetVersion(),
            version);
    for (int32_t i = 0; i < count; i++) {
        const UnetCudnnPlan *plan = unet_cuda_plan(cuda, i);
        const bool planned = plan->pinned && unet_same_engine(&plan->engine, &c[i].engine);
        fprintf(file, "%s\n{\"as planned\": %s, \"wanted\": %" PRId64 ", \"planned\": ", i > 0 ? "," : "",
                planned ? "true" : "false", plan->wanted);
        write_engine(file, &c[i].engine);
        fprintf(file, ", \"runs\": ");
        write_engine(file, &plan->engine);
        fprintf(file, "}");
    }
    fprintf(file, "]}\n");
}

/* UnetDevice.open of the device of `model_here`. */
static UnetStatus telling_open(void **state, const UnetModel *model, int64_t extent,
                               const UnetEngineFile *engines, UnetError *error) {
    const UnetStatus status = unet_cuda_device.open(state, model, extent, engines, error);
    const char *path = getenv("HARNESS_ENGINES");
    FILE *file = status == UNET_OK && path != NULL ? fopen(path, "w") : NULL;
    if (file != NULL) {
        write_engines(file, *state);
        if (fclose(file) != 0)
            fail("cannot write HARNESS_ENGINES");
    }
    return status;
}

/* ---- the device -------------------------------------------------------------------------------- */

typedef struct {
    const UnetModel *model;
    char *mirror;
    void *state;
    void *batch[MOST_INPUTS]; /* of training; all in one piece of memory */
    const void *inputs[MOST_INPUTS];
    int64_t step;
    UnetError error;
} Run;

static void expect(Run *run, UnetStatus status) {
    if (status != UNET_OK)
        fail(run->error.text);
}

static void make_batch(Run *run) {
    const UnetProgram *program = run->model->train;
    char *memory = zeroed(program->input_bytes);
    if (run->model->ninput > MOST_INPUTS)
        fail("too many inputs");
    run->batch[0] = memory;
    for (int i = 0; i < run->model->ninput; i++) {
        run->inputs[i] = run->batch[i] = memory;
        int64_t bytes = program->batch * program->inputs[i].sample_bytes;
        memory += (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    }
    run->model->device->pin(run->state, run->batch[0], (size_t)program->input_bytes);
}

static Run start(const UnetModel *model) {
    Run run = {.model = model};
    run.mirror = calloc(1, (size_t)run.model->arena_bytes); /* few pages of it are touched */
    if (run.mirror == NULL)
        fail("out of memory");
    expect(&run, run.model->device->open(&run.state, run.model, run.model->arena_bytes, NULL, &run.error));
    unet_parameters_init(run.model, 0, run.mirror);
    expect(&run, run.model->device->push(run.state, run.mirror, 0, run.model->persistent, &run.error));
    make_batch(&run);
    return run;
}

static void end(Run *run) {
    run->model->device->close(run->state);
    free(run->batch[0]);
    free(run->mirror);
}

static void step(Run *run, const UnetProgram *program) {
    run->step += program == run->model->train;
    const UnetStep told = {.arena = run->mirror,
                           .inputs = run->inputs,
                           .n = program->batch,
                           .threads = 1,
                           .learning_rate = run->model->training->learning_rate,
                           .step = run->step};
    expect(run, run->model->device->begin(run->state, program, &told, &run->error));
    expect(run, run->model->device->end(run->state, run->mirror, &run->error));
}

/* ---- numbers in and out ------------------------------------------------------------------------ */

static int64_t count(const UnetParameter *parameter) {
    int64_t elements = 1;
    for (int i = 0; i < parameter->rank; i++)
        elements *= parameter->dim[i];
    return elements;
}

static void read_floats(float *to, int64_t n) {
    if (fread(to, sizeof *to, (size_t)n, stdin) != (size_t)n)
        fail("the input is cut short");
}

static void write_doubles(const double *from, int64_t n) {
    if (fwrite(from, sizeof *from, (size_t)n, stdout) != (size_t)n)
        fail("cannot write");
}

static void write_floats(const float *from, int64_t n, double factor) {
    for (int64_t i = 0; i < n; i++) {
        double value = (double)from[i] * factor;
        write_doubles(&value, 1);
    }
}

/* The samples of a batch come dense; here a row of points has its channels one behind the other. */
static void read_batch(Run *run, int input) {
    const UnetLayout *layout = &run->model->train->inputs[input];
    int64_t width = layout->size[2], rows = (int64_t)layout->size[0] * layout->size[1];
    float *sample = zeroed(layout->channels * rows * width * 4),
          *row = zeroed(layout->channels * width * 4);
    int32_t *identity = zeroed(width * 4);
    for (int32_t x = 0; x < width; x++)
        identity[x] = x;
    for (int32_t n = 0; n < run->model->train->batch; n++) {
        read_floats(sample, layout->channels * rows * width);
        for (int32_t r = 0; r < rows; r++) {
            for (int32_t c = 0; c < layout->channels; c++)
                memcpy(row + c * width, sample + (c * rows + r) * width, (size_t)width * sizeof *row);
            unet_layout_store_row(layout, run->batch[input], n, r / layout->size[1], r % layout->size[1],
                                  row, width, identity, 0);
        }
    }
    free(sample);
    free(row);
    free(identity);
}

static void write_results(const Run *run) {
    const UnetProgram *program = run->model->train;
    for (int r = 0; r < run->model->nresult; r++) {
        double sum = 0;
        if (program->result_offsets[r] >= 0)
            memcpy(&sum, run->mirror + program->result_offsets[r], sizeof sum);
        sum /= program->batch;
        write_doubles(&sum, 1);
    }
}

/* By what gradients of the last step are to be multiplied. */
static double unscale(Run *run) {
    const UnetModel *model = run->model;
    if (model->loss_scale <= 0)
        return 1;
    const double *scale = (const double *)(const void *)(run->mirror + model->loss_scale);
    expect(run, model->device->fetch(run->state, run->mirror, model->loss_scale,
                                     UNET_LOSS_SCALE_ELEMENTS * (int64_t)sizeof *scale, &run->error));
    if (scale[UNET_UNSCALE] <= 0)
        fail("gradients of the first step overflowed");
    return scale[UNET_UNSCALE];
}

/* The parameters, or the gradients that lie at OFFSETS in the same order. */
static void write_parameters(Run *run, char **offsets) {
    double factor = offsets != NULL ? unscale(run) : 1;
    for (int i = 0; i < run->model->nparameter; i++) {
        const UnetParameter *parameter = &run->model->parameter[i];
        int64_t offset = offsets != NULL ? strtoll(offsets[i], NULL, 10) : parameter->offset;
        int64_t bytes = count(parameter) * 4;
        if (offset < 0 || offset + bytes > run->model->arena_bytes)
            fail("an offset is outside the arena");
        expect(run, run->model->device->fetch(run->state, run->mirror, offset, bytes, &run->error));
        write_floats((const float *)(const void *)(run->mirror + offset), count(parameter), factor);
    }
}

/* Channel by channel, from a layout in the mirror. */
static void write_output(const UnetLayout *layout, const char *values) {
    int64_t width = layout->size[2], rows = (int64_t)layout->size[0] * layout->size[1];
    float *row = zeroed(layout->channels * width * 4);
    for (int32_t c = 0; c < layout->channels; c++)
        for (int32_t r = 0; r < rows; r++) {
            unet_layout_load_row(layout, values, 0, r / layout->size[1], r % layout->size[1], row);
            write_floats(row + c * width, width, 1);
        }
    free(row);
}

static void write_predictions(Run *run) {
    const UnetProgram *program = run->model->predict;
    for (int i = 0; i < run->model->ninput; i++)
        if (memcmp(&program->inputs[i], &run->model->train->inputs[i],
                   offsetof(UnetLayout, sample_bytes)) != 0)
            fail("prediction wants inputs of another layout");
    if (program->batch != 1)
        fail("prediction takes more than one sample");
    step(run, program);
    for (int o = 0; o < run->model->noutput; o++) {
        const UnetLayout *layout = &program->outputs[o];
        int64_t offset = program->output_offsets[o];
        expect(run, run->model->device->fetch(run->state, run->mirror, offset, layout->sample_bytes,
                                              &run->error));
        write_output(layout, run->mirror + offset);
    }
}

/* ---- the commands ------------------------------------------------------------------------------ */

static int run_steps(const UnetModel *model, int64_t steps, char **offsets) {
    Run run = start(model);
    for (int i = 0; i < run.model->nparameter; i++)
        read_floats((float *)(void *)(run.mirror + run.model->parameter[i].offset),
                    count(&run.model->parameter[i]));
    expect(&run, run.model->device->push(run.state, run.mirror, 0, run.model->persistent, &run.error));
    for (int64_t k = 0; k < steps; k++) {
        for (int i = 0; i < run.model->ninput; i++)
            read_batch(&run, i);
        step(&run, run.model->train);
        write_results(&run);
        if (k == 0)
            write_parameters(&run, offsets);
    }
    write_parameters(&run, NULL);
    write_predictions(&run);
    end(&run);
    return 0;
}

static int memory(const UnetModel *model, int64_t steps) {
    (void)cudaDeviceSynchronize(); /* makes the context */
    size_t context = free_bytes();
    taken.is_measured = taken.is_opening = true;
    Run run = start(model);
    taken.is_opening = false;
    size_t opened = free_bytes();
    step(&run, run.model->train);
    size_t first = free_bytes();
    step(&run, run.model->train); /* is captured */
    step(&run, run.model->predict);
    step(&run, run.model->predict);
    size_t captured = free_bytes(), least = captured, most = captured;
    for (int64_t k = 2; k < steps; k++) {
        step(&run, run.model->train);
        size_t now = free_bytes();
        least = now < least ? now : least;
        most = now > most ? now : most;
    }
    printf("{\"arena\": %" PRId64
           ", \"allocations\": %ld, \"allocated\": %zu, \"pinned allocations\": %ld, "
           "\"pinned\": %zu, \"steps\": %" PRId64 ", \"total\": %zu, \"free\": {\"context\": %zu, "
           "\"opened\": %zu, \"first step\": %zu, \"captured\": %zu, \"least\": %zu, \"most\": %zu}, "
           "\"taken\": {\"handle\": %" PRId64 ", \"plans\": %" PRId64 ", \"graphs\": %" PRId64 "}}\n",
           run.model->arena_bytes, on_device.count, on_device.bytes, on_host.count, on_host.bytes, run.step,
           total_bytes(), context, opened, first, captured, least, most, taken.handle, taken.plans,
           taken.graphs);
    end(&run);
    return 0;
}

static int device(void) {
    static char text[8192];
    int64_t bytes = 0;
    cudnnHandle_t handle;
    cudnnBackendDescriptor_t properties;
    bool told =
        cudnnCreate(&handle) == CUDNN_STATUS_SUCCESS &&
        cudnnBackendCreateDescriptor(CUDNN_BACKEND_DEVICEPROP_DESCRIPTOR, &properties) ==
            CUDNN_STATUS_SUCCESS &&
        cudnnBackendSetAttribute(properties, CUDNN_ATTR_DEVICEPROP_HANDLE, CUDNN_TYPE_HANDLE, 1, &handle) ==
            CUDNN_STATUS_SUCCESS &&
        cudnnBackendFinalize(properties) == CUDNN_STATUS_SUCCESS &&
        cudnnBackendGetAttribute(properties, CUDNN_ATTR_DEVICEPROP_JSON_REPRESENTATION, CUDNN_TYPE_CHAR,
                                 sizeof text - 1, &bytes, text) == CUDNN_STATUS_SUCCESS;
    if (!told) {
        cudnnGetLastErrorString(text, sizeof text);
        fail(text);
    }
    printf("{\"cuDNN\": %zu, \"device\": %s}\n", cudnnGetVersion(), text);
    return 0;
}

int main(int argc, char **argv) {
    UnetDevice telling = unet_cuda_device;
    UnetModel told = *harness_model;
    const UnetModel *const model = &told;
    if (harness_model->device != &unet_cuda_device)
        fail("this model was compiled for no device");
    telling.open = telling_open;
    told.device = &telling;
    if (argc == 3 && strcmp(argv[1], "memory") == 0)
        return memory(model, strtoll(argv[2], NULL, 10));
    if (argc == 2 && strcmp(argv[1], "device") == 0)
        return device();
    if (argc == 2 && strcmp(argv[1], "assumptions") == 0)
        return assumptions(model->device_tables);
    if (argc == 4 && strcmp(argv[1], "sweep") == 0)
        return sweep(model->device_tables, strtod(argv[2], NULL), (int)strtol(argv[3], NULL, 10));
    if (argc == 3 + model->nparameter && strcmp(argv[1], "steps") == 0)
        return run_steps(model, strtoll(argv[2], NULL, 10), argv + 3);
    return unet_main(&model, 1, argc, argv);
}
