/* cuda_convolution.h - a node of the convolution family as cuDNN computes it: how its filters are packed,
 * and one UnetConvolution for each segment of its input. */
#ifndef CUDA_CONVOLUTION_H
#define CUDA_CONVOLUTION_H

#include "plan.h"
#include "unet/cudnn.h"

/* What of dense weights [K][C][taps] one segment uses: KN filters from K0 on, CN channels from C0 on,
 * packed as [KP][taps][CP] from element OFFSET on. */
typedef struct {
    int64_t k0, kn, kp, c0, cn, cp, offset;
} CudaFilter;

typedef struct {
    int64_t k, c, taps; /* dense */
    int nsegment;
    CudaFilter *segment;
    int64_t elements; /* of all segments, packed */
} CudaFilters;

/* Channels as stored: whole pieces of 16 bytes. */
int64_t cuda_channels(int64_t channels, Type type);

CudaFilters cuda_filters(const Graph *g, const Node *node, Type stored);

/* One for each segment, engines chosen; BATCH samples at a time. */
UnetConvolution *cuda_convolutions(const Graph *g, const Node *node, int64_t batch,
                                   const PlanOptions *options, int *count);

/* How the scratch of a filter gradient is divided, in bytes: packed gradients, partial sums of the bias's
 * gradient, cuDNN's workspace. */
typedef struct {
    int64_t bands, bands_at, workspace_at, bytes;
} CudaScratch;

CudaScratch cuda_wgrad_scratch(const Graph *g, const Node *node, int64_t batch, const PlanOptions *options);

#endif
