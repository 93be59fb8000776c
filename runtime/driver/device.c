/* device.c - the arena and the place of its programs: this memory and this processor, or a device, and this
 * memory is its mirror. */
#include "driver.h"

#include <stdio.h>
#include <string.h>

static void print_notes(const Device *device) {
    char note[2048], *rest = NULL;
    device->model->device->note(device->state, note, sizeof note);
    for (const char *line = strtok_r(note, "\n", &rest); line != NULL; line = strtok_r(NULL, "\n", &rest))
        (void)fprintf(stderr, "note: %s\n", line);
}

void device_engines(const Device *device, char text[ENGINES_BYTES]) {
    text[0] = '\0';
    if (device->model->device != NULL)
        device->model->device->fingerprint(device->state, text, ENGINES_BYTES);
}

UnetStatus device_open(Device *device, const UnetModel *model, int64_t extent, int64_t beside,
                       const UnetEngineFile *engines, UnetError *error) {
    *device = (Device){.model = model, .extent = extent};
    if (model->device == NULL)
        return arena_take(&device->arena, extent, beside, error);
    UnetStatus status = mirror_take(&device->arena, extent, error);
    if (status == UNET_OK)
        status = model->device->open(&device->state, model, extent, engines, error);
    if (status == UNET_OK)
        print_notes(device);
    return status;
}

UnetStatus device_try_threads(const Device *device, int32_t threads, UnetError *error) {
    return device->model->device == NULL ? machine_try_threads(threads, error) : UNET_OK;
}

void device_close(Device *device) {
    if (device->model != NULL && device->model->device != NULL)
        device->model->device->close(device->state);
    arena_give_back(device->arena, device->extent);
    *device = (Device){.model = NULL};
}

/* The bytes that live from step to step, as far as this program's part of the arena reaches. */
static int64_t weight_bytes(const Device *device) {
    int64_t persistent = device->model->persistent;
    return persistent < device->extent ? persistent : device->extent;
}

UnetStatus device_push_weights(Device *device, UnetError *error) {
    const UnetDevice *there = device->model->device;
    device->prepared = NULL;
    return there == NULL ? UNET_OK
                         : there->push(device->state, device->arena, 0, weight_bytes(device), error);
}

UnetStatus device_fetch_weights(Device *device, UnetError *error) {
    return device_fetch(device, 0, weight_bytes(device), error);
}

UnetStatus device_fetch(Device *device, int64_t offset, int64_t bytes, UnetError *error) {
    const UnetDevice *there = device->model->device;
    return there == NULL ? UNET_OK : there->fetch(device->state, device->arena, offset, bytes, error);
}

void device_pin(Device *device, void *memory, size_t bytes) {
    if (device->model->device != NULL)
        device->model->device->pin(device->state, memory, bytes);
}

int32_t loader_slots(const UnetModel *model, const UnetDataset *const *datasets, int32_t ndataset,
                     int32_t threads, int64_t extent, int64_t *beside) {
    const int64_t left = machine_memory() - (model->device == NULL ? extent : 0);
    int32_t slots = model->ring;
    do
        *beside = (int64_t)unet_loader_bytes(model, datasets, ndataset, threads, slots);
    while (*beside > left && --slots > 0);
    return slots > 0 ? slots : 1;
}

void device_reads_from(Device *device, const UnetLoader *loader) {
    size_t bytes;
    void *memory = unet_loader_memory(loader, &bytes);
    device_pin(device, memory, bytes);
}

int device_steps_ahead(const Device *device) {
    return device->model->device == NULL ? 1 : UNET_STEPS_AHEAD;
}

void device_prepare(Device *device, const UnetProgram *program, const UnetStep *step) {
    if (device->model->device != NULL || device->prepared == program)
        return;
    if (program->prepare != NULL)
        program->prepare(step);
    device->prepared = program;
}

UnetStatus device_begin(Device *device, const UnetProgram *program, const UnetStep *step,
                        UnetError *error) {
    if (device->model->device != NULL)
        return device->model->device->begin(device->state, program, step, error);
    device_prepare(device, program, step);
    program->run(step);
    return UNET_OK;
}

UnetStatus device_end(Device *device, UnetError *error) {
    const UnetDevice *there = device->model->device;
    return there == NULL ? UNET_OK : there->end(device->state, device->arena, error);
}

UnetStatus device_run(Device *device, const UnetProgram *program, const UnetStep *step, UnetError *error) {
    UnetStatus status = device_begin(device, program, step, error);
    return status == UNET_OK ? device_end(device, error) : status;
}

UnetStatus device_next_batch(Device *device, UnetLoader *loader, UnetBatch *batch, UnetError *error) {
    const UnetDevice *there = device->model->device;
    UnetStatus status = there == NULL ? UNET_OK : there->inputs_taken(device->state, error);
    return status == UNET_OK ? unet_loader_next(loader, batch, error) : status;
}

UnetStatus device_timed_run(Device *device, const UnetProgram *program, const UnetStep *step, bool parts,
                            const UnetDeviceTime **time, int32_t *count, UnetError *error) {
    return device->model->device->timed_run(device->state, program, step, parts, time, count, error);
}
