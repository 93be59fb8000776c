/* volume_write.c - writes NIfTI-1 files, packed by gzip where their names say so.
 *
 * A file has one channel behind the other.  If all channels come a piece at a time, the channels behind the
 * first wait in a file that has no name any more, so that it goes with the process, whatever ends it.
 */
#include "unet/atomic_file.h"
#include "unet/volume.h"

#include <errno.h>
#include <math.h>
#include <nifti1.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>
#include <zlib.h>

enum { CHUNK = 1 << 15, GZIP_WINDOW = 15 + 16, VOXELS_BEGIN = 352 };

struct UnetVolumeWriter {
    UnetAtomicFile file;
    bool packed;
    z_stream stream;
    int32_t classes, channels;
    int64_t voxels;   /* of a channel */
    int spool;        /* where those behind the first wait; -1: none does */
    int64_t *waiting; /*   how many of each, or NULL */
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

static void free_writer(UnetVolumeWriter *writer) {
    if (writer->packed) {
        (void)deflateEnd(&writer->stream);
    }
    if (writer->spool >= 0) {
        (void)close(writer->spool);
    }
    free(writer->waiting);
    free(writer);
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
    created->channels = channels;
    created->voxels = (int64_t)like->size[0] * like->size[1] * like->size[2];
    created->spool = -1;
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

/* ---- channels that wait ----------------------------------------------------------------------- */

static UnetStatus open_spool(UnetVolumeWriter *writer, UnetError *error) {
    char name[UNET_PATH_BYTES];
    const int length = snprintf(name, sizeof name, "%s.XXXXXX", writer->file.path);
    writer->waiting = calloc((size_t)writer->channels, sizeof *writer->waiting);
    if (writer->waiting == NULL) {
        return unet_fail(error, UNET_TOO_SMALL, "%s: out of memory", writer->file.path);
    }
    writer->spool = length > 0 && (size_t)length < sizeof name ? mkstemp(name) : -1;
    if (writer->spool < 0) {
        return unet_fail(error, UNET_IO, "%s: cannot write beside it: %s", writer->file.path,
                         strerror(errno));
    }
    (void)unlink(name);
    return UNET_OK;
}

static off_t place_of(const UnetVolumeWriter *writer, int32_t channel, int64_t voxel) {
    return (off_t)(((channel - 1) * writer->voxels + voxel) * (int64_t)sizeof(float));
}

UnetStatus unet_volume_write_channel(UnetVolumeWriter *writer, int32_t channel, const float *voxel,
                                     size_t count, UnetError *error) {
    UnetStatus status = channel > 0 && writer->spool < 0 ? open_spool(writer, error) : UNET_OK;
    if (channel == 0) {
        return unet_volume_write(writer, voxel, count, error);
    }
    while (count > 0 && status == UNET_OK) {
        const ssize_t bytes = pwrite(writer->spool, voxel, count * sizeof *voxel,
                                     place_of(writer, channel, writer->waiting[channel]));
        const size_t done = bytes > 0 ? (size_t)bytes / sizeof *voxel : 0;
        if (done == 0 && (bytes >= 0 || errno != EINTR)) {
            status = unet_fail(error, UNET_IO, "%s: cannot write beside it: %s", writer->file.path,
                               bytes < 0 ? strerror(errno) : "no space");
        }
        writer->waiting[channel] += (int64_t)done;
        voxel += done;
        count -= done;
    }
    return status;
}

/* Writes the waiting part of CHANNEL behind the part that was written. */
static UnetStatus write_waiting(UnetVolumeWriter *writer, int32_t channel, UnetError *error) {
    uint8_t piece[1 << 12];
    const off_t end = place_of(writer, channel, writer->waiting[channel]);
    UnetStatus status = UNET_OK;
    for (off_t at = place_of(writer, channel, 0); at < end && status == UNET_OK;) {
        const size_t left = (size_t)(end - at), part = left < sizeof piece ? left : sizeof piece;
        const ssize_t got = pread(writer->spool, piece, part, at);
        if (got <= 0 && (got == 0 || errno != EINTR)) {
            return unet_fail(error, UNET_IO, "%s: what was written beside it cannot be read back",
                             writer->file.path);
        }
        status = got > 0 ? put(writer, piece, (size_t)got, error) : UNET_OK;
        at += got > 0 ? got : 0;
    }
    return status;
}

/* ---- the end ---------------------------------------------------------------------------------- */

UnetStatus unet_volume_finish(UnetVolumeWriter *writer, UnetError *error) {
    UnetStatus status = UNET_OK;
    for (int32_t c = 1; writer->waiting != NULL && c < writer->channels && status == UNET_OK; c++) {
        status = write_waiting(writer, c, error);
    }
    if (status == UNET_OK) {
        status = flush(writer, true, error);
    }
    if (status != UNET_OK) {
        unet_volume_discard(writer);
        return status;
    }
    status = unet_atomic_commit(&writer->file, error);
    free_writer(writer);
    return status;
}

void unet_volume_discard(UnetVolumeWriter *writer) {
    if (writer != NULL) {
        unet_atomic_abandon(&writer->file);
        free_writer(writer);
    }
}
