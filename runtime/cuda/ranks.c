/* ranks.c - what processes that train together have summed, on its way through the memory of the host.
 *
 * Who sums the gradients of all processes knows nothing of devices (UnetTeam).  So they come to pinned
 * memory, are summed there, and go back; the device waits meanwhile.
 */
#include "state.h"

static UnetStatus sum_on_host(UnetCuda *cuda, cudaStream_t stream, float *sums, int64_t count) {
    const size_t bytes = (size_t)count * sizeof *sums;
    const size_t room = bytes + (size_t)cuda->model->training->ranks * sizeof *sums;
    UnetError *error = &cuda->error;
    UnetStatus status = UNET_OK;
    if (cuda->exchanged == NULL)
        status =
            unet_cuda_checked(cudaMallocHost((void **)&cuda->exchanged, bytes + room),
                              "taking memory of the host for gradients that other ranks are sent", error);
    if (status == UNET_OK)
        status =
            unet_cuda_checked(cudaMemcpyAsync(cuda->exchanged, sums, bytes, cudaMemcpyDeviceToHost, stream),
                              "copying gradients from the GPU", error);
    if (status == UNET_OK)
        status = unet_cuda_checked(cudaStreamSynchronize(stream), "waiting for gradients", error);
    if (status != UNET_OK)
        return status;
    cuda->team->sum(cuda->team, cuda->exchanged, cuda->exchanged + bytes, count, true);
    return unet_cuda_checked(cudaMemcpyAsync(sums, cuda->exchanged, bytes, cudaMemcpyHostToDevice, stream),
                             "copying gradients to the GPU", error);
}

void unet_cuda_sum_ranks(UnetLaunch at, float *sums, int64_t count) {
    if (at.cuda->team != NULL && at.cuda->status == UNET_OK)
        at.cuda->status = sum_on_host(at.cuda, at.stream, sums, count);
}

void unet_cuda_free_ranks(UnetCuda *cuda) {
    if (cuda->exchanged != NULL)
        (void)cudaFreeHost(cuda->exchanged);
}
