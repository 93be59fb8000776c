/* arrays.cuh - arrays of a caller in the memory of the device, to and from the tensors of a program, as
 * unet/cuda_arrays.h says.  A shared library has these kernels: it serves Python. */
#include "prologue.cuh"

/* BEGIN */
#include <unet/cuda_arrays.h>

/* A point of a sample and one of its channels. */
struct ArrayPlace {
    int n, c, d, h, w;
};

/* The place of element i of an array of so many CHANNELS. */
DEVICE ArrayPlace array_place(const UnetLayout &layout, int channels, long i) {
    ArrayPlace at;
    at.w = (int)(i % layout.size[2]);
    i /= layout.size[2];
    at.h = (int)(i % layout.size[1]);
    i /= layout.size[1];
    at.d = (int)(i % layout.size[0]);
    i /= layout.size[0];
    at.c = (int)(i % channels);
    at.n = (int)(i / channels);
    return at;
}

/* The element of the tensor. */
DEVICE long array_element(const UnetLayout &layout, ArrayPlace at) {
    const long row = layout.ring > 0 ? at.h % layout.ring : at.h;
    return layout.origin + at.n * layout.sample + at.c / layout.block * layout.plane + at.d * layout.depth +
           row * layout.row + at.w * (long)layout.block + at.c % layout.block;
}

/* The nearest n of n / most; a NaN is 0. */
DEVICE unsigned array_unorm(float value, float most) {
    const float scaled = most * value;
    return scaled >= most ? (unsigned)most : scaled > 0 ? (unsigned)lroundf(scaled) : 0;
}

DEVICE void array_store(UnetType type, void *tensor, long at, float value) {
    if (type == UNET_F32)
        static_cast<float *>(tensor)[at] = value;
    else if (type == UNET_U8)
        static_cast<uint8_t *>(tensor)[at] = (uint8_t)value;
    else if (type == UNET_UNORM8)
        static_cast<uint8_t *>(tensor)[at] = (uint8_t)array_unorm(value, 255);
    else if (type == UNET_UNORM16)
        static_cast<uint16_t *>(tensor)[at] = (uint16_t)array_unorm(value, 65535);
}

DEVICE float array_load(UnetType type, const void *tensor, long at) {
    return type == UNET_BF16  ? __bfloat162float(static_cast<const __nv_bfloat16 *>(tensor)[at])
           : type == UNET_F16 ? __half2float(static_cast<const __half *>(tensor)[at])
           : type == UNET_U8  ? (float)static_cast<const uint8_t *>(tensor)[at]
                              : static_cast<const float *>(tensor)[at];
}

DEVICE float array_normalized(const UnetNormal &normal, int c, float value) {
    if (normal.clips)
        value = value < (float)normal.low[c]    ? (float)normal.low[c]
                : value > (float)normal.high[c] ? (float)normal.high[c]
                                                : value;
    return (value - (float)normal.mean[c]) / (float)normal.deviation[c];
}

/* The elements of one channel, or of all. */
static inline long array_elements(const UnetCudaArray *array, int channels) {
    const UnetLayout *layout = &array->layout;
    return (long)array->samples * channels * layout->size[0] * layout->size[1] * layout->size[2];
}

DEVICE long array_index() {
    return blockIdx.x * (long)THREADS + threadIdx.x;
}

static __global__ void unet_array_to(UnetCudaArray array, long count, void *__restrict__ tensor,
                                     const void *__restrict__ values) {
    const long i = array_index();
    if (i >= count)
        return;
    const ArrayPlace at = array_place(array.layout, array.labels ? 1 : array.layout.channels, i);
    float value = array.labels ? (float)static_cast<const uint8_t *>(values)[i]
                               : static_cast<const float *>(values)[i];
    if (array.normalizes)
        value = array_normalized(array.normal, at.c, value);
    array_store(array.layout.type, tensor, array_element(array.layout, at), value);
}

/* The class with the highest score, or, of one score, whether it is above 0.5, as unet_class_of. */
DEVICE int array_class(const UnetLayout &layout, const void *tensor, ArrayPlace at) {
    float best = array_load(layout.type, tensor, array_element(layout, at));
    int chosen = 0;
    if (layout.channels == 1)
        return best > 0.5f;
    for (int c = 1; c < layout.channels && best == best; c++) {
        at.c = c;
        const float value = array_load(layout.type, tensor, array_element(layout, at));
        if (!(value <= best)) {
            best = value;
            chosen = c;
        }
    }
    return chosen;
}

static __global__ void unet_array_from(UnetCudaArray array, long count, void *__restrict__ values,
                                       const void *__restrict__ tensor) {
    const long i = array_index();
    if (i >= count)
        return;
    const ArrayPlace at = array_place(array.layout, array.labels ? 1 : array.layout.channels, i);
    const float value = array.chooses
                            ? (float)array_class(array.layout, tensor, at)
                            : array_load(array.layout.type, tensor, array_element(array.layout, at));
    if (array.labels)
        static_cast<uint8_t *>(values)[i] = (uint8_t)value;
    else
        static_cast<float *>(values)[i] = value;
}

static inline unsigned array_blocks(long count) {
    return (unsigned)((count + THREADS - 1) / THREADS);
}

LAUNCHER void unet_array_to_tensor(UnetLaunch at, void *tensor, const void *values,
                                   const UnetCudaArray *array) {
    const long count = array_elements(array, array->labels ? 1 : array->layout.channels);
    if (count > 0)
        LAUNCH(at, unet_array_to, array_blocks(count), *array, count, tensor, values);
}

LAUNCHER void unet_array_from_tensor(UnetLaunch at, void *values, const void *tensor,
                                     const UnetCudaArray *array) {
    const long count = array_elements(array, array->labels ? 1 : array->layout.channels);
    if (count > 0)
        LAUNCH(at, unet_array_from, array_blocks(count), *array, count, values, tensor);
}
/* END */
