/* image_npz.c - archives of arrays of NumPy, through minizip: one of them is the image, named by `entry`
 * where there are several.  Its sum is checked behind its last number. */
#include "image_npy.h"
#include "npz.h"

#include <stdio.h>
#include <string.h>

typedef struct {
    ImageArray array;
    unzFile zip;
    bool open; /* the entry */
    int32_t rows;
} Archive;

static bool fail(UnetImageReader *reader, const char *why) {
    (void)snprintf(reader->reason, sizeof reader->reason, "%s", why);
    return false;
}

static bool is_npz(const uint8_t *signature) {
    return memcmp(signature, "PK\3\4", 4) == 0;
}

/* ---- what minizip calls ----------------------------------------------------------------------- */

static voidpf on_open(voidpf reader, const void *name, int mode) {
    (void)name;
    (void)mode;
    return reader;
}

static uLong on_read(voidpf opaque, voidpf stream, void *bytes, uLong count) {
    UnetImageReader *reader = stream;
    (void)opaque;
    return (uLong)image_file_read(&reader->file, bytes, count);
}

static ZPOS64_T on_tell(voidpf opaque, voidpf stream) {
    const UnetImageReader *reader = stream;
    (void)opaque;
    return (ZPOS64_T)image_file_place(&reader->file);
}

static long on_seek(voidpf opaque, voidpf stream, ZPOS64_T offset, int origin) {
    UnetImageReader *reader = stream;
    const int whence = origin == ZLIB_FILEFUNC_SEEK_CUR   ? SEEK_CUR
                       : origin == ZLIB_FILEFUNC_SEEK_END ? SEEK_END
                                                          : SEEK_SET;
    (void)opaque;
    return offset <= INT64_MAX && image_file_seek(&reader->file, (off_t)offset, whence) ? 0 : -1;
}

static int on_nothing(voidpf opaque, voidpf stream) {
    (void)opaque;
    (void)stream;
    return 0;
}

static bool read_entry(void *context, uint8_t *bytes, size_t count) {
    return npz_read(((Archive *)((UnetImageReader *)context)->decoder)->zip, bytes, count);
}

static bool open_archive(UnetImageReader *reader) {
    Archive *a = reader->decoder;
    zlib_filefunc64_def calls = {.zopen64_file = on_open,
                                 .zread_file = on_read,
                                 .ztell64_file = on_tell,
                                 .zseek64_file = on_seek,
                                 .zclose_file = on_nothing,
                                 .zerror_file = on_nothing,
                                 .opaque = reader};
    a->array.bytes = (NpyBytes){read_entry, reader};
    a->zip = unzOpen2_64(reader->path, &calls);
    if (a->zip == NULL) {
        reader->cut_short = true;
        return fail(reader, "its list of entries, which stands at the end, is missing");
    }
    a->open = npz_enter(a->zip, reader->way.entry, reader->reason);
    return a->open;
}

static UnetStatus open_npz(UnetImageReader *reader, UnetError *error) {
    reader->decoder = image_memory_take_zeroed(reader->memory, sizeof(Archive));
    if (reader->decoder == NULL) {
        return image_fail(reader, error, "out of memory");
    }
    return open_archive(reader) && image_array_open(reader, &((Archive *)reader->decoder)->array)
               ? UNET_OK
               : image_fail_decoding(reader, error);
}

/* ---- rows ------------------------------------------------------------------------------------- */

static bool begin_npz(UnetImageReader *reader) {
    return image_array_begin(reader, &((Archive *)reader->decoder)->array);
}

/* Behind the last number: minizip compares its sum. */
static bool end_entry(UnetImageReader *reader) {
    Archive *a = reader->decoder;
    a->open = false;
    return unzCloseCurrentFile(a->zip) == UNZ_OK || fail(reader, "its sum is wrong");
}

static bool decode_row(UnetImageReader *reader) {
    Archive *a = reader->decoder;
    return image_array_row(reader, &a->array) && (++a->rows < reader->shape.height || end_entry(reader));
}

static bool decode_all(UnetImageReader *reader) {
    return image_array_all(reader, &((Archive *)reader->decoder)->array) && end_entry(reader);
}

/* The list at its end was read when it was opened. */
static bool is_complete(ImageFile *file) {
    (void)file;
    return true;
}

static void close_npz(UnetImageReader *reader) {
    Archive *a = reader->decoder;
    if (a->open) {
        (void)unzCloseCurrentFile(a->zip);
    }
    if (a->zip != NULL) {
        (void)unzClose(a->zip);
    }
    image_array_close(reader, &a->array);
}

/* A byte with a sign becomes a float. */
const ImageFormat image_npz = {.name = "NumPy archive",
                               .most_expansion = 8 * NPZ_EXPANSION,
                               .is = is_npz,
                               .open = open_npz,
                               .begin = begin_npz,
                               .decode_row = decode_row,
                               .decode_all = decode_all,
                               .is_complete = is_complete,
                               .close = close_npz};
