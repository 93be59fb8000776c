/* convolution_graph.h - descriptors of cuDNN, and a convolution as a graph of them; private to this folder.
 */
#ifndef UNET_CUDA_CONVOLUTION_GRAPH_H
#define UNET_CUDA_CONVOLUTION_GRAPH_H

#include "convolution.h"

/* The names of the tensors of a graph when pointers are bound to them. */
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

/* ---- what a graph of a convolution and of what follows it is made of ---- */

enum { BUILD_AXES = 5, BUILD_OPERATIONS = 4 };

/* Sizes and strides, as (n, c, d, h, w). */
typedef struct {
    int32_t axes;
    int64_t size[BUILD_AXES], stride[BUILD_AXES];
} Extent;

typedef struct {
    int32_t count;
    cudnnBackendDescriptor_t item[BUILD_OPERATIONS];
} Operations;

/* Packed as (n, d, h, w, channel), with as many axes as C has. */
Extent build_packed(const UnetConvolution *c, int64_t n, const int64_t size[3], int64_t channels);
/* The extents of the result of C and its operands a and b, packed. */
void build_extents(const UnetConvolution *c, Extent extent[3]);
cudnnBackendDescriptor_t build_tensor(Build *b, int64_t uid, UnetType type, const Extent *e,
                                      bool is_virtual);
/* The bare convolution; its operands are UID_A and UID_B. */
cudnnBackendDescriptor_t build_convolve(Build *b, const UnetConvolution *c, cudnnBackendDescriptor_t result,
                                        float beta);
/* How a pointwise operation computes: in f32. */
cudnnBackendDescriptor_t build_mode(Build *b, cudnnPointwiseMode_t mode);
/* result = mode(x), or mode(x, other). */
cudnnBackendDescriptor_t build_pointwise(Build *b, cudnnPointwiseMode_t mode, cudnnBackendDescriptor_t x,
                                         cudnnBackendDescriptor_t other, cudnnBackendDescriptor_t result);
cudnnBackendDescriptor_t build_graph(Build *b, const Operations *list);

/* ---- the graph of a convolution, and engines for a graph ---- */

/* The operation graph of C, checked first. */
cudnnBackendDescriptor_t build_convolution(Build *b, const UnetConvolution *c);

/* A filter gradient of operands of 16 bits leaves as f32: cuDNN needs an operation behind it for that. */
bool convolution_widens(const UnetConvolution *c);
/* Whether the graph has a tensor that it adds to, beside its result. */
bool convolution_has_sum(const UnetConvolution *c);

/* The engines for GRAPH that compute as C asks, in cuDNN's order; returns how many. */
int32_t build_candidates(Build *b, cudnnBackendDescriptor_t graph, const UnetConvolution *c,
                         UnetCudnnCandidate list[UNET_CUDNN_CANDIDATES]);
/* The plan of PIN, whose workspace is set to what the plan needs; NULL, and nothing built, where cuDNN does
 * not accept it, or it computes otherwise than C asks. */
cudnnBackendDescriptor_t build_plan(Build *b, cudnnBackendDescriptor_t graph, const UnetConvolution *c,
                                    UnetEngine *pin);

enum { BUILD_POINTERS = 6 };

/* The pointers that are bound to the tensors of a graph. */
typedef struct {
    int64_t count, uid[BUILD_POINTERS];
    const void *pointer[BUILD_POINTERS];
} Bindings;

/* Launches PLAN on the stream of the target's handle. */
UnetStatus build_launch(const UnetCudnnTarget *target, cudnnBackendDescriptor_t plan, const Bindings *bound,
                        void *workspace, UnetError *error);

#endif
