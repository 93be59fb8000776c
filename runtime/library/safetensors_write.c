/* safetensors_write.c - writing safetensors files without allocating: the header is produced twice, once to
 * learn its length and once for the file. */
#include "unet/safetensors.h"
#include "unet/atomic_file.h"
#include "size_math.h"

#include <stdio.h>
#include <string.h>

/* Header text on its way: only counted, or through a buffer into a file. */
typedef struct {
    UnetAtomicFile *file; /* NULL: count */
    uint64_t total;
    size_t used;
    char buffer[4096];
    UnetStatus status;
    UnetError *error;
} Sink;

static void flush(Sink *sink) {
    if (sink->file != NULL && sink->status == UNET_OK) {
        sink->status = unet_atomic_write(sink->file, sink->buffer, sink->used, sink->error);
    }
    sink->used = 0;
}

static void put(Sink *sink, const char *text, size_t length) {
    sink->total += length;
    if (sink->file == NULL) {
        return;
    }
    for (size_t i = 0; i < length; i++) {
        if (sink->used == sizeof sink->buffer) {
            flush(sink);
        }
        sink->buffer[sink->used++] = text[i];
    }
}

static void put_text(Sink *sink, const char *text) {
    put(sink, text, strlen(text));
}

static void put_number(Sink *sink, int64_t number) {
    char text[24];
    snprintf(text, sizeof text, "%lld", (long long)number);
    put_text(sink, text);
}

/* The inside of a JSON string. */
static void put_escaped(Sink *sink, const char *text) {
    for (; *text != '\0'; text++) {
        unsigned char c = (unsigned char)*text;
        if (c == '"' || c == '\\') {
            put(sink, "\\", 1);
            put(sink, text, 1);
        } else if (c < 0x20) {
            char escape[8];
            snprintf(escape, sizeof escape, "\\u%04x", c);
            put_text(sink, escape);
        } else {
            put(sink, text, 1);
        }
    }
}

static void put_metadata(Sink *sink, const UnetMetadata *metadata, int32_t count) {
    put_text(sink, "\"__metadata__\":{");
    for (int32_t i = 0; i < count; i++) {
        put_text(sink, i > 0 ? ",\"" : "\"");
        put_escaped(sink, metadata[i].key);
        put_text(sink, "\":\"");
        put_escaped(sink, metadata[i].value);
        put_text(sink, "\"");
    }
    put_text(sink, "}");
}

/* The tensors to write. */
typedef struct {
    const char *path;
    UnetTensorSource *source;
    const void *context;
    int32_t count;
    const UnetMetadata *metadata;
    int32_t nmetadata;
} Content;

/* NULL: files hold none of it. */
static const char *type_name(UnetType type) {
    return type == UNET_F32 ? "F32" : type == UNET_F64 ? "F64" : type == UNET_U8 ? "U8" : NULL;
}

static bool tensor_bytes(const UnetTensor *tensor, int64_t *bytes) {
    bool fits = tensor->rank >= 0 && tensor->rank <= UNET_MAX_RANK;
    *bytes = (int64_t)unet_type_bytes(tensor->type);
    for (int32_t i = 0; fits && i < tensor->rank; i++) {
        fits = tensor->dim[i] >= 0 && checked_mul64(*bytes, tensor->dim[i], bytes);
    }
    return fits && type_name(tensor->type) != NULL;
}

static void put_tensor(Sink *sink, const UnetTensor *tensor, int64_t begin, int64_t end) {
    put_text(sink, "\"");
    put_escaped(sink, tensor->prefix);
    put_escaped(sink, tensor->name);
    put_text(sink, "\":{\"dtype\":\"");
    put_text(sink, type_name(tensor->type));
    put_text(sink, "\",\"shape\":[");
    for (int32_t i = 0; i < tensor->rank; i++) {
        put_text(sink, i > 0 ? "," : "");
        put_number(sink, tensor->dim[i]);
    }
    put_text(sink, "],\"data_offsets\":[");
    put_number(sink, begin);
    put_text(sink, ",");
    put_number(sink, end);
    put_text(sink, "]}");
}

static UnetStatus put_header(Sink *sink, const Content *content) {
    int64_t place = 0;
    const char *separator = "";
    put_text(sink, "{");
    if (content->nmetadata > 0) {
        put_metadata(sink, content->metadata, content->nmetadata);
        separator = ",";
    }
    for (int32_t i = 0; i < content->count; i++) {
        UnetTensor tensor;
        int64_t bytes, end;
        content->source(content->context, i, &tensor);
        if (tensor.values == NULL) {
            continue;
        }
        if (!tensor_bytes(&tensor, &bytes) || __builtin_add_overflow(place, bytes, &end)) {
            return unet_fail(sink->error, UNET_BUG, "%s: tensor \"%s%s\" cannot be stored", content->path,
                             tensor.prefix, tensor.name);
        }
        put_text(sink, separator);
        separator = ",";
        put_tensor(sink, &tensor, place, end);
        place = end;
    }
    put_text(sink, "}");
    while (sink->total % 8 != 0) {
        put_text(sink, " ");
    }
    flush(sink);
    return sink->status;
}

static UnetStatus write_values(UnetAtomicFile *file, const Content *content, UnetError *error) {
    UnetStatus status = UNET_OK;
    for (int32_t i = 0; i < content->count && status == UNET_OK; i++) {
        UnetTensor tensor;
        int64_t bytes;
        content->source(content->context, i, &tensor);
        if (tensor.values == NULL) {
            continue;
        }
        if (!tensor_bytes(&tensor, &bytes)) {
            return unet_fail(error, UNET_BUG, "%s: a tensor changed while it was stored", content->path);
        }
        status = unet_atomic_write(file, tensor.values, (size_t)bytes, error);
    }
    return status;
}

static UnetStatus write_file(UnetAtomicFile *file, const Content *content, UnetError *error) {
    Sink counter = {.status = UNET_OK, .error = error};
    UnetStatus status = put_header(&counter, content);
    if (status == UNET_OK) {
        status = unet_atomic_write(file, &counter.total, sizeof counter.total, error);
    }
    if (status == UNET_OK) {
        Sink sink = {.file = file, .status = UNET_OK, .error = error};
        status = put_header(&sink, content);
    }
    return status == UNET_OK ? write_values(file, content, error) : status;
}

UnetStatus unet_safetensors_save(const char *path, UnetTensorSource *source, const void *context,
                                 int32_t count, const UnetMetadata *metadata, int32_t nmetadata,
                                 UnetError *error) {
    Content content = {path, source, context, count, metadata, nmetadata};
    UnetAtomicFile file;
    UnetStatus status = unet_atomic_open(&file, path, error);
    if (status != UNET_OK) {
        return status;
    }
    status = write_file(&file, &content, error);
    if (status != UNET_OK) {
        unet_atomic_abandon(&file);
        return status;
    }
    return unet_atomic_commit(&file, error);
}
