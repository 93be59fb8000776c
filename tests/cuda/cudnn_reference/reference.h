/* reference.h - a stand-in for libcudnn, as far as runtime/cuda/convolution.c calls it, for machines
 * without a device: programs and tests are linked to it instead.
 *
 *     descriptors.c   the functions of the backend API: descriptors and the attributes they may have
 *     rules.c         which attributes there are; whether a finalised descriptor makes sense
 *     engines.c       engines with notes, knobs and workspaces, such that every choice can go wrong
 *     run.c           plans on a stream: the graph interpreted with plain loops
 *
 * It is strict: an attribute of the wrong type or count, a descriptor that is not finalised, a pointer that
 * is missing or not aligned is refused with a sentence for cudnnGetLastErrorString. Work is handed to
 * cudaLaunchHostFunc, so that a stand-in for CUDA's runtime can order or capture it, and done at once if
 * there is none; it overwrites the workspace with NaNs before and after.
 *
 * Environment variables change how it behaves:
 *
 *     UNET_CUDNN_REFERENCE_VERSION=N   what cudnnGetVersion says, and with it the numbers of all engines
 *     UNET_CUDNN_REFERENCE_REFUSES=N   engine N computes nothing
 *     UNET_CUDNN_REFERENCE_FAST=N      engine N takes 10 microseconds, others two milliseconds, of the
 *                                      time that UNET_SHIM_CLOCK=1 has the shim measure
 *     UNET_CUDNN_REFERENCE_ROUNDS=1    each engine rounds otherwise, as real ones do
 *     UNET_CUDNN_REFERENCE_LOG=FILE    a line is added for each plan that runs: the engine, pairs of knob
 *                                      and value; behind a semicolon what of x, w, y is the result, and the
 *                                      sizes of the three
 */
#ifndef CUDNN_REFERENCE_H
#define CUDNN_REFERENCE_H

#include <cudnn_graph.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { MAX_ATTRIBUTES = 16, MAX_OPERATIONS = 4, MAX_DIMENSIONS = 5, MAX_KNOBS = 2, MAX_CONFIGS = 8 };

typedef struct {
    int name;
    cudnnBackendAttributeType_t type;
    int64_t count;
    void *values;
} Attribute;

typedef struct Descriptor {
    cudnnBackendDescriptorType_t type;
    bool finalized;
    _Atomic int references; /* the caller's, and one for each it is part of; threads share some */
    int nattribute;
    Attribute attribute[MAX_ATTRIBUTES];
} Descriptor;

struct cudnnContext {
    cudaStream_t stream;
    struct Launch *launches; /* a captured stream may run them again, as long as there is a handle */
};

/* ---- descriptors.c ---- */

/* Keeps MESSAGE for cudnnGetLastErrorString; returns STATUS. */
cudnnStatus_t refuse(cudnnStatus_t status, const char *message);

Descriptor *descriptor_retain(Descriptor *d);
void descriptor_release(Descriptor *d);

/* Values of an attribute, COUNT of them (may be NULL); NULL if it is not set. */
const void *values_of(const Descriptor *d, int name, int64_t *count);
Descriptor *part_of(const Descriptor *d, int name);
int64_t number_of(const Descriptor *d, int name);
int choice_of(const Descriptor *d, int name); /* of an enumeration */
float factor_of(const Descriptor *d, int name);

/* As if a caller had set it. */
cudnnStatus_t attribute_put(Descriptor *d, int name, cudnnBackendAttributeType_t type, int64_t count,
                            const void *values);

/* ---- rules.c ---- */

size_t attribute_size(cudnnBackendAttributeType_t type);
cudnnStatus_t rules_allow(const Descriptor *d, int name, cudnnBackendAttributeType_t type, int64_t count,
                          const void *values);
cudnnStatus_t rules_finalize(const Descriptor *d);

/* The names that the three convolutions have for the same thing. */
typedef struct {
    int x, w, y, window, alpha, beta;
    int result; /* which of x, w, y is written */
} ConvolutionNames;

/* NULL if D is no convolution. */
const ConvolutionNames *convolution_names(const Descriptor *d);
/* The tensor that an operation writes. */
Descriptor *result_of(const Descriptor *operation);
/* The attributes that it reads. */
int operands_of(const Descriptor *operation, Descriptor *operand[2]);

/* The operations of a graph. */
Descriptor *const *operations_of(const Descriptor *graph, int64_t *count);

/* ---- engines.c ---- */

/* The engine of PLAN, as programs know it. */
int64_t engine_number(const Descriptor *plan);
cudnnStatus_t engine_check(const Descriptor *engine);
cudnnStatus_t config_check(const Descriptor *config);
int64_t config_workspace(const Descriptor *config);
cudnnStatus_t engine_notes(const Descriptor *engine, int name, int64_t capacity, int64_t *count,
                           void *values);
cudnnStatus_t heuristic_results(const Descriptor *heuristic, int64_t capacity, int64_t *count,
                                void *values);

/* ---- run.c ---- */

cudnnStatus_t run_plan(cudnnHandle_t handle, Descriptor *plan, const Descriptor *pack);
void forget_launches(cudnnHandle_t handle);

#endif
