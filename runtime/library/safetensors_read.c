/* safetensors_read.c - reading safetensors files: 8 bytes of header length, a JSON object that gives every
 * tensor's type, shape and place, then the values without a gap.
 *
 * The header is not trusted.  These are checked: its length against the file's and against the memory of
 * its reader, for its JSON takes some twenty times as much memory; JSON without duplicate keys; types,
 * ranks and products of dimensions; that the places of the tensors cover the data exactly once. */
#include "unet/safetensors.h"
#include "foreign.h"
#include "key_map.h"
#include "size_math.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "values are stored in this order");

enum { LENGTH_BYTES = 8, MAX_HEADER = 100 * 1000 * 1000 };

struct UnetSafetensors {
    int fd;
    int64_t data_start; /* in the file */
    json_t *header;     /* owns all names, */
    char **renamed;     /* a name for each tensor as opened, or NULL for a name that no map made */
    int32_t nrenamed;
    json_t *metadata; /* part of it, or NULL */
    int32_t count;
    UnetTensorInfo *tensor;
    char path[];
};

typedef struct {
    const char *name;
    int bytes;
} ElementType;

static const ElementType element_types[] = {
    {"F32", 4},  {"F64", 8},     {"F16", 2},     {"BF16", 2}, {"I64", 8}, {"I32", 4},
    {"I16", 2},  {"I8", 1},      {"U64", 8},     {"U32", 4},  {"U16", 2}, {"U8", 1},
    {"BOOL", 1}, {"F8_E4M3", 1}, {"F8_E5M2", 1}, {"C64", 8},
};

static int element_bytes(const char *type) {
    for (size_t i = 0; i < sizeof element_types / sizeof *element_types; i++) {
        if (strcmp(element_types[i].name, type) == 0) {
            return element_types[i].bytes;
        }
    }
    return 0;
}

/* Names come from the file and end in messages: they are cut, and control characters are hidden. */
static UnetStatus fail_tensor(const UnetSafetensors *file, const char *name, UnetError *error,
                              const char *why) {
    char shown[100];
    size_t i = 0;
    for (; name[i] != '\0' && i < sizeof shown - 1; i++) {
        unsigned char c = (unsigned char)name[i];
        shown[i] = c < 0x20 || c == 0x7f ? '?' : name[i];
    }
    shown[i] = '\0';
    return unet_fail(error, UNET_IO, "%s: tensor \"%s\" %s", file->path, shown, why);
}

static UnetStatus fail(const UnetSafetensors *file, UnetError *error, const char *why) {
    return unet_fail(error, UNET_IO, "%s: %s", file->path, why);
}

static UnetStatus fail_memory(const UnetSafetensors *file, UnetError *error) {
    return unet_fail(error, UNET_TOO_SMALL, "%s: out of memory", file->path);
}

static UnetStatus read_at(const UnetSafetensors *file, void *to, size_t bytes, int64_t position,
                          UnetError *error) {
    char *rest = to;
    while (bytes > 0) {
        ssize_t got = pread(file->fd, rest, bytes, (off_t)position);
        if (got < 0 && errno == EINTR) {
            continue;
        }
        if (got < 0) {
            return unet_fail(error, UNET_IO, "%s: cannot read: %s", file->path, strerror(errno));
        }
        if (got == 0) {
            return fail(file, error, "cut short");
        }
        rest += got;
        bytes -= (size_t)got;
        position += got;
    }
    return UNET_OK;
}

/* ---- the header ------------------------------------------------------------------------------- */

static bool parse_shape(const json_t *shape, UnetTensorInfo *tensor) {
    size_t rank = json_array_size(shape);
    if (!json_is_array(shape) || rank > UNET_MAX_RANK) {
        return false;
    }
    tensor->rank = (int32_t)rank;
    tensor->count = 1;
    for (size_t i = 0; i < rank; i++) {
        const json_t *dimension = json_array_get(shape, i);
        int64_t value = json_integer_value(dimension);
        if (!json_is_integer(dimension) || value < 0 ||
            !checked_mul64(tensor->count, value, &tensor->count)) {
            return false;
        }
        tensor->dim[i] = value;
    }
    return true;
}

static bool parse_offsets(const json_t *offsets, UnetTensorInfo *tensor) {
    const json_t *begin = json_array_get(offsets, 0);
    const json_t *end = json_array_get(offsets, 1);
    if (json_array_size(offsets) != 2 || !json_is_integer(begin) || !json_is_integer(end)) {
        return false;
    }
    tensor->begin = json_integer_value(begin);
    tensor->end = json_integer_value(end);
    return tensor->begin >= 0 && tensor->begin <= tensor->end;
}

static UnetStatus parse_tensor(const UnetSafetensors *file, const char *name, const json_t *value,
                               UnetTensorInfo *tensor, UnetError *error) {
    tensor->name = name;
    tensor->type = json_string_value(json_object_get(value, "dtype"));
    int bytes = tensor->type != NULL ? element_bytes(tensor->type) : 0;
    if (bytes == 0) {
        return fail_tensor(file, name, error, "has an unknown type");
    }
    if (!parse_shape(json_object_get(value, "shape"), tensor)) {
        return fail_tensor(file, name, error, "has a malformed shape");
    }
    if (!parse_offsets(json_object_get(value, "data_offsets"), tensor)) {
        return fail_tensor(file, name, error, "has malformed offsets");
    }
    int64_t expected;
    if (!checked_mul64(tensor->count, bytes, &expected) || tensor->end - tensor->begin != expected) {
        return fail_tensor(file, name, error, "has a shape that does not fit its offsets");
    }
    return UNET_OK;
}

static UnetStatus check_metadata(UnetSafetensors *file, json_t *metadata, UnetError *error) {
    const char *key;
    json_t *value;
    if (!json_is_object(metadata)) {
        return fail(file, error, "malformed __metadata__");
    }
    json_object_foreach(metadata, key, value) {
        if (!json_is_string(value)) {
            return fail(file, error, "malformed __metadata__: values must be strings");
        }
    }
    file->metadata = metadata;
    return UNET_OK;
}

static UnetStatus parse_entries(UnetSafetensors *file, UnetError *error) {
    size_t entries = json_object_size(file->header);
    if (entries > INT32_MAX) {
        return fail(file, error, "too many tensors");
    }
    file->tensor = calloc(entries > 0 ? entries : 1, sizeof *file->tensor);
    if (file->tensor == NULL) {
        return fail_memory(file, error);
    }
    const char *name;
    json_t *value;
    json_object_foreach(file->header, name, value) {
        UnetStatus status;
        if (strcmp(name, "__metadata__") == 0) {
            status = check_metadata(file, value, error);
        } else {
            status = parse_tensor(file, name, value, &file->tensor[file->count++], error);
        }
        if (status != UNET_OK) {
            return status;
        }
    }
    return UNET_OK;
}

static int by_place(const void *a, const void *b) {
    const UnetTensorInfo *left = a, *right = b;
    if (left->begin != right->begin) {
        return left->begin < right->begin ? -1 : 1;
    }
    return left->end < right->end ? -1 : left->end > right->end;
}

static int by_name(const void *a, const void *b) {
    return strcmp(((const UnetTensorInfo *)a)->name, ((const UnetTensorInfo *)b)->name);
}

static UnetStatus check_places(UnetSafetensors *file, int64_t data_bytes, UnetError *error) {
    int64_t covered = 0;
    qsort(file->tensor, (size_t)file->count, sizeof *file->tensor, by_place);
    for (int32_t i = 0; i < file->count; i++) {
        const UnetTensorInfo *tensor = &file->tensor[i];
        if (tensor->begin != covered) {
            return fail_tensor(file, tensor->name, error,
                               tensor->begin < covered ? "overlaps another" : "leaves a hole before it");
        }
        if (tensor->end > data_bytes) {
            return fail_tensor(file, tensor->name, error, "lies beyond the end of the file (cut short?)");
        }
        covered = tensor->end;
    }
    if (covered != data_bytes) {
        return fail(file, error, "has bytes behind its last tensor");
    }
    qsort(file->tensor, (size_t)file->count, sizeof *file->tensor, by_name);
    return UNET_OK;
}

static UnetStatus parse_header(UnetSafetensors *file, const char *text, size_t length, UnetError *error) {
    json_error_t problem;
    if (text[0] != '{') {
        return fail(file, error, "not a safetensors file: its header is no JSON object");
    }
    file->header = json_loadb(text, length, JSON_REJECT_DUPLICATES, &problem);
    if (file->header == NULL) {
        return unet_fail(error, UNET_IO, "%s: malformed header: %s (character %d)", file->path,
                         problem.text, problem.position);
    }
    return parse_entries(file, error);
}

static UnetStatus read_header(UnetSafetensors *file, int64_t most, UnetError *error) {
    struct stat stat;
    uint64_t length = 0;
    if (fstat(file->fd, &stat) != 0) {
        return unet_fail(error, UNET_IO, "%s: cannot read: %s", file->path, strerror(errno));
    }
    if (!S_ISREG(stat.st_mode)) {
        return fail(file, error, "not a regular file");
    }
    if (stat.st_size < LENGTH_BYTES + 2) {
        return fail(file, error, "too short for a safetensors file");
    }
    UnetStatus status = read_at(file, &length, sizeof length, 0, error);
    if (status != UNET_OK) {
        return status;
    }
    if (length < 2 || length > MAX_HEADER) {
        return is_of_torch_save(length)
                   ? fail_of_torch_save(file->path, error)
                   : fail(file, error, "not a safetensors file: impossible length of the header");
    }
    if (length > (uint64_t)stat.st_size - LENGTH_BYTES) {
        return fail(file, error, "cut short in the header");
    }
    if (length > (uint64_t)most) {
        return unet_fail(
            error, UNET_IO,
            "%s: its header has %lld bytes, and that of a file for this model has %lld at most", file->path,
            (long long)length, (long long)most);
    }
    char *text = malloc(length);
    if (text == NULL) {
        return fail_memory(file, error);
    }
    status = read_at(file, text, length, LENGTH_BYTES, error);
    if (status == UNET_OK) {
        status = parse_header(file, text, length, error);
    }
    free(text);
    if (status != UNET_OK) {
        return status;
    }
    file->data_start = LENGTH_BYTES + (int64_t)length;
    return check_places(file, (int64_t)stat.st_size - file->data_start, error);
}

UnetStatus unet_safetensors_open(UnetSafetensors **file, const char *path, int64_t most, UnetError *error) {
    size_t length = strlen(path) + 1;
    *file = NULL;
    UnetSafetensors *opened = calloc(1, sizeof *opened + length);
    if (opened == NULL) {
        return unet_fail(error, UNET_TOO_SMALL, "%s: out of memory", path);
    }
    memcpy(opened->path, path, length);
    UnetStatus status;
    opened->fd = open(path, O_RDONLY | O_CLOEXEC);
    if (opened->fd < 0) {
        status = unet_fail(error, UNET_IO, "%s: cannot read: %s", path, strerror(errno));
    } else {
        status = read_header(opened, most, error);
    }
    if (status != UNET_OK) {
        unet_safetensors_close(opened);
        return status;
    }
    *file = opened;
    return UNET_OK;
}

void unet_safetensors_close(UnetSafetensors *file) {
    if (file == NULL) {
        return;
    }
    if (file->fd >= 0) {
        (void)close(file->fd);
    }
    json_decref(file->header);
    for (int32_t i = 0; i < file->nrenamed; i++) {
        free(file->renamed[i]);
    }
    free(file->renamed);
    free(file->tensor);
    free(file);
}

/* ---- other names ------------------------------------------------------------------------------ */

/* Gives TENSOR its name by the map; *KEPT: whether the map leaves it in. */
static UnetStatus rename_tensor(UnetSafetensors *file, const KeyMap *map, UnetTensorInfo *tensor,
                                bool *kept, UnetError *error) {
    char name[KEY_MAP_NAME];
    bool found;
    UnetStatus status = key_map_name(map, tensor->name, &found, name, error);
    *kept = status == UNET_OK && (!found || name[0] != '\0');
    if (!*kept || !found) {
        return status;
    }
    const size_t length = strlen(name) + 1;
    char *copy = malloc(length);
    if (copy == NULL) {
        return fail_memory(file, error);
    }
    tensor->name = memcpy(copy, name, length);
    file->renamed[file->nrenamed++] = copy;
    return UNET_OK;
}

static UnetStatus rename_all(UnetSafetensors *file, const KeyMap *map, UnetError *error) {
    int32_t count = 0;
    file->renamed = calloc((size_t)file->count + 1, sizeof *file->renamed);
    if (file->renamed == NULL) {
        return fail_memory(file, error);
    }
    for (int32_t i = 0; i < file->count; i++) {
        UnetTensorInfo tensor = file->tensor[i];
        bool kept;
        UnetStatus status = rename_tensor(file, map, &tensor, &kept, error);
        if (status != UNET_OK) {
            return status;
        }
        if (kept) {
            file->tensor[count++] = tensor;
        }
    }
    file->count = count;
    return UNET_OK;
}

UnetStatus unet_safetensors_rename(UnetSafetensors *file, const char *path, UnetError *error) {
    KeyMap *map;
    UnetStatus status = key_map_open(&map, path, error);
    if (status == UNET_OK) {
        status = rename_all(file, map, error);
    }
    key_map_close(map);
    if (status != UNET_OK) {
        return status;
    }
    qsort(file->tensor, (size_t)file->count, sizeof *file->tensor, by_name);
    for (int32_t i = 1; i < file->count; i++) {
        if (by_name(&file->tensor[i - 1], &file->tensor[i]) == 0) {
            return unet_fail(error, UNET_IO, "%s: gives two tensors of %s the name %s", path, file->path,
                             file->tensor[i].name);
        }
    }
    return UNET_OK;
}

/* ---- the contents ----------------------------------------------------------------------------- */

const char *unet_safetensors_path(const UnetSafetensors *file) {
    return file->path;
}

int32_t unet_safetensors_count(const UnetSafetensors *file) {
    return file->count;
}

const UnetTensorInfo *unet_safetensors_tensor(const UnetSafetensors *file, int32_t index) {
    return &file->tensor[index];
}

int32_t unet_safetensors_find(const UnetSafetensors *file, const char *name) {
    UnetTensorInfo key = {.name = name};
    const UnetTensorInfo *found =
        bsearch(&key, file->tensor, (size_t)file->count, sizeof *file->tensor, by_name);
    return found != NULL ? (int32_t)(found - file->tensor) : -1;
}

const char *unet_safetensors_metadata(const UnetSafetensors *file, const char *key) {
    return json_string_value(json_object_get(file->metadata, key));
}

/* ---- values ----------------------------------------------------------------------------------- */

static float from_bits(uint32_t bits) {
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static double half(uint32_t bits) {
    uint32_t sign = (bits & 0x8000u) << 16;
    uint32_t exponent = bits >> 10 & 0x1fu;
    uint32_t fraction = bits & 0x3ffu;
    if (exponent == 0) {
        double magnitude = (double)fraction * 0x1p-24;
        return sign != 0 ? -magnitude : magnitude;
    }
    uint32_t widened = exponent == 0x1fu ? 0xffu : exponent + 112;
    return (double)from_bits(sign | widened << 23 | fraction << 13);
}

static double element_f64(const uint8_t *bytes) {
    double value;
    memcpy(&value, bytes, sizeof value);
    return value;
}

static double element_f32(const uint8_t *bytes) {
    float value;
    memcpy(&value, bytes, sizeof value);
    return (double)value;
}

static double element_f16(const uint8_t *bytes) {
    return half((uint32_t)(bytes[0] | bytes[1] << 8));
}

static double element_bf16(const uint8_t *bytes) {
    return (double)from_bits((uint32_t)(bytes[0] | bytes[1] << 8) << 16);
}

typedef double ElementReader(const uint8_t *bytes);

static ElementReader *reader_of(const char *type) {
    if (strcmp(type, "F32") == 0) {
        return element_f32;
    }
    if (strcmp(type, "F64") == 0) {
        return element_f64;
    }
    if (strcmp(type, "F16") == 0) {
        return element_f16;
    }
    return strcmp(type, "BF16") == 0 ? element_bf16 : NULL;
}

/* Reads and converts a few thousand bytes at a time. */
static UnetStatus read_converted(const UnetSafetensors *file, const UnetTensorInfo *tensor, UnetType type,
                                 void *values, UnetError *error) {
    uint8_t buffer[8192];
    ElementReader *element = reader_of(tensor->type);
    int64_t size = element_bytes(tensor->type);
    int64_t chunk = (int64_t)sizeof buffer / size;
    for (int64_t first = 0; first < tensor->count; first += chunk) {
        int64_t count = tensor->count - first < chunk ? tensor->count - first : chunk;
        UnetStatus status = read_at(file, buffer, (size_t)(count * size),
                                    file->data_start + tensor->begin + first * size, error);
        if (status != UNET_OK) {
            return status;
        }
        for (int64_t i = 0; i < count; i++) {
            double value = element(buffer + i * size);
            if (type == UNET_F64) {
                ((double *)values)[first + i] = value;
            } else {
                ((float *)values)[first + i] = (float)value;
            }
        }
    }
    return UNET_OK;
}

UnetStatus unet_safetensors_read(const UnetSafetensors *file, int32_t index, UnetType type, void *values,
                                 UnetError *error) {
    const UnetTensorInfo *tensor = &file->tensor[index];
    if (type == UNET_U8 && strcmp(tensor->type, "U8") == 0) {
        return read_at(file, values, (size_t)(tensor->end - tensor->begin),
                       file->data_start + tensor->begin, error);
    }
    if (type != UNET_F32 && type != UNET_F64) {
        return fail_tensor(file, tensor->name, error, "can only be read as F32 or F64");
    }
    if (reader_of(tensor->type) == NULL) {
        return fail_tensor(file, tensor->name, error, "does not hold real numbers");
    }
    if (strcmp(tensor->type, type == UNET_F64 ? "F64" : "F32") == 0) {
        return read_at(file, values, (size_t)(tensor->end - tensor->begin),
                       file->data_start + tensor->begin, error);
    }
    return read_converted(file, tensor, type, values, error);
}
