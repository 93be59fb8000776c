/* convolution.h - a node of the convolution family as cuDNN computes it: how its filters are packed,
 * and one UnetConvolution for each segment of its input. */
#ifndef CUDA_CONVOLUTION_H
#define CUDA_CONVOLUTION_H

#include "ir/plan.h"
#include "unet/cudnn.h"

/* The part of dense weights [K][C][taps] that one segment uses: KN filters from K0 on, CN channels from C0
 * on, packed as [KP][taps][CP] from element OFFSET on. */
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

/* The parts of the packed output of a filter gradient, in bytes: the gradients of filters, partial sums for
 * the bias; its scratch in a loop over bands of rows is these and, behind them, cuDNN's workspace.
 */
typedef struct {
    int64_t bands_at, workspace_at, bytes;
} CudaScratch;

/* How a loop over bands of rows has cuDNN compute a band: in parts of so many `rows` of the result, or of
 * positions of the window; 0: there is no such loop.  In a part the two grids that the window joins have so
 * many rows, and lie in workspace from these bytes on; see templates/cuda/rows.cuh. */
typedef struct {
    int64_t rows, dense, sampled, dense_at, sampled_at;
} CudaParts;

/* The choices for a node (Node.chosen); a node that packs filters has the filters alone. */
typedef struct {
    CudaFilters filters;
    int count; /* convolutions, one for each segment */
    UnetConvolution *convolution;
    CudaParts parts;
    CudaScratch scratch; /* of a filter gradient */
} CudaChosen;

/* Fills CHOSEN->convolution, engines included, for one micro-batch, and CHOSEN->parts.  If cuDNN has no
 * engine, the program is refused (Program.refusal). */
void cuda_convolutions(Program *program, const Node *node, CudaChosen *chosen);

/* The engine of each, its workspace, and whether it adds the bias, too (JSON); NULL: NODE has none. */
const char *cuda_engines_json(Pool *pool, const Node *node);

/* The bytes that the greediest of them asks for, at least one piece. */
int64_t cuda_workspace(const CudaChosen *chosen);

/* Lets the windows of parts lie behind BYTES bytes; returns the bytes of all. */
int64_t cuda_place_parts(const Program *program, const Node *node, CudaChosen *chosen, int64_t bytes);

/* In how many bands of points, of the image or of a part of it, the gradient of a bias is summed. */
int64_t cuda_bias_bands(const Program *program, const Node *node, const CudaChosen *chosen);

/* Its packed output; SUMS: for the bias, too. */
CudaScratch cuda_wgrad_packed(const Program *program, const Node *node, const CudaChosen *chosen,
                              bool sums);

/* In a loop over bands of rows; the windows of parts included. */
CudaScratch cuda_wgrad_scratch(const Program *program, const Node *node, CudaChosen *chosen);

#endif
