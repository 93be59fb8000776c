/* timer.h - how long the device takes for a convolution by an engine.
 *
 * Operands are random numbers: a device computes zeros faster.
 */
#ifndef UNET_CUDA_TIMER_H
#define UNET_CUDA_TIMER_H

#include <cuda_runtime_api.h>

#include "convolution.h"

typedef struct {
    const UnetCudnnTarget *target; /* when it runs: with a handle, */
    cudaStream_t stream;           /*   which works in this stream */
    char *memory; /* of the device, BYTES of it: the operands of one convolution, workspace */
    int64_t bytes;
    int32_t repeats; /* launches between two events, at most */
    cudaEvent_t begin, end;
} UnetCudaTimer;

/* Bytes of all operands of C, each where the timer puts it; its workspace comes behind them. */
int64_t unet_cuda_operand_bytes(const UnetConvolution *c);

/* Fills the first OPERANDS bytes of the memory with numbers of TYPE, and makes the events.
 * The caller sets all other members before, and closes the timer even after a failure. */
UNET_MUST_USE UnetStatus unet_cuda_timer_open(UnetCudaTimer *timer, UnetType type, int64_t operands,
                                              UnetError *error);
void unet_cuda_timer_close(UnetCudaTimer *timer);

/* Queues what is timed, OF, in the timer's stream, once. */
typedef UnetStatus UnetCudaLaunch(const UnetCudaTimer *timer, const void *of, UnetError *error);

/* The median of five rounds. */
UNET_MUST_USE UnetStatus unet_cuda_timer_launches(const UnetCudaTimer *timer, UnetCudaLaunch *launch,
                                                  const void *of, double *seconds, UnetError *error);

/* Of C by PLAN; C and the workspace of PLAN fit into the memory. */
UNET_MUST_USE UnetStatus unet_cuda_timer_run(const UnetCudaTimer *timer, const UnetConvolution *c,
                                             const UnetCudnnPlan *plan, double *seconds, UnetError *error);

#endif
