/* descriptors.c - the functions of cuDNN's backend API over descriptors that are lists of attributes. */
#include "reference.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static _Thread_local char last_error[256]; /* of the calling thread, as cuDNN has it */

cudnnStatus_t refuse(cudnnStatus_t status, const char *message) {
    snprintf(last_error, sizeof last_error, "%s", message);
    return status;
}

static void *must(void *memory) {
    if (memory == NULL) {
        fprintf(stderr, "cudnn_reference: out of memory\n");
        abort();
    }
    return memory;
}

/* ---- descriptors ---- */

Descriptor *descriptor_retain(Descriptor *d) {
    d->references++;
    return d;
}

static const Attribute *find(const Descriptor *d, int name) {
    for (int i = 0; i < d->nattribute; i++) {
        if (d->attribute[i].name == name) {
            return &d->attribute[i];
        }
    }
    return NULL;
}

static void clear(Attribute *a) {
    for (int64_t i = 0; a->type == CUDNN_TYPE_BACKEND_DESCRIPTOR && i < a->count; i++) {
        descriptor_release(((Descriptor **)a->values)[i]);
    }
    free(a->values);
}

void descriptor_release(Descriptor *d) {
    if (--d->references > 0) {
        return;
    }
    for (int i = 0; i < d->nattribute; i++) {
        clear(&d->attribute[i]);
    }
    free(d);
}

const void *values_of(const Descriptor *d, int name, int64_t *count) {
    const Attribute *a = find(d, name);
    if (count != NULL) {
        *count = a != NULL ? a->count : 0;
    }
    return a != NULL ? a->values : NULL;
}

Descriptor *part_of(const Descriptor *d, int name) {
    const Attribute *a = find(d, name);
    return a != NULL ? *(Descriptor **)a->values : NULL;
}

int64_t number_of(const Descriptor *d, int name) {
    return *(const int64_t *)values_of(d, name, NULL);
}

int choice_of(const Descriptor *d, int name) {
    return *(const int *)values_of(d, name, NULL);
}

float factor_of(const Descriptor *d, int name) {
    return *(const float *)values_of(d, name, NULL);
}

cudnnStatus_t attribute_put(Descriptor *d, int name, cudnnBackendAttributeType_t type, int64_t count,
                            const void *values) {
    if (find(d, name) != NULL) {
        return refuse(CUDNN_STATUS_BAD_PARAM_DUPLICATED_ENTRIES, "the attribute is set already");
    }
    if (d->nattribute == MAX_ATTRIBUTES) {
        return refuse(CUDNN_STATUS_BAD_PARAM, "too many attributes");
    }
    Attribute *a = &d->attribute[d->nattribute++];
    size_t bytes = (size_t)count * attribute_size(type);
    *a = (Attribute){name, type, count, must(malloc(bytes))};
    memcpy(a->values, values, bytes);
    for (int64_t i = 0; type == CUDNN_TYPE_BACKEND_DESCRIPTOR && i < count; i++) {
        descriptor_retain(((Descriptor **)a->values)[i]);
    }
    return CUDNN_STATUS_SUCCESS;
}

/* ---- the API ---- */

size_t cudnnGetVersion(void) {
    const char *text = getenv("UNET_CUDNN_REFERENCE_VERSION");
    return text != NULL ? (size_t)strtoul(text, NULL, 10) : CUDNN_VERSION;
}

size_t cudnnGetCudartVersion(void) {
    return CUDART_VERSION;
}

const char *cudnnGetErrorString(cudnnStatus_t status) {
    return status == CUDNN_STATUS_SUCCESS ? "success" : "refused by cudnn_reference";
}

void cudnnGetLastErrorString(char *message, size_t size) {
    snprintf(message, size, "%s", last_error);
    last_error[0] = '\0';
}

cudnnStatus_t cudnnCreate(cudnnHandle_t *handle) {
    *handle = must(calloc(1, sizeof **handle));
    return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnDestroy(cudnnHandle_t handle) {
    forget_launches(handle);
    free(handle);
    return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnSetStream(cudnnHandle_t handle, cudaStream_t stream) {
    handle->stream = stream;
    return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnBackendCreateDescriptor(cudnnBackendDescriptorType_t type,
                                           cudnnBackendDescriptor_t *descriptor) {
    Descriptor *d = must(calloc(1, sizeof *d));
    d->type = type;
    d->references = 1;
    *descriptor = d;
    return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnBackendDestroyDescriptor(cudnnBackendDescriptor_t descriptor) {
    descriptor_release(descriptor);
    return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnBackendSetAttribute(cudnnBackendDescriptor_t descriptor,
                                       cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type,
                                       int64_t count, const void *values) {
    Descriptor *d = descriptor;
    if (d == NULL || values == NULL) {
        return refuse(CUDNN_STATUS_BAD_PARAM_NULL_POINTER, "no descriptor, or no values");
    }
    if (d->finalized) {
        return refuse(CUDNN_STATUS_BAD_PARAM, "an attribute is set after the descriptor was finalised");
    }
    cudnnStatus_t status = rules_allow(d, (int)name, type, count, values);
    return status == CUDNN_STATUS_SUCCESS ? attribute_put(d, (int)name, type, count, values) : status;
}

cudnnStatus_t cudnnBackendFinalize(cudnnBackendDescriptor_t descriptor) {
    Descriptor *d = descriptor;
    if (d == NULL || d->finalized) {
        return refuse(CUDNN_STATUS_BAD_PARAM, "no descriptor, or one that is finalised already");
    }
    cudnnStatus_t status = rules_finalize(d);
    d->finalized = status == CUDNN_STATUS_SUCCESS;
    return status;
}

/* Hands out parts: they are copied into descriptors that the caller made. */
static cudnnStatus_t get_parts(const Attribute *a, int64_t capacity, void *values) {
    Descriptor **source = a->values, **target = values;
    for (int64_t i = 0; i < a->count && i < capacity; i++) {
        if (target[i] == NULL || target[i]->type != source[i]->type || target[i]->nattribute > 0) {
            return refuse(CUDNN_STATUS_BAD_PARAM, "the result needs a fresh descriptor of its type");
        }
        for (int k = 0; k < source[i]->nattribute; k++) {
            const Attribute *from = &source[i]->attribute[k];
            attribute_put(target[i], from->name, from->type, from->count, from->values);
        }
        target[i]->finalized = true;
    }
    return CUDNN_STATUS_SUCCESS;
}

static cudnnStatus_t get_number(int64_t number, int64_t capacity, int64_t *count, void *values) {
    *count = 1;
    if (capacity < 1) {
        return refuse(CUDNN_STATUS_BAD_PARAM_SIZE_INSUFFICIENT, "no room for a number");
    }
    memcpy(values, &number, sizeof number);
    return CUDNN_STATUS_SUCCESS;
}

/* The properties of a device that is there. */
static cudnnStatus_t get_device(const Descriptor *d, int64_t capacity, int64_t *count, char *values) {
    static const char text[] = "{\"deviceName\":\"stand-in\",\"deviceVer\":900}";
    *count = sizeof text - 1;
    if (values_of(d, CUDNN_ATTR_DEVICEPROP_HANDLE, NULL) == NULL || capacity < *count) {
        return refuse(CUDNN_STATUS_BAD_PARAM, "no device, or no room for what it says");
    }
    memcpy(values, text, sizeof text - 1);
    return CUDNN_STATUS_SUCCESS;
}

static cudnnStatus_t get_stored(const Descriptor *d, int name, int64_t capacity, int64_t *count,
                                void *values) {
    const Attribute *a = find(d, name);
    *count = a != NULL ? a->count : 0;
    if (a == NULL) {
        return CUDNN_STATUS_SUCCESS;
    }
    if (a->type == CUDNN_TYPE_BACKEND_DESCRIPTOR) {
        return get_parts(a, capacity, values);
    }
    if (capacity < a->count) {
        return refuse(CUDNN_STATUS_BAD_PARAM_SIZE_INSUFFICIENT, "no room for the values");
    }
    memcpy(values, a->values, (size_t)a->count * attribute_size(a->type));
    return CUDNN_STATUS_SUCCESS;
}

/* The attributes that may be read, their descriptors and types. */
static const struct {
    int name;
    cudnnBackendDescriptorType_t of;
    cudnnBackendAttributeType_t type;
} readable[] = {
    {CUDNN_ATTR_ENGINEHEUR_RESULTS, CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR, CUDNN_TYPE_BACKEND_DESCRIPTOR},
    {CUDNN_ATTR_ENGINECFG_ENGINE, CUDNN_BACKEND_ENGINECFG_DESCRIPTOR, CUDNN_TYPE_BACKEND_DESCRIPTOR},
    {CUDNN_ATTR_ENGINECFG_KNOB_CHOICES, CUDNN_BACKEND_ENGINECFG_DESCRIPTOR, CUDNN_TYPE_BACKEND_DESCRIPTOR},
    {CUDNN_ATTR_ENGINECFG_WORKSPACE_SIZE, CUDNN_BACKEND_ENGINECFG_DESCRIPTOR, CUDNN_TYPE_INT64},
    {CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE, CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR, CUDNN_TYPE_INT64},
    {CUDNN_ATTR_ENGINE_GLOBAL_INDEX, CUDNN_BACKEND_ENGINE_DESCRIPTOR, CUDNN_TYPE_INT64},
    {CUDNN_ATTR_ENGINE_NUMERICAL_NOTE, CUDNN_BACKEND_ENGINE_DESCRIPTOR, CUDNN_TYPE_NUMERICAL_NOTE},
    {CUDNN_ATTR_ENGINE_BEHAVIOR_NOTE, CUDNN_BACKEND_ENGINE_DESCRIPTOR, CUDNN_TYPE_BEHAVIOR_NOTE},
    {CUDNN_ATTR_KNOB_CHOICE_KNOB_TYPE, CUDNN_BACKEND_KNOB_CHOICE_DESCRIPTOR, CUDNN_TYPE_KNOB_TYPE},
    {CUDNN_ATTR_KNOB_CHOICE_KNOB_VALUE, CUDNN_BACKEND_KNOB_CHOICE_DESCRIPTOR, CUDNN_TYPE_INT64},
    {CUDNN_ATTR_DEVICEPROP_JSON_REPRESENTATION, CUDNN_BACKEND_DEVICEPROP_DESCRIPTOR, CUDNN_TYPE_CHAR},
};

static bool is_readable(const Descriptor *d, int name, cudnnBackendAttributeType_t type) {
    for (size_t i = 0; i < sizeof readable / sizeof *readable; i++) {
        if (readable[i].name == name) {
            return readable[i].of == d->type && readable[i].type == type;
        }
    }
    return false;
}

cudnnStatus_t cudnnBackendGetAttribute(cudnnBackendDescriptor_t const descriptor,
                                       cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type,
                                       int64_t capacity, int64_t *count, void *values) {
    const Descriptor *d = descriptor;
    if (d == NULL || !d->finalized || count == NULL || values == NULL) {
        return refuse(CUDNN_STATUS_BAD_PARAM_NOT_FINALIZED,
                      "read from what is not finalised, or to nowhere");
    }
    if (!is_readable(d, (int)name, type)) {
        return refuse(CUDNN_STATUS_BAD_PARAM_ATTRIBUTE_TYPE, "the attribute cannot be read as that");
    }
    switch ((int)name) {
    case CUDNN_ATTR_ENGINEHEUR_RESULTS:
        return heuristic_results(d, capacity, count, values);
    case CUDNN_ATTR_ENGINECFG_WORKSPACE_SIZE:
        return get_number(config_workspace(d), capacity, count, values);
    case CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE:
        return get_number(config_workspace(part_of(d, CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG)), capacity,
                          count, values);
    case CUDNN_ATTR_ENGINE_NUMERICAL_NOTE:
    case CUDNN_ATTR_ENGINE_BEHAVIOR_NOTE:
        return engine_notes(d, (int)name, capacity, count, values);
    case CUDNN_ATTR_DEVICEPROP_JSON_REPRESENTATION:
        return get_device(d, capacity, count, values);
    default:
        return get_stored(d, (int)name, capacity, count, values);
    }
}

cudnnStatus_t cudnnBackendExecute(cudnnHandle_t handle, cudnnBackendDescriptor_t plan,
                                  cudnnBackendDescriptor_t pack) {
    const Descriptor *operands = pack;
    Descriptor *what = plan;
    if (handle == NULL || what == NULL || operands == NULL || !what->finalized || !operands->finalized ||
        what->type != CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR ||
        operands->type != CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR) {
        return refuse(CUDNN_STATUS_BAD_PARAM, "a plan and operands that are finalised are executed");
    }
    return run_plan(handle, what, operands);
}
