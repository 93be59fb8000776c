/* measured.c - the engines of a file, in place of the engines that the program was compiled with.
 *
 * A file is used as a whole: it was measured on this device with this cuDNN, and has a row for every
 * convolution of the program within the planned workspace.  Then engines are made ready from its numbers,
 * which asks cuDNN nothing, and all runs compute the same bits.
 */
#include <cudnn_graph.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "state.h"

UnetStatus unet_cuda_describe(UnetEngineDevice *device, UnetError *error) {
    struct cudaDeviceProp properties;
    int major = 0, minor = 0, count = 0, driver = 0, current = 0;
    memset(&properties, 0, sizeof properties);
    cudaError_t code = cudaGetDevice(&current);
    if (code == cudaSuccess)
        code = cudaGetDeviceProperties(&properties, current);
    if (code == cudaSuccess)
        code = cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, current);
    if (code == cudaSuccess)
        code = cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, current);
    if (code == cudaSuccess)
        code = cudaDeviceGetAttribute(&count, cudaDevAttrMultiProcessorCount, current);
    if (code == cudaSuccess)
        code = cudaDriverGetVersion(&driver);
    *device = (UnetEngineDevice){.capability = 10 * major + minor,
                                 .multiprocessors = count,
                                 .driver = driver,
                                 .cudnn = (int64_t)cudnnGetVersion()};
    (void)snprintf(device->name, sizeof device->name, "%s", properties.name);
    return unet_cuda_checked(code, "looking at the GPU", error);
}

/* The row of each convolution of the program in MATCH; false: one has none. */
static bool match_all(const UnetCudaModel *tables, const UnetEngineTable *table,
                      const UnetTimedEngine **match) {
    bool all = true;
    for (int32_t i = 0; i < tables->nconvolution && all; i++) {
        const UnetConvolution *c = &tables->convolution[i];
        match[i] = unet_engines_find(table, c, c->engine.workspace);
        all = match[i] != NULL;
    }
    return all;
}

/* Why the table is not for HERE, with both sides named. */
static UnetStatus compare_devices(const UnetCuda *cuda, const char *path, const UnetEngineDevice *here,
                                  UnetError *error) {
    const UnetEngineDevice *there = &cuda->table.device;
    const char *why = unet_engines_differ(there, here);
    if (why == NULL)
        return UNET_OK;
    return unet_fail(error, UNET_IO,
                     "%s: %s (%s, cuDNN %" PRId64 ") than this one (%s, cuDNN %" PRId64
                     "); `tune` measures here",
                     path, why, there->name, there->cudnn, here->name, here->cudnn);
}

static UnetStatus take(UnetCuda *cuda, const char *path, UnetError *error) {
    UnetEngineDevice here;
    UnetStatus status = unet_engines_read(&cuda->table, path, error);
    if (status == UNET_OK)
        status = unet_cuda_describe(&here, error);
    if (status == UNET_OK)
        status = compare_devices(cuda, path, &here, error);
    if (status != UNET_OK)
        return status;
    cuda->match = calloc((size_t)cuda->tables->nconvolution + 1, sizeof *cuda->match);
    if (cuda->match == NULL)
        return unet_fail(error, UNET_TOO_SMALL, "no memory for the engines in %s", path);
    if (!match_all(cuda->tables, &cuda->table, cuda->match))
        return unet_fail(error, UNET_IO,
                         "%s: it is for another network, or for one that was compiled with other options; "
                         "`tune` measures this one",
                         path);
    cuda->other_driver = here.driver != cuda->table.device.driver;
    return UNET_OK;
}

void unet_cuda_free_engines(UnetCuda *cuda) {
    free(cuda->match);
    cuda->match = NULL;
    unet_engines_free(&cuda->table);
}

UnetStatus unet_cuda_take_engines(UnetCuda *cuda, const UnetEngineFile *file, UnetError *error) {
    if (file == NULL || file->path == NULL ||
        (!file->required && access(file->path, F_OK) != 0 && errno == ENOENT))
        return UNET_OK;
    UnetError why;
    const UnetStatus status = take(cuda, file->path, file->required ? error : &why);
    if (status != UNET_OK)
        unet_cuda_free_engines(cuda);
    if (status == UNET_OK || file->required)
        return status;
    (void)snprintf(cuda->not_used, sizeof cuda->not_used, "engines as compiled: %s", why.text);
    return UNET_OK;
}

UnetConvolution unet_cuda_pinned(const UnetCuda *cuda, int32_t i) {
    UnetConvolution c = cuda->tables->convolution[i];
    const int64_t cap = c.engine.workspace;
    if (cuda->match != NULL)
        c.engine = cuda->match[i]->convolution.engine;
    c.engine.workspace = cap;
    return c;
}

bool unet_cuda_uses_file(void *state) {
    const UnetCuda *cuda = state;
    return cuda->match != NULL;
}

/* ---- in a few letters ---------------------------------------------------------------------------------
 */

static uint64_t mix(uint64_t hash, const void *data, size_t bytes) {
    const unsigned char *byte = data;
    for (size_t i = 0; i < bytes; i++)
        hash = (hash ^ byte[i]) * UINT64_C(0x100000001b3); /* FNV-1a */
    return hash;
}

/* Padding in structures is nobody's, so numbers are taken one by one. */
void unet_cuda_fingerprint(void *state, char *text, size_t size) {
    const UnetCuda *cuda = state;
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    for (int32_t i = 0; i < cuda->tables->nconvolution; i++) {
        const UnetEngine *engine = &unet_cuda_plan(cuda, i)->engine;
        hash = mix(hash, &engine->engine, sizeof engine->engine);
        for (int32_t k = 0; k < engine->nknob; k++) {
            hash = mix(hash, &engine->knob[k].type, sizeof engine->knob[k].type);
            hash = mix(hash, &engine->knob[k].value, sizeof engine->knob[k].value);
        }
    }
    (void)snprintf(text, size, "cuDNN %zu, %016" PRIx64, cudnnGetVersion(), hash);
}
