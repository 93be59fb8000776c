/* cuda_arrays.h - arrays of a caller in the memory of a GPU, to and from the tensors of a program there.
 *
 * An array is dense: numbers [sample][channels][depth][height][width], or a byte for each point of labels
 * [sample][depth][height][width], as unet/embed.h says.  A tensor has a layout of the program.
 */
#ifndef UNET_CUDA_ARRAYS_H
#define UNET_CUDA_ARRAYS_H

#include "cuda.h"
#include "model.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct {
    UnetLayout layout; /* of the tensor */
    int32_t samples;
    bool labels;     /* the array has bytes, else floats */
    bool chooses;    /* an output: the tensor has scores, and a label is the class with the highest */
    bool normalizes; /* an input: by `normal`, as unet_normalize */
    UnetNormal normal;
} UnetCudaArray;

/* `to_tensor` writes the points of all samples and leaves the halo as it is.  `from_tensor` is its reverse,
 * without the normalisation. */
typedef struct {
    void (*to_tensor)(UnetLaunch at, void *tensor, const void *values, const UnetCudaArray *array);
    void (*from_tensor)(UnetLaunch at, void *values, const void *tensor, const UnetCudaArray *array);
} UnetCudaArrays;

/* In the kernels of a shared library (templates/cuda/arrays.cuh). */
void unet_array_to_tensor(UnetLaunch at, void *tensor, const void *values, const UnetCudaArray *array);
void unet_array_from_tensor(UnetLaunch at, void *values, const void *tensor, const UnetCudaArray *array);

#ifdef __cplusplus
}
#endif

#endif
