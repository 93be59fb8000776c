/* convolution_graph.h - descriptors of cuDNN, and a convolution as a graph of them; private to this folder.
 */
#ifndef UNET_CUDA_CONVOLUTION_GRAPH_H
#define UNET_CUDA_CONVOLUTION_GRAPH_H

#include "convolution.h"

/* What the tensors of a graph are called when pointers are bound to them. */
enum { UID_RESULT = 1, UID_A, UID_B, UID_BIAS, UID_SUM };

enum { BUILD_DESCRIPTORS = 128 };

/* A stack of descriptors under construction. The first failure is kept in status and error, and the calls
 * after it do nothing, so that a graph is built without a look at every call and judged once. */
typedef struct {
    const UnetCudnnTarget *target;
    UnetError *error;
    UnetStatus status;
    int32_t count;
    cudnnBackendDescriptor_t item[BUILD_DESCRIPTORS];
} Build;

Build build_start(const UnetCudnnTarget *target, UnetError *error);
/* Destroys all descriptors from number FIRST on and forgets a failure. */
void build_release(Build *b, int32_t first);

/* NULL after a failure. */
cudnnBackendDescriptor_t build_new(Build *b, cudnnBackendDescriptorType_t type);
void build_set(Build *b, cudnnBackendDescriptor_t d, cudnnBackendAttributeName_t name,
               cudnnBackendAttributeType_t type, int64_t count, const void *values);
void build_set_part(Build *b, cudnnBackendDescriptor_t d, cudnnBackendAttributeName_t name,
                    cudnnBackendDescriptor_t part);
/* WHAT it is, for the message if cuDNN does not accept it. */
void build_finish(Build *b, cudnnBackendDescriptor_t d, const char *what);
/* How many values there are, at most CAPACITY of them in VALUES; -1 if cuDNN does not say. */
int64_t build_get(const Build *b, cudnnBackendDescriptor_t d, cudnnBackendAttributeName_t name,
                  cudnnBackendAttributeType_t type, int64_t capacity, void *values);
void build_execute(Build *b, cudnnBackendDescriptor_t plan, cudnnBackendDescriptor_t pack);

/* The operation graph of C, checked first. */
cudnnBackendDescriptor_t build_convolution(Build *b, const UnetConvolution *c);

/* A filter gradient of operands of 16 bits leaves as f32: cuDNN needs an operation behind it for that. */
bool convolution_widens(const UnetConvolution *c);
/* Whether the graph has a tensor that it adds to, beside its result. */
bool convolution_has_sum(const UnetConvolution *c);

#endif
