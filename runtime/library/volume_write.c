/* volume_write.c - writes NIfTI-1 files, packed by gzip where their names say so. */
#include "unet/atomic_file.h"
#include "unet/volume.h"

#include <math.h>
#include <nifti1.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <zlib.h>

enum { CHUNK = 1 << 15, GZIP_WINDOW = 15 + 16, VOXELS_BEGIN = 352 };

struct UnetVolumeWriter {
    UnetAtomicFile file;
    bool packed;
    z_stream stream;
    int32_t classes;
    uint8_t plain[CHUNK], out[CHUNK];
    size_t count; /* bytes in `plain` */
};

/* Passes on what there is; LAST: nothing follows. */
static UnetStatus flush(UnetVolumeWriter *writer, bool last, UnetError *error) {
    z_stream *stream = &writer->stream;
    const size_t count = writer->count;
    writer->count = 0;
    if (!writer->packed) {
        return unet_atomic_write(&writer->file, writer->plain, count, error);
    }
    stream->next_in = writer->plain;
    stream->avail_in = (uInt)count;
    int code;
    do {
        stream->next_out = writer->out;
        stream->avail_out = CHUNK;
        code = deflate(stream, last ? Z_FINISH : Z_NO_FLUSH);
        UnetStatus status = unet_atomic_write(&writer->file, writer->out, CHUNK - stream->avail_out, error);
        if (status != UNET_OK) {
            return status;
        }
    } while (stream->avail_out == 0 || (last && code == Z_OK));
    return UNET_OK;
}

static UnetStatus put(UnetVolumeWriter *writer, const void *bytes, size_t count, UnetError *error) {
    UnetStatus status = writer->count + count > CHUNK ? flush(writer, false, error) : UNET_OK;
    memcpy(writer->plain + writer->count, bytes, count);
    writer->count += count;
    return status;
}

/* The header of LIKE, but for what its voxels are. */
static void make_header(nifti_1_header *header, const UnetVolumeInfo *like, int32_t channels,
                        int32_t classes) {
    memcpy(header, like->header, sizeof *header);
    const int16_t type = classes == 0 ? DT_FLOAT32 : classes > 256 ? DT_UINT16 : DT_UINT8;
    header->sizeof_hdr = sizeof *header;
    header->dim[0] = channels > 1 ? 4 : 3;
    for (int i = 0; i < 3; i++) {
        header->dim[1 + i] = (int16_t)like->size[2 - i];
    }
    header->dim[4] = (int16_t)channels;
    header->dim[5] = header->dim[6] = header->dim[7] = 1;
    header->pixdim[4] = 1;
    header->datatype = type;
    header->bitpix = type == DT_FLOAT32 ? 32 : type == DT_UINT16 ? 16 : 8;
    header->intent_code = 0;
    header->vox_offset = VOXELS_BEGIN;
    header->scl_slope = 1;
    header->scl_inter = 0;
    header->cal_max = header->cal_min = 0;
    header->glmax = header->glmin = 0;
    memcpy(header->magic, "n+1", 4);
}

static bool is_packed_name(const char *path) {
    const size_t length = strlen(path);
    return length > 3 && strcasecmp(path + length - 3, ".gz") == 0;
}

UnetStatus unet_volume_create(UnetVolumeWriter **writer, const char *path, const UnetVolumeInfo *like,
                              int32_t channels, int32_t classes, UnetError *error) {
    nifti_1_header header;
    const uint8_t no_extension[VOXELS_BEGIN - UNET_NIFTI_HEADER] = {0};
    *writer = NULL;
    UnetVolumeWriter *created = calloc(1, sizeof *created);
    if (created == NULL) {
        return unet_fail(error, UNET_TOO_SMALL, "%s: out of memory", path);
    }
    created->classes = classes;
    UnetStatus status = unet_atomic_open(&created->file, path, error);
    if (status != UNET_OK) {
        free(created);
        return status;
    }
    created->packed = is_packed_name(path);
    if (created->packed && deflateInit2(&created->stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, GZIP_WINDOW, 8,
                                        Z_DEFAULT_STRATEGY) != Z_OK) {
        created->packed = false;
        unet_volume_discard(created);
        return unet_fail(error, UNET_TOO_SMALL, "%s: out of memory", path);
    }
    make_header(&header, like, channels, classes);
    status = put(created, &header, sizeof header, error);
    if (status == UNET_OK) {
        status = put(created, no_extension, sizeof no_extension, error);
    }
    if (status != UNET_OK) {
        unet_volume_discard(created);
        return status;
    }
    *writer = created;
    return UNET_OK;
}

UnetStatus unet_volume_write(UnetVolumeWriter *writer, const float *voxel, size_t count, UnetError *error) {
    UnetStatus status = UNET_OK;
    for (size_t i = 0; i < count && status == UNET_OK; i++) {
        const uint8_t byte = (uint8_t)voxel[i];
        const uint16_t word = (uint16_t)voxel[i];
        status = writer->classes == 0    ? put(writer, &voxel[i], sizeof voxel[i], error)
                 : writer->classes > 256 ? put(writer, &word, sizeof word, error)
                                         : put(writer, &byte, sizeof byte, error);
    }
    return status;
}

UnetStatus unet_volume_finish(UnetVolumeWriter *writer, UnetError *error) {
    UnetStatus status = flush(writer, true, error);
    if (status != UNET_OK) {
        unet_volume_discard(writer);
        return status;
    }
    status = unet_atomic_commit(&writer->file, error);
    if (writer->packed) {
        (void)deflateEnd(&writer->stream);
    }
    free(writer);
    return status;
}

void unet_volume_discard(UnetVolumeWriter *writer) {
    if (writer != NULL) {
        unet_atomic_abandon(&writer->file);
        if (writer->packed) {
            (void)deflateEnd(&writer->stream);
        }
        free(writer);
    }
}
