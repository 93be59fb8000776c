/* safetensors.c - fuzzes the reading of weights under other names: the first byte is the length of a map of
 * names (0: none), which follows; the rest is the file. */
#include "target.h"

#include <stdlib.h>

#include "unet/safetensors.h"

enum { MOST_VALUES = 1 << 20 };

static UnetStatus rename_tensors(UnetSafetensors *file, const uint8_t *map, size_t length) {
    UnetError error;
    return unet_safetensors_rename(file, as_file(FUZZ_SECOND, map, length), &error);
}

static void read_tensors(const UnetSafetensors *file) {
    UnetError error;
    for (int32_t i = 0; i < unet_safetensors_count(file); i++) {
        const UnetTensorInfo *tensor = unet_safetensors_tensor(file, i);
        if (tensor->count > MOST_VALUES)
            continue;
        double *values = malloc(((size_t)tensor->count + 1) * sizeof *values);
        if (values == NULL || unet_safetensors_find(file, tensor->name) < 0)
            abort();
        const UnetStatus status =
            unet_safetensors_read(file, i, i % 2 == 0 ? UNET_F64 : UNET_F32, values, &error);
        free(values);
        if (status != UNET_OK)
            return;
    }
}

enum { MOST = 1 << 20 }; /* bytes of a header */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    UnetSafetensors *file;
    UnetError error;
    const size_t map = size == 0 ? 0 : data[0], head = 1 + map;
    if (size < head || unet_safetensors_open(&file, as_file(FUZZ_FIRST, data + head, size - head), MOST,
                                             &error) != UNET_OK)
        return 0;
    if (map == 0 || rename_tensors(file, data + 1, map) == UNET_OK)
        read_tensors(file);
    unet_safetensors_close(file);
    return 0;
}
