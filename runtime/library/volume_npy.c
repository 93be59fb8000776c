/* volume_npy.c - arrays of NumPy as volumes: (depth, height, width), in C's order or Fortran's; voxels of 1
 * mm, as they lie.  Numbers in Fortran's order are held whole, because a slice is spread over the file. */
#include "npy.h"
#include "volume_format.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#ifdef UNET_HAS_MINIZIP
#include "npz.h"
#endif

#define MOST_VOXELS ((int64_t)1 << 31)

typedef struct {
    char *path;
    FILE *file;
    void *zip;      /* in its place: an archive, or NULL */
    NpyBytes bytes; /* of the one or the other */
    NpyHead head;
    int64_t file_bytes;
    UnetVolumeInfo info;
    int32_t next;
    uint8_t *numbers; /* of a slice, or of all */
} ArrayReader;

static bool begins_with(const char *path, const char *magic, size_t count) {
    char start[NPY_MAGIC];
    FILE *file = fopen(path, "rbe");
    const bool is =
        file != NULL && fread(start, 1, count, file) == count && memcmp(start, magic, count) == 0;
    if (file != NULL) {
        (void)fclose(file);
    }
    return is;
}

static bool is_archive(const char *path) {
    return begins_with(path, "PK\3\4", 4);
}

bool volume_is_npy(const char *path) {
    return begins_with(path, npy_magic, NPY_MAGIC) || is_archive(path);
}

static bool read_file(void *context, uint8_t *bytes, size_t count) {
    return fread(bytes, 1, count, context) == count;
}

static UnetStatus fail(const ArrayReader *reader, UnetError *error, const char *why) {
    return unet_fail(error, UNET_IO, "%s: %s", reader->path, why);
}

#ifdef UNET_HAS_MINIZIP
static bool read_entry(void *context, uint8_t *bytes, size_t count) {
    return npz_read(context, bytes, count);
}

static UnetStatus open_archive(ArrayReader *reader, UnetError *error) {
    char why[NPZ_WHY_BYTES] = "its list of entries, which stands at the end, is missing";
    reader->zip = unzOpen64(reader->path);
    reader->bytes = (NpyBytes){read_entry, reader->zip};
    return reader->zip != NULL && npz_enter(reader->zip, NULL, why) ? UNET_OK : fail(reader, error, why);
}

/* Behind the last number minizip compares the sum of all. */
static UnetStatus end_archive(ArrayReader *reader, UnetError *error) {
    return reader->zip == NULL || unzCloseCurrentFile(reader->zip) == UNZ_OK
               ? UNET_OK
               : fail(reader, error, "damaged: its sum is wrong");
}

static void close_archive(ArrayReader *reader) {
    if (reader->zip != NULL) {
        (void)unzClose(reader->zip);
    }
}
#else
enum { NPZ_EXPANSION = 1 };

static UnetStatus open_archive(ArrayReader *reader, UnetError *error) {
    return fail(
        reader, error,
        "an archive of NumPy: install libminizip-dev and build unetc anew, which was built without");
}

static UnetStatus end_archive(ArrayReader *reader, UnetError *error) {
    (void)reader, (void)error;
    return UNET_OK;
}

static void close_archive(ArrayReader *reader) {
    (void)reader;
}
#endif

/* ---- the head --------------------------------------------------------------------------------- */

static UnetVoxel voxel_of(const NpyHead *head) {
    const bool is_signed = head->kind == NUMBER_SIGNED;
    if (head->kind == NUMBER_FLOAT || head->bits > 16) {
        return UNET_VOXEL_F32;
    }
    return head->bits == 8 ? (is_signed ? UNET_VOXEL_I8 : UNET_VOXEL_U8)
                           : (is_signed ? UNET_VOXEL_I16 : UNET_VOXEL_U16);
}

/* Makes a header as NIfTI has it, which gives results that are written as NIfTI their place. */
static void make_header(UnetVolumeInfo *info) {
    const int32_t bytes = UNET_NIFTI_HEADER;
    const int16_t dim[8] = {
        3, (int16_t)info->size[2], (int16_t)info->size[1], (int16_t)info->size[0], 1, 1, 1, 1};
    const float step[8] = {1, 1, 1, 1, 1, 1, 1, 1};
    memcpy(info->header, &bytes, sizeof bytes);
    memcpy(info->header + 40, dim, sizeof dim);
    memcpy(info->header + 76, step, sizeof step);
    memcpy(info->header + 344, "n+1", 4);
}

static UnetStatus read_sizes(ArrayReader *reader, UnetError *error) {
    NpyHead *head = &reader->head;
    const int first = head->axes - 3;
    int64_t voxels = 1;
    if (head->axes < 2 || (head->axes == 4 && head->size[0] != 1)) {
        return fail(reader, error,
                    "a volume has the axes depth, height and width, and this array has others: write "
                    "each channel to a file of its own");
    }
    for (int axis = 0; axis < 3; axis++) {
        const int64_t size = first + axis < 0 ? 1 : head->size[first + axis];
        if (size > INT16_MAX) {
            return fail(reader, error, "more than 32767 voxels along an axis");
        }
        reader->info.size[axis] = (int32_t)size;
        reader->info.spacing[axis] = 1;
        reader->info.affine[axis][axis] = 1;
        voxels *= size;
    }
    reader->info.type = voxel_of(head);
    make_header(&reader->info);
    return voxels <= MOST_VOXELS ? UNET_OK : fail(reader, error, "more than 2^31 voxels");
}

static size_t slice_voxels(const ArrayReader *reader) {
    return (size_t)reader->info.size[1] * (size_t)reader->info.size[2];
}

/* Numbers that are read at a time. */
static size_t held_numbers(const ArrayReader *reader) {
    return slice_voxels(reader) * (reader->head.fortran ? (size_t)reader->info.size[0] : 1);
}

/* Checks that all numbers lie in the file, then takes memory for the numbers that are held. */
static UnetStatus take_memory(ArrayReader *reader, UnetError *error) {
    const size_t bytes = npy_number_bytes(&reader->head);
    const uint64_t all = (uint64_t)slice_voxels(reader) * (uint64_t)reader->info.size[0] * bytes;
    const long begin = reader->zip == NULL ? ftell(reader->file) : 0;
    const uint64_t most = (uint64_t)reader->file_bytes * (reader->zip == NULL ? 1 : NPZ_EXPANSION);
    if (begin < 0 || most < all + (uint64_t)begin) {
        return unet_fail(error, UNET_IO,
                         "%s: cut short: %lld bytes cannot hold %d x %d x %d numbers of %d bits",
                         reader->path, (long long)reader->file_bytes, reader->info.size[0],
                         reader->info.size[1], reader->info.size[2], reader->head.bits);
    }
    reader->numbers = malloc(held_numbers(reader) * bytes);
    return reader->numbers != NULL ? UNET_OK
                                   : unet_fail(error, UNET_TOO_SMALL, "%s: out of memory", reader->path);
}

static void close_npy(void *state) {
    ArrayReader *reader = state;
    if (reader->file != NULL) {
        (void)fclose(reader->file);
    }
    close_archive(reader);
    free(reader->numbers);
    free(reader->path);
    free(reader);
}

static UnetStatus open_file(ArrayReader *reader, UnetError *error) {
    struct stat found;
    if (stat(reader->path, &found) != 0 || !S_ISREG(found.st_mode)) {
        return fail(reader, error, "is no regular file");
    }
    reader->file_bytes = (int64_t)found.st_size;
    if (is_archive(reader->path)) {
        return open_archive(reader, error);
    }
    reader->file = fopen(reader->path, "rbe");
    reader->bytes = (NpyBytes){read_file, reader->file};
    return reader->file != NULL
               ? UNET_OK
               : unet_fail(error, UNET_IO, "%s: cannot read: %s", reader->path, strerror(errno));
}

static UnetStatus read_head(ArrayReader *reader, UnetError *error) {
    const UnetStatus status = open_file(reader, error);
    const char *why = status == UNET_OK ? npy_read_head(&reader->bytes, &reader->head) : NULL;
    return why == NULL ? status : fail(reader, error, why);
}

static UnetStatus open_npy(void **state, const char *path, UnetVolumeInfo *info, UnetError *error) {
    ArrayReader *reader = calloc(1, sizeof *reader);
    *state = NULL;
    if (reader == NULL || (reader->path = strdup(path)) == NULL) {
        free(reader);
        return unet_fail(error, UNET_TOO_SMALL, "%s: out of memory", path);
    }
    UnetStatus status = read_head(reader, error);
    if (status == UNET_OK) {
        status = read_sizes(reader, error);
    }
    if (status == UNET_OK) {
        status = take_memory(reader, error);
    }
    if (status != UNET_OK) {
        close_npy(reader);
        return status;
    }
    *info = reader->info;
    *state = reader;
    return UNET_OK;
}

/* ---- voxels ----------------------------------------------------------------------------------- */

/* The number at AT as voxel I of SLICE; 1 where it is not finite, and becomes 0. */
static int put_voxel(const ArrayReader *reader, const uint8_t *at, size_t i, void *slice) {
    const double number = npy_number(&reader->head, at);
    switch (reader->info.type) {
    case UNET_VOXEL_U8:
        ((uint8_t *)slice)[i] = (uint8_t)number;
        return 0;
    case UNET_VOXEL_I8:
        ((int8_t *)slice)[i] = (int8_t)number;
        return 0;
    case UNET_VOXEL_U16:
        ((uint16_t *)slice)[i] = (uint16_t)number;
        return 0;
    case UNET_VOXEL_I16:
        ((int16_t *)slice)[i] = (int16_t)number;
        return 0;
    case UNET_VOXEL_F32:
        break;
    }
    const float value = (float)number;
    ((float *)slice)[i] = isfinite(value) ? value : 0;
    return isfinite(value) ? 0 : 1;
}

/* Returns the place of number (Z, Y, X) among the numbers that are held. */
static size_t place_of(const ArrayReader *reader, int32_t z, int32_t y, int32_t x) {
    const int32_t *size = reader->info.size;
    return reader->head.fortran ? ((size_t)x * (size_t)size[1] + (size_t)y) * (size_t)size[0] + (size_t)z
                                : (size_t)y * (size_t)size[2] + (size_t)x;
}

static UnetStatus read_slice(void *state, void *slice, int64_t *strange, UnetError *error) {
    ArrayReader *reader = state;
    const size_t bytes = npy_number_bytes(&reader->head);
    const int32_t z = reader->next++;
    if (z >= reader->info.size[0]) {
        return unet_fail(error, UNET_BUG, "%s: has no more slices", reader->path);
    }
    if ((z == 0 || !reader->head.fortran) &&
        !reader->bytes.read(reader->bytes.context, reader->numbers, held_numbers(reader) * bytes)) {
        return unet_fail(error, UNET_IO, "%s: cut short in slice %d of %d", reader->path, z,
                         reader->info.size[0]);
    }
    for (int32_t y = 0; y < reader->info.size[1]; y++) {
        for (int32_t x = 0; x < reader->info.size[2]; x++) {
            const size_t i = (size_t)y * (size_t)reader->info.size[2] + (size_t)x;
            *strange += put_voxel(reader, reader->numbers + place_of(reader, z, y, x) * bytes, i, slice);
        }
    }
    return z + 1 == reader->info.size[0] ? end_archive(reader, error) : UNET_OK;
}

const VolumeFormat volume_npy = {.open = open_npy, .read_slice = read_slice, .close = close_npy};
