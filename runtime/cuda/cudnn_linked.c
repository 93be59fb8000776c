/* cudnn_linked.c - the cuDNN that a program is linked to. */
#include "convolution.h"

const UnetCudnn unet_cudnn_linked = {
    .version = cudnnGetVersion,
    .status_text = cudnnGetErrorString,
    .last_error = cudnnGetLastErrorString,
    .create = cudnnBackendCreateDescriptor,
    .destroy = cudnnBackendDestroyDescriptor,
    .set = cudnnBackendSetAttribute,
    .get = cudnnBackendGetAttribute,
    .finalize = cudnnBackendFinalize,
    .execute = cudnnBackendExecute,
};
