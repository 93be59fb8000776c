/* volume_nifti.c - reads NIfTI-1 files.
 *
 * What a header means is the library's business (byte order, orientation by quaternion or matrix); whether
 * it can be true is ours: sizes, types and offsets are held against the length of the file before anything
 * is read by them.  zlib reads plain and packed files alike, so voxels are decoded slice by slice, in the
 * memory of one.
 */
#include "size_math.h"
#include "volume_format.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <nifti1_io.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

enum { HEADER_BYTES = 352, DEFLATE_RATIO = 1032, BUFFER = 1 << 17, NIFTI2_HEADER = 540 };
#define MOST_VOXELS ((int64_t)1 << 31)

_Static_assert(sizeof(nifti_1_header) == UNET_NIFTI_HEADER, "the header as it lies in files");

typedef struct {
    int16_t code, bits;
    UnetVoxel held; /* where its numbers are not scaled */
    int swap;       /* bytes of a number */
} Stored;

static const Stored stored_types[] = {
    {DT_UINT8, 8, UNET_VOXEL_U8, 1},     {DT_INT8, 8, UNET_VOXEL_I8, 1},
    {DT_UINT16, 16, UNET_VOXEL_U16, 2},  {DT_INT16, 16, UNET_VOXEL_I16, 2},
    {DT_UINT32, 32, UNET_VOXEL_F32, 4},  {DT_INT32, 32, UNET_VOXEL_F32, 4},
    {DT_UINT64, 64, UNET_VOXEL_F32, 8},  {DT_INT64, 64, UNET_VOXEL_F32, 8},
    {DT_FLOAT32, 32, UNET_VOXEL_F32, 4}, {DT_FLOAT64, 64, UNET_VOXEL_F32, 8},
};
enum { STORED_TYPES = sizeof stored_types / sizeof *stored_types };

typedef struct {
    char *path;
    gzFile file;
    int64_t file_bytes;
    bool packed, swapped, scaled;
    const Stored *stored;
    double slope, intercept;
    int64_t offset; /* of the voxels */
    UnetVolumeInfo info;
    int32_t next;
    void *slice; /* as it lies in the file */
} NiftiReader;

static UnetStatus fail(const NiftiReader *reader, UnetError *error, const char *why) {
    return unet_fail(error, UNET_IO, "%s: %s", reader->path, why);
}

/* ---- the header ------------------------------------------------------------------------------- */

/* Returns the message of zlib without its name for the file, <fd:3>. */
static const char *reason(const char *message) {
    const char *end = strstr(message, ">: ");
    return end != NULL ? end + 3 : message;
}

/* COUNT bytes, or why not. */
static UnetStatus read_bytes(NiftiReader *reader, void *bytes, size_t count, const char *what,
                             UnetError *error) {
    size_t done = 0;
    while (done < count) {
        const unsigned part = count - done < (1U << 30) ? (unsigned)(count - done) : 1U << 30;
        const int got = gzread(reader->file, (char *)bytes + done, part);
        if (got <= 0) {
            int code = Z_OK;
            const char *why = gzerror(reader->file, &code);
            if (code == Z_OK || code == Z_BUF_ERROR || code == Z_STREAM_END) {
                return unet_fail(error, UNET_IO, "%s: cut short in %s", reader->path, what);
            }
            return unet_fail(error, UNET_IO, "%s: damaged in %s (%s)", reader->path, what,
                             code == Z_ERRNO ? strerror(errno) : reason(why));
        }
        done += (size_t)got;
    }
    return UNET_OK;
}

/* Brings the header into this machine's order of bytes. */
static UnetStatus sort_bytes(NiftiReader *reader, nifti_1_header *header, UnetError *error) {
    int32_t other = header->sizeof_hdr;
    nifti_swap_4bytes(1, &other);
    if (header->sizeof_hdr == NIFTI2_HEADER || other == NIFTI2_HEADER) {
        return fail(reader, error, "a NIfTI-2 file: only NIfTI-1 is read");
    }
    if (memcmp(header->magic, "ni1", 4) == 0) {
        return fail(reader, error,
                    "the header of a pair of files, .hdr and .img: only single files are read, .nii or "
                    ".nii.gz");
    }
    if (memcmp(header->magic, "n+1", 4) != 0 ||
        (header->sizeof_hdr != UNET_NIFTI_HEADER && other != UNET_NIFTI_HEADER)) {
        return fail(reader, error, "no NIfTI-1 file");
    }
    reader->swapped = header->sizeof_hdr != UNET_NIFTI_HEADER;
    if (reader->swapped) {
        swap_nifti_header(header, 1);
    }
    return UNET_OK;
}

static UnetStatus read_sizes(NiftiReader *reader, const nifti_1_header *header, UnetError *error) {
    int64_t voxels = 1;
    if (header->dim[0] < 1 || header->dim[0] > 7) {
        return unet_fail(error, UNET_IO, "%s: its header says %d axes; 1 to 7 are possible", reader->path,
                         header->dim[0]);
    }
    for (int i = 1; i <= header->dim[0]; i++) {
        if (header->dim[i] < 1) {
            return unet_fail(error, UNET_IO, "%s: its header says %d voxels along axis %d", reader->path,
                             header->dim[i], i);
        }
        if (i > 3 && header->dim[i] > 1) {
            return unet_fail(error, UNET_IO,
                             "%s: holds %d volumes, and one is read: write each channel to a file of its "
                             "own",
                             reader->path, header->dim[i]);
        }
    }
    for (int i = 0; i < 3; i++) {
        reader->info.size[2 - i] = i < header->dim[0] ? header->dim[1 + i] : 1;
        voxels *= reader->info.size[2 - i];
    }
    return voxels <= MOST_VOXELS ? UNET_OK : fail(reader, error, "more than 2^31 voxels");
}

static UnetStatus read_type(NiftiReader *reader, const nifti_1_header *header, UnetError *error) {
    for (int i = 0; i < STORED_TYPES && reader->stored == NULL; i++) {
        if (stored_types[i].code == header->datatype) {
            reader->stored = &stored_types[i];
        }
    }
    if (reader->stored == NULL) {
        return unet_fail(error, UNET_IO,
                         "%s: voxels of type %s (%d) are not read: integers, floats and doubles are",
                         reader->path, nifti_datatype_string(header->datatype), header->datatype);
    }
    if (header->bitpix != reader->stored->bits) {
        return unet_fail(error, UNET_IO, "%s: its header says %d bits a voxel, and %s has %d", reader->path,
                         header->bitpix, nifti_datatype_string(header->datatype), reader->stored->bits);
    }
    const double slope = (double)header->scl_slope, intercept = (double)header->scl_inter;
    const bool has_slope = isfinite(slope) && slope != 0;
    reader->slope = has_slope ? slope : 1;
    reader->intercept = has_slope && isfinite(intercept) ? intercept : 0;
    reader->scaled = reader->slope != 1 || reader->intercept != 0;
    reader->info.type = reader->scaled ? UNET_VOXEL_F32 : reader->stored->held;
    return UNET_OK;
}

/* The voxels must have room in the file, or, packed, may have come from as many bytes. */
static UnetStatus read_place(NiftiReader *reader, const nifti_1_header *header, UnetError *error) {
    const double offset = (double)header->vox_offset;
    const int64_t bytes = (int64_t)reader->info.size[0] * reader->info.size[1] * reader->info.size[2] *
                          (reader->stored->bits / 8);
    if (!(offset >= HEADER_BYTES && offset < 0x1p31 && offset == floor(offset))) {
        return unet_fail(error, UNET_IO, "%s: its header says that voxels begin at byte %g", reader->path,
                         offset);
    }
    reader->offset = (int64_t)offset;
    const int64_t most = reader->packed ? DEFLATE_RATIO * reader->file_bytes : reader->file_bytes;
    if (reader->offset + bytes > most) {
        return unet_fail(error, UNET_IO,
                         "%s: cut short: %lld bytes cannot hold %d x %d x %d voxels of %d bits, as its "
                         "header says",
                         reader->path, (long long)reader->file_bytes, reader->info.size[0],
                         reader->info.size[1], reader->info.size[2], reader->stored->bits);
    }
    return UNET_OK;
}

static double millimetres(int units) {
    return units == NIFTI_UNITS_METER ? 1e3 : units == NIFTI_UNITS_MICRON ? 1e-3 : 1;
}

static UnetStatus read_geometry(NiftiReader *reader, const nifti_1_header *header, UnetError *error) {
    nifti_image *image = nifti_convert_nhdr2nim(*header, NULL);
    if (image == NULL) {
        return fail(reader, error, "its header makes no sense to the NIfTI library");
    }
    const double unit = millimetres(image->xyz_units);
    const float spacing[3] = {image->dz, image->dy, image->dx};
    const bool has_matrix = image->sform_code > 0 || image->qform_code > 0;
    const mat44 *matrix = image->sform_code > 0 ? &image->sto_xyz : &image->qto_xyz;
    bool good = true;
    for (int i = 0; i < 3; i++) {
        const double width = fabs((double)spacing[i]) * unit;
        reader->info.spacing[i] = isfinite(width) && width > 0 ? width : 1;
    }
    for (int i = 0; i < 3; i++) {
        for (int k = 0; k < 4; k++) {
            const double plain = i == k ? reader->info.spacing[2 - i] : 0;
            reader->info.affine[i][k] = has_matrix ? (double)matrix->m[i][k] * unit : plain;
            good &= isfinite(reader->info.affine[i][k]);
        }
    }
    nifti_image_free(image);
    return good ? UNET_OK : fail(reader, error, "its orientation is not a matrix of numbers");
}

static UnetStatus read_header(NiftiReader *reader, UnetError *error) {
    nifti_1_header header;
    UnetStatus status = read_bytes(reader, &header, sizeof header, "its header", error);
    reader->packed = gzdirect(reader->file) == 0;
    if (status == UNET_OK) {
        status = sort_bytes(reader, &header, error);
    }
    if (status == UNET_OK) {
        status = read_sizes(reader, &header, error);
    }
    if (status == UNET_OK) {
        status = read_type(reader, &header, error);
    }
    if (status == UNET_OK) {
        status = read_place(reader, &header, error);
    }
    if (status == UNET_OK) {
        status = read_geometry(reader, &header, error);
    }
    memcpy(reader->info.header, &header, sizeof header);
    return status;
}

/* Skips the extensions between header and voxels, which nobody here reads. */
static UnetStatus skip_to_voxels(NiftiReader *reader, UnetError *error) {
    char skipped[4096];
    UnetStatus status = UNET_OK;
    for (int64_t left = reader->offset - UNET_NIFTI_HEADER; left > 0 && status == UNET_OK;) {
        const size_t part = left < (int64_t)sizeof skipped ? (size_t)left : sizeof skipped;
        status = read_bytes(reader, skipped, part, "its extensions", error);
        left -= (int64_t)part;
    }
    return status;
}

/* ---- opening ---------------------------------------------------------------------------------- */

static UnetStatus open_file(NiftiReader *reader, UnetError *error) {
    struct stat found;
    int fd;
    do {
        fd = open(reader->path, O_RDONLY | O_CLOEXEC);
    } while (fd < 0 && errno == EINTR);
    if (fd < 0 || fstat(fd, &found) != 0 || !S_ISREG(found.st_mode)) {
        const char *why = fd < 0 ? strerror(errno) : "is no regular file";
        if (fd >= 0) {
            (void)close(fd);
        }
        return unet_fail(error, UNET_IO, "%s: cannot read: %s", reader->path, why);
    }
    reader->file_bytes = (int64_t)found.st_size;
    reader->file = gzdopen(fd, "r");
    if (reader->file == NULL) {
        (void)close(fd);
        return fail(reader, error, "out of memory");
    }
    (void)gzbuffer(reader->file, BUFFER);
    return UNET_OK;
}

static size_t slice_voxels(const NiftiReader *reader) {
    return (size_t)reader->info.size[1] * (size_t)reader->info.size[2];
}

static void close_nifti(void *state) {
    NiftiReader *reader = state;
    if (reader->file != NULL) {
        (void)gzclose_r(reader->file);
    }
    free(reader->slice);
    free(reader->path);
    free(reader);
}

static UnetStatus open_nifti(void **state, const char *path, UnetVolumeInfo *info, UnetError *error) {
    *state = NULL;
    NiftiReader *opened = calloc(1, sizeof *opened);
    if (opened == NULL || (opened->path = strdup(path)) == NULL) {
        free(opened);
        return unet_fail(error, UNET_TOO_SMALL, "%s: out of memory", path);
    }
    UnetStatus status = open_file(opened, error);
    if (status == UNET_OK) {
        status = read_header(opened, error);
    }
    if (status == UNET_OK) {
        status = skip_to_voxels(opened, error);
    }
    if (status == UNET_OK) {
        opened->slice = malloc(slice_voxels(opened) * (size_t)(opened->stored->bits / 8));
        status =
            opened->slice != NULL ? UNET_OK : unet_fail(error, UNET_TOO_SMALL, "%s: out of memory", path);
    }
    if (status != UNET_OK) {
        close_nifti(opened);
        return status;
    }
    *info = opened->info;
    *state = opened;
    return UNET_OK;
}

/* ---- voxels ----------------------------------------------------------------------------------- */

/* Number I of SLICE, as a double: exact but for integers beyond 2^53. */
static double number_at(int16_t code, const void *slice, size_t i) {
    switch (code) {
    case DT_UINT8:
        return ((const uint8_t *)slice)[i];
    case DT_INT8:
        return ((const int8_t *)slice)[i];
    case DT_UINT16:
        return ((const uint16_t *)slice)[i];
    case DT_INT16:
        return ((const int16_t *)slice)[i];
    case DT_UINT32:
        return ((const uint32_t *)slice)[i];
    case DT_INT32:
        return ((const int32_t *)slice)[i];
    case DT_UINT64:
        return (double)((const uint64_t *)slice)[i];
    case DT_INT64:
        return (double)((const int64_t *)slice)[i];
    case DT_FLOAT64:
        return ((const double *)slice)[i];
    default:
        return (double)((const float *)slice)[i];
    }
}

static int64_t to_floats(const NiftiReader *reader, float *slice) {
    int64_t strange = 0;
    for (size_t i = 0; i < slice_voxels(reader); i++) {
        double number = number_at(reader->stored->code, reader->slice, i);
        if (reader->scaled) {
            number = reader->slope * number + reader->intercept;
        }
        const float value = (float)number;
        strange += !isfinite(value);
        slice[i] = isfinite(value) ? value : 0;
    }
    return strange;
}

/* A packed file ends with a sum over all of it, which zlib checks when it is read to its end. */
static UnetStatus check_end(NiftiReader *reader, UnetError *error) {
    const size_t bytes = slice_voxels(reader) * (size_t)(reader->stored->bits / 8);
    int got, code = Z_OK;
    do {
        got = gzread(reader->file, reader->slice, bytes < BUFFER ? (unsigned)bytes : BUFFER);
    } while (got > 0);
    const char *why = gzerror(reader->file, &code);
    if (reader->packed && (got < 0 || (code != Z_OK && code != Z_STREAM_END))) {
        return unet_fail(error, UNET_IO, "%s: %s behind its voxels (%s)", reader->path,
                         code == Z_BUF_ERROR ? "cut short" : "damaged", reason(why));
    }
    return UNET_OK;
}

static UnetStatus read_slice(void *state, void *slice, int64_t *strange, UnetError *error) {
    NiftiReader *reader = state;
    const size_t voxels = slice_voxels(reader);
    char what[64];
    if (reader->next >= reader->info.size[0]) {
        return unet_fail(error, UNET_BUG, "%s: has no more slices", reader->path);
    }
    (void)snprintf(what, sizeof what, "slice %d of %d", reader->next, reader->info.size[0]);
    reader->next++;
    UnetStatus status =
        read_bytes(reader, reader->slice, voxels * (size_t)(reader->stored->bits / 8), what, error);
    if (status != UNET_OK) {
        return status;
    }
    if (reader->swapped && reader->stored->swap > 1) {
        nifti_swap_Nbytes(voxels, reader->stored->swap, reader->slice);
    }
    if (reader->info.type == UNET_VOXEL_F32) {
        *strange += to_floats(reader, slice);
    } else {
        memcpy(slice, reader->slice, voxels * unet_voxel_bytes(reader->info.type));
    }
    return reader->next == reader->info.size[0] ? check_end(reader, error) : UNET_OK;
}

const VolumeFormat volume_nifti = {.open = open_nifti, .read_slice = read_slice, .close = close_nifti};
