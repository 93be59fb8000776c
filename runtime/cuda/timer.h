/* timer.h - how long the device takes for a convolution by an engine.
 *
 * Launches are captured as a graph, as they are in a step, so that the time is the device's: queued one by
 * one, small convolutions would take as long as the host needs to queue them.  Consecutive launches use
 * operands at other places of the memory, as far as it has room, so that operands come from the device's
 * memory and not from its second-level cache, as in a step.  Operands are random numbers: a device computes
 * zeros faster.
 */
#ifndef UNET_CUDA_TIMER_H
#define UNET_CUDA_TIMER_H

#include <cuda_runtime_api.h>

#include "convolution.h"

typedef struct {
    const UnetCudnnTarget *target; /* when it runs: with a handle, */
    cudaStream_t stream;           /*   which works in this stream */
    char *memory; /* of the device, BYTES of it: the operands of some convolutions, workspace */
    int64_t bytes;
    int32_t repeats; /* launches between two events, at most */
    int64_t cache;   /* bytes of the second-level cache */
    cudaEvent_t begin, end;
} UnetCudaTimer;

/* Bytes of all operands of C, each where the timer puts it; its workspace comes behind them. */
int64_t unet_cuda_operand_bytes(const UnetConvolution *c);

/* Fills the memory with numbers of TYPE, and makes the events.  The caller sets TARGET, STREAM, MEMORY,
 * BYTES and REPEATS before, and closes the timer even after a failure. */
UNET_MUST_USE UnetStatus unet_cuda_timer_open(UnetCudaTimer *timer, UnetType type, UnetError *error);
void unet_cuda_timer_close(UnetCudaTimer *timer);

/* Queues OF, which is timed, in the timer's stream, once, with its operands and its workspace from MEMORY
 * on. */
typedef UnetStatus UnetCudaLaunch(const UnetCudaTimer *timer, const void *of, char *memory,
                                  UnetError *error);

/* The median of five rounds; a launch uses BYTES, at most as many as the timer has. */
UNET_MUST_USE UnetStatus unet_cuda_timer_launches(const UnetCudaTimer *timer, UnetCudaLaunch *launch,
                                                  const void *of, int64_t bytes, double *seconds,
                                                  UnetError *error);

/* The time of C by PLAN; C and the workspace of PLAN fit into the memory. */
UNET_MUST_USE UnetStatus unet_cuda_timer_run(const UnetCudaTimer *timer, const UnetConvolution *c,
                                             const UnetCudnnPlan *plan, double *seconds, UnetError *error);

#endif
