/* memory.cpp - the device as such: its memory, copies, properties, and the report at exit. */
#include "internal.h"

#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>

namespace shim {

Count count;

namespace {

/* Pieces of memory by their first byte. */
typedef std::map<const char *, size_t> Pieces;
Pieces device_memory, pinned_memory;

bool within(const Pieces &pieces, const void *start, size_t bytes) {
    const char *first = static_cast<const char *>(start);
    Pieces::const_iterator piece = pieces.upper_bound(first);
    if (piece == pieces.begin())
        return false;
    --piece;
    return first + bytes <= piece->first + piece->second;
}

bool on_device(const void *start, size_t bytes) {
    return within(device_memory, start, bytes);
}

size_t device_bytes() {
    const char *text = environment("UNET_SHIM_DEVICE_BYTES");
    return text[0] == '\0' ? (size_t)80 << 30 : (size_t)strtoull(text, nullptr, 10);
}

bool possible_copy(const void *to, const void *from, size_t bytes, cudaMemcpyKind kind) {
    const bool to_device = on_device(to, bytes), from_device = on_device(from, bytes);
    switch (kind) {
    case cudaMemcpyHostToHost:
        return !to_device && !from_device;
    case cudaMemcpyHostToDevice:
        return to_device && !from_device;
    case cudaMemcpyDeviceToHost:
        return !to_device && from_device;
    case cudaMemcpyDeviceToDevice:
        return to_device && from_device;
    default:
        return true;
    }
}

cudaError_t allocate_pinned(void **start, size_t bytes) {
    *start = malloc(bytes);
    if (*start == nullptr)
        return fail(cudaErrorMemoryAllocation);
    pinned_memory[static_cast<char *>(*start)] = bytes;
    return cudaSuccess;
}

struct Report {
    ~Report() {
        if (environment("UNET_SHIM_REPORT")[0] == '1')
            fprintf(stderr,
                    "shim: %ld allocations, at most %zu bytes, %zu at exit; %ld launches, %ld replays\n",
                    count.allocations, count.most_bytes, count.bytes, count.launches, count.replays);
    }
} report;

} // namespace

const char *environment(const char *name) {
    const char *value = getenv(name);
    return value == nullptr ? "" : value;
}

} // namespace shim

using namespace shim;

/* ---- memory ----------------------------------------------------------------------------------------- */

cudaError_t cudaMalloc(void **start, size_t bytes) {
    *start = nullptr;
    if (spoils_capture())
        return fail(cudaErrorStreamCaptureUnsupported);
    if (bytes == 0)
        return cudaSuccess;
    if (bytes > device_bytes() - count.bytes)
        return fail(cudaErrorMemoryAllocation);
    if (posix_memalign(start, 256, bytes) != 0)
        return fail(cudaErrorMemoryAllocation);
    memset(*start, 0xFF, bytes); /* NaN in every type */
    device_memory[static_cast<char *>(*start)] = bytes;
    count.allocations++;
    count.bytes += bytes;
    count.most_bytes = count.bytes > count.most_bytes ? count.bytes : count.most_bytes;
    return cudaSuccess;
}

cudaError_t cudaFree(void *start) {
    if (start == nullptr)
        return cudaSuccess;
    if (spoils_capture())
        return fail(cudaErrorStreamCaptureUnsupported);
    finish_all();
    Pieces::iterator piece = device_memory.find(static_cast<char *>(start));
    if (piece == device_memory.end())
        return fail(cudaErrorInvalidValue);
    count.bytes -= piece->second;
    device_memory.erase(piece);
    free(start);
    return answer(cudaSuccess);
}

/* Nothing says that a device answers this while a graph is captured. */
cudaError_t cudaMemGetInfo(size_t *available, size_t *total) {
    if (spoils_capture())
        return fail(cudaErrorStreamCaptureUnsupported);
    *total = device_bytes();
    *available = *total - count.bytes;
    return cudaSuccess;
}

cudaError_t cudaHostRegister(void *start, size_t bytes, unsigned) {
    if (within(pinned_memory, start, 1))
        return fail(cudaErrorHostMemoryAlreadyRegistered);
    pinned_memory[static_cast<char *>(start)] = bytes;
    return cudaSuccess;
}

cudaError_t cudaHostUnregister(void *start) {
    finish_all();
    return pinned_memory.erase(static_cast<char *>(start)) == 1 ? cudaSuccess
                                                                : fail(cudaErrorHostMemoryNotRegistered);
}

cudaError_t cudaMallocHost(void **start, size_t bytes) {
    return allocate_pinned(start, bytes);
}

cudaError_t cudaHostAlloc(void **start, size_t bytes, unsigned) {
    return allocate_pinned(start, bytes);
}

cudaError_t cudaFreeHost(void *start) {
    finish_all();
    if (pinned_memory.erase(static_cast<char *>(start)) == 0)
        return fail(cudaErrorInvalidValue);
    free(start);
    return cudaSuccess;
}

cudaError_t cudaPointerGetAttributes(cudaPointerAttributes *attributes, const void *start) {
    *attributes = {};
    attributes->type = on_device(start, 1)               ? cudaMemoryTypeDevice
                       : within(pinned_memory, start, 1) ? cudaMemoryTypeHost
                                                         : cudaMemoryTypeUnregistered;
    return cudaSuccess;
}

/* ---- copies ----------------------------------------------------------------------------------------- */

/* Memory of the host that is not pinned is read before the call returns, and written by then. */
cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, cudaMemcpyKind kind,
                            cudaStream_t stream) {
    if (!possible_copy(to, from, bytes, kind))
        return fail(cudaErrorInvalidValue);
    const bool from_pageable = !on_device(from, bytes) && !within(pinned_memory, from, bytes);
    const bool to_pageable = !on_device(to, bytes) && !within(pinned_memory, to, bytes);
    if (from_pageable && !captures(stream)) {
        std::shared_ptr<char> copy(new char[bytes], std::default_delete<char[]>());
        memcpy(copy.get(), from, bytes);
        submit(stream, [=] { memcpy(to, copy.get(), bytes); });
    } else {
        submit(stream, [=] { memcpy(to, from, bytes); });
    }
    if (to_pageable && !captures(stream))
        finish(stream);
    return answer(cudaSuccess);
}

cudaError_t cudaMemcpy(void *to, const void *from, size_t bytes, cudaMemcpyKind kind) {
    if (spoils_capture())
        return fail(cudaErrorStreamCaptureUnsupported);
    const cudaError_t error = cudaMemcpyAsync(to, from, bytes, kind, nullptr);
    finish(nullptr);
    return error;
}

cudaError_t cudaMemsetAsync(void *start, int value, size_t bytes, cudaStream_t stream) {
    if (!on_device(start, bytes))
        return fail(cudaErrorInvalidValue);
    submit(stream, [=] { memset(start, value, bytes); });
    return answer(cudaSuccess);
}

cudaError_t cudaMemset(void *start, int value, size_t bytes) {
    if (spoils_capture())
        return fail(cudaErrorStreamCaptureUnsupported);
    const cudaError_t error = cudaMemsetAsync(start, value, bytes, nullptr);
    finish(nullptr);
    return error;
}

/* ---- the device ------------------------------------------------------------------------------------- */

/* There may be several that look alike, and a process takes one: memory is not told apart. */
static int current_device;

static int device_count() {
    const int asked = atoi(environment("UNET_SHIM_DEVICES"));
    return asked > 0 ? asked : 1;
}

cudaError_t cudaGetDeviceCount(int *devices) {
    *devices = device_count();
    return cudaSuccess;
}

cudaError_t cudaSetDevice(int device) {
    if (device < 0 || device >= device_count())
        return fail(cudaErrorInvalidDevice);
    current_device = device;
    return cudaSuccess;
}

cudaError_t cudaGetDevice(int *device) {
    *device = current_device;
    return cudaSuccess;
}

cudaError_t cudaDeviceGetPCIBusId(char *name, int length, int device) {
    snprintf(name, (size_t)length, "0000:%02X:00.0", device + 1);
    return cudaSuccess;
}

static int capability() {
    const int asked = atoi(environment("UNET_SHIM_CAPABILITY")); /* 80: sm_80 */
    return asked > 0 ? asked : 90;
}

/* The attributes that somebody asks for. */
cudaError_t cudaDeviceGetAttribute(int *value, cudaDeviceAttr attribute, int device) {
    if (device < 0 || device >= device_count())
        return fail(cudaErrorInvalidDevice);
    switch (attribute) {
    case cudaDevAttrComputeCapabilityMajor:
        *value = capability() / 10;
        return cudaSuccess;
    case cudaDevAttrComputeCapabilityMinor:
        *value = capability() % 10;
        return cudaSuccess;
    case cudaDevAttrMultiProcessorCount:
        *value = 1;
        return cudaSuccess;
    case cudaDevAttrL2CacheSize:
        *value = 1 << 16;
        return cudaSuccess;
    default:
        return fail(cudaErrorInvalidValue);
    }
}

cudaError_t cudaGetDeviceProperties(cudaDeviceProp *properties, int device) {
    if (device < 0 || device >= device_count())
        return fail(cudaErrorInvalidDevice);
    memset(properties, 0, sizeof *properties);
    snprintf(properties->name, sizeof properties->name, "CPU, through the shim");
    properties->totalGlobalMem = device_bytes();
    properties->major = capability() / 10;
    properties->minor = capability() % 10;
    properties->warpSize = 32;
    properties->multiProcessorCount = 132;
    properties->maxThreadsPerBlock = 1024;
    properties->sharedMemPerBlock = 48 << 10;
    return cudaSuccess;
}

cudaError_t cudaRuntimeGetVersion(int *version) {
    *version = CUDART_VERSION;
    return cudaSuccess;
}

cudaError_t cudaDriverGetVersion(int *version) {
    *version = CUDART_VERSION;
    return cudaSuccess;
}

/* ---- names of errors -------------------------------------------------------------------------------- */

static const struct {
    cudaError_t error;
    const char *name, *text;
} errors[] = {
    {cudaSuccess, "cudaSuccess", "no error"},
    {cudaErrorInvalidValue, "cudaErrorInvalidValue", "invalid argument"},
    {cudaErrorMemoryAllocation, "cudaErrorMemoryAllocation", "out of memory"},
    {cudaErrorInvalidConfiguration, "cudaErrorInvalidConfiguration", "invalid configuration argument"},
    {cudaErrorInvalidDevice, "cudaErrorInvalidDevice", "invalid device ordinal"},
    {cudaErrorInvalidResourceHandle, "cudaErrorInvalidResourceHandle", "invalid resource handle"},
    {cudaErrorIllegalState, "cudaErrorIllegalState", "the operation cannot be performed in this state"},
    {cudaErrorNotReady, "cudaErrorNotReady", "device not ready"},
    {cudaErrorIllegalAddress, "cudaErrorIllegalAddress", "an illegal memory access was encountered"},
    {cudaErrorHostMemoryAlreadyRegistered, "cudaErrorHostMemoryAlreadyRegistered",
     "part or all of the requested memory range is already mapped"},
    {cudaErrorHostMemoryNotRegistered, "cudaErrorHostMemoryNotRegistered",
     "pointer does not correspond to a registered memory region"},
    {cudaErrorStreamCaptureUnsupported, "cudaErrorStreamCaptureUnsupported",
     "operation not permitted when stream is capturing"},
    {cudaErrorStreamCaptureInvalidated, "cudaErrorStreamCaptureInvalidated",
     "operation failed due to a previous error during capture"},
    {cudaErrorStreamCaptureUnjoined, "cudaErrorStreamCaptureUnjoined",
     "capturing stream has unjoined work"},
    {cudaErrorStreamCaptureIsolation, "cudaErrorStreamCaptureIsolation",
     "dependency created on uncaptured work in another stream"},
    {cudaErrorCapturedEvent, "cudaErrorCapturedEvent",
     "operation not permitted on an event last recorded in a capturing stream"},
};

const char *cudaGetErrorName(cudaError_t error) {
    for (const auto &known : errors)
        if (known.error == error)
            return known.name;
    return "an error the shim does not make";
}

const char *cudaGetErrorString(cudaError_t error) {
    for (const auto &known : errors)
        if (known.error == error)
            return known.text;
    return "an error the shim does not make";
}
