/* dataset_cache.c - the files of a small training set, decoded once and kept as bytes.
 *
 * Inflating a picture takes far longer than cutting a window out of it, and small sets fit in a few MiB.
 * A sample is the same whether its files are kept or not. */
#include "dataset_parts.h"
#include "size_math.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

bool dataset_cache_plan(UnetDataset *dataset) {
    FileCache *cache = &dataset->cache;
    if (dataset->purpose != UNET_TRAINING || dataset->volumes) {
        return true;
    }
    while (cache->nsample < dataset->nsample &&
           dataset->sample[cache->nsample].file_bytes <= CACHE_BYTES - cache->bytes) {
        cache->bytes += dataset->sample[cache->nsample++].file_bytes;
    }
    cache->file = calloc((size_t)cache->nsample * (size_t)dataset->nseries + 1, sizeof *cache->file);
    return cache->file != NULL;
}

void dataset_cache_free(UnetDataset *dataset) {
    FileCache *cache = &dataset->cache;
    for (int32_t i = 0; cache->file != NULL && i < cache->nsample * dataset->nseries; i++) {
        free(cache->file[i].rows);
    }
    free(cache->file);
}

size_t unet_dataset_cache_bytes(const UnetDataset *dataset) {
    return dataset->cache.bytes;
}

static UnetStatus decode(UnetImageReader *reader, CachedFile *file, UnetError *error) {
    size_t bytes;
    int32_t height = unet_image_info(reader).height;
    file->format = unet_image_format(reader);
    size_t row = unet_row_bytes(&file->format);
    file->rows = checked_mul(row, (size_t)height, &bytes) ? malloc(bytes) : NULL;
    if (file->rows == NULL) {
        return unet_fail(error, UNET_TOO_SMALL, "not enough memory to keep a decoded file");
    }
    for (int32_t y = 0; y < height; y++) {
        UnetStatus status = unet_image_decode_row(reader, error);
        if (status != UNET_OK) {
            return status;
        }
        memcpy(file->rows + (size_t)y * row, unet_image_bytes(reader), row);
    }
    return UNET_OK;
}

/* The caller alone is filling FILE. */
static UnetStatus fill(const UnetDataset *dataset, const Sample *sample, int32_t series, CachedFile *file,
                       UnetImageMemory *memory, UnetError *error) {
    UnetImageReader *reader;
    UnetStatus status = dataset_open_file(dataset, sample, series, memory, &reader, error);
    if (status == UNET_OK) {
        status = decode(reader, file, error);
        unet_image_close(reader);
    }
    if (status != UNET_OK) {
        free(file->rows);
        file->rows = NULL;
    }
    return status;
}

UnetStatus dataset_cache_get(const UnetDataset *dataset, const Sample *sample, int32_t series,
                             UnetImageMemory *memory, const CachedFile **found, UnetError *error) {
    ptrdiff_t number = sample - dataset->sample;
    *found = NULL;
    if (number >= dataset->cache.nsample) {
        return UNET_OK;
    }
    CachedFile *file = &dataset->cache.file[number * dataset->nseries + series];
    int state = CACHE_EMPTY;
    if (atomic_compare_exchange_strong(&file->state, &state, CACHE_FILLING)) {
        UnetStatus status = fill(dataset, sample, series, file, memory, error);
        state = status == UNET_OK ? CACHE_READY : CACHE_EMPTY;
        atomic_store(&file->state, state);
        if (status != UNET_OK) {
            return status;
        }
    }
    if (state == CACHE_READY) {
        *found = file;
    }
    return UNET_OK;
}
