/* image_npy.c - arrays of NumPy as images: (height, width), (height, width, channels) or (channels, height,
 * width); as signals, which are images of one row: (length) or (channels, length); in C's order or
 * Fortran's.
 *
 * Numbers of 8 and 16 bits without a sign are numbers of pictures, truths are 0 and 1 (in pictures: 255),
 * and all other numbers are kept as they are.  Rows that lie one after another are read one by one; else
 * all numbers are read in the order of the file, each to its place.
 */
#include "image_npy.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { BATCH = 4096 }; /* numbers that are read at a time */

static bool fail(UnetImageReader *reader, const char *why) {
    (void)snprintf(reader->reason, sizeof reader->reason, "%s", why);
    reader->cut_short |= strncmp(why, "it ends", 7) == 0;
    return false;
}

/* ---- the shape -------------------------------------------------------------------------------- */

/* Returns whether the channels are the first of three axes, not the last: the axis of the size asked for,
 * else the short one. */
static bool channels_first(const NpyHead *head, int32_t asked) {
    const int64_t first = head->size[0], last = head->size[2];
    const int64_t wanted = asked > 0 ? asked : 1;
    if (last == wanted || first == wanted) {
        return last != wanted;
    }
    return first < last && last > 4;
}

static bool find_axes_of_signal(UnetImageReader *reader, ImageArray *array) {
    const int axes = array->head.axes;
    if (axes > 2) {
        return fail(reader,
                    "a signal has the axes channels and length, or length alone, and this array has "
                    "more axes");
    }
    array->axis[0] = -1;
    array->axis[1] = axes - 1;
    array->axis[2] = axes - 2;
    return true;
}

static bool find_axes(UnetImageReader *reader, ImageArray *array) {
    const NpyHead *head = &array->head;
    if (reader->way.signal) {
        return find_axes_of_signal(reader, array);
    }
    if (head->axes != 2 && head->axes != 3) {
        return fail(reader, "an image has the axes height, width and perhaps channels, and this array has "
                            "another number of axes");
    }
    const bool first = head->axes == 3 && channels_first(head, reader->asked);
    array->axis[0] = first ? 1 : 0;
    array->axis[1] = first ? 2 : 1;
    array->axis[2] = head->axes == 2 ? -1 : first ? 0 : 2;
    return true;
}

static bool are_floats(const NpyHead *head) {
    return head->kind != NUMBER_UNSIGNED || head->bits > 16;
}

/* Rows lie one after another, points side by side. */
static bool is_plain(const ImageArray *array) {
    return !array->head.fortran && array->axis[0] == 0;
}

bool image_array_open(UnetImageReader *reader, ImageArray *array) {
    const char *why = npy_read_head(&array->bytes, &array->head);
    if (why != NULL || !find_axes(reader, array)) {
        return why != NULL ? fail(reader, why) : false;
    }
    const NpyHead *head = &array->head;
    const int64_t channels = array->axis[2] < 0 ? 1 : head->size[array->axis[2]];
    if (channels > UNET_IMAGE_MOST_CHANNELS) {
        return fail(reader, "it has too many channels");
    }
    reader->shape = (UnetImageInfo){.height = array->axis[0] < 0 ? 1 : (int32_t)head->size[array->axis[0]],
                                    .width = (int32_t)head->size[array->axis[1]],
                                    .channels = (int32_t)channels,
                                    .bits = are_floats(head) ? 32 : head->bits,
                                    .interlaced = !is_plain(array)};
    reader->row_bytes = (size_t)reader->shape.width * (size_t)channels * (size_t)(reader->shape.bits / 8);
    return true;
}

/* ---- numbers ---------------------------------------------------------------------------------- */

bool image_array_begin(UnetImageReader *reader, ImageArray *array) {
    const size_t row = (size_t)reader->shape.width * (size_t)reader->shape.channels,
                 count = reader->shape.interlaced ? BATCH : row;
    reader->stored_channels = reader->shape.channels;
    array->numbers = image_memory_take(reader->memory, count * npy_number_bytes(&array->head));
    return array->numbers != NULL || fail(reader, "out of memory");
}

/* The number at AT, as rows hold it. */
static void put(const UnetImageReader *reader, const NpyHead *head, const uint8_t *at, uint8_t *to) {
    const double number = npy_number(head, at);
    if (reader->shape.bits == 32) {
        const float kept = (float)number;
        memcpy(to, &kept, sizeof kept);
    } else if (reader->shape.bits == 16) {
        to[0] = (uint8_t)((uint32_t)number >> 8);
        to[1] = (uint8_t)(uint32_t)number;
    } else {
        *to = (uint8_t)(head->truth ? (number == 0 ? 0 : reader->classes ? 1 : UINT8_MAX) : number);
    }
}

static bool read_numbers(UnetImageReader *reader, ImageArray *array, size_t count) {
    return array->bytes.read(array->bytes.context, array->numbers,
                             count * npy_number_bytes(&array->head)) ||
           fail(reader, "it ends too early");
}

bool image_array_row(UnetImageReader *reader, ImageArray *array) {
    const size_t count = (size_t)reader->shape.width * (size_t)reader->stored_channels,
                 bytes = npy_number_bytes(&array->head), kept = (size_t)(reader->shape.bits / 8);
    if (!read_numbers(reader, array, count)) {
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        put(reader, &array->head, array->numbers + i * bytes, reader->rows + i * kept);
    }
    return true;
}

/* Returns the place of number I of the file in the rows. */
static size_t place_of(const UnetImageReader *reader, const ImageArray *array,
                       const int64_t stride[NPY_AXES], int64_t i) {
    int64_t at[3] = {0, 0, 0};
    for (int k = 0; k < 3; k++) {
        const int axis = array->axis[k];
        at[k] = axis < 0 ? 0 : i / stride[axis] % array->head.size[axis];
    }
    const size_t point = (size_t)at[1] * (size_t)reader->stored_channels + (size_t)at[2];
    return (size_t)at[0] * reader->row_bytes + point * (size_t)(reader->shape.bits / 8);
}

bool image_array_all(UnetImageReader *reader, ImageArray *array) {
    const int64_t all = (int64_t)reader->shape.height * reader->shape.width * reader->stored_channels;
    int64_t stride[NPY_AXES];
    npy_strides(&array->head, stride);
    for (int64_t done = 0; done < all; done += BATCH) {
        const int64_t count = all - done < BATCH ? all - done : BATCH;
        if (!read_numbers(reader, array, (size_t)count)) {
            return false;
        }
        for (int64_t i = 0; i < count; i++) {
            put(reader, &array->head, array->numbers + (size_t)i * npy_number_bytes(&array->head),
                reader->rows + place_of(reader, array, stride, done + i));
        }
    }
    return true;
}

void image_array_close(UnetImageReader *reader, ImageArray *array) {
    image_memory_give(reader->memory, array->numbers);
}

/* ---- the format ------------------------------------------------------------------------------- */

static bool is_npy(const uint8_t *signature) {
    return memcmp(signature, npy_magic, NPY_MAGIC) == 0;
}

static bool read_file(void *context, uint8_t *bytes, size_t count) {
    UnetImageReader *reader = context;
    return image_file_read(&reader->file, bytes, count) == count;
}

/* All numbers lie in the file. */
static bool check_rows(UnetImageReader *reader, const ImageArray *array) {
    const off_t begin = image_file_place(&reader->file);
    const uint64_t bytes =
        (uint64_t)reader->shape.width * (uint64_t)reader->shape.channels * npy_number_bytes(&array->head);
    if (!image_file_seek(&reader->file, 0, SEEK_END)) {
        return fail(reader, "its length is not known");
    }
    const off_t end = image_file_place(&reader->file);
    if ((uint64_t)(end - begin) / bytes < (uint64_t)reader->shape.height) {
        return fail(reader, "it ends too early");
    }
    return image_file_seek(&reader->file, begin, SEEK_SET) || fail(reader, "it cannot be read");
}

static UnetStatus open_npy(UnetImageReader *reader, UnetError *error) {
    ImageArray *array = reader->decoder = image_memory_take_zeroed(reader->memory, sizeof *array);
    if (array == NULL) {
        return image_fail(reader, error, "out of memory");
    }
    array->bytes = (NpyBytes){read_file, reader};
    (void)image_file_seek(&reader->file, 0, SEEK_SET);
    return image_array_open(reader, array) && check_rows(reader, array)
               ? UNET_OK
               : image_fail_decoding(reader, error);
}

static bool begin_npy(UnetImageReader *reader) {
    return image_array_begin(reader, reader->decoder);
}

static bool decode_row(UnetImageReader *reader) {
    return image_array_row(reader, reader->decoder);
}

static bool decode_all(UnetImageReader *reader) {
    return image_array_all(reader, reader->decoder);
}

/* The end of its numbers was checked when it was opened. */
static bool is_complete(ImageFile *file) {
    (void)file;
    return true;
}

static void close_npy(UnetImageReader *reader) {
    image_array_close(reader, reader->decoder);
}

/* A byte with a sign becomes a float. */
const ImageFormat image_npy = {.name = "NumPy",
                               .most_expansion = 8,
                               .is = is_npy,
                               .open = open_npy,
                               .begin = begin_npy,
                               .decode_row = decode_row,
                               .decode_all = decode_all,
                               .is_complete = is_complete,
                               .close = close_npy};
