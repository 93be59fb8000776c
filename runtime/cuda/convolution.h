/* convolution.h - a UnetConvolution as a graph of cuDNN's backend API: an engine is chosen for it, made
 * ready and run.
 *
 * The compiler, which has no device, uses this with the functions of a library it opened; a program with
 * the functions of the library it is linked to.  Nothing here allocates memory of the device, prints or
 * exits.
 */
#ifndef UNET_CUDA_CONVOLUTION_H
#define UNET_CUDA_CONVOLUTION_H

#include <cudnn_graph.h>

#include "unet/cudnn.h"

/* The functions of cuDNN that are used. */
typedef struct {
    size_t (*version)(void);
    const char *(*status_text)(cudnnStatus_t);
    void (*last_error)(char *text, size_t size);
    cudnnStatus_t (*create)(cudnnBackendDescriptorType_t, cudnnBackendDescriptor_t *);
    cudnnStatus_t (*destroy)(cudnnBackendDescriptor_t);
    cudnnStatus_t (*set)(cudnnBackendDescriptor_t, cudnnBackendAttributeName_t, cudnnBackendAttributeType_t,
                         int64_t count, const void *values);
    cudnnStatus_t (*get)(cudnnBackendDescriptor_t, cudnnBackendAttributeName_t, cudnnBackendAttributeType_t,
                         int64_t capacity, int64_t *count, void *values);
    cudnnStatus_t (*finalize)(cudnnBackendDescriptor_t);
    cudnnStatus_t (*execute)(cudnnHandle_t, cudnnBackendDescriptor_t plan, cudnnBackendDescriptor_t pack);
} UnetCudnn;

/* The functions of the library that the program is linked to. */
extern const UnetCudnn unet_cudnn_linked;

/* The device that convolutions are planned for: of a handle, or one that is only described. */
typedef struct {
    const UnetCudnn *api;
    cudnnHandle_t handle;            /* NULL without a device */
    cudnnBackendDescriptor_t device; /* its properties; NULL with a handle */
    int32_t multiprocessors;         /* of the described device */
} UnetCudnnTarget;

/* The properties of a device as cuDNN's JSON text describes them. The caller destroys DEVICE, which is NULL
 * after a failure. */
UNET_MUST_USE UnetStatus unet_cudnn_describe_device(const UnetCudnn *api, const char *json,
                                                    cudnnBackendDescriptor_t *device, UnetError *error);

/* Fills C->engine with the first engine, in cuDNN's order of expected speed, that needs at most CAP bytes
 * of workspace, is deterministic unless C->nondeterministic, and keeps products of f32 in f32 unless
 * C->tf32. An engine that cuDNN would compile only now is taken if no other does; without a device it is
 * not compiled, and what it says of its workspace is believed. UNET_TOO_SMALL: there is none, or all need
 * more than CAP. */
UNET_MUST_USE UnetStatus unet_cudnn_choose(const UnetCudnnTarget *target, UnetConvolution *c, int64_t cap,
                                           UnetError *error);

/* workspace.c: the bytes of workspace that ENGINE may ask for when C runs on a device with so many
 * MULTIPROCESSORS: at least ENGINE->workspace, which cuDNN named without a device. */
int64_t unet_cudnn_workspace(const UnetConvolution *c, const UnetEngine *engine, int64_t multiprocessors);

enum { UNET_CUDNN_CANDIDATES = 128 };

/* An engine that may compute a convolution. */
typedef struct {
    UnetEngine engine;     /* workspace -1: unknown before there is a plan */
    bool runtime_compiled; /* by cuDNN when a plan is made, which takes a second or two */
} UnetCudnnCandidate;

/* Fills LIST with the engines that unet_cudnn_choose would look at, in its order; an engine that cuDNN
 * compiles when it runs stands where cuDNN lists it.  One may stand there twice. */
UNET_MUST_USE UnetStatus unet_cudnn_candidates(const UnetCudnnTarget *target, const UnetConvolution *c,
                                               UnetCudnnCandidate list[UNET_CUDNN_CANDIDATES],
                                               int32_t *count, UnetError *error);

enum { UNET_CUDNN_DESCRIPTORS = 48 };

/* A convolution that is ready to run. */
typedef struct {
    UnetEngine engine; /* what runs */
    bool pinned;       /* that is the engine the convolution named */
    int64_t wanted;    /* bytes of workspace that the named engine wants here; -1: cuDNN refuses it */
    cudnnBackendDescriptor_t plan;
    int32_t ndescriptor;
    cudnnBackendDescriptor_t descriptor[UNET_CUDNN_DESCRIPTORS];
} UnetCudnnPlan;

/* Makes C ready: by the engine it names, or, if another version of cuDNN chose that, or it does not work
 * here or is not one that C admits, by any that unet_cudnn_choose takes within the same bytes of workspace.
 * The caller frees PLAN whatever the status. */
UNET_MUST_USE UnetStatus unet_cudnn_plan(const UnetCudnnTarget *target, const UnetConvolution *c,
                                         UnetCudnnPlan *plan, UnetError *error);

/* Makes C ready by the engine it names and no other; false: cuDNN does not accept that one, or it needs
 * more workspace than C->engine says, or sums and rounds otherwise than C admits. The caller frees PLAN all
 * the same. */
bool unet_cudnn_plan_pinned(const UnetCudnnTarget *target, const UnetConvolution *c, UnetCudnnPlan *plan);
void unet_cudnn_plan_free(const UnetCudnnTarget *target, UnetCudnnPlan *plan);

/* Launches C by its PLAN on the stream of the target's handle. Operands as UnetConvolutionKind says, all
 * pointers to the device, aligned to 16 bytes; WORKSPACE has C->engine.workspace bytes. */
UNET_MUST_USE UnetStatus unet_cudnn_execute(const UnetCudnnTarget *target, const UnetConvolution *c,
                                            const UnetCudnnPlan *plan, void *result, const void *a,
                                            const void *b, const void *bias, void *workspace,
                                            UnetError *error);

#endif
