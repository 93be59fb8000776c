/* arrays.c - arrays of a caller that lie in the memory of the GPU (unet/cuda_arrays.h).
 *
 * Such arrays may still be computed by kernels in streams of their own, so all work of the device ends
 * first.  Whoever hands arrays over waits for each step anyway (unet/embed.h).
 */
#include "state.h"

static UnetArrayPlace where_is(const void *memory) {
    struct cudaPointerAttributes found;
    int current = 0;
    if (cudaPointerGetAttributes(&found, memory) != cudaSuccess || cudaGetDevice(&current) != cudaSuccess) {
        (void)cudaGetLastError();
        return UNET_ARRAY_ON_HOST;
    }
    if (found.type != cudaMemoryTypeDevice && found.type != cudaMemoryTypeManaged)
        return UNET_ARRAY_ON_HOST;
    return found.device == current ? UNET_ARRAY_ON_DEVICE : UNET_ARRAY_ON_OTHER_DEVICE;
}

/* Labels that the host counts before a step. */
static bool are_counted(const UnetCudaProgram *tables, int32_t input) {
    bool found = false;
    for (int32_t k = 0; k < tables->nlabels; k++)
        found |= tables->labels[k].input == input;
    return found;
}

UnetArrayPlace unet_cuda_place_of(const UnetModel *model, const UnetProgram *program, int32_t input,
                                  const void *array) {
    const UnetCudaModel *tables = model->device_tables;
    const int k = program == model->train ? 0 : program == model->eval ? 1 : 2;
    const UnetArrayPlace place =
        tables->arrays.to_tensor == NULL || array == NULL ? UNET_ARRAY_ON_HOST : where_is(array);
    const bool counted = input >= 0 && are_counted(unet_cuda_program(tables, k), input);
    return place == UNET_ARRAY_ON_DEVICE && counted ? UNET_ARRAY_READ_BY_HOST : place;
}

UnetStatus unet_cuda_settle_arrays(UnetError *error) {
    return unet_cuda_checked(cudaDeviceSynchronize(), "waiting for the arrays of the caller", error);
}

/* The bytes of a sample of an array. */
static int64_t sample_of(const UnetCudaArray *array) {
    const UnetLayout *layout = &array->layout;
    const int64_t points = (int64_t)layout->size[0] * layout->size[1] * layout->size[2];
    return array->labels ? points : points * layout->channels * (int64_t)sizeof(float);
}

/* By what the input is normalised: NORMALS has an entry for each normalised input. */
static void normalize(const UnetModel *model, int32_t input, const UnetNormal *normals,
                      UnetCudaArray *array) {
    array->normalizes = model->inputs[input].normalizing != UNET_AS_READ;
    for (int32_t i = 0; i < input; i++)
        normals += model->inputs[i].normalizing != UNET_AS_READ;
    if (array->normalizes)
        array->normal = *normals;
}

UnetStatus unet_cuda_bring_array(UnetCuda *cuda, const UnetProgram *program, const UnetStep *step,
                                 int32_t i, UnetStaging place, int64_t start, int64_t count,
                                 cudaStream_t stream, UnetError *error) {
    UnetCudaArray array = {.layout = program->inputs[i],
                           .samples = (int32_t)count,
                           .labels = cuda->model->inputs[i].kind == UNET_LABELS};
    const char *values = step->arrays[i];
    normalize(cuda->model, i, step->normals, &array);
    UnetStatus status =
        unet_cuda_checked(cudaMemsetAsync(cuda->arena + place.offset, 0, (size_t)place.bytes, stream),
                          "clearing inputs", error);
    if (status != UNET_OK)
        return status;
    cuda->status = UNET_OK;
    cuda->tables->arrays.to_tensor((UnetLaunch){.cuda = cuda, .stream = stream}, cuda->arena + place.offset,
                                   values + start * sample_of(&array), &array);
    if (cuda->status != UNET_OK)
        *error = cuda->error;
    return cuda->status;
}

UnetStatus unet_cuda_take_array(void *state, const UnetProgram *program, int32_t output, void *array,
                                UnetError *error) {
    UnetCuda *cuda = state;
    const bool labels = cuda->model->outputs[output].kind == UNET_LABELS;
    const UnetCudaArray taken = {.layout = program->outputs[output],
                                 .samples = 1,
                                 .labels = labels,
                                 .chooses = labels && program->windows != NULL && program->windows->given};
    UnetStatus status = unet_cuda_settle_arrays(error);
    if (status != UNET_OK)
        return status;
    cuda->status = UNET_OK;
    cuda->tables->arrays.from_tensor((UnetLaunch){.cuda = cuda, .stream = cuda->stream}, array,
                                     cuda->arena + program->output_offsets[output], &taken);
    if (cuda->status != UNET_OK)
        *error = cuda->error;
    return cuda->status == UNET_OK
               ? unet_cuda_checked(cudaStreamSynchronize(cuda->stream), "waiting for the GPU", error)
               : cuda->status;
}

UnetStatus unet_cuda_read_array(void *to, const void *array, size_t bytes, UnetError *error) {
    UnetStatus status = unet_cuda_settle_arrays(error);
    return status == UNET_OK ? unet_cuda_checked(cudaMemcpy(to, array, bytes, cudaMemcpyDeviceToHost),
                                                 "copying from the GPU", error)
                             : status;
}
